//! The studio: a warm key from the upper left of the first view, a cool fill from the
//! right, a pale sky over a lighter floor.

use super::camera::Camera;
use super::mesh::Material;
use glam::Vec3;

/// Tangent of half the angle under which the key light is seen.
pub const KEY_SPREAD: f32 = 0.06;
/// The same for the sky, as far as it darkens the floor under things.
pub const SKY_SPREAD: f32 = 0.85;

const KEY: Vec3 = Vec3::new(0.86, 0.82, 0.76);
const FILL: Vec3 = Vec3::new(0.10, 0.12, 0.15);
const SKY: Vec3 = Vec3::new(0.34, 0.37, 0.42);
const FLOOR: Vec3 = Vec3::new(0.20, 0.19, 0.18);

/// Lights, fixed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lights {
    /// Towards the key (unit).
    pub key: Vec3,
    /// Towards the fill (unit).
    pub fill: Vec3,
}

impl Lights {
    /// Placed for this view.
    pub fn for_view(camera: &Camera) -> Lights {
        let back = (-camera.forward * Vec3::new(1.0, 0.0, 1.0)).try_normalize().unwrap_or(Vec3::Z);
        let side = Vec3::Y.cross(back);
        let at = |azimuth: f32, elevation: f32| {
            let (a, e) = (azimuth.to_radians(), elevation.to_radians());
            (back * a.cos() + side * a.sin()) * e.cos() + Vec3::Y * e.sin()
        };
        Lights { key: at(-48.0, 56.0), fill: at(65.0, 18.0) }
    }

    /// Light from a surface towards the eye.
    ///
    /// `normal` and `view` (unit) on the same side; `key` and `sky`: shares of these lights that arrive.
    pub fn shade(&self, color: Vec3, material: &Material, normal: Vec3, view: Vec3, key: f32, sky: f32) -> Vec3 {
        if material.flat {
            return color;
        }
        let facing = normal.dot(self.key);
        let up = 0.5 + 0.5 * normal.y;
        let mut light = (FLOOR + (SKY - FLOOR) * up) * sky + FILL * normal.dot(self.fill).max(0.0);
        light += KEY * (facing.max(0.0) * key);
        if material.thin {
            light += KEY * (0.22 * (-facing).max(0.0) * key);
        }
        let half = (self.key + view).normalize_or_zero();
        let shine = if facing > 0.0 { normal.dot(half).max(0.0).powi(48) * key } else { 0.0 };
        let edge = 1.0 - normal.dot(view).clamp(0.0, 1.0);
        let mirror = 0.04 + 0.5 * edge * edge * edge * edge;
        color * light + material.gloss * (KEY * (0.35 * shine) + SKY * (mirror * up * sky))
    }
}

/// Rolls the brightest off instead of cutting them.
pub fn tone(color: Vec3) -> Vec3 {
    let roll = |c: f32| if c <= 0.75 { c } else { 0.75 + 0.25 * (1.0 - (-(c - 0.75) / 0.25).exp()) };
    Vec3::new(roll(color.x), roll(color.y), roll(color.z))
}
