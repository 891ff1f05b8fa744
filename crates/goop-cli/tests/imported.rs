//! Meshes from files, through a run and out again: order, texture coordinates, materials.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A strip whose vertices come backwards, with a seam down the middle (eight texture
/// coordinates for six vertices), a quad, a triangle pair, two materials and a loose vertex.
const STRIP: &str = "mtllib strip.mtl
v 2 1 0
v 2 0 0
v 8 8 8
v 1 1 0
v 1 0 0
v 0 1 0
v 0 0 0
vt 0 0
vt 0.4 0
vt 0.4 1
vt 0 1
vt 0.6 0
vt 1 0
vt 1 1
vt 0.6 1
usemtl cloth
f 7/1 5/2 4/3 6/4
usemtl brass
f 5/5 2/6 1/7
f 5/5 1/7 4/8
";
const PAINT: &str = "newmtl brass\nKd 0.75 0.5 0.25\nd 0.5\nnewmtl cloth\nKd 0.25 0.125 0.5\n";
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
    property float s\nproperty float t\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
    1 1 0 1 1\n0 0 0 0 0\n0 1 0 0 1\n1 0 0 1 0\n4 1 3 0 2\n";
const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 1 0\nvertex 0 1 0\nvertex 0 0 0\nendloop\nendfacet\n\
    facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid a\n";

/// A square as binary glTF: two primitives with a material each, v downwards.
fn glb() -> Vec<u8> {
    let positions = [[0f32, 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
    let uvs = [[0f32, 1.], [1., 1.], [1., 0.], [0., 0.5], [0.5, 0.], [0., 0.]];
    let numbers = positions.as_flattened().iter().chain(uvs.as_flattened());
    let blob: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
    let accessor = |view: usize, start: usize, kind: &str| {
        format!(r#"{{"bufferView":{view},"byteOffset":{start},"componentType":5126,"count":3,"type":"{kind}"}}"#)
    };
    let primitive = |p: usize| format!(r#"{{"attributes":{{"POSITION":{p},"TEXCOORD_0":{}}},"material":{p}}}"#, p + 2);
    let material = |name: &str, red: f32| {
        format!(r#"{{"name":"{name}","pbrMetallicRoughness":{{"baseColorFactor":[{red},0.25,0.5,1]}}}}"#)
    };
    let mut json = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{},{}]}}],"materials":[{},{}],
        "buffers":[{{"byteLength":120}}],"bufferViews":[{{"buffer":0,"byteLength":72}},
        {{"buffer":0,"byteOffset":72,"byteLength":48}}],"accessors":[{},{},{},{}]}}"#,
        primitive(0),
        primitive(1),
        material("oak", 0.5),
        material("ash", 0.75),
        accessor(0, 0, "VEC3"),
        accessor(0, 36, "VEC3"),
        accessor(1, 0, "VEC2"),
        accessor(1, 24, "VEC2")
    )
    .into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((28 + json.len() as u32 + blob.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &blob)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

fn goop(folder: &Path, args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_goop")).current_dir(folder).args(args).output().expect("goop starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The bodies of all four files, the strip twice as wide, falling for three frames.
fn scene(folder: &Path) {
    let files: [(&str, &[u8]); 5] = [
        ("strip.obj", STRIP.as_bytes()),
        ("strip.mtl", PAINT.as_bytes()),
        ("tile.ply", PLY.as_bytes()),
        ("soup.stl", STL.as_bytes()),
        ("wood.glb", &glb()),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let mut text = String::from("format = 1\n[clip]\nseconds = 0.1\nfps = 20\n");
    for (name, file, scale) in
        [("strip", "strip.obj", 2), ("tile", "tile.ply", 1), ("soup", "soup.stl", 1), ("wood", "wood.glb", 1)]
    {
        text += &format!(
            "[[body]]\nname = \"{name}\"\nformulation = \"implicit\"\nposition = [0, 3, 0]\nscale = [{scale}, 1, 1]\n\
             [body.shape.mesh]\nfile = \"{file}\"\n[body.material]\npreset = \"rubber\"\n"
        );
    }
    std::fs::write(folder.join("scene.toml"), text).unwrap();
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// All lines that begin with a word, without it.
fn lines<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
}

/// Positions of a frame of a PC2.
fn pc2(path: &Path, frame: usize) -> Vec<[f32; 3]> {
    let bytes = std::fs::read(path).unwrap();
    let count = i32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
    let floats: Vec<f32> = bytes[32..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    floats.as_chunks::<3>().0[count * frame..count * (frame + 1)].to_vec()
}

/// Catches the welded mesh, or one without textures or materials, anywhere on the way from
/// an OBJ into the run folder, and vertices that part from the body as it moves.
#[test]
fn the_run_folder_has_the_mesh_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path());
    let run = goop(folder.path(), &["run", "scene.toml", "-o", "out", "--format", "obj", "--no-movie"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("1 vertices belong to no triangle") && said.contains("nearest node"), "{said}");
    let out = folder.path().join("out");
    let source: Vec<Vec<f32>> =
        lines(STRIP, "v").iter().map(|line| line.split(' ').map(|x| x.parse().unwrap()).collect()).collect();
    let faces = ["7/1 5/2 4/3", "7/1 4/3 6/4", "5/5 2/6 1/7", "5/5 1/7 4/8"];
    for path in ["rest/strip.obj", "frames/strip/strip.0002.obj"] {
        let found = text(&out.join(path));
        assert_eq!((lines(&found, "v").len(), lines(&found, "vt")), (7, lines(STRIP, "vt")), "{path}");
        assert_eq!((lines(&found, "f"), lines(&found, "usemtl")), (faces.to_vec(), vec!["cloth", "brass"]), "{path}");
    }
    let rest = text(&out.join("rest/strip.obj"));
    for (line, place) in lines(&rest, "v").iter().zip(&source) {
        assert_eq!(*line, format!("{} {} {}", 2.0 * place[0], place[1], place[2]));
    }
    assert_eq!(
        text(&out.join("rest/strip.mtl")),
        "newmtl cloth\nKd 0.25 0.125 0.5\nd 1\nnewmtl brass\nKd 0.75 0.5 0.25\nd 0.5\n"
    );
    let fallen = |frame: usize, name: &str| pc2(&out.join(format!("cache/{name}.pc2")), frame);
    for (found, place) in fallen(0, "strip").iter().zip(&source).filter(|(_, place)| place[0] < 8.0) {
        assert_eq!(found, &[2.0 * place[0], 3.0 + place[1], place[2]]);
    }
    let strip = fallen(2, "strip");
    // Vertices fall; the loose one stays with its node, the first.
    assert!(strip.iter().all(|p| p[1] < 4.0 - 0.03) && strip[2] == strip[0]);
    assert_eq!([fallen(2, "tile").len(), fallen(2, "soup").len(), fallen(2, "wood").len()], [4, 6, 6]);
    let soup = fallen(2, "soup");
    assert_eq!((soup[2], soup[0]), (soup[3], soup[5]));
    let (tile, wood) = (text(&out.join("rest/tile.obj")), text(&out.join("rest/wood.obj")));
    assert_eq!((lines(&tile, "v")[1], lines(&tile, "vt")), ("0 0 0", vec!["1 1", "0 0", "0 1", "1 0"]));
    assert_eq!(lines(&tile, "f"), ["2/2 4/4 1/1", "2/2 1/1 3/3"]);
    assert_eq!(lines(&wood, "vt"), ["0 0", "1 0", "1 1", "0 0.5", "0.5 1", "0 1"]);
    assert_eq!((lines(&wood, "f"), lines(&wood, "usemtl")), (vec!["1/1 2/2 3/3", "4/4 5/5 6/6"], vec!["oak", "ash"]));
}

/// Catches an exporter that leaves something behind, and a run that can't be resumed, drawn
/// or exported once its sources are gone.
#[test]
fn every_export_has_order_texture_coordinates_and_materials() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path());
    let run = ["run", "scene.toml", "-o", "out", "--quiet", "--no-movie"];
    goop(folder.path(), &run);
    let whole = std::fs::read(folder.path().join("out/cache/strip.pc2")).unwrap();
    goop(folder.path(), &[&run[..], &["--resume"]].concat());
    assert_eq!(std::fs::read(folder.path().join("out/cache/strip.pc2")).unwrap(), whole);
    for name in ["strip.obj", "strip.mtl", "tile.ply", "soup.stl", "wood.glb", "scene.toml"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    for format in ["pc2", "mdd", "obj", "ply", "glb", "usda", "usdc", "vtu"] {
        goop(folder.path(), &["export", "out", "--to", format, "-o", format]);
    }
    let at = |path: &str| folder.path().join(path);
    assert_eq!(pc2(&at("pc2/strip.pc2"), 2), pc2(&at("out/cache/strip.pc2"), 2));
    assert_eq!(std::fs::read(at("mdd/strip.mdd")).unwrap()[..8], [0, 0, 0, 3, 0, 0, 0, 7]);
    for path in ["pc2/strip.obj", "mdd/strip.obj", "obj/strip/strip.0001.obj"] {
        let found = text(&at(path));
        assert_eq!(
            (lines(&found, "v").len(), lines(&found, "vt"), lines(&found, "l")),
            (7, lines(STRIP, "vt"), vec!["3 3"])
        );
        assert_eq!(lines(&found, "usemtl"), ["cloth", "brass"]);
    }
    let ply = std::fs::read(at("ply/strip/strip.0001.ply")).unwrap();
    let header = String::from_utf8_lossy(&ply[..600]).into_owned();
    for line in ["element vertex 7", "comment material 1 brass", "property list uchar float texcoord"] {
        assert!(header.contains(line), "{header}");
    }
    let usda = text(&at("usda/scene.usda"));
    let strip = &usda[usda.find("def Mesh \"strip\"").unwrap()..usda.find("def Mesh \"tile\"").unwrap()];
    assert!(strip.contains("faceVertexIndices = [6, 4, 3, 6, 3, 5, 4, 1, 0, 4, 0, 3]"), "{strip}");
    assert!(
        strip.contains("primvars:st = [(0, 0), (0.4, 0), (0.4, 1), (0, 0), (0.4, 1), (0, 1), (0.6, 0), (1, 0), (1, 1)")
    );
    assert!(strip.contains("interpolation = \"faceVarying\"") && strip.contains("indices = [2, 3]"));
    assert!(strip.contains("</World/Materials/cloth>") && strip.contains("</World/Materials/brass>"));
    assert!(usda.contains("color3f inputs:diffuseColor = (0.75, 0.5, 0.25)"));
    let crate_file = std::fs::read(at("usdc/scene.usdc")).unwrap();
    assert!(crate_file.windows(5).any(|w| w == b"brass") && crate_file.windows(5).any(|w| w == b"cloth"));
    let vtu = text(&at("vtu/strip/strip.0001.vtu"));
    assert!(vtu.contains("NumberOfPoints=\"7\"") && vtu.contains("Name=\"material\"") && vtu.contains("corner_uv"));

    let bytes = std::fs::read(at("glb/scene.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let floats = |accessor: &Value| -> Vec<f32> {
        let view = &json["bufferViews"]
            [json["accessors"][accessor.as_u64().unwrap() as usize]["bufferView"].as_u64().unwrap() as usize];
        let start = 28 + length + view["byteOffset"].as_u64().unwrap() as usize;
        let bytes = &bytes[start..start + view["byteLength"].as_u64().unwrap() as usize];
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let primitives = &json["meshes"][0]["primitives"];
    let attributes = &primitives[0]["attributes"];
    assert_eq!(floats(&attributes["_ORIGINAL_VERTEX"]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 3.0]);
    let uvs = floats(&attributes["TEXCOORD_0"]);
    assert_eq!((uvs[2 * 4], uvs[2 * 7], uvs[2 * 3], uvs[2 * 8]), (0.4, 0.6, 0.4, 0.6));
    let material = |p: usize| &json["materials"][primitives[p]["material"].as_u64().unwrap() as usize];
    assert_eq!((&material(0)["name"], &material(1)["name"]), (&"cloth".into(), &"brass".into()));
    assert_eq!(material(1)["pbrMetallicRoughness"]["baseColorFactor"], serde_json::json!([0.75, 0.5, 0.25, 0.5]));
    goop(folder.path(), &["render", "out", "--still", "0", "-o", "still"]);
    assert!(at("still/frame-0000.png").is_file());
}
