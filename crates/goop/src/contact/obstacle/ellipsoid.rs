//! Distance to an ellipsoid.
//!
//! The foot y of a point x satisfies x - y = t ∇f(y)/2 with f = Σ (y/a)² - 1. With
//! the smallest radius c and u = 1 + t/c² this is one equation for u ≥ 0:
//! ```text
//! yᵢ/aᵢ = pᵢ/(u + sᵢ)      pᵢ = aᵢ|xᵢ|/c²,  sᵢ = (aᵢ² - c²)/c²
//! F(u)  = Σ (pᵢ/(u + sᵢ))² - 1 = 0
//! ```
//! F falls and is convex. At u₀ = max(0, pᵢ - sᵢ) it lies between 0 and 2, so
//! Newton's iteration climbs to the root from the left without ever passing it,
//! in a few steps whatever the radii. Where F(0) < 0 the point lies on the middle
//! plane inside; the foot is off that plane and there are two, of which the
//! positive one is taken.

use super::Gap;
use glam::DVec3;

/// Signed distance, outward normal and largest curvature at the foot.
pub(super) fn distance(radii: DVec3, local: DVec3) -> Gap {
    let foot_over_radii = nearest(radii, local);
    let foot = foot_over_radii * radii;
    let steep = foot_over_radii / radii;
    let normal = steep / steep.length();
    let support = 1.0 / steep.length();
    let volume = radii.element_product();
    let mean = 0.5 * support.powi(3) * (radii.length_squared() - foot.length_squared()) / (volume * volume);
    let gauss = (support * support / volume).powi(2);
    let curvature = mean + (mean * mean - gauss).max(0.0).sqrt();
    Gap { distance: (local - foot).dot(normal), normal, curvature }
}

/// Nearest point of the surface, each coordinate over its radius: a unit vector.
fn nearest(radii: DVec3, local: DVec3) -> DVec3 {
    let thin = radii.min_position();
    let c = radii[thin];
    let shift = (radii - c) * (radii + c) / (c * c);
    // Less than 1e-150 of the size is nothing, and would overflow the slope.
    let pull = (local.abs() * radii / (c * c)).map(|p| if p < 1e-150 { 0.0 } else { p });
    let ratios =
        |u: f64| DVec3::from_array([0, 1, 2].map(|i| if pull[i] > 0.0 { pull[i] / (u + shift[i]) } else { 0.0 }));
    let mut u = (pull - shift).max_element().max(0.0);
    let mut foot = ratios(u);
    if u == 0.0 && foot.length_squared() < 1.0 {
        foot[thin] = (1.0 - foot.length_squared()).sqrt();
    } else {
        for _ in 0..64 {
            let excess = foot.length_squared() - 1.0;
            let slope: f64 =
                [0, 1, 2].map(|i| if pull[i] > 0.0 { foot[i] * foot[i] / (u + shift[i]) } else { 0.0 }).iter().sum();
            let next = u + 0.5 * excess / slope;
            if next <= u || excess <= 2.0 * f64::EPSILON {
                break;
            }
            u = next;
            foot = ratios(u);
        }
    }
    DVec3::select(local.cmplt(DVec3::ZERO), -foot, foot)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a root find that loses digits or stalls when one radius is tiny next to another.
    #[test]
    fn feet_are_found_whatever_the_ratio_of_the_radii() {
        for radii in [DVec3::new(1.0, 1e-3, 1.0), DVec3::new(1e-3, 1.0, 2e-3), DVec3::new(1e3, 1.0, 1.0)] {
            for i in 0..2000 {
                let t = f64::from(i);
                let on = DVec3::new(
                    (0.37 * t).cos() * (0.11 * t).cos(),
                    (0.37 * t).sin(),
                    (0.37 * t).cos() * (0.11 * t).sin(),
                );
                let (foot, steep) = (on * radii, on / radii);
                let normal = steep.normalize();
                for height in [1e-6, 1e-3, 0.3, 40.0] {
                    let gap = distance(radii, foot + normal * height);
                    assert!(
                        (gap.distance - height).abs() < 1e-12 * (radii.max_element() + height),
                        "{radii} {on} {height} {gap:?}"
                    );
                    assert!(gap.normal.dot(normal) > 1.0 - 1e-9);
                }
            }
        }
    }

    /// Catches a curvature that is the smaller one or forgets the gradient's length.
    #[test]
    fn curvature_at_the_poles_is_the_known_one() {
        let radii = DVec3::new(3.0, 2.0, 0.5);
        assert!((distance(radii, DVec3::X * 4.0).curvature - 3.0 / 0.25).abs() < 1e-12);
        assert!((distance(radii, DVec3::Y * 4.0).curvature - 2.0 / 0.25).abs() < 1e-12);
        assert!((distance(radii, DVec3::Z * 4.0).curvature - 0.5 / 4.0).abs() < 1e-12);
    }
}
