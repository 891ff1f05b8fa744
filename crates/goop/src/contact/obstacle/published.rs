//! The published contact potential.
//!
//! With an inside-outside function f, negative in the solid:
//! ```text
//! E = c exp(-f/ξ)                               [GO] eq. 26     [J]
//! F = (c/ξ) exp(-f/ξ) ∇f        outwards                        [N]
//! K = (c/ξ) exp(-f/ξ) (∇f∇fᵀ/ξ - ∇²f), positive part            [N/m]
//!
//! sphere, ellipsoid  Σ(x/a)² - 1
//! torus              ((√(x²+z²) - R)² + y²)/r² - 1
//! hyperboloid        (x²+z²)/a² - y²/b² - 1
//! plane              y
//! capsule, box       signed distance
//! ```
//! f changes sign when the obstacle is hollow.
//!
//! Departs from the paper: the print lost the signs of the force. Deeper than
//! -f/ξ = 60 the energy goes on as its tangent, so that nothing overflows. Capsule
//! and box are not in the paper. As printed, the hyperboloid has no ends.

use super::shape::{axis_point, box_offset, edge_curvature, radial};
use super::{Obstacle, ObstacleShape, Published, local_from_world};
use crate::animate::Pose;
use glam::{DMat3, DVec3};

/// Largest exponent taken as such; e⁶⁰ is 10²⁶.
const STEEPEST: f64 = 60.0;

impl Obstacle {
    /// Inside-outside function and its gradient in the obstacle's own axes (-, 1/m;
    /// m, - for plane, capsule and box).
    pub fn implicit(&self, local: DVec3) -> (f64, DVec3) {
        let (f, gradient, _) = self.implicit_second(local);
        (f, gradient)
    }

    /// Energy (J), force (N) and positive part of the stiffness (N/m) of a node, world
    /// axes; nothing unless `published` is given.
    pub fn published_potential(&self, world_point: DVec3, pose: &Pose) -> (f64, DVec3, DMat3) {
        let Some(Published { c, xi }) = self.published else {
            return (0.0, DVec3::ZERO, DMat3::ZERO);
        };
        let (f, gradient, second) = self.implicit_second(local_from_world(pose, world_point));
        let depth = -f / xi;
        let exp = depth.min(STEEPEST).exp();
        let (energy, bend) = if depth <= STEEPEST { (exp, exp) } else { (exp * (1.0 + depth - STEEPEST), 0.0) };
        let stiffness = positive_part((outer(gradient) * (bend / xi) - second * exp) * (c / xi));
        let world_from_local = DMat3::from_quat(pose.rotation);
        (
            c * energy,
            world_from_local * gradient * (c / xi * exp),
            world_from_local * stiffness * world_from_local.transpose(),
        )
    }

    fn implicit_second(&self, local: DVec3) -> (f64, DVec3, DMat3) {
        let (f, gradient, second) = self.shape.implicit_second(local);
        if self.hollow { (-f, -gradient, -second) } else { (f, gradient, second) }
    }
}

impl ObstacleShape {
    /// Value, gradient and second derivative of the inside-outside function.
    fn implicit_second(&self, local: DVec3) -> (f64, DVec3, DMat3) {
        let quadric = |weights: DVec3| {
            let gradient = 2.0 * weights * local;
            (0.5 * gradient.dot(local) - 1.0, gradient, DMat3::from_diagonal(2.0 * weights))
        };
        match *self {
            Self::Plane => (local.y, DVec3::Y, DMat3::ZERO),
            Self::Sphere { radius } => quadric(DVec3::splat(radius.powi(-2))),
            Self::Ellipsoid { radii } => quadric((radii * radii).recip()),
            Self::Hyperboloid { waist, slope, .. } => {
                quadric(DVec3::new(waist.powi(-2), -slope.powi(-2), waist.powi(-2)))
            }
            Self::Torus { radius, tube } => {
                let (out, rho) = radial(local);
                let weight = tube.powi(-2);
                let f = ((rho - radius).powi(2) + local.y * local.y) * weight - 1.0;
                let gradient = 2.0 * weight * (out * (rho - radius) + DVec3::Y * local.y);
                // The function has a kink on the axis; its second derivative is cut off there.
                let round = 1.0 - radius / rho.max(1e-6 * radius);
                let second = outer(out) + outer(DVec3::Y) + outer(out.cross(DVec3::Y)) * round;
                (f, gradient, second * (2.0 * weight))
            }
            Self::Capsule { length, .. } => {
                let beyond = if local.y.abs() > 0.5 * length { 1.0 } else { 0.0 };
                self.by_distance(local, local - axis_point(local, length), DVec3::new(1.0, beyond, 1.0))
            }
            Self::Box { size, round } => {
                let offset = box_offset(size, round, local);
                let free = offset.map(|x| if x == 0.0 { 0.0 } else { 1.0 });
                self.by_distance(local, offset, free)
            }
            Self::Mesh(_) => self.by_distance(local, DVec3::ZERO, DVec3::ZERO),
        }
    }

    /// The distance and its derivatives, `offset` from a core that lets go along the `free` axes.
    fn by_distance(&self, local: DVec3, offset: DVec3, free: DVec3) -> (f64, DVec3, DMat3) {
        let gap = self.distance(local);
        let second = if free == DVec3::ZERO {
            DMat3::ZERO
        } else {
            (DMat3::from_diagonal(free) - outer(gap.normal)) * edge_curvature(offset.length(), self.thickness())
        };
        (gap.distance, gap.normal, second)
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// A symmetric matrix with its negative eigenvalues set to zero, by Jacobi's rotations.
fn positive_part(matrix: DMat3) -> DMat3 {
    let mut a = matrix.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    for sweep in 0..12 {
        if sweep > 0 && a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let tan = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cos = 1.0 / tan.hypot(1.0);
            let sin = tan * cos;
            for k in 0..3 {
                (a[k][p], a[k][q]) = (cos * a[k][p] - sin * a[k][q], sin * a[k][p] + cos * a[k][q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = (cos * a[p][k] - sin * a[q][k], sin * a[p][k] + cos * a[q][k]);
                (axes[p][k], axes[q][k]) = (cos * axes[p][k] - sin * axes[q][k], sin * axes[p][k] + cos * axes[q][k]);
            }
            (a[p][q], a[q][p]) = (0.0, 0.0);
        }
    }
    if (0..3).all(|i| a[i][i] >= 0.0) {
        return matrix;
    }
    (0..3).fold(DMat3::ZERO, |sum, i| sum + outer(DVec3::from_array(axes[i])) * a[i][i].max(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Lcg, obstacles, still, turned};
    use super::*;

    fn with_potential() -> Vec<Obstacle> {
        let published = Some(Published { c: 0.7, xi: 0.3 });
        obstacles().into_iter().map(|o| Obstacle { published, ..o }).collect()
    }

    /// Catches a wrong factor or sign in a gradient, also when hollow.
    #[test]
    fn gradients_of_the_published_functions_match_finite_differences() {
        let mut random = Lcg::new(3);
        for obstacle in with_potential() {
            for _ in 0..200 {
                let p = random.point(1.5);
                let (f, gradient) = obstacle.implicit(p);
                let h = 1e-6;
                let numeric =
                    DVec3::AXES.map(|e| (obstacle.implicit(p + e * h).0 - obstacle.implicit(p - e * h).0) / (2.0 * h));
                // Boxes have creases inside, so a few points may straddle one.
                let crease = matches!(obstacle.shape, ObstacleShape::Box { .. }) && f.abs() > 0.02;
                assert!(
                    crease || (DVec3::from_array(numeric) - gradient).length() < 1e-5 * (1.0 + gradient.length()),
                    "{obstacle:?} {p}"
                );
            }
        }
    }

    /// Catches a force that is not the slope of its energy, or is given in the wrong axes.
    #[test]
    fn published_force_is_minus_the_slope_of_its_energy_in_a_turned_pose() {
        let mut random = Lcg::new(4);
        let pose = turned();
        for obstacle in with_potential() {
            for _ in 0..200 {
                let p = random.point(1.2) + pose.position;
                let (energy, force, _) = obstacle.published_potential(p, &pose);
                if !(1e-9..1e9).contains(&energy) || obstacle.gap(p, &pose).distance < -0.02 {
                    continue;
                }
                let h = 1e-6;
                let e = |p| obstacle.published_potential(p, &pose).0;
                let numeric = DVec3::from_array(DVec3::AXES.map(|a| -(e(p + a * h) - e(p - a * h)) / (2.0 * h)));
                assert!(
                    (numeric - force).length() < 1e-5 * (energy + force.length()),
                    "{obstacle:?} {p} {force} {numeric}"
                );
            }
        }
    }

    /// Catches a stiffness that loses a term, or has a direction that runs away.
    #[test]
    fn published_stiffness_is_the_positive_part_of_the_second_derivative() {
        let mut random = Lcg::new(5);
        for obstacle in with_potential() {
            for _ in 0..200 {
                let p = random.point(1.2);
                let (energy, _, stiffness) = obstacle.published_potential(p, &still());
                if !(1e-9..1e6).contains(&energy) || obstacle.gap(p, &still()).distance < -0.02 {
                    continue;
                }
                let h = 1e-7;
                let f = |p| obstacle.published_potential(p, &still()).1;
                let [x, y, z] = DVec3::AXES.map(|a| -(f(p + a * h) - f(p - a * h)) / (2.0 * h));
                let exact = DMat3::from_cols(x, y, z);
                let exact = (exact + exact.transpose()) * 0.5;
                let size = energy + exact.to_cols_array().iter().map(|x| x.abs()).fold(0.0, f64::max);
                for _ in 0..10 {
                    let v = random.point(1.0).normalize();
                    assert!(v.dot(stiffness * v) > -1e-12 * size);
                    // What was cut off is negative, so the positive part is never below.
                    assert!(v.dot(stiffness * v) > v.dot(exact * v) - 1e-4 * size, "{obstacle:?} {p}");
                }
                let cut = stiffness - exact;
                let product = cut * stiffness;
                // The part cut off lies across the part kept.
                assert!(
                    product.to_cols_array().iter().all(|x| x.abs() < 1e-3 * size * size),
                    "{obstacle:?} {p} {product}"
                );
            }
        }
    }

    /// Catches an exponential that overflows deep inside, and a force that stops pushing there.
    #[test]
    fn deep_inside_energy_and_force_stay_finite_and_consistent() {
        for obstacle in obstacles() {
            let obstacle = Obstacle { published: Some(Published { c: 1.0, xi: 1e-6 }), ..obstacle };
            for p in [DVec3::ZERO, DVec3::new(0.01, -0.02, 0.003), DVec3::splat(50.0), DVec3::Y * -80.0] {
                let (energy, force, stiffness) = obstacle.published_potential(p, &still());
                assert!(energy.is_finite() && force.is_finite() && stiffness.is_finite(), "{obstacle:?} {p}");
            }
        }
    }

    /// Catches a rotation with the wrong sign: eigenvalues of a known matrix are 3, -1 and 5.
    #[test]
    fn positive_part_keeps_what_is_positive() {
        let a = DMat3::from_cols(DVec3::new(1.0, 2.0, 0.0), DVec3::new(2.0, 1.0, 0.0), DVec3::Z * 5.0);
        let expected = outer(DVec3::new(1.0, 1.0, 0.0)) * 1.5 + outer(DVec3::Z) * 5.0;
        assert!(positive_part(a).abs_diff_eq(expected, 1e-14));
        assert_eq!(positive_part(expected), expected);
    }
}
