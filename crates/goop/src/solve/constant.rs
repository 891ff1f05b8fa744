//! Scalar sparse symmetric matrices that do not change from step to step, and their
//! Cholesky factor (faer).
//!
//! ```text
//! A = P Lᵀ L Pᵀ      factored once, then solved for several right sides at a time
//! ```
//! The symbolic analysis depends on the structure alone and is shared by all factors of
//! matrices with the same structure.

use super::Report;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use std::sync::Arc;

/// A symmetric matrix; its lower triangle by columns, the diagonal first in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    /// Where each column starts in `rows` and `values`, and the end.
    pub column_start: Vec<usize>,
    /// Row of every value, ascending in each column.
    pub rows: Vec<usize>,
    /// The values.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// Adds up entries (row, column, value) of the lower triangle, in the order given. Every
    /// diagonal entry is there, if only as a zero.
    pub fn from_entries(size: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        entries.extend((0..size as u32).map(|i| (i, i, 0.0)));
        entries.sort_by_key(|&(row, column, _)| (column, row));
        let (mut column_start, mut rows, mut values) = (vec![0; size + 1], Vec::new(), Vec::<f64>::new());
        let mut last = (u32::MAX, u32::MAX);
        for (row, column, value) in entries {
            if (row, column) == last {
                if let Some(sum) = values.last_mut() {
                    *sum += value;
                }
            } else {
                rows.push(row as usize);
                values.push(value);
                column_start[column as usize + 1] = rows.len();
                last = (row, column);
            }
        }
        Self { column_start, rows, values }
    }

    /// Rows and columns.
    pub fn size(&self) -> usize {
        self.column_start.len() - 1
    }

    /// Whether another matrix has its entries in the same places.
    pub fn same_structure(&self, other: &Self) -> bool {
        self.column_start == other.column_start && self.rows == other.rows
    }

    /// Lower entries (row, column, value).
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.size()).flat_map(move |column| {
            (self.column_start[column]..self.column_start[column + 1])
                .map(move |p| (self.rows[p], column, self.values[p]))
        })
    }
}

/// Solves with a matrix that was prepared before.
pub trait LinearSolver {
    /// Replaces `columns` right sides, one after the other in `right`, by the solutions.
    fn solve(&mut self, right: &mut [f64], columns: usize) -> Report;
}

/// The analysis of a structure: which order, which entries fill in.
#[derive(Clone)]
pub struct Analysis(Arc<SymbolicCholesky<usize>>);

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Analysis {{ factor: {} }}", self.0.len_val())
    }
}

impl Analysis {
    /// Orders by approximate minimum degree; none where memory does not suffice.
    pub fn new(matrix: &SparseMatrix) -> Option<Self> {
        factorize_symbolic_cholesky(
            structure(matrix),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .ok()
        .map(|s| Self(Arc::new(s)))
    }

    /// Numbers in a factor.
    pub fn entries(&self) -> usize {
        self.0.len_val()
    }
}

fn structure(matrix: &SparseMatrix) -> SymbolicSparseColMatRef<'_, usize> {
    let n = matrix.size();
    SymbolicSparseColMatRef::new_checked(n, n, &matrix.column_start, None, &matrix.rows)
}

/// One thread: sums in a fixed order, and two were slower at the sizes met here.
const PAR: Par = Par::Seq;

/// Most right sides at a time.
const COLUMNS: usize = 3;

/// A factor and its work space.
pub struct Cholesky {
    analysis: Analysis,
    factor: Vec<f64>,
    size: usize,
    stack: MemBuffer,
}

impl std::fmt::Debug for Cholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cholesky {{ size: {}, factor: {} }}", self.size, self.factor.len())
    }
}

impl Cholesky {
    /// Factors a matrix with the structure that was analysed; none if it is not positive definite.
    pub fn new(analysis: &Analysis, matrix: &SparseMatrix) -> Option<Self> {
        let symbolic = &analysis.0;
        let need = StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(PAR, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(COLUMNS, PAR),
        ]);
        let mut stack = MemBuffer::new(need);
        let mut factor = vec![0.0; symbolic.len_val()];
        symbolic
            .factorize_numeric_llt(
                &mut factor,
                SparseColMatRef::new(structure(matrix), &matrix.values[..]),
                Side::Lower,
                Default::default(),
                PAR,
                MemStack::new(&mut stack),
                Default::default(),
            )
            .ok()?;
        Some(Self { analysis: analysis.clone(), factor, size: matrix.size(), stack })
    }
}

impl LinearSolver for Cholesky {
    fn solve(&mut self, right: &mut [f64], columns: usize) -> Report {
        let factor = LltRef::<usize, f64>::new(&self.analysis.0, &self.factor);
        for part in right[..self.size * columns].chunks_mut(self.size * COLUMNS) {
            let columns = part.len() / self.size;
            factor.solve_in_place_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(part, self.size, columns),
                PAR,
                MemStack::new(&mut self.stack),
            );
        }
        Report { direct: true, converged: true, ..Report::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches lost or doubled entries, a wrong triangle, and columns that get mixed up.
    #[test]
    fn the_factor_solves_several_right_sides() {
        let n = 50u32;
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 2.0 + 0.1 * f64::from(i)));
            entries.push((i, i, 1.0));
            if i > 0 {
                entries.push((i, i - 1, -0.7));
            }
            if i > 6 {
                entries.push((i, i - 7, -0.4));
            }
        }
        let matrix = SparseMatrix::from_entries(n as usize, entries);
        let x: Vec<f64> = (0..5 * n).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let mut b = vec![0.0; x.len()];
        for column in 0..5 {
            let at = column * n as usize;
            for (i, j, value) in matrix.entries() {
                b[at + i] += value * x[at + j];
                if i != j {
                    b[at + j] += value * x[at + i];
                }
            }
        }
        let mut factor = Cholesky::new(&Analysis::new(&matrix).unwrap(), &matrix).unwrap();
        assert!(factor.solve(&mut b, 5).converged);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-13));
        let negative = SparseMatrix { values: matrix.values.iter().map(|v| -v).collect(), ..matrix.clone() };
        assert!(Cholesky::new(&Analysis::new(&negative).unwrap(), &negative).is_none());
    }
}
