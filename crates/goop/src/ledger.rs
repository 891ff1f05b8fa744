//! The energy account: where every joule went.
//!
//! ```text
//! kinetic + elastic + gravitational + contact                     stored      [J]
//!   = what it was at t = 0
//!   + work of pins, loads, drives, wind, obstacles, other bodies  came in
//!   - damping - friction - impact - drag - flow - fracture - scheme  went out
//!   + residue                                                      what does not close
//! ```
//! Each term is summed from the forces that did it. The scheme's own dissipation
//! comes from its identity (see `integrate`), never as the remainder; the residue
//! is the remainder and has its own column.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Account of one body, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// ½ Σ m v² (J).
    pub kinetic: f64,
    /// Energy of deformation, compliant pins and grabs included (J).
    pub elastic: f64,
    /// -Σ m g·x (J).
    pub gravitational: f64,
    /// Potential of obstacles, friction springs included (J).
    pub contact: f64,
    /// Part of `contact` held by friction springs (J).
    pub friction_energy: f64,
    /// Lost to material damping, in all (J).
    pub damping: f64,
    /// Lost to drag of the medium (J).
    pub drag: f64,
    /// Lost to friction (J).
    pub friction: f64,
    /// Lost in impacts: contact dampers, projection onto obstacles, other bodies (J).
    pub impact: f64,
    /// Lost to flow of the rest shape (J).
    pub flow: f64,
    /// Lost with what broke (J).
    pub fracture: f64,
    /// Lost (or, negative, won) by the integrator itself (J).
    pub scheme: f64,
    /// Work of pins (J).
    pub pin_work: f64,
    /// Work of loads, wind, grabs, edits and moving obstacles (J).
    pub load_work: f64,
    /// Work of drives (J).
    pub drive_work: f64,
    /// Work of other bodies (J): what one gains another gives; what is lost between them is in `impact` and
    /// `friction`, half with each.
    pub exchange: f64,
    /// Stored energy at t = 0 (J).
    pub initial: f64,
    /// Sum over steps of |change of kinetic energy| (J): what has been exchanged.
    pub exchanged: f64,
    /// Momentum (kg m/s).
    pub momentum: DVec3,
    /// Angular momentum about the origin (kg m²/s).
    pub angular_momentum: DVec3,
    /// Σ |l - r| over springs (m).
    pub deformation: f64,
    /// The same per spring (m).
    pub mean_deformation: f64,
    /// Largest |l - r| / r.
    pub worst_stretch: f64,
    /// Deepest a node has been inside an obstacle, or nearer to another body than their thickness (m).
    pub worst_penetration: f64,
    /// Nodes touching obstacles now.
    pub contacts: u32,
    /// Places where it touches another body, or itself, now; those of a pair are counted with one of the two.
    pub body_contacts: u32,
}

impl Row {
    /// Stored now (J).
    pub fn stored(&self) -> f64 {
        self.kinetic + self.elastic + self.gravitational + self.contact
    }

    /// Work of everything outside so far (J).
    pub fn came_in(&self) -> f64 {
        self.pin_work + self.load_work + self.drive_work + self.exchange
    }

    /// What does not close (J): stored now, less what every named term explains.
    pub fn residue(&self) -> f64 {
        self.stored() - self.initial - self.came_in()
            + self.damping
            + self.drag
            + self.friction
            + self.impact
            + self.flow
            + self.fracture
            + self.scheme
    }

    /// Adds another body's row.
    pub fn add(&mut self, other: &Row) {
        self.kinetic += other.kinetic;
        self.elastic += other.elastic;
        self.gravitational += other.gravitational;
        self.contact += other.contact;
        self.friction_energy += other.friction_energy;
        self.damping += other.damping;
        self.drag += other.drag;
        self.friction += other.friction;
        self.impact += other.impact;
        self.flow += other.flow;
        self.fracture += other.fracture;
        self.scheme += other.scheme;
        self.pin_work += other.pin_work;
        self.load_work += other.load_work;
        self.drive_work += other.drive_work;
        self.exchange += other.exchange;
        self.initial += other.initial;
        self.exchanged += other.exchanged;
        self.momentum += other.momentum;
        self.angular_momentum += other.angular_momentum;
        self.deformation += other.deformation;
        self.mean_deformation += other.mean_deformation;
        self.worst_stretch = self.worst_stretch.max(other.worst_stretch);
        self.worst_penetration = self.worst_penetration.max(other.worst_penetration);
        self.contacts += other.contacts;
        self.body_contacts += other.body_contacts;
    }
}

/// The whole scene's account.
pub type Ledger = Row;
