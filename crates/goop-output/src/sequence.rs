//! A file a body a frame, whatever the format.
//!
//! ```text
//! <run folder>/frames/<body>/<body>.0000.<ending>
//! ```
//! A file holds the nodes of its body, or the vertices of the mesh file it came from.

use crate::cache::{CacheBody, NO_NODE};
use crate::error::OutputError;
use crate::names::file_names;
use crate::whole;
use goop::frame::{BodyFrame, Frame};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How to draw a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyMesh {
    /// Name of the body.
    pub name: String,
    /// Triangles between its nodes, for surfaces and solids.
    pub triangles: Vec<[u32; 3]>,
    /// Segments between its nodes, for curves.
    pub segments: Vec<[u32; 2]>,
    /// What is drawn in place of the nodes: a mesh from a file, as it was there, or the parts of
    /// a body that may tear.
    pub drawn: Option<CacheBody>,
}

/// Folders and meshes of all bodies; the formats add how one file is filled.
pub(crate) struct Sequence {
    bodies: Vec<SequenceBody>,
    ending: &'static str,
}

struct SequenceBody {
    mesh: BodyMesh,
    folder: PathBuf,
    file_name: String,
    /// Largest node number drawn.
    largest_index: Option<u32>,
}

/// A frame of vertices from a frame of nodes, as many as the body was checked to have.
fn vertices(drawn: &CacheBody, state: &BodyFrame) -> BodyFrame {
    let Some(nodes) = &drawn.nodes else { return state.clone() };
    let at = |node: u32| (node != NO_NODE).then_some(node as usize);
    BodyFrame {
        // A body that may tear brings its vertices.
        positions: state.drawn.clone().unwrap_or_else(|| {
            (nodes.iter().zip(&drawn.rest.positions))
                .map(|(&node, rest)| at(node).map_or(*rest, |node| state.positions[node]))
                .collect()
        }),
        velocities: nodes.iter().map(|&node| at(node).map_or([0.0; 3], |node| state.velocities[node])).collect(),
        stretch: nodes.iter().map(|&node| at(node).map_or(0.0, |node| state.stretch[node])).collect(),
        ..BodyFrame::default()
    }
}

impl Sequence {
    /// Makes the folders.
    pub fn new(run_folder: &Path, meshes: Vec<BodyMesh>, ending: &'static str) -> Result<Sequence, OutputError> {
        let names: Vec<&str> = meshes.iter().map(|mesh| mesh.name.as_str()).collect();
        let file_names = file_names(&names);
        let mut bodies = Vec::with_capacity(meshes.len());
        for (mut mesh, file_name) in meshes.into_iter().zip(file_names) {
            mesh.drawn = mesh.drawn.map(CacheBody::drawn).transpose()?;
            let folder = run_folder.join("frames").join(&file_name);
            whole::make_folder(&folder)?;
            let indices = mesh.triangles.iter().flatten().chain(mesh.segments.iter().flatten());
            let largest_index = indices.copied().max();
            bodies.push(SequenceBody { mesh, folder, file_name, largest_index });
        }
        Ok(Sequence { bodies, ending })
    }

    /// Every body with the folder of its files.
    pub fn bodies(&self) -> impl Iterator<Item = (&BodyMesh, &Path)> {
        self.bodies.iter().map(|body| (&body.mesh, body.folder.as_path()))
    }

    /// One file per body, each checked before it is opened.
    pub fn write(
        &self,
        frame: &Frame,
        fill: impl Fn(&mut dyn Write, &BodyMesh, &BodyFrame) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        for (body, state) in self.bodies.iter().zip(&frame.bodies) {
            body.check(frame, state)?;
            let name = format!("{}.{:04}.{}", body.file_name, frame.index, self.ending);
            let vertices = body.mesh.drawn.as_ref().map(|drawn| vertices(drawn, state));
            let state = vertices.as_ref().unwrap_or(state);
            whole::write_with(&body.folder.join(name), |out| fill(out, &body.mesh, state))?;
        }
        Ok(())
    }
}

impl SequenceBody {
    fn check(&self, frame: &Frame, state: &BodyFrame) -> Result<(), OutputError> {
        let nodes = state.positions.len();
        expect_count(frame, "node velocities", nodes, state.velocities.len())?;
        expect_count(frame, "node stretches", nodes, state.stretch.len())?;
        if let Some(drawn) = &self.mesh.drawn {
            if let Some(vertices) = &state.drawn {
                expect_count(frame, "drawn vertices", drawn.rest.positions.len(), vertices.len())?;
            }
            return expect_count(frame, "nodes", drawn.node_count, nodes);
        }
        match self.largest_index {
            Some(index) if index as usize >= nodes => {
                Err(OutputError::NodeOutOfRange { body: self.mesh.name.clone(), index, nodes })
            }
            _ => Ok(()),
        }
    }
}

/// Fails unless the frame has as many as the output was opened for.
pub(crate) fn expect_count(
    frame: &Frame,
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), OutputError> {
    if expected == found {
        return Ok(());
    }
    Err(OutputError::Mismatch { frame: frame.index, what, expected, found })
}
