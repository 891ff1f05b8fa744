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
pub mod avx2 {
    use super::{Arithmetic, Both, FROM, Padded, Sixteen, WIDEST, not_too_small};
    use std::arch::x86_64::*;

    /// To be used in functions compiled for AVX2 and FMA only, which is what makes the calls below sound.
    #[derive(Clone, Copy)]
    pub struct Pair(__m256, __m256);

    // SAFETY of every call below: the type is used after AVX2 and FMA have been found.
    impl Arithmetic for Pair {
        const SMALL: f64 = 1e-5;

        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self::single(not_too_small(value))
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            unsafe { Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            unsafe { Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)) }
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            unsafe { Self(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)) }
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            unsafe { Self(_mm256_div_ps(self.0, other.0), _mm256_div_ps(self.1, other.1)) }
        }

        #[inline(always)]
        fn root(self) -> Self {
            unsafe { Self(_mm256_sqrt_ps(self.0), _mm256_sqrt_ps(self.1)) }
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            unsafe { Self(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)) }
        }

        #[inline(always)]
        fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
            unsafe {
                Self(
                    _mm256_blendv_ps(no.0, yes.0, _mm256_cmp_ps::<_CMP_LT_OQ>(a.0, b.0)),
                    _mm256_blendv_ps(no.1, yes.1, _mm256_cmp_ps::<_CMP_LT_OQ>(a.1, b.1)),
                )
            }
        }

        #[inline(always)]
        fn fused(self, other: Self, more: Self) -> Self {
            unsafe { Self(_mm256_fmadd_ps(self.0, other.0, more.0), _mm256_fmadd_ps(self.1, other.1, more.1)) }
        }

        #[inline(always)]
        fn taken(self, other: Self, less: Self) -> Self {
            unsafe { Self(_mm256_fnmadd_ps(self.0, other.0, less.0), _mm256_fnmadd_ps(self.1, other.1, less.1)) }
        }

        #[inline(always)]
        fn all_below(self, limit: Self) -> bool {
            unsafe {
                let (low, high) =
                    (_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0), _mm256_cmp_ps::<_CMP_LT_OQ>(self.1, limit.1));
                _mm256_movemask_ps(_mm256_and_ps(low, high)) == 0xff
            }
        }
    }

    impl Sixteen for Pair {
        #[inline(always)]
        fn single(value: f32) -> Self {
            let both = unsafe { _mm256_set1_ps(value) };
            Self(both, both)
        }

        #[inline(always)]
        fn load(from: &[f32; WIDEST]) -> Self {
            unsafe { Self(_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))) }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; WIDEST]) {
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), self.0);
                _mm256_storeu_ps(to.as_mut_ptr().add(8), self.1);
            }
        }

        #[inline(always)]
        fn add_squares([a, x, y, z]: [Self; 4], to: &mut [[f64; WIDEST]; 6]) {
            let (a, x, y, z) = (a.quarters(), x.quarters(), y.quarters(), z.quarters());
            for q in 0..4 {
                let squares = unsafe {
                    [
                        _mm256_mul_pd(x[q], x[q]),
                        _mm256_mul_pd(x[q], y[q]),
                        _mm256_mul_pd(x[q], z[q]),
                        _mm256_mul_pd(y[q], y[q]),
                        _mm256_mul_pd(y[q], z[q]),
                        _mm256_mul_pd(z[q], z[q]),
                    ]
                };
                for k in 0..6 {
                    unsafe {
                        let to = to[k].as_mut_ptr().add(4 * q);
                        let mut sum = _mm256_add_pd(_mm256_loadu_pd(to), squares[k]);
                        if k == 0 || k == 3 || k == 5 {
                            sum = _mm256_add_pd(sum, a[q]);
                        }
                        _mm256_storeu_pd(to, sum);
                    }
                }
            }
        }

        #[inline(always)]
        fn turned(self, by: usize) -> Self {
            unsafe {
                // Only the last three bits count within a half, the fourth says which.
                let from = _mm256_loadu_si256(FROM[by % WIDEST].as_ptr().cast());
                let (low, high) = (_mm256_permutevar8x32_ps(self.0, from), _mm256_permutevar8x32_ps(self.1, from));
                let other = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(from));
                Self(_mm256_blendv_ps(low, high, other), _mm256_blendv_ps(high, low, other))
            }
        }

        #[inline(always)]
        unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDEST], first: usize) -> [Self; 3] {
            debug_assert!(at.iter().all(|i| (*i as usize).wrapping_sub(first) < from.len()));
            let [x, y, z, _] = unsafe { quadruples(from.as_ptr().wrapping_sub(first), at) };
            [x, y, z]
        }

        #[inline(always)]
        unsafe fn add(components: [Self; 3], at: &[u32; WIDEST], first: usize, to: &mut [[f32; 4]]) {
            debug_assert!(at.iter().all(|i| (*i as usize).wrapping_sub(first) < to.len()));
            let rows = rows(components);
            for l in 0..WIDEST {
                unsafe {
                    let half = rows[l / 8][l % 4];
                    let own = if l % 8 < 4 { _mm256_castps256_ps128(half) } else { _mm256_extractf128_ps::<1>(half) };
                    let to: *mut f32 = to.as_mut_ptr().add((at[l] as usize).wrapping_sub(first)).cast();
                    _mm_storeu_ps(to, _mm_add_ps(_mm_loadu_ps(to), own));
                }
            }
        }

        #[inline(always)]
        fn separate(components: [Self; 3], to: &mut [[f32; 4]; WIDEST]) {
            let rows = rows(components);
            for l in 0..WIDEST {
                unsafe {
                    let half = rows[l / 8][l % 4];
                    let own = if l % 8 < 4 { _mm256_castps256_ps128(half) } else { _mm256_extractf128_ps::<1>(half) };
                    _mm_storeu_ps(to[l].as_mut_ptr(), own);
                }
            }
        }

        #[inline(always)]
        unsafe fn between(of: &[Both], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [[Self; 3]; 2] {
            let mut rows = [unsafe { _mm256_setzero_ps() }; WIDEST];
            for l in 0..WIDEST {
                debug_assert!((i[l].max(j[l]) as usize) < of.len());
                // SAFETY: by the caller.
                unsafe {
                    let (from, to) = (&of.get_unchecked(i[l] as usize).0, &of.get_unchecked(j[l] as usize).0);
                    let first = _mm256_sub_pd(_mm256_load_pd(to[0].as_ptr()), _mm256_load_pd(from[0].as_ptr()));
                    let second = _mm256_sub_pd(_mm256_load_pd(to[1].as_ptr()), _mm256_load_pd(from[1].as_ptr()));
                    rows[l] = _mm256_set_m128(_mm256_cvtpd_ps(second), _mm256_cvtpd_ps(first));
                }
            }
            taken_apart(rows)
        }

        #[inline(always)]
        unsafe fn difference(of: &[Padded], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [Self; 3] {
            let mut rows = [unsafe { _mm_setzero_ps() }; WIDEST];
            for l in 0..WIDEST {
                debug_assert!((i[l].max(j[l]) as usize) < of.len());
                // SAFETY: by the caller.
                unsafe {
                    let from = _mm256_loadu_pd(of.get_unchecked(i[l] as usize).as_ptr());
                    let to = _mm256_loadu_pd(of.get_unchecked(j[l] as usize).as_ptr());
                    rows[l] = _mm256_cvtpd_ps(_mm256_sub_pd(to, from));
                }
            }
            let [x, y, z, _] = turned_rows(rows);
            [x, y, z]
        }

        #[inline(always)]
        unsafe fn add_blocks(entries: [Self; 9], at: &[u32; WIDEST], to: &mut [f32]) {
            let mut last = [0.0; WIDEST];
            entries[8].store(&mut last);
            for h in 0..2 {
                let mut half = [unsafe { _mm256_setzero_ps() }; 8];
                for e in 0..8 {
                    half[e] = entries[e].halves()[h];
                }
                let rows = eights(half);
                for l in 0..8 {
                    // SAFETY: by the caller.
                    unsafe { add_block(to, at[8 * h + l], rows[l], last[8 * h + l]) };
                }
            }
        }

        #[inline(always)]
        unsafe fn blocks(from: &[f32], which: &[u32; WIDEST]) -> [Self; 9] {
            let mut halves = [[unsafe { _mm256_setzero_ps() }; 8]; 2];
            let mut last = [0.0; WIDEST];
            for l in 0..WIDEST {
                // SAFETY: by the caller.
                (halves[l / 8][l % 8], last[l]) = unsafe { block(from, which[l]) };
            }
            let (low, high) = (eights(halves[0]), eights(halves[1]));
            let mut out = [Self::single(0.0); 9];
            for e in 0..8 {
                out[e] = Self(low[e], high[e]);
            }
            out[8] = Self::load(&last);
            out
        }
    }

    impl Pair {
        #[inline(always)]
        pub(super) fn halves(self) -> [__m256; 2] {
            [self.0, self.1]
        }

        #[inline(always)]
        pub(super) fn of([low, high]: [__m256; 2]) -> Self {
            Self(low, high)
        }

        /// In double precision.
        #[inline(always)]
        fn quarters(self) -> [__m256d; 4] {
            unsafe {
                [
                    _mm256_cvtps_pd(_mm256_castps256_ps128(self.0)),
                    _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0)),
                    _mm256_cvtps_pd(_mm256_castps256_ps128(self.1)),
                    _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.1)),
                ]
            }
        }
    }

    /// Components of first vectors and of second ones, each pair of them with a number behind it.
    #[inline(always)]
    pub(super) fn taken_apart(rows: [__m256; WIDEST]) -> [[Pair; 3]; 2] {
        // SAFETY: as above.
        unsafe {
            // Of every four: x0 x1 x2 x3 u0 u1 u2 u3, and so on.
            let mut fours = [[_mm256_setzero_ps(); 3]; 4];
            for f in 0..4 {
                let [a, b, c, d] = [rows[4 * f], rows[4 * f + 1], rows[4 * f + 2], rows[4 * f + 3]];
                let (xy, zw) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)); // x0 x1 y0 y1 | z0 z1 w0 w1
                let (uv, st) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d)); // x2 x3 y2 y3 | z2 z3 w2 w3
                fours[f] = [
                    _mm256_shuffle_ps::<0x44>(xy, uv),
                    _mm256_shuffle_ps::<0xee>(xy, uv),
                    _mm256_shuffle_ps::<0x44>(zw, st),
                ];
            }
            let mut out = [[Pair(_mm256_setzero_ps(), _mm256_setzero_ps()); 3]; 2];
            for c in 0..3 {
                out[0][c] = Pair(
                    _mm256_permute2f128_ps::<0x20>(fours[0][c], fours[1][c]),
                    _mm256_permute2f128_ps::<0x20>(fours[2][c], fours[3][c]),
                );
                out[1][c] = Pair(
                    _mm256_permute2f128_ps::<0x31>(fours[0][c], fours[1][c]),
                    _mm256_permute2f128_ps::<0x31>(fours[2][c], fours[3][c]),
                );
            }
            out
        }
    }

    /// Eight times eight numbers, rows as columns.
    #[inline(always)]
    fn eights([a, b, c, d, e, f, g, h]: [__m256; 8]) -> [__m256; 8] {
        // SAFETY: as above.
        unsafe {
            // Pairs, then fours within halves, then halves.
            let (a0, a1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (a2, a3) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            let (a4, a5) = (_mm256_unpacklo_ps(e, f), _mm256_unpackhi_ps(e, f));
            let (a6, a7) = (_mm256_unpacklo_ps(g, h), _mm256_unpackhi_ps(g, h));
            let (b0, b1) = (_mm256_shuffle_ps::<0x44>(a0, a2), _mm256_shuffle_ps::<0xee>(a0, a2));
            let (b2, b3) = (_mm256_shuffle_ps::<0x44>(a1, a3), _mm256_shuffle_ps::<0xee>(a1, a3));
            let (b4, b5) = (_mm256_shuffle_ps::<0x44>(a4, a6), _mm256_shuffle_ps::<0xee>(a4, a6));
            let (b6, b7) = (_mm256_shuffle_ps::<0x44>(a5, a7), _mm256_shuffle_ps::<0xee>(a5, a7));
            [
                _mm256_permute2f128_ps::<0x20>(b0, b4),
                _mm256_permute2f128_ps::<0x20>(b1, b5),
                _mm256_permute2f128_ps::<0x20>(b2, b6),
                _mm256_permute2f128_ps::<0x20>(b3, b7),
                _mm256_permute2f128_ps::<0x31>(b0, b4),
                _mm256_permute2f128_ps::<0x31>(b1, b5),
                _mm256_permute2f128_ps::<0x31>(b2, b6),
                _mm256_permute2f128_ps::<0x31>(b3, b7),
            ]
        }
    }

    /// Adds eight entries and the ninth to a block.
    ///
    /// # Safety
    /// Nine numbers must be there.
    #[inline(always)]
    pub(super) unsafe fn add_block(to: &mut [f32], at: u32, entries: __m256, last: f32) {
        debug_assert!(at as usize + 9 <= to.len());
        // SAFETY: by the caller.
        unsafe {
            let to = to.as_mut_ptr().add(at as usize);
            _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to), entries));
            *to.add(8) += last;
        }
    }

    /// Eight entries and the ninth of a block or its mirror image.
    ///
    /// # Safety
    /// There must be such a block.
    #[inline(always)]
    pub(super) unsafe fn block(from: &[f32], which: u32) -> (__m256, f32) {
        static ORDER: [[i32; 8]; 2] = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 3, 6, 1, 4, 7, 2, 5]];
        let at = 9 * (which as usize / 2);
        debug_assert!(at + 9 <= from.len());
        // SAFETY: by the caller.
        unsafe {
            let from = from.as_ptr().add(at);
            let order = _mm256_loadu_si256(ORDER[which as usize % 2].as_ptr().cast());
            (_mm256_permutevar8x32_ps(_mm256_loadu_ps(from), order), *from.add(8))
        }
    }

    /// First numbers, second, third and fourth of what is at these places.
    ///
    /// # Safety
    /// There must be such places.
    #[inline(always)]
    unsafe fn quadruples(from: *const [f32; 4], at: &[u32; WIDEST]) -> [Pair; 4] {
        let mut rows = [unsafe { _mm_setzero_ps() }; WIDEST];
        for l in 0..WIDEST {
            // SAFETY: by the caller.
            rows[l] = unsafe { _mm_loadu_ps(from.wrapping_add(at[l] as usize).cast()) };
        }
        turned_rows(rows)
    }

    /// First numbers, second, third and fourth.
    #[inline(always)]
    fn turned_rows(rows: [__m128; WIDEST]) -> [Pair; 4] {
        // SAFETY: as above.
        unsafe {
            let mut out = [[_mm256_setzero_ps(); 2]; 4];
            for h in 0..2 {
                // Those of l and l + 4 side by side.
                let (a, b) =
                    (_mm256_set_m128(rows[8 * h + 4], rows[8 * h]), _mm256_set_m128(rows[8 * h + 5], rows[8 * h + 1]));
                let (c, d) = (
                    _mm256_set_m128(rows[8 * h + 6], rows[8 * h + 2]),
                    _mm256_set_m128(rows[8 * h + 7], rows[8 * h + 3]),
                );
                let (xy, zw) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)); // x0 x1 y0 y1 | z0 z1 w0 w1
                let (uv, st) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d)); // x2 x3 y2 y3 | z2 z3 w2 w3
                out[0][h] = _mm256_shuffle_ps::<0x44>(xy, uv);
                out[1][h] = _mm256_shuffle_ps::<0xee>(xy, uv);
                out[2][h] = _mm256_shuffle_ps::<0x44>(zw, st);
                out[3][h] = _mm256_shuffle_ps::<0xee>(zw, st);
            }
            [Pair::of(out[0]), Pair::of(out[1]), Pair::of(out[2]), Pair::of(out[3])]
        }
    }

    /// Vectors l and l + 4 side by side, from components, of both halves.
    #[inline(always)]
    fn rows([x, y, z]: [Pair; 3]) -> [[__m256; 4]; 2] {
        let (x, y, z) = (x.halves(), y.halves(), z.halves());
        // SAFETY: as above.
        unsafe {
            let mut out = [[_mm256_setzero_ps(); 4]; 2];
            for h in 0..2 {
                let zero = _mm256_setzero_ps();
                let (a, b) = (_mm256_unpacklo_ps(x[h], y[h]), _mm256_unpackhi_ps(x[h], y[h])); // x0 y0 x1 y1 | x2 y2 x3 y3
                let (c, d) = (_mm256_unpacklo_ps(z[h], zero), _mm256_unpackhi_ps(z[h], zero)); // z0 0 z1 0 | z2 0 z3 0
                out[h] = [
                    _mm256_shuffle_ps::<0x44>(a, c),
                    _mm256_shuffle_ps::<0xee>(a, c),
                    _mm256_shuffle_ps::<0x44>(b, d),
                    _mm256_shuffle_ps::<0xee>(b, d),
                ];
            }
            out
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use super::avx2::Pair;
    use super::{Arithmetic, Both, FROM, Padded, Sixteen, WIDEST, not_too_small};
    use std::arch::x86_64::*;

    /// To be used in functions compiled for AVX-512 (F and DQ), AVX2 and FMA only, which is what makes the calls below sound.
    #[derive(Clone, Copy)]
    pub struct Whole(__m512);

    // SAFETY of every call below: the type is used after all of them have been found.
    impl Arithmetic for Whole {
        const SMALL: f64 = 1e-5;

        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self::single(not_too_small(value))
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            Self(unsafe { _mm512_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(unsafe { _mm512_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            Self(unsafe { _mm512_div_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn root(self) -> Self {
            Self(unsafe { _mm512_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            Self(unsafe { _mm512_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Self(unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a.0, b.0), no.0, yes.0) })
        }

        #[inline(always)]
        fn fused(self, other: Self, more: Self) -> Self {
            Self(unsafe { _mm512_fmadd_ps(self.0, other.0, more.0) })
        }

        #[inline(always)]
        fn taken(self, other: Self, less: Self) -> Self {
            Self(unsafe { _mm512_fnmadd_ps(self.0, other.0, less.0) })
        }

        #[inline(always)]
        fn all_below(self, limit: Self) -> bool {
            unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, limit.0) == 0xffff }
        }
    }

    impl Sixteen for Whole {
        #[inline(always)]
        fn single(value: f32) -> Self {
            Self(unsafe { _mm512_set1_ps(value) })
        }

        #[inline(always)]
        fn load(from: &[f32; WIDEST]) -> Self {
            Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; WIDEST]) {
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add_squares([a, x, y, z]: [Self; 4], to: &mut [[f64; WIDEST]; 6]) {
            let (a, x, y, z) = (a.halves(), x.halves(), y.halves(), z.halves());
            for h in 0..2 {
                let squares = unsafe {
                    [
                        _mm512_mul_pd(x[h], x[h]),
                        _mm512_mul_pd(x[h], y[h]),
                        _mm512_mul_pd(x[h], z[h]),
                        _mm512_mul_pd(y[h], y[h]),
                        _mm512_mul_pd(y[h], z[h]),
                        _mm512_mul_pd(z[h], z[h]),
                    ]
                };
                for k in 0..6 {
                    unsafe {
                        let to = to[k].as_mut_ptr().add(8 * h);
                        let mut sum = _mm512_add_pd(_mm512_loadu_pd(to), squares[k]);
                        if k == 0 || k == 3 || k == 5 {
                            sum = _mm512_add_pd(sum, a[h]);
                        }
                        _mm512_storeu_pd(to, sum);
                    }
                }
            }
        }

        #[inline(always)]
        fn hand_squares<const ENDS: usize>(
            [a, x, y, z]: [Self; 4],
            at: [&[u32; WIDEST]; ENDS],
            first: usize,
            to: &mut [[f64; 8]],
        ) {
            // Lanes r, r + 4, r + 8 and r + 12 one after another, a x y z each.
            let (ax, yz) = unsafe { (_mm512_unpacklo_ps(a.0, x.0), _mm512_unpacklo_ps(y.0, z.0)) };
            let (ax_then, yz_then) = unsafe { (_mm512_unpackhi_ps(a.0, x.0), _mm512_unpackhi_ps(y.0, z.0)) };
            let mut turned = [[0.0f32; WIDEST]; 4];
            unsafe {
                _mm512_storeu_ps(turned[0].as_mut_ptr(), _mm512_shuffle_ps::<0x44>(ax, yz));
                _mm512_storeu_ps(turned[1].as_mut_ptr(), _mm512_shuffle_ps::<0xee>(ax, yz));
                _mm512_storeu_ps(turned[2].as_mut_ptr(), _mm512_shuffle_ps::<0x44>(ax_then, yz_then));
                _mm512_storeu_ps(turned[3].as_mut_ptr(), _mm512_shuffle_ps::<0xee>(ax_then, yz_then));
            }
            let (one, two, plain) = unsafe {
                (
                    _mm512_setr_epi64(1, 1, 1, 2, 2, 3, 0, 0),
                    _mm512_setr_epi64(1, 2, 3, 2, 3, 3, 0, 0),
                    _mm512_setzero_si512(),
                )
            };
            for l in 0..WIDEST {
                // Six products, two zeros; a beside the squares.
                let squares = unsafe {
                    let four = _mm256_cvtps_pd(_mm_loadu_ps(turned[l % 4].as_ptr().add(l / 4 * 4)));
                    let link = _mm512_castpd256_pd512(four);
                    let (b, c) = (_mm512_permutexvar_pd(one, link), _mm512_permutexvar_pd(two, link));
                    _mm512_add_pd(_mm512_maskz_mul_pd(0x3f, b, c), _mm512_maskz_permutexvar_pd(0x29, plain, link))
                };
                for places in at {
                    let to = to[places[l] as usize - first].as_mut_ptr();
                    unsafe { _mm512_storeu_pd(to, _mm512_add_pd(_mm512_loadu_pd(to), squares)) };
                }
            }
        }

        #[inline(always)]
        fn turned(self, by: usize) -> Self {
            unsafe {
                let from = _mm512_loadu_si512(FROM[by % WIDEST].as_ptr().cast());
                Self(_mm512_permutexvar_ps(from, self.0))
            }
        }

        #[inline(always)]
        unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDEST], first: usize) -> [Self; 3] {
            let [x, y, z] = unsafe { Pair::vectors(from, at, first) };
            [joined(x), joined(y), joined(z)]
        }

        #[inline(always)]
        unsafe fn add([x, y, z]: [Self; 3], at: &[u32; WIDEST], first: usize, to: &mut [[f32; 4]]) {
            unsafe { Pair::add([x.parted(), y.parted(), z.parted()], at, first, to) }
        }

        #[inline(always)]
        fn separate([x, y, z]: [Self; 3], to: &mut [[f32; 4]; WIDEST]) {
            Pair::separate([x.parted(), y.parted(), z.parted()], to);
        }

        #[inline(always)]
        unsafe fn between(of: &[Both], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [[Self; 3]; 2] {
            let mut rows = [unsafe { _mm256_setzero_ps() }; WIDEST];
            for l in 0..WIDEST {
                debug_assert!((i[l].max(j[l]) as usize) < of.len());
                // SAFETY: by the caller.
                unsafe {
                    let from = of.get_unchecked(i[l] as usize).0.as_flattened().as_ptr();
                    let to = of.get_unchecked(j[l] as usize).0.as_flattened().as_ptr();
                    rows[l] = _mm512_cvtpd_ps(_mm512_sub_pd(_mm512_load_pd(to), _mm512_load_pd(from)));
                }
            }
            let [[a, b, c], [d, e, f]] = super::avx2::taken_apart(rows);
            [[joined(a), joined(b), joined(c)], [joined(d), joined(e), joined(f)]]
        }

        #[inline(always)]
        unsafe fn difference(of: &[Padded], i: &[u32; WIDEST], j: &[u32; WIDEST]) -> [Self; 3] {
            // SAFETY: by the caller.
            let [x, y, z] = unsafe { Pair::difference(of, i, j) };
            [joined(x), joined(y), joined(z)]
        }

        #[inline(always)]
        unsafe fn add_blocks(entries: [Self; 9], at: &[u32; WIDEST], to: &mut [f32]) {
            let [a, b, c, d, e, f, g, h, last] = entries;
            let (low, high) = (fours([a.0, b.0, c.0, d.0]), fours([e.0, f.0, g.0, h.0]));
            let mut ninth = [0.0; WIDEST];
            last.store(&mut ninth);
            // Blocks k and k + 4, then k + 8 and k + 12.
            let mut pairs = [[unsafe { _mm512_setzero_ps() }; 2]; 4];
            for k in 0..4 {
                // SAFETY: as above.
                unsafe {
                    let (first, second) = (_mm512_castps_pd(low[k]), _mm512_castps_pd(high[k]));
                    let near = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
                    let far = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
                    pairs[k] = [
                        _mm512_castpd_ps(_mm512_permutex2var_pd(first, near, second)),
                        _mm512_castpd_ps(_mm512_permutex2var_pd(first, far, second)),
                    ];
                }
            }
            // In their order: a block may be among them twice.
            for l in 0..WIDEST {
                let pair = pairs[l % 4][l / 8];
                // SAFETY: as above, and by the caller.
                unsafe {
                    let row =
                        if l / 4 % 2 == 0 { _mm512_castps512_ps256(pair) } else { _mm512_extractf32x8_ps::<1>(pair) };
                    super::avx2::add_block(to, at[l], row, ninth[l]);
                }
            }
        }

        #[inline(always)]
        unsafe fn blocks(from: &[f32], which: &[u32; WIDEST]) -> [Self; 9] {
            // SAFETY: by the caller.
            let [a, b, c, d, e, f, g, h, i] = unsafe { Pair::blocks(from, which) };
            [joined(a), joined(b), joined(c), joined(d), joined(e), joined(f), joined(g), joined(h), joined(i)]
        }
    }

    impl Whole {
        /// In double precision.
        #[inline(always)]
        fn halves(self) -> [__m512d; 2] {
            unsafe {
                [_mm512_cvtps_pd(_mm512_castps512_ps256(self.0)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(self.0))]
            }
        }

        #[inline(always)]
        fn parted(self) -> Pair {
            unsafe { Pair::of([_mm512_castps512_ps256(self.0), _mm512_extractf32x8_ps::<1>(self.0)]) }
        }
    }

    /// Four numbers each, one after another: those of 0, 4, 8 and 12, of 1, 5, …
    #[inline(always)]
    fn fours([x, y, z, w]: [__m512; 4]) -> [__m512; 4] {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y)); // x0 y0 x1 y1 | x2 y2 x3 y3
            let (c, d) = (_mm512_unpacklo_ps(z, w), _mm512_unpackhi_ps(z, w)); // z0 w0 z1 w1 | z2 w2 z3 w3
            [
                _mm512_shuffle_ps::<0x44>(a, c),
                _mm512_shuffle_ps::<0xee>(a, c),
                _mm512_shuffle_ps::<0x44>(b, d),
                _mm512_shuffle_ps::<0xee>(b, d),
            ]
        }
    }

    #[inline(always)]
    fn joined(pair: Pair) -> Whole {
        let [low, high] = pair.halves();
        // SAFETY: as above.
        Whole(unsafe { _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high) })
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::Kind;
    use super::*;
    use glam::DVec3;

    #[inline(always)]
    fn all<S: Sixteen>(input: &[[f32; WIDEST]; 4], out: &mut [[f32; WIDEST]; 32], sums: &mut [[f64; WIDEST]; 6]) {
        let (a, b) = (S::load(&input[0]), S::load(&input[1]));
        let (c, d) = (S::load(&input[2]), S::load(&input[3]));
        a.fused(b, c).minus(d.times(S::single(0.3))).store(&mut out[0]);
        S::choose(a, b, a.over(b).plus(d), b.larger(d).larger(S::single(0.0)).root()).store(&mut out[1]);
        S::add_squares([a, b, c, d], sums);
        S::add_squares([d, c, b, a], sums);
        // Some of them twice, and with themselves.
        let mut alone = [[0.25; 8]; 20];
        let (from, to) =
            ([7, 3, 3, 9, 2, 4, 6, 5, 17, 12, 11, 11, 10, 16, 2, 13], std::array::from_fn(|l| 21 - l as u32));
        S::hand_squares([a, b, c, d], [&from, &to], 2, &mut alone);
        S::hand_squares([c, b, a, d], [&to], 2, &mut alone);
        for (l, alone) in alone.iter().enumerate() {
            assert!(alone[6..] == [0.25; 2]);
            for k in 0..6 {
                sums[k][l % WIDEST] += alone[k] * (1 + l / WIDEST) as f64;
            }
        }
        for by in 0..WIDEST {
            a.turned(by).store(&mut out[2 + by]);
        }
        let mut singles = [[1.0; 4]; WIDEST];
        S::separate([a, b, c], &mut singles);
        // Some of them twice.
        let at = [7, 3, 3, 9, 2, 4, 6, 5, 17, 12, 11, 11, 10, 16, 2, 13];
        // SAFETY: there are places 2 to 17.
        unsafe {
            S::add([b, c, d], &at, 2, &mut singles);
            let [x, y, z] = S::vectors(&singles, &at, 2);
            x.store(&mut out[18]);
            y.store(&mut out[19]);
            z.store(&mut out[20]);
            x.plus(y).root().store(&mut out[21]);
            let both: Vec<Both> =
                (0..18).map(|i| DVec3::new(f64::from(i), 0.3, 2.0)).map(|x| Both::new(x, x.cross(DVec3::X))).collect();
            let [d, e] = S::between(&both, &at, &at.map(|i| i / 2));
            let rows: Vec<Padded> = both.iter().map(|b| b.0[1]).collect();
            let f = S::difference(&rows, &at, &at.map(|i| i / 2));
            d[0].plus(e[1]).times(d[2].minus(e[2])).plus(f[1].minus(e[1])).store(&mut out[22]);
            let mut blocks = [0.5; 9 * 18 + 1];
            let entries = [a, b, c, d[0], a.minus(b), b.minus(c), x, y, z];
            S::add_blocks(entries, &at.map(|i| 9 * i), &mut blocks);
            // Some of them mirrored.
            let entries = S::blocks(&blocks, &at.map(|i| 2 * i + i % 2));
            for e in 0..9 {
                entries[e].store(&mut out[23 + e]);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn all_avx2(input: &[[f32; WIDEST]; 4], out: &mut [[f32; WIDEST]; 32], sums: &mut [[f64; WIDEST]; 6]) {
        all::<avx2::Pair>(input, out, sums);
    }

    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn all_avx512(input: &[[f32; WIDEST]; 4], out: &mut [[f32; WIDEST]; 32], sums: &mut [[f64; WIDEST]; 6]) {
        all::<avx512::Whole>(input, out, sums);
    }

    /// Catches wrong shuffles, and results that depend on the processor.
    #[test]
    fn registers_and_plain_numbers_agree_to_the_bit() {
        let input: [[f32; WIDEST]; 4] =
            std::array::from_fn(|i| std::array::from_fn(|k| ((16 * i + k) as f32).sin() * 3.0));
        let (mut plain, mut plain_sums) = ([[0.0; WIDEST]; 32], [[0.1; WIDEST]; 6]);
        all::<[f32; WIDEST]>(&input, &mut plain, &mut plain_sums);
        let bits = |of: &[[f32; WIDEST]; 32]| of.map(|row| row.map(f32::to_bits));
        assert!(plain[2 + 5][7] == input[0][2] && plain[2 + 5][1] == input[0][12]);
        let mut register = [[0.0; WIDEST]; 32];
        let mut sums = [[0.1; WIDEST]; 6];
        if Kind::found() != Kind::Plain {
            // SAFETY: the processor has AVX2 and FMA.
            unsafe { all_avx2(&input, &mut register, &mut sums) };
            assert_eq!(bits(&plain), bits(&register));
            assert_eq!(plain_sums, sums);
        }
        if Kind::found() == Kind::Avx512 {
            sums = [[0.1; WIDEST]; 6];
            // SAFETY: the processor has all of them.
            unsafe { all_avx512(&input, &mut register, &mut sums) };
            assert_eq!(bits(&plain), bits(&register));
            assert_eq!(plain_sums, sums);
        }
    }
}
