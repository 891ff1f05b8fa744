//! A body for the tests: 1.7 m tall in centimetres, in a T-pose, facing +z, with the names
//! of MotionBuilder.

use crate::rig::{Influences, Joint, Rig, Skeleton, Transform};
use glam::{DAffine3, DQuat, DVec3};
use std::fmt::Write;
use std::sync::Arc;

/// Name, parent's name, offset (cm).
pub(super) const JOINTS: [(&str, &str, [f64; 3]); 21] = [
    ("Hips", "", [0.0, 95.0, 0.0]),
    ("Spine", "Hips", [0.0, 10.0, 0.0]),
    ("Spine1", "Spine", [0.0, 20.0, 0.0]),
    ("Neck", "Spine1", [0.0, 22.0, 0.0]),
    ("Head", "Neck", [0.0, 8.0, 0.0]),
    ("LeftShoulder", "Spine1", [5.0, 18.0, 0.0]),
    ("LeftArm", "LeftShoulder", [12.0, 0.0, 0.0]),
    ("LeftForeArm", "LeftArm", [28.0, 0.0, 0.0]),
    ("LeftHand", "LeftForeArm", [25.0, 0.0, 0.0]),
    ("RightShoulder", "Spine1", [-5.0, 18.0, 0.0]),
    ("RightArm", "RightShoulder", [-12.0, 0.0, 0.0]),
    ("RightForeArm", "RightArm", [-28.0, 0.0, 0.0]),
    ("RightHand", "RightForeArm", [-25.0, 0.0, 0.0]),
    ("LeftUpLeg", "Hips", [9.0, -5.0, 0.0]),
    ("LeftLeg", "LeftUpLeg", [0.0, -42.0, 0.0]),
    ("LeftFoot", "LeftLeg", [0.0, -41.0, 0.0]),
    ("LeftToeBase", "LeftFoot", [0.0, -6.0, 14.0]),
    ("RightUpLeg", "Hips", [-9.0, -5.0, 0.0]),
    ("RightLeg", "RightUpLeg", [0.0, -42.0, 0.0]),
    ("RightFoot", "RightLeg", [0.0, -41.0, 0.0]),
    ("RightToeBase", "RightFoot", [0.0, -6.0, 14.0]),
];

fn parent(name: &str) -> Option<usize> {
    JOINTS.iter().position(|joint| joint.0 == name)
}

/// As BVH: in every frame the named joints are turned about z (degrees).
pub(super) fn bvh(frames: &[Vec<(&str, f64)>], frame_time: f64) -> String {
    let mut text = String::from("HIERARCHY\n");
    let mut open: Vec<&str> = Vec::new();
    let close = |open: &mut Vec<&str>, text: &mut String, until: &str| {
        while open.last().is_some_and(|last| *last != until) {
            open.pop();
            text.push_str("}\n");
        }
    };
    for (name, parent, [x, y, z]) in JOINTS {
        close(&mut open, &mut text, parent);
        let (kind, moves) =
            if parent.is_empty() { ("ROOT", "6 Xposition Yposition Zposition") } else { ("JOINT", "3") };
        let _ = writeln!(text, "{kind} {name}\n{{\nOFFSET {x} {y} {z}\nCHANNELS {moves} Zrotation Xrotation Yrotation");
        if name == "Head" {
            text.push_str("End Site\n{\nOFFSET 0 20 0\n}\n");
        }
        open.push(name);
    }
    close(&mut open, &mut text, "");
    let _ = writeln!(text, "MOTION\nFrames: {}\nFrame Time: {frame_time}", frames.len());
    for frame in frames {
        let angle = |name: &str| frame.iter().find(|turned| turned.0 == name).map_or(0.0, |turned| turned.1);
        let row: Vec<String> = JOINTS.iter().map(|joint| format!("{} 0 0", angle(joint.0))).collect();
        let _ = writeln!(text, "0 95 0 {}", row.join(" "));
    }
    text
}

/// All offsets times a factor; positions of frames are left.
pub(super) fn scaled(bvh: &str, factor: f64) -> String {
    offsets(bvh, |offset| offset * factor)
}

/// With z up: x stays.
pub(super) fn turned(bvh: &str) -> String {
    offsets(bvh, |offset| DVec3::new(offset.x, -offset.z, offset.y))
}

fn offsets(bvh: &str, change: impl Fn(DVec3) -> DVec3) -> String {
    let line = |line: &str| match line.strip_prefix("OFFSET ") {
        None => format!("{line}\n"),
        Some(numbers) => {
            let numbers: Vec<f64> = numbers.split(' ').map(|word| word.parse().unwrap()).collect();
            let DVec3 { x, y, z } = change(DVec3::from_slice(&numbers));
            format!("OFFSET {x} {y} {z}\n")
        }
    };
    bvh.lines().map(line).collect()
}

/// As a rig: lengths times a factor, facing `heading`, the arms lowered by an angle (rad),
/// every joint's own axes turned some way, names changed.
pub(super) fn rig(factor: f64, heading: DQuat, lowered: f64, name: impl Fn(usize) -> String) -> Rig {
    let mut bind: Vec<DAffine3> = Vec::new();
    let mut joints: Vec<Joint> = Vec::new();
    let mut at: Vec<(DVec3, DQuat)> = Vec::new();
    for (i, (own, above, offset)) in JOINTS.into_iter().enumerate() {
        let parent = parent(above);
        let (from, turn) = parent.map_or((DVec3::ZERO, heading), |parent| at[parent]);
        let place = from + turn * (DVec3::from_array(offset) * 0.01 * factor);
        let droop = match own {
            "LeftArm" => DQuat::from_rotation_z(-lowered),
            "RightArm" => DQuat::from_rotation_z(lowered),
            _ => DQuat::IDENTITY,
        };
        at.push((place, turn * droop));
        let axes = DQuat::from_scaled_axis(DVec3::new(0.3 * i as f64, 0.7, -0.2 * i as f64));
        bind.push(DAffine3::from_rotation_translation(axes, place));
        let local = parent.map_or(bind[i], |parent| bind[parent].inverse() * bind[i]);
        joints.push(Joint { name: name(i), parent, rest: Transform::nearest(&local), end: None });
    }
    let count = bind.len();
    Rig {
        skeleton: Arc::new(Skeleton { joints }),
        is_bone: vec![true; count],
        positions: bind.iter().map(|place| place.translation).collect(),
        triangles: vec![[0, 1, 2]],
        influences: Influences {
            starts: (0..=count as u32).collect(),
            joints: (0..count as u32).collect(),
            weights: vec![1.0; count],
        },
        bind,
        motions: Vec::new(),
        unit: 1.0,
        notes: Vec::new(),
    }
}
