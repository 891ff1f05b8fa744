//! The file of a character: its skin as drawn, and its rig if it has one.

use super::Wrong;
use crate::dancer;
use crate::mesh::{Skin, read_mesh};
use crate::rig::{Rig, RigOptions, read_rig};
use crate::scene::SkeletonFrom;
use glam::DVec3;
use goop::character::Inside;
use std::path::Path;

/// What a file gives, in metres.
#[derive(Clone, Debug)]
pub struct Source {
    /// The mesh at the bind pose, vertices in the order of the file.
    pub skin: Skin,
    /// Bones, weights and animations; `None` for a bare mesh.
    pub rig: Option<Rig>,
    /// What was odd or guessed, in sentences.
    pub notes: Vec<String>,
    volume: f64,
    area: f64,
}

/// Stands for the character that the product brings along.
pub const BUILT_IN: &str = "built-in:dancer";

const FILE: &str = "shape.character.file";

/// Reads a rig or a mesh and scales it to a height, then by a factor.
pub fn open(path: &Path, skeleton: Option<SkeletonFrom>, height: Option<f64>, factor: f64) -> Result<Source, Wrong> {
    let wrong = |message: String| Wrong::new(FILE, message, "name a readable glTF, OBJ, PLY or STL file");
    if path.file_name().is_some_and(|name| name == BUILT_IN) {
        if skeleton == Some(SkeletonFrom::None) {
            // Without bones it is a mesh like any other.
            let mut skin = dancer::skin();
            let (low, high) = bounds(&skin.positions);
            let times = factor * height.map_or(1.0, |height| height / (high - low).y);
            skin.positions.iter_mut().for_each(|position| *position *= times);
            return Ok(Source::of(skin, None, Vec::new()));
        }
        if height.is_some() || factor != 1.0 || skeleton.is_some_and(|s| s != SkeletonFrom::Rig) {
            let message = "the built-in dancer has its own size and skeleton";
            return Err(Wrong::new(
                FILE,
                message,
                "leave `height`, `scale` and `skeleton` out (or use skeleton = \"none\"), or write it by `goop dancer` and use that file",
            ));
        }
        return Ok(Source::of(dancer::skin(), Some(dancer::rig()), Vec::new()));
    }
    let mesh = read_mesh(path, false).map_err(|error| wrong(error.to_string()))?;
    let mut skin = mesh.original;
    let mut notes = mesh.warnings;
    let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    let gltf = ending == "glb" || ending == "gltf";
    let wants_rig = !matches!(skeleton, Some(SkeletonFrom::None | SkeletonFrom::Auto));
    let mut rig = None;
    if gltf && wants_rig {
        match read_rig(path, &RigOptions::default()) {
            Ok(read) if is_rig(&read) || skeleton == Some(SkeletonFrom::Rig) => {
                notes.retain(|note| !note.contains(crate::mesh::gltf::SKIN_LEFT_ASIDE));
                rig = Some(read);
            }
            Ok(_) => {}
            Err(error) if skeleton == Some(SkeletonFrom::Rig) => return Err(wrong(error.to_string())),
            Err(error) => notes.push(format!("its rig can't be used and is left out: {error}")),
        }
    }
    if skeleton == Some(SkeletonFrom::Rig) && rig.is_none() {
        let message = "skeleton = \"rig\" is asked for, but only glTF files have rigs";
        return Err(Wrong::new("shape.character.skeleton", message, "use \"auto\" or \"none\", or a glTF file"));
    }
    let (low, high) = bounds(rig.as_ref().map_or(&skin.positions, |rig| &rig.positions));
    let size = (high - low).y;
    let times = factor * height.map_or(1.0, |height| if size > 0.0 { height / size } else { 1.0 });
    match &mut rig {
        Some(read) if times != 1.0 => {
            let unit = Some(read.unit * times);
            *read = read_rig(path, &RigOptions { unit }).map_err(|error| wrong(error.to_string()))?;
        }
        Some(_) => {}
        None => skin.positions.iter_mut().for_each(|position| *position *= times),
    }
    if let Some(rig) = &rig {
        notes.extend(rig.notes.iter().cloned());
        if rig.positions.len() != skin.positions.len() {
            return Err(wrong("its rig and its mesh have different vertices".into()));
        }
        skin.positions.clone_from(&rig.positions);
    }
    if let Some(vertex) = skin.positions.iter().position(|p| !p.is_finite()) {
        return Err(wrong(format!("vertex {vertex} is not a finite position")));
    }
    Ok(Source::of(skin, rig, notes))
}

/// Whether there is more to it than nodes that show meshes.
fn is_rig(rig: &Rig) -> bool {
    let segments = rig.segments();
    segments.len() > 1 || (!rig.motions.is_empty() && !segments.is_empty())
}

fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    points.iter().fold(start, |(low, high), p| (low.min(*p), high.max(*p)))
}

impl Source {
    fn of(skin: Skin, rig: Option<Rig>, notes: Vec<String>) -> Source {
        let inside = Inside::new(&skin.positions, &skin.triangles);
        let (low, high) = bounds(&skin.positions);
        let box_volume = (high - low).element_product();
        // An open skin encloses no volume that could be told.
        let volume = inside.volume().abs();
        let volume = if volume > 0.01 * box_volume && volume < box_volume { volume } else { 0.2 * box_volume };
        let area = skin.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|i| skin.positions[i as usize]);
            0.5 * (b - a).cross(c - a).length()
        });
        let area = area.sum();
        Source { skin, rig, notes, volume, area }
    }

    /// Sides of the box around the skin (m).
    pub fn size(&self) -> DVec3 {
        let (low, high) = bounds(&self.skin.positions);
        (high - low).max(DVec3::ZERO)
    }

    /// Volume inside the skin, about (m³).
    pub fn volume(&self) -> f64 {
        self.volume.max(1e-30)
    }

    /// How thick its limbs are, about: the radius of a long cylinder with this volume and area (m).
    pub fn thickness(&self) -> f64 {
        2.0 * self.volume() / self.area.max(1e-30)
    }
}
