//! Reading values out of a tree. Every `take` that fails notes a fault and returns
//! a fallback, so that one reading finds everything.

use std::cell::RefCell;

use super::fault::{Fault, Warning};
use super::formula::{Known, evaluate};
use super::key::Key;
use super::range::{Range, number};
use super::source::{Sources, Span};
use super::tree::{Entry, Node, Value};
use super::words::{Word, suggestion};

/// Collects faults and warnings.
pub struct Reader<'a> {
    /// The texts.
    pub sources: &'a Sources,
    faults: RefCell<Vec<(Span, Fault)>>,
    warnings: RefCell<Vec<(Span, Warning)>>,
    known: Known,
}

/// Path of a key below a path.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

impl<'a> Reader<'a> {
    /// A reader without faults; formulas may use what is `known`.
    pub fn new(sources: &'a Sources, known: Known) -> Reader<'a> {
        Reader { sources, faults: RefCell::default(), warnings: RefCell::default(), known }
    }

    /// Notes a fault.
    pub fn fault(&self, span: Span, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        let fault = self.note(span, path, message.into(), hint.into());
        self.faults.borrow_mut().push((span, fault));
    }

    /// Notes a warning.
    pub fn warn(&self, span: Span, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        let warning = self.note(span, path, message.into(), hint.into());
        self.warnings.borrow_mut().push((span, warning));
    }

    fn note(&self, span: Span, path: &str, message: String, hint: String) -> Fault {
        Fault { place: self.sources.place(span), path: path.to_string(), message, hint }
    }

    /// Faults and warnings in the order of the text.
    pub fn finish(self) -> (Vec<Fault>, Vec<Warning>) {
        let sorted = |mut list: Vec<(Span, Fault)>| {
            list.sort_by_key(|(span, _)| (span.source, span.start));
            list.into_iter().map(|(_, fault)| fault).collect()
        };
        (sorted(self.faults.into_inner()), sorted(self.warnings.into_inner()))
    }

    fn wrong_type(&self, node: &Node, path: &str, key: &Key, wanted: &str) {
        self.fault(node.span, path, format!("`{path}` must be {wanted}, found {}", node.kind()), key.hint());
    }

    fn formula(&self, node: &Node, path: &str) -> Option<f64> {
        match evaluate(node, &self.known)? {
            Ok(value) => Some(value),
            Err((span, message, hint)) => {
                self.fault(span, path, message, hint);
                None
            }
        }
    }

    /// A finite number in a range; integers count as numbers.
    pub fn number(&self, node: &Node, path: &str, key: &Key, range: Range) -> Option<f64> {
        let value = match node.value {
            Value::Float(value) => value,
            Value::Integer(value) => value as f64,
            Value::Text(_) if evaluate(node, &self.known).is_some() => self.formula(node, path)?,
            _ => {
                self.wrong_type(node, path, key, "a number");
                return None;
            }
        };
        if !value.is_finite() {
            self.fault(node.span, path, format!("`{path}` must be finite, found {value}"), key.hint());
            return None;
        }
        if !range.contains(value) {
            let message = format!("`{path}` must be {}, found {}", range.words(), number(value));
            self.fault(node.span, path, message, key.hint());
            return None;
        }
        Some(value)
    }

    /// A whole number in a range.
    pub fn count(&self, node: &Node, path: &str, key: &Key, low: u32, high: u32) -> Option<u32> {
        let value = match node.value {
            Value::Integer(value) => value,
            Value::Text(_) if evaluate(node, &self.known).is_some() => {
                let value = self.formula(node, path)?;
                if value.fract() != 0.0 || value.abs() > 1e15 {
                    let message = format!("`{path}` must be a whole number, and this is {}", number(value));
                    self.fault(node.span, path, message, "use round(…) or floor(…)");
                    return None;
                }
                value as i64
            }
            _ => {
                self.wrong_type(node, path, key, "a whole number");
                return None;
            }
        };
        match u32::try_from(value) {
            Ok(value) if (low..=high).contains(&value) => Some(value),
            _ => {
                let message = format!("`{path}` must be at least {low} and at most {high}, found {value}");
                self.fault(node.span, path, message, key.hint());
                None
            }
        }
    }

    /// A list with this many items, or any number of them.
    pub fn list<'n>(&self, node: &'n Node, path: &str, key: &Key, length: Option<usize>) -> Option<&'n [Node]> {
        let wanted = length.map_or("a list".to_string(), |length| format!("a list of {length}"));
        match &node.value {
            Value::Array(items) if length.is_none_or(|length| items.len() == length) => Some(items),
            _ => {
                self.wrong_type(node, path, key, &wanted);
                None
            }
        }
    }

    /// A list of numbers of known length; every bad item is noted.
    pub fn numbers<const N: usize>(&self, node: &Node, path: &str, key: &Key, range: Range) -> Option<[f64; N]> {
        let wanted = format!("a list of {N} numbers");
        let Value::Array(items) = &node.value else {
            self.wrong_type(node, path, key, &wanted);
            return None;
        };
        if items.len() != N {
            self.wrong_type(node, path, key, &wanted);
            return None;
        }
        let mut values = [0.0; N];
        let mut good = true;
        for (index, item) in items.iter().enumerate() {
            match self.number(item, &format!("{path}[{index}]"), key, range) {
                Some(value) => values[index] = value,
                None => good = false,
            }
        }
        good.then_some(values)
    }

    /// A string.
    pub fn text(&self, node: &Node, path: &str, key: &Key) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => {
                self.wrong_type(node, path, key, "a string");
                None
            }
        }
    }

    /// One of a list of words.
    pub fn word<W: Word>(&self, node: &Node, path: &str, key: &Key) -> Option<W> {
        let text = self.text(node, path, key)?;
        if let Some((_, choice)) = W::WORDS.iter().find(|(word, _)| *word == text) {
            return Some(*choice);
        }
        let words = W::WORDS.iter().map(|(word, _)| *word);
        let all: Vec<&str> = words.clone().collect();
        let mut hint = suggestion(&text, "the words here", words);
        if hint.starts_with("did") {
            hint += &format!(" The words here: {}", all.join(", "));
        }
        self.fault(node.span, path, format!("`{path}` cannot be \"{text}\""), hint);
        None
    }
}

/// A table being read.
pub struct Table<'a> {
    /// Where faults go.
    pub reader: &'a Reader<'a>,
    /// Its header, or the inline table.
    pub span: Span,
    /// Its path from the top.
    pub path: String,
    entries: &'a [Entry],
    keys: &'static [Key],
    /// Absent or not a table: missing keys were or need not be noted.
    silent: bool,
}

impl<'a> Table<'a> {
    /// Opens a table and notes its unknown keys.
    pub fn open(reader: &'a Reader<'a>, node: &'a Node, path: String, keys: &'static [Key]) -> Option<Table<'a>> {
        let Value::Table(entries) = &node.value else {
            let names = keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ");
            let message = format!("`{path}` must be a table, found {}", node.kind());
            reader.fault(node.span, &path, message, format!("its keys are: {names}"));
            return None;
        };
        for entry in entries {
            if !keys.iter().any(|key| key.name == entry.name) {
                let place = if path.is_empty() { "at the top level".to_string() } else { format!("in `{path}`") };
                let hint = suggestion(&entry.name, "the keys here", keys.iter().map(|key| key.name));
                let message = format!("unknown key `{}` {place}", entry.name);
                reader.fault(entry.span, &join(&path, &entry.name), message, hint);
            }
        }
        Some(Table { reader, span: node.span, path, entries, keys, silent: false })
    }

    /// A table that is not there: every key has its default.
    pub fn absent(reader: &'a Reader<'a>, span: Span, path: String, keys: &'static [Key]) -> Table<'a> {
        Table { reader, span, path, entries: &[], keys, silent: true }
    }

    /// Path of one of its keys.
    pub fn at(&self, name: &str) -> String {
        join(&self.path, name)
    }

    /// The description of a key. Asking for a key that is not in the list is a
    /// mistake in this crate; tests would show it.
    pub fn key(&self, name: &str) -> &'static Key {
        static NONE: Key = super::key::key("", "", "");
        debug_assert!(self.keys.iter().any(|key| key.name == name), "no key {name} in {}", self.path);
        self.keys.iter().find(|key| key.name == name).unwrap_or(&NONE)
    }

    /// The entry of a key, if it is there.
    pub fn get(&self, name: &str) -> Option<&'a Entry> {
        self.key(name);
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Place of a value, or of the table when it is absent.
    pub fn span_of(&self, name: &str) -> Span {
        self.get(name).map_or(self.span, |entry| entry.node.span)
    }

    /// The entry of a key that must be there.
    pub fn need(&self, name: &str) -> Option<&'a Entry> {
        let entry = self.get(name);
        if entry.is_none() && !self.silent {
            let key = self.key(name);
            let place = if self.path.is_empty() { "at the top level".into() } else { format!("in `{}`", self.path) };
            let message = format!("missing key `{name}` {place}");
            self.reader.fault(self.span, &self.at(name), message, format!("add `{}`: {}", key.line, key.about));
        }
        entry
    }

    /// Place of a value further down, by keys and numbers; as near as there is.
    pub fn find(&self, path: &[&str]) -> Span {
        let (mut entries, mut items, mut span): (&[Entry], &[Node], Span) = (self.entries, &[], self.span);
        for segment in path {
            let entry = entries.iter().find(|entry| entry.name == *segment).map(|entry| &entry.node);
            let Some(node) = entry.or_else(|| items.get(segment.parse::<usize>().ok()?)) else { break };
            span = node.span;
            entries = if let Value::Table(entries) = &node.value { entries } else { &[] };
            items = if let Value::Array(items) = &node.value { items } else { &[] };
        }
        span
    }

    /// Notes a fault at one of the keys.
    pub fn fault(&self, name: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.reader.fault(self.span_of(name), &self.at(name), message, hint);
    }

    /// A number, if given.
    pub fn take_f64(&self, name: &str, range: Range) -> Option<f64> {
        self.reader.number(&self.get(name)?.node, &self.at(name), self.key(name), range)
    }

    /// A number that must be given.
    pub fn need_f64(&self, name: &str, range: Range) -> Option<f64> {
        self.reader.number(&self.need(name)?.node, &self.at(name), self.key(name), range)
    }

    /// A whole number, if given.
    pub fn take_u32(&self, name: &str, low: u32, high: u32) -> Option<u32> {
        self.reader.count(&self.get(name)?.node, &self.at(name), self.key(name), low, high)
    }

    /// A boolean, if given.
    pub fn take_bool(&self, name: &str) -> Option<bool> {
        let node = &self.get(name)?.node;
        match node.value {
            Value::Bool(value) => Some(value),
            _ => {
                self.reader.wrong_type(node, &self.at(name), self.key(name), "true or false");
                None
            }
        }
    }

    /// A string, if given.
    pub fn take_text(&self, name: &str) -> Option<String> {
        self.reader.text(&self.get(name)?.node, &self.at(name), self.key(name))
    }

    /// A string that must be given.
    pub fn need_text(&self, name: &str) -> Option<String> {
        self.reader.text(&self.need(name)?.node, &self.at(name), self.key(name))
    }

    /// A list of numbers of known length, if given.
    pub fn take_numbers<const N: usize>(&self, name: &str, range: Range) -> Option<[f64; N]> {
        self.reader.numbers(&self.get(name)?.node, &self.at(name), self.key(name), range)
    }

    /// A list of numbers of known length that must be given.
    pub fn need_numbers<const N: usize>(&self, name: &str, range: Range) -> Option<[f64; N]> {
        self.reader.numbers(&self.need(name)?.node, &self.at(name), self.key(name), range)
    }

    /// Three numbers, if given.
    pub fn take_vec3(&self, name: &str, range: Range) -> Option<[f64; 3]> {
        self.take_numbers(name, range)
    }

    /// A word, if given.
    pub fn take_word<W: Word>(&self, name: &str) -> Option<W> {
        self.reader.word(&self.get(name)?.node, &self.at(name), self.key(name))
    }

    /// A table below this one; absent ones read as their defaults.
    pub fn table(&self, name: &str, keys: &'static [Key]) -> Table<'a> {
        self.take_table(name, keys).unwrap_or_else(|| Table::absent(self.reader, self.span, self.at(name), keys))
    }

    /// A table below this one, if given.
    pub fn take_table(&self, name: &str, keys: &'static [Key]) -> Option<Table<'a>> {
        Table::open(self.reader, &self.get(name)?.node, self.at(name), keys)
    }

    /// A list of tables below this one; absent is empty.
    pub fn tables(&self, name: &str, keys: &'static [Key]) -> Vec<Table<'a>> {
        let Some(entry) = self.get(name) else { return Vec::new() };
        let Value::Array(items) = &entry.node.value else {
            let path = self.at(name);
            let message = format!("`{path}` must be a list of tables, found {}", entry.node.kind());
            let header: String = path.split(['[', ']']).step_by(2).collect();
            self.reader.fault(entry.node.span, &path, message, format!("begin each with a line [[{header}]]"));
            return Vec::new();
        };
        let open = |(index, item)| Table::open(self.reader, item, format!("{}[{index}]", self.at(name)), keys);
        items.iter().enumerate().filter_map(open).collect()
    }

    /// Exactly one of the keys in a list; `what` names the choice.
    pub fn one_of(&self, choices: &[&str], what: &str) -> Option<&'a Entry> {
        let given: Vec<&Entry> = self.entries.iter().filter(|entry| choices.contains(&entry.name.as_str())).collect();
        match given[..] {
            [entry] => Some(entry),
            [] => {
                // An unknown key here was a wrong choice: it is noted already.
                let known = |entry: &Entry| self.keys.iter().any(|key| key.name == entry.name);
                if !self.silent && self.entries.iter().all(known) {
                    let example = choices.first().map_or("", |name| self.key(name).line);
                    let hint = format!("add one of {}; for example `{example}`", choices.join(", "));
                    self.reader.fault(self.span, &self.path, format!("`{}` has no {what}", self.path), hint);
                }
                None
            }
            [first, second, ..] => {
                let message = format!("`{}` has two: `{}` and `{}`", self.path, first.name, second.name);
                let hint = format!("keep one {what} and remove the other");
                self.reader.fault(second.span, &self.at(&second.name), message, hint);
                None
            }
        }
    }
}
