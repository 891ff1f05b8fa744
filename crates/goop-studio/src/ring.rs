//! Recorded frames, bounded by bytes: the oldest go first. Now and then a frame keeps the
//! state as well, from which time can go on.

use goop::Frame;
use goop::checkpoint::Checkpoint;
use std::collections::VecDeque;

/// A state is kept this often (frames).
pub const KEEP_STATE_EVERY: usize = 12;

/// A recorded frame.
pub struct Entry {
    /// The frame of every pane.
    pub frames: Vec<Frame>,
    /// How many edits had been recorded.
    pub edits: usize,
    /// The state of every pane; empty for most frames.
    pub states: Vec<Checkpoint>,
    bytes: usize,
}

/// The record.
pub struct Ring {
    entries: VecDeque<Entry>,
    bytes: usize,
    reserved: usize,
    /// Most bytes.
    pub limit: usize,
}

impl Ring {
    /// Empty, with room for so many bytes.
    pub fn new(limit: usize) -> Ring {
        Ring { entries: VecDeque::new(), bytes: 0, reserved: 0, limit }
    }

    /// Takes a frame; those that there is no room for any more are dropped.
    pub fn push(&mut self, frames: Vec<Frame>, edits: usize, states: Vec<Checkpoint>) {
        let bytes = frames.iter().map(frame_bytes).sum::<usize>() + states.iter().map(Checkpoint::bytes).sum::<usize>();
        self.bytes += bytes;
        self.entries.push_back(Entry { frames, edits, states, bytes });
        self.fit();
    }

    /// Leaves so many bytes of its room to others.
    pub fn reserve(&mut self, bytes: usize) {
        self.reserved = bytes;
        self.fit();
    }

    fn fit(&mut self) {
        while self.bytes() > self.limit && self.entries.len() > 1 {
            if let Some(old) = self.entries.pop_front() {
                self.bytes -= old.bytes;
            }
        }
    }

    /// First and last number of the frames that are kept.
    pub fn range(&self) -> Option<(usize, usize)> {
        let number = |entry: &Entry| entry.frames.first().map_or(0, |f| f.index);
        Some((number(self.entries.front()?), number(self.entries.back()?)))
    }

    /// A frame by its number.
    pub fn get(&self, frame: usize) -> Option<&Entry> {
        self.entries.get(frame.checked_sub(self.range()?.0)?)
    }

    /// The last frame up to this one that kept its state.
    pub fn state_before(&self, frame: usize) -> Option<&Entry> {
        let at = frame.checked_sub(self.range()?.0)?;
        self.entries.iter().take(at + 1).rfind(|entry| !entry.states.is_empty())
    }

    /// Drops all frames after this one.
    pub fn cut_after(&mut self, frame: usize) {
        while self.range().is_some_and(|(_, last)| last > frame) {
            if let Some(old) = self.entries.pop_back() {
                self.bytes -= old.bytes;
            }
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    /// Bytes in use, with those that others have.
    pub fn bytes(&self) -> usize {
        self.bytes + self.reserved
    }

    /// The frames of the first pane, oldest first.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.entries.iter().filter_map(|entry| entry.frames.first())
    }
}

fn frame_bytes(frame: &Frame) -> usize {
    let body = |b: &goop::frame::BodyFrame| {
        28 * b.positions.len() + 12 * b.drawn.as_ref().map_or(0, Vec::len) + 4 * (b.pinned.len() + b.sprung.len()) + 512
    };
    frame.bodies.iter().map(body).sum::<usize>()
        + 64 * frame.obstacles.len()
        + 8 * frame.contacts.len()
        + 24 * frame.forces.len()
        + 256
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(index: usize) -> Frame {
        let body = goop::frame::BodyFrame { positions: vec![[0.0; 3]; 100], ..Default::default() };
        Frame { index, bodies: vec![body], ..Frame::default() }
    }

    /// Catches a record that grows without end, or loses count of what it holds.
    #[test]
    fn the_record_is_bounded_and_knows_how_far_back_it_goes() {
        let one = frame_bytes(&frame(0));
        let mut ring = Ring::new(10 * one);
        (0..25).for_each(|k| ring.push(vec![frame(k)], k, Vec::new()));
        assert_eq!(ring.range(), Some((15, 24)));
        assert!(ring.get(14).is_none() && ring.get(25).is_none());
        assert_eq!(ring.get(20).map(|e| e.edits), Some(20));
        ring.reserve(3 * one);
        assert_eq!((ring.range(), ring.bytes()), (Some((18, 24)), 10 * one), "others have a part of its room");
        ring.reserve(0);
        (25..28).for_each(|k| ring.push(vec![frame(k)], k, Vec::new()));
        ring.cut_after(21);
        assert_eq!((ring.range(), ring.bytes()), (Some((18, 21)), 4 * one));
        ring.clear();
        assert_eq!((ring.range(), ring.bytes()), (None, 0));
    }
}
