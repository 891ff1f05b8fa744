//! Frames to pictures, on the CPU.
//!
//! ```text
//! SceneLook + Settings ─▶ Renderer          creases, chains, colours: once
//! Motion (all frames)  ─▶ frame_camera      a camera that shows the whole motion
//! Frame ─compose▶ Mesh ─▶ Stage (camera, lights, shadow maps) ─raster▶ Image
//!                                                             └trace▶  Image, finer
//! ```
//! The same frame gives the same bytes whatever the number of threads and whatever was
//! drawn before.

mod camera;
mod color;
mod compose;
mod glaze;
mod ground;
mod heights;
mod hud;
mod light;
mod lines;
mod look;
mod mesh;
mod motion;
mod obstacle;
mod raster;
mod scene;
mod shadow;
mod skin;
mod stage;
mod strobe;
mod text;
mod trace;
mod triangle;
mod tube;

pub use color::of_part_srgb as part_color;
pub use hud::side_by_side;
pub use look::{
    Arrow, Background, BodyLook, CameraLook, ColorBy, Framing, ObstacleLook, SceneLook, Settings, Show, Style,
};
pub use motion::{Bounds, Motion};

use crate::error::OutputError;
use crate::image::{Image, check_size};
use crate::sequence::expect_count;
use camera::Camera;
use compose::{Composer, Prepared};
use glam::{Quat, Vec3};
use goop::frame::{ForceKind, Frame};
use ground::Ground;
use light::Lights;
use mesh::Mesh;
use skin::Skin;
use stage::{Backdrop, Stage};

/// Draws frames.
pub struct Renderer {
    look: SceneLook,
    settings: Settings,
    bodies: Vec<Option<Prepared>>,
    obstacles: Vec<Skin>,
    backdrop: Backdrop,
    on_dark: bool,
    /// Of the motion and the obstacles near it; empty until framed.
    bounds: Bounds,
    camera: Option<Camera>,
    lights: Option<Lights>,
    greatest_stretch: f32,
    greatest_speed: f32,
    full_speed: f32,
    full_force: f32,
    kinds: Vec<ForceKind>,
    pool: Option<rayon::ThreadPool>,
}

impl Renderer {
    /// Prepares what does not change; fails if the picture's size or an index makes no sense.
    pub fn new(look: &SceneLook, settings: &Settings) -> Result<Renderer, OutputError> {
        check_size(settings.width, settings.height)?;
        let mut bodies = Vec::with_capacity(look.bodies.len());
        for (i, body) in look.bodies.iter().enumerate() {
            let rest: Vec<Vec3> = body.rest_positions.iter().map(|&p| Vec3::from(p)).collect();
            bodies.push(if rest.is_empty() { None } else { Some(prepare(body, i, &rest)?) });
        }
        let mut obstacles = Vec::with_capacity(look.obstacles.len());
        for obstacle in &look.obstacles {
            let x: Vec<Vec3> = obstacle.positions.iter().map(|&p| Vec3::from(p)).collect();
            check_indices("obstacle", x.len(), obstacle.triangles.iter().flatten())?;
            obstacles.push(Skin::new(&x, &obstacle.triangles, &[]));
        }
        let pool =
            settings.threads.and_then(|n| rayon::ThreadPoolBuilder::new().num_threads(n.clamp(1, 256)).build().ok());
        let backdrop = Backdrop::new(&settings.background, settings.style, settings.width, settings.height);
        Ok(Renderer {
            on_dark: backdrop.is_dark(),
            backdrop,
            look: look.clone(),
            settings: settings.clone(),
            bodies,
            obstacles,
            bounds: Bounds::EMPTY,
            camera: None,
            lights: None,
            greatest_stretch: 0.0,
            greatest_speed: 0.0,
            full_speed: 0.0,
            full_force: 0.0,
            kinds: Vec::new(),
            pool,
        })
    }

    /// Places a still camera that shows the whole motion and its shadows, unless the scene
    /// gives one; takes the ranges of the colour scales. Without it each frame is framed by itself.
    pub fn frame_camera(&mut self, motion: &Motion) {
        let boxes = motion.kept();
        let mut bounds = boxes.iter().fold(Bounds::EMPTY, |a, b| a.with(b));
        let mut casting: Vec<Vec3> = boxes.iter().flat_map(Bounds::corners).collect();
        // Room for arrows, too.
        let long = |shown: bool, of: f32| if shown && of > 0.0 { compose::ARROW * bounds.size() / of } else { 0.0 };
        let for_speed = long(self.settings.show.velocities, motion.full_speed());
        let for_newton = long(self.settings.show.forces, motion.full_force());
        let mut points: Vec<Vec3> =
            motion.kept_with_arrows(for_speed, for_newton).iter().flat_map(Bounds::corners).collect();
        let reach = 2.0 * bounds.size();
        for &(i, position, rotation) in motion.poses().iter().filter(|_| self.settings.show.obstacles) {
            let Some(look) = self.look.obstacles.get(i).filter(|o| !o.plane) else { continue };
            let own = Bounds::of(look.positions.iter().map(|&p| position + rotation * Vec3::from(p)));
            if !own.is_empty() && own.size() <= reach {
                bounds = bounds.with(&own);
                points.extend(own.corners());
                casting.extend(own.corners().iter().filter(|_| !look.hollow));
            }
        }
        self.bounds = bounds;
        (self.greatest_stretch, self.greatest_speed) = (motion.greatest_stretch, motion.greatest_speed);
        (self.full_speed, self.full_force) = (motion.full_speed(), motion.full_force());
        self.kinds = motion.kinds().iter().copied().collect();
        let (width, height) = (self.settings.width, self.settings.height);
        let from = motion::direction(&points);
        let lens = self.look.framing.lens_mm;
        let mut camera = Camera::framing(&points, from, lens, width, height);
        let lights = Lights::for_view(&camera);
        let poses: Vec<(usize, Vec3, Quat)> = motion.poses().to_vec();
        if let Some(ground) = self.ground(&poses, &bounds) {
            // Shadows too, unless that would make everything much smaller.
            let shadow = |p: &Vec3| *p - lights.key * (ground.height(*p) / lights.key.dot(ground.normal).max(0.1));
            let with_shadow: Vec<Vec3> = points.iter().copied().chain(casting.iter().map(shadow)).collect();
            let wider = Camera::framing(&with_shadow, from, lens, width, height);
            let distance = |c: &Camera| c.eye.distance(bounds.center());
            if distance(&wider) < 1.3 * distance(&camera) {
                (camera, points) = (wider, with_shadow);
            }
        }
        if self.look.framing.orbit_deg_per_s != 0.0 && self.look.camera.is_none() {
            self.look.camera = Some(self.orbiting(&points, from, bounds.center()));
        }
        self.camera = Some(camera);
        self.lights = Some(lights);
    }

    /// A camera that goes round the middle and sees these points from everywhere.
    fn orbiting(&self, points: &[Vec3], from: Vec3, middle: Vec3) -> CameraLook {
        let turns = (0..24).map(|k| Quat::from_rotation_y(std::f32::consts::TAU * k as f32 / 24.0));
        let around: Vec<Vec3> =
            turns.flat_map(|turn| points.iter().map(move |&p| middle + turn * (p - middle))).collect();
        let Framing { lens_mm, orbit_deg_per_s } = self.look.framing;
        let camera = Camera::framing(&around, from, lens_mm, self.settings.width, self.settings.height);
        let ahead = camera.eye + camera.forward * (middle - camera.eye).dot(camera.forward);
        let look_at = Vec3::new(middle.x, ahead.y, middle.z).as_dvec3().to_array();
        CameraLook { position: camera.eye.as_dvec3().to_array(), look_at, lens_mm, orbit_deg_per_s }
    }

    /// Draws a frame.
    pub fn draw(&mut self, frame: &Frame) -> Result<Image, OutputError> {
        self.draw_with(frame, &[])
    }

    /// Draws a frame with the caller's arrows.
    pub fn draw_with(&mut self, frame: &Frame, arrows: &[Arrow]) -> Result<Image, OutputError> {
        self.make_ready(frame)?;
        Ok(self.within(|| self.picture(frame, arrows)))
    }

    /// Draws a frame by tracing up to `rays` rays a pixel (64 is fine): for stills. Wireframes
    /// have no use for it and are drawn as ever.
    pub fn still(&mut self, frame: &Frame, rays: u32) -> Result<Image, OutputError> {
        if matches!(self.settings.style, Style::Wireframe { .. }) {
            return self.draw(frame);
        }
        self.make_ready(frame)?;
        Ok(self.within(|| {
            let shot = self.shot(frame);
            let mesh = self.compose(&shot, frame, &[]);
            let stage = Stage::bare(mesh, shot.camera, shot.lights, shot.ground, &self.backdrop);
            let size = shot.bounds.size();
            let mut image = trace::draw(&stage, self.settings.width, self.settings.height, rays.clamp(1, 4096), size);
            self.write_over(&mut image, &shot, frame);
            image
        }))
    }

    fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Checks a frame against the look, and prepares bodies that came without a rest shape.
    fn make_ready(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.look.bodies.len(), frame.bodies.len())?;
        for (i, body) in frame.bodies.iter().enumerate() {
            let (look, nodes) = (&self.look.bodies[i], body.positions.len());
            if self.bodies[i].is_none() {
                let x: Vec<Vec3> = body.positions.iter().map(|&p| Vec3::from(p)).collect();
                self.bodies[i] = Some(prepare(look, i, &x)?);
            }
            let drawn = look.triangles.iter().flatten().chain(look.segments.iter().flatten());
            check_indices(&look.name, nodes, drawn.chain(look.lattice.iter().flatten()))?;
        }
        Ok(())
    }

    fn picture(&self, frame: &Frame, arrows: &[Arrow]) -> Image {
        let shot = self.shot(frame);
        let mut image = self.develop(self.compose(&shot, frame, arrows), &shot);
        self.write_over(&mut image, &shot, frame);
        image
    }

    fn compose(&self, shot: &Shot, frame: &Frame, arrows: &[Arrow]) -> Mesh {
        let mut mesh = Mesh::default();
        self.add_bodies(&mut mesh, shot, frame, 0.0);
        self.add_obstacles(&mut mesh, shot, frame);
        shot.composer.marks(&mut mesh, frame, &self.bodies, arrows);
        mesh
    }

    fn write_over(&self, image: &mut Image, shot: &Shot, frame: &Frame) {
        let show = &self.settings.show;
        if show.captions {
            hud::captions(image, &shot.camera, frame, self.look.bodies.iter().map(|b| b.name.as_str()));
        }
        if show.hud {
            hud::account(image, frame);
        }
        hud::legend(image, self.settings.color_by, shot.composer.color_top);
        let mut arrows = Vec::new();
        if show.velocities && shot.composer.full_speed > 0.0 {
            arrows.push(("velocity", shot.composer.ink(), f64::from(shot.composer.full_speed), "m/s"));
        }
        for &kind in self.kinds.iter().filter(|_| show.forces) {
            let name = match kind {
                ForceKind::Load => "load",
                ForceKind::Drive => "drive",
                ForceKind::Spring => "spring",
                ForceKind::Contact => "contact",
            };
            arrows.push((name, compose::of_force(kind), f64::from(shot.composer.full_force), "N"));
        }
        hud::arrows(image, &arrows);
    }

    /// Camera, lights and ground of a frame.
    fn shot(&self, frame: &Frame) -> Shot<'_> {
        let own = Motion::of([frame]);
        let (width, height) = (self.settings.width, self.settings.height);
        let bounds = if self.bounds.is_empty() { own.bounds() } else { self.bounds };
        let camera = match (&self.look.camera, self.camera) {
            (Some(look), _) => Camera::given(look, frame.time, width, height),
            (None, Some(camera)) => camera,
            (None, None) => {
                let corners = bounds.corners();
                Camera::framing(&corners, motion::direction(&corners), self.look.framing.lens_mm, width, height)
            }
        };
        let first = self.look.camera.map(|look| Camera::given(&look, 0.0, width, height));
        let lights = match (&first, self.lights) {
            (Some(first), _) => Lights::for_view(first),
            (None, Some(lights)) => lights,
            (None, None) => Lights::for_view(&camera),
        };
        let greatest_speed = if self.greatest_speed > 0.0 { self.greatest_speed } else { own.greatest_speed };
        let greatest_stretch = if self.greatest_stretch > 0.0 { self.greatest_stretch } else { own.greatest_stretch };
        let top = match self.settings.color_by {
            ColorBy::Speed => greatest_speed,
            _ => greatest_stretch,
        };
        let color_top = self.settings.color_top.filter(|t| *t > 0.0).unwrap_or(top).max(1e-9);
        let full_speed = if self.full_speed > 0.0 { self.full_speed } else { own.full_speed() };
        let full_force = if self.full_force > 0.0 { self.full_force } else { own.full_force() };
        let size = bounds.size();
        let on_dark = self.on_dark;
        let settings = &self.settings;
        let composer = Composer { settings, camera, color_top, full_speed, full_force, size, on_dark };
        let ground = self.ground(own.poses(), &bounds);
        Shot { composer, camera, lights, bounds, ground }
    }

    /// The lowest plane that lies flat enough; else a floor under everything.
    fn ground(&self, poses: &[(usize, Vec3, Quat)], bounds: &Bounds) -> Option<Ground> {
        if !self.settings.show.ground || matches!(self.settings.style, Style::Wireframe { .. }) || bounds.is_empty() {
            return None;
        }
        let planes = poses.iter().filter(|(i, ..)| self.look.obstacles.get(*i).is_some_and(|o| o.plane));
        let lowest = (planes.map(|&(_, point, rotation)| Ground { point, normal: rotation * Vec3::Y }))
            .filter(|g| g.normal.y > 0.5 && g.point.is_finite())
            .min_by(|a, b| a.point.y.total_cmp(&b.point.y));
        lowest.or_else(|| {
            let mut point = bounds.center();
            point.y = bounds.low.y - 0.06 * bounds.size();
            Some(Ground { point, normal: Vec3::Y })
        })
    }

    fn add_bodies(&self, mesh: &mut Mesh, shot: &Shot, frame: &Frame, pale: f32) {
        for ((body, look), prepared) in frame.bodies.iter().zip(&self.look.bodies).zip(&self.bodies) {
            if let Some(prepared) = prepared {
                shot.composer.body(mesh, body, look, prepared, pale);
            }
        }
    }

    fn add_obstacles(&self, mesh: &mut Mesh, shot: &Shot, frame: &Frame) {
        if !self.settings.show.obstacles {
            return;
        }
        for ((look, skin), pose) in self.look.obstacles.iter().zip(&self.obstacles).zip(&frame.obstacles) {
            let Some(pose) = pose.map(|(p, q)| (p.as_vec3(), q.as_quat())) else { continue };
            let is_ground = shot.ground.is_some_and(|g| g.point == pose.0 && g.normal == pose.1 * Vec3::Y);
            if !look.plane {
                shot.composer.obstacle(mesh, look, skin, pose);
            } else if !is_ground {
                shot.composer.pane(mesh, &shot.bounds, pose);
            }
        }
    }

    fn develop(&self, mesh: Mesh, shot: &Shot) -> Image {
        let (width, height) = (self.settings.width, self.settings.height);
        let mut stage = Stage::bare(mesh, shot.camera, shot.lights, shot.ground, &self.backdrop);
        if !matches!(self.settings.style, Style::Wireframe { .. }) {
            let fine = width.max(height) > 640;
            stage = stage.lit(&shot.bounds, if fine { 2048 } else { 1024 });
        }
        raster::draw(&stage, width, height, self.settings.samples)
    }
}

/// What is decided before a picture is composed.
struct Shot<'a> {
    composer: Composer<'a>,
    camera: Camera,
    lights: Lights,
    bounds: Bounds,
    ground: Option<Ground>,
}

fn prepare(look: &BodyLook, number: usize, rest: &[Vec3]) -> Result<Prepared, OutputError> {
    let drawn = look.triangles.iter().flatten().chain(look.segments.iter().flatten());
    check_indices(&look.name, rest.len(), drawn.chain(look.lattice.iter().flatten()))?;
    let own = look.color.map_or_else(|| color::of_body(number), color::linear);
    let mut colors: Vec<Vec3> = look.paints.iter().map(|paint| paint.map_or(own, color::linear)).collect();
    if colors.is_empty() {
        colors.push(own);
    }
    check_indices(&format!("paints of {}", look.name), colors.len(), look.triangle_paints.iter())?;
    Ok(Prepared::new(look, rest, colors))
}

fn check_indices<'a>(name: &str, nodes: usize, indices: impl Iterator<Item = &'a u32>) -> Result<(), OutputError> {
    match indices.copied().max() {
        Some(index) if index as usize >= nodes => {
            Err(OutputError::NodeOutOfRange { body: name.to_owned(), index, nodes })
        }
        _ => Ok(()),
    }
}
