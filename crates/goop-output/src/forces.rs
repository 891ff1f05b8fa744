//! `forces.csv`: forces from outside on the nodes of a frame.
//!
//! ```text
//! frame,time,body,node,kind,fx,fy,fz      s, N; kind: load, spring, contact
//! ```
//! Of more than [`MOST`] forces of a kind on a body about so many are kept, spread over
//! the node numbers and the same from frame to frame as far as can be: enough for
//! pictures, and small beside the cache. Each is the force on that node alone.

use crate::error::OutputError;
use crate::sink::Sink;
use crate::table::{Table, line, number, rows};
use goop::frame::{ForceKind, Frame, NodeForce};
use std::collections::BTreeMap;
use std::path::Path;

/// Forces of a kind on a body up to which all are kept.
pub const MOST: usize = 128;
const FILE: &str = "forces.csv";
const COLUMNS: [&str; 8] = ["frame", "time", "body", "node", "kind", "fx", "fy", "fz"];
const KINDS: [(&str, ForceKind); 4] = [
    ("load", ForceKind::Load),
    ("drive", ForceKind::Drive),
    ("spring", ForceKind::Spring),
    ("contact", ForceKind::Contact),
];

/// Writes `forces.csv`.
pub struct Forces {
    table: Table,
    bodies: Vec<String>,
}

impl Forces {
    /// Starts the table, or goes on from the mark of an earlier run; bodies are in the order of the frames.
    pub fn open(run_folder: &Path, bodies: Vec<String>, mark: Option<u64>) -> Result<Forces, OutputError> {
        Ok(Forces { table: Table::open(&run_folder.join(FILE), &COLUMNS, mark)?, bodies })
    }
}

impl Sink for Forces {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        let (index, time) = (frame.index.to_string(), number(frame.time));
        let mut text = String::new();
        for group in frame.forces.chunk_by(|a, b| (a.body, a.kind) == (b.body, b.kind)) {
            let name = self.bodies.get(group[0].body as usize).map_or("", |name| name);
            let kind = KINDS.iter().find(|k| k.1 == group[0].kind).map_or("", |k| k.0);
            for force in group.iter().filter(|force| spread(force.node, group.len(), MOST)) {
                let [x, y, z] = force.newtons.map(|value| format!("{value:?}"));
                text += &line(&[&index, &time, name, &force.node.to_string(), kind, &x, &y, &z]);
            }
        }
        self.table.append(&text)
    }

    fn mark(&self) -> u64 {
        self.table.length()
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.table.finish()
    }
}

/// Whether this node is among the `most` or fewer, about, that are kept of so many. Each halving of
/// the share keeps a part of those kept before; multiples of the golden ratio spread them evenly
/// over the numbers, and so over the rows of a grid.
pub(crate) fn spread(node: u32, count: usize, most: usize) -> bool {
    let share = count.div_ceil(most.max(1)).next_power_of_two() as u32;
    node.wrapping_mul(0x9E37_79B9) <= u32::MAX / share
}

/// `forces.csv`, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredForces(BTreeMap<usize, Vec<NodeForce>>);

impl StoredForces {
    /// Reads the forces on these bodies, each with so many nodes; nothing where there is no table.
    pub fn read(run_folder: &Path, bodies: &[(&str, usize)]) -> Result<StoredForces, OutputError> {
        let mut stored = StoredForces::default();
        rows(&run_folder.join(FILE), COLUMNS.len(), |fields| {
            let body = bodies.iter().position(|(name, _)| *name == fields[2])?;
            let node = fields[3].parse::<u32>().ok().filter(|&node| (node as usize) < bodies[body].1)?;
            let kind = KINDS.iter().find(|k| k.0 == fields[4])?.1;
            let value = |k: usize| fields[k].parse::<f32>().ok().filter(|value| value.is_finite());
            let newtons = [value(5)?, value(6)?, value(7)?];
            let force = NodeForce { body: body as u32, node, kind, newtons };
            stored.0.entry(fields[0].parse().ok()?).or_default().push(force);
            Some(())
        })?;
        Ok(stored)
    }

    /// Those of a frame.
    pub fn at(&self, frame: usize) -> &[NodeForce] {
        self.0.get(&frame).map_or(&[], |forces| forces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a selection that takes all, none, one corner of the body, or other nodes when there are a few more.
    #[test]
    fn of_many_forces_some_are_kept_evenly_and_for_longer_than_a_frame() {
        let chosen = |count: u32| (0..count).filter(|&n| spread(n, count as usize, MOST)).collect::<Vec<_>>();
        assert_eq!(chosen(128).len(), 128);
        let (some, more) = (chosen(4000), chosen(20_000));
        assert!((90..=150).contains(&some.len()) && (60..=150).contains(&more.len()), "{} {}", some.len(), more.len());
        assert!(some.windows(2).all(|w| w[1] - w[0] < 100), "a gap between nodes that are kept");
        assert!(more.iter().filter(|&&n| n < 4000).all(|n| some.contains(n)));
    }

    /// Catches a force that comes back as another, and rows of nodes that are not there.
    #[test]
    fn forces_read_back_as_written_and_strange_rows_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let force = |node: u32, kind, newtons| NodeForce { body: 0, node, kind, newtons };
        let forces = vec![
            force(2, ForceKind::Load, [0.1, -1e-9, 3e8]),
            force(1, ForceKind::Contact, [0.0, 2.5, 0.0]),
            force(7, ForceKind::Contact, [0.0, 2.5, 0.0]),
        ];
        let mut sink = Forces::open(folder.path(), vec!["a".into()], None).unwrap();
        sink.write(&Frame { index: 4, forces: forces.clone(), ..Frame::default() }).unwrap();
        let stored = StoredForces::read(folder.path(), &[("a", 5)]).unwrap();
        assert_eq!((stored.at(4), stored.at(3)), (&forces[..2], &[][..]));
    }
}
