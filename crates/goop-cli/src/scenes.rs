//! `goop scenes`, `goop new`, `goop schema`.

use crate::args::New;
use crate::{End, library};
use anyhow::Result;
use goop_scene::reader::nearest;
use std::io::Write;

fn unknown(name: &str) -> End {
    eprintln!("error: there is no built-in scene '{name}'");
    match nearest(name, library::SCENES.iter().map(|s| s.name)) {
        Some(near) => eprintln!("  = help: did you mean '{near}'? `goop scenes` lists them all"),
        None => eprintln!("  = help: `goop scenes` lists them all"),
    }
    End::Wrong
}

/// Lists the built-in scenes, or prints one.
pub fn scenes(name: Option<&str>) -> Result<End> {
    let mut out = std::io::stdout().lock();
    let Some(name) = name else {
        let width = library::SCENES.iter().map(|s| s.name.len()).max().unwrap_or(0);
        for scene in library::SCENES {
            writeln!(out, "{:width$}  {}", scene.name, library::title(scene))?;
        }
        return Ok(End::Done);
    };
    match library::find(name) {
        Some(scene) => {
            out.write_all(scene.text.as_bytes())?;
            Ok(End::Done)
        }
        None => Ok(unknown(name)),
    }
}

/// Writes a scene file to start from; an existing file is left alone.
pub fn new(args: &New) -> Result<End> {
    let name = args.from.as_deref().unwrap_or(library::SMALLEST);
    let Some(scene) = library::find(name) else { return Ok(unknown(name)) };
    if args.file.exists() {
        eprintln!("error: {} exists already", args.file.display());
        eprintln!("  = help: choose another name: goop new other.toml");
        return Ok(End::Wrong);
    }
    if let Err(error) = goop_output::whole::write(&args.file, scene.text.as_bytes()) {
        eprintln!("error: {error}");
        return Ok(End::Wrong);
    }
    println!("wrote {}; next: goop check {0}, goop run {0}", args.file.display());
    Ok(End::Done)
}

/// Prints the JSON schema of the scene file.
pub fn schema() -> Result<End> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &goop_scene::schema())?;
    writeln!(out)?;
    Ok(End::Done)
}
