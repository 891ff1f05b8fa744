//! A matrix whose blocks off the diagonal are links, in the order in which they are swept.
//!
//! A link is a block -(a I + e eᵀ) between two nodes, as springs make them, in single precision; what it takes from
//! the diagonal is added there in double precision, so that rows add up to what else is on it. Links lie sixteen
//! side by side in the slots of a [`Pattern`]; diagonal blocks by bundles, above the diagonal and on it, row by row.

use super::bundle::{Ends, Group, NONE, Pattern, Row, Target};
use super::sweep::{Links, Single};
use crate::lanes::Kind;
use crate::lanes::eight::Both;
use crate::lanes::sixteen::{Sixteen, WIDEST};
use crate::parallel::{Disjoint, sum};
use glam::{DMat3, DVec3};
use std::sync::{Arc, Mutex, PoisonError};

/// Groups side by side, and held nodes.
const MOST: usize = super::bundle::MOST_GROUPS + 1;

/// Sixteen symmetric blocks: what is above the diagonal and on it, row by row.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Diagonal(pub [[f64; WIDEST]; 6]);

impl Default for Diagonal {
    fn default() -> Self {
        Self([[0.0; WIDEST]; 6])
    }
}

/// Numbers from which sixteen links are made.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Constants(pub [[f32; WIDEST]; 5]);

/// How links are made.
pub(crate) trait Law: Sync {
    /// a and e, from constants, the way between two nodes, and the square of what it is where tension is looked at.
    fn link<S: Sixteen>(&self, constants: &Constants, way: [S; 3], taut2: S) -> [S; 4];
}

/// Where sixteen nodes are: three numbers in single precision, and what that leaves of them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Spots([[f32; WIDEST]; 6]);

/// What is above the diagonal and on it of one block, and two zeros.
type Alone = [f64; 8];

/// Vectors of sixteen nodes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Wide([[f64; WIDEST]; 3]);

/// Links and diagonal of a matrix.
#[derive(Debug)]
pub(crate) struct LinkSlots {
    pattern: Arc<Pattern>,
    links: Vec<Links>,
    /// Of all bundles, held ones too.
    diagonal: Vec<Diagonal>,
    /// The same from loose slots on the way, by places; empty where there are none.
    alone: Vec<Alone>,
    constants: Vec<Constants>,
    /// Whose they are.
    owner: u64,
    /// Where every block of the matrix is: sixteen times its slot, and which of the sixteen.
    where_to: Vec<u32>,
    /// Where nodes are, and where tension is looked at: by bundles, and both by places if there are loose slots.
    here: Vec<Spots>,
    taut: Vec<Spots>,
    both: Vec<Both>,
    /// Vectors of a product and what it gives, by bundles.
    room: Mutex<[Vec<Wide>; 2]>,
}

impl Clone for LinkSlots {
    fn clone(&self) -> Self {
        let Self { pattern, links, diagonal, alone, constants, owner, where_to, here, taut, both, .. } = self;
        let (pattern, links, diagonal, alone) = (pattern.clone(), links.clone(), diagonal.clone(), alone.clone());
        let (constants, owner, where_to) = (constants.clone(), *owner, where_to.clone());
        let (here, taut, both, room) = (here.clone(), taut.clone(), both.clone(), Mutex::default());
        Self { pattern, links, diagonal, alone, constants, owner, where_to, here, taut, both, room }
    }
}

impl LinkSlots {
    /// For so many blocks in a pattern, and what are mirror images of those in it.
    pub(super) fn new(pattern: Arc<Pattern>, blocks: usize, mirrored: impl Iterator<Item = [u32; 2]>) -> Self {
        let bundles = pattern.nodes.len() / WIDEST;
        let mut where_to = vec![NONE; blocks];
        for (at, &source) in pattern.sources.as_flattened().iter().enumerate().filter(|(_, s)| **s != NONE) {
            where_to[source as usize / 2] = at as u32;
        }
        for [image, block] in mirrored {
            where_to[image as usize] = where_to[block as usize];
        }
        Self {
            links: vec![Links([[0.0; WIDEST]; 4]); pattern.sources.len()],
            diagonal: vec![Diagonal::default(); bundles],
            alone: if pattern.ends.is_empty() { Vec::new() } else { vec![Alone::default(); WIDEST * bundles] },
            constants: Vec::new(),
            owner: 0,
            where_to,
            here: Vec::new(),
            taut: Vec::new(),
            both: Vec::new(),
            room: Mutex::default(),
            pattern,
        }
    }

    pub(super) fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    pub(super) fn links(&self) -> &[Links] {
        &self.links
    }

    pub(super) fn diagonals(&self) -> &[Diagonal] {
        &self.diagonal
    }

    /// a and e of a block of the matrix.
    pub(super) fn link(&self, block: usize) -> [f64; 4] {
        match self.where_to[block] {
            NONE => [0.0; 4],
            at => self.at(at as usize / WIDEST, at as usize % WIDEST),
        }
    }

    #[inline(always)]
    fn at(&self, slot: usize, lane: usize) -> [f64; 4] {
        self.links[slot].0.map(|row| f64::from(row[lane]))
    }

    pub(super) fn diagonal(&self, node: usize) -> DMat3 {
        let place = self.pattern.places[node] as usize;
        symmetric(self.diagonal[place / WIDEST].0.map(|row| row[place % WIDEST]))
    }

    /// Adds to a diagonal block.
    pub(super) fn add_diagonal(&mut self, node: usize, block: &DMat3) {
        let place = self.pattern.places[node] as usize;
        add(&mut self.diagonal[place / WIDEST], place % WIDEST, block);
    }

    /// Adds to all, side by side.
    pub(super) fn add_to_diagonal(&mut self, block: impl Fn(usize) -> DMat3 + Sync) {
        let (pattern, diagonal) = (&*self.pattern, Disjoint::new(&mut self.diagonal));
        each(pattern, |group| {
            // SAFETY: groups are disjoint.
            let diagonal = unsafe { diagonal.slice(group.bundles.clone()) };
            for (k, diagonal) in group.bundles.clone().zip(diagonal) {
                for (lane, &node) in pattern.nodes[WIDEST * k..WIDEST * (k + 1)].iter().enumerate() {
                    if node != NONE {
                        add(diagonal, lane, &block(node as usize));
                    }
                }
            }
        });
    }

    /// Constants of all links, made by whoever has this number: from the block that each is.
    pub(crate) fn prepare(&mut self, owner: u64, constants: impl Fn(usize) -> [f32; 5]) {
        if self.owner == owner {
            return;
        }
        self.owner = owner;
        self.constants = vec![Constants::default(); self.links.len()];
        for (Constants(rows), sources) in self.constants.iter_mut().zip(&self.pattern.sources) {
            for (lane, &source) in sources.iter().enumerate().filter(|(_, s)| **s != NONE) {
                for (row, constant) in rows.iter_mut().zip(constants(source as usize / 2)) {
                    row[lane] = constant;
                }
            }
        }
    }

    /// Whether constants are those of this owner.
    pub(crate) fn is_prepared(&self, owner: u64) -> bool {
        self.owner == owner
    }

    /// Makes all links, and of the diagonal what they leave there. Tension is that at other places, if there are any.
    pub(crate) fn fill(&mut self, x: &[DVec3], tension_at: Option<&[DVec3]>, law: &impl Law) {
        let pattern = &*self.pattern;
        spread(pattern, x, &mut self.here);
        if let Some(places) = tension_at {
            spread(pattern, places, &mut self.taut);
        }
        let taut = if tension_at.is_some() { &self.taut } else { &self.here };
        if !pattern.ends.is_empty() {
            set_out(pattern, x, tension_at.unwrap_or(x), &mut self.both);
        }
        let filling = Filling { pattern, constants: &self.constants, here: &self.here, taut, both: &self.both, law };
        let (links, diagonal) = (Disjoint::new(&mut self.links), Disjoint::new(&mut self.diagonal));
        let alone = Disjoint::new(&mut self.alone);
        each(pattern, |group| {
            let places = WIDEST * group.bundles.start..WIDEST * group.bundles.end;
            let places = if pattern.ends.is_empty() { 0..0 } else { places };
            // SAFETY: groups are disjoint, and so are their slots.
            let (links, diagonal, alone) = unsafe {
                (links.slice(group.slots.clone()), diagonal.slice(group.bundles.clone()), alone.slice(places))
            };
            filling.group(group, links, diagonal, alone);
        });
    }

    /// y = A x on chosen nodes, zero on others; returns x·y.
    pub(super) fn product(&self, chosen: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        assert!(x.len() == self.pattern.places.len() && y.len() == x.len() && chosen.len() == x.len());
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let [wide, image] = &mut *room;
        for list in [&mut *wide, &mut *image] {
            list.resize(self.diagonal.len(), Wide::default());
        }
        let (pattern, filled) = (&*self.pattern, Disjoint::new(wide));
        each(pattern, |group| {
            // SAFETY: groups are disjoint, here and below.
            let wide = unsafe { filled.slice(group.bundles.clone()) };
            for (Wide([a, b, c]), nodes) in wide.iter_mut().zip(pattern.bundles(group)) {
                for (lane, &node) in nodes.iter().enumerate() {
                    let v = x.get(node as usize).copied().unwrap_or(DVec3::ZERO);
                    (a[lane], b[lane], c[lane]) = (v.x, v.y, v.z);
                }
            }
        });
        let (wide, image, out) = (&*wide, Disjoint::new(image), Disjoint::new(y));
        let [dot] = sum::<1, MOST>(pattern.groups.len() + 1, |g| {
            let group = pattern.groups.get(g).unwrap_or(&pattern.held);
            // SAFETY: as above.
            let image = unsafe { image.slice(group.bundles.clone()) };
            self.multiply(group, wide, image);
            let mut dot = 0.0;
            for (Wide([a, b, c]), nodes) in image.iter().zip(pattern.bundles(group)) {
                for (lane, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let node = node as usize;
                    // SAFETY: a node has one place.
                    let y = unsafe { &mut out.slice(node..node + 1)[0] };
                    *y = if chosen[node] { DVec3::new(a[lane], b[lane], c[lane]) } else { DVec3::ZERO };
                    dot += x[node].dot(*y);
                }
            }
            [dot]
        });
        dot
    }

    /// A x of a group, given x of all bundles.
    fn multiply(&self, group: &Group, x: &[Wide], y: &mut [Wide]) {
        match Kind::found() {
            Kind::Plain => self.multiply_by(group, x, y),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.multiply_avx2(group, x, y) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.multiply_avx512(group, x, y) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn multiply_avx2(&self, group: &Group, x: &[Wide], y: &mut [Wide]) {
        self.multiply_by(group, x, y);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn multiply_avx512(&self, group: &Group, x: &[Wide], y: &mut [Wide]) {
        self.multiply_by(group, x, y);
    }

    /// Number by number, so that the compiler does several at a time.
    #[inline(always)]
    fn multiply_by(&self, group: &Group, x: &[Wide], y: &mut [Wide]) {
        let (pattern, first) = (&*self.pattern, group.bundles.start);
        for (k, Wide(y)) in group.bundles.clone().zip(&mut *y) {
            let (Diagonal(d), Wide(x)) = (&self.diagonal[k], &x[k]);
            for l in 0..WIDEST {
                y[0][l] = d[0][l] * x[0][l] + d[1][l] * x[1][l] + d[2][l] * x[2][l];
                y[1][l] = d[1][l] * x[0][l] + d[3][l] * x[1][l] + d[4][l] * x[2][l];
                y[2][l] = d[2][l] * x[0][l] + d[4][l] * x[1][l] + d[5][l] * x[2][l];
            }
        }
        let fringe = group.slots.end - group.fringe.len();
        for (slots, ends) in [(group.slots.start, &group.across), (fringe, &group.fringe)] {
            for (slot, [rows, columns]) in (slots..).zip(&pattern.ends[ends.clone()]) {
                give_loose(&self.links[slot], rows, columns, x, y, first);
            }
        }
        let rows = pattern.rows.get(group.bundles.clone()).unwrap_or_default();
        for (k, row) in group.bundles.clone().zip(rows) {
            let Slots { loose, across, even } = Slots::of(row);
            for (slot, end) in loose.zip(row.end as usize..) {
                let [rows, columns] = &pattern.ends[end];
                give_loose(&self.links[slot], rows, columns, x, y, first);
                give_loose(&self.links[slot], columns, rows, x, y, first);
            }
            let mut targets = pattern.targets[row.target as usize..].iter();
            for (slot, target) in across.zip(&mut targets) {
                give(&self.links[slot], &turned(&x[target.bundle()], WIDEST - target.on()), &mut y[k - first]);
            }
            for (slot, target) in even.zip(targets) {
                let (link, to, on) = (&self.links[slot], target.bundle(), target.on());
                give(link, &turned(&x[to], WIDEST - on), &mut y[k - first]);
                let mut back = Wide::default();
                give(link, &x[k], &mut back);
                let (Wide(back), Wide(y)) = (turned(&back, on), &mut y[to - first]);
                for c in 0..3 {
                    for l in 0..WIDEST {
                        y[c][l] += back[c][l];
                    }
                }
            }
        }
    }
}

/// y -= (a I + e eᵀ) x, lane by lane.
#[inline(always)]
fn give(Links([a, e, f, g]): &Links, Wide(x): &Wide, Wide(y): &mut Wide) {
    for l in 0..WIDEST {
        let [a, e, f, g] = [f64::from(a[l]), f64::from(e[l]), f64::from(f[l]), f64::from(g[l])];
        let along = e * x[0][l] + f * x[1][l] + g * x[2][l];
        y[0][l] -= a * x[0][l] + e * along;
        y[1][l] -= a * x[1][l] + f * along;
        y[2][l] -= a * x[2][l] + g * along;
    }
}

/// The same between any places, to rows of a group.
#[inline(always)]
fn give_loose(
    Links(links): &Links,
    rows: &[u32; WIDEST],
    columns: &[u32; WIDEST],
    x: &[Wide],
    y: &mut [Wide],
    first: usize,
) {
    for lane in 0..WIDEST {
        let [a, e, f, g] = [0, 1, 2, 3].map(|k: usize| f64::from(links[k][lane]));
        let [row, column] = [rows[lane], columns[lane]].map(|place| (place as usize / WIDEST, place as usize % WIDEST));
        let (Wide(x), Wide(y)) = (&x[column.0], &mut y[row.0 - first]);
        let x = [x[0][column.1], x[1][column.1], x[2][column.1]];
        let along = e * x[0] + f * x[1] + g * x[2];
        y[0][row.1] -= a * x[0] + e * along;
        y[1][row.1] -= a * x[1] + f * along;
        y[2][row.1] -= a * x[2] + g * along;
    }
}

/// So many places on, the last ones first.
#[inline(always)]
fn turned(Wide(x): &Wide, by: usize) -> Wide {
    let by = by % WIDEST;
    if by == 0 {
        return Wide(*x);
    }
    let mut out = Wide::default();
    for c in 0..3 {
        let mut twice = [0.0; 2 * WIDEST];
        twice[..WIDEST].copy_from_slice(&x[c]);
        twice[WIDEST..].copy_from_slice(&x[c]);
        out.0[c].copy_from_slice(&twice[WIDEST - by..2 * WIDEST - by]);
    }
    out
}

/// Does something to every group, held nodes last, side by side.
fn each(pattern: &Pattern, work: impl Fn(&Group) + Sync) {
    let groups = pattern.groups.len();
    sum::<0, MOST>(groups + 1, |g| {
        work(pattern.groups.get(g).unwrap_or(&pattern.held));
        []
    });
}

/// Slots of a bundle.
struct Slots {
    loose: std::ops::Range<usize>,
    across: std::ops::Range<usize>,
    even: std::ops::Range<usize>,
}

impl Slots {
    #[inline(always)]
    fn of(row: &Row) -> Self {
        let start = row.slot as usize;
        let across = start + usize::from(row.loose);
        let even = across + usize::from(row.across);
        Self { loose: start..across, across: across..even, even: even..even + usize::from(row.even) }
    }
}

/// A link as the block it stands for.
pub(super) fn unlinked([a, x, y, z]: [f64; 4]) -> DMat3 {
    let e = DVec3::new(x, y, z);
    DMat3::from_cols(e * -e.x, e * -e.y, e * -e.z) - DMat3::from_diagonal(DVec3::splat(a))
}

fn symmetric([a, b, c, d, e, f]: [f64; 6]) -> DMat3 {
    DMat3::from_cols_array(&[a, b, c, b, d, e, c, e, f])
}

/// Adds to one of sixteen.
fn add(Diagonal(rows): &mut Diagonal, lane: usize, block: &DMat3) {
    let (x, y, z) = (block.x_axis, block.y_axis, block.z_axis);
    for (row, value) in rows.iter_mut().zip([x.x, x.y, x.z, y.y, y.z, z.z]) {
        row[lane] += value;
    }
}

/// Where all nodes are, by bundles.
fn spread(pattern: &Pattern, x: &[DVec3], spots: &mut Vec<Spots>) {
    spots.resize(pattern.nodes.len() / WIDEST, Spots::default());
    let about = x.first().copied().unwrap_or(DVec3::ZERO);
    let spots = Disjoint::new(spots);
    each(pattern, |group| {
        // SAFETY: groups are disjoint.
        let spots = unsafe { spots.slice(group.bundles.clone()) };
        let nodes = pattern.bundles(group);
        match Kind::found() {
            Kind::Plain => look::<[f32; WIDEST]>(nodes, x, about, spots),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { look_avx2(nodes, x, about, spots) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { look_avx512(nodes, x, about, spots) },
        }
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn look_avx2(nodes: &[[u32; WIDEST]], x: &[DVec3], about: DVec3, spots: &mut [Spots]) {
    look::<crate::lanes::sixteen::avx2::Pair>(nodes, x, about, spots);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
fn look_avx512(nodes: &[[u32; WIDEST]], x: &[DVec3], about: DVec3, spots: &mut [Spots]) {
    look::<crate::lanes::sixteen::avx512::Whole>(nodes, x, about, spots);
}

/// Places of nodes from one of them on, taken apart.
#[inline(always)]
fn look<S: Sixteen>(nodes: &[[u32; WIDEST]], x: &[DVec3], about: DVec3, spots: &mut [Spots]) {
    const ALL: [u32; WIDEST] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    for (nodes, Spots(rows)) in nodes.iter().zip(spots) {
        let (mut high, mut low) = ([Single::default(); WIDEST], [Single::default(); WIDEST]);
        for ((node, high), low) in nodes.iter().zip(&mut high).zip(&mut low) {
            let at = x.get(*node as usize).map_or(DVec3::ZERO, |x| *x - about);
            let [a, b, c] = at.to_array().map(|v| v as f32);
            *high = [a, b, c, 0.0];
            *low = [(at.x - f64::from(a)) as f32, (at.y - f64::from(b)) as f32, (at.z - f64::from(c)) as f32, 0.0];
        }
        // SAFETY: sixteen of each.
        let (high, low) = unsafe { (S::vectors(&high, &ALL, 0), S::vectors(&low, &ALL, 0)) };
        for c in 0..3 {
            high[c].store(&mut rows[c]);
            low[c].store(&mut rows[3 + c]);
        }
    }
}

/// Where all nodes are and where tension is looked at, by places.
fn set_out(pattern: &Pattern, x: &[DVec3], tension_at: &[DVec3], both: &mut Vec<Both>) {
    both.resize(pattern.nodes.len(), Both::default());
    let both = Disjoint::new(both);
    each(pattern, |group| {
        let places = WIDEST * group.bundles.start..WIDEST * group.bundles.end;
        // SAFETY: groups are disjoint.
        let both = unsafe { both.slice(places.clone()) };
        for (to, &node) in both.iter_mut().zip(&pattern.nodes[places]) {
            if node != NONE {
                *to = Both::new(x[node as usize], tension_at[node as usize]);
            }
        }
    });
}

/// What links are made from.
struct Filling<'a, L> {
    pattern: &'a Pattern,
    constants: &'a [Constants],
    here: &'a [Spots],
    taut: &'a [Spots],
    both: &'a [Both],
    law: &'a L,
}

impl<L: Law> Filling<'_, L> {
    fn group(&self, group: &Group, links: &mut [Links], diagonal: &mut [Diagonal], alone: &mut [Alone]) {
        match Kind::found() {
            Kind::Plain => self.group_by::<[f32; WIDEST]>(group, links, diagonal, alone),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.group_avx2(group, links, diagonal, alone) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.group_avx512(group, links, diagonal, alone) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn group_avx2(&self, group: &Group, links: &mut [Links], diagonal: &mut [Diagonal], alone: &mut [Alone]) {
        self.group_by::<crate::lanes::sixteen::avx2::Pair>(group, links, diagonal, alone);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn group_avx512(&self, group: &Group, links: &mut [Links], diagonal: &mut [Diagonal], alone: &mut [Alone]) {
        self.group_by::<crate::lanes::sixteen::avx512::Whole>(group, links, diagonal, alone);
    }

    #[inline(always)]
    fn group_by<S: Sixteen>(&self, group: &Group, links: &mut [Links], diagonal: &mut [Diagonal], alone: &mut [Alone]) {
        let (first, slots) = (group.bundles.start, group.slots.start);
        diagonal.fill(Diagonal::default());
        alone.fill(Alone::default());
        let places = WIDEST * first;
        for (s, ends) in (slots..).zip(&self.pattern.ends[group.across.clone()]) {
            let link = self.loose::<S>(s, ends, &mut links[s - slots]);
            S::hand_squares(link, [&ends[0]], places, alone);
        }
        let fringe = group.slots.end - group.fringe.len();
        for (s, ends) in (fringe..).zip(&self.pattern.ends[group.fringe.clone()]) {
            let link = self.loose::<S>(s, ends, &mut links[s - slots]);
            S::hand_squares(link, [&ends[0]], places, alone);
        }
        let rows = self.pattern.rows.get(group.bundles.clone()).unwrap_or_default();
        for (k, row) in group.bundles.clone().zip(rows) {
            let Slots { loose, across, even } = Slots::of(row);
            for (s, end) in loose.zip(row.end as usize..) {
                let ends = &self.pattern.ends[end];
                let link = self.loose::<S>(s, ends, &mut links[s - slots]);
                S::hand_squares(link, [&ends[0], &ends[1]], places, alone);
            }
            let mut targets = row.target as usize;
            for s in across {
                let link = self.even::<S>(s, k, self.pattern.targets[targets], &mut links[s - slots]);
                S::add_squares(link, &mut diagonal[k - first].0);
                targets += 1;
            }
            for s in even {
                let target = self.pattern.targets[targets];
                let [a, x, y, z] = self.even::<S>(s, k, target, &mut links[s - slots]);
                S::add_squares([a, x, y, z], &mut diagonal[k - first].0);
                let on = target.on();
                let link = match on {
                    0 => [a, x, y, z],
                    _ => [a.turned(on), x.turned(on), y.turned(on), z.turned(on)],
                };
                S::add_squares(link, &mut diagonal[target.bundle() - first].0);
                targets += 1;
            }
        }
        for (Diagonal(rows), alone) in diagonal.iter_mut().zip(alone.as_chunks::<WIDEST>().0) {
            for (lane, alone) in alone.iter().enumerate() {
                for k in 0..6 {
                    rows[k][lane] += alone[k];
                }
            }
        }
    }

    /// Links of an even slot.
    #[inline(always)]
    fn even<S: Sixteen>(&self, slot: usize, k: usize, target: Target, to: &mut Links) -> [S; 4] {
        let way = even_way::<S>(self.here, k, target);
        let taut2 = match std::ptr::eq(self.here, self.taut) {
            true => square(way),
            false => square(even_way::<S>(self.taut, k, target)),
        };
        store(self.law.link(&self.constants[slot], way, taut2), to)
    }

    /// Links of a loose slot.
    #[inline(always)]
    fn loose<S: Sixteen>(&self, slot: usize, ends: &Ends, to: &mut Links) -> [S; 4] {
        let [rows, columns] = ends;
        assert!(rows.iter().chain(columns).all(|place| (*place as usize) < self.both.len()));
        // SAFETY: there are such places.
        let [way, taut] = unsafe { S::between(self.both, rows, columns) };
        store(self.law.link(&self.constants[slot], way, square(taut)), to)
    }
}

/// From places of a bundle to those that an even slot leads to.
#[inline(always)]
fn even_way<S: Sixteen>(spots: &[Spots], k: usize, target: Target) -> [S; 3] {
    let (Spots(from), Spots(to), on) = (&spots[k], &spots[target.bundle()], target.on());
    let mut out = [S::single(0.0); 3];
    for c in 0..3 {
        let (mut high, mut low) = (S::load(&to[c]), S::load(&to[3 + c]));
        if on != 0 {
            (high, low) = (high.turned(WIDEST - on), low.turned(WIDEST - on));
        }
        out[c] = difference(S::load(&from[c]), high, S::load(&from[3 + c]), low);
    }
    out
}

/// b + d - (a + c), large and small parts by themselves
#[inline(always)]
fn difference<S: Sixteen>(a: S, b: S, c: S, d: S) -> S {
    b.minus(a).plus(d.minus(c))
}

#[inline(always)]
fn square<S: Sixteen>([x, y, z]: [S; 3]) -> S {
    z.fused(z, y.fused(y, x.times(x)))
}

#[inline(always)]
fn store<S: Sixteen>(link: [S; 4], Links(to): &mut Links) -> [S; 4] {
    for k in 0..4 {
        link[k].store(&mut to[k]);
    }
    link
}
