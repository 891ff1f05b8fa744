//! Substitution with a supernodal Cholesky factor, made for few right sides and many solves.
//!
//! Columns of L with the same rows below make a supernode: a triangle T on its own rows and a rectangle B below. Both
//! are kept as one panel
//! ```text
//! P = [T⁻¹; -B T⁻¹]
//! forth   [y; d] = P x       own rows become y, rows below gain d
//! back    x = Pᵀ [y; x below]
//! ```
//! so that a supernode is one dense product each way, without the chain of divisions of a triangle. T⁻¹ is as well
//! behaved as T: its condition is that of a diagonal block of a positive definite matrix at most.
//!
//! A panel is stored by tiles of four columns, rows from the tile's diagonal on, four rows by four columns at a time:
//! it is read in a row, every number once a way and used for all right sides. The order of all sums is fixed.
//!
//! Written here because the library that makes the factor calls kernels for large dense matrices on every supernode, and
//! those of sheets have a few columns only.

use crate::lanes::{Lanes, WIDE};

/// Numbers of a tile's four rows by four columns.
const SQUARE: usize = WIDE * WIDE;

/// Right sides that are solved together.
const TOGETHER: usize = 3;

/// One supernode.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its first column, and how many it has.
    first: u32,
    width: u32,
    /// Rows below, in [`Panels::rows`].
    below: u32,
    count: u32,
    /// Its panel in [`Panels::values`].
    values: usize,
}

/// A factor as panels.
#[derive(Debug, Default)]
pub(super) struct Panels {
    nodes: Vec<Node>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Where every row of the factor comes from.
    order: Vec<u32>,
    /// Right sides in the factor's order, [`TOGETHER`] or fewer by row.
    sorted: Vec<f64>,
    /// Rows of one panel, by right side.
    front: Vec<f64>,
}

/// A supernode as the factor has it: columns `first..first + width`, the rows below, and L of both by columns.
pub(super) struct Supernode<'a> {
    pub first: usize,
    pub width: usize,
    pub below: &'a [usize],
    pub values: &'a [f64],
}

impl Panels {
    /// Takes a factor over; `order` says for every row of it which row of the matrix it is.
    pub fn take<'a>(&mut self, order: &[usize], supernodes: impl Iterator<Item = Supernode<'a>> + Clone) {
        self.order.clear();
        self.order.extend(order.iter().map(|&row| row as u32));
        self.nodes.clear();
        self.rows.clear();
        let (mut length, mut longest) = (0, 0);
        for node in supernodes.clone() {
            let rows = node.width + node.below.len();
            self.nodes.push(Node {
                first: node.first as u32,
                width: node.width as u32,
                below: self.rows.len() as u32,
                count: node.below.len() as u32,
                values: length,
            });
            self.rows.extend(node.below.iter().map(|&row| row as u32));
            length += (0..node.width).step_by(WIDE).map(|tile| SQUARE * (rows - tile).div_ceil(WIDE)).sum::<usize>();
            longest = longest.max(rows.next_multiple_of(WIDE));
        }
        self.values.clear();
        self.values.resize(length, 0.0);
        self.front.clear();
        self.front.resize(TOGETHER * longest, 0.0);
        let mut column = vec![0.0; longest];
        for (node, place) in supernodes.zip(&self.nodes) {
            let (rows, mut at) = (node.width + node.below.len(), place.values);
            let l = |j: usize| &node.values[j * rows..(j + 1) * rows];
            for j in 0..node.width {
                // T⁻¹ by columns: T u = e_j; and B u goes along.
                column[..rows].fill(0.0);
                column[j] = 1.0;
                for k in j..node.width {
                    let u = column[k] / l(k)[k];
                    column[k] = u;
                    for (to, l) in column[k + 1..rows].iter_mut().zip(&l(k)[k + 1..]) {
                        *to -= u * l;
                    }
                }
                let (tile, lane) = (j / WIDE * WIDE, j % WIDE);
                for (k, &value) in column[tile..rows].iter().enumerate() {
                    self.values[at + k / WIDE * SQUARE + lane * WIDE + k % WIDE] = value;
                }
                if lane == WIDE - 1 {
                    at += SQUARE * (rows - tile).div_ceil(WIDE);
                }
            }
        }
    }

    /// No factor.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether there is a factor.
    pub fn is_ready(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Memory held (bytes).
    pub fn bytes(&self) -> usize {
        8 * (self.values.len() + self.sorted.len() + self.front.len())
            + 4 * (self.rows.len() + self.order.len())
            + size_of::<Node>() * self.nodes.len()
    }

    /// Replaces so many right sides, one after the other, by their solutions.
    pub fn solve(&mut self, right: &mut [f64], columns: usize) {
        let n = self.order.len();
        assert_eq!(right.len(), n * columns);
        self.sorted.resize(n * TOGETHER.min(columns.max(1)), 0.0);
        for some in right.chunks_mut((TOGETHER * n).max(1)) {
            match some.len() / n.max(1) {
                1 => self.solve_some::<1>(some),
                2 => self.solve_some::<2>(some),
                _ => self.solve_some::<3>(some),
            }
        }
    }

    fn solve_some<const K: usize>(&mut self, right: &mut [f64]) {
        let n = self.order.len();
        let (sorted, _) = self.sorted.as_chunks_mut::<K>();
        for (to, &row) in sorted.iter_mut().zip(&self.order) {
            *to = std::array::from_fn(|k| right[k * n + row as usize]);
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has both.
            unsafe { self.substitute_avx2::<K>() };
        } else {
            self.substitute::<[f64; WIDE], K>();
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.substitute::<[f64; WIDE], K>();
        let (sorted, _) = self.sorted.as_chunks::<K>();
        for (from, &row) in sorted.iter().zip(&self.order) {
            (0..K).for_each(|k| right[k * n + row as usize] = from[k]);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn substitute_avx2<const K: usize>(&mut self) {
        self.substitute::<crate::lanes::avx2::Register, K>();
    }

    #[inline(always)]
    fn substitute<L: Lanes, const K: usize>(&mut self) {
        let Self { nodes, rows, values, sorted, front, .. } = self;
        let (x, _) = sorted.as_chunks_mut::<K>();
        for node in &*nodes {
            let panel = Panel::new(node, rows, values);
            panel.forth::<L, K>(x, front);
        }
        for node in nodes.iter().rev() {
            let panel = Panel::new(node, rows, values);
            panel.back::<L, K>(x, front);
        }
    }
}

/// One supernode with its numbers.
struct Panel<'a> {
    first: usize,
    width: usize,
    below: &'a [u32],
    squares: &'a [[f64; SQUARE]],
}

impl<'a> Panel<'a> {
    #[inline(always)]
    fn new(node: &Node, rows: &'a [u32], values: &'a [f64]) -> Self {
        let below = &rows[node.below as usize..(node.below + node.count) as usize];
        let (squares, _) = values[node.values..].as_chunks::<SQUARE>();
        Self { first: node.first as usize, width: node.width as usize, below, squares }
    }

    /// Rows by fours.
    #[inline(always)]
    fn fours(&self) -> usize {
        (self.width + self.below.len()).div_ceil(WIDE)
    }

    /// [y; d] = P x
    #[inline(always)]
    fn forth<L: Lanes, const K: usize>(&self, x: &mut [[f64; K]], front: &mut [f64]) {
        let fours = self.fours();
        let (front, _) = front.as_chunks_mut::<WIDE>();
        let front = &mut front[..K * fours];
        front.fill([0.0; WIDE]);
        let own = &mut x[self.first..self.first + self.width];
        let mut squares = self.squares;
        for (tile, own) in own.chunks(WIDE).enumerate() {
            let mut factors = [[L::splat(0.0); K]; WIDE];
            for (factors, own) in factors.iter_mut().zip(own) {
                for k in 0..K {
                    factors[k] = L::splat(own[k]);
                }
            }
            let (these, others) = squares.split_at(fours - tile);
            squares = others;
            for (square, row) in these.iter().zip(tile..fours) {
                let [a, b, c, d] = columns::<L>(square);
                for k in 0..K {
                    let to = &mut front[K * row + k];
                    let sum = a.fused(factors[0][k], L::load(to));
                    let sum = b.fused(factors[1][k], sum);
                    c.fused(factors[2][k], d.fused(factors[3][k], sum)).store(to);
                }
            }
        }
        let at = |row: usize, k: usize| front[K * (row / WIDE) + k][row % WIDE];
        for (row, own) in own.iter_mut().enumerate() {
            *own = std::array::from_fn(|k| at(row, k));
        }
        for (row, &to) in self.below.iter().enumerate() {
            let to = &mut x[to as usize];
            for k in 0..K {
                to[k] += at(self.width + row, k);
            }
        }
    }

    /// x = Pᵀ [y; x below]
    #[inline(always)]
    fn back<L: Lanes, const K: usize>(&self, x: &mut [[f64; K]], front: &mut [f64]) {
        let fours = self.fours();
        let (front, _) = front.as_chunks_mut::<WIDE>();
        let front = &mut front[..K * fours];
        let own = self.first..self.first + self.width;
        for k in 0..K {
            front[K * (fours - 1) + k] = [0.0; WIDE];
        }
        let rows = own.clone().chain(self.below.iter().map(|&row| row as usize));
        for (row, from) in rows.enumerate() {
            for k in 0..K {
                front[K * (row / WIDE) + k][row % WIDE] = x[from][k];
            }
        }
        let mut squares = self.squares;
        for (tile, own) in x[own].chunks_mut(WIDE).enumerate() {
            let mut sums = [[L::splat(0.0); K]; WIDE];
            let (these, others) = squares.split_at(fours - tile);
            squares = others;
            for (square, row) in these.iter().zip(tile..fours) {
                let columns = columns::<L>(square);
                for k in 0..K {
                    let from = L::load(&front[K * row + k]);
                    for c in 0..WIDE {
                        sums[c][k] = columns[c].fused(from, sums[c][k]);
                    }
                }
            }
            for (own, sums) in own.iter_mut().zip(sums) {
                for k in 0..K {
                    let mut four = [0.0; WIDE];
                    sums[k].store(&mut four);
                    own[k] = (four[0] + four[1]) + (four[2] + four[3]);
                }
            }
        }
    }
}

#[inline(always)]
fn columns<L: Lanes>(square: &[f64; SQUARE]) -> [L; WIDE] {
    let (columns, _) = square.as_chunks::<WIDE>();
    [L::load(&columns[0]), L::load(&columns[1]), L::load(&columns[2]), L::load(&columns[3])]
}

#[cfg(test)]
mod tests {
    use super::super::{LinearSolver, SparseCholesky, SparseMatrix};
    use super::{Panels, Supernode, TOGETHER};

    /// Catches a tile that is cut off, a row below that is added twice or not at all, and right sides that mix: widths
    /// and rows below that are no multiple of four, columns without any rows below, an order that is not that of the
    /// matrix.
    #[test]
    fn panels_of_every_shape_solve_what_they_were_made_from() {
        // L with supernodes of 1, 6, 5, 4 and 3 columns in 19 rows.
        let size = 19;
        let begins = [0usize, 1, 7, 12, 16, size];
        let below: [&[usize]; 5] = [&[3, 9, 18], &[7, 8, 12, 13, 17], &[], &[16, 17, 18], &[]];
        let mut seed = 7u64;
        let mut number = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        };
        let mut l = vec![vec![0.0; size]; size];
        let mut stored: Vec<Vec<f64>> = Vec::new();
        for (s, below) in below.iter().enumerate() {
            let own: Vec<usize> = (begins[s]..begins[s + 1]).collect();
            let rows: Vec<usize> = own.iter().chain(*below).copied().collect();
            let mut values = Vec::new();
            for &j in &own {
                for &i in &rows {
                    // Above the diagonal there may be anything.
                    values.push(if i == j { 1.5 + number() } else { number() });
                    if i >= j {
                        l[i][j] = values[values.len() - 1];
                    }
                }
            }
            stored.push(values);
        }
        let order: Vec<usize> = (0..size).map(|i| (i * 7 + 3) % size).collect();
        let mut panels = Panels::default();
        assert!(!panels.is_ready());
        panels.take(
            &order,
            (0..below.len()).map(|s| Supernode {
                first: begins[s],
                width: begins[s + 1] - begins[s],
                below: below[s],
                values: &stored[s],
            }),
        );
        assert!(panels.is_ready() && panels.bytes() > 8 * 60);
        for columns in 1..=2 * TOGETHER + 1 {
            let x: Vec<f64> = (0..size * columns).map(|_| number()).collect();
            let mut b = vec![0.0; x.len()];
            for (x, b) in x.chunks(size).zip(b.chunks_mut(size)) {
                for i in 0..size {
                    for j in 0..size {
                        let a: f64 = (0..size).map(|k| l[i][k] * l[j][k]).sum();
                        b[order[i]] += a * x[order[j]];
                    }
                }
            }
            panels.solve(&mut b, columns);
            let worst = x.iter().zip(&b).map(|(x, b)| (x - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-11, "{columns} columns: {worst:e}");
        }
    }

    /// Catches panels that are left behind by another factor, and an order taken the wrong way round.
    #[test]
    fn panels_and_the_library_agree_on_a_sheet() {
        let side = 60;
        let sheet = |stiff: f64| {
            let links = (0..side * side).flat_map(move |i| {
                let right = (i % side + 1 < side).then_some((i, i + 1));
                let up = (i + side < side * side).then_some((i, i + side));
                let far = (i + 2 * side < side * side).then_some((i, i + 2 * side));
                [right, up, far]
                    .into_iter()
                    .flatten()
                    .flat_map(move |(a, b)| [(a, a, stiff + 0.01), (b, b, stiff), (a, b, -stiff)].into_iter())
            });
            SparseMatrix::from_entries(side * side, links)
        };
        let (mut own, mut plain) = (SparseCholesky::default(), SparseCholesky::plain());
        for stiff in [1.0, 30.0] {
            let matrix = sheet(stiff);
            assert!(own.factorise(&matrix) && plain.factorise(&matrix));
            let b: Vec<f64> = (0..3 * matrix.size).map(|i| (i as f64 * 0.37).sin()).collect();
            let (mut x, mut y) = (b.clone(), b);
            own.substitute(&mut x, 3);
            plain.substitute(&mut y, 3);
            let (worst, largest) = (x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max), y[0].abs());
            assert!(worst < 1e-10 * largest.max(1.0), "{worst:e}");
            assert!(own.solve(&matrix, &mut x, 3).converged);
            assert_ne!(x, y);
        }
    }
}
