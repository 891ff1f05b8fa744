//! Known answers: projectile, catenary, hanging bar, torque-free tumbling.

mod common;

use common::*;
use glam::{DQuat, DVec3};
use goop::{Axes, Body, Integrator, Material, Model, Shape, World};

const G: f64 = 9.81;

/// Catches internal forces that move the centre of mass. Schemes that move by the
/// velocity of the end lag the parabola by exactly ½ g dt t; the others follow it.
#[test]
fn the_centre_of_mass_follows_the_parabola() {
    for (name, integrator) in NODAL {
        let errors: Vec<f64> = [1000.0, 2000.0, 4000.0]
            .map(|rate| {
                let material = Material { young: 3e4, damping: 0.2, ..Material::default() };
                let mut body = block(DVec3::new(0.3, 0.2, 0.2), [4, 3, 3], material, nodal(integrator));
                body.start.velocity = DVec3::new(3.0, 4.0, -1.0);
                body.start.spin = DVec3::new(3.0, 7.0, 2.0);
                let mut world = World::new(fixed(body, 1.0 / rate));
                deform(&mut world, 0.02);
                let start = center(&world);
                run(&mut world, 0.5);
                let t = world.time();
                let exact = start + DVec3::new(3.0, 4.0, -1.0) * t - 0.5 * G * t * t * DVec3::Y;
                (center(&world) - exact).length()
            })
            .to_vec();
        let second = matches!(integrator, Integrator::ExplicitTaylor | Integrator::ImplicitMidpoint);
        // The first step of backward Euler is half as much again too late at the end.
        let two_step = integrator == Integrator::Bdf2;
        let offset = match integrator {
            Integrator::Bdf2 => 0.75 * G * 1e-6,
            _ if second => 0.0,
            _ => 0.5 * G * 0.5 / 1000.0,
        };
        eprintln!("projectile, {name}: off by {} m at 1/1000, 1/2000, 1/4000 s", list(&errors));
        assert!((errors[0] - offset).abs() < 1e-12, "{name}: {}", errors[0]);
        let order = if two_step { 2.0 } else { 1.0 };
        assert!(second || orders(&errors).iter().all(|o| (o - order).abs() < 1e-6));
    }
}

/// Length over span of a polygon of links on an arc of half angle `a`.
fn chain_ratio(a: f64, nodes: usize) -> f64 {
    let links = (nodes - 1) as f64;
    links * (a / links).sin() / a.sin()
}

/// Catches weight, tension or mass shares that are not those of a chain.
#[test]
fn a_hanging_chain_is_a_catenary() {
    let sag = |nodes: usize| {
        let length = 1.5;
        // Starts as an arc of that length whose chord is 1: sin(a)/a = 1/1.5. A polygon in it is a
        // little shorter, so the radius is scaled until the links add up.
        let (mut low, mut high) = (0.1f64, 3.0f64);
        for _ in 0..100 {
            let a = 0.5 * (low + high);
            if chain_ratio(a, nodes) < length { low = a } else { high = a }
        }
        let (half, links) = (low, (nodes - 1) as f64);
        let radius = 1.0 / (2.0 * half.sin());
        assert!((2.0 * radius * links * (half / links).sin() - length).abs() < 1e-9);
        let shape = Shape::arc(radius, 2.0 * half, nodes).unwrap();
        let (a, b) = (shape.rest_positions[0], shape.rest_positions[nodes - 1]);
        let span = a.distance(b);
        let material = Material { young: 1e10, radius: 1e-6, density: 1e4, damping: 0.0, ..Material::default() };
        let body = Body::new("chain", shape, material, Axes::IMPLICIT).pin(&[0, nodes as u32 - 1]);
        let mut world = World::new(fixed(body, 1.0 / 240.0));
        let left = world.settle().unwrap();
        assert!(left < 1e-6, "{left}");
        let lowest = world.state().bodies[0].positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        ((0.5 * (a.y + b.y) - lowest) / span, length / span)
    };
    let mut errors = Vec::new();
    for nodes in [9, 17, 33, 65] {
        let (found, ratio) = sag(nodes);
        let error = (found / 0.502633 - 1.0).abs();
        eprintln!(
            "catenary, {nodes} nodes, length/span {ratio:.6}: sag/span {found:.6}, off by {:.3} %",
            100.0 * error
        );
        errors.push(error);
    }
    eprintln!("catenary: orders {:.2?}", orders(&errors));
    assert!(errors[3] < 1e-3 && orders(&errors)[0] > 1.5);
}

/// Catches a stiffness or a mass that is not that of the card, in each dimension.
#[test]
fn a_hanging_bar_stretches_by_its_weight() {
    let (young, density, length) = (1e6, 1000.0, 1.0);
    let exact = density * G * length * length / (2.0 * young);
    let material = Material { young, density, radius: 0.01, thickness: 0.01, damping: 0.0, ..Material::default() };
    let turn = DQuat::from_rotation_z(-std::f64::consts::FRAC_PI_2);
    for (name, coarse) in [("curve", 5), ("strip", 9), ("block", 9)] {
        let errors: Vec<f64> = [coarse, 2 * coarse - 1, 4 * coarse - 3]
            .map(|n| {
                let across = (n - 1) / 8 + 1;
                let shape = match name {
                    "curve" => Shape::line(length, n).unwrap(),
                    "strip" => Shape::rectangle([length, 0.125], [n, across]).unwrap(),
                    _ => Shape::block(DVec3::new(length, 0.125, 0.125), [n, across, across]).unwrap(),
                };
                let top = shape.side(0, false);
                let mut body = Body::new("bar", shape, material, Axes::IMPLICIT);
                body.start.rotation = turn;
                let body = body.pin(&top);
                let bottom = body.shape.side(0, true);
                let mut world = World::new(fixed(body, 1.0 / 240.0));
                let before = mean_height(&world, &bottom);
                assert!(world.settle().unwrap() < 1e-6);
                (before - mean_height(&world, &bottom)) / exact - 1.0
            })
            .to_vec();
        let shown: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let steps: Vec<f64> = errors.windows(2).map(|e| (e[1] - e[0]).abs()).collect();
        eprintln!(
            "hanging {name}: δ = {exact:.4} m, off by {} (relative), order {:.2?}",
            list(&errors),
            orders(&steps)
        );
        // The held end of strip and block cannot narrow, which takes up to 1.5 % at this slenderness.
        assert!(name != "curve" || shown[2] < 1e-5, "{name}: {}", shown[2]);
        assert!(shown[2] < 0.02, "{name}: {}", shown[2]);
    }
}

fn mean_height(world: &World, nodes: &[u32]) -> f64 {
    nodes.iter().map(|&i| world.state().bodies[0].positions[i as usize].y).sum::<f64>() / nodes.len() as f64
}

/// A book spun about its middle axis, with a nudge.
fn book(dt: f64) -> World {
    let mut body = block(DVec3::new(0.2, 0.04, 0.3), [3, 3, 3], Material::default(), Axes::RIGID);
    body.start.spin = DVec3::new(6.0, 0.02, 0.01);
    World::new(Model { gravity: DVec3::ZERO, ..fixed(body, dt) })
}

/// Times (s) at which the middle axis turns over.
fn flips(world: &mut World, seconds: f64) -> Vec<f64> {
    let mut times = Vec::new();
    let mut side = 1.0;
    while world.time() < seconds {
        world.step().unwrap();
        let rigid = world.state().bodies[0].rigid.as_ref().unwrap();
        let along = (rigid.rotation * DVec3::X).dot(rigid.angular_momentum.normalize());
        if along * side < 0.0 {
            side = -side;
            times.push(world.time());
        }
    }
    times
}

/// Catches a rotation that gains or loses energy, and an axis that should not be stable.
#[test]
fn a_book_spun_about_its_middle_axis_flips_again_and_again() {
    let mut world = book(1.0 / 240.0);
    let (l0, t0) = (world.row(0).angular_momentum, world.row(0).kinetic);
    let times = flips(&mut world, 20.0);
    let (l1, t1) = (world.row(0).angular_momentum, world.row(0).kinetic);
    let fine = flips(&mut book(1.0 / 3840.0), 20.0);
    eprintln!(
        "book: {} flips in 20 s, {} with a sixteenth of the step; angular momentum {:.1e}, energy {:+.1e}",
        times.len(),
        fine.len(),
        (l1 - l0).length() / l0.length(),
        t1 / t0 - 1.0
    );
    assert!(times.len() >= 4 && times.len() == fine.len());
    assert!((l1 - l0).length() < 1e-12 * l0.length() && (t1 / t0 - 1.0).abs() < 1e-3);
    assert!(times.iter().zip(&fine).all(|(a, b)| (a - b).abs() < 0.02 * b), "{times:?} {fine:?}");
}

/// Catches a turn that is only first order in the step.
#[test]
fn tumbling_is_second_order_in_the_step() {
    let at = |dt: f64| {
        let mut world = book(dt);
        run(&mut world, 1.0);
        world.state().bodies[0].rigid.as_ref().unwrap().rotation
    };
    let exact = at(1.0 / 15360.0);
    let errors: Vec<f64> = [60.0, 120.0, 240.0, 480.0].map(|rate| angle_between(at(1.0 / rate), exact)).to_vec();
    eprintln!("tumbling: off by {} rad at 1/60 … 1/480 s, orders {:.2?}", list(&errors), orders(&errors));
    assert!(orders(&errors).iter().all(|o| (1.8..2.2).contains(o)));
}
