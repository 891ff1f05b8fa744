//! `goop dancer`: the built-in character and its dance as files for any program.

use crate::End;
use crate::args::Dancer;
use anyhow::Result;
use goop_scene::dancer;

/// Writes both files; existing ones are left alone.
pub fn dancer(args: &Dancer) -> Result<End> {
    let files = [("dancer.glb", dancer::glb()), ("dance.bvh", dancer::bvh().into_bytes())];
    for (name, _) in &files {
        let path = args.output.join(name);
        if path.exists() {
            eprintln!("error: {} exists already", path.display());
            eprintln!("  = help: choose another folder: goop dancer -o other");
            return Ok(End::Wrong);
        }
    }
    if let Err(cause) = std::fs::create_dir_all(&args.output) {
        eprintln!("error: {} can't be made ({cause})", args.output.display());
        eprintln!("  = help: choose another folder: goop dancer -o other");
        return Ok(End::Wrong);
    }
    for (name, bytes) in &files {
        let path = args.output.join(name);
        if let Err(error) = goop_output::whole::write(&path, bytes) {
            eprintln!("error: {error}");
            return Ok(End::Wrong);
        }
        println!("wrote {}", path.display());
    }
    Ok(End::Done)
}
