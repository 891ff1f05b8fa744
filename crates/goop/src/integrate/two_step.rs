//! Backward differences over two steps (BDF2): stiff springs at any step, and second order.
//!
//! With r the length of the step over that of the last one,
//! ```text
//! h = dt (1 + r) / (1 + 2r)     b = r² / (1 + 2r)          steps of one length: h = ⅔ dt, b = ⅓
//! x̃ = x₀ + b (x₀ - x₋₁)         x₁ = x̃ + h v₁
//! ṽ = v₀ + b (v₀ - v₋₁)         M (v₁ - ṽ) = h f(x₁, v₁)
//! ```
//! which is a backward Euler step of length h from x̃ and ṽ, and is solved as one. Slow motion keeps its
//! energy to second order, fast motion is damped away as by backward Euler. The first step, and
//! the first after a change from outside, is one of backward Euler.
//!
//! A free body keeps its momenta, see `momenta`. The past of a node that an obstacle or another body stopped says that it goes on as before, or that it goes on being
//! stopped: it would leave with half its speed. What happened along the push is forgotten: the node is thought to have come
//! with the velocity it has.

use super::implicit::{self, Start};
use super::momenta;
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::model::{Body, Model};
use crate::parallel::{Chunks, Disjoint};
use crate::state::{BodyState, Past};
use glam::DVec3;

/// What a step starts from.
#[derive(Debug, Default)]
pub(crate) struct TwoStep {
    /// h, where this step looks back two steps (s).
    pub now: Option<f64>,
    /// x̃ (m)
    pub positions: Vec<DVec3>,
    /// ṽ (m/s)
    pub velocities: Vec<DVec3>,
    /// v₀ + r (v₀ - v₋₁) (m/s)
    pub expected: Vec<DVec3>,
}

/// One step.
pub fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    outcome: &mut Outcome,
) {
    let (dt, n) = (clock.dt, body.len());
    // A drive that begins or ends is a change from outside too.
    let switched = |since: f64| {
        body.drives.iter().any(|drive| drive.acts(clock.time, dt) != drive.acts(clock.time - since, since))
    };
    let Some(past) = before.past.as_deref().filter(|past| !switched(past.dt)) else {
        scratch.two_step.now = None;
        return implicit::step(model, body, clock, before, state, scratch, outcome);
    };
    let r = dt / past.dt;
    let (h, share) = (dt * (1.0 + r) / (1.0 + 2.0 * r), r * r / (1.0 + 2.0 * r));
    let mut start = std::mem::take(&mut scratch.two_step);
    start.now = Some(h);
    start.positions.resize(n, DVec3::ZERO);
    start.velocities.resize(n, DVec3::ZERO);
    start.expected.resize(n, DVec3::ZERO);
    let (chunks, x, v) = (Chunks::new(n), Disjoint::new(&mut start.positions), Disjoint::new(&mut start.velocities));
    let expected = Disjoint::new(&mut start.expected);
    chunks.each(|_, range| {
        // SAFETY: chunks are disjoint.
        let (x, v, expected) =
            unsafe { (x.slice(range.clone()), v.slice(range.clone()), expected.slice(range.clone())) };
        for (k, i) in range.enumerate() {
            let (x0, v0) = (before.positions[i], before.velocities[i]);
            x[k] = x0 + share * (x0 - past.positions[i]);
            v[k] = v0 + share * (v0 - past.velocities[i]);
            expected[k] = v0 + r * (v0 - past.velocities[i]);
        }
    });
    for touch in &mut scratch.now.touches {
        let i = touch.node as usize;
        touch.carried = start.positions[i] - before.positions[i] - (dt - h) * touch.surface_velocity;
    }
    for &(node, target) in &scratch.held {
        scratch.trial[node as usize] = (target - start.positions[node as usize]) / h;
    }
    let from = Start {
        positions: &start.positions,
        velocities: &start.velocities,
        memory: &before.memory,
        expected: &start.expected,
    };
    implicit::solve_velocity(model, body, clock.time + dt, h, before, from, state, scratch, outcome);
    // Angular momenta go on as momenta do.
    let about = from.positions[0];
    let angular = |i: usize| {
        let now = (before.positions[i] - about).cross(before.velocities[i]);
        let then = (past.positions[i] - about).cross(past.velocities[i]);
        body.masses[i] * (now + share * (now - then))
    };
    let carried = chunks.sum(|_, range| range.map(angular).sum::<DVec3>().to_array());
    let carried = Some(DVec3::from_array(carried));
    let corrected = momenta::keep(model, body, h, h, from, carried, &mut state.velocities, scratch) != 0.0;
    implicit::arrive(from, h, state, scratch);
    // The correction is there from the momenta; its work is done along the whole way.
    scratch.restored = 0.0;
    if corrected {
        let (x, v, solved) = (&state.positions, &state.velocities, &scratch.delta);
        let work = |i: usize| body.masses[i] / h * (v[i] - solved[i]).dot(x[i] - before.positions[i]);
        [scratch.restored] = chunks.sum(|_, range| [range.map(work).sum::<f64>()]);
    }
    scratch.two_step = start;
}

/// Keeps what the next step looks back to.
pub(crate) fn remember(dt: f64, before: &BodyState, state: &mut BodyState, scratch: &Scratch) {
    let BodyState { positions, velocities, past, .. } = state;
    let past = past.get_or_insert_with(|| Box::new(Past::default()));
    past.dt = dt;
    past.positions.clone_from(&before.positions);
    past.velocities.clone_from(&before.velocities);
    let mut forget = |i: usize, along: DVec3| {
        let came = positions[i] - dt * velocities[i];
        let (was, had) = (past.positions[i], past.velocities[i]);
        past.positions[i] = was + (came - was).dot(along) * along;
        past.velocities[i] = had + (velocities[i] - had).dot(along) * along;
    };
    scratch.now.touches.iter().filter(|t| !t.released).for_each(|t| forget(t.node as usize, t.normal));
    for back in &scratch.put_back {
        forget(back.node, (positions[back.node] - back.position).normalize_or_zero());
    }
    scratch.pushes.iter().for_each(|&(node, force)| forget(node as usize, force.normalize_or_zero()));
}
