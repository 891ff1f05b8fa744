//! Rows of a block matrix side by side: sixteen nodes that do not touch each other are swept together.
//!
//! A sweep goes from row to row because each waits for those before it, and the order decides how far it reaches: from one end
//! of the body to the other where rows follow each other as nodes do. Here they keep that order as far as it
//! matters, between nodes that touch. Nodes are cut into chunks, on a grid its lines, and lanes take them in turn, each a little
//! behind the one before, as far as its nodes have to wait for those of other lanes:
//! ```text
//! lane 0   a0 a1 a2 a3 a4 …                     bundles are columns
//! lane 1         b0 b1 b2 …
//! lane 2               c0 …
//! ```
//! Where too few lanes find work that way, nodes are cut into sixteen stretches of equal length that all begin at once, in another order
//! of the rows.
//!
//! Large bodies are cut into pieces that are swept side by side. Nodes that keep two pieces apart are a group of their own,
//! which comes after all pieces in a forward sweep and before them in a backward one; every other piece runs the other way, so that two
//! of them end where they meet.
//!
//! Blocks are kept sixteen wide too, entry by entry, in slots. Half of a group's blocks are kept: those from a bundle to a later one.
//! In an even slot all of them lead from one bundle to the same later one, each to a place that lies equally far from its
//! own, the last places counting as before the first: on a grid nearly all do.
//! Those that are left are put into loose slots, any sixteen together whose rows are all done when the first of
//! their columns has its turn, so that slots are full however irregular a body is. Blocks across, which join pieces to what lies between
//! them, are kept for both, in even and loose slots of their own. Held nodes are not swept; blocks between them and others are the fringe: in
//! loose slots, for both ends too.

mod order;
#[cfg(test)]
mod tests;

use crate::lanes::sixteen::WIDEST;
use order::Order;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Empty places have no node, and spare blocks no source.
pub(crate) const NONE: u32 = u32::MAX;

/// Nodes to a piece at least, pieces at most, and the share of a body that may lie between them. Pieces are a power of two, so that
/// as many threads have as many of them.
const PIECE: usize = 4_200;
const MOST_PIECES: usize = 16;
const BETWEEN: f64 = 0.2;
/// Pieces begin where a line does, if it is no longer than this.
const LINE: usize = 1_000;
/// Groups are pieces and what lies between them; partial sums of them fit on the stack.
pub(super) const MOST_GROUPS: usize = 2 * MOST_PIECES - 1;

/// Blocks of a bundle that lead to the same other one, equally far, are an even slot from this many on.
const EVEN: usize = 4;

/// Where the slots of a bundle are: first the loose ones that come before its turn in a forward sweep, then those that
/// lead across, then its even ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    /// The first of them.
    pub slot: u32,
    /// The first of their ends, and of their targets: of those across, then of even ones.
    pub end: u32,
    pub target: u32,
    /// How many of each.
    pub loose: u16,
    pub across: u16,
    pub even: u16,
    /// Whether the first of the even ones leads to the next bundle, place by place.
    pub next: bool,
    /// Whether any loose slot begins at the bundle, whether one ends there, and whether one leads across.
    pub begins: bool,
    pub ends: bool,
    pub apart: bool,
}

/// Which bundle an even slot leads to, and how many places on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target(u32);

impl Target {
    fn new(from: usize, to: u32) -> Self {
        let on = (to as usize + WIDEST - from % WIDEST) % WIDEST;
        Self(to / WIDEST as u32 * WIDEST as u32 + on as u32)
    }

    #[inline(always)]
    pub fn bundle(self) -> usize {
        self.0 as usize / WIDEST
    }

    #[inline(always)]
    pub fn on(self) -> usize {
        self.0 as usize % WIDEST
    }

    /// The place that one of the bundle's leads to.
    fn place(self, from: usize) -> u32 {
        (self.bundle() * WIDEST + (from + self.on()) % WIDEST) as u32
    }
}

/// Bundles that are swept one after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub bundles: Range<usize>,
    /// Slots of all its blocks: loose ones across first, the fringe last.
    pub slots: Range<usize>,
    /// Ends of its loose slots across, which are as many slots, and of its fringe.
    pub across: Range<usize>,
    pub fringe: Range<usize>,
    /// Its even slots lead less than so many bundles on, a power of two; none where others ask for any of its bundles.
    pub reach: Option<usize>,
}

impl Group {
    /// Which bits of a bundle's number tell it from all that even slots join it to.
    pub fn ring(&self) -> usize {
        self.reach.filter(|reach| *reach <= self.bundles.len()).map_or(usize::MAX, |reach| reach - 1)
    }
}

/// A slot whose blocks lead from anywhere to anywhere: places of their rows and of their columns.
pub(crate) type Ends = [[u32; WIDEST]; 2];

/// Which row, column and block is where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    /// Which nodes are swept.
    pub free: Vec<bool>,
    /// Pieces first.
    pub groups: Vec<Group>,
    /// The others: bundles after all groups, and fringe.
    pub held: Group,
    pub pieces: usize,
    /// Bundles of the others.
    pub between: Range<usize>,
    /// Place of every node: sixteen times its bundle, and which of the sixteen.
    pub places: Vec<u32>,
    /// Node of every place.
    pub nodes: Vec<u32>,
    pub rows: Vec<Row>,
    /// Where even slots and those across lead to.
    pub targets: Vec<Target>,
    /// Ends of the others; where there is no block, places of the group.
    pub ends: Vec<Ends>,
    /// By slot: which block, twice, and one more where its mirror image is meant.
    pub sources: Vec<[u32; WIDEST]>,
}

/// Blocks of a bundle by where they lead.
#[derive(Default)]
struct Sorted(Vec<(Target, [u32; WIDEST])>);

impl Sorted {
    fn add(&mut self, from: usize, to: u32, source: u32) {
        let target = Target::new(from, to);
        let known = self.0.iter().position(|(t, _)| *t == target).unwrap_or_else(|| {
            self.0.push((target, [NONE; WIDEST]));
            self.0.len() - 1
        });
        self.0[known].1[from % WIDEST] = source;
    }

    /// Gives full enough slots to `even`, nearest first, and other blocks to `loose`, with their ends.
    fn part(
        mut self,
        bundle: usize,
        mut even: impl FnMut(Target, [u32; WIDEST]),
        mut loose: impl FnMut([u32; 2], u32),
    ) {
        self.0.sort_unstable_by_key(|(target, _)| *target);
        for (target, sources) in self.0 {
            let blocks = || (0..WIDEST).filter(|&lane| sources[lane] != NONE);
            if blocks().count() >= EVEN {
                even(target, sources);
            } else {
                blocks().for_each(|lane| loose([(WIDEST * bundle + lane) as u32, target.place(lane)], sources[lane]));
            }
        }
    }
}

impl Pattern {
    /// For blocks between these nodes, each once, by number.
    pub fn new(free: &[bool], blocks: impl Fn(&mut dyn FnMut([u32; 2], u32))) -> Self {
        let around = Around::new(free.len(), blocks);
        let mut out = Self { free: free.to_vec(), places: vec![NONE; free.len()], ..Self::default() };
        let cut = Cut::new(free, &around);
        out.pieces = cut.pieces.len();
        for (g, piece) in cut.pieces.into_iter().enumerate() {
            let mut nodes: Vec<u32> = piece.collect();
            if g % 2 == 1 {
                nodes.reverse();
            }
            let here = |i: u32| free[i as usize] && cut.between[i as usize] == NONE;
            let group = out.add_group(Order::new(nodes, here, &around).best());
            out.groups.push(group);
        }
        out.between.start = out.nodes.len() / WIDEST;
        for s in 1..out.pieces as u32 {
            let nodes: Vec<u32> = (0..free.len() as u32).filter(|&i| cut.between[i as usize] == s).collect();
            let group = out.add_group(Order::new(nodes, |_| true, &around).best());
            out.groups.push(group);
        }
        out.between.end = out.nodes.len() / WIDEST;
        let held: Vec<u32> = (0..free.len() as u32).filter(|&i| !free[i as usize]).collect();
        let some = |list: &[u32]| std::array::from_fn(|lane| list.get(lane).copied().unwrap_or(NONE));
        out.held = out.add_group(held.chunks(WIDEST).map(some).collect());
        let group_of: Vec<u32> =
            (0u32..).zip(&out.groups).flat_map(|(g, group)| group.bundles.clone().map(move |_| g)).collect();
        for g in 0..out.groups.len() {
            out.fill_group(g, &group_of, &around);
        }
        let (slots, bundles) = (out.sources.len(), out.held.bundles.clone());
        out.held.fringe = out.add_fringe(bundles, 0, &around);
        out.held.slots = slots..out.sources.len();
        out
    }

    /// Nodes of every bundle of a group.
    pub fn bundles(&self, group: &Group) -> &[[u32; WIDEST]] {
        &self.nodes.as_chunks().0[group.bundles.clone()]
    }

    /// Blocks between nodes of some bundles and all from another one on, in loose slots; their ends.
    fn add_fringe(&mut self, bundles: Range<usize>, from: usize, around: &Around) -> Range<usize> {
        let mut fringe = Vec::new();
        for place in WIDEST * bundles.start..WIDEST * bundles.end {
            for &[other, source] in around.of(self.nodes[place]) {
                let to = self.places[other as usize];
                if to as usize >= WIDEST * from {
                    fringe.push(([place as u32, to], source));
                }
            }
        }
        let (first, spare) = (self.ends.len(), [(WIDEST * bundles.start) as u32; 2]);
        fringe.chunks(WIDEST).for_each(|some| self.add_loose(some, spare));
        first..self.ends.len()
    }

    /// Bundles that are swept.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    fn add_group(&mut self, bundles: Vec<[u32; WIDEST]>) -> Group {
        let first = self.nodes.len() / WIDEST;
        self.nodes.extend(bundles.as_flattened());
        for place in WIDEST * first..self.nodes.len() {
            if self.nodes[place] != NONE {
                self.places[self.nodes[place] as usize] = place as u32;
            }
        }
        Group { bundles: first..self.nodes.len() / WIDEST, ..Group::default() }
    }

    /// Puts the blocks of a group into slots.
    fn fill_group(&mut self, g: usize, group_of: &[u32], around: &Around) {
        let bundles = self.groups[g].bundles.clone();
        let (slots, ends) = (self.sources.len(), self.ends.len());
        let spare = [(WIDEST * bundles.start) as u32; 2];
        let swept = self.between.end;
        // Blocks of a bundle that lead to swept places of some kind.
        let sorted = |out: &Self, k: usize, which: &dyn Fn(usize) -> bool| {
            let mut sorted = Sorted::default();
            for place in WIDEST * k..WIDEST * (k + 1) {
                for &[other, source] in around.of(out.nodes[place]) {
                    let to = out.places[other as usize];
                    if (to as usize) < WIDEST * swept && which(to as usize / WIDEST) {
                        sorted.add(place, to, source);
                    }
                }
            }
            sorted
        };
        // What leads across, and what no even slot has of it.
        let (mut across, mut apart) = (Vec::new(), Vec::new());
        for k in bundles.clone() {
            let mut even = Vec::new();
            sorted(self, k, &|to| group_of[to] != g as u32).part(
                k,
                |target, sources| even.push((target, sources)),
                |ends, source| apart.push((ends, source)),
            );
            across.push(even);
        }
        apart.chunks(WIDEST).for_each(|some| self.add_loose(some, spare));
        let ends = ends..self.ends.len();
        // What no even slot has, by the bundle before which it has to be done.
        let mut left: BinaryHeap<Reverse<(u32, u32, u32)>> = BinaryHeap::new();
        for (k, across) in bundles.clone().zip(across) {
            let mut row = Row {
                slot: self.sources.len() as u32,
                end: self.ends.len() as u32,
                target: self.targets.len() as u32,
                across: across.len() as u16,
                ..Row::default()
            };
            while left.peek().is_some_and(|Reverse((column, ..))| *column as usize / WIDEST == k) {
                let some: Vec<_> =
                    (0..WIDEST).map_while(|_| left.pop()).map(|Reverse((to, from, s))| ([from, to], s)).collect();
                self.add_loose(&some, spare);
                row.loose += 1;
            }
            for (target, sources) in across {
                self.targets.push(target);
                self.sources.push(sources);
            }
            let sorted = sorted(self, k, &|to| group_of[to] == g as u32 && to > k);
            let even = |target: Target, sources| {
                row.next |= target.bundle() == k + 1 && target.on() == 0;
                self.targets.push(target);
                self.sources.push(sources);
                row.even += 1;
            };
            sorted.part(k, even, |[from, to], source| left.push(Reverse((to, from, source))));
            self.rows.push(row);
        }
        for (n, [rows, columns]) in self.ends.iter().enumerate().skip(ends.start) {
            for lane in 0..WIDEST {
                let [row, column] = [rows[lane], columns[lane]].map(|place| place as usize / WIDEST);
                if ends.contains(&n) {
                    self.rows[row].apart = true;
                } else {
                    (self.rows[row].begins, self.rows[column].ends) = (true, true);
                }
            }
        }
        let fringe = self.add_fringe(bundles, swept, around);
        let furthest = self.groups[g]
            .bundles
            .clone()
            .flat_map(|k| {
                let row = &self.rows[k];
                let first = row.target as usize + usize::from(row.across);
                self.targets[first..first + usize::from(row.even)].iter().map(move |target| target.bundle() - k)
            })
            .max();
        let group = &mut self.groups[g];
        (group.slots, group.across, group.fringe) = (slots..self.sources.len(), ends, fringe);
        group.reach = (g < self.pieces).then(|| (furthest.unwrap_or(0) + 1).next_power_of_two());
    }

    fn add_loose(&mut self, some: &[([u32; 2], u32)], spare: [u32; 2]) {
        let at = |lane: usize| some.get(lane).copied().unwrap_or((spare, NONE));
        self.ends.push([0, 1].map(|end| std::array::from_fn(|lane| at(lane).0[end])));
        self.sources.push(std::array::from_fn(|lane| at(lane).1));
    }
}

/// A body in pieces.
struct Cut {
    pieces: Vec<Range<u32>>,
    /// Of every node: before which piece it lies, if it lies between two.
    between: Vec<u32>,
}

impl Cut {
    /// As many pieces as are worth it.
    fn new(free: &[bool], around: &Around) -> Self {
        let n = free.iter().filter(|free| **free).count();
        let mut pieces = 1 << (n / PIECE).clamp(1, MOST_PIECES).ilog2();
        loop {
            let out = Self::into(pieces, free, around);
            let between = out.between.iter().filter(|b| **b != NONE).count();
            if pieces == 1 || between as f64 <= BETWEEN * n as f64 {
                return out;
            }
            pieces /= 2;
        }
    }

    /// Pieces of as many nodes each; nodes of a piece that touch one of those before lie between.
    fn into(pieces: usize, free: &[bool], around: &Around) -> Self {
        let nodes: Vec<u32> = (0..free.len() as u32).filter(|&i| free[i as usize]).collect();
        // Where a line begins, if one does soon.
        let start = |piece: usize| {
            let near = if piece == 0 { 0 } else { nodes[piece * nodes.len() / pieces] };
            let begins = |i: &u32| *i > 0 && !around.touch(*i, i - 1);
            if piece == 0 { 0 } else { (near..free.len() as u32).take(LINE).find(begins).unwrap_or(near) }
        };
        let mut out = Self { pieces: Vec::new(), between: vec![NONE; free.len()] };
        for piece in 0..pieces {
            let end = if piece + 1 == pieces { free.len() as u32 } else { start(piece + 1) };
            let range = start(piece)..end;
            for i in range.clone().filter(|&i| free[i as usize]) {
                if around.of(i).iter().any(|[j, _]| *j < range.start && free[*j as usize]) {
                    out.between[i as usize] = piece as u32;
                }
            }
            out.pieces.push(range);
        }
        // What lies between two pieces is not to touch what lies between two others.
        for i in 0..free.len() {
            let own = out.between[i];
            let touches = |[j, _]: &[u32; 2]| out.between[*j as usize] != NONE && out.between[*j as usize] != own;
            if own != NONE && around.of(i as u32).iter().any(touches) {
                out.between.fill(0);
                break;
            }
        }
        out
    }
}

/// Nodes around every node, with the block between them as [`Pattern::sources`] has it.
struct Around {
    start: Vec<u32>,
    list: Vec<[u32; 2]>,
}

impl Around {
    fn new(n: usize, blocks: impl Fn(&mut dyn FnMut([u32; 2], u32))) -> Self {
        let each = |visit: &mut dyn FnMut(u32, u32, u32)| {
            blocks(&mut |[row, column], block| {
                visit(row, column, 2 * block);
                visit(column, row, 2 * block + 1);
            });
        };
        let mut start = vec![0u32; n + 1];
        each(&mut |row, _, _| start[row as usize + 1] += 1);
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let (mut list, mut next) = (vec![[0; 2]; start[n] as usize], start.clone());
        each(&mut |row, column, source| {
            list[next[row as usize] as usize] = [column, source];
            next[row as usize] += 1;
        });
        Self { start, list }
    }

    fn len(&self) -> usize {
        self.start.len() - 1
    }

    fn of(&self, node: u32) -> &[[u32; 2]] {
        match node {
            NONE => &[],
            node => &self.list[self.start[node as usize] as usize..self.start[node as usize + 1] as usize],
        }
    }

    fn touch(&self, node: u32, other: u32) -> bool {
        other != NONE && self.of(node).iter().any(|[near, _]| *near == other)
    }
}
