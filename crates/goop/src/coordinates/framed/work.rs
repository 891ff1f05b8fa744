//! What a framed body works with: its quadratic energy, factors for the steps in use, and
//! arrays. Nothing a resumed run would miss.

use super::FramedState;
use super::factored::Factored;
use super::respond::{Hold, Response};
use crate::elastic::Linear;
use crate::model::{Body, Terms};
use crate::shape::Dimension;
use crate::solve::{self, LinearSolver, Report, Settings};
use glam::DVec3;
use std::sync::Arc;

/// Factors kept at a time: a run seldom uses more than a few lengths of step.
const KEPT: usize = 4;

/// Work space of one framed body.
#[derive(Debug)]
pub struct Work {
    /// The energy.
    pub linear: Linear,
    /// Solvers that know the structure of every group, with their settings.
    kinds: Vec<(Box<dyn LinearSolver>, Settings)>,
    factors: Vec<Factored>,
    /// Memory of the elasticity for which `linear` was made.
    memory: Arc<Vec<f64>>,
    rim_held: bool,
    /// Nodes of a frame that pins lead whose rows are left out of the matrix.
    held: Vec<u32>,
    /// Raised with every change of the matrix.
    version: u32,
    /// Pins may have changed since it was looked at.
    pub stale: bool,
    /// Drag by mass κ (1/s) and damping time β (s).
    pub drag: f64,
    /// β (s).
    pub damping_time: f64,
    /// K e and K ė of the state, if `valid`.
    pub ke: Vec<f64>,
    /// K ė.
    pub kr: Vec<f64>,
    /// Whether they belong to the state, and the energy (J).
    pub valid: Option<f64>,
    /// δ, the change of ė.
    pub delta: Vec<f64>,
    /// Drag as it is at the start (N), world; empty where there is none.
    pub drag_force: Vec<DVec3>,
    /// Pins and contacts.
    pub holds: Vec<Hold>,
    /// Their solver.
    pub response: Response,
    /// What flows of every edge.
    pub(super) fractions: Vec<f64>,
    /// Of a frame that pins lead: velocities at the start in its axes, rates without forces, what is known of held nodes.
    pub(crate) led: [Vec<f64>; 3],
    /// Masses of held nodes (kg).
    pub(crate) pin_masses: Vec<f64>,
    /// Of the solve for what flows.
    pub(super) vectors: [Vec<f64>; 5],
}

impl Work {
    /// For a body whose elasticity remembers this.
    pub fn new(body: &Body, memory: &Arc<Vec<f64>>) -> Self {
        let rim_held = rim_is_held(body);
        let linear = linear(body, memory, rim_held);
        let kinds = kinds(body, &linear);
        let n = body.len();
        let drag = body.drag.iter().sum::<f64>() / body.mass();
        let size = body.shape.size();
        let damping_time = match body.elastic.as_deref().and_then(|e| e.spline()) {
            Some(spline) => spline.damping_time,
            None => body.material.card.damping_time(size),
        };
        Self {
            linear,
            kinds,
            factors: Vec::new(),
            memory: memory.clone(),
            rim_held,
            held: Vec::new(),
            version: 0,
            stale: true,
            drag,
            damping_time: if damping_time.is_finite() { damping_time } else { 0.0 },
            ke: vec![0.0; 3 * n],
            kr: vec![0.0; 3 * n],
            valid: None,
            delta: vec![0.0; 3 * n],
            drag_force: vec![DVec3::ZERO; if drag > 0.0 { n } else { 0 }],
            holds: Vec::new(),
            response: Response::default(),
            fractions: Vec::new(),
            led: Default::default(),
            pin_masses: Vec::new(),
            vectors: Default::default(),
        }
    }

    /// Follows what the elasticity remembers, whether the rim is held, and which nodes lead the frame; raises the matrix
    /// version.
    pub fn follow(&mut self, body: &Body, memory: &Arc<Vec<f64>>, led: bool) {
        let same = Arc::ptr_eq(memory, &self.memory) || **memory == *self.memory;
        let rim_held = if self.stale { rim_is_held(body) } else { self.rim_held };
        if self.stale || led == self.held.is_empty() {
            let hard = body.pins.iter().filter(|p| led && p.stiffness.is_none());
            let mut held: Vec<u32> = hard.flat_map(|p| p.nodes.iter().copied()).collect();
            held.sort_unstable();
            held.dedup();
            if held != self.held {
                self.held = held;
                self.forget_factors();
            }
        }
        self.stale = false;
        if same && rim_held == self.rim_held {
            return;
        }
        let linear = linear(body, memory, rim_held);
        if linear.groups.len() != self.linear.groups.len() {
            self.kinds = kinds(body, &linear);
        }
        (self.linear, self.memory, self.rim_held, self.valid) = (linear, memory.clone(), rim_held, None);
        self.forget_factors();
    }

    fn forget_factors(&mut self) {
        self.version += 1;
        self.factors.clear();
        self.response.clear();
    }

    /// Whether the whole boundary is pinned.
    pub fn rim_held(&self) -> bool {
        self.rim_held
    }

    /// Takes the factor for a step out, made now if need be; hand it back with `keep`. The report says why there is none.
    pub fn take_factor(&mut self, body: &Body, state: &FramedState, dt: f64, terms: Terms) -> Result<Factored, Report> {
        self.factors.iter_mut().for_each(|f| f.idle += 1);
        if let Some(k) = self.factors.iter().position(|f| f.dt == dt) {
            let mut factor = self.factors.swap_remove(k);
            if !Arc::ptr_eq(&factor.reference, &state.reference) {
                if factor.reference != state.reference {
                    let report = factor.set_reference(&body.masses, &state.reference, terms);
                    self.response.clear();
                    if !report.converged {
                        return Err(report);
                    }
                }
                factor.reference = state.reference.clone();
            }
            return Ok(factor);
        }
        if self.factors.len() >= KEPT {
            let oldest = (0..self.factors.len()).max_by_key(|&k| self.factors[k].idle).unwrap_or(0);
            self.factors.swap_remove(oldest);
        }
        let times = [dt, self.drag, self.damping_time];
        let (linear, kinds) = (&self.linear, &mut self.kinds);
        let mut factor = Factored::new(linear, kinds, &body.masses, times, &state.reference, terms, &self.held)?;
        factor.version = self.version;
        Ok(factor)
    }

    /// Keeps a factor for the next step, unless the matrix has changed meanwhile.
    pub fn keep(&mut self, mut factor: Factored) {
        factor.idle = 0;
        if factor.version == self.version {
            self.factors.push(factor);
        }
    }

    /// K e, K ė and the energy of a state (J).
    pub fn evaluate(&mut self, state: &FramedState) -> f64 {
        let (e, rate) = (&state.displacement[..], &state.rate[..]);
        let sums = self.linear.products([e, rate], e, &mut self.ke, &mut self.kr);
        let energy = 0.5 * sums[0] - self.prestress_work(e);
        self.valid = Some(energy);
        energy
    }

    /// f₀·e (J).
    pub fn prestress_work(&self, e: &[f64]) -> f64 {
        self.linear.prestress.iter().zip(e).map(|(f, e)| f * e).sum()
    }
}

/// The solver of every group. A factor made once is as good as rounding lets it be, and the step relies on nothing
/// better: direct solvers do not look at the residual, which would cost another product.
fn kinds(body: &Body, linear: &Linear) -> Vec<(Box<dyn LinearSolver>, Settings)> {
    let dimensions = match body.shape.dimension {
        Dimension::Curve => 1,
        Dimension::Surface => 2,
        Dimension::Solid => 3,
    };
    let kind = |size: usize| {
        let mut settings = solve::chosen(&body.solver, size, dimensions);
        if !settings.method.only_iterates() {
            settings.tolerance = f64::INFINITY;
        }
        (solve::solver(&settings, size, dimensions), settings)
    };
    linear.groups.iter().map(|group| kind(group.size())).collect()
}

/// Condition number of the matrix A of a framed body for a step (s): its largest over its smallest eigenvalue, by power and
/// inverse iteration; none where it cannot be factored.
pub fn condition(body: &Body, dt: f64) -> Option<f64> {
    let state = crate::state::BodyState::new(body);
    let framed = state.framed.as_ref()?;
    let mut work = Work::new(body, &state.memory);
    let mut factor = work.take_factor(body, framed, dt, body.terms).ok()?;
    let (n, a_m, a_k) = (body.len(), 1.0 / dt + work.drag, dt + work.damping_time);
    let mut extremes = [0.0; 2];
    for (inverse, found) in extremes.iter_mut().enumerate() {
        let mut x: Vec<f64> = (0..3 * n).map(|i| 1.0 + 0.5 * ((i * i) as f64 * 0.618).sin()).collect();
        let (mut y, mut spare) = (vec![0.0; 3 * n], vec![0.0; 3 * n]);
        for _ in 0..2000 {
            let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            x.iter_mut().for_each(|v| *v /= length);
            if inverse == 1 {
                y.copy_from_slice(&x);
                factor.solve(&mut y);
            } else {
                work.linear.products([&x, &x], &x, &mut y, &mut spare);
                y.iter_mut().zip(&x).enumerate().for_each(|(i, (y, x))| *y = a_k * *y + a_m * body.masses[i % n] * x);
            }
            let value: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            let settled = (value - *found).abs() <= 1e-9 * value;
            *found = value;
            std::mem::swap(&mut x, &mut y);
            if settled {
                break;
            }
        }
    }
    Some(extremes[0] * extremes[1])
}

fn rim_is_held(body: &Body) -> bool {
    let hard = body.pins.iter().filter(|p| p.stiffness.is_none());
    body.elastic
        .as_deref()
        .and_then(|e| e.spline())
        .is_some_and(|spline| spline.rim_is_held(hard.flat_map(|p| p.nodes.iter().copied())))
}

/// The quadratic energy of a framed body: its own, or that at rest of whatever it has.
pub fn linear(body: &Body, memory: &[f64], rim_held: bool) -> Linear {
    let elastic = crate::coordinates::nodal::elasticity(body);
    elastic.linear(memory, rim_held).unwrap_or_else(|| {
        let rest = &body.shape.rest_positions;
        Linear::at_rest(elastic, memory, glam::DQuat::IDENTITY, rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axes, Material, Shape};

    /// Catches a condition number of another matrix: two nodes and one spring have a known one.
    #[test]
    fn two_nodes_have_the_condition_number_of_their_spring() {
        let card = Material { young: 1e6, density: 1000.0, radius: 0.01, damping: 0.0, ..Material::default() };
        let body = Body::new("rod", Shape::line(0.5, 2).unwrap(), card, Axes::HYBRID);
        let area = std::f64::consts::PI * 1e-4;
        for dt in [1e-3, 1e-2] {
            let expected = 1.0 + 2.0 * dt * dt * (1e6 * area / 0.5) / body.masses[0];
            let found = condition(&body, dt).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
    }
}
