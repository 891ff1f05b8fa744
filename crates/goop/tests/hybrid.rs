//! The hybrid formulation: spline energy in a rigid frame, semi-implicit steps.

mod common;

use common::*;
use glam::{DQuat, DVec3};

use goop::material::{MaterialField, Weights};

use goop::{Axes, Body, Material, Shape, World};

fn rubber() -> Material {
    Material {
        density: 1000.0,
        young: 1.0e6,
        poisson: 0.3,
        thickness: 2e-3,
        radius: 5e-3,
        damping: 0.0,
        ..Material::default()
    }
}

fn hybrid(shape: Shape, material: impl Into<MaterialField>) -> Body {
    Body::new("body", shape, material, Axes::HYBRID)
}

fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("line", Shape::line(1.0, 9).unwrap()),
        ("two nodes", Shape::line(1.0, 2).unwrap()),
        ("arc", Shape::arc(0.5, 2.0, 12).unwrap()),
        ("hoop", Shape::hoop(0.5, 14).unwrap()),
        ("rectangle", Shape::rectangle([1.0, 0.7], [7, 6]).unwrap()),
        ("disc", Shape::disc(0.5, [8, 5]).unwrap()),
        ("cylinder", Shape::cylinder(0.3, 1.0, [8, 5]).unwrap()),
        ("sphere", Shape::sphere(0.5, [8, 7]).unwrap()),
        ("torus", Shape::torus(0.5, 0.2, [9, 6]).unwrap()),
        ("block", Shape::block(DVec3::new(0.4, 0.2, 0.3), [4, 3, 4]).unwrap()),
    ]
}

/// Full matrix over planes.
fn dense(body: &Body) -> Vec<Vec<f64>> {
    let n = body.len();
    let linear = body.elastic.as_ref().unwrap().linear(&body.elastic.as_ref().unwrap().memory(), false).unwrap();
    let mut k = vec![vec![0.0; 3 * n]; 3 * n];
    for group in &linear.groups {
        for column in 0..group.columns {
            let at = group.plane * n + column * group.size();
            for (i, j, value) in group.matrix.entries() {
                k[at + i][at + j] = value;
                k[at + j][at + i] = value;
            }
        }
    }
    k
}

fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// Catches a row of the difference operators with a wrong sign or a boundary that holds: K must be positive
/// semi-definite, leave shifts alone, and for first derivatives be made of differences.
#[test]
fn the_stiffness_is_positive_semi_definite_and_leaves_shifts_alone() {
    let weights = Weights { first: [3.0, 2.0, 1.0], second: [0.3, 0.2, 0.1], mixed: [0.1; 3], ..Weights::default() };
    for (name, shape) in shapes() {
        for published in [false, true] {
            let material = MaterialField { weights: published.then_some(weights), ..MaterialField::uniform(rubber()) };
            let body = hybrid(shape.clone(), material);
            let k = dense(&body);
            let n = body.len();
            let size = k.iter().flatten().fold(0.0f64, |a, v| a.max(v.abs()));
            for plane in 0..3 {
                for (i, row) in k.iter().enumerate() {
                    let force: f64 = row[plane * n..(plane + 1) * n].iter().sum();
                    assert!(force.abs() < 1e-11 * size, "{name}: a shift pulls row {i} by {force}");
                }
            }
            let mut random = noise(7);
            for _ in 0..50 {
                let e: Vec<f64> = (0..3 * n).map(|_| random()).collect();
                let energy: f64 = (0..3 * n).map(|i| e[i] * (0..3 * n).map(|j| k[i][j] * e[j]).sum::<f64>()).sum();
                assert!(energy > -1e-10 * size, "{name}: {energy}");
            }
        }
    }
}

/// Catches wrong coefficients of eq 13 and wrong weights of rows along a boundary: on a rectangle the energy of a
/// polynomial displacement is known.
#[test]
fn the_energy_of_a_polynomial_is_its_integral() {
    let (a, b) = (1.2, 0.8);
    let weights = Weights {
        zero: 0.0,
        first: [3.0, 2.0, 0.0],
        second: [0.5, 0.4, 0.0],
        mixed: [0.7, 0.0, 0.0],
        ..Weights::default()
    };
    let material = MaterialField { weights: Some(weights), ..MaterialField::uniform(rubber()) };
    let body = hybrid(Shape::rectangle([a, b], [13, 9]).unwrap(), material);
    let k = dense(&body);
    let n = body.len();
    // e_x = c₁x + c₂z + c₃xz: first and mixed derivatives are exact, second ones vanish.
    let (c1, c2, c3) = (0.3, -0.2, 0.5);
    let mut e = vec![0.0; 3 * n];
    for (i, r) in body.shape.rest_positions.iter().enumerate() {
        e[i] = c1 * r.x + c2 * r.z + c3 * r.x * r.z;
    }
    let energy: f64 = 0.5 * (0..n).map(|i| e[i] * (0..n).map(|j| k[i][j] * e[j]).sum::<f64>()).sum::<f64>();
    // ∫(c₁ + c₃z)² over the sheet by the trapezoid rule that the boundary weights are.
    let square = |c: f64, length: f64, cells: usize| {
        let h = length / cells as f64;
        (0..=cells)
            .map(|j| {
                let z = -0.5 * length + h * j as f64;
                let w = if j == 0 || j == cells { 0.5 } else { 1.0 };
                w * h * (c + c3 * z).powi(2)
            })
            .sum::<f64>()
    };
    let expected = 0.5 * (3.0 * a * square(c1, b, 8) + 2.0 * b * square(c2, a, 12) + 2.0 * 0.7 * c3 * c3 * a * b);
    assert!((energy / expected - 1.0).abs() < 1e-12, "{energy} {expected}");
    // e_y = ½ c x²: second derivative c in all rows but those that would leave the grid.
    let mut e = vec![0.0; 3 * n];
    for (i, r) in body.shape.rest_positions.iter().enumerate() {
        e[n + i] = 0.5 * r.x * r.x;
    }
    let energy: f64 =
        0.5 * (0..n).map(|i| e[n + i] * (0..n).map(|j| k[n + i][n + j] * e[n + j]).sum::<f64>()).sum::<f64>();
    let h = a / 12.0;
    let first: f64 = (0..12).map(|c| h * (-0.5 * a + h * (c as f64 + 0.5)).powi(2)).sum();
    let expected = 0.5 * b * (3.0 * first + 0.5 * (a - h));
    assert!((energy / expected - 1.0).abs() < 1e-12, "{energy} {expected}");
}

/// Catches forces and energy of the public interface that are not those of the matrix.
#[test]
fn the_energy_at_positions_is_that_of_the_matrix() {
    for (name, shape) in shapes() {
        let mut body = hybrid(shape, rubber());
        body.start.rotation = DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.4));
        body.start.spin = DVec3::new(0.1, 0.2, 0.3);
        let mut world = weightless(body, 1e-3);
        deform(&mut world, 1e-3);
        let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
        let framed = state.framed.as_ref().unwrap();
        let (k, e) = (dense(body), &framed.displacement);
        let energy: f64 =
            0.5 * (0..e.len()).map(|i| e[i] * (0..e.len()).map(|j| k[i][j] * e[j]).sum::<f64>()).sum::<f64>();
        let mut f = vec![DVec3::ZERO; body.len()];
        let mut g = f.clone();
        let found =
            body.elastic.as_ref().unwrap().forces(&state.memory, &state.positions, &state.velocities, &mut f, &mut g);
        assert!((found - energy).abs() < 1e-6 * energy.max(1e-12), "{name}: {found} {energy}");
    }
}

fn tossed(shape: Shape, material: Material, dt: f64) -> World {
    let mut body = hybrid(shape, material);
    body.start.velocity = DVec3::new(3.0, -1.0, 2.0);
    body.start.spin = DVec3::new(2.0, 5.0, -3.0);
    let mut world = weightless(body, dt);
    deform(&mut world, 1e-3);
    world
}

/// Catches a term that pushes or turns the frame, and a velocity that does not belong to the momenta.
#[test]
fn momenta_of_a_free_body_stay_to_rounding() {
    for (name, shape) in shapes() {
        for young in [1e4, 1e8] {
            let mut world = tossed(shape.clone(), Material { young, damping: 0.1, ..rubber() }, 1.0 / 240.0);
            let (p0, l0) = momenta(&world);
            for _ in 0..480 {
                world.step().unwrap();
            }
            let (p, l) = momenta(&world);
            let (dp, dl) = ((p - p0).length() / p0.length(), (l - l0).length() / l0.length());
            eprintln!("{name}, E = {young:e}: momentum {dp:.1e}, angular momentum {dl:.1e}");
            assert!(dp < 1e-12, "{name}");
            // A straight curve keeps the spin about itself in e, where nothing forces it to be kept.
            assert!(dl < 1e-12 || matches!(name, "line" | "two nodes"), "{name}: {dl:e}");
        }
    }
}

/// Catches a frame turned by the wrong spin: a body spun about its middle axis flips again and again.
#[test]
fn a_stiff_free_body_tumbles_and_keeps_its_angular_momentum() {
    let mut body =
        hybrid(Shape::block(DVec3::new(0.3, 0.05, 0.2), [6, 2, 5]).unwrap(), Material { young: 1e9, ..rubber() });
    // Inertia is least about x, largest about y; z is the middle axis.
    body.start.spin = DVec3::new(0.01, 0.01, 8.0);
    let mut world = weightless(body, 1.0 / 240.0);
    let (_, l0) = momenta(&world);
    let kinetic = world.row(0).kinetic;
    let (mut flips, mut side) = (0, 1.0);
    for _ in 0..(20 * 240) {
        world.step().unwrap();
        let framed = world.state().bodies[0].framed.as_ref().unwrap();
        if framed.spin.z * side < -4.0 {
            (flips, side) = (flips + 1, -side);
        }
    }
    let (_, l) = momenta(&world);
    let lost = world.row(0).kinetic / kinetic - 1.0;
    eprintln!("{flips} flips, angular momentum {:.1e}, energy {lost:.2e}", (l - l0).length() / l0.length());
    assert!((l - l0).length() < 1e-10 * l0.length());
    assert!(flips >= 3 && lost.abs() < 0.02);
}

/// Catches a matrix that loses definiteness, a solve that loses digits, and an inertial term that does not fade:
/// the stiffer, the nearer to a rigid body, until rounding.
#[test]
fn ten_decades_of_stiffness_tend_to_the_rigid_body() {
    for rate in [240.0, 60.0] {
        for shape in
            [Shape::block(DVec3::new(0.3, 0.1, 0.2), [5, 3, 4]).unwrap(), Shape::rectangle([0.4, 0.3], [7, 6]).unwrap()]
        {
            let toss = |axes: Axes, young: f64| {
                let mut body = Body::new("b", shape.clone(), Material { young, thickness: 0.02, ..rubber() }, axes);
                body.start.velocity = DVec3::new(1.0, 4.0, 0.0);
                body.start.spin = DVec3::new(1.0, 2.0, -1.5);
                let mut world = World::new(fixed(body, 1.0 / rate));
                run(&mut world, 1.0);
                world
            };
            let rigid = toss(Axes::RIGID, 1e6);
            let errors: Vec<f64> = (2..=12).map(|k| distance(&toss(Axes::HYBRID, 10f64.powi(k)), &rigid)).collect();
            eprintln!("1/{rate} s: {}", list(&errors));
            let floor = 1e-9;
            assert!(errors.windows(2).skip(2).all(|e| e[1] < e[0] || e[1] < floor), "{errors:?}");
            assert!(errors[10] < 1e-6, "{errors:?}");
        }
    }
}

/// Catches a static shape that depends on the step, and pins that pull e but not the frame.
#[test]
fn sag_and_pins_are_the_same_at_every_step() {
    let sag = |dt: f64, corners: usize| {
        let shape = Shape::rectangle([0.5, 0.5], [9, 9]).unwrap();
        let all = shape.corners();
        let material = Material { young: 2e7, thickness: 0.02, damping: 1.0, drag: 3.0, ..rubber() };
        let body = hybrid(shape, material).pin(&all[..corners]);
        let mut world = World::new(fixed(body, dt));
        run(&mut world, 12.0);
        let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
        let mut off = 0.0f64;
        for (k, &i) in body.pins[0].nodes.iter().enumerate() {
            off = off.max(body.pins[0].targets[k].distance(state.positions[i as usize]));
        }
        let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
        (state.positions.iter().map(|x| x.y).fold(0.0, f64::min), off, fastest)
    };
    for corners in [4, 3] {
        let found: Vec<_> = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 960.0].iter().map(|&dt| sag(dt, corners)).collect();
        eprintln!("{corners} corners: {found:?}");
        for (y, off, speed) in &found {
            assert!(*off < 1e-8 && *speed < 1e-5, "{found:?}");
            assert!((y / found[0].0 - 1.0).abs() < 1e-5, "{found:?}");
        }
    }
}

/// Energy and length of a stiff pendulum over three seconds.
#[test]
fn a_pendulum_keeps_its_energy_and_period() {
    for dt in [1.0 / 240.0, 1.0 / 60.0] {
        let shape = Shape::line(1.0, 11).unwrap();
        let body = hybrid(shape, Material { young: 1e9, radius: 0.02, ..rubber() }).pin(&[0]);
        let mut world = World::new(fixed(body, dt));
        let weight = world.model().bodies[0].mass() * 9.81;
        let start = world.row(0).stored();
        let (mut worst, mut last, mut turns) = (0.0f64, DVec3::ZERO, Vec::new());
        while world.time() < 6.0 {
            world.step().unwrap();
            let row = world.row(0);
            worst = worst.max((row.stored() - start).abs() / weight);
            let c = center(&world) - DVec3::new(-0.5, 0.0, 0.0);
            if last.x > 0.0 && c.x <= 0.0 || last.x < 0.0 && c.x >= 0.0 {
                turns.push(world.time() - dt * c.x / (c.x - last.x));
            }
            last = c;
            assert!((c.length() - 0.5).abs() < 1e-3);
        }
        // A rod let go level: period 4 K(½) √(2L/3g).
        let expected = 4.0 * 1.854_074_677_3 * (2.0f64 / (3.0 * 9.81)).sqrt();
        let period = (turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64 * 2.0;
        eprintln!("dt {dt:.4}: energy {worst:.2e} of weight × 1 m, period {period:.5} s against {expected:.5} s");
        assert!(worst < 15.0 * dt * 0.5 && (period / expected - 1.0).abs() < 2.0 * dt, "{worst} {period}");
    }
}
