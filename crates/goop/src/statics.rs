//! Static solve: the shape a body comes to rest in.
//!
//! Backward Euler steps that forget their velocity, x₁ = x₀ + (M/h² + K)⁻¹ f, with h
//! growing while the largest force falls and shrinking when it rises: for small h a
//! descent along the force, for large h a Newton step. Obstacles and friction act as
//! in the dynamics.

use crate::animate::Pose;
use crate::coordinates::nodal::{self, Clock};
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
    let poses: Vec<Pose> = world.model().obstacles.iter().map(|o| still(o.motion.at(0.0))).collect();
    let (model, before, state, scratch) = world.parts(b);
    *scratch = nodal::Scratch::new(&body);
    let weight = body.mass() * model.gravity.length();
    let (mut h, mut last, mut scale) = (model.step.dt, f64::INFINITY, weight);
    let mut worst = f64::INFINITY;
    for step in 0..MAX_STEPS {
        state.velocities.fill(DVec3::ZERO);
        before.copy_from(state);
        let clock = Clock { time: 0.0, dt: h, before: &poses, after: &poses };
        let outcome = nodal::step(model, &body, clock, before, state, scratch);
        // From rest, the velocity gained times mass over h is the force, as far as inertia shows it.
        let force = (0..body.len())
            .filter(|&i| scratch.free[i])
            .map(|i| body.masses[i] * state.velocities[i].length() / h)
            .fold(0.0, f64::max);
        let moved = outcome.displacement;
        if step == 0 && scale == 0.0 {
            scale = force.max(f64::MIN_POSITIVE);
        }
        if outcome.not_finite.is_some() || moved > 0.25 * body.shape.extent() || force > 4.0 * last {
            state.copy_from(before);
            scratch.invalidate();
            h *= 0.25;
            if h < 1e-9 {
                break;
            }
            last = f64::INFINITY;
            continue;
        }
        worst = net_force(model.gravity, &body, &state.positions, scratch) / scale;
        if worst < TOLERANCE {
            break;
        }
        // A force that stays the same, as on a flat sheet still falling freely, is no reason to slow down.
        h = (h * if force < 1.01 * last { 1.5 } else { 0.7 }).clamp(1e-6, 30.0);
        last = force;
    }
    state.velocities.fill(DVec3::ZERO);
    before.copy_from(state);
    let original = &world.model().bodies[b];
    let fresh = nodal::Scratch::new(original);
    let (_, _, _, scratch) = world.parts(b);
    *scratch = fresh;
    Ok(worst)
}

fn still(pose: Pose) -> Pose {
    Pose { velocity: DVec3::ZERO, spin: DVec3::ZERO, ..pose }
}

/// Largest force on a free node that no touch answers (N).
fn net_force(gravity: DVec3, body: &Body, x: &[DVec3], scratch: &nodal::Scratch) -> f64 {
    let mut worst = 0.0f64;
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
            worst = worst.max(f.length());
        }
    }
    worst
}
