//! What a cell needs to know of its rest shape.
//!
//! ```text
//! mean gradient   B_a = (1/V) ∫ ∂N_a/∂X dV      F = Σ x_a B_aᵀ
//! hourglass       γ_a = (h_a - Σ_j (Σ_c h_c X_cj) B_aj) / 8,   h = ηζ, ξζ, ξη, ξηζ
//! ```
//! A tetrahedron has nothing but F. A hexahedron has twelve more motions, β_m = Σ γ_a x_a,
//! which vanish for every motion that is linear in X (Flanagan and Belytschko 1981).

use crate::shape::{Layout, Shape};
use glam::{DMat3, DVec3};

/// A cell of N nodes, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Cell<const N: usize> {
    pub nodes: [u32; N],
    pub gradient: [DVec3; N],
    pub volume: f64,
    /// γ of the four hourglass patterns.
    pub gamma: [[f64; N]; 4],
    /// Cell axes over half their length (1/m).
    pub axes: [DVec3; 3],
}

/// Tetrahedra of a shape.
pub fn tetrahedra(shape: &Shape) -> Vec<Cell<4>> {
    let Layout::Tetrahedra(t) = &shape.layout else { return Vec::new() };
    let cell = |nodes: &[u32; 4]| {
        let mut nodes = *nodes;
        nodes.sort_unstable();
        let [a, b, c, d] = nodes.map(|n| shape.rest_positions[n as usize]);
        let edges = DMat3::from_cols(b - a, c - a, d - a);
        // Rows of the inverse are the gradients.
        let rows = edges.inverse().transpose();
        let [b, c, d] = [rows.x_axis, rows.y_axis, rows.z_axis];
        Cell {
            nodes,
            gradient: [-(b + c + d), b, c, d],
            volume: edges.determinant().abs() / 6.0,
            gamma: [[0.0; 4]; 4],
            axes: [DVec3::ZERO; 3],
        }
    };
    t.cells.iter().map(cell).filter(|cell| cell.nodes.is_sorted_by(|a, b| a < b)).collect()
}

/// Hexahedra of a solid grid; cells without a volume are left out.
pub fn hexahedra(shape: &Shape) -> Vec<Cell<8>> {
    let Layout::Grid(grid) = &shape.layout else { return Vec::new() };
    if grid.axes() != 3 {
        return Vec::new();
    }
    grid.cells().filter_map(|corners| hexahedron(&shape.rest_positions, corners)).collect()
}

fn hexahedron(rest: &[DVec3], corners: [u32; 8]) -> Option<Cell<8>> {
    let x = corners.map(|n| rest[n as usize]);
    let sign = |corner: usize, axis: usize| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
    let (mut gradient, mut volume) = ([DVec3::ZERO; 8], 0.0);
    for point in 0..8 {
        let at: [f64; 3] = std::array::from_fn(|axis| sign(point, axis) / 3f64.sqrt());
        let slope = |corner: usize, axis: usize| {
            let others: f64 = (0..3).filter(|&b| b != axis).map(|b| 0.5 * (1.0 + sign(corner, b) * at[b])).product();
            0.5 * sign(corner, axis) * others
        };
        let slopes: [DVec3; 8] = std::array::from_fn(|c| DVec3::from_array(std::array::from_fn(|a| slope(c, a))));
        let mut jacobian = DMat3::ZERO;
        for c in 0..8 {
            jacobian += DMat3::from_cols(x[c] * slopes[c].x, x[c] * slopes[c].y, x[c] * slopes[c].z);
        }
        // det J · J⁻ᵀ, finite where a corner is flat.
        let [a, b, c] = [jacobian.x_axis, jacobian.y_axis, jacobian.z_axis];
        let cofactor = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b));
        volume += jacobian.determinant();
        for c in 0..8 {
            gradient[c] += cofactor * slopes[c];
        }
    }
    let longest = (1..8).map(|c| x[c].distance(x[0])).fold(0.0, f64::max);
    if volume.abs() <= 1e-12 * longest.powi(3) {
        return None;
    }
    gradient.iter_mut().for_each(|g| *g /= volume);
    let axes = std::array::from_fn(|axis| {
        let mean = (0..8).map(|c| 0.25 * sign(c, axis) * x[c]).sum::<DVec3>();
        let half = 0.5 * mean.length();
        if half > 0.0 { mean.normalize() / half } else { DVec3::ZERO }
    });
    let patterns: [[f64; 8]; 4] = [[1, 2], [0, 2], [0, 1], [0, 0]].map(|[p, q]| {
        std::array::from_fn(|c| if p == q { sign(c, 0) * sign(c, 1) * sign(c, 2) } else { sign(c, p) * sign(c, q) })
    });
    let gamma = patterns.map(|h| {
        let moment: DVec3 = (0..8).map(|c| h[c] * x[c]).sum();
        std::array::from_fn(|a| (h[a] - moment.dot(gradient[a])) / 8.0)
    });
    let mut order: [usize; 8] = std::array::from_fn(|c| c);
    order.sort_by_key(|&c| corners[c]);
    Some(Cell {
        nodes: order.map(|c| corners[c]),
        gradient: order.map(|c| gradient[c]),
        volume: volume.abs(),
        gamma: gamma.map(|g: [f64; 8]| order.map(|c| g[c])),
        axes,
    })
}
