//! `[body.shape.character]`, `[[body.bone]]` and `[body.motion]`.

use std::collections::BTreeMap;

use super::limits::*;
use super::{block, keys, motion, shape};
use crate::reader::{Range, Table, Value};
use crate::scene::{
    Body, BodyMotion, Bone, Capsule, CharacterLattice, Elasticity, Ellipsoid, InsideTest, Shape, SkeletonFrom, SkinWay,
};

/// Nodes of a character that does not say how many.
pub const USUAL_NODES: u32 = 6000;
/// Bones of one character.
const MAX_BONES: usize = 1000;

/// Reads the shape.
pub fn shape(table: &Table<'_>) -> Option<Shape> {
    let file = shape::character_file(table);
    let nodes = table.take_u32("nodes", 50, MAX_BODY_NODES as u32);
    let rate = table.take_f64("rate", Range::within(2.0, 1000.0));
    if table.get("nodes").is_some() && table.get("rate").is_some() {
        let message = format!("`{}` stands beside `nodes`, which already says how fine it is", table.at("rate"));
        table.fault("rate", message, "keep one of them");
    }
    let lattice = table.take_word("lattice").unwrap_or(CharacterLattice::BodyCentred);
    let inside = table.take_word("inside").unwrap_or(InsideTest::Winding);
    let skin = table.take_word("skin").unwrap_or(SkinWay::Embedded);
    let skeleton = table.take_word("skeleton");
    let height = table.take_f64("height", LENGTH);
    let nodes = nodes.unwrap_or(USUAL_NODES);
    Some(Shape::Character { file: file?, nodes, rate, lattice, inside, skin, skeleton, height })
}

/// Reads the bones of a body.
pub fn bones(body: &Table<'_>, seconds: f64) -> Vec<Bone> {
    let tables = body.tables("bone", keys::BONE);
    if tables.len() > MAX_BONES {
        let message = format!("`{}` has {} bones, the most is {MAX_BONES}", body.path, tables.len());
        body.fault("bone", message, "leave some out");
        return Vec::new();
    }
    let mut bones: Vec<Bone> = Vec::new();
    for table in &tables {
        let Some(name) = table.need_text("name") else { continue };
        if bones.iter().any(|bone| bone.name == name) {
            table.fault("name", format!("two bones have the name \"{name}\""), "rename one of them");
        }
        let capsule = table.take_table("capsule", keys::BONE_CAPSULE).and_then(|table| capsule(&table));
        let ellipsoid = table.take_table("ellipsoid", keys::BONE_ELLIPSOID).and_then(|table| ellipsoid(&table));
        if table.get("capsule").is_some() == table.get("ellipsoid").is_some() {
            let message = format!("bone \"{name}\" must have one form");
            table.reader.fault(table.span, &table.path, message, "give `capsule` or `ellipsoid`");
        }
        let parent = table.take_text("parent");
        if let Some(parent) = parent.as_ref().filter(|parent| !bones.iter().any(|bone| bone.name == **parent)) {
            let message = format!("no bone before \"{name}\" has the name \"{parent}\"");
            table.fault("parent", message, "a bone stands after the one it hangs on");
        }
        let joint = table.take_text("joint");
        let key = motion::keyframes(table, [0.0; 3], [0.0; 3], seconds);
        let drive = block::drive(table);
        bones.push(Bone { name, capsule, ellipsoid, parent, joint, key, drive });
    }
    bones
}

fn capsule(table: &Table<'_>) -> Option<Capsule> {
    let from = table.need_numbers("from", COORDINATE);
    let to = table.need_numbers("to", COORDINATE);
    let radius = table.need_f64("radius", LENGTH);
    Some(Capsule { from: from?, to: to?, radius: radius? })
}

fn ellipsoid(table: &Table<'_>) -> Option<Ellipsoid> {
    let center = table.need_numbers("center", COORDINATE);
    let radii = table.need_numbers("radii", LENGTH);
    let rotation = table.take_vec3("rotation", ANGLE).unwrap_or_default();
    Some(Ellipsoid { center: center?, radii: radii?, rotation })
}

/// Reads what moves the bones.
pub fn motion(body: &Table<'_>) -> Option<BodyMotion> {
    let table = body.take_table("motion", keys::MOTION)?;
    let file = match table.take_text("file") {
        Some(file) if !file.to_lowercase().ends_with(".bvh") => {
            let message = format!("\"{file}\" is not motion capture that can be read");
            table.fault("file", message, "the name must end in .bvh; an animation of the rig is chosen by `clip`");
            None
        }
        file => file.map(|file| shape::beside(&table, &file)),
    };
    let motion = BodyMotion {
        file,
        clip: clip(&table),
        start: table.take_f64("start", TIME).unwrap_or(0.0),
        speed: table.take_f64("speed", Range::within(1e-3, 1e3)).unwrap_or(1.0),
        repeat: table.take_bool("repeat").unwrap_or(false),
        ground: table.take_bool("ground").unwrap_or(true),
        bind_frame: table.take_u32("bind-frame", 0, 100_000_000),
        start_frame: table.take_u32("start-frame", 0, 100_000_000),
        up: table.take_word("up"),
        unit: table.take_f64("unit", LENGTH),
        map: map(&table),
    };
    if table.get("file").is_some() && table.get("clip").is_some() {
        let message = format!("`{}` names an animation of the rig beside a capture", table.at("clip"));
        table.fault("clip", message, "keep `file` or `clip`");
    }
    if table.get("file").is_none() {
        for name in ["bind-frame", "start-frame", "up", "unit", "map"] {
            if table.get(name).is_some() {
                let message = format!("`{}` has no effect without a capture", table.at(name));
                table.reader.warn(table.span_of(name), &table.at(name), message, "give `file`, or take it out");
            }
        }
    }
    Some(motion)
}

/// `clip`: a name, or a number from 0.
fn clip(table: &Table<'_>) -> Option<String> {
    let entry = table.get("clip")?;
    match entry.node.value {
        Value::Integer(number) if number >= 0 => Some(number.to_string()),
        _ => table.take_text("clip"),
    }
}

/// `map`: pairs of names.
fn map(table: &Table<'_>) -> BTreeMap<String, String> {
    let Some(entry) = table.get("map") else { return BTreeMap::new() };
    let (path, key) = (table.at("map"), table.key("map"));
    let Value::Table(entries) = &entry.node.value else {
        let message = format!("`{path}` must be a table, found {}", entry.node.kind());
        table.fault("map", message, key.hint());
        return BTreeMap::new();
    };
    let pair = |entry: &crate::reader::Entry| {
        let text = table.reader.text(&entry.node, &format!("{path}.{}", entry.name), key)?;
        Some((entry.name.clone(), text))
    };
    entries.iter().filter_map(pair).collect()
}

/// Notes what goes with a character only, and what goes with none.
pub fn fits(table: &Table<'_>, body: &Body) {
    let Shape::Character { skeleton, .. } = &body.shape else {
        for name in ["bone", "motion"] {
            if let Some(entry) = table.get(name) {
                let message = format!("`{}` goes with a character only", table.at(name));
                table.reader.fault(entry.span, &table.at(name), message, "use shape.character, or take it out");
            }
        }
        if body.axes().is_some_and(|axes| axes.elasticity == Elasticity::Finite)
            && !matches!(body.shape, Shape::Box { .. } | Shape::Ball { .. } | Shape::Saved { .. })
        {
            let key = if table.get("elasticity").is_some() { "elasticity" } else { "formulation" };
            let message = "finite elements fill a solid, and this shape is none";
            table.fault(key, message, "use a box, a ball or a character, or another elasticity");
        }
        return;
    };
    if *skeleton == Some(SkeletonFrom::None) && !body.bone.is_empty() {
        table.fault("bone", "bones are given beside skeleton = \"none\"", "take out one of them");
    }
    let [x, y, z] = body.scale;
    if x != y || y != z || x <= 0.0 {
        let hint = "use one factor above nought for all, or `height` in the shape";
        table.fault("scale", "a character is scaled alike along all axes", hint);
    }
    if table.get("stretch").is_some() && body.stretch != [1.0; 3] {
        table.fault("stretch", "a character starts in the pose of its bones, not stretched", "take `stretch` out");
    }
}
