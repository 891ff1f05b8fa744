//! Stretching of a triangle: constant strain.
//!
//! ```text
//! q = |x₁-x₀|², |x₂-x₁|², |x₀-x₂|²          the metric, by its sides
//! G₁₁ = q₀,  G₂₂ = q₂,  G₁₂ = (q₀ + q₂ - q₁)/2      along x₁-x₀ and x₂-x₀
//! E = ½ (q - q⁰)ᵀ H (q - q⁰)                 St Venant-Kirchhoff in plane stress             [J]
//! ```
//! For meshes, and for the cells of a grid that end in a pole.

use super::card::Plane;
use super::element::{Blocks, Element, Gradient};
use super::quadratic::{clamp, moduli, plane_axes};
use glam::{DMat3, DVec3};

/// One triangle.
#[derive(Clone, Debug)]
pub(super) struct TriangleMetric {
    pub nodes: [u32; 3],
    pub moduli: [[f64; 3]; 3],
    pub sides: [f64; 3],
    pub unit: f64,
    pub time: f64,
}

const SIDES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

impl TriangleMetric {
    /// From rest positions; none without an area.
    pub fn new(nodes: [u32; 3], x: [DVec3; 3], plane: Plane, measure: f64, time: f64) -> Option<Self> {
        let axes = plane_axes(x[1] - x[0], x[2] - x[0])?;
        let strain = axes.map(|row| row.map(|v| 0.5 * v));
        let phi = [[1.0, 0.0, 0.0], [1.0, 1.0, -2.0], [0.0, 1.0, 0.0]];
        let means = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.5, -0.5, 0.5]];
        let moduli = moduli(&phi, &means, &strain, &plane.matrix(), &[], measure)?;
        let along = plane.along();
        let unit = measure * along[0].max(along[1]);
        let sides = SIDES.map(|[a, b]| unit / (12.0 * (x[b] - x[a]).length_squared().powi(2)));
        sides.iter().all(|s| s.is_finite()).then_some(Self { nodes, moduli, sides, unit, time })
    }
}

impl Element<3, 3> for TriangleMetric {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 3] {
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
    fn strains(&self, x: &[DVec3; 3]) -> [f64; 3] {
        SIDES.map(|[a, b]| x[b].distance_squared(x[a]))
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 3], out: &mut Gradient<3, 3>) -> [f64; 3] {
        for (k, [a, b]) in SIDES.into_iter().enumerate() {
            let side = 2.0 * (x[b] - x[a]);
            out[k][a] = -side;
            out[k][b] = side;
        }
        self.strains(x)
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 3], broken: u32) -> [f64; 3] {
        if broken != 0 {
            return std::array::from_fn(|k| if broken >> k & 1 == 0 { self.sides[k] * over[k] } else { 0.0 });
        }
        std::array::from_fn(|k| (0..3).map(|l| self.moduli[k][l] * over[l]).sum())
    }

    #[inline(always)]
    fn geometric(&self, _x: &[DVec3; 3], stress: &[f64; 3], exact: bool, factor: f64, out: &mut Blocks<3>) {
        let [p, q, r] = *stress;
        // In x₁-x₀ and x₂-x₀.
        let mut form = DMat3::from_cols_array(&[p + q, -q, 0.0, -q, q + r, 0.0, 0.0, 0.0, 0.0]);
        if !exact {
            form = clamp(form);
        }
        let row = [DVec3::new(-1.0, -1.0, 0.0), DVec3::X, DVec3::Y];
        for b in 0..3 {
            let image = form * row[b] * (2.0 * factor);
            for a in 0..=b {
                out[a][b] += DMat3::from_diagonal(DVec3::splat(row[a].dot(image)));
            }
        }
    }
}
