//! Conjugate gradients in single precision with a symmetric sweep as preconditioner, inside a
//! residual in double precision.
//!
//! The matrix is scaled to unit diagonal blocks, A = S⁻¹ (L + I + Lᵀ + R) S⁻ᵀ: S Sᵀ is the
//! inverse of the diagonal blocks, L couples rows of one chunk, R those of different chunks. With C = I + L the
//! iteration runs on C⁻¹ (L + I + Lᵀ + R) C⁻ᵀ, and because L + I + Lᵀ = C + Cᵀ - I
//! ```text
//! t = C⁻ᵀ p        q = t + C⁻¹ (p - t + R t)                             (Eisenstat 1981)
//! ```
//! a product costs two triangular sweeps, each over half of the blocks: no more than a product
//! without preconditioner. Blocks are read in half the bytes. Sweeps run chunk by chunk, side by side.
//!
//! What the iteration has found is added up in double precision, and b - A x is taken there: when it is
//! not yet small enough the iteration starts again on it. So the result has the residual asked for,
//! whatever single precision lost; where a round no longer helps, the caller is told.

use super::four::Four;
use super::{BlockMatrix, Refusal, Report, Settings};
use crate::parallel::Disjoint;
use glam::{DMat3, DVec3};

/// Rounds of iteration before giving up, and how much each must at least gain.
const ROUNDS: usize = 12;
const LEAST_GAIN: f64 = 0.2;
/// No round is asked for more than single precision gives.
const DEEPEST: f64 = 1e-4;
/// The iteration's own residual is measured after a sweep; it is stopped a little lower than asked for.
const MARGIN: f64 = 0.7;

/// The scaled matrix and vectors, kept between solves.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Blocks as in the matrix, scaled, row after row, and one spare number.
    values: Vec<f32>,
    /// S of every node; zero where it is held.
    scale: Vec<DMat3>,
    /// x, r, p, t, q of the iteration.
    solution: Vec<Four>,
    residual: Vec<Four>,
    direction: Vec<Four>,
    swept: Vec<Four>,
    image: Vec<Four>,
    /// A x in double precision.
    product: Vec<DVec3>,
    /// Right side less that.
    left: Vec<DVec3>,
}

impl Scratch {
    /// Makes room and scales the matrix; false where a diagonal block is not positive definite.
    fn take(&mut self, matrix: &BlockMatrix, free: &[bool]) -> bool {
        let n = matrix.nodes();
        if self.scale.len() != n || self.values.len() != 9 * matrix.columns().len() + 1 {
            self.values = vec![0.0; 9 * matrix.columns().len() + 1];
            self.scale = vec![DMat3::ZERO; n];
            for vector in
                [&mut self.solution, &mut self.residual, &mut self.direction, &mut self.swept, &mut self.image]
            {
                *vector = vec![Four::default(); n];
            }
            self.product = vec![DVec3::ZERO; n];
            self.left = vec![DVec3::ZERO; n];
        }
        let (chunks, scale) = (matrix.chunks(), Disjoint::new(&mut self.scale));
        let [bad] = chunks.sum(|_, range| {
            // SAFETY: chunks are disjoint, here and below.
            let scale = unsafe { scale.slice(range.clone()) };
            let mut bad = 0.0;
            for (k, i) in range.enumerate() {
                scale[k] = DMat3::ZERO;
                if free[i] {
                    match inverse_root(&matrix.diagonal(i)) {
                        Some(root) => scale[k] = root,
                        None => bad += 1.0,
                    }
                }
            }
            [bad]
        });
        if bad > 0.0 {
            return false;
        }
        let (scale, values) = (&self.scale, Disjoint::new(&mut self.values));
        chunks.each(|_, range| {
            let blocks = matrix.row_range(range.start).start..matrix.row_range(range.end - 1).end;
            // SAFETY: as above; blocks of different rows do not overlap.
            let out = unsafe { values.slice(9 * blocks.start..9 * blocks.end) };
            let mut out = out.as_chunks_mut::<9>().0.iter_mut();
            for row in range {
                // Sᵀ_i B S_j with B read by rows: B = rᵀ, so that (Sᵀ_i B S_j)ᵀ = Sᵀ_j r S_i comes out by rows.
                let own = scale[row];
                for p in matrix.row_range(row) {
                    let Some(out) = out.next() else { break };
                    let raw = DMat3::from_cols_slice(&matrix.values()[9 * p..9 * p + 9]);
                    let other = scale[matrix.columns()[p] as usize];
                    let scaled = other.transpose() * (raw * own);
                    *out = scaled.to_cols_array().map(|v| v as f32);
                }
            }
        });
        true
    }

    /// Improves `x`, which may start from anywhere on free nodes and is zero on held ones, until the
    /// residual is within the tolerance. `warm`: it does not start from zero.
    pub fn solve(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        b: &[DVec3],
        x: &mut [DVec3],
        warm: bool,
    ) -> Report {
        let mut report = Report::default();
        if !self.take(matrix, free) {
            report.refused = Some(Refusal::NotPositiveDefinite);
            report.residual = 1.0;
            return report;
        }
        let chunks = matrix.chunks();
        let [norm2] = chunks.sum(|_, range| [range.filter(|&i| free[i]).map(|i| b[i].length_squared()).sum::<f64>()]);
        if norm2 == 0.0 {
            x.fill(DVec3::ZERO);
            report.converged = true;
            return report;
        }
        let mut from_zero = !warm;
        let mut before = f64::INFINITY;
        for _ in 0..ROUNDS {
            let left2 = self.measure(matrix, free, b, x, from_zero);
            from_zero = false;
            report.residual = (left2 / norm2).sqrt();
            report.converged = report.residual <= settings.tolerance;
            let useful = report.residual.is_finite() && report.residual <= LEAST_GAIN * before;
            if report.converged || !useful || report.iterations >= settings.max_iterations {
                break;
            }
            before = report.residual;
            let wanted = (MARGIN * settings.tolerance / report.residual).max(DEEPEST);
            let most = settings.max_iterations - report.iterations;
            let iterations = self.iterate(matrix, left2.sqrt(), wanted, most);
            report.iterations += iterations;
            if iterations == 0 {
                break;
            }
            let found = &self.solution;
            let (scale, out, size) = (&self.scale, Disjoint::new(x), left2.sqrt());
            chunks.each(|_, range| {
                // SAFETY: chunks are disjoint.
                let x = unsafe { out.slice(range.clone()) };
                for (k, i) in range.enumerate() {
                    x[k] += size * (scale[i] * wide(found[i]));
                }
            });
        }
        report
    }

    /// b - A x on free nodes into `left`; returns its square.
    fn measure(&mut self, matrix: &BlockMatrix, free: &[bool], b: &[DVec3], x: &[DVec3], zero: bool) -> f64 {
        if zero {
            self.product.fill(DVec3::ZERO);
        } else {
            matrix.product(free, x, &mut self.product);
        }
        let (product, left) = (&self.product, Disjoint::new(&mut self.left));
        matrix.chunks().sum(|_, range| {
            // SAFETY: chunks are disjoint.
            let left = unsafe { left.slice(range.clone()) };
            let mut sum = 0.0;
            for (k, i) in range.enumerate() {
                left[k] = if free[i] { b[i] - product[i] } else { DVec3::ZERO };
                sum += left[k].length_squared();
            }
            [sum]
        })[0]
    }

    /// Conjugate gradients from zero on `left` over `size`, until the residual after a sweep has fallen by
    /// `wanted`; the result is in `solution`, in scaled unknowns. Returns the iterations.
    fn iterate(&mut self, matrix: &BlockMatrix, size: f64, wanted: f64, most: usize) -> usize {
        let chunks = matrix.chunks();
        let Self { values, scale, solution, residual, direction, swept, image, left, .. } = self;
        let sweep = Sweep { matrix, values };
        let (scale, left) = (&*scale, &*left);
        let [mut rr] = {
            let (x, r, p) = (Disjoint::new(solution), Disjoint::new(residual), Disjoint::new(direction));
            chunks.sum(|_, range| {
                // SAFETY: chunks are disjoint, here and below.
                let (x, r, p) = unsafe { (x.slice(range.clone()), r.slice(range.clone()), p.slice(range.clone())) };
                for (k, i) in range.clone().enumerate() {
                    r[k] = narrow(scale[i].transpose() * (left[i] / size));
                }
                sweep.forward(range, r);
                x.fill(Four::default());
                p.fill(Four::default());
                [squares(r)]
            })
        };
        let target = wanted * wanted * rr;
        let (mut beta, mut iterations) = (0.0f32, 0);
        while rr > target && rr.is_finite() && iterations < most {
            {
                let (t, p, r) = (Disjoint::new(swept), Disjoint::new(direction), &*residual);
                chunks.each(|_, range| {
                    // SAFETY: as above.
                    let (t, p) = unsafe { (t.slice(range.clone()), p.slice(range.clone())) };
                    let by = Four::splat(beta);
                    for ((p, t), r) in p.iter_mut().zip(&mut *t).zip(&r[range.clone()]) {
                        *p = r.plus(by.times(*p));
                        *t = *p;
                    }
                    sweep.backward(range, t);
                });
            }
            let [pq] = {
                let (q, t, p) = (Disjoint::new(image), &*swept, &*direction);
                chunks.sum(|_, range| {
                    // SAFETY: as above.
                    let q = unsafe { q.slice(range.clone()) };
                    for (k, i) in range.clone().enumerate() {
                        q[k] = p[i].minus(t[i]).plus(sweep.across(i, t));
                    }
                    sweep.forward(range.clone(), q);
                    let mut sums = Sums::default();
                    for (k, i) in range.enumerate() {
                        q[k] = q[k].plus(t[i]);
                        sums.add(q[k].times(p[i]));
                    }
                    [sums.total()]
                })
            };
            if pq <= 0.0 || !pq.is_finite() {
                break;
            }
            iterations += 1;
            let alpha = Four::splat((rr / pq) as f32);
            let [next] = {
                let (x, r) = (Disjoint::new(solution), Disjoint::new(residual));
                let (t, q) = (&*swept, &*image);
                chunks.sum(|_, range| {
                    // SAFETY: as above.
                    let (x, r) = unsafe { (x.slice(range.clone()), r.slice(range.clone())) };
                    let (t, q) = (&t[range.clone()], &q[range]);
                    let mut sums = Sums::default();
                    for k in 0..x.len() {
                        x[k] = x[k].plus(alpha.times(t[k]));
                        r[k] = r[k].minus(alpha.times(q[k]));
                        sums.add(r[k].times(r[k]));
                    }
                    [sums.total()]
                })
            };
            beta = (next / rr) as f32;
            rr = next;
        }
        iterations
    }
}

/// Sums of products, in double precision every few nodes.
#[derive(Default)]
struct Sums {
    part: Four,
    count: u32,
    total: f64,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, product: Four) {
        self.part = self.part.plus(product);
        self.count += 1;
        if self.count == 16 {
            self.flush();
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        let [x, y, z, _] = self.part.array().map(f64::from);
        self.total += x + y + z;
        (self.part, self.count) = (Four::default(), 0);
    }

    #[inline(always)]
    fn total(mut self) -> f64 {
        self.flush();
        self.total
    }
}

fn squares(r: &[Four]) -> f64 {
    let mut sums = Sums::default();
    r.iter().for_each(|r| sums.add(r.times(*r)));
    sums.total()
}

/// Sweeps over the rows of a chunk.
#[derive(Clone, Copy)]
struct Sweep<'a> {
    matrix: &'a BlockMatrix,
    values: &'a [f32],
}

impl Sweep<'_> {
    /// The three rows of a block; the fourth place holds the next number in memory.
    #[inline(always)]
    fn rows(&self, p: usize) -> [Four; 3] {
        let v: &[f32; 10] = self.values[9 * p..9 * p + 10].try_into().expect("ten numbers");
        let (first, _) = v.split_first_chunk().expect("four of ten");
        let (second, _) = v[3..].split_first_chunk().expect("four of seven");
        let (third, _) = v[6..].split_first_chunk().expect("four of four");
        [Four::load(first), Four::load(second), Four::load(third)]
    }

    /// y = C⁻¹ y: a row is finished when its turn comes, and then taken from those that follow.
    #[inline(always)]
    fn forward(&self, rows: std::ops::Range<usize>, y: &mut [Four]) {
        let (first, columns) = (rows.start, self.matrix.columns());
        for row in rows {
            let own = y[row - first].three();
            y[row - first] = own;
            let spread = own.spread();
            for p in self.matrix.inside_range(row) {
                let [a, b, c] = self.rows(p);
                let pull = a.times(spread[0]).plus(b.times(spread[1])).plus(c.times(spread[2]));
                let to = &mut y[columns[p] as usize - first];
                *to = to.minus(pull);
            }
        }
    }

    /// y = C⁻ᵀ y: the last row first, each less what those behind it give; the nearest comes last, because
    /// it is the one just found.
    #[inline(always)]
    fn backward(&self, rows: std::ops::Range<usize>, y: &mut [Four]) {
        let (first, columns) = (rows.start, self.matrix.columns());
        for row in rows.rev() {
            let mut sums = [Four::default(); 3];
            for p in self.matrix.inside_range(row).rev() {
                let (block, other) = (self.rows(p), y[columns[p] as usize - first]);
                for r in 0..3 {
                    sums[r] = sums[r].plus(block[r].times(other));
                }
            }
            let y = &mut y[row - first];
            *y = y.minus(Four::across(sums));
        }
    }

    /// R t of a row.
    #[inline(always)]
    fn across(&self, row: usize, t: &[Four]) -> Four {
        let (range, inside) = (self.matrix.row_range(row), self.matrix.inside_range(row));
        let mut sums = [Four::default(); 3];
        if range == inside {
            return sums[0];
        }
        for p in (range.start..inside.start).chain(inside.end..range.end) {
            let (block, other) = (self.rows(p), t[self.matrix.columns()[p] as usize]);
            for r in 0..3 {
                sums[r] = sums[r].plus(block[r].times(other));
            }
        }
        Four::across(sums)
    }
}

fn narrow(v: DVec3) -> Four {
    Four::new(v.x as f32, v.y as f32, v.z as f32)
}

fn wide(v: Four) -> DVec3 {
    let [x, y, z, _] = v.array().map(f64::from);
    DVec3::new(x, y, z)
}

/// S with S Sᵀ = D⁻¹, by Cholesky: D = G Gᵀ, S = G⁻ᵀ; none where D is not positive definite.
fn inverse_root(d: &DMat3) -> Option<DMat3> {
    let (a, b, c) = (d.x_axis.x, d.x_axis.y, d.x_axis.z);
    let g00 = a.sqrt();
    let (g10, g20) = (b / g00, c / g00);
    let g11 = (d.y_axis.y - g10 * g10).sqrt();
    let g21 = (d.y_axis.z - g20 * g10) / g11;
    let g22 = (d.z_axis.z - g20 * g20 - g21 * g21).sqrt();
    // The inverse of a lower triangle; its transpose has it as rows, which are columns here.
    let (i0, i1, i2) = (1.0 / g00, 1.0 / g11, 1.0 / g22);
    let h10 = -g10 * i0 * i1;
    let h21 = -g21 * i1 * i2;
    let h20 = -(g20 * i0 + g21 * h10) * i2;
    let root = DMat3::from_cols(DVec3::new(i0, 0.0, 0.0), DVec3::new(h10, i1, 0.0), DVec3::new(h20, h21, i2));
    (root.is_finite() && g00 > 0.0 && g11 > 0.0 && g22 > 0.0).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of blocks with masses on the diagonal, so large that it has several chunks.
    fn example(side: usize, mass: f64) -> BlockMatrix {
        let n = side * side;
        let mut m = BlockMatrix::new(n, |visit| {
            for i in 0..n {
                for j in [i + 1, i + side, i + side + 1].into_iter().filter(|&j| j < n) {
                    visit(&[i as u32, j as u32]);
                }
            }
        });
        let block = |i: usize, j: usize| {
            let d = DVec3::new(1.0, ((i * 7 + j * 13) % 11) as f64 / 11.0, ((i + j) % 5) as f64 / 5.0).normalize();
            DMat3::from_cols(d * d.x, d * d.y, d * d.z) + 0.1 * DMat3::IDENTITY
        };
        let mut diagonal = vec![DMat3::from_diagonal(DVec3::splat(mass)); n];
        for i in 0..n {
            for j in [i + 1, i + side, i + side + 1].into_iter().filter(|&j| j < n) {
                diagonal[i] += block(i, j);
                diagonal[j] += block(i, j);
            }
        }
        m.fill_by(|i, j| if i == j { diagonal[i] } else { -block(i.min(j), i.max(j)) });
        m
    }

    fn right(n: usize) -> Vec<DVec3> {
        (0..n).map(|i| DVec3::new((i as f64).sin(), (0.37 * i as f64).cos(), 0.2)).collect()
    }

    /// Catches sweeps that leave blocks out or take them twice, where chunks meet too, wrong scaling, held
    /// nodes that move, and a residual that is not the one reported.
    #[test]
    fn the_residual_asked_for_is_the_one_there_is() {
        for (side, tolerance) in [(5, 1e-3), (100, 1e-3), (100, 1e-9)] {
            let m = example(side, 0.02);
            let n = m.nodes();
            assert_eq!(m.chunks().count() > 1, side > 50);
            let free: Vec<bool> = (0..n).map(|i| i % 17 != 3).collect();
            let (b, mut x, mut product) = (right(n), vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
            let settings = Settings { tolerance, ..Settings::default() };
            let mut scratch = Scratch::default();
            let report = scratch.solve(&settings, &m, &free, &b, &mut x, false);
            assert!(report.converged && report.residual <= tolerance, "{report:?}");
            m.product(&free, &x, &mut product);
            let (mut left, mut whole) = (0.0, 0.0);
            for i in (0..n).filter(|&i| free[i]) {
                left += (b[i] - product[i]).length_squared();
                whole += b[i].length_squared();
            }
            assert!(((left / whole).sqrt() / report.residual - 1.0).abs() < 1e-6);
            assert!((0..n).all(|i| free[i] || x[i] == DVec3::ZERO));
            // From there nothing is left to do.
            let again = scratch.solve(&settings, &m, &free, &b, &mut x, true);
            assert!(again.converged && again.iterations == 0);
        }
    }

    /// Catches a sweep that does not help.
    #[test]
    fn it_needs_fewer_iterations_than_without_a_sweep() {
        let m = example(100, 0.005);
        let n = m.nodes();
        let (free, b) = (vec![true; n], right(n));
        let settings = Settings { tolerance: 1e-3, max_iterations: 1000, ..Settings::default() };
        let (mut x, mut y) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        let swept = Scratch::default().solve(&settings, &m, &free, &b, &mut x, false);
        let plain = super::super::cg::Scratch::default().solve(&settings, &m, &free, &b, &mut y);
        assert!(swept.converged && 10 * swept.iterations < 7 * plain.iterations, "{swept:?} {plain:?}");
    }

    /// Catches an indefinite matrix that is called solved.
    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        let mut m = example(5, 0.02);
        m.add_diagonal(7, DMat3::from_diagonal(DVec3::new(0.0, -100.0, 0.0)));
        let (free, b, mut x) = (vec![true; 25], right(25), vec![DVec3::ZERO; 25]);
        let report = Scratch::default().solve(&Settings::default(), &m, &free, &b, &mut x, false);
        assert_eq!(report.refused, Some(Refusal::NotPositiveDefinite));
        assert!(!report.converged);
    }

    /// Catches sums in an order of their own.
    #[test]
    fn one_thread_and_three_give_the_same_bytes() {
        let m = example(100, 0.02);
        let (free, b) = (vec![true; m.nodes()], right(m.nodes()));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut x = vec![DVec3::ZERO; m.nodes()];
            pool.install(|| Scratch::default().solve(&Settings::default(), &m, &free, &b, &mut x, false));
            x
        };
        assert!(run(1) == run(3));
    }
}
