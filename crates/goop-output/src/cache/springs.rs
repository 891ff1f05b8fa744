//! `rest/<body>.springs.ply`: the springs of a body between its nodes, where they start.
//!
//! ```text
//! vertex  x y z (m)           3 × float    12 bytes     node i is vertex i
//! edge    vertex1 vertex2     2 × int       8 bytes
//! ```
//! Binary, little-endian. A body without springs has no such file.

use super::index::{read_limited, reading};
use crate::error::OutputError;
use crate::whole;
use std::fs;
use std::path::{Path, PathBuf};

/// A file larger than this (bytes) is not read.
const LARGEST: u64 = 8 << 30;
const REMEDY: &str = "run the scene again";

pub fn path(folder: &Path, file_name: &str) -> PathBuf {
    folder.join("rest").join(format!("{file_name}.springs.ply"))
}

fn header(nodes: usize, springs: usize) -> String {
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment goop: metres, Y up\nelement vertex {nodes}\n\
         property float x\nproperty float y\nproperty float z\nelement edge {springs}\n\
         property int vertex1\nproperty int vertex2\nend_header\n"
    )
}

/// Writes the springs of a body into the folder of a run; `file_name` is that of its other files.
pub fn write(folder: &Path, file_name: &str, nodes: &[[f32; 3]], springs: &[[u32; 2]]) -> Result<(), OutputError> {
    whole::make_folder(&folder.join("rest"))?;
    whole::write_with(&path(folder, file_name), |out| {
        out.write_all(header(nodes.len(), springs.len()).as_bytes())?;
        for node in nodes {
            node.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))?;
        }
        for spring in springs {
            spring.iter().try_for_each(|node| out.write_all(&node.to_le_bytes()))?;
        }
        Ok(())
    })
}

/// The springs of a body with this many nodes; none where there is no file.
pub fn read(folder: &Path, file_name: &str, nodes: usize) -> Result<Vec<[u32; 2]>, OutputError> {
    let path = path(folder, file_name);
    if let Err(cause) = fs::metadata(&path) {
        return if cause.kind() == std::io::ErrorKind::NotFound { Ok(Vec::new()) } else { Err(reading(&path, cause)) };
    }
    let bytes = read_limited(&path, LARGEST, REMEDY)?;
    let strange = || OutputError::bad(&path, "it is not a list of springs between the nodes of the body", REMEDY);
    // Our own header has one form; how many springs there are follows from the length.
    let vertices = 12 * nodes as u64;
    let fixed = header(nodes, 0).len() as u64 + vertices;
    let about = (bytes.len() as u64).checked_sub(fixed).ok_or_else(strange)? / 8;
    let start = (about.saturating_sub(2)..=about).find_map(|count| {
        let text = header(nodes, count as usize);
        let fits = text.len() as u64 + vertices + 8 * count == bytes.len() as u64 && bytes.starts_with(text.as_bytes());
        fits.then_some(text.len() + vertices as usize)
    });
    let number = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let springs: Vec<[u32; 2]> =
        bytes[start.ok_or_else(strange)?..].chunks_exact(8).map(|b| [number(&b[..4]), number(&b[4..])]).collect();
    match springs.iter().flatten().all(|&node| (node as usize) < nodes) {
        true => Ok(springs),
        false => Err(strange()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches springs that come back as others, and files of another body being taken.
    #[test]
    fn springs_read_back_as_written_and_only_for_their_body() {
        let folder = tempfile::tempdir().unwrap();
        let nodes: Vec<[f32; 3]> = (0..50).map(|i| [i as f32, 0.5, -1.0]).collect();
        for count in [0, 1, 9, 10, 99, 1200] {
            let springs: Vec<[u32; 2]> = (0..count).map(|i| [i % 50, (i * 7 + 1) % 50]).collect();
            write(folder.path(), "a", &nodes, &springs).unwrap();
            assert_eq!(read(folder.path(), "a", 50).unwrap(), springs);
            assert!(read(folder.path(), "a", 49).is_err());
        }
        assert!(read(folder.path(), "b", 50).unwrap().is_empty());
        write(folder.path(), "a", &nodes, &[[0, 50]]).unwrap();
        assert!(read(folder.path(), "a", 50).unwrap_err().to_string().contains("a.springs.ply"));
    }
}
