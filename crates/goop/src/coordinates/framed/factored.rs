//! The matrix of one length of step, factored, with all that is made once from it.
//!
//! ```text
//! A = a_M M + a_K K,   a_M = 1/h + κ,   a_K = h + β          for the change of ė over a step
//! A δ + M B λ = b,   Bᵀ M (e + h (ė + δ)) = 0                 B = [1 | -[r]×], the rigid motions
//! δ = A⁻¹b - Y S⁻¹ (Bᵀ M A⁻¹b + d),   Y = A⁻¹ M B,   S = Bᵀ M Y
//! ```
//! Where pins lead the frame there are no multipliers: A δ = b on the free nodes, δ of held ones being known; their
//! rows and columns of A are left out, all but the diagonal.
//!
//! This is h times the matrix M/h² + C/h + K of the displacement itself, with C = κM + βK. λ is
//! the frame's acceleration: μ v̇ and μ ω̇×r. Leaving those terms out is leaving columns of B out.

use super::{get, put};
use crate::crew;
use crate::elastic::Linear;
use crate::elastic::linear::Group;
use crate::model::Terms;
use crate::parallel::Disjoint;
use crate::solve::{LinearSolver, Report, Settings, SparseMatrix, solve_together};
use glam::{DMat3, DVec3};
use std::collections::HashMap;
use std::sync::Arc;

/// Numbers for the six rigid motions.
pub type Six = [f64; 6];

/// A factored step length.
#[derive(Debug)]
pub struct Factored {
    /// The step (s).
    pub dt: f64,
    solvers: Vec<Part>,
    /// Settings of every solver in a step.
    settings: Vec<Settings>,
    /// Nodes whose δ is known, ascending.
    held: Vec<u32>,
    /// Y by rigid motion and plane; empty where it is zero.
    y: Vec<Vec<f64>>,
    s_inverse: [Six; 6],
    /// Length that makes turns and shifts comparable (m).
    arm: f64,
    n: usize,
    mixed: bool,
    /// Columns of A⁻¹ by node, and where.
    known: HashMap<u32, usize>,
    columns: Vec<f64>,
    /// Which group each plane belongs to.
    group_of: [usize; 3],
    /// The reference shape for which Y and S were made.
    pub reference: Arc<Vec<f64>>,
    /// Version of the matrix.
    pub version: u32,
    /// Steps since it was used.
    pub idle: u32,
}

/// The matrix of some planes and its solver.
#[derive(Debug)]
struct Part {
    plane: usize,
    columns: usize,
    matrix: SparseMatrix,
    solver: Box<dyn LinearSolver>,
    /// Entries (free row, held row, value) that were left out of the matrix.
    left_out: Vec<(u32, u32, f64)>,
}

impl Part {
    /// A of a group, rows of held nodes left out.
    fn new(group: &Group, solver: Box<dyn LinearSolver>, masses: &[f64], [a_m, a_k]: [f64; 2], held: &[u32]) -> Self {
        let (n, k) = (masses.len(), &group.matrix);
        let mut matrix = SparseMatrix { values: k.values.iter().map(|v| a_k * v).collect(), ..k.clone() };
        for i in 0..matrix.size {
            let diagonal = matrix.column_start[i];
            matrix.values[diagonal] += a_m * masses[i % n];
        }
        let mut left_out = Vec::new();
        if !held.is_empty() {
            let mut is_held = vec![false; n];
            held.iter().for_each(|&i| is_held[i as usize] = true);
            for j in 0..matrix.size {
                for p in matrix.column(j).skip(1) {
                    let (i, value) = (matrix.rows[p], matrix.values[p]);
                    match (is_held[i % n], is_held[j % n]) {
                        (false, false) => continue,
                        (false, true) => left_out.push((i as u32, j as u32, value)),
                        (true, false) => left_out.push((j as u32, i as u32, value)),
                        (true, true) => {}
                    }
                    matrix.values[p] = 0.0;
                }
            }
        }
        Self { plane: group.plane, columns: group.columns, matrix, solver, left_out }
    }

    fn solve(&mut self, right: &mut [f64], columns: usize) -> Report {
        self.solver.solve(&self.matrix, right, columns)
    }
}

/// A node for [`Factored::response`].
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    node: usize,
    slot: usize,
    /// Y, and S⁻¹ Yᵀ.
    y: [DVec3; 6],
    turned: [DVec3; 6],
}

/// Nodes below which waking a thread costs more than it saves.
const ALONE: usize = 500;

/// Bytes of cached columns, at most; and how many are kept beyond twice those in use: nodes taken hold of one after
/// another would fill the rest.
const COLUMN_BYTES: usize = 256 << 20;
const SPARE_BYTES: usize = 16 << 20;

/// Settings for what is made once: as a solve goes on its residual falls by about the same factor again and again, so
/// that twice the iterations square it.
fn patient(settings: &Settings) -> Settings {
    let tolerance = settings.tolerance.min(settings.tolerance.powi(2).max(1e-12));
    let tolerance = if settings.tolerance.is_finite() { tolerance } else { settings.tolerance };
    Settings { tolerance, max_iterations: settings.max_iterations.saturating_mul(2), ..*settings }
}

impl Factored {
    /// Prepares for a step. `kinds` are the solvers to take siblings of, one for each group with its settings; they learn
    /// the structure. The report says why there is none: numbers out of range, or an iteration that does not converge.
    pub fn new(
        linear: &Linear,
        kinds: &mut [(Box<dyn LinearSolver>, Settings)],
        masses: &[f64],
        [dt, drag, damping_time]: [f64; 3],
        reference: &Arc<Vec<f64>>,
        terms: Terms,
        held: &[u32],
    ) -> Result<Self, Report> {
        let n = masses.len();
        let (a_m, a_k) = (1.0 / dt + drag, dt + damping_time);
        let (mut solvers, mut settings, mut group_of) = (Vec::new(), Vec::new(), [0; 3]);
        for (g, (group, (kind, wanted))) in linear.groups.iter().zip(kinds).enumerate() {
            let mut part = Part::new(group, kind.sibling(), masses, [a_m, a_k], held);
            if !part.solver.factorise(&part.matrix) {
                return Err(part.solve(&mut [], 0));
            }
            *kind = part.solver.sibling();
            solvers.push(part);
            settings.push(*wanted);
            (group.plane..(group.plane + group.columns).min(3)).for_each(|p| group_of[p] = g);
        }
        let mixed = linear.groups.len() == 1 && linear.groups[0].size() == 3 * n;
        let mut out = Self {
            dt,
            solvers,
            settings,
            held: held.to_vec(),
            y: Vec::new(),
            s_inverse: [[0.0; 6]; 6],
            arm: 1.0,
            n,
            mixed,
            known: HashMap::new(),
            columns: Vec::new(),
            group_of: if mixed { [0; 3] } else { group_of },
            reference: reference.clone(),
            version: 0,
            idle: 0,
        };
        let report = out.set_reference(masses, reference, terms);
        if report.converged { Ok(out) } else { Err(report) }
    }

    fn tune(&mut self, how: impl Fn(&Settings) -> Settings) {
        self.solvers.iter_mut().zip(&self.settings).for_each(|(part, settings)| part.solver.tune(&how(settings)));
    }

    /// Y and S for a reference shape; A stays.
    pub fn set_reference(&mut self, masses: &[f64], reference: &[f64], terms: Terms) -> Report {
        let (n, mut report) = (self.n, Report { converged: true, ..Report::default() });
        let second: f64 = (0..n).map(|i| masses[i] * get(reference, n, i).length_squared()).sum();
        self.arm = (second / masses.iter().sum::<f64>()).sqrt().max(f64::MIN_POSITIVE);
        self.y = vec![Vec::new(); 18];
        self.s_inverse = [[0.0; 6]; 6];
        if !self.held.is_empty() {
            return report;
        }
        self.tune(patient);
        let mut s = [[0.0; 6]; 6];
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let arm = self.arm;
        let motion = |k: usize, i: usize| match k {
            0..3 => axes[k],
            _ => axes[k - 3].cross(get(reference, n, i)) / arm,
        };
        let mut column = vec![0.0; 3 * n];
        for k in 0..6 {
            if !(if k < 3 { terms.translational } else { terms.transverse }) {
                continue;
            }
            (0..n).for_each(|i| put(&mut column, n, i, masses[i] * motion(k, i)));
            report = self.solve(&mut column).after(Some(report));
            for j in 0..6 {
                s[j][k] = (0..n).map(|i| masses[i] * motion(j, i).dot(get(&column, n, i))).sum();
            }
            let largest = column.iter().fold(0.0f64, |a, v| a.max(v.abs()));
            for p in 0..3 {
                let plane = &column[p * n..(p + 1) * n];
                // A flat shape in its own axes has nothing but rounding in some.
                if plane.iter().any(|&v| v.abs() > 1e-13 * largest) {
                    self.y[3 * k + p] = plane.to_vec();
                }
            }
        }
        for k in 0..6 {
            if !(if k < 3 { terms.translational } else { terms.transverse }) {
                (0..6).for_each(|j| (s[j][k], s[k][j]) = (0.0, 0.0));
            }
        }
        // Stiff turns answer far less than shifts: measure each by itself.
        let scale: Six = std::array::from_fn(|k| {
            let size: f64 = (0..n).map(|i| masses[i] * motion(k, i).length_squared()).sum();
            if size > 1e-12 * masses.iter().sum::<f64>() && s[k][k] > 0.0 { s[k][k].sqrt().recip() } else { 0.0 }
        });
        let scaled = pseudo_inverse(std::array::from_fn(|a| std::array::from_fn(|b| scale[a] * s[a][b] * scale[b])));
        self.s_inverse = std::array::from_fn(|a| std::array::from_fn(|b| scale[a] * scaled[a][b] * scale[b]));
        self.tune(|settings| *settings);
        report
    }

    /// Replaces a right side, by planes, by A⁻¹ of it; groups side by side.
    pub fn solve(&mut self, right: &mut [f64]) -> Report {
        let (n, count) = (self.n, self.solvers.len());
        if n >= ALONE && self.substitute(right) {
            return Report { converged: true, direct: true, ..Report::default() };
        }
        let mut reports = [Report::default(); 3];
        let (parts, planes) = (Disjoint::new(&mut self.solvers), Disjoint::new(right));
        let slots = Disjoint::new(&mut reports);
        let solve = |k: usize| {
            // SAFETY: every group has its own solver, planes and report.
            let (part, report) = unsafe { (&mut parts.slice(k..k + 1)[0], &mut slots.slice(k..k + 1)[0]) };
            let (from, size) = (part.plane * n, part.matrix.size * part.columns);
            // SAFETY: as above.
            *report = part.solve(unsafe { planes.slice(from..from + size) }, part.columns);
        };
        if n < ALONE {
            (0..count).for_each(solve);
        } else {
            crew::each(count, &solve);
        }
        let total = reports[..count].iter().fold(None, |total, report| Some(report.after(total)));
        total.unwrap_or(Report { converged: true, ..Report::default() })
    }

    /// The same where every group has a factor whose word is taken for it; whether it has.
    fn substitute(&mut self, right: &mut [f64]) -> bool {
        let (n, mut lent, mut rest, mut at) = (self.n, [const { None }; 3], right, 0);
        for (part, lent) in self.solvers.iter_mut().zip(&mut lent) {
            let size = part.matrix.size * part.columns;
            let Some(gap) = (part.plane * n).checked_sub(at) else { return false };
            let (own, after) = std::mem::take(&mut rest).split_at_mut(gap).1.split_at_mut(size);
            *lent = part.solver.lend(own, part.columns);
            if lent.is_none() {
                return false;
            }
            (rest, at) = (after, part.plane * n + size);
        }
        solve_together(&lent);
        true
    }

    /// The same where δ of held nodes is known.
    pub fn solve_led(&mut self, known: &[f64], right: &mut [f64]) -> Report {
        let (n, held) = (self.n, std::mem::take(&mut self.held));
        for part in &self.solvers {
            for column in 0..part.columns {
                let at = part.plane * n + column * part.matrix.size;
                for &(free, held, value) in &part.left_out {
                    right[at + free as usize] -= value * known[at + held as usize];
                }
            }
        }
        held.iter().for_each(|&i| put(right, n, i as usize, DVec3::ZERO));
        let report = self.solve(right);
        held.iter().for_each(|&i| put(right, n, i as usize, get(known, n, i as usize)));
        self.held = held;
        report
    }

    /// S⁻¹ of a rigid part Bᵀ M w.
    pub fn multipliers(&self, mut rigid: Six) -> Six {
        rigid[3..].iter_mut().for_each(|turn| *turn /= self.arm);
        self.scaled_multipliers(rigid)
    }

    fn scaled_multipliers(&self, rigid: Six) -> Six {
        std::array::from_fn(|a| (0..6).map(|b| self.s_inverse[a][b] * rigid[b]).sum())
    }

    /// The columns of Y by plane, with the multipliers to take them off by.
    pub fn columns_of(&self, multipliers: Six) -> [[(f64, &[f64]); 6]; 3] {
        std::array::from_fn(|p| std::array::from_fn(|k| (multipliers[k], &self.y[3 * k + p][..])))
    }

    /// Y at a node, by rigid motion.
    fn y_at(&self, node: usize) -> [DVec3; 6] {
        std::array::from_fn(|k| {
            DVec3::from_array(std::array::from_fn(|p| self.y[3 * k + p].get(node).copied().unwrap_or(0.0)))
        })
    }

    /// Makes the columns of A⁻¹ of these nodes known; none where they are too many to keep.
    pub fn know(&mut self, nodes: impl Iterator<Item = u32> + Clone) -> Option<Report> {
        let mut report = Report { converged: true, ..Report::default() };
        if nodes.clone().all(|i| self.known.contains_key(&i)) {
            return Some(report);
        }
        let n = self.n;
        let length = if self.mixed { 9 * n } else { self.solvers.len() * n };
        let most = (COLUMN_BYTES / 8 / length).max(16);
        let needed = nodes.clone().count();
        if needed > most {
            return None;
        }
        self.tune(patient);
        let room = (SPARE_BYTES / 8 / length).max(2 * needed).min(most);
        if self.known.len() + nodes.clone().filter(|i| !self.known.contains_key(i)).count() > room {
            self.known.clear();
            self.columns.clear();
        }
        for node in nodes {
            if self.known.contains_key(&node) {
                continue;
            }
            let slot = self.known.len();
            self.columns.resize((slot + 1) * length, 0.0);
            let mut columns = std::mem::take(&mut self.columns);
            let part = &mut columns[slot * length..];
            part.fill(0.0);
            if self.mixed {
                for q in 0..3 {
                    part[q * 3 * n + q * n + node as usize] = 1.0;
                    report = self.solvers[0].solve(&mut part[q * 3 * n..(q + 1) * 3 * n], 1).after(Some(report));
                }
            } else {
                for (g, solver) in self.solvers.iter_mut().enumerate() {
                    part[g * n + node as usize] = 1.0;
                    report = solver.solve(&mut part[g * n..(g + 1) * n], 1).after(Some(report));
                }
            }
            self.columns = columns;
            self.known.insert(node, slot);
        }
        self.tune(|settings| *settings);
        Some(report)
    }

    /// What the responses of a node whose column is known need of it.
    pub fn prepared(&self, node: u32) -> Prepared {
        let y = self.y_at(node as usize);
        let turned = std::array::from_fn(|a| (0..6).map(|b| self.s_inverse[a][b] * y[b]).sum());
        Prepared { node: node as usize, slot: self.known[&node], y, turned }
    }

    /// G_ij = A⁻¹ - Y S⁻¹ Yᵀ between two nodes whose columns are known: displacement in body axes (m) for
    /// an impulse at j (N s).
    pub fn response(&self, i: &Prepared, j: &Prepared) -> DMat3 {
        let (n, i_, slot) = (self.n, i.node, j.slot);
        let mut out = DMat3::ZERO;
        if self.mixed {
            let part = &self.columns[slot * 9 * n..(slot + 1) * 9 * n];
            for q in 0..3 {
                *out.col_mut(q) = get(&part[q * 3 * n..(q + 1) * 3 * n], n, i_);
            }
        } else {
            let groups = self.solvers.len();
            let part = &self.columns[slot * groups * n..(slot + 1) * groups * n];
            for p in 0..3 {
                out.col_mut(p)[p] = part[self.group_of[p] * n + i_];
            }
        }
        for a in 0..6 {
            let (y, right) = (i.y[a], j.turned[a]);
            out -= DMat3::from_cols(y * right.x, y * right.y, y * right.z);
        }
        out
    }

    /// Adds to δ what impulses (N s, body axes) at nodes whose columns are known do, all but the multipliers
    /// that it returns.
    pub fn kick(&self, impulses: impl Iterator<Item = (u32, DVec3)>, delta: &mut [f64]) -> Six {
        let (n, h) = (self.n, self.dt);
        let mut rigid = [0.0; 6];
        for (node, impulse) in impulses {
            let (slot, groups) = (self.known[&node], self.solvers.len());
            for p in 0..3 {
                if self.mixed {
                    let part = &self.columns[(slot * 3 + p) * 3 * n..(slot * 3 + p + 1) * 3 * n];
                    delta.iter_mut().zip(part).for_each(|(d, c)| *d += impulse[p] / h * c);
                } else {
                    let from = (slot * groups + self.group_of[p]) * n;
                    let part = &self.columns[from..from + n];
                    delta[p * n..(p + 1) * n].iter_mut().zip(part).for_each(|(d, c)| *d += impulse[p] / h * c);
                }
            }
            let y = self.y_at(node as usize);
            (0..6).for_each(|k| rigid[k] += y[k].dot(impulse) / h);
        }
        self.scaled_multipliers(rigid)
    }
}

/// Inverse of a symmetric matrix on the directions it does not annihilate, by Jacobi's rotations.
fn pseudo_inverse(mut a: [Six; 6]) -> [Six; 6] {
    let mut v: [Six; 6] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for _ in 0..30 {
        for p in 0..6 {
            for q in p + 1..6 {
                if a[p][q].abs() <= 1e-18 * (a[p][p] * a[q][q]).abs().sqrt() {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in a.iter_mut().chain(v.iter_mut()) {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..6 {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                }
            }
        }
    }
    let largest = (0..6).map(|k| a[k][k]).fold(0.0, f64::max);
    let inverse: Six = std::array::from_fn(|k| if a[k][k] > 1e-11 * largest { 1.0 / a[k][k] } else { 0.0 });
    std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| v[i][k] * inverse[k] * v[j][k]).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a rotation applied to rows but not to columns, and a division by a vanishing value.
    #[test]
    fn the_inverse_leaves_out_what_is_annihilated() {
        let mut a = [[0.0; 6]; 6];
        for i in 0..5 {
            for j in 0..5 {
                a[i][j] = ((i * j) as f64 * 0.3).cos() + if i == j { 4.0 } else { 0.0 };
            }
        }
        let inverse = pseudo_inverse(a);
        for i in 0..6 {
            for j in 0..6 {
                let product: f64 = (0..6).map(|k| a[i][k] * inverse[k][j]).sum();
                let expected = if i == j && i < 5 { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-13, "{i} {j} {product}");
            }
        }
    }
}
