//! A scene being played with: its text, its worlds, what was recorded, and the way back.
//!
//! Before the first step an edit changes the text and the scene is built anew; afterwards
//! it is recorded as an event at the time it was made. Both give the scene that `goop run`
//! reproduces. Undo goes back to just before a change, time included.

use crate::protocol::{Command, MOST_NODES, MOST_POINTS};
use crate::ring::{KEEP_STATE_EVERY, Ring};
use crate::{Host, Options, document, record};
use goop::checkpoint::Checkpoint;
use goop::{Edit as EngineEdit, Frame, World};
use goop_scene::build::edit_now;
use goop_scene::reader::Word;
use goop_scene::scene::{self, Edit, Event, Formulation, Obstacle, ObstacleShape, ParameterValue, Selection};
use goop_scene::{Built, Faults, Loaded, Scene};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ways back that are kept.
const MOST_UNDO: usize = 100;

/// A world that is shown.
pub struct Pane {
    /// The world.
    pub world: World,
    /// Why it cannot go on.
    pub failure: Option<String>,
}

/// Everything that an undo brings back.
struct Snapshot {
    label: String,
    at: Instant,
    text: String,
    recorded: Vec<Event>,
    states: Vec<Checkpoint>,
    frame: usize,
    compare: Option<Formulation>,
}

/// A scene being played with.
pub struct Session {
    pub(crate) host: Host,
    pub(crate) folder: PathBuf,
    /// Name in the list of scenes.
    pub name: String,
    path: PathBuf,
    /// The text as edited.
    pub text: String,
    original: String,
    /// The text, read.
    pub loaded: Loaded,
    /// What it was built into.
    pub built: Built,
    /// One world, or two to compare.
    pub panes: Vec<Pane>,
    /// Formulation of the second.
    pub compare: Option<Formulation>,
    /// Edits made while time ran.
    pub recorded: Vec<Event>,
    /// Frames that were shown.
    pub ring: Ring,
    /// The recorded frame that is looked at.
    pub viewing: Option<usize>,
    undo: Vec<Snapshot>,
    gesture: Option<u64>,
    /// Number of the next frame.
    next_frame: usize,
    /// Raised when pages must fetch the model again.
    pub version: u32,
    /// Raised with every change that `check` may have a word on.
    pub changes: u64,
}

/// What a command came to.
pub enum Answer {
    /// Nothing to say.
    Done,
    /// A sentence for the one who asked.
    Notice(String),
}

type Outcome = Result<Answer, String>;

impl Session {
    /// Opens the scene that the options name.
    pub fn open(options: &Options, host: Host) -> Result<Session, String> {
        let folder = options.folder.clone();
        let (name, path, text) = find(&host, &folder, &options.scene)?;
        let (loaded, built, panes) = make(&text, &path, &[], None, &[])?;
        let mut session = Session {
            host,
            folder,
            name,
            path,
            original: text.clone(),
            text,
            loaded,
            built,
            panes,
            compare: None,
            recorded: Vec::new(),
            ring: Ring::new(options.memory),
            viewing: None,
            undo: Vec::new(),
            gesture: None,
            next_frame: 0,
            version: 1,
            changes: 1,
        };
        session.note_frames();
        Ok(session)
    }

    /// Names of the scenes one may choose: built in, and files of the folder.
    pub fn scenes(&self) -> Vec<(String, String)> {
        let own = files(&self.folder).into_iter().map(|name| (name, String::new()));
        own.chain(self.host.scenes.iter().map(|(name, title, _)| ((*name).to_owned(), title.clone()))).collect()
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.panes[0].world.time()
    }

    /// Nothing has moved and nothing is recorded: edits change the text.
    pub fn at_start(&self) -> bool {
        self.panes[0].world.state().steps == 0 && self.recorded.is_empty()
    }

    /// Frames a second of the record.
    pub fn fps(&self) -> f64 {
        self.loaded.scene.clip.fps
    }

    /// Number of the newest recorded frame.
    pub fn frame(&self) -> usize {
        self.next_frame.saturating_sub(1)
    }

    /// Why the first world cannot go on.
    pub fn failure(&self) -> Option<&str> {
        self.panes[0].failure.as_deref()
    }

    /// What an undo would take back.
    pub fn undo_label(&self) -> Option<&str> {
        self.undo.last().map(|s| s.label.as_str())
    }

    /// Takes one step in every pane; the second keeps up with the first.
    pub fn step(&mut self) {
        let goal = match step(&mut self.panes[0], None) {
            Some(time) => time,
            None => return,
        };
        if let Some(second) = self.panes.get_mut(1) {
            step(second, Some(goal));
        }
        self.note_frames();
    }

    /// Steps to the next frame of the record.
    pub fn next(&mut self) {
        let goal = self.next_frame;
        while self.next_frame <= goal && self.failure().is_none() {
            self.step();
        }
    }

    /// What is shown now: the live state, or the recorded frame that is looked at.
    pub fn shown(&self) -> Vec<Frame> {
        match self.viewing.and_then(|frame| self.ring.get(frame)) {
            Some(entry) => entry.frames.clone(),
            None => {
                let look = |pane: &Pane| Frame { index: self.frame(), ..pane.world.frame_now() };
                self.panes.iter().map(look).collect()
            }
        }
    }

    /// Records frames up to the present.
    fn note_frames(&mut self) {
        let (fps, dt) = (self.fps(), self.panes[0].world.model().step.dt);
        while self.next_frame as f64 / fps <= self.time() + 1e-9 * dt {
            let (index, time) = (self.next_frame, self.next_frame as f64 / fps);
            let look = |pane: &Pane| Frame { index, ..pane.world.frame_between(time) };
            let frames = self.panes.iter().map(look).collect();
            let keep = index.is_multiple_of(KEEP_STATE_EVERY);
            let states = if keep { self.states() } else { Vec::new() };
            self.ring.push(frames, self.recorded.len(), states);
            self.next_frame += 1;
        }
    }

    fn states(&self) -> Vec<Checkpoint> {
        self.panes.iter().map(|pane| pane.world.checkpoint()).collect()
    }

    /// Keeps a way back. Changes of the same kind that follow closely are one.
    fn keep(&mut self, label: &str) {
        let joined = self.undo.last().is_some_and(|s| s.label == label && s.at.elapsed() < Duration::from_millis(800));
        if joined && label.starts_with("change") {
            if let Some(last) = self.undo.last_mut() {
                last.at = Instant::now();
            }
            return;
        }
        if self.undo.len() == MOST_UNDO {
            self.undo.remove(0);
        }
        let states = if self.panes[0].world.state().steps == 0 { Vec::new() } else { self.states() };
        self.undo.push(Snapshot {
            label: label.to_owned(),
            at: Instant::now(),
            text: self.text.clone(),
            recorded: self.recorded.clone(),
            states,
            frame: self.next_frame,
            compare: self.compare,
        });
        // Ways back share the record's memory, an eighth of it.
        let bytes = |s: &Snapshot| s.states.iter().map(Checkpoint::bytes).sum::<usize>() + s.text.len();
        while self.undo.len() > 1 && self.undo.iter().map(bytes).sum::<usize>() > self.ring.limit / 8 {
            self.undo.remove(0);
        }
    }

    /// Builds everything anew from a text and what was recorded, at states taken before.
    fn rebuild(
        &mut self,
        text: String,
        recorded: Vec<Event>,
        compare: Option<Formulation>,
        states: &[Checkpoint],
    ) -> Result<(), String> {
        let (loaded, built, panes) = make(&text, &self.path, &recorded, compare, states)?;
        (self.loaded, self.built, self.panes) = (loaded, built, panes);
        (self.text, self.recorded, self.compare) = (text, recorded, compare);
        (self.viewing, self.gesture) = (None, None);
        self.version += 1;
        self.changes += 1;
        Ok(())
    }

    /// From the start, with another text.
    fn restart(&mut self, text: String, compare: Option<Formulation>) -> Result<(), String> {
        self.rebuild(text, Vec::new(), compare, &[])?;
        self.ring.clear();
        self.next_frame = 0;
        self.note_frames();
        Ok(())
    }

    /// Does what a page asks; what is refused leaves no way back to nothing.
    pub fn command(&mut self, command: Command) -> Outcome {
        let ways = self.undo.len();
        let answer = self.obey(command);
        if answer.is_err() && self.undo.len() > ways {
            self.undo.pop();
        }
        answer
    }

    fn obey(&mut self, command: Command) -> Outcome {
        match command {
            Command::Scene { name } => self.choose(&name),
            Command::Step => {
                self.viewing = None;
                self.next();
                Ok(Answer::Done)
            }
            Command::Reset => {
                if !self.at_start() {
                    self.keep("reset");
                }
                self.restart(self.text.clone(), self.compare).map(|()| Answer::Done)
            }
            Command::Scrub { frame } => self.scrub(frame),
            Command::Branch => self.branch(),
            Command::Undo => self.go_back(),
            Command::Grab { body, node, to, gesture, strength } => self.grab(body, node, to, gesture, strength),
            Command::Release { body } => {
                let body = self.body_name(body)?;
                self.gesture = None;
                self.act(Edit::Release { body })
            }
            Command::Pin { body, nodes } => self.pin(body, nodes),
            Command::Unpin { body, nodes } => self.unpin(body, nodes),
            Command::Material { body, key, value } => {
                let name = self.body_name(body)?;
                self.keep(&format!("change of {key}"));
                let text = document::set_material(&self.text, &name, &key, value);
                let value = ParameterValue::Number(value);
                self.change(text, Edit::Parameter { body: Some(name), key, value })
            }
            Command::Formulation { body, to, integrator } => {
                let name = self.body_name(body)?;
                self.keep("change of model");
                let word = word::<Formulation>(&to)?;
                let own = integrator.as_deref().map(word_of_integrator).transpose()?;
                let text = document::set_formulation(&self.text, &name, &to, integrator.as_deref());
                self.change(text, Edit::Formulation { body: name, to: word, integrator: own })
            }
            Command::StepLength { dt } => {
                self.keep("change of step");
                let text = document::set_number(&self.text, "step", "dt", dt);
                let text = text.ok_or("the scene's text has no place for [step]; give it one")?;
                self.restart(text, self.compare)?;
                Ok(Answer::Notice(format!("the scene begins anew with steps of {dt} s")))
            }
            Command::World { gravity, wind } => {
                for (key, vector) in [("gravity", gravity), ("wind", wind)] {
                    let Some(vector) = vector else { continue };
                    self.keep(&format!("change of {key}"));
                    let text = document::set_vector(&self.text, "world", key, vector);
                    let value = ParameterValue::Vector(vector);
                    self.change(text, Edit::Parameter { body: None, key: key.into(), value })?;
                }
                Ok(Answer::Done)
            }
            Command::AddObstacle { kind, position, size } => {
                let obstacle = self.new_obstacle(&kind, position, size)?;
                self.keep("new obstacle");
                let text = document::add_obstacle(&self.text, &obstacle);
                self.change(text, Edit::Add(obstacle))
            }
            Command::MoveObstacle { name, position } => {
                self.keep("change of an obstacle's place");
                let text = document::move_obstacle(&self.text, &name, position);
                self.change(text, Edit::Obstacle { name, position: Some(position), remove: false })
            }
            Command::RemoveObstacle { name } => {
                self.keep("removal of an obstacle");
                let text = document::remove_obstacle(&self.text, &name);
                self.change(text, Edit::Obstacle { name, position: None, remove: true })
            }
            Command::Thrust { body, nodes, newtons } => {
                let name = self.body_name(body)?;
                let at = if nodes.is_empty() { Selection::All } else { Selection::Index(self.nodes(body, nodes)?) };
                if newtons != [0.0; 3] {
                    self.keep("thrust");
                }
                self.act(Edit::Thrust { body: name, at, newtons })
            }
            Command::Stop { body } => {
                let body = self.body_name(body)?;
                self.keep("stop");
                self.act(Edit::Stop { body })
            }
            Command::Draw { points } => self.draw(&points),
            Command::Compare { formulation } => {
                let compare = formulation.as_deref().map(word::<Formulation>).transpose()?;
                self.keep("comparison");
                self.restart(self.text.clone(), compare).map(|()| Answer::Done)
            }
            Command::Save { file, overwrite } => self.save(&file, overwrite).map(Answer::Notice),
            Command::Export { format } => record::export(self, &format).map(Answer::Notice),
            // The engine's own.
            Command::Play | Command::Pause | Command::Toggle | Command::Speed { .. } | Command::View { .. } => {
                Ok(Answer::Done)
            }
        }
    }

    fn choose(&mut self, name: &str) -> Outcome {
        let (name, path, text) = find(&self.host, &self.folder, name)?;
        let (loaded, built, panes) = make(&text, &path, &[], None, &[])?;
        (self.loaded, self.built, self.panes) = (loaded, built, panes);
        (self.name, self.path, self.original, self.text) = (name, path, text.clone(), text);
        (self.recorded, self.compare, self.viewing, self.gesture) = (Vec::new(), None, None, None);
        self.undo.clear();
        self.ring.clear();
        self.next_frame = 0;
        self.version += 1;
        self.changes += 1;
        self.note_frames();
        Ok(Answer::Done)
    }

    fn scrub(&mut self, frame: usize) -> Outcome {
        let (first, last) = self.ring.range().ok_or("nothing is recorded yet")?;
        if !(first..=last).contains(&frame) {
            return Err(format!("frame {frame} is not kept: the record goes from {first} to {last}"));
        }
        self.viewing = (frame < last).then_some(frame);
        Ok(Answer::Done)
    }

    fn branch(&mut self) -> Outcome {
        let Some(frame) = self.viewing else { return Err("look at a recorded frame first".into()) };
        let edits = self.ring.get(frame).ok_or("that frame is no longer kept")?.edits;
        let from = self.ring.state_before(frame).ok_or("no state that early is kept; choose a later frame")?;
        let states = from.states.clone();
        let at = from.frames.first().map_or(0, |f| f.index);
        self.keep("going on from an earlier frame");
        let recorded = self.recorded[..edits.min(self.recorded.len())].to_vec();
        self.rebuild(self.text.clone(), recorded, self.compare, &states)?;
        self.ring.cut_after(at);
        self.next_frame = at + 1;
        while self.frame() < frame && self.failure().is_none() {
            self.step();
        }
        Ok(Answer::Done)
    }

    fn go_back(&mut self) -> Outcome {
        let Some(last) = self.undo.pop() else { return Err("there is nothing to undo".into()) };
        self.rebuild(last.text, last.recorded, last.compare, &last.states)?;
        if last.states.is_empty() {
            self.ring.clear();
            self.next_frame = 0;
            self.note_frames();
        } else {
            self.ring.cut_after(last.frame.saturating_sub(1));
            self.next_frame = last.frame;
            // The record of a time before a reset is gone; it goes on from here.
            if self.ring.range().is_none_or(|(_, newest)| newest + 1 != self.next_frame) {
                self.ring.clear();
                self.note_frames();
            }
        }
        Ok(Answer::Notice(format!("undone: {}", last.label)))
    }

    fn grab(&mut self, body: usize, node: u32, to: [f64; 3], gesture: u64, strength: f64) -> Outcome {
        let name = self.body_name(body)?;
        let nodes = self.nodes(body, vec![node])?;
        if !(strength.is_finite() && (1e-3..=1e3).contains(&strength)) {
            return Err("the strength of a pull is 0.001 to 1000".into());
        }
        if self.gesture != Some(gesture) {
            self.keep("drag");
            self.gesture = Some(gesture);
        }
        // A spring that carries the whole body with 2.5 cm of give: ω = 20 rad/s.
        let stiffness = 400.0 * strength * self.panes[0].world.model().bodies[body].mass();
        self.act(Edit::Grab { body: name, at: Selection::Index(nodes), to, stiffness })
    }

    fn pin(&mut self, body: usize, nodes: Vec<u32>) -> Outcome {
        let (name, nodes) = (self.body_name(body)?, self.nodes(body, nodes)?);
        let held = &self.panes[0].world.model().bodies[body].pins;
        let free = |n: &u32| !held.iter().any(|p| !p.grab && p.nodes.contains(n));
        let nodes: Vec<u32> = nodes.into_iter().filter(free).collect();
        if nodes.is_empty() {
            return Ok(Answer::Done);
        }
        self.keep("pin");
        let text = document::pin(&self.text, &name, &nodes);
        self.change(text, Edit::Pin { body: name, at: Selection::Index(nodes), stiffness: None })
    }

    fn unpin(&mut self, body: usize, nodes: Vec<u32>) -> Outcome {
        let (name, nodes) = (self.body_name(body)?, self.nodes(body, nodes)?);
        self.keep("unpin");
        let path = format!("body.{name}.pin[");
        let held: Vec<Vec<u32>> =
            (self.built.selections.iter()).filter(|s| s.path.starts_with(&path)).map(|s| s.nodes.clone()).collect();
        let text = document::unpin(&self.text, &name, &nodes, &held);
        self.change(text, Edit::Unpin { body: name, at: Selection::Index(nodes) })
    }

    /// At the start a changed text, afterwards an event.
    fn change(&mut self, text: Option<String>, edit: Edit) -> Outcome {
        check_edit(&edit)?;
        if self.at_start()
            && let Some(text) = text
        {
            match self.restart(text, self.compare) {
                Ok(()) => return Ok(Answer::Done),
                // The text may forbid what an event allows: an obstacle that an event names.
                Err(sentence) => return self.act(edit).map_err(|_| sentence),
            }
        }
        self.act(edit)
    }

    /// Does an edit now in every pane and records it.
    fn act(&mut self, edit: Edit) -> Outcome {
        check_edit(&edit)?;
        self.viewing = None;
        for (k, pane) in self.panes.iter_mut().enumerate() {
            if k > 0 && matches!(edit, Edit::Formulation { .. }) {
                continue;
            }
            let made = edit_now(&edit, pane.world.model()).map_err(|f| format!("{}; {}", f.message, f.hint))?;
            if k == 0 {
                self.version += u32::from(matches!(made, EngineEdit::Axes { .. }));
            }
            pane.world.record(made);
            pane.failure = None;
        }
        let drag = matches!(edit, Edit::Grab { .. } | Edit::Release { .. } | Edit::Thrust { .. });
        self.changes += u64::from(!drag);
        let time = self.time();
        self.recorded.push(Event { time, edit });
        Ok(Answer::Done)
    }

    fn draw(&mut self, points: &[[f64; 3]]) -> Outcome {
        let text = record::drawn_body(self, points)?;
        self.keep("drawing");
        self.restart(text, self.compare).map(|()| Answer::Done)
    }

    /// The scene as edited, with what was recorded as events.
    pub fn whole_text(&self) -> Result<String, String> {
        if self.recorded.is_empty() && self.panes[0].world.state().steps == 0 {
            return Ok(self.text.clone());
        }
        let events: String = self.recorded.iter().map(Event::to_toml).collect();
        let seconds = self.time();
        if seconds == 0.0 && self.recorded.is_empty() {
            return Ok(self.text.clone());
        }
        let seconds = if seconds > 0.0 { seconds } else { self.loaded.scene.clip.seconds };
        document::add_events(&self.text, &events, seconds)
            .ok_or_else(|| "the scene's events cannot be added to; write them as [[event]] tables".to_owned())
    }

    fn save(&mut self, file: &str, overwrite: bool) -> Result<String, String> {
        let name = plain_name(file)?;
        let folder = self.path.parent().unwrap_or(Path::new("")).to_path_buf();
        let path = folder.join(&name);
        if path.exists() && !overwrite {
            return Err(format!("{name} is there already; choose another name, or tick “overwrite”"));
        }
        let text = self.whole_text()?;
        Scene::load_edited(&text, &path).map_err(|faults| first(&faults))?;
        goop_output::whole::write(&path, text.as_bytes()).map_err(|error| error.to_string())?;
        let events = self.recorded.len();
        Ok(format!("saved {} ({events} recorded events, {:.3} s)", path.display(), self.time()))
    }

    /// Whether the text differs from the file.
    pub fn edited(&self) -> bool {
        self.text != self.original || !self.recorded.is_empty()
    }

    fn body_name(&self, body: usize) -> Result<String, String> {
        let bodies = &self.panes[0].world.model().bodies;
        bodies.get(body).map(|b| b.name.clone()).ok_or_else(|| format!("there is no body number {body}"))
    }

    fn nodes(&self, body: usize, nodes: Vec<u32>) -> Result<Vec<u32>, String> {
        let count = self.panes[0].world.model().bodies[body].len();
        match nodes.iter().find(|&&n| n as usize >= count) {
            _ if nodes.is_empty() => Err("no node was chosen".into()),
            _ if nodes.len() > MOST_NODES => Err(format!("at most {MOST_NODES} nodes at once")),
            Some(node) => Err(format!("there is no node {node}: the body has {count}")),
            None => Ok(nodes),
        }
    }

    fn new_obstacle(&self, kind: &str, position: [f64; 3], size: f64) -> Result<Obstacle, String> {
        if !(size.is_finite() && (1e-4..=1e4).contains(&size)) {
            return Err("the size of an obstacle is 0.1 mm to 10 km".into());
        }
        let shape = match kind {
            "plane" => ObstacleShape::Plane {},
            "sphere" => ObstacleShape::Sphere { radius: 0.5 * size },
            "ellipsoid" => ObstacleShape::Ellipsoid { radii: [0.6 * size, 0.3 * size, 0.4 * size] },
            "torus" => ObstacleShape::Torus { radius: 0.4 * size, tube: 0.14 * size },
            "hyperboloid" => ObstacleShape::Hyperboloid { waist: 0.2 * size, slope: 0.3 * size, height: size },
            "capsule" => ObstacleShape::Capsule { radius: 0.2 * size, length: 0.6 * size },
            "box" => ObstacleShape::Box { size: [size, 0.5 * size, 0.7 * size], round: 0.05 * size },
            _ => return Err(format!("there is no obstacle of the kind '{kind}'")),
        };
        let taken = &self.panes[0].world.model().obstacles;
        let name = (1..).map(|n| format!("{kind}-{n}")).find(|name| taken.iter().all(|o| o.name != *name));
        Ok(Obstacle {
            color: None,
            name: name.unwrap_or_default(),
            shape,
            position,
            rotation: [0.0; 3],
            hollow: false,
            friction: 0.3,
            range: 0.005,
            stiffness: None,
            damping: 0.2,
            tolerance: 1e-4,
            published: None,
            key: Vec::new(),
        })
    }

    /// Points of a drawn curve are few and finite.
    pub fn check_points(points: &[[f64; 3]]) -> Result<(), String> {
        if points.len() < 6 || points.len() > MOST_POINTS {
            return Err(format!("draw a curve of 6 to {MOST_POINTS} points; this one has {}", points.len()));
        }
        let good = |p: &[f64; 3]| p.iter().all(|c| c.is_finite() && c.abs() <= 1e6);
        if points.iter().all(good) { Ok(()) } else { Err("the curve has a point that is nowhere".into()) }
    }
}

/// One step, or all steps up to a time; the time reached.
fn step(pane: &mut Pane, until: Option<f64>) -> Option<f64> {
    if pane.failure.is_some() {
        return None;
    }
    let slack = 1e-9 * pane.world.model().step.dt;
    loop {
        if until.is_some_and(|goal| pane.world.time() + slack >= goal) {
            return Some(pane.world.time());
        }
        if let Err(failure) = pane.world.step() {
            pane.failure = Some(failure.to_string());
            return None;
        }
        if until.is_none() {
            return Some(pane.world.time());
        }
    }
}

/// Reads, builds and starts a scene; with states, where it stood then.
fn make(
    text: &str,
    path: &Path,
    recorded: &[Event],
    compare: Option<Formulation>,
    states: &[Checkpoint],
) -> Result<(Loaded, Built, Vec<Pane>), String> {
    let mut loaded = Scene::load_edited(text, path).map_err(|faults| first(&faults))?;
    let own = loaded.scene.event.len();
    loaded.scene.event.extend(recorded.iter().cloned());
    let build = |scene: &Scene| {
        scene
            .build(&loaded.folder)
            .map_err(|f| f.first().map_or(String::new(), |f| format!("{}: {}; {}", f.path, f.message, f.hint)))
    };
    let built = build(&loaded.scene)?;
    let mut models = vec![built.model.clone()];
    if let Some(formulation) = compare {
        let mut scene = loaded.scene.clone();
        for body in &mut scene.body {
            body.formulation = Some(formulation);
            (body.elasticity, body.coordinates, body.integrator) = (None, None, None);
            body.without.clear();
            body.solver.by_parts = false;
        }
        scene.event.retain(|event| !matches!(event.edit, Edit::Formulation { .. }));
        models.push(build(&scene)?.model);
    }
    let mut panes = Vec::new();
    for (k, model) in models.into_iter().enumerate() {
        let mut world = World::new(model);
        let mut failure = None;
        match states.get(k) {
            Some(state) => world.resume(state.clone())?,
            None if loaded.scene.step.settle => failure = world.settle().err().map(|f| format!("while settling: {f}")),
            None => {}
        }
        panes.push(Pane { world, failure });
    }
    loaded.scene.event.truncate(own);
    Ok((loaded, built, panes))
}

/// The first fault as a sentence, with its place.
fn first(faults: &Faults) -> String {
    let more = if faults.0.len() > 1 { format!(" (and {} more)", faults.0.len() - 1) } else { String::new() };
    faults.0.first().map_or(String::new(), |f| {
        format!("{}:{}:{}: {}; {}{more}", f.place.file, f.place.line, f.place.column, f.message, f.hint)
    })
}

/// Scene files of a folder, by name.
fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        (name.ends_with(".toml") && name != "Cargo.toml" && name != "rustfmt.toml" && entry.path().is_file())
            .then_some(name)
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).take(1000).collect();
    names.sort();
    names
}

/// A name of the list, to what stands behind it. The command line may name any file; a page
/// only names of the list, since what it sends is compared with them.
fn find(host: &Host, folder: &Path, name: &str) -> Result<(String, PathBuf, String), String> {
    if let Some((name, _, text)) = host.scenes.iter().find(|(built_in, _, _)| *built_in == name) {
        return Ok(((*name).to_owned(), folder.join(format!("{name}.toml")), (*text).to_owned()));
    }
    if !files(folder).iter().any(|file| file == name) {
        return Err(format!("there is no scene '{}' here", name.chars().take(80).collect::<String>()));
    }
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((name.to_owned(), path, text))
}

/// A file name without folders.
fn plain_name(file: &str) -> Result<String, String> {
    let name = file.strip_suffix(".toml").unwrap_or(file);
    let good = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    if name.is_empty() || name.len() > 100 || !name.chars().all(good) {
        return Err("a file name has letters, digits, - and _, and no folders".into());
    }
    Ok(format!("{name}.toml"))
}

fn word<W: Word>(text: &str) -> Result<W, String> {
    W::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
        format!("'{}' is not one of {}", text.chars().take(40).collect::<String>(), words.join(", "))
    })
}

fn word_of_integrator(text: &str) -> Result<scene::Integrator, String> {
    word(text)
}

/// Numbers that a scene file would refuse are refused here as well.
fn check_edit(edit: &Edit) -> Result<(), String> {
    use goop_scene::read::limits::*;
    let within = |name: &str, values: &[f64], range: goop_scene::reader::Range| match values
        .iter()
        .find(|v| !range.contains(**v))
    {
        Some(value) => Err(format!("{name} cannot be {value}: it must be {}", range.words())),
        None => Ok(()),
    };
    match edit {
        Edit::Grab { to, stiffness, .. } => {
            within("a point", to, COORDINATE).and_then(|()| within("the stiffness", &[*stiffness], STIFFNESS))
        }
        Edit::Thrust { newtons, .. } => within("a force", newtons, FORCE),
        Edit::Parameter { key, value: ParameterValue::Vector(v), .. } => {
            within(key, v, if key == "gravity" { ACCELERATION } else { SPEED })
        }
        Edit::Parameter { key, value: ParameterValue::Number(v), .. } => {
            let range = match key.as_str() {
                "density" => DENSITY,
                "young" => YOUNG,
                "poisson" => POISSON,
                "thickness" | "radius" => THICKNESS,
                "damping" => DAMPING,
                "drag" => DRAG,
                "friction" => FRICTION,
                "yield" => STRAIN,
                "flow" => RATE,
                "flow-limit" | "tear" => STRAIN_LIMIT,
                "k" | "d" | "c" | "shear" | "bend" => CONSTANT,
                _ => return Err(format!("a material has no '{}'", key.chars().take(40).collect::<String>())),
            };
            within(key, &[*v], range)
        }
        Edit::Obstacle { position: Some(position), .. } => within("a place", position, COORDINATE),
        Edit::Add(obstacle) => within("a place", &obstacle.position, COORDINATE),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# mine
format = 1
[clip]
fps = 30
[[body]]
name = "sheet"
formulation = "implicit"
shape.rectangle = { size = [1, 1], nodes = [6, 6] }
material = { young = 2e5 }   # soft
[[body.pin]]
at = "corners"
"#;

    fn session(folder: &Path) -> Session {
        std::fs::write(folder.join("mine.toml"), TEXT).unwrap();
        let host = Host {
            scenes: vec![("built-in", String::new(), TEXT)],
            check: |_| Vec::new(),
            outputs: |_, _, _, _| Err("none here".into()),
        };
        let options = Options { scene: "mine.toml".into(), folder: folder.to_path_buf(), ..Options::default() };
        Session::open(&options, host).unwrap()
    }

    fn play(session: &mut Session, seconds: f64) {
        let goal = session.time() + seconds;
        while session.time() < goal {
            session.step();
        }
    }

    fn done(session: &mut Session, json: &str) {
        let command: Command = serde_json::from_str(json).unwrap();
        session.command(command).unwrap_or_else(|sentence| panic!("{json}: {sentence}"));
    }

    fn replayed(session: &Session) -> u128 {
        let text = session.whole_text().unwrap();
        let (scene, _) = Scene::parse(&text, "saved").unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        let mut world = World::new(scene.build(Path::new("")).unwrap().model);
        world.frame_at(scene.clip.seconds).unwrap();
        world.do_due_events();
        world.state().hash()
    }

    /// Catches an edit that is not recorded as it was done, or is done at another place in the step.
    #[test]
    fn a_saved_session_replays_to_the_same_hash() {
        let folder = tempfile::tempdir().unwrap();
        let mut s = session(folder.path());
        done(&mut s, r#"{"do":"pin","body":0,"nodes":[14]}"#);
        done(&mut s, r#"{"do":"unpin","body":0,"nodes":[0]}"#);
        assert!(s.at_start() && s.recorded.is_empty(), "at the start the text changes");
        play(&mut s, 0.2);
        for k in 0..10 {
            done(
                &mut s,
                &format!(
                    r#"{{"do":"grab","body":0,"node":21,"to":[0.1,{},0],"gesture":1,"strength":1}}"#,
                    0.05 * f64::from(k)
                ),
            );
            play(&mut s, 0.02);
        }
        done(&mut s, r#"{"do":"release","body":0}"#);
        done(&mut s, r#"{"do":"material","body":0,"key":"young","value":500000}"#);
        play(&mut s, 0.05);
        done(&mut s, r#"{"do":"material","body":0,"key":"damping","value":0.3}"#);
        done(&mut s, r#"{"do":"add-obstacle","kind":"sphere","position":[0,-0.5,0],"size":0.5}"#);
        play(&mut s, 0.1);
        done(&mut s, r#"{"do":"move-obstacle","name":"sphere-1","position":[0.1,-0.4,0]}"#);
        done(&mut s, r#"{"do":"formulation","body":0,"to":"spring","integrator":"symplectic-euler"}"#);
        done(&mut s, r#"{"do":"thrust","body":0,"nodes":[35],"newtons":[0,3,0]}"#);
        play(&mut s, 0.2);
        done(&mut s, r#"{"do":"remove-obstacle","name":"sphere-1"}"#);
        done(&mut s, r#"{"do":"pin","body":0,"nodes":[0]}"#);
        done(&mut s, r#"{"do":"world","gravity":[0,-3,0],"wind":null}"#);
        assert!(s.failure().is_none(), "{:?}", s.failure());
        let hash = s.panes[0].world.state().hash();
        assert_eq!(replayed(&s), hash, "an edit after the last step");
        play(&mut s, 0.15);
        assert_eq!(replayed(&s), s.panes[0].world.state().hash());
        assert!(s.whole_text().unwrap().contains("# soft"));
    }

    /// Catches an undo that leaves something of what it takes back, and a branch that goes another way.
    #[test]
    fn undo_and_going_on_from_a_frame_lead_to_the_same_states() {
        let folder = tempfile::tempdir().unwrap();
        let mut s = session(folder.path());
        play(&mut s, 0.5);
        let (before, time) = (s.panes[0].world.state().hash(), s.time());
        done(&mut s, r#"{"do":"material","body":0,"key":"young","value":9e5}"#);
        play(&mut s, 0.3);
        done(&mut s, r#"{"do":"formulation","body":0,"to":"primal","integrator":null}"#);
        play(&mut s, 0.2);
        done(&mut s, r#"{"do":"undo"}"#);
        done(&mut s, r#"{"do":"undo"}"#);
        assert_eq!((s.panes[0].world.state().hash(), s.time()), (before, time));
        play(&mut s, 0.7);
        let frame = s.frame();
        let end = s.panes[0].world.state().hash();
        let later = s.time();
        done(&mut s, r#"{"do":"scrub","frame":17}"#);
        done(&mut s, r#"{"do":"branch"}"#);
        assert_eq!((s.frame(), s.ring.range()), (17, Some((0, 17))));
        while s.time() < later {
            s.step();
        }
        assert_eq!((s.panes[0].world.state().hash(), s.frame()), (end, frame));
        done(&mut s, r#"{"do":"reset"}"#);
        assert!(s.time() == 0.0 && s.at_start());
        done(&mut s, r#"{"do":"undo"}"#);
        assert_eq!(s.panes[0].world.state().hash(), end);
    }

    /// Catches a page that reads or writes outside its folder.
    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut s = session(folder.path());
        for name in ["../mine.toml", "/etc/passwd", "", "sub/mine.toml", "mine.toml/..", "..\\mine.toml"] {
            let scene = Command::Scene { name: name.to_owned() };
            assert!(s.command(scene).is_err(), "{name}");
            let file = if name == "mine.toml" { "x/y" } else { name };
            assert!(s.command(Command::Save { file: file.to_owned(), overwrite: true }).is_err(), "{name}");
        }
        assert!(s.command(Command::Save { file: "mine".into(), overwrite: false }).is_err(), "it is there already");
        assert!(s.command(Command::Save { file: "new".into(), overwrite: false }).is_ok());
        assert!(folder.path().join("new.toml").is_file());
    }

    /// Catches a second pane that is driven otherwise, or ends up the same.
    #[test]
    fn two_formulations_feel_the_same_edits() {
        let folder = tempfile::tempdir().unwrap();
        let mut s = session(folder.path());
        done(&mut s, r#"{"do":"compare","formulation":"hybrid"}"#);
        play(&mut s, 0.2);
        done(&mut s, r#"{"do":"grab","body":0,"node":21,"to":[0,0.4,0],"gesture":1,"strength":1}"#);
        play(&mut s, 0.4);
        let times: Vec<f64> = s.panes.iter().map(|p| p.world.time()).collect();
        assert!((times[0] - times[1]).abs() < 1e-9, "{times:?}");
        let height = |k: usize| s.panes[k].world.state().bodies[0].positions[21].y;
        assert!(height(0) > 0.02 && height(1) > 0.02 && height(0) != height(1), "{} {}", height(0), height(1));
        assert_eq!(replayed(&s), s.panes[0].world.state().hash());
    }
}
