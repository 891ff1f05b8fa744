//! `scene.toml` of a run folder: every default written out, and what it was read from.
//!
//! Mesh files are named as seen from the run folder, so that the scene can be run again
//! from there.

use crate::open::Opened;
use goop_scene::Scene;
use goop_scene::scene::{Edit, ObstacleShape, Shape};
use std::path::{Component, Path, PathBuf};

/// Every file that was read, named from the scene's folder, with the hash of its bytes.
pub fn inputs(opened: &Opened) -> impl Iterator<Item = (String, &str)> {
    let folder = &opened.loaded.folder;
    opened.loaded.inputs.iter().map(move |(path, hash)| {
        let name = path.strip_prefix(folder).unwrap_or(path);
        (slashes(name).replace(char::is_control, "?"), hash.as_str())
    })
}

/// The text of `scene.toml` in this folder, which must be there.
pub fn text(opened: &Opened, folder: &Path) -> String {
    let mut text = format!(
        "# Written by goop {} with every default filled in; to run it again: goop run scene.toml -o elsewhere\n\
         # It was read from these files (XXH3 of their bytes, 128 bits):\n",
        env!("CARGO_PKG_VERSION")
    );
    for (name, hash) in inputs(opened) {
        text += &format!("#   {hash}  {name}\n");
    }
    text + "\n" + &scene(opened, folder).to_toml()
}

/// The scene as it is saved in this folder, which must be there.
pub fn scene(opened: &Opened, folder: &Path) -> Scene {
    let mut scene = opened.loaded.scene.clone();
    for body in &mut scene.body {
        let of_shape = match &mut body.shape {
            Shape::Mesh { file, .. } | Shape::Character { file, .. } => Some(file),
            _ => None,
        };
        let of_motion = body.motion.as_mut().and_then(|motion| motion.file.as_mut());
        let drives =
            body.pin.iter_mut().map(|pin| &mut pin.drive).chain(body.bone.iter_mut().map(|bone| &mut bone.drive));
        let of_drives = drives.filter_map(|drive| drive.as_mut()?.file.as_mut());
        for file in of_shape.into_iter().chain(of_motion).chain(of_drives) {
            let there = opened.loaded.folder.join(&*file);
            if let (Ok(from), Ok(to)) = (folder.canonicalize(), there.canonicalize()) {
                *file = slashes(&way(&from, &to));
            }
        }
    }
    let added = scene.event.iter_mut().filter_map(|event| match &mut event.edit {
        Edit::Add(obstacle) => Some(obstacle),
        _ => None,
    });
    for obstacle in scene.obstacle.iter_mut().chain(added) {
        if let ObstacleShape::Mesh { file, .. } = &mut obstacle.shape {
            let there = opened.loaded.folder.join(&*file);
            if let (Ok(from), Ok(to)) = (folder.canonicalize(), there.canonicalize()) {
                *file = slashes(&way(&from, &to));
            }
        }
    }
    scene
}

/// The way from a folder to a file; the file itself where they have no root in common.
fn way(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return to.to_path_buf();
    }
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

fn slashes(path: &Path) -> String {
    if path.is_absolute() {
        return path.to_string_lossy().into_owned();
    }
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a way that starts from the wrong end or loses a step.
    #[test]
    fn a_way_goes_up_and_down_again() {
        let from = |a: &str, b: &str| slashes(&way(Path::new(a), Path::new(b)));
        assert_eq!(from("/films/out/run", "/films/meshes/cow.obj"), "../../meshes/cow.obj");
        assert_eq!(from("/films", "/films/cow.obj"), "cow.obj");
    }
}
