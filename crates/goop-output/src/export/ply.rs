//! A binary little-endian PLY a body a frame.
//!
//! ```text
//! vertex  x y z (m)  vx vy vz (m/s)  stretch (-)  [s t]    7 or 9 × float
//! face    uchar 3, 3 × int        edge  vertex1 vertex2    2 × int
//! ```
//! Texture coordinates belong to vertices here: where a vertex has several, the first.

use super::{Export, Stop};
use crate::cache::{CachedBody, NodeFrame, RestMesh};
use crate::error::OutputError;
use std::io::Write;

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    for (b, body) in cache.bodies().iter().enumerate() {
        export.frames_folder(body)?;
        let uvs = body.rest.vertex_uvs();
        for frame in 0..cache.frames() {
            let (positions, nodes) = (cache.positions(b, frame)?, cache.nodes(b, frame)?);
            let name = export.frame_name(body, frame, "ply");
            export.file(&name, |out| write_frame(out, body, &positions, &nodes, uvs.as_deref()))?;
        }
    }
    Ok(())
}

fn write_frame(
    out: &mut dyn Write,
    body: &CachedBody,
    positions: &[[f32; 3]],
    nodes: &NodeFrame,
    uvs: Option<&[[f32; 2]]>,
) -> Result<(), Stop> {
    out.write_all(header(&body.rest, uvs.is_some()).as_bytes())?;
    for (vertex, position) in positions.iter().enumerate() {
        let node = body.node_of(vertex);
        let velocity = node.map_or([0.0; 3], |node| nodes.velocities[node]);
        let stretch = node.map_or(0.0, |node| nodes.stretch[node]);
        let uv = uvs.map_or(&[] as &[f32], |uvs| &uvs[vertex]);
        for value in position.iter().chain(&velocity).chain([&stretch]).chain(uv) {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    for triangle in &body.rest.triangles {
        out.write_all(&[3])?;
        triangle.iter().try_for_each(|corner| out.write_all(&corner.to_le_bytes()))?;
    }
    for corner in body.rest.segments.as_flattened() {
        out.write_all(&corner.to_le_bytes())?;
    }
    Ok(())
}

fn header(mesh: &RestMesh, uvs: bool) -> String {
    let mut text = String::from("ply\nformat binary_little_endian 1.0\ncomment goop: metres, seconds, Y up\n");
    text += &format!("element vertex {}\n", mesh.positions.len());
    let names = ["x", "y", "z", "vx", "vy", "vz", "stretch", "s", "t"];
    for name in &names[..if uvs { 9 } else { 7 }] {
        text += &format!("property float {name}\n");
    }
    if !mesh.triangles.is_empty() {
        text += &format!("element face {}\nproperty list uchar int vertex_indices\n", mesh.triangles.len());
    }
    if !mesh.segments.is_empty() {
        text += &format!("element edge {}\nproperty int vertex1\nproperty int vertex2\n", mesh.segments.len());
    }
    text + "end_header\n"
}
