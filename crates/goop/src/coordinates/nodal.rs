//! Nodal coordinates: the unknowns are the positions of the nodes.
//!
//! One step: forces at the start, the integrator, forces at the end, the account;
//! where nodes went into an obstacle they are put back, and both are done again for
//! what that changed. The forces at the end are
//! those at the start of the next step, so an explicit step evaluates them once.

use crate::animate::Pose;
use crate::contact::{self, Obstacle, Touch};
use crate::coordinates::framed::Work;
use crate::coordinates::reduced;
use crate::coordinates::rigid::Point;
use crate::drive;
use crate::elastic::Elasticity;
use crate::integrate::foresight::Foresight;
use crate::integrate::two_step::{self, TwoStep};
use crate::integrate::{ForcesAt, account, explicit, implicit, reaction};
use crate::model::{Body, Coordinates, Integrator, Load, Model};
use crate::parallel::Chunks;
use crate::shape::Dimension;
use crate::solve::{BlockMatrix, ByParts, Report, Solver};
use crate::stages::{Stage, timed};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// The time of a step.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    /// Start (s).
    pub time: f64,
    /// Length (s).
    pub dt: f64,
    /// Obstacles at the start.
    pub before: &'a [Pose],
    /// Obstacles at the end.
    pub after: &'a [Pose],
}

/// Forces of a body at one instant.
#[derive(Debug, Default)]
pub struct Evaluation {
    /// Energy of deformation (J).
    pub energy: f64,
    /// Elastic forces (N).
    pub elastic: Vec<DVec3>,
    /// Damping forces (N); empty where nothing is damped.
    pub damping: Vec<DVec3>,
    /// Work of damping over the step that ended then (J), where that was found in the place of forces.
    pub damping_work: Option<f64>,
    /// Touched obstacles.
    pub touches: Vec<Touch>,
}

impl Evaluation {
    fn new(nodes: usize, damped: bool) -> Self {
        let damping = vec![DVec3::ZERO; if damped { nodes } else { 0 }];
        Self { elastic: vec![DVec3::ZERO; nodes], damping, ..Self::default() }
    }
}

/// A node put back onto an obstacle.
#[derive(Clone, Copy, Debug)]
pub struct PutBack {
    /// Which node.
    pub node: usize,
    /// Where the scheme had brought it (m).
    pub position: DVec3,
    /// With which velocity (m/s).
    pub velocity: DVec3,
    /// Work of the moving surface on it (J).
    pub work: f64,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Linear solve, if any.
    pub solve: Option<Report>,
    /// Newton residual at the end relative to its start, if more than one iteration was asked for.
    pub newton_residual: f64,
    /// Deepest any node went before it was put back (m).
    pub depth: f64,
    /// Furthest any node moved (m), and which.
    pub displacement: f64,
    /// That node.
    pub fastest: usize,
    /// First node that is not finite.
    pub not_finite: Option<usize>,
    /// Energy that appeared from nowhere (J).
    pub created: f64,
}

/// Work space of one body; nothing a resumed run would miss.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) now: Evaluation,
    pub(crate) next: Evaluation,
    pub(crate) middle: Option<Evaluation>,
    /// `now` belongs to the current state.
    valid: bool,
    pub(crate) matrix: Option<BlockMatrix>,
    pub(crate) solver: Solver,
    pub(crate) by_parts: Option<Box<ByParts>>,
    pub(crate) free: Vec<bool>,
    pub(crate) held: Vec<(u32, DVec3)>,
    pub(crate) loads: Vec<DVec3>,
    /// What drives have in the loads of this step; empty where none acts.
    pub(crate) drives: Vec<DVec3>,
    pub(crate) normals: Vec<DVec3>,
    pub(crate) right: Vec<DVec3>,
    pub(crate) delta: Vec<DVec3>,
    pub(crate) trial: Vec<DVec3>,
    /// Velocities that an implicit step is linearised at; those before it where empty.
    pub(crate) foresight: Foresight,
    pub(crate) put_back: Vec<PutBack>,
    pub(crate) original: Vec<(usize, DVec3)>,
    /// Forces of springs and dampers as a single linearisation used them.
    pub(crate) used: Vec<DVec3>,
    pub(crate) everywhere: Vec<bool>,
    /// What a step that looks back two steps starts from.
    pub(crate) two_step: TwoStep,
    /// Work of restoring the momenta in this step (J).
    pub(crate) restored: f64,
    /// Forces of other bodies on nodes (N).
    pub(crate) pushes: Vec<(u32, DVec3)>,
    /// Velocities over which their work is booked (m/s).
    pub(crate) push_velocities: Vec<DVec3>,
    /// Where impulses act on a rigid body.
    pub(crate) points: Vec<Point>,
    /// For framed coordinates.
    pub(crate) framed: Option<Box<Work>>,
    /// For reduced coordinates.
    pub(crate) reduced: Option<Box<reduced::Work>>,
}

impl Scratch {
    /// Work space for a body.
    pub fn new(body: &Body) -> Self {
        let n = body.len();
        let damped = body.elastic.as_ref().is_some_and(|e| e.damped());
        let implicit = body.axes.integrator.implicit();
        let vector = |wanted: bool| vec![DVec3::ZERO; if wanted { n } else { 0 }];
        Self {
            now: Evaluation::new(n, damped),
            next: Evaluation::new(n, damped),
            middle: (body.axes.integrator == Integrator::ImplicitMidpoint).then(|| Evaluation::new(n, damped)),
            valid: false,
            matrix: None,
            solver: Solver::default(),
            by_parts: None,
            free: vec![true; n],
            held: Vec::new(),
            loads: vector(!body.loads.is_empty() || !body.drives.is_empty()),
            drives: Vec::with_capacity(if body.drives.is_empty() { 0 } else { n }),
            normals: vector(catches_wind(body)),
            right: vector(implicit),
            delta: vector(implicit),
            trial: vector(implicit),
            foresight: Foresight::default(),
            put_back: Vec::new(),
            original: Vec::new(),
            used: Vec::new(),
            everywhere: Vec::new(),
            two_step: TwoStep::default(),
            restored: 0.0,
            pushes: Vec::new(),
            push_velocities: Vec::new(),
            points: Vec::new(),
            framed: None,
            reduced: (body.axes.coordinates == Coordinates::Reduced).then(|| Box::new(reduced::Work::new(body))),
        }
    }

    /// The state was changed from outside: forces have to be found anew.
    pub fn invalidate(&mut self) {
        self.valid = false;
        if let Some(work) = &mut self.framed {
            (work.valid, work.stale) = (None, true);
        }
    }

    /// Work space of a framed body, made when first needed.
    pub(crate) fn framed(&mut self, body: &Body, memory: &std::sync::Arc<Vec<f64>>) -> &mut Work {
        self.framed.get_or_insert_with(|| Box::new(Work::new(body, memory)))
    }
}

/// The elasticity of a nodal body.
pub(crate) fn elasticity(body: &Body) -> &dyn Elasticity {
    body.elastic.as_deref().expect("nodal coordinates have an elasticity: checked with the axes")
}

/// A sheet feels drag mostly across its surface.
fn catches_wind(body: &Body) -> bool {
    body.shape.dimension == Dimension::Surface && body.material.raw.is_none() && body.material.card.drag > 0.0
}

/// Share of the drag that a sheet feels along its surface.
const ALONG_SHEET: f64 = 0.1;

impl Scratch {
    /// Drag matrix of a node (N s/m).
    #[inline]
    pub(crate) fn drag(&self, body: &Body, node: usize) -> DMat3 {
        let c = body.drag[node];
        match self.normals.get(node) {
            Some(&n) if n != DVec3::ZERO => {
                let nn = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
                (nn * (1.0 - ALONG_SHEET) + DMat3::IDENTITY * ALONG_SHEET) * c
            }
            _ => DMat3::from_diagonal(DVec3::splat(c)),
        }
    }

    pub(crate) fn find_normals(&mut self, body: &Body, x: &[DVec3]) {
        if self.normals.is_empty() {
            return;
        }
        self.normals.fill(DVec3::ZERO);
        for t in &body.shape.triangles {
            let [a, b, c] = t.map(|i| x[i as usize]);
            let n = (b - a).cross(c - a);
            t.iter().for_each(|&i| self.normals[i as usize] += n);
        }
        self.normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    }

    /// Hard pins: which nodes are held, and where they must be at a time.
    pub(crate) fn hold(&mut self, body: &Body, time: f64) {
        self.free.fill(true);
        self.held.clear();
        for pin in body.pins.iter().filter(|p| p.stiffness.is_none()) {
            let pose = pin.motion.at(time);
            for (k, &node) in pin.nodes.iter().enumerate() {
                if self.free[node as usize] {
                    self.free[node as usize] = false;
                    self.held.push((node, pin.place(k, &pose)));
                }
            }
        }
    }

    pub(crate) fn find_loads(&mut self, body: &Body, time: f64, x: &[DVec3]) {
        let none = body.loads.is_empty() && self.drives.is_empty() && self.pushes.is_empty();
        self.loads.resize(if none { 0 } else { body.len() }, DVec3::ZERO);
        self.loads.fill(DVec3::ZERO);
        add_loads(body, time, x, &mut self.loads);
        self.loads.iter_mut().zip(&self.drives).for_each(|(load, drive)| *load += *drive);
        for &(node, force) in &self.pushes {
            self.loads[node as usize] += force;
        }
    }

    /// Forces of drives in a step.
    pub(crate) fn find_drives(&mut self, model: &Model, body: &Body, clock: Clock, before: &BodyState) {
        let (time, dt) = (clock.time, clock.dt);
        self.drives.clear();
        if body.drives.iter().any(|drive| drive.acts(time, dt)) {
            self.drives.resize(body.len(), DVec3::ZERO);
            drive::add(body, model.gravity, time, dt, &before.positions, &before.velocities, &mut self.drives);
        }
    }
}

/// Adds the loads of a body at a time to those of its nodes (N).
pub(crate) fn add_loads(body: &Body, time: f64, x: &[DVec3], loads: &mut [DVec3]) {
    for load in &body.loads {
        match load {
            Load::Force { nodes, newtons, course } => {
                let mass: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
                let per_mass = *newtons * (course.at(time) / mass);
                for &i in nodes {
                    loads[i as usize] += per_mass * body.masses[i as usize];
                }
            }
            Load::Thrust { nodes, newtons } => {
                let mass: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
                for &i in nodes {
                    loads[i as usize] += *newtons * (body.masses[i as usize] / mass);
                }
            }
            // Inside a closed rigid shell it does nothing.
            Load::Pressure { .. } if body.axes.coordinates == Coordinates::Rigid => {}
            Load::Pressure { pascals, course, gas } => {
                let mut pressure = pascals * course.at(time);
                if *gas {
                    let rest = body.shape.enclosed_volume(&body.shape.rest_positions);
                    pressure *= rest / body.shape.enclosed_volume(x).max(1e-3 * rest);
                }
                // Area vector of every triangle, a third to each corner.
                for t in &body.shape.triangles {
                    let [a, b, c] = t.map(|i| x[i as usize]);
                    let force = pressure / 6.0 * (b - a).cross(c - a);
                    t.iter().for_each(|&i| loads[i as usize] += force);
                }
            }
        }
    }
}

/// Springs of compliant pins and grabs: calls `each(node, force, energy, stiffness, target)`.
pub(crate) fn soft_pins(body: &Body, time: f64, x: &[DVec3], mut each: impl FnMut(usize, DVec3, f64, f64, DVec3)) {
    for pin in &body.pins {
        if let Some(k) = pin.stiffness {
            for (j, &node) in pin.nodes.iter().enumerate() {
                let target = pin.target(j, time);
                let offset = target - x[node as usize];
                each(node as usize, k * offset, 0.5 * k * offset.length_squared(), k, target);
            }
        }
    }
}

pub(crate) fn evaluate(body: &Body, x: &[DVec3], v: &[DVec3], memory: &[f64], out: &mut Evaluation) {
    let forces = || elasticity(body).forces(memory, x, v, &mut out.elastic, &mut out.damping);
    out.energy = timed(Stage::Forces, forces);
    out.damping_work = None;
}

/// Whether a step is told by the forces its one linearisation used: those at its end are not asked for.
pub(crate) fn is_linearised(body: &Body) -> bool {
    let backward = matches!(body.axes.integrator, Integrator::BackwardEuler | Integrator::Bdf2);
    backward && body.newton <= 1 && body.axes.coordinates == Coordinates::Nodal && !reaction::acts(body)
}

/// Advances a body by one step; `state` holds the start and receives the end.
pub fn step(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
) -> Outcome {
    let (dt, integrator) = (clock.dt, body.axes.integrator);
    let (x0, v0) = (&before.positions[..], &before.velocities[..]);
    if !scratch.valid {
        evaluate(body, x0, v0, &before.memory, &mut scratch.now);
    }
    scratch.valid = false;
    let load_time = match integrator.forces_at() {
        ForcesAt::Start => clock.time,
        ForcesAt::Middle => clock.time + 0.5 * dt,
        ForcesAt::End => clock.time + dt,
    };
    scratch.find_normals(body, x0);
    scratch.find_loads(body, load_time, x0);
    scratch.hold(body, clock.time + dt);
    let reacts = reaction::acts(body);
    if reacts {
        reaction::begin(model, body, clock, before, scratch);
    }
    let (ahead, poses) = match integrator.forces_at() {
        ForcesAt::Start => (0.0, clock.before),
        ForcesAt::Middle => (0.5 * dt, clock.before),
        ForcesAt::End => (dt, clock.before),
    };
    let touches = &mut scratch.now.touches;
    timed(Stage::Contact, || contact::find(model, body, poses, ahead, Some(dt), x0, v0, &before.anchors, touches));

    if integrator.implicit() && scratch.reduced.is_none() {
        let Scratch { foresight, held, free, .. } = scratch;
        foresight.look(body, clock, before, held, free);
    }
    let mut outcome = Outcome::default();
    let mut work = scratch.reduced.take();
    match (integrator, &mut work) {
        (Integrator::BackwardEuler, Some(work)) => {
            reduced::implicit(model, body, clock, before, state, scratch, work, &mut outcome);
        }
        (_, Some(work)) => reduced::explicit(model, body, clock, before, state, scratch, work),
        (Integrator::BackwardEuler, None) if reacts => {
            reaction::step(model, body, clock, before, state, scratch, &mut outcome);
        }
        (Integrator::BackwardEuler, None) => implicit::step(model, body, clock, before, state, scratch, &mut outcome),
        (Integrator::ImplicitMidpoint, None) => {
            implicit::midpoint(model, body, clock, before, state, scratch, &mut outcome)
        }
        (Integrator::Bdf2, None) => two_step::step(model, body, clock, before, state, scratch, &mut outcome),
        _ => explicit::step(model, body, clock, before, state, scratch),
    }
    if reacts {
        reaction::finish(model, body, clock, before, state);
    }
    if let Some(axis) = model.flat {
        for i in 0..body.len() {
            state.positions[i][axis] = x0[i][axis];
            state.velocities[i][axis] = 0.0;
        }
    }
    if let Some(middle) = &mut scratch.middle {
        // The midpoint's forces, for the account.
        for i in 0..body.len() {
            scratch.trial[i] = 0.5 * (x0[i] + state.positions[i]);
            scratch.delta[i] = (state.positions[i] - x0[i]) / dt;
        }
        evaluate(body, &scratch.trial, &scratch.delta, &before.memory, middle);
    }
    arrive(model, body, clock, before, state, scratch);
    account::nodal(model, body, clock, before, state, scratch);
    scratch.book_pushes(&mut state.row, dt, |i| (state.positions[i] - x0[i]) / dt);
    match &mut work {
        None => {
            timed(Stage::Contact, || put_back(model, body, clock, before, state, scratch, &mut outcome));
            if !scratch.put_back.is_empty() {
                arrive(model, body, clock, before, state, scratch);
                account::put_back(model, body, clock, state, scratch);
            }
        }
        Some(work) => {
            let weighed = account::weighed_sum(body, &state.positions);
            reduced::put_back(model, body, clock, before, state, scratch, work, &mut outcome);
            if !scratch.put_back.is_empty() {
                arrive(model, body, clock, before, state, scratch);
                account::put_back_all(model, body, clock, state, scratch, weighed);
            }
        }
    }
    scratch.reduced = work;
    if integrator == Integrator::Bdf2 {
        two_step::remember(dt, before, state, scratch);
    }
    account::close(body, before, state, scratch, &mut outcome);
    std::mem::swap(&mut scratch.now, &mut scratch.next);
    scratch.valid = true;
    outcome
}

/// Forces, touches and anchors at the end of the step.
fn arrive(model: &Model, body: &Body, clock: Clock, before: &BodyState, state: &mut BodyState, scratch: &mut Scratch) {
    let (x, v, next) = (&state.positions, &state.velocities, &mut scratch.next);
    if is_linearised(body) {
        let Evaluation { elastic, damping, energy, damping_work, .. } = &mut *next;
        let from = &before.positions;
        let account = || elasticity(body).account(&before.memory, x, v, from, [elastic, damping]);
        let [stored, work] = timed(Stage::Forces, account);
        (*energy, *damping_work) = (stored, Some(work));
    } else {
        evaluate(body, x, v, &before.memory, next);
    }
    let touches = &mut next.touches;
    timed(Stage::Contact, || contact::find(model, body, clock.after, 0.0, None, x, v, &before.anchors, touches));
    contact::drag_anchors(model, body, clock.after, &mut next.touches, x, &mut state.anchors);
}

/// Traces the path of every node and puts those that went into an obstacle back
/// onto its surface, without the velocity into it.
fn put_back(
    model: &Model,
    body: &Body,
    clock: Clock,
    before: &BodyState,
    state: &mut BodyState,
    scratch: &mut Scratch,
    outcome: &mut Outcome,
) {
    scratch.put_back.clear();
    if model.obstacles.iter().all(|o| o.removed || o.published.is_some()) {
        return;
    }
    let (from, to) = (contact::planes(model, clock.before), contact::planes(model, clock.after));
    let solid = |o: &Obstacle| !o.removed && o.published.is_none();
    // Whether the way of a node leads nowhere near an obstacle.
    let is_far = |index: usize, start: DVec3, end: DVec3| {
        if let Some((from, to)) = from.get(index).copied().flatten().zip(to.get(index).copied().flatten()) {
            return from.above(start) > 0.0 && to.above(end) > 0.0;
        }
        let (from, to) = (clock.before[index].position, clock.after[index].position);
        model.obstacles[index].bounding_radius().is_some_and(|radius| {
            let reach = radius + contact::at_most(end - start) + contact::at_most(to - from);
            start.distance_squared(from) > reach * reach
        })
    };
    let (count, positions) = (model.obstacles.len(), &state.positions);
    let runs = Chunks::new(body.len())
        .runs(|i| (0..count).any(|k| solid(&model.obstacles[k]) && !is_far(k, before.positions[i], positions[i])));
    for i in runs.nodes().filter(|&i| scratch.free[i]) {
        let (start, position, velocity) = (before.positions[i], state.positions[i], state.velocities[i]);
        if !position.is_finite() {
            continue;
        }
        let (mut moved, mut work) = (false, 0.0);
        for (index, obstacle) in model.obstacles.iter().enumerate().filter(|(_, o)| solid(o)) {
            let (from, to) = (&clock.before[index], &clock.after[index]);
            let end = state.positions[i];
            if is_far(index, start, end) {
                continue;
            }
            let mut gap = obstacle.gap(end, to);
            let half = 0.5 * obstacle.thickness();
            if half.is_infinite() && gap.distance >= 0.0 {
                continue;
            }
            let local_start = from.rotation.inverse() * (start - from.position);
            let local_end = to.rotation.inverse() * (end - to.position);
            // A way that may lead past the middle of the solid: where did it go in?
            let entered = ((local_end - local_start).length() >= half)
                .then(|| obstacle.first_touch(start, end, from, to))
                .flatten();
            if let Some((fraction, touched)) = entered {
                let point = to.position + to.rotation * local_start.lerp(local_end, fraction);
                state.positions[i] = point;
                gap = touched;
                outcome.depth = outcome.depth.max((end - point).dot(-touched.normal).max(0.0));
            } else if gap.distance >= 0.0 {
                continue;
            }
            outcome.depth = outcome.depth.max(-gap.distance);
            // To the surface; a second look corrects for its curvature.
            for _ in 0..3 {
                if gap.distance < 0.0 {
                    state.positions[i] -= gap.distance * gap.normal;
                    gap = obstacle.gap(state.positions[i], to);
                }
            }
            let surface = obstacle.surface_velocity(state.positions[i], to);
            let into = (state.velocities[i] - surface).dot(gap.normal).min(0.0);
            state.velocities[i] -= into * gap.normal;
            work -= body.masses[i] * into * gap.normal.dot(surface);
            moved = true;
        }
        if moved {
            scratch.put_back.push(PutBack { node: i, position, velocity, work });
        }
    }
}
