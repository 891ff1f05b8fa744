//! OBJ as we write it, and the reader of just that.
//!
//! ```text
//! mtllib name.mtl   v x y z   vt u v   usemtl name   f a b c | a/s b/t c/u   l a b
//! ```
//! `l a a` keeps a vertex that nothing else names: importers, Blender's among them, would
//! drop it, and a point cache would no longer fit.

use super::{Material, RestMesh};
use crate::error::OutputError;
use crate::names::file_names;
use std::io::{self, Write};
use std::path::Path;

/// A body at these positions. `library` is the name of the material file.
pub(crate) fn write_obj(
    out: &mut dyn Write,
    mesh: &RestMesh,
    positions: &[[f32; 3]],
    library: Option<&str>,
) -> io::Result<()> {
    writeln!(out, "# goop: metres, Y up")?;
    if let Some(library) = library {
        writeln!(out, "mtllib {library}")?;
    }
    for [x, y, z] in positions {
        writeln!(out, "v {x} {y} {z}")?;
    }
    for [u, v] in &mesh.uvs {
        writeln!(out, "vt {u} {v}")?;
    }
    // In u64, so that counting from 1 cannot overflow.
    let from_one = |index: u32| u64::from(index) + 1;
    let materials = material_names(&mesh.materials);
    let mut material = None;
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let of = mesh.triangle_materials.get(t).map_or(0, |&m| m as usize);
        if let Some(name) = materials.get(of)
            && material != Some(of)
        {
            writeln!(out, "usemtl {name}")?;
            material = Some(of);
        }
        let [a, b, c] = triangle.map(from_one);
        match mesh.corner_uvs(t) {
            Some(uvs) => {
                let [s, t, u] = uvs.map(from_one);
                writeln!(out, "f {a}/{s} {b}/{t} {c}/{u}")?;
            }
            None => writeln!(out, "f {a} {b} {c}")?,
        }
    }
    let loose = mesh.loose();
    for segment in mesh.segments.iter().copied().chain(loose.into_iter().map(|vertex| [vertex; 2])) {
        let [a, b] = segment.map(from_one);
        writeln!(out, "l {a} {b}")?;
    }
    Ok(())
}

/// The colours that [`write_obj`] names.
pub(crate) fn write_material_library(out: &mut dyn Write, materials: &[Material]) -> io::Result<()> {
    for (material, name) in materials.iter().zip(material_names(materials)) {
        writeln!(out, "newmtl {name}")?;
        if let Some([r, g, b, a]) = material.colour {
            writeln!(out, "Kd {r} {g} {b}\nd {a}")?;
        }
        if let Some(texture) = &material.texture {
            // The picture is not here: a program that misses it would show its warning colour.
            writeln!(out, "# in the source: map_Kd {}", texture.replace(['\n', '\r'], " "))?;
        }
    }
    Ok(())
}

/// Names without spaces, no two alike.
fn material_names(materials: &[Material]) -> Vec<String> {
    file_names(&materials.iter().map(|material| &material.name).collect::<Vec<_>>())
}

/// Reads what [`write_obj`] wrote into a mesh that has its name and materials already.
pub(super) fn read_obj(path: &Path, text: &str, mesh: &mut RestMesh) -> Result<(), OutputError> {
    let materials = material_names(&mesh.materials);
    let mut reader = Reader { mesh, materials, material: None, line: 0 };
    for (line, words) in text.lines().enumerate() {
        reader.line = line + 1;
        if reader.statement(words).is_none() {
            let what = format!("line {} is not one that goop writes", reader.line);
            return Err(OutputError::bad(path, what, "run the scene again, so that the file is whole"));
        }
    }
    Ok(())
}

struct Reader<'a> {
    mesh: &'a mut RestMesh,
    materials: Vec<String>,
    material: Option<u32>,
    line: usize,
}

impl Reader<'_> {
    /// Nothing where the line is none of ours.
    fn statement(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            None | Some("mtllib") => return Some(()),
            Some("v") => self.mesh.positions.push(all(&mut words, |word| word.parse().ok())?),
            Some("vt") => self.mesh.uvs.push(all(&mut words, |word| word.parse().ok())?),
            Some("l") => {
                let [a, b] = all(&mut words, index)?;
                self.mesh.segments.extend((a != b).then_some([a, b]));
            }
            Some("usemtl") => {
                let name = words.next()?;
                self.material = Some(self.materials.iter().position(|known| known == name)? as u32);
            }
            Some("f") => {
                let corners: [_; 3] = all(&mut words, corner)?;
                self.mesh.triangles.push(corners.map(|(vertex, _)| vertex));
                if let [(_, Some(a)), (_, Some(b)), (_, Some(c))] = corners {
                    self.mesh.triangle_uvs.push([a, b, c]);
                }
                self.mesh.triangle_materials.extend(self.material);
            }
            Some(word) => return word.starts_with('#').then_some(()),
        }
        words.next().is_none().then_some(())
    }
}

/// Exactly as many words as asked for, the first of them at least.
fn all<'a, T: Copy, const N: usize>(
    words: &mut impl Iterator<Item = &'a str>,
    read: impl Fn(&str) -> Option<T>,
) -> Option<[T; N]> {
    let mut values = Vec::with_capacity(N);
    for _ in 0..N {
        values.push(read(words.next()?)?);
    }
    values.try_into().ok()
}

fn index(word: &str) -> Option<u32> {
    word.parse::<u32>().ok()?.checked_sub(1)
}

fn corner(word: &str) -> Option<(u32, Option<u32>)> {
    match word.split_once('/') {
        Some((vertex, uv)) => Some((index(vertex)?, Some(index(uv)?))),
        None => Some((index(word)?, None)),
    }
}
