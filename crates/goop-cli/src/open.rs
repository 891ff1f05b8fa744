//! Opening a scene: a file or a built-in name, changed by `--set`, built into a
//! world. All that is wrong with it is said at once.

use crate::args::SceneArgs;
use crate::library;
use goop::World;
use goop_scene::{Built, Fault, Faults, Loaded, Scene};
use std::path::Path;

/// A scene ready to run.
pub struct Opened {
    /// What the text said.
    pub loaded: Loaded,
    /// The model and resolved selections.
    pub built: Built,
    /// Name for folders and listings.
    pub name: String,
}

/// Reads and builds.
pub fn open(args: &SceneArgs) -> Result<Opened, Faults> {
    let loaded = load(&args.scene, &args.set)?;
    let built = loaded.build()?;
    let name = Path::new(&args.scene).file_stem().map_or("scene".into(), |n| n.to_string_lossy().into_owned());
    Ok(Opened { loaded, built, name })
}

/// Reads a scene file or a built-in scene. A file wins over a name.
pub fn load(scene: &str, sets: &[String]) -> Result<Loaded, Faults> {
    let path = Path::new(scene);
    if path.is_file() || path.extension().is_some() || scene.contains(['/', '\\']) {
        return Scene::load_with(path, sets);
    }
    match library::find(scene) {
        Some(entry) => Scene::load_text(entry.text, &format!("{}.toml", entry.name), sets, Path::new("")),
        None => {
            let names = library::SCENES.iter().map(|s| s.name);
            let hint = match goop_scene::reader::nearest(scene, names) {
                Some(near) => format!("did you mean '{near}'? `goop scenes` lists them all"),
                None => "give the path of a .toml file, or a name that `goop scenes` lists".to_owned(),
            };
            let place =
                goop_scene::Place { file: scene.to_owned(), line: 1, column: 1, span: 0..0, text: String::new() };
            let message = format!("there is no file and no built-in scene '{scene}'");
            Err(Faults(vec![Fault { place, path: String::new(), message, hint }]))
        }
    }
}

/// The world, settled where the scene asks for it.
pub fn world(opened: &Opened) -> Result<World, goop::Failure> {
    let mut world = World::new(opened.built.model.clone());
    if opened.loaded.scene.step.settle {
        world.settle()?;
    }
    Ok(world)
}

/// Sets the number of threads; only the first call counts.
pub fn use_threads(args: &SceneArgs) {
    if let Some(threads) = args.threads {
        // A pool that exists already keeps its size: harmless, results do not depend on it.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    }
}

/// Prints faults; with `json` also as one object.
pub fn refuse(faults: &Faults, json: bool) {
    eprint!("{faults}");
    if json {
        let list: Vec<serde_json::Value> = (faults.iter())
            .map(|f| {
                serde_json::json!({
                    "file": f.place.file, "line": f.place.line, "column": f.place.column,
                    "path": f.path, "message": f.message, "hint": f.hint,
                })
            })
            .collect();
        println!("{}", serde_json::json!({ "status": "wrong-input", "faults": list }));
    }
}
