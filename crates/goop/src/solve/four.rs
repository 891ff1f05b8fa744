//! Three numbers in single precision and a zero, in one register.
//!
//! Spelled out because the compiler, seeing that the fourth is not used, takes the vector apart. Both
//! forms round alike and add in the same order.

#[cfg(not(target_arch = "x86_64"))]
pub use plain::Four;
#[cfg(target_arch = "x86_64")]
pub use sse::Four;

impl std::fmt::Debug for Four {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.array())
    }
}

impl Default for Four {
    fn default() -> Self {
        Self::splat(0.0)
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    /// See the module.
    #[derive(Clone, Copy)]
    #[repr(align(16))]
    pub struct Four([f32; 4]);

    impl Four {
        #[inline(always)]
        pub fn new(x: f32, y: f32, z: f32) -> Self {
            Self([x, y, z, 0.0])
        }

        #[inline(always)]
        pub fn load(from: &[f32; 4]) -> Self {
            Self(*from)
        }

        #[inline(always)]
        pub fn array(self) -> [f32; 4] {
            self.0
        }

        #[inline(always)]
        pub fn splat(value: f32) -> Self {
            Self([value; 4])
        }

        #[inline(always)]
        pub fn plus(self, other: Self) -> Self {
            Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
        }

        #[inline(always)]
        pub fn minus(self, other: Self) -> Self {
            Self(std::array::from_fn(|k| self.0[k] - other.0[k]))
        }

        #[inline(always)]
        pub fn times(self, other: Self) -> Self {
            Self(std::array::from_fn(|k| self.0[k] * other.0[k]))
        }

        /// Each of the first three in all places.
        #[inline(always)]
        pub fn spread(self) -> [Self; 3] {
            [Self::splat(self.0[0]), Self::splat(self.0[1]), Self::splat(self.0[2])]
        }

        /// The first three of each added up.
        #[inline(always)]
        pub fn across(rows: [Self; 3]) -> Self {
            let sum = |f: Self| (f.0[0] + f.0[1]) + f.0[2];
            Self([sum(rows[0]), sum(rows[1]), sum(rows[2]), 0.0])
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod sse {
    use std::arch::x86_64::*;

    /// See the module.
    #[derive(Clone, Copy)]
    pub struct Four(__m128);

    // SAFETY of every call below: every processor of this kind has SSE2.
    impl Four {
        #[inline(always)]
        pub fn new(x: f32, y: f32, z: f32) -> Self {
            Self(unsafe { _mm_setr_ps(x, y, z, 0.0) })
        }

        #[inline(always)]
        pub fn load(from: &[f32; 4]) -> Self {
            Self(unsafe { _mm_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        pub fn array(self) -> [f32; 4] {
            let mut out = [0.0; 4];
            unsafe { _mm_storeu_ps(out.as_mut_ptr(), self.0) };
            out
        }

        #[inline(always)]
        pub fn splat(value: f32) -> Self {
            Self(unsafe { _mm_set1_ps(value) })
        }

        #[inline(always)]
        pub fn plus(self, other: Self) -> Self {
            Self(unsafe { _mm_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        pub fn minus(self, other: Self) -> Self {
            Self(unsafe { _mm_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        pub fn times(self, other: Self) -> Self {
            Self(unsafe { _mm_mul_ps(self.0, other.0) })
        }

        /// Each of the first three in all places.
        #[inline(always)]
        pub fn spread(self) -> [Self; 3] {
            unsafe {
                [
                    Self(_mm_shuffle_ps::<0x00>(self.0, self.0)),
                    Self(_mm_shuffle_ps::<0x55>(self.0, self.0)),
                    Self(_mm_shuffle_ps::<0xaa>(self.0, self.0)),
                ]
            }
        }

        /// The first three of each added up.
        #[inline(always)]
        pub fn across(rows: [Self; 3]) -> Self {
            unsafe {
                let [a, b, c] = [rows[0].0, rows[1].0, rows[2].0];
                let zero = _mm_setzero_ps();
                let (ab, cz) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, zero));
                let (ab2, cz2) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, zero));
                let (first, second) = (_mm_movelh_ps(ab, cz), _mm_movehl_ps(cz, ab));
                let third = _mm_movelh_ps(ab2, cz2);
                Self(_mm_add_ps(_mm_add_ps(first, second), third))
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    /// Catches a shuffle gone wrong, and results that depend on the processor.
    #[test]
    fn both_forms_agree_to_the_bit() {
        macro_rules! all {
            ($Four:ty) => {{
                let a = <$Four>::load(&[1.1, -2.3, 3.7, 9.0]);
                let b = <$Four>::new(0.3, 5.1, -7.7);
                let [x, y, z] = a.spread();
                let sum = <$Four>::across([a.times(b), x.minus(y), z.plus(b)]);
                [sum, x, y, z].map(|f| f.array().map(f32::to_bits))
            }};
        }
        let (plain, register) = (all!(super::plain::Four), all!(super::sse::Four));
        assert_eq!(plain, register);
        assert_eq!(f32::from_bits(plain[3][1]), 3.7);
    }
}
