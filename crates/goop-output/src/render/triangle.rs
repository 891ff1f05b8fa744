//! One triangle on the picture: its sides, its depth, the pixels it may touch.

use super::mesh::Vertex;
use glam::Vec3;

/// The normal on the side of the triangle that is seen. The triangle itself decides:
/// near an outline its smooth normal may point away on either side.
pub fn facing(normal: Vec3, corners: [&Vertex; 3], view: Vec3) -> Vec3 {
    let [a, b, c] = corners;
    let flat = (b.position - a.position).cross(c.position - a.position);
    let outward = flat.dot(a.normal + b.normal + c.normal);
    if flat.dot(view) * outward < 0.0 { -normal } else { normal }
}

/// A triangle's sides and depth as linear functions of column and row.
pub struct Sides {
    /// Side k is a x + b y + c, positive inside.
    pub a: [f32; 3],
    pub b: [f32; 3],
    pub c: [f32; 3],
    /// Slack per side, so that neighbours leave no gap.
    pub eps: [f32; 3],
    /// 1/z is p x + q y + r.
    pub p: f32,
    pub q: f32,
    pub r: f32,
}

impl Sides {
    /// None if the triangle is seen edge-on.
    pub fn new(points: &[Vec3; 3]) -> Option<Sides> {
        let [u, v, w] = *points;
        let area = (v.x - u.x) * (w.y - u.y) - (v.y - u.y) * (w.x - u.x);
        if area.abs() <= 1e-8 || area.is_nan() {
            return None;
        }
        let sign = area.signum();
        let mut sides = Sides { a: [0.0; 3], b: [0.0; 3], c: [0.0; 3], eps: [0.0; 3], p: 0.0, q: 0.0, r: 0.0 };
        for k in 0..3 {
            let (s, e) = (points[k], points[(k + 1) % 3]);
            sides.a[k] = sign * (s.y - e.y);
            sides.b[k] = sign * (e.x - s.x);
            sides.c[k] = -(sides.a[k] * s.x + sides.b[k] * s.y);
            sides.eps[k] = 1e-4 * (sides.a[k].abs() + sides.b[k].abs());
        }
        sides.p = ((v.z - u.z) * (w.y - u.y) - (w.z - u.z) * (v.y - u.y)) / area;
        sides.q = ((w.z - u.z) * (v.x - u.x) - (v.z - u.z) * (w.x - u.x)) / area;
        sides.r = u.z - sides.p * u.x - sides.q * u.y;
        Some(sides)
    }

    /// Least and greatest 1/z.
    pub fn depths(&self, points: &[Vec3; 3]) -> (f32, f32) {
        let z = points.map(|p| p.z);
        (z[0].min(z[1]).min(z[2]), z[0].max(z[1]).max(z[2]))
    }
}

/// Pixels of a square that a triangle may touch, given from the middle of its first pixel: columns, then rows.
pub fn range(points: &[Vec3; 3], side: usize) -> Option<[usize; 4]> {
    let low = points[0].min(points[1]).min(points[2]);
    let high = points[0].max(points[1]).max(points[2]);
    let most = side as f32 - 1.0;
    if !(high.x >= -0.5 && high.y >= -0.5 && low.x <= most + 0.5 && low.y <= most + 0.5) {
        return None;
    }
    let first = |v: f32| (v - 0.5).ceil().max(0.0) as usize;
    let last = |v: f32| (v + 0.5).floor().min(most) as usize;
    Some([first(low.x), last(high.x), first(low.y), last(high.y)])
}
