//! Meshes of obstacles, fine enough that one sees no corners.

use super::look::ObstacleLook;
use glam::{DVec3, Vec3};
use goop::contact::ObstacleShape;
use std::f64::consts::{PI, TAU};

/// Corners around an axis.
const AROUND: usize = 96;

impl ObstacleLook {
    /// The look of a shape, in its own axes.
    pub fn of(shape: &ObstacleShape, hollow: bool) -> ObstacleLook {
        let (positions, triangles, wires) = match *shape {
            ObstacleShape::Plane => (Vec::new(), Vec::new(), Vec::new()),
            ObstacleShape::Sphere { radius } => revolved(&arc(0.0, radius, -0.5 * PI, 0.5 * PI, 48), false),
            ObstacleShape::Ellipsoid { radii } => {
                let (ball, triangles, wires) = revolved(&arc(0.0, 1.0, -0.5 * PI, 0.5 * PI, 48), false);
                (ball.into_iter().map(|p| (Vec3::from(p) * radii.as_vec3()).into()).collect(), triangles, wires)
            }
            ObstacleShape::Torus { radius, tube } => {
                let ring: Vec<[f64; 2]> = (0..48)
                    .map(|k| (TAU * f64::from(k) / 48.0).sin_cos())
                    .map(|(sin, cos)| [radius + tube * cos, tube * sin])
                    .collect();
                revolved(&ring, true)
            }
            ObstacleShape::Hyperboloid { waist, slope, height } => {
                let side = (0..=48).map(|k| height * (f64::from(k) / 48.0 - 0.5));
                let mut profile = vec![[0.0, -0.5 * height]];
                profile.extend(side.map(|y| [waist * (1.0 + (y / slope).powi(2)).sqrt(), y]));
                profile.push([0.0, 0.5 * height]);
                revolved(&profile, false)
            }
            ObstacleShape::Capsule { radius, length } => {
                let mut profile = arc(-0.5 * length, radius, -0.5 * PI, 0.0, 24);
                profile.extend(arc(0.5 * length, radius, 0.0, 0.5 * PI, 24));
                revolved(&profile, false)
            }
            ObstacleShape::Box { size, round } => boxed(size, round),
            ObstacleShape::Mesh(ref mesh) => {
                let edges = mesh.triangles().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
                let mut wires: Vec<[u32; 2]> = edges.map(|[a, b]| [a.min(b), a.max(b)]).collect();
                wires.sort_unstable();
                wires.dedup();
                (mesh.corners().iter().map(|p| p.as_vec3().into()).collect(), mesh.triangles().to_vec(), wires)
            }
        };
        ObstacleLook { positions, triangles, wires, color: None, hollow, plane: matches!(shape, ObstacleShape::Plane) }
    }
}

type Parts = (Vec<[f32; 3]>, Vec<[u32; 3]>, Vec<[u32; 2]>);

/// Distances from the axis and heights along part of a circle about (0, middle).
fn arc(middle: f64, radius: f64, from: f64, to: f64, steps: u32) -> Vec<[f64; 2]> {
    let angle = |k: u32| from + (to - from) * f64::from(k) / f64::from(steps);
    (0..=steps).map(|k| [(radius * angle(k).cos()).max(0.0), middle + radius * angle(k).sin()]).collect()
}

/// A profile (distance from the axis, height) upwards, turned about y.
fn revolved(profile: &[[f64; 2]], closed: bool) -> Parts {
    let (rows, around) = (profile.len(), AROUND as u32);
    let mut positions = Vec::with_capacity(rows * AROUND);
    for [r, y] in profile {
        for k in 0..AROUND {
            let (sin, cos) = (TAU * k as f64 / AROUND as f64).sin_cos();
            // At a pole all corners are one point, bit for bit.
            let at = if *r > 1e-12 { DVec3::new(r * sin, *y, r * cos) } else { DVec3::new(0.0, *y, 0.0) };
            positions.push(at.as_vec3().into());
        }
    }
    let mut triangles = Vec::with_capacity(2 * rows * AROUND);
    for i in 0..if closed { rows } else { rows - 1 } {
        let (low, high) = (i as u32 * around, ((i + 1) % rows) as u32 * around);
        for k in 0..around {
            let next = (k + 1) % around;
            triangles.push([low + k, low + next, high + next]);
            triangles.push([low + k, high + next, high + k]);
        }
    }
    let whole = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        a != b && b != c && c != a
    };
    triangles.retain(whole);
    // Every fourth meridian and, of the circles, enough to see the shape.
    let mut wires = Vec::new();
    for i in 0..rows as u32 {
        let next = if closed { (i + 1) % rows as u32 } else { i + 1 };
        for k in 0..around {
            if k % 4 == 0 && next < rows as u32 {
                wires.push([i * around + k, next * around + k]);
            }
            if i % 4 == 0 || i + 1 == rows as u32 {
                wires.push([i * around + k, i * around + (k + 1) % around]);
            }
        }
    }
    (positions, triangles, wires)
}

/// Six grids, finer towards the rounded edges; corners pushed out from the inner box.
fn boxed(size: DVec3, round: f64) -> Parts {
    let half = 0.5 * size;
    let inner = (half - round).max(DVec3::ZERO);
    let steps = if round > 0.0 { 8 } else { 1 };
    let (mut positions, mut triangles, mut wires) = (Vec::new(), Vec::new(), Vec::new());
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            // Through the angle of the rounding, then across the flat part in one go.
            let ticks = |k: usize| -> Vec<f64> {
                let part = |i: u32| round * (0.25 * PI * f64::from(i) / f64::from(steps)).tan();
                let outer = (0..=steps).map(|i| inner[k] + part(i));
                let mut list: Vec<f64> = outer.clone().map(|t| -t).collect();
                list.reverse();
                list.extend(outer);
                list
            };
            let (us, vs) = (ticks(u), ticks(v));
            let first = positions.len() as u32;
            for &b in &vs {
                for &a in &us {
                    let mut p = DVec3::ZERO;
                    (p[axis], p[u], p[v]) = (sign * half[axis], a, b);
                    let core = p.clamp(-inner, inner);
                    let out = core + (p - core).normalize_or_zero() * round;
                    positions.push((if round > 0.0 { out } else { p }).as_vec3().into());
                }
            }
            let n = us.len() as u32;
            // Where the flat part ends.
            let (near, far) = (steps, n - 1 - steps);
            let corner = |i: u32, j: u32| first + j * n + i;
            for (i, j, to) in
                [(near, near, (far, near)), (far, near, (far, far)), (far, far, (near, far)), (near, far, (near, near))]
            {
                wires.push([corner(i, j), corner(to.0, to.1)]);
            }
            for j in 0..vs.len() as u32 - 1 {
                for i in 0..n - 1 {
                    let q = [
                        first + j * n + i,
                        first + j * n + i + 1,
                        first + (j + 1) * n + i + 1,
                        first + (j + 1) * n + i,
                    ];
                    let q = if sign > 0.0 { q } else { [q[3], q[2], q[1], q[0]] };
                    triangles.push([q[0], q[1], q[2]]);
                    triangles.push([q[0], q[2], q[3]]);
                }
            }
        }
    }
    triangles.retain(|t| {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        a != b && b != c && c != a
    });
    (positions, triangles, wires)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a mesh that is off the surface bodies collide with, open, or inside out.
    #[test]
    fn every_mesh_lies_on_its_obstacle_and_faces_outwards() {
        let shapes = [
            ObstacleShape::Sphere { radius: 0.7 },
            ObstacleShape::Ellipsoid { radii: DVec3::new(0.3, 0.6, 1.0) },
            ObstacleShape::Torus { radius: 1.0, tube: 0.3 },
            ObstacleShape::Hyperboloid { waist: 0.4, slope: 0.5, height: 2.0 },
            ObstacleShape::Capsule { radius: 0.3, length: 1.0 },
            ObstacleShape::Box { size: DVec3::new(1.0, 2.0, 0.5), round: 0.1 },
            ObstacleShape::Box { size: DVec3::new(1.0, 2.0, 0.5), round: 0.0 },
        ];
        for shape in shapes {
            let look = ObstacleLook::of(&shape, false);
            for p in &look.positions {
                let gap = shape.distance(Vec3::from(*p).as_dvec3());
                assert!(gap.distance.abs() < 1e-5, "{shape:?} {p:?} {gap:?}");
            }
            for t in &look.triangles {
                let [a, b, c] = t.map(|v| Vec3::from(look.positions[v as usize]));
                let gap = shape.distance(((a + b + c) / 3.0).as_dvec3());
                let normal = (b - a).cross(c - a);
                assert!(normal.dot(gap.normal.as_vec3()) > 0.0, "{shape:?} {a} {b} {c}");
            }
        }
    }
}
