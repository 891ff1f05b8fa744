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
//! Eight springs at a time, in the order of the blocks.

use super::Weights;
use super::assembly::At;
use super::springs::Springs;
use crate::lanes::{Singles, WIDER};
use crate::solve::block::{BlockMatrix, Link, RowsChunk};
use glam::DVec3;
use std::collections::HashMap;

/// Which spring is which block.
#[derive(Debug)]
pub(super) struct Layout {
    /// By chunk: the springs of its blocks, first those inside it in the order of their blocks, then those that cross.
    springs: Vec<Vec<u32>>,
    /// Their blocks, and their nodes.
    places: Vec<Vec<u32>>,
    ends: Vec<Vec<[u32; 2]>>,
    /// By block: what bends give to a, for the stiffness and for the damping; empty where there are none.
    bends: Vec<[f32; 2]>,
}

impl Layout {
    /// None where a block is not a link.
    pub(super) fn new(springs: &Springs, matrix: &BlockMatrix) -> Option<Self> {
        let mut seen = HashMap::new();
        let once = springs.ends.iter().all(|&[i, j]| seen.insert((i.min(j), i.max(j)), ()).is_none());
        if !once || springs.stencils.iter().any(|s| s.rest != 0.0) || springs.yielding.is_some() {
            return None;
        }
        let chunks = matrix.chunks();
        let mut out = Self { springs: Vec::new(), places: Vec::new(), ends: Vec::new(), bends: Vec::new() };
        for (c, range) in springs.inside.iter().enumerate() {
            let mut own: Vec<(u32, u32)> = Vec::new();
            for s in (range.start as u32..range.end as u32).chain(springs.crossing[c].iter().copied()) {
                let [i, j] = springs.ends[s as usize];
                let [i, j] = if chunks.of(i as usize) == c { [i, j] } else { [j, i] };
                own.push((matrix.position(i, j).or(matrix.position(j, i))?, s));
            }
            own.sort_unstable();
            out.springs.push(own.iter().map(|(_, s)| *s).collect());
            out.ends.push(own.iter().map(|(_, s)| springs.ends[*s as usize]).collect());
            out.places.push(own.iter().map(|(p, _)| *p).collect());
        }
        if !springs.stencils.is_empty() {
            let mut bends = vec![[0.0f64; 2]; matrix.blocks() - matrix.nodes()];
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
            out.bends = bends.into_iter().map(|both| both.map(|v| v as f32)).collect();
        }
        Some(out)
    }
}

impl Springs {
    /// Writes the links of one chunk, and what they add up to onto its diagonal.
    pub(super) fn link(&self, chunk: usize, at: At, layout: &Layout, rows: &mut RowsChunk<Link>) {
        let (links, first) = rows.links();
        if layout.bends.is_empty() {
            links.fill(Link::default());
        } else {
            let Weights { position, velocity } = at.weights;
            let (position, velocity) = (position as f32, velocity as f32);
            for (link, [k, c]) in links.iter_mut().zip(&layout.bends[first..]) {
                *link = [position * k + velocity * c, 0.0, 0.0, 0.0];
            }
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { self.link_avx2(chunk, at, layout, links, first) };
            return rows.close();
        }
        self.link_by::<[f32; WIDER]>(chunk, at, layout, links, first);
        rows.close();
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn link_avx2(&self, chunk: usize, at: At, layout: &Layout, links: &mut [Link], first: usize) {
        self.link_by::<crate::lanes::avx2::Eight>(chunk, at, layout, links, first);
    }

    #[inline(always)]
    fn link_by<S: Singles>(&self, chunk: usize, at: At, layout: &Layout, links: &mut [Link], first: usize) {
        let (springs, places, ends) = (&layout.springs[chunk], &layout.places[chunk], &layout.ends[chunk]);
        for start in (0..springs.len()).step_by(WIDER) {
            let count = (springs.len() - start).min(WIDER);
            // A last step of fewer than eight does the last spring again.
            let (mut pairs, mut k, mut c, mut r) = ([[0; 2]; WIDER], [0.0; WIDER], [0.0; WIDER], [0.0; WIDER]);
            for lane in 0..WIDER {
                let n = start + lane.min(count - 1);
                let s = springs[n] as usize;
                pairs[lane] = ends[n];
                k[lane] = (at.weights.position * at.constants.stiffness[s]) as f32;
                c[lane] = (at.weights.velocity * at.constants.damping[s]) as f32;
                r[lane] = at.constants.rest[s] as f32;
            }
            let mut eight = [Link::default(); WIDER];
            self.eight::<S>(&pairs, [&k, &c, &r], at.x, at.tension_at, &mut eight);
            for lane in 0..count {
                let link = &mut links[places[start + lane] as usize - first];
                let [a, x, y, z] = eight[lane];
                *link = [link[0] + a, x, y, z];
            }
        }
    }

    #[inline(always)]
    fn eight<S: Singles>(
        &self,
        ends: &[[u32; 2]; WIDER],
        [k, c, r]: [&[f32; WIDER]; 3],
        x: &[DVec3],
        tension_at: &[DVec3],
        out: &mut [Link; WIDER],
    ) {
        let (k, c, r) = (S::load(k), S::load(c), S::load(r));
        let (zero, one, tiny) = (S::splat(0.0), S::splat(1.0), S::splat(1e-36));
        let [dx, dy, dz] = S::between(x, ends);
        let length2 = dx.times(dx).plus(dy.times(dy)).plus(dz.times(dz));
        let [tx, ty, tz] = S::between(tension_at, ends);
        let taut2 = tx.times(tx).plus(ty.times(ty)).plus(tz.times(tz));
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
        S::quadruple([plain, dx.times(size), dy.times(size), dz.times(size)], out);
    }
}
