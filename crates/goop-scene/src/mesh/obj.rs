//! Wavefront OBJ: `v`, `vt`, `f`, `g`, `o`, `usemtl` and `mtllib`; everything else is
//! passed over.
//!
//! Our own reader: tobj gives no line numbers, refuses continued lines and the stray
//! signs of `number`, cuts every polygon as a fan, pads faces with too few corners to
//! triangles without area, and takes `g a b` for one name. Indices count from 1,
//! negative ones back from the last vertex.

use super::beside::beside;
use super::mtl;
use super::polygon::Cutter;
use super::text::{lines, number, show, tokens};
use super::{Fault, MOST_VERTICES, Paint, Place, Raw, check_triangles, fault, read_bytes};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

const NO_TEXTURE: u32 = u32::MAX;
/// Most members of all groups together: each takes memory.
const MOST_MEMBERS: usize = 100_000_000;
/// Most material libraries read: each is a file.
const MOST_LIBRARIES: usize = 100;
/// Most materials named: each has a name to keep.
const MOST_MATERIALS: usize = 100_000;

#[derive(Default)]
struct Reader {
    raw: Raw,
    textures: Vec<[f64; 2]>,
    /// Vertex and texture of every corner of every face.
    corners: Vec<[u32; 2]>,
    /// Corners of every face, its line, and its material: 0 for none, else counted from 1.
    faces: Vec<(Range<usize>, usize, u32)>,
    /// Materials by name, from 1; the one now in use; files that describe them.
    materials: BTreeMap<String, u32>,
    material: u32,
    libraries: Vec<(usize, String)>,
    /// Runs of corners in every group; the object and the groups now open.
    groups: BTreeMap<String, Vec<Range<usize>>>,
    object: Option<String>,
    open: BTreeSet<String>,
    unknown: BTreeSet<Vec<u8>>,
    triangles: usize,
}

pub(super) fn read(bytes: &[u8], folder: &Path) -> Result<Raw, Fault> {
    let mut reader = Reader::default();
    let mut lines = lines(bytes);
    while let Some((number, line)) = lines.next() {
        let mut statement = Cow::Borrowed(line);
        // A backslash at the end goes on in the next line; in a comment it may end a path.
        let comment = line.trim_ascii_start().starts_with(b"#");
        while !comment && statement.trim_ascii_end().ends_with(b"\\") {
            let joined = statement.to_mut();
            joined.truncate(joined.trim_ascii_end().len() - 1);
            joined.push(b' ');
            let Some((_, next)) = lines.next() else { break };
            joined.extend_from_slice(next);
        }
        reader.statement(number, &statement)?;
    }
    reader.finish(folder)
}

impl Reader {
    fn statement(&mut self, line: usize, text: &[u8]) -> Result<(), Fault> {
        let mut tokens = tokens(text);
        let Some(keyword) = tokens.next() else { return Ok(()) };
        let warnings = &mut self.raw.warnings;
        match keyword {
            b"v" => {
                let mut next = || number(line, tokens.next(), warnings);
                let position = [next()?, next()?, next()?];
                // A colour may follow, or a weight, which is for rational curves.
                let (weight, more) = (tokens.next(), tokens.next());
                if more.is_none() && weight.is_some_and(|w| !is_one(w)) {
                    warnings.add(format!("line {line}: the weight of a vertex is passed over"));
                }
                self.raw.add_vertex(Place::Line(line), position)?;
            }
            b"vt" => {
                let u = number(line, tokens.next(), warnings)?;
                let v = tokens.next().map_or(Ok(0.0), |token| number(line, Some(token), warnings))?;
                if self.textures.len() >= 3 * MOST_VERTICES {
                    return Err(fault(Place::Line(line), "there are too many texture coordinates", "reduce the mesh"));
                }
                self.textures.push([u, v]);
            }
            b"f" => self.face(line, tokens)?,
            b"o" => {
                let name = show(text.trim_ascii_start().get(1..).unwrap_or_default());
                self.object = (!name.is_empty()).then_some(name);
            }
            b"g" => self.open = tokens.map(show).collect(),
            b"usemtl" => {
                let (name, next) = (mtl::rest(text), self.materials.len() as u32 + 1);
                if next as usize > MOST_MATERIALS {
                    return Err(fault(Place::Line(line), "there are too many materials", "join some of them"));
                }
                self.material = if name.is_empty() { 0 } else { *self.materials.entry(name).or_insert(next) };
            }
            b"mtllib" if self.libraries.len() < MOST_LIBRARIES => self.libraries.push((line, mtl::rest(text))),
            b"vn" | b"vp" | b"s" | b"mtllib" | b"l" | b"p" => {}
            _ => {
                // Each unknown word once, and not without end.
                if self.unknown.len() < 10 && self.unknown.insert(keyword.to_vec()) {
                    warnings.add(format!("line {line}: '{}' is not understood and is passed over", show(keyword)));
                }
            }
        }
        Ok(())
    }

    fn face<'a>(&mut self, line: usize, tokens: impl Iterator<Item = &'a [u8]>) -> Result<(), Fault> {
        let start = self.corners.len();
        for token in tokens {
            let mut parts = token.split(|&b| b == b'/');
            let vertex = index(line, token, parts.next(), self.raw.positions.len())?;
            let Some(vertex) = vertex else {
                let message = format!("the corner '{}' names no vertex", show(token));
                return Err(fault(Place::Line(line), message, "start it with a number from 1"));
            };
            let texture = index(line, token, parts.next(), self.textures.len())?.unwrap_or(NO_TEXTURE);
            self.corners.push([vertex, texture]);
            check_triangles(Place::Line(line), self.triangles + self.corners.len() - start)?;
        }
        let count = self.corners.len() - start;
        if count < 3 {
            self.corners.truncate(start);
            self.raw.warnings.add(format!("line {line}: a face with {count} corners is skipped"));
            return Ok(());
        }
        self.triangles += count - 2;
        let corners = start..self.corners.len();
        for name in self.object.iter().chain(&self.open) {
            let Some(runs) = self.groups.get_mut(name) else {
                self.groups.insert(name.clone(), vec![corners.clone()]);
                continue;
            };
            match runs.last_mut().filter(|run| run.end == start) {
                Some(run) => run.end = corners.end,
                None => runs.push(corners.clone()),
            }
        }
        self.faces.push((corners, line, self.material));
        Ok(())
    }

    fn finish(self, folder: &Path) -> Result<Raw, Fault> {
        let Reader { mut raw, textures, corners, faces, groups, materials, libraries, .. } = self;
        let count = raw.positions.len();
        for (face, line, _) in &faces {
            if let Some([vertex, _]) = corners[face.clone()].iter().find(|corner| corner[0] as usize >= count) {
                let message = format!("the face names vertex {}, but there are {count}", u64::from(*vertex) + 1);
                return Err(fault(Place::Line(*line), message, "correct the index or add the vertex"));
            }
        }
        let textured = corners.iter().any(|corner| (corner[1] as usize) < textures.len());
        let mut bare = None;
        raw.corner_textures = if textured { textures.clone() } else { Vec::new() };
        let (mut cutter, mut cut) = (Cutter::default(), Vec::new());
        let (mut polygon, mut vertices) = (Vec::new(), Vec::new());
        for (face, line, material) in faces {
            polygon.clear();
            polygon.extend_from_slice(&corners[face]);
            polygon.dedup_by_key(|corner| corner[0]);
            while polygon.len() > 1 && polygon.first().map(|c| c[0]) == polygon.last().map(|c| c[0]) {
                polygon.pop();
            }
            if polygon.len() < 3 {
                raw.warnings.add(format!("line {line}: a face with the same corner again is skipped"));
                continue;
            }
            vertices.clear();
            vertices.extend(polygon.iter().map(|corner| corner[0]));
            cut.clear();
            if !cutter.cut(&vertices, &raw.positions, &mut cut) {
                raw.warnings.add(format!("line {line}: a face crosses itself; its triangles may overlap"));
            }
            raw.triangles.extend(cut.iter().map(|triangle| triangle.map(|corner| vertices[corner as usize])));
            raw.triangle_paints.extend(cut.iter().map(|_| material));
            for triangle in cut.iter().filter(|_| textured) {
                raw.triangle_textures.push(triangle.map(|corner| {
                    let texture = polygon[corner as usize][1];
                    if (texture as usize) < textures.len() {
                        return texture;
                    }
                    // Corners without one share a coordinate behind all others.
                    *bare.get_or_insert_with(|| {
                        raw.corner_textures.push([0.0; 2]);
                        raw.corner_textures.len() as u32 - 1
                    })
                }));
            }
        }
        paint(&mut raw, materials, &libraries, folder);
        if !textures.is_empty() {
            raw.texture_coordinates = vec![[0.0; 2]; count];
            let mut absent = 0;
            // Backwards, so that the first one given to a vertex stays.
            for &[vertex, texture] in corners.iter().rev().filter(|corner| corner[1] != NO_TEXTURE) {
                match textures.get(texture as usize) {
                    Some(&pair) => raw.texture_coordinates[vertex as usize] = pair,
                    None => absent += 1,
                }
            }
            if absent > 0 {
                raw.warnings.add(format!("{absent} corners name texture coordinates that are not there"));
            }
        }
        let mut members = 0;
        let mut last_group = vec![0u32; count];
        for (number, (name, runs)) in (1..).zip(groups) {
            let mut group = Vec::new();
            for [vertex, _] in runs.into_iter().flat_map(|run| &corners[run]) {
                if std::mem::replace(&mut last_group[*vertex as usize], number) != number {
                    group.push(*vertex);
                }
            }
            members += group.len();
            if members > MOST_MEMBERS {
                return Err(fault(Place::File, "the groups have too many members", "leave some groups out"));
            }
            raw.groups.insert(name, group);
        }
        Ok(raw)
    }
}

/// Gives the materials that faces name the colours that libraries give them.
fn paint(raw: &mut Raw, materials: BTreeMap<String, u32>, libraries: &[(usize, String)], folder: &Path) {
    if materials.is_empty() {
        raw.triangle_paints.clear();
        return;
    }
    let mut known = BTreeMap::new();
    for (line, names) in libraries {
        // Several names, or one with spaces.
        let there = |name: &str| beside(name, folder).is_some_and(|path| path.is_file());
        let several = !there(names) && names.split_whitespace().any(there);
        for name in if several { names.split_whitespace().collect() } else { vec![names.as_str()] } {
            match beside(name, folder).map(|path| read_bytes(&path, mtl::MOST_BYTES)) {
                Some(Ok(bytes)) => mtl::read(&bytes, name, &mut known, &mut raw.warnings),
                Some(Err(fault)) => raw.warnings.add(format!("line {line}: {name}: {}", fault.message)),
                None => raw.warnings.add(format!("line {line}: '{name}' lies outside the folder and is not read")),
            }
        }
    }
    raw.paints = vec![Paint { name: "no material".into(), ..Paint::default() }; materials.len() + 1];
    for (name, number) in materials {
        raw.paints[number as usize] = known.remove(&name).unwrap_or(Paint { name, ..Paint::default() });
    }
}

fn is_one(token: &[u8]) -> bool {
    std::str::from_utf8(token).ok().and_then(|text| text.parse().ok()) == Some(1.0)
}

/// An index from 0; `None` where the part is empty.
fn index(line: usize, token: &[u8], part: Option<&[u8]>, count: usize) -> Result<Option<u32>, Fault> {
    let Some(part) = part.filter(|part| !part.is_empty()) else { return Ok(None) };
    let given: Option<i64> = std::str::from_utf8(part).ok().and_then(|text| text.parse().ok());
    let from_zero = match given {
        Some(0) => None,
        Some(given) if given < 0 => given.checked_add(count as i64),
        Some(given) => Some(given - 1),
        None => None,
    };
    // The largest u32 stands for none.
    match from_zero.and_then(|index| u32::try_from(index).ok()).filter(|&index| index != u32::MAX) {
        Some(index) => Ok(Some(index)),
        None => {
            let message = format!("the corner '{}' has an index that points nowhere", show(token));
            Err(fault(Place::Line(line), message, "count from 1, or with negative numbers back from the last"))
        }
    }
}
