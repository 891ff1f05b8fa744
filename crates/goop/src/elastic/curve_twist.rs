//! Torsion of a curve that is curved at rest.
//!
//! For three segments in a row, δ the angle between the planes of the first two and of the last
//! two, less what it is at rest, l the length of the middle one, φ₁, φ₂ the turns at its ends:
//! ```text
//! s = g(φ₁) g(φ₂) δ          g = k / √(k² + q²K²),  k = sin φ, K = sin φ at rest,  × √(1 + q²)
//! E = ½ (GJ/l) s²            [GO] eq 5, third term                                       [J]
//! ```
//! g is 1 at rest and fades out as the curve becomes straight, where its plane means nothing.
//!
//! Departs from the paper: the fade; and a curve that is straight at rest has none of this, because an
//! elastic rod can be bent into any course without twisting it. Twist of the material about the
//! curve is another thing and needs a frame that a curve of nodes has not got.

use super::element::{Blocks, Element, Gradient};
use super::hinge;
use super::jet::{Jet, cross, dot, near};
use glam::DVec3;

/// Curvature, relative to that at rest, below which torsion fades.
const FADE: f64 = 0.3;

/// Four nodes in a row.
#[derive(Clone, Debug)]
pub(super) struct CurveTwist {
    pub nodes: [u32; 4],
    /// GJ/l (J).
    pub stiffness: f64,
    /// δ is measured from here (rad).
    pub rest: f64,
    /// q²K² of both ends.
    pub fade: [f64; 2],
    pub time: f64,
}

impl CurveTwist {
    /// From rest positions; none where the curve is straight.
    pub fn new(nodes: [u32; 4], x: [DVec3; 4], stiffness: f64, time: f64) -> Option<Self> {
        let fade = [0, 1].map(|k| FADE * FADE * bend(x[k + 1] - x[k], x[k + 2] - x[k + 1]).0.powi(2));
        let straight = fade.iter().any(|&f| f < 1e-12);
        (!straight).then(|| Self { nodes, stiffness, rest: hinge::angle(hinged(&x)), fade, time })
    }

    /// g and dg/dk.
    #[inline(always)]
    fn weight(&self, end: usize, k: f64) -> (f64, f64) {
        let c = self.fade[end];
        let scale = (1.0 + FADE * FADE).sqrt();
        let root = (k * k + c).sqrt();
        (scale * k / root, scale * c / (root * root * root))
    }
}

/// The middle segment as the edge of a hinge, the outer nodes as tips of its wings.
#[inline(always)]
fn hinged(x: &[DVec3; 4]) -> [DVec3; 4] {
    [x[1], x[2], x[0], x[3]]
}

/// sin φ between two segments, and its derivatives.
#[inline(always)]
fn bend(e: DVec3, f: DVec3) -> (f64, DVec3, DVec3) {
    let (le, lf) = (e.length().max(1e-150), f.length().max(1e-150));
    let (t, u) = (e / le, f / lf);
    let k = t.cross(u).length();
    if k < 1e-12 || !k.is_finite() {
        return (0.0, DVec3::ZERO, DVec3::ZERO);
    }
    let c = t.dot(u);
    (k, (u - c * t) * (-c / (k * le)), (t - c * u) * (-c / (k * lf)))
}

impl Element<4, 1> for CurveTwist {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 4] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    /// Torsion does not flow.
    fn unit(&self) -> f64 {
        0.0
    }

    fn links(&self) -> Vec<[u32; 2]> {
        let [a, b, c, d] = self.nodes;
        vec![[a, b], [b, c], [c, d]]
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 4]) -> [f64; 1] {
        let g = |k: usize| self.weight(k, bend(x[k + 1] - x[k], x[k + 2] - x[k + 1]).0).0;
        [g(0) * g(1) * near(hinge::angle(hinged(x)) - self.rest, 0.0)]
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4], out: &mut Gradient<4, 1>) -> [f64; 1] {
        let (angle, slopes) = hinge::gradient(hinged(x));
        let delta = near(angle - self.rest, 0.0);
        let [first, last] = [0, 1].map(|k| bend(x[k + 1] - x[k], x[k + 2] - x[k + 1]));
        let ((g, dg), (h, dh)) = (self.weight(0, first.0), self.weight(1, last.0));
        let order = [2, 0, 1, 3];
        for a in 0..4 {
            out[0][a] = g * h * slopes[order[a]];
        }
        for (start, (_, e, f), slope) in [(0, first, delta * dg * h), (1, last, delta * g * dh)] {
            out[0][start] -= slope * e;
            out[0][start + 1] += slope * (e - f);
            out[0][start + 2] += slope * f;
        }
        [g * h * delta]
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 1], broken: u32) -> [f64; 1] {
        [if broken == 0 { self.stiffness * over[0] } else { 0.0 }]
    }

    #[inline(never)]
    fn geometric(&self, x: &[DVec3; 4], stress: &[f64; 1], exact: bool, factor: f64, out: &mut Blocks<4>) {
        if !exact {
            return;
        }
        // In the three segments.
        let segments = [x[1] - x[0], x[2] - x[1], x[3] - x[2]];
        let [d, e, f] = Jet::variables(segments);
        let sine = |a: &[Jet; 3], b: &[Jet; 3]| {
            let c = cross(a, b);
            (dot(&c, &c) * (dot(a, a) * dot(b, b)).inverse()).sqrt()
        };
        let (m, n) = (cross(&d, &e), cross(&e, &f));
        let (k, l) = (sine(&d, &e), sine(&e, &f));
        if !(k.v >= 1e-9 && l.v >= 1e-9) {
            return;
        }
        // Wings -d and e + f on the edge e: normals e × (-d) = d × e and (e + f) × e = -(e × f).
        let minus = Jet::constant(-1.0);
        let y = dot(&cross(&m, &n), &e) * dot(&e, &e).sqrt().inverse() * minus;
        let angle = y.angle(&(dot(&m, &n) * minus), self.rest);
        let g = |k: Jet, c: f64| k * (k * k + Jet::constant(c)).sqrt().inverse();
        let scale = Jet::constant(1.0 + FADE * FADE);
        let delta = angle - Jet::constant(self.rest);
        let s = g(k, self.fade[0]) * g(l, self.fade[1]) * scale * delta;
        // Node a ends segment a-1 and starts segment a.
        for a in 0..4usize {
            for b in a..4usize {
                for (p, sp) in [(a.wrapping_sub(1), 1.0), (a, -1.0)] {
                    for (q, sq) in [(b.wrapping_sub(1), 1.0), (b, -1.0)] {
                        if p < 3 && q < 3 {
                            out[a][b] += s.block(p, q) * (sp * sq * factor * stress[0]);
                        }
                    }
                }
            }
        }
    }
}
