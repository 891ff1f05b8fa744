//! What passed through what in a step, on the straight ways that were really taken.

use super::closest::{edge_through_edge, in_triangle, node_through_triangle};
use super::find::{Search, Side};
use glam::DVec3;

/// A node of the first body at which it passes through the second, or the second through it.
pub fn find(a: Side, b: Side, search: &mut Search) -> Option<u32> {
    let itself = a.index == b.index;
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
        if from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any() {
            continue;
        }
        let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
        for &element in near {
            let corners = b.surface.elements[element as usize];
            if a.index == b.index && corners.contains(&i) {
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

fn edges(a: Side, b: Side, search: &mut Search) -> Option<u32> {
    let end = |side: &Side, i: u32| side.x[i as usize] + side.moves[i as usize];
    let start = |side: &Side, i: u32| side.x[i as usize];
    for (e, &edge) in a.surface.edges.iter().enumerate() {
        let ends = [start(&a, edge[0]), end(&a, edge[0]), start(&a, edge[1]), end(&a, edge[1])];
        let (low, high) = ends.iter().fold((ends[0], ends[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        if !a.surface.sharp[e] || high.cmplt(b.surface.low).any() || low.cmpgt(b.surface.high).any() {
            continue;
        }
        let near = search.near(|near| {
            b.surface.near(ends.into_iter(), 0.0, |element| near.extend(b.surface.edges_of(element)));
        });
        for &f in near {
            let other = b.surface.edges[f as usize];
            if !b.surface.sharp[f as usize] {
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
pub fn overlap(a: Side, b: Side, search: &mut Search) -> bool {
    pierces(a, b, search) || pierces(b, a, search) || (a.index != b.index && (inside(a, b) || inside(b, a)))
}

fn pierces(a: Side, b: Side, search: &mut Search) -> bool {
    if b.surface.curve {
        return false;
    }
    for element in &a.surface.elements {
        for k in 0..3 {
            let [i, j] = [element[k], element[(k + 1) % 3]];
            let (from, to) = (a.x[i as usize], a.x[j as usize]);
            if i > j || from.max(to).cmplt(b.surface.low).any() || from.min(to).cmpgt(b.surface.high).any() {
                continue;
            }
            let near = search.near(|near| b.surface.near([from, to].into_iter(), 0.0, |element| near.push(element)));
            for &other in near {
                let corners = b.surface.elements[other as usize];
                if a.index == b.index && (corners.contains(&i) || corners.contains(&j)) {
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
    let x = a.x[a.surface.nodes[0] as usize];
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
