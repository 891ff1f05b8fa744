//! Every dialect of the text and binary formats, in files small enough to read here.

mod fuzz;
mod gltf;
mod original;

use super::*;

fn read(extension: &str, bytes: impl AsRef<[u8]>) -> Result<MeshFile, Fault> {
    parse(bytes.as_ref(), extension, Path::new("."), true)
}

fn refusal(extension: &str, bytes: impl AsRef<[u8]>) -> String {
    let Fault { place, message, remedy } = read(extension, bytes).unwrap_err();
    MeshError { file: "m".into(), place, message, remedy }.to_string()
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
const TRIANGLE_PLY: &str = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
    property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";

/// A binary STL of these triangles.
fn binary_stl(header: &str, triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(80, b' ');
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

const FACETS: [[[f32; 3]; 3]; 2] =
    [[[0., 0., 0.], [1., 0., 0.], [1., 1., 0.]], [[0., 0., 0.], [1., 1., 0.], [-0., 1., 0.]]];

/// Catches a reader that stumbles over what exporters really write.
#[test]
fn an_obj_may_use_any_form_of_index_line_and_number() {
    let plain = read("obj", format!("{SQUARE}f 1 2 3\nf 1 3 4\n")).unwrap();
    assert_eq!((plain.positions.len(), plain.triangles.as_slice()), (4, &[[0, 1, 2], [0, 2, 3]][..]));
    assert!(plain.warnings.is_empty() && plain.texture_coordinates.is_none());
    let same = [
        format!("{SQUARE}f 1 2 3 4\n"),
        format!("{SQUARE}f -4 -3 -2 -1"),
        format!("{SQUARE}f 1// 2// 3// 4//\r\n").replace('\n', "\r\n"),
        format!("{SQUARE}f 1//1 2//1 3//1 4//1\nvn 0 0 1\n"),
        format!("# C:\\mine\\\n{SQUARE}f 1 2 \\\n 3 4 # the lot\n"),
        SQUARE.replace(" 0\n", " 0 1.0\n") + "f 1 2 3 4",
        SQUARE.replace(" 0\n", " 0 0.5 0.5 0.5\n") + "s off\nusemtl x\nf 1 2 3 4",
        SQUARE.replace('\n', "\r") + "f 1 2 3 4\r",
        "v 0 0. +0\nv 1e0 -0 .0\nv 1.E0 1.0d0 0\nv 0 +1 0e5\nf\t1  2\t3 4 \n".to_string(),
        format!("f 1 2 3 4\n{SQUARE}"),
    ];
    for text in same {
        let mesh = read("obj", &text).unwrap();
        assert_eq!((&mesh.positions, &mesh.triangles), (&plain.positions, &plain.triangles), "{text}");
        assert!(mesh.warnings.is_empty(), "{text}: {:?}", mesh.warnings);
    }
}

/// Catches texture coordinates given to the wrong vertex.
#[test]
fn an_obj_keeps_the_first_texture_coordinates_of_a_vertex() {
    let mesh = read("obj", format!("{SQUARE}vt 0.1 0.2\nvt 0.3\nf 1/1 2/2 3\nf 1/2 3/1/ 4/9\n")).unwrap();
    assert_eq!(mesh.texture_coordinates.unwrap(), [[0.1, 0.2], [0.3, 0.0], [0.1, 0.2], [0.0, 0.0]]);
    assert_eq!(mesh.warnings, ["1 corners name texture coordinates that are not there"]);
}

/// Catches a face that falls into the wrong group, or into a group that was closed.
#[test]
fn groups_and_objects_of_an_obj_name_their_vertices() {
    let text = format!("{SQUARE}v 5 5 5\no my body\ng ear left\nf 1 2 3\ng tail\nf 1 3 4\ng ear\nf 1 3 5\n");
    let groups = read("obj", text).unwrap().groups;
    let names: Vec<_> = groups.iter().map(|(name, nodes)| (name.as_str(), nodes.as_slice())).collect();
    let expected: [(&str, &[u32]); 4] =
        [("ear", &[0, 1, 2, 4]), ("left", &[0, 1, 2]), ("my body", &[0, 1, 2, 3, 4]), ("tail", &[0, 2, 3])];
    assert_eq!(names, expected);
}

/// Catches an oddity that is fatal though it does no harm, or passes unsaid.
#[test]
fn harmless_faults_of_an_obj_become_warnings() {
    let mesh =
        read("obj", format!("{SQUARE}v 7 7 7\nf 1 2\nf 1 2 3 3\nf 2 2 3\nblob 1\nv 1 1 3.1+e2\nf 1 6 2\n")).unwrap();
    assert_eq!(mesh.triangles.len(), 2);
    assert_eq!(mesh.welded_from, [0, 1, 2, LOOSE, LOOSE, 3]);
    assert_eq!(
        mesh.warnings,
        [
            "line 6: a face with 2 corners is skipped",
            "line 9: 'blob' is not understood and is passed over",
            "line 10: '3.1+e2' is read as 3.1",
            "line 8: a face with the same corner again is skipped",
            "2 vertices belong to no triangle: they take no part, and go with the nearest node",
        ]
    );
    let weighted = read("obj", "v 0 0 0 2\nv 1 0 0\nv 0 1 0\nf 1 2 3").unwrap();
    assert_eq!(weighted.warnings, ["line 1: the weight of a vertex is passed over"]);
    let many = read("obj", SQUARE.to_string() + &"f 1 2\n".repeat(100) + "f 1 2 3 4").unwrap();
    assert_eq!((many.warnings.len(), many.warnings[20].as_str()), (21, "and 80 more like these"));
}

/// Catches a fault without its place or remedy.
#[test]
fn faults_of_an_obj_name_their_line() {
    let cases = [
        ("v 1 2\n", "m, line 1: a number is missing: give all the coordinates"),
        ("v 1 2 3,5\n", "m, line 1: '3,5' is not a number: write it with a decimal point"),
        ("v 1 2 nan\n", "m, line 1: vertex 0 (counted from 0) is not finite: correct its coordinates"),
        ("v 1 2 1e999\n", "m, line 1: vertex 0 (counted from 0) is not finite: correct its coordinates"),
        (
            "v 1 2 3\nf 1 2 3\n",
            "m, line 2: the face names vertex 2, but there are 1: correct the index or add the vertex",
        ),
        ("v 1 2 3\nf 1 /2 3\n", "m, line 2: the corner '/2' names no vertex: start it with a number from 1"),
        ("# nothing\n", "m: the mesh has no triangle with three different corners: export it with at least one face"),
        ("", "m: the mesh has no triangle with three different corners: export it with at least one face"),
    ];
    for (text, message) in cases {
        assert_eq!(refusal("obj", text), message);
    }
    for corner in ["0", "-2", "x", "99999999999999999999", "4294967296", "1/0"] {
        let message = refusal("obj", format!("v 1 2 3\nf {corner} 1 1\n"));
        assert!(message.starts_with("m, line 2: the corner '"), "{message}");
    }
}

/// Catches welding that changes the order of nodes or keeps -0 apart from 0.
#[test]
fn welding_joins_vertices_in_the_same_place() {
    let text = "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv -0 0 -0\nv 1 0 0\nv 1 1 0\ng rim\nf 2 3 4\nf 5 6 7\nf 2 5 3\n";
    let mesh = read("obj", text).unwrap();
    assert_eq!(mesh.welded_from, [LOOSE, 0, 1, 2, 0, 1, 3]);
    assert_eq!((mesh.triangles, mesh.groups["rim"].as_slice()), (vec![[0, 1, 2], [0, 1, 3]], &[0, 1, 2, 3][..]));
    let apart = parse(text.as_bytes(), "obj", Path::new("."), false).unwrap();
    assert_eq!((apart.positions.len(), apart.triangles.len()), (6, 3));
    assert_eq!(apart.welded_from, [LOOSE, 0, 1, 2, 3, 4, 5]);
}

/// Catches a byte order or a property read at the wrong width.
#[test]
fn a_ply_reads_the_same_in_every_encoding() {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment a b\nelement camera 1\nproperty list ushort double k\n\
             element vertex 4\nproperty double x\nproperty uchar red\nproperty short y\nproperty float z\n\
             property float s\nproperty float t\nelement face 2\nproperty int8 flag\n\
             property list uint8 float32 texcoord\nproperty list int uint vertex_index\nend_header\n"
        )
    };
    let points = [[0.5f64, 0.0, 0.25], [2.0, 0.0, 0.0], [2.0, 3.0, 0.0], [0.0, 3.0, -1.0]];
    let faces: [&[u32]; 2] = [&[0, 1, 2, 3], &[3, 1, 0]];
    let mut text = header("ascii");
    let (mut little, mut big) = (header("binary_little_endian").into_bytes(), header("binary_big_endian").into_bytes());
    macro_rules! put {
        ($value:expr) => {{
            let value = $value;
            text += &format!("{value} ");
            little.extend(value.to_le_bytes());
            big.extend(value.to_be_bytes());
        }};
    }
    put!(2u16);
    put!(1.5f64);
    put!(2.5f64);
    for [x, y, z] in points {
        put!(x);
        put!(200u8);
        put!(y as i16);
        put!(z as f32);
        put!((x / 2.0) as f32);
        put!((y / 3.0) as f32);
    }
    for face in faces {
        put!(-5i8);
        put!(1u8);
        put!(0.5f32);
        put!(face.len() as i32);
        face.iter().for_each(|&corner| put!(corner));
    }
    let mac = text.replace('\n', "\r");
    let dos = text.replace('\n', "\r\n");
    for bytes in [text.as_bytes(), &little, &big, mac.as_bytes(), dos.as_bytes()] {
        let mesh = read("ply", bytes).unwrap();
        assert_eq!(mesh.positions, points.map(DVec3::from_array));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [3, 1, 0]]);
        assert_eq!(mesh.texture_coordinates.as_ref().unwrap()[2], [1.0, 1.0]);
        let cut = &bytes[..bytes.len() - 7];
        assert!(read("ply", cut).is_err());
    }
}

/// Catches a header that is believed without a look at the bytes that follow.
#[test]
fn faults_of_a_ply_name_their_place() {
    let with = |from: &str, to: &str| refusal("ply", TRIANGLE_PLY.replace(from, to));
    let short = with("vertex 3", "vertex 4000000000");
    assert_eq!(
        short,
        "m, line 3: 4000000000 of element 'vertex' are declared, but only 26 bytes follow: \
         export the file again or correct the count"
    );
    assert!(with("face 1", "face 18446744073709551615").starts_with("m, line 7: 18446744073709551615 of"));
    assert!(with("vertex 3", "vertex -3").starts_with("m, line 3: the element has no count"));
    assert!(with("1 0 0", "1 x 0").starts_with("m, line 11: 'x' is not a number"));
    assert!(with("1 0 0", "1 inf 0").starts_with("m, line 11: vertex 1 (counted from 0) is not finite"));
    assert!(with("3 0 1 2", "3 0 1 3").starts_with("m, line 13: a face names vertex 3, but there are 3"));
    assert!(with("3 0 1 2", "3 0 1 -1").starts_with("m, line 13: -1 is not the index"));
    assert!(with("3 0 1 2", "90000000 0 1 2").starts_with("m, line 13: a list of 90000000 items"));
    assert!(with("3 0 1 2", "3 0 1").starts_with("m, line 14: the file ends too early"));
    assert!(with("float x", "float w").starts_with("m, line 3: a vertex has no x, y and z"));
    assert!(with("float x", "quad x").starts_with("m, line 4: the type 'quad' is not known"));
    assert!(with("uchar int", "float int").starts_with("m, line 8: the length of a list has a fractional"));
    assert!(with("vertex_indices", "corners").starts_with("m, line 7: a face has no list"));
    assert!(with("format ascii 1.0\n", "").starts_with("m, line 8: the header has no format"));
    assert!(with("end_header", "stop").starts_with("m, line 9: 'stop' is no header line"));
    assert!(with("end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "").starts_with("m, line 9: the header has no end"));
    assert!(with("element vertex 3\n", "").starts_with("m, line 3: a property stands before any element"));
    assert!(with("element face 1", "element facet 1").contains("no triangle"));
}

/// Catches a binary file taken for text because it begins with "solid".
#[test]
fn an_stl_is_told_by_its_length() {
    for header in ["", "solid but binary", "solid facet endsolid"] {
        let mesh = read("stl", binary_stl(header, &FACETS)).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles), (4, vec![[0, 1, 2], [0, 2, 3]]));
        assert_eq!(mesh.welded_from, [0, 1, 2, 0, 2, 3]);
    }
    let mut long = binary_stl("", &FACETS);
    long.push(0);
    assert_eq!(read("stl", &long).unwrap().warnings, ["1 bytes after the last triangle are passed over"]);
    let cut = &binary_stl("", &FACETS)[..150];
    let message = "m, byte 150: the file declares 2 triangles but ends after 1: \
        export it again or correct the count at byte 80";
    assert_eq!(refusal("stl", cut), message);
    assert!(refusal("stl", &cut[..60]).starts_with("m, byte 60: the file ends within the header"));
    let wild = binary_stl("", &[FACETS[0], [[0., 0., 0.], [1., f32::NAN, 0.], [1., 1., 0.]]]);
    assert!(refusal("stl", wild).starts_with("m, byte 134: vertex 4 (counted from 0) is not finite"));
}

/// Catches solids run together, and facets with more than three vertices lost.
#[test]
fn a_text_stl_may_hold_several_solids() {
    let facet = |points: &[&str]| {
        let vertices: String = points.iter().map(|p| format!("    vertex {p}\r\n")).collect();
        format!("  FACET normal 0 0 1\r\n outer loop\r\n{vertices} endloop\r\n endfacet\r\n")
    };
    let triangle = facet(&["0 0 0", "1 0 0", "1.0E+000 1 0"]);
    let text = format!(
        "solid left ear\r\n{triangle}endsolid left ear\r\nsolid b\n{}\n{}endsolid\n",
        facet(&["0 0 5", "1 0 5", "1 1 5", "0 1 5"]),
        facet(&["0 0 0", "1 1 1"])
    );
    let mesh = read("stl", &text).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5], [3, 5, 6]]);
    assert_eq!((mesh.groups["left ear"].as_slice(), mesh.groups["b"].as_slice()), (&[0, 1, 2][..], &[3, 4, 5, 6][..]));
    assert_eq!(mesh.warnings, ["line 24: a facet with 2 vertices is skipped"]);
    let one_line = "solid x facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet";
    assert!(read("stl", one_line.replacen(" facet", "\nfacet", 1)).is_ok());
    assert!(refusal("stl", text.replace("vertex 1 1 5", "vertex 1 1")).contains("line 15: a number is missing"));
    let cut = &text[..text.find("endloop").unwrap()];
    assert!(refusal("stl", cut).contains("line 7: the file ends within a facet"));
}

/// Catches trust in a name that lies.
#[test]
fn the_content_overrules_the_extension() {
    let obj = format!("# a comment\n{SQUARE}f 1 2 3 4\n");
    let stl = binary_stl("", &FACETS);
    for bytes in [obj.as_bytes(), TRIANGLE_PLY.as_bytes(), &stl] {
        for extension in ["obj", "PLY", "Stl", "gltf", "glb", "mesh", ""] {
            let mesh = read(extension, bytes).unwrap();
            assert!(!mesh.triangles.is_empty() && mesh.warnings.len() <= 1, "{extension}: {:?}", mesh.warnings);
        }
    }
    let lied = read("obj", &stl).unwrap().warnings;
    assert_eq!(lied, ["the file's name ends in .obj, but it holds Stl and is read as such"]);
    assert!(refusal("txt", "hello").contains("none of the mesh formats"));
}

/// Catches an error that does not say which file, and a folder opened as one.
#[test]
fn a_file_is_read_from_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("square.OBJ");
    std::fs::write(&path, format!("{SQUARE}f 1 2 3 4\n")).unwrap();
    assert_eq!(read_mesh(&path, true).unwrap().triangles.len(), 2);
    let absent = read_mesh(&folder.path().join("absent.obj"), true).unwrap_err();
    assert!(absent.to_string().contains("absent.obj: the file can't be read ("));
    assert!(read_mesh(folder.path(), true).unwrap_err().message.contains("not a file"));
    let huge = folder.path().join("huge.stl");
    std::fs::File::create(&huge).unwrap().set_len(MOST_BYTES + 1).unwrap();
    assert!(read_mesh(&huge, true).unwrap_err().message.contains("longer than"));
}

/// Catches a limit that is looked at only after memory is taken.
#[test]
fn counts_beyond_the_limits_are_refused() {
    assert!(
        check_vertices(Place::File, MOST_VERTICES).is_ok() && check_vertices(Place::File, MOST_VERTICES + 1).is_err()
    );
    assert!(check_triangles(Place::File, MOST_TRIANGLES).is_ok() && check_triangles(Place::File, usize::MAX).is_err());
}
