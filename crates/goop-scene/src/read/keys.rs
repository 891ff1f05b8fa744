//! Every key of every table: the one list that reader, hints and schema share.

use crate::reader::{Key, key, need};

/// Top level. `include` is taken out before the tables are read.
pub static SCENE: &[Key] = &[
    need("format", "format = 1", "version of this file format"),
    key("title", "title = \"A sheet over a torus\"", "one line for listings"),
    key("parameters", "[parameters]", "numbers that formulas such as \"= 2 * length\" may use"),
    key("world", "[world]", "what surrounds the bodies"),
    key("clip", "[clip]", "length and frame rate"),
    key("step", "[step]", "how time is cut into steps"),
    key("body", "[[body]]", "the bodies"),
    key("contact", "[[contact]]", "what some pairs of bodies have between them"),
    key("attach", "[[attach]]", "nodes of a body that are fastened to another body, a bone or an obstacle"),
    key("obstacle", "[[obstacle]]", "things that bodies hit"),
    key("probe", "[[probe]]", "points whose motion is reported"),
    key("event", "[[event]]", "timed edits"),
    key("choreography", "[[choreography]]", "moves of bodies over a floor"),
    key("camera", "[camera]", "where the picture is taken from"),
];

/// `[world]`
pub static WORLD: &[Key] = &[
    key("gravity", "gravity = [0.0, -9.81, 0.0]", "acceleration (m/s²)"),
    key("wind", "wind = [2.0, 0.0, 0.0]", "velocity of the surrounding air (m/s)"),
    key("plane", "plane = \"xy\"", "keeps every body in a plane through its start"),
];

/// `[clip]`
pub static CLIP: &[Key] =
    &[key("seconds", "seconds = 5.0", "length of the clip (s)"), key("fps", "fps = 24", "frames a second")];

/// `[step]`
pub static STEP: &[Key] = &[
    key("dt", "dt = 0.004", "largest step (s)"),
    key("adaptive", "adaptive = true", "whether a step that fails its tests is halved"),
    key("max-halvings", "max-halvings = 10", "halvings before the run gives up, 0 to 20"),
    key("max-displacement", "max-displacement = 0.1", "furthest a node may move in a step (m)"),
    key("max-energy-jump", "max-energy-jump = 0.5", "relative jump of energy that rejects a step"),
    key("settle", "settle = false", "whether the scene is brought to rest before t = 0"),
];

/// `[[body]]`
pub static BODY: &[Key] = &[
    need("name", "name = \"sheet\"", "unique name: letters, digits, - and _"),
    key("formulation", "formulation = \"implicit\"", "a published model"),
    key("elasticity", "elasticity = \"springs\"", "the energy of a shape"),
    key("coordinates", "coordinates = \"nodal\"", "what the unknowns are"),
    key("integrator", "integrator = \"backward-euler\"", "how time advances"),
    key("without", "without = [\"coriolis\"]", "inertial terms left out beside a rigid frame"),
    key("position", "position = [0.0, 1.0, 0.0]", "where the shape's origin goes (m)"),
    key("rotation", "rotation = [0.0, 45.0, 0.0]", "rotation about x, then y, then z (degrees)"),
    key("scale", "scale = [1.0, 1.0, 1.0]", "factor per axis of the rest shape, not nought; one number for all"),
    key("stretch", "stretch = [1.01, 1.0, 1.01]", "factor per axis by which it starts stretched"),
    key("velocity", "velocity = [1.0, 0.0, 0.0]", "initial velocity (m/s)"),
    key("spin", "spin = [0.0, 3.0, 0.0]", "initial angular velocity (rad/s)"),
    key("color", "color = [0.8, 0.2, 0.1]", "colour in pictures: red, green, blue, 0 to 1"),
    key("contact", "contact = false", "whether it touches other bodies; they do unless told otherwise"),
    key("self-contact", "self-contact = true", "whether it touches itself"),
    key(
        "contact-thickness",
        "contact-thickness = 0.002",
        "distance that it and its like keep between their middles (m)",
    ),
    need("shape", "shape.rectangle = { size = [1.0, 1.0], nodes = [20, 20] }", "the rest shape"),
    key("material", "[body.material]", "what it is made of"),
    key("parts", "parts = 4", "parts across the longest side, each with a map of its own, 1 to 64"),
    key("solver", "[body.solver]", "how the implicit equations are solved"),
    key("pin", "[[body.pin]]", "held nodes"),
    key("load", "[[body.load]]", "forces and pressures"),
    key("drive", "[[body.drive]]", "forces by which it moves itself"),
    key("bone", "[[body.bone]]", "rigid parts of a character, instead of its rig's"),
    key("motion", "[body.motion]", "how the bones of a character move"),
];

/// `[[body.bone]]`
pub static BONE: &[Key] = &[
    need("name", "name = \"thigh\"", "a name of its own"),
    key(
        "capsule",
        "capsule = { from = [0.0, 0.5, 0.0], to = [0.0, 1.0, 0.0], radius = 0.03 }",
        "all points within a radius of a segment",
    ),
    key("ellipsoid", "ellipsoid = { center = [0.0, 1.0, 0.0], radii = [0.1, 0.1, 0.1] }", "an ellipsoid"),
    key("parent", "parent = \"hips\"", "the bone it hangs on"),
    key("joint", "joint = \"LeftUpLeg\"", "the joint of the rig that it moves with; without it, that of its own name"),
    key("key", "[[body.bone.key]]", "motion relative to the start, where no rig moves it"),
    key("drive", "[body.bone.drive]", "it is a rigid body that forces drive, where no rig moves it"),
];
/// `capsule` of a bone.
pub static BONE_CAPSULE: &[Key] = &[
    need("from", "from = [0.0, 0.5, 0.0]", "one end (m)"),
    need("to", "to = [0.0, 1.0, 0.0]", "other end (m)"),
    need("radius", "radius = 0.03", "radius (m)"),
];
/// `ellipsoid` of a bone.
pub static BONE_ELLIPSOID: &[Key] = &[
    need("center", "center = [0.0, 1.0, 0.0]", "centre (m)"),
    need("radii", "radii = [0.1, 0.1, 0.1]", "half axes (m)"),
    key("rotation", "rotation = [0.0, 45.0, 0.0]", "rotation about x, then y, then z (degrees)"),
];
/// `[body.motion]`
pub static MOTION: &[Key] = &[
    key("file", "file = \"dance.bvh\"", "motion capture (BVH); without it, an animation of the rig's own file"),
    key("clip", "clip = \"Walk\"", "the rig's own animation, by name or by number from 0"),
    key("start", "start = 0.5", "where in the motion t = 0 is (s)"),
    key("speed", "speed = 1.0", "speed of playing"),
    key("repeat", "repeat = true", "whether it begins again at its end"),
    key("ground", "ground = true", "whether captured motion is raised or lowered until the skin just reaches y = 0"),
    key("bind-frame", "bind-frame = 0", "frame of the capture in which the body stands straight"),
    key("start-frame", "start-frame = 1", "frame of the capture that is its start"),
    key("up", "up = \"z\"", "axis of the capture that points up"),
    key("unit", "unit = 0.01", "length of the capture's unit (m)"),
    key("map", "map = { Hips = \"hip\", Tail = \"\" }", "joint of the capture for joints of the rig; \"\" for none"),
];
/// `[body.shape.character]`
pub static CHARACTER: &[Key] = &[
    need("file", "file = \"fox.glb\"", "rig (glTF, GLB) or mesh (OBJ, PLY, STL), relative to the file that names it"),
    key("nodes", "nodes = 6000", "about how many nodes"),
    key("rate", "rate = 9.0", "nodes along the shortest side, instead of `nodes`"),
    key("lattice", "lattice = \"body-centred\"", "how it is cut into tetrahedra"),
    key("inside", "inside = \"winding\"", "how inside is told from outside"),
    key("skin", "skin = \"embedded\"", "how the skin follows the nodes"),
    key("skeleton", "skeleton = \"rig\"", "where bones come from; without it the rig's, where there is one"),
    key("height", "height = 1.7", "extent along y that it is scaled to (m)"),
];

/// `[body.shape]`: one of these.
pub static SHAPE: &[Key] = &[
    key("line", "line = { size = 1.0, nodes = 20 }", "straight, along x, centred"),
    key("arc", "arc = { radius = 1.0, angle = 90.0, nodes = 20 }", "part of a circle in the xy plane"),
    key("hoop", "hoop = { radius = 1.0, nodes = 40 }", "closed circle in the xy plane"),
    key("helix", "helix = { radius = 0.1, height = 0.5, turns = 5.0, nodes = 100 }", "helix about y"),
    key(
        "spline",
        "spline = { points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], nodes = 40 }",
        "smooth curve through points",
    ),
    key("rectangle", "rectangle = { size = [1.0, 1.0], nodes = [20, 20] }", "in the xz plane, centred"),
    key("disc", "disc = { radius = 1.0, nodes = [40, 10] }", "in the xz plane; u around, v from centre to rim"),
    key("cylinder", "cylinder = { radius = 0.2, height = 1.0, nodes = [30, 20] }", "open tube about y"),
    key("sphere", "sphere = { radius = 0.5, nodes = [40, 20] }", "u around y, v from pole to pole"),
    key("torus", "torus = { radius = 0.5, tube = 0.2, nodes = [40, 20] }", "about y"),
    key(
        "revolve",
        "revolve = { profile = [[0.0, 0.0], [0.1, 0.1], [0.0, 0.2]], nodes = [14, 13] }",
        "a profile turned about y, closed by two poles",
    ),
    key("bezier", "bezier = { net = [[…], […]], nodes = [20, 20] }", "tensor Bézier patch"),
    key("box", "box = { size = [1.0, 1.0, 1.0], nodes = [5, 5, 5] }", "solid block, centred"),
    key("ball", "ball = { radius = 0.5, nodes = [7, 7, 7] }", "solid ball"),
    key("mesh", "mesh = { file = \"bunny.obj\" }", "triangle mesh file as a surface"),
    key("character", "character = { file = \"fox.glb\", nodes = 6000 }", "a solid inside the skin of a mesh or a rig"),
    key(
        "saved",
        "saved = { file = \"hoop.shape.json\" }",
        "a body as it was left in a run, from `goop export --to shape`",
    ),
];

const NODES_1: Key = need("nodes", "nodes = 20", "number of nodes along the curve");
const NODES_2: Key = need("nodes", "nodes = [20, 20]", "number of nodes per axis, or one number for both");
const NODES_3: Key = need("nodes", "nodes = [5, 5, 5]", "number of nodes per axis, or one number for all");
const RADIUS: Key = need("radius", "radius = 0.5", "radius (m)");
const HEIGHT: Key = need("height", "height = 1.0", "height along y (m)");
const TUBE: Key = need("tube", "tube = 0.1", "radius of the tube (m), below the radius of the ring");

/// `[body.shape.line]`
pub static LINE: &[Key] = &[need("size", "size = 1.0", "length (m)"), NODES_1];
/// `[body.shape.arc]`
pub static ARC: &[Key] =
    &[RADIUS, need("angle", "angle = 90.0", "opening (degrees), below 360; a full circle is a hoop"), NODES_1];
/// `[body.shape.hoop]`
pub static HOOP: &[Key] = &[RADIUS, NODES_1];
/// `[body.shape.helix]`
pub static HELIX: &[Key] = &[RADIUS, HEIGHT, need("turns", "turns = 5.0", "number of turns"), NODES_1];
/// `[body.shape.spline]`
pub static SPLINE: &[Key] = &[
    need("points", "points = [[0.0, 0.0, 0.0], [1.0, 0.5, 0.0]]", "points on the curve (m), two or more"),
    key("closed", "closed = false", "whether the curve runs back to its first point"),
    NODES_1,
];
/// `[body.shape.rectangle]`
pub static RECTANGLE: &[Key] = &[need("size", "size = [1.0, 1.0]", "sides along x and z (m)"), NODES_2];
/// `[body.shape.disc]` and `[body.shape.sphere]`
pub static ROUND: &[Key] = &[RADIUS, NODES_2];
/// `[body.shape.cylinder]`
pub static CYLINDER: &[Key] = &[RADIUS, HEIGHT, NODES_2];
/// `[body.shape.torus]`
pub static TORUS: &[Key] = &[RADIUS, TUBE, NODES_2];
/// `[body.shape.revolve]`
pub static REVOLVE: &[Key] = &[
    need(
        "profile",
        "profile = [[0.0, 0.0], [0.1, 0.05], [0.0, 0.2]]",
        "distance from the axis and height (m), from the pole below to the pole above",
    ),
    key("lobes", "lobes = 4", "lobes around the axis, none for round"),
    key("depth", "depth = 0.1", "how deep the lobes are, over the radius, below 1"),
    key("bend", "bend = 20.0", "by how much the axis bends towards x (degrees)"),
    NODES_2,
];
/// `[body.shape.bezier]`
pub static BEZIER: &[Key] =
    &[need("net", "net = [[[0, 0, 0], [0, 0, 1]], [[1, 0, 0], [1, 0, 1]]]", "rows of control points (m)"), NODES_2];
/// `[body.shape.box]`
pub static BOX: &[Key] = &[
    need("size", "size = [1.0, 1.0, 1.0]", "sides along x, y and z (m)"),
    NODES_3,
    key("tetrahedra", "tetrahedra = true", "cells cut into five tetrahedra each: quicker as finite elements"),
];
/// `[body.shape.ball]`
pub static BALL: &[Key] = &[RADIUS, NODES_3];
/// `[body.shape.mesh]`
pub static MESH: &[Key] = &[
    need("file", "file = \"bunny.obj\"", "OBJ, PLY, STL, glTF or GLB file, relative to the file that names it"),
    key("weld", "weld = true", "whether vertices at the same place become one"),
];
/// `[body.shape.saved]`
pub static SAVED: &[Key] = &[need(
    "file",
    "file = \"hoop.shape.json\"",
    "file of `goop export --to shape`, relative to the file that names it",
)];

/// `[body.material]`
pub static MATERIAL: &[Key] = &[
    key("preset", "preset = \"rubber\"", "values to start from"),
    key("density", "density = 1000.0", "density (kg/m³): water 1000, foam 60, steel 7850"),
    key("young", "young = 1e6", "Young's modulus (Pa): jelly 1e4, rubber 2e6, wood 1e10, steel 2e11"),
    key("poisson", "poisson = 0.3", "Poisson's ratio, above -1 and below 0.5"),
    key("thickness", "thickness = 0.001", "thickness of surfaces (m)"),
    key("radius", "radius = 0.005", "radius of curves (m)"),
    key("damping", "damping = 0.05", "damping ratio of the lowest stretching mode, 0 to 10"),
    key("drag", "drag = 0.1", "drag of the surrounding medium per mass (1/s)"),
    key("friction", "friction = 0.4", "Coulomb friction against obstacles and other bodies"),
    key("restitution", "restitution = 0.5", "share of the speed with which rigid and hybrid bodies rebound, 0 to 1"),
    key("yield", "yield = 0.02", "strain taken without flowing; 0 flows under any"),
    key("flow", "flow = 2.0", "rate at which strain beyond the yield strain stays (1/s); without it, at once"),
    key("flow-limit", "flow-limit = 0.5", "strain of the rest shape at which flow ends"),
    key("tear", "tear = 0.3", "relative stretch at which an edge of the grid breaks"),
    key("weights", "[body.material.weights]", "published weights instead of young and poisson"),
    key("raw", "[body.material.raw]", "a paper's constants instead of young, poisson and damping"),
    key("region", "[[body.material.region]]", "parts of the body with other values"),
];

/// `[body.material.raw]`
pub static RAW: &[Key] = &[
    need("k", "k = 100.0", "spring constant of grid edges (N/m)"),
    key("d", "d = 1.0", "damper on every spring (N s/m)"),
    key("c", "c = 0.1", "damper of every node against the medium (N s/m)"),
    need("node-mass", "node-mass = 1.0", "mass of every node (kg)"),
    key("rest", "rest = [0.1, 0.1]", "rest length per direction (m), or one number for all"),
    key("shear", "shear = 50.0", "diagonal springs (N/m)"),
    key("bend", "bend = 10.0", "bend stencil (N/m)"),
];

/// `[body.material.weights]`
pub static WEIGHTS: &[Key] = &[
    key("zero", "zero = 0.0", "of the displacement itself (hybrid)"),
    key("first", "first = [100.0, 100.0, 0.0]", "stretching along each axis"),
    key("shear", "shear = [50.0, 0.0, 0.0]", "shear 12, 13, 23 (primal)"),
    key("second", "second = [0.1, 0.1, 0.0]", "bending along each axis"),
    key("mixed", "mixed = [0.1, 0.0, 0.0]", "mixed second derivatives 12, 13, 23"),
    key("twist", "twist = 0.01", "torsion of a curve (primal)"),
];

/// `[[body.material.region]]`
pub static REGION: &[Key] = &[
    need("at", "at = { uv = [[0.0, 0.0], [0.5, 1.0]] }", "which nodes"),
    key("density", "density = 1000.0", "density (kg/m³)"),
    key("young", "young = 1e6", "Young's modulus (Pa): jelly 1e4, rubber 2e6, wood 1e10, steel 2e11"),
    key("thickness", "thickness = 0.001", "thickness of surfaces (m)"),
    key("damping", "damping = 0.05", "damping ratio, 0 to 10"),
    key("k", "k = 100.0", "spring constant beside [body.material.raw] (N/m)"),
    key("weight", "weight = 2.0", "factor of [body.material.weights]"),
];

/// `[body.solver]`
pub static SOLVER: &[Key] = &[
    key("newton", "newton = 1", "Newton iterations a step, 1 to 50"),
    key("tolerance", "tolerance = 1e-6", "relative residual of the linear solve"),
    key("linear", "linear = \"auto\"", "linear solver"),
    key("preconditioner", "preconditioner = \"jacobi\"", "preconditioner of conjugate gradients"),
    key("max-iterations", "max-iterations = 200", "cap on conjugate-gradient iterations and sweeps of SOR"),
    key("by-parts", "by-parts = true", "solve implicit steps part by part"),
];

/// `[[body.pin]]`
pub static PIN: &[Key] = &[
    need("at", "at = \"corners\"", "which nodes"),
    key("stiffness", "stiffness = 1000.0", "spring constant of a compliant pin (N/m)"),
    key("key", "[[body.pin.key]]", "motion of the pinned nodes"),
    key("drive", "[body.pin.drive]", "the pinned nodes are a rigid block that forces drive"),
];

/// `[body.pin.drive]` and `[body.bone.drive]`
pub static DRIVE: &[Key] = &[
    need("mass", "mass = 27.0", "mass of the block (kg)"),
    key("push", "push = [{ time = 0.0, newtons = [2000.0, 0.0, 0.0] }]", "forces on the block"),
    key("file", "file = \"push.txt\"", "forces on the block as lines of a text file"),
    key("reaction", "reaction = true", "the flesh pushes back on the block; false when absent, as published"),
];

/// `[[body.pin.drive.push]]`
pub static PUSH: &[Key] = &[
    need("time", "time = 0.0", "when (s)"),
    key("newtons", "newtons = [2000.0, 0.0, 0.0]", "the force from then on (N); none when absent"),
    key("stop", "stop = true", "the velocity is set to zero"),
    key("hold", "hold = true", "the weight is carried from then on"),
    key("release", "release = true", "the weight is carried no longer"),
    key("turn", "turn = [0.0, 90.0, 0.0]", "it turns so fast from then on (degrees/s); not at all when absent"),
];

/// `[[body.pin.key]]` and `[[obstacle.key]]`
pub static KEYFRAME: &[Key] = &[
    need("time", "time = 1.0", "when (s)"),
    key("position", "position = [0.0, 1.0, 0.0]", "where (m): for pins an offset from the start"),
    key("rotation", "rotation = [0.0, 90.0, 0.0]", "rotation about x, then y, then z (degrees)"),
];

/// `[[body.load]]`: one of these.
pub static LOAD: &[Key] = &[
    key("force", "force = { at = \"center\", newtons = [0.0, 1.0, 0.0] }", "a force on a selection"),
    key("pressure", "pressure = { pascals = 100.0 }", "a pressure in a closed surface"),
];

const COURSE: Key = key("course", "course = [[0.0, 0.0], [1.0, 1.0]]", "factor over time: [[time, factor], …]");

/// `[body.load.force]`
pub static FORCE: &[Key] = &[
    need("at", "at = \"center\"", "which nodes"),
    need("newtons", "newtons = [0.0, 1.0, 0.0]", "total force (N)"),
    COURSE,
];
/// `[body.load.pressure]`
pub static PRESSURE: &[Key] = &[
    need("pascals", "pascals = 100.0", "excess pressure (Pa)"),
    COURSE,
    key("gas", "gas = false", "whether the pressure falls as the volume grows"),
];

/// `[[body.drive]]`: a time and one of thruster, gyro, servo and impulse.
pub static BODY_DRIVE: &[Key] = &[
    key("from", "from = 1.0", "from when it acts (s)"),
    key("until", "until = 2.0", "until when (s)"),
    key("thruster", "thruster = { newtons = [0.0, 5.0, 0.0] }", "a force"),
    key("gyro", "gyro = { newton-meters = [0.0, 0.1, 0.0] }", "a torque"),
    key("servo", "servo = { path = [{ time = 1.0, position = [1.0, 0.5, 0.0] }] }", "follows a path"),
    key("impulse", "impulse = { newton-seconds = [0.0, 1.0, 0.0] }", "a blow"),
];
const AXES: Key = key("axes", "axes = \"body\"", "whose axes: body or world");
/// `[body.drive.thruster]`
pub static THRUSTER: &[Key] = &[
    key("at", "at = { nearest = [0.0, 1.0, 0.0] }", "nodes that share it by mass; absent: the centre of mass"),
    need("newtons", "newtons = [0.0, 5.0, 0.0]", "the force (N)"),
    AXES,
    COURSE,
];
/// `[body.drive.gyro]`
pub static GYRO: &[Key] = &[need("newton-meters", "newton-meters = [0.0, 0.1, 0.0]", "the torque (N m)"), AXES, COURSE];
/// `[body.drive.servo]`
pub static SERVO: &[Key] = &[
    need("path", "path = [{ time = 1.0, position = [1.0, 0.5, 0.0] }]", "where it should be, and how turned"),
    key("holds", "holds = \"both\"", "what it holds: both, position or attitude"),
    key("along", "along = \"xz\"", "directions in which the place is held"),
    key("response", "response = 0.3", "time after which 5 % of an error are left (s)"),
    key("damping", "damping = 1.0", "damping ratio; 1 does not overshoot"),
    key("carries-weight", "carries-weight = true", "whether it carries the weight in the directions it holds"),
    key("most-newtons", "most-newtons = 20.0", "most force (N)"),
    key("most-newton-meters", "most-newton-meters = 2.0", "most torque (N m)"),
];
/// `[body.drive.impulse]`
pub static IMPULSE: &[Key] = &[
    key("newton-seconds", "newton-seconds = [0.0, 1.0, 0.0]", "momentum at the centre of mass (N s)"),
    key("newton-meter-seconds", "newton-meter-seconds = [0.0, 0.1, 0.0]", "angular momentum about it (N m s)"),
    AXES,
];

/// `[[choreography]]`
pub static CHOREOGRAPHY: &[Key] = &[
    ON_BODY,
    key("response", "response = 0.25", "response time of its servo (s)"),
    key("strength", "strength = 2.0", "most force of its servo, over the weight"),
    need("move", "move = [{ time = 1.0, hop = 0.1 }]", "the moves, in the order of time"),
];
/// `[[choreography.move]]`
pub static MOVE: &[Key] = &[
    need("time", "time = 1.0", "when it begins (s)"),
    key("seconds", "seconds = 1.0", "how long it takes (s)"),
    key("to", "to = [0.2, 0.0]", "where to: x and z (m)"),
    key("turn", "turn = 90.0", "heading, from that at the start about y (degrees)"),
    key("hop", "hop = 0.1", "hops this high (m)"),
    key("squash", "squash = 3.0", "is pressed down before a hop with this many times its weight"),
    key("bow", "bow = 40.0", "bows by this angle, stays and comes up (degrees)"),
    key("roll", "roll = true", "whether its attitude is let go until the next move that does not roll"),
];

/// A selection: a word, or one of these.
pub static SELECTION: &[Key] = &[
    key("corner", "{ corner = [0, 1] }", "one corner: 0 or 1 per axis"),
    key("edge", "{ edge = \"u0\" }", "one side of the grid: u0, u1, v0, v1, w0 or w1"),
    key("uv", "{ uv = [[0.0, 0.0], [0.5, 1.0]] }", "material coordinates: [low, high], one value per axis each"),
    key("box", "{ box = [[-1.0, 0.0, -1.0], [1.0, 1.0, 1.0]] }", "box in the world at the start: [low, high] (m)"),
    key("sphere", "{ sphere = { center = [0.0, 1.0, 0.0], radius = 0.1 } }", "sphere in the world at the start"),
    key("index", "{ index = [0, 19] }", "node numbers, from 0"),
    key("nearest", "{ nearest = [0.0, 1.0, 0.0] }", "the node nearest a point in the world at the start (m)"),
    key("group", "{ group = \"hand\" }", "a named vertex group of a mesh file"),
    key("depth", "{ depth = [0.0, 0.02] }", "range of depth under the skin of a character (m)"),
    key("part", "{ part = \"LeftArm\" }", "nodes of a character that belong most to a bone"),
];
/// `{ sphere = … }`
pub static SELECTION_SPHERE: &[Key] = &[need("center", "center = [0.0, 1.0, 0.0]", "centre (m)"), RADIUS];

/// `[[contact]]`
pub static CONTACT: &[Key] = &[
    need("bodies", "bodies = [\"ball\", \"sheet\"]", "two bodies; the same twice for one and itself"),
    key("meet", "meet = false", "whether they touch at all"),
    key("friction", "friction = 0.1", "Coulomb friction between the two"),
    key("restitution", "restitution = 0.8", "share of the speed with which they part, 0 to 1"),
];

/// `[[obstacle]]`
pub static OBSTACLE: &[Key] = &[
    need("name", "name = \"floor\"", "unique name: letters, digits, - and _"),
    key("color", "color = [0.6, 0.4, 0.2]", "colour in pictures: red, green, blue, 0 to 1"),
    need("shape", "shape.plane = {}", "the geometry"),
    key("position", "position = [0.0, 0.0, 0.0]", "where its centre is (m)"),
    key("rotation", "rotation = [0.0, 0.0, 10.0]", "rotation about x, then y, then z (degrees)"),
    key("hollow", "hollow = false", "whether bodies are kept inside"),
    key("friction", "friction = 0.4", "Coulomb friction"),
    key("restitution", "restitution = 0.5", "share of the speed with which rigid and hybrid bodies rebound, 0 to 1"),
    key("range", "range = 0.005", "distance at which it begins to push (m)"),
    key("stiffness", "stiffness = 1e4", "force per metre when the whole body touches (N/m)"),
    key("damping", "damping = 0.2", "damping ratio of the approach, 0 to 10"),
    key("tolerance", "tolerance = 1e-4", "no node may be deeper than this (m)"),
    key("published", "published = { c = 1.0, xi = 0.1 }", "the potential of the papers instead"),
    key("key", "[[obstacle.key]]", "motion"),
];

/// `[obstacle.shape]`: one of these.
pub static OBSTACLE_SHAPE: &[Key] = &[
    key("plane", "plane = {}", "half space below the local xz plane"),
    key("sphere", "sphere = { radius = 0.5 }", "ball"),
    key("ellipsoid", "ellipsoid = { radii = [0.5, 0.3, 0.5] }", "half axes"),
    key("torus", "torus = { radius = 0.5, tube = 0.15 }", "about local y"),
    key("hyperboloid", "hyperboloid = { waist = 0.3, slope = 0.4, height = 1.0 }", "one sheet about local y"),
    key("capsule", "capsule = { radius = 0.1, length = 0.5 }", "segment along local y with round ends"),
    key("box", "box = { size = [1.0, 1.0, 1.0], round = 0.02 }", "block with rounded edges"),
    key("mesh", "mesh = { file = \"bowl.obj\" }", "triangles of a file: solid where closed, a wall where open"),
];

/// `[obstacle.shape.mesh]`
pub static OBSTACLE_MESH: &[Key] = &[
    need("file", "file = \"bowl.obj\"", "OBJ, PLY, STL, glTF or GLB file, relative to the file that names it"),
    key("thickness", "thickness = 0.004", "thickness of the wall where the mesh is open (m)"),
];
/// `[obstacle.shape.plane]`
pub static PLANE: &[Key] = &[];
/// `[obstacle.shape.sphere]`
pub static OBSTACLE_SPHERE: &[Key] = &[RADIUS];
/// `[obstacle.shape.ellipsoid]`
pub static ELLIPSOID: &[Key] = &[need("radii", "radii = [0.5, 0.3, 0.5]", "half axes (m)")];
/// `[obstacle.shape.torus]`
pub static OBSTACLE_TORUS: &[Key] = &[RADIUS, TUBE];
/// `[obstacle.shape.hyperboloid]`
pub static HYPERBOLOID: &[Key] = &[
    need("waist", "waist = 0.3", "radius at the waist (m)"),
    need("slope", "slope = 0.4", "height over which it widens (m)"),
    HEIGHT,
];
/// `[obstacle.shape.capsule]`
pub static CAPSULE: &[Key] = &[RADIUS, need("length", "length = 0.5", "length of the straight part (m)")];
/// `[obstacle.shape.box]`
pub static OBSTACLE_BOX: &[Key] = &[
    need("size", "size = [1.0, 1.0, 1.0]", "full side lengths (m)"),
    key("round", "round = 0.02", "radius of the edges (m), at most half the shortest side"),
];

/// `[obstacle.published]`
pub static PUBLISHED: &[Key] = &[
    need("c", "c = 1.0", "height of the potential (J)"),
    need("xi", "xi = 0.1", "decay, in units of the implicit function"),
];

/// `[[attach]]`
pub static ATTACH: &[Key] = &[
    need("body", "body = \"cloth\"", "whose nodes are fastened"),
    need("at", "at = { edge = \"u0\" }", "which nodes"),
    key("to", "to = \"ball\"", "the other body"),
    key("bone", "bone = \"hand\"", "a bone of the other body"),
    key("obstacle", "obstacle = \"arm\"", "an obstacle, in place of a body"),
];

/// `[[probe]]`
pub static PROBE: &[Key] = &[
    need("name", "name = \"tip\"", "unique name: letters, digits, - and _"),
    need("body", "body = \"sheet\"", "which body"),
    need("at", "at = \"center\"", "which nodes; \"center\" is the centre of mass"),
];

/// `[[event]]`: a time and one edit.
pub static EVENT: &[Key] = &[
    need("time", "time = 1.0", "when (s)"),
    key("pin", "pin = { body = \"sheet\", at = \"corners\" }", "hold nodes where they are"),
    key("unpin", "unpin = { body = \"sheet\", at = \"all\" }", "let nodes go"),
    key(
        "grab",
        "grab = { body = \"sheet\", at = \"center\", to = [0.0, 1.0, 0.0], stiffness = 100.0 }",
        "pull nodes towards a point",
    ),
    key("release", "release = { body = \"sheet\" }", "end every grab of a body"),
    key("parameter", "parameter = { body = \"sheet\", key = \"young\", value = 1e6 }", "change one value"),
    key(
        "add",
        "add = { name = \"ball\", shape.sphere = { radius = 0.2 }, position = [0.0, 1.0, 0.0] }",
        "another obstacle",
    ),
    key("obstacle", "obstacle = { name = \"floor\", remove = true }", "move an obstacle or take it away"),
    key("impulse", "impulse = { body = \"sheet\", at = \"center\", newton-seconds = [0.0, 1.0, 0.0] }", "add momentum"),
    key("stop", "stop = { body = \"sheet\" }", "set every velocity of a body to nought"),
    key(
        "thrust",
        "thrust = { body = \"sheet\", at = \"center\", newtons = [0.0, 1.0, 0.0] }",
        "a steady force until it is changed",
    ),
    key("formulation", "formulation = { body = \"sheet\", to = \"spring\" }", "carry on with another model"),
];

const ON_BODY: Key = need("body", "body = \"sheet\"", "which body");
const AT: Key = need("at", "at = \"corners\"", "which nodes");

/// `[event.pin]`
pub static EDIT_PIN: &[Key] =
    &[ON_BODY, AT, key("stiffness", "stiffness = 1000.0", "spring constant of a compliant pin (N/m)")];
/// `[event.unpin]`
pub static EDIT_UNPIN: &[Key] = &[ON_BODY, key("at", "at = \"all\"", "which nodes; all of them when absent")];
/// `[event.grab]`
pub static EDIT_GRAB: &[Key] = &[
    ON_BODY,
    AT,
    need("to", "to = [0.0, 1.0, 0.0]", "the point they are pulled to (m)"),
    need("stiffness", "stiffness = 100.0", "spring constant (N/m)"),
];
/// `[event.release]` and `[event.stop]`
pub static EDIT_BODY: &[Key] = &[ON_BODY];
/// `[event.parameter]`
pub static EDIT_PARAMETER: &[Key] = &[
    key("body", "body = \"sheet\"", "which body; absent for gravity, wind and dt"),
    need("key", "key = \"young\"", "a key of the material card, or gravity, wind or dt"),
    need("value", "value = 1e6", "a number; for gravity and wind a list of three"),
];
/// `[event.obstacle]`
pub static EDIT_OBSTACLE: &[Key] = &[
    need("name", "name = \"floor\"", "which obstacle"),
    key("position", "position = [0.0, 1.0, 0.0]", "where it goes (m)"),
    key("remove", "remove = true", "whether it is taken away"),
];
/// `[event.impulse]`
pub static EDIT_IMPULSE: &[Key] =
    &[ON_BODY, AT, need("newton-seconds", "newton-seconds = [0.0, 1.0, 0.0]", "momentum (N s)")];
/// `[event.formulation]`
pub static EDIT_FORMULATION: &[Key] = &[
    ON_BODY,
    need("to", "to = \"spring\"", "the model to carry on with"),
    key("integrator", "integrator = \"implicit-midpoint\"", "an integrator other than the model's own"),
];
/// `[event.thrust]`
pub static EDIT_THRUST: &[Key] =
    &[ON_BODY, AT, need("newtons", "newtons = [0.0, 1.0, 0.0]", "the force from then on (N); nought ends it")];

/// `[camera]`
pub static CAMERA: &[Key] = &[
    need("position", "position = [0.0, 1.0, 4.0]", "where the eye is (m)"),
    key("look-at", "look-at = [0.0, 0.5, 0.0]", "what it looks at (m)"),
    key("lens", "lens = 50.0", "lens on a 36 mm frame (mm)"),
    key("orbit", "orbit = 20.0", "turns around the target (degrees/s)"),
];
