//! STL, text and binary. Every facet brings its own three vertices; weld them.
//!
//! ```text
//! binary: 80 bytes · u32 count · count × (normal, 3 × vertex as f32, u16)
//! ```
//! A binary file may begin with "solid" too, so the length decides first.

use super::polygon::Cutter;
use super::text::{lines, number, show, tokens};
use super::{Fault, Place, Raw, check_triangles, check_vertices, fault};

const HEADER: usize = 84;
const FACET: usize = 50;

/// Facets that a binary file declares.
fn declared(bytes: &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(*bytes.get(80..HEADER)?.first_chunk()?) as usize)
}

/// Whether the length is what a binary file declares.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    declared(bytes)
        .is_some_and(|count| count.checked_mul(FACET).and_then(|n| n.checked_add(HEADER)) == Some(bytes.len()))
}

/// Whether it begins as text, and a facet or the end follows soon.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let start = &start[..start.len().min(2000)];
    let holds = |word: &[u8]| start.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) && (holds(b"facet") || holds(b"endsolid"))
}

pub(super) fn read(bytes: &[u8]) -> Result<Raw, Fault> {
    if !is_binary(bytes) && is_text(bytes) { read_text(bytes) } else { read_binary(bytes) }
}

fn read_binary(bytes: &[u8]) -> Result<Raw, Fault> {
    let end = Place::Byte(bytes.len());
    let Some(count) = declared(bytes) else {
        return Err(fault(end, "the file ends within the header", "export it again"));
    };
    let there = (bytes.len() - HEADER) / FACET;
    if count > there {
        let message = format!("the file declares {count} triangles but ends after {there}");
        return Err(fault(end, message, "export it again or correct the count at byte 80"));
    }
    check_triangles(Place::Byte(80), count)?;
    check_vertices(Place::Byte(80), 3 * count)?;
    let mut raw = Raw::default();
    raw.positions.reserve_exact(3 * count);
    raw.triangles.reserve_exact(count);
    let (facets, rest) = bytes[HEADER..].split_at(count * FACET);
    for (i, facet) in facets.chunks_exact(FACET).enumerate() {
        let place = Place::Byte(HEADER + i * FACET);
        for vertex in facet[12..48].chunks_exact(12) {
            let float =
                |at: usize| f64::from(f32::from_le_bytes([vertex[at], vertex[at + 1], vertex[at + 2], vertex[at + 3]]));
            raw.add_vertex(place, [float(0), float(4), float(8)])?;
        }
        raw.triangles.push([0, 1, 2].map(|corner| 3 * i as u32 + corner));
    }
    if !rest.is_empty() {
        raw.warnings.add(format!("{} bytes after the last triangle are passed over", rest.len()));
    }
    Ok(raw)
}

fn read_text(bytes: &[u8]) -> Result<Raw, Fault> {
    let mut raw = Raw::default();
    let mut name = String::new();
    let mut cutter = Cutter::default();
    // First vertex of the facet now open.
    let mut open: Option<usize> = None;
    let mut last_line = 1;
    for (line, text) in lines(bytes) {
        last_line = line;
        let mut words = tokens(text);
        while let Some(word) = words.next() {
            match word.to_ascii_lowercase().as_slice() {
                b"solid" => {
                    name = words.by_ref().map(show).collect::<Vec<_>>().join(" ");
                }
                b"endsolid" => words.by_ref().for_each(drop),
                // The normal follows from the vertices; what stands here is often zero.
                b"facet" => words.by_ref().take(4).for_each(drop),
                b"outer" => {
                    words.next();
                    open = Some(raw.positions.len());
                }
                b"vertex" => {
                    open.get_or_insert(raw.positions.len());
                    let mut next = || number(line, words.next(), &mut raw.warnings);
                    let position = [next()?, next()?, next()?];
                    raw.add_vertex(Place::Line(line), position)?;
                }
                b"endloop" | b"endfacet" => {
                    let Some(first) = open.take() else { continue };
                    let corners: Vec<u32> = (first as u32..raw.positions.len() as u32).collect();
                    if corners.len() < 3 {
                        raw.positions.truncate(first);
                        raw.warnings.add(format!("line {line}: a facet with {} vertices is skipped", corners.len()));
                        continue;
                    }
                    check_triangles(Place::Line(line), raw.triangles.len() + corners.len() - 2)?;
                    let start = raw.triangles.len();
                    let clean = cutter.cut(&corners, &raw.positions, &mut raw.triangles);
                    raw.triangles[start..].iter_mut().flatten().for_each(|corner| *corner += first as u32);
                    if !clean {
                        raw.warnings.add(format!("line {line}: a facet crosses itself; its triangles may overlap"));
                    }
                    if !name.is_empty() {
                        match raw.groups.get_mut(&name) {
                            Some(group) => group.extend(&corners),
                            None => drop(raw.groups.insert(name.clone(), corners)),
                        }
                    }
                }
                _ => {
                    raw.warnings.add(format!("line {line}: '{}' is not understood and is passed over", show(word)));
                    words.by_ref().for_each(drop);
                }
            }
        }
    }
    if open.is_some() {
        return Err(fault(Place::Line(last_line), "the file ends within a facet", "export it again"));
    }
    Ok(raw)
}
