//! Numbers side by side in AVX2 registers. To be used in functions compiled for AVX2 only, which is what makes the calls sound.

use super::{Arithmetic, Lanes, WIDE};
use std::arch::x86_64::*;

/// To be used in functions compiled for AVX2 only, which is what makes the calls below sound.
#[derive(Clone, Copy)]
pub struct Register(__m256d);

// SAFETY of every call below: the type is used after AVX2 has been found.
impl Arithmetic for Register {
    const SMALL: f64 = 1e-9;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(unsafe { _mm256_set1_pd(value) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(unsafe { _mm256_add_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(unsafe { _mm256_sub_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(unsafe { _mm256_mul_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn fused(self, other: Self, more: Self) -> Self {
        Self(unsafe { _mm256_fmadd_pd(self.0, other.0, more.0) })
    }

    #[inline(always)]
    fn taken(self, other: Self, less: Self) -> Self {
        Self(unsafe { _mm256_fnmadd_pd(self.0, other.0, less.0) })
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Self(unsafe { _mm256_div_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self(unsafe { _mm256_max_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
        Self(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LT_OQ>(a.0, b.0)) })
    }

    #[inline(always)]
    fn all_below(self, limit: Self) -> bool {
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, limit.0)) == 0b1111 }
    }
}

impl Lanes for Register {
    #[inline(always)]
    fn load(from: &[f64; WIDE]) -> Self {
        Self(unsafe { _mm256_loadu_pd(from.as_ptr()) })
    }

    #[inline(always)]
    fn load_single(from: &[f32; WIDE]) -> Self {
        Self(unsafe { _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr())) })
    }

    #[inline(always)]
    fn store(self, to: &mut [f64; WIDE]) {
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn load_vector(from: &[f64; 3]) -> Self {
        Self(unsafe { _mm256_set_m128d(_mm_load_sd(&from[2]), _mm_loadu_pd(from.as_ptr())) })
    }

    #[inline(always)]
    fn store_vector(self, to: &mut [f64; 3]) {
        unsafe {
            _mm_storeu_pd(to.as_mut_ptr(), _mm256_castpd256_pd128(self.0));
            _mm_store_sd(&mut to[2], _mm256_extractf128_pd::<1>(self.0));
        }
    }

    #[inline(always)]
    fn inverse(self, least: f64) -> Self {
        // The second operand is what a number that is not one gives, as with f64::max.
        Self(unsafe { _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_max_pd(self.0, _mm256_set1_pd(least))) })
    }

    #[inline(always)]
    fn across(self) -> Self {
        unsafe {
            let pairs = _mm256_hadd_pd(self.0, self.0); // 0+1 0+1 2+3 2+3
            Self(_mm256_add_pd(pairs, _mm256_permute2f128_pd::<0x01>(pairs, pairs)))
        }
    }

    #[inline(always)]
    fn fetch(from: &[f64], at: usize) {
        // A prefetch beyond the end does nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(at).cast()) }
    }

    #[inline(always)]
    fn components([a, b, c]: [Self; 3]) -> [Self; 3] {
        // x0 y0 z0 x1 | y1 z1 x2 y2 | z2 x3 y3 z3
        unsafe {
            let xy = _mm256_blend_pd::<0b1100>(a.0, b.0); // x0 y0 x2 y2
            let zx = _mm256_permute2f128_pd::<0x21>(a.0, c.0); // z0 x1 z2 x3
            let yz = _mm256_blend_pd::<0b1100>(b.0, c.0); // y1 z1 y3 z3
            [
                Self(_mm256_shuffle_pd::<0b1010>(xy, zx)),
                Self(_mm256_shuffle_pd::<0b0101>(xy, yz)),
                Self(_mm256_shuffle_pd::<0b1010>(zx, yz)),
            ]
        }
    }

    #[inline(always)]
    fn thrice(self) -> [Self; 3] {
        unsafe {
            [
                Self(_mm256_permute4x64_pd::<0b01_00_00_00>(self.0)),
                Self(_mm256_permute4x64_pd::<0b10_10_01_01>(self.0)),
                Self(_mm256_permute4x64_pd::<0b11_11_11_10>(self.0)),
            ]
        }
    }

    #[inline(always)]
    fn shift([_, _, z]: [Self; 3], [a, b, c]: [Self; 3]) -> [Self; 3] {
        unsafe {
            [
                Self(_mm256_permute4x64_pd::<0b00_11_10_01>(_mm256_blend_pd::<0b0001>(z.0, a.0))),
                Self(_mm256_permute4x64_pd::<0b00_11_10_01>(_mm256_blend_pd::<0b0001>(a.0, b.0))),
                Self(_mm256_permute4x64_pd::<0b00_11_10_01>(_mm256_blend_pd::<0b0001>(b.0, c.0))),
            ]
        }
    }
}

impl Register {
    /// All first components, all second, all third, of four vectors by themselves.
    #[inline(always)]
    pub(super) fn turned([a, b, c, d]: [__m256d; WIDE]) -> [Self; 3] {
        unsafe {
            let (xz, y) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)); // x0 x1 z0 z1 | y0 y1
            let (uw, v) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d)); // x2 x3 z2 z3 | y2 y3
            [
                Self(_mm256_permute2f128_pd::<0x20>(xz, uw)),
                Self(_mm256_permute2f128_pd::<0x20>(y, v)),
                Self(_mm256_permute2f128_pd::<0x31>(xz, uw)),
            ]
        }
    }

    /// Vectors by themselves, each with a zero, from their components.
    #[inline(always)]
    pub(super) fn rows([x, y, z]: [Self; 3]) -> [__m256d; WIDE] {
        unsafe {
            let nothing = _mm256_setzero_pd();
            let (even, odd) = (_mm256_unpacklo_pd(x.0, y.0), _mm256_unpackhi_pd(x.0, y.0)); // x0 y0 x2 y2 | x1 y1 x3 y3
            let (last, most) = (_mm256_unpacklo_pd(z.0, nothing), _mm256_unpackhi_pd(z.0, nothing));
            [
                _mm256_permute2f128_pd::<0x20>(even, last),
                _mm256_permute2f128_pd::<0x20>(odd, most),
                _mm256_permute2f128_pd::<0x31>(even, last),
                _mm256_permute2f128_pd::<0x31>(odd, most),
            ]
        }
    }
}
