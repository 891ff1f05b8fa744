//! MDD: a body's mesh as OBJ and its positions at every frame, big-endian.
//!
//! ```text
//! i32 frames  i32 points  frames × f32 time (s)  frames × points × 3 × f32 (m)
//! ```

use super::Export;
use super::pc2::sample_count;
use crate::error::OutputError;

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    for (b, body) in cache.bodies().iter().enumerate() {
        export.rest_obj(body)?;
        let name = format!("{}.mdd", body.file_name);
        let frames = sample_count(&body.rest.name, cache.frames())?;
        let times: Vec<f32> = (0..cache.frames()).map(|frame| export.time(frame) as f32).collect();
        export.file(&name, |out| {
            out.write_all(&frames.to_be_bytes())?;
            // Vertices were counted against i32 when the cache was read.
            out.write_all(&(body.rest.positions.len() as i32).to_be_bytes())?;
            for time in times {
                out.write_all(&time.to_be_bytes())?;
            }
            for frame in 0..cache.frames() {
                for value in cache.positions(b, frame)?.as_flattened() {
                    out.write_all(&value.to_be_bytes())?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}
