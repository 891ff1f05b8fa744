//! Shapes: what a body is made of, before it has a material or moves.
//!
//! A shape is a set of nodes with rest positions over material coordinates
//! u = (u, v, w) in the unit interval, square or cube, and the cells between
//! them. Curves, surfaces and solids come as grids whose axes may be periodic and
//! may shrink to a pole; a triangle mesh is a surface without a grid.

mod curve;
mod grid;
mod mesh;
mod solid;
mod surface;

pub use grid::Grid;

use glam::DVec3;
use std::collections::BTreeMap;

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
    /// Material coordinates of every node, 0 to 1; for a mesh without texture
    /// coordinates, zero.
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
