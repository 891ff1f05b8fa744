//! The primal formulation as GO prints it, so that its failures can be shown.
//!
//! ```text
//! α_ij = w¹_ij (D_i⁺x·D_j⁺x - G⁰_ij)       eq 20          β_ij = w²_ij (n·D_ij x - B⁰_ij)     eq 21
//! f = -K(x) x,   K(x) = Σ D_i⁺ᵀ α_ij D_j⁺ + D_ijᵀ β_ij D_ij                                  eq 23
//! ```
//! times the area of each. K stands on the left side of the implicit step as its stiffness.
//!
//! The metric part is the gradient of ¼ w¹ (G - G⁰)². The bending part is not the gradient of any
//! (B - B⁰)²: with D_ij x ≈ B n it is w² (B - B⁰) B n, which is nothing where a curved sheet lies flat, and whose
//! potential w² (B³/3 - B⁰B²/2) has no floor. At rest K is zero: to first order the step is explicit, and
//! where the sheet is compressed K is indefinite.
//!
//! Departs from the print: β is max(β, 0), without which a flat sheet bent to the other side runs away; K is taken at the
//! point of linearisation; h = 1/(M-1) and half weights on borders; the last row and column take the differences there are.
//! The card gives 4 and 2 times the weights of the energy, the factors that the printed force has lost.

use super::card;
use super::element::{Blocks, Element, Elements, Gradient, Group, Part};
use crate::material::MaterialField;
use crate::shape::{Dimension, Grid, Shape};
use glam::{DMat3, DVec3};

/// One entry α_ij or β_ij.
#[derive(Clone, Debug)]
pub(super) struct Printed {
    nodes: [u32; 5],
    /// Weights of D_i x and D_j x; for bending both are D_ij x.
    first: [f64; 5],
    second: [f64; 5],
    /// Bending: weights of the two tangents; with none the normal is that of the curve.
    normal: Option<[[f64; 5]; 2]>,
    bends: bool,
    /// w times area, twice for i ≠ j.
    weight: f64,
}

fn apply(weights: &[f64; 5], x: &[DVec3; 5]) -> DVec3 {
    (1..5).map(|a| weights[a] * (x[a] - x[0])).sum()
}

impl Printed {
    fn vectors(&self, x: &[DVec3; 5]) -> [DVec3; 2] {
        [apply(&self.first, x), apply(&self.second, x)]
    }
}

impl Element<5, 1> for Printed {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 5] {
        &self.nodes
    }

    /// As printed there is no internal damping.
    fn time(&self) -> f64 {
        0.0
    }

    fn unit(&self) -> f64 {
        0.0
    }

    fn links(&self) -> Vec<[u32; 2]> {
        Vec::new()
    }

    fn strains(&self, x: &[DVec3; 5]) -> [f64; 1] {
        let [d, e] = self.vectors(x);
        if !self.bends {
            return [d.dot(e)];
        }
        match &self.normal {
            Some([p, q]) => [d.dot(apply(p, x).cross(apply(q, x)).normalize_or_zero())],
            None => [d.length()],
        }
    }

    /// Not the derivative of B, for bending: this is the printed force.
    fn gradient(&self, x: &[DVec3; 5], out: &mut Gradient<5, 1>) -> [f64; 1] {
        let [d, e] = self.vectors(x);
        for a in 0..5 {
            out[0][a] = if self.bends { self.first[a] * d } else { self.first[a] * e + self.second[a] * d };
        }
        self.strains(x)
    }

    fn moduli_times(&self, over: &[f64; 1], _broken: u32) -> [f64; 1] {
        [if self.bends { self.weight * over[0].max(0.0) } else { 0.5 * self.weight * over[0] }]
    }

    /// For bending the potential of the printed force along n.
    fn law(&self, s: &[f64; 1], rest: &[f64; 1], broken: u32) -> (f64, [f64; 1]) {
        let over = s[0] - rest[0];
        let stress = self.moduli_times(&[over], broken);
        let energy = match self.bends {
            true if over > 0.0 => self.weight * over * over * (2.0 * s[0] + rest[0]) / 6.0,
            true => 0.0,
            false => 0.5 * over * stress[0],
        };
        (energy, stress)
    }

    /// The secant matrix has no such part.
    fn gauss_newton(
        &self,
        _j: &Gradient<5, 1>,
        _s: &[f64; 1],
        _rest: &[f64; 1],
        _broken: u32,
        _part: Part,
        _factor: f64,
        _out: &mut Blocks<5>,
    ) {
    }

    /// K(x), unclamped.
    fn geometric(&self, _x: &[DVec3; 5], stress: &[f64; 1], _exact: bool, factor: f64, out: &mut Blocks<5>) {
        let (p, q) = (&self.first, &self.second);
        for a in 0..5 {
            for b in a..5 {
                let weight = if self.bends { p[a] * p[b] } else { p[a] * q[b] + q[a] * p[b] };
                out[a][b] += DMat3::from_diagonal(DVec3::splat(factor * stress[0] * weight));
            }
        }
    }
}

/// Entries for every grid point, and what cannot be honoured.
pub(super) fn elements(shape: &Shape, material: &MaterialField) -> (Vec<Box<dyn Group>>, Vec<String>) {
    let mut limits = vec![
        "the printed form is kept to show its failures: a curved sheet pressed flat feels no bending, bending has no floor of energy, and what is compressed makes the matrix indefinite; elasticity = \"metric\" has none of this".to_owned(),
        "the printed form has no internal damping".to_owned(),
    ];
    let mut list = Vec::new();
    match shape.grid() {
        Some(grid) => {
            for index in 0..grid.node.len() {
                point(shape, grid, material, index, &mut list);
            }
        }
        None => {
            limits.push("the printed form is one of grids: a mesh has the metric along its edges only".to_owned());
            let areas = shape.cell_measures();
            for (t, area) in shape.triangles.iter().zip(areas) {
                for k in 0..3 {
                    let nodes = [t[k], t[(k + 1) % 3]];
                    let h = shape.rest_positions[nodes[0] as usize].distance(shape.rest_positions[nodes[1] as usize]);
                    if h > 0.0 {
                        let w = card::membrane(material, t).c11 / 2.0;
                        list.push(metric([nodes[0], nodes[1], nodes[0]], [h, h], [true, false], w * area / 3.0));
                    }
                }
            }
        }
    }
    if !material.weights.is_some() && shape.dimension != Dimension::Curve && material.card.poisson != 0.0 {
        limits.push(format!("the printed form has no cross term: Poisson's ratio is 0, not {}", material.card.poisson));
    }
    (vec![Elements::at_rest(list, &shape.rest_positions)], limits)
}

/// D_i⁺x·D_j⁺x at a node, with its neighbours along both axes.
fn metric(nodes: [u32; 3], h: [f64; 2], axes: [bool; 2], weight: f64) -> Printed {
    let along = |k: usize| {
        let mut row = [0.0; 5];
        (row[0], row[1 + k]) = (-1.0 / h[k], 1.0 / h[k]);
        row
    };
    let [c, a, b] = nodes;
    let (first, second) = match axes {
        [true, true] => (along(0), along(1)),
        [true, false] => (along(0), along(0)),
        _ => (along(1), along(1)),
    };
    Printed { nodes: [c, a, b, c, c], first, second, normal: None, bends: false, weight }
}

fn point(shape: &Shape, grid: &Grid, material: &MaterialField, index: usize, list: &mut Vec<Printed>) {
    let at = grid.point(index);
    let here = grid.node[index];
    let step = |axis: usize, by: isize| {
        let count = grid.counts[axis] as isize;
        let to = at[axis] as isize + by;
        if count < 2 || (!grid.periodic[axis] && !(0..count).contains(&to)) {
            return None;
        }
        let mut point = at;
        point[axis] = to.rem_euclid(count) as usize;
        Some(grid.node[grid.index(point[0], point[1], point[2])]).filter(|&n| n != here)
    };
    let length = |a: u32| shape.rest_positions[here as usize].distance(shape.rest_positions[a as usize]);
    // What the point owns along an axis, and the step forward.
    let own: Vec<f64> = (0..3)
        .map(|axis| match (step(axis, -1), step(axis, 1)) {
            (None, None) => 1.0,
            (before, after) => 0.5 * (before.map_or(0.0, length) + after.map_or(0.0, length)),
        })
        .collect();
    let one = [here];
    let axes = grid.axes();
    let (first, shear, second, mixed) = match (&material.weights, shape.dimension) {
        (Some(w), _) => {
            let s = material.weight_scale.at(here as usize);
            (w.first.map(|w| s * w), w.shear.map(|w| s * w), w.second.map(|w| s * w), w.mixed.map(|w| s * w))
        }
        (None, Dimension::Curve) => {
            let [area, inertia, _] = card::curve(material, &one);
            ([area / 2.0; 3], [0.0; 3], [inertia; 3], [0.0; 3])
        }
        (None, Dimension::Surface) => {
            let (m, p) = (card::membrane(material, &one), card::plate(material, &one));
            ([m.c11 / 2.0; 3], [m.c66; 3], [p.c11; 3], [2.0 * p.c66; 3])
        }
        (None, Dimension::Solid) => {
            let s = card::space(material, &one);
            (s.along.map(|e| e / 2.0), s.shear, [0.0; 3], [0.0; 3])
        }
    };
    for i in 0..axes {
        let Some(a) = step(i, 1) else { continue };
        let h = length(a);
        let across: f64 = (0..axes).filter(|&k| k != i).map(|k| own[k]).product();
        list.push(metric([here, a, here], [h, h], [true, false], first[i] * h * across));
        for j in i + 1..axes {
            let Some(b) = step(j, 1).filter(|&b| b != a) else { continue };
            let pair = if i == 0 { j - 1 } else { 2 };
            let depth: f64 = (0..axes).filter(|&k| k != i && k != j).map(|k| own[k]).product();
            let weight = 2.0 * shear[pair] * h * length(b) * depth;
            list.push(metric([here, a, b], [h, length(b)], [true, true], weight));
        }
    }
    let mut bend = |nodes: [u32; 5], row: [f64; 5], normal: Option<[[f64; 5]; 2]>, weight: f64| {
        let entry = Printed { nodes, first: row, second: row, normal, bends: true, weight };
        if weight > 0.0 {
            list.push(entry);
        }
    };
    if shape.dimension == Dimension::Solid {
        return;
    }
    // Tangents forward, or backward in the last row and column.
    let tangent = |axis: usize, place: usize| {
        let mut row = [0.0; 5];
        let (node, sign) = match (step(axis, 1), step(axis, -1)) {
            (Some(a), _) => (a, 1.0),
            (None, Some(b)) => (b, -1.0),
            (None, None) => return None,
        };
        (row[0], row[place]) = (-sign, sign);
        Some((node, row))
    };
    for i in 0..axes {
        let (Some(a), Some(b)) = (step(i, 1), step(i, -1)) else { continue };
        if a == b {
            continue;
        }
        let h2 = own[i] * own[i];
        let row = [-2.0 / h2, 1.0 / h2, 1.0 / h2, 0.0, 0.0];
        if axes == 1 {
            bend([here, a, b, here, here], row, None, second[0] * own[0]);
        } else if let (Some((_, mut p)), Some((other, q))) = (tangent(i, 1), tangent(1 - i, 3)) {
            // The normal is D₁ × D₂ whichever axis comes first.
            if i == 1 {
                p = p.map(|v| -v);
            }
            bend([here, a, b, other, here], row, Some([p, q]), second[i] * own[0] * own[1]);
        }
    }
    if axes == 2
        && let (Some(a), Some(b)) = (step(0, 1), step(1, 1))
    {
        let diagonal = {
            let mut point = at;
            (0..2).for_each(|k| point[k] = (point[k] + 1) % grid.counts[k]);
            grid.node[grid.index(point[0], point[1], point[2])]
        };
        let area = length(a) * length(b);
        if a != b && diagonal != a && diagonal != b && diagonal != here {
            let row = [1.0 / area, -1.0 / area, -1.0 / area, 1.0 / area, 0.0];
            let normal = [[-1.0, 1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0, 0.0]];
            bend([here, a, b, diagonal, here], row, Some(normal), 2.0 * mixed[0] * area);
        }
    }
}
