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
