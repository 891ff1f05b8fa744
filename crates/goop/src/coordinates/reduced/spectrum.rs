//! Frequencies of a reduced body, and the largest step that is stable.
//!
//! ```text
//! C = L⁻¹ ΦᵀKΦ L⁻ᵀ, G = L⁻¹ ΦᵀDΦ L⁻ᵀ      M = L Lᵀ       q̈ = -C q - G q̇
//! ```
//! There are few modes, so all frequencies are found, and an explicit step is tried as it is: its matrix is squared
//! again and again until it is plain whether it grows. Beyond a few parts the rule for the largest values is used, as for nodes.

use super::matrix::Reduction;
use super::modes::MODES;
use super::{Modes, Work};
use crate::coordinates::nodal::elasticity;
use crate::elastic::Weights;
use crate::model::{Body, Integrator};
use crate::preflight::stable_step;
use crate::solve::BlockMatrix;
use crate::state::BodyState;
use faer::{Mat, Side};

/// What can be told of a reduced body before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spectrum {
    /// Lowest ω² that is not a rigid motion (1/s²).
    pub lowest: f64,
    /// Highest ω² (1/s²).
    pub highest: f64,
    /// Largest value of M⁻¹D (1/s).
    pub damper_rate: f64,
    /// Largest stable explicit step (s).
    pub stable_step: f64,
}

/// Unknowns up to which the step is tried as it is.
const TRIED: usize = 90;
/// The matrix of 2^22 steps; growth below a hundred-thousandth a step is that of a drift.
const SQUARINGS: usize = 22;
const GROWTH: f64 = 1e-5;

/// At the start of a body.
pub fn inspect(body: &Body) -> Spectrum {
    let state = BodyState::new(body);
    let modes = Modes::new(body);
    let mut reduction = Reduction::new(body, &modes);
    let mut nodes = elasticity(body).structure();
    let mut reduced = |weights: Weights| {
        nodes.clear();
        elasticity(body).stiffness(&state.memory, &state.positions, weights, false, &mut nodes);
        reduction.fill(&modes, &nodes);
        reduction.finish();
        modes.whiten(&reduction.matrix)
    };
    let damping = reduced(Weights { position: 0.0, velocity: 1.0 });
    let stiffness = reduced(Weights { position: 1.0, velocity: 0.0 });
    let values = |m: &Mat<f64>| m.self_adjoint_eigenvalues(Side::Lower).unwrap_or_default();
    let all = values(&stiffness);
    let highest = all.last().copied().unwrap_or(0.0);
    let rigid = if (0..body.len()).all(|i| modes.moves(i)) { 6 } else { 0 };
    let lowest = all.get(rigid).copied().unwrap_or(0.0);
    let damper_rate = values(&damping).last().copied().unwrap_or(0.0).max(0.0);
    let lowest = if lowest > 1e-9 * highest { lowest } else { 0.0 };
    let limit = stable_step(body.axes.integrator, highest, damper_rate);
    let tried = stiffness.nrows() <= TRIED && limit > 0.0 && highest > 0.0;
    let stable_step = if tried { try_steps(body.axes.integrator, &stiffness, &damping, limit) } else { limit };
    Spectrum { lowest, highest, damper_rate, stable_step }
}

/// Halves the gap between a stable and an unstable step.
fn try_steps(integrator: Integrator, stiffness: &Mat<f64>, damping: &Mat<f64>, guess: f64) -> f64 {
    let stable = |dt: f64| growth(step_matrix(integrator, stiffness, damping, dt)) <= GROWTH;
    let (mut low, mut high) = (guess, guess);
    while !stable(low) && low > 1e-3 * guess {
        low *= 0.5;
    }
    while stable(high) && high < 64.0 * guess {
        high *= 2.0;
    }
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        if stable(middle) { low = middle } else { high = middle }
    }
    low
}

/// One explicit step as a matrix on (q, q̇).
fn step_matrix(integrator: Integrator, c: &Mat<f64>, g: &Mat<f64>, dt: f64) -> Mat<f64> {
    let n = c.nrows();
    let taylor = integrator == Integrator::ExplicitTaylor;
    Mat::from_fn(2 * n, 2 * n, |row, column| {
        let (r, k) = (row % n, column % n);
        let same = f64::from(u8::from(r == k));
        // The velocity at the end, and with it the position.
        let rate = if column < n { -dt * c[(r, k)] } else { same - dt * g[(r, k)] };
        match (row < n, column < n, taylor) {
            (false, _, _) => rate,
            (true, true, false) => same + dt * rate,
            (true, false, false) => dt * rate,
            (true, true, true) => same + 0.5 * dt * rate,
            (true, false, true) => 0.5 * dt * (same + rate),
        }
    })
}

/// By how much the largest vector grows in a step.
fn growth(mut matrix: Mat<f64>) -> f64 {
    let (mut log, mut steps) = (0.0f64, 1.0f64);
    for _ in 0..SQUARINGS {
        let norm = matrix.norm_l2();
        if !norm.is_finite() {
            return f64::INFINITY;
        }
        if norm == 0.0 {
            return -1.0;
        }
        log = 2.0 * (log + norm.ln());
        steps *= 2.0;
        let scaled = &matrix * faer::Scale(1.0 / norm);
        matrix = &scaled * &scaled;
        if log / steps > 0.1 && steps > 4096.0 {
            break;
        }
    }
    (log + matrix.norm_l2().ln()) / steps
}

impl Modes {
    /// L⁻¹ A L⁻ᵀ on the kept modes of a reduced matrix.
    fn whiten(&self, matrix: &BlockMatrix) -> Mat<f64> {
        let all = 3 * self.len();
        let mut dense = Mat::from_fn(all, all, |r, c| matrix.get(r / 3, c / 3).row(r % 3)[c % 3]);
        for _ in 0..2 {
            for column in 0..all {
                let mut vector: Vec<glam::DVec3> = (0..self.len())
                    .map(|k| {
                        glam::DVec3::new(dense[(3 * k, column)], dense[(3 * k + 1, column)], dense[(3 * k + 2, column)])
                    })
                    .collect();
                self.forward(&mut vector);
                for k in 0..self.len() {
                    (0..3).for_each(|a| dense[(3 * k + a, column)] = vector[k][a]);
                }
            }
            dense = dense.transpose().to_owned();
        }
        let kept: Vec<usize> = (0..all).filter(|r| self.kept()[r / 3]).collect();
        Mat::from_fn(kept.len(), kept.len(), |r, c| dense[(kept[r], kept[c])])
    }
}

/// Memory of maps and modes (bytes).
pub fn bytes(body: &Body) -> usize {
    let entries = body.parts.as_ref().map_or(body.len(), |parts| (0..parts.len()).map(|i| parts.of(i).len()).sum());
    let count = body.parts.as_ref().map_or(1, |parts| parts.count.max(1));
    std::mem::size_of::<Work>() + entries * (8 * MODES + 12) + body.len() * 60 + count * 40 * MODES * MODES * 9
}
