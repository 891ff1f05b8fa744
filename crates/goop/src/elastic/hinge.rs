//! The angle between two triangles that share an edge.
//!
//! With e = x₁ - x₀ along the edge and wings a = x₂ - x₀, b = x₃ - x₀:
//! ```text
//! m = e × a,  n = b × e        θ = angle from m to n about e, 0 where flat      [rad]
//! ∂θ/∂x₂ = -|e| m/|m|²         ∂θ/∂x₃ = -|e| n/|n|²
//! ∂θ/∂x₀ = -(1-α) ∂θ/∂x₂ - (1-β) ∂θ/∂x₃      ∂θ/∂x₁ = -α ∂θ/∂x₂ - β ∂θ/∂x₃
//! α = a·e/|e|²,  β = b·e/|e|²: where the wings stand on the edge
//! ```

use super::jet::{Jet, cross, dot, near};
use glam::DVec3;

/// Squares of areas below this (m⁴) are those of no triangle.
const TINY: f64 = 1e-60;

/// θ (rad) in -π … π.
#[inline(always)]
pub(super) fn angle(x: [DVec3; 4]) -> f64 {
    let (e, a, b) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let (m, n) = (e.cross(a), b.cross(e));
    m.cross(n).dot(e.normalize_or_zero()).atan2(m.dot(n))
}

/// θ and its derivatives; none where a triangle has no area.
#[inline(always)]
pub(super) fn gradient(x: [DVec3; 4]) -> (f64, [DVec3; 4]) {
    let (e, a, b) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let (m, n, length2) = (e.cross(a), b.cross(e), e.length_squared());
    let (mm, nn) = (m.length_squared(), n.length_squared());
    if mm < TINY || nn < TINY {
        return (angle(x), [DVec3::ZERO; 4]);
    }
    let length = length2.sqrt();
    let (p, q) = (m * (-length / mm), n * (-length / nn));
    let (alpha, beta) = (a.dot(e) / length2, b.dot(e) / length2);
    (m.cross(n).dot(e / length).atan2(m.dot(n)), [(alpha - 1.0) * p + (beta - 1.0) * q, -alpha * p - beta * q, p, q])
}

/// θ near another angle, with second derivatives by (e, a, b); `None` where a triangle has no area.
pub(super) fn jet(vectors: [DVec3; 3], about: f64) -> Option<Jet> {
    let [e, a, b] = vectors;
    if e.cross(a).length_squared() < TINY || b.cross(e).length_squared() < TINY {
        return None;
    }
    let [e, a, b] = Jet::variables(vectors);
    let (m, n) = (cross(&e, &a), cross(&b, &e));
    let y = dot(&cross(&m, &n), &e) * dot(&e, &e).sqrt().inverse();
    Some(y.angle(&dot(&m, &n), about))
}

/// θ within half a turn of another.
#[inline(always)]
pub(super) fn angle_near(x: [DVec3; 4], about: f64) -> f64 {
    near(angle(x), about)
}
