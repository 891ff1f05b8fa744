//! The full character of the thesis' table 6.2: jelly in one piece, backward Euler, skin included.
//!
//! Steps of 1/60 s at the modulus that `goop jelly` chooses and at ten times that, and the thesis' own step; with the
//! thesis' implicit model, springs on the lattice, and with the finite elements that `goop jelly` takes.

use super::clock::{self, Cost};
use crate::args::{Bench, Jelly};
use crate::open::Opened;
use crate::{End, jelly};
use anyhow::{Result, anyhow};
use goop::World;
use goop_scene::Scene;
use serde_json::{Value, json};
use std::path::Path;

/// Nodes of the thesis' character, its step (s), and what a second of it took (s).
const NODES: usize = 14_325;
const THESIS_DT: f64 = 0.00025;
const THESIS_SECONDS: f64 = 35_281.0;
const DT: f64 = 1.0 / 60.0;

/// The model of the thesis, and the one of `goop jelly`.
const MODELS: [&str; 2] = ["implicit", "jelly"];

struct Row {
    model: &'static str,
    name: &'static str,
    dt: f64,
    young: f64,
    cost: Cost,
    rejected: u64,
    /// What the account does not explain, beside the energy exchanged.
    residue: f64,
    /// Change of volume of the flesh at the end.
    volume: f64,
}

/// `goop bench character`
pub fn run(args: &Bench) -> Result<End> {
    let wanted = args.n.unwrap_or(NODES);
    // The sampling comes out near the number asked for, not at it.
    let mut nodes = wanted;
    let (mut opened, mut young) = open_character(args, nodes)?;
    while opened.built.model.bodies[0].len() < wanted && nodes < 2 * wanted {
        nodes += wanted / 50 + 1;
        (opened, young) = open_character(args, nodes)?;
    }
    let body = &opened.built.model.bodies[0];
    let held: usize = body.pins.iter().map(|pin| pin.nodes.len()).sum();
    let (count, elements) = (body.len(), body.elastic.as_ref().map_or(0, |e| e.elements()));
    let skin = body.sampled.as_ref().map_or(0, |s| s.skinning.len());
    if !args.json {
        println!(
            "{} nodes ({held} held by bones), {elements} edges, {skin} skin vertices; {} threads, load {:.1}",
            count,
            rayon::current_num_threads(),
            clock::load().unwrap_or(f64::NAN)
        );
        println!(
            "                        E (Pa)      dt   ms a step: wall    cpu  least  iterations   s for 1 s: wall   cpu"
        );
    }
    let before = clock::resident();
    let mut rows = Vec::new();
    let plans = [("1/60 s", DT, 1.0, 120), ("1/60 s, 10 E", DT, 10.0, 120), ("thesis' step", THESIS_DT, 1.0, 400)];
    for model in MODELS {
        let opened = remodelled(&opened, model)?;
        for (name, dt, stiffer, steps) in plans {
            let row = measure(&opened, model, name, dt, young * stiffer, steps)?;
            if !args.json {
                let [wall, cpu] = row.cost.per_step();
                println!(
                    "{model:8} {name:13} {:9.0} {:8.5} {wall:16.2} {cpu:6.2} {:6.2} {:7.1} ≤{:3} {:16.2} {:6.2}",
                    row.young,
                    row.dt,
                    1e3 * row.cost.least,
                    row.cost.iterations_per_step(),
                    row.cost.most_iterations,
                    row.cost.wall_per_second(),
                    row.cost.cpu_per_second()
                );
            }
            rows.push(row);
        }
    }
    let bytes = before.zip(clock::resident()).map(|(a, b)| (b - a).max(0.0) / count as f64);
    let faster = [2, 5].map(|k: usize| THESIS_SECONDS / rows[k].cost.wall_per_second());
    if args.json {
        let list: Vec<Value> = rows.iter().map(row_json).collect();
        let object = json!({
            "workload": "character", "nodes": count, "edges": elements, "held": held, "skin_vertices": skin,
            "threads": rayon::current_num_threads(), "load": clock::load(), "bytes_per_node": bytes,
            "wall_per_second": rows[0].cost.wall_per_second(), "cpu_per_second": rows[0].cost.cpu_per_second(),
            "rows": list, "thesis_seconds": THESIS_SECONDS, "times_faster_than_thesis": faster[0], "times_faster_with_finite_elements": faster[1],
            "quality": {
                "worst_residual": rows.iter().map(|r| r.cost.residual).fold(0.0, f64::max),
                "worst_residue_of_exchanged": rows.iter().map(|r| r.residue.abs()).fold(0.0, f64::max),
                "rejected_steps": rows.iter().map(|r| r.rejected).sum::<u64>(),
                "volume_change": rows.iter().map(|r| r.volume).collect::<Vec<_>>(),
            },
        });
        println!("{object}");
    } else {
        println!("\nwhere a step goes (ms, wall):   forces  assembly     solve   contact      skin      rest");
        for row in &rows {
            let ms = row.cost.ms();
            println!("{:8} {:18} {}", row.model, row.name, ms.map(|v| format!("{v:10.2}")).concat());
        }
        let [springs, elements] = faster;
        println!(
            "\nat the thesis' step {springs:.0} times as fast as its {THESIS_SECONDS} s, with finite elements {elements:.0} times"
        );
        for row in &rows {
            println!(
                "{:8} {:13} residual at most {:.1e}, account open by {:.1e} of the energy exchanged, volume {:+.2} %, {} steps rejected",
                row.model,
                row.name,
                row.cost.residual,
                row.residue,
                100.0 * row.volume,
                row.rejected
            );
        }
    }
    Ok(End::Done)
}

fn row_json(row: &Row) -> Value {
    let mut object = row.cost.json();
    object["model"] = row.model.into();
    object["name"] = row.name.into();
    object["dt"] = row.dt.into();
    object["young"] = row.young.into();
    object["rejected"] = row.rejected.into();
    object
}

/// The scene of `goop jelly`, and its modulus (Pa).
fn open_character(args: &Bench, nodes: usize) -> Result<(Opened, f64)> {
    let file = args.file.clone().unwrap_or_else(|| goop_scene::character::BUILT_IN.into());
    let name = file.file_stem().map_or("jelly".into(), |n| n.to_string_lossy().into_owned());
    let request = Jelly::of(file, nodes.clamp(50, 2_000_000) as u32);
    let (text, young) = jelly::scene(&request, &name).map_err(|wrong| anyhow!("{}; {}", wrong.message, wrong.hint))?;
    let sets = [format!("step.dt={DT:?}")];
    let loaded = Scene::load_text(&text, &format!("{name}.toml"), &sets, Path::new("")).map_err(|f| anyhow!("{f}"))?;
    let built = loaded.build().map_err(|f| anyhow!("{f}"))?;
    Ok((Opened { loaded, built, name }, young))
}

/// The same character by another model.
fn remodelled(opened: &Opened, model: &str) -> Result<Opened> {
    let mut loaded = opened.loaded.clone();
    let text = loaded.scene.to_toml();
    let body = &loaded.scene.body[0].name;
    let sets = [format!("body.{body}.formulation={model}")];
    loaded =
        Scene::load_text(&text, &format!("{}.toml", opened.name), &sets, Path::new("")).map_err(|f| anyhow!("{f}"))?;
    let built = loaded.build().map_err(|f| anyhow!("{f}"))?;
    Ok(Opened { loaded, built, name: opened.name.clone() })
}

fn measure(opened: &Opened, model: &'static str, name: &'static str, dt: f64, young: f64, steps: usize) -> Result<Row> {
    let mut scene = opened.built.model.clone();
    scene.step.dt = dt;
    let body = &mut scene.bodies[0];
    body.material = goop::Material { young, ..body.material.card }.into();
    body.compile();
    let mut world = World::new(scene);
    if opened.loaded.scene.step.settle {
        world.settle()?;
    }
    let mut skin = Vec::new();
    let mut draw = |world: &World| {
        if let Some(sampled) = &world.model().bodies[0].sampled {
            skin = sampled.skinning.place(&world.state().bodies[0].positions);
        }
    };
    clock::measure(&mut world, 5, f64::INFINITY, &mut draw)?;
    let cost = clock::measure(&mut world, steps, 60.0, &mut draw)?;
    let row = world.row(0);
    let body = &world.model().bodies[0];
    let volume = body.shape.tetrahedra().map_or(0.0, |t| {
        let of = |x: &[glam::DVec3]| -> f64 {
            t.cells.iter().map(|c| goop::shape::tetra::volume(c.map(|n| x[n as usize]))).sum()
        };
        of(&world.state().bodies[0].positions) / of(&body.shape.rest_positions) - 1.0
    });
    let residue = if row.exchanged > 0.0 { row.residue() / row.exchanged } else { 0.0 };
    Ok(Row { model, name, dt, young, cost, rejected: world.state().rejected, residue, volume })
}
