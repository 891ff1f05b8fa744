//! Framed bodies among pins, loads, obstacles and edits: the account, contact, determinism.

mod common;

use common::*;
use glam::{DQuat, DVec3};
use goop::animate::{Course, Key, Motion};
use goop::contact::ObstacleShape;
use goop::ledger::Row;
use goop::model::{Coordinates, ElasticityKind, Integrator, Load, Terms};
use goop::{Axes, Body, Clip, Edit, Material, Model, Shape, World};

fn rubber() -> Material {
    Material {
        density: 1000.0,
        young: 1.0e6,
        poisson: 0.25,
        thickness: 1e-2,
        radius: 5e-3,
        damping: 0.0,
        friction: 0.0,
        ..Material::default()
    }
}

const FRAMED_SPRINGS: Axes = Axes {
    elasticity: ElasticityKind::Springs,
    coordinates: Coordinates::Framed,
    integrator: Integrator::SemiImplicit,
};

fn sheet(axes: Axes) -> Body {
    Body::new("sheet", Shape::rectangle([0.5, 0.5], [8, 8]).unwrap(), rubber(), axes)
}

fn cube(axes: Axes, height: f64, velocity: DVec3) -> Body {
    let mut body = block(DVec3::splat(0.2), [4, 4, 4], Material { young: 1e5, ..rubber() }, axes);
    body.start.position.y = 0.1 + height;
    body.start.rotation = DQuat::from_rotation_z(0.2);
    body.start.velocity = velocity;
    body.start.spin = DVec3::new(1.0, 2.0, -1.0);
    body
}

fn move_to(to: DVec3, seconds: f64) -> Motion {
    let key = |time, position| Key { time, position, rotation: DQuat::IDENTITY };
    Motion::new(vec![key(0.0, DVec3::ZERO), key(seconds, to)])
}

fn scene(name: &str, axes: Axes, dt: f64) -> Model {
    let corners = sheet(axes).shape.corners();
    let plane = |friction| vec![obstacle(ObstacleShape::Plane, friction)];
    match name {
        "free" => {
            let mut body = sheet(axes);
            body.start.spin = DVec3::new(3.0, 1.0, 2.0);
            fixed(body, dt)
        }
        "swinging sheet" => fixed(sheet(axes).pin(&corners[..2]), dt),
        "damped sheet" => {
            let mut body = sheet(axes).pin(&corners[..2]);
            body.material = Material { damping: 0.2, ..rubber() }.into();
            body.compile();
            fixed(body, dt)
        }
        "moving pin" => {
            let mut body = sheet(axes).pin(&corners[..2]);
            body.pins[0].motion = move_to(DVec3::new(0.3, 0.2, 0.1), 0.25);
            fixed(body, dt)
        }
        "force" => {
            let mut body = sheet(axes).pin(&corners[..2]);
            let course = Course::new(vec![[0.0, 0.0], [0.2, 1.0], [0.4, 0.0]]);
            body.loads.push(Load::Force { nodes: corners[2..].to_vec(), newtons: DVec3::new(2.0, 5.0, 1.0), course });
            fixed(body, dt)
        }
        "wind" => {
            let mut body = sheet(axes).pin(&corners[..2]);
            body.material.card.drag = 3.0;
            body.compile();
            Model { wind: DVec3::new(4.0, 0.0, 3.0), ..fixed(body, dt) }
        }
        "compliant pin" => {
            let mut body = sheet(axes).pin(&corners[..2]);
            body.pins[0].stiffness = Some(100.0);
            body.pins[0].motion = move_to(DVec3::new(0.1, 0.2, 0.0), 0.25);
            fixed(body, dt)
        }
        "bouncing block" => Model { obstacles: plane(0.4), ..fixed(cube(axes, 0.05, DVec3::new(2.0, -1.0, 0.0)), dt) },
        "moving obstacle" => {
            let mut obstacles = plane(0.4);
            obstacles[0].motion = move_to(DVec3::new(0.2, 0.3, 0.0), 0.3);
            Model { obstacles, ..fixed(cube(axes, 0.05, DVec3::ZERO), dt) }
        }
        "at high speed" => Model { obstacles: plane(0.0), ..fixed(cube(axes, 0.1, DVec3::new(2.0, -15.0, 0.0)), dt) },
        _ => unreachable!("{name}"),
    }
}

const SCENES: [&str; 10] = [
    "free",
    "swinging sheet",
    "damped sheet",
    "moving pin",
    "force",
    "wind",
    "compliant pin",
    "bouncing block",
    "moving obstacle",
    "at high speed",
];

fn play(model: Model) -> Row {
    let mut world = World::new(model);
    run(&mut world, 0.5);
    world.row(0)
}

/// Catches a force whose work is not booked, booked twice or with the wrong sign.
#[test]
fn the_account_closes_for_every_force() {
    let mut failed = Vec::new();
    for name in SCENES {
        for (form, axes) in [("spline", Axes::HYBRID), ("springs", FRAMED_SPRINGS)] {
            for dt in [1.0 / 480.0, 1.0 / 60.0] {
                let row = play(scene(name, axes, dt));
                let line = format!("{name}, {form}, {dt:.4} s: {:.1e} of {:.2} J", share(&row), row.exchanged);
                eprintln!(
                    "{line}, scheme {:.3} J, impact {:.3} J, friction {:.3} J",
                    row.scheme, row.impact, row.friction
                );
                if share(&row).is_nan() || share(&row) >= 1e-6 {
                    failed.push(line);
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Catches an account that closes by construction: with a term struck out it must not.
#[test]
fn leaving_out_one_term_opens_the_account() {
    type Strike = fn(&mut Row);
    let rows: [(&str, &str, Strike); 9] = [
        ("scheme", "swinging sheet", |r| r.scheme = 0.0),
        ("elastic", "compliant pin", |r| r.elastic = 0.0),
        ("damping", "damped sheet", |r| r.damping = 0.0),
        ("pin work", "moving pin", |r| r.pin_work = 0.0),
        ("load work", "force", |r| r.load_work = 0.0),
        ("drag", "wind", |r| r.drag = 0.0),
        ("friction", "bouncing block", |r| r.friction = 0.0),
        ("impact", "at high speed", |r| r.impact = 0.0),
        ("work of an obstacle", "moving obstacle", |r| r.load_work = 0.0),
    ];
    for (term, name, strike) in rows {
        let whole = play(scene(name, Axes::HYBRID, 1.0 / 60.0));
        let mut without = whole;
        strike(&mut without);
        eprintln!("{term}: {:.1e} with it, {:.1e} without", share(&whole), share(&without));
        assert!(share(&whole) < 1e-6 && share(&without) > 1e-3, "{term}");
    }
}

/// Catches a body that sinks, sticks in the surface, tunnels, or slides where friction holds.
#[test]
fn a_block_holds_or_slides_on_an_incline_as_friction_says() {
    for (friction, slides) in [(0.55, false), (0.45, true)] {
        for dt in [1.0 / 240.0, 1.0 / 60.0] {
            let mut body =
                block(DVec3::splat(0.2), [3, 3, 3], Material { young: 1e6, damping: 0.2, ..rubber() }, Axes::HYBRID);
            let tilt = DQuat::from_rotation_z(-0.5f64.atan());
            (body.start.position, body.start.rotation) = (tilt * DVec3::new(0.0, 0.1, 0.0), tilt);
            let mut ground = obstacle(ObstacleShape::Plane, friction);
            ground.motion = Motion::still(DVec3::ZERO, tilt);
            let mut world = World::new(Model { obstacles: vec![ground], ..fixed(body, dt) });
            run(&mut world, 1.0);
            let moved = (center(&world)).dot(tilt * DVec3::X);
            let angle = 0.5f64.atan();
            let expected = 0.5 * 9.81 * (angle.sin() - friction * angle.cos());
            eprintln!("μ {friction}, {dt:.4} s: {moved:.5} m, expected {expected:.5}; depth {:.1e}", depth(&world));
            assert!(depth(&world) < 1e-6);
            if slides {
                assert!((moved - expected).abs() < 0.05 * expected + 9.81 * dt, "{moved}");
            } else {
                assert!(moved.abs() < 2e-3, "{moved}");
            }
        }
    }
}

/// Catches tunnelling at speeds that pass a thin obstacle within a step.
#[test]
fn a_fast_sheet_does_not_pass_through_a_thin_ball() {
    let mut body = sheet(Axes::HYBRID);
    body.start.position.y = 0.3;
    body.start.velocity.y = -40.0;
    let ball = obstacle(ObstacleShape::Sphere { radius: 0.1 }, 0.2);
    let mut world = World::new(Model { obstacles: vec![ball], ..fixed(body, 1.0 / 60.0) });
    for _ in 0..10 {
        world.step().unwrap();
    }
    let c = center(&world);
    let nearest = world.state().bodies[0].positions.iter().map(|x| x.length()).fold(f64::INFINITY, f64::min);
    eprintln!("centre {c}, nearest node {nearest}");
    assert!(nearest > 0.1 - 1e-4);
}

/// Catches sums whose order depends on threads.
#[test]
fn the_same_bytes_come_from_any_number_of_threads() {
    let hash = |threads| {
        let pool = rayon_pool(threads);
        pool.install(|| {
            // Above the size at which passes are shared out.
            let shape = Shape::rectangle([1.0, 1.0], [210, 200]).unwrap();
            let corners = shape.corners();
            let mut body = Body::new("sheet", shape, rubber(), Axes::HYBRID).pin(&corners[..2]);
            body.start.spin = DVec3::new(1.0, 2.0, 3.0);
            let mut world = World::new(fixed(body, 1.0 / 120.0));
            for _ in 0..3 {
                world.step().unwrap();
            }
            world.state().hash()
        })
    };
    assert_eq!(hash(1), hash(3));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Catches a frame, factor or product that lives in the scratch but decides the motion.
#[test]
fn a_run_resumed_anywhere_ends_with_the_same_bytes() {
    let world = || {
        let mut model = scene("bouncing block", Axes::HYBRID, 1.0 / 120.0);
        model.step.adaptive = true;
        let corner = model.bodies[0].shape.corners()[0];
        model.events = vec![
            (0.1, Edit::Pin { body: 0, nodes: vec![corner], stiffness: None }),
            (0.2, Edit::Axes { body: 0, axes: FRAMED_SPRINGS }),
            (0.3, Edit::Unpin { body: 0, nodes: vec![corner] }),
            (0.35, Edit::Axes { body: 0, axes: Axes::HYBRID }),
        ];
        World::new(model)
    };
    let clip = Clip { seconds: 0.5, fps: 100.0 };
    let frames: Vec<_> = world().play(clip).map(Result::unwrap).collect();
    for cut in [3, 12, 24, 33, 40] {
        let mut first = world();
        (0..=cut).for_each(|k| drop(first.frame_at(k as f64 / clip.fps).unwrap()));
        let mut second = world();
        second.resume(first.checkpoint()).unwrap();
        for k in cut + 1..clip.frames() {
            let mut frame = second.frame_at(k as f64 / clip.fps).unwrap();
            frame.index = k;
            assert_eq!(frame, frames[k], "cut {cut}, frame {k}");
        }
    }
}

/// Catches an edit that moves nodes or loses velocity when the formulation changes.
#[test]
fn changing_the_formulation_carries_positions_and_velocities_over() {
    let mut world = World::new(scene("swinging sheet", Axes::IMPLICIT, 1.0 / 240.0));
    run(&mut world, 0.2);
    let before = world.state().bodies[0].clone();
    world.edit(&Edit::Axes { body: 0, axes: Axes::HYBRID });
    let after = &world.state().bodies[0];
    for i in 0..before.positions.len() {
        assert!(before.positions[i].distance(after.positions[i]) < 1e-12);
        assert!(before.velocities[i].distance(after.velocities[i]) < 1e-11);
    }
    // Other body axes: the reference shape must turn with them.
    let energy = world.row(0).elastic;
    world.edit(&Edit::Axes { body: 0, axes: FRAMED_SPRINGS });
    let framed = world.state().bodies[0].framed.as_ref().unwrap();
    let strain = framed.displacement.iter().fold(0.0f64, |a, e| a.max(e.abs()));
    assert!(strain < 0.1 && energy > 0.0 && world.row(0).elastic < 10.0 * energy, "{strain}");
    for i in 0..before.positions.len() {
        assert!(before.positions[i].distance(world.state().bodies[0].positions[i]) < 1e-12);
    }
    world.edit(&Edit::Axes { body: 0, axes: Axes::HYBRID });
    assert!((world.row(0).elastic / energy - 1.0).abs() < 1e-6);
    run(&mut world, 0.4);
    world.edit(&Edit::Axes { body: 0, axes: Axes::IMPLICIT });
    run(&mut world, 0.5);
    assert!(world.row(0).residue().abs() < 0.01 * world.row(0).exchanged);
}

/// Catches a mesh without a grid that cannot be framed, and a pressure that pushes a closed body about.
#[test]
fn a_mesh_is_framed_by_its_springs_and_a_pressure_moves_nothing() {
    let ball = Shape::sphere(0.3, [12, 9]).unwrap();
    let mesh = Shape::from_triangles(ball.rest_positions.clone(), ball.triangles.clone(), None, Default::default());
    for (name, shape) in [("grid", ball), ("mesh", mesh.unwrap())] {
        let mut body = Body::new("ball", shape, Material { damping: 0.5, ..rubber() }, Axes::HYBRID);
        body.loads.push(Load::Pressure { pascals: 500.0, course: Course::default(), gas: false });
        let mut world = weightless(body, 1.0 / 240.0);
        run(&mut world, 1.0);
        let c = center(&world);
        let radius = world.state().bodies[0].positions.iter().map(|x| x.distance(c)).fold(0.0, f64::max);
        let row = world.row(0);
        eprintln!("{name}: centre {c}, radius {radius:.4} m, residue {:.1e}", share(&row));
        assert!(c.length() < 1e-9 && radius > 0.3001 && radius < 0.36 && share(&row) < 1e-6);
    }
}

/// Catches a planar world that a body leaves.
#[test]
fn a_planar_world_keeps_a_hoop_in_its_plane() {
    let material = Material { young: 1e5, radius: 0.01, damping: 0.05, ..rubber() };
    let mut body = Body::new("hoop", Shape::hoop(0.3, 50).unwrap(), material, Axes::HYBRID);
    body.start.position.y = 1.0;
    body.start.velocity = DVec3::new(1.0, 0.0, 0.5);
    body.start.spin = DVec3::new(0.3, 0.1, 2.0);
    let ground = obstacle(ObstacleShape::Plane, 0.2);
    let mut world = World::new(Model { obstacles: vec![ground], flat: Some(2), ..fixed(body, 1.0 / 240.0) });
    run(&mut world, 2.0);
    let state = &world.state().bodies[0];
    let off = state.positions.iter().zip(&state.velocities).map(|(x, v)| x.z.abs() + v.z.abs()).fold(0.0, f64::max);
    let row = world.row(0);
    eprintln!(
        "off plane {off:.1e}, residue {:.1e}, depth {:.1e}, centre {}",
        share(&row),
        depth(&world),
        center(&world)
    );
    assert!(off < 1e-9 && depth(&world) < 1e-4 && share(&row) < 0.01);
}

/// Catches the unstable loop of the printed scheme: a free ring, poked, stays bounded over four decades.
#[test]
fn a_poked_ring_stays_bounded() {
    for young in [1e4, 1e6, 1e8] {
        for dt in [1.0 / 240.0, 1.0 / 960.0] {
            let material = Material { young, radius: 0.01, ..rubber() };
            let mut body = Body::new("ring", Shape::hoop(0.3, 50).unwrap(), material, Axes::HYBRID);
            let course = Course::new(vec![[0.0, 1.0], [0.199, 1.0], [0.2, 0.0]]);
            let newtons = DVec3::new(-0.3, 0.2, 0.1) * (body.mass() * (young / 1e4).sqrt());
            body.loads.push(Load::Force { nodes: vec![0, 1], newtons, course });
            let mut world = weightless(body, dt);
            run(&mut world, 5.0);
            let c = center(&world);
            let reach = world.state().bodies[0].positions.iter().map(|x| x.distance(c)).fold(0.0, f64::max);
            eprintln!("E = {young:e}, {dt:.4} s: reach {reach:.4} m, residue {:.1e}", share(&world.row(0)));
            assert!(reach < 0.6 && share(&world.row(0)) < 1e-6);
        }
    }
}

fn spun(terms: Terms, spin: f64, young: f64) -> World {
    let material = Material { young, damping: 0.05, ..rubber() };
    let mut body = block(DVec3::new(0.3, 0.1, 0.2), [6, 3, 5], material, Axes::HYBRID);
    body.terms = terms;
    body.start.spin = DVec3::new(0.2, 1.0, 0.3).normalize() * spin;
    let mut world = weightless(body, 1.0 / 240.0);
    deform(&mut world, 2e-3);
    world
}

/// T6: catches a switch that does nothing. Without the transverse term angular momentum is spoilt; at low spin the
/// centrifugal and Coriolis terms hardly matter, at high spin they do.
#[test]
fn each_inertial_term_can_be_left_out_and_shows() {
    let all = Terms::default();
    let lost = |terms: Terms| {
        let mut world = spun(terms, 3.0, 1e5);
        let (_, l0) = momenta(&world);
        let mut worst = 0.0f64;
        while world.time() < 1.0 {
            world.step().unwrap();
            worst = worst.max((momenta(&world).1 - l0).length() / l0.length());
        }
        worst
    };
    let (with, without) = (lost(all), lost(Terms { transverse: false, ..all }));
    eprintln!("angular momentum: {with:.1e} with all terms, {without:.1e} without the transverse");
    assert!(with < 1e-12 && without > 1e-3);
    let apart = |terms: Terms, spin: f64| {
        let (mut a, mut b) = (spun(all, spin, 1e6), spun(terms, spin, 1e6));
        run(&mut a, 0.5);
        run(&mut b, 0.5);
        distance(&a, &b)
    };
    for (name, terms) in
        [("centrifugal", Terms { centrifugal: false, ..all }), ("Coriolis", Terms { coriolis: false, ..all })]
    {
        let (slow, fast) = (apart(terms, 1.0), apart(terms, 30.0));
        eprintln!("without the {name} term: {slow:.1e} m apart at 1 rad/s, {fast:.1e} m at 30 rad/s");
        assert!(slow < 1e-3 && fast > 30.0 * slow);
    }
    // Without the translational term gravity acts on e as well, and the body falls twice as fast.
    let mut body = sheet(Axes::HYBRID);
    body.terms = Terms { translational: false, ..all };
    let mut world = World::new(fixed(body, 1.0 / 240.0));
    run(&mut world, 0.5);
    eprintln!("without the translational term: fallen {:.3} m in 0.5 s", -center(&world).y);
    assert!((center(&world).y / (-9.81 * 0.125) - 2.0).abs() < 0.05);
    assert!(share(&world.row(0)) < 1e-6);
}

/// Catches a frame that cannot be posed: shapes without inertia, held, pushed and dropped.
#[test]
fn every_shape_survives_pins_and_ground() {
    for shape in [
        Shape::line(0.5, 2).unwrap(),
        Shape::line(0.5, 3).unwrap(),
        Shape::line(0.5, 20).unwrap(),
        Shape::rectangle([0.3, 0.3], [2, 2]).unwrap(),
        Shape::disc(0.3, [6, 4]).unwrap(),
        Shape::sphere(0.3, [8, 7]).unwrap(),
        Shape::block(DVec3::splat(0.3), [2, 2, 2]).unwrap(),
    ] {
        for held in [false, true] {
            let mut body = Body::new("b", shape.clone(), Material { damping: 0.2, ..rubber() }, Axes::HYBRID);
            body.start.position.y = 0.4;
            body.start.rotation = DQuat::from_rotation_x(0.7);
            if held {
                body = body.pin(&[0]);
            }
            let ground = obstacle(ObstacleShape::Plane, 0.3);
            let mut world = World::new(Model { obstacles: vec![ground], ..fixed(body, 1.0 / 240.0) });
            run(&mut world, 1.5);
            let row = world.row(0);
            eprintln!("{} nodes, held {held}: residue {:.1e}, depth {:.1e}", shape.len(), share(&row), depth(&world));
            assert!(share(&row) < 0.01 && depth(&world) < 5e-3);
        }
    }
}
