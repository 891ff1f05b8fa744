//! Explicit schemes: forces at the start of the step, a division per node.
//!
//! ```text
//! diagonal    (M/dt + C/2) v₁ = f + (M/dt - C/2) v₀      x₁ = x₀ + dt v₁     [GO-spring] eq 10, [TW] eq 38-41
//! symplectic  (M + dt C) v₁ = M v₀ + dt f                x₁ = x₀ + dt v₁
//! Taylor      v₁ = v₀ + dt a        x₁ = x₀ + dt v₀ + ½ dt² a                [Chang] 5.1
//! ```
//! C is the drag of the medium. The first two are the same without drag: first
//! order in velocity, symplectic, stable for dt < 2/ω. The third is second order in
//! x only and **unstable for every step when undamped**: stable iff dt < 4ζ/ω and
//! dt < 1/(ζω).

use crate::coordinates::nodal::{Clock, Scratch, soft_pins};
use crate::model::{Body, Integrator, Model};
use crate::parallel::{Chunks, Disjoint};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// One step.
pub fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
) {
    let (dt, wind) = (clock.dt, model.wind);
    let (x0, v0) = (&before.positions, &before.velocities);
    // Contacts and compliant pins are few: they join the elastic forces of the nodes
    // concerned, which are restored afterwards for the account.
    let forces = &mut scratch.now.elastic;
    let original = &mut scratch.original;
    original.clear();
    let mut add = |node: usize, force: DVec3| {
        original.push((node, forces[node]));
        forces[node] += force;
    };
    for touch in &scratch.now.touches {
        let relative = v0[touch.node as usize] - touch.surface_velocity;
        add(touch.node as usize, touch.push + touch.friction - touch.damping * relative);
    }
    soft_pins(body, clock.time, x0, |node, force, _, _, _| add(node, force));

    let chunks = Chunks::new(body.len());
    let (x_out, v_out) = (Disjoint::new(&mut state.positions), Disjoint::new(&mut state.velocities));
    let shared = &*scratch;
    chunks.each(|_, range| {
        // SAFETY: chunks are disjoint.
        let (x1, v1) = unsafe { (x_out.slice(range.clone()), v_out.slice(range.clone())) };
        for (k, i) in range.enumerate() {
            let m = body.masses[i];
            let mut f = shared.now.elastic[i] + m * model.gravity;
            if let Some(damping) = shared.now.damping.get(i) {
                f += *damping;
            }
            if let Some(load) = shared.loads.get(i) {
                f += *load;
            }
            let c = body.drag[i];
            let (x, v) = (x0[i], v0[i]);
            if c == 0.0 {
                v1[k] = v + dt / m * f;
            } else {
                let c = shared.drag(body, i);
                v1[k] = match body.axes.integrator {
                    Integrator::ExplicitTaylor => v + dt / m * (f - c * (v - wind)),
                    Integrator::ExplicitDiagonal => {
                        let left = DMat3::from_diagonal(DVec3::splat(m / dt)) + c * 0.5;
                        left.inverse() * (f + c * wind + (m / dt) * v - 0.5 * (c * v))
                    }
                    _ => {
                        let left = DMat3::from_diagonal(DVec3::splat(m)) + c * dt;
                        left.inverse() * (m * v + dt * (f + c * wind))
                    }
                };
            }
            x1[k] = match body.axes.integrator {
                Integrator::ExplicitTaylor => x + dt * 0.5 * (v + v1[k]),
                _ => x + dt * v1[k],
            };
        }
    });
    for &(node, target) in &scratch.held {
        let i = node as usize;
        state.positions[i] = target;
        state.velocities[i] = (target - x0[i]) / dt;
    }
    for (node, force) in scratch.original.drain(..).rev() {
        scratch.now.elastic[node] = force;
    }
}
