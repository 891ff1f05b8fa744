//! What is drawn of a body that may tear: the same vertices and triangles before and after.
//!
//! Every cell belongs to its corners in equal parts: a segment in halves, a quadrilateral
//! in quarters, a hexahedron in eighths. A vertex stands for one corner's copy of the
//! middle of an edge, a face or a cell:
//! ```text
//! n2 ──M│M── n3       copies of M belong to one end of an edge, of C to one corner of
//!  │   C│C   │        a cell; copies of the same corner are one vertex in all cells
//!  M ── ┼ ── M
//!  M   C│C   M        whole: every copy lies at the mean of the corners
//! n0 ──M│M── n1       torn:  at the mean over the corners that still hang together, each
//!                            carrying the rest shape onwards: x + F (middle - own place)
//! ```
//! F is the rotation, with one stretch, that fits the edges that still hold at the node
//! best ([Horn 1987]); at a node that lost all its edges, those that it had. So both
//! halves of a torn cell stay, and what opens between them is the tear.
//!
//! Inside a solid the faces between the eighths are there from the start, in pairs that
//! lie on one another, face to face, until the tear opens them.

use super::{Dimension, Grid, Shape};
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;

/// A drawn mesh with a vertex for each part that a tear may take elsewhere.
#[derive(Clone, Debug)]
pub struct Unwelded {
    /// Vertices, triangles and segments at rest. Its layout is that of the grid, its
    /// positions are those of vertices.
    pub mesh: Shape,
    /// Node on whose side every vertex lies.
    pub nodes: Vec<u32>,
    vertices: Vec<Vertex>,
    parts: Vec<Part>,
    edges: Vec<[u32; 2]>,
    rest: Vec<DVec3>,
}

#[derive(Clone, Copy, Debug)]
enum Vertex {
    Node(u32),
    /// The copy that a corner has of the middle of a part.
    Middle {
        part: u32,
        corner: u8,
    },
}

/// An edge, a face or a cell of the grid.
#[derive(Clone, Debug)]
struct Part {
    /// Axes that it spans: 1, 2 or 3.
    span: u8,
    /// Corners; bit a of the number is the step along its a-th axis.
    nodes: [u32; 8],
    /// Grid edge along axis a from each corner that has bit a clear, a after a; `NONE` where it has no length.
    edges: [u32; 12],
}

impl Part {
    fn corners(&self) -> usize {
        1 << self.span
    }

    /// Ends and grid edge of all its edges.
    fn sides(&self) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
        let ends = (0..self.span).flat_map(move |axis| {
            (0..self.corners()).filter(move |c| c >> axis & 1 == 0).map(move |c| (c, c | 1 << axis))
        });
        ends.zip(&self.edges).map(|((a, b), &edge)| (a, b, edge))
    }

    fn is_torn(&self, edges: &[f64]) -> bool {
        self.edges.iter().any(|&e| e != NONE && edges[e as usize] <= 0.0)
    }

    /// Corners that hang together with one, a bit each.
    fn together(&self, corner: u8, edges: &[f64]) -> u32 {
        let mut found = 1u32 << corner;
        loop {
            let before = found;
            for (a, b, edge) in self.sides() {
                if edge == NONE || edges[edge as usize] > 0.0 {
                    let either = (found >> a | found >> b) & 1;
                    found |= either << a | either << b;
                }
            }
            if found == before {
                return found;
            }
        }
    }

    fn mean(&self, of: &[DVec3]) -> DVec3 {
        self.nodes[..self.corners()].iter().map(|&i| of[i as usize]).sum::<DVec3>() / self.corners() as f64
    }
}

impl Unwelded {
    /// The drawn mesh of a shape over a grid; nothing for a triangle mesh, which does not tear.
    pub fn new(shape: &Shape) -> Option<Self> {
        let grid = shape.grid()?;
        let mut maker = Maker::new(shape, grid);
        match shape.dimension {
            Dimension::Curve => maker.curve(),
            Dimension::Surface => maker.surface(),
            Dimension::Solid => maker.solid(),
        }
        Some(maker.finish())
    }

    /// Where the vertices are (m) for these positions of nodes and edges that hold, 1, or
    /// are broken, 0; where there are not as many as edges of the grid, all hold.
    pub fn place(&self, x: &[DVec3], edges: &[f64]) -> Vec<DVec3> {
        let edges = if edges.len() == self.edges.len() { edges } else { &[] };
        let any_broken = edges.iter().any(|&e| e <= 0.0);
        let carriers = if any_broken { self.carriers(x, edges) } else { BTreeMap::new() };
        let middle = |part: &Part, corner: u8| {
            if !any_broken || !part.is_torn(edges) {
                return part.mean(x);
            }
            let together = part.together(corner, edges);
            if together.count_ones() as usize == part.corners() {
                return part.mean(x);
            }
            let target = part.mean(&self.rest);
            let mut sum = DVec3::ZERO;
            for c in (0..part.corners()).filter(|c| together >> c & 1 == 1) {
                let node = part.nodes[c];
                let carried = carriers.get(&node).map_or(DVec3::ZERO, |f| *f * (target - self.rest[node as usize]));
                sum += x[node as usize] + carried;
            }
            sum / f64::from(together.count_ones())
        };
        (self.vertices.iter())
            .map(|vertex| match *vertex {
                Vertex::Node(node) => x[node as usize],
                Vertex::Middle { part, corner } => middle(&self.parts[part as usize], corner),
            })
            .collect()
    }

    /// How the neighbourhood of every node at a torn part lies now.
    fn carriers(&self, x: &[DVec3], edges: &[f64]) -> BTreeMap<u32, DMat3> {
        let mut fits: BTreeMap<u32, [Fit; 2]> = BTreeMap::new();
        for part in self.parts.iter().filter(|p| p.is_torn(edges)) {
            for &node in &part.nodes[..part.corners()] {
                fits.entry(node).or_default();
            }
        }
        for (&[a, b], &holds) in self.edges.iter().zip(edges) {
            for (own, other) in [(a, b), (b, a)] {
                if let Some(fit) = fits.get_mut(&own) {
                    let [from, to] = [own, other].map(|i| i as usize);
                    fit[usize::from(holds <= 0.0)].add(self.rest[to] - self.rest[from], x[to] - x[from]);
                }
            }
        }
        let carrier = |[whole, broken]: &[Fit; 2]| match whole.count {
            0 => DMat3::from_quat(broken.rotation()),
            count => DMat3::from_quat(whole.rotation()) * (whole.stretch / f64::from(count)),
        };
        fits.iter().map(|(&node, fit)| (node, carrier(fit))).collect()
    }
}

/// Edges at a node: directions at rest and now.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    /// Columns of Σ now ⊗ rest, of unit vectors.
    product: [DVec3; 3],
    stretch: f64,
    count: u32,
    /// The first direction at rest and now.
    first: [DVec3; 2],
    /// Some edge points elsewhere than the first.
    spread: bool,
}

impl Fit {
    fn add(&mut self, rest: DVec3, now: DVec3) {
        let (Some(r), Some(n)) = (rest.try_normalize(), now.try_normalize()) else { return };
        (0..3).for_each(|c| self.product[c] += n * r[c]);
        self.stretch += now.length() / rest.length();
        match self.count {
            0 => self.first = [r, n],
            _ => self.spread |= self.first[0].cross(r).length() > 1e-3,
        }
        self.count += 1;
    }

    fn rotation(&self) -> DQuat {
        match (self.count, self.spread) {
            (0, _) => DQuat::IDENTITY,
            (_, false) => DQuat::from_rotation_arc(self.first[0], self.first[1]),
            (_, true) => nearest_rotation(self.product),
        }
    }
}

/// The rotation R that makes Σ now · R rest largest: the top eigenvector of Horn's matrix, by
/// Jacobi rotations. Unlike a polar factor it is there for plane sets of vectors too.
fn nearest_rotation(columns: [DVec3; 3]) -> DQuat {
    let s = |rest: usize, now: usize| columns[rest][now];
    let (xx, yy, zz) = (s(0, 0), s(1, 1), s(2, 2));
    let mut a = [[0.0; 4]; 4];
    a[0] = [xx + yy + zz, s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0)];
    a[1] = [a[0][1], xx - yy - zz, s(0, 1) + s(1, 0), s(2, 0) + s(0, 2)];
    a[2] = [a[0][2], a[1][2], yy - xx - zz, s(1, 2) + s(2, 1)];
    a[3] = [a[0][3], a[1][3], a[2][3], zz - xx - yy];
    let mut vectors: [[f64; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for (p, q) in (0..10).flat_map(|_| [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]) {
        if a[p][q] == 0.0 {
            continue;
        }
        let theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let turn = |u: f64, v: f64| (c * (u - t * v), c * (t * u + v));
        for row in a.iter_mut().chain(&mut vectors) {
            (row[p], row[q]) = turn(row[p], row[q]);
        }
        for k in 0..4 {
            (a[p][k], a[q][k]) = turn(a[p][k], a[q][k]);
        }
    }
    let top = (0..4).max_by(|&i, &j| a[i][i].total_cmp(&a[j][j])).unwrap_or(0);
    let [w, x, y, z] = vectors.map(|row| row[top]);
    DQuat::from_xyzw(x, y, z, w).normalize()
}

struct Maker<'a> {
    shape: &'a Shape,
    grid: &'a Grid,
    /// Nodes of grid edges, sorted, with their numbers.
    by_nodes: Vec<(u64, u32)>,
    /// Part at (axes, grid point); vertex of (part, corner) and of nodes.
    part_at: Vec<u32>,
    vertex_of: Vec<[u32; 8]>,
    node_vertex: Vec<u32>,
    /// Material coordinates of parts.
    material: Vec<DVec3>,
    out: Unwelded,
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl<'a> Maker<'a> {
    fn new(shape: &'a Shape, grid: &'a Grid) -> Self {
        let edges: Vec<[u32; 2]> = (0..grid.axes()).flat_map(|axis| grid.edges(axis)).collect();
        let mut by_nodes: Vec<(u64, u32)> = edges.iter().zip(0..).map(|(n, e)| (key(n[0], n[1]), e)).collect();
        by_nodes.sort_unstable();
        let mesh = Shape {
            rest_positions: Vec::new(),
            material_coordinates: Vec::new(),
            segments: Vec::new(),
            triangles: Vec::new(),
            groups: BTreeMap::new(),
            ..shape.clone()
        };
        let rest = shape.rest_positions.clone();
        let out = Unwelded { mesh, nodes: Vec::new(), vertices: Vec::new(), parts: Vec::new(), edges, rest };
        Self {
            shape,
            grid,
            by_nodes,
            part_at: vec![NONE; grid.node.len() << grid.axes()],
            vertex_of: Vec::new(),
            node_vertex: vec![NONE; shape.len()],
            material: Vec::new(),
            out,
        }
    }

    fn edge(&self, a: u32, b: u32) -> u32 {
        let wanted = key(a, b);
        let at = self.by_nodes.partition_point(|entry| entry.0 < wanted);
        self.by_nodes.get(at).filter(|entry| entry.0 == wanted).map_or(NONE, |entry| entry.1)
    }

    /// Grid points at which a cell begins, along the axes of `mask`; along the others all points.
    fn points(&self, mask: usize) -> Vec<[usize; 3]> {
        let grid = self.grid;
        let last = |axis: usize| grid.counts[axis] - usize::from(mask >> axis & 1 == 1 && !grid.periodic[axis]);
        (0..grid.node.len()).map(|i| grid.point(i)).filter(|p| (0..3).all(|axis| p[axis] < last(axis))).collect()
    }

    /// The part that spans the axes of `mask` from a grid point on.
    fn part(&mut self, mask: usize, point: [usize; 3]) -> u32 {
        let grid = self.grid;
        let slot = grid.index(point[0], point[1], point[2]) * (1 << grid.axes()) + mask;
        if self.part_at[slot] != NONE {
            return self.part_at[slot];
        }
        let axes: Vec<usize> = (0..3).filter(|axis| mask >> axis & 1 == 1).collect();
        let (span, mut nodes, mut middle) = (axes.len(), [0; 8], DVec3::ZERO);
        for (corner, node) in nodes.iter_mut().enumerate() {
            let mut at = point;
            axes.iter()
                .enumerate()
                .for_each(|(a, &axis)| at[axis] = (at[axis] + (corner >> a & 1)) % grid.counts[axis]);
            *node = grid.node[grid.index(at[0], at[1], at[2])];
        }
        for axis in 0..3 {
            let step = if mask >> axis & 1 == 1 { 0.5 } else { 0.0 };
            let count = grid.counts[axis] - usize::from(!grid.periodic[axis]);
            middle[axis] = (point[axis] as f64 + step) / count.max(1) as f64;
        }
        let mut part = Part { span: span as u8, nodes, edges: [NONE; 12] };
        let sides: Vec<(usize, usize)> = (0..span)
            .flat_map(|a| (0..1usize << span).filter(move |c| c >> a & 1 == 0).map(move |c| (c, c | 1 << a)))
            .collect();
        for (k, (a, b)) in sides.into_iter().enumerate() {
            part.edges[k] = if nodes[a] == nodes[b] { NONE } else { self.edge(nodes[a], nodes[b]) };
        }
        self.part_at[slot] = self.out.parts.len() as u32;
        self.out.parts.push(part);
        self.vertex_of.push([NONE; 8]);
        self.material.push(middle);
        self.part_at[slot]
    }

    /// The copy that a corner of a cell has of the middle of one of the cell's parts: the one
    /// along the axes of `mask`. `corner` has a bit for each axis of the grid.
    fn vertex(&mut self, cell: [usize; 3], corner: usize, mask: usize) -> u32 {
        let mut own = cell;
        for axis in 0..3 {
            own[axis] = (own[axis] + (corner >> axis & 1)) % self.grid.counts[axis];
        }
        let node = self.grid.node[self.grid.index(own[0], own[1], own[2])];
        // Along an axis whose two corners are one node (at a pole) there is nothing to halve.
        let flat = |axis: usize| {
            let mut next = own;
            next[axis] = (cell[axis] + (1 - (corner >> axis & 1))) % self.grid.counts[axis];
            self.grid.node[self.grid.index(next[0], next[1], next[2])] == node
        };
        let single = mask.count_ones() == 1 && flat(mask.trailing_zeros() as usize);
        if mask == 0 || single {
            if self.node_vertex[node as usize] == NONE {
                self.node_vertex[node as usize] = self.out.vertices.len() as u32;
                self.out.vertices.push(Vertex::Node(node));
                self.out.nodes.push(node);
                self.out.mesh.material_coordinates.push(self.shape.material_coordinates[node as usize]);
            }
            return self.node_vertex[node as usize];
        }
        let mut start = own;
        let (mut local, mut bit) = (0usize, 0);
        for axis in (0..3).filter(|axis| mask >> axis & 1 == 1) {
            start[axis] = cell[axis];
            local |= (corner >> axis & 1) << bit;
            bit += 1;
        }
        let part = self.part(mask, start);
        let slot = &mut self.vertex_of[part as usize][local];
        if *slot == NONE {
            *slot = self.out.vertices.len() as u32;
            self.out.vertices.push(Vertex::Middle { part, corner: local as u8 });
            self.out.nodes.push(node);
            self.out.mesh.material_coordinates.push(self.material[part as usize]);
        }
        self.vertex_of[part as usize][local]
    }

    /// Two triangles, less those that a pole leaves without area.
    fn quad(&mut self, [a, b, c, d]: [u32; 4], flip: bool) {
        for [p, q, r] in [[a, b, c], [a, c, d]] {
            if p != q && q != r && r != p {
                self.out.mesh.triangles.push(if flip { [p, r, q] } else { [p, q, r] });
            }
        }
    }

    /// The quarter of a face that belongs to a corner; `axes` in ascending order. It faces
    /// along the first axis × the second, unless flipped.
    fn quarter(&mut self, cell: [usize; 3], corner: usize, base: usize, axes: [usize; 2], flip: bool) {
        let [a, b] = axes.map(|axis| 1 << axis);
        let ring = [base, base | a, base | a | b, base | b].map(|mask| self.vertex(cell, corner, mask));
        let odd = (corner >> axes[0] ^ corner >> axes[1]) & 1 == 1;
        self.quad(ring, flip != odd);
    }

    fn curve(&mut self) {
        for cell in self.points(1) {
            for corner in 0..2 {
                let half = [self.vertex(cell, corner, 0), self.vertex(cell, corner, 1)];
                self.out.mesh.segments.push(if corner == 0 { half } else { [half[1], half[0]] });
            }
        }
    }

    fn surface(&mut self) {
        let flip = self.shape.faces_down();
        for cell in self.points(0b11) {
            (0..4).for_each(|corner| self.quarter(cell, corner, 0, [0, 1], flip));
        }
    }

    fn solid(&mut self) {
        // A mirrored shape has its first triangle the other way round.
        let grid = self.grid;
        let [p, q, r] = [[0, 0], [1, 0], [1, 1]].map(|[b, c]| grid.node[grid.index(0, b, c)]);
        let turns = [[p, r, q], [r, q, p], [q, p, r]];
        let mirrored = self.shape.triangles.first().is_some_and(|own| !turns.contains(own));
        let planes = [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])];
        let cells = self.points(0b111);
        // The outside first: its triangles are neighbours in the list.
        for (axis, others) in planes {
            for high in [false, true].into_iter().filter(|_| !grid.periodic[axis]) {
                let layer = if high { grid.counts[axis] - 2 } else { 0 };
                for &cell in cells.iter().filter(|cell| cell[axis] == layer) {
                    for corner in (0..8).filter(|c| (c >> axis & 1 == 1) == high) {
                        self.quarter(cell, corner, 0, others, (high == (axis == 1)) != mirrored);
                    }
                }
            }
        }
        for cell in cells {
            for (corner, (axis, others)) in (0..8).flat_map(|corner| planes.map(|plane| (corner, plane))) {
                let ahead = corner >> axis & 1 == 0;
                self.quarter(cell, corner, 1 << axis, others, (ahead == (axis == 1)) != mirrored);
            }
        }
    }

    fn finish(mut self) -> Unwelded {
        self.out.mesh.rest_positions = self.out.place(&self.shape.rest_positions, &[]);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area_vector(x: &[DVec3], triangles: &[[u32; 3]]) -> (DVec3, f64) {
        triangles.iter().fold((DVec3::ZERO, 0.0), |(sum, area), t| {
            let [a, b, c] = t.map(|i| x[i as usize]);
            let n = 0.5 * (b - a).cross(c - a);
            (sum + n, area + n.length())
        })
    }

    /// Catches parts of cells that are lost, doubled, or turned inside out.
    #[test]
    fn whole_it_is_the_surface_it_was() {
        let rectangle = Shape::rectangle([2.0, 1.0], [5, 4]).unwrap();
        let disc = Shape::disc(1.0, [24, 6]).unwrap();
        let mirrored = rectangle.clone().scaled(DVec3::new(-1.0, 1.0, 1.0)).unwrap();
        for shape in [rectangle, disc, mirrored] {
            let drawn = Unwelded::new(&shape).unwrap();
            let (sum, area) = area_vector(&drawn.mesh.rest_positions, &drawn.mesh.triangles);
            let (old, all) = area_vector(&shape.rest_positions, &shape.triangles);
            assert!((sum - old).length() < 1e-12 && (area - all).abs() < 1e-12, "{sum} {old} {area} {all}");
        }
        for shape in [
            Shape::sphere(1.0, [16, 9]).unwrap(),
            Shape::torus(1.0, 0.3, [16, 9]).unwrap(),
            Shape::sphere(1.0, [16, 9]).unwrap().scaled(DVec3::new(1.0, -1.0, 1.0)).unwrap(),
            Shape::ball(1.0, [4, 5, 6]).unwrap(),
            Shape::block(DVec3::new(1.0, 2.0, 3.0), [3, 4, 5]).unwrap().scaled(DVec3::new(1.0, -1.0, 1.0)).unwrap(),
        ] {
            let drawn = Unwelded::new(&shape).unwrap();
            let (volume, before) =
                (drawn.mesh.enclosed_volume(&drawn.mesh.rest_positions), shape.enclosed_volume(&shape.rest_positions));
            assert!((volume / before - 1.0).abs() < 0.03, "{volume} {before}");
            let used: std::collections::BTreeSet<u32> = drawn.mesh.triangles.iter().flatten().copied().collect();
            assert_eq!(used.len(), drawn.nodes.len(), "every vertex is drawn");
        }
    }

    /// Catches a fit that is not a rotation, or not the right one, for plane and spatial sets.
    #[test]
    fn the_rotation_of_a_neighbourhood_is_found() {
        for (k, vectors) in [vec![DVec3::X, DVec3::Z, -DVec3::X], vec![DVec3::X, DVec3::Y, DVec3::Z]].iter().enumerate()
        {
            for angle in [0.0, 0.4, 2.0, 3.1, std::f64::consts::PI] {
                let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), angle);
                let mut fit = Fit::default();
                vectors.iter().for_each(|&v| fit.add(v, turn * v * 1.1));
                let found = fit.rotation();
                assert!(found.dot(turn).abs() > 1.0 - 1e-12, "set {k}, {angle} rad: {found} {turn}");
            }
        }
    }

    /// Catches a tear that shows no gap, or a half that changes its size.
    #[test]
    fn halves_of_a_torn_cell_keep_their_size() {
        let shape = Shape::rectangle([1.0, 1.0], [5, 5]).unwrap();
        let drawn = Unwelded::new(&shape).unwrap();
        let grid = shape.grid().unwrap();
        let nodes: Vec<[u32; 2]> = (0..2).flat_map(|axis| grid.edges(axis)).collect();
        // Cut between columns 2 and 3; the right part is turned and moved away.
        let right = |i: u32| i % 5 > 2;
        let edges: Vec<f64> = nodes.iter().map(|n| f64::from(u8::from(right(n[0]) == right(n[1])))).collect();
        let turn = DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(1.0);
        let moved = |p: DVec3| turn * p + DVec3::new(0.5, 1.0, -0.3);
        let mut x = shape.rest_positions.clone();
        (0..25).filter(|&i| right(i)).for_each(|i| x[i as usize] = moved(x[i as usize]));
        let place = drawn.place(&x, &edges);
        assert_eq!(place.len(), drawn.mesh.rest_positions.len());
        for (v, (&now, &rest)) in place.iter().zip(&drawn.mesh.rest_positions).enumerate() {
            let expected = if right(drawn.nodes[v]) { moved(rest) } else { rest };
            assert!(now.distance(expected) < 1e-12, "vertex {v}: {now}, not {expected}");
        }
    }

    /// The same for a solid: the faces inside must open with the eighths they belong to.
    #[test]
    fn halves_of_a_torn_solid_keep_their_volume() {
        let shape = Shape::block(DVec3::ONE, [4, 3, 3]).unwrap();
        let drawn = Unwelded::new(&shape).unwrap();
        let grid = shape.grid().unwrap();
        let nodes: Vec<[u32; 2]> = (0..3).flat_map(|axis| grid.edges(axis)).collect();
        let right = |i: u32| i % 4 > 1;
        let edges: Vec<f64> = nodes.iter().map(|n| f64::from(u8::from(right(n[0]) == right(n[1])))).collect();
        let x: Vec<DVec3> =
            (0..).zip(&shape.rest_positions).map(|(i, &p)| if right(i) { p + DVec3::X } else { p }).collect();
        let place = drawn.place(&x, &edges);
        let half: Vec<[u32; 3]> =
            drawn.mesh.triangles.iter().copied().filter(|t| right(drawn.nodes[t[0] as usize])).collect();
        let volume: f64 = half
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| place[i as usize]);
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        assert!((volume - 0.5).abs() < 1e-12, "{volume}");
        assert!(area_vector(&place, &half).0.length() < 1e-12, "closed");
    }
}
