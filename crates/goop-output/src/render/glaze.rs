//! What one sees through: laid over the finished pixels of a tile.

use super::raster::{Samples, TILE};
use super::triangle::{Sides, range};
use glam::Vec3;

/// Lays one triangle over the colours of a tile. `points` are given from the tile's corner.
pub fn glaze<const N: usize>(
    samples: &Samples<N>,
    apron: usize,
    points: &[Vec3; 3],
    offsets: &[[f32; 2]; N],
    colors: &mut [Vec3],
    shade: impl Fn(f32, f32) -> (Vec3, f32),
) {
    let points = points.map(|p| p - Vec3::new(0.5, 0.5, 0.0));
    let (Some(sides), Some([x0, x1, y0, y1])) = (Sides::new(&points), range(&points, TILE)) else { return };
    for y in y0..=y1 {
        for x in x0..=x1 {
            let (mut count, mut mean) = (0.0, [0.0; 2]);
            let depth = &samples.depth[(y + apron) * samples.side + x + apron];
            for (s, o) in offsets.iter().enumerate() {
                let (fx, fy) = (x as f32 + o[0], y as f32 + o[1]);
                // No slack here: a sample on the edge of two triangles must not count twice.
                let inside = (0..3).all(|k| sides.a[k] * fx + sides.b[k] * fy + sides.c[k] > 0.0);
                if inside && sides.p * fx + sides.q * fy + sides.r > depth[s] {
                    count += 1.0;
                    mean[0] += o[0];
                    mean[1] += o[1];
                }
            }
            if count > 0.0 {
                let (color, alpha) = shade(x as f32 + 0.5 + mean[0] / count, y as f32 + 0.5 + mean[1] / count);
                let pixel = &mut colors[y * TILE + x];
                *pixel += (color - *pixel) * (alpha * count / N as f32);
            }
        }
    }
}
