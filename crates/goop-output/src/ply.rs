//! Binary little-endian PLY, a file a body a frame.
//!
//! ```text
//! vertex  x y z (m)  vx vy vz (m/s)  stretch (-)      7 × float      28 bytes
//! face    uchar 3, 3 × int                                           13 bytes
//! edge    vertex1 vertex2                             2 × int         8 bytes
//! ```
//! The edge element is there only for bodies with segments, the face element only for
//! those with triangles. Node numbers are `int`, which every reader takes. A mesh from a
//! file is written as `goop export` does, with texture coordinates and materials.

use crate::error::OutputError;
use crate::export::ply::write_mesh;
use crate::sequence::{BodyMesh, Sequence};
use crate::sink::Sink;
use goop::frame::{BodyFrame, Frame};
use std::io::{self, Write};
use std::path::Path;

/// `frames/<body>/<body>.0000.ply` and on.
pub struct PlySequence(Sequence);

impl PlySequence {
    /// Makes the folders under `run_folder`; bodies are in the order of the frames.
    pub fn new(run_folder: impl AsRef<Path>, bodies: Vec<BodyMesh>) -> Result<PlySequence, OutputError> {
        Sequence::new(run_folder.as_ref(), bodies, "ply").map(PlySequence)
    }
}

impl Sink for PlySequence {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        self.0.write(frame, write_body)
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

fn write_body(out: &mut dyn Write, mesh: &BodyMesh, body: &BodyFrame) -> io::Result<()> {
    if let Some(drawn) = &mesh.drawn {
        let uvs = drawn.rest.vertex_uvs();
        return write_mesh(out, &drawn.rest, &body.positions, &body.velocities, &body.stretch, uvs.as_deref());
    }
    out.write_all(header(mesh, body).as_bytes())?;
    for ((x, v), stretch) in body.positions.iter().zip(&body.velocities).zip(&body.stretch) {
        out.write_all(&floats([x[0], x[1], x[2], v[0], v[1], v[2], *stretch]))?;
    }
    for [a, b, c] in &mesh.triangles {
        let mut face = [3; 13];
        face[1..5].copy_from_slice(&a.to_le_bytes());
        face[5..9].copy_from_slice(&b.to_le_bytes());
        face[9..13].copy_from_slice(&c.to_le_bytes());
        out.write_all(&face)?;
    }
    for [a, b] in &mesh.segments {
        out.write_all(&a.to_le_bytes())?;
        out.write_all(&b.to_le_bytes())?;
    }
    Ok(())
}

fn header(mesh: &BodyMesh, body: &BodyFrame) -> String {
    let mut text = String::from("ply\nformat binary_little_endian 1.0\ncomment goop: metres, seconds, Y up\n");
    text += &format!("element vertex {}\n", body.positions.len());
    for property in ["x", "y", "z", "vx", "vy", "vz", "stretch"] {
        text += &format!("property float {property}\n");
    }
    if !mesh.triangles.is_empty() {
        text += &format!("element face {}\nproperty list uchar int vertex_indices\n", mesh.triangles.len());
    }
    if !mesh.segments.is_empty() {
        text += &format!("element edge {}\nproperty int vertex1\nproperty int vertex2\n", mesh.segments.len());
    }
    text + "end_header\n"
}

fn floats(values: [f32; 7]) -> [u8; 28] {
    let mut bytes = [0; 28];
    for (slot, value) in bytes.chunks_exact_mut(4).zip(values) {
        slot.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}
