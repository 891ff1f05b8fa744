//! Triangle meshes from files: OBJ, PLY, STL, glTF.
//!
//! A reader turns bytes into `Raw`: vertices and triangles as the file has them.
//! What all formats share happens here: limits, the choice of format, welding,
//! dropping what no surface needs (triangles with a corner twice, loose vertices).
//! Faults carry place, message and remedy; oddities that do no harm become warnings.

pub(crate) mod gltf;
mod obj;
mod ply;
mod polygon;
mod stl;
mod text;

#[cfg(test)]
mod tests;

use glam::DVec3;
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
        Format::Obj => obj::read(bytes),
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
    /// Empty, or one for each vertex.
    texture_coordinates: Vec<[f64; 2]>,
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

    fn finish(self, weld: bool) -> Result<MeshFile, Fault> {
        let Raw { positions, mut triangles, mut texture_coordinates, mut groups, mut warnings } = self;
        let mut welded_from: Vec<u32> = (0..positions.len() as u32).collect();
        if weld {
            let mut first = HashMap::with_capacity(positions.len());
            for (vertex, position) in positions.iter().enumerate() {
                welded_from[vertex] = *first.entry(position.to_array().map(f64::to_bits)).or_insert(vertex as u32);
            }
        }
        let count = triangles.len();
        triangles.iter_mut().for_each(|triangle| *triangle = triangle.map(|v| welded_from[v as usize]));
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
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
        let loose = welded_from.iter().filter(|&&node| node == LOOSE).count();
        if loose > 0 {
            warnings.add(format!("{loose} vertices belong to no triangle and are dropped"));
        }
        for group in groups.values_mut() {
            group.iter_mut().for_each(|vertex| *vertex = welded_from[*vertex as usize]);
            group.retain(|&node| node != LOOSE);
            group.sort_unstable();
            group.dedup();
        }
        groups.retain(|_, group| !group.is_empty());
        if texture_coordinates.iter().flatten().any(|t| !t.is_finite()) {
            texture_coordinates.iter_mut().flatten().filter(|t| !t.is_finite()).for_each(|t| *t = 0.0);
            warnings.add("texture coordinates that are not finite are set to zero");
        }
        if warnings.more > 0 {
            warnings.sentences.push(format!("and {} more like these", warnings.more));
        }
        Ok(MeshFile {
            positions: kept.iter().map(|&vertex| positions[vertex as usize]).collect(),
            triangles,
            texture_coordinates: (!texture_coordinates.is_empty())
                .then(|| kept.iter().map(|&vertex| texture_coordinates[vertex as usize]).collect()),
            groups,
            welded_from,
            warnings: warnings.sentences,
        })
    }
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
