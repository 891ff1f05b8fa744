//! A snapshot for the outside: everything an output needs, nothing it may change.

use crate::ledger::{Ledger, Row};
use glam::{DQuat, DVec3};

/// One body at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyFrame {
    /// Node positions (m).
    pub positions: Vec<[f32; 3]>,
    /// Drawn vertices (m) of a body that may tear, as [`Model::unwelded`](crate::Model::unwelded)
    /// orders them; none where nodes are what is drawn.
    pub drawn: Option<Vec<[f32; 3]>>,
    /// Node velocities (m/s).
    pub velocities: Vec<[f32; 3]>,
    /// Largest relative change of length at each node (0 at rest).
    pub stretch: Vec<f32>,
    /// Nodes held by a pin now.
    pub pinned: Vec<u32>,
    /// Raised whenever links break; positions keep their count.
    pub topology_version: u32,
    /// Centre of mass (m).
    pub center: DVec3,
    /// Energies, momenta and deformation of this body so far.
    pub row: Row,
}

/// Everything at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Number of the frame, from 0.
    pub index: usize,
    /// Time (s).
    pub time: f64,
    /// In the order of the model's bodies.
    pub bodies: Vec<BodyFrame>,
    /// Pose of every obstacle; `None` once removed.
    pub obstacles: Vec<Option<(DVec3, DQuat)>>,
    /// Position of every probe (m).
    pub probes: Vec<DVec3>,
    /// Nodes touching an obstacle: (body, node).
    pub contacts: Vec<(u32, u32)>,
    /// The whole scene's account so far.
    pub ledger: Ledger,
}
