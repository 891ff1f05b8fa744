//! The page of `goop compare`: the same scene, several ways.
//!
//! ```text
//! Comparison ─figures▶ what to plot ─plot▶ SVG ─page▶ one HTML text
//! ```
//! The page needs nothing from outside and no script; its pictures are part of it. Only a
//! movie, where there is one, lies beside it. Colours come from a set that
//! people with any colour vision can tell apart, and every run also has its own dash
//! and marker.

mod axis;
mod figures;
mod number;
mod page;
mod palette;
mod pictures;
mod plot;

use goop::ledger::Row;

pub use page::render;
pub use pictures::{Instant, Panel, Panels};

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Name of the scene.
    pub scene: String,
    /// The runs, in the order of the page.
    pub runs: Vec<RunTrace>,
    /// How the finest run was made, in a sentence; distances are measured to it.
    pub reference: String,
    /// Remarks to print above the table, a paragraph each.
    pub notes: Vec<String>,
    /// The runs side by side at a few instants.
    pub pictures: Vec<Instant>,
    /// Name of a movie of the same in the folder of the page.
    pub movie: Option<String>,
}

/// One run of the scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunTrace {
    /// What tells it apart: "backward-euler, dt 5 ms".
    pub label: String,
    /// Time of every frame (s).
    pub times: Vec<f64>,
    /// Name of each probe and its position at every frame (m), Y up.
    pub probes: Vec<(String, Vec<[f64; 3]>)>,
    /// The scene's account at every frame.
    pub rows: Vec<Row>,
    /// Steps taken.
    pub steps: usize,
    /// Steps thrown away and taken again smaller.
    pub rejected_steps: usize,
    /// Wall clock per simulated second (s/s).
    pub wall_per_second: f64,
    /// Largest stable explicit step (s), where it is known.
    pub largest_stable_step: Option<f64>,
    /// Distance from the finest run at every frame (m).
    pub distance: Option<Vec<f64>>,
    /// Why the run stopped early, where it did.
    pub failed: Option<String>,
}
