//! A finer picture by tracing rays: for stills.
//!
//! Each ray of a pixel starts at another place in it, asks the light at another place
//! for the shadow, and the sky in another direction for its occlusion. Chance is a hash
//! of pixel and ray, so the picture is the same every time.

use super::color;
use super::light::{KEY_SPREAD, tone};
use super::stage::{Stage, shadowed};
use super::triangle::facing;
use crate::image::Image;
use glam::{Vec3, Vec3A};
use obvhs::BvhBuildParams;
use obvhs::cwbvh::{CwBvh, builder::build_cwbvh_from_tris};
use obvhs::ray::{Ray, RayHit};
use obvhs::triangle::Triangle;
use rayon::prelude::*;
use std::time::Duration;

/// Rays after which a pixel that has only shown what is behind everything is left.
const FIRST: u32 = 8;
/// Panes that a ray passes before it gives up.
const MOST_PANES: u32 = 12;

struct Scene<'a> {
    stage: &'a Stage<'a>,
    triangles: Vec<Triangle>,
    /// Which of the mesh's triangles each is.
    number: Vec<u32>,
    tree: CwBvh,
    /// How far bodies ask for the sky (m); the ground asks to the end.
    reach: f32,
    small: f32,
}

/// Draws the stage with up to this many rays a pixel; `size` (m) is that of the scene.
pub fn draw(stage: &Stage, width: u32, height: u32, rays: u32, size: f32) -> Image {
    let mesh = &stage.mesh;
    let corner = |v: u32| Vec3A::from(mesh.vertices[v as usize].position);
    let (mut triangles, mut number) = (Vec::new(), Vec::new());
    for (i, t) in mesh.triangles.iter().enumerate() {
        let [v0, v1, v2] = t.corners.map(corner);
        if v0.is_finite() && v1.is_finite() && v2.is_finite() {
            triangles.push(Triangle { v0, v1, v2 });
            number.push(i as u32);
        }
    }
    let tree = build_cwbvh_from_tris(&triangles, BvhBuildParams::medium_build(), &mut Duration::default());
    let scene = Scene { stage, triangles, number, tree, reach: 0.35 * size, small: 2e-5 * size.max(1e-6) };
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    pixels.par_chunks_exact_mut(3 * width as usize).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            let color = scene.pixel(x as u32, y as u32, rays.max(1));
            pixel.copy_from_slice(&color::bytes(color));
        }
    });
    Image { width, height, pixels }
}

impl Scene<'_> {
    fn pixel(&self, x: u32, y: u32, rays: u32) -> Vec3 {
        let base = self.stage.backdrop.at(x, y);
        let start = hash(x.wrapping_mul(0x9E37_79B1) ^ hash(y));
        let (mut sum, mut empty) = (Vec3::ZERO, true);
        for k in 0..rays {
            // Three sequences that fill squares evenly, shifted by chance per pixel.
            let at = |salt: u32| even(k, hash(start ^ salt));
            let [dx, dy] = at(1);
            let direction = self.stage.camera.ray(x as f32 + dx, y as f32 + dy);
            let seen = self.look(direction, base, at(2), at(3));
            empty &= seen.is_none();
            sum += seen.unwrap_or(base);
            if k + 1 == FIRST && empty {
                return base;
            }
        }
        sum / rays as f32
    }

    /// Colour along a ray from the eye; none if it meets nothing.
    fn look(&self, direction: Vec3, base: Vec3, light: [f32; 2], sky: [f32; 2]) -> Option<Vec3> {
        let stage = self.stage;
        let (mut near, mut color, mut left) = (stage.camera.near, Vec3::ZERO, 1.0);
        let eye = stage.camera.eye;
        let ground = stage.ground.and_then(|g| {
            let along = -g.height(eye) / direction.dot(g.normal);
            (g.height(eye) > 0.0 && along > 0.0).then_some((g, along))
        });
        for _ in 0..MOST_PANES {
            let hit = self.nearest(eye, direction, near);
            let Some((t, id)) = hit.filter(|(t, _)| ground.is_none_or(|(_, along)| *t < along * 1.0015)) else {
                break;
            };
            let triangle = &stage.mesh.triangles[id as usize];
            let material = &stage.mesh.materials[triangle.material as usize];
            let at = eye + direction * t;
            let [a, b, c] = triangle.corners.map(|v| &stage.mesh.vertices[v as usize]);
            let flat = (b.position - a.position).cross(c.position - a.position);
            let area = flat.length_squared().max(f32::MIN_POSITIVE);
            let weight = |p: Vec3, q: Vec3| ((p - at).cross(q - at).dot(flat) / area).clamp(0.0, 1.0);
            let w = Vec3::new(
                weight(b.position, c.position),
                weight(c.position, a.position),
                weight(a.position, b.position),
            );
            let view = -direction.normalize();
            let normal = (a.normal * w.x + b.normal * w.y + c.normal * w.z).normalize_or(Vec3::Y);
            let normal = facing(normal, [a, b, c], view);
            let flat = flat.normalize_or(normal);
            let flat = if flat.dot(view) < 0.0 { -flat } else { flat };
            let own = a.color * w.x + b.color * w.y + c.color * w.z;
            let shown = material.shown(normal, view);
            let through = material.thin && normal.dot(stage.lights.key) < 0.0;
            let side = if through { -flat } else { flat };
            let key = if shown < 1.0 || normal.dot(stage.lights.key) > 0.0 || through {
                self.lit(at + side * self.small * 4.0, light)
            } else {
                0.0
            };
            let open = if shown < 1.0 {
                1.0
            } else {
                1.0 - 0.8 * self.closed(at + flat * self.small * 4.0, normal, sky, self.reach)
            };
            color += left * shown * tone(stage.lights.shade(own, material, normal, view, key, open));
            left *= 1.0 - shown;
            if left < 0.01 {
                return Some(color);
            }
            near = t + self.small;
        }
        let back = match ground {
            Some((g, along)) => {
                let at = eye + direction * along + g.normal * self.small;
                shadowed(base, 1.0 - self.lit(at, light), self.closed(at, g.normal, sky, f32::INFINITY))
            }
            None if left == 1.0 => return None,
            None => base,
        };
        Some(color + left * back)
    }

    fn nearest(&self, from: Vec3, direction: Vec3, near: f32) -> Option<(f32, u32)> {
        let ray = Ray::new(from.into(), direction.into(), near, f32::INFINITY);
        let mut hit = RayHit::none();
        let any = self.tree.ray_traverse(ray, &mut hit, |ray, id| {
            self.triangles[self.tree.primitive_indices[id] as usize].intersect(ray)
        });
        any.then(|| (hit.t, self.number[self.tree.primitive_indices[hit.primitive_id as usize] as usize]))
    }

    /// Whether something opaque is met within this distance, and where.
    fn met(&self, from: Vec3, direction: Vec3, far: f32) -> Option<f32> {
        let ray = Ray::new(from.into(), direction.into(), 0.0, far);
        let mut hit = RayHit::none();
        let any = self.tree.ray_traverse(ray, &mut hit, |ray, id| {
            let index = self.tree.primitive_indices[id] as usize;
            let opaque = self.stage.mesh.casts(&self.stage.mesh.triangles[self.number[index] as usize]);
            if opaque { self.triangles[index].intersect(ray) } else { f32::INFINITY }
        });
        any.then_some(hit.t)
    }

    /// 1 if a point of the key light is seen, else 0.
    fn lit(&self, from: Vec3, [u, v]: [f32; 2]) -> f32 {
        let (a, b) = self.stage.lights.key.any_orthonormal_pair();
        let (sin, cos) = (std::f32::consts::TAU * v).sin_cos();
        let out = KEY_SPREAD * u.sqrt();
        let direction = (self.stage.lights.key + a * (out * cos) + b * (out * sin)).normalize();
        if self.met(from, direction, f32::INFINITY).is_some() { 0.0 } else { 1.0 }
    }

    /// How much a direction of the sky, drawn with the cosine to the normal, is closed: the nearer the more.
    fn closed(&self, from: Vec3, normal: Vec3, [u, v]: [f32; 2], reach: f32) -> f32 {
        let (a, b) = normal.any_orthonormal_pair();
        let (sin, cos) = (std::f32::consts::TAU * v).sin_cos();
        let direction = a * (u.sqrt() * cos) + b * (u.sqrt() * sin) + normal * (1.0 - u).max(0.0).sqrt();
        self.met(from, direction.normalize(), reach).map_or(0.0, |t| 1.0 - t / reach)
    }
}

/// The k-th point of a sequence that fills the unit square evenly (R2), shifted.
fn even(k: u32, shift: u32) -> [f32; 2] {
    let part = |step: u32, offset: u32| (k.wrapping_mul(step).wrapping_add(offset) >> 8) as f32 / (1 << 24) as f32;
    [part(3_242_174_889, shift), part(2_447_445_414, hash(shift))]
}

/// Mixes the bits of a number.
fn hash(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}
