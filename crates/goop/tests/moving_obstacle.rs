//! Contact with an obstacle that moves.

use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::contact::{Obstacle, ObstacleShape};
use goop::model::Start;
use goop::{Axes, Body, Material, Model, Shape, World};

/// A small sheet falls on a plane and rests; all of it moves with `velocity`.
fn landed(velocity: DVec3) -> Vec<DVec3> {
    let soft = Material { young: 1e5, thickness: 2e-3, ..Material::default() };
    let mut sheet = Body::new("sheet", Shape::rectangle([0.2, 0.2], [5, 5]).unwrap(), soft, Axes::IMPLICIT);
    sheet.start = Start { position: DVec3::new(0.0, 0.02, 0.0), velocity, ..sheet.start };
    let key = |time: f64| Key { time, position: velocity * time, rotation: DQuat::IDENTITY };
    let plane = Obstacle {
        name: "plane".to_owned(),
        shape: ObstacleShape::Plane,
        motion: Motion::new(vec![key(0.0), key(1.0)]),
        hollow: false,
        friction: 0.3,
        restitution: 0.0,
        range: 0.005,
        stiffness: None,
        damping: 0.2,
        tolerance: 1e-4,
        published: None,
        removed: false,
    };
    let mut world = World::new(Model { bodies: vec![sheet], obstacles: vec![plane], ..Model::default() });
    while world.time() < 0.5 {
        world.step().unwrap();
    }
    let time = world.time();
    world.state().bodies[0].positions.iter().map(|x| x - velocity * time).collect()
}

/// Catches contact that looks for the obstacle where it was: a surface that comes
/// towards the body would push too late and too softly.
#[test]
fn contact_is_the_same_when_body_and_obstacle_move_together() {
    let still = landed(DVec3::ZERO);
    for velocity in [DVec3::new(0.0, 1.0, 0.0), DVec3::new(0.5, -1.0, 0.2)] {
        for (a, b) in still.iter().zip(landed(velocity)) {
            assert!((a - b).length() < 1e-6, "{a} at rest, {b} with {velocity}");
        }
    }
}
