//! Axis 1, elasticity: the energy of a shape, its forces and its stiffness.
//!
//! An elasticity knows positions and nothing else: not masses, not how time
//! advances, not what the unknowns are. What it must remember between steps (rest
//! lengths that flow, edges that are broken) is its `memory`, kept by the state.

mod assembly;
mod bends;
mod card;
mod curvature;
mod curve_bend;
mod curve_stretch;
mod curve_twist;
mod element;
pub mod finite;
mod group;
mod hinge;
mod irregular;
mod jet;
pub mod lattice;
pub mod linear;
mod linked;
pub mod metric;
mod order;
mod pairs;
mod primal;
mod published;
mod quadratic;
mod rooms;
mod solid_metric;
pub mod spline;
mod spline_rows;
pub mod springs;
mod surface_curvature;
mod surface_grid;
mod surface_metric;
mod triangle_bend;
mod triangle_metric;
mod yielding;

pub use finite::Finite;
pub use linear::Linear;
pub use metric::Metric;
pub use spline::Spline;
pub use springs::Springs;

use crate::parallel::Chunks;
use crate::solve::BlockMatrix;
use glam::DVec3;

/// How much a shape is deformed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deformation {
    /// Σ |l - r| (m).
    pub total: f64,
    /// The same per spring (m).
    pub mean: f64,
    /// Largest |l - r| / r.
    pub worst: f64,
}

/// Which multiples of the stiffness and of the damping matrix to add.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Factor of -∂f/∂x.
    pub position: f64,
    /// Factor of -∂f/∂v.
    pub velocity: f64,
}

/// What flow and fracture did after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Energy lost because the rest shape gave way (J).
    pub flowed: f64,
    /// Energy lost with the edges that broke (J).
    pub torn: f64,
    /// Edges that broke now.
    pub broken: usize,
}

/// The energy of a shape.
pub trait Elasticity: Send + Sync + std::fmt::Debug {
    /// What it has to remember, at the start.
    fn memory(&self) -> Vec<f64>;

    /// What it has to remember when it takes over from another material of the same
    /// kind: what was remembered, as far as it fits.
    fn carry_over(&self, old: &[f64]) -> Vec<f64> {
        let fresh = self.memory();
        if old.len() == fresh.len() { old.to_vec() } else { fresh }
    }

    /// Whether it has any damping.
    fn damped(&self) -> bool;

    /// Whether its forces, damping included, turn no free body.
    fn central(&self) -> bool;

    /// Writes elastic forces -∇E and damping forces (N); returns the energy (J).
    /// `damping` is left alone when there is none.
    fn forces(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], elastic: &mut [DVec3], damping: &mut [DVec3]) -> f64;

    /// Writes the sum of elastic and damping forces (N); returns the energy (J). `spare` is room.
    fn total(&self, memory: &[f64], x: &[DVec3], v: &[DVec3], total: &mut [DVec3], spare: &mut [DVec3]) -> f64 {
        let energy = self.forces(memory, x, v, total, spare);
        if self.damped() {
            total.iter_mut().zip(spare).for_each(|(total, damping)| *total += *damping);
        }
        energy
    }

    /// The energy, and the work of damping forces on the way to x from where nodes were (J). `spare` is room for forces.
    fn account(
        &self,
        memory: &[f64],
        x: &[DVec3],
        v: &[DVec3],
        from: &[DVec3],
        [elastic, damping]: [&mut [DVec3]; 2],
    ) -> [f64; 2] {
        let energy = self.forces(memory, x, v, elastic, &mut *damping);
        let damping = &*damping;
        let [work] = match self.damped() {
            true => Chunks::new(x.len()).sum(|_, range| [range.map(|i| damping[i].dot(x[i] - from[i])).sum::<f64>()]),
            false => [0.0],
        };
        [energy, work]
    }

    /// An empty matrix with the structure of the stiffness.
    fn structure(&self) -> BlockMatrix;

    /// Adds weighted stiffness and damping. `exact` is ∇²E; otherwise the positive
    /// semi-definite form that implicit steps use, equal to it where that is.
    fn stiffness(&self, memory: &[f64], x: &[DVec3], weights: Weights, exact: bool, matrix: &mut BlockMatrix) {
        self.stiffness_under_tension(memory, x, x, weights, exact, matrix);
    }

    /// The same with directions at `x` and the tension that stiffens them sideways
    /// as it is at `tension_at`.
    fn stiffness_under_tension(
        &self,
        memory: &[f64],
        x: &[DVec3],
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        matrix: &mut BlockMatrix,
    );

    /// Measures of deformation.
    fn deformation(&self, memory: &[f64], x: &[DVec3]) -> Deformation;

    /// Largest relative change of length at every node.
    fn stretch(&self, memory: &[f64], x: &[DVec3], out: &mut [f32]);

    /// What of the material card it cannot honour, in sentences.
    fn limits(&self) -> &[String];

    /// Number of elements, for estimates of cost.
    fn elements(&self) -> usize;

    /// Whether memory may change: the rest shape flows, or edges break.
    fn inelastic(&self) -> bool {
        false
    }

    /// Lets the rest shape follow, and breaks what is stretched too far, after a step of
    /// `dt` that ended at `x`.
    fn flow(&self, _memory: &mut [f64], _x: &[DVec3], _dt: f64) -> Flow {
        Flow::default()
    }

    /// The part of the memory that says which grid edges hold, 1, or are broken, 0: one
    /// for each edge of `Grid::edges`, axis after axis. Empty where nothing can break.
    fn edges<'a>(&self, _memory: &'a [f64]) -> &'a [f64] {
        &[]
    }

    /// The energy as a quadratic one of the displacement in a rigid frame, where it is
    /// made that way; others are linearised at rest. `rim_held`: the whole boundary is pinned.
    fn linear(&self, _memory: &[f64], _rim_held: bool) -> Option<Linear> {
        None
    }

    /// The spline energy, if it is one.
    fn spline(&self) -> Option<&Spline> {
        None
    }

    /// Pairs of nodes between which springs run, for pictures; none where there are no springs.
    fn links(&self) -> &[[u32; 2]] {
        &[]
    }
}
