//! One component of a curvature tensor: b = n·d, with n the unit normal of two tangents p and q.
//!
//! d, p and q are weighted sums of positions. With m = p×q, n = m/|m|, t = d - (d·n) n:
//! ```text
//! ∂b/∂d = n       ∂b/∂p = (q×t)/|m|       ∂b/∂q = (t×p)/|m|
//! ∂²b/∂m² = -[ tnᵀ + ntᵀ + (d·n)(I - nnᵀ) ] / |m|²          for fixed d
//! ```

use super::element::{Blocks, add_outer};
use glam::{DMat3, DVec3};

/// Weights of d, p and q.
pub(super) type Term<const N: usize> = [[f64; N]; 3];

/// d, p and q.
#[inline(always)]
pub(super) fn vectors<const N: usize>(term: &Term<N>, x: &[DVec3; N]) -> [DVec3; 3] {
    // Relative to the first node: the weights add up to zero, and far from the origin this keeps digits.
    term.map(|w| (1..N).map(|a| w[a] * (x[a] - x[0])).sum())
}

/// Areas below this (m²) have no normal.
const TINY: f64 = 1e-30;

/// b; none where the tangents have no normal.
#[inline(always)]
pub(super) fn value([d, p, q]: [DVec3; 3]) -> f64 {
    let m = p.cross(q);
    let area = m.length();
    if area > TINY { d.dot(m) / area } else { 0.0 }
}

/// b and its derivatives by d, p and q.
#[inline(always)]
pub(super) fn gradient([d, p, q]: [DVec3; 3]) -> (f64, [DVec3; 3]) {
    let m = p.cross(q);
    let area = m.length();
    if area <= TINY {
        return (0.0, [DVec3::ZERO; 3]);
    }
    let n = m / area;
    let b = d.dot(n);
    let t = (d - b * n) / area;
    (b, [n, q.cross(t), t.cross(p)])
}

/// Adds the derivatives of `factor` b by N positions.
#[inline(always)]
pub(super) fn spread<const N: usize>(term: &Term<N>, slopes: &[DVec3; 3], factor: f64, out: &mut [DVec3; N]) {
    for a in 0..N {
        out[a] += factor * (term[0][a] * slopes[0] + term[1][a] * slopes[1] + term[2][a] * slopes[2]);
    }
}

fn skew(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// Adds `factor` times the second derivatives of b.
#[inline(never)]
pub(super) fn second<const N: usize>(term: &Term<N>, x: &[DVec3; N], factor: f64, out: &mut Blocks<N>) {
    let [d, p, q] = vectors(term, x);
    let m = p.cross(q);
    let area = m.length();
    if area <= TINY {
        return;
    }
    let n = m / area;
    let b = d.dot(n);
    let t = d - b * n;
    let mut plane = DMat3::IDENTITY;
    add_outer(&mut plane, -n, n);
    let mut bend = plane * b;
    add_outer(&mut bend, t, n);
    add_outer(&mut bend, n, t);
    let bend = bend * (-1.0 / (area * area));
    // m by p and by q.
    let (by_p, by_q) = (-skew(q), skew(p));
    let mut h = [[DMat3::ZERO; 3]; 3];
    h[0][1] = plane * by_p * (1.0 / area);
    h[0][2] = plane * by_q * (1.0 / area);
    h[1][1] = by_p.transpose() * bend * by_p;
    h[2][2] = by_q.transpose() * bend * by_q;
    h[1][2] = by_p.transpose() * bend * by_q - skew(t) * (1.0 / area);
    for (i, j) in [(1, 0), (2, 0), (2, 1)] {
        h[i][j] = h[j][i].transpose();
    }
    for a in 0..N {
        for b in a..N {
            for i in 0..3 {
                for j in 0..3 {
                    let weight = factor * term[i][a] * term[j][b];
                    if weight != 0.0 {
                        out[a][b] += h[i][j] * weight;
                    }
                }
            }
        }
    }
}
