//! The product's own character and its dance, made by code: nothing is read from a file.
//!
//! ```text
//! body (round shapes) ─nets▶ mesh ─remesh▶ closed skin with paints ─weights▶ Rig ◀─moves─ dance (key poses)
//!                                                                            ├─glb▶ dancer.glb
//!                                                                            └─bvh▶ dance.bvh
//! ```
//! [`rig`] and [`skin`] are what reading `dancer.glb` gives, to the last bit: the vertices
//! stand material after material, those on a border of two materials twice, and
//! [`Skin::nodes`] joins them to one closed surface.

mod body;
mod bvh;
#[rustfmt::skip] // tables
mod dance;
mod field;
mod glb;
mod moves;
mod nets;
mod remesh;
mod weights;

#[cfg(test)]
mod tests;

use crate::mesh::{Paint, Skin};
use crate::rig::{Joint, Rig, Skeleton, Transform};
use body::{Body, JOINTS, PARTS, REGIONS};
use glam::{DAffine3, DVec3};
use remesh::Mesh;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// How the character and its motion are named.
pub const NAME: &str = "dancer";

/// Side of a grid cell (m).
const CELL: f64 = 0.026;

struct Dancer {
    rig: Rig,
    skin: Skin,
}

/// Made once in a process.
fn dancer() -> &'static Dancer {
    static DANCER: OnceLock<Dancer> = OnceLock::new();
    DANCER.get_or_init(Dancer::new)
}

/// The character with its skeleton of 19 joints, its weights and the dance as its only motion.
pub fn rig() -> Rig {
    dancer().rig.clone()
}

/// What is drawn of it: the vertices of [`rig`], with materials.
pub fn skin() -> Skin {
    dancer().skin.clone()
}

/// The character and the dance as a binary glTF file.
pub fn glb() -> Vec<u8> {
    glb::write(&dancer().rig, &dancer().skin)
}

/// The dance alone as motion capture: metres, y up, 60 rows a second.
pub fn bvh() -> String {
    bvh::write(&dancer().rig.motions[0])
}

/// As files have numbers.
fn rounded(v: DVec3) -> DVec3 {
    v.as_vec3().as_dvec3()
}

/// The mesh with its paints.
fn mesh(body: &Body) -> Mesh {
    let field = |p: DVec3| body.distance(p);
    let (low, high) = body.bounds();
    // The same cells left and right of the middle.
    let side = (high.x / CELL).ceil() * CELL + CELL;
    let mut mesh = Mesh::new(nets::polygonise(field, DVec3::new(-side, -2.0 * CELL, low.z - 2.0 * CELL), high, CELL));
    mesh.relax(field, 4);
    for _ in 0..2 {
        mesh.refine(field, Body::edge);
        mesh.relax(field, 3);
    }
    for (region, number) in REGIONS.iter().zip(0..).skip(1) {
        mesh.paint(field, region.inside, number);
    }
    mesh
}

fn skeleton() -> Skeleton {
    let joints = JOINTS.iter().enumerate().map(|(i, &(name, parent, _))| {
        let translation = body::joint(i) - parent.map_or(DVec3::ZERO, body::joint);
        Joint { name: name.into(), parent, rest: Transform { translation, ..Transform::default() }, end: None }
    });
    Skeleton { joints: joints.collect() }
}

/// Linear red, green and blue of a colour on screens, 0 to 1.
fn linear(srgb: u32) -> [f32; 4] {
    let part = |shift: u32| {
        let value = f64::from(srgb >> shift & 255) / 255.0;
        (if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }) as f32
    };
    [part(16), part(8), part(0), 1.0]
}

impl Dancer {
    fn new() -> Dancer {
        let body = Body::new();
        let mesh = mesh(&body);
        let parents = JOINTS.map(|(_, parent, _)| parent);
        let weights = weights::weigh(&mesh.positions, &mesh.neighbours(), &parents, |part, p| body.of_part(part, p));
        // Material after material, as a file has them; a vertex once in each that it touches.
        let (mut skin, mut original) = (Skin::default(), Vec::new());
        let mut first_of = BTreeMap::new();
        for (paint, region) in (0..).zip(&REGIONS) {
            let own = || mesh.triangles.iter().zip(&mesh.paints).filter(|(_, p)| **p == paint).map(|(t, _)| *t);
            let mut number: BTreeMap<u32, u32> = own().flatten().map(|vertex| (vertex, 0)).collect();
            for (&vertex, slot) in &mut number {
                *slot = original.len() as u32;
                original.push(vertex);
                skin.positions.push(rounded(mesh.positions[vertex as usize]));
                let next = first_of.len() as u32;
                skin.nodes.push(*first_of.entry(vertex).or_insert(next));
            }
            skin.paints.push(Paint { name: region.name.into(), colour: Some(linear(region.colour)), texture: None });
            skin.triangles.extend(own().map(|triangle| triangle.map(|corner| number[&corner])));
            skin.triangle_paints.resize(skin.triangles.len(), paint);
        }
        let mut rig = Rig {
            skeleton: Arc::new(skeleton()),
            is_bone: vec![true; PARTS],
            bind: (0..PARTS).map(|part| DAffine3::from_translation(body::joint(part))).collect(),
            positions: skin.positions.clone(),
            triangles: skin.triangles.clone(),
            influences: weights::influences(original.iter().map(|&vertex| &weights[vertex as usize])),
            motions: Vec::new(),
            unit: 1.0,
            notes: Vec::new(),
        };
        rig.find_ends();
        rig.motions = vec![moves::motion(&rig)];
        Dancer { rig, skin }
    }
}
