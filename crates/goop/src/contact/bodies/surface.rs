//! What of a body can touch: its nodes, edges and triangles (a curve: segments), in a tree of boxes.
//!
//! The tree is made once and only its boxes follow the motion. Boxes hold a whole step and half of the distance that
//! is kept, in single floats rounded outwards.

use crate::model::Body;
use crate::shape::Dimension;
use glam::{DVec3, Vec3A};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2;
use std::collections::HashMap;

/// Half of the distance that a solid keeps, over its size: too small to see, large enough for the direction between two
/// surfaces to be certain.
const SKIN: f64 = 1e-3;

/// Edges of a closed surface count while the triangles beside them are out of each other's plane by more than this share
/// of half the distance kept: flatter ones have nothing that nodes and triangles miss.
const FLAT: f64 = 0.1;

/// The surface of one body.
pub struct Surface {
    /// Corners of triangles; a segment has its end twice.
    pub elements: Vec<[u32; 3]>,
    /// The elements are segments.
    pub curve: bool,
    /// Nodes that belong to an element.
    pub nodes: Vec<u32>,
    /// Edges that may touch edges.
    pub edges: Vec<[u32; 2]>,
    /// Which of them count now.
    pub sharp: Vec<bool>,
    closed: bool,
    /// The corners opposite to every edge in the triangles that have it; the edge's own first node where there is none.
    pub wings: Vec<[u32; 2]>,
    /// Which way triangles face, and edges by theirs: 1 where a × b points out of the body for the two first sides a, b of
    /// a triangle, or for an edge a and the way b to its first wing; -1 where it points in; 0 where nothing is inside.
    facing: f64,
    turns: Vec<f64>,
    /// First edge of every element; each edge belongs to one.
    pub first_edge: Vec<u32>,
    /// Balls about edges and elements over the step.
    pub edge_balls: Vec<Ball>,
    /// See `edge_balls`.
    pub balls: Vec<Ball>,
    /// Half of the distance kept (m).
    pub half: f64,
    tree: Bvh2,
    /// Bounds of everything over the step (m).
    pub low: DVec3,
    /// The other corner.
    pub high: DVec3,
}

/// A ball that holds something for a whole step: what is not near its ball is not near it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ball {
    center: DVec3,
    radius: f64,
    /// How far its corners go at most (m).
    way: f64,
}

impl Ball {
    /// About corners that go from x to x + move (m).
    pub fn new<const N: usize>(x: [DVec3; N], moves: [DVec3; N]) -> Self {
        let center = x.iter().sum::<DVec3>() / N as f64;
        let radius = x.iter().map(|x| x.distance_squared(center)).fold(0.0, f64::max).sqrt();
        let way = moves.iter().map(|m| m.length_squared()).fold(0.0, f64::max).sqrt();
        Self { center, radius, way }
    }

    /// Whether what is in it does not come within `reach` (m) of what is in another, and of a share of the way between them.
    pub fn is_far(&self, other: &Self, reach: f64, share: f64) -> bool {
        let near = self.radius + other.radius + reach + (1.0 + share) * (self.way + other.way);
        self.center.distance_squared(other.center) > near * near * (1.0 + 1e-9)
    }
}

impl std::fmt::Debug for Surface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surface").field("elements", &self.elements.len()).field("half", &self.half).finish()
    }
}

/// A box about points, widened.
fn bounds(points: impl Iterator<Item = DVec3>, wider: f64) -> Aabb {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for p in points {
        (low, high) = (low.min(p), high.max(p));
    }
    let slack = DVec3::splat(wider) + 2e-7 * low.abs().max(high.abs());
    Aabb { min: Vec3A::from((low - slack).as_vec3()), max: Vec3A::from((high + slack).as_vec3()) }
}

impl Surface {
    /// The surface of a body at its start.
    pub fn new(body: &Body, start: &[DVec3]) -> Self {
        let shape = &body.shape;
        let curve = shape.dimension == Dimension::Curve;
        let elements: Vec<[u32; 3]> = match curve {
            true => shape.segments.iter().map(|&[a, b]| [a, b, b]).collect(),
            false => shape.triangles.clone(),
        };
        let mut nodes: Vec<u32> = elements.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let Edges { edges, wings, turns, even, first_edge } = edges(&elements, curve);
        let closed = shape.closed && !curve;
        let facing = if closed && even { volume(&elements, start).signum() } else { 0.0 };
        let half = body.contact.thickness.unwrap_or_else(|| match shape.dimension {
            Dimension::Curve => 2.0 * body.material.card.radius,
            Dimension::Surface => nodes.iter().map(|&i| body.material.thickness.at(i as usize)).fold(0.0, f64::max),
            Dimension::Solid => 2.0 * SKIN * body.extent(),
        });
        let boxes: Vec<Aabb> = elements.iter().map(|e| bounds(e.iter().map(|&i| start[i as usize]), 0.0)).collect();
        let settings = BvhBuildParams { max_prims_per_leaf: 1, ..BvhBuildParams::fast_build() };
        let mut tree = build_bvh2(&boxes, settings, &mut Default::default());
        tree.init_primitives_to_nodes_if_uninit();
        tree.reorder_in_stack_traversal_order();
        tree.init_primitives_to_nodes_if_uninit();
        Self {
            elements,
            curve,
            nodes,
            sharp: vec![true; edges.len()],
            closed,
            edges,
            wings,
            facing,
            turns,
            first_edge,
            edge_balls: Vec::new(),
            balls: Vec::new(),
            half: 0.5 * half,
            tree,
            low: DVec3::ZERO,
            high: DVec3::ZERO,
        }
    }

    /// Bounds over a step in which node i goes from x to x + move (m), widened.
    pub fn follow_bounds(&mut self, x: &[DVec3], moves: impl Fn(usize) -> DVec3, wider: f64) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &i in &self.nodes {
            let (from, to) = (x[i as usize], x[i as usize] + moves(i as usize));
            (low, high) = (low.min(from.min(to)), high.max(from.max(to)));
        }
        (self.low, self.high) = (low - wider, high + wider);
    }

    /// Lets the boxes of the tree follow too.
    pub fn follow(&mut self, x: &[DVec3], moves: impl Fn(usize) -> DVec3, wider: f64) {
        for (k, element) in self.elements.iter().enumerate() {
            let ends = element.iter().map(|&i| i as usize).flat_map(|i| [x[i], x[i] + moves(i)]);
            let node = self.tree.primitives_to_nodes[k] as usize;
            self.tree.nodes[node].set_aabb(bounds(ends, wider));
        }
        self.tree.refit_all();
        let at = |i: u32| (x[i as usize], moves(i as usize));
        self.balls.clear();
        self.balls.extend(self.elements.iter().map(|e| Ball::new(e.map(|i| at(i).0), e.map(|i| at(i).1))));
        self.edge_balls.clear();
        self.edge_balls.extend(self.edges.iter().map(|e| Ball::new(e.map(|i| at(i).0), e.map(|i| at(i).1))));
        if self.closed {
            for k in 0..self.edges.len() {
                let bent = |at: &dyn Fn(u32) -> DVec3| {
                    let ([a, b], [c, d]) = (self.edges[k].map(at), self.wings[k].map(at));
                    let plane = (b - a).cross(c - a);
                    plane.dot(d - a).abs() >= FLAT * self.half * plane.length()
                };
                // A flat face that is hit may be bent when the step is over.
                self.sharp[k] = bent(&|i| x[i as usize]) || bent(&|i| x[i as usize] + moves(i as usize));
            }
        }
    }

    /// Calls `each` with every element whose box meets one about these points, widened (m).
    pub fn near(&self, points: impl Iterator<Item = DVec3>, wider: f64, mut each: impl FnMut(u32)) {
        self.tree.aabb_traverse(bounds(points, wider), |tree, node| {
            let node = &tree.nodes[node as usize];
            for k in node.first_index..node.first_index + node.prim_count {
                each(tree.primitive_indices[k as usize]);
            }
            true
        });
    }

    /// Which way is out at a triangle with these corners (m); zero where nothing is inside.
    pub fn out_of_element(&self, [a, b, c]: [DVec3; 3]) -> DVec3 {
        self.facing * (b - a).cross(c - a)
    }

    /// Which way is out at an edge from a to b with these wings: the mean of its two triangles.
    pub fn out_of_edge(&self, edge: u32, [a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> DVec3 {
        self.facing * self.turns[edge as usize] * (b - a).cross(c - d)
    }

    /// Edges that belong to an element.
    pub fn edges_of(&self, element: u32) -> std::ops::Range<u32> {
        self.first_edge[element as usize]..self.first_edge[element as usize + 1]
    }
}

/// What [`edges`] finds.
struct Edges {
    edges: Vec<[u32; 2]>,
    wings: Vec<[u32; 2]>,
    /// 1 where the first triangle that has the edge goes along it, -1 where it goes against it.
    turns: Vec<f64>,
    /// All edges have two triangles that go along them in opposite directions.
    even: bool,
    first_edge: Vec<u32>,
}

/// Volume within triangles (m³), negative where they face inwards.
fn volume(elements: &[[u32; 3]], x: &[DVec3]) -> f64 {
    let corner = |i: u32| x[i as usize] - x[elements[0][0] as usize];
    elements.iter().map(|&[a, b, c]| corner(a).cross(corner(b)).dot(corner(c)) / 6.0).sum()
}

/// Edges that count, in the order of the element that has them first.
fn edges(elements: &[[u32; 3]], curve: bool) -> Edges {
    // Edge and opposite corner.
    let sides = |[a, b, c]: [u32; 3]| match curve {
        true => vec![([a, b], a)],
        false => vec![([a, b], c), ([b, c], a), ([c, a], b)],
    };
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    /// First element, opposite corners, how often they go along it less how often against, and how many there are.
    struct Meets(usize, [u32; 2], [i32; 2]);
    let mut meets: HashMap<[u32; 2], Meets> = HashMap::new();
    for (k, element) in elements.iter().enumerate() {
        for (side, corner) in sides(*element) {
            let way = if side[0] < side[1] { 1 } else { -1 };
            let side = sorted(side);
            let entry = meets.entry(side).or_insert(Meets(k, [if curve { side[0] } else { corner }, side[0]], [0; 2]));
            if entry.0 != k {
                entry.1[1] = corner;
            }
            entry.2 = [entry.2[0] + way, entry.2[1] + 1];
        }
    }
    let even = meets.values().all(|m| m.2 == [0, 2]);
    let mut out = Edges { edges: Vec::new(), wings: Vec::new(), turns: Vec::new(), even, first_edge: vec![0] };
    for (k, element) in elements.iter().enumerate() {
        for (way, _) in sides(*element) {
            let side = sorted(way);
            if let Some(Meets(owner, wings, _)) = meets.get(&side)
                && *owner == k
            {
                out.edges.push(side);
                out.wings.push(*wings);
                out.turns.push(if way == side { 1.0 } else { -1.0 });
            }
        }
        out.first_edge.push(out.edges.len() as u32);
    }
    out
}
