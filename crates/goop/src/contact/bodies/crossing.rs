//! What passed through what in a step, on the straight ways that were really taken.

use super::closest::{
    between_segments, edge_through_edge, in_triangle, node_through_segment, node_through_triangle, on_segment,
};
use super::find::{Part, Search, Side, edges_inside, have_sides, kept};
use super::surface::Ball;
use super::{Key, Meeting, Spot};
use glam::DVec3;

/// Edges that begin so much further apart than they are across the plane in which they meet go in that plane, as those of two layers
/// folded onto each other along the grid do: they are held apart along the way between them, not to the side.
const IN_PLANE: f64 = 0.2;

/// Finds what passes through what, as meetings: with the places that met, the direction across both at that moment, and
/// the gap that they had along it at the start. Holding such a place apart is what keeps the two from passing. Returns a
/// node of the first body at one of them. `flat`: the axis across which nothing moves.
pub fn find(
    a: Side,
    b: Side,
    part: Part,
    flat: Option<usize>,
    search: &mut Search,
    out: &mut Vec<Meeting>,
) -> Option<u32> {
    let itself = a.index == b.index;
    if let Some(axis) = flat.filter(|_| a.surface.curve && b.surface.curve) {
        in_plane(a, b, part, DVec3::AXES[axis], search, out);
        if !itself {
            in_plane(b, a, part, DVec3::AXES[axis], search, out);
        }
    } else {
        nodes(a, b, part, search, out);
        if !itself {
            nodes(b, a, part, search, out);
        }
        edges(a, b, part, search, out);
    }
    let spot = out.first()?.spots.into_iter().find(|s| s.body == a.index)?;
    Some(spot.nodes[0])
}

/// A meeting of two spots that are in one place at some moment, where `across` is the direction between them.
fn met(key: Key, sides: [&Side; 2], spots: [Spot; 2], across: DVec3) -> Meeting {
    let apart = spots[0].of(sides[0].x) - spots[1].of(sides[1].x);
    let kept = kept(sides[0].surface, sides[1].surface);
    let normal = (across * across.dot(apart).signum()).normalize_or(apart.normalize_or(DVec3::Y));
    Meeting::new(key, spots[0], spots[1], normal, apart.dot(normal) - kept, kept)
}

fn nodes(a: Side, b: Side, part: Part, search: &mut Search, out: &mut Vec<Meeting>) {
    if b.surface.curve {
        return;
    }
    let sides = have_sides(&a, &b);
    let end = |side: &Side, i: u32| side.x[i as usize] + side.moves[i as usize];
    for &i in &a.surface.nodes[part.of(&a.surface.nodes)] {
        let (from, to) = (a.x[i as usize], end(&a, i));
        if from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any() || a.is_tied(&[i], &b) {
            continue;
        }
        let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
        let ball = Ball::new([from], [to - from]);
        for &element in near {
            let corners = b.surface.elements[element as usize];
            if ball.is_far(&b.surface.balls[element as usize], 0.0, 0.0) {
                continue;
            }
            if a.index == b.index && corners.contains(&i) || b.is_tied(&corners, &a) {
                continue;
            }
            let start = corners.map(|k| b.x[k as usize]);
            let way = corners.map(|k| (a.moves[i as usize] - b.moves[k as usize]).length());
            let w = in_triangle(from, start);
            let apart = from.distance(w[0] * start[0] + w[1] * start[1] + w[2] * start[2]);
            if apart > way[0].max(way[1]).max(way[2]) {
                continue;
            }
            let [p, q, r] = corners;
            let ends = [to, end(&b, p), end(&b, q), end(&b, r)];
            if let Some(s) = node_through_triangle([from, start[0], start[1], start[2]], ends) {
                let then: [DVec3; 3] = std::array::from_fn(|k| start[k].lerp(ends[k + 1], s));
                let weights = in_triangle(from.lerp(to, s), then);
                let key = Key { kind: 0, bodies: [a.index, b.index], features: [i, element] };
                let spots = [Spot::node(a.index as usize, i), Spot { body: b.index, nodes: corners, weights }];
                let meeting = met(key, [&a, &b], spots, (then[1] - then[0]).cross(then[2] - then[0]));
                // What comes out of a body is free to do so.
                if !sides || meeting.normal.dot(b.surface.out_of_element(then)) >= 0.0 {
                    out.push(meeting);
                }
            }
        }
    }
}

/// Nodes of one curve that pass through a segment of another, all in one plane.
fn in_plane(a: Side, b: Side, part: Part, axis: DVec3, search: &mut Search, out: &mut Vec<Meeting>) {
    for &i in &a.surface.nodes[part.of(&a.surface.nodes)] {
        let (from, to) = (a.x[i as usize], a.x[i as usize] + a.moves[i as usize]);
        let far = from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any();
        if far || a.is_tied(&[i], &b) {
            continue;
        }
        let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
        for &element in near {
            let corners = b.surface.elements[element as usize];
            if a.index == b.index && corners.contains(&i) || b.is_tied(&corners, &a) {
                continue;
            }
            let [p, q] = [corners[0], corners[1]].map(|k| b.x[k as usize]);
            let [p_end, q_end] = [corners[0], corners[1]].map(|k| b.x[k as usize] + b.moves[k as usize]);
            if let Some(s) = node_through_segment([from, p, q], [to, p_end, q_end], axis) {
                let (p, q) = (p.lerp(p_end, s), q.lerp(q_end, s));
                let w = on_segment(from.lerp(to, s), p, q);
                let key = Key { kind: 0, bodies: [a.index, b.index], features: [i, element] };
                let second = Spot { body: b.index, nodes: corners, weights: [1.0 - w, w, 0.0] };
                out.push(met(key, [&a, &b], [Spot::node(a.index as usize, i), second], axis.cross(q - p)));
            }
        }
    }
}

fn edges(a: Side, b: Side, part: Part, search: &mut Search, out: &mut Vec<Meeting>) {
    let end = |side: &Side, i: u32| side.x[i as usize] + side.moves[i as usize];
    let start = |side: &Side, i: u32| side.x[i as usize];
    let sides = have_sides(&a, &b);
    for e in part.of(&a.surface.edges) {
        let edge = a.surface.edges[e];
        let ends = [start(&a, edge[0]), end(&a, edge[0]), start(&a, edge[1]), end(&a, edge[1])];
        let (low, high) = ends.iter().fold((ends[0], ends[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let far = high.cmplt(b.surface.low).any() || low.cmpgt(b.surface.high).any();
        if !a.surface.sharp[e] || far || a.is_tied(&edge, &b) {
            continue;
        }
        let near = search.near(|near| {
            b.surface.near(ends.into_iter(), 0.0, |element| near.extend(b.surface.edges_of(element)));
        });
        for &f in near {
            if !b.surface.sharp[f as usize] || a.index == b.index && f as usize <= e {
                continue;
            }
            if a.surface.edge_balls[e].is_far(&b.surface.edge_balls[f as usize], 0.0, 0.0) {
                continue;
            }
            let other = b.surface.edges[f as usize];
            if b.is_tied(&other, &a) || a.index == b.index && (edge.iter().any(|i| other.contains(i))) {
                continue;
            }
            let moved = |i: u32, j: u32| (a.moves[i as usize] - b.moves[j as usize]).length_squared();
            let way = edge.iter().flat_map(|&i| other.iter().map(move |&j| moved(i, j))).fold(0.0, f64::max);
            let (p, q) = (edge.map(|i| start(&a, i)), other.map(|i| start(&b, i)));
            let places = between_segments(p, q);
            let off = p[0].lerp(p[1], places[0]) - q[0].lerp(q[1], places[1]);
            if off.length_squared() > way {
                continue;
            }
            let from = [p[0], p[1], q[0], q[1]];
            let to = [end(&a, edge[0]), end(&a, edge[1]), end(&b, other[0]), end(&b, other[1])];
            if let Some(s) = edge_through_edge(from, to) {
                let [c, d, g, h]: [DVec3; 4] = std::array::from_fn(|k| from[k].lerp(to[k], s));
                let [u, v] = between_segments([c, d], [g, h]);
                let key = Key { kind: 1, bodies: [a.index, b.index], features: [e as u32, f] };
                let spot =
                    |body: u32, [i, j]: [u32; 2], w: f64| Spot { body, nodes: [i, j, j], weights: [1.0 - w, w, 0.0] };
                let spots = |[u, v]: [f64; 2]| [spot(a.index, edge, u), spot(b.index, other, v)];
                let mut meeting = met(key, [&a, &b], spots([u, v]), (d - c).cross(h - g));
                if meeting.gap + meeting.kept < IN_PLANE * off.length() {
                    meeting = met(key, [&a, &b], spots(places), off);
                }
                if !sides || !edges_inside(meeting.normal, [a.out_of_edge(e as u32, s), b.out_of_edge(f, s)]) {
                    out.push(meeting);
                }
            }
        }
    }
}

/// Whether an edge of one pierces a triangle of the other where they are, or one closed surface is inside the other.
pub fn overlap(a: Side, b: Side, flat: Option<usize>, search: &mut Search) -> bool {
    if let Some(axis) = flat.filter(|_| a.surface.curve && b.surface.curve) {
        return meet_in_plane(a, b, DVec3::AXES[axis], search);
    }
    pierces(a, b, search) || pierces(b, a, search) || (a.index != b.index && (inside(a, b) || inside(b, a)))
}

/// Whether a segment of one curve lies across one of another, all in one plane.
fn meet_in_plane(a: Side, b: Side, axis: DVec3, search: &mut Search) -> bool {
    a.surface.elements.iter().any(|&[i, j, _]| {
        let (from, to) = (a.x[i as usize], a.x[j as usize]);
        if a.is_tied(&[i, j], &b) {
            return false;
        }
        let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
        near.iter().any(|&other| {
            let corners = b.surface.elements[other as usize];
            let own = a.index == b.index && (corners.contains(&i) || corners.contains(&j));
            let [p, q] = [corners[0], corners[1]].map(|k| b.x[k as usize]);
            !own && !b.is_tied(&corners, &a) && node_through_segment([from, p, q], [to, p, q], axis).is_some()
        })
    })
}

fn pierces(a: Side, b: Side, search: &mut Search) -> bool {
    if b.surface.curve {
        return false;
    }
    for element in a.surface.elements.iter().filter(|e| !a.is_tied(&e[..], &b)) {
        for k in 0..3 {
            let [i, j] = [element[k], element[(k + 1) % 3]];
            let (from, to) = (a.x[i as usize], a.x[j as usize]);
            if i > j || from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any() {
                continue;
            }
            let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
            for &other in near {
                let corners = b.surface.elements[other as usize];
                let own = a.index == b.index && (corners.contains(&i) || corners.contains(&j));
                if own || b.is_tied(&corners, &a) {
                    continue;
                }
                let [p, q, r] = corners.map(|c| b.x[c as usize]);
                if node_through_triangle([from, p, q, r], [to, p, q, r]).is_some() {
                    return true;
                }
            }
        }
    }
    false
}

/// Whether the first node of a body is inside the closed surface of another: by the solid angle of its triangles.
fn inside(a: Side, b: Side) -> bool {
    if !b.body.shape.closed || b.surface.curve {
        return false;
    }
    // A node that is tied may be inside.
    let Some(&node) = a.surface.nodes.iter().find(|&&i| !a.is_tied(&[i], &b)) else { return false };
    let x = a.x[node as usize];
    if x.cmplt(b.surface.low).any() || x.cmpgt(b.surface.high).any() {
        return false;
    }
    let angle: f64 = b
        .surface
        .elements
        .iter()
        .map(|e| {
            let [p, q, r]: [DVec3; 3] = e.map(|i| b.x[i as usize] - x);
            let (a, b, c) = (p.length(), q.length(), r.length());
            2.0 * p.cross(q).dot(r).atan2(a * b * c + p.dot(q) * c + q.dot(r) * a + r.dot(p) * b)
        })
        .sum();
    angle.abs() > 2.0 * std::f64::consts::PI
}
