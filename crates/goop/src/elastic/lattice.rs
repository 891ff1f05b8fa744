//! From a shape and a material card to springs that behave like the material.
//!
//! Springs of a lattice have the stiffness C_ijkl = Σ k L² n_i n_j n_k n_l / V, so
//! Poisson's ratio is fixed by the lattice: 1/3 in a sheet, 1/4 in a solid. With
//! sides h and diagonals in every face,
//! ```text
//! curve    k = E A / h                     bend k = E I / h on |Δ²x / h|²
//! surface  diagonals s·(3/16) E t L²/(h1 h2),  sides E t (h2/h1) (C - (3/8) s h1²/h2²)
//! solid    face diagonals s·(1/5) E V L²/(h1 h2)², sides E (V/h1²) (C - 0.4 s (h1²/h2² + h1²/h3²))
//! mesh     k = E t Σ area / L²  over the triangles of an edge
//! tetrahedra  see `irregular`
//! ```
//! C makes the modulus along the sides exactly E; s = 1 is the isotropic lattice and
//! shrinks only for cells so long that a side's constant would become negative.
//! Every cell gives its own share, so springs on a boundary are as much weaker as
//! they have fewer cells (without it a small block is up to half too stiff).
//! Bending is that of a plate without Poisson's ratio, D = E t³/12.

use super::irregular;
use super::springs::{Pair, Springs, Stencil};
use crate::material::{MaterialField, Raw};
use crate::shape::{Dimension, Layout, Shape};
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Springs for a shape of this material; raw constants make them as printed.
pub fn springs(shape: &Shape, material: &MaterialField) -> Springs {
    match &material.raw {
        Some(raw) => as_printed(shape, material, raw),
        None => from_card(shape, material),
    }
}

/// Pairs gathered from cells; contributions to the same pair add up.
#[derive(Default)]
struct Gather {
    shares: Vec<(u64, f64, f64)>,
}

impl Gather {
    fn add(&mut self, a: u32, b: u32, stiffness: f64, damping: f64) {
        if a != b && stiffness != 0.0 {
            self.shares.push(((u64::from(a.min(b)) << 32) | u64::from(a.max(b)), stiffness, damping));
        }
    }

    fn pairs(mut self, rest: &[DVec3]) -> Vec<Pair> {
        self.shares.sort_by_key(|s| s.0);
        let mut pairs: Vec<Pair> = Vec::with_capacity(self.shares.len() / 2);
        let mut last = u64::MAX;
        for (key, stiffness, damping) in self.shares {
            if key == last
                && let Some(pair) = pairs.last_mut()
            {
                pair.stiffness += stiffness;
                pair.damping += damping;
            } else {
                let nodes = [(key >> 32) as u32, key as u32];
                let length = (rest[nodes[1] as usize] - rest[nodes[0] as usize]).length();
                pairs.push(Pair { nodes, stiffness, damping, rest: length });
                last = key;
            }
        }
        pairs
    }
}

/// Bend and twist elements, and for each the strain of the outermost fibre per metre of |d| (1/m).
#[derive(Default)]
struct Bends {
    stencils: Vec<Stencil>,
    fibres: Vec<f64>,
}

impl Bends {
    fn push(&mut self, stencil: Stencil, fibre: f64) {
        self.stencils.push(stencil);
        self.fibres.push(fibre);
    }
}

fn stencil(nodes: &[u32], weights: &[f64], stiffness: f64, damping: f64, rest: &[DVec3]) -> Stencil {
    let mut out = Stencil {
        nodes: [nodes[nodes.len() - 1]; 4],
        count: nodes.len() as u8,
        weights: [0.0; 4],
        stiffness,
        damping,
        rest: 0.0,
    };
    let (mut d, mut scale) = (DVec3::ZERO, 0.0);
    for a in 0..nodes.len() {
        out.nodes[a] = nodes[a];
        out.weights[a] = weights[a];
        d += weights[a] * rest[nodes[a] as usize];
        scale += (weights[a] * (rest[nodes[a] as usize] - rest[nodes[0] as usize])).length();
    }
    // A flat rest shape is flat to rounding: keep it exactly so, or noise would choose a side.
    out.rest = if d.length() > 1e-9 * scale { d.length() } else { 0.0 };
    out
}

/// Half of what a line through three nodes spans (m).
fn spacing(nodes: [u32; 3], rest: &[DVec3]) -> f64 {
    let [a, b, c] = nodes.map(|i| rest[i as usize]);
    0.5 * ((b - a).length() + (c - b).length())
}

/// Second difference on a line of unequal spacing; `length` is what the node owns across.
fn bend(nodes: [u32; 3], modulus_width: f64, damping_time: f64, rest: &[DVec3]) -> Stencil {
    let [a, b, c] = nodes.map(|i| rest[i as usize]);
    let (left, right) = ((b - a).length(), (c - b).length());
    let stiffness = 2.0 * modulus_width / (left + right);
    let weights = [1.0 / left, -(1.0 / left + 1.0 / right), 1.0 / right];
    stencil(&nodes, &weights, stiffness, damping_time * stiffness, rest)
}

fn from_card(shape: &Shape, material: &MaterialField) -> Springs {
    let rest = &shape.rest_positions;
    let size = shape.size();
    let time_per_ratio = material.card.damping_time(size) / material.card.damping.max(f64::MIN_POSITIVE);
    let time = |nodes: &[u32]| {
        if material.card.damping > 0.0 {
            material.damping.mean(nodes) * time_per_ratio
        } else {
            damping_only(material, nodes, size)
        }
    };
    let (mut gather, mut bends, mut limits) = (Gather::default(), Bends::default(), Vec::new());
    match (&shape.layout, shape.dimension) {
        (Layout::Grid(grid), Dimension::Curve) => {
            let (area, inertia) = (PI * material.card.radius.powi(2), PI * material.card.radius.powi(4) / 4.0);
            for nodes in grid.edges(0) {
                let length = (rest[nodes[1] as usize] - rest[nodes[0] as usize]).length();
                let k = material.young.mean(&nodes) * area / length;
                gather.add(nodes[0], nodes[1], k, time(&nodes) * k);
            }
            for nodes in grid.lines(0) {
                let modulus = material.young.at(nodes[1] as usize) * inertia;
                bends.push(bend(nodes, modulus, time(&nodes), rest), material.card.radius / spacing(nodes, rest));
            }
            limits.push("a curve of springs has no stiffness against twist".to_owned());
        }
        (Layout::Grid(grid), Dimension::Surface) => {
            let mut shortest = 1.0f64;
            for cell in grid.cells() {
                shortest = shortest.min(surface_cell(&cell, material, &time, rest, &mut gather, &mut bends));
            }
            let areas = shape.node_measures();
            for axis in 0..2 {
                for nodes in grid.lines(axis) {
                    let (here, along) = (nodes[1] as usize, spacing(nodes, rest));
                    let thickness = material.thickness.at(here);
                    let plate = material.young.at(here) * thickness.powi(3) / 12.0;
                    let bend = bend(nodes, plate * (areas[here] / along), time(&nodes), rest);
                    bends.push(bend, 0.5 * thickness / along);
                }
            }
            limits.push(poisson_limit("sheet", "1/3", material.card.poisson));
            limits.push("bending is that of a plate with Poisson's ratio 0".to_owned());
            if shortest < 0.999 {
                limits.push(format!(
                    "cells are longer than √2.4 times their width: shear stiffness falls to {:.0} % in the longest; use node counts that make cells nearly square",
                    100.0 * shortest
                ));
            }
        }
        (Layout::Grid(grid), Dimension::Solid) => {
            let mut shortest = 1.0f64;
            for cell in grid.cells() {
                shortest = shortest.min(solid_cell(&cell, material, &time, rest, &mut gather));
            }
            limits.push(poisson_limit("block", "1/4", material.card.poisson));
            let thinnest = grid.counts.iter().min().copied().unwrap_or(2);
            if thinnest < 4 {
                let excess = if thinnest == 2 { 45 } else { 19 };
                limits.push(format!(
                    "with {thinnest} nodes across, a lattice bends about {excess} % too stiffly; 5 or more are close"
                ));
            }
            if shortest < 0.999 {
                limits.push(format!(
                    "cells are far from cubes: shear stiffness falls to {:.0} % in the longest; use node counts that make cells nearly cubic",
                    100.0 * shortest
                ));
            }
        }
        (Layout::Tetrahedra(t), _) => {
            let edges = t.edges();
            let fit = irregular::fit(rest, &edges, &shape.node_measures());
            for (nodes, ends) in edges.iter().zip(fit.constants) {
                let k: f64 = (0..2).map(|end| material.young.at(nodes[end] as usize) * ends[end]).sum();
                gather.add(nodes[0], nodes[1], k, time(nodes) * k);
            }
            limits.push(poisson_limit("lattice", "about 1/4", material.card.poisson));
            let [low, high] = fit.range.map(|r| 100.0 * r);
            limits.push(format!(
                "the lattice is irregular: Young's modulus is the card's in the mean over directions and {low:.0} % to {high:.0} % of it from one to another"
            ));
        }
        (Layout::Mesh, _) => {
            mesh(shape, material, &time, &mut gather, &mut bends);
            limits.push(poisson_limit("sheet", "about 1/3", material.card.poisson));
            limits.push(
                "the stiffness of a triangle mesh of springs depends a little on how it is triangulated".to_owned(),
            );
        }
    }
    limits.retain(|l| !l.is_empty());
    Springs::new(rest.len(), gather.pairs(rest), bends.stencils, false, limits).yielding(
        material.card,
        shape.grid(),
        bends.fibres,
    )
}

/// Damping where the card has none but a region does.
fn damping_only(material: &MaterialField, nodes: &[u32], size: f64) -> f64 {
    let ratio = material.damping.mean(nodes);
    if ratio == 0.0 { 0.0 } else { crate::material::Material { damping: ratio, ..material.card }.damping_time(size) }
}

fn poisson_limit(what: &str, fixed: &str, wanted: f64) -> String {
    let value: f64 = if fixed.ends_with('4') { 0.25 } else { 1.0 / 3.0 };
    if (value - wanted).abs() < 0.02 {
        return String::new();
    }
    format!("springs fix Poisson's ratio of a {what} at {fixed}; the card's {wanted} is not honoured")
}

/// Shares of one quadrilateral; returns s (1 where the lattice is isotropic).
fn surface_cell(
    cell: &[u32; 8],
    material: &MaterialField,
    time: &dyn Fn(&[u32]) -> f64,
    rest: &[DVec3],
    gather: &mut Gather,
    bends: &mut Bends,
) -> f64 {
    let n = [cell[0], cell[1], cell[2], cell[3]];
    let length = |a: u32, b: u32| (rest[b as usize] - rest[a as usize]).length();
    let stiff = material.young.mean(&n) * material.thickness.mean(&n);
    let damp = time(&n);
    let corner_repeats = n[0] == n[1] || n[2] == n[3] || n[0] == n[2] || n[1] == n[3];
    if corner_repeats {
        // A triangle at a pole.
        let mut three: Vec<u32> = Vec::with_capacity(3);
        n.iter().for_each(|i| {
            if !three.contains(i) {
                three.push(*i)
            }
        });
        if three.len() == 3 {
            triangle([three[0], three[1], three[2]], stiff, damp, rest, gather);
        }
        return 1.0;
    }
    let h1 = 0.5 * (length(n[0], n[1]) + length(n[2], n[3]));
    let h2 = 0.5 * (length(n[0], n[2]) + length(n[1], n[3]));
    let s = (2.4 / (h1 / h2).max(h2 / h1).powi(2)).min(1.0);
    let c = 0.5 * (1.0 + (1.0 + 4.0 * (0.375 * s).powi(2)).sqrt());
    let side = |along: f64, across: f64| stiff * (across / along) * (c - 0.375 * s * (along / across).powi(2));
    let diagonal = s * 3.0 / 16.0 * stiff * (h1 * h1 + h2 * h2) / (h1 * h2);
    for (a, b, k) in [
        (n[0], n[1], 0.5 * side(h1, h2)),
        (n[2], n[3], 0.5 * side(h1, h2)),
        (n[0], n[2], 0.5 * side(h2, h1)),
        (n[1], n[3], 0.5 * side(h2, h1)),
        (n[0], n[3], diagonal),
        (n[1], n[2], diagonal),
    ] {
        gather.add(a, b, k, damp * k);
    }
    let plate = material.young.mean(&n) * material.thickness.mean(&n).powi(3) / 12.0;
    let twist = 2.0 * plate / (h1 * h2);
    let fibre = 0.5 * material.thickness.mean(&n) / (h1 * h2);
    bends.push(stencil(&n, &[1.0, -1.0, -1.0, 1.0], twist, damp * twist, rest), fibre);
    s
}

/// Shares of one hexahedron; returns s.
fn solid_cell(
    cell: &[u32; 8],
    material: &MaterialField,
    time: &dyn Fn(&[u32]) -> f64,
    rest: &[DVec3],
    gather: &mut Gather,
) -> f64 {
    let (young, damp) = (material.young.mean(cell), time(cell));
    let mut h = [0.0; 3];
    for axis in 0..3 {
        for a in (0..8).filter(|a| a >> axis & 1 == 0) {
            h[axis] += 0.25 * (rest[cell[a | 1 << axis] as usize] - rest[cell[a] as usize]).length();
        }
    }
    let volume = h[0] * h[1] * h[2];
    let slender = |a: usize| (0..3).filter(|&b| b != a).map(|b| (h[a] / h[b]).powi(2)).sum::<f64>();
    let s = (0.9 / (0.4 * slender(0).max(slender(1)).max(slender(2)))).min(1.0);
    let p = 1.0 - 0.4 * s;
    let c = 0.5 * (p + (p * p + 4.0 * (0.32 * s * s + 0.4 * s)).sqrt());
    for axis in 0..3 {
        let k = 0.25 * young * volume / h[axis].powi(2) * (c - 0.4 * s * slender(axis));
        for a in (0..8).filter(|a| a >> axis & 1 == 0) {
            gather.add(cell[a], cell[a | 1 << axis], k, damp * k);
        }
    }
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let other = 3 - a - b;
        let square = h[a] * h[a] + h[b] * h[b];
        let k = 0.5 * s * 0.2 * young * volume * square / (h[a] * h[b]).powi(2);
        for base in [0, 1 << other] {
            gather.add(cell[base], cell[base | 1 << a | 1 << b], k, damp * k);
            gather.add(cell[base | 1 << a], cell[base | 1 << b], k, damp * k);
        }
    }
    s
}

fn triangle(n: [u32; 3], stiff: f64, damp: f64, rest: &[DVec3], gather: &mut Gather) {
    let [a, b, c] = n.map(|i| rest[i as usize]);
    let area = 0.5 * (b - a).cross(c - a).length();
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let length2 = (rest[n[j] as usize] - rest[n[i] as usize]).length_squared();
        if length2 > 0.0 {
            let k = stiff * area / length2;
            gather.add(n[i], n[j], k, damp * k);
        }
    }
}

/// Edges of triangles, and a bend stencil across every inner edge whose vector is
/// the discrete Laplacian there: D·3/(A₀+A₁) |Σ c x|².
fn mesh(shape: &Shape, material: &MaterialField, time: &dyn Fn(&[u32]) -> f64, gather: &mut Gather, bends: &mut Bends) {
    let rest = &shape.rest_positions;
    let mut opposite: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for &n in &shape.triangles {
        triangle(n, material.young.mean(&n) * material.thickness.mean(&n), time(&n), rest, gather);
        for k in 0..3 {
            let (i, j) = (n[k], n[(k + 1) % 3]);
            opposite.entry((i.min(j), i.max(j))).or_default().push(n[(k + 2) % 3]);
        }
    }
    let cot = |a: DVec3, b: DVec3| a.dot(b) / a.cross(b).length();
    for ((i, j), tips) in opposite {
        let [p, q] = tips[..] else { continue };
        let nodes = [i, j, p, q];
        let [x0, x1, x2, x3] = nodes.map(|i| rest[i as usize]);
        let edge = x1 - x0;
        let area = 0.5 * (edge.cross(x2 - x0).length() + edge.cross(x3 - x0).length());
        let (c1, c2) = (cot(edge, x2 - x0), cot(edge, x3 - x0));
        let (c3, c4) = (cot(-edge, x2 - x1), cot(-edge, x3 - x1));
        let weights = [c3 + c4, c1 + c2, -c1 - c3, -c2 - c4];
        if p == q || area <= 0.0 || weights.iter().any(|w| !w.is_finite()) {
            continue;
        }
        let thickness = material.thickness.mean(&nodes);
        let plate = material.young.mean(&nodes) * thickness.powi(3) / 12.0;
        let stiffness = 3.0 * plate / area;
        let fibre = 0.5 * thickness * 3f64.sqrt() / area;
        bends.push(stencil(&nodes, &weights, stiffness, time(&nodes) * stiffness, rest), fibre);
    }
}

/// Constants as printed: every grid edge the same k and d, whatever its length.
fn as_printed(shape: &Shape, material: &MaterialField, raw: &Raw) -> Springs {
    let rest = &shape.rest_positions;
    let mut pairs = Vec::new();
    let mut bends = Bends::default();
    let half = if shape.dimension == Dimension::Curve { material.card.radius } else { 0.5 * material.card.thickness };
    let length = |a: u32, b: u32| (rest[b as usize] - rest[a as usize]).length();
    let pair = |nodes: [u32; 2], stiffness: f64, rest: f64| Pair { nodes, stiffness, damping: raw.d, rest };
    let spread = |nodes: [u32; 2]| if raw.k > 0.0 { material.raw_k.mean(&nodes) / raw.k } else { 1.0 };
    if let Layout::Grid(grid) = &shape.layout {
        for axis in 0..grid.axes() {
            let given = raw.rest.as_ref().and_then(|r| r.get(axis).or(r.first()).copied());
            for n in grid.edges(axis) {
                pairs.push(pair(n, material.raw_k.mean(&n), given.unwrap_or_else(|| length(n[0], n[1]))));
            }
            if raw.bend > 0.0 {
                for n in grid.lines(axis) {
                    let fibre = half / spacing(n, rest).powi(2);
                    bends.push(stencil(&n, &[1.0, -2.0, 1.0], raw.bend, 0.0, rest), fibre);
                }
            }
        }
        if raw.shear > 0.0 && grid.axes() > 1 {
            // Face diagonals of a surface, body diagonals of a solid.
            let top = (1 << grid.axes()) - 1;
            for cell in grid.cells() {
                for a in 0..=top / 2 {
                    let n = [cell[a], cell[top ^ a]];
                    if n[0] != n[1] {
                        pairs.push(pair(n, raw.shear * spread(n), length(n[0], n[1])));
                    }
                }
            }
        }
    } else if let Layout::Tetrahedra(t) = &shape.layout {
        let given = raw.rest.as_ref().and_then(|r| r.first().copied());
        for n in t.edges() {
            pairs.push(pair(n, material.raw_k.mean(&n), given.unwrap_or_else(|| length(n[0], n[1]))));
        }
    } else {
        let mut seen = std::collections::BTreeSet::new();
        for t in &shape.triangles {
            for k in 0..3 {
                let (i, j) = (t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]));
                if i != j && seen.insert((i, j)) {
                    let given = raw.rest.as_ref().and_then(|r| r.first().copied());
                    pairs.push(pair([i, j], material.raw_k.mean(&[i, j]), given.unwrap_or_else(|| length(i, j))));
                }
            }
        }
    }
    let limits = vec!["raw constants belong to this grid: another node count makes another body".to_owned()];
    Springs::new(rest.len(), pairs, bends.stencils, true, limits).yielding(material.card, shape.grid(), bends.fibres)
}
