//! The character as binary glTF 2.0: a mesh with a primitive for each material, a skin,
//! and its motions as animations. Numbers are single floats; what goes in has been rounded to
//! them, so that reading gives it back.

use crate::mesh::Skin;
use crate::rig::{Curve, Interpolation, Rig};
use glam::{DVec3, Vec3};
use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const UNSIGNED_BYTE: u32 = 5121;
/// Joints of a vertex in one set.
const SET: usize = 4;

#[derive(Default)]
struct File {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl File {
    /// An array, and the number of its accessor. `target` is what a graphics card uses it for.
    fn array(&mut self, bytes: impl Iterator<Item = u8>, component: u32, kind: &str, target: Option<u32>) -> usize {
        let start = self.binary.len();
        self.binary.extend(bytes);
        let length = self.binary.len() - start;
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": length });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        let numbers = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let count = length / numbers / if component == UNSIGNED_BYTE { 1 } else { 4 };
        self.views.push(view);
        let accessor =
            json!({ "bufferView": self.views.len() - 1, "componentType": component, "type": kind, "count": count });
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, values: impl Iterator<Item = f32>, kind: &str, target: Option<u32>) -> usize {
        self.array(values.flat_map(f32::to_le_bytes), FLOAT, kind, target)
    }

    fn bound(&mut self, accessor: usize, least: Value, most: Value) {
        self.accessors[accessor]["min"] = least;
        self.accessors[accessor]["max"] = most;
    }

    /// The attributes of the vertices from `first` up to `end`.
    fn attributes(&mut self, rig: &Rig, normals: &[Vec3], first: usize, end: usize) -> Value {
        let vertices = Some(34962);
        let own: Vec<Vec3> = rig.positions[first..end].iter().map(|p| p.as_vec3()).collect();
        let positions = self.floats(own.iter().flat_map(Vec3::to_array), "VEC3", vertices);
        let least = own.iter().copied().reduce(Vec3::min).unwrap_or_default().to_array();
        let most = own.iter().copied().reduce(Vec3::max).unwrap_or_default().to_array();
        self.bound(positions, json!(least), json!(most));
        let normals = self.floats(normals[first..end].iter().flat_map(Vec3::to_array), "VEC3", vertices);
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for vertex in first..end {
            for (joint, weight) in rig.influences.of(vertex).take(SET) {
                joints.push(joint as u8);
                weights.push(weight as f32);
            }
            let whole = (vertex + 1 - first) * SET;
            joints.resize(whole, 0);
            weights.resize(whole, 0.0);
        }
        let joints = self.array(joints.into_iter(), UNSIGNED_BYTE, "VEC4", vertices);
        let weights = self.floats(weights.into_iter(), "VEC4", vertices);
        json!({ "POSITION": positions, "NORMAL": normals, "JOINTS_0": joints, "WEIGHTS_0": weights })
    }

    /// Samplers and channels of a motion; joints are the nodes of the same number.
    fn animation(&mut self, motion: &crate::rig::Motion) -> Value {
        let (mut samplers, mut channels, mut clocks) = (Vec::new(), Vec::new(), Vec::<(Vec<u32>, usize)>::new());
        for (node, track) in motion.tracks.iter().enumerate() {
            let translation = track.translation.as_ref().map(|curve| {
                let values = curve.values.iter().flat_map(|v| v.as_vec3().to_array());
                ("translation", times(curve), self.floats(values, "VEC3", None))
            });
            let rotation = track.rotation.as_ref().map(|curve| {
                let values = curve.values.iter().flat_map(|q| q.as_quat().to_array());
                ("rotation", times(curve), self.floats(values, "VEC4", None))
            });
            for (path, (times, interpolation), output) in translation.into_iter().chain(rotation) {
                let bits: Vec<u32> = times.iter().map(|time| time.to_bits()).collect();
                let known = clocks.iter().find(|(other, _)| *other == bits).map(|(_, input)| *input);
                let input = known.unwrap_or_else(|| {
                    let input = self.floats(times.iter().copied(), "SCALAR", None);
                    self.bound(input, json!([times.first()]), json!([times.last()]));
                    clocks.push((bits, input));
                    input
                });
                channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
                samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
            }
        }
        json!({ "name": motion.name, "samplers": samplers, "channels": channels })
    }
}

fn times<V>(curve: &Curve<V>) -> (Vec<f32>, &'static str) {
    let interpolation = match curve.interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::Cubic => "CUBICSPLINE",
    };
    (curve.times.iter().map(|&time| time as f32).collect(), interpolation)
}

/// Unit normals of vertices, weighted by area; the same on both sides of a border.
fn normals(skin: &Skin) -> Vec<Vec3> {
    let mut sums = vec![DVec3::ZERO; skin.positions.len()];
    for corners in &skin.triangles {
        let [a, b, c] = corners.map(|corner| skin.positions[corner as usize]);
        corners.iter().for_each(|&corner| sums[skin.nodes[corner as usize] as usize] += (b - a).cross(c - a));
    }
    skin.nodes.iter().map(|&node| sums[node as usize].normalize_or(DVec3::Y).as_vec3()).collect()
}

/// The file. Vertices of a material stand together, as `Skin` and `Rig` have them here.
pub(super) fn write(rig: &Rig, skin: &Skin) -> Vec<u8> {
    let mut file = File::default();
    let normals = normals(skin);
    let (mut primitives, mut materials) = (Vec::new(), Vec::new());
    for (number, paint) in (0..).zip(&skin.paints) {
        let own = skin.triangles.iter().zip(&skin.triangle_paints).filter(|(_, paint)| **paint == number);
        let corners: Vec<u32> = own.flat_map(|(triangle, _)| *triangle).collect();
        let first = corners.iter().copied().min().unwrap_or(0);
        let end = corners.iter().copied().max().map_or(0, |last| last + 1);
        let attributes = file.attributes(rig, &normals, first as usize, end as usize);
        let indices = corners.iter().flat_map(|corner| (corner - first).to_le_bytes());
        let indices = file.array(indices, UNSIGNED_INT, "SCALAR", Some(34963));
        primitives.push(json!({ "attributes": attributes, "indices": indices, "material": number }));
        let surface = json!({
            "baseColorFactor": paint.colour.unwrap_or([1.0; 4]), "metallicFactor": 0, "roughnessFactor": 0.45
        });
        materials.push(json!({ "name": paint.name, "pbrMetallicRoughness": surface }));
    }
    let children = rig.skeleton.children();
    let joints = &rig.skeleton.joints;
    let mut nodes: Vec<Value> = Vec::new();
    for (joint, below) in joints.iter().zip(&children) {
        let mut node = json!({ "name": joint.name, "translation": joint.rest.translation.as_vec3().to_array() });
        if !below.is_empty() {
            node["children"] = below.clone().into();
        }
        nodes.push(node);
    }
    nodes.push(json!({ "name": super::NAME, "mesh": 0, "skin": 0 }));
    let inverse = rig.bind.iter().flat_map(|place| glam::DMat4::from(place.inverse()).as_mat4().to_cols_array());
    let inverse = file.floats(inverse, "MAT4", None);
    let animations: Vec<Value> = rig.motions.iter().map(|motion| file.animation(motion)).collect();
    let roots = (0..joints.len()).filter(|&i| joints[i].parent.is_none()).chain([joints.len()]);
    let root = json!({
        "asset": { "version": "2.0", "generator": "goop" },
        "scene": 0,
        "scenes": [{ "nodes": roots.collect::<Vec<usize>>() }],
        "nodes": nodes,
        "skins": [{ "joints": (0..joints.len()).collect::<Vec<usize>>(), "inverseBindMatrices": inverse, "skeleton": 0 }],
        "meshes": [{ "name": super::NAME, "primitives": primitives }],
        "materials": materials,
        "animations": animations,
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{ "byteLength": file.binary.len() }],
    });
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = Vec::with_capacity(28 + text.len() + file.binary.len());
    glb.extend(b"glTF");
    for number in [2, 28 + text.len() + file.binary.len(), text.len()] {
        glb.extend((number as u32).to_le_bytes());
    }
    glb.extend(b"JSON");
    glb.extend(text);
    glb.extend((file.binary.len() as u32).to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(file.binary);
    glb
}
