//! GLB: chunks, accessors, and the blend of targets at every frame.

use super::*;
use crate::cache::{Cache, CacheBody, RestMesh};
use crate::sink::Sink;
use goop::frame::{BodyFrame, Frame};
use serde_json::Value;

struct Read {
    json: Value,
    binary: Vec<u8>,
}

impl Read {
    fn new(bytes: &[u8]) -> Read {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
        let json_end = 20 + word(12);
        assert_eq!((&bytes[16..20], &bytes[json_end + 4..json_end + 8]), (&b"JSON"[..], &b"BIN\0"[..]));
        assert_eq!((json_end % 4, json_end + 8 + word(json_end)), (0, bytes.len()));
        let json: Value = serde_json::from_slice(&bytes[20..json_end]).unwrap();
        Read { json, binary: bytes[json_end + 8..].to_vec() }
    }

    /// Values of an accessor, and that they lie within its bounds.
    fn floats(&self, accessor: &Value) -> Vec<f32> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        assert_eq!(accessor["componentType"], 5126);
        let bytes = self.bytes(accessor);
        let values: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            _ => 3,
        };
        assert_eq!(values.len(), width * accessor["count"].as_u64().unwrap() as usize);
        if let Some(least) = accessor["min"].as_array() {
            for (i, least) in least.iter().enumerate() {
                let smallest = values.iter().skip(i).step_by(width).copied().fold(f32::INFINITY, f32::min);
                assert_eq!(least.as_f64().unwrap() as f32, smallest);
            }
        }
        values
    }

    fn indices(&self, accessor: &Value) -> Vec<u32> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        assert_eq!(accessor["componentType"], 5125);
        self.bytes(accessor).chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn bytes(&self, accessor: &Value) -> &[u8] {
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        &self.binary[start..start + view["byteLength"].as_u64().unwrap() as usize]
    }

    /// Positions of a mesh at a time, as a player would blend them.
    fn blend(&self, mesh: usize, time: f32) -> Vec<[f32; 3]> {
        let primitive = &self.json["meshes"][mesh]["primitives"][0];
        let mut positions = self.floats(&primitive["attributes"]["POSITION"]);
        let sampler = &self.json["animations"][0]["samplers"][mesh];
        assert_eq!(sampler["interpolation"], "LINEAR");
        let (times, weights) = (self.floats(&sampler["input"]), self.floats(&sampler["output"]));
        let targets = primitive["targets"].as_array().unwrap();
        let after = times.partition_point(|&t| t < time).clamp(1, times.len() - 1);
        let share = (time - times[after - 1]) / (times[after] - times[after - 1]);
        for (t, target) in targets.iter().enumerate() {
            let at = |key: usize| weights[key * targets.len() + t];
            let weight = at(after - 1) * (1.0 - share) + at(after) * share;
            let delta = self.floats(&target["POSITION"]);
            positions.iter_mut().zip(delta).for_each(|(value, delta)| *value += weight * delta);
        }
        triples(&positions)
    }
}

fn near(found: &[[f32; 3]], wanted: &[[f32; 3]], tolerance: f32) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((0..3).all(|i| (a[i] - b[i]).abs() <= tolerance), "{a:?} is not {b:?}");
    }
}

/// Catches weights off by one, a base that is not the first frame, and a lost seam.
#[test]
fn every_frame_is_a_blend_of_targets() {
    let (folder, report) = exported(Format::Glb);
    assert_eq!((report.files.len(), report.reduced_error), (1, None));
    let glb = Read::new(&read(&folder, "scene.glb"));
    for frame in 0..FRAMES {
        let time = frame as f32 / 24.0;
        let mut wanted = sheet(frame).to_vec();
        wanted.extend([2, 1].map(|vertex| sheet(frame)[vertex])); // the far side of the seam
        near(&glb.blend(0, time), &wanted, 1e-5);
        near(&glb.blend(1, time), &rope(frame), 1e-5);
    }
    let half: Vec<[f32; 3]> =
        rope(1).iter().zip(rope(2)).map(|(a, b)| [0, 1, 2].map(|i| 0.5 * (a[i] + b[i]))).collect();
    near(&glb.blend(1, 1.5 / 24.0), &half, 1e-5);
}

/// Catches triangles under the wrong material, v not turned over, and lines as triangles.
#[test]
fn primitives_have_materials_textures_and_modes() {
    let (folder, _) = exported(Format::Glb);
    let glb = Read::new(&read(&folder, "scene.glb"));
    let primitives = glb.json["meshes"][0]["primitives"].as_array().unwrap();
    let found: Vec<(&str, Vec<u32>)> = primitives
        .iter()
        .map(|p| {
            let material = &glb.json["materials"][p["material"].as_u64().unwrap() as usize];
            (material["name"].as_str().unwrap(), glb.indices(&p["indices"]))
        })
        .collect();
    assert_eq!(found, [("red one", vec![4, 5, 3]), ("glass", vec![0, 1, 2])]);
    assert_eq!(glb.json["materials"][1]["alphaMode"], "BLEND");
    let uvs = glb.floats(&primitives[0]["attributes"]["TEXCOORD_0"]);
    assert_eq!(uvs, [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 3.0, 0.0, 2.0, 0.0, 3.0, 1.0]);
    let normals = triples(&glb.floats(&primitives[0]["attributes"]["NORMAL"]));
    assert!(normals.iter().all(|n| (n.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-5));
    let lines = &glb.json["meshes"][1]["primitives"][0];
    assert_eq!((&lines["mode"], glb.indices(&lines["indices"])), (&1.into(), vec![0, 1, 1, 2]));
    assert_eq!(glb.json["asset"]["extras"]["keyframes"], FRAMES);
}

/// Catches a file whose vertices can't be matched with those of the mesh it came from, and a
/// seam that shows because each side has normals of its own.
#[test]
fn renumbered_vertices_say_which_they_are_and_share_the_normal_of_their_node() {
    let folder = tempfile::tempdir().unwrap();
    // Two triangles at an angle that share two nodes, every vertex twice, and one of nothing.
    let rest = RestMesh {
        name: "folded".into(),
        positions: vec![
            [5.0; 3],
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0],
            [0.0; 3],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ],
        triangles: vec![[1, 2, 3], [4, 5, 6]],
        uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        triangle_uvs: vec![[0, 1, 2], [0, 2, 1]],
        ..RestMesh::default()
    };
    let nodes = vec![0, 1, 2, 0, 1, 3, 2];
    let at = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
    let body = CacheBody { rest, nodes: Some(nodes), node_count: 4 };
    let mut cache = Cache::create(folder.path(), vec![body], 24.0, 0).unwrap();
    let state = BodyFrame {
        positions: at.to_vec(),
        velocities: vec![[0.0; 3]; 4],
        stretch: vec![0.0; 4],
        ..BodyFrame::default()
    };
    cache.write(&Frame { bodies: vec![state], ..Frame::default() }).unwrap();
    export(folder.path(), Format::Glb, folder.path().join("out")).unwrap();
    let glb = Read::new(&read(&folder, "scene.glb"));
    let attributes = &glb.json["meshes"][0]["primitives"][0]["attributes"];
    assert_eq!(glb.floats(&attributes["_ORIGINAL_VERTEX"]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let normals = triples(&glb.floats(&attributes["NORMAL"]));
    let half = 0.5f32.sqrt();
    for (vertex, wanted) in [(1, [half, half, 0.0]), (2, [half, half, 0.0]), (3, [0.0, 1.0, 0.0]), (5, [1.0, 0.0, 0.0])]
    {
        near(&normals[vertex..vertex + 1], &[wanted], 1e-6);
    }
    assert_eq!((normals[1], normals[2]), (normals[4], normals[6]));
    // The sheet of the other tests has a seam through two vertices.
    let (folder, _) = exported(Format::Glb);
    let glb = Read::new(&read(&folder, "scene.glb"));
    let numbers = |mesh: usize| glb.json["meshes"][mesh]["primitives"][0]["attributes"].get("_ORIGINAL_VERTEX");
    assert_eq!(glb.floats(numbers(0).unwrap()), [0.0, 1.0, 2.0, 3.0, 2.0, 1.0]);
    assert!(numbers(1).is_none());
}

/// Catches a single frame that asks for an animation, which glTF has no room for.
#[test]
fn a_single_frame_is_a_plain_mesh() {
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), 1);
    export(folder.path(), Format::Glb, folder.path().join("out")).unwrap();
    let glb = Read::new(&read(&folder, "scene.glb"));
    assert!(glb.json.get("animations").is_none() && glb.json["meshes"][0].get("weights").is_none());
    assert!(glb.json["meshes"][0]["primitives"][0].get("targets").is_none());
}

/// Catches a file above the limit, an error stated too low, and frames chosen evenly
/// though the motion is not.
#[test]
fn a_large_file_is_reduced_to_the_error_it_states() {
    let folder = tempfile::tempdir().unwrap();
    let rest = RestMesh {
        name: "kicked".into(),
        positions: vec![[0.0; 3]; 30],
        segments: (0..29).map(|i| [i, i + 1]).collect(),
        ..RestMesh::default()
    };
    // Still, then a kick at frame 40 and a slow return.
    let height = |frame: usize| if frame < 40 { 0.0 } else { 0.9f32.powi(frame as i32 - 40) };
    let place = |n: usize, frame: usize| [n as f32, height(frame) * n as f32, 0.0];
    let mut cache = Cache::create(folder.path(), vec![CacheBody::of_nodes(rest)], 24.0, 0).unwrap();
    for index in 0..100 {
        let body = BodyFrame {
            positions: (0..30).map(|n| place(n, index)).collect(),
            velocities: vec![[0.0; 3]; 30],
            stretch: vec![0.0; 30],
            ..BodyFrame::default()
        };
        cache.write(&Frame { index, bodies: vec![body], ..Frame::default() }).unwrap();
    }
    let cache = CacheReader::open(folder.path()).unwrap();
    let mut export = Export { cache: &cache, out: folder.path(), scene: "small".into(), report: Report::default() };
    super::super::glb::write(&mut export, 20_000).unwrap();
    let stated = export.report.reduced_error.unwrap();
    assert!(export.report.bytes <= 20_000, "{}", export.report.bytes);
    let glb = Read::new(&fs::read(folder.path().join("small.glb")).unwrap());
    let keys = glb.json["asset"]["extras"]["keyframes"].as_u64().unwrap();
    assert!((8..30).contains(&keys), "{keys}");
    assert_eq!(glb.json["asset"]["extras"]["largestErrorMetres"].as_f64().unwrap(), stated);
    let mut largest = 0f32;
    for frame in 0..100 {
        for (n, found) in glb.blend(0, frame as f32 / 24.0).iter().enumerate() {
            largest = largest.max((found[1] - place(n, frame)[1]).abs());
        }
    }
    assert!((f64::from(largest) - stated).abs() < 1e-4, "{largest} is not the stated {stated}");
    assert!(stated < 0.5, "{stated}"); // evenly spread keyframes miss the kick by tens of metres
}
