//! Distance to a waisted column: one sheet of a hyperboloid with flat ends.
//!
//! In the half plane (r, y), folded to y ≥ 0, the side is r = a√(1 + w²), y = b w
//! for 0 ≤ w ≤ h/2b. The foot of a point (r, y) is a root of
//! ```text
//! g(w) = (a² + b²) w - r a w/√(1 + w²) - y b
//! ```
//! g is convex, g(0) ≤ 0 and g(w₁) ≥ 0 at w₁ = (r a + y b)/(a² + b²), so Newton's
//! iteration slides down to the root from w₁ and cannot miss it. A root beyond the
//! rim means that the rim is nearest. Rims are sharp.

use super::Gap;
use super::shape::{edge_curvature, radial, unit_or};
use glam::{DVec2, DVec3};

/// Signed distance, outward normal and largest curvature at the foot.
pub(super) fn distance(waist: f64, slope: f64, height: f64, local: DVec3) -> Gap {
    let (out, rho) = radial(local);
    let up = if local.y < 0.0 { DVec3::NEG_Y } else { DVec3::Y };
    let point = DVec2::new(rho, local.y.abs());
    let end = 0.5 * height;
    let rim = DVec2::new(waist * (end / slope).hypot(1.0), end);
    let end_gap = Gap { distance: point.y - end, normal: up, curvature: 0.0 };
    if point.y > end && point.x <= rim.x {
        return end_gap;
    }
    let inside = point.y <= end && point.x <= waist * (point.y / slope).hypot(1.0);
    let w = nearest(waist, slope, end / slope, point);
    if w >= end / slope && !inside {
        let offset = point - rim;
        let away = unit_or(out * offset.x + up * offset.y, (out + up).normalize());
        return Gap { distance: offset.length(), normal: away, curvature: edge_curvature(offset.length(), height) };
    }
    let root = w.hypot(1.0);
    let foot = DVec2::new(waist * root, slope * w);
    let normal = DVec2::new(root / waist, -w / slope).normalize();
    let side = (point - foot).dot(normal);
    if inside && (end_gap.distance > side || w >= end / slope) {
        return end_gap;
    }
    let tilt = (waist * w / (slope * root)).hypot(1.0);
    let along = waist / (slope * slope * root.powi(3) * tilt.powi(3));
    let across = 1.0 / (foot.x * tilt);
    Gap { distance: side, normal: out * normal.x + up * normal.y, curvature: along.max(across) }
}

/// Parameter w of the nearest point of the side, at most `last`.
fn nearest(waist: f64, slope: f64, last: f64, point: DVec2) -> f64 {
    let square = waist * waist + slope * slope;
    let residue = |w: f64| square * w - point.x * waist * w / w.hypot(1.0) - point.y * slope;
    if residue(last) <= 0.0 {
        return last;
    }
    let mut w = ((point.x * waist + point.y * slope) / square).min(last);
    for _ in 0..64 {
        let next = (w - residue(w) / (square - point.x * waist / w.hypot(1.0).powi(3))).max(0.0);
        if next >= w {
            break;
        }
        w = next;
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a curvature that forgets one of the two directions.
    #[test]
    fn curvature_at_the_waist_is_the_larger_of_the_two_directions() {
        assert!((distance(0.5, 2.0, 3.0, DVec3::X).curvature - 2.0).abs() < 1e-12);
        assert!((distance(2.0, 0.5, 3.0, DVec3::X * 2.01).curvature - 8.0).abs() < 1e-12);
    }

    /// Catches an iteration that stalls where the foot changes from one to two.
    #[test]
    fn the_middle_plane_is_exact_at_the_fork() {
        let (a, b) = (0.5_f64, 0.3_f64);
        let fork = (a * a + b * b) / a;
        for rho in [0.9 * fork, fork, fork * (1.0 + 1e-9), 1.5 * fork] {
            let expected = if rho <= fork {
                rho - a
            } else {
                let r = rho * a * a / (a * a + b * b);
                (rho - r).hypot(b * ((r / a).powi(2) - 1.0).sqrt())
            };
            assert!((distance(a, b, 4.0, DVec3::Z * rho).distance - expected).abs() < 1e-12);
        }
    }
}
