//! Conjugate gradients in single precision with a symmetric sweep as preconditioner, inside a
//! residual in double precision.
//!
//! With S Sᵀ the inverse of the diagonal blocks, A = S⁻ᵀ (L + I + Lᵀ) S⁻¹, L being below the diagonal in an order of the rows (see
//! `bundle`). With C = I/ω + L the iteration runs on C⁻¹ (L + I + Lᵀ) C⁻ᵀ, and because L + I + Lᵀ = C + Cᵀ - κ I
//! with κ = 2/ω - 1
//! ```text
//! t = C⁻ᵀ p        q = t + C⁻¹ (p - κ t)                                   (Eisenstat 1981)
//! ```
//! a product costs two triangular sweeps, each over half of the blocks: no more than a product
//! without preconditioner. Blocks are read as they are, in half the bytes, links in less than a quarter, and S is applied to
//! what comes together in a row. Pieces are swept side by side. Vectors are brought up to date as they are swept:
//! ```text
//! backward    x += α t   r -= α q   |r|²   p = r + β p   t
//! forward     q   p·q   |q|²
//! α = |r|² / p·q      |r|² to come = |r|² - 2α p·q + α² |q|²      β = that over this
//! ```
//!
//! What the iteration has found is added up in double precision. Its own residual leads back to that of the system, S⁻ᵀ C r,
//! as far as single precision can be trusted: that loses about its rounding times |x| of the iteration. Where this
//! is not small beside what is left, b - A x is taken in double precision. When it is not yet small enough the iteration goes on, or
//! starts again on it. So the result has the residual asked for, whatever single precision lost; where a round no longer helps, the
//! caller is told.

mod rooms;
mod roots;
#[cfg(test)]
mod tests;
mod turns;

use super::bundle::{Group, NONE, Pattern};
use super::slots::Diagonal;
use super::sweep::{Before, Blocks, Bundle, Corner, Dot, Full, Room, Single, Sweep, each};
use super::{BlockMatrix, Refusal, Report, Settings, Start};
use crate::lanes::sixteen::WIDEST;
use crate::parallel::Disjoint;
use crate::stages::{Stage, timed};
use glam::DVec3;
use rooms::{Rooms, fill};
use roots::{inverse_root, roots};
use std::sync::Arc;
use turns::{Advance, Copied, Give, Return, SetOff, SetOut, Trace, Turn, Weigh, take_in};

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
/// A residual is led back where rounding is at most this share of it, and what of |x| rounding is taken to be: in its tests it is
/// a fifth of that.
const TRUSTED: f64 = 0.05;
const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;
/// A residual that falls further than this in a step is added up, not foreseen.
const FORESEEN: f64 = 1e-2;

/// ω: a little beyond 1 sweeps reach further.
const RELAXED: f32 = 1.25;
/// κ
const LEFT: f32 = 2.0 / RELAXED - 1.0;

/// The matrix by bundles and vectors, kept between solves.
#[derive(Debug, Default)]
pub struct Scratch {
    pattern: Arc<Pattern>,
    /// Its blocks, where they are not links that lie in this order already.
    full: Vec<Full>,
    /// S of every bundle.
    scales: Vec<Corner>,
    /// What the above were made from.
    blocks: usize,
    version: u64,
    outside: u64,
    touched: usize,
    /// x since it was last asked for, r, p, t, q of the iteration.
    solution: Vec<Bundle>,
    residual: Vec<Bundle>,
    direction: Vec<Bundle>,
    swept: Vec<Bundle>,
    image: Vec<Bundle>,
    /// S times what rows became in a sweep, by bundles and by nodes.
    found: Vec<Bundle>,
    singles: Vec<Single>,
    /// What sweeps have given to rows to come: zero between sweeps.
    even: Vec<Bundle>,
    loose: Vec<Single>,
    /// Where the iteration stands, if it can go on.
    run: Option<Run>,
    /// The residual over the iteration's own, as last seen with this matrix.
    ratio: Option<f64>,
    /// A x in double precision, on held nodes too.
    product: Vec<DVec3>,
    /// It is that of the last solution.
    fresh: bool,
    everywhere: Vec<bool>,
    /// Blocks between held nodes and free ones: which, its held and its free node, and whether its mirror image is meant.
    fringe: Vec<(u32, [u32; 2], bool)>,
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
    /// Of the last step, which x and r are still without, and of the next.
    alpha: f32,
    gamma: f32,
    beta: f32,
    /// How long x has become (its own measure).
    length: f64,
}

/// Does something with the blocks of a matrix as they lie in slots: its links, or copies.
macro_rules! by_form {
    ($self:ident, $matrix:expr, $values:ident => $work:expr) => {{
        let pattern = $self.pattern.clone();
        match $matrix.links(&pattern) {
            Some($values) => $work,
            None => {
                let full = std::mem::take(&mut $self.full);
                let $values = &full[..];
                let out = $work;
                $self.full = full;
                out
            }
        }
    }};
}

impl Scratch {
    /// Makes room and scales the matrix; false where a diagonal block is not positive definite.
    fn take(&mut self, matrix: &BlockMatrix, free: &[bool]) -> bool {
        let same = self.pattern.free == free && matrix.pattern(free).is_none_or(|p| Arc::ptr_eq(p, &self.pattern));
        if same && self.version == matrix.version() {
            return true;
        }
        // Off the diagonal nothing is new: only touched diagonal blocks are.
        let partly = same && self.version != 0 && self.outside == matrix.version_outside();
        self.version = 0;
        self.run = None;
        if !same || self.blocks != matrix.columns().len() {
            self.make_room(matrix, free);
        }
        if partly {
            for &node in &matrix.touched()[self.touched..] {
                let place = self.pattern.places[node as usize];
                if place != NONE {
                    let Some(root) = inverse_root(&matrix.diagonal(node as usize)) else { return false };
                    let Corner(rows) = &mut self.scales[place as usize / WIDEST];
                    for (row, value) in rows.iter_mut().zip(root) {
                        row[place as usize % WIDEST] = value as f32;
                    }
                }
            }
        } else {
            self.ratio = None;
            let linked = matrix.links(&self.pattern).is_some();
            let Self { pattern, full, scales, .. } = self;
            let scales = Disjoint::new(scales);
            let [bad] = pattern.sum(|group| {
                // SAFETY: groups are disjoint.
                let scales = unsafe { scales.slice(group.bundles.clone()) };
                let mut bad = 0.0;
                for ((k, scales), nodes) in group.bundles.clone().zip(scales).zip(pattern.bundles(group)) {
                    let mut diagonal = if linked { matrix.bundled()[k] } else { Diagonal::default() };
                    for (lane, node) in nodes.iter().enumerate() {
                        if *node == NONE {
                            for row in [0, 3, 5] {
                                diagonal.0[row][lane] = 1.0;
                            }
                        } else if !linked {
                            let block: &[f64; 9] =
                                matrix.diagonals()[9 * *node as usize..].first_chunk().expect("nine");
                            for (row, k) in diagonal.0.iter_mut().zip([0, 1, 2, 4, 5, 8]) {
                                row[lane] = block[k];
                            }
                        }
                    }
                    bad += f64::from(u8::from(!roots(&diagonal, scales)));
                }
                [bad]
            });
            if bad > 0.0 {
                return false;
            }
            if !linked {
                fill(pattern, full, |group, slots| {
                    each(slots.len(), &mut Copied { pattern, matrix, first: group.slots.start, slots });
                });
            }
        }
        (self.version, self.outside, self.touched) =
            (matrix.version(), matrix.version_outside(), matrix.touched().len());
        true
    }

    /// Room for a matrix with other blocks or other held nodes.
    fn make_room(&mut self, matrix: &BlockMatrix, free: &[bool]) {
        let n = matrix.nodes();
        self.pattern = matrix.pattern(free).cloned().unwrap_or_else(|| matrix.ordered(free));
        self.blocks = matrix.columns().len();
        self.full = Vec::new();
        self.fringe.clear();
        for row in 0..n {
            for p in matrix.row_range(row) {
                let (p, r, c) = (p as u32, row as u32, matrix.columns()[p]);
                match [free[row], free[c as usize]] {
                    [false, true] => self.fringe.push((p, [r, c], false)),
                    // Blocks between chunks are kept on both sides.
                    [true, false] if matrix.position(c, r).is_none() => self.fringe.push((p, [c, r], true)),
                    _ => {}
                }
            }
        }
        let bundles = self.pattern.len();
        self.scales = vec![Corner::default(); bundles];
        let Self { solution, residual, direction, swept, image, found, even, .. } = self;
        for vector in [solution, residual, direction, swept, image, found, even] {
            *vector = vec![Bundle::default(); bundles];
        }
        for list in [&mut self.singles, &mut self.loose] {
            *list = vec![Single::default(); WIDEST * bundles];
        }
        self.product = vec![DVec3::ZERO; n];
        self.everywhere = vec![true; n];
        self.left = vec![DVec3::ZERO; n];
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

    /// Shortens or lengthens a guess, zero on held nodes, to the best along its direction, and sets out from there; what may be
    /// said of it then.
    pub fn guess(&mut self, matrix: &BlockMatrix, free: &[bool], b: &[DVec3], x: &mut [DVec3]) -> Start {
        self.forget();
        if self.take(matrix, free) {
            let chunks = matrix.chunks();
            let [norm2] =
                chunks.sum(|_, range| [range.filter(|&i| free[i]).map(|i| b[i].length_squared()).sum::<f64>()]);
            let size = norm2.sqrt();
            let run = match size > 0.0 {
                true => by_form!(self, matrix, values => self.guess_with(values, size, b, x)),
                false => None,
            };
            if let Some(run) = run {
                self.run = Some(run);
                return Start::Same;
            }
        }
        x.fill(DVec3::ZERO);
        Start::Zero
    }

    fn guess_with<B: Blocks>(&mut self, values: &[B], size: f64, b: &[DVec3], x: &mut [DVec3]) -> Option<Run> {
        let Self { pattern, scales, solution, residual, direction, swept, image, found, singles, .. } = self;
        // The guess, and the right side, over its size.
        {
            let (found, singles) = (Disjoint::new(found), Disjoint::new(singles));
            let (right, x) = (Disjoint::new(residual), &*x);
            pattern.each(|group| {
                let (bundles, places) = (&group.bundles, WIDEST * group.bundles.start..WIDEST * group.bundles.end);
                // SAFETY: groups are disjoint, here and below.
                let (found, singles) = unsafe { (found.slice(bundles.clone()), singles.slice(places)) };
                // SAFETY: as above.
                let right = unsafe { right.slice(bundles.clone()) };
                for (k, nodes) in pattern.bundles(group).iter().enumerate() {
                    take_in(&mut found[k], nodes, x, size);
                    take_in(&mut right[k], nodes, b, size);
                    let ([x, y, z], singles) = (found[k].0, &mut singles[WIDEST * k..WIDEST * (k + 1)]);
                    for (lane, single) in singles.iter_mut().enumerate() {
                        *single = [x[lane], y[lane], z[lane], 0.0];
                    }
                }
            });
        }
        let sweep = Sweep::new(pattern, values, scales);
        let [energy, along, length2] = {
            let (guess, right, product) = (Disjoint::new(solution), Disjoint::new(residual), Disjoint::new(image));
            let (even, loose) = (Disjoint::new(&mut self.even), Disjoint::new(&mut self.loose));
            let all = Before { first: 0, found, singles };
            pattern.sum(|group| {
                let (bundles, places) = (&group.bundles, WIDEST * group.bundles.start..WIDEST * group.bundles.end);
                // SAFETY: as above.
                let (guess, right, product) = unsafe {
                    (guess.slice(bundles.clone()), right.slice(bundles.clone()), product.slice(bundles.clone()))
                };
                // SAFETY: as above.
                let (even, loose) = unsafe { (even.slice(bundles.clone()), loose.slice(places)) };
                let room = Room { even, loose, found: &mut [], singles: &mut [] };
                let mut turn =
                    Weigh { found: &found[bundles.clone()], guess, right, product, sums: Default::default() };
                sweep.multiply(group, all, room, &mut turn);
                turn.sums.map(Dot::total)
            })
        };
        let share = along / energy;
        if !(share > 0.0 && share.is_finite()) {
            return None;
        }
        x.iter_mut().for_each(|v| *v *= share);
        let clear = [solution, direction, swept].map(|vector| Disjoint::new(vector));
        let (r, q) = (Disjoint::new(residual), Disjoint::new(image));
        let mut rooms = Rooms::new(&mut self.even, &mut self.loose, found, singles);
        let [left2, first] = pattern.forward(&mut rooms, |group, before, room| {
            let bundles = &group.bundles;
            for vector in &clear {
                // SAFETY: groups are disjoint, here and below.
                unsafe { vector.slice(bundles.clone()) }.fill(Bundle::default());
            }
            // SAFETY: as above.
            let (r, q) = unsafe { (r.slice(bundles.clone()), q.slice(bundles.clone())) };
            let mut turn = SetOff { r, q, share: share as f32, left2: Dot::default(), rr: Dot::default() };
            sweep.forward(group, before, room, &mut turn);
            [turn.left2.total(), turn.rr.total()]
        });
        self.ratio = (first > 0.0).then(|| (left2 / first).sqrt());
        let length = share * length2.sqrt();
        Some(Run { size, first, rr: first, alpha: 0.0, gamma: 0.0, beta: 0.0, length })
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
        // Whether the product is that of x, and whether it comes from the iteration's own residual.
        let (mut found, mut traced, mut fresh) = (known || start == Start::Zero, false, false);
        let (mut best, mut idle) = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let mut run = match going.take() {
                Some(run) => run,
                None => {
                    let left2 = match self.run.filter(|run| !found && run.trusted()) {
                        Some(run) => {
                            traced = true;
                            self.trace(matrix, &run)
                        }
                        None => {
                            if !found {
                                matrix.product(&self.everywhere, x, &mut self.product);
                            }
                            traced = false;
                            self.measure(matrix, free, b)
                        }
                    };
                    fresh = true;
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
            let most = settings.max_iterations - report.iterations;
            let iterations = timed(Stage::Sweeps, || self.iterate(matrix, &mut run, aim, most));
            report.iterations += iterations;
            if iterations == 0 {
                break;
            }
            (found, fresh) = (false, false);
            self.give(&mut run, x);
            self.run = Some(run);
            if look {
                report.residual = run.size * run.rr.sqrt() * self.ratio.unwrap_or(run.first.sqrt().recip()) / norm;
                report.converged = run.rr <= aim;
                // Should the matrix become another after what is seen, the product is known.
                if run.trusted() {
                    self.trace(matrix, &run);
                    (traced, fresh) = (true, true);
                }
                break;
            }
        }
        if fresh && traced {
            self.settle(matrix, free, b, x);
        }
        self.fresh = fresh;
        report
    }

    /// A x from the right side and what is left of it; on held nodes from blocks.
    fn settle(&mut self, matrix: &BlockMatrix, free: &[bool], b: &[DVec3], x: &[DVec3]) {
        let (product, left) = (Disjoint::new(&mut self.product), &self.left);
        matrix.chunks().each(|_, range| {
            // SAFETY: chunks are disjoint.
            let product = unsafe { product.slice(range.clone()) };
            for (k, i) in range.enumerate() {
                product[k] = if free[i] { b[i] - left[i] } else { DVec3::ZERO };
            }
        });
        for &(p, [held, other], mirrored) in &self.fringe {
            let block = matrix.kept(p as usize);
            self.product[held as usize] += if mirrored { block.transpose() } else { block } * x[other as usize];
        }
    }

    /// Adds what the iteration has found since it was last asked to `x`.
    fn give(&mut self, run: &mut Run, x: &mut [DVec3]) {
        let Self { pattern, solution, swept, scales, .. } = self;
        let (solution, out, size) = (Disjoint::new(solution), Disjoint::new(x), run.size);
        let (scales, swept, alpha) = (&*scales, &*swept, run.alpha);
        let [length2] = pattern.sum(|group| {
            let bundles = &group.bundles;
            // SAFETY: groups are disjoint.
            let x = unsafe { solution.slice(bundles.clone()) };
            let (t, scales, nodes) = (&swept[bundles.clone()], &scales[bundles.clone()], pattern.bundles(group));
            let mut turn = Give { x, t, scales, nodes, alpha, size, out: &out, length2: Dot::default() };
            each(bundles.len(), &mut turn);
            [turn.length2.total()]
        });
        run.alpha = 0.0;
        run.length += length2.sqrt();
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

    /// The same from the iteration's own residual.
    fn trace(&mut self, matrix: &BlockMatrix, run: &Run) -> f64 {
        by_form!(self, matrix, values => self.trace_with(values, run))
    }

    fn trace_with<B: Blocks>(&mut self, values: &[B], run: &Run) -> f64 {
        let Self { pattern, scales, residual, image, left, .. } = self;
        let mut rooms = Rooms::new(&mut self.even, &mut self.loose, &mut self.found, &mut self.singles);
        let (sweep, out) = (Sweep::new(pattern, values, scales), Disjoint::new(left));
        let [left2] = pattern.forward(&mut rooms, |group, before, room| {
            let (r, q) = (&residual[group.bundles.clone()], &image[group.bundles.clone()]);
            let nodes = pattern.bundles(group);
            let mut turn = Trace { r, q, gamma: run.gamma, nodes, size: run.size, out: &out, left2: Dot::default() };
            sweep.forward(group, before, room, &mut turn);
            [turn.left2.total()]
        });
        left2 * run.size * run.size
    }

    /// Sets out from zero, on `left` over `size`.
    fn begin(&mut self, matrix: &BlockMatrix, size: f64) -> Run {
        by_form!(self, matrix, values => self.begin_with(values, size))
    }

    fn begin_with<B: Blocks>(&mut self, values: &[B], size: f64) -> Run {
        let Self { pattern, scales, solution, residual, direction, swept, image, left, .. } = self;
        let clear = [solution, direction, swept, image].map(|vector| Disjoint::new(vector));
        let r = Disjoint::new(residual);
        let mut rooms = Rooms::new(&mut self.even, &mut self.loose, &mut self.found, &mut self.singles);
        let (sweep, left) = (Sweep::new(pattern, values, scales), &*left);
        let [first] = pattern.forward(&mut rooms, |group, before, room| {
            let bundles = &group.bundles;
            for vector in &clear {
                // SAFETY: groups are disjoint, here and below.
                unsafe { vector.slice(bundles.clone()) }.fill(Bundle::default());
            }
            // SAFETY: as above.
            let r = unsafe { r.slice(bundles.clone()) };
            for (r, nodes) in r.iter_mut().zip(pattern.bundles(group)) {
                take_in(r, nodes, left, size);
            }
            let mut turn = SetOut { r, rr: Dot::default() };
            sweep.forward(group, before, room, &mut turn);
            [turn.rr.total()]
        });
        Run { size, first, rr: first, alpha: 0.0, gamma: 0.0, beta: 0.0, length: 0.0 }
    }

    /// Goes on until the square of the iteration's own residual is at most `aim`; returns the iterations.
    fn iterate(&mut self, matrix: &BlockMatrix, run: &mut Run, aim: f64, most: usize) -> usize {
        by_form!(self, matrix, values => self.iterate_with(values, run, aim, most))
    }

    fn iterate_with<B: Blocks>(&mut self, values: &[B], run: &mut Run, aim: f64, most: usize) -> usize {
        let Self { pattern, scales, solution, residual, direction, swept, image, .. } = self;
        let mut rooms = Rooms::new(&mut self.even, &mut self.loose, &mut self.found, &mut self.singles);
        let (pattern, sweep) = (&*pattern, Sweep::new(pattern, values, scales));
        let mut iterations = 0;
        while run.rr > aim && run.rr.is_finite() && iterations < most {
            let (rr, [pq, qq]) = {
                let (x, p, t) = (Disjoint::new(solution), Disjoint::new(direction), Disjoint::new(swept));
                let (r, q) = (Disjoint::new(residual), Disjoint::new(image));
                let Run { alpha, beta, gamma, .. } = *run;
                let back = |group: &Group, before: Option<Before>, room: Room| {
                    let bundles = &group.bundles;
                    // SAFETY: groups are disjoint, here and below.
                    let (x, p, t) =
                        unsafe { (x.slice(bundles.clone()), p.slice(bundles.clone()), t.slice(bundles.clone())) };
                    // SAFETY: as above.
                    let (r, q) = unsafe { (r.slice(bundles.clone()), &*q.slice(bundles.clone())) };
                    let mut turn = Turn { r, q, x, p, t, alpha, beta, gamma, rr: Dot::default() };
                    sweep.backward(group, before, room, &mut turn);
                    turn.rr.total()
                };
                let forth = |group: &Group, before: Option<Before>, room: Room| {
                    let bundles = &group.bundles;
                    // SAFETY: as above.
                    let (t, p) = unsafe { (&*t.slice(bundles.clone()), &*p.slice(bundles.clone())) };
                    // SAFETY: as above.
                    let q = unsafe { q.slice(bundles.clone()) };
                    let mut turn = Return { t, p, q, pq: Dot::default(), qq: Dot::default() };
                    sweep.forward(group, before, room, &mut turn);
                    [turn.pq.total(), turn.qq.total()]
                };
                // The piece that was the last is the first: it is still near.
                pattern.back_and_forth(&mut rooms, iterations % 2 == 1, back, forth)
            };
            (run.rr, run.gamma, run.alpha) = (rr, 0.0, 0.0);
            if pq <= 0.0 || !pq.is_finite() || !rr.is_finite() {
                break;
            }
            iterations += 1;
            run.alpha = (rr / pq) as f32;
            let alpha = f64::from(run.alpha);
            let mut next = rr - 2.0 * alpha * pq + alpha * alpha * qq;
            if next > FORESEEN * rr {
                run.gamma = run.alpha;
            } else {
                let (r, q, alpha) = (Disjoint::new(residual), &*image, run.alpha);
                [next] = pattern.sum(|group| {
                    // SAFETY: as above.
                    let r = unsafe { r.slice(group.bundles.clone()) };
                    let mut turn = Advance { r, q: &q[group.bundles.clone()], alpha, rr: Dot::default() };
                    each(group.bundles.len(), &mut turn);
                    [turn.rr.total()]
                });
            }
            run.beta = (next / rr) as f32;
            run.rr = next;
        }
        iterations
    }
}

impl Run {
    /// Whether its residual tells that of the system.
    fn trusted(&self) -> bool {
        ROUNDING * self.length <= TRUSTED * self.rr.sqrt()
    }
}
