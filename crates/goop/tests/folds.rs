//! Bodies that meet themselves, meshes that are held, and nodes that are tied.

#![allow(clippy::print_stdout)] // figures for whoever looks with --nocapture

mod common;

use common::{block, obstacle, run};
use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::contact::bodies::crossed;
use goop::contact::{ObstacleShape, Tie};
use goop::model::StepSettings;
use goop::{Axes, Body, Material, Model, Shape, World};

fn model(bodies: Vec<Body>, dt: f64) -> Model {
    Model { bodies, step: StepSettings { dt, ..Default::default() }, ..Default::default() }
}

fn moves(at: &[(f64, DVec3)]) -> Motion {
    Motion::new(at.iter().map(|&(time, position)| Key { time, position, rotation: DQuat::IDENTITY }).collect())
}

fn center_of(world: &World, b: usize) -> DVec3 {
    let (body, state) = (&world.model().bodies[b], &world.state().bodies[b]);
    (0..body.len()).map(|i| body.masses[i] * state.positions[i]).sum::<DVec3>() / body.mass()
}

/// Catches layers that pass through each other: a strip let down edge first lies in folds, its middle never crosses
/// itself, and no two layers are nearer than half of the distance they keep.
#[test]
fn a_strip_folds_and_never_crosses_itself() {
    let card = Material { young: 1e6, density: 400.0, thickness: 1e-3, damping: 0.3, drag: 0.5, ..Material::default() };
    let shape = Shape::rectangle([0.12, 0.6], [5, 25]).unwrap();
    let rim: Vec<u32> =
        (0..shape.rest_positions.len() as u32).filter(|&i| shape.rest_positions[i as usize].z < -0.299).collect();
    let mut cloth = Body::new("cloth", shape, card, Axes::IMPLICIT);
    cloth.start.position = DVec3::new(0.0, 0.34, 0.0);
    cloth.start.rotation = DQuat::from_rotation_x(85f64.to_radians());
    (cloth.contact.bodies, cloth.contact.itself, cloth.contact.thickness) = (true, true, Some(5e-3));
    let mut pin = cloth.pin_at_start(&rim);
    assert_eq!(pin.nodes.len(), 5);
    pin.motion = moves(&[(0.0, DVec3::ZERO), (1.3, DVec3::new(0.0, -0.55, 0.0))]);
    cloth.pins.push(pin);
    let floor = obstacle(ObstacleShape::Plane, 0.6);
    let mut world = World::new(Model { obstacles: vec![floor], ..model(vec![cloth], 1.0 / 120.0) });
    let mut most = 0;
    while world.time() < 1.5 - 1e-9 {
        world.step().unwrap();
        assert_eq!(crossed(world.model(), world.state()), None, "at {} s", world.time());
        most = most.max(world.state().bodies[0].row.body_contacts);
    }
    let row = world.ledger();
    println!("contacts {most}, deepest {:.2e}, steps {}", row.worst_penetration, world.state().steps);
    assert!(most > 50, "it folded: {most}");
    assert!(row.worst_penetration < 2.5e-3, "{}", row.worst_penetration);
    assert!(row.residue().abs() < 1e-6 * row.exchanged, "{} of {}", row.residue(), row.exchanged);
}

/// Catches a string that slips through itself: an overhand knot that is drawn shut stays one, and its strands stay apart.
#[test]
fn a_knot_stays_a_knot() {
    let points: Vec<DVec3> = (0..161)
        .map(|k| {
            // A curve of the fifth degree that is knotted.
            let t = -2.15 + 4.3 * k as f64 / 160.0;
            DVec3::new(
                0.02 * (t.powi(5) - 10.0 * t),
                0.055 * (t.powi(4) - 4.0 * t * t + 2.0),
                0.055 * (t.powi(3) - 3.0 * t),
            )
        })
        .collect();
    let radius = 0.008;
    let card = Material { young: 1e6, radius, damping: 0.5, drag: 2.0, friction: 0.1, ..Material::default() };
    let shape = Shape::spline(&points, false, 181).unwrap();
    let last = shape.rest_positions.len() as u32 - 1;
    let length: f64 = shape
        .segments
        .iter()
        .map(|&[a, b]| shape.rest_positions[a as usize].distance(shape.rest_positions[b as usize]))
        .sum();
    let mut string = Body::new("string", shape, card, Axes::IMPLICIT);
    (string.contact.bodies, string.contact.itself) = (true, true);
    for (node, way) in [(0, -0.2), (last, 0.2)] {
        let mut pin = string.pin_at_start(&[node]);
        pin.motion = moves(&[(0.0, DVec3::ZERO), (1.5, DVec3::new(way, 0.0, -0.5 * way))]);
        string.pins.push(pin);
    }
    let mut world = World::new(Model { gravity: DVec3::ZERO, ..model(vec![string], 1.0 / 240.0) });
    let mut nearest = f64::INFINITY;
    while world.time() < 2.0 {
        world.step().unwrap();
        let x = &world.state().bodies[0].positions;
        // Strands that are further along the string than a turn of it could be.
        for i in 0..x.len() {
            for j in i + 12..x.len() {
                nearest = nearest.min(x[i].distance(x[j]));
            }
        }
    }
    let x = &world.state().bodies[0].positions;
    let span = x[0].distance(x[last as usize]);
    let contacts = world.state().bodies[0].row.body_contacts;
    println!("span {span:.3} of {length:.3}, contacts {contacts}, nearest {:.3} radii", nearest / radius);
    assert!(contacts >= 3, "the knot holds itself: {contacts}");
    assert!(nearest > 1.9 * radius, "{nearest}");
}

/// A sheet of triangles, open, that is held everywhere and moves: what bodies meet in place of an obstacle's formula.
fn held(mut body: Body, at: DVec3, motion: Motion) -> Body {
    body.start.position = at;
    body.contact.bodies = true;
    let all: Vec<u32> = (0..body.len() as u32).collect();
    let mut pin = body.pin_at_start(&all);
    pin.motion = motion;
    body.pins.push(pin);
    body
}

/// Catches a held mesh that bodies fall through, or that moves without taking them along: a lift of open triangles raises a
/// cube, and a closed box held still carries another.
#[test]
fn a_moving_mesh_lifts_what_lies_on_it() {
    let card = Material { young: 1e6, damping: 0.3, friction: 0.5, thickness: 2e-3, ..Material::default() };
    for (name, axes) in [("rigid", Axes::RIGID), ("hybrid", Axes::HYBRID), ("finite", Axes::FINITE)] {
        let sheet = Body::new("lift", Shape::rectangle([0.4, 0.4], [4, 4]).unwrap(), card, Axes::RIGID);
        let up = moves(&[(0.0, DVec3::ZERO), (0.3, DVec3::ZERO), (1.3, DVec3::new(0.0, 0.3, 0.0))]);
        let lift = held(sheet, DVec3::ZERO, up);
        let table = held(block(DVec3::new(0.3, 0.1, 0.3), [3, 2, 3], card, Axes::RIGID), DVec3::X, Motion::default());
        let mut cubes = Vec::new();
        for (k, at) in [DVec3::new(0.02, 0.055, 0.01), DVec3::new(1.02, 0.105, 0.01)].into_iter().enumerate() {
            let mut cube = block(DVec3::splat(0.1), [3; 3], card, axes);
            cube.name = format!("cube {k}");
            cube.start.position = at;
            cube.contact.bodies = true;
            cubes.push(cube);
        }
        let mut bodies = vec![lift, table];
        bodies.extend(cubes);
        let mut world = World::new(model(bodies, 1.0 / 120.0));
        run(&mut world, 2.0);
        let heights = [2, 3].map(|b| center_of(&world, b).y);
        println!("{name}: {heights:?}, deepest {:.2e}", world.ledger().worst_penetration);
        assert!((heights[0] - 0.35).abs() < 3e-3, "{name}: {heights:?}");
        assert!((heights[1] - 0.1).abs() < 3e-3, "{name}: {heights:?}");
    }
}

/// Catches a tie that drifts, that turns what it holds, or that makes momentum: two blocks of any formulation, one
/// corner of the one on a face of the other, keep together and keep their momenta.
#[test]
fn a_tie_holds_and_keeps_momenta() {
    let kinds =
        [("rigid", Axes::RIGID), ("hybrid", Axes::HYBRID), ("implicit", Axes::IMPLICIT), ("finite", Axes::FINITE)];
    for (one, first) in kinds {
        for (two, second) in kinds {
            let card = Material { young: 3e5, damping: 0.1, ..Material::default() };
            let mut a = block(DVec3::splat(0.1), [3; 3], card, first);
            let mut b = block(DVec3::splat(0.1), [3; 3], card, second);
            (a.name, b.name) = ("a".into(), "b".into());
            b.start.position = DVec3::new(0.11, 0.02, 0.0);
            a.start.velocity = DVec3::new(0.0, 0.3, 0.2);
            let face: Vec<u32> =
                (0..a.len() as u32).filter(|&i| a.shape.rest_positions[i as usize].x > 0.049).collect();
            let tie = Tie::new([0, 1], &face, [&a, &b], None);
            (a.contact.bodies, b.contact.bodies) = (true, true);
            let bodies = vec![a, b];
            let mut world =
                World::new(Model { gravity: DVec3::ZERO, ties: vec![tie.clone()], ..model(bodies, 1.0 / 240.0) });
            let start = world.ledger();
            let mut worst = 0.0f64;
            while world.time() < 0.5 {
                world.step().unwrap();
                let state = world.state();
                for grip in &tie.grips {
                    let x = state.bodies[0].positions[grip.node as usize];
                    let y: DVec3 =
                        (0..3).map(|k| grip.weights[k] * state.bodies[1].positions[grip.corners[k] as usize]).sum();
                    worst = worst.max((x.distance(y) - grip.offset.length()).abs());
                }
            }
            let end = world.ledger();
            let (push, turn) = (end.momentum - start.momentum, end.angular_momentum - start.angular_momentum);
            println!(
                "{one} on {two}: apart {worst:.2e}, momentum {:.1e}, {:.1e}, residue {:.1e} of {:.1e}",
                push.length(),
                turn.length(),
                end.residue(),
                end.initial
            );
            assert!(push.length() < 1e-10 * start.momentum.length(), "{one} {two}: {push}");
            assert!(worst < 1e-3, "{one} {two}: {worst}");
            assert!(world.row(1).momentum.length() > 0.2 * start.momentum.length(), "{one} {two}: it pulls");
            assert!(end.residue().abs() < 1e-5 * end.initial, "{one} {two}: {}", end.residue());
        }
    }
}

/// Catches a cloth that does not follow the hem it is tied by, or a tie to a curve that loses its side.
#[test]
fn a_cloth_hangs_from_a_rod_that_swings() {
    let cloth =
        Material { young: 1e6, density: 400.0, thickness: 1e-3, damping: 0.3, drag: 0.5, ..Material::default() };
    let wood = Material { young: 1e9, radius: 0.01, ..Material::default() };
    let mut rod = Body::new("rod", Shape::line(0.5, 6).unwrap(), wood, Axes::IMPLICIT);
    rod.start.position = DVec3::new(0.0, 0.6, 0.0);
    let all: Vec<u32> = (0..rod.len() as u32).collect();
    let mut pin = rod.pin_at_start(&all);
    pin.motion = moves(&[(0.0, DVec3::ZERO), (0.5, DVec3::new(0.0, 0.0, 0.2)), (1.5, DVec3::new(0.0, 0.0, 0.2))]);
    rod.pins.push(pin);
    let mut sheet = Body::new("sheet", Shape::rectangle([0.4, 0.4], [9, 9]).unwrap(), cloth, Axes::IMPLICIT);
    sheet.start.rotation = DQuat::from_rotation_x(90f64.to_radians());
    sheet.start.position = DVec3::new(0.0, 0.6 - 0.22, 0.0);
    let top = sheet.start_positions();
    let hem: Vec<u32> = (0..sheet.len() as u32).filter(|&i| top[i as usize].y > 0.579).collect();
    assert_eq!(hem.len(), 9);
    (rod.contact.bodies, sheet.contact.bodies) = (true, true);
    let tie = Tie::new([0, 1].map(|b| 1 - b), &hem, [&sheet, &rod], None);
    let mut world = World::new(Model { ties: vec![tie], ..model(vec![rod, sheet], 1.0 / 120.0) });
    run(&mut world, 3.0);
    let x = &world.state().bodies[1].positions;
    let hem_at = hem.iter().map(|&i| x[i as usize]).sum::<DVec3>() / 9.0;
    println!("hem {hem_at:.4}, middle {:.4}", center_of(&world, 1));
    assert!(hem_at.distance(DVec3::new(0.0, 0.58, 0.2)) < 2e-3, "{hem_at}");
    assert!((center_of(&world, 1).z - 0.2).abs() < 0.1 && center_of(&world, 1).y < 0.39);
}

/// Catches curves in a plane, whose edges always are in one: a string thrown at another that is held at its ends is caught by
/// it or thrown back, or the run ends and names both; it is never beyond.
#[test]
fn fast_curves_in_a_plane_do_not_pass_through_each_other() {
    for speed in [5.0, 30.0, 100.0] {
        let card = Material { young: 1e6, radius: 2e-3, damping: 0.3, ..Material::default() };
        let mut net = Body::new("net", Shape::line(1.0, 41).unwrap(), card, Axes::IMPLICIT);
        let pin = net.pin_at_start(&[0, 40]);
        net.pins.push(pin);
        let mut dart = Body::new("dart", Shape::line(0.2, 9).unwrap(), card, Axes::IMPLICIT);
        dart.start.position = DVec3::new(0.05, 0.15, 0.0);
        dart.start.rotation = DQuat::from_rotation_z(0.4);
        dart.start.velocity = DVec3::new(0.0, -speed, 0.0);
        (net.contact.bodies, dart.contact.bodies) = (true, true);
        let mut world = World::new(Model { flat: Some(2), ..model(vec![net, dart], 1.0 / 240.0) });
        let end = (0.4 / speed).max(0.02);
        while world.time() < end {
            match world.step() {
                Ok(_) => assert_eq!(crossed(world.model(), world.state()), None, "{speed} m/s, at {} s", world.time()),
                Err(failure) => {
                    let text = failure.to_string();
                    println!("{speed} m/s: {text}");
                    assert!(text.contains("net") && text.contains("dart"), "{text}");
                    break;
                }
            }
        }
        println!("{speed} m/s: up to {} s, {:?}", world.time(), center_of(&world, 1));
    }
}
