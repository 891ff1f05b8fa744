//! Triangles for drawing an obstacle, about 1500 of them, facing out of the shape.
//!
//! Every corner lies on the surface. Sharp edges have their corners twice, so that
//! shading by corner normals keeps them sharp; smooth parts share theirs.

use super::ObstacleShape;
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Half the side of the square drawn for a plane (m).
const PLANE: f64 = 10.0;

/// Corners (m) and triangles.
type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

impl ObstacleShape {
    /// Corners (m, own axes) and triangles, wound so that they face outwards.
    pub fn outline(&self) -> Mesh {
        match *self {
            Self::Plane => {
                let corner = |x: f64, z: f64| DVec3::new(x, 0.0, z) * PLANE;
                let corners = vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)];
                (corners, vec![[0, 1, 2], [0, 2, 3]])
            }
            Self::Sphere { radius } => ball(DVec3::splat(radius)),
            Self::Ellipsoid { radii } => ball(radii),
            Self::Torus { radius, tube } => ring(radius, tube),
            Self::Hyperboloid { waist, slope, height } => {
                let bands = 20;
                let row = |i: usize| {
                    let y = height * (0.5 - i as f64 / bands as f64);
                    [waist * (y / slope).hypot(1.0), y]
                };
                let mut profile = vec![[0.0, 0.5 * height], row(0)];
                profile.extend((0..=bands).map(row));
                profile.extend([row(bands), [0.0, -0.5 * height]]);
                revolve(&profile, 36)
            }
            Self::Capsule { radius, length } => {
                let bands = 9;
                let cap = |i: usize, from: f64, middle: f64| {
                    let angle = from + FRAC_PI_2 * i as f64 / bands as f64;
                    [radius * angle.sin(), middle + radius * angle.cos()]
                };
                let mut profile: Vec<_> = (0..=bands).map(|i| cap(i, 0.0, 0.5 * length)).collect();
                profile.extend((0..=bands).map(|i| cap(i, FRAC_PI_2, -0.5 * length)));
                (profile[0][0], profile[2 * bands + 1][0]) = (0.0, 0.0);
                revolve(&profile, 42)
            }
            Self::Box { size, round } => cushion(size, round),
            Self::Mesh(ref mesh) => (mesh.corners().to_vec(), mesh.triangles().to_vec()),
        }
    }
}

fn ball(radii: DVec3) -> Mesh {
    let bands = 28;
    let mut profile: Vec<_> = (0..=bands).map(|i| PI * i as f64 / bands as f64).map(|a| [a.sin(), a.cos()]).collect();
    (profile[0][0], profile[bands][0]) = (0.0, 0.0);
    let (mut corners, triangles) = revolve(&profile, 28);
    corners.iter_mut().for_each(|p| *p *= radii);
    (corners, triangles)
}

/// Turns a profile of (radius, y), from top to bottom, about y. Radius 0 is a pole; a row given twice is a sharp edge.
fn revolve(profile: &[[f64; 2]], around: usize) -> Mesh {
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    let mut rows = Vec::new();
    for &[radius, y] in profile {
        let count = if radius == 0.0 { 1 } else { around };
        rows.push((corners.len(), count));
        corners.extend((0..count).map(|j| {
            let (sin, cos) = (TAU * j as f64 / around as f64).sin_cos();
            DVec3::new(radius * sin, y, radius * cos)
        }));
    }
    for i in 1..rows.len() {
        if profile[i] == profile[i - 1] {
            continue;
        }
        let at = |(first, count): (usize, usize), j: usize| (first + j % count) as u32;
        for j in 0..around {
            let (top, bottom) = (rows[i - 1], rows[i]);
            let (a, b, c, d) = (at(top, j), at(top, j + 1), at(bottom, j), at(bottom, j + 1));
            triangles
                .extend([[a, c, d], [a, d, b]].into_iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]));
        }
    }
    (corners, triangles)
}

fn ring(radius: f64, tube: f64) -> Mesh {
    let (around, across) = (42, 18);
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..around {
        for j in 0..across {
            let ((s, c), (up, out)) =
                ((TAU * i as f64 / around as f64).sin_cos(), (TAU * j as f64 / across as f64).sin_cos());
            corners.push(DVec3::new((radius + tube * out) * s, tube * up, (radius + tube * out) * c));
            let at = |i: usize, j: usize| (i % around * across + j % across) as u32;
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    (corners, triangles)
}

/// Six square patches; the rounding of an edge is shared between two of them, that of a corner between three.
fn cushion(size: DVec3, round: f64) -> Mesh {
    let steps: usize = if round > 0.0 { 5 } else { 0 };
    let core = 0.5 * size - round;
    // (which end of the core, slope of the normal) along one axis of a patch.
    let mut stops: Vec<(f64, f64)> = Vec::new();
    for end in [-1.0, 1.0] {
        let tilt = |i: usize| (0.25 * PI * i as f64 / steps.max(1) as f64).tan();
        stops.extend((0..=steps).map(|i| (end, if end < 0.0 { -tilt(steps - i) } else { tilt(i) })));
    }
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (out, u, v) = (DVec3::AXES[axis] * side, DVec3::AXES[(axis + 1) % 3], DVec3::AXES[(axis + 2) % 3]);
            let (n, first) = (stops.len(), corners.len());
            for &(end_u, slope_u) in &stops {
                for &(end_v, slope_v) in &stops {
                    let normal = (out + u * slope_u + v * slope_v).normalize();
                    corners.push(core * (out + u * end_u + v * end_v) + normal * round);
                }
            }
            for i in 0..n - 1 {
                for j in 0..n - 1 {
                    let [a, b, c, d] =
                        [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| (first + i * n + j) as u32);
                    let quad = [[a, b, c], [a, c, d]];
                    triangles.extend(quad.map(|[a, b, c]| if side > 0.0 { [a, b, c] } else { [a, c, b] }));
                }
            }
        }
    }
    if round > 0.0 { weld(&corners, triangles, 1e-7 * size.min_element()) } else { (corners, triangles) }
}

/// Makes one corner of those closer than about `grain` (m) and drops triangles without area.
fn weld(corners: &[DVec3], triangles: Vec<[u32; 3]>, grain: f64) -> Mesh {
    let (mut kept, mut places) = (Vec::new(), BTreeMap::new());
    let new: Vec<u32> = corners
        .iter()
        .map(|&p| {
            *places.entry((p / grain).to_array().map(|x| x.round() as i64)).or_insert_with(|| {
                kept.push(p);
                kept.len() as u32 - 1
            })
        })
        .collect();
    let triangles = triangles.into_iter().map(|t| t.map(|i| new[i as usize]));
    (kept, triangles.filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::shapes;
    use super::*;

    /// Signed volume enclosed (m³).
    fn volume((corners, triangles): &Mesh) -> f64 {
        let at = |i: u32| corners[i as usize];
        triangles.iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2]))) / 6.0).sum()
    }

    /// Catches triangles wound inwards, corners off the surface, and holes (which change the volume).
    #[test]
    fn outlines_lie_on_the_surface_and_enclose_its_volume() {
        for shape in shapes() {
            let mesh = shape.outline();
            assert!(
                mesh.1.len() < 2000 && mesh.0.iter().all(|p| shape.distance(*p).distance.abs() < 1e-6),
                "{shape:?}"
            );
            let expected = match shape {
                ObstacleShape::Plane | ObstacleShape::Mesh(_) => continue,
                ObstacleShape::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
                ObstacleShape::Ellipsoid { radii } => 4.0 / 3.0 * PI * radii.element_product(),
                ObstacleShape::Torus { radius, tube } => 2.0 * PI * PI * radius * tube * tube,
                ObstacleShape::Hyperboloid { waist, slope, height } => {
                    PI * waist * waist * height * (1.0 + (height / slope).powi(2) / 12.0)
                }
                ObstacleShape::Capsule { radius, length } => PI * radius * radius * (length + 4.0 / 3.0 * radius),
                ObstacleShape::Box { size, round } => {
                    let core = size - 2.0 * round;
                    core.element_product()
                        + 2.0 * round * (core.x * core.y + core.y * core.z + core.z * core.x)
                        + PI * round * round * core.element_sum()
                        + 4.0 / 3.0 * PI * round.powi(3)
                }
            };
            assert!((volume(&mesh) / expected - 1.0).abs() < 0.04, "{shape:?} {} {expected}", volume(&mesh));
        }
    }

    /// Catches a crack: every edge of a closed smooth surface is used once each way.
    #[test]
    fn smooth_outlines_are_closed() {
        for shape in shapes() {
            let sharp = matches!(shape, ObstacleShape::Plane | ObstacleShape::Hyperboloid { .. })
                || matches!(shape, ObstacleShape::Box { round, .. } if round == 0.0);
            if sharp {
                continue;
            }
            let mut edges = BTreeMap::new();
            for [a, b, c] in shape.outline().1 {
                for (i, j) in [(a, b), (b, c), (c, a)] {
                    *edges.entry((i.min(j), i.max(j))).or_insert(0) += if i < j { 1 } else { -1 };
                }
            }
            assert!(edges.values().all(|n| *n == 0), "{shape:?}");
        }
    }

    #[test]
    fn a_plane_is_drawn_as_a_square_facing_up() {
        let (corners, triangles) = ObstacleShape::Plane.outline();
        for t in triangles {
            let [a, b, c] = t.map(|i| corners[i as usize]);
            assert_eq!((b - a).cross(c - a).normalize(), DVec3::Y);
        }
    }
}
