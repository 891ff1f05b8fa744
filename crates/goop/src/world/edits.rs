//! What is changed between steps: events of the scene, and what a session does.

use super::World;
use crate::contact::Anchor;
use crate::coordinates::framed::FramedState;
use crate::coordinates::nodal::Scratch;
use crate::coordinates::reduced::Modes;
use crate::model::{Body, Coordinates, Edit, Load, Pin};
use crate::state::BodyState;
use glam::DVec3;
use std::sync::Arc;

impl World {
    pub(super) fn do_events(&mut self) {
        let now = self.time() + 1e-9 * self.model.step.dt;
        while let Some((time, edit)) = self.model.events.get(self.state.events_done) {
            if *time > now {
                break;
            }
            let edit = edit.clone();
            self.state.events_done += 1;
            self.edit(&edit);
        }
    }

    /// Does every event that is due, as the next step would.
    pub fn do_due_events(&mut self) {
        self.do_events();
    }

    /// Does an edit now and keeps it among the model's events, after those that are due: a
    /// world whose scene lists the same events at the same times takes the same steps.
    pub fn record(&mut self, edit: Edit) {
        self.do_events();
        let (at, time) = (self.state.events_done, self.time());
        self.model.events.insert(at, (time, edit.clone()));
        self.state.events_done += 1;
        self.edit(&edit);
    }

    /// Changes the model or the state between steps.
    pub fn edit(&mut self, edit: &Edit) {
        let time = self.time();
        let stored: Vec<f64> = self.state.bodies.iter().map(|b| b.row.stored()).collect();
        match edit {
            Edit::Pin { body, nodes, stiffness } => {
                self.hold(*body, nodes, None, *stiffness, false);
                self.follow_pins(*body);
            }
            Edit::Grab { body, nodes, to, stiffness } => {
                self.model.bodies[*body].pins.retain(|p| !p.grab || p.nodes != *nodes);
                self.hold(*body, nodes, Some(*to), Some(*stiffness), true);
            }
            Edit::Unpin { body, nodes } => {
                for pin in &mut self.model.bodies[*body].pins {
                    let keep: Vec<bool> = pin.nodes.iter().map(|n| !nodes.contains(n)).collect();
                    let mut each = keep.iter();
                    pin.targets.retain(|_| *each.next().unwrap_or(&true));
                    let mut each = keep.iter();
                    pin.nodes.retain(|_| *each.next().unwrap_or(&true));
                }
                self.model.bodies[*body].pins.retain(|p| !p.nodes.is_empty());
                self.follow_pins(*body);
            }
            Edit::Release { body } => self.model.bodies[*body].pins.retain(|p| !p.grab),
            Edit::Material { body, material } => {
                self.model.bodies[*body].material = (**material).clone();
                self.rebuild(*body);
            }
            Edit::Axes { body, axes } => {
                if self.model.bodies[*body].axes.elasticity != axes.elasticity {
                    self.state.bodies[*body].memory = Arc::default();
                }
                self.model.bodies[*body].axes = *axes;
                self.rebuild(*body);
            }
            Edit::Gravity(gravity) => self.model.gravity = *gravity,
            Edit::Wind(wind) => self.model.wind = *wind,
            Edit::Step(dt) => self.change_step(*dt),
            Edit::AddObstacle(obstacle) => {
                let pose = obstacle.motion.at(time);
                self.model.obstacles.push((**obstacle).clone());
                self.before_poses.push(pose);
                self.after_poses.push(pose);
            }
            Edit::MoveObstacle { obstacle, position } => {
                let entry = &mut self.model.obstacles[*obstacle];
                let pose = entry.motion.at(time);
                entry.motion = crate::animate::Motion::still(*position, pose.rotation);
                for body in &mut self.state.bodies {
                    body.anchors.retain(|a: &Anchor| a.obstacle as usize != *obstacle);
                }
            }
            Edit::RemoveObstacle { obstacle } => {
                self.model.obstacles[*obstacle].removed = true;
                for body in &mut self.state.bodies {
                    body.anchors.retain(|a| a.obstacle as usize != *obstacle);
                }
            }
            Edit::Impulse { body, nodes, newton_seconds } => {
                let model = &self.model.bodies[*body];
                let state = &mut self.state.bodies[*body];
                let mass: f64 = nodes.iter().map(|&i| model.masses[i as usize]).sum();
                for &i in nodes {
                    let i = i as usize;
                    let share = *newton_seconds * (model.masses[i] / mass);
                    match &mut state.rigid {
                        Some(rigid) => {
                            rigid.momentum += share;
                            rigid.angular_momentum += (state.positions[i] - rigid.center).cross(share);
                        }
                        None => state.velocities[i] += share / model.masses[i],
                    }
                }
                if let Some(rigid) = &state.rigid {
                    rigid.place(model, &mut state.positions, &mut state.velocities);
                }
                take_velocities(model, state);
            }
            Edit::Kick { body, linear, angular, body_axes } => {
                let model = &self.model.bodies[*body];
                let state = &mut self.state.bodies[*body];
                let BodyState { positions, velocities, rigid, .. } = state;
                let [push, twist] = crate::drive::kick(model, [*linear, *angular], *body_axes, positions, velocities);
                if let Some(rigid) = rigid {
                    rigid.momentum += push;
                    rigid.angular_momentum += twist;
                    rigid.place(model, positions, velocities);
                }
                take_velocities(model, state);
            }
            Edit::Stop { body } => {
                let state = &mut self.state.bodies[*body];
                state.velocities.fill(DVec3::ZERO);
                if let Some(rigid) = &mut state.rigid {
                    (rigid.momentum, rigid.angular_momentum) = (DVec3::ZERO, DVec3::ZERO);
                }
                take_velocities(&self.model.bodies[*body], state);
            }
            Edit::Thrust { body, nodes, newtons } => {
                let loads = &mut self.model.bodies[*body].loads;
                loads.retain(|load| !matches!(load, Load::Thrust { nodes: old, .. } if old == nodes));
                if *newtons != DVec3::ZERO {
                    loads.push(Load::Thrust { nodes: nodes.clone(), newtons: *newtons });
                }
            }
        }
        // What an edit adds to or takes from the stored energy came from outside.
        for b in 0..self.model.bodies.len() {
            self.refresh_stored(b);
            let row = &mut self.state.bodies[b].row;
            let change = row.stored() - stored[b];
            match edit {
                Edit::Kick { .. } => row.drive_work += change,
                _ => row.load_work += change,
            }
        }
    }

    fn hold(&mut self, body: usize, nodes: &[u32], to: Option<DVec3>, stiffness: Option<f64>, grab: bool) {
        let x = &self.state.bodies[body].positions;
        let targets: Vec<DVec3> = nodes.iter().map(|&i| to.unwrap_or(x[i as usize])).collect();
        let pivot = targets.iter().sum::<DVec3>() / targets.len().max(1) as f64;
        let motion = crate::animate::Motion::default();
        self.model.bodies[body].pins.push(Pin { nodes: nodes.to_vec(), targets, pivot, motion, stiffness, grab });
    }

    /// Other nodes are held: a frame follows them, the maps of a reduced body are fitted to
    /// those that are left.
    pub(super) fn follow_pins(&mut self, body: usize) {
        if self.model.bodies[body].axes.coordinates == Coordinates::Reduced {
            self.rebuild(body);
        } else {
            let (planar, time) = (self.model.flat.is_some(), self.time());
            self.state.bodies[body].follow_pins(&self.model.bodies[body], planar, time);
        }
    }

    pub(super) fn rebuild(&mut self, body: usize) {
        self.model.bodies[body].compile();
        self.state.bodies[body].adopt(&self.model.bodies[body]);
        let (planar, time) = (self.model.flat.is_some(), self.time());
        self.state.bodies[body].follow_pins(&self.model.bodies[body], planar, time);
        self.before.bodies[body].memory = Arc::clone(&self.state.bodies[body].memory);
        self.scratch[body] = Scratch::new(&self.model.bodies[body]);
    }
}

/// Velocities of a framed body were changed from outside.
fn take_velocities(body: &Body, state: &mut BodyState) {
    if let Some(framed) = &mut state.framed {
        framed.take_velocities(body, &state.velocities);
        framed.place(body, &mut state.positions, &mut state.velocities);
    }
    if state.reduced.is_some() {
        state.fit_reduced(body);
    }
}

/// Fits frame or maps anew where nodes of a body are not where those put them; whether it did.
pub(super) fn adopt_if_moved(body: &Body, state: &mut BodyState) -> bool {
    if let Some(reduced) = &state.reduced {
        let (modes, mut x, mut v) = (Modes::new(body), state.positions.clone(), state.velocities.clone());
        if reduced.values.len() == modes.len() {
            modes.place(&reduced.values, &mut x);
            modes.place(&reduced.rates, &mut v);
        }
        if reduced.values.len() != modes.len() || x != state.positions || v != state.velocities {
            state.adopt(body);
            return true;
        }
    }
    if let Some(framed) = &state.framed {
        let (mut x, mut v) = (state.positions.clone(), state.velocities.clone());
        FramedState::place(framed, body, &mut x, &mut v);
        if x != state.positions || v != state.velocities {
            state.adopt(body);
            return true;
        }
    }
    false
}
