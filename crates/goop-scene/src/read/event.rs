//! `[[probe]]` and `[[event]]`: tables that name bodies and obstacles.

use super::body::ReadBody;
use super::limits::*;
use super::topology::Topology;
use super::{Names, keys, obstacle as obstacles, selection};
use crate::reader::{Key, Range, Table, suggestion};
use crate::scene::{Attach, Contact, Edit, Event, Formulation, Integrator, ParameterValue, Probe, Selection};

/// What there is to be named.
pub struct Cast<'a> {
    /// The bodies.
    pub bodies: &'a [ReadBody],
    /// The obstacles, those that events add included.
    pub obstacles: &'a [String],
    /// Length of the clip (s).
    pub seconds: f64,
}

impl<'a> Cast<'a> {
    /// The body named under `body`, with a fault if there is none.
    pub fn body(&self, table: &Table<'_>) -> Option<(String, &'a ReadBody)> {
        let name = table.need_text("body")?;
        self.named(table, name)
    }

    fn named(&self, table: &Table<'_>, name: String) -> Option<(String, &'a ReadBody)> {
        let found = self.bodies.iter().find(|body| body.body.name == name);
        if found.is_none() {
            let hint = suggestion(&name, "the bodies", self.bodies.iter().map(|body| body.body.name.as_str()));
            table.fault("body", format!("there is no body \"{name}\""), hint);
        }
        found.map(|found| (name, found))
    }

    /// The body, and the grid its selections are checked against.
    fn select(&self, table: &Table<'_>) -> Option<(String, Selection)> {
        let body = self.body(table);
        let grid = body.as_ref().and_then(|(_, body)| body.grid.as_ref());
        let at = selection::needed(table, "at", grid);
        Some((body?.0, at?))
    }
}

/// Reads one probe.
pub fn probe(table: &Table<'_>, names: &mut Names, cast: &Cast<'_>) -> Option<Probe> {
    let name = names.take(table);
    let (body, at) = cast.select(table)?;
    Some(Probe { name, body, at })
}

/// Reads what two bodies have between them.
pub fn contact(table: &Table<'_>, cast: &Cast<'_>) -> Option<Contact> {
    let entry = table.need("bodies")?;
    let (path, key) = (table.at("bodies"), table.key("bodies"));
    let items = table.reader.list(&entry.node, &path, key, Some(2))?;
    let mut names = Vec::new();
    for (k, item) in items.iter().enumerate() {
        let name = table.reader.text(item, &format!("{path}[{k}]"), key)?;
        if !cast.bodies.iter().any(|body| body.body.name == name) {
            let hint = suggestion(&name, "the bodies", cast.bodies.iter().map(|body| body.body.name.as_str()));
            table.fault("bodies", format!("there is no body \"{name}\""), hint);
        }
        names.push(name);
    }
    let [one, two]: [String; 2] = names.try_into().ok()?;
    Some(Contact {
        bodies: [one, two],
        meet: table.take_bool("meet").unwrap_or(true),
        friction: table.take_f64("friction", FRICTION),
        restitution: table.take_f64("restitution", RESTITUTION),
    })
}

/// Reads what is fastened to what.
pub fn attach(table: &Table<'_>, cast: &Cast<'_>) -> Option<Attach> {
    let (body, at) = cast.select(table)?;
    let (to, bone) = (table.take_text("to"), table.take_text("bone"));
    let obstacle = table.take_text("obstacle");
    if let Some(to) = &to {
        if !cast.bodies.iter().any(|body| body.body.name == *to) {
            let hint = suggestion(to, "the bodies", cast.bodies.iter().map(|body| body.body.name.as_str()));
            table.fault("to", format!("there is no body \"{to}\""), hint);
        } else if *to == body {
            table.fault("to", "a body cannot be fastened to itself".to_owned(), "name another body".to_owned());
        }
    }
    if let Some(obstacle) = &obstacle
        && !cast.obstacles.contains(obstacle)
    {
        let hint = suggestion(obstacle, "the obstacles", cast.obstacles.iter().map(String::as_str));
        table.fault("obstacle", format!("there is no obstacle \"{obstacle}\""), hint);
    }
    if to.is_some() == obstacle.is_some() {
        let message = "an `[[attach]]` fastens to one thing: a body or an obstacle".to_owned();
        table.fault("body", message, "give `to = \"...\"` or `obstacle = \"...\"`, and not both".to_owned());
    }
    if bone.is_some() && to.is_none() {
        table.fault("bone", "a bone belongs to a body".to_owned(), "name the body it is in: `to = \"...\"`".to_owned());
    }
    Some(Attach { body, at, to, bone, obstacle })
}

/// Names of the obstacles that events add, for other events to name.
pub fn added(tables: &[Table<'_>]) -> Vec<String> {
    let name = |table: &Table<'_>| table.get("add")?.node.text_at("name");
    tables.iter().filter_map(name).collect()
}

/// Reads one event; `names` are those of obstacles.
pub fn event(table: &Table<'_>, names: &mut Names, cast: &Cast<'_>) -> Option<Event> {
    let time = table.need_f64("time", TIME);
    if let Some(time) = time.filter(|time| *time > cast.seconds) {
        let message = format!("`{}` ({time} s) is after the end of the clip ({} s)", table.at("time"), cast.seconds);
        table.reader.warn(table.span_of("time"), &table.at("time"), message, "raise `clip.seconds` to see it");
    }
    let edits: Vec<&str> = keys::EVENT.iter().map(|key| key.name).filter(|name| *name != "time").collect();
    let entry = table.one_of(&edits, "edit")?;
    let edit = edit(table, &entry.name, names, cast);
    Some(Event { time: time?, edit: edit? })
}

fn edit(event: &Table<'_>, name: &str, names: &mut Names, cast: &Cast<'_>) -> Option<Edit> {
    let open = |keys: &'static [Key]| event.take_table(name, keys);
    Some(match name {
        "pin" => {
            let t = open(keys::EDIT_PIN)?;
            let stiffness = t.take_f64("stiffness", STIFFNESS);
            let (body, at) = cast.select(&t)?;
            Edit::Pin { body, at, stiffness }
        }
        "unpin" => {
            let t = open(keys::EDIT_UNPIN)?;
            let body = cast.body(&t);
            let grid: Option<&Topology> = body.as_ref().and_then(|(_, body)| body.grid.as_ref());
            let at = match t.get("at") {
                Some(entry) => selection::selection(t.reader, &entry.node, &t.at("at"), grid),
                None => Some(Selection::All),
            };
            Edit::Unpin { body: body?.0, at: at? }
        }
        "grab" => {
            let t = open(keys::EDIT_GRAB)?;
            let (to, stiffness) = (t.need_numbers("to", COORDINATE), t.need_f64("stiffness", STIFFNESS));
            let (body, at) = cast.select(&t)?;
            Edit::Grab { body, at, to: to?, stiffness: stiffness? }
        }
        "release" => Edit::Release { body: cast.body(&open(keys::EDIT_BODY)?)?.0 },
        "stop" => Edit::Stop { body: cast.body(&open(keys::EDIT_BODY)?)?.0 },
        "parameter" => parameter(&open(keys::EDIT_PARAMETER)?, cast)?,
        "add" => Edit::Add(obstacles::obstacle(&open(keys::OBSTACLE)?, names, cast.seconds)),
        "thrust" => {
            let t = open(keys::EDIT_THRUST)?;
            let newtons = t.need_numbers("newtons", FORCE);
            let (body, at) = cast.select(&t)?;
            Edit::Thrust { body, at, newtons: newtons? }
        }
        "obstacle" => obstacle(&open(keys::EDIT_OBSTACLE)?, cast)?,
        "impulse" => {
            let t = open(keys::EDIT_IMPULSE)?;
            let newton_seconds = t.need_numbers("newton-seconds", FORCE);
            let (body, at) = cast.select(&t)?;
            Edit::Impulse { body, at, newton_seconds: newton_seconds? }
        }
        _ => {
            let t = open(keys::EDIT_FORMULATION)?;
            let body = cast.body(&t);
            t.need("to");
            let integrator = t.take_word::<Integrator>("integrator");
            let to = t.take_word::<Formulation>("to")?;
            let mut axes = to.axes();
            axes.integrator = integrator.unwrap_or(axes.integrator);
            if let Some(refusal) = axes.refusal() {
                t.fault("integrator", refusal.sentence, refusal.hint);
            }
            Edit::Formulation { body: body?.0, to, integrator }
        }
    })
}

/// Parameters of a material card, with their ranges.
const CARD: [(&str, Range); 13] = [
    ("density", DENSITY),
    ("young", YOUNG),
    ("poisson", POISSON),
    ("thickness", THICKNESS),
    ("radius", THICKNESS),
    ("damping", DAMPING),
    ("drag", DRAG),
    ("friction", FRICTION),
    ("restitution", RESTITUTION),
    ("yield", STRAIN),
    ("flow", RATE),
    ("flow-limit", STRAIN_LIMIT),
    ("tear", STRAIN_LIMIT),
];
/// Parameters of raw constants.
const RAW: [(&str, Range); 5] =
    [("k", CONSTANT), ("d", CONSTANT), ("c", CONSTANT), ("shear", CONSTANT), ("bend", CONSTANT)];
/// Parameters of the world: vectors, and the largest step.
const WORLD: [(&str, Range); 3] = [("gravity", ACCELERATION), ("wind", SPEED), ("dt", STEP)];

/// What a parameter may be: of a body's material, or of the world.
pub fn parameter_range(of_body: bool, key: &str) -> Option<Range> {
    let all = if of_body { [&CARD[..], &RAW[..]].concat() } else { WORLD.to_vec() };
    all.iter().find(|(name, _)| *name == key).map(|(_, range)| *range)
}

fn parameter(table: &Table<'_>, cast: &Cast<'_>) -> Option<Edit> {
    let body = table.get("body").map(|_| table.take_text("body").and_then(|name| cast.named(table, name)));
    let key = table.need_text("key");
    table.need("value");
    let key = key?;
    let Some(body) = body else {
        let Some((_, range)) = WORLD.iter().find(|(name, _)| *name == key) else {
            let hint = if CARD.iter().chain(&RAW).any(|(name, _)| *name == key) {
                "add `body = \"…\"`: this is a value of a body's material".to_string()
            } else {
                suggestion(&key, "without `body` the keys are", WORLD.map(|(name, _)| name))
            };
            table.fault("key", format!("the world has no parameter \"{key}\""), hint);
            return None;
        };
        let value = match key.as_str() {
            "dt" => ParameterValue::Number(table.take_f64("value", *range)?),
            _ => ParameterValue::Vector(table.take_vec3("value", *range)?),
        };
        return Some(Edit::Parameter { body: None, key, value });
    };
    let (name, body) = body?;
    let raw = if body.body.material.raw.is_some() { &RAW[..] } else { &[] };
    let Some((_, range)) = CARD.iter().chain(raw).find(|(name, _)| *name == key) else {
        let mut hint = suggestion(&key, "the keys of its card", CARD.iter().chain(raw).map(|(name, _)| *name));
        if RAW.iter().any(|(name, _)| *name == key) {
            hint = "give the body [body.material.raw], or change `young` or `damping`".into();
        } else if WORLD.iter().any(|(name, _)| *name == key) {
            hint = "remove `body`: this belongs to the world".into();
        }
        table.fault("key", format!("body \"{name}\" has no parameter \"{key}\""), hint);
        return None;
    };
    let value = table.take_f64("value", *range)?;
    Some(Edit::Parameter { body: Some(name), key, value: ParameterValue::Number(value) })
}

fn obstacle(table: &Table<'_>, cast: &Cast<'_>) -> Option<Edit> {
    let position = table.take_vec3("position", COORDINATE);
    let remove = table.take_bool("remove").unwrap_or(false);
    let name = table.need_text("name")?;
    if !cast.obstacles.contains(&name) {
        let hint = suggestion(&name, "the obstacles", cast.obstacles.iter().map(String::as_str));
        table.fault("name", format!("there is no obstacle \"{name}\""), hint);
        return None;
    }
    let given = table.get("position").is_some();
    if given == remove {
        let message = format!("`{}` must either move the obstacle or remove it", table.path);
        table.reader.fault(table.span, &table.path, message, "give `position = [0.0, 1.0, 0.0]` or `remove = true`");
        return None;
    }
    (position.is_some() || remove).then_some(Edit::Obstacle { name, position, remove })
}
