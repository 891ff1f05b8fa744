//! Stiffness and damping of springs as links: a matrix of a I + e eᵀ between two nodes, in single precision.
//!
//! A spring gives every one of its blocks the same form, and bends of a flat rest shape give multiples of I:
//! ```text
//! spring   a = w k t                 e = √(w k (1 - t) + c) û          t = max(0, 1 - r/|d|)
//! bend     a -= c_a c_b (w k + c)                                      r = 0
//! ```
//! with w and c the weights of position and velocity. Dampers of bends act along the vector they measure; here they are taken to
//! act in all directions, which changes where a step is linearised and no force.
//!
//! Eight blocks at a time, in their order.

use super::assembly::At;
use super::springs::Springs;
use crate::lanes::{Singles, WIDER};
use crate::solve::block::{BlockMatrix, Link, RowsChunk};
use glam::DVec3;
use std::collections::BTreeSet;

/// What every block of the matrix is made of; of bends alone where a spring has no strength.
#[derive(Debug)]
pub(super) struct Layout {
    ends: Vec<[u32; 2]>,
    /// k and damping constant of the spring, and its rest length.
    stiffness: Vec<f32>,
    damping: Vec<f32>,
    rest: Vec<f32>,
    /// What bends give to a, for the stiffness and for the damping; empty where there are none.
    bends: [Vec<f32>; 2],
}

impl Layout {
    /// None where a block is not a link, or does not stay as it is.
    pub(super) fn new(springs: &Springs, matrix: &BlockMatrix) -> Option<Self> {
        let mut seen = BTreeSet::new();
        let once = springs.ends.iter().all(|&[i, j]| seen.insert((i.min(j), i.max(j))));
        if !once || springs.stencils.iter().any(|s| s.rest != 0.0) || springs.yielding.is_some() {
            return None;
        }
        let blocks = matrix.blocks() - matrix.nodes();
        let numbers = || vec![0.0; blocks];
        let mut out = Self {
            ends: vec![[0; 2]; blocks],
            stiffness: numbers(),
            damping: numbers(),
            rest: numbers(),
            bends: [Vec::new(), Vec::new()],
        };
        for (s, &[i, j]) in springs.ends.iter().enumerate() {
            for p in [matrix.position(i, j), matrix.position(j, i)].into_iter().flatten() {
                let p = p as usize;
                out.ends[p] = [i, j];
                (out.stiffness[p], out.damping[p]) = (springs.stiffness[s] as f32, springs.damping[s] as f32);
                out.rest[p] = springs.rests[s] as f32;
            }
        }
        if !springs.stencils.is_empty() {
            let mut bends = vec![[0.0f64; 2]; blocks];
            for stencil in &springs.stencils {
                for a in 0..stencil.count as usize {
                    for b in (0..stencil.count as usize).filter(|&b| b != a) {
                        if let Some(p) = matrix.position(stencil.nodes[a], stencil.nodes[b]) {
                            let weight = stencil.weights[a] * stencil.weights[b];
                            bends[p as usize][0] -= weight * stencil.stiffness;
                            bends[p as usize][1] -= weight * stencil.damping;
                        }
                    }
                }
            }
            out.bends = [0, 1].map(|k: usize| bends.iter().map(|both| both[k] as f32).collect());
        }
        Some(out)
    }
}

impl Springs {
    /// Writes the links of one chunk, and what they add up to onto its diagonal.
    pub(super) fn link(&self, at: At, layout: &Layout, rows: &mut RowsChunk<Link>) {
        let (links, first) = rows.links();
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { self.link_avx2(at, layout, links, first) };
            return rows.close_links();
        }
        self.link_by::<[f32; WIDER]>(at, layout, links, first);
        rows.close_links();
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn link_avx2(&self, at: At, layout: &Layout, links: &mut [Link], first: usize) {
        self.link_by::<crate::lanes::avx2::Eight>(at, layout, links, first);
    }

    #[inline(always)]
    fn link_by<S: Singles>(&self, at: At, layout: &Layout, links: &mut [Link], first: usize) {
        let (whole, rest) = links.as_chunks_mut::<WIDER>();
        for (n, out) in whole.iter_mut().enumerate() {
            let p = first + WIDER * n;
            let ends = layout.ends[p..p + WIDER].first_chunk().expect("eight");
            let mut constants = [S::splat(0.0); 5];
            let [stretched, braked] = &layout.bends;
            let lists = [&layout.stiffness, &layout.damping, &layout.rest, stretched, braked];
            for (constant, list) in constants.iter_mut().zip(lists) {
                if let Some(eight) = list.get(p..p + WIDER) {
                    *constant = S::load(eight.first_chunk().expect("eight"));
                }
            }
            self.eight(ends, constants, at, out);
        }
        // A last step of fewer than eight is filled up with springs of no strength.
        let (p, count) = (first + WIDER * whole.len(), rest.len());
        let (mut ends, mut last) = ([[0; 2]; WIDER], [Link::default(); WIDER]);
        ends[..count].copy_from_slice(&layout.ends[p..p + count]);
        let mut constants = [S::splat(0.0); 5];
        let [stretched, braked] = &layout.bends;
        let lists = [&layout.stiffness, &layout.damping, &layout.rest, stretched, braked];
        for (constant, list) in constants.iter_mut().zip(lists) {
            if let Some(few) = list.get(p..p + count) {
                let mut eight = [0.0; WIDER];
                eight[..count].copy_from_slice(few);
                *constant = S::load(&eight);
            }
        }
        self.eight(&ends, constants, at, &mut last);
        rest.copy_from_slice(&last[..count]);
    }

    #[inline(always)]
    fn eight<S: Singles>(
        &self,
        ends: &[[u32; 2]; WIDER],
        [k, c, r, stretched, braked]: [S; 5],
        at: At,
        out: &mut [Link; WIDER],
    ) {
        let (position, velocity) = (S::splat(at.weights.position), S::splat(at.weights.velocity));
        let (k, c) = (k.times(position), c.times(velocity));
        let bends = stretched.times(position).plus(braked.times(velocity));
        let (zero, one, tiny) = (S::splat(0.0), S::splat(1.0), S::single(1e-30));
        let [dx, dy, dz] = S::between(at.x, ends);
        let length2 = dx.times(dx).plus(dy.times(dy)).plus(dz.times(dz));
        let taut2 = if is_same(at.x, at.tension_at) {
            length2
        } else {
            let [tx, ty, tz] = S::between(at.tension_at, ends);
            tx.times(tx).plus(ty.times(ty)).plus(tz.times(tz))
        };
        // A spring of no length is not taut, unless it wants none.
        let taut = one.minus(r.over(taut2.larger(tiny).root()));
        let slack = S::choose(zero, r, zero, one);
        let taut = S::choose(tiny, taut2, taut, slack).larger(zero);
        let (mut plain, mut along) = (k.times(taut), k.minus(k.times(taut)));
        if self.as_printed {
            plain = plain.plus(c);
        } else {
            along = along.plus(c);
        }
        let size = S::choose(tiny, length2, along.over(length2.larger(tiny)).root(), zero);
        S::quadruple([plain.plus(bends), dx.times(size), dy.times(size), dz.times(size)], out);
    }
}

fn is_same(a: &[DVec3], b: &[DVec3]) -> bool {
    std::ptr::eq(a, b)
}
