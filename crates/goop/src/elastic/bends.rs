//! Forces of the bend and twist stencils, eight at a time.

use super::pairs::{Out, Sums, TOGETHER, WORK, Wanted, brake, dot, law, plus, some, times};
use super::rooms::Moving;
use super::springs::{Springs, Stencil, TINY};
use super::yielding::Constants;
use crate::lanes::Kind;
use crate::lanes::eight::{Doubles, EIGHT, Padded};
use crate::parallel::Chunks;
use std::ops::Range;

/// Eight stencils side by side; a last pack of fewer is filled up with stencils without weight.
#[derive(Clone, Copy, Debug)]
struct Pack {
    nodes: [[u32; EIGHT]; 4],
    weights: [[f64; EIGHT]; 4],
}

/// Stencils that follow one another, with as many nodes in the same chunks.
#[derive(Clone, Debug)]
struct Task {
    stencils: Range<usize>,
    /// The first pack of them.
    pack: usize,
    /// How many nodes each has.
    count: usize,
    /// One chunk has all nodes.
    inside: bool,
    /// The chunk has their first nodes, and keeps account of them.
    own: bool,
}

/// The work of every chunk.
#[derive(Debug, Default)]
pub(super) struct Bends {
    tasks: Vec<Vec<Task>>,
    packs: Vec<Pack>,
    /// None wants any length: there are no roots to be found.
    flat: bool,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
}

impl Bends {
    pub(super) fn new(chunks: Chunks, stencils: &[Stencil]) -> Self {
        let owners = |s: &Stencil| {
            let mut list: Vec<usize> = s.nodes().iter().map(|&i| chunks.of(i as usize)).collect();
            let first = list[0];
            list.sort_unstable();
            list.dedup();
            (first, list)
        };
        let (mut tasks, mut packs) = (vec![Vec::new(); chunks.count()], Vec::new());
        let mut at = 0;
        while at < stencils.len() {
            let (keeper, list) = owners(&stencils[at]);
            let alike = |s: &&Stencil| s.count == stencils[at].count && owners(s) == (keeper, list.clone());
            let length = stencils[at..].iter().take_while(alike).count();
            for &c in &list {
                tasks[c].push(Task {
                    stencils: at..at + length,
                    pack: packs.len(),
                    count: stencils[at].count as usize,
                    inside: list.len() == 1,
                    own: c == keeper,
                });
            }
            for eight in stencils[at..at + length].chunks(EIGHT) {
                let mut pack = Pack { nodes: eight[0].nodes.map(|i| [i; EIGHT]), weights: [[0.0; EIGHT]; 4] };
                for (l, stencil) in eight.iter().enumerate() {
                    for a in 0..4 {
                        (pack.nodes[a][l], pack.weights[a][l]) = (stencil.nodes[a], stencil.weights[a]);
                    }
                }
                packs.push(pack);
            }
            at += length;
        }
        let all = |of: &dyn Fn(&Stencil) -> f64| stencils.iter().map(of).collect::<Vec<f64>>();
        let flat = stencils.iter().all(|s| s.rest == 0.0);
        Self { tasks, packs, flat, stiffness: all(&|s| s.stiffness), damping: all(&|s| s.damping) }
    }
}

/// Constants of all stencils.
#[derive(Clone, Copy)]
struct Given<'a> {
    rest: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
    flat: bool,
}

impl Springs {
    /// Adds the stencil forces of one chunk; returns the energy (J) of the stencils it keeps account of, and the work of their
    /// dampers (J) if that is wanted.
    pub(super) fn stencil_forces<const WANTED: Wanted>(
        &self,
        chunk: usize,
        memory: &[f64],
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        if self.stencils.is_empty() {
            return [0.0; 2];
        }
        let Constants { rest, bends, .. } = self.constants(memory);
        let [stiffness, damping] = bends.unwrap_or([&self.bends.stiffness, &self.bends.damping]);
        let flat = self.bends.flat && self.yielding.is_none();
        let given = Given { rest: &rest[self.ends.len()..], stiffness, damping, flat };
        match Kind::found() {
            Kind::Plain => self.stencil_forces_by::<[f64; EIGHT], WANTED>(chunk, given, moving, out),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.stencil_forces_avx2::<WANTED>(chunk, given, moving, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.stencil_forces_avx512::<WANTED>(chunk, given, moving, out) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn stencil_forces_avx2<const WANTED: Wanted>(
        &self,
        chunk: usize,
        given: Given,
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        self.stencil_forces_by::<crate::lanes::eight::avx2::Twice, WANTED>(chunk, given, moving, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    fn stencil_forces_avx512<const WANTED: Wanted>(
        &self,
        chunk: usize,
        given: Given,
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        self.stencil_forces_by::<crate::lanes::eight::avx512::Whole, WANTED>(chunk, given, moving, out)
    }

    #[inline(always)]
    fn stencil_forces_by<D: Doubles, const WANTED: Wanted>(
        &self,
        chunk: usize,
        given: Given,
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        let Out { first, elastic, damping } = out;
        self.check_rooms::<WANTED>(chunk, moving, first, [elastic, damping]);
        let mut sums = Sums::<D>::zero();
        for task in &self.bends.tasks[chunk] {
            if !task.own && WANTED == WORK {
                continue;
            }
            let before = sums;
            let [k, r, c] = [given.stiffness, given.rest, given.damping].map(|list| &list[task.stencils.clone()]);
            let packs = &self.bends.packs[task.pack..task.pack + task.stencils.len().div_ceil(EIGHT)];
            for (n, Pack { nodes, weights }) in packs.iter().enumerate() {
                let (nodes, weights) = (&nodes[..task.count], &weights[..task.count]);
                // SAFETY: nodes of stencils are there, by `Springs::new`.
                let [d, dv] = unsafe { D::weigh(moving.both, nodes, weights) };
                let k = some::<D>(k, n);
                let (pull, inverse2) = if given.flat {
                    let length2 = dot(d, d);
                    sums.energy = D::splat(0.5).times(k).fused(length2, sums.energy);
                    (k, D::splat(1.0).over(length2.larger(D::splat(TINY * TINY))))
                } else {
                    law(d, k, some::<D>(r, n), &mut sums.energy)
                };
                let mut force = times(d, pull);
                if self.damped {
                    let drag = brake(d, dv, some::<D>(c, n), inverse2);
                    if WANTED == WORK {
                        // SAFETY: as above.
                        let moved = unsafe { D::weigh_one(moving.moved, nodes, weights) };
                        sums.work = sums.work.minus(dot(drag, moved));
                    } else if WANTED == TOGETHER {
                        force = plus(force, drag);
                    } else {
                        hand_out::<D>(drag, nodes, weights, task.inside, first, damping);
                    }
                }
                if WANTED != WORK {
                    hand_out::<D>(force, nodes, weights, task.inside, first, elastic);
                }
            }
            if !task.own {
                sums = before;
            }
        }
        sums.total()
    }
}

/// Subtracts forces from the nodes that the chunk owns, by weights.
#[inline(always)]
fn hand_out<D: Doubles>(
    force: [D; 3],
    nodes: &[[u32; EIGHT]],
    weights: &[[f64; EIGHT]],
    inside: bool,
    first: usize,
    to: &mut [Padded],
) {
    if inside {
        // SAFETY: the chunk has all of them, by `Bends::new`, and a row for each of its nodes.
        return unsafe { D::hand_out(force, nodes, weights, first, to) };
    }
    for (nodes, weights) in nodes.iter().zip(weights) {
        D::scatter(times(force, D::splat(0.0).minus(D::load(weights))), nodes, first, to);
    }
}
