//! A body that tears, through the cache into every format.

use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::{Axes, Body, Clip, Material, Model, Shape, World};
use goop_output::export::{Format, export};
use goop_output::{BodyMesh, Cache, CacheBody, CacheReader, PlySequence, RestMesh, Sink};

/// A strip with a soft middle, pulled in two within half a second.
fn strip() -> Model {
    let shape = Shape::rectangle([0.4, 0.1], [17, 5]).unwrap();
    let ends = [0.0, 1.0].map(|u| -> Vec<u32> {
        (0..shape.len() as u32).filter(|&i| shape.material_coordinates[i as usize].x == u).collect()
    });
    let card = Material { young: 2.0e5, damping: 0.1, tear: 0.3, ..Material::default() };
    let mut material = goop::material::MaterialField::uniform(card);
    material.young.set(&(0..5).map(|j| 17 * j + 8).collect::<Vec<u32>>(), 1.0e5, shape.len());
    let mut body = Body::new("strip", shape, material, Axes::IMPLICIT);
    body.pins.push(body.pin_at_start(&ends[0]));
    let mut pin = body.pin_at_start(&ends[1]);
    let key = |time, x| Key { time, position: DVec3::X * x, rotation: DQuat::IDENTITY };
    pin.motion = Motion::new(vec![key(0.0, 0.0), key(0.5, 0.25)]);
    body.pins.push(pin);
    Model { bodies: vec![body], ..Model::default() }
}

/// Catches a file that a tear makes invalid, and a tear that no file shows.
#[test]
fn a_tear_leaves_every_count_alone_and_opens_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let model = strip();
    let drawn = model.unwelded(0).unwrap();
    let (vertices, nodes) = (drawn.mesh.len(), drawn.nodes.clone());
    let rest = RestMesh::of_shape("strip", &drawn.mesh, 0.0);
    assert_eq!(rest.uvs.len(), vertices);
    let body = CacheBody { rest, nodes: Some(nodes), node_count: model.bodies[0].len() };
    let mesh = BodyMesh { name: "strip".into(), drawn: Some(body.clone()), ..BodyMesh::default() };
    let mut cache = Cache::create(folder.path(), vec![body], 24.0, 0).unwrap();
    let mut files = PlySequence::new(folder.path(), vec![mesh]).unwrap();
    let mut world = World::new(model);
    let frames: Vec<_> = world.play(Clip { seconds: 0.6, fps: 24.0 }).map(Result::unwrap).collect();
    for frame in &frames {
        assert_eq!(frame.bodies[0].drawn.as_ref().unwrap().len(), vertices);
        cache.write(frame).unwrap();
        files.write(frame).unwrap();
    }
    cache.finish().unwrap();
    assert!(frames.last().unwrap().bodies[0].topology_version > 0, "it tore");

    let reader = CacheReader::open(folder.path()).unwrap();
    assert_eq!(reader.frames(), frames.len());
    // Two copies of the middle of an edge lie on one another at first, and apart in the end.
    let apart = |frame: usize| {
        let x = reader.positions(0, frame).unwrap();
        assert_eq!(x.len(), vertices);
        let rest = &drawn.mesh.rest_positions;
        let far = |a: usize, b: usize| DVec3::from_array([0, 1, 2].map(|c| f64::from(x[a][c] - x[b][c]))).length();
        let mut most = 0.0f64;
        for a in 0..vertices {
            for b in (a + 1..vertices).filter(|&b| rest[a] == rest[b]) {
                most = most.max(far(a, b));
            }
        }
        most
    };
    assert_eq!(apart(0), 0.0);
    assert!(apart(frames.len() - 1) > 0.1, "the halves are {} m apart", apart(frames.len() - 1));
    let nodes_last = reader.nodes(0, frames.len() - 1).unwrap();
    assert_eq!(nodes_last.positions, frames.last().unwrap().bodies[0].positions);
    for format in Format::ALL {
        let out = folder.path().join(format.name());
        let report = export(folder.path(), format, &out).unwrap();
        assert!(!report.files.is_empty(), "{}", format.name());
    }
    let obj = |frame: usize| {
        let out = folder.path().join("obj");
        let mut found: Vec<_> = walk(&out).into_iter().filter(|p| p.extension().is_some_and(|e| e == "obj")).collect();
        found.sort();
        let text = std::fs::read_to_string(&found[frame]).unwrap();
        [text.lines().filter(|l| l.starts_with("v ")).count(), text.lines().filter(|l| l.starts_with("f ")).count()]
    };
    assert_eq!(obj(0), [vertices, drawn.mesh.triangles.len()]);
    assert_eq!(obj(frames.len() - 1), obj(0));
    let sizes: Vec<u64> =
        walk(&folder.path().join("frames")).iter().map(|p| std::fs::metadata(p).unwrap().len()).collect();
    assert!(sizes.len() == frames.len() && sizes.iter().all(|s| *s == sizes[0]), "{sizes:?}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { out.extend(walk(&path)) } else { out.push(path) }
    }
    out
}
