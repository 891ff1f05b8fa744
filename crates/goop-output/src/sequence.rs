//! A file a body a frame, whatever the format.
//!
//! ```text
//! <run folder>/frames/<body>/<body>.0000.<ending>
//! ```

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
    /// Of a body that may tear: node of every drawn vertex, between which triangles and segments are.
    pub nodes: Option<Vec<u32>>,
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

impl Sequence {
    /// Makes the folders.
    pub fn new(run_folder: &Path, meshes: Vec<BodyMesh>, ending: &'static str) -> Result<Sequence, OutputError> {
        let names: Vec<&str> = meshes.iter().map(|mesh| mesh.name.as_str()).collect();
        let file_names = file_names(&names);
        let mut bodies = Vec::with_capacity(meshes.len());
        for (mesh, file_name) in meshes.into_iter().zip(file_names) {
            let folder = run_folder.join("frames").join(&file_name);
            whole::make_folder(&folder)?;
            let indices = mesh.triangles.iter().flatten().chain(mesh.segments.iter().flatten());
            let largest_index = indices.copied().max();
            bodies.push(SequenceBody { mesh, folder, file_name, largest_index });
        }
        Ok(Sequence { bodies, ending })
    }

    /// One file per body, each checked before it is opened.
    pub fn write(
        &self,
        frame: &Frame,
        fill: impl Fn(&mut dyn Write, &BodyMesh, &BodyFrame) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        for (body, state) in self.bodies.iter().zip(&frame.bodies) {
            let unwelded = body.unwelded(frame, state)?;
            let state = unwelded.as_ref().unwrap_or(state);
            body.check(frame, state)?;
            let name = format!("{}.{:04}.{}", body.file_name, frame.index, self.ending);
            whole::write_with(&body.folder.join(name), |out| fill(out, &body.mesh, state))?;
        }
        Ok(())
    }
}

impl SequenceBody {
    /// The frame of a body that may tear, with its drawn vertices in the place of nodes.
    fn unwelded(&self, frame: &Frame, state: &BodyFrame) -> Result<Option<BodyFrame>, OutputError> {
        let (Some(nodes), Some(drawn)) = (&self.mesh.nodes, &state.drawn) else { return Ok(None) };
        expect_count(frame, "drawn vertices", nodes.len(), drawn.len())?;
        if let Some(&index) = nodes.iter().find(|&&n| n as usize >= state.velocities.len().min(state.stretch.len())) {
            let nodes = state.velocities.len();
            return Err(OutputError::NodeOutOfRange { body: self.mesh.name.clone(), index, nodes });
        }
        Ok(Some(BodyFrame {
            positions: drawn.clone(),
            velocities: nodes.iter().map(|&n| state.velocities[n as usize]).collect(),
            stretch: nodes.iter().map(|&n| state.stretch[n as usize]).collect(),
            ..BodyFrame::default()
        }))
    }

    fn check(&self, frame: &Frame, state: &BodyFrame) -> Result<(), OutputError> {
        let nodes = state.positions.len();
        expect_count(frame, "node velocities", nodes, state.velocities.len())?;
        expect_count(frame, "node stretches", nodes, state.stretch.len())?;
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
