//! Static solve: the shape a body comes to rest in.
//!
//! Backward Euler steps that forget their velocity, x₁ = x₀ + (M/h² + K)⁻¹ f, with h
//! growing while the potential energy falls and shrinking when it would rise: for
//! small h a descent along the force, for large h a Newton step. Obstacles and
//! friction act as in the dynamics.

use crate::animate::{Motion, Pose};
use crate::contact;
use crate::coordinates::nodal::{self, Clock};
use crate::integrate::semi_implicit;
use crate::ledger::Row;
use crate::model::{Axes, Body, Integrator};
use crate::world::{Failure, World};
use glam::DVec3;

/// Rest is reached when no node feels more than this share of the body's weight
/// (or, without gravity, of the largest force at the start).
pub const TOLERANCE: f64 = 1e-6;
const MAX_STEPS: usize = 2000;

/// Settles one nodal body of a world; returns the largest force over the weight.
pub fn settle(world: &mut World, b: usize) -> Result<f64, Failure> {
    let mut body: Body = world.model().bodies[b].clone();
    body.axes = Axes { integrator: Integrator::BackwardEuler, ..body.axes };
    body.newton = 1;
    body.by_parts = false;
    // What moves later stands still until then.
    for pin in &mut body.pins {
        let pose = pin.motion.at(0.0);
        pin.motion = Motion::still(pose.position, pose.rotation);
    }
    let poses: Vec<Pose> = world.model().obstacles.iter().map(|o| still(o.motion.at(0.0))).collect();
    let (model, before, state, scratch) = world.parts(b);
    *scratch = nodal::Scratch::new(&body);
    let mut scale = body.mass() * model.gravity.length();
    let (mut h, mut worst) = (model.step.dt, f64::INFINITY);
    for step in 0..MAX_STEPS {
        state.still();
        before.copy_from(state);
        let clock = Clock { time: 0.0, dt: h, before: &poses, after: &poses };
        let outcome = nodal::step(model, &body, clock, before, state, scratch);
        // What the position alone stores, less the work of loads: a static solution is its minimum.
        let height = |row: &Row| row.elastic + row.contact + row.gravitational - row.load_work;
        let (old, new) = (height(&before.row), height(&state.row));
        let rounding = 1e-13 * (state.row.elastic + state.row.contact + state.row.gravitational.abs());
        if step > 0 && (outcome.not_finite.is_some() || !new.is_finite() || new > old + rounding) {
            state.copy_from(before);
            scratch.invalidate();
            h *= 0.4;
            if h < 1e-9 {
                break;
            }
            continue;
        }
        nodal::evaluate(&body, &state.positions, &state.velocities, &state.memory, &mut scratch.now);
        // With friction, which the account of a step leaves out.
        let (x, v, touches) = (&state.positions, &state.velocities, &mut scratch.now.touches);
        contact::find(model, &body, &poses, 0.0, Some(h), x, v, &before.anchors, touches);
        let force = net_force(model.gravity, &body, &state.positions, scratch);
        if step == 0 && scale == 0.0 {
            scale = force.max(f64::MIN_POSITIVE);
        }
        worst = force / scale;
        if worst < TOLERANCE {
            break;
        }
        h = (h * 1.7).min(1e3);
    }
    match body.posed() {
        // A character that starts in motion keeps that motion.
        Some(posed) => state.velocities.clone_from(&posed.velocities),
        None => state.still(),
    }
    before.copy_from(state);
    let original = &world.model().bodies[b];
    let fresh = nodal::Scratch::new(original);
    let (_, _, _, scratch) = world.parts(b);
    *scratch = fresh;
    Ok(worst)
}

/// Settles one framed body in the same way: steps that forget their velocity and grow. Returns the way of the last step over
/// the body's size, with the longest step tried: nothing moves any more.
pub fn settle_framed(world: &mut World, b: usize) -> f64 {
    let mut body: Body = world.model().bodies[b].clone();
    for pin in &mut body.pins {
        let pose = pin.motion.at(0.0);
        pin.motion = Motion::still(pose.position, pose.rotation);
    }
    let poses: Vec<Pose> = world.model().obstacles.iter().map(|o| still(o.motion.at(0.0))).collect();
    let (model, before, state, scratch) = world.parts(b);
    let (mut h, mut left) = (model.step.dt, f64::INFINITY);
    for step in 0..MAX_FRAMED_STEPS {
        state.velocities.fill(DVec3::ZERO);
        if let Some(framed) = &mut state.framed {
            framed.take_velocities(&body, &state.velocities);
        }
        before.copy_from(state);
        scratch.invalidate();
        scratch.framed(&body, &before.memory);
        let clock = Clock { time: 0.0, dt: h, before: &poses, after: &poses };
        let outcome = semi_implicit::step(model, &body, clock, before, state, scratch);
        let height = |row: &Row| row.elastic + row.contact + row.gravitational - row.load_work;
        let (old, new) = (height(&before.row), height(&state.row));
        let rounding = 1e-13 * (state.row.elastic + state.row.gravitational.abs());
        let solved = outcome.solve.is_none_or(|report| report.converged);
        let far = outcome.displacement > 0.1 * body.extent();
        let failed = outcome.not_finite.is_some() || !solved || !new.is_finite() || far;
        if failed || (step > 0 && new > old + rounding) {
            state.copy_from(before);
            h *= 0.25;
            if h < 1e-7 {
                break;
            }
            continue;
        }
        left = outcome.displacement / body.extent();
        if h >= LONGEST && left < TOLERANCE {
            break;
        }
        h = (h * 2.0).min(LONGEST);
    }
    state.velocities.fill(DVec3::ZERO);
    if let Some(framed) = &mut state.framed {
        framed.take_velocities(&body, &state.velocities);
        framed.place(&body, &mut state.positions, &mut state.velocities);
    }
    before.copy_from(state);
    *scratch = nodal::Scratch::new(&body);
    left
}

/// A step so long that it goes to rest at once where it can (s).
const LONGEST: f64 = 16.0;
const MAX_FRAMED_STEPS: usize = 400;

fn still(pose: Pose) -> Pose {
    Pose { velocity: DVec3::ZERO, spin: DVec3::ZERO, ..pose }
}

/// Largest force on a free node that no touch answers (N); of a reduced body, what of it moves the body.
fn net_force(gravity: DVec3, body: &Body, x: &[DVec3], scratch: &mut nodal::Scratch) -> f64 {
    let mut forces = vec![DVec3::ZERO; body.len()];
    let mut pins = std::collections::BTreeMap::new();
    nodal::soft_pins(body, 0.0, x, |node, force, _, _, _| *pins.entry(node).or_insert(DVec3::ZERO) += force);
    let mut touches = scratch.now.touches.iter().peekable();
    for i in 0..body.len() {
        let mut f = scratch.now.elastic[i] + body.masses[i] * gravity;
        f += scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
        f += pins.get(&i).copied().unwrap_or(DVec3::ZERO);
        while let Some(touch) = touches.next_if(|t| t.node as usize == i) {
            f += touch.push + touch.friction;
        }
        if scratch.free[i] {
            forces[i] = f;
        }
    }
    if let Some(work) = &mut scratch.reduced {
        work.project(body, &mut forces);
    }
    forces.iter().map(|f| f.length()).fold(0.0, f64::max)
}
