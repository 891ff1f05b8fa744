//! A rigged mesh from glTF: skeleton, skin at the bind pose, weights, animations.
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
//!
//! Vertices come primitive after primitive in the order of the nodes that show them, as
//! `read_mesh` has them before welding: texture coordinates and materials are found there.

use super::RigError;
use super::gltf_animation::motions;
use super::gltf_tree::{Tree, sound};
use super::motion::Motion;
use super::skeleton::{Skeleton, rotation_of};
use crate::mesh::gltf::accessor::Buffers;
use crate::mesh::gltf::buffer::buffers;
use crate::mesh::gltf::{document, label, primitive_shape};
use crate::mesh::{Fault, MOST_BYTES, MOST_VERTICES, Place, fault, read_bytes};
use glam::{DAffine3, DMat3, DVec3};
use gltf::json;
use json::mesh::{Primitive, Semantic};
use json::validation::Checked;
use std::path::Path;
use std::sync::Arc;

/// Most primitives shown.
const MOST_PRIMITIVES: usize = 100_000;
/// Most sets of four joints to a vertex.
const MOST_SETS: u32 = 8;
/// A file larger than this is taken for one in centimetres (m).
const LARGE: f64 = 10.0;

/// What a file may have wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigOptions {
    /// Length of the file's unit (m). `None`: 1, as glTF says, unless that makes the body
    /// larger than 10 m.
    pub unit: Option<f64>,
}

/// Which joints move each vertex, and how much.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// Where each vertex begins in the lists; one more than there are vertices.
    pub starts: Vec<u32>,
    /// Joints of the skeleton.
    pub joints: Vec<u32>,
    /// Weights, adding up to 1 for each vertex (-).
    pub weights: Vec<f64>,
}

impl Influences {
    /// Joints and weights of a vertex, heaviest first.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        self.joints[range.clone()].iter().map(|&joint| joint as usize).zip(self.weights[range].iter().copied())
    }
}

/// A mesh with bones.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    /// Joints, nodes that carry them, and nodes that show a mesh without a skin.
    pub skeleton: Arc<Skeleton>,
    /// Whether vertices go with a joint or could: a joint of a skin, or such a node.
    pub is_bone: Vec<bool>,
    /// `world_from_joint` at the bind pose (m).
    pub bind: Vec<DAffine3>,
    /// Vertices at the bind pose (m), in the file's order.
    pub positions: Vec<DVec3>,
    /// Corners of every triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Bones of every vertex.
    pub influences: Influences,
    /// The file's animations.
    pub motions: Vec<Motion>,
    /// Length that was taken as the file's unit (m).
    pub unit: f64,
    /// What was odd or guessed, in sentences.
    pub notes: Vec<String>,
}

/// Reads a rigged mesh from a glTF or GLB file.
pub fn read_rig(path: &Path, options: &RigOptions) -> Result<Rig, RigError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let rig = read_bytes(path, MOST_BYTES).and_then(|bytes| Rig::parse(&bytes, folder, options));
    rig.map_err(|fault| RigError::new(path, fault))
}

impl Rig {
    /// Reads the content of a file; buffers beside it lie in `folder`.
    pub(crate) fn parse(bytes: &[u8], folder: &Path, options: &RigOptions) -> Result<Rig, Fault> {
        let (root, blob) = document(bytes)?;
        if !root.asset.version.starts_with("2.") {
            let message = format!("this is version {} of glTF", root.asset.version);
            return Err(fault(Place::File, message, "export it as version 2.0"));
        }
        for name in &root.extensions_required {
            if matches!(name.as_str(), "KHR_draco_mesh_compression" | "EXT_meshopt_compression") {
                let message = format!("the mesh is compressed by {name}");
                return Err(fault(Place::File, message, "export it without compression"));
            }
        }
        let data = buffers(&root, blob, folder)?;
        let buffers = Buffers { root: &root, data: &data };
        let tree = Tree::new(&root)?;
        let mut notes = Vec::new();
        let bind = Bind::new(&root, &buffers, &tree, &mut notes)?;
        let mut rig = Rig {
            is_bone: bind.is_bone.clone(),
            bind: bind.world.clone(),
            positions: Vec::new(),
            triangles: Vec::new(),
            influences: Influences { starts: vec![0], ..Influences::default() },
            motions: Vec::new(),
            skeleton: Arc::new(tree.skeleton.clone()),
            unit: 1.0,
            notes,
        };
        let mut loose = 0;
        let mut shown = 0;
        for instance in &tree.instances {
            for (i, primitive) in instance.mesh.primitives.iter().enumerate() {
                shown += 1;
                if shown > MOST_PRIMITIVES {
                    return Err(fault(Place::File, "there are too many primitives", "join the meshes"));
                }
                let joint = tree.joint[instance.node];
                rig.add(&buffers, primitive, instance.skin, joint, &bind, &mut loose).map_err(|e| Fault {
                    message: format!("in primitive {i} of {}: {}", label(instance.mesh), e.message),
                    ..e
                })?;
            }
        }
        if rig.triangles.is_empty() {
            return Err(fault(Place::File, "the mesh has no triangles", "export it with its faces"));
        }
        if loose > 0 {
            rig.notes.push(format!("{loose} vertices have no weight: they go with the first joint of their skin"));
        }
        let morphs = |p: &Primitive| p.targets.as_ref().is_some_and(|targets| !targets.is_empty());
        if root.meshes.iter().flat_map(|mesh| &mesh.primitives).any(morphs) {
            rig.notes.push("morph targets are left aside".into());
        }
        rig.motions = motions(&root, &buffers, &rig.skeleton, &tree.joint, &mut rig.notes)?;
        if tree.instances.iter().all(|instance| instance.skin.is_none()) && rig.motions.is_empty() {
            let message = "the file has neither bones nor an animation of its nodes";
            return Err(fault(Place::File, message, "export it with its skin, or use it as a mesh without bones"));
        }
        rig.notes.dedup();
        rig.measure(options)?;
        Ok(rig)
    }

    fn add(
        &mut self,
        buffers: &Buffers,
        primitive: &Primitive,
        skin: Option<usize>,
        joint: Option<usize>,
        bind: &Bind,
        loose: &mut usize,
    ) -> Result<(), Fault> {
        let world = match (skin, joint) {
            (Some(skin), _) => bind.world_from_mesh[skin].unwrap_or_default(),
            (None, joint) => joint.map_or(DAffine3::IDENTITY, |joint| bind.world[joint]),
        };
        let (positions, triangles, notes) = primitive_shape(buffers, primitive, world)?;
        let first = self.positions.len() as u32;
        let count = positions.len();
        if self.positions.len() + count > MOST_VERTICES {
            return Err(fault(Place::File, "there are too many vertices", format!("reduce them to {MOST_VERTICES}")));
        }
        self.positions.extend(positions);
        self.triangles.extend(triangles.iter().map(|triangle| triangle.map(|corner| corner + first)));
        self.notes.extend(notes);
        let Some(skin) = skin else {
            // Wanted by the tree, since its node shows a mesh.
            for _ in 0..count {
                self.influences.joints.push(joint.unwrap_or(0) as u32);
                self.influences.weights.push(1.0);
                self.influences.starts.push(self.influences.joints.len() as u32);
            }
            return Ok(());
        };
        let sets = weight_sets(buffers, primitive, count)?;
        let joints = &bind.joints[skin];
        let mut own: Vec<(u32, f64)> = Vec::new();
        for vertex in 0..count {
            own.clear();
            for (set, weights) in &sets {
                for (&index, &weight) in set[vertex].iter().zip(&weights[vertex]) {
                    if !(weight > 0.0 && weight.is_finite()) {
                        continue;
                    }
                    let Some(&joint) = joints.get(index as usize) else {
                        let message =
                            format!("vertex {vertex} goes with joint {index}, but the skin has {}", joints.len());
                        return Err(fault(Place::File, message, "export the skin again"));
                    };
                    match own.iter_mut().find(|(known, _)| *known == joint as u32) {
                        Some((_, sum)) => *sum += weight,
                        None => own.push((joint as u32, weight)),
                    }
                }
            }
            if own.is_empty() {
                *loose += 1;
                own.push((joints[0] as u32, 1.0));
            }
            own.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let sum: f64 = own.iter().map(|(_, weight)| weight).sum();
            self.influences.joints.extend(own.iter().map(|(joint, _)| joint));
            self.influences.weights.extend(own.iter().map(|(_, weight)| weight / sum));
            self.influences.starts.push(self.influences.joints.len() as u32);
        }
        Ok(())
    }

    /// Settles the unit and applies it.
    fn measure(&mut self, options: &RigOptions) -> Result<(), Fault> {
        let low = self.positions.iter().copied().reduce(DVec3::min).unwrap_or_default();
        let high = self.positions.iter().copied().reduce(DVec3::max).unwrap_or_default();
        let size = (high - low).max_element();
        let unit = match options.unit {
            Some(unit) if unit.is_finite() && unit > 0.0 => unit,
            Some(unit) => {
                return Err(fault(Place::File, format!("the unit {unit} is no length"), "give metres for one unit"));
            }
            None if size > LARGE && size <= LARGE * 100.0 => {
                self.notes.push(format!("the body would be {size:.0} m large: its unit is taken as a centimetre"));
                0.01
            }
            None => 1.0,
        };
        self.unit = unit;
        if unit == 1.0 {
            return Ok(());
        }
        self.positions.iter_mut().for_each(|position| *position *= unit);
        self.bind.iter_mut().for_each(|place| place.translation *= unit);
        let mut skeleton = (*self.skeleton).clone();
        skeleton.joints.iter_mut().for_each(|joint| joint.rest.translation *= unit);
        self.skeleton = Arc::new(skeleton);
        for motion in &mut self.motions {
            motion.skeleton = self.skeleton.clone();
            motion.scaled(unit);
        }
        Ok(())
    }

    /// Vertices in a pose, blended linearly (m).
    pub fn skinned(&self, pose: &[DAffine3], out: &mut Vec<DVec3>) {
        let moved: Vec<DAffine3> = pose.iter().zip(&self.bind).map(|(now, bind)| *now * bind.inverse()).collect();
        out.clear();
        out.extend(self.positions.iter().enumerate().map(|(vertex, &position)| {
            self.influences
                .of(vertex)
                .map(|(joint, weight)| moved[joint].transform_point3(position) * weight)
                .sum::<DVec3>()
        }));
    }
}

type Set = (Vec<[u32; 4]>, Vec<[f64; 4]>);

/// JOINTS_n and WEIGHTS_n of a primitive.
fn weight_sets(buffers: &Buffers, primitive: &Primitive, count: usize) -> Result<Vec<Set>, Fault> {
    let attribute = |semantic| primitive.attributes.get(&Checked::Valid(semantic)).map(|accessor| accessor.value());
    let mut sets = Vec::new();
    for n in 0..MOST_SETS {
        let (Some(joints), Some(weights)) = (attribute(Semantic::Joints(n)), attribute(Semantic::Weights(n))) else {
            break;
        };
        if buffers.count(joints) < count || buffers.count(weights) < count {
            let message = format!("there are fewer joints or weights than the {count} vertices");
            return Err(fault(Place::File, message, "export the skin again"));
        }
        let joints = buffers.vectors::<4>(joints)?.iter().map(|set| set.map(|joint| joint as u32)).collect();
        sets.push((joints, buffers.vectors::<4>(weights)?));
    }
    if sets.is_empty() && count > 0 {
        return Err(fault(Place::File, "a skinned mesh has no weights", "export it with JOINTS_0 and WEIGHTS_0"));
    }
    Ok(sets)
}

/// Where everything is at the bind pose.
struct Bind {
    world: Vec<DAffine3>,
    is_bone: Vec<bool>,
    /// G of every skin in use, and its joints.
    world_from_mesh: Vec<Option<DAffine3>>,
    joints: Vec<Vec<usize>>,
}

impl Bind {
    fn new(root: &json::Root, buffers: &Buffers, tree: &Tree, notes: &mut Vec<String>) -> Result<Bind, Fault> {
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
            let apart = |(&joint, inverse): (&usize, &DAffine3)| {
                known[joint].is_some_and(|place| apart(&(place * *inverse), &given) > 1e-2)
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
    let at_rest = joints.iter().zip(inverse).all(|(&joint, inverse)| apart(&(rest[joint] * *inverse), &guess) < 1e-3);
    if at_rest {
        return guess;
    }
    let above = skeleton.joints[joints[first]].parent.map_or(DAffine3::IDENTITY, |parent| rest[parent]);
    let near = [above, mesh].into_iter().min_by(|a, b| apart(a, &guess).total_cmp(&apart(b, &guess)));
    near.filter(|near| apart(near, &guess) < 0.5).unwrap_or(guess)
}

/// How much two placements differ: angle (rad), ratio of sizes and distance over size,
/// the largest.
fn apart(a: &DAffine3, b: &DAffine3) -> f64 {
    let size = |place: &DAffine3| place.matrix3.determinant().abs().cbrt();
    let (sa, sb) = (size(a), size(b));
    if !(sa > 0.0 && sb > 0.0) {
        return f64::INFINITY;
    }
    let angle = rotation_of(a).angle_between(rotation_of(b)).abs();
    angle.max((sa / sb).ln().abs()).max((a.translation - b.translation).length() / sa.max(sb).max(1.0))
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
