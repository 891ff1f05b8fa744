//! ΦᵀAΦ of a matrix of nodes: blocks of ten by ten modes for parts that meet.
//!
//! ```text
//! S_bc = Σ_i φ_b(i) Y_c(i)ᵀ      Y_c(i) = ½ A_ii φ_c(i) + Σ_j>i A_ij φ_c(j)      ΦᵀAΦ = S + Sᵀ
//! ```
//! Y first, so that a node costs ninety products for each neighbour and nine hundred once.

use super::Modes;
use super::modes::MODES;
use crate::model::Body;
use crate::solve::BlockMatrix;
use glam::DMat3;
use rayon::prelude::*;

const BLOCK: usize = 9 * MODES;
const SQUARE: usize = 9 * MODES * MODES;

/// S of one part with all that it meets.
#[derive(Debug)]
struct Row {
    /// Ascending; its own among them.
    meets: Vec<u32>,
    /// Ten by ten blocks of 3×3 by columns, for each that it meets.
    sums: Vec<f64>,
    /// Y, and which of it is in use.
    y: Vec<f64>,
    used: Vec<bool>,
}

/// The small matrix and what it is made of.
#[derive(Debug)]
pub(crate) struct Reduction {
    rows: Vec<Row>,
    pub matrix: BlockMatrix,
}

impl Reduction {
    /// The structure for a body.
    pub fn new(body: &Body, modes: &Modes) -> Self {
        let parts = modes.of_part.len();
        let mut meets: Vec<Vec<u32>> = (0..parts).map(|b| vec![b as u32]).collect();
        let mut join = |i: usize, j: usize| {
            for e in modes.entries_of(i) {
                for f in modes.entries_of(j) {
                    let (b, c) = (modes.entries[e].part, modes.entries[f].part);
                    if !meets[b as usize].contains(&c) {
                        meets[b as usize].push(c);
                    }
                    if !meets[c as usize].contains(&b) {
                        meets[c as usize].push(b);
                    }
                }
            }
        };
        if let Some(elastic) = &body.elastic {
            let structure = elastic.structure();
            for i in 0..body.len() {
                structure.row(i).for_each(|(j, _)| join(i, j));
            }
        }
        let matrix = BlockMatrix::new(modes.len(), |visit| {
            for (b, list) in meets.iter().enumerate() {
                for &c in list {
                    let mut stencil = [0; 2 * MODES];
                    for k in 0..MODES {
                        (stencil[k], stencil[MODES + k]) = ((MODES * b + k) as u32, MODES as u32 * c + k as u32);
                    }
                    visit(if b as u32 == c { &stencil[..MODES] } else { &stencil });
                }
            }
        });
        let row = |mut meets: Vec<u32>| {
            meets.sort_unstable();
            let n = meets.len();
            Row { sums: vec![0.0; n * SQUARE], y: vec![0.0; n * BLOCK], used: vec![false; n], meets }
        };
        Self { rows: meets.into_iter().map(row).collect(), matrix }
    }

    /// Takes over a matrix of nodes.
    pub fn fill(&mut self, modes: &Modes, nodes: &BlockMatrix) {
        let one = |(b, row): (usize, &mut Row)| row.fill(modes, nodes, b);
        match self.rows.len() {
            1 => self.rows.iter_mut().enumerate().for_each(one),
            _ => self.rows.par_iter_mut().enumerate().for_each(one),
        }
    }

    /// Adds a block to the diagonal of a node.
    pub fn add(&mut self, modes: &Modes, node: usize, block: DMat3) {
        let half = (block * 0.5).to_cols_array();
        for e in modes.entries_of(node) {
            for f in modes.entries_of(node) {
                let row = &mut self.rows[modes.entries[e].part as usize];
                let Some(slot) = row.slot(modes.entries[f].part) else { continue };
                for k in 0..MODES {
                    for l in 0..MODES {
                        let weight = modes.rows[e][k] * modes.rows[f][l];
                        let sums = &mut row.sums[slot * SQUARE + 9 * (MODES * k + l)..][..9];
                        sums.iter_mut().zip(half).for_each(|(sum, half)| *sum += weight * half);
                    }
                }
            }
        }
    }

    /// Puts S + Sᵀ into the matrix.
    pub fn finish(&mut self) {
        let rows = &self.rows;
        self.matrix.fill_by(|r, c| {
            let (b, k, d, l) = (r / MODES, r % MODES, c / MODES, c % MODES);
            rows[b].block(d, k, l) + rows[d].block(b, l, k).transpose()
        });
    }
}

impl Row {
    fn slot(&self, part: u32) -> Option<usize> {
        // Few: a part and its neighbours.
        self.meets.iter().position(|&c| c == part)
    }

    fn block(&self, part: usize, k: usize, l: usize) -> DMat3 {
        self.slot(part as u32)
            .map_or(DMat3::ZERO, |slot| DMat3::from_cols_slice(&self.sums[slot * SQUARE + 9 * (MODES * k + l)..][..9]))
    }

    /// By the widest registers there are; the sums and their order are the same.
    fn fill(&mut self, modes: &Modes, nodes: &BlockMatrix, b: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.fill_avx2(modes, nodes, b) };
        }
        self.fill_plain(modes, nodes, b);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_avx2(&mut self, modes: &Modes, nodes: &BlockMatrix, b: usize) {
        self.fill_plain(modes, nodes, b);
    }

    #[inline(always)]
    fn fill_plain(&mut self, modes: &Modes, nodes: &BlockMatrix, b: usize) {
        self.sums.fill(0.0);
        for &entry in &modes.of_part[b] {
            let i = modes.entries[entry as usize].node as usize;
            self.used.fill(false);
            for (j, block) in nodes.row(i).filter(|(j, _)| *j >= i) {
                let a = if i == j { block * 0.5 } else { block }.to_cols_array();
                for f in modes.entries_of(j) {
                    let Some(slot) = self.slot(modes.entries[f].part) else { continue };
                    let y = &mut self.y[slot * BLOCK..][..BLOCK];
                    if !self.used[slot] {
                        y.fill(0.0);
                        self.used[slot] = true;
                    }
                    for (phi, y) in modes.rows[f].iter().zip(y.as_chunks_mut::<9>().0) {
                        (0..9).for_each(|n| y[n] += phi * a[n]);
                    }
                }
            }
            for slot in (0..self.used.len()).filter(|&s| self.used[s]) {
                let y = &self.y[slot * BLOCK..][..BLOCK];
                let sums = &mut self.sums[slot * SQUARE..][..SQUARE];
                for (phi, sums) in modes.rows[entry as usize].iter().zip(sums.as_chunks_mut::<BLOCK>().0) {
                    (0..BLOCK).for_each(|n| sums[n] += phi * y[n]);
                }
            }
        }
    }
}
