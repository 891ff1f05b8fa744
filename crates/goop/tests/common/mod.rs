//! Bodies, obstacles and measurements that the physics tests share.
#![allow(dead_code)]

use glam::{DMat3, DQuat, DVec3};
use goop::animate::Motion;
use goop::contact::{Obstacle, ObstacleShape};
use goop::ledger::Row;
use goop::model::StepSettings;
use goop::{Axes, Body, Integrator, Material, Model, Shape, World};

/// Every integrator of nodal coordinates.
pub const NODAL: [(&str, Integrator); 6] = [
    ("explicit-diagonal", Integrator::ExplicitDiagonal),
    ("explicit-taylor", Integrator::ExplicitTaylor),
    ("symplectic-euler", Integrator::SymplecticEuler),
    ("backward-euler", Integrator::BackwardEuler),
    ("implicit-midpoint", Integrator::ImplicitMidpoint),
    ("bdf2", Integrator::Bdf2),
];

/// The axes that a block may have, with a stiffness that suits each.
pub fn kinds() -> [(&'static str, Axes, f64); 4] {
    [
        ("rigid", Axes::RIGID, 1e6),
        ("hybrid", Axes::HYBRID, 1e6),
        ("implicit", Axes::IMPLICIT, 1e5),
        ("finite", Axes::FINITE, 1e5),
    ]
}

/// Springs on nodes.
pub fn nodal(integrator: Integrator) -> Axes {
    Axes::nodal_springs(integrator)
}

/// A world of one body without gravity, with fixed steps.
pub fn weightless(body: Body, dt: f64) -> World {
    World::new(Model { gravity: DVec3::ZERO, ..fixed(body, dt) })
}

/// A model of one body with fixed steps.
pub fn fixed(body: Body, dt: f64) -> Model {
    Model { bodies: vec![body], step: StepSettings { dt, adaptive: false, ..Default::default() }, ..Default::default() }
}

/// A plane through the origin or any other obstacle, with friction and no damping.
pub fn obstacle(shape: ObstacleShape, friction: f64) -> Obstacle {
    Obstacle {
        name: "obstacle".into(),
        shape,
        hollow: false,
        motion: Motion::default(),
        friction,
        restitution: 0.0,
        range: 5e-3,
        stiffness: None,
        damping: 0.0,
        tolerance: 1e-3,
        published: None,
        removed: false,
    }
}

/// A cube's worth of nodes.
pub fn block(size: DVec3, nodes: [usize; 3], material: Material, axes: Axes) -> Body {
    Body::new("block", Shape::block(size, nodes).unwrap(), material, axes)
}

/// Takes steps up to a time.
pub fn run(world: &mut World, seconds: f64) {
    while world.time() < seconds - 1e-9 {
        world.step().unwrap();
    }
}

/// Shifts every node by a smooth wave of this height, leaving velocities alone.
pub fn deform(world: &mut World, height: f64) {
    let mut state = world.state().clone();
    for x in state.bodies.iter_mut().flat_map(|b| &mut b.positions) {
        let p = *x * 7.0;
        *x += height * DVec3::new((p.y + 1.0).sin(), (p.z - 0.5).cos(), (p.x + p.y).sin());
    }
    world.restore(state);
}

/// Centre of mass of the first body (m).
pub fn center(world: &World) -> DVec3 {
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    (0..body.len()).map(|i| body.masses[i] * state.positions[i]).sum::<DVec3>() / body.mass()
}

/// Momentum, and angular momentum about the centre of mass.
pub fn momenta(world: &World) -> (DVec3, DVec3) {
    let (body, state, c) = (&world.model().bodies[0], &world.state().bodies[0], center(world));
    (0..body.len()).fold((DVec3::ZERO, DVec3::ZERO), |(p, l), i| {
        let momentum = body.masses[i] * state.velocities[i];
        (p + momentum, l + (state.positions[i] - c).cross(momentum))
    })
}

/// The rotation that brings the rest shape of the first body nearest to its nodes.
pub fn orientation(world: &World) -> DQuat {
    let (body, state, c) = (&world.model().bodies[0], &world.state().bodies[0], center(world));
    let rest = &body.shape.rest_positions;
    let middle = (0..body.len()).map(|i| body.masses[i] * rest[i]).sum::<DVec3>() / body.mass();
    let mut a = DMat3::ZERO;
    for i in 0..body.len() {
        let (q, r) = (state.positions[i] - c, (rest[i] - middle) * body.masses[i]);
        a += DMat3::from_cols(q * r.x, q * r.y, q * r.z);
    }
    // Polar factor by Newton's iteration R ← ½ (R + R⁻ᵀ).
    a *= (1.0 / a.determinant().abs()).cbrt();
    for _ in 0..60 {
        a = (a + a.inverse().transpose()) * 0.5;
    }
    DQuat::from_mat3(&a).normalize()
}

/// Angle between two orientations (rad).
pub fn angle_between(a: DQuat, b: DQuat) -> f64 {
    2.0 * (a * b.inverse()).xyz().length().min(1.0).asin()
}

/// Orders of convergence seen in errors at steps halved each time.
pub fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect()
}

/// Deepest a node of the first body has been (m).
pub fn depth(world: &World) -> f64 {
    world.state().bodies[0].row.worst_penetration
}

/// What does not close, relative to what has been exchanged.
pub fn share(row: &Row) -> f64 {
    row.residue().abs() / row.exchanged
}

/// Largest distance between the nodes of two worlds' first bodies (m).
pub fn distance(a: &World, b: &World) -> f64 {
    let (a, b) = (&a.state().bodies[0].positions, &b.state().bodies[0].positions);
    a.iter().zip(b).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
}

/// Numbers for a line of print.
pub fn list(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.2e}")).collect::<Vec<_>>().join(" ")
}

/// Eigenvalues of a symmetric matrix, ascending: to tridiagonal form by Householder's reflections, then
/// counted by Sturm sequences.
pub fn symmetric_eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    let (mut diagonal, mut beside) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n.saturating_sub(2) {
        let norm = (k + 1..n).map(|i| a[i][k] * a[i][k]).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        let alpha = -norm.copysign(a[k + 1][k]);
        let mut u: Vec<f64> = (0..n).map(|i| if i > k { a[i][k] } else { 0.0 }).collect();
        u[k + 1] -= alpha;
        let uu: f64 = u.iter().map(|u| u * u).sum();
        // A ← A - u wᵀ - w uᵀ
        let p: Vec<f64> = (0..n).map(|i| 2.0 / uu * (k + 1..n).map(|j| a[i][j] * u[j]).sum::<f64>()).collect();
        let up: f64 = (k + 1..n).map(|i| u[i] * p[i]).sum::<f64>() / uu;
        let w: Vec<f64> = (0..n).map(|i| p[i] - up * u[i]).collect();
        for i in k..n {
            for j in k..n {
                a[i][j] -= u[i] * w[j] + w[i] * u[j];
            }
        }
    }
    for i in 0..n {
        diagonal[i] = a[i][i];
        beside[i] = if i > 0 { a[i][i - 1] } else { 0.0 };
    }
    let bound = (0..n).map(|i| diagonal[i].abs() + 2.0 * beside[i].abs()).fold(0.0, f64::max) * 2.0 + 1e-300;
    // How many eigenvalues are below x.
    let below = |x: f64| {
        let (mut count, mut q) = (0, 1.0f64);
        for i in 0..n {
            q = diagonal[i] - x - if i > 0 { beside[i] * beside[i] / q } else { 0.0 };
            if q == 0.0 {
                q = 1e-300;
            }
            count += usize::from(q < 0.0);
        }
        count
    };
    (0..n)
        .map(|k| {
            let (mut low, mut high) = (-bound, bound);
            for _ in 0..90 {
                let middle = 0.5 * (low + high);
                if below(middle) > k { high = middle } else { low = middle }
            }
            0.5 * (low + high)
        })
        .collect()
}

/// Lowest angular frequencies (rad/s) of a body about a shape in which it is at rest, hard pins held: inverse
/// iteration on a few vectors at once.
pub fn frequencies(body: &Body, x: &[DVec3], count: usize) -> Vec<f64> {
    let elastic = body.elastic.as_ref().unwrap();
    let n = body.len();
    let mut free = vec![true; n];
    body.pins.iter().flat_map(|p| &p.nodes).for_each(|&i| free[i as usize] = false);
    let mut matrix = elastic.structure();
    let weights = goop::elastic::Weights { position: 1.0, velocity: 0.0 };
    elastic.stiffness(&elastic.memory(), x, weights, true, &mut matrix);
    let settings = goop::solve::Settings { method: goop::solve::Method::Cholesky, ..Default::default() };
    let mut solver = goop::solve::Solver::default();
    let wide = count + 4;
    let dot = |a: &[DVec3], b: &[DVec3]| (0..n).map(|i| body.masses[i] * a[i].dot(b[i])).sum::<f64>();
    let mut basis: Vec<Vec<DVec3>> = (0..wide)
        .map(|k| {
            let wave = |i: usize, c: f64| ((i as f64 + 1.3) * (1.7 + c + 0.9 * k as f64)).sin();
            (0..n)
                .map(|i| if free[i] { DVec3::new(wave(i, 0.1), wave(i, 0.5), wave(i, 1.3)) } else { DVec3::ZERO })
                .collect()
        })
        .collect();
    let mut values: Vec<f64> = Vec::new();
    for _ in 0..40 {
        for k in 0..wide {
            let right: Vec<DVec3> = (0..n).map(|i| body.masses[i] * basis[k][i]).collect();
            let mut out = vec![DVec3::ZERO; n];
            let report = solver.solve(&settings, &matrix, &free, &right, &mut out, &mut 0);
            assert!(report.residual < 1e-3, "{report:?}");
            for _ in 0..2 {
                for j in 0..k {
                    let part = dot(&out, &basis[j]);
                    (0..n).for_each(|i| out[i] -= part * basis[j][i]);
                }
            }
            let norm = dot(&out, &out).sqrt();
            out.iter_mut().for_each(|v| *v /= norm);
            basis[k] = out;
        }
        let mut small = vec![vec![0.0; wide]; wide];
        let mut image = vec![DVec3::ZERO; n];
        for j in 0..wide {
            matrix.product(&free, &basis[j], &mut image);
            for i in 0..wide {
                small[i][j] = (0..n).map(|a| basis[i][a].dot(image[a])).sum();
            }
        }
        let found = symmetric_eigenvalues(small);
        let done = values.len() == wide && (0..count).all(|k| (found[k] / values[k] - 1.0f64).abs() < 1e-9);
        values = found;
        if done {
            break;
        }
    }
    values[..count].iter().map(|v| v.sqrt()).collect()
}
