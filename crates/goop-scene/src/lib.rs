//! Scene files: text to a checked scene.
//!
//! `scene` is plain data. `read` turns text into it and reports every fault with
//! its place; `save` writes it back; `schema` describes the text to editors.

pub mod axes;
pub mod presets;
pub mod read;
pub mod reader;
pub mod scene;

pub use read::Loaded;
pub use reader::{Fault, Faults, Place, Warning};
pub use scene::Scene;
