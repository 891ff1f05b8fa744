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

use crate::lanes::sixteen::WIDEST;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
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
/// So much longer than need be may stretches be, to keep nodes of a bundle from touching.
const SPARE: usize = 8;
/// So many times as many iterations need sweeps by stretches.
const LONGER: f64 = 1.35;
/// Nodes with which orders are tried, how wide strips of lines about are, and how far behind a lane may be.
const TRIED: usize = 6_000;
const STRIPS: [usize; 2] = [48, 32];
const MOST_BEHIND: usize = 8;
/// What a sweep costs (ns): of a bundle, an even slot, a loose one, and a bundle at which any of those begin or end.
const COSTS: [f64; 4] = [10.0, 2.5, 12.0, 4.5];

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
        let group = &mut self.groups[g];
        (group.slots, group.across, group.fringe) = (slots..self.sources.len(), ends, fringe);
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

/// Nodes that are to be bundled, in order.
struct Order<'a> {
    /// Those that are not here keep their turn, so that lines stay in step.
    nodes: Vec<u32>,
    here: Vec<bool>,
    around: &'a Around,
    /// Where every node is in the order, if it is here.
    rank: Vec<u32>,
}

impl<'a> Order<'a> {
    fn new(nodes: Vec<u32>, here: impl Fn(u32) -> bool, around: &'a Around) -> Self {
        let here: Vec<bool> = nodes.iter().map(|&i| here(i)).collect();
        let mut rank = vec![NONE; around.len()];
        for (k, &node) in nodes.iter().enumerate().filter(|(k, _)| here[*k]) {
            rank[node as usize] = k as u32;
        }
        Self { nodes, here, around, rank }
    }

    /// Those around a node of the order that are here too, as places in the order.
    fn around(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        let list = self.around.of(self.nodes[k]).iter();
        list.map(|[other, _]| self.rank[*other as usize]).filter(|rank| *rank != NONE).map(|rank| rank as usize)
    }

    /// The bundles that are swept soonest.
    fn best(&self) -> Vec<[u32; WIDEST]> {
        let lines = self.lines();
        let mut best = (LONGER * self.cost(&self.at_once(TRIED)), None);
        for strips in self.strips(&lines) {
            let queue = Queue::new(self, &lines, strips);
            let widest = queue.chunks.iter().map(|chunk| chunk.line.len()).max().unwrap_or(1);
            let mut steps = vec![0, 2, 3, widest.div_ceil(WIDEST).min(MOST_BEHIND)];
            steps.sort_unstable();
            steps.dedup();
            for behind in steps {
                let cost = self.cost(&queue.bundles(TRIED, behind));
                if cost < best.0 {
                    best = (cost, Some((strips, behind)));
                }
            }
        }
        let bundles = match best.1 {
            Some((strips, behind)) => Queue::new(self, &lines, strips).bundles(usize::MAX, behind),
            None => self.at_once(usize::MAX),
        };
        let node = |&k: &u32| if k == NONE { NONE } else { self.nodes[k as usize] };
        bundles.iter().map(|own| std::array::from_fn(|lane| node(&own[lane]))).collect()
    }

    /// Parts of the order in which nodes touch the next; where that leaves too few, parts as long as neighbours are far. Those
    /// before the first node that is here are left out.
    fn lines(&self) -> Vec<Range<usize>> {
        let (mut lines, mut start) = (Vec::new(), 0);
        for k in 1..=self.nodes.len() {
            if k == self.nodes.len() || !self.around.touch(self.nodes[k], self.nodes[k - 1]) {
                lines.push(start..k);
                start = k;
            }
        }
        if lines.len() < WIDEST / 2 && self.nodes.len() > WIDEST * WIDEST {
            let mut far: BTreeMap<usize, usize> = BTreeMap::new();
            for k in (0..self.nodes.len()).filter(|&k| self.here[k]) {
                self.around(k).filter(|&other| other > k + 2).for_each(|other| *far.entry(other - k).or_default() += 1);
            }
            if let Some((&length, _)) = far.iter().max_by_key(|(length, count)| (**count, Reverse(**length))) {
                let cuts = (0..self.nodes.len()).step_by(length);
                lines = cuts.map(|k| k..(k + length).min(self.nodes.len())).collect();
            }
        }
        let empty = |line: &Range<usize>| !self.here[line.clone()].contains(&true);
        lines.drain(..lines.iter().take_while(|line| empty(line)).count());
        lines
    }

    /// Into how many strips lines may be cut: several where all are as long.
    fn strips(&self, lines: &[Range<usize>]) -> Vec<usize> {
        let length = lines.first().map_or(0, |line| line.len());
        let mut strips = vec![1];
        if lines.iter().all(|line| line.len() == length) {
            strips.extend(STRIPS.map(|wide| (length + wide / 2) / wide).into_iter().filter(|&strips| strips > 1));
            strips.dedup();
        }
        strips
    }

    /// About how long a sweep takes for a node (ns).
    fn cost(&self, bundles: &[[u32; WIDEST]]) -> f64 {
        let mut place = vec![NONE; self.nodes.len()];
        for (at, &k) in bundles.as_flattened().iter().enumerate().filter(|(_, k)| **k != NONE) {
            place[k as usize] = at as u32;
        }
        let (mut even, mut loose, mut nodes) = (0, 0, 0);
        let (mut begins, mut ends) = (0, vec![false; bundles.len()]);
        let mut targets: Vec<(Target, usize)> = Vec::new();
        for (b, own) in bundles.iter().enumerate() {
            targets.clear();
            for (lane, &k) in own.iter().enumerate().filter(|(_, k)| **k != NONE) {
                nodes += 1;
                for to in self.around(k as usize).map(|other| place[other]).filter(|to| *to != NONE) {
                    if to as usize / WIDEST > b {
                        let target = Target::new(lane, to);
                        match targets.iter_mut().find(|(t, _)| *t == target) {
                            Some((_, count)) => *count += 1,
                            None => targets.push((target, 1)),
                        }
                    }
                }
            }
            let few = targets.iter().filter(|(_, count)| *count < EVEN);
            begins += usize::from(few.clone().count() > 0);
            few.for_each(|(target, count)| {
                loose += count;
                ends[target.bundle()] = true;
            });
            even += targets.iter().filter(|(_, count)| *count >= EVEN).count();
        }
        let ends = ends.iter().filter(|end| **end).count();
        let cost = [bundles.len() as f64, even as f64, loose as f64 / WIDEST as f64, (begins + ends) as f64];
        cost.iter().zip(COSTS).map(|(count, cost)| count * cost).sum::<f64>() / f64::from(nodes.max(1))
    }

    /// Sixteen stretches that begin at once, of so many nodes, as places in the order.
    fn at_once(&self, most: usize) -> Vec<[u32; WIDEST]> {
        let all = (0..self.nodes.len() as u32).filter(|&k| self.here[k as usize]);
        let nodes: Vec<u32> = all.take(most).collect();
        let touch = |a: u32, b: u32| self.around.touch(self.nodes[a as usize], self.nodes[b as usize]);
        let least = nodes.len().div_ceil(WIDEST).max(1);
        // Of stretches about as long, those whose nodes touch least at equal places.
        let touching =
            |length: &usize| nodes.iter().zip(nodes.iter().skip(*length)).filter(|(a, b)| touch(**a, **b)).count();
        let length = (least..least + SPARE).min_by_key(touching).unwrap_or(least);
        let mut left: [&[u32]; WIDEST] = std::array::from_fn(|s| {
            let cut = |s: usize| (s * length).min(nodes.len());
            &nodes[cut(s)..cut(s + 1)]
        });
        let mut out = Vec::new();
        while left.iter().any(|s| !s.is_empty()) {
            let mut own = [NONE; WIDEST];
            for (lane, stretch) in left.iter_mut().enumerate() {
                let Some((&node, rest)) = stretch.split_first() else { continue };
                if own[..lane].iter().any(|&other| other != NONE && touch(node, other)) {
                    continue;
                }
                (own[lane], *stretch) = (node, rest);
            }
            out.push(own);
        }
        out
    }
}

/// A line, or a part of one.
struct Chunk {
    /// Places in the order.
    line: Range<usize>,
    /// Where it begins beside others: nodes that touch are about equally far along.
    origin: i64,
}

/// Chunks that lanes take in turn: the first strip of all lines, then the second, …
struct Queue<'a> {
    order: &'a Order<'a>,
    chunks: Vec<Chunk>,
    /// By place in the order: its chunk.
    chunk_of: Vec<u32>,
}

impl<'a> Queue<'a> {
    fn new(order: &'a Order<'a>, lines: &[Range<usize>], strips: usize) -> Self {
        let part = |line: &Range<usize>, s: usize| line.start + s * line.len() / strips;
        let cut = (0..strips).flat_map(|s| lines.iter().map(move |line| part(line, s)..part(line, s + 1)));
        let chunks: Vec<Chunk> = cut.map(|line| Chunk { line, origin: 0 }).collect();
        let mut chunk_of = vec![NONE; order.nodes.len()];
        for (c, chunk) in (0u32..).zip(&chunks) {
            chunk_of[chunk.line.clone()].fill(c);
        }
        let mut out = Self { order, chunks, chunk_of };
        let (mut origin, length) = (0, lines.first().map_or(0, |line| line.len()));
        if lines.iter().any(|line| line.len() != length) {
            for c in 0..out.chunks.len() {
                origin = out.origin(c).unwrap_or(origin);
                out.chunks[c].origin = origin;
            }
        }
        out
    }

    /// Where a chunk begins, by those before that it touches most.
    fn origin(&self, c: usize) -> Option<i64> {
        let mut shifts: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for k in self.chunks[c].line.clone().filter(|&k| self.order.here[k]) {
            for other in self.order.around(k) {
                let near = self.chunk_of[other] as usize;
                if near < c {
                    let [own, far] = [(c, k), (near, other)].map(|(c, k)| (k - self.chunks[c].line.start) as i64);
                    shifts.entry(near).or_default().push(far - own);
                }
            }
        }
        let (near, mut shifts) = shifts.into_iter().max_by_key(|(near, list)| (list.len(), *near))?;
        shifts.sort_unstable();
        Some(self.chunks[near].origin + shifts[shifts.len() / 2])
    }

    /// Bundles of so many nodes, as places in the order: lanes take chunks in turn, each so many bundles behind the one before at
    /// least, in step with it (nought: as soon as can be); nodes wait for those before them that they touch.
    fn bundles(&self, most: usize, behind: usize) -> Vec<[u32; WIDEST]> {
        let (order, mut sum) = (self.order, 0);
        let within = |chunk: &&Chunk| {
            sum += chunk.line.len();
            sum <= most
        };
        let chunks = self.chunks.iter().take_while(within).count().max(1).min(self.chunks.len());
        let mut out = Vec::new();
        let mut done = vec![u32::MAX; order.nodes.len()];
        // When chunks began, less their origins.
        let mut begun: Vec<Option<i64>> = vec![None; chunks];
        let mut heads: [(usize, usize); WIDEST] = std::array::from_fn(|lane| (lane, 0));
        for now in 0.. {
            let (mut own, mut left) = ([NONE; WIDEST], false);
            for (lane, (chunk, at)) in heads.iter_mut().enumerate().filter(|(_, (chunk, _))| *chunk < chunks) {
                left = true;
                let Chunk { line, origin } = &self.chunks[*chunk];
                let in_step =
                    |before: Option<i64>| before.is_some_and(|b| b + behind as i64 + origin <= i64::from(now));
                if behind > 0 && *at == 0 && *chunk > 0 && !in_step(begun[*chunk - 1]) {
                    continue;
                }
                let k = line.start + *at;
                if order.here[k] {
                    let earlier = |other: usize| (self.chunk_of[other], other) < (*chunk as u32, k);
                    if order.around(k).any(|other| earlier(other) && done[other] >= now) {
                        continue;
                    }
                    own[lane] = k as u32;
                }
                begun[*chunk].get_or_insert(i64::from(now) - origin);
                done[k] = now;
                *at += 1;
                if k + 1 == line.end {
                    (*chunk, *at) = (*chunk + WIDEST, 0);
                }
            }
            if !left {
                break;
            }
            if own != [NONE; WIDEST] {
                out.push(own);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A body without order: every node with a few near it, and a few far away.
    fn pairs(n: u32) -> Vec<[u32; 2]> {
        let near = |i: u32| [1, 2, 7 + i % 5, 31 + i % 3, 300 + (i * i) % 41].map(|off| [i, i + off]);
        (0..n).flat_map(near).filter(|[_, j]| *j < n).collect()
    }

    /// Catches blocks that are left out or taken twice, nodes of a bundle that touch, and loose slots done before their
    /// rows are or after their columns were needed.
    #[test]
    fn every_block_has_its_turn_once() {
        for n in [3, 200, 15_000] {
            let (pairs, free) = (pairs(n), (0..n).map(|i| i % 11 != 4).collect::<Vec<_>>());
            let pattern = Pattern::new(&free, |visit| {
                pairs.iter().enumerate().for_each(|(block, &ends)| visit(ends, block as u32));
            });
            assert!((pattern.groups.len() > 1) == (n > 10_000) && pattern.groups.len() == 2 * pattern.pieces - 1);
            let mut seen = vec![0; pairs.len()];
            let mut count = |source: u32, from: u32, to: u32| {
                let [a, b] = pairs[source as usize / 2];
                let ends = if source.is_multiple_of(2) { [a, b] } else { [b, a] };
                assert_eq!([from, to].map(|place| pattern.nodes[place as usize]), ends);
                seen[source as usize / 2] += 1;
            };
            for group in &pattern.groups {
                let mut slot = group.slots.start;
                for ends in &pattern.ends[group.across.clone()] {
                    for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                        count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                        assert!(!group.bundles.contains(&(ends[1][lane] as usize / WIDEST)));
                    }
                    slot += 1;
                }
                for k in group.bundles.clone() {
                    let row = &pattern.rows[k];
                    assert_eq!(row.slot as usize, slot);
                    for s in 0..usize::from(row.loose) {
                        let ends = pattern.ends[row.end as usize + s];
                        for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                            let [from, to] = [0, 1].map(|end: usize| ends[end][lane]);
                            count(pattern.sources[slot][lane], from, to);
                            assert!((from as usize) < WIDEST * k && to as usize >= WIDEST * k);
                        }
                        slot += 1;
                    }
                    let mut targets = row.target as usize;
                    for (s, across) in (0..row.across).map(|s| (s, true)).chain((0..row.even).map(|s| (s, false))) {
                        let target = pattern.targets[targets];
                        assert_eq!(group.bundles.contains(&target.bundle()), !across);
                        assert!(!across || pattern.between.contains(&k) != pattern.between.contains(&target.bundle()));
                        assert!(across || target.bundle() > k);
                        let next = target.bundle() == k + 1 && target.on() == 0;
                        assert_eq!(!across && s == 0 && row.next, !across && next);
                        for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                            count(pattern.sources[slot][lane], (WIDEST * k + lane) as u32, target.place(lane));
                        }
                        (slot, targets) = (slot + 1, targets + 1);
                    }
                }
                assert_eq!(slot + group.fringe.len(), group.slots.end);
                for ends in &pattern.ends[group.fringe.clone()] {
                    for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                        count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                        assert!(pattern.held.bundles.contains(&(ends[1][lane] as usize / WIDEST)));
                    }
                    slot += 1;
                }
            }
            for (slot, ends) in pattern.held.slots.clone().zip(&pattern.ends[pattern.held.fringe.clone()]) {
                for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                    count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                    assert!(pattern.held.bundles.contains(&(ends[0][lane] as usize / WIDEST)));
                }
            }
            let free = |ends: &[u32; 2]| ends.iter().all(|&i| free[i as usize]);
            for (seen, ends) in seen.iter().zip(&pairs) {
                let group = |i: u32| {
                    pattern
                        .groups
                        .iter()
                        .position(|g| g.bundles.contains(&(pattern.places[i as usize] as usize / WIDEST)))
                };
                let both = !free(ends) || group(ends[0]) != group(ends[1]);
                assert_eq!(*seen, if both { 2 } else { 1 });
            }
            let blocks: usize = seen.iter().sum();
            assert!(n < 1000 || 2 * blocks > WIDEST * pattern.sources.len(), "{blocks} {}", pattern.sources.len());
        }
    }
}
