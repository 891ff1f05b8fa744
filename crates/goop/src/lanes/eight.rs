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
pub mod avx2 {
    use super::super::avx2::Register;
    use super::super::{Lanes, WIDE};
    use super::*;
    use std::arch::x86_64::*;

    /// Lower and upper four.
    #[derive(Clone, Copy)]
    pub struct Twice(Register, Register);

    impl Arithmetic for Twice {
        const SMALL: f64 = 1e-9;

        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(Register::splat(value), Register::splat(value))
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Self(self.0.plus(other.0), self.1.plus(other.1))
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            Self(self.0.minus(other.0), self.1.minus(other.1))
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(self.0.times(other.0), self.1.times(other.1))
        }

        #[inline(always)]
        fn fused(self, other: Self, more: Self) -> Self {
            Self(self.0.fused(other.0, more.0), self.1.fused(other.1, more.1))
        }

        #[inline(always)]
        fn taken(self, other: Self, less: Self) -> Self {
            Self(self.0.taken(other.0, less.0), self.1.taken(other.1, less.1))
        }

        #[inline(always)]
        fn root(self) -> Self {
            Self(self.0.root(), self.1.root())
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            Self(self.0.over(other.0), self.1.over(other.1))
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            Self(self.0.larger(other.0), self.1.larger(other.1))
        }

        #[inline(always)]
        fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Self(Register::choose(a.0, b.0, yes.0, no.0), Register::choose(a.1, b.1, yes.1, no.1))
        }

        #[inline(always)]
        fn all_below(self, limit: Self) -> bool {
            self.0.all_below(limit.0) & self.1.all_below(limit.1)
        }
    }

    impl Doubles for Twice {
        #[inline(always)]
        fn load(from: &[f64; EIGHT]) -> Self {
            let (halves, _) = from.as_chunks::<WIDE>();
            Self(Register::load(&halves[0]), Register::load(&halves[1]))
        }

        #[inline(always)]
        fn load_single(from: &[f32; EIGHT]) -> Self {
            let (halves, _) = from.as_chunks::<WIDE>();
            Self(Register::load_single(&halves[0]), Register::load_single(&halves[1]))
        }

        #[inline(always)]
        fn store(self, to: &mut [f64; EIGHT]) {
            let (halves, _) = to.as_chunks_mut::<WIDE>();
            self.0.store(&mut halves[0]);
            self.1.store(&mut halves[1]);
        }

        #[inline(always)]
        unsafe fn between(of: &[Both], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [[Self; 3]; 2] {
            let mut rows = [[unsafe { _mm256_setzero_pd() }; EIGHT]; 2];
            for l in 0..EIGHT {
                debug_assert!((i[l].max(j[l]) as usize) < of.len());
                // SAFETY: by the caller.
                unsafe {
                    let (from, to) = (&of.get_unchecked(i[l] as usize).0, &of.get_unchecked(j[l] as usize).0);
                    for part in 0..2 {
                        let (from, to) = (_mm256_load_pd(from[part].as_ptr()), _mm256_load_pd(to[part].as_ptr()));
                        rows[part][l] = _mm256_sub_pd(to, from);
                    }
                }
            }
            [joined(&rows[0]), joined(&rows[1])]
        }

        #[inline(always)]
        unsafe fn difference(of: &[Padded], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [Self; 3] {
            let mut rows = [unsafe { _mm256_setzero_pd() }; EIGHT];
            for l in 0..EIGHT {
                // SAFETY: by the caller.
                rows[l] = unsafe { apart(of, i[l], j[l]) };
            }
            joined(&rows)
        }

        #[inline(always)]
        unsafe fn weigh(of: &[Both], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [[Self; 3]; 2] {
            let mut rows = [[unsafe { _mm256_setzero_pd() }; EIGHT]; 2];
            for (at, weights) in at.iter().zip(weights) {
                for l in 0..EIGHT {
                    debug_assert!((at[l] as usize) < of.len());
                    // SAFETY: by the caller.
                    unsafe {
                        let (from, weight) = (&of.get_unchecked(at[l] as usize).0, _mm256_set1_pd(weights[l]));
                        rows[0][l] = _mm256_fmadd_pd(weight, _mm256_load_pd(from[0].as_ptr()), rows[0][l]);
                        rows[1][l] = _mm256_fmadd_pd(weight, _mm256_load_pd(from[1].as_ptr()), rows[1][l]);
                    }
                }
            }
            [joined(&rows[0]), joined(&rows[1])]
        }

        #[inline(always)]
        unsafe fn weigh_one(of: &[Padded], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [Self; 3] {
            // SAFETY: by the caller.
            joined(&unsafe { weighed(of, at, weights) })
        }

        #[inline(always)]
        unsafe fn hand_out(
            components: [Self; 3],
            at: &[[u32; EIGHT]],
            weights: &[[f64; EIGHT]],
            first: usize,
            to: &mut [Padded],
        ) {
            let [x, y, z] = components;
            let rows = [Register::rows([x.0, y.0, z.0]), Register::rows([x.1, y.1, z.1])];
            let start = to.as_mut_ptr().wrapping_sub(first);
            for (at, weights) in at.iter().zip(weights) {
                debug_assert!(at.iter().all(|at| (*at as usize).wrapping_sub(first) < to.len()));
                for l in 0..EIGHT {
                    // SAFETY: by the caller.
                    unsafe {
                        let to = start.wrapping_add(at[l] as usize).cast();
                        let weight = _mm256_set1_pd(weights[l]);
                        _mm256_storeu_pd(to, _mm256_fnmadd_pd(weight, rows[l / WIDE][l % WIDE], _mm256_loadu_pd(to)));
                    }
                }
            }
        }

        #[inline(always)]
        fn scatter([x, y, z]: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
            let rows = [Register::rows([x.0, y.0, z.0]), Register::rows([x.1, y.1, z.1])];
            for l in 0..EIGHT {
                let to = &mut to[row(at[l], first, to.len())];
                // SAFETY: four numbers are there.
                unsafe {
                    let sum = _mm256_add_pd(_mm256_loadu_pd(to.as_ptr()), rows[l / WIDE][l % WIDE]);
                    _mm256_storeu_pd(to.as_mut_ptr(), sum);
                }
            }
        }

        #[inline(always)]
        unsafe fn add(components: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
            let [x, y, z] = components;
            let rows = [Register::rows([x.0, y.0, z.0]), Register::rows([x.1, y.1, z.1])];
            debug_assert!(at.iter().all(|at| (*at as usize).wrapping_sub(first) < to.len()));
            let start = to.as_mut_ptr().wrapping_sub(first);
            for l in 0..EIGHT {
                // SAFETY: by the caller.
                unsafe {
                    let to = start.wrapping_add(at[l] as usize).cast();
                    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), rows[l / WIDE][l % WIDE]));
                }
            }
        }

        #[inline(always)]
        unsafe fn exchange(components: [Self; 3], i: &[u32; EIGHT], j: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
            let [x, y, z] = components;
            let rows = [Register::rows([x.0, y.0, z.0]), Register::rows([x.1, y.1, z.1])];
            debug_assert!(i.iter().chain(j).all(|at| (*at as usize).wrapping_sub(first) < to.len()));
            let start = to.as_mut_ptr().wrapping_sub(first);
            for l in 0..EIGHT {
                // SAFETY: by the caller.
                unsafe {
                    let to = start.wrapping_add(i[l] as usize).cast();
                    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), rows[l / WIDE][l % WIDE]));
                }
            }
            for l in 0..EIGHT {
                // SAFETY: as above.
                unsafe {
                    let to = start.wrapping_add(j[l] as usize).cast();
                    _mm256_storeu_pd(to, _mm256_sub_pd(_mm256_loadu_pd(to), rows[l / WIDE][l % WIDE]));
                }
            }
        }
    }

    /// Sums of vectors at a few places, by weights.
    ///
    /// # Safety
    /// There must be such places.
    #[inline(always)]
    pub(super) unsafe fn weighed(of: &[Padded], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [__m256d; EIGHT] {
        let mut rows = [unsafe { _mm256_setzero_pd() }; EIGHT];
        for (at, weights) in at.iter().zip(weights) {
            for l in 0..EIGHT {
                debug_assert!((at[l] as usize) < of.len());
                // SAFETY: by the caller.
                unsafe {
                    let from = _mm256_loadu_pd(of.get_unchecked(at[l] as usize).as_ptr());
                    rows[l] = _mm256_fmadd_pd(_mm256_set1_pd(weights[l]), from, rows[l]);
                }
            }
        }
        rows
    }

    /// All first components, all second, all third.
    #[inline(always)]
    fn joined([a, b, c, d, e, f, g, h]: &[__m256d; EIGHT]) -> [Twice; 3] {
        let (low, high) = (Register::turned([*a, *b, *c, *d]), Register::turned([*e, *f, *g, *h]));
        [Twice(low[0], high[0]), Twice(low[1], high[1]), Twice(low[2], high[2])]
    }

    /// From one vector to another.
    ///
    /// # Safety
    /// There must be such vectors.
    #[inline(always)]
    pub(super) unsafe fn apart(of: &[Padded], i: u32, j: u32) -> __m256d {
        debug_assert!((i.max(j) as usize) < of.len());
        // SAFETY: by the caller.
        unsafe {
            let (from, to) = (of.get_unchecked(i as usize).as_ptr(), of.get_unchecked(j as usize).as_ptr());
            _mm256_sub_pd(_mm256_loadu_pd(to), _mm256_loadu_pd(from))
        }
    }
}

/// In one AVX-512 register. To be used in functions compiled for AVX-512 F, DQ and VL only, which is what makes the calls sound.
#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use super::*;
    use std::arch::x86_64::*;

    /// All eight.
    #[derive(Clone, Copy)]
    pub struct Whole(__m512d);

    // SAFETY of every call below: the type is used after AVX-512 has been found.
    impl Arithmetic for Whole {
        const SMALL: f64 = 1e-9;

        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm512_set1_pd(value) })
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            Self(unsafe { _mm512_sub_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(unsafe { _mm512_mul_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn fused(self, other: Self, more: Self) -> Self {
            Self(unsafe { _mm512_fmadd_pd(self.0, other.0, more.0) })
        }

        #[inline(always)]
        fn taken(self, other: Self, less: Self) -> Self {
            Self(unsafe { _mm512_fnmadd_pd(self.0, other.0, less.0) })
        }

        #[inline(always)]
        fn root(self) -> Self {
            Self(unsafe { _mm512_sqrt_pd(self.0) })
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            Self(unsafe { _mm512_div_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            Self(unsafe { _mm512_max_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Self(unsafe { _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a.0, b.0), no.0, yes.0) })
        }

        #[inline(always)]
        fn all_below(self, limit: Self) -> bool {
            unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, limit.0) == 0xff }
        }
    }

    impl Doubles for Whole {
        #[inline(always)]
        fn load(from: &[f64; EIGHT]) -> Self {
            Self(unsafe { _mm512_loadu_pd(from.as_ptr()) })
        }

        #[inline(always)]
        fn load_single(from: &[f32; EIGHT]) -> Self {
            Self(unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(from.as_ptr())) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f64; EIGHT]) {
            unsafe { _mm512_storeu_pd(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        unsafe fn between(of: &[Both], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [[Self; 3]; 2] {
            let mut r = [unsafe { _mm512_setzero_pd() }; EIGHT];
            for l in 0..EIGHT {
                debug_assert!((i[l].max(j[l]) as usize) < of.len());
                // SAFETY: by the caller.
                unsafe {
                    let from = of.get_unchecked(i[l] as usize).0.as_flattened().as_ptr();
                    let to = of.get_unchecked(j[l] as usize).0.as_flattened().as_ptr();
                    r[l] = _mm512_sub_pd(_mm512_load_pd(to), _mm512_load_pd(from));
                }
            }
            both(r)
        }

        #[inline(always)]
        unsafe fn difference(of: &[Padded], i: &[u32; EIGHT], j: &[u32; EIGHT]) -> [Self; 3] {
            let mut pairs = [unsafe { _mm512_setzero_pd() }; 4];
            for l in 0..4 {
                // SAFETY: by the caller.
                unsafe {
                    let low = _mm512_castpd256_pd512(super::avx2::apart(of, i[l], j[l]));
                    pairs[l] = _mm512_insertf64x4::<1>(low, super::avx2::apart(of, i[l + 4], j[l + 4]));
                }
            }
            turned(pairs)
        }

        #[inline(always)]
        unsafe fn weigh(of: &[Both], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [[Self; 3]; 2] {
            let mut rows = [unsafe { _mm512_setzero_pd() }; EIGHT];
            for (at, weights) in at.iter().zip(weights) {
                for l in 0..EIGHT {
                    debug_assert!((at[l] as usize) < of.len());
                    // SAFETY: by the caller.
                    unsafe {
                        let from = _mm512_load_pd(of.get_unchecked(at[l] as usize).0.as_flattened().as_ptr());
                        rows[l] = _mm512_fmadd_pd(_mm512_set1_pd(weights[l]), from, rows[l]);
                    }
                }
            }
            both(rows)
        }

        #[inline(always)]
        unsafe fn weigh_one(of: &[Padded], at: &[[u32; EIGHT]], weights: &[[f64; EIGHT]]) -> [Self; 3] {
            // SAFETY: by the caller.
            let rows = unsafe { super::avx2::weighed(of, at, weights) };
            let mut pairs = [unsafe { _mm512_setzero_pd() }; 4];
            for l in 0..4 {
                pairs[l] = unsafe { _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(rows[l]), rows[l + 4]) };
            }
            turned(pairs)
        }

        #[inline(always)]
        unsafe fn hand_out(
            components: [Self; 3],
            at: &[[u32; EIGHT]],
            weights: &[[f64; EIGHT]],
            first: usize,
            to: &mut [Padded],
        ) {
            let rows = rows(components);
            let start = to.as_mut_ptr().wrapping_sub(first);
            for (at, weights) in at.iter().zip(weights) {
                debug_assert!(at.iter().all(|at| (*at as usize).wrapping_sub(first) < to.len()));
                for l in 0..EIGHT {
                    // SAFETY: by the caller.
                    unsafe {
                        let to = start.wrapping_add(at[l] as usize).cast();
                        let weight = _mm256_set1_pd(weights[l]);
                        _mm256_storeu_pd(to, _mm256_fnmadd_pd(weight, one(&rows, l), _mm256_loadu_pd(to)));
                    }
                }
            }
        }

        #[inline(always)]
        fn scatter(components: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
            let rows = rows(components);
            for l in 0..EIGHT {
                let to = &mut to[row(at[l], first, to.len())];
                unsafe {
                    let sum = _mm256_add_pd(_mm256_loadu_pd(to.as_ptr()), one(&rows, l));
                    _mm256_storeu_pd(to.as_mut_ptr(), sum);
                }
            }
        }

        #[inline(always)]
        unsafe fn add(components: [Self; 3], at: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
            let rows = rows(components);
            debug_assert!(at.iter().all(|at| (*at as usize).wrapping_sub(first) < to.len()));
            let start = to.as_mut_ptr().wrapping_sub(first);
            for l in 0..EIGHT {
                // SAFETY: by the caller.
                unsafe {
                    let to = start.wrapping_add(at[l] as usize).cast();
                    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), one(&rows, l)));
                }
            }
        }

        #[inline(always)]
        unsafe fn exchange(components: [Self; 3], i: &[u32; EIGHT], j: &[u32; EIGHT], first: usize, to: &mut [Padded]) {
            let rows = rows(components);
            debug_assert!(i.iter().chain(j).all(|at| (*at as usize).wrapping_sub(first) < to.len()));
            let start = to.as_mut_ptr().wrapping_sub(first);
            for l in 0..EIGHT {
                // SAFETY: by the caller.
                unsafe {
                    let to = start.wrapping_add(i[l] as usize).cast();
                    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), one(&rows, l)));
                }
            }
            for l in 0..EIGHT {
                // SAFETY: as above.
                unsafe {
                    let to = start.wrapping_add(j[l] as usize).cast();
                    _mm256_storeu_pd(to, _mm256_sub_pd(_mm256_loadu_pd(to), one(&rows, l)));
                }
            }
        }
    }

    /// Vectors by themselves, each with a zero, from their components: 0 and 2, 1 and 3, 4 and 6, 5 and 7.
    #[inline(always)]
    fn rows([x, y, z]: [Whole; 3]) -> [__m512d; 4] {
        // SAFETY: as above.
        unsafe {
            let (even, odd) = (_mm512_unpacklo_pd(x.0, y.0), _mm512_unpackhi_pd(x.0, y.0)); // x0 y0 x2 y2 …
            let nothing = _mm512_setzero_pd();
            let (last, most) = (_mm512_unpacklo_pd(z.0, nothing), _mm512_unpackhi_pd(z.0, nothing)); // z0 0 z2 0 …
            let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            [
                _mm512_permutex2var_pd(even, low, last),
                _mm512_permutex2var_pd(odd, low, most),
                _mm512_permutex2var_pd(even, high, last),
                _mm512_permutex2var_pd(odd, high, most),
            ]
        }
    }

    /// One of them.
    #[inline(always)]
    fn one(rows: &[__m512d; 4], l: usize) -> __m256d {
        let pair = rows[l / 4 * 2 + l % 2];
        // SAFETY: as above.
        unsafe { if l % 4 < 2 { _mm512_castpd512_pd256(pair) } else { _mm512_extractf64x4_pd::<1>(pair) } }
    }

    /// Components of first vectors and of second ones.
    #[inline(always)]
    fn both(r: [__m512d; EIGHT]) -> [[Whole; 3]; 2] {
        // SAFETY: as above.
        unsafe {
            // x0 x1 z0 z1 u0 u1 w0 w1 | y0 y1 0 0 v0 v1 0 0
            let (a, b) = (_mm512_unpacklo_pd(r[0], r[1]), _mm512_unpackhi_pd(r[0], r[1]));
            let (c, d) = (_mm512_unpacklo_pd(r[2], r[3]), _mm512_unpackhi_pd(r[2], r[3]));
            let (e, f) = (_mm512_unpacklo_pd(r[4], r[5]), _mm512_unpackhi_pd(r[4], r[5]));
            let (g, h) = (_mm512_unpacklo_pd(r[6], r[7]), _mm512_unpackhi_pd(r[6], r[7]));
            // x0 x1 u0 u1 x2 x3 u2 u3, and the same of the other four.
            let (x, xx) = (_mm512_shuffle_f64x2::<0x88>(a, c), _mm512_shuffle_f64x2::<0x88>(e, g));
            let (y, yy) = (_mm512_shuffle_f64x2::<0x88>(b, d), _mm512_shuffle_f64x2::<0x88>(f, h));
            let (z, zz) = (_mm512_shuffle_f64x2::<0xdd>(a, c), _mm512_shuffle_f64x2::<0xdd>(e, g));
            [
                [
                    Whole(_mm512_shuffle_f64x2::<0x88>(x, xx)),
                    Whole(_mm512_shuffle_f64x2::<0x88>(y, yy)),
                    Whole(_mm512_shuffle_f64x2::<0x88>(z, zz)),
                ],
                [
                    Whole(_mm512_shuffle_f64x2::<0xdd>(x, xx)),
                    Whole(_mm512_shuffle_f64x2::<0xdd>(y, yy)),
                    Whole(_mm512_shuffle_f64x2::<0xdd>(z, zz)),
                ],
            ]
        }
    }

    /// All first components, all second, all third, of vectors 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    #[inline(always)]
    fn turned([a, b, c, d]: [__m512d; 4]) -> [Whole; 3] {
        // SAFETY: as above.
        unsafe {
            let (xz, y) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)); // x0 x1 z0 z1 x4 x5 z4 z5
            let (uw, v) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d)); // x2 x3 z2 z3 x6 x7 z6 z7
            let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            [
                Whole(_mm512_permutex2var_pd(xz, low, uw)),
                Whole(_mm512_permutex2var_pd(y, low, v)),
                Whole(_mm512_permutex2var_pd(xz, high, uw)),
            ]
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::Kind;
    use super::*;
    use glam::swizzles::Vec3Swizzles;

    const PLACES: [u32; EIGHT] = [1, 2, 3, 4, 5, 6, 7, 8];

    #[inline(always)]
    fn all<D: Doubles>(from: &[DVec3], at: &[u32; EIGHT], out: &mut [[f64; EIGHT]; 10], to: &mut [Padded]) {
        let both: Vec<Both> = from.iter().map(|&x| Both::new(x, x.zxy() * x.y)).collect();
        // SAFETY: all have one.
        let [d, e] = unsafe { D::between(&both, at, &PLACES) };
        for c in 0..3 {
            d[c].store(&mut out[3 + c]);
            e[c].store(&mut out[6 + c]);
        }
        let padded: Vec<Padded> = both.iter().map(|b| b.0[1]).collect();
        // SAFETY: as above.
        let f = unsafe { D::difference(&padded, at, &PLACES) };
        f[0].minus(e[0]).plus(f[1].minus(e[1])).plus(f[2].minus(e[2])).store(&mut out[9]);
        let [x, y, z] = [d[0], e[1], d[2]];
        D::scatter([x, z, y.times(z)], at, 1, &mut to[..6]);
        D::scatter([y, y.taken(x, z), x], at, 1, &mut to[..6]);
        let length = z.fused(z, y.fused(y, x.times(x))).root();
        let chosen = D::choose(x, y, x.over(length.larger(D::splat(1e-3))), z.minus(y.plus(x)));
        chosen.store(&mut out[0]);
        let (few, weights) = ([*at, PLACES, [0; 8]], [[0.3; 8], [0.1, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.0], [1.0; 8]]);
        // SAFETY: as above.
        let ([d, e], f) = unsafe { (D::weigh(&both, &few, &weights), D::weigh_one(&padded, &few, &weights)) };
        d[0].plus(d[1].times(d[2])).store(&mut out[1]);
        f[0].minus(e[0]).plus(f[1].minus(e[1])).plus(f[2].minus(e[2])).store(&mut out[2]);
        // SAFETY: they are among fourteen.
        unsafe {
            D::hand_out(d, &few, &weights, 0, to);
            D::add([z, x, y], &at.map(|i| i + 5), 3, to);
            D::exchange([y, x, z], &at.map(|i| i + 3), &[13, 4, 4, 3, 9, 8, 3, 5], 3, to);
        }
        if chosen.all_below(D::splat(0.5)) {
            out[0] = [7.0; EIGHT];
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn all_avx2(from: &[DVec3], at: &[u32; EIGHT], out: &mut [[f64; EIGHT]; 10], to: &mut [Padded]) {
        all::<avx2::Twice>(from, at, out, to);
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    fn all_avx512(from: &[DVec3], at: &[u32; EIGHT], out: &mut [[f64; EIGHT]; 10], to: &mut [Padded]) {
        all::<avx512::Whole>(from, at, out, to);
    }

    /// Catches wrong shuffles, vectors taken from or put to the wrong place, the last one read beyond the end, and results that
    /// depend on the processor.
    #[test]
    fn registers_and_plain_numbers_agree_to_the_bit() {
        let from: Vec<DVec3> = (0..9).map(|i| DVec3::new((3 * i) as f64, (i as f64).sin(), 0.1 - i as f64)).collect();
        for at in [[5, 0, 3, 8, 3, 7, 1, 2], [8, 8, 8, 8, 0, 0, 4, 4]] {
            let (mut plain, mut places) = ([[0.0; EIGHT]; 10], vec![[0.0; 4]; 14]);
            all::<[f64; EIGHT]>(&from, &at, &mut plain, &mut places);
            let bits = |of: &[[f64; EIGHT]; 10]| of.map(|row| row.map(f64::to_bits));
            assert!(plain[9] == [0.0; EIGHT] && plain[2] == [0.0; EIGHT]);
            let turned = |i: usize| from[i].zxy() * from[i].y;
            assert!((0..EIGHT).all(|l| plain[7][l] == turned(l + 1).y - turned(at[l] as usize).y));
            let (mut register, mut found) = ([[0.0; EIGHT]; 10], vec![[0.0; 4]; 14]);
            if Kind::found() != Kind::Plain {
                // SAFETY: the processor has AVX2 and FMA.
                unsafe { all_avx2(&from, &at, &mut register, &mut found) };
                assert_eq!((bits(&plain), &places), (bits(&register), &found));
            }
            if Kind::found() == Kind::Avx512 {
                let mut found = vec![[0.0; 4]; 14];
                // SAFETY: the processor has all of them.
                unsafe { all_avx512(&from, &at, &mut register, &mut found) };
                assert_eq!((bits(&plain), places), (bits(&register), found));
            }
        }
    }
}
