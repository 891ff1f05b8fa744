//! `[[body]]`.

use super::limits::*;
use super::topology::Topology;
use super::{Names, block, character, drive, keys, material, motion, selection, shape};
use crate::axes::available;
use crate::reader::{Table, Value};
use crate::scene::{Body, Coordinates, Elasticity, Formulation, Integrator, Load, Pin, Shape, Term, Vector};

/// A body, and whether its shape could be made out.
pub struct ReadBody {
    /// The body; its shape is a stand-in, or a saved one, if `grid` is `None`.
    pub body: Body,
    /// What later selections are checked against.
    pub grid: Option<Topology>,
}

/// Reads one body.
pub fn body(table: &Table<'_>, names: &mut Names, seconds: f64) -> ReadBody {
    let name = names.take(table);
    let (formulation, elasticity, coordinates, integrator) = axes(table);
    let shape = shape::shape(table);
    // What a saved shape is like only building will tell.
    let grid = shape.as_ref().filter(|shape| !matches!(shape, Shape::Saved { .. })).map(Topology::of);
    let known = shape.is_some();
    let pins = table.tables("pin", keys::PIN);
    let loads = table.tables("load", keys::LOAD);
    let drives = table.tables("drive", keys::BODY_DRIVE);
    let body = Body {
        name,
        formulation,
        elasticity,
        coordinates,
        integrator,
        without: without(table),
        position: table.take_vec3("position", COORDINATE).unwrap_or_default(),
        rotation: table.take_vec3("rotation", ANGLE).unwrap_or_default(),
        scale: scale(table),
        stretch: table.take_vec3("stretch", STRETCH).unwrap_or([1.0; 3]),
        velocity: table.take_vec3("velocity", SPEED).unwrap_or_default(),
        spin: table.take_vec3("spin", SPEED).unwrap_or_default(),
        color: table.take_vec3("color", COLOR),
        contact: table.take_bool("contact").unwrap_or(true),
        self_contact: table.take_bool("self-contact").unwrap_or(false),
        contact_thickness: table.take_f64("contact-thickness", THICKNESS),
        shape: shape.unwrap_or(Shape::Line { size: 1.0, nodes: [2] }),
        material: material::material(table, grid.as_ref()),
        parts: table.take_u32("parts", 1, MOST_PARTS).unwrap_or(1),
        solver: material::solver(table),
        pin: pins.iter().filter_map(|pin| self::pin(pin, grid.as_ref(), seconds)).collect(),
        load: loads.iter().filter_map(|load| self::load(load, grid.as_ref())).collect(),
        drive: drives.iter().filter_map(|one| drive::drive(one, grid.as_ref(), seconds)).collect(),
        bone: character::bones(table, seconds),
        motion: character::motion(table),
    };
    if known {
        character::fits(table, &body);
    }
    if let Some(entry) = table.get("without")
        && body.axes().is_some_and(|axes| axes.coordinates != Coordinates::Framed)
    {
        let message =
            format!("`{}` names inertial terms, which only a body with a rigid frame has", table.at("without"));
        table.reader.fault(entry.span, &table.at("without"), message, "remove it, or use formulation = \"hybrid\"");
    }
    if let Some(axes) = body.axes()
        && let Some(refusal) = axes.refusal()
    {
        let key = if table.get(refusal.key).is_some() { refusal.key } else { "formulation" };
        table.fault(key, refusal.sentence, refusal.hint);
    }
    parts(table, &body);
    ReadBody { body, grid }
}

/// Parts, and what is said of them where they do nothing.
fn parts(table: &Table<'_>, body: &Body) {
    let implicit = body.axes().is_none_or(|axes| {
        axes.coordinates == Coordinates::Nodal
            && matches!(axes.integrator, Integrator::BackwardEuler | Integrator::Bdf2 | Integrator::ImplicitMidpoint)
    });
    let reduced = body.axes().is_none_or(|axes| axes.coordinates == Coordinates::Reduced);
    if body.solver.by_parts && !implicit {
        let message = format!("`{}.by-parts` is for implicit steps of nodes", table.at("solver"));
        table.fault("solver", message, "remove it, or use formulation = \"implicit\"");
    } else if body.solver.by_parts && body.parts < 2 && !matches!(body.shape, Shape::Character { .. }) {
        let message = format!("`{}.by-parts` has nothing to do: the body is one part", table.at("solver"));
        table.fault("solver", message, "give the body `parts = 4`, or remove it");
    } else if body.parts > 1 && !reduced && !body.solver.by_parts {
        let message = format!("`{}` changes nothing here", table.at("parts"));
        let hint = "use formulation = \"reduced\", or solver.by-parts = true";
        table.reader.warn(table.span_of("parts"), &table.at("parts"), message, hint);
    }
}

type Words = (Option<Formulation>, Option<Elasticity>, Option<Coordinates>, Option<Integrator>);

/// Inertial terms that are left out.
fn without(table: &Table<'_>) -> Vec<Term> {
    let Some(entry) = table.get("without") else { return Vec::new() };
    let (path, key) = (table.at("without"), table.key("without"));
    let Some(items) = table.reader.list(&entry.node, &path, key, None) else { return Vec::new() };
    let word = |(index, item)| table.reader.word::<Term>(item, &format!("{path}[{index}]"), key);
    items.iter().enumerate().filter_map(word).collect()
}

/// A published model, perhaps with another energy or integrator; or all three axes.
fn axes(table: &Table<'_>) -> Words {
    let formulation = table.take_word::<Formulation>("formulation");
    let elasticity = table.take_word::<Elasticity>("elasticity");
    let coordinates = table.take_word::<Coordinates>("coordinates");
    let integrator = table.take_word::<Integrator>("integrator");
    if table.get("formulation").is_some() {
        if table.get("coordinates").is_some() {
            let message = "`coordinates` stands beside `formulation`, which already says it";
            table.fault("coordinates", message, "keep `formulation`, or remove it and give all three axes");
        }
        return (formulation, elasticity, None, integrator);
    }
    let three = ["elasticity", "coordinates", "integrator"];
    let missing: Vec<&str> = three.into_iter().filter(|name| table.get(name).is_none()).collect();
    if missing.len() == 3 {
        let message = format!("`{}` does not say how it moves: `formulation` is missing", table.path);
        let hint = format!("add `formulation = \"implicit\"` (one of {}), or the three axes", available());
        table.reader.fault(table.span, &table.at("formulation"), message, hint);
    } else if !missing.is_empty() {
        let message = format!("`{}` gives some of the three axes but not {}", table.path, missing.join(" and "));
        let lines: Vec<String> = missing.iter().map(|name| format!("`{}`", table.key(name).line)).collect();
        let hint = format!("add {}, or give `formulation` alone", lines.join(" and "));
        table.reader.fault(table.span, &table.at(missing[0]), message, hint);
    }
    (None, elasticity, coordinates, integrator)
}

/// One factor or three, none of them nought.
fn scale(table: &Table<'_>) -> Vector {
    let Some(entry) = table.get("scale") else { return [1.0; 3] };
    let (path, key) = (table.at("scale"), table.key("scale"));
    let scale = match entry.node.value {
        Value::Array(_) => table.take_vec3("scale", SCALE),
        _ => table.reader.number(&entry.node, &path, key, SCALE).map(|factor| [factor; 3]),
    };
    let Some(scale) = scale else { return [1.0; 3] };
    if scale.iter().any(|factor| factor.abs() < 1e-6) {
        let message = format!("`{path}` has a factor of nought, or nearly");
        table.fault("scale", message, "a flattened body has no size; use factors of at least 1e-6");
        return [1.0; 3];
    }
    scale
}

fn pin(table: &Table<'_>, grid: Option<&Topology>, seconds: f64) -> Option<Pin> {
    let at = selection::needed(table, "at", grid);
    let stiffness = table.take_f64("stiffness", STIFFNESS);
    let key = motion::keyframes(table, [0.0; 3], [0.0; 3], seconds);
    let drive = block::drive(table);
    Some(Pin { at: at?, stiffness, key, drive })
}

fn load(table: &Table<'_>, grid: Option<&Topology>) -> Option<Load> {
    let entry = table.one_of(&["force", "pressure"], "load")?;
    if entry.name == "force" {
        let force = table.take_table("force", keys::FORCE)?;
        let at = selection::needed(&force, "at", grid);
        let newtons = force.need_numbers("newtons", FORCE);
        let course = motion::course(&force);
        return Some(Load::Force { at: at?, newtons: newtons?, course });
    }
    let pressure = table.take_table("pressure", keys::PRESSURE)?;
    let pascals = pressure.need_f64("pascals", FORCE);
    let course = motion::course(&pressure);
    let gas = pressure.take_bool("gas").unwrap_or(false);
    if let Some(grid) = grid.filter(|grid| grid.closed == Some(false)) {
        let message = format!("a {} holds no pressure: it is not a closed surface", grid.kind);
        table.reader.fault(entry.span, &table.at("pressure"), message, "use a sphere, a torus or a closed mesh");
    }
    Some(Load::Pressure { pascals: pascals?, course, gas })
}
