//! What a hybrid step costs beside the back-substitution it cannot do without.
//!
//! ```text
//! cargo bench -p goop --bench hybrid                 64², 128² and 256² nodes
//! cargo bench -p goop --bench hybrid -- 32 100       other sides
//! cargo bench -p goop --bench hybrid -- --json       one line of JSON beside the table
//! ```
//! The body is a free flat sheet that spins: two scalar factors, one for both directions in its plane and one
//! across it. Bare is the sparse library alone, solving those three right sides with the same factors. The
//! step has no contact and no output; its account is kept. Best of several runs, the median beside it.

#![allow(clippy::print_stdout)] // its output is its purpose

use glam::DVec3;
use goop::model::StepSettings;
use goop::solve::{LinearSolver, SparseCholesky, SparseMatrix};
use goop::{Axes, Body, Material, Model, Shape, World};
use std::time::Instant;

const DT: f64 = 1.0 / 240.0;

fn sheet(side: usize) -> Body {
    let card = Material { young: 1e7, thickness: 2e-3, damping: 0.05, ..Material::default() };
    let mut body = Body::new("sheet", Shape::rectangle([1.0, 1.0], [side, side]).unwrap(), card, Axes::HYBRID);
    body.start.spin = DVec3::new(0.3, 1.0, 0.2);
    body
}

/// Best and median time of a call (s).
fn time(mut call: impl FnMut()) -> [f64; 2] {
    call();
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 9 || (start.elapsed().as_secs_f64() < 3.0 && times.len() < 400) {
        let from = Instant::now();
        call();
        times.push(from.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    [times[0], times[times.len() / 2]]
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut sides: Vec<usize> = args.iter().filter_map(|a| a.parse().ok()).filter(|&n| n > 2).collect();
    if sides.is_empty() {
        sides = vec![64, 128, 256];
    }
    println!("{} threads", rayon::current_num_threads());
    println!("  nodes   factor    prepare   bare ms  median   step ms  median   ratio  ns/node");
    let mut lines = Vec::new();
    for side in sides {
        let body = sheet(side);
        let n = body.len();
        let from = Instant::now();
        let elastic = body.elastic.as_ref().expect("hybrid bodies have an elasticity");
        let linear = elastic.linear(&elastic.memory(), false).expect("a grid");
        let beta = elastic.spline().map_or(0.0, |s| s.damping_time);
        let mut entries = 0;
        let mut factors: Vec<(usize, usize, SparseCholesky)> = (linear.groups.iter())
            .map(|group| {
                let k = &group.matrix;
                let mut a = SparseMatrix { values: k.values.iter().map(|v| (DT + beta) * v).collect(), ..k.clone() };
                for i in 0..n {
                    let p = a.column_start[i];
                    a.values[p] += body.masses[i] / DT;
                }
                let mut factor = SparseCholesky::default();
                assert!(factor.factorise(&a), "positive definite");
                entries += factor.entries();
                (group.plane, group.columns, factor)
            })
            .collect();
        let prepare = from.elapsed().as_secs_f64();
        let right: Vec<f64> = (0..3 * n).map(|i| (i as f64 * 0.37).sin()).collect();
        let mut x = right.clone();
        let bare = time(|| {
            x.copy_from_slice(&right);
            for (plane, columns, factor) in &mut factors {
                factor.substitute(&mut x[*plane * n..(*plane + *columns) * n], *columns);
            }
        });
        drop(factors);
        let step = StepSettings { dt: DT, adaptive: false, ..StepSettings::default() };
        let mut world = World::new(Model { bodies: vec![body], step, ..Model::default() });
        let whole = time(|| {
            world.step().expect("the step is stable");
        });
        let ratio = whole[0] / bare[0];
        println!(
            "{n:7} {entries:9} {prepare:8.2} s {:9.3} {:8.3} {:9.3} {:8.3} {ratio:7.2} {:8.1}",
            bare[0] * 1e3,
            bare[1] * 1e3,
            whole[0] * 1e3,
            whole[1] * 1e3,
            whole[0] * 1e9 / n as f64
        );
        lines.push(format!(r#"{{"nodes":{n},"factor":{entries},"prepare":{prepare:.4},"bare":{:.4e},"step":{:.4e},"ratio":{ratio:.3}}}"#, bare[0], whole[0]));
    }
    if args.iter().any(|a| a == "--json") {
        println!("[{}]", lines.join(","));
    }
}
