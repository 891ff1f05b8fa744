//! Which supernodes of a factor may be gone through side by side: branches of its tree.
//!
//! The tree is cut open from its roots on, the largest branch first, until branches are many and small enough to be dealt out
//! evenly; what was cut off on the way is the top.

use super::Supernode;
use std::collections::BinaryHeap;

/// Numbers of a factor to a piece at least, and pieces at most.
const PIECE: usize = 150_000;
const MOST: usize = 8;
/// The largest branch is cut open while it is more than this share of a piece. With less, pieces would be more even, and the top
/// half of the factor.
const EVEN: f64 = 1.0;
/// A top of a larger share of the factor is not worth it.
const MOST_TOP: f64 = 0.4;

/// In the place of the number of a piece: of none, but of the top.
const TOP: u32 = u32::MAX;

/// Pieces of a factor.
pub(super) struct Branches {
    /// Supernodes of every piece, ascending; the last is the top.
    pub pieces: Vec<Vec<u32>>,
    /// Of every column.
    piece_of: Vec<u32>,
}

impl Branches {
    /// Of a factor of so many columns.
    pub fn new(columns: usize, supernodes: &[Supernode]) -> Self {
        let mut owner = vec![0u32; columns];
        for (s, node) in supernodes.iter().enumerate() {
            owner[node.first..node.first + node.width].fill(s as u32);
        }
        let parents: Vec<Option<u32>> =
            supernodes.iter().map(|node| node.below.iter().min().map(|&row| owner[row])).collect();
        let costs: Vec<usize> = supernodes.iter().map(|node| node.width * (node.width + node.below.len())).collect();
        let total: usize = costs.iter().sum();
        let count = (total / PIECE).clamp(1, MOST);
        let of = cut(&costs, &parents, count).unwrap_or_else(|| vec![TOP; supernodes.len()]);
        let mut pieces = vec![Vec::new(); count + 1];
        for (s, &piece) in of.iter().enumerate() {
            pieces[(piece as usize).min(count)].push(s as u32);
        }
        let top = pieces.pop().unwrap_or_default();
        pieces.retain(|piece| !piece.is_empty());
        pieces.push(top);
        let mut piece_of = vec![0; columns];
        for (p, piece) in pieces.iter().enumerate() {
            for node in piece.iter().map(|&s| &supernodes[s as usize]) {
                piece_of[node.first..node.first + node.width].fill(p as u32);
            }
        }
        Self { pieces, piece_of }
    }

    /// The piece of a column.
    pub fn piece_of(&self, column: usize) -> usize {
        self.piece_of[column] as usize
    }
}

/// The piece of every supernode; none where that is not worth it.
fn cut(costs: &[usize], parents: &[Option<u32>], count: usize) -> Option<Vec<u32>> {
    if count < 2 {
        return None;
    }
    let total: usize = costs.iter().sum();
    // Whole branches; parents come after their children.
    let mut whole = costs.to_vec();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); costs.len()];
    let mut heap = BinaryHeap::new();
    for (s, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => {
                whole[*parent as usize] += whole[s];
                children[*parent as usize].push(s as u32);
            }
            None => heap.push((whole[s], s as u32)),
        }
    }
    let (mut of, mut top) = (vec![TOP; costs.len()], 0);
    while let Some(&(cost, branch)) = heap.peek() {
        if cost as f64 <= EVEN * (total - top) as f64 / count as f64 {
            break;
        }
        heap.pop();
        top += costs[branch as usize];
        if top as f64 > MOST_TOP * total as f64 {
            return None;
        }
        heap.extend(children[branch as usize].iter().map(|&child| (whole[child as usize], child)));
    }
    // The largest first, each to the piece that has least so far.
    let mut loads = vec![0; count];
    for (cost, branch) in heap.into_sorted_vec().into_iter().rev() {
        let least = (0..count).min_by_key(|&p| loads[p]).unwrap_or(0);
        loads[least] += cost;
        of[branch as usize] = least as u32;
    }
    // Those further up in a branch are of its piece.
    for s in (0..costs.len()).rev() {
        if let (TOP, Some(parent)) = (of[s], parents[s]) {
            of[s] = of[parent as usize];
        }
    }
    Some(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches branches torn apart, pieces that wait for each other, and such as are of very different size.
    #[test]
    fn pieces_are_whole_branches_of_about_a_size() {
        // A binary tree in which children come before their parents.
        let (levels, mut parents) = (9, Vec::new());
        let mut level: Vec<u32> = (0..1 << levels).collect();
        parents.resize(2 << levels, None);
        let mut next = level.len() as u32;
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| {
                    pair.iter().for_each(|&child| parents[child as usize] = Some(next));
                    next += 1;
                    next - 1
                })
                .collect();
        }
        parents.truncate(next as usize);
        let costs: Vec<usize> = (0..parents.len()).map(|s| 90 + s * 7 % 20).collect();
        let of = cut(&costs, &parents, 6).unwrap();
        let mut loads = [0; 6];
        for (s, &piece) in of.iter().enumerate() {
            match parents[s].map(|parent| of[parent as usize]) {
                Some(TOP) => {}
                Some(above) => assert_eq!(piece, above),
                None => assert_eq!(piece, TOP),
            }
            if piece != TOP {
                loads[piece as usize] += costs[s];
            }
        }
        let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
        assert!(2 * least > *most && 20 * loads.iter().sum::<usize>() > 19 * costs.iter().sum::<usize>(), "{loads:?}");
        // A chain has no branches.
        let chain: Vec<Option<u32>> = (0..100).map(|s| (s < 99).then_some(s + 1)).collect();
        assert!(cut(&[10; 100], &chain, 4).is_none());
    }
}
