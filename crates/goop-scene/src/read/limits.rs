//! Bounds on what a file may ask for. Wide enough for any scene, narrow enough
//! that products of two of them stay finite and memory stays bounded.

use crate::reader::Range;

/// Coordinates (m).
pub const COORDINATE: Range = Range::size(1e9);
/// Sizes of shapes (m).
pub const LENGTH: Range = Range::within(1e-9, 1e6);
/// Angles (degrees).
pub const ANGLE: Range = Range::size(1e6);
/// Velocities (m/s) and angular velocities (rad/s).
pub const SPEED: Range = Range::size(1e6);
/// Accelerations (m/s²).
pub const ACCELERATION: Range = Range::size(1e6);
/// Rates of turning (degrees/s).
pub const TURN: Range = Range::size(36_000.0);
/// Forces (N), pressures (Pa), impulses (N s).
pub const FORCE: Range = Range::size(1e15);
/// Spring constants (N/m) that must be there.
pub const STIFFNESS: Range = Range::above(0.0, 1e15);
/// Constants of springs and dampers that may be nought.
pub const CONSTANT: Range = Range::within(0.0, 1e15);
/// Times of keys and events (s).
pub const TIME: Range = Range::within(0.0, 86_400.0);
/// Largest steps (s).
pub const STEP: Range = Range::within(1e-9, 1.0);
/// Scale factors; nought is refused by the reader.
pub const SCALE: Range = Range::size(1e6);
/// Factors by which a body starts stretched.
pub const STRETCH: Range = Range::within(0.01, 100.0);
/// Density (kg/m³).
pub const DENSITY: Range = Range::above(0.0, 1e9);
/// Young's modulus (Pa).
pub const YOUNG: Range = Range::within(1e-3, 1e15);
/// Poisson's ratio.
pub const POISSON: Range = Range::between(-1.0, 0.5);
/// Thickness and radius (m).
pub const THICKNESS: Range = Range::within(1e-9, 1e3);
/// Damping ratio.
pub const DAMPING: Range = Range::within(0.0, 10.0);
/// Drag (1/s).
pub const DRAG: Range = Range::within(0.0, 1e6);
/// Coulomb friction.
pub const FRICTION: Range = Range::within(0.0, 100.0);
/// Restitution.
pub const RESTITUTION: Range = Range::within(0.0, 1.0);
/// Strains.
pub const STRAIN: Range = Range::within(0.0, 1e3);
/// Strains that end something.
pub const STRAIN_LIMIT: Range = Range::above(0.0, 1e3);
/// Rates of flow (1/s).
pub const RATE: Range = Range::above(0.0, 1e9);
/// Parts of a colour.
pub const COLOR: Range = Range::within(0.0, 1.0);
/// Response times of servos (s).
pub const RESPONSE: Range = Range::within(1e-3, 1e3);
/// Masses (kg).
pub const MASS: Range = Range::above(0.0, 1e12);

/// Nodes of one body.
pub const MAX_BODY_NODES: u64 = 2_000_000;
/// Nodes of a scene.
pub const MAX_SCENE_NODES: u64 = 5_000_000;
/// Steps of a run.
pub const MAX_STEPS: f64 = 1e9;
/// Frames of a run.
pub const MAX_FRAMES: f64 = 1e6;
/// Points of a spline.
pub const MAX_POINTS: usize = 100_000;
/// Rows and columns of a control net: the degree of a patch is one less.
pub const MAX_NET: usize = 32;
/// Characters of a name.
pub const MAX_NAME: usize = 64;
/// Parts of a body; each has a map of its own.
pub const MOST_PARTS: u32 = 64;
