//! The energy account closes in undamped runs, term by term, for every scheme.

mod common;

use common::*;
use glam::{DQuat, DVec3};
use goop::animate::{Course, Key, Motion};
use goop::contact::ObstacleShape;
use goop::ledger::Row;
use goop::material::{MaterialField, Raw};
use goop::model::Load;
use goop::{Axes, Body, Integrator, Material, Model, Shape, World};

const RUBBER: Material = Material {
    density: 1000.0,
    young: 1.0e5,
    poisson: 0.25,
    thickness: 5e-3,
    radius: 5e-3,
    damping: 0.0,
    drag: 0.0,
    friction: 0.0,
    restitution: 0.0,
    yield_strain: f64::INFINITY,
    flow: 0.0,
    flow_limit: f64::INFINITY,
    tear: f64::INFINITY,
};

fn sheet(axes: Axes) -> Body {
    Body::new("sheet", Shape::rectangle([0.5, 0.5], [8, 8]).unwrap(), RUBBER, axes)
}

fn cube(axes: Axes, height: f64, velocity: DVec3) -> Body {
    let mut body = block(DVec3::splat(0.2), [4, 4, 4], RUBBER, axes);
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

/// A scene by name: a body and what acts on it.
fn scene(name: &str, axes: Axes, dt: f64) -> Model {
    let corners = sheet(axes).shape.corners();
    let plane = |friction| vec![obstacle(ObstacleShape::Plane, friction)];
    let mut model = match name {
        "swinging sheet" => fixed(sheet(axes).pin(&corners[..2]), dt),
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
        "put back at high speed" => {
            Model { obstacles: plane(0.0), ..fixed(cube(axes, 0.1, DVec3::new(2.0, -15.0, 0.0)), dt) }
        }
        _ => unreachable!("{name}"),
    };
    model.bodies[0].newton = 1;
    model
}

const SCENES: [&str; 8] = [
    "swinging sheet",
    "moving pin",
    "force",
    "wind",
    "compliant pin",
    "bouncing block",
    "moving obstacle",
    "put back at high speed",
];

fn play(mut model: Model, newton: u32) -> Row {
    model.bodies[0].newton = newton;
    let mut world = World::new(model);
    run(&mut world, 0.5);
    world.row(0)
}

/// Catches a force whose work is not booked, booked twice or with the wrong sign.
#[test]
fn the_account_closes_for_every_scheme_and_every_force() {
    let mut failed = Vec::new();
    for name in SCENES {
        for (scheme, integrator) in NODAL {
            let newtons: &[u32] = if integrator.implicit() { &[1, 20] } else { &[1] };
            for &newton in newtons {
                let dt = if integrator.implicit() { 1.0 / 480.0 } else { 1e-4 };
                let row = play(scene(name, nodal(integrator), dt), newton);
                let line = format!("{name}, {scheme}, {newton} Newton: {:.1e} of {:.2} J", share(&row), row.exchanged);
                eprintln!("{line}, scheme {:.2} J, impact {:.2} J", row.scheme, row.impact);
                if share(&row).is_nan() || share(&row) >= 0.01 {
                    failed.push(line);
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Catches the same for rigid bodies.
#[test]
fn the_account_of_a_rigid_body_closes() {
    for name in SCENES {
        let row = play(scene(name, Axes::RIGID, 1.0 / 480.0), 1);
        eprintln!("{name}, rigid: {:.1e} of {:.2} J, scheme {:.3} J", share(&row), row.exchanged, row.scheme);
        assert!(share(&row) < 0.01, "{name}: {}", share(&row));
    }
}

/// Catches an account that closes by construction: with a term struck out it must not.
#[test]
fn leaving_out_one_term_opens_the_account() {
    let euler = |name: &str| play(scene(name, nodal(Integrator::BackwardEuler), 1.0 / 240.0), 8);
    let symplectic = nodal(Integrator::SymplecticEuler);
    let mut damped = scene("swinging sheet", nodal(Integrator::BackwardEuler), 1.0 / 240.0);
    damped.bodies[0].material = Material { damping: 0.2, ..RUBBER }.into();
    damped.bodies[0].compile();
    type Strike = fn(&mut Row);
    let rows: [(&str, Row, Strike); 9] = [
        ("scheme", euler("swinging sheet"), |r| r.scheme = 0.0),
        ("elastic", euler("swinging sheet"), |r| r.elastic = 0.0),
        ("damping", play(damped, 8), |r| r.damping = 0.0),
        ("pin work", euler("moving pin"), |r| r.pin_work = 0.0),
        ("load work", euler("force"), |r| r.load_work = 0.0),
        ("drag", euler("wind"), |r| r.drag = 0.0),
        ("friction", euler("bouncing block"), |r| r.friction = 0.0),
        ("impact", play(scene("put back at high speed", symplectic, 1e-4), 1), |r| r.impact = 0.0),
        ("work of an obstacle", euler("moving obstacle"), |r| r.load_work = 0.0),
    ];
    for (term, whole, strike) in rows {
        let mut without = whole;
        strike(&mut without);
        eprintln!("{term}: {:.1e} with it, {:.1e} without", share(&whole), share(&without));
        assert!(share(&whole) < 0.01 && share(&without) > 0.01, "{term}");
    }
}

/// Catches a dissipation that is a remainder in disguise: on a straight stretched
/// chain, whose energy is quadratic, it is ½|Δv|²_M + ½|Δx|²_K, 0 for the midpoint rule, and over two steps
/// M (v₁ - ṽ)/h·Δx - ½Δ|v|²_M + ½|Δx|²_K.
#[test]
fn the_schemes_own_dissipation_is_its_identity() {
    let (k, mass, spacing) = (50.0, 0.1, 0.1);
    for (name, integrator) in NODAL {
        let raw = Raw { k, d: 0.0, c: 0.0, node_mass: mass, rest: Some(vec![0.5 * spacing]), shear: 0.0, bend: 0.0 };
        let shape = Shape::line(1.0, 11).unwrap();
        let material = MaterialField::raw(RUBBER, raw);
        let body = Body::new("chain", shape, material, nodal(integrator)).pin(&[0, 10]);
        let mut world = weightless(body, 0.01);
        world.edit(&goop::Edit::Impulse { body: 0, nodes: vec![3, 4], newton_seconds: DVec3::X * 0.05 });
        let (mut expected, mut size) = (0.0, 0.0);
        let mut earlier: Option<Vec<DVec3>> = None;
        for _ in 0..50 {
            let before = world.state().bodies[0].clone();
            world.step().unwrap();
            let after = &world.state().bodies[0];
            let change = |i: usize| after.positions[i].x - before.positions[i].x;
            let kinetic: f64 =
                (0..11).map(|i| 0.5 * mass * (after.velocities[i] - before.velocities[i]).length_squared()).sum();
            let elastic: f64 = (0..10).map(|i| 0.5 * k * (change(i + 1) - change(i)).powi(2)).sum();
            size += kinetic + elastic;
            // What the scheme took for the velocity at the start, of steps of one length.
            let two_step = earlier.as_ref().map(|earlier| -> f64 {
                (0..11)
                    .map(|i| {
                        let (v0, v1) = (before.velocities[i], after.velocities[i]);
                        let start = v0 + (v0 - earlier[i]) / 3.0;
                        let push = mass * (v1 - start) / (0.01 * 2.0 / 3.0);
                        push.dot(after.positions[i] - before.positions[i])
                            - 0.5 * mass * (v1.length_squared() - v0.length_squared())
                    })
                    .sum()
            });
            earlier = Some(before.velocities.clone());
            expected += match integrator {
                Integrator::Bdf2 => two_step.unwrap_or(kinetic) + elastic,
                Integrator::BackwardEuler => kinetic + elastic,
                Integrator::ImplicitMidpoint => 0.0,
                Integrator::ExplicitTaylor => -elastic,
                _ => kinetic - elastic,
            };
        }
        let row = world.row(0);
        eprintln!("{name}: scheme {:.6e} J, identity {expected:.6e} J", row.scheme);
        assert!((row.scheme - expected).abs() < 1e-6 * size, "{name}");
        assert!(share(&row) < 1e-5, "{name}: {}", share(&row));
    }
}
