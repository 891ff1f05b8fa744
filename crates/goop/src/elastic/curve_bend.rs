//! Bending of a curve.
//!
//! At a node between two segments e, f with unit tangents t, u, owning the length l:
//! ```text
//! s = u - t                        l times the vector of curvature, |s| = 2 sin(φ/2)    [-]
//! E = ½ (EI/l) (|s| - r)²          [GO] eq 5, second term, (κ - κ⁰)²                    [J]
//! σ = (EI/l) (1 - r/|s|) s
//! ∂²(σ·u)/∂f² = -[ σ⊥uᵀ + uσ⊥ᵀ + (σ·u)(I - uuᵀ) ] / |f|²,   σ⊥ = σ - (σ·u)u
//! ```
//! A straight rest shape (r = 0) gives a smooth quadratic in the vector s. A curved one is bent back by
//! its own curvature whichever way it is straightened; which way it curls from dead straight only a
//! material frame could tell, and torsion keeps neighbours from choosing different ways.
//!
//! Departs from the paper: s is bounded, so that a folded curve has a finite force. The implicit stiffness is
//! Jᵀ [ (1 - r/|s|)⁺ I + min(r/|s|, 1) ŝŝᵀ ] J. The damper acts on the length of s alone: s turns with the body.

use super::element::{Blocks, Element, Gradient, Part, TINY, add_outer};
use glam::{DMat3, DVec3};

/// A node and its neighbours: before, here, after.
#[derive(Clone, Debug)]
pub(super) struct CurveBend {
    pub nodes: [u32; 3],
    /// EI/l (J).
    pub stiffness: f64,
    /// 2E (J) at unit strain of the outermost fibre.
    pub unit: f64,
    pub time: f64,
}

/// s, and derivatives of the two tangents by their segments.
#[inline(always)]
fn turn(x: &[DVec3; 3]) -> (DVec3, DMat3, DMat3) {
    let project = |e: DVec3| {
        let length = e.length().max(TINY);
        let u = e / length;
        let p = (DMat3::IDENTITY - DMat3::from_cols(u * u.x, u * u.y, u * u.z)) * (1.0 / length);
        // A segment shrunk to a point has no direction to lose.
        (u, if length > 1e-12 { p } else { DMat3::ZERO })
    };
    let ((t, pt), (u, pu)) = (project(x[1] - x[0]), project(x[2] - x[1]));
    (u - t, pt, pu)
}

impl CurveBend {
    /// 1 - r/|s|
    #[inline(always)]
    fn slack(s: &[f64; 3], rest: &[f64; 3]) -> f64 {
        let length = DVec3::from_array(*s).length();
        if rest[0] == 0.0 {
            1.0
        } else if length > TINY {
            1.0 - rest[0] / length
        } else {
            0.0
        }
    }
}

impl Element<3, 3> for CurveBend {
    const SPARSE: bool = false;
    const PROPORTIONAL: bool = false;

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
        let [a, b, c] = self.nodes;
        vec![[a, b], [b, c]]
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 3]) -> [f64; 3] {
        turn(x).0.to_array()
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 3], out: &mut Gradient<3, 3>) -> [f64; 3] {
        let (s, pt, pu) = turn(x);
        for k in 0..3 {
            // Both are symmetric.
            let (t, u) = (pt.col(k), pu.col(k));
            out[k] = [t, -t - u, u];
        }
        s.to_array()
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 3], broken: u32) -> [f64; 3] {
        if broken == 0 { over.map(|o| self.stiffness * o) } else { [0.0; 3] }
    }

    /// The part of s beyond r; r is the first of the three rest numbers.
    #[inline(always)]
    fn over(&self, s: &[f64; 3], rest: &[f64; 3]) -> [f64; 3] {
        let over = DVec3::from_array(*s).length() - rest[0];
        [over, 0.0, 0.0]
    }

    #[inline(always)]
    fn law(&self, s: &[f64; 3], rest: &[f64; 3], broken: u32) -> (f64, [f64; 3]) {
        if broken != 0 {
            return (0.0, [0.0; 3]);
        }
        let (over, slack) = (self.over(s, rest)[0], Self::slack(s, rest));
        (0.5 * self.stiffness * over * over, s.map(|s| self.stiffness * slack * s))
    }

    #[inline(always)]
    fn tangent_times(&self, s: &[f64; 3], rest: &[f64; 3], change: &[f64; 3], broken: u32, part: Part) -> [f64; 3] {
        if broken != 0 {
            return [0.0; 3];
        }
        let plain = match part {
            Part::Exact => Self::slack(s, rest),
            Part::Clamped => Self::slack(s, rest).max(0.0),
            Part::Viscous => 0.0,
        };
        let (s, change) = (DVec3::from_array(*s).normalize_or_zero(), DVec3::from_array(*change));
        (self.stiffness * (plain * change + (1.0 - plain) * s.dot(change) * s)).to_array()
    }

    #[inline(always)]
    fn geometric(&self, x: &[DVec3; 3], stress: &[f64; 3], exact: bool, factor: f64, out: &mut Blocks<3>) {
        if !exact {
            return;
        }
        let stress = DVec3::from_array(*stress);
        let second = |e: DVec3, sign: f64| {
            let length = e.length().max(1e-12);
            let u = e / length;
            let along = stress.dot(u);
            let across = stress - along * u;
            let mut m = DMat3::from_diagonal(DVec3::splat(along));
            add_outer(&mut m, across - along * u, u);
            add_outer(&mut m, u, across);
            m * (-sign * factor / (length * length))
        };
        let (t, u) = (second(x[1] - x[0], -1.0), second(x[2] - x[1], 1.0));
        out[0][0] += t;
        out[0][1] -= t;
        out[1][1] += t + u;
        out[1][2] -= u;
        out[2][2] += u;
    }
}
