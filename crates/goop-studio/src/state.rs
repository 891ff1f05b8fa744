//! What a page shows beside the picture, as JSON.

use crate::engine::Clock;
use crate::protocol;
use crate::session::Session;
use goop::contact::{Obstacle, ObstacleShape};
use goop::model::Body;
use goop_output::export::Format;
use goop_scene::build;
use goop_scene::reader::Word;
use goop_scene::scene::{Formulation, Integrator};
use serde_json::{Value, json};

/// `GET /status`
pub fn status(session: &Session, clock: &Clock) -> Value {
    json!({
        "scene": session.name,
        "playing": clock.playing,
        "sim_time": session.time(),
        "frame": session.frame(),
        "state_hash": format!("{:032x}", session.panes[0].world.state().hash()),
    })
}

/// Everything a page shows; with `nodes`, where every node is.
pub fn full(session: &Session, clock: &Clock, nodes: bool) -> Value {
    let model = session.panes[0].world.model();
    let range = session.ring.range().unwrap_or((0, 0));
    let mut state = status(session, clock);
    let more = json!({
        "title": session.loaded.scene.title,
        "version": session.version,
        "at_start": session.at_start(),
        "edited": session.edited(),
        "shown": clock.shown,
        "speed": clock.speed,
        "reached": clock.reached,
        "steps": session.panes[0].world.state().steps,
        "rejected": session.panes[0].world.state().rejected,
        "failure": session.failure(),
        "second_failure": session.panes.get(1).and_then(|p| p.failure.as_deref()),
        "compare": session.compare.map(Word::word),
        "viewing": session.viewing,
        "recorded": session.recorded.len(),
        "undo": session.undo_label(),
        "redo": session.redo_label(),
        "dt": model.step.dt,
        "gravity": model.gravity.to_array(),
        "wind": model.wind.to_array(),
        "plane": model.flat,
        "bodies": model.bodies.iter().enumerate().map(|(b, body)| body_of(session, b, body)).collect::<Vec<_>>(),
        "obstacles": model.obstacles.iter().map(|o| obstacle(o, session.time())).collect::<Vec<_>>(),
        "record": {
            "first": range.0, "last": range.1, "fps": session.fps(),
            "bytes": session.ring.bytes(), "limit": session.ring.limit,
        },
        "checks": clock.checks,
        "warnings": warnings(session),
        "scenes": clock.scenes,
        "formats": Format::ALL.map(Format::name),
        "formulations": Formulation::WORDS.iter().map(|(w, _)| *w).collect::<Vec<_>>(),
        "integrators": Integrator::WORDS.iter().map(|(w, _)| *w).collect::<Vec<_>>(),
    });
    if let (Value::Object(state), Value::Object(more)) = (&mut state, more) {
        state.extend(more);
    }
    if nodes {
        let places = |k: usize| -> Value {
            let bodies = session.panes[k].world.state().bodies.iter();
            bodies.map(|b| b.positions.iter().map(|p| p.to_array()).collect::<Vec<_>>()).collect::<Vec<_>>().into_json()
        };
        state["positions"] = (0..session.panes.len()).map(places).collect::<Vec<_>>().into_json();
        let frame = session.panes[0].world.frame_now();
        let speeds = |b: &goop::frame::BodyFrame| b.velocities.clone();
        state["velocities"] = frame.bodies.iter().map(speeds).collect::<Vec<_>>().into_json();
        state["contacts"] = frame.contacts.into_json();
        state["energies"] = protocol::energies(&frame.ledger).to_vec().into_json();
        state["grabs"] = (session.panes.iter())
            .map(|pane| pane.world.model().bodies.iter().flat_map(|b| &b.pins).filter(|p| p.grab).count())
            .collect::<Vec<_>>()
            .into_json();
        state["text"] = session.whole_text().unwrap_or_default().into();
    }
    state
}

trait IntoJson {
    fn into_json(self) -> Value;
}

impl<T: serde::Serialize> IntoJson for Vec<T> {
    fn into_json(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn warnings(session: &Session) -> Vec<String> {
    let text = session.loaded.warnings.iter().map(|w| format!("{}; {}", w.message, w.hint));
    text.chain(session.built.warnings.iter().cloned()).collect()
}

fn body_of(session: &Session, index: usize, body: &Body) -> Value {
    let card = &body.material.card;
    let finite = |v: f64| v.is_finite().then_some(v);
    let mut values = json!({
        "density": card.density, "young": card.young, "poisson": card.poisson, "thickness": card.thickness,
        "radius": card.radius, "damping": card.damping, "drag": card.drag, "friction": card.friction,
        "yield": finite(card.yield_strain), "flow": finite(card.flow).filter(|f| *f > 0.0),
        "flow-limit": finite(card.flow_limit), "tear": finite(card.tear),
    });
    if let Some(raw) = &body.material.raw {
        for (key, value) in [("k", raw.k), ("d", raw.d), ("c", raw.c), ("shear", raw.shear), ("bend", raw.bend)] {
            values[key] = value.into();
        }
    }
    let of = |pin: &&goop::model::Pin| pin.nodes.clone();
    let pinned: Vec<u32> = body.pins.iter().filter(|p| !p.grab).flat_map(|p| of(&p)).collect();
    let grabbed: Vec<Value> = (body.pins.iter().filter(|p| p.grab))
        .map(|p| json!({ "nodes": p.nodes, "to": p.targets.first().map(|t| t.to_array()) }))
        .collect();
    let thrusts = body.loads.iter().filter_map(|load| match load {
        goop::model::Load::Thrust { nodes, newtons } => {
            Some(json!({ "nodes": nodes.len(), "newtons": newtons.to_array() }))
        }
        _ => None,
    });
    let named = |f: &&(&str, Formulation)| {
        let axes = build::axes(f.1.axes());
        (axes.elasticity, axes.coordinates) == (body.axes.elasticity, body.axes.coordinates)
    };
    // Several models share energy and unknowns and differ in the integrator alone.
    let exact = Formulation::WORDS.iter().find(|f| build::axes(f.1.axes()) == body.axes);
    let formulation = exact.or_else(|| Formulation::WORDS.iter().find(named)).map(|f| f.0);
    let integrator = Integrator::WORDS.iter().find(|(_, i)| {
        let mut axes = Formulation::Implicit.axes();
        axes.integrator = *i;
        build::axes(axes).integrator == body.axes.integrator
    });
    let row = session.panes[0].world.row(index);
    json!({
        "name": body.name, "nodes": body.len(), "mass": body.mass(), "formulation": formulation,
        "integrator": integrator.map(|(w, _)| *w), "material": values, "raw": body.material.raw.is_some(),
        "pinned": pinned, "grabbed": grabbed, "thrusts": thrusts.collect::<Vec<_>>(),
        "extent": body.extent(), "worst_stretch": row.worst_stretch,
        "momentum": row.momentum.to_array(),
    })
}

fn obstacle(obstacle: &Obstacle, time: f64) -> Value {
    let (kind, sizes) = match &obstacle.shape {
        ObstacleShape::Plane => ("plane", json!({})),
        ObstacleShape::Sphere { radius } => ("sphere", json!({ "radius": radius })),
        ObstacleShape::Ellipsoid { radii } => ("ellipsoid", json!({ "radii": radii.to_array() })),
        ObstacleShape::Torus { radius, tube } => ("torus", json!({ "radius": radius, "tube": tube })),
        ObstacleShape::Hyperboloid { waist, slope, height } => {
            ("hyperboloid", json!({ "waist": waist, "slope": slope, "height": height }))
        }
        ObstacleShape::Capsule { radius, length } => ("capsule", json!({ "radius": radius, "length": length })),
        ObstacleShape::Box { size, round } => ("box", json!({ "size": size.to_array(), "round": round })),
        ObstacleShape::Mesh(mesh) => {
            let positions: Vec<f32> = mesh.corners().iter().flat_map(|p| p.as_vec3().to_array()).collect();
            ("mesh", json!({ "positions": positions, "triangles": mesh.triangles().as_flattened() }))
        }
    };
    json!({
        "name": obstacle.name, "kind": kind, "sizes": sizes, "hollow": obstacle.hollow,
        "position": obstacle.motion.at(time).position.to_array(), "removed": obstacle.removed,
    })
}
