//! `goop study`: claims of the papers that are curves rather than numbers, measured.
//!
//! ```text
//! stiffness   T4   ten decades of Young's modulus: hybrid and primal against the rigid body
//! shape       T4   rest shapes of growing complexity
//! stretchy    T5   a soft sheet, primal and hybrid
//! terms       T6   what each inertial term of the frame does
//! cubes       C8–C13   a cube on a skeleton, three models, against the predicted stable step
//! size        G9, S1   preparation and time per frame against the number of nodes
//! cost        C14      what a node costs in an iteration as a cube outgrows the caches
//! steps       C14, C15 the largest step that looks the same
//! ```
//! Each gives a table in the terminal, a page with plots, and JSON.

mod cost;
mod cubes;
mod page;
mod size;
mod steps;
mod stiffness;
mod stretchy;
mod terms;

use crate::End;
use crate::args::{Study, StudyName};
use anyhow::Result;
use goop::World;
use std::path::Path;

/// One measured line of numbers.
pub struct Line {
    /// What tells it apart.
    pub label: String,
    /// (across, up).
    pub points: Vec<(f64, f64)>,
}

/// A plot, both axes logarithmic or both not.
pub struct Plot {
    pub title: String,
    pub across: String,
    pub up: String,
    pub lines: Vec<Line>,
    pub linear: bool,
}

/// What a study found.
pub struct Found {
    pub title: String,
    /// A paragraph each.
    pub notes: Vec<String>,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub plots: Vec<Plot>,
}

/// `goop study`
pub fn study(args: &Study) -> Result<End> {
    let found = match args.name {
        StudyName::Stiffness => stiffness::decades(),
        StudyName::Shape => stiffness::shapes(),
        StudyName::Stretchy => stretchy::study(),
        StudyName::Terms => terms::study(),
        StudyName::Cubes => cubes::study(),
        StudyName::Size => size::study(args.largest),
        StudyName::Cost => cost::study(args.largest),
        StudyName::Steps => steps::study(args.nodes),
    };
    let found = match found {
        Ok(found) => found,
        Err(sentence) => {
            eprintln!("error: {sentence}");
            return Ok(End::Failed);
        }
    };
    let name = format!("study-{:?}.html", args.name).to_lowercase();
    let path = args.output.clone().unwrap_or_else(|| Path::new("out").join(name));
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        goop_output::whole::make_folder(parent)?;
    }
    goop_output::whole::write(&path, page::render(&found).as_bytes())?;
    if args.json {
        let page = path.display().to_string();
        let json =
            serde_json::json!({ "title": found.title, "columns": found.columns, "rows": found.rows, "page": page });
        println!("{json}");
    } else {
        print(&found);
        println!("the page is {}", path.display());
    }
    Ok(End::Done)
}

fn print(found: &Found) {
    println!("{}", found.title);
    let widths: Vec<usize> = (0..found.columns.len())
        .map(|c| found.rows.iter().map(|row| row[c].chars().count()).chain([found.columns[c].chars().count()]).max())
        .map(|width| width.unwrap_or(0))
        .collect();
    let line = |cells: &[String]| {
        cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect::<Vec<_>>().join("  ")
    };
    println!("{}", line(&found.columns));
    found.rows.iter().for_each(|row| println!("{}", line(row)));
    found.notes.iter().for_each(|note| println!("{note}"));
}

/// Steps until a time; the sentence of a failure.
fn play(world: &mut World, seconds: f64) -> Result<(), String> {
    while world.time() < seconds - 1e-9 {
        world.step().map_err(|failure| failure.to_string())?;
    }
    Ok(())
}

/// A number in few characters.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if (0.01..1e4).contains(&value.abs()) {
        format!("{value:.3}")
    } else {
        format!("{value:.1e}")
    }
}
