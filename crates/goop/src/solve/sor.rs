//! Successive over-relaxation, the simplest iteration of TW.
//!
//! ```text
//! x_i += ω (b_i - Σ_j<i A_ij x_j(new) - Σ_j>i A_ij x_j(old) - A_ii x_i) / A_ii
//! ```
//! Converges for every positive definite matrix and 0 < ω < 2. With half of the matrix kept, a
//! sweep gathers along a column what is still old and scatters along it what is new.

use super::refinement::residual;
use super::{LinearSolver, Refusal, Report, Settings, SparseMatrix};

/// Over-relaxation with a fixed factor.
#[derive(Debug)]
pub struct Sor {
    /// ω, between 0 and 2. The default 1.6 was the best or near it for plates of 20² and 40² nodes and
    /// a cloth of 40²: 392, 3808 and 1368 sweeps, with ω = 1 864, 13 376 and 6400 (`benches/solvers.rs`).
    pub relaxation: f64,
    tolerance: f64,
    max_iterations: usize,
    x: Vec<f64>,
    /// Right side less what is known of the row.
    left: Vec<f64>,
    refusal: Option<Refusal>,
}

impl Default for Sor {
    fn default() -> Self {
        let Settings { tolerance, max_iterations, .. } = Settings::default();
        Self { relaxation: 1.6, tolerance, max_iterations, x: Vec::new(), left: Vec::new(), refusal: None }
    }
}

/// Sweeps between looks at the residual, which cost as much as one.
const LOOK_EVERY: usize = 8;

impl Sor {
    fn sweep(&mut self, matrix: &SparseMatrix, b: &[f64]) {
        let (x, left) = (&mut self.x[..], &mut self.left[..]);
        left.copy_from_slice(b);
        for i in 0..matrix.size {
            let column = matrix.column(i);
            let (rows, values) = (&matrix.rows[column.clone()], &matrix.values[column]);
            let (rows, below) = (&rows[1..], &values[1..]);
            let mut sum = left[i];
            for (&j, &value) in rows.iter().zip(below) {
                sum -= value * x[j];
            }
            x[i] += self.relaxation * (sum / values[0] - x[i]);
            for (&j, &value) in rows.iter().zip(below) {
                left[j] -= value * x[i];
            }
        }
    }
}

impl LinearSolver for Sor {
    fn tune(&mut self, settings: &Settings) {
        (self.tolerance, self.max_iterations) = (settings.tolerance, settings.max_iterations);
    }

    fn factorise(&mut self, matrix: &SparseMatrix) -> bool {
        let positive = (0..matrix.size).all(|i| matrix.diagonal(i) > 0.0);
        self.refusal = (!positive).then_some(Refusal::NotPositiveDefinite);
        positive
    }

    fn solve(&mut self, matrix: &SparseMatrix, right: &mut [f64], columns: usize) -> Report {
        if let Some(refusal) = self.refusal {
            return Report::refused(refusal);
        }
        assert_eq!(right.len(), matrix.size * columns);
        self.x.resize(matrix.size, 0.0);
        self.left.resize(matrix.size, 0.0);
        let mut total = None;
        for b in right.chunks_exact_mut(matrix.size.max(1)) {
            self.x.fill(0.0);
            let mut report = Report { residual: 1.0, ..Report::default() };
            loop {
                report.residual = residual(matrix, b, &self.x, &mut self.left);
                report.converged = report.residual <= self.tolerance;
                // A matrix that is not positive definite drives the iteration away.
                let over = report.iterations >= self.max_iterations || report.residual > 1e6;
                if report.converged || over || report.residual.is_nan() {
                    break;
                }
                for _ in 0..LOOK_EVERY.min(self.max_iterations - report.iterations) {
                    self.sweep(matrix, b);
                    report.iterations += 1;
                }
            }
            b.copy_from_slice(&self.x);
            total = Some(report.after(total));
        }
        total.unwrap_or(Report { converged: true, ..Report::default() })
    }

    fn sibling(&self) -> Box<dyn LinearSolver> {
        let Self { relaxation, tolerance, max_iterations, .. } = *self;
        Box::new(Self { relaxation, tolerance, max_iterations, ..Self::default() })
    }

    fn bytes(&self) -> usize {
        8 * (self.x.len() + self.left.len())
    }
}
