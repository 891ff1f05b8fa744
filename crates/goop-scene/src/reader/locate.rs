//! From a path such as `body.sheet.pin[0].at` back to its place in the text.

use super::source::{Sources, Span};
use super::tree::{Node, Value};
use super::{Fault, Place};

/// The texts of a scene and the tree read from them, kept to place later findings.
#[derive(Clone, Debug)]
pub struct Origin {
    sources: Sources,
    tree: Node,
}

impl Origin {
    pub(crate) fn new(sources: Sources, tree: Node) -> Self {
        Self { sources, tree }
    }

    /// The place of the deepest part of the path that is in the text.
    pub fn place(&self, path: &str) -> Place {
        self.sources.place(self.span(path))
    }

    /// A finding about a path as a fault with its place.
    pub fn fault(&self, path: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault { place: self.place(path), path: path.to_owned(), message: message.into(), hint: hint.into() }
    }

    fn span(&self, path: &str) -> Span {
        let (mut node, mut span) = (&self.tree, self.tree.span);
        for word in path.split(['.', '[', ']']).filter(|word| !word.is_empty()) {
            let next = match &node.value {
                Value::Table(entries) => {
                    entries.iter().find(|entry| entry.name == word).map(|entry| (&entry.node, entry.span))
                }
                Value::Array(items) => {
                    let named = |item: &&Node| {
                        matches!(&item.value, Value::Table(entries)
                        if entries.iter().any(|e| e.name == "name" && matches!(&e.node.value, Value::Text(t) if t == word)))
                    };
                    let numbered = || word.parse().ok().and_then(|number: usize| items.get(number));
                    items.iter().find(named).or_else(numbered).map(|item| (item, item.span))
                }
                _ => None,
            };
            let Some((inner, place)) = next else { break };
            (node, span) = (inner, place);
        }
        span
    }
}
