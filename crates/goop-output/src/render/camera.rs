//! A pinhole camera, and how it frames what it must show.
//!
//! ```text
//! v = p - eye       z = v·forward
//! x = cx + F v·right / z      y = cy - F v·up / z      F = width · lens / 36 mm
//! ```
//! 1/z is linear across the picture, so depth is kept as 1/z.

use super::look::CameraLook;
use glam::{DVec3, Vec3};

/// Share of the half picture that automatic framing fills.
const FILLED: f32 = 0.86;
/// Lens where none is given that makes sense (mm).
const LENS: f64 = 50.0;

/// A camera at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The eye (m).
    pub eye: Vec3,
    /// Unit vectors of the picture.
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    /// Pixels for one unit of v·right / z.
    pub focal: f32,
    /// Middle of the picture (px).
    pub center: [f32; 2],
    /// Nearer than this nothing is drawn (m).
    pub near: f32,
}

impl Camera {
    /// From here to there; a view straight up or down takes -z for the picture's up.
    pub fn new(eye: Vec3, target: Vec3, lens_mm: f32, width: u32, height: u32) -> Camera {
        let forward = (target - eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        let vertical = if forward.y.abs() > 0.9999 { Vec3::NEG_Z } else { Vec3::Y };
        let right = forward.cross(vertical).normalize();
        Camera {
            eye,
            right,
            up: right.cross(forward),
            forward,
            focal: width as f32 * lens_mm / 36.0,
            center: [0.5 * width as f32, 0.5 * height as f32],
            near: ((target - eye).length() * 1e-3).max(1e-6),
        }
    }

    /// As given, turned to this time (s).
    pub fn given(look: &CameraLook, time: f64, width: u32, height: u32) -> Camera {
        let target = DVec3::from(look.look_at);
        let arm = DVec3::from(look.position) - target;
        let (sin, cos) = (look.orbit_deg_per_s.to_radians() * time).sin_cos();
        let turned = DVec3::new(cos * arm.x + sin * arm.z, arm.y, cos * arm.z - sin * arm.x);
        Camera::new((target + turned).as_vec3(), target.as_vec3(), sane(look.lens_mm), width, height)
    }

    /// From this direction with this lens (mm), as near as all points allow.
    ///
    /// With the eye at (ex, ey, -D) in the picture's axes and half angles tx, ty, a
    /// point (a, b, c) is inside if |a - ex| ≤ tx (c + D), likewise for b: linear in
    /// ex, ey and D, so the nearest eye comes from the largest of a ± tx c, b ± ty c.
    pub fn framing(points: &[Vec3], from: Vec3, lens_mm: f64, width: u32, height: u32) -> Camera {
        let mut camera = Camera::new(from, Vec3::ZERO, sane(lens_mm), width, height);
        let tx = FILLED * camera.center[0] / camera.focal;
        let ty = FILLED * camera.center[1] / camera.focal;
        let mut most = [f32::NEG_INFINITY; 4];
        let (mut nearest, mut furthest) = (f32::INFINITY, f32::NEG_INFINITY);
        for &p in points {
            let (a, b, c) = (p.dot(camera.right), p.dot(camera.up), p.dot(camera.forward));
            for (m, v) in most.iter_mut().zip([a - tx * c, -a - tx * c, b - ty * c, -b - ty * c]) {
                *m = m.max(v);
            }
            (nearest, furthest) = (nearest.min(c), furthest.max(c));
        }
        if points.is_empty() {
            (most, nearest, furthest) = ([1.0; 4], -1.0, 1.0);
        }
        let depth = (furthest - nearest).max(1e-6);
        let distance = ((most[0] + most[1]) / (2.0 * tx)).max((most[2] + most[3]) / (2.0 * ty));
        // A single point has no size: stand a metre away.
        let distance = if distance + nearest > 1e-4 { distance } else { 1.0 - nearest };
        let (ex, ey) = (0.5 * (most[0] - most[1]), 0.5 * (most[2] - most[3]));
        camera.eye = camera.right * ex + camera.up * ey - camera.forward * distance;
        camera.near = (0.02 * (distance + nearest)).min(0.1 * depth).max(1e-6);
        camera
    }

    /// Column, row (px) and 1/z of a point; 1/z ≤ 0 behind the eye.
    pub fn project(&self, p: Vec3) -> Vec3 {
        let v = p - self.eye;
        let inverse = 1.0 / v.dot(self.forward);
        let scale = self.focal * inverse;
        Vec3::new(self.center[0] + scale * v.dot(self.right), self.center[1] - scale * v.dot(self.up), inverse)
    }

    /// The direction through a point of the picture (px), one long along `forward`.
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.forward + self.right * ((x - self.center[0]) / self.focal) - self.up * ((y - self.center[1]) / self.focal)
    }

    /// Size of a pixel at this point (m).
    pub fn pixel_size(&self, p: Vec3) -> f32 {
        (p - self.eye).dot(self.forward).max(self.near) / self.focal
    }
}

fn sane(lens_mm: f64) -> f32 {
    (if lens_mm.is_finite() { lens_mm.clamp(1.0, 10_000.0) } else { LENS }) as f32
}
