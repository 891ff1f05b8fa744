//! What a run says about itself: `manifest.json`, the same bytes for the same run, and
//! `timing.json`, everything that depends on the clock or the machine.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The mark by which we know our own folders.
pub(crate) const MADE_BY: &str = "goop";

/// How a run ended, or that it has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Still going, or killed.
    #[default]
    Running,
    /// Came to its end.
    Done,
    /// The simulation could not go on.
    Failed,
    /// Stopped by the user after a whole frame.
    Interrupted,
}

/// A body as the manifest lists it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyEntry {
    /// Name in the scene.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Mass (kg).
    pub mass: f64,
}

/// `manifest.json`: nothing in it depends on the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always "goop": by this we know our own folders.
    pub made_by: String,
    /// Version of this file's layout.
    pub manifest_version: u32,
    /// Version of goop.
    pub goop_version: String,
    /// How the run stands.
    pub status: Status,
    /// Why it failed, where it did.
    pub message: Option<String>,
    /// Name of the scene.
    pub scene: String,
    /// Format of the frames: "ply" or "obj".
    pub format: String,
    /// Frames written.
    pub frames: usize,
    /// Frames per second of the clip (1/s).
    pub fps: f64,
    /// Length of the clip (s).
    pub seconds: f64,
    /// Bodies in the order of the frames.
    pub bodies: Vec<BodyEntry>,
    /// Hash of every file read, by its name.
    pub input_hashes: BTreeMap<String, String>,
    /// Hash of the final state.
    pub state_hash: Option<String>,
}

impl Default for Manifest {
    fn default() -> Manifest {
        Manifest {
            made_by: MADE_BY.into(),
            manifest_version: 1,
            goop_version: env!("CARGO_PKG_VERSION").into(),
            status: Status::Running,
            message: None,
            scene: String::new(),
            format: String::new(),
            frames: 0,
            fps: 0.0,
            seconds: 0.0,
            bodies: Vec::new(),
            input_hashes: BTreeMap::new(),
            state_hash: None,
        }
    }
}

/// `timing.json`: everything that differs from one run of a scene to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Start, since 1970 (s).
    pub started_unix_seconds: f64,
    /// From start to end (s).
    pub wall_seconds: f64,
    /// The part spent on writing files (s).
    pub output_seconds: f64,
    /// From the end of the simulation to the end of the movie (s), not in `wall_seconds`.
    #[serde(default)]
    pub movie_seconds: f64,
    /// Simulated (s).
    pub sim_seconds: f64,
    /// Wall clock per simulated second.
    pub seconds_per_second: f64,
    /// Threads used.
    pub threads: usize,
    /// Time for each frame, steps and output together (s).
    pub frame_seconds: Vec<f64>,
}
