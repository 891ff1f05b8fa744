//! What a second of the thesis' cube costs, for its three models ([Chang] table 6.1), and part by part.
//!
//! ```text
//! cargo bench -p goop --bench cube                 rates 7, 13, 21, 31, 41, 61
//! cargo bench -p goop --bench cube -- 7 13         other rates
//! ```
//! A cube of 1 m with k 100, d 10 and unit masses hangs on its inner third, dt 0.001; the skeleton is shaken. Seconds for a second of
//! animation, and nanoseconds for a node and step. The last table is a bar of seven parts, solved whole and part by
//! part.

#![allow(clippy::print_stdout)] // its output is its purpose

use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::character::Parts;
use goop::material::{MaterialField, Raw};
use goop::model::StepSettings;
use goop::{Axes, Body, Material, Model, Shape, World};
use std::sync::Arc;
use std::time::Instant;

const DT: f64 = 1e-3;

fn raw() -> MaterialField {
    let raw = Raw { k: 100.0, d: 10.0, c: 0.0, node_mass: 1.0, rest: None, shear: 100.0, bend: 0.0 };
    MaterialField { raw: Some(raw), ..Material::default().into() }
}

fn shaken(body: &mut Body, inside: impl Fn(DVec3) -> bool) {
    let nodes: Vec<u32> = (0..body.len() as u32).filter(|&i| inside(body.shape.rest_positions[i as usize])).collect();
    let mut pin = body.pin_at_start(&nodes);
    let key = |k: usize| Key {
        time: 0.05 * k as f64,
        position: 0.05 * DVec3::X * ((k % 2) as f64),
        rotation: DQuat::IDENTITY,
    };
    pin.motion = Motion::new((0..400).map(key).collect());
    body.pins.push(pin);
}

/// Seconds a step takes.
fn cost(body: Body) -> f64 {
    let step = StepSettings { dt: DT, adaptive: false, ..StepSettings::default() };
    let mut world = World::new(Model { bodies: vec![body], step, ..Model::default() });
    let mut steps = |n: usize| {
        let from = Instant::now();
        for _ in 0..n {
            world.step().expect("stable at this step");
        }
        from.elapsed().as_secs_f64() / n as f64
    };
    steps(3);
    let first = steps(3);
    // A second of work, at least ten steps.
    let count = ((0.5 / first) as usize).clamp(5, 400);
    (0..2).map(|_| steps(count)).fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut rates: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).filter(|&n| n > 2).collect();
    if rates.is_empty() {
        rates = vec![7, 13, 21, 31, 41, 61];
    }
    println!(
        "{} threads; s for a second of animation at dt {DT}, and ns for a node and step",
        rayon::current_num_threads()
    );
    println!("rate    nodes   mass spring          reduced              implicit             reduced implicit");
    for rate in rates {
        let mut line = format!("{rate:4} {:8}", rate.pow(3));
        let implicit = Axes { integrator: goop::Integrator::BackwardEuler, ..Axes::REDUCED };
        for axes in [Axes::MASS_SPRING, Axes::REDUCED, Axes::IMPLICIT, implicit] {
            let shape = Shape::block(DVec3::ONE, [rate; 3]).expect("a block");
            let mut body = Body::new("cube", shape, raw(), axes);
            shaken(&mut body, |x| x.abs().max_element() < 0.167);
            let n = body.len() as f64;
            let seconds = cost(body);
            line += &format!(" {:9.3} s {:7.1} ns", seconds / DT, 1e9 * seconds / n);
        }
        println!("{line}");
    }
    println!("\nbar of 7 parts, implicit, stiff (E 1e6 Pa, dt {DT}): ms a step");
    println!("   nodes     whole  by parts");
    for side in [8, 16, 24] {
        let time = |by_parts: bool| {
            let shape = Shape::block(DVec3::new(1.4, 0.2, 0.2), [7 * side, side, side]).expect("a block");
            let card = Material { young: 1e6, density: 1000.0, damping: 0.05, ..Material::default() };
            let mut body = Body::new("bar", shape, card, Axes::IMPLICIT);
            body.parts = Some(Arc::new(Parts::along(&body.shape.rest_positions, 7)));
            body.by_parts = by_parts;
            shaken(&mut body, |x| x.x < -0.68);
            1e3 * cost(body)
        };
        println!("{:8} {:9.3} {:9.3}", 7 * side * side * side, time(false), time(true));
    }
}
