//! `goop run`: frames to files, and a word on how it went.

use crate::args::{Format, Run, SceneArgs};
use crate::open::{self, Opened};
use crate::resume::{self, Saved};
use crate::summary::Figures;
use crate::{End, library, outputs, progress, render, saved};
use anyhow::Result;
use goop::{Clip, World};
use goop_output::{BodyEntry, CacheReader, Manifest, OutputError, RunFolder, Status, Timing};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A checkpoint is taken this often, and never so often that writing it takes more
/// than a tenth of the time.
const KEEP_EVERY: Duration = Duration::from_millis(200);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// `goop` alone: the default scene, and what to try next.
pub fn default_scene() -> Result<End> {
    let name = library::DEFAULT;
    println!("Running the built-in scene '{name}' (any other: goop run NAME; `goop scenes` lists them).");
    let scene = SceneArgs { scene: name.to_owned(), set: Vec::new(), threads: None };
    let args = Run {
        scene,
        output: None,
        frames: None,
        format: Format::None,
        no_movie: false,
        resume: false,
        json: false,
        quiet: false,
        note: None,
    };
    let end = run(&args)?;
    if end == End::Done {
        println!("\nTry next:");
        println!("  goop scenes {name} > my.toml     the scene, to be edited");
        println!("  goop check my.toml               what it will do, before it runs");
        println!("  goop run my.toml --set clip.seconds=2");
        println!("  goop compare {name} --formulations spring,implicit,implicit-midpoint");
    }
    Ok(end)
}

/// `goop run`
pub fn run(args: &Run) -> Result<End> {
    open::use_threads(&args.scene);
    let opened = match open::open(&args.scene) {
        Ok(opened) => opened,
        Err(faults) => {
            open::refuse(&faults, args.json);
            return Ok(End::Wrong);
        }
    };
    run_opened(args, opened)
}

/// The folder of a run.
pub fn folder(args: &Run, opened: &Opened) -> PathBuf {
    args.output.clone().unwrap_or_else(|| Path::new("out").join(&opened.name))
}

/// Runs a scene that is open.
pub fn run_opened(args: &Run, opened: Opened) -> Result<End> {
    if !args.quiet {
        warn(&opened);
    }
    let clip = Clip { seconds: opened.loaded.scene.clip.seconds, fps: opened.loaded.scene.clip.fps };
    let last = clip.frames() - 1;
    if let Some(frames) = args.frames
        && frames.first > last
    {
        eprintln!("error: --frames begins at {}, and the last frame of the clip is {last}", frames.first);
        eprintln!(
            "  = help: the clip has {} s at {} frames a second; choose frames from 0 to {last}",
            clip.seconds, clip.fps
        );
        return Ok(End::Wrong);
    }
    let path = folder(args, &opened);
    let manifest = manifest(&opened, args, clip);
    let saved = match go_on(args, &opened, &path, &manifest) {
        Ok(saved) => saved,
        Err(sentence) => {
            eprintln!("error: {sentence}");
            return Ok(End::Wrong);
        }
    };
    let folder = if saved.is_some() { RunFolder::resume(&path) } else { RunFolder::create(&path) };
    match folder {
        Ok(folder) => {
            let mut manifest = manifest;
            match simulate(args, &opened, &folder, clip, &mut manifest, saved) {
                Err(error) => stopped(args, &folder, manifest, error),
                ended => ended,
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            Ok(if error.is_full() { End::Failed } else { End::Wrong })
        }
    }
}

/// A file that could not be written: what is there stays, and the run can go on from it.
fn stopped(args: &Run, folder: &RunFolder, mut manifest: Manifest, error: anyhow::Error) -> Result<End> {
    let frames = CacheReader::open(folder.path()).map_or(0, |cache| cache.frames());
    let sentence = format!("{error:#}");
    eprintln!("error: {sentence}");
    let room = if error.downcast_ref::<OutputError>().is_some_and(|e| e.is_full()) { "make room" } else { "mend it" };
    if frames > 0 {
        eprintln!(
            "  = help: the frames before it ({frames}) are in {} and can be drawn and exported;",
            folder.path().display()
        );
        eprintln!("          to go on from there, {room} and give the same command with --resume");
    } else {
        eprintln!("  = help: {room} and run again");
    }
    if manifest.status == Status::Running {
        manifest.status = Status::Failed;
        manifest.message = Some(sentence.clone());
        manifest.frames = frames;
        // There may be no room for it either; the old one says that the run goes on, and is as usable.
        let _ = folder.write_manifest(&manifest);
    }
    if args.json {
        let output = folder.path().display().to_string();
        let object = serde_json::json!({ "status": "failed", "frames": frames, "message": sentence, "output": output });
        println!("{object}");
    }
    Ok(End::Failed)
}

/// What `--resume` finds to go on from, if anything.
fn go_on(args: &Run, opened: &Opened, path: &Path, manifest: &Manifest) -> Result<Option<Saved>, String> {
    if !args.resume || !path.join("manifest.json").is_file() {
        return Ok(None);
    }
    let saved = resume::load(path)?;
    if saved.is_some() {
        resume::check(path, opened, manifest)?;
    }
    Ok(saved)
}

fn warn(opened: &Opened) {
    for warning in &opened.loaded.warnings {
        eprint!("{}", warning.block("warning"));
    }
    for warning in &opened.built.warnings {
        eprintln!("warning: {warning}");
    }
}

fn simulate(
    args: &Run,
    opened: &Opened,
    folder: &RunFolder,
    clip: Clip,
    manifest: &mut Manifest,
    saved: Option<Saved>,
) -> Result<End> {
    // Ctrl-C ends the run after the frame it is in. A second handler cannot be set, and need not be.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst));
    let (clock, started) =
        (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64()));
    folder.write_manifest(manifest)?;
    goop_output::whole::write(&folder.path().join("scene.toml"), saved::text(opened, folder.path()).as_bytes())?;
    let model = &opened.built.model;
    let last = args.frames.map_or(clip.frames() - 1, |f| f.last.min(clip.frames() - 1));
    let first = args.frames.map_or(0, |f| f.first);
    let marks = saved.as_ref().map(|s| &s.marks[..]);
    let mut sinks = outputs::open(folder.path(), &opened.built, args.format, clip.fps, first, marks)?;

    let bar = progress::bar(last + 1, args.quiet);
    let (mut figures, mut timing) = (Figures::default(), Timing { started_unix_seconds: started, ..Timing::default() });
    let mut failure = None;
    let resumed_from = saved.as_ref().map(|s| s.frame);
    let world = match saved {
        None => open::world(opened).map_err(|error| error.to_string()),
        Some(saved) => {
            figures = saved.figures;
            let mut world = World::new(model.clone());
            world.resume(saved.world).map(|()| world)
        }
    };
    let mut world = match world {
        Ok(world) => world,
        Err(sentence) => return fail_before(folder, manifest, &sentence, args),
    };
    let (mut before, mut kept, mut rest) = (clock.elapsed().as_secs_f64(), Instant::now(), Duration::ZERO);
    for index in resumed_from.map_or(0, |f| f + 1)..=last {
        let mut frame = match world.frame_at(index as f64 / clip.fps) {
            Ok(frame) => frame,
            Err(error) => {
                failure = Some(error.to_string());
                break;
            }
        };
        frame.index = index;
        figures.see(&frame);
        let writing = Instant::now();
        if index >= first {
            for sink in &mut sinks {
                sink.write(&frame)?;
            }
            figures.frames += 1;
        }
        let stop = INTERRUPTED.load(Ordering::SeqCst);
        if index == last || stop || kept.elapsed() >= rest {
            let saving = Instant::now();
            let marks = sinks.iter().map(|s| s.mark()).collect();
            let saved = Saved { frame: index, marks, figures, world: world.checkpoint() };
            resume::save(folder.path(), &saved)?;
            figures = saved.figures;
            kept = Instant::now();
            rest = KEEP_EVERY.max(10 * saving.elapsed());
        }
        timing.output_seconds += writing.elapsed().as_secs_f64();
        let now = clock.elapsed().as_secs_f64();
        timing.frame_seconds.push(now - before);
        before = now;
        bar.set_message(format!("t = {:.2} s", frame.time));
        bar.set_position(index as u64 + 1);
        if stop {
            break;
        }
    }
    for sink in &mut sinks {
        sink.finish()?;
    }
    // The last frame may lie before the end of the clip; the state that is hashed is that of the end.
    if failure.is_none() && args.frames.is_none() && !INTERRUPTED.load(Ordering::SeqCst) {
        match world.frame_at(clip.seconds) {
            Ok(_) => world.do_due_events(),
            Err(error) => failure = Some(error.to_string()),
        }
    }
    bar.finish_and_clear();

    let interrupted = INTERRUPTED.load(Ordering::SeqCst);
    let (status, word, end) = match (&failure, interrupted) {
        (Some(_), _) => (Status::Failed, "failed", End::Failed),
        (None, true) => (Status::Interrupted, "interrupted", End::Interrupted),
        (None, false) => (Status::Done, "done", End::Done),
    };
    timing.wall_seconds = clock.elapsed().as_secs_f64();
    timing.sim_seconds = world.time();
    timing.seconds_per_second = if world.time() > 0.0 { timing.wall_seconds / world.time() } else { 0.0 };
    timing.threads = rayon::current_num_threads();
    manifest.status = status;
    manifest.message = failure.clone();
    manifest.frames = figures.frames;
    manifest.state_hash = Some(format!("{:032x}", world.state().hash()));
    folder.write_manifest(manifest)?;
    let drawing = Instant::now();
    if !args.no_movie && figures.frames > 0 {
        render::movie_of(folder.path(), args.quiet)?;
    }
    timing.movie_seconds = drawing.elapsed().as_secs_f64();
    folder.write_timing(&timing)?;

    if let Some(sentence) = &failure {
        eprintln!("error: {sentence}");
        eprintln!("  = help: the {} frames before it are in {}", figures.frames, folder.path().display());
    }
    if args.json {
        let mut object = figures.json(word, &world, timing.wall_seconds);
        if let Some(frame) = resumed_from {
            object["resumed_from_frame"] = frame.into();
        }
        object["output"] = folder.path().display().to_string().into();
        if let Some(sentence) = failure {
            object["message"] = sentence.into();
        }
        if let Some((name, value)) = &args.note {
            object[*name] = value.clone();
        }
        println!("{object}");
    } else if !args.quiet {
        if let Some(frame) = resumed_from {
            println!("resumed from frame {frame}");
        }
        tell(&figures, &world, folder.path(), &timing, word);
    }
    Ok(end)
}

fn fail_before(folder: &RunFolder, manifest: &mut Manifest, sentence: &str, args: &Run) -> Result<End> {
    manifest.status = Status::Failed;
    manifest.message = Some(sentence.to_owned());
    folder.write_manifest(manifest)?;
    eprintln!("error: while settling: {sentence}");
    if args.json {
        println!("{}", serde_json::json!({ "status": "failed", "frames": 0, "message": sentence }));
    }
    Ok(End::Failed)
}

fn manifest(opened: &Opened, args: &Run, clip: Clip) -> Manifest {
    let bodies = opened.built.model.bodies.iter();
    Manifest {
        scene: opened.name.clone(),
        format: format!("{:?}", args.format).to_lowercase(),
        fps: clip.fps,
        seconds: clip.seconds,
        bodies: bodies.map(|b| BodyEntry { name: b.name.clone(), nodes: b.len(), mass: b.mass() }).collect(),
        input_hashes: saved::inputs(opened).map(|(name, hash)| (name, hash.to_owned())).collect(),
        ..Manifest::default()
    }
}

fn tell(figures: &Figures, world: &World, folder: &Path, timing: &Timing, word: &str) {
    let state = world.state();
    let nodes: usize = world.model().bodies.iter().map(|b| b.len()).sum();
    println!(
        "{word}: {} frames, {:.2} s simulated in {:.2} s ({} nodes, {} steps, {} rejected)",
        figures.frames,
        world.time(),
        timing.wall_seconds,
        nodes,
        state.steps,
        state.rejected
    );
    if let Some(last) = figures.last {
        let share = if last.exchanged > 0.0 { 100.0 * last.residue().abs() / last.exchanged } else { 0.0 };
        println!(
            "energy: {:.4} J stored, {:.4} J exchanged; the account closes to {share:.2} % of that",
            last.stored(),
            last.exchanged
        );
    }
    println!("made {} (to Blender and others: goop export {0} --to glb):", folder.display());
    for (name, what) in [
        ("movie.mp4", "what it looks like"),
        ("cache", "the motion as PC2 point caches, beside the meshes in rest/"),
        ("frames", "a mesh a body a frame; opens in Blender, ParaView, MeshLab"),
        ("stats.csv", "energies, momenta and deformation, a row a body a frame"),
        ("probes.csv", "the path of every probe"),
        ("centers.csv", "every centre of mass and its velocity; marks.csv: pins and contacts; forces.csv: forces"),
        ("scene.toml", "the scene with every default written out"),
        ("manifest.json", "what was run, with hashes"),
    ] {
        let path: PathBuf = folder.join(name);
        if path.exists() {
            println!("  {name:14} {what}");
        }
    }
}
