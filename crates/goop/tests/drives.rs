//! Drives on every kind of body: thrusters, gyros, servos and blows.

mod common;

use common::{center, momenta, orientation, run};
use glam::{DQuat, DVec3};
use goop::animate::{Course, Key};
use goop::drive::{Drive, DriveKind, Path, Servo};
use goop::model::StepSettings;
use goop::{Axes, Body, Edit, Integrator, Material, Model, Shape, World};

/// One of every choice of coordinates, and of every way to step nodes.
const FORMS: [(&str, Axes); 10] = [
    ("rigid", Axes::RIGID),
    ("hybrid", Axes::HYBRID),
    ("reduced", Axes::REDUCED),
    ("reduced backward Euler", Axes { integrator: Integrator::BackwardEuler, ..Axes::REDUCED }),
    ("spring", Axes::SPRING),
    ("mass-spring", Axes::MASS_SPRING),
    ("implicit", Axes::IMPLICIT),
    ("midpoint", Axes::nodal_springs(Integrator::ImplicitMidpoint)),
    ("bdf2", Axes::nodal_springs(Integrator::Bdf2)),
    ("finite", Axes::FINITE),
];

fn rubber() -> Material {
    Material { young: 2e5, density: 500.0, damping: 0.3, ..Material::default() }
}

fn block(axes: Axes) -> Body {
    let mut body = Body::new("block", Shape::block(DVec3::new(0.2, 0.3, 0.1), [3, 4, 3]).unwrap(), rubber(), axes);
    body.start.position = DVec3::new(0.5, 1.0, -0.2);
    body.start.rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -0.3, 0.2);
    body
}

fn world(body: Body, gravity: DVec3, dt: f64) -> World {
    let step = StepSettings { dt, adaptive: false, ..StepSettings::default() };
    World::new(Model { bodies: vec![body], gravity, step, ..Model::default() })
}

/// A step that explicit schemes survive.
const SHORT: f64 = 1.0 / 4096.0;
/// A film's frame.
const LONG: f64 = 1.0 / 60.0;

fn explicit(axes: Axes) -> bool {
    matches!(axes.integrator, Integrator::ExplicitDiagonal | Integrator::ExplicitTaylor | Integrator::SymplecticEuler)
}

fn step_of(axes: Axes) -> f64 {
    if explicit(axes) { SHORT } else { LONG }
}

fn thruster(newtons: DVec3, nodes: Vec<u32>, body_axes: bool, course: Course) -> DriveKind {
    DriveKind::Thruster { nodes, newtons, body_axes, course }
}

/// Angular velocity of a body's nodes as a whole.
fn spin(world: &World) -> DVec3 {
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    goop::drive::Posture::of(&body.masses, &body.shape.rest_positions, &state.positions, &state.velocities).spin
}

/// Catches a force that is not the one asked for, is turned wrongly, or spins the body.
#[test]
fn a_thruster_on_a_free_body_gives_v_equal_to_f_t_over_m() {
    let newtons = DVec3::new(2.0, -1.0, 3.0);
    for (name, axes) in FORMS {
        for body_axes in [false, true] {
            let mut body = block(axes);
            body.drives.push(Drive::always(thruster(newtons, Vec::new(), body_axes, Course::default())));
            let (mass, turn) = (body.mass(), body.start.rotation);
            let mut world = world(body, DVec3::ZERO, step_of(axes));
            run(&mut world, 1.0);
            let (momentum, angular) = momenta(&world);
            let wanted = if body_axes { turn * newtons } else { newtons } * world.time();
            let tight = 1e-9 * wanted.length();
            assert!((momentum - wanted).length() < tight, "{name}, {mass} kg: {momentum} not {wanted}");
            assert!(angular.length() < tight, "{name}: {angular}");
        }
    }
}

/// Catches a time course or a window of time that depends on where steps begin and end.
#[test]
fn what_a_thruster_gives_in_all_does_not_depend_on_the_step() {
    let course = Course::new(vec![[0.1, 0.0], [0.213, 1.0], [0.213, 3.0], [0.4001, 0.5]]);
    let whole = 0.5 * 0.113 + 0.5 * (3.0 + 0.5) * (0.4001 - 0.213) + 0.5 * (0.7003 - 0.4001);
    for dt in [1.0 / 240.0, 1.0 / 61.0, 0.1] {
        let mut body = block(Axes::RIGID);
        let kind = thruster(DVec3::X, Vec::new(), false, course.clone());
        body.drives.push(Drive { from: 0.05, until: 0.7003, kind });
        let mut world = world(body, DVec3::ZERO, dt);
        run(&mut world, 1.0);
        assert!((momenta(&world).0.x - whole).abs() < 1e-9, "{dt}: {} not {whole}", momenta(&world).0.x);
    }
}

/// Catches a thruster on a selection whose force or lever arm is not that of the nodes.
#[test]
fn a_thruster_beside_the_centre_also_turns_the_body() {
    for (name, axes) in FORMS {
        let mut body = block(axes);
        let nodes = vec![0, 1, 2];
        let mass: f64 = nodes.iter().map(|&i| body.masses[i as usize]).sum();
        let positions = body.start_positions();
        let at = nodes.iter().map(|&i| body.masses[i as usize] * positions[i as usize]).sum::<DVec3>() / mass;
        let force = DVec3::new(0.3, 0.1, -0.2);
        body.drives.push(Drive::always(thruster(force, nodes, false, Course::default())));
        let mut world = world(body, DVec3::ZERO, SHORT);
        let arm = at - center(&world);
        run(&mut world, 8.0 * SHORT);
        let (momentum, angular) = momenta(&world);
        let time = world.time();
        assert!((momentum - time * force).length() < 1e-9 * time, "{name}: {momentum}");
        let wanted = time * arm.cross(force);
        assert!((angular - wanted).length() < 1e-3 * wanted.length(), "{name}: {angular} not {wanted}");
    }
}

/// Catches a torque that is not the one asked for, pushes the body, or deforms it.
#[test]
fn a_gyro_gives_the_spin_of_its_torque_and_nothing_else() {
    for (name, axes) in FORMS {
        let mut body = block(axes);
        // About a principal axis of the block, which stays where it is.
        let torque = DVec3::new(0.0, 2e-3, 0.0);
        let kind = DriveKind::Gyro { newton_meters: torque, body_axes: true, course: Course::default() };
        body.drives.push(Drive { from: 0.0, until: 0.5, kind });
        let turn = body.start.rotation;
        let rest = &body.shape.rest_positions;
        let inertia: f64 = (0..body.len()).map(|i| body.masses[i] * (rest[i].x.powi(2) + rest[i].z.powi(2))).sum();
        let mut world = world(body, DVec3::ZERO, if explicit(axes) { SHORT } else { 1.0 / 480.0 });
        run(&mut world, 1.0);
        let (momentum, angular) = momenta(&world);
        assert!(momentum.length() < 1e-12, "{name}: {momentum}");
        assert!((angular - turn * torque * 0.5).length() < 1e-3 * 1e-3, "{name}: {angular}");
        let wanted = turn * torque * (0.5 / inertia);
        assert!((spin(&world) - wanted).length() < 5e-3 * wanted.length(), "{name}: {} not {wanted}", spin(&world));
    }
}

/// Catches a blow that is lost, turned wrongly or not booked.
#[test]
fn a_blow_gives_its_momentum_and_angular_momentum_and_is_booked() {
    for (name, axes) in FORMS {
        let body = block(axes);
        let turn = body.start.rotation;
        let (linear, angular) = (DVec3::new(0.2, 0.5, -0.1), DVec3::new(1e-3, -2e-3, 3e-3));
        let mut world = world(body, DVec3::ZERO, step_of(axes));
        world.edit(&Edit::Kick { body: 0, linear, angular, body_axes: true });
        let (p, l) = momenta(&world);
        assert!((p - turn * linear).length() < 1e-11, "{name}: {p}");
        assert!((l - turn * angular).length() < 1e-10, "{name}: {l}");
        let row = world.row(0);
        assert!(row.drive_work > 0.0 && row.residue().abs() < 1e-12 * row.kinetic, "{name}: {row:?}");
        assert_eq!(row.load_work, 0.0);
    }
}

fn there_and_back() -> Servo {
    let key = |time: f64, position: DVec3, turn: f64| Key { time, position, rotation: DQuat::from_rotation_y(turn) };
    let path = Path::new(vec![
        key(0.0, DVec3::new(0.5, 1.0, -0.2), 0.0),
        key(1.0, DVec3::new(1.5, 1.4, 0.3), 1.2),
        key(2.0, DVec3::new(1.0, 1.0, 0.0), 0.5),
    ]);
    Servo { path, response: 0.2, ..Servo::default() }
}

/// Catches gains that blow up at a long step, a wrong sign, and a servo that does not carry the weight.
#[test]
fn a_servo_reaches_its_way_points_in_time_and_stays_at_the_last_whatever_the_step() {
    for (name, axes) in FORMS {
        // Finite elements themselves do not stand a tenth of a second; a scheme that remembers the last step answers a
        // servo late by it.
        let second = match axes {
            Axes::FINITE => 1.0 / 120.0,
            _ if axes.integrator == Integrator::Bdf2 => 0.05,
            _ => 0.1,
        };
        for dt in [step_of(axes), if explicit(axes) { 0.5 * SHORT } else { second }] {
            let mut body = block(axes);
            body.drives.push(Drive::always(DriveKind::Servo(there_and_back())));
            let mut world = world(body, DVec3::new(0.0, -9.81, 0.0), dt);
            run(&mut world, 1.0);
            let late = if dt < 0.05 { 0.05 } else { 0.25 };
            let miss = (center(&world) - DVec3::new(1.5, 1.4, 0.3)).length();
            assert!(miss < late, "{name} at {dt}: {miss} m beside the way point");
            run(&mut world, 4.0);
            let miss = (center(&world) - DVec3::new(1.0, 1.0, 0.0)).length();
            assert!(miss < 1e-3, "{name} at {dt}: {miss} m beside the end");
            let turn = orientation(&world).angle_between(DQuat::from_rotation_y(0.5));
            assert!(turn < 1e-2, "{name} at {dt}: turned away by {turn}");
            let speed = momenta(&world).0.length() / world.model().bodies[0].mass();
            assert!(speed < 2e-3 && spin(&world).length() < 2e-2, "{name} at {dt}: {speed} m/s, {}", spin(&world));
        }
    }
}

/// Catches gains that do not come from mass and inertia: a still body must be pulled in alike whatever it weighs.
#[test]
fn the_response_time_leaves_a_twentieth_of_the_error_of_a_light_and_of_a_heavy_body() {
    for density in [10.0, 5000.0] {
        let mut body = Body::new(
            "block",
            Shape::block(DVec3::new(0.2, 0.3, 0.1), [3, 4, 3]).unwrap(),
            Material { density, ..rubber() },
            Axes::RIGID,
        );
        body.start.position = DVec3::X;
        body.start.rotation = DQuat::from_rotation_z(0.8);
        let servo = Servo { response: 0.5, ..Servo::default() };
        body.drives.push(Drive::always(DriveKind::Servo(servo)));
        let mut world = world(body, DVec3::new(0.0, -9.81, 0.0), 1.0 / 2000.0);
        run(&mut world, 0.5);
        let (left, turned) = (center(&world).x, orientation(&world).to_scaled_axis().z / 0.8);
        assert!((left - 0.05).abs() < 2e-3, "{density}: {left}");
        assert!((turned - 0.05).abs() < 4e-3, "{density}: {turned}");
    }
}

/// Catches a servo that gives way to what pushes it, pushes beyond its limits, or holds what it is told to leave.
#[test]
fn a_servo_holds_attitude_against_a_blow_within_its_limits_and_leaves_other_directions_free() {
    for (name, axes) in FORMS {
        let mut body = block(axes);
        let (mass, turn) = (body.mass(), body.start.rotation);
        let key = Key { time: 0.0, position: body.start.position, rotation: turn };
        let servo = Servo {
            path: Path::new(vec![key]),
            holds: [true, false, true],
            response: 0.3,
            most_torque: 0.05,
            most_force: 2.0 * mass,
            ..Servo::default()
        };
        body.drives.push(Drive::always(DriveKind::Servo(servo)));
        let start = body.start.position;
        let mut world = world(body, DVec3::ZERO, step_of(axes));
        let angular = DVec3::new(4e-3, 3e-3, -2e-3);
        world.edit(&Edit::Kick { body: 0, linear: mass * DVec3::new(1.0, 0.2, 0.0), angular, body_axes: false });
        let (mut last, dt) = (momenta(&world), world.model().step.dt);
        for _ in 0..(1.0 / dt) as usize {
            world.step().unwrap();
            let now = momenta(&world);
            let (force, torque) = ((now.0 - last.0).length() / dt, (now.1 - last.1).length() / dt);
            assert!(force < 2.0 * mass * 1.001 && torque < 0.05 * 1.01, "{name}: {force} N, {torque} N m");
            last = now;
        }
        run(&mut world, 4.0);
        let off = center(&world) - start;
        assert!(off.x.abs() < 1e-2 && off.z.abs() < 1e-2, "{name}: {off}");
        assert!((off.y - 0.8).abs() < 1e-2, "{name}: upwards it should fly by itself, {off}");
        let away = orientation(&world).angle_between(turn);
        assert!(away < 2e-2, "{name}: turned away by {away}");
    }
}

/// Catches work of drives that is booked as another's, or not at all.
#[test]
fn the_ledger_closes_with_the_work_of_drives_in_its_own_column() {
    for (name, axes) in FORMS {
        let mut body = block(axes);
        body.drives.push(Drive { until: 0.5, ..Drive::always(DriveKind::Servo(there_and_back())) });
        let push = thruster(DVec3::new(1.0, 20.0, 0.0), vec![0, 3, 7], true, Course::new(vec![[0.3, 0.0], [0.6, 1.0]]));
        body.drives.push(Drive { from: 0.3, until: 0.8, kind: push });
        let kind =
            DriveKind::Gyro { newton_meters: DVec3::new(0.01, 0.0, 0.02), body_axes: true, course: Course::default() };
        body.drives.push(Drive { from: 0.2, until: 0.9, kind });
        let mut world = world(body, DVec3::new(0.0, -9.81, 0.0), if explicit(axes) { SHORT } else { 1.0 / 480.0 });
        run(&mut world, 1.0);
        let row = world.row(0);
        let share = row.residue().abs() / row.exchanged;
        assert!(share < 1e-6, "{name}: residue {} of {}", row.residue(), row.exchanged);
        assert!(row.drive_work.abs() > 1e-2 * row.exchanged, "{name}: {row:?}");
        assert!(row.load_work.abs() < 1e-12 * row.exchanged, "{name}: {}", row.load_work);
    }
}

/// Catches a posture summed in another order on more threads, and a drive that keeps something outside the state.
#[test]
fn the_same_bytes_on_one_thread_on_two_and_after_a_checkpoint() {
    let make = || {
        let shape = Shape::rectangle([1.0, 1.0], [70, 70]).unwrap();
        let mut sheet = Body::new("sheet", shape, Material { thickness: 2e-3, ..rubber() }, Axes::HYBRID);
        let servo = Servo { path: there_and_back().path, ..Servo::default() };
        sheet.drives.push(Drive { from: 0.02, ..Drive::always(DriveKind::Servo(servo)) });
        let mut block = block(Axes::IMPLICIT);
        block.drives = sheet.drives.clone();
        let kick = Edit::Kick { body: 1, linear: DVec3::Y, angular: DVec3::X * 1e-3, body_axes: true };
        World::new(Model { bodies: vec![sheet, block], events: vec![(0.03, kick)], ..Model::default() })
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = make();
            run(&mut world, 0.1);
            world.state().hash()
        })
    };
    let whole = on(1);
    assert_eq!(whole, on(2));
    let mut first = make();
    run(&mut first, 0.05);
    let mut second = make();
    second.resume(first.checkpoint()).unwrap();
    run(&mut second, 0.1);
    assert_eq!(whole, second.state().hash());
}
