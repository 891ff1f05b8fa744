//! `[body.material]` and `[body.solver]`.

use super::limits::*;
use super::topology::Topology;
use super::{keys, selection};
use crate::presets::{GENERIC, preset, presets};
use crate::reader::{Range, Table, Value, Word, suggestion};
use crate::scene::{Linear, Material, Preconditioner, Raw, Region, Solver, Weights};

/// Reads the card: preset first, then the keys over it.
pub fn material(body: &Table<'_>, grid: Option<&Topology>) -> Material {
    let table = body.table("material", keys::MATERIAL);
    let name = table.take_text("preset");
    let card = match &name {
        None => &GENERIC,
        Some(name) => preset(name).unwrap_or_else(|| {
            let hint = suggestion(name, "the presets", presets().iter().map(|preset| preset.name));
            table.fault("preset", format!("there is no material \"{name}\""), hint);
            &GENERIC
        }),
    };
    let raw = raw(&table, grid);
    if raw.is_some() {
        for unused in ["young", "poisson", "damping"] {
            if table.get(unused).is_some() {
                let message = format!("`{}` has no effect beside raw constants", table.at(unused));
                let hint = "remove it, or remove [body.material.raw]";
                table.reader.warn(table.span_of(unused), &table.at(unused), message, hint);
            }
        }
    }
    let has_raw = table.get("raw").is_some();
    let weights = table.take_table("weights", keys::WEIGHTS).map(|table| self::weights(&table));
    if table.get("flow-limit").is_some() && table.get("yield").is_none() && table.get("flow").is_none() {
        let message = format!("`{}` has no effect on a material that does not flow", table.at("flow-limit"));
        table.reader.warn(table.span_of("flow-limit"), &table.at("flow-limit"), message, "give `yield` or `flow`");
    }
    let regions = table.tables("region", keys::REGION);
    Material {
        preset: name,
        density: table.take_f64("density", DENSITY).unwrap_or(card.density),
        young: table.take_f64("young", YOUNG).unwrap_or(card.young),
        poisson: table.take_f64("poisson", POISSON).unwrap_or(card.poisson),
        thickness: table.take_f64("thickness", THICKNESS).unwrap_or(card.thickness),
        radius: table.take_f64("radius", THICKNESS).unwrap_or(card.radius),
        damping: table.take_f64("damping", DAMPING).unwrap_or(card.damping),
        drag: table.take_f64("drag", DRAG).unwrap_or(card.drag),
        friction: table.take_f64("friction", FRICTION).unwrap_or(card.friction),
        restitution: table.take_f64("restitution", RESTITUTION).unwrap_or(0.0),
        r#yield: table.take_f64("yield", STRAIN),
        flow: table.take_f64("flow", RATE),
        flow_limit: table.take_f64("flow-limit", STRAIN_LIMIT),
        tear: table.take_f64("tear", STRAIN_LIMIT),
        raw,
        region: regions.iter().filter_map(|table| region(table, grid, [has_raw, weights.is_some()])).collect(),
        weights,
    }
}

fn raw(material: &Table<'_>, grid: Option<&Topology>) -> Option<Raw> {
    let table = material.take_table("raw", keys::RAW)?;
    let k = table.need_f64("k", CONSTANT);
    let node_mass = table.need_f64("node-mass", MASS);
    let raw = Raw {
        k: k.unwrap_or(1.0),
        d: table.take_f64("d", CONSTANT).unwrap_or(0.0),
        c: table.take_f64("c", CONSTANT).unwrap_or(0.0),
        node_mass: node_mass.unwrap_or(1.0),
        rest: rest(&table, grid),
        shear: table.take_f64("shear", CONSTANT).unwrap_or(0.0),
        bend: table.take_f64("bend", CONSTANT).unwrap_or(0.0),
    };
    Some(raw)
}

fn weights(table: &Table<'_>) -> Weights {
    Weights {
        zero: table.take_f64("zero", CONSTANT).unwrap_or(0.0),
        first: table.take_vec3("first", CONSTANT).unwrap_or_default(),
        shear: table.take_vec3("shear", CONSTANT).unwrap_or_default(),
        second: table.take_vec3("second", CONSTANT).unwrap_or_default(),
        mixed: table.take_vec3("mixed", CONSTANT).unwrap_or_default(),
        twist: table.take_f64("twist", CONSTANT).unwrap_or(0.0),
    }
}

/// `rest`: one length for all directions, or one per axis; a mesh has one.
fn rest(table: &Table<'_>, grid: Option<&Topology>) -> Option<Vec<f64>> {
    let node = &table.get("rest")?.node;
    let (path, key) = (table.at("rest"), table.key("rest"));
    let axes = grid.map(|grid| grid.axes.len().max(1));
    let Value::Array(items) = &node.value else {
        let length = table.reader.number(node, &path, key, LENGTH)?;
        return Some(vec![length; axes.unwrap_or(1)]);
    };
    if axes.is_some_and(|axes| axes != items.len()) || items.is_empty() {
        let wanted = axes.unwrap_or(1);
        let message = format!("`{path}` must have one length per axis, {wanted} here, found {}", items.len());
        table.fault("rest", message, key.hint());
        return None;
    }
    let read = |(index, item)| table.reader.number(item, &format!("{path}[{index}]"), key, LENGTH);
    let lengths: Vec<Option<f64>> = items.iter().enumerate().map(read).collect();
    lengths.into_iter().collect()
}

fn region(table: &Table<'_>, grid: Option<&Topology>, [raw, weights]: [bool; 2]) -> Option<Region> {
    let at = selection::needed(table, "at", grid);
    let density = table.take_f64("density", DENSITY);
    let young = table.take_f64("young", YOUNG);
    let thickness = table.take_f64("thickness", THICKNESS);
    let damping = table.take_f64("damping", DAMPING);
    let k = table.take_f64("k", CONSTANT);
    if k.is_some() && !raw {
        let message = format!("`{}` is a raw constant, and the material has none", table.at("k"));
        table.fault("k", message, "give `young` here, or the whole body [body.material.raw]");
    }
    let weight = table.take_f64("weight", CONSTANT);
    if weight.is_some() && !weights {
        let message = format!("`{}` is a factor of weights, and the material has none", table.at("weight"));
        table.fault("weight", message, "give `young` here, or the whole body [body.material.weights]");
    }
    if ["density", "young", "thickness", "damping", "k", "weight"].iter().all(|name| table.get(name).is_none()) {
        let message = format!("`{}` changes nothing", table.path);
        table.reader.warn(table.span, &table.path, message, "give density, young, thickness, damping, k or weight");
    }
    Some(Region { at: at?, density, young, thickness, damping, k, weight })
}

/// Reads `[body.solver]`.
pub fn solver(body: &Table<'_>) -> Solver {
    let table = body.table("solver", keys::SOLVER);
    let linear = table.take_word("linear").unwrap_or(Linear::Auto);
    let preconditioner = table.take_word("preconditioner").unwrap_or(Preconditioner::Jacobi);
    let unused = matches!(linear, Linear::Cholesky | Linear::Profile | Linear::Sor);
    if unused && preconditioner != Preconditioner::Jacobi {
        let message = format!("`{}` changes nothing beside linear = \"{}\"", table.at("preconditioner"), linear.word());
        let hint = "leave it out, or use linear = \"conjugate-gradients\"";
        table.reader.warn(table.span_of("preconditioner"), &table.at("preconditioner"), message, hint);
    }
    Solver {
        newton: table.take_u32("newton", 1, 50).unwrap_or(1),
        tolerance: table.take_f64("tolerance", Range::within(1e-14, 0.1)).unwrap_or(1e-6),
        linear,
        preconditioner,
        max_iterations: table.take_u32("max-iterations", 1, 1_000_000).unwrap_or(200),
        by_parts: table.take_bool("by-parts").unwrap_or(false),
    }
}
