//! Frames to files: mesh sequences, tables, pictures, movies and comparison pages.
//!
//! ```text
//! Frame ─▶ Sink: PlySequence · ObjSequence · Stats · Probes · Centers · Marks · Forces
//! Frame ─▶ Cache: rest/ · cache/ ─CacheReader▶ export: pc2 mdd obj ply glb usda usdc vtu
//! Frame ─▶ Renderer ─▶ Image: PNG · Movie (MP4)
//! end of a run ─▶ RunFolder: manifest.json · timing.json
//! several runs ─▶ Comparison ─render▶ one HTML page
//! ```
//! Everything here reads a [`goop::frame::Frame`] or plain numbers; nothing sees the
//! world that made them. Every file is written [whole or not at all](whole), except
//! the tables and the cache, which grow by whole frames (see [`table`], [`cache`]).

pub mod bones;
pub mod cache;
pub mod centers;
pub mod compare;
pub mod error;
pub mod export;
pub mod forces;
pub mod image;
pub mod manifest;
pub mod marks;
pub mod movie;
pub mod names;
pub mod obj;
pub mod ply;
pub mod render;
pub mod run_folder;
pub mod sequence;
pub mod sink;
pub mod stats;
pub mod table;
pub mod whole;

pub use bones::{Bones, RestBone, RestBones, RestForm, StoredBones};
pub use cache::{Cache, CacheBody, CacheReader, CachedBody, Material, RestMesh};
pub use centers::{Centers, StoredCenters};
pub use compare::{Comparison, RunTrace, render};
pub use error::OutputError;
pub use export::{Format, Report, export};
pub use forces::{Forces, StoredForces};
pub use image::Image;
pub use manifest::{BodyEntry, Manifest, Status, Timing};
pub use marks::{Mark, Marks, StoredMarks};
pub use movie::Movie;
pub use obj::ObjSequence;
pub use ply::PlySequence;
pub use run_folder::RunFolder;
pub use sequence::BodyMesh;
pub use sink::Sink;
pub use stats::{Probes, Stats};
