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

/// Catches a split that is unstable, gains energy, or ends somewhere else than the whole.
#[test]
fn by_parts_a_stiff_bar_hangs_as_it_does_whole() {
    let end = |by_parts: bool| {
        let mut body = bar(7, by_parts);
        let held: Vec<u32> =
            (0..body.len() as u32).filter(|&i| body.shape.rest_positions[i as usize].x < -0.69).collect();
        body.material.card.damping = 0.5;
        body.compile();
        let mut world = goop::World::new(fixed(body.pin(&held), 5e-3));
        run(&mut world, 6.0);
        assert!(share(&world.row(0)) < 0.01, "{by_parts}: {:.2e}", share(&world.row(0)));
        world
    };
    let (whole, parts) = (end(false), end(true));
    let sag = -whole.state().bodies[0].positions.iter().map(|x| x.y).fold(0.0, f64::min) - 0.1;
    assert!(distance(&whole, &parts) < 0.02 * sag, "{} of {sag}", distance(&whole, &parts));
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
