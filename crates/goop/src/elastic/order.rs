//! An order of the springs in which neighbours in the list are neighbours in the body.
//!
//! Springs of one direction follow one another as their nodes do, within tiles of nodes, so that what one direction has
//! read is still in the nearest cache for the next, and springs that are worked on side by side rarely share a node.

use super::springs::Pair;
use crate::lanes::eight::EIGHT;
use crate::parallel::Chunks;
use std::ops::Range;

/// Nodes of a tile.
const TILE: u32 = 256;

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

/// Springs that are handled alike, as [`Packs`] count them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Which springs.
    pub springs: Range<usize>,
    /// The first pack of them.
    pub pack: usize,
    /// Which of their ends.
    pub side: Side,
}

/// Nodes of eight springs side by side; a last pack of fewer is filled up with springs from a node to itself.
pub type Pack = [[u32; EIGHT]; 2];

/// Brings the springs into order: those inside chunk 0, inside chunk 1, …, then those that cross. Returns the work of every
/// chunk, its own springs first, and packs.
pub fn arrange(chunks: Chunks, pairs: &mut [Pair]) -> (Vec<Vec<Task>>, Vec<Pack>) {
    pairs.iter_mut().for_each(|p| p.nodes.sort_unstable());
    let owners = |p: &Pair| p.nodes.map(|i| chunks.of(i as usize));
    let class = |p: &Pair| match owners(p) {
        [a, b] if a == b => (0, a, a),
        [a, b] => (1, a, b),
    };
    pairs.sort_unstable_by_key(|p| (class(p), p.nodes[0] / TILE, p.nodes[1] - p.nodes[0], p.nodes[0]));
    let (mut tasks, mut packs) = (vec![Vec::new(); chunks.count()], Vec::new());
    let mut start = 0;
    while start < pairs.len() {
        let end = start + pairs[start..].partition_point(|p| class(p) == class(&pairs[start]));
        let [a, b] = owners(&pairs[start]);
        let task = |side| Task { springs: start..end, pack: packs.len(), side };
        if a == b {
            tasks[a].push(task(Side::Both));
        } else {
            tasks[a].push(task(Side::First));
            tasks[b].push(task(Side::Second));
        }
        for eight in pairs[start..end].chunks(EIGHT) {
            let mut pack = [[eight[0].nodes[0]; EIGHT]; 2];
            for (l, pair) in eight.iter().enumerate() {
                (pack[0][l], pack[1][l]) = (pair.nodes[0], pair.nodes[1]);
            }
            packs.push(pack);
        }
        start = end;
    }
    (tasks, packs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches springs lost or repeated, and chunks that leave out a spring of theirs.
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
        let (tasks, packs) = arrange(chunks, &mut pairs);
        let mut after: Vec<_> = pairs.iter().map(|p| p.nodes).collect();
        let mut seen = vec![[0; 2]; pairs.len()];
        for (c, list) in tasks.iter().enumerate() {
            for Task { springs, pack, side } in list {
                for (k, s) in springs.clone().enumerate() {
                    let pack = &packs[pack + k / EIGHT];
                    assert_eq!([pack[0][k % EIGHT], pack[1][k % EIGHT]], pairs[s].nodes);
                    for end in 0..2 {
                        let wanted = *side != [Side::Second, Side::First][end];
                        assert_eq!(wanted, chunks.of(pairs[s].nodes[end] as usize) == c);
                        seen[s][end] += u32::from(wanted);
                    }
                }
            }
        }
        assert!(seen.iter().all(|both| *both == [1, 1]));
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }

    /// Catches an order in which eight springs in a row often share a node.
    #[test]
    fn springs_side_by_side_rarely_share_a_node() {
        let (n, side) = (1600u32, 40);
        let links = |i: u32| [1, side, side + 1].map(|off| [i, i + off]).into_iter().filter(|[_, j]| *j < n);
        let spring = |nodes| Pair { nodes, stiffness: 1.0, damping: 0.0, rest: 1.0 };
        let mut pairs: Vec<Pair> = (0..n).flat_map(links).map(spring).collect();
        arrange(Chunks::new(n as usize), &mut pairs);
        let shares =
            |eight: &&[Pair]| (1..eight.len()).any(|k| eight[..k].iter().any(|p| p.nodes[0] == eight[k].nodes[0]));
        assert!(pairs.chunks(8).filter(shares).count() < pairs.len() / 8 / 10);
    }
}
