//! Where the bytes of a glTF file come from.

use super::super::beside::beside;
use super::super::{Fault, MOST_BYTES, Place, fault, read_bytes};
use gltf::json;
use std::borrow::Cow;
use std::path::Path;

/// The bytes of every buffer: the binary chunk, base64 within the JSON, or a file.
pub(crate) fn buffers<'a>(
    root: &json::Root,
    blob: Option<&'a [u8]>,
    folder: &Path,
) -> Result<Vec<Cow<'a, [u8]>>, Fault> {
    let mut all: Vec<Cow<[u8]>> = Vec::new();
    let mut left = MOST_BYTES;
    for (i, buffer) in root.buffers.iter().enumerate() {
        let data = match (&buffer.uri, blob) {
            (Some(uri), _) if uri.starts_with("data:") => decode_base64(uri).map(Cow::Owned).ok_or_else(|| {
                fault(Place::File, format!("buffer {i} is not proper base64"), "export the file again")
            })?,
            (Some(uri), _) => read_beside(uri, folder, left).map(Cow::Owned)?,
            (None, Some(blob)) if i == 0 => Cow::Borrowed(blob),
            (None, _) => {
                return Err(fault(Place::File, format!("buffer {i} has no data"), "export the file with its buffers"));
            }
        };
        if (data.len() as u64) < buffer.byte_length.0 {
            let message = format!("buffer {i} has {} bytes of {}", data.len(), buffer.byte_length.0);
            return Err(fault(Place::File, message, "export the file again"));
        }
        left = left.checked_sub(data.len() as u64).ok_or_else(|| {
            fault(Place::File, format!("the buffers are longer than {MOST_BYTES} bytes"), "reduce the mesh")
        })?;
        all.push(data);
    }
    Ok(all)
}

/// A file in the folder of the glTF file or below it, and nowhere else.
fn read_beside(uri: &str, folder: &Path, most: u64) -> Result<Vec<u8>, Fault> {
    let outside = || {
        let message = format!("the buffer '{uri}' does not lie in the folder of the glTF file");
        fault(Place::File, message, "put it there and name it by a relative path")
    };
    let name = decode_percent(uri).ok_or_else(outside)?;
    let path = beside(&name, folder).ok_or_else(outside)?;
    let in_buffer = |e: Fault| Fault { message: format!("the buffer '{uri}': {}", e.message), ..e };
    read_bytes(&path, most).map_err(in_buffer)
}

fn decode_percent(uri: &str) -> Option<String> {
    let mut bytes = uri.bytes();
    let mut out = Vec::with_capacity(uri.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || (bytes.next()? as char).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

fn decode_base64(uri: &str) -> Option<Vec<u8>> {
    let (_, text) = uri.split_once(";base64,")?;
    let digits = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for group in digits.chunks(4) {
        let mut word = 0u32;
        for digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            word = word << 6 | u32::from(value);
        }
        let bytes = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        word <<= 6 * (4 - group.len());
        out.extend_from_slice(&word.to_be_bytes()[1..1 + bytes]);
    }
    Some(out)
}
