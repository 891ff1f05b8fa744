//! The bodies that are measured.

use glam::DVec3;
use goop::elastic::{Elasticity, Springs, Weights, lattice};
use goop::material::Material;
use goop::model::{Axes, Body, Integrator, Model};
use goop::solve::{BlockMatrix, Method, Settings, cg};
use goop::{Shape, World};

/// Jelly: soft enough that an implicit step of 1/240 s needs tens of iterations.
const JELLY: Material = Material {
    density: 1000.0,
    young: 1.0e5,
    poisson: 0.25,
    thickness: 1.0e-2,
    radius: 1.0e-2,
    damping: 0.05,
    drag: 0.0,
    friction: 0.3,
    restitution: 0.0,
    yield_strain: f64::INFINITY,
    flow: 0.0,
    flow_limit: f64::INFINITY,
    tear: f64::INFINITY,
};

/// A shape with its springs and a deformed, moving state.
pub struct Case {
    pub shape: Shape,
    pub springs: Springs,
    memory: Vec<f64>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

impl Case {
    /// A cube of one metre.
    pub fn cube(side: usize) -> Self {
        Self::new(Shape::block(DVec3::ONE, [side; 3]).expect("a valid block"), JELLY)
    }

    /// A square of one metre.
    pub fn sheet(side: usize) -> Self {
        Self::new(Shape::rectangle([1.0; 2], [side; 2]).expect("a valid rectangle"), JELLY)
    }

    /// The same without dampers.
    pub fn undamped(&self) -> Self {
        Self::new(self.shape.clone(), Material { damping: 0.0, ..JELLY })
    }

    fn new(shape: Shape, material: Material) -> Self {
        let springs = lattice::springs(&shape, &material.into());
        let wave = |r: DVec3| DVec3::new((7.0 * r.y).sin(), (5.0 * r.z).cos(), (6.0 * r.x).sin());
        let x = shape.rest_positions.iter().map(|&r| r + 0.02 * wave(r)).collect();
        let v = shape.rest_positions.iter().map(|&r| wave(2.0 * r)).collect();
        Self { memory: springs.memory(), shape, springs, x, v }
    }

    pub fn nodes(&self) -> usize {
        self.x.len()
    }

    pub fn damped(&self) -> bool {
        self.springs.damped()
    }

    pub fn forces(&self, f: &mut [DVec3], g: &mut [DVec3]) -> f64 {
        self.springs.forces(&self.memory, &self.x, &self.v, f, g)
    }

    /// The body in a world, the bottom of a cube and one edge of a sheet held.
    pub fn world(&self, integrator: Integrator, dt: f64) -> World {
        let axes = Axes::nodal_springs(integrator);
        let mut body = Body::new("body", self.shape.clone(), JELLY, axes);
        body.solver.method = Method::ConjugateGradients;
        body.solver.max_iterations = 2000;
        let flat = self.shape.rest_positions.iter().all(|r| r.y == 0.0);
        let height = |i: u32| self.shape.rest_positions[i as usize][if flat { 2 } else { 1 }];
        let held: Vec<u32> = (0..self.shape.len() as u32).filter(|&i| height(i) < -0.5 + 1e-9).collect();
        let mut model = Model { bodies: vec![body.pin(&held)], ..Model::default() };
        model.step.dt = dt;
        World::new(model)
    }
}

/// A filled matrix and the vectors of a solve.
pub struct Solved {
    pub matrix: BlockMatrix,
    free: Vec<bool>,
    right: Vec<DVec3>,
    x: Vec<DVec3>,
    scratch: cg::Scratch,
}

impl Solved {
    /// The matrix of an implicit step of 1/240 s.
    pub fn new(case: &Case) -> Self {
        let n = case.nodes();
        let zero = vec![DVec3::ZERO; n];
        let matrix = case.springs.structure();
        let mut out = Self { matrix, free: vec![true; n], right: case.v.clone(), x: zero, scratch: Default::default() };
        out.assemble(case);
        out
    }

    pub fn assemble(&mut self, case: &Case) {
        let h = 1.0 / 240.0;
        self.matrix.clear();
        let weights = Weights { position: h * h, velocity: h };
        case.springs.stiffness(&case.memory, &case.x, weights, false, &mut self.matrix);
    }

    pub fn product(&mut self) -> f64 {
        self.matrix.product(&self.free, &self.right, &mut self.x)
    }

    /// A solve that stops after so many iterations.
    pub fn iterate(&mut self, count: usize) {
        let settings = Settings { max_iterations: count, tolerance: 0.0, ..Settings::default() };
        self.x.fill(DVec3::ZERO);
        self.scratch.solve(&settings, &self.matrix, &self.free, &self.right, &mut self.x);
    }
}
