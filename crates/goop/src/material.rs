//! The material card: what a body is made of, in SI, the same for every
//! formulation. Each elasticity compiles it into its own constants, so that a finer
//! grid or a shorter step changes quality, not the look.

/// One material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Density (kg/m³).
    pub density: f64,
    /// Young's modulus (Pa).
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Thickness of surfaces (m).
    pub thickness: f64,
    /// Radius of curves (m).
    pub radius: f64,
    /// Damping ratio ζ of the lowest stretching mode of the free body. Damping is
    /// proportional to stiffness with the time 2ζ/ω, ω = π √(E/ρ) / size, which a
    /// change of grid leaves alone.
    pub damping: f64,
    /// Drag of the surrounding medium per mass (1/s).
    pub drag: f64,
    /// Coulomb friction against obstacles.
    pub friction: f64,
}

impl Default for Material {
    /// A soft rubber: it stretches visibly under its own weight at half a metre.
    fn default() -> Self {
        Self {
            density: 1000.0,
            young: 1.0e6,
            poisson: 0.45,
            thickness: 1.0e-3,
            radius: 2.0e-3,
            damping: 0.05,
            drag: 0.0,
            friction: 0.3,
        }
    }
}

impl Material {
    /// Time constant of stiffness-proportional damping (s) for a body of this size (m).
    pub fn damping_time(&self, size: f64) -> f64 {
        2.0 * self.damping * size / (std::f64::consts::PI * (self.young / self.density).sqrt())
    }
}

/// Constants per spring and node as the papers print them. They do not survive a
/// change of resolution; the card does.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    /// Spring constant of grid edges (N/m).
    pub k: f64,
    /// Damper on every spring (N s/m): force -d (v_i - v_j), which also brakes spin.
    pub d: f64,
    /// Damper of every node against the medium (N s/m).
    pub c: f64,
    /// Mass of every node (kg).
    pub node_mass: f64,
    /// Rest length per direction (m); `None`: the spacing of the rest shape.
    pub rest: Option<Vec<f64>>,
    /// Face diagonals of surfaces, body diagonals of solids (N/m).
    pub shear: f64,
    /// Bend stencil on |x₋ - 2x + x₊| (N/m).
    pub bend: f64,
}

/// A value that may differ from node to node.
#[derive(Clone, Debug, PartialEq)]
pub enum PerNode {
    /// The same everywhere.
    Uniform(f64),
    /// One a node.
    Varying(Vec<f64>),
}

impl PerNode {
    /// The value at a node.
    pub fn at(&self, node: usize) -> f64 {
        match self {
            PerNode::Uniform(value) => *value,
            PerNode::Varying(values) => values[node],
        }
    }

    /// The mean over some nodes.
    pub fn mean(&self, nodes: &[u32]) -> f64 {
        match self {
            PerNode::Uniform(value) => *value,
            PerNode::Varying(v) => nodes.iter().map(|&i| v[i as usize]).sum::<f64>() / nodes.len() as f64,
        }
    }

    /// Sets the value on some nodes of `count`.
    pub fn set(&mut self, nodes: &[u32], value: f64, count: usize) {
        if let PerNode::Uniform(old) = *self {
            *self = PerNode::Varying(vec![old; count]);
        }
        if let PerNode::Varying(values) = self {
            for &i in nodes {
                values[i as usize] = value;
            }
        }
    }
}

/// A card spread over a body: the values that regions may change, by node.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialField {
    /// The card itself.
    pub card: Material,
    /// Density (kg/m³).
    pub density: PerNode,
    /// Young's modulus (Pa).
    pub young: PerNode,
    /// Thickness (m).
    pub thickness: PerNode,
    /// Damping ratio.
    pub damping: PerNode,
    /// Raw constants instead of young, poisson and damping.
    pub raw: Option<Raw>,
    /// Raw spring constant by node (N/m).
    pub raw_k: PerNode,
}

impl MaterialField {
    /// The same card everywhere.
    pub fn uniform(card: Material) -> Self {
        Self {
            card,
            density: PerNode::Uniform(card.density),
            young: PerNode::Uniform(card.young),
            thickness: PerNode::Uniform(card.thickness),
            damping: PerNode::Uniform(card.damping),
            raw: None,
            raw_k: PerNode::Uniform(0.0),
        }
    }

    /// Raw constants everywhere; the card still gives friction and drag.
    pub fn raw(card: Material, raw: Raw) -> Self {
        Self { raw_k: PerNode::Uniform(raw.k), raw: Some(raw), ..Self::uniform(card) }
    }
}

impl From<Material> for MaterialField {
    fn from(card: Material) -> Self {
        Self::uniform(card)
    }
}
