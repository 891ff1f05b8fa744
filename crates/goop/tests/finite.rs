//! Finite elements against known answers: pulled block, hanging bar, heavy cantilever, a
//! silicone beam that was measured.

mod common;

use common::*;
use glam::{DQuat, DVec3};
use goop::animate::Course;
use goop::material::MaterialField;
use goop::model::{ElasticityKind, Load};
use goop::{Axes, Body, Integrator, Material, Shape, World};

const G: f64 = 9.81;

/// A block of tetrahedra: every cell of a grid cut into six.
fn cut(shape: &Shape) -> Shape {
    let grid = shape.grid().unwrap();
    let mut cells = Vec::new();
    for c in grid.cells() {
        for [a, b] in [[1, 2], [2, 4], [4, 1], [2, 1], [1, 4], [4, 2]] {
            cells.push([c[0], c[a], c[a | b], c[7]]);
        }
    }
    Shape::from_tetrahedra(shape.rest_positions.clone(), cells, Vec::new(), Default::default()).unwrap()
}

/// What each node of a square end gets of an even pull: thirds of triangles, or quarters of quads.
fn shares(shape: &Shape, nodes: &[u32], triangles: bool) -> Vec<f64> {
    let x = &shape.rest_positions;
    let mut out = vec![0.0; nodes.len()];
    for t in &shape.triangles {
        let [a, b, c] = t.map(|n| x[n as usize]);
        let places = t.map(|n| nodes.binary_search(&n));
        if let [Ok(i), Ok(j), Ok(k)] = places {
            let third = (b - a).cross(c - a).length() / 6.0 / 0.01;
            [i, j, k].iter().for_each(|&i| out[i] += third);
        }
    }
    if !triangles {
        for (share, &n) in out.iter_mut().zip(nodes) {
            let p = x[n as usize];
            *share = 0.25 * 0.5f64.powi([p.y, p.z].iter().filter(|c| c.abs() > 0.049).count() as i32);
        }
    }
    out
}

/// Catches a stiffness or a Poisson's ratio that is not the card's.
#[test]
fn a_pulled_block_stretches_by_hooke_and_narrows_by_poisson() {
    for poisson in [0.0, 0.3, 0.45] {
        let material = Material { young: 1e5, poisson, damping: 0.0, ..Material::default() };
        let grid = Shape::block(DVec3::new(0.4, 0.1, 0.1), [9, 3, 3]).unwrap();
        let [low, high] = [false, true].map(|h| grid.side(0, h));
        let corner = grid.corner(&[0, 0, 0]).unwrap();
        for (name, shape) in [("hexahedra", grid.clone()), ("tetrahedra", cut(&grid))] {
            let mut body = Body::new("block", shape, material, Axes::FINITE);
            // Held so that it may narrow: slides along x = 0 by mirror forces, one corner fast.
            let force = 1e-3 * 1e5 * 0.01;
            for (nodes, sign) in [(&low, -1.0), (&high, 1.0)] {
                for (&n, share) in nodes.iter().zip(shares(&body.shape, nodes, name == "tetrahedra")) {
                    let newtons = DVec3::new(sign * force * share, 0.0, 0.0);
                    body.loads.push(Load::Force { nodes: vec![n], newtons, course: Course::default() });
                }
            }
            let mut body = body.pin(&[corner]);
            body.solver.tolerance = 1e-10;
            let mut model = fixed(body, 1.0 / 240.0);
            model.gravity = DVec3::ZERO;
            let mut world = World::new(model);
            world.settle().unwrap();
            let x = &world.state().bodies[0].positions;
            let span = |nodes: &[u32], axis: usize| {
                nodes.iter().map(|&n| x[n as usize][axis]).sum::<f64>() / nodes.len() as f64
            };
            let long = (span(&high, 0) - span(&low, 0)) / 0.4 - 1.0;
            let [front, back] = [true, false].map(|h| grid.side(1, h));
            let wide = (span(&front, 1) - span(&back, 1)) / 0.1 - 1.0;
            eprintln!("{name}, ν {poisson}: stretch {long:.6e}, across {wide:.6e}");
            // 1e-3 of strain: the law's own curvature is of that order.
            assert!((long / 1e-3 - 1.0).abs() < 3e-3, "{name}: {long}");
            assert!((wide + poisson * 1e-3).abs() < 3e-6, "{name}: {wide}");
        }
    }
}

/// Catches a mass or stiffness that changes with the grid.
#[test]
fn a_hanging_bar_stretches_by_its_weight() {
    let (young, length) = (1e6, 1.0);
    let material = Material { young, poisson: 0.3, damping: 0.0, ..Material::default() };
    let exact = material.density * G * length * length / (2.0 * young);
    for n in [9, 17, 33] {
        let across = (n - 1) / 8 + 1;
        let grid = Shape::block(DVec3::new(length, 0.125, 0.125), [n, across, across]).unwrap();
        let [top, bottom] = [false, true].map(|h| grid.side(0, h));
        for (name, shape) in [("hexahedra", grid.clone()), ("tetrahedra", cut(&grid))] {
            let mut body = Body::new("bar", shape, material, Axes::FINITE);
            body.start.rotation = DQuat::from_rotation_z(-std::f64::consts::FRAC_PI_2);
            let body = body.pin(&top);
            let mut world = World::new(fixed(body, 1.0 / 240.0));
            let height = |world: &World| {
                bottom.iter().map(|&i| world.state().bodies[0].positions[i as usize].y).sum::<f64>()
                    / bottom.len() as f64
            };
            let before = height(&world);
            assert!(world.settle().unwrap() < 1e-6);
            let off = (before - height(&world)) / exact - 1.0;
            eprintln!("hanging bar of {name}, {n} nodes: off by {:.2} %", 100.0 * off);
            assert!(n < 33 || off.abs() < 0.02, "{off}");
        }
    }
}

/// Drop over reach of a heavy cantilever of slenderness 20, on so many cells along and across.
fn cantilever(gamma: f64, along: usize, across: usize, tetrahedra: bool) -> f64 {
    let (length, h) = (1.0f64, 0.05);
    let density = 1000.0;
    // Γ = ρ A g L³ / (E I), I = h⁴/12.
    let young = 12.0 * density * G * length.powi(3) / (gamma * h * h);
    let material = Material { young, density, poisson: 0.0, damping: 0.0, ..Material::default() };
    let grid = Shape::block(DVec3::new(length, h, h), [along + 1, across + 1, across + 1]).unwrap();
    let ends = [false, true].map(|high| grid.side(0, high));
    let body = Body::new("beam", if tetrahedra { cut(&grid) } else { grid }, material, Axes::FINITE).pin(&ends[0]);
    let mut world = World::new(fixed(body, 1.0 / 60.0));
    let mean = |world: &World, k: usize| {
        let x = &world.state().bodies[0].positions;
        ends[k].iter().map(|&i| x[i as usize]).sum::<DVec3>() / ends[k].len() as f64
    };
    let left = world.settle().unwrap();
    assert!(left < 1e-5, "{left}");
    let tip = mean(&world, 1) - mean(&world, 0);
    -tip.y / tip.x
}

/// Catches shear locking, a bending stiffness that is not E I, and a wrong limit.
#[test]
fn a_heavy_cantilever_bends_like_the_elastica() {
    for (gamma, exact) in [(1.0, 0.124562), (10.0, 1.066802)] {
        let found: Vec<f64> = [5, 10, 20].map(|n| cantilever(gamma, n, 1, false)).to_vec();
        let fine = cantilever(gamma, 40, 2, false);
        let order = ((found[0] - found[1]) / (found[1] - found[2])).abs().log2();
        let limit = found[2] + (found[2] - found[1]) / (2f64.powf(order.clamp(1.0, 4.0)) - 1.0);
        let off: Vec<String> = found.iter().map(|f| format!("{:+.3} %", 100.0 * (f / exact - 1.0))).collect();
        eprintln!(
            "Γ {gamma}, 5, 10, 20 hexahedra along: off by {}, order {order:.2}, limit {:+.3} %; 40 × 2 × 2 {:+.3} %",
            off.join(", "),
            100.0 * (limit / exact - 1.0),
            100.0 * (fine / exact - 1.0)
        );
        assert!((fine / exact - 1.0).abs() < 0.01, "{fine}");
        assert!(order >= 1.8, "{order}");
        assert!((limit / exact - 1.0).abs() < 0.02, "{limit}");
    }
}

/// Says what linear tetrahedra do: too stiff, converging with second order.
#[test]
fn tetrahedra_bend_too_stiffly_and_converge() {
    let exact = 0.124562;
    let found: Vec<f64> = [1, 2, 4].map(|n| 1.0 - cantilever(1.0, 20 * n, n, true) / exact).to_vec();
    eprintln!("Γ 1, tetrahedra 1, 2, 4 across: too stiff by {found:.3?}");
    assert!(found[0] > found[1] && found[1] > found[2] && found[2] < 0.2, "{found:?}");
}

/// A 30 × 30 × 100 mm beam of silicone, clamped at one end: its tip sank 6.47 to 6.84 mm.
#[test]
fn a_silicone_beam_sinks_as_measured() {
    for (poisson, n) in [(0.45, 4), (0.499, 2), (0.499, 4)] {
        let material = Material { young: 263_824.0, poisson, density: 1070.0, damping: 0.0, ..Material::default() };
        let shape = Shape::block(DVec3::new(0.1, 0.03, 0.03), [n * 10 / 3 + 1, n + 1, n + 1]).unwrap();
        let body = Body::new("beam", shape, material, Axes::FINITE);
        let body = {
            let end = body.shape.side(0, false);
            body.pin(&end)
        };
        let tip = body.shape.corner(&[1, 1, 0]).unwrap();
        let mut model = fixed(body, 1.0 / 240.0);
        model.gravity = DVec3::new(0.0, -9.80709, 0.0);
        let mut world = World::new(model);
        let before = world.state().bodies[0].positions[tip as usize].y;
        assert!(world.settle().unwrap() < 1e-5);
        let drop = 1e3 * (before - world.state().bodies[0].positions[tip as usize].y);
        eprintln!(
            "silicone beam, ν {poisson}, {n} cells across: sinks {drop:.2} mm, measured 6.66 ± 0.19, COMSOL 6.74"
        );
        assert!((drop / 6.66 - 1.0).abs() < 0.1, "{drop}");
    }
}

/// Catches an integrator that does not take the elements, energy from nowhere, momenta that drift.
#[test]
fn every_integrator_takes_finite_elements() {
    for (name, integrator) in NODAL {
        let material = Material { young: 3e4, damping: 0.1, ..Material::default() };
        let axes = Axes { elasticity: ElasticityKind::Finite, ..nodal(integrator) };
        axes.check().unwrap();
        let shape = cut(&Shape::block(DVec3::new(0.3, 0.2, 0.2), [4, 3, 3]).unwrap());
        let mut body = Body::new("block", shape, material, axes);
        body.start.spin = DVec3::new(3.0, 7.0, 2.0);
        let mut world = weightless(body, 1e-4);
        deform(&mut world, 0.01);
        let (p0, l0) = momenta(&world);
        let start = world.row(0).kinetic + world.row(0).elastic;
        run(&mut world, 0.2);
        let (p1, l1) = momenta(&world);
        let row = world.row(0);
        eprintln!(
            "{name}: energy {start:.4} → {:.4} J, L off by {:.1e}",
            row.kinetic + row.elastic,
            (l1 - l0).length() / l0.length()
        );
        assert!((p1 - p0).length() < 1e-9 * l0.length());
        assert!((l1 - l0).length() < 1e-3 * l0.length(), "{name}");
        // Taylor's scheme gains energy wherever dampers do not outweigh it.
        let gain = if integrator == Integrator::ExplicitTaylor { 1.01 } else { 1.001 };
        assert!(row.kinetic + row.elastic < start * gain, "{name}");
    }
}

/// Catches a linearisation in which a stiff body that turns resists its own turning.
#[test]
fn stiff_elements_turn_like_a_rigid_body() {
    for young in [1e4, 1e7, 1e10] {
        let at = |axes: Axes| {
            let material = Material { young, damping: 0.05, ..Material::default() };
            let mut body = block(DVec3::new(0.4, 0.2, 0.3), [5, 4, 5], material, axes);
            body.start.spin = DVec3::new(1.0, 2.0, -1.5);
            let mut world = World::new(fixed(body, 1.0 / 240.0));
            run(&mut world, 1.0);
            (center(&world), orientation(&world), world)
        };
        let (soft, rigid) = (at(Axes::FINITE), at(Axes::RIGID));
        let (off, twist) = (soft.0.distance(rigid.0), angle_between(soft.1, rigid.1));
        eprintln!("{young:.0e} Pa: centre off by {off:.1e} m, turned {twist:.1e} rad apart");
        assert!(soft.2.state().bodies[0].positions.iter().all(|x| x.is_finite()));
        assert!(young < 1e6 || twist < 0.03, "{twist}");
    }
}

/// Catches cells that stay inside out: a block crumpled at random finds back to its shape.
#[test]
fn a_crumpled_block_recovers() {
    let material = Material { young: 1e5, poisson: 0.4, damping: 0.3, ..Material::default() };
    for tetrahedra in [false, true] {
        let grid = Shape::block(DVec3::splat(0.2), [4; 3]).unwrap();
        let shape = if tetrahedra { cut(&grid) } else { grid };
        let mut body = Body::new("block", shape.clone(), MaterialField::uniform(material), Axes::FINITE);
        body.newton = 3;
        let mut model = fixed(body, 1.0 / 240.0);
        model.gravity = DVec3::ZERO;
        let mut world = World::new(model);
        let mut state = world.state().clone();
        let mut seed = 5u64;
        for x in &mut state.bodies[0].positions {
            let mut next = || {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            *x = 0.2 * DVec3::new(next(), next(), next());
        }
        world.restore(state);
        run(&mut world, 3.0);
        let row = world.row(0);
        eprintln!("crumpled, tetrahedra {tetrahedra}: worst edge off by {:.1e}", row.worst_stretch);
        assert!(row.worst_stretch < 0.02, "{}", row.worst_stretch);
    }
}

/// Catches results that depend on the number of threads.
#[test]
fn the_same_bytes_on_one_thread_and_on_two() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let shape = cut(&Shape::block(DVec3::new(0.5, 0.3, 0.3), [21, 15, 15]).unwrap());
            let material = Material { young: 2e4, ..Material::default() };
            let body =
                Body::new("block", shape, material, Axes { integrator: Integrator::BackwardEuler, ..Axes::FINITE });
            let body = body.pin(&[0, 1, 2]);
            let mut world = World::new(fixed(body, 1.0 / 60.0));
            (0..3).for_each(|_| {
                world.step().unwrap();
            });
            world.state().bodies[0].positions.clone()
        })
    };
    assert!(run(1) == run(2));
}

/// Catches a shape that an elasticity cannot fill and that would fall apart without a word.
#[test]
fn shapes_without_a_volume_are_refused() {
    let sheet = Shape::rectangle([1.0; 2], [3, 3]).unwrap();
    let block = Shape::block(DVec3::ONE, [3; 3]).unwrap();
    assert!(Axes::FINITE.check_shape(&sheet).unwrap_err().contains("fill a solid"));
    assert!(Axes::FINITE.check_shape(&block).is_ok() && Axes::FINITE.check_shape(&cut(&block)).is_ok());
    assert!(Axes::PRIMAL.check_shape(&cut(&block)).is_err() && Axes::IMPLICIT.check_shape(&cut(&block)).is_ok());
    let body = Body::new("sheet", sheet, Material::default(), Axes::FINITE);
    assert!(body.elastic.unwrap().limits().iter().any(|l| l.contains("falls apart")));
}
