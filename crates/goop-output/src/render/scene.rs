//! The look of a model, for whoever has one.

use super::look::{BodyLook, ObstacleLook, SceneLook};
use goop::model::{Body, Model};
use goop::shape::Dimension;

impl SceneLook {
    /// Bodies and obstacles as they are; the camera is left to frame itself.
    pub fn of(model: &Model) -> SceneLook {
        SceneLook {
            bodies: model.bodies.iter().map(BodyLook::of).collect(),
            obstacles: model.obstacles.iter().map(|o| ObstacleLook::of(&o.shape, o.hollow)).collect(),
            ..SceneLook::default()
        }
    }
}

impl BodyLook {
    /// A body with its mesh and its springs.
    pub fn of(body: &Body) -> BodyLook {
        let shape = &body.shape;
        let lattice = body.elastic.as_ref().map_or_else(Vec::new, |elastic| elastic.links().to_vec());
        let is_curve = matches!(shape.dimension, Dimension::Curve);
        BodyLook {
            name: body.name.clone(),
            rest_positions: shape.rest_positions.iter().map(|p| p.as_vec3().into()).collect(),
            triangles: shape.triangles.clone(),
            segments: shape.segments.clone(),
            lattice,
            radius: if is_curve { body.material.card.radius as f32 } else { 0.0 },
            ..BodyLook::default()
        }
    }
}
