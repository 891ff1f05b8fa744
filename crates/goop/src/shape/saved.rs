//! Shapes from positions: a grid whose nodes lie anywhere, such as a body as it was left
//! at the end of a run.

use super::{
    Dimension, Grid, LEAST_SIZE, Layout, MOST_NODES, Shape, ShapeError, check_point, coordinate, solid::boundary,
};
use glam::DVec3;
use std::collections::BTreeMap;

impl Shape {
    /// A curve, surface or solid over a grid, by how many axes the grid has, with nodes
    /// anywhere (m). Triangles of a surface face x_u × x_v, or the other way if `down`.
    pub fn from_grid(grid: Grid, positions: Vec<DVec3>, down: bool) -> Result<Self, ShapeError> {
        let fault = |what: String| Err(ShapeError::Grid { what });
        let points = grid.counts.iter().fold(1usize, |product, &count| product.saturating_mul(count));
        if points > MOST_NODES {
            return Err(ShapeError::TooManyNodes { nodes: points });
        }
        let (axes, count) = (grid.axes(), positions.len());
        let least = |axis: usize| if grid.periodic[axis] { 3 } else { 2 };
        if axes == 0 || (0..axes).any(|axis| grid.counts[axis] < least(axis)) || grid.counts.contains(&0) {
            return fault(format!("its counts {:?} are too small", grid.counts));
        }
        if axes == 3 && grid.periodic != [false; 3] || (axes..3).any(|axis| grid.periodic[axis]) {
            return fault("an axis closes on itself that cannot".to_owned());
        }
        if grid.node.len() != points {
            return fault(format!("it has {} entries for {points} points", grid.node.len()));
        }
        let mut first = vec![usize::MAX; count];
        for (point, &node) in grid.node.iter().enumerate() {
            match first.get_mut(node as usize) {
                Some(slot) => *slot = (*slot).min(point),
                None => return fault(format!("it names node {node}, and there are {count} positions")),
            }
        }
        if let Some(node) = first.iter().position(|&point| point == usize::MAX) {
            return fault(format!("no point of it is node {node}"));
        }
        for (index, &position) in positions.iter().enumerate() {
            check_point(index, position)?;
        }
        let material = |&point: &usize| {
            let at = grid.point(point);
            DVec3::from_array(std::array::from_fn(|a| match grid.counts[a] {
                1 => 0.0,
                count => coordinate(at[a], count, grid.periodic[a]),
            }))
        };
        let mut shape = Shape {
            dimension: [Dimension::Curve, Dimension::Surface, Dimension::Solid][axes - 1],
            material_coordinates: first.iter().map(material).collect(),
            rest_positions: positions,
            segments: Vec::new(),
            triangles: Vec::new(),
            closed: axes == 3,
            groups: BTreeMap::new(),
            layout: Layout::Mesh,
        };
        match shape.dimension {
            Dimension::Curve => shape.segments = grid.cells().map(|cell| [cell[0], cell[1]]).collect(),
            Dimension::Surface => {
                shape.triangles = cell_triangles(&grid, down);
                shape.closed = (0..2)
                    .all(|axis| grid.periodic[axis] || [false, true].iter().all(|&high| grid.is_pole(axis, high)));
            }
            Dimension::Solid => shape.triangles = boundary(&grid),
        }
        shape.layout = Layout::Grid(grid);
        if shape.dimension == Dimension::Solid && shape.enclosed_volume(&shape.rest_positions) < 0.0 {
            shape.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        // Every node must get some length, area or volume, or it would have no mass.
        if shape.size() < LEAST_SIZE || !shape.node_measures().iter().all(|m| *m > 0.0) {
            return Err(ShapeError::Collapsed { what: "shape" });
        }
        Ok(shape)
    }

    /// Whether the triangles of a surface over a grid face -x_u × x_v.
    pub fn faces_down(&self) -> bool {
        let Some(grid) = self.grid().filter(|_| self.dimension == Dimension::Surface) else { return false };
        // The first triangle is one of the first cell's.
        let first = grid.cells().next().unwrap_or_default();
        let plain = [[0, 1, 3], [0, 3, 2]].map(|t| t.map(|c: usize| first[c]));
        let plain = plain.into_iter().find(|[a, b, c]| a != b && b != c && c != a);
        let turns = |[a, b, c]: [u32; 3]| [[a, b, c], [b, c, a], [c, a, b]];
        match (plain, self.triangles.first()) {
            (Some(plain), Some(own)) => !turns(plain).contains(own),
            _ => false,
        }
    }
}

/// Two triangles a cell, less those at poles that have no area.
pub(super) fn cell_triangles(grid: &Grid, down: bool) -> Vec<[u32; 3]> {
    let mut triangles = Vec::with_capacity(2 * grid.node.len());
    for cell in grid.cells() {
        for [a, b, c] in [[0, 1, 3], [0, 3, 2]] {
            let [a, b, c] = if down { [a, c, b] } else { [a, b, c] }.map(|corner: usize| cell[corner]);
            if a != b && b != c && c != a {
                triangles.push([a, b, c]);
            }
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(shape: &Shape) -> Result<Shape, ShapeError> {
        Shape::from_grid(shape.grid().unwrap().clone(), shape.rest_positions.clone(), shape.faces_down())
    }

    /// Catches a kind of shape that does not come back as it was saved.
    #[test]
    fn every_grid_comes_back_as_it_was() {
        let shapes = [
            Shape::line(1.0, 5).unwrap(),
            Shape::hoop(1.0, 7).unwrap(),
            Shape::rectangle([1.0, 2.0], [4, 5]).unwrap(),
            Shape::rectangle([1.0, 2.0], [4, 5]).unwrap().scaled(DVec3::new(-1.0, 1.0, 1.0)).unwrap(),
            Shape::disc(1.0, [6, 4]).unwrap(),
            Shape::cylinder(0.5, 1.0, [8, 4]).unwrap(),
            Shape::sphere(1.0, [8, 5]).unwrap(),
            Shape::torus(1.0, 0.3, [8, 6]).unwrap(),
            Shape::ball(1.0, [4, 4, 4]).unwrap(),
        ];
        for shape in shapes {
            assert_eq!(again(&shape).unwrap(), shape);
        }
    }

    /// Catches a grid from a file that leads to an index out of bounds or a node without mass.
    #[test]
    fn grids_that_do_not_fit_are_refused() {
        let sheet = Shape::rectangle([1.0, 1.0], [3, 3]).unwrap();
        let grid = sheet.grid().unwrap().clone();
        let make = |change: &dyn Fn(&mut Grid, &mut Vec<DVec3>)| {
            let (mut grid, mut positions) = (grid.clone(), sheet.rest_positions.clone());
            change(&mut grid, &mut positions);
            Shape::from_grid(grid, positions, false).unwrap_err().to_string()
        };
        assert!(make(&|g, _| g.counts = [9, 1, 0]).contains("too small"));
        assert!(make(&|g, _| g.counts = [usize::MAX, 3, 1]).contains("too many"));
        assert!(make(&|g, _| g.node.truncate(8)).contains("8 entries for 9 points"));
        assert!(make(&|g, _| g.node[3] = 9).contains("names node 9"));
        assert!(make(&|g, _| g.node[3] = 2).contains("no point of it is node 3"));
        assert!(make(&|g, _| g.periodic[2] = true).contains("closes on itself"));
        assert!(make(&|_, x| x[4].y = f64::NAN).contains("point 4"));
        assert!(make(&|_, x| x.fill(DVec3::ZERO)).contains("no length or area"));
    }
}
