//! glTF 2.0, as text or binary (GLB): the triangles of all scenes, in world axes.
//!
//! The gltf crate gives the JSON its types. Its own validation and accessors are not
//! used: on a faulty file they index out of bounds. Positions are moved by their
//! node's transform and its parents'; skins, morph targets and animations are left
//! aside. Node names and material names become groups. Vertices come primitive after
//! primitive, in the order of the nodes that show them.

use super::{Fault, Paint, Place, Raw, check_triangles, check_vertices, fault};
use accessor::Buffers;
use buffer::buffers;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use gltf::json;
use json::material::AlphaMode;
use json::mesh::{Mode, Primitive, Semantic};
use json::validation::Checked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) mod accessor;
pub(crate) mod buffer;

/// How the warning about a skin ends; where the rig is used, it does not hold.
pub(crate) const SKIN_LEFT_ASIDE: &str = "is left aside: the mesh keeps its bind shape";
/// Most primitives drawn, counting each instance.
const MOST_PRIMITIVES: usize = 1_000_000;

pub(super) fn read(bytes: &[u8], folder: &Path) -> Result<Raw, Fault> {
    let (root, blob) = document(bytes)?;
    if !root.asset.version.starts_with("2.") {
        let message = format!("this is version {} of glTF", root.asset.version);
        return Err(fault(Place::File, message, "export it as version 2.0"));
    }
    let mut raw = Raw { textures_point_down: true, ..Raw::default() };
    for name in &root.extensions_required {
        match name.as_str() {
            "KHR_draco_mesh_compression" | "EXT_meshopt_compression" => {
                let message = format!("the mesh is compressed by {name}");
                return Err(fault(Place::File, message, "export it without compression"));
            }
            "KHR_mesh_quantization" => {}
            _ => raw.warnings.add(format!("the required extension {name} is passed over")),
        }
    }
    let data = buffers(&root, blob, folder)?;
    let buffers = Buffers { root: &root, data: &data };
    let instances = instances(&root, &mut raw)?;
    let mut drawn = 0;
    // Material and first triangle of every primitive.
    let mut painted: Vec<(Option<usize>, usize)> = Vec::new();
    for (mesh, world_from_mesh, name) in instances {
        for (i, primitive) in mesh.primitives.iter().enumerate() {
            drawn += 1;
            if drawn > MOST_PRIMITIVES {
                return Err(fault(Place::File, "there are too many primitives", "join the meshes"));
            }
            let first = raw.positions.len() as u32;
            painted.push((primitive.material.map(|material| material.value()), raw.triangles.len()));
            add_primitive(&mut raw, &buffers, primitive, world_from_mesh)
                .map_err(|e| Fault { message: format!("in primitive {i} of {}: {}", label(mesh), e.message), ..e })?;
            let material = primitive.material.and_then(|material| root.get(material)?.name.as_deref());
            let names: BTreeSet<&str> = name.into_iter().chain(material).filter(|name| !name.is_empty()).collect();
            for name in names {
                let group = raw.groups.entry(name.to_string()).or_default();
                group.extend(first..raw.positions.len() as u32);
            }
        }
    }
    if !raw.texture_coordinates.is_empty() {
        raw.texture_coordinates.resize(raw.positions.len(), [0.0; 2]);
    }
    paint(&mut raw, &root, &painted);
    Ok(raw)
}

/// Materials in the order of their first use; what has none gets one without a colour,
/// unless nothing has any.
fn paint(raw: &mut Raw, root: &json::Root, painted: &[(Option<usize>, usize)]) {
    if painted.iter().all(|(material, _)| material.and_then(|m| root.materials.get(m)).is_none()) {
        return;
    }
    let mut place = BTreeMap::new();
    let ends = painted.iter().skip(1).map(|&(_, start)| start).chain([raw.triangles.len()]);
    for (&(material, _), end) in painted.iter().zip(ends) {
        let json = material.and_then(|m| root.materials.get(m));
        let paint = *place.entry(material.filter(|_| json.is_some())).or_insert_with(|| {
            raw.paints.push(match (material, json) {
                (Some(number), Some(json)) => paint_of(root, number, json),
                _ => Paint { name: "no material".into(), ..Paint::default() },
            });
            raw.paints.len() as u32 - 1
        });
        raw.triangle_paints.resize(end, paint);
    }
}

fn paint_of(root: &json::Root, number: usize, json: &json::Material) -> Paint {
    let name = json.name.clone().filter(|name| !name.trim().is_empty());
    let surface = &json.pbr_metallic_roughness;
    let picture = surface.base_color_texture.as_ref().and_then(|texture| {
        let texture = root.get(texture.index)?;
        let image = root.get(texture.source)?;
        let named = image.uri.clone().filter(|uri| !uri.starts_with("data:")).or(image.name.clone());
        Some(named.unwrap_or(format!("image {}", texture.source.value())))
    });
    let mut colour =
        surface.base_color_factor.0.map(|value| if value.is_finite() { value.clamp(0.0, 1.0) } else { 1.0 });
    if json.alpha_mode != Checked::Valid(AlphaMode::Blend) {
        colour[3] = 1.0;
    }
    Paint { name: name.unwrap_or(format!("material {number}")), colour: Some(colour), texture: picture }
}

pub(crate) fn label(mesh: &json::Mesh) -> String {
    mesh.name.as_ref().map_or("an unnamed mesh".to_string(), |name| format!("mesh '{name}'"))
}

/// The JSON and the binary chunk of a GLB.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Fault> {
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let short = || fault(Place::Byte(bytes.len()), "the file ends too early", "export it again");
    let (version, length) = (word(4).ok_or_else(short)?, word(8).ok_or_else(short)?);
    if version != 2 {
        return Err(fault(Place::Byte(4), format!("this is version {version} of GLB"), "export it as version 2"));
    }
    if length > bytes.len() {
        return Err(short());
    }
    let (mut text, mut blob, mut at) = (None, None, 12);
    while at + 8 <= length {
        let size = word(at).ok_or_else(short)?;
        let kind = &bytes[at + 4..at + 8];
        let chunk = bytes.get(at + 8..at + 8 + size).ok_or_else(short)?;
        match kind {
            b"JSON" if text.is_none() => text = Some(chunk),
            b"BIN\0" if blob.is_none() => blob = Some(chunk),
            _ => {}
        }
        at += 8 + size;
    }
    match text {
        Some(text) => Ok((text, Some(blob.unwrap_or_default()))),
        None => Err(fault(Place::Byte(12), "the file has no JSON chunk", "export it again")),
    }
}

/// The description and the binary chunk, of text or GLB.
pub(crate) fn document(bytes: &[u8]) -> Result<(json::Root, Option<&[u8]>), Fault> {
    let (text, blob) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let root = json::Root::from_slice(text).map_err(|e| {
        let place = if blob.is_none() { Place::Line(e.line()) } else { Place::File };
        fault(place, format!("the JSON is no glTF ({e})"), "export the file again")
    })?;
    Ok((root, blob))
}

type Instance<'a> = (&'a json::Mesh, DAffine3, Option<&'a str>);

/// The parent of every node; a tree, whose every node has one place.
pub(crate) fn parents(root: &json::Root) -> Result<Vec<Option<usize>>, Fault> {
    let count = root.nodes.len();
    let mut parents = vec![None; count];
    for (node, child) in (0..count).flat_map(|node| children(root, node).map(move |child| (node, child))) {
        match parents.get_mut(child) {
            None => return Err(absent(&format!("node {child}"))),
            Some(Some(_)) => {
                let message = format!("node {child} has two parents");
                return Err(fault(Place::File, message, "give every node one place in the tree"));
            }
            Some(parent) => *parent = Some(node),
        }
    }
    // Down from the roots; what is not reached goes round in a circle.
    let mut reached = vec![false; count];
    let mut open: Vec<usize> = (0..count).filter(|&node| parents[node].is_none()).collect();
    while let Some(node) = open.pop() {
        reached[node] = true;
        open.extend(children(root, node));
    }
    if let Some(node) = reached.iter().position(|reached| !reached) {
        let message = format!("node {node} is its own ancestor");
        return Err(fault(Place::File, message, "remove the circle from the tree of nodes"));
    }
    Ok(parents)
}

/// Whether a scene shows a node; all are shown where there is no scene.
pub(crate) fn shown(root: &json::Root) -> Result<Vec<bool>, Fault> {
    let mut shown = vec![root.scenes.is_empty(); root.nodes.len()];
    let mut open: Vec<usize> = root.scenes.iter().flat_map(|scene| &scene.nodes).map(|node| node.value()).collect();
    while let Some(node) = open.pop() {
        let seen = shown.get_mut(node).ok_or_else(|| absent(&format!("node {node}")))?;
        if !std::mem::replace(seen, true) {
            open.extend(children(root, node));
        }
    }
    Ok(shown)
}

pub(crate) fn children(root: &json::Root, node: usize) -> impl Iterator<Item = usize> {
    root.nodes[node].children.iter().flatten().map(|child| child.value())
}

pub(crate) fn absent(what: &str) -> Fault {
    fault(Place::File, format!("{what} is named but not there"), "export the file again")
}

/// Meshes with their place in the world and the name of their node, in the order of
/// the nodes.
fn instances<'a>(root: &'a json::Root, raw: &mut Raw) -> Result<Vec<Instance<'a>>, Fault> {
    let parents = parents(root)?;
    let mut world = vec![DAffine3::IDENTITY; parents.len()];
    let mut open: Vec<usize> = (0..parents.len()).filter(|&node| parents[node].is_none()).collect();
    while let Some(node) = open.pop() {
        let world_from_parent = parents[node].map_or(DAffine3::IDENTITY, |parent| world[parent]);
        world[node] = world_from_parent * transform(&root.nodes[node]);
        open.extend(children(root, node));
    }
    let shown = shown(root)?;
    let mut instances = Vec::new();
    for (node, world_from_node) in root.nodes.iter().zip(world).zip(shown).filter_map(|(n, shown)| shown.then_some(n)) {
        let Some(mesh) = node.mesh else { continue };
        let mesh = root.get(mesh).ok_or_else(|| absent(&format!("mesh {}", mesh.value())))?;
        instances.push((mesh, world_from_node, node.name.as_deref()));
        if node.skin.is_some() {
            raw.warnings.add(format!("the skin of {} {SKIN_LEFT_ASIDE}", label(mesh)));
        }
    }
    if instances.is_empty() && !root.meshes.is_empty() {
        raw.warnings.add("no scene shows a mesh; all meshes are read where they are");
        instances.extend(root.meshes.iter().map(|mesh| (mesh, DAffine3::IDENTITY, mesh.name.as_deref())));
    }
    if root.meshes.iter().flat_map(|mesh| &mesh.primitives).any(|p| p.targets.as_ref().is_some_and(|t| !t.is_empty())) {
        raw.warnings.add("morph targets are left aside");
    }
    Ok(instances)
}

pub(crate) fn transform(node: &json::Node) -> DAffine3 {
    let vector = |[x, y, z]: [f32; 3]| DVec3::new(x.into(), y.into(), z.into());
    if let Some(m) = node.matrix {
        let column = |c: usize| vector([m[4 * c], m[4 * c + 1], m[4 * c + 2]]);
        return DAffine3::from_mat3_translation(DMat3::from_cols(column(0), column(1), column(2)), column(3));
    }
    let [x, y, z, w] = node.rotation.unwrap_or_default().0.map(f64::from);
    let length = (x * x + y * y + z * z + w * w).sqrt();
    let turn =
        if length > 0.0 { DQuat::from_xyzw(x / length, y / length, z / length, w / length) } else { DQuat::IDENTITY };
    let (scale, shift) = (node.scale.unwrap_or([1.0; 3]), node.translation.unwrap_or_default());
    DAffine3::from_scale_rotation_translation(vector(scale), turn, vector(shift))
}

/// Vertices in the file's order, moved into the world; triangles; oddities.
pub(crate) type PrimitiveShape = (Vec<DVec3>, Vec<[u32; 3]>, Vec<String>);

pub(crate) fn primitive_shape(
    buffers: &Buffers,
    primitive: &Primitive,
    world: DAffine3,
) -> Result<PrimitiveShape, Fault> {
    let mut raw = Raw::default();
    add_primitive(&mut raw, buffers, primitive, world)?;
    Ok((raw.positions, raw.triangles, raw.warnings.sentences))
}

fn add_primitive(raw: &mut Raw, buffers: &Buffers, primitive: &Primitive, world: DAffine3) -> Result<(), Fault> {
    let mode = match primitive.mode {
        Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) => mode,
        Checked::Valid(_) => {
            raw.warnings.add("points and lines are passed over");
            return Ok(());
        }
        Checked::Invalid => return Err(fault(Place::File, "the drawing mode is not known", "export triangles")),
    };
    let attribute = |semantic| primitive.attributes.get(&Checked::Valid(semantic)).map(|accessor| accessor.value());
    let Some(accessor) = attribute(Semantic::Positions) else {
        return Err(fault(Place::File, "there are no positions", "export the mesh with its positions"));
    };
    let first = raw.positions.len();
    check_vertices(Place::File, first.saturating_add(buffers.count(accessor)))?;
    let positions = buffers.vectors::<3>(accessor)?;
    let count = positions.len();
    for position in positions {
        // Not finite as given, or sent to infinity by the transform.
        let placed = world.transform_point3(DVec3::from_array(position));
        raw.add_vertex(Place::File, placed.to_array())?;
    }
    if let Some(accessor) = attribute(Semantic::TexCoords(0)) {
        let mut textures = buffers.vectors::<2>(accessor)?;
        textures.resize(count, [0.0; 2]);
        raw.texture_coordinates.resize(first, [0.0; 2]);
        raw.texture_coordinates.extend(textures);
    }
    let indices = match primitive.indices {
        Some(accessor) => {
            check_triangles(Place::File, raw.triangles.len().saturating_add(buffers.count(accessor.value()) / 3))?;
            buffers.indices(accessor.value())?
        }
        None => (0..count as u32).collect(),
    };
    if let Some(index) = indices.iter().find(|&&index| index as usize >= count) {
        let message = format!("a triangle names vertex {index}, but there are {count}");
        return Err(fault(Place::File, message, "export the mesh again"));
    }
    let added = if mode == Mode::Triangles { indices.len() / 3 } else { indices.len().saturating_sub(2) };
    check_triangles(Place::File, raw.triangles.len() + added)?;
    if mode == Mode::Triangles && indices.len() % 3 != 0 {
        raw.warnings.add("indices after the last whole triangle are passed over");
    }
    // A mirror turns triangles round.
    let mirrored = world.matrix3.determinant() < 0.0;
    for i in 0..added {
        let [a, b, c] = match mode {
            Mode::TriangleStrip => [i, i + 1 + i % 2, i + 2 - i % 2],
            Mode::TriangleFan => [i + 1, i + 2, 0],
            _ => [3 * i, 3 * i + 1, 3 * i + 2],
        }
        .map(|corner| first as u32 + indices[corner]);
        raw.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
    }
    Ok(())
}
