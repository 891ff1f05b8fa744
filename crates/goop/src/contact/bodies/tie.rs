//! Nodes of one body that are fastened to another.
//!
//! Every node has a place on the other body: a mean of three of its nodes and an offset in the axes that these span. The
//! places are rows of the solve that hold in all directions (`Wish::Tied`), so each formulation can be tied to each other:
//! ```text
//! x - Σ w_k y_k = F(y) o        F: along the first edge, the normal of the three, and across
//! ```
//! The offset is turned as the velocities at the start of a step say; what that misses is made good in the next ones.

use super::Spot;
use super::closest::{in_triangle, on_segment};
use crate::model::Body;
use crate::shape::Dimension;
use crate::state::{BodyState, State};
use glam::{DMat3, DQuat, DVec3};

/// Share of what a place has been missed by that is made good in a step, and in a second (1/s): the speed stays where
/// steps are short.
const PART: f64 = 0.5;
const RATE: f64 = 60.0;

/// Some nodes of a body, fastened to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// Whose nodes they are, and what they are tied to.
    pub bodies: [usize; 2],
    /// The nodes, and their places.
    pub grips: Vec<Grip>,
}

/// One node and its place on another body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grip {
    /// Which node.
    pub node: u32,
    /// Nodes of the other body; the last two are the same where it is a curve.
    pub corners: [u32; 3],
    /// Their weights.
    pub weights: [f64; 3],
    /// From the place to the node, in the axes of the corners (m).
    pub offset: DVec3,
}

/// Axes of three corners; of two, turned as little as may be from those of the world.
fn axes(corners: [DVec3; 3]) -> DMat3 {
    let along = (corners[1] - corners[0]).normalize_or(DVec3::X);
    let out = along.cross(corners[2] - corners[0]);
    if out.length_squared() <= 1e-24 * (corners[2] - corners[0]).length_squared() {
        return DMat3::from_quat(DQuat::from_rotation_arc(DVec3::X, along));
    }
    let out = out.normalize();
    DMat3::from_cols(along, out, along.cross(out))
}

impl Tie {
    /// Ties nodes of a body to where another is nearest to them at the start; `among`: to a bone made of these nodes.
    pub fn new(bodies: [usize; 2], nodes: &[u32], [one, two]: [&Body; 2], among: Option<&[u32]>) -> Self {
        let (x, y) = (one.start_positions(), two.start_positions());
        let curve = two.shape.dimension == Dimension::Curve;
        let elements: Vec<[u32; 3]> = match among {
            Some(bone) => vec![spread(bone, &y)],
            None if curve => two.shape.segments.iter().map(|&[a, b]| [a, b, b]).collect(),
            None => two.shape.triangles.clone(),
        };
        let place = |p: DVec3, corners: [u32; 3]| {
            let c = corners.map(|i| y[i as usize]);
            let weights = if curve {
                let s = on_segment(p, c[0], c[1]);
                [1.0 - s, s, 0.0]
            } else {
                in_triangle(p, c)
            };
            (weights, p - (weights[0] * c[0] + weights[1] * c[1] + weights[2] * c[2]), axes(c))
        };
        let grips = nodes.iter().filter_map(|&node| {
            let p = x[node as usize];
            let far = |corners: &[u32; 3]| place(p, *corners).1.length_squared();
            let corners = *elements.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
            let (weights, off, axes) = place(p, corners);
            Some(Grip { node, corners, weights, offset: axes.transpose() * off })
        });
        Self { bodies, grips: grips.collect() }
    }
}

/// Three nodes of a list that are far from one another and from one line.
fn spread(nodes: &[u32], y: &[DVec3]) -> [u32; 3] {
    let at = |i: u32| y[i as usize];
    let first = nodes[0];
    let furthest = |far: &dyn Fn(DVec3) -> f64| {
        nodes.iter().copied().max_by(|&a, &b| far(at(a)).total_cmp(&far(at(b)))).unwrap_or(first)
    };
    let second = furthest(&|p| p.distance_squared(at(first)));
    let along = (at(second) - at(first)).normalize_or(DVec3::X);
    let third = furthest(&|p| (p - at(first)).cross(along).length_squared());
    [first, second, third]
}

impl Grip {
    /// The two places, and the velocity with which they are to part (m/s) in a step of length `dt`.
    pub(super) fn aim(&self, [a, b]: [usize; 2], state: &State, dt: f64) -> ([Spot; 2], DVec3) {
        let (one, two) = (&state.bodies[a], &state.bodies[b]);
        let second = Spot { body: b as u32, nodes: self.corners, weights: self.weights };
        let ahead = |s: &BodyState, i: u32| s.positions[i as usize] + dt * s.velocities[i as usize];
        let now = axes(self.corners.map(|i| two.positions[i as usize])) * self.offset;
        let then = axes(self.corners.map(|i| ahead(two, i))) * self.offset;
        let missed = now - (one.positions[self.node as usize] - second.of(&two.positions));
        ([Spot::node(a, self.node), second], (then - now) / dt + missed * (PART / dt).min(RATE))
    }
}
