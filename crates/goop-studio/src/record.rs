//! What leaves the studio: recorded frames, by every exporter.

use crate::session::Session;
use goop_output::export::Format;

/// Writes the recorded frames as a run and exports them; says where they are.
pub fn export(session: &Session, format: &str) -> Result<String, String> {
    let Some(format) = Format::from_name(format) else {
        let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
        return Err(format!("there is no such format; choose one of {}", names.join(", ")));
    };
    let (first, last) = session.ring.range().ok_or("nothing is recorded yet")?;
    let stem = session.name.trim_end_matches(".toml");
    let folder = session.folder.join("out").join(format!("{stem}-studio"));
    goop_output::whole::make_folder(&folder).map_err(|e| e.to_string())?;
    let mut sinks = (session.host.outputs)(&folder, &session.built, session.fps(), first)?;
    for frame in session.ring.frames() {
        sinks.iter_mut().try_for_each(|sink| sink.write(frame)).map_err(|e| e.to_string())?;
    }
    sinks.iter_mut().try_for_each(|sink| sink.finish()).map_err(|e| e.to_string())?;
    drop(sinks);
    let out = folder.join("export").join(format.name());
    let report = goop_output::export(&folder, format, &out).map_err(|e| e.to_string())?;
    let files = report.files.len();
    Ok(format!("wrote frames {first} to {last} as {files} {} files into {}", format.name(), out.display()))
}
