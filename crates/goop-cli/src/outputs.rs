//! Which files a run writes.

use crate::args::Format;
use anyhow::Result;
use goop::Model;
use goop_output::{BodyMesh, ObjSequence, PlySequence, Probes, Sink, Stats};
use std::path::Path;

/// Opens every output of a run; with the marks of a checkpoint, where it stopped.
pub fn open(folder: &Path, model: &Model, format: Format, marks: Option<&[u64]>) -> Result<Vec<Box<dyn Sink>>> {
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
    match format {
        Format::Ply => sinks.push(Box::new(PlySequence::new(folder, meshes(model))?)),
        Format::Obj => sinks.push(Box::new(ObjSequence::new(folder, meshes(model))?)),
        Format::None => {}
    }
    Ok(sinks)
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
