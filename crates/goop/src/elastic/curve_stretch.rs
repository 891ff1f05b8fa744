//! Stretching of a curve.
//!
//! Per segment of rest length `l0` between two nodes, e = x₁ - x₀:
//! ```text
//! s = |e|/l0                  1 at rest; its square is the metric          [-]
//! E = ½ EA l0 (s - 1)²        [GO] eq 5, first term                         [J]
//! ∂²s = (I - ûûᵀ) / (l0 |e|)
//! ```
//! Departs from the paper: |x_s| instead of its square, so that a segment pressed to a point still
//! pushes back and strain is force over EA at any stretch.

use super::element::{Blocks, Element, Gradient, TINY};
use glam::{DMat3, DVec3};

/// One segment.
#[derive(Clone, Debug)]
pub(super) struct CurveStretch {
    pub nodes: [u32; 2],
    /// l0 (m).
    pub length: f64,
    /// EA l0 (J).
    pub stiffness: f64,
    pub time: f64,
}

impl Element<2, 1> for CurveStretch {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 2] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.stiffness
    }

    fn links(&self) -> Vec<[u32; 2]> {
        vec![self.nodes]
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 2]) -> [f64; 1] {
        [(x[1] - x[0]).length() / self.length]
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 2], out: &mut Gradient<2, 1>) -> [f64; 1] {
        let e = x[1] - x[0];
        let length = e.length();
        let slope = e / (length.max(TINY) * self.length);
        out[0] = [-slope, slope];
        [length / self.length]
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 1], broken: u32) -> [f64; 1] {
        [if broken == 0 { self.stiffness * over[0] } else { 0.0 }]
    }

    #[inline(always)]
    fn geometric(&self, x: &[DVec3; 2], stress: &[f64; 1], exact: bool, factor: f64, out: &mut Blocks<2>) {
        let tension = if exact { stress[0] } else { stress[0].max(0.0) };
        let e = x[1] - x[0];
        let length = e.length();
        if tension == 0.0 || length <= TINY {
            return;
        }
        let u = e / length;
        let k = factor * tension / (self.length * length);
        let block = DMat3::from_diagonal(DVec3::splat(k)) - DMat3::from_cols(u * u.x, u * u.y, u * u.z) * k;
        out[0][0] += block;
        out[1][1] += block;
        out[0][1] -= block;
    }
}
