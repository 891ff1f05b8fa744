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
//! A body whose pins lead its frame goes another way, see `led`.
//!
//! The account books every force by its work over the mean generalised velocities, for which
//! ΔT is exact; what potentials change otherwise is the scheme's, as is the exchange between the turning
//! frame and the displacement that the explicit terms miss.

mod books;
mod holds;
mod led;

use crate::coordinates::framed::respond::{Hold, Rigid};
use crate::coordinates::framed::{
    FramedState, Work, cross, factored::Factored, flow, get, inertia, kernels, outer, put,
};
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::model::{Body, Model};
use crate::state::BodyState;
use books::Books;
use glam::{DMat3, DQuat, DVec3};
use holds::{Rounds, finish, gather_pins};

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
    /// Part of the loads.
    drives: Wrench,
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
    let led = f0.led.is_some();
    work.follow(body, &before.memory, led);
    match work.take_factor(body, f0, clock.dt, body.terms) {
        Ok(mut factor) => {
            let advance = if led { led::advance } else { advance };
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
        drives: Wrench::default(),
        drag: Wrench::default(),
        inertial: inertial_terms(body, f0, h),
        flat: model.flat.map(|axis| (back * DVec3::AXES[axis], axis)),
    };
    for (i, &load) in scratch.loads.iter().enumerate() {
        fixed.loads.add(before.positions[i] - f0.center, load);
    }
    for (i, &drive) in scratch.drives.iter().enumerate() {
        fixed.drives.add(before.positions[i] - f0.center, drive);
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
    let mut sums = move_nodes(&fixed, f1, &mut work.delta, factor.columns_of(multipliers));
    let mut mean_turn = move_frame(&fixed, f1, &sums, &work.holds);
    let shift = DMat3::IDENTITY - fixed.flat.map_or(DMat3::ZERO, |(axis, _)| outer(axis));
    let rigid = Rigid { shift: shift * (fixed.eta * h / body.mass()), turn: inverse * (fixed.eta * h) };
    // Only pins ask for it.
    let at_reference = match work.holds.is_empty() {
        true => rigid,
        false => Rigid { turn: f0.posed_inverse(reference_inertia(body, f0)) * (fixed.eta * h), ..rigid },
    };
    let project = fixed.flat.map(|(axis, _)| axis);
    let rounds = Rounds { model, body, clock, before, scratch, back, rigid: [rigid, at_reference], project };
    let closed = rounds.close_gaps(f1, work, factor, outcome, |f1, work, factor, multipliers| {
        sums = move_nodes(&fixed, f1, &mut work.delta, factor.columns_of(multipliers));
        mean_turn = move_frame(&fixed, f1, &sums, &work.holds);
    });
    if !closed {
        return;
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
    scratch.book_pushes(&mut row, h, |i| books.mean_velocity(f1, before, i));
    finish(model, body, clock, before, state, work, &mut row, outcome);
    flow::inelastic(body, state, f1, work, factor, &mut row);
    let work_in = row.came_in() - before.row.came_in();
    let thrown = crate::contact::thrown(&before.anchors, before.row.impact, row.impact);
    outcome.created = row.stored() - before.row.stored() - work_in - thrown;
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
    let f0 = fixed.before;
    let reach = fixed.h + work.damping_time;
    let fall = if fixed.body.terms.translational { DVec3::ZERO } else { back * model.gravity };
    let start = f0.start(&fixed.body.masses, fixed.inertial);
    let drift = kernels::right_side(&start, fixed.h, fall, reach, &work.ke, &work.kr, &mut work.delta);
    add_forces(work, loads, back);
    if let Some((axis, _)) = fixed.flat {
        flatten(&mut work.delta, axis);
    }
    drift
}

/// Adds loads, drag and prestress to a right side.
fn add_forces(work: &mut Work, loads: &[DVec3], back: DMat3) {
    let (drag, prestress, n) = (&work.drag_force, &work.linear.prestress, work.delta.len() / 3);
    if !loads.is_empty() || !drag.is_empty() {
        for i in 0..n {
            let f = loads.get(i).copied().unwrap_or(DVec3::ZERO) + drag.get(i).copied().unwrap_or(DVec3::ZERO);
            let b = get(&work.delta, n, i) + back * f;
            put(&mut work.delta, n, i, b);
        }
    }
    work.delta.iter_mut().zip(prestress).for_each(|(b, f)| *b += f);
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
