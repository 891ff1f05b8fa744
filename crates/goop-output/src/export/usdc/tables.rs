//! Tokens, fields, paths and specs, and the sections they become.

use super::coding::{block, integers};
use std::collections::HashMap;

/// What a path is, as the format numbers it.
#[derive(Clone, Copy)]
pub enum Spec {
    Attribute = 1,
    Prim = 6,
    Root = 7,
    Relationship = 8,
}

pub struct Tables {
    tokens: Vec<String>,
    token_index: HashMap<String, u32>,
    paths: Vec<Path>,
    fields: Vec<(u32, u64)>,
    field_sets: Vec<u32>,
    /// Path, first of its fields, kind.
    specs: Vec<[u32; 3]>,
}

struct Path {
    token: u32,
    property: bool,
    children: Vec<usize>,
}

impl Default for Tables {
    fn default() -> Tables {
        let mut tables = Tables {
            tokens: Vec::new(),
            token_index: HashMap::new(),
            paths: Vec::new(),
            fields: Vec::new(),
            field_sets: Vec::new(),
            specs: Vec::new(),
        };
        // A property has its token with a minus in the table of paths, so none may have 0.
        tables.token("goop");
        tables
    }
}

impl Tables {
    /// Number of a token.
    pub fn token(&mut self, token: &str) -> u32 {
        if let Some(&index) = self.token_index.get(token) {
            return index;
        }
        let index = self.tokens.len() as u32;
        self.tokens.push(token.to_owned());
        self.token_index.insert(token.to_owned(), index);
        index
    }

    /// Number of a path; the one without a parent comes first.
    pub fn path(&mut self, parent: Option<usize>, name: &str, property: bool) -> usize {
        let token = self.token(if parent.is_none() { "goop" } else { name });
        let same = |&child: &usize| self.paths[child].token == token && self.paths[child].property == property;
        if let Some(found) = parent.and_then(|parent| self.paths[parent].children.iter().copied().find(same)) {
            return found;
        }
        let index = self.paths.len();
        self.paths.push(Path { token, property, children: Vec::new() });
        if let Some(parent) = parent {
            self.paths[parent].children.push(index);
        }
        index
    }

    /// Number of a path written out, as `/a/b` or `/a/b.c`.
    pub fn target(&mut self, path: &str) -> u32 {
        let (prims, property) = path.split_once('.').map_or((path, None), |(prims, name)| (prims, Some(name)));
        let mut at = 0;
        for name in prims.split('/').skip(1) {
            at = self.path(Some(at), name, false);
        }
        property.map_or(at, |name| self.path(Some(at), name, true)) as u32
    }

    /// Says what a path is and what is known of it.
    pub fn spec(&mut self, path: usize, kind: Spec, fields: &[(&str, u64)]) {
        self.specs.push([path as u32, self.field_sets.len() as u32, kind as u32]);
        for (name, value) in fields {
            let token = self.token(name);
            self.field_sets.push(self.fields.len() as u32);
            self.fields.push((token, *value));
        }
        self.field_sets.push(u32::MAX);
    }

    /// All sections and the contents, from a place on; and where the contents are.
    pub fn sections(&self, start: u64) -> (Vec<u8>, u64) {
        let names: [&[u8]; 6] = [b"TOKENS", b"STRINGS", b"FIELDS", b"FIELDSETS", b"PATHS", b"SPECS"];
        let sections = [
            self.token_section(),
            count(0),
            self.field_section(),
            self.set_section(),
            self.path_section(),
            self.spec_section(),
        ];
        let (mut bytes, mut contents) = (Vec::new(), count(6));
        for (name, section) in names.into_iter().zip(sections) {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name);
            contents.extend(padded);
            contents.extend((start + bytes.len() as u64).to_le_bytes());
            contents.extend((section.len() as u64).to_le_bytes());
            bytes.extend(section);
        }
        let place = start + bytes.len() as u64;
        bytes.extend(contents);
        (bytes, place)
    }

    fn token_section(&self) -> Vec<u8> {
        let text: Vec<u8> = self.tokens.iter().flat_map(|token| token.bytes().chain([0])).collect();
        let packed = block(&text);
        [count(self.tokens.len()), count(text.len()), count(packed.len()), packed].concat()
    }

    fn field_section(&self) -> Vec<u8> {
        let tokens: Vec<u32> = self.fields.iter().map(|field| field.0).collect();
        let values: Vec<u8> = self.fields.iter().flat_map(|field| field.1.to_le_bytes()).collect();
        let packed = block(&values);
        [count(tokens.len()), integers(&tokens), count(packed.len()), packed].concat()
    }

    fn set_section(&self) -> Vec<u8> {
        [count(self.field_sets.len()), integers(&self.field_sets)].concat()
    }

    /// Depth first, each with the way to the next beside it: -2 a leaf at the end, -1 only
    /// a child, 0 only a sibling, else how far the sibling is.
    fn path_section(&self) -> Vec<u8> {
        let (mut indices, mut tokens, mut jumps) = (Vec::new(), Vec::new(), Vec::new());
        self.walk(0, false, &mut indices, &mut tokens, &mut jumps);
        let number = count(self.paths.len());
        [number.clone(), number, integers(&indices), integers(&tokens), integers(&jumps)].concat()
    }

    fn walk(&self, at: usize, sibling: bool, indices: &mut Vec<u32>, tokens: &mut Vec<u32>, jumps: &mut Vec<u32>) {
        let path = &self.paths[at];
        let place = jumps.len();
        indices.push(at as u32);
        tokens.push(if path.property { path.token.wrapping_neg() } else { path.token });
        jumps.push(0);
        for (i, &child) in path.children.iter().enumerate() {
            self.walk(child, i + 1 < path.children.len(), indices, tokens, jumps);
        }
        jumps[place] = match (path.children.is_empty(), sibling) {
            (true, true) => 0,
            (true, false) => -2i32 as u32,
            (false, false) => -1i32 as u32,
            (false, true) => (jumps.len() - place) as u32,
        };
    }

    fn spec_section(&self) -> Vec<u8> {
        let column = |c: usize| integers(&self.specs.iter().map(|spec| spec[c]).collect::<Vec<_>>());
        [count(self.specs.len()), column(0), column(1), column(2)].concat()
    }
}

fn count(number: usize) -> Vec<u8> {
    (number as u64).to_le_bytes().to_vec()
}
