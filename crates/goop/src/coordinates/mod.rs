//! Axis 2, coordinates: what the unknowns are, and how forces and masses map onto them.

pub mod framed;
pub mod nodal;
pub mod reduced;
pub mod rigid;
