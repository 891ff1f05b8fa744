//! What a page changes: in the text while nothing has moved, as an event afterwards.

use super::{Answer, Outcome, Session};
use crate::protocol::{Command, MOST_NODES};
use crate::{document, drawing};
use goop::Edit as EngineEdit;
use goop_scene::build::edit_now;
use goop_scene::reader::{Range, Word};
use goop_scene::scene::{
    Edit, Event, Formulation, Integrator, Obstacle, ObstacleShape, ParameterValue, Plane, Selection,
};
use std::sync::Arc;

impl Session {
    /// Does an edit; other commands are none of its business.
    pub(super) fn edit(&mut self, command: Command) -> Outcome {
        match command {
            Command::Grab { body, node, to, gesture, strength } => self.grab(body, node, to, gesture, strength),
            Command::Release { body } => {
                let body = self.body_name(body)?;
                self.gesture = None;
                self.act(Edit::Release { body })
            }
            Command::Pin { body, nodes } => self.pin(body, nodes),
            Command::Unpin { body, nodes } => self.unpin(body, nodes),
            Command::Material { body, key, value } => {
                let name = self.body_name(body)?;
                self.keep(&format!("change of {key}"));
                let text = document::set_material(&self.text, &name, &key, value);
                let value = ParameterValue::Number(value);
                self.change(text, Edit::Parameter { body: Some(name), key, value })
            }
            Command::Formulation { body, to, integrator } => {
                let name = self.body_name(body)?;
                self.keep("change of model");
                let model = word::<Formulation>(&to)?;
                let own = integrator.as_deref().map(word::<Integrator>).transpose()?;
                let text = document::set_formulation(&self.text, &name, &to, integrator.as_deref());
                self.change(text, Edit::Formulation { body: name, to: model, integrator: own })
            }
            Command::StepLength { dt } => {
                self.keep("change of step");
                let text = document::set_number(&self.text, "step", "dt", dt);
                let value = ParameterValue::Number(dt);
                self.change(text, Edit::Parameter { body: None, key: "dt".into(), value })
            }
            Command::World { gravity, wind } => {
                for (key, vector) in [("gravity", gravity), ("wind", wind)] {
                    let Some(vector) = vector else { continue };
                    self.keep(&format!("change of {key}"));
                    let text = document::set_vector(&self.text, "world", key, vector);
                    let value = ParameterValue::Vector(vector);
                    self.change(text, Edit::Parameter { body: None, key: key.into(), value })?;
                }
                Ok(Answer::Done)
            }
            Command::AddObstacle { kind, position, size } => {
                let obstacle = self.new_obstacle(&kind, position, size)?;
                self.keep("new obstacle");
                let text = document::add_obstacle(&self.text, &obstacle);
                self.change(text, Edit::Add(obstacle))
            }
            Command::MoveObstacle { name, position } => {
                self.keep(&format!("change of the place of {name}"));
                let text = document::move_obstacle(&self.text, &name, position);
                self.change(text, Edit::Obstacle { name, position: Some(position), remove: false })
            }
            Command::RemoveObstacle { name } => {
                self.keep("removal of an obstacle");
                let text = document::remove_obstacle(&self.text, &name);
                self.change(text, Edit::Obstacle { name, position: None, remove: true })
            }
            Command::Thrust { body, nodes, newtons } => {
                let name = self.body_name(body)?;
                let at = if nodes.is_empty() { Selection::All } else { Selection::Index(self.nodes(body, nodes)?) };
                if newtons != [0.0; 3] {
                    self.keep("thrust");
                }
                self.act(Edit::Thrust { body: name, at, newtons })
            }
            Command::Stop { body } => {
                let body = self.body_name(body)?;
                self.keep("stop");
                self.act(Edit::Stop { body })
            }
            Command::Draw { points, instead } => self.draw(&points, instead),
            Command::Compare { formulation } => {
                let compare = formulation.as_deref().map(word::<Formulation>).transpose()?;
                self.keep("comparison");
                self.restart(self.text.clone(), compare).map(|()| Answer::Done)
            }
            other => Err(format!("{other:?} is not an edit")),
        }
    }

    fn grab(&mut self, body: usize, node: u32, to: [f64; 3], gesture: u64, strength: f64) -> Outcome {
        let name = self.body_name(body)?;
        let nodes = self.nodes(body, vec![node])?;
        if !(strength.is_finite() && (1e-3..=1e3).contains(&strength)) {
            return Err("the strength of a pull is 0.001 to 1000".into());
        }
        if self.gesture != Some(gesture) {
            self.keep("drag");
            self.gesture = Some(gesture);
        }
        // A spring that carries the whole body with 2.5 cm of give: ω = 20 rad/s.
        let stiffness = 400.0 * strength * self.panes[0].world.model().bodies[body].mass();
        self.act(Edit::Grab { body: name, at: Selection::Index(nodes), to, stiffness })
    }

    fn pin(&mut self, body: usize, nodes: Vec<u32>) -> Outcome {
        let (name, nodes) = (self.body_name(body)?, self.nodes(body, nodes)?);
        let held = &self.panes[0].world.model().bodies[body].pins;
        let free = |n: &u32| !held.iter().any(|p| !p.grab && p.nodes.contains(n));
        let nodes: Vec<u32> = nodes.into_iter().filter(free).collect();
        if nodes.is_empty() {
            return Ok(Answer::Done);
        }
        self.keep("pin");
        let text = document::pin(&self.text, &name, &nodes);
        self.change(text, Edit::Pin { body: name, at: Selection::Index(nodes), stiffness: None })
    }

    fn unpin(&mut self, body: usize, nodes: Vec<u32>) -> Outcome {
        let (name, nodes) = (self.body_name(body)?, self.nodes(body, nodes)?);
        self.keep("unpin");
        let path = format!("body.{name}.pin[");
        let held: Vec<Vec<u32>> =
            (self.built.selections.iter()).filter(|s| s.path.starts_with(&path)).map(|s| s.nodes.clone()).collect();
        let text = document::unpin(&self.text, &name, &nodes, &held);
        self.change(text, Edit::Unpin { body: name, at: Selection::Index(nodes) })
    }

    /// At the start a changed text, afterwards an event.
    fn change(&mut self, text: Option<String>, edit: Edit) -> Outcome {
        check_edit(&edit)?;
        if self.at_start()
            && let Some(text) = text
        {
            match self.restart(text, self.compare) {
                Ok(()) => return Ok(Answer::Done),
                // The text may forbid what an event allows: an obstacle that an event names.
                Err(sentence) => return self.act(edit).map_err(|_| sentence),
            }
        }
        self.act(edit)
    }

    /// Does an edit now in every pane and records it.
    fn act(&mut self, edit: Edit) -> Outcome {
        check_edit(&edit)?;
        self.viewing = None;
        let folder = self.path.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
        for (k, pane) in self.panes.iter_mut().enumerate() {
            if k > 0 && matches!(edit, Edit::Formulation { .. }) {
                continue;
            }
            let made =
                edit_now(&edit, pane.world.model(), &folder).map_err(|f| format!("{}; {}", f.message, f.hint))?;
            if k == 0 {
                self.version += u32::from(matches!(made, EngineEdit::Axes { .. }));
            }
            pane.world.record(made);
            pane.failure = None;
        }
        let drag = matches!(edit, Edit::Grab { .. } | Edit::Release { .. } | Edit::Thrust { .. });
        self.changes += u64::from(!drag);
        let time = self.time();
        self.recorded.push(Arc::new(Event { time, edit }));
        Ok(Answer::Done)
    }

    /// A drawn curve joins the bodies, or gives one of them its shape.
    fn draw(&mut self, points: &[[f64; 3]], instead: Option<usize>) -> Outcome {
        let curve = drawing::Curve::from_points(points)?;
        if self.loaded.scene.world.plane != Some(Plane::Xy) {
            return Err("drawing needs a scene in the xy plane: choose flatland, or give [world] plane = \"xy\"".into());
        }
        let text = match instead {
            Some(body) => document::reshape(&self.text, &self.body_name(body)?, curve.place, &curve.shape()),
            None => {
                let taken = |name: &str| self.loaded.scene.body.iter().any(|b| b.name == name);
                let name = (1..).map(|n| format!("drawn-{n}")).find(|name| !taken(name)).unwrap_or_default();
                document::add_body(&self.text, &curve.body(&name))
            }
        };
        let text = text.ok_or("the scene's bodies are written on one line; write them as [[body]] tables")?;
        self.keep("drawing");
        self.restart(text, self.compare).map(|()| Answer::Done)
    }

    fn body_name(&self, body: usize) -> Result<String, String> {
        let bodies = &self.panes[0].world.model().bodies;
        bodies.get(body).map(|b| b.name.clone()).ok_or_else(|| format!("there is no body number {body}"))
    }

    fn nodes(&self, body: usize, nodes: Vec<u32>) -> Result<Vec<u32>, String> {
        let count = self.panes[0].world.model().bodies[body].len();
        match nodes.iter().find(|&&n| n as usize >= count) {
            _ if nodes.is_empty() => Err("no node was chosen".into()),
            _ if nodes.len() > MOST_NODES => Err(format!("at most {MOST_NODES} nodes at once")),
            Some(node) => Err(format!("there is no node {node}: the body has {count}")),
            None => Ok(nodes),
        }
    }

    fn new_obstacle(&self, kind: &str, position: [f64; 3], size: f64) -> Result<Obstacle, String> {
        if !(size.is_finite() && (1e-4..=1e4).contains(&size)) {
            return Err("the size of an obstacle is 0.1 mm to 10 km".into());
        }
        let shape = match kind {
            "plane" => ObstacleShape::Plane {},
            "sphere" => ObstacleShape::Sphere { radius: 0.5 * size },
            "ellipsoid" => ObstacleShape::Ellipsoid { radii: [0.6 * size, 0.3 * size, 0.4 * size] },
            "torus" => ObstacleShape::Torus { radius: 0.4 * size, tube: 0.14 * size },
            "hyperboloid" => ObstacleShape::Hyperboloid { waist: 0.2 * size, slope: 0.3 * size, height: size },
            "capsule" => ObstacleShape::Capsule { radius: 0.2 * size, length: 0.6 * size },
            "box" => ObstacleShape::Box { size: [size, 0.5 * size, 0.7 * size], round: 0.05 * size },
            _ => return Err(format!("there is no obstacle of the kind '{kind}'")),
        };
        let taken = &self.panes[0].world.model().obstacles;
        let name = (1..).map(|n| format!("{kind}-{n}")).find(|name| taken.iter().all(|o| o.name != *name));
        Ok(Obstacle {
            color: None,
            name: name.unwrap_or_default(),
            shape,
            position,
            rotation: [0.0; 3],
            hollow: false,
            friction: 0.3,
            restitution: None,
            range: 0.005,
            stiffness: None,
            damping: 0.2,
            tolerance: 1e-4,
            published: None,
            key: Vec::new(),
        })
    }
}

fn word<W: Word>(text: &str) -> Result<W, String> {
    W::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
        format!("'{}' is not one of {}", text.chars().take(40).collect::<String>(), words.join(", "))
    })
}

/// Numbers that a scene file would refuse are refused here as well.
fn check_edit(edit: &Edit) -> Result<(), String> {
    use goop_scene::read::limits::{COORDINATE, FORCE, STIFFNESS};
    let within = |name: &str, values: &[f64], range: Range| match values.iter().find(|v| !range.contains(**v)) {
        Some(value) => Err(format!("{name} cannot be {value}: it must be {}", range.words())),
        None => Ok(()),
    };
    match edit {
        Edit::Grab { to, stiffness, .. } => {
            within("a point", to, COORDINATE).and_then(|()| within("the stiffness", &[*stiffness], STIFFNESS))
        }
        Edit::Thrust { newtons, .. } => within("a force", newtons, FORCE),
        Edit::Parameter { body, key, value } => {
            let range = goop_scene::read::parameter_range(body.is_some(), key).ok_or_else(|| {
                let owner = if body.is_some() { "a material" } else { "the world" };
                format!("{owner} has no '{}'", key.chars().take(40).collect::<String>())
            })?;
            match value {
                ParameterValue::Number(number) => within(key, &[*number], range),
                ParameterValue::Vector(vector) => within(key, vector, range),
            }
        }
        Edit::Obstacle { position: Some(position), .. } => within("a place", position, COORDINATE),
        Edit::Add(obstacle) => within("a place", &obstacle.position, COORDINATE),
        _ => Ok(()),
    }
}
