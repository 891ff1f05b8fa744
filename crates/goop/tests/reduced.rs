//! Reduced coordinates: what their maps can and cannot make, and that forces, masses and blends are theirs.

mod common;

use common::*;
use glam::{DMat3, DQuat, DVec3};
use goop::character::Parts;
use goop::coordinates::reduced::{Modes, ReducedState, monomials};
use goop::model::{Coordinates, ElasticityKind};
use goop::{Axes, Body, Integrator, Material, Shape};
use std::sync::Arc;

fn card() -> Material {
    Material { young: 2e4, density: 1000.0, damping: 0.05, ..Material::default() }
}

fn reduced(integrator: Integrator) -> Axes {
    Axes { integrator, ..Axes::REDUCED }
}

/// A bar of so many parts.
fn bar(nodes: [usize; 3], parts: usize, axes: Axes) -> Body {
    let mut body = block(DVec3::new(0.6, 0.2, 0.2), nodes, card(), axes);
    body.parts = Some(Arc::new(Parts::along(&body.shape.rest_positions, parts)));
    body
}

/// Fits the maps to nodes and returns the largest distance to where they then are (m).
fn misfit(body: &Body, x: &[DVec3]) -> f64 {
    let modes = Modes::new(body);
    let state = ReducedState::from_nodes(body, &modes, x, x);
    let mut placed = x.to_vec();
    modes.place(&state.values, &mut placed);
    placed.iter().zip(x).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// Some quadratic map, the same for every part.
fn quadratic(x: DVec3) -> DVec3 {
    let p = monomials(x);
    let row = |seed: f64| (0..10).map(|k| p[k] * (seed + 1.7 * k as f64).sin()).sum::<f64>();
    DVec3::new(row(0.3), row(1.1), row(2.9))
}

/// Catches a lost monomial, a singular mass matrix (two layers, flat sheets, lines) and parts whose shares make the
/// fit ambiguous.
#[test]
fn quadratic_and_affine_maps_are_made_exactly() {
    let sheet = Shape::rectangle([0.5, 0.3], [9, 7]).unwrap();
    let bodies = [
        block(DVec3::new(0.6, 0.2, 0.2), [9, 4, 4], card(), Axes::REDUCED),
        block(DVec3::new(0.6, 0.2, 0.2), [9, 2, 2], card(), Axes::REDUCED),
        Body::new("sheet", sheet, card(), Axes::REDUCED),
        Body::new("line", Shape::line(1.0, 7).unwrap(), card(), Axes::REDUCED),
        Body::new("two nodes", Shape::line(1.0, 2).unwrap(), card(), Axes::REDUCED),
        bar([13, 4, 4], 3, Axes::REDUCED),
        bar([7, 2, 2], 6, Axes::REDUCED),
        bar([9, 3, 3], 2, Axes::REDUCED).pin(&[0, 5, 6, 40]),
    ];
    for body in &bodies {
        let rest = &body.shape.rest_positions;
        let far = DVec3::new(10.0, -3.0, 20.0);
        let turn = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.4, 1.0, -0.3)));
        let affine: Vec<DVec3> = rest.iter().map(|&x| far + turn * (x * DVec3::new(1.2, 0.7, 1.5))).collect();
        let bent: Vec<DVec3> = rest.iter().map(|&x| quadratic(x)).collect();
        assert!(misfit(body, &affine) < 1e-11, "{}: {}", body.name, misfit(body, &affine));
        assert!(misfit(body, &bent) < 1e-11, "{}: {}", body.name, misfit(body, &bent));
    }
    // A cubic one is not.
    let cubic: Vec<DVec3> = bodies[0].shape.rest_positions.iter().map(|x| *x + DVec3::Y * 10.0 * x.x.powi(3)).collect();
    assert!(misfit(&bodies[0], &cubic) > 1e-3);
}

/// Catches the matrix R given in other axes, scale or order than said, and a skin that leaves its nodes (eq 5.2).
#[test]
fn the_matrix_of_a_part_and_the_map_of_a_point_give_the_nodes() {
    let body = bar([9, 3, 3], 3, Axes::REDUCED);
    let (modes, rest) = (Modes::new(&body), &body.shape.rest_positions);
    let x: Vec<DVec3> = rest.iter().map(|&x| quadratic(x) + 0.01 * DVec3::splat((9.0 * x.x).sin())).collect();
    let state = ReducedState::from_nodes(&body, &modes, &x, &x);
    let mut placed = x.clone();
    modes.place(&state.values, &mut placed);
    let parts = body.parts.as_ref().unwrap();
    for i in 0..body.len() {
        let carried = modes.carry(&state.values, parts.of(i), rest[i]);
        assert!(carried.distance(placed[i]) < 1e-12);
        let by_matrix: DVec3 = (parts.of(i).iter())
            .map(|&(b, share)| {
                let (r, center, scale) = modes.matrix(&state.values, b as usize);
                let p = (rest[i] - center) * scale;
                let w = [p.x, p.y, p.z, p.x * p.y, p.y * p.z, p.x * p.z, p.x * p.x, p.y * p.y, p.z * p.z, 1.0];
                share * (0..10).map(|k| r[k] * w[k]).sum::<DVec3>()
            })
            .sum();
        assert!(by_matrix.distance(placed[i]) < 1e-9, "{by_matrix} {}", placed[i]);
    }
}

/// Catches generalised forces that are not -∂E/∂R: shares forgotten, held nodes counted, another energy's forces.
#[test]
fn forces_on_the_maps_are_minus_the_gradient_of_the_energy() {
    for elasticity in [ElasticityKind::Springs, ElasticityKind::Metric, ElasticityKind::Finite] {
        for parts in [1, 3] {
            let body = bar([7, 3, 3], parts, Axes { elasticity, ..Axes::REDUCED }).pin(&[0, 20]);
            let (modes, rest) = (Modes::new(&body), &body.shape.rest_positions);
            let elastic = body.elastic.as_ref().unwrap();
            let memory = elastic.memory();
            let start: Vec<DVec3> = rest.iter().map(|&x| x + 0.05 * quadratic(3.0 * x)).collect();
            let state = ReducedState::from_nodes(&body, &modes, &start, &start);
            let v = vec![DVec3::ZERO; body.len()];
            let (mut f, mut g) = (v.clone(), v.clone());
            let mut energy = |q: &[DVec3], f: &mut [DVec3]| {
                let mut x = start.clone();
                modes.place(q, &mut x);
                elastic.forces(&memory, &x, &v, f, &mut g)
            };
            energy(&state.values, &mut f);
            let mut force = vec![DVec3::ZERO; modes.len()];
            modes.gather(&f, &mut force);
            let mut scrap = f.clone();
            let scale = force.iter().map(|f| f.length()).fold(0.0, f64::max);
            for k in (0..modes.len()).filter(|&k| modes.kept()[k]) {
                for axis in 0..3 {
                    let step = 1e-5;
                    let mut q = state.values.clone();
                    q[k][axis] += step;
                    let above = energy(&q, &mut scrap);
                    q[k][axis] -= 2.0 * step;
                    let below = energy(&q, &mut scrap);
                    let slope = -(above - below) / (2.0 * step);
                    assert!(
                        (slope - force[k][axis]).abs() < 1e-6 * scale,
                        "{elasticity:?} {parts} {k}: {slope} {}",
                        force[k]
                    );
                }
            }
        }
    }
}

/// Catches rigid motions that the maps cannot make: strain, or energy, from turning or drifting.
#[test]
fn a_rigid_motion_costs_no_energy() {
    for parts in [1, 4] {
        for integrator in [Integrator::SymplecticEuler, Integrator::BackwardEuler] {
            let mut body = bar([9, 3, 3], parts, reduced(integrator));
            body.start.rotation = DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 0.7));
            body.start.position = DVec3::new(3.0, 1.0, -2.0);
            body.start.velocity = DVec3::new(1.0, 2.0, -0.5);
            let mut world = weightless(body, 1e-3);
            assert!(world.state().bodies[0].row.elastic < 1e-18, "{}", world.state().bodies[0].row.elastic);
            run(&mut world, 0.2);
            assert!(world.state().bodies[0].row.elastic < 1e-18, "{}", world.state().bodies[0].row.elastic);
            let drift = center(&world) - DVec3::new(3.2, 1.4, -2.1);
            assert!(drift.length() < 1e-12, "{drift}");
        }
    }
}

/// Catches an account that misses what the maps do: forces of another instant, drag, pins, loads or the flow of energy
/// between parts; and momenta that maps or solves lose.
#[test]
fn the_account_closes_and_momenta_are_kept() {
    for integrator in [Integrator::ExplicitTaylor, Integrator::SymplecticEuler, Integrator::BackwardEuler] {
        for (parts, newton) in [(1, 1), (3, 1), (3, 20)] {
            let mut body = bar([9, 3, 3], parts, reduced(integrator));
            body.newton = newton;
            body.start.spin = DVec3::new(0.5, 2.0, -1.0);
            body.start.stretch = DVec3::new(1.1, 0.95, 1.0);
            let mut world = weightless(body.clone(), 5e-4);
            let (p0, l0) = momenta(&world);
            run(&mut world, 0.5);
            let (p, l) = momenta(&world);
            let row = world.row(0);
            assert!((p - p0).length() < 1e-10, "{integrator:?} {parts}: {p}");
            assert!((l - l0).length() < 2e-3 * l0.length(), "{integrator:?} {parts} {newton}: {l0} {l}");
            assert!(
                share(&row) < 1e-3,
                "{integrator:?} {parts} {newton}: residue {:.2e} of {:.2e}",
                row.residue(),
                row.exchanged
            );

            // Held, pulled, braked.
            body.material.card.drag = 0.4;
            body.compile();
            let mut body = body.pin(&[0, 1, 2, 3]);
            body.start.spin = DVec3::ZERO;
            let mut world = goop::World::new(fixed(body, 5e-4));
            run(&mut world, 0.5);
            let row = world.row(0);
            assert!(row.drag > 0.0 && share(&row) < 1e-3, "{integrator:?} {parts} {newton}: {:.2e}", share(&row));
        }
    }
}

/// Catches a matrix that is not ΦᵀAΦ: backward Euler then tends to another motion than the explicit step, or Newton does
/// not converge.
#[test]
fn explicit_and_implicit_steps_tend_to_one_motion() {
    let end = |integrator: Integrator, dt: f64| {
        let mut body = bar([7, 3, 3], 3, reduced(integrator)).pin(&[0, 1, 2, 9, 10]);
        body.newton = 3;
        let mut world = goop::World::new(fixed(body, dt));
        run(&mut world, 0.1);
        world
    };
    let fine = end(Integrator::SymplecticEuler, 2.5e-5);
    let errors: Vec<f64> =
        [4e-4, 2e-4, 1e-4].iter().map(|&dt| distance(&end(Integrator::BackwardEuler, dt), &fine)).collect();
    assert!(orders(&errors).iter().all(|o| *o > 0.8), "{}", list(&errors));
    // One linearisation of a step that is far too long for explicit ones is solved by Newton too.
    let mut body = bar([7, 3, 3], 3, reduced(Integrator::BackwardEuler)).pin(&[0, 1, 2, 9, 10]);
    body.newton = 30;
    let mut world = goop::World::new(fixed(body, 0.02));
    run(&mut world, 0.4);
    assert!(share(&world.row(0)) < 1e-6, "{:.2e}", share(&world.row(0)));
}

/// Catches a limit that is not that of the maps: a step below it that grows, or one above that does not.
#[test]
fn explicit_steps_are_stable_below_the_predicted_limit_and_not_above() {
    for integrator in [Integrator::ExplicitTaylor, Integrator::SymplecticEuler] {
        let mut body = bar([7, 4, 4], 1, reduced(integrator));
        body.start.stretch = DVec3::new(1.001, 1.0, 1.0);
        let limit = goop::preflight::inspect(&fixed(body.clone(), 1e-3), 0).stable_step;
        let energy = |dt: f64| {
            let mut world = weightless(body.clone(), dt);
            let before = world.row(0).elastic;
            for _ in 0..4000 {
                if world.step().is_err() {
                    return f64::INFINITY;
                }
            }
            (world.row(0).elastic + world.row(0).kinetic) / before
        };
        assert!(energy(0.97 * limit) < 1.5, "{integrator:?} {limit}: {}", energy(0.97 * limit));
        assert!(energy(1.05 * limit) > 1e3, "{integrator:?} {limit}: {}", energy(1.05 * limit));
        let mut nodes = body.clone();
        nodes.axes.coordinates = Coordinates::Nodal;
        nodes.compile();
        let nodal = goop::preflight::inspect(&fixed(nodes, 1e-3), 0);
        let own = goop::preflight::inspect(&fixed(body, 1e-3), 0);
        assert!(own.highest < nodal.highest && own.lowest.unwrap() > 0.999 * nodal.lowest.unwrap());
    }
}

/// Catches a tear between parts: the largest jump between neighbours must shrink with their distance.
#[test]
fn blended_parts_have_no_seam() {
    let jump = |n: usize| {
        let body = bar([n, 3, 3], 3, Axes::REDUCED);
        let modes = Modes::new(&body);
        let rest = &body.shape.rest_positions;
        let mut state = ReducedState::from_nodes(&body, &modes, rest, rest);
        // The last part alone is moved and turned.
        let turned: Vec<DVec3> = rest.iter().map(|x| 0.1 * DVec3::Y + DQuat::from_rotation_z(0.5) * *x).collect();
        let other = ReducedState::from_nodes(&body, &modes, &turned, rest);
        state.values[20..].copy_from_slice(&other.values[20..]);
        let mut x = rest.clone();
        modes.place(&state.values, &mut x);
        let grid = body.shape.rest_positions.iter().enumerate();
        let mut worst = 0.0f64;
        for (i, a) in grid {
            for (j, b) in rest.iter().enumerate().skip(i + 1) {
                if a.distance(*b) < 0.6 / (n - 1) as f64 * 1.01 {
                    worst = worst.max(((x[i] - a) - (x[j] - b)).length());
                }
            }
        }
        worst
    };
    let (coarse, fine) = (jump(13), jump(49));
    assert!(fine < 0.3 * coarse && coarse > 1e-3, "{coarse} {fine}");
}

/// Catches obstacles that act on nodes behind the maps' back: nodes inside, energy from nowhere, a body that sinks.
#[test]
fn a_reduced_body_lands_and_rests_on_the_ground() {
    for integrator in [Integrator::SymplecticEuler, Integrator::BackwardEuler] {
        for (parts, drop) in [(1, 0.3), (3, 3.0)] {
            let mut body = bar([9, 4, 4], parts, reduced(integrator));
            body.material.card.damping = 0.3;
            body.compile();
            body.start.position.y = 0.1 + drop;
            body.start.rotation = DQuat::from_rotation_z(0.2);
            let mut model = goop::Model { step: Default::default(), ..fixed(body, 1e-3) };
            model.step.dt = 1e-3;
            let ground = goop::contact::Obstacle { damping: 0.3, ..obstacle(goop::contact::ObstacleShape::Plane, 0.5) };
            model.obstacles.push(ground);
            let mut world = goop::World::new(model);
            run(&mut world, 2.5);
            let lowest = world.state().bodies[0].positions.iter().map(|x| x.y).fold(f64::MAX, f64::min);
            let row = world.row(0);
            assert!(lowest > -1e-6 && lowest < 0.01, "{integrator:?} {parts}: {lowest}");
            assert!(depth(&world) < 1e-3, "{integrator:?} {parts}: {}", depth(&world));
            assert!(row.kinetic < 1e-2 * row.exchanged && share(&row) < 0.01, "{integrator:?} {parts}: {row:?}");
        }
    }
}

/// Catches maps that are not in the state, or that follow pins and threads.
#[test]
fn a_resumed_run_and_any_number_of_threads_give_the_same_bytes() {
    let model = |n: [usize; 3], integrator| {
        let mut body = bar(n, 3, reduced(integrator)).pin(&[0, 1, 2]);
        body.start.stretch = DVec3::new(1.05, 1.0, 1.0);
        let mut model = fixed(body, 1e-4);
        model.events = vec![
            (0.002, goop::Edit::Pin { body: 0, nodes: vec![30, 31], stiffness: None }),
            (0.004, goop::Edit::Unpin { body: 0, nodes: vec![0, 1, 2] }),
            (0.005, goop::Edit::Impulse { body: 0, nodes: vec![40], newton_seconds: DVec3::Y }),
        ];
        model
    };
    for integrator in [Integrator::ExplicitTaylor, Integrator::BackwardEuler] {
        let mut whole = goop::World::new(model([7, 3, 3], integrator));
        run(&mut whole, 0.01);
        for cut in [0.001, 0.003, 0.006] {
            let mut first = goop::World::new(model([7, 3, 3], integrator));
            run(&mut first, cut);
            let mut second = goop::World::new(model([7, 3, 3], integrator));
            second.resume(first.checkpoint()).unwrap();
            run(&mut second, 0.01);
            assert_eq!(second.state().hash(), whole.state().hash(), "{integrator:?} {cut}");
        }
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut world = goop::World::new(model([90, 10, 10], integrator));
                run(&mut world, 0.0012);
                world.state().hash()
            })
        };
        assert_eq!(on(1), on(3), "{integrator:?}");
    }
}
