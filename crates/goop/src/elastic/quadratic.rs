//! Cells whose strains are scalar products of their sides.
//!
//! A cell measures M products q of its sides. A homogeneous deformation with metric m (K components)
//! gives q = Φ m exactly, whatever the shape of the cell. From any q:
//! ```text
//! m = A q                    AΦ = 1: the mean metric, to first order what the mean of the gradient gives
//! ε = P (m - m⁰)             strain in orthonormal axes of the cell at rest
//! d = B (q - Φ m)            what is left: how strain varies within the cell
//! E = ½ V [ εᵀCε + dᵀcd ]    = ½ (q - q⁰)ᵀ H (q - q⁰)
//! ```
//! H is constant. d = 0 under homogeneous deformation, and its stress is that of the mean, so that the patch
//! test holds on cells of any shape; with the variations, no deformation goes unnoticed but rigid motion.

use glam::{DMat3, DVec3};

/// How strain may vary in a cell: two rows of B, and their c.
pub(super) type Variation<const M: usize> = ([f64; M], [f64; M], f64);

/// H, from Φ, A, P, C and the variations; none for a cell without a shape.
pub(super) fn moduli<const M: usize, const K: usize>(
    phi: &[[f64; K]; M],
    means: &[[f64; M]; K],
    strain: &[[f64; K]; K],
    stiffness: &[[f64; K]; K],
    variations: &[Variation<M>],
    measure: f64,
) -> Option<[[f64; M]; M]> {
    let mut h = [[0.0; M]; M];
    let mut rows = [[0.0; M]; K];
    for i in 0..K {
        for k in 0..M {
            rows[i][k] = (0..K).map(|j| strain[i][j] * means[j][k]).sum();
        }
    }
    for i in 0..K {
        for j in 0..K {
            add(&mut h, measure * stiffness[i][j], &rows[i], &rows[j]);
        }
    }
    let beyond_means = |row: &[f64; M]| {
        let mut left = *row;
        for j in 0..K {
            let seen: f64 = (0..M).map(|k| row[k] * phi[k][j]).sum();
            for k in 0..M {
                left[k] -= seen * means[j][k];
            }
        }
        left
    };
    for (first, second, c) in variations {
        add(&mut h, measure * c, &beyond_means(first), &beyond_means(second));
    }
    h.as_flattened().iter().all(|v| v.is_finite()).then_some(h)
}

fn add<const M: usize>(h: &mut [[f64; M]; M], factor: f64, a: &[f64; M], b: &[f64; M]) {
    for k in 0..M {
        for l in 0..M {
            h[k][l] += factor * a[k] * b[l];
        }
    }
}

/// Gauss elimination with pivots; none where the matrix, of numbers about 1, is singular.
pub(super) fn solve<const K: usize, const M: usize>(
    mut a: [[f64; K]; K],
    mut b: [[f64; M]; K],
) -> Option<[[f64; M]; K]> {
    for c in 0..K {
        let pivot = (c..K).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs()))?;
        if a[pivot][c].abs() < 1e-9 {
            return None;
        }
        a.swap(c, pivot);
        b.swap(c, pivot);
        for r in (0..K).filter(|&r| r != c) {
            let factor = a[r][c] / a[c][c];
            for k in 0..K {
                a[r][k] -= factor * a[c][k];
            }
            for k in 0..M {
                b[r][k] -= factor * b[c][k];
            }
        }
    }
    for c in 0..K {
        for k in 0..M {
            b[c][k] /= a[c][c];
        }
    }
    Some(b)
}

/// Components 11, 22, 12 of a tensor in orthonormal axes, the first along `first`, from those along
/// the two tangents; the last row gives twice the mixed one.
pub(super) fn plane_axes(first: DVec3, second: DVec3) -> Option<[[f64; 3]; 3]> {
    let a = first.length();
    let b = second.dot(first) / a;
    let c = first.cross(second).length() / a;
    if !(c > 1e-9 * (a + b.abs()) && a > 0.0) {
        return None;
    }
    Some([
        [1.0 / (a * a), 0.0, 0.0],
        [b * b / (a * a * c * c), 1.0 / (c * c), -2.0 * b / (a * c * c)],
        [-2.0 * b / (a * a * c), 0.0, 2.0 / (a * c)],
    ])
}

/// The nearest positive semi-definite matrix.
#[inline(always)]
pub(super) fn clamp(m: DMat3) -> DMat3 {
    let trace = m.x_axis.x + m.y_axis.y + m.z_axis.z;
    let minors = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.y_axis.x + m.y_axis.y * m.z_axis.z - m.y_axis.z * m.z_axis.y
        + m.x_axis.x * m.z_axis.z
        - m.x_axis.z * m.z_axis.x;
    if trace >= 0.0 && minors >= 0.0 && m.determinant() >= 0.0 {
        return m;
    }
    eigen_clamp(m)
}

/// Jacobi's rotations: it takes three or four rounds.
#[inline(never)]
fn eigen_clamp(m: DMat3) -> DMat3 {
    let mut a = m.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    let scale = a.as_flattened().iter().fold(0.0f64, |s, v| s.max(v.abs()));
    if !(scale > 0.0 && scale.is_finite()) {
        return DMat3::ZERO;
    }
    for _ in 0..8 {
        if a[0][1].abs() + a[0][2].abs() + a[1][2].abs() < 1e-15 * scale {
            break;
        }
        for (p, q, r) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            let off = a[p][q];
            if off.abs() < 1e-17 * scale {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * off);
            let t = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            a[p][p] -= t * off;
            a[q][q] += t * off;
            (a[p][q], a[q][p]) = (0.0, 0.0);
            let (u, v) = (c * a[p][r] - s * a[q][r], s * a[p][r] + c * a[q][r]);
            (a[p][r], a[r][p], a[q][r], a[r][q]) = (u, u, v, v);
            for k in 0..3 {
                let (u, v) = (axes[p][k], axes[q][k]);
                (axes[p][k], axes[q][k]) = (c * u - s * v, s * u + c * v);
            }
        }
    }
    let mut out = DMat3::ZERO;
    for k in (0..3).filter(|&k| a[k][k] > 0.0) {
        let axis = DVec3::from_array(axes[k]);
        super::element::add_outer(&mut out, a[k][k] * axis, axis);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a clamp that leaves a negative direction or touches a positive one.
    #[test]
    fn the_clamp_removes_negative_eigenvalues_only() {
        let axes = DMat3::from_rotation_x(0.7) * DMat3::from_rotation_z(-1.2) * DMat3::from_rotation_y(0.4);
        for (values, kept) in [
            (DVec3::new(1.0, 2.0, 3.0), DVec3::new(1.0, 2.0, 3.0)),
            (DVec3::new(-1.0, 2.0, 3.0), DVec3::new(0.0, 2.0, 3.0)),
            (DVec3::new(-1.0, -2.0, 3.0), DVec3::new(0.0, 0.0, 3.0)),
            (DVec3::new(-1.0, -2.0, -3.0), DVec3::ZERO),
        ] {
            let make = |v: DVec3| axes * DMat3::from_diagonal(v) * axes.transpose();
            let off = clamp(make(values)) - make(kept);
            assert!(off.to_cols_array().iter().all(|v| v.abs() < 1e-12), "{values}");
        }
    }
}
