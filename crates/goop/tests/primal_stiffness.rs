//! The primal formulation over ten decades of stiffness at two steps: solved, stable, in the end rigid.

mod common;

use common::*;
use glam::DVec3;
use goop::{Axes, Body, Material, Shape, World};

fn bodies(young: f64, axes: Axes) -> Vec<(&'static str, Body)> {
    let material =
        Material { young, damping: 0.05, thickness: 5e-3, radius: 5e-3, poisson: 0.4, ..Material::default() };
    [
        ("block", Shape::block(DVec3::new(0.4, 0.2, 0.3), [5, 4, 5]).unwrap()),
        ("sheet", Shape::rectangle([0.4, 0.3], [8, 7]).unwrap()),
        ("tube", Shape::cylinder(0.15, 0.3, [10, 6]).unwrap()),
        ("helix", Shape::helix(0.2, 0.3, 1.5, 20).unwrap()),
    ]
    .into_iter()
    .map(|(name, shape)| (name, Body::new(name, shape, material, axes)))
    .collect()
}

fn thrown(mut body: Body, dt: f64) -> World {
    body.start.velocity = DVec3::new(3.0, 5.0, 1.0);
    body.start.spin = DVec3::new(1.0, 2.0, -1.5);
    World::new(fixed(body, dt))
}

/// Catches a solver that gives up on stiff matrices, a step that is stable only when soft, and a stiff body that
/// brakes, drifts or turns unlike a rigid one.
#[test]
fn from_a_hundred_pascals_to_a_million_megapascals_at_two_steps() {
    for dt in [1.0 / 240.0, 1.0 / 60.0] {
        eprintln!("step {dt:.4} s\n  body   young  iterations direct residual  centre   orientation");
        for young in [1e2, 1e4, 1e6, 1e8, 1e10, 1e12] {
            let rigid = bodies(young, Axes::RIGID);
            for ((name, body), (_, twin)) in bodies(young, Axes::PRIMAL).into_iter().zip(rigid) {
                let (mut soft, mut rigid) = (thrown(body, dt), thrown(twin, dt));
                let (mut way, mut turned, mut off, mut twist) = (0.0, 0.0, 0.0f64, 0.0f64);
                let (mut iterations, mut direct, steps) = (0, 0, (0.5 / dt).round() as usize);
                let curve = name == "helix" || name == "sheet";
                for _ in 0..steps {
                    let (c, r) = (center(&rigid), rigid.state().bodies[0].rigid.as_ref().unwrap().rotation);
                    let report = soft.step().unwrap_or_else(|e| panic!("{name} {young:e} {dt}: {e}"));
                    rigid.step().unwrap();
                    iterations += report.iterations;
                    direct += usize::from(report.direct);
                    way += center(&rigid).distance(c);
                    let now = rigid.state().bodies[0].rigid.as_ref().unwrap().rotation;
                    turned += angle_between(now, r);
                    off = off.max(center(&soft).distance(center(&rigid)));
                    if !curve {
                        twist = twist.max(angle_between(orientation(&soft), orientation(&rigid)));
                    }
                }
                let (off, twist) = (off / way, twist / turned);
                eprintln!(
                    "  {name:6} {young:.0e} {:10.1} {direct:6} {:.1e}  {off:.1e}  {twist:.1e}",
                    iterations as f64 / steps as f64,
                    soft.worst_residual()
                );
                assert!(soft.state().bodies[0].positions.iter().all(|x| x.is_finite()), "{name} {young:e}");
                assert!(soft.worst_residual() <= soft.model().bodies[0].solver.tolerance, "{name} {young:e}");
                let size = soft.model().bodies[0].extent();
                let worst = soft.row(0).worst_stretch;
                assert!(worst < 1.5, "{name} {young:e} {dt}: stretched by {worst} of {size} m");
                assert!(young < 1e8 || (off < 0.01 && twist < 0.02), "{name} {young:e} {dt}: {off} {twist}");
            }
        }
    }
}

/// Catches a linearisation in which a stiff body that turns resists its own turning.
#[test]
fn a_stiff_pendulum_swings_like_a_rigid_one() {
    let swing = |young: f64, axes: Axes| {
        let material = Material { young, damping: 0.0, ..Material::default() };
        let body = block(DVec3::new(0.4, 0.1, 0.1), [9, 3, 3], material, axes);
        let end = body.shape.side(0, false)[4];
        let mut world = World::new(fixed(body.pin(&[end]), 1.0 / 240.0));
        let mut lowest = (0.0, 0.0);
        while world.time() < 0.6 {
            world.step().unwrap();
            if center(&world).y < lowest.1 {
                lowest = (world.time(), center(&world).y);
            }
        }
        lowest
    };
    let (rigid_time, rigid_depth) = swing(1e6, Axes::RIGID);
    for young in [1e6, 1e8, 1e10, 1e11] {
        let (time, depth) = swing(young, Axes::PRIMAL);
        eprintln!("{young:.0e} Pa: lowest {depth:.4} m at {time:.3} s, rigid {rigid_depth:.4} m at {rigid_time:.3} s");
        assert!((time / rigid_time - 1.0).abs() < 0.06 && (depth / rigid_depth - 1.0).abs() < 0.03, "{young:e}");
    }
}

/// Steps a second against the springs; printed only.
#[test]
fn a_step_costs_a_few_times_that_of_springs() {
    for (name, shape, pins) in [
        ("curve", Shape::line(1.0, 1000).unwrap(), vec![0]),
        ("sheet", Shape::rectangle([1.0, 1.0], [48, 48]).unwrap(), vec![0, 47]),
        ("block", Shape::block(DVec3::ONE, [13, 13, 13]).unwrap(), vec![0, 12]),
    ] {
        let seconds = [Axes::IMPLICIT, Axes::PRIMAL].map(|axes| {
            let material = Material { young: 1e5, thickness: 2e-3, ..Material::default() };
            let body = Body::new(name, shape.clone(), material, axes).pin(&pins);
            let mut world = World::new(fixed(body, 1.0 / 240.0));
            world.step().unwrap();
            let start = std::time::Instant::now();
            let mut iterations = 0;
            for _ in 0..30 {
                iterations += world.step().unwrap().iterations;
            }
            (start.elapsed().as_secs_f64() / 30.0, iterations / 30)
        });
        let ratio = seconds[1].0 / seconds[0].0;
        eprintln!(
            "{name}: springs {:.2e} s, {} iterations; primal {:.2e} s, {}; {ratio:.2} times",
            seconds[0].0, seconds[0].1, seconds[1].0, seconds[1].1
        );
        assert!(ratio < 30.0);
    }
}
