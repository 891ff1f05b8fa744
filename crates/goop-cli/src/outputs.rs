//! Which files a run writes.

use crate::args::Format;
use anyhow::Result;
use goop::Model;
use goop_output::cache::write_springs;
use goop_output::names::file_names;
use goop_output::{
    BodyMesh, Cache, CacheBody, Centers, Forces, Marks, ObjSequence, PlySequence, Probes, RestMesh, Sink, Stats,
};
use std::path::Path;

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
    let bodies =
        model.bodies.iter().map(|b| CacheBody::of_nodes(RestMesh::of_shape(&b.name, &b.shape, b.material.card.radius)));
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
    if marks.is_none() {
        springs(folder, model)?;
    }
    match format {
        Format::Ply => sinks.push(Box::new(PlySequence::new(folder, meshes(model))?)),
        Format::Obj => sinks.push(Box::new(ObjSequence::new(folder, meshes(model))?)),
        Format::None => {}
    }
    Ok(sinks)
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

fn meshes(model: &Model) -> Vec<BodyMesh> {
    (model.bodies.iter())
        .map(|b| BodyMesh {
            name: b.name.clone(),
            triangles: b.shape.triangles.clone(),
            segments: b.shape.segments.clone(),
        })
        .collect()
}
