//! Bending of a surface: the curvature tensor on a grid.
//!
//! ```text
//! B₁₁ = n·(x₊ - 2x + x₋)  along axis 1,  B₂₂ along axis 2       at a node, n ⟂ both central differences
//! B₁₂ = n·(x₀ - x₁ - x₂ + x₃)                                  in a cell, n ⟂ its mean sides
//! E = ½ ∫ (B - B⁰) : C : (B - B⁰) dA        [GO] eq 6, second sum, with the cross term          [J]
//! ```
//! C is the plate's in orthonormal axes, brought to the grid's by its metric at rest. At every corner of every cell the node's
//! B₁₁, B₂₂ meet the cell's B₁₂. With the form F in (B₁₁, B₂₂, B₁₂),
//! ```text
//! Bᵀ F B = a (B₁₂ + l₁B₁₁ + l₂B₂₂)² + (B₁₁, B₂₂) Q (B₁₁, B₂₂)ᵀ
//! ```
//! where the axes are at right angles l = 0, and the four corners of a cell make one twist element.
//! At a border the component across it is missing; it is the one that makes E least: the moment of a free edge is zero.
//!
//! Departs from the paper: forces are the exact gradient, so that a curved sheet pressed flat springs back; normals on
//! the last row and column use the differences there are; B₁₂ favours no diagonal. The implicit stiffness is that of Gauss-Newton.

use super::card::Plane;
use super::curvature::{Term, gradient, second, spread, value, vectors};
use super::element::{Blocks, Element, Gradient};
use super::quadratic::plane_axes;
use glam::DVec3;

/// At a node inside: centre, after and before along axis 1, after and before along axis 2.
#[derive(Clone, Debug)]
pub(super) struct NodeCurvature {
    pub nodes: [u32; 5],
    /// Q: 11, 22, 12.
    pub moduli: [f64; 3],
    pub unit: f64,
    pub time: f64,
}

const ALONG: [Term<5>; 2] = {
    let (p, q) = ([0.0, 1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -1.0]);
    [[[-2.0, 1.0, 1.0, 0.0, 0.0], p, q], [[-2.0, 0.0, 0.0, 1.0, 1.0], p, q]]
};

impl Element<5, 2> for NodeCurvature {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 5] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn links(&self) -> Vec<[u32; 2]> {
        let [c, e, w, n, s] = self.nodes;
        vec![[c, e], [w, c], [c, n], [s, c]]
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 5]) -> [f64; 2] {
        let (p, q, c) = (x[1] - x[2], x[3] - x[4], 2.0 * x[0]);
        [value([x[1] + x[2] - c, p, q]), value([x[3] + x[4] - c, p, q])]
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 5], out: &mut Gradient<5, 2>) -> [f64; 2] {
        let (p, q) = (x[1] - x[2], x[3] - x[4]);
        let (b, [n, u, v]) = gradient([(x[1] - x[0]) + (x[2] - x[0]), p, q]);
        out[0] = [-2.0 * n, n + u, n - u, v, -v];
        let (c, [n, u, v]) = gradient([(x[3] - x[0]) + (x[4] - x[0]), p, q]);
        out[1] = [-2.0 * n, u, -u, n + v, n - v];
        [b, c]
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 2], broken: u32) -> [f64; 2] {
        let [a, b, c] = self.moduli;
        if broken == 0 {
            return [a * over[0] + c * over[1], c * over[0] + b * over[1]];
        }
        // Along the axis that still holds, with no moment across.
        let first = if broken & 0b0011 == 0 && b > 0.0 { a - c * c / b } else { 0.0 };
        let second = if broken & 0b1100 == 0 && a > 0.0 { b - c * c / a } else { 0.0 };
        [first * over[0], second * over[1]]
    }

    fn geometric(&self, x: &[DVec3; 5], stress: &[f64; 2], exact: bool, factor: f64, out: &mut Blocks<5>) {
        if exact {
            for k in 0..2 {
                second(&ALONG[k], x, factor * stress[k], out);
            }
        }
    }
}

/// One number made of up to two components: a border node's, a cell's, or both at a corner.
#[derive(Clone, Debug)]
pub(super) struct MixedCurvature<const N: usize, const T: usize> {
    pub nodes: [u32; N],
    /// Weights of d, p, q, with the factor of the component in d.
    pub terms: [Term<N>; T],
    pub stiffness: f64,
    pub unit: f64,
    pub time: f64,
    /// Kept only where edges may break.
    pub links: Vec<[u32; 2]>,
}

impl<const N: usize, const T: usize> Element<N, 1> for MixedCurvature<N, T> {
    fn nodes(&self) -> &[u32; N] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn links(&self) -> Vec<[u32; 2]> {
        self.links.clone()
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; N]) -> [f64; 1] {
        [self.terms.iter().map(|term| value(vectors(term, x))).sum()]
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; N], out: &mut Gradient<N, 1>) -> [f64; 1] {
        let mut sum = 0.0;
        for term in &self.terms {
            let (b, slopes) = gradient(vectors(term, x));
            spread(term, &slopes, 1.0, &mut out[0]);
            sum += b;
        }
        [sum]
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 1], broken: u32) -> [f64; 1] {
        [if broken == 0 { self.stiffness * over[0] } else { 0.0 }]
    }

    fn geometric(&self, x: &[DVec3; N], stress: &[f64; 1], exact: bool, factor: f64, out: &mut Blocks<N>) {
        if exact {
            for term in &self.terms {
                second(term, x, factor * stress[0], out);
            }
        }
    }
}

/// The form in (B₁₁, B₂₂, B₁₂) split as above, per area.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    /// a
    pub twist: f64,
    /// l₁, l₂; 0 where the component is missing.
    pub lean: [f64; 2],
    /// Q: 11, 22, 12.
    pub along: [f64; 3],
}

impl Split {
    /// For a plate with these tangents at rest; components that are not `known` are free. None
    /// where the tangents have no normal.
    pub fn new(tangents: [DVec3; 2], plate: &Plane, known: [bool; 2]) -> Option<Self> {
        let axes = plane_axes(tangents[0], tangents[1])?;
        let c = plate.matrix();
        let mut f = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..3 {
                    for l in 0..3 {
                        f[i][j] += axes[k][i] * c[k][l] * axes[l][j];
                    }
                }
            }
        }
        for k in (0..2).filter(|&k| !known[k]) {
            eliminate(&mut f, k);
        }
        let twist = f[2][2];
        let lean = if twist > 0.0 { [f[0][2] / twist, f[1][2] / twist] } else { [0.0; 2] };
        eliminate(&mut f, 2);
        // Rounding of right angles.
        let small = |k: usize| lean[k] * lean[k] * twist <= 1e-18 * f[k][k];
        let lean = [0, 1].map(|k| if small(k) { 0.0 } else { lean[k] });
        Some(Self { twist, lean, along: [f[0][0], f[1][1], f[0][1]] })
    }
}

/// What remains of a form when one variable makes it least.
fn eliminate(f: &mut [[f64; 3]; 3], k: usize) {
    let row = f[k];
    for i in 0..3 {
        for j in 0..3 {
            f[i][j] -= if row[k] > 0.0 { row[i] * row[j] / row[k] } else { 0.0 };
        }
    }
    for i in 0..3 {
        (f[i][k], f[k][i]) = (0.0, 0.0);
    }
}
