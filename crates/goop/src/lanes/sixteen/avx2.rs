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
            let (c, d) =
                (_mm256_set_m128(rows[8 * h + 6], rows[8 * h + 2]), _mm256_set_m128(rows[8 * h + 7], rows[8 * h + 3]));
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
