//! A triangle mesh as a surface without a grid.
//!
//! A mesh is closed when every edge belongs to two triangles that run along it in
//! opposite directions. A closed mesh whose triangles face inwards is turned round
//! as a whole; one part inside out is beyond us.

use super::{Dimension, Layout, MOST_NODES, MOST_TRIANGLES, Shape, ShapeError, check_point};
use glam::DVec3;
use std::collections::BTreeMap;

impl Shape {
    /// A surface of triangles over positions (m). Triangles that name a vertex twice are
    /// dropped; every vertex must belong to a triangle with an area.
    pub fn from_triangles(
        positions: Vec<DVec3>,
        mut triangles: Vec<[u32; 3]>,
        material_coordinates: Option<Vec<DVec3>>,
        groups: BTreeMap<String, Vec<u32>>,
    ) -> Result<Self, ShapeError> {
        let count = positions.len();
        if count > MOST_NODES {
            return Err(ShapeError::TooManyNodes { nodes: count });
        }
        if triangles.len() > MOST_TRIANGLES {
            return Err(ShapeError::TooManyTriangles { triangles: triangles.len() });
        }
        for (index, &position) in positions.iter().enumerate() {
            check_point(index, position)?;
        }
        let absent = |vertex: &&u32| **vertex as usize >= count;
        for (i, triangle) in triangles.iter().enumerate() {
            if let Some(&vertex) = triangle.iter().find(absent) {
                return Err(ShapeError::NoSuchVertex { what: format!("triangle {i}"), vertex, count });
            }
        }
        for (name, group) in &groups {
            if let Some(&vertex) = group.iter().find(absent) {
                return Err(ShapeError::NoSuchVertex { what: format!("group '{name}'"), vertex, count });
            }
        }
        let material_coordinates = material_coordinates.unwrap_or_else(|| vec![DVec3::ZERO; count]);
        if material_coordinates.len() != count {
            return Err(ShapeError::MaterialCount { given: material_coordinates.len(), vertices: count });
        }
        if let Some(vertex) = material_coordinates.iter().position(|m| !m.is_finite()) {
            return Err(ShapeError::Material { vertex });
        }
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        if triangles.is_empty() {
            return Err(ShapeError::NoTriangles);
        }
        let closed = Edges::new(&triangles).all_paired();
        let mut shape = Shape {
            dimension: Dimension::Surface,
            layout: Layout::Mesh,
            rest_positions: positions,
            material_coordinates,
            segments: Vec::new(),
            triangles,
            closed,
            groups,
        };
        if let Some(vertex) = shape.node_measures().iter().position(|&area| area <= 0.0) {
            return Err(ShapeError::Loose { vertex });
        }
        if closed && shape.enclosed_volume(&shape.rest_positions) < 0.0 {
            shape.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        Ok(shape)
    }
}

/// The edges of triangles, sorted so that those between the same nodes are neighbours:
/// lower node, higher node, and in the lowest bit the direction.
pub(super) struct Edges(Vec<u64>);

impl Edges {
    pub(super) fn new(triangles: &[[u32; 3]]) -> Self {
        let mut keys = Vec::with_capacity(3 * triangles.len());
        for &[a, b, c] in triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                // Nodes are far fewer than 2³¹.
                keys.push(u64::from(from.min(to)) << 32 | u64::from(from.max(to)) << 1 | u64::from(from > to));
            }
        }
        keys.sort_unstable();
        Self(keys)
    }

    fn all_paired(&self) -> bool {
        self.uses().all(|uses| uses.len() == 2 && uses[0] != uses[1])
    }

    /// Edges that only one triangle has.
    pub(super) fn border(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.uses().filter(|uses| uses.len() == 1).map(|uses| [(uses[0] >> 32) as u32, (uses[0] as u32) >> 1])
    }

    fn uses(&self) -> impl Iterator<Item = &[u64]> {
        self.0.chunk_by(|a, b| a >> 1 == b >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        (positions, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    }

    fn build(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Shape, ShapeError> {
        Shape::from_triangles(positions, triangles, None, BTreeMap::new())
    }

    /// Catches pressure that would act in a mesh with a hole or a turned triangle.
    #[test]
    fn a_mesh_is_closed_when_edges_pair_up_in_opposite_directions() {
        let (positions, triangles) = tetrahedron();
        let shape = build(positions.clone(), triangles.clone()).unwrap();
        assert!(shape.closed && shape.boundary_nodes().is_empty());
        assert!((shape.enclosed_volume(&shape.rest_positions) - 1.0 / 6.0).abs() < 1e-15);
        let open = build(positions.clone(), triangles[..3].to_vec()).unwrap();
        assert!(!open.closed);
        assert_eq!(open.boundary_nodes(), [1, 2, 3]);
        let mut turned = triangles.clone();
        turned[2].swap(0, 1);
        assert!(!build(positions.clone(), turned).unwrap().closed);
        let mut twice = triangles;
        twice.push([1, 2, 3]);
        assert!(!build(positions, twice).unwrap().closed);
    }

    /// Catches a mesh from the wrong side of a mirror whose pressure pulls inwards.
    #[test]
    fn a_closed_mesh_that_faces_inwards_is_turned_round() {
        let (positions, mut triangles) = tetrahedron();
        triangles.iter_mut().for_each(|t| t.swap(0, 1));
        let shape = build(positions, triangles).unwrap();
        assert!(shape.enclosed_volume(&shape.rest_positions) > 0.0);
    }

    /// Catches an input fault that becomes an index out of bounds or a node without mass.
    #[test]
    fn faulty_meshes_are_refused() {
        let (positions, triangles) = tetrahedron();
        let mut extra = triangles.clone();
        extra.push([2, 2, 3]);
        assert_eq!(build(positions.clone(), extra).unwrap().triangles.len(), 4);
        assert_eq!(build(positions.clone(), vec![]), Err(ShapeError::NoTriangles));
        assert_eq!(build(positions.clone(), vec![[1, 1, 2]]), Err(ShapeError::NoTriangles));
        assert_eq!(build(positions.clone(), vec![[0, 1, 2]]), Err(ShapeError::Loose { vertex: 3 }));
        let on_a_line = vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
        assert_eq!(build(on_a_line, vec![[0, 1, 2]]), Err(ShapeError::Loose { vertex: 0 }));
        let absent = build(positions.clone(), vec![[0, 1, 2], [1, 2, 4]]).unwrap_err();
        assert_eq!(absent.to_string(), "triangle 1 names vertex 4, but there are 4: correct the index");
        let mut wild = positions.clone();
        wild[2].y = f64::NAN;
        assert_eq!(build(wild, triangles.clone()), Err(ShapeError::Point { index: 2 }));
        let with = |material, groups| Shape::from_triangles(positions.clone(), triangles.clone(), material, groups);
        let group = |v| BTreeMap::from([("ear".to_string(), vec![0, v])]);
        assert!(matches!(with(None, group(9)), Err(ShapeError::NoSuchVertex { vertex: 9, .. })));
        assert!(with(Some(vec![DVec3::ONE; 4]), group(3)).is_ok());
        let short = with(Some(vec![DVec3::ONE; 3]), group(3));
        assert_eq!(short, Err(ShapeError::MaterialCount { given: 3, vertices: 4 }));
        assert_eq!(with(Some(vec![DVec3::NAN; 4]), group(3)), Err(ShapeError::Material { vertex: 0 }));
        assert_eq!(build(vec![], vec![]), Err(ShapeError::NoTriangles));
    }
}
