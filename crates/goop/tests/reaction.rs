//! Bones that forces drive and that their flesh pushes back.

mod common;

use common::run;
use glam::{DQuat, DVec3};
use goop::animate::{Motion, Push};
use goop::model::StepSettings;
use goop::{Axes, Body, Integrator, Material, Model, Shape, World};

const MASS: f64 = 3.0;

/// A block of rubber with a bone of nodes off its middle, which a push drives for a while.
fn boned(axes: Axes, dt: f64, reacting: bool, bone: f64, pushes: &[Push], gravity: DVec3) -> World {
    let rubber = Material { young: 2e4, density: 1000.0, damping: 0.05, ..Material::default() };
    let mut body = Body::new("jelly", Shape::block(DVec3::new(0.3, 0.2, 0.2), [7, 5, 5]).unwrap(), rubber, axes);
    body.start.position = DVec3::new(0.3, 1.0, -0.2);
    body.start.rotation = DQuat::from_rotation_y(0.4);
    body.solver.tolerance = 1e-11;
    let near = |p: DVec3| (p - DVec3::new(-0.05, 0.0, 0.0)).abs().cmplt(DVec3::new(0.06, 0.06, 0.06)).all();
    let nodes: Vec<u32> = (0..body.len() as u32).filter(|&i| near(body.shape.rest_positions[i as usize])).collect();
    assert!(nodes.len() > 8);
    let mut pin = body.pin_at_start(&nodes);
    pin.motion = Motion::default().driven(bone, gravity, pushes, DVec3::ZERO);
    if reacting {
        pin.motion = pin.motion.reacting(bone, pushes);
    }
    body.pins.push(pin);
    let step = StepSettings { dt, adaptive: false, ..StepSettings::default() };
    World::new(Model { bodies: vec![body], gravity, step, ..Model::default() })
}

/// Momentum and angular momentum of flesh and bone, the bone's own mass shared by its nodes.
fn momenta(world: &World, bone: f64) -> [DVec3; 2] {
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    let nodes = &body.pins[0].nodes;
    let flesh: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
    let mut sum = [DVec3::ZERO; 2];
    for i in 0..body.len() {
        let more = if nodes.contains(&(i as u32)) { 1.0 + bone / flesh } else { 1.0 };
        let momentum = body.masses[i] * more * state.velocities[i];
        sum = [sum[0] + momentum, sum[1] + state.positions[i].cross(momentum)];
    }
    sum
}

fn shove() -> [Push; 2] {
    [
        Push { time: 0.0, newtons: DVec3::new(60.0, 20.0, -30.0), ..Push::default() },
        Push { time: 0.1, ..Push::default() },
    ]
}

const EXPLICIT: [Integrator; 3] =
    [Integrator::SymplecticEuler, Integrator::ExplicitDiagonal, Integrator::ExplicitTaylor];

/// Catches a bone that gives its flesh a momentum which it does not lose itself.
#[test]
fn momentum_of_bone_and_flesh_is_what_was_pushed_into_them() {
    let pushed = 0.1 * shove()[0].newtons;
    let implicit = [Axes::IMPLICIT, Axes::FINITE].map(|axes| (axes, 1.0 / 120.0));
    let explicit = EXPLICIT.map(|scheme| (Axes::nodal_springs(scheme), 1.0 / 8192.0));
    for (axes, dt) in implicit.into_iter().chain(explicit) {
        for bone in [0.05, MASS, 200.0] {
            let mut world = boned(axes, dt, true, bone, &shove(), DVec3::ZERO);
            run(&mut world, 0.1);
            let middle = momenta(&world, bone);
            run(&mut world, 0.5);
            let end = momenta(&world, bone);
            let off = [middle[0] - pushed, end[0] - pushed].map(|d| d.length() / pushed.length());
            eprintln!("{:?} {:?} bone {bone} kg: momentum off by {off:?}", axes.elasticity, axes.integrator);
            // Velocities of bones are differences of positions: rounding is all that is left.
            assert!(off[0] < 1e-8 && off[1] < 1e-8, "{off:?}");
        }
    }
    // As published nothing pushes back: the bone has what was pushed into it, and the flesh more.
    let mut world = boned(Axes::IMPLICIT, 1.0 / 120.0, false, MASS, &shove(), DVec3::ZERO);
    run(&mut world, 0.5);
    assert!((momenta(&world, MASS)[0] - pushed).length() > 0.5 * pushed.length());
}

/// Catches flesh that turns its bone without being turned back. Backward Euler brakes every spin, by less at smaller steps.
#[test]
fn bone_and_flesh_turn_one_another() {
    for scheme in [Integrator::SymplecticEuler, Integrator::ExplicitDiagonal] {
        let mut world = boned(Axes::nodal_springs(scheme), 1.0 / 8192.0, true, MASS, &shove(), DVec3::ZERO);
        run(&mut world, 0.1 + 1e-6);
        let start = momenta(&world, MASS)[1];
        run(&mut world, 0.6);
        let off = (momenta(&world, MASS)[1] - start).length() / start.length();
        eprintln!("{scheme:?}: angular momentum off by {off:.1e}");
        assert!(off < 1e-9, "{off:e}");
    }
    let lost = [60.0, 240.0].map(|rate| {
        let mut world = boned(Axes::IMPLICIT, 1.0 / rate, true, MASS, &shove(), DVec3::ZERO);
        run(&mut world, 0.1 + 1e-6);
        let start = momenta(&world, MASS)[1];
        run(&mut world, 0.6);
        (momenta(&world, MASS)[1] - start).length() / start.length()
    });
    eprintln!("backward Euler: {lost:?} at 1/60 and 1/240 s");
    assert!(lost[1] < 0.5 * lost[0] && lost[0] < 0.05, "{lost:?}");
}

/// Catches a reaction that lags behind: both ways to step must give the same motion, also of a bone far lighter than
/// its flesh, and the flesh must hold the bone back.
#[test]
fn every_scheme_moves_the_bone_alike() {
    let place = |axes: Axes, dt: f64, reacting: bool, bone: f64| {
        let mut world = boned(axes, dt, reacting, bone, &shove(), DVec3::ZERO);
        run(&mut world, 0.3);
        let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
        let nodes = &body.pins[0].nodes;
        nodes.iter().map(|&i| state.positions[i as usize]).sum::<DVec3>() / nodes.len() as f64
    };
    for bone in [0.05, MASS] {
        let start = place(Axes::IMPLICIT, 1.0 / 120.0, true, f64::INFINITY.min(1e12));
        let fine = place(Axes::nodal_springs(Integrator::SymplecticEuler), 1.0 / 16384.0, true, bone) - start;
        for (axes, dt, slack) in [
            (Axes::nodal_springs(Integrator::ExplicitTaylor), 1.0 / 16384.0, 1e-3),
            (Axes::IMPLICIT, 1.0 / 960.0, 0.03),
            (Axes::IMPLICIT, 1.0 / 120.0, 0.2),
        ] {
            let off = (place(axes, dt, true, bone) - start - fine).length() / fine.length();
            eprintln!("bone {bone} kg, {:?} at {dt:.1e} s: {:.1} % off", axes.integrator, 100.0 * off);
            assert!(off < slack, "{off}");
        }
        let alone = place(Axes::IMPLICIT, 1.0 / 120.0, false, bone) - start;
        assert!(alone.length() > 2.0 * fine.length(), "{alone} {fine}");
    }
}

/// Catches events that do something else to a bone that feels its flesh: stop, hold, release, and a turn that is told.
#[test]
fn events_act_on_a_bone_that_feels_its_flesh() {
    let gravity = DVec3::new(0.0, -9.81, 0.0);
    // All falls as one, whatever the masses.
    let mut world = boned(Axes::IMPLICIT, 1.0 / 120.0, true, MASS, &[], gravity);
    let rest = world.state().bodies[0].positions.clone();
    run(&mut world, 0.25);
    let fall: Vec<f64> = world.state().bodies[0].positions.iter().zip(&rest).map(|(x, r)| x.y - r.y).collect();
    // Backward Euler falls n (n + 1) / 2 steps' worth.
    let exact = -9.81 / 120f64.powi(2) * 30.0 * 31.0 / 2.0;
    // One linearisation a step leaves what is of second order in the guess.
    assert!(fall.iter().all(|f| (f - exact).abs() < 1e-5), "{fall:?}");
    // A bone whose weight is carried sinks by that of the flesh alone.
    let hold = [Push { hold: true, ..Push::default() }];
    let mut world = boned(Axes::IMPLICIT, 1.0 / 120.0, true, MASS, &hold, gravity);
    run(&mut world, 0.25);
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    let own: f64 = body.pins[0].nodes.iter().map(|&i| body.masses[i as usize]).sum();
    let flesh = body.mass() - own;
    let sum: f64 = momenta(&world, MASS)[0].y;
    assert!((sum + 0.25 * 9.81 * flesh).abs() < 1e-7 * flesh, "{sum}");
    assert!(state.positions.iter().all(|x| x.is_finite()));
    // Stopped, it stands for a moment; let go, it falls again.
    let pushes = [
        Push { newtons: DVec3::X * 50.0, ..Push::default() },
        Push { time: 0.1, stop: true, hold: true, ..Push::default() },
        Push { time: 0.2, release: true, ..Push::default() },
    ];
    let mut world = boned(Axes::IMPLICIT, 1.0 / 1000.0, true, 500.0, &pushes, gravity);
    let speed = |world: &World| {
        let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
        state.velocities[body.pins[0].nodes[0] as usize]
    };
    run(&mut world, 0.1);
    assert!(speed(&world).x > 5e-3 && speed(&world).y < -0.9, "{}", speed(&world));
    run(&mut world, 0.102);
    assert!(speed(&world).length() < 0.01, "{}", speed(&world));
    run(&mut world, 0.3);
    assert!(speed(&world).y < -0.9, "{}", speed(&world));
    // Told to turn, it turns so.
    let turn = [Push { turn: DVec3::Y * 3.0, ..Push::default() }];
    let mut world = boned(Axes::IMPLICIT, 1.0 / 120.0, true, MASS, &turn, DVec3::ZERO);
    let pair = |world: &World| {
        let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
        let nodes = &body.pins[0].nodes;
        state.positions[nodes[nodes.len() - 1] as usize] - state.positions[nodes[0] as usize]
    };
    let before = pair(&world);
    run(&mut world, 0.5);
    let after = pair(&world);
    assert!((after - DQuat::from_rotation_y(1.5) * before).length() < 1e-9, "{before} {after}");
}

/// Catches a linearised reaction that more Newton iterations would change without end, and a world that is not resumed as
/// it was left.
#[test]
fn newton_iterations_agree_and_a_run_goes_on_as_it_stopped() {
    let end = |newton: u32, dt: f64| {
        let mut world = boned(Axes::FINITE, dt, true, MASS, &shove(), DVec3::ZERO);
        let mut model = world.model().clone();
        model.bodies[0].newton = newton;
        world = World::new(model);
        run(&mut world, 0.2);
        let off = (momenta(&world, MASS)[0] - 0.1 * shove()[0].newtons).length();
        assert!(off < 1e-7, "{newton}: {off:e}");
        world
    };
    let (once, often) = (end(1, 1.0 / 480.0), end(8, 1.0 / 480.0));
    let (a, b) = (&once.state().bodies[0].positions, &often.state().bodies[0].positions);
    let off = a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    eprintln!("one and eight Newton iterations: {off:.1e} m apart");
    assert!(off < 2e-3, "{off}");
    let mut first = boned(Axes::IMPLICIT, 1.0 / 120.0, true, MASS, &shove(), DVec3::ZERO);
    run(&mut first, 0.2);
    let mut second = World::new(first.model().clone());
    second.restore(first.state().clone());
    run(&mut first, 0.4);
    run(&mut second, 0.4);
    assert_eq!(first.state().hash(), second.state().hash());
}
