//! Shapes: what a body is made of, before it has a material or moves.
//!
//! A shape is a set of nodes with rest positions over material coordinates
//! u = (u, v, w) in the unit interval, square or cube, and the cells between
//! them. Curves, surfaces and solids come as grids whose axes may be periodic and
//! may shrink to a pole; a triangle mesh is a surface without a grid, tetrahedra are
//! a solid without one.
//!
//! Constructors are functions of [`Shape`], a file per dimension; `measure` has
//! lengths, areas and volumes, `select` finds ends, sides and corners.

mod curve;
mod grid;
mod measure;
mod mesh;
mod saved;
mod select;
mod solid;
mod surface;
pub mod tetra;
mod unwelded;

pub use grid::Grid;
pub use tetra::Tetrahedra;
pub use unwelded::Unwelded;

use glam::DVec3;
use std::collections::BTreeMap;

/// Most nodes a shape may have.
pub const MOST_NODES: usize = 20_000_000;
/// Most triangles a mesh may have.
pub const MOST_TRIANGLES: usize = 40_000_000;
/// Smallest size of a shape (m): its cube is still far from underflow.
pub const LEAST_SIZE: f64 = 1e-9;
/// Largest size of a shape (m).
pub const MOST_SIZE: f64 = 1e9;

/// One, two or three material axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// One axis; the material gives a radius.
    Curve,
    /// Two axes; the material gives a thickness.
    Surface,
    /// Three axes.
    Solid,
}

/// How nodes are joined.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// A regular grid over material coordinates.
    Grid(Grid),
    /// Triangles only: `Shape::triangles` are the cells.
    Mesh,
    /// Tetrahedra over free nodes.
    Tetrahedra(Tetrahedra),
}

/// A rest shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Number of material axes.
    pub dimension: Dimension,
    /// How nodes are joined.
    pub layout: Layout,
    /// Rest position of every node (m), in the shape's own axes.
    pub rest_positions: Vec<DVec3>,
    /// Material coordinates of every node, 0 to 1, below 1 along a periodic axis; at a
    /// pole the coordinate around it is 0; for a mesh without texture coordinates, zero.
    pub material_coordinates: Vec<DVec3>,
    /// Segments to draw (curves).
    pub segments: Vec<[u32; 2]>,
    /// Triangles to draw, counter-clockwise from outside: the surface itself, or
    /// the boundary of a solid.
    pub triangles: Vec<[u32; 3]>,
    /// The triangles bound a volume.
    pub closed: bool,
    /// Named vertex groups of an imported mesh.
    pub groups: BTreeMap<String, Vec<u32>>,
}

/// Why a shape can't be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A length that is not finite, not positive, or beyond all measure.
    #[error("the {what} is {value}: give a length from 1e-9 to 1e9 m")]
    Size {
        /// Which length.
        what: &'static str,
        /// As given (m).
        value: f64,
    },
    /// An arc beyond a full turn, or none at all.
    #[error("the arc's angle is {value} rad: give more than 0 and at most a full turn, 2π")]
    Angle {
        /// As given (rad).
        value: f64,
    },
    /// Turns of a helix.
    #[error("the helix has {value} turns: give more than 0 and at most a million")]
    Turns {
        /// As given.
        value: f64,
    },
    /// A tube as thick as the ring it runs along.
    #[error("the torus' tube radius {tube} m is not below its ring radius {radius} m: make the tube thinner")]
    Tube {
        /// Radius of the tube (m).
        tube: f64,
        /// Radius of the ring (m).
        radius: f64,
    },
    /// Too few nodes along an axis.
    #[error("{count} nodes along {axis} are too few for a {what}: give at least {least}")]
    TooFewNodes {
        /// Kind of shape.
        what: &'static str,
        /// Name of the axis.
        axis: char,
        /// As given.
        count: usize,
        /// Fewest.
        least: usize,
    },
    /// Too many nodes in all.
    #[error("{nodes} nodes are too many: lower the node counts to {MOST_NODES} in all")]
    TooManyNodes {
        /// As given.
        nodes: usize,
    },
    /// Too few points for a spline.
    #[error("a spline through {count} points has no course: give at least {least}")]
    TooFewPoints {
        /// As given.
        count: usize,
        /// Fewest.
        least: usize,
    },
    /// A control point or vertex that is not finite or beyond all measure.
    #[error("point {index} is not a finite position within 1e9 m of the origin: correct its coordinates")]
    Point {
        /// Which, from 0; in a net, row by row.
        index: usize,
    },
    /// Two neighbouring spline points in one place.
    #[error("spline points {index} and {next} are in the same place: leave one of them out")]
    SamePoint {
        /// The first of the two, from 0.
        index: usize,
        /// The second.
        next: usize,
    },
    /// A profile that is open or crosses its axis.
    #[error("the profile is wrong near point {index}: its ends must be at 0 from the axis, all else beside it")]
    Profile {
        /// Which point, from 0.
        index: usize,
    },
    /// Lobes or a bend by which a revolved shape would meet itself.
    #[error(
        "with a radius of {radius} m, a bend of {degrees}° folds the shape into itself: bend it less, or make it slimmer"
    )]
    Bend {
        /// As given.
        degrees: f64,
        /// The largest radius (m).
        radius: f64,
    },
    /// A control net of the wrong size.
    #[error("the control net has {count} {what}: a Bézier patch takes 2 to 16 each way")]
    Net {
        /// "rows" or "points in a row".
        what: &'static str,
        /// As given.
        count: usize,
    },
    /// A ragged control net.
    #[error("row {row} of the control net has {count} points and row 0 has {first}: make all rows equally long")]
    RaggedNet {
        /// Which row, from 0.
        row: usize,
        /// Its points.
        count: usize,
        /// Points of row 0.
        first: usize,
    },
    /// Nothing to give mass to.
    #[error("the {what} has no length or area: spread its points out")]
    Collapsed {
        /// Kind of shape.
        what: &'static str,
    },
    /// A grid and positions that do not belong together.
    #[error("the grid does not fit: {what}; save the shape again")]
    Grid {
        /// What is wrong.
        what: String,
    },
    /// A mesh of nothing.
    #[error("the mesh has no triangle with three different corners: give it at least one face")]
    NoTriangles,
    /// More triangles than can be handled.
    #[error("{triangles} triangles are too many: reduce the mesh to {MOST_TRIANGLES}")]
    TooManyTriangles {
        /// As given.
        triangles: usize,
    },
    /// A triangle or group that names a vertex which is not there.
    #[error("{what} names vertex {vertex}, but there are {count}: correct the index")]
    NoSuchVertex {
        /// "triangle 7", "group 'ear'".
        what: String,
        /// The index given.
        vertex: u32,
        /// Vertices there are.
        count: usize,
    },
    /// A vertex to which no area belongs would have no mass.
    #[error("vertex {vertex} belongs to no triangle with an area: delete it or close the gap with its neighbours")]
    Loose {
        /// Which, from 0.
        vertex: usize,
    },
    /// A node to which no tetrahedron belongs would have no mass.
    #[error("node {vertex} belongs to no tetrahedron: leave it out")]
    LooseNode {
        /// Which, from 0.
        vertex: usize,
    },
    /// A tetrahedron without a volume.
    #[error("tetrahedron {cell} is flat: move its corners apart or leave it out")]
    FlatCell {
        /// Which, from 0.
        cell: usize,
    },
    /// More tetrahedra than can be handled.
    #[error("{cells} tetrahedra are too many: sample more coarsely, {most} at most", most = tetra::MOST_CELLS)]
    TooManyCells {
        /// As given.
        cells: usize,
    },
    /// Material coordinates for another number of vertices.
    #[error("{given} material coordinates for {vertices} vertices: give one for each")]
    MaterialCount {
        /// As given.
        given: usize,
        /// Vertices there are.
        vertices: usize,
    },
    /// A material coordinate that is not finite.
    #[error("the material coordinates of vertex {vertex} are not finite: correct them or leave them all out")]
    Material {
        /// Which, from 0.
        vertex: usize,
    },
    /// A scale that is zero or not finite.
    #[error("the scale is {factors}: give three finite factors, none zero, that leave a size from 1e-9 to 1e9 m")]
    Scale {
        /// As given.
        factors: DVec3,
    },
}

impl Shape {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.rest_positions.len()
    }

    /// Whether there are no nodes; no constructor makes such a shape.
    pub fn is_empty(&self) -> bool {
        self.rest_positions.is_empty()
    }

    /// The grid, where the shape has one.
    pub fn grid(&self) -> Option<&Grid> {
        match &self.layout {
            Layout::Grid(grid) => Some(grid),
            _ => None,
        }
    }

    /// The same shape with its rest positions multiplied per axis. A mirrored shape
    /// keeps its outside outside.
    pub fn scaled(mut self, factors: DVec3) -> Result<Self, ShapeError> {
        let fault = Err(ShapeError::Scale { factors });
        if !factors.is_finite() || factors.to_array().contains(&0.0) {
            return fault;
        }
        self.rest_positions.iter_mut().for_each(|position| *position *= factors);
        let longest = self.rest_positions.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
        if longest > MOST_SIZE || !(LEAST_SIZE..=MOST_SIZE).contains(&self.size()) {
            return fault;
        }
        if factors.x.signum() * factors.y.signum() * factors.z.signum() < 0.0 {
            self.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
            if let Layout::Tetrahedra(tetrahedra) = &mut self.layout {
                tetrahedra.cells.iter_mut().for_each(|cell| cell.swap(2, 3));
            }
        }
        if let Layout::Tetrahedra(tetrahedra) = &mut self.layout {
            tetrahedra.volume *= factors.element_product().abs();
        }
        Ok(self)
    }
}

/// Refuses a length that no shape can have.
fn check_size(what: &'static str, value: f64) -> Result<(), ShapeError> {
    match (LEAST_SIZE..=MOST_SIZE).contains(&value) {
        true => Ok(()),
        false => Err(ShapeError::Size { what, value }),
    }
}

/// Refuses a point that is not finite or too far off.
fn check_point(index: usize, point: DVec3) -> Result<(), ShapeError> {
    match point.is_finite() && point.abs().max_element() <= MOST_SIZE {
        true => Ok(()),
        false => Err(ShapeError::Point { index }),
    }
}

/// Refuses node counts that are too small for the kind of shape or too large in all.
fn check_nodes<const N: usize>(what: &'static str, counts: [usize; N], least: [usize; N]) -> Result<(), ShapeError> {
    for a in 0..N {
        if counts[a] < least[a] {
            let axis = ['u', 'v', 'w'][a];
            return Err(ShapeError::TooFewNodes { what, axis, count: counts[a], least: least[a] });
        }
    }
    let nodes = counts.iter().fold(1usize, |product, &count| product.saturating_mul(count));
    if nodes > MOST_NODES { Err(ShapeError::TooManyNodes { nodes }) } else { Ok(()) }
}

/// Material coordinate of a grid point along an axis.
fn coordinate(i: usize, count: usize, periodic: bool) -> f64 {
    i as f64 / (count - usize::from(!periodic)).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a mirrored body whose pressure pulls inwards, or whose mass is negative.
    #[test]
    fn a_mirrored_shape_keeps_its_outside_outside() {
        for shape in [Shape::sphere(1.0, [12, 9]).unwrap(), Shape::ball(1.0, [5, 5, 5]).unwrap()] {
            let volume = shape.enclosed_volume(&shape.rest_positions);
            let mirrored = shape.clone().scaled(DVec3::new(-2.0, 1.0, 3.0)).unwrap();
            assert!((mirrored.enclosed_volume(&mirrored.rest_positions) - 6.0 * volume).abs() < 1e-12);
            assert!(mirrored.node_measures().iter().all(|&m| m > 0.0));
            let turned = shape.scaled(DVec3::new(-1.0, -1.0, 1.0)).unwrap();
            assert!(turned.enclosed_volume(&turned.rest_positions) > 0.0);
        }
    }

    /// Catches a scale that flattens a body or sends it to infinity.
    #[test]
    fn a_scale_without_a_size_is_refused() {
        let shape = Shape::block(DVec3::ONE, [2, 2, 2]).unwrap();
        for factors in [DVec3::new(1.0, 0.0, 1.0), DVec3::ZERO, DVec3::NAN, DVec3::splat(1e300), DVec3::splat(1e-30)] {
            assert!(matches!(shape.clone().scaled(factors), Err(ShapeError::Scale { .. })), "{factors}");
        }
        let away = Shape::line(1.0, 3).unwrap().scaled(DVec3::new(0.0, 1.0, 1.0));
        assert!(away.is_err());
    }

    /// Catches a size or count that a constructor forgets to look at.
    #[test]
    fn sizes_and_counts_out_of_range_are_refused_with_a_remedy() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10, 1e-10] {
            let shapes = [
                Shape::line(bad, 3),
                Shape::arc(bad, 1.0, 3),
                Shape::hoop(bad, 3),
                Shape::helix(bad, 1.0, 1.0, 3),
                Shape::helix(1.0, bad, 1.0, 3),
                Shape::rectangle([bad, 1.0], [3, 3]),
                Shape::rectangle([1.0, bad], [3, 3]),
                Shape::disc(bad, [3, 3]),
                Shape::cylinder(bad, 1.0, [3, 3]),
                Shape::cylinder(1.0, bad, [3, 3]),
                Shape::sphere(bad, [3, 3]),
                Shape::torus(bad, 1.0, [3, 3]),
                Shape::torus(1.0, bad, [3, 3]),
                Shape::block(DVec3::new(1.0, bad, 1.0), [2, 2, 2]),
                Shape::ball(bad, [2, 2, 2]),
            ];
            for (i, shape) in shapes.into_iter().enumerate() {
                assert!(matches!(shape, Err(ShapeError::Size { .. })), "constructor {i} takes {bad}");
            }
        }
        let huge = usize::MAX;
        let shapes = [
            (Shape::line(1.0, 1), Shape::line(1.0, huge)),
            (Shape::arc(1.0, 1.0, 1), Shape::arc(1.0, 1.0, huge)),
            (Shape::hoop(1.0, 2), Shape::hoop(1.0, huge)),
            (Shape::helix(1.0, 1.0, 1.0, 1), Shape::helix(1.0, 1.0, 1.0, huge)),
            (Shape::rectangle([1.0; 2], [2, 1]), Shape::rectangle([1.0; 2], [huge, 2])),
            (Shape::disc(1.0, [2, 2]), Shape::disc(1.0, [huge, huge])),
            (Shape::cylinder(1.0, 1.0, [3, 1]), Shape::cylinder(1.0, 1.0, [20_000, 1001])),
            (Shape::sphere(1.0, [3, 2]), Shape::sphere(1.0, [huge, 3])),
            (Shape::torus(1.0, 0.5, [3, 2]), Shape::torus(1.0, 0.5, [3, huge])),
            (Shape::block(DVec3::ONE, [2, 2, 0]), Shape::block(DVec3::ONE, [300, 300, 300])),
            (Shape::ball(1.0, [1, 2, 2]), Shape::ball(1.0, [huge, 2, 2])),
        ];
        for (i, (few, many)) in shapes.into_iter().enumerate() {
            assert!(matches!(few, Err(ShapeError::TooFewNodes { .. })), "constructor {i}");
            assert!(matches!(many, Err(ShapeError::TooManyNodes { .. })), "constructor {i}");
        }
        let message = Shape::sphere(1.0, [3, 2]).unwrap_err().to_string();
        assert_eq!(message, "2 nodes along v are too few for a sphere: give at least 3");
    }
}
