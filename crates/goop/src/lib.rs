//! Deformable bodies: strings, cloth, rubber, jelly, and the rigid things they meet.
//!
//! Every published model is one choice on each of three axes, kept apart here:
//! [`elastic`] (the energy of a shape), [`coordinates`] (what the unknowns are) and
//! [`integrate`] (how time advances). A [`Model`] does not change while time runs, a
//! `State` does, a [`World`] owns both and steps; a [`Frame`] is what the outside sees.
//!
//! Units are SI. The same scene gives the same bytes whatever the thread count.

mod acting;
pub mod animate;
pub mod character;
pub mod checkpoint;
pub mod contact;
pub mod coordinates;
mod crew;
pub mod drive;
pub mod elastic;
pub mod frame;
pub mod integrate;
mod lanes;
pub mod ledger;
pub mod material;
pub mod model;
pub mod parallel;
pub mod preflight;
pub mod shape;
pub mod solve;
pub mod stages;
pub mod state;
pub mod statics;
pub mod world;

pub use frame::Frame;
pub use material::Material;
pub use model::{Axes, Body, Edit, Integrator, Model};
pub use shape::Shape;
pub use world::{Clip, Failure, World};
