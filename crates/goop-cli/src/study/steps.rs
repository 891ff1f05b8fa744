//! C14 and C15: the largest step that looks the same, and what a second of animation costs at it.
//!
//! A run at a fine step is the film; one at a larger step looks the same where no frame of it, 30 a second, has its points
//! further away than a hundredth of the body's height in the mean.

use super::{Found, Line, Plot, short};
use crate::library;
use glam::DVec3;
use goop::{Model, World};
use goop_scene::Scene;
use std::path::Path;
use std::time::Instant;

/// What still looks the same: mean distance over height.
const SAME: f64 = 0.01;
const FPS: f64 = 30.0;
/// Steps (s), and the thesis' own of each body.
const CUBE: [f64; 8] = [0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 1.0 / 60.0, 1.0 / 30.0];
const CHARACTER: [f64; 7] = [0.00025, 0.001, 0.002, 1.0 / 240.0, 1.0 / 120.0, 1.0 / 60.0, 1.0 / 30.0];

/// Frames of a body's drawn points, or what went wrong; and the time that took for a second (s).
fn film(model: &Model, dt: f64, seconds: f64) -> (Result<Vec<Vec<DVec3>>, String>, f64) {
    let mut model = model.clone();
    (model.step.dt, model.step.adaptive) = (dt, false);
    model.probes.clear();
    let mut world = World::new(model);
    let start = Instant::now();
    let mut frames = Vec::new();
    for frame in 1..=(seconds * FPS).round() as usize {
        match world.frame_at(frame as f64 / FPS) {
            Ok(frame) => {
                let body = frame.bodies.into_iter().next().unwrap_or_default();
                let points = body.drawn.unwrap_or(body.positions);
                frames.push(points.iter().map(|p| DVec3::from_array(p.map(f64::from))).collect());
            }
            Err(failure) => return (Err(failure.what), 0.0),
        }
    }
    (Ok(frames), start.elapsed().as_secs_f64() / seconds)
}

/// Mean distance of two films in the frame where they are furthest apart (m).
fn apart(a: &[Vec<DVec3>], b: &[Vec<DVec3>]) -> f64 {
    let mean = |(a, b): (&Vec<DVec3>, &Vec<DVec3>)| {
        a.iter().zip(b).map(|(a, b)| a.distance(*b)).sum::<f64>() / a.len().max(1) as f64
    };
    let far: Vec<f64> = a.iter().zip(b).map(mean).collect();
    // What is not a number is nowhere near.
    if far.iter().all(|far| far.is_finite()) { far.into_iter().fold(0.0, f64::max) } else { f64::INFINITY }
}

/// Runs a model at all steps; rows of the table, and the curve of distances.
fn compare(
    claim: &str,
    name: &str,
    model: &Model,
    steps: &[f64],
    thesis: f64,
    seconds: f64,
) -> Result<(Vec<Vec<String>>, Line), String> {
    let rest = &model.bodies[0].shape.rest_positions;
    let height = rest.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max)
        - rest.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let (fine, _) = film(model, steps[0], seconds);
    let fine = fine.map_err(|what| format!("{name} at its finest step: {what}"))?;
    let mut rows = Vec::new();
    let mut line = Line { label: format!("{claim}, {name}"), points: Vec::new() };
    let mut largest = steps[0];
    let mut looks = true;
    for &dt in steps {
        let (frames, cost) = film(model, dt, seconds);
        let far = frames.as_ref().map_or(f64::INFINITY, |frames| apart(frames, &fine) / height);
        if far.is_finite() && far > 0.0 {
            line.points.push((dt, 100.0 * far));
        }
        looks &= far < SAME;
        if looks {
            largest = dt;
        }
        let what = match frames {
            Err(_) => "diverges".into(),
            Ok(_) if far > 10.0 => "diverges".into(),
            Ok(_) if dt == steps[0] => "the film".into(),
            Ok(_) => format!("{:.2} %", 100.0 * far),
        };
        let note = if (dt - thesis).abs() < 1e-9 { "the thesis' step".to_owned() } else { String::new() };
        rows.push(vec![
            claim.to_owned(),
            name.to_owned(),
            format!("{dt:.5}"),
            what,
            if cost > 0.0 { short(cost) } else { String::new() },
            note,
        ]);
    }
    if let Some(row) = rows.iter_mut().find(|row| row[2] == format!("{largest:.5}")) {
        row[5] =
            format!("{}the largest that looks the same", if row[5].is_empty() { "" } else { "the thesis' step and " });
    }
    Ok((rows, line))
}

/// The cube by three models, and the dancer as a whole and reduced.
pub fn study(nodes: u32) -> Result<Found, String> {
    let columns = ["claim", "model", "dt (s)", "furthest frame", "s for a second", ""];
    let mut found = Found {
        title: "C14 and C15: the largest step that looks the same".into(),
        notes: vec![format!(
            "Furthest frame: mean distance of points from those at the smallest step, over the height, in the worst frame of 30 a second. It looks the same below {} %.",
            100.0 * SAME
        )],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let mut lines = Vec::new();
    let open = |name: &str, sets: &[String]| -> Result<Model, String> {
        let text = library::find(name).ok_or_else(|| format!("there is no scene {name}"))?.text;
        let loaded = Scene::load_text(text, name, sets, Path::new("")).map_err(|faults| faults.to_string())?;
        // Nothing is probed, and another start or number of nodes may leave a probe without any.
        let scene = Scene { probe: Vec::new(), ..loaded.scene };
        let built = scene.build(&loaded.folder).map_err(|faults| format!("{name}: {faults:?}"))?;
        Ok(built.model)
    };
    for (claim, scene) in [("C14, rate 7", "chang-2000-fig6-1"), ("C14, rate 13", "chang-2000-fig6-3")] {
        let model = open(scene, &[])?;
        for b in 0..model.bodies.len() {
            let mut one = model.clone();
            one.bodies = vec![one.bodies.swap_remove(b)];
            let name = one.bodies[0].name.clone();
            let (rows, line) = compare(claim, &name, &one, &CUBE, 0.001, 1.0)?;
            found.rows.extend(rows);
            lines.push(line);
        }
    }
    for name in ["implicit", "reduced"] {
        let sets = [format!("body.dancer.shape.character.nodes={nodes}"), "body.dancer.motion.start=1.0".into()];
        let mut model = open("dancer", &sets)?;
        if name == "reduced" {
            model.bodies[0].axes.coordinates = goop::model::Coordinates::Reduced;
            model.bodies[0].compile();
        }
        let mut world = World::new(model.clone());
        world.settle().map_err(|failure| failure.to_string())?;
        // Every step begins from the same settled body.
        let settled = world.state().bodies[0].clone();
        if let Some(sampled) = &model.bodies[0].sampled {
            let mut start = (**sampled).clone();
            start.posed = Some(goop::character::Posed { positions: settled.positions, velocities: settled.velocities });
            model.bodies[0].sampled = Some(std::sync::Arc::new(start));
        }
        let claim = format!("C15, {} nodes", model.bodies[0].len());
        let (rows, line) = compare(&claim, name, &model, &CHARACTER, 0.00025, 1.0)?;
        found.rows.extend(rows);
        lines.push(line);
    }
    found.plots.push(Plot {
        title: "Distance from the film".into(),
        across: "dt (s)".into(),
        up: "% of the height".into(),
        lines,
        linear: false,
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a film that flies off and comes back, or is nowhere, and still looks the same.
    #[test]
    fn films_are_as_far_apart_as_their_worst_frame() {
        let film = |far: f64| vec![vec![DVec3::ZERO; 2], vec![DVec3::X * far, DVec3::ZERO], vec![DVec3::ZERO; 2]];
        assert_eq!(apart(&film(0.0), &film(0.5)), 0.25);
        assert_eq!(apart(&film(0.0), &film(f64::NAN)), f64::INFINITY);
    }
}
