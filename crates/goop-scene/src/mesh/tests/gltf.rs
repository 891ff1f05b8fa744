//! glTF as text with base64 or a file beside it, and as GLB.

use super::super::*;

fn read(bytes: impl AsRef<[u8]>) -> Result<MeshFile, Fault> {
    parse(bytes.as_ref(), "gltf", Path::new("."), true)
}

fn refusal(bytes: impl AsRef<[u8]>) -> String {
    read(bytes).unwrap_err().message
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for i in 0..4 {
            let digit = digits[(word >> (18 - 6 * i) & 63) as usize] as char;
            out.push(if i <= group.len() { digit } else { '=' });
        }
    }
    out
}

/// Four corners of a square as floats at 0, texture coordinates as normalised u16 at 48,
/// six u8 indices at 64, and one replacement: u8 index at 70, three floats at 72.
fn buffer() -> Vec<u8> {
    let positions = [[0f32, 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
    let mut bytes: Vec<u8> = positions.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([[0u16, 0], [65535, 0], [65535, 65535], [0, 65535]].iter().flatten().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0, 1, 2, 0, 2, 3, 1, 0]);
    bytes.extend([5f32, 0., 0.].iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

pub(super) fn document(uri: &str, nodes: &str, primitive: &str) -> String {
    let uri = if uri.is_empty() { String::new() } else { format!(r#""uri":"{uri}","#) };
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{nodes}],
        "materials":[{{"name":"red"}}],"meshes":[{{"name":"sheet","primitives":[{{{primitive}}}]}}],
        "buffers":[{{{uri}"byteLength":84}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":16,"byteStride":4}},
        {{"buffer":0,"byteOffset":64,"byteLength":8}},{{"buffer":0,"byteOffset":72,"byteLength":12}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
        {{"bufferView":1,"componentType":5123,"normalized":true,"count":4,"type":"VEC2"}},
        {{"bufferView":2,"componentType":5121,"count":6,"type":"SCALAR"}},
        {{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","sparse":{{"count":1,
        "indices":{{"bufferView":2,"byteOffset":6,"componentType":5121}},"values":{{"bufferView":3}}}}}}]}}"#
    )
}

pub(super) fn embedded(nodes: &str, primitive: &str) -> String {
    document(&format!("data:application/octet-stream;base64,{}", base64(&buffer())), nodes, primitive)
}

pub(super) fn glb(json: &str, blob: &[u8]) -> Vec<u8> {
    let mut text = json.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((28 + text.len() as u32 + blob.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &text[..]), (b"BIN\0", blob)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

const NODE: &str = r#"{"name":"body","mesh":0}"#;
pub(super) const INDEXED: &str = r#""attributes":{"POSITION":0,"TEXCOORD_0":1},"indices":2,"material":0"#;

pub(super) fn binary() -> Vec<u8> {
    glb(&document("", NODE, INDEXED), &buffer())
}

/// Catches a way to carry buffers that is not read, or groups that go missing.
#[test]
fn a_gltf_reads_the_same_however_it_carries_its_buffers() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("my data.bin"), buffer()).unwrap();
    let beside = document("my%20data.bin", NODE, INDEXED);
    let path = folder.path().join("square.gltf");
    std::fs::write(&path, beside).unwrap();
    let meshes = [read(embedded(NODE, INDEXED)).unwrap(), read(binary()).unwrap(), read_mesh(&path, true).unwrap()];
    for mesh in &meshes {
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.positions[2], DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(mesh.texture_coordinates.as_ref().unwrap()[2], [1.0, 1.0]);
        assert_eq!((mesh.groups["body"].len(), mesh.groups["red"].len(), mesh.groups.len()), (4, 4, 2));
        assert!(mesh.warnings.is_empty());
    }
}

/// Catches strips and fans wound alternately, or unindexed triangles dropped.
#[test]
fn a_gltf_may_hold_any_kind_of_triangles() {
    let with = |extra: &str| read(embedded(NODE, &format!(r#""attributes":{{"POSITION":0}}{extra}"#))).unwrap();
    assert_eq!(with(r#","mode":5"#).triangles, [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(with(r#","mode":6"#).triangles, [[1, 2, 0], [2, 3, 0]]);
    let odd = with("");
    assert_eq!((odd.triangles, odd.positions.len()), (vec![[0, 1, 2]], 3));
    assert_eq!(odd.warnings.len(), 2);
    let sparse = read(embedded(NODE, r#""attributes":{"POSITION":3},"indices":2"#)).unwrap();
    assert_eq!(sparse.positions[1], DVec3::new(5.0, 0.0, 0.0));
    assert!(refusal(embedded(NODE, r#""attributes":{"POSITION":0},"mode":1"#)).contains("no triangle"));
}

/// Catches transforms applied in the wrong order, and a mirror that turns a body inside out.
#[test]
fn nodes_move_their_meshes() {
    let nodes = r#"{"children":[1,2],"translation":[10,0,0],"rotation":[0,0,0.7071067811865476,0.7071067811865476]},
        {"name":"a","mesh":0,"scale":[2,1,1]},{"name":"b","mesh":0,"matrix":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,5,1]},
        {"name":"hidden","mesh":0}"#;
    let mesh = read(embedded(nodes, INDEXED)).unwrap();
    assert_eq!((mesh.positions.len(), mesh.groups.contains_key("hidden")), (8, false));
    let corner = |i: usize, at: [f64; 3]| assert!(mesh.positions[i].distance(DVec3::from_array(at)) < 1e-7, "{i}");
    corner(1, [10.0, 2.0, 0.0]);
    corner(3, [9.0, 0.0, 0.0]);
    corner(5, [10.0, -1.0, 5.0]);
    for t in mesh.triangles {
        let [a, b, c] = t.map(|node| mesh.positions[node as usize]);
        assert!((b - a).cross(c - a).z > 0.0);
    }
}

/// Catches endless recursion and exponential trees.
#[test]
fn a_tree_of_nodes_that_is_no_tree_is_refused() {
    let with = |nodes: &str| refusal(embedded(nodes, INDEXED));
    assert_eq!(with(r#"{"children":[1]},{"children":[0]}"#), "node 0 is its own ancestor");
    assert_eq!(with(r#"{"children":[0]}"#), "node 0 is its own ancestor");
    assert_eq!(with(r#"{"children":[1,1]},{"mesh":0}"#), "node 1 has two parents");
    assert_eq!(with(r#"{"children":[7]}"#), "node 7 is named but not there");
    assert_eq!(with(r#"{"mesh":7}"#), "mesh 7 is named but not there");
    let mut chain: Vec<String> = (1..50_000).map(|i| format!(r#"{{"children":[{i}]}}"#)).collect();
    chain.push(r#"{"mesh":0}"#.to_string());
    assert!(read(embedded(&chain.join(","), INDEXED)).is_ok());
}

/// Catches an index, offset or count that is believed.
#[test]
fn accessors_are_checked_against_their_bytes() {
    let good = embedded(NODE, INDEXED);
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        refusal(good.replace(from, to))
    };
    let place = "in primitive 0 of mesh 'sheet': ";
    let past = |accessor| format!("{place}accessor {accessor} reaches past the end of its buffer");
    assert_eq!(with(r#"5126,"count":4,"type":"VEC3"},"#, r#"5126,"count":5,"type":"VEC3"},"#), past(0));
    assert_eq!(with(r#""byteLength":16"#, r#""byteLength":15"#), past(1));
    assert_eq!(with(r#""byteOffset":64"#, r#""byteOffset":18446744073709551615"#), past(2));
    let many = with(r#"5126,"count":4,"type":"VEC3"},"#, r#"5126,"count":18446744073709551615,"type":"VEC3"},"#);
    assert!(many.ends_with("vertices are too many"));
    assert!(with(r#""count":6"#, r#""count":900000000"#).ends_with("triangles are too many"));
    assert_eq!(with(r#""POSITION":0"#, r#""POSITION":9"#), format!("{place}accessor 9 is named but not there"));
    assert_eq!(with(r#""POSITION":0"#, r#""NORMAL":0"#), format!("{place}there are no positions"));
    assert!(with(r#""POSITION":0"#, r#""POSITION":1"#).contains("accessor 1 has another type"));
    assert!(with(r#""indices":2"#, r#""indices":0"#).contains("accessor 0 has another type"));
    assert!(with(r#""byteStride":4"#, r#""byteStride":3"#).contains("items that overlap"));
    assert!(with(r#""byteLength":84"#, r#""byteLength":85"#).contains("buffer 0 has 84 bytes of 85"));
    assert!(with("base64,AAAA", "base64,AA*A").contains("not proper base64"));
    assert!(with(r#""version":"2.0""#, r#""version":"1.0""#).contains("version 1.0"));
    assert!(with(r#""scene":0"#, r#""extensionsRequired":["KHR_draco_mesh_compression"]"#).contains("compressed"));
    let mut wild = buffer();
    wild[12..16].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let message = refusal(glb(&document("", NODE, INDEXED), &wild));
    assert_eq!(message, format!("{place}vertex 1 (counted from 0) is not finite"));
    let mut stray = buffer();
    stray[64] = 4;
    let message = refusal(glb(&document("", NODE, INDEXED), &stray));
    assert_eq!(message, format!("{place}a triangle names vertex 4, but there are 4"));
}

/// Catches a file that reads what lies outside its folder.
#[test]
fn buffers_outside_the_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("secret.bin"), buffer()).unwrap();
    let path = inner.join("m.gltf");
    let outside = folder.path().join("secret.bin").display().to_string();
    for uri in
        ["../secret.bin", "%2e%2e/secret.bin", "file:///etc/passwd", "http://x/y.bin", "..%5csecret.bin", &outside]
    {
        std::fs::write(&path, document(uri, NODE, INDEXED)).unwrap();
        let message = read_mesh(&path, true).unwrap_err().message;
        assert!(message.contains("does not lie in the folder"), "{uri}: {message}");
    }
    std::fs::write(&path, document("absent.bin", NODE, INDEXED)).unwrap();
    assert!(read_mesh(&path, true).unwrap_err().message.contains("the buffer 'absent.bin': the file can't be read"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("secret.bin"), inner.join("link.bin")).unwrap();
        std::fs::write(&path, document("link.bin", NODE, INDEXED)).unwrap();
        assert!(read_mesh(&path, true).unwrap_err().message.contains("does not lie in the folder"));
    }
}

/// Catches a chunk length that runs past the end.
#[test]
fn a_broken_glb_is_refused() {
    let whole = binary();
    for length in [4, 11, 12, 19, 20, 40, whole.len() - 1] {
        assert!(read(&whole[..length]).is_err(), "{length}");
    }
    let mut version = whole.clone();
    version[4] = 1;
    assert!(refusal(&version).contains("version 1 of GLB"));
    let mut chunk = whole;
    chunk[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refusal(&chunk).contains("ends too early"));
}
