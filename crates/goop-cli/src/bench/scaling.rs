//! What a node costs as a body outgrows the caches: the block of workload 2 by springs and by finite elements.
//!
//! An iteration of the solver reads the matrix twice, once in each sweep, and a dozen vectors. Beside its time stands
//! that of reading as many bytes in a row with the same threads: what the memory that serves this size allows.

use super::clock;
use super::work::open_work;
use crate::End;
use crate::args::Bench;
use anyhow::Result;
use goop::World;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

/// Nodes along a side: about 10⁴, 10⁵ and 10⁶ in all.
const SIDES: [usize; 3] = [22, 46, 100];
const MODELS: [(&str, &str); 2] = [("springs", "implicit"), ("elements", "jelly")];
/// Steps that are timed, after one that is not, and the longest that may take (s).
const STEPS: usize = 6;
const SECONDS: f64 = 60.0;
/// A block in single precision and its column; and the vectors of an iteration, four numbers a node each.
const BLOCK: usize = 9 * 4 + 4;
const VECTORS: usize = 12 * 16;

/// `goop bench scaling`
pub fn run(args: &Bench) -> Result<End> {
    let sides = args.n.map_or(SIDES.to_vec(), |n| vec![n.clamp(4, 200)]);
    let threads = rayon::current_num_threads();
    if !args.json {
        println!("{threads} threads, load {:.1}", clock::load().unwrap_or(f64::NAN));
        println!(
            "                      ms a step   iterations   ns a node: forces assembly   an iteration   in a row   ratio"
        );
    }
    let mut rows = Vec::new();
    for (name, formulation) in MODELS {
        for &n in &sides {
            let row = measure(args, name, formulation, n)?;
            if !args.json {
                let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
                println!(
                    "{name:9} {:8} {:12.1} {:12.1} {:19.1} {:8.1} {:14.2} {:10.2} {:7.2}",
                    row["nodes"],
                    number("ms_per_step"),
                    number("iterations_per_step"),
                    number("ns_forces"),
                    number("ns_assembly"),
                    number("ns_iteration"),
                    number("ns_in_a_row"),
                    number("ratio")
                );
            }
            rows.push(row);
        }
    }
    if args.json {
        println!("{}", json!({ "workload": "scaling", "threads": threads, "load": clock::load(), "rows": rows }));
    }
    Ok(End::Done)
}

fn measure(args: &Bench, name: &str, formulation: &str, n: usize) -> Result<Value> {
    let set = format!("body.block.formulation={formulation}");
    let opened = open_work("w2", n, args.dt, false, &[&set])?;
    let mut world = World::new(opened.built.model);
    let body = &world.model().bodies[0];
    let (nodes, pairs) = (body.len(), body.shape.tetrahedra().map_or(0, |t| t.edges().len()));
    clock::measure(&mut world, 1, f64::INFINITY, |_| ())?;
    let cost = clock::measure(&mut world, STEPS, SECONDS, |_| ())?;
    let [forces, assembly, solve, ..] = cost.ms().map(|ms| 1e6 * ms / nodes as f64);
    let iterations = cost.iterations_per_step();
    let bytes = 2 * pairs * BLOCK + nodes * VECTORS;
    let iteration = solve / iterations.max(1.0);
    let in_a_row = 1e9 * read(bytes) / nodes as f64;
    let mut row = cost.json();
    let figures = json!({
        "model": name, "nodes": nodes, "pairs": pairs, "bytes_per_iteration": bytes, "ns_forces": forces,
        "ns_assembly": assembly, "ns_iteration": iteration, "ns_in_a_row": in_a_row, "ratio": iteration / in_a_row,
    });
    if let (Value::Object(row), Value::Object(figures)) = (&mut row, figures) {
        row.extend(figures);
    }
    Ok(row)
}

/// Seconds to read so many bytes in a row, each thread its own part, the best of several times.
fn read(bytes: usize) -> f64 {
    let threads = rayon::current_num_threads();
    // The matrix is read twice: half as much memory.
    let numbers: Vec<f32> = vec![1.0; (bytes / 8).max(1)];
    let part = numbers.len().div_ceil(threads);
    let once = || -> f32 {
        (numbers.par_chunks(part))
            .map(|part| {
                let mut sums = [0.0f32; 32];
                for some in part.chunks_exact(32) {
                    sums.iter_mut().zip(some).for_each(|(sum, v)| *sum += v);
                }
                sums.iter().sum::<f32>()
            })
            .sum()
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
