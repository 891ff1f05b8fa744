//! `goop render`: pictures and a movie from the folder of a run alone.
//!
//! Positions, velocities and stretch come from `cache/`, energies from `stats.csv`,
//! obstacles, pins and the camera from `scene.toml`; nothing is simulated again.

use crate::args::{Color, Look, Render};
use crate::progress;
use crate::{End, units};
use anyhow::{Result, anyhow};
use glam::DVec3;
use goop::frame::{BodyFrame, Frame};
use goop::ledger::Ledger;
use goop_output::render::{
    BodyLook, CameraLook, ColorBy, Motion, ObstacleLook, Renderer, SceneLook, Settings, Show, Style,
};
use goop_output::{CacheReader, Image, Movie};
use goop_scene::Scene;
use goop_scene::scene::Edit;
use std::path::Path;
use std::time::Instant;

/// How pictures are made.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub look: Look,
    pub color: Color,
    pub hud: bool,
    pub captions: bool,
}

impl Default for Picture {
    fn default() -> Self {
        Self { width: 1280, height: 720, look: Look::Shaded, color: Color::Body, hud: false, captions: false }
    }
}

/// `goop render`
pub fn render(args: &Render) -> Result<End> {
    let stored = match Stored::open(&args.folder) {
        Ok(stored) => stored,
        Err(error) => {
            eprintln!("error: {error:#}");
            return Ok(End::Wrong);
        }
    };
    let (width, height) = args.size;
    let picture = Picture { width, height, look: args.look, color: args.color, hud: args.hud, captions: args.captions };
    let asked = args.still.iter().chain(&args.strobe).flatten();
    if let Some(frame) = asked.copied().find(|&frame| frame >= stored.cache.frames()) {
        eprintln!("error: there is no frame {frame}: the run has {}", stored.cache.frames());
        eprintln!("  = help: choose frames from 0 to {}", stored.cache.frames() - 1);
        return Ok(End::Wrong);
    }
    if let Some(instants) = &args.strobe {
        let path = args.output.clone().unwrap_or_else(|| args.folder.join("strobe.png"));
        let frames = (0..stored.cache.frames()).map(|k| stored.frame(k)).collect::<Result<Vec<_>>>()?;
        stored.renderer(picture)?.strobe(&frames, instants)?.write_png(&path)?;
        println!("wrote {}", path.display());
        return Ok(End::Done);
    }
    if let Some(list) = &args.still {
        let out = args.output.clone().unwrap_or_else(|| args.folder.clone());
        goop_output::whole::make_folder(&out)?;
        let mut renderer = stored.renderer(picture)?;
        for &frame in list {
            let path = out.join(format!("frame-{frame:04}.png"));
            let image = match args.rays {
                Some(rays) => renderer.still(&stored.frame(frame)?, rays)?,
                None => renderer.draw(&stored.frame(frame)?)?,
            };
            image.write_png(&path)?;
            println!("wrote {}", path.display());
        }
        return Ok(End::Done);
    }
    let path = args.output.clone().unwrap_or_else(|| args.folder.join("movie.mp4"));
    let clock = Instant::now();
    stored.movie(&path, picture, args.png.as_deref(), args.quiet)?;
    if !args.quiet {
        let seconds = clock.elapsed().as_secs_f64();
        let each = units::seconds(seconds / stored.cache.frames().max(1) as f64);
        println!("wrote {} ({} frames, {each} each)", path.display(), stored.cache.frames());
    }
    Ok(End::Done)
}

/// The movie at the end of a run.
pub fn movie_of(folder: &Path, quiet: bool) -> Result<()> {
    Stored::open(folder)?.movie(&folder.join("movie.mp4"), Picture::default(), None, quiet)
}

/// What a run folder holds.
struct Stored {
    cache: CacheReader,
    scene: Scene,
    /// The scene's account at every frame, by number.
    ledger: Vec<(usize, Ledger)>,
}

impl Stored {
    fn open(folder: &Path) -> Result<Self> {
        let cache = CacheReader::open(folder)?;
        if cache.frames() == 0 {
            return Err(anyhow!("{} has no whole frame yet; let the run reach one", folder.display()));
        }
        let path = folder.join("scene.toml");
        let text = std::fs::read_to_string(&path).map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
        let (scene, _) = Scene::parse(&text, "scene.toml").map_err(|faults| anyhow!("{faults}"))?;
        let ledger = std::fs::read_to_string(folder.join("stats.csv")).map(|text| totals(&text)).unwrap_or_default();
        Ok(Self { cache, scene, ledger })
    }

    fn look(&self) -> SceneLook {
        let bodies = self.cache.bodies().iter().map(|body| BodyLook::of_rest(&body.rest));
        let obstacles = self
            .scene
            .obstacle
            .iter()
            .map(|entry| ObstacleLook::of(&goop_scene::build::obstacle(entry).shape, entry.hollow));
        SceneLook {
            bodies: bodies.collect(),
            obstacles: obstacles.collect(),
            camera: self.scene.camera.as_ref().map(|c| CameraLook {
                position: c.position,
                look_at: c.look_at,
                lens_mm: c.lens,
                orbit_deg_per_s: c.orbit,
            }),
        }
    }

    fn renderer(&self, picture: Picture) -> Result<Renderer> {
        let settings = Settings {
            width: picture.width,
            height: picture.height,
            style: match picture.look {
                Look::Shaded => Style::Shaded,
                Look::Wireframe => Style::Wireframe { hidden: true },
                Look::Lattice => Style::Lattice,
            },
            color_by: match picture.color {
                Color::Body => ColorBy::Body,
                Color::Stretch => ColorBy::Stretch,
                Color::Speed => ColorBy::Speed,
            },
            show: Show { hud: picture.hud, captions: picture.captions, ..Show::default() },
            ..Settings::default()
        };
        let mut renderer = Renderer::new(&self.look(), &settings)?;
        let mut motion = Motion::default();
        for k in 0..self.cache.frames() {
            motion.add(&self.frame(k)?);
        }
        renderer.frame_camera(&motion);
        Ok(renderer)
    }

    fn movie(&self, path: &Path, picture: Picture, png: Option<&Path>, quiet: bool) -> Result<()> {
        let mut renderer = self.renderer(picture)?;
        let mut movie = Movie::create(path, picture.width, picture.height, self.cache.fps())?;
        if let Some(folder) = png {
            goop_output::whole::make_folder(folder)?;
        }
        let bar = progress::bar(self.cache.frames(), quiet);
        bar.set_message("movie");
        for k in 0..self.cache.frames() {
            let image: Image = renderer.draw(&self.frame(k)?)?;
            movie.add(&image)?;
            if let Some(folder) = png {
                image.write_png(&folder.join(format!("frame-{:04}.png", self.cache.first_frame() + k)))?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(movie.finish()?)
    }

    /// A frame as the renderer takes it, from what is stored.
    fn frame(&self, k: usize) -> Result<Frame> {
        let index = self.cache.first_frame() + k;
        let time = index as f64 / self.cache.fps();
        let mut frame = Frame { index, time, ..Frame::default() };
        for (b, body) in self.cache.bodies().iter().enumerate() {
            let (positions, nodes) = (self.cache.positions(b, k)?, self.cache.nodes(b, k)?);
            let of = |v: usize| body.node_of(v);
            let count = nodes.positions.len().max(1) as f64;
            frame.bodies.push(BodyFrame {
                velocities: (0..positions.len()).map(|v| of(v).map_or([0.0; 3], |n| nodes.velocities[n])).collect(),
                stretch: (0..positions.len()).map(|v| of(v).map_or(0.0, |n| nodes.stretch[n])).collect(),
                center: nodes.positions.iter().map(|p| DVec3::from_array(p.map(f64::from))).sum::<DVec3>() / count,
                positions,
                ..BodyFrame::default()
            });
        }
        for entry in &self.scene.obstacle {
            let pose = goop_scene::build::obstacle(entry).motion.at(time);
            let mut here = Some((pose.position, pose.rotation));
            for event in self.scene.event.iter().filter(|e| e.time <= time) {
                if let Edit::Obstacle { name, position, remove } = &event.edit
                    && *name == entry.name
                {
                    match position {
                        _ if *remove => here = None,
                        Some(to) => here = here.map(|(_, turn)| (DVec3::from_array(*to), turn)),
                        None => {}
                    }
                }
            }
            frame.obstacles.push(here);
        }
        if let Some((_, row)) = self.ledger.iter().find(|(number, _)| *number == index) {
            frame.ledger = *row;
        }
        Ok(frame)
    }
}

/// The rows of the whole scene in `stats.csv`: what a picture shows of them.
fn totals(text: &str) -> Vec<(usize, Ledger)> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let at = |fields: &[&str], name: &str| {
        columns.iter().position(|c| *c == name).and_then(|k| fields.get(k)?.parse::<f64>().ok()).unwrap_or(0.0)
    };
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields.get(2) == Some(&"all"))
        .map(|fields| {
            let row = Ledger {
                kinetic: at(&fields, "kinetic"),
                elastic: at(&fields, "elastic"),
                gravitational: at(&fields, "gravitational"),
                contact: at(&fields, "contact"),
                ..Ledger::default()
            };
            (at(&fields, "frame") as usize, row)
        })
        .collect()
}
