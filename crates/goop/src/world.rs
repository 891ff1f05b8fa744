//! The world: a model, its state, and the loop that advances it.
//!
//! Steps are the largest step halved k times; the clock counts in whole ticks, so
//! any sequence of steps adds up exactly. Frames sample the motion between two steps
//! and never change which steps are taken.

mod edits;
mod frames;

use crate::animate::Pose;
use crate::contact::Meetings;
use crate::contact::bodies::{self, Verdict};
use crate::coordinates::nodal::{self, Clock, Outcome, Scratch};
use crate::coordinates::rigid;
use crate::elastic::Flow;
use crate::integrate::semi_implicit;
use crate::ledger::Row;
use crate::model::{Body, Coordinates, Model};
use crate::parallel::{Chunks, Disjoint, MAX_CHUNKS};
use crate::shape::Unwelded;
use crate::state::{BodyState, State, TICKS_PER_STEP};
use edits::adopt_if_moved;
use glam::DVec3;
use std::sync::Arc;

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("body '{body}' {what} at t = {time:.6} s (step {dt:.3e} s, node {node}); {remedy}")]
pub struct Failure {
    /// Which body.
    pub body: String,
    /// Which node.
    pub node: usize,
    /// When (s).
    pub time: f64,
    /// With which step (s).
    pub dt: f64,
    /// What happened.
    pub what: String,
    /// What to try.
    pub remedy: String,
    /// The scheme created energy: it is unstable at this step.
    pub unstable: bool,
    /// A node went further than it may in a step.
    pub far: bool,
}

/// What one accepted step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Length (s).
    pub dt: f64,
    /// Conjugate-gradient iterations, all bodies.
    pub iterations: usize,
    /// Largest relative residual of a linear solve.
    pub residual: f64,
    /// A direct solver was used.
    pub direct: bool,
}

/// How long to play and how often to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Length (s).
    pub seconds: f64,
    /// Frames a second.
    pub fps: f64,
}

impl Clip {
    /// Number of frames, both ends included.
    pub fn frames(&self) -> usize {
        (self.seconds * self.fps + 1e-9).floor() as usize + 1
    }
}

/// After this many good steps a halved step is tried at double length again; twice
/// as many after every step that created energy, so that a stiff body is not shaken
/// by a step that never fits.
const GROW_AFTER: u32 = 24;
const MOST_PATIENCE: u32 = 24 << 8;

/// Good steps after which one that was halved as bodies passed through each other is tried at double length again.
const PASSING: u32 = 4;

/// Halvings of the step of a few bodies while the others take all of it, at most.
const MOST_PARTS: u32 = 5;

/// Iterations of Newton's for a step that one was not enough for.
const CAREFUL: u32 = 8;

/// Share of the energy created so far that a step remembers. A scheme that is merely
/// not symplectic to the last digit creates and takes back; one that is unstable only
/// creates, slowly enough to pass any test of a single step.
const MEMORY: f64 = 0.999;

/// Nodes of small bodies in all from which on more than one thread is worth being woken for their steps.
const WORTH: usize = 250;

/// A scene in motion.
///
/// ```
/// use goop::{Axes, Body, Material, Model, Shape, World};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A square metre of rubber, 20 × 20 nodes, held at its corners.
/// let shape = Shape::rectangle([1.0, 1.0], [20, 20])?;
/// let corners = shape.corners();
/// let rubber = Material { young: 1.0e5, thickness: 2.0e-3, ..Material::default() };
/// let sheet = Body::new("sheet", shape, rubber, Axes::IMPLICIT).pin(&corners);
/// let mut world = World::new(Model { bodies: vec![sheet], ..Model::default() });
///
/// // Let it fall for a second and see how far its middle has sunk.
/// while world.time() < 1.0 {
///     world.step()?;
/// }
/// let sheet = &world.state().bodies[0];
/// let lowest = sheet.positions.iter().map(|x| x.y).fold(0.0, f64::min);
/// assert!(lowest < -0.05, "the sheet sags: {lowest} m");
/// assert_eq!(sheet.positions[0].y, 0.0); // a corner stays
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct World {
    model: Model,
    state: State,
    /// The state before the last step, for frames in between.
    before: State,
    scratch: Vec<Scratch>,
    before_poses: Vec<Pose>,
    after_poses: Vec<Pose>,
    /// Largest relative residual of any solve so far.
    worst_residual: f64,
    meetings: Meetings,
    outcomes: Vec<Outcome>,
    /// Bodies that take a step.
    advancing: Vec<usize>,
    /// What is drawn of bodies that may tear.
    drawn: Vec<Option<Unwelded>>,
}

impl World {
    /// Puts every body at its start.
    pub fn new(model: Model) -> Self {
        let state = State { patience: GROW_AFTER, ..State::new(&model) };
        let meetings = Meetings::new(&model, &state);
        let scratch = model.bodies.iter().map(Scratch::new).collect();
        let poses: Vec<Pose> = model.obstacles.iter().map(|o| o.motion.at(0.0)).collect();
        let mut world = Self {
            before: state.clone(),
            state,
            scratch,
            before_poses: poses.clone(),
            after_poses: poses,
            worst_residual: 0.0,
            meetings,
            outcomes: vec![Outcome::default(); model.bodies.len()],
            advancing: Vec::new(),
            drawn: (0..model.bodies.len()).map(|b| model.unwelded(b)).collect(),
            model,
        };
        world.open_account();
        world
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes on from a state taken earlier from a world with the same model, account
    /// included; the next step is bit for bit the one that followed it. For a state
    /// from a file, and where events may have changed the model, see
    /// [`Checkpoint`](crate::checkpoint::Checkpoint).
    pub fn restore(&mut self, state: State) {
        self.state = state;
        let (planar, time) = (self.model.flat.is_some(), self.time());
        for (body, state) in self.model.bodies.iter().zip(&mut self.state.bodies) {
            if adopt_if_moved(body, state) {
                state.follow_pins(body, planar, time);
            }
        }
        self.before = self.state.clone();
        self.scratch.iter_mut().for_each(Scratch::invalidate);
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.time_of(&self.state)
    }

    /// Largest relative residual of any linear solve so far.
    pub fn worst_residual(&self) -> f64 {
        self.worst_residual
    }

    fn time_of(&self, state: &State) -> f64 {
        state.since + self.seconds(state.ticks)
    }

    /// A span of ticks (s).
    fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 * (self.model.step.dt / TICKS_PER_STEP as f64)
    }

    /// Counts time anew from here, in ticks of another step.
    fn change_step(&mut self, dt: f64) {
        let (now, before) = (self.time(), self.time_of(&self.before));
        (self.state.since, self.state.ticks) = (now, 0);
        (self.before.since, self.before.ticks) = (before, 0);
        (self.state.halvings, self.state.good) = (0, 0);
        self.model.step.dt = dt;
    }

    /// Fills in stored energies, from which the account starts.
    fn open_account(&mut self) {
        for b in 0..self.model.bodies.len() {
            self.refresh_stored(b);
            let row = &mut self.state.bodies[b].row;
            row.initial = row.stored();
        }
        self.before.copy_from(&self.state);
    }

    /// Recomputes what a body stores now, after a change from outside.
    fn refresh_stored(&mut self, b: usize) {
        let time = self.time();
        let poses: Vec<Pose> = self.model.obstacles.iter().map(|o| o.motion.at(time)).collect();
        let body = &self.model.bodies[b];
        let state = &mut self.state.bodies[b];
        state.past = None;
        let (x, v) = (&state.positions, &state.velocities);
        let mut touches = Vec::new();
        let mut elastic = 0.0;
        self.scratch[b].invalidate();
        if let Some(framed) = &state.framed {
            let work = self.scratch[b].framed(body, &state.memory);
            work.follow(body, &state.memory, framed.led.is_some());
            elastic = work.evaluate(framed);
        } else if let Some(elasticity) = &body.elastic {
            let (mut f, mut g) = (vec![DVec3::ZERO; x.len()], vec![DVec3::ZERO; x.len()]);
            elastic = elasticity.forces(&state.memory, x, v, &mut f, &mut g);
            crate::contact::find(&self.model, body, &poses, 0.0, Some(0.0), x, v, &state.anchors, &mut touches);
        }
        nodal::soft_pins(body, time, x, |_, _, energy, _, _| elastic += energy);
        let row = &mut state.row;
        row.elastic = elastic;
        row.friction_energy = touches.iter().map(|t| t.friction_energy).sum();
        row.contact = touches.iter().map(|t| t.energy).sum::<f64>() + row.friction_energy;
        row.kinetic = match &state.rigid {
            Some(rigid) => rigid.kinetic(),
            None => (0..x.len()).map(|i| 0.5 * body.masses[i] * v[i].length_squared()).sum(),
        };
        row.gravitational = -(0..x.len()).map(|i| body.masses[i] * self.model.gravity.dot(x[i])).sum::<f64>();
        row.contacts = touches.len() as u32;
        if state.framed.is_none() {
            self.scratch[b].invalidate();
        }
    }

    /// Takes one step: as long as the control allows, or an error that names body,
    /// node, time and remedy and leaves the state as it was.
    pub fn step(&mut self) -> Result<StepReport, Failure> {
        self.do_events();
        self.state.hand_over(&mut self.before);
        // Bodies whose one linearisation failed in this step, and are solved with more.
        let mut careful: Vec<usize> = Vec::new();
        let result = self.advance(&mut careful);
        careful.iter().for_each(|&b| self.model.bodies[b].newton = 1);
        result
    }

    /// The body that a failed step is to be solved with more iterations of Newton's for, before it is halved: a character
    /// whose bones jerk, for which one linearisation was not enough. Others are better served by shorter steps,
    /// whose account closes.
    fn to_be_careful(&self, failure: &Failure) -> Option<usize> {
        let b = self.model.bodies.iter().position(|body| body.name == failure.body)?;
        let body = &self.model.bodies[b];
        let one = body.newton <= 1 && body.axes.integrator.implicit() && !body.by_parts;
        let nodal = matches!(body.axes.coordinates, Coordinates::Nodal | Coordinates::Reduced);
        (one && nodal && body.sampled.is_some() && (failure.unstable || failure.far)).then_some(b)
    }

    fn advance(&mut self, careful: &mut Vec<usize>) -> Result<StepReport, Failure> {
        loop {
            let ticks = TICKS_PER_STEP >> self.state.halvings;
            let dt = self.seconds(ticks);
            match self.try_step(dt) {
                Ok(report) => {
                    self.state.ticks += ticks;
                    self.state.steps += 1;
                    self.state.good += 1;
                    // Grow only where the longer step starts on its own grid, so that steps of
                    // equal length fall on equal times.
                    let longer = TICKS_PER_STEP >> self.state.halvings.saturating_sub(1);
                    let ready = self.state.halvings > 0 && self.state.good >= self.state.patience;
                    if ready && self.state.ticks.is_multiple_of(longer) {
                        self.state.halvings -= 1;
                        self.state.good = 0;
                    } else if self.state.good == MOST_PATIENCE {
                        self.state.patience = GROW_AFTER;
                    }
                    self.worst_residual = self.worst_residual.max(report.residual);
                    return Ok(report);
                }
                Err(mut failure) => {
                    let (halvings, rejected, mut patience) =
                        (self.state.halvings, self.state.rejected, self.state.patience);
                    self.state.copy_from(&self.before);
                    self.scratch.iter_mut().for_each(Scratch::invalidate);
                    if !self.model.step.adaptive || halvings >= self.model.step.max_halvings.min(20) {
                        if self.model.step.adaptive {
                            failure.what += &format!(", still after {halvings} halvings of the step");
                        }
                        return Err(failure);
                    }
                    if let Some(b) = self.to_be_careful(&failure) {
                        self.model.bodies[b].newton = CAREFUL;
                        careful.push(b);
                        self.state.rejected = rejected + 1;
                        (self.state.bodies[b].created, self.before.bodies[b].created) = (0.0, 0.0);
                        continue;
                    }
                    self.state.halvings = halvings + 1;
                    self.state.rejected = rejected + 1;
                    if failure.unstable {
                        // An implicit scheme is stable: a jerk was too much for its one linearisation, and is soon over.
                        let jerked =
                            |b: &Body| b.name == failure.body && b.axes.integrator.implicit() && b.sampled.is_some();
                        if !self.model.bodies.iter().any(jerked) {
                            patience = (2 * patience).min(MOST_PATIENCE);
                        }
                        self.state.bodies.iter_mut().for_each(|body| body.created = 0.0);
                        self.before.bodies.iter_mut().for_each(|body| body.created = 0.0);
                    }
                    // Bodies that just miss each other are soon past that.
                    let passing = self.meetings.refused() && !failure.unstable && !failure.far;
                    let good = if passing { patience.saturating_sub(PASSING) } else { 0 };
                    (self.state.good, self.state.patience) = (good, patience);
                }
            }
        }
    }

    /// Where obstacles are at the start and at the end of a step: a keyframed one moves by its mean velocity over it.
    fn move_obstacles(&mut self, time: f64, dt: f64) {
        for (o, obstacle) in self.model.obstacles.iter().enumerate() {
            let (mut before, mut after) = (obstacle.motion.at(time), obstacle.motion.at(time + dt));
            let velocity = (after.position - before.position) / dt;
            let mut turn = after.rotation * before.rotation.inverse();
            if turn.w < 0.0 {
                turn = -turn;
            }
            let spin = turn.to_scaled_axis() / dt;
            (before.velocity, before.spin, after.velocity, after.spin) = (velocity, spin, velocity, spin);
            (self.before_poses[o], self.after_poses[o]) = (before, after);
        }
    }

    fn try_step(&mut self, dt: f64) -> Result<StepReport, Failure> {
        let time = self.time();
        let mut report = StepReport { dt, ..StepReport::default() };
        self.state.meetings.clear();
        self.move_obstacles(time, dt);
        self.meetings.begin(&self.model, &self.before, dt, None);
        let mut verdict = self.take_rounds(time, dt, false);
        let apart = if self.may_split(&verdict) { self.meetings.apart().to_vec() } else { Vec::new() };
        let alone = |b: usize| apart.get(b) == Some(&true);
        if !apart.is_empty() {
            verdict = self.split(time, dt, verdict, &apart);
        }
        for b in 0..self.model.bodies.len() {
            let created = self.created(b, dt);
            let (outcome, state) = (self.outcomes[b], &mut self.state.bodies[b]);
            if let Some(solve) = outcome.solve {
                report.iterations += solve.iterations;
                report.residual = report.residual.max(solve.residual);
                report.direct |= solve.direct;
            }
            if !alone(b) {
                state.created = created;
                self.judge(b, dt, &outcome)?;
            }
        }
        self.judge_meetings(dt, verdict)?;
        (0..self.model.bodies.len()).for_each(|b| self.flow(b, dt));
        Ok(report)
    }

    /// Lets bodies take a step, those in touch as often as it takes; meetings have begun. `fresh`: what the state holds is
    /// no room for the step yet.
    fn take_rounds(&mut self, time: f64, dt: f64, fresh: bool) -> Verdict {
        let mut verdict = Verdict::Fine;
        for round in 0..bodies::ROUNDS {
            self.meetings.press(&self.model, dt, &self.before, &mut self.scratch);
            self.advance_bodies(time, dt, round > 0 || fresh);
            // Bodies may come near that nobody thought would: whoever may meet is looked at after every step.
            if !self.meetings.any() && !self.meetings.may() {
                break;
            }
            let (before, state) = (&self.before, &self.state);
            verdict = self.meetings.settle(&self.model, dt, before, state, &mut self.scratch, round);
            if verdict != Verdict::Again {
                break;
            }
        }
        let state = &mut self.state;
        self.meetings.finish(&self.model, dt, state, &self.scratch, &mut self.outcomes);
        verdict
    }

    /// Lets the bodies that are to take a step take it; many small ones side by side, as none of them is worth more than one thread.
    fn advance_bodies(&mut self, time: f64, dt: f64, fresh: bool) {
        let clock = Clock { time, dt, before: &self.before_poses, after: &self.after_poses };
        let list = &mut self.advancing;
        list.clear();
        list.extend((0..self.model.bodies.len()).filter(|b| self.meetings.again(*b)));
        let (model, before) = (&self.model, &self.before.bodies);
        let states = Disjoint::new(&mut self.state.bodies);
        let (scratches, outcomes) = (Disjoint::new(&mut self.scratch), Disjoint::new(&mut self.outcomes));
        let take = |b: usize| {
            // SAFETY: every body is in the list once.
            let (state, scratch) = unsafe { (&mut states.slice(b..b + 1)[0], &mut scratches.slice(b..b + 1)[0]) };
            if fresh {
                state.copy_from(&before[b]);
                scratch.invalidate();
            }
            let outcome = advance(model, &model.bodies[b], clock, &before[b], state, scratch);
            // SAFETY: as above.
            unsafe { outcomes.slice(b..b + 1)[0] = outcome };
        };
        let small = list.iter().all(|&b| Chunks::new(model.bodies[b].len()).count() == 1);
        let nodes: usize = list.iter().map(|&b| model.bodies[b].len()).sum();
        if small && list.len() > 1 && nodes > WORTH {
            let share = list.len().div_ceil(MAX_CHUNKS);
            crate::crew::each(list.len().div_ceil(share), &|k| {
                list.iter().skip(k * share).take(share).for_each(|&b| take(b));
            });
        } else {
            list.iter().for_each(|&b| take(b));
        }
    }

    /// Energy that a body has had from nowhere lately, after a step (J).
    fn created(&self, b: usize, dt: f64) -> f64 {
        let (body, before, state) = (&self.model.bodies[b], &self.before.bodies[b], &self.state.bodies[b]);
        let mut turned = DVec3::ZERO;
        if before.anchors.iter().any(|a| a.rebound > 0.0) {
            // Weight does its work over the end of a step, a rebound at the start of it: that is no instability.
            turned = (0..body.len()).map(|i| body.masses[i] * (state.velocities[i] - before.velocities[i])).sum();
        }
        let allowed = 0.5 * dt * self.model.gravity.length() * turned.length();
        (MEMORY * before.created + self.outcomes[b].created - allowed).max(0.0)
    }

    /// Whether bodies that pass through each other may take shorter steps than the others.
    fn may_split(&self, verdict: &Verdict) -> bool {
        let apart = self.meetings.apart();
        let flows = |b: usize| self.model.bodies[b].elastic.as_ref().is_some_and(|e| e.inelastic());
        matches!(verdict, Verdict::Crossed(..))
            && self.model.step.adaptive
            && apart.contains(&false)
            && !apart.iter().enumerate().any(|(b, apart)| *apart && flows(b))
    }

    /// Bodies that pass through each other take the step in parts, by themselves; the others have taken it. What is
    /// wrong with that in the end, if anything.
    fn split(&mut self, time: f64, dt: f64, crossed: Verdict, alone: &[bool]) -> Verdict {
        let bodies: Vec<usize> = (0..alone.len()).filter(|&b| alone[b]).collect();
        let start: Vec<BodyState> = bodies.iter().map(|&b| self.before.bodies[b].clone()).collect();
        let (known, others) = (self.before.meetings.clone(), std::mem::take(&mut self.state.meetings));
        let rejected = self.state.rejected;
        let most = self.model.step.max_halvings.saturating_sub(self.state.halvings).min(MOST_PARTS);
        let mut verdict = crossed.clone();
        for halvings in 1..=most {
            let parts = 1u32 << halvings;
            let h = dt / f64::from(parts);
            let good = (0..parts).all(|part| {
                if part > 0 {
                    for &b in &bodies {
                        self.before.bodies[b].copy_from(&self.state.bodies[b]);
                    }
                    self.before.meetings.clone_from(&self.state.meetings);
                }
                self.take_part(time + f64::from(part) * h, h, &bodies, alone)
            });
            for (&b, start) in bodies.iter().zip(&start) {
                self.before.bodies[b].copy_from(start);
            }
            self.before.meetings.clone_from(&known);
            self.state.rejected = rejected + u64::from(halvings);
            if good {
                let passes = self.meetings.passes(&self.model, &self.before, &self.state, alone);
                verdict = if passes { crossed } else { Verdict::Fine };
                break;
            }
        }
        self.move_obstacles(time, dt);
        self.state.meetings.extend(others);
        self.state.meetings.sort_unstable_by_key(|kept| kept.key);
        verdict
    }

    /// One part of a step of some bodies; whether it is good.
    fn take_part(&mut self, time: f64, dt: f64, bodies: &[usize], alone: &[bool]) -> bool {
        self.state.meetings.clear();
        self.move_obstacles(time, dt);
        self.meetings.begin(&self.model, &self.before, dt, Some(alone));
        let verdict = self.take_rounds(time, dt, true);
        for &b in bodies {
            self.state.bodies[b].created = self.created(b, dt);
        }
        self.judge_meetings(dt, verdict).is_ok() && bodies.iter().all(|&b| self.judge(b, dt, &self.outcomes[b]).is_ok())
    }

    /// Bodies may not pass through each other.
    fn judge_meetings(&self, dt: f64, verdict: Verdict) -> Result<(), Failure> {
        let (b, node, what, remedy) = match verdict {
            Verdict::Fine | Verdict::Again => return Ok(()),
            Verdict::Crossed(pair, node) => {
                let remedy = "use a smaller step.dt or more step.max-halvings, a larger contact thickness, or let \
                              the pair pass: [[contact]] with meet = false";
                (pair[0], node as usize, bodies::names(&self.model, pair), remedy)
            }
            Verdict::Unsolved(b, report) => {
                let (what, remedy) = report
                    .refused
                    .map_or(("the response to contact did not converge", "use a smaller step.dt"), |refusal| {
                        refusal.explain()
                    });
                (b, 0, format!("was not solved: {what}"), remedy)
            }
        };
        let (body, time) = (self.model.bodies[b].name.clone(), self.time_of(&self.before) + dt);
        Err(Failure { body, node, time, dt, what, remedy: remedy.to_owned(), unstable: false, far: false })
    }

    /// Lets the rest shape follow a step and breaks what was stretched too far. Where the
    /// nodes are does not change, so the energy that is gone is all there is to book.
    fn flow(&mut self, b: usize, dt: f64) {
        let Some(elastic) = self.model.bodies[b].elastic.as_ref().filter(|e| e.inelastic()) else { return };
        let state = &mut self.state.bodies[b];
        let memory: &mut Vec<f64> = Arc::make_mut(&mut state.memory);
        let flow = elastic.flow(memory, &state.positions, dt);
        state.row.elastic -= flow.flowed + flow.torn;
        state.row.flow += flow.flowed;
        state.row.fracture += flow.torn;
        state.topology_version += u32::from(flow.broken > 0);
        if flow != Flow::default() {
            self.scratch[b].invalidate();
        }
    }

    /// The tests a step has to pass.
    fn judge(&self, b: usize, dt: f64, outcome: &Outcome) -> Result<(), Failure> {
        let (body, step) = (&self.model.bodies[b], &self.model.step);
        let explicit = !body.axes.integrator.implicit()
            && matches!(body.axes.coordinates, Coordinates::Nodal | Coordinates::Reduced);
        let shorter = if explicit {
            "use a smaller step.dt ('check' prints the largest stable one) or integrator = \"backward-euler\""
        } else {
            "use a smaller step.dt"
        };
        let fail = |node: usize, what: String, remedy: &str| {
            let (body, time) = (body.name.clone(), self.time_of(&self.before) + dt);
            Err(Failure { body, node, time, dt, what, remedy: remedy.to_owned(), unstable: false, far: false })
        };
        if let Some(node) = outcome.not_finite {
            return fail(node, "has a position that is not a number: the motion diverged".to_owned(), shorter);
        }
        if let Some(solve) = outcome.solve
            && !solve.converged
        {
            if let Some(refusal) = solve.refused {
                let (what, remedy) = refusal.explain();
                return fail(outcome.fastest, format!("was not solved: {what}"), remedy);
            }
            let what = format!("was not solved: residual {:.1e} after {} iterations", solve.residual, solve.iterations);
            return fail(outcome.fastest, what, "use solver.linear = \"auto\", or raise solver.max-iterations");
        }
        let size = body.extent();
        let limit = step.max_displacement.unwrap_or(0.2 * size);
        if step.adaptive {
            if outcome.displacement > limit {
                let what = format!("moves {:.3} m in one step, more than {limit:.3} m", outcome.displacement);
                return fail(
                    outcome.fastest,
                    what,
                    "raise step.max-displacement if that is meant, or use a smaller step.dt",
                )
                .map_err(|f| Failure { far: true, ..f });
            }
            let row = &self.before.bodies[b].row;
            let has = row.kinetic + row.elastic + row.contact + 1e-3 * body.mass() * self.model.gravity.length() * size;
            if self.state.bodies[b].created > step.max_energy_jump * has + 1e-12 {
                let what = format!("gains energy from nowhere, {:.3e} J lately", self.state.bodies[b].created);
                return fail(outcome.fastest, what, shorter).map_err(|f| Failure { unstable: true, ..f });
            }
            let range = self
                .model
                .obstacles
                .iter()
                .filter(|o| !o.removed)
                .map(|o| o.range.max(o.tolerance))
                .fold(f64::INFINITY, f64::min);
            if outcome.depth > range && self.state.halvings < 4 {
                let what = format!("runs {:.2e} m into an obstacle in one step", outcome.depth);
                return fail(
                    outcome.fastest,
                    what,
                    "raise the obstacle's stiffness or range, or use a smaller step.dt",
                );
            }
        } else if outcome.displacement > 1e3 * size.max(1.0) {
            let what = format!("moves {:.2e} m in one step: the motion diverged", outcome.displacement);
            return fail(outcome.fastest, what, shorter);
        }
        Ok(())
    }

    /// Brings every nodal body to rest before t = 0: backward Euler steps that
    /// start from rest each time and grow while the forces fall. Returns the largest
    /// remaining force relative to the weight.
    pub fn settle(&mut self) -> Result<f64, Failure> {
        let mut worst = 0.0f64;
        let (saved_events, adaptive) = (std::mem::take(&mut self.model.events), self.model.step.adaptive);
        for b in 0..self.model.bodies.len() {
            match self.model.bodies[b].axes.coordinates {
                Coordinates::Nodal | Coordinates::Reduced => worst = worst.max(crate::statics::settle(self, b)?),
                Coordinates::Framed => worst = worst.max(crate::statics::settle_framed(self, b)),
                Coordinates::Rigid => {}
            }
        }
        self.model.events = saved_events;
        self.model.step.adaptive = adaptive;
        for state in &mut self.state.bodies {
            state.row = Row::default();
        }
        self.open_account();
        Ok(worst)
    }

    pub(crate) fn parts_of_checkpoint(&self) -> (&State, &State, &Model, f64) {
        (&self.state, &self.before, &self.model, self.worst_residual)
    }

    pub(crate) fn set_parts(&mut self, state: State, mut before: State, worst_residual: f64) {
        for (old, new) in before.bodies.iter_mut().zip(&state.bodies) {
            if old.memory == new.memory {
                old.memory = Arc::clone(&new.memory);
            }
        }
        let poses: Vec<Pose> = self.model.obstacles.iter().map(|o| o.motion.at(0.0)).collect();
        (self.before_poses, self.after_poses) = (poses.clone(), poses);
        self.scratch = self.model.bodies.iter().map(Scratch::new).collect();
        (self.state, self.before, self.worst_residual) = (state, before, worst_residual);
    }

    pub(crate) fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    pub(crate) fn parts(&mut self, body: usize) -> (&Model, &mut BodyState, &mut BodyState, &mut Scratch) {
        (&self.model, &mut self.before.bodies[body], &mut self.state.bodies[body], &mut self.scratch[body])
    }
}

/// One step of one body.
fn advance(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
) -> Outcome {
    scratch.find_drives(model, body, clock, before);
    match body.axes.coordinates {
        Coordinates::Nodal | Coordinates::Reduced => nodal::step(model, body, clock, before, state, scratch),
        Coordinates::Framed => {
            scratch.framed(body, &before.memory);
            semi_implicit::step(model, body, clock, before, state, scratch)
        }
        Coordinates::Rigid => rigid::step(model, body, clock, before, state, scratch),
    }
}
