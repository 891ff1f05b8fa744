//! The schema says what the reader does.

mod support;

use std::collections::BTreeSet;

use goop_scene::read::keys;
use goop_scene::reader::Key;
use goop_scene::schema::{TABLES, schema};
use proptest::prelude::*;
use serde_json::Value;

fn names(keys: &[Key]) -> BTreeSet<String> {
    keys.iter().map(|key| key.name.to_string()).collect()
}

fn properties(table: &Value) -> BTreeSet<String> {
    table["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// Keys of a table, or the names of a choice's variants.
fn known(definition: &Value) -> BTreeSet<String> {
    if definition["properties"].is_object() {
        return properties(definition);
    }
    definition["oneOf"].as_array().into_iter().flatten().flat_map(properties).collect()
}

fn variant<'a>(definition: &'a Value, name: &str) -> &'a Value {
    let choices = definition["oneOf"].as_array().into_iter().flatten();
    let choice = choices.chain([definition]).find(|choice| choice["properties"][name].is_object());
    choice.map_or(&Value::Null, |choice| &choice["properties"][name])
}

/// Catches a key that one of the two knows and the other does not.
#[test]
fn the_schema_and_the_reader_know_the_same_keys() {
    let schema = schema();
    let mut top = names(keys::SCENE);
    top.insert("include".into());
    assert_eq!(properties(&schema), top);
    for (name, part, keys) in TABLES {
        let definition = &schema["$defs"][*name];
        let table = part.map_or(known(definition), |part| properties(variant(definition, part)));
        assert_eq!(table, names(keys), "{name} {part:?}");
    }
    let listed: BTreeSet<&str> = TABLES.iter().map(|(name, ..)| *name).collect();
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        assert!(known(definition).is_empty() || listed.contains(name.as_str()), "{name} is in no list");
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    }
}

/// Just enough of JSON Schema for the words that this schema uses; an unknown word fails.
fn valid(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    for (word, rule) in schema.as_object().into_iter().flatten() {
        let good =
            match word.as_str() {
                "$ref" => {
                    let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/")).unwrap_or_default();
                    valid(root, &root["$defs"][name], value)?;
                    true
                }
                "type" => match rule {
                    Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(|kind| is_a(kind, value)),
                    one => is_a(one.as_str().ok_or(format!("type {rule}"))?, value),
                },
                "properties" => {
                    for (name, item) in value.as_object().into_iter().flatten() {
                        if !rule[name].is_null() {
                            valid(root, &rule[name], item).map_err(|error| format!("{name}: {error}"))?;
                        }
                    }
                    true
                }
                "additionalProperties" if rule.is_object() => {
                    for item in value.as_object().into_iter().flatten().map(|(_, item)| item) {
                        valid(root, rule, item)?;
                    }
                    true
                }
                "additionalProperties" => properties(schema)
                    .is_superset(&value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()),
                "required" => rule.as_array().into_iter().flatten().all(|name| {
                    value.as_object().is_none_or(|map| map.contains_key(name.as_str().unwrap_or_default()))
                }),
                "items" => {
                    for item in value.as_array().into_iter().flatten() {
                        valid(root, rule, item)?;
                    }
                    true
                }
                "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap_or(0)),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap_or(0)),
                "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap_or(0.0)),
                "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap_or(0.0)),
                // The one pattern there is: a formula begins with =.
                "pattern" => value.as_str().is_none_or(|text| rule == "^=" && text.starts_with('=')),
                "const" => value == rule,
                "enum" => rule.as_array().is_some_and(|list| list.contains(value)),
                "oneOf" | "anyOf" => {
                    let tried: Vec<_> =
                        rule.as_array().into_iter().flatten().map(|part| valid(root, part, value)).collect();
                    let count = tried.iter().filter(|result| result.is_ok()).count();
                    if count == 0 {
                        return Err(format!("no choice fits {value}: {tried:?}"));
                    }
                    word == "anyOf" || count == 1
                }
                "$schema" | "$defs" | "title" | "description" | "format" => true,
                other => return Err(format!("the test does not know `{other}`")),
            };
        if !good {
            return Err(format!("`{word}` {rule} refuses {value}"));
        }
    }
    Ok(())
}

fn accepts(text: &str) -> Result<(), String> {
    let value: Value = toml_edit::de::from_str(text).map_err(|error| error.to_string())?;
    let schema = schema();
    valid(&schema, &schema, &value)
}

const FULL: &str = include_str!("full.toml");

/// Catches short forms and defaults that the schema would underline in an editor.
#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    accepts(FULL).unwrap_or_else(|error| panic!("{error}"));
    accepts("format = 1\ninclude = [\"a.toml\"]\n").unwrap_or_else(|error| panic!("{error}"));
}

/// Catches a table left open to any key, and values of the wrong kind.
#[test]
fn the_schema_refuses_unknown_keys_and_wrong_kinds() {
    for (from, to) in [
        ("seconds = 4", "secnds = 4"),
        ("young = 1e5", "yuong = 1e5"),
        ("nodes = 20", "nods = 20"),
        ("spin = [0, 1, 0]", "spin = [0, 1]"),
        ("formulation = \"implicit\"", "formulation = \"implicid\""),
        ("preset = \"cloth\"", "preset = \"clot\""),
        ("remove = true", "remove = 1"),
        ("at = \"corners\"", "at = \"corner\""),
        ("time = 0.5\n", "time = 0.5\nstop = { body = \"sheet\" }\n"),
        ("shape.plane = {}", "shape.plane = { radius = 1 }"),
        ("format = 1", ""),
    ] {
        let text = FULL.replacen(from, to, 1);
        assert_ne!(text, FULL, "{from}");
        assert!(accepts(&text).is_err(), "{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Catches a variant that the schema describes otherwise than it is written.
    #[test]
    fn the_schema_accepts_every_saved_scene(scene in support::scene()) {
        let result = accepts(&scene.to_toml());
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }
}
