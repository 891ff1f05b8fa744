//! Repairs what rounding has spoilt of a direct solution.
//!
//! ```text
//! x = S b      r = b - A x      x += S r      S: back-substitution
//! ```

use super::{Report, Settings, SparseMatrix};

/// Tolerance and vectors of the repair.
#[derive(Debug)]
pub(super) struct Refinement {
    pub tolerance: f64,
    right: Vec<f64>,
    residual: Vec<f64>,
}

/// Corrections after the first solution. One is the rule; more help where the factor itself is poor.
const CORRECTIONS: usize = 3;
/// A residual that polishing is content with.
const POLISHED: f64 = 1e-14;

impl Default for Refinement {
    fn default() -> Self {
        Self { tolerance: Settings::default().tolerance, right: Vec::new(), residual: Vec::new() }
    }
}

impl Refinement {
    /// Corrects while the residual is above the tolerance, or, to polish, while that pays.
    pub fn solve(
        &mut self,
        matrix: &SparseMatrix,
        x: &mut [f64],
        polish: bool,
        mut substitute: impl FnMut(&mut [f64]),
    ) -> Report {
        let mut report = Report { direct: true, ..Report::default() };
        if self.tolerance.is_infinite() {
            substitute(x);
            return Report { converged: true, ..report };
        }
        self.right.resize(x.len().max(self.right.len()), 0.0);
        self.residual.resize(x.len().max(self.residual.len()), 0.0);
        let (b, r) = (&mut self.right[..x.len()], &mut self.residual[..x.len()]);
        b.copy_from_slice(x);
        substitute(x);
        let mut last = 1.0;
        for correction in 0..=CORRECTIONS {
            report.residual = residual(matrix, b, x, r);
            report.converged = report.residual <= self.tolerance;
            let enough = match polish {
                true => report.residual < POLISHED || report.converged && report.residual > 0.1 * last,
                false => report.converged,
            };
            if enough || correction == CORRECTIONS || !report.residual.is_finite() {
                break;
            }
            last = report.residual;
            substitute(r);
            for (x, r) in x.iter_mut().zip(&*r) {
                *x += r;
            }
        }
        report
    }

    /// The same tolerance, without vectors.
    pub fn sibling(&self) -> Self {
        Self { tolerance: self.tolerance, ..Self::default() }
    }

    pub fn bytes(&self) -> usize {
        8 * (self.right.len() + self.residual.len())
    }
}

/// `r = b - A x` for every right side; the largest |r| / |b|.
pub(super) fn residual(matrix: &SparseMatrix, b: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
    let n = matrix.size.max(1);
    let mut worst = 0.0;
    for ((b, x), r) in b.chunks_exact(n).zip(x.chunks_exact(n)).zip(r.chunks_exact_mut(n)) {
        matrix.product(x, r);
        let (mut rr, mut bb) = (0.0, 0.0);
        for (r, b) in r.iter_mut().zip(b) {
            *r = b - *r;
            rr += *r * *r;
            bb += b * b;
        }
        let relative = if bb == 0.0 && rr == 0.0 { 0.0 } else { f64::sqrt(rr / bb) };
        // Not `max`: what is not a number must be seen.
        if relative > worst || relative.is_nan() {
            worst = relative;
        }
    }
    worst
}
