//! The account of a framed step.

use super::holds::end_position;
use super::{Fixed, Sums, Wrench};
use crate::coordinates::framed::respond::Kind;
use crate::coordinates::framed::{FramedState, Work, get};
use crate::coordinates::nodal::{Clock, Scratch};
use crate::ledger::Row;
use crate::model::{Body, Model};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// All that the account needs.
pub(super) struct Books<'a> {
    pub fixed: &'a Fixed<'a>,
    pub work: &'a Work,
    pub sums: &'a Sums,
    pub mean_turn: DVec3,
    /// e·Ke, e·Kė, ė·Kė, ė₀·Ke, ė₀·Kė at the end.
    pub products: [f64; 5],
    pub energies: [f64; 2],
    pub kinetic: f64,
}

impl Books<'_> {
    /// Velocity of a node over which impulses on it are booked (m/s).
    pub fn mean_velocity(&self, f1: &FramedState, before: &BodyState, i: usize) -> DVec3 {
        let (f0, n) = (self.fixed.before, self.fixed.body.len());
        let mean = 0.5 * (f0.momentum + f1.momentum) / self.fixed.body.mass();
        let rate = 0.5 * (get(&f0.rate, n, i) + get(&f1.rate, n, i));
        mean + self.mean_turn.cross(before.positions[i] - f0.center) + f0.rotation * rate
    }

    pub fn close(&self, model: &Model, clock: Clock, before: &BodyState, f1: &FramedState, scratch: &Scratch) -> Row {
        let (fixed, work, f0, h) = (self.fixed, self.work, self.fixed.before, self.fixed.h);
        let (body, n) = (fixed.body, fixed.body.len());
        let mut row = before.row;
        let mass = body.mass();
        let (v0, v1) = (f0.momentum / mass, f1.momentum / mass);
        let (mean, turn) = (0.5 * (v0 + v1), self.mean_turn);
        let rotation = DMat3::from_quat(f0.rotation);
        let mean_rate = |i: usize| 0.5 * (get(&f0.rate, n, i) + get(&f1.rate, n, i));

        // Momenta as the forces changed them; a planar world blocks the rest.
        let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for hold in &work.holds {
            let i = hold.node as usize;
            push += hold.applied;
            torque += (get(&f0.reference, n, i) + get(&f0.displacement, n, i)).cross(hold.applied);
        }
        let gain = fixed.eta * (h * (fixed.weight + fixed.loads.force + fixed.drag.force) + rotation * push);
        let spun = fixed.eta * (h * (fixed.loads.torque + fixed.drag.torque) + rotation * torque);
        let mut scheme = -mean.dot(f1.momentum - f0.momentum - gain);
        let formula =
            |f: &FramedState, rates: f64| 0.5 * f.momentum.length_squared() / mass + 0.5 * rates + f.turning_energy();
        // The frame turns and exchanges energy with e.
        scheme += turn.dot(spun) - self.sums.inertial - (f1.turning_energy() - f0.turning_energy());
        // Cross terms between frame and e: none unless the constraints are off.
        scheme -= self.kinetic - formula(f1, self.sums.rates[1]);
        scheme += before.row.kinetic - formula(f0, self.sums.rates[0]);

        // Gravity.
        let mut fall = fixed.weight.dot(h * mean);
        let mut gravity_change = -fixed.weight.dot(f1.center - f0.center);
        if !body.terms.translational {
            let (mut e, mut e1, mut rate) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            for i in 0..n {
                e += body.masses[i] * get(&f0.displacement, n, i);
                e1 += body.masses[i] * get(&f1.displacement, n, i);
                rate += body.masses[i] * mean_rate(i);
            }
            fall += h * model.gravity.dot(rotation * rate);
            gravity_change -= model.gravity.dot(f1.rotation * e1 - rotation * e);
        }
        scheme -= fall + gravity_change;
        row.gravitational += gravity_change;

        // Elasticity and its damping.
        let [_, e_rate, rate_rate, old_e, old_rate] = self.products;
        let mut pull = -0.5 * h * (old_e + e_rate);
        if !work.linear.prestress.is_empty() {
            let f = &work.linear.prestress;
            pull += h * (0..n).map(|i| get(f, n, i).dot(mean_rate(i))).sum::<f64>();
        }
        scheme -= pull + self.energies[1] - self.energies[0];
        let damping = h * work.damping_time * rate_rate;
        scheme += 0.5 * h * work.damping_time * (old_rate + rate_rate) - damping;
        row.damping += damping;

        // Loads and drag.
        if !scratch.loads.is_empty() {
            let power = |forces: &[DVec3], whole: Wrench| {
                let on_e: f64 = (0..n).map(|i| forces[i].dot(rotation * mean_rate(i))).sum();
                whole.force.dot(mean) + whole.torque.dot(turn) + on_e
            };
            let by_drives = if scratch.drives.is_empty() { 0.0 } else { h * power(&scratch.drives, fixed.drives) };
            row.load_work += h * power(&scratch.loads, fixed.loads) - by_drives;
            row.drive_work += by_drives;
        }
        if !work.drag_force.is_empty() {
            let kappa = work.drag;
            let force = fixed.drag.force - kappa * gain;
            let torque = fixed.drag.torque - kappa * spun;
            let on_e: f64 = (0..n)
                .map(|i| {
                    let rate = mean_rate(i);
                    work.drag_force[i].dot(rotation * rate) - kappa * body.masses[i] * get(&work.delta, n, i).dot(rate)
                })
                .sum();
            let power = force.dot(mean) + torque.dot(turn) + on_e;
            row.drag -= h * (power - force.dot(model.wind));
            row.load_work += h * force.dot(model.wind);
        }

        // Pins and contacts.
        let mean_velocity = |i: usize| self.mean_velocity(f1, before, i);
        let soft = book_holds(work, h, before, f1, rotation, mean_velocity, &mut row, &mut scheme);
        let held = stored_at_held(body, clock, before, f1, scratch);
        scheme -= soft[1] - soft[0];
        row.load_work += held[1] - held[0];
        row.scheme += scheme;
        row.kinetic = self.kinetic;
        row.elastic = self.energies[1] + soft[1] + held[1];
        (row.contact, row.friction_energy) = (0.0, 0.0);
        row
    }
}

/// Books the impulses of compliant pins, pins and contacts by their work over the mean velocity of the node (m/s);
/// returns what compliant pins store at the start and at the end (J).
#[allow(clippy::too_many_arguments)] // a row, the scheme's share, and all that an impulse is made of
pub(super) fn book_holds(
    work: &Work,
    h: f64,
    before: &BodyState,
    f1: &FramedState,
    rotation: DMat3,
    mean_velocity: impl Fn(usize) -> DVec3,
    row: &mut Row,
    scheme: &mut f64,
) -> [f64; 2] {
    let mut soft = [0.0; 2];
    for hold in &work.holds {
        let i = hold.node as usize;
        let velocity = mean_velocity(i);
        let impulse = rotation * hold.applied;
        match hold.kind {
            Kind::Pin { target, from, compliance } if compliance > 0.0 => {
                let moving = impulse.dot(target - from) / h;
                soft[0] += 0.5 * from.distance_squared(before.positions[i]) / compliance;
                soft[1] += 0.5 * target.distance_squared(end_position(f1, hold.node)) / compliance;
                row.pin_work += moving;
                *scheme += moving - impulse.dot(velocity);
            }
            Kind::Pin { target, .. } => {
                let moving = impulse.dot(target - before.positions[i]) / h;
                row.pin_work += moving;
                *scheme += moving - impulse.dot(velocity);
            }
            Kind::Contact { normal, surface, .. } => {
                let surface = surface / h;
                let relative = velocity - surface;
                let along = impulse.dot(normal) * normal;
                row.impact -= along.dot(relative);
                row.friction -= (impulse - along).dot(relative);
                row.load_work += impulse.dot(surface);
            }
        }
    }
    soft
}

/// What compliant pins on held nodes store at the start and at the end (J): it moves nothing here.
pub(super) fn stored_at_held(
    body: &Body,
    clock: Clock,
    before: &BodyState,
    f1: &FramedState,
    scratch: &Scratch,
) -> [f64; 2] {
    let mut held = [0.0; 2];
    for (k, (time, x)) in [(clock.time, None), (clock.time + clock.dt, Some(f1))].into_iter().enumerate() {
        for pin in body.pins.iter().filter(|p| p.stiffness.is_some()) {
            for (j, &node) in pin.nodes.iter().enumerate() {
                if !scratch.free[node as usize] {
                    let at = x.map_or(before.positions[node as usize], |f| end_position(f, node));
                    held[k] += 0.5 * pin.stiffness.unwrap_or(0.0) * pin.target(j, time).distance_squared(at);
                }
            }
        }
    }
    held
}
