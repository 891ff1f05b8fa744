//! What can be told of a body before it runs: frequencies, the largest stable
//! explicit step, sag under its own weight, memory.
//!
//! ```text
//! K φ = ω² M φ      on free nodes, at the rest shape
//! highest ω²        Lanczos on M^-½ K M^-½ (extreme values converge first)
//! lowest ω²         inverse iteration with a Cholesky factor of K + σM
//! symplectic        dt² ω² + 2 dt δ ≤ 4          δ = largest value of M⁻¹D (dampers)
//! Taylor            dt ≤ 2δ/ω²  and  dt ≤ 2/δ    for stiffness-proportional damping
//! ```

use crate::coordinates::framed::leads;
use crate::coordinates::nodal::elasticity;
use crate::coordinates::reduced::spectrum;
use crate::elastic::{Elasticity, Weights};
use crate::model::{Body, Coordinates, Integrator, Model};
use crate::shape::Dimension;
use crate::solve::condition::tridiagonal_top;
use crate::solve::{self, BlockMatrix, Settings, Solver};
use crate::state::BodyState;
use crate::world::World;
use glam::{DMat3, DVec3};

/// Bodies larger than this get no lowest frequency and no sag: both need a factor.
pub const DETAIL_LIMIT: usize = 20_000;

/// Findings about one body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preflight {
    /// Lowest natural frequency (Hz); 0 where a motion costs no energy; `None` where not computed.
    pub lowest: Option<f64>,
    /// Highest natural frequency (Hz).
    pub highest: f64,
    /// Largest eigenvalue of M⁻¹D (1/s).
    pub damper_rate: f64,
    /// Largest stable step of the body's own integrator, or of symplectic Euler
    /// where its own is implicit (s); zero where no step is stable.
    pub stable_step: f64,
    /// Deepest fall of a node at rest under gravity (m), for held bodies.
    pub sag: Option<f64>,
    /// The body's height along gravity, or its size where it is flat (m).
    pub height: f64,
    /// Memory while running (bytes), estimated.
    pub bytes: usize,
}

/// Looks at one body of a model.
pub fn inspect(model: &Model, index: usize) -> Preflight {
    let body = &model.bodies[index];
    let mut out = Preflight { height: height(model, body), bytes: bytes(body), ..Preflight::default() };
    if body.axes.coordinates == Coordinates::Rigid {
        out.stable_step = f64::INFINITY;
        return out;
    }
    if body.axes.coordinates == Coordinates::Reduced {
        let found = spectrum::inspect(body);
        let hertz = |value: f64| value.max(0.0).sqrt() / std::f64::consts::TAU;
        (out.highest, out.lowest) = (hertz(found.highest), Some(hertz(found.lowest)));
        (out.damper_rate, out.stable_step) = (found.damper_rate, found.stable_step);
        if body.len() <= DETAIL_LIMIT && !body.pins.is_empty() && model.gravity != DVec3::ZERO {
            out.sag = sag(model, index);
        }
        return out;
    }
    let elastic = elasticity(body);
    let state = BodyState::new(body);
    let free = free_nodes(body);
    let (x, memory) = (&state.positions, &state.memory);
    let mut matrix = elastic.structure();
    elastic.stiffness(memory, x, Weights { position: 0.0, velocity: 1.0 }, false, &mut matrix);
    out.damper_rate = largest(body, &free, &matrix);
    matrix.clear();
    elastic.stiffness(memory, x, Weights { position: 1.0, velocity: 0.0 }, false, &mut matrix);
    let top = largest(body, &free, &matrix);
    out.highest = top.sqrt() / std::f64::consts::TAU;
    out.stable_step = match body.axes.coordinates {
        // Its matrix is positive definite for every step.
        Coordinates::Framed => f64::INFINITY,
        _ => stable_step(body.axes.integrator, top, out.damper_rate),
    };
    if body.len() <= DETAIL_LIMIT {
        let lowest = smallest(body, &free, x, matrix, top);
        out.lowest = lowest.map(|value| value.sqrt() / std::f64::consts::TAU);
        if !body.pins.is_empty() && model.gravity != DVec3::ZERO {
            out.sag = sag(model, index);
        }
    }
    out
}

/// Largest stable step for the largest ω² and the largest damper rate δ.
pub fn stable_step(integrator: Integrator, omega2: f64, delta: f64) -> f64 {
    match integrator {
        Integrator::ExplicitTaylor if delta <= 0.0 => 0.0,
        Integrator::ExplicitTaylor => (2.0 * delta / omega2).min(2.0 / delta),
        // The positive root of dt² ω² + 2 dt δ = 4.
        _ => 4.0 / (delta + (delta * delta + 4.0 * omega2).sqrt()),
    }
}

fn free_nodes(body: &Body) -> Vec<bool> {
    let mut free = vec![true; body.len()];
    for pin in body.pins.iter().filter(|p| p.stiffness.is_none()) {
        pin.nodes.iter().for_each(|&i| free[i as usize] = false);
    }
    free
}

fn height(model: &Model, body: &Body) -> f64 {
    let down = model.gravity.normalize_or_zero();
    let along: Vec<f64> = body.start_positions().iter().map(|x| x.dot(down)).collect();
    let span = along.iter().fold(f64::MIN, |a, &b| a.max(b)) - along.iter().fold(f64::MAX, |a, &b| a.min(b));
    if span > 1e-3 * body.shape.extent() { span } else { body.shape.extent() }
}

/// Memory of a running body (bytes): state twice, forces twice, springs; for implicit
/// steps matrix and solver vectors.
pub fn bytes(body: &Body) -> usize {
    let n = body.len();
    let elements = body.elastic.as_ref().map_or(0, |e| e.elements());
    if body.axes.coordinates == Coordinates::Framed {
        return framed_bytes(body);
    }
    let explicit = n * (2 * 48 + 4 * 24 + 32) + elements * 48;
    let implicit = if body.axes.integrator.implicit() { (n + elements) * 76 + n * (9 * 24 + 72) } else { 0 };
    let reduced = if body.axes.coordinates == Coordinates::Reduced { spectrum::bytes(body) } else { 0 };
    explicit + implicit + reduced
}

/// The same for a framed body: rows of differences, matrix, factor and its columns for the rigid motions. A factor fills in
/// by a few numbers a node and doubling of a surface, by the cube root of the nodes in a solid.
fn framed_bytes(body: &Body) -> usize {
    let n = body.len() as f64;
    let fill = match body.shape.dimension {
        Dimension::Curve => 4.0,
        Dimension::Surface => 4.5 * n.log2(),
        Dimension::Solid => 3.0 * n.cbrt() * n.log2(),
    };
    let (coupled, groups) = match body.elastic.as_deref().and_then(|e| e.spline()) {
        Some(spline) if spline.coupled() == 1 => (1.0, 2.0),
        _ => (3.0, 1.0),
    };
    (n * (2.0 * 144.0 + 700.0 + 18.0 * 8.0 + groups * coupled * coupled * (fill * 8.0 + 600.0))) as usize
}

/// Deterministic start vector without symmetry.
fn start_vector(n: usize, free: &[bool]) -> Vec<DVec3> {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..n).map(|i| if free[i] { DVec3::new(next(), next(), next()) } else { DVec3::ZERO }).collect()
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Largest eigenvalue of M^-½ A M^-½, with Lanczos; a little above rather than below.
fn largest(body: &Body, free: &[bool], matrix: &BlockMatrix) -> f64 {
    let n = body.len();
    let root: Vec<f64> = body.masses.iter().map(|m| m.sqrt().recip()).collect();
    let mut v = start_vector(n, free);
    let norm = dot(&v, &v).sqrt();
    if norm == 0.0 {
        return 0.0;
    }
    v.iter_mut().for_each(|x| *x /= norm);
    let (mut before, mut w, mut scaled) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let (mut alphas, mut betas) = (Vec::new(), Vec::<f64>::new());
    let mut top = 0.0;
    for step in 0..80.min(3 * n) {
        (0..n).for_each(|i| scaled[i] = v[i] * root[i]);
        matrix.product(free, &scaled, &mut w);
        (0..n).for_each(|i| w[i] *= root[i]);
        let alpha = dot(&w, &v);
        let beta_before = betas.last().copied().unwrap_or(0.0);
        (0..n).for_each(|i| w[i] -= alpha * v[i] + beta_before * before[i]);
        alphas.push(alpha);
        let beta = dot(&w, &w).sqrt();
        let value = tridiagonal_top(&alphas, &betas);
        if beta <= 1e-12 * value || (step > 10 && (value - top).abs() < 1e-6 * value) {
            return value * 1.001;
        }
        top = value;
        betas.push(beta);
        before.copy_from_slice(&v);
        (0..n).for_each(|i| v[i] = w[i] / beta);
    }
    top * 1.01
}

/// Smallest eigenvalue that is not a rigid motion of a free body.
fn smallest(body: &Body, free: &[bool], x: &[DVec3], mut matrix: BlockMatrix, top: f64) -> Option<f64> {
    let n = body.len();
    let plain = matrix.clone();
    let shift = 1e-9 * top;
    (0..n).for_each(|i| matrix.add_diagonal(i, DMat3::from_diagonal(DVec3::splat(shift * body.masses[i]))));
    let mut rigid: Vec<Vec<DVec3>> = Vec::new();
    if free.iter().all(|f| *f) {
        let mass = body.mass();
        let center = (0..n).map(|i| body.masses[i] * x[i]).sum::<DVec3>() / mass;
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            rigid.push(vec![axis; n]);
            rigid.push(x.iter().map(|&p| axis.cross(p - center)).collect());
        }
    }
    let weigh = |a: &[DVec3], b: &[DVec3]| (0..n).map(|i| body.masses[i] * a[i].dot(b[i])).sum::<f64>();
    // Orthonormal with respect to mass.
    let mut basis: Vec<Vec<DVec3>> = Vec::new();
    for mut mode in rigid {
        for other in &basis {
            let along = weigh(&mode, other);
            (0..n).for_each(|i| mode[i] -= along * other[i]);
        }
        let norm = weigh(&mode, &mode).sqrt();
        if norm > 1e-9 * body.shape.extent().max(1.0) * body.mass().sqrt() {
            mode.iter_mut().for_each(|m| *m /= norm);
            basis.push(mode);
        }
    }
    let (mut v, mut right, mut image) = (start_vector(n, free), vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let settings = Settings { method: solve::Method::Cholesky, ..Settings::default() };
    let (mut solver, mut left, mut last) = (Solver::default(), 0, f64::INFINITY);
    for _ in 0..60 {
        for mode in &basis {
            let along = weigh(&v, mode);
            (0..n).for_each(|i| v[i] -= along * mode[i]);
        }
        let norm = weigh(&v, &v).sqrt();
        if norm == 0.0 || !norm.is_finite() {
            return None;
        }
        v.iter_mut().for_each(|x| *x /= norm);
        let value = plain.product(free, &v, &mut image);
        if (value - last).abs() <= 1e-7 * value.abs() || value < 1e-8 * shift.max(f64::MIN_POSITIVE) {
            return Some(if value < 10.0 * shift * 1e-3 { 0.0 } else { value });
        }
        last = value;
        (0..n).for_each(|i| right[i] = body.masses[i] * v[i]);
        solver.solve(&settings, &matrix, free, &right, &mut v, &mut left);
    }
    Some(if last < 10.0 * shift * 1e-3 { 0.0 } else { last })
}

/// Deepest fall of a node when the body has come to rest.
pub fn sag(model: &Model, index: usize) -> Option<f64> {
    let mut model = model.clone();
    let body = model.bodies.swap_remove(index);
    let start = body.start_positions();
    model.bodies = vec![body];
    model.probes.clear();
    model.events.clear();
    let down = model.gravity.normalize_or_zero();
    let mut world = World::new(model);
    let rest = world.settle().ok()?;
    if rest > 1e-3 {
        return None;
    }
    let x = &world.state().bodies[0].positions;
    Some(x.iter().zip(&start).map(|(x, s)| (*x - *s).dot(down)).fold(0.0, f64::max))
}

/// What of the card the elasticity cannot honour.
pub fn limits(body: &Body, planar: bool) -> Vec<String> {
    let mut out = body.elastic.as_deref().map_or(Vec::new(), |e: &dyn Elasticity| e.limits().to_vec());
    if body.axes.coordinates == Coordinates::Framed {
        let form = match body.elastic.as_deref().and_then(|e| e.spline()) {
            Some(spline) => spline.form(),
            None => "the stiffness of its springs at rest runs, constant in the axes of the frame",
        };
        out.insert(0, form.to_owned());
        let led = BodyState::new(body).framed.is_some_and(|framed| leads(body, &framed.reference, planar));
        out.push(match led {
            true => "its frame follows its pins, and displacement is measured from where they hold it: a part that turns far \
                     against them feels as if it were stretched"
                .to_owned(),
            false => "displacement is measured in one rigid frame that goes with the mean of the body: a part that turns \
                      against the rest feels as if it were stretched"
                .to_owned(),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axes, Material, Shape};

    /// Catches frequencies that are off by 2π, by the grid, or by held nodes.
    #[test]
    fn a_held_bar_has_the_frequencies_of_the_theory() {
        let (length, nodes) = (1.0, 41);
        let shape = Shape::line(length, nodes).unwrap();
        // Thin: the bend stencils also resist an uneven stretch, by (r/h)² of the springs.
        let card = Material { young: 1e6, density: 1000.0, radius: 0.001, damping: 0.0, ..Material::default() };
        let body = Body::new("bar", shape, card, Axes::SPRING).pin(&[0]);
        let found = inspect(&Model { bodies: vec![body], ..Model::default() }, 0);
        // Lattice of springs k = EA/h and masses ρAh: the top of the band is 2 √(k/m), a little below for a finite bar.
        let h = length / (nodes - 1) as f64;
        let top = 2.0 * (1e6f64 / 1000.0).sqrt() / h / std::f64::consts::TAU;
        assert!((found.highest / top - 1.0).abs() < 0.01, "{} {top}", found.highest);
        assert!((found.stable_step - 2.0 / (found.highest * std::f64::consts::TAU)).abs() < 1e-9);
    }

    /// Catches a lost mode or a rigid motion taken for a vibration: clamped cantilever
    /// of springs with bending, βL = 1.875104.
    #[test]
    fn a_clamped_cantilever_has_its_lowest_frequency() {
        let (length, radius, young, density) = (1.0, 0.01, 1e8, 1000.0);
        let frequency = |nodes: usize| {
            let shape = Shape::line(length, nodes).unwrap();
            let card = Material { young, density, radius, damping: 0.0, ..Material::default() };
            let body = Body::new("beam", shape, card, Axes::IMPLICIT).pin(&[0, 1]);
            inspect(&Model { bodies: vec![body], gravity: DVec3::ZERO, ..Model::default() }, 0).lowest.unwrap()
        };
        let (area, inertia) = (std::f64::consts::PI * radius.powi(2), std::f64::consts::PI * radius.powi(4) / 4.0);
        let theory = 1.875104f64.powi(2) * (young * inertia / (density * area)).sqrt() / std::f64::consts::TAU;
        // Two held nodes are a clamp to first order in h, and shorten the beam by about one cell.
        let errors: Vec<f64> = [41, 81, 161].iter().map(|&n| (frequency(n) / theory - 1.0).abs()).collect();
        assert!(errors[2] < 0.015 && errors[0] / errors[1] > 1.7 && errors[1] / errors[2] > 1.7, "{errors:?}");
    }

    /// Catches a framed body that is given a step limit, no frequency, or no word about its form.
    #[test]
    fn a_framed_cantilever_has_its_lowest_frequency_and_no_step_limit() {
        let (length, nodes) = (1.0, 41);
        let total = length * (nodes - 1) as f64 / (nodes as f64 - 1.5);
        let card = Material { young: 1e10, density: 1000.0, radius: 0.01, damping: 0.0, ..Material::default() };
        let body = Body::new("beam", Shape::line(total, nodes).unwrap(), card, Axes::HYBRID).pin(&[0, 1]);
        let words = limits(&body, false);
        assert!(words[0].contains("card form"), "{words:?}");
        assert!(words.iter().any(|w| w.contains("follows its pins")), "{words:?}");
        let model = Model { bodies: vec![body], ..Model::default() };
        let found = inspect(&model, 0);
        let theory = 1.875104f64.powi(2) * (1e10f64 * 1e-4 / 4.0 / 1000.0).sqrt() / std::f64::consts::TAU;
        assert!((found.lowest.unwrap() / theory - 1.0).abs() < 0.01, "{found:?} {theory}");
        assert!(found.stable_step.is_infinite());
        // ρAgL⁴/8EI, small.
        let sag = 1000.0 * 9.81 / (8.0 * 1e10 * 1e-4 / 4.0);
        assert!((found.sag.unwrap() / sag - 1.0).abs() < 0.05, "{found:?} {sag}");
    }

    /// Catches a free body reported as free to deform, or with the frequency of its drift.
    #[test]
    fn rigid_motions_of_a_free_body_are_left_out() {
        let shape = Shape::block(DVec3::splat(0.1), [5, 5, 5]).unwrap();
        let card = Material { young: 1e5, density: 1000.0, ..Material::default() };
        let found =
            inspect(&Model { bodies: vec![Body::new("cube", shape, card, Axes::IMPLICIT)], ..Model::default() }, 0);
        let lowest = found.lowest.unwrap();
        // A free cube's lowest modes are its twists, of the order of √(G/ρ)/(2a).
        assert!(lowest > 20.0 && lowest < 60.0, "{lowest}");
    }
}
