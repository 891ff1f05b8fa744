//! Binary glTF 2.0: a mesh a body, a morph target a keyframe, weights over time.
//!
//! ```text
//! "glTF" 2 length | length "JSON" {…} | length "BIN\0" arrays
//! base mesh = first keyframe; target k = positions and normals of keyframe k less those
//! weights at keyframe k: 1 for target k, 0 for all others, LINEAR in between
//! ```
//! Frames between keyframes are then blends of two of them. All frames are keyframes,
//! unless the file would be larger than a limit: see [`super::keyframes`]. `asset.extras`
//! says how many are left and how far off the others are.
//!
//! Vertices keep their order. A vertex with several texture coordinates is there once for
//! each, the further ones behind all others. Importers number vertices anew for every
//! primitive, that is every material, and drop those that nothing draws. So that the
//! mesh can be matched with the one it came from, the attribute `_ORIGINAL_VERTEX` (float,
//! from 0) says of each vertex which it is, wherever its own number may not.
//! Normals are those of nodes: a seam where vertices lie in one place does not show.

use super::Export;
use super::keyframes::{self, Keyframes};
use crate::cache::{CachedBody, RestMesh};
use crate::error::OutputError;
use serde_json::{Value, json};
use std::collections::HashMap;

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
/// Whole numbers up to here are exact as floats; the format has no larger ones for vertices.
const LARGEST_EXACT: usize = 1 << 24;
/// What the JSON takes for one target of one body, at most (bytes).
const TARGET_JSON: u64 = 500;

pub(super) fn write(export: &mut Export, limit: u64) -> Result<(), OutputError> {
    let cache = export.cache;
    let keyframes = keyframes::choose(cache, most_keyframes(cache.bodies(), cache.frames(), limit))?;
    let mut file = Glb::default();
    let times: Vec<f32> = keyframes.kept.iter().map(|&frame| export.time(frame) as f32).collect();
    let times = if times.len() > 1 { Some(file.times(&times)) } else { None };
    for b in 0..cache.bodies().len() {
        file.add_body(export, b, &keyframes, times)?;
    }
    let (json, binary) = file.finish(&keyframes, cache.frames());
    let length = 12 + 8 + json.len() as u64 + 8 + binary.len() as u64;
    let name = format!("{}.glb", export.scene);
    let length = u32::try_from(length).map_err(|_| {
        let what = format!("{length} bytes are more than a GLB can hold");
        OutputError::bad(&export.out.join(&name), what, "export USD instead")
    })?;
    export.file(&name, |out| {
        out.write_all(b"glTF")?;
        out.write_all(&2u32.to_le_bytes())?;
        out.write_all(&length.to_le_bytes())?;
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &binary)] {
            out.write_all(&(chunk.len() as u32).to_le_bytes())?;
            out.write_all(kind)?;
            out.write_all(chunk)?;
        }
        Ok(())
    })?;
    export.report.reduced_error = keyframes.error;
    Ok(())
}

/// As many as fit into the limit (bytes), by a count that is rather too high.
fn most_keyframes(bodies: &[CachedBody], frames: usize, limit: u64) -> usize {
    let (mut fixed, mut each) = (2000, 0);
    for body in bodies {
        let mesh = &body.rest;
        // Texture coordinates that split vertices are at most one a corner.
        let split = if mesh.triangle_uvs.is_empty() { 0 } else { mesh.uvs.len() as u64 };
        let vertices = mesh.positions.len() as u64 + split;
        let normals = if mesh.triangles.is_empty() { 0 } else { 12 };
        fixed += 2000 + vertices * 12 + 12 * mesh.triangles.len() as u64 + 8 * mesh.segments.len() as u64;
        each += vertices * (12 + normals) + TARGET_JSON * mesh.materials.len().max(1) as u64;
    }
    let size = |keys: u64| fixed + keys * each + 4 * keys * keys * bodies.len() as u64;
    (2..=frames as u64).rev().find(|&keys| size(keys) <= limit).unwrap_or(2) as usize
}

#[derive(Default)]
struct Glb {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Glb {
    fn add_body(
        &mut self,
        export: &Export,
        b: usize,
        keyframes: &Keyframes,
        times: Option<usize>,
    ) -> Result<(), OutputError> {
        let body = &export.cache.bodies()[b];
        let mesh = &body.rest;
        let split = Split::of(mesh);
        let surface = !mesh.triangles.is_empty();
        let shape = |frame: usize| -> Result<_, OutputError> {
            let positions = export.cache.positions(b, frame)?;
            let normals = if surface { split.gather(&normals(body, &positions)) } else { Vec::new() };
            Ok((split.gather(&positions), normals))
        };
        let (base, base_normals) = shape(keyframes.kept[0])?;
        let mut attributes = json!({ "POSITION": self.vectors(&base) });
        if surface {
            attributes["NORMAL"] = self.vectors(&base_normals).into();
        }
        if !split.uvs.is_empty() {
            // Here v points down.
            let flipped = split.uvs.iter().flat_map(|&[u, v]| [u, 1.0 - v]).flat_map(f32::to_le_bytes);
            let view = self.view(flipped, Some((34962, 8)));
            attributes["TEXCOORD_0"] = self.accessor(view, FLOAT, "VEC2", split.uvs.len(), None).into();
        }
        let renumbered = split.source.len() > mesh.positions.len()
            || surface && (mesh.materials.len() > 1 || !mesh.loose().is_empty());
        if renumbered && mesh.positions.len() <= LARGEST_EXACT {
            let numbers = split.source.iter().flat_map(|&vertex| (vertex as f32).to_le_bytes());
            let view = self.view(numbers, Some((34962, 4)));
            attributes["_ORIGINAL_VERTEX"] = self.accessor(view, FLOAT, "SCALAR", split.source.len(), None).into();
        }
        let mut targets = Vec::new();
        for &frame in &keyframes.kept[1..] {
            let (positions, normals) = shape(frame)?;
            let mut target = json!({ "POSITION": self.vectors(&less(&positions, &base)) });
            if surface {
                target["NORMAL"] = self.vectors(&less(&normals, &base_normals)).into();
            }
            targets.push(target);
        }
        let primitives = self.primitives(mesh, &split, &attributes, &targets);
        let names: Vec<String> =
            keyframes.kept[1..].iter().map(|frame| format!("frame {}", export.cache.first_frame() + frame)).collect();
        let mut entry = json!({ "name": mesh.name, "primitives": primitives });
        if let Some(times) = times {
            entry["weights"] = vec![0; targets.len()].into();
            entry["extras"] = json!({ "targetNames": names });
            self.animate(times, keyframes.kept.len());
        }
        self.meshes.push(entry);
        self.nodes.push(json!({ "name": mesh.name, "mesh": self.meshes.len() - 1 }));
        Ok(())
    }

    /// Triangles, a primitive a material, then segments; points where there is nothing else.
    fn primitives(&mut self, mesh: &RestMesh, split: &Split, attributes: &Value, targets: &[Value]) -> Vec<Value> {
        let mut primitives = Vec::new();
        let mut add = |mode: u32, indices: Option<usize>, material: Option<usize>| {
            let mut primitive = json!({ "mode": mode, "attributes": attributes });
            if let Some(indices) = indices {
                primitive["indices"] = indices.into();
            }
            if let Some(material) = material {
                primitive["material"] = material.into();
            }
            if !targets.is_empty() {
                primitive["targets"] = targets.into();
            }
            primitives.push(primitive);
        };
        for material in 0..mesh.materials.len().max(1) {
            let corners: Vec<u32> = mesh.triangles_of(material).flat_map(|t| split.triangles[t]).collect();
            if corners.is_empty() {
                continue;
            }
            let indices = self.indices(&corners);
            let material = mesh.materials.get(material).map(|material| {
                let colour = material.shown().map(|value| value.clamp(0.0, 1.0));
                self.materials.push(json!({
                    "name": material.name,
                    "doubleSided": true,
                    "alphaMode": if colour[3] < 1.0 { "BLEND" } else { "OPAQUE" },
                    "pbrMetallicRoughness":
                        { "baseColorFactor": colour, "metallicFactor": 0, "roughnessFactor": 0.6 },
                }));
                self.materials.len() - 1
            });
            add(4, Some(indices), material);
        }
        if !mesh.segments.is_empty() {
            add(1, Some(self.indices(mesh.segments.as_flattened())), None);
        }
        if mesh.triangles.is_empty() && mesh.segments.is_empty() {
            add(0, None, None);
        }
        primitives
    }

    /// Weights of the body to come: target k is 1 at keyframe k + 1.
    fn animate(&mut self, times: usize, keys: usize) {
        let weights = (0..keys).flat_map(|key| (1..keys).map(move |target| if key == target { 1f32 } else { 0f32 }));
        let view = self.view(weights.flat_map(f32::to_le_bytes), None);
        let output = self.accessor(view, FLOAT, "SCALAR", keys * (keys - 1), None);
        self.samplers.push(json!({ "input": times, "output": output, "interpolation": "LINEAR" }));
        let target = json!({ "node": self.nodes.len(), "path": "weights" });
        self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": target }));
    }

    fn times(&mut self, times: &[f32]) -> usize {
        let view = self.view(times.iter().flat_map(|time| time.to_le_bytes()), None);
        let bounds = (json!([times[0]]), json!([times[times.len() - 1]]));
        self.accessor(view, FLOAT, "SCALAR", times.len(), Some(bounds))
    }

    fn vectors(&mut self, values: &[[f32; 3]]) -> usize {
        let view = self.view(values.as_flattened().iter().flat_map(|value| value.to_le_bytes()), Some((34962, 12)));
        let bound = |pick: fn(f32, f32) -> f32| {
            let first = values.first().copied().unwrap_or_default();
            values.iter().fold(first, |a, b| [pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2])])
        };
        let bounds = (json!(bound(f32::min)), json!(bound(f32::max)));
        self.accessor(view, FLOAT, "VEC3", values.len(), Some(bounds))
    }

    fn indices(&mut self, corners: &[u32]) -> usize {
        let view = self.view(corners.iter().flat_map(|corner| corner.to_le_bytes()), Some((34963, 0)));
        self.accessor(view, UNSIGNED_INT, "SCALAR", corners.len(), None)
    }

    /// A stretch of the binary chunk; with its use and the bytes from one to the next.
    fn view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<(u32, u32)>) -> usize {
        let start = self.binary.len();
        self.binary.extend(bytes);
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": self.binary.len() - start });
        if let Some((target, stride)) = target {
            view["target"] = target.into();
            if stride > 0 {
                view["byteStride"] = stride.into();
            }
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(
        &mut self,
        view: usize,
        component: u32,
        kind: &str,
        count: usize,
        bounds: Option<(Value, Value)>,
    ) -> usize {
        let mut accessor = json!({ "bufferView": view, "componentType": component, "type": kind, "count": count });
        if let Some((least, most)) = bounds {
            accessor["min"] = least;
            accessor["max"] = most;
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// JSON padded with spaces and arrays padded with zeros, to four bytes.
    fn finish(mut self, keyframes: &Keyframes, frames: usize) -> (Vec<u8>, Vec<u8>) {
        let nodes: Vec<usize> = (0..self.nodes.len()).collect();
        let extras = json!({
            "frames": frames,
            "keyframes": keyframes.kept.len(),
            "largestErrorMetres": keyframes.error.unwrap_or(0.0),
        });
        let mut root = json!({
            "asset": { "version": "2.0", "generator": "goop", "extras": extras },
            "scene": 0,
            "scenes": [{ "nodes": nodes }],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{ "byteLength": self.binary.len() }],
        });
        if !self.materials.is_empty() {
            root["materials"] = self.materials.into();
        }
        if !self.channels.is_empty() {
            root["animations"] = json!([{ "name": "run", "samplers": self.samplers, "channels": self.channels }]);
        }
        let mut json = root.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        (json, self.binary)
    }
}

/// Vertices with one texture coordinate each.
struct Split {
    /// Vertex of the mesh that each stands for.
    source: Vec<u32>,
    uvs: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl Split {
    fn of(mesh: &RestMesh) -> Split {
        let mut source: Vec<u32> = (0..mesh.positions.len() as u32).collect();
        let mut uvs = mesh.vertex_uvs().unwrap_or_default();
        let mut triangles = mesh.triangles.clone();
        let mut further = HashMap::new();
        for (triangle, coordinates) in triangles.iter_mut().zip(&mesh.triangle_uvs) {
            for (corner, &uv) in triangle.iter_mut().zip(coordinates) {
                let uv = mesh.uvs[uv as usize];
                if uvs[*corner as usize] != uv {
                    let vertex = *corner;
                    *corner = *further.entry((vertex, uv.map(f32::to_bits))).or_insert_with(|| {
                        source.push(vertex);
                        uvs.push(uv);
                        source.len() as u32 - 1
                    });
                }
            }
        }
        Split { source, uvs, triangles }
    }

    fn gather(&self, values: &[[f32; 3]]) -> Vec<[f32; 3]> {
        self.source.iter().map(|&vertex| values[vertex as usize]).collect()
    }
}

fn less(values: &[[f32; 3]], base: &[[f32; 3]]) -> Vec<[f32; 3]> {
    values.iter().zip(base).map(|(a, b)| [a[0] - b[0], a[1] - b[1], a[2] - b[2]]).collect()
}

/// Unit normals of vertices, weighted by area over all triangles at the node; up where
/// there is no area.
fn normals(body: &CachedBody, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let at = |vertex: u32| glam::Vec3::from_array(positions[vertex as usize]).as_dvec3();
    // Vertices of no node come behind the nodes.
    let place = |vertex: u32| body.node_of(vertex as usize).unwrap_or(body.node_count() + vertex as usize);
    let mut sums = vec![glam::DVec3::ZERO; body.node_count() + positions.len()];
    for &[a, b, c] in &body.rest.triangles {
        let normal = (at(b) - at(a)).cross(at(c) - at(a));
        [a, b, c].into_iter().for_each(|vertex| sums[place(vertex)] += normal);
    }
    let normal = |vertex: u32| sums[place(vertex)].normalize_or(glam::DVec3::Y).as_vec3().to_array();
    (0..positions.len() as u32).map(normal).collect()
}
