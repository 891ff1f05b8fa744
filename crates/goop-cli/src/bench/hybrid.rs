//! What a hybrid step costs beside the back-substitution it cannot do without.
//!
//! The body is a free flat sheet that spins: two scalar factors, one for both directions in its plane and one
//! across it. Bare is the sparse library alone, solving those three right sides with the same factors. The
//! step has no contact and no output; its account is kept. Best of several calls, the median beside it.

use super::clock;
use crate::End;
use crate::args::Bench;
use anyhow::{Result, anyhow};
use glam::DVec3;
use goop::model::StepSettings;
use goop::solve::{LinearSolver, SparseCholesky, SparseMatrix};
use goop::{Axes, Body, Material, Model, Shape, World};
use serde_json::{Value, json};
use std::time::Instant;

const DT: f64 = 1.0 / 240.0;
/// Calls are repeated for about so long (s), at least and at most so often.
const LONG: f64 = 3.0;
const CALLS: std::ops::RangeInclusive<usize> = 9..=400;

/// `goop bench hybrid`
pub fn run(args: &Bench) -> Result<End> {
    let sides = args.n.map_or(vec![64, 128, 256], |n| vec![n.clamp(3, 1000)]);
    if !args.json {
        println!("{} threads, load {:.1}", rayon::current_num_threads(), clock::load().unwrap_or(f64::NAN));
        println!("  nodes   factor    prepare   bare ms  median   step ms  median   ratio  ns/node");
    }
    let mut rows: Vec<Value> = Vec::new();
    for side in sides {
        let row = measure(side, args.json)?;
        rows.push(row);
    }
    if args.json {
        let object = json!({
            "workload": "hybrid", "dt": DT, "threads": rayon::current_num_threads(), "load": clock::load(),
            "wall_per_second": rows[0]["wall_per_second"], "cpu_per_second": rows[0]["cpu_per_second"],
            "quality": { "ratios": rows.iter().map(|r| r["ratio"].clone()).collect::<Vec<_>>() },
            "rows": rows,
        });
        println!("{object}");
    }
    Ok(End::Done)
}

/// A free sheet that spins.
pub(super) fn sheet(side: usize) -> Result<Body> {
    let card = Material { young: 1e7, thickness: 2e-3, damping: 0.05, ..Material::default() };
    let mut body = Body::new("sheet", Shape::rectangle([1.0, 1.0], [side, side])?, card, Axes::HYBRID);
    body.start.spin = DVec3::new(0.3, 1.0, 0.2);
    Ok(body)
}

/// Alone in the world.
pub(super) fn world(body: Body) -> World {
    let step = StepSettings { dt: DT, adaptive: false, ..StepSettings::default() };
    World::new(Model { bodies: vec![body], step, ..Model::default() })
}

/// Its matrices, one for each group of planes.
fn matrices(body: &Body) -> Result<Vec<(usize, usize, SparseMatrix)>> {
    let elastic = body.elastic.as_ref().ok_or_else(|| anyhow!("a hybrid body without elasticity"))?;
    let linear = elastic.linear(&elastic.memory(), false).ok_or_else(|| anyhow!("a hybrid body without a grid"))?;
    let beta = elastic.spline().map_or(0.0, |s| s.damping_time);
    let matrix = |k: &SparseMatrix| {
        let mut a = SparseMatrix { values: k.values.iter().map(|v| (DT + beta) * v).collect(), ..k.clone() };
        for i in 0..body.len() {
            let p = a.column_start[i];
            a.values[p] += body.masses[i] / DT;
        }
        a
    };
    Ok(linear.groups.iter().map(|group| (group.plane, group.columns, matrix(&group.matrix))).collect())
}

/// Bytes that a step has to read: of factors, twice; where there are none, those of an iteration, matrix and
/// incomplete factor with five vectors a column.
pub(super) fn bytes(body: &Body) -> Result<usize> {
    let direct = body.len() <= goop::solve::DIRECT_UP_TO[1];
    let mut bytes = 0;
    for (_, _, matrix) in matrices(body)? {
        if direct {
            let mut factor = SparseCholesky::plain();
            anyhow::ensure!(factor.factorise(&matrix), "the matrix is not positive definite");
            bytes += 2 * 8 * factor.entries();
        } else {
            // Iterations are counted by column.
            bytes = bytes.max(3 * 16 * matrix.values.len() + 5 * 8 * matrix.size);
        }
    }
    Ok(bytes)
}

/// Best and median time of a call (s).
fn time(mut call: impl FnMut() -> Result<()>) -> Result<[f64; 2]> {
    call()?;
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < *CALLS.start() || (start.elapsed().as_secs_f64() < LONG && times.len() < *CALLS.end()) {
        let from = Instant::now();
        call()?;
        times.push(from.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok([times[0], times[times.len() / 2]])
}

fn measure(side: usize, quiet: bool) -> Result<Value> {
    let body = sheet(side)?;
    let n = body.len();
    let from = Instant::now();
    let mut entries = 0;
    let mut factors: Vec<(usize, usize, SparseCholesky)> = Vec::new();
    for (plane, columns, matrix) in matrices(&body)? {
        let mut factor = SparseCholesky::plain();
        anyhow::ensure!(factor.factorise(&matrix), "the matrix is not positive definite");
        entries += factor.entries();
        factors.push((plane, columns, factor));
    }
    let prepare = from.elapsed().as_secs_f64();
    let right: Vec<f64> = (0..3 * n).map(|i| (i as f64 * 0.37).sin()).collect();
    let mut x = right.clone();
    let bare = time(|| {
        x.copy_from_slice(&right);
        for (plane, columns, factor) in &mut factors {
            factor.substitute(&mut x[*plane * n..(*plane + *columns) * n], *columns);
        }
        Ok(())
    })?;
    drop(factors);
    let before = clock::resident();
    let mut world = world(body);
    let whole = time(|| {
        world.step()?;
        Ok(())
    })?;
    let cost = clock::measure(&mut world, 20, 2.0, |_| ())?;
    let ratio = whole[0] / bare[0];
    if !quiet {
        println!(
            "{n:7} {entries:9} {prepare:8.2} s {:9.3} {:8.3} {:9.3} {:8.3} {ratio:7.2} {:8.1}",
            bare[0] * 1e3,
            bare[1] * 1e3,
            whole[0] * 1e3,
            whole[1] * 1e3,
            whole[0] * 1e9 / n as f64
        );
    }
    let mut object = cost.json();
    object["nodes"] = n.into();
    object["bytes_per_node"] = before.zip(clock::resident()).map(|(a, b)| (b - a).max(0.0) / n as f64).into();
    object["factor_entries"] = entries.into();
    object["prepare_seconds"] = prepare.into();
    object["bare_ms"] = (1e3 * bare[0]).into();
    object["step_ms"] = (1e3 * whole[0]).into();
    object["ratio"] = ratio.into();
    Ok(object)
}
