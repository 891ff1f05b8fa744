//! Hybrid bodies with every linear solver: the same motion, or a sentence.

mod common;

use common::*;
use glam::DVec3;
use goop::contact::ObstacleShape;
use goop::solve::{Method, Preconditioner, Settings};
use goop::{Axes, Body, Material, Model, Shape, World};

fn card() -> Material {
    Material { density: 1000.0, young: 1e6, thickness: 4e-3, radius: 1e-2, damping: 0.05, ..Material::default() }
}

/// A plate held at three corners, one held at two, and a hoop that falls on its edge and meets the ground.
fn models() -> Vec<(&'static str, Model)> {
    let plate = || Body::new("plate", Shape::rectangle([0.5, 0.5], [12, 12]).unwrap(), card(), Axes::HYBRID);
    let corners = plate().shape.corners();
    let mut hoop = Body::new("hoop", Shape::hoop(0.2, 24).unwrap(), card(), Axes::HYBRID);
    hoop.start.rotation = glam::DQuat::from_rotation_x(1.5);
    hoop.start.position.y = 0.22;
    hoop.start.velocity = DVec3::new(0.3, -1.0, 0.1);
    hoop.start.spin = DVec3::new(0.5, 0.2, 2.0);
    let ground = vec![obstacle(ObstacleShape::Plane, 0.4)];
    vec![
        ("plate at three corners", fixed(plate().pin(&corners[..3]), 1.0 / 240.0)),
        ("plate at two corners", fixed(plate().pin(&corners[..2]), 1.0 / 240.0)),
        ("hoop", Model { obstacles: ground, ..fixed(hoop, 1.0 / 240.0) }),
    ]
}

fn with(mut model: Model, solver: Settings) -> World {
    model.bodies[0].solver = solver;
    World::new(model)
}

/// Catches a solver that is asked for and not used, a wrong right side for several columns, and preparations that are less
/// exact than the steps.
#[test]
fn every_solver_gives_the_same_motion() {
    let cg = |preconditioner| Settings { method: Method::ConjugateGradients, preconditioner, ..Settings::default() };
    let ways = [
        ("auto", Settings::default()),
        ("profile", Settings { method: Method::Profile, ..Settings::default() }),
        ("cg, none", cg(Preconditioner::None)),
        ("cg, jacobi", cg(Preconditioner::Jacobi)),
        ("cg, incomplete", cg(Preconditioner::IncompleteCholesky)),
        ("cg, ssor", cg(Preconditioner::Ssor)),
        ("sor", Settings { method: Method::Sor, ..Settings::default() }),
    ];
    for (name, model) in models() {
        let mut known = with(model.clone(), Settings { method: Method::Cholesky, ..Settings::default() });
        (0..50).for_each(|_| {
            assert!(known.step().unwrap().direct);
        });
        assert_eq!(name == "hoop", known.row(0).impact != 0.0, "only the hoop meets the ground");
        for (way, settings) in ways {
            let tolerance = 1e-9;
            let mut world = with(model.clone(), Settings { tolerance, max_iterations: 20_000, ..settings });
            let mut iterations = 0;
            for _ in 0..50 {
                let report = world.step().unwrap();
                iterations += report.iterations;
                assert_eq!(report.direct, !settings.method.only_iterates(), "{name} {way}");
            }
            let (a, b) = (&known.state().bodies[0].positions, &world.state().bodies[0].positions);
            let far = a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            eprintln!("{name}, {way}: {far:.1e} m, {} iterations a step", iterations / 50);
            assert_eq!(iterations > 0, settings.method.only_iterates(), "{name} {way}");
            // Errors of a solve add up over the steps, no faster than they are many.
            assert!(far < 50.0 * tolerance, "{name} {way}: {far:e}");
            if settings.method == Method::Auto {
                assert!(a == b, "left to itself it takes a sparse factor");
            }
        }
    }
}

/// Catches an iteration that is cut short and goes on as if nothing had happened.
#[test]
fn an_iteration_that_does_not_converge_is_a_failure() {
    for method in [Method::ConjugateGradients, Method::Sor] {
        for (name, model) in models() {
            let mut world = with(model, Settings { method, max_iterations: 2, ..Settings::default() });
            let failure = world.step().unwrap_err().to_string();
            assert!(failure.contains("was not solved: residual"), "{name}: {failure}");
            assert!(failure.contains("solver.max-iterations"), "{name}: {failure}");
        }
    }
}
