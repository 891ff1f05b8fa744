//! G9 and S1: preparation and time per frame against the size of a Bézier surface.

use super::{Found, Line, Plot, play, short};
use crate::library;
use crate::validate::set;
use goop::World;
use goop_scene::Scene;
use std::path::Path;
use std::time::Instant;

/// Square grids up to `largest` nodes a side. A frame is 1/24 s; wall clock.
pub fn study(largest: u32) -> Result<Found, String> {
    let columns = ["nodes", "formulation", "preparation (ms)", "ms a frame", "steps a frame", "ms a step"];
    let mut found = Found {
        title: "G9 and S1: the Bézier surface of GO's timings, 1/240 s steps".into(),
        notes: vec![
            "Preparation: shape, masses, energy and, for hybrid, its factor with the first step. A frame is 1/24 s; the mean of half a second. The spring formulation is explicit and halves its step where it must, so its step is cheap and its frame may not be.".into(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let words = ["primal", "hybrid", "implicit", "spring"];
    let mut lines: [Vec<Line>; 3] =
        std::array::from_fn(|_| words.map(|word| Line { label: word.into(), points: Vec::new() }).into());
    let sizes = [10, 14, 20, 28, 40, 57, 80, 113, 160];
    for side in sizes.into_iter().filter(|&side| side <= largest) {
        for (k, word) in words.into_iter().enumerate() {
            let sets = [set("nodes", side), set("body.patch.formulation", word)];
            let entry = library::find("go-1994-bezier").ok_or("the Bézier scene is not built in")?;
            let start = Instant::now();
            let loaded = Scene::load_text(entry.text, entry.name, &sets, Path::new("")).map_err(|f| f.to_string())?;
            let built = loaded
                .scene
                .build(Path::new(""))
                .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
            let mut world = World::new(built.model);
            world.step().map_err(|failure| failure.to_string())?;
            let first = start.elapsed().as_secs_f64();
            let (steps, time) = (world.state().steps, world.time());
            let start = Instant::now();
            if let Err(sentence) = play(&mut world, time + 0.5) {
                found.rows.push(vec![
                    format!("{side}²"),
                    word.into(),
                    short(1e3 * first),
                    sentence,
                    "–".into(),
                    "–".into(),
                ]);
                continue;
            }
            let spent = start.elapsed().as_secs_f64();
            let frames = (world.time() - time) * 24.0;
            let taken = (world.state().steps - steps) as f64;
            let preparation = (first - spent / taken).max(0.0);
            let nodes = f64::from(side * side);
            for (line, value) in lines.iter_mut().zip([preparation, spent / frames, spent / taken]) {
                line[k].points.push((nodes, 1e3 * value));
            }
            found.rows.push(vec![
                format!("{side}²"),
                word.into(),
                short(1e3 * preparation),
                short(1e3 * spent / frames),
                short(taken / frames),
                short(1e3 * spent / taken),
            ]);
        }
    }
    for (title, lines) in ["Preparation", "Time per frame", "Time per step"].into_iter().zip(lines) {
        found.plots.push(Plot { title: title.into(), across: "nodes".into(), up: "ms".into(), lines, linear: false });
    }
    Ok(found)
}
