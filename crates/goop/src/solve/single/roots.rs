//! Roots of diagonal blocks: S with S Sᵀ = D⁻¹.

use super::super::slots::Diagonal;
use super::super::sweep::Corner;
use crate::lanes::Kind;
use crate::lanes::sixteen::WIDEST;
use glam::DMat3;

/// S with S Sᵀ = D⁻¹ of sixteen blocks, by Cholesky: D = G Gᵀ, S = G⁻ᵀ; false where some D is not positive definite.
pub(super) fn roots(diagonal: &Diagonal, to: &mut Corner) -> bool {
    match Kind::found() {
        Kind::Plain => roots_by(diagonal, to),
        // SAFETY: the processor has what they are compiled for.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { roots_avx2(diagonal, to) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => unsafe { roots_avx512(diagonal, to) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn roots_avx2(diagonal: &Diagonal, to: &mut Corner) -> bool {
    roots_by(diagonal, to)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn roots_avx512(diagonal: &Diagonal, to: &mut Corner) -> bool {
    roots_by(diagonal, to)
}

/// Entry by entry, so that the compiler does all sixteen at a time.
#[inline(always)]
fn roots_by(Diagonal([a, b, c, d, e, f]): &Diagonal, Corner(to): &mut Corner) -> bool {
    let mut out = [[0.0f64; WIDEST]; 6];
    for l in 0..WIDEST {
        let root = root([a[l], b[l], c[l], d[l], e[l], f[l]]);
        for k in 0..6 {
            out[k][l] = root[k];
        }
    }
    let mut bad = 0;
    for k in 0..6 {
        for l in 0..WIDEST {
            to[k][l] = out[k][l] as f32;
            bad |= u32::from(!out[k][l].is_finite());
        }
    }
    bad == 0
}

/// Entries of G⁻ᵀ from those of G Gᵀ; not finite where that is not positive definite.
#[inline(always)]
fn root([a, b, c, d, e, f]: [f64; 6]) -> [f64; 6] {
    let i0 = 1.0 / a.sqrt();
    let (g10, g20) = (b * i0, c * i0);
    let i1 = 1.0 / (d - g10 * g10).sqrt();
    let g21 = (e - g20 * g10) * i1;
    let i2 = 1.0 / (f - g20 * g20 - g21 * g21).sqrt();
    // The inverse of a lower triangle; its transpose has it as columns.
    let h10 = -g10 * i0 * i1;
    let h21 = -g21 * i1 * i2;
    let h20 = -(g20 * i0 + g21 * h10) * i2;
    [i0, h10, h20, i1, h21, i2]
}

/// The same of one block; none where it is not positive definite.
pub(super) fn inverse_root(d: &DMat3) -> Option<[f64; 6]> {
    let root = root([d.x_axis.x, d.x_axis.y, d.x_axis.z, d.y_axis.y, d.y_axis.z, d.z_axis.z]);
    root.iter().all(|v| v.is_finite()).then_some(root)
}
