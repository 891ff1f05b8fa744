//! Sixteen numbers in single precision: plainly, in two AVX2 registers, or in one of AVX-512.
//!
//! All three round in the same way, see `lanes`.

use super::Arithmetic;
use super::eight::{Both, Padded};

/// How many.
pub const WIDEST: usize = 16;

/// See [`Arithmetic::splat`].
#[inline(always)]
fn not_too_small(value: f64) -> f32 {
    if value > 0.0 && value < 1e-18 { 1e-18 } else { value as f32 }
}

/// Sixteen numbers in single precision.
pub trait Sixteen: Arithmetic {
    /// One number everywhere, as it is.
    fn single(value: f32) -> Self;
    fn load(from: &[f32; WIDEST]) -> Self;
    fn store(self, to: &mut [f32; WIDEST]);
    /// Adds a I + e eᵀ to what is above the diagonal and on it, row by row, in double precision.
    fn add_squares(link: [Self; 4], to: &mut [[f64; WIDEST]; 6]);
    /// The same to lists of their own, at these places less `first`, one after another.
    #[inline(always)]
    fn hand_squares<const ENDS: usize>(link: [Self; 4], at: [&[u32; WIDEST]; ENDS], first: usize, to: &mut [[f64; 8]]) {
        let mut rows = [[0.0; WIDEST]; 4];
        for k in 0..4 {
            link[k].store(&mut rows[k]);
        }
        for l in 0..WIDEST {
            let [a, x, y, z] = [0, 1, 2, 3].map(|k: usize| f64::from(rows[k][l]));
            let squares = [x * x + a, x * y, x * z, y * y + a, y * z, z * z + a];
            for places in at {
                let to = &mut to[places[l] as usize - first];
                for k in 0..6 {
                    to[k] += squares[k];
                }
            }
        }
    }
    /// Every number so many places on, the last ones first.
    fn turned(self, by: usize) -> Self;
    /// The vectors at these places, less `first`, by components.
    ///
    /// # Safety
    /// There must be such places.
    unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDEST], first: usize) -> [Self; 3];
    /// Adds vectors by components to those at these places, less `first`, one after another.
    ///
    /// # Safety
    /// As above.
    unsafe fn add(components: [Self; 3], at: &[u32; WIDEST], first: usize, to: &mut [[f32; 4]]);
    /// Vectors one after another from their components, and a zero each.
    fn separate(components: [Self; 3], to: &mut [[f32; 4]; WIDEST]);
    /// From vectors at some places to those at others, first ones and second ones, by components; subtracted in double precision.
    ///
    /// # Safety
    /// There must be such places.
    unsafe fn between(of: &[Both], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [[Self; 3]; 2];
    /// The same of single vectors.
    ///
    /// # Safety
    /// As above.
    unsafe fn difference(of: &[Padded], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [Self; 3];
    /// Adds blocks by entries, row by row, to those that begin at these numbers, one after another.
    ///
    /// # Safety
    /// Nine numbers must be there from each on.
    unsafe fn add_blocks(entries: [Self; 9], at: &[u32; WIDEST], to: &mut [f32]);
    /// Blocks by entries, row by row: twice their number, and one more where the mirror image is meant.
    ///
    /// # Safety
    /// There must be such blocks, nine numbers each.
    unsafe fn blocks(from: &[f32], which: &[u32; WIDEST]) -> [Self; 9];
}

impl Arithmetic for [f32; WIDEST] {
    const SMALL: f64 = 1e-5;

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn splat(value: f64) -> Self {
        Self::single(not_too_small(value))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn minus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn times(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn over(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] / other[l])
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn root(self) -> Self {
        self.map(f32::sqrt)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn larger(self, other: Self) -> Self {
        std::array::from_fn(|l| if self[l] > other[l] { self[l] } else { other[l] })
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
        std::array::from_fn(|l| if a[l] < b[l] { yes[l] } else { no[l] })
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn fused(self, other: Self, more: Self) -> Self {
        std::array::from_fn(|l| self[l].mul_add(other[l], more[l]))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn taken(self, other: Self, less: Self) -> Self {
        std::array::from_fn(|l| (-self[l]).mul_add(other[l], less[l]))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn all_below(self, limit: Self) -> bool {
        (0..WIDEST).all(|l| self[l] < limit[l])
    }
}

impl Sixteen for [f32; WIDEST] {
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn single(value: f32) -> Self {
        [value; WIDEST]
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn load(from: &[f32; WIDEST]) -> Self {
        *from
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn store(self, to: &mut [f32; WIDEST]) {
        *to = self;
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn add_squares(link: [Self; 4], to: &mut [[f64; WIDEST]; 6]) {
        for l in 0..WIDEST {
            let [a, x, y, z] = [0, 1, 2, 3].map(|k: usize| f64::from(link[k][l]));
            for (k, square) in [x * x, x * y, x * z, y * y, y * z, z * z].into_iter().enumerate() {
                to[k][l] += square;
            }
            for k in [0, 3, 5] {
                to[k][l] += a;
            }
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn turned(self, by: usize) -> Self {
        std::array::from_fn(|l| self[(l + WIDEST - by) % WIDEST])
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDEST], first: usize) -> [Self; 3] {
        let v = at.map(|i| from[(i as usize).wrapping_sub(first)]);
        [v.map(|v| v[0]), v.map(|v| v[1]), v.map(|v| v[2])]
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn add([x, y, z]: [Self; 3], at: &[u32; WIDEST], first: usize, to: &mut [[f32; 4]]) {
        for l in 0..WIDEST {
            let to = &mut to[(at[l] as usize).wrapping_sub(first)];
            (to[0], to[1], to[2]) = (to[0] + x[l], to[1] + y[l], to[2] + z[l]);
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn separate([x, y, z]: [Self; 3], to: &mut [[f32; 4]; WIDEST]) {
        for l in 0..WIDEST {
            to[l] = [x[l], y[l], z[l], 0.0];
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn between(of: &[Both], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [[Self; 3]; 2] {
        let at = |places: &[u32; WIDEST], l: usize, part: usize, c: usize| of[places[l] as usize].0[part][c];
        let apart = |l: usize, part: usize, c: usize| (at(j, l, part, c) - at(i, l, part, c)) as f32;
        [0, 1].map(|part| [0, 1, 2].map(|c| std::array::from_fn(|l| apart(l, part, c))))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn difference(of: &[Padded], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [Self; 3] {
        [0, 1, 2].map(|c: usize| std::array::from_fn(|l| (of[j[l] as usize][c] - of[i[l] as usize][c]) as f32))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn add_blocks(entries: [Self; 9], at: &[u32; WIDEST], to: &mut [f32]) {
        for l in 0..WIDEST {
            for e in 0..9 {
                to[at[l] as usize + e] += entries[e][l];
            }
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn blocks(from: &[f32], which: &[u32; WIDEST]) -> [Self; 9] {
        let entry = |l: usize, e: usize| {
            let e = if which[l] % 2 == 1 { 3 * (e % 3) + e / 3 } else { e };
            from[9 * (which[l] as usize / 2) + e]
        };
        std::array::from_fn(|e| std::array::from_fn(|l| entry(l, e)))
    }
}

/// By how much numbers are turned: where each comes from.
#[cfg(target_arch = "x86_64")]
static FROM: [[u32; WIDEST]; WIDEST] = {
    let mut out = [[0; WIDEST]; WIDEST];
    let mut by = 0;
    while by < WIDEST {
        let mut l = 0;
        while l < WIDEST {
            out[by][l] = ((l + WIDEST - by) % WIDEST) as u32;
            l += 1;
        }
        by += 1;
    }
    out
};

#[cfg(target_arch = "x86_64")]
pub mod avx2;

#[cfg(target_arch = "x86_64")]
pub mod avx512;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
