//! Deformation of a solid: the metric tensor of the cells of a grid.
//!
//! A cell measures the squares of its 12 edges and, on each of its six faces, the product of the mean
//! edges either way: 18 numbers q, as many as there are deformations of eight nodes.
//! ```text
//! E = ½ (q - q⁰)ᵀ H (q - q⁰)                 [GO] eq 7 for solids, with the cross terms     [J]
//! ```
//! H (see `quadratic`): St Venant-Kirchhoff with λ and μ for the mean strain, and for how strain varies in the cell
//! ```text
//! G₁₁, G₃₃ along axis 2    ⅓ of the plane-stress moduli: bending is exact with a single cell across
//! G₁₁ along axes 2 and 3   E/9
//! G₁₂ along axis 3         μ/3     torsion
//! ```
//! Volume is measured by the mean strain alone, so a nearly incompressible material does not lock, and
//! there is no parasitic shear in bending.
//!
//! Departs from the paper as the metric of surfaces does. A cell pressed flat or turned inside out has finite
//! forces but nothing that turns it back: St Venant-Kirchhoff is for moderate strain.

use super::card::Space;
use super::element::{Blocks, Element, Gradient, Part, add_outer};
use super::quadratic::{Variation, clamp, moduli, solve};
use glam::{DMat3, DVec3};
use std::sync::Arc;

/// One cell.
#[derive(Clone, Debug)]
pub(super) struct SolidMetric {
    pub nodes: [u32; 8],
    /// The same for cells of the same shape.
    pub table: Arc<Table>,
    /// Factor of the table.
    pub scale: f64,
    pub time: f64,
}

/// Eighteen, in steps of four.
const WIDE: usize = 20;

/// What follows from shape and moduli.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// H by columns, filled up to whole steps of four.
    moduli: [[f64; WIDE]; 18],
    /// Of an edge by itself, once the cell is torn.
    edges: [f64; 12],
    unit: f64,
}

/// Edge k: axis k / 4, at the corner that has the bits of k % 4 on the other two axes.
const EDGES: [[usize; 2]; 12] = {
    let mut out = [[0; 2]; 12];
    let mut k = 0;
    while k < 12 {
        let axis = k / 4;
        let (b, c) = if axis == 0 {
            (1, 2)
        } else if axis == 1 {
            (0, 2)
        } else {
            (0, 1)
        };
        let corner = (k & 1) << b | (k >> 1 & 1) << c;
        out[k] = [corner, corner | 1 << axis];
        k += 1;
    }
    out
};

/// Pairs of axes, and the third.
const PAIRS: [[usize; 3]; 3] = [[0, 1, 2], [0, 2, 1], [1, 2, 0]];

/// Corners of face 12 + k: bits of the corner number are steps along the pair's axes.
const FACES: [[usize; 4]; 6] = {
    let mut out = [[0; 4]; 6];
    let mut k = 0;
    while k < 6 {
        let [a, b, c] = PAIRS[k / 2];
        let mut n = 0;
        while n < 4 {
            out[k][n] = (n & 1) << a | (n >> 1) << b | (k & 1) << c;
            n += 1;
        }
        k += 1;
    }
    out
};

impl Table {
    /// From rest positions; none for a cell without a volume.
    pub fn new(x: [DVec3; 8], space: &Space) -> Option<Self> {
        let mean: [DVec3; 3] = std::array::from_fn(|axis| {
            0.25 * (4 * axis..4 * axis + 4).map(|k| x[EDGES[k][1]] - x[EDGES[k][0]]).sum::<DVec3>()
        });
        let basis = DMat3::from_cols(mean[0], mean[1], mean[2]);
        let lengths = mean.map(|m| m.length());
        if !(basis.determinant().abs() > 1e-9 * lengths[0] * lengths[1] * lengths[2]) {
            return None;
        }
        let inverse = basis.inverse();
        // Numbers of a homogeneous deformation by its metric.
        let product = |a: DVec3, b: DVec3| {
            let (a, b) = (inverse * a, inverse * b);
            let mut row = [0.0; 6];
            for i in 0..3 {
                row[i] = a[i] * b[i];
                let [p, q, _] = PAIRS[i];
                row[3 + i] = a[p] * b[q] + a[q] * b[p];
            }
            row
        };
        let mut phi = [[0.0; 6]; 18];
        let mut slopes = [[DVec3::ZERO; 8]; 18];
        for k in 0..12 {
            let [a, b] = EDGES[k];
            let e = x[b] - x[a];
            phi[k] = product(e, e);
            (slopes[k][a], slopes[k][b]) = (-2.0 * e, 2.0 * e);
        }
        for k in 0..6 {
            let [a, b, c, d] = FACES[k];
            let [e, f] = sides(&x, FACES[k]);
            phi[12 + k] = product(e, f);
            let (sum, difference) = (0.5 * (e + f), 0.5 * (f - e));
            let row = &mut slopes[12 + k];
            (row[a], row[b], row[c], row[d]) = (-sum, difference, -difference, sum);
        }
        let (volume, mean_slopes) = mean_slopes(&x);
        if !(volume > 0.0) {
            return None;
        }
        let means = means(&mean, &mean_slopes, &slopes, lengths)?;
        // Orthonormal axes that follow the cell's: E = ½ J⁻ᵀ m J⁻¹ with J upper triangular.
        let first = mean[0].normalize();
        let second = (mean[1] - mean[1].dot(first) * first).normalize();
        let third = first.cross(second);
        let j = DMat3::from_cols(first, second, third).transpose() * basis;
        let j = j.inverse();
        let mut strain = [[0.0; 6]; 6];
        for row in 0..6 {
            let (a, b, factor) = if row < 3 { (row, row, 0.5) } else { (PAIRS[row - 3][0], PAIRS[row - 3][1], 1.0) };
            for i in 0..3 {
                strain[row][i] = factor * j.col(a)[i] * j.col(b)[i];
                let [p, q, _] = PAIRS[i];
                strain[row][3 + i] = factor * (j.col(a)[p] * j.col(b)[q] + j.col(a)[q] * j.col(b)[p]);
            }
        }
        let mut stiffness = [[0.0; 6]; 6];
        for a in 0..3 {
            stiffness[a][..3].copy_from_slice(&space.normal[a]);
            stiffness[3 + a][3 + a] = space.shear[a];
        }
        let mut variations: Vec<Variation<18>> = Vec::with_capacity(18);
        let vary = |axis: usize, signs: [f64; 4]| {
            let mut row = [0.0; 18];
            let scale = 0.125 / (lengths[axis] * lengths[axis]);
            (0..4).for_each(|k| row[4 * axis + k] = scale * signs[k]);
            row
        };
        for axis in 0..3 {
            // Along this axis vary the strains along the two others; that along this one gives way.
            let [b, c] = [[1, 2], [0, 2], [0, 1]][axis];
            let modulus = |i: usize, j: usize| {
                let n = &space.normal;
                (n[i][j] - if n[axis][axis] > 0.0 { n[i][axis] * n[axis][j] / n[axis][axis] } else { 0.0 }) / 3.0
            };
            let along = |of: usize| {
                // The first of the other axes has the lower bit.
                let lower = if of == 0 { axis == 1 } else { axis == 0 };
                vary(of, if lower { [-1.0, 1.0, -1.0, 1.0] } else { [-1.0, -1.0, 1.0, 1.0] })
            };
            for (i, j) in [(b, b), (b, c), (c, b), (c, c)] {
                variations.push((along(i), along(j), modulus(i, j)));
            }
            let both = vary(axis, [1.0, -1.0, -1.0, 1.0]);
            variations.push((both, both, space.along[axis] / 9.0));
            let [a, b, _] = PAIRS[axis];
            let mut row = [0.0; 18];
            let scale = 0.5 / (lengths[a] * lengths[b]);
            (row[12 + 2 * axis], row[13 + 2 * axis]) = (-scale, scale);
            variations.push((row, row, space.shear[axis] / 3.0));
        }
        let moduli = moduli(&phi, &means, &strain, &stiffness, &variations, volume)?;
        let moduli = moduli.map(|row| std::array::from_fn(|k| if k < 18 { row[k] } else { 0.0 }));
        let edges = std::array::from_fn(|k| {
            let length2 = (x[EDGES[k][1]] - x[EDGES[k][0]]).length_squared();
            if length2 > 0.0 { 0.0625 * volume * space.along[k / 4] / (length2 * length2) } else { 0.0 }
        });
        Some(Self { moduli, edges, unit: volume * space.along.into_iter().fold(0.0, f64::max) })
    }
}

/// Volume, and the mean over it of the gradients of the eight trilinear shape functions.
fn mean_slopes(x: &[DVec3; 8]) -> (f64, [DVec3; 8]) {
    let (mut volume, mut out) = (0.0, [DVec3::ZERO; 8]);
    let offset = 0.5 / 3f64.sqrt();
    for point in 0..8 {
        let at =
            DVec3::from_array(std::array::from_fn(|axis| 0.5 + if point >> axis & 1 == 1 { offset } else { -offset }));
        let shape = |a: usize, axis: usize| if a >> axis & 1 == 1 { at[axis] } else { 1.0 - at[axis] };
        let slope = |a: usize| {
            DVec3::from_array(std::array::from_fn(|axis| {
                let [p, q] = [[1, 2], [0, 2], [0, 1]][axis];
                (if a >> axis & 1 == 1 { 1.0 } else { -1.0 }) * shape(a, p) * shape(a, q)
            }))
        };
        let mut jacobian = DMat3::ZERO;
        (0..8).for_each(|a| add_outer(&mut jacobian, x[a], slope(a)));
        let [p, q, r] = [jacobian.x_axis, jacobian.y_axis, jacobian.z_axis];
        // Cofactors: gradients times the determinant, exact under the quadrature.
        let cofactor = DMat3::from_cols(q.cross(r), r.cross(p), p.cross(q));
        volume += jacobian.determinant() / 8.0;
        (0..8).for_each(|a| out[a] += cofactor * slope(a) / 8.0);
    }
    let sign = volume.signum();
    (volume.abs(), out.map(|g| g * (sign / volume.abs())))
}

/// A: the rows whose change with positions is that of the mean metric. What eighteen numbers tell of eight
/// nodes is all but their rigid motion, so there is just one such row for each component.
fn means(
    mean: &[DVec3; 3],
    gradients: &[DVec3; 8],
    slopes: &[[DVec3; 8]; 18],
    lengths: [f64; 3],
) -> Option<[[f64; 18]; 6]> {
    let pairs = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];
    let size2 = lengths[0] * lengths[1];
    let dot = |a: &[DVec3; 8], b: &[DVec3; 8]| (0..8).map(|n| a[n].dot(b[n])).sum::<f64>();
    // Rows scaled to about one, so that the elimination may judge them.
    let scale: [f64; 18] = slopes.map(|row| 1.0 / dot(&row, &row).sqrt().max(1e-12 * size2.sqrt()));
    let system: [[f64; 18]; 18] =
        std::array::from_fn(|k| std::array::from_fn(|l| scale[k] * scale[l] * dot(&slopes[k], &slopes[l])));
    let right: [[f64; 6]; 18] = std::array::from_fn(|k| {
        pairs.map(|[i, j]| {
            let target: [DVec3; 8] =
                std::array::from_fn(|n| mean[i] * gradients[n].dot(mean[j]) + mean[j] * gradients[n].dot(mean[i]));
            scale[k] * dot(&slopes[k], &target)
        })
    });
    let found = solve(system, right)?;
    Some(std::array::from_fn(|i| std::array::from_fn(|k| scale[k] * found[k][i])))
}

/// Mean edges of a face.
#[inline(always)]
fn sides(x: &[DVec3; 8], [a, b, c, d]: [usize; 4]) -> [DVec3; 2] {
    let (p, q) = (x[d] - x[a], x[b] - x[c]);
    [0.5 * (p + q), 0.5 * (p - q)]
}

impl Element<8, 18> for SolidMetric {
    const SPARSE: bool = false;

    fn nodes(&self) -> &[u32; 8] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.scale * self.table.unit
    }

    fn links(&self) -> Vec<[u32; 2]> {
        EDGES.iter().map(|e| e.map(|a| self.nodes[a])).collect()
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 8]) -> [f64; 18] {
        std::array::from_fn(|k| match k {
            0..12 => x[EDGES[k][1]].distance_squared(x[EDGES[k][0]]),
            _ => {
                let [e, f] = sides(x, FACES[k - 12]);
                e.dot(f)
            }
        })
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 8], out: &mut Gradient<8, 18>) -> [f64; 18] {
        let mut s = [0.0; 18];
        for k in 0..12 {
            let [a, b] = EDGES[k];
            let e = x[b] - x[a];
            s[k] = e.length_squared();
            out[k][a] = -2.0 * e;
            out[k][b] = 2.0 * e;
        }
        for k in 0..6 {
            let [a, b, c, d] = FACES[k];
            let [e, f] = sides(x, FACES[k]);
            s[12 + k] = e.dot(f);
            let (sum, difference) = (0.5 * (e + f), 0.5 * (f - e));
            let row = &mut out[12 + k];
            (row[a], row[b], row[c], row[d]) = (-sum, difference, -difference, sum);
        }
        s
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 18], broken: u32) -> [f64; 18] {
        let mut out = [0.0; 18];
        if broken != 0 {
            for k in (0..12).filter(|k| broken >> k & 1 == 0) {
                out[k] = self.scale * self.table.edges[k] * over[k];
            }
            return out;
        }
        // By columns: H is symmetric, and the sums run side by side.
        let mut sums = [0.0; WIDE];
        for l in 0..18 {
            let (column, over) = (&self.table.moduli[l], self.scale * over[l]);
            for k in 0..WIDE {
                sums[k] += column[k] * over;
            }
        }
        out.copy_from_slice(&sums[..18]);
        out
    }

    #[inline(always)]
    fn pull(&self, j: &Gradient<8, 18>, stress: &[f64; 18], a: usize) -> DVec3 {
        TOUCHED[a].into_iter().map(|k| stress[k] * j[k][a]).sum()
    }

    #[inline(always)]
    fn rates(&self, j: &Gradient<8, 18>, v: &[DVec3; 8]) -> [f64; 18] {
        let mut out = [0.0; 18];
        for a in 0..8 {
            TOUCHED[a].into_iter().for_each(|k| out[k] += j[k][a].dot(v[a]));
        }
        out
    }

    /// Every node has a part in six of the numbers only.
    #[inline(always)]
    fn gauss_newton(
        &self,
        j: &Gradient<8, 18>,
        _s: &[f64; 18],
        _rest: &[f64; 18],
        broken: u32,
        _part: Part,
        factor: f64,
        out: &mut Blocks<8>,
    ) {
        let factor = factor * self.scale;
        // Derivatives by node, four wide.
        let own: [[[f64; 4]; 6]; 8] = std::array::from_fn(|a| {
            TOUCHED[a].map(|k| {
                let slope = j[k][a];
                [slope.x, slope.y, slope.z, 0.0]
            })
        });
        for b in 0..8 {
            // Longer than needed, so that a mask keeps the index in bounds.
            let mut hj = [[0.0; 32]; 3];
            for c in 0..3 {
                // One component at a time: its sums stay in registers.
                let mut sums = [0.0; WIDE];
                for (t, l) in TOUCHED[b].into_iter().enumerate() {
                    let s = factor * own[b][t][c];
                    if broken == 0 {
                        let column = &self.table.moduli[l];
                        for k in 0..WIDE {
                            sums[k] += column[k] * s;
                        }
                    } else if l < 12 && broken >> l & 1 == 0 {
                        sums[l] = self.table.edges[l] * s;
                    }
                }
                hj[c][..WIDE].copy_from_slice(&sums);
            }
            for a in 0..=b {
                let block: [[f64; 4]; 3] = std::array::from_fn(|c| {
                    let mut column = [0.0; 4];
                    for (t, k) in TOUCHED[a].into_iter().enumerate() {
                        let (slope, h) = (&own[a][t], hj[c][k & 31]);
                        for r in 0..4 {
                            column[r] += slope[r] * h;
                        }
                    }
                    column
                });
                out[a][b] += DMat3::from_cols_array_2d(&block.map(|[x, y, z, _]| [x, y, z]));
            }
        }
    }

    #[inline(always)]
    fn geometric(&self, _x: &[DVec3; 8], stress: &[f64; 18], exact: bool, factor: f64, out: &mut Blocks<8>) {
        let mut form = [[0.0; 8]; 8];
        for k in 0..12 {
            let [a, b] = EDGES[k];
            let s = 2.0 * factor * stress[k];
            form[a][a] += s;
            form[b][b] += s;
            form[a][b] -= s;
        }
        for k in 0..6 {
            // ē·f̄ = ¼ [ (d-a)² - (b-c)² ] of corners a, b, c, d.
            let [a, b, c, d] = FACES[k];
            let s = 0.5 * factor * stress[12 + k];
            form[a][a] += s;
            form[d][d] += s;
            form[a][d] -= s;
            form[b][b] -= s;
            form[c][c] -= s;
            form[b][c] += s;
        }
        if !exact && !positive(&form) {
            form = self.clamped(stress, factor);
        }
        for a in 0..8 {
            for b in a..8 {
                out[a][b] += DMat3::from_diagonal(DVec3::splat(form[a][b]));
            }
        }
    }
}

impl SolidMetric {
    /// The mean stress alone, its eigenvalues clamped.
    #[inline(always)]
    fn clamped(&self, stress: &[f64; 18], factor: f64) -> [[f64; 8]; 8] {
        let edge = |axis: usize| stress[4 * axis..4 * axis + 4].iter().sum::<f64>();
        let face = |pair: usize| 0.5 * (stress[12 + 2 * pair] + stress[13 + 2 * pair]);
        let (p, q, r) = (face(0), face(1), face(2));
        let mean = clamp(DMat3::from_cols_array(&[edge(0), p, q, p, edge(1), r, q, r, edge(2)]));
        let row =
            |a: usize| DVec3::from_array(std::array::from_fn(|axis| if a >> axis & 1 == 1 { 0.25 } else { -0.25 }));
        std::array::from_fn(|a| std::array::from_fn(|b| 2.0 * factor * row(a).dot(mean * row(b))))
    }
}

/// Edges and faces at every corner.
const TOUCHED: [[usize; 6]; 8] = {
    let mut out = [[0; 6]; 8];
    let mut a = 0;
    while a < 8 {
        let (x, y, z) = (a & 1, a >> 1 & 1, a >> 2);
        out[a] = [y | z << 1, 4 + (x | z << 1), 8 + (x | y << 1), 12 + z, 14 + y, 16 + x];
        a += 1;
    }
    out
};

/// Whether a form (upper half given) that does not see a common shift is positive semi-definite: LDLᵀ without its last row.
#[inline(always)]
fn positive(form: &[[f64; 8]; 8]) -> bool {
    let mut m = *form;
    let scale = (0..8).fold(0.0f64, |s, a| s.max(m[a][a].abs()));
    for c in 0..7 {
        if m[c][c] <= 1e-12 * scale {
            return false;
        }
        for r in c + 1..7 {
            let factor = m[c][r] / m[c][c];
            for k in r..7 {
                m[r][k] -= factor * m[c][k];
            }
        }
    }
    true
}
