//! Biovision hierarchy (BVH): joints as a tree of offsets, then rows of channel values.
//!
//! Nobody owns the format, so all that is met is taken: any case, line ends and
//! indentation, braces on any line, names with spaces, named or missing end sites, any
//! order and number of channels, frames wrapped over lines. The rows count, not the
//! header's number of them. Values are as in the file: no unit, no axis up, degrees.

use super::RigError;
use super::bvh_text::{Reader, lines};
use crate::mesh::{Fault, Place, fault, read_bytes};
use glam::{DQuat, DVec3};
use std::path::Path;

/// Largest file (bytes).
const MOST_BYTES: u64 = 1 << 28;

/// What a number in a row stands for; the axis is 0, 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A coordinate in the parent, in place of the offset's.
    Position(usize),
    /// A turn about an axis (degrees), applied after those listed behind it.
    Rotation(usize),
}

/// A joint as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhJoint {
    /// Its name, as given.
    pub name: String,
    /// The joint that carries it; stands before it in the list.
    pub parent: Option<usize>,
    /// Where it stands in its parent, in the file's unit.
    pub offset: DVec3,
    /// Where its bone ends, in its own axes.
    pub end: Option<DVec3>,
    /// What its numbers stand for, in the order of the row.
    pub channels: Vec<Channel>,
    /// Where they begin in a row.
    pub first: usize,
}

/// A BVH file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bvh {
    /// The joints, parents before children.
    pub joints: Vec<BvhJoint>,
    /// Numbers in a row.
    pub channels: usize,
    /// Time from row to row (s).
    pub frame_time: f64,
    /// Number of rows.
    pub frames: usize,
    /// The rows, one after the other.
    pub values: Vec<f64>,
    /// What was odd but did no harm, in sentences.
    pub warnings: Vec<String>,
}

/// Reads a BVH file.
pub fn read_bvh(path: &Path) -> Result<Bvh, RigError> {
    let bytes = read_bytes(path, MOST_BYTES).map_err(|fault| Fault {
        remedy: if fault.message.contains("longer") { "cut the motion into pieces".into() } else { fault.remedy },
        ..fault
    });
    bytes.and_then(|bytes| Bvh::parse(&bytes)).map_err(|fault| RigError::new(path, fault))
}

impl Bvh {
    /// Reads the content of a BVH file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Bvh, Fault> {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(fault(Place::File, "the text is UTF-16", "save it as UTF-8"));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = Reader::default();
        let mut last = 0;
        for (line, text) in lines(bytes) {
            last = line;
            let text = String::from_utf8_lossy(text);
            reader.line(line, &text)?;
        }
        reader.finish(last)
    }

    /// Place of a joint in its parent in a frame, in the file's unit.
    pub fn local(&self, joint: usize, frame: usize) -> (DVec3, DQuat) {
        let joint = &self.joints[joint];
        let row = &self.values[frame * self.channels..][..self.channels];
        let (mut position, mut rotation) = (joint.offset, DQuat::IDENTITY);
        for (channel, &value) in joint.channels.iter().zip(&row[joint.first..]) {
            match *channel {
                Channel::Position(axis) => position[axis] = value,
                Channel::Rotation(axis) => {
                    rotation *= DQuat::from_axis_angle(DVec3::AXES[axis], value.to_radians());
                }
            }
        }
        (position, rotation.normalize())
    }
}
