//! Every linear solver gives the same answer, and says so when it has none.

mod common;

use common::*;
use glam::DVec3;
use goop::solve::profile::Order;
use goop::solve::{
    ConjugateGradients, LinearSolver, Method, Preconditioner, ProfileCholesky, Refusal, Settings, Sor, SparseCholesky,
    SparseMatrix, solver,
};
use goop::{Axes, Body, Material, Shape, World};

/// Every way to solve, with its name.
fn all() -> Vec<(String, Settings)> {
    let plain = Settings { tolerance: 1e-10, max_iterations: 20_000, ..Settings::default() };
    let mut all: Vec<_> = [Method::Auto, Method::Cholesky, Method::Profile, Method::Sor]
        .map(|method| (format!("{method:?}"), Settings { method, ..plain }))
        .to_vec();
    for preconditioner in
        [Preconditioner::None, Preconditioner::Jacobi, Preconditioner::IncompleteCholesky, Preconditioner::Ssor]
    {
        let method = Method::ConjugateGradients;
        all.push((format!("{method:?} {preconditioner:?}"), Settings { method, preconditioner, ..plain }));
    }
    all
}

/// Numbers without order, between -½ and ½.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// Squares of random first and second differences over a grid, a little mass, and some nodes held.
fn grid(sides: [usize; 2], seed: u64) -> SparseMatrix {
    let (mut next, n) = (random(seed), sides[0] * sides[1]);
    let held: Vec<bool> = (0..n).map(|_| next() > 0.4).collect();
    let mut entries: Vec<_> = (0..n).map(|i| (i, i, if held[i] { 1.0 } else { 0.05 + next().abs() })).collect();
    let mut square = |nodes: &[(usize, f64)]| {
        let stiffness = 10f64.powf(2.0 * next());
        for &(a, wa) in nodes.iter().filter(|(a, _)| !held[*a]) {
            for &(b, wb) in nodes.iter().filter(|(b, _)| !held[*b] && a <= *b) {
                entries.push((a, b, stiffness * wa * wb));
            }
        }
    };
    let at = |u: usize, v: usize| u + sides[0] * v;
    for v in 0..sides[1] {
        for u in 0..sides[0] {
            if u > 0 {
                square(&[(at(u - 1, v), 1.0), (at(u, v), -1.0)]);
            }
            if u > 1 {
                square(&[(at(u - 2, v), 1.0), (at(u - 1, v), -2.0), (at(u, v), 1.0)]);
            }
            if v > 1 {
                square(&[(at(u, v - 2), 1.0), (at(u, v - 1), -2.0), (at(u, v), 1.0)]);
            }
            if u > 0 && v > 0 {
                square(&[(at(u - 1, v - 1), 1.0), (at(u, v - 1), -1.0), (at(u - 1, v), -1.0), (at(u, v), 1.0)]);
            }
        }
    }
    SparseMatrix::from_entries(n, entries)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Catches a solver with a wrong sign, a lost entry or a wrong permutation, one that mixes
/// right sides, and one that reports a better residual than it leaves.
#[test]
fn all_solvers_solve_grids_with_held_nodes() {
    for (sides, seed) in [([1, 1], 1), ([1, 17], 2), ([5, 9], 3), ([13, 12], 4), ([30, 7], 5)] {
        let matrix = grid(sides, seed);
        let (n, mut next) = (matrix.size, random(seed + 100));
        let exact: Vec<f64> = (0..3 * n).map(|_| next()).collect();
        let mut right = vec![0.0; 3 * n];
        for (x, b) in exact.chunks(n).zip(right.chunks_mut(n)) {
            matrix.product(x, b);
        }
        for (name, settings) in all() {
            let mut solver = solver(&settings, n, 2);
            assert!(solver.factorise(&matrix), "{name} {sides:?}");
            let mut x = right.clone();
            let report = solver.solve(&matrix, &mut x, 3);
            assert!(report.converged && report.refused.is_none(), "{name} {sides:?} {report:?}");
            assert_eq!(report.direct, report.iterations == 0, "{name} {report:?}");
            let mut image = vec![0.0; n];
            for c in 0..3 {
                let part = c * n..c * n + n;
                matrix.product(&x[part.clone()], &mut image);
                let r: Vec<f64> = image.iter().zip(&right[part.clone()]).map(|(a, b)| a - b).collect();
                let left = norm(&r) / norm(&right[part.clone()]);
                assert!(left <= 1.01 * report.residual.max(1e-13), "{name} {sides:?}: {left:e} {report:?}");
                let error: Vec<f64> = x[part.clone()].iter().zip(&exact[part]).map(|(a, b)| a - b).collect();
                assert!(norm(&error) < 1e-6, "{name} {sides:?}: {:e}", norm(&error));
            }
        }
    }
}

/// Catches an order that is not honoured: in all of them the solution is the same and on a long
/// grid numbered along its length the narrow order is the smaller by far.
#[test]
fn the_profile_is_small_in_a_good_order() {
    let matrix = grid([60, 6], 9);
    let b: Vec<f64> = (0..matrix.size).map(|i| (i as f64).sin()).collect();
    let mut results = Vec::new();
    for order in [Order::AsGiven, Order::ReverseCuthillMckee, Order::Smaller] {
        let mut profile = ProfileCholesky::default();
        profile.order = order;
        assert!(profile.factorise(&matrix));
        let mut x = b.clone();
        assert!(profile.solve(&matrix, &mut x, 1).converged);
        results.push((profile.entries(), x));
    }
    assert!(4 * results[1].0 < results[0].0, "{} {}", results[1].0, results[0].0);
    assert_eq!(results[1].0, results[2].0);
    for (x, y) in results[0].1.iter().zip(&results[1].1) {
        assert!((x - y).abs() < 1e-8);
    }
}

/// Catches a panic, or a solution made up, where there is none; and an old refusal that sticks.
#[test]
fn a_matrix_that_is_not_positive_definite_is_reported() {
    let good = grid([9, 9], 7);
    let mut bad = good.clone();
    // The smallest diagonal entries stay positive, but rows 40 and 41 pull each other too hard.
    let p = bad.column(40).find(|&p| bad.rows[p] == 41).unwrap();
    bad.values[p] = -3.0 * (bad.diagonal(40) * bad.diagonal(41)).sqrt();
    let mut negative = good.clone();
    negative.values[good.column_start[12]] = -1.0;
    let mut nan = good.clone();
    nan.values[good.column_start[12] + 1] = f64::NAN;
    for (name, settings) in all() {
        let mut solver = solver(&settings, good.size, 2);
        for (what, matrix) in [("indefinite", &bad), ("negative", &negative), ("not a number", &nan)] {
            let done = solver.factorise(matrix);
            let mut x = vec![1.0; matrix.size];
            let report = solver.solve(matrix, &mut x, 1);
            assert!(!report.converged, "{name} {what} {report:?}");
            if !done {
                assert_eq!(report.refused, Some(Refusal::NotPositiveDefinite), "{name} {what}");
                assert!(x.iter().all(|x| *x == 1.0), "{name} {what}: the right side is left alone");
            }
            if what == "negative" || (what == "indefinite" && !settings.method.only_iterates()) {
                assert!(!done, "{name} {what}");
            }
        }
        assert!(solver.factorise(&good), "{name}");
        assert!(solver.solve(&good, &mut vec![1.0; good.size], 1).converged, "{name}");
    }
}

/// Catches an iteration that stops at its cap and calls that a solution.
#[test]
fn an_iteration_that_does_not_converge_says_so() {
    let matrix = grid([20, 20], 11);
    let tune = Settings { tolerance: 1e-12, max_iterations: 5, ..Settings::default() };
    let solvers: [Box<dyn LinearSolver>; 2] = [Box::new(Sor::default()), Box::new(ConjugateGradients::default())];
    for mut solver in solvers {
        solver.tune(&tune);
        assert!(solver.factorise(&matrix));
        let report = solver.solve(&matrix, &mut vec![1.0; matrix.size], 1);
        assert!(!report.converged && report.iterations == 5 && report.residual > 1e-12, "{report:?}");
    }
}

/// Catches a factor too large for memory that is made all the same.
#[test]
fn a_profile_beyond_the_limit_is_refused() {
    // An arrow: every unknown touches the first, and in any order rows are long.
    let n = 80_000;
    let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 2.0), (i, (i * 7919 + 13) % n, -0.1)]).collect();
    let matrix = SparseMatrix::from_entries(n, entries);
    let mut profile = ProfileCholesky::default();
    profile.order = Order::AsGiven;
    assert!(!profile.factorise(&matrix));
    assert_eq!(profile.solve(&matrix, &mut [], 0).refused, Some(Refusal::TooLarge));
}

/// Catches a choice by size that never changes its mind.
#[test]
fn left_alone_the_solver_goes_by_size_and_dimension() {
    let name = |size, dimensions| format!("{:?}", solver(&Settings::default(), size, dimensions));
    assert!(name(100_000, 2).starts_with("SparseCholesky"));
    assert!(name(100_000, 3).starts_with("ConjugateGradients") && name(100_000, 3).contains("IncompleteCholesky"));
    assert!(name(100, 3).starts_with("SparseCholesky"));
}

/// A cloth held at two corners, springs, backward Euler.
fn cloth(settings: Settings) -> World {
    let material = Material { young: 1e6, thickness: 1e-3, density: 300.0, ..Material::default() };
    let shape = Shape::rectangle([1.0, 1.0], [12, 12]).unwrap();
    let mut body = Body::new("cloth", shape, material, Axes::IMPLICIT).pin(&[0, 11]);
    body.solver = settings;
    World::new(fixed(body, 1.0 / 120.0))
}

/// Row T3 of TW: catches solvers that move a body differently; the step and the matrix are
/// the same, so positions may differ by what the tolerance leaves only.
#[test]
fn all_solvers_move_a_cloth_alike() {
    let run = |settings| {
        let mut world = cloth(settings);
        (0..30).for_each(|_| _ = world.step().unwrap());
        world.state().bodies[0].positions.clone()
    };
    let cholesky = run(Settings { method: Method::Cholesky, tolerance: 1e-10, ..Settings::default() });
    let start = cloth(Settings::default()).state().bodies[0].positions.clone();
    let moved = cholesky.iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(moved > 0.1, "{moved}");
    for (name, settings) in all() {
        let positions = run(settings);
        let off = positions.iter().zip(&cholesky).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        eprintln!("{name:<40} {off:.1e} m");
        assert!(off < 1e-7 * moved, "{name}: {off:e}");
        assert_eq!(positions[0], start[0], "{name}: a pin holds");
    }
}

/// Catches a body whose solver fails without a word on what failed.
#[test]
fn a_step_whose_solver_gives_up_fails_with_a_reason() {
    let settings = Settings { method: Method::Sor, max_iterations: 2, ..Settings::default() };
    let failure = cloth(settings).step().unwrap_err().to_string();
    assert!(failure.contains("after 2 iterations") && failure.contains("max-iterations"), "{failure}");
}

/// Catches sums that depend on the number of threads, in a body large enough to be shared out.
#[test]
fn every_solver_gives_the_same_bytes_on_one_thread_and_on_three() {
    let shape = Shape::rectangle([1.0, 1.0], [70, 70]).unwrap();
    for (name, settings) in all() {
        let run = |threads| {
            let material = Material { young: 1e5, ..Material::default() };
            let mut body = Body::new("sheet", shape.clone(), material, Axes::IMPLICIT).pin(&[0]);
            body.solver = Settings { tolerance: 1e-6, ..settings };
            let mut world = World::new(fixed(body, 1.0 / 240.0));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (0..2).for_each(|_| _ = world.step().unwrap()));
            world.state().bodies[0].positions.clone()
        };
        let bits = |x: Vec<DVec3>| x.iter().flat_map(|x| x.to_array().map(f64::to_bits)).collect::<Vec<_>>();
        assert!(bits(run(1)) == bits(run(3)), "{name}");
    }
}

/// Catches a correction that does harm, is not made or is counted twice: with the factor of a
/// matrix one per cent off each takes two digits from the residual, and three are allowed.
#[test]
fn a_poor_factor_is_made_up_for_by_corrections() {
    let matrix = grid([20, 20], 21);
    let mut off = matrix.clone();
    off.values.iter_mut().for_each(|value| *value *= 1.01);
    let mut solvers: [Box<dyn LinearSolver>; 2] = [Box::<SparseCholesky>::default(), Box::<ProfileCholesky>::default()];
    for solver in &mut solvers {
        assert!(solver.factorise(&off));
        let mut reach = |tolerance| {
            solver.tune(&Settings { tolerance, ..Settings::default() });
            solver.solve(&matrix, &mut vec![1.0; matrix.size], 1)
        };
        let (rough, fair, fine, beyond) = (reach(2e-2), reach(2e-4), reach(2e-8), reach(1e-12));
        assert!(rough.converged && rough.residual > 5e-3, "{rough:?}");
        assert!(fair.converged && fair.residual > 5e-5, "{fair:?}");
        assert!(fine.converged && fine.residual > 5e-9, "{fine:?}");
        assert!(!beyond.converged && beyond.residual < 2e-8, "{beyond:?}");
    }
}
