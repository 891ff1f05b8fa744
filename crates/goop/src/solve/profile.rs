//! Cholesky factor in profile storage, the direct solver of TW.
//!
//! Row i is kept from its first entry f_i to the diagonal; the factor fills that and no more:
//! ```text
//! L_ij = (A_ij - Σ_k L_ik L_jk) / L_jj      k from max(f_i, f_j) to j-1
//! L_ii = √(A_ii - Σ_k L_ik²)
//! ```
//! On a square grid of n² nodes the profile grows with n³ and the work with n⁴, where the sparse
//! factor needs n² log n and n³; in exchange there are no indices, and all sums run along rows.
//! Unknowns keep their order (of a grid: row by row) or take the reverse Cuthill–McKee one,
//! whichever has the smaller profile.

use super::refinement::Refinement;
use super::sparse::Structure;
use super::{LARGEST_FACTOR, LinearSolver, Refusal, Report, Settings, SparseMatrix, order};
use std::sync::Arc;

/// How the unknowns are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The better of the two others.
    #[default]
    Smaller,
    /// As in the matrix.
    AsGiven,
    /// Reverse Cuthill–McKee.
    ReverseCuthillMckee,
}

/// Cholesky factor with rows from their first entry on.
#[derive(Debug, Default)]
pub struct ProfileCholesky {
    /// Correct solutions until rounding stops it, not only down to the tolerance.
    pub polish: bool,
    /// Counts when a structure is seen for the first time.
    pub order: Order,
    structure: Structure,
    profile: Arc<Profile>,
    factor: Vec<f64>,
    sorted: Vec<f64>,
    refinement: Refinement,
    refusal: Option<Refusal>,
}

/// The analysis of a structure.
#[derive(Debug, Default)]
struct Profile {
    /// New number of every unknown.
    place: Vec<usize>,
    first: Vec<usize>,
    /// Where every row starts in the factor, and the end of the last; empty where that is too large.
    start: Vec<usize>,
}

impl ProfileCholesky {
    /// Entries of the factor.
    pub fn entries(&self) -> usize {
        self.factor.len()
    }

    fn analyse(&mut self, matrix: &SparseMatrix) {
        let given: Vec<usize> = (0..matrix.size).collect();
        let with_profile = |place: Vec<usize>| {
            let first = order::first_columns(matrix, &place);
            (order::profile(&first), first, place)
        };
        let given = (self.order != Order::ReverseCuthillMckee).then(|| with_profile(given));
        let narrow =
            (self.order != Order::AsGiven).then(|| with_profile(order::inverse(&order::reverse_cuthill_mckee(matrix))));
        let (entries, first, place) =
            given.into_iter().chain(narrow).min_by_key(|(entries, ..)| *entries).unwrap_or_default();
        let mut start = Vec::new();
        if entries <= LARGEST_FACTOR {
            start.push(0);
            for (row, first) in first.iter().enumerate() {
                start.push(start[row] + row - first + 1);
            }
        }
        self.profile = Arc::new(Profile { place, first, start });
        self.factor = Vec::new();
    }

    /// Puts the matrix into the profile.
    fn fill(&mut self, matrix: &SparseMatrix) {
        let Profile { place, first, start } = &*self.profile;
        self.factor.clear();
        self.factor.resize(start.last().copied().unwrap_or(0), 0.0);
        for j in 0..matrix.size {
            for p in matrix.column(j) {
                let (a, b) = (place[matrix.rows[p]], place[j]);
                let (row, column) = (a.max(b), a.min(b));
                self.factor[start[row] + column - first[row]] = matrix.values[p];
            }
        }
    }
}

impl LinearSolver for ProfileCholesky {
    fn tune(&mut self, settings: &Settings) {
        self.refinement.tolerance = settings.tolerance;
    }

    fn factorise(&mut self, matrix: &SparseMatrix) -> bool {
        if self.structure.changed(matrix) {
            self.analyse(matrix);
        }
        if self.profile.start.is_empty() {
            self.refusal = Some(Refusal::TooLarge);
            return false;
        }
        self.fill(matrix);
        let done = factorise(&self.profile.first, &self.profile.start, &mut self.factor);
        self.refusal = (!done).then_some(Refusal::NotPositiveDefinite);
        done
    }

    fn solve(&mut self, matrix: &SparseMatrix, right: &mut [f64], columns: usize) -> Report {
        if let Some(refusal) = self.refusal {
            return Report::refused(refusal);
        }
        assert_eq!(right.len(), matrix.size * columns);
        self.sorted.resize(self.sorted.len().max(right.len()), 0.0);
        let Self { profile, factor, sorted, refinement, polish, .. } = self;
        let Profile { place, first, start } = &**profile;
        let (n, sorted) = (matrix.size.max(1), &mut sorted[..right.len()]);
        refinement.solve(matrix, right, *polish, |x| {
            for (x, sorted) in x.chunks_exact(n).zip(sorted.chunks_exact_mut(n)) {
                (0..n).for_each(|i| sorted[place[i]] = x[i]);
            }
            substitute(first, start, factor, sorted);
            for (x, sorted) in x.chunks_exact_mut(n).zip(sorted.chunks_exact(n)) {
                (0..n).for_each(|i| x[i] = sorted[place[i]]);
            }
        })
    }

    fn sibling(&self) -> Box<dyn LinearSolver> {
        let (structure, profile) = (self.structure.clone(), self.profile.clone());
        let refinement = self.refinement.sibling();
        Box::new(Self { polish: self.polish, order: self.order, structure, profile, refinement, ..Self::default() })
    }

    fn bytes(&self) -> usize {
        let Profile { place, first, start } = &*self.profile;
        let numbers = self.factor.len() + self.sorted.len() + place.len() + first.len() + start.len();
        8 * numbers + self.structure.bytes() + self.refinement.bytes()
    }
}

fn factorise(first: &[usize], start: &[usize], factor: &mut [f64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { factorise_avx2(first, start, factor) };
    }
    factorise_plain(first, start, factor)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn factorise_avx2(first: &[usize], start: &[usize], factor: &mut [f64]) -> bool {
    factorise_plain(first, start, factor)
}

#[inline(always)]
fn factorise_plain(first: &[usize], start: &[usize], factor: &mut [f64]) -> bool {
    for i in 0..first.len() {
        let (done, rest) = factor.split_at_mut(start[i]);
        let (begin, row) = (first[i], &mut rest[..start[i + 1] - start[i]]);
        for j in begin..i {
            let from = begin.max(first[j]);
            let other = &done[start[j] + from - first[j]..start[j + 1]];
            let Some((diagonal, other)) = other.split_last() else { return false };
            let sum = dot(&row[from - begin..j - begin], other);
            row[j - begin] = (row[j - begin] - sum) / diagonal;
        }
        let Some((diagonal, row)) = row.split_last_mut() else { return false };
        let pivot = *diagonal - dot(row, row);
        if pivot <= 0.0 || !pivot.is_finite() {
            return false;
        }
        *diagonal = pivot.sqrt();
    }
    true
}

fn substitute(first: &[usize], start: &[usize], factor: &[f64], x: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { substitute_avx2(first, start, factor, x) };
    }
    substitute_plain(first, start, factor, x);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn substitute_avx2(first: &[usize], start: &[usize], factor: &[f64], x: &mut [f64]) {
    substitute_plain(first, start, factor, x);
}

/// A row of the factor serves all right sides while it is near.
#[inline(always)]
fn substitute_plain(first: &[usize], start: &[usize], factor: &[f64], x: &mut [f64]) {
    let n = first.len();
    for i in 0..n {
        let Some((diagonal, row)) = factor[start[i]..start[i + 1]].split_last() else { return };
        for x in x.chunks_exact_mut(n) {
            x[i] = (x[i] - dot(row, &x[first[i]..i])) / diagonal;
        }
    }
    for i in (0..n).rev() {
        let Some((diagonal, row)) = factor[start[i]..start[i + 1]].split_last() else { return };
        for x in x.chunks_exact_mut(n) {
            let own = x[i] / diagonal;
            x[i] = own;
            for (x, l) in x[first[i]..i].iter_mut().zip(row) {
                *x -= own * l;
            }
        }
    }
}

/// Sixteen sums side by side, added up in one order: the same on every processor.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0; 16];
    for (a, b) in a.iter().zip(b) {
        for k in 0..16 {
            sums[k] += a[k] * b[k];
        }
    }
    let mut sum = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum += a * b;
    }
    for half in [8, 4, 2, 1] {
        for k in 0..half {
            sums[k] += sums[k + half];
        }
    }
    sum + sums[0]
}
