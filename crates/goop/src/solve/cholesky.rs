//! Sparse Cholesky factor (faer), for matrices too stiff for the iteration.
//!
//! The symbolic analysis is done once; factors and work space are reused. Held
//! nodes keep their rows as identity, so pins may come and go without a new
//! analysis. One or two rounds of iterative refinement bring the residual to
//! rounding even where the condition number is large.

use super::{BlockMatrix, Report, Settings};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use glam::DVec3;

/// Analysis, values and work space of one matrix structure.
pub struct Factor {
    symbolic: Option<SymbolicCholesky<usize>>,
    column_start: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    factor: Vec<f64>,
    stack: MemBuffer,
    right: Vec<f64>,
    residual: Vec<DVec3>,
}

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Factor {{ entries: {}, factor: {} }}", self.values.len(), self.factor.len())
    }
}

/// Two threads were slower than one at the sizes met here, and one keeps the
/// order of the sums fixed.
const PAR: Par = Par::Seq;

impl Factor {
    /// Analyses the structure (fill-reducing order by approximate minimum degree).
    pub fn new(matrix: &BlockMatrix) -> Self {
        let n = matrix.nodes();
        let (mut column_start, mut rows) = (Vec::with_capacity(3 * n + 1), Vec::new());
        column_start.push(0);
        // The structure is symmetric: the lower part of column j is the upper part of row j.
        for j in 0..n {
            for c in 0..3 {
                for (i, _) in matrix.row(j).filter(|(i, _)| *i >= j) {
                    for r in 0..3 {
                        if i > j || r >= c {
                            rows.push(3 * i + r);
                        }
                    }
                }
                column_start.push(rows.len());
            }
        }
        let structure = SymbolicSparseColMatRef::new_checked(3 * n, 3 * n, &column_start, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            structure,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .ok();
        let need = symbolic.as_ref().map_or(StackReq::EMPTY, |s| {
            StackReq::any_of(&[
                s.factorize_numeric_llt_scratch::<f64>(PAR, Default::default()),
                s.solve_in_place_scratch::<f64>(1, PAR),
            ])
        });
        let entries = symbolic.as_ref().map_or(0, |s| s.len_val());
        Self {
            values: vec![0.0; rows.len()],
            factor: vec![0.0; entries],
            stack: MemBuffer::new(need),
            right: vec![0.0; 3 * n],
            residual: vec![DVec3::ZERO; n],
            symbolic,
            column_start,
            rows,
        }
    }

    /// Computes the factor; false if the matrix is not positive definite.
    pub fn factorise(&mut self, matrix: &BlockMatrix, free: &[bool]) -> bool {
        let Some(symbolic) = &self.symbolic else { return false };
        let mut p = 0;
        for j in 0..matrix.nodes() {
            for c in 0..3 {
                for (i, block) in matrix.row(j).filter(|(i, _)| *i >= j) {
                    for r in 0..3 {
                        if i > j || r >= c {
                            // Row j, column i of a symmetric matrix is the transpose of block (i, j).
                            self.values[p] = match (free[i] && free[j], i == j && r == c) {
                                (true, _) => block.transpose().col(c)[r],
                                (false, true) => 1.0,
                                (false, false) => 0.0,
                            };
                            p += 1;
                        }
                    }
                }
            }
        }
        let n = self.right.len();
        let structure = SymbolicSparseColMatRef::new_checked(n, n, &self.column_start, None, &self.rows);
        let matrix = SparseColMatRef::new(structure, &self.values[..]);
        symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                Default::default(),
                PAR,
                MemStack::new(&mut self.stack),
                Default::default(),
            )
            .is_ok()
    }

    /// Solves with the last factor.
    pub fn solve(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        b: &[DVec3],
        x: &mut [DVec3],
    ) -> Report {
        let mut report = Report { direct: true, ..Report::default() };
        let Some(symbolic) = &self.symbolic else { return report };
        let factor = LltRef::<usize, f64>::new(symbolic, &self.factor);
        let norm2: f64 = (0..b.len()).filter(|&i| free[i]).map(|i| b[i].length_squared()).sum();
        if norm2 == 0.0 {
            return Report { converged: true, ..report };
        }
        x.fill(DVec3::ZERO);
        let mut best = f64::INFINITY;
        for _ in 0..4 {
            matrix.product(free, x, &mut self.residual);
            let mut rr = 0.0;
            for i in 0..b.len() {
                let r = if free[i] { b[i] - self.residual[i] } else { DVec3::ZERO };
                self.right[3 * i..3 * i + 3].copy_from_slice(&r.to_array());
                rr += r.length_squared();
            }
            report.residual = (rr / norm2).sqrt();
            report.converged = report.residual <= settings.tolerance;
            // Refine until it no longer pays: rounding is the limit, not the tolerance.
            if report.converged && report.residual > 0.1 * best || report.residual < 1e-14 {
                break;
            }
            best = report.residual;
            let n = self.right.len();
            factor.solve_in_place_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(&mut self.right, n, 1),
                PAR,
                MemStack::new(&mut self.stack),
            );
            for i in 0..b.len() {
                x[i] += DVec3::from_slice(&self.right[3 * i..3 * i + 3]);
            }
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    /// Catches a transposed or misplaced block in the scalar matrix, and pins that leak.
    #[test]
    fn the_direct_and_the_iterative_solver_agree_with_the_matrix() {
        let n = 40;
        let mut matrix = BlockMatrix::new(n, |visit| {
            for i in 1..n as u32 {
                visit(&[i - 1, i]);
            }
        });
        for i in 0..n {
            matrix.add_diagonal(i, DMat3::IDENTITY);
        }
        let rows = matrix.position(0, 1).map(|_| ()).is_some();
        assert!(rows);
        let links: Vec<(u32, u32, u32)> =
            (1..n as u32).map(|i| (i - 1, i, matrix.position(i - 1, i).unwrap())).collect();
        let open = matrix.rows_mut();
        // SAFETY: one chunk, taken once.
        let mut chunk = unsafe { open.chunk(0) };
        for (i, j, ij) in links {
            let u = DVec3::new(1.0, (i as f64).sin(), 0.2 * i as f64).normalize();
            let k = DMat3::from_cols(u * u.x, u * u.y, u * u.z) * 50.0 + DMat3::IDENTITY * 3.0;
            chunk.add_diagonal(i as usize, &k);
            chunk.add_diagonal(j as usize, &k);
            chunk.add(ij, &-k);
        }
        let mut free = vec![true; n];
        free[3] = false;
        let b: Vec<DVec3> = (0..n).map(|i| DVec3::new(i as f64, -1.0, (i as f64).cos())).collect();
        let settings = Settings { tolerance: 1e-12, max_iterations: 1000, ..Default::default() };
        let mut x = vec![DVec3::ZERO; n];
        let mut factor = Factor::new(&matrix);
        assert!(factor.factorise(&matrix, &free));
        let report = factor.solve(&settings, &matrix, &free, &b, &mut x);
        assert!(report.converged && report.residual < 1e-13, "{report:?}");
        let mut y = vec![DVec3::ZERO; n];
        let iterative = super::super::cg::Scratch::default().solve(&settings, &matrix, &free, &b, &mut y);
        assert!(iterative.converged);
        for i in 0..n {
            assert!((x[i] - y[i]).length() < 1e-9);
        }
        assert_eq!(x[3], DVec3::ZERO);
    }
}
