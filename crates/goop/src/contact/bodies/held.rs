//! What else holds bodies that meet: their own pins and obstacles, and couples.

use super::island::Island;
use super::meeting::{NOTHING, Spot};
use super::solve::Wish;
use crate::coordinates::framed::respond::Kind;
use crate::coordinates::nodal::Scratch;
use crate::model::Body;
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// Rows of a rigid body's own pins and obstacles.
pub(super) fn hold_rigid(
    island: &mut Island,
    b: usize,
    before: &BodyState,
    state: &BodyState,
    dt: f64,
    scratch: &Scratch,
) {
    let nothing = Spot { body: NOTHING, nodes: [0; 3], weights: [0.0; 3] };
    for point in &scratch.points {
        let i = point.node as usize;
        let u = (state.positions[i] - before.positions[i]) / dt;
        let wish = if point.pin {
            Wish::Tied { velocity: u, compliance: 0.0 }
        } else {
            let speed = match point.impulse.dot(point.normal) > 0.0 {
                true => u.dot(point.normal),
                false => point.target.dot(point.normal),
            };
            Wish::Apart { normal: point.normal, speed, friction: point.friction, slide: point.surface }
        };
        island.spots.push([Spot::node(b, point.node), nothing]);
        island.rows.push(wish, 1.0, point.impulse, u);
    }
}

/// Rows of a framed body's own pins and obstacles.
pub(super) fn hold_framed(
    island: &mut Island,
    b: usize,
    before: &BodyState,
    state: &BodyState,
    dt: f64,
    scratch: &Scratch,
) {
    let (Some(work), Some(f0), Some(f1)) = (&scratch.framed, &before.framed, &state.framed) else { return };
    let turn = DMat3::from_quat(if f0.led.is_some() { f1.rotation } else { f0.rotation });
    let nothing = Spot { body: NOTHING, nodes: [0; 3], weights: [0.0; 3] };
    for hold in &work.holds {
        let i = hold.node as usize;
        let (u, impulse) = ((state.positions[i] - before.positions[i]) / dt, turn * hold.applied);
        let wish = match hold.kind {
            Kind::Pin { compliance, .. } => {
                let compliance = compliance / (dt * dt);
                Wish::Tied { velocity: u + compliance * impulse, compliance }
            }
            Kind::Contact { normal, surface, friction, .. } if impulse.dot(normal) > 0.0 => {
                Wish::Apart { normal, speed: u.dot(normal), friction, slide: surface / dt }
            }
            Kind::Contact { .. } => continue,
        };
        island.spots.push([Spot::node(b, hold.node), nothing]);
        island.rows.push(wish, 1.0, impulse, u);
    }
}

/// Forces on all nodes of a body that turn it as a couple does (N m), and push it nowhere.
pub(super) fn turn(body: &Body, x: &[DVec3], couple: DVec3, pushes: &mut Vec<(u32, DVec3)>) {
    let center = (0..x.len()).map(|i| body.masses[i] * x[i]).sum::<DVec3>() / body.mass();
    let (mut inertia, mut size) = (DMat3::ZERO, 0.0);
    for i in 0..x.len() {
        let q = x[i] - center;
        let own = DMat3::from_diagonal(DVec3::splat(q.length_squared())) - DMat3::from_cols(q * q.x, q * q.y, q * q.z);
        inertia += own * body.masses[i];
        size += body.masses[i] * q.length_squared();
    }
    // What has no inertia about some axis cannot be turned so.
    if inertia.determinant() < 1e-9 * size.powi(3) {
        return;
    }
    let spin = inertia.inverse() * couple;
    pushes.extend((0..x.len()).map(|i| (i as u32, body.masses[i] * spin.cross(x[i] - center))));
}
