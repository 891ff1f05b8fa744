//! A scene being played with: its text, its worlds, what was recorded, and the way back.
//!
//! Before the first step an edit changes the text and the scene is built anew; afterwards
//! it is recorded as an event at the time it was made. Both give the scene that `goop run`
//! reproduces. Undo goes back to just before a change, time included.

mod edits;
mod history;
mod open;
#[cfg(test)]
mod tests;

use crate::protocol::Command;
use crate::ring::{KEEP_STATE_EVERY, Ring};
use crate::{Host, Options, record};
use goop::checkpoint::Checkpoint;
use goop::{Frame, World};
use goop_scene::scene::{Event, Formulation};
use goop_scene::{Built, Loaded};
use history::Snapshot;
use open::{files, find, make};
use std::path::PathBuf;
use std::sync::Arc;

/// A world that is shown.
pub struct Pane {
    /// The world.
    pub world: World,
    /// Why it cannot go on.
    pub failure: Option<String>,
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
    pub recorded: Vec<Arc<Event>>,
    /// Frames that were shown.
    pub ring: Ring,
    /// The recorded frame that is looked at.
    pub viewing: Option<usize>,
    undo: Vec<Snapshot>,
    redo: Vec<Snapshot>,
    /// The command being done has kept a way back.
    kept: bool,
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
            redo: Vec::new(),
            kept: false,
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
            // A record that begins anew begins with a state.
            let keep = index.is_multiple_of(KEEP_STATE_EVERY) || self.ring.range().is_none();
            let states = if keep { self.states() } else { Vec::new() };
            self.ring.push(frames, self.recorded.len(), states);
            self.next_frame += 1;
        }
    }

    fn states(&self) -> Vec<Checkpoint> {
        self.panes.iter().map(|pane| pane.world.checkpoint()).collect()
    }
    /// Builds everything anew from a text and what was recorded, at states taken before.
    fn rebuild(
        &mut self,
        text: String,
        recorded: Vec<Arc<Event>>,
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
        self.kept = false;
        let answer = self.obey(command);
        if answer.is_err() && self.undo.len() > ways {
            self.undo.pop();
        }
        if answer.is_ok() && self.kept {
            self.redo.clear();
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
            Command::Redo => self.go_forth(),
            Command::Save { file, overwrite } => self.save(&file, overwrite).map(Answer::Notice),
            Command::Export { format } => record::export(self, &format).map(Answer::Notice),
            // The engine's and the server's own.
            Command::Play
            | Command::Pause
            | Command::Toggle
            | Command::Speed { .. }
            | Command::View { .. }
            | Command::Drawn { .. } => Ok(Answer::Done),
            edit => self.edit(edit),
        }
    }

    fn choose(&mut self, name: &str) -> Outcome {
        let (name, path, text) = find(&self.host, &self.folder, name)?;
        let (loaded, built, panes) = make(&text, &path, &[], None, &[])?;
        (self.loaded, self.built, self.panes) = (loaded, built, panes);
        (self.name, self.path, self.original, self.text) = (name, path, text.clone(), text);
        (self.recorded, self.compare, self.viewing, self.gesture) = (Vec::new(), None, None, None);
        self.undo.clear();
        self.redo.clear();
        self.ring.clear();
        self.ring.reserve(0);
        self.next_frame = 0;
        self.version += 1;
        self.changes += 1;
        self.note_frames();
        Ok(Answer::Done)
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
