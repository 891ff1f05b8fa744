//! Triangular sweeps over bundles of rows in single precision, see `bundle` and `single`.

use super::bundle::{Ends, Group, Pattern, Row};
use crate::lanes::{Singles, WIDER};
use std::ops::Range;

/// Three components of eight nodes.
pub(super) type Bundle = [[f32; WIDER]; 3];
/// The vector of one node, and a zero.
pub(super) type Single = [f32; 4];
/// What is above the diagonal and on it, row by row, of eight triangular blocks.
pub(super) type Corner = [[f32; WIDER]; 6];

/// Eight blocks of a matrix side by side, each taken negative: what nodes give to each other.
pub(super) trait Blocks: Copy + Send + Sync {
    /// Nothing.
    const ZERO: Self;
    /// y - B x
    fn add<S: Singles>(&self, x: [S; 3], y: [S; 3]) -> [S; 3];
    /// y - Bᵀ x
    fn add_mirrored<S: Singles>(&self, x: [S; 3], y: [S; 3]) -> [S; 3];
}

/// Any blocks: nine entries of eight.
pub(super) type Full = [[f32; WIDER]; 9];
/// Eight links: a and e of -(a I + e eᵀ).
pub(super) type Links = [[f32; WIDER]; 4];

impl Blocks for Links {
    const ZERO: Self = [[0.0; WIDER]; 4];

    #[inline(always)]
    fn add<S: Singles>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        let [a, e, f, g] = self;
        let (a, e, f, g) = (S::load(a), S::load(e), S::load(f), S::load(g));
        let along = g.fused(x[2], f.fused(x[1], e.times(x[0])));
        [e.fused(along, a.fused(x[0], y[0])), f.fused(along, a.fused(x[1], y[1])), g.fused(along, a.fused(x[2], y[2]))]
    }

    #[inline(always)]
    fn add_mirrored<S: Singles>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        self.add(x, y)
    }
}

impl Blocks for Full {
    const ZERO: Self = [[0.0; WIDER]; 9];

    #[inline(always)]
    fn add<S: Singles>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        let [a, b, c, d, e, f, g, h, i] = self;
        [three([a, b, c], x, y[0]), three([d, e, f], x, y[1]), three([g, h, i], x, y[2])]
    }

    #[inline(always)]
    fn add_mirrored<S: Singles>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        let [a, b, c, d, e, f, g, h, i] = self;
        [three([a, d, g], x, y[0]), three([b, e, h], x, y[1]), three([c, f, i], x, y[2])]
    }
}

/// y + Σ a_k x_k; closures stay clear of lanes: they would not be compiled for AVX2.
#[inline(always)]
fn three<S: Singles>([a, b, c]: [&[f32; WIDER]; 3], x: [S; 3], y: S) -> S {
    S::load(c).fused(x[2], S::load(b).fused(x[1], S::load(a).fused(x[0], y)))
}

/// Σ a·b, in double precision every few bundles.
#[derive(Default)]
pub(super) struct Dot {
    part: [f32; WIDER],
    terms: u32,
    total: f64,
}

impl Dot {
    const FEW: u32 = 16;

    #[inline(always)]
    pub(super) fn add<S: Singles>(&mut self, a: [S; 3], b: [S; 3]) {
        let part = a[0].fused(b[0], S::load(&self.part));
        a[2].fused(b[2], a[1].fused(b[1], part)).store(&mut self.part);
        self.terms += 1;
        if self.terms == Self::FEW {
            self.close();
        }
    }

    #[inline(always)]
    fn close(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.part.map(f64::from);
        self.total += ((a + b) + (c + d)) + ((e + f) + (g + h));
        (self.part, self.terms) = ([0.0; WIDER], 0);
    }

    pub(super) fn total(mut self) -> f64 {
        self.close();
        self.total
    }
}

/// What a bundle of a group becomes in a forward sweep, given what bundles before give to it.
pub(super) trait Forward {
    fn value<S: Singles>(&mut self, bundle: usize, sum: [S; 3]) -> [S; 3];
}

/// The same in a backward sweep.
pub(super) trait Backward {
    fn value<S: Singles>(&mut self, bundle: usize, sum: [S; 3]) -> [S; 3];
}

/// What is done to the bundles of a group one by one.
pub(super) trait Each {
    fn visit<S: Singles>(&mut self, bundle: usize);
}

#[inline(always)]
pub(super) fn load<S: Singles>(from: &Bundle) -> [S; 3] {
    [S::load(&from[0]), S::load(&from[1]), S::load(&from[2])]
}

#[inline(always)]
pub(super) fn store<S: Singles>(vector: [S; 3], to: &mut Bundle) {
    for c in 0..3 {
        vector[c].store(&mut to[c]);
    }
}

#[inline(always)]
pub(super) fn plus<S: Singles>(a: [S; 3], b: [S; 3]) -> [S; 3] {
    [a[0].plus(b[0]), a[1].plus(b[1]), a[2].plus(b[2])]
}

#[inline(always)]
pub(super) fn minus<S: Singles>(a: [S; 3], b: [S; 3]) -> [S; 3] {
    [a[0].minus(b[0]), a[1].minus(b[1]), a[2].minus(b[2])]
}

/// a x + y
#[inline(always)]
pub(super) fn fused<S: Singles>(a: S, x: [S; 3], y: [S; 3]) -> [S; 3] {
    [a.fused(x[0], y[0]), a.fused(x[1], y[1]), a.fused(x[2], y[2])]
}

#[inline(always)]
pub(super) fn scaled<S: Singles>(a: [S; 3], by: S) -> [S; 3] {
    [a[0].times(by), a[1].times(by), a[2].times(by)]
}

/// S x
#[inline(always)]
fn widened<S: Singles>([a, b, c, d, e, f]: &Corner, [x, y, z]: [S; 3]) -> [S; 3] {
    [
        S::load(a).fused(x, S::load(b).fused(y, S::load(c).times(z))),
        S::load(d).fused(y, S::load(e).times(z)),
        S::load(f).times(z),
    ]
}

/// Sᵀ x
#[inline(always)]
fn narrowed<S: Singles>([a, b, c, d, e, f]: &Corner, [x, y, z]: [S; 3]) -> [S; 3] {
    [
        S::load(a).times(x),
        S::load(b).fused(x, S::load(d).times(y)),
        S::load(c).fused(x, S::load(e).fused(y, S::load(f).times(z))),
    ]
}

/// Room for sweeps over a group. Sums are zero between sweeps.
pub(super) struct Room<'a> {
    /// What even slots have given to bundles to come, in a forward sweep.
    pub even: &'a mut [Bundle],
    /// The same of loose ones, in both.
    pub loose: &'a mut [Single],
    /// What bundles have become: where even slots look for it in a backward sweep, and where loose ones do.
    pub found: &'a mut [Bundle],
    pub singles: &'a mut [Single],
}

/// Sweeps over the bundles of a group.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a, B> {
    pattern: &'a Pattern,
    values: &'a [B],
    /// S of every bundle.
    scales: &'a [Corner],
}

/// Does something to so many bundles, one by one.
pub(super) fn each(count: usize, turn: &mut impl Each) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both.
        return unsafe { each_avx2(count, turn) };
    }
    each_by::<[f32; WIDER]>(count, turn);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn each_avx2(count: usize, turn: &mut impl Each) {
    each_by::<crate::lanes::avx2::Eight>(count, turn);
}

#[inline(always)]
fn each_by<S: Singles>(count: usize, turn: &mut impl Each) {
    for k in 0..count {
        turn.visit::<S>(k);
    }
}

impl<'a, B: Blocks> Sweep<'a, B> {
    /// Slots and the values that belong to them.
    pub(super) fn new(pattern: &'a Pattern, values: &'a [B], scales: &'a [Corner]) -> Self {
        assert!(values.len() == pattern.sources.len() && scales.len() == pattern.len());
        Self { pattern, values, scales }
    }

    /// C⁻¹ of a group, bundle by bundle: each is asked for its value, and then given to those that follow. Before that
    /// comes what lies across, times the vectors of all groups, if there are any.
    pub(super) fn forward(&self, group: &Group, others: Option<&[Single]>, room: Room, turn: &mut impl Forward) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has both.
            return unsafe { self.forward_avx2(group, others, room, turn) };
        }
        self.forward_by::<[f32; WIDER]>(group, others, room, turn);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn forward_avx2(&self, group: &Group, others: Option<&[Single]>, room: Room, turn: &mut impl Forward) {
        self.forward_by::<crate::lanes::avx2::Eight>(group, others, room, turn);
    }

    /// C⁻ᵀ of a group: the last bundle first.
    pub(super) fn backward(&self, group: &Group, room: Room, turn: &mut impl Backward) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has both.
            return unsafe { self.backward_avx2(group, room, turn) };
        }
        self.backward_by::<[f32; WIDER]>(group, room, turn);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn backward_avx2(&self, group: &Group, room: Room, turn: &mut impl Backward) {
        self.backward_by::<crate::lanes::avx2::Eight>(group, room, turn);
    }

    #[inline(always)]
    fn forward_by<S: Singles>(&self, group: &Group, others: Option<&[Single]>, room: Room, turn: &mut impl Forward) {
        let Room { even, loose, singles, .. } = room;
        check(&group.bundles, even, [loose, singles]);
        let (first, places, zero) = (group.bundles.start, WIDER * group.bundles.start, [S::splat(0.0); 3]);
        if let Some(others) = others {
            assert!(others.len() == self.pattern.nodes.len());
            for (s, end) in group.across.clone().enumerate() {
                // SAFETY: slots and ends of a group are there, rows are in it, and columns are places.
                unsafe {
                    let [rows, columns] = self.pattern.ends.get_unchecked(end);
                    let product =
                        self.values.get_unchecked(group.slots.start + s).add(S::vectors(others, columns, 0), zero);
                    S::add(minus(zero, product), rows, places, loose);
                }
            }
        }
        for k in group.bundles.clone() {
            let (here, row, scale) = (k - first, &self.pattern.rows[k], &self.scales[k]);
            for s in 0..usize::from(row.loose) {
                // SAFETY: slots of a row are there, and lead to places of the group.
                unsafe {
                    let [rows, columns] = self.ends(row, s);
                    let given = self.slot(row, s).add_mirrored(S::vectors(singles, rows, places), zero);
                    S::add(given, columns, places, loose);
                }
            }
            let mut sum = load(&even[here]);
            store(zero, &mut even[here]);
            if row.ends {
                sum = plus(sum, given::<S>(loose, here));
            }
            let own = widened(scale, turn.value::<S>(here, narrowed(scale, sum)));
            if row.begins {
                S::separate(own, &mut singles.as_chunks_mut().0[here]);
            }
            for s in 0..usize::from(row.even) {
                // SAFETY: as above, to bundles of the group.
                let (slot, to) = unsafe {
                    let to = even.get_unchecked_mut(self.target(row, s).wrapping_sub(first));
                    (self.slot(row, usize::from(row.loose) + s), to)
                };
                store(slot.add_mirrored::<S>(own, load(to)), to);
            }
        }
    }

    #[inline(always)]
    fn backward_by<S: Singles>(&self, group: &Group, room: Room, turn: &mut impl Backward) {
        let Room { loose, found, singles, .. } = room;
        check(&group.bundles, found, [loose, singles]);
        let (first, places, zero) = (group.bundles.start, WIDER * group.bundles.start, [S::splat(0.0); 3]);
        for k in group.bundles.clone().rev() {
            let (here, row, scale) = (k - first, &self.pattern.rows[k], &self.scales[k]);
            let mut sum = zero;
            if row.begins {
                sum = given::<S>(loose, here);
            }
            for s in (0..usize::from(row.even)).rev() {
                // SAFETY: slots of a row are there, and lead to bundles of the group.
                let (slot, from) = unsafe {
                    let from = found.get_unchecked(self.target(row, s).wrapping_sub(first));
                    (self.slot(row, usize::from(row.loose) + s), from)
                };
                sum = slot.add::<S>(load(from), sum);
            }
            let own = widened(scale, turn.value::<S>(here, narrowed(scale, sum)));
            store(own, &mut found[here]);
            if row.ends {
                S::separate(own, &mut singles.as_chunks_mut().0[here]);
            }
            for s in (0..usize::from(row.loose)).rev() {
                // SAFETY: as above, to places of the group.
                unsafe {
                    let [rows, columns] = self.ends(row, s);
                    let given = self.slot(row, s).add(S::vectors(singles, columns, places), zero);
                    S::add(given, rows, places, loose);
                }
            }
        }
    }

    /// # Safety
    /// The row must have such a slot.
    #[inline(always)]
    unsafe fn slot(&self, row: &Row, s: usize) -> &'a B {
        // SAFETY: values are as many as slots, by `new`.
        unsafe { self.values.get_unchecked(row.slot as usize + s) }
    }

    /// # Safety
    /// The row must have such an even slot.
    #[inline(always)]
    unsafe fn target(&self, row: &Row, s: usize) -> usize {
        // SAFETY: by the caller.
        unsafe { *self.pattern.targets.get_unchecked(row.target as usize + s) as usize }
    }

    /// # Safety
    /// The row must have such a loose slot.
    #[inline(always)]
    unsafe fn ends(&self, row: &Row, s: usize) -> &'a Ends {
        // SAFETY: by the caller.
        unsafe { self.pattern.ends.get_unchecked(row.end as usize + s) }
    }
}

/// What loose slots have given to a bundle, which is zero then.
#[inline(always)]
fn given<S: Singles>(loose: &mut [Single], bundle: usize) -> [S; 3] {
    let own = &mut loose.as_chunks_mut::<WIDER>().0[bundle];
    // SAFETY: eight of them.
    let sum = unsafe { S::vectors(own, &[0, 1, 2, 3, 4, 5, 6, 7], 0) };
    S::separate([S::splat(0.0); 3], own);
    sum
}

/// What unchecked places of a group rely on.
fn check(bundles: &Range<usize>, wide: &[Bundle], narrow: [&[Single]; 2]) {
    assert!(wide.len() == bundles.len() && narrow.iter().all(|list| list.len() == WIDER * bundles.len()));
}
