//! What to draw and how: plain data, made once before the first frame.

use super::color;
use crate::bones::RestForm;
use crate::cache::{Material, RestMesh};
use crate::image::Image;

/// Everything about the scene that a frame does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneLook {
    /// In the order of the frames' bodies.
    pub bodies: Vec<BodyLook>,
    /// In the order of the frames' obstacles.
    pub obstacles: Vec<ObstacleLook>,
    /// Where the picture is taken from; framed by itself when absent.
    pub camera: Option<CameraLook>,
    /// How it frames itself.
    pub framing: Framing,
}

/// A camera that frames the motion by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Lens on a frame 36 mm wide (mm).
    pub lens_mm: f64,
    /// Turns about the vertical through the middle of the motion (degrees/s).
    pub orbit_deg_per_s: f64,
}

impl Default for Framing {
    fn default() -> Framing {
        Framing { lens_mm: 50.0, orbit_deg_per_s: 0.0 }
    }
}

/// A body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyLook {
    /// Its name, for captions.
    pub name: String,
    /// Rest position of every node (m). Creases and the diagonals of quads are found
    /// here; when empty, in the first frame drawn.
    pub rest_positions: Vec<[f32; 3]>,
    /// Triangles between its nodes: surfaces, boundaries of solids.
    pub triangles: Vec<[u32; 3]>,
    /// Segments between its nodes: curves.
    pub segments: Vec<[u32; 2]>,
    /// Springs, drawn by [`Style::Lattice`] (when empty, the mesh's edges are) and on request.
    pub lattice: Vec<[u32; 2]>,
    /// Nodes, where they are the first of more positions: the rest are vertices of a skin.
    pub nodes: Option<usize>,
    /// Bones at rest, in the order of the frames' bones.
    pub bones: Vec<RestForm>,
    /// Colour of the part that each position belongs to (sRGB, 0 to 1); none where there are no parts.
    pub parts: Vec<[f32; 3]>,
    /// Radius of a curve's tube (m); what is too thin to see is drawn as thick as a hair.
    pub radius: f32,
    /// Its colour (sRGB, 0 to 1); absent: the next of the palette.
    pub color: Option<[f32; 3]>,
    /// Colours of its parts (sRGB, 0 to 1); absent: its own.
    pub paints: Vec<Option<[f32; 3]>>,
    /// Paint of every triangle; those beyond the list have the first.
    pub triangle_paints: Vec<u32>,
}

impl BodyLook {
    /// A body as a cache has it, with the colours of its materials where they are known. The
    /// grey that goes with a picture says nothing without it.
    pub fn of_rest(rest: &RestMesh) -> BodyLook {
        let paint = |material: &Material| {
            let [r, g, b, _] = material.colour?;
            let tint = material.texture.is_some() && r == g && g == b;
            (!tint).then(|| color::srgb([r, g, b]))
        };
        BodyLook {
            name: rest.name.clone(),
            rest_positions: rest.positions.clone(),
            triangles: rest.triangles.clone(),
            segments: rest.segments.clone(),
            radius: rest.radius,
            paints: rest.materials.iter().map(paint).collect(),
            triangle_paints: rest.triangle_materials.clone(),
            ..BodyLook::default()
        }
    }
}

/// An obstacle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObstacleLook {
    /// Corners of its surface, in its own axes (m).
    pub positions: Vec<[f32; 3]>,
    /// Triangles between them, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Lines of its wireframe; when empty, all edges.
    pub wires: Vec<[u32; 2]>,
    /// Its colour (sRGB, 0 to 1); absent: plaster, or glass.
    pub color: Option<[f32; 3]>,
    /// A container: drawn so that one sees through it.
    pub hollow: bool,
    /// The plane y = 0 in its own axes; the mesh is not looked at.
    pub plane: bool,
}

/// Where a picture is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraLook {
    /// The eye (m).
    pub position: [f64; 3],
    /// What it looks at (m).
    pub look_at: [f64; 3],
    /// Lens on a frame 36 mm wide (mm).
    pub lens_mm: f64,
    /// Turns about the vertical through the target (degrees/s).
    pub orbit_deg_per_s: f64,
}

/// How bodies are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Smooth surfaces in the light, with shadows.
    #[default]
    Shaded,
    /// Black lines on white, as the papers have it.
    Wireframe {
        /// Leave out what the surface hides.
        hidden: bool,
    },
    /// Nodes as beads, springs as rods.
    Lattice,
}

/// What the colour of a body says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    /// Which body it is.
    #[default]
    Body,
    /// How much it is stretched there.
    Stretch,
    /// How fast it moves there.
    Speed,
    /// Which part of a character it is.
    Part,
}

/// What else is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Show {
    /// Held nodes, dark; those that springs hold, blue.
    pub pins: bool,
    /// Nodes that touch an obstacle.
    pub contacts: bool,
    /// Velocities of some nodes of every body.
    pub velocities: bool,
    /// Forces from outside on nodes: loads, springs of soft pins, obstacles.
    pub forces: bool,
    /// Every node.
    pub nodes: bool,
    /// Springs, over the surface.
    pub springs: bool,
    /// Bones of characters; skins are see-through then.
    pub bones: bool,
    /// Skins as glass, also over a lattice.
    pub see_through: bool,
    /// Time and energies.
    pub hud: bool,
    /// Names under the bodies.
    pub captions: bool,
    /// Obstacles.
    pub obstacles: bool,
    /// Shadows on the ground.
    pub ground: bool,
}

impl Default for Show {
    fn default() -> Show {
        Show {
            pins: true,
            contacts: false,
            velocities: false,
            forces: false,
            nodes: false,
            springs: false,
            bones: false,
            see_through: false,
            hud: false,
            captions: false,
            obstacles: true,
            ground: true,
        }
    }
}

/// What is behind everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Background {
    /// A pale studio; white for wireframes.
    #[default]
    Studio,
    /// One colour (sRGB, 0 to 1).
    Color([f32; 3]),
    /// A picture, cut to fill the frame.
    Picture(Image),
}

/// How pictures are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Samples a pixel against jagged edges: 1, 4, 8 or 16; others are rounded up.
    pub samples: u32,
    /// How bodies are drawn.
    pub style: Style,
    /// What their colour says.
    pub color_by: ColorBy,
    /// Value at the top of the colour scale (-, or m/s); absent: the largest of the motion.
    pub color_top: Option<f32>,
    /// What else is drawn.
    pub show: Show,
    /// What is behind everything.
    pub background: Background,
    /// Threads; absent: those of the program. The picture does not depend on it.
    pub threads: Option<usize>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            width: 1280,
            height: 720,
            samples: 8,
            style: Style::default(),
            color_by: ColorBy::default(),
            color_top: None,
            show: Show::default(),
            background: Background::default(),
            threads: None,
        }
    }
}

/// An arrow that the caller wants to see: a force, an impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it starts (m).
    pub at: [f32; 3],
    /// Where it points and, among the arrows of a picture, how long it is.
    pub vector: [f32; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a body drawn white because its colour is in a picture that is not read.
    #[test]
    fn a_body_takes_the_colours_of_its_materials_where_they_say_something() {
        let material = |colour, texture: Option<&str>| Material {
            texture: texture.map(str::to_owned),
            ..Material::new("m", colour)
        };
        let rest = RestMesh {
            materials: vec![
                material(Some([1.0, 0.0, 0.0, 1.0]), None),
                material(Some([1.0, 1.0, 1.0, 1.0]), None),
                material(Some([1.0, 1.0, 1.0, 1.0]), Some("a.png")),
                material(Some([0.0, 1.0, 0.0, 1.0]), Some("a.png")),
                material(None, None),
            ],
            triangle_materials: vec![3, 1],
            ..RestMesh::default()
        };
        let look = BodyLook::of_rest(&rest);
        let red_green = [Some([1.0, 0.0, 0.0]), Some([0.0, 1.0, 0.0])];
        let near = |found: Option<[f32; 3]>, wanted: Option<[f32; 3]>| match (found, wanted) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6),
            (a, b) => a == b,
        };
        let wanted = [red_green[0], Some([1.0; 3]), None, red_green[1], None];
        assert!(look.paints.iter().zip(wanted).all(|(&a, b)| near(a, b)), "{:?}", look.paints);
        assert_eq!((look.paints.len(), look.triangle_paints), (5, vec![3, 1]));
    }
}
