//! Triangular sweeps over blocks in single precision, see `single`.

use super::BlockMatrix;
use super::four::Four;
use std::ops::Range;

/// Blocks that join two free nodes: the others have no part in an iteration.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    /// Where the blocks of a row start, those of its own chunk start and end, and all end.
    rows: Vec<[u32; 4]>,
    pub columns: Vec<u32>,
    /// Which block of the matrix each is.
    pub source: Vec<u32>,
}

impl Pattern {
    /// That of a matrix whose other nodes are held.
    pub fn fill(&mut self, matrix: &BlockMatrix, free: &[bool]) {
        let Self { rows, columns, source } = self;
        rows.clear();
        columns.clear();
        source.clear();
        columns.reserve(matrix.columns().len());
        source.reserve(matrix.columns().len());
        for row in 0..matrix.nodes() {
            let (all, inside) = (matrix.row_range(row), matrix.inside_range(row));
            let mut ends = [columns.len() as u32; 4];
            for (range, end) in [all.start..inside.start, inside.clone(), inside.end..all.end].into_iter().zip(1..) {
                for p in range.filter(|&p| free[row] && free[matrix.columns()[p] as usize]) {
                    columns.push(matrix.columns()[p]);
                    source.push(p as u32);
                }
                ends[end] = columns.len() as u32;
            }
            rows.push(ends);
        }
    }

    /// Blocks of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Range<usize> {
        self.rows[row][0] as usize..self.rows[row][3] as usize
    }

    /// Those with columns of the same chunk, right of the diagonal.
    #[inline(always)]
    fn inside(&self, row: usize) -> Range<usize> {
        self.rows[row][1] as usize..self.rows[row][2] as usize
    }
}

/// Σ a·b, in double precision every few nodes.
#[derive(Default)]
pub(super) struct Dot {
    part: Four,
    terms: u32,
    total: f64,
}

impl Dot {
    const FEW: u32 = 16;

    #[inline(always)]
    pub(super) fn add(&mut self, a: Four, b: Four) {
        self.part = self.part.plus(a.times(b));
        self.terms += 1;
        if self.terms == Self::FEW {
            self.close();
        }
    }

    #[inline(always)]
    fn close(&mut self) {
        let [x, y, z, _] = self.part.array();
        self.total += f64::from(x) + f64::from(y) + f64::from(z);
        (self.part, self.terms) = (Four::default(), 0);
    }

    pub(super) fn total(mut self) -> f64 {
        self.close();
        self.total
    }
}

/// What a row of a chunk becomes in a forward sweep, given what rows before take from it.
pub(super) trait Forward {
    fn value(&mut self, row: usize, sum: Four) -> Four;
}

/// The same in a backward sweep, given what rows behind take from it and what it was.
pub(super) trait Backward {
    fn value(&mut self, row: usize, pull: Four, old: Four) -> Four;
}

/// Sweeps over the rows of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a> {
    pattern: &'a Pattern,
    values: &'a [f32],
}

impl<'a> Sweep<'a> {
    /// Blocks and the values that belong to them.
    pub(super) fn new(pattern: &'a Pattern, values: &'a [f32]) -> Self {
        assert!(values.len() > 9 * pattern.columns.len());
        Self { pattern, values }
    }

    /// The three rows of a block; the fourth place holds the next number in memory.
    ///
    /// # Safety
    /// There must be such a block.
    #[inline(always)]
    unsafe fn rows(&self, p: usize) -> [Four; 3] {
        // SAFETY: ten numbers from 9 p on, by `new`.
        let v: &[f32; 10] = unsafe { &*self.values.as_ptr().add(9 * p).cast() };
        let (first, _) = v.split_first_chunk().expect("four of ten");
        let (second, _) = v[3..].split_first_chunk().expect("four of seven");
        let (third, _) = v[6..].split_first_chunk().expect("four of four");
        [Four::load(first), Four::load(second), Four::load(third)]
    }

    /// C⁻¹ of two chunks, a row of each in turn: rows of a chunk wait for one another. A row is asked for its value, and then
    /// taken from those that follow. `sums` are zero before and after.
    pub(super) fn forward(&self, rows: [Range<usize>; 2], sums: [&mut [Four]; 2], turns: &mut [impl Forward; 2]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.forward_avx2(rows, sums, turns) };
        }
        self.forward_by(rows, sums, turns);
    }

    /// C⁻ᵀ of two chunks: the last row first.
    pub(super) fn backward(&self, rows: [Range<usize>; 2], y: [&mut [Four]; 2], turns: &mut [impl Backward; 2]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.backward_avx2(rows, y, turns) };
        }
        self.backward_by(rows, y, turns);
    }

    /// The same instructions with three operands: fewer of them.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn forward_avx2(&self, rows: [Range<usize>; 2], sums: [&mut [Four]; 2], turns: &mut [impl Forward; 2]) {
        self.forward_by(rows, sums, turns);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn backward_avx2(&self, rows: [Range<usize>; 2], y: [&mut [Four]; 2], turns: &mut [impl Backward; 2]) {
        self.backward_by(rows, y, turns);
    }

    #[inline(always)]
    fn forward_by(&self, [a, b]: [Range<usize>; 2], [y, z]: [&mut [Four]; 2], [first, second]: &mut [impl Forward; 2]) {
        assert!(y.len() == a.len() && z.len() == b.len());
        for k in 0..a.len().max(b.len()) {
            if k < a.len() {
                let own = first.value(k, std::mem::take(&mut y[k]));
                self.forward_row(a.start + k, a.start, own, y);
            }
            if k < b.len() {
                let own = second.value(k, std::mem::take(&mut z[k]));
                self.forward_row(b.start + k, b.start, own, z);
            }
        }
    }

    #[inline(always)]
    fn backward_by(
        &self,
        [a, b]: [Range<usize>; 2],
        [y, z]: [&mut [Four]; 2],
        [first, second]: &mut [impl Backward; 2],
    ) {
        assert!(y.len() == a.len() && z.len() == b.len());
        for k in (0..a.len().max(b.len())).rev() {
            if k < a.len() {
                y[k] = first.value(k, self.backward_row(a.start + k, a.start, y), y[k]);
            }
            if k < b.len() {
                z[k] = second.value(k, self.backward_row(b.start + k, b.start, z), z[k]);
            }
        }
    }

    /// Takes a row that is finished from those that follow.
    #[inline(always)]
    fn forward_row(&self, row: usize, first: usize, own: Four, y: &mut [Four]) {
        let (columns, spread) = (&self.pattern.columns[..], own.spread());
        for p in self.pattern.inside(row) {
            // SAFETY: blocks of a row are there, and columns inside are those of the chunk.
            let ([a, b, c], to) = unsafe {
                (self.rows(p), y.get_unchecked_mut((*columns.get_unchecked(p) as usize).wrapping_sub(first)))
            };
            let pull = a.times(spread[0]).plus(b.times(spread[1])).plus(c.times(spread[2]));
            *to = to.minus(pull);
        }
    }

    /// What rows behind take from a row; the nearest comes last, because it is the one just found.
    #[inline(always)]
    fn backward_row(&self, row: usize, first: usize, y: &[Four]) -> Four {
        let columns = &self.pattern.columns[..];
        let mut sums = [Four::default(); 3];
        for p in self.pattern.inside(row).rev() {
            // SAFETY: as above.
            let (block, other) =
                unsafe { (self.rows(p), *y.get_unchecked((*columns.get_unchecked(p) as usize).wrapping_sub(first))) };
            for r in 0..3 {
                sums[r] = sums[r].plus(block[r].times(other));
            }
        }
        Four::across(sums)
    }

    /// R t of a row.
    #[inline(always)]
    pub(super) fn across(&self, row: usize, t: &[Four]) -> Four {
        let (range, inside) = (self.pattern.row(row), self.pattern.inside(row));
        let mut sums = [Four::default(); 3];
        if range == inside {
            return sums[0];
        }
        for p in (range.start..inside.start).chain(inside.end..range.end) {
            // SAFETY: blocks of a row are there.
            let (block, other) = (unsafe { self.rows(p) }, t[self.pattern.columns[p] as usize]);
            for r in 0..3 {
                sums[r] = sums[r].plus(block[r].times(other));
            }
        }
        Four::across(sums)
    }
}
