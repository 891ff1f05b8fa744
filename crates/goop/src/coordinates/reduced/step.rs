//! Steps of reduced coordinates.
//!
//! ```text
//! Taylor          R += dt Ṙ + ½ dt² R̈     Ṙ += dt R̈     R̈ = M⁻¹Q               [Chang] 5.2
//! symplectic      Ṙ += dt R̈               R += dt Ṙ
//! backward Euler  Φᵀ(M + dt D + dt² K)Φ ΔṘ = dt Φᵀf       nodal matrix and forces as in `integrate::implicit`
//! ```
//! Explicit steps take drag at the start. The frequencies of R are at most those of the nodes (it is the same
//! mass and energy on fewer motions), so a step that is stable for the nodes is stable here. The small matrix is
//! factored in every step.

use super::{ReducedState, Work};
use crate::coordinates::nodal::{Clock, Outcome, Scratch, elasticity, soft_pins};
use crate::integrate::{implicit as nodal, momenta};
use crate::model::{Body, Integrator, Model};
use crate::parallel::{Chunks, Disjoint};
use crate::solve::{BlockMatrix, Method, Settings};
use crate::state::BodyState;
use glam::DVec3;

/// A body of reduced coordinates has its state: it is made with the axes.
fn maps(state: &BodyState) -> &ReducedState {
    state.reduced.as_deref().expect("reduced coordinates have maps: made with the state")
}

fn maps_mut(state: &mut BodyState) -> &mut ReducedState {
    state.reduced.as_deref_mut().expect("reduced coordinates have maps: made with the state")
}

/// One explicit step.
pub(crate) fn explicit(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    work: &mut Work,
) {
    let (dt, x0, v0) = (clock.dt, &before.positions, &before.velocities);
    {
        let (out, shared) = (Disjoint::new(&mut work.nodes), &*scratch);
        Chunks::new(body.len()).each(|_, range| {
            // SAFETY: chunks are disjoint.
            let forces = unsafe { out.slice(range.clone()) };
            for (k, i) in range.enumerate() {
                let mut f = shared.now.elastic[i] + body.masses[i] * model.gravity;
                if let Some(damping) = shared.now.damping.get(i) {
                    f += *damping;
                }
                if let Some(load) = shared.loads.get(i) {
                    f += *load;
                }
                if body.drag[i] != 0.0 {
                    f -= shared.drag(body, i) * (v0[i] - model.wind);
                }
                forces[k] = f;
            }
        });
    }
    for touch in &scratch.now.touches {
        let i = touch.node as usize;
        work.nodes[i] += touch.push + touch.friction - touch.damping * (v0[i] - touch.surface_velocity);
    }
    soft_pins(body, clock.time, x0, |node, force, _, _, _| work.nodes[node] += force);
    work.modes.gather(&work.nodes, &mut work.right);
    work.modes.solve(&mut work.right);
    let (old, new) = (maps(before), maps_mut(state));
    for k in 0..work.right.len() {
        let acceleration = clear(model, work.right[k]);
        new.rates[k] = old.rates[k] + dt * acceleration;
        let used = match body.axes.integrator {
            Integrator::ExplicitTaylor => 0.5 * (old.rates[k] + new.rates[k]),
            _ => new.rates[k],
        };
        new.values[k] = old.values[k] + dt * used;
    }
    arrange(clock, before, state, scratch, work);
}

/// Nothing moves along the axis of a flat world.
fn clear(model: &Model, mut v: DVec3) -> DVec3 {
    if let Some(axis) = model.flat {
        v[axis] = 0.0;
    }
    v
}

/// Puts nodes where the maps say, and held ones where they are held.
fn arrange(clock: Clock, before: &BodyState, state: &mut BodyState, scratch: &Scratch, work: &Work) {
    let reduced = state.reduced.as_deref().expect("reduced coordinates have maps: made with the state");
    work.modes.place(&reduced.values, &mut state.positions);
    work.modes.place(&reduced.rates, &mut state.velocities);
    for &(node, target) in &scratch.held {
        let i = node as usize;
        state.positions[i] = target;
        state.velocities[i] = (target - before.positions[i]) / clock.dt;
    }
}

/// Newton stops when the residual is this small beside the momenta, or has fallen to rounding.
const NEWTON_TOLERANCE: f64 = 1e-9;
const ROUNDING: f64 = 1e-14;
/// Solves for one linearisation, until the nodes found to press are those assumed to.
const CONTACT_PASSES: usize = 8;

/// One backward Euler step.
pub(crate) fn implicit(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    work: &mut Work,
    outcome: &mut Outcome,
) {
    let h = clock.dt;
    let mut matrix = scratch.matrix.take().unwrap_or_else(|| elasticity(body).structure());
    state.velocities.copy_from_slice(&before.velocities);
    for &(node, target) in &scratch.held {
        state.velocities[node as usize] = (target - before.positions[node as usize]) / h;
    }
    maps_mut(state).rates.copy_from_slice(&maps(before).rates);
    let settings = Settings { method: Method::Cholesky, ..body.solver };
    let first = residual(model, body, clock, before, &state.velocities, scratch, work);
    outcome.newton_residual = first;
    for iteration in 0..body.newton.max(1) {
        let tension_at = if iteration == 0 { &before.positions } else { &scratch.trial };
        nodal::fill(body, h, before, &scratch.trial, tension_at, scratch, &mut matrix);
        let Some(reduction) = &mut work.reduction else { break };
        reduction.fill(&work.modes, &matrix);
        for pass in 0..CONTACT_PASSES {
            reduction.finish();
            work.modes.gather(&scratch.right, &mut work.right);
            let kept = work.modes.kept();
            let report = work.solver.solve(&settings, &reduction.matrix, kept, &work.right, &mut work.delta, &mut 0);
            outcome.solve = Some(report.after(outcome.solve));
            work.delta.iter_mut().for_each(|d| *d = clear(model, *d));
            scratch.delta.fill(DVec3::ZERO);
            work.modes.place(&work.delta, &mut scratch.delta);
            let add = |node: usize, block, matrix: &mut BlockMatrix| {
                matrix.add_diagonal(node, block);
                reduction.add(&work.modes, node, block);
            };
            if pass + 1 == CONTACT_PASSES
                || !nodal::switch_touches(h, &state.velocities, pass < 2, scratch, &mut matrix, add)
            {
                break;
            }
        }
        if body.newton <= 1 {
            nodal::forces_used(body, h, &matrix, scratch, false);
        }
        move_on(state, scratch, work, 1.0);
        if body.newton <= 1 {
            break;
        }
        // Halve the correction until the residual falls.
        let (old, mut share) = (outcome.newton_residual, 1.0);
        loop {
            outcome.newton_residual = residual(model, body, clock, before, &state.velocities, scratch, work);
            if outcome.newton_residual <= old || share < 0.05 {
                break;
            }
            share *= 0.5;
            move_on(state, scratch, work, -share);
        }
        scratch.delta.fill(DVec3::ZERO);
        let scale = nodal::momentum_scale(model, body, h, &state.velocities, &scratch.delta);
        if outcome.newton_residual <= NEWTON_TOLERANCE * scale + ROUNDING * first {
            break;
        }
    }
    scratch.matrix = Some(matrix);
    scratch.restored = momenta::keep(model, body, h, 0.0, before.into(), None, &mut state.velocities, scratch);
    if scratch.restored != 0.0 {
        // A rigid motion of where the nodes were: the modes have it.
        let reduced = state.reduced.as_deref_mut().expect("reduced coordinates have maps: made with the state");
        work.modes.fit(&body.masses, &state.velocities, &mut work.nodes, &mut reduced.rates);
    }
    let old = maps(before);
    let new = maps_mut(state);
    for k in 0..new.values.len() {
        new.values[k] = old.values[k] + h * new.rates[k];
    }
    arrange(clock, before, state, scratch, work);
}

/// Adds a share of the correction to rates and velocities.
fn move_on(state: &mut BodyState, scratch: &Scratch, work: &Work, share: f64) {
    for (v, delta) in state.velocities.iter_mut().zip(&scratch.delta) {
        *v += share * *delta;
    }
    let rates = &mut maps_mut(state).rates;
    for (rate, delta) in rates.iter_mut().zip(&work.delta) {
        *rate += share * *delta;
    }
}

/// Impulses that are missing at the end of the step, as nodal ones in `scratch.right`; returns the size of the part of
/// them that moves the body (N s).
fn residual(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    v: &[DVec3],
    scratch: &mut Scratch,
    work: &mut Work,
) -> f64 {
    nodal::residual(model, body, clock.time + clock.dt, clock.dt, before.into(), v, scratch);
    if body.newton <= 1 {
        return 0.0;
    }
    let mut nodes = std::mem::take(&mut work.nodes);
    nodes.copy_from_slice(&scratch.right);
    work.project(body, &mut nodes);
    work.nodes = nodes;
    let nodes = &work.nodes;
    Chunks::new(body.len()).sum(|_, range| [range.map(|i| nodes[i].length_squared()).sum()])[0].sqrt()
}
