//! USD as text. Large, but anyone can read it; [`super::usdc`] says the same in less space.

use super::usd::{self, Attribute, Content, Prim, Value};
use super::{Export, Stop};
use crate::cache::CacheReader;
use crate::error::OutputError;
use std::fmt::Display;
use std::io::{self, Write};

pub(super) fn write(export: &mut Export) -> Result<(), OutputError> {
    let cache = export.cache;
    let world = usd::world(cache);
    export.file(&format!("{}.usda", export.scene), |out| {
        let first = cache.first_frame();
        writeln!(out, "#usda 1.0\n(")?;
        writeln!(out, "    defaultPrim = \"{}\"", world.name)?;
        writeln!(out, "    startTimeCode = {first}\n    endTimeCode = {}", first + cache.frames() - 1)?;
        writeln!(out, "    timeCodesPerSecond = {0}\n    framesPerSecond = {0}", cache.fps())?;
        writeln!(out, "    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n")?;
        Writer { out, cache }.prim(&world, 0)
    })
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    cache: &'a CacheReader,
}

impl Writer<'_> {
    fn prim(&mut self, prim: &Prim, depth: usize) -> Result<(), Stop> {
        let indent = "    ".repeat(depth);
        writeln!(self.out, "{indent}def {} \"{}\"", prim.type_name, prim.name)?;
        if let Some(api) = prim.api {
            writeln!(self.out, "{indent}(\n{indent}    prepend apiSchemas = [\"{api}\"]\n{indent})")?;
        }
        writeln!(self.out, "{indent}{{")?;
        for attribute in &prim.attributes {
            self.attribute(attribute, &"    ".repeat(depth + 1))?;
        }
        if let Some((name, target)) = &prim.relationship {
            writeln!(self.out, "{indent}    rel {name} = <{target}>")?;
        }
        for child in &prim.children {
            writeln!(self.out)?;
            self.prim(child, depth + 1)?;
        }
        Ok(writeln!(self.out, "{indent}}}")?)
    }

    fn attribute(&mut self, attribute: &Attribute, indent: &str) -> Result<(), Stop> {
        let uniform = if attribute.uniform { "uniform " } else { "" };
        write!(self.out, "{indent}{uniform}{} {}", attribute.type_name, attribute.name)?;
        match &attribute.content {
            Content::Value(value) => {
                write!(self.out, " = ")?;
                self.value(value)?;
            }
            Content::Connection(source) => write!(self.out, ".connect = <{source}>")?,
            Content::Nothing => {}
            Content::Points(series) | Content::Extent(series) => {
                writeln!(self.out, ".timeSamples = {{")?;
                for frame in 0..self.cache.frames() {
                    let points = series.pick(self.cache.positions(series.body, frame)?);
                    write!(self.out, "{indent}    {}: ", self.cache.first_frame() + frame)?;
                    match attribute.content {
                        Content::Extent(_) => list(self.out, usd::extent(&points).iter().map(tuple))?,
                        _ => list(self.out, points.iter().map(tuple))?,
                    }
                    writeln!(self.out, ",")?;
                }
                write!(self.out, "{indent}}}")?;
            }
        }
        if let Some(interpolation) = attribute.interpolation {
            write!(self.out, " (\n{indent}    interpolation = \"{interpolation}\"\n{indent})")?;
        }
        Ok(writeln!(self.out)?)
    }

    fn value(&mut self, value: &Value) -> io::Result<()> {
        match value {
            Value::Token(token) => write!(self.out, "\"{token}\""),
            Value::Float(value) => write!(self.out, "{value}"),
            Value::Color(colour) => write!(self.out, "{}", tuple(colour)),
            Value::Ints(values) => list(self.out, values.iter()),
            Value::Floats(values) => list(self.out, values.iter()),
            Value::Pairs(values) => list(self.out, values.iter().map(|[u, v]| format!("({u}, {v})"))),
        }
    }
}

fn tuple([x, y, z]: &[f32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

fn list<T: Display>(out: &mut dyn Write, values: impl Iterator<Item = T>) -> io::Result<()> {
    write!(out, "[")?;
    for (i, value) in values.enumerate() {
        write!(out, "{}{value}", if i == 0 { "" } else { ", " })?;
    }
    write!(out, "]")
}
