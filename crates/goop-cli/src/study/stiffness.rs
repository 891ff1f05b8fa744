//! T4: rising rigidity and rising complexity of the rest shape, at one step length.
//!
//! Two verdicts are wanted: whether the conditioning "will improve", and whether the
//! motion tends to that of the rigid body.

use super::{Found, Line, Plot, play, short};
use glam::DVec3;
use goop::coordinates::framed::work;
use goop::elastic::Weights;
use goop::{Axes, Body, Material, Model, Shape, World};
use std::time::Instant;

/// A spinning slab thrown through empty space.
fn slab(axes: Axes, young: f64, dt: f64) -> Result<World, String> {
    let shape = Shape::block(DVec3::new(0.3, 0.06, 0.2), [7, 3, 5]).map_err(|e| e.to_string())?;
    let card = Material { young, damping: 0.0, ..Material::default() };
    let mut body = Body::new("slab", shape, card, axes);
    body.start.velocity = DVec3::new(1.0, 3.0, 0.0);
    body.start.spin = DVec3::new(2.0, 1.0, 4.0);
    let mut model = Model { bodies: vec![body], ..Model::default() };
    (model.step.dt, model.step.adaptive) = (dt, false);
    Ok(World::new(model))
}

/// Condition number of what a step of the body solves; `None` without a matrix.
fn condition(body: &Body, dt: f64) -> Option<f64> {
    if body.axes == Axes::HYBRID {
        return work::condition(body, dt);
    }
    let elastic = body.elastic.as_ref()?;
    let (memory, x) = (elastic.memory(), body.start_positions());
    let mut matrix = elastic.structure();
    elastic.stiffness(&memory, &x, Weights { position: dt * dt, velocity: 0.0 }, false, &mut matrix);
    for i in 0..body.len() {
        matrix.add_diagonal(i, glam::DMat3::from_diagonal(DVec3::splat(body.masses[i])));
    }
    Some(goop::solve::condition_of_blocks(&matrix, &vec![true; body.len()]))
}

/// Ten decades of Young's modulus.
pub fn decades() -> Result<Found, String> {
    let columns =
        ["young (Pa)", "dt (s)", "model", "distance to rigid (m)", "condition", "iterations", "µs a step", "end"];
    let mut found = Found {
        title: "T4: a spinning slab from 1e2 to 1e12 Pa at one step length".into(),
        notes: vec![
            "Distance: the furthest node from where it is on a rigid slab, after a second.".into(),
            "Condition: of the matrix that a step solves, M + dt² K (hybrid: A = K + M/dt² + C/dt with the six rigid motions taken out).".into(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let mut lines: [Vec<Line>; 2] = Default::default();
    for dt in [1.0 / 240.0, 1.0 / 60.0] {
        let mut rigid = slab(Axes::RIGID, 1.0, dt)?;
        play(&mut rigid, 1.0)?;
        for (name, axes) in [("hybrid", Axes::HYBRID), ("primal", Axes::PRIMAL)] {
            let label = format!("{name}, dt 1/{:.0} s", 1.0 / dt);
            let mut far = Line { label: label.clone(), points: Vec::new() };
            let mut conditions = Line { label, points: Vec::new() };
            for decade in 2..=12 {
                let young = 10f64.powi(decade);
                let mut world = slab(axes, young, dt)?;
                let cond = condition(&world.model().bodies[0], dt);
                let (start, mut steps, mut iterations) = (Instant::now(), 0, 0);
                let mut end = "done".to_owned();
                while world.time() < 1.0 - 1e-9 {
                    match world.step() {
                        Ok(report) => (steps, iterations) = (steps + 1, iterations + report.iterations),
                        Err(failure) => {
                            end = failure.to_string();
                            break;
                        }
                    }
                }
                let each = start.elapsed().as_secs_f64() / f64::from(steps.max(1));
                let (x, y) = (&world.state().bodies[0].positions, &rigid.state().bodies[0].positions);
                let distance = x.iter().zip(y).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
                far.points.push((young, distance));
                conditions.points.extend(cond.map(|c| (young, c)));
                found.rows.push(vec![
                    format!("{young:.0e}"),
                    format!("1/{:.0}", 1.0 / dt),
                    name.to_owned(),
                    short(distance),
                    cond.map_or("–".into(), short),
                    if axes == Axes::PRIMAL {
                        short(f64::from(iterations as u32) / f64::from(steps.max(1)))
                    } else {
                        "direct".into()
                    },
                    short(1e6 * each),
                    end,
                ]);
            }
            lines[0].push(far);
            lines[1].push(conditions);
        }
    }
    let [far, conditions] = lines;
    let plot = |title: &str, up: &str, lines| Plot {
        title: title.into(),
        across: "young (Pa)".into(),
        up: up.into(),
        lines,
        linear: false,
    };
    found.plots.push(plot("Distance to the rigid body after 1 s", "m", far));
    found.plots.push(plot("Condition number of the step's matrix", "", conditions));
    Ok(found)
}

/// Closed curves of growing waviness.
pub fn shapes() -> Result<Found, String> {
    let columns = ["waves", "model", "condition", "iterations", "distance to rigid (m)", "end"];
    let mut found = Found {
        title: "T4: closed curves of growing waviness, 60 nodes, 1e7 Pa, dt 1/240 s".into(),
        notes: vec!["Radius 0.2 (1 + 0.4 cos kθ) m, k waves; each spins and falls for a second.".into()],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let mut lines = [Line { label: "hybrid".into(), points: vec![] }, Line { label: "primal".into(), points: vec![] }];
    let dt = 1.0 / 240.0;
    let world = |axes: Axes, waves: u32| -> Result<World, String> {
        let point = |k: u32| {
            let angle = std::f64::consts::TAU * f64::from(k) / 120.0;
            let radius = 0.2 * (1.0 + 0.4 * (f64::from(waves) * angle).cos());
            DVec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
        };
        let points: Vec<DVec3> = (0..120).map(point).collect();
        let shape = Shape::spline(&points, true, 60).map_err(|e| e.to_string())?;
        let card = Material { young: 1e7, radius: 0.01, damping: 0.0, ..Material::default() };
        let mut body = Body::new("curve", shape, card, axes);
        body.start.spin = DVec3::new(3.0, 1.0, 5.0);
        let mut model = Model { bodies: vec![body], ..Model::default() };
        (model.step.dt, model.step.adaptive) = (dt, false);
        Ok(World::new(model))
    };
    for waves in [0, 1, 2, 3, 4, 6, 8, 10] {
        let mut rigid = world(Axes::RIGID, waves)?;
        play(&mut rigid, 1.0)?;
        for (k, (name, axes)) in [("hybrid", Axes::HYBRID), ("primal", Axes::PRIMAL)].into_iter().enumerate() {
            let mut soft = world(axes, waves)?;
            let cond = condition(&soft.model().bodies[0], dt);
            let (mut steps, mut iterations, mut end) = (0usize, 0, "done".to_owned());
            while soft.time() < 1.0 - 1e-9 {
                match soft.step() {
                    Ok(report) => (steps, iterations) = (steps + 1, iterations + report.iterations),
                    Err(failure) => {
                        end = failure.to_string();
                        break;
                    }
                }
            }
            let (x, y) = (&soft.state().bodies[0].positions, &rigid.state().bodies[0].positions);
            let distance = x.iter().zip(y).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
            lines[k].points.extend(cond.map(|c| (f64::from(waves.max(1)), c)));
            let each = iterations as f64 / steps.max(1) as f64;
            found.rows.push(vec![
                waves.to_string(),
                name.into(),
                cond.map_or("–".into(), short),
                if axes == Axes::PRIMAL { short(each) } else { "direct".into() },
                short(distance),
                end,
            ]);
        }
    }
    let title = "Condition number against waviness".to_owned();
    found.plots.push(Plot {
        title,
        across: "waves (0 shown as 1)".into(),
        up: String::new(),
        lines: lines.into(),
        linear: false,
    });
    Ok(found)
}
