//! Numbers side by side, plainly or in vector registers: four in double precision, [`eight`] of them, or [`sixteen`] in single precision.
//!
//! Kernels are written once over a trait and compiled for plain numbers, AVX2 and, the wider ones, AVX-512. Every operation
//! rounds in the same way in all and none is fused but where it says so, so results do not depend on the
//! processor. The compiler does not find the shuffles between vectors and components
//! by itself, hence the other implementations. Where registers are likely, operations on plain numbers are functions of their own: they
//! would take most of the time of a build if they were part of every kernel.

/// How many.
pub const WIDE: usize = 4;

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kind {
    /// Of this processor.
    #[inline]
    pub fn found() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                return if has!("avx512f") && has!("avx512dq") && has!("avx512vl") { Kind::Avx512 } else { Kind::Avx2 };
            }
        }
        Kind::Plain
    }
}

/// Numbers side by side, in double or single precision.
pub trait Arithmetic: Copy {
    /// What is small beside one, when an iteration asks whether it is done.
    const SMALL: f64;
    /// In single precision no number but zero is smaller than 1e-18, so that its square is one too.
    fn splat(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// self × other + more, rounded once.
    fn fused(self, other: Self, more: Self) -> Self;
    /// less - self × other, rounded once.
    fn taken(self, other: Self, less: Self) -> Self;
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

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn splat(value: f64) -> Self {
        [value; WIDE]
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
        (self[0] < limit[0]) & (self[1] < limit[1]) & (self[2] < limit[2]) & (self[3] < limit[3])
    }
}

impl Lanes for [f64; WIDE] {
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn load(from: &[f64; WIDE]) -> Self {
        *from
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn load_single(from: &[f32; WIDE]) -> Self {
        from.map(f64::from)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn store(self, to: &mut [f64; WIDE]) {
        *to = self;
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn load_vector(from: &[f64; 3]) -> Self {
        [from[0], from[1], from[2], 0.0]
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn store_vector(self, to: &mut [f64; 3]) {
        *to = [self[0], self[1], self[2]];
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn inverse(self, least: f64) -> Self {
        self.map(|value| 1.0 / value.max(least))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn across(self) -> Self {
        [(self[0] + self[1]) + (self[2] + self[3]); WIDE]
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn fetch(_: &[f64], _: usize) {}

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn components([a, b, c]: [Self; 3]) -> [Self; 3] {
        [[a[0], a[3], b[2], c[1]], [a[1], b[0], b[3], c[2]], [a[2], b[1], c[0], c[3]]]
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn thrice(self) -> [Self; 3] {
        let [p, q, r, s] = self;
        [[p, p, p, q], [q, q, r, r], [r, s, s, s]]
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn shift([_, _, z]: [Self; 3], [a, b, c]: [Self; 3]) -> [Self; 3] {
        [[z[1], z[2], z[3], a[0]], [a[1], a[2], a[3], b[0]], [b[1], b[2], b[3], c[0]]]
    }
}

#[cfg(target_arch = "x86_64")]
pub mod avx2;
pub mod eight;
pub mod sixteen;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
