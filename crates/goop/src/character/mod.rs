//! Characters: a skin and bones in, a lattice that carries them out.
//!
//! `inside` tells inside from outside, `sampling` places nodes, `lattice` joins them into
//! tetrahedra, `bones` says which nodes are rigid, `parts` which limb a node belongs to,
//! `skin` moves the skin by the nodes. [`build`] does all of it.

pub mod bones;
mod build;
pub mod inside;
pub mod lattice;
pub mod parts;
pub mod quality;
pub mod sampled;
pub mod sampling;
pub mod skeleton;
pub mod skin;
mod thin;

pub use bones::{Bone, BoneShape};
pub use build::{Character, CharacterError, Report, build};
pub use inside::{Inside, Test};
pub use parts::Parts;
pub use sampled::{Posed, Sampled, Skinning};
pub use sampling::{Kind, Sampling};
pub use skin::{FittedSkin, SkinMap};
