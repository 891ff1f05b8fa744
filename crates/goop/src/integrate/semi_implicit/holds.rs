//! Pins and contacts of a framed step: which nodes, how far they are from where they should be, and the rounds of
//! impulses that close those gaps.

use super::{CLOSED, ROUNDS};
use crate::contact::{Anchor, Impact, rebound};
use crate::coordinates::framed::factored::{Factored, Six};
use crate::coordinates::framed::respond::{Hold, Kind, Rigid};
use crate::coordinates::framed::{FramedState, Work, get, kernels};
use crate::coordinates::nodal::{Clock, Outcome, Scratch};
use crate::ledger::Row;
use crate::model::{Body, Model};
use crate::solve::Report;
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// What the rounds need beside the work space.
pub(super) struct Rounds<'a> {
    pub model: &'a Model,
    pub body: &'a Body,
    pub clock: Clock<'a>,
    pub before: &'a BodyState,
    pub scratch: &'a Scratch,
    /// Body axes of the impulses, from the world's.
    pub back: DMat3,
    /// What a rigid body would do, as it is and at the reference shape.
    pub rigid: [Rigid; 2],
    /// Direction that a planar world blocks, body axes.
    pub project: Option<DVec3>,
}

impl Rounds<'_> {
    /// Repeats impulses until pins and contacts are where they should be. `moved` takes the multipliers of new impulses
    /// and moves the body by them; false where a solve failed.
    pub fn close_gaps(
        &self,
        f1: &mut FramedState,
        work: &mut Work,
        factor: &mut Factored,
        outcome: &mut Outcome,
        mut moved: impl FnMut(&mut FramedState, &mut Work, &Factored, Six),
    ) -> bool {
        let Self { model, body, clock, before, scratch, back, .. } = *self;
        let solid = model.obstacles.iter().any(|o| !o.removed);
        let Some(f0) = before.framed.as_ref().filter(|_| solid || !work.holds.is_empty()) else { return true };
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
                    return false;
                }
            }
            let (shape, [rigid, at_reference]) = ([&f0.reference[..], &f0.displacement[..]], self.rigid);
            work.response.solve(&mut work.holds, factor, rigid, at_reference, shape, self.project);
            let new = work.holds.iter().map(|hold| (hold.node, hold.impulse - hold.applied));
            let multipliers = factor.kick(new, &mut work.delta);
            work.holds.iter_mut().for_each(|hold| hold.applied = hold.impulse);
            moved(f1, work, factor, multipliers);
        }
        true
    }
}

/// Pins of this step, without impulses.
pub(super) fn gather_pins(body: &Body, clock: Clock, scratch: &Scratch, work: &mut Work) {
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

pub(super) fn end_position(f1: &FramedState, node: u32) -> DVec3 {
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
                    let thrown = rebound(&before.anchors, hold.node, *obstacle);
                    *point = x - gap.normal * (gap.distance - allowed(from, thrown, clock.dt));
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

/// Distance a node may end at that starts at another (m): depth is given back gently, unless the obstacle throws it off
/// with a speed (m/s).
fn allowed(start: f64, thrown: f64, dt: f64) -> f64 {
    match start >= 0.0 {
        true if thrown > 0.0 => start + dt * thrown,
        true => 0.0,
        false => start + (0.2 * -start).min(dt).max(dt * thrown),
    }
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
            let free = allowed(at_start, rebound(&before.anchors, i as u32, index as u32), clock.dt);
            if entered.is_none() && gap.distance >= free {
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
                None => end - gap.normal * (gap.distance - free),
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

/// Displacement, depth, finiteness and who touches what.
#[allow(clippy::too_many_arguments)]
pub(super) fn finish(
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
        if let Kind::Contact { obstacle, normal, outwards, surface, .. } = hold.kind
            && hold.impulse.dot(outwards) > 0.0
        {
            let (node, index) = (hold.node as usize, obstacle as usize);
            let pose = &clock.after[index];
            let local = pose.rotation.inverse() * (state.positions[node] - pose.position);
            let restitution = Impact::restitution(body, &model.obstacles[index]);
            let fresh = restitution > 0.0 && rebound(&before.anchors, hold.node, obstacle) == 0.0;
            let thrown = if fresh {
                let start = (surface / clock.dt - before.velocities[node]).dot(normal);
                let gap = model.obstacles[index].gap(before.positions[node], &clock.before[index]).distance;
                let impact =
                    Impact { restitution, approach: [start, start - clock.dt * model.gravity.dot(normal)], gap };
                impact.rebound(model.gravity.length(), clock.dt)
            } else {
                0.0
            };
            state.anchors.push(Anchor { node: hold.node, obstacle, local, rebound: thrown });
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
