//! Nodes of a reduced body that went into an obstacle.
//!
//! An impulse λ n at node i moves node j by φ(j)ᵀ M⁻¹ φ(i) λ n. Nodes that are inside are moved out one after the other
//! by such impulses, with all that hangs on them, until none is inside; then velocities into the surfaces are taken in the same
//! way. What energy that costs was lost in the impact.

use super::Work;
use super::modes::MODES;
use crate::contact::Obstacle;
use crate::coordinates::nodal::{Clock, Outcome, PutBack, Scratch};
use crate::model::{Body, Model};
use crate::state::BodyState;
use glam::DVec3;

/// Rounds over the nodes; what is still inside then waits for the next step.
const ROUNDS: usize = 12;
/// A node this far inside, beside the body's size, is on the surface.
const TOUCHING: f64 = 1e-10;

/// Moves nodes out of obstacles; `scratch.put_back` says which had gone in.
pub(crate) fn put_back(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    work: &mut Work,
    outcome: &mut Outcome,
) {
    scratch.put_back.clear();
    let solid = |o: &&Obstacle| !o.removed && o.published.is_none();
    if !model.obstacles.iter().any(|o| solid(&o)) {
        return;
    }
    let BodyState { positions, velocities, reduced, .. } = state;
    let Some(reduced) = reduced else { return };
    let inside = TOUCHING * body.extent();
    for round in 0..ROUNDS {
        let mut worst = 0.0f64;
        for i in 0..body.len() {
            if !work.modes.moves(i) {
                continue;
            }
            let (start, mut end) = (before.positions[i], work.modes.at_node(&reduced.values, i));
            if !end.is_finite() {
                continue;
            }
            for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| solid(o)) {
                let (from, to) = (&clock.before[index], &clock.after[index]);
                if let Some(radius) = obstacle.bounding_radius()
                    && (start - from.position).length()
                        > radius + (end - start).length() + (to.position - from.position).length()
                {
                    continue;
                }
                let mut gap = obstacle.gap(end, to);
                let mut depth = -gap.distance;
                if round == 0 {
                    // A way that may lead past the middle of the solid: where did it go in?
                    let local_start = from.rotation.inverse() * (start - from.position);
                    let local_end = to.rotation.inverse() * (end - to.position);
                    if (local_end - local_start).length() >= 0.5 * obstacle.thickness()
                        && let Some((fraction, touched)) = obstacle.first_touch(start, end, from, to)
                    {
                        let point = to.position + to.rotation * local_start.lerp(local_end, fraction);
                        gap = touched;
                        depth = (point - end).dot(touched.normal);
                    }
                }
                if depth <= inside {
                    continue;
                }
                worst = worst.max(depth);
                if round == 0 {
                    outcome.depth = outcome.depth.max(depth);
                }
                respond(work, &mut reduced.values, i, depth * gap.normal);
                end = work.modes.at_node(&reduced.values, i);
                if !scratch.put_back.iter().any(|back| back.node == i) {
                    let (position, velocity) = (positions[i], velocities[i]);
                    scratch.put_back.push(PutBack { node: i, position, velocity, work: 0.0 });
                }
            }
        }
        if worst <= inside {
            break;
        }
    }
    if scratch.put_back.is_empty() {
        return;
    }
    for _ in 0..ROUNDS {
        let mut worst = 0.0f64;
        for back in &mut scratch.put_back {
            let i = back.node;
            let x = work.modes.at_node(&reduced.values, i);
            for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| solid(o)) {
                let pose = &clock.after[index];
                let gap = obstacle.gap(x, pose);
                if gap.distance > 1e3 * inside {
                    continue;
                }
                let surface = obstacle.surface_velocity(x, pose);
                let into = (work.modes.at_node(&reduced.rates, i) - surface).dot(gap.normal);
                if into < 0.0 {
                    let impulse = respond(work, &mut reduced.rates, i, -into * gap.normal);
                    back.work += impulse * gap.normal.dot(surface);
                    worst = worst.max(-into);
                }
            }
        }
        if worst <= inside / clock.dt {
            break;
        }
    }
    work.modes.place(&reduced.values, positions);
    work.modes.place(&reduced.rates, velocities);
    if let Some(axis) = model.flat {
        for i in 0..body.len() {
            positions[i][axis] = before.positions[i][axis];
            velocities[i][axis] = 0.0;
        }
    }
}

/// Moves a node by `way` through an impulse on it, and all others with it; returns the impulse.
fn respond(work: &mut Work, values: &mut [DVec3], node: usize, way: DVec3) -> f64 {
    work.delta.fill(DVec3::ZERO);
    for e in work.modes.entries_of(node) {
        let first = MODES * work.modes.entries[e].part as usize;
        for k in 0..MODES {
            work.delta[first + k] = DVec3::X * work.modes.rows[e][k];
        }
    }
    // The same in every direction: one of them is enough.
    work.modes.solve(&mut work.delta);
    let response = work.modes.at_node(&work.delta, node).x;
    if response <= 0.0 {
        return 0.0;
    }
    for (value, delta) in values.iter_mut().zip(&work.delta) {
        *value += delta.x / response * way;
    }
    way.length() / response
}
