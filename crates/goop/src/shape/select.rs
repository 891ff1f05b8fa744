//! Which nodes are the ends, sides, corners and middle of a shape.

use super::mesh::Edges;
use super::{Layout, Shape};
use glam::DVec3;

impl Shape {
    /// Nodes of the free boundary, ascending: the ends of an open curve, the rim of an
    /// open surface (a pole is no rim), all six sides of a solid, the border of a mesh,
    /// the skin of tetrahedra.
    pub fn boundary_nodes(&self) -> Vec<u32> {
        match &self.layout {
            Layout::Tetrahedra(_) => ascending(self.triangles.iter().flatten().copied().collect()),
            Layout::Mesh => ascending(Edges::new(&self.triangles).border().flatten().collect()),
            Layout::Grid(grid) => {
                let sides = (0..grid.axes()).flat_map(|axis| [(axis, false), (axis, true)]);
                let rims = sides.filter(|&(axis, high)| !grid.is_pole(axis, high));
                ascending(rims.flat_map(|(axis, high)| self.side(axis, high)).collect())
            }
        }
    }

    /// Node at a corner of the grid, named by 0 or 1 per axis; none where an axis wraps,
    /// for another number of axes, and for a mesh.
    pub fn corner(&self, ends: &[u8]) -> Option<u32> {
        let grid = self.grid()?;
        let axes = grid.axes();
        if ends.len() != axes || ends.iter().any(|&end| end > 1) || grid.periodic.contains(&true) {
            return None;
        }
        let [i, j, k] = std::array::from_fn(|axis| match ends.get(axis) {
            Some(1) => grid.counts[axis] - 1,
            _ => 0,
        });
        Some(grid.node[grid.index(i, j, k)])
    }

    /// Nodes at all corners of the grid, first axis fastest, each once: two for an open
    /// curve, four for a rectangle, eight for a solid; empty where an axis wraps.
    pub fn corners(&self) -> Vec<u32> {
        let axes = self.grid().map_or(0, |grid| grid.axes());
        let mut corners = Vec::new();
        for number in 0..1u8 << axes {
            let ends: Vec<u8> = (0..axes).map(|axis| number >> axis & 1).collect();
            corners.extend(self.corner(&ends).filter(|node| !corners.contains(node)));
        }
        corners
    }

    /// Nodes at one end of an axis, ascending; a pole is one node. Empty where the axis
    /// wraps or is not used, and for a mesh.
    pub fn side(&self, axis: usize, high: bool) -> Vec<u32> {
        let Some(grid) = self.grid() else { return Vec::new() };
        ascending(grid.side_points(axis, high).map(|index| grid.node[index]).collect())
    }

    /// The node nearest to the shape's centre of mass at rest; of several equally near,
    /// the first.
    pub fn center_node(&self) -> u32 {
        let measures = self.node_measures();
        let moment: DVec3 = self.rest_positions.iter().zip(&measures).map(|(p, m)| *p * *m).sum();
        let center = moment / measures.iter().sum::<f64>();
        let nearest = self.rest_positions.iter().map(|p| p.distance(center)).fold(f64::INFINITY, f64::min);
        // Nodes that differ by rounding only are equally near.
        let enough = nearest + 1e-9 * self.extent();
        self.rest_positions.iter().position(|p| p.distance(center) <= enough).unwrap_or(0) as u32
    }
}

fn ascending(mut nodes: Vec<u32>) -> Vec<u32> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a free boundary at a seam or a pole, or none at a rim.
    #[test]
    fn the_free_boundary_is_where_the_material_ends() {
        assert_eq!(Shape::line(1.0, 5).unwrap().boundary_nodes(), [0, 4]);
        assert!(Shape::hoop(1.0, 5).unwrap().boundary_nodes().is_empty());
        assert_eq!(Shape::rectangle([1.0; 2], [4, 5]).unwrap().boundary_nodes().len(), 14);
        assert_eq!(Shape::disc(1.0, [4, 3]).unwrap().boundary_nodes(), [5, 6, 7, 8]);
        assert_eq!(Shape::cylinder(1.0, 1.0, [4, 3]).unwrap().boundary_nodes().len(), 8);
        assert!(Shape::sphere(1.0, [4, 3]).unwrap().boundary_nodes().is_empty());
        assert!(Shape::torus(1.0, 0.5, [4, 3]).unwrap().boundary_nodes().is_empty());
        assert_eq!(Shape::block(DVec3::ONE, [4, 4, 4]).unwrap().boundary_nodes().len(), 64 - 8);
    }

    /// Catches corners and sides taken from the wrong axis.
    #[test]
    fn corners_and_sides_are_named_by_axis() {
        let sheet = Shape::rectangle([2.0, 2.0], [4, 5]).unwrap();
        let at = |node: Option<u32>| sheet.rest_positions[node.unwrap() as usize];
        assert_eq!(at(sheet.corner(&[1, 0])), DVec3::new(1.0, 0.0, -1.0));
        assert_eq!(sheet.corners(), [0, 3, 16, 19]);
        assert_eq!(sheet.side(0, true), [3, 7, 11, 15, 19]);
        assert_eq!(sheet.side(1, false), [0, 1, 2, 3]);
        let block = Shape::block(DVec3::ONE, [2, 3, 4]).unwrap();
        assert!(block.side(2, true).iter().all(|&node| block.rest_positions[node as usize].z == 0.5));
        assert_eq!((block.side(1, false).len(), block.corners().len()), (8, 8));
        assert_eq!(Shape::line(1.0, 5).unwrap().corners(), [0, 4]);
    }

    /// Catches a corner or side where there is none.
    #[test]
    fn a_periodic_axis_has_no_corner_and_no_side() {
        let tube = Shape::cylinder(1.0, 1.0, [4, 3]).unwrap();
        assert_eq!((tube.corner(&[0, 0]), tube.corners().len()), (None, 0));
        assert_eq!((tube.side(0, true).len(), tube.side(1, true).len()), (0, 4));
        assert_eq!(Shape::sphere(1.0, [4, 3]).unwrap().side(1, true), [5]);
        let sheet = Shape::rectangle([1.0; 2], [3, 3]).unwrap();
        assert_eq!((sheet.corner(&[0]), sheet.corner(&[0, 2]), sheet.corner(&[0, 0, 0])), (None, None, None));
        assert!(sheet.side(2, false).is_empty() && sheet.side(17, true).is_empty());
        let mesh = Shape::from_triangles(sheet.rest_positions, sheet.triangles, None, Default::default()).unwrap();
        assert!(mesh.corner(&[0, 0]).is_none() && mesh.corners().is_empty() && mesh.side(0, true).is_empty());
        assert_eq!((mesh.boundary_nodes().len(), mesh.center_node()), (8, 4));
    }

    /// Catches a middle that jumps about with rounding.
    #[test]
    fn the_center_node_is_in_the_middle() {
        assert_eq!(Shape::rectangle([1.0, 2.0], [5, 7]).unwrap().center_node(), 17);
        assert_eq!(Shape::rectangle([1.0, 1.0], [20, 20]).unwrap().center_node(), 9 * 20 + 9);
        assert_eq!(Shape::disc(1.0, [7, 4]).unwrap().center_node(), 0);
        assert_eq!(Shape::ball(1.0, [5, 5, 5]).unwrap().center_node(), 62);
        assert_eq!(Shape::hoop(1.0, 7).unwrap().center_node(), 0);
        assert_eq!(Shape::arc(1.0, 1.0, 5).unwrap().center_node(), 2);
    }
}
