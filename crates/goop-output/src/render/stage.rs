//! One picture, set up and lit: what the rasteriser and the ray tracer both draw.

use super::camera::Camera;
use super::color::{linear, linear_bytes};
use super::ground::{Ground, GroundShadow};
use super::light::{KEY_SPREAD, Lights, SKY_SPREAD, tone};
use super::look::{Background, Style};
use super::mesh::{Material, Mesh};
use super::motion::Bounds;
use super::shadow::ShadowMap;
use crate::image::Image;
use glam::Vec3;

/// What is behind everything, in linear light.
pub enum Backdrop {
    /// One colour.
    Color(Vec3),
    /// A colour a row.
    Rows(Vec<Vec3>),
    /// A colour a pixel.
    Pixels(Vec<Vec3>, u32),
}

impl Backdrop {
    /// Made once for a size of picture.
    pub fn new(background: &Background, style: Style, width: u32, height: u32) -> Backdrop {
        match background {
            Background::Studio if matches!(style, Style::Wireframe { .. }) => Backdrop::Color(Vec3::ONE),
            Background::Studio => {
                let (top, bottom) = (linear_bytes([0xD3, 0xDC, 0xE5]), linear_bytes([0xF3, 0xF4, 0xF5]));
                let row = |y: u32| {
                    let t = (y as f32 + 0.5) / height as f32;
                    let t = t * t * (3.0 - 2.0 * t);
                    top + (bottom - top) * t
                };
                Backdrop::Rows((0..height).map(row).collect())
            }
            Background::Color(color) => Backdrop::Color(linear(*color)),
            Background::Picture(image) => Backdrop::Pixels(fill_with(image, width, height), width),
        }
    }

    /// Whether light ink stands out from it better than dark ink.
    pub fn is_dark(&self) -> bool {
        let mean = |colors: &[Vec3]| colors.iter().sum::<Vec3>() / colors.len().max(1) as f32;
        let color = match self {
            Backdrop::Color(color) => *color,
            Backdrop::Rows(colors) | Backdrop::Pixels(colors, _) => mean(colors),
        };
        color.dot(Vec3::new(0.21, 0.72, 0.07)) < 0.18
    }

    /// Colour of a pixel.
    pub fn at(&self, x: u32, y: u32) -> Vec3 {
        match self {
            Backdrop::Color(color) => *color,
            Backdrop::Rows(rows) => rows[y as usize],
            Backdrop::Pixels(pixels, width) => pixels[y as usize * *width as usize + x as usize],
        }
    }
}

/// Cut to the shape of the picture and resampled: the mean of what falls on each pixel, or linear between.
fn fill_with(image: &Image, width: u32, height: u32) -> Vec<Vec3> {
    if image.width == 0 || image.height == 0 || image.pixels.len() < 3 * image.width as usize * image.height as usize {
        return vec![Vec3::ONE; width as usize * height as usize];
    }
    let scale = (f64::from(image.width) / f64::from(width)).min(f64::from(image.height) / f64::from(height));
    let left = 0.5 * (f64::from(image.width) - scale * f64::from(width));
    let top = 0.5 * (f64::from(image.height) - scale * f64::from(height));
    let taps = (scale.ceil() as u32).clamp(2, 8);
    let mut pixels = Vec::with_capacity(width as usize * height as usize);
    for y in 0..height {
        for x in 0..width {
            let mut sum = Vec3::ZERO;
            for k in 0..taps * taps {
                let within = |k: u32| (f64::from(k) + 0.5) / f64::from(taps);
                let px = left + scale * (f64::from(x) + within(k % taps));
                let py = top + scale * (f64::from(y) + within(k / taps));
                sum += linear_bytes(image.pixel((px as u32).min(image.width - 1), (py as u32).min(image.height - 1)));
            }
            pixels.push(sum / (taps * taps) as f32);
        }
    }
    pixels
}

/// A picture about to be drawn.
pub struct Stage<'a> {
    /// What is in it.
    pub mesh: Mesh,
    /// From where.
    pub camera: Camera,
    /// In what light.
    pub lights: Lights,
    /// On what ground; none in wireframes.
    pub ground: Option<Ground>,
    /// In front of what.
    pub backdrop: &'a Backdrop,
    shadow: Option<ShadowMap>,
    on_ground: Option<[GroundShadow; 2]>,
}

impl<'a> Stage<'a> {
    /// Without any shadows: for wireframes and for the ray tracer, which finds its own.
    pub fn bare(
        mesh: Mesh,
        camera: Camera,
        lights: Lights,
        ground: Option<Ground>,
        backdrop: &'a Backdrop,
    ) -> Stage<'a> {
        Stage { mesh, camera, lights, ground, backdrop, shadow: None, on_ground: None }
    }

    /// With shadow maps of about `size` cells over what casts, and at least over `bounds`.
    pub fn lit(mut self, bounds: &Bounds, size: usize) -> Stage<'a> {
        let casters = self.mesh.caster_bounds();
        if casters.is_empty() {
            return self;
        }
        // Over the whole motion, so that shadows do not crawl; over what flew off, only within reason.
        let reach = bounds.grown(0.5 * bounds.size());
        let seen = if bounds.is_empty() {
            casters
        } else if bounds.holds(&casters) {
            *bounds
        } else {
            bounds.with(&Bounds { low: casters.low.max(reach.low), high: casters.high.min(reach.high) })
        };
        let (shadow, on_ground) = rayon::join(
            || ShadowMap::new(&self.mesh, &seen, self.lights.key, size),
            || {
                self.ground.map(|ground| {
                    let shadow = |light: Vec3, spread: f32, size: usize| {
                        GroundShadow::new(&self.mesh, &seen, &ground, light, spread, size)
                    };
                    [shadow(self.lights.key, KEY_SPREAD, size / 2), shadow(ground.normal, SKY_SPREAD, size / 8)]
                })
            },
        );
        (self.shadow, self.on_ground) = (Some(shadow), on_ground);
        self
    }

    /// Colour of a surface seen at `position` along `view` (unit, towards the eye); its normal is on the side seen.
    pub fn surface(&self, material: &Material, color: Vec3, position: Vec3, normal: Vec3, view: Vec3) -> Vec3 {
        if material.flat {
            return color;
        }
        let facing = normal.dot(self.lights.key);
        let key = match &self.shadow {
            _ if material.alpha < 1.0 || material.on_top => 1.0,
            Some(map) if facing > 0.0 => map.lit(position, normal),
            Some(map) if material.thin => map.lit(position, -normal),
            _ => 1.0,
        };
        let sky = match &self.ground {
            // What lies near the ground sees less of it, and it is darker there.
            Some(ground) if normal.y < 0.0 => {
                1.0 + 0.35 * normal.y * (1.0 - (ground.height(position) / self.near_ground()).clamp(0.0, 1.0))
            }
            _ => 1.0,
        };
        tone(self.lights.shade(color, material, normal, view, key, sky))
    }

    fn near_ground(&self) -> f32 {
        self.camera.pixel_size(self.camera.eye + self.camera.forward) * 300.0
    }

    /// Colour of the ground at `q` (from the ground's own point) before this backdrop.
    pub fn ground_color(&self, base: Vec3, q: Vec3) -> Vec3 {
        let Some([key, sky]) = &self.on_ground else { return base };
        shadowed(base, key.at(q), sky.at(q))
    }
}

/// A ground of this colour with these shares of key and sky kept from it.
pub fn shadowed(base: Vec3, key: f32, sky: f32) -> Vec3 {
    const KEY: Vec3 = Vec3::new(0.52, 0.505, 0.48);
    if key <= 0.0 && sky <= 0.0 {
        return base;
    }
    base * (KEY * (1.0 - key) + (Vec3::ONE - KEY) * (1.0 - 0.6 * sky))
}
