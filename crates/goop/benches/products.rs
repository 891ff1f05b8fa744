//! Which way to multiply by the matrix of an implicit step is fastest: one system, three kernels.
//!
//! ```text
//! cargo bench -p goop --bench products
//! cargo bench -p goop --bench products -- 24 46       cubes with these sides
//! ```
//! The system is M + h D + h² K of a jelly cube of springs at 1/60 s, solved to a residual of 1e-3 by
//!
//! - blocks in double precision: conjugate gradients with inverse diagonal blocks (`solve::cg`);
//! - blocks in single precision, swept, and the same with springs as links, 16 bytes in the place of 36: what a step of
//!   springs does when left to itself (`solve::single`);
//! - no matrix: the same iteration as the first in single precision, blocks made from the springs as they are needed,
//!   a d + e (e·d) of the difference d between two nodes. A spring takes 20 bytes in the place of 76.
//!
//! The bound is the bytes of an iteration over the bandwidth of a triad of that size, measured beside it. Every figure is
//! the best of several runs; `RAYON_NUM_THREADS` sets the threads.

#![allow(clippy::print_stdout)] // its output is its purpose

#[allow(dead_code)]
#[path = "kernels/limits.rs"]
mod limits;

use glam::{DMat3, DVec3, Mat3A, Vec3A};
use goop::Shape;
use goop::elastic::{Elasticity, Weights, lattice};
use goop::material::Material;
use goop::parallel::{Chunks, Disjoint};
use goop::solve::{BlockMatrix, Settings, Start, cg, single};
use std::time::Instant;

const H: f64 = 1.0 / 60.0;
const TOLERANCE: f64 = 1e-3;
/// A node's vector and block in single precision, four wide (bytes).
const SINGLE: usize = 16;
const SINGLE_BLOCK: usize = 48;
/// The same in double precision.
const DOUBLE: usize = 24;
const DOUBLE_BLOCK: usize = 72;

struct System {
    matrix: BlockMatrix,
    /// The same as links.
    links: BlockMatrix,
    free: Vec<bool>,
    right: Vec<DVec3>,
}

/// A cube one metre wide whose bottom is held, a little out of shape, at rest under its weight.
fn system(side: usize) -> System {
    let jelly = Material { density: 1000.0, young: 3e4, poisson: 0.25, damping: 0.05, ..Material::default() };
    let shape = Shape::block(DVec3::ONE, [side; 3]).expect("a valid block");
    let springs = lattice::springs(&shape, &jelly.into());
    let wave = |r: DVec3| DVec3::new((7.0 * r.y).sin(), (5.0 * r.z).cos(), (6.0 * r.x).sin());
    let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| r + 0.01 * wave(r)).collect();
    let (n, mass) = (shape.len(), 1000.0 / shape.len() as f64);
    let mut matrix = springs.structure();
    let mut links = matrix.clone();
    let free: Vec<bool> = shape.rest_positions.iter().map(|r| r.y > -0.5 + 1e-9).collect();
    links.arrange(&free);
    links.clear_for(false, true);
    for matrix in [&mut matrix, &mut links] {
        springs.stiffness(&springs.memory(), &x, Weights { position: H * H, velocity: H }, false, matrix);
        (0..n).for_each(|i| matrix.add_diagonal(i, DMat3::from_diagonal(DVec3::splat(mass))));
    }
    let (mut force, mut damping) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    springs.forces(&springs.memory(), &x, &vec![DVec3::ZERO; n], &mut force, &mut damping);
    let right = force.iter().map(|f| H * (*f - 9.81 * mass * DVec3::Y)).collect();
    System { matrix, links, free, right }
}

/// A spring seen from one of its nodes.
#[derive(Clone, Copy)]
struct Spring {
    other: u32,
    across: f32,
    along: [f32; 3],
}

/// The same matrix as springs.
struct Free<'a> {
    system: &'a System,
    chunks: Chunks,
    starts: Vec<u32>,
    springs: Vec<Spring>,
    masses: Vec<f32>,
    inverse: Vec<Mat3A>,
    vectors: [Vec<Vec3A>; 4],
}

impl<'a> Free<'a> {
    fn new(system: &'a System) -> Self {
        let (n, matrix) = (system.matrix.nodes(), &system.matrix);
        let (mut starts, mut springs) = (vec![0], Vec::new());
        let mut rest: Vec<DMat3> = (0..n).map(|i| matrix.diagonal(i)).collect();
        let chunks = matrix.chunks();
        for i in 0..n {
            for (j, block) in matrix.row(i).filter(|(j, _)| *j != i) {
                let (across, along) = taken_apart(-block);
                springs.push(Spring { other: j as u32, across: across as f32, along: along.as_vec3().to_array() });
                rest[i] += block;
                if chunks.of(i) == chunks.of(j) {
                    rest[j] += block;
                }
            }
            starts.push(springs.len() as u32);
        }
        // What is left of the diagonal is the mass.
        let masses = rest.iter().map(|m| m.x_axis.x as f32).collect();
        let block = |i: usize| if system.free[i] { matrix.diagonal(i).inverse() } else { DMat3::ZERO };
        let inverse = (0..n).map(|i| block(i).as_mat3().into()).collect();
        Self { system, chunks, starts, springs, masses, inverse, vectors: Default::default() }
    }

    /// y = A x, and x·y
    fn product(&self, x: &[Vec3A], y: &mut [Vec3A]) -> f64 {
        let y = Disjoint::new(y);
        let [sum] = self.chunks.sum(|_, range| {
            // SAFETY: chunks are disjoint.
            let y = unsafe { y.slice(range.clone()) };
            for (y, i) in y.iter_mut().zip(range.clone()) {
                *y = self.masses[i] * x[i];
            }
            for i in range.clone() {
                let (own, mut sum) = (x[i], Vec3A::ZERO);
                for spring in &self.springs[self.starts[i] as usize..self.starts[i + 1] as usize] {
                    let (j, along) = (spring.other as usize, Vec3A::from_array(spring.along));
                    let d = own - x[j];
                    let force = spring.across * d + along.dot(d) * along;
                    sum += force;
                    if range.contains(&j) {
                        y[j - range.start] -= force;
                    }
                }
                y[i - range.start] += sum;
            }
            let free = &self.system.free;
            [range.clone().filter(|&i| free[i]).map(|i| f64::from(x[i].dot(y[i - range.start]))).sum()]
        });
        sum
    }

    /// Conjugate gradients; iterations and the solution.
    fn solve(&mut self, most: usize, tolerance: f64) -> (usize, Vec<DVec3>) {
        let n = self.system.matrix.nodes();
        let [mut x, mut r, mut p, mut q] = std::mem::take(&mut self.vectors);
        for vector in [&mut x, &mut r, &mut p, &mut q] {
            vector.resize(n, Vec3A::ZERO);
        }
        let (free, right, inverse) = (&self.system.free, &self.system.right, &self.inverse);
        for i in 0..n {
            r[i] = if free[i] { right[i].as_vec3a() } else { Vec3A::ZERO };
            (x[i], p[i]) = (Vec3A::ZERO, inverse[i] * r[i]);
        }
        let dot = |a: &[Vec3A], b: &[Vec3A]| -> f64 {
            self.chunks.sum(|_, range| [range.map(|i| f64::from(a[i].dot(b[i]))).sum()])[0]
        };
        let (mut rz, norm) = (dot(&r, &p), dot(&r, &r));
        let mut iterations = 0;
        while iterations < most {
            let alpha = (rz / self.product(&p, &mut q)) as f32;
            let (xs, rs, qs) = (Disjoint::new(&mut x), Disjoint::new(&mut r), Disjoint::new(&mut q));
            let [next, left] = self.chunks.sum(|_, range| {
                // SAFETY: chunks are disjoint, here and below.
                let (x, r, q) = unsafe { (xs.slice(range.clone()), rs.slice(range.clone()), qs.slice(range.clone())) };
                let mut sums = [0.0; 2];
                for (k, i) in range.enumerate() {
                    x[k] += alpha * p[i];
                    r[k] = if free[i] { r[k] - alpha * q[k] } else { Vec3A::ZERO };
                    q[k] = inverse[i] * r[k];
                    sums[0] += f64::from(r[k].dot(q[k]));
                    sums[1] += f64::from(r[k].length_squared());
                }
                sums
            });
            iterations += 1;
            let beta = (next / rz) as f32;
            rz = next;
            if left <= tolerance * tolerance * norm {
                break;
            }
            let ps = Disjoint::new(&mut p);
            self.chunks.each(|_, range| {
                // SAFETY: as above.
                let p = unsafe { ps.slice(range.clone()) };
                p.iter_mut().zip(&q[range]).for_each(|(p, z)| *p = *z + beta * *p);
            });
        }
        let found = x.iter().map(|x| x.as_dvec3()).collect();
        self.vectors = [x, r, p, q];
        (iterations, found)
    }
}

/// a and e of a block a I + e eᵀ: e along its largest axis, found by turning a vector to it.
fn taken_apart(block: DMat3) -> (f64, DVec3) {
    let mut axis = (0..3).map(|k| block.col(k)).fold(DVec3::ZERO, |a, b| if b.length() > a.length() { b } else { a });
    for _ in 0..60 {
        axis = (block * axis.normalize_or(DVec3::X)).normalize_or(DVec3::X);
    }
    let largest = axis.dot(block * axis);
    let trace = block.x_axis.x + block.y_axis.y + block.z_axis.z;
    let across = 0.5 * (trace - largest);
    (across, axis * (largest - across).max(0.0).sqrt())
}

/// Best seconds of several runs.
fn best(mut work: impl FnMut() -> usize) -> (f64, usize) {
    let (start, mut least, mut count) = (Instant::now(), f64::INFINITY, 0);
    for run in 0.. {
        let begin = Instant::now();
        count = work();
        least = least.min(begin.elapsed().as_secs_f64());
        if run >= 4 && start.elapsed().as_secs_f64() > 1.5 {
            break;
        }
    }
    (least, count)
}

fn residual(system: &System, x: &[DVec3]) -> f64 {
    let mut y = vec![DVec3::ZERO; x.len()];
    system.matrix.product(&system.free, x, &mut y);
    let free = || (0..x.len()).filter(|&i| system.free[i]);
    let left: f64 = free().map(|i| (system.right[i] - y[i]).length_squared()).sum();
    (left / free().map(|i| system.right[i].length_squared()).sum::<f64>()).sqrt()
}

fn main() {
    let sides: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).filter(|&n| n > 2).collect();
    let sides = if sides.is_empty() { vec![24, 46] } else { sides };
    println!("{} threads; residual {TOLERANCE:.0e}, steps of 1/60 s", rayon::current_num_threads());
    println!(
        "  nodes  kernel                        ms a solve  iterations  µs an iteration  MB an iteration  bound µs  over it"
    );
    for side in sides {
        let system = system(side);
        let (n, matrix) = (system.matrix.nodes(), &system.matrix);
        let pairs = matrix.blocks() - n;
        let mut lines = Vec::new();

        let settings = Settings { tolerance: TOLERANCE, max_iterations: 5000, ..Settings::default() };
        let short = |count| Settings { tolerance: 0.0, max_iterations: count, ..settings };
        let mut x = vec![DVec3::ZERO; n];
        let mut scratch = cg::Scratch::default();
        let mut double = |settings: &Settings, x: &mut [DVec3]| {
            x.fill(DVec3::ZERO);
            scratch.solve(settings, matrix, &system.free, &system.right, x).iterations
        };
        let (time, iterations) = best(|| double(&settings, &mut x));
        assert!(residual(&system, &x) < 1.1 * TOLERANCE);
        let one = (best(|| double(&short(11), &mut x)).0 - best(|| double(&short(1), &mut x)).0) / 10.0;
        lines.push((
            "blocks, double precision",
            time,
            iterations,
            one,
            pairs * 76 + n * (2 * DOUBLE_BLOCK + 9 * DOUBLE),
        ));

        for (name, matrix, block) in
            [("blocks, single, swept", &system.matrix, 36), ("links, single, swept (default)", &system.links, 16)]
        {
            let mut scratch = single::Scratch::default();
            let mut swept = |settings: &Settings, x: &mut [DVec3]| {
                x.fill(DVec3::ZERO);
                scratch.solve(settings, matrix, &system.free, &system.right, x, Start::Zero, false).iterations
            };
            let (time, iterations) = best(|| swept(&settings, &mut x));
            assert!(residual(&system, &x) < 1.1 * TOLERANCE);
            // Its rounds end by themselves: two solves of one round differ by whole iterations.
            let loose = |tolerance| Settings { tolerance, ..settings };
            let (long, many) = best(|| swept(&loose(3e-3), &mut x));
            let (brief, few) = best(|| swept(&loose(0.3), &mut x));
            let one = (long - brief) / (many - few).max(1) as f64;
            // Every block in both sweeps; r, p, x, t, S t and S back, t, p, q, sums and S forth, r and q at the end.
            lines.push((name, time, iterations, one, pairs * 2 * block + n * 240));
        }

        let mut springs = Free::new(&system);
        let (time, iterations) = best(|| springs.solve(5000, 0.9 * TOLERANCE).0);
        let found = springs.solve(5000, 0.9 * TOLERANCE).1;
        assert!(
            residual(&system, &found) < 1.1 * TOLERANCE,
            "the springs are not the matrix: {}",
            residual(&system, &found)
        );
        let one = (best(|| springs.solve(11, 0.0).0).0 - best(|| springs.solve(1, 0.0).0).0) / 10.0;
        lines.push((
            "no matrix, single precision",
            time,
            iterations,
            one,
            pairs * 20 + n * (4 + SINGLE_BLOCK + 10 * SINGLE),
        ));

        for (name, time, iterations, one, bytes) in lines {
            let bound = bytes as f64 / limits::bandwidth(bytes, matrix.chunks().count());
            println!(
                "{n:7}  {name:32} {:7.2} {iterations:11} {:16.1} {:16.2} {:9.1} {:8.2}",
                1e3 * time,
                1e6 * one,
                1e-6 * bytes as f64,
                1e6 * bound,
                one / bound
            );
        }
    }
}
