//! Conjugate gradients on a matrix of numbers, with a choice of preconditioner M.
//!
//! ```text
//! q = A p      α = r·z / p·q      x += α p      r -= α q      M z = r
//! β = r·z / (r·z before)          p = z + β p
//!
//! jacobi                M = D
//! incomplete-cholesky   M = L Lᵀ, L with the pattern of A
//! ssor                  M = (D/ω + A_low) D⁻¹ (D/ω + A_low)ᵀ
//! ```
//! The incomplete factor need not exist: then the diagonal is raised, by as little as will do
//! (Manteuffel 1980). A direction with p·q < 0 proves that A is not positive definite.

use super::{LinearSolver, Preconditioner, Refusal, Report, Settings, SparseMatrix};

/// The iteration, its preconditioner and its vectors.
#[derive(Debug)]
pub struct ConjugateGradients {
    /// M.
    pub preconditioner: Preconditioner,
    /// ω of symmetric over-relaxation, between 0 and 2. From 1.2 to 1.7 its choice hardly matters
    /// (`benches/solvers.rs`); default 1.4.
    pub relaxation: f64,
    tolerance: f64,
    max_iterations: usize,
    /// The preconditioner `inverse` and `factor` are for.
    prepared: Preconditioner,
    /// Of the diagonal of D, L or D/ω.
    inverse: Vec<f64>,
    /// Entries of L.
    factor: Vec<f64>,
    /// Share by which the diagonal was raised.
    raised: f64,
    x: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    refusal: Option<Refusal>,
}

impl Default for ConjugateGradients {
    fn default() -> Self {
        let Settings { tolerance, max_iterations, preconditioner, .. } = Settings::default();
        Self {
            preconditioner,
            relaxation: 1.4,
            tolerance,
            max_iterations,
            prepared: Preconditioner::None,
            inverse: Vec::new(),
            factor: Vec::new(),
            raised: 0.0,
            x: Vec::new(),
            z: Vec::new(),
            p: Vec::new(),
            q: Vec::new(),
            refusal: None,
        }
    }
}

/// First share by which the diagonal is raised; twice as much every time it does not do.
const RAISE: f64 = 1e-3;
/// Pivots below this share of the diagonal count as none: the factor would be large and useless.
const LEAST_PIVOT: f64 = 1e-4;

impl ConjugateGradients {
    /// Share of the diagonal that was added to it so that the incomplete factor exists.
    pub fn raised(&self) -> f64 {
        self.raised
    }

    fn incomplete_cholesky(&mut self, matrix: &SparseMatrix) -> bool {
        self.factor.resize(matrix.values.len(), 0.0);
        self.raised = 0.0;
        while !incomplete(matrix, self.raised, &mut self.factor, &mut self.inverse) {
            self.raised = (2.0 * self.raised).max(RAISE);
            // Where the diagonal outweighs all else there is a factor, unless values are not numbers.
            if self.raised > 1e6 {
                return false;
            }
        }
        true
    }

    fn solve_one(&mut self, matrix: &SparseMatrix, r: &mut [f64]) -> Report {
        let Self { inverse, factor, x, z, p, q, .. } = self;
        x.fill(0.0);
        let norm2 = dot(r, r);
        let mut report = Report { converged: norm2 == 0.0, ..Report::default() };
        let target2 = self.tolerance * self.tolerance * norm2;
        precondition(self.prepared, matrix, inverse, factor, r, z);
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        while !report.converged && report.iterations < self.max_iterations {
            matrix.product(p, q);
            let pq = dot(p, q);
            if pq <= 0.0 || !pq.is_finite() {
                report.refused = (pq < 0.0).then_some(Refusal::NotPositiveDefinite);
                break;
            }
            report.iterations += 1;
            let alpha = rz / pq;
            let mut rr = 0.0;
            for i in 0..r.len() {
                x[i] += alpha * p[i];
                r[i] -= alpha * q[i];
                rr += r[i] * r[i];
            }
            report.residual = (rr / norm2).sqrt();
            report.converged = rr <= target2;
            precondition(self.prepared, matrix, inverse, factor, r, z);
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            for i in 0..r.len() {
                p[i] = z[i] + beta * p[i];
            }
        }
        r.copy_from_slice(x);
        report
    }
}

impl LinearSolver for ConjugateGradients {
    fn tune(&mut self, settings: &Settings) {
        (self.tolerance, self.max_iterations) = (settings.tolerance, settings.max_iterations);
        self.preconditioner = settings.preconditioner;
    }

    fn factorise(&mut self, matrix: &SparseMatrix) -> bool {
        let n = matrix.size;
        self.inverse.resize(n, 0.0);
        self.prepared = self.preconditioner;
        let mut done = (0..n).all(|i| matrix.diagonal(i) > 0.0);
        match self.preconditioner {
            Preconditioner::None => {}
            Preconditioner::Jacobi => (0..n).for_each(|i| self.inverse[i] = 1.0 / matrix.diagonal(i)),
            Preconditioner::Ssor => (0..n).for_each(|i| self.inverse[i] = self.relaxation / matrix.diagonal(i)),
            Preconditioner::IncompleteCholesky => done = done && self.incomplete_cholesky(matrix),
        }
        self.refusal = (!done).then_some(Refusal::NotPositiveDefinite);
        done
    }

    fn solve(&mut self, matrix: &SparseMatrix, right: &mut [f64], columns: usize) -> Report {
        if let Some(refusal) = self.refusal {
            return Report::refused(refusal);
        }
        let n = matrix.size;
        assert_eq!(right.len(), n * columns);
        for vector in [&mut self.x, &mut self.z, &mut self.p, &mut self.q] {
            vector.resize(n, 0.0);
        }
        let mut total = None;
        for b in right.chunks_exact_mut(n.max(1)) {
            total = Some(self.solve_one(matrix, b).after(total));
        }
        total.unwrap_or(Report { converged: true, ..Report::default() })
    }

    fn sibling(&self) -> Box<dyn LinearSolver> {
        let Self { preconditioner, relaxation, tolerance, max_iterations, .. } = *self;
        Box::new(Self { preconditioner, relaxation, tolerance, max_iterations, ..Self::default() })
    }

    fn bytes(&self) -> usize {
        8 * (self.inverse.len() + self.factor.len() + 4 * self.x.len())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|k| sums[k] += a[k] * b[k]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// `M z = r`.
fn precondition(
    kind: Preconditioner,
    matrix: &SparseMatrix,
    inverse: &[f64],
    factor: &[f64],
    r: &[f64],
    z: &mut [f64],
) {
    z.copy_from_slice(r);
    match kind {
        Preconditioner::None => {}
        Preconditioner::Jacobi => z.iter_mut().zip(inverse).for_each(|(z, inverse)| *z *= inverse),
        Preconditioner::IncompleteCholesky => {
            forward(matrix, factor, inverse, z);
            backward(matrix, factor, inverse, z);
        }
        Preconditioner::Ssor => {
            forward(matrix, &matrix.values, inverse, z);
            (0..matrix.size).for_each(|i| z[i] *= matrix.diagonal(i));
            backward(matrix, &matrix.values, inverse, z);
        }
    }
}

/// Solves with the lower triangle in the structure of the matrix.
fn forward(matrix: &SparseMatrix, values: &[f64], inverse: &[f64], x: &mut [f64]) {
    for j in 0..matrix.size {
        let own = x[j] * inverse[j];
        x[j] = own;
        let column = matrix.column(j);
        for (&i, &value) in matrix.rows[column.clone()].iter().zip(&values[column]).skip(1) {
            x[i] -= value * own;
        }
    }
}

/// Solves with its transpose.
fn backward(matrix: &SparseMatrix, values: &[f64], inverse: &[f64], x: &mut [f64]) {
    for j in (0..matrix.size).rev() {
        let column = matrix.column(j);
        let mut sum = x[j];
        for (&i, &value) in matrix.rows[column.clone()].iter().zip(&values[column]).skip(1) {
            sum -= value * x[i];
        }
        x[j] = sum * inverse[j];
    }
}

/// IC(0) of the matrix with its diagonal raised by a share; false where a pivot vanishes.
fn incomplete(matrix: &SparseMatrix, raised: f64, factor: &mut [f64], inverse: &mut [f64]) -> bool {
    factor.copy_from_slice(&matrix.values);
    for j in 0..matrix.size {
        factor[matrix.column_start[j]] *= 1.0 + raised;
    }
    let rows = &matrix.rows;
    for k in 0..matrix.size {
        let column = matrix.column(k);
        let pivot = factor[column.start];
        // Also where it is not a number.
        if !(pivot > LEAST_PIVOT * matrix.diagonal(k) && pivot.is_finite()) {
            return false;
        }
        let root = pivot.sqrt();
        factor[column.start] = root;
        inverse[k] = 1.0 / root;
        let below = column.start + 1..column.end;
        factor[below.clone()].iter_mut().for_each(|value| *value /= root);
        for p in below {
            // Column j of the rest loses L_ik L_jk wherever it has an entry.
            let (share, mut q) = (factor[p], matrix.column(rows[p]));
            for t in p..column.end {
                while q.start < q.end && rows[q.start] < rows[t] {
                    q.start += 1;
                }
                if q.start < q.end && rows[q.start] == rows[t] {
                    factor[q.start] -= factor[t] * share;
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incomplete_solver() -> ConjugateGradients {
        let mut solver = ConjugateGradients::default();
        let preconditioner = Preconditioner::IncompleteCholesky;
        solver.tune(&Settings { preconditioner, tolerance: 1e-10, ..Settings::default() });
        solver
    }

    /// Catches an incomplete factor with a wrong entry: where no fill is dropped it is the whole
    /// factor, and one iteration is enough.
    #[test]
    fn the_incomplete_factor_of_a_chain_is_complete() {
        let n = 50;
        let mut entries: Vec<_> = (0..n).map(|i| (i, i, 2.1 + i as f64)).collect();
        entries.extend((1..n).map(|i| (i, i - 1, -1.0 - 0.4 * i as f64)));
        let matrix = SparseMatrix::from_entries(n, entries);
        let mut solver = incomplete_solver();
        assert!(solver.factorise(&matrix));
        let report = solver.solve(&matrix, &mut vec![1.0; n], 1);
        assert!(report.converged && report.iterations == 1 && solver.raised() == 0.0, "{report:?}");
    }

    /// Catches a solver that gives up where the matrix has a factor and its pattern has none
    /// (Kershaw 1978), and one that keeps its diagonal raised for the next matrix.
    #[test]
    fn where_there_is_no_incomplete_factor_the_diagonal_is_raised() {
        let sides = [(1, 0, -2.0), (2, 1, -2.0), (3, 2, -2.0), (3, 0, 2.0)];
        let with = |diagonal: f64| {
            let entries: Vec<_> = (0..4).map(|i| (i, i, diagonal)).chain(sides).collect();
            SparseMatrix::from_entries(4, entries)
        };
        let mut solver = incomplete_solver();
        for (matrix, raised) in [(with(3.0), true), (with(5.0), false)] {
            assert!(solver.factorise(&matrix));
            assert_eq!(solver.raised() > 0.0, raised);
            let mut x = vec![1.0, 2.0, 3.0, 4.0];
            assert!(solver.solve(&matrix, &mut x, 1).converged);
            let mut image = [0.0; 4];
            matrix.product(&x, &mut image);
            assert!((0..4).all(|i| (image[i] - (i + 1) as f64).abs() < 1e-8), "{image:?}");
        }
    }
}
