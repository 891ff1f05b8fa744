//! The difference rows of the spline energy over a grid, with the metric of the rest shape.
//!
//! ```text
//! first   (e₊ - e) / l                                   every grid edge
//! second  2/(l₋ + l₊) · ((e₊ - e)/l₊ - (e - e₋)/l₋)      every line of three
//! mixed   (e₀₀ - e₁₀ - e₀₁ + e₁₁) / (l₁ l₂)              every face of four
//! ```
//! l are lengths of edges at rest. A row weighs as much as the length, area or volume that
//! belongs to it: every cell gives its measure in equal parts to its edges along an axis, a
//! line has half of each of its edges, a face what its cells give to the faces of
//! its plane. So rows along a boundary weigh ½ and ¼, and rows that would leave the grid
//! do not exist: the boundary is free.

use crate::shape::{Dimension, Grid, Shape};
use glam::DVec3;
use std::collections::HashMap;

/// Which derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Along an axis.
    First(usize),
    /// Twice along an axis.
    Second(usize),
    /// Along two axes: 12, 13, 23.
    Mixed(usize),
}

/// One row of D_j.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub order: Order,
    /// Up to four nodes, and how many.
    pub nodes: [u32; 4],
    pub count: usize,
    pub coefficients: [f64; 4],
    /// Length, area or volume that belongs to it.
    pub measure: f64,
    /// Tangent of a curve, normal of a surface.
    pub direction: DVec3,
    /// Grid edges within, by number; `u32::MAX` where there are fewer.
    pub edges: [u32; 4],
}

/// All rows of a grid, and its edges: nodes and lengths.
pub(super) struct Rows {
    pub rows: Vec<Row>,
    pub edges: Vec<[u32; 2]>,
    pub lengths: Vec<f64>,
}

const NONE: u32 = u32::MAX;

fn key(a: u32, b: u32) -> (u32, u32) {
    if a < b { (a, b) } else { (b, a) }
}

/// Edges of a cell along an axis: pairs of corner numbers.
fn cell_edges(axes: usize, axis: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..1usize << axes).filter(move |c| c >> axis & 1 == 0).map(move |c| [c, c | 1 << axis])
}

impl Rows {
    pub(super) fn new(shape: &Shape, grid: &Grid) -> Self {
        let (x, axes) = (&shape.rest_positions, grid.axes());
        let (mut edges, mut number) = (Vec::new(), HashMap::new());
        let mut first_of_axis = [0; 4];
        for axis in 0..axes {
            for edge in grid.edges(axis) {
                number.insert((key(edge[0], edge[1]), axis), edges.len());
                edges.push(edge);
            }
            first_of_axis[axis + 1] = edges.len();
        }
        let lengths: Vec<f64> = edges.iter().map(|e| x[e[0] as usize].distance(x[e[1] as usize])).collect();
        let normals = node_normals(shape);
        let mut measures = vec![0.0; edges.len()];
        let mut faces: HashMap<([u32; 4], usize), f64> = HashMap::new();
        let mut order = Vec::new();
        let pairs: &[[usize; 2]] = match axes {
            2 => &[[0, 1]],
            3 => &[[0, 1], [0, 2], [1, 2]],
            _ => &[],
        };
        for (cell, measure) in grid.cells().zip(shape.cell_measures()) {
            for axis in 0..axes {
                let found = || {
                    cell_edges(axes, axis)
                        .map(|ends| ends.map(|c| cell[c]))
                        .filter(|e| e[0] != e[1])
                        .filter_map(|e| number.get(&(key(e[0], e[1]), axis)).copied())
                };
                let count = found().count().max(1) as f64;
                found().for_each(|edge| measures[edge] += measure / count);
            }
            for (plane, &[a, b]) in pairs.iter().enumerate() {
                let corners = (0..1usize << axes).filter(|c| c >> a & 1 == 0 && c >> b & 1 == 0);
                let faces_here = 1usize << (axes - 2);
                for c in corners {
                    let face = [c, c | 1 << a, c | 1 << b, c | 1 << a | 1 << b].map(|c| cell[c]);
                    let mut sorted = face;
                    sorted.sort_unstable();
                    if sorted.windows(2).all(|w| w[0] != w[1]) {
                        let share = faces.entry((face, plane)).or_insert_with(|| {
                            order.push((face, plane));
                            0.0
                        });
                        *share += measure / faces_here as f64;
                    }
                }
            }
        }
        let tangent = |a: u32, b: u32| (x[b as usize] - x[a as usize]).normalize_or_zero();
        let curve = shape.dimension == Dimension::Curve;
        let across = |nodes: &[u32]| nodes.iter().map(|&i| normals[i as usize]).sum::<DVec3>().normalize_or_zero();
        let mut rows = Vec::new();
        for axis in 0..axes {
            for e in first_of_axis[axis]..first_of_axis[axis + 1] {
                let ([a, b], l) = (edges[e], lengths[e]);
                if l > 0.0 {
                    rows.push(Row {
                        order: Order::First(axis),
                        nodes: [a, b, b, b],
                        count: 2,
                        coefficients: [-1.0 / l, 1.0 / l, 0.0, 0.0],
                        measure: measures[e],
                        direction: if curve { tangent(a, b) } else { across(&[a, b]) },
                        edges: [e as u32, NONE, NONE, NONE],
                    });
                }
            }
            for [a, b, c] in grid.lines(axis) {
                let (Some(&e0), Some(&e1)) = (number.get(&(key(a, b), axis)), number.get(&(key(b, c), axis))) else {
                    continue;
                };
                let (l0, l1) = (lengths[e0], lengths[e1]);
                if l0 > 0.0 && l1 > 0.0 {
                    let f = 2.0 / (l0 + l1);
                    rows.push(Row {
                        order: Order::Second(axis),
                        nodes: [a, b, c, c],
                        count: 3,
                        coefficients: [f / l0, -f / l0 - f / l1, f / l1, 0.0],
                        measure: 0.5 * (measures[e0] + measures[e1]),
                        direction: if curve { tangent(a, c) } else { across(&[b]) },
                        edges: [e0 as u32, e1 as u32, NONE, NONE],
                    });
                }
            }
        }
        for (face, plane) in order {
            let [a, b] = pairs[plane];
            let edge = |p: usize, q: usize, axis: usize| number.get(&(key(face[p], face[q]), axis)).copied();
            let (Some(a0), Some(a1), Some(b0), Some(b1)) = (edge(0, 1, a), edge(2, 3, a), edge(0, 2, b), edge(1, 3, b))
            else {
                continue;
            };
            let f = 4.0 / ((lengths[a0] + lengths[a1]) * (lengths[b0] + lengths[b1]));
            if f.is_finite() {
                rows.push(Row {
                    order: Order::Mixed(plane),
                    nodes: face,
                    count: 4,
                    coefficients: [f, -f, -f, f],
                    measure: faces[&(face, plane)],
                    direction: across(&face),
                    edges: [a0 as u32, a1 as u32, b0 as u32, b1 as u32],
                });
            }
        }
        Self { rows, edges, lengths }
    }
}

/// Unit normals of a surface's nodes; zero for other shapes.
fn node_normals(shape: &Shape) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; shape.len()];
    if shape.dimension == Dimension::Surface {
        for t in &shape.triangles {
            let [a, b, c] = t.map(|i| shape.rest_positions[i as usize]);
            let n = (b - a).cross(c - a);
            t.iter().for_each(|&i| normals[i as usize] += n);
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    }
    normals
}
