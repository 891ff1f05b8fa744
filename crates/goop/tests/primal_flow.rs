//! Plastic flow and tearing of primal bodies, straight from the elasticity.

use glam::DVec3;
use goop::elastic::{Elasticity, Metric, Weights};
use goop::material::{Material, MaterialField};
use goop::shape::Shape;

fn card() -> Material {
    Material { young: 1e5, poisson: 0.3, thickness: 0.02, radius: 0.02, damping: 0.1, ..Material::default() }
}

fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("line", Shape::line(1.0, 7).unwrap()),
        ("hoop", Shape::hoop(0.5, 9).unwrap()),
        ("sheet", Shape::rectangle([1.0, 0.8], [5, 4]).unwrap()),
        ("disc", Shape::disc(0.5, [8, 4]).unwrap()),
        ("block", Shape::block(DVec3::new(0.6, 0.5, 0.4), [4, 3, 3]).unwrap()),
    ]
}

fn bent(x: DVec3) -> DVec3 {
    let y = x - DVec3::X * 0.2;
    DVec3::new(1.3 * y.x, y.y + 0.4 * y.x * y.x, y.z * 0.9 + 0.1 * (4.0 * y.x).sin())
}

fn energy(e: &Metric, memory: &[f64], x: &[DVec3]) -> f64 {
    let (mut f, mut g) = (vec![DVec3::ZERO; x.len()], vec![DVec3::ZERO; x.len()]);
    e.forces(memory, x, &vec![DVec3::ZERO; x.len()], &mut f, &mut g)
}

/// Catches energy that flow loses without saying so, flow below the yield strain, and a rest shape that runs past its limit.
#[test]
fn the_rest_shape_follows_beyond_the_yield_strain_and_accounts_for_it() {
    for (name, shape) in shapes() {
        let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| bent(r)).collect();
        let with = |yield_strain: f64, flow: f64, flow_limit: f64| {
            let material: MaterialField = Material { yield_strain, flow, flow_limit, ..card() }.into();
            let metric = Metric::new(&shape, &material);
            let mut memory = metric.memory();
            let before = energy(&metric, &memory, &x);
            assert!(metric.inelastic());
            let told = metric.flow(&mut memory, &x, 0.01);
            let after = energy(&metric, &memory, &x);
            assert!((before - after - told.flowed).abs() < 1e-9 * before, "{name}: {before} {after} {told:?}");
            assert_eq!((told.torn, told.broken), (0.0, 0));
            (before, after, metric, memory)
        };
        // At once and without a yield strain nothing is left; a tenth of a second of it leaves e^-0.2.
        let (before, after, ..) = with(0.0, f64::INFINITY, f64::INFINITY);
        // Torsion does not flow.
        let kept = if name == "hoop" { 0.2 } else { 1e-12 };
        assert!(after <= kept * before, "{name}: {after} of {before}");
        let (before, after, ..) = with(0.0, 10.0, f64::INFINITY);
        assert!(name == "hoop" || (after / before - (-0.2f64).exp()).abs() < 1e-9, "{name}");
        // A yield strain beyond all strains lets nothing flow.
        let (before, after, ..) = with(5.0, f64::INFINITY, f64::INFINITY);
        assert_eq!(before, after, "{name}");
        // In between, strain goes down to the yield strain and no further: a second flow does nothing.
        let (before, after, metric, mut memory) = with(0.05, f64::INFINITY, f64::INFINITY);
        assert!(after < before);
        let again = metric.flow(&mut memory, &x, 0.01);
        assert!(again.flowed < 1e-9 * before, "{name}: {again:?}");
        // The limit leaves more stress than no limit.
        let (_, limited, ..) = with(0.0, f64::INFINITY, 0.05);
        assert!(limited > after || limited > 0.1 * before, "{name}");
        // The rest shape as it was is now under stress, as much as the bent one was, about.
        let (_, _, metric, memory) = with(0.0, f64::INFINITY, f64::INFINITY);
        assert!(energy(&metric, &memory, &shape.rest_positions) > 0.1 * before, "{name}");
    }
}

/// Catches edges that break too soon or not at all, energy lost in silence, and a torn body whose forces are no longer
/// those of its energy.
#[test]
fn an_edge_stretched_too_far_breaks_and_takes_its_neighbours_with_it() {
    for (name, shape) in shapes() {
        let grid = shape.grid().unwrap();
        let edges: Vec<[u32; 2]> = (0..grid.axes()).flat_map(|axis| grid.edges(axis)).collect();
        let material: MaterialField = Material { tear: 0.5, ..card() }.into();
        let metric = Metric::new(&shape, &material);
        let mut memory = metric.memory();
        assert_eq!(metric.edges(&memory), vec![1.0; edges.len()]);
        // One node pulled away.
        let mut x = shape.rest_positions.clone();
        x[2] += DVec3::new(0.3, 0.2, 0.25);
        let before = energy(&metric, &memory, &x);
        let told = metric.flow(&mut memory, &x, 0.01);
        let after = energy(&metric, &memory, &x);
        assert!((before - after - told.torn).abs() < 1e-9 * before && told.flowed == 0.0, "{name}");
        let mut broken = 0;
        for (e, [a, b]) in edges.iter().enumerate() {
            let rest = shape.rest_positions[*a as usize].distance(shape.rest_positions[*b as usize]);
            let far = x[*a as usize].distance(x[*b as usize]) > 1.5 * rest;
            assert_eq!(metric.edges(&memory)[e], if far { 0.0 } else { 1.0 }, "{name}");
            broken += usize::from(far);
        }
        assert!(broken > 0 && told.broken == broken, "{name}: {told:?}");
        assert_eq!(metric.flow(&mut memory, &x, 0.01).broken, 0);
        // Still the gradient, and still positive.
        let n = x.len();
        x.iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x += 0.02 * DVec3::new((3 * i) as f64, 1.0, i as f64).map(f64::sin));
        let (mut f, mut g) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        metric.forces(&memory, &x, &vec![DVec3::ZERO; n], &mut f, &mut g);
        let direction: Vec<DVec3> =
            (0..n).map(|i| DVec3::new((7 * i) as f64, 2.0 * i as f64, 1.0).map(f64::cos)).collect();
        let moved = |s: f64| -> Vec<DVec3> { (0..n).map(|i| x[i] + s * direction[i]).collect() };
        let slope = (metric.energy(&memory, &moved(1e-6)) - metric.energy(&memory, &moved(-1e-6))) / 2e-6;
        let told: f64 = -(0..n).map(|i| f[i].dot(direction[i])).sum::<f64>();
        let scale: f64 = f.iter().map(|f| f.length()).sum();
        assert!((slope - told).abs() < 1e-6 * scale, "{name}: {slope} {told}");
        for exact in [true, false] {
            let mut matrix = metric.structure();
            metric.stiffness(&memory, &x, Weights { position: 1.0, velocity: 0.0 }, exact, &mut matrix);
            let mut image = vec![DVec3::ZERO; n];
            let quadratic = matrix.product(&vec![true; n], &direction, &mut image);
            if exact {
                let force = |s: f64| {
                    let (mut f, mut g) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
                    metric.forces(&memory, &moved(s), &vec![DVec3::ZERO; n], &mut f, &mut g);
                    f
                };
                let (plus, minus) = (force(1e-6), force(-1e-6));
                let scale = image.iter().map(|f| f.length()).fold(0.0, f64::max);
                assert!((0..n).all(|i| ((plus[i] - minus[i]) / 2e-6 + image[i]).length() < 1e-5 * scale), "{name}");
            } else {
                assert!(quadratic > 0.0, "{name}");
            }
        }
    }
}

/// Catches memory that a body which neither flows nor tears would carry through every checkpoint.
#[test]
fn an_elastic_body_remembers_nothing() {
    for (name, shape) in shapes() {
        let metric = Metric::new(&shape, &MaterialField::from(card()));
        assert!(metric.memory().is_empty() && !metric.inelastic() && metric.edges(&[]).is_empty(), "{name}");
    }
}
