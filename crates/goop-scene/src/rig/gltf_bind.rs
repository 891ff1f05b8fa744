//! The bind pose of a glTF skin.
//!
//! A vertex p of a skinned mesh is shown at Σ w_j W_j B_j p: B_j the inverse bind matrix,
//! W_j the joint's place in the world; the node of the mesh plays no part (glTF 2.0,
//! 3.7.3.3). At the bind pose all W_j B_j are one matrix G, so the bind pose is
//! ```text
//! W_j(bind) = G B_j⁻¹,    x(bind) = G p
//! ```
//! The file does not state G. Where the nodes rest at the bind pose, any joint gives it;
//! else it is the place of the skeleton's parent or of the mesh, whichever is nearer to
//! what the first joint gives, if that is near; else what the first joint gives.

use super::gltf_tree::{Tree, sound};
use super::skeleton::{Skeleton, rotation_of};
use crate::mesh::gltf::accessor::Buffers;
use crate::mesh::{Fault, Place, fault};
use glam::{DAffine3, DMat3, DVec3};
use gltf::json;

/// Placements of a skeleton less apart than this are taken for one (see `apart`).
const NEAR: f64 = 0.5;

/// Where everything is at the bind pose.
pub(super) struct Bind {
    pub(super) world: Vec<DAffine3>,
    pub(super) is_bone: Vec<bool>,
    /// G of every skin in use, and its joints.
    pub(super) world_from_mesh: Vec<Option<DAffine3>>,
    pub(super) joints: Vec<Vec<usize>>,
}

impl Bind {
    pub(super) fn new(
        root: &json::Root,
        buffers: &Buffers,
        tree: &Tree,
        notes: &mut Vec<String>,
    ) -> Result<Bind, Fault> {
        let rest = tree.skeleton.rest_pose();
        let count = rest.len();
        let mut known: Vec<Option<DAffine3>> = vec![None; count];
        let skins = root.skins.len();
        let mut bind = Bind {
            world: Vec::new(),
            is_bone: vec![false; count],
            world_from_mesh: vec![None; skins],
            joints: vec![Vec::new(); skins],
        };
        for instance in &tree.instances {
            let own = tree.joint[instance.node];
            let Some(skin) = instance.skin else {
                own.into_iter().for_each(|joint| bind.is_bone[joint] = true);
                continue;
            };
            if bind.world_from_mesh[skin].is_some() {
                continue;
            }
            // All are in the tree, which wanted them.
            let joints: Vec<usize> =
                root.skins[skin].joints.iter().filter_map(|joint| tree.joint[joint.value()]).collect();
            let inverse = inverse_bind(root, buffers, skin, joints.len())?;
            let mesh = tree.world[instance.node];
            let given = choose(&tree.skeleton, &rest, &joints, &inverse, &known, mesh);
            if !sound(&given) {
                let message = format!("skin {skin} has a joint without size");
                return Err(fault(Place::File, message, "scale no joint to zero, and export the file again"));
            }
            for (&joint, inverse) in joints.iter().zip(&inverse) {
                known[joint].get_or_insert(given * inverse.inverse());
                bind.is_bone[joint] = true;
            }
            let size = size(&given, &inverse);
            let apart = |(&joint, inverse): (&usize, &DAffine3)| {
                known[joint].is_some_and(|place| apart(&(place * *inverse), &given, size) > 1e-2)
            };
            if joints.iter().zip(&inverse).any(apart) {
                notes.push(format!("skin {skin} was bound in another pose than the skins before it"));
            }
            bind.world_from_mesh[skin] = Some(given);
            bind.joints[skin] = joints;
        }
        // What no skin binds goes with its parent.
        for (i, joint) in tree.skeleton.joints.iter().enumerate() {
            let place = known[i].unwrap_or_else(|| match joint.parent {
                Some(parent) => bind.world[parent] * joint.rest.affine(),
                None => rest[i],
            });
            bind.world.push(place);
        }
        match bind.world.iter().position(|place| !sound(place)) {
            None => Ok(bind),
            Some(joint) => {
                let message = format!("joint '{}' has no size", tree.skeleton.joints[joint].name);
                Err(fault(Place::File, message, "scale no joint to zero, and export the file again"))
            }
        }
    }
}

/// G of a skin.
fn choose(
    skeleton: &Skeleton,
    rest: &[DAffine3],
    joints: &[usize],
    inverse: &[DAffine3],
    known: &[Option<DAffine3>],
    mesh: DAffine3,
) -> DAffine3 {
    // As the skins before bound the same joints.
    if let Some(place) = joints.iter().zip(inverse).find_map(|(&joint, inverse)| Some(known[joint]? * *inverse)) {
        return place;
    }
    // The joint nearest to the root.
    let first = (0..joints.len()).min_by_key(|&i| joints[i]).unwrap_or(0);
    let guess = rest[joints[first]] * inverse[first];
    let size = size(&guess, inverse);
    let differs = |(&joint, inverse): (&usize, &DAffine3)| apart(&(rest[joint] * *inverse), &guess, size) > 1e-3;
    if !joints.iter().zip(inverse).any(differs) {
        return guess;
    }
    let above = skeleton.joints[joints[first]].parent.map_or(DAffine3::IDENTITY, |parent| rest[parent]);
    let near = |a: &DAffine3| apart(a, &guess, size);
    let nearest = [above, mesh].into_iter().min_by(|a, b| near(a).total_cmp(&near(b)));
    nearest.filter(|place| near(place) < NEAR).unwrap_or(guess)
}

/// How far joints are from the first at the bind pose that G makes.
fn size(given: &DAffine3, inverse: &[DAffine3]) -> f64 {
    let place = |inverse: &DAffine3| (*given * inverse.inverse()).translation;
    let first = inverse.first().map(place).unwrap_or_default();
    inverse.iter().map(|inverse| place(inverse).distance(first)).fold(0.0, f64::max)
}

/// How much two placements of a skeleton differ: angle (rad), ratio of scales (its
/// logarithm) and distance over the skeleton's size, the largest.
fn apart(a: &DAffine3, b: &DAffine3, size: f64) -> f64 {
    let scale = |place: &DAffine3| place.matrix3.determinant().abs().cbrt();
    let (sa, sb) = (scale(a), scale(b));
    if !(sa > 0.0 && sb > 0.0) {
        return f64::INFINITY;
    }
    let angle = rotation_of(a).angle_between(rotation_of(b)).abs();
    let way = (a.translation - b.translation).length();
    // A single joint has no size: any distance counts as its own.
    let way = if way == 0.0 { 0.0 } else { way / size.max(1e-9 * way) };
    angle.max((sa / sb).ln().abs()).max(way)
}

fn inverse_bind(root: &json::Root, buffers: &Buffers, skin: usize, count: usize) -> Result<Vec<DAffine3>, Fault> {
    let Some(accessor) = root.skins[skin].inverse_bind_matrices else {
        return Ok(vec![DAffine3::IDENTITY; count]);
    };
    let broken = |what: &str| {
        fault(Place::File, format!("the inverse bind matrices of skin {skin} {what}"), "export the skin again")
    };
    if buffers.count(accessor.value()) < count {
        return Err(broken("are fewer than its joints"));
    }
    let matrices = buffers.vectors::<16>(accessor.value())?;
    let affine = |m: &[f64; 16]| {
        let column = |c: usize| DVec3::new(m[4 * c], m[4 * c + 1], m[4 * c + 2]);
        DAffine3::from_mat3_translation(DMat3::from_cols(column(0), column(1), column(2)), column(3))
    };
    let all: Vec<DAffine3> = matrices.iter().take(count).map(affine).collect();
    if all.iter().all(sound) { Ok(all) } else { Err(broken("can't be inverted")) }
}
