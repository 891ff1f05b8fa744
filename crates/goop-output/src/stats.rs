//! `stats.csv`, the energy account, and `probes.csv`, the motion of the probes.
//!
//! ```text
//! stats.csv   per frame: one row "all" for the scene, then one row per body in order
//! probes.csv  per frame: one row with x, y, z of every probe (m)
//! ```
//! Energies and work are in joules, momenta in kg m/s and kg m²/s, lengths in metres.

use crate::error::OutputError;
use crate::sequence::expect_count;
use crate::sink::Sink;
use crate::table::{Table, line, number};
use goop::frame::Frame;
use goop::ledger::Row;
use std::path::Path;

/// Columns of `stats.csv`.
pub const STATS_COLUMNS: [&str; 33] = [
    "frame",
    "time",
    "body",
    "kinetic",
    "elastic",
    "gravitational",
    "contact",
    "damping",
    "drag",
    "friction",
    "impact",
    "flow",
    "fracture",
    "scheme",
    "pin_work",
    "load_work",
    "drive_work",
    "stored",
    "residue",
    "exchanged",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
    "deformation",
    "mean_deformation",
    "worst_stretch",
    "worst_penetration",
    "contacts",
    "exchange",
    "body_contacts",
];

/// Writes `stats.csv`.
pub struct Stats {
    table: Table,
    bodies: Vec<String>,
}

impl Stats {
    /// Starts the table in `run_folder`; bodies are in the order of the frames.
    pub fn create(run_folder: impl AsRef<Path>, bodies: Vec<String>) -> Result<Stats, OutputError> {
        let table = Table::create(&run_folder.as_ref().join("stats.csv"), &STATS_COLUMNS)?;
        Ok(Stats { table, bodies })
    }

    /// Goes on from the mark of an earlier run.
    pub fn resume(run_folder: impl AsRef<Path>, bodies: Vec<String>, mark: u64) -> Result<Stats, OutputError> {
        Ok(Stats { table: Table::resume(&run_folder.as_ref().join("stats.csv"), mark)?, bodies })
    }
}

impl Sink for Stats {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        let mut rows = stats_row(frame, "all", &frame.ledger);
        for (name, body) in self.bodies.iter().zip(&frame.bodies) {
            rows += &stats_row(frame, name, &body.row);
        }
        self.table.append(&rows)
    }

    fn mark(&self) -> u64 {
        self.table.length()
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.table.finish()
    }
}

fn stats_row(frame: &Frame, body: &str, row: &Row) -> String {
    let (p, l) = (row.momentum, row.angular_momentum);
    let numbers = [
        row.kinetic,
        row.elastic,
        row.gravitational,
        row.contact,
        row.damping,
        row.drag,
        row.friction,
        row.impact,
        row.flow,
        row.fracture,
        row.scheme,
        row.pin_work,
        row.load_work,
        row.drive_work,
        row.stored(),
        row.residue(),
        row.exchanged,
        p.x,
        p.y,
        p.z,
        l.x,
        l.y,
        l.z,
        row.deformation,
        row.mean_deformation,
        row.worst_stretch,
        row.worst_penetration,
    ];
    let mut fields = vec![frame.index.to_string(), number(frame.time), body.to_string()];
    fields.extend(numbers.map(number));
    fields.push(row.contacts.to_string());
    fields.push(number(row.exchange));
    fields.push(row.body_contacts.to_string());
    line(&fields)
}

/// Writes `probes.csv`.
pub struct Probes {
    table: Table,
    count: usize,
}

impl Probes {
    /// Starts the table in `run_folder`; probes are in the order of the frames.
    pub fn create(run_folder: impl AsRef<Path>, probes: &[String]) -> Result<Probes, OutputError> {
        let mut columns = vec!["frame".to_string(), "time".to_string()];
        for probe in probes {
            columns.extend(["x", "y", "z"].map(|axis| format!("{probe}_{axis}")));
        }
        let table = Table::create(&run_folder.as_ref().join("probes.csv"), &columns)?;
        Ok(Probes { table, count: probes.len() })
    }

    /// Goes on from the mark of an earlier run.
    pub fn resume(run_folder: impl AsRef<Path>, probes: &[String], mark: u64) -> Result<Probes, OutputError> {
        Ok(Probes { table: Table::resume(&run_folder.as_ref().join("probes.csv"), mark)?, count: probes.len() })
    }
}

impl Sink for Probes {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "probes", self.count, frame.probes.len())?;
        let mut fields = vec![frame.index.to_string(), number(frame.time)];
        for probe in &frame.probes {
            fields.extend(probe.to_array().map(number));
        }
        self.table.append(&line(&fields))
    }

    fn mark(&self) -> u64 {
        self.table.length()
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.table.finish()
    }
}
