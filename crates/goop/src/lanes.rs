//! Four numbers side by side, plainly or in an AVX2 register.
//!
//! Kernels are written once over [`Lanes`] and compiled for both. Every operation
//! rounds in the same way in both and none is fused but where it says so, so results do not depend on the
//! processor. The compiler does not find the shuffles between vectors and components
//! by itself, hence the second implementation.

use glam::DVec3;

/// How many.
pub const WIDE: usize = 4;

/// Numbers side by side, in double or single precision.
pub trait Arithmetic: Copy {
    /// What is small beside one, when an iteration asks whether it is done.
    const SMALL: f64;
    /// In single precision no number but zero is smaller than 1e-18, so that its square is one too.
    fn splat(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn root(self) -> Self;
    fn over(self, other: Self) -> Self;
    /// The larger of two; the other where one is not a number.
    fn larger(self, other: Self) -> Self;
    /// `yes` where a < b, `no` elsewhere.
    fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self;
    /// Whether a < b everywhere.
    fn all_below(self, limit: Self) -> bool;
}

/// Four numbers. Three of these hold four vectors, one after another.
pub trait Lanes: Arithmetic {
    fn load(from: &[f64; WIDE]) -> Self;
    fn load_single(from: &[f32; WIDE]) -> Self;
    fn store(self, to: &mut [f64; WIDE]);
    /// self × other + more, rounded once.
    fn fused(self, other: Self, more: Self) -> Self;
    /// Three numbers, and zero.
    fn load_vector(from: &[f64; 3]) -> Self;
    /// The first three.
    fn store_vector(self, to: &mut [f64; 3]);
    /// 1 / max(self, least)
    fn inverse(self, least: f64) -> Self;
    /// The sum of all four everywhere.
    fn across(self) -> Self;
    /// Asks for a line of memory that will be read soon.
    fn fetch(from: &[f64], at: usize);
    /// From vectors one after another to all first components, all second, all third.
    fn components(vectors: [Self; 3]) -> [Self; 3];
    /// Every number three times, as factors of vectors one after another.
    fn thrice(self) -> [Self; 3];
    /// The last of the vectors before, and the first three of these.
    fn shift(before: [Self; 3], vectors: [Self; 3]) -> [Self; 3];
    /// Vectors from anywhere: all first components, all second, all third.
    fn gather(from: &[DVec3], at: &[u32; WIDE]) -> [Self; 3];
    /// Adds components so gathered to the first `used` places, less `first`, as far as they are there.
    fn scatter(components: [Self; 3], at: &[u32; WIDE], used: usize, first: usize, to: &mut [DVec3]);

    #[inline(always)]
    fn load_vectors(from: &[f64; 3 * WIDE]) -> [Self; 3] {
        let (parts, _) = from.as_chunks::<WIDE>();
        [Self::load(&parts[0]), Self::load(&parts[1]), Self::load(&parts[2])]
    }

    #[inline(always)]
    fn store_vectors(vectors: [Self; 3], to: &mut [f64; 3 * WIDE]) {
        let (parts, _) = to.as_chunks_mut::<WIDE>();
        for k in 0..3 {
            vectors[k].store(&mut parts[k]);
        }
    }

    #[inline(always)]
    fn plus_vectors(a: [Self; 3], b: [Self; 3]) -> [Self; 3] {
        [a[0].plus(b[0]), a[1].plus(b[1]), a[2].plus(b[2])]
    }

    #[inline(always)]
    fn minus_vectors(a: [Self; 3], b: [Self; 3]) -> [Self; 3] {
        [a[0].minus(b[0]), a[1].minus(b[1]), a[2].minus(b[2])]
    }

    /// Every vector times its number.
    #[inline(always)]
    fn scale(vectors: [Self; 3], by: Self) -> [Self; 3] {
        let by = by.thrice();
        [vectors[0].times(by[0]), vectors[1].times(by[1]), vectors[2].times(by[2])]
    }

    /// Four scalar products.
    #[inline(always)]
    fn dots(a: [Self; 3], b: [Self; 3]) -> Self {
        let [x, y, z] = Self::components([a[0].times(b[0]), a[1].times(b[1]), a[2].times(b[2])]);
        x.plus(y).plus(z)
    }
}

impl Arithmetic for [f64; WIDE] {
    const SMALL: f64 = 1e-9;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        [value; WIDE]
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.map(f64::sqrt)
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] / other[l])
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        std::array::from_fn(|l| if self[l] > other[l] { self[l] } else { other[l] })
    }

    #[inline(always)]
    fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
        std::array::from_fn(|l| if a[l] < b[l] { yes[l] } else { no[l] })
    }

    #[inline(always)]
    fn all_below(self, limit: Self) -> bool {
        (self[0] < limit[0]) & (self[1] < limit[1]) & (self[2] < limit[2]) & (self[3] < limit[3])
    }
}

impl Lanes for [f64; WIDE] {
    #[inline(always)]
    fn load(from: &[f64; WIDE]) -> Self {
        *from
    }

    #[inline(always)]
    fn load_single(from: &[f32; WIDE]) -> Self {
        from.map(f64::from)
    }

    #[inline(always)]
    fn store(self, to: &mut [f64; WIDE]) {
        *to = self;
    }

    #[inline(always)]
    fn fused(self, other: Self, more: Self) -> Self {
        std::array::from_fn(|l| self[l].mul_add(other[l], more[l]))
    }

    #[inline(always)]
    fn load_vector(from: &[f64; 3]) -> Self {
        [from[0], from[1], from[2], 0.0]
    }

    #[inline(always)]
    fn store_vector(self, to: &mut [f64; 3]) {
        *to = [self[0], self[1], self[2]];
    }

    #[inline(always)]
    fn inverse(self, least: f64) -> Self {
        self.map(|value| 1.0 / value.max(least))
    }

    #[inline(always)]
    fn across(self) -> Self {
        [(self[0] + self[1]) + (self[2] + self[3]); WIDE]
    }

    #[inline(always)]
    fn fetch(_: &[f64], _: usize) {}

    #[inline(always)]
    fn components([a, b, c]: [Self; 3]) -> [Self; 3] {
        [[a[0], a[3], b[2], c[1]], [a[1], b[0], b[3], c[2]], [a[2], b[1], c[0], c[3]]]
    }

    #[inline(always)]
    fn thrice(self) -> [Self; 3] {
        let [p, q, r, s] = self;
        [[p, p, p, q], [q, q, r, r], [r, s, s, s]]
    }

    #[inline(always)]
    fn shift([_, _, z]: [Self; 3], [a, b, c]: [Self; 3]) -> [Self; 3] {
        [[z[1], z[2], z[3], a[0]], [a[1], a[2], a[3], b[0]], [b[1], b[2], b[3], c[0]]]
    }

    #[inline(always)]
    fn gather(from: &[DVec3], at: &[u32; WIDE]) -> [Self; 3] {
        let v = at.map(|i| from[i as usize]);
        [v.map(|v| v.x), v.map(|v| v.y), v.map(|v| v.z)]
    }

    #[inline(always)]
    fn scatter([x, y, z]: [Self; 3], at: &[u32; WIDE], used: usize, first: usize, to: &mut [DVec3]) {
        for l in 0..used.min(WIDE) {
            if let Some(to) = to.get_mut((at[l] as usize).wrapping_sub(first)) {
                *to += DVec3::new(x[l], y[l], z[l]);
            }
        }
    }
}

/// How many in single precision.
pub const WIDER: usize = 8;

/// Eight numbers in single precision.
pub trait Singles: Arithmetic {
    /// One number everywhere, as it is.
    fn single(value: f32) -> Self;
    /// self × other + more, rounded once.
    fn fused(self, other: Self, more: Self) -> Self;
    fn load(from: &[f32; WIDER]) -> Self;
    fn store(self, to: &mut [f32; WIDER]);
    /// Eight times eight: the first of all, the second of all, …
    fn turn(rows: [Self; WIDER], to: &mut [[f32; WIDER]; WIDER]);
    /// Vectors of corners two to four less that of the first, by components; subtracted in double precision.
    fn offsets(from: &[DVec3], corners: &[[u32; WIDER]; 4]) -> [[Self; 3]; 3];
    /// Vectors from the first of two places to the second, by components; subtracted in double precision.
    fn between(from: &[DVec3], ends: &[[u32; 2]; WIDER]) -> [Self; 3];
    /// The vectors at these places, less `first`, by components.
    ///
    /// # Safety
    /// There must be such places.
    unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDER], first: usize) -> [Self; 3];
    /// All four numbers at these places.
    ///
    /// # Safety
    /// As above.
    unsafe fn fours(from: &[[f32; 4]], at: &[u32; WIDER]) -> [Self; 4];
    /// Adds vectors by components to those at these places, less `first`, one after another.
    ///
    /// # Safety
    /// As above.
    unsafe fn add(components: [Self; 3], at: &[u32; WIDER], first: usize, to: &mut [[f32; 4]]);
    /// Vectors one after another from their components, and a zero each.
    fn separate(components: [Self; 3], to: &mut [[f32; 4]; WIDER]);
    /// The same with four components.
    fn quadruple(components: [Self; 4], to: &mut [[f32; 4]; WIDER]);
}

/// See [`Arithmetic::splat`].
#[inline(always)]
fn not_too_small(value: f64) -> f32 {
    if value > 0.0 && value < 1e-18 { 1e-18 } else { value as f32 }
}

impl Arithmetic for [f32; WIDER] {
    const SMALL: f64 = 1e-6;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        [not_too_small(value); WIDER]
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.map(f32::sqrt)
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] / other[l])
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        std::array::from_fn(|l| if self[l] > other[l] { self[l] } else { other[l] })
    }

    #[inline(always)]
    fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
        std::array::from_fn(|l| if a[l] < b[l] { yes[l] } else { no[l] })
    }

    #[inline(always)]
    fn all_below(self, limit: Self) -> bool {
        (0..WIDER).all(|l| self[l] < limit[l])
    }
}

impl Singles for [f32; WIDER] {
    #[inline(always)]
    fn single(value: f32) -> Self {
        [value; WIDER]
    }

    #[inline(always)]
    fn fused(self, other: Self, more: Self) -> Self {
        std::array::from_fn(|l| self[l].mul_add(other[l], more[l]))
    }

    #[inline(always)]
    fn load(from: &[f32; WIDER]) -> Self {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; WIDER]) {
        *to = self;
    }

    #[inline(always)]
    fn turn(rows: [Self; WIDER], to: &mut [[f32; WIDER]; WIDER]) {
        for (i, to) in to.iter_mut().enumerate() {
            for k in 0..WIDER {
                to[k] = rows[k][i];
            }
        }
    }

    #[inline(always)]
    fn offsets(from: &[DVec3], corners: &[[u32; WIDER]; 4]) -> [[Self; 3]; 3] {
        let mut out = [[[0.0; WIDER]; 3]; 3];
        for l in 0..WIDER {
            let first = from[corners[0][l] as usize];
            for a in 1..4 {
                let to = from[corners[a][l] as usize] - first;
                (out[a - 1][0][l], out[a - 1][1][l], out[a - 1][2][l]) = (to.x as f32, to.y as f32, to.z as f32);
            }
        }
        out
    }

    #[inline(always)]
    fn between(from: &[DVec3], ends: &[[u32; 2]; WIDER]) -> [Self; 3] {
        let d = ends.map(|[i, j]| from[j as usize] - from[i as usize]);
        [d.map(|d| d.x as f32), d.map(|d| d.y as f32), d.map(|d| d.z as f32)]
    }

    #[inline(always)]
    unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDER], first: usize) -> [Self; 3] {
        let v = at.map(|i| from[(i as usize).wrapping_sub(first)]);
        [v.map(|v| v[0]), v.map(|v| v[1]), v.map(|v| v[2])]
    }

    #[inline(always)]
    unsafe fn fours(from: &[[f32; 4]], at: &[u32; WIDER]) -> [Self; 4] {
        let v = at.map(|i| from[i as usize]);
        [v.map(|v| v[0]), v.map(|v| v[1]), v.map(|v| v[2]), v.map(|v| v[3])]
    }

    #[inline(always)]
    unsafe fn add([x, y, z]: [Self; 3], at: &[u32; WIDER], first: usize, to: &mut [[f32; 4]]) {
        for l in 0..WIDER {
            let to = &mut to[(at[l] as usize).wrapping_sub(first)];
            (to[0], to[1], to[2]) = (to[0] + x[l], to[1] + y[l], to[2] + z[l]);
        }
    }

    #[inline(always)]
    fn separate([x, y, z]: [Self; 3], to: &mut [[f32; 4]; WIDER]) {
        Self::quadruple([x, y, z, [0.0; WIDER]], to);
    }

    #[inline(always)]
    fn quadruple([x, y, z, w]: [Self; 4], to: &mut [[f32; 4]; WIDER]) {
        for l in 0..WIDER {
            to[l] = [x[l], y[l], z[l], w[l]];
        }
    }
}

/// The same in a register.
#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use super::{Arithmetic, Lanes, Singles, WIDE, WIDER, not_too_small};
    use glam::DVec3;
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
        fn fused(self, other: Self, more: Self) -> Self {
            Self(unsafe { _mm256_fmadd_pd(self.0, other.0, more.0) })
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

        #[inline(always)]
        fn gather(from: &[DVec3], at: &[u32; WIDE]) -> [Self; 3] {
            // The fourth number is that of the next vector, or zero; it is not used.
            let [a, b, c, d] = [row(from, at[0]), row(from, at[1]), row(from, at[2]), row(from, at[3])];
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

        #[inline(always)]
        fn scatter([x, y, z]: [Self; 3], at: &[u32; WIDE], used: usize, first: usize, to: &mut [DVec3]) {
            let (mut xy, mut last) = ([[0.0; WIDE]; 2], [0.0; WIDE]);
            unsafe {
                Self(_mm256_unpacklo_pd(x.0, y.0)).store(&mut xy[0]); // x0 y0 x2 y2
                Self(_mm256_unpackhi_pd(x.0, y.0)).store(&mut xy[1]); // x1 y1 x3 y3
            }
            z.store(&mut last);
            for l in 0..used.min(WIDE) {
                if let Some(to) = to.get_mut((at[l] as usize).wrapping_sub(first)) {
                    let (to, pair): (&mut [f64; 3], _) = (to.as_mut(), &xy[l % 2][l / 2 * 2..]);
                    unsafe {
                        let sum = _mm_add_pd(_mm_loadu_pd(to.as_ptr()), _mm_loadu_pd(pair[..2].as_ptr()));
                        _mm_storeu_pd(to.as_mut_ptr(), sum);
                    }
                    to[2] += last[l];
                }
            }
        }
    }

    /// Three numbers and one more.
    #[inline(always)]
    fn row(from: &[DVec3], at: u32) -> __m256d {
        let at = at as usize;
        if at + 1 < from.len() {
            // SAFETY: four numbers from there on are within the six of two vectors.
            unsafe { _mm256_loadu_pd(from.as_ptr().add(at).cast()) }
        } else {
            Register::load_vector(&from[at].to_array()).0
        }
    }

    /// The same in single precision.
    #[derive(Clone, Copy)]
    pub struct Eight(__m256);

    // SAFETY of every call below: as above.
    impl Arithmetic for Eight {
        const SMALL: f64 = 1e-6;

        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm256_set1_ps(not_too_small(value)) })
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn root(self) -> Self {
            Self(unsafe { _mm256_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            Self(unsafe { _mm256_div_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn choose(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Self(unsafe { _mm256_blendv_ps(no.0, yes.0, _mm256_cmp_ps::<_CMP_LT_OQ>(a.0, b.0)) })
        }

        #[inline(always)]
        fn all_below(self, limit: Self) -> bool {
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0)) == 0xff }
        }
    }

    impl Singles for Eight {
        #[inline(always)]
        fn single(value: f32) -> Self {
            Self(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn fused(self, other: Self, more: Self) -> Self {
            Self(unsafe { _mm256_fmadd_ps(self.0, other.0, more.0) })
        }

        #[inline(always)]
        fn load(from: &[f32; WIDER]) -> Self {
            Self(unsafe { _mm256_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; WIDER]) {
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn turn(rows: [Self; WIDER], to: &mut [[f32; WIDER]; WIDER]) {
            unsafe {
                // Pairs, then fours within halves, then halves.
                let (a0, a1) = (_mm256_unpacklo_ps(rows[0].0, rows[1].0), _mm256_unpackhi_ps(rows[0].0, rows[1].0));
                let (a2, a3) = (_mm256_unpacklo_ps(rows[2].0, rows[3].0), _mm256_unpackhi_ps(rows[2].0, rows[3].0));
                let (a4, a5) = (_mm256_unpacklo_ps(rows[4].0, rows[5].0), _mm256_unpackhi_ps(rows[4].0, rows[5].0));
                let (a6, a7) = (_mm256_unpacklo_ps(rows[6].0, rows[7].0), _mm256_unpackhi_ps(rows[6].0, rows[7].0));
                let (b0, b1) = (_mm256_shuffle_ps::<0x44>(a0, a2), _mm256_shuffle_ps::<0xee>(a0, a2));
                let (b2, b3) = (_mm256_shuffle_ps::<0x44>(a1, a3), _mm256_shuffle_ps::<0xee>(a1, a3));
                let (b4, b5) = (_mm256_shuffle_ps::<0x44>(a4, a6), _mm256_shuffle_ps::<0xee>(a4, a6));
                let (b6, b7) = (_mm256_shuffle_ps::<0x44>(a5, a7), _mm256_shuffle_ps::<0xee>(a5, a7));
                Self(_mm256_permute2f128_ps::<0x20>(b0, b4)).store(&mut to[0]);
                Self(_mm256_permute2f128_ps::<0x20>(b1, b5)).store(&mut to[1]);
                Self(_mm256_permute2f128_ps::<0x20>(b2, b6)).store(&mut to[2]);
                Self(_mm256_permute2f128_ps::<0x20>(b3, b7)).store(&mut to[3]);
                Self(_mm256_permute2f128_ps::<0x31>(b0, b4)).store(&mut to[4]);
                Self(_mm256_permute2f128_ps::<0x31>(b1, b5)).store(&mut to[5]);
                Self(_mm256_permute2f128_ps::<0x31>(b2, b6)).store(&mut to[6]);
                Self(_mm256_permute2f128_ps::<0x31>(b3, b7)).store(&mut to[7]);
            }
        }

        #[inline(always)]
        fn offsets(from: &[DVec3], corners: &[[u32; WIDER]; 4]) -> [[Self; 3]; 3] {
            let mut halves = [[[unsafe { _mm_setzero_ps() }; 3]; 3]; 2];
            for h in 0..2 {
                let four = |a: usize| [4 * h, 4 * h + 1, 4 * h + 2, 4 * h + 3].map(|l| corners[a][l]);
                let first = Register::gather(from, &four(0));
                for a in 1..4 {
                    let to = Register::gather(from, &four(a));
                    for k in 0..3 {
                        halves[h][a - 1][k] = unsafe { _mm256_cvtpd_ps(_mm256_sub_pd(to[k].0, first[k].0)) };
                    }
                }
            }
            let mut out = [[Self(unsafe { _mm256_setzero_ps() }); 3]; 3];
            for a in 0..3 {
                for k in 0..3 {
                    out[a][k] = Self(unsafe { _mm256_set_m128(halves[1][a][k], halves[0][a][k]) });
                }
            }
            out
        }

        #[inline(always)]
        fn between(from: &[DVec3], ends: &[[u32; 2]; WIDER]) -> [Self; 3] {
            let mut halves = [[unsafe { _mm_setzero_ps() }; 3]; 2];
            for h in 0..2 {
                let e = &ends[4 * h..4 * h + 4];
                let first = Register::gather(from, &[e[0][0], e[1][0], e[2][0], e[3][0]]);
                let second = Register::gather(from, &[e[0][1], e[1][1], e[2][1], e[3][1]]);
                for k in 0..3 {
                    halves[h][k] = unsafe { _mm256_cvtpd_ps(_mm256_sub_pd(second[k].0, first[k].0)) };
                }
            }
            let mut out = [Self(unsafe { _mm256_setzero_ps() }); 3];
            for k in 0..3 {
                out[k] = Self(unsafe { _mm256_set_m128(halves[1][k], halves[0][k]) });
            }
            out
        }

        #[inline(always)]
        unsafe fn vectors(from: &[[f32; 4]], at: &[u32; WIDER], first: usize) -> [Self; 3] {
            debug_assert!(at.iter().all(|i| (*i as usize).wrapping_sub(first) < from.len()));
            let [x, y, z, _] = unsafe { quadruples(from.as_ptr().wrapping_sub(first), at) };
            [x, y, z]
        }

        #[inline(always)]
        unsafe fn fours(from: &[[f32; 4]], at: &[u32; WIDER]) -> [Self; 4] {
            debug_assert!(at.iter().all(|i| (*i as usize) < from.len()));
            unsafe { quadruples(from.as_ptr(), at) }
        }

        #[inline(always)]
        unsafe fn add(components: [Self; 3], at: &[u32; WIDER], first: usize, to: &mut [[f32; 4]]) {
            let [x, y, z] = components;
            let rows = rows([x, y, z, Self(unsafe { _mm256_setzero_ps() })]);
            for l in 0..WIDER {
                let place = (at[l] as usize).wrapping_sub(first);
                debug_assert!(place < to.len());
                unsafe {
                    let half = rows[l % 4];
                    let own = if l < 4 { _mm256_castps256_ps128(half) } else { _mm256_extractf128_ps::<1>(half) };
                    let to: *mut f32 = to.as_mut_ptr().add(place).cast();
                    _mm_storeu_ps(to, _mm_add_ps(_mm_loadu_ps(to), own));
                }
            }
        }

        #[inline(always)]
        fn separate([x, y, z]: [Self; 3], to: &mut [[f32; 4]; WIDER]) {
            Self::quadruple([x, y, z, Self(unsafe { _mm256_setzero_ps() })], to);
        }

        #[inline(always)]
        fn quadruple(components: [Self; 4], to: &mut [[f32; 4]; WIDER]) {
            let rows = rows(components);
            for l in 0..4 {
                unsafe {
                    _mm_storeu_ps(to[l].as_mut_ptr(), _mm256_castps256_ps128(rows[l]));
                    _mm_storeu_ps(to[l + 4].as_mut_ptr(), _mm256_extractf128_ps::<1>(rows[l]));
                }
            }
        }
    }

    /// First numbers, second, third and fourth of what is at these places.
    ///
    /// # Safety
    /// There must be such places.
    #[inline(always)]
    unsafe fn quadruples(from: *const [f32; 4], at: &[u32; WIDER]) -> [Eight; 4] {
        unsafe {
            let mut half = [_mm_setzero_ps(); WIDER];
            for l in 0..WIDER {
                half[l] = _mm_loadu_ps(from.wrapping_add(at[l] as usize).cast());
            }
            // Those of l and l + 4 side by side.
            let (a, b) = (_mm256_set_m128(half[4], half[0]), _mm256_set_m128(half[5], half[1]));
            let (c, d) = (_mm256_set_m128(half[6], half[2]), _mm256_set_m128(half[7], half[3]));
            let (xy, zw) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)); // x0 x1 y0 y1 | z0 z1 w0 w1
            let (uv, st) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d)); // x2 x3 y2 y3 | z2 z3 w2 w3
            [
                Eight(_mm256_shuffle_ps::<0x44>(xy, uv)),
                Eight(_mm256_shuffle_ps::<0xee>(xy, uv)),
                Eight(_mm256_shuffle_ps::<0x44>(zw, st)),
                Eight(_mm256_shuffle_ps::<0xee>(zw, st)),
            ]
        }
    }

    /// Vectors l and l + 4 side by side, from components.
    #[inline(always)]
    fn rows([x, y, z, w]: [Eight; 4]) -> [__m256; 4] {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm256_unpacklo_ps(x.0, y.0), _mm256_unpackhi_ps(x.0, y.0)); // x0 y0 x1 y1 | x2 y2 x3 y3
            let (c, d) = (_mm256_unpacklo_ps(z.0, w.0), _mm256_unpackhi_ps(z.0, w.0)); // z0 w0 z1 w1 | z2 w2 z3 w3
            [
                _mm256_shuffle_ps::<0x44>(a, c),
                _mm256_shuffle_ps::<0xee>(a, c),
                _mm256_shuffle_ps::<0x44>(b, d),
                _mm256_shuffle_ps::<0xee>(b, d),
            ]
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Everything a kernel does, from twelve numbers to twelve.
    #[inline(always)]
    fn all<L: Lanes>(input: &[f64; 12], out: &mut [f64; 12]) {
        let v = L::load_vectors(input);
        let length = L::dots(v, v).root();
        let unit = L::scale(v, length.inverse(1e-3));
        let sum = L::plus_vectors(unit, L::minus_vectors(v, L::scale(v, L::splat(0.3))));
        L::store_vectors(L::shift(v, sum), out);
        let (vectors, _) = out.as_chunks_mut();
        let last = L::load_vector(&vectors[2]).plus(L::splat(1.0)).larger(L::splat(0.2)).plus(length.across());
        L::choose(last, L::splat(1.0), last.over(length), last).store_vector(&mut vectors[3]);
    }

    #[target_feature(enable = "avx2")]
    fn all_avx2(input: &[f64; 12], out: &mut [f64; 12]) {
        all::<avx2::Register>(input, out);
    }

    /// Catches a shuffle that mixes springs up, and results that depend on the processor.
    #[test]
    fn registers_and_plain_numbers_agree_to_the_bit() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let mut input: [f64; 12] = std::array::from_fn(|k| (k as f64 * 1.7).sin() * 3.0);
        for case in 0..3 {
            if case == 1 {
                input[3..6].fill(0.0);
            }
            if case == 2 {
                input[7] = f64::NAN;
            }
            let (mut plain, mut register) = ([0.0; 12], [0.0; 12]);
            all::<[f64; 4]>(&input, &mut plain);
            // SAFETY: the processor has AVX2.
            unsafe { all_avx2(&input, &mut register) };
            assert_eq!(plain.map(f64::to_bits), register.map(f64::to_bits));
            let v = &input[..3];
            let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            assert!((plain[4] - (v[1] / length + 0.7 * v[1])).abs() < 1e-14);
            assert_eq!(plain[1], input[10]);
        }
    }

    #[inline(always)]
    fn singles<L: Singles>(input: &[[f32; 8]; 8], out: &mut [[f32; 8]; 8]) {
        let mut rows = [L::splat(0.0); 8];
        for k in 0..8 {
            rows[k] = L::load(&input[k]);
        }
        let d = rows[0].minus(rows[1]).over(rows[2].times(rows[2]).plus(L::splat(1.0)).root());
        rows[3] = L::choose(d, L::splat(1e-200), rows[4].larger(d), rows[5]);
        if rows[6].all_below(L::splat(3.5)) {
            rows[7] = d;
        }
        L::turn(rows, out);
    }

    #[target_feature(enable = "avx2")]
    fn singles_avx2(input: &[[f32; 8]; 8], out: &mut [[f32; 8]; 8]) {
        singles::<avx2::Eight>(input, out);
    }

    /// Every way from and to places of vectors.
    #[inline(always)]
    fn places<L: Lanes, S: Singles>(from: &[DVec3], at: &[u32; 4], out: &mut [DVec3], eight: &mut [[f32; 8]; 9]) {
        let [x, y, z] = L::gather(from, at);
        L::scatter([x, z, y.times(z)], at, 3, 1, out);
        let corners = [0, 1, 2, 3].map(|a| std::array::from_fn(|l| at[(a * l + l / 3) % 4]));
        let offsets = S::offsets(from, &corners);
        for a in 0..3 {
            for k in 0..3 {
                offsets[a][k].store(&mut eight[3 * a + k]);
            }
        }
        let [x, y, z] = S::between(from, &std::array::from_fn(|l| [at[l % 4], at[l / 2]]));
        x.minus(y.times(z)).store(&mut eight[8]);
        // Out and in again by other places, some of them twice.
        let mut singles = [[1.0; 4]; WIDER];
        S::separate(offsets[0], &mut singles);
        let at = [7, 3, 3, 9, 2, 4, 6, 5];
        // SAFETY: there are places 2 to 9.
        unsafe {
            S::add(offsets[1], &at, 2, &mut singles);
            let [x, y, z] = S::vectors(&singles, &at, 2);
            x.plus(y.times(z)).store(&mut eight[0]);
            let [_, a, _, b] = S::fours(&singles, &at.map(|i| i - 2));
            a.minus(b).store(&mut eight[1]);
        }
    }

    #[target_feature(enable = "avx2")]
    fn places_avx2(from: &[DVec3], at: &[u32; 4], out: &mut [DVec3], eight: &mut [[f32; 8]; 9]) {
        places::<avx2::Register, avx2::Eight>(from, at, out, eight);
    }

    /// Catches vectors taken from or put to the wrong place, and the last one read beyond the end.
    #[test]
    fn vectors_from_anywhere_agree_to_the_bit() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let from: Vec<DVec3> = (0..6).map(|i| DVec3::new(i as f64, (i as f64).sin(), 0.1 - i as f64)).collect();
        let at = [5, 0, 3, 1];
        let (mut plain, mut register) = (vec![DVec3::ZERO; 4], vec![DVec3::ZERO; 4]);
        let (mut eight, mut wide) = ([[0.0; 8]; 9], [[0.0; 8]; 9]);
        places::<[f64; 4], [f32; 8]>(&from, &at, &mut plain, &mut eight);
        // SAFETY: the processor has AVX2.
        unsafe { places_avx2(&from, &at, &mut register, &mut wide) };
        assert_eq!(plain, register);
        assert_eq!(eight, wide);
        // Place 5 is beyond the end, 0 before the beginning, 1 is not used.
        assert_eq!(plain[2], DVec3::new(from[3].x, from[3].z, from[3].y * from[3].z));
        assert!([0, 1, 3].iter().all(|&i| plain[i] == DVec3::ZERO));
        assert!(eight.iter().flatten().any(|&v| v != 0.0));
    }

    /// Catches a wrong shuffle of eight times eight, and results that depend on the processor.
    #[test]
    fn single_precision_agrees_to_the_bit_too() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let input: [[f32; 8]; 8] = std::array::from_fn(|i| std::array::from_fn(|k| ((8 * i + k) as f32).sin() * 3.0));
        let (mut plain, mut register) = ([[0.0; 8]; 8], [[0.0; 8]; 8]);
        singles::<[f32; 8]>(&input, &mut plain);
        // SAFETY: the processor has AVX2.
        unsafe { singles_avx2(&input, &mut register) };
        assert_eq!(plain.map(|r| r.map(f32::to_bits)), register.map(|r| r.map(f32::to_bits)));
        assert!((0..8).all(|k| plain[k][2] == input[2][k] && plain[k][6] == input[6][k]));
    }
}
