//! The motion of a character's bones, as pins that move.
//!
//! A bone that a joint moves is at M(t) = world_from_joint(t) · world_from_joint(bind)⁻¹, of which
//! the nearest rigid motion about the bone's middle is taken. It is sampled at the times of
//! the steps, so that its nodes are there exactly, and a step's mean velocity is that of the bone.

use super::{Frame, Source, Wrong};
use crate::build::{FORCES, key, pushes, rotation, vector};
use crate::rig::{self, BvhOptions, Mapping, RetargetOptions, Rig, Up, read_bvh, retarget};
use crate::scene::{self, BodyMotion, Upward};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use goop::animate::{Key, Motion};
use goop::character::{BoneShape, Character, Posed};
use goop::model::Pin;
use std::path::Path;

/// Most keys of one bone.
const MOST_KEYS: usize = 50_000;

/// A motion of a rig, and how it came about.
#[derive(Clone, Debug)]
pub struct Played {
    /// Of the rig's skeleton.
    pub motion: rig::Motion,
    /// Which joint moves which, where the motion was captured from another skeleton.
    pub mapping: Option<Mapping>,
    /// Speed of playing (-).
    pub speed: f64,
    /// Begins again at its end.
    pub repeat: bool,
    /// What was guessed, in sentences.
    pub notes: Vec<String>,
}

impl Played {
    /// Pose of every joint at a time of the scene (s).
    pub fn pose(&self, time: f64) -> Vec<DAffine3> {
        self.motion.pose(self.clock(time))
    }

    fn clock(&self, time: f64) -> f64 {
        let t = time * self.speed;
        if self.repeat && self.motion.duration > 0.0 { t.rem_euclid(self.motion.duration) } else { t }
    }

    /// How long it plays (s); for ever if it repeats.
    pub fn seconds(&self) -> f64 {
        if self.repeat && self.motion.duration > 0.0 { f64::INFINITY } else { self.motion.duration / self.speed }
    }
}

/// The motion that a scene asks for, played on a rig.
pub fn play(rig: &Rig, entry: &BodyMotion, folder: &Path) -> Result<Played, Wrong> {
    let mut notes = Vec::new();
    let (motion, mapping) = match &entry.file {
        Some(file) => {
            let path = folder.join(file);
            let wrong = |error: rig::RigError| {
                Wrong::new("motion.file", error.to_string(), "name a readable BVH file, or correct the options")
            };
            let options = BvhOptions {
                up: entry.up.map(|up| match up {
                    Upward::X => Up { axis: 0, negative: false },
                    Upward::Y => Up::Y,
                    Upward::Z => Up::Z,
                }),
                unit: entry.unit,
                bind_frame: entry.bind_frame.map(|frame| Some(frame as usize)),
                start_frame: entry.start_frame.map(|frame| frame as usize),
            };
            let captured = read_bvh(&path).and_then(|bvh| bvh.motion(&path, &options)).map_err(wrong)?;
            let mut mapping = Mapping::suggest(rig, &captured);
            for (joint, own) in &entry.map {
                let own = (!own.is_empty()).then_some(own.as_str());
                mapping.set(joint, own).map_err(|sentence| {
                    Wrong::new(format!("motion.map.{joint}"), sentence, "write it as in the files; \"\" is for none")
                })?;
            }
            let options = RetargetOptions { ground: entry.ground, ..RetargetOptions::default() };
            let played = retarget(rig, &captured, &mapping, &options, &path).map_err(wrong)?;
            notes.extend(captured.notes);
            notes.extend(played.notes);
            (played.motion, Some(mapping))
        }
        None => (own(rig, entry.clip.as_deref())?.clone(), None),
    };
    notes.extend(motion.speed_warning().filter(|sentence| !notes.contains(sentence)));
    let motion = motion.starting_at(entry.start);
    Ok(Played { motion, mapping, speed: entry.speed, repeat: entry.repeat, notes })
}

/// An animation of the rig's file, by name or number.
fn own<'a>(rig: &'a Rig, clip: Option<&str>) -> Result<&'a rig::Motion, Wrong> {
    let names = || rig.motions.iter().map(|motion| motion.name.as_str());
    let found = match clip {
        None => rig.motions.first(),
        Some(name) => {
            let number = || name.parse::<usize>().ok().and_then(|number| rig.motions.get(number));
            rig.motions.iter().find(|motion| motion.name == name).or_else(number)
        }
    };
    found.ok_or_else(|| match clip {
        Some(name) if !rig.motions.is_empty() => {
            let hint = format!("it has {}: {}", rig.motions.len(), names().collect::<Vec<_>>().join(", "));
            Wrong::new("motion.clip", format!("the rig has no animation '{name}'"), hint)
        }
        _ => Wrong::new("motion", "the rig's file has no animation", "name a BVH `file`, or take the motion out"),
    })
}

/// A rigid motion as a rotation about the origin, and a shift.
#[derive(Clone, Copy)]
struct Rigid {
    turn: DQuat,
    shift: DVec3,
}

impl Rigid {
    fn apply(&self, p: DVec3) -> DVec3 {
        self.turn * p + self.shift
    }

    /// The rigid motion nearest to an affine one that takes a point where that does.
    fn nearest(affine: &DAffine3, point: DVec3) -> Rigid {
        let turn = polar(affine.matrix3);
        Rigid { turn, shift: affine.transform_point3(point) - turn * point }
    }
}

/// The rotation nearest to a matrix: Newton's iteration for the polar factor.
fn polar(m: DMat3) -> DQuat {
    let mut q = m;
    for _ in 0..30 {
        if q.determinant().abs() < 1e-12 {
            return DQuat::IDENTITY;
        }
        let next = (q + q.inverse().transpose()) * 0.5;
        let change = (next - q).to_cols_array().iter().fold(0.0f64, |most, c| most.max(c.abs()));
        q = next;
        if change < 1e-14 {
            break;
        }
    }
    // A mirrored joint turns as its unmirrored self.
    if q.determinant() < 0.0 {
        q *= -1.0;
    }
    DQuat::from_mat3(&q).normalize()
}

/// What of the scene the bones need.
#[derive(Clone, Copy, Debug)]
pub struct Timing<'a> {
    /// Length of the clip (s).
    pub seconds: f64,
    /// Largest step (s).
    pub dt: f64,
    /// Gravity (m/s²).
    pub gravity: DVec3,
    /// Folder that files are named from.
    pub folder: &'a Path,
}

/// A pin for every bone that holds nodes, and where all nodes start if not at rest.
pub fn drive(
    body: &scene::Body,
    source: &Source,
    frame: &Frame,
    made: &Character,
    played: Option<&Played>,
    clip: &Timing<'_>,
) -> Result<(Vec<Pin>, Option<Posed>), Wrong> {
    let (place, turned) = (vector(body.position), rotation(body.rotation));
    let Timing { seconds, dt, gravity, folder } = *clip;
    let motions: Vec<Motion> = match (played, &source.rig) {
        (Some(played), Some(rig)) => moved(frame, rig, played, seconds, dt, place, turned),
        _ => still(body, frame, place, turned, gravity, folder)?,
    };
    let rest = &made.shape.rest_positions;
    let pins = made.bone_nodes.iter().zip(&motions).filter(|(nodes, _)| !nodes.is_empty()).map(|(nodes, motion)| Pin {
        nodes: nodes.clone(),
        targets: nodes.iter().map(|&i| rest[i as usize]).collect(),
        pivot: DVec3::ZERO,
        motion: motion.clone(),
        stiffness: None,
        grab: false,
    });
    let posed = (!motions.is_empty()).then(|| posed(made, &motions, dt));
    Ok((pins.collect(), posed))
}

/// Motions of bones that joints move.
fn moved(frame: &Frame, rig: &Rig, played: &Played, seconds: f64, dt: f64, place: DVec3, turned: DQuat) -> Vec<Motion> {
    let until = seconds.min(played.seconds());
    let stride = (until / dt / MOST_KEYS as f64).ceil().max(1.0) * dt;
    let count = (until / stride).ceil() as usize + 1;
    let from_bind: Vec<DAffine3> = rig.bind.iter().map(|bind| bind.inverse()).collect();
    let middles: Vec<DVec3> = frame.bones.iter().map(|bone| middle(&bone.shape)).collect();
    let mut keys: Vec<Vec<Key>> = vec![Vec::with_capacity(count); frame.bones.len()];
    for k in 0..count {
        let time = k as f64 * stride;
        let pose = played.pose(time);
        for (b, joint) in frame.joints.iter().enumerate() {
            let affine = joint.map_or(DAffine3::IDENTITY, |j| pose[j] * from_bind[j]);
            let rigid = Rigid::nearest(&affine, middles[b]);
            keys[b].push(Key { time, position: place + turned * rigid.shift, rotation: turned * rigid.turn });
        }
    }
    keys.into_iter().map(Motion::new).collect()
}

/// Motions of bones that stand where they are, or that the scene gives keys.
fn still(
    body: &scene::Body,
    frame: &Frame,
    place: DVec3,
    turned: DQuat,
    gravity: DVec3,
    folder: &Path,
) -> Result<Vec<Motion>, Wrong> {
    let of = |b: usize| body.bone.get(b).filter(|_| body.bone.len() == frame.bones.len());
    let each = frame.bones.iter().enumerate().map(|(b, bone)| {
        let keys = of(b).map_or(&[][..], |bone| &bone.key);
        // As for pins: an offset in the world, and a rotation about the middle.
        let pivot = place + turned * middle(&bone.shape);
        let driven = |motion: Motion| match of(b).and_then(|bone| bone.drive.as_ref()) {
            None => Ok(motion),
            Some(drive) => {
                let pushes = pushes(drive, folder)
                    .map_err(|error| Wrong::new(format!("bone[{b}].drive.file"), error.to_string(), FORCES))?;
                let driven = motion.driven(drive.mass, gravity, &pushes, pivot);
                Ok(if drive.reaction { driven.reacting(drive.mass, &pushes) } else { driven })
            }
        };
        if keys.is_empty() {
            return driven(Motion::still(place, turned));
        }
        let about = |own: &scene::Key| {
            let own = key(own);
            let start = place - pivot;
            Key {
                time: own.time,
                position: pivot + own.position + own.rotation * start,
                rotation: own.rotation * turned,
            }
        };
        driven(Motion::new(keys.iter().map(about).collect()))
    });
    each.collect()
}

fn middle(shape: &BoneShape) -> DVec3 {
    match shape {
        BoneShape::Capsule { from, to, .. } => 0.5 * (*from + *to),
        BoneShape::Ellipsoid { center, .. } => *center,
    }
}

/// Nodes blended by their shares in the bones at t = 0, and their velocities; nodes of bones exactly.
fn posed(made: &Character, motions: &[Motion], dt: f64) -> Posed {
    let at = |time: f64| -> Vec<Rigid> {
        let poses = motions.iter().map(|motion| motion.at(time));
        poses.map(|pose| Rigid { turn: pose.rotation, shift: pose.position }).collect()
    };
    let (first, next) = (at(0.0), at(dt));
    let rest = &made.shape.rest_positions;
    let blend = |rigids: &[Rigid], i: usize| {
        made.parts.of(i).iter().map(|&(b, c)| c * rigids[b as usize].apply(rest[i])).sum::<DVec3>()
    };
    let mut positions: Vec<DVec3> = (0..rest.len()).map(|i| blend(&first, i)).collect();
    let mut velocities: Vec<DVec3> = (0..rest.len()).map(|i| (blend(&next, i) - positions[i]) / dt).collect();
    for (b, nodes) in made.bone_nodes.iter().enumerate() {
        for &node in nodes {
            let i = node as usize;
            positions[i] = first[b].apply(rest[i]);
            velocities[i] = (next[b].apply(rest[i]) - positions[i]) / dt;
        }
    }
    Posed { positions, velocities }
}
