//! Impulses at nodes of a framed body that hold it at pins and keep it out of obstacles.
//!
//! A node moves over a step, for impulses J in body axes, by
//! ```text
//! Δx_i = Σ_j W_ij J_j,   W_ij = η (h/m - h [s_i]× I⁻¹ [s_j]×) + G_ij,   η = 1/(1 + hκ)
//! ```
//! the frame and the displacement both giving way. A pin wants Δx = gap; a compliant pin of stiffness
//! k adds 1/(hk) to the diagonal. A contact pushes only and holds sideways within the friction cone.
//! Pins alone are solved by conjugate gradients behind the Cholesky factor of W at the
//! reference shape, from which the true W differs by a few ranks; with contacts, by sweeps.
//! W is linear and the frame turns, so the whole is repeated until the gaps close.

use super::factored::{Factored, Prepared};
use super::{cross, get};
use glam::{DMat3, DVec3};

/// A node under an impulse.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// Which node.
    pub node: u32,
    /// Pin, or contact with an obstacle.
    pub kind: Kind,
    /// In all (N s), body axes at the start of the step.
    pub impulse: DVec3,
    /// Part of it that δ and the momenta have already.
    pub applied: DVec3,
    /// How far it is from where it should be (m), same axes.
    pub gap: DVec3,
}

/// What holds a node.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// To a point at the end of the step (m, world); 1/k (m/N), 0 where it is exact; and the point at
    /// its start.
    Pin {
        /// At the end (m).
        target: DVec3,
        /// At the start (m).
        from: DVec3,
        /// 1/k (m/N).
        compliance: f64,
    },
    /// Out of an obstacle.
    Contact {
        /// Which.
        obstacle: u32,
        /// A point of the plane it must not cross (m, world).
        point: DVec3,
        /// Outwards, world.
        normal: DVec3,
        /// The same in body axes.
        outwards: DVec3,
        /// Move of the surface over the step (m, world).
        surface: DVec3,
        /// Coulomb's coefficient.
        friction: f64,
        /// The plane was met on the way and stays.
        fixed: bool,
    },
}

/// What a rigid body would do: inverse mass and inertia (body axes), with η and h.
#[derive(Clone, Copy, Debug)]
pub struct Rigid {
    /// η h/m, a matrix because a planar world blocks a direction.
    pub shift: DMat3,
    /// η h I⁻¹
    pub turn: DMat3,
}

impl Rigid {
    fn response(&self, a: DVec3, b: DVec3) -> DMat3 {
        self.shift - cross(a) * self.turn * cross(b)
    }
}

/// Work space.
#[derive(Debug, Default)]
pub struct Response {
    /// The pins for which `elastic` and `factor` were made, with their compliance.
    pins: Vec<(u32, f64)>,
    /// Which step they belong to.
    dt: f64,
    /// G between pins, dense, column by column.
    elastic: Vec<f64>,
    /// Cholesky factor of W at the reference shape.
    factor: Vec<f64>,
    /// W of pins and contacts.
    matrix: Vec<f64>,
    vectors: [Vec<f64>; 5],
    arms: Vec<DVec3>,
    prepared: Vec<Prepared>,
    /// Blocks in a row of `matrix`, and how many of them are made for this step.
    stride: usize,
    made: usize,
}

const SWEEPS: usize = 300;
/// Multiplications that sweeps of one round may cost.
const MOST_PRODUCTS: usize = 300_000_000;

impl Response {
    /// Forgets what was made for another matrix.
    pub fn clear(&mut self) {
        self.pins.clear();
        self.dt = 0.0;
    }

    /// A new step: arms have moved.
    pub fn begin(&mut self) {
        self.made = 0;
    }

    /// Adds to every impulse what closes the gaps.
    pub fn solve(
        &mut self,
        holds: &mut [Hold],
        factored: &Factored,
        rigid: Rigid,
        at_reference: Rigid,
        shape: [&[f64]; 2],
        project: Option<DVec3>,
    ) {
        let n = shape[0].len() / 3;
        self.arms.clear();
        self.arms.extend(holds.iter().map(|h| get(shape[0], n, h.node as usize) + get(shape[1], n, h.node as usize)));
        // A cache of columns that had to start anew has given its nodes other places.
        self.prepared.clear();
        self.prepared.extend(holds.iter().map(|h| factored.prepared(h.node)));
        if holds.iter().all(|h| matches!(h.kind, Kind::Pin { .. })) {
            self.prepare(holds, factored, at_reference, shape[0], project);
            self.iterate(holds, rigid, factored.dt);
        } else {
            self.assemble(holds, factored, rigid, project);
            self.sweep(holds, factored.dt, project);
        }
    }

    /// G between all pins and the factor at the reference shape, unless they are there already.
    fn prepare(&mut self, holds: &[Hold], factored: &Factored, rigid: Rigid, r: &[f64], project: Option<DVec3>) {
        let pins = holds.iter().map(|h| (h.node, compliance(h)));
        if self.dt == factored.dt && self.pins.len() == holds.len() && self.pins.iter().copied().eq(pins.clone()) {
            return;
        }
        self.dt = factored.dt;
        self.pins.clear();
        self.pins.extend(pins);
        let (k, n) = (holds.len(), r.len() / 3);
        let size = 3 * k;
        self.elastic.clear();
        self.elastic.resize(size * size, 0.0);
        self.factor.clear();
        self.factor.resize(size * size, 0.0);
        for j in 0..k {
            for i in 0..k {
                let (a, b) = (holds[i].node, holds[j].node);
                let g = projected(factored.response(&self.prepared[i], &self.prepared[j]), project);
                let w = g + rigid.response(get(r, n, a as usize), get(r, n, b as usize));
                for c in 0..3 {
                    for row in 0..3 {
                        self.elastic[(3 * j + c) * size + 3 * i + row] = g.col(c)[row];
                        self.factor[(3 * j + c) * size + 3 * i + row] = w.col(c)[row];
                    }
                }
            }
            for c in 0..3 {
                self.factor[(3 * j + c) * (size + 1)] += compliance(&holds[j]) / factored.dt;
            }
        }
        cholesky(&mut self.factor, size);
    }

    /// out = W x for pins.
    fn product(&self, rigid: Rigid, holds: &[Hold], dt: f64, x: &[f64], out: &mut [f64]) {
        let size = x.len();
        out.fill(0.0);
        for (j, column) in self.elastic.chunks_exact(size).enumerate() {
            out.iter_mut().zip(column).for_each(|(o, c)| *o += x[j] * c);
        }
        let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for (i, arm) in self.arms.iter().enumerate() {
            let impulse = DVec3::from_slice(&x[3 * i..]);
            push += impulse;
            torque += arm.cross(impulse);
        }
        let (shift, turn) = (rigid.shift * push, rigid.turn * torque);
        for (i, arm) in self.arms.iter().enumerate() {
            let moved = shift + turn.cross(*arm);
            let soft = compliance(&holds[i]) / dt;
            (0..3).for_each(|c| out[3 * i + c] += moved[c] + soft * x[3 * i + c]);
        }
    }

    fn iterate(&mut self, holds: &mut [Hold], rigid: Rigid, dt: f64) {
        let size = 3 * holds.len();
        let [mut x, mut r, mut z, mut p, mut q] = std::mem::take(&mut self.vectors);
        for v in [&mut x, &mut r, &mut z, &mut p, &mut q] {
            v.clear();
            v.resize(size, 0.0);
        }
        for (i, hold) in holds.iter().enumerate() {
            let gap = hold.gap - compliance(hold) / dt * hold.impulse;
            r[3 * i..3 * i + 3].copy_from_slice(&gap.to_array());
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let first = dot(&r, &r);
        let mut rz = 0.0;
        for iteration in 0..60 {
            if dot(&r, &r) <= 1e-26 * first {
                break;
            }
            z.copy_from_slice(&r);
            backward(&self.factor, size, &mut z);
            let old = rz;
            rz = dot(&r, &z);
            let beta = if iteration > 0 && old > 0.0 { rz / old } else { 0.0 };
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
            self.product(rigid, holds, dt, &p, &mut q);
            let curve = dot(&p, &q);
            if !(curve > 0.0 && rz > 0.0) {
                break;
            }
            let alpha = rz / curve;
            for k in 0..size {
                x[k] += alpha * p[k];
                r[k] -= alpha * q[k];
            }
        }
        for (i, hold) in holds.iter_mut().enumerate() {
            hold.impulse += DVec3::from_slice(&x[3 * i..]);
        }
        self.vectors = [x, r, z, p, q];
    }

    fn assemble(&mut self, holds: &[Hold], factored: &Factored, rigid: Rigid, project: Option<DVec3>) {
        let k = holds.len();
        if self.stride < k {
            self.stride = k.next_power_of_two();
            self.matrix.clear();
            self.matrix.resize(9 * self.stride * self.stride, 0.0);
            self.made = 0;
        }
        // Holds are only added within a step.
        for j in self.made..k {
            for i in 0..=j {
                let g = projected(factored.response(&self.prepared[i], &self.prepared[j]), project);
                let w = g + rigid.response(self.arms[i], self.arms[j]);
                self.place(j, i).copy_from_slice(&w.to_cols_array());
                self.place(i, j).copy_from_slice(&w.transpose().to_cols_array());
            }
        }
        self.made = k;
    }

    /// Block (row, column) of W.
    fn place(&mut self, column: usize, row: usize) -> &mut [f64] {
        let at = 9 * (column * self.stride + row);
        &mut self.matrix[at..at + 9]
    }

    fn block(&self, column: usize, row: usize) -> DMat3 {
        let at = 9 * (column * self.stride + row);
        DMat3::from_cols_slice(&self.matrix[at..at + 9])
    }

    /// Gauss-Seidel, node by node, normal parts first.
    fn sweep(&mut self, holds: &mut [Hold], dt: f64, project: Option<DVec3>) {
        let k = holds.len();
        // Gaps as they are with the impulses so far; they shrink as impulses grow.
        let blocked = project.map_or(DMat3::ZERO, super::outer);
        let mut scale = 0.0f64;
        for hold in holds.iter() {
            scale = scale.max(hold.gap.length());
        }
        // Large sets are swept less in each round: the rounds go on from where these end.
        for _ in 0..(MOST_PRODUCTS / (9 * k * k)).clamp(20, SWEEPS) {
            let mut change = 0.0f64;
            for j in 0..k {
                let w = self.block(j, j);
                let (old, gap) = (holds[j].impulse, holds[j].gap);
                let new = match holds[j].kind {
                    Kind::Pin { compliance, .. } => {
                        let soft = DMat3::from_diagonal(DVec3::splat(compliance / dt));
                        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
                        old + (w + soft + blocked * trace).inverse() * (gap - compliance / dt * old)
                    }
                    Kind::Contact { outwards: n, friction, .. } => {
                        let pushed = (old.dot(n) + gap.dot(n) / n.dot(w * n)).max(0.0);
                        // What is left to stop sideways once the normal part has changed.
                        let left = gap - w * ((pushed - old.dot(n)) * n);
                        let flat = left - left.dot(n) * n;
                        let slip = flat.length();
                        let mut tangent = old - old.dot(n) * n;
                        if slip > 0.0 {
                            let t = flat / slip;
                            tangent += flat / t.dot(w * t);
                        }
                        pushed * n + tangent.clamp_length_max(friction * pushed)
                    }
                };
                let delta = new - old;
                if delta == DVec3::ZERO || !delta.is_finite() {
                    continue;
                }
                holds[j].impulse = new;
                for i in 0..k {
                    holds[i].gap -= self.block(j, i) * delta;
                }
                change = change.max((w * delta).length());
            }
            // Rounds go on from here; pins alone are solved to rounding.
            if change <= 1e-7 * scale {
                break;
            }
        }
    }
}

fn compliance(hold: &Hold) -> f64 {
    match hold.kind {
        Kind::Pin { compliance, .. } => compliance,
        Kind::Contact { .. } => 0.0,
    }
}

/// Without a direction that a planar world blocks.
fn projected(matrix: DMat3, axis: Option<DVec3>) -> DMat3 {
    match axis {
        Some(a) => {
            let across = DMat3::IDENTITY - super::outer(a);
            across * matrix * across
        }
        None => matrix,
    }
}

/// Dense Cholesky factor in place, lower, by columns. Directions without an answer of their own,
/// as a planar world has, are left alone.
fn cholesky(a: &mut [f64], size: usize) {
    let largest = (0..size).map(|k| a[k * (size + 1)]).fold(0.0, f64::max);
    for k in 0..size {
        let pivot = a[k * (size + 1)];
        if pivot <= 1e-15 * largest {
            (k..size).for_each(|i| a[k * size + i] = 0.0);
            a[k * (size + 1)] = f64::INFINITY;
            continue;
        }
        let root = pivot.sqrt();
        (k..size).for_each(|i| a[k * size + i] /= root);
        let (left, right) = a.split_at_mut((k + 1) * size);
        let column = &left[k * size..];
        for j in k + 1..size {
            let factor = column[j];
            if factor != 0.0 {
                let to = &mut right[(j - k - 1) * size..(j - k) * size];
                (j..size).for_each(|i| to[i] -= factor * column[i]);
            }
        }
    }
}

/// Solves with the factor.
fn backward(a: &[f64], size: usize, x: &mut [f64]) {
    for k in 0..size {
        x[k] /= a[k * (size + 1)];
        for i in k + 1..size {
            x[i] -= a[k * size + i] * x[k];
        }
    }
    for k in (0..size).rev() {
        let sum: f64 = (k + 1..size).map(|i| a[k * size + i] * x[i]).sum();
        x[k] = (x[k] - sum) / a[k * (size + 1)];
    }
}
