//! What a USD file says of a run, before it is text or crate.
//!
//! ```text
//! /World (Xform, default prim)
//!   <body>        Mesh: points and extent over time, faces, st
//!   <body>_lines  BasisCurves, linear: points and extent over time
//!   Materials/<material>/Surface   UsdPreviewSurface
//! ```
//! Y up, metres, a time code a frame. A mesh with several materials has a GeomSubset for each.
//! Points are the vertices in their own order and number, texture coordinates are those of
//! corners where a vertex has several.

use crate::cache::{CacheReader, RestMesh};
use std::collections::BTreeSet;

/// Path of the default prim.
pub const ROOT: &str = "World";

/// A prim with what is in it.
pub struct Prim {
    pub name: String,
    pub type_name: &'static str,
    /// Applied schema, where there is one.
    pub api: Option<&'static str>,
    pub attributes: Vec<Attribute>,
    /// Name and target path.
    pub relationship: Option<(&'static str, String)>,
    pub children: Vec<Prim>,
}

pub struct Attribute {
    pub name: &'static str,
    pub type_name: &'static str,
    pub uniform: bool,
    pub interpolation: Option<&'static str>,
    pub content: Content,
}

pub enum Content {
    Value(Value),
    /// Takes its value from the attribute at this path.
    Connection(String),
    /// Declared only.
    Nothing,
    /// Points of a body in this order, a sample a frame.
    Points(Series),
    /// Two corners of the box around these points, a sample a frame.
    Extent(Series),
}

/// Vertices of a body over time.
#[derive(Clone)]
pub struct Series {
    pub body: usize,
    /// Which vertices; none means all, in order.
    pub order: Option<Vec<u32>>,
    pub count: usize,
}

pub enum Value {
    Token(String),
    Float(f32),
    Color([f32; 3]),
    Ints(Vec<i32>),
    Floats(Vec<f32>),
    Pairs(Vec<[f32; 2]>),
}

impl Series {
    /// The points out of all positions of the body.
    pub fn pick(&self, positions: Vec<[f32; 3]>) -> Vec<[f32; 3]> {
        match &self.order {
            None => positions,
            Some(order) => order.iter().map(|&vertex| positions[vertex as usize]).collect(),
        }
    }
}

/// Smallest and largest coordinates.
pub fn extent(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let mut corners = [points.first().copied().unwrap_or_default(); 2];
    for point in points {
        for axis in 0..3 {
            corners[0][axis] = corners[0][axis].min(point[axis]);
            corners[1][axis] = corners[1][axis].max(point[axis]);
        }
    }
    corners
}

/// The default prim and all below it.
pub fn world(cache: &CacheReader) -> Prim {
    let mut names = Names::default();
    let mut material_names = Names::default();
    let mut root = prim(names.take(ROOT), "Xform");
    let mut library = prim(names.take("Materials"), "Scope");
    for (b, body) in cache.bodies().iter().enumerate() {
        let mesh = &body.rest;
        let mut paths = Vec::new();
        for material in &mesh.materials {
            let name = material_names.take(&material.name);
            let path = format!("/{ROOT}/{}/{name}", library.name);
            library.children.push(surface_material(name, &path, material.shown()));
            paths.push(path);
        }
        if !mesh.triangles.is_empty() {
            root.children.push(surface(names.take(&mesh.name), b, mesh, &paths));
        }
        if !mesh.segments.is_empty() {
            let suffix = if mesh.triangles.is_empty() { "" } else { "_lines" };
            root.children.push(curves(names.take(&format!("{}{suffix}", mesh.name)), b, mesh));
        }
        if mesh.triangles.is_empty() && mesh.segments.is_empty() {
            let mut points = prim(names.take(&mesh.name), "Points");
            points.attributes = over_time(Series { body: b, order: None, count: mesh.positions.len() });
            root.children.push(points);
        }
    }
    if !library.children.is_empty() {
        root.children.push(library);
    }
    root
}

fn surface(name: String, body: usize, mesh: &RestMesh, materials: &[String]) -> Prim {
    let mut surface = prim(name, "Mesh");
    let corners = mesh.triangles.as_flattened();
    surface.attributes = over_time(Series { body, order: None, count: mesh.positions.len() });
    surface.attributes.extend([
        plain("faceVertexCounts", "int[]", Value::Ints(vec![3; mesh.triangles.len()])),
        plain("faceVertexIndices", "int[]", Value::Ints(corners.iter().map(|&corner| corner as i32).collect())),
        uniform("subdivisionScheme", "token", Value::Token("none".into())),
    ]);
    if !mesh.uvs.is_empty() {
        let (uvs, interpolation) = match mesh.triangle_uvs.is_empty() {
            true => (mesh.uvs.clone(), "vertex"),
            false => {
                (mesh.triangle_uvs.as_flattened().iter().map(|&uv| mesh.uvs[uv as usize]).collect(), "faceVarying")
            }
        };
        let st = plain("primvars:st", "texCoord2f[]", Value::Pairs(uvs));
        surface.attributes.push(Attribute { interpolation: Some(interpolation), ..st });
    }
    if let Some(first) = materials.first() {
        bind(&mut surface, first);
    }
    if materials.len() > 1 {
        surface.attributes.push(uniform(
            "subsetFamily:materialBind:familyType",
            "token",
            Value::Token("partition".into()),
        ));
        for (m, path) in materials.iter().enumerate() {
            let faces: Vec<i32> = mesh.triangles_of(m).map(|triangle| triangle as i32).collect();
            let mut subset = prim(format!("part{m}"), "GeomSubset");
            subset.attributes = vec![
                uniform("elementType", "token", Value::Token("face".into())),
                uniform("familyName", "token", Value::Token("materialBind".into())),
                plain("indices", "int[]", Value::Ints(faces)),
            ];
            bind(&mut subset, path);
            surface.children.push(subset);
        }
    }
    surface
}

fn bind(prim: &mut Prim, material: &str) {
    prim.api = Some("MaterialBindingAPI");
    prim.relationship = Some(("material:binding", material.to_owned()));
}

fn surface_material(name: String, path: &str, [r, g, b, a]: [f32; 4]) -> Prim {
    let mut shader = prim("Surface".into(), "Shader");
    shader.attributes = vec![
        uniform("info:id", "token", Value::Token("UsdPreviewSurface".into())),
        plain("inputs:diffuseColor", "color3f", Value::Color([r, g, b])),
        plain("inputs:opacity", "float", Value::Float(a)),
        plain("inputs:roughness", "float", Value::Float(0.6)),
        attribute("outputs:surface", "token", Content::Nothing),
    ];
    let mut material = prim(name, "Material");
    let source = format!("{path}/Surface.outputs:surface");
    material.attributes = vec![attribute("outputs:surface", "token", Content::Connection(source))];
    material.children.push(shader);
    material
}

fn curves(name: String, body: usize, mesh: &RestMesh) -> Prim {
    let lines = Lines::of(&mesh.segments);
    let whole = lines.order.iter().enumerate().all(|(i, &vertex)| i as u32 == vertex)
        && lines.order.len() == mesh.positions.len();
    let count = lines.order.len();
    let mut curves = prim(name, "BasisCurves");
    curves.attributes = over_time(Series { body, order: (!whole).then_some(lines.order), count });
    curves.attributes.extend([
        plain("curveVertexCounts", "int[]", Value::Ints(lines.counts)),
        uniform("type", "token", Value::Token("linear".into())),
        uniform("wrap", "token", Value::Token(if lines.closed { "periodic" } else { "nonperiodic" }.into())),
    ]);
    if mesh.radius > 0.0 {
        let widths = plain("widths", "float[]", Value::Floats(vec![2.0 * mesh.radius]));
        curves.attributes.push(Attribute { interpolation: Some("constant"), ..widths });
    }
    curves
}

/// Segments joined into lines where one begins at the end of the one before.
struct Lines {
    order: Vec<u32>,
    counts: Vec<i32>,
    /// All lines end where they begin; the vertex is then named once.
    closed: bool,
}

impl Lines {
    fn of(segments: &[[u32; 2]]) -> Lines {
        let mut lines: Vec<Vec<u32>> = Vec::new();
        for &[a, b] in segments {
            match lines.last_mut() {
                Some(line) if line.last() == Some(&a) => line.push(b),
                _ => lines.push(vec![a, b]),
            }
        }
        let closed = lines.iter().all(|line| line.len() > 3 && line.first() == line.last());
        if closed {
            lines.iter_mut().for_each(|line| line.truncate(line.len() - 1));
        }
        let counts = lines.iter().map(|line| line.len() as i32).collect();
        Lines { order: lines.concat(), counts, closed }
    }
}

fn over_time(series: Series) -> Vec<Attribute> {
    vec![
        attribute("points", "point3f[]", Content::Points(series.clone())),
        attribute("extent", "float3[]", Content::Extent(series)),
    ]
}

fn prim(name: String, type_name: &'static str) -> Prim {
    Prim { name, type_name, api: None, attributes: vec![], relationship: None, children: vec![] }
}

fn attribute(name: &'static str, type_name: &'static str, content: Content) -> Attribute {
    Attribute { name, type_name, uniform: false, interpolation: None, content }
}

fn plain(name: &'static str, type_name: &'static str, value: Value) -> Attribute {
    attribute(name, type_name, Content::Value(value))
}

fn uniform(name: &'static str, type_name: &'static str, value: Value) -> Attribute {
    Attribute { uniform: true, ..plain(name, type_name, value) }
}

/// Names that USD takes, no two alike: letters, digits and underscores, no digit in front.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    fn take(&mut self, name: &str) -> String {
        let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            plain.insert(0, '_');
        }
        let mut candidate = plain.clone();
        let mut count = 1;
        while !self.0.insert(candidate.clone()) {
            count += 1;
            candidate = format!("{plain}_{count}");
        }
        candidate
    }
}
