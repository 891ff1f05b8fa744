//! A motion of one skeleton played by another.
//!
//! Both skeletons have a pose in which they stand straight: the rig its bind pose, the
//! motion its reference pose. What a joint b of the motion has turned since then, in world
//! axes, its partner j in the rig turns too:
//! ```text
//! R_j(t) = [R_b(t) R_b(ref)⁻¹] A_j R_j(bind)
//! ```
//! A_j makes up for the difference of the two poses: a turn about y so that both face the
//! same way; for the trunk a turn of its whole frame; for arms, legs and fingers the
//! shortest turn that lays bone on bone, so that a rig bound with lowered arms still raises
//! them as the dancer does. Bones keep the rig's lengths. The hips go where the motion's
//! go, scaled by the length of the legs, and all is lowered or raised so that the skin just
//! reaches the ground; where limbs of other lengths would then reach below it (a hand in a cartwheel), the whole body is
//! raised for that while, smoothly. Joints without a partner go with their parent.

use super::RigError;
use super::bvh_motion::BvhMotion;
use super::curve::{Curve, Interpolation};
use super::frame::{arc, heading, joint_of, trunk_frame, trunkward};
use super::gltf_skin::Rig;
use super::mapping::Mapping;
use super::motion::{Motion, Track};
use super::names::{Part, Side};
use super::roles::{Role, roles};
use super::skeleton::{Skeleton, Transform, rotation_of};
use crate::mesh::{Place, fault};
use glam::{DAffine3, DQuat, DVec3};
use std::path::Path;
use std::sync::Arc;

/// Most poses in which the lowest point of the skin is looked for.
const MOST_SAMPLES: usize = 100;
/// The share of poses that may go below the ground.
const SUNK: f64 = 0.1;
/// How long before and after it a body is raised where it would reach below the ground (s).
const EASE: f64 = 0.15;
/// A trunk within this of upright stands (rad).
const UPRIGHT: f64 = 0.7;

/// How to place the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetargetOptions {
    /// Start above the place where the rig stands, instead of where the motion was captured.
    pub centre: bool,
    /// Raise or lower all so that the skin just reaches y = 0.
    pub ground: bool,
}

impl Default for RetargetOptions {
    fn default() -> RetargetOptions {
        RetargetOptions { centre: true, ground: true }
    }
}

/// The motion of a rig.
#[derive(Clone, Debug, PartialEq)]
pub struct Retargeted {
    /// The motion, of the rig's skeleton.
    pub motion: Motion,
    /// Rig lengths per motion length (-).
    pub scale: f64,
    /// What was found out, in sentences.
    pub notes: Vec<String>,
}

impl Mapping {
    /// The table that names and shapes suggest.
    pub fn suggest(rig: &Rig, source: &BvhMotion) -> Mapping {
        let own = roles(&rig.skeleton, &rig.bind);
        Mapping::new(&rig.skeleton, &own, &source.motion.skeleton, &source.roles)
    }
}

/// Plays a motion on a rig. `file` is the motion's, for messages.
pub fn retarget(
    rig: &Rig,
    source: &BvhMotion,
    mapping: &Mapping,
    options: &RetargetOptions,
    file: &Path,
) -> Result<Retargeted, RigError> {
    let skeleton = &rig.skeleton;
    let own = roles(skeleton, &rig.bind);
    let partner: Vec<Option<usize>> = mapping.lines.iter().map(|line| line.source).collect();
    let root = joint_of(&own, Side::Middle, Part::Hips).filter(|&hips| partner[hips].is_some());
    let Some(root) = root.or_else(|| partner.iter().position(Option::is_some)) else {
        let message = "no joint of the rig has a partner in the motion";
        let remedy = "say which joint goes with which";
        return Err(RigError::new(file, fault(Place::File, message, remedy)));
    };
    let align = alignments(skeleton, &own, &rig.bind, source, &partner);
    let scale = scale(rig, &own, source);
    let bind_rotation: Vec<DQuat> = rig.bind.iter().map(rotation_of).collect();
    let local: Vec<Transform> = (0..partner.len())
        .map(|j| {
            let place = rig.bind[j];
            Transform::nearest(&skeleton.joints[j].parent.map_or(place, |parent| rig.bind[parent].inverse() * place))
        })
        .collect();

    let times = source.motion.key_times();
    let hips = partner[root].unwrap_or(0);
    let first = source.motion.pose(0.0)[hips].translation;
    let stands = rig.bind[root].translation;
    let reference: Vec<DQuat> = source.reference.iter().map(|place| rotation_of(place).inverse()).collect();
    let mut rotations: Vec<Vec<DQuat>> = vec![Vec::new(); partner.len()];
    let mut moves = Vec::with_capacity(times.len());
    for &time in &times {
        let pose = source.motion.pose(time);
        let mut turned: Vec<DQuat> = Vec::with_capacity(partner.len());
        let mut world: Vec<DAffine3> = Vec::with_capacity(partner.len());
        for (j, joint) in skeleton.joints.iter().enumerate() {
            let over = joint.parent.map_or(DQuat::IDENTITY, |parent| turned[parent]);
            let mut place = local[j];
            if let Some(b) = partner[j] {
                let turn = rotation_of(&pose[b]) * reference[b] * align[j] * bind_rotation[j];
                place.rotation = (over.inverse() * turn).normalize();
                rotations[j].push(place.rotation);
            }
            if j == root {
                let from = if options.centre { first * DVec3::new(1.0, 0.0, 1.0) } else { DVec3::ZERO };
                let to = if options.centre { stands * DVec3::new(1.0, 0.0, 1.0) } else { DVec3::ZERO };
                let target = (pose[hips].translation - from) * scale + to;
                let parent = joint.parent.map_or(DAffine3::IDENTITY, |parent| world[parent]);
                place.translation = parent.inverse().transform_point3(target);
                moves.push(place.translation);
            }
            turned.push((over * place.rotation).normalize());
            world.push(joint.parent.map_or(place.affine(), |parent| world[parent] * place.affine()));
        }
    }
    let keys: Arc<[f64]> = times.iter().copied().collect();
    let interpolation = Interpolation::Linear;
    let tracks = (0..partner.len())
        .map(|j| {
            let values = std::mem::take(&mut rotations[j]);
            let rotation = if values.is_empty() {
                Curve::constant(local[j].rotation)
            } else {
                Curve { times: keys.clone(), values, interpolation }
            };
            let translation = if j == root {
                Curve { times: keys.clone(), values: std::mem::take(&mut moves), interpolation }
            } else {
                Curve::constant(local[j].translation)
            };
            let scale = Curve::constant(local[j].scale);
            Track { translation: Some(translation), rotation: Some(rotation), scale: Some(scale) }
        })
        .collect();
    let name = source.motion.name.clone();
    let mut motion = Motion { name, skeleton: skeleton.clone(), tracks, start: 0.0, duration: source.motion.duration };
    let bones = rig.is_bone.iter().filter(|bone| **bone).count();
    let moved = (0..partner.len()).filter(|&j| rig.is_bone[j] && partner[j].is_some()).count();
    let mut notes = vec![format!(
        "{moved} of {bones} bones are moved by '{name}', its lengths times {scale:.4}",
        name = motion.name
    )];
    if options.ground {
        let lift = -lowest(rig, &own, &motion, &times);
        lift_root(&mut motion, &rig.bind, root, lift);
        if lift.abs() > 0.1 {
            let how = if lift > 0.0 { "raised" } else { "lowered" };
            notes.push(format!("all is {how} by {:.2} m so that the skin reaches the ground", lift.abs()));
        }
        let most = keep_above(rig, &mut motion, root, &times);
        if most > 0.05 {
            notes.push(format!("where it would reach below the ground it is raised, by {most:.2} m at most"));
        }
    }
    if !times.iter().step_by(times.len().div_ceil(MOST_SAMPLES)).all(|&t| motion.pose(t).iter().all(|p| p.is_finite()))
    {
        let message = "the poses are not finite on this rig";
        return Err(RigError::new(file, fault(Place::File, message, "check the scale of rig and motion")));
    }
    notes.extend(motion.speed_warning());
    Ok(Retargeted { motion, scale, notes })
}

/// The direction of a joint's bone in a pose, in world axes.
fn bone(skeleton: &Skeleton, roles: &[Role], pose: &[DAffine3], joint: usize) -> Option<DVec3> {
    let Role { side, part, .. } = roles[joint];
    let next = match part {
        Part::UpperArm => Some(Part::LowerArm),
        Part::LowerArm => Some(Part::Hand),
        Part::UpperLeg => Some(Part::LowerLeg),
        Part::LowerLeg => Some(Part::Foot),
        Part::Hand => Some(Part::Finger(2)),
        _ => None,
    };
    let at = pose[joint].translation;
    let child = match part {
        Part::Finger(_) => (0..roles.len()).find(|&i| skeleton.joints[i].parent == Some(joint)),
        _ => next.and_then(|next| joint_of(roles, side, next)),
    };
    let to = child.map(|child| pose[child].translation);
    let to = to.or_else(|| Some(pose[joint].transform_point3(skeleton.joints[joint].end?)))?;
    (to - at).try_normalize()
}

/// A_j for every joint that has a partner.
fn alignments(
    skeleton: &Skeleton,
    own: &[Role],
    bind: &[DAffine3],
    source: &BvhMotion,
    partner: &[Option<usize>],
) -> Vec<DQuat> {
    let (theirs, reference) = (&source.roles, &source.reference);
    let facing = heading(theirs, reference) * heading(own, bind).inverse();
    let frames = trunk_frame(theirs, reference).zip(trunk_frame(own, bind));
    let trunk = frames.map_or(facing, |(theirs, own)| theirs * own.inverse());
    let stands = |roles: &[Role], pose: &[DAffine3]| {
        let up = trunkward(roles, pose);
        up == DVec3::ZERO || up.angle_between(DVec3::Y) < UPRIGHT
    };
    let base = if stands(theirs, reference) && stands(own, bind) { facing } else { trunk };
    let mut align: Vec<DQuat> = Vec::with_capacity(partner.len());
    for (j, joint) in skeleton.joints.iter().enumerate() {
        let above = joint.parent.map_or(base, |parent| align[parent]);
        let laid = partner[j].and_then(|b| {
            let (ours, theirs) = (bone(skeleton, own, bind, j)?, bone(&source.motion.skeleton, theirs, reference, b)?);
            Some(arc(base * ours, theirs, base * DVec3::Z) * base)
        });
        align.push(match own[j].part {
            _ if partner[j].is_none() => above,
            Part::Hips | Part::Spine => trunk,
            Part::UpperArm | Part::LowerArm | Part::UpperLeg | Part::LowerLeg => laid.unwrap_or(base),
            Part::Hand | Part::Finger(_) => laid.unwrap_or(above),
            _ => base,
        });
    }
    align
}

/// Length of the legs of the rig per that of the motion; of the whole where legs are not
/// known.
fn scale(rig: &Rig, own: &[Role], source: &BvhMotion) -> f64 {
    let leg = |roles: &[Role], pose: &[DAffine3]| {
        let length = |side| {
            let at = |part| joint_of(roles, side, part).map(|joint| pose[joint].translation);
            let (hip, knee, foot) = (at(Part::UpperLeg)?, at(Part::LowerLeg)?, at(Part::Foot)?);
            Some(hip.distance(knee) + knee.distance(foot))
        };
        let sides: Vec<f64> = [Side::Left, Side::Right].into_iter().filter_map(length).filter(|l| *l > 0.0).collect();
        (!sides.is_empty()).then(|| sides.iter().sum::<f64>() / sides.len() as f64)
    };
    let size = |points: &[DVec3]| {
        let (low, high) = (points.iter().copied().reduce(DVec3::min), points.iter().copied().reduce(DVec3::max));
        low.zip(high).map_or(0.0, |(low, high)| (high - low).length())
    };
    let joints = source.motion.skeleton.joints.iter().zip(&source.reference);
    let bones: Vec<DVec3> = joints
        .flat_map(|(joint, place)| [Some(place.translation), joint.end.map(|end| place.transform_point3(end))])
        .flatten()
        .collect();
    let legs = leg(own, &rig.bind).zip(leg(&source.roles, &source.reference));
    let (ours, theirs) = legs.unwrap_or_else(|| (size(&rig.positions), size(&bones)));
    if ours > 0.0 && theirs > 0.0 { ours / theirs } else { 1.0 }
}

/// The height below which the skin of the feet goes in few poses only (m); of all the
/// skin where there are no feet.
fn lowest(rig: &Rig, own: &[Role], motion: &Motion, times: &[f64]) -> f64 {
    let foot = |vertex: usize| {
        let heaviest = rig.influences.of(vertex).next();
        heaviest.is_some_and(|(joint, _)| matches!(own[joint].part, Part::Foot | Part::Toe))
    };
    let mut soles: Vec<usize> = (0..rig.positions.len()).filter(|&vertex| foot(vertex)).collect();
    if soles.is_empty() {
        soles = (0..rig.positions.len()).collect();
    }
    let mut skin = Vec::new();
    let mut heights: Vec<f64> = times
        .iter()
        .step_by(times.len().div_ceil(MOST_SAMPLES).max(1))
        .map(|&time| {
            rig.skinned(&motion.pose(time), &mut skin);
            soles.iter().map(|&vertex| skin[vertex].y).fold(f64::MAX, f64::min)
        })
        .filter(|height| height.is_finite() && *height < f64::MAX)
        .collect();
    heights.sort_by(f64::total_cmp);
    heights.get((heights.len() as f64 * SUNK) as usize).copied().unwrap_or(0.0)
}

/// A metre up in the world, in the axes of the root's parent.
fn upward(motion: &Motion, bind: &[DAffine3], root: usize) -> DVec3 {
    let parent = motion.skeleton.joints[root].parent.map_or(DAffine3::IDENTITY, |parent| bind[parent]);
    parent.inverse().transform_vector3(DVec3::Y)
}

/// Adds a height in the world to the track of the root.
fn lift_root(motion: &mut Motion, bind: &[DAffine3], root: usize, lift: f64) {
    let step = lift * upward(motion, bind, root);
    if let Some(curve) = &mut motion.tracks[root].translation {
        curve.values.iter_mut().for_each(|value| *value += step);
    }
}

/// Raises the root where skin is below y = 0, beginning and ending smoothly; by how much at most (m).
fn keep_above(rig: &Rig, motion: &mut Motion, root: usize, times: &[f64]) -> f64 {
    let mut skin = Vec::new();
    let depths: Vec<f64> = times
        .iter()
        .map(|&time| {
            rig.skinned(&motion.pose(time), &mut skin);
            let low = skin.iter().map(|p| p.y).filter(|y| y.is_finite()).fold(f64::INFINITY, f64::min);
            if low.is_finite() { (-low).max(0.0) } else { 0.0 }
        })
        .collect();
    let lifts = eased(times, &depths);
    let up = upward(motion, &rig.bind, root);
    if let Some(curve) = motion.tracks[root].translation.as_mut().filter(|curve| curve.values.len() == lifts.len()) {
        curve.values.iter_mut().zip(&lifts).for_each(|(value, lift)| *value += *lift * up);
    }
    lifts.iter().copied().fold(0.0, f64::max)
}

/// A smooth curve that is nowhere below another: the largest value around every time, and then the mean of those around it.
fn eased(times: &[f64], values: &[f64]) -> Vec<f64> {
    // A little wider, so that rounding of times does not let one in and another out.
    let width = EASE * (1.0 + 1e-6);
    let around = |k: usize| {
        let from = times.partition_point(|t| *t < times[k] - width);
        from..times.partition_point(|t| *t <= times[k] + width)
    };
    let largest: Vec<f64> = (0..times.len()).map(|k| values[around(k)].iter().copied().fold(0.0, f64::max)).collect();
    // Every value around k is the largest of a neighbourhood that holds k.
    (0..times.len()).map(|k| largest[around(k)].iter().sum::<f64>() / around(k).len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a lift that leaves something below the ground, or that jumps.
    #[test]
    fn a_lift_is_smooth_and_enough() {
        let times: Vec<f64> = (0..400).map(|k| 0.01 * f64::from(k)).collect();
        let depths: Vec<f64> =
            times.iter().map(|t| if (1.0..1.02).contains(t) { 0.3 } else { (t - 3.0).max(0.0) }).collect();
        let lifts = eased(&times, &depths);
        assert!(lifts.iter().zip(&depths).all(|(lift, depth)| lift >= depth));
        let steepest = |lifts: &[f64]| lifts.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max);
        let jump = steepest(&lifts[..250]);
        assert!(jump < 0.3 / (2.0 * EASE / 0.01) * 1.2, "{jump}");
        // At the end of the clip there are fewer to take the mean of: twice the slope of what is followed.
        let ramp = steepest(&lifts[250..]);
        assert!(ramp < 2.0 * 0.01 + 1e-9, "{ramp}");
        assert!(lifts[..60].iter().all(|lift| *lift == 0.0) && lifts[150..250].iter().all(|lift| *lift == 0.0));
    }
}
