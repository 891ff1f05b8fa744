//! Stanford PLY, text and binary in either byte order, with any properties.
//!
//! Read are the x, y, z of element `vertex`, its texture coordinates under any of
//! their usual names, and of element `face` the list `vertex_indices` (or `vertex_index`)
//! and the list `texcoord`, u and v of every corner. All other elements and properties
//! are passed over by their declared types.

use super::polygon::Cutter;
use super::text::show;
use super::{Fault, Place, Raw, check_triangles, check_vertices, fault};
use header::{Element, Encoding, Kind, Property, header};

mod header;

pub(super) fn read(bytes: &[u8]) -> Result<Raw, Fault> {
    let (encoding, elements, start) = header(bytes)?;
    let mut data = Data { bytes, at: start, encoding, line: 1 + elements.header_lines };
    let mut raw = Raw::default();
    let mut faces = Faces::default();
    for element in &elements.list {
        data.check_count(element)?;
        match element.name.as_slice() {
            b"vertex" => vertices(&mut data, element, &mut raw)?,
            b"face" => faces.read(&mut data, element)?,
            _ => {
                for _ in 0..if element.properties.is_empty() { 0 } else { element.count } {
                    for property in &element.properties {
                        data.skip(property)?;
                    }
                }
            }
        }
    }
    faces.cut(&mut raw)?;
    Ok(raw)
}

fn vertices(data: &mut Data, element: &Element, raw: &mut Raw) -> Result<(), Fault> {
    check_vertices(Place::Line(element.line), raw.positions.len().saturating_add(element.count))?;
    let find = |names: &[&str]| {
        let scalar = |p: &Property| p.length.is_none() && names.iter().any(|name| name.as_bytes() == p.name);
        element.properties.iter().position(scalar)
    };
    let [Some(x), Some(y), Some(z)] = ["x", "y", "z"].map(|name| find(&[name])) else {
        return Err(fault(Place::Line(element.line), "a vertex has no x, y and z", "export positions"));
    };
    let [u, v] = [["u", "s", "texture_u"], ["v", "t", "texture_v"]].map(|names| find(&names));
    let textured = u.zip(v);
    let mut row = vec![0.0; element.properties.len()];
    for _ in 0..element.count {
        let place = data.next_place();
        for (value, property) in row.iter_mut().zip(&element.properties) {
            match property.length {
                None => *value = data.scalar(property.kind)?,
                Some(_) => data.skip(property)?,
            }
        }
        raw.add_vertex(place, [row[x], row[y], row[z]])?;
        if let Some((u, v)) = textured {
            // A second vertex element may have what the first had not.
            raw.texture_coordinates.resize(raw.positions.len() - 1, [0.0; 2]);
            raw.texture_coordinates.push([row[u], row[v]]);
        }
    }
    if !raw.texture_coordinates.is_empty() {
        raw.texture_coordinates.resize(raw.positions.len(), [0.0; 2]);
    }
    Ok(())
}

/// Faces, kept until all vertices are known.
#[derive(Default)]
struct Faces {
    corners: Vec<u32>,
    ends: Vec<(usize, Place)>,
    triangles: usize,
    /// Of every corner, once a face has them.
    textures: Vec<[f64; 2]>,
}

impl Faces {
    fn read(&mut self, data: &mut Data, element: &Element) -> Result<(), Fault> {
        let named =
            |p: &Property| p.length.is_some() && [&b"vertex_indices"[..], b"vertex_index"].contains(&&p.name[..]);
        let Some(indices) = element.properties.iter().position(named) else {
            let message = "a face has no list 'vertex_indices'";
            return Err(fault(Place::Line(element.line), message, "export faces as lists of vertices"));
        };
        let textures = element.properties.iter().position(|p| p.length.is_some() && p.name == b"texcoord");
        let mut pairs = Vec::new();
        for _ in 0..element.count {
            let place = data.next_place();
            let start = self.corners.len();
            pairs.clear();
            for (i, property) in element.properties.iter().enumerate() {
                let Some(length) = property.length.filter(|_| i == indices || Some(i) == textures) else {
                    data.skip(property)?;
                    continue;
                };
                if i != indices {
                    for _ in 0..data.length(length, property.kind)? {
                        pairs.push(data.scalar(property.kind)?);
                    }
                    continue;
                }
                let count = data.length(length, property.kind)?;
                self.triangles += count.saturating_sub(2);
                check_triangles(place, self.triangles)?;
                for _ in 0..count {
                    let index = data.scalar(property.kind)?;
                    if !(index >= 0.0 && index < f64::from(u32::MAX) && index.fract() == 0.0) {
                        return Err(fault(place, format!("{index} is not the index of a vertex"), "count from 0"));
                    }
                    self.corners.push(index as u32);
                }
            }
            self.ends.push((self.corners.len(), place));
            // Faces without, or with another number of them, have zeros.
            if pairs.len() == 2 * (self.corners.len() - start) && !pairs.is_empty() {
                self.textures.resize(start, [0.0; 2]);
                self.textures.extend(pairs.as_chunks::<2>().0);
            }
        }
        Ok(())
    }

    fn cut(mut self, raw: &mut Raw) -> Result<(), Fault> {
        let (mut cutter, mut start, mut cut) = (Cutter::default(), 0, Vec::new());
        let (mut polygon, mut vertices) = (Vec::<u32>::new(), Vec::new());
        let textured = !self.textures.is_empty();
        if textured {
            self.textures.resize(self.corners.len(), [0.0; 2]);
        }
        for (end, place) in self.ends {
            let count = raw.positions.len();
            if let Some(vertex) = self.corners[start..end].iter().find(|&&vertex| vertex as usize >= count) {
                let message = format!("a face names vertex {vertex}, but there are {count}");
                return Err(fault(place, message, "count from 0, and only vertices that are there"));
            }
            let vertex = |corner: u32| self.corners[corner as usize];
            polygon.clear();
            polygon.extend(start as u32..end as u32);
            start = end;
            polygon.dedup_by_key(|corner| vertex(*corner));
            while polygon.len() > 1 && polygon.first().map(|&c| vertex(c)) == polygon.last().map(|&c| vertex(c)) {
                polygon.pop();
            }
            let place = place.to_string();
            let place = place.trim_start_matches(", ");
            if polygon.len() < 3 {
                raw.warnings.add(format!("{place}: a face with {} different corners is skipped", polygon.len()));
                continue;
            }
            vertices.clear();
            vertices.extend(polygon.iter().map(|&corner| vertex(corner)));
            cut.clear();
            if !cutter.cut(&vertices, &raw.positions, &mut cut) {
                raw.warnings.add(format!("{place}: a face crosses itself; its triangles may overlap"));
            }
            for triangle in &cut {
                raw.triangles.push(triangle.map(|corner| vertices[corner as usize]));
                if textured {
                    raw.triangle_textures.push(triangle.map(|corner| polygon[corner as usize]));
                }
            }
        }
        raw.corner_textures = self.textures;
        Ok(())
    }
}

/// The values after the header.
struct Data<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
    /// Line now reached, in text.
    line: usize,
}

impl<'a> Data<'a> {
    fn place(&self) -> Place {
        if self.encoding == Encoding::Text { Place::Line(self.line) } else { Place::Byte(self.at) }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Refuses a count that the bytes left can't hold.
    fn check_count(&self, element: &Element) -> Result<(), Fault> {
        let least: usize = match self.encoding {
            // A digit and a space each, and no space at the end of the file.
            Encoding::Text => 2 * element.properties.len(),
            _ => element.properties.iter().map(|p| p.length.unwrap_or(p.kind).size()).sum(),
        };
        match element.count.checked_mul(least) {
            Some(needed) if needed <= self.left() + 1 => Ok(()),
            _ => {
                let (count, name, left) = (element.count, show(&element.name), self.left());
                let message = format!("{count} of element '{name}' are declared, but only {left} bytes follow");
                Err(fault(Place::Line(element.line), message, "export the file again or correct the count"))
            }
        }
    }

    fn ended(&self) -> Fault {
        fault(self.place(), "the file ends too early", "export it again or correct the counts in the header")
    }

    /// Where the next value stands.
    fn next_place(&mut self) -> Place {
        if self.encoding == Encoding::Text {
            self.skip_space();
        }
        self.place()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            let return_before = *byte == b'\n' && self.bytes[self.at - 1] == b'\r';
            self.line += usize::from(matches!(byte, b'\n' | b'\r') && !return_before);
            self.at += 1;
        }
    }

    fn word(&mut self) -> Result<&'a str, Fault> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.ended());
        }
        self.at += length;
        Ok(std::str::from_utf8(&rest[..length]).unwrap_or_default())
    }

    fn scalar(&mut self, kind: Kind) -> Result<f64, Fault> {
        if self.encoding == Encoding::Text {
            let word = self.word()?;
            let value = word.parse();
            let word = show(word.as_bytes());
            return value.map_err(|_| fault(self.place(), format!("'{word}' is not a number"), "correct it"));
        }
        let size = kind.size();
        let Some(bytes) = self.bytes.get(self.at..self.at + size) else { return Err(self.ended()) };
        self.at += size;
        let mut little = [0; 8];
        little[..size].copy_from_slice(bytes);
        if self.encoding == Encoding::Big {
            little[..size].reverse();
        }
        let [a, b, c, d, ..] = little;
        Ok(match kind {
            Kind::I8 => f64::from(a as i8),
            Kind::U8 => f64::from(a),
            Kind::I16 => f64::from(i16::from_le_bytes([a, b])),
            Kind::U16 => f64::from(u16::from_le_bytes([a, b])),
            Kind::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Kind::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Kind::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Kind::F64 => f64::from_le_bytes(little),
        })
    }

    /// Length of a list whose items are there.
    fn length(&mut self, kind: Kind, items: Kind) -> Result<usize, Fault> {
        let place = self.next_place();
        let length = self.scalar(kind)?;
        let least = if self.encoding == Encoding::Text { 2 } else { items.size() };
        let most = (self.left() + 1) / least;
        if length >= 0.0 && length <= most as f64 && length.fract() == 0.0 {
            return Ok(length as usize);
        }
        Err(fault(place, format!("a list of {length} items does not fit in the file"), "export it again"))
    }

    fn skip(&mut self, property: &Property) -> Result<(), Fault> {
        let count = match property.length {
            Some(length) => self.length(length, property.kind)?,
            None => 1,
        };
        for _ in 0..count {
            self.scalar(property.kind)?;
        }
        Ok(())
    }
}
