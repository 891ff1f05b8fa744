//! Linear solvers behind one interface.
//!
//! All solve `A δ = r` on the free nodes of a symmetric positive definite block
//! matrix, held nodes having δ = 0. Preconditioned conjugate gradients come first;
//! a sparse Cholesky factor is taken when the iteration reaches its cap.

pub mod block;
pub mod cg;
pub mod cholesky;
pub mod sparse;

pub use block::BlockMatrix;

use glam::DVec3;

/// Which solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Conjugate gradients, then Cholesky when the cap is reached.
    #[default]
    Auto,
    /// Conjugate gradients only.
    ConjugateGradients,
    /// Cholesky always.
    Cholesky,
}

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which solver.
    pub method: Method,
    /// Residual relative to the right side. 1e-6 leaves errors far below those of
    /// the time step and still lets the iteration stop early.
    pub tolerance: f64,
    /// Iterations before the direct solver takes over.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: Method::Auto, tolerance: 1e-6, max_iterations: 200 }
    }
}

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Conjugate-gradient iterations.
    pub iterations: usize,
    /// Residual relative to the right side, as measured at the end.
    pub residual: f64,
    /// The direct solver was used.
    pub direct: bool,
    /// The residual is within the tolerance.
    pub converged: bool,
}

impl Report {
    /// This solve and an earlier one of the same step together.
    pub fn after(self, earlier: Option<Report>) -> Report {
        let Some(earlier) = earlier else { return self };
        Report {
            iterations: earlier.iterations + self.iterations,
            residual: earlier.residual.max(self.residual),
            direct: earlier.direct || self.direct,
            converged: earlier.converged && self.converged,
        }
    }
}

/// After conjugate gradients have failed, this many solves go straight to the
/// direct solver before the iteration is tried again.
const DIRECT_FOR: u32 = 60;

/// Scratch of the solvers of one body.
#[derive(Debug, Default)]
pub struct Solver {
    cg: cg::Scratch,
    cholesky: Option<cholesky::Factor>,
}

impl Solver {
    /// Solves for `delta`; `direct_left` is the caller's memory of a failed iteration.
    pub fn solve(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        right: &[DVec3],
        delta: &mut [DVec3],
        direct_left: &mut u32,
    ) -> Report {
        delta.fill(DVec3::ZERO);
        let iterate = match settings.method {
            Method::ConjugateGradients => true,
            Method::Cholesky => false,
            Method::Auto => *direct_left == 0,
        };
        let mut report = Report::default();
        if iterate {
            report = self.cg.solve(settings, matrix, free, right, delta);
            if report.converged || settings.method == Method::ConjugateGradients {
                return report;
            }
            *direct_left = DIRECT_FOR;
        } else if settings.method == Method::Auto {
            *direct_left -= 1;
        }
        let factor = self.cholesky.get_or_insert_with(|| cholesky::Factor::new(matrix));
        if factor.factorise(matrix, free) {
            let iterations = report.iterations;
            report = factor.solve(settings, matrix, free, right, delta);
            report.iterations = iterations;
        }
        report
    }
}
