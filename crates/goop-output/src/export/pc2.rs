//! PointCache2: a body's mesh as OBJ and its positions at every frame.
//!
//! ```text
//! "POINTCACHE2\0"  i32 version (1)  i32 points  f32 start frame  f32 frames a sample (1)  i32 samples
//! samples × points × 3 × f32 (m), little-endian
//! ```

use super::Export;
use crate::error::OutputError;

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    for (b, body) in cache.bodies().iter().enumerate() {
        export.rest_obj(body)?;
        let name = format!("{}.pc2", body.file_name);
        let frames = sample_count(&body.rest.name, cache.frames())?;
        export.file(&name, |out| {
            out.write_all(b"POINTCACHE2\0")?;
            out.write_all(&1i32.to_le_bytes())?;
            // Vertices were counted against i32 when the cache was read.
            out.write_all(&(body.rest.positions.len() as i32).to_le_bytes())?;
            out.write_all(&(cache.first_frame() as f32).to_le_bytes())?;
            out.write_all(&1f32.to_le_bytes())?;
            out.write_all(&frames.to_le_bytes())?;
            for frame in 0..cache.frames() {
                for value in cache.positions(b, frame)?.as_flattened() {
                    out.write_all(&value.to_le_bytes())?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The number of frames as the formats count it.
pub(super) fn sample_count(body: &str, frames: usize) -> Result<i32, OutputError> {
    let what = || format!("{frames} frames are more than the format can count");
    i32::try_from(frames).map_err(|_| OutputError::body(body, what(), "export a shorter run"))
}
