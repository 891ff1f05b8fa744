//! One node at one obstacle during a step: what pushes, holds and brakes it.
//!
//! Forces are affine in the move past the surface, so that an implicit step can
//! solve for them; which of the pieces holds (press or leave, stick or slip) is
//! corrected between solves:
//! ```text
//! press   N n - k n nᵀ Δ          else nothing at all
//! stick   p - k Δ_t               while |p - k Δ_t| ≤ μ N
//! slip    μ N t̂,  t̂ the direction of p - k Δ_t, which turns with the motion
//! ```

use super::along;
use glam::{DMat3, DVec3};

/// A node within reach of an obstacle.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Which node.
    pub node: u32,
    /// Which obstacle.
    pub obstacle: u32,
    /// Distance to the surface (m), negative inside.
    pub gap: f64,
    /// Outward normal.
    pub normal: DVec3,
    /// Potential (J): normal only.
    pub energy: f64,
    /// Force of the potential (N).
    pub push: DVec3,
    /// Friction force at the positions it was evaluated at (N), without its damper.
    pub friction: DVec3,
    /// What friction may do.
    pub(super) hold: Hold,
    /// Friction slips rather than sticks.
    pub slips: bool,
    /// Energy of the friction spring (J).
    pub friction_energy: f64,
    /// Stiffness to be used implicitly: potential, and friction while it sticks (N/m).
    pub stiffness: DMat3,
    /// Part of it that is friction (N/m).
    pub friction_stiffness: DMat3,
    /// The rest of it along the normal (N/m).
    pub(super) pressing: DVec3,
    /// Damping to be used implicitly (N s/m).
    pub damping: DMat3,
    /// Velocity of the surface there (m/s).
    pub surface_velocity: DVec3,
    /// How far the node goes past the surface in the step whatever the velocity that is solved for (m).
    pub carried: DVec3,
    /// Anchor in the obstacle's axes.
    pub anchor: DVec3,
    /// The step found that the node leaves: nothing acts on it.
    pub released: bool,
    /// A solve let the node go: when it is taken back it is kept.
    pub(super) let_go: bool,
    /// Slip turned round in this step: the next time it sticks.
    pub(super) turned: bool,
}

/// What friction may do at a touch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    /// Pull of the spring at the start (N).
    pub(super) pull: DVec3,
    /// The most friction can do (N).
    pub(super) limit: f64,
    /// The spring (N/m).
    pub(super) stiffness: f64,
    /// The damper beside it (N s/m).
    pub(super) damping: f64,
}

impl Touch {
    /// Force of the potential when the node has moved by `shift` past the surface (N).
    pub fn push_after(&self, shift: DVec3) -> DVec3 {
        if self.released { DVec3::ZERO } else { self.push - (self.stiffness - self.friction_stiffness) * shift }
    }

    /// Friction when the node has moved by `shift` past the surface (N).
    pub fn friction_after(&self, shift: DVec3) -> DVec3 {
        if self.released { DVec3::ZERO } else { self.friction - self.friction_stiffness * shift }
    }

    /// What the friction spring would pull after a move by `shift` past the surface (N).
    pub(super) fn trial(&self, shift: DVec3) -> DVec3 {
        self.hold.pull - self.hold.stiffness * (shift - shift.dot(self.normal) * self.normal)
    }

    /// Friction holds like a spring with a damper.
    pub(super) fn stick(&mut self) {
        let tangent = DMat3::IDENTITY - along(self.normal);
        self.set_friction(self.hold.pull, tangent * self.hold.stiffness);
        self.damping += tangent * self.hold.damping;
        self.slips = false;
    }

    /// Friction of given magnitude against a trial; after a move by `shift` its direction is the
    /// trial's, and turns with the motion as stiffly as the spring would.
    pub(super) fn slip(&mut self, trial: DVec3, shift: DVec3) {
        let (direction, length) = (trial.normalize(), trial.length());
        let turning = if shift == DVec3::ZERO { 0.0 } else { self.hold.stiffness * self.hold.limit / length };
        let stiffness = (DMat3::IDENTITY - along(self.normal) - along(direction)) * turning;
        self.set_friction(self.hold.limit * direction + stiffness * shift, stiffness);
        self.slips = true;
    }

    /// Replaces friction; only the normal's damper stays.
    fn set_friction(&mut self, friction: DVec3, stiffness: DMat3) {
        self.stiffness += stiffness - self.friction_stiffness;
        self.friction_stiffness = stiffness;
        self.friction = friction;
        self.damping = along(self.normal) * self.normal.dot(self.damping * self.normal);
    }

    /// Corrects what was assumed of the touch where a step ends with this move past the surface:
    /// it may press or not, stick or slip. It starts to slip only if `may_slip`, and turns round once, so that
    /// the two do not take turns: too much hold only costs energy, a slip that drives the node would make some.
    /// Nor do pressing and leaving: a node that is let go and gets in is held, at the price of a small pull.
    /// Whether anything changed.
    pub fn settle(&mut self, shift: DVec3, may_slip: bool) -> bool {
        let kept = self.let_go && !self.released;
        let released = !self.presses(shift) && !kept;
        let changed = released != self.released;
        self.let_go |= changed && released;
        self.released = released;
        if released || self.hold.limit == 0.0 {
            return changed;
        }
        let trial = self.trial(shift);
        let (holds, turns) =
            (trial.length_squared() <= self.hold.limit.powi(2), self.slips && trial.dot(self.friction) < 0.0);
        let may_slip = may_slip && !self.turned;
        if self.slips && (holds || (turns && !may_slip)) {
            self.stick();
        } else if !holds && may_slip && (!self.slips || turns) {
            self.turned = turns;
            self.slip(trial, shift);
        } else {
            return changed;
        }
        true
    }

    /// Whether the potential pushes when the node has moved by `shift` past the surface.
    pub fn presses(&self, shift: DVec3) -> bool {
        self.push.dot(self.normal) - self.pressing.dot(shift) > 0.0
    }

    /// How far the node goes past the surface in a time `h` (s) at a velocity past it, with what carries it anyway (m).
    pub fn shift(&self, h: f64, velocity: DVec3) -> DVec3 {
        self.carried + h * velocity
    }

    /// Everything after a time `h` (s) at a velocity past the surface (N).
    pub fn force_after(&self, h: f64, velocity: DVec3) -> DVec3 {
        let shift = self.shift(h, velocity);
        self.push_after(shift) + self.friction_after(shift) + self.damper(velocity)
    }

    /// Force of the dampers at a velocity past the surface (N).
    pub fn damper(&self, velocity: DVec3) -> DVec3 {
        if self.released { DVec3::ZERO } else { -(self.damping * velocity) }
    }
}
