//! Implicit schemes: stiff springs at any step.
//!
//! Backward Euler in the velocity, with K = -∂f/∂x, D = -∂f/∂v:
//! ```text
//! g(v₁) = M (v₁ - v₀) - dt f(x₀ + dt v₁, v₁, t₁) = 0
//! one linearisation at x₀ (the default, [Chang] 5.3):
//!   (M + dt D + dt² K) v₁ = M v₀ + dt f(x₀, 0)
//! more iterations: the same matrix at the latest x, right side -g, halved until g falls
//! ```
//! First order; every step is stable because K and D are clamped positive
//! semi-definite. Its own dissipation is ½‖Δv‖²_M + ½‖Δx‖²_K.
//!
//! The implicit midpoint rule is a backward Euler step of half the length to the
//! mid velocity w, and then v₁ = 2w - v₀, x₁ = x₀ + dt w: second order, and no
//! dissipation of its own for a quadratic energy; stiff modes ring unless the
//! material damps them.
//!
//! Both then restore the momenta of a free body, see `momenta`.
//!
//! Departs from the papers: the signs and the transverse term of the printed Jacobian
//! are corrected, and the matrix is then symmetric: conjugate gradients instead of
//! bi-conjugate ones.

use super::momenta;
use crate::coordinates::nodal::{Clock, Evaluation, Outcome, Scratch, elasticity, soft_pins};
use crate::elastic::Weights;
use crate::model::{Body, Model};
use crate::parallel::{Chunks, Disjoint};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// Newton stops when |g| has fallen by this factor.
const NEWTON_TOLERANCE: f64 = 1e-9;

/// One backward Euler step.
pub fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    outcome: &mut Outcome,
) {
    let dt = clock.dt;
    for &(node, target) in &scratch.held {
        scratch.trial[node as usize] = (target - before.positions[node as usize]) / dt;
    }
    solve_velocity(model, body, clock.time + dt, dt, before, state, scratch, outcome);
    scratch.restored = momenta::keep(model, body, dt, 0.0, before, &mut state.velocities, scratch);
    let x = Disjoint::new(&mut state.positions);
    let v = &state.velocities;
    Chunks::new(body.len()).each(|_, range| {
        // SAFETY: chunks are disjoint.
        let x = unsafe { x.slice(range.clone()) };
        for (k, i) in range.enumerate() {
            x[k] = before.positions[i] + dt * v[i];
        }
    });
    for &(node, target) in &scratch.held {
        state.positions[node as usize] = target;
    }
}

/// One step of the implicit midpoint rule.
pub fn midpoint(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    outcome: &mut Outcome,
) {
    let dt = clock.dt;
    for &(node, target) in &scratch.held {
        scratch.trial[node as usize] = (target - before.positions[node as usize]) / dt;
    }
    let h = 0.5 * dt;
    solve_velocity(model, body, clock.time + h, h, before, state, scratch, outcome);
    scratch.restored = 2.0 * momenta::keep(model, body, h, h, before, &mut state.velocities, scratch);
    for i in 0..body.len() {
        let w = state.velocities[i];
        state.positions[i] = before.positions[i] + dt * w;
        if scratch.free[i] {
            state.velocities[i] = 2.0 * w - before.velocities[i];
        }
    }
    for &(node, target) in &scratch.held {
        state.positions[node as usize] = target;
    }
}

/// Solves for the velocity at the end of a backward Euler step of length `h`;
/// `scratch.trial` holds the prescribed velocity of held nodes.
fn solve_velocity(
    model: &Model,
    body: &Body,
    time: f64,
    h: f64,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    outcome: &mut Outcome,
) {
    let elastic = elasticity(body);
    let n = body.len();
    if scratch.right.len() != n {
        scratch.right.resize(n, DVec3::ZERO);
        scratch.delta.resize(n, DVec3::ZERO);
        scratch.trial.resize(n, DVec3::ZERO);
    }
    let mut matrix = scratch.matrix.take().unwrap_or_else(|| elastic.structure());
    let v = &mut state.velocities;
    for i in 0..n {
        v[i] = if scratch.free[i] { before.velocities[i] } else { scratch.trial[i] };
    }
    let mut first_norm = 0.0;
    for iteration in 0..body.newton.max(1) {
        let at: &[DVec3] = if iteration == 0 { &before.positions } else { &scratch.trial };
        fill(body, h, before, at, scratch, &mut matrix);
        if iteration == 0 {
            linearised_right(model, body, time, h, before, v, scratch, &matrix);
        }
        let mut memory = before.direct_left.max(state.direct_left);
        let report =
            scratch.solver.solve(&body.solver, &matrix, &scratch.free, &scratch.right, &mut scratch.delta, &mut memory);
        state.direct_left = memory;
        outcome.solve = Some(report);
        if iteration == 0 {
            for i in 0..n {
                v[i] += scratch.delta[i];
            }
            if body.newton <= 1 {
                break;
            }
            first_norm = residual(model, body, time, h, before, v, scratch).max(f64::MIN_POSITIVE);
            outcome.newton_residual = first_norm;
        } else {
            // Halve the correction until the residual falls.
            let old = outcome.newton_residual;
            let mut share = 1.0;
            for i in 0..n {
                v[i] += scratch.delta[i];
            }
            loop {
                outcome.newton_residual = residual(model, body, time, h, before, v, scratch);
                if outcome.newton_residual <= old || share < 0.05 {
                    break;
                }
                share *= 0.5;
                for i in 0..n {
                    v[i] -= share * scratch.delta[i];
                }
            }
        }
        let scale = momentum_scale(model, body, h, v);
        if outcome.newton_residual <= NEWTON_TOLERANCE * first_norm.max(scale) {
            break;
        }
    }
    scratch.matrix = Some(matrix);
}

/// What a residual impulse is measured against: the weight over the step, and momenta (N s).
fn momentum_scale(model: &Model, body: &Body, h: f64, v: &[DVec3]) -> f64 {
    let sum: f64 =
        (0..body.len()).map(|i| (body.masses[i] * (v[i].length() + h * model.gravity.length())).powi(2)).sum();
    sum.sqrt()
}

/// M + h D + h² K, with drag, contacts and compliant pins.
fn fill(
    body: &Body,
    h: f64,
    before: &BodyState,
    x: &[DVec3],
    scratch: &Scratch,
    matrix: &mut crate::solve::BlockMatrix,
) {
    matrix.clear();
    let weights = Weights { position: h * h, velocity: h };
    elasticity(body).stiffness(&before.memory, x, weights, false, matrix);
    let rows = matrix.rows_mut();
    rows.chunks.each(|c, range| {
        // SAFETY: every chunk is taken once.
        let mut rows = unsafe { rows.chunk(c) };
        for i in range {
            let mut block = DMat3::from_diagonal(DVec3::splat(body.masses[i]));
            if body.drag[i] != 0.0 {
                block += scratch.drag(body, i) * h;
            }
            rows.add_diagonal(i, &block);
        }
    });
    for touch in &scratch.now.touches {
        matrix.add_diagonal(touch.node as usize, touch.stiffness * (h * h) + touch.damping * h);
    }
    for pin in &body.pins {
        if let Some(k) = pin.stiffness {
            for &node in &pin.nodes {
                matrix.add_diagonal(node as usize, DMat3::from_diagonal(DVec3::splat(h * h * k)));
            }
        }
    }
}

/// `M v₀ + h f(x₀, 0) - A v`, where v is v₀ with held nodes already at their velocity.
fn linearised_right(
    model: &Model,
    body: &Body,
    time: f64,
    h: f64,
    before: &BodyState,
    v: &[DVec3],
    scratch: &mut Scratch,
    matrix: &crate::solve::BlockMatrix,
) {
    let mut product = std::mem::take(&mut scratch.delta);
    matrix.product(&scratch.free, v, &mut product);
    let right = Disjoint::new(&mut scratch.right);
    let (elastic, loads) = (&scratch.now.elastic, &scratch.loads);
    Chunks::new(body.len()).each(|_, range| {
        // SAFETY: chunks are disjoint.
        let right = unsafe { right.slice(range.clone()) };
        for (k, i) in range.enumerate() {
            let m = body.masses[i];
            let load = loads.get(i).copied().unwrap_or(DVec3::ZERO);
            right[k] = m * before.velocities[i] + h * (elastic[i] + load + m * model.gravity) - product[i];
        }
    });
    scratch.delta = product;
    if model.wind != DVec3::ZERO {
        for i in 0..body.len() {
            if body.drag[i] != 0.0 {
                let blown = h * (scratch.drag(body, i) * model.wind);
                scratch.right[i] += blown;
            }
        }
    }
    for touch in &scratch.now.touches {
        let moved = (touch.stiffness * h + touch.damping) * touch.surface_velocity;
        scratch.right[touch.node as usize] += h * (touch.push + touch.friction + moved);
    }
    let right = &mut scratch.right;
    soft_pins(body, time, &before.positions, |node, force, _, _, _| right[node] += h * force);
}

/// Evaluates everything at x₀ + h v and writes -g into `right`; returns |g| over free nodes (N s).
fn residual(
    model: &Model,
    body: &Body,
    time: f64,
    h: f64,
    before: &BodyState,
    v: &[DVec3],
    scratch: &mut Scratch,
) -> f64 {
    let n = body.len();
    for i in 0..n {
        scratch.trial[i] = before.positions[i] + h * v[i];
    }
    let Evaluation { elastic, damping, energy, .. } = &mut scratch.next;
    *energy = elasticity(body).forces(&before.memory, &scratch.trial, v, elastic, damping);
    for i in 0..n {
        let m = body.masses[i];
        let mut f = scratch.next.elastic[i] + m * model.gravity;
        f += scratch.next.damping.get(i).copied().unwrap_or(DVec3::ZERO);
        f += scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
        if body.drag[i] != 0.0 {
            f -= scratch.drag(body, i) * (v[i] - model.wind);
        }
        scratch.right[i] = h * f - m * (v[i] - before.velocities[i]);
    }
    for touch in &scratch.now.touches {
        let i = touch.node as usize;
        let relative = v[i] - touch.surface_velocity;
        let force = touch.push + touch.friction - (touch.stiffness * h + touch.damping) * relative;
        scratch.right[i] += h * force;
    }
    let right = &mut scratch.right;
    soft_pins(body, time, &scratch.trial, |node, force, _, _, _| right[node] += h * force);
    (0..n).filter(|&i| scratch.free[i]).map(|i| right[i].length_squared()).sum::<f64>().sqrt()
}
