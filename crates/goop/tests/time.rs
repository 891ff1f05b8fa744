//! Time, steps and repeatability: what may change the bits and what may not.

mod common;

use common::*;
use glam::DVec3;
use goop::contact::ObstacleShape;
use goop::model::StepSettings;
use goop::{Axes, Body, Clip, Integrator, Material, Model, Shape, World};

const RUBBER: Material = Material {
    density: 1000.0,
    young: 1.0e5,
    poisson: 0.25,
    thickness: 2e-3,
    radius: 2e-3,
    damping: 0.02,
    drag: 0.1,
    friction: 0.3,
    restitution: 0.0,
    yield_strain: f64::INFINITY,
    flow: 0.0,
    flow_limit: f64::INFINITY,
    tear: f64::INFINITY,
};

fn hung_sheet(nodes: usize, integrator: Integrator) -> Body {
    let shape = Shape::rectangle([1.0, 1.0], [nodes, nodes]).unwrap();
    let corners = shape.corners();
    Body::new("sheet", shape, RUBBER, nodal(integrator)).pin(&corners[..2])
}

/// A sheet falling onto a sphere.
fn draped(nodes: usize, integrator: Integrator) -> Model {
    let shape = Shape::rectangle([0.6, 0.6], [nodes, nodes]).unwrap();
    let mut body = Body::new("sheet", shape, RUBBER, nodal(integrator));
    body.start.position.y = 0.205;
    Model { obstacles: vec![obstacle(ObstacleShape::Sphere { radius: 0.2 }, 0.3)], ..fixed(body, 1.0 / 240.0) }
}

/// Catches frames that steer the steps.
#[test]
fn frames_at_24_30_and_60_a_second_agree_where_they_meet() {
    for adaptive in [false, true] {
        let mut model = fixed(hung_sheet(9, Integrator::BackwardEuler), 1.0 / 200.0);
        model.step.adaptive = adaptive;
        let rates = [24.0, 30.0, 60.0].map(|fps| {
            let mut world = World::new(model.clone());
            let frames: Vec<_> = world.play(Clip { seconds: 1.0, fps }).map(|f| f.unwrap()).collect();
            (fps as usize, frames)
        });
        // Six times a second all three look at once.
        for sixth in 0..=6 {
            let [a, b, c] = [0, 1, 2].map(|k| &rates[k].1[sixth * rates[k].0 / 6]);
            assert!(a.time == b.time && b.time == c.time);
            assert!(a.bodies == b.bodies && b.bodies == c.bodies, "at {} s", a.time);
        }
    }
    eprintln!("24, 30 and 60 fps: the same bits at seven common times");
}

/// Catches sums whose order depends on the threads.
#[test]
fn one_two_and_three_threads_give_the_same_hash() {
    let big = Shape::block(DVec3::splat(0.4), [21, 20, 20]).unwrap();
    let mut block = Body::new("block", big, RUBBER, Axes::IMPLICIT);
    block.start.spin = DVec3::new(2.0, 1.0, 0.5);
    let scenes = [
        ("free block", fixed(block, 1.0 / 240.0), 4),
        ("draped sheet", draped(92, Integrator::BackwardEuler), 8),
        ("explicit sheet", fixed(hung_sheet(92, Integrator::SymplecticEuler), 1e-5), 20),
    ];
    for (name, model, steps) in scenes {
        let hashes = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut world = World::new(model.clone());
                run(&mut world, steps as f64 * model.step.dt);
                if name == "draped sheet" {
                    assert!(world.row(0).contacts > 0);
                }
                world.state().hash()
            })
        });
        eprintln!("{name}, {} nodes: {:032x} on 1, 2 and 3 threads", model.bodies[0].len(), hashes[0]);
        assert!(hashes[0] == hashes[1] && hashes[1] == hashes[2], "{name}");
    }
}

/// Catches a hash that overlooks something.
#[test]
fn the_hash_changes_when_anything_changes() {
    let model = fixed(hung_sheet(6, Integrator::BackwardEuler), 1.0 / 240.0);
    let after = |change: &dyn Fn(&mut Model)| {
        let mut model = model.clone();
        change(&mut model);
        let mut world = World::new(model);
        let end = 5.0 * world.model().step.dt;
        run(&mut world, end);
        world.state().hash()
    };
    let plain = after(&|_| {});
    assert_eq!(plain, after(&|_| {}));
    let changes: [&dyn Fn(&mut Model); 6] = [
        &|m| m.gravity.y *= 1.0 + 1e-12,
        &|m| m.wind.x = 1e-6,
        &|m| m.step.dt *= 1.0 + 1e-12,
        &|m| m.bodies[0].start.velocity.z = 1e-12,
        &|m| m.bodies[0].newton = 2,
        &|m| {
            m.bodies[0].material = Material { young: 1.0001e5, ..RUBBER }.into();
            m.bodies[0].compile();
        },
    ];
    for (k, change) in changes.iter().enumerate() {
        assert_ne!(plain, after(*change), "change {k}");
    }
}

/// Catches anything a step needs that is not in the state.
#[test]
fn a_restored_state_goes_on_bit_for_bit() {
    for integrator in
        [Integrator::BackwardEuler, Integrator::ImplicitMidpoint, Integrator::Bdf2, Integrator::SymplecticEuler]
    {
        let mut model = draped(12, integrator);
        model.step = StepSettings { dt: 1.0 / 480.0, ..Default::default() };
        let mut world = World::new(model.clone());
        run(&mut world, 0.1);
        while world.row(0).contacts == 0 {
            world.step().unwrap();
        }
        let saved = world.state().clone();
        let mut again = World::new(model);
        again.restore(saved);
        for _ in 0..30 {
            assert_eq!(world.step().unwrap(), again.step().unwrap());
        }
        assert_eq!(world.state(), again.state());
    }
}

/// A sheet that an explicit step of this length cannot follow.
fn too_stiff(adaptive: bool) -> Model {
    let mut body = hung_sheet(11, Integrator::SymplecticEuler);
    body.material = Material { young: 1e7, damping: 0.0, ..RUBBER }.into();
    body.compile();
    Model { step: StepSettings { dt: 1.0 / 240.0, adaptive, ..Default::default() }, ..fixed(body, 1.0) }
}

/// Catches a control that does not halve, does not grow back, or gives up.
#[test]
fn halving_brings_a_stiff_explicit_sheet_through() {
    let mut world = World::new(too_stiff(true));
    let (mut smallest, mut grown) = (f64::INFINITY, 0);
    let mut last = 1.0 / 240.0;
    while world.time() < 0.25 {
        let dt = world.step().unwrap().dt;
        smallest = smallest.min(dt);
        grown += u32::from(dt > last);
        last = dt;
    }
    let (rejected, stretch) = (world.state().rejected, world.row(0).worst_stretch);
    eprintln!("halved to {smallest:.1e} s, {rejected} rejected, grew {grown} times, stretch {stretch:.2}");
    assert!(rejected > 0 && grown > 0 && stretch < 0.5);
}

/// Catches a run that goes on with numbers that are none, or an error that does not help.
#[test]
fn a_fixed_step_that_is_too_long_stops_with_a_remedy_and_a_finite_state() {
    let mut world = World::new(too_stiff(false));
    let failure = (0..10_000).find_map(|_| world.step().err()).expect("it cannot hold");
    eprintln!("{failure}");
    assert!(failure.body == "sheet" && failure.node < 121 && failure.dt == 1.0 / 240.0);
    assert!((failure.time - world.time() - failure.dt).abs() < 1e-9);
    assert!(failure.remedy.contains("step.dt"));
    let state = &world.state().bodies[0];
    assert!(state.positions.iter().chain(&state.velocities).all(|x| x.is_finite()));
}
