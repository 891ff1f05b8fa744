//! `goop validate`: every known answer, computed and held against its reference.
//!
//! ```text
//! problem (scene + formulation + how to measure) ─levels▶ values ─▶ Row ─▶ terminal, JSON, HTML
//! ```
//! The scenes are the built-in ones named `known-…`, so that anybody can run and
//! render what is measured here.

mod heavy;
mod motion;
mod page;
mod problem;
mod rest;
mod tones;

use crate::End;
use crate::args::Validate;
use anyhow::Result;
pub use problem::set;
use problem::{Problem, Row};
use std::path::Path;
use std::time::Instant;

/// All problems, in the order of the page.
fn problems(gammas: &[f64]) -> Vec<Problem> {
    let mut list = heavy::problems(gammas);
    list.extend(rest::problems());
    list.extend(tones::problems());
    list.extend(motion::problems());
    list
}

/// `goop validate`
pub fn validate(args: &Validate) -> Result<End> {
    if let Some(&bad) = args.gamma.iter().find(|gamma| !(1e-3..=1e4).contains(*gamma)) {
        eprintln!("error: --gamma {bad} is not between 0.001 and 10000");
        return Ok(End::Wrong);
    }
    let gammas = if args.gamma.is_empty() { vec![1.0, 10.0, 100.0] } else { args.gamma.clone() };
    let chosen: Vec<Problem> = (problems(&gammas).into_iter())
        .filter(|p| args.only.as_ref().is_none_or(|only| p.title().contains(only.as_str())))
        .collect();
    if chosen.is_empty() {
        eprintln!("error: no row has that in its name; leave --only away to see them all");
        return Ok(End::Wrong);
    }
    let mut rows = Vec::new();
    for problem in &chosen {
        let start = Instant::now();
        let mut row = problem.run();
        row.seconds = start.elapsed().as_secs_f64();
        if !args.quiet && !args.json {
            println!("{}", row.line());
        }
        rows.push(row);
    }
    let failed = rows.iter().filter(|row| row.failed()).count();
    let path = args.output.clone().unwrap_or_else(|| Path::new("out").join("validate.html"));
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        goop_output::whole::make_folder(parent)?;
    }
    goop_output::whole::write(&path, page::render(&rows).as_bytes())?;
    if args.json {
        let list: Vec<serde_json::Value> = rows.iter().map(Row::json).collect();
        println!("{}", serde_json::json!({ "rows": list, "failed": failed, "page": path.display().to_string() }));
    } else if !args.quiet {
        let held = rows.iter().filter(|row| row.cannot.is_none()).count();
        println!("{} of {held} within their tolerance; the page is {}", held - failed, path.display());
    }
    Ok(if failed == 0 { End::Done } else { End::Failed })
}
