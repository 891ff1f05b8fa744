//! `goop compare`: one scene, several formulations, one page with pictures, and a movie.

use crate::End;
use crate::args::Compare;
use crate::open;
use crate::progress;
use crate::units::seconds;
use anyhow::Result;
use goop::model::{Coordinates, ElasticityKind};
use goop::preflight;
use goop::{Axes, Clip, Frame, Integrator, Model, World};
use goop_output::compare::{Instant, Panel, Panels};
use goop_output::render::{SceneLook, Settings};
use goop_output::{Comparison, Movie, RunTrace, render};
use goop_scene::reader::Word;
use goop_scene::scene::{Formulation, Integrator as Scheme};
use std::path::Path;
use std::time::Instant as Clock;

/// The reference takes steps this many times shorter.
const FINER: f64 = 10.0;

/// `goop compare`
pub fn compare(args: &Compare) -> Result<End> {
    open::use_threads(&args.scene);
    let opened = match open::open(&args.scene) {
        Ok(opened) => opened,
        Err(faults) => {
            open::refuse(&faults, false);
            return Ok(End::Wrong);
        }
    };
    let mut runs = Vec::new();
    for word in &args.formulations {
        match choice(word) {
            Ok(axes) => runs.push((word.clone(), axes)),
            Err(sentence) => {
                eprintln!("error: {sentence}");
                return Ok(End::Wrong);
            }
        }
    }
    let scene = &opened.loaded.scene;
    let clip = Clip { seconds: scene.clip.seconds, fps: scene.clip.fps };
    let bar = progress::bar(clip.frames() * (runs.len() + 1), args.quiet);

    // The finest run: the second-order scheme, several Newton iterations, a tenth of the step;
    // by the metric where that is compared, else by springs.
    let metric = runs.iter().any(|(_, axes)| axes.elasticity == ElasticityKind::Metric);
    let elasticity = if metric { ElasticityKind::Metric } else { ElasticityKind::Springs };
    let axes = Axes { elasticity, ..Axes::nodal_springs(Integrator::ImplicitMidpoint) };
    let mut finest = with_axes(&opened.built.model, axes);
    finest.step.dt /= FINER;
    for body in &mut finest.bodies {
        body.newton = body.newton.max(4);
    }
    let (reference, positions) = play("finest", finest, clip, scene.step.settle, &bar);
    let mut panels = vec![Panel { label: "finest".into(), frames: positions }];
    let mut comparison = Comparison {
        scene: opened.name.clone(),
        reference: format!(
            "{}, implicit midpoint with up to four Newton iterations, step {}",
            if metric { "metric" } else { "springs" },
            seconds(scene.step.dt / FINER)
        ),
        ..Comparison::default()
    };
    if let Some(sentence) = &reference.failed {
        comparison.notes.push(format!("The finest run stopped early, so distances end there: {sentence}"));
    }
    for (word, axes) in runs {
        let model = with_axes(&opened.built.model, axes);
        let stable = (0..model.bodies.len())
            .filter(|&b| model.bodies[b].axes.coordinates == Coordinates::Nodal)
            .filter(|&b| !model.bodies[b].axes.integrator.implicit() && model.bodies[b].elastic.is_some())
            .map(|b| preflight::inspect(&model, b).stable_step)
            .reduce(f64::min);
        let (mut trace, here) = play(&word, model, clip, scene.step.settle, &bar);
        trace.largest_stable_step = stable;
        let pairs = here.iter().zip(&panels[0].frames);
        trace.distance = Some(pairs.map(|(a, b)| distance(a, b)).collect());
        comparison.runs.push(trace);
        panels.push(Panel { label: word, frames: here });
    }
    bar.finish_and_clear();
    let path = args.output.clone().unwrap_or_else(|| Path::new("out").join(format!("{}-compare.html", opened.name)));
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        goop_output::whole::make_folder(parent)?;
    }
    let mut look = SceneLook::of(&opened.built.model);
    look.camera = scene.camera.as_ref().map(crate::render::camera);
    comparison.pictures = stills(&look, &panels)?;
    if !args.no_movie {
        let movie = path.with_extension("mp4");
        film(&look, &panels, clip.fps, &movie, args.quiet)?;
        comparison.movie = movie.file_name().map(|name| name.to_string_lossy().into_owned());
    }
    goop_output::whole::write(&path, render(&comparison).as_bytes())?;
    for run in &comparison.runs {
        let last = run.distance.as_ref().and_then(|d| d.last()).copied().unwrap_or(f64::NAN);
        let state = run.failed.as_deref().map_or(String::new(), |f| format!("  failed: {f}"));
        println!(
            "{:18} {:8.3} s a simulated second, {} steps, {} rejected, {last:.2e} m from the finest{state}",
            run.label, run.wall_per_second, run.steps, run.rejected_steps
        );
    }
    println!("wrote {}", path.display());
    Ok(End::Done)
}

/// All runs at a third, two thirds and the end of the clip.
fn stills(look: &SceneLook, panels: &[Panel]) -> Result<Vec<Instant>> {
    let settings = Settings { width: 400, height: 225, ..Settings::default() };
    let mut drawn = Panels::new(look, &settings, panels)?;
    let last = drawn.frames().saturating_sub(1);
    let mut instants = vec![last / 3, 2 * last / 3, last];
    instants.dedup();
    Ok(instants.into_iter().map(|index| drawn.at(index)).collect::<Result<_, _>>()?)
}

/// All runs side by side as a movie; panels are smaller where there are many.
fn film(look: &SceneLook, panels: &[Panel], fps: f64, path: &Path, quiet: bool) -> Result<()> {
    let rows = panels.len().div_ceil(3) as u32;
    let height = (1900 / rows).clamp(16, 270) & !1;
    let settings = Settings { width: (height * 16 / 9) & !1, height, ..Settings::default() };
    let mut drawn = Panels::new(look, &settings, panels)?;
    let bar = progress::bar(drawn.frames(), quiet);
    bar.set_message("movie");
    let mut movie: Option<Movie> = None;
    for index in 0..drawn.frames() {
        let picture = drawn.at(index)?.picture;
        let made = match movie.take() {
            Some(movie) => Ok(movie),
            None => Movie::create(path, picture.width, picture.height, fps),
        };
        movie.insert(made?).add(&picture)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    movie.map_or(Ok(()), |movie| Ok(movie.finish()?))
}

/// A published model or an integrator, by its word.
fn choice(word: &str) -> Result<Axes, String> {
    if let Some((_, formulation)) = Formulation::WORDS.iter().find(|(name, _)| *name == word) {
        return Ok(goop_scene::build::axes(formulation.axes()));
    }
    let scheme = match Scheme::WORDS.iter().find(|(name, _)| *name == word).map(|(_, scheme)| scheme) {
        Some(Scheme::ExplicitDiagonal) => Integrator::ExplicitDiagonal,
        Some(Scheme::ExplicitTaylor) => Integrator::ExplicitTaylor,
        Some(Scheme::SymplecticEuler) => Integrator::SymplecticEuler,
        Some(Scheme::BackwardEuler) => Integrator::BackwardEuler,
        Some(Scheme::ImplicitMidpoint) => Integrator::ImplicitMidpoint,
        Some(Scheme::Bdf2) => Integrator::Bdf2,
        _ => {
            let words: Vec<&str> = Scheme::WORDS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "'{word}' is neither a formulation ({}) nor an integrator of nodes ({})",
                goop_scene::axes::available(),
                words[..5].join(", ")
            ));
        }
    };
    Ok(Axes::nodal_springs(scheme))
}

/// The same model with these axes on every body that can deform.
fn with_axes(model: &Model, axes: Axes) -> Model {
    let mut model = model.clone();
    for body in model.bodies.iter_mut().filter(|b| b.elastic.is_some()) {
        body.axes = axes;
        body.compile();
    }
    model
}

fn play(label: &str, model: Model, clip: Clip, settle: bool, bar: &indicatif::ProgressBar) -> (RunTrace, Vec<Frame>) {
    bar.set_message(label.to_owned());
    let names: Vec<String> = model.probes.iter().map(|p| p.name.clone()).collect();
    let mut trace = RunTrace { label: label.to_owned(), ..RunTrace::default() };
    trace.probes = names.into_iter().map(|name| (name, Vec::new())).collect();
    let mut frames = Vec::new();
    let mut world = World::new(model);
    if settle && let Err(failure) = world.settle() {
        trace.failed = Some(failure.to_string());
        return (trace, frames);
    }
    let clock = Clock::now();
    for frame in world.play(clip) {
        match frame {
            Ok(mut frame) => {
                trace.times.push(frame.time);
                trace.rows.push(frame.ledger);
                for (probe, position) in trace.probes.iter_mut().zip(&frame.probes) {
                    probe.1.push(position.to_array());
                }
                // Positions are all that pictures and distances ask for.
                for body in &mut frame.bodies {
                    (body.velocities, body.stretch) = (Vec::new(), Vec::new());
                }
                frame.forces = Vec::new();
                frames.push(frame);
            }
            Err(failure) => trace.failed = Some(failure.to_string()),
        }
        bar.inc(1);
    }
    trace.wall_per_second = clock.elapsed().as_secs_f64() / world.time().max(1e-9);
    trace.steps = world.state().steps as usize;
    trace.rejected_steps = world.state().rejected as usize;
    (trace, frames)
}

/// Root mean square distance over all nodes (m).
fn distance(a: &Frame, b: &Frame) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    let [a, b] = [a, b].map(|frame| frame.bodies.iter().flat_map(|body| &body.positions));
    for (p, q) in a.zip(b) {
        sum += (0..3).map(|k| f64::from(p[k] - q[k]).powi(2)).sum::<f64>();
        count += 1;
    }
    (sum / count.max(1) as f64).sqrt()
}
