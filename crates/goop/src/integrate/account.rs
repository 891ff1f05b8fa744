//! The account of one step: where the energy went, from the forces that did it.
//!
//! For M Δv = dt F + ρ and Δx = dt v_used, with v̄ = ½(v₀ + v₁),
//! ```text
//! ΔT = Σ v̄·m Δv = F·Δx - Σ m (v_used - v̄)·Δv + ρ·v_used
//! ```
//! Every part of F has its work booked. The potential forces were taken at one
//! instant, so their work differs from the fall of the potential U by
//! ```text
//! scheme = Σ m (v_used - v̄)·Δv  +  (U₀ - U₁ + W_moving - F_pot·Δx)
//! ```
//! which for backward Euler and a quadratic energy is ½‖Δv‖²_M + ½‖Δx‖²_K, for the
//! midpoint rule 0, for symplectic Euler ½‖Δv‖²_M - ½‖Δx‖²_K. W_moving is the work of
//! whatever moves the potential: obstacles and pins. The residue is what remains:
//! ρ, the error of the solve and of the linearisation, and anything forgotten here.

use super::ForcesAt;
use crate::coordinates::nodal::{Clock, Outcome, Scratch, soft_pins};
use crate::model::{Body, Integrator, Model};
use crate::parallel::Chunks;
use crate::state::BodyState;
use glam::DVec3;

/// Books one step of a nodal body.
pub fn nodal(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &Scratch,
    outcome: &mut Outcome,
) {
    let (dt, integrator, wind) = (clock.dt, body.axes.integrator, model.wind);
    let (x0, v0, x1, v1) = (&before.positions, &before.velocities, &state.positions, &state.velocities);
    let at = match integrator.forces_at() {
        ForcesAt::Start => &scratch.now,
        ForcesAt::Middle => scratch.middle.as_ref().unwrap_or(&scratch.next),
        ForcesAt::End => &scratch.next,
    };
    // What the scheme moved nodes by, before any were put back.
    let used = |i: usize| match integrator {
        Integrator::ImplicitMidpoint | Integrator::ExplicitTaylor => (x1[i] - x0[i]) / dt,
        _ => v1[i],
    };
    let drag_velocity = |i: usize, used: DVec3| match integrator {
        Integrator::ExplicitTaylor => v0[i],
        Integrator::ExplicitDiagonal => 0.5 * (v0[i] + v1[i]),
        _ => used,
    };
    let [kinetic, potential_work, kinetic_part, damping, drag, wind_work, load_work, gravity_change] =
        Chunks::new(body.len()).sum(|_, range| {
            let mut s = [0.0; 8];
            for i in range {
                let m = body.masses[i];
                let (dx, dv) = (x1[i] - x0[i], v1[i] - v0[i]);
                s[0] += 0.5 * m * v1[i].length_squared();
                s[1] += at.elastic[i].dot(dx);
                let v_used = used(i);
                s[2] += m * (v_used - 0.5 * (v0[i] + v1[i])).dot(dv);
                if let Some(force) = at.damping.get(i) {
                    s[3] -= force.dot(dx);
                }
                if body.drag[i] != 0.0 {
                    let force = scratch.drag(body, i) * (drag_velocity(i, v_used) - wind);
                    s[4] += dt * force.dot(v_used - wind);
                    s[5] -= dt * force.dot(wind);
                }
                if let Some(load) = scratch.loads.get(i) {
                    s[6] += load.dot(dx);
                }
                s[7] -= m * model.gravity.dot(dx);
            }
            s
        });

    let mut row = before.row;
    let contact = |touches: &[crate::contact::Touch]| touches.iter().map(|t| t.energy).sum::<f64>();
    let mut soft_energy = [0.0; 2];
    soft_pins(body, clock.time, x0, |_, _, energy, _, _| soft_energy[0] += energy);
    soft_pins(body, clock.time + dt, x1, |_, _, energy, _, _| soft_energy[1] += energy);
    // Touches at the start, as the scheme saw them: for an implicit one their energy is
    // that of the linearised distance, so the true one is taken from the account before.
    let (elastic0, elastic1) = (scratch.now.energy + soft_energy[0], scratch.next.energy + soft_energy[1]);
    let contact0 = before.row.contact - before.row.friction_energy;
    let contact1 = contact(&scratch.next.touches);

    // Work on contact potential and compliant pins, and of what moves them.
    let (mut work, mut moving) = (potential_work, 0.0);
    for touch in &at.touches {
        let i = touch.node as usize;
        work += touch.push.dot(x1[i] - x0[i]);
        moving += dt * touch.push.dot(touch.surface_velocity);
    }
    let theta = match integrator.forces_at() {
        ForcesAt::Start => 0.0,
        ForcesAt::Middle => 0.5,
        ForcesAt::End => 1.0,
    };
    let mut pin_moving = 0.0;
    for pin in &body.pins {
        if let Some(k) = pin.stiffness {
            for (j, &node) in pin.nodes.iter().enumerate() {
                let i = node as usize;
                let here = x0[i].lerp(x1[i], theta);
                let force = k * (pin.target(j, clock.time + theta * dt) - here);
                work += force.dot(x1[i] - x0[i]);
                pin_moving += force.dot(pin.target(j, clock.time + dt) - pin.target(j, clock.time));
            }
        }
    }
    let scheme = kinetic_part + (elastic0 + contact0 - elastic1 - contact1 + moving + pin_moving - work);

    // Friction and contact dampers, as the step used them.
    let (mut friction_loss, mut impact, mut surface_work) = (0.0, 0.0, 0.0);
    for touch in &scratch.now.touches {
        let i = touch.node as usize;
        let (dx, surface) = (x1[i] - x0[i], touch.surface_velocity);
        let relative = dx - dt * surface;
        let friction = touch.friction - theta * (touch.friction_stiffness * relative);
        friction_loss -= friction.dot(relative);
        let slow = if theta > 0.0 { relative / dt } else { v0[i] - surface };
        let damper = -(touch.damping * slow);
        impact -= damper.dot(relative);
        surface_work += dt * (friction + damper).dot(surface);
    }
    let friction_energy: f64 = scratch.next.touches.iter().map(|t| t.friction_energy).sum();
    friction_loss -= friction_energy - before.row.friction_energy;

    // Nodes put back: the velocity they lost, and the way they were carried.
    for back in &scratch.put_back {
        let i = back.node;
        let m = body.masses[i];
        impact += 0.5 * m * (back.velocity.length_squared() - v1[i].length_squared());
        surface_work += 0.0;
        // The sums above took v₁ for the scheme's velocity; it was the one before.
        let (v_scheme, dx_scheme) = (back.velocity, x1[i] - back.shift - x0[i]);
        let v_used = match integrator {
            Integrator::ImplicitMidpoint | Integrator::ExplicitTaylor => dx_scheme / dt,
            _ => v_scheme,
        };
        let true_part = m * (v_used - 0.5 * (v0[i] + v_scheme)).dot(v_scheme - v0[i]);
        let booked = m * (used(i) - 0.5 * (v0[i] + v1[i])).dot(v1[i] - v0[i]);
        row.scheme += true_part - booked;
        // Potential work was booked over the whole way; the shift was not the scheme's.
        let mut force = at.elastic[i] + at.damping.get(i).copied().unwrap_or(DVec3::ZERO) + m * model.gravity;
        force += scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
        force += at.touches.iter().filter(|t| t.node as usize == i).map(|t| t.push).sum::<DVec3>();
        impact += force.dot(back.shift);
    }

    // Hard pins: the reaction is what the node's own equation lacks.
    let mut pin_work = pin_moving;
    for &(node, _) in &scratch.held {
        let i = node as usize;
        let m = body.masses[i];
        let v_used = used(i);
        let mut force = at.elastic[i] + at.damping.get(i).copied().unwrap_or(DVec3::ZERO) + m * model.gravity;
        force += scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
        if body.drag[i] != 0.0 {
            force -= scratch.drag(body, i) * (drag_velocity(i, v_used) - wind);
        }
        force += at.touches.iter().filter(|t| t.node == node).map(|t| t.push).sum::<DVec3>();
        pin_work += (m / dt * (v1[i] - v0[i]) - force).dot(dt * v_used);
    }

    row.exchanged += (kinetic - before.row.kinetic).abs();
    row.kinetic = kinetic;
    row.elastic = elastic1;
    row.gravitational += gravity_change;
    row.contact = contact1 + friction_energy;
    row.friction_energy = friction_energy;
    row.damping += damping;
    row.drag += drag;
    row.friction += friction_loss;
    row.impact += impact;
    row.scheme += scheme;
    row.pin_work += pin_work;
    row.load_work += load_work + wind_work + moving + surface_work;
    row.contacts = scratch.next.touches.len() as u32;
    let deepest = scratch.next.touches.iter().map(|t| -t.gap).fold(0.0, f64::max);
    row.worst_penetration = row.worst_penetration.max(deepest);
    let work_in = (row.pin_work - before.row.pin_work) + (row.load_work - before.row.load_work);
    outcome.created = row.stored() - before.row.stored() - work_in;
    state.row = row;

    find_extremes(body, before, state, outcome);
}

/// The node that moved furthest, and the first that is not finite.
fn find_extremes(body: &Body, before: &BodyState, state: &BodyState, outcome: &mut Outcome) {
    let (x0, x1, v1) = (&before.positions, &state.positions, &state.velocities);
    let found = Chunks::new(body.len()).fold(
        (0.0, 0, None),
        |_, range| {
            let (mut furthest, mut fastest, mut not_finite) = (0.0, 0, None);
            for i in range {
                let moved = x1[i].distance_squared(x0[i]);
                if moved > furthest {
                    (furthest, fastest) = (moved, i);
                }
                if !(x1[i].is_finite() && v1[i].is_finite()) && not_finite.is_none() {
                    not_finite = Some(i);
                }
            }
            (furthest, fastest, not_finite)
        },
        |a, b| if b.0 > a.0 { (b.0, b.1, a.2.or(b.2)) } else { (a.0, a.1, a.2.or(b.2)) },
    );
    outcome.displacement = found.0.sqrt();
    (outcome.fastest, outcome.not_finite) = (found.1, found.2);
}
