//! Parts thinner than the lattice: they get balls that are thick enough.
//!
//! A ball of radius √5/4 a holds a point of every body-centred lattice of side a. From points
//! spread over the skin rays go inwards; half way to the other side is a medial point. Where no
//! lattice point inside the skin is near it, a ball is put there.

use super::inside::Inside;
use glam::DVec3;
use std::collections::HashMap;

/// Balls in a grid of cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Balls {
    cell: f64,
    radius: f64,
    cells: HashMap<[i32; 3], Vec<DVec3>>,
    pub count: usize,
}

fn key(p: DVec3, cell: f64) -> [i32; 3] {
    (p / cell).floor().to_array().map(|c| c as i32)
}

impl Balls {
    /// Of one radius, to be looked for within `cell` (m).
    pub fn new(radius: f64, cell: f64) -> Self {
        Self { cell, radius, ..Self::default() }
    }

    pub fn add(&mut self, center: DVec3) {
        // One in the same place is enough.
        let near = 0.25 * self.radius;
        let mut taken = false;
        self.each_near(center, |c, _| taken |= c.distance(center) < near);
        if !taken {
            self.cells.entry(key(center, self.cell)).or_default().push(center);
            self.count += 1;
        }
    }

    /// Balls whose centre is in this cell or one beside it.
    pub fn each_near(&self, p: DVec3, mut visit: impl FnMut(DVec3, f64)) {
        if self.cells.is_empty() {
            return;
        }
        let [x, y, z] = key(p, self.cell);
        for dz in -1..=1 {
            for dy in -1..=1 {
                for dx in -1..=1 {
                    if let Some(list) = self.cells.get(&[x + dx, y + dy, z + dz]) {
                        list.iter().for_each(|&c| visit(c, self.radius));
                    }
                }
            }
        }
    }
}

/// Points over the skin, about `spacing` apart, with normals outwards; all corners among them.
pub(super) fn spread(positions: &[DVec3], triangles: &[[u32; 3]], spacing: f64, mut visit: impl FnMut(DVec3, DVec3)) {
    for t in triangles {
        let [a, b, c] = t.map(|i| positions[i as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        let n = (longest / spacing).ceil().clamp(1.0, 200.0) as usize;
        for i in 0..=n {
            for j in 0..=n - i {
                let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
                visit(a + u * (b - a) + v * (c - a), normal);
            }
        }
    }
}

/// Medial points of the skin where it is thinner than `limit` (m).
pub(super) fn medial(
    skin: &Inside,
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    spacing: f64,
    limit: f64,
) -> Vec<DVec3> {
    let [low, high] = skin.bounds();
    let start = 1e-7 * (high - low).length();
    let mut out = Vec::new();
    spread(positions, triangles, spacing, |p, normal| {
        for inwards in [-normal, normal] {
            // The mesh may face either way: the side on which the middle is inside counts.
            if let Some(depth) = skin.first_hit(p + start * inwards, inwards, 0.0)
                && depth < limit
                && skin.winding(p + 0.5 * depth * inwards) > 0.5
            {
                out.push(p + 0.5 * depth * inwards);
            }
        }
    });
    out
}
