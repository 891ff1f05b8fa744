//! Random scenes that are valid by construction.
#![allow(dead_code)] // each test file uses its own part

use goop_scene::presets::presets;
use goop_scene::read::{Axis, Topology};
use goop_scene::reader::Word;
use goop_scene::scene::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Sizes over many decades, with all their digits.
fn length() -> impl Strategy<Value = f64> {
    (-6.0..3.0f64).prop_map(|power| 10f64.powf(power))
}

fn positive() -> impl Strategy<Value = f64> {
    (-2.0..14.0f64).prop_map(|power| 10f64.powf(power))
}

fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), -10.0..10.0f64, -1e9..1e9f64, (-300.0..-10.0f64).prop_map(|power| 10f64.powf(power))]
}

fn vector() -> impl Strategy<Value = Vector> {
    [coordinate(), coordinate(), coordinate()]
}

fn slow() -> impl Strategy<Value = Vector> {
    [-1e6..1e6f64, -1e6..1e6f64, -1e6..1e6f64]
}

fn word<W: Word + std::fmt::Debug>() -> impl Strategy<Value = W> {
    select(W::WORDS).prop_map(|(_, choice)| choice)
}

fn shape() -> impl Strategy<Value = Shape> {
    let n = || 3u32..9;
    prop_oneof![
        (length(), n()).prop_map(|(size, n)| Shape::Line { size, nodes: [n] }),
        (length(), 0.1..359.0f64, n()).prop_map(|(radius, angle, n)| Shape::Arc { radius, angle, nodes: [n] }),
        (length(), n()).prop_map(|(radius, n)| Shape::Hoop { radius, nodes: [n] }),
        (length(), length(), 0.1..9.0f64, n()).prop_map(|(radius, height, turns, n)| Shape::Helix {
            radius,
            height,
            turns,
            nodes: [n]
        }),
        (vec(vector(), 3..6), any::<bool>(), n()).prop_map(|(mut points, closed, n)| {
            points.iter_mut().enumerate().for_each(|(index, point)| point[0] = index as f64);
            Shape::Spline { points, closed, nodes: [n] }
        }),
        ([length(), length()], [n(), n()]).prop_map(|(size, nodes)| Shape::Rectangle { size, nodes }),
        (length(), [n(), n()]).prop_map(|(radius, nodes)| Shape::Disc { radius, nodes }),
        (length(), length(), [n(), n()]).prop_map(|(radius, height, nodes)| Shape::Cylinder { radius, height, nodes }),
        (length(), [n(), n()]).prop_map(|(radius, nodes)| Shape::Sphere { radius, nodes }),
        (length(), 0.1..0.9f64, [n(), n()]).prop_map(|(radius, share, nodes)| Shape::Torus {
            radius,
            tube: radius * share,
            nodes
        }),
        (vec([0.1..1.0f64, 0.5..1.0f64], 1..5), (0u32..5, 0.0..0.9f64, -9.0..9.0f64), [n(), n()]).prop_map(
            |(middle, (lobes, depth, bend), nodes)| {
                let ring = |(k, [r, y]): (usize, &[f64; 2])| [*r, 2.0 * k as f64 + *y];
                let mut profile = vec![[0.0, 0.0]];
                profile.extend(middle.iter().enumerate().map(ring));
                profile.push([0.0, 2.0 * middle.len() as f64]);
                Shape::Revolve { profile, lobes, depth, bend, nodes }
            }
        ),
        (vec(vec(vector(), 3), 2..5), [n(), n()]).prop_map(|(net, nodes)| Shape::Bezier { net, nodes }),
        ([length(), length(), length()], [n(), n(), n()], any::<bool>())
            .prop_map(|(size, nodes, tetrahedra)| Shape::Box { size, nodes, tetrahedra }),
        (length(), [n(), n(), n()]).prop_map(|(radius, nodes)| Shape::Ball { radius, nodes }),
        ("[a-z]{1,8}(/[a-zé ]{1,8})?", any::<bool>())
            .prop_map(|(name, weld)| Shape::Mesh { file: format!("{name}.obj"), weld }),
        (
            ("[a-z]{1,8}", 50u32..9999, option::of(2.0..1000.0f64), option::of(length())),
            (word::<CharacterLattice>(), word::<InsideTest>(), word::<SkinWay>()),
            select(vec![None, Some(SkeletonFrom::Rig), Some(SkeletonFrom::Auto)]),
        )
            .prop_map(|((name, nodes, rate, height), (lattice, inside, skin), skeleton)| {
                let nodes = if rate.is_some() { 6000 } else { nodes };
                Shape::Character { file: format!("{name}.glb"), nodes, rate, lattice, inside, skin, skeleton, height }
            }),
    ]
}

/// Selections that a shape allows.
fn selection(shape: &Shape) -> BoxedStrategy<Selection> {
    let grid = Topology::of(shape);
    let axes = grid.axes.len();
    let mut choices = vec![
        Just(Selection::All).boxed(),
        Just(Selection::Center).boxed(),
        (vector(), vector())
            .prop_map(|(a, b)| {
                Selection::Box([0, 1].map(|end| {
                    [0, 1, 2].map(|axis: usize| if end == 0 { a[axis].min(b[axis]) } else { a[axis].max(b[axis]) })
                }))
            })
            .boxed(),
        (vector(), length()).prop_map(|(center, radius)| Selection::Sphere { center, radius }).boxed(),
        vec(0u32..3, 1..4).prop_map(Selection::Index).boxed(),
        vector().prop_map(Selection::Nearest).boxed(),
    ];
    if grid.kind == "character" {
        choices.push((-1.0..0.5f64, 0.5..1.0f64).prop_map(|(low, high)| Selection::Depth([low, high])).boxed());
        choices.push("\\PC{1,12}".prop_map(Selection::Part).boxed());
    }
    if grid.is_mesh() {
        choices.push("\\PC{1,12}".prop_map(Selection::Group).boxed());
    } else {
        let uv = (vec(0.0..0.5f64, axes), vec(0.5..=1.0f64, axes));
        choices.push(uv.prop_map(|(low, high)| Selection::Uv([low, high])).boxed());
        let open: Vec<Side> = Side::WORDS
            .iter()
            .enumerate()
            .filter(|(index, _)| grid.axes.get(index / 2) == Some(&Axis::Open))
            .map(|(_, (_, side))| *side)
            .collect();
        if !open.is_empty() {
            choices.push(select(open).prop_map(Selection::Edge).boxed());
        }
        if !grid.axes.contains(&Axis::Periodic) {
            choices.push(Just(Selection::Corners).boxed());
            choices.push(vec(0u8..2, axes).prop_map(Selection::Corner).boxed());
        }
    }
    if grid.rim != Some(false) {
        choices.push(Just(Selection::Rim).boxed());
    }
    proptest::strategy::Union::new(choices).boxed()
}

fn keyframes() -> impl Strategy<Value = Vec<Key>> {
    vec((0.01..100.0f64, vector(), [-1e6..1e6f64, 0.0..1.0f64, 0.0..1.0f64]), 0..3).prop_map(|list| {
        let mut time = 0.0;
        let frame = |(gap, position, rotation)| {
            time += gap;
            Key { time, position, rotation }
        };
        list.into_iter().map(frame).collect()
    })
}

fn course() -> impl Strategy<Value = Vec<[f64; 2]>> {
    vec((0.01..9.0f64, -2.0..2.0f64), 0..4).prop_map(|list| {
        let mut time = 0.0;
        list.into_iter()
            .map(|(gap, factor)| {
                time += gap;
                [time, factor]
            })
            .collect()
    })
}

fn material(shape: &Shape) -> impl Strategy<Value = Material> + use<> {
    let names: Vec<String> = presets().iter().map(|preset| preset.name.to_string()).collect();
    let axes = Topology::of(shape).axes.len().max(1);
    let raw = (positive(), 0.0..1e3f64, positive(), option::of(vec(length(), axes)), 0.0..1e9f64).prop_map(
        |(k, d, node_mass, rest, shear)| Raw { k, d, c: d / 3.0, node_mass: node_mass / 1e3, rest, shear, bend: d },
    );
    let weights = (0.0..1e9f64, [0.0..1e9f64, 0.0..1.0f64, 0.0..1e-3f64]).prop_map(|(zero, first)| Weights {
        zero,
        first,
        shear: first,
        second: first,
        mixed: first,
        twist: zero,
    });
    let region = (selection(shape), option::of(1.0..1e9f64), option::of(positive()), option::of(0.0..10.0f64));
    let regions = vec(region, 0..3);
    (
        option::of(select(names)),
        (1e-9..1e9f64, positive(), -0.99..0.49f64, length(), length()),
        (0.0..10.0f64, 0.0..1e6f64, 0.0..100.0f64),
        (option::of(raw), option::of(weights)),
        (option::of(0.0..1e3f64), option::of(1e-3..1e3f64)),
        regions,
    )
        .prop_map(
            |(
                preset,
                (density, young, poisson, thickness, radius),
                (damping, drag, friction),
                (raw, weights),
                (strain, limit),
                list,
            )| {
                let k = raw.as_ref().map(|raw| raw.k);
                let region = |(at, density, young, damping)| Region {
                    at,
                    density,
                    young,
                    thickness: young,
                    damping,
                    k,
                    weight: weights.as_ref().and(density),
                };
                let mut region: Vec<Region> = list.into_iter().map(region).collect();
                region.iter_mut().for_each(|region| region.thickness = region.thickness.map(|_| 0.1));
                Material {
                    preset,
                    density,
                    young,
                    poisson,
                    thickness,
                    radius,
                    damping,
                    drag,
                    friction,
                    restitution: friction.min(1.0),
                    r#yield: strain,
                    flow: limit,
                    flow_limit: limit,
                    tear: limit,
                    raw,
                    weights,
                    region,
                }
            },
        )
}

type Words = (Option<Formulation>, Option<Elasticity>, Option<Coordinates>, Option<Integrator>);

fn axes() -> impl Strategy<Value = Words> {
    let nodal = select(vec![
        Integrator::ExplicitDiagonal,
        Integrator::ExplicitTaylor,
        Integrator::SymplecticEuler,
        Integrator::BackwardEuler,
        Integrator::ImplicitMidpoint,
        Integrator::Bdf2,
    ]);
    prop_oneof![
        Just((Some(Formulation::Rigid), None, None, None)),
        Just((None, Some(Elasticity::None), Some(Coordinates::Rigid), Some(Integrator::Momentum))),
        (select(vec![Formulation::Spring, Formulation::MassSpring, Formulation::Implicit]), option::of(nodal.clone()))
            .prop_map(|(formulation, integrator)| (Some(formulation), None, None, integrator)),
        select(vec![None, Some(Elasticity::Metric), Some(Elasticity::Springs)]).prop_map(|elasticity| (
            Some(Formulation::Hybrid),
            elasticity,
            None,
            None
        )),
        select(vec![Integrator::ExplicitTaylor, Integrator::SymplecticEuler, Integrator::BackwardEuler])
            .prop_map(|integrator| (Some(Formulation::Reduced), None, None, Some(integrator))),
        select(vec![None, Some(Elasticity::Published)]).prop_map(|elasticity| (
            Some(Formulation::Primal),
            elasticity,
            None,
            None
        )),
        nodal.prop_map(|integrator| (None, Some(Elasticity::Springs), Some(Coordinates::Nodal), Some(integrator))),
    ]
}

fn drive() -> impl Strategy<Value = Drive> {
    (positive().prop_map(|mass| mass.min(1e12)), vec((vector(), vector()), 0..3)).prop_map(|(mass, list)| Drive {
        mass,
        push: (list.into_iter().enumerate())
            .map(|(k, (newtons, turn))| Push {
                time: k as f64,
                newtons,
                stop: k == 1,
                hold: k > 1,
                release: k == 0,
                turn: turn.map(|rate| rate.clamp(-3e4, 3e4)),
            })
            .collect(),
        file: None,
        reaction: mass > 1.0,
    })
}

fn bones() -> impl Strategy<Value = Vec<Bone>> {
    let form = prop_oneof![
        (vector(), vector(), length())
            .prop_map(|(from, to, radius)| (Some(Capsule { from, to, radius }), None::<Ellipsoid>)),
        (vector(), [length(), length(), length()], slow())
            .prop_map(|(center, radii, rotation)| (None, Some(Ellipsoid { center, radii, rotation }))),
    ];
    vec(("\\PC{0,6}", form, option::of("\\PC{1,9}"), keyframes(), option::of(drive())), 0..4).prop_map(|list| {
        let each = list.into_iter().enumerate().map(|(k, (name, (capsule, ellipsoid), joint, key, drive))| Bone {
            name: format!("{name}{k}"),
            capsule,
            ellipsoid,
            parent: None,
            joint,
            key,
            drive,
        });
        let mut bones: Vec<Bone> = each.collect();
        for k in 1..bones.len() {
            bones[k].parent = Some(bones[k - 1].name.clone());
        }
        bones
    })
}

fn body_motion() -> impl Strategy<Value = BodyMotion> {
    (
        option::of("[a-z]{1,8}"),
        option::of("\\PC{0,9}"),
        (0.0..100.0f64, 0.1..10.0f64, any::<bool>(), any::<bool>()),
        (option::of(0u32..99), option::of(0u32..99), option::of(word::<Upward>()), option::of(length())),
        proptest::collection::btree_map("\\PC{1,9}", "\\PC{0,9}", 0..4),
    )
        .prop_map(|(file, clip, (start, speed, repeat, ground), (bind_frame, start_frame, up, unit), map)| {
            BodyMotion {
                clip: if file.is_some() { None } else { clip },
                file: file.map(|name| format!("{name}.bvh")),
                start,
                speed,
                repeat,
                ground,
                bind_frame,
                start_frame,
                up,
                unit,
                map,
            }
        })
}

fn color() -> impl Strategy<Value = Vector> {
    [0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64]
}

/// Drives of every kind.
fn drives(shape: &Shape) -> BoxedStrategy<BodyDrive> {
    let timed = |from: f64, until: Option<f64>| BodyDrive { from, until, ..BodyDrive::default() };
    let times = || (0.0..9.0f64, option::of(9.5..20.0f64)).prop_map(move |(from, until)| timed(from, until));
    let thruster = (option::of(selection(shape)), vector(), word::<DriveAxes>(), course())
        .prop_map(|(at, newtons, axes, course)| Thruster { at, newtons, axes, course });
    let gyro = (vector(), word::<DriveAxes>(), course()).prop_map(|(newton_meters, axes, course)| Gyro {
        newton_meters,
        axes,
        course,
    });
    let along = select(vec!["x", "xz", "zyx", "xyz"]);
    let servo = (
        (keyframes(), vector(), word::<ServoHolds>(), along, 1e-3..1e3f64),
        (0.0..10.0f64, any::<bool>(), option::of(positive()), option::of(positive())),
    )
        .prop_map(|((mut path, position, holds, along, response), (damping, carries_weight, n, nm))| {
            if path.is_empty() {
                path.push(Key { time: 1.0, position, rotation: [0.0; 3] });
            }
            Servo {
                path,
                holds,
                along: along.into(),
                response,
                damping,
                carries_weight,
                most_newtons: n,
                most_newton_meters: nm,
            }
        });
    let impulse = (vector(), vector(), word::<DriveAxes>()).prop_map(|(newton_seconds, newton_meter_seconds, axes)| {
        Impulse { newton_seconds, newton_meter_seconds, axes }
    });
    prop_oneof![
        (times(), thruster).prop_map(|(d, one)| BodyDrive { thruster: Some(one), ..d }),
        (times(), gyro).prop_map(|(d, one)| BodyDrive { gyro: Some(one), ..d }),
        (times(), servo).prop_map(|(d, one)| BodyDrive { servo: Some(one), ..d }),
        (times(), impulse).prop_map(|(d, one)| BodyDrive { impulse: Some(one), until: None, ..d }),
    ]
    .boxed()
}

/// Moves one after the other.
fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = (
        (0.1..2.0f64, option::of([-9.0..9.0f64, -9.0..9.0f64]), option::of(-99.0..99.0f64)),
        (option::of(0.01..2.0f64), 0.0..9.0f64, option::of(-99.0..99.0f64), any::<bool>()),
    );
    vec(one, 0..4).prop_map(|list| {
        list.into_iter()
            .enumerate()
            .map(|(k, ((seconds, to, turn), (hop, squash, bow, roll)))| {
                let bow = bow.filter(|_| hop.is_none() && to.is_none() && !roll);
                let squash = if hop.is_some() { squash } else { 0.0 };
                Move { time: 2.0 * k as f64, seconds, to, turn, hop, squash, bow, roll }
            })
            .collect()
    })
}

fn body() -> impl Strategy<Value = Body> {
    shape().prop_flat_map(|shape| {
        let closed = Topology::of(&shape).closed != Some(false);
        let pin = (selection(&shape), option::of(positive()), keyframes(), option::of(drive()))
            .prop_map(|(at, stiffness, key, drive)| Pin { at, stiffness, key, drive });
        let load = (selection(&shape), vector(), course(), any::<bool>(), any::<bool>()).prop_map(
            move |(at, newtons, course, pressure, gas)| {
                if pressure && closed {
                    Load::Pressure { pascals: newtons[0], course, gas }
                } else {
                    Load::Force { at, newtons, course }
                }
            },
        );
        let body_drive = drives(&shape);
        let solver = (1u32..50, 1e-14..0.1f64, word::<Linear>(), word::<Preconditioner>(), 1u32..1000).prop_map(
            |(newton, tolerance, linear, preconditioner, max_iterations)| Solver {
                newton,
                tolerance,
                linear,
                preconditioner,
                max_iterations,
                by_parts: false,
            },
        );
        let scale = [0.1..9.0f64, -9.0..-0.1f64, 0.1..9.0f64];
        (
            axes(),
            (vector(), slow(), scale, slow(), slow()),
            material(&shape),
            solver,
            vec(pin, 0..3),
            vec(load, 0..3),
            (Just(shape), bones(), option::of(body_motion()), vec(body_drive, 0..3), option::of(color())),
        )
            .prop_map(
                |(axes, (position, rotation, scale, velocity, spin), material, solver, pin, load, whole)| {
                    let (shape, bone, motion, drive, color) = whole;
                    let character = matches!(shape, Shape::Character { .. });
                    let (formulation, elasticity, coordinates, integrator) = axes;
                    let implicit = formulation == Some(Formulation::Implicit) && integrator.is_none();
                    let reduced = formulation == Some(Formulation::Reduced);
                    let parts = if reduced || implicit { 1 + solver.newton % 5 } else { 1 };
                    let solver = Solver { by_parts: implicit && parts > 1, ..solver };
                    let name = String::new();
                    let without =
                        if formulation == Some(Formulation::Hybrid) { vec![Term::Coriolis] } else { Vec::new() };
                    Body {
                        name,
                        formulation,
                        elasticity,
                        coordinates,
                        integrator,
                        without,
                        position,
                        rotation,
                        scale: if character { [scale[0]; 3] } else { scale },
                        stretch: if character { [1.0; 3] } else { scale.map(f64::abs) },
                        velocity,
                        spin,
                        color,
                        contact: parts < 3,
                        self_contact: parts == 2,
                        contact_thickness: color.map(|_| 0.002),
                        shape,
                        material,
                        parts,
                        solver,
                        pin,
                        load,
                        drive,
                        bone: if character { bone } else { Vec::new() },
                        motion: motion.filter(|_| character),
                    }
                },
            )
    })
}

fn obstacle() -> impl Strategy<Value = Obstacle> {
    let shape = prop_oneof![
        Just(ObstacleShape::Plane {}),
        length().prop_map(|radius| ObstacleShape::Sphere { radius }),
        [length(), length(), length()].prop_map(|radii| ObstacleShape::Ellipsoid { radii }),
        length().prop_map(|radius| ObstacleShape::Torus { radius, tube: radius / 3.0 }),
        (length(), length(), length()).prop_map(|(waist, slope, height)| ObstacleShape::Hyperboloid {
            waist,
            slope,
            height
        }),
        (length(), 0.0..9.0f64).prop_map(|(radius, length)| ObstacleShape::Capsule { radius, length }),
        [length(), length(), length()].prop_map(|size| ObstacleShape::Box { size, round: 0.0 }),
        proptest::option::of(length())
            .prop_map(|thickness| ObstacleShape::Mesh { file: "bowl.obj".to_owned(), thickness }),
    ];
    let published = (1e-3..1e3f64, 1e-3..1e3f64).prop_map(|(c, xi)| PublishedPotential { c, xi });
    (
        shape,
        (vector(), slow(), any::<bool>(), 0.0..100.0f64, length()),
        (option::of(positive()), 0.0..10.0f64, length(), option::of(published), keyframes(), option::of(color())),
    )
        .prop_map(
            |(shape, (position, rotation, hollow, friction, range), (stiffness, damping, tolerance, p, key, color))| {
                let name = String::new();
                Obstacle {
                    name,
                    color,
                    shape,
                    position,
                    rotation,
                    hollow,
                    friction,
                    restitution: (friction > 0.5).then(|| friction.min(1.0)),
                    range,
                    stiffness,
                    damping,
                    tolerance,
                    published: p,
                    key,
                }
            },
        )
}

fn edit(body: &Body, obstacles: usize) -> BoxedStrategy<Edit> {
    let name = body.name.clone();
    let named = move || Just(name.clone());
    let at = selection(&body.shape);
    let mut choices = vec![
        (named(), at.clone(), option::of(positive()))
            .prop_map(|(body, at, stiffness)| Edit::Pin { body, at, stiffness })
            .boxed(),
        (named(), at.clone()).prop_map(|(body, at)| Edit::Unpin { body, at }).boxed(),
        (named(), at.clone(), vector(), positive())
            .prop_map(|(body, at, to, stiffness)| Edit::Grab { body, at, to, stiffness })
            .boxed(),
        named().prop_map(|body| Edit::Release { body }).boxed(),
        named().prop_map(|body| Edit::Stop { body }).boxed(),
        (named(), positive())
            .prop_map(|(body, value)| {
                let value = ParameterValue::Number(value);
                Edit::Parameter { body: Some(body), key: "young".into(), value }
            })
            .boxed(),
        slow()
            .prop_map(|value| {
                let value = ParameterValue::Vector(value);
                Edit::Parameter { body: None, key: "gravity".into(), value }
            })
            .boxed(),
        (named(), at.clone(), vector())
            .prop_map(|(body, at, newton_seconds)| Edit::Impulse { body, at, newton_seconds })
            .boxed(),
        (named(), at, vector()).prop_map(|(body, at, newtons)| Edit::Thrust { body, at, newtons }).boxed(),
        (named(), option::of(Just(Integrator::ImplicitMidpoint)))
            .prop_map(|(body, integrator)| Edit::Formulation { body, to: Formulation::Spring, integrator })
            .boxed(),
        obstacle().prop_map(|obstacle| Edit::Add(Obstacle { name: "added".into(), ..obstacle })).boxed(),
    ];
    if obstacles > 0 {
        let edit = (0..obstacles, option::of(vector())).prop_map(|(index, position)| Edit::Obstacle {
            name: format!("wall-{index}"),
            position,
            remove: position.is_none(),
        });
        choices.push(edit.boxed());
    }
    proptest::strategy::Union::new(choices).boxed()
}

/// Any valid scene.
pub fn scene() -> impl Strategy<Value = Scene> {
    let named = (vec(body(), 1..4), vec(obstacle(), 0..3)).prop_map(|(mut body, mut obstacle)| {
        body.iter_mut().enumerate().for_each(|(index, body)| body.name = format!("body_{index}"));
        obstacle.iter_mut().enumerate().for_each(|(index, obstacle)| obstacle.name = format!("wall-{index}"));
        (body, obstacle)
    });
    named.prop_flat_map(|(body, obstacle)| {
        let world = (slow(), slow(), option::of(word::<Plane>())).prop_map(|(gravity, wind, plane)| World {
            gravity,
            wind,
            plane,
        });
        let clip = (0.01..900.0f64, 0.1..1000.0f64).prop_map(|(seconds, fps)| Clip { seconds, fps });
        let step = (1e-5..1.0f64, any::<bool>(), 0u32..21, option::of(length()), 0.001..9.0f64, any::<bool>())
            .prop_map(|(dt, adaptive, max_halvings, max_displacement, max_energy_jump, settle)| Step {
                dt,
                adaptive,
                max_halvings,
                max_displacement,
                max_energy_jump,
                settle,
            });
        let target = body[0].clone();
        let probe = selection(&target.shape);
        let event = (0.0..900.0f64, edit(&target, obstacle.len())).prop_map(|(time, edit)| Event { time, edit });
        let camera = (vector(), 1.0..2000.0f64, -3600.0..3600.0f64).prop_map(|(position, lens, orbit)| Camera {
            position,
            look_at: position.map(|x| x / 2.0 + 1.0),
            lens,
            orbit,
        });
        let title = "[\\PC&&[^\\p{C}]]{0,20}";
        let choreography = (moves(), 1e-3..9.0f64, 0.1..9.0f64).prop_map({
            let body = target.name.clone();
            move |(r#move, response, strength)| Choreography { body: body.clone(), response, strength, r#move }
        });
        let looked = (option::of(camera), vec(choreography, 0..2));
        (title, world, clip, step, vec(probe, 0..3), vec(event, 0..4), looked).prop_map(
            move |(title, world, clip, step, probes, mut event, (camera, choreography))| {
                for (index, event) in event.iter_mut().enumerate() {
                    if let Edit::Add(obstacle) = &mut event.edit {
                        obstacle.name = format!("added-{index}");
                    }
                }
                let name = |(index, at)| Probe { name: format!("p{index}"), body: target.name.clone(), at };
                let probe = probes.into_iter().enumerate().map(name).collect();
                let (body, obstacle) = (body.clone(), obstacle.clone());
                let pair = |b: &Body| Contact {
                    bodies: [target.name.clone(), b.name.clone()],
                    meet: false,
                    friction: Some(0.5),
                    restitution: None,
                };
                let contact = body.iter().filter(|b| b.name != target.name).take(1).map(pair).collect();
                Scene {
                    attach: Vec::new(),
                    format: 1,
                    title,
                    world,
                    clip,
                    step,
                    body,
                    contact,
                    obstacle,
                    probe,
                    event,
                    choreography,
                    camera,
                }
            },
        )
    })
}
