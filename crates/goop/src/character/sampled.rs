//! What a body keeps of the character it was sampled from: how its skin follows the nodes, its
//! parts, its bones, and the pose it starts in.

use super::bones::Bone;
use super::parts::Parts;
use super::skin::{FittedSkin, SkinMap};
use glam::DVec3;

/// How the drawn skin follows the nodes.
#[derive(Clone, Debug)]
pub enum Skinning {
    /// Weighted nodes.
    Map(SkinMap),
    /// Low-order fits, one a part.
    Fit(FittedSkin),
    /// The deformation matrices of reduced coordinates, which are such fits already; other coordinates have none, and it is
    /// fitted.
    Matrix(FittedSkin),
}

impl Skinning {
    /// Number of drawn vertices.
    pub fn len(&self) -> usize {
        match self {
            Skinning::Map(map) => map.len(),
            Skinning::Fit(fit) | Skinning::Matrix(fit) => fit.len(),
        }
    }

    /// Whether nothing is drawn.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the drawn vertices are for these node positions (m).
    pub fn place(&self, nodes: &[DVec3]) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; self.len()];
        match self {
            Skinning::Map(map) => map.apply(nodes, &mut out),
            Skinning::Fit(fit) | Skinning::Matrix(fit) => fit.apply(&fit.fit(nodes), &mut out),
        }
        out
    }
}

/// Where nodes start, each by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posed {
    /// Positions in the world (m).
    pub positions: Vec<DVec3>,
    /// Velocities (m/s).
    pub velocities: Vec<DVec3>,
}

/// A body's character.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// How the skin follows.
    pub skinning: Skinning,
    /// Depth of every node under the skin at rest (m).
    pub depth: Vec<f64>,
    /// Shares of every node in the parts, one a bone.
    pub parts: Parts,
    /// Bones at rest.
    pub bones: Vec<Bone>,
    /// Nodes that are rigid with each bone. The body's first pins are those of the bones that
    /// have any, in this order.
    pub bone_nodes: Vec<Vec<u32>>,
    /// Start of the nodes, where it is not the rest shape.
    pub posed: Option<Posed>,
}
