//! Curves as tubes with round ends.
//!
//! Segments are followed into chains; along a chain the tube's cross-section is carried
//! without twist (parallel transport), and at each node it lies in the bisecting plane.

use super::mesh::Mesh;
use glam::Vec3;
use std::f32::consts::{FRAC_PI_2, TAU};

/// Points drawn per segment; a chain with more nodes than the second number is smooth as it is.
const FINER: (usize, usize) = (4, 4000);
/// Sides of a tube.
const SIDES: usize = 14;
/// Rings of a round end.
const END_RINGS: usize = 4;

/// Nodes one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Its nodes; the first is not repeated at the end.
    pub nodes: Vec<u32>,
    /// The last is joined to the first.
    pub closed: bool,
}

/// Follows segments into chains; ends and forks end a chain.
pub fn chains(nodes: usize, segments: &[[u32; 2]]) -> Vec<Chain> {
    let mut at: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (s, ends) in segments.iter().enumerate() {
        for &e in ends {
            at[e as usize].push(s as u32);
        }
    }
    let mut used = vec![false; segments.len()];
    let mut chains = Vec::new();
    let open_first = (0..nodes).filter(|&n| at[n].len() != 2).chain((0..nodes).filter(|&n| at[n].len() == 2));
    for start in open_first {
        for &first in &at[start] {
            if used[first as usize] {
                continue;
            }
            let (mut list, mut node, mut segment) = (vec![start as u32], start as u32, first);
            let closed = loop {
                used[segment as usize] = true;
                let [a, b] = segments[segment as usize];
                node = if a == node { b } else { a };
                if node as usize == start && at[start].len() == 2 {
                    break true;
                }
                list.push(node);
                let onward = at[node as usize].iter().find(|&&s| !used[s as usize]);
                match onward {
                    Some(&s) if at[node as usize].len() == 2 => segment = s,
                    _ => break false,
                }
            };
            chains.push(Chain { nodes: list, closed });
        }
    }
    chains
}

/// Points on a smooth curve through the given ones (Catmull and Rom), and for each the
/// place between the given ones.
pub fn smooth(points: &[Vec3], closed: bool) -> Vec<(Vec3, f32)> {
    let n = points.len();
    if n < 3 || n > FINER.1 || points.iter().any(|p| !p.is_finite()) {
        return points.iter().enumerate().map(|(i, &p)| (p, i as f32)).collect();
    }
    let at = |i: isize| match closed {
        true => points[i.rem_euclid(n as isize) as usize],
        // Beyond an end the curve goes straight on.
        false if i < 0 => 2.0 * points[0] - points[1],
        false if i >= n as isize => 2.0 * points[n - 1] - points[n - 2],
        false => points[i as usize],
    };
    let mut finer = Vec::with_capacity(FINER.0 * n);
    for i in 0..if closed { n } else { n - 1 } {
        let k = i as isize;
        let [a, b, c, d] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
        for step in 0..FINER.0 {
            let t = step as f32 / FINER.0 as f32;
            let (slope_b, slope_c) = (0.5 * (c - a), 0.5 * (d - b));
            let p = b + t
                * (slope_b + t * (3.0 * (c - b) - 2.0 * slope_b - slope_c + t * (2.0 * (b - c) + slope_b + slope_c)));
            finer.push((p, i as f32 + t));
        }
    }
    if !closed {
        finer.push((points[n - 1], (n - 1) as f32));
    }
    finer
}

/// Adds a chain as a tube; `radius` (m) per point of the chain.
pub fn draw(
    mesh: &mut Mesh,
    points: &[Vec3],
    closed: bool,
    radius: impl Fn(usize) -> f32,
    color: impl Fn(usize) -> Vec3,
    material: u32,
) {
    let n = points.len();
    if n < 2 || points.iter().any(|p| !p.is_finite()) {
        return;
    }
    let step = |i: usize| points[(i + 1) % n] - points[i];
    let steps = if closed { n } else { n - 1 };
    let mut direction = (0..steps).find_map(|i| step(i).try_normalize()).unwrap_or(Vec3::X);
    let directions: Vec<Vec3> = (0..steps)
        .map(|i| {
            direction = step(i).try_normalize().unwrap_or(direction);
            direction
        })
        .collect();
    let mut across = directions[0].any_orthonormal_vector();
    let mut rings = Vec::with_capacity(n + 2 * END_RINGS);
    for i in 0..n {
        let before = if i > 0 {
            directions[i - 1]
        } else if closed {
            directions[n - 1]
        } else {
            directions[0]
        };
        let after = directions.get(i).copied().unwrap_or(before);
        let tangent = (before + after).try_normalize().unwrap_or(after);
        across = (across - tangent * across.dot(tangent))
            .try_normalize()
            .unwrap_or_else(|| tangent.any_orthonormal_vector());
        // In the bisecting plane the cross-section is longer across the bend; not so much that it makes a spike.
        let bend = (after - before).normalize_or_zero();
        let longer = 1.0 / tangent.dot(after).clamp(0.6, 1.0) - 1.0;
        rings.push(Ring {
            center: points[i],
            tangent,
            across,
            bend,
            longer,
            radius: radius(i),
            lean: 0.0,
            color: color(i),
        });
    }
    if !closed {
        let (first, last) = (rings[0], rings[n - 1]);
        let cap = |ring: Ring, sign: f32, k: usize| {
            let (sin, cos) = (FRAC_PI_2 * k as f32 / END_RINGS as f32).sin_cos();
            Ring {
                center: ring.center + ring.tangent * (sign * sin * ring.radius),
                radius: ring.radius * cos.max(1e-3),
                lean: sign * sin / cos.max(1e-3),
                ..ring
            }
        };
        rings.splice(0..0, (1..=END_RINGS).rev().map(|k| cap(first, -1.0, k)));
        rings.extend((1..=END_RINGS).map(|k| cap(last, 1.0, k)));
    }
    let start = mesh.vertices.len() as u32;
    for ring in &rings {
        ring.draw(mesh);
    }
    let (count, sides) = (rings.len() as u32, SIDES as u32);
    let twist = if closed { seam(&rings) } else { 0 };
    for i in 0..if closed { count } else { count - 1 } {
        let turn = if i + 1 == count { twist } else { 0 };
        for k in 0..sides {
            let here = |k: u32| start + i * sides + k % sides;
            let there = |k: u32| start + (i + 1) % count * sides + (k + turn) % sides;
            mesh.triangle([here(k), here(k + 1), there(k + 1)], material);
            mesh.triangle([here(k), there(k + 1), there(k)], material);
        }
    }
}

#[derive(Clone, Copy)]
struct Ring {
    center: Vec3,
    tangent: Vec3,
    across: Vec3,
    bend: Vec3,
    longer: f32,
    radius: f32,
    /// Slope of the normal along the tangent.
    lean: f32,
    color: Vec3,
}

impl Ring {
    fn draw(&self, mesh: &mut Mesh) {
        let other = self.tangent.cross(self.across);
        for k in 0..SIDES {
            let (sin, cos) = (TAU * k as f32 / SIDES as f32).sin_cos();
            let out = self.across * cos + other * sin;
            let stretched = out + self.bend * (self.longer * out.dot(self.bend));
            let normal = (out + self.tangent * self.lean).normalize();
            mesh.vertex(self.center + stretched * self.radius, normal, self.color);
        }
    }
}

/// Sides by which the last cross-section of a ring is turned against the first.
fn seam(rings: &[Ring]) -> u32 {
    let (Some(first), Some(last)) = (rings.first(), rings.last()) else { return 0 };
    let other = first.tangent.cross(first.across);
    let angle = last.across.dot(other).atan2(last.across.dot(first.across));
    (angle / TAU * SIDES as f32).round().rem_euclid(SIDES as f32) as u32 % SIDES as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a chain that forgets its last segment or runs in circles.
    #[test]
    fn segments_become_one_chain_whatever_their_order_and_rings_are_closed() {
        assert_eq!(chains(4, &[[2, 3], [1, 0], [1, 2]]), [Chain { nodes: vec![0, 1, 2, 3], closed: false }]);
        let ring = chains(3, &[[0, 1], [1, 2], [2, 0]]);
        assert_eq!((ring.len(), ring[0].nodes.len(), ring[0].closed), (1, 3, true));
        let fork = chains(4, &[[0, 1], [0, 2], [0, 3]]);
        assert_eq!(fork.len(), 3);
    }

    /// Catches a smooth curve that leaves its nodes or overshoots a straight line.
    #[test]
    fn a_smooth_curve_runs_through_its_nodes_and_keeps_straight_lines() {
        let bent = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        for closed in [false, true] {
            let finer = smooth(&bent, closed);
            for (i, p) in bent.iter().enumerate() {
                assert!(finer.iter().any(|(q, at)| q == p && *at == i as f32));
            }
            assert_eq!(finer.len(), if closed { 16 } else { 13 });
        }
        let line: Vec<Vec3> = (0..4).map(|i| Vec3::X * i as f32).collect();
        assert!(smooth(&line, false).iter().all(|(p, at)| (p.x - at).abs() < 1e-6 && p.y == 0.0));
    }

    /// Catches normals that point inwards and rings of the wrong radius.
    #[test]
    fn a_straight_tube_has_its_radius_and_outward_normals() {
        let points: Vec<Vec3> = (0..5).map(|i| Vec3::X * i as f32).collect();
        let mut mesh = Mesh::default();
        draw(&mut mesh, &points, false, |_| 0.1, |_| Vec3::ONE, 0);
        for v in &mesh.vertices {
            let axis = Vec3::X * v.position.x.clamp(0.0, 4.0);
            assert!((v.position.distance(axis) - 0.1).abs() < 1e-4, "{v:?}");
            assert!(v.normal.dot(v.position - axis) > 0.099, "{v:?}");
        }
    }
}
