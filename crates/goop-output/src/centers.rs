//! `centers.csv`: where each body's centre of mass is and how it moves, a row a body a frame.
//!
//! ```text
//! frame,time,body,x,y,z,vx,vy,vz      s, m, m/s
//! ```

use crate::error::OutputError;
use crate::sequence::expect_count;
use crate::sink::Sink;
use crate::table::{Table, line, number, rows};
use glam::DVec3;
use goop::frame::Frame;
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "centers.csv";
const COLUMNS: [&str; 9] = ["frame", "time", "body", "x", "y", "z", "vx", "vy", "vz"];

/// Writes `centers.csv`.
pub struct Centers {
    table: Table,
    bodies: Vec<String>,
}

impl Centers {
    /// Starts the table, or goes on from the mark of an earlier run; bodies are in the order of the frames.
    pub fn open(run_folder: &Path, bodies: Vec<String>, mark: Option<u64>) -> Result<Centers, OutputError> {
        Ok(Centers { table: Table::open(&run_folder.join(FILE), &COLUMNS, mark)?, bodies })
    }
}

impl Sink for Centers {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        let mut text = String::new();
        for (name, body) in self.bodies.iter().zip(&frame.bodies) {
            let mut fields = vec![frame.index.to_string(), number(frame.time), name.clone()];
            fields.extend(body.center.to_array().map(number));
            fields.extend(body.center_velocity.to_array().map(number));
            text += &line(&fields);
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

/// `centers.csv`, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredCenters(BTreeMap<(usize, String), [DVec3; 2]>);

impl StoredCenters {
    /// Reads the table; nothing where there is none.
    pub fn read(run_folder: &Path) -> Result<StoredCenters, OutputError> {
        let mut stored = StoredCenters::default();
        rows(&run_folder.join(FILE), COLUMNS.len(), |fields| {
            let mut values = fields[3..].iter().map_while(|field| field.parse::<f64>().ok());
            let mut vector = || Some(DVec3::new(values.next()?, values.next()?, values.next()?));
            let place_and_velocity = [vector()?, vector()?];
            stored.0.insert((fields[0].parse().ok()?, fields[2].clone()), place_and_velocity);
            Some(())
        })?;
        Ok(stored)
    }

    /// Centre of mass (m) of a body and its velocity (m/s) at a frame.
    pub fn at(&self, frame: usize, body: &str) -> Option<[DVec3; 2]> {
        self.0.get(&(frame, body.to_owned())).copied()
    }
}
