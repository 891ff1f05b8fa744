//! Frames written to a folder and read back by readers of our own.

use glam::DVec3;
use goop::frame::{BodyFrame, Frame};
use goop::ledger::Row;
use goop_output::{
    BodyMesh, CacheBody, Material, ObjSequence, OutputError, PlySequence, Probes, RestMesh, Sink, Stats,
};
use std::fs;

fn frame(index: usize) -> Frame {
    let body = |nodes: usize, kinetic: f64| BodyFrame {
        positions: (0..nodes).map(|i| [i as f32, -0.5 * i as f32, 1e-3]).collect(),
        velocities: (0..nodes).map(|i| [0.0, i as f32 + index as f32, -2.0]).collect(),
        stretch: (0..nodes).map(|i| 0.01 * i as f32).collect(),
        row: Row { kinetic, initial: 1.0, contacts: 2, ..Row::default() },
        ..BodyFrame::default()
    };
    let bodies = vec![body(4, 0.25), body(3, 1.0 / 3.0)];
    let mut ledger = bodies[0].row;
    ledger.add(&bodies[1].row);
    let probes = vec![DVec3::new(0.1, 0.2, 0.3), DVec3::new(-1.0, f64::NAN, 1e-12)];
    Frame { index, time: index as f64 / 30.0, bodies, probes, ledger, ..Frame::default() }
}

fn meshes() -> Vec<BodyMesh> {
    vec![
        BodyMesh { name: "a sheet".into(), triangles: vec![[0, 1, 2], [2, 1, 3]], segments: vec![], drawn: None },
        BodyMesh { name: "rope".into(), triangles: vec![], segments: vec![[0, 1], [1, 2]], drawn: None },
    ]
}

/// Catches frames of a mesh file in the order of nodes, and without what the file had.
#[test]
fn a_mesh_from_a_file_is_written_as_it_was_there() {
    let rest = RestMesh {
        name: "a sheet".into(),
        positions: vec![[9.0; 3]; 5],
        triangles: vec![[1, 2, 3], [4, 3, 2]],
        uvs: vec![[0.0, 0.5], [1.0, 0.5], [0.5, 1.0]],
        triangle_uvs: vec![[0, 1, 2], [2, 1, 0]],
        materials: vec![Material::new("red", Some([1.0, 0.0, 0.0, 1.0]))],
        ..RestMesh::default()
    };
    let body = CacheBody { rest, nodes: Some(vec![3, 3, 1, 2, 0]), node_count: 4 };
    let all = || {
        let mut all = meshes();
        all[0].drawn = Some(body.clone());
        all
    };
    let folder = tempfile::tempdir().unwrap();
    ObjSequence::new(folder.path(), all()).unwrap().write(&frame(0)).unwrap();
    PlySequence::new(folder.path(), all()).unwrap().write(&frame(0)).unwrap();
    let frames = folder.path().join("frames/a_sheet");
    let text = fs::read_to_string(frames.join("a_sheet.0000.obj")).unwrap();
    let wanted = "mtllib materials.mtl\nv 3 -1.5 0.001\nv 3 -1.5 0.001\nv 1 -0.5 0.001\nv 2 -1 0.001\nv 0 -0 0.001\n\
        vt 0 0.5\nvt 1 0.5\nvt 0.5 1\nusemtl red\nf 2/1 3/2 4/3\nf 5/3 4/2 3/1\nl 1 1\n";
    assert_eq!(text.split_once('\n').unwrap().1, wanted);
    assert_eq!(fs::read_to_string(frames.join("materials.mtl")).unwrap(), "newmtl red\nKd 1 0 0\nd 1\n");
    let ply = read_ply(&fs::read(frames.join("a_sheet.0000.ply")).unwrap());
    let (vertices, faces) = (&ply.elements[0].1, &ply.elements[1].1);
    let number = |value: f32| f64::from(value);
    assert_eq!(vertices[2], [1.0, -0.5, number(1e-3), 0.0, 1.0, -2.0, number(0.01), 1.0, 0.5]);
    assert_eq!(faces[1], [4.0, 3.0, 2.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.5, 0.0]);
    let mut wrong = all();
    wrong[0].drawn.as_mut().unwrap().node_count = 5;
    let mut sequence = PlySequence::new(folder.path(), wrong).unwrap();
    assert!(matches!(sequence.write(&frame(0)), Err(OutputError::Mismatch { expected: 5, found: 4, .. })));
}

/// A PLY reader that knows float, int and one list of them, from the header alone.
struct Ply {
    elements: Vec<(String, Vec<Vec<f64>>)>,
}

fn read_ply(bytes: &[u8]) -> Ply {
    let end = b"end_header\n";
    let at = bytes.windows(end.len()).position(|w| w == end).expect("end of header") + end.len();
    let header = std::str::from_utf8(&bytes[..at]).unwrap();
    let mut lines = header.lines();
    assert_eq!(lines.next(), Some("ply"));
    assert_eq!(lines.next(), Some("format binary_little_endian 1.0"));
    let mut layout: Vec<(String, usize, Vec<String>)> = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "element" => layout.push((words[1].into(), words[2].parse().unwrap(), Vec::new())),
            "property" => layout.last_mut().unwrap().2.push(words[1..words.len() - 1].join(" ")),
            "comment" | "end_header" => {}
            other => panic!("{other}"),
        }
    }
    let mut rest = &bytes[at..];
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at(n);
        rest = tail;
        head.to_vec()
    };
    let mut elements = Vec::new();
    for (name, count, properties) in layout {
        let mut items = Vec::new();
        for _ in 0..count {
            let mut item = Vec::new();
            for property in &properties {
                let four = |bytes: Vec<u8>| <[u8; 4]>::try_from(bytes).unwrap();
                match property.as_str() {
                    "float" => item.push(f64::from(f32::from_le_bytes(four(take(4))))),
                    "int" => item.push(f64::from(i32::from_le_bytes(four(take(4))))),
                    "list uchar int" => {
                        let length = take(1)[0];
                        item.extend((0..length).map(|_| f64::from(i32::from_le_bytes(four(take(4))))));
                    }
                    "list uchar float" => {
                        let length = take(1)[0];
                        item.extend((0..length).map(|_| f64::from(f32::from_le_bytes(four(take(4))))));
                    }
                    other => panic!("{other}"),
                }
            }
            items.push(item);
        }
        elements.push((name, items));
    }
    assert!(rest.is_empty(), "{} bytes too many", rest.len());
    Ply { elements }
}

/// Catches a header that does not describe the bytes after it, and mixed-up columns.
#[test]
fn ply_frames_read_back_with_every_count_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = PlySequence::new(folder.path(), meshes()).unwrap();
    sink.write(&frame(0)).unwrap();
    sink.write(&frame(7)).unwrap();
    sink.finish().unwrap();

    let sheet = read_ply(&fs::read(folder.path().join("frames/a_sheet/a_sheet.0007.ply")).unwrap());
    assert_eq!(sheet.elements.len(), 2);
    let (name, nodes) = &sheet.elements[0];
    assert_eq!((name.as_str(), nodes.len()), ("vertex", 4));
    assert_eq!(nodes[3], [3.0, -1.5, f64::from(1e-3f32), 0.0, 10.0, -2.0, f64::from(0.01f32 * 3.0)]);
    assert_eq!(sheet.elements[1], ("face".into(), vec![vec![0.0, 1.0, 2.0], vec![2.0, 1.0, 3.0]]));

    let rope = read_ply(&fs::read(folder.path().join("frames/rope/rope.0000.ply")).unwrap());
    assert_eq!(rope.elements[1], ("edge".into(), vec![vec![0.0, 1.0], vec![1.0, 2.0]]));
}

/// Catches node numbers that count from 0, and faces of the wrong body.
#[test]
fn obj_frames_count_nodes_from_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = ObjSequence::new(folder.path(), meshes()).unwrap();
    sink.write(&frame(12345)).unwrap();
    let sheet = fs::read_to_string(folder.path().join("frames/a_sheet/a_sheet.12345.obj")).unwrap();
    let lines: Vec<&str> = sheet.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines[1], "v 1 -0.5 0.001");
    assert_eq!(lines[4..], ["f 1 2 3", "f 3 2 4"]);
    let rope = fs::read_to_string(folder.path().join("frames/rope/rope.12345.obj")).unwrap();
    assert!(rope.ends_with("l 1 2\nl 2 3\n"), "{rope}");
}

/// Catches files that draw nodes which are not there.
#[test]
fn a_mesh_that_does_not_fit_its_body_is_refused_before_a_file_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let mut bodies = meshes();
    bodies[0].triangles.push([0, 1, 4]);
    let mut sink = PlySequence::new(folder.path(), bodies).unwrap();
    assert!(matches!(sink.write(&frame(0)), Err(OutputError::NodeOutOfRange { index: 4, nodes: 4, .. })));
    let mut few = PlySequence::new(folder.path(), meshes()[..1].to_vec()).unwrap();
    assert!(matches!(few.write(&frame(0)), Err(OutputError::Mismatch { expected: 1, found: 2, .. })));
    assert_eq!(fs::read_dir(folder.path().join("frames/a_sheet")).unwrap().count(), 0);
}

/// Catches a column without a name, a name without a column, and a total that is not first.
#[test]
fn stats_have_a_total_and_a_row_per_body_under_every_heading() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Stats::create(folder.path(), vec!["a sheet".into(), "rope".into()]).unwrap();
    sink.write(&frame(0)).unwrap();
    sink.write(&frame(1)).unwrap();
    sink.finish().unwrap();
    let text = fs::read_to_string(folder.path().join("stats.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + 2 * 3);
    assert_eq!(rows[0].len(), 33);
    for row in &rows[1..] {
        assert_eq!(row.len(), 33);
        for (column, field) in row.iter().enumerate() {
            assert!(column == 2 || field.parse::<f64>().is_ok(), "{}: {field}", rows[0][column]);
        }
    }
    let column = |name: &str| rows[0].iter().position(|heading| *heading == name).unwrap();
    let names: Vec<&str> = rows[1..].iter().map(|row| row[column("body")]).collect();
    assert_eq!(names, ["all", "a sheet", "rope", "all", "a sheet", "rope"]);
    assert_eq!(rows[3][column("kinetic")].parse::<f64>().unwrap(), 1.0 / 3.0);
    assert_eq!(rows[4][column("time")].parse::<f64>().unwrap(), 1.0 / 30.0);
    assert_eq!(rows[2][column("residue")].parse::<f64>().unwrap(), 0.25 - 1.0);
    assert_eq!(rows[1][column("contacts")], "4");
}

/// Catches probes in the wrong order and values that lose digits.
#[test]
fn probes_have_three_columns_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Probes::create(folder.path(), &["tip".into(), "mid".into()]).unwrap();
    sink.write(&frame(0)).unwrap();
    let text = fs::read_to_string(folder.path().join("probes.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "frame,time,tip_x,tip_y,tip_z,mid_x,mid_y,mid_z");
    assert_eq!(lines[1], "0,0.0,0.1,0.2,0.3,-1.0,NaN,1e-12");
}
