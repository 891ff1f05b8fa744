//! A scene as plain, checked data: what the file says, every default filled in.
//!
//! Nothing here knows about text or places (`read`), nor about numbers that move
//! (`build`). Units are SI; angles in files are degrees; the Y axis is up.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A point or vector as written in a file.
pub type Vector = [f64; 3];

/// The whole scene.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Scene {
    /// Version of this file format; 1.
    pub format: u32,
    /// One line for listings.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What surrounds the bodies.
    pub world: World,
    /// How long, and how often a frame is taken.
    pub clip: Clip,
    /// How time is cut into steps.
    pub step: Step,
    /// The bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Body>,
    /// What some pairs of bodies have between them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<Contact>,
    /// What is fastened to what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attach: Vec<Attach>,
    /// Immovable or keyframed things that bodies hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obstacle: Vec<Obstacle>,
    /// Points whose motion is reported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<Probe>,
    /// Timed edits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<Event>,
    /// Moves of bodies over a floor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choreography: Vec<Choreography>,
    /// Where the picture is taken from; framed automatically when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
}

/// `[world]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct World {
    /// Acceleration (m/s²). Default (0, -9.81, 0).
    pub gravity: Vector,
    /// Velocity of the surrounding air (m/s). Default 0.
    pub wind: Vector,
    /// Keeps every body in a plane through its start: "xy", "yz" or "xz".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<Plane>,
}

/// Coordinate planes for `world.plane`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Plane {
    /// z is kept.
    Xy,
    /// x is kept.
    Yz,
    /// y is kept.
    Xz,
}

/// `[clip]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Clip {
    /// Length (s), 0 < seconds ≤ 86400. Default 5.
    pub seconds: f64,
    /// Frames a second; samples the motion, never changes it. Default 24.
    pub fps: f64,
}

/// `[step]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Step {
    /// Largest step (s). Default 1/240.
    pub dt: f64,
    /// Halve a step that fails its tests, grow again later. Default true.
    pub adaptive: bool,
    /// Largest number of halvings before the run gives up, 0 to 20. Default 10.
    pub max_halvings: u32,
    /// A step may move no node further than this (m); absent: a fifth of the body's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_displacement: Option<f64>,
    /// Relative jump of total energy in one step that rejects it. Default 0.5.
    pub max_energy_jump: f64,
    /// Bring the scene to rest before t = 0. Default false.
    pub settle: bool,
}

/// Published models: one word for a choice on each of the three axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Formulation {
    /// Metric and curvature tensors on nodal positions.
    Primal,
    /// A rigid frame plus a displacement with spline energy.
    Hybrid,
    /// Springs on grid edges, mass and damping on the diagonal.
    Spring,
    /// Springs on a lattice, explicit.
    MassSpring,
    /// Quadratic modes per body part.
    Reduced,
    /// Springs on a lattice, backward Euler.
    Implicit,
    /// No deformation at all.
    Rigid,
    /// Finite elements in a solid, backward Euler: jelly.
    Jelly,
}

/// Axis 1: the energy of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Elasticity {
    /// Two-node springs with bend and twist stencils.
    Springs,
    /// None: only for rigid coordinates.
    None,
    /// Metric and curvature tensors.
    Metric,
    /// The same as GO prints it, failures included.
    Published,
    /// Controlled-continuity spline of the displacement.
    Spline,
    /// Finite elements in a solid: stable neo-Hookean.
    Finite,
}

/// Axis 2: what the unknowns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coordinates {
    /// Positions of nodes.
    Nodal,
    /// Centre and orientation.
    Rigid,
    /// Rigid frame and displacement.
    Framed,
    /// Quadratic modes.
    Reduced,
}

/// Axis 3: how time advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Springs explicit, mass and damping on the diagonal, as in GO-spring.
    ExplicitDiagonal,
    /// x += v dt + ½ a dt², v += a dt, as in Chang 5.1.
    ExplicitTaylor,
    /// v first, then x.
    SymplecticEuler,
    /// First order, damps stiff motion.
    BackwardEuler,
    /// Second order, no damping of its own.
    ImplicitMidpoint,
    /// Backward differences over two steps.
    Bdf2,
    /// Momentum and angular momentum: only for rigid coordinates.
    Momentum,
    /// Constant matrix factored once: only for framed coordinates.
    SemiImplicit,
}

/// Inertial terms of a body with a rigid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// μ ω×(ω×q)
    Centrifugal,
    /// 2 μ ω×ė
    Coriolis,
    /// μ ω̇×q
    Transverse,
    /// μ v̇
    Translational,
}

/// `[[body]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Body {
    /// Unique name: letters, digits, `-` and `_`.
    pub name: String,
    /// A published model; or leave it out and give the three axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formulation: Option<Formulation>,
    /// Axis 1; beside a published model, instead of its own energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elasticity: Option<Elasticity>,
    /// Axis 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Coordinates>,
    /// Axis 3; beside a published model, instead of its own integrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<Integrator>,
    /// Inertial terms left out, to see what they do: only for framed coordinates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Term>,
    /// Where the shape's origin goes (m).
    pub position: Vector,
    /// Rotation about x, then y, then z (degrees).
    pub rotation: Vector,
    /// Factor per axis of the rest shape.
    pub scale: Vector,
    /// Factor per axis by which it starts stretched: a drum's skin, a bow's string.
    pub stretch: Vector,
    /// Initial velocity (m/s).
    pub velocity: Vector,
    /// Initial angular velocity about the centre of mass (rad/s).
    pub spin: Vector,
    /// Colour in pictures: red, green, blue, 0 to 1; absent: the next of the palette.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Vector>,
    /// Whether it touches other bodies that have this too. Default true.
    pub contact: bool,
    /// Whether it touches itself. Default false.
    pub self_contact: bool,
    /// Distance that it and its like keep between their middles (m); absent: the thickness of a sheet, the diameter of
    /// a curve, a five-hundredth of the size of a solid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_thickness: Option<f64>,
    /// Rest shape.
    pub shape: Shape,
    /// What it is made of.
    pub material: Material,
    /// How the implicit equations are solved.
    pub solver: Solver,
    /// Parts that the body is cut into across its longest side, 1 to 64: of the reduced model, and of implicit steps
    /// solved by parts. Default 1, for a character one for each of its bones.
    pub parts: u32,
    /// Held nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// Forces and pressures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<Load>,
    /// Forces by which it moves itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drive: Vec<BodyDrive>,
    /// Rigid parts of a character; absent: those of its rig.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bone: Vec<Bone>,
    /// How the bones of a character move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<BodyMotion>,
}

/// `[[contact]]`: what two bodies have between them, other than their materials say.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Contact {
    /// Names of two bodies; the same twice for one and itself.
    pub bodies: [String; 2],
    /// Whether they touch at all. Default true.
    pub meet: bool,
    /// Coulomb friction; absent: the larger of both materials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Restitution; absent: the larger of both materials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
}

/// `[[attach]]`: some nodes of a body, fastened where they start to another body, a bone of it, or an obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Attach {
    /// Whose nodes.
    pub body: String,
    /// Which nodes.
    pub at: Selection,
    /// The other body: where its surface is nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// A bone of the other body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bone: Option<String>,
    /// An obstacle, in place of a body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
}

/// `[[body.bone]]`: a rigid part of a character, in the axes of its skin at rest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Bone {
    /// Unique name.
    pub name: String,
    /// All points within `radius` of a segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capsule: Option<Capsule>,
    /// An ellipsoid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ellipsoid: Option<Ellipsoid>,
    /// The bone it hangs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The joint of the rig that it moves with; absent: the one of its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// Motion relative to its start, where no rig moves it; rotation about its middle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<Key>,
    /// It is a rigid body of its own mass that forces and gravity move, where no rig does; flesh does not move it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<Drive>,
}

/// `capsule = { from, to, radius }` of a bone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Capsule {
    /// One end (m).
    pub from: Vector,
    /// Other end (m).
    pub to: Vector,
    /// Radius (m).
    pub radius: f64,
}

/// `ellipsoid = { center, radii, rotation }` of a bone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Ellipsoid {
    /// Centre (m).
    pub center: Vector,
    /// Half axes (m).
    pub radii: Vector,
    /// Rotation about x, then y, then z (degrees).
    pub rotation: Vector,
}

/// `[body.motion]`: what moves the bones of a rigged character.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct BodyMotion {
    /// Motion capture (BVH), played on the rig; absent: an animation of the rig's own file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The rig's own animation, by name or by number from 0. Default the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// Where in the motion t = 0 is (s). Default 0.
    pub start: f64,
    /// Speed of playing. Default 1.
    pub speed: f64,
    /// Begin again at the end. Default false.
    pub repeat: bool,
    /// Raise or lower captured motion so that the skin just reaches y = 0. Default true.
    pub ground: bool,
    /// Frame of the capture in which the body stands straight, from 0; absent: found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind_frame: Option<u32>,
    /// Frame of the capture that is its start, from 0; absent: the first that no jump leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_frame: Option<u32>,
    /// Axis of the capture that points up; absent: found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<Upward>,
    /// Length of the capture's unit (m); absent: found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
    /// Joint of the capture that moves each joint of the rig; "" none. Joints not named
    /// here are matched by name and shape.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, String>,
}

/// Axes that may point up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Upward {
    X,
    Y,
    Z,
}

/// How a character is cut into tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CharacterLattice {
    /// A body-centred lattice cut at the skin, nodes relaxed.
    BodyCentred,
    /// Cubes cut into tetrahedra, as in the thesis' full character.
    Tetrahedra,
    /// The same with relaxed nodes.
    Relaxed,
    /// Cubes with springs along edges and diagonals, as in the thesis' cube.
    Braced,
}

/// How inside is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InsideTest {
    /// Generalised winding number: takes open, turned and self-intersecting skins.
    Winding,
    /// How often a ray meets the skin, as in the thesis.
    Parity,
}

/// How the skin of a character follows its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkinWay {
    /// Barycentric in the tetrahedron around it.
    Embedded,
    /// With the nearest node.
    Nodes,
    /// A low-order fit for every part, blended.
    Fit,
    /// The deformation matrix of every part, blended: reduced coordinates only.
    Matrix,
}

/// Where the bones of a character come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkeletonFrom {
    /// The rig of the file.
    Rig,
    /// Proposed from the shape.
    Auto,
    /// There are none: all jelly.
    None,
}

/// `[body.shape.<kind>]`. `nodes` is one count per axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)]
pub enum Shape {
    /// Straight, along x, centred.
    Line { size: f64, nodes: [u32; 1] },
    /// Part of a circle in the xy plane; angle in degrees, symmetric about -y.
    Arc { radius: f64, angle: f64, nodes: [u32; 1] },
    /// Closed circle in the xy plane.
    Hoop { radius: f64, nodes: [u32; 1] },
    /// Helix about y.
    Helix { radius: f64, height: f64, turns: f64, nodes: [u32; 1] },
    /// Smooth curve through points, nodes equally spaced along it.
    Spline { points: Vec<Vector>, closed: bool, nodes: [u32; 1] },
    /// In the xz plane, centred; u along x, v along z.
    Rectangle { size: [f64; 2], nodes: [u32; 2] },
    /// In the xz plane; u around, v from the centre (a pole) to the rim.
    Disc { radius: f64, nodes: [u32; 2] },
    /// Open tube about y; u around, v along.
    Cylinder { radius: f64, height: f64, nodes: [u32; 2] },
    /// u around y, v from pole to pole.
    Sphere { radius: f64, nodes: [u32; 2] },
    /// About y; u around the axis, v around the tube.
    Torus { radius: f64, tube: f64, nodes: [u32; 2] },
    /// About y: a smooth profile [distance from y, height] from a pole below to a pole above, lobed, its axis bent towards x
    /// by this angle (degrees); u around, v upwards.
    Revolve { profile: Vec<[f64; 2]>, lobes: u32, depth: f64, bend: f64, nodes: [u32; 2] },
    /// Tensor Bézier patch: rows of control points.
    Bezier { net: Vec<Vec<Vector>>, nodes: [u32; 2] },
    /// Solid block, centred; its cells bricks, or each cut into five tetrahedra.
    Box { size: Vector, nodes: [u32; 3], tetrahedra: bool },
    /// Solid ball (a cube grid pushed out to the sphere).
    Ball { radius: f64, nodes: [u32; 3] },
    /// Triangle mesh file as a surface: OBJ, PLY, STL, glTF.
    Mesh { file: String, weld: bool },
    /// A body as it was in a frame of a run, written by `goop export --to shape`.
    Saved { file: String },
    /// A solid sampled inside the skin of a mesh or a rig, which follows it. `nodes` is
    /// about how many there will be, `rate` how many along the shortest side; `height`
    /// rescales to this extent along y (m).
    Character {
        file: String,
        nodes: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        rate: Option<f64>,
        lattice: CharacterLattice,
        inside: InsideTest,
        skin: SkinWay,
        #[serde(skip_serializing_if = "Option::is_none")]
        skeleton: Option<SkeletonFrom>,
        #[serde(skip_serializing_if = "Option::is_none")]
        height: Option<f64>,
    },
}

/// `[body.material]`: one card for every formulation, SI.
///
/// A preset fills the values, keys override it. `raw` replaces the stiffness and
/// damping part with a paper's own constants.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Material {
    /// Name of the preset the other values started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Density (kg/m³).
    pub density: f64,
    /// Young's modulus (Pa).
    pub young: f64,
    /// Poisson's ratio, -1 < ν < 0.5.
    pub poisson: f64,
    /// Thickness of surfaces (m).
    pub thickness: f64,
    /// Radius of curves (m).
    pub radius: f64,
    /// Damping ratio of the body's lowest stretching mode, 0 to 10.
    pub damping: f64,
    /// Drag of the surrounding medium per mass (1/s).
    pub drag: f64,
    /// Coulomb friction against obstacles and other bodies; the larger of two holds.
    pub friction: f64,
    /// Share of the speed of approach with which a rigid or hybrid body parts from another, 0 to 1. Default 0; bodies
    /// of nodes rebound by their elasticity.
    pub restitution: f64,
    /// Strain taken without flowing; absent: any, or 0 if `flow` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#yield: Option<f64>,
    /// Rate at which strain beyond `yield` goes into the rest shape (1/s); absent: at once
    /// if `yield` is given, else never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<f64>,
    /// Strain of the rest shape at which flow ends; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_limit: Option<f64>,
    /// Relative stretch at which a grid edge breaks; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tear: Option<f64>,
    /// The papers' raw constants, instead of young, poisson and damping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    /// The papers' weights of primal and hybrid energies, instead of young and poisson.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    /// Parts of the body with other values; a later region wins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub region: Vec<Region>,
}

/// `[body.material.raw]`: constants per spring and node, as printed. They do not
/// survive a change of resolution.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Raw {
    /// Spring constant of grid edges (N/m).
    pub k: f64,
    /// Damper on every spring (N s/m), force -d (v_i - v_j) as printed.
    pub d: f64,
    /// Damper of every node against the medium (N s/m): the diagonal C of GO-spring.
    pub c: f64,
    /// Mass of every node (kg).
    pub node_mass: f64,
    /// Rest length per direction (m); absent: the grid's own spacing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Vec<f64>>,
    /// Diagonal springs in faces (surfaces) or through cells (solids) (N/m). Default 0.
    pub shear: f64,
    /// Bend stencil (N/m) on |x₋ - 2x + x₊|. Default 0.
    pub bend: f64,
}

/// `[body.material.weights]`: the published weights per arc length, area or volume at
/// rest. Over the papers' unit square with sides a_i, w_j = ŵ_j Πa_i / Πa_i^(2 j_i).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Weights {
    /// Hybrid: of the displacement itself. Default 0.
    pub zero: f64,
    /// Stretching along each axis: hybrid ŵ₁₀, ŵ₀₁, ŵ₀₀₁, primal w¹₁₁, w¹₂₂, w¹₃₃. Default 0.
    pub first: Vector,
    /// Primal: shear w¹₁₂, w¹₁₃, w¹₂₃. Default 0.
    pub shear: Vector,
    /// Bending along each axis: hybrid ŵ₂₀, ŵ₀₂, ŵ₀₀₂, primal w²₁₁, w²₂₂. Default 0.
    pub second: Vector,
    /// Mixed second derivatives 12, 13, 23: hybrid ŵ₁₁, primal w²₁₂. Default 0.
    pub mixed: Vector,
    /// Primal curves: torsion. Default 0.
    pub twist: f64,
}

/// `[[body.material.region]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Region {
    /// Which nodes.
    pub at: Selection,
    /// Density (kg/m³).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Young's modulus (Pa).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub young: Option<f64>,
    /// Thickness (m).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Damping ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Spring constant where `raw` is used (N/m).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// Factor of the weights where `weights` are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// `[body.solver]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Solver {
    /// Newton iterations a step, 1 to 50. Default 1.
    pub newton: u32,
    /// Relative residual of the linear solve. Default 1e-6.
    pub tolerance: f64,
    /// Linear solver. Default auto: conjugate gradients, Cholesky at the cap.
    pub linear: Linear,
    /// Preconditioner of conjugate gradients. Default jacobi.
    pub preconditioner: Preconditioner,
    /// Cap on conjugate-gradient iterations and on sweeps of SOR. Default 200.
    pub max_iterations: u32,
    /// Solve implicit steps part by part. Default false.
    pub by_parts: bool,
}

/// Linear solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Linear {
    /// Conjugate gradients, then Cholesky when the cap is reached.
    Auto,
    /// Conjugate gradients only.
    ConjugateGradients,
    /// Sparse Cholesky always.
    Cholesky,
    /// Cholesky in profile storage always.
    Profile,
    /// Successive over-relaxation only.
    Sor,
}

/// Preconditioners of conjugate gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preconditioner {
    /// The inverse diagonal, in 3×3 blocks for nodes.
    Jacobi,
    /// Nothing.
    None,
    /// An incomplete Cholesky factor.
    IncompleteCholesky,
    /// A symmetric sweep of over-relaxation.
    Ssor,
}

/// Which nodes of a body. In a file: a bare word ("all", "center", "corners",
/// "rim") or a table with one key, such as `{ corner = [0, 1] }`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)]
pub enum Selection {
    /// Every node.
    All,
    /// The node nearest the centre of the material coordinates (or of mass, for meshes).
    Center,
    /// Every corner of the grid.
    Corners,
    /// Every node on a free boundary.
    Rim,
    /// One corner: 0 or 1 per axis.
    Corner(Vec<u8>),
    /// One side of the grid: "u0", "u1", "v0", "v1", "w0", "w1".
    Edge(Side),
    /// Range of material coordinates: [low, high], each with one value per axis.
    Uv([Vec<f64>; 2]),
    /// Axis-aligned box in the world at the start: [low, high].
    Box([Vector; 2]),
    /// Sphere in the world at the start.
    Sphere { center: Vector, radius: f64 },
    /// Node numbers.
    Index(Vec<u32>),
    /// The node nearest a point in the world at the start.
    Nearest(Vector),
    /// A named vertex group of a mesh file.
    Group(String),
    /// Range of depth under the skin of a character (m): [low, high].
    Depth([f64; 2]),
    /// Nodes of a character that belong most to a bone.
    Part(String),
}

/// A side of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Side {
    U0,
    U1,
    V0,
    V1,
    W0,
    W1,
}

/// `[[body.pin]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Pin {
    /// Which nodes.
    pub at: Selection,
    /// Spring constant (N/m); absent: a hard pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Motion of the pinned nodes relative to their start; rotation about the
    /// centre of the selection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<Key>,
    /// The nodes are a rigid block of its own mass that forces and gravity move; springs move it
    /// only where `reaction` says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<Drive>,
}

/// `[body.pin.drive]` and `[body.bone.drive]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Drive {
    /// Mass of the block (kg).
    pub mass: f64,
    /// Forces on it, in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub push: Vec<Push>,
    /// The same as a text file of times and forces, turns and events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The flesh pushes back on the block. Default false, as published.
    pub reaction: bool,
}

/// `[[body.pin.drive.push]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Push {
    /// When (s).
    pub time: f64,
    /// The force from then on (N). Default none.
    pub newtons: Vector,
    /// The velocity is set to zero. Default false.
    pub stop: bool,
    /// The weight is carried from then on. Default false.
    pub hold: bool,
    /// The weight is carried no longer. Default false.
    pub release: bool,
    /// It turns so fast about x, y and z from then on (degrees/s). Default not at all.
    pub turn: Vector,
}

/// One keyframe of a motion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Key {
    /// When (s).
    pub time: f64,
    /// Where: for pins an offset from the start, for obstacles the position (m).
    pub position: Vector,
    /// Rotation about x, then y, then z (degrees).
    pub rotation: Vector,
}

/// `[[body.load]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)]
pub enum Load {
    /// `force = { at, newtons, course }`: shared by the selected nodes in proportion to mass.
    Force {
        /// Which nodes.
        at: Selection,
        /// Total force (N), world axes.
        newtons: Vector,
        /// Factor over time: [[time, factor], …], linear between, held outside. Empty: always 1.
        course: Vec<[f64; 2]>,
    },
    /// `pressure = { pascals, course, gas }`: outward on a closed surface.
    Pressure {
        /// Excess pressure (Pa).
        pascals: f64,
        /// Factor over time, as for a force.
        course: Vec<[f64; 2]>,
        /// True: the pressure falls as the volume grows (p V constant). Default false.
        gas: bool,
    },
}

/// `[[body.drive]]`: one of thruster, gyro, servo and impulse.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct BodyDrive {
    /// From when it acts (s). Default 0.
    pub from: f64,
    /// Until when (s); absent: to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// A force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thruster: Option<Thruster>,
    /// A torque.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gyro: Option<Gyro>,
    /// Force and torque that follow a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
    /// A blow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse: Option<Impulse>,
}

/// Whose axes a drive is given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriveAxes {
    /// Those of the rest shape: it turns with the body.
    Body,
    /// Those of the world.
    World,
}

/// `[body.drive.thruster]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Thruster {
    /// Nodes that share it by mass; absent: at the centre of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Selection>,
    /// The force (N).
    pub newtons: Vector,
    /// Whose axes. Default body.
    pub axes: DriveAxes,
    /// Factor over time: [[time, factor], …], linear between, held outside. Empty: always 1.
    pub course: Vec<[f64; 2]>,
}

/// `[body.drive.gyro]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Gyro {
    /// The torque (N m).
    pub newton_meters: Vector,
    /// Whose axes. Default body.
    pub axes: DriveAxes,
    /// Factor over time, as of a thruster.
    pub course: Vec<[f64; 2]>,
}

/// What a servo holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServoHolds {
    /// Place and attitude.
    Both,
    /// The place alone.
    Position,
    /// The attitude alone.
    Attitude,
}

/// `[body.drive.servo]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Servo {
    /// Where the body should be and how turned, as `position` and `rotation` of the body say it, passed smoothly.
    pub path: Vec<Key>,
    /// What it holds. Default both.
    pub holds: ServoHolds,
    /// Directions of the world in which the place is held: some of "x", "y", "z" in a row. Default "xyz".
    pub along: String,
    /// Time after which 5 % of an error are left (s). Default 0.3.
    pub response: f64,
    /// Damping ratio; 1 does not overshoot. Default 1.
    pub damping: f64,
    /// Whether it carries the weight in the directions it holds. Default true.
    pub carries_weight: bool,
    /// Most force (N); absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_newtons: Option<f64>,
    /// Most torque (N m); absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_newton_meters: Option<f64>,
}

/// `[body.drive.impulse]`: at `from`, at once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Impulse {
    /// Momentum at the centre of mass (N s). Default none.
    pub newton_seconds: Vector,
    /// Angular momentum about the centre of mass (N m s). Default none.
    pub newton_meter_seconds: Vector,
    /// Whose axes. Default body.
    pub axes: DriveAxes,
}

/// `[[choreography]]`: moves of a body that stands on a floor; between them it stays where it is, upright as at the start.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Choreography {
    /// Which body.
    pub body: String,
    /// Response time of its servo (s). Default 0.25.
    pub response: f64,
    /// Most force of its servo, over the weight. Default 2.
    pub strength: f64,
    /// The moves, in the order of time.
    pub r#move: Vec<Move>,
}

/// `[[choreography.move]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Move {
    /// When it begins (s).
    pub time: f64,
    /// How long it takes (s). Default 1. A hop takes as long as its height says; what is kept for it is 0.3 by default.
    pub seconds: f64,
    /// Where to: x and z (m).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<[f64; 2]>,
    /// Heading, from that at the start about y (degrees).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<f64>,
    /// Hops this high (m).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<f64>,
    /// Before a hop its upper part is pressed down with this many times its weight. Default 0.
    pub squash: f64,
    /// Bows towards its front, +z at the start, by this angle, stays and comes up (degrees).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bow: Option<f64>,
    /// Rolls: its attitude is let go until the next move that does not roll. Default false.
    pub roll: bool,
}

/// `[[obstacle]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Obstacle {
    /// Unique name.
    pub name: String,
    /// Colour in pictures: red, green, blue, 0 to 1; absent: grey.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Vector>,
    /// Geometry: `[obstacle.shape.<kind>]`.
    pub shape: ObstacleShape,
    /// Where its centre is (m).
    pub position: Vector,
    /// Rotation about x, then y, then z (degrees).
    pub rotation: Vector,
    /// A container: bodies are kept inside. Default false.
    pub hollow: bool,
    /// Coulomb friction; the larger of obstacle's and material's holds. Default 0.
    pub friction: f64,
    /// Share of the speed with which rigid and hybrid bodies rebound; the larger of obstacle's and material's holds.
    /// Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// Distance at which it begins to push (m). Default 0.005.
    pub range: f64,
    /// Force per metre when the whole body touches (N/m); absent: chosen from the body's weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Damping ratio of the approach. Default 0.2.
    pub damping: f64,
    /// No node may be deeper than this (m). Default 1e-4.
    pub tolerance: f64,
    /// The potential c exp(-f/ξ) of the papers instead; f has no length unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedPotential>,
    /// Motion.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<Key>,
}

/// Constants of GO eq 26.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PublishedPotential {
    /// Height c of the potential (J).
    pub c: f64,
    /// Decay ξ, in units of the implicit function.
    pub xi: f64,
}

/// `[obstacle.shape.<kind>]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)]
pub enum ObstacleShape {
    /// Half space below the local xz plane (normal +y).
    Plane {},
    /// Ball.
    Sphere { radius: f64 },
    /// Half axes.
    Ellipsoid { radii: Vector },
    /// About local y.
    Torus { radius: f64, tube: f64 },
    /// One sheet about local y: r² = a² (1 + (y/b)²); solid is the inside around the axis, cut at |y| ≤ height/2.
    Hyperboloid { waist: f64, slope: f64, height: f64 },
    /// Segment along local y of this length, with round ends.
    Capsule { radius: f64, length: f64 },
    /// Full side lengths; edges rounded by this radius.
    Box { size: Vector, round: f64 },
    /// Triangle mesh file: OBJ, PLY, STL, glTF. A closed one is solid, an open one a wall of this thickness (m); absent: a
    /// five-hundredth of its size.
    Mesh {
        file: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        thickness: Option<f64>,
    },
}

/// `[[probe]]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Probe {
    /// Unique name.
    pub name: String,
    /// Which body.
    pub body: String,
    /// Mean of these nodes; "center" is the centre of mass.
    pub at: Selection,
}

/// `[[event]]`: an edit at a time; one of the edit keys.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// When (s): at the first step boundary at or after it.
    pub time: f64,
    /// What.
    #[serde(flatten)]
    pub edit: Edit,
}

/// Edits a scene may schedule.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)]
pub enum Edit {
    /// Hold nodes where they are.
    Pin { body: String, at: Selection, stiffness: Option<f64> },
    /// Let nodes go.
    Unpin { body: String, at: Selection },
    /// Pull nodes towards a point with a spring, until released.
    Grab { body: String, at: Selection, to: Vector, stiffness: f64 },
    /// End every grab of a body.
    Release { body: String },
    /// Change one value of a body's material card, or the world's gravity or wind.
    Parameter { body: Option<String>, key: String, value: ParameterValue },
    /// Put another obstacle into the scene; later events may name it.
    Add(Obstacle),
    /// Move an obstacle (its keyframes end), or take it away.
    Obstacle { name: String, position: Option<Vector>, remove: bool },
    /// Add momentum (N s), shared by mass.
    Impulse { body: String, at: Selection, newton_seconds: Vector },
    /// Set every velocity of a body to zero.
    Stop { body: String },
    /// A steady force (N), shared by mass, from now on, in place of one these nodes had; zero ends it.
    Thrust { body: String, at: Selection, newtons: Vector },
    /// Carry on with another published model, same positions and velocities; with another
    /// integrator than its own where one is given.
    Formulation { body: String, to: Formulation, integrator: Option<Integrator> },
}

/// A number or a vector.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ParameterValue {
    /// One value.
    Number(f64),
    /// Three values.
    Vector(Vector),
}

/// `[camera]`
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Camera {
    /// Where the eye is (m).
    pub position: Vector,
    /// What it looks at (m).
    pub look_at: Vector,
    /// Lens on a 36 mm frame (mm). Default 50.
    pub lens: f64,
    /// Turns around the target a second (degrees/s). Default 0.
    pub orbit: f64,
}

/// Named vertex groups found in mesh files, by file.
pub type Groups = BTreeMap<String, Vec<u32>>;

impl Scene {
    /// Every obstacle there ever is and when it comes (s): those of the scene at 0, then those
    /// that events add, in the order they come. The engine numbers them so.
    pub fn obstacles(&self) -> Vec<(f64, &Obstacle)> {
        let mut added: Vec<(f64, &Obstacle)> = (self.event.iter())
            .filter_map(|event| match &event.edit {
                Edit::Add(obstacle) => Some((event.time, obstacle)),
                _ => None,
            })
            .collect();
        added.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.obstacle.iter().map(|obstacle| (0.0, obstacle)).chain(added).collect()
    }
}
