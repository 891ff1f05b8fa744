//! Stiffness of tetrahedra, eight at a time in single precision.
//!
//! Blocks off the diagonal are found and added up to seven digits, which is what directions of an implicit step
//! need. The diagonal is then what makes every row add up to
//! nothing, in double precision, so that moving a body as a whole costs nothing but its mass.

use super::kernel::{At, Cells, Turned};
use super::law::Constants;
use super::pack::{NOWHERE, Packs};
use super::wide::{M3, V3, W, add_outer, zero};
use crate::lanes::{Singles, WIDE, WIDER};
use crate::solve::block::RowsChunk;
use glam::DVec3;
use std::ops::Range;

/// Eight tetrahedra side by side; unused lanes have no volume.
#[derive(Clone, Debug)]
struct Pack {
    nodes: [[u32; WIDER]; 4],
    gradient: [[[f32; WIDER]; 3]; 4],
    volume: [f32; WIDER],
    moduli: [[f32; WIDER]; 2],
    time: [f32; WIDER],
}

/// By chunk, those that touch it.
#[derive(Debug)]
pub(super) struct Eights {
    packs: Vec<Vec<Pack>>,
}

impl Eights {
    /// From packs of four, two by two.
    pub fn new(fours: &Packs<4>) -> Self {
        let join = |two: &[super::pack::Pack<4>]| {
            let mut out = Pack {
                nodes: two[0].nodes.map(|nodes| [nodes[0]; WIDER]),
                gradient: [[[0.0; WIDER]; 3]; 4],
                volume: [0.0; WIDER],
                moduli: [[0.0; WIDER]; 2],
                time: [0.0; WIDER],
            };
            for (half, four) in two.iter().enumerate() {
                for l in 0..WIDE {
                    let to = WIDE * half + l;
                    for a in 0..4 {
                        out.nodes[a][to] = four.nodes[a][l];
                        for k in 0..3 {
                            out.gradient[a][k][to] = four.gradient[a][k][l] as f32;
                        }
                    }
                    out.volume[to] = four.volume[l] as f32;
                    for k in 0..2 {
                        out.moduli[k][to] = four.moduli[k][l] as f32;
                    }
                    out.time[to] = four.time[l] as f32;
                }
            }
            out
        };
        Self { packs: fours.packs.iter().map(|list| list.chunks(2).map(join).collect()).collect() }
    }

    /// Adds blocks off the diagonal to the rows of a chunk; `places` are those of the packs of four.
    pub fn assemble(&self, chunk: usize, nodes: &Range<usize>, at: At, places: &[u32], rows: &mut RowsChunk<f32>) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.assemble_avx2(chunk, nodes, at, places, rows) };
        }
        self.assemble_by::<[f32; WIDER]>(chunk, nodes, at, places, rows);
    }

    /// The same without vector registers.
    #[cfg(test)]
    pub fn assemble_plain(
        &self,
        chunk: usize,
        nodes: &Range<usize>,
        at: At,
        places: &[u32],
        rows: &mut RowsChunk<f32>,
    ) {
        self.assemble_by::<[f32; WIDER]>(chunk, nodes, at, places, rows);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn assemble_avx2(&self, chunk: usize, nodes: &Range<usize>, at: At, places: &[u32], rows: &mut RowsChunk<f32>) {
        self.assemble_by::<crate::lanes::avx2::Eight>(chunk, nodes, at, places, rows);
    }

    #[inline(always)]
    fn assemble_by<L: Singles>(
        &self,
        chunk: usize,
        nodes: &Range<usize>,
        at: At,
        places: &[u32],
        rows: &mut RowsChunk<f32>,
    ) {
        let places = places.as_chunks::<WIDE>().0;
        let elsewhere = !std::ptr::eq(at.x, at.tension_at);
        let mut lanes = [[0.0f32; WIDER]; WIDER];
        for (p, pack) in self.packs[chunk].iter().enumerate() {
            let mut slopes = [[W::<L>::splat(0.0); 3]; 4];
            for a in 0..4 {
                slopes[a] = vector(&pack.gradient[a]);
            }
            let taut = if elsewhere { Some(gradient::<L>(pack, &slopes, at.tension_at)) } else { None };
            let cells = Cells {
                constants: Constants { mu: W::single(&pack.moduli[0]), lambda: W::single(&pack.moduli[1]) },
                volume: W::single(&pack.volume),
                time: W::single(&pack.time),
                f: gradient::<L>(pack, &slopes, at.x),
                taut,
                gradient: slopes,
            };
            let turned = Turned::of(cells, at.weights, at.exact);
            let mut pair = 0;
            for a in 0..4 {
                for b in a + 1..4 {
                    let k = turned.block(a, b);
                    let [[k0, k1, k2], [k3, k4, k5], [k6, k7, k8]] = k;
                    L::turn([k0.0, k1.0, k2.0, k3.0, k4.0, k5.0, k6.0, k7.0], &mut lanes);
                    let mut last = [0.0; WIDER];
                    k8.0.store(&mut last);
                    for l in 0..WIDER {
                        // Six pairs of four lanes in each half.
                        let place = match places.get(12 * p + 6 * (l / WIDE) + pair) {
                            Some(four) => four[l % WIDE],
                            None => NOWHERE,
                        };
                        if place == NOWHERE {
                            continue;
                        }
                        if nodes.contains(&(pack.nodes[a][l] as usize)) {
                            rows.add(place, &lanes[l], last[l]);
                        } else {
                            let [k0, k1, k2, k3, k4, k5, k6, k7] = lanes[l];
                            rows.add(place, &[k0, k3, k6, k1, k4, k7, k2, k5], last[l]);
                        }
                    }
                    pair += 1;
                }
            }
        }
    }
}

#[inline(always)]
fn vector<L: Singles>(from: &[[f32; WIDER]; 3]) -> V3<L> {
    [W::single(&from[0]), W::single(&from[1]), W::single(&from[2])]
}

/// Σ x_a B_aᵀ, from the first node of each cell on.
#[inline(always)]
fn gradient<L: Singles>(pack: &Pack, slopes: &[V3<L>; 4], x: &[DVec3]) -> M3<L> {
    let offsets = L::offsets(x, &pack.nodes);
    let mut f = zero();
    for a in 1..4 {
        let [x, y, z] = offsets[a - 1];
        add_outer(&mut f, [W(x), W(y), W(z)], slopes[a]);
    }
    f
}
