//! Servo control: forces and torques that bring a body along a path and hold its attitude.
//!
//! Proportional and derivative on the centre of mass and on the best-fit rotation, taken at the end of the step:
//! ```text
//! a = ω² (p₁ - c - h (v + h a)) + 2ζω (ṗ₁ - v - h a)       F = m (a - g)          [N]
//! α = ω² (θ₁ - h (Ω + h α)) + 2ζω (Ω₁ - Ω - h α)           τ = I α                [N m]
//! ```
//! with p₁ where the path has the centre at the end of the step, θ₁ the turn from the body's rotation to the path's, as an axis times an
//! angle. Both are linear in a and α and solved for them, so that every gain is stable at every step; mass and inertia are the
//! body's own, so that ω, from the response time, is all there is to choose. ζ = 1 does not overshoot.

use super::path::Path;
use super::posture::Posture;
use glam::DVec3;

/// What brings a body along a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Servo {
    /// Where the origin of the rest shape should be, and how it should be turned.
    pub path: Path,
    /// Directions of the world in which its place is held.
    pub holds: [bool; 3],
    /// Whether its attitude is held.
    pub attitude: bool,
    /// Time after which 5 % of an error are left (s).
    pub response: f64,
    /// Damping ratio ζ.
    pub damping: f64,
    /// Whether the weight is carried, in the directions that are held.
    pub carries_weight: bool,
    /// No more than this force (N).
    pub most_force: f64,
    /// No more than this torque (N m).
    pub most_torque: f64,
}

impl Default for Servo {
    fn default() -> Self {
        Self {
            path: Path::default(),
            holds: [true; 3],
            attitude: true,
            response: 0.3,
            damping: 1.0,
            carries_weight: true,
            most_force: f64::INFINITY,
            most_torque: f64::INFINITY,
        }
    }
}

/// ω times the response time: where (1 + x) exp(-x) is 5 %.
const RESPONSE: f64 = 4.7439;

impl Servo {
    /// Force at the centre of mass and torque about it for a step to `time` (s) of length `dt` (s).
    pub fn wrench(&self, posture: &Posture, gravity: DVec3, time: f64, dt: f64) -> (DVec3, DVec3) {
        let pose = self.path.at(time);
        let stiff = (RESPONSE / self.response).powi(2);
        let damp = 2.0 * self.damping * RESPONSE / self.response;
        let answer = |error: DVec3, rate: DVec3, wanted: DVec3| {
            (stiff * (error - dt * rate) + damp * (wanted - rate)) / (1.0 + dt * damp + dt * dt * stiff)
        };
        let arm = pose.rotation * posture.rest_center;
        let error = pose.position + arm - posture.center;
        let mut pull = answer(error, posture.velocity, pose.velocity + pose.spin.cross(arm));
        if self.carries_weight {
            pull -= gravity;
        }
        let held = DVec3::from_array(self.holds.map(|held| if held { 1.0 } else { 0.0 }));
        let force = (posture.mass * pull * held).clamp_length_max(self.most_force);
        if !self.attitude {
            return (force, DVec3::ZERO);
        }
        let mut turn = pose.rotation * posture.rotation.inverse();
        if turn.w < 0.0 {
            turn = -turn;
        }
        let torque = posture.inertia * answer(turn.to_scaled_axis(), posture.spin, pose.spin);
        (force, torque.clamp_length_max(self.most_torque))
    }
}
