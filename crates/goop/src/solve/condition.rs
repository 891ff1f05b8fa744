//! How far apart the largest and the smallest eigenvalue of a matrix are.
//!
//! Lanczos: in the basis v_k of A v_k = β_k-1 v_k-1 + α_k v_k + β_k v_k+1 the matrix is
//! tridiagonal, and the largest eigenvalue of its leading part grows towards that of A within
//! tens of steps. The smallest is found as the largest of A⁻¹, through a Cholesky factor.

use super::{BlockMatrix, LinearSolver, Scalar, Settings, SparseCholesky, SparseMatrix};

/// Steps of Lanczos before the estimate is taken as it is.
const STEPS: usize = 300;
/// Relative growth in a step at which it has arrived.
const ARRIVED: f64 = 1e-8;

/// Largest over smallest eigenvalue, to about a thousandth; infinite for a matrix that is not
/// positive definite, 1 for an empty one.
pub fn condition(matrix: &SparseMatrix) -> f64 {
    condition_on(matrix, |_| true)
}

/// The same of a matrix of blocks, on its free nodes.
pub fn condition_of_blocks(matrix: &BlockMatrix, free: &[bool]) -> f64 {
    let mut scalar = Scalar::new(matrix);
    scalar.fill(matrix, free);
    condition_on(&scalar.matrix, |row| free[row / 3])
}

/// On the rows that count; the others must be identity.
fn condition_on(matrix: &SparseMatrix, counts: impl Fn(usize) -> bool) -> f64 {
    let mut cholesky = SparseCholesky::default();
    cholesky.tune(&Settings { tolerance: f64::INFINITY, ..Settings::default() });
    if !cholesky.factorise(matrix) {
        return f64::INFINITY;
    }
    let largest = largest(matrix.size, &counts, |x, y| matrix.product(x, y));
    let inverse = self::largest(matrix.size, &counts, |x, y| {
        y.copy_from_slice(x);
        cholesky.substitute(y, 1);
    });
    if largest == 0.0 { 1.0 } else { largest * inverse }
}

/// Largest eigenvalue of a symmetric positive operator.
fn largest(n: usize, counts: impl Fn(usize) -> bool, mut apply: impl FnMut(&[f64], &mut [f64])) -> f64 {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut v: Vec<f64> = (0..n)
        .map(|i| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if counts(i) { (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5 } else { 0.0 }
        })
        .collect();
    let norm = dot(&v, &v).sqrt();
    if norm == 0.0 {
        return 0.0;
    }
    v.iter_mut().for_each(|x| *x /= norm);
    let (mut before, mut w) = (vec![0.0; n], vec![0.0; n]);
    let (mut alphas, mut betas) = (Vec::new(), Vec::<f64>::new());
    let mut top = 0.0;
    for step in 0..STEPS.min(n) {
        apply(&v, &mut w);
        let alpha = dot(&w, &v);
        let beta_before = betas.last().copied().unwrap_or(0.0);
        (0..n).for_each(|i| w[i] -= alpha * v[i] + beta_before * before[i]);
        alphas.push(alpha);
        let beta = dot(&w, &w).sqrt();
        let value = tridiagonal_top(&alphas, &betas);
        if beta <= 1e-12 * value || (step > 10 && (value - top).abs() < ARRIVED * value) {
            return value;
        }
        top = value;
        betas.push(beta);
        std::mem::swap(&mut before, &mut v);
        (0..n).for_each(|i| v[i] = w[i] / beta);
    }
    top
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection on Sturm counts.
pub(crate) fn tridiagonal_top(diagonal: &[f64], side: &[f64]) -> f64 {
    let bound = (0..diagonal.len())
        .map(|i| diagonal[i].abs() + side.get(i).map_or(0.0, |s| s.abs()) + if i > 0 { side[i - 1].abs() } else { 0.0 })
        .fold(0.0, f64::max);
    let above = |x: f64| {
        let mut d = 1.0;
        (0..diagonal.len())
            .filter(|&i| {
                let off = if i > 0 { side[i - 1] * side[i - 1] / d } else { 0.0 };
                d = diagonal[i] - x - off;
                if d == 0.0 {
                    d = 1e-300;
                }
                d > 0.0
            })
            .count()
    };
    let (mut low, mut high) = (-bound, bound * (1.0 + 1e-12) + f64::MIN_POSITIVE);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if above(middle) > 0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};

    /// Catches the wrong end of the spectrum: a chain of n unknowns held at both ends has the
    /// eigenvalues 4 sin²(k π / 2(n + 1)).
    #[test]
    fn the_condition_of_a_chain_is_the_analytic_one() {
        for n in [1, 2, 50, 2000] {
            let mut entries: Vec<_> = (0..n).map(|i| (i, i, 2.0)).collect();
            entries.extend((1..n).map(|i| (i, i - 1, -1.0)));
            let angle = |k: usize| (k as f64 * std::f64::consts::FRAC_PI_2 / (n + 1) as f64).sin().powi(2);
            let expected = angle(n) / angle(1);
            let found = condition(&SparseMatrix::from_entries(n, entries));
            assert!((found / expected - 1.0).abs() < 2e-3, "{n}: {found} {expected}");
        }
    }

    /// Catches rows of held nodes that count as eigenvalues, and an indefinite matrix taken for a good one.
    #[test]
    fn held_nodes_do_not_count_and_an_indefinite_matrix_has_no_condition() {
        let mut matrix = BlockMatrix::new(3, |_| {});
        for (node, scale) in [1e-6, 1.0, 20.0].into_iter().enumerate() {
            matrix.add_diagonal(node, DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0) * scale));
        }
        let of = |free: [bool; 3]| condition_of_blocks(&matrix, &free);
        assert!((of([false, true, true]) - 60.0).abs() < 1e-6, "{}", of([false, true, true]));
        assert!((of([true; 3]) / 6e7 - 1.0).abs() < 1e-6, "{}", of([true; 3]));
        assert_eq!(of([false; 3]), 1.0);
        let indefinite = SparseMatrix::from_entries(2, [(0, 0, 1.0), (1, 1, 1.0), (1, 0, 2.0)]);
        assert_eq!(condition(&indefinite), f64::INFINITY);
    }
}
