//! Everything a killed run needs to end with the same bytes.
//!
//! A checkpoint holds the state, the state one step earlier (frames between the two
//! are interpolated), and what events have changed of the model: pins, thrusts, obstacles,
//! gravity and wind. Materials, formulations and steps changed by events are done again
//! from the scene's own list, which a resumed run has.

use crate::contact::Obstacle;
use crate::model::{Coordinates, Edit, Load, Pin};
use crate::state::{BodyState, State};
use crate::world::World;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A run at rest on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    state: State,
    before: State,
    pins: Vec<Vec<Pin>>,
    thrusts: Vec<Vec<(Vec<u32>, DVec3)>>,
    obstacles: Vec<Obstacle>,
    gravity: DVec3,
    wind: DVec3,
    worst_residual: f64,
}

impl Checkpoint {
    /// About how much memory it takes (bytes).
    pub fn bytes(&self) -> usize {
        let of = |state: &State| -> usize {
            let body = |b: &crate::state::BodyState| {
                let framed = b.framed.as_ref().map_or(0, |_| 72 * b.positions.len());
                let reduced = b.reduced.as_ref().map_or(0, |r| 24 * (r.values.len() + r.rates.len()));
                let past = b.past.as_ref().map_or(0, |_| 48 * b.positions.len());
                past + 48 * b.positions.len() + 8 * b.memory.len() + framed + reduced + 64 * b.anchors.len() + 512
            };
            state.bodies.iter().map(body).sum()
        };
        let pins: usize = self.pins.iter().flatten().map(|p| 28 * p.nodes.len() + 128).sum();
        of(&self.state) + of(&self.before) + pins + 256 * self.obstacles.len()
    }
}

impl World {
    /// Takes a checkpoint between two steps.
    pub fn checkpoint(&self) -> Checkpoint {
        let (state, before, model, worst_residual) = self.parts_of_checkpoint();
        Checkpoint {
            state: state.clone(),
            before: before.clone(),
            pins: model.bodies.iter().map(|b| b.pins.clone()).collect(),
            thrusts: model.bodies.iter().map(|b| thrusts(&b.loads)).collect(),
            obstacles: model.obstacles.clone(),
            gravity: model.gravity,
            wind: model.wind,
            worst_residual,
        }
    }

    /// Goes on from a checkpoint of a world built from the same scene; the error says
    /// what does not fit, and leaves the world as it was.
    pub fn resume(&mut self, checkpoint: Checkpoint) -> Result<(), String> {
        let bodies = &self.model().bodies;
        if checkpoint.state.bodies.len() != bodies.len()
            || checkpoint.pins.len() != bodies.len()
            || checkpoint.thrusts.len() != bodies.len()
        {
            return Err(format!(
                "the checkpoint has {} bodies and the scene {}",
                checkpoint.state.bodies.len(),
                bodies.len()
            ));
        }
        for state in [&checkpoint.state, &checkpoint.before] {
            for (saved, body) in state.bodies.iter().zip(bodies) {
                let past = saved.past.as_ref().map(|past| [past.positions.len(), past.velocities.len()]);
                let lengths = [saved.positions.len(), saved.velocities.len()];
                if lengths.into_iter().chain(past.into_iter().flatten()).any(|length| length != body.len()) {
                    let (has, wants) = (saved.positions.len(), body.len());
                    return Err(format!(
                        "body '{}' has {has} nodes in the checkpoint and {wants} in the scene",
                        body.name
                    ));
                }
            }
        }
        if checkpoint.state.events_done > self.model().events.len()
            || checkpoint.pins.iter().zip(bodies).any(|(pins, body)| {
                pins.iter()
                    .any(|p| p.targets.len() != p.nodes.len() || p.nodes.iter().any(|&i| i as usize >= body.len()))
            })
            || checkpoint
                .thrusts
                .iter()
                .zip(bodies)
                .any(|(thrusts, body)| thrusts.iter().any(|(nodes, _)| nodes.iter().any(|&i| i as usize >= body.len())))
        {
            return Err("the checkpoint does not belong to this scene".to_owned());
        }
        let done: Vec<Edit> = self.model().events[..checkpoint.state.events_done].iter().map(|e| e.1.clone()).collect();
        for (b, body) in bodies.iter().enumerate() {
            let changed = done.iter().rev().find_map(|edit| match edit {
                Edit::Axes { body, axes } if *body == b => Some(axes.coordinates),
                _ => None,
            });
            let coordinates = changed.unwrap_or(body.axes.coordinates);
            let lacks = |saved: &BodyState| match coordinates {
                Coordinates::Nodal => false,
                Coordinates::Rigid => saved.rigid.is_none(),
                Coordinates::Framed => saved.framed.is_none(),
                Coordinates::Reduced => saved.reduced.is_none(),
            };
            if lacks(&checkpoint.state.bodies[b]) {
                return Err(format!("body '{}' has other unknowns in the checkpoint than in the scene", body.name));
            }
        }
        let model = self.model_mut();
        for edit in done {
            match edit {
                Edit::Material { body, material } => model.bodies[body].material = *material,
                Edit::Axes { body, axes } => model.bodies[body].axes = axes,
                Edit::Step(dt) => model.step.dt = dt,
                _ => continue,
            }
        }
        for (body, pins) in model.bodies.iter_mut().zip(checkpoint.pins) {
            body.pins = pins;
            body.compile();
        }
        for (body, thrusts) in model.bodies.iter_mut().zip(checkpoint.thrusts) {
            body.loads.retain(|load| !matches!(load, Load::Thrust { .. }));
            body.loads.extend(thrusts.into_iter().map(|(nodes, newtons)| Load::Thrust { nodes, newtons }));
        }
        model.obstacles = checkpoint.obstacles;
        (model.gravity, model.wind) = (checkpoint.gravity, checkpoint.wind);
        self.set_parts(checkpoint.state, checkpoint.before, checkpoint.worst_residual);
        Ok(())
    }
}

/// The forces that edits turned on.
fn thrusts(loads: &[Load]) -> Vec<(Vec<u32>, DVec3)> {
    let thrust = |load: &Load| match load {
        Load::Thrust { nodes, newtons } => Some((nodes.clone(), *newtons)),
        Load::Force { .. } | Load::Pressure { .. } => None,
    };
    loads.iter().filter_map(thrust).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::ObstacleShape;
    use crate::{Axes, Body, Clip, Material, Model, Shape, animate::Motion};

    fn world() -> World {
        let shape = Shape::rectangle([0.6, 0.6], [9, 9]).unwrap();
        let corner = shape.corners()[0];
        let mut sheet = Body::new("sheet", shape, Material::default(), Axes::IMPLICIT);
        sheet.start.position.y = 0.5;
        let sheet = sheet.pin(&[corner]);
        let mut book = Body::new(
            "book",
            Shape::block(DVec3::new(0.2, 0.05, 0.1), [3, 2, 3]).unwrap(),
            Material::default(),
            Axes::RIGID,
        );
        book.start.position = DVec3::new(2.0, 0.4, 0.0);
        book.start.spin = DVec3::new(1.0, 2.0, 3.0);
        let ground = Obstacle {
            name: "ground".into(),
            shape: ObstacleShape::Plane,
            hollow: false,
            motion: Motion::default(),
            friction: 0.5,
            restitution: 0.0,
            range: 0.005,
            stiffness: None,
            damping: 0.2,
            tolerance: 1e-4,
            published: None,
            removed: false,
        };
        let events = vec![
            (0.1, Edit::Pin { body: 0, nodes: vec![40], stiffness: None }),
            (
                0.15,
                Edit::Material { body: 0, material: Box::new(Material { young: 3e5, ..Material::default() }.into()) },
            ),
            (0.2, Edit::Unpin { body: 0, nodes: vec![corner] }),
            (0.22, Edit::Thrust { body: 1, nodes: vec![0, 3], newtons: DVec3::new(0.5, 2.0, 0.0) }),
            (0.24, Edit::Thrust { body: 0, nodes: vec![7], newtons: DVec3::new(0.0, 0.1, 0.0) }),
            (0.25, Edit::Gravity(DVec3::new(1.0, -5.0, 0.0))),
            (0.27, Edit::Step(1.0 / 400.0)),
            (0.3, Edit::Axes { body: 0, axes: Axes::SPRING }),
        ];
        World::new(Model { bodies: vec![sheet, book], obstacles: vec![ground], events, ..Model::default() })
    }

    /// Catches anything a run remembers that is not in the checkpoint: scratch, pins and
    /// materials changed by events, the step control, the account.
    #[test]
    fn a_run_resumed_anywhere_ends_with_the_same_bytes() {
        let clip = Clip { seconds: 0.5, fps: 110.0 };
        let frames: Vec<_> = world().play(clip).map(Result::unwrap).collect();
        for cut in [0, 7, 12, 18, 24, 30, 40] {
            let mut first = world();
            for k in 0..=cut {
                first.frame_at(k as f64 / clip.fps).unwrap();
            }
            let mut second = world();
            second.resume(first.checkpoint()).unwrap();
            for k in cut + 1..clip.frames() {
                let mut frame = second.frame_at(k as f64 / clip.fps).unwrap();
                frame.index = k;
                assert_eq!(frame, frames[k], "cut {cut}, frame {k}");
            }
        }
    }

    /// Catches a checkpoint without the unknowns of a body, which a step would ask for.
    #[test]
    fn a_checkpoint_that_lacks_unknowns_is_refused() {
        let mut checkpoint = world().checkpoint();
        checkpoint.state.bodies[1].rigid = None;
        assert!(world().resume(checkpoint).is_err_and(|why| why.contains("'book'")));
    }

    /// Catches a checkpoint of another scene that is taken without a word.
    #[test]
    fn a_checkpoint_of_another_scene_is_refused() {
        let mut other = World::new(Model {
            bodies: vec![Body::new("a", Shape::line(1.0, 5).unwrap(), Material::default(), Axes::IMPLICIT)],
            ..Model::default()
        });
        assert!(other.resume(world().checkpoint()).unwrap_err().contains("bodies"));
    }
}
