//! Which nodes and triangles, and which edges, of two bodies may meet within a step.
//!
//! Both go straight through the step. Where they come nearer than the distance that is kept and a margin, the
//! pair is a meeting: with the places on both that are nearest at that moment, the direction between them, and the gap
//! they have along it at the start of the step. Only places count from which neither surface is nearer a little to
//! the side: a node beside the edge of a triangle that goes on in the next one does not run into that edge.
//!
//! A body with an inside has an outside: what is a little inside another body, as edges may get to be that were too
//! flat to be looked at, is led out again, and not held where it is.

use super::closest::{between_segments, in_triangle, on_segment};
use super::surface::{Ball, Surface};
use super::{Kept, Key, Meeting, Spot};
use crate::model::Body;
use glam::DVec3;

/// A body in a step.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Which.
    pub index: u32,
    /// The body.
    pub body: &'a Body,
    /// Its surface.
    pub surface: &'a Surface,
    /// Where it starts (m).
    pub x: &'a [DVec3],
    /// By how much each node moves (m).
    pub moves: &'a [DVec3],
    /// Its nodes that are tied, each after the body it is tied to; those do not meet that body.
    pub tied: &'a [[u32; 2]],
}

/// How near counts.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// Beyond the distance kept (m).
    pub slack: f64,
    /// Beyond that, a share of the way that two places go towards each other.
    pub margin: f64,
    /// Places count from which a surface is nearer a little to the side, too.
    pub all: bool,
    /// So do those that carried something in the last step, by name.
    pub known: &'a [Kept],
}

impl Reach<'_> {
    /// Whether a place counts though a surface is nearer beside it.
    fn counts(&self, key: &Key) -> bool {
        self.all || self.known.binary_search_by_key(key, |kept| kept.key).is_ok()
    }
}

/// Share of the way that is gone at least between two looks at the distance.
const LEAST: f64 = 1.0 / 64.0;
/// Edges count where they meet this far from their ends.
const END: f64 = 1e-6;

/// Normals with a larger cosine between them are the same.
const TWICE: f64 = 0.99;

/// Work space of a search.
#[derive(Debug, Default)]
pub struct Search {
    near: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl Search {
    /// Fills the list of what is near, in order.
    pub fn near(&mut self, fill: impl FnOnce(&mut Vec<u32>)) -> &[u32] {
        self.near.clear();
        fill(&mut self.near);
        self.near.sort_unstable();
        &self.near
    }
}

/// A node near an element.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    element: u32,
    distance: f64,
    gap: f64,
    weights: [f64; 3],
    normal: DVec3,
}

/// Two bodies of which what is in the other is led out: not those that are tied to each other, which may be in each other.
pub fn have_sides(a: &Side, b: &Side) -> bool {
    let tied = |a: &Side, b: &Side| a.tied.iter().any(|[to, _]| *to == b.index);
    a.index != b.index && !tied(a, b) && !tied(b, a)
}

/// What is inside another body by less than this many times the distance kept is led out.
const SHALLOW: f64 = 2.0;

impl Side<'_> {
    /// Which way is out of the body at an edge, after a share of the step.
    pub fn out_of_edge(&self, edge: u32, s: f64) -> DVec3 {
        let k = edge as usize;
        let at = |i: u32| self.at(i, s);
        self.surface.out_of_edge(edge, self.surface.edges[k].map(at), self.surface.wings[k].map(at))
    }

    /// Whether any of these nodes is tied to another body.
    pub fn is_tied(&self, nodes: &[u32], to: &Side) -> bool {
        !self.tied.is_empty() && nodes.iter().any(|&node| self.tied.binary_search(&[to.index, node]).is_ok())
    }

    fn at(&self, node: u32, s: f64) -> DVec3 {
        self.x[node as usize] + s * self.moves[node as usize]
    }
}

/// The first moment at which two things that move by no more than `way` towards each other come within `reach`.
fn first_near<T>(way: f64, reach: f64, mut look: impl FnMut(f64) -> (f64, T)) -> Option<(f64, T)> {
    let mut s = 0.0;
    loop {
        let (distance, found) = look(s);
        if distance <= reach {
            return Some((s, found));
        }
        let step = (distance - reach) / way;
        if s >= 1.0 || step > 1.0 - s || step.is_nan() {
            return None;
        }
        s = (s + step.max(LEAST)).min(1.0);
    }
}

/// A part of the features of a body: every so-many-eth run of them is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Which.
    pub which: usize,
    /// Of how many.
    pub of: usize,
}

impl Part {
    /// Its share of a list.
    pub fn of<T>(self, list: &[T]) -> std::ops::Range<usize> {
        let at = |k: usize| k * list.len() / self.of;
        at(self.which)..at(self.which + 1)
    }
}

/// Finds the meetings of two bodies, or of one with itself, within a step, as far as a part of the features of the first in
/// each search goes.
pub fn meetings(a: Side, b: Side, part: Part, reach: Reach, search: &mut Search, out: &mut Vec<Meeting>) {
    nodes_and_elements(a, b, part, reach, search, out);
    if a.index != b.index {
        nodes_and_elements(b, a, part, reach, search, out);
    }
    edges_and_edges(a, b, part, reach, search, out);
}

/// Whether two edges are inside each other's bodies where `off` leads from the second to the first, given which
/// way is out at each, zero where nothing is.
pub fn edges_inside(off: DVec3, [first, second]: [DVec3; 2]) -> bool {
    let (first, second) = (off.dot(first), -off.dot(second));
    first >= 0.0 && second >= 0.0 && first + second > 0.0
}

/// How far two surfaces keep their middles apart (m).
pub fn kept(a: &Surface, b: &Surface) -> f64 {
    a.half + b.half
}

fn nodes_and_elements(a: Side, b: Side, part: Part, reach: Reach, search: &mut Search, out: &mut Vec<Meeting>) {
    let Reach { slack, margin, .. } = reach;
    let (kept, itself, sides) = (kept(a.surface, b.surface), a.index == b.index, have_sides(&a, &b));
    for &i in &a.surface.nodes[part.of(&a.surface.nodes)] {
        let (from, to) = (a.at(i, 0.0), a.at(i, 1.0));
        if from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any() || a.is_tied(&[i], &b) {
            continue;
        }
        search.near.clear();
        b.surface.near([from, to].into_iter(), a.surface.half + 0.5 * slack, |element| search.near.push(element));
        search.near.sort_unstable();
        search.candidates.clear();
        let ball = Ball::new([from], [to - from]);
        for &element in &search.near {
            let corners = b.surface.elements[element as usize];
            if ball.is_far(&b.surface.balls[element as usize], kept + slack, margin) || b.is_tied(&corners, &a) {
                continue;
            }
            if itself && corners.contains(&i) {
                continue;
            }
            let nearest = |s: f64| {
                let (p, c) = (a.at(i, s), corners.map(|k| b.at(k, s)));
                let weights = weights(p, c, b.surface.curve);
                let off = p - (weights[0] * c[0] + weights[1] * c[1] + weights[2] * c[2]);
                (off.length(), (off, weights))
            };
            let own = a.moves[i as usize];
            let way = corners.iter().map(|&k| (own - b.moves[k as usize]).length()).fold(0.0, f64::max);
            let Some((s, (off, weights))) = first_near(way, kept + slack + margin * way, nearest) else { continue };
            if itself && rest_is_near(b.body, i, corners, b.surface.curve, kept) {
                continue;
            }
            let distance = off.length();
            let mut normal = if distance > 0.0 { off / distance } else { continue };
            let inside = || off.dot(b.surface.out_of_element(corners.map(|k| b.at(k, s)))) < 0.0;
            if sides && !weights.contains(&0.0) && inside() {
                // What is inside only later went in elsewhere, and is held there.
                if s > 0.0 || distance > SHALLOW * kept {
                    continue;
                }
                normal = -normal;
            }
            let start = corners.map(|k| b.x[k as usize]);
            let apart = a.x[i as usize] - (weights[0] * start[0] + weights[1] * start[1] + weights[2] * start[2]);
            search.candidates.push(Candidate { element, distance, gap: apart.dot(normal) - kept, weights, normal });
        }
        for k in 0..search.candidates.len() {
            let own = search.candidates[k];
            let corners = b.surface.elements[own.element as usize];
            let rim = own.weights.contains(&0.0) || b.surface.curve;
            let key = Key { kind: 0, bodies: [a.index, b.index], features: [i, own.element] };
            if rim
                && (is_beside(&search.candidates, k, b.surface) && !reach.counts(&key)
                    || !itself && is_twice(&search.candidates, k, b.surface))
            {
                continue;
            }
            out.push(Meeting::new(
                key,
                Spot { body: a.index, nodes: [i; 3], weights: [1.0, 0.0, 0.0] },
                Spot { body: b.index, nodes: corners, weights: own.weights },
                own.normal,
                own.gap,
                kept,
            ));
        }
    }
}

fn weights(p: DVec3, c: [DVec3; 3], curve: bool) -> [f64; 3] {
    if curve {
        let s = on_segment(p, c[0], c[1]);
        [1.0 - s, s, 0.0]
    } else {
        in_triangle(p, c)
    }
}

/// A corner or edge that is nearest in its own element, but not in a neighbour, or that a neighbour has already.
fn is_beside(candidates: &[Candidate], k: usize, surface: &Surface) -> bool {
    let own = candidates[k];
    let corners = surface.elements[own.element as usize];
    candidates.iter().enumerate().any(|(j, other)| {
        let theirs = surface.elements[other.element as usize];
        let shared = (0..3).all(|c| own.weights[c] == 0.0 || theirs.contains(&corners[c]));
        let nearer = other.distance < own.distance * (1.0 - 1e-9);
        let same = other.distance <= own.distance * (1.0 + 1e-9);
        j != k && shared && (nearer || (same && j < k))
    })
}

/// A corner or edge that an element before this one has in about the same place: two rows that say nearly the same.
fn is_twice(candidates: &[Candidate], k: usize, surface: &Surface) -> bool {
    let own = candidates[k];
    let corners = surface.elements[own.element as usize];
    candidates[..k].iter().any(|other| {
        let theirs = surface.elements[other.element as usize];
        let weight = |node: u32| (0..3).filter(|&c| theirs[c] == node).map(|c| other.weights[c]).fold(0.0, f64::max);
        other.normal.dot(own.normal) > TWICE && (0..3).all(|c| (weight(corners[c]) - own.weights[c]).abs() < 0.1)
    })
}

/// Whether a node and an element of one body are so near at rest that they always touch.
fn rest_is_near(body: &Body, node: u32, corners: [u32; 3], curve: bool, kept: f64) -> bool {
    let rest = |i: u32| body.shape.rest_positions[i as usize];
    let c = corners.map(rest);
    let w = weights(rest(node), c, curve);
    rest(node).distance(w[0] * c[0] + w[1] * c[1] + w[2] * c[2]) < 1.5 * kept
}

fn edges_and_edges(a: Side, b: Side, part: Part, reach: Reach, search: &mut Search, out: &mut Vec<Meeting>) {
    let Reach { slack, margin, .. } = reach;
    let (kept, itself, sides) = (kept(a.surface, b.surface), a.index == b.index, have_sides(&a, &b));
    for e in part.of(&a.surface.edges) {
        let edge = a.surface.edges[e];
        let ends = [a.at(edge[0], 0.0), a.at(edge[0], 1.0), a.at(edge[1], 0.0), a.at(edge[1], 1.0)];
        let (low, high) = ends.iter().fold((ends[0], ends[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let far = high.cmplt(b.surface.low).any() || low.cmpgt(b.surface.high).any();
        if !a.surface.sharp[e] || far || a.is_tied(&edge, &b) {
            continue;
        }
        search.near.clear();
        b.surface.near(ends.into_iter(), a.surface.half + 0.5 * slack, |element| {
            search.near.extend(b.surface.edges_of(element));
        });
        search.near.sort_unstable();
        for &f in &search.near {
            if !b.surface.sharp[f as usize] || itself && f as usize <= e {
                continue;
            }
            if a.surface.edge_balls[e].is_far(&b.surface.edge_balls[f as usize], kept + slack, margin) {
                continue;
            }
            let other = b.surface.edges[f as usize];
            if b.is_tied(&other, &a) || itself && edge.iter().any(|i| other.contains(i)) {
                continue;
            }
            let nearest = |s: f64| {
                let (p, q) = (edge.map(|k| a.at(k, s)), other.map(|k| b.at(k, s)));
                let places = between_segments(p, q);
                let off = p[0].lerp(p[1], places[0]) - q[0].lerp(q[1], places[1]);
                (off.length(), (off, places))
            };
            let moved = |i: u32, j: u32| (a.moves[i as usize] - b.moves[j as usize]).length();
            let way = edge.iter().flat_map(|&i| other.iter().map(move |&j| moved(i, j))).fold(0.0, f64::max);
            let Some((s, (off, [u, v]))) = first_near(way, kept + slack + margin * way, nearest) else { continue };
            if itself {
                let rest = |i: u32| b.body.shape.rest_positions[i as usize];
                let (p, q) = (edge.map(rest), other.map(rest));
                let [s, t] = between_segments(p, q);
                if p[0].lerp(p[1], s).distance(q[0].lerp(q[1], t)) < 1.5 * kept {
                    continue;
                }
            }
            let distance = off.length();
            if [u, v].iter().any(|w| *w < END || *w > 1.0 - END) || distance == 0.0 {
                continue;
            }
            let inside = sides && edges_inside(off, [a.out_of_edge(e as u32, s), b.out_of_edge(f, s)]);
            if inside && (s > 0.0 || distance > SHALLOW * kept) {
                continue;
            }
            let off = if inside { -off } else { off };
            // Neither edge may have a triangle that goes on towards the other.
            let beside = |side: &Side, edge: [u32; 2], wings: [u32; 2], towards: DVec3| {
                let (from, to) = (side.at(edge[0], s), side.at(edge[1], s));
                let along = (to - from).normalize_or_zero();
                wings.iter().any(|&wing| {
                    let out = side.at(wing, s) - from;
                    let across = out - out.dot(along) * along;
                    towards.dot(across) > 1e-3 * towards.length() * across.length()
                })
            };
            let (one, two) = (a.surface.wings[e], b.surface.wings[f as usize]);
            let key = Key { kind: 1, bodies: [a.index, b.index], features: [e as u32, f] };
            if (beside(&a, edge, one, -off) || beside(&b, other, two, off)) && !reach.counts(&key) {
                continue;
            }
            let start =
                |side: &Side, edge: [u32; 2], w: f64| side.x[edge[0] as usize].lerp(side.x[edge[1] as usize], w);
            let normal = off / distance;
            let gap = (start(&a, edge, u) - start(&b, other, v)).dot(normal) - kept;
            out.push(Meeting::new(
                key,
                Spot { body: a.index, nodes: [edge[0], edge[1], edge[1]], weights: [1.0 - u, u, 0.0] },
                Spot { body: b.index, nodes: [other[0], other[1], other[1]], weights: [1.0 - v, v, 0.0] },
                normal,
                gap,
                kept,
            ));
        }
    }
}
