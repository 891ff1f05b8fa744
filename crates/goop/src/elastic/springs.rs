//! Springs: pairs of nodes, and stencils of three or four that resist bending.
//!
//! Every element measures one vector, a weighted difference of positions, and
//! wants its length to be `r`:
//! ```text
//! d = Σ c_a x_a      pair: c = (1, -1)      bend: c ∝ (1, -2, 1)      twist: (1, -1, -1, 1)
//! E   = ½ k (|d| - r)²                                                  [J]
//! f_a = -k (1 - r/|d|) c_a d            [GO-spring] eq 12, [Chang] 3.2   [N]
//! K_ab = c_a c_b k [ (1 - r/|d|) I + (r/|d|) û ûᵀ ],  û = d/|d|          [N/m]
//! damping: f_a = -δ c_a (ḋ·û) û                                          [N]
//! ```
//! Σ c_a = 0, so momentum is conserved; f ∥ d, so angular momentum is.
//!
//! Departs from the papers: the damper acts along the spring (theirs, -δ ḋ, brakes
//! rigid spin; it is kept as `as_printed`); bending is a stencil, because a skip
//! spring has no linear stiffness on a flat sheet; the implicit stiffness clamps
//! 1 - r/|d| at zero, without which a compressed spring makes it indefinite.

use super::assembly::{At, Positions};
use super::bends::Bends;
use super::linked::Linking;
use super::order::{Pack, Task, arrange};
use super::pairs::{APART, Out, TOGETHER, WORK, Wanted};
use super::rooms::{Moving, Rooms, part};
use super::yielding::Yielding;
use super::{Deformation, Elasticity, Flow, Weights};
use crate::lanes::eight::Padded;
use crate::parallel::{Chunks, Disjoint};
use crate::solve::BlockMatrix;
use glam::DVec3;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A spring between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The two nodes.
    pub nodes: [u32; 2],
    /// k (N/m).
    pub stiffness: f64,
    /// δ (N s/m).
    pub damping: f64,
    /// r (m).
    pub rest: f64,
}

/// A bend or twist element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stencil {
    /// Up to four nodes; unused ones repeat the last with weight 0.
    pub nodes: [u32; 4],
    /// How many are used.
    pub count: u8,
    /// c_a; they add up to 0.
    pub weights: [f64; 4],
    /// k (N/m, for dimensionless weights).
    pub stiffness: f64,
    /// δ (N s/m).
    pub damping: f64,
    /// r (m): what |d| is at rest.
    pub rest: f64,
}

impl Stencil {
    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }

    /// What it measures. Unused nodes have no weight.
    #[inline(always)]
    pub(super) fn vector(&self, x: &[DVec3]) -> DVec3 {
        let [a, b, c, d] = self.nodes.map(|i| x[i as usize]);
        self.weights[0] * a + self.weights[1] * b + self.weights[2] * c + self.weights[3] * d
    }
}

/// Below this length (m) a direction means nothing and is not used.
pub(super) const TINY: f64 = 1e-150;

/// The number of the next springs.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// All springs of a body.
#[derive(Debug)]
pub struct Springs {
    nodes: usize,
    chunks: Chunks,
    /// Ends of pairs: first those inside chunk 0, inside chunk 1, …, then those that cross.
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) stiffness: Vec<f64>,
    pub(super) damping: Vec<f64>,
    /// By chunk: which pairs, and which of their ends.
    pub(super) tasks: Vec<Vec<Task>>,
    pub(super) packs: Vec<Pack>,
    rooms: Rooms,
    pub(super) stencils: Vec<Stencil>,
    pub(super) bends: Bends,
    pub(super) rests: Vec<f64>,
    pub(super) inside: Vec<Range<usize>>,
    /// Per chunk: elements that touch it but do not lie in it (pairs), or that touch it (stencils).
    pub(super) crossing: Vec<Vec<u32>>,
    pub(super) touching: Vec<Vec<u32>>,
    positions: OnceLock<Positions>,
    /// Whether every block of the matrix is a link.
    linkable: OnceLock<bool>,
    /// Tells springs apart.
    number: u64,
    /// The damper as printed: -δ (v_i - v_j).
    pub(super) as_printed: bool,
    pub(super) damped: bool,
    pub(super) yielding: Option<Yielding>,
    pub(super) limits: Vec<String>,
}

impl Springs {
    /// Takes springs in any order; `limits` are sentences for the user.
    ///
    /// # Panics
    /// Panics where a spring has a node beyond the last.
    pub fn new(nodes: usize, pairs: Vec<Pair>, stencils: Vec<Stencil>, as_printed: bool, limits: Vec<String>) -> Self {
        // Forces rely on this.
        let all = pairs.iter().flat_map(|p| &p.nodes).chain(stencils.iter().flat_map(|s| &s.nodes));
        assert!(all.into_iter().all(|&i| (i as usize) < nodes));
        let chunks = Chunks::new(nodes);
        let owner = |p: &Pair| {
            let [a, b] = p.nodes.map(|i| chunks.of(i as usize));
            if a == b { a } else { chunks.count() }
        };
        let mut pairs = pairs;
        let (tasks, packs) = arrange(chunks, &mut pairs);
        let mut inside = vec![0..0; chunks.count()];
        let mut crossing = vec![Vec::new(); chunks.count()];
        for (s, pair) in pairs.iter().enumerate() {
            let c = owner(pair);
            if c < chunks.count() {
                let range = &mut inside[c];
                *range = if range.start == range.end { s..s + 1 } else { range.start..s + 1 };
            } else {
                for i in pair.nodes {
                    crossing[chunks.of(i as usize)].push(s as u32);
                }
            }
        }
        let mut touching = vec![Vec::new(); chunks.count()];
        for (s, stencil) in stencils.iter().enumerate() {
            for i in stencil.nodes() {
                let list: &mut Vec<u32> = &mut touching[chunks.of(*i as usize)];
                if list.last() != Some(&(s as u32)) {
                    list.push(s as u32);
                }
            }
        }
        let damped = pairs.iter().any(|p| p.damping > 0.0) || stencils.iter().any(|s| s.damping > 0.0);
        Self {
            nodes,
            chunks,
            tasks,
            packs,
            rooms: Rooms::new(chunks, damped),
            ends: pairs.iter().map(|p| p.nodes).collect(),
            stiffness: pairs.iter().map(|p| p.stiffness).collect(),
            damping: pairs.iter().map(|p| p.damping).collect(),
            rests: pairs.iter().map(|p| p.rest).chain(stencils.iter().map(|s| s.rest)).collect(),
            damped,
            bends: Bends::new(chunks, &stencils),
            stencils,
            inside,
            crossing,
            touching,
            positions: OnceLock::new(),
            linkable: OnceLock::new(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            as_printed,
            yielding: None,
            limits,
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// What unchecked places of forces rely on, beside `new`.
    pub(super) fn check_rooms<const WANTED: Wanted>(
        &self,
        chunk: usize,
        moving: Moving,
        first: usize,
        [elastic, damping]: [&[Padded]; 2],
    ) {
        let range = self.chunks.range(chunk);
        assert!(moving.both.len() == self.nodes && (WANTED != WORK || moving.moved.len() == self.nodes));
        assert!(first == range.start && (WANTED == WORK || elastic.len() == range.len() + 1));
        assert!(!(WANTED == APART && self.damped) || damping.len() == range.len() + 1);
    }

    /// Forces, or their sum, or the work of damping; with the energy.
    fn evaluate<const WANTED: Wanted>(
        &self,
        memory: &[f64],
        [x, v, from]: [&[DVec3]; 3],
        elastic: &mut [DVec3],
        damping: &mut [DVec3],
    ) -> [f64; 2] {
        let (f_all, g_all) = (Disjoint::new(elastic), Disjoint::new(damping));
        self.rooms.sum([x, v, from], |c, range, moving| {
            // SAFETY: chunks are disjoint.
            let f = unsafe { f_all.slice(part(WANTED != WORK, &range)) };
            // SAFETY: as above; empty where nothing is damped.
            let g = unsafe { g_all.slice(part(WANTED == APART && self.damped, &range)) };
            self.rooms.with(c, [f, g], |[elastic, damping]| {
                let out = Out { first: range.start, elastic: &mut *elastic, damping: &mut *damping };
                let pairs = self.pair_forces::<WANTED>(c, memory, moving, out);
                let out = Out { first: range.start, elastic, damping };
                let bends = self.stencil_forces::<WANTED>(c, memory, moving, out);
                [pairs[0] + bends[0], pairs[1] + bends[1]]
            })
        })
    }

    /// The pairs, as built (rest lengths may have moved since: see the memory).
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        (0..self.ends.len()).map(|s| Pair {
            nodes: self.ends[s],
            stiffness: self.stiffness[s],
            damping: self.damping[s],
            rest: self.rests[s],
        })
    }

    /// The bend and twist elements.
    pub fn stencils(&self) -> &[Stencil] {
        &self.stencils
    }

    /// Bytes one evaluation of the forces has to move.
    pub fn force_bytes(&self) -> usize {
        let pair = 8 + 8 + if self.damped { 8 } else { 0 };
        let node = 24 * if self.damped { 4 } else { 2 };
        self.ends.len() * pair + self.stencils.len() * (std::mem::size_of::<Stencil>() + 8) + self.nodes * node
    }

    /// Bytes of springs and positions that one assembly of the stiffness has to read.
    pub fn stiffness_bytes(&self) -> usize {
        self.ends.len() * (8 + 8 + 8 + 8 + 8)
            + self.stencils.len() * (std::mem::size_of::<Stencil>() + 8 + 64)
            + self.nodes * 24
    }
}

impl Elasticity for Springs {
    fn memory(&self) -> Vec<f64> {
        self.memory_of(&self.rests, None)
    }

    fn carry_over(&self, old: &[f64]) -> Vec<f64> {
        let (n, fresh) = (self.rests.len(), self.memory());
        match old.len() {
            // Without springs that may break there are only rest lengths.
            len if len == n => self.memory_of(old, None),
            len if len == fresh.len() => self.memory_of(&old[..n], Some(self.edges_of(old))),
            len if len > 3 * n && !self.breakable() => self.memory_of(&old[..n], None),
            _ => fresh,
        }
    }

    fn damped(&self) -> bool {
        self.damped
    }

    fn central(&self) -> bool {
        !(self.as_printed && self.damped)
    }

    fn forces(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], elastic: &mut [DVec3], damping: &mut [DVec3]) -> f64 {
        self.evaluate::<APART>(memory, [x, v, &[]], elastic, damping)[0]
    }

    fn total(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], total: &mut [DVec3], _: &mut [DVec3]) -> f64 {
        self.evaluate::<TOGETHER>(memory, [x, v, &[]], total, &mut [])[0]
    }

    fn account(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], from: &[DVec3], _: [&mut [DVec3]; 2]) -> [f64; 2] {
        self.evaluate::<WORK>(memory, [x, v, from], &mut [], &mut [])
    }

    fn structure(&self) -> BlockMatrix {
        BlockMatrix::new(self.nodes, |visit| {
            self.ends.iter().for_each(|ends| visit(ends));
            self.stencils.iter().for_each(|s| visit(s.nodes()));
        })
    }

    fn stiffness_under_tension(
        &self,
        memory: &[f64],
        x: &[DVec3],
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        matrix: &mut BlockMatrix,
    ) {
        let at = At { constants: self.constants(memory), x, tension_at, weights, exact };
        if matrix.may_link() && !exact && *self.linkable.get_or_init(|| self.linkable()) {
            if !matrix.links_mut().is_prepared(self.number) {
                let made = self.made(matrix);
                matrix.links_mut().prepare(self.number, |block| made[block]);
            }
            let tension_at = (!std::ptr::eq(x, tension_at)).then_some(tension_at);
            matrix.links_mut().fill(x, tension_at, &Linking { weights, as_printed: self.as_printed });
            return;
        }
        let positions = self.positions.get_or_init(|| Positions::new(self, matrix));
        if matrix.may_be_single() && !exact {
            let rows = matrix.singles_mut();
            self.chunks.each(|c, range| {
                // SAFETY: every chunk is taken once.
                let mut rows = unsafe { rows.chunk(c) };
                self.assemble(c, range, at, positions, &mut rows);
                rows.close();
            });
            return;
        }
        let rows = matrix.rows_mut();
        self.chunks.each(|c, range| {
            // SAFETY: every chunk is taken once.
            let mut rows = unsafe { rows.chunk(c) };
            self.assemble(c, range, at, positions, &mut rows);
        });
    }

    fn deformation(&self, memory: &[f64], x: &[DVec3]) -> Deformation {
        let mut out = Deformation::default();
        let left = self.constants(memory).stiffness;
        for (s, &[i, j]) in self.ends.iter().enumerate().filter(|(s, _)| left[*s] != 0.0) {
            let change = ((x[j as usize] - x[i as usize]).length() - memory[s]).abs();
            out.total += change;
            if memory[s] > 0.0 {
                out.worst = out.worst.max(change / memory[s]);
            }
        }
        out.mean = out.total / self.ends.len().max(1) as f64;
        out
    }

    fn stretch(&self, memory: &[f64], x: &[DVec3], out: &mut [f32]) {
        out.fill(0.0);
        let left = self.constants(memory).stiffness;
        for (s, &[i, j]) in self.ends.iter().enumerate() {
            if memory[s] > 0.0 && left[s] != 0.0 {
                let change = ((x[j as usize] - x[i as usize]).length() / memory[s] - 1.0) as f32;
                for i in [i as usize, j as usize] {
                    if change.abs() > out[i].abs() {
                        out[i] = change;
                    }
                }
            }
        }
    }

    fn limits(&self) -> &[String] {
        &self.limits
    }

    fn elements(&self) -> usize {
        self.ends.len() + self.stencils.len()
    }

    fn links(&self) -> &[[u32; 2]] {
        &self.ends
    }

    fn inelastic(&self) -> bool {
        self.yielding.is_some()
    }

    fn flow(&self, memory: &mut [f64], x: &[DVec3], dt: f64) -> Flow {
        self.flow_and_break(memory, x, dt)
    }

    fn edges<'a>(&self, memory: &'a [f64]) -> &'a [f64] {
        self.edges_of(memory)
    }
}
