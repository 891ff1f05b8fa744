//! Where frames go.

use crate::error::OutputError;
use goop::frame::Frame;

/// An output that takes frames in order.
pub trait Sink {
    /// Takes one frame; what it has written so far is usable if the run ends here.
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError>;

    /// How far its files have come (its own measure), kept in checkpoints: a resumed
    /// run opens the sink again there. 0 for sinks whose files are each written whole.
    fn mark(&self) -> u64 {
        0
    }

    /// Ends the output; no frame comes after.
    fn finish(&mut self) -> Result<(), OutputError>;
}
