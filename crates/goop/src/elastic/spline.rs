//! Controlled-continuity spline: an energy quadratic in the displacement e from a reference
//! shape, measured in the axes of a rigid frame.
//!
//! ```text
//! E = ½ Σ_j (|j|!/j!) ∫ ŵ_j |∂_j e|²        |j| ≤ 2        [TW] eq 13-16           [J]
//! K = Σ_j (|j|!/j!) D_jᵀ W_j D_j                            [TW] eq 31              [N/m]
//! ```
//! ∂ are derivatives by arc length at rest (see `spline_rows`); rows of D whose stencil leaves the
//! grid or holds a broken edge are zero. K is symmetric and positive semi-definite by construction.
//!
//! | form | first derivatives | second | |
//! |---|---|---|---|
//! | published | ŵ₁₀ on all components | ŵ₂₀, ŵ₁₁ on all | weights given, raw |
//! | card, curve | EA along the tangent | EI across it | |
//! | card, surface | Eh in the surface | D across it, mixed D(1-ν), or D where the whole rim is held | |
//! | card, solid | E on all components | none | |
//!
//! Departs from the paper: scalar weights cannot carry both stretching and bending, because ŵ₁₀ = Eh
//! holds the normal like a pretension; so the card form has a weight for each direction.
//! The card form has Poisson's ratio 0 in stretching. A locally turned part costs energy as
//! if it were stretched: the energy is for displacements small beside the shape.

use super::linear::{Group, Linear};
use super::spline_rows::{Order, Row, Rows};
use super::{Deformation, Elasticity, Weights};
use crate::material::MaterialField;
use crate::shape::{Dimension, Shape};
use crate::solve::{BlockMatrix, SparseMatrix};
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::PI;

/// On which components of the displacement a row acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    All,
    /// Along the row's direction: n nᵀ.
    Along,
    /// Across it: 1 - n nᵀ.
    Across,
}

/// How the planes of body axes mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planes {
    /// All three share one matrix.
    Shared,
    /// The row's direction is body axis 0 (a straight curve) or 2 (a flat surface).
    Apart(usize),
    /// One matrix over all three.
    Mixed,
}

/// A row with its weight, binomial factor and measure multiplied in.
#[derive(Clone, Copy, Debug)]
struct Term {
    row: Row,
    weight: f64,
    on: On,
}

/// The spline energy of a body.
#[derive(Debug)]
pub struct Spline {
    nodes: usize,
    terms: Vec<Term>,
    /// ŵ₀₀ times the measure of each node (N/m); empty where there is none.
    zero: Vec<f64>,
    planes: Planes,
    axes: DQuat,
    edges: Vec<[u32; 2]>,
    lengths: Vec<f64>,
    rest: Vec<DVec3>,
    masses: Vec<f64>,
    boundary: Vec<u32>,
    poisson: f64,
    tears: bool,
    /// β of C = βK (s).
    pub damping_time: f64,
    /// The published weights rather than the card.
    published: bool,
    limits: Vec<String>,
}

impl Spline {
    /// The energy of a grid; none for a triangle mesh.
    pub fn new(shape: &Shape, material: &MaterialField, masses: &[f64]) -> Option<Self> {
        let grid = shape.grid()?;
        let Rows { rows, edges, lengths } = Rows::new(shape, grid);
        let (published, planes, axes) = match (&material.weights, shape.dimension) {
            (Some(_), _) => (true, Planes::Shared, DQuat::IDENTITY),
            (None, Dimension::Solid) => (false, Planes::Shared, DQuat::IDENTITY),
            (None, _) => {
                let (planes, axes) = align(shape);
                (false, planes, axes)
            }
        };
        let turn = axes.inverse();
        let terms: Vec<Term> = rows
            .into_iter()
            .filter_map(|row| {
                let (weight, on) = weigh(shape.dimension, material, &row)?;
                Some(Term { row: Row { direction: turn * row.direction, ..row }, weight, on })
            })
            .collect();
        let zero = match &material.weights {
            Some(w) if w.zero > 0.0 => {
                let measures = shape.node_measures();
                (0..shape.len()).map(|i| w.zero * material.weight_scale.at(i) * measures[i]).collect()
            }
            _ => Vec::new(),
        };
        let size = shape.size();
        let all: Vec<u32> = (0..shape.len() as u32).collect();
        let card = crate::material::Material {
            damping: material.damping.mean(&all),
            young: material.young.mean(&all),
            density: material.density.mean(&all),
            ..material.card
        };
        let mut limits = Vec::new();
        if !published {
            let poisson = card.poisson;
            if poisson.abs() > 1e-9 && shape.dimension != Dimension::Curve {
                limits.push(format!(
                    "the spline energy stretches as if Poisson's ratio were 0 instead of {poisson}: its shear modulus is \
                     {:.0} % above that of the card",
                    100.0 * poisson
                ));
            }
            if shape.dimension == Dimension::Solid {
                // A held bar sinks by ρ g L²/2E like a stack of cards, not by 3 ρ g L⁴/2 E h².
                limits.push(
                    "the spline energy of a solid resists turning as it resists stretching: a bar held at one end bends \
                     less than it should, by a factor of three times the square of its length over its height"
                        .into(),
                );
            }
        } else {
            limits.push("published weights act on every direction alike: what resists stretching also holds the normal, like a tension".into());
        }
        if let crate::material::PerNode::Varying(_) = material.damping {
            limits.push(format!("damping is the same all over a framed body: the mean ratio, {:.3}", card.damping));
        }
        Some(Self {
            nodes: shape.len(),
            terms,
            zero,
            planes,
            axes,
            edges,
            lengths,
            rest: shape.rest_positions.clone(),
            masses: masses.to_vec(),
            boundary: shape.boundary_nodes(),
            poisson: material.card.poisson,
            tears: material.card.tears(),
            damping_time: card.damping_time(size),
            published,
            limits,
        })
    }

    /// The weight of a term, which for twisting a surface depends on whether its rim is held.
    fn weight(&self, term: &Term, rim_held: bool) -> f64 {
        match (term.row.order, self.published, rim_held) {
            (Order::Mixed(_), false, true) => term.weight / (1.0 - self.poisson),
            _ => term.weight,
        }
    }

    fn broken(&self, term: &Term, memory: &[f64]) -> bool {
        !memory.is_empty() && term.row.edges.iter().any(|&e| memory.get(e as usize).is_some_and(|&holds| holds == 0.0))
    }

    /// Whether every node of the boundary is among these.
    pub fn rim_is_held(&self, held: impl Iterator<Item = u32>) -> bool {
        let mut free: std::collections::BTreeSet<u32> = self.boundary.iter().copied().collect();
        held.for_each(|i| {
            free.remove(&i);
        });
        free.is_empty() && !self.boundary.is_empty()
    }

    /// Grid edges, axis after axis, and their lengths at rest (m).
    pub fn grid_edges(&self) -> (&[[u32; 2]], &[f64]) {
        (&self.edges, &self.lengths)
    }

    /// Which form runs, for the user.
    pub fn form(&self) -> &'static str {
        match (self.published, self.planes) {
            (true, _) => "the published form runs: scalar weights, one factor for all three axes",
            (false, Planes::Mixed) => {
                "the card form runs: tangential and normal weights on a curved shape, one factor over all three axes"
            }
            (false, Planes::Shared) => {
                "the card form runs: the same weight in every direction, one factor for all axes"
            }
            (false, Planes::Apart(_)) => {
                "the card form runs: tangential and normal weights on a flat shape, a factor along it and one across it"
            }
        }
    }

    /// Numbers a right side of its largest factor has for each node.
    pub fn coupled(&self) -> usize {
        if self.planes == Planes::Mixed { 3 } else { 1 }
    }

    /// Rest position of a node in body axes (m), but for the centre.
    pub fn rest_in_body_axes(&self, node: usize) -> DVec3 {
        self.axes.inverse() * self.rest[node]
    }

    /// Σ Dᵀ W φ D e by planes (N), every row with the mean of its edges' fractions φ.
    pub fn flow_force(&self, memory: &[f64], rim_held: bool, fractions: &[f64], e: &[f64], out: &mut [f64]) {
        let n = self.nodes;
        out.fill(0.0);
        for term in self.terms.iter().filter(|t| !self.broken(t, memory)) {
            let row = &term.row;
            let within = row.edges.iter().filter_map(|&k| fractions.get(k as usize));
            let count = within.clone().count().max(1) as f64;
            let fraction = within.sum::<f64>() / count;
            if fraction == 0.0 {
                continue;
            }
            let at = |i: usize| DVec3::new(e[i], e[n + i], e[2 * n + i]);
            let d: DVec3 = (0..row.count).map(|a| row.coefficients[a] * at(row.nodes[a] as usize)).sum();
            let f = term.block() * d * (self.weight(term, rim_held) * fraction);
            for a in 0..row.count {
                (0..3).for_each(|p| out[p * n + row.nodes[a] as usize] += row.coefficients[a] * f[p]);
            }
        }
    }

    /// Scalar matrix of the terms that act on a plane.
    fn scalar(&self, memory: &[f64], rim_held: bool, takes: impl Fn(On) -> bool) -> SparseMatrix {
        let mut entries = Vec::new();
        for term in self.terms.iter().filter(|t| takes(t.on)) {
            let weight = if self.broken(term, memory) { 0.0 } else { self.weight(term, rim_held) };
            for a in 0..term.row.count {
                for b in 0..term.row.count {
                    let (i, j) = (term.row.nodes[a] as usize, term.row.nodes[b] as usize);
                    if i >= j {
                        entries.push((i, j, weight * term.row.coefficients[a] * term.row.coefficients[b]));
                    }
                }
            }
        }
        entries.extend(self.zero.iter().enumerate().map(|(i, &w)| (i, i, w)));
        SparseMatrix::from_entries(self.nodes, entries)
    }

    fn mixed(&self, memory: &[f64], rim_held: bool) -> SparseMatrix {
        let (n, mut entries) = (self.nodes, Vec::new());
        for term in &self.terms {
            let weight = if self.broken(term, memory) { 0.0 } else { self.weight(term, rim_held) };
            let block = term.block() * weight;
            for a in 0..term.row.count {
                for b in 0..term.row.count {
                    let (i, j) = (term.row.nodes[a] as usize, term.row.nodes[b] as usize);
                    let factor = term.row.coefficients[a] * term.row.coefficients[b];
                    for r in 0..3 {
                        for c in 0..3 {
                            let (row, column) = (r * n + i, c * n + j);
                            if row >= column {
                                entries.push((row, column, factor * block.col(c)[r]));
                            }
                        }
                    }
                }
            }
        }
        for p in 0..3 {
            entries.extend(self.zero.iter().enumerate().map(|(i, &w)| (p * n + i, p * n + i, w)));
        }
        SparseMatrix::from_entries(3 * n, entries)
    }
}

impl Term {
    fn block(&self) -> DMat3 {
        let n = self.row.direction;
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        match self.on {
            On::All => DMat3::IDENTITY,
            On::Along => along,
            On::Across => DMat3::IDENTITY - along,
        }
    }
}

/// Weight times binomial factor times measure of a row, and on what it acts.
fn weigh(dimension: Dimension, material: &MaterialField, row: &Row) -> Option<(f64, On)> {
    let nodes = &row.nodes[..row.count];
    let factor = if matches!(row.order, Order::Mixed(_)) { 2.0 } else { 1.0 };
    let (weight, on) = if let Some(weights) = &material.weights {
        let weight = match row.order {
            Order::First(axis) => weights.first[axis],
            Order::Second(axis) => weights.second[axis],
            Order::Mixed(plane) => weights.mixed[plane],
        };
        (weight * material.weight_scale.mean(nodes), On::All)
    } else {
        let young = material.young.mean(nodes) * material.weight_scale.mean(nodes);
        let (radius, poisson) = (material.card.radius, material.card.poisson);
        match (dimension, row.order) {
            (Dimension::Curve, Order::First(_)) => (young * PI * radius.powi(2), On::Along),
            (Dimension::Curve, _) => (young * PI * radius.powi(4) / 4.0, On::Across),
            (Dimension::Surface, order) => {
                let thickness = material.thickness.mean(nodes);
                let plate = young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson));
                match order {
                    Order::First(_) => (young * thickness, On::Across),
                    Order::Second(_) => (plate, On::Along),
                    Order::Mixed(_) => (plate * (1.0 - poisson), On::Along),
                }
            }
            (Dimension::Solid, Order::First(_)) => (young, On::All),
            (Dimension::Solid, _) => return None,
        }
    };
    (weight > 0.0 && row.measure > 0.0).then_some((weight * factor * row.measure, on))
}

/// Body axes in which a straight curve lies along x and a flat surface across z, if it is
/// one: shape axes from body axes.
fn align(shape: &Shape) -> (Planes, DQuat) {
    let x = &shape.rest_positions;
    let center = x.iter().sum::<DVec3>() / x.len() as f64;
    let tolerance = 1e-9 * shape.extent();
    let furthest = |measure: &dyn Fn(DVec3) -> DVec3| {
        x.iter().map(|&p| measure(p - center)).fold(DVec3::ZERO, |a, b| if b.length() > a.length() { b } else { a })
    };
    let first = furthest(&|p| p).normalize_or_zero();
    let off = furthest(&|p| p - p.dot(first) * first);
    if off.length() <= tolerance {
        let axis = snap(first);
        return match shape.dimension {
            Dimension::Curve => (Planes::Apart(0), DQuat::from_rotation_arc(DVec3::X, axis)),
            _ => (Planes::Mixed, DQuat::IDENTITY),
        };
    }
    let normal = first.cross(off.normalize());
    let flat = x.iter().all(|&p| (p - center).dot(normal).abs() <= tolerance);
    if flat && shape.dimension == Dimension::Surface {
        (Planes::Apart(2), DQuat::from_rotation_arc(DVec3::Z, snap(normal)))
    } else {
        (Planes::Mixed, DQuat::IDENTITY)
    }
}

/// A direction as close to a coordinate axis as rounding is that axis.
fn snap(direction: DVec3) -> DVec3 {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let near = axes.into_iter().find(|a| direction.cross(*a).length() < 1e-9);
    near.map_or(direction.normalize(), |a| a * direction.dot(a).signum())
}

impl Elasticity for Spline {
    fn memory(&self) -> Vec<f64> {
        vec![1.0; if self.tears { self.edges.len() } else { 0 }]
    }

    fn damped(&self) -> bool {
        self.damping_time > 0.0
    }

    fn central(&self) -> bool {
        false
    }

    /// In the frame that fits the positions best.
    fn forces(&self, memory: &[f64], x: &[DVec3], _v: &[DVec3], elastic: &mut [DVec3], damping: &mut [DVec3]) -> f64 {
        damping.fill(DVec3::ZERO);
        elastic.fill(DVec3::ZERO);
        let (center, rotation, middle) =
            crate::coordinates::framed::fit(&self.masses, |i| self.rest[i], |i| x[i], DQuat::IDENTITY);
        let turn = rotation * self.axes;
        let e = |i: usize| turn.inverse() * (x[i] - center) - self.axes.inverse() * (self.rest[i] - middle);
        let mut energy = 0.0;
        for term in self.terms.iter().filter(|t| !self.broken(t, memory)) {
            let (row, block) = (&term.row, term.block() * term.weight);
            let d: DVec3 = (0..row.count).map(|a| row.coefficients[a] * e(row.nodes[a] as usize)).sum();
            let f = block * d;
            energy += 0.5 * d.dot(f);
            for a in 0..row.count {
                elastic[row.nodes[a] as usize] -= turn * (row.coefficients[a] * f);
            }
        }
        for (i, &w) in self.zero.iter().enumerate() {
            energy += 0.5 * w * e(i).length_squared();
            elastic[i] -= turn * (w * e(i));
        }
        energy
    }

    fn structure(&self) -> BlockMatrix {
        BlockMatrix::new(self.nodes, |visit| self.terms.iter().for_each(|t| visit(&t.row.nodes[..t.row.count])))
    }

    /// K in the axes of the frame that fits the positions best.
    fn stiffness_under_tension(
        &self,
        memory: &[f64],
        x: &[DVec3],
        _tension_at: &[DVec3],
        weights: Weights,
        _exact: bool,
        matrix: &mut BlockMatrix,
    ) {
        let (_, rotation, _) =
            crate::coordinates::framed::fit(&self.masses, |i| self.rest[i], |i| x[i], DQuat::IDENTITY);
        let turn = DMat3::from_quat(rotation * self.axes);
        let factor = weights.position + weights.velocity * self.damping_time;
        let mut blocks: Vec<(u32, u32, DMat3)> = Vec::new();
        for term in self.terms.iter().filter(|t| !self.broken(t, memory)) {
            let block = turn * (term.block() * (term.weight * factor)) * turn.transpose();
            for a in 0..term.row.count {
                for b in 0..term.row.count {
                    let c = term.row.coefficients[a] * term.row.coefficients[b];
                    blocks.push((term.row.nodes[a], term.row.nodes[b], block * c));
                }
            }
        }
        let chunks = matrix.chunks();
        let placed: Vec<(usize, Option<u32>, u32, DMat3)> = blocks
            .into_iter()
            .filter_map(|(i, j, block)| {
                let position = if i == j { None } else { Some(matrix.position(i, j)?) };
                Some((chunks.of(i as usize), position, i, block))
            })
            .collect();
        let rows = matrix.rows_mut();
        for c in 0..chunks.count() {
            // SAFETY: every chunk is taken once at a time.
            let mut chunk = unsafe { rows.chunk(c) };
            for (_, position, node, block) in placed.iter().filter(|p| p.0 == c) {
                match position {
                    Some(p) => chunk.add(*p, block),
                    None => chunk.add_diagonal(*node as usize, block),
                }
            }
        }
        for (i, &w) in self.zero.iter().enumerate() {
            matrix.add_diagonal(i, DMat3::from_diagonal(DVec3::splat(w * factor)));
        }
    }

    fn deformation(&self, memory: &[f64], x: &[DVec3]) -> Deformation {
        let mut out = Deformation::default();
        for (k, &[i, j]) in self.edges.iter().enumerate() {
            if memory.get(k).is_none_or(|&holds| holds > 0.0) && self.lengths[k] > 0.0 {
                let change = ((x[j as usize] - x[i as usize]).length() - self.lengths[k]).abs();
                out.total += change;
                out.worst = out.worst.max(change / self.lengths[k]);
            }
        }
        out.mean = out.total / self.edges.len().max(1) as f64;
        out
    }

    fn stretch(&self, memory: &[f64], x: &[DVec3], out: &mut [f32]) {
        out.fill(0.0);
        for (k, &[i, j]) in self.edges.iter().enumerate() {
            if memory.get(k).is_none_or(|&holds| holds > 0.0) && self.lengths[k] > 0.0 {
                let change = ((x[j as usize] - x[i as usize]).length() / self.lengths[k] - 1.0) as f32;
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
        self.edges.len()
    }

    fn edges<'a>(&self, memory: &'a [f64]) -> &'a [f64] {
        memory
    }

    fn spline(&self) -> Option<&Spline> {
        Some(self)
    }

    fn linear(&self, memory: &[f64], rim_held: bool) -> Option<Linear> {
        let group = |plane, columns, takes: &dyn Fn(On) -> bool| {
            Group::new(plane, columns, self.scalar(memory, rim_held, takes))
        };
        let groups = match self.planes {
            Planes::Shared => vec![group(0, 3, &|_| true)],
            Planes::Apart(0) => vec![group(0, 1, &|on| on != On::Across), group(1, 2, &|on| on != On::Along)],
            Planes::Apart(_) => vec![group(0, 2, &|on| on != On::Along), group(2, 1, &|on| on != On::Across)],
            Planes::Mixed => vec![Group::new(0, 1, self.mixed(memory, rim_held))],
        };
        Some(Linear { axes: self.axes, groups, prestress: Vec::new() })
    }
}
