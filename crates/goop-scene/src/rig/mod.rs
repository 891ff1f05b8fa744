//! Skeletons and how they move: rigged meshes (glTF), motion capture (BVH), the way
//! from one to the other, and keyframed forces (text).
//!
//! ```text
//! .glb ─read_rig▶ Rig{Skeleton, bind, mesh, motions} ─┐
//! .bvh ─read_bvh▶ Bvh ─motion▶ Motion ─────────────────┴─retarget▶ Motion of the rig ─pose(t)▶ world_from_joint
//! ```
//! Plain data in metres, seconds, y up; no physics. Faults carry place, message and
//! remedy; what was guessed (units, up axis, names) is said in notes and can be told.

mod bvh;
mod bvh_guess;
mod bvh_motion;
mod bvh_text;
mod curve;
mod force_text;
mod frame;
mod gltf_animation;
mod gltf_bind;
mod gltf_skin;
mod gltf_tree;
mod mapping;
mod motion;
mod names;
mod retarget;
mod roles;
mod shape;
mod skeleton;

#[cfg(test)]
mod tests;

pub use bvh::{Bvh, BvhJoint, Channel, read_bvh};
pub use bvh_motion::{BvhMotion, BvhOptions, Up};
pub use curve::{Curve, Interpolation};
pub use force_text::{Carry, ForceScript, read_forces};
pub use gltf_skin::{Influences, Rig, RigOptions, read_rig};
pub use mapping::{Line, Mapping};
pub use motion::{FASTEST, Motion, Speed, Track};
pub use names::{Part, Side};
pub use retarget::{RetargetOptions, Retargeted, retarget};
pub use roles::{Role, roles};
pub use skeleton::{Joint, Segment, Skeleton, Transform};

use crate::mesh::{Fault, Place};
use std::path::{Path, PathBuf};

/// Why a rig, a motion or a force file can't be read or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{place}: {message}: {remedy}", file.display())]
pub struct RigError {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl RigError {
    fn new(file: &Path, fault: Fault) -> RigError {
        let Fault { place, message, remedy } = fault;
        RigError { file: file.to_owned(), place, message, remedy }
    }
}

/// Makes names differ by counting the later ones: `Chest`, `Chest#2`. Returns how many
/// were changed.
fn distinguish(joints: &mut [Joint]) -> usize {
    let mut used: std::collections::BTreeSet<String> = Default::default();
    let mut counts: std::collections::HashMap<String, usize> = Default::default();
    let mut changed = 0;
    for joint in joints {
        if used.insert(joint.name.clone()) {
            continue;
        }
        let count = counts.entry(joint.name.clone()).or_insert(1);
        loop {
            *count += 1;
            let name = format!("{}#{count}", joint.name);
            if used.insert(name.clone()) {
                joint.name = name;
                break;
            }
        }
        changed += 1;
    }
    changed
}
