//! Solids: three material axes, u along x, v along y and w along z.
//!
//! ```text
//! block  ((u - ½) a, (v - ½) b, (w - ½) c)
//! ball   r ρ d/|d|   with d = tan(π/4 a) by component, a = 2 (u, v, w) - 1,
//!        ρ = (Σ |aᵢ|^q)^(1/q),  q = 2 / Π (1 - aᵢ²)
//! ```
//! The tangent spaces nodes by equal angles along the cube's faces. ρ is the Euclidean
//! norm at the centre and the largest component on the cube's surface, so faces land
//! on the sphere and the map is smooth in between. Where two faces of the cube meet,
//! the sphere opens their angle to 180° and the cells are flat: smoother choices for
//! ρ, such as ρ² = 1 - Π (1 - aᵢ²), fold the cells at the cube's corners over from
//! about 30 nodes on. With this one no cell folds as long as the counts are within a
//! factor of two of each other; a very fine axis beside a coarse one folds some.

use super::{Dimension, Grid, Layout, Shape, ShapeError, check_nodes, check_size, coordinate};
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_4;

impl Shape {
    /// The same nodes with every cell of the grid cut into five tetrahedra, the other way in every other cell.
    pub fn block_of_tetrahedra(size: DVec3, nodes: [usize; 3]) -> Result<Self, ShapeError> {
        const FIVE: [[[usize; 4]; 5]; 2] = [
            [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]],
            [[1, 2, 4, 7], [0, 1, 2, 4], [3, 1, 2, 7], [5, 1, 4, 7], [6, 2, 4, 7]],
        ];
        let block = Self::block(size, nodes)?;
        let Layout::Grid(grid) = &block.layout else { return Ok(block) };
        let [nu, nv, _] = nodes.map(|n| n - 1);
        let odd = |cell: usize| (cell % nu + cell / nu % nv + cell / nu / nv) % 2;
        let cells = grid.cells().enumerate();
        let cells = cells.flat_map(|(at, corners)| FIVE[odd(at)].map(|t| t.map(|k| corners[k]))).collect();
        Self::from_tetrahedra(block.rest_positions.clone(), cells, Vec::new(), Default::default())
    }

    /// Box with its sides along the axes, centred; sides (m).
    pub fn block(size: DVec3, nodes: [usize; 3]) -> Result<Self, ShapeError> {
        for (what, side) in [("block's x side", size.x), ("block's y side", size.y), ("block's z side", size.z)] {
            check_size(what, side)?;
        }
        check_nodes("block", nodes, [2; 3])?;
        Ok(solid(nodes, |m| (m - 0.5) * size))
    }

    /// Ball; radius (m). The outermost nodes lie on the sphere. Keep the three counts
    /// within a factor of two of each other, or some cells fold over.
    pub fn ball(radius: f64, nodes: [usize; 3]) -> Result<Self, ShapeError> {
        check_size("ball's radius", radius)?;
        check_nodes("ball", nodes, [2; 3])?;
        Ok(solid(nodes, |m| on_ball(m * 2.0 - 1.0) * radius))
    }
}

fn on_ball(cube: DVec3) -> DVec3 {
    let largest = cube.abs().max_element();
    if largest == 0.0 {
        return DVec3::ZERO;
    }
    let direction = (cube * FRAC_PI_4).map(f64::tan).normalize();
    let rest = (1.0 - cube * cube).element_product();
    if largest == 1.0 || rest < 1e-9 {
        return direction * largest;
    }
    let power = 2.0 / rest;
    let sum = (cube.abs() / largest).map(|x| x.powf(power)).element_sum();
    direction * (largest * sum.powf(1.0 / power))
}

fn solid(nodes: [usize; 3], place: impl Fn(DVec3) -> DVec3) -> Shape {
    let [nu, nv, nw] = nodes;
    let total = nu * nv * nw;
    let grid = Grid { counts: nodes, periodic: [false; 3], node: (0..total as u32).collect() };
    let material = |index| {
        let point = grid.point(index);
        DVec3::from_array(std::array::from_fn(|axis| coordinate(point[axis], nodes[axis], false)))
    };
    let material_coordinates: Vec<DVec3> = (0..total).map(material).collect();
    Shape {
        dimension: Dimension::Solid,
        rest_positions: material_coordinates.iter().map(|&m| place(m)).collect(),
        material_coordinates,
        segments: Vec::new(),
        triangles: boundary(&grid),
        closed: true,
        groups: BTreeMap::new(),
        layout: Layout::Grid(grid),
    }
}

/// Triangles of the six sides, facing outwards.
pub(super) fn boundary(grid: &Grid) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
        for high in [false, true] {
            for (j, i) in (0..grid.counts[c] - 1).flat_map(|j| (0..grid.counts[b] - 1).map(move |i| (j, i))) {
                let corner = |di: usize, dj: usize| {
                    let mut point = [0; 3];
                    point[axis] = if high { grid.counts[axis] - 1 } else { 0 };
                    (point[b], point[c]) = (i + di, j + dj);
                    grid.node[grid.index(point[0], point[1], point[2])]
                };
                for [p, q, r] in [[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]] {
                    let [p, q, r] = [p, q, r].map(|(di, dj)| corner(di, dj));
                    triangles.push(if high { [p, q, r] } else { [p, r, q] });
                }
            }
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a ball with a dented or bulging surface.
    #[test]
    fn outer_nodes_of_a_ball_lie_on_the_sphere() {
        let ball = Shape::ball(0.5, [5, 6, 7]).unwrap();
        let outer = ball.boundary_nodes();
        assert_eq!(outer.len(), 5 * 6 * 7 - 3 * 4 * 5);
        for node in 0..ball.len() as u32 {
            let radius = ball.rest_positions[node as usize].length();
            match outer.binary_search(&node) {
                Ok(_) => assert!((radius - 0.5).abs() < 1e-15),
                Err(_) => assert!(radius < 0.45),
            }
        }
    }

    /// Catches cells turned inside out where the cube's edges are flattened.
    #[test]
    fn no_corner_of_a_cell_of_a_ball_is_inverted() {
        for nodes in
            [[2, 2, 2], [3, 3, 3], [4, 5, 5], [8, 8, 8], [17, 17, 17], [50, 50, 50], [10, 20, 20], [40, 20, 30]]
        {
            let ball = Shape::ball(1.0, nodes).unwrap();
            for cell in ball.grid().unwrap().cells() {
                for corner in 0..8usize {
                    let at = |c: usize| ball.rest_positions[cell[c] as usize];
                    let [x, y, z] = [1, 2, 4].map(|bit| at(corner | bit) - at(corner & !bit));
                    assert!(x.cross(y).dot(z) > 0.0, "{nodes:?}");
                }
            }
        }
    }

    /// Catches sides that face inwards or leave a gap.
    #[test]
    fn the_boundary_of_a_solid_is_closed_and_faces_outwards() {
        let block = Shape::block(DVec3::new(1.0, 2.0, 3.0), [3, 4, 2]).unwrap();
        assert!((block.enclosed_volume(&block.rest_positions) - 6.0).abs() < 1e-12);
        assert_eq!(block.triangles.len(), 4 * (2 * 3 + 3 + 2));
        for shape in [block, Shape::ball(1.0, [2, 2, 2]).unwrap(), Shape::ball(1.0, [4, 5, 6]).unwrap()] {
            assert!(shape.closed && shape.enclosed_volume(&shape.rest_positions) > 0.0);
            let mut sorted: Vec<u32> = shape.triangles.iter().flatten().copied().collect();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted, shape.boundary_nodes());
            let mut edges: Vec<[u32; 2]> =
                shape.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
            edges.sort_unstable();
            assert!(edges.iter().all(|&[a, b]| edges.binary_search(&[b, a]).is_ok()));
        }
    }
}
