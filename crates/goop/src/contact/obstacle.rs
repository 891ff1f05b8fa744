//! Obstacles: solids given by a formula or by triangles, whose motion is known in advance.
//!
//! Everything a contact law asks of an obstacle is geometry: how far a point is
//! from the surface, which way is out, how fast the surface moves there, and
//! whether a point went into the solid on its way through a step.
//! ```text
//! d(x)  true signed distance, positive where a node may be   [m]
//! n     ∇d, of length one
//! v(x)  velocity + spin × (x - position)                     [m/s]
//! ```
//! A hollow obstacle is a container: the solid is all that lies outside the
//! shape, so d and n change sign.
//!
//! Departs from the paper: GO pushes with a potential of an inside-outside
//! function that has no length unit; that form is in `published`, while
//! distances here are metres.

mod ellipsoid;
mod hyperboloid;
mod mesh;
mod outline;
mod published;
mod shape;
#[cfg(test)]
mod tests;
mod touch;

pub use mesh::ObstacleMesh;
pub use shape::ObstacleShape;

use crate::animate::{Motion, Pose};
use glam::{DQuat, DVec3};

/// How a point lies to a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Signed distance (m): positive where a node may be, negative in the solid.
    pub distance: f64,
    /// Unit vector along which the distance grows fastest.
    pub normal: DVec3,
    /// Largest curvature of the surface at the nearest point (1/m), 0 where it is
    /// flat. At a sharp edge it is that of the distance itself, one over the distance.
    pub curvature: f64,
}

/// Constants of the published potential c·exp(-f/ξ).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Published {
    /// Energy of a node on the surface, c (J).
    pub c: f64,
    /// How fast it fades, ξ, in the unit of f (-; m for plane, capsule and box).
    pub xi: f64,
}

/// A solid or a container that moves as it is told and feels no forces.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Obstacle {
    /// Name in the scene.
    pub name: String,
    /// Its surface, in its own axes.
    pub shape: ObstacleShape,
    /// A container: bodies live inside the shape.
    pub hollow: bool,
    /// Pose over time.
    pub motion: Motion,
    /// Coulomb's coefficient of friction (-).
    pub friction: f64,
    /// Share of the speed with which rigid and framed bodies rebound (-); the others do by their own elasticity.
    pub restitution: f64,
    /// Distance over which the potential acts (m).
    pub range: f64,
    /// Stiffness of the potential at a node (N/m); `None` leaves it to the contact law.
    pub stiffness: Option<f64>,
    /// Damping of the motion along the normal, as the contact law takes it.
    pub damping: f64,
    /// Deepest penetration allowed (m).
    pub tolerance: f64,
    /// Use the published potential with these constants.
    pub published: Option<Published>,
    /// Taken out of the scene; the geometry below does not look at it.
    pub removed: bool,
}

impl Obstacle {
    /// Distance, normal and curvature at a point (m), all in world axes.
    pub fn gap(&self, world_point: DVec3, pose: &Pose) -> Gap {
        // Most obstacles stand as they were made.
        if pose.rotation == DQuat::IDENTITY {
            return self.local_gap(world_point - pose.position);
        }
        let gap = self.local_gap(local_from_world(pose, world_point));
        Gap { normal: pose.rotation * gap.normal, ..gap }
    }

    /// Velocity of the obstacle's material at a point (m/s), world axes.
    pub fn surface_velocity(&self, world_point: DVec3, pose: &Pose) -> DVec3 {
        pose.velocity + pose.spin.cross(world_point - pose.position)
    }

    /// Radius about its origin beyond which there is no solid (m); `None` for a plane or a container.
    pub fn bounding_radius(&self) -> Option<f64> {
        if self.hollow { None } else { self.shape.bounding_radius() }
    }

    /// Smallest full thickness of the solid (m); infinite for a plane and most containers.
    /// A hollow torus has its hole for a wall.
    pub fn thickness(&self) -> f64 {
        match self.shape {
            ObstacleShape::Torus { radius, tube } if self.hollow => 2.0 * (radius - tube),
            _ if self.hollow => f64::INFINITY,
            _ => self.shape.thickness(),
        }
    }

    /// Whether the numbers make sense; the message names every fault and its remedy.
    pub fn check(&self) -> Result<(), String> {
        let mut faults = self.shape.faults();
        let mut need = |fine: bool, fault: String| {
            if !fine {
                faults.push(fault);
            }
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        need(not_negative(self.friction), format!("friction is {}; give 0 or more, say 0.3", self.friction));
        need(
            (0.0..=1.0).contains(&self.restitution),
            format!("restitution is {}; give a number from 0 to 1", self.restitution),
        );
        need(positive(self.range), format!("range is {} m; give a small positive length, say 0.005", self.range));
        need(not_negative(self.damping), format!("damping is {}; give 0 or more", self.damping));
        need(positive(self.tolerance), format!("tolerance is {} m; give a positive length, say 0.001", self.tolerance));
        if let Some(k) = self.stiffness {
            need(positive(k), format!("stiffness is {k} N/m; give a positive number or leave it out"));
        }
        if let Some(Published { c, xi }) = self.published {
            need(not_negative(c), format!("published c is {c} J; give 0 or more"));
            need(positive(xi), format!("published xi is {xi}; give a positive number, say 0.1"));
        }
        if faults.is_empty() { Ok(()) } else { Err(format!("obstacle \"{}\": {}", self.name, faults.join("; "))) }
    }

    /// The gap in the obstacle's own axes, turned inside out when hollow.
    fn local_gap(&self, local: DVec3) -> Gap {
        let gap = self.shape.distance(local);
        if self.hollow { Gap { distance: -gap.distance, normal: -gap.normal, ..gap } } else { gap }
    }
}

/// A point (m) in the axes of an obstacle at this pose.
fn local_from_world(pose: &Pose, world_point: DVec3) -> DVec3 {
    pose.rotation.inverse() * (world_point - pose.position)
}
