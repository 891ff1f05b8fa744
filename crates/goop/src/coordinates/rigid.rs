//! Rigid coordinates: centre c, orientation R and their momenta P, L.
//!
//! ```text
//! P += dt F        L += dt τ          (divided by 1 + dt γ where there is drag)
//! c += dt P/m      R ← exp(dt ω_mid) R,   ω = R I⁻¹ Rᵀ L at the middle of the turn
//! ```
//! P and L of a free body are constant to rounding because they are the state. The
//! mid-step ω is found by a few fixed-point passes: with the ω of the start a
//! tumbling body gains energy. Contact and pins are impulses at nodes, which change
//! a node's velocity by `W = 1/m - [q]× I⁻¹ [q]×`; they are solved by sweeps, normal
//! parts never pulling and tangential ones within the friction cone.

use crate::animate::Pose;
use crate::contact::{Anchor, Impact, rebound, thrown};
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::ledger::Row;
use crate::model::{Body, Load, Model};
use crate::state::BodyState;
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// Centre, orientation and momenta.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RigidState {
    /// Centre of mass (m).
    pub center: DVec3,
    /// World from body.
    pub rotation: DQuat,
    /// Momentum (kg m/s).
    pub momentum: DVec3,
    /// Angular momentum about the centre (kg m²/s), world axes.
    pub angular_momentum: DVec3,
    /// Node offsets from the centre in body axes (m).
    pub offsets: Arc<Vec<DVec3>>,
    /// Inertia in body axes (kg m²).
    pub inertia: DMat3,
    /// Mass (kg).
    pub mass: f64,
}

impl RigidState {
    /// The rigid body with the nodes' mass, centre, momentum and angular momentum.
    pub fn from_nodes(body: &Body, x: &[DVec3], v: &[DVec3]) -> Self {
        let mass = body.mass();
        let (mut center, mut momentum) = (DVec3::ZERO, DVec3::ZERO);
        for i in 0..x.len() {
            center += body.masses[i] * x[i];
            momentum += body.masses[i] * v[i];
        }
        center /= mass;
        let (mut inertia, mut angular_momentum) = (DMat3::ZERO, DVec3::ZERO);
        for i in 0..x.len() {
            let q = x[i] - center;
            inertia +=
                (DMat3::IDENTITY * q.length_squared() - DMat3::from_cols(q * q.x, q * q.y, q * q.z)) * body.masses[i];
            angular_momentum += q.cross(body.masses[i] * v[i]);
        }
        // A straight curve has no inertia about its own axis; give it that of a thin rod,
        // too small to matter, so that nothing is divided by zero.
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        if inertia.determinant() < 1e-9 * trace.powi(3) {
            inertia += DMat3::IDENTITY * (1e-9 * trace);
        }
        Self {
            center,
            rotation: DQuat::IDENTITY,
            momentum,
            angular_momentum,
            offsets: Arc::new(x.iter().map(|&p| p - center).collect()),
            inertia,
            mass,
        }
    }

    /// The numbers that change.
    pub fn numbers(&self) -> [f64; 13] {
        let (c, q, p, l) = (self.center, self.rotation, self.momentum, self.angular_momentum);
        [c.x, c.y, c.z, q.x, q.y, q.z, q.w, p.x, p.y, p.z, l.x, l.y, l.z]
    }

    /// Inverse inertia in world axes (1/(kg m²)).
    pub fn inverse_inertia(&self) -> DMat3 {
        let r = DMat3::from_quat(self.rotation);
        r * self.inertia.inverse() * r.transpose()
    }

    /// Angular velocity (rad/s).
    pub fn spin(&self) -> DVec3 {
        self.inverse_inertia() * self.angular_momentum
    }

    /// Kinetic energy (J).
    pub fn kinetic(&self) -> f64 {
        0.5 * self.momentum.length_squared() / self.mass + 0.5 * self.angular_momentum.dot(self.spin())
    }

    /// Writes node positions and velocities.
    pub fn place(&self, body: &Body, x: &mut [DVec3], v: &mut [DVec3]) {
        let (velocity, spin) = (self.momentum / self.mass, self.spin());
        debug_assert_eq!(body.len(), x.len());
        for i in 0..x.len() {
            let q = self.rotation * self.offsets[i];
            x[i] = self.center + q;
            v[i] = velocity + spin.cross(q);
        }
    }

    /// Turns by the angular velocity of the middle of the step.
    fn turn(&mut self, dt: f64) {
        let start = self.rotation;
        let mut spin = self.spin();
        for _ in 0..4 {
            self.rotation = (DQuat::from_scaled_axis(0.5 * dt * spin) * start).normalize();
            spin = self.spin();
        }
        self.rotation = (DQuat::from_scaled_axis(dt * spin) * start).normalize();
    }
}

/// One point where impulses act.
#[derive(Debug)]
pub struct Point {
    /// Offset from the centre (m).
    arm: DVec3,
    /// Which node it is.
    pub(crate) node: u32,
    /// Velocity the point is to have (m/s): a pin's in full, a contact's along the normal at least.
    pub(crate) target: DVec3,
    pub(crate) normal: DVec3,
    pub(crate) friction: f64,
    /// A pin binds all three directions both ways.
    pub(crate) pin: bool,
    pub(crate) surface: DVec3,
    pub(crate) impulse: DVec3,
    inverse: DMat3,
    /// Which obstacle, and how it meets that.
    obstacle: u32,
    impact: Option<Impact>,
}

/// Sweeps over all points; contact problems of one rigid body settle well before.
const SWEEPS: usize = 200;

/// Advances a rigid body by one step.
pub fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
) -> Outcome {
    let mut outcome = Outcome::default();
    let (Some(mut rigid), dt) = (before.rigid.clone(), clock.dt) else { return outcome };
    let mut row = before.row;
    let x = &before.positions;

    // Forces: gravity, loads, drives, compliant pins, drag.
    let (mut load, mut soft, mut drive) = (Wrench::default(), Wrench::default(), Wrench::default());
    scratch.drives.iter().zip(x).for_each(|(&force, &x)| drive.add(x - rigid.center, force));
    for entry in &body.loads {
        match entry {
            Load::Force { nodes, newtons, course } => {
                let mass: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
                for &i in nodes {
                    let force = *newtons * (course.at(clock.time) * body.masses[i as usize] / mass);
                    load.add(x[i as usize] - rigid.center, force);
                }
            }
            Load::Thrust { nodes, newtons } => {
                let mass: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
                for &i in nodes {
                    load.add(x[i as usize] - rigid.center, *newtons * (body.masses[i as usize] / mass));
                }
            }
            // A pressure inside a closed rigid shell does nothing.
            Load::Pressure { .. } => {}
        }
    }
    for &(i, force) in &scratch.pushes {
        load.add(x[i as usize] - rigid.center, force);
    }
    let (mut soft0, mut moving) = (0.0, 0.0);
    for pin in &body.pins {
        if let Some(k) = pin.stiffness {
            for (j, &i) in pin.nodes.iter().enumerate() {
                let target = pin.target(j, clock.time);
                let offset = target - x[i as usize];
                soft.add(x[i as usize] - rigid.center, k * offset);
                soft0 += 0.5 * k * offset.length_squared();
                moving += k * offset.dot(pin.target(j, clock.time + dt) - target);
            }
        }
    }
    let drag = body.drag.iter().sum::<f64>() / rigid.mass;
    let (p0, l0, spin0) = (rigid.momentum, rigid.angular_momentum, rigid.spin());
    let weight = rigid.mass * model.gravity;
    let pull = load.force + drive.force + soft.force + weight + drag * rigid.mass * model.wind;
    rigid.momentum = (p0 + dt * pull) / (1.0 + dt * drag);
    rigid.angular_momentum = (l0 + dt * (load.torque + drive.torque + soft.torque)) / (1.0 + dt * drag);
    if let Some(axis) = model.flat {
        rigid.momentum[axis] = 0.0;
        let spin = rigid.angular_momentum[axis];
        rigid.angular_momentum = DVec3::ZERO;
        rigid.angular_momentum[axis] = spin;
    }
    let resist = drag * (rigid.momentum - rigid.mass * model.wind);
    let resist_turn = drag * rigid.angular_momentum;
    find_points(model, body, clock, &rigid, before, dt, &mut scratch.points);
    if !scratch.points.is_empty() {
        sweep(&mut scratch.points, &mut rigid);
    }
    // Work over the mean of the velocities before and after all impulses: exact for ΔT at fixed orientation.
    let mean = 0.5 * (p0 + rigid.momentum) / rigid.mass;
    let mean_spin = 0.5 * (spin0 + rigid.spin());
    let (soft_work, weight_work) = (dt * soft.power(mean, mean_spin), dt * weight.dot(mean));
    row.drag += dt * resist.dot(mean - model.wind) + dt * resist_turn.dot(mean_spin);
    row.load_work += dt * load.power(mean, mean_spin) - dt * resist.dot(model.wind);
    row.drive_work += dt * drive.power(mean, mean_spin);
    row.pin_work += moving;
    let center = rigid.center;
    scratch.book_pushes(&mut row, dt, |i| mean + mean_spin.cross(x[i] - center));

    state.anchors.clear();
    for point in &scratch.points {
        let velocity = mean + mean_spin.cross(point.arm);
        let pushed = point.impulse.dot(point.normal);
        if let Some(impact) = point.impact.filter(|_| pushed > 0.0) {
            let rebound = impact.rebound(model.gravity.length(), dt);
            if rebound > 0.0 {
                state.anchors.push(Anchor { node: point.node, obstacle: point.obstacle, local: DVec3::ZERO, rebound });
            }
        }
        if point.pin {
            row.pin_work += point.impulse.dot(velocity);
        } else {
            let relative = velocity - point.surface;
            let normal = point.impulse.dot(point.normal) * point.normal;
            row.impact -= normal.dot(relative);
            row.friction -= (point.impulse - normal).dot(relative);
            row.load_work += point.impulse.dot(point.surface);
        }
    }

    state.anchors.sort_unstable_by_key(|a| (a.node, a.obstacle));

    // Motion, and what it stores.
    let kinetic_before_turn = rigid.kinetic();
    let moved = dt * rigid.momentum / rigid.mass;
    rigid.center += moved;
    rigid.turn(dt);
    let kinetic = rigid.kinetic();
    rigid.place(body, &mut state.positions, &mut state.velocities);
    let mut soft1 = 0.0;
    super::nodal::soft_pins(body, clock.time + dt, &state.positions, |_, _, energy, _, _| soft1 += energy);
    let gravity_change = -weight.dot(moved);
    row.scheme += moving - soft_work - (soft1 - soft0) - (weight_work + gravity_change);
    row.scheme -= kinetic - kinetic_before_turn;
    row.gravitational += gravity_change;
    row.elastic = soft1;
    row.exchanged += (kinetic - before.row.kinetic).abs();
    row.kinetic = kinetic;
    finish(model, body, clock, before, state, &mut row, &mut outcome);
    let work_in = row.came_in() - before.row.came_in();
    let thrown = thrown(&before.anchors, before.row.impact, row.impact);
    outcome.created = row.stored() - before.row.stored() - work_in - thrown;
    state.row = row;
    state.rigid = Some(rigid);
    outcome
}

/// A force and its torque about the centre.
#[derive(Default)]
struct Wrench {
    force: DVec3,
    torque: DVec3,
}

impl Wrench {
    fn add(&mut self, arm: DVec3, force: DVec3) {
        self.force += force;
        self.torque += arm.cross(force);
    }

    fn power(&self, velocity: DVec3, spin: DVec3) -> f64 {
        self.force.dot(velocity) + self.torque.dot(spin)
    }
}

fn find_points(
    model: &Model,
    body: &Body,
    clock: Clock,
    rigid: &RigidState,
    before: &BodyState,
    dt: f64,
    points: &mut Vec<Point>,
) {
    points.clear();
    let x = &before.positions;
    let inverse = rigid.inverse_inertia();
    let response = |arm: DVec3| {
        let cross = DMat3::from_cols(DVec3::X.cross(arm), DVec3::Y.cross(arm), DVec3::Z.cross(arm)) * -1.0;
        DMat3::from_diagonal(DVec3::splat(1.0 / rigid.mass)) - cross * inverse * cross
    };
    for pin in body.pins.iter().filter(|p| p.stiffness.is_none()) {
        for (j, &node) in pin.nodes.iter().enumerate() {
            let arm = x[node as usize] - rigid.center;
            let target = (pin.target(j, clock.time + dt) - x[node as usize]) / dt;
            points.push(Point {
                arm,
                node,
                target,
                normal: DVec3::Y,
                friction: 0.0,
                pin: true,
                surface: DVec3::ZERO,
                impulse: DVec3::ZERO,
                inverse: response(arm).inverse(),
                obstacle: 0,
                impact: None,
            });
        }
    }
    let (velocity, spin) = (rigid.momentum / rigid.mass, rigid.spin());
    for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| !o.removed) {
        let from: &Pose = &clock.before[index];
        for (node, &p) in x.iter().enumerate() {
            let arm = p - rigid.center;
            let surface = obstacle.surface_velocity(p, from);
            // All as seen from the obstacle, where it is at the start.
            let moves = dt * (velocity + spin.cross(arm) - surface);
            if let Some(radius) = obstacle.bounding_radius()
                && (p - from.position).length() > radius + obstacle.range + moves.length()
            {
                continue;
            }
            let here = obstacle.gap(p, from);
            let ahead = obstacle.gap(p + moves, from);
            let entered = (here.distance > 0.0 && moves.length() >= 0.5 * obstacle.thickness())
                .then(|| obstacle.first_touch(p, p + moves, from, from))
                .flatten();
            let (distance, normal) = if let Some((fraction, touched)) = entered {
                (-fraction * moves.dot(touched.normal), touched.normal)
            } else if ahead.distance < 0.0 && here.distance > 0.0 {
                (ahead.distance - moves.dot(ahead.normal), ahead.normal)
            } else if ahead.distance.min(here.distance) > 0.1 * obstacle.range {
                continue;
            } else {
                (here.distance, here.normal)
            };
            // Reach the surface, not beyond; depth is given back gently.
            let rebound = rebound(&before.anchors, node as u32, index as u32);
            let limit = if rebound > 0.0 {
                rebound
            } else if distance > 0.0 {
                -distance / dt
            } else {
                (-0.2 * distance / dt).min(1.0)
            };
            let restitution = Impact::restitution(body, obstacle);
            let start = (surface - before.velocities[node]).dot(normal);
            let impact = Impact { restitution, approach: [start, -moves.dot(normal) / dt], gap: distance };
            points.push(Point {
                arm,
                node: node as u32,
                target: surface + normal * limit,
                normal,
                friction: obstacle.friction.max(body.material.card.friction),
                pin: false,
                surface,
                impulse: DVec3::ZERO,
                inverse: response(arm),
                obstacle: index as u32,
                impact: (restitution > 0.0 && rebound == 0.0).then_some(impact),
            });
        }
    }
}

fn sweep(points: &mut [Point], rigid: &mut RigidState) {
    let inverse = rigid.inverse_inertia();
    let (mut velocity, mut spin) = (rigid.momentum / rigid.mass, rigid.spin());
    for _ in 0..SWEEPS {
        let mut change = 0.0f64;
        for point in points.iter_mut() {
            let now = velocity + spin.cross(point.arm);
            let old = point.impulse;
            if point.pin {
                point.impulse += point.inverse * (point.target - now);
            } else {
                let n = point.normal;
                let relative = now - point.surface;
                // Normal first, then friction against what it allows.
                let stiff = n.dot(point.inverse * n);
                let pushed = (old.dot(n) + (point.target - now).dot(n) / stiff).max(0.0);
                let flat = relative - relative.dot(n) * n;
                let speed = flat.length();
                let mut tangent = old - old.dot(n) * n;
                if speed > 0.0 {
                    let t = flat / speed;
                    tangent -= flat / t.dot(point.inverse * t);
                }
                point.impulse = pushed * n + tangent.clamp_length_max(point.friction * pushed);
            }
            let delta = point.impulse - old;
            velocity += delta / rigid.mass;
            spin += inverse * point.arm.cross(delta);
            change = change.max(delta.length() / rigid.mass);
        }
        if change < 1e-13 * (1.0 + velocity.length()) {
            break;
        }
    }
    for point in points.iter() {
        rigid.momentum += point.impulse;
        rigid.angular_momentum += point.arm.cross(point.impulse);
    }
}

/// Displacement, depth and finiteness.
fn finish(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &BodyState,
    row: &mut Row,
    outcome: &mut Outcome,
) {
    row.contacts = 0;
    for i in 0..body.len() {
        let (x, moved) = (state.positions[i], (state.positions[i] - before.positions[i]).length());
        if moved > outcome.displacement {
            (outcome.displacement, outcome.fastest) = (moved, i);
        }
        if !(x.is_finite() && state.velocities[i].is_finite()) {
            outcome.not_finite.get_or_insert(i);
            continue;
        }
        for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| !o.removed) {
            let gap = obstacle.gap(x, &clock.after[index]).distance;
            if gap < 0.1 * obstacle.range {
                row.contacts += 1;
            }
            outcome.depth = outcome.depth.max(-gap);
            row.worst_penetration = row.worst_penetration.max(-gap);
        }
    }
}
