//! What is seen of a world: frames between two steps, and the account.

use super::{Clip, Failure, World};
use crate::character::Skinning;
use crate::frame::{BodyFrame, Frame};
use crate::ledger::{Ledger, Row};
use glam::DVec3;

impl World {
    /// A frame of the state as it is now.
    pub fn frame_now(&self) -> Frame {
        self.look(self.time())
    }

    /// A frame at a time (s) between the last two steps; other times give the nearer of the two.
    pub fn frame_between(&self, time: f64) -> Frame {
        self.look(time)
    }

    /// Frames of a clip, stepping in between; ends after the first failure.
    pub fn play(&mut self, clip: Clip) -> impl Iterator<Item = Result<Frame, Failure>> + '_ {
        let mut index = 0;
        let mut failed = false;
        std::iter::from_fn(move || {
            if failed || index >= clip.frames() {
                return None;
            }
            let frame = self.frame_at(index as f64 / clip.fps).map(|mut frame| {
                frame.index = index;
                frame
            });
            index += 1;
            failed = frame.is_err();
            Some(frame)
        })
    }

    /// Steps until a time is reached, and looks there: between two steps the
    /// motion is interpolated. Times must not go back behind the last step.
    pub fn frame_at(&mut self, time: f64) -> Result<Frame, Failure> {
        let slack = 1e-9 * self.model.step.dt;
        while self.time() + slack < time {
            self.step()?;
        }
        Ok(self.look(time))
    }

    /// A frame at a time between the last two states.
    pub(super) fn look(&self, time: f64) -> Frame {
        let (t0, t1) = (self.time_of(&self.before), self.time());
        let s = if t1 > t0 { ((time - t0) / (t1 - t0)).clamp(0.0, 1.0) } else { 1.0 };
        // A frame that falls on a step is that step, to the bit.
        let s = if s > 1.0 - 1e-9 { 1.0 } else { s };
        let mut frame = Frame { time, ..Frame::default() };
        let mut total = Ledger::default();
        for (b, body) in self.model.bodies.iter().enumerate() {
            let (from, to) = (&self.before.bodies[b], &self.state.bodies[b]);
            let mut positions = to.positions.clone();
            let mut velocities = to.velocities.clone();
            if s < 1.0 {
                if let (Some(f0), Some(f1)) = (&from.framed, &to.framed) {
                    f0.between(f1, s).place(body, &mut positions, &mut velocities);
                } else if let (Some(r0), Some(r1)) = (&from.rigid, &to.rigid) {
                    let mut between = r1.clone();
                    between.center = r0.center.lerp(r1.center, s);
                    between.rotation = r0.rotation.slerp(r1.rotation, s);
                    between.momentum = r0.momentum.lerp(r1.momentum, s);
                    between.angular_momentum = r0.angular_momentum.lerp(r1.angular_momentum, s);
                    between.place(body, &mut positions, &mut velocities);
                } else {
                    for i in 0..positions.len() {
                        positions[i] = from.positions[i].lerp(to.positions[i], s);
                        velocities[i] = from.velocities[i].lerp(to.velocities[i], s);
                    }
                }
            }
            let row = self.full_row(b, &positions, &velocities);
            total.add(&row);
            let mut stretch = vec![0.0; positions.len()];
            if let Some(elastic) = &body.elastic {
                elastic.stretch(&to.memory, &positions, &mut stretch);
            }
            let edges = body.elastic.as_ref().map_or(&[][..], |e| e.edges(&to.memory));
            let drawn = match (&self.drawn[b], &body.sampled) {
                (Some(drawn), _) => Some(drawn.place(&positions, edges)),
                (None, Some(sampled)) => {
                    Some(match (&sampled.skinning, &from.reduced, &to.reduced, &self.scratch[b].reduced) {
                        (Skinning::Matrix(skin), Some(r0), Some(r1), Some(work)) => {
                            let values =
                                r0.values.iter().zip(&r1.values).map(|(a, b)| if s < 1.0 { a.lerp(*b, s) } else { *b });
                            skin.carried(&work.modes, &values.collect::<Vec<_>>())
                        }
                        _ => sampled.skinning.place(&positions),
                    })
                }
                (None, None) => None,
            };
            let pins = |soft: bool| {
                let pins = body.pins.iter().filter(move |p| p.stiffness.is_some() == soft);
                // Bones are inside: what they hold is not shown as held.
                let bones = body.sampled.as_ref().map_or(0, |s| s.bone_nodes.iter().filter(|n| !n.is_empty()).count());
                let skipped = if soft { 0 } else { bones };
                pins.skip(skipped).flat_map(|p| p.nodes.iter().copied()).collect::<Vec<u32>>()
            };
            let mass = body.mass();
            let bones = body.sampled.as_ref().map_or_else(Vec::new, |sampled| {
                let mut pins = body.pins.iter().filter(|p| p.stiffness.is_none());
                let pose = |nodes: &Vec<u32>| {
                    if nodes.is_empty() {
                        return None;
                    }
                    let pose = crate::integrate::reaction::pose(body, pins.next()?, &positions, time);
                    Some((pose.position, pose.rotation))
                };
                sampled.bone_nodes.iter().map(pose).collect()
            });
            frame.bodies.push(BodyFrame {
                bones,
                center: (0..positions.len()).map(|i| body.masses[i] * positions[i]).sum::<DVec3>() / mass,
                center_velocity: row.momentum / mass,
                pinned: pins(false),
                sprung: pins(true),
                stretch,
                topology_version: to.topology_version,
                row,
                drawn: drawn.map(|list| list.iter().map(|p| p.as_vec3().to_array()).collect()),
                positions: positions.iter().map(|p| p.as_vec3().to_array()).collect(),
                velocities: velocities.iter().map(|v| v.as_vec3().to_array()).collect(),
            });
            crate::acting::on(&self.model, b, t1, to, &mut frame);
            for probe in self.model.probes.iter().filter(|p| p.body == b) {
                let nodes = &probe.nodes;
                frame.probes.push(if nodes.is_empty() {
                    frame.bodies[b].center
                } else {
                    nodes.iter().map(|&i| positions[i as usize]).sum::<DVec3>() / nodes.len() as f64
                });
            }
        }
        // Probes were visited by body; put them into the model's order.
        let mut order: Vec<usize> = (0..self.model.probes.len()).collect();
        order.sort_by_key(|&p| self.model.probes[p].body);
        let mut sorted = vec![DVec3::ZERO; order.len()];
        for (k, &p) in order.iter().enumerate() {
            sorted[p] = frame.probes[k];
        }
        frame.probes = sorted;
        frame.obstacles = (self.model.obstacles.iter())
            .map(|o| {
                let pose = o.motion.at(time);
                (!o.removed).then_some((pose.position, pose.rotation))
            })
            .collect();
        let springs: f64 =
            (self.model.bodies.iter()).filter_map(|b| b.elastic.as_ref()).map(|e| e.elements() as f64).sum();
        total.mean_deformation = if springs > 0.0 { total.deformation / springs } else { 0.0 };
        frame.ledger = total;
        frame
    }

    /// The account with the measures that are only taken for a frame.
    pub(super) fn full_row(&self, b: usize, x: &[DVec3], v: &[DVec3]) -> Row {
        let (body, state) = (&self.model.bodies[b], &self.state.bodies[b]);
        let mut row = state.row;
        for i in 0..x.len() {
            let p = body.masses[i] * v[i];
            row.momentum += p;
            row.angular_momentum += x[i].cross(p);
        }
        if let Some(elastic) = &body.elastic {
            let deformation = elastic.deformation(&state.memory, x);
            row.deformation = deformation.total;
            row.mean_deformation = deformation.mean;
            row.worst_stretch = deformation.worst;
        }
        row
    }

    /// The account of one body now, momenta and deformation included.
    pub fn row(&self, body: usize) -> Row {
        let state = &self.state.bodies[body];
        self.full_row(body, &state.positions, &state.velocities)
    }

    /// The whole scene's account now.
    pub fn ledger(&self) -> Ledger {
        let mut total = Ledger::default();
        (0..self.model.bodies.len()).for_each(|b| total.add(&self.row(b)));
        total
    }
}
