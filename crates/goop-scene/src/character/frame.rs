//! The bones of a character: from its rig, from the scene, or proposed from its shape.

use super::{Source, Wrong, sample};
use crate::build::{rotation, vector};
use crate::rig::Rig;
use crate::scene::{self, SkeletonFrom};
use glam::DVec3;
use goop::character::{Bone, BoneShape, Inside, Parts, Sampling, skeleton};
use std::collections::HashSet;

/// Radius of a rig's bone as a share of its distance from the skin: thick enough to hold a
/// row of nodes, thin enough to leave flesh that wobbles.
const BONE_SHARE: f64 = 0.35;
/// A capsule ends this share of its length before the joint it leads to, so that two
/// bones do not hold the flesh of a joint between them.
const GAP: f64 = 0.12;

/// Bones and what moves them.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The bones.
    pub bones: Vec<Bone>,
    /// Joint of the rig that moves each.
    pub joints: Vec<Option<usize>>,
    /// Shares of every vertex in the bones, by the rig's weights.
    pub weights: Option<Parts>,
}

/// The bones of a body.
pub fn frame(
    source: &Source,
    body: &scene::Body,
    skeleton: Option<SkeletonFrom>,
    sampling: &Sampling,
    wanted: Option<usize>,
) -> Result<Frame, Wrong> {
    let mut frame = match (skeleton, &source.rig) {
        (Some(SkeletonFrom::None), _) => return Ok(Frame::default()),
        _ if !body.bone.is_empty() => given(body, source.rig.as_ref())?,
        (Some(SkeletonFrom::Auto), _) => proposed(source, sampling, wanted)?,
        (_, Some(rig)) => of_rig(rig, source),
        (_, None) => return Ok(Frame::default()),
    };
    if let Some(rig) = &source.rig {
        frame.weights = Some(weights(rig, &frame));
    }
    Ok(frame)
}

/// Bones of a rig: a capsule along every segment that has skin of its own.
fn of_rig(rig: &Rig, source: &Source) -> Frame {
    let inside = Inside::new(&source.skin.positions, &source.skin.triangles);
    let segments = rig.segments();
    let children = rig.skeleton.children();
    let mut frame = Frame::default();
    let mut names = HashSet::new();
    for segment in segments {
        let joint = segment.joint;
        // A bone that carries others stops before them.
        let leads_on = children[joint].iter().any(|&c| rig.bind[c].translation.distance(segment.to) < 1e-9);
        let from = segment.from.lerp(segment.to, GAP);
        let mut to = segment.to.lerp(segment.from, if leads_on { GAP } else { 2.0 * GAP });
        let mut away: Vec<f64> = (0..9)
            .filter_map(|k| inside.nearest(from.lerp(to, f64::from(k) / 8.0)))
            .map(|nearest| nearest.distance)
            .collect();
        away.sort_by(f64::total_cmp);
        let Some(&middle) = away.get(away.len() / 2) else { continue };
        // Flesh beyond the end of the last bone is no longer than thick, or it would hang like a sock.
        if !leads_on {
            to = segment.to - (segment.to - to).clamp_length_max(middle);
        }
        let radius = (BONE_SHARE * middle).min(0.5 * from.distance(to)).max(1e-4 * source.size().max_element());
        let base = rig.skeleton.joints[joint].name.clone();
        let mut name = base.clone();
        let mut count = 1;
        while !names.insert(name.clone()) {
            count += 1;
            name = format!("{base}#{count}");
        }
        let parent = frame.joints.iter().position(|&j| j == Some(joint)).or_else(|| {
            let mut above = rig.skeleton.joints[joint].parent;
            while let Some(j) = above {
                if let Some(b) = frame.joints.iter().position(|&own| own == Some(j)) {
                    return Some(b);
                }
                above = rig.skeleton.joints[j].parent;
            }
            None
        });
        frame.bones.push(Bone::capsule(&name, from, to, radius, parent));
        frame.joints.push(Some(joint));
    }
    frame
}

/// Bones as the scene gives them.
fn given(body: &scene::Body, rig: Option<&Rig>) -> Result<Frame, Wrong> {
    let mut frame = Frame::default();
    for (k, bone) in body.bone.iter().enumerate() {
        let shape = match (&bone.capsule, &bone.ellipsoid) {
            (Some(c), _) => BoneShape::Capsule { from: vector(c.from), to: vector(c.to), radius: c.radius },
            (None, Some(e)) => BoneShape::Ellipsoid {
                center: vector(e.center),
                rotation: rotation(e.rotation),
                radii: vector(e.radii),
            },
            (None, None) => return Err(Wrong::new(format!("bone[{k}]"), "this bone has no form", "give `capsule`")),
        };
        let parent = bone.parent.as_ref().and_then(|parent| frame.bones.iter().position(|b| b.name == *parent));
        let joint = match rig {
            None => None,
            Some(rig) => {
                let name = bone.joint.as_ref().unwrap_or(&bone.name);
                let found = rig.skeleton.find(name);
                if found.is_none() {
                    let names = rig.skeleton.joints.iter().map(|joint| joint.name.as_str());
                    let hint = crate::reader::suggestion(name, "the rig's joints", names);
                    let key = if bone.joint.is_some() { "joint" } else { "name" };
                    let message = format!("the rig has no joint '{name}' that could move this bone");
                    return Err(Wrong::new(format!("bone[{k}].{key}"), message, hint));
                }
                found
            }
        };
        frame.bones.push(Bone { name: bone.name.clone(), shape, parent });
        frame.joints.push(joint);
    }
    Ok(frame)
}

/// Bones proposed from the depth of the flesh.
fn proposed(source: &Source, sampling: &Sampling, wanted: Option<usize>) -> Result<Frame, Wrong> {
    let made = sample(source, &Frame::default(), *sampling, wanted)?;
    let edges = made.shape.tetrahedra().map(|t| t.edges()).unwrap_or_default();
    let bones = skeleton::propose(&made.shape.rest_positions, &edges, &made.depth, 0.5 * made.report.spacing);
    Ok(Frame { joints: vec![None; bones.len()], bones, weights: None })
}

/// Shares of every vertex in the bones: a joint's go to the nearest of its bones, those of a
/// joint without any to the bone it hangs on.
fn weights(rig: &Rig, frame: &Frame) -> Parts {
    let mut of_joint: Vec<Vec<usize>> = vec![Vec::new(); rig.skeleton.joints.len()];
    for (b, joint) in frame.joints.iter().enumerate() {
        if let Some(joint) = joint {
            of_joint[*joint].push(b);
        }
    }
    let nearest = |list: &mut dyn Iterator<Item = usize>, p: DVec3| {
        list.map(|b| (frame.bones[b].distance(p), b)).min_by(|a, b| a.0.total_cmp(&b.0)).map(|found| found.1)
    };
    let bone_of = |joint: usize, p: DVec3| {
        let mut at = Some(joint);
        while let Some(j) = at {
            if let Some(bone) = nearest(&mut of_joint[j].iter().copied(), p) {
                return bone;
            }
            at = rig.skeleton.joints[j].parent;
        }
        nearest(&mut (0..frame.bones.len()), p).unwrap_or(0)
    };
    let rows = rig.positions.iter().enumerate().map(|(v, &p)| {
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (joint, weight) in rig.influences.of(v) {
            let bone = bone_of(joint, p) as u32;
            match row.iter_mut().find(|r| r.0 == bone) {
                Some(r) => r.1 += weight,
                None => row.push((bone, weight)),
            }
        }
        row
    });
    Parts::from_rows(frame.bones.len(), rows)
}
