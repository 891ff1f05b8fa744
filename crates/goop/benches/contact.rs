//! What contact costs: seconds of computing for a second of motion.
//!
//! `cargo bench -p goop --bench contact [-- pile|cloth]`: piles of jelly cubes, whose cost should grow with their
//! number, and cloths that fold onto themselves.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::contact::{Obstacle, ObstacleShape};
use goop::model::StepSettings;
use goop::{Axes, Body, Material, Model, Shape, World};
use std::time::Instant;

fn floor() -> Obstacle {
    Obstacle {
        name: "floor".into(),
        shape: ObstacleShape::Plane,
        hollow: false,
        motion: Motion::default(),
        friction: 0.5,
        restitution: 0.0,
        range: 5e-3,
        stiffness: None,
        damping: 0.2,
        tolerance: 1e-4,
        published: None,
        removed: false,
    }
}

fn model(bodies: Vec<Body>) -> Model {
    let step = StepSettings { dt: 1.0 / 120.0, ..StepSettings::default() };
    Model { bodies, obstacles: vec![floor()], step, ..Model::default() }
}

/// Cubes in layers of four, each a little turned.
fn pile(count: usize) -> Model {
    let jelly = Material { young: 3e4, damping: 0.2, friction: 0.4, ..Material::default() };
    let cube = Body::new("cube", Shape::block(DVec3::splat(0.1), [4; 3]).unwrap(), jelly, Axes::FINITE);
    let bodies = (0..count).map(|k| {
        let mut one = cube.clone();
        one.name = format!("cube {k}");
        let (q, layer, turn) = (k % 4, k / 4, k as f64);
        let side = |b: usize| if b == 0 { -0.08 } else { 0.08 };
        one.start.position = DVec3::new(
            side(q % 2) + 0.01 * (3.0 * turn).sin(),
            0.1 + 0.18 * layer as f64,
            side(q / 2) + 0.01 * (5.0 * turn).cos(),
        );
        one.start.rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.3 * turn.sin(), turn, 0.3 * turn.cos());
        one
    });
    model(bodies.collect())
}

/// A cloth let down on the floor edge first.
fn cloth(nodes: usize) -> Model {
    let card = Material { young: 2e5, thickness: 1e-3, density: 300.0, damping: 0.3, drag: 0.5, ..Material::default() };
    let shape = Shape::rectangle([0.6, 1.0], [nodes, nodes]).unwrap();
    let mut body = Body::new("cloth", shape, card, Axes::IMPLICIT);
    body.contact.itself = true;
    body.contact.thickness = Some(3e-3);
    body.start.rotation = DQuat::from_rotation_x(85f64.to_radians());
    body.start.position.y = 0.55;
    let top: Vec<u32> = (0..nodes as u32).collect();
    let high = |x: &[DVec3], list: &[u32]| list.iter().map(|&i| x[i as usize].y).sum::<f64>();
    let start = body.start_positions();
    let last: Vec<u32> = (body.len() as u32 - nodes as u32..body.len() as u32).collect();
    let edge = if high(&start, &top) > high(&start, &last) { top } else { last };
    let mut pin = body.pin_at_start(&edge);
    let key = |time: f64, y: f64| Key { time, position: DVec3::new(0.0, y, 0.0), rotation: DQuat::IDENTITY };
    pin.motion = Motion::new(vec![key(0.0, 0.0), key(1.8, -0.95)]);
    body.pins.push(pin);
    model(vec![body])
}

fn time(name: &str, model: Model, seconds: f64) {
    let mut world = World::new(model);
    let (clock, mut most) = (Instant::now(), 0);
    while world.time() < seconds - 1e-9 {
        if let Err(failure) = world.step() {
            println!("{name}: {failure}");
            break;
        }
        most = most.max(world.state().bodies.iter().map(|b| b.row.body_contacts).sum::<u32>());
    }
    let (wall, state) = (clock.elapsed().as_secs_f64(), world.state());
    println!(
        "{name:>12}: {:8.2} s/s, {} steps, {} rejected, {most} places at most, deepest {:.1e} m",
        wall / world.time(),
        state.steps,
        state.rejected,
        world.ledger().worst_penetration
    );
}

fn main() {
    let wanted = |what: &str| std::env::args().skip(1).all(|arg| arg.starts_with("--") || arg == what);
    if wanted("pile") {
        for count in [6, 12, 25, 50] {
            time(&format!("pile {count}"), pile(count), 1.5);
        }
    }
    if wanted("cloth") {
        for nodes in [25, 50, 100] {
            time(&format!("cloth {nodes}²"), cloth(nodes), 1.5);
        }
    }
}
