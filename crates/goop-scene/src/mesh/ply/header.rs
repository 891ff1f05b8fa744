//! The header of a PLY file: what elements there are and how they are written.

use super::super::text::{show, tokens};
use super::super::{Fault, Place, fault};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Kind::I8,
            b"uchar" | b"uint8" => Kind::U8,
            b"short" | b"int16" => Kind::I16,
            b"ushort" | b"uint16" => Kind::U16,
            b"int" | b"int32" => Kind::I32,
            b"uint" | b"uint32" => Kind::U32,
            b"float" | b"float32" => Kind::F32,
            b"double" | b"float64" => Kind::F64,
            _ => return None,
        })
    }

    pub(super) fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

pub(super) struct Property {
    pub(super) name: Vec<u8>,
    /// Kind of the length, for a list.
    pub(super) length: Option<Kind>,
    pub(super) kind: Kind,
}

pub(super) struct Element {
    pub(super) name: Vec<u8>,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
    pub(super) line: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

pub(super) struct Elements {
    pub(super) list: Vec<Element>,
    pub(super) header_lines: usize,
}

/// Encoding, elements, and where the data begins.
pub(super) fn header(bytes: &[u8]) -> Result<(Encoding, Elements, usize), Fault> {
    // Lines end as the first one does: what follows the header may be any byte.
    let ending: &[u8] = match bytes.get(3..5) {
        Some(b"\r\n") => b"\r\n",
        Some([b'\r', _]) => b"\r",
        _ => b"\n",
    };
    let (mut encoding, mut list, mut at) = (None, Vec::<Element>::new(), 0);
    for line in 1..=10_000 {
        let place = Place::Line(line);
        let rest = &bytes[at..];
        let Some(length) = rest.windows(ending.len()).position(|part| part == ending) else {
            return Err(fault(place, "the header has no end_header", "export the file again"));
        };
        at += length + ending.len();
        let words: Vec<&[u8]> = tokens(&rest[..length]).collect();
        match words.as_slice() {
            [b"ply"] if line == 1 => {}
            _ if line == 1 => return Err(fault(place, "the file does not begin with 'ply'", "export it again as PLY")),
            [b"format", b"ascii", ..] => encoding = Some(Encoding::Text),
            [b"format", b"binary_little_endian", ..] => encoding = Some(Encoding::Little),
            [b"format", b"binary_big_endian", ..] => encoding = Some(Encoding::Big),
            [b"element", name, count] => {
                let count = std::str::from_utf8(count).ok().and_then(|count| count.parse().ok());
                let Some(count) = count else {
                    return Err(fault(place, "the element has no count", "give a whole number after its name"));
                };
                list.push(Element { name: name.to_vec(), count, properties: Vec::new(), line });
            }
            [b"property", b"list", length, kind, name] => add(&mut list, place, name, Some(length), kind)?,
            [b"property", kind, name] => add(&mut list, place, name, None, kind)?,
            [b"end_header"] => {
                let Some(encoding) = encoding else {
                    return Err(fault(place, "the header has no format", "add a line such as 'format ascii 1.0'"));
                };
                return Ok((encoding, Elements { list, header_lines: line }, at));
            }
            [] | [b"comment" | b"obj_info", ..] => {}
            _ => {
                let message = format!("'{}' is no header line", show(&rest[..length]));
                return Err(fault(place, message, "correct or remove it"));
            }
        }
    }
    Err(fault(Place::Line(10_000), "the header has no end", "export the file again"))
}

fn add(list: &mut [Element], place: Place, name: &[u8], length: Option<&[u8]>, kind: &[u8]) -> Result<(), Fault> {
    let Some(element) = list.last_mut() else {
        return Err(fault(place, "a property stands before any element", "put the element first"));
    };
    let known = |kind: &[u8]| {
        let message = format!("the type '{}' is not known", show(kind));
        Kind::named(kind).ok_or_else(|| fault(place, message, "use one such as uchar, int, float or double"))
    };
    let length = length.map(known).transpose()?;
    if length.is_some_and(|kind| matches!(kind, Kind::F32 | Kind::F64)) {
        return Err(fault(place, "the length of a list has a fractional type", "use one such as uchar or int"));
    }
    element.properties.push(Property { name: name.to_vec(), length, kind: known(kind)? });
    Ok(())
}
