//! Reduced coordinates: every body part is a quadratic map of its rest positions.
//!
//! ```text
//! x_i = Σ_b c_b(i) R_b p(x̃_i)          p = [x y z xy yz xz x² y² z² 1],  R_b 3×10      [Chang] eq 5.1, 5.2
//! Q_b = Σ_i c_b(i) f_i p_iᵀ            generalised force
//! M_bc = Σ_i m_i c_b(i) c_c(i) p_i p_iᵀ          Σ_c M_bc R̈_c = Q_b
//! R = (PᵀMP)⁻¹ PᵀM X                   the map nearest to given nodes          [Chang] 5.3.4
//! ```
//! Shares c_b are those of the body's parts; without any the whole body is one part. Nodes that are held exactly
//! (bones, pins) are no part of R: they are where they are held, and pull by their springs.
//!
//! Departs from the paper: x̃ is centred and scaled for every part, and its monomials are made orthonormal
//! by mass (see `modes`), so that M is the identity for one part and two layers of nodes, which make it
//! singular, merely lose the monomial that says nothing new. The thesis has neither Q_b nor M_bc for blended parts.
//! The fit is weighted by mass, so that it keeps the momenta of what it is given.
//!
//! The force of the constraint is orthogonal to every motion that R can make, so it does no work and the account is
//! that of nodes. Rigid motions are among those motions, so momenta are kept as by nodes.

mod gather;
mod matrix;
mod modes;
mod put_back;
pub mod spectrum;
mod step;

pub use modes::{Modes, monomials};
pub(crate) use put_back::put_back;
pub(crate) use step::{explicit, implicit};

use crate::model::{Body, Integrator};
use crate::solve::Solver;
use crate::state::BodyState;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// The maps of all parts, as amounts of the modes of [`Modes`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReducedState {
    /// Ten for each part (m √kg).
    pub values: Vec<DVec3>,
    /// Their rates (m/s √kg).
    pub rates: Vec<DVec3>,
}

impl ReducedState {
    /// The maps nearest to given nodes.
    pub fn from_nodes(body: &Body, modes: &Modes, x: &[DVec3], v: &[DVec3]) -> Self {
        let mut state = Self { values: vec![DVec3::ZERO; modes.len()], rates: vec![DVec3::ZERO; modes.len()] };
        let mut weighed = vec![DVec3::ZERO; body.len()];
        modes.fit(&body.masses, x, &mut weighed, &mut state.values);
        modes.fit(&body.masses, v, &mut weighed, &mut state.rates);
        state
    }
}

/// Work space of a reduced body.
#[derive(Debug)]
pub struct Work {
    pub(crate) modes: Modes,
    /// Forces on nodes (N), and other vectors of theirs.
    pub(crate) nodes: Vec<DVec3>,
    /// The same for modes.
    pub(crate) right: Vec<DVec3>,
    pub(crate) delta: Vec<DVec3>,
    /// For implicit steps.
    pub(crate) reduction: Option<matrix::Reduction>,
    pub(crate) solver: Solver,
}

impl Work {
    /// Work space for a body.
    pub fn new(body: &Body) -> Self {
        let modes = Modes::new(body);
        let k = modes.len();
        let reduction =
            (body.axes.integrator == Integrator::BackwardEuler).then(|| matrix::Reduction::new(body, &modes));
        Self {
            nodes: vec![DVec3::ZERO; body.len()],
            right: vec![DVec3::ZERO; k],
            delta: vec![DVec3::ZERO; k],
            reduction,
            solver: Solver::default(),
            modes,
        }
    }

    /// What of nodal forces moves the body: m_i times the acceleration they give node i, in place (N).
    pub(crate) fn project(&mut self, body: &Body, forces: &mut [DVec3]) {
        self.modes.gather(forces, &mut self.right);
        self.modes.solve(&mut self.right);
        self.modes.place(&self.right, forces);
        for (i, force) in forces.iter_mut().enumerate() {
            *force = if self.modes.moves(i) { *force * body.masses[i] } else { DVec3::ZERO };
        }
    }
}

impl BodyState {
    /// Fits the maps of a reduced body to its nodes, and puts the nodes where the maps say.
    pub(crate) fn fit_reduced(&mut self, body: &Body) {
        let modes = Modes::new(body);
        let state = ReducedState::from_nodes(body, &modes, &self.positions, &self.velocities);
        modes.place(&state.values, &mut self.positions);
        modes.place(&state.rates, &mut self.velocities);
        self.reduced = Some(Box::new(state));
    }
}
