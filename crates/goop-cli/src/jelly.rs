//! `goop jelly`: a rig and a motion, or a bare mesh, as a scene of jelly, and run.
//!
//! The stiffness is chosen so that the look does not depend on the size of the body:
//! ```text
//! E = ρ g ℓ S,   S = 150 … 2 for soft 0 … 1, in equal ratios
//! ```
//! ℓ is what the flesh has to carry: half the thickness of its limbs where bones hold it, or the cube
//! root of the volume where nothing does. A bar of length ℓ that stands sags by 1/(2 S) of it.

use crate::args::{Jelly, Run, SceneArgs};
use crate::open::{self, Opened};
use crate::preview::{self, Measured};
use crate::{End, run};
use anyhow::Result;
use goop_output::export::{Format, export};
pub use goop_scene::character::Played;
use goop_scene::character::{self, Source, Wrong};
use goop_scene::scene::{BodyMotion, Bone, Capsule, Scene, Shape, SkeletonFrom};
use std::collections::BTreeMap;
use std::path::Path;

/// Density of jelly (kg/m³).
const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;
/// E over ρ g ℓ of firm rubber and of what barely holds its shape.
const FIRM: f64 = 150.0;
const LOOSE: f64 = 2.0;
/// How far the ground reaches, over the size of the body: soles at rest are so far above it.
const RANGE: f64 = 0.003;
/// A motion shorter than this is repeated, if it ends as it begins (s).
const SHORT: f64 = 4.0;
/// The longest clip made without being asked for (s).
const LONG: f64 = 20.0;

/// `goop jelly`
pub fn jelly(args: &Jelly) -> Result<End> {
    let mut run_args = args.run();
    open::use_threads(&run_args.scene);
    let name = args.file.file_stem().map_or("jelly".into(), |n| n.to_string_lossy().into_owned());
    let plan = match plan(args, &name) {
        Ok(plan) => plan,
        Err(wrong) => {
            eprintln!("error: {}", wrong.message);
            eprintln!("  = help: {}", wrong.hint);
            if args.json {
                let faults = [serde_json::json!({ "path": wrong.key, "message": wrong.message, "hint": wrong.hint })];
                println!("{}", serde_json::json!({ "status": "wrong-input", "faults": faults }));
            }
            return Ok(End::Wrong);
        }
    };
    let mut scene = plan.scene.clone();
    if args.preview {
        preview::reduce(&mut scene);
    }
    let text = scene.to_toml();
    let opened = Scene::load_text(&text, &format!("{name}.toml"), &args.set, Path::new(""))
        .and_then(|loaded| loaded.build().map(|built| Opened { loaded, built, name }));
    let opened = match opened {
        Ok(opened) => opened,
        Err(faults) => {
            open::refuse(&faults, args.json);
            return Ok(End::Wrong);
        }
    };
    if !args.quiet && !args.json {
        plan.tell(&opened);
    }
    let mut measured = None;
    if args.preview {
        // What --set changed holds for both.
        let mut implicit = opened.loaded.scene.clone();
        for (body, own) in implicit.body.iter_mut().zip(&plan.scene.body) {
            (body.formulation, body.elasticity) = (own.formulation, own.elasticity);
            (body.coordinates, body.integrator) = (own.coordinates, own.integrator);
        }
        match Measured::of(&implicit, &opened.loaded.folder, plan.played.as_ref()) {
            Ok(found) => {
                run_args.note = Some(("preview", found.json()));
                measured = Some(found.sentence());
            }
            Err(sentence) => measured = Some(format!("preview: the error could not be measured: {sentence}")),
        }
    }
    let folder = run::folder(&run_args, &opened);
    let end = run::run_opened(&run_args, opened)?;
    if let Some(sentence) = measured.filter(|_| !args.quiet && !args.json) {
        println!("{sentence}");
    }
    if end == End::Done && args.frames.is_none() {
        let report = export(&folder, Format::Glb, &folder)?;
        if !args.quiet && !args.json {
            for file in &report.files {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                println!("  {name:14} the same for Blender, three.js and others: vertices, materials and motion");
            }
        }
    }
    Ok(end)
}

/// The scene that `goop jelly` would run, and the modulus it chose (Pa).
pub fn scene(args: &Jelly, name: &str) -> Result<(String, f64), Wrong> {
    plan(args, name).map(|plan| (plan.scene.to_toml(), plan.young))
}

impl Jelly {
    /// The same flags for a run.
    fn run(&self) -> Run {
        Run {
            scene: SceneArgs { scene: String::new(), set: self.set.clone(), threads: self.threads },
            output: self.output.clone(),
            frames: self.frames,
            format: self.format,
            no_movie: self.no_movie,
            resume: self.resume,
            json: self.json,
            quiet: self.quiet,
            note: None,
        }
    }
}

/// What will be run, and what to say of it.
struct Plan {
    scene: Scene,
    played: Option<Played>,
    young: f64,
    soft: f64,
    rigged: bool,
}

impl Plan {
    fn tell(&self, opened: &Opened) {
        if let Some(mapping) = self.played.as_ref().and_then(|played| played.mapping.as_ref()) {
            println!("The motion moves the rig so (to change it, edit [body.motion.map] of scene.toml):");
            mapping.to_string().lines().for_each(|line| println!("  {line}"));
        }
        let body = &opened.built.model.bodies[0];
        let bones = body.sampled.as_ref().map_or(0, |s| s.bone_nodes.iter().filter(|n| !n.is_empty()).count());
        let held: usize = body.pins.iter().map(|pin| pin.nodes.len()).sum();
        println!(
            "{} nodes, of which {bones} bones hold {held}; {:.3} kg; soft {}: Young's modulus {} Pa, density {DENSITY} kg/m³",
            body.len(),
            body.mass(),
            self.soft,
            figures(self.young),
        );
        if !self.rigged && !body_bones(&self.scene).is_empty() {
            println!(
                "The bones were proposed from the shape and stand still: move them by [[body.bone.key]] or [body.bone.drive] in scene.toml."
            );
        }
        if self.rigged && self.played.is_none() {
            println!("The rig has no animation: the bones stand still (give one with --motion dance.bvh).");
        }
    }
}

fn body_bones(scene: &Scene) -> &[Bone] {
    scene.body.first().map_or(&[], |body| &body.bone)
}

/// Three figures of a number.
fn figures(value: f64) -> String {
    if (0.1..1e6).contains(&value) {
        let places = (2 - value.log10().floor() as i32).max(0) as usize;
        format!("{value:.places$}")
    } else {
        format!("{value:.2e}")
    }
}

fn plan(args: &Jelly, name: &str) -> Result<Plan, Wrong> {
    let path = args.file.as_path();
    let source = character::open(path, None, args.height, 1.0)?;
    let rigged = source.rig.is_some();
    if args.motion.is_some() && !rigged {
        return Err(Wrong {
            key: "motion".into(),
            message: format!("{} has no rig that could play a motion", path.display()),
            hint: "give a rigged glTF or GLB file, or leave --motion out: the mesh is then dropped as jelly".into(),
        });
    }
    if args.bones && rigged {
        return Err(Wrong {
            key: "bones".into(),
            message: format!("{} has bones of its own", path.display()),
            hint: "leave --bones out; to change bones, edit them in the scene.toml of a run".into(),
        });
    }
    let held = rigged || args.bones;
    let mut motion =
        source.rig.as_ref().filter(|rig| args.motion.is_some() || !rig.motions.is_empty()).map(|_| BodyMotion {
            file: args.motion.as_ref().map(|file| file.to_string_lossy().replace('\\', "/")),
            clip: args.clip.clone(),
            start: 0.0,
            speed: 1.0,
            repeat: false,
            ground: true,
            bind_frame: None,
            start_frame: None,
            up: None,
            unit: None,
            map: BTreeMap::new(),
        });
    let mut played = match (&source.rig, &motion) {
        (Some(rig), Some(motion)) => Some(character::play(rig, motion, Path::new(""))?),
        _ => None,
    };
    let mut seconds = 3.0;
    if let (Some(rig), Some(motion), Some(played)) = (&source.rig, &mut motion, &mut played) {
        let own = played.motion.duration;
        seconds = own.clamp(0.5, LONG);
        if own > 0.0 && own < SHORT && ends_as_it_begins(played, &source) {
            (motion.repeat, played.repeat) = (true, true);
            seconds = own * (SHORT / own).ceil();
        }
        if let Some(mapping) = &played.mapping {
            let bones = |i: usize| rig.is_bone[i];
            motion.map = (mapping.lines.iter().enumerate().filter(|(i, _)| bones(*i)))
                .map(|(_, line)| (line.joint.clone(), line.source_name.clone().unwrap_or_default()))
                .collect();
        }
    }
    let length = if held { 0.5 * source.thickness() } else { source.volume().cbrt() };
    let young = round(DENSITY * GRAVITY * length * FIRM * (LOOSE / FIRM).powf(args.soft));
    let low = source.skin.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let size = source.size();
    let floor = match &played {
        Some(played) => lowest(played, &source, seconds) - RANGE * size.max_element(),
        None if held => low,
        None => 0.0,
    };
    let drop = if held { 0.0 } else { round(0.4 * size.y - low) };
    let usual = if held { 6000 } else { 4000 };
    let nodes = args.nodes.unwrap_or(if args.preview { preview::NODES } else { usual });
    let mut scene = base(name, seconds, nodes, young, drop, round(floor), size.max_element(), held)?;
    let body = &mut scene.body[0];
    if let Shape::Character { file, height, .. } = &mut body.shape {
        *file = path.to_string_lossy().replace('\\', "/");
        *height = args.height;
    }
    let sampling = goop::character::Sampling::default();
    let skeleton = args.bones.then_some(SkeletonFrom::Auto);
    let frame = character::frame(&source, body, skeleton, &sampling, Some(nodes as usize))?;
    body.bone = bones(&frame, &source);
    body.motion = motion;
    Ok(Plan { scene, played, young, soft: args.soft, rigged })
}

/// Bones as a scene writes them.
fn bones(frame: &character::Frame, source: &Source) -> Vec<Bone> {
    let each = frame.bones.iter().zip(&frame.joints).filter_map(|(bone, joint)| {
        let goop::character::BoneShape::Capsule { from, to, radius } = bone.shape else { return None };
        let tidy = |p: glam::DVec3| p.to_array().map(round);
        let joint = joint.zip(source.rig.as_ref()).map(|(j, rig)| rig.skeleton.joints[j].name.clone());
        Some(Bone {
            name: bone.name.clone(),
            capsule: Some(Capsule { from: tidy(from), to: tidy(to), radius: round(radius) }),
            ellipsoid: None,
            parent: bone.parent.map(|b| frame.bones[b].name.clone()),
            joint: joint.filter(|joint| *joint != bone.name),
            key: Vec::new(),
            drive: None,
        })
    });
    each.collect()
}

/// Four figures: what is written is to be read.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Whether the last pose is the first, within a fiftieth of the body.
fn ends_as_it_begins(played: &Played, source: &Source) -> bool {
    let Some(rig) = &source.rig else { return false };
    let (mut first, mut last) = (Vec::new(), Vec::new());
    rig.skinned(&played.motion.pose(0.0), &mut first);
    rig.skinned(&played.motion.pose(played.motion.duration), &mut last);
    first.iter().zip(&last).all(|(a, b)| a.distance(*b) < 0.02 * source.size().max_element())
}

/// The lowest point that the skin reaches (m).
fn lowest(played: &Played, source: &Source, seconds: f64) -> f64 {
    let Some(rig) = &source.rig else { return 0.0 };
    let (mut low, mut skin) = (f64::INFINITY, Vec::new());
    for k in 0..=60 {
        rig.skinned(&played.pose(seconds * f64::from(k) / 60.0), &mut skin);
        low = skin.iter().map(|p| p.y).fold(low, f64::min);
    }
    if low.is_finite() { low } else { 0.0 }
}

/// The scene without bones and motion.
#[allow(clippy::too_many_arguments)]
fn base(
    name: &str,
    seconds: f64,
    nodes: u32,
    young: f64,
    drop: f64,
    floor: f64,
    size: f64,
    held: bool,
) -> Result<Scene, Wrong> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut body: String = name.chars().map(|c| if good(c) { c } else { '-' }).take(60).collect();
    if body.is_empty() || body == "all" {
        body = "jelly".into();
    }
    let (range, seconds) = (round(RANGE * size), (seconds * 1000.0).round() / 1000.0);
    let text = format!(
        r#"format = 1
[clip]
seconds = {seconds:?}
fps = 30
[step]
dt = {dt:?}
settle = {held}
[[body]]
name = "{body}"
formulation = "jelly"
position = [0.0, {drop:?}, 0.0]
[body.shape.character]
file = "x.glb"
nodes = {nodes}
[body.material]
density = {DENSITY:?}
young = {young:?}
poisson = 0.4
damping = 0.05
friction = 0.6
[body.solver]
tolerance = 1e-3
[[obstacle]]
name = "ground"
shape.plane = {{}}
position = [0.0, {floor:?}, 0.0]
friction = 0.6
range = {range:?}
"#,
        dt = 1.0 / 120.0,
    );
    let (mut scene, _) = Scene::parse(&text, "jelly").map_err(|faults| Wrong {
        key: String::new(),
        message: format!("this character makes no scene: {faults}"),
        hint: "its size or Young's modulus is beyond all measure; rescale it with --height".into(),
    })?;
    scene.title = format!("{body} as jelly");
    Ok(scene)
}
