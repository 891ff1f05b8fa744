//! Text with places: the part of reading that knows nothing about scenes.
//!
//! ```text
//! text ─tree▶ Node with spans ─include, set, formula▶ one tree ─Table▶ values, faults
//! ```

mod fault;
mod formula;
mod include;
mod key;
mod locate;
mod range;
mod set;
mod source;
mod table;
mod tree;
mod words;

pub use fault::{Fault, Faults, Place, Warning};
pub use key::{Key, key, need};
pub use locate::Origin;
pub use range::{Range, number};
pub use set::apply_set;
pub use source::{Source, Sources, Span};
pub use table::{Reader, Table, join};
pub use tree::{Entry, Node, Value, parse_tree};
pub use words::{Word, nearest, suggestion};

pub(crate) use formula::parameters;
pub(crate) use include::{Inputs, gather, hash_file, read_text};
