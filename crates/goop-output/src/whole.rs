//! Files written whole or not at all.
//!
//! ```text
//! .name.part in the same folder ─write, flush, fsync▶ rename to name
//! ```
//! A rename within a folder is one act for the file system: whoever opens `name` sees
//! the old file or the new one, never half of it. On any failure the part is removed.
//! A part left behind by a killed process is overwritten by the next write.

use crate::error::OutputError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Ending of a file that is not finished.
pub(crate) const PART: &str = ".part";

/// Writes these bytes.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_with(path, |out| out.write_all(bytes))
}

/// Writes a value as indented JSON with a newline at the end.
pub fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> Result<(), OutputError> {
    write(path, &json(path, value)?)
}

/// What [`write_json`] would write to this file.
pub(crate) fn json<T: serde::Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, OutputError> {
    let mut text =
        serde_json::to_vec_pretty(value).map_err(|cause| OutputError::Json { path: path.to_path_buf(), cause })?;
    text.push(b'\n');
    Ok(text)
}

/// Writes what `fill` puts out, through a buffer, so that large files need no copy in memory.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
    let part = Part { path: part_of(path), renamed: false };
    part.write_and_rename(path, fill).map_err(|cause| OutputError::file("write", path, cause))
}

/// Creates a folder and those above it; one that is there already is fine.
pub fn make_folder(path: &Path) -> Result<(), OutputError> {
    fs::create_dir_all(path).map_err(|cause| OutputError::file("create the folder", path, cause))
}

/// The file under its temporary name; removed on drop unless it got its real one.
struct Part {
    path: PathBuf,
    renamed: bool,
}

impl Part {
    fn write_and_rename(
        mut self,
        target: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, self.open()?);
        fill(&mut out)?;
        let file = out.into_inner().map_err(|fault| fault.into_error())?;
        file.sync_all()?;
        drop(file); // some systems rename only closed files
        fs::rename(&self.path, target)?;
        self.renamed = true;
        Ok(())
    }

    /// Never through what stands there already, which may be a link to elsewhere.
    fn open(&self) -> io::Result<File> {
        match fs::remove_file(&self.path) {
            Err(fault) if fault.kind() != ErrorKind::NotFound => Err(fault),
            _ => OpenOptions::new().write(true).create_new(true).open(&self.path),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.renamed {
            // The failure that led here is what gets reported; there may be no part yet.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(PART);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Catches appending to, or leaving, the old file.
    #[test]
    fn a_second_write_replaces_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"a long first text").unwrap();
        write(&path, b"short").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"short");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    /// Catches writing in place: the old contents must survive a writer that gives up half way.
    #[test]
    fn a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"old").unwrap();
        let fault = write_with(&path, |out| {
            out.write_all(&[b'x'; 200_000])?;
            Err(io::Error::from(ErrorKind::StorageFull))
        });
        let message = fault.unwrap_err().to_string();
        assert!(message.contains("a.txt") && message.contains("free some space"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    /// Catches a temporary that stays behind when the last act, the rename, fails.
    #[test]
    fn a_folder_at_the_target_is_reported_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        let message = write(&path, b"text").unwrap_err().to_string();
        assert!(message.contains("taken") && message.contains("move it away"), "{message}");
        assert_eq!(names_in(folder.path()), ["taken"]);
        assert!(path.is_dir());
    }

    /// Catches a part left by a killed process blocking every later write.
    #[test]
    fn a_stale_part_does_not_stand_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".a.txt.part"), b"half").unwrap();
        write(&folder.path().join("a.txt"), b"new").unwrap();
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    /// Catches an error without a way out.
    #[test]
    fn a_missing_folder_is_named_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let message = write(&folder.path().join("gone/a.txt"), b"text").unwrap_err().to_string();
        assert!(message.contains("gone") && message.contains("create it"), "{message}");
    }
}
