//! Rows of a block matrix side by side: eight nodes that do not touch each other are swept together.
//!
//! A sweep goes from row to row because each waits for those before it. Free nodes are cut into stretches
//! of equal length, eight to a group, and the first nodes of a group's eight stretches make its first bundle, the second
//! ones its second, and so on: an order of the rows like any other, in which eight rows at a time wait only for earlier
//! bundles. A node that touches one that its bundle has already waits for the next.
//! ```text
//! nodes      0 1 2 … K-1 | K K+1 …  | 2K …         stretches
//! bundles    {0, K, 2K, …}  {1, K+1, 2K+1, …}  …   eight wide
//! ```
//! Blocks are kept eight wide too, entry by entry, in slots. Half of a group's blocks are kept: those from a bundle to a later one.
//! In an even slot all eight lead from one bundle to the same later one, each to its own place in it, as on a grid. Those
//! that are left are put into loose slots, any eight together whose rows are all done when the first of
//! their columns has its turn, so that slots are full however irregular a body is. Blocks across, which join groups, are
//! kept for both of them, in slots of their own.

use crate::lanes::WIDER;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Held nodes have no place, empty places no node, and spare blocks no source.
pub(super) const NONE: u32 = u32::MAX;

/// Free nodes to a group: about what a processor's own cache holds. Groups are swept side by side and know of each other only
/// by products, which costs iterations.
const GROUP: usize = 6_000;
/// Partial sums of groups fit on the stack.
pub(super) const MOST_GROUPS: usize = 64;

/// Blocks of a bundle that lead to the same other one are an even slot from this many on.
const EVEN: usize = 4;

/// Where the slots of a bundle are: first the loose ones that come before its turn in a forward sweep, then its even ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    /// The first of them.
    pub slot: u32,
    /// The first of their ends, and of their targets.
    pub end: u32,
    pub target: u32,
    /// How many of each.
    pub loose: u16,
    pub even: u16,
    /// Whether any loose slot begins at the bundle, and whether one ends there; one across counts as an end on both sides.
    pub begins: bool,
    pub ends: bool,
}

/// Bundles that are swept one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub bundles: Range<usize>,
    /// Slots of all its blocks: those across first.
    pub slots: Range<usize>,
    /// Ends of its slots across, which are as many slots.
    pub across: Range<usize>,
}

/// A slot whose blocks lead from anywhere to anywhere: places of their rows and of their columns.
pub(super) type Ends = [[u32; WIDER]; 2];

/// Which row, column and block is where.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    pub groups: Vec<Group>,
    /// Place of every node: eight times its bundle, and which of the eight.
    pub places: Vec<u32>,
    /// Node of every place.
    pub nodes: Vec<u32>,
    pub rows: Vec<Row>,
    /// Bundles that even slots lead to.
    pub targets: Vec<u32>,
    /// Ends of the others; where there is no block, places of the group.
    pub ends: Vec<Ends>,
    /// By slot: which block, twice, and one more where its mirror image is meant.
    pub sources: Vec<[u32; WIDER]>,
}

impl Pattern {
    /// For blocks between these nodes, each once, by number.
    pub fn new(free: &[bool], blocks: impl Fn(&mut dyn FnMut([u32; 2], u32))) -> Self {
        let around = Around::new(free, blocks);
        let mut out = Self { places: vec![NONE; free.len()], ..Self::default() };
        let free: Vec<u32> = (0..free.len() as u32).filter(|&i| free[i as usize]).collect();
        let groups = (free.len() / GROUP).clamp(1, MOST_GROUPS);
        let cut = |part: usize, of: usize| part * free.len() / of;
        for g in 0..groups {
            let stretch = |s: usize| &free[cut(WIDER * g + s, WIDER * groups)..cut(WIDER * g + s + 1, WIDER * groups)];
            out.bundle(std::array::from_fn(stretch), &around);
        }
        let group_of: Vec<u32> =
            (0..groups as u32).flat_map(|g| out.groups[g as usize].bundles.clone().map(move |_| g)).collect();
        for g in 0..groups {
            out.fill_group(g, &group_of, &around);
        }
        out
    }

    /// Bundles.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Makes bundles of a group's stretches.
    fn bundle(&mut self, mut left: [&[u32]; WIDER], around: &Around) {
        let first = self.nodes.len() / WIDER;
        while left.iter().any(|s| !s.is_empty()) {
            let mut own = [NONE; WIDER];
            for (lane, stretch) in left.iter_mut().enumerate() {
                let Some((&node, rest)) = stretch.split_first() else { continue };
                if own[..lane].iter().any(|&other| around.touch(node, other)) {
                    continue;
                }
                self.places[node as usize] = (self.nodes.len() + lane) as u32;
                (own[lane], *stretch) = (node, rest);
            }
            self.nodes.extend(own);
        }
        self.groups.push(Group { bundles: first..self.nodes.len() / WIDER, ..Group::default() });
    }

    /// Puts the blocks of a group into slots.
    fn fill_group(&mut self, g: usize, group_of: &[u32], around: &Around) {
        let bundles = self.groups[g].bundles.clone();
        let (slots, ends) = (self.sources.len(), self.ends.len());
        let spare = [(WIDER * bundles.start) as u32; 2];
        let mut across = Vec::new();
        for place in WIDER * bundles.start..WIDER * bundles.end {
            for &[other, source] in around.of(self.nodes[place]) {
                let to = self.places[other as usize];
                if group_of[to as usize / WIDER] != g as u32 {
                    across.push(([place as u32, to], source));
                }
            }
        }
        across.chunks(WIDER).for_each(|eight| self.add_loose(eight, spare));
        let ends = ends..self.ends.len();
        // What no even slot has, by the bundle before which it has to be done.
        let mut left: BinaryHeap<Reverse<(u32, u32, u32)>> = BinaryHeap::new();
        for k in bundles.clone() {
            let mut row = Row {
                slot: self.sources.len() as u32,
                end: self.ends.len() as u32,
                target: self.targets.len() as u32,
                ..Row::default()
            };
            while left.peek().is_some_and(|Reverse((column, ..))| *column as usize / WIDER == k) {
                let eight: Vec<_> =
                    (0..WIDER).map_while(|_| left.pop()).map(|Reverse((to, from, s))| ([from, to], s)).collect();
                self.add_loose(&eight, spare);
                row.loose += 1;
            }
            let mut even: Vec<(u32, [u32; WIDER])> = Vec::new();
            for place in WIDER * k..WIDER * (k + 1) {
                for &[other, source] in around.of(self.nodes[place]) {
                    let to = self.places[other as usize];
                    let target = to / WIDER as u32;
                    if group_of[target as usize] != g as u32 || target as usize <= k {
                        continue;
                    }
                    if to as usize % WIDER != place % WIDER {
                        left.push(Reverse((to, place as u32, source)));
                        continue;
                    }
                    let known = even.iter().position(|(t, _)| *t == target).unwrap_or_else(|| {
                        even.push((target, [NONE; WIDER]));
                        even.len() - 1
                    });
                    even[known].1[place % WIDER] = source;
                }
            }
            // The nearest comes last in a backward sweep, because it is the one just found.
            even.sort_unstable_by_key(|(target, _)| *target);
            for (target, sources) in even {
                let blocks = || (0..WIDER).filter(|&lane| sources[lane] != NONE);
                if blocks().count() >= EVEN {
                    self.targets.push(target);
                    self.sources.push(sources);
                    row.even += 1;
                } else {
                    let places = |lane: usize| (target * WIDER as u32 + lane as u32, (WIDER * k + lane) as u32);
                    left.extend(blocks().map(|lane| Reverse((places(lane).0, places(lane).1, sources[lane]))));
                }
            }
            self.rows.push(row);
        }
        for (n, [rows, columns]) in self.ends.iter().enumerate().skip(ends.start) {
            for lane in 0..WIDER {
                let [row, column] = [rows[lane], columns[lane]].map(|place| place as usize / WIDER);
                if ends.contains(&n) {
                    self.rows[row].ends = true;
                } else {
                    (self.rows[row].begins, self.rows[column].ends) = (true, true);
                }
            }
        }
        let group = &mut self.groups[g];
        (group.slots, group.across) = (slots..self.sources.len(), ends);
    }

    fn add_loose(&mut self, eight: &[([u32; 2], u32)], spare: [u32; 2]) {
        let at = |lane: usize| eight.get(lane).copied().unwrap_or((spare, NONE));
        self.ends.push([0, 1].map(|end| std::array::from_fn(|lane| at(lane).0[end])));
        self.sources.push(std::array::from_fn(|lane| at(lane).1));
    }
}

/// Free nodes around every free node, with the block between them as [`Pattern::sources`] has it.
struct Around {
    start: Vec<u32>,
    list: Vec<[u32; 2]>,
}

impl Around {
    fn new(free: &[bool], blocks: impl Fn(&mut dyn FnMut([u32; 2], u32))) -> Self {
        let n = free.len();
        let each = |visit: &mut dyn FnMut(u32, u32, u32)| {
            blocks(&mut |[row, column], block| {
                if free[row as usize] && free[column as usize] {
                    visit(row, column, 2 * block);
                    visit(column, row, 2 * block + 1);
                }
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
            assert!((pattern.groups.len() > 1) == (n > 10_000));
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
                    for lane in (0..WIDER).filter(|&l| pattern.sources[slot][l] != NONE) {
                        count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                        assert!(!group.bundles.contains(&(ends[1][lane] as usize / WIDER)));
                    }
                    slot += 1;
                }
                for k in group.bundles.clone() {
                    let row = &pattern.rows[k];
                    assert_eq!(row.slot as usize, slot);
                    for s in 0..usize::from(row.loose) {
                        let ends = pattern.ends[row.end as usize + s];
                        for lane in (0..WIDER).filter(|&l| pattern.sources[slot][l] != NONE) {
                            let [from, to] = [0, 1].map(|end: usize| ends[end][lane]);
                            count(pattern.sources[slot][lane], from, to);
                            assert!((from as usize) < WIDER * k && to as usize >= WIDER * k);
                        }
                        slot += 1;
                    }
                    for s in 0..usize::from(row.even) {
                        let target = pattern.targets[row.target as usize + s] as usize;
                        assert!(target > k && group.bundles.contains(&target));
                        for lane in (0..WIDER).filter(|&l| pattern.sources[slot][l] != NONE) {
                            let [from, to] = [k, target].map(|k| (WIDER * k + lane) as u32);
                            count(pattern.sources[slot][lane], from, to);
                        }
                        slot += 1;
                    }
                }
                assert_eq!(slot, group.slots.end);
            }
            let free = |ends: &[u32; 2]| ends.iter().all(|&i| free[i as usize]);
            for (seen, ends) in seen.iter().zip(&pairs) {
                let group = |i: u32| {
                    pattern
                        .groups
                        .iter()
                        .position(|g| g.bundles.contains(&(pattern.places[i as usize] as usize / WIDER)))
                };
                let kept = if free(ends) && group(ends[0]) != group(ends[1]) { 2 } else { usize::from(free(ends)) };
                assert_eq!(*seen, kept);
            }
            let blocks: usize = seen.iter().sum();
            assert!(n < 1000 || 5 * blocks > 4 * 8 * pattern.sources.len(), "{blocks} {}", pattern.sources.len());
        }
    }
}
