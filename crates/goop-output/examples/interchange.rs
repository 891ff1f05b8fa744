//! A short run in every format, with the positions it should have beside it.
//!
//! ```text
//! cargo run --release -p goop-output --example interchange -- FOLDER
//! FOLDER/run        the run      FOLDER/<format>  its exports
//! FOLDER/source     a mesh file that one body comes from
//! FOLDER/small-glb  a run whose GLB is too large and is reduced
//! FOLDER/jelly      a rigged character of jelly, as GLB
//! FOLDER/truth.json what the frames held, taken before any file was written
//! ```
//! Serves `tests/interchange/run.sh`.

use anyhow::{Context, Result};
use goop::frame::{BodyFrame, Frame};
use goop::ledger::Row;
use goop::shape::Shape;
use goop::{Clip, World};
use goop_output::{Cache, CacheBody, Format, Manifest, Material, RestMesh, RunFolder, Sink, export};
use goop_scene::{Paint, Skin};
use serde_json::{Value, json};
use std::path::Path;

const FPS: f64 = 24.0;
const CHECKED: [usize; 3] = [0, 11, 24];
const SCENE: &str = r#"
format = 1
[clip]
seconds = 1
fps = 24
[[body]]
name = "sheet"
formulation = "implicit"
position = [0, 1, 0]
rotation = [20, 0, 0]
[body.shape.rectangle]
size = [1.0, 0.6]
nodes = [11, 7]
[body.material]
preset = "rubber"
[[body.pin]]
at = { corner = [0, 0] }
[[body]]
name = "rope"
formulation = "implicit"
position = [0, 2, 1]
[body.shape.line]
size = 1.0
nodes = [21]
[body.material]
preset = "rope"
[[body.pin]]
at = { corner = [0] }
[[body]]
name = "ring"
formulation = "implicit"
position = [2, 1, 0]
[body.shape.hoop]
radius = 0.3
nodes = [24]
[body.material]
preset = "rope"
[[body]]
name = "jelly"
formulation = "implicit"
position = [-2, 3, 0.5]
spin = [1, 2, 3]
[body.shape.box]
size = [0.5, 0.6, 0.7]
nodes = [4, 5, 6]
[body.material]
preset = "jelly"
[[body]]
name = "patch"
formulation = "implicit"
position = [0, 1, 2]
[body.shape.rectangle]
size = [0.5, 0.5]
nodes = [5, 5]
[body.material]
preset = "rubber"
[[body.pin]]
at = { corner = [0, 0] }
[[body]]
name = "imported"
formulation = "implicit"
position = [1.5, 1, 2]
scale = [0.5, 0.5, 0.5]
[body.shape.mesh]
file = "roof.obj"
[body.material]
preset = "rubber"
"#;

/// A mesh as a modelling program would export it: two slopes and a gable that share their
/// vertices, ten texture coordinates for six of them, a quad, two materials, vertices in no
/// particular order.
const SOURCE: &str = "mtllib roof.mtl
v 1 0 1
v 0 1 0
v 0 0 1
v 1 1 0
v 0 0 -1
v 1 0 -1
vt 0 0
vt 0.4 0
vt 0.4 0.5
vt 0 0.5
vt 0.6 0.9
vt 1 0.9
vt 1 0.4
vt 0.6 0.4
vt 0.1 0.7
vt 0.3 0.8
usemtl Tiles.red
f 3/1 1/2 4/3 2/4
usemtl Slate-2
f 6/5 5/6 2/7
f 6/5 2/7 4/8
usemtl Tiles.red
f 5/9 3/10 2/4
";
const SOURCE_MATERIALS: &str =
    "newmtl Slate-2\nKd 0.125 0.25 0.5\nd 0.5\nnewmtl Tiles.red\nKd 0.75 0.25 0.125\nmap_Kd tiles.png\n";

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("give a folder")?;
    let folder = Path::new(&folder);
    let run = RunFolder::create(folder.join("run"))?;
    run.write_manifest(&Manifest { scene: "six bodies".into(), fps: FPS, ..Manifest::default() })?;

    let source = folder.join("source");
    std::fs::create_dir_all(&source)?;
    std::fs::write(source.join("roof.obj"), SOURCE)?;
    std::fs::write(source.join("roof.mtl"), SOURCE_MATERIALS)?;
    let loaded = goop_scene::Scene::load_text(SCENE, "scene.toml", &[], &source);
    let built = loaded.map_err(|faults| anyhow::anyhow!("{faults}"))?.scene.build(&source);
    let built = built.map_err(|faults| anyhow::anyhow!("{faults:?}"))?;
    let bodies: Vec<CacheBody> = (built.model.bodies.iter().zip(&built.skins))
        .map(|(body, skin)| match skin {
            Some(skin) => imported(&body.name, body.len(), skin),
            None => drawn(&body.name, &body.shape),
        })
        .collect();
    let mut truth: Vec<Value> = bodies.iter().map(expected_mesh).collect();
    let mut cache = Cache::create(run.path(), bodies.clone(), FPS, 0)?;
    for frame in World::new(built.model).play(Clip { seconds: 1.0, fps: FPS }) {
        let frame = frame?;
        if CHECKED.contains(&frame.index) {
            for ((entry, body), state) in truth.iter_mut().zip(&bodies).zip(&frame.bodies) {
                entry["frames"][frame.index.to_string()] = expected_frame(body, state);
            }
        }
        cache.write(&frame)?;
    }
    cache.finish()?;
    for format in Format::ALL {
        let report = export(run.path(), format, folder.join(format.name()))?;
        anyhow::ensure!(report.reduced_error.is_none(), "a small run was reduced");
    }
    let reduced = reduced(folder)?;
    let jelly = jelly(folder)?;
    let all = json!({ "fps": FPS, "checked": CHECKED, "bodies": truth, "reduced": reduced, "jelly": jelly });
    std::fs::write(folder.join("truth.json"), all.to_string())?;
    Ok(())
}

/// What is drawn of each, with everything an import may bring: texture coordinates, two
/// materials, a seam, vertices in another order than nodes and several at one node.
fn drawn(name: &str, shape: &Shape) -> CacheBody {
    let rest = RestMesh::of_shape(name, shape, 0.01);
    let uvs: Vec<[f32; 2]> = shape.material_coordinates.iter().map(|u| [u.x as f32, u.y as f32]).collect();
    match name {
        "sheet" => {
            let half = rest.triangles.len() / 2;
            let triangle_materials = (0..rest.triangles.len()).map(|t| u32::from(t >= half)).collect();
            let materials = [("red cloth", [0.8, 0.1, 0.1, 1.0]), ("blue cloth", [0.1, 0.2, 0.7, 0.5])];
            let materials = materials.map(|(name, colour)| Material::new(name, Some(colour))).to_vec();
            CacheBody::of_nodes(RestMesh { materials, triangle_materials, ..rest })
        }
        "patch" => patch(rest, &uvs),
        _ => CacheBody::of_nodes(rest),
    }
}

/// A body as `goop run` draws one that came from a file.
fn imported(name: &str, node_count: usize, skin: &Skin) -> CacheBody {
    let paint = |p: &Paint| Material { name: p.name.clone(), colour: p.colour, texture: p.texture.clone() };
    let rest = RestMesh {
        name: name.into(),
        positions: skin.positions.iter().map(|position| position.as_vec3().to_array()).collect(),
        triangles: skin.triangles.clone(),
        uvs: skin.uvs.clone(),
        triangle_uvs: skin.triangle_uvs.clone(),
        materials: skin.paints.iter().map(paint).collect(),
        triangle_materials: skin.triangle_paints.clone(),
        ..RestMesh::default()
    };
    CacheBody { rest, nodes: Some(skin.nodes.clone()), node_count }
}

/// Vertices backwards, those of the last triangles a second time, and texture coordinates
/// of their own for every other triangle. The first vertex belongs to nothing then, and stays.
fn patch(mut rest: RestMesh, uvs: &[[f32; 2]]) -> CacheBody {
    let count = rest.positions.len() as u32;
    let mut nodes: Vec<u32> = (0..count).rev().collect();
    let mut corner_uvs = Vec::new();
    let triangles = rest.triangles.len();
    for (t, triangle) in rest.triangles.iter_mut().enumerate() {
        let shift = if t % 2 == 0 { 0.0 } else { 2.0 };
        let first = 3 * t as u32;
        rest.triangle_uvs.push([first, first + 1, first + 2]);
        for corner in triangle.iter_mut() {
            let node = *corner;
            corner_uvs.push([uvs[node as usize][0] + shift, uvs[node as usize][1]]);
            *corner = if t + 4 >= triangles {
                nodes.push(node);
                nodes.len() as u32 - 1
            } else {
                count - 1 - node
            };
        }
    }
    rest.positions = nodes.iter().map(|&node| rest.positions[node as usize]).collect();
    rest.uvs = corner_uvs;
    CacheBody { rest, nodes: Some(nodes), node_count: count as usize }
}

/// Vertices that are written, in order: those of a mesh with nodes of its own all are.
fn used(body: &CacheBody) -> Vec<usize> {
    if body.nodes.is_some() {
        return (0..body.rest.positions.len()).collect();
    }
    let corners = body.rest.triangles.iter().flatten().chain(body.rest.segments.iter().flatten());
    let named: std::collections::BTreeSet<usize> = corners.map(|&corner| corner as usize).collect();
    named.into_iter().collect()
}

fn expected_mesh(body: &CacheBody) -> Value {
    let (mesh, used) = (&body.rest, used(body));
    let place = |vertex: u32| used.binary_search(&(vertex as usize)).unwrap_or(usize::MAX);
    let triangles: Vec<_> = mesh.triangles.iter().map(|triangle| triangle.map(place)).collect();
    let segments: Vec<_> = mesh.segments.iter().map(|segment| segment.map(place)).collect();
    let corner_uvs: Option<Vec<_>> =
        (0..triangles.len()).map(|t| mesh.corner_uvs(t).map(|uvs| uvs.map(|uv| mesh.uvs[uv as usize]))).collect();
    let materials: Vec<_> = mesh.materials.iter().map(|m| json!({ "name": m.name, "colour": m.colour })).collect();
    json!({ "name": mesh.name, "vertices": used.len(), "triangles": triangles, "segments": segments,
        "corner_uvs": corner_uvs, "materials": materials, "triangle_materials": mesh.triangle_materials,
        "frames": {} })
}

fn expected_frame(body: &CacheBody, state: &BodyFrame) -> Value {
    let node = |vertex: &usize| body.nodes.as_ref().map_or(*vertex, |nodes| nodes[*vertex] as usize);
    let nodes: Vec<usize> = used(body).iter().map(node).collect();
    json!({
        "positions": nodes.iter().map(|&n| state.positions[n]).collect::<Vec<_>>(),
        "velocities": nodes.iter().map(|&n| state.velocities[n]).collect::<Vec<_>>(),
        "stretch": nodes.iter().map(|&n| state.stretch[n]).collect::<Vec<_>>(),
    })
}

/// The built-in dancer on few nodes: a skin that sits on none of them.
const JELLY: &str = r#"
format = 1
[clip]
seconds = 0.5
fps = 24
[step]
dt = 0.0166
settle = true
[[body]]
name = "dancer"
formulation = "jelly"
shape.character = { file = "built-in:dancer", nodes = 400 }
motion = {}
[body.material]
young = 2e4
poisson = 0.4
[body.solver]
tolerance = 1e-3
"#;

/// What a rigged character of jelly becomes: every vertex of its file, its materials and its motion.
fn jelly(folder: &Path) -> Result<Value> {
    let loaded = goop_scene::Scene::load_text(JELLY, "jelly.toml", &[], Path::new(""));
    let scene = loaded.map_err(|faults| anyhow::anyhow!("{faults}"))?.scene;
    let mut built = scene.build(Path::new("")).map_err(|faults| anyhow::anyhow!("{faults:?}"))?;
    let skin = built.skins[0].take().context("the dancer has a skin")?;
    let body = imported("dancer", built.model.bodies[0].len(), &skin);
    let mut truth = expected_mesh(&body);
    let clip = Clip { seconds: scene.clip.seconds, fps: FPS };
    let checked = [0, 5, clip.frames() - 1];
    let run = RunFolder::create(folder.join("jelly"))?;
    run.write_manifest(&Manifest { scene: "dancer".into(), fps: FPS, ..Manifest::default() })?;
    let mut cache = Cache::create(run.path(), vec![body], FPS, 0)?;
    let mut world = World::new(built.model);
    world.settle()?;
    for frame in world.play(clip) {
        let frame = frame?;
        if checked.contains(&frame.index) {
            truth["frames"][frame.index.to_string()] = json!({ "positions": frame.bodies[0].drawn });
        }
        cache.write(&frame)?;
    }
    cache.finish()?;
    let report = export(run.path(), Format::Glb, run.path())?;
    anyhow::ensure!(report.reduced_error.is_none(), "a short dance was reduced");
    truth["checked"] = json!(checked);
    truth["seconds"] = json!(clip.seconds);
    Ok(truth)
}

/// A sheet with waves on it: 300 frames of 10 000 vertices would be 72 MB.
fn reduced(folder: &Path) -> Result<Value> {
    let run = folder.join("small-glb");
    let shape = Shape::rectangle([1.0, 1.0], [100, 100])?;
    let body = drawn("waves", &shape);
    let mut cache = Cache::create(&run, vec![body.clone()], 60.0, 0)?;
    let mut frames = Vec::new();
    for index in 0..300 {
        let t = index as f64 / 60.0;
        let height = |u: f64| 0.05 * (6.0 * u - 4.0 * t).sin() * (0.3 * t).sin();
        let place = |p: &glam::DVec3| [p.x as f32, (p.y + height(p.x)) as f32, p.z as f32];
        let positions: Vec<[f32; 3]> = shape.rest_positions.iter().map(place).collect();
        let count = positions.len();
        let body = BodyFrame {
            positions,
            velocities: vec![[0.0; 3]; count],
            stretch: vec![0.0; count],
            row: Row::default(),
            ..BodyFrame::default()
        };
        frames.push(body.positions.clone());
        cache.write(&Frame { index, time: t, bodies: vec![body], ..Frame::default() })?;
    }
    cache.finish()?;
    let report = export(&run, Format::Glb, folder.join("small-glb"))?;
    let checked = [0, 100, 157, 299];
    let some: Vec<_> = checked.map(|frame| json!({ "frame": frame, "positions": frames[frame] })).to_vec();
    Ok(json!({ "fps": 60.0, "bytes": report.bytes, "error": report.reduced_error, "checked": some }))
}
