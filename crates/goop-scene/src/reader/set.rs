//! `--set path=value`: one value changed before the scene is read, so that every
//! check applies to it.
//!
//! ```text
//! clip.seconds=2            a key
//! body.sheet.position=…     a body by name
//! body[0].pin.1.stiffness=… an item by number, from 0
//! gamma=…                   a parameter by its name alone
//! ```

use std::path::PathBuf;

use super::fault::Fault;
use super::source::{Source, Sources, Span};
use super::tree::{Entry, Node, Value, parse_tree};
use super::words::suggestion;

/// Changes the tree. The fault names the argument as its place.
pub fn apply_set(tree: &mut Node, argument: &str, sources: &mut Sources) -> Result<(), Box<Fault>> {
    let name = format!("--set {argument}");
    let source = sources.add(Source { name, text: argument.to_string(), folder: PathBuf::new() });
    let problem = |sources: &Sources, start: usize, end: usize, message: String, hint: String| {
        let path = argument.split('=').next().unwrap_or_default().to_string();
        Box::new(Fault { place: sources.place(Span { source, start, end }), path, message, hint })
    };
    let Some(equals) = argument.find('=') else {
        let hint = "write it as path=value; for example `--set clip.seconds=2`".to_string();
        return Err(problem(sources, 0, argument.len(), "no `=` in this argument".into(), hint));
    };
    let mut path = segments(&argument[..equals]);
    // A parameter needs no path.
    if path.len() == 1
        && let Value::Table(entries) = &tree.value
        && let Some(Value::Table(known)) = entries.iter().find(|e| e.name == "parameters").map(|e| &e.node.value)
        && known.iter().any(|parameter| parameter.name == path[0].text)
    {
        path.insert(0, Segment { text: "parameters", start: path[0].start, end: path[0].end });
    }
    if path.iter().any(|segment| segment.text.is_empty()) || path.is_empty() {
        let hint = "a path is keys with dots between; for example `body.sheet.material.young`".to_string();
        return Err(problem(sources, 0, equals, "the path before `=` is not complete".into(), hint));
    }
    if path[0].text == "include" {
        let hint = "edit the file's own `include` list".to_string();
        return Err(problem(sources, 0, equals, "`include` cannot be set".into(), hint));
    }
    let value = value(argument, equals + 1, source, sources)?;
    put(tree, &path, value, source).map_err(|(at, message, hint)| problem(sources, at.start, at.end, message, hint))
}

struct Segment<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// Splits `body[0].pin.1` at dots and brackets.
fn segments(path: &str) -> Vec<Segment<'_>> {
    let mut list = Vec::new();
    let mut start = 0;
    for part in path.split('.') {
        let mut at = start;
        for (index, piece) in part.split('[').enumerate() {
            let text = if index > 0 { piece.strip_suffix(']').unwrap_or("") } else { piece };
            let lead = text.len() - text.trim_start().len();
            let text = text.trim();
            list.push(Segment { text, start: at + lead, end: at + lead + text.len() });
            at += piece.len() + 1;
        }
        start += part.len() + 1;
    }
    list
}

/// The value after `=`: TOML, or else a bare word taken as a string.
fn value(argument: &str, from: usize, source: usize, sources: &Sources) -> Result<Node, Box<Fault>> {
    const LEAD: &str = "v = ";
    let text = &argument[from..];
    let mut scratch = Sources::default();
    scratch.add(Source { name: String::new(), text: format!("{LEAD}{text}"), folder: PathBuf::new() });
    let moved = |at: usize| (at + from).saturating_sub(LEAD.len());
    let whole = Span { source, start: from, end: argument.len() };
    if let Ok(Node { value: Value::Table(mut entries), .. }) = parse_tree(&scratch, 0)
        && entries.len() == 1
        && let Some(entry) = entries.pop()
    {
        let mut node = entry.node;
        shift(&mut node, source, &moved);
        return Ok(node);
    }
    let word = text.trim();
    let bare = |c: char| c.is_alphanumeric() || "-_./ ".contains(c);
    if word.starts_with(char::is_alphabetic) && word.chars().all(bare) {
        return Ok(Node { span: whole, value: Value::Text(word.to_string()) });
    }
    Err(Box::new(Fault {
        place: sources.place(whole),
        path: argument[..from - 1].to_string(),
        message: format!("`{word}` is not a value"),
        hint: "a number, true, a word, \"text\" or a list such as [0, -9.81, 0]; quote it for the shell".into(),
    }))
}

fn shift(node: &mut Node, source: usize, moved: &dyn Fn(usize) -> usize) {
    let shifted = |span: Span| Span { source, start: moved(span.start), end: moved(span.end) };
    node.span = shifted(node.span);
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, source, moved)),
        Value::Table(entries) => {
            for entry in entries {
                entry.span = shifted(entry.span);
                shift(&mut entry.node, source, moved);
            }
        }
        _ => {}
    }
}

type Problem = (Span, String, String);

fn put(node: &mut Node, path: &[Segment<'_>], value: Node, source: usize) -> Result<(), Problem> {
    let Some((segment, rest)) = path.split_first() else {
        *node = value;
        return Ok(());
    };
    let span = Span { source, start: segment.start, end: segment.end };
    let kind = node.kind();
    match &mut node.value {
        Value::Table(entries) => {
            // Unknown keys are left for the reader, which knows what may stand here.
            if let Some(entry) = entries.iter_mut().find(|entry| entry.name == segment.text) {
                entry.span = span;
                return put(&mut entry.node, rest, value, source);
            }
            let mut fresh = Node { span, value: Value::Table(Vec::new()) };
            put(&mut fresh, rest, value, source)?;
            entries.push(Entry { name: segment.text.to_string(), span, node: fresh });
            Ok(())
        }
        Value::Array(items) => {
            let names: Vec<String> = items.iter().map(|item| name_of(item).unwrap_or_default()).collect();
            let index = names.iter().position(|name| name == segment.text);
            let index = index.or_else(|| segment.text.parse().ok().filter(|index| *index < items.len()));
            if let Some(item) = index.and_then(|index| items.get_mut(index)) {
                return put(item, rest, value, source);
            }
            let known = names.iter().map(String::as_str).filter(|name| !name.is_empty());
            let mut hint = suggestion(segment.text, "the names here", known);
            if names.iter().all(String::is_empty) {
                hint = format!("there are {} here, numbered from 0", items.len());
            }
            Err((span, format!("there is no item `{}` here", segment.text), hint))
        }
        _ => {
            let message = format!("`{}` leads nowhere: the value before it is {kind}", segment.text);
            Err((span, message, "set the value itself: leave this part of the path out".into()))
        }
    }
}

fn name_of(node: &Node) -> Option<String> {
    let Value::Table(entries) = &node.value else { return None };
    entries.iter().find_map(|entry| match &entry.node.value {
        Value::Text(name) if entry.name == "name" => Some(name.clone()),
        _ => None,
    })
}
