//! Wavefront OBJ, a file a body a frame: positions and faces or lines, as text.
//!
//! The format has no place for velocities; take PLY for those. Node numbers count from 1.
//! A mesh from a file has its vertices, texture coordinates and materials here as there.

use crate::cache::{write_material_library, write_obj};
use crate::error::OutputError;
use crate::sequence::{BodyMesh, Sequence};
use crate::sink::Sink;
use crate::whole;
use goop::frame::{BodyFrame, Frame};
use std::io::{self, Write};
use std::path::Path;

/// Name of the materials beside the frames of a body.
const LIBRARY: &str = "materials.mtl";

/// `frames/<body>/<body>.0000.obj` and on.
pub struct ObjSequence(Sequence);

impl ObjSequence {
    /// Makes the folders under `run_folder`; bodies are in the order of the frames.
    pub fn new(run_folder: impl AsRef<Path>, bodies: Vec<BodyMesh>) -> Result<ObjSequence, OutputError> {
        let sequence = Sequence::new(run_folder.as_ref(), bodies, "obj")?;
        for (mesh, folder) in sequence.bodies() {
            let materials = mesh.drawn.as_ref().map_or(&[][..], |drawn| &drawn.rest.materials);
            if !materials.is_empty() {
                whole::write_with(&folder.join(LIBRARY), |out| write_material_library(out, materials))?;
            }
        }
        Ok(ObjSequence(sequence))
    }
}

impl Sink for ObjSequence {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        self.0.write(frame, write_body)
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

fn write_body(out: &mut dyn Write, mesh: &BodyMesh, body: &BodyFrame) -> io::Result<()> {
    if let Some(drawn) = &mesh.drawn {
        let library = (!drawn.rest.materials.is_empty()).then_some(LIBRARY);
        return write_obj(out, &drawn.rest, &body.positions, library);
    }
    writeln!(out, "# goop: metres, Y up")?;
    for [x, y, z] in &body.positions {
        writeln!(out, "v {x} {y} {z}")?;
    }
    // In u64, so that counting from 1 cannot overflow.
    let from_one = |index: u32| u64::from(index) + 1;
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(from_one);
        writeln!(out, "f {a} {b} {c}")?;
    }
    for segment in &mesh.segments {
        let [a, b] = segment.map(from_one);
        writeln!(out, "l {a} {b}")?;
    }
    Ok(())
}
