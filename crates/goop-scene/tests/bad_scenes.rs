//! Every scene in `tests/bad-scenes` is refused with the faults it expects, each at
//! its place and with a hint, and with no others.
//!
//! A scene begins with pairs of lines:
//! ```text
//! # expect: [file:]line:column part of the message
//! # expect-hint: part of the hint
//! ```

use std::path::{Path, PathBuf};

use goop_scene::Scene;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/bad-scenes")
}

struct Expected {
    place: String,
    message: String,
    hint: String,
}

fn expected(text: &str) -> Vec<Expected> {
    let mut list: Vec<Expected> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# expect: ") {
            let (place, message) = rest.split_once(' ').expect("a place and a message");
            list.push(Expected { place: place.into(), message: message.into(), hint: String::new() });
        } else if let Some(rest) = line.strip_prefix("# expect-hint:") {
            list.last_mut().expect("a hint follows its fault").hint = rest.trim().into();
        }
    }
    list
}

/// What is wrong with the answer to one bad scene.
fn complaints(path: &Path) -> Vec<String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = std::fs::read_to_string(path).expect("a readable scene");
    let expected = expected(&text);
    if expected.is_empty() {
        return vec![format!("{name}: expects nothing")];
    }
    let faults = match Scene::load(path).and_then(|loaded| loaded.build()) {
        Ok(_) => return vec![format!("{name}: was accepted")],
        Err(faults) => faults,
    };
    let mut left: Vec<_> = faults.iter().collect();
    let mut complaints = Vec::new();
    for wanted in expected {
        let fits = |place: &goop_scene::Place| {
            let short = format!("{}:{}", place.line, place.column);
            let main = Path::new(&place.file) == path;
            (main && short == wanted.place)
                || format!("{}:{short}", place.file).ends_with(&format!("/{}", wanted.place))
        };
        let found = left.iter().position(|fault| {
            fits(&fault.place)
                && fault.message.contains(&wanted.message)
                && fault.hint.contains(&wanted.hint)
                && !fault.hint.is_empty()
        });
        match found {
            Some(index) => {
                left.remove(index);
            }
            None => complaints.push(format!("{name}: no `{}` at {}\n{faults}", wanted.message, wanted.place)),
        }
    }
    complaints.extend(left.iter().map(|fault| format!("{name}: not expected:\n{fault}")));
    complaints
}

/// Catches a check that was lost, a fault blamed on the wrong place, and one
/// mistake that is reported twice.
#[test]
fn every_bad_scene_is_refused_where_and_why_it_is_bad() {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("tests/bad-scenes").filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    assert!(paths.len() >= 45, "only {} bad scenes", paths.len());
    let complaints: Vec<String> = paths.iter().flat_map(|path| complaints(path)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
