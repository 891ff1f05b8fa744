//! Stretching of a surface: the metric tensor of the cells of a grid.
//!
//! A cell with corners 0 (0,0), 1 (1,0), 2 (0,1), 3 (1,1) measures, with e the sides along axis 1 and f
//! those along axis 2,
//! ```text
//! q = |e₀₁|², |e₂₃|², |f₀₂|², |f₁₃|², ē·f̄       G₁₁ and G₂₂ on sides, G₁₂ the mean of four corners
//! E = ½ (q - q⁰)ᵀ H (q - q⁰)                    [GO] eq 6, first sum, with the cross term   [J]
//! ```
//! H: see `quadratic`; St Venant-Kirchhoff in plane stress for the mean strain, and a third of the free
//! modulus for the difference between opposite sides, which makes bending in the plane right with a single cell across.
//! Five strains a cell for three unknowns a node is neither too few (hourglass modes) nor so many
//! that a thin sheet could not bend without stretching.
//!
//! Departs from the paper: forces are the exact gradient; G₁₂ favours no diagonal; Poisson's ratio is honoured; the
//! implicit stiffness clamps the eigenvalues of the stress.

use super::card::Plane;
use super::element::{Blocks, Element, Gradient};
use super::quadratic::{clamp, moduli, plane_axes, solve};
use glam::{DMat3, DVec3};

/// One cell.
#[derive(Clone, Debug)]
pub(super) struct SurfaceMetric {
    pub nodes: [u32; 4],
    pub moduli: [[f64; 5]; 5],
    /// Of a side by itself, once the cell is torn.
    pub sides: [f64; 4],
    pub unit: f64,
    pub time: f64,
}

/// Sides, as nodes.
const SIDES: [[usize; 2]; 4] = [[0, 1], [2, 3], [0, 2], [1, 3]];
/// ē, f̄ and half the difference of opposite sides, as weights of nodes: orthonormal.
const MODES: [[f64; 4]; 3] = [[-0.5, 0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, 0.5], [0.5, -0.5, -0.5, 0.5]];

impl SurfaceMetric {
    /// From rest positions; none for a cell without an area.
    pub fn new(nodes: [u32; 4], x: [DVec3; 4], plane: Plane, measure: f64, time: f64) -> Option<Self> {
        let [e, f, d] = MODES.map(|m| (0..4).map(|a| m[a] * x[a]).sum::<DVec3>());
        let axes = plane_axes(e, f)?;
        // The difference of sides, 2d, along the tangents.
        let normal = e.cross(f).normalize();
        let along = |v: DVec3| {
            let v = v - v.dot(normal) * normal;
            let (ee, ef, ff) = (e.dot(e), e.dot(f), f.dot(f));
            let det = ee * ff - ef * ef;
            [(v.dot(e) * ff - v.dot(f) * ef) / det, (v.dot(f) * ee - v.dot(e) * ef) / det]
        };
        let [c, s] = along(d);
        let square = |[a, b]: [f64; 2]| [a * a, b * b, 2.0 * a * b];
        let phi =
            [square([1.0 - c, -s]), square([1.0 + c, s]), square([-c, 1.0 - s]), square([c, 1.0 + s]), [0.0, 0.0, 1.0]];
        // With m the metric of ē and f̄, and g, h how sides along ē and f̄ turn against one another,
        // changes of mean squares, of the product and of differences of squares are, to first order,
        //   m₁₁ + cg + sh - 2cs m₁₂,  m₂₂ + cg + sh - 2cs m₁₂,  m₁₂,  g + c m₁₁,  h + s m₂₂.
        let system = [
            [1.0, 0.0, -2.0 * c * s, c, s],
            [0.0, 1.0, -2.0 * c * s, c, s],
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [c, 0.0, 0.0, 1.0, 0.0],
            [0.0, s, 0.0, 0.0, 1.0],
        ];
        let measured = [
            [0.5, 0.5, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.5, 0.5, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0],
            [-0.5, 0.5, 0.0, 0.0, 0.0],
            [0.0, 0.0, -0.5, 0.5, 0.0],
        ];
        let [m11, m22, m12, ..] = solve(system, measured)?;
        let means = [m11, m22, m12];
        let strain = axes.map(|row| row.map(|v| 0.5 * v));
        let [first, second] = plane.along();
        let (l1, l2) = (0.25 / e.length_squared(), 0.25 / f.length_squared());
        let variations = [([-l1, l1, 0.0, 0.0, 0.0], first / 3.0), ([0.0, 0.0, -l2, l2, 0.0], second / 3.0)]
            .map(|(row, c)| (row, row, c));
        let moduli = moduli(&phi, &means, &strain, &plane.matrix(), &variations, measure)?;
        // Half the cell for each side: ½ k (ΔG / 2G)².
        let side = |modulus: f64, k: usize| {
            let [a, b] = SIDES[k];
            0.125 * measure * modulus / (x[b] - x[a]).length_squared().powi(2)
        };
        let sides = [side(first, 0), side(first, 1), side(second, 2), side(second, 3)];
        let unit = measure * first.max(second);
        sides.iter().all(|s| s.is_finite()).then_some(Self { nodes, moduli, sides, unit, time })
    }
}

impl Element<4, 5> for SurfaceMetric {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 4] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn links(&self) -> Vec<[u32; 2]> {
        SIDES.iter().map(|s| s.map(|a| self.nodes[a])).collect()
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 4]) -> [f64; 5] {
        let [p, q, r, s] = [x[1] - x[0], x[3] - x[2], x[2] - x[0], x[3] - x[1]];
        let mixed = 0.25 * (p + q).dot(r + s);
        [p.length_squared(), q.length_squared(), r.length_squared(), s.length_squared(), mixed]
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4], out: &mut Gradient<4, 5>) -> [f64; 5] {
        let [p, q, r, s] = [x[1] - x[0], x[3] - x[2], x[2] - x[0], x[3] - x[1]];
        for (k, side) in [p, q, r, s].into_iter().enumerate() {
            let [a, b] = SIDES[k];
            out[k][a] = -2.0 * side;
            out[k][b] = 2.0 * side;
        }
        let (e, f) = (0.5 * (p + q), 0.5 * (r + s));
        let (sum, difference) = (0.5 * (e + f), 0.5 * (f - e));
        out[4] = [-sum, difference, -difference, sum];
        [p.length_squared(), q.length_squared(), r.length_squared(), s.length_squared(), e.dot(f)]
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 5], broken: u32) -> [f64; 5] {
        if broken != 0 {
            let side = |k: usize| if broken >> k & 1 == 0 { self.sides[k] * over[k] } else { 0.0 };
            return [side(0), side(1), side(2), side(3), 0.0];
        }
        std::array::from_fn(|k| (0..5).map(|l| self.moduli[k][l] * over[l]).sum())
    }

    #[inline(always)]
    fn geometric(&self, _x: &[DVec3; 4], stress: &[f64; 5], exact: bool, factor: f64, out: &mut Blocks<4>) {
        let [p, q, r, s, t] = *stress;
        let (u, v, sum) = (q - p, s - r, p + q + r + s);
        let mut form = DMat3::from_cols_array(&[p + q, 0.5 * t, u, 0.5 * t, r + s, v, u, v, sum]);
        if !exact {
            form = clamp(form);
        }
        for b in 0..4 {
            let column = DVec3::new(MODES[0][b], MODES[1][b], MODES[2][b]);
            let image = form * column * (2.0 * factor);
            for a in 0..=b {
                let k = DVec3::new(MODES[0][a], MODES[1][a], MODES[2][a]).dot(image);
                out[a][b] += DMat3::from_diagonal(DVec3::splat(k));
            }
        }
    }
}
