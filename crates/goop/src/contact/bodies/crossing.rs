//! What passed through what in a step, on the straight ways that were really taken.

use super::closest::{edge_through_edge, in_triangle, node_through_segment, node_through_triangle};
use super::find::{Search, Side};
use glam::DVec3;

/// A node of the first body at which it passes through the second, or the second through it. `flat`: the axis across which
/// nothing moves.
pub fn find(a: Side, b: Side, flat: Option<usize>, search: &mut Search) -> Option<u32> {
    let itself = a.index == b.index;
    if let Some(axis) = flat.filter(|_| a.surface.curve && b.surface.curve) {
        let found = |one: Side, two: Side, search: &mut Search| in_plane(one, two, DVec3::AXES[axis], search);
        return found(a, b, search)
            .or_else(|| if itself { None } else { found(b, a, search).map(|_| a.surface.nodes[0]) });
    }
    nodes(a, b, search)
        .or_else(|| if itself { None } else { nodes(b, a, search).map(|_| a.surface.nodes[0]) })
        .or_else(|| edges(a, b, search))
}

fn nodes(a: Side, b: Side, search: &mut Search) -> Option<u32> {
    if b.surface.curve {
        return None;
    }
    let end = |side: &Side, i: u32| side.x[i as usize] + side.moves[i as usize];
    for &i in &a.surface.nodes {
        let (from, to) = (a.x[i as usize], end(&a, i));
        if from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any() || a.is_tied(&[i], &b) {
            continue;
        }
        let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
        for &element in near {
            let corners = b.surface.elements[element as usize];
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
            if node_through_triangle([from, start[0], start[1], start[2]], ends).is_some() {
                return Some(i);
            }
        }
    }
    None
}

/// A node of one curve that passes through a segment of another, all in one plane.
fn in_plane(a: Side, b: Side, axis: DVec3, search: &mut Search) -> Option<u32> {
    a.surface.nodes.iter().copied().find(|&i| {
        let (from, to) = (a.x[i as usize], a.x[i as usize] + a.moves[i as usize]);
        let far = from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any();
        if far || a.is_tied(&[i], &b) {
            return false;
        }
        let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
        near.iter().any(|&element| {
            let corners = b.surface.elements[element as usize];
            let own = a.index == b.index && corners.contains(&i);
            let [p, q] = [corners[0], corners[1]].map(|k| b.x[k as usize]);
            let [p_end, q_end] = [corners[0], corners[1]].map(|k| b.x[k as usize] + b.moves[k as usize]);
            !own && !b.is_tied(&corners, &a) && node_through_segment([from, p, q], [to, p_end, q_end], axis).is_some()
        })
    })
}

fn edges(a: Side, b: Side, search: &mut Search) -> Option<u32> {
    let end = |side: &Side, i: u32| side.x[i as usize] + side.moves[i as usize];
    let start = |side: &Side, i: u32| side.x[i as usize];
    for (e, &edge) in a.surface.edges.iter().enumerate() {
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
            let other = b.surface.edges[f as usize];
            if !b.surface.sharp[f as usize] || b.is_tied(&other, &a) {
                continue;
            }
            if a.index == b.index && (f as usize <= e || edge.iter().any(|i| other.contains(i))) {
                continue;
            }
            let moved = |i: u32, j: u32| (a.moves[i as usize] - b.moves[j as usize]).length_squared();
            let way = edge.iter().flat_map(|&i| other.iter().map(move |&j| moved(i, j))).fold(0.0, f64::max);
            let (p, q) = (edge.map(|i| start(&a, i)), other.map(|i| start(&b, i)));
            let [s, t] = super::closest::between_segments(p, q);
            if p[0].lerp(p[1], s).distance_squared(q[0].lerp(q[1], t)) > way {
                continue;
            }
            let from = [p[0], p[1], q[0], q[1]];
            let to = [end(&a, edge[0]), end(&a, edge[1]), end(&b, other[0]), end(&b, other[1])];
            if edge_through_edge(from, to).is_some() {
                return Some(edge[0]);
            }
        }
    }
    None
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
