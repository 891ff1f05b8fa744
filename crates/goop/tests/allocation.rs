//! Nothing is allocated in the step loop.
//!
//! Bodies stay below the size at which work is shared out between threads: rayon
//! allocates now and then for its own queues, which is not ours to count.

use glam::DVec3;
use goop::animate::{Key, Motion};
use goop::contact::{Obstacle, ObstacleShape};
use goop::model::Integrator;
use goop::solve::{Method, Preconditioner, Settings};
use goop::{Axes, Body, Material, Model, Shape, World};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Of this thread, for tests run side by side.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations in 100 steps after 2500, by when everything that grows has grown.
fn allocations(model: Model) -> usize {
    let mut world = World::new(model);
    for _ in 0..2500 {
        world.step().unwrap();
    }
    let before = COUNT.get();
    assert!(before > 0, "allocations are counted");
    let mut touched = false;
    for _ in 0..100 {
        world.step().unwrap();
        touched |= world.state().bodies[0].row.contacts > 0;
    }
    let count = COUNT.get() - before;
    assert_eq!(touched, !world.model().obstacles.is_empty(), "the ground is touched where there is one");
    count
}

fn cube(axes: Axes) -> Body {
    let shape = Shape::block(DVec3::splat(0.2), [6, 6, 6]).unwrap();
    let jelly = Material { young: 2.0e4, damping: 0.1, drag: 0.1, ..Material::default() };
    let mut body = Body::new("cube", shape, jelly, axes);
    body.solver.method = Method::ConjugateGradients;
    body
}

fn scene(axes: Axes, dt: f64, ground: bool) -> Model {
    let mut model = Model { bodies: vec![cube(axes)], wind: DVec3::X, ..Model::default() };
    model.step.dt = dt;
    if ground {
        // At rest on the ground, as deep in its range as the weight presses.
        model.bodies[0].start.position.y = 0.10475;
        model.obstacles.push(Obstacle {
            name: "ground".into(),
            shape: ObstacleShape::Plane,
            hollow: false,
            motion: Motion::default(),
            friction: 0.3,
            restitution: 0.0,
            range: 0.005,
            stiffness: None,
            damping: 1.0,
            tolerance: 0.001,
            published: None,
            removed: false,
        });
    } else {
        let corners = model.bodies[0].shape.corners();
        let pin = model.bodies[0].pin_at_start(&corners);
        model.bodies[0].pins.push(pin);
    }
    model
}

fn turned(k: i32) -> glam::DQuat {
    glam::DQuat::from_rotation_z(f64::from(k))
}

/// Catches a vector made anew in the step, on any path a body can take.
#[test]
fn steps_allocate_nothing() {
    let integrators = [
        (Integrator::ExplicitDiagonal, 1e-4),
        (Integrator::ExplicitTaylor, 2e-5),
        (Integrator::SymplecticEuler, 1e-4),
        (Integrator::BackwardEuler, 2e-3),
        (Integrator::ImplicitMidpoint, 2e-3),
        (Integrator::Bdf2, 2e-3),
    ];
    for (integrator, dt) in integrators {
        for ground in [false, true] {
            let count = allocations(scene(Axes::nodal_springs(integrator), dt, ground));
            assert_eq!(count, 0, "{integrator:?}, on the ground: {ground}");
        }
    }
    for pins in [1, 3] {
        // Swung about: with one pin its frame goes by itself, with three it follows them.
        let mut model = scene(Axes::HYBRID, 2e-3, false);
        model.bodies[0].pins[0].nodes.truncate(pins);
        model.bodies[0].pins[0].targets.truncate(pins);
        let key = |k: i32| Key { time: f64::from(k), position: DVec3::X * f64::from(k % 2), rotation: turned(k) };
        model.bodies[0].pins[0].motion = Motion::new((0..10).map(key).collect());
        assert_eq!(allocations(model), 0, "hybrid, {pins} moving pins");
    }
    for ground in [false, true] {
        assert_eq!(allocations(scene(Axes::HYBRID, 2e-3, ground)), 0, "hybrid, on the ground: {ground}");
        assert_eq!(allocations(scene(Axes::PRIMAL, 2e-3, ground)), 0, "primal, on the ground: {ground}");
        assert_eq!(allocations(scene(Axes::RIGID, 2e-3, ground)), 0, "rigid, on the ground: {ground}");
        assert_eq!(allocations(scene(Axes::FINITE, 2e-3, ground)), 0, "finite elements, on the ground: {ground}");
    }
}

/// Catches a list made anew for a drive, or one that starts to act on its way.
#[test]
fn steps_of_a_driven_body_allocate_nothing() {
    use goop::drive::{Drive, DriveKind, Path, Servo};
    // From 5 s on it is counted.
    let key = |k: i32| Key { time: 5.0 + f64::from(k), position: DVec3::X * f64::from(k), rotation: turned(k) };
    for axes in [Axes::HYBRID, Axes::RIGID, Axes::nodal_springs(Integrator::BackwardEuler)] {
        let mut model = scene(axes, 2e-3, true);
        let path = Path::new((0..10).map(key).collect());
        let servo = Servo { path, holds: [true, false, true], attitude: false, ..Servo::default() };
        let course = goop::animate::Course::new(vec![[5.0, 0.0], [5.1, 1.0], [5.1, 0.0]]);
        let thruster = DriveKind::Thruster { nodes: vec![0, 5], newtons: DVec3::Y, body_axes: true, course };
        let from = |time: f64, kind| Drive { from: time, ..Drive::always(kind) };
        model.bodies[0].drives = vec![from(5.05, DriveKind::Servo(servo)), from(5.08, thruster)];
        assert_eq!(allocations(model), 0, "{axes:?}");
    }
}

/// Catches memory that is copied anew for a step that flows, and lists made for a tear.
#[test]
fn steps_that_flow_and_tear_allocate_nothing() {
    for (integrator, dt) in [(Integrator::SymplecticEuler, 5e-4), (Integrator::BackwardEuler, 4e-3)] {
        let shape = Shape::rectangle([0.6, 0.6], [13, 13]).unwrap();
        let corners = shape.corners();
        let material = Material { young: 2.0e4, yield_strain: 0.02, flow: 1.0, tear: 0.3, ..Material::default() };
        let mut sheet = Body::new("sheet", shape, material, Axes::nodal_springs(integrator)).pin(&corners);
        sheet.solver.method = Method::ConjugateGradients;
        let mut model = Model { bodies: vec![sheet], ..Model::default() };
        model.step.dt = dt;
        let mut world = World::new(model);
        (0..8).for_each(|_| _ = world.step().unwrap());
        let before = COUNT.get();
        (0..300).for_each(|_| _ = world.step().unwrap());
        assert_eq!(COUNT.get() - before, 0, "{integrator:?}");
        let state = &world.state().bodies[0];
        assert!(state.topology_version > 0 && state.row.flow > 0.0, "{integrator:?}: {:?}", state.row);
    }
}

/// Catches a solver that makes its vectors or its factor anew with every solve.
#[test]
fn every_solver_allocates_at_its_first_solve_only() {
    let gradients = Method::ConjugateGradients;
    for (method, preconditioner) in [
        (Method::Auto, Preconditioner::Jacobi),
        (Method::Cholesky, Preconditioner::Jacobi),
        (Method::Profile, Preconditioner::Jacobi),
        (Method::Sor, Preconditioner::Jacobi),
        (gradients, Preconditioner::None),
        (gradients, Preconditioner::IncompleteCholesky),
        (gradients, Preconditioner::Ssor),
    ] {
        let mut model = scene(Axes::nodal_springs(Integrator::BackwardEuler), 2e-3, false);
        let tolerance = if method == Method::Cholesky { 1e-13 } else { 1e-6 };
        model.bodies[0].solver = Settings { method, preconditioner, tolerance, max_iterations: 5000 };
        let mut world = World::new(model);
        (0..5).for_each(|_| _ = world.step().unwrap());
        let before = COUNT.get();
        (0..20).for_each(|_| _ = world.step().unwrap());
        assert_eq!(COUNT.get() - before, 0, "{method:?} {preconditioner:?}");
    }
}
