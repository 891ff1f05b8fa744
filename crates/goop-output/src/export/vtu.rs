//! VTK's unstructured grid, a file a body a frame, and a PVD that gives each its time.
//!
//! Points with `velocity` (m/s) and `stretch` (-), texture coordinates where there are
//! any; cells are triangles (type 5) and lines (type 3). Where a vertex has several texture
//! coordinates, `uv` is the first and cells have `corner_uv`, u and v of three corners; cells
//! have the number of their `material`, -1 for lines, where there are several. Arrays are base64 behind a count
//! of bytes, which stays valid XML; raw appended data would not, and some readers refuse it.

use super::{Export, Stop, base64};
use crate::cache::{CachedBody, NodeFrame};
use crate::error::OutputError;
use std::io::{self, Write};

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    let mut names = vec![Vec::new(); cache.frames()];
    for (b, body) in cache.bodies().iter().enumerate() {
        export.frames_folder(body)?;
        let uvs = body.rest.vertex_uvs();
        for frame in 0..cache.frames() {
            let (positions, nodes) = (cache.positions(b, frame)?, cache.nodes(b, frame)?);
            let name = export.frame_name(body, frame, "vtu");
            export.file(&name, |out| write_frame(out, body, &positions, &nodes, uvs.as_deref()))?;
            names[frame].push(name);
        }
    }
    let times: Vec<f64> = (0..cache.frames()).map(|frame| export.time(frame)).collect();
    export.file(&format!("{}.pvd", export.scene), |out| {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(out, "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <Collection>")?;
        for (time, files) in times.iter().zip(&names) {
            for (part, file) in files.iter().enumerate() {
                writeln!(out, "    <DataSet timestep=\"{time}\" part=\"{part}\" file=\"{file}\"/>")?;
            }
        }
        Ok(writeln!(out, "  </Collection>\n</VTKFile>")?)
    })
}

fn write_frame(
    out: &mut dyn Write,
    body: &CachedBody,
    positions: &[[f32; 3]],
    nodes: &NodeFrame,
    uvs: Option<&[[f32; 2]]>,
) -> Result<(), Stop> {
    let mesh = &body.rest;
    let (triangles, segments) = (mesh.triangles.len(), mesh.segments.len());
    let of_nodes = |vertex: usize| body.node_of(vertex);
    let velocities = (0..positions.len()).flat_map(|v| of_nodes(v).map_or([0.0; 3], |n| nodes.velocities[n]));
    let stretch = (0..positions.len()).map(|v| of_nodes(v).map_or(0.0, |n| nodes.stretch[n]));

    writeln!(out, "<?xml version=\"1.0\"?>")?;
    write!(out, "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\"")?;
    writeln!(out, " header_type=\"UInt64\">\n<UnstructuredGrid>")?;
    writeln!(out, "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">", positions.len(), triangles + segments)?;
    writeln!(out, "<PointData Vectors=\"velocity\" Scalars=\"stretch\">")?;
    array(out, "Float32", "velocity", 3, velocities.flat_map(f32::to_le_bytes))?;
    array(out, "Float32", "stretch", 1, stretch.flat_map(f32::to_le_bytes))?;
    if let Some(uvs) = uvs {
        array(out, "Float32", "uv", 2, uvs.as_flattened().iter().flat_map(|uv| uv.to_le_bytes()))?;
    }
    writeln!(out, "</PointData>\n<CellData>")?;
    if mesh.materials.len() > 1 {
        let numbers = (0..triangles).map(|t| mesh.triangle_materials.get(t).map_or(0, |&m| m as i32));
        let all = numbers.chain(std::iter::repeat_n(-1, segments));
        array(out, "Int32", "material", 1, all.flat_map(i32::to_le_bytes))?;
    }
    if !mesh.triangle_uvs.is_empty() {
        let corners = mesh.triangle_uvs.as_flattened().iter().flat_map(|&uv| mesh.uvs[uv as usize]);
        let all = corners.chain(std::iter::repeat_n(0.0, 6 * segments));
        array(out, "Float32", "corner_uv", 6, all.flat_map(f32::to_le_bytes))?;
    }
    writeln!(out, "</CellData>\n<Points>")?;
    array(out, "Float32", "Points", 3, positions.as_flattened().iter().flat_map(|value| value.to_le_bytes()))?;
    writeln!(out, "</Points>\n<Cells>")?;
    let corners = mesh.triangles.as_flattened().iter().chain(mesh.segments.as_flattened());
    array(out, "Int64", "connectivity", 1, corners.flat_map(|&corner| i64::from(corner).to_le_bytes()))?;
    let ends = (1..=triangles).map(|t| 3 * t).chain((1..=segments).map(|s| 3 * triangles + 2 * s));
    array(out, "Int64", "offsets", 1, ends.flat_map(|end| (end as i64).to_le_bytes()))?;
    let types = std::iter::repeat_n(5u8, triangles).chain(std::iter::repeat_n(3u8, segments));
    array(out, "UInt8", "types", 1, types)?;
    Ok(writeln!(out, "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>")?)
}

fn array(
    out: &mut dyn Write,
    kind: &str,
    name: &str,
    components: usize,
    values: impl Iterator<Item = u8>,
) -> io::Result<()> {
    write!(out, "<DataArray type=\"{kind}\" Name=\"{name}\"")?;
    if components > 1 {
        write!(out, " NumberOfComponents=\"{components}\"")?;
    }
    write!(out, " format=\"binary\">")?;
    let mut bytes = vec![0; 8];
    bytes.extend(values);
    let count = bytes.len() as u64 - 8;
    bytes[..8].copy_from_slice(&count.to_le_bytes());
    base64::write(out, &bytes)?;
    writeln!(out, "</DataArray>")
}
