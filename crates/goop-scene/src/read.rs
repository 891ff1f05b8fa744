//! Text to scene: parse, include, set, read, and check what refers to what.

mod block;
mod body;
mod character;
mod drive;
mod event;
pub mod keys;
pub mod limits;
mod material;
mod motion;
mod obstacle;
mod selection;
mod shape;
mod topology;
mod words;

pub use event::parameter_range;
pub use topology::{Axis, Topology};

use std::path::{Path, PathBuf};

use crate::reader::{
    Fault, Faults, Inputs, Node, Origin, Place, Range, Reader, Source, Sources, Table, Warning, apply_set, gather,
    number, parameters,
};
use crate::scene::{Camera, Clip, Edit, ObstacleShape, Scene, Shape, Step, World};
use event::Cast;
use limits::*;

/// A scene and what it was read from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scene.
    pub scene: Scene,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Warning>,
    /// Every file that was read, with the XXH3 hash of its bytes (128 bits, hexadecimal).
    pub inputs: Vec<(PathBuf, String)>,
    /// Folder of the scene file: mesh files are relative to it.
    pub folder: PathBuf,
    /// The texts, to place what is found later.
    pub origin: Origin,
}

impl Loaded {
    /// Builds the model; what cannot be built is placed in the text.
    pub fn build(&self) -> Result<crate::Built, Faults> {
        let placed = |f: crate::BuildFault| self.origin.fault(&f.path, f.message, f.hint);
        self.scene.build(&self.folder).map_err(|faults| Faults(faults.into_iter().map(placed).collect()))
    }
}

impl Scene {
    /// Reads a scene from text. `name` stands in messages; files cannot be included.
    pub fn parse(text: &str, name: &str) -> Result<(Scene, Vec<Warning>), Faults> {
        Scene::parse_with(text, name, &[])
    }

    /// Reads a scene from text, changed by `--set` arguments.
    pub fn parse_with(text: &str, name: &str, sets: &[String]) -> Result<(Scene, Vec<Warning>), Faults> {
        let (mut sources, main) = single(text.to_string(), name);
        let (tree, faults, _) = gather(&mut sources, main, None, None);
        finish(sources, tree, faults, sets, None).map(|(scene, warnings, _, _)| (scene, warnings))
    }

    /// Reads a scene that is not in a file, changed by `--set` arguments; mesh files
    /// it may name are looked for in `folder`.
    pub fn load_text(text: &str, name: &str, sets: &[String], folder: &Path) -> Result<Loaded, Faults> {
        let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
        let (mut sources, main) = single(text.to_string(), name);
        let (tree, faults, _) = gather(&mut sources, main, None, None);
        let (scene, warnings, meshes, origin) = finish(sources, tree, faults, sets, Some(folder))?;
        let mut inputs = vec![(PathBuf::from(name), hash)];
        inputs.extend(meshes);
        Ok(Loaded { scene, warnings, inputs, folder: folder.to_path_buf(), origin })
    }

    /// Reads a text that stands in for the file at a path: what it includes and the meshes it
    /// names are looked for beside that file, which need not be there.
    pub fn load_edited(text: &str, path: &Path) -> Result<Loaded, Faults> {
        let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let (mut sources, main) = single(text.to_string(), &path.display().to_string());
        let (tree, faults, included) = gather(&mut sources, main, Some(&folder), Some(path.to_path_buf()));
        let (scene, warnings, meshes, origin) = finish(sources, tree, faults, &[], Some(&folder))?;
        let mut inputs = vec![(path.to_path_buf(), hash)];
        inputs.extend(included);
        inputs.extend(meshes);
        Ok(Loaded { scene, warnings, inputs, folder, origin })
    }

    /// Reads a scene file and all it includes.
    pub fn load(path: impl AsRef<Path>) -> Result<Loaded, Faults> {
        Scene::load_with(path, &[])
    }

    /// Reads a scene file, changed by `--set` arguments of the form `path=value`.
    pub fn load_with(path: impl AsRef<Path>, sets: &[String]) -> Result<Loaded, Faults> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let (text, hash) = crate::reader::read_text(path).map_err(|reason| {
            let place = Place { file: name.clone(), line: 1, column: 1, span: 0..0, text: String::new() };
            let message = format!("cannot read the scene: {reason}");
            Faults(vec![Fault { place, path: String::new(), message, hint: "check the path and its spelling".into() }])
        })?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let (mut sources, main) = single(text, &name);
        let (tree, faults, included) = gather(&mut sources, main, Some(&folder), Some(path.to_path_buf()));
        let (scene, warnings, meshes, origin) = finish(sources, tree, faults, sets, Some(&folder))?;
        let mut inputs = vec![(path.to_path_buf(), hash)];
        inputs.extend(included);
        inputs.extend(meshes);
        Ok(Loaded { scene, warnings, inputs, folder, origin })
    }
}

fn single(text: String, name: &str) -> (Sources, usize) {
    let mut sources = Sources::default();
    let main = sources.add(Source { name: name.to_string(), text, folder: PathBuf::new() });
    (sources, main)
}

/// Applies `--set`, reads the tree, and hashes the mesh files it names.
fn finish(
    mut sources: Sources,
    tree: Option<Node>,
    mut faults: Vec<Fault>,
    sets: &[String],
    folder: Option<&Path>,
) -> Result<(Scene, Vec<Warning>, Inputs, Origin), Faults> {
    let Some(mut tree) = tree else { return Err(Faults(faults)) };
    for argument in sets {
        if let Err(fault) = apply_set(&mut tree, argument, &mut sources) {
            faults.push(*fault);
        }
    }
    let (known, wrong) = parameters(&tree, &sources);
    faults.extend(wrong);
    let reader = Reader::new(&sources, known);
    let mut meshes = Inputs::new();
    let scene = Table::open(&reader, &tree, String::new(), keys::SCENE).map(|top| {
        let scene = scene(&top);
        if let Some(folder) = folder {
            meshes = mesh_files(&top, &scene, folder);
        }
        scene
    });
    let (found, warnings) = reader.finish();
    faults.extend(found);
    match scene {
        Some(scene) if faults.is_empty() => Ok((scene, warnings, meshes, Origin::new(sources, tree))),
        _ => Err(Faults(faults)),
    }
}

/// Reads the top level.
fn scene(top: &Table<'_>) -> Scene {
    top.need("format");
    let format = top.take_u32("format", 0, u32::MAX).unwrap_or(1);
    if format != 1 {
        let message = format!("this is format {format}, and only format 1 can be read");
        top.fault("format", message, "write `format = 1`, or use the version this file was made for");
    }
    let title = top.take_text("title").unwrap_or_default();
    if title.contains(char::is_control) {
        top.fault("title", "`title` must be one line of plain text", "remove line breaks and control characters");
    }
    let world = world(&top.table("world", keys::WORLD));
    let clip = clip(&top.table("clip", keys::CLIP));
    let step = step(&top.table("step", keys::STEP), clip.seconds);

    let mut names = Names::new("body");
    let tables = top.tables("body", keys::BODY);
    let bodies: Vec<_> = tables.iter().map(|table| body::body(table, &mut names, clip.seconds)).collect();
    total_nodes(top, &bodies);
    let mut names = Names::new("obstacle");
    let tables = top.tables("obstacle", keys::OBSTACLE);
    let obstacle: Vec<_> = tables.iter().map(|table| obstacle::obstacle(table, &mut names, clip.seconds)).collect();

    let events = top.tables("event", keys::EVENT);
    let known: Vec<String> = obstacle.iter().map(|o| o.name.clone()).chain(event::added(&events)).collect();
    let cast = Cast { bodies: &bodies, obstacles: &known, seconds: clip.seconds };
    let event = events.iter().filter_map(|table| event::event(table, &mut names, &cast)).collect();
    let contact = top.tables("contact", keys::CONTACT);
    let contact = contact.iter().filter_map(|table| event::contact(table, &cast)).collect();
    let attach = top.tables("attach", keys::ATTACH);
    let attach = attach.iter().filter_map(|table| event::attach(table, &cast)).collect();
    let mut names = Names::new("probe");
    let tables = top.tables("probe", keys::PROBE);
    let probe = tables.iter().filter_map(|table| event::probe(table, &mut names, &cast)).collect();
    let tables = top.tables("choreography", keys::CHOREOGRAPHY);
    let choreography = tables.iter().filter_map(|table| drive::choreography(table, &cast)).collect();
    let camera = top.take_table("camera", keys::CAMERA).map(|table| camera(&table));
    if top.get("body").is_none() {
        top.reader.warn(top.span, "body", "the scene has no bodies", "begin one with a line [[body]]");
    }
    let body = bodies.into_iter().map(|read| read.body).collect();
    Scene { format, title, world, clip, step, body, contact, attach, obstacle, probe, event, choreography, camera }
}

fn world(table: &Table<'_>) -> World {
    World {
        gravity: table.take_vec3("gravity", ACCELERATION).unwrap_or([0.0, -9.81, 0.0]),
        wind: table.take_vec3("wind", SPEED).unwrap_or_default(),
        plane: table.take_word("plane"),
    }
}

fn clip(table: &Table<'_>) -> Clip {
    let clip = Clip {
        seconds: table.take_f64("seconds", Range::above(0.0, 86_400.0)).unwrap_or(5.0),
        fps: table.take_f64("fps", Range::within(0.1, 1000.0)).unwrap_or(24.0),
    };
    if clip.seconds * clip.fps > MAX_FRAMES {
        let message = format!("the clip has {} frames, the most is {MAX_FRAMES}", number(clip.seconds * clip.fps));
        let at = if table.get("fps").is_some() { "fps" } else { "seconds" };
        table.fault(at, message, "lower `fps` or `seconds`");
    }
    clip
}

fn step(table: &Table<'_>, seconds: f64) -> Step {
    let step = Step {
        dt: table.take_f64("dt", STEP).unwrap_or(1.0 / 240.0),
        adaptive: table.take_bool("adaptive").unwrap_or(true),
        max_halvings: table.take_u32("max-halvings", 0, 20).unwrap_or(10),
        max_displacement: table.take_f64("max-displacement", LENGTH),
        max_energy_jump: table.take_f64("max-energy-jump", Range::above(0.0, 1e6)).unwrap_or(0.5),
        settle: table.take_bool("settle").unwrap_or(false),
    };
    if seconds / step.dt > MAX_STEPS {
        let message = format!("the clip needs {} steps, the most is {MAX_STEPS:e}", number(seconds / step.dt));
        table.fault("dt", message, "raise `step.dt` or lower `clip.seconds`");
    }
    step
}

fn camera(table: &Table<'_>) -> Camera {
    let position = table.need_numbers("position", COORDINATE);
    let look_at = table.take_vec3("look-at", COORDINATE).unwrap_or_default();
    if position == Some(look_at) {
        let hint = "move `position` away from `look-at`";
        table.fault("position", "the camera stands at the point that it looks at", hint);
    }
    Camera {
        position: position.unwrap_or_default(),
        look_at,
        lens: table.take_f64("lens", Range::within(1.0, 2000.0)).unwrap_or(50.0),
        orbit: table.take_f64("orbit", Range::size(3600.0)).unwrap_or(0.0),
    }
}

fn total_nodes(top: &Table<'_>, bodies: &[body::ReadBody]) {
    let grids = bodies.iter().filter_map(|body| body.grid.as_ref());
    let (nodes, bytes) = grids.fold((0u64, 0u64), |(nodes, bytes), grid| {
        (nodes.saturating_add(grid.nodes()), bytes.saturating_add(grid.bytes()))
    });
    if nodes > MAX_SCENE_NODES {
        let gigabytes = bytes as f64 / 1e9;
        let message = format!("{nodes} nodes are too many for one scene: about {gigabytes:.0} GB of memory");
        let hint = format!("at most {MAX_SCENE_NODES} nodes in all; lower the counts or take bodies out");
        top.fault("body", message, hint);
    }
}

/// Hashes every mesh, saved shape, motion and list of forces; one that cannot be read is a fault at its place.
fn mesh_files(top: &Table<'_>, scene: &Scene, folder: &Path) -> Inputs {
    let mut inputs = Inputs::new();
    for (index, body) in scene.body.iter().enumerate() {
        let (kind, file) = match &body.shape {
            Shape::Mesh { file, .. } => ("mesh", Some(file)),
            Shape::Saved { file } => ("saved", Some(file)),
            Shape::Character { file, .. } => ("character", Some(file)),
            _ => ("", None),
        };
        let index_text = index.to_string();
        let captured = body.motion.as_ref().and_then(|motion| motion.file.as_ref());
        let captured = captured.map(|file| (vec!["motion", "file"], "motion.file".to_owned(), file));
        let shape = file.map(|file| (vec!["shape", kind, "file"], format!("shape.{kind}.file"), file));
        let numbers: Vec<String> = (0..body.pin.len().max(body.bone.len())).map(|k| k.to_string()).collect();
        let of_pins = body.pin.iter().map(|pin| ("pin", &pin.drive)).enumerate();
        let of_bones = body.bone.iter().map(|bone| ("bone", &bone.drive)).enumerate();
        let pushed = of_pins.chain(of_bones).filter_map(|(k, (owner, drive))| {
            let file = drive.as_ref()?.file.as_ref()?;
            Some((vec![owner, &*numbers[k], "drive", "file"], format!("{owner}[{k}].drive.file"), file))
        });
        for (keys, name, file) in shape.into_iter().chain(captured).chain(pushed) {
            let keys: Vec<&str> = ["body", &*index_text].into_iter().chain(keys).collect();
            if file == crate::character::BUILT_IN {
                continue;
            }
            let path = folder.join(file);
            if inputs.iter().any(|(known, _)| *known == path) {
                continue;
            }
            match crate::reader::hash_file(&path) {
                Ok(hash) => inputs.push((path, hash)),
                Err(reason) => {
                    let at = format!("body[{index}].{name}");
                    let hint = "paths are relative to the file that names them";
                    top.reader.fault(top.find(&keys), &at, format!("cannot read \"{file}\": {reason}"), hint);
                }
            }
        }
    }
    let here = scene.obstacle.iter().enumerate().map(|(k, obstacle)| (["obstacle", ""], k, obstacle));
    let added = scene.event.iter().enumerate().filter_map(|(k, event)| match &event.edit {
        Edit::Add(obstacle) => Some((["event", "add"], k, obstacle)),
        _ => None,
    });
    for (list, index, obstacle) in here.chain(added) {
        let ObstacleShape::Mesh { file, .. } = &obstacle.shape else { continue };
        let path = folder.join(file);
        if file == crate::mesh::BOWL {
            continue;
        }
        if inputs.iter().any(|(known, _)| *known == path) {
            continue;
        }
        match crate::reader::hash_file(&path) {
            Ok(hash) => inputs.push((path, hash)),
            Err(reason) => {
                let number = index.to_string();
                let keys = [list[0], &*number, list[1], "shape", "mesh", "file"];
                let keys: Vec<&str> = keys.into_iter().filter(|key| !key.is_empty()).collect();
                let between = if list[1].is_empty() { String::new() } else { format!(".{}", list[1]) };
                let at = format!("{}[{index}]{between}.shape.mesh.file", list[0]);
                let hint = "paths are relative to the file that names them";
                top.reader.fault(top.find(&keys), &at, format!("cannot read \"{file}\": {reason}"), hint);
            }
        }
    }
    inputs
}

/// Names already given in one list.
pub struct Names {
    what: &'static str,
    taken: Vec<String>,
}

impl Names {
    fn new(what: &'static str) -> Names {
        Names { what, taken: Vec::new() }
    }

    /// The name of a table: well-formed and not given before.
    fn take(&mut self, table: &Table<'_>) -> String {
        let Some(name) = table.need_text("name") else { return String::new() };
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(good) {
            let message = format!("`{}` is not a name", table.at("name"));
            let hint =
                format!("letters, digits, - and _, at most {MAX_NAME}; for example `{}`", table.key("name").line);
            table.fault("name", message, hint);
        } else if name == "all" && self.what == "body" {
            table.fault(
                "name",
                "a body cannot be named \"all\"",
                "stats.csv calls the whole scene so; choose another name",
            );
        } else if self.taken.contains(&name) {
            let message = format!("two {} tables have the name \"{name}\"", self.what);
            table.fault("name", message, "names are unique; rename one of them");
        }
        self.taken.push(name.clone());
        name
    }
}
