//! Fixed chunks: one partition of the nodes and one order of every sum, whatever
//! the number of threads, so that the same scene gives the same bytes.

use crate::crew;
use std::marker::PhantomData;
use std::ops::Range;

/// No body is cut into more chunks than this; partial sums fit on the stack.
pub const MAX_CHUNKS: usize = 64;

/// A partition of `0..len` that depends on `len` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    len: usize,
    size: usize,
}

impl Chunks {
    /// Small bodies stay whole: below two thousand nodes waking a thread costs
    /// more than it saves. Large ones get as many chunks as leave a cube six layers of nodes in each, so that few
    /// springs cross a border (those are computed on both sides).
    pub fn new(len: usize) -> Self {
        let layers = (1..MAX_CHUNKS).take_while(|k| (6 * (k + 1)).pow(3) <= len).last().map_or(1, |k| k + 1);
        let count = layers.max((len / 1_000).min(4)).clamp(1, MAX_CHUNKS);
        Self { len, size: len.div_ceil(count).max(1) }
    }

    /// How many nodes.
    pub fn nodes(&self) -> usize {
        self.len
    }

    /// How many chunks.
    pub fn count(&self) -> usize {
        self.len.div_ceil(self.size)
    }

    /// Which nodes.
    pub fn range(&self, chunk: usize) -> Range<usize> {
        let start = chunk * self.size;
        start..(start + self.size).min(self.len)
    }

    /// The chunk that owns a node.
    pub fn of(&self, node: usize) -> usize {
        node / self.size
    }

    /// Runs `work` on every chunk.
    pub fn each(&self, work: impl Fn(usize, Range<usize>) + Sync) {
        if self.count() == 1 {
            work(0, self.range(0));
        } else {
            crew::each(self.count(), &|c| work(c, self.range(c)));
        }
    }

    /// Runs `work` on every chunk and combines what it returns, in chunk order.
    pub fn fold<T: Copy + Send>(
        &self,
        start: T,
        work: impl Fn(usize, Range<usize>) -> T + Sync,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        let mut partial = [start; MAX_CHUNKS];
        let slots = Disjoint::new(&mut partial);
        self.each(|c, range| {
            let value = work(c, range);
            // SAFETY: every chunk writes its own slot only.
            unsafe { slots.slice(c..c + 1)[0] = value };
        });
        partial[..self.count()].iter().fold(start, |total, &slot| combine(total, slot))
    }

    /// Runs `work` on every chunk and adds up what it returns, in chunk order.
    pub fn sum<const N: usize>(&self, work: impl Fn(usize, Range<usize>) -> [f64; N] + Sync) -> [f64; N] {
        self.fold([0.0; N], work, |a, b| std::array::from_fn(|k| a[k] + b[k]))
    }
}

/// Runs of nodes among which something was found: a bit for each sixty-fourth of a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    chunks: Chunks,
    bits: [u64; MAX_CHUNKS],
}

impl Chunks {
    /// Where `looks` is true of any node. Bodies of one chunk are not looked at beforehand: nothing is gained by that.
    pub fn runs(&self, looks: impl Fn(usize) -> bool + Sync) -> Runs {
        let mut bits = [u64::MAX; MAX_CHUNKS];
        if self.count() > 1 {
            let out = Disjoint::new(&mut bits);
            self.each(|c, _| {
                let found = (0..64).filter(|&k| self.run(c, k).any(&looks)).fold(0, |bits, k| bits | 1 << k);
                // SAFETY: every chunk writes its own.
                unsafe { out.slice(c..c + 1)[0] = found };
            });
        }
        Runs { chunks: *self, bits }
    }

    fn run(&self, chunk: usize, which: usize) -> Range<usize> {
        let all = self.range(chunk);
        let size = all.len().div_ceil(64);
        let at = |k: usize| (all.start + k * size).min(all.end);
        at(which)..at(which + 1)
    }
}

impl Runs {
    /// Nodes of those runs, in order.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = (0..self.chunks.count()).flat_map(|c| (0..64).map(move |k| (c, k)));
        runs.filter(|&(c, k)| self.bits[c] >> k & 1 == 1).flat_map(|(c, k)| self.chunks.run(c, k))
    }
}

/// Does pieces of work, at most `MOST`, side by side, and adds up what they return, in their order.
pub fn sum<const N: usize, const MOST: usize>(pieces: usize, work: impl Fn(usize) -> [f64; N] + Sync) -> [f64; N] {
    sum_from::<N, MOST>(pieces, false, work)
}

/// The same; every thread may begin with the last of its share.
pub fn sum_from<const N: usize, const MOST: usize>(
    pieces: usize,
    last: bool,
    work: impl Fn(usize) -> [f64; N] + Sync,
) -> [f64; N] {
    if pieces == 1 {
        return work(0);
    }
    let mut partial = [[0.0; N]; MOST];
    let slots = Disjoint::new(&mut partial);
    crew::each_from(pieces, last, &|k| {
        let value = work(k);
        // SAFETY: every piece writes its own slot only.
        unsafe { slots.slice(k..k + 1)[0] = value };
    });
    partial[..pieces].iter().fold([0.0; N], |total, slot| std::array::from_fn(|k| total[k] + slot[k]))
}

/// A mutable slice that several chunks write at once, each its own part.
pub struct Disjoint<'a, T> {
    start: *mut T,
    len: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: only `slice` gives access, and its contract forbids overlap.
unsafe impl<T: Send> Send for Disjoint<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    /// Borrows the slice until the last use of `self`.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), owner: PhantomData }
    }

    /// A part of the slice.
    ///
    /// # Safety
    /// Parts in use at the same time must not overlap.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds by the assertion, exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a partition that drops or repeats nodes.
    #[test]
    fn chunks_cover_every_node_once() {
        for len in [0, 1, 7, 1999, 8001, 123_457, 1_000_000, 9_999_999] {
            let chunks = Chunks::new(len);
            assert!(chunks.count() <= MAX_CHUNKS);
            let mut next = 0;
            for c in 0..chunks.count() {
                assert_eq!(chunks.range(c).start, next);
                next = chunks.range(c).end;
            }
            assert_eq!(next, len);
        }
    }

    /// Catches nodes that are left out of runs, or come twice or out of order.
    #[test]
    fn runs_hold_what_was_looked_for() {
        for len in [1, 70, 1999, 8001, 123_457] {
            let chunks = Chunks::new(len);
            for every in [1, 7, 5003] {
                let nodes: Vec<usize> = chunks.runs(|i| i % every == 0).nodes().collect();
                assert!(nodes.is_sorted_by(|a, b| a < b) && nodes.iter().all(|&i| i < len));
                let found = nodes.iter().filter(|&&i| i % every == 0).count();
                assert_eq!(found, len.div_ceil(every));
            }
            let none = chunks.runs(|_| false).nodes().count();
            assert_eq!(none, if chunks.count() > 1 { 0 } else { len });
        }
    }

    /// Catches sums that depend on which thread finished first.
    #[test]
    fn sums_are_the_same_on_one_thread_and_on_three() {
        let values: Vec<f64> = (0..100_003).map(|i| ((i * 7919) % 1000) as f64 * 1e-3 + 1e-9).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Chunks::new(values.len()).sum(|_, r| [values[r].iter().sum::<f64>()]))
        };
        assert_eq!(run(1)[0].to_bits(), run(3)[0].to_bits());
    }
}
