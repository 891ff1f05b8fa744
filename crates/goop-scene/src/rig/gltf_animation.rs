//! Animations of a glTF file as motions: every interpolation, any component type.

use super::curve::{Curve, Interpolation};
use super::motion::{Motion, Track};
use super::skeleton::Skeleton;
use crate::mesh::gltf::absent;
use crate::mesh::gltf::accessor::Buffers;
use crate::mesh::{Fault, Place, fault};
use glam::{DQuat, DVec3};
use gltf::json;
use json::animation::Property;
use json::validation::Checked;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most values of all channels.
const MOST_VALUES: usize = 20_000_000;

/// The animations that move a joint. Times below zero are cut off.
pub(super) fn motions(
    root: &json::Root,
    buffers: &Buffers,
    skeleton: &Arc<Skeleton>,
    joint: &[Option<usize>],
    notes: &mut Vec<String>,
) -> Result<Vec<Motion>, Fault> {
    let mut motions = Vec::new();
    let mut values = 0;
    for (i, animation) in root.animations.iter().enumerate() {
        let name = animation.name.clone().filter(|name| !name.trim().is_empty());
        let name = name.unwrap_or_else(|| format!("animation {i}"));
        let mut reader = Reader { root, buffers, animation, values: &mut values, clocks: BTreeMap::new() };
        let mut tracks = vec![Track::default(); skeleton.joints.len()];
        let (mut duration, mut aside, mut moved) = (0f64, 0, 0);
        for channel in &animation.channels {
            let place = joint.get(channel.target.node.value()).copied();
            let joint = place.ok_or_else(|| absent(&format!("node {}", channel.target.node.value())))?;
            let track = joint.map(|joint| &mut tracks[joint]);
            let property = match channel.target.path {
                Checked::Valid(property) => property,
                Checked::Invalid => Property::MorphTargetWeights,
            };
            let (Some(track), false) = (track, property == Property::MorphTargetWeights) else {
                aside += 1;
                continue;
            };
            let end = reader
                .channel(channel.sampler.value(), property, track)
                .map_err(|e| Fault { message: format!("in animation '{name}': {}", e.message), ..e })?;
            duration = duration.max(end);
            moved += 1;
        }
        if aside > 0 {
            notes.push(format!("{aside} channels of animation '{name}' move no joint and are left aside"));
        }
        if moved > 0 {
            motions.push(Motion { name, skeleton: skeleton.clone(), tracks, start: 0.0, duration });
        }
    }
    Ok(motions)
}

struct Reader<'a, 'b> {
    root: &'a json::Root,
    buffers: &'a Buffers<'a>,
    animation: &'a json::Animation,
    values: &'b mut usize,
    /// Times that samplers share, by accessor.
    clocks: BTreeMap<usize, Arc<[f64]>>,
}

impl Reader<'_, '_> {
    /// Reads a channel into a track; returns the time of its last key (s).
    fn channel(&mut self, sampler: usize, property: Property, track: &mut Track) -> Result<f64, Fault> {
        let sampler = self.animation.samplers.get(sampler).ok_or_else(|| absent(&format!("sampler {sampler}")))?;
        let interpolation = match sampler.interpolation {
            Checked::Valid(json::animation::Interpolation::Step) => Interpolation::Step,
            Checked::Valid(json::animation::Interpolation::CubicSpline) => Interpolation::Cubic,
            Checked::Valid(json::animation::Interpolation::Linear) => Interpolation::Linear,
            Checked::Invalid => {
                return Err(fault(Place::File, "an interpolation is not known", "use STEP, LINEAR or CUBICSPLINE"));
            }
        };
        let times = self.clock(sampler.input.value())?;
        let output = sampler.output.value();
        let per_key = if interpolation == Interpolation::Cubic { 3 } else { 1 };
        let count = times.len() * per_key;
        *self.values = self.values.saturating_add(self.buffers.count(output));
        if *self.values > MOST_VALUES {
            return Err(fault(Place::File, "there are too many keys", format!("bake at most {MOST_VALUES}")));
        }
        if self.buffers.count(output) < count {
            let message = format!("a channel has {} values for {} keys", self.buffers.count(output), times.len());
            return Err(fault(Place::File, message, "export the animation again"));
        }
        let wild = || fault(Place::File, "a value of a channel is not finite", "correct the animation");
        let vectors = || -> Result<Vec<DVec3>, Fault> {
            let all: Vec<DVec3> =
                self.buffers.vectors::<3>(output)?.into_iter().take(count).map(DVec3::from_array).collect();
            if all.iter().all(|value| value.is_finite()) { Ok(all) } else { Err(wild()) }
        };
        let end = times.last().copied().unwrap_or(0.0);
        match property {
            Property::Translation => track.translation = Some(Curve { values: vectors()?, times, interpolation }),
            Property::Scale => track.scale = Some(Curve { values: vectors()?, times, interpolation }),
            Property::Rotation => {
                let mut values: Vec<DQuat> =
                    self.buffers.vectors::<4>(output)?.into_iter().take(count).map(DQuat::from_array).collect();
                if !values.iter().all(|value| value.is_finite()) {
                    return Err(wild());
                }
                // Slopes keep their length; keys need one.
                let keys = values.iter_mut().skip(per_key / 2).step_by(per_key);
                keys.for_each(|key| *key = if key.length() > 0.0 { key.normalize() } else { DQuat::IDENTITY });
                track.rotation = Some(Curve { values, times, interpolation });
            }
            Property::MorphTargetWeights => {}
        }
        Ok(end)
    }

    /// The times of a sampler, shared by all that name them.
    fn clock(&mut self, accessor: usize) -> Result<Arc<[f64]>, Fault> {
        if let Some(times) = self.clocks.get(&accessor) {
            return Ok(times.clone());
        }
        let count = self.buffers.count(accessor);
        *self.values = self.values.saturating_add(count);
        if *self.values > MOST_VALUES || self.root.accessors.len() <= accessor && count > 0 {
            return Err(fault(Place::File, "there are too many keys", format!("bake at most {MOST_VALUES}")));
        }
        let times: Arc<[f64]> = self.buffers.vectors::<1>(accessor)?.into_iter().map(|[time]| time).collect();
        if !times.iter().all(|time| time.is_finite()) || times.windows(2).any(|pair| pair[1] < pair[0]) {
            return Err(fault(Place::File, "the times of a channel do not rise", "export the animation again"));
        }
        if times.is_empty() {
            return Err(fault(Place::File, "a channel has no keys", "export the animation again"));
        }
        self.clocks.insert(accessor, times.clone());
        Ok(times)
    }
}
