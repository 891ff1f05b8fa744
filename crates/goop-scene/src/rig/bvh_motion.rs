//! From a BVH file to a motion in metres, y up, with a pose to compare others by.
//!
//! The file states neither unit nor axis: `bvh_guess` finds them, options tell them. The
//! reference pose, in which the body stands straight, is the one without rotations or the
//! first frame, whichever is straighter; a first frame that the next one leaves at more
//! than 30 m/s is no part of the motion.

use super::bvh::{Bvh, Channel};
use super::bvh_guess::{find_unit, find_up, slant};
use super::curve::{Curve, Interpolation};
use super::motion::{FASTEST, Motion, Track};
use super::roles::{Role, named, roles};
use super::skeleton::{Joint, Skeleton, Transform};
use super::{RigError, distinguish};
use crate::mesh::{Place, fault};
use glam::{DAffine3, DQuat};
use std::f64::consts::{FRAC_PI_2, PI};
use std::path::Path;
use std::sync::Arc;

/// Most frames looked at to find up and height.
const MOST_SAMPLES: usize = 200;
/// Most frames left out at the start.
const MOST_SKIPPED: usize = 5;

/// The axis that points up in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Up {
    /// x, y, z: 0, 1, 2.
    pub axis: usize,
    /// Whether up is the negative direction.
    pub negative: bool,
}

impl Up {
    /// y, as everywhere in here.
    pub const Y: Up = Up { axis: 1, negative: false };
    /// z, as in Blender, Unreal and 3ds Max.
    pub const Z: Up = Up { axis: 2, negative: false };

    fn world_from_file(self) -> DQuat {
        match (self.axis, self.negative) {
            (0, false) => DQuat::from_rotation_z(FRAC_PI_2),
            (0, true) => DQuat::from_rotation_z(-FRAC_PI_2),
            (2, false) => DQuat::from_rotation_x(-FRAC_PI_2),
            (2, true) => DQuat::from_rotation_x(FRAC_PI_2),
            (_, true) => DQuat::from_rotation_x(PI),
            _ => DQuat::IDENTITY,
        }
    }
}

/// What a BVH file does not say; `None`: guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BvhOptions {
    /// The axis that points up.
    pub up: Option<Up>,
    /// Length of the file's unit (m).
    pub unit: Option<f64>,
    /// The frame in which the body stands straight, from 0; `Some(None)`: the pose without rotations.
    pub bind_frame: Option<Option<usize>>,
    /// The frame that is time zero, from 0.
    pub start_frame: Option<usize>,
}

/// A motion and what was found out about it.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhMotion {
    /// The motion (m, s, y up).
    pub motion: Motion,
    /// The part of the body of every joint.
    pub roles: Vec<Role>,
    /// The pose in which the body stands straight.
    pub reference: Vec<DAffine3>,
    /// The axis that was taken as up.
    pub up: Up,
    /// The length that was taken as the unit (m).
    pub unit: f64,
    /// The frame that became time zero.
    pub start_frame: usize,
    /// What was guessed and why, in sentences.
    pub notes: Vec<String>,
}

impl Bvh {
    /// The joints in the file's unit and axes.
    fn skeleton(&self) -> (Skeleton, usize) {
        let rest = |offset| Transform { translation: offset, ..Transform::default() };
        let joint =
            |j: &super::BvhJoint| Joint { name: j.name.clone(), parent: j.parent, rest: rest(j.offset), end: j.end };
        let mut joints: Vec<Joint> = self.joints.iter().map(joint).collect();
        let renamed = distinguish(&mut joints);
        (Skeleton { joints }, renamed)
    }

    /// The motion in metres, y up. `file` is for its name and for messages.
    pub fn motion(&self, file: &Path, options: &BvhOptions) -> Result<BvhMotion, RigError> {
        let refuse = |message: String, remedy: &str| RigError::new(file, fault(Place::File, message, remedy));
        let frame_there = |frame: usize| {
            let message = format!("frame {frame} is asked for, but there are {}", self.frames);
            if frame < self.frames { Ok(frame) } else { Err(refuse(message, "frames count from 0")) }
        };
        let (mut skeleton, renamed) = self.skeleton();
        let mut notes = self.warnings.clone();
        if renamed > 0 {
            notes.push(format!("{renamed} joints share a name with another and are numbered: #2, #3 …"));
        }
        let names = named(&skeleton);
        let step = self.frames.div_ceil(MOST_SAMPLES).max(1);
        let mut samples: Vec<Vec<DAffine3>> = (0..self.frames)
            .step_by(step)
            .map(|frame| {
                skeleton.world(|i| {
                    let (position, rotation) = self.local(i, frame);
                    DAffine3::from_rotation_translation(rotation, position)
                })
            })
            .collect();
        samples.push(skeleton.rest_pose());
        let up = options.up.unwrap_or_else(|| {
            let (up, why) = find_up(&skeleton, &names, &samples);
            if up != Up::Y {
                let sign = if up.negative { "-" } else { "" };
                notes.push(format!("{sign}{} is taken as up: {why}", ["x", "y", "z"][up.axis.min(2)]));
            }
            up
        });
        let turn = up.world_from_file();
        let unit = match options.unit {
            Some(unit) if unit.is_finite() && unit > 0.0 => unit,
            Some(unit) => return Err(refuse(format!("the unit {unit} is no length"), "give metres for one unit")),
            None => {
                let (unit, why) = find_unit(&skeleton, &names, &samples, turn);
                notes.push(why);
                unit
            }
        };
        drop(samples);
        for joint in &mut skeleton.joints {
            joint.rest.translation *= unit;
            joint.end = joint.end.map(|end| end * unit);
            if joint.parent.is_none() {
                joint.rest.translation = turn * joint.rest.translation;
                joint.rest.rotation = turn;
            }
        }
        if !skeleton.rest_pose().iter().all(|place| place.translation.is_finite()) {
            return Err(refuse("the offsets are too large to add up".into(), "correct them"));
        }
        let skeleton = Arc::new(skeleton);
        let name = file.file_stem().map_or("motion".into(), |stem| stem.to_string_lossy().into_owned());
        let mut motion = Motion {
            name,
            skeleton: skeleton.clone(),
            tracks: self.tracks(turn, unit),
            start: 0.0,
            duration: self.frames.saturating_sub(1) as f64 * self.frame_time,
        };
        if self.frames == 0 {
            notes.push("the file has no frames: the body holds the pose without rotations".into());
        }
        let rest = skeleton.rest_pose();
        let first = motion.pose(0.0);
        let reference = match options.bind_frame {
            Some(None) => rest,
            Some(Some(frame)) => motion.pose(frame_there(frame)? as f64 * self.frame_time),
            None if self.frames > 0 && slant(&names, &first) < slant(&names, &rest) - 0.05 => {
                notes.push("the body stands straightest in frame 0, which is taken as its reference pose".into());
                first
            }
            None => rest,
        };
        let start_frame = match options.start_frame {
            Some(frame) => frame_there(frame)?,
            None => self.find_start(&motion),
        };
        if start_frame > 0 && options.start_frame.is_none() {
            notes.push(format!(
                "the motion starts at frame {start_frame}: the body leaves the frame before at more than {FASTEST} m/s"
            ));
        }
        motion = motion.starting_at(start_frame as f64 * self.frame_time);
        notes.extend(motion.speed_warning());
        let roles = roles(&skeleton, &reference);
        Ok(BvhMotion { motion, roles, reference, up, unit, start_frame, notes })
    }

    fn tracks(&self, turn: DQuat, unit: f64) -> Vec<Track> {
        if self.frames == 0 {
            return vec![Track::default(); self.joints.len()];
        }
        let times: Arc<[f64]> = (0..self.frames).map(|frame| frame as f64 * self.frame_time).collect();
        let track = |(i, joint): (usize, &super::BvhJoint)| {
            let turn = if joint.parent.is_none() { turn } else { DQuat::IDENTITY };
            let interpolation = Interpolation::Linear;
            let moves = joint.channels.iter().any(|channel| matches!(channel, Channel::Position(_)));
            let turns = joint.channels.iter().any(|channel| matches!(channel, Channel::Rotation(_)));
            let locals = || (0..self.frames).map(|frame| self.local(i, frame));
            Track {
                translation: moves.then(|| Curve {
                    times: times.clone(),
                    values: locals().map(|(position, _)| turn * position * unit).collect(),
                    interpolation,
                }),
                rotation: turns.then(|| Curve {
                    times: times.clone(),
                    values: locals().map(|(_, rotation)| turn * rotation).collect(),
                    interpolation,
                }),
                scale: None,
            }
        };
        self.joints.iter().enumerate().map(track).collect()
    }

    /// The first frame that no jump leaves.
    fn find_start(&self, motion: &Motion) -> usize {
        let mut start = 0;
        let mut before = motion.points(0.0);
        // One frame at least must be left to move to.
        for frame in 1..self.frames.saturating_sub(1).min(MOST_SKIPPED + 1) {
            let after = motion.points(frame as f64 * self.frame_time);
            let way = before.iter().zip(&after).map(|(a, b)| a.1.distance(b.1)).fold(0.0, f64::max);
            if way / self.frame_time > FASTEST {
                start = frame;
            }
            before = after;
        }
        start
    }
}
