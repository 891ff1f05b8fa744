//! The motion of a run on disk, in files that other programs read.
//!
//! ```text
//! rest/bodies.json        frames per second, bodies, materials
//! rest/<body>.obj  .mtl   drawn mesh at rest: faces, lines, texture coordinates
//! rest/<body>.springs.ply springs between the nodes, for bodies that have any
//! cache/<body>.pc2        PointCache2: position of every vertex of the OBJ, a sample a frame
//! cache/<body>.nodes      velocity and stretch of every node, a sample a frame
//! ```
//! Vertices are what is drawn, nodes are what moves. A solid has nodes inside that no
//! triangle names: they are no vertices. A mesh from a file has its vertices in the order
//! and number of that file, several at one node where the simulation welded them; those
//! that nothing names are kept as well. Importers of OBJ drop such vertices, and then the
//! counts of mesh and cache would differ, so each has a line of no length, `l v v`.
//!
//! Both caches begin with 32 bytes, little-endian:
//! ```text
//!  0  "POINTCACHE2\0" or "GOOPNODES\0\0\0"
//! 12  i32 version (1)      16  i32 points     20  f32 start frame
//! 24  f32 sample rate (1)  28  i32 samples
//! ```
//! then samples of f32: `x y z` a vertex (m), or `vx vy vz stretch` a node (m/s, -). Where
//! the nodes are not the vertices, one for one, `x y z` of every node follows in the same
//! sample. The caches grow by whole frames. A reader goes by the length of the file, so
//! that those of a killed run can be used up to its last whole frame.

mod index;
mod obj;
mod reader;
mod shape;
mod sink;
mod springs;
#[cfg(test)]
pub(crate) mod tests;

pub use reader::{CacheReader, CachedBody, NodeFrame};
pub use sink::Cache;
pub use springs::write as write_springs;

pub(crate) use index::read_limited;
pub(crate) use obj::{write_material_library, write_obj};
pub(crate) use sink::remove_old;

use crate::error::OutputError;
use serde::{Deserialize, Serialize};

/// In [`CacheBody::nodes`]: this vertex belongs to no node and stays at rest.
pub const NO_NODE: u32 = u32::MAX;

/// A colour with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Name.
    pub name: String,
    /// Red, green, blue and opacity, 0 to 1, linear; `None` where it is not known.
    pub colour: Option<[f32; 4]>,
    /// Picture on it in the file that it came from. It is named, not copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture: Option<String>,
}

impl Material {
    /// A material without a picture.
    pub fn new(name: impl Into<String>, colour: Option<[f32; 4]>) -> Material {
        Material { name: name.into(), colour, texture: None }
    }

    /// The colour, light grey where it is not known.
    pub fn shown(&self) -> [f32; 4] {
        self.colour.unwrap_or([0.8, 0.8, 0.8, 1.0])
    }
}

/// What is drawn of a body, at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestMesh {
    /// Name of the body.
    pub name: String,
    /// Position of every vertex (m).
    pub positions: Vec<[f32; 3]>,
    /// Triangles between vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Segments between vertices.
    pub segments: Vec<[u32; 2]>,
    /// Radius of the segments (m), 0 where it is not known.
    pub radius: f32,
    /// Texture coordinates, v upwards; empty where there are none.
    pub uvs: Vec<[f32; 2]>,
    /// Texture coordinate of every corner; empty where coordinate i belongs to vertex i.
    pub triangle_uvs: Vec<[u32; 3]>,
    /// Materials of the triangles.
    pub materials: Vec<Material>,
    /// Material of every triangle; empty where all have the first.
    pub triangle_materials: Vec<u32>,
}

impl RestMesh {
    /// Texture coordinates of a triangle's corners, where there are any.
    pub fn corner_uvs(&self, triangle: usize) -> Option<[u32; 3]> {
        match (self.uvs.is_empty(), self.triangle_uvs.get(triangle)) {
            (true, _) => None,
            (false, Some(uvs)) => Some(*uvs),
            (false, None) => self.triangles.get(triangle).copied(),
        }
    }

    /// The first texture coordinate that each vertex has in the order of triangles, or nothing.
    pub fn vertex_uvs(&self) -> Option<Vec<[f32; 2]>> {
        if self.uvs.is_empty() {
            return None;
        }
        if self.triangle_uvs.is_empty() {
            return Some(self.uvs.clone());
        }
        let mut found = vec![None; self.positions.len()];
        for (triangle, uvs) in self.triangles.iter().zip(&self.triangle_uvs) {
            for (&vertex, &uv) in triangle.iter().zip(uvs) {
                found[vertex as usize].get_or_insert(self.uvs[uv as usize]);
            }
        }
        Some(found.into_iter().map(|uv| uv.unwrap_or_default()).collect())
    }

    /// Vertices that no triangle or segment names, where there are any of these.
    pub fn loose(&self) -> Vec<u32> {
        if self.triangles.is_empty() && self.segments.is_empty() {
            return Vec::new();
        }
        let mut named = vec![false; self.positions.len()];
        let corners = self.triangles.iter().flatten().chain(self.segments.iter().flatten());
        corners.for_each(|&vertex| named[vertex as usize] = true);
        (0..).zip(named).filter(|(_, named)| !named).map(|(vertex, _)| vertex).collect()
    }

    /// Triangles of a material, in order.
    pub fn triangles_of(&self, material: usize) -> impl Iterator<Item = usize> + '_ {
        let of = move |t: usize| self.triangle_materials.get(t).map_or(0, |&m| m as usize);
        (0..self.triangles.len()).filter(move |&t| of(t) == material)
    }

    /// Every index names something that is there, and every list has the length it must.
    fn check(&self) -> Result<(), OutputError> {
        let remedy = "give lists that belong to one mesh";
        let fail = |what: String| Err(OutputError::body(&self.name, what, remedy));
        let vertices = self.positions.len();
        if i32::try_from(vertices).is_err() {
            return fail(format!("{vertices} vertices are more than the formats can count"));
        }
        let corners = self.triangles.iter().flatten().chain(self.segments.iter().flatten());
        if let Some(&index) = corners.max().filter(|&&index| index as usize >= vertices) {
            return Err(OutputError::NodeOutOfRange { body: self.name.clone(), index, nodes: vertices });
        }
        let (triangles, uvs) = (self.triangles.len(), self.uvs.len());
        if self.triangle_uvs.is_empty() && uvs != 0 && uvs != vertices {
            return fail(format!("it has {uvs} texture coordinates for {vertices} vertices"));
        }
        if !self.triangle_uvs.is_empty() && self.triangle_uvs.len() != triangles {
            return fail(format!(
                "it has texture coordinates for {} of {triangles} triangles",
                self.triangle_uvs.len()
            ));
        }
        if self.triangle_uvs.iter().flatten().any(|&uv| uv as usize >= uvs) {
            return fail(format!("a corner names a texture coordinate beyond the {uvs} there are"));
        }
        if !self.triangle_materials.is_empty() && self.triangle_materials.len() != triangles {
            return fail(format!("it has materials for {} of {triangles} triangles", self.triangle_materials.len()));
        }
        if self.triangle_materials.iter().any(|&m| m as usize >= self.materials.len()) {
            return fail(format!("a triangle names a material beyond the {} there are", self.materials.len()));
        }
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        if !finite(self.positions.as_flattened()) || !finite(self.uvs.as_flattened()) || !self.radius.is_finite() {
            return fail("it has a coordinate that is not finite".into());
        }
        Ok(())
    }
}

/// A body as the cache takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheBody {
    /// What is drawn.
    pub rest: RestMesh,
    /// Node of every vertex, or [`NO_NODE`]; `None` where vertex i is node i, and vertices
    /// that nothing draws are left out.
    pub nodes: Option<Vec<u32>>,
    /// Number of nodes.
    pub node_count: usize,
}

impl CacheBody {
    /// A body whose nodes are the vertices of `rest`.
    pub fn of_nodes(rest: RestMesh) -> CacheBody {
        let node_count = rest.positions.len();
        CacheBody { rest, nodes: None, node_count }
    }

    /// Leaves out nodes that nothing drawn names, unless nothing is drawn at all. Vertices
    /// that were given nodes of their own stay.
    pub(crate) fn drawn(self) -> Result<CacheBody, OutputError> {
        self.rest.check()?;
        let CacheBody { mut rest, nodes, node_count } = self;
        let vertices = rest.positions.len();
        let all = nodes.is_some();
        let nodes = nodes.unwrap_or_else(|| (0..vertices as u32).collect());
        let strange = nodes.iter().any(|&node| node != NO_NODE && node as usize >= node_count);
        if nodes.len() != vertices || strange || i32::try_from(node_count).is_err() {
            let what = format!("its {vertices} vertices and {node_count} nodes do not belong together");
            return Err(OutputError::body(&rest.name, what, "give a node for every vertex"));
        }
        let mut place = vec![NO_NODE; vertices];
        let corners = rest.triangles.iter().flatten().chain(rest.segments.iter().flatten());
        corners.for_each(|&vertex| place[vertex as usize] = 0);
        if all || place.iter().all(|&p| p == NO_NODE) {
            place.fill(0);
        }
        let kept: Vec<usize> = (0..vertices).filter(|&vertex| place[vertex] == 0).collect();
        kept.iter().enumerate().for_each(|(i, &vertex)| place[vertex] = i as u32);
        rest.positions = kept.iter().map(|&vertex| rest.positions[vertex]).collect();
        if rest.triangle_uvs.is_empty() && !rest.uvs.is_empty() {
            rest.uvs = kept.iter().map(|&vertex| rest.uvs[vertex]).collect();
        }
        rest.triangles.iter_mut().flatten().for_each(|vertex| *vertex = place[*vertex as usize]);
        rest.segments.iter_mut().flatten().for_each(|vertex| *vertex = place[*vertex as usize]);
        let nodes: Vec<u32> = kept.iter().map(|&vertex| nodes[vertex]).collect();
        let same = nodes.len() == node_count && nodes.iter().enumerate().all(|(i, &node)| i as u32 == node);
        Ok(CacheBody { rest, nodes: (!same).then_some(nodes), node_count })
    }
}
