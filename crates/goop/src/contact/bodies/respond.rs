//! How the nodes of a body that others touch give way to impulses there, over one step:
//! ```text
//! Δu = W p        u = (x₁ - x₀)/h
//! explicit        W = 1/m, ½/m for the Taylor scheme
//! implicit        W = A⁻¹, A the matrix of the step last taken, obstacles included; ½A⁻¹ for the midpoint rule
//! rigid           W = (1/m - [s]× I⁻¹ [s]×)/(1 + hκ)
//! framed          the same with the frame's own I, and G of the displacement (see `framed::respond`)
//! reduced         W = Φ M⁻¹ Φᵀ, Φ A⁻¹ Φᵀ
//! ```
//! Pins and obstacles of rigid and framed bodies are no part of W: they are rows of the solve.

use crate::coordinates::framed::respond::Rigid;
use crate::coordinates::framed::{cross, get};
use crate::coordinates::nodal::Scratch;
use crate::model::{Body, Coordinates, Integrator, Model};
use crate::solve::{LinearSolver, Report, Scalar, Settings, SparseCholesky};
use crate::state::BodyState;
use glam::{DMat3, DVec3};

/// Nodes of a body between which its response is written down as a matrix, at most: a product with that is then so much
/// cheaper than one through the factor that finding it pays.
const MOST_DENSE: usize = 80;
/// Columns that are solved for together; whole nodes.
const AT_ONCE: usize = 24;

/// A matrix of nodes, factored.
#[derive(Debug, Default)]
pub struct Factor {
    scalar: Option<Scalar>,
    cholesky: SparseCholesky,
    free: Vec<bool>,
    right: Vec<DVec3>,
    solved: Vec<DVec3>,
    /// Numbers that were last factored.
    filled: Vec<f64>,
    wide: Vec<f64>,
}

impl Factor {
    /// Whether the matrix is another than the one before.
    fn prepare(&mut self, matrix: &crate::solve::BlockMatrix, free: &[bool]) -> Result<bool, Report> {
        let scalar = self.scalar.get_or_insert_with(|| Scalar::new(matrix));
        scalar.fill(matrix, free);
        if self.filled == scalar.matrix.values && self.free == free {
            self.right.fill(DVec3::ZERO);
            return Ok(false);
        }
        self.filled.clone_from(&scalar.matrix.values);
        self.cholesky.polish = false;
        self.cholesky.plain = true;
        self.cholesky.tune(&Settings { tolerance: f64::INFINITY, ..Settings::default() });
        self.free.clear();
        self.free.extend_from_slice(free);
        self.right.clear();
        self.right.resize(free.len(), DVec3::ZERO);
        self.solved.resize(free.len(), DVec3::ZERO);
        if self.cholesky.factorise(&scalar.matrix) {
            Ok(true)
        } else {
            self.filled.clear();
            Err(self.cholesky.solve(&scalar.matrix, &mut [], 0))
        }
    }

    /// W between some nodes, by columns: a solve for each of their axes, several at once.
    fn columns(&mut self, nodes: &[u32], share: f64, dense: &mut Vec<f64>) {
        let (rows, size) = (3 * self.free.len(), 3 * nodes.len());
        dense.clear();
        dense.resize(size * size, 0.0);
        for (batch, out) in dense.chunks_mut(size * AT_ONCE).enumerate() {
            let count = out.len() / size;
            self.wide.clear();
            self.wide.resize(rows * count, 0.0);
            for c in 0..count {
                let (node, axis) = (nodes[(batch * AT_ONCE + c) / 3] as usize, (batch * AT_ONCE + c) % 3);
                if self.free[node] {
                    self.wide[c * rows + 3 * node + axis] = share;
                }
            }
            self.cholesky.substitute(&mut self.wide, count);
            for (out, solved) in out.chunks_exact_mut(size).zip(self.wide.chunks_exact(rows)) {
                for (out, &node) in out.chunks_exact_mut(3).zip(nodes) {
                    let node = node as usize;
                    if self.free[node] {
                        out.copy_from_slice(&solved[3 * node..3 * node + 3]);
                    }
                }
            }
        }
    }

    fn solve(&mut self) {
        let Some(scalar) = &mut self.scalar else { return };
        scalar.solve(&mut self.cholesky, &self.free, &self.right, &mut self.solved);
    }
}

/// How one body gives way.
#[derive(Debug, Default)]
enum How {
    /// By the nodes' own masses: 1/m each (1/kg).
    #[default]
    Masses,
    /// As a whole.
    Rigid,
    /// By a matrix between the nodes touched.
    Dense,
    /// By the factor of its step, times a number.
    Factored(f64),
    /// By modes of the whole body.
    Modes { implicit: bool },
}

/// The nodes of one body that others touch.
#[derive(Debug, Default)]
pub struct Touched {
    /// Which body.
    pub body: u32,
    /// Which nodes, ascending.
    pub nodes: Vec<u32>,
    /// Impulses on them (N s).
    pub impulses: Vec<DVec3>,
    /// Changes of their u (m/s).
    pub velocities: Vec<DVec3>,
    /// Those before a sweep, and by what all sweeps so far lead on (m/s).
    marked: Vec<DVec3>,
    leads: Vec<DVec3>,
    how: How,
    inverse_masses: Vec<f64>,
    arms: Vec<DVec3>,
    rigid: Option<Rigid>,
    dense: Vec<f64>,
    factor: Factor,
    /// The nodes that `dense` was made for from the factor.
    known: Vec<u32>,
    /// The factor is that of a matrix of this step; which obstacles held the body then.
    current: bool,
    held: Vec<(u32, bool)>,
    /// It is that of a round before the last.
    pub lags: bool,
    flat: Option<usize>,
}

impl Touched {
    /// A body that is touched; nodes come later.
    pub fn reset(&mut self, body: u32) {
        self.body = body;
        self.nodes.clear();
    }

    /// A new step begins: what a step before was like says nothing, or a resumed run would not be the same.
    pub fn begin(&mut self) {
        (self.current, self.lags) = (false, false);
    }

    /// Whether the factor of an earlier round of this step will do: the body is held where it was.
    fn is_held_alike(&mut self, scratch: &Scratch) -> bool {
        let touches = scratch.now.touches.iter().filter(|t| !t.released).map(|t| (t.node, t.slips));
        let alike = self.held.iter().copied().eq(touches.clone());
        if !alike {
            self.held.clear();
            self.held.extend(touches);
        }
        alike
    }

    /// Orders the nodes.
    pub fn arrange(&mut self) {
        self.nodes.sort_unstable();
        self.nodes.dedup();
        let k = self.nodes.len();
        for list in [&mut self.impulses, &mut self.velocities] {
            list.clear();
            list.resize(k, DVec3::ZERO);
        }
    }

    /// Starts sweeps: no impulse has been given yet.
    pub fn rest(&mut self) {
        for list in [&mut self.velocities, &mut self.marked, &mut self.leads] {
            list.clear();
            list.resize(self.nodes.len(), DVec3::ZERO);
        }
    }

    /// Remembers the velocities before a sweep.
    pub fn mark(&mut self) {
        self.marked.copy_from_slice(&self.velocities);
    }

    /// Goes on by a share of where the sweeps before the last have led; that is then where all have led.
    pub fn lean(&mut self, share: f64) {
        for ((v, marked), leads) in self.velocities.iter_mut().zip(&self.marked).zip(&mut self.leads) {
            let change = *v - *marked;
            *leads *= share;
            *v += *leads;
            *leads += change;
        }
    }

    /// Where a node is in the lists.
    pub fn place(&self, node: u32) -> u32 {
        self.nodes.binary_search(&node).unwrap_or(0) as u32
    }

    /// Learns how the body answers after a step that it has just taken. `anew`: what is known from an earlier round of the same step will not do.
    pub fn prepare(
        &mut self,
        anew: bool,
        model: &Model,
        body: &Body,
        dt: f64,
        before: &BodyState,
        state: &BodyState,
        scratch: &mut Scratch,
    ) -> Result<(), Report> {
        self.flat = model.flat;
        match body.axes.coordinates {
            Coordinates::Rigid => {
                let Some(rigid) = &before.rigid else { return Ok(()) };
                let eta = 1.0 / (1.0 + dt * body.drag.iter().sum::<f64>() / rigid.mass);
                let mut turn = rigid.inverse_inertia();
                if let Some(axis) = model.flat {
                    let a = DVec3::AXES[axis];
                    turn = crate::coordinates::framed::outer(a) * a.dot(turn * a);
                }
                self.rigid =
                    Some(Rigid { shift: DMat3::from_diagonal(DVec3::splat(eta / rigid.mass)), turn: turn * eta });
                self.arms.clear();
                self.arms.extend(self.nodes.iter().map(|&i| before.positions[i as usize] - rigid.center));
                self.how = How::Rigid;
            }
            Coordinates::Framed => self.prepare_framed(body, dt, before, state, scratch)?,
            Coordinates::Nodal => match (body.axes.integrator, &scratch.matrix) {
                (integrator, Some(matrix)) if integrator.implicit() => {
                    self.lags = self.is_held_alike(scratch) && self.current && !anew;
                    let fresh = !self.lags && self.factor.prepare(matrix, &scratch.free)?;
                    self.current = true;
                    let share = match integrator {
                        Integrator::ImplicitMidpoint => 0.5,
                        Integrator::Bdf2 => scratch.two_step.now.map_or(1.0, |h| (h / dt).powi(2)),
                        _ => 1.0,
                    };
                    self.how = How::Factored(share);
                    if self.nodes.len() <= MOST_DENSE {
                        // Nodes that were touched a moment ago may be so again.
                        if !fresh && self.nodes.iter().all(|i| self.known.binary_search(i).is_ok()) {
                            self.nodes.clone_from(&self.known);
                            self.arrange();
                        }
                        if fresh || self.known != self.nodes {
                            self.factor.columns(&self.nodes, share, &mut self.dense);
                            self.known.clone_from(&self.nodes);
                        }
                        self.how = How::Dense;
                    } else {
                        self.known.clear();
                    }
                }
                (integrator, _) => {
                    let share = if integrator == Integrator::ExplicitTaylor { 0.5 } else { 1.0 };
                    self.by_masses(body, share, |i| scratch.free[i]);
                }
            },
            Coordinates::Reduced => {
                let Some(work) = &scratch.reduced else { return Ok(()) };
                let implicit = body.axes.integrator == Integrator::BackwardEuler;
                if let (true, Some(reduction)) = (implicit, &work.reduction) {
                    self.factor.prepare(&reduction.matrix, work.modes.kept())?;
                }
                let share = if body.axes.integrator == Integrator::ExplicitTaylor { 0.5 } else { 1.0 };
                self.by_masses(body, share, |i| work.modes.moves(i));
                self.how = How::Modes { implicit };
                self.dense.clear();
                self.dense.push(share);
            }
        }
        Ok(())
    }

    fn by_masses(&mut self, body: &Body, share: f64, moves: impl Fn(usize) -> bool) {
        self.inverse_masses.clear();
        self.inverse_masses.extend(self.nodes.iter().map(|&i| match moves(i as usize) {
            true => share / body.masses[i as usize],
            false => 0.0,
        }));
        self.how = How::Masses;
    }

    /// W between the nodes touched, in world axes.
    fn prepare_framed(
        &mut self,
        body: &Body,
        dt: f64,
        before: &BodyState,
        state: &BodyState,
        scratch: &mut Scratch,
    ) -> Result<(), Report> {
        let (Some(f0), Some(f1), Some(work)) = (&before.framed, &state.framed, &mut scratch.framed) else {
            return Ok(());
        };
        let mut factor = work.take_factor(body, f0, dt, body.terms)?;
        if let Some(report) = factor.know(self.nodes.iter().copied())
            && !report.converged
        {
            return Err(report);
        }
        let led = f0.led.is_some();
        let turn = DMat3::from_quat(if led { f1.rotation } else { f0.rotation });
        let eta = 1.0 / (1.0 + dt * work.drag);
        let rigid = match led {
            true => Rigid { shift: DMat3::ZERO, turn: DMat3::ZERO },
            false => Rigid {
                shift: DMat3::from_diagonal(DVec3::splat(eta / body.mass())),
                turn: f0.posed_inverse(f0.inertia) * eta,
            },
        };
        let (n, k) = (body.len(), self.nodes.len());
        let arm = |i: u32| get(&f0.reference, n, i as usize) + get(&f0.displacement, n, i as usize);
        let prepared: Vec<_> = self.nodes.iter().map(|&i| factor.prepared(i)).collect();
        self.dense.clear();
        self.dense.resize(9 * k * k, 0.0);
        for j in 0..k {
            for i in 0..=j {
                let own = rigid.shift - cross(arm(self.nodes[i])) * rigid.turn * cross(arm(self.nodes[j]));
                let g = factor.response(&prepared[i], &prepared[j]) * (1.0 / dt);
                let w = turn * (own + g) * turn.transpose();
                for c in 0..3 {
                    for r in 0..3 {
                        self.dense[(3 * j + c) * 3 * k + 3 * i + r] = w.col(c)[r];
                        self.dense[(3 * i + r) * 3 * k + 3 * j + c] = w.col(c)[r];
                    }
                }
            }
        }
        work.keep(factor);
        self.how = How::Dense;
        Ok(())
    }

    /// About how many numbers a product goes through.
    pub fn cost(&self) -> usize {
        match self.how {
            How::Masses | How::Rigid => self.nodes.len(),
            How::Dense => self.dense.len(),
            How::Factored(_) | How::Modes { .. } => 2 * self.factor.cholesky.entries(),
        }
    }

    /// Whether the response is known between any two of the nodes.
    pub fn is_known(&self) -> bool {
        matches!(self.how, How::Masses | How::Rigid | How::Dense)
    }

    /// W of two nodes, by their places (1/kg).
    pub fn between(&self, i: u32, j: u32) -> DMat3 {
        let (i, j) = (i as usize, j as usize);
        match self.how {
            How::Masses if i == j => DMat3::from_diagonal(DVec3::splat(self.inverse_masses[i])),
            How::Rigid => {
                let Some(rigid) = self.rigid else { return DMat3::ZERO };
                rigid.shift - cross(self.arms[i]) * rigid.turn * cross(self.arms[j])
            }
            How::Dense => {
                let size = 3 * self.nodes.len();
                let column = |c: usize| DVec3::from_slice(&self.dense[(3 * j + c) * size + 3 * i..]);
                DMat3::from_cols(column(0), column(1), column(2))
            }
            How::Masses | How::Factored(_) | How::Modes { .. } => DMat3::ZERO,
        }
    }

    /// Adds to the velocities what an impulse (N s) on one node, by its place, does.
    pub fn push(&mut self, place: u32, mut impulse: DVec3) {
        let k = place as usize;
        if let Some(axis) = self.flat {
            impulse[axis] = 0.0;
        }
        match self.how {
            How::Masses => self.velocities[k] += self.inverse_masses[k] * impulse,
            How::Rigid => {
                let Some(rigid) = self.rigid else { return };
                let (shift, turn) = (rigid.shift * impulse, rigid.turn * self.arms[k].cross(impulse));
                for (v, arm) in self.velocities.iter_mut().zip(&self.arms) {
                    *v += shift + turn.cross(*arm);
                }
            }
            How::Dense => {
                let size = 3 * self.nodes.len();
                let [x, y, z]: [&[f64]; 3] = std::array::from_fn(|c| &self.dense[(3 * k + c) * size..][..size]);
                let v: &mut [f64] = bytemuck::cast_slice_mut(&mut self.velocities);
                for (((v, x), y), z) in v.iter_mut().zip(x).zip(y).zip(z) {
                    *v += impulse.x * x + impulse.y * y + impulse.z * z;
                }
            }
            How::Factored(_) | How::Modes { .. } => {}
        }
        if let Some(axis) = self.flat {
            self.velocities.iter_mut().for_each(|v| v[axis] = 0.0);
        }
    }

    /// velocities = W impulses.
    pub fn apply(&mut self, scratch: &mut Scratch) {
        if let Some(axis) = self.flat {
            self.impulses.iter_mut().for_each(|p| p[axis] = 0.0);
        }
        match self.how {
            How::Masses => {
                for k in 0..self.nodes.len() {
                    self.velocities[k] = self.inverse_masses[k] * self.impulses[k];
                }
            }
            How::Rigid => {
                let Some(rigid) = self.rigid else { return };
                let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
                for (arm, &p) in self.arms.iter().zip(&self.impulses) {
                    push += p;
                    torque += arm.cross(p);
                }
                let (shift, turn) = (rigid.shift * push, rigid.turn * torque);
                for (v, arm) in self.velocities.iter_mut().zip(&self.arms) {
                    *v = shift + turn.cross(*arm);
                }
            }
            How::Dense => {
                let size = 3 * self.nodes.len();
                let (p, v): (&[f64], &mut [f64]) =
                    (bytemuck::cast_slice(&self.impulses), bytemuck::cast_slice_mut(&mut self.velocities));
                v.fill(0.0);
                for (column, &x) in self.dense.chunks_exact(size).zip(p) {
                    if x != 0.0 {
                        v.iter_mut().zip(column).for_each(|(v, w)| *v += x * w);
                    }
                }
            }
            How::Factored(share) => {
                for (&i, &p) in self.nodes.iter().zip(&self.impulses) {
                    self.factor.right[i as usize] = p;
                }
                self.factor.solve();
                for (v, &i) in self.velocities.iter_mut().zip(&self.nodes) {
                    let held = !self.factor.free[i as usize];
                    *v = if held { DVec3::ZERO } else { share * self.factor.solved[i as usize] };
                }
            }
            How::Modes { implicit } => {
                let Some(work) = &mut scratch.reduced else { return };
                work.nodes.fill(DVec3::ZERO);
                for (&i, &p) in self.nodes.iter().zip(&self.impulses) {
                    work.nodes[i as usize] = p;
                }
                work.modes.gather(&work.nodes, &mut work.right);
                if implicit {
                    self.factor.right.copy_from_slice(&work.right);
                    self.factor.solve();
                    work.right.copy_from_slice(&self.factor.solved);
                } else {
                    work.modes.solve(&mut work.right);
                }
                work.nodes.fill(DVec3::ZERO);
                work.modes.place(&work.right, &mut work.nodes);
                let share = self.dense[0];
                for (v, &i) in self.velocities.iter_mut().zip(&self.nodes) {
                    let moves = work.modes.moves(i as usize);
                    *v = if moves { share * work.nodes[i as usize] } else { DVec3::ZERO };
                }
            }
        }
        if let Some(axis) = self.flat {
            self.velocities.iter_mut().for_each(|v| v[axis] = 0.0);
        }
    }

    /// About how a node gives way to an impulse there (1/kg): what a row is measured by.
    pub fn ease(&self, k: usize, body: &Body, scratch: &Scratch) -> DMat3 {
        let even = |d: f64| DMat3::from_diagonal(DVec3::splat(d));
        match self.how {
            How::Masses => even(self.inverse_masses[k]),
            How::Rigid => {
                let Some(rigid) = self.rigid else { return DMat3::ZERO };
                rigid.shift - cross(self.arms[k]) * rigid.turn * cross(self.arms[k])
            }
            How::Dense => {
                let size = 3 * self.nodes.len();
                let column = |c: usize| DVec3::from_slice(&self.dense[(3 * k + c) * size + 3 * k..]);
                DMat3::from_cols(column(0), column(1), column(2))
            }
            How::Factored(share) => {
                let node = self.nodes[k] as usize;
                match &scratch.matrix {
                    Some(matrix) if self.factor.free[node] => matrix.diagonal(node).inverse() * share,
                    _ => DMat3::ZERO,
                }
            }
            // A quadratic map gives way as a whole.
            How::Modes { .. } if self.inverse_masses[k] > 0.0 => even(4.0 / body.mass()),
            How::Modes { .. } => DMat3::ZERO,
        }
    }
}
