//! Friction of a body that deforms, against Coulomb's law.

use glam::{DQuat, DVec3};
use goop::animate::Motion;
use goop::contact::{Obstacle, ObstacleShape};
use goop::ledger::Row;
use goop::model::{Start, StepSettings};
use goop::{Axes, Body, Material, Model, Shape, World};

const G: f64 = 9.81;

/// A firm block of 10 cm lies on a plane; returns how far it went (m) and its account.
fn slide(gravity: DVec3, velocity: f64, friction: f64, seconds: f64) -> (f64, Row) {
    let firm = Material { young: 1e6, damping: 0.2, friction, ..Material::default() };
    let shape = Shape::block(DVec3::splat(0.1), [4, 4, 4]).unwrap();
    let mut block = Body::new("block", shape, firm, Axes::IMPLICIT);
    block.start = Start { position: DVec3::new(0.0, 0.0549, 0.0), velocity: DVec3::X * velocity, ..block.start };
    let plane = Obstacle {
        name: "plane".to_owned(),
        shape: ObstacleShape::Plane,
        hollow: false,
        motion: Motion::still(DVec3::ZERO, DQuat::IDENTITY),
        friction: 0.0,
        range: 0.005,
        stiffness: None,
        damping: 0.2,
        tolerance: 1e-4,
        published: None,
        removed: false,
    };
    let step = StepSettings { dt: 1e-3, ..StepSettings::default() };
    let model = Model { bodies: vec![block], obstacles: vec![plane], gravity, step, ..Model::default() };
    let mut world = World::new(model);
    let mut lost = 0.0;
    while world.time() < seconds {
        world.step().unwrap();
        let row = world.row(0);
        // What friction holds in its springs may come back; what it has taken may not.
        assert!(row.friction >= lost - 1e-5, "friction gave {} J at {} s", lost - row.friction, world.time());
        lost = row.friction;
    }
    let x = &world.state().bodies[0].positions;
    (x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64, world.row(0))
}

/// Catches friction that turns a slow node round within a step: it would feed the body
/// and keep it shaking for ever.
#[test]
fn a_sliding_block_stops_where_coulomb_says_and_then_rests() {
    let (way, row) = slide(-G * DVec3::Y, 1.0, 0.5, 1.5);
    let coulomb = 1.0 / (2.0 * 0.5 * G);
    assert!((way / coulomb - 1.0).abs() < 0.05, "{way} m, not {coulomb} m");
    assert!(row.kinetic < 1e-6, "{} J left", row.kinetic);
}

/// Catches friction that is too weak or too late while a body slides, or that lets it creep.
#[test]
fn a_block_on_a_ramp_slides_or_sticks_as_its_angle_says() {
    let (sin, cos) = 20f64.to_radians().sin_cos();
    let gravity = G * DVec3::new(sin, -cos, 0.0);
    let (way, _) = slide(gravity, 0.0, 0.2, 1.0);
    let coulomb = 0.5 * G * (sin - 0.2 * cos);
    assert!((way / coulomb - 1.0).abs() < 0.05, "{way} m, not {coulomb} m");
    let (way, _) = slide(gravity, 0.0, 0.5, 1.0);
    assert!(way.abs() < 1e-3, "crept {way} m");
}
