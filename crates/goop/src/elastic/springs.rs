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

use super::four::Out;
use super::runs::Runs;
use super::{Deformation, Elasticity, Weights};
use crate::parallel::{Chunks, Disjoint};
use crate::solve::BlockMatrix;
use glam::{DMat3, DVec3};
use std::ops::Range;
use std::sync::OnceLock;

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
    fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }

    fn vector(&self, x: &[DVec3]) -> DVec3 {
        (0..self.count as usize).fold(DVec3::ZERO, |d, a| d + self.weights[a] * x[self.nodes[a] as usize])
    }
}

/// Below this length (m) a direction means nothing and is not used.
pub(super) const TINY: f64 = 1e-150;

/// All springs of a body.
#[derive(Debug)]
pub struct Springs {
    nodes: usize,
    chunks: Chunks,
    /// Ends of pairs: first those inside chunk 0, inside chunk 1, …, then those that cross.
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) stiffness: Vec<f64>,
    pub(super) damping: Vec<f64>,
    pub(super) runs: Runs,
    stencils: Vec<Stencil>,
    rests: Vec<f64>,
    inside: Vec<Range<usize>>,
    /// Per chunk: elements that touch it but do not lie in it (pairs), or that touch it (stencils).
    crossing: Vec<Vec<u32>>,
    touching: Vec<Vec<u32>>,
    positions: OnceLock<Positions>,
    /// The damper as printed: -δ (v_i - v_j).
    pub(super) as_printed: bool,
    pub(super) damped: bool,
    limits: Vec<String>,
}

/// Left of the diagonal, where the matrix keeps the mirror image only.
const MIRRORED: u32 = u32::MAX;

/// Where the blocks of every element are in the matrix.
#[derive(Debug)]
struct Positions {
    /// First end to second, and back where they belong to different chunks.
    pairs: Vec<[u32; 2]>,
    stencils: Vec<[u32; 16]>,
}

impl Springs {
    /// Takes springs in any order; `limits` are sentences for the user.
    pub fn new(nodes: usize, pairs: Vec<Pair>, stencils: Vec<Stencil>, as_printed: bool, limits: Vec<String>) -> Self {
        let chunks = Chunks::new(nodes);
        let owner = |p: &Pair| {
            let [a, b] = p.nodes.map(|i| chunks.of(i as usize));
            if a == b { a } else { chunks.count() }
        };
        let mut pairs = pairs;
        let runs = Runs::arrange(chunks, &mut pairs);
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
        Self {
            nodes,
            chunks,
            ends: pairs.iter().map(|p| p.nodes).collect(),
            stiffness: pairs.iter().map(|p| p.stiffness).collect(),
            damping: pairs.iter().map(|p| p.damping).collect(),
            rests: pairs.iter().map(|p| p.rest).chain(stencils.iter().map(|s| s.rest)).collect(),
            damped: pairs.iter().any(|p| p.damping > 0.0) || stencils.iter().any(|s| s.damping > 0.0),
            stencils,
            runs,
            inside,
            crossing,
            touching,
            positions: OnceLock::new(),
            as_printed,
            limits,
        }
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
        self.ends.len() * pair
            + self.runs.gathered() * 8
            + self.stencils.len() * (std::mem::size_of::<Stencil>() + 8)
            + self.nodes * node
    }

    /// Bytes of springs and positions that one assembly of the stiffness has to read.
    pub fn stiffness_bytes(&self) -> usize {
        self.ends.len() * (8 + 8 + 8 + 8 + 8)
            + self.stencils.len() * (std::mem::size_of::<Stencil>() + 8 + 64)
            + self.nodes * 24
    }

    /// k [ t I + (1 - t) û ûᵀ ] and the damping block, for a measured vector and its length where
    /// the tension is taken.
    #[inline(always)]
    fn block(&self, k: f64, c: f64, r: f64, d: DVec3, length: f64, weights: Weights, exact: bool) -> DMat3 {
        let u = d / d.length().max(TINY);
        let mut t = if length > TINY {
            1.0 - r / length
        } else if r == 0.0 {
            1.0
        } else {
            0.0
        };
        if !exact {
            t = t.max(0.0);
        }
        let uu = DMat3::from_cols(u * u.x, u * u.y, u * u.z);
        let (mut plain, mut along) = (weights.position * k * t, weights.position * k * (1.0 - t));
        if self.as_printed {
            plain += weights.velocity * c;
        } else {
            along += weights.velocity * c;
        }
        DMat3::from_diagonal(DVec3::splat(plain)) + uu * along
    }
}

impl Elasticity for Springs {
    fn memory(&self) -> Vec<f64> {
        self.rests.clone()
    }

    fn damped(&self) -> bool {
        self.damped
    }

    fn central(&self) -> bool {
        !(self.as_printed && self.damped)
    }

    fn forces(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], elastic: &mut [DVec3], damping: &mut [DVec3]) -> f64 {
        let pairs = self.ends.len();
        let (f_all, g_all) = (Disjoint::new(elastic), Disjoint::new(damping));
        self.chunks.sum(|c, range| {
            // SAFETY: chunks are disjoint.
            let f = unsafe { f_all.slice(range.clone()) };
            // SAFETY: as above; empty where nothing is damped.
            let g = unsafe { g_all.slice(if self.damped { range.clone() } else { 0..0 }) };
            f.fill(DVec3::ZERO);
            g.fill(DVec3::ZERO);
            let mut energy =
                self.pair_forces(c, memory, x, v, Out { first: range.start, elastic: &mut *f, damping: &mut *g });
            for &s in &self.touching[c] {
                let (stencil, rest) = (&self.stencils[s as usize], memory[pairs + s as usize]);
                let d = stencil.vector(x);
                let length = d.length();
                let u = d / length.max(TINY);
                let over = length - rest;
                let force = stencil.stiffness * over * u;
                let drag = if self.damped { stencil.damping * stencil.vector(v).dot(u) * u } else { DVec3::ZERO };
                for (a, &i) in stencil.nodes().iter().enumerate() {
                    if range.contains(&(i as usize)) {
                        f[i as usize - range.start] -= stencil.weights[a] * force;
                        if self.damped {
                            g[i as usize - range.start] -= stencil.weights[a] * drag;
                        }
                    }
                }
                if range.contains(&(stencil.nodes[0] as usize)) {
                    energy += 0.5 * stencil.stiffness * over * over;
                }
            }
            [energy]
        })[0]
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
        let positions = self.positions.get_or_init(|| {
            let at = |i: u32, j: u32| matrix.position(i, j).unwrap_or(MIRRORED);
            Positions {
                pairs: self.ends.iter().map(|&[i, j]| [at(i, j), at(j, i)]).collect(),
                stencils: (self.stencils.iter())
                    .map(|s| {
                        std::array::from_fn(|p| {
                            let (a, b) = (p / 4, p % 4);
                            if a.max(b) < s.count as usize { at(s.nodes[a], s.nodes[b]) } else { MIRRORED }
                        })
                    })
                    .collect(),
            }
        });
        let pairs = self.ends.len();
        let pair_block = |s: usize, i: usize, j: usize| {
            let length = (tension_at[j] - tension_at[i]).length();
            self.block(self.stiffness[s], self.damping[s], memory[s], x[j] - x[i], length, weights, exact)
        };
        let rows = matrix.rows_mut();
        self.chunks.each(|c, range| {
            // SAFETY: every chunk is taken once.
            let mut rows = unsafe { rows.chunk(c) };
            for s in self.inside[c].clone() {
                let [i, j] = self.ends[s].map(|i| i as usize);
                let block = pair_block(s, i, j);
                rows.add_diagonal(i, &block);
                rows.add_diagonal(j, &block);
                rows.add(positions.pairs[s][0], &-block);
            }
            for &s in &self.crossing[c] {
                let s = s as usize;
                let [i, j] = self.ends[s].map(|i| i as usize);
                let block = pair_block(s, i, j);
                let (own, side) = if range.contains(&i) { (i, 0) } else { (j, 1) };
                rows.add_diagonal(own, &block);
                rows.add(positions.pairs[s][side], &-block);
            }
            for &s in &self.touching[c] {
                let stencil = &self.stencils[s as usize];
                let rest = memory[pairs + s as usize];
                let (d, length) = (stencil.vector(x), stencil.vector(tension_at).length());
                let block = self.block(stencil.stiffness, stencil.damping, rest, d, length, weights, exact);
                let n = stencil.count as usize;
                for a in 0..n {
                    if range.contains(&(stencil.nodes[a] as usize)) {
                        for b in 0..n {
                            let position = positions.stencils[s as usize][4 * a + b];
                            if position != MIRRORED {
                                rows.add(position, &(block * (stencil.weights[a] * stencil.weights[b])));
                            }
                        }
                    }
                }
            }
        });
    }

    fn deformation(&self, memory: &[f64], x: &[DVec3]) -> Deformation {
        let mut out = Deformation::default();
        for (s, &[i, j]) in self.ends.iter().enumerate() {
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
        for (s, &[i, j]) in self.ends.iter().enumerate() {
            if memory[s] > 0.0 {
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
}
