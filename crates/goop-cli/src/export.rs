//! `goop export`: from a run folder to files for other programs, without simulating again.

use crate::End;
use crate::args::Export;
use crate::units::{bytes, length};
use anyhow::Result;
use goop_output::export::{Format, export as write};
use goop_scene::reader::nearest;

/// `goop export`
pub fn export(args: &Export) -> Result<End> {
    let Some(format) = Format::from_name(&args.to) else {
        let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
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
