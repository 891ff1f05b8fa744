//! The shapes of obstacles and their signed distances.
//!
//! Each distance is exact inside and outside, so it is 1-Lipschitz and its normal
//! is its gradient. Where the nearest point is not unique (centres, axes, middle
//! planes) one of them is taken, always the same, so a normal is never zero.
//! ```text
//! sphere   |x| - r
//! capsule  distance to a segment - r
//! torus    |(√(x²+z²) - R, y)| - r
//! box      q = |x| - (size/2 - round);  |max(q, 0)| + min(max q, 0) - round
//! ```
//! Ellipsoid, hyperboloid and mesh have a file each.

use super::{Gap, ObstacleMesh, ellipsoid, hyperboloid};
use glam::{DVec2, DVec3};

/// Smallest and largest size taken (m); squares and cubes of these stay finite.
const SIZES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// A surface in its own axes; those with an axis of symmetry have it along y.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum ObstacleShape {
    /// The half space y ≤ 0.
    Plane,
    /// About the origin.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// About the origin.
    Ellipsoid {
        /// Half axes along x, y and z (m).
        radii: DVec3,
    },
    /// A ring around y.
    Torus {
        /// From the centre to the middle of the tube (m).
        radius: f64,
        /// Radius of the tube (m).
        tube: f64,
    },
    /// A waisted column x² + z² ≤ waist² (1 + (y / slope)²) with flat ends and sharp rims.
    Hyperboloid {
        /// Radius of the waist (m).
        waist: f64,
        /// Height at which the radius is √2 of the waist's (m).
        slope: f64,
        /// Full height (m).
        height: f64,
    },
    /// All points within a radius of a segment along y.
    Capsule {
        /// Radius (m).
        radius: f64,
        /// Length of the segment (m), caps not counted.
        length: f64,
    },
    /// A box whose edges and corners may be rounded.
    Box {
        /// Full sizes along x, y and z (m), rounding included.
        size: DVec3,
        /// Radius of the rounding (m); 0 for sharp edges.
        round: f64,
    },
    /// Triangles: a solid where they close, a wall where they do not.
    Mesh(ObstacleMesh),
}

impl ObstacleShape {
    /// Signed distance (m), positive outside the solid, with the outward normal, in the shape's own axes.
    pub fn distance(&self, local: DVec3) -> Gap {
        match *self {
            Self::Plane => Gap { distance: local.y, normal: DVec3::Y, curvature: 0.0 },
            Self::Sphere { radius } => around(local, radius, DVec3::Y),
            Self::Ellipsoid { radii } => ellipsoid::distance(radii, local),
            Self::Torus { radius, tube } => torus(radius, tube, local),
            Self::Hyperboloid { waist, slope, height } => hyperboloid::distance(waist, slope, height, local),
            Self::Capsule { radius, length } => around(local - axis_point(local, length), radius, DVec3::X),
            Self::Box { size, round } => boxed(size, round, local),
            Self::Mesh(ref mesh) => mesh.distance(local),
        }
    }

    /// Radius of a ball about the origin that holds the shape (m); `None` for a plane.
    pub fn bounding_radius(&self) -> Option<f64> {
        match *self {
            Self::Plane => None,
            Self::Sphere { radius } => Some(radius),
            Self::Ellipsoid { radii } => Some(radii.max_element()),
            Self::Torus { radius, tube } => Some(radius + tube),
            Self::Hyperboloid { waist, slope, height } => {
                Some((waist * (0.5 * height / slope).hypot(1.0)).hypot(0.5 * height))
            }
            Self::Capsule { radius, length } => Some(radius + 0.5 * length),
            Self::Box { size, round } => Some((0.5 * size - round).length() + round),
            Self::Mesh(ref mesh) => Some(mesh.bounding_radius()),
        }
    }

    /// Smallest full thickness (m), infinite for a plane.
    pub fn thickness(&self) -> f64 {
        match *self {
            Self::Plane => f64::INFINITY,
            Self::Sphere { radius } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Ellipsoid { radii } => 2.0 * radii.min_element(),
            Self::Torus { tube, .. } => 2.0 * tube,
            Self::Hyperboloid { waist, height, .. } => height.min(2.0 * waist),
            Self::Box { size, .. } => size.min_element(),
            Self::Mesh(ref mesh) => mesh.thickness(),
        }
    }

    /// Whether the segment between two points of the shape never leaves it.
    pub fn is_convex(&self) -> bool {
        !matches!(self, Self::Torus { .. } | Self::Hyperboloid { .. } | Self::Mesh(_))
    }

    /// What is wrong with the sizes, and how to mend it; empty when all is well.
    pub(super) fn faults(&self) -> Vec<String> {
        let sizes: Vec<(&str, f64)> = match *self {
            Self::Plane => vec![],
            Self::Mesh(ref mesh) => vec![("thickness", mesh.thickness())],
            Self::Sphere { radius } => vec![("radius", radius)],
            Self::Ellipsoid { radii } => vec![("radii.x", radii.x), ("radii.y", radii.y), ("radii.z", radii.z)],
            Self::Torus { radius, tube } => vec![("radius", radius), ("tube", tube)],
            Self::Hyperboloid { waist, slope, height } => vec![("waist", waist), ("slope", slope), ("height", height)],
            Self::Capsule { radius, length } => vec![("radius", radius), ("length", length)],
            Self::Box { size, .. } => vec![("size.x", size.x), ("size.y", size.y), ("size.z", size.z)],
        };
        let wrong = sizes.iter().filter(|(_, size)| !SIZES.contains(size));
        let mut faults: Vec<String> =
            wrong.map(|(name, size)| format!("{name} is {size} m; give a positive length (1e-9 to 1e9)")).collect();
        if !faults.is_empty() {
            return faults;
        }
        match *self {
            Self::Torus { radius, tube } if tube >= radius => faults
                .push(format!("tube {tube} m fills the hole of the torus; make it less than the radius {radius} m")),
            Self::Hyperboloid { slope, height, .. } if height > 1e6 * slope => {
                faults.push(format!("slope {slope} m is nothing next to the height {height} m; make it steeper"));
            }
            Self::Box { round, .. } if !(round.is_finite() && round >= 0.0) => {
                faults.push(format!("round is {round} m; give 0 for sharp edges or a positive length"));
            }
            Self::Box { size, round } if 2.0 * round > size.min_element() => faults.push(format!(
                "round {round} m is more than half the smallest side {} m; give at most {} m",
                size.min_element(),
                0.5 * size.min_element()
            )),
            _ => {}
        }
        faults
    }
}

/// The vector of length one along `v`, or `otherwise` where it has no direction.
pub(super) fn unit_or(v: DVec3, otherwise: DVec3) -> DVec3 {
    let largest = v.abs().max_element();
    if largest == 0.0 {
        return otherwise;
    }
    let v = v / largest;
    v / v.length()
}

/// Unit vector away from the y axis, +x on the axis, and the distance from it (m).
pub(super) fn radial(local: DVec3) -> (DVec3, f64) {
    (unit_or(DVec3::new(local.x, 0.0, local.z), DVec3::X), local.x.hypot(local.z))
}

/// Point of a segment of this length along y nearest to a point.
pub(super) fn axis_point(local: DVec3, length: f64) -> DVec3 {
    DVec3::Y * local.y.clamp(-0.5 * length, 0.5 * length)
}

/// Offset of a point from the part of a box that is left when its rounding is taken off.
pub(super) fn box_offset(size: DVec3, round: f64, local: DVec3) -> DVec3 {
    let core = 0.5 * size - round;
    local - local.clamp(-core, core)
}

/// Curvature of a sphere of this radius, finite where the radius vanishes next to `size` (1/m).
pub(super) fn edge_curvature(radius: f64, size: f64) -> f64 {
    1.0 / radius.max(1e-9 * size)
}

/// Distance from a point or segment, less a radius.
fn around(offset: DVec3, radius: f64, otherwise: DVec3) -> Gap {
    let length = offset.length();
    // Short of where squares are nothing.
    let normal = if length > 1e-150 { offset * length.recip() } else { unit_or(offset, otherwise) };
    Gap { distance: length - radius, normal, curvature: 1.0 / radius }
}

fn torus(radius: f64, tube: f64, local: DVec3) -> Gap {
    let (out, rho) = radial(local);
    let q = DVec2::new(rho - radius, local.y);
    let normal = unit_or(out * q.x + DVec3::Y * q.y, DVec3::Y);
    let along = out.dot(normal);
    Gap { distance: q.length() - tube, normal, curvature: (1.0 / tube).max(along.abs() / (radius + tube * along)) }
}

fn boxed(size: DVec3, round: f64, local: DVec3) -> Gap {
    let offset = box_offset(size, round, local);
    let out = offset.length();
    if out > 0.0 {
        let bent = offset.to_array().iter().filter(|x| **x != 0.0).count() > 1;
        let foot_radius = if round > 0.0 { round } else { out };
        let curvature = if bent { edge_curvature(foot_radius, size.min_element()) } else { 0.0 };
        return Gap { distance: out - round, normal: unit_or(offset, DVec3::Y), curvature };
    }
    let depth = 0.5 * size - local.abs();
    let axis = depth.min_position();
    let normal = DVec3::AXES[axis] * if local[axis] < 0.0 { -1.0 } else { 1.0 };
    Gap { distance: -depth[axis], normal, curvature: 0.0 }
}
