//! From the name of a scene to worlds that stand ready, and back to a file.

use super::{Pane, Session};
use crate::{Host, document};
use goop::World;
use goop::checkpoint::Checkpoint;
use goop_scene::scene::{Edit, Event, Formulation};
use goop_scene::{Built, Faults, Loaded, Scene};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Session {
    /// Whether the text differs from the file.
    pub fn edited(&self) -> bool {
        self.text != self.original || !self.recorded.is_empty()
    }

    /// The scene as edited, with what was recorded as events.
    pub fn whole_text(&self) -> Result<String, String> {
        if self.recorded.is_empty() && self.panes[0].world.state().steps == 0 {
            return Ok(self.text.clone());
        }
        let events: String = self.recorded.iter().map(|event| event.to_toml()).collect();
        let seconds = self.time();
        if seconds == 0.0 && self.recorded.is_empty() {
            return Ok(self.text.clone());
        }
        let seconds = if seconds > 0.0 { seconds } else { self.loaded.scene.clip.seconds };
        document::add_events(&self.text, &events, seconds)
            .ok_or_else(|| "the scene's events cannot be added to; write them as [[event]] tables".to_owned())
    }

    /// Writes the scene beside where it came from.
    pub(super) fn save(&mut self, file: &str, overwrite: bool) -> Result<String, String> {
        let name = plain_name(file)?;
        let folder = self.path.parent().unwrap_or(Path::new("")).to_path_buf();
        let path = folder.join(&name);
        if path.exists() && !overwrite {
            return Err(format!("{name} is there already; choose another name, or tick “overwrite”"));
        }
        let text = self.whole_text()?;
        Scene::load_edited(&text, &path).map_err(|faults| first(&faults))?;
        goop_output::whole::write(&path, text.as_bytes()).map_err(|error| error.to_string())?;
        let events = self.recorded.len();
        Ok(format!("saved {} ({events} recorded events, {:.3} s)", path.display(), self.time()))
    }
}

/// Reads, builds and starts a scene; with states, where it stood then.
pub(super) fn make(
    text: &str,
    path: &Path,
    recorded: &[Arc<Event>],
    compare: Option<Formulation>,
    states: &[Checkpoint],
) -> Result<(Loaded, Built, Vec<Pane>), String> {
    let mut loaded = Scene::load_edited(text, path).map_err(|faults| first(&faults))?;
    let own = loaded.scene.event.len();
    loaded.scene.event.extend(recorded.iter().map(|event| Event::clone(event)));
    let build = |scene: &Scene| {
        scene
            .build(&loaded.folder)
            .map_err(|f| f.first().map_or(String::new(), |f| format!("{}: {}; {}", f.path, f.message, f.hint)))
    };
    let built = build(&loaded.scene)?;
    let mut models = vec![built.model.clone()];
    if let Some(formulation) = compare {
        let mut scene = loaded.scene.clone();
        for body in &mut scene.body {
            body.formulation = Some(formulation);
            (body.elasticity, body.coordinates, body.integrator) = (None, None, None);
            body.without.clear();
            body.solver.by_parts = false;
        }
        scene.event.retain(|event| !matches!(event.edit, Edit::Formulation { .. }));
        models.push(build(&scene)?.model);
    }
    let mut panes = Vec::new();
    for (k, model) in models.into_iter().enumerate() {
        let mut world = World::new(model);
        let mut failure = None;
        match states.get(k) {
            Some(state) => world.resume(state.clone())?,
            None if loaded.scene.step.settle => failure = world.settle().err().map(|f| format!("while settling: {f}")),
            None => {}
        }
        panes.push(Pane { world, failure });
    }
    loaded.scene.event.truncate(own);
    Ok((loaded, built, panes))
}

/// The first fault as a sentence, with its place.
fn first(faults: &Faults) -> String {
    let more = if faults.0.len() > 1 { format!(" (and {} more)", faults.0.len() - 1) } else { String::new() };
    faults.0.first().map_or(String::new(), |f| {
        format!("{}:{}:{}: {}; {}{more}", f.place.file, f.place.line, f.place.column, f.message, f.hint)
    })
}

/// Scene files of a folder, by name.
pub(super) fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        (name.ends_with(".toml") && name != "Cargo.toml" && name != "rustfmt.toml" && entry.path().is_file())
            .then_some(name)
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).take(1000).collect();
    names.sort();
    names
}

/// A name of the list, to what stands behind it. The command line may name any file; a page
/// only names of the list, since what it sends is compared with them.
pub(super) fn find(host: &Host, folder: &Path, name: &str) -> Result<(String, PathBuf, String), String> {
    if let Some((name, _, text)) = host.scenes.iter().find(|(built_in, _, _)| *built_in == name) {
        return Ok(((*name).to_owned(), folder.join(format!("{name}.toml")), (*text).to_owned()));
    }
    if !files(folder).iter().any(|file| file == name) {
        return Err(format!("there is no scene '{}' here", name.chars().take(80).collect::<String>()));
    }
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((name.to_owned(), path, text))
}

/// A file name without folders.
fn plain_name(file: &str) -> Result<String, String> {
    let name = file.strip_suffix(".toml").unwrap_or(file);
    let good = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    if name.is_empty() || name.len() > 100 || !name.chars().all(good) {
        return Err("a file name has letters, digits, - and _, and no folders".into());
    }
    Ok(format!("{name}.toml"))
}
