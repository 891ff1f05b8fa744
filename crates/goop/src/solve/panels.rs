//! Substitution with a supernodal Cholesky factor, made for few right sides and many solves.
//!
//! Columns of L with the same rows below make a supernode: a triangle T on its own rows and a rectangle B below. Both
//! are kept as one panel
//! ```text
//! P = [T⁻¹; -B T⁻¹]
//! forth   [y; d] = P x       own rows become y, rows below gain d
//! back    x = Pᵀ [y; x below]
//! ```
//! so that a supernode is one dense product each way, without the chain of divisions of a triangle. T⁻¹ is as well
//! behaved as T: its condition is that of a diagonal block of a positive definite matrix at most.
//!
//! A panel is stored by tiles of four columns, rows from the tile's diagonal on, four rows by four columns at a time:
//! it is read in a row, every number once a way and used for all right sides. The order of all sums is fixed.
//!
//! Supernodes wait for those below them in the tree only. A large factor is cut into pieces, whole branches, which are gone through
//! side by side, and the top that they hang on:
//! ```text
//! forth   every piece, with rows of its own for what it gives to the top
//! top     what pieces give, added piece by piece; forth and back; what pieces need of it
//! back    every piece
//! ```
//!
//! Written here because the library that makes the factor calls kernels for large dense matrices on every supernode, and
//! those of sheets have a few columns only.

mod branches;
mod substitution;
#[cfg(test)]
mod tests;

use crate::lanes::WIDE;
use crate::parallel::Disjoint;
use branches::Branches;
use std::ops::Range;
pub use substitution::{Substitution, solve_together};

/// Numbers of a tile's four rows by four columns.
const SQUARE: usize = WIDE * WIDE;

/// Right sides that are solved together.
pub(super) const TOGETHER: usize = 3;

/// A row of a piece that is not in the factor: what it gives to the top.
const NONE: u32 = u32::MAX;

/// One supernode.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its first column, and how many it has.
    first: u32,
    width: u32,
    /// Rows below, in [`Panels::rows`].
    below: u32,
    count: u32,
    /// Its panel in [`Panels::values`].
    values: usize,
}

/// Supernodes that are gone through one after another. They count rows from its first on.
#[derive(Clone, Debug, Default)]
struct Piece {
    nodes: Range<usize>,
    /// Its rows in [`Panels::sorted`]: its own, then those for what it gives to the top.
    rows: Range<usize>,
    /// Which rows of the top those are, in [`Panels::targets`].
    targets: Range<usize>,
    /// Its part of [`Panels::front`].
    front: Range<usize>,
}

/// A factor as panels.
#[derive(Debug, Default)]
pub(super) struct Panels {
    size: usize,
    nodes: Vec<Node>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Branches, and last the top.
    pieces: Vec<Piece>,
    targets: Vec<u32>,
    /// Where every row of the pieces comes from.
    order: Vec<u32>,
    /// Right sides in that order, [`TOGETHER`] or fewer by row.
    sorted: Vec<f64>,
    /// Rows of one panel, by right side, for every piece.
    front: Vec<f64>,
}

/// A supernode as the factor has it: columns `first..first + width`, the rows below, and L of both by columns.
pub(super) struct Supernode<'a> {
    pub first: usize,
    pub width: usize,
    pub below: &'a [usize],
    pub values: &'a [f64],
}

impl Panels {
    /// Takes a factor over; `order` says for every row of it which row of the matrix it is.
    pub fn take<'a>(&mut self, order: &[usize], supernodes: impl Iterator<Item = Supernode<'a>>) {
        let supernodes: Vec<Supernode> = supernodes.collect();
        let branches = Branches::new(order.len(), &supernodes);
        *self = Self { size: order.len(), ..Self::default() };
        // Where a row of the factor is in its piece; and in a piece those that it gives to.
        let (mut places, mut given) = (vec![NONE; order.len()], vec![NONE; order.len()]);
        let mut values = 0;
        for (p, which) in branches.pieces.iter().enumerate() {
            let (first_node, first_row, first_target) = (self.nodes.len(), self.order.len(), self.targets.len());
            for node in which.iter().map(|&s| &supernodes[s as usize]) {
                for column in node.first..node.first + node.width {
                    places[column] = (self.order.len() - first_row) as u32;
                    self.order.push(order[column] as u32);
                }
            }
            let (own, mut longest) = (self.order.len() - first_row, 0);
            for node in which.iter().map(|&s| &supernodes[s as usize]) {
                let rows = node.width + node.below.len();
                self.nodes.push(Node {
                    first: places[node.first],
                    width: node.width as u32,
                    below: self.rows.len() as u32,
                    count: node.below.len() as u32,
                    values,
                });
                for &row in node.below {
                    let outside = branches.piece_of(row) != p;
                    if outside && given[row] == NONE {
                        given[row] = (own + self.targets.len() - first_target) as u32;
                        self.targets.push(row as u32);
                    }
                    self.rows.push(if outside { given[row] } else { places[row] });
                }
                let fours = |tile: usize| (rows - tile).div_ceil(WIDE);
                values += (0..node.width).step_by(WIDE).map(|tile| SQUARE * fours(tile)).sum::<usize>();
                longest = longest.max(rows.next_multiple_of(WIDE));
            }
            let targets = first_target..self.targets.len();
            self.targets[targets.clone()].iter().for_each(|&row| given[row as usize] = NONE);
            self.order.resize(self.order.len() + targets.len(), NONE);
            let front = self.pieces.last().map_or(0, |piece: &Piece| piece.front.end);
            self.pieces.push(Piece {
                nodes: first_node..self.nodes.len(),
                rows: first_row..self.order.len(),
                targets,
                front: front..front + TOGETHER * longest,
            });
        }
        // Pieces give to the top alone, which is the last and gives to nothing.
        self.targets.iter_mut().for_each(|row| *row = places[*row as usize]);
        self.front = vec![0.0; self.pieces.last().map_or(0, |piece| piece.front.end)];
        self.values = vec![0.0; values];
        let mut column = vec![0.0; self.front.len() / TOGETHER];
        let listed = branches.pieces.iter().flatten().map(|&s| &supernodes[s as usize]);
        for (node, place) in listed.zip(&self.nodes) {
            let (rows, mut at) = (node.width + node.below.len(), place.values);
            let l = |j: usize| &node.values[j * rows..(j + 1) * rows];
            for j in 0..node.width {
                // T⁻¹ by columns: T u = e_j; and B u goes along.
                column[..rows].fill(0.0);
                column[j] = 1.0;
                for k in j..node.width {
                    let u = column[k] / l(k)[k];
                    column[k] = u;
                    for (to, l) in column[k + 1..rows].iter_mut().zip(&l(k)[k + 1..]) {
                        *to -= u * l;
                    }
                }
                let (tile, lane) = (j / WIDE * WIDE, j % WIDE);
                for (k, &value) in column[tile..rows].iter().enumerate() {
                    self.values[at + k / WIDE * SQUARE + lane * WIDE + k % WIDE] = value;
                }
                if lane == WIDE - 1 {
                    at += SQUARE * (rows - tile).div_ceil(WIDE);
                }
            }
        }
    }

    /// No factor.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether there is a factor.
    pub fn is_ready(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Memory held (bytes).
    pub fn bytes(&self) -> usize {
        8 * (self.values.len() + self.sorted.len() + self.front.len())
            + 4 * (self.rows.len() + self.order.len() + self.targets.len())
            + size_of::<Node>() * self.nodes.len()
    }

    /// Replaces so many right sides, one after the other, by their solutions.
    pub fn solve(&mut self, right: &mut [f64], columns: usize) {
        assert_eq!(right.len(), self.size * columns);
        for some in right.chunks_mut((TOGETHER * self.size).max(1)) {
            let columns = some.len() / self.size.max(1);
            solve_together(&[Some(self.lend(some, columns))]);
        }
    }

    /// A substitution into so few right sides that they are done together, to be done in parts.
    pub fn lend<'a>(&'a mut self, right: &'a mut [f64], columns: usize) -> Substitution<'a> {
        assert!(right.len() == self.size * columns && (1..=TOGETHER).contains(&columns));
        self.sorted.resize(self.sorted.len().max(self.order.len() * columns), 0.0);
        let Self { size, nodes, rows, values, pieces, targets, order, sorted, front } = self;
        let sorted = Disjoint::new(&mut sorted[..order.len() * columns]);
        let (front, right) = (Disjoint::new(front), Disjoint::new(right));
        Substitution { size: *size, columns, nodes, rows, values, pieces, targets, order, sorted, front, right }
    }
}
