//! Bodies in contact: a pile of jelly cubes as it grows, a cloth that folds onto itself, and the kitchen.

use super::clock::{self, Cost};
use crate::End;
use crate::args::{Bench, Workload};
use anyhow::{Result, anyhow, bail};
use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::contact::{Obstacle, ObstacleShape, bodies};
use goop::model::StepSettings;
use goop::{Axes, Body, Material, Model, Shape, World};
use serde_json::{Value, json};

const DT: f64 = 1.0 / 120.0;
/// Cubes of the pile.
const CUBES: [usize; 4] = [10, 20, 50, 100];
/// Steps between two looks at whether anything is in anything; they do not count as cost.
const LOOK: usize = 6;
/// Nodes of the cloth along each side.
const CLOTH: usize = 100;

/// `goop bench pile`
pub fn run(args: &Bench) -> Result<End> {
    if !args.json {
        println!("{} threads, load {:.1}; dt 1/120 s", rayon::current_num_threads(), clock::load().unwrap_or(f64::NAN));
        println!(
            "                     nodes  s a second  cpu s a second  ms a step  steps  refused  contacts  deepest"
        );
    }
    let mut rows: Vec<Value> = Vec::new();
    let mut show = |name: String, make: &mut dyn FnMut() -> Result<World>, seconds: f64, limit: f64| -> Result<()> {
        let before = clock::resident();
        let world = &mut make()?;
        let nodes: usize = world.model().bodies.iter().map(Body::len).sum();
        let mut contacts = 0;
        let steps = (seconds / DT * 64.0) as usize;
        let mut over = false;
        let mut passed = false;
        let cost = measure(world, steps, seconds, limit, &mut over, &mut contacts, &mut passed)?;
        let (deepest, refused) = (world.ledger().worst_penetration, world.state().rejected);
        if !args.json {
            println!(
                "{name:18} {nodes:8} {:11.2} {:15.2} {:10.1} {:6} {refused:8} {contacts:9} {deepest:8.1e}{}",
                cost.wall_per_second(),
                cost.cpu_per_second(),
                cost.per_step()[0],
                cost.steps,
                if over { format!("  (up to {:.2} s)", world.time()) } else { String::new() }
            );
            // What counts for a cloth is its middle, and how near it came to itself.
            if let [cloth] = &world.model().bodies[..]
                && let Some(kept) = cloth.contact.thickness
            {
                let how = if passed { "passed through itself" } else { "never passed through itself" };
                let nearest = 1e3 * (kept - deepest.max(0.0));
                println!("                     {how}; nearest {nearest:.2} mm of {:.2} mm kept", 1e3 * kept);
            }
        }
        let mut row = cost.json();
        row["name"] = name.into();
        row["nodes"] = nodes.into();
        row["bodies"] = world.model().bodies.len().into();
        row["max_body_contacts"] = contacts.into();
        row["refused"] = refused.into();
        row["worst_penetration"] = deepest.into();
        row["passed_through"] = passed.into();
        row["simulated"] = world.time().into();
        row["bytes_per_node"] = before.zip(clock::resident()).map(|(a, b)| (b - a).max(0.0) / nodes as f64).into();
        rows.push(row);
        Ok(())
    };
    let cloth = args.workload == Workload::Cloth;
    for count in args.n.map_or(CUBES.to_vec(), |n| vec![n]).into_iter().filter(|_| !cloth) {
        show(format!("{count} jelly cubes"), &mut || pile(count), 1.0, 300.0)?;
    }
    if cloth || args.n.is_none() {
        let side = args.n.filter(|_| cloth).unwrap_or(CLOTH);
        show(format!("{side} x {side} cloth"), &mut || folding(side), 1.5, 300.0)?;
    }
    if !cloth && args.n.is_none() {
        let mut kitchen = || {
            let loaded = crate::open::load("kitchen", &[]).map_err(|faults| anyhow!("{faults}"))?;
            Ok(World::new(loaded.build().map_err(|faults| anyhow!("{faults}"))?.model))
        };
        show("kitchen".to_owned(), &mut kitchen, 18.0, 60.0)?;
    }
    if args.json {
        let find =
            |name: &str, key: &str| rows.iter().find(|r| r["name"] == name).map_or(Value::Null, |r| r[key].clone());
        let first = rows.first().map_or("", |r| r["name"].as_str().unwrap_or(""));
        let main = if args.n.is_none() && !cloth { "50 jelly cubes" } else { first };
        let all = |key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
        let object = json!({
            "quality": {
                "worst_penetration": all("worst_penetration"), "passed_through": all("passed_through"), "refused": all("refused"),
                "worst_residual": all("worst_residual"),
            },
            "bytes_per_node": find(main, "bytes_per_node"),
            "workload": if cloth { "cloth" } else { "pile" }, "dt": DT, "threads": rayon::current_num_threads(), "load": clock::load(),
            "wall_per_second": find(main, "wall_per_second"),
            "cpu_per_second": find(main, "cpu_per_second"),
            "growth_10_to_100": growth(&rows),
            "rows": rows,
        });
        println!("{object}");
    } else if let Some(power) = growth(&rows) {
        println!("from 10 to 100 cubes the time grows with the power {power:.2} of their number");
    }
    Ok(End::Done)
}

/// By which power of their number the processor time of the cubes grows.
fn growth(rows: &[Value]) -> Option<f64> {
    let cost = |count: usize| {
        let name = format!("{count} jelly cubes");
        rows.iter().find(|r| r["name"] == name)?["cpu_per_second"].as_f64()
    };
    Some((cost(100)? / cost(10)?).log10())
}

/// Steps to an end, or until a limit of time (s) is over.
fn measure(
    world: &mut World,
    steps: usize,
    seconds: f64,
    limit: f64,
    over: &mut bool,
    contacts: &mut u32,
    passed: &mut bool,
) -> Result<Cost> {
    let mut all = Cost::default();
    while world.time() < seconds - 1e-9 && all.steps < steps {
        if all.wall > limit {
            *over = true;
            break;
        }
        let cost = clock::measure(world, 1, limit, |world| {
            *contacts = (*contacts).max(world.state().bodies.iter().map(|b| b.row.body_contacts).sum());
        })?;
        all.add(&cost);
        *passed =
            *passed || (all.steps.is_multiple_of(LOOK) && bodies::crossed(world.model(), world.state()).is_some());
    }
    Ok(all)
}

/// A number from 0 to 1, always the same for the same place.
fn scatter(k: usize) -> f64 {
    let x = (k as f64 * 12.9898).sin() * 43758.5453;
    x - x.floor()
}

fn floor() -> Obstacle {
    Obstacle {
        name: "floor".into(),
        shape: ObstacleShape::Plane,
        hollow: false,
        motion: Motion::default(),
        friction: 0.6,
        restitution: 0.0,
        range: 2e-3,
        stiffness: None,
        damping: 0.3,
        tolerance: 1e-3,
        published: None,
        removed: false,
    }
}

/// Heaps of ten cubes of finite elements each: the number of heaps grows, not their height.
fn pile(count: usize) -> Result<World> {
    let card = Material { young: 2e4, damping: 0.3, friction: 0.4, ..Material::default() };
    let cubes = (0..count).map(|k| -> Result<Body> {
        let (heap, place) = (k / 10, k % 10);
        let mut body = Body::new(&format!("cube {k}"), Shape::block(DVec3::splat(0.08), [4; 3])?, card, Axes::FINITE);
        let shift = |j: usize| 0.012 * (scatter(3 * k + j) - 0.5);
        let at = DVec3::new(0.125 * (place % 2) as f64, 0.06 + 0.13 * (place / 2) as f64, 0.0);
        let heap = DVec3::new(0.33 * (heap % 4) as f64, 0.0, 0.24 * (heap / 4) as f64);
        body.start.position = at + heap + DVec3::new(shift(0), 0.0, shift(1));
        body.start.rotation =
            DQuat::from_rotation_y(0.6 * scatter(7 * k)) * DQuat::from_rotation_x(0.4 * scatter(5 * k));
        body.contact.bodies = true;
        Ok(body)
    });
    let list = cubes.collect::<Result<Vec<_>>>()?;
    let step = StepSettings { dt: DT, ..StepSettings::default() };
    let model = Model { bodies: list, obstacles: vec![floor()], step, ..Model::default() };
    // Bodies that start in each other stay so, and every step fights it.
    if let Some([a, b]) = bodies::overlap(&model) {
        bail!("cubes {a} and {b} of the pile are in each other at the start");
    }
    Ok(World::new(model))
}

/// A cloth let down on the floor edge first.
fn folding(nodes: usize) -> Result<World> {
    let card = Material {
        young: 1e6,
        density: 400.0,
        thickness: 1e-3,
        damping: 0.3,
        drag: 0.5,
        friction: 0.4,
        ..Material::default()
    };
    let shape = Shape::rectangle([0.5, 0.5], [nodes; 2])?;
    let rim: Vec<u32> =
        shape.rest_positions.iter().enumerate().filter(|(_, x)| x.z < -0.249).map(|(i, _)| i as u32).collect();
    let mut cloth = Body::new("cloth", shape, card, Axes::IMPLICIT);
    cloth.start.position = DVec3::new(0.0, 0.27, 0.0);
    cloth.start.rotation = DQuat::from_rotation_x(85f64.to_radians());
    (cloth.contact.bodies, cloth.contact.itself, cloth.contact.thickness) = (true, true, Some(2e-3));
    let mut pin = cloth.pin_at_start(&rim);
    let key = |time: f64, y: f64| Key { time, position: DVec3::new(0.0, y, 0.0), rotation: DQuat::IDENTITY };
    pin.motion = Motion::new(vec![key(0.0, 0.0), key(1.4, -0.48)]);
    cloth.pins.push(pin);
    let step = StepSettings { dt: DT, ..StepSettings::default() };
    Ok(World::new(Model { bodies: vec![cloth], obstacles: vec![floor()], step, ..Model::default() }))
}
