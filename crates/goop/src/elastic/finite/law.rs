//! Stable neo-Hookean material in one cell.
//!
//! ```text
//! Ψ = ½ μ (|F|² - 3) - μ (J - 1) + ½ Λ (J - 1)²,  Λ = λ + μ            [J/m³]
//! P = μ F + c G,  c = Λ (J - 1) - μ,  G = ∂J/∂F
//! ```
//! In the axes of F = U diag(s) Vᵀ the second derivative falls apart (σ = det U det V):
//! ```text
//! stretching   A_ii = μ + Λ g_i²,  A_ij = Λ g_i g_j + c σ s_k,  g_i = σ s_j s_k
//! shear        μ - c σ s_k         rotation   μ + c σ s_k
//! ```
//! so its positive part needs a 3×3 eigenproblem and two maxima a pair. Finite and with a
//! force that resists even where a cell is flat or inside out (Smith, de Goes, Kim 2018;
//! here without their logarithm, as in Kim and Eberle's course, so that λ and μ are those
//! of small strain up to Λ).

use super::wide::{M3, V3, W, cofactors, diagonalise, dot};
use crate::lanes::Arithmetic;

/// Constants of cells.
#[derive(Clone, Copy)]
pub struct Constants<L> {
    /// μ (Pa)
    pub mu: W<L>,
    /// λ (Pa)
    pub lambda: W<L>,
}

/// Ψ and P.
#[inline(always)]
pub fn stress<L: Arithmetic>(m: Constants<L>, f: &M3<L>) -> (W<L>, M3<L>) {
    let (g, j) = cofactors(f);
    let (one, half) = (W::splat(1.0), W::splat(0.5));
    let (over, modulus) = (j - one, m.lambda + m.mu);
    let square = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let energy = half * m.mu * (square - W::splat(3.0)) - m.mu * over + half * modulus * over * over;
    let c = modulus * over - m.mu;
    let mut p = g;
    for i in 0..3 {
        for k in 0..3 {
            p[i][k] = c.fused(g[i][k], m.mu * f[i][k]);
        }
    }
    (energy, p)
}

/// The second derivative in the axes of U and V: for node vectors a, b with components in V's
/// axes, K_ik = A_ik a_i b_k + R_ik a_k b_i, and on the diagonal Σ_j≠i Q_ij a_j b_j.
pub struct Second<L> {
    pub a: M3<L>,
    pub q: M3<L>,
    pub r: M3<L>,
}

/// Second derivative for singular values `s` of orientation `sigma`; rotations feel the
/// stress of the values `t` and determinant `tj` (the same where it shall be exact).
#[inline(always)]
pub fn second<L: Arithmetic>(m: Constants<L>, s: V3<L>, sigma: W<L>, t: V3<L>, tj: W<L>, exact: bool) -> Second<L> {
    let (one, half) = (W::splat(1.0), W::splat(0.5));
    let modulus = m.lambda + m.mu;
    let c = (modulus * (sigma * s[0] * s[1] * s[2] - one) - m.mu) * sigma;
    let ct = (modulus * (tj - one) - m.mu) * sigma;
    let mut a = stretches(m, s, sigma, c);
    let zero = super::wide::zero();
    let (mut q, mut r) = (zero, zero);
    for i in 0..3 {
        for j in (0..3).filter(|&j| j != i) {
            let k = 3 - i - j;
            let (mut shear, mut turn) = (m.mu - c * s[k], m.mu + ct * t[k]);
            if !exact {
                (shear, turn) = (shear.positive(), turn.positive());
            }
            q[i][j] = half * (shear + turn);
            r[i][j] = half * (shear - turn);
        }
    }
    if !exact {
        project(&mut a);
    }
    Second { a, q, r }
}

/// A, for singular values `s` of orientation `sigma`; c is that times σ.
#[inline(always)]
pub fn stretches<L: Arithmetic>(m: Constants<L>, s: V3<L>, sigma: W<L>, c: W<L>) -> M3<L> {
    let modulus = m.lambda + m.mu;
    let g = [sigma * s[1] * s[2], sigma * s[2] * s[0], sigma * s[0] * s[1]];
    let mut a = super::wide::zero();
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = modulus * g[i] * g[j];
            if i == j {
                a[i][j] = a[i][j] + m.mu;
            } else {
                a[i][j] = c.fused(s[3 - i - j], a[i][j]);
            }
        }
    }
    a
}

/// Whether a symmetric matrix is positive definite in all cells.
#[inline(always)]
pub fn is_positive<L: Arithmetic>(a: &M3<L>) -> bool {
    let zero = W::splat(0.0);
    let minor = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    let (_, det) = cofactors(a);
    (-a[0][0]).all_below(zero) && (-minor).all_below(zero) && (-det).all_below(zero)
}

/// The positive part of a symmetric matrix; nothing is done where it is positive already.
#[inline(always)]
fn project<L: Arithmetic>(a: &mut M3<L>) {
    if is_positive(a) {
        return;
    }
    let zero = W::splat(0.0);
    let mut d = *a;
    let v = diagonalise(&mut d);
    for i in 0..3 {
        for j in 0..3 {
            let mut sum = zero;
            for k in 0..3 {
                sum = (v[i][k] * d[k][k].positive()).fused(v[j][k], sum);
            }
            a[i][j] = sum;
        }
    }
}
