//! A rigged mesh from glTF: skeleton, skin at the bind pose, weights, animations.
//!
//! Vertices come primitive after primitive in the order of the nodes that show them, as
//! `read_mesh` has them before welding: texture coordinates and materials are found there.

use super::RigError;
use super::gltf_animation::motions;
use super::gltf_bind::Bind;
use super::gltf_tree::Tree;
use super::motion::Motion;
use super::skeleton::{Segment, Skeleton};
use crate::mesh::gltf::accessor::Buffers;
use crate::mesh::gltf::buffer::buffers;
use crate::mesh::gltf::{document, label, primitive_shape};
use crate::mesh::{Fault, MOST_BYTES, MOST_VERTICES, Place, fault, read_bytes};
use glam::{DAffine3, DVec3};
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
/// How often an animation is looked at for poses that are not finite.
const LOOKS: u32 = 20;

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
        rig.find_ends();
        rig.motions = motions(&root, &buffers, &rig.skeleton, &tree.joint, &mut rig.notes)?;
        if tree.instances.iter().all(|instance| instance.skin.is_none()) && rig.motions.is_empty() {
            let message = "the file has neither bones nor an animation of its nodes";
            return Err(fault(Place::File, message, "export it with its skin, or use it as a mesh without bones"));
        }
        let finite = |pose: Vec<DAffine3>| pose.iter().all(|place| place.is_finite());
        let wild = |motion: &&Motion| {
            (0..=LOOKS).any(|i| !finite(motion.pose(motion.duration * f64::from(i) / f64::from(LOOKS))))
        };
        if let Some(motion) = rig.motions.iter().find(wild) {
            let message = format!("animation '{}' moves a joint beyond all bounds", motion.name);
            return Err(fault(Place::File, message, "correct the scales of its nodes"));
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

    /// Ends the last bone of every limb where its skin ends: along the way to the middle of
    /// the vertices that go with it most, as far as the farthest of them.
    pub(crate) fn find_ends(&mut self) {
        let mut skeleton = (*self.skeleton).clone();
        let own = self.own_vertices();
        for (joint, below) in self.skeleton.children().iter().enumerate() {
            if !below.is_empty() || own[joint].is_empty() {
                continue;
            }
            let into = self.bind[joint].inverse();
            let points: Vec<DVec3> = own[joint].iter().map(|&v| into.transform_point3(self.positions[v])).collect();
            let middle = points.iter().sum::<DVec3>() / points.len() as f64;
            let Some(along) = middle.try_normalize() else { continue };
            let reach = points.iter().map(|point| point.dot(along)).fold(0.0, f64::max);
            skeleton.joints[joint].end = Some(along * reach).filter(|end| end.is_finite());
        }
        self.skeleton = Arc::new(skeleton);
    }

    /// The vertices that go with each joint more than with any other.
    fn own_vertices(&self) -> Vec<Vec<usize>> {
        let mut own = vec![Vec::new(); self.bind.len()];
        for vertex in 0..self.positions.len() {
            if let Some((joint, _)) = self.influences.of(vertex).next() {
                own[joint].push(vertex);
            }
        }
        own
    }

    /// Bones at the bind pose that have skin of their own, as lines (m).
    pub fn segments(&self) -> Vec<Segment> {
        let own = self.own_vertices();
        let mut segments = self.skeleton.segments(&self.bind);
        segments.retain(|segment| !own[segment.joint].is_empty());
        segments
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
        for joint in &mut skeleton.joints {
            joint.rest.translation *= unit;
            joint.end = joint.end.map(|end| end * unit);
        }
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
