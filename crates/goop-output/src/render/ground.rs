//! Shadows on the ground: as soft as what casts them is high.
//!
//! Everything is projected onto the ground along the light. With coverage c (0 or 1) and
//! height h of the lowest caster per cell, a pyramid holds the means of c and c·h:
//! ```text
//! h̄ = (c·h)‾ / c̄ within reach       how high the caster is
//! r = spread · h̄                     half width of the penumbra
//! shadow = c̄ over r
//! ```
//! with h̄ asked again at the smaller r, so that contact stays sharp. The ground
//! is no caster, so there is no bias and no acne.

use super::heights::heights;
use super::mesh::Mesh;
use super::motion::Bounds;
use glam::Vec3;

/// The ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// A point of it (m).
    pub point: Vec3,
    /// Unit normal, up.
    pub normal: Vec3,
}

impl Ground {
    /// Height of a point over it (m).
    pub fn height(&self, p: Vec3) -> f32 {
        (p - self.point).dot(self.normal)
    }
}

struct Level {
    width: usize,
    height: usize,
    /// Mean of c and of c·h.
    cells: Vec<[f32; 2]>,
}

/// What one light leaves on the ground.
pub struct GroundShadow {
    levels: Vec<Level>,
    cell: f32,
    right: Vec3,
    forward: Vec3,
    low: [f32; 2],
    high: [f32; 2],
    spread: f32,
    tallest: f32,
    margin: f32,
    /// How often the reach is narrowed: a wide light has no sharp contact to find.
    rounds: u32,
}

impl GroundShadow {
    /// Casters inside `bounds`; `light` (unit, towards it); `spread`: tangent of half the
    /// angle under which the light is seen; about `size` cells along the longer side.
    pub fn new(mesh: &Mesh, bounds: &Bounds, ground: &Ground, light: Vec3, spread: f32, size: usize) -> GroundShadow {
        let right = (Vec3::X - ground.normal * ground.normal.x).try_normalize().unwrap_or(Vec3::Z);
        let forward = right.cross(ground.normal);
        let rise = light.dot(ground.normal).max(0.1);
        let project = |p: Vec3| {
            let h = (ground.height(p) / rise).max(0.0);
            let q = p - light * h - ground.point;
            [q.dot(right), q.dot(forward), h]
        };
        let corners = bounds.corners().map(project);
        let low = [0, 1].map(|k| corners.iter().fold(f32::INFINITY, |m, c| m.min(c[k])));
        let high = [0, 1].map(|k| corners.iter().fold(f32::NEG_INFINITY, |m, c| m.max(c[k])));
        let tallest = corners.iter().fold(0.0, |m: f32, c| m.max(c[2]));
        let cell = ((high[0] - low[0]).max(high[1] - low[1]) / (size - 4) as f32).max(1e-9);
        let low = low.map(|l| l - 2.0 * cell);
        let count = |k: usize| (((high[k] - low[k]) / cell) as usize + 3).min(size + 8);
        let (width, height) = (count(0), count(1));
        let seen: Vec<[f32; 3]> = (mesh.vertices.iter())
            .map(|v| {
                let [x, y, h] = project(v.position);
                [(x - low[0]) / cell, (y - low[1]) / cell, -h]
            })
            .collect();
        let under = -0.02 * bounds.size();
        let casters: Vec<[[f32; 3]; 3]> = (mesh.triangles.iter())
            .filter(|t| mesh.casts(t))
            .filter(|t| t.corners.iter().any(|&v| ground.height(mesh.vertices[v as usize].position) > under))
            .map(|t| t.corners.map(|v| seen[v as usize]))
            .filter(|t| t.iter().flatten().all(|c| c.is_finite()))
            .collect();
        let lowest = heights(width, height, &casters);
        let cells = lowest.iter().map(|&h| if h == f32::NEG_INFINITY { [0.0; 2] } else { [1.0, -h] }).collect();
        let mut levels = vec![Level { width, height, cells }];
        while let Some(next) = levels.last().and_then(Level::coarser) {
            levels.push(next);
        }
        let margin = 2.0 * spread * tallest + 2.0 * cell;
        GroundShadow {
            levels,
            cell,
            right,
            forward,
            low,
            high,
            spread,
            tallest,
            margin,
            rounds: if spread < 0.3 { 4 } else { 2 },
        }
    }

    /// Share of the light kept from a point of the ground, given from the ground's own point.
    pub fn at(&self, q: Vec3) -> f32 {
        let (x, y) = (q.dot(self.right), q.dot(self.forward));
        let outside = |v: f32, k: usize| v < self.low[k] - self.margin || v > self.high[k] + self.margin;
        if outside(x, 0) || outside(y, 1) {
            return 0.0;
        }
        let (u, v) = ((x - self.low[0]) / self.cell, (y - self.low[1]) / self.cell);
        let mut reach = self.spread * self.tallest;
        let mut covered = 0.0;
        for _ in 0..self.rounds {
            let [c, ch] = self.mean(u, v, reach);
            if c < 1e-3 {
                return 0.0;
            }
            if c > 0.999 {
                return 1.0;
            }
            covered = c;
            reach = self.spread * ch / c;
        }
        // The last mean was taken over the last but one reach: near enough.
        covered
    }

    /// Mean over about this radius (m).
    fn mean(&self, u: f32, v: f32, radius: f32) -> [f32; 2] {
        let level = log2(radius / self.cell).clamp(0.0, (self.levels.len() - 1) as f32);
        let fine = level as usize;
        let a = self.levels[fine].smooth(u, v, fine);
        let f = level - fine as f32;
        if f <= 0.0 || fine + 1 == self.levels.len() {
            return a;
        }
        let b = self.levels[fine + 1].smooth(u, v, fine + 1);
        [a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f]
    }
}

impl Level {
    fn coarser(&self) -> Option<Level> {
        if self.width <= 2 && self.height <= 2 {
            return None;
        }
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        // 1 3 3 1 along each axis: a plain mean of four would leave thin shadows beaded.
        const WEIGHTS: [f32; 4] = [0.125, 0.375, 0.375, 0.125];
        let halve = |count: usize, from: &dyn Fn(usize) -> [f32; 2], i: usize| {
            let mut sum = [0.0; 2];
            for (k, w) in WEIGHTS.iter().enumerate() {
                if let Some(j) = (2 * i + k).checked_sub(1).filter(|&j| j < count) {
                    let cell = from(j);
                    sum[0] += w * cell[0];
                    sum[1] += w * cell[1];
                }
            }
            sum
        };
        let mut narrow = vec![[0.0; 2]; width * self.height];
        for (y, row) in narrow.chunks_exact_mut(width).enumerate() {
            let from = &self.cells[y * self.width..(y + 1) * self.width];
            for (x, cell) in row.iter_mut().enumerate() {
                *cell = halve(self.width, &|j| from[j], x);
            }
        }
        let mut cells = vec![[0.0; 2]; width * height];
        for (y, row) in cells.chunks_exact_mut(width).enumerate() {
            for (x, cell) in row.iter_mut().enumerate() {
                *cell = halve(self.height, &|j| narrow[j * width + x], y);
            }
        }
        Some(Level { width, height, cells })
    }

    /// Quadratic B-spline through the cells; (u, v) in cells of the finest level.
    fn smooth(&self, u: f32, v: f32, level: usize) -> [f32; 2] {
        let scale = 1.0 / (1_u32 << level) as f32;
        let (u, v) = (u * scale, v * scale);
        // Whole part, also of what lies a little outside.
        let whole = |f: f32| (f + 65536.0) as i32 - 65536;
        let (cu, cv) = (whole(u), whole(v));
        let weights = |f: f32| [0.5 * (1.0 - f) * (1.0 - f), 0.5 + f * (1.0 - f), 0.5 * f * f];
        let (wu, wv) = (weights(u - cu as f32), weights(v - cv as f32));
        let (x, y) = (cu - 1, cv - 1);
        let mut sum = [0.0; 2];
        let mut add = |weight: f32, cell: [f32; 2]| {
            sum[0] += weight * cell[0];
            sum[1] += weight * cell[1];
        };
        if x >= 0 && y >= 0 && x as usize + 3 <= self.width && y as usize + 3 <= self.height {
            for (j, wv) in wv.iter().enumerate() {
                let start = (y as usize + j) * self.width + x as usize;
                let row = &self.cells[start..start + 3];
                add(wu[0] * wv, row[0]);
                add(wu[1] * wv, row[1]);
                add(wu[2] * wv, row[2]);
            }
            return sum;
        }
        for (j, wv) in wv.iter().enumerate() {
            for (i, wu) in wu.iter().enumerate() {
                let (column, row) = (x + i as i32, y + j as i32);
                if column >= 0 && row >= 0 && (column as usize) < self.width && (row as usize) < self.height {
                    add(wu * wv, self.cells[row as usize * self.width + column as usize]);
                }
            }
        }
        sum
    }
}

/// Logarithm of base 2, straight between powers of two: enough to choose a level.
fn log2(x: f32) -> f32 {
    let bits = x.max(1.0).to_bits();
    (bits >> 23) as f32 - 127.0 + (bits & 0x7F_FFFF) as f32 / 8_388_608.0
}
