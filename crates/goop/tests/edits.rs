//! Edits made while time runs: they act as they say, and a model that lists them as
//! events goes the same way to the bit.

use glam::DVec3;
use goop::material::MaterialField;
use goop::{Axes, Body, Edit, Material, Model, Shape, World};

fn model(axes: Axes) -> Model {
    let shape = Shape::rectangle([0.6, 0.6], [9, 9]).unwrap();
    let corner = shape.corners()[0];
    let sheet = Body::new("sheet", shape, Material { drag: 0.2, ..Material::default() }, axes).pin(&[corner]);
    Model { bodies: vec![sheet], ..Model::default() }
}

/// Catches a drag that leaves a spring behind at every move of the mouse.
#[test]
fn a_grab_of_the_same_nodes_moves_and_other_grabs_stay() {
    let mut world = World::new(model(Axes::IMPLICIT));
    let grab = |node, x| Edit::Grab { body: 0, nodes: vec![node], to: DVec3::new(x, 0.5, 0.0), stiffness: 20.0 };
    for k in 0..10 {
        world.edit(&grab(40, 0.01 * k as f64));
    }
    world.edit(&grab(44, 0.3));
    let grabs: Vec<_> = world.model().bodies[0].pins.iter().filter(|p| p.grab).collect();
    assert_eq!(grabs.len(), 2);
    assert_eq!(grabs[0].targets[0].x, 0.09);
    world.edit(&Edit::Release { body: 0 });
    assert!(world.model().bodies[0].pins.iter().all(|p| !p.grab));
}

/// Catches an edit that takes effect at another place in the step when it is an event, and
/// one that lands before events of the same time.
#[test]
fn recorded_edits_replay_to_the_same_bits() {
    for axes in [Axes::IMPLICIT, Axes::SPRING, Axes::HYBRID, Axes::PRIMAL] {
        let mut scene = model(axes);
        scene.step.dt = 1.0 / 128.0; // step 32 falls on the event
        scene.events = vec![(0.25, Edit::Gravity(DVec3::new(0.0, -3.0, 1.0)))];
        let mut live = World::new(scene.clone());
        let node = vec![40];
        for step in 0..96 {
            if (16..48).contains(&step) && step % 3 == 0 {
                let to = DVec3::new(0.1, 0.01 * step as f64, 0.2);
                live.record(Edit::Grab { body: 0, nodes: node.clone(), to, stiffness: 5.0 });
            }
            match step {
                32 => live.record(Edit::Pin { body: 0, nodes: vec![72], stiffness: None }),
                48 => live.record(Edit::Release { body: 0 }),
                50 => live.record(Edit::Thrust { body: 0, nodes: vec![80], newtons: DVec3::Y }),
                60 => {
                    let card = Material { young: 3e5, drag: 0.2, ..Material::default() };
                    live.record(Edit::Material { body: 0, material: Box::new(MaterialField::uniform(card)) });
                }
                70 => live.record(Edit::Thrust { body: 0, nodes: vec![80], newtons: DVec3::ZERO }),
                _ => {}
            }
            live.step().unwrap();
        }
        scene.events = live.model().events.clone();
        let mut again = World::new(scene);
        while again.time() < live.time() {
            again.step().unwrap();
        }
        assert_eq!(again.state().hash(), live.state().hash(), "{axes:?}");
    }
}

/// Catches a thrust that is not F = m a, goes on after it ended, or is missing in the account.
#[test]
fn a_thrust_accelerates_the_body_by_force_over_mass_until_it_ends() {
    for axes in [Axes::RIGID, Axes::IMPLICIT, Axes::HYBRID] {
        let shape = Shape::block(DVec3::splat(0.2), [3, 3, 3]).unwrap();
        let body = Body::new("cube", shape, Material { young: 1e7, ..Material::default() }, axes);
        let mass = body.mass();
        let nodes: Vec<u32> = (0..body.len() as u32).collect();
        let mut world = World::new(Model { gravity: DVec3::ZERO, bodies: vec![body], ..Model::default() });
        world.record(Edit::Thrust { body: 0, nodes: nodes.clone(), newtons: DVec3::new(mass, 0.0, 0.0) });
        while world.time() < 0.5 {
            world.step().unwrap();
        }
        let speed = world.row(0).momentum.x / mass;
        assert!((speed - world.time()).abs() < 1e-6, "{axes:?}: {speed}");
        world.record(Edit::Thrust { body: 0, nodes, newtons: DVec3::ZERO });
        while world.time() < 0.8 {
            world.step().unwrap();
        }
        assert!((world.row(0).momentum.x / mass - speed).abs() < 1e-9, "{axes:?}");
        let row = world.row(0);
        assert!(row.residue().abs() < 1e-3 * row.exchanged, "{axes:?}: {} of {}", row.residue(), row.exchanged);
    }
}
