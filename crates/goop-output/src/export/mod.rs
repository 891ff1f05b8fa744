//! A run's cache into the files of other programs.
//!
//! ```text
//! run folder ─CacheReader▶ pc2 mdd        a body: mesh at rest + cache
//!                          obj ply vtu    a body a frame, the last with a .pvd for all
//!                          glb usda usdc  everything in one file
//! ```
//! Nothing is simulated again. Frame k of the run is scene frame k and time k / fps in
//! every format. Coordinates are metres, Y up, as in the run.

pub(crate) mod base64;
mod glb;
mod keyframes;
mod mdd;
mod obj;
mod pc2;
pub(crate) mod ply;
#[cfg(test)]
mod tests;
mod usd;
mod usda;
mod usdc;
mod vtu;

use crate::cache::{CacheReader, CachedBody, write_material_library, write_obj};
use crate::error::OutputError;
use crate::names::file_names;
use crate::whole;
use serde::Deserialize;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Above this (bytes) a GLB is reduced.
pub const LARGEST_GLB: u64 = 50_000_000;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PointCache2, with the mesh as OBJ.
    Pc2,
    /// MDD point cache, with the mesh as OBJ.
    Mdd,
    /// An OBJ a body a frame.
    Obj,
    /// A binary PLY a body a frame.
    Ply,
    /// Binary glTF with a morph target a keyframe.
    Glb,
    /// USD as text.
    Usda,
    /// USD as a binary crate.
    Usdc,
    /// VTU a body a frame, with a PVD over all.
    Vtu,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 8] =
        [Format::Pc2, Format::Mdd, Format::Obj, Format::Ply, Format::Glb, Format::Usda, Format::Usdc, Format::Vtu];

    /// Name, which is also the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pc2 => "pc2",
            Format::Mdd => "mdd",
            Format::Obj => "obj",
            Format::Ply => "ply",
            Format::Glb => "glb",
            Format::Usda => "usda",
            Format::Usdc => "usdc",
            Format::Vtu => "vtu",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Files, in the order they were written.
    pub files: Vec<PathBuf>,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Largest distance (m) between a vertex and where it was in the run, at any frame,
    /// where frames were left out to keep the file small.
    pub reduced_error: Option<f64>,
}

/// Writes a run's motion in a format into the folder `out`, which is made if need be.
pub fn export(folder: impl AsRef<Path>, format: Format, out: impl AsRef<Path>) -> Result<Report, OutputError> {
    let (folder, out) = (folder.as_ref(), out.as_ref());
    let cache = CacheReader::open(folder)?;
    if cache.frames() == 0 {
        let remedy = "let the run reach its first frame";
        return Err(OutputError::bad(&folder.join("cache"), "no body has a whole frame", remedy));
    }
    whole::make_folder(out)?;
    let mut export = Export { cache: &cache, out, scene: scene_name(folder), report: Report::default() };
    match format {
        Format::Pc2 => pc2::write(&mut export)?,
        Format::Mdd => mdd::write(&mut export)?,
        Format::Obj => obj::write(&mut export)?,
        Format::Ply => ply::write(&mut export)?,
        Format::Glb => glb::write(&mut export, LARGEST_GLB)?,
        Format::Usda => usda::write(&mut export)?,
        Format::Usdc => usdc::write(&mut export)?,
        Format::Vtu => vtu::write(&mut export)?,
    }
    Ok(export.report)
}

/// An export under way.
struct Export<'a> {
    cache: &'a CacheReader,
    out: &'a Path,
    /// Name for files that hold the whole scene.
    scene: String,
    report: Report,
}

impl<'a> Export<'a> {
    /// Writes a file below the folder, whole or not at all, and counts it. A fault of the
    /// cache found on the way comes out as itself.
    fn file(&mut self, name: &str, fill: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<(), OutputError> {
        let path = self.out.join(name);
        let mut fault = None;
        let written = whole::write_with(&path, |out| {
            fill(out).map_err(|stop| match stop {
                Stop::Write(cause) => cause,
                Stop::Read(cause) => {
                    fault = Some(cause);
                    io::Error::other("the cache cannot be read")
                }
            })
        });
        fault.map_or(written, Err)?;
        self.report.bytes += fs::metadata(&path).map_err(|cause| OutputError::file("measure", &path, cause))?.len();
        self.report.files.push(path);
        Ok(())
    }

    /// The mesh of a body at rest as OBJ, with its materials.
    fn rest_obj(&mut self, body: &CachedBody) -> Result<(), OutputError> {
        let library = self.material_library(body, "")?;
        let fill = |out: &mut dyn Write| Ok(write_obj(out, &body.rest, &body.rest.positions, library.as_deref())?);
        self.file(&format!("{}.obj", body.file_name), fill)
    }

    /// The materials of a body as MTL in a folder, where it has any; gives the name.
    fn material_library(&mut self, body: &CachedBody, folder: &str) -> Result<Option<String>, OutputError> {
        if body.rest.materials.is_empty() {
            return Ok(None);
        }
        let name = format!("{}.mtl", body.file_name);
        self.file(&format!("{folder}{name}"), |out| Ok(write_material_library(out, &body.rest.materials)?))?;
        Ok(Some(name))
    }

    /// A folder for the frames of a body, as a prefix of names in it.
    fn frames_folder(&mut self, body: &CachedBody) -> Result<String, OutputError> {
        whole::make_folder(&self.out.join(&body.file_name))?;
        Ok(format!("{}/", body.file_name))
    }

    /// Name of a frame's file, by the number it had in the run.
    fn frame_name(&self, body: &CachedBody, frame: usize, ending: &str) -> String {
        format!("{0}/{0}.{1:04}.{ending}", body.file_name, self.cache.first_frame() + frame)
    }

    /// Time of a frame (s).
    fn time(&self, frame: usize) -> f64 {
        (self.cache.first_frame() + frame) as f64 / self.cache.fps()
    }
}

/// Why a file was not finished.
enum Stop {
    Write(io::Error),
    Read(OutputError),
}

impl From<io::Error> for Stop {
    fn from(cause: io::Error) -> Stop {
        Stop::Write(cause)
    }
}

impl From<OutputError> for Stop {
    fn from(cause: OutputError) -> Stop {
        Stop::Read(cause)
    }
}

/// From the manifest, where there is one that names the scene.
fn scene_name(folder: &Path) -> String {
    #[derive(Deserialize)]
    struct Named {
        scene: String,
    }
    let read = fs::read(folder.join("manifest.json")).ok();
    let named = read.and_then(|bytes| serde_json::from_slice::<Named>(&bytes).ok());
    let name = named.map(|named| named.scene).filter(|name| !name.is_empty()).unwrap_or("scene".into());
    file_names(&[name]).remove(0)
}
