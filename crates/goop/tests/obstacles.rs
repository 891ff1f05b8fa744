//! Obstacles: nothing goes through, nothing sinks in, friction holds as Coulomb says.

mod common;

use common::*;
use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::contact::ObstacleShape;
use goop::{Axes, Body, Edit, Integrator, Material, Model, Shape, World};

const HARD: Material = Material {
    density: 1000.0,
    young: 1.0e7,
    poisson: 0.25,
    thickness: 2e-3,
    radius: 2e-3,
    damping: 0.1,
    drag: 0.0,
    friction: 0.0,
    restitution: 0.0,
    yield_strain: f64::INFINITY,
    flow: 0.0,
    flow_limit: f64::INFINITY,
    tear: f64::INFINITY,
};
const G: f64 = 9.81;

fn bodies() -> [(&'static str, Axes); 3] {
    [("rigid", Axes::RIGID), ("springs", Axes::IMPLICIT), ("springs, bdf2", nodal(Integrator::Bdf2))]
}

/// A flat block at rest on a plane that is then tilted by turning gravity, or pushed.
fn on_plane(axes: Axes, friction: f64, tilt: f64, velocity: f64) -> World {
    let mut body = block(DVec3::new(0.2, 0.06, 0.2), [5, 3, 5], HARD, axes);
    body.start.position.y = 0.03;
    let mut plane = obstacle(ObstacleShape::Plane, friction);
    plane.damping = 0.5;
    let mut world = World::new(Model { obstacles: vec![plane], ..fixed(body, 1.0 / 240.0) });
    world.settle().unwrap();
    let body = &world.model().bodies[0];
    let (nodes, push) = ((0..body.len() as u32).collect(), DVec3::X * velocity * body.mass());
    world.edit(&Edit::Impulse { body: 0, nodes, newton_seconds: push });
    world.edit(&Edit::Gravity(DVec3::new(tilt.sin(), -tilt.cos(), 0.0) * G));
    world
}

/// Catches friction that creeps, or that holds more or less than μ times the load.
#[test]
fn a_block_on_an_incline_slips_when_the_slope_exceeds_the_friction() {
    let friction = 0.5;
    for (name, axes) in bodies() {
        for share in [0.98, 1.02] {
            let tilt = f64::atan(share * friction);
            let mut world = on_plane(axes, friction, tilt, 0.0);
            run(&mut world, 0.5);
            let (x0, v0) = (center(&world).x, momenta(&world).0.x / world.model().bodies[0].mass());
            run(&mut world, 2.0);
            let (x1, v1) = (center(&world).x, momenta(&world).0.x / world.model().bodies[0].mass());
            let expected = G * (tilt.sin() - friction * tilt.cos());
            eprintln!("{name}, tan α = {share} μ: moved {:.2e} m, {:.4} m/s²", x1 - x0, (v1 - v0) / 1.5);
            if share < 1.0 {
                assert!((x1 - x0).abs() < 1e-3, "{name} creeps {}", x1 - x0);
            } else {
                // The difference of two nearly equal forces, each within 1 % of the weight's share.
                let slope = G * tilt.sin();
                assert!(((v1 - v0) / 1.5 - expected).abs() < 0.01 * slope && v1 > 0.1, "{name}");
            }
            assert!(depth(&world) <= 1e-3, "{name}: {}", depth(&world));
        }
    }
}

/// Catches friction that depends on speed or on the step.
#[test]
fn a_sliding_block_stops_after_v_squared_over_two_mu_g() {
    let (friction, speed) = (0.3, 2.0);
    for (name, axes) in bodies() {
        let mut world = on_plane(axes, friction, 0.0, speed);
        let start = center(&world).x;
        run(&mut world, 1.5);
        let (way, expected) = (center(&world).x - start, speed * speed / (2.0 * friction * G));
        eprintln!("{name}: stops after {way:.4} m, Coulomb {expected:.4} m ({:+.2} %)", 100.0 * (way / expected - 1.0));
        assert!((way / expected - 1.0).abs() < 0.02, "{name}");
        assert!(momenta(&world).0.length() < 1e-3 * world.model().bodies[0].mass());
    }
}

/// Catches a body that sinks, rings for ever or is thrown back by the obstacle.
#[test]
fn a_dropped_block_comes_to_rest_on_the_plane() {
    for (name, axes) in bodies() {
        let mut body = block(DVec3::splat(0.2), [4, 4, 4], Material { young: 1e6, ..HARD }, axes);
        body.start.position.y = 0.4;
        let mut plane = obstacle(ObstacleShape::Plane, 0.3);
        plane.damping = 0.3;
        let mut world = World::new(Model { obstacles: vec![plane], ..fixed(body, 1.0 / 240.0) });
        run(&mut world, 3.0);
        let speed = (2.0 * world.row(0).kinetic / world.model().bodies[0].mass()).sqrt();
        let lowest = world.state().bodies[0].positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        eprintln!(
            "{name}: at rest with {speed:.1e} m/s, lowest node {lowest:.1e} m, deepest ever {:.1e} m",
            depth(&world)
        );
        assert!(speed < 1e-3 && lowest > -1e-4 && lowest < 6e-3 && depth(&world) <= 1e-3, "{name}");
    }
}

/// Catches nodes that jump over something thin in one step.
#[test]
fn nothing_shot_at_a_thin_plate_passes() {
    for (name, axes, adaptive) in [
        ("springs, implicit", Axes::IMPLICIT, false),
        ("springs, explicit", nodal(Integrator::SymplecticEuler), false),
        ("springs, midpoint", nodal(Integrator::ImplicitMidpoint), false),
        ("springs, bdf2", nodal(Integrator::Bdf2), false),
        ("rigid", Axes::RIGID, false),
        ("springs, adaptive", Axes::IMPLICIT, true),
        ("rigid, adaptive", Axes::RIGID, true),
    ] {
        let mut body = block(DVec3::splat(0.1), [3, 3, 3], Material { young: 1e5, ..HARD }, axes);
        body.start.position.y = 0.3;
        body.start.velocity.y = -1000.0;
        let plate = obstacle(ObstacleShape::Box { size: DVec3::new(20.0, 1e-3, 20.0), round: 0.0 }, 0.0);
        let mut model = Model { obstacles: vec![plate], gravity: DVec3::ZERO, ..fixed(body, 1.0 / 1000.0) };
        model.step.adaptive = adaptive;
        let mut world = World::new(model);
        let mut lowest = f64::INFINITY;
        run(&mut world, 0.02);
        for x in &world.state().bodies[0].positions {
            lowest = lowest.min(x.y);
        }
        eprintln!("{name}: lowest node at {lowest:.2e} m, deepest {:.1e} m", depth(&world));
        assert!(lowest >= 0.5e-3 - 1e-3 && depth(&world) <= 1e-3, "{name}: {lowest}");
    }
}

/// Catches a plate that swats through nodes at rest, and one that a rigid body sinks into.
#[test]
fn a_fast_plate_takes_along_what_it_hits() {
    for (name, axes) in bodies() {
        let mut body = block(DVec3::splat(0.1), [3, 3, 3], Material { young: 1e6, ..HARD }, axes);
        body.start.position.y = 0.3;
        let mut plate = obstacle(ObstacleShape::Box { size: DVec3::new(2.0, 2e-3, 2.0), round: 0.0 }, 0.0);
        let key = |time, y| Key { time, position: DVec3::Y * y, rotation: DQuat::IDENTITY };
        plate.motion = Motion::new(vec![key(0.0, 0.0), key(0.1, 2.0), key(0.2, 2.0)]);
        let mut world = World::new(Model { obstacles: vec![plate], ..fixed(body, 1.0 / 240.0) });
        run(&mut world, 0.1);
        let lowest = world.state().bodies[0].positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        eprintln!("{name}: lowest node {lowest:.3} m, plate at 2 m, deepest {:.1e} m", depth(&world));
        assert!(lowest > 2.0 && depth(&world) <= 1e-3, "{name}");
    }
}

/// Catches a container with a hole.
#[test]
fn a_hollow_sphere_keeps_a_tumbling_body_inside() {
    for (name, axes) in bodies() {
        let mut body = block(DVec3::splat(0.3), [4, 4, 4], Material { young: 1e5, ..HARD }, axes);
        body.start.velocity = DVec3::new(6.0, 3.0, -4.0);
        body.start.spin = DVec3::new(5.0, -8.0, 3.0);
        let mut sphere = obstacle(ObstacleShape::Sphere { radius: 0.6 }, 0.2);
        sphere.hollow = true;
        let mut world = World::new(Model { obstacles: vec![sphere], ..fixed(body, 1.0 / 240.0) });
        let mut furthest = 0.0f64;
        while world.time() < 2.0 {
            world.step().unwrap();
            let out = world.state().bodies[0].positions.iter().map(|x| x.length()).fold(0.0, f64::max);
            furthest = furthest.max(out);
        }
        eprintln!("{name}: furthest node {furthest:.4} m of 0.6, deepest {:.1e} m", depth(&world));
        assert!(furthest <= 0.6 + 1e-3 && depth(&world) <= 1e-3, "{name}");
    }
}

/// Catches a static solve that stops early or never.
#[test]
fn settling_reaches_its_tolerance() {
    let shape = Shape::rectangle([1.0, 1.0], [15, 15]).unwrap();
    let corners = shape.corners();
    let soft = Material { young: 1e5, ..HARD };
    let sheet = Body::new("sheet", shape, soft, Axes::IMPLICIT).pin(&corners);
    let mut cube = block(DVec3::splat(0.2), [5, 5, 5], soft, Axes::IMPLICIT);
    cube.start.position.y = 0.11;
    let plane = obstacle(ObstacleShape::Plane, 0.3);
    let scenes = [
        ("sheet at four corners", fixed(sheet, 1.0 / 240.0)),
        ("block on a plane", Model { obstacles: vec![plane], ..fixed(cube, 1.0 / 240.0) }),
    ];
    for (name, model) in scenes {
        let mut world = World::new(model);
        let left = world.settle().unwrap();
        let start = world.state().bodies[0].positions.clone();
        run(&mut world, 0.2);
        let moved =
            start.iter().zip(&world.state().bodies[0].positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        eprintln!("{name}: force left {left:.1e} of the weight, then moved {moved:.1e} m in 0.2 s");
        assert!(left <= goop::statics::TOLERANCE && moved < 1e-4, "{name}");
        assert!(depth(&world) <= 1e-3);
    }
}
