//! How a skeleton moves: a curve for each part of each joint's place in its parent.
//!
//! A joint's place is W = W_parent T R S; the rate is its exact derivative
//! ```text
//! Ẇ = Ẇ_parent L + W_parent L̇,    L̇ = (ω×R S + R Ṡ, ṫ)
//! ```
//! so a point fixed to a joint has the velocity Ẇ p the moment it is asked for. At a
//! key, where linear motion has a corner, the rate is that of what follows.

use super::curve::Curve;
use super::skeleton::{Skeleton, Transform};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::sync::Arc;

/// Speed above which a bone is suspected of a jump in the data (m/s).
pub const FASTEST: f64 = 30.0;

/// How one joint moves in its parent; what has no curve stays at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Place (m).
    pub translation: Option<Curve<DVec3>>,
    /// Orientation.
    pub rotation: Option<Curve<DQuat>>,
    /// Scale (-).
    pub scale: Option<Curve<DVec3>>,
}

/// A skeleton with a track for each of its joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Its name in the file, or the file's own.
    pub name: String,
    /// The joints.
    pub skeleton: Arc<Skeleton>,
    /// One for each joint.
    pub tracks: Vec<Track>,
    /// The time in the curves that is time zero (s).
    pub start: f64,
    /// How long it lasts from there (s); afterwards the last pose is held.
    pub duration: f64,
}

/// How fast a joint moves, where and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Speed (m/s).
    pub speed: f64,
    /// The joint.
    pub joint: usize,
    /// The time (s), counted from the start.
    pub time: f64,
}

impl Motion {
    /// Place of a joint in its parent, with the rates of translation, rotation and scale.
    fn local(&self, joint: usize, time: f64) -> (Transform, [DVec3; 3]) {
        let (mut place, mut rates) = (self.skeleton.joints[joint].rest, [DVec3::ZERO; 3]);
        let track = &self.tracks[joint];
        if let Some((value, rate)) = track.translation.as_ref().and_then(|curve| curve.sample(time)) {
            (place.translation, rates[0]) = (value, rate);
        }
        if let Some((value, rate)) = track.rotation.as_ref().and_then(|curve| curve.sample(time)) {
            (place.rotation, rates[1]) = (value, rate);
        }
        if let Some((value, rate)) = track.scale.as_ref().and_then(|curve| curve.sample(time)) {
            (place.scale, rates[2]) = (value, rate);
        }
        (place, rates)
    }

    fn clock(&self, time: f64) -> f64 {
        self.start + time.clamp(0.0, self.duration)
    }

    /// `world_from_joint` of every joint at a time (s).
    pub fn pose(&self, time: f64) -> Vec<DAffine3> {
        let clock = self.clock(time);
        self.skeleton.world(|i| self.local(i, clock).0.affine())
    }

    /// The pose at a time, and its derivative: a point p fixed to a joint is at
    /// `pose.transform_point3(p)` and moves at `rate.matrix3 * p + rate.translation` (m/s).
    pub fn pose_and_rate(&self, time: f64) -> (Vec<DAffine3>, Vec<DAffine3>) {
        let still = !(0.0..self.duration).contains(&time);
        let clock = self.clock(time);
        let mut pose: Vec<DAffine3> = Vec::with_capacity(self.tracks.len());
        let mut rate: Vec<DAffine3> = Vec::with_capacity(self.tracks.len());
        for (i, joint) in self.skeleton.joints.iter().enumerate() {
            let (place, mut rates) = self.local(i, clock);
            if still {
                rates = [DVec3::ZERO; 3];
            }
            let [moving, spin, growing] = rates;
            let turn = DMat3::from_quat(place.rotation);
            let cross = DMat3::from_cols(spin.cross(DVec3::X), spin.cross(DVec3::Y), spin.cross(DVec3::Z));
            let local = place.affine();
            let changing = cross * local.matrix3 + turn * DMat3::from_diagonal(growing);
            let (world, change) = match joint.parent {
                None => (local, DAffine3 { matrix3: changing, translation: moving }),
                Some(parent) => {
                    let (p, dp) = (pose[parent], rate[parent]);
                    let matrix3 = dp.matrix3 * local.matrix3 + p.matrix3 * changing;
                    let translation = dp.matrix3 * local.translation + dp.translation + p.matrix3 * moving;
                    (p * local, DAffine3 { matrix3, translation })
                }
            };
            pose.push(world);
            rate.push(change);
        }
        (pose, rate)
    }

    /// All times at which a curve has a key, counted from the start, ascending; with the
    /// start and the end.
    pub fn key_times(&self) -> Vec<f64> {
        let mut seen = std::collections::BTreeSet::new();
        let mut times = vec![0.0, self.duration];
        for track in &self.tracks {
            let all = [
                track.translation.as_ref().map(|curve| &curve.times),
                track.rotation.as_ref().map(|curve| &curve.times),
                track.scale.as_ref().map(|curve| &curve.times),
            ];
            for keys in all.into_iter().flatten().filter(|keys| keys.len() > 1) {
                if seen.insert(keys.as_ptr()) {
                    times.extend(keys.iter().map(|t| t - self.start).filter(|t| (0.0..=self.duration).contains(t)));
                }
            }
        }
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// The fastest joint (or end of a bone), by its way from key to key. `None` where
    /// there is one key only.
    pub fn fastest(&self) -> Option<Speed> {
        let times = self.key_times();
        let mut fastest: Option<Speed> = None;
        let mut before = self.points(0.0);
        for pair in times.windows(2) {
            let after = self.points(pair[1]);
            for (i, (&(joint, from), &(_, to))) in before.iter().zip(&after).enumerate() {
                let speed = from.distance(to) / (pair[1] - pair[0]);
                if (fastest.is_none() && i == 0) || fastest.is_some_and(|f| speed > f.speed) {
                    fastest = Some(Speed { speed, joint, time: pair[0] });
                }
            }
            before = after;
        }
        fastest
    }

    /// Joints and ends of bones at a time, each with its joint.
    pub(super) fn points(&self, time: f64) -> Vec<(usize, DVec3)> {
        let pose = self.pose(time);
        let ends = self.skeleton.joints.iter().enumerate().filter_map(|(i, joint)| Some((i, joint.end?)));
        let ends = ends.map(|(i, end)| (i, pose[i].transform_point3(end)));
        pose.iter().map(|place| place.translation).enumerate().chain(ends).collect()
    }

    /// A sentence where a bone moves faster than [`FASTEST`].
    pub fn speed_warning(&self) -> Option<String> {
        let Speed { speed, joint, time } = self.fastest()?;
        (speed > FASTEST).then(|| {
            format!(
                "'{}' moves at {speed:.0} m/s at {time:.3} s, which looks like a jump in the data: start later, or check the scale",
                self.skeleton.joints[joint].name
            )
        })
    }

    /// The same motion from a later time on (s).
    pub fn starting_at(mut self, time: f64) -> Motion {
        let skipped = if time.is_finite() { time.clamp(0.0, self.duration) } else { 0.0 };
        self.start += skipped;
        self.duration -= skipped;
        self
    }

    /// All lengths times a factor.
    pub(super) fn scaled(&mut self, factor: f64) {
        for track in &mut self.tracks {
            track.translation.iter_mut().flat_map(|curve| &mut curve.values).for_each(|value| *value *= factor);
        }
    }
}
