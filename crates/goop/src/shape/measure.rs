//! Length, area and volume of a rest shape, and what of it belongs to each node.
//!
//! A cell is cut into simplices and each simplex shared equally among its corners:
//! ```text
//! segment   its length                              ½ to each end
//! quad      mean of its two cuts into 2 triangles   ⅓ of each triangle
//! hexahedron mean of its two cuts into 5 tetrahedra ¼ of each tetrahedron
//! ```
//! So a parallelogram gives a quarter to each corner and a parallelepiped an eighth;
//! the sum is the shape's measure and the centre of mass of a flat cell is exact. A
//! cell that ends in a pole needs no exception. Second order in the node spacing.
//!
//! Volume inside closed triangles, and its gradient:
//! ```text
//! V = Σ a·(b × c) / 6       ∂V/∂a = Σ (b - a) × (c - a) / 6
//! ```

use super::{Dimension, Layout, Shape, tetra};
use glam::DVec3;

impl Shape {
    /// Length (m), area (m²) or volume (m³) that belongs to each node; the sum is the
    /// shape's.
    pub fn node_measures(&self) -> Vec<f64> {
        let mut measures = vec![0.0; self.len()];
        self.visit_cells(|corners, shares| {
            for (&node, share) in corners.iter().zip(shares) {
                measures[node as usize] += share;
            }
        });
        measures
    }

    /// Length (m), area (m²) or volume (m³) of each cell, in the order of `Grid::cells`,
    /// or of the triangles for a mesh, or of the tetrahedra.
    pub fn cell_measures(&self) -> Vec<f64> {
        let mut measures = Vec::new();
        self.visit_cells(|_, shares| measures.push(shares.iter().sum()));
        measures
    }

    /// Characteristic length (m): the length of a curve, the root of the area of a
    /// surface, the cube root of the volume of a solid.
    pub fn size(&self) -> f64 {
        let mut measure = 0.0;
        self.visit_cells(|_, shares| measure += shares.iter().sum::<f64>());
        match self.dimension {
            Dimension::Curve => measure,
            Dimension::Surface => measure.sqrt(),
            Dimension::Solid => measure.cbrt(),
        }
    }

    /// Diagonal of the bounding box at rest (m).
    pub fn extent(&self) -> f64 {
        let Some(&first) = self.rest_positions.first() else { return 0.0 };
        let (low, high) = self.rest_positions.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p)));
        low.distance(high)
    }

    /// Volume (m³) within the triangles at these positions (m), positive when they face
    /// outwards. For an open surface, that of the cone over its first vertex.
    pub fn enclosed_volume(&self, positions: &[DVec3]) -> f64 {
        let Some(first) = self.triangles.first() else { return 0.0 };
        let origin = positions[first[0] as usize];
        let cone = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|node| positions[node as usize] - origin);
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles.iter().map(cone).sum()
    }

    /// Gradient (m²) of the enclosed volume with respect to each node's position, written
    /// over `out`: a third of the outward area of the triangles around it, so that
    /// pressure times this is a force, on an open surface too.
    pub fn volume_gradient(&self, positions: &[DVec3], out: &mut [DVec3]) {
        out.fill(DVec3::ZERO);
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|node| positions[node as usize]);
            let third = (b - a).cross(c - a) / 6.0;
            for &node in triangle {
                out[node as usize] += third;
            }
        }
    }

    /// Corner nodes of each cell and the share of its measure that each of them gets.
    fn visit_cells(&self, mut visit: impl FnMut(&[u32], &[f64])) {
        match &self.layout {
            Layout::Mesh => {
                for triangle in &self.triangles {
                    visit(triangle, &[area(triangle.map(|node| self.rest_positions[node as usize])) / 3.0; 3]);
                }
            }
            Layout::Tetrahedra(t) => {
                let size = |cell: &[u32; 4]| tetra::volume(cell.map(|node| self.rest_positions[node as usize])).abs();
                let share = 0.25 * t.volume / t.cells.iter().map(size).sum::<f64>();
                for cell in &t.cells {
                    visit(cell, &[share * size(cell); 4]);
                }
            }
            Layout::Grid(grid) => {
                for cell in grid.cells() {
                    let corners = cell.map(|node| self.rest_positions[node as usize]);
                    match self.dimension {
                        Dimension::Curve => visit(&cell[..2], &[0.5 * corners[0].distance(corners[1]); 2]),
                        Dimension::Surface => visit(&cell[..4], &quad([0, 1, 2, 3].map(|c| corners[c]))),
                        Dimension::Solid => visit(&cell, &hexahedron(&corners)),
                    }
                }
            }
        }
    }
}

fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

fn quad(corners: [DVec3; 4]) -> [f64; 4] {
    let mut shares = [0.0; 4];
    for triangle in [[0, 1, 3], [0, 3, 2], [0, 1, 2], [1, 3, 2]] {
        let part = 0.5 * area(triangle.map(|c| corners[c])) / 3.0;
        for corner in triangle {
            shares[corner] += part;
        }
    }
    shares
}

fn hexahedron(corners: &[DVec3; 8]) -> [f64; 8] {
    let volume = |[a, b, c, d]: [usize; 4]| {
        let origin = corners[a];
        (corners[b] - origin).cross(corners[c] - origin).dot(corners[d] - origin) / 6.0
    };
    // Per cut, one tetrahedron inside and four at the corners it leaves; positive for a cube.
    let mut cuts = [[0; 4]; 10];
    for (corner, cut) in cuts.iter_mut().enumerate().take(8) {
        let [x, y, z] = [corner ^ 1, corner ^ 2, corner ^ 4];
        *cut = if corner.count_ones() % 2 == 0 { [corner, x, y, z] } else { [corner, y, x, z] };
    }
    (cuts[8], cuts[9]) = ([0, 5, 3, 6], [7, 4, 2, 1]);
    let volumes = cuts.map(volume);
    let total = 0.5 * volumes.iter().sum::<f64>();
    if volumes.iter().any(|volume| volume * total < 0.0) {
        // So bent that a part is inside out: no share may be negative.
        return [total.abs() / 8.0; 8];
    }
    let mut shares = [0.0; 8];
    for (cut, volume) in cuts.iter().zip(volumes) {
        for &corner in cut {
            shares[corner] += 0.5 * volume.abs() / 4.0;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn measure(shape: &Shape) -> f64 {
        shape.node_measures().iter().sum()
    }

    /// Catches a measure that counts a cell twice, misses a seam or a pole, or converges
    /// to something else.
    #[test]
    fn measures_converge_to_the_exact_ones_with_second_order() {
        type Make = fn(usize) -> Shape;
        let cases: [(&str, Make, f64); 8] = [
            ("arc", |n| Shape::arc(2.0, 1.5, n + 1).unwrap(), 3.0),
            ("hoop", |n| Shape::hoop(2.0, n).unwrap(), 4.0 * PI),
            ("helix", |n| Shape::helix(1.0, 2.0, 1.5, n + 1).unwrap(), (9.0 * PI * PI + 4.0).sqrt()),
            ("disc", |n| Shape::disc(2.0, [n, n / 2]).unwrap(), 4.0 * PI),
            ("cylinder", |n| Shape::cylinder(0.5, 3.0, [n, n / 2]).unwrap(), 3.0 * PI),
            ("sphere", |n| Shape::sphere(0.5, [n, n / 2 + 1]).unwrap(), PI),
            ("torus", |n| Shape::torus(1.0, 0.25, [n, n / 2]).unwrap(), PI * PI),
            ("ball", |n| Shape::ball(1.0, [n + 1; 3]).unwrap(), 4.0 / 3.0 * PI),
        ];
        for (name, make, exact) in cases {
            let [coarse, fine] = [16, 32].map(|n| (measure(&make(n)) / exact - 1.0).abs());
            let order = (coarse / fine).log2();
            assert!((1.8..2.2).contains(&order) && fine < 0.02, "{name}: {coarse:e} {fine:e} order {order}");
        }
    }

    /// Catches rounding or sharing that does not sum up where the answer is exact.
    #[test]
    fn flat_shapes_have_exact_measures() {
        assert!((measure(&Shape::line(3.0, 8).unwrap()) - 3.0).abs() < 1e-14);
        let sheet = Shape::rectangle([2.0, 3.0], [5, 7]).unwrap();
        assert!((measure(&sheet) - 6.0).abs() < 1e-13 && (sheet.size() - 6f64.sqrt()).abs() < 1e-13);
        let [corner, edge, inner] = [0, 1, 6].map(|node: usize| sheet.node_measures()[node]);
        assert!((corner * 4.0 - inner).abs() < 1e-15 && (edge * 2.0 - inner).abs() < 1e-15);
        let block = Shape::block(DVec3::new(1.0, 2.0, 3.0), [3, 4, 5]).unwrap();
        assert!((measure(&block) - 6.0).abs() < 1e-13 && (block.size() - 6f64.cbrt()).abs() < 1e-13);
        assert!((block.node_measures()[0] * 8.0 * 24.0 - 6.0).abs() < 1e-13);
        assert!((block.extent() - 14f64.sqrt()).abs() < 1e-14);
        assert_eq!(block.cell_measures().len(), 24);
    }

    /// Catches equal shares where a cell narrows: the centre of mass would move.
    #[test]
    fn shares_keep_the_centre_of_mass_of_a_wedge() {
        let net = [vec![DVec3::ZERO, DVec3::X], vec![DVec3::Z, DVec3::Z]];
        let wedge = Shape::bezier(&net, [5, 5]).unwrap();
        let moment: DVec3 = wedge.rest_positions.iter().zip(wedge.node_measures()).map(|(p, m)| *p * m).sum();
        assert!((moment / 0.5 - DVec3::new(1.0, 0.0, 1.0) / 3.0).length() < 1e-14);
    }

    /// Catches a boundary that is not where the cells end.
    #[test]
    fn the_boundary_of_a_solid_encloses_its_cells() {
        let ball = Shape::ball(1.0, [9; 3]).unwrap();
        let inside = ball.enclosed_volume(&ball.rest_positions);
        assert!((inside / measure(&ball) - 1.0).abs() < 0.01);
        let sphere = Shape::sphere(1.0, [64, 33]).unwrap();
        assert!((sphere.enclosed_volume(&sphere.rest_positions) / (4.0 / 3.0 * PI) - 1.0).abs() < 0.01);
    }

    /// Catches a pressure force that is not the gradient of p V, or that pushes the whole body.
    #[test]
    fn the_gradient_of_volume_agrees_with_differences() {
        for shape in [
            Shape::sphere(0.7, [5, 4]).unwrap(),
            Shape::torus(1.0, 0.3, [5, 4]).unwrap(),
            Shape::ball(0.5, [3, 2, 3]).unwrap(),
        ] {
            let shift = |(i, p): (usize, &DVec3)| *p + 0.1 * DVec3::new((3 * i) as f64, 1.0, i as f64).map(f64::sin);
            let mut positions: Vec<DVec3> = shape.rest_positions.iter().enumerate().map(shift).collect();
            let mut gradient = vec![DVec3::ONE; shape.len()];
            shape.volume_gradient(&positions, &mut gradient);
            assert!(gradient.iter().sum::<DVec3>().length() < 1e-13);
            let h = 1e-5;
            for node in 0..shape.len() {
                for axis in 0..3 {
                    let mut at = |offset: f64| {
                        positions[node][axis] += offset;
                        let volume = shape.enclosed_volume(&positions);
                        positions[node][axis] -= offset;
                        volume
                    };
                    let difference = (at(h) - at(-h)) / (2.0 * h);
                    assert!((difference - gradient[node][axis]).abs() < 1e-9);
                }
            }
        }
    }
}
