//! Forces of the bend and twist stencils, four at a time.
//!
//! On a grid the stencils of a line join nodes that lie side by side in memory. Kept together (see `runs`, which does so for
//! pairs), four of them are read as they lie. What a run measures is found first and handed to its nodes then, one node of all
//! stencils after the other: they overlap. Stencils without such neighbours are gathered one by one.

use super::four::{Out, Places, Sums, WORK, Wanted, brake, law};
use super::springs::{Springs, Stencil};
use super::yielding::Constants;
use crate::lanes::{Lanes, WIDE};
use crate::parallel::Chunks;
use glam::DVec3;
use std::ops::Range;

/// Stencils of a run, at most.
const LONGEST: usize = 64;

/// Stencils whose nodes follow one another, all of them in one chunk; as many as a multiple of four.
#[derive(Clone, Debug)]
struct Run {
    stencils: Range<usize>,
    /// Nodes of the first.
    nodes: [u32; 4],
    count: usize,
}

/// The work of every chunk.
#[derive(Debug, Default)]
pub(super) struct BendRuns {
    runs: Vec<Vec<Run>>,
    alone: Vec<Vec<u32>>,
    /// Weights of every stencil's first node, second, third and fourth.
    weights: [Vec<f64>; 4],
    stiffness: Vec<f64>,
    damping: Vec<f64>,
}

impl BendRuns {
    pub(super) fn new(chunks: Chunks, stencils: &[Stencil]) -> Self {
        let (mut runs, mut alone) = (vec![Vec::new(); chunks.count()], vec![Vec::new(); chunks.count()]);
        let chunk = |s: &Stencil| {
            let own = chunks.of(s.nodes[0] as usize);
            s.nodes.iter().all(|&i| chunks.of(i as usize) == own).then_some(own)
        };
        let mut at = 0;
        while at < stencils.len() {
            let first = &stencils[at];
            let follows = |n: usize| {
                stencils.get(at + n).is_some_and(|s| {
                    s.count == first.count && chunk(s) == chunk(first) && s.nodes == first.nodes.map(|i| i + n as u32)
                })
            };
            let mut length = (1..LONGEST).take_while(|&n| follows(n)).count() + 1;
            length = if length < WIDE { 1 } else { length / WIDE * WIDE };
            match chunk(first) {
                Some(own) if length > 1 => {
                    let run = Run { stencils: at..at + length, nodes: first.nodes, count: first.count as usize };
                    runs[own].push(run);
                }
                _ => {
                    length = 1;
                    let mut owners: Vec<usize> =
                        first.nodes[..first.count as usize].iter().map(|&i| chunks.of(i as usize)).collect();
                    owners.sort_unstable();
                    owners.dedup();
                    owners.into_iter().for_each(|c| alone[c].push(at as u32));
                }
            }
            at += length;
        }
        let all = |of: &dyn Fn(&Stencil) -> f64| stencils.iter().map(of).collect::<Vec<f64>>();
        let weights = std::array::from_fn(|a| all(&|s| s.weights[a]));
        Self { runs, alone, weights, stiffness: all(&|s| s.stiffness), damping: all(&|s| s.damping) }
    }
}

/// Positions and the like of a run, as plain numbers.
#[derive(Clone, Copy)]
struct Given<'a> {
    x: &'a [f64],
    v: &'a [f64],
    from: &'a [f64],
    rest: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
}

impl Springs {
    /// Adds the stencil forces of one chunk; returns the energy (J) of the stencils it keeps account of, and the work of their
    /// dampers (J) if that is wanted.
    pub(super) fn stencil_forces<const WANTED: Wanted>(
        &self,
        chunk: usize,
        memory: &[f64],
        places: Places,
        out: Out,
    ) -> [f64; 2] {
        if self.stencils.is_empty() {
            return [0.0; 2];
        }
        let Constants { rest, bends, .. } = self.constants(memory);
        let [stiffness, damping] = bends.unwrap_or([&self.bends.stiffness, &self.bends.damping]);
        let [x, v, from] = [places.x, places.v, places.from].map(bytemuck::cast_slice);
        let given = Given { x, v, from, rest: &rest[self.ends.len()..], stiffness, damping };
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.stencil_forces_avx2::<WANTED>(chunk, places, given, out) };
        }
        self.stencil_forces_by::<[f64; WIDE], WANTED>(chunk, places, given, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn stencil_forces_avx2<const WANTED: Wanted>(
        &self,
        chunk: usize,
        places: Places,
        given: Given,
        out: Out,
    ) -> [f64; 2] {
        self.stencil_forces_by::<crate::lanes::avx2::Register, WANTED>(chunk, places, given, out)
    }

    #[inline(always)]
    fn stencil_forces_by<L: Lanes, const WANTED: Wanted>(
        &self,
        chunk: usize,
        places: Places,
        given: Given,
        out: Out,
    ) -> [f64; 2] {
        let Out { first, elastic, damping } = out;
        let mut sums = Sums::<L>::zero();
        let (mut forces, mut drags) = ([0.0; 3 * LONGEST], [0.0; 3 * LONGEST]);
        for run in &self.bends.runs[chunk] {
            let size = 3 * run.stencils.len();
            self.measure::<L, WANTED>(run, given, &mut sums, &mut forces[..size], &mut drags[..size]);
            if WANTED == WORK {
                continue;
            }
            for a in 0..run.count {
                let weights = &self.bends.weights[a][run.stencils.clone()];
                let start = 3 * (run.nodes[a] as usize - first);
                hand_out::<L>(weights, &forces[..size], &mut bytemuck::cast_slice_mut(elastic)[start..start + size]);
                if !damping.is_empty() {
                    hand_out::<L>(weights, &drags[..size], &mut bytemuck::cast_slice_mut(damping)[start..start + size]);
                }
            }
        }
        let [mut energy, mut work] = sums.total();
        for list in self.bends.alone[chunk].chunks(WIDE) {
            // The last few are filled up with stencils of no strength.
            let (mut k, mut r, mut c) = ([0.0; WIDE], [0.0; WIDE], [0.0; WIDE]);
            let (mut d, mut dv, mut moved) = ([[0.0; 3]; WIDE], [[0.0; 3]; WIDE], [[0.0; 3]; WIDE]);
            for (l, &s) in list.iter().enumerate() {
                let (s, stencil) = (s as usize, &self.stencils[s as usize]);
                (k[l], c[l], r[l]) = (given.stiffness[s], given.damping[s], given.rest[s]);
                d[l] = stencil.vector(places.x).to_array();
                if self.damped {
                    dv[l] = stencil.vector(places.v).to_array();
                }
                if WANTED == WORK {
                    moved[l] = (stencil.vector(places.x) - stencil.vector(places.from)).to_array();
                }
            }
            let mut each = L::splat(0.0);
            let vectors = L::load_vectors(bytemuck::cast_ref(&d));
            let (pull, inverse2) = law(vectors, L::load(&k), L::load(&r), &mut each);
            let mut force = L::scale(vectors, pull);
            let (mut forces, mut drags, mut energies, mut works) =
                ([[0.0; 3]; WIDE], [[0.0; 3]; WIDE], [0.0; WIDE], [0.0; WIDE]);
            if self.damped {
                let rates = L::load_vectors(bytemuck::cast_ref(&dv));
                let drag = brake(vectors, rates, L::load(&c), inverse2);
                L::dots(drag, L::load_vectors(bytemuck::cast_ref(&moved))).store(&mut works);
                if damping.is_empty() {
                    force = L::plus_vectors(force, drag);
                }
                L::store_vectors(drag, bytemuck::cast_mut(&mut drags));
            }
            L::store_vectors(force, bytemuck::cast_mut(&mut forces));
            each.store(&mut energies);
            for (l, &s) in list.iter().enumerate() {
                let stencil = &self.stencils[s as usize];
                if WANTED != WORK {
                    scatter(stencil, first, elastic, forces[l].into());
                    if !damping.is_empty() {
                        scatter(stencil, first, damping, drags[l].into());
                    }
                }
                // The chunk of the first node keeps the account.
                if self.chunks().of(stencil.nodes[0] as usize) == chunk {
                    energy += energies[l];
                    work -= works[l];
                }
            }
        }
        [energy, work]
    }

    /// Forces of a run, apart or together.
    #[inline(always)]
    fn measure<L: Lanes, const WANTED: Wanted>(
        &self,
        run: &Run,
        given: Given,
        sums: &mut Sums<L>,
        forces: &mut [f64],
        drags: &mut [f64],
    ) {
        let (forces, drags) = (forces.as_chunks_mut().0, drags.as_chunks_mut().0);
        for n in 0..run.stencils.len() / WIDE {
            let s = run.stencils.start + WIDE * n;
            let d = self.vectors::<L>(run, n, given.x);
            let (k, r) = (four(given.stiffness, s), four(given.rest, s));
            let (pull, inverse2) = law(d, k, r, &mut sums.energy);
            let mut force = L::scale(d, pull);
            if self.damped {
                let drag = brake(d, self.vectors::<L>(run, n, given.v), four(given.damping, s), inverse2);
                if WANTED == WORK {
                    let moved = L::minus_vectors(d, self.vectors::<L>(run, n, given.from));
                    sums.work = sums.work.minus(L::dots(drag, moved));
                } else if WANTED == super::four::TOGETHER {
                    force = L::plus_vectors(force, drag);
                } else {
                    L::store_vectors(drag, &mut drags[n]);
                }
            }
            if WANTED != WORK {
                L::store_vectors(force, &mut forces[n]);
            }
        }
    }

    /// What four stencils of a run measure.
    #[inline(always)]
    fn vectors<L: Lanes>(&self, run: &Run, n: usize, of: &[f64]) -> [L; 3] {
        let s = run.stencils.start + WIDE * n;
        let mut d = [L::splat(0.0); 3];
        for a in 0..run.count {
            let start = 3 * (run.nodes[a] as usize + WIDE * n);
            let x = L::load_vectors(of[start..start + 3 * WIDE].first_chunk().expect("twelve numbers"));
            d = L::plus_vectors(d, L::scale(x, four(&self.bends.weights[a], s)));
        }
        d
    }
}

#[inline(always)]
fn four<L: Lanes>(of: &[f64], at: usize) -> L {
    L::load(of[at..at + WIDE].first_chunk().expect("four numbers"))
}

/// Subtracts forces from nodes one after another, by weights.
#[inline(always)]
fn hand_out<L: Lanes>(weights: &[f64], forces: &[f64], to: &mut [f64]) {
    let (weights, forces, to) = (weights.as_chunks().0, forces.as_chunks().0, to.as_chunks_mut().0);
    for n in 0..weights.len().min(forces.len()).min(to.len()) {
        let force = L::scale(L::load_vectors(&forces[n]), L::load(&weights[n]));
        L::store_vectors(L::minus_vectors(L::load_vectors(&to[n]), force), &mut to[n]);
    }
}

/// Subtracts the force from every node that the chunk owns, by its weight.
#[inline(always)]
fn scatter(stencil: &Stencil, first: usize, to: &mut [DVec3], force: DVec3) {
    for a in 0..stencil.count as usize {
        if let Some(to) = to.get_mut((stencil.nodes[a] as usize).wrapping_sub(first)) {
            *to -= stencil.weights[a] * force;
        }
    }
}
