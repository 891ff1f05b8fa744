//! `goop compare`: one scene, several formulations, one page.

use crate::End;
use crate::args::Compare;
use crate::open;
use crate::progress;
use crate::units::seconds;
use anyhow::Result;
use goop::preflight;
use goop::{Axes, Clip, Integrator, Model, World};
use goop_output::{Comparison, RunTrace, render};
use goop_scene::reader::Word;
use goop_scene::scene::{Formulation, Integrator as Scheme};
use std::path::Path;
use std::time::Instant;

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

    // The finest run: the second-order scheme, several Newton iterations, a tenth of the step.
    let mut finest = with_axes(&opened.built.model, Axes::nodal_springs(Integrator::ImplicitMidpoint));
    finest.step.dt /= FINER;
    for body in &mut finest.bodies {
        body.newton = body.newton.max(4);
    }
    let (reference, positions) = play("finest", finest, clip, scene.step.settle, &bar);
    let mut comparison = Comparison {
        scene: opened.name.clone(),
        reference: format!(
            "springs, implicit midpoint with up to four Newton iterations, step {}",
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
            .filter(|&b| !model.bodies[b].axes.integrator.implicit() && model.bodies[b].elastic.is_some())
            .map(|b| preflight::inspect(&model, b).stable_step)
            .reduce(f64::min);
        let (mut trace, here) = play(&word, model, clip, scene.step.settle, &bar);
        trace.largest_stable_step = stable;
        let frames = here.len().min(positions.len());
        trace.distance = Some((0..frames).map(|f| distance(&here[f], &positions[f])).collect());
        comparison.runs.push(trace);
    }
    bar.finish_and_clear();
    let path = args.output.clone().unwrap_or_else(|| Path::new("out").join(format!("{}-compare.html", opened.name)));
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        goop_output::whole::make_folder(parent)?;
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

/// A published model or an integrator, by its word.
fn choice(word: &str) -> Result<Axes, String> {
    if let Some((_, formulation)) = Formulation::WORDS.iter().find(|(name, _)| *name == word) {
        return goop_scene::build::axes(formulation.axes())
            .ok_or_else(|| format!("formulation '{word}' cannot run yet; use {}", goop_scene::axes::available()));
    }
    let scheme = match Scheme::WORDS.iter().find(|(name, _)| *name == word).map(|(_, scheme)| scheme) {
        Some(Scheme::ExplicitDiagonal) => Integrator::ExplicitDiagonal,
        Some(Scheme::ExplicitTaylor) => Integrator::ExplicitTaylor,
        Some(Scheme::SymplecticEuler) => Integrator::SymplecticEuler,
        Some(Scheme::BackwardEuler) => Integrator::BackwardEuler,
        Some(Scheme::ImplicitMidpoint) => Integrator::ImplicitMidpoint,
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

type Positions = Vec<Vec<Vec<[f32; 3]>>>;

fn play(label: &str, model: Model, clip: Clip, settle: bool, bar: &indicatif::ProgressBar) -> (RunTrace, Positions) {
    bar.set_message(label.to_owned());
    let names: Vec<String> = model.probes.iter().map(|p| p.name.clone()).collect();
    let mut trace = RunTrace { label: label.to_owned(), ..RunTrace::default() };
    trace.probes = names.into_iter().map(|name| (name, Vec::new())).collect();
    let mut positions = Vec::new();
    let mut world = World::new(model);
    if settle && let Err(failure) = world.settle() {
        trace.failed = Some(failure.to_string());
        return (trace, positions);
    }
    let clock = Instant::now();
    for frame in world.play(clip) {
        match frame {
            Ok(frame) => {
                trace.times.push(frame.time);
                trace.rows.push(frame.ledger);
                for (probe, position) in trace.probes.iter_mut().zip(&frame.probes) {
                    probe.1.push(position.to_array());
                }
                positions.push(frame.bodies.into_iter().map(|b| b.positions).collect());
            }
            Err(failure) => trace.failed = Some(failure.to_string()),
        }
        bar.inc(1);
    }
    trace.wall_per_second = clock.elapsed().as_secs_f64() / world.time().max(1e-9);
    trace.steps = world.state().steps as usize;
    trace.rejected_steps = world.state().rejected as usize;
    (trace, positions)
}

/// Root mean square distance over all nodes (m).
fn distance(a: &[Vec<[f32; 3]>], b: &[Vec<[f32; 3]>]) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for (p, q) in a.iter().flatten().zip(b.iter().flatten()) {
        sum += (0..3).map(|k| f64::from(p[k] - q[k]).powi(2)).sum::<f64>();
        count += 1;
    }
    (sum / count.max(1) as f64).sqrt()
}
