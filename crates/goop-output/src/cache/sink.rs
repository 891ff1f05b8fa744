//! The cache while a run goes on: a sample a frame at the end of every file.
//!
//! A frame is appended in one write, then the header's count is raised. A process killed
//! in between leaves a count that is one too low, or part of a sample, and the reader
//! goes by the length of the file. A write that fails is cut back to the last whole frame.

use super::index::{HEADER, Index, Kind, SAMPLES_AT, index_path, obj_path};
use super::{CacheBody, NO_NODE, RestMesh, springs, write_material_library, write_obj};
use crate::error::OutputError;
use crate::sequence::expect_count;
use crate::sink::Sink;
use crate::whole;
use goop::frame::{BodyFrame, Frame};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Writes `rest/` at once and `cache/` as frames come.
pub struct Cache {
    bodies: Vec<Body>,
    first_frame: usize,
    next_frame: usize,
    bytes: Vec<u8>,
}

struct Body {
    rest_positions: Vec<[f32; 3]>,
    nodes: Option<Vec<u32>>,
    node_count: usize,
    positions: Growing,
    node_data: Growing,
}

impl Cache {
    /// Starts a cache in place of an older one; the first frame taken has this number.
    pub fn create(
        folder: impl AsRef<Path>,
        bodies: Vec<CacheBody>,
        fps: f64,
        first_frame: usize,
    ) -> Result<Cache, OutputError> {
        let folder = folder.as_ref();
        let bodies = bodies.into_iter().map(CacheBody::drawn).collect::<Result<Vec<_>, _>>()?;
        let index = Index::of(&bodies, fps, first_frame);
        let file_names = index.file_names();
        remove_old(folder).map_err(|cause| OutputError::file("remove the old cache in", folder, cause))?;
        whole::make_folder(&folder.join("rest"))?;
        whole::make_folder(&folder.join("cache"))?;
        for (body, name) in bodies.iter().zip(&file_names) {
            write_rest(folder, name, &body.rest)?;
            for (kind, points) in [(Kind::Positions, body.rest.positions.len()), (Kind::Nodes, body.node_count)] {
                whole::write(&kind.path(folder, name), &kind.header(points, first_frame, 0))?;
            }
        }
        // Last, so that a folder with an index has all that it lists.
        whole::write_json(&index_path(folder), &index)?;
        Cache::open(folder, bodies, &index, 0)
    }

    /// Goes on after `frames` whole frames of a cache that is there already; what comes
    /// after them is cut off. Refuses a cache of other bodies.
    pub fn resume(
        folder: impl AsRef<Path>,
        bodies: Vec<CacheBody>,
        fps: f64,
        first_frame: usize,
        frames: usize,
    ) -> Result<Cache, OutputError> {
        let folder = folder.as_ref();
        let bodies = bodies.into_iter().map(CacheBody::drawn).collect::<Result<Vec<_>, _>>()?;
        let index = Index::of(&bodies, fps, first_frame);
        let path = index_path(folder);
        Index::read(folder)?;
        if fs::read(&path).map_err(|cause| OutputError::file("read", &path, cause))? != whole::json(&path, &index)? {
            let what = "it lists other bodies than the run that would go on";
            return Err(OutputError::bad(&path, what, "begin the run anew"));
        }
        Cache::open(folder, bodies, &index, frames)
    }

    fn open(folder: &Path, bodies: Vec<CacheBody>, index: &Index, frames: usize) -> Result<Cache, OutputError> {
        let mut opened = Vec::with_capacity(bodies.len());
        for ((body, entry), name) in bodies.into_iter().zip(&index.bodies).zip(index.file_names()) {
            let growing = |kind: Kind, points, bytes| {
                let path = kind.path(folder, &name);
                Growing::open(&path, &kind.header(points, index.first_frame, frames), bytes, frames)
            };
            opened.push(Body {
                positions: growing(Kind::Positions, entry.vertices, entry.position_bytes())?,
                node_data: growing(Kind::Nodes, entry.nodes, entry.node_bytes())?,
                rest_positions: body.rest.positions,
                nodes: body.nodes,
                node_count: body.node_count,
            });
        }
        Ok(Cache {
            bodies: opened,
            first_frame: index.first_frame,
            next_frame: index.first_frame + frames,
            bytes: Vec::new(),
        })
    }
}

impl Sink for Cache {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        expect_count(frame, "as its number", self.next_frame, frame.index)?;
        for (body, state) in self.bodies.iter().zip(&frame.bodies) {
            expect_count(frame, "nodes", body.node_count, state.positions.len())?;
            expect_count(frame, "node velocities", body.node_count, state.velocities.len())?;
            expect_count(frame, "node stretches", body.node_count, state.stretch.len())?;
            if let Some(drawn) = &state.drawn {
                expect_count(frame, "drawn vertices", body.rest_positions.len(), drawn.len())?;
            }
        }
        for (body, state) in self.bodies.iter_mut().zip(&frame.bodies) {
            self.bytes.clear();
            put_positions(&mut self.bytes, body, state);
            body.positions.append(&self.bytes)?;
            self.bytes.clear();
            put_nodes(&mut self.bytes, body, state);
            body.node_data.append(&self.bytes)?;
        }
        self.next_frame += 1;
        Ok(())
    }

    fn mark(&self) -> u64 {
        (self.next_frame - self.first_frame) as u64
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.bodies.iter_mut().try_for_each(|body| {
            body.positions.finish()?;
            body.node_data.finish()
        })
    }
}

fn put_positions(bytes: &mut Vec<u8>, body: &Body, state: &BodyFrame) {
    // A body that may tear brings its vertices; the others' are where their nodes are.
    if let Some(drawn) = &state.drawn {
        return drawn.iter().for_each(|position| put(bytes, position));
    }
    match &body.nodes {
        None => state.positions.iter().for_each(|position| put(bytes, position)),
        Some(nodes) => (nodes.iter().zip(&body.rest_positions))
            .for_each(|(&node, rest)| put(bytes, if node == NO_NODE { rest } else { &state.positions[node as usize] })),
    }
}

fn put_nodes(bytes: &mut Vec<u8>, body: &Body, state: &BodyFrame) {
    for (velocity, stretch) in state.velocities.iter().zip(&state.stretch) {
        put(bytes, velocity);
        put(bytes, &[*stretch]);
    }
    if body.nodes.is_some() {
        state.positions.iter().for_each(|position| put(bytes, position));
    }
}

fn put(bytes: &mut Vec<u8>, values: &[f32]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

fn write_rest(folder: &Path, name: &str, rest: &RestMesh) -> Result<(), OutputError> {
    let path = obj_path(folder, name);
    let library = (!rest.materials.is_empty()).then(|| format!("{name}.mtl"));
    if let Some(library) = &library {
        whole::write_with(&path.with_file_name(library), |out| write_material_library(out, &rest.materials))?;
    }
    whole::write_with(&path, |out| write_obj(out, rest, &rest.positions, library.as_deref()))
}

/// Removes the files of the cache that the folder lists; others stay.
pub(crate) fn remove_old(folder: &Path) -> io::Result<()> {
    let remove = |path: &Path| match fs::remove_file(path) {
        Err(fault) if fault.kind() != ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    };
    let Ok(index) = Index::read(folder) else { return Ok(()) };
    for name in index.file_names() {
        remove(&Kind::Positions.path(folder, &name))?;
        remove(&Kind::Nodes.path(folder, &name))?;
        remove(&obj_path(folder, &name))?;
        remove(&springs::path(folder, &name))?;
        remove(&folder.join("rest").join(format!("{name}.mtl")))?;
    }
    remove(&index_path(folder))
}

/// A file that grows by samples of one size.
struct Growing {
    path: PathBuf,
    file: File,
    sample_bytes: u64,
    samples: usize,
}

impl Growing {
    /// Cuts the file back to `samples`, which must be there.
    fn open(path: &Path, header: &[u8; 32], sample_bytes: u64, samples: usize) -> Result<Growing, OutputError> {
        let opening = |cause| OutputError::file("open", path, cause);
        let mut file = OpenOptions::new().write(true).open(path).map_err(opening)?;
        let end = HEADER + sample_bytes * samples as u64;
        if file.metadata().map_err(opening)?.len() < end {
            let what = format!("it has fewer than {samples} frames");
            return Err(OutputError::bad(path, what, "begin the run anew"));
        }
        file.set_len(end).and_then(|()| file.write_all(header)).map_err(opening)?;
        Ok(Growing { path: path.to_path_buf(), file, sample_bytes, samples })
    }

    fn append(&mut self, sample: &[u8]) -> Result<(), OutputError> {
        let end = HEADER + self.sample_bytes * self.samples as u64;
        let result = self.file.seek(SeekFrom::Start(end)).and_then(|_| self.file.write_all(sample)).and_then(|()| {
            self.file.seek(SeekFrom::Start(SAMPLES_AT))?;
            self.file.write_all(&((self.samples + 1) as i32).to_le_bytes())
        });
        match result {
            Ok(()) => {
                self.samples += 1;
                Ok(())
            }
            Err(cause) => {
                // If this fails too the file ends in part of a sample, which readers pass over.
                let _ = self.file.set_len(end);
                Err(OutputError::file("append to", &self.path, cause))
            }
        }
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.file.sync_all().map_err(|cause| OutputError::file("finish", &self.path, cause))
    }
}
