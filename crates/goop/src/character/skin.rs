//! The skin follows the nodes.
//!
//! ```text
//! on nodes      x_v = x_n + (X_v - X_n)                 its nearest node, moved alongside
//! embedded      x_v = Σ w_a x_a                         barycentric in its tetrahedron
//! by matrix     x_v = Σ_b c_b R_b p(X_v)                R_b of reduced coordinates             [Chang] eq 5.2
//! fitted        x_v = Σ_b c_b R_b p(X_v),  p = (1, x, y, z, x², y², z², xy, yz, zx)
//!               R_b = (Σ p pᵀ)⁻¹ Σ p xᵀ over the nodes of part b        [Chang] eq 5.7-5.8
//! ```
//! Weights of a row add up to 1, so the skin moves with every rigid motion, and at rest it is
//! where it was. A vertex outside all tetrahedra is carried on linearly from the nearest
//! few, each by its nearness: a step from one to the next would show.
//!
//! Departs from the thesis: coordinates of the fit are centred and scaled by part (without
//! it the normal matrix is singular to rounding far from the origin), and the matrix is factored once.

use super::parts::Parts;
use crate::coordinates::reduced::Modes;
use crate::parallel::{Chunks, Disjoint};
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Sparse rows: the vertices of a skin as weighted nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinMap {
    start: Vec<u32>,
    nodes: Vec<u32>,
    weights: Vec<f64>,
    /// Added to every vertex (m); empty where rows alone give the rest shape.
    offsets: Vec<DVec3>,
    /// Vertices outside all tetrahedra.
    pub outside: usize,
    /// Largest distance of such a vertex from its tetrahedra (m).
    pub furthest: f64,
}

/// Vertices an application handles at a time.
const BATCH: usize = 2048;
/// Tetrahedra that carry a vertex outside.
const CARRIERS: usize = 4;

impl SkinMap {
    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes and weights of a vertex.
    pub fn row(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.start[vertex] as usize..self.start[vertex + 1] as usize;
        range.map(|k| (self.nodes[k], self.weights[k]))
    }

    /// Where the vertices are for these node positions.
    pub fn apply(&self, nodes: &[DVec3], out: &mut [DVec3]) {
        let (chunks, all) = (Chunks::new(out.len()), Disjoint::new(out));
        chunks.each(|_, range| {
            // SAFETY: chunks are disjoint.
            let out = unsafe { all.slice(range.clone()) };
            for (v, x) in range.zip(out) {
                let mut sum = self.offsets.get(v).copied().unwrap_or(DVec3::ZERO);
                for e in self.start[v] as usize..self.start[v + 1] as usize {
                    sum += self.weights[e] * nodes[self.nodes[e] as usize];
                }
                *x = sum;
            }
        });
    }

    /// The same in single precision, as frames hold it.
    pub fn apply_single(&self, nodes: &[[f32; 3]], out: &mut [[f32; 3]]) {
        out.par_chunks_mut(BATCH).enumerate().for_each(|(batch, out)| {
            for (k, x) in out.iter_mut().enumerate() {
                let v = batch * BATCH + k;
                let mut sum = self.offsets.get(v).copied().unwrap_or(DVec3::ZERO);
                for e in self.start[v] as usize..self.start[v + 1] as usize {
                    let [x, y, z] = nodes[self.nodes[e] as usize];
                    sum += self.weights[e] * DVec3::new(x.into(), y.into(), z.into());
                }
                *x = sum.as_vec3().to_array();
            }
        });
    }

    /// Each vertex on its nearest node.
    pub fn on_nodes(vertices: &[DVec3], nodes: &[DVec3], spacing: f64) -> Self {
        let grid = Buckets::of_points(nodes, spacing);
        let nearest: Vec<u32> = vertices.par_iter().map(|&v| grid.nearest_point(v, nodes)).collect();
        Self {
            start: (0..=vertices.len() as u32).collect(),
            weights: vec![1.0; vertices.len()],
            offsets: vertices.iter().zip(&nearest).map(|(v, &n)| *v - nodes[n as usize]).collect(),
            nodes: nearest,
            ..Self::default()
        }
    }

    /// Barycentric in tetrahedra whose edges are about `spacing` long (m).
    pub fn embed(vertices: &[DVec3], nodes: &[DVec3], cells: &[[u32; 4]], spacing: f64) -> Self {
        let inverses: Vec<DMat3> = (cells.iter())
            .map(|c| {
                let [a, b, c, d] = c.map(|n| nodes[n as usize]);
                DMat3::from_cols(b - a, c - a, d - a).inverse()
            })
            .collect();
        let grid = Buckets::of_cells(nodes, cells, spacing);
        let shares = |v: DVec3, c: u32| {
            let w = inverses[c as usize] * (v - nodes[cells[c as usize][0] as usize]);
            [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
        };
        let row = |&v: &DVec3| {
            let mut found: Option<u32> = None;
            grid.each_at(v, |c| {
                if found.is_none() && shares(v, c).iter().all(|&w| w >= -1e-9) {
                    found = Some(c);
                }
            });
            if let Some(c) = found {
                return (cells[c as usize].iter().copied().zip(shares(v, c)).collect(), 0.0);
            }
            // The nearest few, by distance.
            let mut near: Vec<(f64, u32)> = Vec::new();
            let mut reach = 1;
            while near.is_empty() && reach < 64 {
                grid.each_within(v, reach, |c| {
                    let x = cells[c as usize].map(|n| nodes[n as usize]);
                    near.push((on_tetrahedron(&x, v).distance(v), c));
                });
                reach *= 2;
            }
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.dedup_by_key(|n| n.1);
            let gap = near.first().map_or(0.0, |n| n.0);
            let mut row: Vec<(u32, f64)> = Vec::new();
            for &(distance, c) in near.iter().take(CARRIERS) {
                // Carried on no further than makes sense: weights beyond this would magnify every tremor.
                let w = shares(v, c);
                let extreme = w.iter().fold(0.0f64, |m, w| m.max((w - 0.25).abs()));
                let nearness = 1.0 / (distance + 0.05 * spacing).powi(2) / (1.0 + extreme * extreme);
                for (n, w) in cells[c as usize].iter().zip(w) {
                    match row.iter_mut().find(|r| r.0 == *n) {
                        Some(r) => r.1 += nearness * w,
                        None => row.push((*n, nearness * w)),
                    }
                }
            }
            let total: f64 = row.iter().map(|r| r.1).sum();
            row.iter_mut().for_each(|r| r.1 /= total);
            (row, gap)
        };
        let rows: Vec<(Vec<(u32, f64)>, f64)> = vertices.par_iter().map(row).collect();
        let mut out = Self { start: vec![0], ..Self::default() };
        for (row, gap) in rows {
            out.nodes.extend(row.iter().map(|r| r.0));
            out.weights.extend(row.iter().map(|r| r.1));
            out.start.push(out.nodes.len() as u32);
            out.outside += usize::from(gap > 0.0);
            out.furthest = out.furthest.max(gap);
        }
        out
    }
}

/// Nearest point of a tetrahedron.
fn on_tetrahedron(x: &[DVec3; 4], p: DVec3) -> DVec3 {
    let mut best = (f64::INFINITY, p);
    for f in [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]] {
        let point = super::inside::on_triangle(&f.map(|k| x[k]), p);
        let distance = point.distance_squared(p);
        if distance < best.0 {
            best = (distance, point);
        }
    }
    best.1
}

/// Things by the boxes of a grid they are in.
struct Buckets {
    cell: f64,
    boxes: HashMap<[i32; 3], Vec<u32>>,
}

impl Buckets {
    fn key(&self, p: DVec3) -> [i32; 3] {
        (p / self.cell).floor().to_array().map(|c| c as i32)
    }

    fn of_points(points: &[DVec3], cell: f64) -> Self {
        let mut out = Self { cell, boxes: HashMap::new() };
        for (i, &p) in points.iter().enumerate() {
            out.boxes.entry(out.key(p)).or_default().push(i as u32);
        }
        out
    }

    fn of_cells(nodes: &[DVec3], cells: &[[u32; 4]], cell: f64) -> Self {
        let mut out = Self { cell, boxes: HashMap::new() };
        for (i, c) in cells.iter().enumerate() {
            let x = c.map(|n| nodes[n as usize]);
            let (low, high) = (x[0].min(x[1]).min(x[2]).min(x[3]), x[0].max(x[1]).max(x[2]).max(x[3]));
            let slack = DVec3::splat(1e-6 * cell);
            let (low, high) = (out.key(low - slack), out.key(high + slack));
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    for x in low[0]..=high[0] {
                        out.boxes.entry([x, y, z]).or_default().push(i as u32);
                    }
                }
            }
        }
        out
    }

    fn each_at(&self, p: DVec3, visit: impl FnMut(u32)) {
        if let Some(list) = self.boxes.get(&self.key(p)) {
            list.iter().copied().for_each(visit);
        }
    }

    fn each_within(&self, p: DVec3, reach: i32, mut visit: impl FnMut(u32)) {
        let [x, y, z] = self.key(p);
        for dz in -reach..=reach {
            for dy in -reach..=reach {
                for dx in -reach..=reach {
                    if let Some(list) = self.boxes.get(&[x + dx, y + dy, z + dz]) {
                        list.iter().copied().for_each(&mut visit);
                    }
                }
            }
        }
    }

    fn nearest_point(&self, p: DVec3, points: &[DVec3]) -> u32 {
        let mut reach = 1;
        loop {
            let mut best = (f64::INFINITY, 0);
            self.each_within(p, reach, |i| {
                let distance = points[i as usize].distance(p);
                if distance < best.0 {
                    best = (distance, i);
                }
            });
            // Boxes further off cannot hold a nearer one.
            if best.0 <= reach as f64 * self.cell || reach > 256 {
                return best.1;
            }
            reach *= 2;
        }
    }
}

/// Ten monomials of a point.
pub fn monomials(p: DVec3) -> [f64; 10] {
    let [x, y, z] = p.to_array();
    [1.0, x, y, z, x * x, y * y, z * z, x * y, y * z, z * x]
}

/// One part's deformation matrix R: a vector for each of the ten monomials.
pub type Deformation = [DVec3; 10];

/// The skin by deformation matrices, one a part.
#[derive(Clone, Debug)]
pub struct FittedSkin {
    parts: Vec<Part>,
    /// Shares of every vertex.
    shares: Parts,
    vertices: Vec<DVec3>,
}

#[derive(Clone, Debug)]
struct Part {
    center: DVec3,
    /// One over the part's size (1/m).
    scale: f64,
    nodes: Vec<u32>,
    monomials: Vec<[f64; 10]>,
    shares: Vec<f64>,
    /// Lower triangle of the Cholesky factor of Σ c p pᵀ.
    factor: Vec<f64>,
}

impl Part {
    fn coordinates(&self, x: DVec3) -> [f64; 10] {
        monomials((x - self.center) * self.scale)
    }
}

impl FittedSkin {
    /// Where the vertices are by the maps of reduced coordinates, as amounts of their modes.
    pub fn carried(&self, modes: &Modes, values: &[DVec3]) -> Vec<DVec3> {
        let each = self.vertices.par_iter().enumerate();
        each.map(|(v, &x)| modes.carry(values, self.shares.of(v), x)).collect()
    }

    /// For nodes and vertices at rest that share in the same parts.
    pub fn new(nodes: &[DVec3], node_shares: &Parts, vertices: &[DVec3], shares: Parts) -> Self {
        let parts = (0..node_shares.count).map(|b| part(b as u32, nodes, node_shares)).collect();
        Self { parts, shares, vertices: vertices.to_vec() }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// The matrices that come nearest to these node positions.
    pub fn fit(&self, x: &[DVec3]) -> Vec<Deformation> {
        self.parts.par_iter().map(|part| part.fit(x)).collect()
    }

    /// Vertices by given matrices, in each part's own coordinates.
    pub fn apply(&self, matrices: &[Deformation], out: &mut [DVec3]) {
        out.par_chunks_mut(BATCH).enumerate().for_each(|(batch, out)| {
            for (k, x) in out.iter_mut().enumerate() {
                let v = batch * BATCH + k;
                *x = DVec3::ZERO;
                for &(b, c) in self.shares.of(v) {
                    let p = self.parts[b as usize].coordinates(self.vertices[v]);
                    let r = &matrices[b as usize];
                    *x += c * (0..10).map(|m| p[m] * r[m]).sum::<DVec3>();
                }
            }
        });
    }
}

fn part(b: u32, nodes: &[DVec3], shares: &Parts) -> Part {
    let mut own: Vec<(u32, f64)> = Vec::new();
    for n in 0..nodes.len() {
        if let Some(&(_, c)) = shares.of(n).iter().find(|s| s.0 == b) {
            own.push((n as u32, c));
        }
    }
    let total: f64 = own.iter().map(|o| o.1).sum();
    let center =
        if total > 0.0 { own.iter().map(|&(n, c)| c * nodes[n as usize]).sum::<DVec3>() / total } else { DVec3::ZERO };
    let size = own.iter().map(|&(n, _)| nodes[n as usize].distance(center)).fold(0.0, f64::max);
    let mut part = Part {
        center,
        scale: if size > 0.0 { 1.0 / size } else { 1.0 },
        nodes: own.iter().map(|o| o.0).collect(),
        shares: own.iter().map(|o| o.1).collect(),
        monomials: Vec::new(),
        factor: Vec::new(),
    };
    part.monomials = own.iter().map(|&(n, _)| part.coordinates(nodes[n as usize])).collect();
    let mut normal = vec![0.0; 100];
    for (p, c) in part.monomials.iter().zip(&part.shares) {
        for i in 0..10 {
            for j in 0..10 {
                normal[10 * i + j] += c * p[i] * p[j];
            }
        }
    }
    // Few nodes, or nodes in a plane or in two layers, leave monomials open: the higher ones are
    // held near zero, the linear ones near those of the rest shape.
    for i in 0..10 {
        normal[11 * i] += 1e-9 * total.max(1e-9) + if i > 3 { 1e-6 * total } else { 0.0 };
    }
    part.factor = cholesky(normal);
    part
}

impl Part {
    fn fit(&self, x: &[DVec3]) -> Deformation {
        let mut right = [DVec3::ZERO; 10];
        for ((&n, p), &c) in self.nodes.iter().zip(&self.monomials).zip(&self.shares) {
            for m in 0..10 {
                right[m] += c * p[m] * x[n as usize];
            }
        }
        for i in 0..10 {
            for j in 0..i {
                let by = self.factor[10 * i + j];
                right[i] -= by * right[j];
            }
            right[i] /= self.factor[11 * i];
        }
        for i in (0..10).rev() {
            for j in i + 1..10 {
                let by = self.factor[10 * j + i];
                right[i] -= by * right[j];
            }
            right[i] /= self.factor[11 * i];
        }
        right
    }
}

/// Of a positive definite 10×10 matrix.
fn cholesky(mut a: Vec<f64>) -> Vec<f64> {
    for i in 0..10 {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| a[10 * i + k] * a[10 * j + k]).sum();
            let rest = a[10 * i + j] - sum;
            a[10 * i + j] = if i == j { rest.max(1e-300).sqrt() } else { rest / a[11 * j] };
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn cube() -> (Vec<DVec3>, Vec<[u32; 4]>) {
        let shape = crate::shape::Shape::block(DVec3::ONE, [5; 3]).unwrap();
        let mut cells = Vec::new();
        for c in shape.grid().unwrap().cells() {
            for [a, b] in [[1, 2], [2, 4], [4, 1], [2, 1], [1, 4], [4, 2]] {
                cells.push([c[0], c[a], c[a | b], c[7]]);
            }
        }
        (shape.rest_positions, cells)
    }

    fn vertices() -> Vec<DVec3> {
        (0..300).map(|i| 0.56 * DVec3::new((i as f64).sin(), (1.7 * i as f64).cos(), (2.9 * i as f64).sin())).collect()
    }

    /// Catches weights that do not add up, and a skin that leaves its nodes in a motion that is
    /// linear: there embedding is exact, outside too.
    #[test]
    fn an_embedded_skin_follows_every_linear_motion() {
        let (nodes, cells) = cube();
        let skin = SkinMap::embed(&vertices(), &nodes, &cells, 0.25);
        assert!(skin.outside > 10 && skin.outside < 200 && skin.furthest < 0.11, "{} {}", skin.outside, skin.furthest);
        let turn = DMat3::from_quat(DQuat::from_rotation_y(1.0)) * DMat3::from_diagonal(DVec3::new(1.2, 0.8, 1.1));
        let moved: Vec<DVec3> = nodes.iter().map(|&x| turn * x + DVec3::ONE).collect();
        let mut out = vec![DVec3::ZERO; skin.len()];
        skin.apply(&moved, &mut out);
        for (v, x) in vertices().iter().zip(&out) {
            assert!((turn * *v + DVec3::ONE).distance(*x) < 1e-12);
        }
        for v in 0..skin.len() {
            assert!((skin.row(v).map(|r| r.1).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(skin.row(v).all(|r| r.1.abs() < 2.0));
        }
        let single: Vec<[f32; 3]> = moved.iter().map(|p| p.as_vec3().to_array()).collect();
        let mut short = vec![[0.0; 3]; skin.len()];
        skin.apply_single(&single, &mut short);
        assert!(
            short.iter().zip(&out).all(|(s, x)| DVec3::new(s[0].into(), s[1].into(), s[2].into()).distance(*x) < 1e-5)
        );
    }

    /// Catches a vertex tied to a node further off than another.
    #[test]
    fn vertices_on_nodes_take_the_nearest_and_stay_at_rest() {
        let (nodes, _) = cube();
        let skin = SkinMap::on_nodes(&vertices(), &nodes, 0.25);
        let mut out = vec![DVec3::ZERO; skin.len()];
        skin.apply(&nodes, &mut out);
        for (k, v) in vertices().iter().enumerate() {
            assert!(out[k].distance(*v) < 1e-15);
            let (n, _) = skin.row(k).next().unwrap();
            let best = nodes.iter().map(|p| p.distance(*v)).fold(f64::INFINITY, f64::min);
            assert!((nodes[n as usize].distance(*v) - best).abs() < 1e-12);
        }
    }

    /// Catches a fit that is not exact for quadratic motions, far from the origin too, a factor
    /// that is wrong, and parts that are not blended.
    #[test]
    fn a_fitted_skin_follows_every_quadratic_motion() {
        let (nodes, _) = cube();
        let far = DVec3::new(30.0, -20.0, 10.0);
        let nodes: Vec<DVec3> = nodes.iter().map(|&x| x + far).collect();
        let skin: Vec<DVec3> = vertices().iter().map(|&x| x + far).collect();
        let shares = |x: &[DVec3]| {
            Parts::from_rows(
                2,
                x.iter().map(|p| vec![(0, 0.6 - (p.x - far.x)), (1, 0.6 + (p.x - far.x))]).collect::<Vec<_>>(),
            )
        };
        let fitted = FittedSkin::new(&nodes, &shares(&nodes), &skin, shares(&skin));
        let motion = |x: DVec3| {
            let d = x - far;
            x + DVec3::new(0.3 * d.y * d.z, 0.2 * d.x * d.x, d.y - 0.4 * d.x * d.z)
        };
        let moved: Vec<DVec3> = nodes.iter().map(|&x| motion(x)).collect();
        let mut out = vec![DVec3::ZERO; skin.len()];
        fitted.apply(&fitted.fit(&moved), &mut out);
        for (v, x) in skin.iter().zip(&out) {
            assert!(motion(*v).distance(*x) < 1e-4, "{}", motion(*v).distance(*x));
        }
    }
}
