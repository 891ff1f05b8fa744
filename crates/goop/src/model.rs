//! What does not change while time runs: bodies, obstacles, settings.
//!
//! Changes happen between steps only, through an [`Edit`].

use crate::animate::{Course, Motion, Pose};
use crate::character::{Parts, Posed, Sampled};
use crate::contact::{BodyContact, Obstacle, PairRule, Tie};
use crate::drive::Drive;
use crate::elastic::{Elasticity, Finite, Metric, Spline, lattice};
use crate::material::MaterialField;
use crate::shape::{Dimension, Shape, Unwelded};
use crate::solve;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Axis 1: which energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElasticityKind {
    /// None: the body cannot deform.
    None,
    /// Springs.
    Springs,
    /// Metric and curvature tensors; forces are the exact gradient.
    Metric,
    /// The same as GO prints it: eq 9-23, secant stiffness.
    Published,
    /// Controlled-continuity spline of the displacement from the rest shape.
    Spline,
    /// Finite elements in a solid.
    Finite,
}

/// Axis 2: what the unknowns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Node positions.
    Nodal,
    /// Centre, orientation and their momenta.
    Rigid,
    /// A rigid frame and the displacement of every node from the rest shape in it.
    Framed,
    /// A quadratic map of the rest positions for every body part.
    Reduced,
}

/// Axis 3: how time advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// As in GO-spring: springs explicit, mass and drag on the diagonal.
    ExplicitDiagonal,
    /// As in Chang 5.1: x += v dt + ½ a dt², v += a dt.
    ExplicitTaylor,
    /// v first, then x.
    SymplecticEuler,
    /// First order, damps stiff motion.
    BackwardEuler,
    /// Second order, no damping of its own.
    ImplicitMidpoint,
    /// Second order, damps stiff motion only: differences backward over two steps.
    Bdf2,
    /// For rigid coordinates: momentum and angular momentum.
    Momentum,
    /// For framed coordinates: a constant matrix, factored once for every length of step.
    SemiImplicit,
}

/// A choice on each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Axis 1.
    pub elasticity: ElasticityKind,
    /// Axis 2.
    pub coordinates: Coordinates,
    /// Axis 3.
    pub integrator: Integrator,
}

impl Axes {
    /// The spring-force formulation (GO-spring).
    pub const SPRING: Axes = Axes::nodal_springs(Integrator::ExplicitDiagonal);
    /// The mass-spring model (Chang 5.1).
    pub const MASS_SPRING: Axes = Axes::nodal_springs(Integrator::ExplicitTaylor);
    /// The implicit model (Chang 5.3).
    pub const IMPLICIT: Axes = Axes::nodal_springs(Integrator::BackwardEuler);
    /// The reduced model (Chang 5.2).
    pub const REDUCED: Axes = Axes {
        elasticity: ElasticityKind::Springs,
        coordinates: Coordinates::Reduced,
        integrator: Integrator::ExplicitTaylor,
    };
    /// The primal formulation (GO) with the exact gradient.
    pub const PRIMAL: Axes = Axes {
        elasticity: ElasticityKind::Metric,
        coordinates: Coordinates::Nodal,
        integrator: Integrator::BackwardEuler,
    };
    /// The hybrid formulation (TW).
    pub const HYBRID: Axes = Axes {
        elasticity: ElasticityKind::Spline,
        coordinates: Coordinates::Framed,
        integrator: Integrator::SemiImplicit,
    };
    /// Finite elements on nodes, implicit.
    pub const FINITE: Axes = Axes {
        elasticity: ElasticityKind::Finite,
        coordinates: Coordinates::Nodal,
        integrator: Integrator::BackwardEuler,
    };
    /// A rigid body.
    pub const RIGID: Axes =
        Axes { elasticity: ElasticityKind::None, coordinates: Coordinates::Rigid, integrator: Integrator::Momentum };

    /// Springs on nodes with a given integrator.
    pub const fn nodal_springs(integrator: Integrator) -> Axes {
        Axes { elasticity: ElasticityKind::Springs, coordinates: Coordinates::Nodal, integrator }
    }

    /// Refuses an elasticity that a shape cannot have, with a sentence.
    pub fn check_shape(&self, shape: &Shape) -> Result<(), String> {
        use ElasticityKind as E;
        match self.elasticity {
            E::Finite if shape.dimension != Dimension::Solid => Err(
                "finite elements fill a solid: use a block, a ball or a sampled skin, or elasticity = \"springs\"".into(),
            ),
            E::Metric | E::Published | E::Spline if shape.tetrahedra().is_some() => Err(
                "tetrahedra have no grid to take a metric or differences on: use elasticity = \"finite\" or \"springs\"".into(),
            ),
            _ => Ok(()),
        }
    }

    /// Refuses combinations that make no sense, with a sentence.
    pub fn check(&self) -> Result<(), String> {
        use {Coordinates as C, ElasticityKind as E, Integrator as I};
        match (self.coordinates, self.elasticity, self.integrator) {
            (C::Rigid, E::None, I::Momentum) => Ok(()),
            (C::Rigid, E::None, _) => {
                Err("rigid coordinates advance by their momenta: use integrator = \"momentum\"".into())
            }
            (C::Rigid, _, _) => {
                Err("rigid coordinates cannot deform, so they take no elasticity: use elasticity = \"none\"".into())
            }
            (C::Nodal | C::Framed | C::Reduced, E::None, _) => {
                Err("nodes without an elasticity would fall apart: use elasticity = \"springs\"".into())
            }
            (C::Nodal | C::Reduced, E::Spline, _) => {
                Err("the spline energy measures displacement from a rigid frame: use coordinates = \"framed\"".into())
            }
            (C::Nodal, _, I::Momentum | I::SemiImplicit) => {
                Err("nodes take the integrators symplectic-euler, backward-euler, bdf2, implicit-midpoint, explicit-diagonal or explicit-taylor".into())
            }
            (C::Reduced, E::Published, _) => {
                Err("the published primal form is for nodal positions: use elasticity = \"metric\"".into())
            }
            (C::Reduced, _, I::ExplicitTaylor | I::SymplecticEuler | I::BackwardEuler) => Ok(()),
            (C::Reduced, _, _) => {
                Err("reduced coordinates take the integrators explicit-taylor, symplectic-euler or backward-euler".into())
            }
            (C::Framed, E::Published, _) => {
                Err("the published primal form has no stiffness at rest to build a frame on: use elasticity = \"metric\" or \"spline\"".into())
            }
            (C::Framed, _, I::SemiImplicit) | (C::Nodal, _, _) => Ok(()),
            (C::Framed, _, _) => {
                Err("framed coordinates advance by a matrix factored once: use integrator = \"semi-implicit\"".into())
            }
        }
    }
}

/// Inertial terms of framed coordinates (TW eq 9) that may be left out to see what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// μ ω×(ω×q)
    pub centrifugal: bool,
    /// 2 μ ω×ė
    pub coriolis: bool,
    /// μ ω̇×q
    pub transverse: bool,
    /// μ v̇
    pub translational: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { centrifugal: true, coriolis: true, transverse: true, translational: true }
    }
}

/// Held nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// Which nodes.
    pub nodes: Vec<u32>,
    /// Where each is held when the motion is at its origin (m).
    pub targets: Vec<DVec3>,
    /// Point that rotations of the motion turn about (m).
    pub pivot: DVec3,
    /// Motion relative to the start.
    pub motion: Motion,
    /// Spring constant (N/m); `None` holds exactly.
    pub stiffness: Option<f64>,
    /// A grab of the mouse rather than a pin: ended by a release.
    pub grab: bool,
}

impl Pin {
    /// Where node number `k` of the pin is held at a time.
    pub fn target(&self, k: usize, time: f64) -> DVec3 {
        self.place(k, &self.motion.at(time))
    }

    /// Where node number `k` of the pin is held in a pose of its motion.
    pub fn place(&self, k: usize, pose: &Pose) -> DVec3 {
        self.pivot + pose.position + pose.rotation * (self.targets[k] - self.pivot)
    }
}

/// A force on a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Total force shared by mass.
    Force {
        /// Which nodes.
        nodes: Vec<u32>,
        /// Total (N).
        newtons: DVec3,
        /// Factor over time.
        course: Course,
    },
    /// Pressure inside a closed surface.
    Pressure {
        /// Excess pressure (Pa).
        pascals: f64,
        /// Factor over time.
        course: Course,
        /// Falls as the volume grows.
        gas: bool,
    },
    /// A force that an edit turned on, shared by mass, until another turns it off.
    Thrust {
        /// Which nodes.
        nodes: Vec<u32>,
        /// Total (N).
        newtons: DVec3,
    },
}

/// Where a body starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Where the shape's origin goes (m).
    pub position: DVec3,
    /// Orientation.
    pub rotation: DQuat,
    /// Velocity (m/s).
    pub velocity: DVec3,
    /// Angular velocity about the centre of mass (rad/s).
    pub spin: DVec3,
    /// Factors by which the rest shape is stretched, in its own axes, before it is let go.
    pub stretch: DVec3,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            stretch: DVec3::ONE,
        }
    }
}

/// A body: shape, material, a choice on each axis, and what acts on it.
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Rest shape.
    pub shape: Arc<Shape>,
    /// What it is made of.
    pub material: MaterialField,
    /// The three axes.
    pub axes: Axes,
    /// Newton iterations a step, for implicit integrators. One is the published
    /// linearisation; more is closer to the true backward Euler step.
    pub newton: u32,
    /// Linear solver.
    pub solver: solve::Settings,
    /// Inertial terms, for framed coordinates.
    pub terms: Terms,
    /// Body parts: of reduced coordinates, and of implicit steps solved by parts. None: one part.
    pub parts: Option<Arc<Parts>>,
    /// Implicit steps are solved part by part (Chang 5.3.3): what happens in one part is
    /// felt by its neighbours a step later.
    pub by_parts: bool,
    /// How it meets other bodies and itself.
    pub contact: BodyContact,
    /// Where it starts.
    pub start: Start,
    /// Held nodes.
    pub pins: Vec<Pin>,
    /// Forces.
    pub loads: Vec<Load>,
    /// Forces by which it moves itself.
    pub drives: Vec<Drive>,
    /// Node masses (kg).
    pub masses: Vec<f64>,
    /// Drag of every node (N s/m).
    pub drag: Vec<f64>,
    /// The character it was sampled from, if any.
    pub sampled: Option<Arc<Sampled>>,
    /// The energy, unless rigid.
    pub elastic: Option<Arc<dyn Elasticity>>,
    /// Total mass (kg) and diagonal of the bounding box at rest (m): every step asks for them.
    totals: [f64; 2],
}

impl Body {
    /// Shares masses and makes the springs. The axes must have passed their check.
    pub fn new(name: &str, shape: Shape, material: impl Into<MaterialField>, axes: Axes) -> Self {
        let material = material.into();
        let mut body = Self {
            name: name.to_owned(),
            shape: Arc::new(shape),
            material,
            axes,
            newton: 1,
            solver: solve::Settings::default(),
            terms: Terms::default(),
            parts: None,
            by_parts: false,
            contact: BodyContact::default(),
            start: Start::default(),
            pins: Vec::new(),
            loads: Vec::new(),
            drives: Vec::new(),
            masses: Vec::new(),
            drag: Vec::new(),
            sampled: None,
            elastic: None,
            totals: [0.0; 2],
        };
        body.compile();
        body
    }

    /// Rebuilds everything that follows from shape, material and axes.
    pub fn compile(&mut self) {
        let (shape, material) = (&self.shape, &self.material);
        let measures = shape.node_measures();
        let section = |i: usize| match shape.dimension {
            Dimension::Curve => std::f64::consts::PI * material.card.radius.powi(2),
            Dimension::Surface => material.thickness.at(i),
            Dimension::Solid => 1.0,
        };
        self.masses = match &material.raw {
            Some(raw) => vec![raw.node_mass; shape.len()],
            None => (0..shape.len()).map(|i| material.density.at(i) * section(i) * measures[i]).collect(),
        };
        self.drag = match &material.raw {
            Some(raw) => vec![raw.c + material.card.drag * raw.node_mass; shape.len()],
            None => self.masses.iter().map(|m| m * material.card.drag).collect(),
        };
        self.totals = [self.masses.iter().sum(), shape.extent()];
        self.elastic = match self.axes.elasticity {
            ElasticityKind::None => None,
            ElasticityKind::Published => Some(Arc::new(Metric::published(shape, material))),
            ElasticityKind::Metric => Some(Arc::new(Metric::new(shape, material))),
            ElasticityKind::Spline => Some(match Spline::new(shape, material, &self.masses) {
                Some(spline) => Arc::new(spline),
                // A mesh has no grid to take differences on: its metric, linear about the rest shape.
                None => Arc::new(Metric::new(shape, material)),
            }),
            ElasticityKind::Springs => Some(Arc::new(lattice::springs(shape, material))),
            ElasticityKind::Finite => Some(Arc::new(Finite::new(shape, material))),
        };
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.masses.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.masses.is_empty()
    }

    /// Total mass (kg).
    pub fn mass(&self) -> f64 {
        self.totals[0]
    }

    /// Diagonal of the bounding box at rest (m).
    pub fn extent(&self) -> f64 {
        self.totals[1]
    }

    /// Where every node is at the start (m).
    pub fn start_positions(&self) -> Vec<DVec3> {
        if let Some(posed) = self.posed() {
            return posed.positions.clone();
        }
        self.shape
            .rest_positions
            .iter()
            .map(|&r| self.start.position + self.start.rotation * (r * self.start.stretch))
            .collect()
    }

    /// Where nodes start each by itself, if they do.
    pub fn posed(&self) -> Option<&Posed> {
        self.sampled.as_ref()?.posed.as_ref().filter(|posed| posed.positions.len() == self.len())
    }

    /// Holds nodes where they start, exactly; set `start` before.
    pub fn pin(mut self, nodes: &[u32]) -> Self {
        self.pins.push(self.pin_at_start(nodes));
        self
    }

    /// A hard, still pin of nodes at their start.
    pub fn pin_at_start(&self, nodes: &[u32]) -> Pin {
        let all = self.start_positions();
        let targets: Vec<DVec3> = nodes.iter().map(|&i| all[i as usize]).collect();
        let pivot = targets.iter().sum::<DVec3>() / targets.len().max(1) as f64;
        Pin { nodes: nodes.to_vec(), targets, pivot, motion: Motion::default(), stiffness: None, grab: false }
    }

    /// How many nodes lie above one another in a solid, about; 1 otherwise. A
    /// contact node of a solid carries a column of them.
    pub fn column(&self) -> f64 {
        if self.shape.dimension == Dimension::Solid { (self.len() as f64).cbrt() } else { 1.0 }
    }
}

/// A point whose motion is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Unique name.
    pub name: String,
    /// Which body.
    pub body: usize,
    /// Mean of these nodes; empty: the centre of mass.
    pub nodes: Vec<u32>,
}

/// How time is cut into steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings {
    /// Largest step (s).
    pub dt: f64,
    /// Halve a step that fails its tests.
    pub adaptive: bool,
    /// Halvings before the run gives up, at most 20.
    pub max_halvings: u32,
    /// No node may move further in a step (m); `None`: a fifth of the body's size.
    pub max_displacement: Option<f64>,
    /// Energy that may appear from nowhere in a step, relative to what the body has.
    pub max_energy_jump: f64,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self { dt: 1.0 / 240.0, adaptive: true, max_halvings: 10, max_displacement: None, max_energy_jump: 0.5 }
    }
}

/// A change between steps.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // of the fields: bodies, nodes and obstacles by number
pub enum Edit {
    /// Hold nodes where they are.
    Pin { body: usize, nodes: Vec<u32>, stiffness: Option<f64> },
    /// Let nodes go.
    Unpin { body: usize, nodes: Vec<u32> },
    /// Pull nodes towards a point with a spring; if these very nodes are grabbed already, the
    /// grab moves.
    Grab { body: usize, nodes: Vec<u32>, to: DVec3, stiffness: f64 },
    /// End every grab of a body.
    Release { body: usize },
    /// Another material.
    Material { body: usize, material: Box<MaterialField> },
    /// Other axes, same positions and velocities.
    Axes { body: usize, axes: Axes },
    /// Another gravity (m/s²).
    Gravity(DVec3),
    /// Another wind (m/s).
    Wind(DVec3),
    /// Another largest step (s); time goes on.
    Step(f64),
    /// A new obstacle.
    AddObstacle(Box<Obstacle>),
    /// Put an obstacle elsewhere; its keyframes end.
    MoveObstacle { obstacle: usize, position: DVec3 },
    /// Take an obstacle away.
    RemoveObstacle { obstacle: usize },
    /// Add momentum (N s), shared by mass.
    Impulse { body: usize, nodes: Vec<u32>, newton_seconds: DVec3 },
    /// A blow: momentum (N s) at the centre of mass and angular momentum about it (N m s).
    Kick { body: usize, linear: DVec3, angular: DVec3, body_axes: bool },
    /// Set every velocity of a body to zero.
    Stop { body: usize },
    /// A steady force (N) on these nodes from now on, in place of one they had; zero ends it.
    Thrust { body: usize, nodes: Vec<u32>, newtons: DVec3 },
}

/// The whole unchanging part.
#[derive(Clone, Debug)]
pub struct Model {
    /// Acceleration (m/s²).
    pub gravity: DVec3,
    /// Velocity of the air (m/s).
    pub wind: DVec3,
    /// Axis (0 x, 1 y, 2 z) along which nothing moves.
    pub flat: Option<usize>,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// What some pairs of them have between them, other than their materials say.
    pub pairs: Vec<PairRule>,
    /// Nodes of bodies that are fastened to other bodies.
    pub ties: Vec<Tie>,
    /// What they hit.
    pub obstacles: Vec<Obstacle>,
    /// What is reported.
    pub probes: Vec<Probe>,
    /// Edits with their times (s), ascending.
    pub events: Vec<(f64, Edit)>,
    /// Steps.
    pub step: StepSettings,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind: DVec3::ZERO,
            flat: None,
            bodies: Vec::new(),
            pairs: Vec::new(),
            ties: Vec::new(),
            obstacles: Vec::new(),
            probes: Vec::new(),
            events: Vec::new(),
            step: StepSettings::default(),
        }
    }
}

impl Model {
    /// The drawn mesh of a body that may tear, by its material or by one that an event
    /// gives it: it is the same from the first frame to the last.
    pub fn unwelded(&self, body: usize) -> Option<Unwelded> {
        let own = &self.bodies[body];
        let events = || self.events.iter().map(|event| &event.1);
        let tears = own.material.card.tears()
            || events()
                .any(|e| matches!(e, Edit::Material { body: b, material } if *b == body && material.card.tears()));
        let gives = own.axes.elasticity != ElasticityKind::None
            || events().any(|e| matches!(e, Edit::Axes { body: b, .. } if *b == body));
        if tears && gives { Unwelded::new(&own.shape) } else { None }
    }
}
