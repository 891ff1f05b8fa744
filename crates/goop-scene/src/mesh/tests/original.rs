//! What the file has, kept beside what the simulation makes of it.

use super::super::*;
use super::{FACETS, binary_stl, gltf};

/// A strip of a quad and two triangles that shares a seam: five vertices in use, seven
/// texture coordinates, two materials and a name without a description, a vertex of
/// nothing in front and one at the end.
const SEAM: &str = "mtllib the paint.mtl
v 9 9 9
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 2 0.5 0
v 1.1 1 7
vt 0 0
vt 0.5 0
vt 0.5 1
vt 0 1
vt 0.6 0
vt 0.6 1
vt 1 0.5
f 2/4 4/3 5/4
usemtl deep red
f 2/1 3/2 4/3 5/4
usemtl glass
f 3/5 6/7 4/6
usemtl plain
f 6/7 3 2/1
";

fn seam(library: Option<&str>) -> MeshFile {
    let folder = tempfile::tempdir().unwrap();
    if let Some(text) = library {
        std::fs::write(folder.path().join("the paint.mtl"), text).unwrap();
    }
    let path = folder.path().join("seam.obj");
    std::fs::write(&path, SEAM).unwrap();
    read_mesh(&path, true).unwrap()
}

/// Catches vertices renumbered, a corner that takes its neighbour's texture coordinate when
/// a polygon is cut, and a face under the material before or after it.
#[test]
fn an_obj_keeps_order_texture_coordinates_and_materials() {
    let library = "newmtl glass\nKd .5 .5 1 # blue\nTr 0.75\nnewmtl deep red\r\nKd 0.5 0.1 0\nmap_Kd a cloth.png\n\
        newmtl unused\nKd 1 1 1\n";
    let mesh = seam(Some(library));
    let skin = &mesh.original;
    assert_eq!(skin.positions.len(), 7);
    assert_eq!((skin.positions[0], skin.positions[5]), (DVec3::splat(9.0), DVec3::new(2.0, 0.5, 0.0)));
    assert_eq!(skin.triangles, [[1, 3, 4], [1, 2, 3], [1, 3, 4], [2, 5, 3], [5, 2, 1]]);
    let uvs = [[0., 0.], [0.5, 0.], [0.5, 1.], [0., 1.], [0.6, 0.], [0.6, 1.], [1., 0.5], [0., 0.]];
    assert_eq!(skin.uvs, uvs);
    assert_eq!(skin.triangle_uvs, [[3, 2, 3], [0, 1, 2], [0, 2, 3], [4, 6, 5], [6, 7, 0]]);
    let paint = |name: &str, colour, texture: Option<&str>| Paint {
        name: name.into(),
        colour,
        texture: texture.map(str::to_string),
    };
    assert_eq!(
        skin.paints,
        [
            paint("no material", None, None),
            paint("deep red", Some([0.5, 0.1, 0.0, 1.0]), Some("a cloth.png")),
            paint("glass", Some([0.5, 0.5, 1.0, 0.25]), None),
            paint("plain", None, None),
        ]
    );
    assert_eq!(skin.triangle_paints, [0, 1, 1, 2, 3]);
    assert_eq!(mesh.warnings, ["2 vertices belong to no triangle: they take no part, and go with the nearest node"]);
    // (9, 9, 9) is nearest to (2, 0.5, 0) and (1.1, 1, 7) to (1, 1, 0).
    assert_eq!(skin.nodes, [4, 0, 1, 2, 3, 4, 2]);
}

/// Catches names lost with the file that describes them.
#[test]
fn an_obj_without_its_library_keeps_the_names() {
    let mesh = seam(None);
    let names: Vec<_> = mesh.original.paints.iter().map(|paint| paint.name.as_str()).collect();
    assert_eq!(names, ["no material", "deep red", "glass", "plain"]);
    assert!(mesh.original.paints.iter().all(|paint| paint.colour.is_none()));
    assert!(mesh.warnings[0].starts_with("line 1: the paint.mtl: the file can't be read"), "{:?}", mesh.warnings);
    let outside = parse(SEAM.replace("the paint", "../p").as_bytes(), "obj", Path::new("."), true).unwrap();
    assert_eq!(outside.warnings[0], "line 1: '../p.mtl' lies outside the folder and is not read");
    let odd = seam(Some("Kd 1 1 1\nnewmtl glass\nKd spectral x.rfl\nKd 0.25\nd nan\n"));
    assert_eq!(odd.original.paints[2].colour, Some([0.25, 0.25, 0.25, 1.0]));
    assert!(odd.warnings[..2].iter().all(|w| w.starts_with("the paint.mtl, line ")), "{:?}", odd.warnings);
}

/// Catches a triangle that welding flattens being lost from what is drawn, and with it the
/// order of those behind it.
#[test]
fn what_welding_drops_is_still_drawn() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv 0 5 5\nf 1 4 5\nf 1 2 3\nf 4 3 2\n";
    let mesh = parse(text.as_bytes(), "obj", Path::new("."), true).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 1]]);
    assert_eq!(mesh.original.triangles, [[0, 3, 4], [0, 1, 2], [3, 2, 1]]);
    assert_eq!(mesh.original.nodes, [0, 1, 2, 0, 2]);
}

/// Catches texture coordinates of corners taken for those of vertices, and a face without.
#[test]
fn a_ply_keeps_texture_coordinates_of_vertices_or_of_corners() {
    let header = |vertex: &str, face: &str| {
        format!(
            "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n{vertex}\
             element face 2\nproperty list uchar int vertex_indices\n{face}end_header\n"
        )
    };
    let read = |text: String| parse(text.as_bytes(), "ply", Path::new("."), true).unwrap().original;
    let uv = "property float u\nproperty float v\n";
    let by_vertex = header(uv, "") + "5 5 5 .5 .5\n0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 1 0 0 1\n3 1 3 4\n3 1 2 3\n";
    let skin = read(by_vertex);
    assert_eq!(skin.uvs, [[0.5, 0.5], [0., 0.], [1., 0.], [1., 1.], [0., 1.]]);
    assert_eq!((skin.triangles, skin.triangle_uvs), (vec![[1, 3, 4], [1, 2, 3]], vec![]));
    assert_eq!(skin.nodes, [2, 0, 1, 2, 3]);
    let list = "property list uchar float texcoord\n";
    let points = "5 5 5\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
    let by_corner = header("", list) + points + "4 1 2 3 4 8 0 0 .5 0 .5 1 0 1\n3 1 3 2 0\n";
    let skin = read(by_corner);
    assert_eq!(skin.uvs, [[0., 0.], [0.5, 0.], [0.5, 1.], [0., 1.], [0., 0.], [0., 0.], [0., 0.]]);
    assert_eq!(skin.triangle_uvs, [[0, 1, 2], [0, 2, 3], [4, 5, 6]]);
}

/// Catches a soup that is welded in what is drawn.
#[test]
fn an_stl_stays_the_soup_it_is() {
    let skin = parse(&binary_stl("", &FACETS), "stl", Path::new("."), true).unwrap().original;
    assert_eq!((skin.positions.len(), skin.triangles), (6, vec![[0, 1, 2], [3, 4, 5]]));
    assert_eq!(skin.nodes, [0, 1, 2, 0, 2, 3]);
}

/// Catches v left pointing down, colours under the wrong primitive, and opacity believed
/// where the material is opaque.
#[test]
fn a_gltf_keeps_texture_coordinates_and_materials_of_every_primitive() {
    let nodes = r#"{"mesh":0}"#;
    let document = gltf::embedded(nodes, gltf::INDEXED);
    let two = r#""materials":[{"name":"never"},{"alphaMode":"BLEND","pbrMetallicRoughness":{"baseColorFactor":[0.25,0.5,0.75,0.5],
        "baseColorTexture":{"index":0}}},{"name":"red","pbrMetallicRoughness":{"baseColorFactor":[1,0,0,0.5]}}],
        "textures":[{"source":0}],"images":[{"uri":"cloth.png"}]"#;
    let document = document.replace(r#""materials":[{"name":"red"}]"#, two);
    let plain = r#"{"attributes":{"POSITION":0},"indices":2"#;
    let primitive = format!("{{{}}}", gltf::INDEXED);
    let more =
        format!(r#"{},{plain},"material":1}},{plain}}}"#, primitive.replace(r#""material":0"#, r#""material":2"#));
    let mesh = parse(document.replace(&primitive, &more).as_bytes(), "gltf", Path::new("."), true).unwrap();
    let skin = mesh.original;
    assert_eq!((skin.positions.len(), mesh.positions.len(), skin.triangles.len()), (12, 4, 6));
    assert_eq!(skin.uvs[..4], [[0., 1.], [1., 1.], [1., 0.], [0., 0.]]);
    assert_eq!(skin.uvs.len(), 12);
    assert_eq!(skin.triangle_paints, [0, 0, 1, 1, 2, 2]);
    let paints: Vec<_> = skin.paints.iter().map(|paint| (paint.name.as_str(), paint.colour)).collect();
    let expected =
        [("red", Some([1.0, 0.0, 0.0, 1.0])), ("material 1", Some([0.25, 0.5, 0.75, 0.5])), ("no material", None)];
    assert_eq!(paints, expected);
    assert_eq!(skin.paints[1].texture.as_deref(), Some("cloth.png"));
}
