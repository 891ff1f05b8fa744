//! Motion of whole bodies: tumbling, free fall, the rigid limit, friction.

use super::problem::{Problem, set, world};
use glam::DVec3;
use goop::World;

/// Everything that flies, tumbles or slides.
pub fn problems() -> Vec<Problem> {
    let mut list = Vec::new();
    for (formulation, tolerance) in [("rigid", 1e-10), ("hybrid", 1e-10), ("primal", 1e-10), ("implicit", 1e-10)] {
        list.push(one(
            "torque-free tumbling, drift of the angular momentum in 8 s",
            formulation,
            0.0,
            tolerance,
            Box::new(move |_| tumble(formulation).map(|(drift, _)| drift)),
        ));
    }
    for formulation in ["rigid", "hybrid"] {
        list.push(one(
            "torque-free tumbling about the middle axis, turns over in 8 s",
            formulation,
            f64::from(FLIPS),
            0.0,
            Box::new(move |_| tumble(formulation).map(|(_, flips)| f64::from(flips))),
        ));
    }
    for formulation in ["rigid", "hybrid", "primal", "implicit", "spring"] {
        // First-order schemes are g dt t / 2 away from the parabola, whatever the body does.
        list.push(one(
            "thrown body, centre of mass from the parabola over g dt t / 2",
            formulation,
            1.0,
            0.01,
            Box::new(move |_| projectile(formulation)),
        ));
    }
    list.push(Problem {
        name: "hybrid tends to the rigid body, distance after 1 s (sizes)".into(),
        model: "hybrid solid, young 10^level Pa".into(),
        reference: 0.0,
        tolerance: 1e-9,
        levels: vec![6, 8, 10, 12, 14],
        cannot: None,
        measure: Box::new(rigid_limit),
    });
    for formulation in ["rigid", "implicit", "primal"] {
        list.push(one(
            "block on a slope, tangent at which it slips over friction",
            formulation,
            1.0,
            0.01,
            Box::new(move |_| incline(formulation)),
        ));
        list.push(one(
            "sliding block, way to stop over v² / 2 mu g",
            formulation,
            1.0,
            0.02,
            Box::new(move |_| stopping(formulation)),
        ));
    }
    list
}

fn one(name: &str, model: &str, reference: f64, tolerance: f64, measure: super::problem::Measure) -> Problem {
    Problem { name: name.into(), model: model.into(), reference, tolerance, levels: vec![2], cannot: None, measure }
}

/// Of the free book with this spin: counted on a run of the rigid body with a hundredth of the step.
const FLIPS: u32 = 3;

/// Drift of L relative to its size, and how often the book turned over.
fn tumble(formulation: &str) -> Result<(f64, u32), String> {
    let mut sets = vec![set("body.book.formulation", formulation)];
    if formulation != "rigid" {
        sets.extend([set("body.book.material.young", 1e9), set("body.book.material.damping", 0)]);
    }
    let mut world = world("tw-1988-tumble", &sets)?;
    let start = world.row(0).angular_momentum;
    let (mut worst, mut flips, mut side) = (0.0f64, 0, 1.0);
    let body = &world.model().bodies[0];
    // Middles of the two faces that the axis goes through.
    let face = |w: f64| {
        let u = &body.shape.material_coordinates;
        let far = |i: &usize| u[*i].distance_squared(DVec3::new(0.5, 0.5, w));
        (0..u.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    };
    let (low, high) = (face(0.0), face(1.0));
    while world.time() < 8.0 {
        world.step().map_err(|failure| failure.to_string())?;
        worst = worst.max((world.row(0).angular_momentum - start).length());
        let x = &world.state().bodies[0].positions;
        let along = (x[high] - x[low]).dot(start);
        if along * side < 0.0 && along.abs() > 0.5 * (x[high] - x[low]).length() * start.length() {
            (side, flips) = (-side, flips + 1);
        }
    }
    Ok((worst / start.length(), flips))
}

fn center(world: &World) -> DVec3 {
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    state.positions.iter().zip(&body.masses).map(|(&x, &m)| m * x).sum::<DVec3>() / body.mass()
}

fn play(world: &mut World, seconds: f64) -> Result<(), String> {
    while world.time() < seconds - 1e-9 {
        world.step().map_err(|failure| failure.to_string())?;
    }
    Ok(())
}

fn projectile(formulation: &str) -> Result<f64, String> {
    let mut world = world("known-projectile", &[set("body.cube.formulation", formulation)])?;
    let (start, velocity, gravity) = (center(&world), world.model().bodies[0].start.velocity, world.model().gravity);
    let dt = world.model().step.dt;
    play(&mut world, 1.0)?;
    let time = world.time();
    let parabola = start + velocity * time + 0.5 * gravity * time * time;
    Ok(center(&world).distance(parabola) / (0.5 * gravity.length() * dt * time))
}

/// Largest distance of a node from the rigid body's, after a second, in sizes.
fn rigid_limit(level: u32) -> Result<f64, String> {
    let run = |formulation: &str| -> Result<World, String> {
        let young = set("body.cube.material.young", format!("1e{level}"));
        let mut world = world("known-projectile", &[set("body.cube.formulation", formulation), young])?;
        play(&mut world, 1.0)?;
        Ok(world)
    };
    let (soft, hard) = (run("hybrid")?, run("rigid")?);
    let (x, y) = (&soft.state().bodies[0].positions, &hard.state().bodies[0].positions);
    let far = x.iter().zip(y).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
    Ok(far / soft.model().bodies[0].extent())
}

/// tan α / μ at which the block begins to slip, by bisection.
fn incline(formulation: &str) -> Result<f64, String> {
    let slips = |ratio: f64| -> Result<bool, String> {
        let sets = [set("body.block.formulation", formulation), set("ratio", ratio)];
        let mut world = world("known-incline", &sets)?;
        let start = center(&world);
        play(&mut world, 0.5)?;
        let early = center(&world).distance(start);
        play(&mut world, 1.5)?;
        Ok(center(&world).distance(start) > early + 2e-4)
    };
    let (mut low, mut high) = (0.9, 1.1);
    if slips(low)? || !slips(high)? {
        return Err("it slips at 0.9 or holds at 1.1 of the friction angle".into());
    }
    for _ in 0..5 {
        let middle = 0.5 * (low + high);
        if slips(middle)? { high = middle } else { low = middle }
    }
    Ok(0.5 * (low + high))
}

fn stopping(formulation: &str) -> Result<f64, String> {
    let mut world = world("known-stopping", &[set("body.block.formulation", formulation)])?;
    let start = center(&world);
    play(&mut world, 2.0)?;
    let way = center(&world).distance(start);
    // As the scene has it: 2 m/s, 0.3.
    Ok(way / (2.0 * 2.0 / (2.0 * 0.3 * world.model().gravity.length())))
}
