//! Scene files: text to a checked scene to a model; mesh readers; diagnostics.
//!
//! `scene` is plain data. `read` turns text into it and reports every fault with
//! its place; `build` makes the model; `save` writes it back; `schema` describes the
//! text to editors.

pub mod axes;
pub mod build;
pub mod character;
mod choreography;
pub mod dancer;
pub mod mesh;
pub mod presets;
pub mod read;
pub mod reader;
pub mod rig;
mod save;
pub mod saved;
pub mod scene;
pub mod schema;
pub mod select;

pub use build::{BuildFault, Built, Resolved};
pub use mesh::{Paint, Skin};
pub use read::Loaded;
pub use reader::{Fault, Faults, Origin, Place, Warning};
pub use scene::Scene;
pub use schema::schema;
