//! The primal formulation: metric and curvature tensors of curves, surfaces and solids.
//!
//! A shape and a material card become groups of elements, a file each; forces and stiffness are
//! their sums. Chunks of nodes are worked on side by side, each taking every element that touches it
//! and writing its own nodes, so results do not depend on the number of threads.
//!
//! Memory, where the rest shape may flow or edges break: rest strains group by group, rest lengths of grid edges, and for
//! each of these edges 1 or 0 as it holds or is broken. Otherwise there is none.
//!
//! ```text
//! flow:  where the strain is ε = √(2E / 2E at unit strain) > yield,
//!        s⁰ += (1 - e^(-rate dt)) (1 - yield/ε) (s - s⁰)      within `flow_limit` of where it was
//! tear:  an edge longer than (1 + tear) rest lengths breaks; a cell that has lost a side keeps its others as
//!        springs; bending across the edge is gone
//! ```

use super::element::{At, Group, NO_EDGE, Out};
use super::{Deformation, Elasticity, Flow, Weights, primal, published};
use crate::material::{Material, MaterialField};
use crate::parallel::{Chunks, Disjoint};
use crate::shape::Shape;
use crate::solve::BlockMatrix;
use glam::DVec3;
use std::sync::OnceLock;

/// All elements of a body.
#[derive(Debug)]
pub struct Metric {
    nodes: usize,
    chunks: Chunks,
    groups: Vec<Box<dyn Group>>,
    /// Edges of the grid or mesh, for measures of deformation, and those that may break.
    edges: Vec<[u32; 2]>,
    lengths: Vec<f64>,
    card: Material,
    inelastic: bool,
    tears: bool,
    damped: bool,
    limits: Vec<String>,
    prepared: OnceLock<()>,
}

impl Metric {
    /// Elements for a shape of this material.
    pub fn new(shape: &Shape, material: &MaterialField) -> Self {
        let primal::Parts { groups, limits } = primal::elements(shape, material);
        Self::from_groups(shape, material.card, groups, limits)
    }

    /// The same as GO prints it. It neither flows nor tears.
    pub fn published(shape: &Shape, material: &MaterialField) -> Self {
        let (groups, limits) = published::elements(shape, material);
        let card = Material { flow: 0.0, tear: f64::INFINITY, ..material.card };
        Self::from_groups(shape, card, groups, limits)
    }

    fn from_groups(shape: &Shape, card: Material, mut groups: Vec<Box<dyn Group>>, limits: Vec<String>) -> Self {
        let chunks = Chunks::new(shape.len());
        groups.retain(|g| g.len() > 0);
        let edges = edges(shape);
        let lengths = edges.iter().map(|&[a, b]| distance(&shape.rest_positions, a, b)).collect();
        let tears = card.tears() && shape.grid().is_some();
        if tears {
            let mut sorted: Vec<([u32; 2], u32)> =
                edges.iter().zip(0..).map(|(&[a, b], e)| ([a.min(b), a.max(b)], e)).collect();
            sorted.sort_unstable();
            let find = |[a, b]: [u32; 2]| {
                let key = [a.min(b), a.max(b)];
                sorted.binary_search_by_key(&key, |(pair, _)| *pair).map_or(NO_EDGE, |k| sorted[k].1)
            };
            groups.iter_mut().for_each(|g| g.join(&find));
        }
        groups.iter_mut().for_each(|g| g.arrange(chunks));
        let damped = groups.iter().any(|g| g.damped());
        let inelastic = card.flows() || tears;
        let (nodes, prepared) = (shape.len(), OnceLock::new());
        Self { nodes, chunks, groups, edges, lengths, card, inelastic, tears, damped, limits, prepared }
    }

    /// Rest strains of every group, rest lengths of edges, and which edges hold; all empty without memory.
    fn split<'a>(&self, memory: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64]) {
        if !self.inelastic {
            return (&[], &[], &[]);
        }
        let held = if self.tears { self.edges.len() } else { 0 };
        let (rests, rest) = memory.split_at(memory.len() - self.edges.len() - held);
        let (lengths, held) = rest.split_at(self.edges.len());
        (rests, lengths, held)
    }

    /// Every group with its rest strains.
    fn each<'a>(&'a self, mut rests: &'a [f64]) -> impl Iterator<Item = (&'a dyn Group, &'a [f64])> {
        self.groups.iter().map(move |group| {
            let (own, rest) = rests.split_at(if rests.is_empty() { 0 } else { group.numbers() });
            rests = rest;
            (&**group, own)
        })
    }

    /// Energy alone (J).
    pub fn energy(&self, memory: &[f64], x: &[DVec3]) -> f64 {
        let (rests, _, edges) = self.split(memory);
        self.each(rests).map(|(group, rests)| group.energy(At { rests, edges, x })).sum()
    }
}

fn distance(x: &[DVec3], a: u32, b: u32) -> f64 {
    x[a as usize].distance(x[b as usize])
}

fn edges(shape: &Shape) -> Vec<[u32; 2]> {
    match shape.grid() {
        Some(grid) => (0..grid.axes()).flat_map(|axis| grid.edges(axis)).collect(),
        None => {
            let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|[a, b]| [a.min(b), a.max(b)]);
            let mut all: Vec<[u32; 2]> = shape.triangles.iter().flat_map(sides).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
    }
}

impl Elasticity for Metric {
    fn memory(&self) -> Vec<f64> {
        let mut out = Vec::new();
        if self.inelastic {
            self.groups.iter().for_each(|g| g.memory(&mut out));
            out.extend(&self.lengths);
            if self.tears {
                out.resize(out.len() + self.edges.len(), 1.0);
            }
        }
        out
    }

    fn damped(&self) -> bool {
        self.damped
    }

    fn central(&self) -> bool {
        true
    }

    fn forces(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], elastic: &mut [DVec3], damping: &mut [DVec3]) -> f64 {
        let (rests, _, edges) = self.split(memory);
        let (f_all, g_all) = (Disjoint::new(elastic), Disjoint::new(damping));
        self.chunks.sum(|c, range| {
            // SAFETY: chunks are disjoint.
            let f = unsafe { f_all.slice(range.clone()) };
            // SAFETY: as above; empty where nothing is damped.
            let g = unsafe { g_all.slice(if self.damped { range.clone() } else { 0..0 }) };
            f.fill(DVec3::ZERO);
            g.fill(DVec3::ZERO);
            let mut out = Out { nodes: range, elastic: f, damping: g };
            let mut energy = 0.0;
            for (group, rests) in self.each(rests) {
                energy += group.forces(c, At { rests, edges, x }, v, &mut out);
            }
            [energy]
        })[0]
    }

    fn structure(&self) -> BlockMatrix {
        BlockMatrix::new(self.nodes, |visit| self.groups.iter().for_each(|g| g.stencils(visit)))
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
        self.prepared.get_or_init(|| self.groups.iter().for_each(|g| g.prepare(matrix)));
        let (rests, _, edges) = self.split(memory);
        let rows = matrix.rows_mut();
        self.chunks.each(|c, range| {
            // SAFETY: every chunk is taken once.
            let mut rows = unsafe { rows.chunk(c) };
            for (group, rests) in self.each(rests) {
                group.assemble(c, range.clone(), At { rests, edges, x }, tension_at, weights, exact, &mut rows);
            }
        });
    }

    fn deformation(&self, memory: &[f64], x: &[DVec3]) -> Deformation {
        let (_, lengths, held) = self.split(memory);
        let mut out = Deformation::default();
        for (e, &[a, b]) in self.edges.iter().enumerate().filter(|(e, _)| held.get(*e) != Some(&0.0)) {
            let rest = *lengths.get(e).unwrap_or(&self.lengths[e]);
            let change = (distance(x, a, b) - rest).abs();
            out.total += change;
            if rest > 0.0 {
                out.worst = out.worst.max(change / rest);
            }
        }
        out.mean = out.total / self.edges.len().max(1) as f64;
        out
    }

    fn stretch(&self, memory: &[f64], x: &[DVec3], out: &mut [f32]) {
        let (_, lengths, held) = self.split(memory);
        out.fill(0.0);
        for (e, &[a, b]) in self.edges.iter().enumerate().filter(|(e, _)| held.get(*e) != Some(&0.0)) {
            let rest = *lengths.get(e).unwrap_or(&self.lengths[e]);
            if rest > 0.0 {
                let change = (distance(x, a, b) / rest - 1.0) as f32;
                for i in [a as usize, b as usize] {
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
        self.groups.iter().map(|g| g.len()).sum()
    }

    fn inelastic(&self) -> bool {
        self.inelastic
    }

    fn flow(&self, memory: &mut [f64], x: &[DVec3], dt: f64) -> Flow {
        let mut out = Flow::default();
        if !self.inelastic || memory.is_empty() {
            return out;
        }
        let held_count = if self.tears { self.edges.len() } else { 0 };
        let (rests, tail) = memory.split_at_mut(memory.len() - self.edges.len() - held_count);
        let (lengths, held) = tail.split_at_mut(self.edges.len());
        if self.card.flows() {
            let mut left = &mut *rests;
            for group in &self.groups {
                let (own, others) = std::mem::take(&mut left).split_at_mut(group.numbers());
                out.flowed += group.flow(own, held, x, &self.card, dt);
                left = others;
            }
            let share = 1.0 - (-self.card.flow * dt).exp();
            for (e, &[a, b]) in self.edges.iter().enumerate() {
                let (rest, first) = (lengths[e], self.lengths[e]);
                let over = distance(x, a, b) - rest;
                let beyond = over.abs() - self.card.yield_strain * rest;
                if beyond > 0.0 {
                    let room = self.card.flow_limit * first;
                    lengths[e] = (rest + share * beyond.copysign(over)).clamp(first - room, first + room);
                }
            }
        }
        if self.tears {
            let tears = |e: usize| {
                let [a, b] = self.edges[e];
                held[e] != 0.0 && distance(x, a, b) > (1.0 + self.card.tear) * lengths[e]
            };
            out.broken = (0..held.len()).filter(|&e| tears(e)).count();
            if out.broken > 0 {
                let energy = |held: &[f64]| -> f64 {
                    self.each(rests).map(|(group, rests)| group.energy(At { rests, edges: held, x })).sum()
                };
                let before = energy(held);
                for e in 0..held.len() {
                    let [a, b] = self.edges[e];
                    if distance(x, a, b) > (1.0 + self.card.tear) * lengths[e] {
                        held[e] = 0.0;
                    }
                }
                out.torn = before - energy(held);
            }
        }
        out
    }

    fn edges<'a>(&self, memory: &'a [f64]) -> &'a [f64] {
        self.split(memory).2
    }
}
