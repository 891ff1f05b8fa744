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
//! whatever moves the potential: obstacles and pins. Forces are those the step used: of
//! a single linearisation the linear ones, with several Newton iterations those at the
//! point they led to; of contacts also where a node left or arrived within the step.
//! The work of restoring momenta is the scheme's (see `momenta`). The residue is what
//! remains: ρ, the error of the solve, and anything forgotten here.

use super::ForcesAt;
use crate::coordinates::nodal::{Clock, Outcome, Scratch, soft_pins};
use crate::model::{Body, Coordinates, Integrator, Model};
use crate::parallel::Chunks;
use crate::state::BodyState;
use glam::DVec3;

/// Books one step of a nodal body.
pub fn nodal(model: &Model, body: &Body, clock: Clock, before: &BodyState, state: &mut BodyState, scratch: &Scratch) {
    let (dt, integrator, wind) = (clock.dt, body.axes.integrator, model.wind);
    let (x0, v0, x1, v1) = (&before.positions, &before.velocities, &state.positions, &state.velocities);
    let at = match integrator.forces_at() {
        ForcesAt::Start => &scratch.now,
        ForcesAt::Middle => scratch.middle.as_ref().unwrap_or(&scratch.next),
        ForcesAt::End => &scratch.next,
    };
    // Springs and their dampers together, and the dampers alone.
    let linearised = integrator.implicit() && body.newton <= 1;
    let known = at.damping_work;
    let damper = |i: usize| match known {
        Some(_) => DVec3::ZERO,
        None => at.damping.get(i).copied().unwrap_or(DVec3::ZERO),
    };
    let springs = |i: usize| if linearised { scratch.used[i] } else { at.elastic[i] + damper(i) };
    let potential = |i: usize| if known.is_some() { springs(i) } else { springs(i) - damper(i) };
    // What the scheme moved nodes by.
    let used = |i: usize| match integrator {
        Integrator::ImplicitMidpoint | Integrator::Bdf2 | Integrator::ExplicitTaylor => (x1[i] - x0[i]) / dt,
        _ => v1[i],
    };
    // The rate of change of momentum that the scheme set equal to the forces.
    let two_step = scratch.two_step.now.filter(|_| integrator == Integrator::Bdf2);
    let (from, rate) = match two_step {
        Some(h) => (&scratch.two_step.velocities, 1.0 / h),
        None => (v0, 1.0 / dt),
    };
    let inertia = |i: usize| body.masses[i] * rate * (v1[i] - from[i]);
    let drag_velocity = |i: usize, used: DVec3| match integrator {
        Integrator::ExplicitTaylor => v0[i],
        Integrator::SymplecticEuler if body.axes.coordinates == Coordinates::Reduced => v0[i],
        Integrator::ExplicitDiagonal => 0.5 * (v0[i] + v1[i]),
        Integrator::Bdf2 => v1[i],
        _ => used,
    };
    let [kinetic, potential_work, kinetic_part, damping, drag, wind_work, load_work, gravity_change, drive_work] =
        Chunks::new(body.len()).sum(|_, range| {
            let (mut s, mut weighed) = ([0.0; 9], DVec3::ZERO);
            for i in range {
                let m = body.masses[i];
                let (dx, dv) = (x1[i] - x0[i], v1[i] - v0[i]);
                s[0] += 0.5 * m * v1[i].length_squared();
                s[1] += potential(i).dot(dx);
                s[2] += inertia(i).dot(dx) - 0.5 * m * (v0[i] + v1[i]).dot(dv);
                if known.is_none() {
                    s[3] -= damper(i).dot(dx);
                }
                if body.drag[i] != 0.0 {
                    let v_used = used(i);
                    let force = scratch.drag(body, i) * (drag_velocity(i, v_used) - wind);
                    s[4] += dt * force.dot(v_used - wind);
                    s[5] -= dt * force.dot(wind);
                }
                if let Some(load) = scratch.loads.get(i) {
                    s[6] += load.dot(dx);
                }
                weighed += m * dx;
                if let Some(drive) = scratch.drives.get(i) {
                    s[8] += drive.dot(dx);
                }
            }
            s[7] = -model.gravity.dot(weighed);
            s
        });
    let (potential_work, damping) = (potential_work - known.unwrap_or(0.0), damping - known.unwrap_or(0.0));

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

    let theta = match integrator.forces_at() {
        ForcesAt::Start => 0.0,
        ForcesAt::Middle => 0.5,
        ForcesAt::End => 1.0,
    };
    // Work on contact potential and compliant pins, and of what moves them; friction and
    // contact dampers: all by the forces the step used.
    let (mut work, mut moving) = (potential_work, 0.0);
    let (mut friction_loss, mut impact, mut surface_work) = (0.0, 0.0, 0.0);
    let touch_forces = |touch: &crate::contact::Touch| {
        let i = touch.node as usize;
        let relative = x1[i] - x0[i] - dt * touch.surface_velocity;
        let slow = match theta {
            _ if two_step.is_some() => v1[i] - touch.surface_velocity,
            0.0 => v0[i] - touch.surface_velocity,
            _ => relative / dt,
        };
        (relative, touch.push_after(theta * relative), touch.friction_after(theta * relative), touch.damper(slow))
    };
    for touch in &scratch.now.touches {
        let (i, surface) = (touch.node as usize, touch.surface_velocity);
        let (relative, push, friction, damper) = touch_forces(touch);
        work += push.dot(x1[i] - x0[i]);
        moving += dt * push.dot(surface);
        friction_loss -= friction.dot(relative);
        impact -= damper.dot(relative);
        surface_work += dt * (friction + damper).dot(surface);
    }
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
    let scheme =
        kinetic_part - scratch.restored + (elastic0 + contact0 - elastic1 - contact1 + moving + pin_moving - work);

    let friction_energy: f64 = scratch.next.touches.iter().map(|t| t.friction_energy).sum();
    friction_loss -= friction_energy - before.row.friction_energy;

    // Hard pins: the reaction is what the node's own equation lacks.
    let mut pin_work = pin_moving;
    for &(node, _) in &scratch.held {
        let i = node as usize;
        let m = body.masses[i];
        let v_used = used(i);
        let mut force = springs(i) + m * model.gravity;
        force += scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
        if body.drag[i] != 0.0 {
            force -= scratch.drag(body, i) * (drag_velocity(i, v_used) - wind);
        }
        // In the order of nodes.
        let first = scratch.now.touches.partition_point(|t| t.node < node);
        for touch in scratch.now.touches[first..].iter().take_while(|t| t.node == node) {
            let (_, push, friction, damper) = touch_forces(touch);
            force += push + friction + damper;
        }
        pin_work += (inertia(i) - force).dot(dt * v_used);
    }

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
    row.load_work += load_work - drive_work + wind_work + moving + surface_work;
    row.drive_work += drive_work;
    state.row = row;
}

/// Books what putting nodes back onto obstacles changed: energy that is gone was lost in the impact.
pub fn put_back(model: &Model, body: &Body, clock: Clock, state: &mut BodyState, scratch: &Scratch) {
    let (x, v, mut row) = (&state.positions, &state.velocities, state.row);
    let stored = row.stored();
    row.elastic = scratch.next.energy;
    soft_pins(body, clock.time + clock.dt, x, |_, _, energy, _, _| row.elastic += energy);
    row.friction_energy = scratch.next.touches.iter().map(|t| t.friction_energy).sum();
    row.contact = scratch.next.touches.iter().map(|t| t.energy).sum::<f64>() + row.friction_energy;
    let mut surface_work = 0.0;
    for back in &scratch.put_back {
        let (i, m) = (back.node, body.masses[back.node]);
        row.kinetic += 0.5 * m * (v[i].length_squared() - back.velocity.length_squared());
        row.gravitational -= m * model.gravity.dot(x[i] - back.position);
        surface_work += back.work;
    }
    row.load_work += surface_work;
    row.impact += stored + surface_work - row.stored();
    state.row = row;
}

/// The same where all nodes of a body moved with those put back; `weighed` is Σ m x as it was (kg m).
pub fn put_back_all(
    model: &Model,
    body: &Body,
    clock: Clock,
    state: &mut BodyState,
    scratch: &Scratch,
    weighed: DVec3,
) {
    let (x, v, mut row) = (&state.positions, &state.velocities, state.row);
    let stored = row.stored();
    row.elastic = scratch.next.energy;
    soft_pins(body, clock.time + clock.dt, x, |_, _, energy, _, _| row.elastic += energy);
    row.friction_energy = scratch.next.touches.iter().map(|t| t.friction_energy).sum();
    row.contact = scratch.next.touches.iter().map(|t| t.energy).sum::<f64>() + row.friction_energy;
    row.kinetic = (0..x.len()).map(|i| 0.5 * body.masses[i] * v[i].length_squared()).sum();
    row.gravitational -= model.gravity.dot(weighed_sum(body, x) - weighed);
    let surface_work: f64 = scratch.put_back.iter().map(|back| back.work).sum();
    row.load_work += surface_work;
    row.impact += stored + surface_work - row.stored();
    state.row = row;
}

/// Σ m x (kg m).
pub fn weighed_sum(body: &Body, x: &[DVec3]) -> DVec3 {
    x.iter().zip(&body.masses).map(|(&x, &m)| m * x).sum()
}

/// What the tests of a step look at.
pub fn close(body: &Body, before: &BodyState, state: &mut BodyState, scratch: &Scratch, outcome: &mut Outcome) {
    let row = &mut state.row;
    row.exchanged += (row.kinetic - before.row.kinetic).abs();
    row.contacts = scratch.next.touches.len() as u32;
    let deepest = scratch.next.touches.iter().map(|t| -t.gap).fold(0.0, f64::max);
    row.worst_penetration = row.worst_penetration.max(deepest);
    let work_in = row.came_in() - before.row.came_in();
    outcome.created = row.stored() - before.row.stored() - work_in;
    find_extremes(body, before, state, outcome);
}

/// The node that moved furthest, and the first that is not finite.
pub(crate) fn find_extremes(body: &Body, before: &BodyState, state: &BodyState, outcome: &mut Outcome) {
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
                // Nought, but for what is no number.
                if (0.0 * x1[i] + 0.0 * v1[i]).element_sum() != 0.0 && not_finite.is_none() {
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
