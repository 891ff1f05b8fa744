//! Axis 3, integrators: how the unknowns advance over a step.
//!
//! All but one (`two_step`) are one-step schemes over velocities, M Δv = dt F and Δx = dt v_used. Each
//! states where its forces are taken, which is all that the account of its own
//! dissipation needs (see [`account`]).

pub mod account;
pub mod explicit;
pub(crate) mod foresight;
pub mod implicit;
pub(crate) mod momenta;
pub mod reaction;
pub mod semi_implicit;
pub mod two_step;

use crate::model::Integrator;

/// Where in the step a scheme takes its forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcesAt {
    /// At the start.
    Start,
    /// In the middle.
    Middle,
    /// At the end.
    End,
}

impl Integrator {
    /// Where the scheme takes its forces.
    pub fn forces_at(self) -> ForcesAt {
        match self {
            Integrator::BackwardEuler | Integrator::Bdf2 => ForcesAt::End,
            Integrator::ImplicitMidpoint => ForcesAt::Middle,
            _ => ForcesAt::Start,
        }
    }

    /// Whether a linear system is solved.
    pub fn implicit(self) -> bool {
        self.forces_at() != ForcesAt::Start
    }
}
