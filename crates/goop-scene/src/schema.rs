//! A JSON schema of scene files, so that editors complete and check them.
//!
//! Types and descriptions come from `scene`; which keys there are, which must be
//! given and what they look like comes from the reader's own lists.

use serde_json::{Map, Value, json};

use crate::presets::presets;
use crate::read::keys;
use crate::reader::Key;
use crate::scene::Scene;

/// The tables of a file by the name of their definition, with the keys they take.
/// A second name is the variant of a choice.
pub const TABLES: &[(&str, Option<&str>, &[Key])] = &[
    ("World", None, keys::WORLD),
    ("Clip", None, keys::CLIP),
    ("Step", None, keys::STEP),
    ("Body", None, keys::BODY),
    ("Shape", None, keys::SHAPE),
    ("Shape", Some("line"), keys::LINE),
    ("Shape", Some("arc"), keys::ARC),
    ("Shape", Some("hoop"), keys::HOOP),
    ("Shape", Some("helix"), keys::HELIX),
    ("Shape", Some("spline"), keys::SPLINE),
    ("Shape", Some("rectangle"), keys::RECTANGLE),
    ("Shape", Some("disc"), keys::ROUND),
    ("Shape", Some("cylinder"), keys::CYLINDER),
    ("Shape", Some("sphere"), keys::ROUND),
    ("Shape", Some("torus"), keys::TORUS),
    ("Shape", Some("revolve"), keys::REVOLVE),
    ("Shape", Some("bezier"), keys::BEZIER),
    ("Shape", Some("box"), keys::BOX),
    ("Shape", Some("ball"), keys::BALL),
    ("Shape", Some("mesh"), keys::MESH),
    ("Shape", Some("saved"), keys::SAVED),
    ("Shape", Some("character"), keys::CHARACTER),
    ("Bone", None, keys::BONE),
    ("Capsule", None, keys::BONE_CAPSULE),
    ("Ellipsoid", None, keys::BONE_ELLIPSOID),
    ("BodyMotion", None, keys::MOTION),
    ("Material", None, keys::MATERIAL),
    ("Raw", None, keys::RAW),
    ("Weights", None, keys::WEIGHTS),
    ("Region", None, keys::REGION),
    ("Solver", None, keys::SOLVER),
    ("Pin", None, keys::PIN),
    ("Key", None, keys::KEYFRAME),
    ("Drive", None, keys::DRIVE),
    ("Push", None, keys::PUSH),
    ("Load", None, keys::LOAD),
    ("Load", Some("force"), keys::FORCE),
    ("Load", Some("pressure"), keys::PRESSURE),
    ("BodyDrive", None, keys::BODY_DRIVE),
    ("Thruster", None, keys::THRUSTER),
    ("Gyro", None, keys::GYRO),
    ("Servo", None, keys::SERVO),
    ("Impulse", None, keys::IMPULSE),
    ("Choreography", None, keys::CHOREOGRAPHY),
    ("Move", None, keys::MOVE),
    ("Selection", None, keys::SELECTION),
    ("Selection", Some("sphere"), keys::SELECTION_SPHERE),
    ("Contact", None, keys::CONTACT),
    ("Attach", None, keys::ATTACH),
    ("Obstacle", None, keys::OBSTACLE),
    ("ObstacleShape", None, keys::OBSTACLE_SHAPE),
    ("ObstacleShape", Some("plane"), keys::PLANE),
    ("ObstacleShape", Some("sphere"), keys::OBSTACLE_SPHERE),
    ("ObstacleShape", Some("ellipsoid"), keys::ELLIPSOID),
    ("ObstacleShape", Some("torus"), keys::OBSTACLE_TORUS),
    ("ObstacleShape", Some("hyperboloid"), keys::HYPERBOLOID),
    ("ObstacleShape", Some("capsule"), keys::CAPSULE),
    ("ObstacleShape", Some("box"), keys::OBSTACLE_BOX),
    ("PublishedPotential", None, keys::PUBLISHED),
    ("Probe", None, keys::PROBE),
    ("Event", None, keys::EVENT),
    ("Event", Some("pin"), keys::EDIT_PIN),
    ("Event", Some("unpin"), keys::EDIT_UNPIN),
    ("Event", Some("grab"), keys::EDIT_GRAB),
    ("Event", Some("release"), keys::EDIT_BODY),
    ("Event", Some("parameter"), keys::EDIT_PARAMETER),
    ("Event", Some("obstacle"), keys::EDIT_OBSTACLE),
    ("Event", Some("impulse"), keys::EDIT_IMPULSE),
    ("Event", Some("stop"), keys::EDIT_BODY),
    ("Event", Some("thrust"), keys::EDIT_THRUST),
    ("Event", Some("formulation"), keys::EDIT_FORMULATION),
    ("Camera", None, keys::CAMERA),
];

/// The schema.
pub fn schema() -> Value {
    let mut root = serde_json::to_value(schemars::schema_for!(Scene)).unwrap_or_default();
    root["title"] = json!("goop scene");
    let mut definitions = root["$defs"].take();
    if let Value::Object(map) = &mut definitions {
        flat_events(map);
    }
    strict(&mut root, keys::SCENE);
    for (name, variant, keys) in TABLES {
        let definition = &mut definitions[*name];
        match variant {
            // A choice of variants is strict already.
            None if definition["properties"].is_null() => {}
            None => strict(definition, keys),
            Some(variant) => {
                if let Some(table) = variant_mut(definition, variant) {
                    strict(table, keys);
                }
            }
        }
    }
    short_forms(&mut definitions);
    formulas(&mut definitions);
    root["$defs"] = definitions;
    root["properties"]["parameters"] = json!({
        "description": "Numbers that formulas may use; a formula is a string that begins with =.",
        "type": "object",
        "additionalProperties": { "type": ["number", "string"] },
    });
    root["properties"]["include"] = json!({
        "description": "Files whose tables are merged with this one's; relative to this file.",
        "type": "array",
        "items": { "type": "string" },
    });
    root
}

/// Only these keys, of which only the required must be there; with examples.
fn strict(table: &mut Value, keys: &[Key]) {
    table["additionalProperties"] = json!(false);
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    if let Value::Object(map) = table {
        map.remove("required");
    }
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    for key in keys {
        if let Some(Value::Object(map)) = table["properties"].get_mut(key.name) {
            no_null(map);
            map.entry("description").or_insert_with(|| json!(key.about));
        }
    }
}

/// TOML has no null: an absent key is left out.
fn no_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            property.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
    }
}

/// The table inside one variant of an externally tagged choice.
fn variant_mut<'a>(definition: &'a mut Value, variant: &str) -> Option<&'a mut Value> {
    if definition["properties"].is_null() {
        let choices = definition["oneOf"].as_array_mut()?;
        let choice = choices.iter_mut().find(|choice| choice["properties"][variant].is_object())?;
        return choice["properties"].get_mut(variant);
    }
    definition["properties"].get_mut(variant)
}

/// An event is a time and one edit in the same table: list all edits as keys and
/// ask for exactly one.
fn flat_events(definitions: &mut Map<String, Value>) {
    let edits = match definitions.get_mut("Event").map(|event| event["oneOf"].take()) {
        Some(Value::Array(edits)) => edits,
        _ => Vec::new(),
    };
    let Some(event) = definitions.get_mut("Event") else { return };
    let mut choices = Vec::new();
    for edit in &edits {
        for (name, table) in edit["properties"].as_object().into_iter().flatten() {
            let mut table = table.clone();
            table["description"] = edit["description"].clone();
            event["properties"][name] = table;
            choices.push(json!({ "required": [name] }));
        }
    }
    if let Value::Object(map) = event {
        map.remove("unevaluatedProperties");
        map.insert("oneOf".into(), Value::Array(choices));
    }
}

/// A number may also be a formula.
fn formulas(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("type").is_some_and(|kind| kind == "number" || kind == "integer") {
                let kind = map["type"].clone();
                map.insert("type".into(), json!([kind, "string"]));
                map.insert("pattern".into(), json!("^="));
            }
            map.values_mut().for_each(formulas);
        }
        Value::Array(items) => items.iter_mut().for_each(formulas),
        _ => {}
    }
}

/// Forms that the reader takes beside the full one.
fn short_forms(definitions: &mut Value) {
    let or_number = |property: &mut Value, kind: &str| {
        let full = property.take();
        let about = full["description"].clone();
        *property = json!({ "description": about, "anyOf": [full, { "type": kind }] });
    };
    for (name, variant, keys) in TABLES {
        if *name == "Shape"
            && variant.is_some()
            && keys.iter().any(|key| key.name == "nodes")
            && let Some(table) = variant.and_then(|variant| variant_mut(&mut definitions["Shape"], variant))
        {
            or_number(&mut table["properties"]["nodes"], "integer");
        }
    }
    or_number(&mut definitions["Body"]["properties"]["scale"], "number");
    or_number(&mut definitions["Raw"]["properties"]["rest"], "number");
    or_number(&mut definitions["BodyMotion"]["properties"]["clip"], "integer");
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    definitions["Material"]["properties"]["preset"]["enum"] = json!(names);
}
