//! Conjugate gradients in single precision with a symmetric sweep as preconditioner, inside a
//! residual in double precision.
//!
//! The matrix is scaled to unit diagonal blocks, A = S⁻¹ (L + I + Lᵀ + R) S⁻ᵀ: S Sᵀ is the
//! inverse of the diagonal blocks, L couples rows of one chunk, R those of different chunks. With C = I/ω + L the
//! iteration runs on C⁻¹ (L + I + Lᵀ + R) C⁻ᵀ, and because L + I + Lᵀ = C + Cᵀ - κ I with κ = 2/ω - 1
//! ```text
//! t = C⁻ᵀ p        q = t + C⁻¹ (p - κ t + R t)                             (Eisenstat 1981)
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
use std::ops::Range;

/// Rounds of iteration before giving up, and how many may gain less than this one after another: what the
/// iteration makes smaller is another norm of the residual, and a short round may well raise this one.
const ROUNDS: usize = 12;
const IDLE: usize = 3;
const GAIN: f64 = 0.9;
/// No round goes deeper for that reason by more than this.
const MOST_LAG: f64 = 100.0;
/// No round is asked for more than single precision gives.
const DEEPEST: f64 = 1e-4;
/// The iteration's own residual is measured after a sweep; it is stopped a little lower than asked for.
const MARGIN: f64 = 0.7;

/// ω: a little beyond 1 sweeps reach further.
const RELAXED: f32 = 1.25;
/// κ
const LEFT: f32 = 2.0 / RELAXED - 1.0;

/// The scaled matrix and vectors, kept between solves.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Blocks as in the matrix, scaled, row after row, and one spare number.
    values: Vec<f32>,
    /// S of every node; zero where it is held.
    scale: Vec<DMat3>,
    /// The same by rows.
    rows: Vec<[Four; 3]>,
    /// What the above were made from.
    version: u64,
    outside: u64,
    diagonal: Vec<f64>,
    free: Vec<bool>,
    /// Whose diagonal block is another than before.
    news: Vec<bool>,
    /// x, r, p, t, q of the iteration.
    solution: Vec<Four>,
    residual: Vec<Four>,
    direction: Vec<Four>,
    swept: Vec<Four>,
    image: Vec<Four>,
    /// A x in double precision, on held nodes too.
    product: Vec<DVec3>,
    /// It is that of the last solution.
    fresh: bool,
    everywhere: Vec<bool>,
    /// Right side less that.
    left: Vec<DVec3>,
}

impl Scratch {
    /// Makes room and scales the matrix; false where a diagonal block is not positive definite.
    fn take(&mut self, matrix: &BlockMatrix, free: &[bool]) -> bool {
        let same = self.free == free;
        if same && self.version == matrix.version() {
            return true;
        }
        // Off the diagonal nothing is new: only what touches a new diagonal block is scaled anew.
        let partly = same && self.version != 0 && self.outside == matrix.version_outside();
        self.version = 0;
        let n = matrix.nodes();
        if self.scale.len() != n || self.values.len() != 9 * matrix.columns().len() + 1 {
            self.values = vec![0.0; 9 * matrix.columns().len() + 1];
            self.scale = vec![DMat3::ZERO; n];
            self.rows = vec![[Four::default(); 3]; n];
            self.diagonal = vec![0.0; 9 * n];
            self.news = vec![true; n];
            for vector in
                [&mut self.solution, &mut self.residual, &mut self.direction, &mut self.swept, &mut self.image]
            {
                *vector = vec![Four::default(); n];
            }
            self.product = vec![DVec3::ZERO; n];
            self.everywhere = vec![true; n];
            self.left = vec![DVec3::ZERO; n];
        }
        let chunks = matrix.chunks();
        let (scale, rows) = (Disjoint::new(&mut self.scale), Disjoint::new(&mut self.rows));
        let (news, seen) = (Disjoint::new(&mut self.news), Disjoint::new(&mut self.diagonal));
        let [bad] = chunks.sum(|_, range| {
            // SAFETY: chunks are disjoint, here and below.
            let (scale, rows) = unsafe { (scale.slice(range.clone()), rows.slice(range.clone())) };
            // SAFETY: as above.
            let (news, seen) = unsafe { (news.slice(range.clone()), seen.slice(9 * range.start..9 * range.end)) };
            let mut bad = 0.0;
            for (k, i) in range.enumerate() {
                let (seen, block) = (&mut seen[9 * k..9 * k + 9], &matrix.diagonals()[9 * i..9 * i + 9]);
                news[k] = !partly || seen != block;
                if !news[k] {
                    continue;
                }
                seen.copy_from_slice(block);
                scale[k] = DMat3::ZERO;
                if free[i] {
                    match inverse_root(&matrix.diagonal(i)) {
                        Some(root) => scale[k] = root,
                        None => bad += 1.0,
                    }
                }
                rows[k] = [narrow(scale[k].row(0)), narrow(scale[k].row(1)), narrow(scale[k].row(2))];
            }
            [bad]
        });
        if bad > 0.0 {
            return false;
        }
        let (rows, news, values) = (&self.rows, &self.news, Disjoint::new(&mut self.values));
        chunks.each(|_, range| {
            let blocks = matrix.row_range(range.start).start..matrix.row_range(range.end - 1).end;
            // SAFETY: as above; blocks of different rows do not overlap.
            let out = unsafe { values.slice(9 * blocks.start..9 * blocks.end) };
            let mut out = out.as_chunks_mut::<9>().0.iter_mut();
            for row in range {
                // Sᵀ_i B S_j; S has nothing under its diagonal.
                let [s0, s1, s2] = rows[row].map(Four::spread);
                for p in matrix.row_range(row) {
                    let Some(out) = out.next() else { break };
                    let column = matrix.columns()[p] as usize;
                    if !(news[row] || news[column]) {
                        continue;
                    }
                    let other = &rows[column];
                    let mut half = [Four::default(); 3];
                    for r in 0..3 {
                        let [a, b, c] = of(matrix.single_row(p, r)).spread();
                        half[r] = a.times(other[0]).plus(b.times(other[1])).plus(c.times(other[2]));
                    }
                    let first = s0[0].times(half[0]);
                    let second = s0[1].times(half[0]).plus(s1[1].times(half[1]));
                    let third = s0[2].times(half[0]).plus(s1[2].times(half[1])).plus(s2[2].times(half[2]));
                    out[..4].copy_from_slice(&first.array());
                    out[3..7].copy_from_slice(&second.array());
                    out[6..].copy_from_slice(&third.array()[..3]);
                }
            }
        });
        (self.version, self.outside) = (matrix.version(), matrix.version_outside());
        self.free.clear();
        self.free.extend_from_slice(free);
        true
    }

    /// A x of the last solution, on held nodes too, if it is known.
    pub fn product(&self) -> Option<&[DVec3]> {
        self.fresh.then_some(&self.product)
    }

    /// Since the last solve a diagonal block became another: what that adds to A x.
    pub fn changed(&mut self, node: usize, by: DVec3) {
        if self.fresh {
            self.product[node] += by;
        }
    }

    /// The solution was found in another way.
    pub fn forget(&mut self) {
        self.fresh = false;
    }

    /// Improves `x`, which is zero on held nodes, until the residual is within the tolerance. `warm`: it is what the last
    /// solve left, and the matrix is another by what [`changed`](Self::changed) was told at most; else it is zero.
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
        let known = std::mem::take(&mut self.fresh) && warm;
        if !self.take(matrix, free) {
            report.refused = Some(Refusal::NotPositiveDefinite);
            report.residual = 1.0;
            return report;
        }
        let chunks = matrix.chunks();
        let [norm2] = chunks.sum(|_, range| [range.filter(|&i| free[i]).map(|i| b[i].length_squared()).sum::<f64>()]);
        if norm2 == 0.0 {
            x.fill(DVec3::ZERO);
            self.product.fill(DVec3::ZERO);
            self.fresh = true;
            report.converged = true;
            return report;
        }
        if !known && !warm {
            self.product.fill(DVec3::ZERO);
        }
        let (mut found, mut fresh) = (known || !warm, false);
        let (mut before, mut best, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        // How much less the residual fell than the iteration's own, at worst.
        let (mut asked, mut lag) = (1.0, 1.0f64);
        for _ in 0..ROUNDS {
            if !found {
                matrix.product(&self.everywhere, x, &mut self.product);
            }
            found = false;
            fresh = true;
            let left2 = self.measure(matrix, free, b);
            report.residual = (left2 / norm2).sqrt();
            report.converged = report.residual <= settings.tolerance;
            idle = if report.residual <= GAIN * best { 0 } else { idle + 1 };
            best = best.min(report.residual);
            let useful = report.residual.is_finite() && idle < IDLE;
            if report.converged || !useful || report.iterations >= settings.max_iterations {
                break;
            }
            if before.is_finite() {
                lag = (report.residual / before / asked).clamp(lag, MOST_LAG);
            }
            before = report.residual;
            let wanted = (MARGIN * settings.tolerance / report.residual / lag).max(DEEPEST);
            asked = wanted;
            let most = settings.max_iterations - report.iterations;
            let iterations = self.iterate(matrix, left2.sqrt(), wanted, most);
            report.iterations += iterations;
            if iterations == 0 {
                break;
            }
            fresh = false;
            let solution = &self.solution;
            let (scale, out, size) = (&self.scale, Disjoint::new(x), left2.sqrt());
            chunks.each(|_, range| {
                // SAFETY: chunks are disjoint.
                let x = unsafe { out.slice(range.clone()) };
                for (k, i) in range.enumerate() {
                    x[k] += size * (scale[i] * wide(solution[i]));
                }
            });
        }
        self.fresh = fresh;
        report
    }

    /// b - A x on free nodes into `left`; returns its square.
    fn measure(&mut self, matrix: &BlockMatrix, free: &[bool], b: &[DVec3]) -> f64 {
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
        let sweep = Sweep::new(matrix, values);
        let (scale, left) = (&*scale, &*left);
        let [mut rr] = {
            let (x, r, p) = (Disjoint::new(solution), Disjoint::new(residual), Disjoint::new(direction));
            chunks.sum_in_twos(|two| {
                for range in two.clone() {
                    // SAFETY: chunks are disjoint, here and below.
                    let (x, r, p) = unsafe { (x.slice(range.clone()), r.slice(range.clone()), p.slice(range.clone())) };
                    for (r, i) in r.iter_mut().zip(range) {
                        *r = narrow(scale[i].transpose() * (left[i] / size));
                    }
                    x.fill(Four::default());
                    p.fill(Four::default());
                }
                // SAFETY: as above.
                let [a, b] = two.clone().map(|range| unsafe { r.slice(range) });
                sweep.forward(two, [&mut *a, &mut *b]);
                [[dot(a, a)], [dot(b, b)]]
            })
        };
        let target = wanted * wanted * rr;
        let (mut beta, mut iterations) = (0.0f32, 0);
        let (left_over, crossing) = (Four::splat(LEFT), chunks.count() > 1);
        while rr > target && rr.is_finite() && iterations < most {
            {
                let (t, p, r) = (Disjoint::new(swept), Disjoint::new(direction), &*residual);
                chunks.sum_in_twos(|two| {
                    for range in two.clone() {
                        // SAFETY: as above.
                        let (t, p) = unsafe { (t.slice(range.clone()), p.slice(range.clone())) };
                        let by = Four::splat(beta);
                        for ((p, t), r) in p.iter_mut().zip(t).zip(&r[range]) {
                            *p = r.plus(by.times(*p));
                            *t = *p;
                        }
                    }
                    // SAFETY: as above.
                    let both = two.clone().map(|range| unsafe { t.slice(range) });
                    sweep.backward(two, both);
                    [[]; 2]
                });
            }
            let [pq] = {
                let (q, t, p) = (Disjoint::new(image), &*swept, &*direction);
                chunks.sum_in_twos(|two| {
                    for range in two.clone() {
                        // SAFETY: as above.
                        let q = unsafe { q.slice(range.clone()) };
                        for ((q, p), t) in q.iter_mut().zip(&p[range.clone()]).zip(&t[range.clone()]) {
                            *q = p.minus(left_over.times(*t));
                        }
                        if crossing {
                            for (q, i) in q.iter_mut().zip(range) {
                                *q = q.plus(sweep.across(i, t));
                            }
                        }
                    }
                    // SAFETY: as above.
                    let [a, b] = two.clone().map(|range| unsafe { q.slice(range) });
                    sweep.forward(two.clone(), [&mut *a, &mut *b]);
                    let [first, second] = two;
                    let close = |q: &mut [Four], range: Range<usize>| {
                        for (q, t) in q.iter_mut().zip(&t[range.clone()]) {
                            *q = q.plus(*t);
                        }
                        [dot(q, &p[range])]
                    };
                    [close(a, first), close(b, second)]
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
                    for ((x, t), (r, q)) in x.iter_mut().zip(&t[range.clone()]).zip(r.iter_mut().zip(&q[range])) {
                        *x = x.plus(alpha.times(*t));
                        *r = r.minus(alpha.times(*q));
                    }
                    [dot(r, r)]
                })
            };
            beta = (next / rr) as f32;
            rr = next;
        }
        iterations
    }
}

/// Σ a·b, in double precision every few nodes.
fn dot(a: &[Four], b: &[Four]) -> f64 {
    const FEW: usize = 16;
    let mut total = 0.0;
    for (a, b) in a.chunks(FEW).zip(b.chunks(FEW)) {
        let mut part = Four::default();
        for (a, b) in a.iter().zip(b) {
            part = part.plus(a.times(*b));
        }
        let [x, y, z, _] = part.array();
        total += f64::from(x) + f64::from(y) + f64::from(z);
    }
    total
}

/// Sweeps over the rows of a chunk.
#[derive(Clone, Copy)]
struct Sweep<'a> {
    matrix: &'a BlockMatrix,
    values: &'a [f32],
}

impl<'a> Sweep<'a> {
    /// Rows of the matrix and values that belong to them.
    fn new(matrix: &'a BlockMatrix, values: &'a [f32]) -> Self {
        assert!(values.len() > 9 * matrix.columns().len());
        Self { matrix, values }
    }

    /// The three rows of a block; the fourth place holds the next number in memory.
    ///
    /// # Safety
    /// There must be such a block.
    #[inline(always)]
    unsafe fn rows(&self, p: usize) -> [Four; 3] {
        // SAFETY: ten numbers from 9 p on, by `new`.
        let v: &[f32; 10] = unsafe { &*self.values.as_ptr().add(9 * p).cast() };
        let (first, _) = v.split_first_chunk().expect("four of ten");
        let (second, _) = v[3..].split_first_chunk().expect("four of seven");
        let (third, _) = v[6..].split_first_chunk().expect("four of four");
        [Four::load(first), Four::load(second), Four::load(third)]
    }

    fn forward(&self, rows: [Range<usize>; 2], y: [&mut [Four]; 2]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.forward_avx2(rows, y) };
        }
        self.forward_by(rows, y);
    }

    fn backward(&self, rows: [Range<usize>; 2], y: [&mut [Four]; 2]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.backward_avx2(rows, y) };
        }
        self.backward_by(rows, y);
    }

    /// The same instructions with three operands: fewer of them.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn forward_avx2(&self, rows: [Range<usize>; 2], y: [&mut [Four]; 2]) {
        self.forward_by(rows, y);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn backward_avx2(&self, rows: [Range<usize>; 2], y: [&mut [Four]; 2]) {
        self.backward_by(rows, y);
    }

    /// y = C⁻¹ y of two chunks, a row of each in turn: rows of a chunk wait for one another.
    #[inline(always)]
    fn forward_by(&self, [a, b]: [Range<usize>; 2], [y, z]: [&mut [Four]; 2]) {
        assert!(y.len() == a.len() && z.len() == b.len());
        for k in 0..a.len().max(b.len()) {
            if k < a.len() {
                self.forward_row(a.start + k, a.start, y);
            }
            if k < b.len() {
                self.forward_row(b.start + k, b.start, z);
            }
        }
    }

    /// y = C⁻ᵀ y of two chunks: the last row first.
    #[inline(always)]
    fn backward_by(&self, [a, b]: [Range<usize>; 2], [y, z]: [&mut [Four]; 2]) {
        assert!(y.len() == a.len() && z.len() == b.len());
        for k in (0..a.len().max(b.len())).rev() {
            if k < a.len() {
                self.backward_row(a.start + k, a.start, y);
            }
            if k < b.len() {
                self.backward_row(b.start + k, b.start, z);
            }
        }
    }

    /// A row is finished when its turn comes, and then taken from those that follow.
    #[inline(always)]
    fn forward_row(&self, row: usize, first: usize, y: &mut [Four]) {
        let (columns, relaxed) = (self.matrix.columns(), Four::new(RELAXED, RELAXED, RELAXED));
        let own = y[row - first].times(relaxed);
        y[row - first] = own;
        let spread = own.spread();
        for p in self.matrix.inside_range(row) {
            // SAFETY: blocks of a row are there, and columns inside are those of the chunk.
            let ([a, b, c], to) = unsafe {
                (self.rows(p), y.get_unchecked_mut((*columns.get_unchecked(p) as usize).wrapping_sub(first)))
            };
            let pull = a.times(spread[0]).plus(b.times(spread[1])).plus(c.times(spread[2]));
            *to = to.minus(pull);
        }
    }

    /// A row less what those behind it give; the nearest comes last, because it is the one just found.
    #[inline(always)]
    fn backward_row(&self, row: usize, first: usize, y: &mut [Four]) {
        let (columns, relaxed) = (self.matrix.columns(), Four::new(RELAXED, RELAXED, RELAXED));
        let mut sums = [Four::default(); 3];
        for p in self.matrix.inside_range(row).rev() {
            // SAFETY: as above.
            let (block, other) =
                unsafe { (self.rows(p), *y.get_unchecked((*columns.get_unchecked(p) as usize).wrapping_sub(first))) };
            for r in 0..3 {
                sums[r] = sums[r].plus(block[r].times(other));
            }
        }
        let y = &mut y[row - first];
        *y = y.minus(Four::across(sums)).times(relaxed);
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
            // SAFETY: blocks of a row are there.
            let (block, other) = (unsafe { self.rows(p) }, t[self.matrix.columns()[p] as usize]);
            for r in 0..3 {
                sums[r] = sums[r].plus(block[r].times(other));
            }
        }
        Four::across(sums)
    }
}

#[inline(always)]
fn of([x, y, z]: [f32; 3]) -> Four {
    Four::new(x, y, z)
}

#[inline(always)]
fn narrow(v: DVec3) -> Four {
    Four::new(v.x as f32, v.y as f32, v.z as f32)
}

#[inline(always)]
fn wide(v: Four) -> DVec3 {
    let [x, y, z, _] = v.array();
    DVec3::new(f64::from(x), f64::from(y), f64::from(z))
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
