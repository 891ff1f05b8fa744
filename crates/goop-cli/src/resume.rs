//! Checkpoints on disk: what a killed run leaves behind to go on from.
//!
//! ```text
//! checkpoint/state.bin   mark, hash of the rest, then frame, sinks' marks, figures, world (postcard)
//! ```
//! It is replaced as a whole, so a kill at any moment leaves the last one or the one
//! before. A folder of another scene or version is refused and the difference named.

use crate::open::Opened;
use crate::saved;
use crate::summary::Figures;
use goop::checkpoint::Checkpoint;
use goop_output::{Manifest, OutputError, whole};
use goop_scene::Scene;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

const MARK: &[u8; 16] = b"goop checkpoint\n";

/// Everything needed to go on.
#[derive(Serialize, Deserialize)]
pub struct Saved {
    /// The last frame that was written.
    pub frame: usize,
    /// Where each sink stood.
    pub marks: Vec<u64>,
    /// Running figures of the summary.
    pub figures: Figures,
    /// The world.
    pub world: Checkpoint,
}

/// Replaces the checkpoint of a run folder.
pub fn save(folder: &Path, saved: &Saved) -> Result<(), OutputError> {
    let path = folder.join("checkpoint");
    whole::make_folder(&path)?;
    whole::write_with(&path.join("state.bin"), |out| {
        let body = postcard::to_stdvec(saved).map_err(std::io::Error::other)?;
        out.write_all(MARK)?;
        out.write_all(&xxh3_128(&body).to_le_bytes())?;
        out.write_all(&body)
    })
}

/// The checkpoint of a run folder; `None` where the run had not come to one.
pub fn load(folder: &Path) -> Result<Option<Saved>, String> {
    let path = folder.join("checkpoint/state.bin");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let damaged = || format!("{} is damaged; run again without --resume", path.display());
    let body = bytes.strip_prefix(MARK).ok_or_else(damaged)?;
    let (hash, body) = body.split_first_chunk::<16>().ok_or_else(damaged)?;
    if xxh3_128(body).to_le_bytes() != *hash {
        return Err(damaged());
    }
    postcard::from_bytes(body).map(Some).map_err(|_| damaged())
}

/// Refuses to go on with a folder of another scene or version; says what differs.
pub fn check(folder: &Path, opened: &Opened, manifest: &Manifest) -> Result<(), String> {
    let remedy = "run again without --resume, or into another folder";
    let text = std::fs::read(folder.join("manifest.json")).map_err(|e| format!("cannot read manifest.json: {e}"))?;
    let old: Manifest =
        serde_json::from_slice(&text).map_err(|e| format!("manifest.json is damaged ({e}); {remedy}"))?;
    if old.goop_version != manifest.goop_version {
        let (was, is) = (&old.goop_version, &manifest.goop_version);
        return Err(format!("this folder was made by goop {was}, and this is {is}; {remedy}"));
    }
    if old.format != manifest.format {
        return Err(format!(
            "this folder has frames as {}, not {}; use --format {0} or {remedy}",
            old.format, manifest.format
        ));
    }
    let old_scene = std::fs::read_to_string(folder.join("scene.toml"))
        .ok()
        .and_then(|text| Scene::parse(&text, "scene.toml").ok())
        .ok_or_else(|| format!("scene.toml in this folder cannot be read; {remedy}"))?;
    let values =
        [&old_scene.0, &saved::scene(opened, folder)].map(|scene| serde_json::to_value(scene).unwrap_or_default());
    if let Some((key, was, is)) = difference(&values[0], &values[1], String::new()) {
        return Err(format!("this folder was made with {key} = {was}, and the scene has {is}; {remedy}"));
    }
    for (name, hash) in manifest.input_hashes.iter().filter(|(name, _)| !name.ends_with(".toml")) {
        if old.input_hashes.get(name) != Some(hash) {
            return Err(format!("the file {name} has changed since; {remedy}"));
        }
    }
    Ok(())
}

/// The first key in which two values differ, with both values.
fn difference(a: &Value, b: &Value, path: String) -> Option<(String, String, String)> {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        _ if a == b => None,
        (Value::Object(a), Value::Object(b)) => (a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))))
            .find_map(|k| difference(a.get(k).unwrap_or(&Value::Null), b.get(k).unwrap_or(&Value::Null), inner(k))),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && a.iter().all(Value::is_object) => {
            a.iter().zip(b).enumerate().find_map(|(k, (x, y))| difference(x, y, format!("{path}[{k}]")))
        }
        _ => {
            let short = |v: &Value| {
                let text = v.to_string();
                if text.chars().count() > 60 { text.chars().take(57).collect::<String>() + "…" } else { text }
            };
            Some((path, short(a), short(b)))
        }
    }
}
