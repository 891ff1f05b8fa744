//! Shapes at rest: hanging bars, catenary, silicone beam.

use super::problem::{Problem, set, world};
use glam::DVec3;

/// Everything that settles.
pub fn problems() -> Vec<Problem> {
    let mut list = Vec::new();
    for formulation in ["primal", "hybrid", "implicit"] {
        list.push(Problem {
            name: "hanging bar, stretch under its own weight".into(),
            model: format!("{formulation} curve"),
            reference: 0.001,
            tolerance: 0.01,
            levels: vec![21, 41],
            cannot: None,
            measure: Box::new(move |nodes| {
                let sets = [set("body.bar.formulation", formulation), set("nodes", nodes)];
                stretch("known-hanging-bar", &sets)
            }),
        });
        list.push(Problem {
            name: "hanging block, stretch under its own weight".into(),
            model: format!("{formulation} solid"),
            reference: 0.001,
            tolerance: 0.02,
            levels: vec![21, 41],
            cannot: None,
            measure: Box::new(move |nodes| {
                let sets = [set("body.block.formulation", formulation), set("nodes", nodes)];
                stretch("known-hanging-block", &sets)
            }),
        });
        let linear = (formulation == "hybrid").then_some("its displacement is linear, and a chain turns freely");
        list.push(Problem {
            name: "catenary, sag over span".into(),
            model: format!("{formulation} curve"),
            reference: 0.502633,
            tolerance: 0.01,
            levels: vec![31, 61],
            cannot: linear,
            measure: Box::new(move |nodes| {
                let world =
                    world("known-catenary", &[set("body.chain.formulation", formulation), set("nodes", nodes)])?;
                let middle = world.model().bodies[0].len() / 2;
                Ok(-world.state().bodies[0].positions[middle].y)
            }),
        });
    }
    list.push(Problem {
        name: "silicone beam (measured), sag of the tip (mm)".into(),
        model: "primal solid".into(),
        reference: 6.66,
        tolerance: 0.1,
        levels: vec![11, 21],
        cannot: None,
        measure: Box::new(|nodes| {
            let world = world("known-silicone-beam", &[set("nodes", nodes), set("step.settle", true)])?;
            let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
            let tip: Vec<usize> =
                (0..body.len()).filter(|&i| body.shape.material_coordinates[i].x > 1.0 - 1e-9).collect();
            let drop = |x: &[DVec3]| tip.iter().map(|&i| x[i].y).sum::<f64>() / tip.len() as f64;
            Ok(1e3 * (drop(&body.start_positions()) - drop(&state.positions)))
        }),
    });
    list
}

/// How far the free end has sunk, relative to the length between the ends.
fn stretch(scene: &str, sets: &[String]) -> Result<f64, String> {
    let world = world(scene, sets)?;
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    let start = body.start_positions();
    let low = start.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let high = start.iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max);
    let ends: Vec<usize> = (0..body.len()).filter(|&i| start[i].y < low + 1e-9).collect();
    let sunk = ends.iter().map(|&i| start[i].y - state.positions[i].y).sum::<f64>() / ends.len() as f64;
    Ok(sunk / (high - low))
}
