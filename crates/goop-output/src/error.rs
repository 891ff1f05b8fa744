//! What can go wrong on the way to a file: where, what, and the way out.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A fault while writing a run.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file system refused.
    #[error("cannot {action} {}: {cause}; {remedy}", path.display())]
    File {
        /// What was tried, as a verb: "write", "create".
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system answered. Not a `source`, since the message holds it already.
        cause: io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The folder holds something that is not ours.
    #[error(
        "{} is not empty and was not made by goop; choose another folder or empty this one \
         (it holds {found:?})", path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// One entry found there.
        found: String,
    },
    /// A file stands where a folder is needed.
    #[error("{} is a file; a run needs a folder, so choose another name", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A frame does not match what the output was opened for.
    #[error("frame {frame} has {found} {what} where the output was opened for {expected}; open the outputs anew")]
    Mismatch {
        /// Number of the frame.
        frame: usize,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A triangle or segment names a node that the body does not have.
    #[error("body {body:?} draws node {index} but has only {nodes} nodes; its triangles belong to another shape")]
    NodeOutOfRange {
        /// The body.
        body: String,
        /// The node named.
        index: u32,
        /// Nodes there are.
        nodes: usize,
    },
    /// A file of a run is not what it should be.
    #[error("cannot use {}: {what}; {remedy}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A body that a format cannot hold.
    #[error("body {body:?} is not fit for a file: {what}; {remedy}")]
    BadBody {
        /// The body.
        body: String,
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A picture that nobody can want.
    #[error(
        "a picture of {width} x {height} pixels cannot be made; give at least 1 and at most 32768 a side and \
         67 million in all, say 1280 x 720"
    )]
    PictureSize {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The movie encoder or the MP4 writer refused.
    #[error("cannot make the movie {}: {cause}; {remedy}", path.display())]
    Movie {
        /// The file.
        path: PathBuf,
        /// What it said.
        cause: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A value could not be put into JSON.
    #[error("cannot put {} into JSON: {cause}", path.display())]
    Json {
        /// The file it was for.
        path: PathBuf,
        /// Why not.
        cause: serde_json::Error,
    },
}

impl OutputError {
    /// A refusal of the file system, with the remedy that fits it.
    pub fn file(action: &'static str, path: &Path, cause: io::Error) -> OutputError {
        let remedy = remedy(cause.kind());
        OutputError::File { action, path: path.to_path_buf(), cause, remedy }
    }

    /// Whether there is no room for a file, rather than something wrong with the request.
    pub fn is_full(&self) -> bool {
        let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
        matches!(self, OutputError::File { cause, .. } if full.contains(&cause.kind()))
    }

    /// A file of a run that is not what it should be.
    pub(crate) fn bad(path: &Path, what: impl Into<String>, remedy: &'static str) -> OutputError {
        OutputError::BadFile { path: path.to_path_buf(), what: what.into(), remedy }
    }

    /// A body that a format cannot hold.
    pub(crate) fn body(body: &str, what: impl Into<String>, remedy: &'static str) -> OutputError {
        OutputError::BadBody { body: body.into(), what: what.into(), remedy }
    }
}

fn remedy(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the disk is full: free some space, write fewer frames or choose a folder on another disk"
        }
        ErrorKind::PermissionDenied => "you may not write there: change its permissions or choose another folder",
        ErrorKind::ReadOnlyFilesystem => "that disk is read-only: choose a folder on another one",
        ErrorKind::NotFound => "its folder is missing, perhaps moved or removed: create it or choose another",
        ErrorKind::IsADirectory | ErrorKind::AlreadyExists => {
            "something else has that name: move it away or choose another folder"
        }
        ErrorKind::NotADirectory => "part of that path is a file: choose another folder",
        ErrorKind::InvalidFilename => "the name is too long or not allowed: use a shorter one",
        ErrorKind::FileTooLarge => {
            "files may not be so large there: raise the limit (ulimit -f), write fewer frames or choose another disk"
        }
        _ => "try again, or choose a folder on another disk",
    }
}
