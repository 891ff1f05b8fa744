//! Reading a cache back, of a run that ended or was killed.

use super::index::{HEADER, Index, IndexBody, Kind, obj_path, read_limited, reading};
use super::obj::read_obj;
use super::{NO_NODE, RestMesh};
use crate::error::OutputError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A rest mesh larger than this (bytes) is not read.
const LARGEST_OBJ: u64 = 8 << 30;
const REMEDY: &str = "run the scene again, so that the cache is whole";

/// The motion of a run.
#[derive(Clone, Debug)]
pub struct CacheReader {
    folder: PathBuf,
    fps: f64,
    first_frame: usize,
    frames: usize,
    bodies: Vec<CachedBody>,
}

/// A body in a cache.
#[derive(Clone, Debug)]
pub struct CachedBody {
    /// What is drawn, at rest.
    pub rest: RestMesh,
    /// Name of its files, without ending.
    pub file_name: String,
    entry: IndexBody,
}

/// All nodes of a body at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFrame {
    /// Positions (m).
    pub positions: Vec<[f32; 3]>,
    /// Velocities (m/s).
    pub velocities: Vec<[f32; 3]>,
    /// Largest relative change of length (0 at rest).
    pub stretch: Vec<f32>,
}

impl CachedBody {
    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.entry.nodes
    }

    /// Node of a vertex; none where it belongs to no node and stays at rest.
    pub fn node_of(&self, vertex: usize) -> Option<usize> {
        match &self.entry.vertex_nodes {
            None => (vertex < self.entry.nodes).then_some(vertex),
            Some(nodes) => nodes.get(vertex).filter(|&&node| node != NO_NODE).map(|&node| node as usize),
        }
    }
}

impl CacheReader {
    /// Reads rest meshes and counts frames; the frames themselves are read when asked for.
    pub fn open(folder: impl AsRef<Path>) -> Result<CacheReader, OutputError> {
        let folder = folder.as_ref();
        let index = Index::read(folder)?;
        let mut frames = u64::MAX;
        let mut bodies = Vec::with_capacity(index.bodies.len());
        for (entry, file_name) in index.bodies.iter().zip(index.file_names()) {
            let counts = [
                (Kind::Positions, entry.vertices, entry.position_bytes()),
                (Kind::Nodes, entry.nodes, entry.node_bytes()),
            ];
            for (kind, points, sample_bytes) in counts {
                frames = frames.min(samples(&kind.path(folder, &file_name), kind, points, sample_bytes)?);
            }
            let rest = read_rest(&obj_path(folder, &file_name), entry)?;
            bodies.push(CachedBody { rest, file_name, entry: entry.clone() });
        }
        let frames = if bodies.is_empty() { 0 } else { usize::try_from(frames).unwrap_or(usize::MAX) };
        let Index { fps, first_frame, .. } = index;
        Ok(CacheReader { folder: folder.to_path_buf(), fps, first_frame, frames, bodies })
    }

    /// The folder of the run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Frames a second (1/s).
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Number of the first frame.
    pub fn first_frame(&self) -> usize {
        self.first_frame
    }

    /// Whole frames there are, of all bodies.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Bodies in the order of the scene.
    pub fn bodies(&self) -> &[CachedBody] {
        &self.bodies
    }

    /// Pairs of nodes that springs of a body join; none where it has no springs.
    pub fn springs(&self, body: usize) -> Result<Vec<[u32; 2]>, OutputError> {
        let body = &self.bodies[body];
        super::springs::read(&self.folder, &body.file_name, body.entry.nodes)
    }

    /// Vertices of a body (m) at a frame, counted from 0 at the first one stored.
    pub fn positions(&self, body: usize, frame: usize) -> Result<Vec<[f32; 3]>, OutputError> {
        let entry = &self.bodies[body].entry;
        let path = Kind::Positions.path(&self.folder, &self.bodies[body].file_name);
        let values = floats(&path, entry.position_bytes(), frame)?;
        Ok(triples(&values))
    }

    /// All nodes of a body at a frame, counted from 0 at the first one stored.
    pub fn nodes(&self, body: usize, frame: usize) -> Result<NodeFrame, OutputError> {
        let entry = &self.bodies[body].entry;
        let path = Kind::Nodes.path(&self.folder, &self.bodies[body].file_name);
        let values = floats(&path, entry.node_bytes(), frame)?;
        let (moving, positions) = values.split_at(4 * entry.nodes);
        let positions = if entry.vertex_nodes.is_some() { triples(positions) } else { self.positions(body, frame)? };
        Ok(NodeFrame {
            positions,
            velocities: moving.chunks_exact(4).map(|node| [node[0], node[1], node[2]]).collect(),
            stretch: moving.chunks_exact(4).map(|node| node[3]).collect(),
        })
    }
}

/// Whole samples in a cache file, by its length.
fn samples(path: &Path, kind: Kind, points: usize, sample_bytes: u64) -> Result<u64, OutputError> {
    let mut file = File::open(path).map_err(|cause| reading(path, cause))?;
    let length = file.metadata().map_err(|cause| reading(path, cause))?.len();
    let mut header = [0; 32];
    if length < HEADER {
        return Err(OutputError::bad(path, format!("it is cut off after {length} bytes"), REMEDY));
    }
    file.read_exact(&mut header).map_err(|cause| reading(path, cause))?;
    kind.check_header(path, &header, points)?;
    if sample_bytes == 0 {
        return Err(OutputError::bad(path, "it has no points", REMEDY));
    }
    Ok((length - HEADER) / sample_bytes)
}

fn read_rest(path: &Path, entry: &IndexBody) -> Result<RestMesh, OutputError> {
    let bytes = read_limited(path, LARGEST_OBJ, REMEDY)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| OutputError::bad(path, "it is not text", REMEDY))?;
    let mut rest = RestMesh {
        name: entry.name.clone(),
        radius: entry.radius,
        materials: entry.materials.clone(),
        ..RestMesh::default()
    };
    read_obj(path, text, &mut rest)?;
    if rest.triangle_uvs == rest.triangles && rest.uvs.len() == rest.positions.len() {
        rest.triangle_uvs.clear();
    }
    if rest.triangle_materials.iter().all(|&material| material == 0) {
        rest.triangle_materials.clear();
    }
    let counts = [rest.positions.len(), rest.triangles.len(), rest.segments.len()];
    if counts != [entry.vertices, entry.triangles, entry.segments] || !text.ends_with('\n') {
        let what = format!("its {} vertices and their cells are not those that bodies.json lists", counts[0]);
        return Err(OutputError::bad(path, what, REMEDY));
    }
    let mapped = match &entry.vertex_nodes {
        None => entry.nodes == entry.vertices,
        Some(nodes) => {
            nodes.len() == entry.vertices && nodes.iter().all(|&n| n == NO_NODE || (n as usize) < entry.nodes)
        }
    };
    if !mapped {
        return Err(OutputError::bad(path, "bodies.json gives its vertices nodes that are not there", REMEDY));
    }
    match rest.check() {
        Ok(()) => Ok(rest),
        Err(fault) => Err(OutputError::bad(path, fault.to_string(), REMEDY)),
    }
}

/// One sample. Its size was held against the length of the file when the cache was opened.
fn floats(path: &Path, sample_bytes: u64, frame: usize) -> Result<Vec<f32>, OutputError> {
    let mut file = File::open(path).map_err(|cause| reading(path, cause))?;
    let (start, length) =
        (HEADER + sample_bytes * frame as u64, file.metadata().map_err(|cause| reading(path, cause))?.len());
    if start + sample_bytes > length {
        return Err(OutputError::bad(path, format!("it ends before frame {frame}"), REMEDY));
    }
    let mut bytes = vec![0; sample_bytes as usize];
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.read_exact(&mut bytes))
        .map_err(|cause| reading(path, cause))?;
    let values: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(values),
        false => Err(OutputError::bad(path, format!("frame {frame} has a value that is not finite"), REMEDY)),
    }
}

fn triples(values: &[f32]) -> Vec<[f32; 3]> {
    values.chunks_exact(3).map(|value| [value[0], value[1], value[2]]).collect()
}
