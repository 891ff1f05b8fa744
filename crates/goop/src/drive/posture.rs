//! How a body as a whole is placed and moves: centre, velocity, spin, inertia, and the rotation that fits best.
//!
//! ```text
//! c = Σm x / m     v = Σm ẋ / m     I = Σm (q² - q qᵀ)     ω = I⁻¹ Σm q×ẋ,   q = x - c
//! R maximises Σm q·R(r - r̄)         [Horn 1987]: the eigenvector of a symmetric 4×4 matrix
//! ```
//! The same for every choice of coordinates, because it is taken from the nodes. Flat shapes have a best rotation too. What a straight
//! one does about itself nothing tells: a preference for no turn, far below what is measured, decides.

use crate::parallel::Chunks;
use glam::{DMat3, DQuat, DVec3};

/// The whole of a body at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posture {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass (m).
    pub center: DVec3,
    /// Its velocity (m/s).
    pub velocity: DVec3,
    /// Angular velocity (rad/s).
    pub spin: DVec3,
    /// Inertia about the centre, world axes (kg m²).
    pub inertia: DMat3,
    /// World from the axes of the rest shape.
    pub rotation: DQuat,
    /// Centre of mass of the rest shape, in its own axes (m).
    pub rest_center: DVec3,
}

/// How much a turn is held against a fit, over its size.
const PREFERENCE: f64 = 1e-13;

/// Inertia given to an axis that has none, over the trace: a straight curve about itself.
const LEAST_INERTIA: f64 = 1e-9;

impl Posture {
    /// From masses, rest shape, positions and velocities of the nodes.
    pub fn of(masses: &[f64], rest: &[DVec3], x: &[DVec3], v: &[DVec3]) -> Self {
        let chunks = Chunks::new(x.len());
        let sums: [f64; 10] = chunks.sum(|_, range| {
            let (mut mass, mut sums) = (0.0, [DVec3::ZERO; 3]);
            for i in range {
                mass += masses[i];
                [x[i], v[i], rest[i]].iter().zip(&mut sums).for_each(|(value, sum)| *sum += masses[i] * *value);
            }
            let [a, b, c] = sums;
            [mass, a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z]
        });
        let mass = sums[0];
        let [center, velocity, rest_center] = [1, 4, 7].map(|k| DVec3::new(sums[k], sums[k + 1], sums[k + 2]) / mass);
        // Second moments q qᵀ, angular momentum, and S = Σm (r - r̄) qᵀ.
        let sums: [f64; 18] = chunks.sum(|_, range| {
            let mut s = [0.0; 18];
            for i in range {
                let (q, r) = (x[i] - center, masses[i] * (rest[i] - rest_center));
                let (m, l) = (masses[i] * q, q.cross(masses[i] * v[i]));
                let terms = [m.x * q.x, m.y * q.y, m.z * q.z, m.y * q.z, m.z * q.x, m.x * q.y, l.x, l.y, l.z];
                (0..9).for_each(|k| s[k] += terms[k]);
                for a in 0..3 {
                    (0..3).for_each(|b| s[9 + 3 * a + b] += r[a] * q[b]);
                }
            }
            s
        });
        let mut inertia = crate::coordinates::framed::inertia(std::array::from_fn(|k| sums[k]));
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        if inertia.determinant() < LEAST_INERTIA * trace.powi(3) {
            inertia += DMat3::IDENTITY * (LEAST_INERTIA * trace);
        }
        let turning = DVec3::new(sums[6], sums[7], sums[8]);
        let spin = if trace > 0.0 { inertia.inverse() * turning } else { DVec3::ZERO };
        let rotation = best_rotation(std::array::from_fn(|k| sums[9 + k]));
        Self { mass, center, velocity, spin, inertia, rotation, rest_center }
    }

    /// Angular acceleration of a torque (rad/s²).
    pub fn turned_by(&self, torque: DVec3) -> DVec3 {
        if self.inertia.determinant() > 0.0 { self.inertia.inverse() * torque } else { DVec3::ZERO }
    }
}

/// The rotation that maximises Σ q·Rr, from S = Σ r qᵀ by rows.
fn best_rotation([xx, xy, xz, yx, yy, yz, zx, zy, zz]: [f64; 9]) -> DQuat {
    let size = [xx, xy, xz, yx, yy, yz, zx, zy, zz].iter().map(|s| s.abs()).fold(0.0, f64::max);
    let prefer = PREFERENCE * size;
    let mut n = [
        [xx + yy + zz + prefer, yz - zy, zx - xz, xy - yx],
        [yz - zy, xx - yy - zz, xy + yx, zx + xz],
        [zx - xz, xy + yx, yy - xx - zz, yz + zy],
        [xy - yx, zx + xz, yz + zy, zz - xx - yy],
    ];
    let mut vectors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    for _ in 0..30 {
        let off: f64 = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))).map(|(a, b)| n[a][b].abs()).sum();
        if off <= 1e-17 * size {
            break;
        }
        for a in 0..4 {
            for b in a + 1..4 {
                rotate_away(&mut n, &mut vectors, a, b);
            }
        }
    }
    let best = (1..4).fold(0, |best, k| if n[k][k] > n[best][best] { k } else { best });
    let [w, x, y, z] = [0, 1, 2, 3].map(|row| vectors[row][best]);
    let q = DQuat::from_xyzw(x, y, z, w).normalize();
    if q.w < 0.0 { -q } else { q }
}

/// One rotation of Jacobi's method: makes entry (a, b) nought.
fn rotate_away(n: &mut [[f64; 4]; 4], vectors: &mut [[f64; 4]; 4], a: usize, b: usize) {
    if n[a][b] == 0.0 {
        return;
    }
    let ratio = (n[b][b] - n[a][a]) / (2.0 * n[a][b]);
    let t = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..4 {
        (n[k][a], n[k][b]) = (c * n[k][a] - s * n[k][b], s * n[k][a] + c * n[k][b]);
    }
    for k in 0..4 {
        (n[a][k], n[b][k]) = (c * n[a][k] - s * n[b][k], s * n[a][k] + c * n[b][k]);
    }
    for row in vectors {
        (row[a], row[b]) = (c * row[a] - s * row[b], s * row[a] + c * row[b]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a transposed rotation, a wrong eigenvector, and a fit that needs a guess.
    #[test]
    fn a_turned_body_is_found_turned_whatever_the_angle_and_shape() {
        let solid: Vec<DVec3> =
            (0..20).map(|i| DVec3::new((i as f64).sin(), (2.0 * i as f64).cos(), 0.3 * i as f64)).collect();
        let flat: Vec<DVec3> = solid.iter().map(|r| DVec3::new(r.x, 0.0, r.z)).collect();
        let masses: Vec<f64> = (0..20).map(|i| 1.0 + 0.1 * i as f64).collect();
        for rest in [&solid, &flat] {
            for angle in [0.0, 0.7, 3.1, std::f64::consts::PI - 1e-6, -2.0] {
                let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), angle);
                let (shift, push, spin) = (DVec3::new(3.0, -1.0, 2.0), DVec3::X, DVec3::new(0.1, -2.0, 0.4));
                let x: Vec<DVec3> = rest.iter().map(|&r| shift + turn * r).collect();
                let v: Vec<DVec3> = x.iter().map(|&x| push + spin.cross(x)).collect();
                let posture = Posture::of(&masses, rest, &x, &v);
                assert!(posture.rotation.dot(turn).abs() > 1.0 - 1e-12, "{angle}: {:?}", posture.rotation);
                assert!((posture.spin - spin).length() < 1e-9, "{}", posture.spin);
                assert!((posture.center - (shift + turn * posture.rest_center)).length() < 1e-12);
            }
        }
    }

    /// Catches a straight body whose own axis makes the fit jump or the spin infinite.
    #[test]
    fn a_straight_body_turns_as_little_as_it_can() {
        let rest: Vec<DVec3> = (0..9).map(|i| DVec3::X * i as f64).collect();
        let turn = DQuat::from_rotation_z(0.8);
        let x: Vec<DVec3> = rest.iter().map(|&r| turn * r).collect();
        let v: Vec<DVec3> = x.iter().map(|&x| DVec3::Z.cross(x)).collect();
        let posture = Posture::of(&[1.0; 9], &rest, &x, &v);
        assert!(posture.rotation.dot(turn).abs() > 1.0 - 1e-9, "{:?}", posture.rotation);
        assert!((posture.spin - DVec3::Z).length() < 1e-6, "{}", posture.spin);
    }
}
