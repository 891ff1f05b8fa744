//! The spring energy against its own derivatives and symmetries, on random shapes
//! of every kind.

use glam::{DQuat, DVec3};
use goop::elastic::{Elasticity, Springs, Weights, lattice};
use goop::material::{Material, MaterialField, Raw};
use goop::shape::Shape;

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn vector(seed: &mut u64, size: f64) -> DVec3 {
    DVec3::new(random(seed), random(seed), random(seed)) * size
}

fn shapes() -> Vec<(&'static str, Shape)> {
    let square =
        vec![DVec3::ZERO, DVec3::X, DVec3::new(1.1, 0.2, 0.9), DVec3::new(0.1, 0.0, 1.0), DVec3::new(0.5, 0.3, 0.5)];
    let triangles = vec![[0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]];
    vec![
        ("line", Shape::line(1.0, 6).unwrap()),
        ("hoop", Shape::hoop(0.5, 7).unwrap()),
        ("helix", Shape::helix(0.3, 1.0, 1.5, 9).unwrap()),
        ("rectangle", Shape::rectangle([1.0, 0.8], [4, 5]).unwrap()),
        ("disc", Shape::disc(0.5, [6, 3]).unwrap()),
        ("sphere", Shape::sphere(0.5, [6, 5]).unwrap()),
        ("torus", Shape::torus(0.5, 0.2, [6, 5]).unwrap()),
        ("box", Shape::block(DVec3::new(0.6, 0.5, 0.4), [3, 4, 3]).unwrap()),
        ("ball", Shape::ball(0.4, [3, 3, 3]).unwrap()),
        ("mesh", Shape::from_triangles(square, triangles, None, Default::default()).unwrap()),
    ]
}

fn materials() -> Vec<MaterialField> {
    let card = Material { young: 3e4, thickness: 0.05, radius: 0.05, damping: 0.3, ..Material::default() };
    let raw = Raw { k: 90.0, d: 2.0, c: 0.0, node_mass: 1.0, rest: Some(vec![0.3, 0.25, 0.2]), shear: 40.0, bend: 5.0 };
    vec![card.into(), MaterialField::raw(card, raw)]
}

fn each_case(mut check: impl FnMut(&str, &Springs, &Shape)) {
    for (name, shape) in shapes() {
        for material in materials() {
            check(name, &lattice::springs(&shape, &material), &shape);
        }
    }
}

fn forces(s: &Springs, x: &[DVec3], v: &[DVec3]) -> (f64, Vec<DVec3>, Vec<DVec3>) {
    let (mut f, mut g) = (vec![DVec3::ZERO; x.len()], vec![DVec3::ZERO; x.len()]);
    let energy = s.forces(&s.memory(), x, v, &mut f, &mut g);
    (energy, f, g)
}

fn shaken(shape: &Shape, seed: &mut u64) -> Vec<DVec3> {
    shape.rest_positions.iter().map(|&r| r + vector(seed, 0.15)).collect()
}

/// Catches a sign, a factor or a weight lost between the energy and its force.
#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let mut seed = 7;
    each_case(|name, springs, shape| {
        let x = shaken(shape, &mut seed);
        let v = vec![DVec3::ZERO; x.len()];
        let (_, f, _) = forces(springs, &x, &v);
        let scale = f.iter().map(|f| f.length()).fold(0.0, f64::max);
        for i in 0..x.len() {
            for axis in 0..3 {
                let h = 1e-6;
                let at = |sign: f64| {
                    let mut y = x.clone();
                    y[i][axis] += sign * h;
                    forces(springs, &y, &v).0
                };
                let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
                assert!((slope + f[i][axis]).abs() < 1e-6 * scale, "{name} node {i}: {slope} {}", f[i][axis]);
            }
        }
    });
}

/// Catches a wrong geometric term, a block in the wrong place, a missing transpose.
#[test]
fn exact_stiffness_is_minus_the_derivative_of_the_force() {
    let mut seed = 11;
    each_case(|name, springs, shape| {
        let x = shaken(shape, &mut seed);
        let v = vec![DVec3::ZERO; x.len()];
        let mut matrix = springs.structure();
        springs.stiffness(&springs.memory(), &x, Weights { position: 1.0, velocity: 0.0 }, true, &mut matrix);
        let free = vec![true; x.len()];
        let direction: Vec<DVec3> = x.iter().map(|_| vector(&mut seed, 1.0)).collect();
        let mut image = vec![DVec3::ZERO; x.len()];
        matrix.product(&free, &direction, &mut image);
        let h = 1e-6;
        let moved = |sign: f64| -> Vec<DVec3> { (0..x.len()).map(|i| x[i] + sign * h * direction[i]).collect() };
        let (_, plus, _) = forces(springs, &moved(1.0), &v);
        let (_, minus, _) = forces(springs, &moved(-1.0), &v);
        let scale = image.iter().map(|f| f.length()).fold(0.0, f64::max);
        for i in 0..x.len() {
            let slope = (plus[i] - minus[i]) / (2.0 * h);
            assert!((slope + image[i]).length() < 1e-6 * scale, "{name} node {i}: {slope} {}", image[i]);
        }
    });
}

/// Catches a damping matrix that is not the derivative of the damping force.
#[test]
fn the_damping_matrix_times_velocity_is_minus_the_damping_force() {
    let mut seed = 13;
    each_case(|name, springs, shape| {
        let x = shaken(shape, &mut seed);
        let v: Vec<DVec3> = x.iter().map(|_| vector(&mut seed, 2.0)).collect();
        let (_, _, g) = forces(springs, &x, &v);
        let mut matrix = springs.structure();
        springs.stiffness(&springs.memory(), &x, Weights { position: 0.0, velocity: 1.0 }, false, &mut matrix);
        let mut image = vec![DVec3::ZERO; x.len()];
        matrix.product(&vec![true; x.len()], &v, &mut image);
        let scale = image.iter().map(|f| f.length()).fold(0.0, f64::max);
        for i in 0..x.len() {
            assert!((image[i] + g[i]).length() <= 1e-12 * scale, "{name} node {i}");
        }
    });
}

/// Catches a clamp that misses (the implicit matrix would be indefinite) or that
/// bites where the exact matrix was fine.
#[test]
fn the_clamped_stiffness_is_positive_and_equals_the_exact_one_in_tension() {
    let mut seed = 17;
    each_case(|name, springs, shape| {
        let crushed: Vec<DVec3> = shape.rest_positions.iter().map(|&r| 0.4 * r + vector(&mut seed, 0.1)).collect();
        let mut matrix = springs.structure();
        springs.stiffness(&springs.memory(), &crushed, Weights { position: 1.0, velocity: 0.0 }, false, &mut matrix);
        let n = crushed.len();
        for _ in 0..50 {
            let d: Vec<DVec3> = (0..n).map(|_| vector(&mut seed, 1.0)).collect();
            let mut image = vec![DVec3::ZERO; n];
            let quadratic = matrix.product(&vec![true; n], &d, &mut image);
            let scale: f64 = image.iter().map(|f| f.length()).sum();
            assert!(quadratic > -1e-12 * scale, "{name}: {quadratic}");
        }
        // Large enough that every pair and stencil is longer than at rest.
        let stretched: Vec<DVec3> = shape.rest_positions.iter().map(|&r| 3.0 * r).collect();
        let (mut a, mut b) = (springs.structure(), springs.structure());
        springs.stiffness(&springs.memory(), &stretched, Weights { position: 1.0, velocity: 0.0 }, false, &mut a);
        springs.stiffness(&springs.memory(), &stretched, Weights { position: 1.0, velocity: 0.0 }, true, &mut b);
        for i in 0..n {
            for ((_, p), (_, q)) in a.row(i).zip(b.row(i)) {
                assert!((p - q).to_cols_array().iter().all(|d| d.abs() < 1e-9), "{name}");
            }
        }
    });
}

/// Catches rest lengths that do not belong to the rest shape, and forces that see
/// a rigid motion.
#[test]
fn the_rest_shape_is_free_of_force_and_rigid_motion_changes_nothing() {
    let mut seed = 19;
    let card: MaterialField = Material { young: 3e4, thickness: 0.05, radius: 0.05, ..Material::default() }.into();
    for (name, shape) in shapes() {
        let springs = lattice::springs(&shape, &card);
        let still = vec![DVec3::ZERO; shape.len()];
        let (energy, f, _) = forces(&springs, &shape.rest_positions, &still);
        assert!(energy < 1e-20 && f.iter().all(|f| f.length() < 1e-8), "{name}: {energy}");
        let x = shaken(&shape, &mut seed);
        let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4));
        let moved: Vec<DVec3> = x.iter().map(|&p| turn * p + DVec3::new(3.0, -2.0, 5.0)).collect();
        let ((e0, f0, _), (e1, f1, _)) = (forces(&springs, &x, &still), forces(&springs, &moved, &still));
        assert!((e0 - e1).abs() < 1e-10 * e0, "{name}");
        let scale = f0.iter().map(|f| f.length()).fold(0.0, f64::max);
        assert!(f0.iter().zip(&f1).all(|(a, b)| (turn * *a - *b).length() < 1e-10 * scale), "{name}");
    }
}

/// Catches an element that pushes on nothing, and a damper that brakes spin.
#[test]
fn forces_add_up_to_nothing_and_turn_nothing() {
    let mut seed = 23;
    each_case(|name, springs, shape| {
        let x = shaken(shape, &mut seed);
        let v: Vec<DVec3> = x.iter().map(|_| vector(&mut seed, 2.0)).collect();
        let (_, f, g) = forces(springs, &x, &v);
        let scale: f64 = f.iter().map(|f| f.length()).sum();
        assert!(f.iter().sum::<DVec3>().length() < 1e-12 * scale, "{name}");
        assert!((0..x.len()).map(|i| x[i].cross(f[i])).sum::<DVec3>().length() < 1e-12 * scale, "{name}");
        let scale: f64 = g.iter().map(|f| f.length()).sum();
        assert!(g.iter().sum::<DVec3>().length() <= 1e-12 * scale, "{name}");
    });
    // The central damper leaves a spinning body alone; the printed one does not.
    let shape = Shape::rectangle([1.0, 1.0], [4, 4]).unwrap();
    let spin = DVec3::new(0.3, 2.0, -1.0);
    let v: Vec<DVec3> = shape.rest_positions.iter().map(|&r| spin.cross(r)).collect();
    let [card, raw] = [0, 1].map(|k| lattice::springs(&shape, &materials()[k]));
    assert!(forces(&card, &shape.rest_positions, &v).2.iter().all(|g| g.length() < 1e-12));
    assert!(forces(&raw, &shape.rest_positions, &v).2.iter().any(|g| g.length() > 0.1));
}

/// Catches lattice constants that give another Young's modulus: a pull along each
/// side of a sheet and a block must show E, also for oblong cells and few nodes.
#[test]
fn a_uniform_pull_shows_the_youngs_modulus_of_the_card() {
    let young = 2.0e5;
    let card: MaterialField = Material { young, thickness: 0.01, ..Material::default() }.into();
    let cases = [
        ("sheet", Shape::rectangle([1.0, 1.0], [5, 5]).unwrap(), 1.0 / 3.0, 0.01),
        ("oblong cells", Shape::rectangle([1.0, 0.7], [5, 5]).unwrap(), 1.0 / 3.0, 0.01),
        ("block", Shape::block(DVec3::ONE, [4, 4, 4]).unwrap(), 0.25, 1.0),
        ("oblong block", Shape::block(DVec3::new(1.0, 0.93, 0.97), [4, 4, 4]).unwrap(), 0.25, 1.0),
    ];
    for (name, shape, poisson, section) in cases {
        let springs = lattice::springs(&shape, &card);
        let strain = 1e-5;
        for axis in if section < 1.0 { vec![0, 2] } else { vec![0, 1, 2] } {
            let mut factors = DVec3::splat(1.0 - poisson * strain);
            factors[axis] = 1.0 + strain;
            let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| r * factors).collect();
            let (energy, ..) = forces(&springs, &x, &vec![DVec3::ZERO; x.len()]);
            let volume: f64 = shape.node_measures().iter().sum::<f64>() * section;
            let shown = 2.0 * energy / (volume * strain * strain);
            assert!((shown / young - 1.0).abs() < 1e-3, "{name} axis {axis}: {shown}");
        }
    }
}
