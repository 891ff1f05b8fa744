//! `[[obstacle]]`.

use super::limits::*;
use super::{Names, keys, motion, shape};
use crate::reader::{Entry, Key, Range, Table};
use crate::scene::{Obstacle, ObstacleShape, PublishedPotential};

/// Reads one obstacle.
pub fn obstacle(table: &Table<'_>, names: &mut Names, seconds: f64) -> Obstacle {
    let name = names.take(table);
    let shape = geometry(table).unwrap_or(ObstacleShape::Plane {});
    let position = table.take_vec3("position", COORDINATE).unwrap_or_default();
    let rotation = table.take_vec3("rotation", ANGLE).unwrap_or_default();
    let published = table.take_table("published", keys::PUBLISHED).map(|published| PublishedPotential {
        c: published.need_f64("c", STIFFNESS).unwrap_or(1.0),
        xi: published.need_f64("xi", STIFFNESS).unwrap_or(1.0),
    });
    Obstacle {
        name,
        color: table.take_vec3("color", COLOR),
        shape,
        position,
        rotation,
        hollow: table.take_bool("hollow").unwrap_or(false),
        friction: table.take_f64("friction", FRICTION).unwrap_or(0.0),
        restitution: table.take_f64("restitution", RESTITUTION),
        range: table.take_f64("range", LENGTH).unwrap_or(0.005),
        stiffness: table.take_f64("stiffness", STIFFNESS),
        damping: table.take_f64("damping", DAMPING).unwrap_or(0.2),
        tolerance: table.take_f64("tolerance", LENGTH).unwrap_or(1e-4),
        published,
        key: motion::keyframes(table, position, rotation, seconds),
    }
}

fn geometry(table: &Table<'_>) -> Option<ObstacleShape> {
    table.need("shape")?;
    let kinds = table.take_table("shape", keys::OBSTACLE_SHAPE)?;
    let names: Vec<&str> = keys::OBSTACLE_SHAPE.iter().map(|key| key.name).collect();
    let entry = kinds.one_of(&names, "shape")?;
    kind(&kinds, entry)
}

fn kind(kinds: &Table<'_>, entry: &Entry) -> Option<ObstacleShape> {
    let open = |keys: &'static [Key]| kinds.take_table(&entry.name, keys);
    Some(match entry.name.as_str() {
        "plane" => {
            open(keys::PLANE)?;
            ObstacleShape::Plane {}
        }
        "sphere" => ObstacleShape::Sphere { radius: open(keys::OBSTACLE_SPHERE)?.need_f64("radius", LENGTH)? },
        "ellipsoid" => ObstacleShape::Ellipsoid { radii: open(keys::ELLIPSOID)?.need_numbers("radii", LENGTH)? },
        "torus" => {
            let (radius, tube) = shape::ring(&open(keys::OBSTACLE_TORUS)?)?;
            ObstacleShape::Torus { radius, tube }
        }
        "hyperboloid" => {
            let t = open(keys::HYPERBOLOID)?;
            let waist = t.need_f64("waist", LENGTH);
            let slope = t.need_f64("slope", LENGTH);
            let height = t.need_f64("height", LENGTH);
            ObstacleShape::Hyperboloid { waist: waist?, slope: slope?, height: height? }
        }
        "capsule" => {
            let t = open(keys::CAPSULE)?;
            let radius = t.need_f64("radius", LENGTH);
            let length = t.need_f64("length", Range::within(0.0, 1e6));
            ObstacleShape::Capsule { radius: radius?, length: length? }
        }
        "mesh" => {
            let t = open(keys::OBSTACLE_MESH)?;
            let thickness = t.take_f64("thickness", LENGTH);
            ObstacleShape::Mesh { file: shape::obstacle_file(&t)?, thickness }
        }
        _ => {
            let t = open(keys::OBSTACLE_BOX)?;
            let size = t.need_numbers::<3>("size", LENGTH);
            let round = t.take_f64("round", Range::within(0.0, 1e6)).unwrap_or(0.0);
            let size = size?;
            let most = size.iter().fold(f64::INFINITY, |least, side| least.min(side / 2.0));
            if round > most {
                let message = format!("`{}` is {round}, more than half the shortest side ({most})", t.at("round"));
                t.fault("round", message, "a smaller radius, or a sphere or capsule instead of a box");
            }
            ObstacleShape::Box { size, round }
        }
    })
}
