//! From a shape and a material card to the elements of the primal formulation.

use super::card;
use super::curve_bend::CurveBend;
use super::curve_stretch::CurveStretch;
use super::curve_twist::CurveTwist;
use super::element::{Element, gather};
use super::group::{Elements, Group};
use super::hinge;
use super::solid_metric::{SolidMetric, Table};
use super::surface_curvature::{MixedCurvature, NodeCurvature, Split};
use super::surface_grid::{Around, CELL, cell_points, without_repeats};
use super::surface_metric::SurfaceMetric;
use super::triangle_bend::{PoleBend, TriangleBend};
use super::triangle_metric::TriangleMetric;
use crate::material::MaterialField;
use crate::shape::{Dimension, Grid, Layout, Shape};
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elements, and what they cannot honour.
pub(super) struct Parts {
    pub groups: Vec<Box<dyn Group>>,
    pub limits: Vec<String>,
}

/// A shape, its material, and what every element asks for.
struct Build<'a> {
    shape: &'a Shape,
    rest: &'a [DVec3],
    material: &'a MaterialField,
    size: f64,
}

impl Build<'_> {
    fn time(&self, nodes: &[u32]) -> f64 {
        card::damping_time(self.material, nodes, self.size)
    }

    /// Half the thickness (m): where bending strains most.
    fn fibre(&self, nodes: &[u32]) -> f64 {
        0.5 * self.material.thickness.mean(nodes)
    }
}

/// All elements of a body.
pub(super) fn elements(shape: &Shape, material: &MaterialField) -> Parts {
    let build = Build { shape, rest: &shape.rest_positions, material, size: shape.size() };
    let mut limits = Vec::new();
    if shape.dimension != Dimension::Curve {
        limits.push(
            "stress is proportional to the change of the metric (St Venant-Kirchhoff): a pull by 10 % takes 15 % more force than young says, one by 50 % twice as much, and below 58 % of its rest length a part no longer stiffens"
                .to_owned(),
        );
    }
    if material.weights.is_some() && shape.dimension != Dimension::Curve {
        limits.push("published weights have no cross term: Poisson's ratio is 0".to_owned());
    }
    let groups = match (&shape.layout, shape.dimension) {
        (Layout::Grid(grid), Dimension::Curve) => build.curve(grid, &mut limits),
        (Layout::Grid(grid), Dimension::Surface) => build.surface(grid, &mut limits),
        (Layout::Grid(grid), Dimension::Solid) => build.solid(grid, &mut limits),
        (Layout::Mesh, _) => build.mesh(&mut limits),
        (Layout::Tetrahedra(_), _) => {
            limits.push("the metric is taken on grids and triangles: tetrahedra have none and fall apart; use elasticity = \"finite\"".to_owned());
            Vec::new()
        }
    };
    Parts { groups, limits }
}

impl Build<'_> {
    fn curve(&self, grid: &Grid, limits: &mut Vec<String>) -> Vec<Box<dyn Group>> {
        limits.push("a curve has no material frame: it does not resist twist about itself, and torsion only where it is curved at rest".to_owned());
        let length = |a: u32, b: u32| self.rest[a as usize].distance(self.rest[b as usize]);
        let stretch = (grid.edges(0))
            .filter(|&[a, b]| length(a, b) > 0.0)
            .map(|nodes| {
                let length = length(nodes[0], nodes[1]);
                let stiffness = card::curve(self.material, &nodes)[0] * length;
                CurveStretch { nodes, length, stiffness, time: self.time(&nodes) }
            })
            .collect();
        let radius2 = self.material.card.radius.powi(2);
        let bend = (grid.lines(0))
            .map(|nodes| {
                let own = 0.5 * (length(nodes[0], nodes[1]) + length(nodes[1], nodes[2]));
                let inertia = card::curve(self.material, &nodes[1..2])[1];
                CurveBend { nodes, stiffness: inertia / own, unit: inertia * own / radius2, time: self.time(&nodes) }
            })
            .collect();
        let count = grid.counts[0];
        let rows = if grid.periodic[0] { count } else { count.saturating_sub(3) };
        let twist = (0..if count > 3 { rows } else { 0 })
            .filter_map(|i| {
                let nodes: [u32; 4] = std::array::from_fn(|k| grid.node[(i + k) % count]);
                let middle = [nodes[1], nodes[2]];
                let stiffness = card::curve(self.material, &middle)[2] / length(nodes[1], nodes[2]);
                CurveTwist::new(nodes, gather(&nodes, self.rest), stiffness, self.time(&middle))
            })
            .collect();
        let bent = |e: &CurveBend| {
            let s = DVec3::from_array(e.strains(&gather(&e.nodes, self.rest))).length();
            // Straight to rounding is straight, or noise would choose a side.
            [if s > 1e-9 { s } else { 0.0 }, 0.0, 0.0]
        };
        vec![
            Elements::at_rest(stretch, self.rest),
            Elements::<CurveBend, 3, 3>::group(bend, bent),
            Elements::<CurveTwist, 4, 1>::group(twist, |_| [0.0]),
        ]
    }

    fn surface(&self, grid: &Grid, limits: &mut Vec<String>) -> Vec<Box<dyn Group>> {
        let (mut cells, mut triangles) = (Vec::new(), Vec::new());
        let measures = self.shape.cell_measures();
        for (cell, &measure) in grid.cells().zip(&measures) {
            let nodes = [cell[0], cell[1], cell[2], cell[3]];
            let (plane, time) = (card::membrane(self.material, &nodes), self.time(&nodes));
            if let Some(three) = without_repeats(nodes) {
                triangles.extend(TriangleMetric::new(three, gather(&three, self.rest), plane, measure, time));
            } else {
                cells.extend(SurfaceMetric::new(nodes, gather(&nodes, self.rest), plane, measure, time));
            }
        }
        limits.push("a side clamped by two pinned rows is clamped halfway between them".to_owned());
        let mut groups = vec![Elements::at_rest(cells, self.rest), Elements::at_rest(triangles, self.rest)];
        self.bending(grid, &measures, limits, &mut groups);
        groups
    }

    fn bending(&self, grid: &Grid, cells: &[f64], limits: &mut Vec<String>, groups: &mut Vec<Box<dyn Group>>) {
        let areas = self.shape.node_measures();
        let tears = self.material.card.tears();
        let (mut inner, mut border, mut twists, mut corners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut splits = vec![Split::default(); grid.node.len()];
        let mut shared = vec![0u32; self.rest.len()];
        grid.node.iter().for_each(|&n| shared[n as usize] += 1);
        for index in 0..grid.node.len() {
            let here = grid.node[index];
            if shared[here as usize] > 1 {
                continue;
            }
            let node = Around::new(grid, index);
            let plate = card::plate(self.material, &[here]);
            let Some(split) = node.split(self.rest, &plate) else { continue };
            splits[index] = split;
            let (area, fibre, time) = (areas[here as usize], self.fibre(&[here]), self.time(&[here]));
            let along = plate.along();
            let unit = area * along[0].max(along[1]) / (fibre * fibre);
            match node.known {
                [true, true] => {
                    let moduli = split.along.map(|q| area * q);
                    inner.push(NodeCurvature { nodes: node.nodes, moduli, unit, time });
                }
                [false, false] => {}
                known => {
                    let axis = usize::from(known[1]);
                    let term = [node.second[axis], node.first[0], node.first[1]];
                    let stiffness = area * split.along[axis];
                    let links = if tears { node.links(axis) } else { Vec::new() };
                    border.push(MixedCurvature { nodes: node.nodes, terms: [term], stiffness, unit, time, links });
                }
            }
        }
        for (cell, &measure) in cell_points(grid).zip(cells) {
            let nodes = cell.map(|p| grid.node[p]);
            if without_repeats(nodes).is_some() {
                continue;
            }
            let (time, fibre) = (self.time(&nodes), self.fibre(&nodes));
            let along = card::plate(self.material, &nodes).along();
            let unit = 0.25 * measure * along[0].max(along[1]) / (fibre * fibre);
            let links = || {
                let [a, b, c, d] = nodes;
                if tears { vec![[a, b], [c, d], [a, c], [b, d]] } else { Vec::new() }
            };
            let mut straight = 0.0;
            for (corner, &point) in cell.iter().enumerate() {
                let split = &splits[point];
                let stiffness = 0.25 * measure * split.twist;
                if split.lean == [0.0; 2] {
                    straight += stiffness;
                    continue;
                }
                let node = Around::new(grid, point);
                let (nodes, terms) = node.with_cell(split.lean, corner, nodes);
                corners.push(MixedCurvature { nodes, terms, stiffness, unit, time, links: links() });
            }
            if straight > 0.0 {
                let terms = [CELL];
                twists.push(MixedCurvature {
                    nodes,
                    terms,
                    stiffness: straight,
                    unit: 4.0 * unit,
                    time,
                    links: links(),
                });
            }
        }
        groups.push(Elements::at_rest(inner, self.rest));
        groups.push(Elements::<MixedCurvature<5, 1>, 5, 1>::at_rest(border, self.rest));
        groups.push(Elements::<MixedCurvature<4, 1>, 4, 1>::at_rest(twists, self.rest));
        groups.push(Elements::<MixedCurvature<6, 2>, 6, 1>::at_rest(corners, self.rest));
        let poles = self.poles(grid, &areas);
        if !poles.is_empty() {
            limits.push("at a pole bending is that of the creases between the triangles around it, right within a third there and better the finer the grid".to_owned());
        }
        groups.push(Elements::at_rest(poles, self.rest));
    }

    /// Creases of the fan around every pole.
    fn poles(&self, grid: &Grid, areas: &[f64]) -> Vec<PoleBend> {
        let mut out = Vec::new();
        for axis in 0..2 {
            let around = 1 - axis;
            let (count, periodic) = (grid.counts[around], grid.periodic[around]);
            for high in [false, true] {
                if grid.periodic[axis] || !grid.is_pole(axis, high) {
                    continue;
                }
                let last = grid.counts[axis] - 1;
                let at = |i: usize, ring: usize| {
                    let mut point = [0; 3];
                    (point[around], point[axis]) = (i, if high { last - ring } else { ring });
                    grid.node[grid.index(point[0], point[1], point[2])]
                };
                let pole = at(0, 0);
                let ends = if periodic { 0..count } else { 1..count - 1 };
                let creases = ends.len() as f64;
                for i in ends {
                    let nodes = [pole, at(i, 1), at((i + count - 1) % count, 1), at((i + 1) % count, 1)];
                    if (1..4).any(|k| nodes[..k].contains(&nodes[k])) {
                        continue;
                    }
                    let x = gather(&nodes, self.rest);
                    let e = x[1] - x[0];
                    let area = 0.5 * (e.cross(x[2] - x[0]).length() + e.cross(x[3] - x[0]).length());
                    let plate = card::plate(self.material, &[pole]);
                    let (share, bend) = (areas[pole as usize] / creases, 0.5 * (plate.c11 + plate.c22));
                    // Curvature across the crease is 3θ|e| / 2A; a mean over directions holds ⅜ of the plate's energy.
                    let stiffness = 8.0 / 3.0 * bend * share * 2.25 * e.length_squared() / (area * area);
                    if !stiffness.is_finite() {
                        continue;
                    }
                    let (rest, fibre) = (hinge::angle(x), self.fibre(&[pole]));
                    let unit = share * bend / (fibre * fibre);
                    out.push(PoleBend { nodes, stiffness, rest, unit, time: self.time(&[pole]) });
                }
            }
        }
        out
    }

    fn solid(&self, grid: &Grid, limits: &mut Vec<String>) -> Vec<Box<dyn Group>> {
        if self.material.card.poisson > card::MOST_POISSON && self.material.weights.is_none() {
            limits.push(format!(
                "a solid is computed with Poisson's ratio {}, not {}: at 1/2 it could not be compressed at all",
                card::MOST_POISSON,
                self.material.card.poisson
            ));
        }
        let mut tables: Vec<([DVec3; 8], Arc<Table>)> = Vec::new();
        let mut cells = Vec::new();
        // Tables are made for one modulus and scaled.
        let reference = card::space(&MaterialField::uniform(self.material.card), &[0]);
        let (mut dropped, weighted) = (0, self.material.weights.is_some());
        for nodes in grid.cells() {
            let x = gather(&nodes, self.rest);
            let space = if weighted { card::space(self.material, &nodes) } else { reference };
            let scale = if weighted || self.material.card.young <= 0.0 {
                1.0
            } else {
                self.material.young.mean(&nodes) / self.material.card.young
            };
            let near = |y: &[DVec3; 8]| {
                let size = y[0].distance(y[7]);
                (1..8).all(|k| ((x[k] - x[0]) - (y[k] - y[0])).length() < 1e-9 * size)
            };
            let known = if weighted { None } else { tables.iter().rev().take(4).find(|(y, _)| near(y)) };
            let table = match known {
                Some((_, table)) => table.clone(),
                None => match Table::new(x, &space) {
                    Some(table) => {
                        let table = Arc::new(table);
                        tables.push((x, table.clone()));
                        table
                    }
                    None => {
                        dropped += 1;
                        continue;
                    }
                },
            };
            cells.push(SolidMetric { nodes, table, scale, time: self.time(&nodes) });
        }
        if dropped > 0 {
            limits.push(format!("{dropped} cells are flat at rest and have no stiffness of their own"));
        }
        vec![Elements::at_rest(cells, self.rest)]
    }

    fn mesh(&self, limits: &mut Vec<String>) -> Vec<Box<dyn Group>> {
        limits.push("bending of a triangle mesh is within a few per cent on irregular triangles and on those cut one way; a pattern of alternating diagonals rings a quarter too low".to_owned());
        if self.material.card.tears() {
            limits.push("a triangle mesh does not tear: only edges of grids break".to_owned());
        }
        let measures = self.shape.cell_measures();
        let mut tips: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for &t in &self.shape.triangles {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                tips.entry((a.min(b), a.max(b))).or_default().push(t[(k + 2) % 3]);
            }
        }
        let (mut stretch, mut bend) = (Vec::new(), Vec::new());
        for (&t, &measure) in self.shape.triangles.iter().zip(&measures) {
            let (plane, time) = (card::membrane(self.material, &t), self.time(&t));
            stretch.extend(TriangleMetric::new(t, gather(&t, self.rest), plane, measure, time));
            let mut known = [false; 3];
            let mut nodes = [t[0], t[1], t[2], t[0], t[0], t[0]];
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                // Edges of more than two triangles have no angle.
                if let [p, q] = tips[&(a.min(b), a.max(b))][..]
                    && p != q
                {
                    (known[k], nodes[3 + k]) = (true, if p == t[(k + 2) % 3] { q } else { p });
                }
            }
            let plate = card::plate(self.material, &t);
            let poisson = if plate.c11 > 0.0 { plate.c12 / plate.c11 } else { 0.0 };
            bend.extend(TriangleBend::new(
                nodes,
                known,
                gather(&nodes, self.rest),
                plate.c11,
                poisson,
                time,
                self.fibre(&t),
            ));
        }
        vec![Elements::at_rest(stretch, self.rest), Elements::at_rest(bend, self.rest)]
    }
}
