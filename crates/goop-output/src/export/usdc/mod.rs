//! USD as a crate, version 0.8.0: the layer of [`super::usd`] in binary.
//!
//! ```text
//!  0  "PXR-USDC"  version (8 bytes)  i64 offset of the contents  64 × 0
//! 88  values, those of arrays at multiples of 8
//!     TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS
//!     contents: u64 count, then name (16 bytes), i64 start, i64 size of each
//! ```
//! A spec (prim or property) is a path with a set of fields. A field is a token and a
//! value: 8 bytes that hold flags, a type, and the value itself or where it is. Older
//! versions, some without packed tables, are refused or frowned upon by readers of today;
//! newer ones bring nothing that a run needs. What goes where is known in advance, so
//! that points go from the cache straight to the file.

mod coding;
mod tables;

use super::usd::{self, Attribute, Content, Prim, Series, Value};
use super::{Export, Stop};
use crate::cache::CacheReader;
use crate::error::OutputError;
use std::io::Write;
use tables::{Spec, Tables};

/// Bytes before the first value.
const BOOTSTRAP: u64 = 88;
const ARRAY: u64 = 1 << 63;
const INLINE: u64 = 1 << 62;

/// Types of values, as the format numbers them.
#[derive(Clone, Copy)]
enum Type {
    Int = 3,
    Float = 8,
    Double = 9,
    Token = 11,
    Vec2f = 20,
    Vec3f = 24,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

fn rep(kind: Type, payload: u64) -> u64 {
    (kind as u64) << 48 | payload
}

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    let mut layout =
        Layout { cache, tables: Tables::default(), values: Vec::new(), end: BOOTSTRAP, times: 0, frames: vec![] };
    layout.root(&usd::world(cache));
    let (sections, contents) = layout.tables.sections(layout.end);
    export.file(&format!("{}.usdc", export.scene), |out| {
        out.write_all(b"PXR-USDC")?;
        out.write_all(&[0, 8, 0, 0, 0, 0, 0, 0])?;
        out.write_all(&contents.to_le_bytes())?;
        out.write_all(&[0; 64])?;
        for value in &layout.values {
            value.write(out, cache)?;
        }
        Ok(out.write_all(&sections)?)
    })
}

/// Something between the bootstrap and the tables, of a length known in advance.
enum Stored {
    Bytes(Vec<u8>),
    /// Points of a series at a frame, then the corners of their box, as two arrays.
    Frame(Series, usize),
}

/// Bytes of an array of vectors, filled up to a multiple of 8.
fn array_bytes(count: usize) -> u64 {
    (8 + 12 * count as u64).next_multiple_of(8)
}

impl Stored {
    fn length(&self) -> u64 {
        match self {
            Stored::Bytes(bytes) => bytes.len() as u64,
            Stored::Frame(series, _) => array_bytes(series.count) + array_bytes(2),
        }
    }

    fn write(&self, out: &mut dyn Write, cache: &CacheReader) -> Result<(), Stop> {
        match self {
            Stored::Bytes(bytes) => Ok(out.write_all(bytes)?),
            Stored::Frame(series, frame) => {
                let points = series.pick(cache.positions(series.body, *frame)?);
                let corners = usd::extent(&points);
                for vectors in [points.as_slice(), &corners] {
                    out.write_all(&(vectors.len() as u64).to_le_bytes())?;
                    vectors.as_flattened().iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))?;
                    let filled = array_bytes(vectors.len()) - 8 - 12 * vectors.len() as u64;
                    out.write_all(&[0; 8][..filled as usize])?;
                }
                Ok(())
            }
        }
    }
}

/// Gives every value its place.
struct Layout<'a> {
    cache: &'a CacheReader,
    tables: Tables,
    values: Vec<Stored>,
    end: u64,
    /// The list of time codes.
    times: u64,
    /// Where the frames of the points last met are.
    frames: Vec<u64>,
}

impl Layout<'_> {
    /// Keeps bytes for the file; gives their place, a multiple of 8.
    fn store(&mut self, stored: Stored) -> u64 {
        let place = self.end;
        self.end += stored.length();
        self.values.push(stored);
        let filled = self.end.next_multiple_of(8) - self.end;
        if filled > 0 {
            self.values.push(Stored::Bytes(vec![0; filled as usize]));
            self.end += filled;
        }
        place
    }

    fn bytes(&mut self, kind: Type, bytes: Vec<u8>) -> u64 {
        rep(kind, self.store(Stored::Bytes(bytes)))
    }

    /// A list behind its length; an empty array is no place at all.
    fn array(&mut self, kind: Type, count: usize, values: impl Iterator<Item = [u8; 4]>) -> u64 {
        if count == 0 {
            return ARRAY | rep(kind, 0);
        }
        let mut bytes = (count as u64).to_le_bytes().to_vec();
        values.for_each(|value| bytes.extend(value));
        ARRAY | self.bytes(kind, bytes)
    }

    fn token(&mut self, token: &str) -> u64 {
        INLINE | rep(Type::Token, self.tables.token(token).into())
    }

    fn double(&mut self, value: f64) -> u64 {
        self.bytes(Type::Double, value.to_le_bytes().to_vec())
    }

    fn tokens(&mut self, tokens: &[&str]) -> u64 {
        let mut bytes = (tokens.len() as u64).to_le_bytes().to_vec();
        tokens.iter().for_each(|token| bytes.extend(self.tables.token(token).to_le_bytes()));
        self.bytes(Type::TokenVector, bytes)
    }

    /// A list of one: explicit for paths, prepended for schemas.
    fn list_of_one(&mut self, kind: Type, header: u8, index: u32) -> u64 {
        self.bytes(kind, [&[header], 1u64.to_le_bytes().as_slice(), &index.to_le_bytes()].concat())
    }

    fn root(&mut self, world: &Prim) {
        let (first, frames) = (self.cache.first_frame(), self.cache.frames());
        let codes = (first..first + frames).flat_map(|code| (code as f64).to_le_bytes());
        let times = (frames as u64).to_le_bytes().into_iter().chain(codes).collect();
        self.times = self.bytes(Type::DoubleVector, times);
        let fields = vec![
            ("defaultPrim", self.token(&world.name)),
            ("upAxis", self.token("Y")),
            ("metersPerUnit", self.double(1.0)),
            ("startTimeCode", self.double(first as f64)),
            ("endTimeCode", self.double((first + frames - 1) as f64)),
            ("timeCodesPerSecond", self.double(self.cache.fps())),
            ("framesPerSecond", self.double(self.cache.fps())),
            ("primChildren", self.tokens(&[&world.name])),
        ];
        let root = self.tables.path(None, "", false);
        self.tables.spec(root, Spec::Root, &fields);
        self.prim(world, root);
    }

    fn prim(&mut self, prim: &Prim, parent: usize) {
        let path = self.tables.path(Some(parent), &prim.name, false);
        let mut fields =
            vec![("specifier", INLINE | rep(Type::Specifier, 0)), ("typeName", self.token(prim.type_name))];
        if let Some(api) = prim.api {
            let index = self.tables.token(api);
            fields.push(("apiSchemas", self.list_of_one(Type::TokenListOp, 1 << 5, index)));
        }
        let mut properties: Vec<&str> = prim.attributes.iter().map(|attribute| attribute.name).collect();
        properties.extend(prim.relationship.iter().map(|(name, _)| *name));
        if !properties.is_empty() {
            fields.push(("properties", self.tokens(&properties)));
        }
        if !prim.children.is_empty() {
            let names: Vec<&str> = prim.children.iter().map(|child| child.name.as_str()).collect();
            fields.push(("primChildren", self.tokens(&names)));
        }
        self.tables.spec(path, Spec::Prim, &fields);
        for attribute in &prim.attributes {
            self.attribute(attribute, path);
        }
        if let Some((name, target)) = &prim.relationship {
            let target = self.tables.target(target);
            let fields = [
                ("variability", INLINE | rep(Type::Variability, 1)),
                ("targetPaths", self.list_of_one(Type::PathListOp, 0b11, target)),
            ];
            let path = self.tables.path(Some(path), name, true);
            self.tables.spec(path, Spec::Relationship, &fields);
        }
        for child in &prim.children {
            self.prim(child, path);
        }
    }

    fn attribute(&mut self, attribute: &Attribute, prim: usize) {
        let mut fields = vec![("typeName", self.token(attribute.type_name))];
        if attribute.uniform {
            fields.push(("variability", INLINE | rep(Type::Variability, 1)));
        }
        match &attribute.content {
            Content::Value(value) => fields.push(("default", self.value(value))),
            Content::Connection(source) => {
                let source = self.tables.target(source);
                fields.push(("connectionPaths", self.list_of_one(Type::PathListOp, 0b11, source)));
            }
            Content::Nothing => {}
            Content::Points(series) => {
                let frames = 0..self.cache.frames();
                self.frames = frames.map(|frame| self.store(Stored::Frame(series.clone(), frame))).collect();
                fields.push(("timeSamples", self.samples(0)));
            }
            // The box of a frame lies behind its points, and the points come first in a prim.
            Content::Extent(series) => fields.push(("timeSamples", self.samples(array_bytes(series.count)))),
        }
        if let Some(interpolation) = attribute.interpolation {
            fields.push(("interpolation", self.token(interpolation)));
        }
        let path = self.tables.path(Some(prim), attribute.name, true);
        self.tables.spec(path, Spec::Attribute, &fields);
    }

    /// Times, then values, each list behind the distance to it.
    fn samples(&mut self, offset: u64) -> u64 {
        let arrays = self.frames.iter().map(|place| ARRAY | rep(Type::Vec3f, place + offset));
        let words = [8, self.times, 8, self.frames.len() as u64].into_iter().chain(arrays);
        let bytes = words.flat_map(u64::to_le_bytes).collect();
        self.bytes(Type::TimeSamples, bytes)
    }

    fn value(&mut self, value: &Value) -> u64 {
        match value {
            Value::Token(token) => self.token(token),
            Value::Float(value) => INLINE | rep(Type::Float, value.to_bits().into()),
            Value::Color(colour) => {
                let bytes = colour.iter().flat_map(|value| value.to_le_bytes()).collect();
                self.bytes(Type::Vec3f, bytes)
            }
            Value::Ints(values) => self.array(Type::Int, values.len(), values.iter().map(|v| v.to_le_bytes())),
            Value::Floats(values) => self.array(Type::Float, values.len(), values.iter().map(|v| v.to_le_bytes())),
            Value::Pairs(values) => {
                let numbers = values.as_flattened().iter();
                self.array(Type::Vec2f, values.len(), numbers.map(|v| v.to_le_bytes()))
            }
        }
    }
}
