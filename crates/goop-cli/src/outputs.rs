//! Which files a run writes.

use crate::args::Format;
use anyhow::Result;
use goop::Model;
use goop::model::Body;
use goop_output::cache::write_springs;
use goop_output::names::file_names;
use goop_output::{
    BodyMesh, Bones, Cache, CacheBody, Centers, Forces, Marks, Material, ObjSequence, PlySequence, Probes, RestBones,
    RestMesh, Sink, Stats,
};
use goop_scene::saved::SavedShape;
use goop_scene::{Built, Skin};
use std::path::Path;

/// How the bodies of a run are joined, in its folder.
pub const SHAPES: &str = "rest/shapes.json";

/// Opens every output of a run; with the marks of a checkpoint, where it stopped.
pub fn open(
    folder: &Path,
    built: &Built,
    format: Format,
    fps: f64,
    first_frame: usize,
    marks: Option<&[u64]>,
) -> Result<Vec<Box<dyn Sink>>> {
    let model = &built.model;
    let mark = |k: usize| marks.map(|m| m.get(k).copied().unwrap_or(0));
    let names: Vec<String> = model.bodies.iter().map(|b| b.name.clone()).collect();
    let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(match mark(0) {
        Some(mark) => Stats::resume(folder, names.clone(), mark)?,
        None => Stats::create(folder, names.clone())?,
    })];
    if !model.probes.is_empty() {
        let names: Vec<String> = model.probes.iter().map(|p| p.name.clone()).collect();
        sinks.push(Box::new(match mark(1) {
            Some(mark) => Probes::resume(folder, &names, mark)?,
            None => Probes::create(folder, &names)?,
        }));
    }
    let bodies = (0..model.bodies.len()).map(|b| match torn(built, b) {
        Some(parts) => parts,
        None => drawn(&model.bodies[b], built.skins[b].as_ref()),
    });
    let (bodies, k) = (bodies.collect(), sinks.len());
    sinks.push(Box::new(match mark(k) {
        Some(frames) => Cache::resume(folder, bodies, fps, first_frame, frames as usize)?,
        None => Cache::create(folder, bodies, fps, first_frame)?,
    }));
    for which in 0..3 {
        let (names, mark) = (names.clone(), mark(sinks.len()));
        sinks.push(match which {
            0 => Box::new(Centers::open(folder, names, mark)?),
            1 => Box::new(Marks::open(folder, names, mark)?),
            _ => Box::new(Forces::open(folder, names, mark)?),
        });
    }
    if model.bodies.iter().any(|body| body.sampled.as_ref().is_some_and(|sampled| !sampled.bones.is_empty())) {
        let bones = |body: &Body| {
            let sampled = body.sampled.as_ref().filter(|sampled| !sampled.bones.is_empty())?;
            Some(RestBones::of(&body.name, sampled))
        };
        let bones: Vec<Option<RestBones>> = model.bodies.iter().map(bones).collect();
        sinks.push(Box::new(Bones::open(folder, &bones, mark(sinks.len()))?));
    }
    if marks.is_none() {
        springs(folder, model)?;
    }
    let shapes: Vec<SavedShape> = model.bodies.iter().map(|b| SavedShape::of(&b.name, &b.shape)).collect();
    goop_output::whole::write(&folder.join(SHAPES), &serde_json::to_vec(&shapes)?)?;
    match format {
        Format::Ply => sinks.push(Box::new(PlySequence::new(folder, meshes(built))?)),
        Format::Obj => sinks.push(Box::new(ObjSequence::new(folder, meshes(built))?)),
        Format::None => {}
    }
    Ok(sinks)
}

/// What is drawn of a body that may tear: a vertex for each part that can go its own way.
fn torn(built: &Built, b: usize) -> Option<CacheBody> {
    let body = &built.model.bodies[b];
    let parts = built.model.unwelded(b)?;
    let rest = RestMesh::of_shape(&body.name, &parts.mesh, body.material.card.radius);
    Some(CacheBody { rest, nodes: Some(parts.nodes), node_count: body.len() })
}

/// What is drawn of a body: the mesh of its file where it came from one, else its nodes.
fn drawn(body: &Body, skin: Option<&Skin>) -> CacheBody {
    let Some(skin) = skin else {
        return CacheBody::of_nodes(RestMesh::of_shape(&body.name, &body.shape, body.material.card.radius));
    };
    let paints = skin.paints.iter().cloned();
    let rest = RestMesh {
        name: body.name.clone(),
        positions: skin.positions.iter().map(|position| position.as_vec3().to_array()).collect(),
        triangles: skin.triangles.clone(),
        uvs: skin.uvs.clone(),
        triangle_uvs: skin.triangle_uvs.clone(),
        materials: paints.map(|p| Material { name: p.name, colour: p.colour, texture: p.texture }).collect(),
        triangle_materials: skin.triangle_paints.clone(),
        ..RestMesh::default()
    };
    CacheBody { rest, nodes: Some(skin.nodes.clone()), node_count: body.len() }
}

/// The springs of every body that has any, beside its mesh.
fn springs(folder: &Path, model: &Model) -> Result<()> {
    let names = file_names(&model.bodies.iter().map(|b| &b.name).collect::<Vec<_>>());
    for (body, name) in model.bodies.iter().zip(names) {
        if let Some(links) = body.elastic.as_ref().map(|e| e.links()).filter(|links| !links.is_empty()) {
            let nodes: Vec<[f32; 3]> = body.shape.rest_positions.iter().map(|p| p.as_vec3().to_array()).collect();
            write_springs(folder, &name, &nodes, links)?;
        }
    }
    Ok(())
}

fn meshes(built: &Built) -> Vec<BodyMesh> {
    (built.model.bodies.iter().zip(&built.skins).enumerate())
        .map(|(k, (b, skin))| BodyMesh {
            name: b.name.clone(),
            triangles: b.shape.triangles.clone(),
            segments: b.shape.segments.clone(),
            drawn: torn(built, k).or_else(|| skin.as_ref().map(|skin| drawn(b, Some(skin)))),
        })
        .collect()
}
