//! A matrix of 3×3 blocks as one of numbers, for the solvers that know only those.
//!
//! Held nodes keep their rows as identity, so pins may come and go without a new structure.

use super::{BlockMatrix, LinearSolver, Report, SparseMatrix};
use glam::DVec3;

/// The matrix of numbers, and a right side.
#[derive(Clone, Debug, Default)]
pub struct Scalar {
    /// As last filled.
    pub matrix: SparseMatrix,
    right: Vec<f64>,
    blocks: usize,
}

impl Scalar {
    /// The structure; values are zero.
    pub fn new(blocks: &BlockMatrix) -> Self {
        let n = blocks.nodes();
        let (mut column_start, mut rows) = (Vec::with_capacity(3 * n + 1), Vec::new());
        column_start.push(0);
        // The structure is symmetric: the lower part of column j is the upper part of row j.
        for j in 0..n {
            for c in 0..3 {
                rows.extend((c..3).map(|r| 3 * j + r));
                for (i, _) in blocks.row(j).filter(|(i, _)| *i > j) {
                    rows.extend((0..3).map(|r| 3 * i + r));
                }
                column_start.push(rows.len());
            }
        }
        let values = vec![0.0; rows.len()];
        let matrix = SparseMatrix { size: 3 * n, column_start, rows, values };
        Self { matrix, right: vec![0.0; 3 * n], blocks: blocks.blocks() }
    }

    /// Takes over the values, rows and columns of held nodes as identity.
    pub fn fill(&mut self, blocks: &BlockMatrix, free: &[bool]) {
        if (self.matrix.size, self.blocks) != (3 * blocks.nodes(), blocks.blocks()) {
            *self = Self::new(blocks);
        }
        let SparseMatrix { column_start, values, .. } = &mut self.matrix;
        for j in 0..blocks.nodes() {
            let mut at = [column_start[3 * j], column_start[3 * j + 1], column_start[3 * j + 2]];
            for (i, block) in blocks.row(j).filter(|(i, _)| *i >= j) {
                let both = free[i] && free[j];
                for c in 0..3 {
                    // Row c of block (j, i) is column c of block (i, j).
                    let numbers = block.row(c).to_array();
                    let skip = if i == j { c } else { 0 };
                    for (r, number) in numbers.into_iter().enumerate().skip(skip) {
                        values[at[c]] = match both {
                            true => number,
                            false => f64::from(u8::from(i == j && r == c)),
                        };
                        at[c] += 1;
                    }
                }
            }
        }
    }

    /// Solves for the free nodes with a solver that is prepared for the matrix.
    pub fn solve(&mut self, solver: &mut dyn LinearSolver, free: &[bool], b: &[DVec3], x: &mut [DVec3]) -> Report {
        for i in 0..b.len() {
            let right = if free[i] { b[i] } else { DVec3::ZERO };
            self.right[3 * i..3 * i + 3].copy_from_slice(&right.to_array());
        }
        let report = solver.solve(&self.matrix, &mut self.right, 1);
        if report.refused.is_none() {
            for (x, solved) in x.iter_mut().zip(self.right.as_chunks::<3>().0) {
                *x = DVec3::from_array(*solved);
            }
        }
        report
    }
}
