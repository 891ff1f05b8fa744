//! The command line.

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Animate deformable bodies: a scene file in, a moving body out.
#[derive(Debug, Parser)]
#[command(
    name = "goop",
    version,
    after_help = "Without a command, goop runs its default scene into out/.\nExit codes: 0 done, 1 the simulation failed, 2 the input is wrong, 130 interrupted."
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write its frames
    Run(Run),
    /// Look at a scene before running it: masses, frequencies, sag, stable step, cost
    Check(Check),
    /// List the scenes in the binary, or print one to be edited
    Scenes {
        /// Print this scene
        name: Option<String>,
    },
    /// Write a small scene file to start from
    New(New),
    /// Turn the results of a run into files for other programs
    Export(Export),
    /// Draw a run: a movie, PNG frames or stills
    Render(Render),
    /// Print a JSON schema of the scene file, for editors
    Schema,
    /// Run one scene under several formulations or integrators and compare them on a page
    Compare(Compare),
    /// Compute what is known from theory and measurement, and hold it against the known values
    Validate(Validate),
}

/// Which scene, and changes to it.
#[derive(Debug, clap::Args)]
pub struct SceneArgs {
    /// A scene file, or the name of a built-in scene (see `goop scenes`)
    pub scene: String,
    /// Change a value, such as body.sheet.material.young=1e5
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Threads; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `goop run`
#[derive(Debug, clap::Args)]
pub struct Run {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Folder for the results [default: out/<scene>]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write only these frames, such as 0..48 (both ends included)
    #[arg(long, value_name = "A..B", value_parser = frames)]
    pub frames: Option<Frames>,
    /// Write the mesh of every frame as well
    #[arg(long, value_enum, default_value_t = Format::None)]
    pub format: Format,
    /// Make no movie
    #[arg(long)]
    pub no_movie: bool,
    /// Go on with a run that was killed or interrupted; it ends with the same bytes
    #[arg(long)]
    pub resume: bool,
    /// End with one JSON object on one line
    #[arg(long)]
    pub json: bool,
    /// No progress and no summary
    #[arg(short, long)]
    pub quiet: bool,
}

/// Formats of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Binary PLY with velocity and stretch
    Ply,
    /// Wavefront OBJ
    Obj,
    /// No mesh files: the motion is in cache/
    None,
}

/// `goop check`
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// End with one JSON object on one line
    #[arg(long)]
    pub json: bool,
    /// Only what is wrong
    #[arg(short, long)]
    pub quiet: bool,
}

/// `goop validate`
#[derive(Debug, clap::Args)]
pub struct Validate {
    /// Only rows whose name has this in it, such as "plate"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Weight over stiffness of the heavy cantilever; may be given several times [default: 1, 10, 100]
    #[arg(long, value_name = "NUMBER")]
    pub gamma: Vec<f64>,
    /// The page to write [default: out/validate.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End with one JSON object on one line
    #[arg(long)]
    pub json: bool,
    /// No table in the terminal
    #[arg(short, long)]
    pub quiet: bool,
}

/// `goop new`
#[derive(Debug, clap::Args)]
pub struct New {
    /// The file to write; it must not exist
    #[arg(default_value = "scene.toml")]
    pub file: PathBuf,
    /// Start from this built-in scene instead of the smallest
    #[arg(long, value_name = "NAME")]
    pub from: Option<String>,
}

/// `goop export`
#[derive(Debug, clap::Args)]
pub struct Export {
    /// The folder of a run
    pub folder: PathBuf,
    /// Format: pc2, mdd, obj, ply, glb, usda, usdc or vtu; or shape: bodies as rest shapes for other scenes
    #[arg(long)]
    pub to: String,
    /// Frame to take, for shape [default: the last]
    #[arg(long, value_name = "N")]
    pub frame: Option<usize>,
    /// Folder for the files [default: <folder>/export]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// `goop render`
#[derive(Debug, clap::Args)]
pub struct Render {
    /// The folder of a run
    pub folder: PathBuf,
    /// The movie [default: <folder>/movie.mp4], or the folder for stills
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// How bodies are drawn
    #[arg(long, value_enum, default_value_t = Look::Shaded)]
    pub look: Look,
    /// What their colour says
    #[arg(long, value_enum, default_value_t = Color::Body)]
    pub color: Color,
    /// Time and energies in a corner
    #[arg(long)]
    pub hud: bool,
    /// Names under the bodies
    #[arg(long)]
    pub captions: bool,
    /// Write every frame as PNG into this folder too
    #[arg(long, value_name = "DIR")]
    pub png: Option<PathBuf>,
    /// Only these frames, as PNG, no movie
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub still: Option<Vec<usize>>,
    /// Trace stills with this many rays a pixel: softer shadows, slower
    #[arg(long, value_name = "RAYS", requires = "still", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub rays: Option<u32>,
    /// One picture with these frames in it, the path of the centre and its velocity, no movie
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with = "still")]
    pub strobe: Option<Vec<usize>>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// How bodies are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Look {
    /// Smooth surfaces with shadows
    Shaded,
    /// Black lines on white, as in the papers
    Wireframe,
    /// Nodes and springs
    Lattice,
}

/// What the colour of a body says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// Which body it is
    Body,
    /// How much it is stretched
    Stretch,
    /// How fast it moves
    Speed,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("'{text}' is not a size: write it as 1280x720");
    let (width, height) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let side = |t: &str| t.trim().parse::<u32>().ok().filter(|n| (16..=8192).contains(n)).ok_or_else(wrong);
    Ok((side(width)?, side(height)?))
}

/// `goop compare`
#[derive(Debug, clap::Args)]
pub struct Compare {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Formulations (spring, mass-spring, implicit, rigid) or integrators, comma separated
    #[arg(long, value_delimiter = ',', default_value = "spring,implicit,implicit-midpoint")]
    pub formulations: Vec<String>,
    /// The page to write [default: out/<scene>-compare.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// A range of frames, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// First frame.
    pub first: usize,
    /// Last frame.
    pub last: usize,
}

fn frames(text: &str) -> Result<Frames, String> {
    let wrong = || format!("'{text}' is not a range of frames: write it as 0..48");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let first = if first.is_empty() { 0 } else { first.trim().parse().map_err(|_| wrong())? };
    let last = if last.is_empty() { usize::MAX } else { last.trim().parse().map_err(|_| wrong())? };
    if first > last {
        return Err(format!("the range {text} is empty: the first frame comes after the last"));
    }
    Ok(Frames { first, last })
}
