//! What the kernels cost per node, beside what the memory allows.
//!
//! ```text
//! cargo bench -p goop --bench kernels                 a table, under two minutes
//! cargo bench -p goop --bench kernels -- --json       the same, and one line of JSON
//! cargo bench -p goop --bench kernels -- --quick      up to 10⁵ nodes
//! cargo bench -p goop --bench kernels -- 100 forces   cubes with this side, kernels with this word in their names
//! cargo bench -p goop --bench kernels -- --divan      the same kernels under divan
//! ```
//! `RAYON_NUM_THREADS` sets the threads. Bodies are cubes of n³ nodes with their
//! bottom held, and a sheet of 10⁵. Every figure is the best of several runs, the
//! median beside it; on a busy machine look at the best.
//!
//! The bound of a kernel is the bytes it has to move (`bytes` below) over the
//! bandwidth of a triad a = b + s c whose arrays together are as large as what the
//! kernel touches, cut into the same chunks and measured in the same run. Small
//! bodies lie in a cache, and there arithmetic binds first: beside kernels that go
//! over the springs stands what their roots and divisions alone would take.

#![allow(clippy::print_stdout)] // its output is its purpose

mod cases;
mod limits;
mod table;

use cases::{Case, Solved};
use glam::DVec3;
use goop::elastic::Elasticity;
use goop::model::Integrator;
use goop::parallel::Chunks;
use std::time::Instant;
use table::Line;

/// Bytes that must move per call: every array once for reading and once for
/// writing, as large as our layouts make it; lines fetched only to be overwritten
/// are not counted, here or in the triad.
mod bytes {
    use super::{Case, Solved};

    /// A vector of three f64.
    const V: usize = 24;
    /// A 3×3 block of f64.
    const B: usize = 72;

    /// Springs, x and f; with dampers also v and the damping forces.
    pub fn forces(case: &Case) -> usize {
        case.springs.force_bytes()
    }

    /// Every stored block with its column, x and y.
    pub fn product(solved: &Solved) -> usize {
        solved.matrix.product_bytes()
    }

    /// A product; x += αp, r -= αq, z = D⁻¹r: x, r read and written, p, q, D⁻¹ read, z
    /// written; p = z + βp: z, p read, p written.
    pub fn iteration(solved: &Solved) -> usize {
        product(solved) + solved.matrix.nodes() * (2 * V + 2 * V + V + V + B + V + 3 * V)
    }

    /// Springs and x read, every block written.
    pub fn assembly(case: &Case, solved: &Solved) -> usize {
        case.springs.stiffness_bytes() + solved.matrix.blocks() * B
    }

    /// Forces; then x, v, f, mass and drag read, x and v written. With dampers the
    /// damping forces are read too. The account can be kept on the way.
    pub fn explicit_step(case: &Case) -> usize {
        let damping = if case.damped() { V } else { 0 };
        forces(case) + case.nodes() * (3 * V + 16 + 2 * V + damping)
    }

    /// What an implicit step does once: assembly, the right side (a product; f, v and
    /// mass read, right side written), D⁻¹ (diagonal read, inverse written; r, p
    /// written), x and v updated, forces at the end; and its iterations.
    pub fn implicit_step(case: &Case, solved: &Solved, iterations: usize) -> usize {
        let once = assembly(case, solved) + product(solved) + forces(case);
        let vectors = case.nodes() * ((2 * V + 8 + V) + (2 * B + 2 * V) + (3 * V + 2 * V));
        once + vectors + iterations * iteration(solved)
    }
}

/// Best and median seconds of several runs of `work`.
fn time(seconds: f64, mut work: impl FnMut()) -> [f64; 2] {
    work();
    let mut runs = Vec::new();
    let start = Instant::now();
    while runs.len() < 5 || (start.elapsed().as_secs_f64() < seconds && runs.len() < 2000) {
        let begin = Instant::now();
        work();
        runs.push(begin.elapsed().as_secs_f64());
        if start.elapsed().as_secs_f64() > 8.0 * seconds && runs.len() >= 2 {
            break;
        }
    }
    best_and_median(runs)
}

fn best_and_median(mut runs: Vec<f64>) -> [f64; 2] {
    runs.sort_by(f64::total_cmp);
    [runs[0], runs[runs.len() / 2]]
}

/// The lines of one body that are wanted.
fn measure(name: &str, case: &Case, wanted: impl Fn(&str) -> bool) -> Vec<Line> {
    let chunks = Chunks::new(case.nodes());
    let line = |kernel: &str, seconds: [f64; 2], bytes: usize, iterations: usize| {
        // Iterations go over the same memory again and again.
        let bandwidth = limits::bandwidth(bytes / iterations.max(1), chunks.count());
        let (body, kernel, nodes) = (name.into(), kernel.into(), case.nodes());
        Line { body, kernel, nodes, seconds, bytes, bandwidth, iterations, roots: 0.0 }
    };
    let workers = chunks.count().min(rayon::current_num_threads());
    let roots = case.springs.elements() as f64 * limits::root_and_division() / workers as f64;
    let mut lines = Vec::new();

    if wanted("spring forces") {
        let (mut f, mut g) = (vec![DVec3::ZERO; case.nodes()], vec![DVec3::ZERO; case.nodes()]);
        for (kernel, case) in [("spring forces", case), ("spring forces, undamped", &case.undamped())] {
            let seconds = time(0.4, || _ = case.forces(&mut f, &mut g));
            lines.push(Line { roots, ..line(kernel, seconds, bytes::forces(case), 0) });
        }
    }
    if wanted("explicit step") {
        let mut world = case.world(Integrator::SymplecticEuler, 1e-6);
        let seconds = time(0.6, || _ = world.step().expect("a short step is stable"));
        lines.push(Line { roots, ..line("explicit step", seconds, bytes::explicit_step(case), 0) });
    }
    if !["assembly", "block-sparse product", "CG iteration", "implicit step"].into_iter().any(&wanted) {
        return lines;
    }
    let mut solved = Solved::new(case);
    if wanted("assembly") {
        let seconds = time(0.4, || solved.assemble(case));
        lines.push(line("assembly", seconds, bytes::assembly(case, &solved), 0));
    }
    if wanted("block-sparse product") {
        let seconds = time(0.4, || _ = solved.product());
        lines.push(line("block-sparse product", seconds, bytes::product(&solved), 0));
    }
    if wanted("CG iteration") {
        // Long and short solves differ by whole iterations only.
        let few = time(0.4, || solved.iterate(1))[0];
        let many = time(0.8, || solved.iterate(9));
        let iteration = many.map(|t| (t - few) / 8.0);
        lines.push(line("CG iteration", iteration, bytes::iteration(&solved), 0));
    }
    if !wanted("implicit step") {
        return lines;
    }
    let mut world = case.world(Integrator::BackwardEuler, 1.0 / 240.0);
    world.step().expect("the solve converges");
    let (mut runs, mut iterations, start) = (Vec::new(), 0, Instant::now());
    while runs.is_empty() || (start.elapsed().as_secs_f64() < 3.0 && runs.len() < 8) {
        let begin = Instant::now();
        let count = world.step().expect("the solve converges").iterations;
        runs.push((begin.elapsed().as_secs_f64(), count));
        iterations = count;
    }
    // Iterations differ from step to step: compare steps by their time per iteration.
    let per = runs.iter().map(|(t, count)| t / *count as f64 * iterations as f64).collect();
    let bytes = bytes::implicit_step(case, &solved, iterations);
    lines.push(line("implicit step", best_and_median(per), bytes, iterations));
    lines
}

/// Peak resident memory of this process (bytes).
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

/// Builds a cube and takes an implicit step, in a process of its own, because the
/// peak never falls.
fn memory_of_implicit_step(side: usize) -> Option<usize> {
    let program = std::env::current_exe().ok()?;
    let output = std::process::Command::new(program).arg("--memory").arg(side.to_string()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// One call of a kernel under divan, for those who want its statistics.
mod under_divan {
    use super::*;

    const SIDES: [usize; 3] = [10, 22, 46];

    #[divan::bench(args = SIDES)]
    fn spring_forces(bencher: divan::Bencher, side: usize) {
        let case = Case::cube(side);
        let (mut f, mut g) = (vec![DVec3::ZERO; case.nodes()], vec![DVec3::ZERO; case.nodes()]);
        bencher.bench_local(|| case.forces(&mut f, &mut g));
    }

    #[divan::bench(args = SIDES)]
    fn product(bencher: divan::Bencher, side: usize) {
        let case = Case::cube(side);
        let mut solved = Solved::new(&case);
        solved.assemble(&case);
        bencher.bench_local(|| solved.product());
    }

    #[divan::bench(args = SIDES)]
    fn ten_cg_iterations(bencher: divan::Bencher, side: usize) {
        let case = Case::cube(side);
        let mut solved = Solved::new(&case);
        solved.assemble(&case);
        bencher.bench_local(|| solved.iterate(10));
    }

    #[divan::bench(args = SIDES)]
    fn explicit_step(bencher: divan::Bencher, side: usize) {
        let mut world = Case::cube(side).world(Integrator::SymplecticEuler, 1e-6);
        bencher.bench_local(|| world.step());
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|a| a == flag);
    if has("--divan") {
        return divan::Divan::default().run_benches();
    }
    if let Some(k) = args.iter().position(|a| a == "--memory") {
        let side = args.get(k + 1).and_then(|s| s.parse().ok()).unwrap_or(10);
        Case::cube(side).world(Integrator::BackwardEuler, 1.0 / 240.0).step().expect("the solve converges");
        println!("{}", peak_memory().unwrap_or(0));
        return;
    }
    let (numbers, words): (Vec<&String>, Vec<&String>) =
        args.iter().filter(|a| !a.starts_with('-')).partition(|a| a.parse::<usize>().is_ok());
    let mut sides: Vec<usize> = numbers.iter().filter_map(|a| a.parse().ok()).filter(|&n| n > 1).collect();
    let chosen = !sides.is_empty();
    if !chosen {
        sides = if has("--quick") { vec![10, 22, 46] } else { vec![10, 22, 46, 100] };
    }
    let wanted = |kernel: &str| words.is_empty() || words.iter().any(|w| kernel.contains(w.as_str()));
    let mut lines = Vec::new();
    println!("{} threads", rayon::current_num_threads());
    for &side in &sides {
        lines.extend(table::print(measure("cube", &Case::cube(side), wanted)));
    }
    if !chosen {
        lines.extend(table::print(measure("sheet", &Case::sheet(316), wanted)));
    }
    let largest = sides[sides.len() - 1];
    let memory = if wanted("implicit step") { memory_of_implicit_step(largest).unwrap_or(0) } else { 0 };
    println!("\npeak memory of an implicit step of {} nodes: {:.2} GB", largest.pow(3), memory as f64 * 1e-9);
    table::print_flatness(&lines);
    if has("--json") {
        println!("{}", table::json(&lines, memory));
    }
}
