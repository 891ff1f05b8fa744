//! Arithmetic on cells side by side, and the singular values of their 3×3 matrices.
//!
//! No closures here or in what uses it: they would not be compiled for vector registers.

use crate::lanes::Arithmetic;
use crate::lanes::eight::{Doubles, EIGHT};
use crate::lanes::sixteen::{Sixteen, WIDEST};
use std::ops::{Add, Mul, Neg, Sub};

/// A number of every cell: of eight in double precision, or of sixteen in single precision.
#[derive(Clone, Copy)]
pub struct W<L>(pub L);

/// A vector of every cell.
pub type V3<L> = [W<L>; 3];
/// A matrix of every cell, by rows.
pub type M3<L> = [[W<L>; 3]; 3];

impl<L: Arithmetic> Add for W<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        W(self.0.plus(other.0))
    }
}

impl<L: Arithmetic> Sub for W<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        W(self.0.minus(other.0))
    }
}

impl<L: Arithmetic> Mul for W<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        W(self.0.times(other.0))
    }
}

impl<L: Arithmetic> Neg for W<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        W(L::splat(0.0).minus(self.0))
    }
}

impl<L: Arithmetic> W<L> {
    #[inline(always)]
    pub fn splat(value: f64) -> Self {
        W(L::splat(value))
    }

    /// self × other + more, rounded once.
    #[inline(always)]
    pub fn fused(self, other: Self, more: Self) -> Self {
        W(self.0.fused(other.0, more.0))
    }

    /// less - self × other, rounded once.
    #[inline(always)]
    pub fn taken(self, other: Self, less: Self) -> Self {
        W(self.0.taken(other.0, less.0))
    }

    #[inline(always)]
    pub fn root(self) -> Self {
        W(self.0.root())
    }

    #[inline(always)]
    pub fn over(self, other: Self) -> Self {
        W(self.0.over(other.0))
    }

    #[inline(always)]
    pub fn larger(self, other: Self) -> Self {
        W(self.0.larger(other.0))
    }

    #[inline(always)]
    pub fn positive(self) -> Self {
        self.larger(W::splat(0.0))
    }

    #[inline(always)]
    pub fn size(self) -> Self {
        self.larger(-self)
    }

    /// `yes` where a < b.
    #[inline(always)]
    pub fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
        W(L::choose(a.0, b.0, yes.0, no.0))
    }

    /// Whether all are below.
    #[inline(always)]
    pub fn all_below(self, limit: Self) -> bool {
        self.0.all_below(limit.0)
    }
}

impl<D: Doubles> W<D> {
    #[inline(always)]
    pub fn load(from: &[f64; EIGHT]) -> Self {
        W(D::load(from))
    }

    #[inline(always)]
    pub fn load_single(from: &[f32; EIGHT]) -> Self {
        W(D::load_single(from))
    }

    #[inline(always)]
    pub fn store(self) -> [f64; EIGHT] {
        let mut out = [0.0; EIGHT];
        self.0.store(&mut out);
        out
    }
}

impl<S: Sixteen> W<S> {
    #[inline(always)]
    pub fn load_sixteen(from: &[f32; WIDEST]) -> Self {
        W(S::load(from))
    }
}

/// Numbers of twice as many cells, for chains of operations that wait for one another.
#[derive(Clone, Copy)]
pub struct Two<L>(L, L);

impl<L: Arithmetic> Arithmetic for Two<L> {
    const SMALL: f64 = L::SMALL;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(L::splat(value), L::splat(value))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0), self.1.plus(other.1))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(self.0.minus(other.0), self.1.minus(other.1))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(self.0.times(other.0), self.1.times(other.1))
    }

    #[inline(always)]
    fn fused(self, other: Self, more: Self) -> Self {
        Self(self.0.fused(other.0, more.0), self.1.fused(other.1, more.1))
    }

    #[inline(always)]
    fn taken(self, other: Self, less: Self) -> Self {
        Self(self.0.taken(other.0, less.0), self.1.taken(other.1, less.1))
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.root(), self.1.root())
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Self(self.0.over(other.0), self.1.over(other.1))
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self(self.0.larger(other.0), self.1.larger(other.1))
    }

    #[inline(always)]
    fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
        Self(L::choose(a.0, b.0, yes.0, no.0), L::choose(a.1, b.1, yes.1, no.1))
    }

    #[inline(always)]
    fn all_below(self, limit: Self) -> bool {
        self.0.all_below(limit.0) & self.1.all_below(limit.1)
    }
}

impl<L: Arithmetic> Two<L> {
    /// Two matrices.
    #[inline(always)]
    pub fn join(a: &M3<L>, b: &M3<L>) -> M3<Self> {
        let mut out = zero();
        for i in 0..3 {
            for j in 0..3 {
                out[i][j] = W(Self(a[i][j].0, b[i][j].0));
            }
        }
        out
    }

    /// What was found of each, see [`singular`].
    #[inline(always)]
    pub fn both((u, s, v): (M3<Self>, V3<Self>, M3<Self>)) -> [(M3<L>, V3<L>, M3<L>); 2] {
        let mut out = [(zero(), [W::splat(0.0); 3], zero()); 2];
        for i in 0..3 {
            for j in 0..3 {
                (out[0].0[i][j], out[1].0[i][j]) = (W(u[i][j].0.0), W(u[i][j].0.1));
                (out[0].2[i][j], out[1].2[i][j]) = (W(v[i][j].0.0), W(v[i][j].0.1));
            }
            (out[0].1[i], out[1].1[i]) = (W(s[i].0.0), W(s[i].0.1));
        }
        out
    }
}

#[inline(always)]
pub fn zero<L: Arithmetic>() -> M3<L> {
    [[W::splat(0.0); 3]; 3]
}

#[inline(always)]
pub fn dot<L: Arithmetic>(a: V3<L>, b: V3<L>) -> W<L> {
    a[2].fused(b[2], a[1].fused(b[1], a[0] * b[0]))
}

#[inline(always)]
pub fn cross<L: Arithmetic>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[2].taken(b[1], a[1] * b[2]), a[0].taken(b[2], a[2] * b[0]), a[1].taken(b[0], a[0] * b[1])]
}

/// A column.
#[inline(always)]
pub fn column<L: Arithmetic>(m: &M3<L>, c: usize) -> V3<L> {
    [m[0][c], m[1][c], m[2][c]]
}

/// M v
#[inline(always)]
pub fn apply<L: Arithmetic>(m: &M3<L>, v: V3<L>) -> V3<L> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

/// Mᵀ v
#[inline(always)]
pub fn apply_transposed<L: Arithmetic>(m: &M3<L>, v: V3<L>) -> V3<L> {
    [dot(column(m, 0), v), dot(column(m, 1), v), dot(column(m, 2), v)]
}

/// M += a bᵀ
#[inline(always)]
pub fn add_outer<L: Arithmetic>(m: &mut M3<L>, a: V3<L>, b: V3<L>) {
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = a[i].fused(b[j], m[i][j]);
        }
    }
}

/// Mᵀ N
#[inline(always)]
pub fn transposed_product<L: Arithmetic>(m: &M3<L>, n: &M3<L>) -> M3<L> {
    let mut out = zero();
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = dot(column(m, i), column(n, j));
        }
    }
    out
}

/// M K Mᵀ
#[inline(always)]
pub fn turned<L: Arithmetic>(m: &M3<L>, k: &M3<L>) -> M3<L> {
    let mut half = zero();
    for i in 0..3 {
        for j in 0..3 {
            half[i][j] = dot(m[i], column(k, j));
        }
    }
    let mut out = zero();
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = dot(half[i], m[j]);
        }
    }
    out
}

/// Cofactors ∂J/∂F and determinant J.
#[inline(always)]
pub fn cofactors<L: Arithmetic>(f: &M3<L>) -> (M3<L>, W<L>) {
    let (a, b, c) = (f[0], f[1], f[2]);
    let g = [cross(b, c), cross(c, a), cross(a, b)];
    (g, dot(a, g[0]))
}

/// Eigenvectors (columns) of symmetric matrices, by Jacobi's rotations; the matrix becomes
/// diagonal to rounding. Converges quadratically: two or three sweeps are nearly always enough.
#[inline(always)]
pub fn diagonalise<L: Arithmetic>(s: &mut M3<L>) -> M3<L> {
    let one = W::splat(1.0);
    let mut v = zero();
    for i in 0..3 {
        v[i][i] = one;
    }
    let whole = s[0][0].size() + s[1][1].size() + s[2][2].size();
    for sweep in 0..5 {
        rotate::<L, 0, 1, 2>(s, &mut v);
        rotate::<L, 0, 2, 1>(s, &mut v);
        rotate::<L, 1, 2, 0>(s, &mut v);
        if sweep >= 1 {
            let left = s[0][1].size() + s[0][2].size() + s[1][2].size();
            if left.all_below(whole * W::splat(L::SMALL) + W::splat(1e-290)) {
                break;
            }
        }
    }
    v
}

#[inline(always)]
fn rotate<L: Arithmetic, const P: usize, const Q: usize, const O: usize>(s: &mut M3<L>, v: &mut M3<L>) {
    // With p = |d| + r the rotation is (p, ±off) over its length, whose square is 2 r p; the values
    // become m ∓ r. Two roots and one division, which are what this waits for.
    let (zero, one) = (W::splat(0.0), W::splat(1.0));
    let d = W::splat(0.5) * (s[Q][Q] - s[P][P]);
    let m = W::splat(0.5) * (s[Q][Q] + s[P][P]);
    let off = s[P][Q];
    let r = d.fused(d, off * off).root();
    let p = d.size() + r;
    let sign = W::choose(d, zero, -one, one);
    let by = one.over((W::splat(2.0) * r * p).root().larger(W::splat(1e-140)));
    let nothing = W::splat(1e-130);
    let c = W::choose(r, nothing, one, p * by);
    let n = W::choose(r, nothing, zero, sign * off * by);
    s[P][P] = m - sign * r;
    s[Q][Q] = m + sign * r;
    (s[P][Q], s[Q][P]) = (zero, zero);
    let (sp, sq) = (s[P][O], s[Q][O]);
    s[P][O] = n.taken(sq, c * sp);
    s[Q][O] = n.fused(sp, c * sq);
    (s[O][P], s[O][Q]) = (s[P][O], s[Q][O]);
    for k in 0..3 {
        let (vp, vq) = (v[k][P], v[k][Q]);
        v[k][P] = n.taken(vq, c * vp);
        v[k][Q] = n.fused(vp, c * vq);
    }
}

/// F = U diag(s) Vᵀ with s ≥ 0; U and V may be reflections.
#[inline(always)]
pub fn singular<L: Arithmetic>(f: &M3<L>) -> (M3<L>, V3<L>, M3<L>) {
    let mut square = transposed_product(f, f);
    let v = diagonalise(&mut square);
    let mut u = zero();
    let mut values = [W::splat(0.0); 3];
    for k in 0..3 {
        let image = apply(f, column(&v, k));
        values[k] = dot(image, image).root();
        let by = W::splat(1.0).over(values[k].larger(W::splat(1e-150)));
        for i in 0..3 {
            u[i][k] = image[i] * by;
        }
    }
    // A direction that is gone is the one across the other two.
    let largest = values[0].larger(values[1]).larger(values[2]);
    let least = largest * W::splat(1e-7);
    if !(least - values[0]).all_below(W::splat(0.0))
        || !(least - values[1]).all_below(W::splat(0.0))
        || !(least - values[2]).all_below(W::splat(0.0))
    {
        for k in 0..3 {
            let across = cross(column(&u, (k + 1) % 3), column(&u, (k + 2) % 3));
            for i in 0..3 {
                u[i][k] = W::choose(values[k], least, across[i], u[i][k]);
            }
        }
    }
    (u, values, v)
}

#[cfg(test)]
mod tests {
    use super::*;

    type P = [f64; EIGHT];

    /// Catches a decomposition that does not give the matrix back, for reflections, equal
    /// values and flat cells too.
    #[test]
    fn factors_give_the_matrix_back() {
        let mut seed = 7u64;
        for case in 0..200 {
            let mut f: M3<P> = zero();
            for row in &mut f {
                for entry in row.iter_mut() {
                    for lane in &mut entry.0 {
                        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        *lane = (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
                    }
                }
            }
            if case % 4 == 0 {
                for i in 0..3 {
                    for j in 0..3 {
                        f[i][j].0[0] = if i == j { 1.0 } else { 0.0 };
                        f[i][j].0[1] *= if i == 2 { 0.0 } else { 1.0 };
                        f[i][j].0[2] = if i == j { [2.0, 2.0, -1.0][i] } else { 1e-9 };
                    }
                }
            }
            let (u, s, v) = singular(&f);
            for l in 0..EIGHT {
                for i in 0..3 {
                    for j in 0..3 {
                        let back: f64 = (0..3).map(|k| u[i][k].0[l] * s[k].0[l] * v[j][k].0[l]).sum();
                        assert!((back - f[i][j].0[l]).abs() < 1e-8, "{case} {l}: {back}");
                        let same = if i == j { 1.0 } else { 0.0 };
                        let vv: f64 = (0..3).map(|k| v[k][i].0[l] * v[k][j].0[l]).sum();
                        let uu: f64 = (0..3).map(|k| u[k][i].0[l] * u[k][j].0[l]).sum();
                        assert!((vv - same).abs() < 1e-13);
                        assert!((uu - same).abs() < 1e-5, "{case} {l} {i} {j}: {uu}");
                    }
                }
            }
        }
    }
}
