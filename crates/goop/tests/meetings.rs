//! Bodies that meet each other: what physics says of impacts, friction and rest.

#![allow(clippy::print_stdout)] // figures for whoever looks with --nocapture

mod common;

use common::{block, kinds, obstacle, run};
use glam::{DQuat, DVec3};
use goop::contact::ObstacleShape;
use goop::model::StepSettings;
use goop::{Axes, Body, Material, Model, Shape, World};

fn model(mut bodies: Vec<Body>, dt: f64) -> Model {
    bodies.iter_mut().for_each(|body| body.contact.bodies = true);
    Model { bodies, step: StepSettings { dt, ..Default::default() }, ..Default::default() }
}

fn named(mut body: Body, name: &str, at: DVec3) -> Body {
    body.name = name.to_owned();
    body.start.position = at;
    body
}

fn center_of(world: &World, b: usize) -> DVec3 {
    let (body, state) = (&world.model().bodies[b], &world.state().bodies[b]);
    (0..body.len()).map(|i| body.masses[i] * state.positions[i]).sum::<DVec3>() / body.mass()
}

fn momentum(world: &World) -> [DVec3; 2] {
    let row = world.ledger();
    [row.momentum, row.angular_momentum]
}

/// Catches impulses that differ between the two bodies, arms that are not the nodes', and a step whose momenta
/// follow its solver's tolerance: two free blocks that hit each other off centre keep momentum and angular momentum.
#[test]
fn two_free_bodies_keep_their_momenta() {
    for (name, axes, young) in kinds() {
        let card = Material { young, damping: 0.1, friction: 0.3, ..Material::default() };
        let one = block(DVec3::splat(0.1), [4; 3], card, axes);
        let mut a = named(one.clone(), "a", DVec3::ZERO);
        let mut b = named(one, "b", DVec3::new(0.15, 0.04, 0.02));
        a.start.velocity = DVec3::X;
        b.start.rotation = DQuat::from_rotation_z(0.3);
        let mut world = World::new(Model { gravity: DVec3::ZERO, ..model(vec![a, b], 1.0 / 240.0) });
        let start = momentum(&world);
        run(&mut world, 0.3);
        let end = momentum(&world);
        let moved = world.row(1).momentum.length();
        assert!(moved > 0.1, "{name}: they met, {moved}");
        for k in 0..2 {
            assert!((end[k] - start[k]).length() < 1e-12, "{name}: {:?}", end[k] - start[k]);
        }
        let row = world.ledger();
        assert!(row.residue().abs() < 1e-6 * row.initial, "{name}: {} of {}", row.residue(), row.initial);
        assert!(row.exchange.abs() < 1e-12, "{name}: {}", row.exchange);
        assert!(row.impact > 0.0, "{name}");
        println!("{name}: impact {} friction {} scheme {} of {}", row.impact, row.friction, row.scheme, row.initial);
    }
}

/// Catches restitution measured at the wrong moment: two equal hybrid balls exchange their velocities.
#[test]
fn two_equal_balls_exchange_velocities() {
    let card = Material { young: 2e9, damping: 0.0, friction: 0.0, restitution: 1.0, ..Material::default() };
    let ball = Body::new("ball", Shape::ball(0.05, [9, 8, 3]).unwrap(), card, Axes::HYBRID);
    let mut a = named(ball.clone(), "a", DVec3::ZERO);
    let b = named(ball, "b", DVec3::new(0.2, 0.0, 0.0));
    a.start.velocity = DVec3::X;
    let mut world = World::new(Model { gravity: DVec3::ZERO, ..model(vec![a, b], 1.0 / 240.0) });
    let start = momentum(&world);
    run(&mut world, 0.3);
    let stretch = [0, 1].map(|b| world.row(b).worst_stretch);
    assert!(stretch.iter().all(|s| *s < 1e-3), "{stretch:?}");
    let mass = world.model().bodies[0].mass();
    let speeds = [0, 1].map(|b| world.row(b).momentum.x / mass);
    assert!(speeds[0].abs() < 0.02 && (speeds[1] - 1.0).abs() < 0.02, "{speeds:?}");
    assert!((momentum(&world)[0] - start[0]).length() < 1e-13);
}

/// Catches contact that is never calm: five blocks fall a little and stand, and in ten seconds go nowhere.
#[test]
fn a_stack_of_five_comes_to_rest() {
    // Of the two nodal kinds one: the other takes four times as long.
    for (name, axes, young) in kinds().into_iter().take(3) {
        // A column of five softer than this bends over under its own weight: 7.8 E I/L² against m g.
        let young = if axes == Axes::RIGID || axes == Axes::HYBRID { young } else { 2e6 };
        let card = Material { young, damping: 0.2, friction: 0.5, ..Material::default() };
        let nodes = if axes == Axes::RIGID || axes == Axes::HYBRID { [3; 3] } else { [4; 3] };
        let mut bodies = Vec::new();
        for k in 0..5 {
            let one = block(DVec3::splat(0.1), nodes, card, axes);
            bodies.push(named(one, &format!("block {k}"), DVec3::new(0.0, 0.052 + 0.104 * k as f64, 0.0)));
        }
        let mut world =
            World::new(Model { obstacles: vec![obstacle(ObstacleShape::Plane, 0.5)], ..model(bodies, 1.0 / 120.0) });
        let clock = std::time::Instant::now();
        let (mut most, mut last, mut places) = (0.0f64, 0.0f64, Vec::new());
        while world.time() < 12.0 - 1e-9 {
            world.step().unwrap();
            let kinetic: f64 = world.state().bodies.iter().map(|b| b.row.kinetic).sum();
            most = most.max(kinetic);
            if world.time() > 2.0 && places.is_empty() {
                places = (0..5).map(|b| center_of(&world, b)).collect();
            }
            if world.time() > 10.0 {
                last = last.max(kinetic);
            }
        }
        let drift = (0..5).map(|b| center_of(&world, b).distance(places[b])).fold(0.0, f64::max);
        let deepest = world.ledger().worst_penetration;
        println!(
            "{name}: most {most:.3e} J, last {last:.3e} J, drift {drift:.3e} m, deepest {deepest:.3e} m, steps {} rejected {}, {:?}",
            world.state().steps,
            world.state().rejected,
            clock.elapsed()
        );
        assert!(last < 1e-6 * most, "{name}: {last} of {most}");
        assert!(drift < 1e-3, "{name}: {drift}");
        assert!(deepest < 1e-3, "{name}: {deepest}");
    }
}

/// A block on a rigid plank: it holds or slides as friction says.
#[test]
fn an_incline_holds_up_to_the_angle_of_friction() {
    for (name, axes, young) in
        [("rigid", Axes::RIGID, 1e6), ("hybrid", Axes::HYBRID, 1e7), ("finite", Axes::FINITE, 1e6)]
    {
        for (slope, slides) in [(0.297f64, false), (0.303, true)] {
            let angle = slope.atan();
            let card = Material { young, friction: 0.3, damping: 0.3, ..Material::default() };
            let tilt = DQuat::from_rotation_z(-angle);
            let mut plank = block(DVec3::new(1.0, 0.04, 0.3), [6, 2, 3], card, Axes::RIGID);
            plank.start.rotation = tilt;
            let all: Vec<u32> = (0..plank.len() as u32).collect();
            let plank = named(plank, "plank", DVec3::ZERO).pin(&all);
            let mut cube =
                named(block(DVec3::splat(0.08), [3; 3], card, axes), "cube", tilt * DVec3::new(-0.2, 0.0605, 0.0));
            cube.start.rotation = tilt;
            let mut world = World::new(model(vec![plank, cube], 1.0 / 120.0));
            run(&mut world, 0.5);
            let from = center_of(&world, 1);
            run(&mut world, 1.5);
            let moved = center_of(&world, 1).distance(from);
            let free = 0.5 * 9.81 * (angle.sin() - 0.3 * angle.cos()) * (1.5f64.powi(2) - 0.5f64.powi(2));
            println!("{name} {slope}: moved {moved:.6}, free {free:.6}");
            match slides {
                true => assert!(moved > 0.5 * free, "{name}: {moved} of {free}"),
                false => assert!(moved < 1e-4, "{name}: {moved}"),
            }
        }
    }
}

/// A slab that does not move, its top at y = 0.
fn slab(card: Material) -> Body {
    let slab =
        named(block(DVec3::new(0.6, 0.06, 0.6), [3, 2, 3], card, Axes::RIGID), "slab", DVec3::new(0.0, -0.03, 0.0));
    let all: Vec<u32> = (0..slab.len() as u32).collect();
    slab.pin(&all)
}

/// Catches a rebound that depends on where in the step the impact falls: dropped from h, a ball comes back to e² h.
#[test]
fn a_dropped_ball_comes_back_to_the_square_of_restitution() {
    for (name, axes) in [("rigid", Axes::RIGID), ("hybrid", Axes::HYBRID)] {
        for e in [0.3, 0.6, 0.9] {
            for height in [0.5, 0.513, 0.527] {
                let card = Material { young: 2e9, damping: 0.0, friction: 0.0, restitution: e, ..Material::default() };
                let ball = Body::new("ball", Shape::ball(0.05, [7, 7, 7]).unwrap(), card, axes);
                let size = ball.shape.rest_positions.iter().map(|x| -x.y).fold(0.0, f64::max);
                let ball = named(ball, "ball", DVec3::new(0.013, size + height, 0.021));
                let mut world = World::new(model(vec![slab(Material::default()), ball], 1.0 / 120.0));
                let kept = 1e-3 * (world.model().bodies[0].extent() + world.model().bodies[1].extent());
                let (mut fallen, mut top) = (false, 0.0f64);
                while world.time() < 1.2 {
                    world.step().unwrap();
                    let (speed, y) = (world.row(1).momentum.y, center_of(&world, 1).y - size - kept);
                    fallen |= speed > 0.0;
                    if fallen && speed < 0.0 {
                        break;
                    }
                    top = if fallen { top.max(y) } else { top };
                }
                let expected = e * e * (height - kept);
                println!("{name} e {e} h {height}: {top:.4} of {expected:.4}");
                assert!((top / expected - 1.0).abs() < 0.05, "{name} {e} {height}: {top} {expected}");
            }
        }
    }
}

/// Catches a rebound from an obstacle that depends on where in the step the impact falls, and energy that nobody booked:
/// dropped on the floor from h, a ball comes back to e² h, and the account closes.
#[test]
fn a_ball_dropped_on_an_obstacle_comes_back_to_the_square_of_restitution() {
    for (name, axes) in [("rigid", Axes::RIGID), ("hybrid", Axes::HYBRID)] {
        for e in [0.0, 0.3, 0.6, 0.9] {
            for (height, of_floor) in [(0.5, true), (0.513, false), (0.527, true)] {
                let own = if of_floor { 0.0 } else { e };
                let card =
                    Material { young: 2e9, damping: 0.0, friction: 0.0, restitution: own, ..Material::default() };
                let ball = Body::new("ball", Shape::ball(0.05, [7, 7, 7]).unwrap(), card, axes);
                let size = ball.shape.rest_positions.iter().map(|x| -x.y).fold(0.0, f64::max);
                let ball = named(ball, "ball", DVec3::new(0.013, size + height, 0.021));
                let mut floor = obstacle(ObstacleShape::Plane, 0.0);
                floor.restitution = e - own;
                let mut world = World::new(Model { obstacles: vec![floor], ..model(vec![ball], 1.0 / 120.0) });
                let (mut fallen, mut top) = (false, 0.0f64);
                while world.time() < 1.2 {
                    world.step().unwrap();
                    let (speed, y) = (world.row(0).momentum.y, center_of(&world, 0).y - size);
                    fallen |= speed > 0.0;
                    if fallen && speed < 0.0 {
                        break;
                    }
                    top = if fallen { top.max(y) } else { top };
                }
                let expected = e * e * height;
                let row = world.ledger();
                println!("{name} e {e} h {height}: {top:.4} of {expected:.4}, residue {:.1e}", row.residue());
                assert!((top - expected).abs() < 0.05 * expected + 1e-3, "{name} {e} {height}: {top} {expected}");
                assert!(row.residue().abs() < 1e-6 * row.initial, "{name} {e}: {} of {}", row.residue(), row.initial);
                assert_eq!(world.state().rejected, 0, "{name} {e} {height}");
            }
        }
    }
}

/// Catches contact that takes or makes energy by itself: a soft ball comes back by what its own damping leaves, more of it
/// the less it damps. What it measures is printed.
#[test]
fn a_soft_ball_comes_back_by_what_its_damping_leaves() {
    let mut measured = Vec::new();
    for damping in [0.0, 0.1, 0.3] {
        let card = Material { young: 1e5, damping, friction: 0.0, restitution: 0.0, ..Material::default() };
        let axes = Axes { integrator: goop::Integrator::ImplicitMidpoint, ..Axes::FINITE };
        let ball = Body::new("ball", Shape::ball(0.05, [7, 7, 7]).unwrap(), card, axes);
        let size = ball.shape.rest_positions.iter().map(|x| -x.y).fold(0.0, f64::max);
        let ball = named(ball, "ball", DVec3::new(0.013, size + 0.3, 0.021));
        let mut world = World::new(model(vec![slab(Material::default()), ball], 1.0 / 480.0));
        let (mut down, mut up) = (0.0f64, 0.0f64);
        while world.time() < 0.5 {
            world.step().unwrap();
            let speed = world.row(1).momentum.y / world.model().bodies[1].mass();
            (down, up) = (down.max(-speed), up.max(speed));
        }
        let row = world.ledger();
        println!(
            "damping {damping}: restitution {:.3}, residue {:.1e} of {:.1e}",
            up / down,
            row.residue(),
            row.initial
        );
        assert!(row.residue().abs() < 1e-6 * row.exchanged, "{}", row.residue());
        measured.push(up / down);
    }
    assert!(measured.windows(2).all(|e| e[1] < e[0]) && measured[0] < 1.0 && measured[0] > 0.3, "{measured:?}");
}

/// Catches friction that is off while sliding: a block thrown over a slab stops after v²/(2μg).
#[test]
fn a_thrown_block_slides_as_far_as_friction_lets_it() {
    for (name, axes, young) in [("rigid", Axes::RIGID, 1e6), ("hybrid", Axes::HYBRID, 1e7)] {
        let card = Material { young, friction: 0.3, damping: 0.3, ..Material::default() };
        let mut floor = block(DVec3::new(2.0, 0.06, 0.4), [9, 2, 3], card, Axes::RIGID);
        floor.name = "floor".to_owned();
        floor.start.position = DVec3::new(0.5, -0.03, 0.0);
        let all: Vec<u32> = (0..floor.len() as u32).collect();
        let floor = floor.pin(&all);
        let kept = 1e-3 * (floor.extent() + 0.1 * 3f64.sqrt());
        let mut cube =
            named(block(DVec3::new(0.1, 0.05, 0.1), [3, 2, 3], card, axes), "cube", DVec3::new(0.0, 0.025 + kept, 0.0));
        cube.start.velocity = DVec3::new(1.5, 0.0, 0.0);
        let mut world = World::new(model(vec![floor, cube], 1.0 / 240.0));
        run(&mut world, 1.0);
        let expected = 1.5f64.powi(2) / (2.0 * 0.3 * 9.81);
        let moved = center_of(&world, 1).x;
        println!("{name}: {moved:.5} of {expected:.5}");
        assert!((moved / expected - 1.0).abs() < 0.02, "{name}: {moved} {expected}");
    }
}

/// Catches tunnelling: a fast ball at a thin sheet ends on its side of it, or the run ends and names both.
#[test]
fn a_fast_ball_does_not_pass_through_a_thin_sheet() {
    let cloth = Material { young: 1e6, thickness: 1e-3, density: 400.0, damping: 0.2, ..Material::default() };
    let shape = Shape::rectangle([0.6, 0.6], [13, 13]).unwrap();
    let rim = shape.corners();
    let sheet = Body::new("sheet", shape, cloth, Axes::IMPLICIT).pin(&rim);
    let mut ball = Body::new("ball", Shape::ball(0.05, [5, 5, 5]).unwrap(), Material::default(), Axes::RIGID);
    ball.start.position = DVec3::new(0.01, 0.4, 0.02);
    ball.start.velocity = DVec3::new(0.0, -100.0, 0.0);
    let mut world = World::new(model(vec![sheet, ball], 1.0 / 240.0));
    while world.time() < 0.012 {
        match world.step() {
            Ok(_) => {
                let pairs = goop::contact::bodies::crossed(world.model(), world.state());
                assert_eq!(pairs, None, "at {} s", world.time());
            }
            Err(failure) => {
                let text = failure.to_string();
                println!("{text}");
                assert!(text.contains("sheet") && text.contains("ball"), "{text}");
                return;
            }
        }
    }
    println!(
        "{} steps, ball at {:.3}, speed {:.2}",
        world.state().steps,
        center_of(&world, 1),
        world.row(1).momentum.y / world.model().bodies[1].mass()
    );
}

/// Catches anything that the order of threads decides, and anything that a resumed run misses.
#[test]
fn threads_and_resuming_change_no_byte() {
    let make = || {
        let card = Material { young: 1e6, damping: 0.2, ..Material::default() };
        let mut bodies: Vec<Body> = (0..4)
            .map(|k| {
                named(
                    block(DVec3::splat(0.1), [3; 3], card, [Axes::FINITE, Axes::RIGID, Axes::HYBRID, Axes::RIGID][k]),
                    &format!("b{k}"),
                    DVec3::new(0.01 * k as f64, 0.06 + 0.12 * k as f64, 0.005 * k as f64),
                )
            })
            .collect();
        bodies[3].start.spin = DVec3::new(0.0, 0.5, 0.0);
        let obstacles = vec![obstacle(ObstacleShape::Plane, 0.5)];
        World::new(Model { obstacles, ..model(bodies, 1.0 / 120.0) })
    };
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut hashes = Vec::new();
    for threads in [1, 2] {
        hashes.push(pool(threads).install(|| {
            let mut world = make();
            run(&mut world, 0.6);
            world.state().hash()
        }));
    }
    let mut first = make();
    run(&mut first, 0.3);
    let mut second = make();
    second.resume(first.checkpoint()).unwrap();
    run(&mut second, 0.6);
    hashes.push(second.state().hash());
    assert!(second.ledger().body_contacts > 0);
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}
