//! `goop export`: from a run folder to files for other programs, without simulating again.

use crate::End;
use crate::args::Export;
use crate::outputs::SHAPES;
use crate::units::{bytes, length};
use anyhow::Result;
use goop_output::export::{Format, export as write};
use goop_output::{CacheReader, CachedBody};
use goop_scene::reader::nearest;
use goop_scene::saved::SavedShape;

/// `goop export`
pub fn export(args: &Export) -> Result<End> {
    if args.to == SHAPE {
        return match shapes(args) {
            Ok(()) => Ok(End::Done),
            Err(sentence) => {
                eprintln!("error: {sentence}");
                Ok(End::Wrong)
            }
        };
    }
    if args.frame.is_some() {
        eprintln!("error: --frame goes with --to {SHAPE}: the other formats hold every frame");
        return Ok(End::Wrong);
    }
    let Some(format) = Format::from_name(&args.to) else {
        let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).chain([SHAPE]).collect();
        eprintln!("error: '{}' is not a format goop writes", args.to);
        match nearest(&args.to, names.iter().copied()) {
            Some(near) => eprintln!("  = help: did you mean '{near}'? The formats are {}", names.join(", ")),
            None => eprintln!("  = help: the formats are {}", names.join(", ")),
        }
        return Ok(End::Wrong);
    };
    let out = args.output.clone().unwrap_or_else(|| args.folder.join("export"));
    match write(&args.folder, format, &out) {
        Ok(report) => {
            println!("wrote {} files, {}, into {}", report.files.len(), bytes(report.bytes as usize), out.display());
            for file in report.files.iter().take(4) {
                println!("  {}", file.display());
            }
            if let Some(error) = report.reduced_error {
                println!(
                    "frames were left out to keep it small: no vertex is further than {} from the run",
                    length(error)
                );
            }
            Ok(End::Done)
        }
        Err(error) => {
            eprintln!("error: {error}");
            Ok(if error.is_full() { End::Failed } else { End::Wrong })
        }
    }
}

/// The format that saves bodies as rest shapes.
const SHAPE: &str = "shape";

/// Every body as it is in one frame, a file each, for `[body.shape.saved]`.
fn shapes(args: &Export) -> Result<(), String> {
    let cache = CacheReader::open(&args.folder).map_err(|error| error.to_string())?;
    let (first, count) = (cache.first_frame(), cache.frames());
    if count == 0 {
        return Err(format!("{} has no whole frame yet; let the run reach one", args.folder.display()));
    }
    let frame = args.frame.unwrap_or(first + count - 1);
    if !(first..first + count).contains(&frame) {
        return Err(format!("there is no frame {frame}: the run has frames {first} to {}", first + count - 1));
    }
    let saved = SavedShape::read_all(&args.folder.join(SHAPES))?;
    let fits = |(shape, body): (&SavedShape, &CachedBody)| shape.name == body.rest.name;
    if saved.len() != cache.bodies().len() || !saved.iter().zip(cache.bodies()).all(fits) {
        return Err(format!("{SHAPES} does not list the bodies of the cache; run the scene again"));
    }
    let out = args.output.clone().unwrap_or_else(|| args.folder.join("export"));
    goop_output::whole::make_folder(&out).map_err(|error| error.to_string())?;
    for (b, (shape, body)) in saved.into_iter().zip(cache.bodies()).enumerate() {
        let shape = shape.at(&cache.nodes(b, frame - first).map_err(|error| error.to_string())?.positions);
        let path = out.join(format!("{}.shape.json", body.file_name));
        let text = serde_json::to_vec(&shape).map_err(|error| error.to_string())?;
        goop_output::whole::write(&path, &text).map_err(|error| error.to_string())?;
        let [x, y, z] = shape.center;
        println!(
            "wrote {} ({} nodes; its place was position = [{x:.4}, {y:.4}, {z:.4}])",
            path.display(),
            body.node_count()
        );
    }
    println!("use it in a scene as shape.saved = {{ file = \"…\" }}");
    Ok(())
}
