//! Bones: rigid parts inside a character.

use glam::{DQuat, DVec3};

/// The form of a bone at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoneShape {
    /// All points within `radius` of a segment.
    Capsule {
        /// One end (m).
        from: DVec3,
        /// Other end (m).
        to: DVec3,
        /// Radius (m).
        radius: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Centre (m).
        center: DVec3,
        /// Orientation.
        rotation: DQuat,
        /// Half axes (m).
        radii: DVec3,
    },
}

/// A bone.
#[derive(Clone, Debug, PartialEq)]
pub struct Bone {
    /// Unique name.
    pub name: String,
    /// Form at rest, in the axes of the skin.
    pub shape: BoneShape,
    /// The bone it hangs on.
    pub parent: Option<usize>,
}

impl Bone {
    /// A capsule.
    pub fn capsule(name: &str, from: DVec3, to: DVec3, radius: f64, parent: Option<usize>) -> Self {
        Self { name: name.to_owned(), shape: BoneShape::Capsule { from, to, radius }, parent }
    }

    /// Signed distance to the surface (m), negative inside. For an ellipsoid first order near
    /// the surface, and of the right sign everywhere.
    pub fn distance(&self, p: DVec3) -> f64 {
        match self.shape {
            BoneShape::Capsule { radius, .. } => p.distance(self.on_axis(p)) - radius,
            BoneShape::Ellipsoid { center, rotation, radii } => {
                let q = rotation.inverse() * (p - center);
                let level = (q / radii).length();
                let slope = (q / (radii * radii)).length();
                if slope > 0.0 { level * (level - 1.0) / slope } else { -radii.min_element() }
            }
        }
    }

    /// The nearest point of its axis, or its centre (m).
    pub fn on_axis(&self, p: DVec3) -> DVec3 {
        match self.shape {
            BoneShape::Capsule { from, to, .. } => {
                let along = to - from;
                let length2 = along.length_squared();
                let t = if length2 > 0.0 { ((p - from).dot(along) / length2).clamp(0.0, 1.0) } else { 0.0 };
                from + t * along
            }
            BoneShape::Ellipsoid { center, .. } => center,
        }
    }

    /// A point on its surface, the nearest for a capsule (m).
    pub fn on_surface(&self, p: DVec3) -> DVec3 {
        match self.shape {
            BoneShape::Capsule { radius, .. } => {
                let axis = self.on_axis(p);
                let away = (p - axis).normalize_or(DVec3::Y);
                axis + radius * away
            }
            BoneShape::Ellipsoid { center, rotation, radii } => {
                let q = rotation.inverse() * (p - center);
                let level = (q / radii).length();
                if level > 0.0 { center + rotation * (q / level) } else { center + rotation * (DVec3::X * radii.x) }
            }
        }
    }

    /// Half its thickness (m).
    pub fn radius(&self) -> f64 {
        match self.shape {
            BoneShape::Capsule { radius, .. } => radius,
            BoneShape::Ellipsoid { radii, .. } => radii.min_element(),
        }
    }

    /// Points along its axis, no further apart than `spacing` (m).
    pub fn samples(&self, spacing: f64) -> Vec<DVec3> {
        let (from, to) = match self.shape {
            BoneShape::Capsule { from, to, .. } => (from, to),
            BoneShape::Ellipsoid { center, rotation, radii } => {
                let axis =
                    [DVec3::X, DVec3::Y, DVec3::Z][(0..3).max_by(|&a, &b| radii[a].total_cmp(&radii[b])).unwrap_or(0)];
                let half = rotation * axis * (radii.max_element() - radii.min_element());
                (center - half, center + half)
            }
        };
        let count = ((to - from).length() / spacing).ceil().clamp(1.0, 1e5) as usize;
        (0..=count).map(|i| from.lerp(to, i as f64 / count as f64)).collect()
    }
}

/// Nodes of every bone: those within `slack` of it (m), each with the bone it is deepest in.
pub fn rigid_nodes(positions: &[DVec3], bones: &[Bone], slack: f64) -> Vec<Vec<u32>> {
    let mut out = vec![Vec::new(); bones.len()];
    for (node, &p) in positions.iter().enumerate() {
        let mut best = (slack, usize::MAX);
        for (b, bone) in bones.iter().enumerate() {
            let distance = bone.distance(p);
            if distance <= best.0 {
                best = (distance, b);
            }
        }
        if best.1 < bones.len() {
            out[best.1].push(node as u32);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a distance of the wrong sign or scale.
    #[test]
    fn distances_to_bones_are_right_on_axis_and_surface() {
        let capsule = Bone::capsule("arm", DVec3::ZERO, DVec3::X, 0.2, None);
        assert!((capsule.distance(DVec3::new(0.5, 0.5, 0.0)) - 0.3).abs() < 1e-15);
        assert!((capsule.distance(DVec3::new(-1.0, 0.0, 0.0)) - 0.8).abs() < 1e-15);
        let turn = DQuat::from_rotation_z(0.7);
        let shape = BoneShape::Ellipsoid { center: DVec3::ONE, rotation: turn, radii: DVec3::new(0.5, 0.2, 0.3) };
        let egg = Bone { name: "egg".into(), shape, parent: None };
        for (p, d) in [(DVec3::X * 0.6, 0.1), (DVec3::X * 0.4, -0.1), (DVec3::Y * 0.25, 0.05)] {
            assert!((egg.distance(DVec3::ONE + turn * p) - d).abs() < 0.02, "{p}");
        }
        assert!(egg.distance(DVec3::ONE) < 0.0);
        for bone in [capsule, egg] {
            let p = bone.on_surface(DVec3::new(0.3, 2.0, 1.1));
            assert!(bone.distance(p).abs() < 1e-12);
            assert!(bone.samples(0.05).iter().all(|p| bone.distance(*p) < 1e-12));
        }
    }
}
