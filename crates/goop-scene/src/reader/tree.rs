//! A TOML document as a tree in which every key and value knows its place.
//!
//! Includes and `--set` join several texts into one tree, so places carry the
//! number of their source.

use toml_edit::{Document, Item, TableLike};

use super::fault::Fault;
use super::source::{Sources, Span};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands; for a table, its header.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Date,
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub name: String,
    /// Where the key stands.
    pub span: Span,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// What kind of value it is, for "found …".
    pub fn kind(&self) -> String {
        match &self.value {
            Value::Bool(value) => format!("the boolean {value}"),
            Value::Integer(value) => format!("the integer {value}"),
            Value::Float(value) => format!("the number {}", super::range::number(*value)),
            Value::Text(text) if text.chars().count() <= 40 && !text.contains(char::is_control) => {
                format!("the string \"{text}\"")
            }
            Value::Text(_) => "a string".into(),
            Value::Date => "a date".into(),
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Table(_) => "a table".into(),
        }
    }

    /// The text under a key, of a table that has it.
    pub fn text_at(&self, key: &str) -> Option<String> {
        let Value::Table(entries) = &self.value else { return None };
        match &entries.iter().find(|entry| entry.name == key)?.node.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Whether it is a list of tables with at least one.
    pub fn is_tables(&self) -> bool {
        matches!(&self.value, Value::Array(items)
            if !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::Table(_))))
    }
}

/// Parses one text. The fault of a text that is not TOML has line and column.
pub fn parse_tree(sources: &Sources, source: usize) -> Result<Node, Box<Fault>> {
    let text = sources.get(source).map_or("", |source| source.text.as_str());
    let whole = Span { source, start: 0, end: 0 };
    match Document::parse(text) {
        Ok(document) => Ok(Node { span: whole, value: Value::Table(entries(document.as_table(), whole)) }),
        Err(error) => {
            let range = error.span().unwrap_or(0..0);
            let span = Span { source, start: range.start, end: range.end };
            let (message, hint) = syntax(error.message(), range.is_empty());
            Err(Box::new(Fault { place: sources.place(span), path: String::new(), message, hint: hint.into() }))
        }
    }
}

/// The message on one line, with a way out for the usual slips. Nothing where
/// something was wanted is said as such.
fn syntax(message: &str, nothing: bool) -> (String, &'static str) {
    let line = message.lines().collect::<Vec<_>>().join(" ");
    let hint = if message.contains("must be quoted") && nothing {
        return ("a value is missing after `=`".into(), "write `key = value`, or remove the line");
    } else if message.contains("must be quoted") {
        return ("this is not a number, true or false, nor a string in quotes".into(), QUOTES);
    } else if message.contains("duplicate key") {
        "a key may stand only once in a table; rename or remove one of the two"
    } else if message.contains("string") {
        QUOTES
    } else if message.contains("array") {
        "lists stand in square brackets with commas: gravity = [0.0, -9.81, 0.0]"
    } else if message.contains("table") {
        "tables begin with [name], lists of tables with [[name]], on a line of their own"
    } else {
        "a line is `key = value`, with strings in double quotes; everything after # is a comment"
    };
    (line, hint)
}

const QUOTES: &str = "strings stand in double quotes on one line: name = \"sheet\"";

fn entries(table: &dyn TableLike, parent: Span) -> Vec<Entry> {
    let mut list = Vec::with_capacity(table.len());
    for (name, item) in table.iter() {
        let span = table.key(name).and_then(|key| key.span()).map_or(parent, |range| at(parent, range));
        if let Some(node) = node(item, span) {
            list.push(Entry { name: name.to_string(), span, node });
        }
    }
    list
}

fn at(parent: Span, range: std::ops::Range<usize>) -> Span {
    Span { source: parent.source, start: range.start, end: range.end }
}

/// `key` is the place of the key, for tables that have no header of their own.
fn node(item: &Item, key: Span) -> Option<Node> {
    let span = item.span().filter(|range| !range.is_empty()).map_or(key, |range| at(key, range));
    match item {
        Item::None => None,
        Item::Value(value) => Some(from_value(value, key)),
        Item::Table(table) => Some(Node { span, value: Value::Table(entries(table, span)) }),
        Item::ArrayOfTables(tables) => {
            let items = tables
                .iter()
                .map(|table| {
                    let span = table.span().filter(|range| !range.is_empty()).map_or(key, |range| at(key, range));
                    Node { span, value: Value::Table(entries(table, span)) }
                })
                .collect();
            Some(Node { span: key, value: Value::Array(items) })
        }
    }
}

fn from_value(value: &toml_edit::Value, key: Span) -> Node {
    let span = value.span().filter(|range| !range.is_empty()).map_or(key, |range| at(key, range));
    let value = match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Integer(*number.value()),
        toml_edit::Value::Float(number) => Value::Float(*number.value()),
        toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
        toml_edit::Value::Datetime(_) => Value::Date,
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(|item| from_value(item, span)).collect()),
        toml_edit::Value::InlineTable(table) => Value::Table(entries(table, span)),
    };
    Node { span, value }
}
