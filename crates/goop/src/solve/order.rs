//! Orders of the unknowns that keep the entries of a matrix near its diagonal.
//!
//! Reverse Cuthill–McKee: unknowns by their distance from one at the rim, neighbours of lesser
//! degree first, and all that backwards, which never widens the profile and mostly narrows it
//! (George 1971). The start is found by walking to the farthest unknown until the way grows no
//! longer (George and Liu 1979).

use super::SparseMatrix;
use std::ops::Range;

/// Who touches whom.
struct Graph {
    start: Vec<usize>,
    others: Vec<usize>,
}

impl Graph {
    fn new(matrix: &SparseMatrix) -> Self {
        let n = matrix.size;
        let mut start = vec![0; n + 1];
        let each = |visit: &mut dyn FnMut(usize, usize)| {
            for j in 0..n {
                for &i in &matrix.rows[matrix.column(j)][1..] {
                    visit(i, j);
                    visit(j, i);
                }
            }
        };
        each(&mut |a, _| start[a + 1] += 1);
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let (mut next, mut others) = (start.clone(), vec![0; start[n]]);
        each(&mut |a, b| {
            others[next[a]] = b;
            next[a] += 1;
        });
        Self { start, others }
    }

    fn of(&self, node: usize) -> &[usize] {
        &self.others[self.start[node]..self.start[node + 1]]
    }

    fn degree(&self, node: usize) -> usize {
        self.start[node + 1] - self.start[node]
    }

    /// Appends all that hang together with `from`, level by level; returns the places of the
    /// last level and the number of levels.
    fn walk(&self, from: usize, seen: &mut [usize], mark: usize, order: &mut Vec<usize>) -> (Range<usize>, usize) {
        let mut level = order.len()..order.len() + 1;
        order.push(from);
        seen[from] = mark;
        let mut levels = 1;
        loop {
            for k in level.clone() {
                let first = order.len();
                for &other in self.of(order[k]) {
                    if seen[other] != mark {
                        seen[other] = mark;
                        order.push(other);
                    }
                }
                order[first..].sort_by_key(|&node| (self.degree(node), node));
            }
            if order.len() == level.end {
                return (level, levels);
            }
            level = level.end..order.len();
            levels += 1;
        }
    }
}

/// Reverse Cuthill–McKee: the old number of every new one.
pub fn reverse_cuthill_mckee(matrix: &SparseMatrix) -> Vec<usize> {
    let n = matrix.size;
    let graph = Graph::new(matrix);
    let (mut order, mut seen, mut mark) = (Vec::with_capacity(n), vec![0; n], 0);
    for first in 0..n {
        if seen[first] != 0 {
            continue;
        }
        // Walks always cover the whole component, so marks of walks before do not matter.
        let (begin, mut from, mut deepest) = (order.len(), first, 0);
        loop {
            mark += 1;
            order.truncate(begin);
            let (last, levels) = graph.walk(from, &mut seen, mark, &mut order);
            if levels <= deepest {
                break;
            }
            deepest = levels;
            if let Some(&farthest) = order[last].iter().min_by_key(|&&node| (graph.degree(node), node)) {
                from = farthest;
            }
        }
    }
    order.reverse();
    order
}

/// The new number of every old one.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    place
}

/// Column of the first entry of every row of the matrix in the order of `place`.
pub fn first_columns(matrix: &SparseMatrix, place: &[usize]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..matrix.size).collect();
    for j in 0..matrix.size {
        for &i in &matrix.rows[matrix.column(j)] {
            let (row, column) = (place[i].max(place[j]), place[i].min(place[j]));
            first[row] = first[row].min(column);
        }
    }
    first
}

/// Entries of the profile: every row from its first column to the diagonal.
pub fn profile(first: &[usize]) -> usize {
    first.iter().enumerate().map(|(row, first)| row - first + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches unknowns lost or repeated, also where the matrix falls apart, and an order that
    /// does not help: a chain numbered at random has the least profile there is when put in order.
    #[test]
    fn a_chain_numbered_at_random_is_put_in_order() {
        let n = 101;
        let shuffled = |k: usize| (k * 37) % n;
        let links: Vec<_> = (1..n).filter(|&k| k != 60).map(|k| (shuffled(k - 1), shuffled(k), -1.0)).collect();
        let matrix = SparseMatrix::from_entries(n, links.iter().copied());
        let order = reverse_cuthill_mckee(&matrix);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..n));
        let before: Vec<usize> = (0..n).collect();
        assert!(profile(&first_columns(&matrix, &before)) > 1000);
        assert_eq!(profile(&first_columns(&matrix, &inverse(&order))), n + links.len());
    }
}
