//! Frequencies of held plates, membranes and beams in the hybrid formulation, against theory.

mod common;

use common::*;
use glam::DVec3;
use goop::material::{MaterialField, Weights};
use goop::{Axes, Body, Material, Model, Shape, World};
use std::f64::consts::{PI, TAU};

/// Frequency (rad/s) of a body set off with the velocities of a mode, by the zeros of its motion along it.
fn frequency(body: Body, expected: f64, mode: impl Fn(DVec3) -> f64) -> f64 {
    let dt = TAU / expected / 400.0;
    let rest = body.shape.rest_positions.clone();
    let masses = body.masses.clone();
    let mut world = World::new(Model { gravity: DVec3::ZERO, ..fixed(body, dt) });
    let mut state = world.state().clone();
    let size = 1e-4 * expected;
    for (i, v) in state.bodies[0].velocities.iter_mut().enumerate() {
        *v = DVec3::Y * (size * mode(rest[i]));
    }
    world.restore(state);
    let along = |world: &World| -> f64 {
        let x = &world.state().bodies[0].positions;
        (0..x.len()).map(|i| masses[i] * mode(rest[i]) * (x[i].y - rest[i].y)).sum()
    };
    let (mut last, mut zeros) = (0.0, Vec::new());
    while zeros.len() < 3 {
        world.step().unwrap();
        let now = along(&world);
        if last * now < 0.0 {
            zeros.push(world.time() - dt * now / (now - last));
        }
        last = now;
        assert!(world.time() < 4.0 * TAU / expected);
    }
    TAU / (zeros[2] - zeros[0])
}

fn card() -> Material {
    Material {
        density: 1000.0,
        young: 1e9,
        poisson: 0.3,
        thickness: 5e-3,
        radius: 5e-3,
        damping: 0.0,
        ..Material::default()
    }
}

/// Catches a bending weight that is off by Poisson's ratio, a mixed term with the wrong coefficient, and first-derivative
/// weights that act on the normal.
#[test]
fn a_simply_supported_plate_has_the_frequencies_of_the_theory() {
    let shape = Shape::rectangle([1.0, 1.0], [27, 27]).unwrap();
    let rim = shape.boundary_nodes();
    let c = card();
    let bending = c.young * c.thickness.powi(3) / (12.0 * (1.0 - c.poisson * c.poisson));
    for (waves, number) in [([1.0, 1.0], 19.7392), ([1.0, 2.0], 49.3480)] {
        let expected = number * (bending / (c.density * c.thickness)).sqrt();
        let body = Body::new("plate", shape.clone(), c, Axes::HYBRID).pin(&rim);
        let found =
            frequency(body, expected, |r| (waves[0] * PI * (r.x + 0.5)).sin() * (waves[1] * PI * (r.z + 0.5)).sin());
        eprintln!(
            "plate {waves:?}: {found:.4} rad/s against {expected:.4}, {:+.2} %",
            100.0 * (found / expected - 1.0)
        );
        assert!((found / expected - 1.0).abs() < 0.01);
    }
}

/// Catches boundary weights and scaling of first derivatives, and a frame that turns with the mean of a sheet whose rim does
/// not: tone 12 tilts the sheet as a whole, and would be 5 % too high however fine the grid.
#[test]
fn a_clamped_membrane_has_the_frequencies_of_the_theory() {
    let (tension, c) = (50.0, card());
    let shape = Shape::rectangle([1.0, 1.0], [27, 27]).unwrap();
    let rim = shape.boundary_nodes();
    let weights = Weights { first: [tension, tension, 0.0], ..Weights::default() };
    for [m, n] in [[1.0, 1.0], [2.0, 2.0], [1.0, 2.0]] {
        let speed: f64 = (tension / (c.density * c.thickness)).sqrt();
        let expected = PI * speed * f64::hypot(m, n);
        let material = MaterialField { weights: Some(weights), ..MaterialField::uniform(c) };
        let body = Body::new("membrane", shape.clone(), material, Axes::HYBRID).pin(&rim);
        let found = frequency(body, expected, |r| (m * PI * (r.x + 0.5)).sin() * (n * PI * (r.z + 0.5)).sin());
        let error = found / expected - 1.0;
        eprintln!("membrane {m} {n}: {found:.4} rad/s against {expected:.4}, {:+.2} %", 100.0 * error);
        assert!(error.abs() < 0.01);
    }
}

/// A beam whose first two nodes are held: to second order it is clamped in the middle between them.
fn cantilever(nodes: usize, root: f64, strip: bool) -> f64 {
    let (length, c) = (1.0, Material { poisson: if strip { 0.0 } else { 0.3 }, ..card() });
    let total = length * (nodes - 1) as f64 / (nodes as f64 - 1.5);
    let start = 0.5 * total - length;
    let (shape, stiffness) = if strip {
        // A strip three nodes wide, without Poisson's ratio.
        (Shape::rectangle([total, 0.1], [nodes, 3]).unwrap(), c.young * c.thickness.powi(2) / 12.0 / c.density)
    } else {
        (Shape::line(total, nodes).unwrap(), c.young * c.radius.powi(2) / 4.0 / c.density)
    };
    let held: Vec<u32> = (0..shape.len() as u32)
        .filter(|&i| shape.rest_positions[i as usize].x < start)
        .chain((0..shape.len() as u32).filter(|&i| {
            let x = shape.rest_positions[i as usize].x;
            x > start && x < start + 0.9 * total / (nodes - 1) as f64
        }))
        .collect();
    let expected = root * root * stiffness.sqrt();
    let body = Body::new("beam", shape, c, Axes::HYBRID).pin(&held);
    let sigma = (root.cosh() + root.cos()) / (root.sinh() + root.sin());
    let found = frequency(body, expected, |r| {
        let x = root * (r.x - start).max(0.0);
        x.cosh() - x.cos() - sigma * (x.sinh() - x.sin())
    });
    found / expected - 1.0
}

/// Catches a free end that is not free, a clamp of the wrong length, and bending that does not converge.
#[test]
fn a_cantilever_has_the_frequencies_of_the_theory() {
    for strip in [false, true] {
        for root in [1.875104, 4.694091] {
            let errors: Vec<f64> = [11, 21, 41].iter().map(|&n| cantilever(n, root, strip)).collect();
            eprintln!("βL = {root}, strip {strip}: {} orders {:.2?}", list(&errors), orders(&errors));
            assert!(errors[2].abs() < 0.01, "{errors:?}");
            assert!(errors[0].abs() / errors[1].abs() > 2.5, "second order: {errors:?}");
        }
    }
}
