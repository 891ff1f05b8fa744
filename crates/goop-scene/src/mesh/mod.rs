//! Triangle meshes from files: OBJ, PLY, STL, glTF.
//!
//! A reader turns bytes into `Raw`: vertices and triangles as the file has them.
//! What all formats share happens here: limits, the choice of format, welding,
//! dropping what no surface needs (triangles with a corner twice, loose vertices).
//! All that is dropped or welded stays in the [`Skin`], which is what exports show.
//! Faults carry place, message and remedy; oddities that do no harm become warnings.

mod beside;
pub(crate) mod gltf;
mod mtl;
mod obj;
mod ply;
mod polygon;
mod skin;
mod stl;
mod text;

#[cfg(test)]
mod tests;

pub use skin::{Paint, Skin};

use glam::DVec3;
use skin::Nearest;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest file (bytes).
pub const MOST_BYTES: u64 = 1 << 30;
/// Most vertices in a file, before welding.
pub const MOST_VERTICES: usize = 20_000_000;
/// Most triangles in a file.
pub const MOST_TRIANGLES: usize = 40_000_000;
/// In `MeshFile::welded_from`: this vertex belongs to no triangle and was dropped.
pub const LOOSE: u32 = u32::MAX;

/// A mesh as read from a file. Every node belongs to a triangle, and every triangle
/// has three different corners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// Position of every node, in the file's own unit.
    pub positions: Vec<DVec3>,
    /// Corners of every triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of every node; where a node has several, the first.
    pub texture_coordinates: Option<Vec<[f64; 2]>>,
    /// Nodes of every named group, object, solid, material or scene node, ascending.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Node of every vertex in the file, or [`LOOSE`].
    pub welded_from: Vec<u32>,
    /// The mesh as the file has it.
    pub original: Skin,
    /// What was odd but did no harm, in sentences.
    pub warnings: Vec<String>,
}

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No particular place.
    File,
    /// Line, from 1.
    Line(usize),
    /// Byte, from 0.
    Byte(usize),
}

/// Why a mesh file can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{place}: {message}: {remedy}", file.display())]
pub struct MeshError {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// Reads a mesh. The extension chooses the format, unless the content says otherwise.
/// `weld` makes one node of vertices whose positions agree to the last bit.
pub fn read_mesh(path: &Path, weld: bool) -> Result<MeshFile, MeshError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    read_bytes(path, MOST_BYTES).and_then(|bytes| parse(&bytes, extension, folder, weld)).map_err(|fault| {
        let Fault { place, message, remedy } = fault;
        MeshError { file: path.to_owned(), place, message, remedy }
    })
}

/// Stands for the bowl that the product brings along, as an obstacle.
pub const BOWL: &str = "built-in:bowl";

/// That bowl.
pub fn bowl() -> Result<MeshFile, MeshError> {
    let text = include_bytes!("../../../../scenes/bowl.obj");
    parse(text, "obj", Path::new("."), true).map_err(|fault| {
        let Fault { place, message, remedy } = fault;
        MeshError { file: BOWL.into(), place, message, remedy }
    })
}

/// A `MeshError` that does not know its file yet.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

pub(crate) fn fault(place: Place, message: impl Into<String>, remedy: impl Into<String>) -> Fault {
    Fault { place, message: message.into(), remedy: remedy.into() }
}

/// The content of a file no longer than `most` (bytes).
pub(crate) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Fault> {
    let unreadable = |e: std::io::Error| {
        fault(Place::File, format!("the file can't be read ({e})"), "check its path and permissions")
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(fault(Place::File, "this is not a file", "give the path of a mesh file"));
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let too_long = || fault(Place::File, format!("the file is longer than {most} bytes"), "reduce the mesh");
    if about.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Obj,
    Ply,
    Stl,
    Gltf,
}

fn parse(bytes: &[u8], extension: &str, folder: &Path, weld: bool) -> Result<MeshFile, Fault> {
    let named = match extension.to_ascii_lowercase().as_str() {
        "obj" => Some(Format::Obj),
        "ply" => Some(Format::Ply),
        "stl" => Some(Format::Stl),
        "gltf" | "glb" => Some(Format::Gltf),
        _ => None,
    };
    let looks = sniff(bytes);
    let Some(format) = looks.or(named) else {
        let message = "this is none of the mesh formats OBJ, PLY, STL and glTF";
        return Err(fault(Place::File, message, "export the mesh as one of them"));
    };
    let mut raw = match format {
        Format::Obj => obj::read(bytes, folder),
        Format::Ply => ply::read(bytes),
        Format::Stl => stl::read(bytes),
        Format::Gltf => gltf::read(bytes, folder),
    }?;
    if named.is_some_and(|named| named != format) {
        raw.warnings.add(format!("the file's name ends in .{extension}, but it holds {format:?} and is read as such"));
    }
    raw.finish(weld)
}

/// The format that the content shows, where it shows one for sure.
fn sniff(bytes: &[u8]) -> Option<Format> {
    let text = bytes.trim_ascii_start();
    if bytes.starts_with(b"glTF") || text.starts_with(b"{") {
        return Some(Format::Gltf);
    }
    if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
        return Some(Format::Ply);
    }
    if stl::is_binary(bytes) || stl::is_text(bytes) {
        return Some(Format::Stl);
    }
    // The first statement of an OBJ file, past its comments.
    let first = text::lines(bytes).take(1000).find_map(|(_, line)| text::tokens(line).next())?;
    let statements: [&[u8]; 10] = [b"v", b"vt", b"vn", b"f", b"o", b"g", b"s", b"mtllib", b"usemtl", b"l"];
    statements.contains(&first).then_some(Format::Obj)
}

/// Warnings, the first few in full.
#[derive(Debug, Default)]
struct Warnings {
    sentences: Vec<String>,
    more: usize,
}

impl Warnings {
    fn add(&mut self, sentence: impl Into<String>) {
        match self.sentences.len() {
            0..20 => self.sentences.push(sentence.into()),
            _ => self.more += 1,
        }
    }
}

/// Vertices and triangles as a file has them; groups may repeat a vertex.
#[derive(Debug, Default)]
struct Raw {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Empty, or one for each vertex; where a vertex has several, the first.
    texture_coordinates: Vec<[f64; 2]>,
    /// Texture coordinates of corners, v upwards, where they are not those of vertices.
    corner_textures: Vec<[f64; 2]>,
    /// Of every triangle's corners, in `corner_textures`; empty where that is.
    triangle_textures: Vec<[u32; 3]>,
    /// `texture_coordinates` have v downwards.
    textures_point_down: bool,
    /// Materials, and that of every triangle; both empty where the file has none.
    paints: Vec<Paint>,
    triangle_paints: Vec<u32>,
    groups: BTreeMap<String, Vec<u32>>,
    warnings: Warnings,
}

impl Raw {
    /// Takes a vertex, unless it is one too many or not finite.
    fn add_vertex(&mut self, place: Place, position: [f64; 3]) -> Result<(), Fault> {
        check_vertices(place, self.positions.len() + 1)?;
        let position = DVec3::from_array(position);
        if !position.is_finite() {
            let message = format!("vertex {} (counted from 0) is not finite", self.positions.len());
            return Err(fault(place, message, "correct its coordinates"));
        }
        // Adding zero turns -0 into 0, which welding would tell apart.
        self.positions.push(position + DVec3::ZERO);
        Ok(())
    }

    fn finish(mut self, weld: bool) -> Result<MeshFile, Fault> {
        if (self.texture_coordinates.iter().chain(&self.corner_textures).flatten()).any(|t| !fits(*t)) {
            let all = self.texture_coordinates.iter_mut().chain(&mut self.corner_textures).flatten();
            all.filter(|t| !fits(**t)).for_each(|t| *t = 0.0);
            self.warnings.add("texture coordinates that are not finite are set to zero");
        }
        let mut original = self.skin();
        let Raw { positions, mut triangles, texture_coordinates, mut groups, mut warnings, .. } = self;
        let mut welded_from: Vec<u32> = (0..positions.len() as u32).collect();
        if weld {
            let mut first = HashMap::with_capacity(positions.len());
            for (vertex, position) in positions.iter().enumerate() {
                welded_from[vertex] = *first.entry(position.to_array().map(f64::to_bits)).or_insert(vertex as u32);
            }
        }
        let count = triangles.len();
        triangles.iter_mut().for_each(|triangle| *triangle = triangle.map(|v| welded_from[v as usize]));
        triangles.retain(different);
        if triangles.is_empty() {
            let message = "the mesh has no triangle with three different corners";
            return Err(fault(Place::File, message, "export it with at least one face"));
        }
        if triangles.len() < count {
            warnings.add(format!("{} triangles have a corner twice and are dropped", count - triangles.len()));
        }
        // Nodes in the order of their first vertex, those of no triangle left out.
        let mut node = vec![LOOSE; positions.len()];
        triangles.iter().flatten().for_each(|&vertex| node[vertex as usize] = 0);
        let kept: Vec<u32> = (0..positions.len() as u32).filter(|&vertex| node[vertex as usize] == 0).collect();
        kept.iter().enumerate().for_each(|(i, &vertex)| node[vertex as usize] = i as u32);
        triangles.iter_mut().for_each(|triangle| *triangle = triangle.map(|v| node[v as usize]));
        welded_from.iter_mut().for_each(|vertex| *vertex = node[*vertex as usize]);
        let node_positions: Vec<DVec3> = kept.iter().map(|&vertex| positions[vertex as usize]).collect();
        original.nodes = welded_from.clone();
        let loose = welded_from.iter().filter(|&&node| node == LOOSE).count();
        if loose > 0 {
            warnings.add(format!(
                "{loose} vertices belong to no triangle: they take no part, and go with the nearest node"
            ));
            let nearest = Nearest::new(&node_positions);
            for (node, &position) in original.nodes.iter_mut().zip(&positions).filter(|(node, _)| **node == LOOSE) {
                // There is a node: there is a triangle.
                *node = nearest.of(position).unwrap_or(0);
            }
        }
        original.positions = positions;
        for group in groups.values_mut() {
            group.iter_mut().for_each(|vertex| *vertex = welded_from[*vertex as usize]);
            group.retain(|&node| node != LOOSE);
            group.sort_unstable();
            group.dedup();
        }
        groups.retain(|_, group| !group.is_empty());
        if warnings.more > 0 {
            warnings.sentences.push(format!("and {} more like these", warnings.more));
        }
        Ok(MeshFile {
            positions: node_positions,
            triangles,
            texture_coordinates: (!texture_coordinates.is_empty())
                .then(|| kept.iter().map(|&vertex| texture_coordinates[vertex as usize]).collect()),
            groups,
            welded_from,
            original,
            warnings: warnings.sentences,
        })
    }

    /// The mesh as it is, but for triangles that name a vertex twice; positions and nodes follow.
    fn skin(&self) -> Skin {
        let named: Vec<usize> = (0..self.triangles.len()).filter(|&t| different(&self.triangles[t])).collect();
        let uvs = if self.triangle_textures.is_empty() { &self.texture_coordinates } else { &self.corner_textures };
        let mut skin = Skin {
            triangles: named.iter().map(|&t| self.triangles[t]).collect(),
            uvs: uvs.iter().map(|uv| uv.map(|t| t as f32)).collect(),
            triangle_uvs: named.iter().filter_map(|&t| self.triangle_textures.get(t).copied()).collect(),
            paints: self.paints.clone(),
            triangle_paints: named.iter().filter_map(|&t| self.triangle_paints.get(t).copied()).collect(),
            ..Skin::default()
        };
        if self.textures_point_down {
            skin.uvs.iter_mut().for_each(|[_, v]| *v = 1.0 - *v);
        }
        skin.drop_unused_paints();
        skin
    }
}

/// Whether a texture coordinate is finite in the width that outputs have.
fn fits(coordinate: f64) -> bool {
    (coordinate as f32).is_finite()
}

fn different(&[a, b, c]: &[u32; 3]) -> bool {
    a != b && b != c && c != a
}

fn check_vertices(place: Place, count: usize) -> Result<(), Fault> {
    if count <= MOST_VERTICES {
        return Ok(());
    }
    Err(fault(place, format!("{count} vertices are too many"), format!("reduce the mesh to {MOST_VERTICES}")))
}

fn check_triangles(place: Place, count: usize) -> Result<(), Fault> {
    if count <= MOST_TRIANGLES {
        return Ok(());
    }
    Err(fault(place, format!("{count} triangles are too many"), format!("reduce the mesh to {MOST_TRIANGLES}")))
}
