//! What acts on a body from outside at an instant, for those who look at it.
//!
//! ```text
//! load      as the scene gives it at that time, shared over the nodes
//! drive     as a full step from then would have it
//! spring    k (target - x) of soft pins and grabs
//! contact   push + friction + damper of an obstacle at the end of the last step
//! ```
//! Nothing here is part of a step: it is worked out again from the state, so that a
//! resumed run reports the same.

use crate::animate::Pose;
use crate::contact;
use crate::coordinates::nodal;
use crate::drive;
use crate::frame::{ForceKind, Frame, NodeForce};
use crate::model::{Coordinates, Model};
use crate::state::BodyState;
use glam::DVec3;

/// A rigid body touches what is nearer than this share of the obstacle's range: as its step has it.
const RIGID_REACH: f64 = 0.1;

/// Adds the contacts of a body and the forces on it, in its state at a time (s), to a frame.
pub fn on(model: &Model, b: usize, time: f64, state: &BodyState, frame: &mut Frame) {
    let (body, x) = (&model.bodies[b], &state.positions);
    let rigid = body.axes.coordinates == Coordinates::Rigid;
    let mut add = |node: usize, kind: ForceKind, force: DVec3| {
        if force != DVec3::ZERO {
            let newtons = force.as_vec3().to_array();
            frame.forces.push(NodeForce { body: b as u32, node: node as u32, kind, newtons });
        }
    };
    if !body.loads.is_empty() {
        let mut loads = vec![DVec3::ZERO; x.len()];
        nodal::add_loads(body, time, x, &mut loads);
        loads.iter().enumerate().for_each(|(node, &force)| add(node, ForceKind::Load, force));
    }
    if body.drives.iter().any(|drive| drive.acts(time, model.step.dt)) {
        let mut forces = vec![DVec3::ZERO; x.len()];
        drive::add(body, model.gravity, time, model.step.dt, x, &state.velocities, &mut forces);
        forces.iter().enumerate().for_each(|(node, &force)| add(node, ForceKind::Drive, force));
    }
    nodal::soft_pins(body, time, x, |node, force, _, _, _| add(node, ForceKind::Spring, force));
    if rigid {
        return rigid_contacts(model, b, time, state, frame);
    }
    if state.anchors.is_empty() {
        return;
    }
    let poses: Vec<Pose> = model.obstacles.iter().map(|o| o.motion.at(time)).collect();
    let mut touches = Vec::new();
    contact::find(model, body, &poses, 0.0, Some(0.0), x, &state.velocities, &state.anchors, &mut touches);
    for touch in &touches {
        let relative = state.velocities[touch.node as usize] - touch.surface_velocity;
        add(touch.node as usize, ForceKind::Contact, touch.force_after(0.0, relative));
    }
    frame.contacts.extend(state.anchors.iter().map(|a| (b as u32, a.node)));
}

fn rigid_contacts(model: &Model, b: usize, time: f64, state: &BodyState, frame: &mut Frame) {
    for obstacle in model.obstacles.iter().filter(|o| !o.removed) {
        let pose = obstacle.motion.at(time);
        for (node, &x) in state.positions.iter().enumerate() {
            if obstacle.gap(x, &pose).distance <= RIGID_REACH * obstacle.range {
                frame.contacts.push((b as u32, node as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::animate::Motion;
    use crate::contact::{Obstacle, ObstacleShape};
    use crate::model::{Axes, Body, Load};
    use crate::{Material, Shape, World};

    fn sum(frame: &Frame, kind: ForceKind) -> DVec3 {
        frame.forces.iter().filter(|f| f.kind == kind).map(|f| DVec3::from_array(f.newtons.map(f64::from))).sum()
    }

    /// Catches contact forces that are those of another instant, or that leave out a part.
    #[test]
    fn obstacles_carry_the_weight_of_what_lies_still_on_them() {
        let mut body =
            Body::new("cube", Shape::block(DVec3::splat(0.2), [4; 3]).unwrap(), Material::default(), Axes::IMPLICIT);
        body.start.position.y = 0.1;
        let weight = 9.81 * body.mass();
        let ground = Obstacle {
            name: "ground".into(),
            shape: ObstacleShape::Plane,
            hollow: false,
            motion: Motion::default(),
            friction: 0.4,
            restitution: 0.0,
            range: 0.01,
            stiffness: None,
            damping: 1.0,
            tolerance: 1e-3,
            published: None,
            removed: false,
        };
        let mut world = World::new(Model { bodies: vec![body], obstacles: vec![ground], ..Model::default() });
        world.settle().unwrap();
        let frame = world.frame_at(0.5).unwrap();
        let push = sum(&frame, ForceKind::Contact);
        assert!((push.y - weight).abs() < 2e-3 * weight, "{push} against {weight} N");
        assert!(push.x.abs() + push.z.abs() < 1e-3 * weight, "{push}");
        assert!(!frame.contacts.is_empty());
    }

    /// Catches a load that is not shared out as the step does, and a spring that pulls the wrong way.
    #[test]
    fn loads_add_up_to_what_the_scene_says_and_springs_pull_to_their_target() {
        let mut body = Body::new("line", Shape::line(1.0, 5).unwrap(), Material::default(), Axes::IMPLICIT);
        let newtons = DVec3::new(1.0, 2.0, -3.0);
        let course = crate::animate::Course::default();
        body.loads.push(Load::Force { nodes: (0..5).collect(), newtons, course });
        let mut pin = body.pin_at_start(&[2]);
        pin.stiffness = Some(10.0);
        pin.targets[0] += DVec3::Y;
        body.pins.push(pin);
        let mut world = World::new(Model { bodies: vec![body], ..Model::default() });
        let frame = world.frame_at(0.0).unwrap();
        assert!((sum(&frame, ForceKind::Load) - newtons).length() < 1e-5);
        assert!((sum(&frame, ForceKind::Spring) - 10.0 * DVec3::Y).length() < 1e-5);
        assert_eq!((frame.bodies[0].sprung.as_slice(), frame.bodies[0].pinned.len()), (&[2][..], 0));
    }
}
