//! Obstacles made of triangles: bodies of every kind stay out of them.

#![allow(clippy::print_stdout)] // figures for whoever looks with --nocapture

mod common;

use common::{block, center, kinds, obstacle, run};
use glam::{DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::contact::{Obstacle, ObstacleMesh, ObstacleShape};
use goop::model::StepSettings;
use goop::{Body, Material, Model, Shape, World};
use std::f64::consts::TAU;

/// The lower part of a ball, open at the top.
fn bowl(radius: f64) -> Obstacle {
    let (rows, around) = (14u32, 40u32);
    let mut corners = vec![DVec3::ZERO];
    for row in 1..=rows {
        let (sin, cos) = (1.35 * f64::from(row) / f64::from(rows)).sin_cos();
        corners.extend((0..around).map(|k| {
            let (s, c) = (TAU * f64::from(k) / f64::from(around)).sin_cos();
            DVec3::new(radius * sin * c, radius * (1.0 - cos), radius * sin * s)
        }));
    }
    let at = |row: u32, k: u32| 1 + (row - 1) * around + k % around;
    let mut triangles: Vec<[u32; 3]> = (0..around).map(|k| [0, at(1, k), at(1, k + 1)]).collect();
    for row in 1..rows {
        for k in 0..around {
            triangles.push([at(row, k), at(row + 1, k), at(row + 1, k + 1)]);
            triangles.push([at(row, k), at(row + 1, k + 1), at(row, k + 1)]);
        }
    }
    let mesh = ObstacleMesh::new(corners, triangles, Some(0.006)).unwrap();
    assert!(!mesh.is_closed());
    obstacle(ObstacleShape::Mesh(mesh), 0.2)
}

/// A closed box of twelve triangles.
fn crate_of(size: DVec3) -> ObstacleMesh {
    let corners: Vec<DVec3> = (0..8)
        .map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2 & 1)) - 0.5)
        .map(|p| p * size)
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mesh = ObstacleMesh::new(corners, triangles, None).unwrap();
    assert!(mesh.is_closed());
    mesh
}

/// Catches a mesh that lets nodes through its edges, or pulls them: a ball put down on the side of a bowl rolls to and fro
/// in it, never leaves it, and ends at the bottom.
#[test]
fn a_ball_rolls_into_a_bowl() {
    for (name, axes, young) in kinds() {
        let card = Material { young, damping: 0.3, friction: 0.2, drag: 2.0, ..Material::default() };
        let mut ball = Body::new("ball", Shape::ball(0.05, [6; 3]).unwrap(), card, axes);
        ball.start.position = DVec3::new(0.16, 0.16, 0.02);
        let step = StepSettings { dt: 1.0 / 240.0, ..Default::default() };
        let mut world = World::new(Model { bodies: vec![ball], obstacles: vec![bowl(0.3)], step, ..Model::default() });
        let mut lowest = f64::INFINITY;
        while world.time() < 3.0 - 1e-9 {
            world.step().unwrap();
            lowest = lowest.min(center(&world).y);
        }
        let (end, row) = (center(&world), world.ledger());
        println!("{name}: ends at {end:.4}, lowest {lowest:.4}, deepest {:.1e}", row.worst_penetration);
        assert!(lowest > 0.03 && end.y < 0.09 && end.x.hypot(end.z) < 0.08, "{name}: {end} {lowest}");
        assert!(row.worst_penetration < 1e-3, "{name}: {}", row.worst_penetration);
        assert!(row.residue().abs() < 1e-3 * row.initial.abs().max(1e-3), "{name}: {}", row.residue());
    }
}

/// Catches a mesh whose tree does not move with it: a closed crate on rails pushes a block before it.
#[test]
fn a_moving_crate_pushes_a_block() {
    for (name, axes, young) in kinds() {
        let card = Material { young, damping: 0.3, friction: 0.1, ..Material::default() };
        let mut one = block(DVec3::splat(0.1), [4; 3], card, axes);
        one.start.position = DVec3::new(0.0, 0.051, 0.0);
        let key = |time: f64, x: f64| Key { time, position: DVec3::new(x, 0.1, 0.0), rotation: DQuat::IDENTITY };
        let mut pusher = obstacle(ObstacleShape::Mesh(crate_of(DVec3::new(0.1, 0.18, 0.3))), 0.1);
        pusher.motion = Motion::new(vec![key(0.0, -0.2), key(1.0, 0.2)]);
        let step = StepSettings { dt: 1.0 / 240.0, ..Default::default() };
        let obstacles = vec![obstacle(ObstacleShape::Plane, 0.1), pusher];
        let mut world = World::new(Model { bodies: vec![one], obstacles, step, ..Model::default() });
        run(&mut world, 1.0);
        let (end, row) = (center(&world), world.ledger());
        println!("{name}: ends at {end:.4}, deepest {:.1e}", row.worst_penetration);
        assert!(end.x > 0.29 && end.x < 0.45 && end.y > 0.045, "{name}: {end}");
        assert!(row.worst_penetration < 1.5e-3, "{name}: {}", row.worst_penetration);
    }
}

/// Catches tunnelling: what flies fast against a thin open wall stays on its side, whichever that is.
#[test]
fn nothing_flies_through_a_thin_wall() {
    let corner = |y: f64, z: f64| DVec3::new(0.0, y, z);
    let corners = vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)];
    let wall = ObstacleMesh::new(corners, vec![[0, 1, 2], [0, 2, 3]], Some(0.002)).unwrap();
    for (name, axes, young) in kinds() {
        for side in [1.0, -1.0] {
            let card = Material { young, damping: 0.3, ..Material::default() };
            let mut one = block(DVec3::splat(0.1), [3; 3], card, axes);
            one.start.position = DVec3::new(0.3 * side, 0.02, 0.01);
            one.start.velocity = DVec3::new(-30.0 * side, 0.0, 0.0);
            let step = StepSettings { dt: 1.0 / 120.0, ..Default::default() };
            let obstacles = vec![obstacle(ObstacleShape::Mesh(wall.clone()), 0.1)];
            let model = Model { bodies: vec![one], obstacles, step, gravity: DVec3::ZERO, ..Model::default() };
            let mut world = World::new(model);
            run(&mut world, 0.1);
            let least = world.state().bodies[0].positions.iter().map(|x| side * x.x).fold(f64::INFINITY, f64::min);
            assert!(least > 0.0, "{name}: {least}");
        }
    }
}
