//! A snapshot for the outside: everything an output needs, nothing it may change.

use crate::ledger::{Ledger, Row};
use glam::{DQuat, DVec3};

/// One body at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyFrame {
    /// Node positions (m).
    pub positions: Vec<[f32; 3]>,
    /// Drawn vertices (m) of a body that may tear, as [`Model::unwelded`](crate::Model::unwelded)
    /// orders them, or of a character's skin; none where nodes are what is drawn.
    pub drawn: Option<Vec<[f32; 3]>>,
    /// Where the bones of a character are: place (m) and turn of each from its rest shape, `None` for
    /// one that holds no node.
    pub bones: Vec<Option<(DVec3, DQuat)>>,
    /// Node velocities (m/s).
    pub velocities: Vec<[f32; 3]>,
    /// Largest relative change of length at each node (0 at rest).
    pub stretch: Vec<f32>,
    /// Nodes held by a pin now, without those of a character's bones.
    pub pinned: Vec<u32>,
    /// Nodes that a spring holds now: a soft pin, a grab.
    pub sprung: Vec<u32>,
    /// Raised whenever links break; positions keep their count.
    pub topology_version: u32,
    /// Centre of mass (m).
    pub center: DVec3,
    /// Velocity of the centre of mass (m/s).
    pub center_velocity: DVec3,
    /// Energies, momenta and deformation of this body so far.
    pub row: Row,
}

/// Where a force comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ForceKind {
    /// A load of the scene: a force or a pressure.
    Load,
    /// A drive of the body: thruster, gyro or servo.
    Drive,
    /// The spring of a soft pin or of a grab.
    Spring,
    /// An obstacle: push, friction and its damper together.
    Contact,
}

/// A force on a node from outside the body; weight and drag are not among them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeForce {
    /// Which body.
    pub body: u32,
    /// Which node.
    pub node: u32,
    /// From where.
    pub kind: ForceKind,
    /// The force (N).
    pub newtons: [f32; 3],
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
    /// Forces from outside, by body, kind and node. A rigid body meets obstacles by
    /// impulses, which are not among them.
    pub forces: Vec<NodeForce>,
    /// The whole scene's account so far.
    pub ledger: Ledger,
}
