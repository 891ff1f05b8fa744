//! Spring constants for a lattice without a grid.
//!
//! Springs give C = Σ k L² nnnn / V. Around every node, with its share V_i of the volume,
//! constants are sought that come as near as can be to the isotropic solid that central
//! springs can be, λ = μ = 0.4 E, ν = 1/4:
//! ```text
//! q_e = k_e L_e² / V_i        min ‖Σ q_e nnnn - C‖² + ρ ‖q - q̄‖²,  q_e ≥ 0.05 q̄
//! nnnn : mmmm = (n·m)⁴        nnnn : C = λ + 2μ = 1.2 E
//! Σ q_e = 6 E                 so that E is exact in the mean over directions
//! ```
//! An edge takes what its two ends ask for. On a cubic lattice with body diagonals that
//! gives the isotropic 0.8 E h and 0.3 E h, on a body-centred one 0.4 E a and 0.6 E a, and
//! half or a quarter of them in a face or an edge of the boundary.

use glam::DVec3;

/// Weight ρ of equal shares: it decides only where directions leave a choice.
const EVEN: f64 = 1e-3;
/// No spring is weaker than this share of the mean.
const LEAST: f64 = 0.05;
const SWEEPS: usize = 150;

/// Spring constants for E = 1 Pa by edge (N/m), and how far Young's modulus strays from
/// the card's with the direction of pull.
pub struct Fit {
    /// By edge and end: what the first node asks for, and the second (m).
    pub constants: Vec<[f64; 2]>,
    /// Least and greatest modulus over directions, relative to their mean.
    pub range: [f64; 2],
}

/// Fits the edges of a lattice whose nodes own these volumes (m³).
pub fn fit(rest: &[DVec3], edges: &[[u32; 2]], volumes: &[f64]) -> Fit {
    let mut around: Vec<Vec<(u32, u8)>> = vec![Vec::new(); rest.len()];
    for (e, &[i, j]) in edges.iter().enumerate() {
        around[i as usize].push((e as u32, 0));
        around[j as usize].push((e as u32, 1));
    }
    let span = |e: u32| {
        let [i, j] = edges[e as usize].map(|n| rest[n as usize]);
        j - i
    };
    let mut constants = vec![[0.0; 2]; edges.len()];
    for (node, list) in around.iter().enumerate() {
        let units: Vec<DVec3> = list.iter().map(|&(e, _)| span(e).normalize_or_zero()).collect();
        let shares = fit_node(&units);
        for (&(e, end), share) in list.iter().zip(shares) {
            let length2 = span(e).length_squared();
            if length2 > 0.0 {
                constants[e as usize][end as usize] = share * volumes[node] / length2;
            }
        }
    }
    Fit { range: range(edges, &constants, span), constants }
}

/// q of every direction for E = 1.
fn fit_node(units: &[DVec3]) -> Vec<f64> {
    let n = units.len();
    if n == 0 {
        return Vec::new();
    }
    let mean = 6.0 / n as f64;
    let gram: Vec<f64> = (0..n * n).map(|k| units[k / n].dot(units[k % n]).powi(4)).collect();
    // All at once, so that what is alike stays alike; the largest row sum bounds the step.
    let bound = gram.chunks(n).map(|row| row.iter().sum::<f64>()).fold(0.0, f64::max) + EVEN;
    let (mut q, mut slope) = (vec![mean; n], vec![0.0; n]);
    for _ in 0..SWEEPS {
        for (e, row) in gram.chunks(n).enumerate() {
            let sum: f64 = row.iter().zip(&q).map(|(g, q)| g * q).sum();
            slope[e] = sum - 1.2 + EVEN * (q[e] - mean);
        }
        q.iter_mut().zip(&slope).for_each(|(q, s)| *q = (*q - s / bound).max(LEAST * mean));
    }
    let scale = 6.0 / q.iter().sum::<f64>();
    q.iter_mut().for_each(|q| *q *= scale);
    q
}

/// Least and greatest 1/S over directions of the whole lattice, relative to the mean.
fn range(edges: &[[u32; 2]], constants: &[[f64; 2]], span: impl Fn(u32) -> DVec3) -> [f64; 2] {
    // Stiffness in Mandel's form, in which it is inverted like any matrix.
    let mut c = [[0.0; 6]; 6];
    for (e, [a, b]) in constants.iter().enumerate().take(edges.len()) {
        let d = span(e as u32);
        let m = mandel(d.normalize_or_zero());
        let weight = (a + b) * d.length_squared();
        for r in 0..6 {
            for s in 0..6 {
                c[r][s] += weight * m[r] * m[s];
            }
        }
    }
    let Some(compliance) = inverse(c) else { return [0.0, f64::INFINITY] };
    let mut moduli = Vec::new();
    for i in 0..8 {
        for j in 0..16 {
            let (z, turn) = ((i as f64 + 0.5) / 8.0, j as f64 * std::f64::consts::TAU / 16.0);
            let r = (1.0f64 - z * z).sqrt();
            moduli.push(modulus(&compliance, DVec3::new(r * turn.cos(), r * turn.sin(), z)));
        }
    }
    for d in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE, DVec3::new(1.0, 1.0, 0.0)] {
        moduli.push(modulus(&compliance, d.normalize()));
    }
    let mean = moduli.iter().sum::<f64>() / moduli.len() as f64;
    [moduli.iter().copied().fold(f64::INFINITY, f64::min) / mean, moduli.iter().copied().fold(0.0, f64::max) / mean]
}

fn modulus(compliance: &[[f64; 6]; 6], n: DVec3) -> f64 {
    let m = mandel(n);
    let sum: f64 = (0..6).map(|r| (0..6).map(|s| m[r] * compliance[r][s] * m[s]).sum::<f64>()).sum();
    1.0 / sum
}

fn mandel(n: DVec3) -> [f64; 6] {
    let root = std::f64::consts::SQRT_2;
    [n.x * n.x, n.y * n.y, n.z * n.z, root * n.y * n.z, root * n.x * n.z, root * n.x * n.y]
}

/// Gauss-Jordan with pivots; none where singular.
fn inverse(mut a: [[f64; 6]; 6]) -> Option<[[f64; 6]; 6]> {
    let mut out: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    let scale = (0..6).map(|i| a[i][i]).fold(0.0, f64::max);
    for column in 0..6 {
        let pivot = (column..6).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs()))?;
        if a[pivot][column].abs() <= 1e-9 * scale {
            return None;
        }
        a.swap(column, pivot);
        out.swap(column, pivot);
        let by = 1.0 / a[column][column];
        for j in 0..6 {
            a[column][j] *= by;
            out[column][j] *= by;
        }
        for i in (0..6).filter(|&i| i != column) {
            let factor = a[i][column];
            for j in 0..6 {
                a[i][j] -= factor * a[column][j];
                out[i][j] -= factor * out[column][j];
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a fit that misses the isotropic lattices that are known.
    #[test]
    fn known_lattices_become_isotropic() {
        let (mut cubic, mut centred) = (Vec::new(), Vec::new());
        for a in 0..3 {
            for s in [-1.0, 1.0] {
                let mut d = DVec3::ZERO;
                d[a] = s;
                cubic.push(d);
                centred.push(d);
            }
        }
        for c in 0..8 {
            let sign = |bit: u32| if c >> bit & 1 == 0 { -1.0 } else { 1.0 };
            cubic.push(DVec3::new(sign(0), sign(1), sign(2)));
            centred.push(DVec3::new(sign(0), sign(1), sign(2)) / 2.0);
        }
        // Both ends ask for the same; k = 2 q V / L², V = 1 and ½.
        let units = |d: &[DVec3]| d.iter().map(|d| d.normalize()).collect::<Vec<_>>();
        let q = fit_node(&units(&cubic));
        assert!((2.0 * q[0] - 0.8).abs() < 2e-3 && (2.0 * q[6] / 3.0 - 0.3).abs() < 2e-3, "{q:?}");
        let q = fit_node(&units(&centred));
        assert!((q[0] - 0.4).abs() < 2e-3 && (q[6] / 0.75 - 0.6).abs() < 2e-3, "{q:?}");
    }
}
