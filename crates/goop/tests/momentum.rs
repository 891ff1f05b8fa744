//! Momentum and angular momentum of free bodies under every scheme.

mod common;

use common::*;
use glam::DVec3;
use goop::{Axes, Body, Integrator, Material, Shape, World};

const SOFT: Material = Material {
    density: 1000.0,
    young: 1.0e5,
    poisson: 0.25,
    thickness: 5e-3,
    radius: 5e-3,
    damping: 0.3,
    drag: 0.0,
    friction: 0.0,
    restitution: 0.0,
    yield_strain: f64::INFINITY,
    flow: 0.0,
    flow_limit: f64::INFINITY,
    tear: f64::INFINITY,
};

/// A body that flies, spins and has been knocked out of shape.
fn tossed(shape: Shape, axes: Axes, newton: u32, dt: f64) -> World {
    let mut body = Body::new("tossed", shape, SOFT, axes);
    body.start.velocity = DVec3::new(3.0, -1.0, 2.0);
    body.start.spin = DVec3::new(2.0, 5.0, -3.0);
    body.newton = newton;
    let mut world = weightless(body, dt);
    if axes != Axes::RIGID {
        deform(&mut world, 0.01);
    }
    world
}

fn small() -> Shape {
    Shape::block(DVec3::new(0.3, 0.2, 0.4), [4, 3, 5]).unwrap()
}

/// Relative change of momentum and angular momentum over a run.
fn drift(world: &mut World, steps: usize) -> [f64; 2] {
    let (p0, l0) = momenta(world);
    let mut worst = [0.0f64; 2];
    for _ in 0..steps {
        world.step().unwrap();
        let (p, l) = momenta(world);
        worst = [worst[0].max((p - p0).length() / p0.length()), worst[1].max((l - l0).length() / l0.length())];
    }
    worst
}

/// Catches a force without its opposite, and a solve that leaks momentum.
#[test]
fn every_scheme_keeps_the_momentum_of_a_free_body() {
    for (name, integrator) in NODAL {
        for shape in [small(), Shape::rectangle([0.4, 0.3], [7, 6]).unwrap(), Shape::line(0.5, 12).unwrap()] {
            let dt = if integrator.implicit() { 1.0 / 240.0 } else { 5e-4 };
            let [p, l] = drift(&mut tossed(shape, nodal(integrator), 1, dt), 240);
            eprintln!("{name}: momentum {p:.1e}, angular momentum {l:.1e}");
            assert!(p < 1e-12, "{name}: {p:e}");
        }
    }
}

/// Catches sums that lose what crosses the border of a chunk.
#[test]
fn a_body_of_several_chunks_keeps_its_momentum() {
    let shape = || Shape::block(DVec3::new(0.3, 0.2, 0.4), [20, 20, 21]).unwrap();
    for (name, integrator, dt) in [
        ("symplectic-euler", Integrator::SymplecticEuler, 1e-4),
        ("backward-euler", Integrator::BackwardEuler, 1.0 / 240.0),
    ] {
        let [p, l] = drift(&mut tossed(shape(), nodal(integrator), 1, dt), 20);
        eprintln!("{name}, 8400 nodes: momentum {p:.1e}, angular momentum {l:.1e}");
        assert!(p < 1e-12 && l < 1e-12, "{name}: {p:e} {l:e}");
    }
}

/// Catches a damper or a bend element that turns the body, and a scheme whose
/// positions and velocities do not belong together.
#[test]
fn rigid_bodies_and_symplectic_springs_keep_their_angular_momentum() {
    for (name, axes) in [("rigid", Axes::RIGID), ("symplectic-euler", nodal(Integrator::SymplecticEuler))] {
        for shape in [small(), Shape::rectangle([0.4, 0.3], [7, 6]).unwrap(), Shape::hoop(0.2, 14).unwrap()] {
            let [p, l] = drift(&mut tossed(shape, axes, 1, 5e-4), 400);
            eprintln!("{name}: momentum {p:.1e}, angular momentum {l:.1e}");
            assert!(p < 1e-12 && l < 1e-12, "{name}: {p:e} {l:e}");
        }
    }
}

/// Catches implicit schemes that brake a spinning body in flight.
#[test]
fn implicit_schemes_keep_the_angular_momentum_of_a_free_body() {
    for (name, integrator) in [
        ("backward-euler", Integrator::BackwardEuler),
        ("midpoint", Integrator::ImplicitMidpoint),
        ("bdf2", Integrator::Bdf2),
    ] {
        for newton in [1, 12] {
            let [_, l] = drift(&mut tossed(small(), nodal(integrator), newton, 1.0 / 120.0), 240);
            eprintln!("{name}, {newton} Newton iterations: angular momentum {l:.1e}");
            let most = if integrator == Integrator::Bdf2 { 1e-10 } else { 1e-12 };
            assert!(l < most, "{name}: {l:e}");
        }
    }
}

/// Angular momentum lost in 0.5 s by a block that turns about a pin in its middle, at three steps.
fn spin_lost(integrator: Integrator, newton: u32) -> Vec<f64> {
    [120.0, 240.0, 480.0]
        .map(|rate| {
            let shape = Shape::block(DVec3::new(0.3, 0.2, 0.4), [5, 3, 5]).unwrap();
            let middle = shape.center_node();
            let mut body = Body::new("top", shape, Material { young: 1e6, ..SOFT }, nodal(integrator)).pin(&[middle]);
            body.start.spin = DVec3::new(0.0, 6.0, 0.0);
            body.newton = newton;
            let mut world = weightless(body, 1.0 / rate);
            let (_, l0) = momenta(&world);
            run(&mut world, 0.5);
            (momenta(&world).1 - l0).length() / l0.length()
        })
        .to_vec()
}

/// Catches a change of what the schemes do to a spin that is not free: the pin pulls
/// through the middle, so all that is lost is the scheme's, about dt ω² for backward Euler.
#[test]
fn a_pinned_top_shows_the_order_of_the_schemes_in_angular_momentum() {
    let euler = spin_lost(Integrator::BackwardEuler, 1);
    let converged = spin_lost(Integrator::BackwardEuler, 12);
    let midpoint = spin_lost(Integrator::ImplicitMidpoint, 12);
    eprintln!("backward-euler: {} orders {:.2?}", list(&euler), orders(&euler));
    eprintln!("backward-euler, converged: {} orders {:.2?}", list(&converged), orders(&converged));
    eprintln!("midpoint, converged: {}", list(&midpoint));
    let two_step = spin_lost(Integrator::Bdf2, 12);
    eprintln!("bdf2, converged: {} orders {:.2?}", list(&two_step), orders(&two_step));
    assert!(orders(&two_step).iter().all(|o| *o > 1.7) && two_step[0] < 0.1 * converged[0]);
    assert!(orders(&euler).iter().chain(&orders(&converged)).all(|o| (0.8..1.3).contains(o)));
    assert!(midpoint.iter().all(|l| *l < 1e-8));
}
