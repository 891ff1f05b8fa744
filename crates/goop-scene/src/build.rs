//! A checked scene becomes a model: shapes, masses, energies, numbered nodes.
//!
//! What the text alone cannot tell (a mesh that does not open, a selection that
//! finds no node, a pressure in an open shell) is found here, all of it at once.

use crate::character;
use crate::choreography;
use crate::mesh::{self, Skin};
use crate::saved::SavedShape;
use crate::scene::{self, Scene};
use crate::select::{self, Located};
use glam::{DQuat, DVec3, EulerRot};
use goop::animate::{Course, Key, Motion, Push};
use goop::character::Parts;
use goop::contact::{BodyContact, Impact, Obstacle, ObstacleMesh, ObstacleShape, PairRule, Published, Tie, bodies};
use goop::drive::{Drive, DriveKind, Servo};
use goop::material::{Material, MaterialField, Raw, Weights};
use goop::model::{self, Axes, Body, Coordinates, Edit, ElasticityKind, Integrator, Load, Model, Pin, Probe, Start};
use goop::shape::Shape;
use goop::solve;
use std::path::Path;
use std::sync::Arc;

/// Something the scene asks for that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{path}: {message}; {hint}")]
pub struct BuildFault {
    /// Which key, such as `body.sheet.pin[0].at`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub hint: String,
}

/// A resolved selection, for `check` to list.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Which key.
    pub path: String,
    /// Which nodes.
    pub nodes: Vec<u32>,
}

/// A model and what was found on the way.
#[derive(Clone, Debug)]
pub struct Built {
    /// The model.
    pub model: Model,
    /// Of every body what is drawn, where it came from a mesh file (m, scaled as the body
    /// is); `None` where the nodes and triangles of its shape are all there is.
    pub skins: Vec<Option<Skin>>,
    /// Every selection with its nodes.
    pub selections: Vec<Resolved>,
    /// What mesh readers had to say.
    pub warnings: Vec<String>,
}

/// A vector of a file.
pub fn vector(v: scene::Vector) -> DVec3 {
    DVec3::from_array(v)
}

/// How to mend a list of forces.
pub const FORCES: &str = "name a readable text file with lines such as '0 force 2000 0 0' and '0.05 stop'";

/// What drives a block, from the scene or from its file.
pub fn pushes(drive: &scene::Drive, folder: &Path) -> Result<Vec<Push>, crate::rig::RigError> {
    if let Some(file) = &drive.file {
        return Ok(crate::rig::read_forces(&folder.join(file))?.pushes());
    }
    let push = |p: &scene::Push| Push {
        time: p.time,
        newtons: vector(p.newtons),
        stop: p.stop,
        hold: p.hold,
        release: p.release,
        turn: vector(p.turn) * (std::f64::consts::PI / 180.0),
    };
    Ok(drive.push.iter().map(push).collect())
}

/// Rotation about x, then y, then z (degrees).
pub fn rotation(degrees: scene::Vector) -> DQuat {
    let [x, y, z] = degrees.map(f64::to_radians);
    DQuat::from_euler(EulerRot::ZYX, z, y, x)
}

struct Builder {
    faults: Vec<BuildFault>,
    selections: Vec<Resolved>,
    warnings: Vec<String>,
}

impl Builder {
    fn fault(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.faults.push(BuildFault { path: path.into(), message: message.into(), hint: hint.into() });
    }

    fn select(&mut self, path: String, selection: &scene::Selection, body: &Located) -> Vec<u32> {
        match select::nodes(selection, body) {
            Ok(nodes) => {
                self.selections.push(Resolved { path, nodes: nodes.clone() });
                nodes
            }
            Err((message, hint)) => {
                self.fault(&path, message, hint);
                Vec::new()
            }
        }
    }
}

impl Builder {
    /// Fastens nodes to another body, one of its bones, or an obstacle.
    fn attach(&mut self, path: &str, attach: &scene::Attach, scene: &Scene, model: &mut Model) {
        let number = |name: &String| scene.body.iter().position(|b| b.name == *name);
        let Some(a) = number(&attach.body) else { return };
        let nodes = self.select(format!("{path}.at"), &attach.at, &Located::of(&model.bodies[a]));
        if let Some(obstacle) =
            attach.obstacle.as_ref().and_then(|name| model.obstacles.iter().find(|o| o.name == *name))
        {
            let pose = obstacle.motion.at(0.0);
            let x = model.bodies[a].start_positions();
            let targets = nodes.iter().map(|&i| pose.rotation.inverse() * (x[i as usize] - pose.position)).collect();
            let motion = obstacle.motion.clone();
            let pin = Pin { nodes, targets, pivot: DVec3::ZERO, motion, stiffness: None, grab: false };
            model.bodies[a].pins.push(pin);
            return;
        }
        if attach.obstacle.is_some() {
            let hint = "fasten to one that is there from the beginning";
            self.fault(&format!("{path}.obstacle"), "the obstacle is only added later", hint);
        }
        let Some(b) = attach.to.as_ref().and_then(number) else { return };
        let mut bone_nodes: Option<Vec<u32>> = None;
        if let Some(name) = &attach.bone {
            let sampled = model.bodies[b].sampled.clone();
            let bones: Vec<String> =
                sampled.iter().flat_map(|s| s.bones.iter().map(|bone| bone.name.clone())).collect();
            let found = bones.iter().position(|bone| bone == name);
            bone_nodes = found.and_then(|k| sampled.as_ref().map(|s| s.bone_nodes[k].clone()));
            match &bone_nodes {
                None => {
                    let hint = match bones.is_empty() {
                        true => "it has no bones; leave `bone` out".to_owned(),
                        false => format!("its bones: {}", bones.join(", ")),
                    };
                    self.fault(&format!("{path}.bone"), format!("there is no bone \"{name}\""), hint);
                    return;
                }
                Some(nodes) if nodes.is_empty() => {
                    let hint = "sample the body more finely, or name another bone";
                    self.fault(&format!("{path}.bone"), format!("bone \"{name}\" has no node of the body"), hint);
                    return;
                }
                Some(_) => {}
            }
        }
        let tie = Tie::new([a, b], &nodes, [&model.bodies[a], &model.bodies[b]], bone_nodes.as_deref());
        model.ties.push(tie);
    }
}

impl Scene {
    /// Builds the model; mesh files are looked for in `folder`.
    pub fn build(&self, folder: &Path) -> Result<Built, Vec<BuildFault>> {
        let mut builder = Builder { faults: Vec::new(), selections: Vec::new(), warnings: Vec::new() };
        let mut model = Model {
            gravity: vector(self.world.gravity),
            wind: vector(self.world.wind),
            flat: self.world.plane.map(|plane| match plane {
                scene::Plane::Xy => 2,
                scene::Plane::Yz => 0,
                scene::Plane::Xz => 1,
            }),
            step: model::StepSettings {
                dt: self.step.dt,
                adaptive: self.step.adaptive,
                max_halvings: self.step.max_halvings,
                max_displacement: self.step.max_displacement,
                max_energy_jump: self.step.max_energy_jump,
            },
            ..Model::default()
        };
        let mut skins = Vec::new();
        for entry in &self.body {
            if let Some((body, skin)) = builder.body(entry, self, folder) {
                model.bodies.push(body);
                skins.push(skin);
            }
        }
        for entry in &self.obstacle {
            model.obstacles.push(builder.obstacle(entry, folder));
        }
        // Selections of probes and events need every body in place.
        if model.bodies.len() == self.body.len() {
            for (k, probe) in self.probe.iter().enumerate() {
                if let Some(body) = self.body.iter().position(|b| b.name == probe.body) {
                    let nodes = if probe.at == scene::Selection::Center {
                        Vec::new()
                    } else {
                        builder.select(format!("probe[{k}].at"), &probe.at, &Located::of(&model.bodies[body]))
                    };
                    model.probes.push(Probe { name: probe.name.clone(), body, nodes });
                }
            }
            let mut order: Vec<usize> = (0..self.event.len()).collect();
            order.sort_by(|&a, &b| self.event[a].time.total_cmp(&self.event[b].time));
            let mut stage = Stage::of(&model);
            stage.obstacles = self.obstacles().iter().map(|(_, obstacle)| obstacle.name.clone()).collect();
            for k in order {
                let event = &self.event[k];
                if let Some(edit) = builder.edit(&format!("event[{k}]"), &event.edit, &mut stage, &model.bodies, folder)
                {
                    model.events.push((event.time, edit));
                }
            }
            for (k, one) in self.choreography.iter().enumerate() {
                if let Some(body) = self.body.iter().position(|b| b.name == one.body) {
                    let gravity = model.gravity;
                    match choreography::drives(one, &model.bodies[body], gravity) {
                        Ok((drives, kicks)) => {
                            model.bodies[body].drives.extend(drives);
                            let blow = |kick: choreography::Kick| {
                                let [linear, angular] = [kick.momentum, DVec3::ZERO];
                                (kick.time, Edit::Kick { body, linear, angular, body_axes: false })
                            };
                            model.events.extend(kicks.into_iter().map(blow));
                        }
                        Err((message, hint)) => builder.fault(&format!("choreography[{k}]"), message, hint),
                    }
                }
            }
            for (body, entry) in self.body.iter().enumerate() {
                for drive in &entry.drive {
                    if let Some(blow) = &drive.impulse {
                        let [linear, angular] = [blow.newton_seconds, blow.newton_meter_seconds].map(vector);
                        let body_axes = blow.axes == scene::DriveAxes::Body;
                        model.events.push((drive.from, Edit::Kick { body, linear, angular, body_axes }));
                    }
                }
            }
            model.events.sort_by(|a, b| a.0.total_cmp(&b.0));
            let number = |name: &String| self.body.iter().position(|b| b.name == *name);
            for contact in &self.contact {
                if let [Some(a), Some(b)] = [number(&contact.bodies[0]), number(&contact.bodies[1])] {
                    let (friction, restitution) = (contact.friction, contact.restitution);
                    model.pairs.push(PairRule { bodies: [a, b], meet: contact.meet, friction, restitution });
                }
            }
            builder.warnings.extend(without_rebound(&model));
            for (k, attach) in self.attach.iter().enumerate() {
                builder.attach(&format!("attach[{k}]"), attach, self, &mut model);
            }
            if let Some([a, b]) = bodies::overlap(&model) {
                let [a, b] = [a, b].map(|b| &model.bodies[b].name);
                if a == b {
                    let message = "the body passes through itself where it starts";
                    builder.fault(
                        &format!("body.{a}.self-contact"),
                        message,
                        "use self-contact = false, or another shape",
                    );
                } else {
                    let message = format!("bodies '{a}' and '{b}' are in each other where they start");
                    let hint = format!(
                        "move one away, or let them pass: contact = false, or [[contact]] bodies = [\"{a}\", \"{b}\"] with meet = false"
                    );
                    builder.fault(&format!("body.{b}.position"), message, hint);
                }
            }
        }
        if builder.faults.is_empty() {
            Ok(Built { model, skins, selections: builder.selections, warnings: builder.warnings })
        } else {
            Err(builder.faults)
        }
    }
}

/// What events have made of a model so far.
struct Stage {
    materials: Vec<MaterialField>,
    obstacles: Vec<String>,
}

impl Stage {
    fn of(model: &Model) -> Stage {
        Stage {
            materials: model.bodies.iter().map(|b| b.material.clone()).collect(),
            obstacles: model.obstacles.iter().map(|o| o.name.clone()).collect(),
        }
    }
}

/// An edit of a scene as the engine's, for a model as it is now: the one that an event of
/// the same words makes at this time. Files are looked for in `folder`.
pub fn edit_now(edit: &scene::Edit, model: &Model, folder: &Path) -> Result<Edit, BuildFault> {
    let mut builder = Builder { faults: Vec::new(), selections: Vec::new(), warnings: Vec::new() };
    let made = builder.edit("event", edit, &mut Stage::of(model), &model.bodies, folder);
    match (made, builder.faults.pop()) {
        (Some(made), None) => Ok(made),
        (_, Some(fault)) => Err(fault),
        (None, None) => Err(BuildFault {
            path: "event".into(),
            message: "it names a body or an obstacle that is not there".into(),
            hint: "choose one that is in the scene".into(),
        }),
    }
}

/// The engine's axes for those of a scene.
pub fn axes(of: crate::axes::Axes) -> Axes {
    let elasticity = match of.elasticity {
        scene::Elasticity::Springs => ElasticityKind::Springs,
        scene::Elasticity::None => ElasticityKind::None,
        scene::Elasticity::Metric => ElasticityKind::Metric,
        scene::Elasticity::Published => ElasticityKind::Published,
        scene::Elasticity::Spline => ElasticityKind::Spline,
        scene::Elasticity::Finite => ElasticityKind::Finite,
    };
    let coordinates = match of.coordinates {
        scene::Coordinates::Nodal => Coordinates::Nodal,
        scene::Coordinates::Rigid => Coordinates::Rigid,
        scene::Coordinates::Framed => Coordinates::Framed,
        scene::Coordinates::Reduced => Coordinates::Reduced,
    };
    let integrator = match of.integrator {
        scene::Integrator::ExplicitDiagonal => Integrator::ExplicitDiagonal,
        scene::Integrator::ExplicitTaylor => Integrator::ExplicitTaylor,
        scene::Integrator::SymplecticEuler => Integrator::SymplecticEuler,
        scene::Integrator::BackwardEuler => Integrator::BackwardEuler,
        scene::Integrator::ImplicitMidpoint => Integrator::ImplicitMidpoint,
        scene::Integrator::Bdf2 => Integrator::Bdf2,
        scene::Integrator::Momentum => Integrator::Momentum,
        scene::Integrator::SemiImplicit => Integrator::SemiImplicit,
    };
    Axes { elasticity, coordinates, integrator }
}

/// The card of a scene as the engine's.
pub fn card(m: &scene::Material) -> Material {
    Material {
        density: m.density,
        young: m.young,
        poisson: m.poisson,
        thickness: m.thickness,
        radius: m.radius,
        damping: m.damping,
        drag: m.drag,
        friction: m.friction,
        restitution: m.restitution,
        yield_strain: m.r#yield.unwrap_or(if m.flow.is_some() { 0.0 } else { f64::INFINITY }),
        flow: m.flow.unwrap_or(if m.r#yield.is_some() { f64::INFINITY } else { 0.0 }),
        flow_limit: m.flow_limit.unwrap_or(f64::INFINITY),
        tear: m.tear.unwrap_or(f64::INFINITY),
    }
}

impl Builder {
    fn body(&mut self, entry: &scene::Body, scene: &Scene, folder: &Path) -> Option<(Body, Option<Skin>)> {
        let gravity = vector(scene.world.gravity);
        let path = format!("body.{}", entry.name);
        let Some(axes) = entry.axes().map(axes) else {
            let hint = format!("choose one of {}", crate::axes::available());
            self.fault(&path, "nothing says how it moves", hint);
            return None;
        };
        if let Err(sentence) = axes.check() {
            self.fault(&path, sentence, "or name a formulation instead of the three axes");
            return None;
        }
        let mut made = match entry.shape {
            scene::Shape::Character { .. } => Some(self.character(&path, entry, scene, folder)?),
            _ => None,
        };
        let (shape, mut skin) = match &mut made {
            Some(made) => (made.shape.clone(), Some(std::mem::take(&mut made.skin))),
            None => self.shape(&path, &entry.shape, folder)?,
        };
        if let Err(sentence) = axes.check_shape(&shape) {
            self.fault(&path, sentence, "or choose another shape");
            return None;
        }
        // A character is made in the size it has.
        let scale = if made.is_some() { DVec3::ONE } else { vector(entry.scale) };
        let shape = match shape.scaled(scale) {
            Ok(shape) => shape,
            Err(error) => {
                self.fault(&format!("{path}.scale"), error.to_string(), "give three factors other than 0");
                return None;
            }
        };
        if let Some(skin) = &mut skin {
            skin.scale(scale);
            // What belongs to no triangle was not measured: it may lie beyond all measure.
            for (position, &node) in skin.positions.iter_mut().zip(&skin.nodes) {
                if position.abs().max_element() > goop::shape::MOST_SIZE {
                    *position = shape.rest_positions[node as usize];
                }
            }
        }
        let start = Start {
            position: vector(entry.position),
            rotation: rotation(entry.rotation),
            stretch: vector(entry.stretch),
            velocity: vector(entry.velocity),
            spin: vector(entry.spin),
        };
        let (sampled, bone_pins) = match made {
            Some(made) => (Some(made.sampled), made.pins),
            None => (None, Vec::new()),
        };
        let located = Located::new(&shape, &start).with(sampled.as_ref());
        let material = self.material(&path, &entry.material, &located);
        let closed = shape.closed && shape.dimension == goop::shape::Dimension::Surface;
        let mut loads = Vec::new();
        for (k, load) in entry.load.iter().enumerate() {
            match load {
                scene::Load::Force { at, newtons, course } => loads.push(Load::Force {
                    nodes: self.select(format!("{path}.load[{k}].force.at"), at, &located),
                    newtons: vector(*newtons),
                    course: Course::new(course.clone()),
                }),
                scene::Load::Pressure { pascals, course, gas } => {
                    if !closed {
                        self.fault(
                            &format!("{path}.load[{k}].pressure"),
                            "pressure needs a closed surface, and this shape is open or solid",
                            "use a sphere, a torus or a closed mesh, or take the load away",
                        );
                    }
                    loads.push(Load::Pressure { pascals: *pascals, course: Course::new(course.clone()), gas: *gas });
                }
            }
        }
        let drives = self.drives(&path, entry, &located);
        let positions = located.positions().to_vec();
        let mut pins = bone_pins;
        for (k, pin) in entry.pin.iter().enumerate() {
            let nodes = self.select(format!("{path}.pin[{k}].at"), &pin.at, &located);
            let targets: Vec<DVec3> = nodes.iter().map(|&i| positions[i as usize]).collect();
            let pivot = targets.iter().sum::<DVec3>() / targets.len().max(1) as f64;
            let mut motion = Motion::new(pin.key.iter().map(key).collect());
            if let Some(drive) = &pin.drive {
                match pushes(drive, folder) {
                    // The motion of a pin is about its pivot.
                    Ok(pushes) => {
                        motion = motion.driven(drive.mass, gravity, &pushes, DVec3::ZERO);
                        if drive.reaction {
                            motion = motion.reacting(drive.mass, &pushes);
                        }
                    }
                    Err(error) => self.fault(&format!("{path}.pin[{k}].drive.file"), error.to_string(), FORCES),
                }
            }
            pins.push(Pin { nodes, targets, pivot, motion, stiffness: pin.stiffness, grab: false });
        }
        self.reactions(&path, entry, axes);
        if let scene::Shape::Character { skin: scene::SkinWay::Matrix, .. } = entry.shape
            && (axes.coordinates != Coordinates::Reduced || entry.parts > 1)
        {
            self.fault(
                &format!("{path}.shape.character.skin"),
                "only reduced coordinates by the character's own parts have deformation matrices that could carry the skin",
                "use skin = \"fit\", which finds such matrices for every formulation, or coordinates = \"reduced\" without `parts`",
            );
        }
        let mut body = Body::new(&entry.name, shape, material, axes);
        body.start = start;
        body.contact =
            BodyContact { bodies: entry.contact, itself: entry.self_contact, thickness: entry.contact_thickness };
        body.sampled = sampled.map(Arc::new);
        body.pins = pins;
        body.loads = loads;
        body.drives = drives;
        for term in &entry.without {
            match term {
                scene::Term::Centrifugal => body.terms.centrifugal = false,
                scene::Term::Coriolis => body.terms.coriolis = false,
                scene::Term::Transverse => body.terms.transverse = false,
                scene::Term::Translational => body.terms.translational = false,
            }
        }
        body.newton = entry.solver.newton;
        if entry.parts > 1 {
            let parts = Parts::along(&body.shape.rest_positions, entry.parts as usize);
            body.parts = Some(Arc::new(parts));
        } else if let Some(sampled) = body.sampled.as_ref().filter(|sampled| sampled.bones.len() > 1) {
            // A character has the parts of its bones.
            body.parts = Some(Arc::new(sampled.parts.clone()));
        }
        body.by_parts = entry.solver.by_parts && body.parts.is_some();
        body.solver = solve::Settings {
            method: match entry.solver.linear {
                scene::Linear::Auto => solve::Method::Auto,
                scene::Linear::ConjugateGradients => solve::Method::ConjugateGradients,
                scene::Linear::Cholesky => solve::Method::Cholesky,
                scene::Linear::Profile => solve::Method::Profile,
                scene::Linear::Sor => solve::Method::Sor,
            },
            tolerance: entry.solver.tolerance,
            max_iterations: entry.solver.max_iterations as usize,
            preconditioner: match entry.solver.preconditioner {
                scene::Preconditioner::Jacobi => solve::Preconditioner::Jacobi,
                scene::Preconditioner::None => solve::Preconditioner::None,
                scene::Preconditioner::IncompleteCholesky => solve::Preconditioner::IncompleteCholesky,
                scene::Preconditioner::Ssor => solve::Preconditioner::Ssor,
            },
        };
        if let Some(node) = body.masses.iter().position(|m| *m <= 0.0 || !m.is_finite()) {
            self.fault(
                &format!("{path}.shape"),
                format!("node {node} has no mass: the cells around it have no size"),
                "use fewer nodes, or mend the flat spot in the mesh",
            );
            return None;
        }
        Some((body, skin))
    }

    /// Forces by which a body moves itself; blows are events.
    /// Blocks that flesh pushes back must be where that is possible, and have no keys.
    fn reactions(&mut self, path: &str, entry: &scene::Body, axes: goop::Axes) {
        let pins = entry.pin.iter().enumerate().map(|(k, pin)| ("pin", k, &pin.drive, &pin.key, pin.stiffness));
        let bones = entry.bone.iter().enumerate().map(|(k, bone)| ("bone", k, &bone.drive, &bone.key, None));
        let asked = pins.chain(bones).filter(|(_, _, drive, ..)| drive.as_ref().is_some_and(|drive| drive.reaction));
        for (owner, k, _, keys, stiffness) in asked {
            let place = format!("{path}.{owner}[{k}].drive.reaction");
            if !goop::integrate::reaction::possible(axes, entry.solver.by_parts) {
                let message =
                    "flesh pushes back on blocks only in nodal coordinates, stepped whole and not by the midpoint";
                self.fault(
                    &place,
                    message,
                    "use formulation = \"jelly\", \"implicit\", \"mass-spring\" or \"spring\", or reaction = false",
                );
            } else if !keys.is_empty() || stiffness.is_some() {
                let message =
                    "a block that its flesh pushes back goes its own way, and can't follow keys or hang on springs";
                self.fault(&place, message, "take out `key` and `stiffness`, or `reaction`");
            }
        }
    }

    fn drives(&mut self, path: &str, entry: &scene::Body, body: &Located) -> Vec<Drive> {
        let mut drives = Vec::new();
        for (k, drive) in entry.drive.iter().enumerate() {
            let in_body = |axes: scene::DriveAxes| axes == scene::DriveAxes::Body;
            let kind = if let Some(thruster) = &drive.thruster {
                let place = format!("{path}.drive[{k}].thruster.at");
                DriveKind::Thruster {
                    nodes: thruster.at.as_ref().map_or(Vec::new(), |at| self.select(place, at, body)),
                    newtons: vector(thruster.newtons),
                    body_axes: in_body(thruster.axes),
                    course: Course::new(thruster.course.clone()),
                }
            } else if let Some(gyro) = &drive.gyro {
                DriveKind::Gyro {
                    newton_meters: vector(gyro.newton_meters),
                    body_axes: in_body(gyro.axes),
                    course: Course::new(gyro.course.clone()),
                }
            } else if let Some(servo) = &drive.servo {
                let held = servo.holds != scene::ServoHolds::Attitude;
                DriveKind::Servo(Servo {
                    path: goop::drive::Path::new(servo.path.iter().map(key).collect()),
                    holds: ['x', 'y', 'z'].map(|axis| held && servo.along.contains(axis)),
                    attitude: servo.holds != scene::ServoHolds::Position,
                    response: servo.response,
                    damping: servo.damping,
                    carries_weight: servo.carries_weight,
                    most_force: servo.most_newtons.unwrap_or(f64::INFINITY),
                    most_torque: servo.most_newton_meters.unwrap_or(f64::INFINITY),
                })
            } else {
                continue;
            };
            drives.push(Drive { from: drive.from, until: drive.until.unwrap_or(f64::INFINITY), kind });
        }
        drives
    }

    /// A shape, and for a mesh what is drawn of it.
    fn shape(&mut self, path: &str, shape: &scene::Shape, folder: &Path) -> Option<(Shape, Option<Skin>)> {
        use scene::Shape as S;
        let n1 = |n: &[u32; 1]| n[0] as usize;
        let n2 = |n: &[u32; 2]| n.map(|n| n as usize);
        let n3 = |n: &[u32; 3]| n.map(|n| n as usize);
        let made = match shape {
            S::Line { size, nodes } => Shape::line(*size, n1(nodes)),
            S::Arc { radius, angle, nodes } => Shape::arc(*radius, angle.to_radians(), n1(nodes)),
            S::Hoop { radius, nodes } => Shape::hoop(*radius, n1(nodes)),
            S::Helix { radius, height, turns, nodes } => Shape::helix(*radius, *height, *turns, n1(nodes)),
            S::Spline { points, closed, nodes } => {
                let points: Vec<DVec3> = points.iter().map(|p| vector(*p)).collect();
                Shape::spline(&points, *closed, n1(nodes))
            }
            S::Rectangle { size, nodes } => Shape::rectangle(*size, n2(nodes)),
            S::Disc { radius, nodes } => Shape::disc(*radius, n2(nodes)),
            S::Cylinder { radius, height, nodes } => Shape::cylinder(*radius, *height, n2(nodes)),
            S::Sphere { radius, nodes } => Shape::sphere(*radius, n2(nodes)),
            S::Torus { radius, tube, nodes } => Shape::torus(*radius, *tube, n2(nodes)),
            S::Revolve { profile, lobes, depth, bend, nodes } => {
                Shape::revolve(profile, *lobes, *depth, bend.to_radians(), n2(nodes))
            }
            S::Bezier { net, nodes } => {
                let net: Vec<Vec<DVec3>> = net.iter().map(|row| row.iter().map(|p| vector(*p)).collect()).collect();
                Shape::bezier(&net, n2(nodes))
            }
            S::Box { size, nodes, tetrahedra: true } => Shape::block_of_tetrahedra(vector(*size), n3(nodes)),
            S::Box { size, nodes, .. } => Shape::block(vector(*size), n3(nodes)),
            S::Ball { radius, nodes } => Shape::ball(*radius, n3(nodes)),
            // Made as a whole, with its bones.
            S::Character { .. } => return None,
            S::Mesh { file, weld } => return self.mesh(path, &folder.join(file), *weld),
            S::Saved { file } => match SavedShape::read(&folder.join(file)).and_then(SavedShape::shape) {
                Ok(shape) => return Some((shape, None)),
                Err(sentence) => {
                    let hint = "name a file that `goop export DIR --to shape` wrote";
                    self.fault(&format!("{path}.shape.saved.file"), sentence, hint);
                    return None;
                }
            },
        };
        match made {
            Ok(shape) => Some((shape, None)),
            Err(error) => {
                self.fault(&format!("{path}.shape"), error.to_string(), "change the size or the node counts");
                None
            }
        }
    }

    fn character(&mut self, path: &str, entry: &scene::Body, scene: &Scene, folder: &Path) -> Option<character::Made> {
        let (seconds, dt, gravity) = (scene.clip.seconds, scene.step.dt, vector(scene.world.gravity));
        match character::make(entry, &character::Timing { seconds, dt, gravity, folder }) {
            Ok(made) => {
                self.warnings.extend(made.notes.iter().map(|note| format!("{path}: {note}")));
                Some(made)
            }
            Err(wrong) => {
                self.fault(&format!("{path}.{}", wrong.key), wrong.message, wrong.hint);
                None
            }
        }
    }

    fn mesh(&mut self, path: &str, file: &Path, weld: bool) -> Option<(Shape, Option<Skin>)> {
        let path = format!("{path}.shape.mesh.file");
        let read = match mesh::read_mesh(file, weld) {
            Ok(read) => read,
            Err(error) => {
                self.fault(&path, error.to_string(), "name a readable OBJ, PLY, STL or glTF file");
                return None;
            }
        };
        self.warnings.extend(read.warnings.iter().map(|w| format!("{path}: {w}")));
        let uvs = read.texture_coordinates.map(|uv| uv.iter().map(|[u, v]| DVec3::new(*u, *v, 0.0)).collect());
        let (mut skin, first) = (read.original, read.triangles.first().copied());
        match Shape::from_triangles(read.positions, read.triangles, uvs, read.groups) {
            Ok(shape) => {
                // A closed mesh that was inside out is turned as a whole.
                if shape.triangles.first().copied() != first {
                    self.warnings.push(format!("{path}: the closed mesh faces inwards and is turned round"));
                    skin.turn();
                }
                Some((shape, Some(skin)))
            }
            Err(error) => {
                self.fault(&path, error.to_string(), "mend the mesh in a modelling program");
                None
            }
        }
    }

    fn material(&mut self, path: &str, m: &scene::Material, body: &Located) -> MaterialField {
        let card = card(m);
        let mut field = match &m.raw {
            Some(raw) => MaterialField::raw(
                card,
                Raw {
                    k: raw.k,
                    d: raw.d,
                    c: raw.c,
                    node_mass: raw.node_mass,
                    rest: raw.rest.clone(),
                    shear: raw.shear,
                    bend: raw.bend,
                },
            ),
            None => MaterialField::uniform(card),
        };
        field.weights = m.weights.as_ref().map(|w| Weights {
            zero: w.zero,
            first: w.first,
            shear: w.shear,
            second: w.second,
            mixed: w.mixed,
            twist: w.twist,
        });
        for (k, region) in m.region.iter().enumerate() {
            let nodes = self.select(format!("{path}.material.region[{k}].at"), &region.at, body);
            let count = body.positions().len();
            for (value, target) in [
                (region.density, &mut field.density),
                (region.young, &mut field.young),
                (region.thickness, &mut field.thickness),
                (region.damping, &mut field.damping),
                (region.k, &mut field.raw_k),
                (region.weight, &mut field.weight_scale),
            ] {
                if let Some(value) = value {
                    target.set(&nodes, value, count);
                }
            }
        }
        field
    }

    fn obstacle(&mut self, entry: &scene::Obstacle, folder: &Path) -> Obstacle {
        let path = format!("obstacle.{}", entry.name);
        let shape = match obstacle_shape(&entry.shape, folder) {
            Ok((shape, warnings)) => {
                self.warnings.extend(warnings.iter().map(|w| format!("{path}.shape.mesh.file: {w}")));
                shape
            }
            Err([message, hint]) => {
                self.fault(&format!("{path}.shape.mesh.file"), message, hint);
                ObstacleShape::Plane
            }
        };
        let obstacle = obstacle(entry, shape);
        if let Err(sentence) = obstacle.check() {
            self.fault(&path, sentence, "change the sizes");
        }
        obstacle
    }

    fn edit(
        &mut self,
        path: &str,
        edit: &scene::Edit,
        stage: &mut Stage,
        bodies: &[Body],
        folder: &Path,
    ) -> Option<Edit> {
        let find = |name: &str| bodies.iter().position(|b| b.name == name);
        let mut nodes =
            |body: usize, at: &scene::Selection| self.select(format!("{path}.at"), at, &Located::of(&bodies[body]));
        use scene::Edit as E;
        Some(match edit {
            E::Pin { body, at, stiffness } => {
                let body = find(body)?;
                Edit::Pin { body, nodes: nodes(body, at), stiffness: *stiffness }
            }
            E::Unpin { body, at } => {
                let body = find(body)?;
                Edit::Unpin { body, nodes: nodes(body, at) }
            }
            E::Grab { body, at, to, stiffness } => {
                let body = find(body)?;
                Edit::Grab { body, nodes: nodes(body, at), to: vector(*to), stiffness: *stiffness }
            }
            E::Release { body } => Edit::Release { body: find(body)? },
            E::Impulse { body, at, newton_seconds } => {
                let body = find(body)?;
                Edit::Impulse { body, nodes: nodes(body, at), newton_seconds: vector(*newton_seconds) }
            }
            E::Stop { body } => Edit::Stop { body: find(body)? },
            E::Thrust { body, at, newtons } => {
                let body = find(body)?;
                Edit::Thrust { body, nodes: nodes(body, at), newtons: vector(*newtons) }
            }
            E::Formulation { body, to, integrator } => {
                let (body, mut of) = (find(body)?, to.axes());
                of.integrator = integrator.unwrap_or(of.integrator);
                let axes = axes(of);
                if let Err(sentence) = axes.check().and_then(|()| axes.check_shape(&bodies[body].shape)) {
                    self.fault(&format!("{path}.formulation"), sentence, "choose another model");
                    return None;
                }
                Edit::Axes { body, axes }
            }
            E::Add(entry) => Edit::AddObstacle(Box::new(self.obstacle(entry, folder))),
            E::Obstacle { name, position, remove } => {
                let obstacle = stage.obstacles.iter().position(|o| o == name)?;
                match position {
                    _ if *remove => Edit::RemoveObstacle { obstacle },
                    Some(position) => Edit::MoveObstacle { obstacle, position: vector(*position) },
                    None => {
                        self.fault(path, "this obstacle event changes nothing", "give `position` or `remove = true`");
                        return None;
                    }
                }
            }
            E::Parameter { body, key, value } => {
                return self.parameter(path, body.as_deref(), key, value, stage, bodies);
            }
        })
    }

    fn parameter(
        &mut self,
        path: &str,
        body: Option<&str>,
        key: &str,
        value: &scene::ParameterValue,
        stage: &mut Stage,
        bodies: &[Body],
    ) -> Option<Edit> {
        use scene::ParameterValue as V;
        match (body, key, value) {
            (None, "gravity", V::Vector(v)) => return Some(Edit::Gravity(vector(*v))),
            (None, "wind", V::Vector(v)) => return Some(Edit::Wind(vector(*v))),
            (None, "dt", V::Number(dt)) if *dt > 0.0 => return Some(Edit::Step(*dt)),
            (Some(name), _, V::Number(number)) => {
                let body = bodies.iter().position(|b| b.name == name)?;
                let mut material = stage.materials[body].clone();
                let uniform = |field: &mut goop::material::PerNode| *field = goop::material::PerNode::Uniform(*number);
                let card = &mut material.card;
                let good = number.is_finite() && *number >= 0.0;
                match key {
                    "density" if *number > 0.0 => (card.density, _) = (*number, uniform(&mut material.density)),
                    "young" if *number > 0.0 => (card.young, _) = (*number, uniform(&mut material.young)),
                    "thickness" if *number > 0.0 => (card.thickness, _) = (*number, uniform(&mut material.thickness)),
                    "radius" if *number > 0.0 => card.radius = *number,
                    "damping" if good => (card.damping, _) = (*number, uniform(&mut material.damping)),
                    "drag" if good => card.drag = *number,
                    "friction" if good => card.friction = *number,
                    "restitution" if good && *number <= 1.0 => card.restitution = *number,
                    "yield" if good => card.yield_strain = *number,
                    "flow" if good => card.flow = *number,
                    "flow-limit" if *number > 0.0 => card.flow_limit = *number,
                    "tear" if *number > 0.0 => card.tear = *number,
                    "poisson" if *number > -1.0 && *number < 0.5 => card.poisson = *number,
                    _ => {
                        let set = good
                            && material.raw.as_mut().is_some_and(|raw| {
                                match key {
                                    "k" => (raw.k, _) = (*number, uniform(&mut material.raw_k)),
                                    "d" => raw.d = *number,
                                    "c" => raw.c = *number,
                                    "shear" => raw.shear = *number,
                                    "bend" => raw.bend = *number,
                                    _ => return false,
                                }
                                true
                            });
                        if !set {
                            let message = format!("`{key}` = {number} cannot be set on this body");
                            let keys = "use density, young, thickness, radius (above 0), poisson, damping, drag, friction, restitution, yield, flow, flow-limit or tear; with raw constants also k, d, c, shear, bend";
                            self.fault(path, message, keys);
                            return None;
                        }
                    }
                }
                stage.materials[body] = material.clone();
                return Some(Edit::Material { body, material: Box::new(material) });
            }
            _ => {}
        }
        let hint = "without `body` the keys are gravity and wind with three numbers; with `body`, a number for a key of its material";
        self.fault(path, format!("the parameter `{key}` does not fit its value"), hint);
        None
    }
}

pub(crate) fn key(key: &scene::Key) -> Key {
    Key { time: key.time, position: vector(key.position), rotation: rotation(key.rotation) }
}

/// The shape of an obstacle as the engine's, and what a reader had to say of it; files are looked for in `folder`. The
/// error is what is wrong and how to mend it.
pub fn obstacle_shape(
    shape: &scene::ObstacleShape,
    folder: &Path,
) -> Result<(ObstacleShape, Vec<String>), [String; 2]> {
    use scene::ObstacleShape as S;
    let mut warnings = Vec::new();
    let shape = match shape {
        S::Plane {} => ObstacleShape::Plane,
        S::Sphere { radius } => ObstacleShape::Sphere { radius: *radius },
        S::Ellipsoid { radii } => ObstacleShape::Ellipsoid { radii: vector(*radii) },
        S::Torus { radius, tube } => ObstacleShape::Torus { radius: *radius, tube: *tube },
        S::Hyperboloid { waist, slope, height } => {
            ObstacleShape::Hyperboloid { waist: *waist, slope: *slope, height: *height }
        }
        S::Capsule { radius, length } => ObstacleShape::Capsule { radius: *radius, length: *length },
        S::Box { size, round } => ObstacleShape::Box { size: vector(*size), round: *round },
        S::Mesh { file, thickness } => {
            let read = if file == mesh::BOWL { mesh::bowl() } else { mesh::read_mesh(&folder.join(file), true) };
            let read =
                read.map_err(|error| [error.to_string(), "name a readable OBJ, PLY, STL or glTF file".to_owned()])?;
            warnings = read.warnings;
            let made = ObstacleMesh::new(read.positions, read.triangles, *thickness);
            let made =
                made.map_err(|fault| [format!("{file}: {fault}"), "mend the mesh in a modelling program".to_owned()])?;
            ObstacleShape::Mesh(made)
        }
    };
    Ok((shape, warnings))
}

/// Says where a restitution at obstacles is asked for that nothing comes of: an obstacle meets nodes one by one, and what
/// one node does when it is thrown back is soon shared with those behind it. How a body of moving nodes
/// rebounds as a whole is for its elasticity and damping to say.
fn without_rebound(model: &Model) -> Option<String> {
    let nodal = |body: &&Body| matches!(body.axes.coordinates, Coordinates::Nodal | Coordinates::Reduced);
    let asked = |body: &Body| model.obstacles.iter().any(|o| Impact::restitution(body, o) > 0.0);
    let body = model.bodies.iter().filter(nodal).find(|body| asked(body))?;
    Some(format!(
        "body.{}: restitution at obstacles acts on rigid and hybrid bodies only; this one rebounds by its own elasticity and \
         damping",
        body.name
    ))
}

/// How an obstacle of a scene moves.
pub fn obstacle_motion(entry: &scene::Obstacle) -> Motion {
    if entry.key.is_empty() {
        Motion::still(vector(entry.position), rotation(entry.rotation))
    } else {
        Motion::new(entry.key.iter().map(key).collect())
    }
}

/// An obstacle of a scene as the engine's, with this shape.
pub fn obstacle(entry: &scene::Obstacle, shape: ObstacleShape) -> Obstacle {
    Obstacle {
        name: entry.name.clone(),
        shape,
        hollow: entry.hollow,
        motion: obstacle_motion(entry),
        friction: entry.friction,
        restitution: entry.restitution.unwrap_or(0.0),
        range: entry.range,
        stiffness: entry.stiffness,
        damping: entry.damping,
        tolerance: entry.tolerance,
        published: entry.published.as_ref().map(|p| Published { c: p.c, xi: p.xi }),
        removed: false,
    }
}
