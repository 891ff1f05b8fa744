//! `rest/bodies.json`, names and headers: what sink and reader agree on.

use super::{CacheBody, Material};
use crate::error::OutputError;
use crate::names::file_names;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the layout.
pub const VERSION: u32 = 1;
/// Bytes before the first sample.
pub const HEADER: u64 = 32;
/// Where the header counts the samples.
pub const SAMPLES_AT: u64 = 28;
/// An index larger than this (bytes) is not ours, and is not read.
const LARGEST_INDEX: u64 = 1 << 30;

/// `rest/bodies.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    pub cache_version: u32,
    pub fps: f64,
    pub first_frame: usize,
    pub bodies: Vec<IndexBody>,
}

/// What the OBJ of a body has no place for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexBody {
    pub name: String,
    pub vertices: usize,
    pub triangles: usize,
    pub segments: usize,
    pub nodes: usize,
    /// Node of every vertex, unless vertex i is node i.
    pub vertex_nodes: Option<Vec<u32>>,
    pub radius: f32,
    pub materials: Vec<Material>,
}

impl Index {
    pub fn of(bodies: &[CacheBody], fps: f64, first_frame: usize) -> Index {
        let entry = |body: &CacheBody| IndexBody {
            name: body.rest.name.clone(),
            vertices: body.rest.positions.len(),
            triangles: body.rest.triangles.len(),
            segments: body.rest.segments.len(),
            nodes: body.node_count,
            vertex_nodes: body.nodes.clone(),
            radius: body.rest.radius,
            materials: body.rest.materials.clone(),
        };
        Index { cache_version: VERSION, fps, first_frame, bodies: bodies.iter().map(entry).collect() }
    }

    /// Name of every body's files, without ending.
    pub fn file_names(&self) -> Vec<String> {
        file_names(&self.bodies.iter().map(|body| &body.name).collect::<Vec<_>>())
    }

    pub fn read(folder: &Path) -> Result<Index, OutputError> {
        let path = index_path(folder);
        let remedy = "run the scene again, or give the folder of a run";
        let bytes = read_limited(&path, LARGEST_INDEX, remedy)?;
        let index: Index = serde_json::from_slice(&bytes)
            .map_err(|fault| OutputError::bad(&path, format!("it does not list bodies ({fault})"), remedy))?;
        if index.cache_version != VERSION {
            let what = format!("its layout has version {} and not {VERSION}", index.cache_version);
            return Err(OutputError::bad(&path, what, "use the goop that made it"));
        }
        if !(index.fps.is_finite() && index.fps > 0.0) {
            return Err(OutputError::bad(&path, format!("it has {} frames a second", index.fps), remedy));
        }
        Ok(index)
    }
}

impl IndexBody {
    /// Floats a node in a sample of the `.nodes` file.
    pub fn node_width(&self) -> u64 {
        if self.vertex_nodes.is_some() { 7 } else { 4 }
    }

    /// Bytes of a sample in the PC2.
    pub fn position_bytes(&self) -> u64 {
        (self.vertices as u64).saturating_mul(12)
    }

    /// Bytes of a sample in the `.nodes` file.
    pub fn node_bytes(&self) -> u64 {
        (self.nodes as u64).saturating_mul(4 * self.node_width())
    }
}

/// The two kinds of cache file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Positions,
    Nodes,
}

impl Kind {
    fn magic(self) -> &'static [u8; 12] {
        match self {
            Kind::Positions => b"POINTCACHE2\0",
            Kind::Nodes => b"GOOPNODES\0\0\0",
        }
    }

    pub fn path(self, folder: &Path, file_name: &str) -> PathBuf {
        let ending = if self == Kind::Positions { "pc2" } else { "nodes" };
        folder.join("cache").join(format!("{file_name}.{ending}"))
    }

    /// Counts fit: they were checked when the bodies were taken.
    pub fn header(self, points: usize, first_frame: usize, samples: usize) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..12].copy_from_slice(self.magic());
        bytes[12..16].copy_from_slice(&1i32.to_le_bytes());
        bytes[16..20].copy_from_slice(&(points as i32).to_le_bytes());
        bytes[20..24].copy_from_slice(&(first_frame as f32).to_le_bytes());
        bytes[24..28].copy_from_slice(&1f32.to_le_bytes());
        bytes[28..32].copy_from_slice(&(samples as i32).to_le_bytes());
        bytes
    }

    /// Fails unless the header is one of ours for as many points.
    pub fn check_header(self, path: &Path, header: &[u8; 32], points: usize) -> Result<(), OutputError> {
        let remedy = "run the scene again, or give the folder of a run";
        if &header[..12] != self.magic() || header[12..16] != 1i32.to_le_bytes() {
            return Err(OutputError::bad(path, "it does not begin as a cache of goop does", remedy));
        }
        let found = i32::from_le_bytes([header[16], header[17], header[18], header[19]]);
        if i64::from(found) != points as i64 {
            let what = format!("it has {found} points where rest/bodies.json has {points}");
            return Err(OutputError::bad(path, what, remedy));
        }
        Ok(())
    }
}

pub fn index_path(folder: &Path) -> PathBuf {
    folder.join("rest").join("bodies.json")
}

pub fn obj_path(folder: &Path, file_name: &str) -> PathBuf {
    folder.join("rest").join(format!("{file_name}.obj"))
}

/// The whole file, unless it is longer than `most` (bytes).
pub fn read_limited(path: &Path, most: u64, remedy: &'static str) -> Result<Vec<u8>, OutputError> {
    let about = fs::metadata(path).map_err(|cause| reading(path, cause))?;
    if !about.is_file() || about.len() > most {
        return Err(OutputError::bad(path, "it is not a file that goop would write", remedy));
    }
    fs::read(path).map_err(|cause| reading(path, cause))
}

/// A file that cannot be read: most often the folder is not that of a run.
pub fn reading(path: &Path, cause: io::Error) -> OutputError {
    if cause.kind() == io::ErrorKind::NotFound {
        let remedy = "give the folder of a run that kept its cache, or run the scene again";
        return OutputError::bad(path, "it is not there", remedy);
    }
    OutputError::file("read", path, cause)
}
