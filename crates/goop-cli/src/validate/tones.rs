//! Tones: a body is set moving in the shape of one of its modes and the period of that
//! shape is counted.

use super::problem::{Problem, set, world};
use glam::DVec3;
use goop::{Edit, World};
use std::f64::consts::{PI, TAU};

/// Rods, strips, plates, membranes, the silicone beam.
pub fn problems() -> Vec<Problem> {
    let mut list = Vec::new();
    for (tone, beta) in [(1, 1.875104), (2, 4.694091)] {
        for (formulation, levels, tolerance) in
            [("primal", [21, 41], 0.01), ("hybrid", [21, 41], 0.01), ("implicit", [21, 41], 0.02)]
        {
            list.push(Problem {
                name: format!("rod held at one end, tone {tone}, beta L"),
                model: format!("{formulation} curve"),
                reference: beta,
                tolerance,
                levels: levels.to_vec(),
                cannot: None,
                measure: Box::new(move |nodes| rod_tone(formulation, nodes, beta)),
            });
        }
    }
    for (modes, known) in [([1.0, 1.0], 19.7392), ([2.0, 1.0], 49.3480)] {
        for formulation in ["primal", "hybrid"] {
            list.push(Problem {
                name: format!("simply supported plate, tone {}{}", modes[0], modes[1]),
                model: format!("{formulation} surface"),
                reference: known,
                tolerance: 0.01,
                levels: vec![13, 25],
                cannot: None,
                measure: Box::new(move |nodes| plate_tone(formulation, nodes, modes, known)),
            });
        }
    }
    for modes in [[1.0, 1.0], [2.0, 1.0]] {
        for formulation in ["primal", "hybrid", "implicit"] {
            let poisson = (formulation == "implicit")
                .then_some("springs have Poisson's ratio 1/3 of their own, which changes the tension");
            list.push(Problem {
                name: format!("stretched membrane, tone {}{}, omega a / pi c", modes[0], modes[1]),
                model: format!("{formulation} surface"),
                reference: f64::hypot(modes[0], modes[1]),
                tolerance: 0.01,
                levels: vec![13, 25],
                cannot: poisson,
                measure: Box::new(move |nodes| membrane_tone(formulation, nodes, modes)),
            });
        }
    }
    list.push(Problem {
        name: "silicone beam (measured), first tone (Hz)".into(),
        model: "primal solid".into(),
        reference: 7.7,
        tolerance: 0.1,
        levels: vec![11, 21],
        cannot: None,
        measure: Box::new(silicone_tone),
    });
    list
}

/// How the formulation keeps a tone: without damping of its own where it can.
fn integrator(body: &str, formulation: &str) -> Vec<String> {
    let mut sets = vec![set(&format!("body.{body}.formulation"), formulation)];
    if formulation == "hybrid" {
        sets.push(set(&format!("body.{body}.integrator"), "semi-implicit"));
    }
    sets
}

fn rod_tone(formulation: &str, nodes: u32, beta: f64) -> Result<f64, String> {
    let (young, density, radius) = (1e9f64, 1000.0, 0.005);
    let speed = (young / density).sqrt() * radius / 2.0; // sqrt(EI/ρA)
    let expected = beta * beta * speed / TAU;
    let mut sets = integrator("rod", formulation);
    sets.extend([set("nodes", nodes), set("step.dt", 1.0 / (expected * 400.0))]);
    let sigma = (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin());
    let clamp = 0.5 / f64::from(nodes - 1);
    let shape = move |u: DVec3| {
        let b = beta * ((u.x - clamp) / (1.0 - clamp)).max(0.0);
        DVec3::Y * (b.cosh() - b.cos() - sigma * (b.sinh() - b.sin()))
    };
    let found = frequency(world("known-vibrating-rod", &sets)?, &shape, 1e-4, expected, 6.0)?;
    Ok((TAU * found / speed).sqrt())
}

fn plate_tone(formulation: &str, nodes: u32, modes: [f64; 2], known: f64) -> Result<f64, String> {
    let (young, density, thickness, poisson) = (1e9f64, 1000.0, 0.01, 0.3);
    let rigidity = young * thickness * thickness * thickness / (12.0 * (1.0 - poisson * poisson));
    let speed = (rigidity / (density * thickness)).sqrt();
    let expected = known * speed / TAU;
    let mut sets = integrator("plate", formulation);
    sets.extend([set("nodes", nodes), set("step.dt", 1.0 / (expected * 400.0))]);
    let shape = move |u: DVec3| DVec3::Y * (modes[0] * PI * u.x).sin() * (modes[1] * PI * u.y).sin();
    let found = frequency(world("known-plate", &sets)?, &shape, 1e-5, expected, 4.0)?;
    Ok(TAU * found / speed)
}

fn membrane_tone(formulation: &str, nodes: u32, modes: [f64; 2]) -> Result<f64, String> {
    let (young, density, poisson, strain) = (1e6f64, 1000.0, 0.3, 0.01);
    let speed = (young * strain / (1.0 - poisson) / density).sqrt();
    let expected = 0.5 * speed * f64::hypot(modes[0], modes[1]);
    let scene = if formulation == "hybrid" { "known-membrane-hybrid" } else { "known-membrane" };
    let mut sets = if formulation == "hybrid" { Vec::new() } else { integrator("membrane", formulation) };
    sets.extend([set("nodes", nodes), set("step.dt", 1.0 / (expected * 400.0))]);
    let shape = move |u: DVec3| DVec3::Y * (modes[0] * PI * u.x).sin() * (modes[1] * PI * u.y).sin();
    let found = frequency(world(scene, &sets)?, &shape, 1e-4, expected, 4.0)?;
    Ok(2.0 * found / speed)
}

fn silicone_tone(nodes: u32) -> Result<f64, String> {
    let sets = [set("nodes", nodes), set("step.settle", true), set("step.dt", 1.0 / 2000.0)];
    // About its sag, as the measurement has it.
    let shape = |u: DVec3| DVec3::Y * u.x * u.x;
    frequency(world("known-silicone-beam", &sets)?, &shape, 1e-3, 7.7, 3.0)
}

/// Sets the body moving with a shape's velocity and counts how often the shape comes
/// back (1/s): from the first to the last passage through the start.
fn frequency(
    mut world: World,
    shape: &dyn Fn(DVec3) -> DVec3,
    amplitude: f64,
    expected: f64,
    periods: f64,
) -> Result<f64, String> {
    let (modes, start): (Vec<DVec3>, Vec<DVec3>) = {
        let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
        let modes: Vec<DVec3> = body.shape.material_coordinates.iter().map(|&u| shape(u)).collect();
        (modes, state.positions.clone())
    };
    let body = &world.model().bodies[0];
    let masses = body.masses.clone();
    let mut free = vec![true; body.len()];
    for pin in &body.pins {
        pin.nodes.iter().for_each(|&i| free[i as usize] = false);
    }
    for i in (0..masses.len()).filter(|&i| free[i]) {
        let newton_seconds = masses[i] * amplitude * TAU * expected * modes[i];
        world.edit(&Edit::Impulse { body: 0, nodes: vec![i as u32], newton_seconds });
    }
    let (mut last, mut crossings) = ((0.0, 0.0), Vec::new());
    while world.time() < periods / expected {
        world.step().map_err(|failure| failure.to_string())?;
        let x = &world.state().bodies[0].positions;
        let value: f64 = (0..x.len()).map(|i| masses[i] * (x[i] - start[i]).dot(modes[i])).sum();
        let now = (world.time(), value);
        if last.0 > 0.0 && (last.1 < 0.0) != (now.1 < 0.0) {
            crossings.push(last.0 + (now.0 - last.0) * last.1 / (last.1 - now.1));
        }
        last = now;
    }
    match crossings[..] {
        [first, .., final_one] if crossings.len() >= 3 => Ok(0.5 * (crossings.len() - 1) as f64 / (final_one - first)),
        _ => Err(format!("it does not swing: {} passages in {} s", crossings.len(), world.time())),
    }
}
