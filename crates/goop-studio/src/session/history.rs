//! Ways back and forth: undo, redo, and going on from a recorded frame.

use super::{Answer, Outcome, Session};
use goop::checkpoint::Checkpoint;
use goop_scene::scene::{Event, Formulation};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ways back that are kept.
const MOST_UNDO: usize = 100;
/// Changes of the same value that follow each other within this time are undone as one.
const ONE_CHANGE: Duration = Duration::from_millis(800);

/// Everything that an undo brings back.
pub struct Snapshot {
    label: String,
    at: Instant,
    text: String,
    recorded: Vec<Arc<Event>>,
    states: Vec<Checkpoint>,
    frame: usize,
    compare: Option<Formulation>,
}

impl Snapshot {
    fn bytes(&self) -> usize {
        self.states.iter().map(Checkpoint::bytes).sum::<usize>() + self.text.len() + 8 * self.recorded.len()
    }
}

impl Session {
    /// What an undo would take back.
    pub fn undo_label(&self) -> Option<&str> {
        self.undo.last().map(|s| s.label.as_str())
    }

    /// What a redo would do again.
    pub fn redo_label(&self) -> Option<&str> {
        self.redo.last().map(|s| s.label.as_str())
    }

    fn snapshot(&self, label: &str) -> Snapshot {
        let states = if self.panes[0].world.state().steps == 0 { Vec::new() } else { self.states() };
        Snapshot {
            label: label.to_owned(),
            at: Instant::now(),
            text: self.text.clone(),
            recorded: self.recorded.clone(),
            states,
            frame: self.next_frame,
            compare: self.compare,
        }
    }

    /// Keeps a way back. Changes of the same kind that follow closely are one.
    pub(super) fn keep(&mut self, label: &str) {
        self.kept = true;
        if let Some(last) = self.undo.last_mut()
            && label.starts_with("change")
            && last.label == label
            && last.at.elapsed() < ONE_CHANGE
        {
            last.at = Instant::now();
            return;
        }
        let now = self.snapshot(label);
        self.undo.push(now);
        self.forget_oldest();
    }

    /// Ways back and forth share the record's memory, at most an eighth of it.
    fn forget_oldest(&mut self) {
        let bytes = |list: &[Snapshot]| list.iter().map(Snapshot::bytes).sum::<usize>();
        while self.undo.len() > MOST_UNDO
            || (self.undo.len() > 1 && bytes(&self.undo) + bytes(&self.redo) > self.ring.limit / 8)
        {
            self.undo.remove(0);
        }
        while self.redo.len() > 1 && bytes(&self.redo) > self.ring.limit / 8 {
            self.redo.remove(0);
        }
        self.ring.reserve(bytes(&self.undo) + bytes(&self.redo));
    }

    /// Takes the last change back.
    pub(super) fn go_back(&mut self) -> Outcome {
        let Some(there) = self.undo.pop() else { return Err("there is nothing to undo".into()) };
        let (label, now) = (there.label.clone(), self.snapshot(&there.label));
        self.go_to(there)?;
        self.redo.push(now);
        self.forget_oldest();
        Ok(Answer::Notice(format!("undone: {label}")))
    }

    /// Does again what was taken back last.
    pub(super) fn go_forth(&mut self) -> Outcome {
        let Some(there) = self.redo.pop() else { return Err("there is nothing to do again".into()) };
        let (label, now) = (there.label.clone(), self.snapshot(&there.label));
        self.go_to(there)?;
        self.undo.push(now);
        self.forget_oldest();
        Ok(Answer::Notice(format!("done again: {label}")))
    }

    fn go_to(&mut self, there: Snapshot) -> Result<(), String> {
        self.rebuild(there.text, there.recorded, there.compare, &there.states)?;
        if there.states.is_empty() {
            self.ring.clear();
            self.next_frame = 0;
            self.note_frames();
            return Ok(());
        }
        self.ring.cut_after(there.frame.saturating_sub(1));
        self.next_frame = there.frame;
        // The record of a time before a reset, or after an undo, is gone; it goes on from here.
        if self.ring.range().is_none_or(|(_, newest)| newest + 1 != self.next_frame) {
            self.ring.clear();
            self.note_frames();
        }
        Ok(())
    }

    /// Looks at a recorded frame.
    pub(super) fn scrub(&mut self, frame: usize) -> Outcome {
        let (first, last) = self.ring.range().ok_or("nothing is recorded yet")?;
        if !(first..=last).contains(&frame) {
            return Err(format!("frame {frame} is not kept: the record goes from {first} to {last}"));
        }
        self.viewing = (frame < last).then_some(frame);
        Ok(Answer::Done)
    }

    /// Goes on from the frame that is looked at.
    pub(super) fn branch(&mut self) -> Outcome {
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
}
