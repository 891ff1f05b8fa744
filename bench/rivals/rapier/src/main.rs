//! Runs a workload in rapier and prints one line of JSON: cost and quality.
//!
//! ```text
//! rapier-rival w1 64 16     cloth of 64 x 64 nodes, 16 substeps
//! rapier-rival w2 13 fem    block by finite elements; "constraints" for the other solver
//! rapier-rival w3 64 16     cloth over a ball
//! ```

use rapier3d::prelude::*;
use std::time::Instant;

const FPS: usize = 60;
const BALL: f32 = 0.3;

/// Processor time of this process (s), from the system's own account of it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or("");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |k: usize| fields.get(k).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// A number given on the command line.
fn number(word: &str, what: &str) -> usize {
    word.parse().unwrap_or_else(|_| {
        eprintln!("'{word}' is no number of {what}: give a whole one");
        std::process::exit(2)
    })
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() < 4 {
        eprintln!("usage: rapier-rival w1|w2|w3 NODES SUBSTEPS|fem|constraints");
        std::process::exit(2);
    }
    let (work, n, how) = (words[1].as_str(), number(&words[2], "nodes along a side"), words[3].as_str());
    let mut world = PhysicsWorld::new();
    world.integration_parameters.dt = 1.0 / FPS as f32;
    let seconds = if work == "w2" { 1 } else { 2 };
    let mut body = if work == "w2" { block(n, how) } else { cloth(work, n) };
    if work != "w2" {
        world.integration_parameters.num_solver_iterations = number(how, "substeps");
        body = body.solver(SoftBodySolver::Constraints);
    }
    if work == "w3" {
        world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(BALL).friction(0.3));
    }
    let start: Vec<Vector> = body.particle_positions().to_vec();
    let handle = world.insert_soft_body(body);

    let (mut wall, mut cpu) = (0.0, 0.0);
    let (mut worst, mut end, mut deepest, mut drop, mut volume) = (0.0f32, 0.0f32, [0.0f32; 2], 0.0f64, 0.0f64);
    let frames = seconds * FPS;
    for frame in 1..=frames {
        let (from, used) = (Instant::now(), processor_seconds());
        world.step();
        wall += from.elapsed().as_secs_f64();
        cpu += processor_seconds() - used;
        let soft = &world.soft_bodies[handle];
        let at = |i: usize| soft.particle_position(i);
        if work == "w2" {
            if 2 * frame > frames {
                let share = 2.0 / frames as f64;
                drop += share * mean_drop(&start, &at);
                volume += share * volume_change(soft, &start);
            }
        } else {
            end = largest_stretch(n, &at);
            worst = worst.max(end);
            if work == "w3" {
                for i in 0..n * n {
                    deepest[0] = deepest[0].max(BALL - at(i).length());
                }
                for row in 0..n - 1 {
                    for column in 0..n - 1 {
                        let k = row * n + column;
                        let middle = (at(k) + at(k + 1) + at(k + n) + at(k + n + 1)) * 0.25;
                        deepest[1] = deepest[1].max(BALL - middle.length());
                    }
                }
            }
        }
    }
    // The account of the system has a hundredth of a second; wall time is finer for short runs on one thread.
    let cpu = if cpu < 1.0 { wall } else { cpu };
    println!(
        "{{\"name\":\"rapier 0.36.1\",\"settings\":\"{how}\",\"cpu_per_second\":{:.4},\"wall_per_second\":{:.4},\
         \"quality\":{{\"end_stretch\":{end:.5},\"worst_stretch\":{worst:.5},\"mean_drop\":{drop:.5},\
         \"volume_change\":{volume:.6},\"node_depth\":{:.6},\"cell_depth\":{:.6}}}}}",
        cpu / seconds as f64,
        wall / seconds as f64,
        deepest[0],
        deepest[1],
    );
}

/// A square metre of 0.2 kg whose edges have the stiffness of 1000 N/m: their frequency follows from the nodes' mass.
fn cloth(work: &str, n: usize) -> SoftBodyBuilder {
    let gap = 1.0 / (n - 1) as f32;
    let height = if work == "w3" { BALL + 0.05 } else { 0.0 };
    let node = 0.2 / (n * n) as f32;
    let frequency = (1000.0 / (0.5 * node)).sqrt() / std::f32::consts::TAU;
    let material = SoftBodyMaterial {
        edge_softness: SpringCoefficients::new(frequency, 1.0),
        bend_softness: SpringCoefficients::new(10.0, 1.0),
        ..Default::default()
    };
    let corner = Vector::new(-0.5, height, -0.5);
    let sheet = SoftBodyBuilder::cloth(corner, Vector::new(gap, 0.0, 0.0), Vector::new(0.0, 0.0, gap), n, n)
        .mass(0.2)
        .material(material)
        .can_sleep(false);
    if work == "w1" {
        sheet.pinned_particles([0, n as u32 - 1]).no_surface_collider()
    } else {
        sheet
    }
}

/// A cubic metre of jelly on a held base.
fn block(n: usize, how: &str) -> SoftBodyBuilder {
    let material = SoftBodyMaterial { young_modulus: 1e5, poisson_ratio: 0.4, ..Default::default() };
    let solver = if how == "fem" { SoftBodySolver::Fem } else { SoftBodySolver::Constraints };
    let block = SoftBodyBuilder::cuboid(Vector::new(0.0, 0.5, 0.0), Vector::splat(0.5), n, n, n)
        .mass(1000.0)
        .cell_model(SoftBodyCellModel::Corotational)
        .material(material)
        .no_surface_collider()
        .can_sleep(false);
    let low: Vec<u32> =
        (0u32..).zip(block.particle_positions()).filter(|(_, p)| p.y < 1e-4).map(|(i, _)| i).collect();
    block.pinned_particles(low).solver(solver)
}

fn largest_stretch(n: usize, at: &dyn Fn(usize) -> Vector) -> f32 {
    let rest = 1.0 / (n - 1) as f32;
    let mut largest = 0.0f32;
    for row in 0..n {
        for column in 0..n {
            let here = at(row * n + column);
            if column + 1 < n {
                largest = largest.max((at(row * n + column + 1) - here).length() / rest - 1.0);
            }
            if row + 1 < n {
                largest = largest.max((at((row + 1) * n + column) - here).length() / rest - 1.0);
            }
        }
    }
    largest
}

fn mean_drop(start: &[Vector], at: &dyn Fn(usize) -> Vector) -> f64 {
    let top: Vec<usize> = (0..start.len()).filter(|&i| start[i].y > 0.9999).collect();
    top.iter().map(|&i| f64::from(start[i].y - at(i).y)).sum::<f64>() / top.len() as f64
}

fn volume_change(soft: &SoftBody, start: &[Vector]) -> f64 {
    let six_times = |corners: [Vector; 4]| {
        let [a, b, c, d] = corners;
        f64::from((b - a).cross(c - a).dot(d - a)).abs()
    };
    let (mut before, mut after) = (0.0, 0.0);
    for cell in soft.cells() {
        before += six_times(cell.vertices.map(|v| start[v as usize]));
        after += six_times(cell.vertices.map(|v| soft.particle_position(v as usize)));
    }
    after / before - 1.0
}
