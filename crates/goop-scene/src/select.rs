//! Selections: from "corners" or a box to node numbers.

use crate::scene::{Selection, Side};
use glam::DVec3;
use goop::character::Sampled;
use goop::model::{Body, Start};
use goop::shape::{Layout, Shape};

/// A shape where it starts.
pub struct Located<'a> {
    shape: &'a Shape,
    positions: Vec<DVec3>,
    sampled: Option<&'a Sampled>,
}

impl<'a> Located<'a> {
    /// A shape at its start.
    pub fn new(shape: &'a Shape, start: &Start) -> Self {
        let positions =
            shape.rest_positions.iter().map(|&r| start.position + start.rotation * (r * start.stretch)).collect();
        Self { shape, positions, sampled: None }
    }

    /// The same, sampled from a character.
    pub fn with(self, sampled: Option<&'a Sampled>) -> Self {
        let posed = sampled.and_then(|sampled| sampled.posed.as_ref());
        let positions = posed.map_or(self.positions, |posed| posed.positions.clone());
        Self { sampled, positions, ..self }
    }

    /// A body at its start.
    pub fn of(body: &'a Body) -> Self {
        Self { shape: &body.shape, positions: body.start_positions(), sampled: body.sampled.as_deref() }
    }

    /// Node positions (m).
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }
}

fn nearest(positions: &[DVec3], point: DVec3) -> u32 {
    let mut best = (f64::INFINITY, 0);
    for (i, p) in positions.iter().enumerate() {
        let distance = p.distance_squared(point);
        if distance < best.0 {
            best = (distance, i as u32);
        }
    }
    best.1
}

/// The nodes of a selection, ascending; or what is wrong and how to mend it.
pub fn nodes(selection: &Selection, body: &Located) -> Result<Vec<u32>, (String, String)> {
    let shape = body.shape;
    let count = shape.len();
    let all = || 0..count as u32;
    let inside = |test: &dyn Fn(DVec3) -> bool| all().filter(|&i| test(body.positions[i as usize])).collect();
    let mut found: Vec<u32> = match selection {
        Selection::All => all().collect(),
        Selection::Center => vec![match shape.layout {
            Layout::Grid(_) | Layout::Tetrahedra(_) => shape.center_node(),
            Layout::Mesh => nearest(&body.positions, body.positions.iter().sum::<DVec3>() / count as f64),
        }],
        Selection::Corners => shape.corners(),
        Selection::Rim => shape.boundary_nodes(),
        Selection::Corner(ends) => shape.corner(ends).into_iter().collect(),
        Selection::Edge(side) => {
            let (axis, high) = match side {
                Side::U0 => (0, false),
                Side::U1 => (0, true),
                Side::V0 => (1, false),
                Side::V1 => (1, true),
                Side::W0 => (2, false),
                Side::W1 => (2, true),
            };
            shape.side(axis, high)
        }
        Selection::Uv([low, high]) => all()
            .filter(|&i| {
                let u = shape.material_coordinates[i as usize];
                (0..low.len().min(high.len()).min(3)).all(|a| u[a] >= low[a] - 1e-9 && u[a] <= high[a] + 1e-9)
            })
            .collect(),
        Selection::Box([low, high]) => {
            let (low, high) = (DVec3::from_array(*low), DVec3::from_array(*high));
            inside(&|p| p.cmpge(low - 1e-9).all() && p.cmple(high + 1e-9).all())
        }
        Selection::Sphere { center, radius } => {
            let center = DVec3::from_array(*center);
            inside(&|p| p.distance(center) <= radius + 1e-9)
        }
        Selection::Index(list) => {
            if let Some(bad) = list.iter().find(|&&i| i as usize >= count) {
                let message = format!("there is no node {bad}: the body has {count}");
                return Err((message, format!("use numbers from 0 to {}", count - 1)));
            }
            list.clone()
        }
        Selection::Depth([low, high]) => match body.sampled {
            Some(sampled) => {
                all().filter(|&i| (low - 1e-9..=high + 1e-9).contains(&sampled.depth[i as usize])).collect()
            }
            None => return Err(("only a character has depths".into(), "select by box or sphere instead".into())),
        },
        Selection::Part(name) => {
            let bones = body.sampled.map_or(&[][..], |sampled| &sampled.bones);
            match (bones.iter().position(|bone| bone.name == *name), body.sampled) {
                (Some(bone), Some(sampled)) => {
                    all().filter(|&i| sampled.parts.main(i as usize) == bone as u32).collect()
                }
                _ => {
                    let known: Vec<&str> = bones.iter().map(|bone| bone.name.as_str()).collect();
                    return Err((format!("there is no bone '{name}'"), format!("the bones are: {}", known.join(", "))));
                }
            }
        }
        Selection::Nearest(point) => vec![nearest(&body.positions, DVec3::from_array(*point))],
        Selection::Group(name) => match shape.groups.get(name) {
            Some(nodes) => nodes.clone(),
            None => {
                let known: Vec<&str> = shape.groups.keys().map(String::as_str).collect();
                let hint = if known.is_empty() {
                    "this mesh has no groups: select by box or sphere instead".to_owned()
                } else {
                    format!("its groups are {}", known.join(", "))
                };
                return Err((format!("the mesh has no vertex group '{name}'"), hint));
            }
        },
    };
    found.sort_unstable();
    found.dedup();
    if found.is_empty() {
        let hint = match selection {
            Selection::Box(_) | Selection::Sphere { .. } => {
                let low = body.positions.iter().fold(DVec3::INFINITY, |a, &b| a.min(b));
                let high = body.positions.iter().fold(DVec3::NEG_INFINITY, |a, &b| a.max(b));
                format!("the body starts between {low:.3} and {high:.3} (m)")
            }
            Selection::Corners | Selection::Corner(_) | Selection::Edge(_) | Selection::Rim => {
                "a periodic axis has no ends: select by uv, index or nearest point".to_owned()
            }
            _ => "widen the range".to_owned(),
        };
        return Err(("the selection finds no node".to_owned(), hint));
    }
    Ok(found)
}
