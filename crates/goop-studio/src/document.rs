//! Changes to the text of a scene that keep all the rest of it, comments included.
//!
//! Each function gives the new text, or `None` where the text has no place for the change:
//! a body of an included file, a list written on one line. The caller then makes the
//! change an event at t = 0, which says the same.

use goop_scene::scene::Obstacle;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

fn parse(text: &str) -> Option<DocumentMut> {
    text.parse().ok()
}

/// Sets a value and keeps what stands around it, such as a comment on its line.
fn put(table: &mut dyn TableLike, key: &str, new: Value) {
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
        Some(item) => *item = value(new),
        None => {
            table.insert(key, value(new));
        }
    }
}

/// The table below a key, made where it is missing.
fn below<'a>(table: &'a mut dyn TableLike, key: &str) -> Option<&'a mut dyn TableLike> {
    if table.get(key).is_none() {
        table.insert(key, Item::Table(Table::new()));
    }
    table.get_mut(key)?.as_table_like_mut()
}

/// The table of a name in a list of tables.
fn named<'a>(document: &'a mut DocumentMut, list: &str, name: &str) -> Option<&'a mut dyn TableLike> {
    let item = document.get_mut(list)?;
    let is = |table: &dyn TableLike| table.get("name").and_then(Item::as_str) == Some(name);
    item.as_array_of_tables_mut()?.iter_mut().map(|t| t as &mut dyn TableLike).find(|t| is(*t))
}

fn vector(v: [f64; 3]) -> Value {
    Value::Array(v.into_iter().collect::<Array>())
}

/// Sets a key of a top-level table such as `[step]`.
pub fn set_number(text: &str, table: &str, key: &str, number: f64) -> Option<String> {
    let mut document = parse(text)?;
    put(below(document.as_table_mut(), table)?, key, number.into());
    Some(document.to_string())
}

/// Sets a vector of a top-level table such as `[world]`.
pub fn set_vector(text: &str, table: &str, key: &str, v: [f64; 3]) -> Option<String> {
    let mut document = parse(text)?;
    put(below(document.as_table_mut(), table)?, key, vector(v));
    Some(document.to_string())
}

/// Sets a key of a body's material card.
pub fn set_material(text: &str, body: &str, key: &str, number: f64) -> Option<String> {
    let mut document = parse(text)?;
    put(below(named(&mut document, "body", body)?, "material")?, key, number.into());
    Some(document.to_string())
}

/// Names a body's model, and an integrator where it is not the model's own.
pub fn set_formulation(text: &str, body: &str, to: &str, integrator: Option<&str>) -> Option<String> {
    let mut document = parse(text)?;
    let table = named(&mut document, "body", body)?;
    for key in ["elasticity", "coordinates", "integrator", "without"] {
        table.remove(key);
    }
    put(table, "formulation", to.into());
    if let Some(integrator) = integrator {
        put(table, "integrator", integrator.into());
    }
    Some(document.to_string())
}

fn index(nodes: &[u32]) -> Value {
    let list: Array = nodes.iter().map(|&n| i64::from(n)).collect();
    let mut table = InlineTable::new();
    table.insert("index", list.into());
    table.into()
}

/// The node numbers of a selection that is a list of them.
fn listed(at: Option<&Item>) -> Option<Vec<u32>> {
    let list = at?.as_table_like()?.get("index")?.as_array()?;
    list.iter().map(|n| n.as_integer().and_then(|n| u32::try_from(n).ok())).collect()
}

/// Holds nodes of a body: a pin that already lists nodes, and does nothing else, takes them up.
pub fn pin(text: &str, body: &str, nodes: &[u32]) -> Option<String> {
    let mut document = parse(text)?;
    let table = named(&mut document, "body", body)?;
    if table.get("pin").is_none() {
        table.insert("pin", Item::ArrayOfTables(ArrayOfTables::new()));
    }
    let pins = table.get_mut("pin")?;
    let plain = |pin: &dyn TableLike| pin.iter().all(|(key, _)| key == "at");
    let join = |pin: &mut dyn TableLike| {
        let mut all = listed(pin.get("at"))?;
        all.extend(nodes);
        all.sort_unstable();
        all.dedup();
        put(pin, "at", index(&all));
        Some(())
    };
    if let Some(tables) = pins.as_array_of_tables_mut() {
        if !tables.iter_mut().any(|t| plain(t) && join(t).is_some()) {
            let mut fresh = Table::new();
            fresh.insert("at", value(index(nodes)));
            tables.push(fresh);
        }
    } else {
        let array = pins.as_array_mut()?;
        if !array.iter_mut().filter_map(Value::as_inline_table_mut).any(|t| plain(t) && join(t).is_some()) {
            let mut fresh = InlineTable::new();
            fresh.insert("at", index(nodes));
            array.push(fresh);
        }
    }
    Some(document.to_string())
}

/// Lets nodes of a body go; `held` are the nodes of each of its pins, in their order.
pub fn unpin(text: &str, body: &str, nodes: &[u32], held: &[Vec<u32>]) -> Option<String> {
    let mut document = parse(text)?;
    let pins = named(&mut document, "body", body)?.get_mut("pin")?;
    let count = pins.as_array_of_tables().map_or_else(|| pins.as_array().map_or(0, Array::len), |t| t.len());
    if count != held.len() {
        return None;
    }
    for k in (0..count).rev() {
        let left: Vec<u32> = held[k].iter().copied().filter(|n| !nodes.contains(n)).collect();
        if left.len() == held[k].len() {
            continue;
        }
        if let Some(tables) = pins.as_array_of_tables_mut() {
            match left.is_empty() {
                true => drop(tables.remove(k)),
                false => put(tables.get_mut(k)?, "at", index(&left)),
            }
        } else if let Some(array) = pins.as_array_mut() {
            match left.is_empty() {
                true => drop(array.remove(k)),
                false => put(array.get_mut(k)?.as_inline_table_mut()?, "at", index(&left)),
            }
        }
    }
    Some(document.to_string())
}

/// Appends tables to the end of the text. The list must not be written on one line.
fn append(text: &str, list: &str, tables: &str) -> Option<String> {
    let document = parse(text)?;
    if document.get(list).is_some_and(|item| !item.is_array_of_tables()) {
        return None;
    }
    Some(format!("{}\n\n{}\n", text.trim_end(), tables.trim()))
}

/// Adds an obstacle.
pub fn add_obstacle(text: &str, obstacle: &Obstacle) -> Option<String> {
    let full = obstacle.to_toml();
    let keep =
        |line: &&str| !["rotation", "hollow", "range", "damping", "tolerance"].iter().any(|k| line.starts_with(k));
    append(text, "obstacle", &full.lines().filter(keep).collect::<Vec<_>>().join("\n"))
}

/// Puts an obstacle elsewhere; one that moves by keyframes has no one place.
pub fn move_obstacle(text: &str, name: &str, position: [f64; 3]) -> Option<String> {
    let mut document = parse(text)?;
    let table = named(&mut document, "obstacle", name)?;
    if table.get("key").is_some() {
        return None;
    }
    put(table, "position", vector(position));
    Some(document.to_string())
}

/// Takes an obstacle out.
pub fn remove_obstacle(text: &str, name: &str) -> Option<String> {
    let mut document = parse(text)?;
    let tables = document.get_mut("obstacle")?.as_array_of_tables_mut()?;
    let at = tables.iter().position(|t| t.get("name").and_then(Item::as_str) == Some(name))?;
    tables.remove(at);
    Some(document.to_string())
}

/// Adds a body, given as its `[[body]]` table.
pub fn add_body(text: &str, body: &str) -> Option<String> {
    append(text, "body", body)
}

/// Gives a body another shape at another place. What belonged to the old shape (pins, loads, drives,
/// its turn and scale) goes with it; model, material and velocity stay.
pub fn reshape(text: &str, body: &str, position: [f64; 3], shape: &str) -> Option<String> {
    let mut document = parse(text)?;
    let table = named(&mut document, "body", body)?;
    for key in ["shape", "pin", "load", "drive", "bone", "motion", "parts", "rotation", "scale", "stretch"] {
        table.remove(key);
    }
    put(table, "position", vector(position));
    table.insert("shape", value(shape.parse::<Value>().ok()?));
    Some(document.to_string())
}

/// Adds events, given as `[[event]]` tables, and ends the clip at a time (s).
pub fn add_events(text: &str, events: &str, seconds: f64) -> Option<String> {
    let mut document = parse(text)?;
    if let Some(item) = document.get_mut("event")
        && item.is_value()
    {
        *item = Item::ArrayOfTables(item.clone().into_array_of_tables().ok()?);
    }
    put(below(document.as_table_mut(), "clip")?, "seconds", seconds.into());
    let text = document.to_string();
    if events.is_empty() { Some(text) } else { append(&text, "event", events) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goop_scene::Scene;

    const TEXT: &str = r#"# A sheet of mine.
format = 1   # the first

[step]
dt = 0.005  # short enough

[[body]]
name = "sheet"              # do not rename
formulation = "implicit"
shape.rectangle = { size = [1, 1], nodes = [4, 4] }
[body.material]
young = "= 2 * 1e5"         # soft
# held by its corners
[[body.pin]]
at = "corners"

[[body]]
name = "other"
formulation = "spring"
shape.line = { size = 1, nodes = 3 }

[[obstacle]]
name = "floor"
shape.plane = {}
position = [0, -1, 0]       # below
"#;

    fn comments(text: &str) -> Vec<&str> {
        text.lines().filter_map(|line| line.split_once('#').map(|(_, c)| c)).collect()
    }

    /// Catches an edit that loses a comment, touches another body, or is not read back.
    #[test]
    fn every_edit_keeps_comments_and_is_read_back() {
        let mut text = TEXT.to_owned();
        text = set_number(&text, "step", "dt", 0.002).unwrap();
        text = set_vector(&text, "world", "gravity", [0.0, -1.5, 0.0]).unwrap();
        text = set_material(&text, "sheet", "young", 4e5).unwrap();
        text = set_material(&text, "other", "density", 500.0).unwrap();
        text = set_formulation(&text, "sheet", "spring", Some("symplectic-euler")).unwrap();
        text = unpin(&text, "sheet", &[3], &[vec![0, 3, 12, 15]]).unwrap();
        text = pin(&text, "sheet", &[5, 6]).unwrap();
        text = pin(&text, "other", &[2]).unwrap();
        text = move_obstacle(&text, "floor", [0.0, -2.0, 0.0]).unwrap();
        let (scene, _) = Scene::parse(&text, "edited").unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        assert_eq!(comments(&text), comments(TEXT), "{text}");
        assert_eq!((scene.step.dt, scene.world.gravity[1]), (0.002, -1.5));
        assert_eq!((scene.body[0].material.young, scene.body[1].material.density), (4e5, 500.0));
        assert_eq!(scene.body[0].integrator, Some(goop_scene::scene::Integrator::SymplecticEuler));
        assert_eq!(scene.body[0].pin[0].at, goop_scene::scene::Selection::Index(vec![0, 5, 6, 12, 15]));
        assert_eq!(scene.body[1].pin[0].at, goop_scene::scene::Selection::Index(vec![2]));
        assert_eq!(scene.obstacle[0].position[1], -2.0);
        let drawn = reshape(&text, "sheet", [1.0, 2.0, 0.0], "{ hoop = { radius = 0.2, nodes = 8 } }").unwrap();
        let body = Scene::parse(&drawn, "edited").unwrap_or_else(|faults| panic!("{faults}\n{drawn}")).0.body.remove(0);
        assert!(body.pin.is_empty() && body.material.young == 4e5 && body.position == [1.0, 2.0, 0.0], "{drawn}");
        let gone = remove_obstacle(&text, "floor").unwrap();
        assert!(Scene::parse(&gone, "edited").unwrap().0.obstacle.is_empty());
        let free = unpin(&text, "sheet", &[0, 5, 6, 12, 15], &[vec![0, 5, 6, 12, 15]]).unwrap();
        assert!(Scene::parse(&free, "edited").unwrap().0.body[0].pin.is_empty());
    }

    /// Catches events that are lost where the scene has some already, in either form.
    #[test]
    fn events_join_those_that_are_there() {
        for events in ["", "\n[[event]]\ntime = 1\nstop = { body = \"sheet\" }\n"] {
            let text = format!("{TEXT}{events}");
            let more = "[[event]]\ntime = 2.0\nrelease = { body = \"sheet\" }\n";
            let text = add_events(&text, more, 2.5).unwrap();
            let (scene, _) = Scene::parse(&text, "edited").unwrap_or_else(|faults| panic!("{faults}\n{text}"));
            assert_eq!(scene.event.len(), if events.is_empty() { 1 } else { 2 });
            assert_eq!(scene.clip.seconds, 2.5);
        }
    }

    /// Catches a place that is invented for something of an included file.
    #[test]
    fn what_is_not_in_the_text_is_left_alone() {
        assert_eq!(set_material(TEXT, "elsewhere", "young", 1.0), None);
        assert_eq!(move_obstacle(TEXT, "elsewhere", [0.0; 3]), None);
        assert_eq!(remove_obstacle("format = 1\nobstacle = []\n", "floor"), None);
    }
}
