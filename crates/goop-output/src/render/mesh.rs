//! What one picture is made of: triangles and lines with their colours, in world axes.

use super::motion::Bounds;
use glam::Vec3;

/// A corner of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Where (m).
    pub position: Vec3,
    /// Unit normal.
    pub normal: Vec3,
    /// Linear light.
    pub color: Vec3,
}

/// How a surface takes the light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Share of light mirrored, 0 to 1.
    pub gloss: f32,
    /// How much of itself one sees, 0 to 1; below 1 it is drawn over all else and casts no shadow.
    pub alpha: f32,
    /// No light: the colour as it is. Casts no shadow either.
    pub flat: bool,
    /// Drawn over all that is solid, however near: what says something about a body.
    pub on_top: bool,
    /// Which way is out says nothing: light also comes through from behind.
    pub thin: bool,
}

impl Material {
    /// Rubber, plastic: bodies.
    pub const BODY: Material = Material { gloss: 0.35, alpha: 1.0, flat: false, on_top: false, thin: false };
    /// Cloth, sheets.
    pub const SHEET: Material = Material { thin: true, ..Material::BODY };
    /// Plaster: obstacles.
    pub const PLASTER: Material = Material { gloss: 0.05, ..Material::BODY };
    /// Glass: containers.
    pub const GLASS: Material = Material { gloss: 0.5, alpha: 0.07, flat: false, on_top: false, thin: true };
    /// A skin that one sees through.
    pub const JELLY: Material = Material { gloss: 0.35, alpha: 0.22, flat: false, on_top: false, thin: true };
    /// Matter: arrows, paths.
    pub const INK: Material = Material { gloss: 0.1, ..Material::BODY };
    /// Arrows and paths that run through bodies and are seen all the same.
    pub const SIGN: Material = Material { on_top: true, ..Material::INK };
}

impl Material {
    /// Factor on 1/z when it is asked what is nearest.
    pub fn nearness(&self) -> f32 {
        if self.on_top { 1e3 } else { 1.0 }
    }

    /// How much of itself one sees from this side: glass more where it is seen aslant.
    pub fn shown(&self, normal: Vec3, view: Vec3) -> f32 {
        if self.alpha >= 1.0 {
            return 1.0;
        }
        let aslant = 1.0 - normal.dot(view).abs().min(1.0);
        self.alpha + (0.75 - self.alpha).max(0.0) * aslant * aslant * aslant
    }
}

/// A triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// Its vertices.
    pub corners: [u32; 3],
    /// Number of its material.
    pub material: u32,
}

/// A line, drawn as wide as it says whatever its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its ends (m).
    pub ends: [Vec3; 2],
    /// Linear light.
    pub color: Vec3,
    /// Width (px).
    pub width: f32,
    /// Share of its distance by which something must be nearer to hide it: enough that
    /// the surface it lies on does not.
    pub lead: f32,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Corners.
    pub vertices: Vec<Vertex>,
    /// Triangles, in the order they were added.
    pub triangles: Vec<Triangle>,
    /// Materials that triangles name.
    pub materials: Vec<Material>,
    /// Lines.
    pub lines: Vec<Line>,
}

impl Mesh {
    /// Number of a material, added when new.
    pub fn material(&mut self, material: Material) -> u32 {
        let found = self.materials.iter().position(|m| *m == material);
        found.unwrap_or_else(|| {
            self.materials.push(material);
            self.materials.len() - 1
        }) as u32
    }

    /// Adds a vertex and tells its number.
    pub fn vertex(&mut self, position: Vec3, normal: Vec3, color: Vec3) -> u32 {
        self.vertices.push(Vertex { position, normal, color });
        (self.vertices.len() - 1) as u32
    }

    /// Adds a triangle.
    pub fn triangle(&mut self, corners: [u32; 3], material: u32) {
        self.triangles.push(Triangle { corners, material });
    }

    /// Whether a triangle stands in the light.
    pub fn casts(&self, triangle: &Triangle) -> bool {
        let material = &self.materials[triangle.material as usize];
        material.alpha >= 1.0 && !material.flat && !material.on_top
    }

    /// Box around all that casts a shadow.
    pub fn caster_bounds(&self) -> Bounds {
        let casters = self.triangles.iter().filter(|t| self.casts(t));
        Bounds::of(casters.flat_map(|t| t.corners).map(|v| self.vertices[v as usize].position))
    }

    /// A ball: an octahedron whose faces are cut in four `cuts` times.
    pub fn ball(&mut self, center: Vec3, radius: f32, color: Vec3, material: u32, cuts: u32) {
        let axes = [Vec3::X, Vec3::Y, Vec3::NEG_X, Vec3::NEG_Y];
        for (i, &a) in axes.iter().enumerate() {
            for pole in [Vec3::Z, Vec3::NEG_Z] {
                let b = axes[(i + 1) % 4];
                let face = if pole.z > 0.0 { [a, b, pole] } else { [b, a, pole] };
                self.ball_face(face, center, radius, color, material, cuts);
            }
        }
    }

    fn ball_face(&mut self, face: [Vec3; 3], center: Vec3, radius: f32, color: Vec3, material: u32, cuts: u32) {
        if cuts == 0 {
            let corners = face.map(|n| self.vertex(center + radius * n, n, color));
            self.triangle(corners, material);
            return;
        }
        let [a, b, c] = face;
        let (ab, bc, ca) = ((a + b).normalize(), (b + c).normalize(), (c + a).normalize());
        for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
            self.ball_face(part, center, radius, color, material, cuts - 1);
        }
    }

    /// A cone or rod between two points, open at both ends, with this many sides.
    pub fn rod(&mut self, ends: [Vec3; 2], radii: [f32; 2], colors: [Vec3; 2], material: u32, sides: usize) {
        let Some(axis) = (ends[1] - ends[0]).try_normalize() else { return };
        let (u, v) = axis.any_orthonormal_pair();
        let slope = (radii[0] - radii[1]) / ends[0].distance(ends[1]);
        let first = self.vertices.len() as u32;
        for k in 0..sides {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / sides as f32).sin_cos();
            let out = u * cos + v * sin;
            let normal = (out + axis * slope).normalize();
            for end in 0..2 {
                self.vertex(ends[end] + out * radii[end], normal, colors[end]);
            }
        }
        let n = 2 * sides as u32;
        for k in (0..n).step_by(2) {
            let next = first + (k + 2) % n;
            self.triangle([first + k, next, next + 1], material);
            self.triangle([first + k, next + 1, first + k + 1], material);
        }
    }

    /// An arrow; one too short for its head is all head.
    pub fn arrow(&mut self, from: Vec3, to: Vec3, radius: f32, color: Vec3, material: u32) {
        let length = from.distance(to);
        if !(length > 1e-9 && length.is_finite()) {
            return;
        }
        let head = (radius * 5.5).min(length);
        let neck = to + (from - to) * (head / length);
        if head < length {
            self.rod([from, neck], [radius; 2], [color; 2], material, 12);
            self.ball(from, radius, color, material, 1);
        }
        let wide = head / 5.5 * 2.4;
        self.rod([neck, to], [wide, 0.0], [color; 2], material, 16);
        self.rod([neck, neck + (to - neck) * 0.02], [0.0, wide], [color; 2], material, 16);
    }
}
