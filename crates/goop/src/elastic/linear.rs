//! A quadratic energy of the displacement from a reference shape: what framed
//! coordinates step with.
//!
//! ```text
//! E(e) = ½ eᵀ K e - f₀·e        K constant, in body axes
//! ```
//! Numbers lie in planes: all x components, then all y, then all z. Where the planes do
//! not mix, K is one scalar matrix for each plane or shared by some; else it is one matrix over
//! all three.

use super::{Elasticity, Weights};
use crate::coordinates::framed::kernels::{self, Bands};
use crate::parallel::Disjoint;
use crate::solve::SparseMatrix;
use glam::{DQuat, DVec3};
use std::ops::Range;

/// A matrix and the planes it acts on.
#[derive(Debug)]
pub struct Group {
    /// First plane: 0 x, 1 y, 2 z.
    pub plane: usize,
    /// Right sides that share the matrix: planes of n numbers, or one of 3n.
    pub columns: usize,
    /// K (N/m).
    pub matrix: SparseMatrix,
    /// The same by full rows, for products.
    row_start: Vec<u32>,
    columns_of: Vec<u32>,
    values: Vec<f64>,
    bands: Option<Bands>,
}

impl Group {
    /// Takes the lower triangle.
    pub fn new(plane: usize, columns: usize, matrix: SparseMatrix) -> Self {
        let n = matrix.size;
        let mut row_start = vec![0u32; n + 1];
        for (i, j, _) in matrix.entries() {
            row_start[i + 1] += 1;
            if i != j {
                row_start[j + 1] += 1;
            }
        }
        for i in 0..n {
            row_start[i + 1] += row_start[i];
        }
        let mut group = Self {
            plane,
            columns,
            columns_of: vec![0; row_start[n] as usize],
            values: vec![0.0; row_start[n] as usize],
            row_start,
            matrix,
            bands: None,
        };
        group.fill();
        group.bands = group.find_bands();
        group
    }

    /// Spreads the lower triangle over the full rows, ascending in each.
    fn fill(&mut self) {
        let mut next: Vec<u32> = self.row_start[..self.matrix.size].to_vec();
        // Columns come in ascending order, so a row's left part is complete and in order
        // before its own column adds the rest.
        for (i, j, value) in self.matrix.entries() {
            let mut put = |row: usize, column: usize| {
                let p = next[row] as usize;
                (self.columns_of[p], self.values[p]) = (column as u32, value);
                next[row] += 1;
            };
            put(i, j);
            if i != j {
                put(j, i);
            }
        }
    }

    /// Numbers in a column.
    pub fn size(&self) -> usize {
        self.matrix.size
    }

    /// The diagonals of the full matrix, where they are few: of a grid.
    fn find_bands(&self) -> Option<Bands> {
        let n = self.size();
        let mut offsets: Vec<isize> = Vec::new();
        let each = |visit: &mut dyn FnMut(usize, isize, f64)| {
            for row in 0..n {
                for p in self.row_start[row] as usize..self.row_start[row + 1] as usize {
                    visit(row, self.columns_of[p] as isize - row as isize, self.values[p]);
                }
            }
        };
        each(&mut |_, offset, _| {
            if offsets.len() <= MOST_BANDS
                && let Err(place) = offsets.binary_search(&offset)
            {
                offsets.insert(place, offset);
            }
        });
        if offsets.len() > MOST_BANDS || offsets.len() * n > 4 * self.values.len() {
            return None;
        }
        let mut values = vec![0.0; offsets.len() * n];
        each(&mut |row, offset, value| {
            if let Ok(d) = offsets.binary_search(&offset) {
                values[d * n + row] = value;
            }
        });
        let (low, high) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        let start = low.unsigned_abs().min(n);
        let inner = start..n.saturating_sub(high.unsigned_abs()).max(start);
        Some(Bands { offsets, values, inner })
    }

    /// K e and K ė in a range of rows, for all columns.
    fn rows(&self, rows: Range<usize>, x: [&[f64]; 2], out: &mut [[&mut [f64]; 2]]) {
        let inner = match &self.bands {
            Some(bands) => {
                let start = bands.inner.start.clamp(rows.start, rows.end);
                let inner = start..bands.inner.end.clamp(start, rows.end);
                let part = inner.start - rows.start..inner.end - rows.start;
                // At most three columns: no list is needed.
                let mut three: [[&mut [f64]; 2]; 3] = Default::default();
                for (to, from) in three.iter_mut().zip(out.iter_mut()) {
                    *to = from.each_mut().map(|rows| &mut rows[part.clone()]);
                }
                kernels::band_rows(bands, inner.clone(), x, &mut three[..self.columns]);
                inner
            }
            None => rows.start..rows.start,
        };
        let size = self.size();
        for (k, [a, b]) in out.iter_mut().enumerate() {
            let x = x.map(|x| &x[k * size..(k + 1) * size]);
            for row in (rows.start..inner.start).chain(inner.end..rows.end) {
                let (mut sum_a, mut sum_b) = (0.0, 0.0);
                for p in self.row_start[row] as usize..self.row_start[row + 1] as usize {
                    let (value, column) = (self.values[p], self.columns_of[p] as usize);
                    sum_a += value * x[0][column];
                    sum_b += value * x[1][column];
                }
                (a[row - rows.start], b[row - rows.start]) = (sum_a, sum_b);
            }
        }
    }
}

/// Rows at a time, so that what a block has written is still at hand for its scalar products.
const BLOCK: usize = 1024;

/// More diagonals than a grid's stencils have, seams and poles included.
const MOST_BANDS: usize = 48;

/// The quadratic energy.
#[derive(Debug)]
pub struct Linear {
    /// Shape axes from body axes.
    pub axes: DQuat,
    /// Matrices, by plane.
    pub groups: Vec<Group>,
    /// f₀ (N), by planes; empty where the reference shape is at rest.
    pub prestress: Vec<f64>,
}

impl Linear {
    /// The stiffness at rest of any elasticity, with its forces there; rest positions in body axes.
    pub fn at_rest(elastic: &dyn Elasticity, memory: &[f64], axes: DQuat, rest: &[DVec3]) -> Self {
        let n = rest.len();
        let mut blocks = elastic.structure();
        elastic.stiffness(memory, rest, Weights { position: 1.0, velocity: 0.0 }, false, &mut blocks);
        let mut entries = Vec::new();
        for i in 0..n {
            for (j, block) in blocks.row(i).filter(|(j, _)| *j >= i) {
                for r in 0..3 {
                    for c in 0..3 {
                        let (row, column) = (r * n + i, c * n + j);
                        let value = block.col(c)[r];
                        // Entry (i r, j c) and its mirror image: one of them is in the lower triangle.
                        if row >= column || i != j {
                            entries.push((row, column, value));
                        }
                    }
                }
            }
        }
        let (mut f, mut g) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        elastic.forces(memory, rest, &vec![DVec3::ZERO; n], &mut f, &mut g);
        let prestress = if f.iter().all(|f| *f == DVec3::ZERO) {
            Vec::new()
        } else {
            (0..3).flat_map(|p| f.iter().map(move |f| f[p])).collect()
        };
        let matrix = SparseMatrix::from_entries(3 * n, entries);
        Self { axes, groups: vec![Group::new(0, 1, matrix)], prestress }
    }

    /// Writes K e and K ė; returns e·Ke, e·Kė, ė·Kė, and old·Ke, old·Kė for another vector.
    pub fn products(&self, x: [&[f64]; 2], old: &[f64], out_e: &mut [f64], out_rate: &mut [f64]) -> [f64; 5] {
        let (out_e, out_rate) = (Disjoint::new(out_e), Disjoint::new(out_rate));
        let n = old.len() / 3;
        let mut sums = [0.0; 5];
        for group in &self.groups {
            let (size, at) = (group.size(), group.plane * n);
            let part = x.map(|x| &x[at..at + group.columns * size]);
            let sum = kernels::sum(size, |range| {
                let mut sums = [0.0; 5];
                for start in range.clone().step_by(BLOCK) {
                    let block = start..(start + BLOCK).min(range.end);
                    let mut out: [[&mut [f64]; 2]; 3] = Default::default();
                    for (k, column) in out.iter_mut().enumerate().take(group.columns) {
                        let to = at + k * size + block.start..at + k * size + block.end;
                        // SAFETY: ranges and columns are disjoint.
                        *column = unsafe { [out_e.slice(to.clone()), out_rate.slice(to)] };
                    }
                    group.rows(block.clone(), part, &mut out[..group.columns]);
                    for (k, [a, b]) in out.iter().enumerate().take(group.columns) {
                        let own = k * size + block.start..k * size + block.end;
                        let old = &old[at + own.start..at + own.end];
                        let dots = kernels::dots(&part[0][own.clone()], &part[1][own], old, a, b);
                        (0..5).for_each(|t| sums[t] += dots[t]);
                    }
                }
                sums
            });
            sums = std::array::from_fn(|k| sums[k] + sum[k]);
        }
        sums
    }
}
