//! Shadows that bodies and obstacles cast on each other: a map of heights towards the light.
//!
//! A point is lit where nothing on the map is higher. The map's cells around it are
//! asked, each against the height that the point's own tangent plane has there, so that
//! a slanting surface does not shadow itself and needs no bias that would part a
//! shadow from what casts it.

use super::heights::heights;
use super::mesh::Mesh;
use super::motion::Bounds;
use glam::Vec3;

/// Cells asked along each axis.
const TAPS: usize = 6;

/// Heights towards a light that is infinitely far.
pub struct ShadowMap {
    cells: Vec<f32>,
    cells_x: usize,
    cells_y: usize,
    cell: f32,
    right: Vec3,
    up: Vec3,
    light: Vec3,
    low: [f32; 2],
}

impl ShadowMap {
    /// Casters of the mesh inside `bounds`, seen along `light` (unit, towards it), with
    /// about `size` cells along the longer side.
    pub fn new(mesh: &Mesh, bounds: &Bounds, light: Vec3, size: usize) -> ShadowMap {
        let (right, up) = light.any_orthonormal_pair();
        let corners = bounds.corners().map(|c| [c.dot(right), c.dot(up)]);
        let low = [0, 1].map(|k| corners.iter().fold(f32::INFINITY, |m, c| m.min(c[k])));
        let high = [0, 1].map(|k| corners.iter().fold(f32::NEG_INFINITY, |m, c| m.max(c[k])));
        let cell = ((high[0] - low[0]).max(high[1] - low[1]) / (size - 8) as f32).max(1e-9);
        let low = low.map(|l| l - 4.0 * cell);
        let count = |k: usize| ((high[k] - low[k]) / cell) as usize + 5;
        let (cells_x, cells_y) = (count(0).min(size + 8), count(1).min(size + 8));
        let seen: Vec<[f32; 3]> = (mesh.vertices.iter())
            .map(|v| {
                let p = v.position;
                [(p.dot(right) - low[0]) / cell, (p.dot(up) - low[1]) / cell, p.dot(light)]
            })
            .collect();
        let casters: Vec<[[f32; 3]; 3]> = (mesh.triangles.iter())
            .filter(|t| mesh.casts(t))
            .map(|t| t.corners.map(|v| seen[v as usize]))
            .filter(|t| t.iter().flatten().all(|c| c.is_finite()))
            .collect();
        ShadowMap { cells: heights(cells_x, cells_y, &casters), cells_x, cells_y, cell, right, up, light, low }
    }

    /// Share of the light that reaches a point with this normal, which faces the light.
    pub fn lit(&self, p: Vec3, normal: Vec3) -> f32 {
        let facing = normal.dot(self.light).max(0.05);
        // Half a cell out along the normal: about what the grid cuts off a curved surface.
        let p = p + normal * (self.cell * (0.7 + 1.5 * (1.0 - facing)));
        let x = (p.dot(self.right) - self.low[0]) / self.cell - 0.5;
        let y = (p.dot(self.up) - self.low[1]) / self.cell - 0.5;
        let half = (TAPS / 2 - 1) as f32;
        let (fx, fy) = (x.floor(), y.floor());
        let (left, top) = (fx - half, fy - half);
        let inside = left >= 0.0
            && top >= 0.0
            && left + (TAPS as f32) < self.cells_x as f32
            && top + (TAPS as f32) < self.cells_y as f32;
        if !inside {
            return 1.0;
        }
        let limit = 3.0 * self.cell;
        let slope_x = (-normal.dot(self.right) / facing * self.cell).clamp(-limit, limit);
        let slope_y = (-normal.dot(self.up) / facing * self.cell).clamp(-limit, limit);
        let height = p.dot(self.light) + 0.75 * self.cell;
        let weights = |f: f32| {
            let mut w = [1.0; TAPS];
            (w[0], w[TAPS - 1]) = (1.0 - f, f);
            w
        };
        let (wx, wy) = (weights(x - fx), weights(y - fy));
        let mut sum = 0.0;
        for (j, wy) in wy.iter().enumerate() {
            let start = (top as usize + j) * self.cells_x + left as usize;
            let row: &[f32; TAPS] = self.cells[start..start + TAPS].try_into().unwrap_or(&[0.0; TAPS]);
            let level = height + (top + j as f32 - y) * slope_y + (left - x) * slope_x;
            let mut line = 0.0;
            for i in 0..TAPS {
                line += if row[i] <= level + i as f32 * slope_x { wx[i] } else { 0.0 };
            }
            sum += wy * line;
        }
        sum / ((TAPS - 1) * (TAPS - 1)) as f32
    }
}
