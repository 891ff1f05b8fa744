//! Linear solvers behind one interface, chosen by name or by size.
//!
//! All solve `A x = b` with a symmetric positive definite matrix. Two users:
//!
//! - the implicit steps of nodes: a matrix of 3×3 blocks, new every step ([`Solver`]), held nodes
//!   having x = 0. Left to itself it iterates, and takes a factor when the iteration reaches its cap.
//! - the hybrid formulation, whose scalar matrices are constant: factored once and solved with every
//!   step ([`solver`]). Left to itself it takes a factor, and iterates where a factor no longer pays.
//!
//! ```text
//! conjugate-gradients   cg.rs (blocks), sparse_cg.rs     short memory; time grows with √condition
//!                       single.rs (blocks)                the same in single precision, for loose tolerances
//! cholesky              sparse.rs (faer)                  least fill; any condition
//! profile               profile.rs                        as in [TW]: rows from their first entry on
//! sor                   sor.rs                            as in [TW]: least code, most sweeps
//! ```
//! Everything here adds in one order whatever the number of threads, and allocates at the first
//! solve only.

pub mod block;
mod bundle;
pub mod by_parts;
pub mod cg;
pub mod condition;
pub mod order;
mod panels;
pub mod profile;
mod refinement;
pub mod scalar;
pub mod single;
pub(crate) mod slots;
pub mod sor;
pub mod sparse;
pub mod sparse_cg;
mod sweep;

pub use block::BlockMatrix;
pub use by_parts::ByParts;
pub use condition::{condition, condition_of_blocks};
pub use panels::{Substitution, solve_together};
pub use profile::ProfileCholesky;
pub use scalar::Scalar;
pub use sor::Sor;
pub use sparse::{SparseCholesky, SparseMatrix};
pub use sparse_cg::ConjugateGradients;

use glam::DVec3;

/// Which solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// For nodes conjugate gradients, then Cholesky when the cap is reached; for constant
    /// matrices Cholesky as far as it pays, then conjugate gradients.
    #[default]
    Auto,
    /// Conjugate gradients only.
    ConjugateGradients,
    /// Sparse Cholesky always.
    Cholesky,
    /// Cholesky in profile storage always.
    Profile,
    /// Successive over-relaxation only.
    Sor,
}

impl Method {
    /// No factor stands behind an iteration that fails.
    pub fn only_iterates(self) -> bool {
        matches!(self, Method::ConjugateGradients | Method::Sor)
    }
}

/// What makes conjugate gradients converge sooner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// The inverse of the diagonal; of its 3×3 blocks where the matrix has blocks.
    #[default]
    Jacobi,
    /// Nothing.
    None,
    /// An incomplete Cholesky factor with the pattern of the matrix, IC(0).
    IncompleteCholesky,
    /// A symmetric sweep of over-relaxation.
    Ssor,
}

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which solver.
    pub method: Method,
    /// Residual relative to the right side. 1e-6 leaves errors far below those of
    /// the time step and still lets the iteration stop early. Where it is infinite, direct
    /// solvers substitute and do not look at the residual.
    pub tolerance: f64,
    /// Iterations (sweeps of SOR) before giving up, or before the direct solver takes over.
    pub max_iterations: usize,
    /// Of conjugate gradients.
    pub preconditioner: Preconditioner,
}

impl Default for Settings {
    fn default() -> Self {
        Self { method: Method::Auto, tolerance: 1e-6, max_iterations: 200, preconditioner: Preconditioner::Jacobi }
    }
}

impl Settings {
    /// Whether blocks of nodes need six digits and no more.
    pub fn loose(&self) -> bool {
        self.may_look() && self.tolerance >= LOOSE
    }

    /// Whether springs may be links, which are rounded to single precision too, but as energies: what is stiff stays free to turn.
    pub fn may_link(&self) -> bool {
        self.may_look() && self.tolerance >= LINKED
    }

    /// Whether nodes are solved in single precision first.
    fn single_first(&self) -> bool {
        self.may_look() && self.tolerance >= LEAST_SINGLE
    }

    /// Whether an iteration may be looked at on its way.
    pub fn may_look(&self) -> bool {
        self.method == Method::Auto && self.preconditioner == Preconditioner::Jacobi
    }

    /// No first solve needs a residual below this.
    pub fn least_at_once(&self) -> f64 {
        0.1 * self.tolerance
    }
}

/// Why a matrix was not solved at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has a direction in which x·Ax is not above zero.
    NotPositiveDefinite,
    /// Its factor would have more than [`LARGEST_FACTOR`] entries.
    TooLarge,
}

impl Refusal {
    /// What is wrong, and how to mend it.
    pub fn explain(self) -> (&'static str, &'static str) {
        match self {
            Refusal::NotPositiveDefinite => ("its matrix is not positive definite", "use a smaller step.dt"),
            Refusal::TooLarge => (
                "the factor of its matrix would take more than 4 GiB",
                "use solver.linear = \"conjugate-gradients\" with more solver.max-iterations, or fewer nodes",
            ),
        }
    }
}

/// No factor may have more entries than this (4 GiB of them).
pub const LARGEST_FACTOR: usize = 1 << 29;

/// What is known of a solution when a solve begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing: it is zero.
    Zero,
    /// It is that of the last solve, and since then the right side became another, or blocks on the diagonal of which
    /// [`Solver::changed`] was told.
    Near,
    /// It is that of the last solve, and so is everything else: only the tolerance is smaller.
    Same,
}

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Iterations of conjugate gradients or sweeps of SOR, over all right sides.
    pub iterations: usize,
    /// Residual relative to the right side, as measured at the end; the largest of several.
    pub residual: f64,
    /// A direct solver was used.
    pub direct: bool,
    /// The residual is within the tolerance.
    pub converged: bool,
    /// Why there is no solution.
    pub refused: Option<Refusal>,
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
            refused: earlier.refused.or(self.refused),
        }
    }

    fn refused(refusal: Refusal) -> Report {
        Report { refused: Some(refusal), residual: 1.0, ..Report::default() }
    }
}

/// A solver of scalar matrices: prepared once for a matrix, then used for many right sides.
pub trait LinearSolver: std::fmt::Debug + Send + Sync {
    /// Takes over tolerance, cap and preconditioner. A new preconditioner counts from the next
    /// [`factorise`](Self::factorise) on.
    fn tune(&mut self, settings: &Settings);

    /// Prepares for these values; false if the matrix is found not to be positive definite or
    /// its factor too large. The structure is looked at the first time, and when it has changed.
    fn factorise(&mut self, matrix: &SparseMatrix) -> bool;

    /// Replaces so many right sides, one after the other in `right`, by their solutions. The
    /// matrix is the one last prepared for; if that failed, `right` is left alone.
    fn solve(&mut self, matrix: &SparseMatrix, right: &mut [f64], columns: usize) -> Report;

    /// A solve that does not look at the residual, to be done beside others by [`solve_together`]; none where there is no such.
    fn lend<'a>(&'a mut self, _right: &'a mut [f64], _columns: usize) -> Option<Substitution<'a>> {
        None
    }

    /// Another of the same kind and settings, not prepared, that shares what is known of the structure:
    /// for the same matrix with other values.
    fn sibling(&self) -> Box<dyn LinearSolver>;

    /// Memory held beside the matrix (bytes).
    fn bytes(&self) -> usize;
}

/// Unknowns up to which a factor, made once, pays, for bodies of one, two and three dimensions.
///
/// Back-substitution stays ahead of the iteration at every size measured (`benches/solvers.rs
/// --crossover`): of a plate of 512² nodes by more than a hundred times, of a solid of 40³ by eight.
/// What ends it is memory, and the time to make the factor. Measured are plates up to 10⁶ unknowns, whose two factors of
/// 10⁸ entries take 15 s to make and 1.7 GB, where an iteration no longer gets anywhere at all, and solids up to 64 000
/// (1.1 GB), whose factor takes as long as ten solves by iteration. The few entries a row of a curve's factor are
/// never worth avoiding.
pub const DIRECT_UP_TO: [usize; 3] = [10_000_000, 2_000_000, 60_000];

/// Settings with `Auto` replaced by what it means for a constant matrix of so many unknowns from a body of so
/// many dimensions (1 to 3): a sparse Cholesky factor up to [`DIRECT_UP_TO`], and conjugate gradients beyond, with an
/// incomplete factor in the place of the diagonal.
pub fn chosen(settings: &Settings, size: usize, dimensions: usize) -> Settings {
    let mut settings = *settings;
    if settings.method == Method::Auto {
        let direct = size <= DIRECT_UP_TO[dimensions.clamp(1, 3) - 1];
        settings.method = if direct { Method::Cholesky } else { Method::ConjugateGradients };
        if settings.preconditioner == Preconditioner::Jacobi {
            settings.preconditioner = Preconditioner::IncompleteCholesky;
        }
    }
    settings
}

/// The solver that settings ask for; left to itself, see [`chosen`].
pub fn solver(settings: &Settings, size: usize, dimensions: usize) -> Box<dyn LinearSolver> {
    let settings = chosen(settings, size, dimensions);
    let mut solver: Box<dyn LinearSolver> = match settings.method {
        Method::Auto | Method::Cholesky => Box::new(SparseCholesky::default()),
        Method::Profile => Box::new(ProfileCholesky::default()),
        Method::ConjugateGradients => Box::new(ConjugateGradients::default()),
        Method::Sor => Box::new(Sor::default()),
    };
    solver.tune(&settings);
    solver
}

/// Iterations that take about as long as a factor of a sheet of so many nodes, whose work grows as n^1.5 beside n.
fn most_sweeps(nodes: usize) -> usize {
    8 * nodes.isqrt()
}

/// After conjugate gradients have failed, this many solves go straight to the
/// direct solver before the iteration is tried again.
const DIRECT_FOR: u32 = 60;

/// From this tolerance on blocks between nodes are kept in single precision: steps linearised once need no more of them. Below, the
/// rounding of a very stiff body's blocks would be larger than its mass.
const LOOSE: f64 = 1e-4;

/// The same for springs kept as links.
const LINKED: f64 = 1e-7;

/// Nodes left to themselves are solved in single precision first, round by round, down to this tolerance.
const LEAST_SINGLE: f64 = 1e-10;

/// Scratch of the solvers of one body of nodes.
#[derive(Debug, Default)]
pub struct Solver {
    cg: cg::Scratch,
    single: single::Scratch,
    scalar: Option<Scalar>,
    sparse_cg: ConjugateGradients,
    cholesky: SparseCholesky,
    profile: ProfileCholesky,
    sor: Sor,
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
        self.solve_from(settings, matrix, free, right, delta, direct_left, Start::Zero)
    }

    /// A δ of the last solve, on held nodes too, if it is known.
    pub fn product(&self) -> Option<&[DVec3]> {
        self.single.product()
    }

    /// Since the last solve a diagonal block became another: what that adds to A δ.
    pub fn changed(&mut self, node: usize, by: DVec3) {
        self.single.changed(node, by);
    }

    /// Makes the best of a guess, zero on held nodes; where to start with it.
    pub fn guess(&mut self, matrix: &BlockMatrix, free: &[bool], right: &[DVec3], delta: &mut [DVec3]) -> Start {
        self.single.guess(matrix, free, right, delta)
    }

    /// About where an iteration to a tolerance of this kind leads, without measuring how near it came; what is found is meant to be looked at,
    /// and the iteration to go on after that.
    pub fn look(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        right: &[DVec3],
        delta: &mut [DVec3],
        start: Start,
    ) -> Report {
        self.single.solve(settings, matrix, free, right, delta, start, true)
    }

    /// The same where `delta` may be near already.
    pub fn solve_from(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        right: &[DVec3],
        delta: &mut [DVec3],
        direct_left: &mut u32,
        start: Start,
    ) -> Report {
        let auto = settings.method == Method::Auto;
        if auto && *direct_left > 0 {
            *direct_left -= 1;
            delta.fill(DVec3::ZERO);
            return self.by(Method::Cholesky, settings, matrix, free, right, delta);
        }
        let warm = start != Start::Zero;
        let mut spent = 0;
        if settings.single_first() || (warm && settings.may_look()) {
            if !warm {
                delta.fill(DVec3::ZERO);
            }
            // Left to itself it may go on as long as that is cheaper than a factor.
            let most =
                if auto { settings.max_iterations.max(most_sweeps(matrix.nodes())) } else { settings.max_iterations };
            let patient = Settings { max_iterations: most, ..*settings };
            let report = self.single.solve(&patient, matrix, free, right, delta, start, false);
            if report.converged {
                return report;
            }
            spent = report.iterations;
        }
        delta.fill(DVec3::ZERO);
        let mut report = self.by(settings.method, settings, matrix, free, right, delta);
        report.iterations += spent;
        if report.converged || settings.method != Method::Auto {
            return report;
        }
        *direct_left = DIRECT_FOR;
        let direct = self.by(Method::Cholesky, settings, matrix, free, right, delta);
        Report { iterations: report.iterations, ..direct }
    }

    /// Solves with one method; Auto is its iteration.
    fn by(
        &mut self,
        method: Method,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        right: &[DVec3],
        delta: &mut [DVec3],
    ) -> Report {
        self.single.forget();
        // Rounding is the limit of a factor made anew every step, not the tolerance.
        (self.cholesky.polish, self.profile.polish) = (true, true);
        self.cholesky.plain = true;
        let solver: &mut dyn LinearSolver = match (method, settings.preconditioner) {
            (Method::Auto | Method::ConjugateGradients, Preconditioner::Jacobi | Preconditioner::None) => {
                return self.cg.solve(settings, matrix, free, right, delta);
            }
            (Method::Auto | Method::ConjugateGradients, _) => &mut self.sparse_cg,
            (Method::Cholesky, _) => &mut self.cholesky,
            (Method::Profile, _) => &mut self.profile,
            (Method::Sor, _) => &mut self.sor,
        };
        let scalar = self.scalar.get_or_insert_with(|| Scalar::new(matrix));
        scalar.fill(matrix, free);
        solver.tune(settings);
        if !solver.factorise(&scalar.matrix) {
            return Report { direct: !method.only_iterates(), ..solver.solve(&scalar.matrix, &mut [], 0) };
        }
        scalar.solve(solver, free, right, delta)
    }
}
