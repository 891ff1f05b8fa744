//! What a run comes to: one JSON object, or a few lines for people.

use goop::ledger::Ledger;
use goop::{Frame, World};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Running figures of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Frames written.
    pub frames: usize,
    /// First and last account.
    pub first: Option<Ledger>,
    pub last: Option<Ledger>,
    /// Last, lowest, highest and summed position of each probe.
    probes: Vec<Probe>,
    looks: usize,
    worst_stretch: f64,
    worst_penetration: f64,
    max_contacts: usize,
    #[serde(default)]
    max_body_contacts: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Probe {
    position: [f64; 3],
    min: [f64; 3],
    max: [f64; 3],
    sum: [f64; 3],
}

impl Figures {
    /// Takes a frame into account.
    pub fn see(&mut self, frame: &Frame) {
        self.first.get_or_insert(frame.ledger);
        self.last = Some(frame.ledger);
        self.looks += 1;
        self.worst_stretch = self.worst_stretch.max(frame.ledger.worst_stretch);
        self.worst_penetration = self.worst_penetration.max(frame.ledger.worst_penetration);
        self.max_contacts = self.max_contacts.max(frame.contacts.len());
        self.max_body_contacts = self.max_body_contacts.max(frame.ledger.body_contacts as usize);
        if self.probes.is_empty() {
            let start = |p: [f64; 3]| Probe { position: p, min: p, max: p, sum: [0.0; 3] };
            self.probes = frame.probes.iter().map(|p| start(p.to_array())).collect();
        }
        for (probe, position) in self.probes.iter_mut().zip(&frame.probes) {
            probe.position = position.to_array();
            for axis in 0..3 {
                probe.min[axis] = probe.min[axis].min(probe.position[axis]);
                probe.max[axis] = probe.max[axis].max(probe.position[axis]);
                probe.sum[axis] += probe.position[axis];
            }
        }
    }

    /// The object of `--json`.
    pub fn json(&self, status: &str, world: &World, wall_seconds: f64) -> Value {
        let state = world.state();
        let (first, last) = (self.first.unwrap_or_default(), self.last.unwrap_or_default());
        let mut probes = Map::new();
        for (probe, model) in self.probes.iter().zip(&world.model().probes) {
            let mean = probe.sum.map(|s| s / self.looks.max(1) as f64);
            probes.insert(
                model.name.clone(),
                json!({ "position": probe.position, "min": probe.min, "max": probe.max, "mean": mean }),
            );
        }
        let bodies: Vec<Value> = (world.model().bodies.iter())
            .map(|b| json!({ "name": b.name, "nodes": b.len(), "mass": b.mass() }))
            .collect();
        json!({
            "status": status,
            "frames": self.frames,
            "steps": state.steps,
            "rejected_steps": state.rejected,
            "sim_seconds": world.time(),
            "wall_seconds": wall_seconds,
            "seconds_per_second": if world.time() > 0.0 { wall_seconds / world.time() } else { 0.0 },
            "energy": {
                "first": first.stored(),
                "last": last.stored(),
                "residue": last.residue(),
                "numerical_dissipation": last.scheme,
                "exchanged": last.exchanged,
            },
            "worst_stretch": self.worst_stretch,
            "worst_penetration": self.worst_penetration,
            "worst_residual": world.worst_residual(),
            "max_contacts": self.max_contacts,
            "max_body_contacts": self.max_body_contacts,
            "probes": probes,
            "bodies": bodies,
            "state_hash": format!("{:032x}", state.hash()),
        })
    }
}
