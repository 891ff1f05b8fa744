//! The primal energies against their own derivatives and symmetries, on random shapes of every kind.

mod common;

use common::symmetric_eigenvalues;
use glam::{DQuat, DVec3};
use goop::elastic::{Elasticity, Metric, Weights};
use goop::material::{self, Material, MaterialField};
use goop::shape::Shape;

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn vector(seed: &mut u64, size: f64) -> DVec3 {
    DVec3::new(random(seed), random(seed), random(seed)) * size
}

/// A patch whose grid lines meet at odd angles.
fn skew_patch(nodes: [usize; 2]) -> Shape {
    let p = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
    let net = [
        vec![p(0.0, 0.0, 0.0), p(0.5, 0.3, 0.1), p(1.0, 0.0, 0.0)],
        vec![p(0.3, 0.2, 0.5), p(0.9, 0.5, 0.6), p(1.4, 0.1, 0.4)],
        vec![p(0.5, 0.0, 1.0), p(1.0, 0.2, 1.1), p(1.7, -0.2, 1.0)],
    ];
    Shape::bezier(&net, nodes).unwrap()
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
        ("strip", Shape::rectangle([1.0, 0.2], [5, 2]).unwrap()),
        ("skew patch", skew_patch([4, 5])),
        ("disc", Shape::disc(0.5, [6, 3]).unwrap()),
        ("cylinder", Shape::cylinder(0.4, 0.7, [6, 4]).unwrap()),
        ("sphere", Shape::sphere(0.5, [6, 5]).unwrap()),
        ("torus", Shape::torus(0.5, 0.2, [6, 5]).unwrap()),
        ("box", Shape::block(DVec3::new(0.6, 0.5, 0.4), [3, 4, 3]).unwrap()),
        ("ball", Shape::ball(0.4, [3, 3, 3]).unwrap()),
        ("mesh", Shape::from_triangles(square, triangles, None, Default::default()).unwrap()),
    ]
}

fn card() -> Material {
    Material { young: 3e4, poisson: 0.3, thickness: 0.05, radius: 0.05, damping: 0.3, ..Material::default() }
}

fn materials(shape: &Shape) -> Vec<MaterialField> {
    let mut regions: MaterialField = card().into();
    let half: Vec<u32> = (0..shape.len() as u32 / 2).collect();
    regions.young.set(&half, 9e4, shape.len());
    regions.thickness.set(&half, 0.07, shape.len());
    let mut weighted: MaterialField = card().into();
    weighted.weights = Some(material::Weights {
        first: [300.0, 200.0, 250.0],
        shear: [80.0, 90.0, 70.0],
        second: [2.0, 3.0, 0.0],
        mixed: [1.0, 0.0, 0.0],
        twist: 2.0,
        zero: 0.0,
    });
    vec![card().into(), regions, weighted]
}

fn each_case(mut check: impl FnMut(&str, &Metric, &Shape)) {
    for (name, shape) in shapes() {
        for material in materials(&shape) {
            check(name, &Metric::new(&shape, &material), &shape);
        }
    }
}

fn forces(s: &dyn Elasticity, x: &[DVec3], v: &[DVec3]) -> (f64, Vec<DVec3>, Vec<DVec3>) {
    let (mut f, mut g) = (vec![DVec3::ZERO; x.len()], vec![DVec3::ZERO; x.len()]);
    let energy = s.forces(&s.memory(), x, v, &mut f, &mut g);
    (energy, f, g)
}

fn shaken(shape: &Shape, seed: &mut u64) -> Vec<DVec3> {
    shape.rest_positions.iter().map(|&r| r + vector(seed, 0.1)).collect()
}

fn largest(f: &[DVec3]) -> f64 {
    f.iter().map(|f| f.length()).fold(0.0, f64::max)
}

const STIFFNESS: Weights = Weights { position: 1.0, velocity: 0.0 };

/// Catches a sign, a factor or a weight lost between the energy and its force.
#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let mut seed = 7;
    each_case(|name, metric, shape| {
        let x = shaken(shape, &mut seed);
        let v = vec![DVec3::ZERO; x.len()];
        let (energy, f, _) = forces(metric, &x, &v);
        assert!((metric.energy(&metric.memory(), &x) / energy - 1.0).abs() < 1e-12, "{name}");
        let scale = largest(&f);
        for i in 0..x.len() {
            for axis in 0..3 {
                let h = 1e-6;
                let at = |sign: f64| {
                    let mut y = x.clone();
                    y[i][axis] += sign * h;
                    metric.energy(&metric.memory(), &y)
                };
                let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
                assert!((slope + f[i][axis]).abs() < 2e-6 * scale, "{name} node {i}: {slope} {}", f[i][axis]);
            }
        }
    });
}

/// Catches a wrong geometric term, a block in the wrong place, a missing transpose.
#[test]
fn exact_stiffness_is_minus_the_derivative_of_the_force() {
    let mut seed = 11;
    each_case(|name, metric, shape| {
        let x = shaken(shape, &mut seed);
        let v = vec![DVec3::ZERO; x.len()];
        let mut matrix = metric.structure();
        metric.stiffness(&metric.memory(), &x, STIFFNESS, true, &mut matrix);
        let free = vec![true; x.len()];
        let direction: Vec<DVec3> = x.iter().map(|_| vector(&mut seed, 1.0)).collect();
        let mut image = vec![DVec3::ZERO; x.len()];
        matrix.product(&free, &direction, &mut image);
        let h = 1e-6;
        let moved = |sign: f64| -> Vec<DVec3> { (0..x.len()).map(|i| x[i] + sign * h * direction[i]).collect() };
        let (_, plus, _) = forces(metric, &moved(1.0), &v);
        let (_, minus, _) = forces(metric, &moved(-1.0), &v);
        let scale = largest(&image);
        for i in 0..x.len() {
            let slope = (plus[i] - minus[i]) / (2.0 * h);
            assert!((slope + image[i]).length() < 1e-6 * scale, "{name} node {i}: {slope} {}", image[i]);
        }
    });
}

/// Catches a damping matrix that is not the derivative of the damping force, and a damper that gives energy.
#[test]
fn the_damping_matrix_times_velocity_is_minus_the_damping_force() {
    let mut seed = 13;
    each_case(|name, metric, shape| {
        let x = shaken(shape, &mut seed);
        let v: Vec<DVec3> = x.iter().map(|_| vector(&mut seed, 2.0)).collect();
        let (_, _, g) = forces(metric, &x, &v);
        for exact in [false, true] {
            let mut matrix = metric.structure();
            metric.stiffness(&metric.memory(), &x, Weights { position: 0.0, velocity: 1.0 }, exact, &mut matrix);
            let mut image = vec![DVec3::ZERO; x.len()];
            let power = matrix.product(&vec![true; x.len()], &v, &mut image);
            assert!(power > 0.0, "{name}");
            let scale = largest(&image);
            assert!((0..x.len()).all(|i| (image[i] + g[i]).length() <= 1e-12 * scale), "{name}");
        }
    });
}

/// All entries of a block matrix.
fn dense(metric: &Metric, x: &[DVec3], exact: bool) -> Vec<Vec<f64>> {
    let mut matrix = metric.structure();
    metric.stiffness(&metric.memory(), x, STIFFNESS, exact, &mut matrix);
    let n = x.len();
    let mut out = vec![vec![0.0; 3 * n]; 3 * n];
    for i in 0..n {
        for (j, block) in matrix.row(i) {
            for r in 0..3 {
                for c in 0..3 {
                    out[3 * i + r][3 * j + c] = block.col(c)[r];
                    out[3 * j + c][3 * i + r] = block.col(c)[r];
                }
            }
        }
    }
    out
}

/// Catches a mode that costs nothing (hourglass, checkerboard, a fan at a pole that folds freely), and a
/// rest shape that holds on to a rigid motion.
#[test]
fn only_rigid_motion_is_free_of_energy_at_rest() {
    let mut cases = shapes();
    cases.push(("fine rectangle", Shape::rectangle([1.0, 1.0], [7, 6]).unwrap()));
    cases.push(("odd disc", Shape::disc(0.5, [7, 4]).unwrap()));
    for (name, shape) in cases {
        let metric = Metric::new(&shape, &MaterialField::from(card()));
        let values = symmetric_eigenvalues(dense(&metric, &shape.rest_positions, true));
        let top = values[values.len() - 1];
        let zeros = values.iter().filter(|v| v.abs() < 1e-9 * top).count();
        eprintln!("{name}: {zeros} free modes, softest {:.1e}, stiffest {top:.1e}", values[zeros]);
        // A straight line may also turn about itself: that moves nothing. A curve without a frame may
        // bend out of its plane at the ends.
        let expected = if name == "line" { 5 } else { 6 };
        assert_eq!(zeros, expected, "{name}: {:?}", &values[..zeros + 2]);
        assert!(values[0] > -1e-9 * top);
    }
}

/// Catches a clamp that misses (the implicit matrix would be indefinite) or that bites where the exact one was fine.
#[test]
fn the_clamped_stiffness_is_positive_and_equals_the_exact_one_at_rest_and_in_tension() {
    let mut seed = 17;
    for (name, shape) in shapes() {
        let metric = Metric::new(&shape, &MaterialField::from(card()));
        let crushed: Vec<DVec3> = shape.rest_positions.iter().map(|&r| 0.4 * r + vector(&mut seed, 0.1)).collect();
        let values = symmetric_eigenvalues(dense(&metric, &crushed, false));
        assert!(values[0] > -1e-10 * values[values.len() - 1], "{name}: {}", values[0]);
        let flat = matches!(name, "rectangle" | "strip" | "line" | "box" | "ball");
        let factor = if flat { 1.3 } else { 1.0 };
        let taut: Vec<DVec3> = shape.rest_positions.iter().map(|&r| factor * r).collect();
        let (a, b) = (dense(&metric, &taut, false), dense(&metric, &taut, true));
        let scale = b.as_flat_max();
        for i in 0..a.len() {
            for j in 0..a.len() {
                assert!((a[i][j] - b[i][j]).abs() < 1e-9 * scale, "{name}");
            }
        }
    }
}

trait FlatMax {
    fn as_flat_max(&self) -> f64;
}

impl FlatMax for Vec<Vec<f64>> {
    fn as_flat_max(&self) -> f64 {
        self.iter().flatten().fold(0.0, |m, v| m.max(v.abs()))
    }
}

/// Catches rest strains that do not belong to the rest shape, and forces that see a rigid motion.
#[test]
fn the_rest_shape_is_free_of_force_and_rigid_motion_changes_nothing() {
    let mut seed = 19;
    each_case(|name, metric, shape| {
        let still = vec![DVec3::ZERO; shape.len()];
        let (energy, f, _) = forces(metric, &shape.rest_positions, &still);
        assert!(energy < 1e-20 && largest(&f) < 1e-8, "{name}: {energy}");
        let x = shaken(shape, &mut seed);
        let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4));
        let moved: Vec<DVec3> = x.iter().map(|&p| turn * p + DVec3::new(3.0, -2.0, 5.0)).collect();
        let ((e0, f0, _), (e1, f1, _)) = (forces(metric, &x, &still), forces(metric, &moved, &still));
        assert!((e0 - e1).abs() < 1e-10 * e0, "{name}");
        let scale = largest(&f0);
        assert!(f0.iter().zip(&f1).all(|(a, b)| (turn * *a - *b).length() < 1e-9 * scale), "{name}");
    });
}

/// Catches an element that pushes on nothing, and damping that brakes a spin.
#[test]
fn forces_and_damping_push_and_turn_nothing() {
    let mut seed = 23;
    each_case(|name, metric, shape| {
        let x = shaken(shape, &mut seed);
        let v: Vec<DVec3> = x.iter().map(|_| vector(&mut seed, 2.0)).collect();
        let (_, f, g) = forces(metric, &x, &v);
        for f in [&f, &g] {
            let scale: f64 = f.iter().map(|f| f.length()).sum();
            assert!(
                f.iter().sum::<DVec3>().length() < 1e-12 * scale,
                "{name} {} {scale}",
                f.iter().sum::<DVec3>().length()
            );
            assert!((0..x.len()).map(|i| x[i].cross(f[i])).sum::<DVec3>().length() < 1e-12 * scale, "{name}");
        }
        let spin = DVec3::new(0.3, 2.0, -1.0);
        let turning: Vec<DVec3> = x.iter().map(|&x| spin.cross(x)).collect();
        let braked = largest(&forces(metric, &x, &turning).2) / largest(&g);
        assert!(braked < 1e-11, "{name}: {braked:e}");
        assert!(metric.central());
    });
}

/// Catches NaN from cells without an area or volume, curves folded onto themselves, and everything in one place.
#[test]
fn no_shape_however_crushed_gives_anything_but_numbers() {
    let mut seed = 29;
    for (name, shape) in shapes() {
        let metric = Metric::new(&shape, &MaterialField::from(card()));
        let crush = |f: &dyn Fn(DVec3) -> DVec3| -> Vec<DVec3> { shape.rest_positions.iter().map(|&r| f(r)).collect() };
        let mut noisy = crush(&|r| r);
        noisy.iter_mut().for_each(|x| *x = vector(&mut seed, 1.0));
        for (how, x) in [
            ("to a point", crush(&|_| DVec3::ONE)),
            ("flat", crush(&|r| r * DVec3::new(1.0, 0.0, 1.0))),
            ("to a line", crush(&|r| r * DVec3::X)),
            ("inside out", crush(&|r| -r)),
            ("at random", noisy),
        ] {
            let v: Vec<DVec3> = x.iter().map(|x| DVec3::new(x.z, x.x, 1.0)).collect();
            let (energy, f, g) = forces(&metric, &x, &v);
            assert!(energy.is_finite() && f.iter().chain(&g).all(|f| f.is_finite()), "{name} {how}");
            for exact in [false, true] {
                let finite = dense(&metric, &x, exact).iter().flatten().all(|v| v.is_finite());
                assert!(finite, "{name} {how} {exact}");
            }
        }
    }
}
