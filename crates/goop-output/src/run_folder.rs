//! The folder of a run, and what it says about itself.
//!
//! ```text
//! manifest.json   what was run and how it ended; the same bytes for the same run
//! timing.json     everything that depends on the clock or the machine
//! stats.csv  probes.csv  centers.csv  marks.csv  forces.csv  bones.csv  frames/<body>/<body>.0000.<ending>
//! rest/  cache/   the motion, see [`crate::cache`]
//! ```
//! A folder is ours if its manifest says so. Old results in it are replaced; files
//! that are not ours stay, even in `frames`. Any other folder that is not empty is
//! refused.

use crate::error::OutputError;
use crate::manifest::{MADE_BY, Manifest, Timing};
use crate::whole;
use serde::Deserialize;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest.json";
const TIMING: &str = "timing.json";
/// A manifest larger than this (bytes) is not ours, and is not read.
const LARGEST_MANIFEST: u64 = 64 << 20;

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Takes a new folder, an empty one, or one of ours, whose old results go.
    ///
    /// Leaves a manifest that says "running", so that the folder is ours from the
    /// first moment; write the full one before the first frame.
    pub fn create(path: impl AsRef<Path>) -> Result<RunFolder, OutputError> {
        let path = path.as_ref();
        if path.is_file() {
            return Err(OutputError::NotAFolder { path: path.to_path_buf() });
        }
        whole::make_folder(path)?;
        let reading = |cause| OutputError::file("read", path, cause);
        if !is_ours(path).map_err(reading)?
            && let Some(found) = foreign_entry(path).map_err(reading)?
        {
            return Err(OutputError::Foreign { path: path.to_path_buf(), found });
        }
        let folder = RunFolder { path: path.to_path_buf() };
        // The old manifest goes last of the old, so that a kill in between leaves the folder ours.
        remove_old_results(path).map_err(|cause| OutputError::file("remove old results in", path, cause))?;
        folder.write_manifest(&Manifest::default())?;
        Ok(folder)
    }

    /// Takes a folder of ours to go on in it: results stay, parts of files that a killed
    /// run left are removed.
    pub fn resume(path: impl AsRef<Path>) -> Result<RunFolder, OutputError> {
        let path = path.as_ref();
        let reading = |cause| OutputError::file("read", path, cause);
        if !is_ours(path).map_err(reading)? {
            let found = foreign_entry(path).map_err(reading)?.unwrap_or_else(|| "nothing".into());
            return Err(OutputError::Foreign { path: path.to_path_buf(), found });
        }
        remove_parts(path, 4).map_err(|cause| OutputError::file("tidy", path, cause))?;
        Ok(RunFolder { path: path.to_path_buf() })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `manifest.json`, in place of an older one.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), OutputError> {
        whole::write_json(&self.path.join(MANIFEST), manifest)
    }

    /// Writes `timing.json`, in place of an older one.
    pub fn write_timing(&self, timing: &Timing) -> Result<(), OutputError> {
        whole::write_json(&self.path.join(TIMING), timing)
    }
}

fn is_ours(folder: &Path) -> io::Result<bool> {
    #[derive(Deserialize)]
    struct Mark {
        made_by: String,
    }
    let path = folder.join(MANIFEST);
    match fs::metadata(&path) {
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(false),
        Err(fault) => return Err(fault),
        Ok(data) if !data.is_file() || data.len() > LARGEST_MANIFEST => return Ok(false),
        Ok(_) => {}
    }
    Ok(serde_json::from_slice::<Mark>(&fs::read(&path)?).is_ok_and(|mark| mark.made_by == MADE_BY))
}

/// Anything but the part of a manifest that a killed run left.
fn foreign_entry(folder: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != format!(".{MANIFEST}{}", whole::PART) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn remove_old_results(folder: &Path) -> io::Result<()> {
    const TABLES: [&str; 6] = ["stats.csv", "probes.csv", "centers.csv", "marks.csv", "forces.csv", "bones.csv"];
    // First, so that a run killed before its own first checkpoint is not taken for the old one.
    remove_if_there(&folder.join("checkpoint/state.bin"))?;
    remove_if_empty(&folder.join("checkpoint"))?;
    for name in TABLES.into_iter().chain(["movie.mp4", TIMING]) {
        remove_if_there(&folder.join(name))?;
    }
    for name in TABLES.into_iter().chain([TIMING, MANIFEST]) {
        remove_if_there(&folder.join(format!(".{name}{}", whole::PART)))?;
    }
    remove_if_there(&folder.join("rest/bones.json"))?;
    crate::cache::remove_old(folder)?;
    remove_if_empty(&folder.join("rest"))?;
    remove_if_empty(&folder.join("cache"))?;
    let frames = folder.join("frames");
    if !frames.is_dir() || frames.is_symlink() {
        return Ok(());
    }
    for entry in fs::read_dir(&frames)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_frames(&entry.path(), &entry.file_name().to_string_lossy())?;
        }
    }
    remove_if_empty(&frames)
}

fn remove_frames(folder: &Path, body: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_frame(&entry.file_name().to_string_lossy(), body) {
            remove_if_there(&entry.path())?;
        }
    }
    remove_if_empty(folder)
}

/// `<body>.<digits>.ply` or `.obj`, or the part of one.
fn is_frame(name: &str, body: &str) -> bool {
    let name = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(whole::PART)).unwrap_or(name);
    let Some(rest) = name.strip_prefix(body).and_then(|rest| rest.strip_prefix('.')) else { return false };
    let Some((number, ending)) = rest.split_once('.') else { return false };
    number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()) && matches!(ending, "ply" | "obj")
}

/// Removes parts of files in a folder and those in it, down to a depth.
fn remove_parts(folder: &Path, depth: usize) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() && depth > 0 {
            remove_parts(&entry.path(), depth - 1)?;
        } else if name.starts_with('.') && name.ends_with(whole::PART) {
            remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(fault) if fault.kind() != ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    }
}

fn remove_if_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(fault) if !matches!(fault.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => Err(fault),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{BodyEntry, Status};
    use std::collections::BTreeMap;

    /// Catches a run that writes into, or clears, somebody else's folder.
    #[test]
    fn a_foreign_folder_is_refused_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "years").unwrap();
        let message = RunFolder::create(folder.path()).unwrap_err().to_string();
        assert!(message.contains("not made by goop") && message.contains("thesis.tex"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Catches taking any `manifest.json` (web pages have one too) for ours.
    #[test]
    fn a_manifest_of_something_else_does_not_make_a_folder_ours() {
        for text in ["{\"name\": \"an app\"}", "{\"made_by\": \"other\"}", "not json"] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(MANIFEST), text).unwrap();
            assert!(matches!(RunFolder::create(folder.path()), Err(OutputError::Foreign { .. })), "{text}");
        }
    }

    /// Catches old frames mixing with a shorter new run, and files of the user's being lost.
    #[test]
    fn our_own_folder_loses_its_old_results_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("deep/run");
        RunFolder::create(&root).unwrap();
        fs::create_dir_all(root.join("frames/sheet")).unwrap();
        fs::create_dir_all(root.join("frames/rope")).unwrap();
        for ours in ["frames/sheet/sheet.0000.ply", "frames/rope/rope.12345.obj", "frames/rope/.rope.0001.obj.part"] {
            fs::write(root.join(ours), "old").unwrap();
        }
        fs::create_dir_all(root.join("checkpoint")).unwrap();
        for ours in ["stats.csv", "probes.csv", "timing.json", ".timing.json.part", "checkpoint/state.bin"] {
            fs::write(root.join(ours), "old").unwrap();
        }
        for users in ["notes.md", "frames/sheet/render.blend", "frames/sheet/sheet.final.ply"] {
            fs::write(root.join(users), "mine").unwrap();
        }
        RunFolder::create(&root).unwrap();
        for gone in ["frames/sheet/sheet.0000.ply", "frames/rope", "stats.csv", "timing.json", "checkpoint"] {
            assert!(!root.join(gone).exists(), "{gone}");
        }
        assert!(!root.join(".timing.json.part").exists());
        for stays in ["notes.md", "frames/sheet/render.blend", "frames/sheet/sheet.final.ply"] {
            assert!(root.join(stays).exists(), "{stays}");
        }
    }

    /// Catches a file at the target being reported as a system fault.
    #[test]
    fn a_file_in_place_of_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        fs::write(&path, "text").unwrap();
        assert!(matches!(RunFolder::create(&path), Err(OutputError::NotAFolder { .. })));
    }

    /// Catches a manifest that cannot be read back, or whose status is spelt another way.
    #[test]
    fn a_manifest_reads_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let manifest = Manifest {
            status: Status::Interrupted,
            scene: "flag".into(),
            bodies: vec![BodyEntry { name: "sheet".into(), nodes: 400, mass: 0.25 }],
            input_hashes: BTreeMap::from([("flag.toml".to_string(), "00ff".to_string())]),
            state_hash: Some("abcd".into()),
            ..Manifest::default()
        };
        run.write_manifest(&manifest).unwrap();
        let text = fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
        assert!(text.contains("\"status\": \"interrupted\""), "{text}");
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
        run.write_timing(&Timing { threads: 2, ..Timing::default() }).unwrap();
    }
}
