//! A symmetric sparse matrix of numbers, and its Cholesky factor (faer).
//!
//! ```text
//! P A Pᵀ = L Lᵀ      P: approximate minimum degree, for little fill
//! L y = P b          Lᵀ z = y          x = Pᵀ z
//! ```
//! The order and the structure of L are found once; values and work space are reused.

use super::panels::{Panels, Substitution, Supernode, TOGETHER};
use super::refinement::Refinement;
use super::{LARGEST_FACTOR, LinearSolver, Refusal, Report, Settings};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky, supernodal,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use std::ops::Range;
use std::sync::Arc;

/// The lower triangle by columns. In every column rows ascend, and the diagonal comes first even
/// where it is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    /// Rows, and columns.
    pub size: usize,
    /// Where each column starts in `rows` and `values`, and the end of the last.
    pub column_start: Vec<usize>,
    /// Row of every entry.
    pub rows: Vec<usize>,
    /// Every entry.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// The sum of entries (row, column, value) in any order, each given for one of (i, j) and (j, i).
    pub fn from_entries(size: usize, entries: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        // Half as long as they would be with whole indices: there are many.
        let mut sorted: Vec<(u32, u32, f64)> = (0..size as u32).map(|i| (i, i, 0.0)).collect();
        sorted.extend(entries.into_iter().map(|(i, j, value)| (i.min(j) as u32, i.max(j) as u32, value)));
        // Stable, so that equal places are added in the order given.
        sorted.sort_by_key(|&(column, row, _)| (column, row));
        let mut out = Self { size, ..Self::default() };
        let mut last = None;
        for (column, row, value) in sorted {
            let (column, row) = (column as usize, row as usize);
            assert!(row < size, "entry ({row}, {column}) of a matrix of size {size}");
            if last != Some((column, row)) {
                out.column_start.resize(column + 1, out.rows.len());
                out.rows.push(row);
                out.values.push(0.0);
                last = Some((column, row));
            }
            if let Some(sum) = out.values.last_mut() {
                *sum += value;
            }
        }
        out.column_start.resize(size + 1, out.rows.len());
        out
    }

    /// Places of a column's entries, the diagonal's first.
    #[inline(always)]
    pub fn column(&self, column: usize) -> Range<usize> {
        self.column_start[column]..self.column_start[column + 1]
    }

    /// Lower entries (row, column, value), column by column.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.size).flat_map(move |j| self.column(j).map(move |p| (self.rows[p], j, self.values[p])))
    }

    /// The diagonal entry of a row.
    pub fn diagonal(&self, row: usize) -> f64 {
        self.values[self.column_start[row]]
    }

    /// `y = A x`.
    pub fn product(&self, x: &[f64], y: &mut [f64]) {
        assert!(x.len() == self.size && y.len() == self.size);
        y.fill(0.0);
        for j in 0..self.size {
            let column = self.column(j);
            let (rows, values) = (&self.rows[column.clone()], &self.values[column]);
            let own = x[j];
            let mut sum = values[0] * own;
            for (&i, &value) in rows[1..].iter().zip(&values[1..]) {
                y[i] += value * own;
                sum += value * x[i];
            }
            y[j] += sum;
        }
    }

    /// Whether the fields hold together as they must; whoever fills them by hand owes that.
    pub fn well_formed(&self) -> bool {
        self.column_start.len() == self.size + 1
            && self.column_start[0] == 0
            && self.column_start[self.size] == self.rows.len()
            && self.rows.len() == self.values.len()
            && (0..self.size).all(|j| {
                self.column_start[j] < self.column_start[j + 1] && self.column_start[j + 1] <= self.rows.len() && {
                    let rows = &self.rows[self.column(j)];
                    rows[0] == j && rows.is_sorted_by(|a, b| a < b) && rows[rows.len() - 1] < self.size
                }
            })
    }
}

/// Where the entries of the matrix last looked at were.
#[derive(Clone, Debug, Default)]
pub(super) struct Structure {
    places: Arc<(Vec<usize>, Vec<usize>)>,
}

impl Structure {
    /// Whether the matrix has another structure than the last one, which it then replaces.
    pub fn changed(&mut self, matrix: &SparseMatrix) -> bool {
        let (column_start, rows) = &*self.places;
        if *column_start == matrix.column_start && *rows == matrix.rows {
            return false;
        }
        assert!(matrix.well_formed(), "rows ascend from the diagonal on");
        self.places = Arc::new((matrix.column_start.clone(), matrix.rows.clone()));
        true
    }

    pub fn bytes(&self) -> usize {
        8 * (self.places.0.len() + self.places.1.len())
    }
}

/// Cholesky factor with little fill.
pub struct SparseCholesky {
    /// Correct solutions until rounding stops it, not only down to the tolerance.
    pub polish: bool,
    /// Keep the factor as the library has made it and let the library substitute: for few solves.
    pub plain: bool,
    symbolic: Option<Arc<SymbolicCholesky<usize>>>,
    structure: Structure,
    factor: Vec<f64>,
    /// The same in the place of `factor`, where columns make supernodes.
    panels: Panels,
    stack: MemBuffer,
    stack_bytes: usize,
    /// Right sides the work space is large enough for.
    columns: usize,
    refinement: Refinement,
    refusal: Option<Refusal>,
}

impl Default for SparseCholesky {
    fn default() -> Self {
        Self {
            polish: false,
            plain: false,
            symbolic: None,
            structure: Structure::default(),
            factor: Vec::new(),
            panels: Panels::default(),
            stack: MemBuffer::new(StackReq::EMPTY),
            stack_bytes: 0,
            columns: 0,
            refinement: Refinement::default(),
            refusal: None,
        }
    }
}

impl std::fmt::Debug for SparseCholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SparseCholesky {{ entries: {}, factor: {} }}", self.structure.places.1.len(), self.entries())
    }
}

/// Two threads were slower than one at the sizes met here, and one keeps the
/// order of the sums fixed.
const PAR: Par = Par::Seq;

impl SparseCholesky {
    /// One that keeps the factor as the library has made it and lets the library substitute.
    pub fn plain() -> Self {
        Self { plain: true, ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn panels(&self) -> &Panels {
        &self.panels
    }

    fn analyse(&mut self, matrix: &SparseMatrix) {
        let n = matrix.size;
        let structure = SymbolicSparseColMatRef::new_checked(n, n, &matrix.column_start, None, &matrix.rows);
        let (side, order, how) = (Side::Lower, SymmetricOrdering::Amd, CholeskySymbolicParams::default());
        let symbolic = factorize_symbolic_cholesky(structure, side, order, how).ok();
        self.symbolic = symbolic.filter(|s| s.len_val() <= LARGEST_FACTOR).map(Arc::new);
        self.columns = 0;
    }

    /// Numbers in the factor.
    pub fn entries(&self) -> usize {
        self.symbolic.as_ref().map_or(0, |symbolic| symbolic.len_val())
    }

    /// Work space for so many right sides.
    fn make_room(&mut self, columns: usize) {
        let Some(symbolic) = self.symbolic.as_ref().filter(|_| self.columns < columns) else { return };
        let need = StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(PAR, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(columns, PAR),
        ]);
        (self.stack, self.columns, self.stack_bytes) = (MemBuffer::new(need), columns, need.size_bytes());
    }

    /// Solves with the factor as it is, without looking at the residual.
    pub fn substitute(&mut self, right: &mut [f64], columns: usize) {
        if self.panels.is_ready() {
            return self.panels.solve(right, columns);
        }
        self.make_room(columns);
        let Some(symbolic) = &self.symbolic else { return };
        substitute(symbolic, &self.factor, &mut self.stack, right, columns);
    }

    /// Takes the factor over as panels, where it has any.
    fn take_panels(&mut self) {
        let Some((symbolic, order)) = self.symbolic.as_ref().and_then(|symbolic| match symbolic.raw() {
            SymbolicCholeskyRaw::Supernodal(raw) => Some((raw, symbolic.perm()?.arrays().0)),
            SymbolicCholeskyRaw::Simplicial(_) => None,
        }) else {
            return;
        };
        let factor = supernodal::SupernodalLltRef::new(symbolic, &self.factor);
        let nodes = (0..symbolic.n_supernodes()).map(|at| {
            let node = factor.supernode(at);
            let values = &self.factor[symbolic.col_ptr_for_val()[at]..symbolic.col_ptr_for_val()[at + 1]];
            Supernode { first: node.start(), width: node.val().ncols(), below: node.pattern(), values }
        });
        self.panels.take(order, nodes);
        self.factor = Vec::new();
    }
}

fn substitute(
    symbolic: &SymbolicCholesky<usize>,
    factor: &[f64],
    stack: &mut MemBuffer,
    right: &mut [f64],
    columns: usize,
) {
    let rows = right.len() / columns.max(1);
    LltRef::<usize, f64>::new(symbolic, factor).solve_in_place_with_conj(
        Conj::No,
        MatMut::from_column_major_slice_mut(right, rows, columns),
        PAR,
        MemStack::new(stack),
    );
}

impl LinearSolver for SparseCholesky {
    fn tune(&mut self, settings: &Settings) {
        self.refinement.tolerance = settings.tolerance;
    }

    fn factorise(&mut self, matrix: &SparseMatrix) -> bool {
        if self.structure.changed(matrix) {
            self.analyse(matrix);
        }
        self.make_room(3);
        let Some(symbolic) = &self.symbolic else {
            self.refusal = Some(Refusal::TooLarge);
            return false;
        };
        self.factor.resize(symbolic.len_val(), 0.0);
        let n = matrix.size;
        // SAFETY: `Structure::changed` has checked the same indices.
        let structure =
            unsafe { SymbolicSparseColMatRef::new_unchecked(n, n, &matrix.column_start, None, &matrix.rows) };
        let done = symbolic.factorize_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(structure, &matrix.values[..]),
            Side::Lower,
            Default::default(),
            PAR,
            MemStack::new(&mut self.stack),
            Default::default(),
        );
        self.refusal = done.err().map(|_| Refusal::NotPositiveDefinite);
        self.panels.clear();
        if self.refusal.is_none() && !self.plain {
            self.take_panels();
        }
        self.refusal.is_none()
    }

    fn solve(&mut self, matrix: &SparseMatrix, right: &mut [f64], columns: usize) -> Report {
        if let Some(refusal) = self.refusal {
            return Report::refused(refusal);
        }
        assert_eq!(right.len(), matrix.size * columns);
        self.make_room(columns);
        let Self { symbolic: Some(symbolic), factor, panels, stack, refinement, polish, .. } = self else {
            return Report::refused(Refusal::TooLarge);
        };
        refinement.solve(matrix, right, *polish, |x| match panels.is_ready() {
            true => panels.solve(x, columns),
            false => substitute(symbolic, factor, stack, x, columns),
        })
    }

    fn lend<'a>(&'a mut self, right: &'a mut [f64], columns: usize) -> Option<Substitution<'a>> {
        let ready = self.refusal.is_none() && self.panels.is_ready() && self.refinement.tolerance.is_infinite();
        (ready && (1..=TOGETHER).contains(&columns)).then(|| self.panels.lend(right, columns))
    }

    fn sibling(&self) -> Box<dyn LinearSolver> {
        let (symbolic, structure) = (self.symbolic.clone(), self.structure.clone());
        let refinement = self.refinement.sibling();
        Box::new(Self { polish: self.polish, plain: self.plain, symbolic, structure, refinement, ..Self::default() })
    }

    fn bytes(&self) -> usize {
        // Indices of the factor are at most as many as its entries, and far fewer where columns share them.
        8 * self.factor.len()
            + self.panels.bytes()
            + self.structure.bytes()
            + self.stack_bytes
            + self.refinement.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches entries lost, doubled or mirrored wrongly, and columns without a diagonal.
    #[test]
    fn entries_in_any_order_make_one_matrix() {
        let entries = [(2, 0, 5.0), (0, 0, 1.0), (0, 2, 0.5), (2, 2, 3.0)];
        let a = SparseMatrix::from_entries(4, entries);
        assert!(a.well_formed());
        assert_eq!((a.column_start.as_slice(), a.rows.as_slice()), (&[0, 2, 3, 4, 5][..], &[0, 2, 1, 2, 3][..]));
        let mut y = [9.0; 4];
        a.product(&[1.0, 2.0, 3.0, 4.0], &mut y);
        assert_eq!(y, [1.0 + 5.5 * 3.0, 0.0, 5.5 + 9.0, 0.0]);
    }
}
