//! A frame to triangles and lines.

use super::camera::Camera;
use super::color;
use super::look::{Arrow, BodyLook, ColorBy, ObstacleLook, Settings, Style};
use super::mesh::{Line, Material, Mesh};
use super::motion::{Bounds, LONGEST};
use super::skin::Skin;
use super::tube::{self, Chain};
use crate::bones::RestForm;
use crate::forces::spread;
use glam::{Quat, Vec3};
use goop::frame::{BodyFrame, ForceKind, Frame};

/// Most velocity arrows a body.
const MOST_ARROWS: usize = 60;
/// Length of the longest velocity and force arrows, as a share of the scene.
pub const ARROW: f32 = 0.14;
/// Beads and rods of a lattice have fewer sides beyond so many.
const MANY: usize = 3000;

/// The unit of arrows, as a share of the scene.
const QUARTER: f32 = 0.25;

/// Ink of a force.
pub fn of_force(kind: ForceKind) -> [u8; 3] {
    match kind {
        ForceKind::Load => [0x8A, 0x2F, 0xA0],
        ForceKind::Drive => [0x00, 0x7A, 0x4D],
        ForceKind::Spring => [0x00, 0x62, 0xB0],
        ForceKind::Contact => [0xD5, 0x3E, 0x00],
    }
}

/// What is found about a body once.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// Its surface.
    pub skin: Skin,
    /// Its curves.
    pub chains: Vec<Chain>,
    /// Its rods in a lattice.
    pub rods: Vec<[u32; 2]>,
    /// Nodes that one sees: those of triangles and segments, or all.
    pub seen: Vec<u32>,
    /// Its own colour, or that of each of its paints; never empty.
    pub colors: Vec<Vec3>,
    /// Colour of the part of each position.
    pub parts: Vec<Vec3>,
    /// How many positions are nodes.
    pub nodes: usize,
}

impl Prepared {
    /// Finds it out; every index must have its node.
    pub fn new(look: &BodyLook, rest: &[Vec3], colors: Vec<Vec3>) -> Prepared {
        let skin = Skin::new(rest, &look.triangles, &look.triangle_paints);
        let rods = if look.lattice.is_empty() {
            skin.edges.iter().chain(&look.segments).copied().collect()
        } else {
            look.lattice.clone()
        };
        let mut seen: Vec<u32> =
            look.triangles.iter().flatten().chain(look.segments.iter().flatten()).copied().collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.is_empty() {
            seen = (0..rest.len() as u32).collect();
        }
        let parts = look.parts.iter().map(|&part| color::linear(part)).collect();
        let nodes = look.nodes.unwrap_or(rest.len()).min(rest.len());
        Prepared { chains: tube::chains(rest.len(), &look.segments), rods, seen, skin, colors, parts, nodes }
    }
}

/// What a picture is composed with.
pub struct Composer<'a> {
    /// How.
    pub settings: &'a Settings,
    /// From where, which decides how thick thin things are.
    pub camera: Camera,
    /// Value at the top of the colour scale.
    pub color_top: f32,
    /// Speed whose arrow has full length (m/s).
    pub full_speed: f32,
    /// Force whose arrow has full length (N).
    pub full_force: f32,
    /// Size of the scene (m).
    pub size: f32,
    /// What is behind is dark, so that pins and velocities are light.
    pub on_dark: bool,
}

impl Composer<'_> {
    /// Ink of pins, velocities and paths: what stands out from the background.
    pub fn ink(&self) -> [u8; 3] {
        if self.on_dark { [0xF2, 0xEE, 0xE0] } else { [0x22, 0x28, 0x30] }
    }

    /// Nodes that are held, by springs and by pins, with the ink of each, where they are to be seen.
    fn holds<'b>(&self, body: &'b BodyFrame) -> [(&'b [u32], Vec3); 2] {
        let shown = |nodes: &'b [u32]| if self.settings.show.pins { nodes } else { &[] };
        let blue = color::linear_bytes(of_force(ForceKind::Spring));
        [(shown(&body.sprung), blue), (shown(&body.pinned), color::linear_bytes(self.ink()))]
    }

    /// Length at a point that looks like this many pixels in a picture 720 high (m).
    fn pixels(&self, at: Vec3, count: f32) -> f32 {
        self.camera.pixel_size(at) * count * self.settings.height as f32 / 720.0
    }

    fn color(&self, body: &BodyFrame, prepared: &Prepared, paint: u32, node: u32) -> Vec3 {
        let own = prepared.colors[paint as usize];
        let value = match self.settings.color_by {
            ColorBy::Body => return own,
            ColorBy::Part => return prepared.parts.get(node as usize).copied().unwrap_or(own),
            ColorBy::Stretch => body.stretch.get(node as usize).map_or(0.0, |s| s.abs()),
            ColorBy::Speed => body.velocities.get(node as usize).map_or(0.0, |&v| Vec3::from(v).length()),
        };
        color::scale(value / self.color_top)
    }

    /// A body; `pale` (0 to 1) fades it for earlier instants.
    pub fn body(&self, mesh: &mut Mesh, body: &BodyFrame, look: &BodyLook, prepared: &Prepared, pale: f32) {
        let x: Vec<Vec3> = body.positions.iter().map(|&p| Vec3::from(p)).collect();
        // In a lattice the beads themselves show what is held.
        let mut held = vec![None; if self.settings.style == Style::Lattice { x.len() } else { 0 }];
        for (nodes, ink) in self.holds(body) {
            for &n in nodes {
                if let Some(held) = held.get_mut(n as usize) {
                    *held = Some(ink);
                }
            }
        }
        let painted = |node: u32, paint: u32| {
            let own = match held.get(node as usize) {
                Some(Some(ink)) => *ink,
                _ => self.color(body, prepared, paint, node),
            };
            own + (Vec3::new(0.80, 0.83, 0.87) - own) * pale
        };
        let color = |node: u32| painted(node, 0);
        match self.settings.style {
            Style::Shaded => {
                let surface = mesh.material(match (self.glassy(look), prepared.skin.closed) {
                    (true, _) => Material::JELLY,
                    (false, true) => Material::BODY,
                    (false, false) => Material::SHEET,
                });
                prepared.skin.draw(mesh, &x, painted, surface);
                let tube = mesh.material(Material::BODY);
                self.curves(mesh, &x, look, prepared, color, tube);
            }
            Style::Wireframe { hidden } => {
                if hidden {
                    let paper = mesh.material(Material { flat: true, ..Material::BODY });
                    prepared.skin.draw(mesh, &x, |_, _| Vec3::ONE, paper);
                }
                let width = (1.1 * self.settings.height as f32 / 720.0).max(0.8);
                let ink = |node: u32| match self.settings.color_by {
                    ColorBy::Body => Vec3::splat(0.01 + 0.6 * pale),
                    _ => color(node),
                };
                for (edges, width) in [(&prepared.skin.edges, width), (&look.segments, 2.0 * width)] {
                    for &[a, b] in edges.iter() {
                        let ends = [x[a as usize], x[b as usize]];
                        mesh.lines.push(Line { ends, color: ink(a), width, lead: 0.003 });
                    }
                }
            }
            Style::Lattice => {
                self.lattice(mesh, &x[..prepared.nodes.min(x.len())], prepared, color);
                if self.settings.show.see_through {
                    let glass = mesh.material(Material::GLASS);
                    prepared.skin.draw(mesh, &x, painted, glass);
                }
            }
        }
        if self.settings.show.bones && pale == 0.0 {
            self.bones(mesh, body, look, prepared);
        }
        if self.settings.style != Style::Lattice && pale == 0.0 {
            self.inside(mesh, &x, look, prepared.nodes);
        }
    }

    /// Whether one sees into a body.
    fn glassy(&self, look: &BodyLook) -> bool {
        self.settings.show.see_through || (self.settings.show.bones && !look.bones.is_empty())
    }

    /// The bones of a character where they are.
    fn bones(&self, mesh: &mut Mesh, body: &BodyFrame, look: &BodyLook, prepared: &Prepared) {
        let ivory = color::linear_bytes([0xE9, 0xE0, 0xC8]);
        for (b, (form, pose)) in look.bones.iter().zip(&body.bones).enumerate() {
            let Some((place, turn)) = pose.map(|(place, turn)| (place.as_vec3(), turn.as_quat())) else { continue };
            let color = if self.settings.color_by == ColorBy::Part && !prepared.parts.is_empty() {
                color::of_part(b)
            } else {
                ivory
            };
            let at = |p: [f32; 3]| place + turn * Vec3::from(p);
            match *form {
                RestForm::Capsule { from, to, radius } => {
                    let material = mesh.material(Material::BODY);
                    mesh.ball(at(from), radius, color, material, 3);
                    mesh.ball(at(to), radius, color, material, 3);
                    mesh.rod([at(from), at(to)], [radius; 2], [color; 2], material, 24);
                }
                RestForm::Ellipsoid { center, rotation, radii } => {
                    let material = mesh.material(Material::BODY);
                    let (first, axes, radii) =
                        (mesh.vertices.len(), turn * Quat::from_array(rotation), Vec3::from(radii));
                    mesh.ball(Vec3::ZERO, 1.0, color, material, 3);
                    for vertex in &mut mesh.vertices[first..] {
                        vertex.normal = (axes * (vertex.position / radii)).normalize_or(Vec3::Y);
                        vertex.position = at(center) + axes * (vertex.position * radii);
                    }
                }
            }
        }
    }

    /// Nodes and springs over a body that is drawn otherwise.
    fn inside(&self, mesh: &mut Mesh, x: &[Vec3], look: &BodyLook, nodes: usize) {
        let show = &self.settings.show;
        let width = (1.2 * self.settings.height as f32 / 720.0).max(0.8);
        for &[a, b] in look.lattice.iter().filter(|_| show.springs) {
            let ends = [x[a as usize], x[b as usize]];
            if ends.iter().all(|end| end.is_finite()) {
                mesh.lines.push(Line { ends, color: Vec3::splat(0.02), width, lead: 0.003 });
            }
        }
        let ink = mesh.material(Material::INK);
        let cuts = if nodes > MANY { 0 } else { 1 };
        for &p in x.iter().take(nodes).filter(|p| show.nodes && p.is_finite()) {
            mesh.ball(p, self.pixels(p, 2.8), Vec3::splat(0.05), ink, cuts);
        }
    }

    fn curves(
        &self,
        mesh: &mut Mesh,
        x: &[Vec3],
        look: &BodyLook,
        prepared: &Prepared,
        color: impl Fn(u32) -> Vec3,
        material: u32,
    ) {
        for chain in &prepared.chains {
            let nodes: Vec<Vec3> = chain.nodes.iter().map(|&n| x[n as usize]).collect();
            let finer = tube::smooth(&nodes, chain.closed);
            let points: Vec<Vec3> = finer.iter().map(|f| f.0).collect();
            let radius = |i: usize| look.radius.max(self.pixels(points[i], 2.0));
            let mixed = |i: usize| {
                let place = finer[i].1;
                let node = |k: usize| color(chain.nodes[k % chain.nodes.len()]);
                node(place as usize).lerp(node(place.ceil() as usize), place.fract())
            };
            tube::draw(mesh, &points, chain.closed, radius, mixed, material);
        }
    }

    fn lattice(&self, mesh: &mut Mesh, x: &[Vec3], prepared: &Prepared, color: impl Fn(u32) -> Vec3) {
        let material = mesh.material(Material::BODY);
        let rods = prepared.rods.iter().map(|&[a, b]| [x[a as usize], x[b as usize]]);
        let lengths = rods.clone().map(|[a, b]| a.distance(b)).filter(|l| l.is_finite());
        let mean = lengths.sum::<f32>() / prepared.rods.len().max(1) as f32;
        let (many, cuts) = if x.len() > MANY { (4, 1) } else { (6, 2) };
        let bead = |p: Vec3| (0.13 * mean).clamp(self.pixels(p, 2.0), self.pixels(p, 9.0));
        for (&[a, b], ends) in prepared.rods.iter().zip(rods) {
            if ends.iter().all(|e| e.is_finite()) {
                let radii = ends.map(|e| 0.38 * bead(e));
                let grey =
                    |c: Vec3| if self.settings.color_by == ColorBy::Body { c.lerp(Vec3::splat(0.45), 0.75) } else { c };
                mesh.rod(ends, radii, [grey(color(a)), grey(color(b))], material, many);
            }
        }
        for (i, &p) in x.iter().enumerate().filter(|(_, p)| p.is_finite()) {
            mesh.ball(p, bead(p), color(i as u32), material, cuts);
        }
    }

    /// An obstacle at its pose.
    pub fn obstacle(&self, mesh: &mut Mesh, look: &ObstacleLook, skin: &Skin, pose: (Vec3, Quat)) {
        let x: Vec<Vec3> = look.positions.iter().map(|&p| pose.0 + pose.1 * Vec3::from(p)).collect();
        if let Style::Wireframe { hidden } = self.settings.style {
            if hidden && !look.hollow {
                let paper = mesh.material(Material { flat: true, ..Material::BODY });
                skin.draw(mesh, &x, |_, _| Vec3::ONE, paper);
            }
            let width = (0.8 * self.settings.height as f32 / 720.0).max(0.6);
            let wires = if look.wires.is_empty() { &skin.edges } else { &look.wires };
            for &[a, b] in wires.iter().filter(|w| w.iter().all(|&v| (v as usize) < x.len())) {
                let ends = [x[a as usize], x[b as usize]];
                mesh.lines.push(Line { ends, color: Vec3::splat(0.3), width, lead: 0.0008 });
            }
            return;
        }
        let (material, color) = if look.hollow {
            (Material::GLASS, color::linear_bytes([0x6F, 0x8F, 0xA8]))
        } else {
            (Material::PLASTER, color::linear_bytes([0xC9, 0xC5, 0xBE]))
        };
        let (material, color) = (mesh.material(material), look.color.map_or(color, color::linear));
        skin.draw(mesh, &x, |_, _| color, material);
    }

    /// A plane that is not the ground: a pane as large as the scene, or its grid in a wireframe.
    pub fn pane(&self, mesh: &mut Mesh, bounds: &Bounds, pose: (Vec3, Quat)) {
        let normal = pose.1 * Vec3::Y;
        let (u, v) = (pose.1 * Vec3::X, pose.1 * Vec3::Z);
        let middle = bounds.center() - normal * (bounds.center() - pose.0).dot(normal);
        let half = 0.6 * bounds.size();
        let at = |a: f32, b: f32| middle + half * (a * u + b * v);
        if matches!(self.settings.style, Style::Wireframe { .. }) {
            for k in 0..=10 {
                let s = k as f32 / 5.0 - 1.0;
                for ends in [[at(s, -1.0), at(s, 1.0)], [at(-1.0, s), at(1.0, s)]] {
                    mesh.lines.push(Line { ends, color: Vec3::splat(0.62), width: 0.7, lead: 0.0 });
                }
            }
            return;
        }
        let material = mesh.material(Material { alpha: 0.5, gloss: 0.0, ..Material::GLASS });
        let corners = [at(-1.0, -1.0), at(-1.0, 1.0), at(1.0, 1.0), at(1.0, -1.0)]
            .map(|p| mesh.vertex(p, normal, color::linear_bytes([0xC9, 0xC5, 0xBE])));
        mesh.triangle([corners[0], corners[1], corners[2]], material);
        mesh.triangle([corners[0], corners[2], corners[3]], material);
    }

    /// Pins, contacts, velocities and forces of a frame, and the caller's arrows.
    pub fn marks(&self, mesh: &mut Mesh, frame: &Frame, prepared: &[Option<Prepared>], arrows: &[Arrow]) {
        let show = &self.settings.show;
        for body in frame.bodies.iter().filter(|_| self.settings.style != Style::Lattice) {
            for (nodes, color) in self.holds(body) {
                for p in nodes.iter().filter_map(|&n| body.positions.get(n as usize)) {
                    self.dot(mesh, Vec3::from(*p), 5.5, color, Material::INK);
                }
            }
        }
        for &(body, node) in frame.contacts.iter().filter(|_| show.contacts) {
            if let Some(&p) = frame.bodies.get(body as usize).and_then(|b| b.positions.get(node as usize)) {
                self.dot(mesh, Vec3::from(p), 3.2, color::linear_bytes(of_force(ForceKind::Contact)), Material::INK);
            }
        }
        if show.velocities && self.full_speed > 0.0 {
            for (body, prepared) in frame.bodies.iter().zip(prepared) {
                let Some(Prepared { seen, skin, .. }) = prepared else { continue };
                let ink = color::linear_bytes(self.ink());
                let material = if skin.closed { Material { flat: true, ..Material::INK } } else { Material::SIGN };
                for &n in seen.iter().filter(|&&n| spread(n, seen.len(), MOST_ARROWS)) {
                    let at = |list: &[[f32; 3]]| list.get(n as usize).map(|&p| Vec3::from(p));
                    if let (Some(p), Some(v)) = (at(&body.positions), at(&body.velocities)) {
                        let share = (v / self.full_speed).clamp_length_max(LONGEST);
                        self.arrow(mesh, p, share * (ARROW / QUARTER), 1.6, ink, material);
                    }
                }
            }
        }
        for force in frame.forces.iter().filter(|_| show.forces && self.full_force > 0.0) {
            let body = frame.bodies.get(force.body as usize);
            if let Some(&p) = body.and_then(|b| b.positions.get(force.node as usize)) {
                let share = (Vec3::from(force.newtons) / self.full_force).clamp_length_max(LONGEST);
                let ink = color::linear_bytes(of_force(force.kind));
                self.arrow(mesh, Vec3::from(p), share * (ARROW / QUARTER), 1.8, ink, Material::SIGN);
            }
        }
        let longest =
            arrows.iter().map(|a| Vec3::from(a.vector).length()).filter(|l| l.is_finite()).fold(0.0, f32::max);
        for arrow in arrows.iter().filter(|_| longest > 0.0) {
            let color = color::linear_bytes([0xD5, 0x3E, 0x00]);
            self.arrow(mesh, Vec3::from(arrow.at), Vec3::from(arrow.vector) / longest, 2.6, color, Material::SIGN);
        }
    }

    /// A bead of this radius (px).
    pub fn dot(&self, mesh: &mut Mesh, at: Vec3, pixels: f32, color: Vec3, material: Material) {
        if at.is_finite() {
            let material = mesh.material(material);
            mesh.ball(at, self.pixels(at, pixels), color, material, 2);
        }
    }

    /// An arrow whose vector is measured in quarters of the scene; none where it would be a speck.
    pub fn arrow(&self, mesh: &mut Mesh, from: Vec3, vector: Vec3, pixels: f32, color: Vec3, material: Material) {
        let to = from + vector * (QUARTER * self.size);
        if from.is_finite() && to.is_finite() && from.distance(to) > self.pixels(from, 3.0 * pixels) {
            let material = mesh.material(material);
            mesh.arrow(from, to, self.pixels(from, pixels), color, material);
        }
    }

    /// Whether an arrow ends inside the picture, or starts outside anyway.
    pub fn ends_inside(&self, from: Vec3, vector: Vec3) -> bool {
        let inside = |p: Vec3, margin: f32| {
            let s = self.camera.project(p);
            let (width, height) = (self.settings.width as f32, self.settings.height as f32);
            let gap = margin * height;
            s.z > 0.0 && s.x > gap && s.y > gap && s.x < width - gap && s.y < height - gap
        };
        !inside(from, 0.0) || inside(from + vector * (QUARTER * self.size), 0.02)
    }

    /// A path as a thin tube.
    pub fn path(&self, mesh: &mut Mesh, points: &[Vec3], color: Vec3) {
        let material = mesh.material(Material::SIGN);
        tube::draw(mesh, points, false, |i| self.pixels(points[i], 1.6), |_| color, material);
    }
}
