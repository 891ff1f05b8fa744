//! Files that a mesh file names: they lie in its folder or below it, and nowhere else.

use std::path::{Component, Path, PathBuf};

/// The path of a file named in another; `None` where it leads out of the folder.
pub(super) fn beside(name: &str, folder: &Path) -> Option<PathBuf> {
    let relative = Path::new(name);
    let below = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !below || name.contains([':', '\\', '\0']) {
        return None;
    }
    let path = folder.join(relative);
    // A link may lead out of the folder.
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(inner), Ok(folder)) if !inner.starts_with(&folder) => None,
        _ => Some(path),
    }
}
