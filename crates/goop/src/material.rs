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
    /// Coulomb friction against obstacles and other bodies.
    pub friction: f64,
    /// Share of the speed of approach with which rigid and framed bodies part again where they meet. Bodies of nodes
    /// rebound by their own elasticity.
    pub restitution: f64,
    /// Strain that the body takes without flowing; 0 flows under any.
    pub yield_strain: f64,
    /// Rate at which strain beyond `yield_strain` goes into the rest shape (1/s); 0 never,
    /// infinite at once.
    pub flow: f64,
    /// Strain of the rest shape, against the one it had at first, at which flow ends.
    pub flow_limit: f64,
    /// Stretch of a grid edge, relative to its rest length, at which it breaks.
    pub tear: f64,
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
            restitution: 0.0,
            yield_strain: f64::INFINITY,
            flow: 0.0,
            flow_limit: f64::INFINITY,
            tear: f64::INFINITY,
        }
    }
}

impl Material {
    /// Whether its rest shape may change.
    pub fn flows(&self) -> bool {
        self.flow > 0.0 && self.yield_strain.is_finite()
    }

    /// Whether it may break.
    pub fn tears(&self) -> bool {
        self.tear.is_finite()
    }

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

/// Weights of the published energies of elasticity theory, per arc length, area or
/// volume at rest, so that they survive a change of resolution. Over the unit interval,
/// square or cube of the papers, with sides a_i, w_j = ŵ_j Πa_i / Πa_i^(2 j_i).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// Hybrid: of the displacement itself, ŵ₀₀.
    pub zero: f64,
    /// First derivatives along each axis: hybrid ŵ₁₀, ŵ₀₁, ŵ₀₀₁; primal w¹₁₁, w¹₂₂, w¹₃₃; stretch of a curve.
    pub first: [f64; 3],
    /// Primal: off-diagonal metric w¹₁₂, w¹₁₃, w¹₂₃.
    pub shear: [f64; 3],
    /// Second derivatives along each axis: hybrid ŵ₂₀, ŵ₀₂, ŵ₀₀₂; primal w²₁₁, w²₂₂; bending of a curve.
    pub second: [f64; 3],
    /// Mixed second derivatives 12, 13, 23: hybrid ŵ₁₁; primal w²₁₂.
    pub mixed: [f64; 3],
    /// Primal curve: torsion.
    pub twist: f64,
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
    /// Published weights instead of young and poisson, for metric and spline energies.
    pub weights: Option<Weights>,
    /// Factor of the weights by node.
    pub weight_scale: PerNode,
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
            weights: None,
            weight_scale: PerNode::Uniform(1.0),
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
