//! Which files a run writes.

use crate::args::Format;
use anyhow::Result;
use goop::{Model, Shape};
use goop_output::{BodyMesh, Cache, CacheBody, ObjSequence, PlySequence, Probes, RestMesh, Sink, Stats};
use goop_scene::saved::SavedShape;
use std::path::Path;

/// How the bodies of a run are joined, in its folder.
pub const SHAPES: &str = "rest/shapes.json";

/// Opens every output of a run; with the marks of a checkpoint, where it stopped.
pub fn open(
    folder: &Path,
    model: &Model,
    format: Format,
    fps: f64,
    first_frame: usize,
    marks: Option<&[u64]>,
) -> Result<Vec<Box<dyn Sink>>> {
    let mark = |k: usize| marks.map(|m| m.get(k).copied().unwrap_or(0));
    let names: Vec<String> = model.bodies.iter().map(|b| b.name.clone()).collect();
    let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(match mark(0) {
        Some(mark) => Stats::resume(folder, names, mark)?,
        None => Stats::create(folder, names)?,
    })];
    if !model.probes.is_empty() {
        let names: Vec<String> = model.probes.iter().map(|p| p.name.clone()).collect();
        sinks.push(Box::new(match mark(1) {
            Some(mark) => Probes::resume(folder, &names, mark)?,
            None => Probes::create(folder, &names)?,
        }));
    }
    let bodies = (0..model.bodies.len()).map(|b| cached(model, b));
    let (bodies, k) = (bodies.collect(), sinks.len());
    sinks.push(Box::new(match mark(k) {
        Some(frames) => Cache::resume(folder, bodies, fps, first_frame, frames as usize)?,
        None => Cache::create(folder, bodies, fps, first_frame)?,
    }));
    let shapes: Vec<SavedShape> = model.bodies.iter().map(|b| SavedShape::of(&b.name, &b.shape)).collect();
    goop_output::whole::write(&folder.join(SHAPES), &serde_json::to_vec(&shapes)?)?;
    match format {
        Format::Ply => sinks.push(Box::new(PlySequence::new(folder, meshes(model))?)),
        Format::Obj => sinks.push(Box::new(ObjSequence::new(folder, meshes(model))?)),
        Format::None => {}
    }
    Ok(sinks)
}

/// What the cache draws of a body.
fn cached(model: &Model, b: usize) -> CacheBody {
    let body = &model.bodies[b];
    let rest = |shape: &Shape| RestMesh::of_shape(&body.name, shape, body.material.card.radius);
    match model.unwelded(b) {
        Some(drawn) => CacheBody { rest: rest(&drawn.mesh), nodes: Some(drawn.nodes), node_count: body.len() },
        None => CacheBody::of_nodes(rest(&body.shape)),
    }
}

fn meshes(model: &Model) -> Vec<BodyMesh> {
    (model.bodies.iter().enumerate())
        .map(|(b, body)| {
            let drawn = model.unwelded(b);
            let shape = drawn.as_ref().map_or(&*body.shape, |d| &d.mesh);
            let (triangles, segments) = (shape.triangles.clone(), shape.segments.clone());
            BodyMesh { name: body.name.clone(), triangles, segments, nodes: drawn.map(|d| d.nodes) }
        })
        .collect()
}
