//! Implicit steps solved part by part (C6): what is gained and what it costs.

mod common;

use common::*;
use glam::DVec3;
use goop::character::Parts;
use goop::{Axes, Body, Edit, Material};
use std::sync::Arc;

fn bar(parts: usize, by_parts: bool) -> Body {
    let card = Material { young: 1e6, density: 1000.0, damping: 0.05, ..Material::default() };
    let mut body = block(DVec3::new(1.4, 0.2, 0.2), [29, 4, 4], card, Axes::IMPLICIT);
    body.parts = Some(Arc::new(Parts::along(&body.shape.rest_positions, parts)));
    body.by_parts = by_parts;
    body
}

/// Which parts have felt a knock at one end after so many steps.
fn felt(by_parts: bool, steps: usize) -> Vec<bool> {
    let body = bar(7, by_parts);
    let main: Vec<u32> = (0..body.len()).map(|i| body.parts.as_ref().unwrap().main(i)).collect();
    let end: Vec<u32> = (0..body.len() as u32).filter(|&i| body.shape.rest_positions[i as usize].x > 0.69).collect();
    // Held where no part is, so that momenta need no correction: at the knocked end.
    let mut world = weightless(body, 5e-3);
    world.edit(&Edit::Pin { body: 0, nodes: vec![end[0]], stiffness: Some(1.0) });
    world.edit(&Edit::Impulse { body: 0, nodes: end, newton_seconds: 0.01 * DVec3::X });
    for _ in 0..steps {
        world.step().unwrap();
    }
    let v = &world.state().bodies[0].velocities;
    (0..7).map(|p| (0..v.len()).any(|i| main[i] == p && v[i] != DVec3::ZERO)).collect()
}

/// Catches parts that are solved together, or that never hear of one another. The thesis: seven steps from hand to
/// foot, one for the whole.
#[test]
fn by_parts_an_effect_travels_one_part_a_step() {
    for steps in 1..=7 {
        let reached = felt(true, steps).iter().filter(|f| **f).count();
        assert_eq!(reached, steps, "after {steps} steps");
    }
    assert!(felt(false, 1).iter().all(|f| *f));
}

/// Catches a split that is unstable, gains energy, rests somewhere else than the whole, or does not tend to it. Long steps
/// make it sluggish: a part moves as if its neighbours were held.
#[test]
fn by_parts_a_bar_rests_as_it_does_whole_and_moves_alike_with_short_steps() {
    let world = |by_parts: bool, dt: f64| {
        let body = bar(7, by_parts);
        let left = |i: &u32| body.shape.rest_positions[*i as usize].x < -0.69;
        let held: Vec<u32> = (0..body.len() as u32).filter(left).collect();
        goop::World::new(fixed(body.pin(&held), dt))
    };
    let (mut whole, mut parts) = (world(false, 5e-3), world(true, 5e-3));
    whole.settle().unwrap();
    parts.settle().unwrap();
    run(&mut parts, 1.0);
    assert!(distance(&whole, &parts) < 1e-4, "{}", distance(&whole, &parts));
    let differences: Vec<f64> = [2e-3, 1e-3, 5e-4, 2.5e-4]
        .iter()
        .map(|&dt| {
            let (mut whole, mut parts) = (world(false, dt), world(true, dt));
            run(&mut whole, 0.2);
            run(&mut parts, 0.2);
            assert!(share(&parts.row(0)) < 0.01, "{dt}: {:.2e}", share(&parts.row(0)));
            distance(&whole, &parts)
        })
        .collect();
    assert!(orders(&differences).iter().all(|o| *o > 0.5), "{}", list(&differences));
}

/// Catches results that depend on which part is solved first.
#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = goop::World::new(fixed(bar(7, true).pin(&[0, 1, 2]), 5e-3));
            run(&mut world, 0.1);
            world.state().hash()
        })
    };
    assert_eq!(on(1), on(3));
}
