//! What a table may contain: one list per table, shared by the reader, its hints
//! and the schema.

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// A line that could stand in a file.
    pub line: &'static str,
    /// What it means, with the unit.
    pub about: &'static str,
    /// There is no default.
    pub required: bool,
}

/// A key with a default, or one that may be absent.
pub const fn key(name: &'static str, line: &'static str, about: &'static str) -> Key {
    Key { name, line, about, required: false }
}

/// A key that must be there.
pub const fn need(name: &'static str, line: &'static str, about: &'static str) -> Key {
    Key { name, line, about, required: true }
}

impl Key {
    /// The hint for a value that cannot stand here.
    pub fn hint(&self) -> String {
        format!("{}; for example `{}`", self.about, self.line)
    }
}
