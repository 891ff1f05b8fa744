//! The whole contract between page and engine.
//!
//! ```text
//! page ─▶ engine   JSON text, one command a message: { "do": "grab", "body": 0, … }
//! engine ─▶ page   JSON text:  { "state": … }, { "error": sentence }, { "notice": sentence }
//!                  binary:     a frame (kind 1) or a model (kind 2), little-endian
//! ```
//! Frame, in words of 4 bytes unless said otherwise:
//! ```text
//! kind 1 · model version · sequence · frame number · flags · panes
//! f64: time · speed reached · kinetic · elastic · gravitational · contact · lost · scheme · work · residue
//! a pane: bodies · obstacles · contacts · failed
//!   an obstacle: there · position (3 f32) · rotation x y z w (f32)
//!   a contact: body · node
//!   a body: nodes · drawn · pinned · sprung · centre (3 f32) · its velocity (3 f32)
//!           node positions · drawn positions · pinned · sprung · [velocities] · [stretch]
//! ```
//! Flags: 1 velocities, 2 stretch, 4 from the record, 8 playing.
//! Model: `kind 2 · version · bytes of JSON · 0`, the JSON padded to 4 bytes, then the arrays that it
//! names as [offset, length] in words.

use goop::Frame;
use goop::ledger::Ledger;
use serde::Deserialize;

/// Largest command (bytes).
pub const MOST_MESSAGE: usize = 256 << 10;
/// Most points of a drawn curve.
pub const MOST_POINTS: usize = 4096;
/// Frames on the way to a page that says which it has drawn.
pub const MOST_UNDRAWN: usize = 2;
/// Most nodes in one command.
pub const MOST_NODES: usize = 100_000;

/// What a page may ask for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)] // bodies and nodes by number
pub enum Command {
    /// Another scene, by the name in the list.
    Scene {
        name: String,
    },
    Play,
    Pause,
    /// Play if paused, pause if playing.
    Toggle,
    /// One frame on.
    Step,
    /// Back to the start; what was recorded is dropped.
    Reset,
    /// Speed as a multiple of real time.
    Speed {
        value: f64,
    },
    /// Look at a recorded frame.
    Scrub {
        frame: usize,
    },
    /// Go on from the frame that is looked at; later ones are dropped.
    Branch,
    /// The page has drawn the frame of this sequence number. One that says so has at most
    /// [`MOST_UNDRAWN`] frames on the way to it.
    Drawn {
        sequence: u32,
    },
    /// What this page wants in its frames.
    View {
        velocities: bool,
        stretch: bool,
    },
    /// Pull a node towards a point; `gesture` is the same from mouse-down to mouse-up.
    Grab {
        body: usize,
        node: u32,
        to: [f64; 3],
        gesture: u64,
        strength: f64,
    },
    /// Let go.
    Release {
        body: usize,
    },
    Pin {
        body: usize,
        nodes: Vec<u32>,
    },
    Unpin {
        body: usize,
        nodes: Vec<u32>,
    },
    /// A value of the material card.
    Material {
        body: usize,
        key: String,
        value: f64,
    },
    Formulation {
        body: usize,
        to: String,
        integrator: Option<String>,
    },
    /// Length of the largest step (s).
    StepLength {
        dt: f64,
    },
    World {
        gravity: Option<[f64; 3]>,
        wind: Option<[f64; 3]>,
    },
    AddObstacle {
        kind: String,
        position: [f64; 3],
        size: f64,
    },
    MoveObstacle {
        name: String,
        position: [f64; 3],
    },
    RemoveObstacle {
        name: String,
    },
    /// A steady force on nodes (on all when none are named); zero ends it.
    Thrust {
        body: usize,
        nodes: Vec<u32>,
        newtons: [f64; 3],
    },
    Stop {
        body: usize,
    },
    /// A closed curve becomes a body, or the shape of the one that is named.
    Draw {
        points: Vec<[f64; 3]>,
        instead: Option<usize>,
    },
    /// The same scene in another formulation beside it; none: alone again.
    Compare {
        formulation: Option<String>,
    },
    Undo,
    /// Do again what was undone last.
    Redo,
    /// Write the scene as edited, with what was recorded.
    Save {
        file: String,
        overwrite: bool,
    },
    /// Write the recorded frames.
    Export {
        format: String,
    },
}

impl Command {
    /// Whether the older of two commands in a row has no effect of its own: a slider or the mouse
    /// moved on before the engine came to it.
    pub fn replaces(&self, older: &Command) -> bool {
        use Command::{Grab, Material, MoveObstacle, Scrub, StepLength, World};
        match (self, older) {
            (Grab { body: a, node: m, gesture: g, .. }, Grab { body: b, node: n, gesture: h, .. }) => {
                (a, m, g) == (b, n, h)
            }
            (Material { body: a, key: m, .. }, Material { body: b, key: n, .. }) => (a, m) == (b, n),
            (MoveObstacle { name: a, .. }, MoveObstacle { name: b, .. }) => a == b,
            (World { gravity: a, wind: m }, World { gravity: b, wind: n }) => {
                (a.is_some(), m.is_some()) == (b.is_some(), n.is_some())
            }
            (StepLength { .. }, StepLength { .. }) | (Scrub { .. }, Scrub { .. }) => true,
            _ => false,
        }
    }
}

/// What of a frame is sent beside positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Node velocities.
    pub velocities: bool,
    /// Stretch of nodes.
    pub stretch: bool,
}

/// What stands in the header of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// Version of the model it belongs to.
    pub version: u32,
    /// Number of the message.
    pub sequence: u32,
    /// From the record rather than live.
    pub recorded: bool,
    /// Whether time runs.
    pub playing: bool,
    /// Simulated seconds per second.
    pub speed: f64,
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn floats(&mut self, values: &[f32]) {
        values.iter().for_each(|v| self.0.extend(v.to_le_bytes()));
    }

    fn words(&mut self, values: &[u32]) {
        values.iter().for_each(|v| self.0.extend(v.to_le_bytes()));
    }
}

/// The energy account as pages plot it (J): kinetic, elastic, gravitational, contact, lost, the
/// scheme's own, work done on it, residue.
pub fn energies(ledger: &Ledger) -> [f64; 8] {
    let lost = ledger.damping + ledger.drag + ledger.friction + ledger.impact + ledger.flow + ledger.fracture;
    let work = ledger.pin_work + ledger.load_work;
    let stored = [ledger.kinetic, ledger.elastic, ledger.gravitational, ledger.contact];
    [stored[0], stored[1], stored[2], stored[3], lost, ledger.scheme, work, ledger.residue()]
}

/// Frames of all panes as one message.
pub fn frame(header: Header, wishes: Wishes, panes: &[(&Frame, bool)]) -> Vec<u8> {
    let size: usize = (panes.iter().flat_map(|(f, _)| &f.bodies))
        .map(|b| 28 * b.positions.len() + 12 * b.drawn.as_ref().map_or(0, Vec::len) + 64)
        .sum();
    let mut out = Bytes(Vec::with_capacity(size + 512));
    let (index, time, ledger) =
        panes.first().map_or((0, 0.0, Default::default()), |(f, _)| (f.index, f.time, f.ledger));
    let flags = u32::from(wishes.velocities)
        | u32::from(wishes.stretch) << 1
        | u32::from(header.recorded) << 2
        | u32::from(header.playing) << 3;
    out.words(&[1, header.version, header.sequence, index as u32, flags, panes.len() as u32]);
    let numbers = [time, header.speed].into_iter().chain(energies(&ledger));
    numbers.for_each(|v| out.0.extend(v.to_le_bytes()));
    for (frame, failed) in panes {
        let counts = [frame.bodies.len(), frame.obstacles.len(), frame.contacts.len(), usize::from(*failed)];
        out.words(&counts.map(|n| n as u32));
        for pose in &frame.obstacles {
            let (position, rotation) = pose.unwrap_or_default();
            out.word(u32::from(pose.is_some()));
            out.floats(&position.as_vec3().to_array());
            out.floats(&rotation.as_quat().to_array());
        }
        frame.contacts.iter().for_each(|(body, node)| out.words(&[*body, *node]));
        for body in &frame.bodies {
            let drawn = body.drawn.as_deref().unwrap_or_default();
            let counts = [body.positions.len(), drawn.len(), body.pinned.len(), body.sprung.len()];
            out.words(&counts.map(|n| n as u32));
            out.floats(&body.center.as_vec3().to_array());
            out.floats(&body.center_velocity.as_vec3().to_array());
            out.floats(body.positions.as_flattened());
            out.floats(drawn.as_flattened());
            out.words(&body.pinned);
            out.words(&body.sprung);
            if wishes.velocities {
                out.floats(body.velocities.as_flattened());
            }
            if wishes.stretch {
                out.floats(&body.stretch);
            }
        }
    }
    out.0
}

/// A model as one message: its JSON and the arrays that it names.
pub fn model(version: u32, json: &serde_json::Value, arrays: &[u32]) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    let length = text.len() as u32;
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = Bytes(Vec::with_capacity(16 + text.len() + 4 * arrays.len()));
    out.words(&[2, version, length, 0]);
    out.0.extend(text);
    out.words(arrays);
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a command that a page of another version sends and that is half understood.
    #[test]
    fn commands_are_read_whole_or_not_at_all() {
        let read = |text: &str| serde_json::from_str::<Command>(text);
        assert_eq!(read(r#"{"do":"play"}"#).unwrap(), Command::Play);
        let grab = r#"{"do":"grab","body":0,"node":3,"to":[0,1,2],"gesture":1,"strength":1}"#;
        assert!(matches!(read(grab), Ok(Command::Grab { node: 3, .. })));
        for wrong in
            ["", "{}", "[]", "null", r#"{"do":"fly"}"#, r#"{"do":"speed"}"#, r#"{"do":"pin","body":-1,"nodes":[]}"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    /// Catches a command that is left out although it does something of its own.
    #[test]
    fn only_a_newer_value_of_the_same_thing_replaces_a_command() {
        let grab = |node, gesture| Command::Grab { body: 0, node, to: [0.0; 3], gesture, strength: 1.0 };
        let material = |key: &str| Command::Material { body: 0, key: key.into(), value: 1.0 };
        assert!(grab(1, 1).replaces(&grab(1, 1)) && material("young").replaces(&material("young")));
        let others = [
            (grab(2, 1), grab(1, 1)),
            (grab(1, 2), grab(1, 1)),
            (material("drag"), material("young")),
            (grab(1, 1), Command::Release { body: 0 }),
            (Command::Step, Command::Step),
            (
                Command::World { gravity: None, wind: Some([0.0; 3]) },
                Command::World { gravity: Some([0.0; 3]), wind: None },
            ),
        ];
        for (new, old) in others {
            assert!(!new.replaces(&old), "{new:?} {old:?}");
        }
    }

    /// Catches a frame whose parts are not where the page looks for them.
    #[test]
    fn a_frame_has_the_length_that_its_counts_say() {
        let body = goop::frame::BodyFrame {
            positions: vec![[1.0, 2.0, 3.0]; 5],
            velocities: vec![[0.0; 3]; 5],
            stretch: vec![0.5; 5],
            drawn: Some(vec![[4.0; 3]; 2]),
            pinned: vec![1, 2],
            sprung: vec![3],
            ..Default::default()
        };
        let whole = Frame {
            index: 7,
            bodies: vec![body],
            obstacles: vec![None, None],
            contacts: vec![(0, 1)],
            ..Frame::default()
        };
        let size = |wishes| frame(Header::default(), wishes, &[(&whole, false), (&whole, true)]).len();
        let pane = 16 + 2 * 32 + 8 + (16 + 24) + 5 * 12 + 2 * 12 + 3 * 4;
        assert_eq!(size(Wishes::default()), 24 + 80 + 2 * pane);
        assert_eq!(size(Wishes { velocities: true, stretch: true }), 24 + 80 + 2 * (pane + 5 * 16));
        let bytes = frame(Header { sequence: 9, ..Header::default() }, Wishes::default(), &[(&whole, false)]);
        assert_eq!(bytes[..16], [1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0]);
    }
}
