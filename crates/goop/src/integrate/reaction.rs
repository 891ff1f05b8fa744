//! Bones that feel their flesh: blocks that forces drive and that the body's own forces push back.
//!
//! The thesis moves such a block by its own mass and forces alone (5.1). Here its nodes are a rigid set of point
//! masses m' = m + M m / Σm, M the mass of the block, and the step is that of the whole:
//! ```text
//! Σ m' v₁ = Σ m' v₀ + J           J = what elasticity, damping, loads and weight give its nodes in the step, and pushes
//! Σ m' q₀ × q₁ = h (Σ m' q₀ × v₀ + Σ q₀ × J),   q₁ = exp(θ) q₀,  v₁ = (x₁ - x₀) / h
//! ```
//! q are the arms from the centre. The second line is angular momentum whether its arms are taken before or after the step, so
//! with forces at the start both momenta of block and flesh together stay to rounding, and nothing has to be remembered beside
//! the nodes.
//!
//! Backward Euler takes J at the end of the step, where it depends on how the block moves: with A the matrix of the
//! step, f the free nodes and h those of blocks, blocks that go w faster than was guessed need
//! ```text
//! (M' + Bᵀ [A_hh - A_hf A_ff⁻¹ A_fh] B) w = what their momenta lack,       B w = w_v + w_ω × q₀
//! ```
//! six unknowns a block, by conjugate gradients whose every product is a solve of the flesh. So light bones in heavy flesh are
//! as stable as the flesh itself; a reaction that lags a step behind is not.
//!
//! A block that is told how fast to turn turns so, whatever pulls at it.

use crate::animate::{Block, Pose};
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::drive::posture::Posture;
use crate::integrate::implicit;
use crate::model::{Axes, Body, Coordinates, Integrator, Model, Pin};
use crate::solve::{Settings, Start};
use crate::state::BodyState;
use glam::{DMat3, DQuat, DVec3};

/// Solves of the flesh are at least this good, or the iteration over blocks would not end.
const INNER: f64 = 1e-9;
/// What momenta of blocks may lack at the end, beside what they lacked before.
const TOLERANCE: f64 = 1e-8;
/// Inertia about an axis that is less than this share of the whole is none.
const NO_INERTIA: f64 = 1e-9;

/// A block in one step.
struct Bound {
    nodes: Vec<u32>,
    /// m' (kg).
    masses: Vec<f64>,
    /// q₀ (m).
    arms: Vec<DVec3>,
    center: DVec3,
    mass: f64,
    inertia: DMat3,
    /// Σ m' v₀ and Σ m' q₀ × v₀.
    momenta: [DVec3; 2],
    /// What pushes give it, and its weight if that is not carried (N s).
    push: DVec3,
    /// Gravity that its nodes do not feel, because it is carried (m/s²).
    carried: DVec3,
    /// How fast it is told to turn (rad/s).
    told: Option<DVec3>,
}

/// Whether flesh can push back on blocks with this choice of axes.
pub fn possible(axes: Axes, by_parts: bool) -> bool {
    axes.coordinates == Coordinates::Nodal
        && !matches!(axes.integrator, Integrator::ImplicitMidpoint | Integrator::Bdf2)
        && !by_parts
}

/// Whether a body has blocks that its flesh pushes back.
pub(crate) fn acts(body: &Body) -> bool {
    possible(body.axes, body.by_parts) && body.pins.iter().any(|pin| block(pin).is_some())
}

fn block(pin: &Pin) -> Option<&Block> {
    pin.motion.block().filter(|_| pin.stiffness.is_none() && !pin.nodes.is_empty())
}

/// Where a pin is whose block goes its own way, told from its nodes; as [`Motion::at`](crate::animate::Motion::at) for one
/// that does not.
pub(crate) fn pose(body: &Body, pin: &Pin, positions: &[DVec3], time: f64) -> Pose {
    if block(pin).is_none() || !possible(body.axes, body.by_parts) {
        return pin.motion.at(time);
    }
    let masses: Vec<f64> = pin.nodes.iter().map(|&i| body.masses[i as usize]).collect();
    let x: Vec<DVec3> = pin.nodes.iter().map(|&i| positions[i as usize]).collect();
    let still = vec![DVec3::ZERO; x.len()];
    let fit = Posture::of(&masses, &pin.targets, &x, &still);
    // place() is pivot + position + rotation (target - pivot)
    let position = fit.center - fit.rotation * (fit.rest_center - pin.pivot) - pin.pivot;
    Pose { position, rotation: fit.rotation, velocity: DVec3::ZERO, spin: DVec3::ZERO }
}

fn bind(model: &Model, body: &Body, clock: Clock, before: &BodyState) -> Vec<Bound> {
    let mut taken = vec![false; body.len()];
    let mut out = Vec::new();
    for pin in body.pins.iter().filter(|p| p.stiffness.is_none()) {
        let own: Vec<u32> =
            pin.nodes.iter().copied().filter(|&i| !std::mem::replace(&mut taken[i as usize], true)).collect();
        let Some(block) = block(pin).filter(|_| !own.is_empty()) else { continue };
        let flesh: f64 = own.iter().map(|&i| body.masses[i as usize]).sum();
        let masses: Vec<f64> = own.iter().map(|&i| body.masses[i as usize] * (1.0 + block.mass() / flesh)).collect();
        let mass = masses.iter().sum::<f64>();
        let each = || own.iter().map(|&i| i as usize).zip(&masses);
        let center = each().map(|(i, m)| *m * before.positions[i]).sum::<DVec3>() / mass;
        let arms: Vec<DVec3> = own.iter().map(|&i| before.positions[i as usize] - center).collect();
        let inertia = arms.iter().zip(&masses).fold(DMat3::ZERO, |sum, (q, m)| {
            sum + (DMat3::from_diagonal(DVec3::splat(q.length_squared())) - outer(*q, *q)) * *m
        });
        let during = block.during(clock.time, clock.dt);
        let velocity = |i: usize| if during.stop { DVec3::ZERO } else { before.velocities[i] };
        let momentum = each().map(|(i, m)| *m * velocity(i)).sum();
        let turning = each().zip(&arms).map(|((i, m), q)| q.cross(*m * velocity(i))).sum();
        let weight = if during.held { DVec3::ZERO } else { model.gravity * block.mass() };
        out.push(Bound {
            masses,
            arms,
            center,
            mass,
            inertia,
            momenta: [momentum, turning],
            push: during.impulse + clock.dt * weight,
            carried: if during.held { model.gravity } else { DVec3::ZERO },
            told: block.turns().then_some(during.turn),
            nodes: own,
        });
    }
    out
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Bound {
    /// Velocity of the centre and turn over the step, for impulses on the block and their moment (N s, N m s).
    fn moves(&self, h: f64, [push, twist]: [DVec3; 2]) -> (DVec3, DVec3) {
        let velocity = (self.momenta[0] + push) / self.mass;
        let turn = match self.told {
            Some(spin) => h * spin,
            None => self.turned(h * (self.momenta[1] + twist)),
        };
        (velocity, turn)
    }

    /// θ with Σ m' q₀ × exp(θ) q₀ as wanted.
    fn turned(&self, wanted: DVec3) -> DVec3 {
        let inverse = self.invert();
        let mut turn = inverse * wanted;
        for _ in 0..50 {
            let rotation = DQuat::from_scaled_axis(turn);
            let now: DVec3 = self.arms.iter().zip(&self.masses).map(|(q, m)| *m * q.cross(rotation * *q)).sum();
            let more = inverse * (wanted - now);
            turn += more;
            if more.length() <= 1e-15 * turn.length() {
                break;
            }
        }
        turn
    }

    /// The inverse of the inertia; nothing about axes that have none.
    fn invert(&self) -> DMat3 {
        let trace = self.inertia.x_axis.x + self.inertia.y_axis.y + self.inertia.z_axis.z;
        if trace <= 0.0 {
            return DMat3::ZERO;
        }
        if self.inertia.determinant() > NO_INERTIA * trace.powi(3) {
            return self.inertia.inverse();
        }
        // All nodes on a line: its two other axes have half the trace each.
        let line =
            (self.arms.iter()).fold(DVec3::ZERO, |a, q| if q.length_squared() > a.length_squared() { *q } else { a });
        let along = line.normalize_or_zero();
        (DMat3::IDENTITY - outer(along, along)) * (2.0 / trace)
    }

    fn free_to_turn(&self) -> bool {
        self.told.is_none()
    }

    /// Sets where its nodes must be at the end.
    fn hold(&self, h: f64, (velocity, turn): (DVec3, DVec3), held: &mut [(u32, DVec3)]) {
        let (rotation, center) = (DQuat::from_scaled_axis(turn), self.center + h * velocity);
        for (node, target) in held {
            if let Some(k) = self.nodes.iter().position(|n| n == node) {
                *target = center + rotation * self.arms[k];
            }
        }
    }
}

/// Sets where the nodes of blocks must be at the end of a step: for good where forces are those at the start, as a guess
/// where they are those at the end. What comes back is for [`correct`] and [`finish`].
pub(crate) fn begin(model: &Model, body: &Body, clock: Clock, before: &BodyState, scratch: &mut Scratch) {
    let h = clock.dt;
    for bound in bind(model, body, clock, before) {
        let mut given = [bound.push, DVec3::ZERO];
        for (k, &node) in bound.nodes.iter().enumerate() {
            let i = node as usize;
            let mut force = body.masses[i] * (model.gravity - bound.carried);
            if !body.axes.integrator.implicit() {
                force += scratch.now.elastic[i] + scratch.now.damping.get(i).copied().unwrap_or(DVec3::ZERO);
                force += scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
                force -= scratch.drag(body, i) * (before.velocities[i] - model.wind);
            }
            given[0] += h * force;
            given[1] += bound.arms[k].cross(h * force);
        }
        let (mut velocity, turn) = bound.moves(h, given);
        if body.axes.integrator == Integrator::ExplicitTaylor {
            velocity = 0.5 * (velocity + bound.momenta[0] / bound.mass);
        }
        bound.hold(h, (velocity, turn), &mut scratch.held);
    }
}

/// After a step whose positions go by the mean of two velocities: the velocity at its end.
pub(crate) fn finish(model: &Model, body: &Body, clock: Clock, before: &BodyState, state: &mut BodyState) {
    if body.axes.integrator != Integrator::ExplicitTaylor {
        return;
    }
    for bound in bind(model, body, clock, before) {
        let mean: DVec3 =
            bound.nodes.iter().zip(&bound.masses).map(|(&i, m)| *m * state.velocities[i as usize]).sum::<DVec3>()
                / bound.mass;
        let more = mean - bound.momenta[0] / bound.mass;
        bound.nodes.iter().for_each(|&i| state.velocities[i as usize] += more);
    }
}

/// A backward Euler step of body and blocks together.
pub(crate) fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    outcome: &mut Outcome,
) {
    let h = clock.dt;
    let bounds = bind(model, body, clock, before);
    let (rounds, mut first) = (body.newton.max(1), 0.0f64);
    for round in 0..rounds {
        implicit::step(model, body, clock, before, state, scratch, outcome);
        let Some(matrix) = scratch.matrix.take() else { return };
        scratch.everywhere.resize(body.len(), true);
        let mut product = vec![DVec3::ZERO; body.len()];
        matrix.product(&scratch.everywhere, &scratch.delta, &mut product);
        let mut lacking = Vec::with_capacity(6 * bounds.len());
        for bound in &bounds {
            let [push, twist] = given(body, h, bound, before, state, scratch, &product);
            let mut has = [DVec3::ZERO; 2];
            for ((&node, m), q) in bound.nodes.iter().zip(&bound.masses).zip(&bound.arms) {
                let i = node as usize;
                let momentum = *m * (state.positions[i] - before.positions[i]) / h;
                has = [has[0] + momentum, has[1] + q.cross(momentum)];
            }
            lacking.push(bound.momenta[0] + push - has[0]);
            let twist = bound.momenta[1] + twist - has[1];
            lacking.push(if bound.free_to_turn() { twist } else { DVec3::ZERO });
        }
        let size = norm(&bounds, &lacking);
        first = first.max(size);
        let last = round + 1 == rounds || (rounds > 1 && size <= TOLERANCE * first);
        let mut flesh =
            Flesh { body, bounds: &bounds, scratch: &mut *scratch, matrix: &matrix, outcome: &mut *outcome };
        let (correction, moved) = flesh.solve(&lacking);
        if last {
            // The step as it was solved, with what blocks need added.
            for i in 0..body.len() {
                scratch.delta[i] += moved[i];
                if scratch.free[i] {
                    state.velocities[i] += moved[i];
                    state.positions[i] += h * moved[i];
                }
            }
            matrix.product(&scratch.everywhere, &scratch.delta, &mut product);
            let given: Vec<[DVec3; 2]> =
                bounds.iter().map(|bound| given(body, h, bound, before, state, scratch, &product)).collect();
            if body.newton <= 1 {
                implicit::forces_used(body, h, &matrix, scratch, false);
            }
            for (bound, given) in bounds.iter().zip(given) {
                bound.hold(h, bound.moves(h, given), &mut scratch.held);
            }
            for &(node, target) in &scratch.held {
                let i = node as usize;
                state.positions[i] = target;
                state.velocities[i] = (target - before.positions[i]) / h;
            }
            scratch.matrix = Some(matrix);
            return;
        }
        for (b, bound) in bounds.iter().enumerate() {
            let mut center = DVec3::ZERO;
            for (&node, m) in bound.nodes.iter().zip(&bound.masses) {
                center += *m * state.positions[node as usize] / bound.mass;
            }
            let turn = turn_between(bound, &state.positions) + h * correction[2 * b + 1];
            bound.hold(h, ((center - bound.center) / h + correction[2 * b], turn), &mut scratch.held);
        }
        scratch.matrix = Some(matrix);
    }
}

/// What the nodes of a block get in a step, from A δ (`product`); their positions are still those guessed.
fn given(
    body: &Body,
    h: f64,
    bound: &Bound,
    before: &BodyState,
    state: &BodyState,
    scratch: &Scratch,
    product: &[DVec3],
) -> [DVec3; 2] {
    let mut sum = [bound.push, DVec3::ZERO];
    for (&node, q) in bound.nodes.iter().zip(&bound.arms) {
        let i = node as usize;
        let velocity = (state.positions[i] - before.positions[i]) / h + scratch.delta[i];
        let change = velocity - before.velocities[i] - h * bound.carried;
        let impulse = scratch.right[i] - product[i] + body.masses[i] * change;
        sum = [sum[0] + impulse, sum[1] + q.cross(impulse)];
    }
    sum
}

/// The turn from q₀ to where the nodes are.
fn turn_between(bound: &Bound, positions: &[DVec3]) -> DVec3 {
    let x: Vec<DVec3> = bound.nodes.iter().map(|&i| positions[i as usize]).collect();
    let still = vec![DVec3::ZERO; x.len()];
    Posture::of(&bound.masses, &bound.arms, &x, &still).rotation.to_scaled_axis()
}

/// Momenta in one unit: Σ |p|²/m + |l|²/I.
fn norm(bounds: &[Bound], momenta: &[DVec3]) -> f64 {
    let each = bounds.iter().zip(momenta.chunks(2));
    each.map(|(b, p)| p[0].length_squared() / b.mass + p[1].dot(b.invert() * p[1])).sum::<f64>().max(0.0).sqrt()
}

/// The flesh around blocks, as they feel it in one linearised step.
struct Flesh<'a> {
    body: &'a Body,
    bounds: &'a [Bound],
    scratch: &'a mut Scratch,
    matrix: &'a crate::solve::BlockMatrix,
    outcome: &'a mut Outcome,
}

impl Flesh<'_> {
    /// Velocities that blocks need beyond those guessed, two vectors each; and what all nodes then do more (m/s).
    fn solve(&mut self, lacking: &[DVec3]) -> (Vec<DVec3>, Vec<DVec3>) {
        let n = self.body.len();
        let (mut found, mut moved) = (vec![DVec3::ZERO; lacking.len()], vec![DVec3::ZERO; n]);
        let mut residual = lacking.to_vec();
        let mut toward = self.precondition(&residual);
        let mut product = dot(&residual, &toward);
        let enough = TOLERANCE * TOLERANCE * product;
        for _ in 0..6 * self.bounds.len() + 6 {
            if product <= enough || product <= 0.0 {
                break;
            }
            let (response, with) = self.apply(&toward);
            let curvature = dot(&toward, &response);
            if curvature <= 0.0 || !curvature.is_finite() {
                break;
            }
            let share = product / curvature;
            for k in 0..found.len() {
                found[k] += share * toward[k];
                residual[k] -= share * response[k];
            }
            moved.iter_mut().zip(&with).for_each(|(sum, d)| *sum += share * *d);
            let next = self.precondition(&residual);
            let after = dot(&residual, &next);
            toward.iter_mut().zip(&next).for_each(|(t, z)| *t = *z + after / product * *t);
            product = after;
        }
        (found, moved)
    }

    fn precondition(&self, momenta: &[DVec3]) -> Vec<DVec3> {
        let each = self.bounds.iter().zip(momenta.chunks(2));
        each.flat_map(|(b, p)| [p[0] / b.mass, if b.free_to_turn() { b.invert() * p[1] } else { DVec3::ZERO }])
            .collect()
    }

    /// Momenta that it takes to move the blocks so, and what all nodes do then.
    fn apply(&mut self, velocities: &[DVec3]) -> (Vec<DVec3>, Vec<DVec3>) {
        let (n, matrix) = (self.body.len(), self.matrix);
        let mut with = vec![DVec3::ZERO; n];
        for (bound, w) in self.bounds.iter().zip(velocities.chunks(2)) {
            for (&node, q) in bound.nodes.iter().zip(&bound.arms) {
                with[node as usize] = w[0] + w[1].cross(*q);
            }
        }
        let mut pulled = vec![DVec3::ZERO; n];
        matrix.product(&self.scratch.everywhere, &with, &mut pulled);
        pulled.iter_mut().for_each(|p| *p = -*p);
        let mut flesh = vec![DVec3::ZERO; n];
        let own = &self.body.solver;
        let settings = Settings { tolerance: own.tolerance.min(INNER), ..*own };
        let Scratch { solver, free, .. } = &mut *self.scratch;
        let mut direct = 0;
        let report = solver.solve_from(&settings, matrix, free, &pulled, &mut flesh, &mut direct, Start::Zero);
        self.outcome.solve = Some(report.after(self.outcome.solve));
        for i in 0..n {
            if self.scratch.free[i] {
                with[i] = flesh[i];
            }
        }
        matrix.product(&self.scratch.everywhere, &with, &mut pulled);
        let mut out = Vec::with_capacity(velocities.len());
        for bound in self.bounds {
            let mut sum = [DVec3::ZERO; 2];
            for ((&node, m), q) in bound.nodes.iter().zip(&bound.masses).zip(&bound.arms) {
                let i = node as usize;
                let momentum = pulled[i] + (m - self.body.masses[i]) * with[i];
                sum = [sum[0] + momentum, sum[1] + q.cross(momentum)];
            }
            out.push(sum[0]);
            out.push(if bound.free_to_turn() { sum[1] } else { DVec3::ZERO });
        }
        (out, with)
    }
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}
