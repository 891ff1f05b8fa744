//! Stiffness and damping of the springs, into a block matrix.
//!
//! Lengths, roots and divisions are found four springs at a time; their blocks
//! `plain I + along û ûᵀ` are then added one by one.

use super::Weights;
use super::springs::{Springs, Stencil, TINY};
use super::yielding::Constants;
use crate::lanes::{Lanes, WIDE};
use crate::solve::block::{BlockMatrix, RowsChunk};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Left of the diagonal, where the matrix keeps the mirror image only.
const MIRRORED: u32 = u32::MAX;

/// Where the blocks of every element are in the matrix.
#[derive(Debug)]
pub(super) struct Positions {
    /// First end to second, and back where they belong to different chunks.
    pairs: Vec<[u32; 2]>,
    stencils: Vec<[u32; 16]>,
    /// Pairs inside every chunk in the order of their blocks, so that the matrix, by
    /// far the largest, is filled from front to back.
    inside: Vec<Vec<u32>>,
}

impl Positions {
    pub(super) fn new(springs: &Springs, matrix: &BlockMatrix) -> Self {
        let at = |i: u32, j: u32| matrix.position(i, j).unwrap_or(MIRRORED);
        let pairs: Vec<[u32; 2]> = springs.ends.iter().map(|&[i, j]| [at(i, j), at(j, i)]).collect();
        let stencils = (springs.stencils.iter())
            .map(|s| {
                std::array::from_fn(|p| {
                    let (a, b) = (p / 4, p % 4);
                    if a.max(b) < s.count as usize { at(s.nodes[a], s.nodes[b]) } else { MIRRORED }
                })
            })
            .collect();
        let inside = (springs.inside.iter())
            .map(|range| {
                let mut order: Vec<u32> = (range.start as u32..range.end as u32).collect();
                order.sort_by_key(|&s| pairs[s as usize][0]);
                order
            })
            .collect();
        Self { pairs, stencils, inside }
    }
}

/// Where the stiffness is taken and which part of it: directions at `x`, tension at `tension_at`.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub constants: Constants<'a>,
    pub x: &'a [DVec3],
    pub tension_at: &'a [DVec3],
    pub weights: Weights,
    pub exact: bool,
}

/// Constants and measured vectors of four elements; fewer are filled up with elements of no strength.
#[derive(Default)]
struct Four {
    stiffness: [f64; WIDE],
    damping: [f64; WIDE],
    rest: [f64; WIDE],
    d: [[f64; 3]; WIDE],
    /// d where the tension is taken.
    taut: [[f64; 3]; WIDE],
}

/// Blocks of four elements: `plain I + along û ûᵀ`.
struct Blocks {
    plain: [f64; WIDE],
    along: [f64; WIDE],
    unit: [[f64; 3]; WIDE],
}

/// Where blocks go.
pub(super) trait Rows {
    fn add(&mut self, position: u32, block: &DMat3);
    fn add_diagonal(&mut self, node: usize, block: &DMat3);
}

impl Rows for RowsChunk<'_, f64> {
    #[inline(always)]
    fn add(&mut self, position: u32, block: &DMat3) {
        RowsChunk::<f64>::add(self, position, block);
    }

    #[inline(always)]
    fn add_diagonal(&mut self, node: usize, block: &DMat3) {
        RowsChunk::add_diagonal(self, node, block);
    }
}

/// Blocks are symmetric, and those on the diagonal follow from all others: rows add up to nothing.
impl Rows for RowsChunk<'_, f32> {
    #[inline(always)]
    fn add(&mut self, position: u32, block: &DMat3) {
        RowsChunk::<f32>::add(self, position, &block.to_cols_array().map(|v| v as f32));
    }

    #[inline(always)]
    fn add_diagonal(&mut self, _: usize, _: &DMat3) {}
}

impl Springs {
    /// Adds what the elements give to the rows of one chunk.
    pub(super) fn assemble(&self, chunk: usize, nodes: Range<usize>, at: At, to: &Positions, rows: &mut impl Rows) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.assemble_avx2(chunk, nodes, at, to, rows) };
        }
        self.assemble_by::<[f64; WIDE], _>(chunk, nodes, at, to, rows);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn assemble_avx2(&self, chunk: usize, nodes: Range<usize>, at: At, to: &Positions, rows: &mut impl Rows) {
        self.assemble_by::<crate::lanes::avx2::Register, _>(chunk, nodes, at, to, rows);
    }

    #[inline(always)]
    fn assemble_by<L: Lanes, R: Rows>(&self, chunk: usize, nodes: Range<usize>, at: At, to: &Positions, rows: &mut R) {
        for springs in to.inside[chunk].chunks(WIDE) {
            let mut four = Four::default();
            for (l, &s) in springs.iter().enumerate() {
                self.put_pair(&mut four, l, s as usize, at);
            }
            let blocks = self.blocks::<L>(&four, at);
            for (l, &s) in springs.iter().enumerate() {
                let [i, j] = self.ends[s as usize].map(|i| i as usize);
                let block = blocks.block(l, 1.0);
                rows.add_diagonal(i, &block);
                rows.add_diagonal(j, &block);
                rows.add(to.pairs[s as usize][0], &-block);
            }
        }
        for springs in self.crossing[chunk].chunks(WIDE) {
            let mut four = Four::default();
            for (l, &s) in springs.iter().enumerate() {
                self.put_pair(&mut four, l, s as usize, at);
            }
            let blocks = self.blocks::<L>(&four, at);
            for (l, &s) in springs.iter().enumerate() {
                let [i, j] = self.ends[s as usize].map(|i| i as usize);
                let (own, side) = if nodes.contains(&i) { (i, 0) } else { (j, 1) };
                let block = blocks.block(l, 1.0);
                rows.add_diagonal(own, &block);
                rows.add(to.pairs[s as usize][side], &-block);
            }
        }
        for stencils in self.touching[chunk].chunks(WIDE) {
            let mut four = Four::default();
            for (l, &s) in stencils.iter().enumerate() {
                let stencil = &self.stencils[s as usize];
                (four.stiffness[l], four.damping[l]) = (stencil.stiffness, stencil.damping);
                if let Some([stiffness, damping]) = at.constants.bends {
                    (four.stiffness[l], four.damping[l]) = (stiffness[s as usize], damping[s as usize]);
                }
                four.rest[l] = at.constants.rest[self.ends.len() + s as usize];
                four.d[l] = stencil.vector(at.x).to_array();
                four.taut[l] = stencil.vector(at.tension_at).to_array();
            }
            let blocks = self.blocks::<L>(&four, at);
            for (l, &s) in stencils.iter().enumerate() {
                let Stencil { nodes: own, weights, count, .. } = &self.stencils[s as usize];
                for a in (0..*count as usize).filter(|&a| nodes.contains(&(own[a] as usize))) {
                    for b in 0..*count as usize {
                        let (position, weight) = (to.stencils[s as usize][4 * a + b], weights[a] * weights[b]);
                        if a == b {
                            rows.add_diagonal(own[a] as usize, &blocks.block(l, weight));
                        } else if position != MIRRORED {
                            rows.add(position, &blocks.block(l, weight));
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn put_pair(&self, four: &mut Four, l: usize, s: usize, at: At) {
        let [i, j] = self.ends[s].map(|i| i as usize);
        let Constants { rest, stiffness, damping, .. } = at.constants;
        (four.stiffness[l], four.damping[l], four.rest[l]) = (stiffness[s], damping[s], rest[s]);
        four.d[l] = (at.x[j] - at.x[i]).to_array();
        four.taut[l] = (at.tension_at[j] - at.tension_at[i]).to_array();
    }

    /// k [ t I + (1 - t) û ûᵀ ] with t = 1 - r/|d|, and the damper along û or, as printed, all ways.
    #[inline(always)]
    fn blocks<L: Lanes>(&self, four: &Four, at: At) -> Blocks {
        let d = L::load_vectors(bytemuck::cast_ref(&four.d));
        let taut = L::load_vectors(bytemuck::cast_ref(&four.taut));
        let length = L::dots(taut, taut).root();
        let mut out = Blocks { plain: [0.0; WIDE], along: [0.0; WIDE], unit: [[0.0; 3]; WIDE] };
        L::store_vectors(L::scale(d, L::dots(d, d).root().inverse(TINY)), bytemuck::cast_mut(&mut out.unit));
        let (mut lengths, mut slack) = ([0.0; WIDE], [0.0; WIDE]);
        length.store(&mut lengths);
        L::load(&four.rest).times(length.inverse(TINY)).store(&mut slack);
        for l in 0..WIDE {
            let mut t = if lengths[l] > TINY {
                1.0 - slack[l]
            } else if four.rest[l] == 0.0 {
                1.0
            } else {
                0.0
            };
            if !at.exact {
                t = t.max(0.0);
            }
            let (k, c) = (at.weights.position * four.stiffness[l], at.weights.velocity * four.damping[l]);
            (out.plain[l], out.along[l]) = (k * t, k * (1.0 - t));
            *(if self.as_printed { &mut out.plain[l] } else { &mut out.along[l] }) += c;
        }
        out
    }
}

impl Blocks {
    #[inline(always)]
    fn block(&self, l: usize, factor: f64) -> DMat3 {
        let ([x, y, z], p, a) = (self.unit[l], factor * self.plain[l], factor * self.along[l]);
        let (ax, ay, az) = (a * x, a * y, a * z);
        DMat3::from_cols_array(&[p + ax * x, ax * y, ax * z, ax * y, p + ay * y, ay * z, ax * z, ay * z, p + az * z])
    }
}
