//! `[body.shape.<kind>]`.

use std::path::{Component, Path, PathBuf};

use super::limits::{COORDINATE, LENGTH, MAX_BODY_NODES, MAX_NET, MAX_POINTS};
use super::topology::Topology;
use super::{character, keys};
use crate::reader::{Entry, Key, Node, Range, Table, Value};
use crate::scene::{Shape, Vector};

/// Reads the one shape of a body. `None` if it cannot be made out.
pub fn shape(body: &Table<'_>) -> Option<Shape> {
    body.need("shape")?;
    let kinds = body.take_table("shape", keys::SHAPE)?;
    let names: Vec<&str> = keys::SHAPE.iter().map(|key| key.name).collect();
    let entry = kinds.one_of(&names, "shape")?;
    let shape = kind(&kinds, entry)?;
    bounded(&kinds, entry, &shape).then_some(shape)
}

fn kind(kinds: &Table<'_>, entry: &Entry) -> Option<Shape> {
    let open = |keys: &'static [Key]| kinds.take_table(&entry.name, keys);
    Some(match entry.name.as_str() {
        "line" => {
            let t = open(keys::LINE)?;
            let (size, nodes) = (t.need_f64("size", LENGTH), counts(&t, [2]));
            Shape::Line { size: size?, nodes: nodes? }
        }
        "arc" => {
            let t = open(keys::ARC)?;
            let radius = t.need_f64("radius", LENGTH);
            let angle = t.need_f64("angle", Range::between(0.0, 360.0));
            let nodes = counts(&t, [2]);
            Shape::Arc { radius: radius?, angle: angle?, nodes: nodes? }
        }
        "hoop" => {
            let t = open(keys::HOOP)?;
            let (radius, nodes) = (t.need_f64("radius", LENGTH), counts(&t, [3]));
            Shape::Hoop { radius: radius?, nodes: nodes? }
        }
        "helix" => {
            let t = open(keys::HELIX)?;
            let radius = t.need_f64("radius", LENGTH);
            let height = t.need_f64("height", LENGTH);
            let turns = t.need_f64("turns", Range::above(0.0, 1e4));
            let nodes = counts(&t, [2]);
            Shape::Helix { radius: radius?, height: height?, turns: turns?, nodes: nodes? }
        }
        "spline" => spline(&open(keys::SPLINE)?)?,
        "rectangle" => {
            let t = open(keys::RECTANGLE)?;
            let (size, nodes) = (t.need_numbers("size", LENGTH), counts(&t, [2, 2]));
            Shape::Rectangle { size: size?, nodes: nodes? }
        }
        "disc" => {
            let t = open(keys::ROUND)?;
            let (radius, nodes) = (t.need_f64("radius", LENGTH), counts(&t, [3, 2]));
            Shape::Disc { radius: radius?, nodes: nodes? }
        }
        "cylinder" => {
            let t = open(keys::CYLINDER)?;
            let radius = t.need_f64("radius", LENGTH);
            let height = t.need_f64("height", LENGTH);
            let nodes = counts(&t, [3, 2]);
            Shape::Cylinder { radius: radius?, height: height?, nodes: nodes? }
        }
        "sphere" => {
            let t = open(keys::ROUND)?;
            let (radius, nodes) = (t.need_f64("radius", LENGTH), counts(&t, [3, 3]));
            Shape::Sphere { radius: radius?, nodes: nodes? }
        }
        "torus" => {
            let t = open(keys::TORUS)?;
            let ring = ring(&t);
            let nodes = counts(&t, [3, 3]);
            let (radius, tube) = ring?;
            Shape::Torus { radius, tube, nodes: nodes? }
        }
        "revolve" => revolve(&open(keys::REVOLVE)?)?,
        "bezier" => bezier(&open(keys::BEZIER)?)?,
        "box" => {
            let t = open(keys::BOX)?;
            let (size, nodes) = (t.need_numbers("size", LENGTH), counts(&t, [2, 2, 2]));
            let tetrahedra = t.take_bool("tetrahedra").unwrap_or(false);
            Shape::Box { size: size?, nodes: nodes?, tetrahedra }
        }
        "ball" => {
            let t = open(keys::BALL)?;
            let (radius, nodes) = (t.need_f64("radius", LENGTH), counts(&t, [2, 2, 2]));
            Shape::Ball { radius: radius?, nodes: nodes? }
        }
        "saved" => saved(&open(keys::SAVED)?)?,
        "character" => character::shape(&open(keys::CHARACTER)?)?,
        _ => mesh(&open(keys::MESH)?)?,
    })
}

/// `nodes`: one count per axis, or one number for all, each at least its minimum.
fn counts<const N: usize>(table: &Table<'_>, low: [u32; N]) -> Option<[u32; N]> {
    let node = &table.need("nodes")?.node;
    let (path, key) = (table.at("nodes"), table.key("nodes"));
    let most = MAX_BODY_NODES as u32;
    if !matches!(node.value, Value::Array(_)) {
        let least = low.iter().copied().max().unwrap_or(2);
        return table.reader.count(node, &path, key, least, most).map(|count| [count; N]);
    }
    let items = table.reader.list(node, &path, key, Some(N))?;
    let mut counts = [0; N];
    let mut good = true;
    for (axis, item) in items.iter().enumerate() {
        match table.reader.count(item, &format!("{path}[{axis}]"), key, low[axis], most) {
            Some(count) => counts[axis] = count,
            None => good = false,
        }
    }
    good.then_some(counts)
}

/// Radius and tube of a ring that does not meet itself.
pub fn ring(table: &Table<'_>) -> Option<(f64, f64)> {
    let (radius, tube) = (table.need_f64("radius", LENGTH), table.need_f64("tube", LENGTH));
    let (radius, tube) = (radius?, tube?);
    if tube >= radius {
        let message = format!("`{}` is {tube}, not below the radius {radius}", table.at("tube"));
        table.fault("tube", message, "a ring whose tube is that thick meets itself; make `tube` smaller");
        return None;
    }
    Some((radius, tube))
}

fn spline(table: &Table<'_>) -> Option<Shape> {
    let closed = table.take_bool("closed").unwrap_or(false);
    let least = if closed { 3 } else { 2 };
    let nodes = counts(table, [least]);
    let node = &table.need("points")?.node;
    let (path, key) = (table.at("points"), table.key("points"));
    let items = table.reader.list(node, &path, key, None)?;
    if !(least as usize..=MAX_POINTS).contains(&items.len()) {
        let message = format!("`{path}` must have {least} to {MAX_POINTS} points, found {}", items.len());
        table.fault("points", message, key.hint());
        return None;
    }
    let points = points(table, items, &path, key)?;
    let next = |index: usize| (index + 1) % points.len();
    let pairs = if closed { points.len() } else { points.len() - 1 };
    if let Some(index) = (0..pairs).find(|index| points[*index] == points[next(*index)]) {
        let message = format!("points {index} and {} of `{path}` are the same", next(index));
        table.reader.fault(items[next(index)].span, &path, message, "remove one; a closed curve closes by itself");
        return None;
    }
    Some(Shape::Spline { points, closed, nodes: nodes? })
}

fn points(table: &Table<'_>, items: &[Node], path: &str, key: &Key) -> Option<Vec<Vector>> {
    let read = |(index, item)| table.reader.numbers::<3>(item, &format!("{path}[{index}]"), key, COORDINATE);
    let list: Vec<Option<Vector>> = items.iter().enumerate().map(read).collect();
    list.into_iter().collect()
}

fn bezier(table: &Table<'_>) -> Option<Shape> {
    let nodes = counts(table, [2, 2]);
    let node = &table.need("net")?.node;
    let (path, key) = (table.at("net"), table.key("net"));
    let rows = table.reader.list(node, &path, key, None)?;
    let size = |found: usize, what: &str, node: &Node| {
        let good = (2..=MAX_NET).contains(&found);
        if !good {
            let message = format!("`{path}` must have 2 to {MAX_NET} {what}, found {found}");
            table.reader.fault(node.span, &path, message, key.hint());
        }
        good
    };
    if !size(rows.len(), "rows", node) {
        return None;
    }
    let mut net: Vec<Vec<Vector>> = Vec::new();
    let mut good = true;
    for (index, row) in rows.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Some(items) = table.reader.list(row, &path, key, None) else {
            good = false;
            continue;
        };
        if !size(items.len(), "points in a row", row) {
            good = false;
            continue;
        }
        match points(table, items, &path, key) {
            Some(points) if net.first().is_none_or(|first| first.len() == points.len()) => net.push(points),
            Some(points) => {
                let first = net.first().map_or(0, Vec::len);
                let message = format!("`{path}` has {} points, the first row has {first}", points.len());
                table.reader.fault(row.span, &path, message, "every row of a control net has the same length");
                good = false;
            }
            None => good = false,
        }
    }
    let nodes = nodes?;
    good.then_some(Shape::Bezier { net, nodes })
}

fn revolve(table: &Table<'_>) -> Option<Shape> {
    let nodes = counts(table, [3, 3]);
    let lobes = table.take_u32("lobes", 0, 100).unwrap_or(0);
    let depth = table.take_f64("depth", Range::within(0.0, 0.9)).unwrap_or(0.1);
    let bend = table.take_f64("bend", Range::within(-180.0, 180.0)).unwrap_or(0.0);
    let node = &table.need("profile")?.node;
    let (path, key) = (table.at("profile"), table.key("profile"));
    let items = table.reader.list(node, &path, key, None)?;
    if !(3..=MAX_POINTS).contains(&items.len()) {
        let message = format!("`{path}` must have 3 to {MAX_POINTS} points, found {}", items.len());
        table.fault("profile", message, key.hint());
        return None;
    }
    let read = |(index, item)| table.reader.numbers::<2>(item, &format!("{path}[{index}]"), key, COORDINATE);
    let list: Vec<Option<[f64; 2]>> = items.iter().enumerate().map(read).collect();
    let profile: Vec<[f64; 2]> = list.into_iter().collect::<Option<_>>()?;
    for (index, point) in profile.iter().enumerate() {
        let pole = index == 0 || index + 1 == profile.len();
        if pole != (point[0] == 0.0) || point[0] < 0.0 {
            let message = match pole {
                true => format!("`{path}[{index}]` is {} m away from the axis, and it is a pole", point[0]),
                false => format!("`{path}[{index}]` is {} m away from the axis, not beside it", point[0]),
            };
            let hint = "the first and the last point are poles, at 0 from the axis; all others are above 0";
            table.reader.fault(items[index].span, &path, message, hint);
            return None;
        }
    }
    Some(Shape::Revolve { profile, lobes, depth, bend, nodes: nodes? })
}

fn mesh(table: &Table<'_>) -> Option<Shape> {
    let weld = table.take_bool("weld").unwrap_or(true);
    Some(Shape::Mesh { file: mesh_file(table)?, weld })
}

/// `file` of a character: a mesh, or the one in the product.
pub fn character_file(table: &Table<'_>) -> Option<String> {
    let file = table.need_text("file")?;
    if file == crate::character::BUILT_IN { Some(file) } else { mesh_named(table, file) }
}

/// `file` of a mesh.
/// `file` of a mesh.
pub fn mesh_file(table: &Table<'_>) -> Option<String> {
    mesh_named(table, table.need_text("file")?)
}

/// `file` of an obstacle: a mesh, or the one in the product.
pub fn obstacle_file(table: &Table<'_>) -> Option<String> {
    let file = table.need_text("file")?;
    if file == crate::mesh::BOWL { Some(file) } else { mesh_named(table, file) }
}

fn mesh_named(table: &Table<'_>, file: String) -> Option<String> {
    let ending = Path::new(&file).extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !["obj", "ply", "stl", "gltf", "glb"].contains(&ending.as_str()) {
        let message = format!("\"{file}\" is not a mesh file that can be read");
        table.fault("file", message, "the name must end in .obj, .ply, .stl, .gltf or .glb");
        return None;
    }
    Some(beside(table, &file))
}

fn saved(table: &Table<'_>) -> Option<Shape> {
    let file = table.need_text("file")?;
    if !file.to_lowercase().ends_with(".json") {
        let message = format!("\"{file}\" is not a saved shape");
        table.fault("file", message, "the name must end in .json; `goop export DIR --to shape` makes such files");
        return None;
    }
    Some(Shape::Saved { file: beside(table, &file) })
}

/// A path in `file`, from the folder of the text that names it.
pub fn beside(table: &Table<'_>, file: &str) -> String {
    let source = table.span_of("file").source;
    let folder = table.reader.sources.get(source).map(|source| source.folder.clone()).unwrap_or_default();
    tidy(&folder.join(file))
}

/// A path with forward slashes, without `.` and with `..` resolved where it can be.
fn tidy(path: &Path) -> String {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if tidy.file_name().is_some() => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    tidy.to_string_lossy().replace('\\', "/")
}

/// Refuses a grid that would not fit, before anything is made of it.
fn bounded(kinds: &Table<'_>, entry: &Entry, shape: &Shape) -> bool {
    let topology = Topology::of(shape);
    let nodes = topology.nodes();
    if nodes <= MAX_BODY_NODES {
        return true;
    }
    let span = match &entry.node.value {
        Value::Table(entries) => entries.iter().find(|entry| entry.name == "nodes").map(|entry| entry.node.span),
        _ => None,
    };
    let gigabytes = topology.bytes() as f64 / 1e9;
    let message = format!("{nodes} nodes are too many for one body: about {gigabytes:.0} GB of memory");
    let hint = format!("at most {MAX_BODY_NODES} nodes a body; lower the counts in `nodes`");
    let path = format!("{}.nodes", kinds.at(&entry.name));
    kinds.reader.fault(span.unwrap_or(entry.span), &path, message, hint);
    false
}
