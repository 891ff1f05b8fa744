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
//! Supernodes wait for those below them in the tree only. A large factor is cut into pieces, whole branches, which are gone through
//! side by side, and the top that they hang on:
//! ```text
//! forth   every piece, with rows of its own for what it gives to the top
//! top     what pieces give, added piece by piece; forth and back; what pieces need of it
//! back    every piece
//! ```
//!
//! Written here because the library that makes the factor calls kernels for large dense matrices on every supernode, and
//! those of sheets have a few columns only.

mod branches;

use crate::crew;
use crate::lanes::{Lanes, WIDE};
use crate::parallel::Disjoint;
use branches::Branches;
use std::ops::Range;

/// Numbers of a tile's four rows by four columns.
const SQUARE: usize = WIDE * WIDE;

/// Right sides that are solved together.
pub(super) const TOGETHER: usize = 3;

/// A row of a piece that is not in the factor: what it gives to the top.
const NONE: u32 = u32::MAX;

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

/// Supernodes that are gone through one after another. They count rows from its first on.
#[derive(Clone, Debug, Default)]
struct Piece {
    nodes: Range<usize>,
    /// Its rows in [`Panels::sorted`]: its own, then those for what it gives to the top.
    rows: Range<usize>,
    /// Which rows of the top those are, in [`Panels::targets`].
    targets: Range<usize>,
    /// Its part of [`Panels::front`].
    front: Range<usize>,
}

/// A factor as panels.
#[derive(Debug, Default)]
pub(super) struct Panels {
    size: usize,
    nodes: Vec<Node>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Branches, and last the top.
    pieces: Vec<Piece>,
    targets: Vec<u32>,
    /// Where every row of the pieces comes from.
    order: Vec<u32>,
    /// Right sides in that order, [`TOGETHER`] or fewer by row.
    sorted: Vec<f64>,
    /// Rows of one panel, by right side, for every piece.
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
    pub fn take<'a>(&mut self, order: &[usize], supernodes: impl Iterator<Item = Supernode<'a>>) {
        let supernodes: Vec<Supernode> = supernodes.collect();
        let branches = Branches::new(order.len(), &supernodes);
        *self = Self { size: order.len(), ..Self::default() };
        // Where a row of the factor is in its piece; and in a piece those that it gives to.
        let (mut places, mut given) = (vec![NONE; order.len()], vec![NONE; order.len()]);
        let mut values = 0;
        for (p, which) in branches.pieces.iter().enumerate() {
            let (first_node, first_row, first_target) = (self.nodes.len(), self.order.len(), self.targets.len());
            for node in which.iter().map(|&s| &supernodes[s as usize]) {
                for column in node.first..node.first + node.width {
                    places[column] = (self.order.len() - first_row) as u32;
                    self.order.push(order[column] as u32);
                }
            }
            let (own, mut longest) = (self.order.len() - first_row, 0);
            for node in which.iter().map(|&s| &supernodes[s as usize]) {
                let rows = node.width + node.below.len();
                self.nodes.push(Node {
                    first: places[node.first],
                    width: node.width as u32,
                    below: self.rows.len() as u32,
                    count: node.below.len() as u32,
                    values,
                });
                for &row in node.below {
                    let outside = branches.piece_of(row) != p;
                    if outside && given[row] == NONE {
                        given[row] = (own + self.targets.len() - first_target) as u32;
                        self.targets.push(row as u32);
                    }
                    self.rows.push(if outside { given[row] } else { places[row] });
                }
                let fours = |tile: usize| (rows - tile).div_ceil(WIDE);
                values += (0..node.width).step_by(WIDE).map(|tile| SQUARE * fours(tile)).sum::<usize>();
                longest = longest.max(rows.next_multiple_of(WIDE));
            }
            let targets = first_target..self.targets.len();
            self.targets[targets.clone()].iter().for_each(|&row| given[row as usize] = NONE);
            self.order.resize(self.order.len() + targets.len(), NONE);
            let front = self.pieces.last().map_or(0, |piece: &Piece| piece.front.end);
            self.pieces.push(Piece {
                nodes: first_node..self.nodes.len(),
                rows: first_row..self.order.len(),
                targets,
                front: front..front + TOGETHER * longest,
            });
        }
        // Pieces give to the top alone, which is the last and gives to nothing.
        self.targets.iter_mut().for_each(|row| *row = places[*row as usize]);
        self.front = vec![0.0; self.pieces.last().map_or(0, |piece| piece.front.end)];
        self.values = vec![0.0; values];
        let mut column = vec![0.0; self.front.len() / TOGETHER];
        let listed = branches.pieces.iter().flatten().map(|&s| &supernodes[s as usize]);
        for (node, place) in listed.zip(&self.nodes) {
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
            + 4 * (self.rows.len() + self.order.len() + self.targets.len())
            + size_of::<Node>() * self.nodes.len()
    }

    /// Replaces so many right sides, one after the other, by their solutions.
    pub fn solve(&mut self, right: &mut [f64], columns: usize) {
        assert_eq!(right.len(), self.size * columns);
        for some in right.chunks_mut((TOGETHER * self.size).max(1)) {
            let columns = some.len() / self.size.max(1);
            solve_together(&[Some(self.lend(some, columns))]);
        }
    }

    /// A substitution into so few right sides that they are done together, to be done in parts.
    pub fn lend<'a>(&'a mut self, right: &'a mut [f64], columns: usize) -> Substitution<'a> {
        assert!(right.len() == self.size * columns && (1..=TOGETHER).contains(&columns));
        self.sorted.resize(self.sorted.len().max(self.order.len() * columns), 0.0);
        let Self { size, nodes, rows, values, pieces, targets, order, sorted, front } = self;
        let sorted = Disjoint::new(&mut sorted[..order.len() * columns]);
        let (front, right) = (Disjoint::new(front), Disjoint::new(right));
        Substitution { size: *size, columns, nodes, rows, values, pieces, targets, order, sorted, front, right }
    }
}

/// A substitution, to be done in parts beside others.
pub struct Substitution<'a> {
    size: usize,
    columns: usize,
    nodes: &'a [Node],
    rows: &'a [u32],
    values: &'a [f64],
    pieces: &'a [Piece],
    targets: &'a [u32],
    order: &'a [u32],
    sorted: Disjoint<'a, f64>,
    front: Disjoint<'a, f64>,
    right: Disjoint<'a, f64>,
}

/// Does substitutions side by side, their pieces too where there are threads for that.
pub fn solve_together(all: &[Option<Substitution>]) {
    let live = all.iter().flatten().count();
    if rayon::current_num_threads() <= live {
        // SAFETY: substitutions have nothing in common, here and below.
        return crew::each(all.len(), &|s| all[s].iter().for_each(|one| unsafe { one.whole() }));
    }
    let branches = |s: usize| all[s].as_ref().map_or(0, Substitution::branches);
    let total = (0..all.len()).map(branches).sum();
    let find = |mut k: usize| {
        let mut which = 0;
        while k >= branches(which) {
            k -= branches(which);
            which += 1;
        }
        (all[which].as_ref(), k)
    };
    let branch = |k: usize, way: Way| {
        if let (Some(one), k) = find(k) {
            // SAFETY: every piece is done once at a time, and no top beside one.
            unsafe { one.by_columns(&one.pieces[k], way) };
        }
    };
    crew::each(total, &|k| branch(k, Way::Forth));
    // SAFETY: as above.
    crew::each(all.len(), &|s| all[s].iter().for_each(|one| unsafe { one.top() }));
    // The piece that was the last is the first: it is still near.
    crew::each_from(total, true, &|k| branch(k, Way::Back));
}

/// What is done to a piece.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Forth,
    Top,
    Back,
}

impl Substitution<'_> {
    /// Pieces beside the top.
    fn branches(&self) -> usize {
        self.pieces.len() - 1
    }

    /// # Safety
    /// None of its pieces at the same time.
    unsafe fn whole(&self) {
        // SAFETY: one after another.
        unsafe {
            self.pieces[..self.branches()].iter().for_each(|piece| self.by_columns(piece, Way::Forth));
            self.top();
            self.pieces[..self.branches()].iter().rev().for_each(|piece| self.by_columns(piece, Way::Back));
        }
    }

    /// # Safety
    /// As above.
    unsafe fn top(&self) {
        // SAFETY: by the caller.
        unsafe { self.by_columns(&self.pieces[self.branches()], Way::Top) };
    }

    /// # Safety
    /// No piece twice at a time, and none beside the top, which is the last.
    unsafe fn by_columns(&self, piece: &Piece, way: Way) {
        // SAFETY: by the caller.
        unsafe {
            match self.columns {
                1 => self.by_lanes::<1>(piece, way),
                2 => self.by_lanes::<2>(piece, way),
                _ => self.by_lanes::<3>(piece, way),
            }
        }
    }

    unsafe fn by_lanes<const K: usize>(&self, piece: &Piece, way: Way) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has both; the rest is the caller's.
            return unsafe { self.substitute_avx2::<K>(piece, way) };
        }
        // SAFETY: as above.
        unsafe { self.substitute::<[f64; WIDE], K>(piece, way) };
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn substitute_avx2<const K: usize>(&self, piece: &Piece, way: Way) {
        // SAFETY: by the caller.
        unsafe { self.substitute::<crate::lanes::avx2::Register, K>(piece, way) };
    }

    #[inline(always)]
    unsafe fn substitute<L: Lanes, const K: usize>(&self, piece: &Piece, way: Way) {
        let of = |piece: &Piece| K * piece.rows.start..K * piece.rows.end;
        // SAFETY: pieces have rows and fronts of their own, and this one is not done twice at a time.
        let (x, front) = unsafe { (self.sorted.slice(of(piece)), self.front.slice(piece.front.clone())) };
        let (x, _) = x.as_chunks_mut::<K>();
        let order = &self.order[piece.rows.clone()];
        let own = order.len() - piece.targets.len();
        if way != Way::Back {
            for (x, &row) in x.iter_mut().zip(order) {
                // SAFETY: a row of the matrix is in one piece.
                *x = match row {
                    NONE => [0.0; K],
                    row => std::array::from_fn(|k| unsafe { *self.at(row, k) }),
                };
            }
        }
        // What other pieces give to the top, or get of it.
        let join = |x: &mut [[f64; K]], each: &mut dyn FnMut(&mut [f64; K], &mut [f64; K])| {
            for piece in &self.pieces[..self.branches()] {
                let end = K * piece.rows.end;
                // SAFETY: none of them is gone through beside the top.
                let outside = unsafe { self.sorted.slice(end - K * piece.targets.len()..end) };
                let (outside, _) = outside.as_chunks_mut::<K>();
                for (outside, &target) in outside.iter_mut().zip(&self.targets[piece.targets.clone()]) {
                    each(outside, &mut x[target as usize]);
                }
            }
        };
        let nodes = &self.nodes[piece.nodes.clone()];
        if way == Way::Top {
            join(x, &mut |given, x| (0..K).for_each(|k| x[k] += given[k]));
        }
        if way != Way::Back {
            for node in nodes {
                Panel::new(node, self.rows, self.values).forth::<L, K>(x, front);
            }
        }
        if way != Way::Forth {
            for node in nodes.iter().rev() {
                Panel::new(node, self.rows, self.values).back::<L, K>(x, front);
            }
            for (x, &row) in x[..own].iter().zip(order) {
                for k in 0..K {
                    // SAFETY: as above.
                    unsafe { *self.at(row, k) = x[k] };
                }
            }
        }
        if way == Way::Top {
            join(x, &mut |given, x| *given = *x);
        }
    }

    /// A number of a right side.
    ///
    /// # Safety
    /// No row may be in use twice at a time.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    unsafe fn at(&self, row: u32, column: usize) -> &mut f64 {
        let at = column * self.size + row as usize;
        // SAFETY: by the caller.
        unsafe { &mut self.right.slice(at..at + 1)[0] }
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
    use super::super::{LinearSolver, Settings, SparseCholesky, SparseMatrix};
    use super::{Panels, Supernode, TOGETHER, solve_together};

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

    /// A plate of springs on a ground, thirteen points to a row.
    fn plate(side: usize, stiff: f64) -> SparseMatrix {
        let links = (0..side * side).flat_map(move |i| {
            let (x, y) = (i % side, i / side);
            let near = [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (-1, 1)].into_iter().filter_map(move |(dx, dy)| {
                let x = x.checked_add_signed(dx).filter(|x| *x < side)?;
                (y + dy < side).then_some((i, x + (y + dy) * side))
            });
            near.flat_map(move |(a, b)| [(a, a, stiff + 0.01), (b, b, stiff), (a, b, -stiff)].into_iter())
        });
        SparseMatrix::from_entries(side * side, links)
    }

    fn waves(count: usize) -> Vec<f64> {
        (0..count).map(|i| (i as f64 * 0.37).sin()).collect()
    }

    /// Catches panels that are left behind by another factor, an order taken the wrong way round, and pieces that miss what others
    /// give or get.
    #[test]
    fn panels_and_the_library_agree_on_plates() {
        for (side, pieces) in [(60, 1..2), (130, 4..20)] {
            let (mut own, mut plain) = (SparseCholesky::default(), SparseCholesky::plain());
            for stiff in [1.0, 30.0] {
                let matrix = plate(side, stiff);
                assert!(own.factorise(&matrix) && plain.factorise(&matrix));
                assert!(pieces.contains(&own.panels().pieces.len()), "{}", own.panels().pieces.len());
                for columns in [1, 3, 4] {
                    let b = waves(columns * matrix.size);
                    let (mut x, mut y) = (b.clone(), b);
                    own.substitute(&mut x, columns);
                    plain.substitute(&mut y, columns);
                    let size = |v: &[f64]| v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                    let off: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
                    assert!(size(&off) < 1e-10 * size(&y).max(1.0), "{:e}", size(&off));
                    assert!(own.solve(&matrix, &mut x, columns).converged);
                    assert_ne!(x, y);
                }
            }
        }
    }

    /// Catches sums that depend on who was first, and substitutions done together that get into each other's way.
    #[test]
    fn one_thread_and_three_give_the_same_bytes() {
        let matrices = [plate(150, 1.0), plate(130, 7.0)];
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut solvers = [SparseCholesky::default(), SparseCholesky::default()];
                let mut sides = [waves(2 * matrices[0].size), waves(matrices[1].size)];
                for (solver, matrix) in solvers.iter_mut().zip(&matrices) {
                    solver.tune(&Settings { tolerance: f64::INFINITY, ..Settings::default() });
                    assert!(solver.factorise(matrix));
                }
                let mut alone = sides.clone();
                for ((solver, side), columns) in solvers.iter_mut().zip(&mut alone).zip([2, 1]) {
                    solver.substitute(side, columns);
                }
                let lent = solvers.iter_mut().zip(&mut sides).zip([2, 1]);
                let lent: Vec<_> = lent.map(|((solver, side), columns)| solver.lend(side, columns)).collect();
                assert!(lent.iter().all(Option::is_some));
                solve_together(&lent);
                drop(lent);
                assert!(sides == alone);
                sides
            })
        };
        assert!(run(1) == run(3));
    }
}
