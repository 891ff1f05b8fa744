//! Semi-implicit step of a body whose frame follows its pins.
//!
//! Where the frame is at the end of the step is known: c₁, R₁. With u the velocities of nodes,
//! ```text
//! M (u₁ - u₀)/h = f - R₁ K (e₁ + β d) - κM (u₁ - u₀)        x₁ = x₀ + h u₁
//! e = Rᵀ(x - c) - r       d = (e₁ - e₀)/h                    e₁ of a held node is known
//! A δ = R₁ᵀf - K e₀ - (h + β) K y     δ = R₁ᵀ(u₁ - u₀)       y = (R₁ᵀ(x₀ + h u₀ - c₁) - r - e₀)/h,  d = y + δ
//! ```
//! with the same A as a free body, rows of held nodes left out. y is ė as long as the frame rests. Momentum is that of the
//! nodes, so that no inertial force appears; one that is to be left out is cancelled by its opposite. First order,
//! stable for every h.
//!
//! K is not blind to turns: its forces on the nodes leave a couple, and the frame passes it on to the pins. Its work, with that of
//! the reactions, is the work of pins.

use super::books::{book_holds, stored_at_held};
use super::holds::{Rounds, finish, gather_pins};
use super::{add_forces, flatten};
use crate::coordinates::framed::factored::Factored;
use crate::coordinates::framed::respond::{Kind, Rigid};
use crate::coordinates::framed::{FramedState, Work, cross, fit, flow, get, inertia, kernels, put};
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::ledger::Row;
use crate::model::{Body, Model};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// What the account needs of the step.
struct Led<'a> {
    model: &'a Model,
    body: &'a Body,
    clock: Clock<'a>,
    before: &'a BodyState,
    f0: &'a FramedState,
    /// The frame rests, and has rested.
    still: bool,
    /// R₁ᵀ
    back: DMat3,
    /// Force per mass in body axes: weight and, where the translational term is left out, its opposite.
    fall: DVec3,
    /// Opposites of inertial terms that are left out, on r, e and ė.
    cancel: [DMat3; 3],
    /// Blocked direction, body axes.
    flat: Option<DVec3>,
}

#[allow(clippy::too_many_arguments)] // the parts of one step, taken apart for borrowing
pub(super) fn advance(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    f1: &mut FramedState,
    work: &mut Work,
    factor: &mut Factored,
    outcome: &mut Outcome,
) {
    let (h, n) = (clock.dt, body.len());
    let Some(f0) = before.framed.as_deref() else { return };
    let energy0 = match work.valid {
        Some(energy) => energy,
        None => work.evaluate(f0),
    };
    work.valid = None;
    scratch.find_normals(body, &before.positions);
    scratch.find_loads(body, clock.time + h, &before.positions);
    scratch.hold(body, clock.time + h);
    let still = lead(body, clock, scratch, f0, f1, work);
    let back = DMat3::from_quat(f1.rotation).transpose();
    let flat = model.flat.map(|axis| back * DVec3::AXES[axis]);
    (f1.loose, f1.planar) = (f0.loose, flat);
    for i in 0..work.drag_force.len() {
        work.drag_force[i] = -(scratch.drag(body, i) * (before.velocities[i] - model.wind));
    }
    gather_pins(body, clock, scratch, work);
    work.holds.retain(|hold| !matches!(hold.kind, Kind::Pin { compliance: 0.0, .. }));

    // Where nodes would go by themselves, and what is known of held ones.
    let [mut start, mut ahead, mut known] = std::mem::take(&mut work.led);
    [&mut start, &mut ahead, &mut known].into_iter().for_each(|v| v.resize(3 * n, 0.0));
    if still {
        start.copy_from_slice(&f0.rate);
        ahead.copy_from_slice(&f0.rate);
    } else {
        for i in 0..n {
            let (x, u, e) = (before.positions[i], before.velocities[i], get(&f0.displacement, n, i));
            put(&mut start, n, i, back * u);
            let there = back * (x + h * u - f1.center) - get(&f0.reference, n, i);
            put(&mut ahead, n, i, (there - e) / h);
        }
        work.linear.products([&f0.displacement, &ahead], &ahead, &mut work.ke, &mut work.kr);
    }
    for &(node, target) in &scratch.held {
        let i = node as usize;
        let to = back * (target - f1.center) - get(&f0.reference, n, i);
        put(&mut known, n, i, (to - get(&f0.displacement, n, i)) / h - get(&ahead, n, i));
    }

    let (fall, cancel) = cancelled(model, body, f0, f1, back, h);
    let reach = h + work.damping_time;
    kernels::right_side(&f0.start(&body.masses, cancel), h, fall, reach, &work.ke, &work.kr, &mut work.delta);
    add_forces(work, &scratch.loads, back);
    let flattened = |planes: &mut [f64]| {
        if let Some(axis) = flat {
            flatten(planes, axis);
        }
    };
    flattened(&mut work.delta);
    outcome.solve = Some(factor.solve_led(&known, &mut work.delta));
    flattened(&mut work.delta);

    let mut sums = [0.0; kernels::SUMS];
    let moving = kernels::Start { rate: &ahead, ..f0.start(&body.masses, [DMat3::ZERO; 3]) };
    let mut moved = |f1: &mut FramedState, work: &mut Work, factor: &Factored| {
        flattened(&mut work.delta);
        let columns = factor.columns_of([0.0; 6]);
        sums = kernels::advance(&moving, h, &columns, &mut work.delta, &mut f1.displacement, &mut f1.rate);
    };
    moved(f1, work, factor);
    // The frame goes where it goes: only the displacement gives way.
    let rigid = Rigid { shift: DMat3::ZERO, turn: DMat3::ZERO };
    let rounds = Rounds { model, body, clock, before, scratch, back, rigid: [rigid; 2], project: flat };
    if !rounds.close_gaps(f1, work, factor, outcome, |f1, work, factor, _| moved(f1, work, factor)) {
        work.led = [start, ahead, known];
        return;
    }
    let six = |from: usize| inertia(std::array::from_fn(|k| sums[from + k]));
    (f1.inertia, f1.internal) = (six(6), DVec3::new(sums[12], sums[13], sums[14]));

    let products = work.linear.products([&f1.displacement, &f1.rate], &start, &mut work.ke, &mut work.kr);
    let energy1 = 0.5 * products[0] - work.prestress_work(&f1.displacement);
    work.valid = Some(energy1);
    // What the frame carries of every node, before ė takes its place.
    let carried = if still { [0.0; 3] } else { carried(work, f1, &start) };
    if !still {
        give_rates(f0, f1, h);
    }
    let kinetic = f1.place(body, &mut state.positions, &mut state.velocities);
    take_momenta(body, state, f1);
    let led = Led { model, body, clock, before, f0, still, back, fall, cancel, flat };
    let mut row = led.account(f1, scratch, work, &start, products, carried, [energy0, energy1]);
    row.kinetic = kinetic;
    let forward = back.transpose();
    scratch.book_pushes(&mut row, h, |i| forward * (get(&start, n, i) + 0.5 * get(&work.delta, n, i)));
    work.led = [start, ahead, known];
    finish(model, body, clock, before, state, work, &mut row, outcome);
    flow::inelastic(body, state, f1, work, factor, &mut row);
    let work_in = row.came_in() - before.row.came_in();
    let thrown = crate::contact::thrown(&before.anchors, before.row.impact, row.impact);
    outcome.created = row.stored() - before.row.stored() - work_in - thrown;
    row.exchanged += (row.kinetic - before.row.kinetic).abs();
    state.row = row;
}

/// Puts the frame where the pins have it at the end; whether it rests, and has rested.
fn lead(body: &Body, clock: Clock, scratch: &Scratch, f0: &FramedState, f1: &mut FramedState, work: &mut Work) -> bool {
    let h = clock.dt;
    let at_rest = body.pins.iter().filter(|p| p.stiffness.is_none()).all(|pin| {
        let (from, to) = (pin.motion.at(clock.time), pin.motion.at(clock.time + h));
        from.position == to.position && from.rotation == to.rotation
    });
    let still = at_rest && f0.led == Some(DVec3::ZERO) && f0.spin == DVec3::ZERO;
    if at_rest {
        (f1.center, f1.rotation) = (f0.center, f0.rotation);
        (f1.led, f1.spin) = (Some(DVec3::ZERO), DVec3::ZERO);
    } else {
        work.pin_masses.clear();
        work.pin_masses.extend(scratch.held.iter().map(|held| body.masses[held.0 as usize]));
        let n = body.len();
        let rest = |k: usize| get(&f0.reference, n, scratch.held[k].0 as usize);
        let (center, rotation, middle) = fit(&work.pin_masses, rest, |k| scratch.held[k].1, f0.rotation);
        (f1.center, f1.rotation) = (center - rotation * middle, rotation);
        let mut turn = rotation * f0.rotation.inverse();
        if turn.w < 0.0 {
            turn = -turn;
        }
        f1.led = Some((f1.center - f0.center) / h);
        f1.spin = rotation.inverse() * (turn.to_scaled_axis() / h);
    }
    f1.spin_change = f1.spin - f0.spin;
    still
}

/// Weight per mass, and what cancels the inertial terms that are left out.
fn cancelled(
    model: &Model,
    body: &Body,
    f0: &FramedState,
    f1: &FramedState,
    back: DMat3,
    h: f64,
) -> (DVec3, [DMat3; 3]) {
    let (terms, w) = (body.terms, cross(f0.spin));
    let unless = |wanted: bool, matrix: DMat3| if wanted { DMat3::ZERO } else { matrix };
    let shape = unless(terms.centrifugal, w * w) + unless(terms.transverse, cross(f1.spin_change) * (1.0 / h));
    let coriolis = unless(terms.coriolis, w * 2.0);
    let mut fall = back * model.gravity;
    if !terms.translational {
        fall += back * (f1.led.unwrap_or_default() - f0.led.unwrap_or_default()) / h;
    }
    (fall, [shape, shape, coriolis])
}

/// K e₁, K d and f₀ over the part of the velocities that the frame gives: w₁ - d.
fn carried(work: &Work, f1: &FramedState, start: &[f64]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for k in 0..start.len() {
        let by_frame = start[k] + work.delta[k] - f1.rate[k];
        sums[0] += work.ke[k] * by_frame;
        sums[1] += work.kr[k] * by_frame;
        sums[2] += work.linear.prestress.get(k).copied().unwrap_or(0.0) * by_frame;
    }
    sums
}

/// From d to ė, with which the velocities of nodes are v + R (Ω×s + ė).
fn give_rates(f0: &FramedState, f1: &mut FramedState, h: f64) {
    let n = f1.rate.len() / 3;
    let back = DMat3::from_quat(f1.rotation).transpose();
    let turned = (DMat3::IDENTITY - back * DMat3::from_quat(f0.rotation)) * (1.0 / h);
    for i in 0..n {
        let (r, d) = (get(&f0.reference, n, i), get(&f1.rate, n, i));
        let (s0, s1) = (r + get(&f0.displacement, n, i), r + get(&f1.displacement, n, i));
        put(&mut f1.rate, n, i, d + turned * s0 - f1.spin.cross(s1));
    }
}

/// P, and L about the centre of mass, of the nodes.
fn take_momenta(body: &Body, state: &BodyState, f1: &mut FramedState) {
    let (mut p, mut l, mut middle) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
    for (i, &m) in body.masses.iter().enumerate() {
        let (arm, u) = (state.positions[i] - f1.center, m * state.velocities[i]);
        p += u;
        l += arm.cross(u);
        middle += m * arm;
    }
    (f1.momentum, f1.angular_momentum) = (p, l - (middle / body.mass()).cross(p));
}

impl Led<'_> {
    /// Every force by its work over the mean of u₀ and u₁, for which ΔT is exact.
    #[allow(clippy::too_many_arguments)]
    fn account(
        &self,
        f1: &FramedState,
        scratch: &Scratch,
        work: &Work,
        start: &[f64],
        [_, e_rate, rate_rate, start_e, start_rate]: [f64; 5],
        [carried_e, carried_rate, carried_prestress]: [f64; 3],
        [energy0, energy1]: [f64; 2],
    ) -> Row {
        let Self { model, body, clock, before, f0, back, flat, .. } = *self;
        let (h, n, beta, kappa) = (clock.dt, body.len(), work.damping_time, work.drag);
        let (rotation, wind) = (back.transpose(), back * model.wind);
        let change = |i: usize| get(&work.delta, n, i);
        let mean = |i: usize| get(start, n, i) + 0.5 * change(i);
        let (mut row, mut scheme) = (before.row, 0.0);

        // Gravity: x₁ - x₀ = h u₁.
        row.gravitational -= h * model.gravity.dot(f1.momentum);
        scheme += 0.5 * h * model.gravity.dot(f1.momentum - f0.momentum);

        // Elasticity, its damping, and what the frame does against both.
        let (mut prestress_mean, prestress) = (0.0, &work.linear.prestress);
        if !prestress.is_empty() {
            prestress_mean = (0..n).map(|i| get(prestress, n, i).dot(mean(i))).sum();
        }
        let over_mean = 0.5 * (start_e + e_rate + carried_e) + 0.5 * beta * (start_rate + rate_rate + carried_rate)
            - prestress_mean;
        let by_frame = -h * (carried_e + beta * carried_rate - carried_prestress);
        let damping = h * beta * rate_rate;
        row.pin_work += by_frame;
        row.damping += damping;
        scheme += by_frame + h * over_mean - (energy1 - energy0) - damping;

        // Loads and drag.
        if !scratch.loads.is_empty() {
            let over_mean = |forces: &[DVec3]| (0..n).map(|i| (back * forces[i]).dot(mean(i))).sum::<f64>();
            let by_drives = if scratch.drives.is_empty() { 0.0 } else { h * over_mean(&scratch.drives) };
            row.load_work += h * over_mean(&scratch.loads) - by_drives;
            row.drive_work += by_drives;
        }
        let drag = |i: usize| match work.drag_force.get(i) {
            Some(&force) => back * force - kappa * body.masses[i] * change(i),
            None => DVec3::ZERO,
        };
        if !work.drag_force.is_empty() {
            for i in 0..n {
                row.drag -= h * drag(i).dot(mean(i) - wind);
                row.load_work += h * drag(i).dot(wind);
            }
        }

        // Inertial terms that are left out act like forces from nowhere.
        let own = self.fall - back * model.gravity;
        let cancel = |i: usize| {
            let [on_r, on_e, on_rate] = self.cancel;
            let (r, e, rate) = (get(&f0.reference, n, i), get(&f0.displacement, n, i), get(&f0.rate, n, i));
            body.masses[i] * (own + on_r * r + on_e * e + on_rate * rate)
        };
        if !self.still && body.terms != Default::default() {
            scheme -= h * (0..n).map(|i| cancel(i).dot(mean(i))).sum::<f64>();
        }

        // Reactions: what held nodes lack of their momentum.
        for &(node, _) in &scratch.held {
            let i = node as usize;
            let load = scratch.loads.get(i).map_or(DVec3::ZERO, |&load| back * load);
            let pull = get(&work.ke, n, i) + beta * get(&work.kr, n, i);
            let pull = if prestress.is_empty() { pull } else { pull - get(prestress, n, i) };
            let forces = body.masses[i] * (back * model.gravity) + load + drag(i) + cancel(i) - pull;
            let mut impulse = body.masses[i] * change(i) - h * forces;
            if let Some(axis) = flat {
                impulse -= axis * axis.dot(impulse);
            }
            row.pin_work += impulse.dot(get(start, n, i) + change(i));
            scheme += 0.5 * impulse.dot(change(i));
        }

        // Compliant pins and contacts.
        let velocity = |i: usize| rotation * mean(i);
        let soft = book_holds(work, h, before, f1, rotation, velocity, &mut row, &mut scheme);
        let held = stored_at_held(body, clock, before, f1, scratch);
        scheme -= soft[1] - soft[0];
        row.load_work += held[1] - held[0];
        row.scheme += scheme;
        row.elastic = energy1 + soft[1] + held[1];
        (row.contact, row.friction_energy) = (0.0, 0.0);
        row
    }
}
