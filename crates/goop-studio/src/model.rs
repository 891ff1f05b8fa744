//! What a page needs to draw the bodies: sent once, and again when it changes.

use crate::protocol;
use crate::session::Session;
use goop::shape::{Dimension, Layout};
use serde_json::{Value, json};

/// Springs of larger bodies are not drawn one by one.
const MOST_LINKS: usize = 400_000;

/// The model message of a session.
pub fn message(session: &Session) -> Vec<u8> {
    let mut arrays: Vec<u32> = Vec::new();
    let mut put = |words: &mut dyn Iterator<Item = u32>| {
        let start = arrays.len();
        arrays.extend(words);
        json!([start, arrays.len() - start])
    };
    let model = session.panes[0].world.model();
    let mut bodies: Vec<Value> = Vec::new();
    for (b, body) in model.bodies.iter().enumerate() {
        let shape = &body.shape;
        let torn = session.built.model.unwelded(b);
        let skin = body.sampled.as_ref().and(session.built.skins.get(b).and_then(Option::as_ref));
        let drawn = match (&torn, skin) {
            (Some(parts), _) => Some(put(&mut parts.mesh.triangles.iter().flatten().copied())),
            (None, Some(skin)) => Some(put(&mut skin.triangles.iter().flatten().copied())),
            (None, None) => None,
        };
        let links = body.elastic.as_ref().map_or(&[][..], |e| e.links());
        let links = if links.len() <= MOST_LINKS { links } else { &[] };
        let counts = match &shape.layout {
            Layout::Grid(grid) => Some(grid.counts),
            Layout::Mesh | Layout::Tetrahedra(_) => None,
        };
        let coordinates = shape.material_coordinates.iter().flat_map(|c| c.as_vec3().to_array()).map(f32::to_bits);
        bodies.push(json!({
            "name": body.name,
            "nodes": body.len(),
            "dimension": match shape.dimension { Dimension::Curve => 1, Dimension::Surface => 2, Dimension::Solid => 3 },
            "radius": body.material.card.radius,
            "counts": counts,
            "triangles": put(&mut shape.triangles.iter().flatten().copied()),
            "segments": put(&mut shape.segments.iter().flatten().copied()),
            "links": put(&mut links.iter().flatten().copied()),
            "coordinates": put(&mut coordinates.into_iter()),
            "drawn": drawn,
        }));
    }
    let camera = session.loaded.scene.camera.as_ref();
    let json = json!({
        "bodies": bodies,
        "plane": model.flat,
        "camera": camera.map(|c| json!({ "position": c.position, "lookAt": c.look_at, "lens": c.lens })),
    });
    protocol::model(session.version, &json, &arrays)
}
