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
use super::sweep::{Backward, Dot, Forward, Pattern, Sweep};
use super::{BlockMatrix, Refusal, Report, Settings, Start};
use crate::parallel::Disjoint;
use glam::{DMat3, DVec3};

/// Rounds of iteration before giving up, and how many may gain less than this one after another: what the
/// iteration makes smaller is another norm of the residual, and a short round may well raise this one.
const ROUNDS: usize = 12;
const IDLE: usize = 3;
const GAIN: f64 = 0.9;
/// Every round goes at least so far down with the square of its own residual.
const STEP: f64 = 0.81;
/// No round is asked for more than single precision gives.
const DEEPEST: f64 = 1e-4;
/// The iteration's own residual is measured after a sweep; it is stopped a little lower than asked for.
const MARGIN: f64 = 0.95;

/// ω: a little beyond 1 sweeps reach further.
const RELAXED: f32 = 1.25;
/// κ
const LEFT: f32 = 2.0 / RELAXED - 1.0;

/// The scaled matrix and vectors, kept between solves.
#[derive(Debug, Default)]
pub struct Scratch {
    pattern: Pattern,
    /// Its blocks, scaled, row after row, and one spare number.
    values: Vec<f32>,
    /// S of every node; zero where it is held.
    scale: Vec<DMat3>,
    /// The same by rows.
    rows: Vec<[Four; 3]>,
    /// What the above were made from.
    blocks: usize,
    version: u64,
    outside: u64,
    diagonal: Vec<f64>,
    free: Vec<bool>,
    /// Whose diagonal block is another than before.
    news: Vec<bool>,
    /// x since it was last asked for, r, p, t, q of the iteration, and what a forward sweep has taken from rows to come: zero between sweeps.
    solution: Vec<Four>,
    residual: Vec<Four>,
    direction: Vec<Four>,
    swept: Vec<Four>,
    image: Vec<Four>,
    sums: Vec<Four>,
    /// Where the iteration stands, if it can go on.
    run: Option<Run>,
    /// The residual over the iteration's own, as last seen with this matrix.
    ratio: Option<f64>,
    /// A x in double precision, on held nodes too.
    product: Vec<DVec3>,
    /// It is that of the last solution.
    fresh: bool,
    everywhere: Vec<bool>,
    /// Right side less that.
    left: Vec<DVec3>,
}

/// An iteration on the way.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// What the right side was divided by.
    size: f64,
    /// The square of its own residual, at the start and now.
    first: f64,
    rr: f64,
    /// Of the last step, which x is still without, and of the next.
    alpha: f32,
    beta: f32,
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
        self.run = None;
        if !partly {
            self.ratio = None;
        }
        let n = matrix.nodes();
        if !same || self.blocks != matrix.columns().len() {
            self.pattern.fill(matrix, free);
            self.blocks = matrix.columns().len();
            self.values.resize(9 * self.pattern.columns.len() + 1, 0.0);
        }
        if self.scale.len() != n {
            self.scale = vec![DMat3::ZERO; n];
            self.rows = vec![[Four::default(); 3]; n];
            self.diagonal = vec![0.0; 9 * n];
            self.news = vec![true; n];
            let Self { solution, residual, direction, swept, image, sums, .. } = self;
            for vector in [solution, residual, direction, swept, image, sums] {
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
        let pattern = &self.pattern;
        chunks.each(|_, range| {
            let blocks = pattern.row(range.start).start..pattern.row(range.end - 1).end;
            // SAFETY: as above; blocks of different rows do not overlap.
            let out = unsafe { values.slice(9 * blocks.start..9 * blocks.end) };
            let mut out = out.as_chunks_mut::<9>().0.iter_mut();
            for row in range {
                // Sᵀ_i B S_j; S has nothing under its diagonal.
                let [s0, s1, s2] = rows[row].map(Four::spread);
                for p in pattern.row(row) {
                    let Some(out) = out.next() else { break };
                    let (column, p) = (pattern.columns[p] as usize, pattern.source[p] as usize);
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
        self.run = None;
    }

    /// The solution was found in another way.
    pub fn forget(&mut self) {
        self.fresh = false;
        self.run = None;
    }

    /// Shortens or lengthens a guess, zero on held nodes, to the best along its direction; what may be said of it then.
    pub fn guess(&mut self, matrix: &BlockMatrix, free: &[bool], b: &[DVec3], x: &mut [DVec3]) -> Start {
        self.fresh = false;
        if self.take(matrix, free) {
            matrix.product(&self.everywhere, x, &mut self.product);
            let (guess, product) = (&*x, &self.product);
            let [right, energy] = matrix.chunks().sum(|_, range| {
                let dots = |i: usize| [guess[i].dot(b[i]), guess[i].dot(product[i])];
                range.map(dots).fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
            });
            let share = right / energy;
            if share > 0.0 && share.is_finite() {
                x.iter_mut().chain(&mut self.product).for_each(|v| *v *= share);
                self.fresh = true;
                return Start::Near;
            }
        }
        x.fill(DVec3::ZERO);
        Start::Zero
    }

    /// Improves `x`, which is zero on held nodes, until the residual is within the tolerance; see [`Start`] for what it may be
    /// at the beginning. A look goes on until it seems to be within: the residual is not measured.
    pub fn solve(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        b: &[DVec3],
        x: &mut [DVec3],
        start: Start,
        look: bool,
    ) -> Report {
        let mut report = Report::default();
        let known = std::mem::take(&mut self.fresh) && start != Start::Zero;
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
        let norm = norm2.sqrt();
        // Of the iteration's own residual, squared.
        let target = |run: &Run, ratio: Option<f64>| {
            let ratio = ratio.unwrap_or(run.first.sqrt().recip());
            (MARGIN * settings.tolerance * norm / run.size / ratio).powi(2)
        };
        let deepest = |run: &Run| DEEPEST * DEEPEST * run.first;
        // An iteration goes on where it was left, unless single precision has no more to give.
        let mut going = self.run.take().filter(|run| start == Start::Same && target(run, self.ratio) > deepest(run));
        if start == Start::Zero {
            self.product.fill(DVec3::ZERO);
        }
        let (mut found, mut fresh) = (known || start == Start::Zero, false);
        let (mut best, mut idle) = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let mut run = match going.take() {
                Some(run) => run,
                None => {
                    if !found {
                        matrix.product(&self.everywhere, x, &mut self.product);
                    }
                    fresh = true;
                    let left2 = self.measure(matrix, free, b);
                    report.residual = (left2 / norm2).sqrt();
                    report.converged = report.residual <= settings.tolerance;
                    idle = if report.residual <= GAIN * best { 0 } else { idle + 1 };
                    best = best.min(report.residual);
                    if let Some(run) = self.run.filter(|run| run.rr > 0.0) {
                        self.ratio = Some(left2.sqrt() / (run.size * run.rr.sqrt()));
                    }
                    let useful = report.residual.is_finite() && idle < IDLE;
                    if report.converged || !useful || report.iterations >= settings.max_iterations {
                        break;
                    }
                    // It goes on as long as that helps: setting out anew forgets the directions found.
                    let on = self.run.filter(|run| idle == 0 && target(run, self.ratio) > deepest(run));
                    let run = on.unwrap_or_else(|| self.begin(matrix, left2.sqrt()));
                    if start == Start::Zero && run.first > 0.0 {
                        // Of a right side as smooth as this one; later ones have peaks that a sweep takes away.
                        self.ratio.get_or_insert(run.first.sqrt().recip());
                    }
                    run
                }
            };
            let aim = target(&run, self.ratio).max(deepest(&run)).min(STEP * run.rr);
            let iterations = self.iterate(matrix, &mut run, aim, settings.max_iterations - report.iterations);
            report.iterations += iterations;
            if iterations == 0 {
                break;
            }
            (found, fresh) = (false, false);
            self.give(matrix, &mut run, x);
            self.run = Some(run);
            if look {
                report.residual = run.size * run.rr.sqrt() * self.ratio.unwrap_or(run.first.sqrt().recip()) / norm;
                report.converged = run.rr <= aim;
                break;
            }
        }
        self.fresh = fresh;
        report
    }

    /// Adds what the iteration has found since it was last asked to `x`.
    fn give(&mut self, matrix: &BlockMatrix, run: &mut Run, x: &mut [DVec3]) {
        let (solution, out, size) = (Disjoint::new(&mut self.solution), Disjoint::new(x), run.size);
        let (scale, swept, alpha) = (&self.scale, &self.swept, Four::splat(run.alpha));
        matrix.chunks().each(|_, range| {
            // SAFETY: chunks are disjoint.
            let (x, solution) = unsafe { (out.slice(range.clone()), solution.slice(range.clone())) };
            for (k, i) in range.enumerate() {
                x[k] += size * (scale[i] * wide(solution[k].plus(alpha.times(swept[i]))));
                solution[k] = Four::default();
            }
        });
        run.alpha = 0.0;
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

    /// Sets out from zero, on `left` over `size`.
    fn begin(&mut self, matrix: &BlockMatrix, size: f64) -> Run {
        let Self { pattern, values, scale, solution, residual, direction, swept, sums, left, .. } = self;
        let (sweep, scale, left) = (Sweep::new(pattern, values), &*scale, &*left);
        let (x, r, p) = (Disjoint::new(solution), Disjoint::new(residual), Disjoint::new(direction));
        let (t, sums) = (Disjoint::new(swept), Disjoint::new(sums));
        let [first] = matrix.chunks().sum_in_twos(|two| {
            for range in two.clone() {
                // SAFETY: chunks are disjoint, here and below.
                let clear = unsafe { [x.slice(range.clone()), p.slice(range.clone()), t.slice(range)] };
                clear.into_iter().for_each(|vector| vector.fill(Four::default()));
            }
            let mut turns = two.clone().map(|range| SetOut {
                // SAFETY: as above.
                r: unsafe { r.slice(range.clone()) },
                scale: &scale[range.clone()],
                left: &left[range],
                size,
                rr: Dot::default(),
            });
            // SAFETY: as above.
            let sums = two.clone().map(|range| unsafe { sums.slice(range) });
            sweep.forward(two, sums, &mut turns);
            turns.map(|turn| [turn.rr.total()])
        });
        Run { size, first, rr: first, alpha: 0.0, beta: 0.0 }
    }

    /// Goes on until the square of the iteration's own residual is at most `aim`; returns the iterations.
    fn iterate(&mut self, matrix: &BlockMatrix, run: &mut Run, aim: f64, most: usize) -> usize {
        let chunks = matrix.chunks();
        let Self { pattern, values, solution, residual, direction, swept, image, sums, .. } = self;
        let sweep = Sweep::new(pattern, values);
        let mut iterations = 0;
        while run.rr > aim && run.rr.is_finite() && iterations < most {
            // x += α t of the step before, p = r + β p, t = C⁻ᵀ p
            {
                let (x, p, t) = (Disjoint::new(solution), Disjoint::new(direction), Disjoint::new(swept));
                let (r, alpha, beta) = (&*residual, Four::splat(run.alpha), Four::splat(run.beta));
                chunks.sum_in_twos(|two| {
                    // SAFETY: chunks are disjoint, here and below.
                    let mut turns = two.clone().map(|range| unsafe {
                        Turn { r: &r[range.clone()], x: x.slice(range.clone()), p: p.slice(range), alpha, beta }
                    });
                    // SAFETY: as above.
                    let both = two.clone().map(|range| unsafe { t.slice(range) });
                    sweep.backward(two, both, &mut turns);
                    [[]; 2]
                });
            }
            // q = t + C⁻¹ (p - κ t + R t)
            let [pq] = {
                let (q, sums) = (Disjoint::new(image), Disjoint::new(sums));
                let (t, p) = (&*swept, &*direction);
                chunks.sum_in_twos(|two| {
                    let mut turns = two.clone().map(|range| Return {
                        sweep,
                        first: range.start,
                        t,
                        p: &p[range.clone()],
                        // SAFETY: as above.
                        q: unsafe { q.slice(range) },
                        pq: Dot::default(),
                    });
                    // SAFETY: as above.
                    let sums = two.clone().map(|range| unsafe { sums.slice(range) });
                    sweep.forward(two, sums, &mut turns);
                    turns.map(|turn| [turn.pq.total()])
                })
            };
            if pq <= 0.0 || !pq.is_finite() {
                // The step before was added with the sweep.
                run.alpha = 0.0;
                break;
            }
            iterations += 1;
            run.alpha = (run.rr / pq) as f32;
            let [next] = {
                let (r, q, alpha) = (Disjoint::new(residual), &*image, Four::splat(run.alpha));
                chunks.sum(|_, range| {
                    // SAFETY: as above.
                    let r = unsafe { r.slice(range.clone()) };
                    let mut dot = Dot::default();
                    for (r, q) in r.iter_mut().zip(&q[range]) {
                        *r = r.minus(alpha.times(*q));
                        dot.add(*r, *r);
                    }
                    [dot.total()]
                })
            };
            run.beta = (next / run.rr) as f32;
            run.rr = next;
        }
        iterations
    }
}

/// r = C⁻¹ Sᵀ b
struct SetOut<'a> {
    r: &'a mut [Four],
    scale: &'a [DMat3],
    left: &'a [DVec3],
    size: f64,
    rr: Dot,
}

impl Forward for SetOut<'_> {
    #[inline(always)]
    fn value(&mut self, k: usize, sum: Four) -> Four {
        let right = narrow(self.scale[k].transpose() * (self.left[k] / self.size));
        let own = right.plus(sum).times(Four::splat(RELAXED));
        self.r[k] = own;
        self.rr.add(own, own);
        own
    }
}

/// x += α t of the step before, p = r + β p, t = C⁻ᵀ p
struct Turn<'a> {
    r: &'a [Four],
    x: &'a mut [Four],
    p: &'a mut [Four],
    alpha: Four,
    beta: Four,
}

impl Backward for Turn<'_> {
    #[inline(always)]
    fn value(&mut self, k: usize, pull: Four, old: Four) -> Four {
        self.x[k] = self.x[k].plus(self.alpha.times(old));
        let p = self.r[k].plus(self.beta.times(self.p[k]));
        self.p[k] = p;
        p.minus(pull).times(Four::splat(RELAXED))
    }
}

/// q = t + C⁻¹ (p - κ t + R t)
struct Return<'a> {
    sweep: Sweep<'a>,
    first: usize,
    t: &'a [Four],
    p: &'a [Four],
    q: &'a mut [Four],
    pq: Dot,
}

impl Forward for Return<'_> {
    #[inline(always)]
    fn value(&mut self, k: usize, sum: Four) -> Four {
        let (row, p) = (self.first + k, self.p[k]);
        let t = self.t[row];
        let right = p.minus(Four::splat(LEFT).times(t)).plus(self.sweep.across(row, self.t));
        let own = right.plus(sum).times(Four::splat(RELAXED));
        let q = own.plus(t);
        self.q[k] = q;
        self.pq.add(q, p);
        own
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
            let report = scratch.solve(&settings, &m, &free, &b, &mut x, Start::Zero, false);
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
            let again = scratch.solve(&settings, &m, &free, &b, &mut x, Start::Near, false);
            assert!(again.converged && again.iterations == 0);
        }
    }

    /// Catches a look after which the iteration begins anew or ends too early, a residual of what was before, a changed
    /// diagonal that is overlooked, and guesses that do harm.
    #[test]
    fn an_iteration_goes_on_after_a_look() {
        for side in [30, 100] {
            let mut m = example(side, 0.02);
            let n = m.nodes();
            let free: Vec<bool> = (0..n).map(|i| i % 17 != 3).collect();
            let (b, mut x) = (right(n), vec![DVec3::ZERO; n]);
            let settings = |tolerance| Settings { tolerance, ..Settings::default() };
            let residual = |m: &BlockMatrix, x: &[DVec3]| {
                let mut product = vec![DVec3::ZERO; n];
                m.product(&free, x, &mut product);
                let squares = |f: &dyn Fn(usize) -> DVec3| -> f64 {
                    (0..n).filter(|&i| free[i]).map(|i| f(i).length_squared()).sum()
                };
                (squares(&|i| b[i] - product[i]) / squares(&|i| b[i])).sqrt()
            };
            let whole = Scratch::default().solve(&settings(1e-3), &m, &free, &b, &mut x, Start::Zero, false);
            x.fill(DVec3::ZERO);
            let mut scratch = Scratch::default();
            let look = scratch.solve(&settings(0.05), &m, &free, &b, &mut x, Start::Zero, true);
            assert!(look.converged && residual(&m, &x) < 0.2, "{look:?} {}", residual(&m, &x));
            let mut spent = look.iterations;
            for tolerance in [1e-2, 1e-3] {
                let report = scratch.solve(&settings(tolerance), &m, &free, &b, &mut x, Start::Same, false);
                assert!(report.converged && (residual(&m, &x) / report.residual - 1.0).abs() < 1e-6, "{report:?}");
                spent += report.iterations;
            }
            assert!(spent <= whole.iterations + 3, "{spent} after looks, {} without", whole.iterations);
            // A block on the diagonal becomes another.
            let block = DMat3::from_diagonal(DVec3::splat(30.0));
            m.add_diagonal(n / 2, block);
            scratch.changed(n / 2, block * x[n / 2]);
            let report = scratch.solve(&settings(1e-3), &m, &free, &b, &mut x, Start::Near, false);
            assert!(report.converged && (residual(&m, &x) / report.residual - 1.0).abs() < 1e-6, "{report:?}");
            // Too long by far, and wrong in part.
            let mut guess: Vec<DVec3> = x.iter().map(|v| 70.0 * *v).collect();
            guess[n / 3] *= 1.5;
            assert!(scratch.guess(&m, &free, &b, &mut guess) == Start::Near && residual(&m, &guess) < 0.1);
            let report = scratch.solve(&settings(1e-3), &m, &free, &b, &mut guess, Start::Near, false);
            assert!(report.converged && (residual(&m, &guess) / report.residual - 1.0).abs() < 1e-6);
            // The other way: nothing to be had of it.
            guess.iter_mut().for_each(|v| *v = -*v);
            assert!(scratch.guess(&m, &free, &b, &mut guess) == Start::Zero && guess.iter().all(|v| *v == DVec3::ZERO));
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
        let swept = Scratch::default().solve(&settings, &m, &free, &b, &mut x, Start::Zero, false);
        let plain = super::super::cg::Scratch::default().solve(&settings, &m, &free, &b, &mut y);
        assert!(swept.converged && 10 * swept.iterations < 7 * plain.iterations, "{swept:?} {plain:?}");
    }

    /// Catches an indefinite matrix that is called solved.
    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        let mut m = example(5, 0.02);
        m.add_diagonal(7, DMat3::from_diagonal(DVec3::new(0.0, -100.0, 0.0)));
        let (free, b, mut x) = (vec![true; 25], right(25), vec![DVec3::ZERO; 25]);
        let report = Scratch::default().solve(&Settings::default(), &m, &free, &b, &mut x, Start::Zero, false);
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
            pool.install(|| Scratch::default().solve(&Settings::default(), &m, &free, &b, &mut x, Start::Zero, false));
            x
        };
        assert!(run(1) == run(3));
    }
}
