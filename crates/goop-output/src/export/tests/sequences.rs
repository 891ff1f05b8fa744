//! OBJ, PLY and VTU.

use super::*;

/// Catches a seam drawn into one, materials mixed up, and lines lost.
#[test]
fn obj_frames_have_corners_with_texture_and_material() {
    let (folder, report) = exported(Format::Obj);
    assert_eq!(report.files.len(), 2 * FRAMES + 1);
    let text = String::from_utf8(read(&folder, "a_sheet/a_sheet.0002.obj")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines[0], "mtllib a_sheet.mtl");
    let [x, y, z] = sheet(2)[3];
    assert_eq!(lines[4], format!("v {x} {y} {z}"));
    assert_eq!(
        lines[5..].join("|"),
        "vt 0 0|vt 1 0|vt 0 1|vt 2 1|vt 3 0|vt 3 1|usemtl glass|f 1/1 2/2 3/3|usemtl red_one|f 3/4 2/5 4/6"
    );
    let library = String::from_utf8(read(&folder, "a_sheet/a_sheet.mtl")).unwrap();
    assert_eq!(library, "newmtl red_one\nKd 0.75 0.25 0\nd 1\nnewmtl glass\nKd 0.5 0.5 1\nd 0.25\n");
    assert!(String::from_utf8(read(&folder, "rope/rope.0000.obj")).unwrap().ends_with("l 1 2\nl 2 3\n"));
}

/// Catches a header that does not describe the bytes after it, and data of another node.
#[test]
fn ply_frames_have_node_data_at_the_vertices() {
    let (folder, _) = exported(Format::Ply);
    let bytes = read(&folder, "a_sheet/a_sheet.0003.ply");
    let end = b"end_header\n";
    let at = bytes.windows(end.len()).position(|w| w == end).unwrap() + end.len();
    let header = std::str::from_utf8(&bytes[..at]).unwrap();
    let properties: Vec<&str> = header.lines().filter_map(|line| line.strip_prefix("property float ")).collect();
    assert_eq!(properties, ["x", "y", "z", "vx", "vy", "vz", "stretch", "s", "t"]);
    assert!(header.contains("element vertex 4\n") && header.contains("element face 2\n") && !header.contains("edge"));
    let vertex = |v: usize| -> Vec<f32> {
        let bytes = &bytes[at + 36 * v..at + 36 * (v + 1)];
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let [x, y, z] = sheet(3)[2];
    // The third vertex is the fourth node.
    assert_eq!(vertex(2), [x, y, z, 3.0, -1.5, 3.0, 0.75 - 0.375, 0.0, 1.0]);
    assert!(header.contains("comment material 0 red one\ncomment material 1 glass\n"));
    let face =
        "property list uchar int vertex_indices\nproperty list uchar float texcoord\nproperty int material_index\n";
    assert!(header.ends_with(&format!("{face}end_header\n")));
    let corners = |values: [f32; 6]| values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let faces = [
        vec![3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 6],
        corners([0.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
        vec![1, 0, 0, 0, 3, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 6],
        corners([2.0, 1.0, 3.0, 0.0, 3.0, 1.0]),
        vec![0, 0, 0, 0],
    ];
    assert_eq!(bytes[at + 4 * 36..], faces.concat());
    let rope = read(&folder, "rope/rope.0000.ply");
    assert!(rope.ends_with(&[0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]));
}

/// The bytes of a data array, after its count.
fn array(text: &str, name: &str) -> Vec<u8> {
    let at = text.find(&format!("Name=\"{name}\"")).unwrap();
    let start = at + text[at..].find('>').unwrap() + 1;
    let coded = &text[start..start + text[start..].find('<').unwrap()];
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in coded.as_bytes().chunks_exact(4) {
        let used = four.iter().filter(|&&c| c != b'=').count();
        let bits = four.iter().fold(0u32, |bits, &c| bits << 6 | if c == b'=' { 0 } else { u32::from(digit(c)) });
        bytes.extend(&bits.to_be_bytes()[1..used]);
    }
    assert_eq!(u64::from_le_bytes(bytes[..8].try_into().unwrap()), bytes.len() as u64 - 8, "{name}");
    bytes.split_off(8)
}

/// Catches wrong counts, offsets and types of cells, and times that begin at 1.
#[test]
fn vtu_frames_have_cells_and_point_data() {
    let (folder, report) = exported(Format::Vtu);
    assert_eq!(report.files.len(), 2 * FRAMES + 1);
    let text = String::from_utf8(read(&folder, "a_sheet/a_sheet.0001.vtu")).unwrap();
    assert!(text.contains("NumberOfPoints=\"4\" NumberOfCells=\"2\""));
    let floats = |name: &str| -> Vec<f32> {
        array(&text, name).chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    assert_eq!(triples(&floats("Points")), sheet(1));
    assert_eq!(triples(&floats("velocity")), [0.0, 1.0, 3.0, 4.0].map(|n| [n, -1.5, 1.0]));
    assert_eq!(floats("stretch"), [0.0, 1.0, 3.0, 4.0].map(|n: f32| 0.25 * n - 0.125));
    let integers = |text: &str, name: &str| -> Vec<i64> {
        array(text, name).chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
    };
    assert_eq!(integers(&text, "connectivity"), [0, 1, 2, 2, 1, 3]);
    assert_eq!(integers(&text, "offsets"), [3, 6]);
    assert_eq!(array(&text, "types"), [5, 5]);
    assert_eq!(array(&text, "material"), [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(floats("corner_uv"), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 1.0, 3.0, 0.0, 3.0, 1.0]);
    let rope = String::from_utf8(read(&folder, "rope/rope.0000.vtu")).unwrap();
    assert_eq!(integers(&rope, "offsets"), [2, 4]);
    assert_eq!(array(&rope, "types"), [3, 3]);
    let collection = String::from_utf8(read(&folder, "scene.pvd")).unwrap();
    assert_eq!(collection.matches("<DataSet").count(), 2 * FRAMES);
    assert!(collection.contains("timestep=\"0.125\" part=\"1\" file=\"rope/rope.0003.vtu\""), "{collection}");
}
