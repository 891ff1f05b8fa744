//! The command line.

use clap::builder::TypedValueParser;
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
    /// Make a rigged character (or any mesh) of jelly: movie, GLB, caches, and the scene to edit
    Jelly(Jelly),
    /// Look at a scene before running it: masses, frequencies, sag, stable step, cost
    Check(Check),
    /// List the scenes in the binary, or print one to be edited
    Scenes {
        /// Print this scene
        name: Option<String>,
    },
    /// Write a small scene file to start from
    New(New),
    /// Write the built-in character and its dance as files: dancer.glb, dance.bvh
    Dancer(Dancer),
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
    /// Measure what the papers claim in curves: stiffness, shape, stretchy, terms, cubes or size
    Study(Study),
    /// Measure what a second of animation costs, and where the time goes
    Bench(Bench),
    /// Take hold of a scene in the browser: play, drag, pin, change it live, record and save
    Studio(Studio),
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
    /// What else the JSON object says: a name and its value.
    #[arg(skip)]
    pub note: Option<(&'static str, serde_json::Value)>,
}

/// `goop jelly`
#[derive(Debug, clap::Args)]
pub struct Jelly {
    /// A rigged glTF or GLB file; or a mesh (OBJ, PLY, STL, GLB), which is dropped on the ground
    pub file: PathBuf,
    /// Motion capture (BVH) to play on the rig [default: the rig's own animation]
    #[arg(long, value_name = "BVH")]
    pub motion: Option<PathBuf>,
    /// Which of the rig's own animations, by name or by number from 0
    #[arg(long, value_name = "NAME", conflicts_with = "motion")]
    pub clip: Option<String>,
    /// Give a mesh without a rig bones of its own, which stand still until the scene moves them, instead of dropping it
    #[arg(long, conflicts_with = "motion")]
    pub bones: bool,
    /// 0 firm rubber … 1 barely holds its shape
    #[arg(long, value_name = "0…1", default_value_t = SOFT, value_parser = softness)]
    pub soft: f64,
    /// Rescale to this height (m)
    #[arg(long, value_name = "M", value_parser = height)]
    pub height: Option<f64>,
    /// Choose constants fast: the reduced model, and its measured distance from the implicit one
    #[arg(long)]
    pub preview: bool,
    /// About how many nodes [default: 6000, 4000 without bones, 1500 for a preview]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(50..=2_000_000))]
    pub nodes: Option<u32>,
    /// Folder for the results [default: out/<file>]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Change a value, such as clip.seconds=2
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Threads; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
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

impl Jelly {
    /// A character with about so many nodes, everything else as it comes.
    pub fn of(file: PathBuf, nodes: u32) -> Self {
        Self {
            file,
            motion: None,
            clip: None,
            soft: SOFT,
            height: None,
            bones: false,
            preview: false,
            nodes: Some(nodes),
            output: None,
            set: Vec::new(),
            threads: None,
            frames: None,
            format: Format::None,
            no_movie: true,
            resume: false,
            json: false,
            quiet: true,
        }
    }
}

/// Softness where none is given.
const SOFT: f64 = 0.3;

fn softness(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a softness: give 0 (firm rubber) to 1 (barely holds its shape)");
    text.parse().ok().filter(|soft| (0.0..=1.0).contains(soft)).ok_or_else(wrong)
}

fn height(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a height: give 0.001 to 1000 m");
    text.parse().ok().filter(|m| (1e-3..=1e3).contains(m)).ok_or_else(wrong)
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

/// `goop study`
#[derive(Debug, clap::Args)]
pub struct Study {
    /// What to measure
    #[arg(value_enum)]
    pub name: StudyName,
    /// Largest side of the grids of `size` and of the cubes of `cost` (nodes)
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u32).range(7..=160))]
    pub largest: u32,
    /// Nodes of the character of `steps`, about
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(200..=200_000))]
    pub nodes: u32,
    /// The page to write [default: out/study-<name>.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}

/// `goop studio`
#[derive(Debug, clap::Args)]
pub struct Studio {
    /// A scene file, or the name of a built-in scene [default: four-corners]
    pub scene: Option<String>,
    /// Port of the page; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 4663)]
    pub port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Listen at this address, for other machines; needs --token
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<std::net::IpAddr>,
    /// A word of 8 letters or more that every request must carry
    #[arg(long, value_name = "WORD")]
    pub token: Option<String>,
    /// Memory for recorded frames (MB)
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub memory: u32,
    /// Threads; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StudyName {
    /// Ten decades of Young's modulus against the rigid body (T4)
    Stiffness,
    /// Rest shapes of growing complexity (T4)
    Shape,
    /// A soft sheet, primal and hybrid (T5)
    Stretchy,
    /// Inertial terms of the frame left out (T6)
    Terms,
    /// A cube on a skeleton: three models, against the predicted stable step (C8 to C13)
    Cubes,
    /// Preparation and time per frame against the number of nodes (G9, S1)
    Size,
    /// What a node costs in an iteration as a cube outgrows the caches (C14)
    Cost,
    /// The largest step that looks the same (C14, C15)
    Steps,
}

/// `goop bench`
#[derive(Debug, clap::Args)]
pub struct Bench {
    /// What to run
    #[arg(value_enum)]
    pub workload: Workload,
    /// Nodes along a side of the workload, at least so many of the character, the sampling rate of the cube, or the
    /// jelly cubes of the pile
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=2_000_000).map(|n| n as usize))]
    pub n: Option<usize>,
    /// Step of a workload (s) [default: that of its scene]
    #[arg(long, value_name = "SECONDS", value_parser = dt)]
    pub dt: Option<f64>,
    /// Leave the converged run out
    #[arg(long)]
    pub quick: bool,
    /// For w1 and w3: so many more runs of each kind that start a ten-millionth of a metre apart, for what is chance in a figure
    #[arg(long, value_name = "RUNS", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub spread: u8,
    /// Change a value of a workload's scene, such as body.sheet.integrator=backward-euler
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// A rigged glTF file as the character [default: the built-in dancer]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Threads; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// One JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Workload {
    /// Cloth that hangs from two corners
    W1,
    /// A jelly block that sinks under its weight
    W2,
    /// Cloth that falls over a ball
    W3,
    /// A jelly character in one piece, its skin included (C15)
    Character,
    /// The thesis' cube by its three models (C14)
    Cube,
    /// A hybrid sheet of 64, 128 and 256 nodes a side, beside bare back-substitution
    Hybrid,
    /// Bodies in contact: jelly cubes, a folding cloth, the kitchen
    Pile,
    /// The folding cloth of the pile alone, or one of N nodes along a side
    Cloth,
    /// A jelly block of 10⁴, 10⁵ and 10⁶ nodes, by node and iteration, beside what memory allows
    Scaling,
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

/// `goop dancer`
#[derive(Debug, clap::Args)]
pub struct Dancer {
    /// The folder to write into; the files must not exist
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
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
    /// What else is drawn, comma separated
    #[arg(long, value_enum, value_name = "WHAT,…", value_delimiter = ',', default_value = "pins")]
    pub show: Vec<Showing>,
    /// Skins as glass, also around a lattice
    #[arg(long)]
    pub see_through: bool,
    /// What is behind everything: white, black, grey, a colour such as #20303c, or a picture.png
    #[arg(long, value_name = "COLOUR|PNG", value_parser = background)]
    pub background: Option<Behind>,
    /// Where the camera stands (m), such as 2,1.5,4 [default: the scene's, or where it sees the whole motion]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub camera: Option<Point>,
    /// What it looks at (m) [default: the scene's, or the middle of the motion]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, requires = "camera")]
    pub look_at: Option<Point>,
    /// Lens on a frame 36 mm wide (mm): 24 is wide, 100 is long [default: the scene's, or 50]
    #[arg(long, value_name = "MM", value_parser = lens)]
    pub lens: Option<f64>,
    /// Turn the camera about the vertical through what it looks at (degrees a second)
    #[arg(long, value_name = "DEG", value_parser = orbit, allow_hyphen_values = true)]
    pub orbit: Option<f64>,
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
    /// Which part of a character it is
    Part,
}

/// What else is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Showing {
    /// Held nodes, and in blue those that springs hold
    Pins,
    /// Nodes that touch an obstacle
    Contacts,
    /// Arrows for velocities
    Velocities,
    /// Arrows for loads, springs of soft pins and obstacles
    Forces,
    /// Every node
    Nodes,
    /// Every spring
    Springs,
    /// Bones of characters, through the skin
    Bones,
    /// Nothing else
    None,
}

/// What is behind everything.
#[derive(Clone, Debug, PartialEq)]
pub enum Behind {
    /// One colour (sRGB, 0 to 1).
    Colour([f32; 3]),
    /// A picture.
    Picture(PathBuf),
}

/// A point in space (m).
pub type Point = [f64; 3];

fn background(text: &str) -> Result<Behind, String> {
    let named = [("white", 0xffffff), ("black", 0x000000), ("grey", 0x808080), ("gray", 0x808080)];
    if let Some((_, colour)) = named.iter().find(|(name, _)| *name == text) {
        return Ok(Behind::Colour(bytes(*colour)));
    }
    if let Some(digits) = text.strip_prefix('#') {
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6 && digits.is_ascii());
        return match value {
            Some(value) => Ok(Behind::Colour(bytes(value))),
            None => Err(format!("'{text}' is not a colour: write # and six hexadecimal digits, such as #20303c")),
        };
    }
    if text.to_lowercase().ends_with(".png") {
        return Ok(Behind::Picture(PathBuf::from(text)));
    }
    Err(format!("'{text}' is neither white, black, grey, a colour such as #20303c, nor a PNG file"))
}

fn bytes(rgb: u32) -> [f32; 3] {
    [16, 8, 0].map(|shift| (rgb >> shift & 255) as f32 / 255.0)
}

fn point(text: &str) -> Result<Point, String> {
    let wrong = || format!("'{text}' is not a point: write it as 2,1.5,4");
    let numbers: Vec<f64> = text.split(',').map_while(|t| t.trim().parse().ok()).collect();
    match <[f64; 3]>::try_from(numbers) {
        Ok(point) if text.split(',').count() == 3 && point.iter().all(|c| c.is_finite() && c.abs() <= 1e6) => Ok(point),
        _ => Err(wrong()),
    }
}

fn lens(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a lens: give 1 to 2000 mm");
    text.parse().ok().filter(|mm| (1.0..=2000.0).contains(mm)).ok_or_else(wrong)
}

fn orbit(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a speed of turning: give -3600 to 3600 degrees a second");
    text.parse().ok().filter(|speed| (-3600.0..=3600.0).contains(speed)).ok_or_else(wrong)
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
    /// The page to write [default: out/<scene>-compare.html]; the movie goes beside it
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Make no movie
    #[arg(long)]
    pub no_movie: bool,
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

fn dt(text: &str) -> Result<f64, String> {
    let fine = text.parse().ok().filter(|dt: &f64| *dt >= 1e-6 && *dt <= 0.1);
    fine.ok_or_else(|| format!("'{text}' is not a step: give seconds from 0.000001 to 0.1, say 0.01"))
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
