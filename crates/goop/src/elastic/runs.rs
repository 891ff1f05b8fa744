//! An order of the springs in which neighbours in the list are neighbours in the body.
//!
//! On a grid the springs (i, j), (i+1, j+1), (i+2, j+2) … join nodes that lie side by
//! side in memory. Kept together, four of them are one step whose positions
//! and forces are read and written as they lie, without gathering, and whose ends
//! need not be stored. Springs that have no such neighbours follow in runs of their own.
//!
//! Runs stay within tiles of nodes, so that what one direction has read is still in
//! the nearest cache for the next.

use super::springs::Pair;
use crate::lanes::WIDE;
use crate::parallel::Chunks;
use std::ops::Range;

/// Nodes of a tile.
const TILE: u32 = 256;

/// Springs that are handled alike.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The first spring.
    pub start: u32,
    /// How many; a multiple of four where their nodes follow one another.
    pub count: u32,
    /// Nodes of the first spring where the others follow; otherwise every spring has its own.
    pub first: Option<[u32; 2]>,
}

/// Which ends a chunk owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Both.
    Both,
    /// The first: the chunk also keeps the account.
    First,
    /// The second.
    Second,
}

/// The work of every chunk.
#[derive(Debug, Default)]
pub struct Runs {
    runs: Vec<Run>,
    tasks: Vec<Vec<(Range<usize>, Side)>>,
}

impl Runs {
    /// Brings the springs into order: those inside chunk 0, inside chunk 1, …, then those that cross.
    pub fn arrange(chunks: Chunks, pairs: &mut [Pair]) -> Self {
        pairs.iter_mut().for_each(|p| p.nodes.sort_unstable());
        let owners = |p: &Pair| p.nodes.map(|i| chunks.of(i as usize) as u32);
        let class = |p: &Pair| match owners(p) {
            [a, b] if a == b => (0, a, a),
            [a, b] => (1, a, b),
        };
        let tile = |p: &Pair| (class(p), p.nodes[0] / TILE);
        pairs.sort_unstable_by_key(|p| (tile(p), p.nodes[1] - p.nodes[0], p.nodes[0]));
        let mut out = Self { runs: Vec::new(), tasks: vec![Vec::new(); chunks.count()] };
        let mut alone: Vec<Pair> = Vec::new();
        let (mut read, mut write) = (0, 0);
        while read < pairs.len() {
            let (here, runs) = (pairs[read], out.runs.len());
            // One tile: whole runs move to the front, what is left over goes behind them.
            let end = read + pairs[read..].partition_point(|p| tile(p) <= tile(&here));
            while read < end {
                let length = following(&pairs[read..end]);
                let whole = length / WIDE * WIDE;
                alone.extend_from_slice(&pairs[read + whole..read + length]);
                if whole > 0 {
                    out.runs.push(Run { start: write as u32, count: whole as u32, first: Some(pairs[read].nodes) });
                    pairs.copy_within(read..read + whole, write);
                    write += whole;
                }
                read += length;
            }
            if !alone.is_empty() {
                out.runs.push(Run { start: write as u32, count: alone.len() as u32, first: None });
                pairs[write..read].copy_from_slice(&alone);
                write = read;
                alone.clear();
            }
            let [a, b] = owners(&here).map(|c| c as usize);
            let range = runs..out.runs.len();
            if a == b {
                out.give(a, range, Side::Both);
            } else {
                out.give(a, range.clone(), Side::First);
                out.give(b, range, Side::Second);
            }
        }
        out
    }

    fn give(&mut self, chunk: usize, runs: Range<usize>, side: Side) {
        match self.tasks[chunk].last_mut() {
            Some((last, same)) if *same == side && last.end == runs.start => last.end = runs.end,
            _ => self.tasks[chunk].push((runs, side)),
        }
    }

    /// What a chunk has to do.
    pub fn of(&self, chunk: usize) -> impl Iterator<Item = (&[Run], Side)> {
        self.tasks[chunk].iter().map(|(range, side)| (&self.runs[range.clone()], *side))
    }

    /// Springs whose ends are read one by one.
    pub fn gathered(&self) -> usize {
        self.runs.iter().filter(|r| r.first.is_none()).map(|r| r.count as usize).sum()
    }
}

/// How many springs at the front follow one another.
fn following(pairs: &[Pair]) -> usize {
    let [i, j] = pairs[0].nodes;
    (0u32..).zip(pairs).take_while(|(k, p)| p.nodes == [i + k, j + k]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches springs lost, repeated or described by the wrong nodes, and chunks that
    /// leave out a spring of theirs.
    #[test]
    fn every_end_of_every_spring_is_worked_on_once() {
        let n = 9000u32;
        let mut pairs: Vec<Pair> = Vec::new();
        for offset in [1, 7, 95, 3000] {
            for i in (0..n - offset).filter(|i| i % 13 != 5) {
                pairs.push(Pair { nodes: [i + offset, i], stiffness: 1.0, damping: 0.0, rest: 1.0 });
            }
        }
        let chunks = Chunks::new(n as usize);
        assert!(chunks.count() > 1);
        let mut before: Vec<_> = pairs.iter().map(|p| [p.nodes[1], p.nodes[0]]).collect();
        let runs = Runs::arrange(chunks, &mut pairs);
        let mut after: Vec<_> = pairs.iter().map(|p| p.nodes).collect();
        let mut seen = vec![[0; 2]; pairs.len()];
        for c in 0..chunks.count() {
            for (list, side) in runs.of(c) {
                for run in list {
                    for k in 0..run.count {
                        let s = (run.start + k) as usize;
                        let nodes = run.first.map_or(pairs[s].nodes, |first| first.map(|i| i + k));
                        assert_eq!(nodes, pairs[s].nodes);
                        for (end, not) in [(0, Side::Second), (1, Side::First)] {
                            if side != not {
                                assert_eq!(chunks.of(nodes[end] as usize), c);
                                seen[s][end] += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(seen.iter().all(|s| *s == [1, 1]));
        assert!(runs.gathered() < pairs.len() / 4);
        before.sort();
        after.sort();
        assert_eq!(before, after);
    }
}
