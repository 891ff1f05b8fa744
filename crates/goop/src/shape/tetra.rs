//! A solid of tetrahedra over free nodes: what a character is sampled into.
//!
//! Every node gets a quarter of the tetrahedra around it. The boundary is made of the
//! faces that only one tetrahedron has. A lattice may say which of its nodes springs
//! join (a diagonal-braced one does); otherwise they run along the tetrahedra's edges.

use super::{Dimension, LEAST_SIZE, Layout, MOST_NODES, Shape, ShapeError, check_point};
use glam::DVec3;
use std::collections::BTreeMap;

/// Most tetrahedra a solid may have.
pub const MOST_CELLS: usize = 80_000_000;

/// Tetrahedra over free nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tetrahedra {
    /// Corners of every tetrahedron, (b - a)×(c - a)·(d - a) > 0.
    pub cells: Vec<[u32; 4]>,
    /// Pairs that springs join, lower node first, ascending; empty: the edges of the cells.
    pub links: Vec<[u32; 2]>,
    /// Volume that the nodes share (m³): that of the cells, or of the skin they stand for.
    pub volume: f64,
}

impl Tetrahedra {
    /// Pairs of nodes that an edge or a link joins, ascending.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        if !self.links.is_empty() {
            return self.links.clone();
        }
        cell_edges(&self.cells)
    }
}

/// Edges of tetrahedra, each once, lower node first, ascending.
pub fn cell_edges(cells: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut edges = Vec::with_capacity(6 * cells.len());
    for c in cells {
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            edges.push([c[i].min(c[j]), c[i].max(c[j])]);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Volume of a tetrahedron (m³), positive when its last corner sees the others counter-clockwise
/// from outside.
pub fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).cross(c - a).dot(d - a) / 6.0
}

impl Shape {
    /// A solid of tetrahedra over positions (m). Tetrahedra may come in either orientation, but
    /// must have a volume, and every node must belong to one.
    pub fn from_tetrahedra(
        positions: Vec<DVec3>,
        mut cells: Vec<[u32; 4]>,
        mut links: Vec<[u32; 2]>,
        groups: BTreeMap<String, Vec<u32>>,
    ) -> Result<Self, ShapeError> {
        let count = positions.len();
        if count > MOST_NODES {
            return Err(ShapeError::TooManyNodes { nodes: count });
        }
        if cells.len() > MOST_CELLS {
            return Err(ShapeError::TooManyCells { cells: cells.len() });
        }
        for (index, &position) in positions.iter().enumerate() {
            check_point(index, position)?;
        }
        let absent = |vertex: &&u32| **vertex as usize >= count;
        let fault = |what: String, vertex: u32| Err(ShapeError::NoSuchVertex { what, vertex, count });
        let (mut used, mut total) = (vec![false; count], 0.0);
        for (i, cell) in cells.iter_mut().enumerate() {
            if let Some(&vertex) = cell.iter().find(absent) {
                return fault(format!("tetrahedron {i}"), vertex);
            }
            let corners = cell.map(|n| positions[n as usize]);
            let size = volume(corners);
            let longest = (1..4).map(|k| corners[k].distance(corners[0])).fold(0.0, f64::max);
            if size.abs() <= 1e-12 * longest.powi(3) {
                return Err(ShapeError::FlatCell { cell: i });
            }
            if size < 0.0 {
                cell.swap(2, 3);
            }
            total += size.abs();
            cell.iter().for_each(|&n| used[n as usize] = true);
        }
        if cells.is_empty() || total < LEAST_SIZE.powi(3) {
            return Err(ShapeError::Collapsed { what: "solid of tetrahedra" });
        }
        if let Some(vertex) = used.iter().position(|used| !used) {
            return Err(ShapeError::LooseNode { vertex });
        }
        for (i, link) in links.iter_mut().enumerate() {
            if let Some(&vertex) = link.iter().find(absent) {
                return fault(format!("link {i}"), vertex);
            }
            link.sort_unstable();
        }
        links.retain(|[a, b]| a != b);
        links.sort_unstable();
        links.dedup();
        for (name, group) in &groups {
            if let Some(&vertex) = group.iter().find(absent) {
                return fault(format!("group '{name}'"), vertex);
            }
        }
        Ok(Shape {
            dimension: Dimension::Solid,
            material_coordinates: box_coordinates(&positions),
            rest_positions: positions,
            segments: Vec::new(),
            triangles: boundary(&cells),
            closed: true,
            groups,
            layout: Layout::Tetrahedra(Tetrahedra { cells, links, volume: total }),
        })
    }

    /// Tetrahedra, where the shape is made of them.
    pub fn tetrahedra(&self) -> Option<&Tetrahedra> {
        match &self.layout {
            Layout::Tetrahedra(tetrahedra) => Some(tetrahedra),
            _ => None,
        }
    }

    /// Lets the nodes of a solid of tetrahedra share another volume (m³) than that of its
    /// cells, as where these stand for a skin that they do not follow exactly.
    pub fn with_volume(mut self, cubic_metres: f64) -> Self {
        if let Layout::Tetrahedra(tetrahedra) = &mut self.layout
            && cubic_metres.is_finite()
            && cubic_metres > 0.0
        {
            tetrahedra.volume = cubic_metres;
        }
        self
    }
}

/// Where a node is in the bounding box, 0 to 1 along each axis.
fn box_coordinates(positions: &[DVec3]) -> Vec<DVec3> {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = positions.iter().fold(start, |(l, h), p| (l.min(*p), h.max(*p)));
    let size = (high - low).max(DVec3::splat(LEAST_SIZE));
    positions.iter().map(|&p| (p - low) / size).collect()
}

/// Faces that only one tetrahedron has, facing outwards, in the order of the cells.
pub fn boundary(cells: &[[u32; 4]]) -> Vec<[u32; 3]> {
    // Outward faces of a positive tetrahedron.
    let faces = |c: &[u32; 4]| [[c[0], c[2], c[1]], [c[0], c[1], c[3]], [c[0], c[3], c[2]], [c[1], c[2], c[3]]];
    let mut keys: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * cells.len());
    for (i, cell) in cells.iter().enumerate() {
        for (k, mut face) in faces(cell).into_iter().enumerate() {
            face.sort_unstable();
            keys.push((face, (4 * i + k) as u32));
        }
    }
    keys.sort_unstable();
    let mut alone: Vec<u32> =
        keys.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1).collect();
    alone.sort_unstable();
    alone.iter().map(|&k| faces(&cells[k as usize / 4])[k as usize % 4]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(positions: Vec<DVec3>, cells: Vec<[u32; 4]>) -> Result<Shape, ShapeError> {
        Shape::from_tetrahedra(positions, cells, Vec::new(), BTreeMap::new())
    }

    /// Six tetrahedra around the diagonal of a unit cube.
    fn cube() -> Shape {
        let positions = (0..8).map(|c| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64)).collect();
        let ways = [[1, 2, 4], [2, 4, 1], [4, 1, 2], [2, 1, 4], [1, 4, 2], [4, 2, 1]];
        build(positions, ways.map(|[a, b, _]| [0, a, a | b, 7]).to_vec()).unwrap()
    }

    /// Catches faces between cells that are taken for the boundary, and boundary that faces inwards.
    #[test]
    fn the_boundary_of_tetrahedra_is_closed_and_faces_outwards() {
        let cube = cube();
        assert_eq!(cube.triangles.len(), 12);
        assert!((cube.enclosed_volume(&cube.rest_positions) - 1.0).abs() < 1e-14);
        assert!((cube.node_measures().iter().sum::<f64>() - 1.0).abs() < 1e-14);
        assert!((cube.cell_measures().iter().sum::<f64>() - 1.0).abs() < 1e-14);
        assert_eq!(cube.boundary_nodes().len(), 8);
        let Layout::Tetrahedra(t) = &cube.layout else { panic!("tetrahedra were asked for") };
        assert!(t.cells.iter().all(|c| volume(c.map(|n| cube.rest_positions[n as usize])) > 0.0));
        assert_eq!(t.edges().len(), 12 + 6 + 1);
    }

    /// Catches a mass that follows the lattice where the skin was asked for.
    #[test]
    fn nodes_share_the_volume_that_is_given() {
        let shape = cube().with_volume(0.7);
        assert!((shape.node_measures().iter().sum::<f64>() - 0.7).abs() < 1e-14);
        let twice = shape.scaled(DVec3::new(2.0, -1.0, 1.0)).unwrap();
        assert!((twice.node_measures().iter().sum::<f64>() - 1.4).abs() < 1e-14);
        assert!(twice.enclosed_volume(&twice.rest_positions) > 0.0);
        let Layout::Tetrahedra(t) = &twice.layout else { panic!("tetrahedra were asked for") };
        assert!(t.cells.iter().all(|c| volume(c.map(|n| twice.rest_positions[n as usize])) > 0.0));
    }

    /// Catches an input fault that becomes an index out of bounds or a node without mass.
    #[test]
    fn faulty_tetrahedra_are_refused() {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let links = |l: Vec<[u32; 2]>| Shape::from_tetrahedra(corners.clone(), vec![[0, 1, 2, 3]], l, BTreeMap::new());
        assert!(build(corners.clone(), vec![[0, 2, 1, 3]]).is_ok());
        assert!(matches!(build(corners.clone(), vec![[0, 1, 2, 4]]), Err(ShapeError::NoSuchVertex { vertex: 4, .. })));
        assert!(matches!(build(corners.clone(), vec![[0, 1, 2, 2]]), Err(ShapeError::FlatCell { cell: 0 })));
        assert!(matches!(build(corners.clone(), vec![]), Err(ShapeError::Collapsed { .. })));
        let mut five = corners.clone();
        five.push(DVec3::ONE);
        assert!(matches!(build(five, vec![[0, 1, 2, 3]]), Err(ShapeError::LooseNode { vertex: 4 })));
        assert!(matches!(links(vec![[0, 9]]), Err(ShapeError::NoSuchVertex { vertex: 9, .. })));
        assert_eq!(links(vec![[2, 1], [1, 2], [3, 3]]).unwrap().tetrahedra().unwrap().links, [[1, 2]]);
    }
}
