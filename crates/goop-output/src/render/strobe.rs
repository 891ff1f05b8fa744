//! Several instants in one picture, with the path of each body's centre of mass and its velocity.

use super::color;
use super::mesh::{Material, Mesh};
use super::{Renderer, Shot};
use crate::error::OutputError;
use crate::image::Image;
use crate::sequence::expect_count;
use glam::Vec3;
use goop::frame::Frame;

const ARROW: [u8; 3] = [0xC8, 0x32, 0x1E];

impl Renderer {
    /// Draws the frames with these numbers (places in `frames`), earlier ones paler, and the
    /// path through all frames. Numbers beyond the last are left out.
    pub fn strobe(&mut self, frames: &[Frame], instants: &[usize]) -> Result<Image, OutputError> {
        for frame in frames {
            self.make_ready(frame)?;
        }
        let shown: Vec<usize> = instants.iter().copied().filter(|&i| i < frames.len()).collect();
        let Some(&last) = shown.last() else {
            expect_count(&Frame::default(), "instants of a strobed picture", 1, 0)?;
            return Image::new(self.settings.width, self.settings.height, [255; 3]);
        };
        Ok(self.within(|| {
            let shot = self.shot(&frames[last]);
            let mut mesh = Mesh::default();
            let most = (shown.len() - 1).max(1) as f32;
            for (k, &i) in shown.iter().enumerate() {
                self.add_bodies(&mut mesh, &shot, &frames[i], 0.62 * (1.0 - k as f32 / most));
            }
            self.add_obstacles(&mut mesh, &shot, &frames[last]);
            shot.composer.marks(&mut mesh, &frames[last], &self.bodies, &[]);
            self.add_paths(&mut mesh, &shot, frames, &shown);
            let mut image = self.develop(mesh, &shot);
            self.write_over(&mut image, &shot, &frames[last]);
            image
        }))
    }

    fn add_paths(&self, mesh: &mut Mesh, shot: &Shot, frames: &[Frame], shown: &[usize]) {
        for body in 0..self.look.bodies.len() {
            let center = |i: usize| frames[i].bodies[body].center;
            let path: Vec<Vec3> = (0..frames.len()).map(|i| center(i).as_vec3()).filter(|p| p.is_finite()).collect();
            let ink = color::linear_bytes(shot.composer.ink());
            shot.composer.path(mesh, &path, ink);
            let velocity = |i: usize| frames[i].bodies[body].center_velocity;
            let fastest = shown.iter().map(|&i| velocity(i).length()).filter(|v| v.is_finite()).fold(0.0, f64::max);
            if fastest <= 0.0 {
                continue;
            }
            let share = |i: usize| (velocity(i) / fastest).as_vec3();
            // All to one scale, and short enough that none leaves the picture.
            let mut scale = 0.8;
            while scale > 0.05
                && !shown.iter().all(|&i| shot.composer.ends_inside(center(i).as_vec3(), share(i) * scale))
            {
                scale *= 0.8;
            }
            for &i in shown {
                let at = center(i).as_vec3();
                shot.composer.dot(mesh, at, 4.5, ink, Material::SIGN);
                shot.composer.arrow(mesh, at, share(i) * scale, 2.2, color::linear_bytes(ARROW), Material::SIGN);
            }
        }
    }
}
