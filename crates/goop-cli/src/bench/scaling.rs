//! What a node costs as a body outgrows the caches: the block of workload 2 by springs and by finite elements, and a free
//! hybrid sheet.
//!
//! An iteration of the solver reads the blocks twice, once in each sweep, and the vectors, of which it writes some; a hybrid step
//! reads its factors twice. Beside the time stands that of going through as many bytes in a row with the same threads, as many of them
//! written: what the memory that serves this size allows.

use super::clock::{self, Cost};
use super::hybrid;
use super::work::open_work;
use crate::End;
use crate::args::Bench;
use anyhow::Result;
use goop::World;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

/// Nodes along a side: about 10⁴, 10⁵ and 10⁶ in all, of a block and of a sheet.
const SIDES: [usize; 3] = [22, 46, 100];
const SHEETS: [usize; 3] = [100, 316, 1000];
/// Models of the block, and the bytes of a block of their matrices.
const MODELS: [(&str, &str, usize); 2] = [("springs", "implicit", 16), ("elements", "jelly", 36)];
/// Steps that are timed, after one that is not, and the longest that may take (s).
const STEPS: usize = 6;
const SECONDS: f64 = 60.0;
/// Vectors of an iteration by node: r, p, x, t, S t and S back, t, p, q, sums and S forth, r and q at the end (bytes).
const VECTORS: usize = 240;
/// Those of them that are written.
const WRITTEN: usize = 96;
/// A line of memory (bytes).
const LINE: usize = 64;

/// `goop bench scaling`
pub fn run(args: &Bench) -> Result<End> {
    let (blocks, sheets) = match args.n {
        Some(n) => (vec![n.clamp(4, 200)], vec![(n as f64).powf(1.5).round() as usize]),
        None => (SIDES.to_vec(), SHEETS.to_vec()),
    };
    let threads = rayon::current_num_threads();
    if !args.json {
        println!("{threads} threads, load {:.1}", clock::load().unwrap_or(f64::NAN));
        println!(
            "model        nodes  ms a step  iterations   ns a node: forces  assembly  solve  an iteration  in a row  ratio"
        );
    }
    let mut rows = Vec::new();
    for (name, formulation, block) in MODELS {
        for &n in &blocks {
            rows.push(measure(args, name, formulation, block, n)?);
            print(args, rows.last());
        }
    }
    for &n in &sheets {
        rows.push(sheet(n)?);
        print(args, rows.last());
    }
    if args.json {
        println!("{}", json!({ "workload": "scaling", "threads": threads, "load": clock::load(), "rows": rows }));
    } else {
        println!(
            "of a hybrid step an iteration is the whole of it, with a factor; without one, that of conjugate gradients"
        );
    }
    Ok(End::Done)
}

fn print(args: &Bench, row: Option<&Value>) {
    let Some(row) = row.filter(|_| !args.json) else { return };
    let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    println!(
        "{:9} {:8} {:10.1} {:11.1} {:19.1} {:9.1} {:6.1} {:13.2} {:9.2} {:6.2}",
        row["model"].as_str().unwrap_or_default(),
        row["nodes"],
        number("ms_per_step"),
        number("iterations_per_step"),
        number("ns_forces"),
        number("ns_assembly"),
        number("ns_solve"),
        number("ns_iteration"),
        number("ns_in_a_row"),
        number("ratio")
    );
}

fn measure(args: &Bench, name: &str, formulation: &str, block: usize, n: usize) -> Result<Value> {
    let set = format!("body.block.formulation={formulation}");
    let opened = open_work("w2", n, args.dt, false, &[&set])?;
    let mut world = World::new(opened.built.model);
    let body = &world.model().bodies[0];
    let (nodes, pairs) = (body.len(), body.shape.tetrahedra().map_or(0, |t| t.edges().len()));
    clock::measure(&mut world, 1, f64::INFINITY, |_| ())?;
    let cost = clock::measure(&mut world, STEPS, SECONDS, |_| ())?;
    let bytes = 2 * pairs * block + nodes * VECTORS;
    Ok(figures(name, nodes, cost, [bytes, nodes * WRITTEN], cost.sweeps / cost.iterations.max(1) as f64))
}

/// A hybrid sheet of so many nodes along a side.
fn sheet(n: usize) -> Result<Value> {
    let body = hybrid::sheet(n)?;
    let nodes = body.len();
    let bytes = hybrid::bytes(&body)?;
    let mut world = hybrid::world(body);
    clock::measure(&mut world, 1, f64::INFINITY, |_| ())?;
    let cost = clock::measure(&mut world, STEPS, SECONDS, |_| ())?;
    let iterations = cost.iterations.max(cost.steps) as f64;
    Ok(figures("hybrid", nodes, cost, [bytes, 0], cost.wall / iterations))
}

/// `bytes`: in all, and those written.
fn figures(name: &str, nodes: usize, cost: Cost, bytes: [usize; 2], iteration: f64) -> Value {
    let [forces, assembly, solve, ..] = cost.ms().map(|ms| 1e6 * ms / nodes as f64);
    let (iteration, in_a_row) = (1e9 * iteration / nodes as f64, 1e9 * in_a_row(bytes) / nodes as f64);
    let mut row = cost.json();
    let figures = json!({
        "model": name, "nodes": nodes, "bytes_per_iteration": bytes[0], "bytes_written": bytes[1], "ns_forces": forces, "ns_assembly": assembly,
        "ns_solve": solve, "ns_iteration": iteration, "ns_in_a_row": in_a_row, "ratio": iteration / in_a_row,
    });
    if let (Value::Object(row), Value::Object(figures)) = (&mut row, figures) {
        row.extend(figures);
    }
    row
}

/// Seconds to go through so many bytes in a row, of which so many are written, each thread its own part; the best of several times.
fn in_a_row([bytes, written]: [usize; 2]) -> f64 {
    let threads = rayon::current_num_threads();
    // The matrix is read twice: half as much memory.
    let mut lines = vec![[1.0f32; LINE / 4]; ((bytes - written) / (2 * LINE)).max(1)];
    // What is written has been read: the last of so many lines.
    let every = ((bytes - written) as f64 / written.max(1) as f64).round().clamp(1.0, 1e6) as usize;
    let part = lines.len().div_ceil(threads).next_multiple_of(every);
    let mut once = || -> f32 {
        let through = |part: &mut [[f32; LINE / 4]]| {
            let mut sums = [0.0f32; LINE / 4];
            for some in part.chunks_mut(every) {
                let whole = some.len() == every && written > 0;
                for line in &*some {
                    sums.iter_mut().zip(line).for_each(|(sum, v)| *sum += v);
                }
                if let Some(last) = some.last_mut().filter(|_| whole) {
                    last.iter_mut().zip(&sums).for_each(|(v, sum)| *v = 0.5 * *v + 1e-30 * sum);
                }
            }
            sums.iter().sum::<f32>()
        };
        lines.par_chunks_mut(part).map(through).sum()
    };
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        let sum = std::hint::black_box(once()) + std::hint::black_box(once());
        best = best.min(start.elapsed().as_secs_f64());
        assert!(sum >= 0.0);
    }
    best
}
