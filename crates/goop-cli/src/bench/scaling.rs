//! What a node costs as a body outgrows the caches: the block of workload 2 by springs and by finite elements, and a free
//! hybrid sheet.
//!
//! An iteration of the solver reads the blocks twice, once in each sweep, and the vectors, of which it writes some; a hybrid step
//! reads its factors twice. Beside the time stands that of going through as many bytes in a row with the same threads, as many of them
//! written: what the memory that serves this size allows. Both are taken in turn, as memory that is shared with others is now fast, now
//! slow; what is printed are medians.

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
/// Turns of a step and of going through the bytes, each after one that is not timed.
const TURNS: usize = 7;
/// Vectors of an iteration by node: x, r, p, t, q and S back, p, t, q and S forth (bytes). What a bundle gives to later ones goes
/// round in the nearest caches.
const VECTORS: usize = 192;
/// Those of them that are written: x, r, p and t back, q forth.
const WRITTEN: usize = 60;
/// So many bytes are gone through at a time at least: waking threads is not to count.
const MUCH: usize = 64 << 20;
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
    let bytes = 2 * pairs * block + nodes * VECTORS;
    figures(name, &mut world, [bytes, nodes * WRITTEN], |cost| cost.sweeps / cost.iterations.max(1) as f64)
}

/// A hybrid sheet of so many nodes along a side.
fn sheet(n: usize) -> Result<Value> {
    let body = hybrid::sheet(n)?;
    let bytes = hybrid::bytes(&body)?;
    let mut world = hybrid::world(body);
    figures("hybrid", &mut world, [bytes, 0], |cost| cost.wall / cost.iterations.max(1) as f64)
}

/// `bytes`: in all, and those written; `iteration`: what one takes by what a step cost (s).
fn figures(name: &str, world: &mut World, bytes: [usize; 2], iteration: impl Fn(&Cost) -> f64) -> Result<Value> {
    let nodes = world.model().bodies[0].len();
    let mut row_of_bytes = Row::new(bytes);
    let (mut cost, mut times) = (Cost::default(), [Vec::new(), Vec::new()]);
    for _ in 0..TURNS {
        clock::measure(world, 1, f64::INFINITY, |_| ())?;
        let step = clock::measure(world, 1, f64::INFINITY, |_| ())?;
        times[0].push(iteration(&step));
        cost.add(&step);
        row_of_bytes.pass();
        times[1].push(row_of_bytes.pass());
    }
    let [iteration, in_a_row] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        1e9 * times[TURNS / 2] / nodes as f64
    });
    let [forces, assembly, solve, ..] = cost.ms().map(|ms| 1e6 * ms / nodes as f64);
    let mut row = cost.json();
    let figures = json!({
        "model": name, "nodes": nodes, "bytes_per_iteration": bytes[0], "bytes_written": bytes[1], "ns_forces": forces, "ns_assembly": assembly,
        "ns_solve": solve, "ns_iteration": iteration, "ns_in_a_row": in_a_row, "ratio": iteration / in_a_row,
    });
    if let (Value::Object(row), Value::Object(figures)) = (&mut row, figures) {
        row.extend(figures);
    }
    Ok(row)
}

/// Bytes in a row, each thread its own part.
struct Row {
    /// Half as many as are read: a matrix is read twice.
    lines: Vec<[f32; LINE / 4]>,
    /// What is written has been read: the last of so many lines, where any is.
    every: usize,
    written: bool,
    part: usize,
    /// Passes at a time, so that waking threads does not count.
    times: usize,
}

impl Row {
    fn new([bytes, written]: [usize; 2]) -> Self {
        let lines = vec![[1.0f32; LINE / 4]; ((bytes - written) / (2 * LINE)).max(1)];
        let every = ((bytes - written) as f64 / written.max(1) as f64).round().clamp(1.0, 1e6) as usize;
        let part = lines.len().div_ceil(rayon::current_num_threads()).next_multiple_of(every);
        Self { lines, every, written: written > 0, part, times: 2 * MUCH.div_ceil(bytes) }
    }

    /// Seconds to go through all of them, twice.
    fn pass(&mut self) -> f64 {
        let (start, every, written, times) = (Instant::now(), self.every, self.written, self.times);
        let through = |part: &mut [[f32; LINE / 4]]| -> f32 {
            (0..times).map(|_| std::hint::black_box(once(part, every, written))).sum()
        };
        let sum: f32 = self.lines.par_chunks_mut(self.part).map(through).sum();
        assert!(sum >= 0.0);
        2.0 / times as f64 * start.elapsed().as_secs_f64()
    }
}

fn once(lines: &mut [[f32; LINE / 4]], every: usize, written: bool) -> f32 {
    let mut sums = [0.0f32; LINE / 4];
    for some in lines.chunks_mut(every) {
        let whole = some.len() == every && written;
        for line in &*some {
            sums.iter_mut().zip(line).for_each(|(sum, v)| *sum += v);
        }
        if let Some(last) = some.last_mut().filter(|_| whole) {
            last.iter_mut().zip(&sums).for_each(|(v, sum)| *v = 0.5 * *v + 1e-30 * sum);
        }
    }
    sums.iter().sum()
}
