//! A binary little-endian PLY a body a frame.
//!
//! ```text
//! vertex  x y z (m)  vx vy vz (m/s)  stretch (-)  [s t]    7 or 9 × float
//! face    uchar 3, 3 × int  [uchar 6, 6 × float]  [int]
//! edge    vertex1 vertex2                                  2 × int
//! ```
//! Where a vertex has several texture coordinates it has the first, and faces have those of
//! their corners in a list `texcoord`. `material_index` of a face counts the materials that
//! comments name, from 0.

use super::Export;
use crate::cache::RestMesh;
use crate::error::OutputError;
use std::io::{self, Write};

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    for (b, body) in cache.bodies().iter().enumerate() {
        export.frames_folder(body)?;
        let uvs = body.rest.vertex_uvs();
        for frame in 0..cache.frames() {
            let (positions, nodes) = (cache.positions(b, frame)?, cache.nodes(b, frame)?);
            let of = (0..positions.len()).map(|vertex| body.node_of(vertex));
            let velocities: Vec<_> = of.clone().map(|n| n.map_or([0.0; 3], |n| nodes.velocities[n])).collect();
            let stretch: Vec<_> = of.map(|n| n.map_or(0.0, |n| nodes.stretch[n])).collect();
            let name = export.frame_name(body, frame, "ply");
            export.file(&name, |out| {
                Ok(write_mesh(out, &body.rest, &positions, &velocities, &stretch, uvs.as_deref())?)
            })?;
        }
    }
    Ok(())
}

/// A mesh at an instant, everything given of vertices.
pub(crate) fn write_mesh(
    out: &mut dyn Write,
    rest: &RestMesh,
    positions: &[[f32; 3]],
    velocities: &[[f32; 3]],
    stretch: &[f32],
    uvs: Option<&[[f32; 2]]>,
) -> io::Result<()> {
    out.write_all(header(rest, uvs.is_some()).as_bytes())?;
    for (vertex, ((position, velocity), stretch)) in positions.iter().zip(velocities).zip(stretch).enumerate() {
        let uv = uvs.map_or(&[] as &[f32], |uvs| &uvs[vertex]);
        for value in position.iter().chain(velocity).chain([stretch]).chain(uv) {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    for (t, triangle) in rest.triangles.iter().enumerate() {
        out.write_all(&[3])?;
        triangle.iter().try_for_each(|corner| out.write_all(&corner.to_le_bytes()))?;
        if let Some(uvs) = rest.triangle_uvs.get(t) {
            out.write_all(&[6])?;
            let values = uvs.iter().flat_map(|&uv| rest.uvs[uv as usize]);
            values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))?;
        }
        if !rest.materials.is_empty() {
            out.write_all(&rest.triangle_materials.get(t).copied().unwrap_or(0).to_le_bytes())?;
        }
    }
    for corner in rest.segments.as_flattened() {
        out.write_all(&corner.to_le_bytes())?;
    }
    Ok(())
}

fn header(mesh: &RestMesh, uvs: bool) -> String {
    let mut text = String::from("ply\nformat binary_little_endian 1.0\ncomment goop: metres, seconds, Y up\n");
    for (m, material) in mesh.materials.iter().enumerate() {
        let name: String = material.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text += &format!("comment material {m} {name}\n");
    }
    text += &format!("element vertex {}\n", mesh.positions.len());
    let names = ["x", "y", "z", "vx", "vy", "vz", "stretch", "s", "t"];
    for name in &names[..if uvs { 9 } else { 7 }] {
        text += &format!("property float {name}\n");
    }
    if !mesh.triangles.is_empty() {
        text += &format!("element face {}\nproperty list uchar int vertex_indices\n", mesh.triangles.len());
        if !mesh.triangle_uvs.is_empty() {
            text += "property list uchar float texcoord\n";
        }
        if !mesh.materials.is_empty() {
            text += "property int material_index\n";
        }
    }
    if !mesh.segments.is_empty() {
        text += &format!("element edge {}\nproperty int vertex1\nproperty int vertex2\n", mesh.segments.len());
    }
    text + "end_header\n"
}
