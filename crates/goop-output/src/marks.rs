//! `marks.csv`: which nodes are held and which touch an obstacle.
//!
//! ```text
//! frame,time,body,mark,nodes      0,0.0,sheet,pin,0 19 380-399
//! ```
//! A row holds from its frame on, until the next one of the same body and mark; a list
//! that does not change is not repeated. Nodes are numbers from 0 and ranges of them,
//! both ends included. Marks: `pin` (held), `spring` (pulled by a soft pin or a grab),
//! `contact` (touches an obstacle).

use crate::error::OutputError;
use crate::sequence::expect_count;
use crate::sink::Sink;
use crate::table::{Table, line, number, rows};
use goop::frame::Frame;
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "marks.csv";
const COLUMNS: [&str; 5] = ["frame", "time", "body", "mark", "nodes"];

/// What a node is marked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Held.
    Pin,
    /// Pulled by the spring of a soft pin or a grab.
    Spring,
    /// Touches an obstacle.
    Contact,
}

impl Mark {
    const ALL: [Mark; 3] = [Mark::Pin, Mark::Spring, Mark::Contact];

    fn word(self) -> &'static str {
        match self {
            Mark::Pin => "pin",
            Mark::Spring => "spring",
            Mark::Contact => "contact",
        }
    }
}

/// Writes `marks.csv`.
pub struct Marks {
    table: Table,
    bodies: Vec<String>,
    /// The last list of every body and mark.
    last: Vec<[String; 3]>,
}

impl Marks {
    /// Starts the table, or goes on from the mark of an earlier run; bodies are in the order of the frames.
    pub fn open(run_folder: &Path, bodies: Vec<String>, mark: Option<u64>) -> Result<Marks, OutputError> {
        let table = Table::open(&run_folder.join(FILE), &COLUMNS, mark)?;
        let stored = StoredMarks::read(run_folder)?;
        let last = |body: &String| Mark::ALL.map(|mark| stored.last(usize::MAX, body, mark).to_owned());
        Ok(Marks { last: bodies.iter().map(last).collect(), table, bodies })
    }
}

impl Sink for Marks {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        let mut touching = vec![Vec::new(); frame.bodies.len()];
        for &(body, node) in &frame.contacts {
            touching[body as usize].push(node);
        }
        let mut text = String::new();
        let mut now = self.last.clone();
        for (b, (body, contacts)) in frame.bodies.iter().zip(touching).enumerate() {
            let lists = [body.pinned.clone(), body.sprung.clone(), contacts].map(ranges);
            for ((mark, old), new) in Mark::ALL.iter().zip(&mut now[b]).zip(lists) {
                if *old != new {
                    let name = self.bodies[b].as_str();
                    text += &line(&[&frame.index.to_string(), &number(frame.time), name, mark.word(), &new]);
                    *old = new;
                }
            }
        }
        self.table.append(&text)?;
        self.last = now;
        Ok(())
    }

    fn mark(&self) -> u64 {
        self.table.length()
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.table.finish()
    }
}

/// Numbers in order, runs of them as ranges.
fn ranges(mut nodes: Vec<u32>) -> String {
    nodes.sort_unstable();
    nodes.dedup();
    let mut words = Vec::new();
    for run in nodes.chunk_by(|a, b| a + 1 == *b) {
        match (run.first(), run.last()) {
            (Some(a), Some(b)) if a < b => words.push(format!("{a}-{b}")),
            (Some(a), _) => words.push(a.to_string()),
            _ => {}
        }
    }
    words.join(" ")
}

/// `marks.csv`, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredMarks(BTreeMap<(String, Mark), Vec<(usize, String)>>);

impl StoredMarks {
    /// Reads the table; nothing where there is none.
    pub fn read(run_folder: &Path) -> Result<StoredMarks, OutputError> {
        let mut stored = StoredMarks::default();
        rows(&run_folder.join(FILE), COLUMNS.len(), |fields| {
            let mark = Mark::ALL.into_iter().find(|mark| mark.word() == fields[3])?;
            let lists = stored.0.entry((fields[2].clone(), mark)).or_default();
            lists.push((fields[0].parse().ok()?, fields[4].clone()));
            Some(())
        })?;
        Ok(stored)
    }

    /// Nodes of a body with this mark at a frame, less those beyond its `nodes`.
    pub fn at(&self, frame: usize, body: &str, mark: Mark, nodes: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for word in self.last(frame, body, mark).split_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
                found.extend((first..=last).take_while(|&node| (node as usize) < nodes));
            }
        }
        found
    }

    fn last(&self, frame: usize, body: &str, mark: Mark) -> &str {
        let lists = self.0.get(&(body.to_owned(), mark)).map_or(&[][..], |lists| lists);
        lists.iter().rev().find(|(from, _)| *from <= frame).map_or("", |(_, nodes)| nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goop::frame::BodyFrame;

    fn frame(index: usize, pinned: &[u32], contacts: &[u32]) -> Frame {
        let body = BodyFrame { pinned: pinned.to_vec(), ..BodyFrame::default() };
        Frame { index, bodies: vec![body], contacts: contacts.iter().map(|&n| (0, n)).collect(), ..Frame::default() }
    }

    /// Catches lists that are lost on resuming, repeated, or that end too late.
    #[test]
    fn lists_hold_until_the_next_and_a_resumed_table_has_the_same_bytes() {
        let frames =
            [frame(0, &[3, 1, 2, 9], &[]), frame(1, &[1, 2, 3, 9], &[5]), frame(2, &[], &[5]), frame(3, &[], &[6, 5])];
        let write = |folder: &Path, from: usize, to: usize, mark: Option<u64>| {
            let mut marks = Marks::open(folder, vec!["sheet".into()], mark).unwrap();
            frames[from..to].iter().for_each(|frame| marks.write(frame).unwrap());
            marks.mark()
        };
        let (whole, torn) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(whole.path(), 0, 4, None);
        let mark = write(torn.path(), 0, 2, None);
        write(torn.path(), 2, 4, Some(mark));
        write(torn.path(), 2, 4, Some(mark));
        let text = std::fs::read_to_string(whole.path().join(FILE)).unwrap();
        assert_eq!(text, std::fs::read_to_string(torn.path().join(FILE)).unwrap());
        assert_eq!(text.lines().nth(1), Some("0,0.0,sheet,pin,1-3 9"));
        assert_eq!(text.lines().count(), 5, "{text}");
        let stored = StoredMarks::read(whole.path()).unwrap();
        assert_eq!(stored.at(1, "sheet", Mark::Pin, 10), [1, 2, 3, 9]);
        assert_eq!(stored.at(1, "sheet", Mark::Pin, 3), [1, 2]);
        assert!(stored.at(2, "sheet", Mark::Pin, 10).is_empty());
        assert_eq!(stored.at(9, "sheet", Mark::Contact, 10), [5, 6]);
    }
}
