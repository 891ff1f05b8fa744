//! Conjugate gradients in single precision with a symmetric sweep as preconditioner, inside a
//! residual in double precision.
//!
//! With S Sᵀ the inverse of the diagonal blocks, A = S⁻ᵀ (L + I + Lᵀ + R) S⁻¹: L couples rows of one group (see `bundle`), R those of
//! different groups. With C = I/ω + L the iteration runs on C⁻¹ (L + I + Lᵀ + R) C⁻ᵀ, and because L + I + Lᵀ = C + Cᵀ - κ I
//! with κ = 2/ω - 1
//! ```text
//! t = C⁻ᵀ p        q = t + C⁻¹ (p - κ t + R t)                             (Eisenstat 1981)
//! ```
//! a product costs two triangular sweeps, each over half of the blocks: no more than a product
//! without preconditioner. Blocks are read as they are, in half the bytes, links in less than a quarter, and S is applied to
//! what comes together in a row. Groups are swept side by side.
//!
//! What the iteration has found is added up in double precision, and b - A x is taken there: when it is
//! not yet small enough the iteration starts again on it. So the result has the residual asked for,
//! whatever single precision lost; where a round no longer helps, the caller is told.

use super::bundle::{Group, MOST_GROUPS, NONE, Pattern};
use super::sweep::{Backward, Blocks, Bundle, Corner, Dot, Each, Forward, Full, Links, Room, Single, Sweep};
use super::sweep::{each, fused, load, plus, scaled, store};
use super::{BlockMatrix, Refusal, Report, Settings, Start};
use crate::lanes::{Singles, WIDER};
use crate::parallel::{Disjoint, sum};
use crate::stages::{Stage, timed};
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
const RELAXED: f64 = 1.25;
/// κ
const LEFT: f64 = 2.0 / RELAXED - 1.0;

/// The matrix by bundles and vectors, kept between solves.
#[derive(Debug, Default)]
pub struct Scratch {
    pattern: Pattern,
    /// Its blocks, in one of two forms.
    full: Vec<Full>,
    links: Vec<Links>,
    linked: bool,
    /// S of every node, and of every bundle; zero where it is held.
    scale: Vec<DMat3>,
    scales: Vec<Corner>,
    /// What the above were made from.
    blocks: usize,
    version: u64,
    outside: u64,
    diagonal: Vec<f64>,
    free: Vec<bool>,
    /// x since it was last asked for, r, p, t, q of the iteration.
    solution: Vec<Bundle>,
    residual: Vec<Bundle>,
    direction: Vec<Bundle>,
    swept: Vec<Bundle>,
    image: Vec<Bundle>,
    /// S t of a backward sweep, by bundles and by nodes, and what sweeps have given to rows to come: zero between sweeps.
    found: Vec<Bundle>,
    singles: Vec<Single>,
    even: Vec<Bundle>,
    loose: Vec<Single>,
    /// S times what rows became in a forward sweep.
    behind: Vec<Single>,
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
        if !same || self.blocks != matrix.columns().len() {
            self.make_room(matrix, free);
        }
        let (scale, seen) = (Disjoint::new(&mut self.scale), Disjoint::new(&mut self.diagonal));
        let [bad] = matrix.chunks().sum(|_, range| {
            // SAFETY: chunks are disjoint.
            let (scale, seen) = unsafe { (scale.slice(range.clone()), seen.slice(9 * range.start..9 * range.end)) };
            let mut bad = 0.0;
            for (k, i) in range.enumerate() {
                let (seen, block) = (&mut seen[9 * k..9 * k + 9], &matrix.diagonals()[9 * i..9 * i + 9]);
                if seen == block {
                    continue;
                }
                seen.copy_from_slice(block);
                if free[i] {
                    match inverse_root(&matrix.diagonal(i)) {
                        Some(root) => scale[k] = root,
                        None => {
                            seen[0] = f64::NAN;
                            bad += 1.0;
                        }
                    }
                }
            }
            [bad]
        });
        if bad > 0.0 {
            return false;
        }
        let Self { pattern, full, links, linked, scale, scales, .. } = self;
        let scales = Disjoint::new(scales);
        pattern.each(|group| {
            // SAFETY: groups are disjoint.
            let scales = unsafe { scales.slice(group.bundles.clone()) };
            for (scales, nodes) in scales.iter_mut().zip(pattern.bundles(group)) {
                for (lane, node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let DMat3 { x_axis: x, y_axis: y, z_axis: z } = scale[*node as usize];
                    for (to, value) in scales.iter_mut().zip([x.x, y.x, z.x, y.y, z.y, z.z]) {
                        to[lane] = value as f32;
                    }
                }
            }
        });
        if !partly {
            *linked = !matrix.links().is_empty();
            if *linked {
                fill(pattern, links, |group, slots| {
                    each(slots.len(), &mut Linked { pattern, matrix, first: group.slots.start, slots });
                });
            } else {
                fill(pattern, full, |group, slots| {
                    each(slots.len(), &mut Copied { pattern, matrix, first: group.slots.start, slots });
                });
            }
        }
        (self.version, self.outside) = (matrix.version(), matrix.version_outside());
        true
    }

    /// Room for a matrix with other blocks or other held nodes.
    fn make_room(&mut self, matrix: &BlockMatrix, free: &[bool]) {
        let n = matrix.nodes();
        self.pattern = Pattern::new(free, |visit| {
            for row in 0..n {
                for p in matrix.row_range(row).filter(|&p| matrix.columns()[p] as usize > row) {
                    visit([row as u32, matrix.columns()[p]], p as u32);
                }
            }
        });
        self.blocks = matrix.columns().len();
        (self.full, self.links) = (Vec::new(), Vec::new());
        self.scale = vec![DMat3::ZERO; n];
        self.diagonal = vec![f64::NAN; 9 * n];
        let bundles = self.pattern.len();
        self.scales = vec![Corner::default(); bundles];
        let Self { solution, residual, direction, swept, image, found, even, .. } = self;
        for vector in [solution, residual, direction, swept, image, found, even] {
            *vector = vec![Bundle::default(); bundles];
        }
        for list in [&mut self.singles, &mut self.loose, &mut self.behind] {
            *list = vec![Single::default(); WIDER * bundles];
        }
        self.product = vec![DVec3::ZERO; n];
        self.everywhere = vec![true; n];
        self.left = vec![DVec3::ZERO; n];
        self.free.clear();
        self.free.extend_from_slice(free);
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
                    let run = on.unwrap_or_else(|| self.begin(left2.sqrt()));
                    if start == Start::Zero && run.first > 0.0 {
                        // Of a right side as smooth as this one; later ones have peaks that a sweep takes away.
                        self.ratio.get_or_insert(run.first.sqrt().recip());
                    }
                    run
                }
            };
            let aim = target(&run, self.ratio).max(deepest(&run)).min(STEP * run.rr);
            let most = settings.max_iterations - report.iterations;
            let iterations = timed(Stage::Sweeps, || self.iterate(&mut run, aim, most));
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
                break;
            }
        }
        self.fresh = fresh;
        report
    }

    /// Adds what the iteration has found since it was last asked to `x`.
    fn give(&mut self, run: &mut Run, x: &mut [DVec3]) {
        let Self { pattern, solution, swept, scale, .. } = self;
        let (solution, out, size) = (Disjoint::new(solution), Disjoint::new(x), run.size);
        let (scale, swept, alpha) = (&*scale, &*swept, run.alpha);
        pattern.each(|group| {
            // SAFETY: groups are disjoint.
            let solution = unsafe { solution.slice(group.bundles.clone()) };
            let swept = &swept[group.bundles.clone()];
            for ((found, swept), nodes) in solution.iter_mut().zip(swept).zip(pattern.bundles(group)) {
                for (lane, node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let part = |c: usize| f64::from(found[c][lane] + alpha * swept[c][lane]);
                    let node = *node as usize;
                    // SAFETY: a node has one place.
                    let x = unsafe { out.slice(node..node + 1) };
                    x[0] += size * (scale[node] * DVec3::new(part(0), part(1), part(2)));
                }
                *found = Bundle::default();
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
    fn begin(&mut self, size: f64) -> Run {
        let (full, links) = (std::mem::take(&mut self.full), std::mem::take(&mut self.links));
        let run = if self.linked { self.begin_with(&links, size) } else { self.begin_with(&full, size) };
        (self.full, self.links) = (full, links);
        run
    }

    fn begin_with<B: Blocks>(&mut self, values: &[B], size: f64) -> Run {
        let Self { pattern, scale, scales, solution, residual, direction, swept, left, .. } = self;
        let (x, r, p, t) =
            (Disjoint::new(solution), Disjoint::new(residual), Disjoint::new(direction), Disjoint::new(swept));
        let rooms = Rooms::new(&mut self.even, &mut self.loose, &mut self.found, &mut self.behind);
        let (sweep, scale, left) = (Sweep::new(pattern, values, scales), &*scale, &*left);
        let [first] = pattern.sum(|group| {
            let bundles = &group.bundles;
            // SAFETY: groups are disjoint, here and below.
            let clear = unsafe { [x.slice(bundles.clone()), p.slice(bundles.clone()), t.slice(bundles.clone())] };
            clear.into_iter().for_each(|vector| vector.fill(Bundle::default()));
            // SAFETY: as above.
            let r = unsafe { r.slice(bundles.clone()) };
            for (r, nodes) in r.iter_mut().zip(pattern.bundles(group)) {
                for (lane, &node) in nodes.iter().enumerate() {
                    let right = match left.get(node as usize) {
                        Some(left) => scale[node as usize].transpose() * (*left / size),
                        None => DVec3::ZERO,
                    };
                    (r[0][lane], r[1][lane], r[2][lane]) = (right.x as f32, right.y as f32, right.z as f32);
                }
            }
            let mut turn = SetOut { r, rr: Dot::default() };
            // SAFETY: as above.
            sweep.forward(group, None, unsafe { rooms.of(group) }, &mut turn);
            [turn.rr.total()]
        });
        Run { size, first, rr: first, alpha: 0.0, beta: 0.0 }
    }

    /// Goes on until the square of the iteration's own residual is at most `aim`; returns the iterations.
    fn iterate(&mut self, run: &mut Run, aim: f64, most: usize) -> usize {
        let (full, links) = (std::mem::take(&mut self.full), std::mem::take(&mut self.links));
        let iterations = if self.linked {
            self.iterate_with(&links, run, aim, most)
        } else {
            self.iterate_with(&full, run, aim, most)
        };
        (self.full, self.links) = (full, links);
        iterations
    }

    fn iterate_with<B: Blocks>(&mut self, values: &[B], run: &mut Run, aim: f64, most: usize) -> usize {
        let Self { pattern, scales, solution, residual, direction, swept, image, .. } = self;
        let Self { singles, even, loose, found, behind, .. } = self;
        let (pattern, sweep) = (&*pattern, Sweep::new(pattern, values, scales));
        let mut iterations = 0;
        while run.rr > aim && run.rr.is_finite() && iterations < most {
            // x += α t of the step before, p = r + β p, t = C⁻ᵀ p
            {
                let (x, p, t) = (Disjoint::new(solution), Disjoint::new(direction), Disjoint::new(swept));
                let rooms = Rooms::new(even, loose, found, singles);
                let (r, alpha, beta) = (&*residual, run.alpha, run.beta);
                pattern.each(|group| {
                    let bundles = &group.bundles;
                    // SAFETY: groups are disjoint, here and below.
                    let (x, p, t) =
                        unsafe { (x.slice(bundles.clone()), p.slice(bundles.clone()), t.slice(bundles.clone())) };
                    let mut turn = Turn { r: &r[bundles.clone()], x, p, t, alpha, beta };
                    // SAFETY: as above.
                    sweep.backward(group, unsafe { rooms.of(group) }, &mut turn);
                });
            }
            // q = t + C⁻¹ (p - κ t + R t)
            let [pq] = {
                let q = Disjoint::new(image);
                let rooms = Rooms::new(even, loose, found, behind);
                let (t, p, singles) = (&*swept, &*direction, &singles[..]);
                pattern.sum(|group| {
                    let (t, p) = (&t[group.bundles.clone()], &p[group.bundles.clone()]);
                    // SAFETY: as above.
                    let q = unsafe { q.slice(group.bundles.clone()) };
                    let mut turn = Return { t, p, q, pq: Dot::default() };
                    // SAFETY: as above.
                    sweep.forward(group, Some(singles), unsafe { rooms.of(group) }, &mut turn);
                    [turn.pq.total()]
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
                let (r, q, alpha) = (Disjoint::new(residual), &*image, run.alpha);
                pattern.sum(|group| {
                    // SAFETY: as above.
                    let r = unsafe { r.slice(group.bundles.clone()) };
                    let mut turn = Advance { r, q: &q[group.bundles.clone()], alpha, rr: Dot::default() };
                    each(group.bundles.len(), &mut turn);
                    [turn.rr.total()]
                })
            };
            run.beta = (next / run.rr) as f32;
            run.rr = next;
        }
        iterations
    }
}

impl Pattern {
    /// Does something to every group, side by side.
    fn each(&self, work: impl Fn(&Group) + Sync) {
        self.sum(|group| {
            work(group);
            []
        });
    }

    /// The same, and adds up what it returns, in the order of groups.
    fn sum<const N: usize>(&self, work: impl Fn(&Group) -> [f64; N] + Sync) -> [f64; N] {
        sum::<N, MOST_GROUPS>(self.groups.len(), |g| work(&self.groups[g]))
    }

    /// Nodes of every bundle of a group.
    fn bundles(&self, group: &Group) -> &[[u32; WIDER]] {
        &self.nodes.as_chunks().0[group.bundles.clone()]
    }
}

/// Rooms of all groups.
struct Rooms<'a> {
    even: Disjoint<'a, Bundle>,
    loose: Disjoint<'a, Single>,
    found: Disjoint<'a, Bundle>,
    singles: Disjoint<'a, Single>,
}

impl<'a> Rooms<'a> {
    fn new(
        even: &'a mut [Bundle],
        loose: &'a mut [Single],
        found: &'a mut [Bundle],
        singles: &'a mut [Single],
    ) -> Self {
        let (even, found) = (Disjoint::new(even), Disjoint::new(found));
        Self { even, loose: Disjoint::new(loose), found, singles: Disjoint::new(singles) }
    }

    /// That of one.
    ///
    /// # Safety
    /// No room may be in use twice at the same time.
    unsafe fn of(&self, group: &Group) -> Room<'_> {
        let (bundles, places) = (&group.bundles, WIDER * group.bundles.start..WIDER * group.bundles.end);
        // SAFETY: by the caller.
        unsafe {
            Room {
                even: self.even.slice(bundles.clone()),
                loose: self.loose.slice(places.clone()),
                found: self.found.slice(bundles.clone()),
                singles: self.singles.slice(places),
            }
        }
    }
}

/// Fills the slots of all groups, side by side.
fn fill<B: Blocks>(pattern: &Pattern, slots: &mut Vec<B>, by: impl Fn(&Group, &mut [B]) + Sync) {
    slots.resize(pattern.sources.len(), B::ZERO);
    let slots = Disjoint::new(slots);
    // SAFETY: groups are disjoint, and so are their slots.
    pattern.each(|group| by(group, unsafe { slots.slice(group.slots.clone()) }));
}

/// Slots of any blocks.
struct Copied<'a> {
    pattern: &'a Pattern,
    matrix: &'a BlockMatrix,
    first: usize,
    slots: &'a mut [Full],
}

impl Each for Copied<'_> {
    #[inline(always)]
    fn visit<S: Singles>(&mut self, slot: usize) {
        let out = &mut self.slots[slot];
        for (lane, &source) in self.pattern.sources[self.first + slot].iter().enumerate() {
            if source != NONE {
                let entries = self.matrix.single(source as usize / 2);
                for e in 0..9 {
                    out[e][lane] = -entries[if source % 2 == 1 { 3 * (e % 3) + e / 3 } else { e }];
                }
            }
        }
    }
}

/// Slots of links.
struct Linked<'a> {
    pattern: &'a Pattern,
    matrix: &'a BlockMatrix,
    first: usize,
    slots: &'a mut [Links],
}

impl Each for Linked<'_> {
    #[inline(always)]
    fn visit<S: Singles>(&mut self, slot: usize) {
        let (sources, links) = (&self.pattern.sources[self.first + slot], self.matrix.links());
        let out = &mut self.slots[slot];
        if sources.contains(&NONE) {
            for (lane, &source) in sources.iter().enumerate().filter(|(_, s)| **s != NONE) {
                let link = links[source as usize / 2];
                for e in 0..4 {
                    out[e][lane] = link[e];
                }
            }
            return;
        }
        let mut at = [0; WIDER];
        for lane in 0..WIDER {
            at[lane] = sources[lane] / 2;
            assert!((at[lane] as usize) < links.len());
        }
        // SAFETY: there are such links.
        let fours = unsafe { S::fours(links, &at) };
        for e in 0..4 {
            fours[e].store(&mut out[e]);
        }
    }
}

/// r = C⁻¹ r
struct SetOut<'a> {
    r: &'a mut [Bundle],
    rr: Dot,
}

impl Forward for SetOut<'_> {
    #[inline(always)]
    fn value<S: Singles>(&mut self, k: usize, sum: [S; 3]) -> [S; 3] {
        let own = scaled(plus(load(&self.r[k]), sum), S::splat(RELAXED));
        store(own, &mut self.r[k]);
        self.rr.add(own, own);
        own
    }
}

/// x += α t of the step before, p = r + β p, t = C⁻ᵀ p
struct Turn<'a> {
    r: &'a [Bundle],
    x: &'a mut [Bundle],
    p: &'a mut [Bundle],
    t: &'a mut [Bundle],
    alpha: f32,
    beta: f32,
}

impl Backward for Turn<'_> {
    #[inline(always)]
    fn value<S: Singles>(&mut self, k: usize, sum: [S; 3]) -> [S; 3] {
        store(fused(S::single(self.alpha), load(&self.t[k]), load(&self.x[k])), &mut self.x[k]);
        let p = fused(S::single(self.beta), load(&self.p[k]), load(&self.r[k]));
        store(p, &mut self.p[k]);
        let t = scaled(plus(p, sum), S::splat(RELAXED));
        store(t, &mut self.t[k]);
        t
    }
}

/// q = t + C⁻¹ (p - κ t + R t)
struct Return<'a> {
    t: &'a [Bundle],
    p: &'a [Bundle],
    q: &'a mut [Bundle],
    pq: Dot,
}

impl Forward for Return<'_> {
    #[inline(always)]
    fn value<S: Singles>(&mut self, k: usize, sum: [S; 3]) -> [S; 3] {
        let (t, p) = (load(&self.t[k]), load(&self.p[k]));
        let right = fused(S::splat(-LEFT), t, p);
        let own = scaled(plus(right, sum), S::splat(RELAXED));
        let q = plus(own, t);
        store(q, &mut self.q[k]);
        self.pq.add(q, p);
        own
    }
}

/// r -= α q
struct Advance<'a> {
    r: &'a mut [Bundle],
    q: &'a [Bundle],
    alpha: f32,
    rr: Dot,
}

impl Each for Advance<'_> {
    #[inline(always)]
    fn visit<S: Singles>(&mut self, k: usize) {
        let r = fused(S::single(-self.alpha), load(&self.q[k]), load(&self.r[k]));
        store(r, &mut self.r[k]);
        self.rr.add(r, r);
    }
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
