//! A symmetric sparse matrix of 3×3 blocks, stored by rows; structure built once,
//! values refilled every step.
//!
//! Half of it is kept: of two blocks that mirror one another the one right of the
//! diagonal, which a product uses twice,
//! ```text
//! y_i += B x_j      y_j += Bᵀ x_i
//! ```
//! Rows are worked on in chunks side by side. A chunk writes its own rows only, so
//! blocks that join two chunks are kept on both sides: a few in a hundred.
//!
//! The diagonal is an array of its own, because filling the matrix reaches for the
//! diagonal of rows far ahead. Blocks are row-major: entry (r, c) of block p is
//! `values[9 p + 3 r + c]`. A product reads every block once: 76 bytes with its column number, or 40 where
//! blocks off the diagonal are kept in single precision, for directions of a step that is solved loosely. Where
//! all of them are links, -(a I + e eᵀ), as springs between two nodes make them, they are kept in the order in which they are swept,
//! see `slots`.

use super::bundle::Pattern;
use super::slots::{LinkSlots, unlinked};
use super::sweep::Links;
use crate::lanes::{Lanes, WIDE};
use crate::parallel::{Chunks, Disjoint};
use glam::{DMat3, DVec3};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers between asking for one and using it: one stream of memory is more than the
/// processor foresees well by itself.
const AHEAD: usize = 512;

/// Block-sparse symmetric matrix with a full diagonal.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    row_start: Vec<u32>,
    /// Ascending in every row: of other chunks to the left, of the same chunk to the
    /// right, of other chunks to the right.
    columns: Vec<u32>,
    /// Where the columns of the same chunk start and end.
    inside: Vec<[u32; 2]>,
    /// Nine per block, and one spare so that a row of three may be read four wide; empty until there are any.
    values: Vec<f64>,
    /// The same for diagonal blocks.
    diagonal: Vec<f64>,
    /// In the place of `values` where single precision is enough; empty until then.
    singles: Vec<f32>,
    /// In the place of all three where blocks are links; none until then.
    slots: Option<Box<LinkSlots>>,
    /// The order in which rows are swept, once that is known.
    pattern: Option<Arc<Pattern>>,
    chunks: Chunks,
    /// Which of the three has the blocks off the diagonal, and which may have them.
    form: Form,
    singly: bool,
    linkable: bool,
    /// Another one after every change of a value, and of any values but single diagonal blocks.
    version: u64,
    outside: u64,
    /// Nodes of those, since `outside` changed.
    touched: Vec<u32>,
}

/// How blocks off the diagonal are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// They are all zero.
    #[default]
    Nothing,
    /// In double precision.
    Double,
    /// In single precision.
    Single,
    /// As links.
    Links,
}

/// A number that no matrix had before.
fn next_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl BlockMatrix {
    /// Structure in which the nodes of every stencil are joined to one another.
    pub fn new(nodes: usize, stencils: impl Fn(&mut dyn FnMut(&[u32]))) -> Self {
        let chunks = Chunks::new(nodes);
        let keeps = |row: u32, column: u32| row < column || chunks.of(row as usize) != chunks.of(column as usize);
        let each_kept = |visit: &mut dyn FnMut(u32, u32)| {
            stencils(&mut |s| {
                for &a in s {
                    for &b in s {
                        if a != b && keeps(a, b) {
                            visit(a, b);
                        }
                    }
                }
            });
        };
        let mut count = vec![0u32; nodes];
        each_kept(&mut |row, _| count[row as usize] += 1);
        let mut start = vec![0u32; nodes + 1];
        for i in 0..nodes {
            start[i + 1] = start[i] + count[i];
        }
        let mut columns = vec![0u32; start[nodes] as usize];
        let mut fill: Vec<u32> = start[..nodes].to_vec();
        let mut put = |row: u32, column: u32| {
            columns[fill[row as usize] as usize] = column;
            fill[row as usize] += 1;
        };
        each_kept(&mut put);
        // Sort every row and drop repetitions, in place.
        let (mut row_start, mut inside, mut write) = (vec![0u32; nodes + 1], vec![[0; 2]; nodes], 0usize);
        for i in 0..nodes {
            let range = start[i] as usize..fill[i] as usize;
            columns[range.clone()].sort_unstable();
            row_start[i] = write as u32;
            let mut last = u32::MAX;
            for read in range {
                let column = columns[read];
                if column != last {
                    columns[write] = column;
                    write += 1;
                    last = column;
                }
            }
            let own = chunks.range(chunks.of(i));
            inside[i] = [i, own.end].map(|limit| {
                let row = &columns[row_start[i] as usize..write];
                row_start[i] + row.partition_point(|&c| (c as usize) < limit) as u32
            });
        }
        row_start[nodes] = write as u32;
        columns.truncate(write);
        columns.shrink_to_fit();
        Self {
            row_start,
            columns,
            inside,
            values: Vec::new(),
            diagonal: vec![0.0; 9 * nodes + 1],
            singles: Vec::new(),
            slots: None,
            pattern: None,
            chunks,
            form: Form::Nothing,
            singly: false,
            linkable: false,
            version: next_version(),
            outside: next_version(),
            touched: Vec::new(),
        }
    }

    /// Values became others.
    fn renew(&mut self) {
        (self.version, self.outside) = (next_version(), next_version());
        self.touched.clear();
    }

    /// Tells values apart: equal numbers mean equal values.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The same, but for single diagonal blocks that became others.
    pub(super) fn version_outside(&self) -> u64 {
        self.outside
    }

    /// Nodes whose diagonal blocks became others since then, in turn.
    pub(super) fn touched(&self) -> &[u32] {
        &self.touched
    }

    pub(super) fn diagonals(&self) -> &[f64] {
        &self.diagonal
    }

    /// Rows.
    pub fn nodes(&self) -> usize {
        self.inside.len()
    }

    /// Stored blocks, the diagonal included.
    pub fn blocks(&self) -> usize {
        self.columns.len() + self.nodes()
    }

    /// The partition products use.
    pub fn chunks(&self) -> Chunks {
        self.chunks
    }

    /// Bytes moved by one product, vectors included.
    pub fn product_bytes(&self) -> usize {
        self.columns.len() * 76 + self.nodes() * (72 + 12 + 48)
    }

    /// Where block (row, column) off the diagonal is kept, if it is: left of the diagonal its mirror
    /// image stands for it, unless the two nodes belong to different chunks.
    pub fn position(&self, row: u32, column: u32) -> Option<u32> {
        let range = self.row_range(row as usize);
        self.columns[range.clone()].binary_search(&column).ok().map(|k| (range.start + k) as u32)
    }

    /// The first block off the diagonal that is kept from a row on.
    pub(crate) fn first_block(&self, row: usize) -> u32 {
        self.row_start[row]
    }

    pub(super) fn row_range(&self, row: usize) -> Range<usize> {
        self.row_start[row] as usize..self.row_start[row + 1] as usize
    }

    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// A block in single precision, row by row.
    #[inline(always)]
    pub(super) fn single(&self, p: usize) -> [f32; 9] {
        match self.form {
            Form::Nothing => [0.0; 9],
            Form::Double => std::array::from_fn(|e| self.values[9 * p + e] as f32),
            Form::Single => std::array::from_fn(|e| self.singles[9 * p + e]),
            Form::Links => unlinked(self.linked().link(p)).to_cols_array().map(|v| v as f32),
        }
    }

    /// All of them, nine numbers each, where they are kept in single precision.
    pub(super) fn singles(&self) -> Option<&[f32]> {
        (self.form == Form::Single).then_some(&self.singles[..])
    }

    fn linked(&self) -> &LinkSlots {
        self.slots.as_deref().expect("links are in their slots")
    }

    /// Blocks in the slots of a pattern, where they are links in its order.
    pub(super) fn links(&self, pattern: &Arc<Pattern>) -> Option<&[Links]> {
        let slots =
            self.slots.as_deref().filter(|slots| self.form == Form::Links && Arc::ptr_eq(slots.pattern(), pattern));
        slots.map(LinkSlots::links)
    }

    /// The order for sweeps in which these nodes are free, if it is known.
    pub(super) fn pattern(&self, free: &[bool]) -> Option<&Arc<Pattern>> {
        self.pattern.as_ref().filter(|pattern| pattern.free == free)
    }

    /// The order for sweeps in which these nodes are free.
    pub(super) fn ordered(&self, free: &[bool]) -> Arc<Pattern> {
        Arc::new(Pattern::new(free, |visit| {
            for row in 0..self.nodes() {
                for p in self.row_range(row).filter(|&p| self.columns[p] as usize > row) {
                    visit([row as u32, self.columns[p]], p as u32);
                }
            }
        }))
    }

    /// Makes ready for sweeps in which these nodes are free: to be called before values are filled in.
    pub fn arrange(&mut self, free: &[bool]) {
        if self.pattern(free).is_none() {
            self.pattern = Some(self.ordered(free));
            self.slots = None;
        }
    }

    pub(super) fn kept(&self, p: usize) -> DMat3 {
        match self.form {
            Form::Nothing => DMat3::ZERO,
            Form::Double => block(&self.values, p),
            Form::Single => {
                let entries: [f64; 9] = std::array::from_fn(|k| f64::from(self.singles[9 * p + k]));
                DMat3::from_cols_array(&entries).transpose()
            }
            Form::Links => unlinked(self.linked().link(p)),
        }
    }

    /// Columns and blocks kept in a row, ascending: all from the diagonal on, and some before it.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, DMat3)> + '_ {
        let (range, inside) = (self.row_range(row), self.inside[row][0] as usize);
        let kept = |p: usize| (self.columns[p] as usize, self.kept(p));
        let diagonal = std::iter::once((row, self.diagonal(row)));
        (range.start..inside).map(kept).chain(diagonal).chain((inside..range.end).map(kept))
    }

    /// The diagonal block of a node.
    pub fn diagonal(&self, node: usize) -> DMat3 {
        match self.form {
            Form::Links => self.linked().diagonal(node),
            _ => block(&self.diagonal, node),
        }
    }

    /// Sets every value to zero.
    pub fn clear(&mut self) {
        self.clear_for(false, false);
    }

    /// The same; blocks may then be given in single precision, where six digits of them are enough (directions of a step that is
    /// solved to a loose tolerance), or as links. Whoever knows nothing of that fills the matrix as ever.
    pub fn clear_for(&mut self, singly: bool, linkable: bool) {
        (self.form, self.singly, self.linkable) = (Form::Nothing, singly, linkable);
        self.renew();
        self.clear_diagonal();
    }

    fn clear_diagonal(&mut self) {
        let diagonal = Disjoint::new(&mut self.diagonal);
        self.chunks.each(|_, range| {
            // SAFETY: chunks are disjoint.
            unsafe { diagonal.slice(9 * range.start..9 * range.end) }.fill(0.0);
        });
    }

    /// Whether blocks off the diagonal may be given in single precision.
    pub fn may_be_single(&self) -> bool {
        self.singly
    }

    /// Whether they may be given as links.
    pub fn may_link(&self) -> bool {
        self.linkable
    }

    /// Sets every block kept, the diagonal too, to a value by row and column.
    pub fn fill_by(&mut self, value: impl Fn(usize, usize) -> DMat3) {
        self.clear();
        self.rows_mut();
        for row in 0..self.nodes() {
            for p in self.row_range(row) {
                add_block(&mut self.values, p, &value(row, self.columns[p] as usize));
            }
            add_block(&mut self.diagonal, row, &value(row, row));
        }
    }

    /// Block (row, column), zero where there is none.
    pub fn get(&self, row: usize, column: usize) -> DMat3 {
        if row == column {
            return self.diagonal(row);
        }
        let (r, c) = (row as u32, column as u32);
        match self.position(r, c) {
            Some(p) => self.kept(p as usize),
            None => self.position(c, r).map_or(DMat3::ZERO, |p| self.kept(p as usize).transpose()),
        }
    }

    /// Sets blocks that join nodes of different parts to zero and puts a share of what
    /// they held on both diagonals.
    pub fn keep_within(&mut self, part_of: &[u32], share: f64) {
        self.renew();
        for row in 0..self.nodes() {
            for p in self.row_range(row) {
                let column = self.columns[p] as usize;
                if part_of[row] != part_of[column] {
                    if row < column {
                        let cut = self.kept(p);
                        let held = (cut + cut.transpose()) * (-0.5 * share);
                        add_block(&mut self.diagonal, row, &held);
                        add_block(&mut self.diagonal, column, &held);
                    }
                    match self.form {
                        Form::Nothing => {}
                        Form::Double => self.values[9 * p..9 * p + 9].fill(0.0),
                        Form::Single => self.singles[9 * p..9 * p + 9].fill(0.0),
                        Form::Links => unreachable!("whoever cuts does not clear for links"),
                    }
                }
            }
        }
    }

    /// Adds to the diagonal block of a node.
    pub fn add_diagonal(&mut self, node: usize, block: DMat3) {
        self.version = next_version();
        self.touched.push(node as u32);
        match &mut self.slots {
            Some(slots) if self.form == Form::Links => slots.add_diagonal(node, &block),
            _ => add_block(&mut self.diagonal, node, &block),
        }
    }

    /// Adds to all diagonal blocks, side by side.
    pub(crate) fn add_to_diagonal(&mut self, block: impl Fn(usize) -> DMat3 + Sync) {
        self.renew();
        if let Some(slots) = self.slots.as_mut().filter(|_| self.form == Form::Links) {
            return slots.add_to_diagonal(block);
        }
        let diagonal = Disjoint::new(&mut self.diagonal);
        self.chunks.each(|_, range| {
            // SAFETY: chunks are disjoint.
            let part = unsafe { diagonal.slice(9 * range.start..9 * range.end) };
            for (k, i) in range.enumerate() {
                add_block(part, k, &block(i));
            }
        });
    }

    /// Gives chunks of rows to be filled side by side.
    pub fn rows_mut(&mut self) -> RowsMut<'_, f64> {
        if self.form == Form::Nothing {
            self.values.resize(9 * self.columns.len() + 1, 0.0);
            clear_rows(&mut self.values, self.chunks, &self.row_start);
            self.form = Form::Double;
        }
        assert!(self.form == Form::Double, "blocks are given in one form");
        self.renew();
        let Self { row_start, columns, inside, values, diagonal, chunks, .. } = self;
        RowsMut::new((row_start, columns, inside), values, diagonal, *chunks)
    }

    /// The same in single precision off the diagonal, where it may be.
    pub(crate) fn singles_mut(&mut self) -> RowsMut<'_, f32> {
        assert!(self.singly && self.form == Form::Nothing, "cleared for single precision");
        self.singles.resize(9 * self.columns.len() + 1, 0.0);
        clear_rows(&mut self.singles, self.chunks, &self.row_start);
        self.form = Form::Single;
        self.renew();
        let Self { row_start, columns, inside, singles, diagonal, chunks, .. } = self;
        RowsMut::new((row_start, columns, inside), singles, diagonal, *chunks)
    }

    /// The same as links, which take the diagonal along.
    pub(crate) fn links_mut(&mut self) -> &mut LinkSlots {
        assert!(self.linkable, "cleared for links");
        self.form = Form::Links;
        self.renew();
        if self.pattern.is_none() {
            self.arrange(&vec![true; self.nodes()]);
        }
        if self.slots.is_none() {
            let pattern = self.pattern.clone().expect("arranged above");
            // Blocks between chunks are kept on both sides.
            let before = (0..self.nodes()).flat_map(|row| self.row_range(row).map(move |p| (row as u32, p)));
            let mirrored = before.filter_map(|(row, p)| {
                let column = self.columns[p];
                (column < row).then(|| self.position(column, row).map(|block| [p as u32, block])).flatten()
            });
            self.slots = Some(Box::new(LinkSlots::new(pattern, self.columns.len(), mirrored)));
        }
        self.slots.as_mut().expect("made above")
    }

    /// Diagonal blocks by bundles, where there are links.
    pub(super) fn bundled(&self) -> &[super::slots::Diagonal] {
        self.linked().diagonals()
    }

    /// `y = A x` on free nodes, zero on held ones; returns `x · y`.
    pub fn product(&self, free: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        assert!(free.len() == self.nodes() && x.len() == self.nodes());
        match self.form {
            Form::Links => return self.linked().product(free, x, y),
            Form::Nothing => {
                let own = |i: usize| if free[i] { self.diagonal(i) * x[i] } else { DVec3::ZERO };
                y.iter_mut().enumerate().for_each(|(i, y)| *y = own(i));
                return x.iter().zip(&*y).map(|(x, y)| x.dot(*y)).sum();
            }
            _ => {}
        }
        let out = Disjoint::new(y);
        self.chunks.sum(|_, range| {
            // SAFETY: chunks are disjoint.
            let y = unsafe { out.slice(range.clone()) };
            [self.product_rows(range, free, x, y)]
        })[0]
    }

    fn product_rows(&self, rows: Range<usize>, free: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        let (x, y) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y));
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.product_rows_avx2(rows, free, x, y) };
        }
        self.product_rows_by::<[f64; WIDE]>(rows, free, x, y)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn product_rows_avx2(&self, rows: Range<usize>, free: &[bool], x: &[[f64; 3]], y: &mut [[f64; 3]]) -> f64 {
        self.product_rows_by::<crate::lanes::avx2::Register>(rows, free, x, y)
    }

    /// A row is complete when its turn has come: rows before it have added their
    /// mirrored blocks by then. Its own scalar products are summed at its end. The
    /// fourth lane of a block's row is the next number in memory; it meets a zero or is thrown away.
    #[inline(always)]
    fn product_rows_by<L: Lanes>(&self, rows: Range<usize>, free: &[bool], x: &[[f64; 3]], y: &mut [[f64; 3]]) -> f64 {
        match self.form {
            Form::Nothing => unreachable!("a product without blocks is done by itself"),
            Form::Double => self.product_rows_of::<L, f64>(&self.values, rows, free, x, y),
            Form::Single => self.product_rows_of::<L, f32>(&self.singles, rows, free, x, y),
            Form::Links => unreachable!("links have a product of their own"),
        }
    }

    #[inline(always)]
    fn product_rows_of<L: Lanes, V: Kept>(
        &self,
        values: &[V],
        rows: Range<usize>,
        free: &[bool],
        x: &[[f64; 3]],
        y: &mut [[f64; 3]],
    ) -> f64 {
        let first = rows.start;
        let (mut dot, mut begun) = (0.0, first);
        for row in rows {
            let range = self.row_range(row);
            let inside = self.inside[row][0] as usize..self.inside[row][1] as usize;
            let reach = self.columns[inside.clone()].last().map_or(row, |&c| c as usize) + 1;
            if reach > begun {
                y[begun - first..reach - first].fill([0.0; 3]);
                begun = reach;
            }
            let own = x[row];
            let mut sums = Sums::new(&own);
            for p in range.start..inside.start {
                V::add::<L>(values, p, &x[self.columns[p] as usize], &mut sums);
            }
            f64::add::<L>(&self.diagonal, row, &own, &mut sums);
            for p in inside.clone() {
                let column = self.columns[p] as usize;
                V::add_both::<L>(values, p, &x[column], &mut sums, &mut y[column - first]);
            }
            for p in inside.end..range.end {
                V::add::<L>(values, p, &x[self.columns[p] as usize], &mut sums);
            }
            let (out, sum) = (&mut y[row - first], sums.total());
            for r in 0..3 {
                out[r] = if free[row] { out[r] + sum[r] } else { 0.0 };
            }
            dot += own[0] * out[0] + own[1] * out[1] + own[2] * out[2];
        }
        dot
    }
}

/// A row of a product on the way.
struct Sums<L> {
    /// Entries times the numbers they meet, row by row; to be added up across.
    across: [L; 3],
    /// Each number of the row's own vector everywhere.
    spread: [L; 3],
}

impl<L: Lanes> Sums<L> {
    #[inline(always)]
    fn new(own: &[f64; 3]) -> Self {
        let spread = [L::splat(own[0]), L::splat(own[1]), L::splat(own[2])];
        Self { across: [L::splat(0.0); 3], spread }
    }

    #[inline(always)]
    fn total(&self) -> [f64; 3] {
        let mut out = [0.0; 3];
        for r in 0..3 {
            let mut lanes = [0.0; WIDE];
            self.across[r].store(&mut lanes);
            out[r] = lanes[0] + lanes[1] + lanes[2];
        }
        out
    }
}

/// Sets all blocks to zero, side by side.
fn clear_rows<V: Kept + Default>(values: &mut [V], chunks: Chunks, row_start: &[u32]) {
    let values = Disjoint::new(values);
    chunks.each(|_, range| {
        let [start, end] = [range.start, range.end].map(|row| V::EACH * row_start[row] as usize);
        // SAFETY: rows of different chunks do not overlap.
        unsafe { values.slice(start..end) }.fill(V::default());
    });
}

fn block(values: &[f64], p: usize) -> DMat3 {
    DMat3::from_cols_slice(&values[9 * p..9 * p + 9]).transpose()
}

/// The three rows of a block.
#[inline(always)]
fn lanes<L: Lanes, V: Number>(values: &[V], p: usize) -> [L; 3] {
    let block: &[V; 10] = values[9 * p..9 * p + 10].try_into().expect("ten numbers");
    let (first, _) = block.split_first_chunk::<WIDE>().expect("four of ten");
    let (second, _) = block[3..].split_first_chunk::<WIDE>().expect("four of seven");
    let (third, _) = block[6..].split_first_chunk::<WIDE>().expect("four of four");
    [V::load(first), V::load(second), V::load(third)]
}

/// What blocks are kept in.
pub trait Kept: Copy + Send + Sync {
    /// How many to a block.
    const EACH: usize;
    /// A block, in double precision.
    fn block(values: &[Self], p: usize) -> [f64; 9];
    /// Adds B x to a row.
    #[allow(private_interfaces)]
    fn add<L: Lanes>(values: &[Self], p: usize, x: &[f64; 3], sums: &mut Sums<L>);
    /// The same, and Bᵀ times the row's own vector to another.
    #[allow(private_interfaces)]
    fn add_both<L: Lanes>(values: &[Self], p: usize, x: &[f64; 3], sums: &mut Sums<L>, to: &mut [f64; 3]);
}

/// Numbers, nine to a block.
pub trait Number: Copy + Send + Sync {
    /// Four, in double precision.
    fn load<L: Lanes>(from: &[Self; WIDE]) -> L;
    /// Asks for a line of memory that will be read soon.
    fn fetch<L: Lanes>(from: &[Self], at: usize);
    /// In double precision.
    fn double(self) -> f64;
}

impl Number for f64 {
    #[inline(always)]
    fn load<L: Lanes>(from: &[f64; WIDE]) -> L {
        L::load(from)
    }

    #[inline(always)]
    fn fetch<L: Lanes>(from: &[f64], at: usize) {
        L::fetch(from, at);
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }
}

impl Number for f32 {
    #[inline(always)]
    fn load<L: Lanes>(from: &[f32; WIDE]) -> L {
        L::load_single(from)
    }

    #[inline(always)]
    fn fetch<L: Lanes>(_: &[f32], _: usize) {}

    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }
}

impl<V: Number> Kept for V {
    const EACH: usize = 9;

    #[inline(always)]
    fn block(values: &[V], p: usize) -> [f64; 9] {
        std::array::from_fn(|k| values[9 * p + k].double())
    }

    #[inline(always)]
    #[allow(private_interfaces)]
    fn add<L: Lanes>(values: &[V], p: usize, x: &[f64; 3], sums: &mut Sums<L>) {
        add_products(&mut sums.across, lanes(values, p), x);
    }

    #[inline(always)]
    #[allow(private_interfaces)]
    fn add_both<L: Lanes>(values: &[V], p: usize, x: &[f64; 3], sums: &mut Sums<L>, to: &mut [f64; 3]) {
        V::fetch::<L>(values, 9 * p + AHEAD);
        let block: [L; 3] = lanes(values, p);
        add_products(&mut sums.across, block, x);
        let [a, b, c] = sums.spread;
        let mirrored = block[0].times(a).plus(block[1].times(b)).plus(block[2].times(c));
        L::load_vector(to).plus(mirrored).store_vector(to);
    }
}

/// Entries times the numbers they meet, row by row.
#[inline(always)]
fn add_products<L: Lanes>(sums: &mut [L; 3], block: [L; 3], x: &[f64; 3]) {
    let x = L::load_vector(x);
    for r in 0..3 {
        sums[r] = sums[r].plus(block[r].times(x));
    }
}

/// Rows of a matrix, open for filling chunk by chunk.
pub struct RowsMut<'a, V = f64> {
    row_start: &'a [u32],
    columns: &'a [u32],
    inside: &'a [[u32; 2]],
    values: Disjoint<'a, V>,
    diagonal: Disjoint<'a, f64>,
    /// The partition of the rows.
    pub chunks: Chunks,
}

/// The rows of one chunk.
pub struct RowsChunk<'a, V = f64> {
    first_row: usize,
    first_block: usize,
    /// From the first row of the chunk on, one more than it has rows; then of all blocks.
    row_start: &'a [u32],
    columns: &'a [u32],
    inside: &'a [[u32; 2]],
    values: &'a mut [V],
    diagonal: &'a mut [f64],
}

impl<'a, V: Kept> RowsMut<'a, V> {
    fn new(
        (row_start, columns, inside): (&'a [u32], &'a [u32], &'a [[u32; 2]]),
        values: &'a mut [V],
        diagonal: &'a mut [f64],
        chunks: Chunks,
    ) -> Self {
        let (values, diagonal) = (Disjoint::new(values), Disjoint::new(diagonal));
        Self { row_start, columns, inside, values, diagonal, chunks }
    }

    /// # Safety
    /// A chunk must not be taken twice at the same time.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn chunk(&self, chunk: usize) -> RowsChunk<'_, V> {
        let range = self.chunks.range(chunk);
        let first_block = self.row_start[range.start] as usize;
        let last_block = self.row_start[range.end] as usize;
        // SAFETY: rows of different chunks do not overlap.
        let (values, diagonal) = unsafe {
            let values = self.values.slice(V::EACH * first_block..V::EACH * last_block);
            (values, self.diagonal.slice(9 * range.start..9 * range.end))
        };
        RowsChunk {
            first_row: range.start,
            first_block,
            row_start: &self.row_start[range.start..range.end + 1],
            columns: self.columns,
            inside: &self.inside[range],
            values,
            diagonal,
        }
    }
}

impl RowsChunk<'_, f64> {
    /// Adds to the block at a position given by [`BlockMatrix::position`].
    #[inline(always)]
    pub fn add(&mut self, position: u32, block: &DMat3) {
        add_block(self.values, position as usize - self.first_block, block);
    }
}

impl RowsChunk<'_, f32> {
    /// All blocks of the rows, nine numbers each.
    pub fn numbers(&mut self) -> &mut [f32] {
        self.values
    }

    /// Adds a block given by rows.
    #[inline(always)]
    pub fn add(&mut self, position: u32, entries: &[f32; 9]) {
        let start = 9 * (position as usize - self.first_block);
        let to: &mut [f32; 9] = (&mut self.values[start..start + 9]).try_into().expect("nine numbers");
        for k in 0..9 {
            to[k] += entries[k];
        }
    }
}

impl<V: Kept> RowsChunk<'_, V> {
    /// Takes every row's blocks from its diagonal, so that rows add up to what was on the diagonal.
    pub fn close(&mut self) {
        for row in 0..self.inside.len() {
            let own = self.inside[row];
            for p in self.row_start[row]..self.row_start[row + 1] {
                let block = V::block(self.values, p as usize - self.first_block);
                let to = &mut self.diagonal[9 * row..9 * row + 9];
                for k in 0..9 {
                    to[k] -= block[k];
                }
                if (own[0]..own[1]).contains(&p) {
                    let column = self.columns[p as usize] as usize - self.first_row;
                    let to = &mut self.diagonal[9 * column..9 * column + 9];
                    for k in 0..9 {
                        to[k] -= block[3 * (k % 3) + k / 3];
                    }
                }
            }
        }
    }

    /// Adds to the diagonal block of a node of this chunk.
    #[inline(always)]
    pub fn add_diagonal(&mut self, node: usize, block: &DMat3) {
        add_block(self.diagonal, node - self.first_row, block);
    }
}

#[inline(always)]
fn add_block(values: &mut [f64], p: usize, block: &DMat3) {
    let rows = block.transpose().to_cols_array();
    let values = &mut values[9 * p..9 * p + 9];
    for k in 0..9 {
        values[k] += rows[k];
    }
}

#[cfg(test)]
mod tests;
