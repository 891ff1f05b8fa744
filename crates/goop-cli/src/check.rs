//! `goop check`, the pre-flight: what a scene will do, before it runs.

use crate::End;
use crate::args::Check;
use crate::open::{self, Opened};
use crate::units::{bytes, hertz, length, mass, pascal, seconds, time};
use anyhow::Result;
use goop::model::{Coordinates, ElasticityKind, Integrator};
use goop::preflight::{self, Preflight};
use goop::{Body, Model, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// More sag than this share of the height gets advice.
const SAG_GOAL: f64 = 0.05;

/// `goop check`
pub fn check(args: &Check) -> Result<End> {
    open::use_threads(&args.scene);
    let opened = match open::open(&args.scene) {
        Ok(opened) => opened,
        Err(faults) => {
            open::refuse(&faults, args.json);
            return Ok(End::Wrong);
        }
    };
    let model = &opened.built.model;
    let warnings = warnings(&opened);
    let mut bodies = Vec::new();
    for index in 0..model.bodies.len() {
        let found = preflight::inspect(model, index);
        let sentences = sentences(model, index, &found);
        if !args.quiet && !args.json {
            println!("{}", headline(&model.bodies[index]));
            sentences.iter().for_each(|s| println!("  {s}"));
            println!();
        }
        bodies.push(object(&model.bodies[index], &found, &sentences));
    }
    let cost = cost(&opened);
    if args.json {
        let selections: Vec<Value> = (opened.built.selections.iter())
            .map(|s| json!({ "path": s.path, "count": s.nodes.len(), "nodes": s.nodes }))
            .collect();
        println!(
            "{}",
            json!({
                "status": "good", "bodies": bodies, "selections": selections, "warnings": warnings,
                "seconds_per_second": cost, "bytes": bodies_bytes(model),
            })
        );
        return Ok(End::Done);
    }
    if !args.quiet {
        if !opened.built.selections.is_empty() {
            println!("selections");
            for selection in &opened.built.selections {
                println!("  {}: {}", selection.path, list(&selection.nodes));
            }
            println!();
        }
        let seconds = opened.loaded.scene.clip.seconds;
        if let Some(cost) = cost {
            println!(
                "about {} for each simulated second here, {} for the clip of {seconds} s; {} of memory",
                time(cost),
                time(cost * seconds),
                bytes(bodies_bytes(model))
            );
        }
    }
    for warning in &warnings {
        eprintln!("{}", warning.trim_end());
    }
    Ok(End::Done)
}

/// What is said of every body of a model, each sentence with the body's name.
pub fn findings(model: &Model) -> Vec<String> {
    let say = |index: usize| {
        let name = &model.bodies[index].name;
        let sentences = sentences(model, index, &preflight::inspect(model, index));
        sentences.into_iter().map(move |s| format!("{name}: {s}"))
    };
    (0..model.bodies.len()).flat_map(say).collect()
}

fn warnings(opened: &Opened) -> Vec<String> {
    let text = opened.loaded.warnings.iter().map(|w| w.block("warning"));
    text.chain(opened.built.warnings.iter().map(|w| format!("warning: {w}"))).collect()
}

fn headline(body: &Body) -> String {
    let law = match body.axes.elasticity {
        ElasticityKind::Finite => "finite elements",
        ElasticityKind::Metric | ElasticityKind::Published => "elasticity theory",
        ElasticityKind::Spline => "a spline",
        ElasticityKind::Springs | ElasticityKind::None => "springs",
    };
    let how = match (body.axes.coordinates, body.axes.integrator) {
        (Coordinates::Rigid, _) => "rigid".to_owned(),
        (Coordinates::Framed, _) => "a rigid frame with displacement, factored once".to_owned(),
        (Coordinates::Reduced, Integrator::BackwardEuler) => "a quadratic map for each part, backward Euler".to_owned(),
        (Coordinates::Reduced, Integrator::SymplecticEuler) => {
            "a quadratic map for each part, symplectic Euler".to_owned()
        }
        (Coordinates::Reduced, _) => "a quadratic map for each part, explicit as in Chang 5.2".to_owned(),
        (_, Integrator::SemiImplicit) => format!("{law}, stiff part implicit"),
        (_, Integrator::ExplicitDiagonal) => format!("{law}, explicit with drag on the diagonal"),
        (_, Integrator::ExplicitTaylor) => format!("{law}, explicit as in Chang 5.1"),
        (_, Integrator::SymplecticEuler) => format!("{law}, symplectic Euler"),
        (_, Integrator::BackwardEuler) => format!("{law}, backward Euler"),
        (_, Integrator::ImplicitMidpoint) => format!("{law}, implicit midpoint"),
        (_, Integrator::Bdf2) => format!("{law}, backward differences over two steps"),
        (_, Integrator::Momentum) => "momentum".to_owned(),
    };
    format!("{}: {} nodes, {}, {how}", body.name, body.len(), mass(body.mass()))
}

fn sentences(model: &Model, index: usize, found: &Preflight) -> Vec<String> {
    let (body, dt) = (&model.bodies[index], model.step.dt);
    let mut out = Vec::new();
    if body.axes.coordinates == Coordinates::Rigid {
        out.push("keeps its shape; any step is stable, contact wants steps of a few milliseconds".to_owned());
        return out;
    }
    match found.lowest {
        Some(0.0) => out.push("can move without any elastic force: it swings or folds freely".to_owned()),
        Some(lowest) => {
            out.push(format!("vibrates at {} at the lowest and {} at the highest", hertz(lowest), hertz(found.highest)))
        }
        None => out.push(format!(
            "vibrates at {} at the highest (the lowest is not computed above {} nodes)",
            hertz(found.highest),
            preflight::DETAIL_LIMIT
        )),
    }
    let framed = body.axes.coordinates == Coordinates::Framed;
    let implicit = body.axes.integrator.implicit();
    let limit =
        if found.damper_rate * found.stable_step > 1.0 { "the dampers limit it" } else { "the springs limit it" };
    if framed {
        out.push("stable at any step; accuracy wants steps short beside what is to be seen".to_owned());
    } else if implicit {
        out.push(format!(
            "implicit: stable at any step; an explicit scheme would need {} or less ({limit})",
            seconds(found.stable_step)
        ));
    } else if found.stable_step == 0.0 {
        out.push(
            "this scheme is unstable at every step without damping: give damping, or use symplectic-euler".to_owned(),
        );
    } else if dt > found.stable_step {
        let tail = if model.step.adaptive { "; adaptive steps will be halved until it holds" } else { "" };
        out.push(format!(
            "UNSTABLE at step.dt = {}: the largest stable step is {} ({limit}){tail}",
            seconds(dt),
            seconds(found.stable_step)
        ));
    } else {
        out.push(format!(
            "stable at step.dt = {}; the largest stable step is {} ({limit})",
            seconds(dt),
            seconds(found.stable_step)
        ));
    }
    if let Some(sag) = found.sag {
        let share = sag / found.height;
        let mut sentence = format!("sags {} under gravity, {:.1} % of its height", length(sag), 100.0 * share);
        if share > SAG_GOAL {
            match stiffer(model, index, found.height) {
                Some(young) => {
                    sentence += &format!("; raise young to {} for less than {:.0} %", pascal(young), 100.0 * SAG_GOAL)
                }
                None => sentence += "; it hangs freely, a higher young does not change that much",
            }
        }
        out.push(sentence);
    } else if body.pins.is_empty() && model.gravity.length() > 0.0 && body.material.raw.is_none() {
        let card = &body.material.card;
        let strain = card.density * model.gravity.length() * found.height / (2.0 * card.young);
        if body.shape.dimension == goop::shape::Dimension::Solid {
            let mut sentence = format!("standing on the ground it would sink by {:.1} % of its height", 100.0 * strain);
            if strain > SAG_GOAL {
                sentence += &format!(
                    "; raise young to {} for less than {:.0} %",
                    pascal(round_up(card.young * strain / SAG_GOAL)),
                    100.0 * SAG_GOAL
                );
            }
            out.push(sentence);
        }
    }
    out.extend(preflight::limits(body, model.flat.is_some()));
    out.push(format!("{} of memory", bytes(found.bytes)));
    out
}

/// The smallest round Young's modulus whose sag is within the goal, tried and not guessed.
fn stiffer(model: &Model, index: usize, height: f64) -> Option<f64> {
    if model.bodies[index].material.raw.is_some() || model.bodies[index].len() > 3000 {
        return None;
    }
    let mut factor = 1.0;
    for _ in 0..7 {
        factor *= 4.0;
        let mut model = model.clone();
        let body = &mut model.bodies[index];
        let material = &mut body.material;
        material.card.young *= factor;
        material.young = match &material.young {
            goop::material::PerNode::Uniform(v) => goop::material::PerNode::Uniform(v * factor),
            goop::material::PerNode::Varying(v) => {
                goop::material::PerNode::Varying(v.iter().map(|v| v * factor).collect())
            }
        };
        body.compile();
        let young = body.material.card.young;
        if preflight::sag(&model, index)? / height < SAG_GOAL {
            return Some(round_up(young));
        }
    }
    None
}

/// Up to one significant digit.
fn round_up(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    (value / unit - 1e-9).ceil() * unit
}

fn object(body: &Body, found: &Preflight, sentences: &[String]) -> Value {
    json!({
        "name": body.name,
        "nodes": body.len(),
        "mass": body.mass(),
        "lowest_hz": found.lowest,
        "highest_hz": found.highest,
        "stable_step": finite(found.stable_step),
        "damper_rate": found.damper_rate,
        "sag": found.sag,
        "height": found.height,
        "bytes": found.bytes,
        "notes": sentences,
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn bodies_bytes(model: &Model) -> usize {
    (0..model.bodies.len()).map(|b| preflight::bytes(&model.bodies[b])).sum()
}

/// Wall seconds per simulated second, from the first steps, half a second at most.
fn cost(opened: &Opened) -> Option<f64> {
    let mut world = World::new(opened.built.model.clone());
    world.step().ok()?; // the first step builds matrices
    let (clock, start) = (Instant::now(), world.time());
    while clock.elapsed() < Duration::from_millis(400) && world.time() - start < 0.5 {
        world.step().ok()?;
    }
    Some(clock.elapsed().as_secs_f64() / (world.time() - start))
}

fn list(nodes: &[u32]) -> String {
    let shown: Vec<String> = nodes.iter().take(12).map(u32::to_string).collect();
    let more = if nodes.len() > 12 { ", …" } else { "" };
    let s = if nodes.len() == 1 { "" } else { "s" };
    format!("{} node{s} ({}{more})", nodes.len(), shown.join(", "))
}
