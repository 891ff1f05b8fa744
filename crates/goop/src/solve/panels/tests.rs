use super::super::{LinearSolver, Settings, SparseCholesky, SparseMatrix};
use super::{Panels, Supernode, TOGETHER, solve_together};

/// Catches a tile that is cut off, a row below that is added twice or not at all, and right sides that mix: widths
/// and rows below that are no multiple of four, columns without any rows below, an order that is not that of the
/// matrix.
#[test]
fn panels_of_every_shape_solve_what_they_were_made_from() {
    // L with supernodes of 1, 6, 5, 4 and 3 columns in 19 rows.
    let size = 19;
    let begins = [0usize, 1, 7, 12, 16, size];
    let below: [&[usize]; 5] = [&[3, 9, 18], &[7, 8, 12, 13, 17], &[], &[16, 17, 18], &[]];
    let mut seed = 7u64;
    let mut number = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let mut l = vec![vec![0.0; size]; size];
    let mut stored: Vec<Vec<f64>> = Vec::new();
    for (s, below) in below.iter().enumerate() {
        let own: Vec<usize> = (begins[s]..begins[s + 1]).collect();
        let rows: Vec<usize> = own.iter().chain(*below).copied().collect();
        let mut values = Vec::new();
        for &j in &own {
            for &i in &rows {
                // Above the diagonal there may be anything.
                values.push(if i == j { 1.5 + number() } else { number() });
                if i >= j {
                    l[i][j] = values[values.len() - 1];
                }
            }
        }
        stored.push(values);
    }
    let order: Vec<usize> = (0..size).map(|i| (i * 7 + 3) % size).collect();
    let mut panels = Panels::default();
    assert!(!panels.is_ready());
    panels.take(
        &order,
        (0..below.len()).map(|s| Supernode {
            first: begins[s],
            width: begins[s + 1] - begins[s],
            below: below[s],
            values: &stored[s],
        }),
    );
    assert!(panels.is_ready() && panels.bytes() > 8 * 60);
    for columns in 1..=2 * TOGETHER + 1 {
        let x: Vec<f64> = (0..size * columns).map(|_| number()).collect();
        let mut b = vec![0.0; x.len()];
        for (x, b) in x.chunks(size).zip(b.chunks_mut(size)) {
            for i in 0..size {
                for j in 0..size {
                    let a: f64 = (0..size).map(|k| l[i][k] * l[j][k]).sum();
                    b[order[i]] += a * x[order[j]];
                }
            }
        }
        panels.solve(&mut b, columns);
        let worst = x.iter().zip(&b).map(|(x, b)| (x - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-11, "{columns} columns: {worst:e}");
    }
}

/// A plate of springs on a ground, thirteen points to a row.
fn plate(side: usize, stiff: f64) -> SparseMatrix {
    let links = (0..side * side).flat_map(move |i| {
        let (x, y) = (i % side, i / side);
        let near = [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (-1, 1)].into_iter().filter_map(move |(dx, dy)| {
            let x = x.checked_add_signed(dx).filter(|x| *x < side)?;
            (y + dy < side).then_some((i, x + (y + dy) * side))
        });
        near.flat_map(move |(a, b)| [(a, a, stiff + 0.01), (b, b, stiff), (a, b, -stiff)].into_iter())
    });
    SparseMatrix::from_entries(side * side, links)
}

fn waves(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i as f64 * 0.37).sin()).collect()
}

/// Catches panels that are left behind by another factor, an order taken the wrong way round, and pieces that miss what others
/// give or get.
#[test]
fn panels_and_the_library_agree_on_plates() {
    for (side, pieces) in [(60, 1..2), (130, 4..20)] {
        let (mut own, mut plain) = (SparseCholesky::default(), SparseCholesky::plain());
        for stiff in [1.0, 30.0] {
            let matrix = plate(side, stiff);
            assert!(own.factorise(&matrix) && plain.factorise(&matrix));
            assert!(pieces.contains(&own.panels().pieces.len()), "{}", own.panels().pieces.len());
            for columns in [1, 3, 4] {
                let b = waves(columns * matrix.size);
                let (mut x, mut y) = (b.clone(), b);
                own.substitute(&mut x, columns);
                plain.substitute(&mut y, columns);
                let size = |v: &[f64]| v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                let off: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
                assert!(size(&off) < 1e-10 * size(&y).max(1.0), "{:e}", size(&off));
                assert!(own.solve(&matrix, &mut x, columns).converged);
                assert_ne!(x, y);
            }
        }
    }
}

/// Catches sums that depend on who was first, and substitutions done together that get into each other's way.
#[test]
fn one_thread_and_three_give_the_same_bytes() {
    let matrices = [plate(150, 1.0), plate(130, 7.0)];
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut solvers = [SparseCholesky::default(), SparseCholesky::default()];
            let mut sides = [waves(2 * matrices[0].size), waves(matrices[1].size)];
            for (solver, matrix) in solvers.iter_mut().zip(&matrices) {
                solver.tune(&Settings { tolerance: f64::INFINITY, ..Settings::default() });
                assert!(solver.factorise(matrix));
            }
            let mut alone = sides.clone();
            for ((solver, side), columns) in solvers.iter_mut().zip(&mut alone).zip([2, 1]) {
                solver.substitute(side, columns);
            }
            let lent = solvers.iter_mut().zip(&mut sides).zip([2, 1]);
            let lent: Vec<_> = lent.map(|((solver, side), columns)| solver.lend(side, columns)).collect();
            assert!(lent.iter().all(Option::is_some));
            solve_together(&lent);
            drop(lent);
            assert!(sides == alone);
            sides
        })
    };
    assert!(run(1) == run(3));
}
