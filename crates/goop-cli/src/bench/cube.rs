//! The cube of the thesis' table 6.1, and what a node costs as the cube outgrows the caches.

use super::clock::{self, Cost};
use crate::End;
use crate::args::Bench;
use anyhow::Result;
use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::material::{MaterialField, Raw};
use goop::model::StepSettings;
use goop::{Axes, Body, Material, Model, Shape, World};
use serde_json::{Value, json};

const DT: f64 = 1e-3;
/// Seconds for a second of the thesis' three models, by sampling rate.
pub const THESIS: [(usize, [f64; 3]); 2] = [(7, [4.06, 3.84, 53.9]), (13, [32.0, 18.0, 2236.0])];
/// The three models.
pub const MODELS: [(&str, Axes); 3] =
    [("mass spring", Axes::MASS_SPRING), ("reduced", Axes::REDUCED), ("implicit", Axes::IMPLICIT)];

/// `goop bench cube`
pub fn run(args: &Bench) -> Result<End> {
    let rates = args.n.map_or(vec![7, 11, 13, 15, 21, 31, 41, 51, 61], |n| vec![n.clamp(3, 200)]);
    if !args.json {
        println!("{} threads, load {:.1}; dt {DT} s", rayon::current_num_threads(), clock::load().unwrap_or(f64::NAN));
        println!(
            "s for a second of animation (thesis), ns for a node and step; of the implicit one for a node and iteration,"
        );
        println!("beside the bytes a product reads in all");
        println!("rate    nodes  mass spring                reduced                    implicit");
    }
    let mut rows: Vec<Value> = Vec::new();
    for rate in rates {
        let thesis = THESIS.iter().find(|t| t.0 == rate).map(|t| t.1);
        let mut line = format!("{rate:4} {:8}", rate.pow(3));
        let mut row = json!({ "rate": rate, "nodes": rate.pow(3) });
        for (m, (name, axes)) in MODELS.into_iter().enumerate() {
            let (body, matrix_bytes) = cube(rate, axes)?;
            let nodes = body.len() as f64;
            let cost = cost(body)?;
            let printed = thesis.map_or(String::new(), |t| format!("({})", t[m]));
            line += &format!(
                " {:8.3} {printed:7} {:7.1} ns",
                cost.wall_per_second(),
                1e9 * cost.wall / cost.steps as f64 / nodes
            );
            let mut object = cost.json();
            object["ns_per_node_and_step"] = (1e9 * cost.wall / cost.steps as f64 / nodes).into();
            if let Some(t) = thesis {
                object["thesis_seconds"] = t[m].into();
                object["times_faster_than_thesis"] = (t[m] / cost.wall_per_second()).into();
            }
            if cost.iterations > 0 {
                let each = 1e9 * cost.stages[2] / cost.iterations as f64 / nodes;
                line += &format!("  {each:6.1} ns {:5.1} MB", 1e-6 * matrix_bytes as f64);
                object["ns_per_node_and_iteration"] = each.into();
                object["product_bytes"] = matrix_bytes.into();
                object["bytes_per_node"] = (matrix_bytes as f64 / nodes).into();
            }
            row[name] = object;
        }
        if !args.json {
            println!("{line}");
        }
        rows.push(row);
    }
    if args.json {
        let object = json!({
            "workload": "cube", "dt": DT, "threads": rayon::current_num_threads(), "load": clock::load(),
            "wall_per_second": rows[0]["implicit"]["wall_per_second"],
            "cpu_per_second": rows[0]["implicit"]["cpu_per_second"],
            "rows": rows,
            "quality": { "worst_residual": rows.iter().filter_map(|r| r["implicit"]["worst_residual"].as_f64()).fold(0.0, f64::max) },
        });
        println!("{object}");
    }
    Ok(End::Done)
}

/// The cube hangs on its inner third, which is shaken; and what a product with its matrix reads (bytes).
pub fn cube(rate: usize, axes: Axes) -> Result<(Body, usize)> {
    let raw = Raw { k: 100.0, d: 10.0, c: 0.0, node_mass: 1.0, rest: None, shear: 100.0, bend: 0.0 };
    let material = MaterialField { raw: Some(raw), ..Material::default().into() };
    let mut body = Body::new("cube", Shape::block(DVec3::ONE, [rate; 3])?, material, axes);
    let inside = |&i: &u32| body.shape.rest_positions[i as usize].abs().max_element() < 0.167;
    let nodes: Vec<u32> = (0..body.len() as u32).filter(inside).collect();
    let mut pin = body.pin_at_start(&nodes);
    let key = |k: usize| Key {
        time: 0.05 * k as f64,
        position: 0.05 * DVec3::X * ((k % 2) as f64),
        rotation: DQuat::IDENTITY,
    };
    pin.motion = Motion::new((0..400).map(key).collect());
    body.pins.push(pin);
    let bytes = body.elastic.as_ref().map_or(0, |e| e.structure().product_bytes());
    Ok((body, bytes))
}

/// What some steps of it cost.
pub fn cost(body: Body) -> Result<Cost> {
    let step = StepSettings { dt: DT, adaptive: false, ..StepSettings::default() };
    let mut world = World::new(Model { bodies: vec![body], step, ..Model::default() });
    clock::measure(&mut world, 5, 2.0, |_| ())?;
    Ok(clock::measure(&mut world, 400, 1.5, |_| ())?)
}
