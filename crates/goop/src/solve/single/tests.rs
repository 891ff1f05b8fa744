use super::*;
use glam::DMat3;

/// A sheet of blocks with masses on the diagonal, so large that it has several chunks.
fn example(side: usize, mass: f64) -> BlockMatrix {
    let n = side * side;
    let mut m = BlockMatrix::new(n, |visit| {
        for i in 0..n {
            for j in [i + 1, i + side, i + side + 1].into_iter().filter(|&j| j < n) {
                visit(&[i as u32, j as u32]);
            }
        }
    });
    let block = |i: usize, j: usize| {
        let d = DVec3::new(1.0, ((i * 7 + j * 13) % 11) as f64 / 11.0, ((i + j) % 5) as f64 / 5.0).normalize();
        DMat3::from_cols(d * d.x, d * d.y, d * d.z) + 0.1 * DMat3::IDENTITY
    };
    let mut diagonal = vec![DMat3::from_diagonal(DVec3::splat(mass)); n];
    for i in 0..n {
        for j in [i + 1, i + side, i + side + 1].into_iter().filter(|&j| j < n) {
            diagonal[i] += block(i, j);
            diagonal[j] += block(i, j);
        }
    }
    m.fill_by(|i, j| if i == j { diagonal[i] } else { -block(i.min(j), i.max(j)) });
    m
}

fn right(n: usize) -> Vec<DVec3> {
    (0..n).map(|i| DVec3::new((i as f64).sin(), (0.37 * i as f64).cos(), 0.2)).collect()
}

/// Catches sweeps that leave blocks out or take them twice, where chunks meet too, wrong scaling, held
/// nodes that move, and a residual that is not the one reported.
#[test]
fn the_residual_asked_for_is_the_one_there_is() {
    for (side, tolerance) in [(5, 1e-3), (100, 1e-3), (100, 1e-9)] {
        let m = example(side, 0.02);
        let n = m.nodes();
        assert_eq!(m.chunks().count() > 1, side > 50);
        let free: Vec<bool> = (0..n).map(|i| i % 17 != 3).collect();
        let (b, mut x, mut product) = (right(n), vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        let settings = Settings { tolerance, ..Settings::default() };
        let mut scratch = Scratch::default();
        let report = scratch.solve(&settings, &m, &free, &b, &mut x, Start::Zero, false);
        assert!(report.converged && report.residual <= tolerance, "{report:?}");
        m.product(&free, &x, &mut product);
        let (mut left, mut whole) = (0.0, 0.0);
        for i in (0..n).filter(|&i| free[i]) {
            left += (b[i] - product[i]).length_squared();
            whole += b[i].length_squared();
        }
        let off = (left / whole).sqrt() / report.residual - 1.0;
        assert!(off.abs() < 0.2 * TRUSTED);
        assert!((0..n).all(|i| free[i] || x[i] == DVec3::ZERO));
        // From there nothing is left to do.
        let again = scratch.solve(&settings, &m, &free, &b, &mut x, Start::Near, false);
        assert!(again.converged && again.iterations == 0);
    }
}

/// Catches a look after which the iteration begins anew or ends too early, a residual of what was before, a changed
/// diagonal that is overlooked, and guesses that do harm.
#[test]
fn an_iteration_goes_on_after_a_look() {
    for side in [30, 100] {
        let mut m = example(side, 0.02);
        let n = m.nodes();
        let free: Vec<bool> = (0..n).map(|i| i % 17 != 3).collect();
        let (b, mut x) = (right(n), vec![DVec3::ZERO; n]);
        let settings = |tolerance| Settings { tolerance, ..Settings::default() };
        let residual = |m: &BlockMatrix, x: &[DVec3]| {
            let mut product = vec![DVec3::ZERO; n];
            m.product(&free, x, &mut product);
            let squares = |f: &dyn Fn(usize) -> DVec3| -> f64 {
                (0..n).filter(|&i| free[i]).map(|i| f(i).length_squared()).sum()
            };
            (squares(&|i| b[i] - product[i]) / squares(&|i| b[i])).sqrt()
        };
        let whole = Scratch::default().solve(&settings(1e-3), &m, &free, &b, &mut x, Start::Zero, false);
        x.fill(DVec3::ZERO);
        let mut scratch = Scratch::default();
        let look = scratch.solve(&settings(0.05), &m, &free, &b, &mut x, Start::Zero, true);
        assert!(look.converged && residual(&m, &x) < 0.2, "{look:?} {}", residual(&m, &x));
        let mut spent = look.iterations;
        for tolerance in [1e-2, 1e-3] {
            let report = scratch.solve(&settings(tolerance), &m, &free, &b, &mut x, Start::Same, false);
            assert!(report.converged && (residual(&m, &x) / report.residual - 1.0).abs() < 0.2 * TRUSTED, "{report:?}");
            spent += report.iterations;
        }
        assert!(spent <= whole.iterations + 3, "{spent} after looks, {} without", whole.iterations);
        // A block on the diagonal becomes another.
        let block = DMat3::from_diagonal(DVec3::splat(30.0));
        m.add_diagonal(n / 2, block);
        scratch.changed(n / 2, block * x[n / 2]);
        let report = scratch.solve(&settings(1e-3), &m, &free, &b, &mut x, Start::Near, false);
        assert!(report.converged && (residual(&m, &x) / report.residual - 1.0).abs() < 0.2 * TRUSTED, "{report:?}");
        // Too long by far, and wrong in part.
        let mut guess: Vec<DVec3> = x.iter().map(|v| 70.0 * *v).collect();
        guess[n / 3] *= 1.5;
        assert!(scratch.guess(&m, &free, &b, &mut guess) == Start::Same && residual(&m, &guess) < 0.1);
        let report = scratch.solve(&settings(1e-3), &m, &free, &b, &mut guess, Start::Same, false);
        assert!(report.converged && (residual(&m, &guess) / report.residual - 1.0).abs() < 0.2 * TRUSTED);
        // The other way: nothing to be had of it.
        guess.iter_mut().for_each(|v| *v = -*v);
        assert!(scratch.guess(&m, &free, &b, &mut guess) == Start::Zero && guess.iter().all(|v| *v == DVec3::ZERO));
    }
}

/// Catches a sweep that does not help.
#[test]
fn it_needs_fewer_iterations_than_without_a_sweep() {
    let m = example(100, 0.005);
    let n = m.nodes();
    let (free, b) = (vec![true; n], right(n));
    let settings = Settings { tolerance: 1e-3, max_iterations: 1000, ..Settings::default() };
    let (mut x, mut y) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let swept = Scratch::default().solve(&settings, &m, &free, &b, &mut x, Start::Zero, false);
    let plain = super::super::cg::Scratch::default().solve(&settings, &m, &free, &b, &mut y);
    assert!(swept.converged && 10 * swept.iterations < 7 * plain.iterations, "{swept:?} {plain:?}");
}

/// Catches an indefinite matrix that is called solved.
#[test]
fn a_matrix_that_is_not_positive_definite_is_refused() {
    let mut m = example(5, 0.02);
    m.add_diagonal(7, DMat3::from_diagonal(DVec3::new(0.0, -100.0, 0.0)));
    let (free, b, mut x) = (vec![true; 25], right(25), vec![DVec3::ZERO; 25]);
    let report = Scratch::default().solve(&Settings::default(), &m, &free, &b, &mut x, Start::Zero, false);
    assert_eq!(report.refused, Some(Refusal::NotPositiveDefinite));
    assert!(!report.converged);
}

/// Catches sums in an order of their own.
#[test]
fn one_thread_and_three_give_the_same_bytes() {
    let m = example(100, 0.02);
    let (free, b) = (vec![true; m.nodes()], right(m.nodes()));
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut x = vec![DVec3::ZERO; m.nodes()];
        pool.install(|| Scratch::default().solve(&Settings::default(), &m, &free, &b, &mut x, Start::Zero, false));
        x
    };
    assert!(run(1) == run(3));
}
