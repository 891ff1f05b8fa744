//! In which order nodes are bundled: sixteen that do not touch, so that few blocks need loose slots.

use super::{Around, EVEN, NONE, Target};
use crate::lanes::sixteen::WIDEST;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

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

/// Nodes that are to be bundled, in order.
pub(super) struct Order<'a> {
    /// Those that are not here keep their turn, so that lines stay in step.
    nodes: Vec<u32>,
    here: Vec<bool>,
    around: &'a Around,
    /// Where every node is in the order, if it is here.
    rank: Vec<u32>,
}

impl<'a> Order<'a> {
    pub(super) fn new(nodes: Vec<u32>, here: impl Fn(u32) -> bool, around: &'a Around) -> Self {
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
    pub(super) fn best(&self) -> Vec<[u32; WIDEST]> {
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
