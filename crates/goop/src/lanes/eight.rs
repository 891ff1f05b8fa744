//! Eight numbers in double precision: plainly, in two AVX2 registers, or in one of AVX-512.
//!
//! All three round in the same way, see `lanes`. Vectors of eight nodes come from anywhere; what is added to them goes to rows of
//! four numbers, so that one is a register of its own and never lies across two lines of memory.

use super::Arithmetic;
use glam::DVec3;

/// How many.
pub const EIGHT: usize = 8;

/// A vector, and nothing.
pub type Padded = [f64; 4];

/// Two vectors of a node, each with nothing behind it: a line of memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Both(pub [Padded; 2]);

impl Both {
    /// Where something is, and how it moves.
    #[inline(always)]
    pub fn new(x: DVec3, v: DVec3) -> Self {
        Self([[x.x, x.y, x.z, 0.0], [v.x, v.y, v.z, 0.0]])
    }
}

/// Eight numbers in double precision.
pub trait Doubles: Arithmetic {
    fn load(from: &[f64; EIGHT]) -> Self;
    fn load_single(from: &[f32; EIGHT]) -> Self;
    fn store(self, to: &mut [f64; EIGHT]);
    /// From vectors at some places to those at others, first ones and second ones, by components.
    ///
    /// # Safety
    /// There must be such places.
    unsafe fn between(of: &[Both], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [[Self; 3]; 2];
    /// The same of single vectors.
    ///
    /// # Safety
    /// As above.
    unsafe fn difference(of: &[Padded], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [Self; 3];
    /// Sums of vectors at a few places each, by weights: first ones and second ones, by components.
    ///
    /// # Safety
    /// As above.
    unsafe fn weigh(of: &[Both], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [[Self; 3]; 2];
    /// The same of single vectors.
    ///
    /// # Safety
    /// As above.
    unsafe fn weigh_one(of: &[Padded], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [Self; 3];
    /// Subtracts components from a few places each, less `first`, by weights.
    ///
    /// # Safety
    /// As above.
    unsafe fn hand_out(
        components: [Self; 3],
        at: &[[u32; EIGHT]],
        weights: &[[f64; EIGHT]],
        first: usize,
        to: &mut [Padded],
    );
    /// Adds components so gathered to places, less `first`, one after another; the last of `to` is for all beyond.
    fn scatter(components: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]);
    /// Adds components to the first places, less `first`, and subtracts them from the second.
    ///
    /// # Safety
    /// There must be such places.
    unsafe fn exchange(components: [Self; 3], i: &[u32; EIGHT], j: &[u32; EIGHT], first: usize, to: &mut [Padded]);
    /// Adds components to places, less `first`, one after another.
    ///
    /// # Safety
    /// As above.
    unsafe fn add(components: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]);
}

/// Where something goes that belongs to a place, less `first`.
#[inline(always)]
fn row(at: u32, first: usize, rows: usize) -> usize {
    (at as usize).wrapping_sub(first).min(rows - 1)
}

impl Arithmetic for [f64; EIGHT] {
    const SMALL: f64 = 1e-9;

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn splat(value: f64) -> Self {
        [value; EIGHT]
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
    fn root(self) -> Self {
        self.map(f64::sqrt)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn over(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] / other[l])
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
    fn all_below(self, limit: Self) -> bool {
        (0..EIGHT).all(|l| self[l] < limit[l])
    }
}

impl Doubles for [f64; EIGHT] {
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn load(from: &[f64; EIGHT]) -> Self {
        *from
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn load_single(from: &[f32; EIGHT]) -> Self {
        from.map(f64::from)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn store(self, to: &mut [f64; EIGHT]) {
        *to = self;
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn between(of: &[Both], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [[Self; 3]; 2] {
        let at = |places: &[u32; EIGHT], l: usize, part: usize, c: usize| of[places[l] as usize].0[part][c];
        [0, 1].map(|part| [0, 1, 2].map(|c| std::array::from_fn(|l| at(j, l, part, c) - at(i, l, part, c))))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn difference(of: &[Padded], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [Self; 3] {
        [0, 1, 2].map(|c: usize| std::array::from_fn(|l| of[j[l] as usize][c] - of[i[l] as usize][c]))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn weigh(of: &[Both], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [[Self; 3]; 2] {
        let mut out = [[[0.0f64; EIGHT]; 3]; 2];
        for (at, weights) in at.iter().zip(weights) {
            for (part, out) in out.iter_mut().enumerate() {
                for (c, out) in out.iter_mut().enumerate() {
                    for l in 0..EIGHT {
                        out[l] = weights[l].mul_add(of[at[l] as usize].0[part][c], out[l]);
                    }
                }
            }
        }
        out
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn weigh_one(of: &[Padded], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [Self; 3] {
        let mut out = [[0.0f64; EIGHT]; 3];
        for (at, weights) in at.iter().zip(weights) {
            for (c, out) in out.iter_mut().enumerate() {
                for l in 0..EIGHT {
                    out[l] = weights[l].mul_add(of[at[l] as usize][c], out[l]);
                }
            }
        }
        out
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn hand_out(
        components: [Self; 3],
        at: &[[u32; EIGHT]],
        weights: &[[f64; EIGHT]],
        first: usize,
        to: &mut [Padded],
    ) {
        for (at, weights) in at.iter().zip(weights) {
            for l in 0..EIGHT {
                let to = &mut to[at[l] as usize - first];
                for c in 0..3 {
                    to[c] = (-weights[l]).mul_add(components[c][l], to[c]);
                }
            }
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn scatter([x, y, z]: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
        for l in 0..EIGHT {
            let to = &mut to[row(at[l], first, to.len())];
            (to[0], to[1], to[2]) = (to[0] + x[l], to[1] + y[l], to[2] + z[l]);
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn add([x, y, z]: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
        for l in 0..EIGHT {
            let to = &mut to[at[l] as usize - first];
            (to[0], to[1], to[2]) = (to[0] + x[l], to[1] + y[l], to[2] + z[l]);
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    unsafe fn exchange([x, y, z]: [Self; 3], i: &[u32; EIGHT], j: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
        for l in 0..EIGHT {
            let to = &mut to[i[l] as usize - first];
            (to[0], to[1], to[2]) = (to[0] + x[l], to[1] + y[l], to[2] + z[l]);
        }
        for l in 0..EIGHT {
            let to = &mut to[j[l] as usize - first];
            (to[0], to[1], to[2]) = (to[0] - x[l], to[1] - y[l], to[2] - z[l]);
        }
    }
}

/// In two AVX2 registers. To be used in functions compiled for AVX2 and FMA only, which is what makes the calls sound.
#[cfg(target_arch = "x86_64")]
pub mod avx2;

/// In one AVX-512 register. To be used in functions compiled for AVX-512 F, DQ and VL only, which is what makes the calls sound.
#[cfg(target_arch = "x86_64")]
pub mod avx512;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
