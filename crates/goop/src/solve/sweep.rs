//! Triangular sweeps over bundles of rows in single precision, see `bundle` and `single`.

use super::bundle::{Ends, Group, Pattern, Row, Target};
use crate::lanes::Kind;
use crate::lanes::sixteen::{Sixteen, WIDEST};
use std::ops::Range;

/// Numbers of sixteen nodes; whole lines of memory.
type Row16 = [f32; WIDEST];

/// Three components of sixteen nodes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Bundle(pub [Row16; 3]);
/// The vector of one node, and a zero.
pub(super) type Single = [f32; 4];

/// What is above the diagonal and on it, row by row, of sixteen triangular blocks.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Corner(pub [Row16; 6]);

impl Default for Corner {
    /// Ones on the diagonal, so that places without a node may be divided by them.
    fn default() -> Self {
        let (one, zero) = ([1.0; WIDEST], [0.0; WIDEST]);
        Self([one, zero, zero, one, zero, one])
    }
}

/// Sixteen blocks of a matrix side by side, each taken negative: what nodes give to each other.
pub(super) trait Blocks: Copy + Send + Sync {
    /// Nothing.
    const ZERO: Self;
    /// y - B x
    fn add<S: Sixteen>(&self, x: [S; 3], y: [S; 3]) -> [S; 3];
    /// y - Bᵀ x
    fn add_mirrored<S: Sixteen>(&self, x: [S; 3], y: [S; 3]) -> [S; 3];
}

/// Any blocks: nine entries.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Full(pub [Row16; 9]);
/// Links: a and e of -(a I + e eᵀ).
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Links(pub [Row16; 4]);

impl Blocks for Links {
    const ZERO: Self = Self([[0.0; WIDEST]; 4]);

    #[inline(always)]
    fn add<S: Sixteen>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        let [a, e, f, g] = &self.0;
        let (a, e, f, g) = (S::load(a), S::load(e), S::load(f), S::load(g));
        let along = g.fused(x[2], f.fused(x[1], e.times(x[0])));
        [e.fused(along, a.fused(x[0], y[0])), f.fused(along, a.fused(x[1], y[1])), g.fused(along, a.fused(x[2], y[2]))]
    }

    #[inline(always)]
    fn add_mirrored<S: Sixteen>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        self.add(x, y)
    }
}

impl Blocks for Full {
    const ZERO: Self = Self([[0.0; WIDEST]; 9]);

    #[inline(always)]
    fn add<S: Sixteen>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        let [a, b, c, d, e, f, g, h, i] = &self.0;
        [three([a, b, c], x, y[0]), three([d, e, f], x, y[1]), three([g, h, i], x, y[2])]
    }

    #[inline(always)]
    fn add_mirrored<S: Sixteen>(&self, x: [S; 3], y: [S; 3]) -> [S; 3] {
        let [a, b, c, d, e, f, g, h, i] = &self.0;
        [three([a, d, g], x, y[0]), three([b, e, h], x, y[1]), three([c, f, i], x, y[2])]
    }
}

/// y + Σ a_k x_k; closures stay clear of lanes: they would not be compiled for AVX2.
#[inline(always)]
fn three<S: Sixteen>([a, b, c]: [&Row16; 3], x: [S; 3], y: S) -> S {
    S::load(c).fused(x[2], S::load(b).fused(x[1], S::load(a).fused(x[0], y)))
}

/// Σ a·b, in double precision every few bundles.
#[derive(Default)]
pub(super) struct Dot {
    part: [f32; WIDEST],
    terms: u32,
    total: f64,
}

impl Dot {
    const FEW: u32 = 16;

    #[inline(always)]
    pub(super) fn add<S: Sixteen>(&mut self, a: [S; 3], b: [S; 3]) {
        let part = a[0].fused(b[0], S::load(&self.part));
        a[2].fused(b[2], a[1].fused(b[1], part)).store(&mut self.part);
        self.terms += 1;
        if self.terms == Self::FEW {
            self.close();
        }
    }

    #[inline(always)]
    fn close(&mut self) {
        let mut sums = self.part.map(f64::from);
        let mut count = WIDEST / 2;
        while count > 0 {
            for k in 0..count {
                sums[k] += sums[k + count];
            }
            count /= 2;
        }
        self.total += sums[0];
        (self.part, self.terms) = ([0.0; WIDEST], 0);
    }

    pub(super) fn total(mut self) -> f64 {
        self.close();
        self.total
    }
}

/// What a bundle of a group becomes in a forward sweep, given what bundles before give to it.
pub(super) trait Forward {
    fn value<S: Sixteen>(&mut self, bundle: usize, scale: &Corner, sum: [S; 3]) -> [S; 3];

    /// Asks for what it will need of a bundle that has its turn soon.
    fn ask(&self, _bundle: usize) {}
}

/// The same in a backward sweep.
pub(super) trait Backward {
    fn value<S: Sixteen>(&mut self, bundle: usize, sum: [S; 3]) -> [S; 3];

    /// Asks for what it will need of a bundle that has its turn soon.
    fn ask(&self, _bundle: usize) {}
}

/// What is done with a bundle's share of a product, -Σ B x without the diagonal, in its scale.
pub(super) trait Multiply {
    fn value<S: Sixteen>(&mut self, bundle: usize, scale: &Corner, sum: [S; 3]);
}

/// What is done to the bundles of a group one by one.
pub(super) trait Each {
    fn visit<S: Sixteen>(&mut self, bundle: usize);
}

#[inline(always)]
pub(super) fn load<S: Sixteen>(from: &Bundle) -> [S; 3] {
    [S::load(&from.0[0]), S::load(&from.0[1]), S::load(&from.0[2])]
}

#[inline(always)]
pub(super) fn store<S: Sixteen>(vector: [S; 3], to: &mut Bundle) {
    for c in 0..3 {
        vector[c].store(&mut to.0[c]);
    }
}

#[inline(always)]
pub(super) fn plus<S: Sixteen>(a: [S; 3], b: [S; 3]) -> [S; 3] {
    [a[0].plus(b[0]), a[1].plus(b[1]), a[2].plus(b[2])]
}

#[inline(always)]
pub(super) fn minus<S: Sixteen>(a: [S; 3], b: [S; 3]) -> [S; 3] {
    [a[0].minus(b[0]), a[1].minus(b[1]), a[2].minus(b[2])]
}

/// a x + y
#[inline(always)]
pub(super) fn fused<S: Sixteen>(a: S, x: [S; 3], y: [S; 3]) -> [S; 3] {
    [a.fused(x[0], y[0]), a.fused(x[1], y[1]), a.fused(x[2], y[2])]
}

#[inline(always)]
pub(super) fn scaled<S: Sixteen>(a: [S; 3], by: S) -> [S; 3] {
    [a[0].times(by), a[1].times(by), a[2].times(by)]
}

/// So many places on.
#[inline(always)]
fn turned<S: Sixteen>(a: [S; 3], by: usize) -> [S; 3] {
    [a[0].turned(by), a[1].turned(by), a[2].turned(by)]
}

/// S x
#[inline(always)]
pub(super) fn widened<S: Sixteen>(Corner([a, b, c, d, e, f]): &Corner, [x, y, z]: [S; 3]) -> [S; 3] {
    [
        S::load(a).fused(x, S::load(b).fused(y, S::load(c).times(z))),
        S::load(d).fused(y, S::load(e).times(z)),
        S::load(f).times(z),
    ]
}

/// Sᵀ x
#[inline(always)]
pub(super) fn narrowed<S: Sixteen>(Corner([a, b, c, d, e, f]): &Corner, [x, y, z]: [S; 3]) -> [S; 3] {
    [
        S::load(a).times(x),
        S::load(b).fused(x, S::load(d).times(y)),
        S::load(c).fused(x, S::load(e).fused(y, S::load(f).times(z))),
    ]
}

/// S⁻¹ x
#[inline(always)]
pub(super) fn shrunk<S: Sixteen>(Corner([a, b, c, d, e, f]): &Corner, [x, y, z]: [S; 3]) -> [S; 3] {
    let (b, c, e) = (S::load(b), S::load(c), S::load(e));
    let z = z.over(S::load(f));
    let y = y.minus(e.times(z)).over(S::load(d));
    let x = x.minus(b.times(y)).minus(c.times(z)).over(S::load(a));
    [x, y, z]
}

/// S⁻ᵀ y
#[inline(always)]
pub(super) fn restored<S: Sixteen>(Corner([a, b, c, d, e, f]): &Corner, [x, y, z]: [S; 3]) -> [S; 3] {
    let (b, c, e) = (S::load(b), S::load(c), S::load(e));
    let x = x.over(S::load(a));
    let y = y.minus(b.times(x)).over(S::load(d));
    let z = z.minus(c.times(x)).minus(e.times(y)).over(S::load(f));
    [x, y, z]
}

/// Room for sweeps over a group. Sums are zero between sweeps. What a piece keeps for even slots goes round in the first places, as
/// far as those lead, and so stays in the nearest caches.
pub(super) struct Room<'a> {
    /// What even slots have given to bundles to come, in a forward sweep.
    pub even: &'a mut [Bundle],
    /// The same of loose slots, in both.
    pub loose: &'a mut [Single],
    /// What bundles have become, as even slots see it, and as loose ones do.
    pub found: &'a mut [Bundle],
    pub singles: &'a mut [Single],
}

impl Room<'_> {
    /// The same room for the first of two sweeps.
    pub(super) fn again(&mut self) -> Room<'_> {
        let Room { even, loose, found, singles } = self;
        Room { even, loose, found, singles }
    }
}

/// What the bundles of groups swept before became: as even slots see it, and loose ones.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    /// Of the first of them.
    pub first: usize,
    pub found: &'a [Bundle],
    pub singles: &'a [Single],
}

/// Sweeps over the bundles of a group.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a, B> {
    pattern: &'a Pattern,
    values: &'a [B],
    /// S of every bundle.
    scales: &'a [Corner],
    /// It is all further away than the nearest caches.
    far: bool,
}

/// Does something to so many bundles, one by one.
pub(super) fn each(count: usize, turn: &mut impl Each) {
    match Kind::found() {
        Kind::Plain => each_by::<[f32; WIDEST]>(count, turn),
        // SAFETY: the processor has what they are compiled for.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { each_avx2(count, turn) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => unsafe { each_avx512(count, turn) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn each_avx2(count: usize, turn: &mut impl Each) {
    each_by::<crate::lanes::sixteen::avx2::Pair>(count, turn);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
fn each_avx512(count: usize, turn: &mut impl Each) {
    each_by::<crate::lanes::sixteen::avx512::Whole>(count, turn);
}

#[inline(always)]
fn each_by<S: Sixteen>(count: usize, turn: &mut impl Each) {
    for k in 0..count {
        turn.visit::<S>(k);
    }
}

impl<'a, B: Blocks> Sweep<'a, B> {
    /// Slots and the values that belong to them.
    pub(super) fn new(pattern: &'a Pattern, values: &'a [B], scales: &'a [Corner]) -> Self {
        assert!(values.len() == pattern.sources.len() && scales.len() == pattern.len());
        Self { pattern, values, scales, far: pattern.len() > FAR }
    }

    /// C⁻¹ of a group, bundle by bundle: each is asked for its value, and then given to those that follow. What groups swept
    /// before became comes in across.
    pub(super) fn forward(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Forward) {
        match Kind::found() {
            Kind::Plain => self.forward_by::<[f32; WIDEST]>(group, before, room, turn),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.forward_avx2(group, before, room, turn) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.forward_avx512(group, before, room, turn) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn forward_avx2(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Forward) {
        self.forward_by::<crate::lanes::sixteen::avx2::Pair>(group, before, room, turn);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn forward_avx512(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Forward) {
        self.forward_by::<crate::lanes::sixteen::avx512::Whole>(group, before, room, turn);
    }

    /// C⁻ᵀ of a group: the last bundle first.
    pub(super) fn backward(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Backward) {
        match Kind::found() {
            Kind::Plain => self.backward_by::<[f32; WIDEST]>(group, before, room, turn),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.backward_avx2(group, before, room, turn) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.backward_avx512(group, before, room, turn) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn backward_avx2(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Backward) {
        self.backward_by::<crate::lanes::sixteen::avx2::Pair>(group, before, room, turn);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn backward_avx512(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Backward) {
        self.backward_by::<crate::lanes::sixteen::avx512::Whole>(group, before, room, turn);
    }

    /// A product with what is off the diagonal: `all` are the vectors of all groups, times S.
    pub(super) fn multiply(&self, group: &Group, all: Before, room: Room, turn: &mut impl Multiply) {
        match Kind::found() {
            Kind::Plain => self.multiply_by::<[f32; WIDEST]>(group, all, room, turn),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.multiply_avx2(group, all, room, turn) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.multiply_avx512(group, all, room, turn) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn multiply_avx2(&self, group: &Group, all: Before, room: Room, turn: &mut impl Multiply) {
        self.multiply_by::<crate::lanes::sixteen::avx2::Pair>(group, all, room, turn);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn multiply_avx512(&self, group: &Group, all: Before, room: Room, turn: &mut impl Multiply) {
        self.multiply_by::<crate::lanes::sixteen::avx512::Whole>(group, all, room, turn);
    }

    #[inline(always)]
    fn multiply_by<S: Sixteen>(&self, group: &Group, all: Before, room: Room, turn: &mut impl Multiply) {
        let Room { even, loose, .. } = room;
        assert!(even.len() == group.bundles.len() && loose.len() == WIDEST * even.len());
        assert!(all.first == 0 && all.found.len() == self.pattern.len());
        assert!(all.singles.len() == WIDEST * all.found.len());
        let zero = [S::single(0.0), S::single(0.0), S::single(0.0)];
        let (first, places) = (group.bundles.start, WIDEST * group.bundles.start);
        // SAFETY: all are there.
        unsafe { self.come_in::<S>(group, all, loose) };
        for k in group.bundles.clone() {
            let row = &self.pattern.rows[k];
            for s in 0..usize::from(row.loose) {
                // SAFETY: slots of a row are there, and lead to places of the group.
                unsafe {
                    let ([rows, columns], slot) = (self.ends(row, s), self.slot(row, s));
                    let (from, to) = (S::vectors(all.singles, rows, 0), S::vectors(all.singles, columns, 0));
                    S::add(slot.add_mirrored(from, zero), columns, places, loose);
                    S::add(slot.add(to, zero), rows, places, loose);
                }
            }
        }
        for k in group.bundles.clone() {
            let (here, row) = (k - first, &self.pattern.rows[k]);
            let mut sum = load(&even[here]);
            store(zero, &mut even[here]);
            if row.begins || row.ends || row.apart {
                sum = plus(sum, given::<S>(loose, here));
            }
            // SAFETY: all are there.
            sum = unsafe { self.across::<S>(row, all, sum) };
            let own = load::<S>(&all.found[k]);
            let (slots, across) = (usize::from(row.loose) + usize::from(row.across), usize::from(row.across));
            for s in 0..usize::from(row.even) {
                // SAFETY: slots of a row are there, and lead to bundles of the group.
                let (slot, from, to, on) = unsafe {
                    let target = self.target(row, across + s);
                    let to = even.get_unchecked_mut(target.bundle().wrapping_sub(first));
                    (self.slot(row, slots + s), all.found.get_unchecked(target.bundle()), to, target.on())
                };
                let from = load::<S>(from);
                if on == 0 {
                    sum = slot.add(from, sum);
                    store(slot.add_mirrored::<S>(own, load(to)), to);
                } else {
                    sum = slot.add(turned(from, WIDEST - on), sum);
                    store(plus(load(to), turned(slot.add_mirrored::<S>(own, zero), on)), to);
                }
            }
            let scale = &self.scales[k];
            turn.value::<S>(here, scale, narrowed(scale, sum));
        }
    }

    /// What loose slots across give to a group.
    ///
    /// # Safety
    /// `before` must be of all places that slots across lead to.
    #[inline(always)]
    unsafe fn come_in<S: Sixteen>(&self, group: &Group, before: Before, loose: &mut [Single]) {
        let zero = [S::single(0.0), S::single(0.0), S::single(0.0)];
        let places = WIDEST * group.bundles.start;
        for (s, end) in group.across.clone().enumerate() {
            // SAFETY: slots and ends of a group are there, rows are in it, and columns are places.
            unsafe {
                let [rows, columns] = self.pattern.ends.get_unchecked(end);
                let slot = self.values.get_unchecked(group.slots.start + s);
                let from = S::vectors(before.singles, columns, WIDEST * before.first);
                S::add(slot.add(from, zero), rows, places, loose);
            }
        }
    }

    /// The same of even ones, to a bundle.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn across<S: Sixteen>(&self, row: &Row, before: Before, mut sum: [S; 3]) -> [S; 3] {
        for s in 0..usize::from(row.across) {
            // SAFETY: slots of a row are there, and those across lead to bundles.
            let (slot, from, on) = unsafe {
                let target = self.target(row, s);
                let slot = self.slot(row, usize::from(row.loose) + s);
                (slot, before.found.get_unchecked(target.bundle().wrapping_sub(before.first)), target.on())
            };
            sum = slot.add(turned(load::<S>(from), WIDEST - on), sum);
        }
        sum
    }

    #[inline(always)]
    fn forward_by<S: Sixteen>(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Forward) {
        let Room { even, found, loose, singles } = room;
        check(&group.bundles, [even, found], [loose, singles]);
        self.check_before(before);
        let zero = [S::single(0.0), S::single(0.0), S::single(0.0)];
        let (first, places, ring) = (group.bundles.start, WIDEST * group.bundles.start, group.ring());
        if let Some(before) = before {
            // SAFETY: checked above.
            unsafe { self.come_in::<S>(group, before, loose) };
        }
        // What a bundle gives to the next.
        let mut carried = zero;
        for k in group.bundles.clone() {
            let (here, row, scale) = (k - first, &self.pattern.rows[k], &self.scales[k]);
            if self.far && k + AHEAD < group.bundles.end {
                self.ask_for(k + AHEAD);
                turn.ask(here + AHEAD);
            }
            for s in 0..usize::from(row.loose) {
                // SAFETY: slots of a row are there, and lead to places of the group.
                unsafe {
                    let [rows, columns] = self.ends(row, s);
                    let given = self.slot(row, s).add_mirrored(S::vectors(singles, rows, places), zero);
                    S::add(given, columns, places, loose);
                }
            }
            let mut sum = load(&even[here & ring]);
            store(zero, &mut even[here & ring]);
            if row.ends || row.apart {
                sum = plus(sum, given::<S>(loose, here));
            }
            if let Some(before) = before {
                // SAFETY: checked above.
                sum = unsafe { self.across::<S>(row, before, sum) };
            }
            sum = plus(sum, carried);
            let own = widened(scale, turn.value::<S>(here, scale, narrowed(scale, sum)));
            if row.begins || row.apart {
                S::separate(own, &mut singles.as_chunks_mut().0[here]);
            }
            let across = usize::from(row.across);
            if across > 0 {
                store(own, &mut found[here]);
            }
            let slots = usize::from(row.loose) + across;
            carried = zero;
            if row.next {
                // SAFETY: as above.
                carried = unsafe { self.slot(row, slots) }.add_mirrored(own, zero);
            }
            for s in usize::from(row.next)..usize::from(row.even) {
                // SAFETY: as above, to bundles of the group.
                let (slot, to, on) = unsafe {
                    let target = self.target(row, across + s);
                    let to = even.get_unchecked_mut(target.bundle().wrapping_sub(first) & ring);
                    (self.slot(row, slots + s), to, target.on())
                };
                store(plus(load(to), turned(slot.add_mirrored::<S>(own, zero), on)), to);
            }
        }
    }

    #[inline(always)]
    fn backward_by<S: Sixteen>(&self, group: &Group, before: Option<Before>, room: Room, turn: &mut impl Backward) {
        let Room { found, loose, singles, .. } = room;
        check(&group.bundles, [found], [loose, singles]);
        self.check_before(before);
        let zero = [S::single(0.0), S::single(0.0), S::single(0.0)];
        let (first, places, ring) = (group.bundles.start, WIDEST * group.bundles.start, group.ring());
        if let Some(before) = before {
            // SAFETY: checked above.
            unsafe { self.come_in::<S>(group, before, loose) };
        }
        // What the bundle before became.
        let mut last = zero;
        for k in group.bundles.clone().rev() {
            let (here, row, scale) = (k - first, &self.pattern.rows[k], &self.scales[k]);
            if self.far && here >= AHEAD {
                self.ask_for(k - AHEAD);
                turn.ask(here - AHEAD);
            }
            let mut sum = zero;
            if row.begins || row.apart {
                sum = given::<S>(loose, here);
            }
            if let Some(before) = before {
                // SAFETY: checked above.
                sum = unsafe { self.across::<S>(row, before, sum) };
            }
            let (slots, across) = (usize::from(row.loose) + usize::from(row.across), usize::from(row.across));
            for s in (usize::from(row.next)..usize::from(row.even)).rev() {
                // SAFETY: slots of a row are there, and lead to bundles of the group.
                let (slot, from, on) = unsafe {
                    let target = self.target(row, across + s);
                    let from = found.get_unchecked(target.bundle().wrapping_sub(first) & ring);
                    (self.slot(row, slots + s), from, target.on())
                };
                let from = load::<S>(from);
                sum = slot.add(turned(from, WIDEST - on), sum);
            }
            if row.next {
                // SAFETY: as above.
                sum = unsafe { self.slot(row, slots) }.add(last, sum);
            }
            let own = widened(scale, turn.value::<S>(here, narrowed(scale, sum)));
            store(own, &mut found[here & ring]);
            last = own;
            if row.ends || row.apart {
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

    /// Asks for the slots and the scale of a bundle that has its turn soon.
    #[inline(always)]
    fn ask_for(&self, bundle: usize) {
        let row = &self.pattern.rows[bundle];
        let count = usize::from(row.loose) + usize::from(row.across) + usize::from(row.even);
        let slots = row.slot as usize..row.slot as usize + count;
        ask(&self.values[slots]);
        ask(&self.scales[bundle..bundle + 1]);
    }

    /// What unchecked places of other groups rely on.
    fn check_before(&self, before: Option<Before>) {
        if let Some(Before { first, found, singles }) = before {
            assert!(singles.len() == WIDEST * found.len());
            let bundles = &self.pattern.between;
            let all = if first == 0 { found.len() == bundles.start } else { (first..first + found.len()) == *bundles };
            assert!(all, "all pieces, or all that lies between them");
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
    /// The row must have such a target.
    #[inline(always)]
    unsafe fn target(&self, row: &Row, s: usize) -> Target {
        // SAFETY: by the caller.
        unsafe { *self.pattern.targets.get_unchecked(row.target as usize + s) }
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
fn given<S: Sixteen>(loose: &mut [Single], bundle: usize) -> [S; 3] {
    const ALL: [u32; WIDEST] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let own = &mut loose.as_chunks_mut::<WIDEST>().0[bundle];
    // SAFETY: sixteen of them.
    let sum = unsafe { S::vectors(own, &ALL, 0) };
    *own = [[0.0; 4]; WIDEST];
    sum
}

/// Bundles ahead of which a sweep asks for what it will need.
const AHEAD: usize = 4;
/// Bundles from which on that pays: short of it the processor's own guesses are as good.
const FAR: usize = 2_000;

/// Asks for all lines of memory of a list.
#[inline(always)]
pub(super) fn ask<T>(list: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of_val(list).div_ceil(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: asking for memory reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(list.as_ptr().cast::<i8>().wrapping_add(64 * line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = list;
}

/// What unchecked places of a group rely on.
fn check<const N: usize>(bundles: &Range<usize>, wide: [&[Bundle]; N], narrow: [&[Single]; 2]) {
    assert!(wide.iter().all(|list| list.len() == bundles.len()));
    assert!(narrow.iter().all(|list| list.len() == WIDEST * bundles.len()));
}
