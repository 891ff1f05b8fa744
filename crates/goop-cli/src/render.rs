//! `goop render`: pictures and a movie from the folder of a run alone.
//!
//! Positions, velocities and stretch come from `cache/`, meshes and springs from `rest/`,
//! energies from `stats.csv`, pins and contacts from `marks.csv`, forces from `forces.csv`,
//! centres of mass from `centers.csv`, bones and body parts from `rest/bones.json` and `bones.csv`, obstacles and the camera from `scene.toml`; nothing is
//! simulated again.

use crate::args::{Behind, Color, Look, Point, Render, Showing};
use crate::progress;
use crate::{End, units};
use anyhow::{Result, anyhow};
use glam::{DVec3, Vec3};
use goop::contact::ObstacleShape;
use goop::frame::{BodyFrame, Frame};
use goop::ledger::Ledger;
use goop_output::render::{
    Background, BodyLook, CameraLook, ColorBy, Framing, Motion, ObstacleLook, Renderer, SceneLook, Settings, Show,
    Style, part_color,
};
use goop_output::{CacheReader, CachedBody, Image, Mark, Movie, StoredBones, StoredCenters, StoredForces, StoredMarks};
use goop_scene::Scene;
use goop_scene::scene::{Camera, Edit};
use std::path::Path;
use std::time::Instant;

/// How pictures are made.
#[derive(Clone, Debug, Default)]
struct Picture {
    settings: Settings,
    camera: Wish,
}

/// What of the camera is given on the command line.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    position: Option<Point>,
    look_at: Option<Point>,
    lens: Option<f64>,
    orbit: Option<f64>,
}

impl Picture {
    /// As the arguments say; fails where a picture behind everything cannot be read.
    fn of(args: &Render) -> Result<Picture> {
        let shows = |what: Showing| args.show.contains(&what);
        let settings = Settings {
            width: args.size.0,
            height: args.size.1,
            style: match args.look {
                Look::Shaded => Style::Shaded,
                Look::Wireframe => Style::Wireframe { hidden: true },
                Look::Lattice => Style::Lattice,
            },
            color_by: match args.color {
                Color::Body => ColorBy::Body,
                Color::Stretch => ColorBy::Stretch,
                Color::Speed => ColorBy::Speed,
                Color::Part => ColorBy::Part,
            },
            show: Show {
                pins: shows(Showing::Pins),
                contacts: shows(Showing::Contacts),
                velocities: shows(Showing::Velocities),
                forces: shows(Showing::Forces),
                nodes: shows(Showing::Nodes),
                springs: shows(Showing::Springs),
                bones: shows(Showing::Bones),
                see_through: args.see_through,
                hud: args.hud,
                captions: args.captions,
                ..Show::default()
            },
            background: match &args.background {
                None => Background::Studio,
                Some(Behind::Colour(colour)) => Background::Color(*colour),
                Some(Behind::Picture(path)) => Background::Picture(Image::read_png(path)?),
            },
            ..Settings::default()
        };
        let camera = Wish { position: args.camera, look_at: args.look_at, lens: args.lens, orbit: args.orbit };
        Ok(Picture { settings, camera })
    }
}

/// `goop render`
pub fn render(args: &Render) -> Result<End> {
    let (stored, picture) = match Stored::open(&args.folder).and_then(|s| Ok((s, Picture::of(args)?))) {
        Ok(both) => both,
        Err(error) => {
            eprintln!("error: {error:#}");
            return Ok(End::Wrong);
        }
    };
    if args.camera.is_some() && args.camera == args.look_at {
        eprintln!("error: the camera stands at the point that it looks at");
        eprintln!("  = help: move --camera away from --look-at");
        return Ok(End::Wrong);
    }
    let asked = args.still.iter().chain(&args.strobe).flatten();
    if let Some(frame) = asked.copied().find(|&frame| frame >= stored.cache.frames()) {
        eprintln!("error: there is no frame {frame}: the run has {}", stored.cache.frames());
        eprintln!("  = help: choose frames from 0 to {}", stored.cache.frames() - 1);
        return Ok(End::Wrong);
    }
    if let Some(instants) = &args.strobe {
        let path = args.output.clone().unwrap_or_else(|| args.folder.join("strobe.png"));
        let frames = (0..stored.cache.frames()).map(|k| stored.frame(k)).collect::<Result<Vec<_>>>()?;
        stored.renderer(&picture)?.strobe(&frames, instants)?.write_png(&path)?;
        println!("wrote {}", path.display());
        return Ok(End::Done);
    }
    if let Some(list) = &args.still {
        let out = args.output.clone().unwrap_or_else(|| args.folder.clone());
        goop_output::whole::make_folder(&out)?;
        let mut renderer = stored.renderer(&picture)?;
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
    stored.movie(&path, &picture, args.png.as_deref(), args.quiet)?;
    if !args.quiet {
        let seconds = clock.elapsed().as_secs_f64();
        let each = units::seconds(seconds / stored.cache.frames().max(1) as f64);
        println!("wrote {} ({} frames, {each} each)", path.display(), stored.cache.frames());
    }
    Ok(End::Done)
}

/// The movie at the end of a run.
pub fn movie_of(folder: &Path, quiet: bool) -> Result<()> {
    Stored::open(folder)?.movie(&folder.join("movie.mp4"), &Picture::default(), None, quiet)
}

/// The scene's camera.
pub fn camera(camera: &Camera) -> CameraLook {
    CameraLook {
        position: camera.position,
        look_at: camera.look_at,
        lens_mm: camera.lens,
        orbit_deg_per_s: camera.orbit,
    }
}

/// What a run folder holds.
struct Stored {
    cache: CacheReader,
    scene: Scene,
    /// Of its obstacles, added ones too.
    shapes: Vec<ObstacleShape>,
    /// The scene's account at every frame, by number.
    ledger: Vec<(usize, Ledger)>,
    centers: StoredCenters,
    marks: StoredMarks,
    forces: StoredForces,
    bones: StoredBones,
    bodies: Vec<Drawn>,
}

/// A body as it is drawn: its nodes, then the vertices that belong to none and stay where they are.
struct Drawn {
    look: BodyLook,
    still: Vec<[f32; 3]>,
    /// Its vertices do not sit on nodes, as those of a torn sheet or of a skin around a
    /// lattice: they follow the nodes in every frame.
    apart: bool,
}

impl Drawn {
    /// Triangles and segments between nodes, from those between vertices.
    fn of(cache: &CacheReader, b: usize, bones: &StoredBones) -> Result<Drawn> {
        let body = &cache.bodies()[b];
        let (rest, mut points, mut still) = (&body.rest, cache.nodes(b, 0)?.positions, Vec::new());
        let nodes = points.len();
        let vertices = cache.positions(b, 0)?;
        let off = |(vertex, x): (usize, &[f32; 3])| {
            body.node_of(vertex).is_none_or(|node| {
                let (x, y) = (Vec3::from(*x), Vec3::from(points[node]));
                x.distance(y) > 1e-5 * (x.length() + y.length() + 1e-3)
            })
        };
        if nodes > 0 && vertices.iter().enumerate().any(off) {
            let shift = |v: u32| v + nodes as u32;
            points.extend(&rest.positions);
            let look = BodyLook {
                rest_positions: points,
                triangles: rest.triangles.iter().map(|t| t.map(shift)).collect(),
                segments: rest.segments.iter().map(|s| s.map(shift)).collect(),
                lattice: cache.springs(b)?,
                nodes: Some(nodes),
                ..BodyLook::of_rest(rest)
            };
            let look = with_bones(look, body, bones);
            return Ok(Drawn { look, still, apart: true });
        }
        let mut place = Vec::with_capacity(rest.positions.len());
        for (vertex, &position) in rest.positions.iter().enumerate() {
            place.push(match body.node_of(vertex) {
                Some(node) => {
                    points[node] = position;
                    node as u32
                }
                None => {
                    still.push(position);
                    (nodes + still.len() - 1) as u32
                }
            });
        }
        points.extend(&still);
        let look = BodyLook {
            name: rest.name.clone(),
            rest_positions: points,
            triangles: rest.triangles.iter().map(|t| t.map(|v| place[v as usize])).collect(),
            segments: rest.segments.iter().map(|s| s.map(|v| place[v as usize])).collect(),
            lattice: cache.springs(b)?,
            ..BodyLook::of_rest(rest)
        };
        Ok(Drawn { look, still, apart: false })
    }
}

/// A colour of the scene as the renderer takes it.
fn single(color: [f64; 3]) -> [f32; 3] {
    color.map(|part| part as f32)
}

/// The bones of a character, and colours by the part that every node, and the skin at it, belongs to.
fn with_bones(look: BodyLook, body: &CachedBody, bones: &StoredBones) -> BodyLook {
    let Some(rest) = bones.of(&body.rest.name, body.node_count()) else { return look };
    let of_node = |node: usize| {
        let mixed = rest.parts[node].iter().map(|&(part, share)| share * Vec3::from(part_color(part as usize)));
        mixed.sum::<Vec3>().to_array()
    };
    let vertices = (0..body.rest.positions.len()).map(|vertex| body.node_of(vertex).map_or([0.5; 3], of_node));
    let parts = (0..rest.parts.len()).map(of_node).chain(vertices).collect();
    BodyLook { bones: rest.bones.iter().map(|bone| bone.form).collect(), parts, ..look }
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
        let bones = StoredBones::read(folder)?;
        let sizes: Vec<(&str, usize)> =
            cache.bodies().iter().map(|body| (body.rest.name.as_str(), body.node_count())).collect();
        let shapes = scene.obstacles().into_iter().map(|(_, entry)| {
            let made = goop_scene::build::obstacle_shape(&entry.shape, folder);
            made.map(|(shape, _)| shape).map_err(|[message, hint]| anyhow!("{message}; {hint}"))
        });
        Ok(Self {
            shapes: shapes.collect::<Result<_>>()?,
            scene,
            ledger,
            centers: StoredCenters::read(folder)?,
            marks: StoredMarks::read(folder)?,
            forces: StoredForces::read(folder, &sizes)?,
            bodies: (0..cache.bodies().len()).map(|b| Drawn::of(&cache, b, &bones)).collect::<Result<_>>()?,
            bones,
            cache,
        })
    }

    fn look(&self, wish: &Wish, motion: &Motion) -> SceneLook {
        let obstacles = self.scene.obstacles().into_iter().zip(&self.shapes).map(|((_, entry), shape)| ObstacleLook {
            color: entry.color.map(single),
            ..ObstacleLook::of(shape, entry.hollow)
        });
        let color = |name: &str| self.scene.body.iter().find(|body| body.name == name).and_then(|body| body.color);
        SceneLook {
            bodies: (self.bodies.iter())
                .map(|body| BodyLook { color: color(&body.look.name).map(single), ..body.look.clone() })
                .collect(),
            obstacles: obstacles.collect(),
            camera: self.camera(wish, motion),
            framing: Framing {
                lens_mm: wish.lens.unwrap_or(Framing::default().lens_mm),
                orbit_deg_per_s: wish.orbit.unwrap_or(0.0),
            },
        }
    }

    /// The scene's camera, changed by the command line; none where neither says where it stands.
    fn camera(&self, wish: &Wish, motion: &Motion) -> Option<CameraLook> {
        let framing = Framing::default();
        let given = self.scene.camera.as_ref().map(camera).or_else(|| {
            let look_at = motion.bounds().center().as_dvec3().to_array();
            wish.position.map(|position| CameraLook {
                position,
                look_at,
                lens_mm: framing.lens_mm,
                orbit_deg_per_s: 0.0,
            })
        })?;
        Some(CameraLook {
            position: wish.position.unwrap_or(given.position),
            look_at: wish.look_at.unwrap_or(given.look_at),
            lens_mm: wish.lens.unwrap_or(given.lens_mm),
            orbit_deg_per_s: wish.orbit.unwrap_or(given.orbit_deg_per_s),
        })
    }

    fn renderer(&self, picture: &Picture) -> Result<Renderer> {
        let mut motion = Motion::default();
        for k in 0..self.cache.frames() {
            motion.add(&self.frame(k)?);
        }
        let mut renderer = Renderer::new(&self.look(&picture.camera, &motion), &picture.settings)?;
        renderer.frame_camera(&motion);
        Ok(renderer)
    }

    fn movie(&self, path: &Path, picture: &Picture, png: Option<&Path>, quiet: bool) -> Result<()> {
        let mut renderer = self.renderer(picture)?;
        let mut movie = Movie::create(path, picture.settings.width, picture.settings.height, self.cache.fps())?;
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
            let (mut nodes, name) = (self.cache.nodes(b, k)?, body.rest.name.as_str());
            let still = &self.bodies[b].still;
            let marked = |mark| self.marks.at(index, name, mark, body.node_count());
            frame.contacts.extend(marked(Mark::Contact).into_iter().map(|node| (b as u32, node)));
            // A folder without them shows no path.
            let [center, center_velocity] = self.centers.at(index, name).unwrap_or([DVec3::NAN; 2]);
            if self.bodies[b].apart {
                nodes.positions.extend(self.cache.positions(b, k)?);
                for vertex in 0..body.rest.positions.len() {
                    let node = body.node_of(vertex);
                    nodes.velocities.push(node.map_or([0.0; 3], |node| nodes.velocities[node]));
                    nodes.stretch.push(node.map_or(0.0, |node| nodes.stretch[node]));
                }
            }
            nodes.positions.extend(still);
            nodes.velocities.extend(still.iter().map(|_| [0.0; 3]));
            nodes.stretch.extend(still.iter().map(|_| 0.0));
            frame.bodies.push(BodyFrame {
                positions: nodes.positions,
                velocities: nodes.velocities,
                stretch: nodes.stretch,
                pinned: marked(Mark::Pin),
                sprung: marked(Mark::Spring),
                center,
                center_velocity,
                bones: self.bones.at(index, name),
                ..BodyFrame::default()
            });
        }
        frame.forces = self.forces.at(index).to_vec();
        for (from, entry) in self.scene.obstacles() {
            let pose = goop_scene::build::obstacle_motion(entry).at(time);
            let mut here = (from <= time).then_some((pose.position, pose.rotation));
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
