//! Caches written, cut short, spoilt and read back.

use super::*;
use crate::sink::Sink;
use goop::frame::{BodyFrame, Frame};
use std::fs;
use std::path::Path;

/// Five nodes, of which the third is inside and not drawn; and a rope.
pub(crate) fn bodies() -> Vec<CacheBody> {
    let sheet = RestMesh {
        name: "a sheet".into(),
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, -1.0], [0.0, 1.0, 0.1], [1.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 3], [3, 1, 4]],
        uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [3.0, 0.0], [3.0, 1.0]],
        triangle_uvs: vec![[0, 1, 2], [3, 4, 5]],
        materials: vec![
            Material::new("red one", Some([0.75, 0.25, 0.0, 1.0])),
            Material::new("glass", Some([0.5, 0.5, 1.0, 0.25])),
        ],
        triangle_materials: vec![1, 0],
        ..RestMesh::default()
    };
    let rope = RestMesh {
        name: "rope".into(),
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]],
        segments: vec![[0, 1], [1, 2]],
        radius: 0.01,
        ..RestMesh::default()
    };
    vec![CacheBody::of_nodes(sheet), CacheBody::of_nodes(rope)]
}

/// Positions tell body, node and frame.
pub(crate) fn frame(index: usize) -> Frame {
    let body = |b: usize, nodes: usize| BodyFrame {
        positions: (0..nodes).map(|n| place(b, n, index)).collect(),
        velocities: (0..nodes).map(|n| [n as f32, -1.5, index as f32]).collect(),
        stretch: (0..nodes).map(|n| 0.25 * n as f32 - 0.125 * index as f32).collect(),
        ..BodyFrame::default()
    };
    Frame { index, time: index as f64 / 24.0, bodies: vec![body(0, 5), body(1, 3)], ..Frame::default() }
}

pub(crate) fn place(body: usize, node: usize, frame: usize) -> [f32; 3] {
    let height = (frame * frame) as f32 * 0.125;
    [node as f32 + 0.1, 10.0 * body as f32 + height, (node * node) as f32 * 0.3 - frame as f32]
}

pub(crate) fn write_cache(folder: &Path, frames: usize) {
    let mut cache = Cache::create(folder, bodies(), 24.0, 0).unwrap();
    (0..frames).for_each(|index| cache.write(&frame(index)).unwrap());
    cache.finish().unwrap();
}

/// Catches vertices that follow the wrong node, and lists lost on the way through OBJ.
#[test]
fn a_cache_reads_back_as_written() {
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), 4);
    let cache = CacheReader::open(folder.path()).unwrap();
    assert_eq!((cache.frames(), cache.first_frame(), cache.fps()), (4, 0, 24.0));
    let sheet = &cache.bodies()[0];
    assert_eq!((sheet.file_name.as_str(), sheet.node_count()), ("a_sheet", 5));
    let mut rest = bodies().remove(0).rest;
    rest.positions.remove(2);
    rest.triangles = vec![[0, 1, 2], [2, 1, 3]];
    assert_eq!(sheet.rest, rest);
    assert_eq!(cache.bodies()[1].rest, bodies()[1].rest);
    assert_eq!([0, 1, 2, 3].map(|vertex| sheet.node_of(vertex)), [Some(0), Some(1), Some(3), Some(4)]);
    assert_eq!(cache.positions(0, 3).unwrap(), [0, 1, 3, 4].map(|node| place(0, node, 3)));
    for body in 0..2 {
        let (nodes, wanted) = (cache.nodes(body, 2).unwrap(), &frame(2).bodies[body]);
        assert_eq!(nodes.positions, wanted.positions);
        assert_eq!(nodes.velocities, wanted.velocities);
        assert_eq!(nodes.stretch, wanted.stretch);
    }
}

/// Catches a header that other programs cannot read while the run goes on.
#[test]
fn the_header_counts_every_frame_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = Cache::create(folder.path(), bodies(), 24.0, 7).unwrap();
    for index in 7..9 {
        cache.write(&frame(index)).unwrap();
    }
    let bytes = fs::read(folder.path().join("cache/rope.pc2")).unwrap();
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    let word = |at: usize| <[u8; 4]>::try_from(&bytes[at..at + 4]).unwrap();
    assert_eq!([12, 16, 28].map(|at| i32::from_le_bytes(word(at))), [1, 3, 2]);
    assert_eq!([20, 24].map(|at| f32::from_le_bytes(word(at))), [7.0, 1.0]);
    assert_eq!(bytes.len(), 32 + 2 * 36);
    assert_eq!(f32::from_le_bytes(word(32 + 36)), place(1, 0, 8)[0]);
}

/// Catches trust in the header, and a panic at any length a killed run may leave.
#[test]
fn a_file_cut_anywhere_gives_its_whole_frames_or_a_sentence() {
    for name in ["cache/a_sheet.pc2", "cache/a_sheet.nodes", "rest/a_sheet.obj", "rest/bodies.json"] {
        let folder = tempfile::tempdir().unwrap();
        write_cache(folder.path(), 3);
        let path = folder.path().join(name);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            match CacheReader::open(folder.path()) {
                Ok(cache) => {
                    assert!(cache.frames() <= 3);
                    assert_eq!(cache.bodies()[0].rest.triangles.len(), 2);
                    for frame in 0..cache.frames() {
                        assert_eq!(cache.positions(0, frame).unwrap()[1], place(0, 1, frame), "{name} at {length}");
                        cache.nodes(0, frame).unwrap();
                    }
                    assert!(cache.positions(0, 3).is_err());
                }
                Err(fault) => assert!(fault.to_string().contains("cannot use"), "{fault}"),
            }
        }
    }
}

/// Catches a panic, or memory taken, on files that are not ours.
#[test]
fn spoilt_bytes_never_panic() {
    let names = ["cache/a_sheet.pc2", "cache/a_sheet.nodes", "rest/a_sheet.obj", "rest/bodies.json"];
    let mut random = 12345u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), 2);
    for name in names {
        let path = folder.path().join(name);
        let whole = fs::read(&path).unwrap();
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..1 + next(3) {
                let at = next(bytes.len());
                bytes[at] = [next(256) as u8, b'9', b'/', b'-'][next(4)];
            }
            fs::write(&path, &bytes).unwrap();
            if let Ok(cache) = CacheReader::open(folder.path()) {
                for frame in 0..cache.frames().min(3) {
                    let _ = (cache.positions(0, frame), cache.nodes(0, frame));
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
}

/// Catches a folder without a cache being reported as a fault of the system.
#[test]
fn other_folders_and_files_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let message = CacheReader::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("bodies.json") && message.contains("give the folder of a run"), "{message}");
    write_cache(folder.path(), 1);
    fs::write(folder.path().join("cache/rope.pc2"), [b'x'; 100]).unwrap();
    let message = CacheReader::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("rope.pc2") && message.contains("does not begin"), "{message}");
    write_cache(folder.path(), 1);
    let index = folder.path().join("rest/bodies.json");
    let text = fs::read_to_string(&index).unwrap();
    fs::write(&index, text.replace("\"cache_version\": 1", "\"cache_version\": 2")).unwrap();
    assert!(CacheReader::open(folder.path()).unwrap_err().to_string().contains("version 2"));
}

/// Catches NaN on its way into other programs.
#[test]
fn a_value_that_is_not_finite_is_refused_on_reading() {
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), 2);
    let path = folder.path().join("cache/rope.pc2");
    let mut bytes = fs::read(&path).unwrap();
    bytes[68..72].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let cache = CacheReader::open(folder.path()).unwrap();
    assert!(cache.positions(1, 0).is_ok());
    assert!(cache.positions(1, 1).unwrap_err().to_string().contains("not finite"));
}

/// Catches a resumed run whose files differ from those of one that was never stopped.
#[test]
fn a_cache_resumed_after_any_frame_ends_with_the_same_bytes() {
    let straight = tempfile::tempdir().unwrap();
    write_cache(straight.path(), 5);
    for kept in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        write_cache(folder.path(), 4);
        let torn = folder.path().join("cache/a_sheet.nodes");
        let bytes = fs::read(&torn).unwrap();
        fs::write(&torn, &bytes[..bytes.len() - 3]).unwrap();
        let mut cache = Cache::resume(folder.path(), bodies(), 24.0, 0, kept).unwrap();
        (kept..5).for_each(|index| cache.write(&frame(index)).unwrap());
        cache.finish().unwrap();
        for name in ["cache/a_sheet.pc2", "cache/a_sheet.nodes", "cache/rope.pc2", "cache/rope.nodes"] {
            assert_eq!(fs::read(folder.path().join(name)).unwrap(), fs::read(straight.path().join(name)).unwrap());
        }
        assert!(Cache::resume(folder.path(), bodies(), 25.0, 0, kept).is_err());
        assert!(Cache::resume(folder.path(), bodies()[..1].to_vec(), 24.0, 0, kept).is_err());
        assert!(Cache::resume(folder.path(), bodies(), 24.0, 0, 6).is_err());
    }
}

/// Catches a frame too many, one left out, and a frame of another scene.
#[test]
fn frames_that_do_not_follow_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = Cache::create(folder.path(), bodies(), 24.0, 0).unwrap();
    assert!(cache.write(&frame(1)).is_err());
    cache.write(&frame(0)).unwrap();
    assert!(cache.write(&frame(0)).is_err());
    let mut other = frame(1);
    other.bodies[1].positions.pop();
    assert!(matches!(cache.write(&other), Err(OutputError::Mismatch { expected: 3, found: 2, .. })));
    other.bodies.pop();
    assert!(cache.write(&other).is_err());
    assert_eq!(CacheReader::open(folder.path()).unwrap().frames(), 1);
}

/// Catches lists that do not belong together, each on its own.
#[test]
fn a_mesh_that_contradicts_itself_is_refused() {
    let spoil: [fn(&mut CacheBody); 9] = [
        |body| body.rest.triangles[0][0] = 9,
        |body| body.rest.triangle_uvs.truncate(1),
        |body| body.rest.uvs.truncate(5),
        |body| body.rest.triangle_uvs.clear(),
        |body| body.rest.triangle_materials.truncate(1),
        |body| body.rest.materials.truncate(1),
        |body| body.rest.positions[0][1] = f32::NAN,
        |body| body.nodes = Some(vec![0; 4]),
        |body| body.node_count = 3,
    ];
    for (i, spoil) in spoil.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let mut all = bodies();
        spoil(&mut all[0]);
        assert!(Cache::create(folder.path(), all, 24.0, 0).is_err(), "{i}");
        assert!(!folder.path().join("rest").exists());
    }
}

/// Catches a vertex of no node that moves, and welded vertices that part.
#[test]
fn vertices_follow_their_nodes_and_those_of_none_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut body = bodies().remove(1);
    body.rest.positions.extend([[7.0, 8.0, 9.0], [1.0, 0.0, 0.0]]);
    body.rest.segments = vec![[0, 1], [4, 2], [2, 3]];
    body.nodes = Some(vec![0, 1, 2, NO_NODE, 1]);
    let mut cache = Cache::create(folder.path(), vec![body], 24.0, 0).unwrap();
    let mut only = frame(0);
    only.bodies.remove(0);
    cache.write(&only).unwrap();
    let cache = CacheReader::open(folder.path()).unwrap();
    let node = |n: usize| place(1, n, 0);
    assert_eq!(cache.positions(0, 0).unwrap(), [node(0), node(1), node(2), [7.0, 8.0, 9.0], node(1)]);
    assert_eq!(cache.bodies()[0].node_of(3), None);
}

/// Catches vertices of a mesh file that are dropped because nothing draws them, and the
/// line that keeps one taken for a segment.
#[test]
fn a_mesh_with_nodes_of_its_own_keeps_every_vertex() {
    let folder = tempfile::tempdir().unwrap();
    let mut body = bodies().remove(0);
    body.rest.materials[0].texture = Some("a picture.png".into());
    body.rest.materials[1].colour = None;
    body.nodes = Some(vec![4, 3, 2, 1, 0]);
    let mut cache = Cache::create(folder.path(), vec![body.clone()], 24.0, 0).unwrap();
    let mut only = frame(0);
    only.bodies.truncate(1);
    cache.write(&only).unwrap();
    let cache = CacheReader::open(folder.path()).unwrap();
    assert_eq!(cache.bodies()[0].rest, body.rest);
    assert_eq!(cache.positions(0, 0).unwrap(), [4, 3, 2, 1, 0].map(|node| place(0, node, 0)));
    let text = fs::read_to_string(folder.path().join("rest/a_sheet.obj")).unwrap();
    assert!(text.ends_with("f 4/4 2/5 5/6\nl 3 3\n"), "{text}");
    let library = fs::read_to_string(folder.path().join("rest/a_sheet.mtl")).unwrap();
    assert_eq!(library, "newmtl red_one\nKd 0.75 0.25 0\nd 1\n# in the source: map_Kd a picture.png\nnewmtl glass\n");
}

/// Catches stale bodies of an earlier run staying behind.
#[test]
fn a_new_cache_takes_the_place_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), 2);
    fs::write(folder.path().join("rest/notes.txt"), "mine").unwrap();
    Cache::create(folder.path(), bodies()[1..].to_vec(), 24.0, 0).unwrap();
    for gone in ["rest/a_sheet.obj", "rest/a_sheet.mtl", "cache/a_sheet.pc2", "cache/a_sheet.nodes"] {
        assert!(!folder.path().join(gone).exists(), "{gone}");
    }
    assert!(folder.path().join("rest/notes.txt").exists());
    assert_eq!(CacheReader::open(folder.path()).unwrap().frames(), 0);
}
