//! Finer steps and finer grids change quality, not the look.

mod common;

use common::*;
use glam::DVec3;
use goop::{Axes, Body, Integrator, Material, Shape, World};

/// A string held at both ends that starts level and falls.
fn string(integrator: Integrator, newton: u32, dt: f64) -> World {
    let material = Material { young: 2e5, density: 1000.0, radius: 0.02, damping: 0.0, ..Material::default() };
    let mut body = Body::new("string", Shape::line(1.0, 9).unwrap(), material, nodal(integrator)).pin(&[0, 8]);
    body.newton = newton;
    let mut world = World::new(fixed(body, dt));
    run(&mut world, 0.25);
    world
}

/// Catches a scheme of a lower order than it claims.
#[test]
fn halving_the_step_shows_the_order_of_every_scheme() {
    let exact = string(Integrator::ImplicitMidpoint, 8, 1.0 / 64000.0);
    for (name, integrator, newton, order, first) in [
        ("symplectic-euler", Integrator::SymplecticEuler, 1, 1.0, 2000.0),
        ("explicit-taylor", Integrator::ExplicitTaylor, 1, 1.0, 16000.0),
        ("backward-euler", Integrator::BackwardEuler, 1, 1.0, 1000.0),
        ("backward-euler, converged", Integrator::BackwardEuler, 8, 1.0, 1000.0),
        ("implicit-midpoint", Integrator::ImplicitMidpoint, 1, 2.0, 1000.0),
        ("implicit-midpoint, converged", Integrator::ImplicitMidpoint, 8, 2.0, 1000.0),
        ("bdf2", Integrator::Bdf2, 1, 2.0, 1000.0),
        ("bdf2, converged", Integrator::Bdf2, 8, 2.0, 1000.0),
    ] {
        let errors: Vec<f64> =
            [1.0, 2.0, 4.0].map(|k| distance(&string(integrator, newton, 1.0 / (k * first)), &exact)).to_vec();
        let seen = orders(&errors);
        eprintln!("{name}: off by {} m from 1/{first} s on, orders {seen:.2?}", list(&errors));
        assert!((seen[1] - order).abs() < 0.35, "{name}: {seen:?}");
    }
}

/// How far the middle of a body of this many nodes a side sinks (m).
fn sag(shape: Shape, pinned: &[u32], middle: &[u32], material: Material) -> f64 {
    let body = Body::new("body", shape, material, Axes::IMPLICIT).pin(pinned);
    let mut world = World::new(fixed(body, 1.0 / 240.0));
    let left = world.settle().unwrap();
    assert!(left < 1e-6, "{left}");
    let x = &world.state().bodies[0].positions;
    -middle.iter().map(|&i| x[i as usize].y).sum::<f64>() / middle.len() as f64
}

/// Catches constants that depend on the grid: a card must look the same on any.
#[test]
fn a_finer_grid_does_not_change_the_sag() {
    let sheet = |n: usize| {
        let shape = Shape::rectangle([1.0, 1.0], [n, n]).unwrap();
        let rim = shape.boundary_nodes();
        let middle = [shape.center_node()];
        sag(shape, &rim, &middle, Material { young: 1e5, thickness: 2e-3, damping: 0.0, ..Material::default() })
    };
    let beam = |n: usize| {
        let shape = Shape::line(1.0, n).unwrap();
        let ends = [0, n as u32 - 1];
        sag(
            shape,
            &ends,
            &[(n as u32 - 1) / 2],
            Material { young: 1e7, radius: 0.02, damping: 0.0, ..Material::default() },
        )
    };
    let cantilever = |n: usize| {
        let shape = Shape::block(DVec3::new(0.5, 0.125, 0.125), [4 * n - 3, n, n]).unwrap();
        let (held, free) = (shape.side(0, false), shape.side(0, true));
        sag(shape, &held, &free, Material { young: 1e6, damping: 0.0, ..Material::default() })
    };
    for (name, values, most) in [
        ("sheet held at its rim, 6, 11, 21, 41 a side", [6, 11, 21, 41].map(sheet).to_vec(), 0.03),
        ("beam on two ends, 7, 13, 25, 49 nodes", [7, 13, 25, 49].map(beam).to_vec(), 0.03),
        ("cantilever block, 2, 3, 5, 9 nodes thick", [2, 3, 5, 9].map(cantilever).to_vec(), 0.25),
    ] {
        let finest = values[3];
        let steps: Vec<f64> = values.windows(2).map(|v| (v[1] - v[0]).abs()).collect();
        let off: Vec<f64> = values.iter().map(|v| v / finest - 1.0).collect();
        eprintln!("{name}: sag {values:.5?} m, off by {off:.4?}, orders {:.2?}", orders(&steps));
        assert!(off[1].abs() < most, "{name}: {off:?}");
    }
}

/// Logarithmic decrement per second of the first stretching mode of a free bar.
fn decay(nodes: usize) -> f64 {
    let material = Material { young: 1e5, density: 1000.0, radius: 0.02, damping: 0.05, ..Material::default() };
    let body = Body::new("bar", Shape::line(1.0, nodes).unwrap(), material, nodal(Integrator::ImplicitMidpoint));
    let mut world = weightless(body, 1.0 / 2000.0);
    let mut state = world.state().clone();
    for x in &mut state.bodies[0].positions {
        // The mode itself: cos(π s), ends outwards.
        x.x += 1e-4 * (std::f64::consts::PI * x.x).sin();
    }
    world.restore(state);
    let mut peaks = Vec::new();
    let (mut last, mut before) = (0.0, 0.0);
    while world.time() < 1.0 {
        world.step().unwrap();
        let x = &world.state().bodies[0].positions;
        let longer = x[nodes - 1].x - x[0].x - 1.0;
        if before < last && last > longer {
            peaks.push((world.time(), last));
        }
        (before, last) = (last, longer);
    }
    let ((t0, a0), (t1, a1)) = (peaks[0], peaks[peaks.len() - 1]);
    (a0 / a1).ln() / (t1 - t0)
}

/// Catches damping that grows with the number of nodes.
#[test]
fn the_first_mode_decays_alike_on_every_grid() {
    // ω = π √(E/ρ) / L, and damping in proportion to stiffness gives it the ratio of the card.
    let expected = 0.05 * std::f64::consts::PI * 10.0;
    let rates = [9, 17, 33, 65].map(decay);
    eprintln!("decay of the first mode on 9, 17, 33, 65 nodes: {rates:.4?} 1/s, card {expected:.4}");
    assert!(rates.iter().all(|r| (r / expected - 1.0).abs() < 0.03));
}
