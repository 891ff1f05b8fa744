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
