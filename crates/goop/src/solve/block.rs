//! A sparse matrix of 3×3 blocks, stored by rows; structure built once, values
//! refilled every step.
//!
//! Blocks are column-major: entry (r, c) of block p is `values[9 p + 3 c + r]`.
//! A product reads every block once: 76 bytes a block with its column number.

use crate::parallel::{Chunks, Disjoint};
use glam::{DMat3, DVec3};

/// Block-sparse square matrix with a symmetric structure and a full diagonal.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    row_start: Vec<u32>,
    columns: Vec<u32>,
    diagonal: Vec<u32>,
    /// Nine per block, and three spare so that a column may be read four wide.
    values: Vec<f64>,
    chunks: Chunks,
}

impl BlockMatrix {
    /// Structure in which the nodes of every stencil are joined to one another.
    pub fn new(nodes: usize, stencils: impl Fn(&mut dyn FnMut(&[u32]))) -> Self {
        let mut count = vec![1u32; nodes + 1];
        count[nodes] = 0;
        stencils(&mut |s| {
            for &a in s {
                count[a as usize] += s.len() as u32 - 1;
            }
        });
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
        for i in 0..nodes as u32 {
            put(i, i);
        }
        stencils(&mut |s| {
            for &a in s {
                for &b in s {
                    if a != b {
                        put(a, b);
                    }
                }
            }
        });
        // Sort every row and drop repetitions, in place.
        let (mut row_start, mut diagonal, mut write) = (vec![0u32; nodes + 1], vec![0u32; nodes], 0usize);
        for i in 0..nodes {
            let range = start[i] as usize..fill[i] as usize;
            columns[range.clone()].sort_unstable();
            row_start[i] = write as u32;
            let mut last = u32::MAX;
            for read in range {
                let column = columns[read];
                if column != last {
                    if column == i as u32 {
                        diagonal[i] = write as u32;
                    }
                    columns[write] = column;
                    write += 1;
                    last = column;
                }
            }
        }
        row_start[nodes] = write as u32;
        columns.truncate(write);
        columns.shrink_to_fit();
        Self { row_start, columns, diagonal, values: vec![0.0; 9 * write + 3], chunks: Chunks::new(nodes) }
    }

    /// Rows.
    pub fn nodes(&self) -> usize {
        self.diagonal.len()
    }

    /// Stored blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// The partition products use.
    pub fn chunks(&self) -> Chunks {
        self.chunks
    }

    /// Bytes read by one product, vectors included.
    pub fn product_bytes(&self) -> usize {
        self.blocks() * 76 + self.nodes() * (4 + 48)
    }

    /// Where block (row, column) is kept, if the structure has it.
    pub fn position(&self, row: u32, column: u32) -> Option<u32> {
        let range = self.row_start[row as usize] as usize..self.row_start[row as usize + 1] as usize;
        self.columns[range.clone()].binary_search(&column).ok().map(|k| (range.start + k) as u32)
    }

    /// Columns and blocks of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, DMat3)> + '_ {
        (self.row_start[row] as usize..self.row_start[row + 1] as usize)
            .map(|p| (self.columns[p] as usize, DMat3::from_cols_slice(&self.values[9 * p..9 * p + 9])))
    }

    /// The diagonal block of a node.
    pub fn diagonal(&self, node: usize) -> DMat3 {
        let p = 9 * self.diagonal[node] as usize;
        DMat3::from_cols_slice(&self.values[p..p + 9])
    }

    /// Sets every value to zero.
    pub fn clear(&mut self) {
        let rows = self.rows_mut();
        rows.chunks.each(|c, _| {
            // SAFETY: every chunk takes its own rows.
            unsafe { rows.chunk(c) }.values.fill(0.0);
        });
    }

    /// Adds to the diagonal block of a node.
    pub fn add_diagonal(&mut self, node: usize, block: DMat3) {
        let p = 9 * self.diagonal[node] as usize;
        add_block(&mut self.values[p..p + 9], &block);
    }

    /// Gives chunks of rows to be filled side by side.
    pub fn rows_mut(&mut self) -> RowsMut<'_> {
        RowsMut {
            row_start: &self.row_start,
            diagonal: &self.diagonal,
            values: Disjoint::new(&mut self.values),
            chunks: self.chunks,
        }
    }

    /// `y = A x` on free nodes, zero on held ones; returns `x · y`.
    pub fn product(&self, free: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        let out = Disjoint::new(y);
        self.chunks.sum(|_, range| {
            // SAFETY: chunks are disjoint.
            let y = unsafe { out.slice(range.clone()) };
            [self.product_rows(range.start, free, x, y)]
        })[0]
    }

    fn product_rows(&self, first: usize, free: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.product_rows_avx2(first, free, x, y) };
        }
        self.product_rows_plain(first, free, x, y)
    }

    /// The same arithmetic in the same order, compiled four wide.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn product_rows_avx2(&self, first: usize, free: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        self.product_rows_plain(first, free, x, y)
    }

    #[inline(always)]
    fn product_rows_plain(&self, first: usize, free: &[bool], x: &[DVec3], y: &mut [DVec3]) -> f64 {
        let mut dot = 0.0;
        for (k, out) in y.iter_mut().enumerate() {
            let row = first + k;
            let (start, end) = (self.row_start[row] as usize, self.row_start[row + 1] as usize);
            let columns = &self.columns[start..end];
            let values = &self.values[9 * start..9 * end + 3];
            let mut sum = [0.0f64; 4];
            for (p, &column) in columns.iter().enumerate() {
                let block: &[f64; 12] = values[9 * p..9 * p + 12].try_into().expect("twelve wide");
                let v = x[column as usize];
                // The fourth lane reads into the next column and is thrown away.
                for l in 0..4 {
                    let tail = if l < 3 { block[6 + l] } else { block[9] };
                    sum[l] += block[l] * v.x + block[3 + l] * v.y + tail * v.z;
                }
            }
            *out = if free[row] { DVec3::new(sum[0], sum[1], sum[2]) } else { DVec3::ZERO };
            dot += x[row].dot(*out);
        }
        dot
    }
}

/// Rows of a matrix, open for filling chunk by chunk.
pub struct RowsMut<'a> {
    row_start: &'a [u32],
    diagonal: &'a [u32],
    values: Disjoint<'a, f64>,
    /// The partition of the rows.
    pub chunks: Chunks,
}

/// The rows of one chunk.
pub struct RowsChunk<'a> {
    diagonal: &'a [u32],
    first_block: usize,
    values: &'a mut [f64],
}

impl RowsMut<'_> {
    /// # Safety
    /// A chunk must not be taken twice at the same time.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn chunk(&self, chunk: usize) -> RowsChunk<'_> {
        let range = self.chunks.range(chunk);
        let first_block = self.row_start[range.start] as usize;
        let last_block = self.row_start[range.end] as usize;
        // SAFETY: rows of different chunks do not overlap.
        let values = unsafe { self.values.slice(9 * first_block..9 * last_block) };
        RowsChunk { diagonal: self.diagonal, first_block, values }
    }
}

impl RowsChunk<'_> {
    /// Adds to the block at a position given by [`BlockMatrix::position`].
    #[inline(always)]
    pub fn add(&mut self, position: u32, block: &DMat3) {
        let p = 9 * (position as usize - self.first_block);
        add_block(&mut self.values[p..p + 9], block);
    }

    /// Adds to the diagonal block of a node of this chunk.
    #[inline(always)]
    pub fn add_diagonal(&mut self, node: usize, block: &DMat3) {
        self.add(self.diagonal[node], block);
    }
}

#[inline(always)]
fn add_block(values: &mut [f64], block: &DMat3) {
    let b: &[f64; 9] = block.as_ref();
    for k in 0..9 {
        values[k] += b[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: usize) -> BlockMatrix {
        BlockMatrix::new(n, |visit| {
            for i in 1..n as u32 {
                visit(&[i - 1, i]);
                if i > 1 {
                    visit(&[i - 2, i - 1, i]);
                }
            }
        })
    }

    /// Catches lost or repeated entries in the structure.
    #[test]
    fn the_structure_joins_the_nodes_of_every_stencil_once() {
        let m = chain(6);
        assert_eq!(m.blocks(), 6 + 2 * 5 + 2 * 4);
        assert!(m.position(0, 2).is_some() && m.position(2, 0).is_some() && m.position(0, 3).is_none());
    }

    /// Catches a wrong block layout, and lanes that leak into their neighbours.
    #[test]
    fn the_product_equals_the_dense_one() {
        let mut m = chain(9);
        for row in 0..9u32 {
            for column in 0..9u32 {
                if let Some(p) = m.position(row, column) {
                    for k in 0..9 {
                        m.values[9 * p as usize + k] = ((row * 81 + column * 9 + k as u32) as f64 * 0.37).sin();
                    }
                }
            }
        }
        let x: Vec<DVec3> = (0..9).map(|i| DVec3::new(i as f64, 1.0 - i as f64, 0.3 * i as f64)).collect();
        let mut free = vec![true; 9];
        free[4] = false;
        let mut y = vec![DVec3::ONE; 9];
        m.product(&free, &x, &mut y);
        for row in 0..9 {
            let expected = m.row(row).fold(DVec3::ZERO, |s, (c, b)| s + b * x[c]);
            let expected = if free[row] { expected } else { DVec3::ZERO };
            assert!((y[row] - expected).length() < 1e-13);
        }
    }
}
