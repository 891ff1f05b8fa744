//! Implicit schemes: stiff springs at any step.
//!
//! Backward Euler in the velocity, with K = -∂f/∂x, D = -∂f/∂v:
//! ```text
//! g(v₁) = M (v₁ - v₀) - dt f(x₀ + dt v₁, v₁, t₁) = 0
//! one linearisation at x̂ = x₀ + dt v₀ (the default):
//!   (M + dt D + dt² K) (v₁ - v₀) = dt f(x̂, v₀, t₁)                     [Chang] 5.3
//! more iterations: the same matrix at the latest x, right side -g, halved until g falls
//! ```
//! Obstacles only push, and friction only holds so much: where a solve has one pull, or lets a
//! node in, or friction do too much or drive, the touch is corrected and the solve repeated.
//!
//! First order; every step is stable because K and D are clamped positive
//! semi-definite. Its own dissipation is ½‖Δv‖²_M + ½‖Δx‖²_K.
//!
//! The implicit midpoint rule is a backward Euler step of half the length to the
//! mid velocity w, and then v₁ = 2w - v₀, x₁ = x₀ + dt w: second order, and no
//! dissipation of its own for a quadratic energy; stiff modes ring unless the
//! material damps them.
//!
//! A body may be solved by parts (Chang 5.3.3): blocks that join two parts are left out, see `solve::by_parts`.
//!
//! Both then restore the momenta of a free body, see `momenta`.
//!
//! Departs from the papers: they linearise at x₀. There a body that turns by φ in a
//! step is seen to stretch by φ²/2, and the tension of that holds it in its old
//! direction: a stiff pendulum stops. At x̂ directions are those of the end, and the
//! tension across them is taken from x₀, which has no such stretch. The signs and the transverse term of the printed Jacobian
//! are corrected, and the matrix is then symmetric: conjugate gradients instead of
//! bi-conjugate ones.

use super::momenta;
use crate::contact::Touch;
use crate::coordinates::nodal::{Clock, Evaluation, Outcome, Scratch, elasticity, soft_pins};
use crate::elastic::Weights;
use crate::model::{Body, Model};
use crate::parallel::{Chunks, Disjoint};
use crate::solve::{self, BlockMatrix, ByParts, Settings};
use crate::stages::{Stage, timed};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// Newton stops when |g| is this small beside the momenta, or has fallen to rounding.
const NEWTON_TOLERANCE: f64 = 1e-9;
const ROUNDING: f64 = 1e-14;

/// No solve is asked for a residual below this: rounding is the limit.
const LEAST_RESIDUAL: f64 = 1e-12;
/// Solves for one linearisation, until the nodes found to press are those assumed to.
const CONTACT_PASSES: usize = 8;
/// Rough solves before the first of them, and their residual.
const ROUGH_PASSES: usize = 4;
const ROUGH: f64 = 0.02;

/// What a velocity is solved from: x₁ = x + h v₁, M (v₁ - v) = h f. The state before the step, but for schemes that remember more.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub positions: &'a [DVec3],
    pub velocities: &'a [DVec3],
    pub memory: &'a [f64],
    /// Velocities at the end, about, for the solver to begin with; empty where nothing is known of them.
    pub expected: &'a [DVec3],
}

impl<'a> From<&'a BodyState> for Start<'a> {
    fn from(state: &'a BodyState) -> Self {
        Self { positions: &state.positions, velocities: &state.velocities, memory: &state.memory, expected: &[] }
    }
}

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
    solve_velocity(model, body, clock.time + dt, dt, before, before.into(), state, scratch, outcome);
    scratch.restored = momenta::keep(model, body, dt, 0.0, before.into(), None, &mut state.velocities, scratch);
    arrive(before.into(), dt, state, scratch);
}

/// x₁ = x + h v₁, and held nodes where they have to be.
pub(crate) fn arrive(start: Start<'_>, h: f64, state: &mut BodyState, scratch: &Scratch) {
    let (x, v) = (Disjoint::new(&mut state.positions), &state.velocities);
    Chunks::new(v.len()).each(|_, range| {
        // SAFETY: chunks are disjoint.
        let x = unsafe { x.slice(range.clone()) };
        for (k, i) in range.enumerate() {
            x[k] = start.positions[i] + h * v[i];
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
    solve_velocity(model, body, clock.time + h, h, before, before.into(), state, scratch, outcome);
    scratch.restored = 2.0 * momenta::keep(model, body, h, h, before.into(), None, &mut state.velocities, scratch);
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

/// Solves for the velocity at the end of a backward Euler step of length `h` from `start`;
/// `scratch.trial` holds the prescribed velocity of held nodes.
pub(crate) fn solve_velocity(
    model: &Model,
    body: &Body,
    time: f64,
    h: f64,
    before: &BodyState,
    start: Start<'_>,
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
        let foreseen = scratch.foresight.velocities.get(i).copied().unwrap_or(start.velocities[i]);
        v[i] = if scratch.free[i] { foreseen } else { scratch.trial[i] };
    }
    if body.by_parts
        && scratch.by_parts.is_none()
        && let Some(parts) = &body.parts
    {
        let part_of = (0..n).map(|i| parts.main(i)).collect();
        scratch.by_parts = Some(Box::new(ByParts::new(&matrix, part_of)));
    }
    let first = residual(model, body, time, h, start, v, scratch);
    outcome.newton_residual = first;
    for iteration in 0..body.newton.max(1) {
        let tension_at = if iteration == 0 { &before.positions } else { &scratch.trial };
        timed(Stage::Assembly, || fill(body, h, before, &scratch.trial, tension_at, scratch, &mut matrix));
        if let Some(parts) = &scratch.by_parts {
            matrix.keep_within(parts.part_of(), crate::solve::by_parts::FIRMER);
        }
        let tolerance = body.solver.tolerance;
        let strict = !body.solver.method.only_iterates();
        scratch.delta.fill(DVec3::ZERO);
        // Which touches hold is known long before how much they bear: looked at on the way until none changes.
        let mut looks = if scratch.now.touches.is_empty() { 0 } else { ROUGH_PASSES };
        let (mut pass, mut spent, mut start_at) = (0, 0, solve::Start::Zero);
        if iteration == 0 && start.expected.len() == n && body.solver.may_look() && scratch.by_parts.is_none() {
            let Scratch { solver, free, right, delta, .. } = scratch;
            for i in (0..n).filter(|&i| free[i]) {
                delta[i] = start.expected[i] - v[i];
            }
            start_at = timed(Stage::Solve, || solver.guess(&matrix, free, right, delta));
        }
        loop {
            let mut memory = before.direct_left.max(state.direct_left);
            // Neither a factor nor parts solved one by one are cheaper for being rough.
            if memory > 0 || !body.solver.may_look() || scratch.by_parts.is_some() {
                looks = 0;
            }
            let Scratch { solver, by_parts, free, right, delta, .. } = scratch;
            if looks > 0 {
                let settings = Settings { tolerance: tolerance.max(ROUGH), ..body.solver };
                let look = || solver.look(&settings, &matrix, free, right, delta, start_at);
                let report = timed(Stage::Solve, look);
                spent += report.iterations;
                let any = report.converged
                    && switch_touches(h, v, true, scratch, &mut matrix, |i, block, m| m.add_diagonal(i, block));
                start_at = if any { solve::Start::Near } else { solve::Start::Same };
                looks = if any { looks - 1 } else { 0 };
                continue;
            }
            let mut solve = |tolerance: f64, delta: &mut [DVec3], memory: &mut u32, start: solve::Start| {
                let settings = Settings { tolerance, ..body.solver };
                timed(Stage::Solve, || match by_parts {
                    Some(parts) => parts.solve(&settings, &matrix, free, right, delta, memory),
                    None => solver.solve_from(&settings, &matrix, free, right, delta, memory, start),
                })
            };
            // A stiff body's right side is large beside its momenta, and a residual small
            // beside it can still hold the body back: measure it by the momenta too.
            let fair = |delta: &[DVec3]| tolerance * momentum_scale(model, body, h, v, delta) / outcome.newton_residual;
            // A guess of the end says well what is fair; nothing at all says too much.
            let least = if start_at == solve::Start::Zero { body.solver.least_at_once() } else { LEAST_RESIDUAL };
            let likely = if strict { fair(delta).clamp(least, tolerance) } else { tolerance };
            let mut report = solve(likely, delta, &mut memory, start_at);
            if report.converged && strict {
                let fair = fair(delta).max(LEAST_RESIDUAL);
                if report.residual > fair {
                    spent += report.iterations;
                    report = solve(fair, delta, &mut memory, solve::Start::Same);
                }
            }
            report.iterations += spent;
            spent = 0;
            start_at = solve::Start::Near;
            outcome.solve = Some(report.after(outcome.solve));
            state.direct_left = memory;
            pass += 1;
            if pass == CONTACT_PASSES
                || !switch_touches(h, v, pass <= 2, scratch, &mut matrix, |i, block, m| m.add_diagonal(i, block))
            {
                break;
            }
        }
        if body.newton <= 1 {
            forces_used(body, h, &matrix, scratch, scratch.by_parts.is_none());
        }
        add(v, 1.0, &scratch.delta);
        if body.newton <= 1 {
            break;
        }
        // Halve the correction until the residual falls.
        let (old, mut share) = (outcome.newton_residual, 1.0);
        loop {
            outcome.newton_residual = residual(model, body, time, h, start, v, scratch);
            if outcome.newton_residual <= old || share < 0.05 {
                break;
            }
            share *= 0.5;
            add(v, -share, &scratch.delta);
        }
        scratch.delta.fill(DVec3::ZERO);
        let scale = momentum_scale(model, body, h, v, &scratch.delta);
        if outcome.newton_residual <= NEWTON_TOLERANCE * scale + ROUNDING * first {
            break;
        }
    }
    scratch.matrix = Some(matrix);
}

/// v += share δ
fn add(v: &mut [DVec3], share: f64, delta: &[DVec3]) {
    let (chunks, out) = (Chunks::new(v.len()), Disjoint::new(v));
    chunks.each(|_, range| {
        // SAFETY: chunks are disjoint.
        let v = unsafe { out.slice(range.clone()) };
        v.iter_mut().zip(&delta[range]).for_each(|(v, delta)| *v += share * *delta);
    });
}

/// Forces of springs and their dampers as one linearisation used them, for the account:
/// those at the point of linearisation less (h K + D) δ, which is what the matrix holds beside
/// masses, drag, contacts and compliant pins. `solved`: δ is what the solver found last.
pub(crate) fn forces_used(body: &Body, h: f64, matrix: &BlockMatrix, scratch: &mut Scratch, solved: bool) {
    let n = body.len();
    scratch.everywhere.resize(n, true);
    let mut used = std::mem::take(&mut scratch.used);
    used.resize(n, DVec3::ZERO);
    match scratch.solver.product().filter(|_| solved) {
        Some(known) => used.copy_from_slice(known),
        None => {
            matrix.product(&scratch.everywhere, &scratch.delta, &mut used);
        }
    }
    let (out, shared) = (Disjoint::new(&mut used), &*scratch);
    Chunks::new(n).each(|_, range| {
        // SAFETY: chunks are disjoint.
        let used = unsafe { out.slice(range.clone()) };
        for (k, i) in range.enumerate() {
            let delta = shared.delta[i];
            let mut other = body.masses[i] * delta;
            if body.drag[i] != 0.0 {
                other += h * (shared.drag(body, i) * delta);
            }
            used[k] = shared.next.elastic[i] - (used[k] - other) / h;
        }
    });
    for touch in scratch.now.touches.iter().filter(|t| !t.released) {
        let i = touch.node as usize;
        used[i] += (touch.stiffness * h + touch.damping) * scratch.delta[i];
    }
    for pin in &body.pins {
        if let Some(k) = pin.stiffness {
            pin.nodes.iter().for_each(|&i| used[i as usize] += h * k * scratch.delta[i as usize]);
        }
    }
    scratch.used = used;
}

/// Corrects touches that behave otherwise than assumed after the correction, in the matrix (by `add`)
/// and the right side too; whether there were any.
pub(crate) fn switch_touches(
    h: f64,
    v: &[DVec3],
    may_slip: bool,
    scratch: &mut Scratch,
    matrix: &mut BlockMatrix,
    mut add: impl FnMut(usize, DMat3, &mut BlockMatrix),
) -> bool {
    let mut any = false;
    for touch in &mut scratch.now.touches {
        let i = touch.node as usize;
        if !scratch.free[i] {
            continue;
        }
        // What the touch is worth at the point of linearisation.
        let velocity = v[i] - touch.surface_velocity;
        let worth = |t: &Touch| match t.released {
            true => (DVec3::ZERO, DMat3::ZERO),
            false => (h * t.force_after(h, velocity), t.stiffness * (h * h) + t.damping * h),
        };
        let (old_right, old_block) = worth(touch);
        if touch.settle(touch.shift(h, velocity + scratch.delta[i]), may_slip) {
            let (right, block) = worth(touch);
            scratch.right[i] += right - old_right;
            add(i, block - old_block, matrix);
            scratch.solver.changed(i, (block - old_block) * scratch.delta[i]);
            any = true;
        }
    }
    any
}

/// What a residual impulse is measured against: the weight over the step, and momenta (N s).
pub(crate) fn momentum_scale(model: &Model, body: &Body, h: f64, v: &[DVec3], delta: &[DVec3]) -> f64 {
    let fall = h * model.gravity.length();
    let [sum] = Chunks::new(body.len())
        .sum(|_, range| [range.map(|i| (body.masses[i] * ((v[i] + delta[i]).length() + fall)).powi(2)).sum::<f64>()]);
    sum.sqrt()
}

/// M + h D + h² K, with drag, contacts and compliant pins.
pub(crate) fn fill(
    body: &Body,
    h: f64,
    before: &BodyState,
    x: &[DVec3],
    tension_at: &[DVec3],
    scratch: &Scratch,
    matrix: &mut BlockMatrix,
) {
    let once = body.newton <= 1;
    let linkable = once && body.solver.may_link() && scratch.by_parts.is_none();
    if linkable {
        matrix.arrange(&scratch.free);
    }
    matrix.clear_for(once && body.solver.loose(), linkable);
    let weights = Weights { position: h * h, velocity: h };
    elasticity(body).stiffness_under_tension(&before.memory, x, tension_at, weights, false, matrix);
    matrix.add_to_diagonal(|i| {
        let block = DMat3::from_diagonal(DVec3::splat(body.masses[i]));
        if body.drag[i] != 0.0 { block + scratch.drag(body, i) * h } else { block }
    });
    for touch in scratch.now.touches.iter().filter(|t| !t.released) {
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

/// Evaluates everything at x + h v and writes -g into `right`; returns |g| over free nodes (N s).
pub(crate) fn residual(
    model: &Model,
    body: &Body,
    time: f64,
    h: f64,
    start: Start<'_>,
    v: &[DVec3],
    scratch: &mut Scratch,
) -> f64 {
    let chunks = Chunks::new(body.len());
    let trial = Disjoint::new(&mut scratch.trial);
    chunks.each(|_, range| {
        // SAFETY: chunks are disjoint, here and below.
        let trial = unsafe { trial.slice(range.clone()) };
        for (k, i) in range.enumerate() {
            trial[k] = start.positions[i] + h * v[i];
        }
    });
    let Evaluation { elastic, damping, energy, .. } = &mut scratch.next;
    let trial = &scratch.trial;
    // Those of dampers among them.
    *energy = timed(Stage::Forces, || elasticity(body).total(start.memory, trial, v, elastic, damping));
    let mut right = std::mem::take(&mut scratch.right);
    let (out, shared) = (Disjoint::new(&mut right), &*scratch);
    chunks.each(|_, range| {
        // SAFETY: as above.
        let right = unsafe { out.slice(range.clone()) };
        for (k, i) in range.enumerate() {
            let m = body.masses[i];
            let mut f = shared.next.elastic[i] + m * model.gravity;
            f += shared.loads.get(i).copied().unwrap_or(DVec3::ZERO);
            if body.drag[i] != 0.0 {
                f -= shared.drag(body, i) * (v[i] - model.wind);
            }
            right[k] = h * f - m * (v[i] - start.velocities[i]);
        }
    });
    for touch in &mut scratch.now.touches {
        let i = touch.node as usize;
        let relative = v[i] - touch.surface_velocity;
        touch.released = !touch.presses(touch.shift(h, relative));
        right[i] += h * touch.force_after(h, relative);
    }
    soft_pins(body, time, &scratch.trial, |node, force, _, _, _| right[node] += h * force);
    scratch.right = right;
    let (right, free) = (&scratch.right, &scratch.free);
    chunks.sum(|_, range| [range.filter(|&i| free[i]).map(|i| right[i].length_squared()).sum()])[0].sqrt()
}
