//! What changes: everything a rewind or a resumed run needs, for every body.

use crate::contact::Anchor;
use crate::contact::bodies::Kept;
use crate::coordinates::framed::{FramedState, work};
use crate::coordinates::reduced::ReducedState;
use crate::coordinates::rigid::RigidState;
use crate::ledger::Row;
use crate::model::{Body, Coordinates, Model};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// A body one step ago.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Length of the step since then (s).
    pub dt: f64,
    /// Node positions (m).
    pub positions: Vec<DVec3>,
    /// Node velocities (m/s).
    pub velocities: Vec<DVec3>,
}

/// One body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Node positions (m).
    pub positions: Vec<DVec3>,
    /// Node velocities (m/s).
    pub velocities: Vec<DVec3>,
    /// What the elasticity remembers; shared until it changes.
    pub memory: Arc<Vec<f64>>,
    /// Centre, orientation and momenta, for rigid coordinates.
    pub rigid: Option<RigidState>,
    /// Frame, displacement and momenta, for framed coordinates.
    pub framed: Option<Box<FramedState>>,
    /// The maps of its parts, for reduced coordinates.
    pub reduced: Option<Box<ReducedState>>,
    /// Where it came from, for a scheme that looks back two steps; none after a change from outside.
    pub past: Option<Box<Past>>,
    /// Where nodes stick to obstacles, by node.
    pub anchors: Vec<Anchor>,
    /// Solves left before the iteration is tried again.
    pub direct_left: u32,
    /// Raised whenever edges break.
    pub topology_version: u32,
    /// Energy from nowhere in the last steps, older ones forgotten little by little (J).
    pub created: f64,
    /// The account so far.
    pub row: Row,
}

impl BodyState {
    /// A body at its start.
    pub fn new(body: &Body) -> Self {
        let positions = body.start_positions();
        let mass = body.mass();
        let center = positions.iter().zip(&body.masses).map(|(&x, &m)| x * m).sum::<DVec3>() / mass;
        let mut velocities =
            positions.iter().map(|&x| body.start.velocity + body.start.spin.cross(x - center)).collect::<Vec<_>>();
        if let Some(posed) = body.posed() {
            velocities.iter_mut().zip(&posed.velocities).for_each(|(v, own)| *v += *own);
        }
        let mut state = Self {
            rigid: None,
            framed: None,
            reduced: None,
            past: None,
            positions,
            velocities,
            memory: Arc::new(body.elastic.as_ref().map_or(Vec::new(), |e| e.memory())),
            anchors: Vec::new(),
            direct_left: 0,
            topology_version: 0,
            created: 0.0,
            row: Row::default(),
        };
        state.adopt(body);
        state
    }

    /// Makes the state fit the body's coordinates and elasticity, keeping positions and velocities.
    pub fn adopt(&mut self, body: &Body) {
        self.past = None;
        let memory = body.elastic.as_ref().map_or(Vec::new(), |e| e.carry_over(&self.memory));
        if memory != *self.memory {
            self.memory = Arc::new(memory);
        }
        self.framed = (body.axes.coordinates == Coordinates::Framed).then(|| {
            let linear = work::linear(body, &self.memory, false);
            let old = self.framed.take();
            let state = FramedState::from_nodes(body, &linear, &self.positions, &self.velocities, old.as_deref());
            Box::new(state)
        });
        self.rigid = match body.axes.coordinates {
            Coordinates::Rigid => Some(RigidState::from_nodes(body, &self.positions, &self.velocities)),
            Coordinates::Nodal | Coordinates::Framed | Coordinates::Reduced => None,
        };
        if let Some(rigid) = &self.rigid {
            rigid.place(body, &mut self.positions, &mut self.velocities);
        }
        if let Some(framed) = &self.framed {
            framed.place(body, &mut self.positions, &mut self.velocities);
        }
        match body.axes.coordinates {
            Coordinates::Reduced => self.fit_reduced(body),
            _ => self.reduced = None,
        }
    }

    /// Sets all velocities to zero.
    pub(crate) fn still(&mut self) {
        self.velocities.fill(DVec3::ZERO);
        self.past = None;
        if let Some(reduced) = &mut self.reduced {
            reduced.rates.fill(DVec3::ZERO);
        }
    }

    /// Lets the frame of a framed body follow its pins if they lead it, as they are at a time (s).
    pub fn follow_pins(&mut self, body: &Body, planar: bool, time: f64) {
        if let Some(framed) = &mut self.framed {
            let led = framed.led.is_some();
            framed.follow_pins(body, planar, time, &self.positions, &self.velocities);
            if led || framed.led.is_some() {
                framed.place(body, &mut self.positions, &mut self.velocities);
            }
        }
    }

    /// Copies another state of the same body without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.framed.clone_from(&other.framed);
        self.copy_rest_from(other);
    }

    /// Hands everything over to `before` and keeps a copy of all but positions and
    /// velocities, which hold old ones: a step writes them anew.
    fn hand_over(&mut self, before: &mut Self) {
        std::mem::swap(&mut self.positions, &mut before.positions);
        std::mem::swap(&mut self.velocities, &mut before.velocities);
        match (&mut self.framed, &mut before.framed) {
            (Some(mine), Some(theirs)) => mine.hand_over(theirs),
            (mine, theirs) => theirs.clone_from(mine),
        }
        before.copy_rest_from(self);
    }

    fn copy_rest_from(&mut self, other: &Self) {
        // Two states of an elastic body share their memory; those of a body that flows have one each.
        match Arc::get_mut(&mut self.memory) {
            Some(own) if own.len() == other.memory.len() => own.copy_from_slice(&other.memory),
            _ => self.memory.clone_from(&other.memory),
        }
        self.rigid.clone_from(&other.rigid);
        copy_maps(&mut self.reduced, &other.reduced);
        copy_past(&mut self.past, &other.past);
        self.anchors.clone_from(&other.anchors);
        (self.direct_left, self.topology_version) = (other.direct_left, other.topology_version);
        self.created = other.created;
        self.row = other.row;
    }
}

/// Copies without allocating where both have maps.
fn copy_maps(to: &mut Option<Box<ReducedState>>, from: &Option<Box<ReducedState>>) {
    match (to, from) {
        (Some(to), Some(from)) => {
            to.values.clone_from(&from.values);
            to.rates.clone_from(&from.rates);
        }
        (to, from) => to.clone_from(from),
    }
}

/// Copies without allocating where both have a past.
fn copy_past(to: &mut Option<Box<Past>>, from: &Option<Box<Past>>) {
    match (to, from) {
        (Some(to), Some(from)) => {
            to.dt = from.dt;
            to.positions.clone_from(&from.positions);
            to.velocities.clone_from(&from.velocities);
        }
        (to, from) => to.clone_from(from),
    }
}

/// The clock counts ticks of the largest step over 2^20, so that halved steps add
/// up without rounding.
pub const TICKS_PER_STEP: u64 = 1 << 20;

/// Everything that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time in ticks, from `since`.
    pub ticks: u64,
    /// Time from which ticks are counted (s): when the largest step was last changed, else zero.
    pub since: f64,
    /// Current halvings of the step.
    pub halvings: u32,
    /// Good steps since the step last changed.
    pub good: u32,
    /// Good steps before a longer one is tried.
    pub patience: u32,
    /// Steps taken.
    pub steps: u64,
    /// Steps rejected.
    pub rejected: u64,
    /// Events done.
    pub events_done: usize,
    /// In the order of the model's bodies.
    pub bodies: Vec<BodyState>,
    /// What places where bodies meet leave to the next step, in the order of their names.
    pub meetings: Vec<Kept>,
}

impl State {
    /// All bodies of a model at their start.
    pub fn new(model: &Model) -> Self {
        let mut bodies: Vec<BodyState> = model.bodies.iter().map(BodyState::new).collect();
        let planar = model.flat.is_some();
        model.bodies.iter().zip(&mut bodies).for_each(|(body, state)| state.follow_pins(body, planar, 0.0));
        Self {
            ticks: 0,
            since: 0.0,
            halvings: 0,
            good: 0,
            patience: 0,
            steps: 0,
            rejected: 0,
            events_done: 0,
            bodies,
            meetings: Vec::new(),
        }
    }

    /// Copies without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.copy_clock_from(other);
        for (mine, theirs) in self.bodies.iter_mut().zip(&other.bodies) {
            mine.copy_from(theirs);
        }
    }

    /// Makes `before` the state so far, ready for a step that writes all positions and
    /// velocities anew: large arrays change hands instead of being copied.
    pub fn hand_over(&mut self, before: &mut Self) {
        before.copy_clock_from(self);
        for (mine, theirs) in self.bodies.iter_mut().zip(&mut before.bodies) {
            mine.hand_over(theirs);
        }
    }

    fn copy_clock_from(&mut self, other: &Self) {
        (self.ticks, self.since) = (other.ticks, other.since);
        (self.halvings, self.good, self.patience) = (other.halvings, other.good, other.patience);
        (self.steps, self.rejected, self.events_done) = (other.steps, other.rejected, other.events_done);
        self.meetings.clone_from(&other.meetings);
    }

    /// A fingerprint of time, positions, velocities and memory.
    pub fn hash(&self) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(&self.ticks.to_le_bytes());
        if self.since != 0.0 {
            hash.update(&self.since.to_le_bytes());
        }
        for body in &self.bodies {
            hash.update(bytemuck::cast_slice(&body.positions));
            hash.update(bytemuck::cast_slice(&body.velocities));
            hash.update(bytemuck::cast_slice(&body.memory));
            if let Some(framed) = &body.framed {
                for values in [&framed.displacement, &framed.rate, &*framed.reference] {
                    hash.update(bytemuck::cast_slice(values));
                }
                framed.numbers().iter().for_each(|value| hash.update(&value.to_le_bytes()));
            }
            if let Some(reduced) = &body.reduced {
                hash.update(bytemuck::cast_slice(&reduced.values));
                hash.update(bytemuck::cast_slice(&reduced.rates));
            }
            if let Some(rigid) = &body.rigid {
                for value in rigid.numbers() {
                    hash.update(&value.to_le_bytes());
                }
            }
        }
        hash.digest128()
    }
}
