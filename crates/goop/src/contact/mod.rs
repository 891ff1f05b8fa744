//! Contact with obstacles.
//!
//! A node nearer than the range ξ of an obstacle feels a potential in true
//! distance s, a damper along the normal, and Coulomb friction by a tangential
//! spring whose anchor slips when it would pull harder than friction allows:
//! ```text
//! E = ½ k (ξ - s)²    N = k (ξ - s)    f = N n - d (v·n) n + t             s < ξ
//! stick: t = -k (x - a)_t - d v_t      while |t| ≤ μ N
//! slip:  |t| = μ N against the motion, the anchor a follows               [GO] eq 26
//! ```
//! What still gets past the surface in a step, however fast, is found by tracing
//! the node's path through the distance field and put back on the surface; the
//! energy that costs is in the ledger as impact.
//!
//! Departs from the papers: they use c·exp(-f/ξ) with an f that has no length
//! unit (selectable as `published`); they have no friction and no guarantee.

pub mod bodies;
pub mod obstacle;
mod touch;

pub use bodies::{BodyContact, Meetings, PairRule, Tie};
pub use obstacle::{Obstacle, ObstacleMesh, ObstacleShape, Published};
pub use touch::Touch;

use crate::animate::Pose;
use crate::model::{Body, Model};
use crate::parallel::Chunks;
use glam::{DMat3, DVec3};
use touch::Hold;

/// Where a node sticks to an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Anchor {
    /// Which node.
    pub node: u32,
    /// Which obstacle.
    pub obstacle: u32,
    /// The point in the obstacle's own axes (m).
    pub local: DVec3,
    /// Speed with which the node is to leave in the next step (m/s); 0: none.
    pub rebound: f64,
}

/// A node of a rigid or framed body that meets an obstacle within a step.
///
/// It reaches the surface at the end of that step and leaves it in the next one, with the share e of the speed it had:
/// ```text
/// v² = v₀ v₁ + 2 (v₁ - v₀) g/h      speed at the surface: a fall with v first, then x, keeps ½v² - a x + ½ a h v
/// u = √((e v)² + (½ a h)²) - ½ a h  a h = v₁ - v₀, and so for the way back
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Impact {
    /// e (-).
    pub restitution: f64,
    /// Speed of approach at the start, v₀, and at the end were there no obstacle, v₁ (m/s).
    pub approach: [f64; 2],
    /// Distance at the start, g (m).
    pub gap: f64,
}

impl Impact {
    /// What a body has with an obstacle: the larger of both, as for friction.
    pub fn restitution(body: &Body, obstacle: &Obstacle) -> f64 {
        obstacle.restitution.max(body.material.card.restitution)
    }

    /// Speed with which the node is to leave in the step that follows (m/s); slow ones come to rest.
    pub fn rebound(&self, gravity: f64, dt: f64) -> f64 {
        let [start, end] = self.approach;
        let gain = end - start;
        let speed = (start * end + 2.0 * gain / dt * self.gap.max(0.0)).max(0.0).sqrt();
        if self.restitution > 0.0 && start > 0.0 && speed > (2.0 * gravity * dt).max(1e-2) {
            (self.restitution * speed).hypot(0.5 * gain) - 0.5 * gain
        } else {
            0.0
        }
    }
}

/// Energy with which obstacles threw a body off in a step (J), that the impact before it seemed to cost: none of it comes
/// from nowhere.
pub fn thrown(anchors: &[Anchor], impact_before: f64, impact: f64) -> f64 {
    if anchors.iter().any(|a| a.rebound > 0.0) { (impact_before - impact).max(0.0) } else { 0.0 }
}

/// Speed with which a node is to leave an obstacle in this step (m/s).
pub fn rebound(anchors: &[Anchor], node: u32, obstacle: u32) -> f64 {
    anchors.binary_search_by_key(&(node, obstacle), |a| (a.node, a.obstacle)).map_or(0.0, |k| anchors[k].rebound)
}

/// n nᵀ
fn along(n: DVec3) -> DMat3 {
    DMat3::from_cols(n * n.x, n * n.y, n * n.z)
}

/// Stiffness with which an obstacle pushes one node of a body (N/m).
///
/// Unless given, the whole body together gets the constant that stops 3 m/s within
/// the range, or carries twenty times the weight, whichever is more; a node has its
/// share by mass, and in a solid that of the column above it.
pub fn node_stiffness(model: &Model, body: &Body, obstacle: &Obstacle, node: usize, mass: f64) -> f64 {
    let total = obstacle
        .stiffness
        .unwrap_or_else(|| mass * (20.0 * model.gravity.length() / obstacle.range).max((3.0 / obstacle.range).powi(2)));
    total * (body.column() * body.masses[node] / mass).min(1.0)
}

/// Finds the touches of one body.
///
/// `ahead` (s) is how far an implicit step looks: a node counts if it might touch
/// when it has moved on for that long, the obstacle too, and its force is the
/// potential's, carried back to `x` along the normal, so that the solve arrives at the
/// right force instead of running into the surface first. Whether it does press is
/// for the solve to say (`released`). Explicit steps and accounts look at `x` itself, `ahead` = 0.
/// `dt` (s) is the coming step, which decides whether friction will hold; where there is none, friction is left to
/// [`drag_anchors`].
pub fn find(
    model: &Model,
    body: &Body,
    poses: &[Pose],
    ahead: f64,
    dt: Option<f64>,
    x: &[DVec3],
    v: &[DVec3],
    anchors: &[Anchor],
    touches: &mut Vec<Touch>,
) {
    touches.clear();
    if model.obstacles.iter().all(|o| o.removed) {
        return;
    }
    let mass = body.mass();
    let planes = planes(model, poses);
    // Anchors are in the order in which they are looked for.
    let mut anchors = anchors;
    let is_far = |node: usize, index: usize| {
        let (obstacle, pose, position) = (&model.obstacles[index], &poses[index], x[node]);
        if let Some(plane) = planes.get(index).copied().flatten() {
            return obstacle.removed || plane.is_far(position, v[node], ahead, obstacle);
        }
        match obstacle.bounding_radius() {
            _ if obstacle.removed => true,
            Some(radius) if obstacle.published.is_none() => {
                let relative = v[node] - obstacle.surface_velocity(position, pose);
                let reach = radius + 2.0 * obstacle.range + ahead * at_most(relative);
                position.distance_squared(pose.position) > reach * reach
            }
            _ => false,
        }
    };
    let count = model.obstacles.len();
    let runs = Chunks::new(x.len()).runs(|node| (0..count).any(|index| !is_far(node, index)));
    for node in runs.nodes() {
        for (index, obstacle) in model.obstacles.iter().enumerate() {
            if is_far(node, index) {
                continue;
            }
            let pose = &poses[index];
            let friction = obstacle.friction.max(body.material.card.friction);
            let key = (node as u32, index as u32);
            while anchors.first().is_some_and(|a| (a.node, a.obstacle) < key) {
                anchors = &anchors[1..];
            }
            let anchor = anchors.first().filter(|a| (a.node, a.obstacle) == key);
            if let Some(touch) = touch(
                obstacle,
                index,
                pose,
                node,
                || node_stiffness(model, body, obstacle, node, mass),
                body.masses[node],
                friction,
                ahead,
                dt,
                x[node],
                v[node],
                anchor,
            ) {
                touches.push(touch);
            }
        }
    }
}

/// What the length of a vector is at most, without a root.
pub(crate) fn at_most(v: DVec3) -> f64 {
    v.x.abs() + v.y.abs() + v.z.abs()
}

/// So many obstacles are known beforehand where they are planes.
const FIRST: usize = 8;

/// A plane that most nodes are out of reach of: two products tell.
#[derive(Clone, Copy)]
pub(crate) struct Plane {
    normal: DVec3,
    point: DVec3,
    /// How fast it moves along its normal, and what its turning adds to that by place.
    velocity: f64,
    spin: DVec3,
}

impl Plane {
    fn is_far(&self, x: DVec3, v: DVec3, ahead: f64, obstacle: &Obstacle) -> bool {
        let offset = x - self.point;
        let here = self.normal.dot(offset);
        let there = here + ahead * (self.normal.dot(v) - self.velocity - self.spin.dot(offset));
        // Twice the range is as far as an implicit step looks.
        here.min(there) > 2.0 * obstacle.range * (1.0 + 1e-9)
    }

    /// Height over it (m).
    pub(crate) fn above(&self, x: DVec3) -> f64 {
        self.normal.dot(x - self.point)
    }
}

/// Which of the first obstacles are planes.
pub(crate) fn planes(model: &Model, poses: &[Pose]) -> [Option<Plane>; FIRST] {
    let mut planes = [None; FIRST];
    for ((plane, obstacle), pose) in planes.iter_mut().zip(&model.obstacles).zip(poses) {
        if !obstacle.hollow && obstacle.published.is_none() && matches!(obstacle.shape, ObstacleShape::Plane) {
            let normal = pose.rotation * DVec3::Y;
            // n·(ω×r) = (n×ω)·r
            let (velocity, spin) = (normal.dot(pose.velocity), normal.cross(pose.spin));
            *plane = Some(Plane { normal, point: pose.position, velocity, spin });
        }
    }
    planes
}

fn touch(
    obstacle: &Obstacle,
    index: usize,
    pose: &Pose,
    node: usize,
    stiffness: impl Fn() -> f64,
    mass: f64,
    friction: f64,
    ahead: f64,
    dt: Option<f64>,
    x: DVec3,
    v: DVec3,
    anchor: Option<&Anchor>,
) -> Option<Touch> {
    let surface_velocity = obstacle.surface_velocity(x, pose);
    let relative = v - surface_velocity;
    let gap = obstacle.gap(x + ahead * relative, pose);
    let n = gap.normal;
    // Distance at x itself, measured along the normal of where it is going.
    let here = gap.distance - ahead * relative.dot(n);
    // Forces may bring a node in that its velocity alone would not.
    let reach = if ahead > 0.0 { 2.0 * obstacle.range } else { obstacle.range };
    if obstacle.published.is_none() && gap.distance.min(here) >= reach {
        return None;
    }
    let k = stiffness();
    let (energy, push, stiffness) = if let Some(published) = obstacle.published {
        // Beyond forty decay lengths the potential is less than rounding of its height.
        let (energy, force, stiffness) = obstacle.published_potential(x, pose);
        if energy < published.c * 1e-17 {
            return None;
        }
        (energy, force, stiffness)
    } else {
        let over = obstacle.range - here;
        (0.5 * k * over * over, k * over * n, along(n) * k)
    };
    let damper = 2.0 * obstacle.damping * (k * mass).sqrt();
    let normal_force = push.dot(n).max(0.0);
    // The damper may slow the approach, not pull back a node that leaves.
    let approaching = relative.dot(n) < 0.0;
    let damping = if approaching { along(n) * damper } else { DMat3::ZERO };

    // Friction.
    let local = |p: DVec3| pose.rotation.inverse() * (p - pose.position);
    let world = |p: DVec3| pose.position + pose.rotation * p;
    let flat = |p: DVec3| p - p.dot(n) * n;
    let anchor = anchor.map_or_else(|| local(x), |a| a.local);
    let mut touch = Touch {
        pressing: stiffness * n,
        node: node as u32,
        obstacle: index as u32,
        gap: here,
        normal: n,
        energy,
        push,
        friction: DVec3::ZERO,
        hold: Hold::default(),
        slips: false,
        friction_energy: 0.0,
        stiffness,
        friction_stiffness: DMat3::ZERO,
        damping,
        surface_velocity,
        carried: DVec3::ZERO,
        anchor,
        released: false,
        let_go: false,
        turned: false,
    };
    if friction > 0.0
        && let Some(dt) = dt
    {
        let limit = friction * normal_force;
        let pull = -k * flat(x - world(anchor));
        let pull = pull.clamp_length_max(limit);
        touch.friction_energy = 0.5 * pull.length_squared() / k;
        touch.hold = Hold { pull, limit, stiffness: k, damping: damper };
        touch.stiffness = stiffness;
        touch.damping = damping;
        let trial = touch.trial(dt * relative);
        if trial.length() <= limit {
            touch.stick();
        } else {
            touch.slip(trial, ahead * relative);
        }
    }
    Some(touch)
}

/// Lets anchors follow where friction slipped: new anchors from the touches at the
/// end of a step.
pub fn drag_anchors(
    model: &Model,
    body: &Body,
    poses: &[Pose],
    touches: &mut [Touch],
    x: &[DVec3],
    anchors: &mut Vec<Anchor>,
) {
    anchors.clear();
    let mass = body.mass();
    for touch in touches {
        let (node, pose) = (touch.node as usize, &poses[touch.obstacle as usize]);
        let obstacle = &model.obstacles[touch.obstacle as usize];
        let friction = obstacle.friction.max(body.material.card.friction);
        let k = node_stiffness(model, body, obstacle, node, mass);
        let n = touch.normal;
        let anchor = pose.position + pose.rotation * touch.anchor;
        let offset = x[node] - anchor;
        let flat = offset - offset.dot(n) * n;
        let limit = friction * touch.push.length() / k;
        let held = flat.clamp_length_max(limit);
        let local = pose.rotation.inverse() * (x[node] - held - pose.position);
        touch.anchor = local;
        touch.friction_energy = 0.5 * k * held.length_squared();
        anchors.push(Anchor { node: touch.node, obstacle: touch.obstacle, local, rebound: 0.0 });
    }
}
