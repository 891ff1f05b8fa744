//! Semi-implicit step of framed coordinates: a constant matrix, factored once for every length of step.
//!
//! ```text
//! M (ė₁ - ė₀)/h = f - K (e₁ + β ė₁) - κM (ė₁ - ė₀) - μ [Ω×(Ω×s) + 2 Ω×ė + Ω̇×s + v̇]      [TW] eq 9c
//! e₁ = e₀ + h ė₁                 Σμ e₁ = 0,  Σμ r×e₁ = 0
//! P₁ = P₀ + h F,  L₁ = L₀ + h τ   v = P/m,  ω = I⁻¹ (L - R Σμ e×ė)
//! c₁ = c₀ + h v₁                 R₁ = exp(h ω_m) R₀,  ω_m of the middle of the step
//! ```
//! First order in general; P and L of a free body to rounding; stable for every h, because what is explicit
//! is either rigid or small beside the mass. The terms of the frame: μv̇ and μω̇×r are the multipliers of
//! the two constraints, μω̇×e and the centrifugal force are taken at the start, and the Coriolis force turns
//! ė without changing its length.
//!
//! Departs from the paper: ω̇×q has its corrected sign; elastic damping acts on the new rate
//! instead of the mean of old and new, which makes stiff damped modes ring; drag of the
//! medium acts on the whole velocity of a node, its increment implicitly.
//!
//! The account books every force by its work over the mean generalised velocities, for which
//! ΔT is exact; what potentials change otherwise is the scheme's, as is the exchange between the turning
//! frame and the displacement that the explicit terms miss.

use crate::contact::Anchor;
use crate::coordinates::framed::respond::{Hold, Kind, Rigid};
use crate::coordinates::framed::{
    FramedState, Work, cross, factored::Factored, flow, get, inertia, kernels, outer, put,
};
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::ledger::Row;
use crate::model::{Body, Model};
use crate::solve::Report;
use crate::state::BodyState;
use glam::{DMat3, DQuat, DVec3};

/// Rounds of impulses: the first closes the gaps but for the turning of the frame, each other squares
/// what is left; contacts may be found in any.
const ROUNDS: usize = 10;

/// Gap of a pin that counts as closed, over the size of the body.
const CLOSED: f64 = 1e-11;

/// Fixed-point passes for the spin of the middle of the step; each gains a factor hω.
const PASSES: usize = 5;

/// Forces on the whole body.
#[derive(Clone, Copy, Default)]
struct Wrench {
    force: DVec3,
    torque: DVec3,
}

impl Wrench {
    fn add(&mut self, arm: DVec3, force: DVec3) {
        self.force += force;
        self.torque += arm.cross(force);
    }
}

/// What does not change between rounds.
struct Fixed<'a> {
    body: &'a Body,
    before: &'a FramedState,
    h: f64,
    /// 1/(1 + hκ)
    eta: f64,
    weight: DVec3,
    loads: Wrench,
    drag: Wrench,
    /// Inertial force per mass: `shape` r + `displacement` e + `rate` ė.
    inertial: [DMat3; 3],
    /// Blocked direction, body axes, and its number.
    flat: Option<(DVec3, usize)>,
}

/// Sums over nodes after a round.
#[derive(Clone, Copy, Default)]
struct Sums {
    middle: DMat3,
    end: DMat3,
    internal: DVec3,
    /// Σμ|ė₀|², Σμ|ė₁|²
    rates: [f64; 2],
    /// Work of inertial forces over the step (J).
    inertial: f64,
}

/// Advances a framed body by one step.
pub fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
) -> Outcome {
    let mut outcome = Outcome::default();
    let (Some(f0), Some(mut f1), Some(mut work)) = (before.framed.as_ref(), state.framed.take(), scratch.framed.take())
    else {
        return outcome;
    };
    work.follow(body, &before.memory);
    match work.take_factor(body, f0, clock.dt, body.terms) {
        Ok(mut factor) => {
            advance(model, body, clock, before, state, scratch, &mut f1, &mut work, &mut factor, &mut outcome);
            work.keep(factor);
        }
        Err(report) => outcome.solve = Some(report),
    }
    (state.framed, scratch.framed) = (Some(f1), Some(work));
    outcome
}

#[allow(clippy::too_many_arguments)] // the parts of one step, taken apart for borrowing
fn advance(
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
    let h = clock.dt;
    let Some(f0) = before.framed.as_ref() else { return };
    let energy0 = match work.valid {
        Some(energy) => energy,
        None => work.evaluate(f0),
    };
    work.valid = None;
    scratch.find_normals(body, &before.positions);
    scratch.find_loads(body, clock.time + h, &before.positions);
    scratch.hold(body, clock.time + h);
    let back = DMat3::from_quat(f0.rotation).transpose();
    let mut fixed = Fixed {
        body,
        before: f0,
        h,
        eta: 1.0 / (1.0 + h * work.drag),
        weight: body.mass() * model.gravity,
        loads: Wrench::default(),
        drag: Wrench::default(),
        inertial: inertial_terms(body, f0, h),
        flat: model.flat.map(|axis| (back * DVec3::AXES[axis], axis)),
    };
    for (i, &load) in scratch.loads.iter().enumerate() {
        fixed.loads.add(before.positions[i] - f0.center, load);
    }
    for i in 0..work.drag_force.len() {
        let force = -(scratch.drag(body, i) * (before.velocities[i] - model.wind));
        work.drag_force[i] = force;
        fixed.drag.add(before.positions[i] - f0.center, force);
    }
    gather_pins(body, clock, scratch, work);

    let drift = right_side(&fixed, model, work, &scratch.loads, back);
    outcome.solve = Some(factor.solve(&mut work.delta));
    if let Some((axis, _)) = fixed.flat {
        flatten(&mut work.delta, axis);
    }
    let start = f0.start(&body.masses, fixed.inertial);
    let rigid = kernels::rigid_part(&start, &work.delta);
    let multipliers = factor.multipliers(std::array::from_fn(|k| rigid[k] + drift[k]));

    // Rounds of impulses.
    let inverse = f0.posed_inverse(f0.inertia);
    let solid = model.obstacles.iter().any(|o| !o.removed);
    let mut sums = move_nodes(&fixed, f1, &mut work.delta, factor.columns_of(multipliers));
    let mut mean_turn = move_frame(&fixed, f1, &sums, &work.holds);
    if solid || !work.holds.is_empty() {
        let shift = DMat3::IDENTITY - fixed.flat.map_or(DMat3::ZERO, |(axis, _)| outer(axis));
        let rigid = Rigid { shift: shift * (fixed.eta * h / body.mass()), turn: inverse * (fixed.eta * h) };
        let at_reference = Rigid { turn: f0.posed_inverse(reference_inertia(body, f0)) * (fixed.eta * h), ..rigid };
        work.response.begin();
        let near = model.obstacles.iter().map(|o| 1e-6 * o.tolerance).fold(1e-9, f64::min);
        for round in 0..ROUNDS {
            let left = measure_gaps(model, clock, before, f1, back, &mut work.holds);
            let found = solid && find_contacts(model, body, clock, before, f1, back, scratch, &mut work.holds);
            let close = match solid && work.holds.iter().any(|h| matches!(h.kind, Kind::Contact { .. })) {
                true => near,
                false => CLOSED * body.extent(),
            };
            if !found && (left <= close || work.holds.is_empty()) || round + 1 == ROUNDS {
                break;
            }
            match factor.know(work.holds.iter().map(|hold| hold.node)) {
                Some(report) => outcome.solve = Some(report.after(outcome.solve)),
                None => {
                    outcome.solve = Some(Report { residual: left, ..Report::default() });
                    return;
                }
            }
            let shape = [&f0.reference[..], &f0.displacement[..]];
            let project = fixed.flat.map(|(axis, _)| axis);
            work.response.solve(&mut work.holds, factor, rigid, at_reference, shape, project);
            let new = work.holds.iter().map(|hold| (hold.node, hold.impulse - hold.applied));
            let multipliers = factor.kick(new, &mut work.delta);
            work.holds.iter_mut().for_each(|hold| hold.applied = hold.impulse);
            sums = move_nodes(&fixed, f1, &mut work.delta, factor.columns_of(multipliers));
            mean_turn = move_frame(&fixed, f1, &sums, &work.holds);
        }
    }
    f1.inertia = sums.end;
    f1.internal = sums.internal;
    f1.settle_spin();
    f1.spin_change = f1.spin - f0.spin;

    let kinetic = f1.place(body, &mut state.positions, &mut state.velocities);
    let products = work.linear.products([&f1.displacement, &f1.rate], &f0.rate, &mut work.ke, &mut work.kr);
    let energy1 = 0.5 * products[0] - work.prestress_work(&f1.displacement);
    work.valid = Some(energy1);
    let books = Books { fixed: &fixed, work, sums: &sums, mean_turn, products, energies: [energy0, energy1], kinetic };
    let mut row = books.close(model, clock, before, f1, scratch);
    finish(model, body, clock, before, state, work, &mut row, outcome);
    flow::inelastic(body, state, f1, work, factor, &mut row);
    let work_in = (row.pin_work - before.row.pin_work) + (row.load_work - before.row.load_work);
    outcome.created = row.stored() - before.row.stored() - work_in;
    row.exchanged += (row.kinetic - before.row.kinetic).abs();
    state.row = row;
}

/// Inertial force per mass as matrices on r, e and ė (see the header).
fn inertial_terms(body: &Body, f0: &FramedState, h: f64) -> [DMat3; 3] {
    let zero = |wanted: bool, matrix: DMat3| if wanted { matrix } else { DMat3::ZERO };
    let w = cross(f0.spin);
    let centrifugal = zero(body.terms.centrifugal, w * w * -1.0);
    let turned = DMat3::from_quat(DQuat::from_scaled_axis(-2.0 * h * f0.spin)) - DMat3::IDENTITY;
    let coriolis = zero(body.terms.coriolis, turned * (1.0 / h));
    let transverse = zero(body.terms.transverse, cross(f0.spin_change) * (-1.0 / h));
    [centrifugal, centrifugal + transverse, coriolis]
}

fn reference_inertia(body: &Body, f0: &FramedState) -> DMat3 {
    let (n, mut s) = (body.len(), [0.0; 6]);
    for i in 0..n {
        let (m, r) = (body.masses[i], get(&f0.reference, n, i));
        let terms = [r.x * r.x, r.y * r.y, r.z * r.z, r.y * r.z, r.z * r.x, r.x * r.y];
        (0..6).for_each(|k| s[k] += m * terms[k]);
    }
    inertia(s)
}

/// b = f + inertial forces - K (e₀ + (h + β) ė₀), into `work.delta`; returns what e₀/h + ė₀ has of rigid motions.
fn right_side(fixed: &Fixed, model: &Model, work: &mut Work, loads: &[DVec3], back: DMat3) -> [f64; 6] {
    let (n, f0) = (fixed.body.len(), fixed.before);
    let reach = fixed.h + work.damping_time;
    let fall = if fixed.body.terms.translational { DVec3::ZERO } else { back * model.gravity };
    let start = f0.start(&fixed.body.masses, fixed.inertial);
    let drift = kernels::right_side(&start, fixed.h, fall, reach, &work.ke, &work.kr, &mut work.delta);
    let (drag, prestress) = (&work.drag_force, &work.linear.prestress);
    if !loads.is_empty() || !drag.is_empty() {
        for i in 0..n {
            let f = loads.get(i).copied().unwrap_or(DVec3::ZERO) + drag.get(i).copied().unwrap_or(DVec3::ZERO);
            let b = get(&work.delta, n, i) + back * f;
            put(&mut work.delta, n, i, b);
        }
    }
    work.delta.iter_mut().zip(prestress).for_each(|(b, f)| *b += f);
    if let Some((axis, _)) = fixed.flat {
        flatten(&mut work.delta, axis);
    }
    drift
}

/// Takes the components along a direction out.
fn flatten(planes: &mut [f64], axis: DVec3) {
    let n = planes.len() / 3;
    for i in 0..n {
        let v = get(planes, n, i);
        put(planes, n, i, v - axis * axis.dot(v));
    }
}

/// δ without its rigid part, e₁ and ė₁, and the sums of what follows.
fn move_nodes(fixed: &Fixed, f1: &mut FramedState, delta: &mut [f64], mut y: [[(f64, &[f64]); 6]; 3]) -> Sums {
    if let Some((axis, _)) = fixed.flat {
        for (plane, columns) in delta.chunks_exact_mut(fixed.body.len()).zip(&mut y) {
            for (c, y) in columns {
                plane.iter_mut().zip(*y).for_each(|(d, y)| *d -= *c * y);
                *c = 0.0;
            }
        }
        flatten(delta, axis);
    }
    let start = fixed.before.start(&fixed.body.masses, fixed.inertial);
    let h = fixed.h;
    let s = kernels::advance(&start, h, &y, delta, &mut f1.displacement, &mut f1.rate);
    let six = |from: usize| inertia(std::array::from_fn(|k| s[from + k]));
    Sums {
        middle: six(0),
        end: six(6),
        internal: DVec3::new(s[12], s[13], s[14]),
        rates: [s[15], s[16]],
        inertial: 0.5 * h * s[17],
    }
}

/// Momenta, centre and orientation at the end; returns the mean spin for the account (rad/s, world).
fn move_frame(fixed: &Fixed, f1: &mut FramedState, sums: &Sums, holds: &[Hold]) -> DVec3 {
    let (f0, h) = (fixed.before, fixed.h);
    let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
    let n = fixed.body.len();
    for hold in holds {
        let i = hold.node as usize;
        let arm = get(&f0.reference, n, i) + get(&f0.displacement, n, i);
        push += hold.applied;
        torque += arm.cross(hold.applied);
    }
    let (loads, drag) = (fixed.loads, fixed.drag);
    f1.momentum = f0.momentum + fixed.eta * (h * (fixed.weight + loads.force + drag.force) + f0.rotation * push);
    f1.angular_momentum = f0.angular_momentum + fixed.eta * (h * (loads.torque + drag.torque) + f0.rotation * torque);
    (f1.loose, f1.planar) = (f0.loose, fixed.flat.map(|(axis, _)| axis));
    if let Some((_, axis)) = fixed.flat {
        f1.momentum[axis] = 0.0;
        let along = f1.angular_momentum[axis];
        f1.angular_momentum = DVec3::ZERO;
        f1.angular_momentum[axis] = along;
    }
    f1.center = f0.center + h * f1.momentum / fixed.body.mass();
    // ω of the middle: its own orientation and shape, the momentum of the end.
    let inverse = f1.posed_inverse(sums.middle);
    let spin = |rotation: DQuat| rotation * (inverse * (rotation.inverse() * f1.angular_momentum - sums.internal));
    let mut turning = spin(f0.rotation);
    for _ in 0..PASSES {
        turning = spin((DQuat::from_scaled_axis(0.5 * h * turning) * f0.rotation).normalize());
    }
    f1.rotation = (DQuat::from_scaled_axis(h * turning) * f0.rotation).normalize();
    let kicked = f1.posed_inverse(f0.inertia) * (f0.rotation.inverse() * f1.angular_momentum - f0.internal);
    f0.rotation * (0.5 * (f0.spin + kicked))
}

/// Pins of this step, without impulses.
fn gather_pins(body: &Body, clock: Clock, scratch: &Scratch, work: &mut Work) {
    work.holds.clear();
    let (mut held, end) = (scratch.held.iter().peekable(), clock.time + clock.dt);
    let hold = |node: u32, target: DVec3, from: DVec3, compliance: f64| Hold {
        node,
        kind: Kind::Pin { target, from, compliance },
        impulse: DVec3::ZERO,
        applied: DVec3::ZERO,
        gap: DVec3::ZERO,
    };
    for pin in &body.pins {
        for (k, &node) in pin.nodes.iter().enumerate() {
            match pin.stiffness {
                None => {
                    // The first pin of a node holds it: `held` has them in this order.
                    if held.next_if(|h| h.0 == node && h.1 == pin.target(k, end)).is_some() {
                        work.holds.push(hold(node, pin.target(k, end), pin.target(k, clock.time), 0.0));
                    }
                }
                Some(stiffness) if scratch.free[node as usize] && stiffness > 0.0 => {
                    work.holds.push(hold(node, pin.target(k, end), pin.target(k, clock.time), 1.0 / stiffness));
                }
                Some(_) => {}
            }
        }
    }
}

fn end_position(f1: &FramedState, node: u32) -> DVec3 {
    let (n, i) = (f1.rate.len() / 3, node as usize);
    f1.center + f1.rotation * (get(&f1.reference, n, i) + get(&f1.displacement, n, i))
}

/// Gaps at the end of the step; returns the largest that an impulse should have closed (m).
fn measure_gaps(
    model: &Model,
    clock: Clock,
    before: &BodyState,
    f1: &FramedState,
    back: DMat3,
    holds: &mut [Hold],
) -> f64 {
    let mut worst = 0.0f64;
    for hold in holds {
        let x = end_position(f1, hold.node);
        match &mut hold.kind {
            Kind::Pin { target, compliance, .. } => {
                hold.gap = back * (*target - x);
                worst = worst.max((hold.gap - *compliance / clock.dt * hold.impulse).length());
            }
            Kind::Contact { obstacle, point, normal, outwards, surface, fixed, .. } => {
                let index = *obstacle as usize;
                let start = before.positions[hold.node as usize];
                if !*fixed {
                    let gap = model.obstacles[index].gap(x, &clock.after[index]);
                    let from = model.obstacles[index].gap(start, &clock.before[index]).distance;
                    (*normal, *outwards) = (gap.normal, back * gap.normal);
                    *point = x - gap.normal * (gap.distance - allowed(from, clock.dt));
                }
                let n = *normal;
                let (into, moved) = ((*point - x).dot(n), x - start - *surface);
                hold.gap = back * (into * n - (moved - moved.dot(n) * n));
                worst = worst.max(if hold.impulse.dot(*outwards) > 0.0 { into.abs() } else { into });
            }
        }
    }
    worst
}

/// Distance a node may end at that starts at another (m): depth is given back gently.
fn allowed(start: f64, dt: f64) -> f64 {
    if start >= 0.0 { 0.0 } else { start + (0.2 * -start).min(dt) }
}

/// Adds nodes that end in an obstacle, or pass through one; whether there are new ones.
#[allow(clippy::too_many_arguments)]
fn find_contacts(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    f1: &FramedState,
    back: DMat3,
    scratch: &Scratch,
    holds: &mut Vec<Hold>,
) -> bool {
    let old = holds.len();
    for i in (0..body.len()).filter(|&i| scratch.free[i]) {
        let (start, end) = (before.positions[i], end_position(f1, i as u32));
        for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| !o.removed) {
            let (from, to) = (&clock.before[index], &clock.after[index]);
            if let Some(radius) = obstacle.bounding_radius()
                && (start - from.position).length()
                    > radius + (end - start).length() + (to.position - from.position).length()
            {
                continue;
            }
            let local = |pose: &crate::animate::Pose, p: DVec3| pose.rotation.inverse() * (p - pose.position);
            let (local_start, local_end) = (local(from, start), local(to, end));
            let entered = ((local_end - local_start).length() >= 0.5 * obstacle.thickness())
                .then(|| obstacle.first_touch(start, end, from, to))
                .flatten();
            let gap = entered.map_or_else(|| obstacle.gap(end, to), |(_, gap)| gap);
            let at_start = obstacle.gap(start, from).distance;
            if entered.is_none() && gap.distance >= allowed(at_start, clock.dt) {
                continue;
            }
            let known = |h: &Hold| {
                h.node as usize == i && matches!(h.kind, Kind::Contact { obstacle, .. } if obstacle as usize == index)
            };
            if holds.iter().any(known) {
                continue;
            }
            let point = match entered {
                Some((fraction, _)) => to.position + to.rotation * local_start.lerp(local_end, fraction),
                None => end - gap.normal * (gap.distance - allowed(at_start, clock.dt)),
            };
            let surface = clock.dt * obstacle.surface_velocity(start, from);
            let (n, moved) = (gap.normal, end - start - surface);
            holds.push(Hold {
                node: i as u32,
                kind: Kind::Contact {
                    obstacle: index as u32,
                    point,
                    normal: n,
                    outwards: back * n,
                    surface,
                    friction: obstacle.friction.max(body.material.card.friction),
                    fixed: entered.is_some(),
                },
                impulse: DVec3::ZERO,
                applied: DVec3::ZERO,
                gap: back * ((point - end).dot(n) * n - (moved - moved.dot(n) * n)),
            });
        }
    }
    holds.len() > old
}

/// All that the account needs.
struct Books<'a> {
    fixed: &'a Fixed<'a>,
    work: &'a Work,
    sums: &'a Sums,
    mean_turn: DVec3,
    /// e·Ke, e·Kė, ė·Kė, ė₀·Ke, ė₀·Kė at the end.
    products: [f64; 5],
    energies: [f64; 2],
    kinetic: f64,
}

impl Books<'_> {
    fn close(&self, model: &Model, clock: Clock, before: &BodyState, f1: &FramedState, scratch: &Scratch) -> Row {
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
            let on_e: f64 = (0..n).map(|i| scratch.loads[i].dot(rotation * mean_rate(i))).sum();
            row.load_work += h * (fixed.loads.force.dot(mean) + fixed.loads.torque.dot(turn) + on_e);
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
        let mut soft = [0.0; 2];
        for hold in &work.holds {
            let i = hold.node as usize;
            let arm = before.positions[i] - f0.center;
            let velocity = mean + turn.cross(arm) + rotation * mean_rate(i);
            let impulse = rotation * hold.applied;
            match hold.kind {
                Kind::Pin { target, from, compliance } if compliance > 0.0 => {
                    let moving = impulse.dot(target - from) / h;
                    soft[0] += 0.5 * from.distance_squared(before.positions[i]) / compliance;
                    soft[1] += 0.5 * target.distance_squared(end_position(f1, hold.node)) / compliance;
                    row.pin_work += moving;
                    scheme += moving - impulse.dot(velocity);
                }
                Kind::Pin { target, .. } => {
                    let moving = impulse.dot(target - before.positions[i]) / h;
                    row.pin_work += moving;
                    scheme += moving - impulse.dot(velocity);
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
        // A compliant pin on a held node stores nothing that moves here.
        let mut held = [0.0; 2];
        for (k, (time, x)) in [(clock.time, None), (clock.time + h, Some(f1))].into_iter().enumerate() {
            for pin in body.pins.iter().filter(|p| p.stiffness.is_some()) {
                for (j, &node) in pin.nodes.iter().enumerate() {
                    if !scratch.free[node as usize] {
                        let at = x.map_or(before.positions[node as usize], |f| end_position(f, node));
                        held[k] += 0.5 * pin.stiffness.unwrap_or(0.0) * pin.target(j, time).distance_squared(at);
                    }
                }
            }
        }
        scheme -= soft[1] - soft[0];
        row.load_work += held[1] - held[0];
        row.scheme += scheme;
        row.kinetic = self.kinetic;
        row.elastic = self.energies[1] + soft[1] + held[1];
        (row.contact, row.friction_energy) = (0.0, 0.0);
        row
    }
}

/// Displacement, depth, finiteness and who touches what.
#[allow(clippy::too_many_arguments)]
fn finish(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    work: &Work,
    row: &mut Row,
    outcome: &mut Outcome,
) {
    let (furthest, total) = kernels::furthest(&before.positions, &state.positions);
    outcome.displacement = furthest.sqrt();
    // Which node it was is asked for only where it went far, or where something is not finite.
    if !(total.is_finite() && row.kinetic.is_finite() && outcome.displacement < 0.02 * body.extent()) {
        crate::integrate::account::find_extremes(body, before, state, outcome);
    }
    state.anchors.clear();
    for hold in &work.holds {
        if let Kind::Contact { obstacle, outwards, .. } = hold.kind
            && hold.impulse.dot(outwards) > 0.0
        {
            let pose = &clock.after[obstacle as usize];
            let local = pose.rotation.inverse() * (state.positions[hold.node as usize] - pose.position);
            state.anchors.push(Anchor { node: hold.node, obstacle, local });
        }
    }
    state.anchors.sort_unstable_by_key(|a| (a.node, a.obstacle));
    row.contacts = state.anchors.len() as u32;
    if model.obstacles.iter().any(|o| !o.removed) {
        for &x in &state.positions {
            for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| !o.removed) {
                let depth = -obstacle.gap(x, &clock.after[index]).distance;
                outcome.depth = outcome.depth.max(depth);
                row.worst_penetration = row.worst_penetration.max(depth);
            }
        }
    }
}
