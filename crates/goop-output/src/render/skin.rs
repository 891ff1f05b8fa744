//! Surfaces made smooth, except where they have an edge.
//!
//! Found once, at rest: two triangles that meet at less than the crease angle share
//! their normals along the edge, others do not. So a ball stays round, a box keeps its
//! edges, and neither flickers while it bends. Nodes that lie in one place at rest
//! (seams of imported meshes) count as one for this.

use super::mesh::Mesh;
use glam::Vec3;

/// Cosine of the crease angle: 50 degrees, between a coarse ball (45) and a hexagonal prism (60).
const CREASE: f32 = 0.643;

/// A body's triangles, ready to be drawn at any instant.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Per drawn vertex: its node, the number of its normal, and its paint.
    vertices: Vec<(u32, u32, u32)>,
    /// Per triangle: drawn vertices.
    corners: Vec<[u32; 3]>,
    normals: usize,
    /// Edges to draw in a wireframe: all but the diagonals of quads.
    pub edges: Vec<[u32; 2]>,
    /// No free boundary: the inside is never seen.
    pub closed: bool,
}

impl Skin {
    /// Looks for creases and quads. All triangles must name nodes that there are. Triangles
    /// beyond the list of paints have paint 0.
    pub fn new(rest: &[Vec3], triangles: &[[u32; 3]], paints: &[u32]) -> Skin {
        let place = places(rest);
        let normal_of: Vec<Vec3> = triangles.iter().map(|t| face_normal(rest, t).normalize_or_zero()).collect();
        // Every side of every triangle, sorted so that those of one edge lie together.
        let mut sides: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * triangles.len());
        for (f, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (place[t[k] as usize], place[t[(k + 1) % 3] as usize]);
                sides.push((a.min(b), a.max(b), (3 * f + k) as u32));
            }
        }
        sides.sort_unstable();
        let mut groups: Vec<u32> = (0..3 * triangles.len() as u32).collect();
        let (mut edges, mut closed) = (Vec::new(), !triangles.is_empty());
        for edge in sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
            closed &= edge.len() > 1;
            for pair in edge.windows(2) {
                let (s, t) = (pair[0].2 as usize, pair[1].2 as usize);
                if normal_of[s / 3].dot(normal_of[t / 3]) > CREASE {
                    for corner in [s, next(s)] {
                        let node = place[triangles[corner / 3][corner % 3] as usize];
                        let other = [t, next(t)].into_iter().find(|&c| place[triangles[c / 3][c % 3] as usize] == node);
                        if let Some(other) = other {
                            join(&mut groups, corner as u32, other as u32);
                        }
                    }
                }
            }
            if !is_diagonal(rest, triangles, &normal_of, edge) {
                let s = edge[0].2 as usize;
                edges.push([triangles[s / 3][s % 3], triangles[s / 3][next(s) % 3]]);
            }
        }
        let mut skin = Skin { edges, closed, ..Skin::default() };
        skin.number(triangles, paints, &mut groups);
        skin
    }

    /// A drawn vertex for every node, normal and paint that occur together.
    fn number(&mut self, triangles: &[[u32; 3]], paints: &[u32], groups: &mut [u32]) {
        let roots: Vec<u32> = (0..groups.len() as u32).map(|c| root(groups, c)).collect();
        let mut number_of = vec![u32::MAX; groups.len()];
        let mut keys: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(groups.len());
        for (c, &r) in roots.iter().enumerate() {
            if number_of[r as usize] == u32::MAX {
                number_of[r as usize] = self.normals as u32;
                self.normals += 1;
            }
            let paint = paints.get(c / 3).copied().unwrap_or(0);
            keys.push((triangles[c / 3][c % 3], number_of[r as usize], paint, c as u32));
        }
        keys.sort_unstable();
        self.corners = vec![[0; 3]; triangles.len()];
        for same in keys.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
            for &(_, _, _, c) in same {
                self.corners[c as usize / 3][c as usize % 3] = self.vertices.len() as u32;
            }
            self.vertices.push((same[0].0, same[0].1, same[0].2));
        }
    }

    /// Adds the skin as it is at these positions; the colour depends on node and paint.
    pub fn draw(&self, mesh: &mut Mesh, positions: &[Vec3], color: impl Fn(u32, u32) -> Vec3, material: u32) {
        let mut normals = vec![Vec3::ZERO; self.normals];
        for corners in &self.corners {
            let nodes = corners.map(|v| self.vertices[v as usize].0);
            let n = face_normal(positions, &nodes);
            if n.is_finite() {
                for &v in corners {
                    normals[self.vertices[v as usize].1 as usize] += n;
                }
            }
        }
        for n in &mut normals {
            *n = n.normalize_or(Vec3::Y);
        }
        let first = mesh.vertices.len() as u32;
        for &(node, normal, paint) in &self.vertices {
            mesh.vertex(positions[node as usize], normals[normal as usize], color(node, paint));
        }
        for corners in &self.corners {
            mesh.triangle(corners.map(|v| first + v), material);
        }
    }
}

/// Least node that lies exactly where each node lies.
fn places(rest: &[Vec3]) -> Vec<u32> {
    let bits = |n: u32| rest[n as usize].to_array().map(|c| (c + 0.0).to_bits());
    let mut order: Vec<u32> = (0..rest.len() as u32).collect();
    order.sort_unstable_by_key(|&n| (bits(n), n));
    let mut place = vec![0; rest.len()];
    for same in order.chunk_by(|&a, &b| bits(a) == bits(b)) {
        for &n in same {
            place[n as usize] = same[0];
        }
    }
    place
}

/// Normal as long as twice the area.
fn face_normal(x: &[Vec3], t: &[u32; 3]) -> Vec3 {
    let [a, b, c] = t.map(|n| x[n as usize]);
    (b - a).cross(c - a)
}

/// The next corner of the same triangle.
fn next(corner: usize) -> usize {
    if corner % 3 == 2 { corner - 2 } else { corner + 1 }
}

/// An edge is drawn for the machine only, if it is the longest of both its triangles,
/// these follow each other, and they lie in a plane or nearly so.
fn is_diagonal(rest: &[Vec3], triangles: &[[u32; 3]], normals: &[Vec3], edge: &[(u32, u32, u32)]) -> bool {
    let [s, t] = edge else { return false };
    let (s, t) = (s.2 as usize, t.2 as usize);
    let (f, g) = (s / 3, t / 3);
    if f / 2 != g / 2 || normals[f].dot(normals[g]) < 0.9 {
        return false;
    }
    let length = |c: usize| {
        let a = rest[triangles[c / 3][c % 3] as usize];
        a.distance(rest[triangles[c / 3][next(c) % 3] as usize])
    };
    [s, t].iter().all(|&c| length(c) >= length(next(c)) && length(c) >= length(next(next(c))))
}

fn root(groups: &mut [u32], mut c: u32) -> u32 {
    while groups[c as usize] != c {
        groups[c as usize] = groups[groups[c as usize] as usize];
        c = groups[c as usize];
    }
    c
}

fn join(groups: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(groups, a), root(groups, b));
    groups[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let x = (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        (x, quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect())
    }

    /// Catches a box shaded like a pillow, and one drawn with its diagonals.
    #[test]
    fn a_box_keeps_its_edges_and_shows_no_diagonals() {
        let (x, triangles) = cube();
        let skin = Skin::new(&x, &triangles, &[]);
        assert!(skin.closed);
        assert_eq!((skin.vertices.len(), skin.normals, skin.edges.len()), (24, 24, 12));
        let mut mesh = Mesh::default();
        skin.draw(&mut mesh, &x, |_, _| Vec3::ONE, 0);
        for v in &mesh.vertices {
            assert!(v.normal.dot(v.position - 0.5) > 0.0 && v.normal.abs().max_element() > 0.999, "{v:?}");
        }
    }

    /// Catches a seam of doubled nodes that shows as an edge.
    #[test]
    fn doubled_nodes_of_a_flat_sheet_share_their_normal() {
        let x: Vec<Vec3> =
            [[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1]].map(|[a, b]| Vec3::new(a as f32, 0.0, b as f32)).into();
        let skin = Skin::new(&x, &[[0, 2, 1], [3, 5, 4]], &[]);
        assert_eq!((skin.vertices.len(), skin.closed), (6, false));
        assert_eq!(skin.vertices[1].1, skin.vertices[3].1);
        assert_eq!(skin.edges.len(), 4);
    }

    /// Catches a colour that runs over into the neighbour's triangle, and an edge seen
    /// where only the colour changes.
    #[test]
    fn a_change_of_paint_splits_the_colour_and_not_the_normal() {
        let x: Vec<Vec3> = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[a, b]| Vec3::new(a as f32, 0.0, b as f32)).into();
        let skin = Skin::new(&x, &[[0, 2, 1], [1, 2, 3]], &[0, 1]);
        assert_eq!((skin.vertices.len(), skin.normals), (6, 4));
        let mut mesh = Mesh::default();
        skin.draw(&mut mesh, &x, |_, paint| Vec3::splat(paint as f32), 0);
        for (triangle, paint) in mesh.triangles.iter().zip([0.0, 1.0]) {
            assert!(triangle.corners.iter().all(|&v| mesh.vertices[v as usize].color == Vec3::splat(paint)));
        }
    }
}
