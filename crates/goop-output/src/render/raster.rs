//! Triangles to pixels, a tile at a time.
//!
//! Per tile and sample the nearest triangle is found first; only then colours are
//! worked out, once for each triangle that a pixel shows. Tiles are independent and
//! each goes through its triangles in their order, so the picture does not depend on
//! the number of threads.

use super::color;
use super::mesh::{Triangle, Vertex};
use super::stage::Stage;
use super::triangle::{Sides, facing, range};
use super::{glaze, lines};
use crate::image::Image;
use glam::Vec3;
use rayon::prelude::*;

/// Side of a tile (px).
pub const TILE: usize = 32;
/// Pixels around a tile that lines may ask about.
const APRON: usize = 3;
/// Nothing there.
const BACK: u32 = u32::MAX;
/// The ground is there.
const GROUND: u32 = u32::MAX - 1;

/// Samples within a pixel, in sixteenths from its middle.
const FOUR: [[i8; 2]; 4] = [[-2, -6], [6, -2], [-6, 2], [2, 6]];
const EIGHT: [[i8; 2]; 8] = [[1, -3], [-1, 3], [5, 1], [-3, -5], [-5, 5], [-7, -1], [3, 7], [7, -7]];
const SIXTEEN: [[i8; 2]; 16] = [
    [1, 1],
    [-1, -3],
    [-3, 2],
    [4, -1],
    [-5, -2],
    [2, 5],
    [5, 3],
    [3, -5],
    [-2, 6],
    [0, -7],
    [-4, -6],
    [-6, 4],
    [-8, 0],
    [7, -4],
    [6, 7],
    [-7, -8],
];

/// Draws the stage with this many samples a pixel.
pub fn draw(stage: &Stage, width: u32, height: u32, samples: u32) -> Image {
    match samples {
        0 | 1 => draw_with(stage, width, height, &[[0, 0]]),
        2..=4 => draw_with(stage, width, height, &FOUR),
        5..=8 => draw_with(stage, width, height, &EIGHT),
        _ => draw_with(stage, width, height, &SIXTEEN),
    }
}

fn draw_with<const N: usize>(stage: &Stage, width: u32, height: u32, pattern: &[[i8; 2]; N]) -> Image {
    let offsets = pattern.map(|[x, y]| [f32::from(x) / 16.0, f32::from(y) / 16.0]);
    let work = Work::new(stage, width as usize, height as usize, offsets);
    let tiles: Vec<Vec<u8>> = (0..work.columns * work.rows)
        .into_par_iter()
        .map_init(|| Samples::new(&work), |s, t| work.tile(s, t))
        .collect();
    let mut image = Image { width, height, pixels: vec![0; 3 * width as usize * height as usize] };
    for (t, pixels) in tiles.into_iter().enumerate() {
        let tile = Image { width: TILE as u32, height: TILE as u32, pixels };
        image.place(&tile, (t % work.columns * TILE) as u32, (t / work.columns * TILE) as u32);
    }
    image
}

/// What all tiles need.
pub struct Work<'a, const N: usize> {
    /// What is drawn.
    pub stage: &'a Stage<'a>,
    /// Its vertices; those from clipping come last.
    vertices: Vec<Vertex>,
    /// Column, row and 1/z of every vertex.
    screen: Vec<Vec3>,
    triangles: Vec<Triangle>,
    solid: Vec<Vec<u32>>,
    glass: Vec<Vec<u32>>,
    lines: Vec<Vec<u32>>,
    ends: Vec<Option<[Vec3; 2]>>,
    columns: usize,
    rows: usize,
    size: [usize; 2],
    apron: usize,
    offsets: [[f32; 2]; N],
}

/// Depths (1/z) and triangles of a tile's samples.
pub struct Samples<const N: usize> {
    /// Per pixel of the tile with its apron.
    pub depth: Vec<[f32; N]>,
    id: Vec<[u32; N]>,
    /// Pixels along a side, apron included.
    pub side: usize,
}

impl<const N: usize> Samples<N> {
    fn new(work: &Work<N>) -> Samples<N> {
        let side = TILE + 2 * work.apron;
        Samples { depth: vec![[0.0; N]; side * side], id: vec![[BACK; N]; side * side], side }
    }
}

impl<'a, const N: usize> Work<'a, N> {
    fn new(stage: &'a Stage<'a>, width: usize, height: usize, offsets: [[f32; 2]; N]) -> Work<'a, N> {
        let mesh = &stage.mesh;
        let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
        let bins = || vec![Vec::new(); columns * rows];
        let mut work = Work {
            stage,
            vertices: mesh.vertices.clone(),
            screen: mesh.vertices.par_iter().map(|v| stage.camera.project(v.position)).collect(),
            triangles: Vec::with_capacity(mesh.triangles.len()),
            solid: bins(),
            glass: bins(),
            lines: bins(),
            ends: Vec::new(),
            columns,
            rows,
            size: [width, height],
            apron: if mesh.lines.is_empty() { 0 } else { APRON },
            offsets,
        };
        for t in &mesh.triangles {
            work.clip(t);
        }
        work.ends = mesh.lines.iter().map(|l| lines::clip(&stage.camera, l.ends)).collect();
        for i in 0..work.triangles.len() {
            let t = work.triangles[i];
            let glass = mesh.materials[t.material as usize].alpha < 1.0;
            let points = t.corners.map(|v| work.screen[v as usize]);
            let apron = work.apron as f32;
            let tiles = work.tiles_of(&points, apron);
            for tile in tiles {
                (if glass { &mut work.glass } else { &mut work.solid })[tile].push(i as u32);
            }
        }
        for i in 0..work.ends.len() {
            if let Some(points) = work.ends[i] {
                for tile in work.tiles_of(&points, mesh.lines[i].width + 1.0) {
                    work.lines[tile].push(i as u32);
                }
            }
        }
        work
    }

    /// Keeps what is in front of the eye, cut where it comes too near.
    fn clip(&mut self, triangle: &Triangle) {
        let camera = &self.stage.camera;
        let farthest = 1.0 / camera.near;
        let inside = triangle.corners.map(|v| {
            let z = self.screen[v as usize].z;
            z > 0.0 && z <= farthest
        });
        if inside == [true; 3] {
            self.triangles.push(*triangle);
            return;
        }
        let corner = triangle.corners.map(|v| self.vertices[v as usize]);
        if inside == [false; 3] || corner.iter().any(|c| !c.position.is_finite()) {
            return;
        }
        let depth = corner.map(|c| (c.position - camera.eye).dot(camera.forward) - camera.near);
        let mut polygon: Vec<u32> = Vec::with_capacity(4);
        for k in 0..3 {
            let next = (k + 1) % 3;
            if inside[k] {
                polygon.push(triangle.corners[k]);
            }
            if inside[k] != inside[next] {
                let f = (depth[k] / (depth[k] - depth[next])).clamp(0.0, 1.0);
                let (a, b) = (corner[k], corner[next]);
                let position = a.position.lerp(b.position, f);
                let mut seen = camera.project(position);
                seen.z = seen.z.clamp(0.0, farthest);
                polygon.push(self.vertices.len() as u32);
                self.vertices.push(Vertex {
                    position,
                    normal: a.normal.lerp(b.normal, f),
                    color: a.color.lerp(b.color, f),
                });
                self.screen.push(seen);
            }
        }
        for k in 2..polygon.len() {
            let corners = [polygon[0], polygon[k - 1], polygon[k]];
            self.triangles.push(Triangle { corners, material: triangle.material });
        }
    }

    /// Tiles that a shape may touch.
    fn tiles_of(&self, points: &[Vec3], margin: f32) -> Vec<usize> {
        let low = points.iter().fold(Vec3::INFINITY, |m, p| m.min(*p)) - margin;
        let high = points.iter().fold(Vec3::NEG_INFINITY, |m, p| m.max(*p)) + margin;
        let fits = high.x >= 0.0 && high.y >= 0.0 && low.x <= self.size[0] as f32 && low.y <= self.size[1] as f32;
        if !(fits && low.is_finite() && high.is_finite()) {
            return Vec::new();
        }
        let tile = |v: f32, count: usize| (v.max(0.0) as usize / TILE).min(count - 1);
        let (left, right) = (tile(low.x, self.columns), tile(high.x, self.columns));
        let (top, bottom) = (tile(low.y, self.rows), tile(high.y, self.rows));
        (top..=bottom).flat_map(|row| (left..=right).map(move |column| row * self.columns + column)).collect()
    }

    fn tile(&self, samples: &mut Samples<N>, tile: usize) -> Vec<u8> {
        let left = (tile % self.columns * TILE) as f32;
        let top = (tile / self.columns * TILE) as f32;
        let origin = [left - self.apron as f32, top - self.apron as f32];
        self.clear(samples, origin);
        for &t in &self.solid[tile] {
            self.cover(samples, origin, t);
        }
        let mut colors = self.resolve(samples, [left, top]);
        for &t in &self.glass[tile] {
            let triangle = &self.triangles[t as usize];
            let points = triangle.corners.map(|v| self.screen[v as usize] - Vec3::new(left, top, 0.0));
            let shade = |x: f32, y: f32| self.surface(t, left + x, top + y);
            glaze::glaze(samples, self.apron, &points, &self.offsets, &mut colors, shade);
        }
        for &l in &self.lines[tile] {
            if let Some(ends) = self.ends[l as usize] {
                let ends = ends.map(|e| e - Vec3::new(left, top, 0.0));
                lines::draw(&self.stage.mesh.lines[l as usize], ends, samples, self.apron, &mut colors);
            }
        }
        colors.iter().flat_map(|&c| color::bytes(c)).collect()
    }

    /// Starts a tile with the ground, whose 1/z is linear across the picture.
    fn clear(&self, samples: &mut Samples<N>, origin: [f32; 2]) {
        samples.id.fill([BACK; N]);
        samples.depth.fill([0.0; N]);
        let (camera, Some(ground)) = (&self.stage.camera, &self.stage.ground) else { return };
        let height = ground.height(camera.eye);
        if height <= 0.0 {
            return;
        }
        // Things that lie on the ground win over it.
        let scale = -0.9985 / height;
        let start = scale * camera.ray(origin[0] + 0.5, origin[1] + 0.5).dot(ground.normal);
        let right = scale * camera.right.dot(ground.normal) / camera.focal;
        let down = -scale * camera.up.dot(ground.normal) / camera.focal;
        let inner = self.offsets.map(|o| right * o[0] + down * o[1]);
        for (i, (depths, ids)) in samples.depth.iter_mut().zip(&mut samples.id).enumerate() {
            let z = start + right * (i % samples.side) as f32 + down * (i / samples.side) as f32;
            for s in 0..N {
                let z = z + inner[s];
                depths[s] = z.max(0.0);
                ids[s] = if z > 0.0 { GROUND } else { BACK };
            }
        }
    }

    /// Puts a triangle into all samples where it is the nearest so far.
    fn cover(&self, samples: &mut Samples<N>, origin: [f32; 2], t: u32) {
        let shift = Vec3::new(origin[0] + 0.5, origin[1] + 0.5, 0.0);
        let triangle = &self.triangles[t as usize];
        let nearer = Vec3::new(1.0, 1.0, self.stage.mesh.materials[triangle.material as usize].nearness());
        let points = triangle.corners.map(|v| (self.screen[v as usize] - shift) * nearer);
        let Some(sides) = Sides::new(&points) else { return };
        let Some([x0, x1, y0, y1]) = range(&points, samples.side) else { return };
        let (least, most) = sides.depths(&points);
        let inner: [[f32; N]; 3] = std::array::from_fn(|e| self.offsets.map(|o| sides.a[e] * o[0] + sides.b[e] * o[1]));
        let deeper: [f32; N] = self.offsets.map(|o| sides.p * o[0] + sides.q * o[1]);
        let slack: [f32; 3] = std::array::from_fn(|e| -0.5 * (sides.a[e].abs() + sides.b[e].abs()) - sides.eps[e]);
        for y in y0..=y1 {
            for x in x0..=x1 {
                let (fx, fy) = (x as f32, y as f32);
                let e: [f32; 3] = std::array::from_fn(|k| sides.a[k] * fx + sides.b[k] * fy + sides.c[k]);
                if e[0] < slack[0] || e[1] < slack[1] || e[2] < slack[2] {
                    continue;
                }
                let z = sides.p * fx + sides.q * fy + sides.r;
                let i = y * samples.side + x;
                let (depth, id) = (&mut samples.depth[i], &mut samples.id[i]);
                for s in 0..N {
                    let inside = (e[0] + inner[0][s] >= -sides.eps[0])
                        & (e[1] + inner[1][s] >= -sides.eps[1])
                        & (e[2] + inner[2][s] >= -sides.eps[2]);
                    let z = (z + deeper[s]).max(least).min(most);
                    let wins = inside & (z > depth[s]);
                    depth[s] = if wins { z } else { depth[s] };
                    id[s] = if wins { t } else { id[s] };
                }
            }
        }
    }

    /// Colours of a tile's pixels: each triangle seen in one is shaded once, amid its samples.
    fn resolve(&self, samples: &Samples<N>, corner: [f32; 2]) -> Vec<Vec3> {
        let mut colors = vec![Vec3::ZERO; TILE * TILE];
        for (k, color) in colors.iter_mut().enumerate() {
            let (x, y) = (k % TILE, k / TILE);
            let (fx, fy) = (corner[0] + x as f32 + 0.5, corner[1] + y as f32 + 0.5);
            if fx > self.size[0] as f32 || fy > self.size[1] as f32 {
                continue;
            }
            let ids = &samples.id[(y + self.apron) * samples.side + x + self.apron];
            let base = self.stage.backdrop.at(fx as u32, fy as u32);
            if ids.iter().all(|&id| id == ids[0]) {
                *color = self.seen(ids[0], base, fx, fy);
                continue;
            }
            let mut done = [false; N];
            for s in 0..N {
                if done[s] {
                    continue;
                }
                let (mut count, mut mean) = (0.0, [0.0; 2]);
                for o in s..N {
                    if ids[o] == ids[s] {
                        done[o] = true;
                        count += 1.0;
                        mean[0] += self.offsets[o][0];
                        mean[1] += self.offsets[o][1];
                    }
                }
                let (px, py) = (fx + mean[0] / count, fy + mean[1] / count);
                *color += (count / N as f32) * self.seen(ids[s], base, px, py);
            }
        }
        colors
    }

    fn seen(&self, id: u32, base: Vec3, x: f32, y: f32) -> Vec3 {
        match id {
            BACK => base,
            GROUND => self.ground(base, x, y),
            t => self.surface(t, x, y).0,
        }
    }

    fn ground(&self, base: Vec3, x: f32, y: f32) -> Vec3 {
        let (camera, Some(ground)) = (&self.stage.camera, &self.stage.ground) else { return base };
        let ray = camera.ray(x, y);
        let along = -ground.height(camera.eye) / ray.dot(ground.normal);
        self.stage.ground_color(base, camera.eye + ray * along - ground.point)
    }

    /// Colour of a triangle at a point of the picture (px), and how much of itself it shows.
    fn surface(&self, t: u32, x: f32, y: f32) -> (Vec3, f32) {
        let triangle = &self.triangles[t as usize];
        let material = &self.stage.mesh.materials[triangle.material as usize];
        let points = triangle.corners.map(|v| self.screen[v as usize]);
        let [a, b, c] = triangle.corners.map(|v| &self.vertices[v as usize]);
        // Areas opposite each corner, times 1/z, are the weights in space.
        let area = |p: Vec3, q: Vec3| (p.x - x) * (q.y - y) - (p.y - y) * (q.x - x);
        let areas = Vec3::new(area(points[1], points[2]), area(points[2], points[0]), area(points[0], points[1]));
        let sign = if areas.x + areas.y + areas.z < 0.0 { -1.0 } else { 1.0 };
        let areas = (areas * sign).max(Vec3::splat(0.0));
        let weights = areas * Vec3::new(points[0].z, points[1].z, points[2].z);
        let sum = weights.x + weights.y + weights.z;
        let w = if sum > 0.0 { weights / sum } else { Vec3::splat(1.0 / 3.0) };
        let position = a.position * w.x + b.position * w.y + c.position * w.z;
        let normal = (a.normal * w.x + b.normal * w.y + c.normal * w.z).normalize_or(Vec3::Y);
        let color = a.color * w.x + b.color * w.y + c.color * w.z;
        let view = (self.stage.camera.eye - position).normalize_or(Vec3::Y);
        let normal = facing(normal, [a, b, c], view);
        (self.stage.surface(material, color, position, normal, view), material.shown(normal, view))
    }
}
