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
    slide_body(Body::new("block", shape, firm, Axes::IMPLICIT), gravity, velocity, seconds, 1e-3)
}

fn slide_body(mut block: Body, gravity: DVec3, velocity: f64, seconds: f64, dt: f64) -> (f64, Row) {
    let half = block.shape.rest_positions.iter().map(|x| x.y).fold(0.0, f64::max);
    block.start = Start { position: DVec3::new(0.0, half + 0.0049, 0.0), velocity: DVec3::X * velocity, ..block.start };
    let plane = Obstacle {
        name: "plane".to_owned(),
        shape: ObstacleShape::Plane,
        hollow: false,
        motion: Motion::still(DVec3::ZERO, DQuat::IDENTITY),
        friction: 0.0,
        restitution: 0.0,
        range: 0.005,
        stiffness: None,
        damping: 0.2,
        tolerance: 1e-4,
        published: None,
        removed: false,
    };
    let step = StepSettings { dt, ..StepSettings::default() };
    let model = Model { bodies: vec![block], obstacles: vec![plane], gravity, step, ..Model::default() };
    let mut world = World::new(model);
    while world.time() < seconds {
        world.step().unwrap();
        // A little may come back from the springs that hold it where it sticks.
        let taken = world.row(0).friction;
        assert!(taken > -0.01, "friction gave {} J by {} s", -taken, world.time());
    }
    let x = &world.state().bodies[0].positions;
    (x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64, world.row(0))
}

/// Catches friction that turns a slow node round within a step: it would feed the body
/// and keep it shaking for ever.
#[test]
fn friction_only_takes_and_a_soft_block_comes_to_rest() {
    let soft = Material { young: 6e4, density: 1050.0, damping: 0.08, friction: 0.5, ..Material::default() };
    let shape = Shape::block(DVec3::splat(0.3), [6, 6, 6]).unwrap();
    let (_, row) = slide_body(Body::new("jelly", shape, soft, Axes::IMPLICIT), -G * DVec3::Y, 0.5, 4.0, 2e-3);
    assert!(row.kinetic < 0.03, "{} J left of 3.5 J", row.kinetic);
}

/// Catches friction of the wrong size, on the whole way.
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
