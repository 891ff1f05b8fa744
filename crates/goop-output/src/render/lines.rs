//! Lines of constant width, smooth at their edges, hidden by what is before them.
//!
//! A pixel is covered by how near its middle is to the line. Whether the line is hidden
//! there is asked at the nearest point of the line, not at the pixel, so that a surface
//! does not eat the lines that lie on it.

use super::camera::Camera;
use super::mesh::Line;
use super::raster::{Samples, TILE};
use glam::{Vec2, Vec3, Vec3Swizzles};

/// Ends on the picture, cut where the line comes too near; none if it is all behind.
pub fn clip(camera: &Camera, ends: [Vec3; 2]) -> Option<[Vec3; 2]> {
    let depth = ends.map(|p| (p - camera.eye).dot(camera.forward) - camera.near);
    if !depth.iter().all(|d| d.is_finite()) || depth.iter().all(|&d| d <= 0.0) {
        return None;
    }
    let at = |k: usize| {
        let other = 1 - k;
        let f = if depth[k] < 0.0 { depth[k] / (depth[k] - depth[other]) } else { 0.0 };
        camera.project(ends[k].lerp(ends[other], f))
    };
    Some([at(0), at(1)])
}

/// Draws into the colours of a tile; `ends` are given from the tile's corner.
pub fn draw<const N: usize>(line: &Line, ends: [Vec3; 2], samples: &Samples<N>, apron: usize, colors: &mut [Vec3]) {
    let (a, b) = (ends[0].xy(), ends[1].xy());
    let along = b - a;
    let length_squared = along.length_squared();
    let reach = 0.5 * line.width + 0.5;
    let low = (a.min(b) - reach).max(Vec2::ZERO);
    let high = (a.max(b) + reach).min(Vec2::splat(TILE as f32));
    if !(low.x < high.x && low.y < high.y) {
        return;
    }
    for y in low.y as usize..(high.y.ceil() as usize).min(TILE) {
        for x in low.x as usize..(high.x.ceil() as usize).min(TILE) {
            let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            let t = if length_squared > 0.0 { ((p - a).dot(along) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
            let nearest = a + along * t;
            let cover = (reach - p.distance(nearest)).clamp(0.0, 1.0) * line.width.min(1.0);
            if cover <= 0.0 {
                continue;
            }
            let depth = (ends[0].z + (ends[1].z - ends[0].z) * t) * (1.0 + line.lead);
            let cell = |v: f32| ((v + apron as f32).max(0.0) as usize).min(samples.side - 1);
            let there = &samples.depth[cell(nearest.y) * samples.side + cell(nearest.x)];
            let seen = there.iter().filter(|&&d| d <= depth).count() as f32 / N as f32;
            let pixel = &mut colors[y * TILE + x];
            *pixel += (line.color - *pixel) * (cover * seen);
        }
    }
}
