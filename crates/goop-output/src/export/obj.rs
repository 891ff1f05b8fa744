//! A Wavefront OBJ a body a frame, with texture coordinates and materials.

use super::Export;
use crate::cache::write_obj;
use crate::error::OutputError;

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    for (b, body) in cache.bodies().iter().enumerate() {
        let folder = export.frames_folder(body)?;
        let library = export.material_library(body, &folder)?;
        for frame in 0..cache.frames() {
            let positions = cache.positions(b, frame)?;
            let name = export.frame_name(body, frame, "obj");
            export.file(&name, |out| Ok(write_obj(out, &body.rest, &positions, library.as_deref())?))?;
        }
    }
    Ok(())
}
