//! What the linear solvers cost, side by side (row T3).
//!
//! ```text
//! cargo bench -p goop --bench solvers                  all matrices, about three minutes
//! cargo bench -p goop --bench solvers -- --quick       up to 64²
//! cargo bench -p goop --bench solvers -- --crossover   where a factor stops paying, larger matrices
//! cargo bench -p goop --bench solvers -- --relaxation  sweeps and iterations against ω
//! cargo bench -p goop --bench solvers -- --json        also one line of JSON
//! ```
//! Matrices, all of a body one metre wide at a step of 1/240 s:
//!
//! - plate: M + dt² K of a steel plate one millimetre thick, free at its rim; squares of second
//!   differences, 13 entries a row inside. Constant, one unknown a node, as in the hybrid formulation.
//! - solid: the same of three dimensions, 25 entries a row, a block of jelly with a gradient energy.
//! - cloth: of springs, 3×3 blocks, one edge held; as in the implicit step of nodes.
//!
//! Every figure is the best of several runs. Tolerance 1e-8, right side without order.

#![allow(clippy::print_stdout)] // its output is its purpose

use glam::{DMat3, DVec3};
use goop::Shape;
use goop::elastic::{Elasticity, Weights, lattice};
use goop::material::Material;
use goop::solve::{
    BlockMatrix, ConjugateGradients, LinearSolver, Method, Preconditioner, Scalar, Settings, Sor, SparseCholesky,
    SparseMatrix, cg, condition, condition_of_blocks, solver,
};
use std::time::Instant;

const DT: f64 = 1.0 / 240.0;
const TOLERANCE: f64 = 1e-8;
const CAP: usize = 10_000;
/// Sweeps of SOR, which would else take most of the time.
const SWEEPS: usize = 5_000;
/// Profiles with more entries than this are left out: they take minutes.
const PROFILE: usize = 40_000_000;

/// Numbers without order.
fn random(n: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..n).map(|_| next()).collect()
}

/// Unit masses and weighted squares of differences.
fn matrix(n: usize, squares: impl Fn(&mut dyn FnMut(f64, &[(usize, f64)]))) -> SparseMatrix {
    let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 1.0)).collect();
    squares(&mut |weight, nodes| {
        for &(a, wa) in nodes {
            for &(b, wb) in nodes.iter().filter(|(b, _)| a <= *b) {
                entries.push((a, b, weight * wa * wb));
            }
        }
    });
    SparseMatrix::from_entries(n, entries)
}

/// Steel: D / ρt = 2.35 m⁴/s².
fn plate(side: usize) -> SparseMatrix {
    let weight = 2.35 * DT * DT * ((side - 1) as f64).powi(4);
    let at = |u: usize, v: usize| u + side * v;
    matrix(side * side, |square| {
        for v in 0..side {
            for u in 0..side {
                if u > 1 {
                    square(weight, &[(at(u - 2, v), 1.0), (at(u - 1, v), -2.0), (at(u, v), 1.0)]);
                }
                if v > 1 {
                    square(weight, &[(at(u, v - 2), 1.0), (at(u, v - 1), -2.0), (at(u, v), 1.0)]);
                }
                if u > 0 && v > 0 {
                    let cell = [(at(u - 1, v - 1), 1.0), (at(u, v - 1), -1.0), (at(u - 1, v), -1.0), (at(u, v), 1.0)];
                    square(2.0 * weight, &cell);
                }
            }
        }
    })
}

/// E / ρ = 1e4 m²/s² for first differences, and second ones over a fifth of the width.
fn solid(side: usize) -> SparseMatrix {
    let cells = (side - 1) as f64;
    let (first, second) = (1e4 * DT * DT * cells.powi(2), 1e4 * 0.04 * DT * DT * cells.powi(4));
    let step = [1, side, side * side];
    matrix(side * side * side, |square| {
        for i in 0..side * side * side {
            let place = [i % side, i / side % side, i / (side * side)];
            for a in 0..3 {
                let s = step[a];
                if place[a] > 0 {
                    square(first, &[(i - s, -1.0), (i, 1.0)]);
                }
                if place[a] > 1 {
                    square(second, &[(i - 2 * s, 1.0), (i - s, -2.0), (i, 1.0)]);
                }
                for b in 0..a {
                    let t = step[b];
                    if place[a] > 0 && place[b] > 0 {
                        square(2.0 * second, &[(i - s - t, 1.0), (i - s, -1.0), (i - t, -1.0), (i, 1.0)]);
                    }
                }
            }
        }
    })
}

/// Cotton of half a millimetre, a little out of its plane, one edge held.
fn cloth(side: usize) -> (BlockMatrix, Vec<bool>) {
    let cotton =
        Material { density: 500.0, young: 1e7, poisson: 0.25, thickness: 5e-4, damping: 0.05, ..Material::default() };
    let shape = Shape::rectangle([1.0; 2], [side; 2]).expect("a valid rectangle");
    let springs = lattice::springs(&shape, &cotton.into());
    let x: Vec<DVec3> =
        shape.rest_positions.iter().map(|&r| r + DVec3::Y * 0.03 * (7.0 * r.x).sin() * (5.0 * r.z).cos()).collect();
    let mut blocks = springs.structure();
    springs.stiffness(&springs.memory(), &x, Weights { position: DT * DT, velocity: DT }, false, &mut blocks);
    let mass = 500.0 * 5e-4 / (side * side) as f64;
    (0..side * side).for_each(|i| blocks.add_diagonal(i, DMat3::from_diagonal(DVec3::splat(mass))));
    (blocks, (0..side * side).map(|i| i >= side).collect())
}

/// Best seconds of several runs.
fn time<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let (start, mut best, mut runs) = (Instant::now(), f64::INFINITY, 0);
    loop {
        let begin = Instant::now();
        let out = work();
        best = best.min(begin.elapsed().as_secs_f64());
        runs += 1;
        if start.elapsed().as_secs_f64() > 0.5 || runs >= 200 {
            return (best, out);
        }
    }
}

/// One solver on one matrix.
struct Line {
    matrix: String,
    unknowns: usize,
    solver: String,
    factor: f64,
    solve: f64,
    bytes: usize,
    iterations: usize,
    residual: f64,
    converged: bool,
}

impl Line {
    fn print(self, lines: &mut Vec<Line>) {
        println!(
            "  {:<36} {:>10.3} {:>10.3} {:>9.2} {:>10} {:>9.1e}{}",
            self.solver,
            1e3 * self.factor,
            1e3 * self.solve,
            1e-6 * self.bytes as f64,
            self.iterations,
            self.residual,
            if self.converged { "" } else { "  not converged" }
        );
        lines.push(self);
    }

    fn json(&self) -> String {
        format!(
            r#"{{"matrix":"{}","unknowns":{},"solver":"{}","factor_s":{:.4e},"solve_s":{:.4e},"bytes":{},"iterations":{},"residual":{:.3e},"converged":{}}}"#,
            self.matrix,
            self.unknowns,
            self.solver,
            self.factor,
            self.solve,
            self.bytes,
            self.iterations,
            self.residual,
            self.converged
        )
    }
}

/// The solvers to compare.
fn ways() -> Vec<(&'static str, Settings)> {
    let plain = Settings { tolerance: TOLERANCE, max_iterations: CAP, ..Settings::default() };
    let cg = |preconditioner| Settings { method: Method::ConjugateGradients, preconditioner, ..plain };
    vec![
        ("sparse Cholesky", Settings { method: Method::Cholesky, ..plain }),
        ("profile Cholesky", Settings { method: Method::Profile, ..plain }),
        ("conjugate gradients", cg(Preconditioner::None)),
        ("conjugate gradients, Jacobi", cg(Preconditioner::Jacobi)),
        ("conjugate gradients, SSOR", cg(Preconditioner::Ssor)),
        ("conjugate gradients, incomplete", cg(Preconditioner::IncompleteCholesky)),
        ("SOR", Settings { method: Method::Sor, max_iterations: SWEEPS, ..plain }),
    ]
}

/// Times a solver; the first call, which looks at the structure, is not counted.
fn measure(name: &str, way: &str, matrix: &SparseMatrix, mut solver: Box<dyn LinearSolver>) -> Line {
    assert!(solver.factorise(matrix), "{way}: positive definite");
    let (factor, _) = time(|| solver.factorise(matrix));
    let right = random(matrix.size);
    let mut x = right.clone();
    let (solve, report) = time(|| {
        x.copy_from_slice(&right);
        solver.solve(matrix, &mut x, 1)
    });
    Line {
        matrix: name.into(),
        unknowns: matrix.size,
        solver: way.into(),
        factor,
        solve,
        bytes: solver.bytes(),
        iterations: report.iterations,
        residual: report.residual,
        converged: report.converged,
    }
}

fn head(name: &str, matrix: &SparseMatrix, condition: f64) {
    let bytes = 16 * matrix.values.len();
    let (n, megabytes) = (matrix.size, 1e-6 * bytes as f64);
    println!("\n{name}: {n} unknowns, matrix {megabytes:.2} MB, condition {condition:.1e}");
    println!("  solver                                factor/ms   solve/ms    memory/MB  iterations  residual");
}

/// Entries the profile would have, in the better order.
fn profile(matrix: &SparseMatrix) -> usize {
    use goop::solve::order::{first_columns, inverse, profile, reverse_cuthill_mckee};
    let given: Vec<usize> = (0..matrix.size).collect();
    let narrow = inverse(&reverse_cuthill_mckee(matrix));
    profile(&first_columns(matrix, &given)).min(profile(&first_columns(matrix, &narrow)))
}

fn compare(name: &str, matrix: &SparseMatrix, lines: &mut Vec<Line>) {
    for (way, settings) in ways() {
        if settings.method == Method::Profile && profile(matrix) > PROFILE {
            println!("  {way:<36} left out: {} MB", 8 * profile(matrix) / 1_000_000);
            continue;
        }
        measure(name, way, matrix, solver(&settings, matrix.size, 2)).print(lines);
    }
}

/// The bare substitution beside a solve with its residual, for one and three right sides.
fn bare(matrix: &SparseMatrix) {
    let mut cholesky = SparseCholesky::default();
    cholesky.factorise(matrix);
    for columns in [1, 3] {
        let right = random(columns * matrix.size);
        let mut x = right.clone();
        let mut bare = time(|| {
            x.copy_from_slice(&right);
            cholesky.substitute(&mut x, columns);
        });
        let full = time(|| {
            x.copy_from_slice(&right);
            cholesky.solve(matrix, &mut x, columns);
        });
        bare.0 *= 1e3;
        let note = "back-substitution alone";
        println!("  {note}, right sides: {columns}  {:.3} ms; with its residual {:.3} ms", bare.0, 1e3 * full.0);
    }
}

fn cloth_lines(side: usize, lines: &mut Vec<Line>) {
    let (blocks, free) = cloth(side);
    let mut scalar = Scalar::new(&blocks);
    scalar.fill(&blocks, &free);
    let name = format!("cloth {side}²");
    head(&name, &scalar.matrix, condition_of_blocks(&blocks, &free));
    let right: Vec<DVec3> = random(scalar.matrix.size).as_chunks::<3>().0.iter().map(|&v| DVec3::from(v)).collect();
    let (mut x, mut scratch) = (vec![DVec3::ZERO; right.len()], cg::Scratch::default());
    for (way, preconditioner) in [("blocks", Preconditioner::None), ("3×3 Jacobi", Preconditioner::Jacobi)] {
        let settings = Settings { tolerance: TOLERANCE, max_iterations: CAP, preconditioner, ..Settings::default() };
        let (solve, report) = time(|| {
            x.fill(DVec3::ZERO);
            scratch.solve(&settings, &blocks, &free, &right, &mut x)
        });
        Line {
            matrix: name.clone(),
            unknowns: scalar.matrix.size,
            solver: format!("conjugate gradients, {way}"),
            factor: 0.0,
            solve,
            bytes: right.len() * (72 + 3 * 24),
            iterations: report.iterations,
            residual: report.residual,
            converged: report.converged,
        }
        .print(lines);
    }
    compare(&name, &scalar.matrix, lines);
    let (seconds, _) = time(|| scalar.fill(&blocks, &free));
    println!("  blocks into numbers, every step: {:.3} ms", 1e3 * seconds);
}

/// Where the iteration overtakes a factor that is already made.
fn crossover(lines: &mut Vec<Line>) {
    let surfaces = [128, 256, 512].map(|side| (format!("plate {side}²"), plate as fn(usize) -> SparseMatrix, side));
    let solids = [12, 16, 20, 24, 32, 40].map(|side| (format!("solid {side}³"), solid as fn(usize) -> _, side));
    for (name, make, side) in surfaces.into_iter().chain(solids) {
        let matrix = make(side);
        head(&name, &matrix, condition(&matrix));
        let wanted = ["sparse Cholesky", "conjugate gradients, Jacobi", "conjugate gradients, incomplete"];
        for (way, settings) in ways().into_iter().filter(|(way, _)| wanted.contains(way)) {
            // The tolerance of a step, and few enough iterations for the patience of a reader.
            let settings = Settings { tolerance: 1e-6, max_iterations: 2000, ..settings };
            measure(&name, way, &matrix, solver(&settings, matrix.size, 2)).print(lines);
        }
    }
}

/// How much ω matters.
fn relaxation() {
    let (blocks, free) = cloth(40);
    let mut scalar = Scalar::new(&blocks);
    scalar.fill(&blocks, &free);
    let settings = Settings {
        tolerance: TOLERANCE,
        max_iterations: 2 * CAP,
        preconditioner: Preconditioner::Ssor,
        ..Settings::default()
    };
    println!("ω      plate 20²: SOR, SSOR-CG     plate 40²: SOR, SSOR-CG     cloth 40²: SOR, SSOR-CG");
    for omega in [0.8, 1.0, 1.2, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9] {
        print!("{omega:<6}");
        for matrix in [&plate(20), &plate(40), &scalar.matrix] {
            let (mut sor, mut gradients) = (Sor::default(), ConjugateGradients::default());
            (sor.relaxation, gradients.relaxation) = (omega, omega);
            for solver in [&mut sor as &mut dyn LinearSolver, &mut gradients] {
                solver.tune(&settings);
                solver.factorise(matrix);
                print!(" {:>13}", solver.solve(matrix, &mut random(matrix.size), 1).iterations);
            }
        }
        println!();
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| args.iter().any(|a| a == word);
    let mut lines = Vec::new();
    if asked("--relaxation") {
        return relaxation();
    }
    if asked("--crossover") {
        crossover(&mut lines);
    } else {
        let sides: &[usize] = if asked("--quick") { &[20, 40, 64] } else { &[20, 40, 64, 128] };
        for &side in sides {
            let (name, matrix) = (format!("plate {side}²"), plate(side));
            head(&name, &matrix, condition(&matrix));
            compare(&name, &matrix, &mut lines);
            bare(&matrix);
        }
        sides.iter().for_each(|&side| cloth_lines(side, &mut lines));
    }
    if asked("--json") {
        println!("[{}]", lines.iter().map(Line::json).collect::<Vec<_>>().join(","));
    }
}
