//! Obstacles made of triangles.
//!
//! ```text
//! open     d = |x - p| - t          p: nearest point of any triangle, t: half the thickness of the wall
//! closed   d = ± |x - p|            minus where (x - p)·n < 0
//! ```
//! n is the normal of the feature that p lies on: of a triangle, the sum of both at an edge, at a corner the sum of all,
//! each by its angle there; with these the sign is right everywhere [Bærentzen & Aanæs 2005]. An open surface is a wall that
//! may be met from both sides, so a node stays on the side it came from. Boxes of triangles are in a tree, in the
//! obstacle's own axes: it is built once, and moves with the obstacle.

use super::Gap;
use super::shape::{edge_curvature, unit_or};
use crate::contact::bodies::closest::in_triangle;
use glam::{DVec3, Vec3A};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2;
use std::collections::HashMap;
use std::sync::Arc;

/// Half the thickness of the wall of an open surface, over its size, where none is given.
const WALL: f64 = 1e-3;
/// Levels of a tree that are looked through without being asked for memory.
const LEVELS: usize = 96;

/// A surface of triangles; copies share it.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(from = "Raw", into = "Raw")]
pub struct ObstacleMesh(Arc<Parts>);

/// What it is made from.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Raw {
    corners: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    half: f64,
}

struct Parts {
    raw: Raw,
    /// Every edge has a triangle on both sides.
    closed: bool,
    /// From the origin (m).
    radius: f64,
    /// Of triangles, of their three edges, and of corners; the last two not of length one.
    normals: Vec<DVec3>,
    edges: Vec<[DVec3; 3]>,
    points: Vec<DVec3>,
    tree: Bvh2,
}

impl std::fmt::Debug for ObstacleMesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObstacleMesh").field("triangles", &self.triangles().len()).finish()
    }
}

impl PartialEq for ObstacleMesh {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.raw == other.0.raw
    }
}

impl From<Raw> for ObstacleMesh {
    fn from(raw: Raw) -> Self {
        Self(Arc::new(Parts::new(raw)))
    }
}

impl From<ObstacleMesh> for Raw {
    fn from(mesh: ObstacleMesh) -> Self {
        mesh.0.raw.clone()
    }
}

impl ObstacleMesh {
    /// From corners (m, the obstacle's own axes) and triangles, which face outwards where the surface is closed.
    /// `thickness` is that of the wall of an open surface (m); `None`: a five-hundredth of its size. The error says what
    /// cannot be used of it.
    pub fn new(corners: Vec<DVec3>, triangles: Vec<[u32; 3]>, thickness: Option<f64>) -> Result<Self, String> {
        if triangles.is_empty() {
            return Err("there are no triangles in it".to_owned());
        }
        if let Some(k) = corners.iter().position(|p| !p.is_finite() || p.abs().max_element() > 1e6) {
            return Err(format!("corner {} is not a place within a thousand kilometres", k + 1));
        }
        if triangles.iter().flatten().any(|&i| i as usize >= corners.len()) {
            return Err("a triangle has a corner that is not there".to_owned());
        }
        // What has no area has no side either.
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| corners[i as usize]);
            (b - a).cross(c - a).length()
        };
        let triangles: Vec<[u32; 3]> = triangles.into_iter().filter(|t| area(t) > 0.0).collect();
        if triangles.is_empty() {
            return Err("no triangle in it has an area".to_owned());
        }
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &i in triangles.iter().flatten() {
            (low, high) = (low.min(corners[i as usize]), high.max(corners[i as usize]));
        }
        let half = thickness.map_or(WALL * (high - low).length(), |t| 0.5 * t);
        let mut raw = Raw { corners, triangles, half };
        // A closed surface that faces inwards is turned.
        let volume: f64 = (raw.triangles.iter())
            .map(|t| {
                let [a, b, c] = t.map(|i| raw.corners[i as usize] - low);
                a.dot(b.cross(c))
            })
            .sum();
        if volume < 0.0 && is_closed(&raw.triangles) {
            raw.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(raw.into())
    }

    /// Corners (m, own axes).
    pub fn corners(&self) -> &[DVec3] {
        &self.0.raw.corners
    }

    /// Triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.0.raw.triangles
    }

    /// Whether it has an inside.
    pub fn is_closed(&self) -> bool {
        self.0.closed
    }

    /// Radius of a ball about the origin that holds it (m).
    pub fn bounding_radius(&self) -> f64 {
        self.0.radius
    }

    /// Thickness below which ways through it are traced (m): that of the wall.
    pub fn thickness(&self) -> f64 {
        2.0 * self.0.raw.half
    }

    /// See [`super::ObstacleShape::distance`].
    pub fn distance(&self, local: DVec3) -> Gap {
        let parts = &*self.0;
        let (triangle, weights, square) = parts.nearest(local);
        let corners = parts.raw.triangles[triangle];
        let foot: DVec3 = (0..3).map(|k| weights[k] * parts.raw.corners[corners[k] as usize]).sum();
        let (off, far) = (local - foot, square.sqrt());
        let used = weights.iter().filter(|w| **w > 0.0).count();
        let curvature = if used == 3 { 0.0 } else { edge_curvature(far, parts.radius.max(1e-9)) };
        let feature = match used {
            3 => parts.normals[triangle],
            2 => parts.edges[triangle][(0..3).find(|&k| weights[k] == 0.0).unwrap_or(0)],
            _ => parts.points[corners[(0..3).find(|&k| weights[k] > 0.0).unwrap_or(0)] as usize],
        };
        let otherwise = unit_or(feature, parts.normals[triangle]);
        if !parts.closed {
            return Gap { distance: far - parts.raw.half, normal: unit_or(off, otherwise), curvature };
        }
        match off.dot(feature) < 0.0 {
            true => Gap { distance: -far, normal: unit_or(-off, otherwise), curvature },
            false => Gap { distance: far, normal: unit_or(off, otherwise), curvature },
        }
    }
}

/// Whether every edge is there once in each direction.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut sides: HashMap<[u32; 2], i32> = HashMap::new();
    for &[a, b, c] in triangles {
        for [i, j] in [[a, b], [b, c], [c, a]] {
            // Two of one direction count for more than two can cancel.
            let count = sides.entry([i.min(j), i.max(j)]).or_insert(0);
            *count += if i < j { 1 } else { 1 << 16 };
        }
    }
    sides.values().all(|&count| count == 1 + (1 << 16))
}

impl Parts {
    fn new(raw: Raw) -> Self {
        let at = |i: u32| raw.corners.get(i as usize).copied().unwrap_or_default();
        let mut points = vec![DVec3::ZERO; raw.corners.len()];
        let mut sides: HashMap<[u32; 2], DVec3> = HashMap::new();
        let sorted = |i: u32, j: u32| [i.min(j), i.max(j)];
        let mut normals = Vec::with_capacity(raw.triangles.len());
        for &t in &raw.triangles {
            let c = t.map(at);
            let normal = (c[1] - c[0]).cross(c[2] - c[0]).normalize_or(DVec3::Y);
            normals.push(normal);
            for k in 0..3 {
                let (to, from) = (c[(k + 1) % 3] - c[k], c[(k + 2) % 3] - c[k]);
                points[t[k] as usize] += to.angle_between(from) * normal;
                *sides.entry(sorted(t[(k + 1) % 3], t[(k + 2) % 3])).or_default() += normal;
            }
        }
        let side = |i: u32, j: u32| sides.get(&sorted(i, j)).copied().unwrap_or_default();
        let edges = raw.triangles.iter().map(|&[a, b, c]| [side(b, c), side(c, a), side(a, b)]).collect();
        let boxes: Vec<Aabb> = raw
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(at);
                let (low, high) = (a.min(b).min(c), a.max(b).max(c));
                // Rounded outwards.
                let slack = 2e-7 * low.abs().max(high.abs());
                Aabb { min: Vec3A::from((low - slack).as_vec3()), max: Vec3A::from((high + slack).as_vec3()) }
            })
            .collect();
        let tree = build_bvh2(&boxes, BvhBuildParams::medium_build(), &mut Default::default());
        let radius = raw.triangles.iter().flatten().map(|&i| at(i).length()).fold(0.0, f64::max);
        let (closed, radius) = (is_closed(&raw.triangles), radius + raw.half);
        Self { raw, closed, radius, normals, edges, points, tree }
    }

    /// The nearest triangle, weights of its corners at the place, and the square of the distance (m²).
    fn nearest(&self, x: DVec3) -> (usize, [f64; 3], f64) {
        let mut best = (0, [1.0, 0.0, 0.0], f64::INFINITY);
        let far = |node: u32| {
            let bounds = self.tree.nodes[node as usize].aabb();
            let (low, high) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
            (x - x.clamp(low, high)).length_squared()
        };
        let (mut stack, mut spill, mut height) = ([(0u32, 0.0); LEVELS], Vec::new(), 1);
        stack[0] = (0, far(0));
        while height > 0 || !spill.is_empty() {
            let (node, square) = match spill.pop() {
                Some(next) => next,
                None => {
                    height -= 1;
                    stack[height]
                }
            };
            if square >= best.2 {
                continue;
            }
            let node = &self.tree.nodes[node as usize];
            if node.prim_count > 0 {
                for k in node.first_index..node.first_index + node.prim_count {
                    let triangle = self.tree.primitive_indices[k as usize] as usize;
                    let c = self.raw.triangles[triangle].map(|i| self.raw.corners[i as usize]);
                    let w = in_triangle(x, c);
                    let square = x.distance_squared(w[0] * c[0] + w[1] * c[1] + w[2] * c[2]);
                    // Of equals the first, whatever the order of the tree.
                    if square < best.2 || (square == best.2 && triangle < best.0) {
                        best = (triangle, w, square);
                    }
                }
                continue;
            }
            let mut children = [node.first_index, node.first_index + 1].map(|child| (child, far(child)));
            // The nearer one is looked at first.
            if children[0].1 < children[1].1 {
                children.swap(0, 1);
            }
            for child in children {
                if height < LEVELS {
                    stack[height] = child;
                    height += 1;
                } else {
                    spill.push(child);
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::ObstacleShape;
    use super::super::tests::Lcg;
    use super::*;

    /// The outline of a shape, its corners welded.
    fn of(shape: &ObstacleShape) -> ObstacleMesh {
        let (corners, triangles) = shape.outline();
        let mut welded: Vec<DVec3> = Vec::new();
        let mut place = |p: DVec3| match welded.iter().position(|q| q.distance(p) < 1e-9) {
            Some(k) => k as u32,
            None => {
                welded.push(p);
                welded.len() as u32 - 1
            }
        };
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|i| place(corners[i as usize]))).collect();
        ObstacleMesh::new(welded, triangles, None).unwrap()
    }

    /// Catches a tree that misses the nearest triangle, a wrong sign at edges and corners, and normals that are not the
    /// gradient: the outline of a box is the box.
    #[test]
    fn a_closed_mesh_is_as_far_as_the_solid_it_bounds() {
        let shape = ObstacleShape::Box { size: DVec3::new(0.4, 0.3, 0.5), round: 0.0 };
        let mesh = of(&shape);
        assert!(mesh.is_closed());
        let mut random = Lcg::new(7);
        for _ in 0..3000 {
            let x = random.point(0.5);
            let (a, b) = (mesh.distance(x), shape.distance(x));
            assert!((a.distance - b.distance).abs() < 1e-9, "{x}: {} {}", a.distance, b.distance);
            let h = 1e-6;
            let gradient = DVec3::from_array(std::array::from_fn(|k| {
                let d = DVec3::AXES[k] * h;
                (mesh.distance(x + d).distance - mesh.distance(x - d).distance) / (2.0 * h)
            }));
            // Not across the middle planes, where the distance has a kink.
            if (gradient.length() - 1.0).abs() < 1e-6 {
                assert!(gradient.distance(a.normal) < 1e-5, "{x}: {gradient} {}", a.normal);
            }
        }
    }

    /// Catches an open surface with a sign: both sides are outside, and each pushes away from the wall.
    #[test]
    fn an_open_mesh_is_a_wall_with_two_sides() {
        let corner = |x: f64, z: f64| DVec3::new(x, 0.0, z);
        let corners = vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)];
        let sheet = ObstacleMesh::new(corners, vec![[0, 1, 2], [0, 2, 3]], Some(0.02)).unwrap();
        assert!(!sheet.is_closed());
        for y in [0.3, -0.3, 0.004, -0.004] {
            let gap = sheet.distance(DVec3::new(0.2, y, 0.1));
            assert!((gap.distance - (y.abs() - 0.01)).abs() < 1e-12, "{gap:?}");
            assert!(gap.normal.distance(DVec3::Y * y.signum()) < 1e-9, "{gap:?}");
        }
    }

    /// Catches meshes that cannot be used: each gets a sentence.
    #[test]
    fn bad_meshes_are_refused() {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        assert!(ObstacleMesh::new(corners.clone(), vec![], None).is_err());
        assert!(ObstacleMesh::new(corners.clone(), vec![[0, 1, 3]], None).is_err());
        assert!(ObstacleMesh::new(corners.clone(), vec![[0, 1, 1]], None).is_err());
        assert!(ObstacleMesh::new(vec![DVec3::NAN, DVec3::X, DVec3::Y], vec![[0, 1, 2]], None).is_err());
        assert!(ObstacleMesh::new(corners, vec![[0, 1, 2]], None).is_ok());
    }
}
