//! A closed mesh made finer where it matters, evened out on its surface, and cut along the
//! borders of paints. Every edge is treated once for both its triangles, so that a closed
//! mesh stays closed.

use super::field::onto;
use glam::DVec3;
use std::collections::BTreeMap;

/// A crossing nearer to a vertex than this part of its edge moves the vertex there.
const SNAP: f64 = 0.3;

/// A mesh whose triangles have paints.
pub(super) struct Mesh {
    pub(super) positions: Vec<DVec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) paints: Vec<u32>,
    /// Vertices on a border: they do not move.
    fixed: Vec<bool>,
}

/// An edge by its ends, the lower first.
fn edge(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl Mesh {
    pub(super) fn new((positions, triangles): (Vec<DVec3>, Vec<[u32; 3]>)) -> Mesh {
        let (fixed, paints) = (vec![false; positions.len()], vec![0; triangles.len()]);
        Mesh { positions, triangles, paints, fixed }
    }

    fn at(&self, vertex: u32) -> DVec3 {
        self.positions[vertex as usize]
    }

    fn edges(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> =
            self.triangles.iter().flat_map(|&[a, b, c]| [edge(a, b), edge(b, c), edge(c, a)]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Vertices that share an edge with each.
    pub(super) fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut near = vec![Vec::new(); self.positions.len()];
        for (a, b) in self.edges() {
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        near
    }

    /// Halves edges longer than `wanted` at their middle, once.
    pub(super) fn refine(&mut self, field: impl Fn(DVec3) -> f64, wanted: impl Fn(DVec3) -> f64) {
        let mut middles = BTreeMap::new();
        for (a, b) in self.edges() {
            let middle = (self.at(a) + self.at(b)) / 2.0;
            if self.at(a).distance(self.at(b)) > wanted(middle) {
                middles.insert((a, b), onto(&field, middle));
            }
        }
        self.split(middles);
    }

    /// Puts a vertex on some edges.
    fn split(&mut self, points: BTreeMap<(u32, u32), DVec3>) {
        let first = self.positions.len() as u32;
        let number: BTreeMap<(u32, u32), u32> = points.keys().copied().zip(first..).collect();
        self.positions.extend(points.values());
        self.fixed.resize(self.positions.len(), false);
        let (triangles, paints) = (std::mem::take(&mut self.triangles), std::mem::take(&mut self.paints));
        for (triangle, paint) in triangles.into_iter().zip(paints) {
            // Turned so that the split edges come first.
            let on = |[a, b, c]: [u32; 3]| [(a, b), (b, c), (c, a)].map(|(a, b)| number.get(&edge(a, b)).copied());
            let [a, b, c] = triangle;
            let turned = [[a, b, c], [b, c, a], [c, a, b]];
            let wanted = on(triangle).iter().flatten().count();
            let found = turned.into_iter().find(|&t| on(t)[..wanted].iter().all(Option::is_some)).unwrap_or(triangle);
            let [a, b, c] = found;
            match on(found) {
                [None, ..] => self.triangles.push(found),
                [Some(x), None, _] => self.triangles.extend([[a, x, c], [x, b, c]]),
                [Some(x), Some(y), None] => {
                    self.triangles.push([x, b, y]);
                    let shorter = self.at(a).distance_squared(self.at(y)) <= self.at(x).distance_squared(self.at(c));
                    self.triangles.extend(if shorter { [[a, x, y], [a, y, c]] } else { [[a, x, c], [x, y, c]] });
                }
                [Some(x), Some(y), Some(z)] => {
                    self.triangles.extend([[a, x, z], [x, b, y], [y, c, z], [x, y, z]]);
                }
            }
            self.paints.resize(self.triangles.len(), paint);
        }
    }

    /// Moves vertices towards the middle of their neighbours, along the surface.
    pub(super) fn relax(&mut self, field: impl Fn(DVec3) -> f64, times: usize) {
        let near = self.neighbours();
        for _ in 0..times {
            let moved = near.iter().zip(&self.positions).zip(&self.fixed).map(|((near, &own), &fixed)| {
                if fixed || near.is_empty() {
                    return own;
                }
                let middle = near.iter().map(|&other| self.at(other)).sum::<DVec3>() / near.len() as f64;
                onto(&field, own.lerp(middle, 0.5))
            });
            self.positions = moved.collect();
        }
    }

    /// Paints the triangles where `region` is negative, cutting those on its border. `region`
    /// is a length (m) near its border.
    pub(super) fn paint(&mut self, field: impl Fn(DVec3) -> f64, region: impl Fn(DVec3) -> f64, paint: u32) {
        let mut values: Vec<f64> = self.positions.iter().map(|&p| region(p)).collect();
        // The place on an edge where the border crosses it, from 0 to 1.
        let crossing = |a: DVec3, b: DVec3, mut fa: f64, mut fb: f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..12 {
                let middle = low + (high - low) * (fa / (fa - fb)).clamp(0.05, 0.95);
                let value = region(onto(&field, a.lerp(b, middle)));
                if (value < 0.0) == (fa < 0.0) { (low, fa) = (middle, value) } else { (high, fb) = (middle, value) }
            }
            if fa.abs() < fb.abs() { low } else { high }
        };
        // The nearest crossing of every vertex, and where it is.
        let mut nearest = vec![(SNAP, DVec3::ZERO); self.positions.len()];
        for (a, b) in self.edges() {
            let (fa, fb) = (values[a as usize], values[b as usize]);
            if fa * fb < 0.0 {
                let part = crossing(self.at(a), self.at(b), fa, fb);
                let place = onto(&field, self.at(a).lerp(self.at(b), part));
                for (vertex, part) in [(a, part), (b, 1.0 - part)] {
                    if part < nearest[vertex as usize].0 && !self.fixed[vertex as usize] {
                        nearest[vertex as usize] = (part, place);
                    }
                }
            }
        }
        for (vertex, (part, place)) in nearest.into_iter().enumerate() {
            if part < SNAP {
                (self.positions[vertex], values[vertex], self.fixed[vertex]) = (place, 0.0, true);
            }
        }
        let mut cuts = BTreeMap::new();
        for (a, b) in self.edges() {
            let (fa, fb) = (values[a as usize], values[b as usize]);
            if fa * fb < 0.0 {
                let part = crossing(self.at(a), self.at(b), fa, fb);
                cuts.insert((a, b), onto(&field, self.at(a).lerp(self.at(b), part)));
            }
        }
        self.split(cuts);
        values.resize(self.positions.len(), 0.0);
        for (value, fixed) in values.iter().zip(&mut self.fixed) {
            *fixed |= *value == 0.0;
        }
        for (triangle, own) in self.triangles.iter().zip(&mut self.paints) {
            let of = triangle.map(|corner| values[corner as usize]);
            // The corner farthest from the border decides; all three on it, the middle.
            let most = of.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
            let middle = || region(triangle.iter().map(|&v| self.positions[v as usize]).sum::<DVec3>() / 3.0);
            if (if most == 0.0 { middle() } else { most }) < 0.0 {
                *own = paint;
            }
        }
    }
}
