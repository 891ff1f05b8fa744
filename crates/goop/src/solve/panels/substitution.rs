//! Going through the panels of a factor, piece by piece: see `panels`.

use super::{NONE, Node, Piece, SQUARE};
use crate::crew;
use crate::lanes::{Lanes, WIDE};
use crate::parallel::Disjoint;

/// A substitution, to be done in parts beside others.
pub struct Substitution<'a> {
    pub(super) size: usize,
    pub(super) columns: usize,
    pub(super) nodes: &'a [Node],
    pub(super) rows: &'a [u32],
    pub(super) values: &'a [f64],
    pub(super) pieces: &'a [Piece],
    pub(super) targets: &'a [u32],
    pub(super) order: &'a [u32],
    pub(super) sorted: Disjoint<'a, f64>,
    pub(super) front: Disjoint<'a, f64>,
    pub(super) right: Disjoint<'a, f64>,
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
