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
                let row = if l / 4 % 2 == 0 { _mm512_castps512_ps256(pair) } else { _mm512_extractf32x8_ps::<1>(pair) };
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
