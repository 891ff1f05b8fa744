//! Drives: forces by which a body moves itself.
//!
//! ```text
//! thruster   a force on some nodes, shared by mass, or at the centre of mass; body or world axes
//! gyro       a torque
//! servo      force and torque that follow a path                                      see `servo`
//! ```
//! A force F at the centre and a torque τ about it become forces on all nodes that move them like a rigid body,
//! ```text
//! f_i = m_i (F/m + α×q_i),   α = I⁻¹τ        Σ f = F,   Σ q×f = τ                      exactly
//! ```
//! They are found once a step, from its start and its length, and act all through it: the same for every choice of
//! coordinates and integrator, which take them with the loads. Time courses are averaged over the step, so that what a thruster
//! gives in all does not depend on where steps begin.

pub mod path;
pub mod posture;
pub mod servo;

pub use path::Path;
pub use posture::Posture;
pub use servo::Servo;

use crate::animate::Course;
use crate::model::Body;
use glam::DVec3;

/// What a drive does.
#[derive(Clone, Debug, PartialEq)]
pub enum DriveKind {
    /// A force.
    Thruster {
        /// Which nodes share it by mass; none: at the centre of mass.
        nodes: Vec<u32>,
        /// The force (N).
        newtons: DVec3,
        /// It turns with the body.
        body_axes: bool,
        /// Factor over time.
        course: Course,
    },
    /// A torque.
    Gyro {
        /// The torque (N m).
        newton_meters: DVec3,
        /// It turns with the body.
        body_axes: bool,
        /// Factor over time.
        course: Course,
    },
    /// Follows a path.
    Servo(Servo),
}

/// A drive and when it acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// From when (s).
    pub from: f64,
    /// Until when (s).
    pub until: f64,
    /// What it does.
    pub kind: DriveKind,
}

impl Drive {
    /// One that always acts.
    pub fn always(kind: DriveKind) -> Self {
        Self { from: 0.0, until: f64::INFINITY, kind }
    }

    /// The part of a step in which it acts: start and end (s).
    fn part(&self, time: f64, dt: f64) -> Option<(f64, f64)> {
        let (start, end) = (time.max(self.from), (time + dt).min(self.until));
        (end > start + 1e-9 * dt).then_some((start, end))
    }

    /// Whether it acts in a step.
    pub fn acts(&self, time: f64, dt: f64) -> bool {
        self.part(time, dt).is_some()
    }
}

/// Adds the drives of a body in a step from `time` (s) of length `dt` (s) to forces on its nodes (N).
pub(crate) fn add(body: &Body, gravity: DVec3, time: f64, dt: f64, x: &[DVec3], v: &[DVec3], forces: &mut [DVec3]) {
    if !body.drives.iter().any(|drive| drive.acts(time, dt)) {
        return;
    }
    let posture = Posture::of(&body.masses, &body.shape.rest_positions, x, v);
    let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
    for drive in &body.drives {
        let Some((start, end)) = drive.part(time, dt) else { continue };
        let share = (end - start) / dt;
        let turned = |value: DVec3, body_axes: bool| if body_axes { posture.rotation * value } else { value };
        match &drive.kind {
            DriveKind::Thruster { nodes, newtons, body_axes, course } => {
                let force = turned(*newtons, *body_axes) * (share * course.mean(start, end));
                if nodes.is_empty() {
                    push += force;
                    continue;
                }
                let mass: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
                nodes.iter().for_each(|&i| forces[i as usize] += force * (body.masses[i as usize] / mass));
            }
            DriveKind::Gyro { newton_meters, body_axes, course } => {
                torque += turned(*newton_meters, *body_axes) * (share * course.mean(start, end));
            }
            DriveKind::Servo(servo) => {
                let (force, turning) = servo.wrench(&posture, gravity, time + dt, dt);
                push += share * force;
                torque += share * turning;
            }
        }
    }
    let (shift, turn) = (push / posture.mass, posture.turned_by(torque));
    if shift != DVec3::ZERO || turn != DVec3::ZERO {
        for i in 0..x.len() {
            forces[i] += body.masses[i] * (shift + turn.cross(x[i] - posture.center));
        }
    }
}

/// Changes velocities by a blow: a momentum (N s) at the centre of mass and an angular momentum about it (N m s), which it
/// returns in world axes.
pub(crate) fn kick(body: &Body, blow: [DVec3; 2], body_axes: bool, x: &[DVec3], v: &mut [DVec3]) -> [DVec3; 2] {
    let posture = Posture::of(&body.masses, &body.shape.rest_positions, x, v);
    let [linear, angular] = blow.map(|value| if body_axes { posture.rotation * value } else { value });
    let (shift, turn) = (linear / posture.mass, posture.turned_by(angular));
    for i in 0..x.len() {
        v[i] += shift + turn.cross(x[i] - posture.center);
    }
    [linear, angular]
}
