//! How well shaped tetrahedra are.
//!
//! ```text
//! mean ratio      12 (3V)^⅔ / Σ l²       1 for the regular one, 0 for a flat one
//! radius ratio    3 r_in / r_circ        the same
//! ```

use crate::shape::tetra::volume;
use glam::DVec3;

/// Quality of all tetrahedra of a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Smallest dihedral angle (degrees), and the one that only a hundredth of the cells are below.
    pub least_dihedral: [f64; 2],
    /// Largest dihedral angle (degrees).
    pub largest_dihedral: f64,
    /// Smallest radius ratio, that of the worst hundredth, and the mean.
    pub radius_ratio: [f64; 3],
}

/// Measures all cells.
pub fn measure(positions: &[DVec3], cells: &[[u32; 4]]) -> Quality {
    if cells.is_empty() {
        return Quality::default();
    }
    let (mut angles, mut ratios, mut largest) = (Vec::new(), Vec::new(), 0.0f64);
    for cell in cells {
        let corners = cell.map(|n| positions[n as usize]);
        let [low, high] = dihedrals(corners);
        angles.push(low);
        largest = largest.max(high);
        ratios.push(radius_ratio(corners));
    }
    angles.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    let hundredth = cells.len() / 100;
    Quality {
        least_dihedral: [angles[0], angles[hundredth]],
        largest_dihedral: largest,
        radius_ratio: [ratios[0], ratios[hundredth], ratios.iter().sum::<f64>() / ratios.len() as f64],
    }
}

/// Smallest and largest angle between two faces (degrees).
pub fn dihedrals(x: [DVec3; 4]) -> [f64; 2] {
    let mut range = [180.0f64, 0.0f64];
    for [a, b, c, d] in [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]] {
        let edge = x[b] - x[a];
        let (m, n) = (edge.cross(x[c] - x[a]), edge.cross(x[d] - x[a]));
        let angle = m.cross(n).length().atan2(m.dot(n)).to_degrees();
        range = [range[0].min(angle), range[1].max(angle)];
    }
    range
}

/// Three times the inscribed over the circumscribed radius.
pub fn radius_ratio(x: [DVec3; 4]) -> f64 {
    let [a, b, c] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let six = a.cross(b).dot(c);
    let area = a.cross(b).length() + b.cross(c).length() + c.cross(a).length() + (b - a).cross(c - a).length();
    let around =
        (a.length_squared() * b.cross(c) + b.length_squared() * c.cross(a) + c.length_squared() * a.cross(b)).length();
    // r_in = V6 / area (areas doubled), r_circ = around / (2 V6)
    if area * around > 0.0 { 6.0 * six * six.abs() / (area * around) } else { 0.0 }
}

/// Mean ratio, with the sign of the volume.
pub fn mean_ratio(x: [DVec3; 4]) -> f64 {
    let v = volume(x);
    let mut sum = 0.0;
    for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        sum += x[i].distance_squared(x[j]);
    }
    if sum > 0.0 { 12.0 * (3.0 * v.abs()).powf(2.0 / 3.0) / sum * v.signum() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a measure that is not 1 for the regular tetrahedron, or depends on size.
    #[test]
    fn the_regular_tetrahedron_is_the_best() {
        let x = [DVec3::ZERO, DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.0, 1.0, 1.0), DVec3::new(1.0, 0.0, 1.0)];
        for scale in [1e-3, 1.0, 50.0] {
            let x = x.map(|p| scale * p);
            let x = if volume(x) > 0.0 { x } else { [x[0], x[2], x[1], x[3]] };
            assert!((mean_ratio(x) - 1.0).abs() < 1e-12 && (radius_ratio(x) - 1.0).abs() < 1e-12);
            let [low, high] = dihedrals(x);
            assert!((low - 70.5287794).abs() < 1e-6 && (high - low).abs() < 1e-9);
        }
        let corner = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert!(mean_ratio(corner) < 0.9 && (dihedrals(corner)[1] - 90.0).abs() < 1e-9);
        assert!(mean_ratio([corner[0], corner[2], corner[1], corner[3]]) < 0.0);
    }
}
