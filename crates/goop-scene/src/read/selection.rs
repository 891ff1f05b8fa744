//! Selections: a bare word, or a table with one key. Checked against the grid of
//! the body they select from, when that is known.

use super::keys;
use super::limits::{COORDINATE, LENGTH};
use super::topology::{Axis, LETTERS, Topology};
use crate::reader::{Key, Node, Range, Reader, Table, Value, Word, suggestion};
use crate::scene::{Selection, Side};

/// Bare words.
pub const WORDS: [&str; 4] = ["all", "center", "corners", "rim"];

/// Reads the selection under a key that must be there.
pub fn needed(table: &Table<'_>, name: &str, grid: Option<&Topology>) -> Option<Selection> {
    let node = &table.need(name)?.node;
    selection(table.reader, node, &table.at(name), grid)
}

/// Reads a selection.
pub fn selection<'a>(reader: &'a Reader<'a>, node: &'a Node, path: &str, grid: Option<&Topology>) -> Option<Selection> {
    let check = Check { reader, node, path, grid };
    match &node.value {
        Value::Text(word) => check.word(word),
        Value::Table(_) => {
            let table = Table::open(reader, node, path.to_string(), keys::SELECTION)?;
            let names: Vec<&str> = keys::SELECTION.iter().map(|key| key.name).collect();
            let entry = table.one_of(&names, "selection")?;
            let key = table.key(&entry.name);
            let inner = format!("{path}.{}", entry.name);
            Check { node: &entry.node, path: &inner, ..check }.one(&table, key)
        }
        _ => {
            let message = format!("`{path}` must be a selection, found {}", node.kind());
            reader.fault(
                node.span,
                path,
                message,
                "a word such as \"corners\", or a table such as { corner = [0, 1] }",
            );
            None
        }
    }
}

struct Check<'a, 'g> {
    reader: &'a Reader<'a>,
    node: &'a Node,
    path: &'g str,
    grid: Option<&'g Topology>,
}

impl<'a> Check<'a, '_> {
    fn fault(&self, message: String, hint: impl Into<String>) {
        self.reader.fault(self.node.span, self.path, message, hint);
    }

    fn word(&self, word: &str) -> Option<Selection> {
        match word {
            "all" => Some(Selection::All),
            "center" => Some(Selection::Center),
            "corners" => self.has_corners().then_some(Selection::Corners),
            "rim" => {
                if let Some(grid) = self.grid.filter(|grid| grid.rim == Some(false)) {
                    self.fault(
                        format!("a {} has no rim", grid.kind),
                        "select by { uv = … } or { nearest = … } instead",
                    );
                    return None;
                }
                Some(Selection::Rim)
            }
            _ => {
                let keys = keys::SELECTION.iter().map(|key| key.name);
                let mut hint = suggestion(word, "the words here", WORDS);
                if keys.clone().any(|key| key == word) {
                    let line = keys::SELECTION.iter().find(|key| key.name == word).map_or("", |key| key.line);
                    hint = format!("`{word}` needs a value: {line}");
                } else if !hint.starts_with("did") {
                    hint += &format!("; or a table with one of {}", keys.collect::<Vec<_>>().join(", "));
                }
                self.fault(format!("`{}` cannot be \"{word}\"", self.path), hint);
                None
            }
        }
    }

    fn one(&self, table: &Table<'a>, key: &'static Key) -> Option<Selection> {
        match key.name {
            "corner" => self.corner(key),
            "edge" => self.edge(key),
            "uv" => self.uv(key),
            "box" => {
                let ends = self.reader.list(self.node, self.path, key, Some(2))?;
                let low = self.reader.numbers::<3>(&ends[0], &format!("{}[0]", self.path), key, COORDINATE);
                let high = self.reader.numbers::<3>(&ends[1], &format!("{}[1]", self.path), key, COORDINATE);
                let (low, high) = (low?, high?);
                self.ordered(&low, &high).then_some(Selection::Box([low, high]))
            }
            "sphere" => {
                let sphere = table.take_table("sphere", keys::SELECTION_SPHERE)?;
                let (center, radius) = (sphere.need_numbers("center", COORDINATE), sphere.need_f64("radius", LENGTH));
                Some(Selection::Sphere { center: center?, radius: radius? })
            }
            "index" => self.index(key),
            "nearest" => self.reader.numbers(self.node, self.path, key, COORDINATE).map(Selection::Nearest),
            "depth" => {
                let [low, high] = self.reader.numbers::<2>(self.node, self.path, key, COORDINATE)?;
                (self.is_character("depth") && self.ordered(&[low], &[high])).then_some(Selection::Depth([low, high]))
            }
            "part" => {
                let name = self.reader.text(self.node, self.path, key)?;
                self.is_character("part").then_some(Selection::Part(name))
            }
            _ => {
                let name = self.reader.text(self.node, self.path, key)?;
                if let Some(grid) = self.grid.filter(|grid| !grid.is_mesh()) {
                    let message = format!("a {} has no vertex groups", grid.kind);
                    self.fault(message, "groups come from mesh files; select by { uv = … } or { edge = … } here");
                    return None;
                }
                if name.is_empty() {
                    self.fault(format!("`{}` must not be empty", self.path), key.hint());
                    return None;
                }
                Some(Selection::Group(name))
            }
        }
    }

    /// Depths and parts need a character.
    fn is_character(&self, what: &str) -> bool {
        let other = self.grid.filter(|grid| grid.kind != "character");
        if let Some(grid) = other {
            self.fault(
                format!("a {} has no {what} to select by", grid.kind),
                "use shape.character, or a box or sphere",
            );
        }
        other.is_none()
    }

    /// Grid selections need a grid.
    fn not_mesh(&self, what: &str) -> bool {
        let mesh = self.grid.is_some_and(Topology::is_mesh);
        if mesh {
            self.fault(format!("a mesh has no {what}"), "select by box, sphere, nearest, index or group");
        }
        !mesh
    }

    fn has_corners(&self) -> bool {
        if !self.not_mesh("corners") {
            return false;
        }
        let Some(grid) = self.grid.filter(|grid| grid.axes.contains(&Axis::Periodic)) else { return true };
        self.fault(
            format!("a {} closes on itself and has no corners", grid.kind),
            match grid.rim {
                Some(true) => "select a side by { edge = \"v1\" }, or nodes by { uv = … } or { nearest = … }",
                _ => "select nodes by { uv = … } or { nearest = … }",
            },
        );
        false
    }

    fn corner(&self, key: &Key) -> Option<Selection> {
        let items = self.reader.list(self.node, self.path, key, None)?;
        if !self.has_corners() || !self.one_per_axis(self.node, items.len(), key) {
            return None;
        }
        let read = |(index, item)| {
            let path = format!("{}[{index}]", self.path);
            self.reader.count(item, &path, key, 0, 1).map(|value| value as u8)
        };
        let corner: Vec<Option<u8>> = items.iter().enumerate().map(read).collect();
        corner.into_iter().collect::<Option<Vec<u8>>>().map(Selection::Corner)
    }

    fn edge(&self, key: &Key) -> Option<Selection> {
        let side: Side = self.reader.word(self.node, self.path, key)?;
        if !self.not_mesh("sides") {
            return None;
        }
        let axis = match side {
            Side::U0 | Side::U1 => 0,
            Side::V0 | Side::V1 => 1,
            Side::W0 | Side::W1 => 2,
        };
        let Some(grid) = self.grid else { return Some(Selection::Edge(side)) };
        match grid.axes.get(axis) {
            Some(Axis::Open) => Some(Selection::Edge(side)),
            Some(Axis::Periodic) => {
                let message =
                    format!("a {} closes along {} and has no side \"{}\"", grid.kind, LETTERS[axis], side.word());
                self.fault(message, sides(grid));
                None
            }
            None => {
                let axes = LETTERS[..grid.axes.len()].join(" and ");
                let message = format!("a {} has no side \"{}\": its axes are {axes}", grid.kind, side.word());
                self.fault(message, sides(grid));
                None
            }
        }
    }

    fn uv(&self, key: &Key) -> Option<Selection> {
        let ends = self.reader.list(self.node, self.path, key, Some(2))?;
        if !self.not_mesh("material coordinates to select by") {
            return None;
        }
        let read = |index: usize| {
            let path = format!("{}[{index}]", self.path);
            let items = self.reader.list(&ends[index], &path, key, None)?;
            if !self.one_per_axis(&ends[index], items.len(), key) {
                return None;
            }
            let number =
                |(axis, item)| self.reader.number(item, &format!("{path}[{axis}]"), key, Range::within(0.0, 1.0));
            let values: Vec<Option<f64>> = items.iter().enumerate().map(number).collect();
            values.into_iter().collect::<Option<Vec<f64>>>()
        };
        let (low, high) = (read(0), read(1));
        let (low, high) = (low?, high?);
        if low.len() != high.len() {
            self.fault(format!("the ends of `{}` have different lengths", self.path), key.hint());
            return None;
        }
        self.ordered(&low, &high).then_some(Selection::Uv([low, high]))
    }

    fn index(&self, key: &Key) -> Option<Selection> {
        let items = self.reader.list(self.node, self.path, key, None)?;
        if items.is_empty() {
            self.fault(format!("`{}` selects nothing", self.path), key.hint());
            return None;
        }
        let most = self
            .grid
            .filter(|grid| !grid.is_mesh())
            .map_or(u32::MAX, |grid| u32::try_from(grid.nodes()).unwrap_or(u32::MAX).saturating_sub(1));
        let read = |(index, item)| self.reader.count(item, &format!("{}[{index}]", self.path), key, 0, most);
        let list: Vec<Option<u32>> = items.iter().enumerate().map(read).collect();
        list.into_iter().collect::<Option<Vec<u32>>>().map(Selection::Index)
    }

    /// One value per axis of the grid, or one to three if it is not known.
    fn one_per_axis(&self, node: &Node, found: usize, key: &Key) -> bool {
        let (good, wanted) = match self.grid {
            Some(grid) => (found == grid.axes.len(), format!("{} here: a {}", grid.axes.len(), grid.kind)),
            None => ((1..=3).contains(&found), "one to three".into()),
        };
        if !good {
            let message = format!("`{}` needs one value per axis, {wanted}, found {found}", self.path);
            self.reader.fault(node.span, self.path, message, key.hint());
        }
        good
    }

    fn ordered(&self, low: &[f64], high: &[f64]) -> bool {
        let wrong = low.iter().zip(high).position(|(low, high)| low > high);
        if let Some(axis) = wrong {
            let message = format!("`{}` runs backwards: {} is above {}", self.path, low[axis], high[axis]);
            self.fault(message, "write it as [low, high]");
        }
        wrong.is_none()
    }
}

/// The sides that a grid has.
fn sides(grid: &Topology) -> String {
    let open = (0..grid.axes.len()).filter(|axis| grid.axes[*axis] == Axis::Open);
    let sides: Vec<String> = open.flat_map(|axis| [0, 1].map(|end| format!("\"{}{end}\"", LETTERS[axis]))).collect();
    if sides.is_empty() {
        "it has no sides; select nodes by { uv = … } or { nearest = … }".into()
    } else {
        format!("its sides are {}", sides.join(", "))
    }
}
