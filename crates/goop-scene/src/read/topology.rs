//! What a shape's grid is like, as far as selections and limits need to know.

use crate::scene::Shape;

/// One material axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Has two ends, either of which may be a pole.
    Open,
    /// Closes on itself.
    Periodic,
}

/// Axes and node counts of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Kind of shape as written in a file.
    pub kind: &'static str,
    /// Axes; none for a mesh.
    pub axes: Vec<Axis>,
    /// Nodes per axis.
    pub counts: Vec<u32>,
    /// Has a free boundary; `None` if only building will tell.
    pub rim: Option<bool>,
    /// Encloses a volume as a surface; `None` if only building will tell.
    pub closed: Option<bool>,
}

/// Axis letters.
pub const LETTERS: [&str; 3] = ["u", "v", "w"];

impl Topology {
    /// Looks at a shape.
    pub fn of(shape: &Shape) -> Topology {
        use Axis::{Open, Periodic};
        let (kind, axes, counts, rim, closed): (_, &[Axis], &[u32], _, _) = match shape {
            Shape::Line { nodes, .. } => ("line", &[Open], nodes, true, false),
            Shape::Arc { nodes, .. } => ("arc", &[Open], nodes, true, false),
            Shape::Hoop { nodes, .. } => ("hoop", &[Periodic], nodes, false, false),
            Shape::Helix { nodes, .. } => ("helix", &[Open], nodes, true, false),
            Shape::Spline { nodes, closed: true, .. } => ("closed spline", &[Periodic], nodes, false, false),
            Shape::Spline { nodes, .. } => ("spline", &[Open], nodes, true, false),
            Shape::Rectangle { nodes, .. } => ("rectangle", &[Open, Open], nodes, true, false),
            Shape::Disc { nodes, .. } => ("disc", &[Periodic, Open], nodes, true, false),
            Shape::Cylinder { nodes, .. } => ("cylinder", &[Periodic, Open], nodes, true, false),
            Shape::Sphere { nodes, .. } => ("sphere", &[Periodic, Open], nodes, false, true),
            Shape::Revolve { nodes, .. } => ("revolved profile", &[Periodic, Open], nodes, false, true),
            Shape::Torus { nodes, .. } => ("torus", &[Periodic, Periodic], nodes, false, true),
            Shape::Bezier { nodes, .. } => ("bezier", &[Open, Open], nodes, true, false),
            Shape::Box { tetrahedra: true, .. } => {
                return Topology {
                    kind: "box of tetrahedra",
                    axes: Vec::new(),
                    counts: Vec::new(),
                    rim: None,
                    closed: Some(false),
                };
            }
            Shape::Box { nodes, .. } => ("box", &[Open, Open, Open], nodes, true, false),
            Shape::Ball { nodes, .. } => ("ball", &[Open, Open, Open], nodes, true, false),
            Shape::Character { .. } => {
                return Topology {
                    kind: "character",
                    axes: Vec::new(),
                    counts: Vec::new(),
                    rim: None,
                    closed: Some(false),
                };
            }
            Shape::Mesh { .. } | Shape::Saved { .. } => {
                return Topology { kind: "mesh", axes: Vec::new(), counts: Vec::new(), rim: None, closed: None };
            }
        };
        Topology { kind, axes: axes.to_vec(), counts: counts.to_vec(), rim: Some(rim), closed: Some(closed) }
    }

    /// It has no grid.
    pub fn is_mesh(&self) -> bool {
        self.axes.is_empty()
    }

    /// Nodes of the grid, poles counted once per column; 0 for a mesh.
    pub fn nodes(&self) -> u64 {
        if self.is_mesh() {
            return 0;
        }
        self.counts.iter().fold(1u64, |product, count| product.saturating_mul(u64::from(*count)))
    }

    /// A rough bound on the memory of a body with this grid (bytes): positions,
    /// velocities, springs, and the blocks of an implicit matrix.
    pub fn bytes(&self) -> u64 {
        let per_node = match self.axes.len() {
            1 => 1_000,
            2 => 2_000,
            _ => 3_000,
        };
        self.nodes().saturating_mul(per_node)
    }
}
