//! A motion as BVH text: metres, y up, turns as z, x, y in degrees.
//!
//! A turn is R = Z(γ) X(α) Y(β); with columns x, y, z of R
//! ```text
//! sin α = y.z,   tan γ = −y.x / y.y,   tan β = −x.z / z.z
//! ```

use crate::rig::{Motion, Skeleton};
use glam::{DMat3, DQuat, DVec3};
use std::fmt::Write;

/// Rows a second.
const RATE: usize = 60;

/// Angles about z, x and y (deg).
fn angles(turn: DQuat) -> [f64; 3] {
    let m = DMat3::from_quat(turn);
    let x = m.y_axis.z.clamp(-1.0, 1.0).asin();
    let z = f64::atan2(-m.y_axis.x, m.y_axis.y);
    let y = f64::atan2(-m.x_axis.z, m.z_axis.z);
    [z, x, y].map(f64::to_degrees)
}

fn vector(v: DVec3) -> String {
    format!("{:.6} {:.6} {:.6}", v.x, v.y, v.z)
}

/// A joint and what it carries. Writing to text does not fail.
fn hierarchy(text: &mut String, skeleton: &Skeleton, children: &[Vec<usize>], joint: usize, depth: usize) {
    let own = &skeleton.joints[joint];
    let pad = "  ".repeat(depth);
    let (word, channels) = match own.parent {
        None => ("ROOT", "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"),
        Some(_) => ("JOINT", "3 Zrotation Xrotation Yrotation"),
    };
    let _ = writeln!(text, "{pad}{word} {}\n{pad}{{", own.name);
    let _ = writeln!(text, "{pad}  OFFSET {}\n{pad}  CHANNELS {channels}", vector(own.rest.translation));
    for &child in &children[joint] {
        hierarchy(text, skeleton, children, child, depth + 1);
    }
    if children[joint].is_empty() {
        let end = vector(own.end.unwrap_or_default());
        let _ = writeln!(text, "{pad}  End Site\n{pad}  {{\n{pad}    OFFSET {end}\n{pad}  }}");
    }
    let _ = writeln!(text, "{pad}}}");
}

/// The file. Rows are in the order of the joints, which is that of the hierarchy.
pub(super) fn write(motion: &Motion) -> String {
    let skeleton = &motion.skeleton;
    let mut text = String::from("HIERARCHY\n");
    hierarchy(&mut text, skeleton, &skeleton.children(), 0, 0);
    let rows = (motion.duration * RATE as f64).round() as usize;
    let _ = writeln!(text, "MOTION\nFrames: {}\nFrame Time: {:.9}", rows + 1, 1.0 / RATE as f64);
    for row in 0..=rows {
        let pose = motion.pose(row as f64 / RATE as f64);
        let mut numbers = vec![vector(pose[0].translation)];
        for (joint, place) in skeleton.joints.iter().zip(&pose) {
            let above = joint.parent.map_or(DMat3::IDENTITY, |parent| pose[parent].matrix3);
            let turn = DQuat::from_mat3(&(above.transpose() * place.matrix3));
            numbers.extend(angles(turn).map(|angle| format!("{angle:.5}")));
        }
        let _ = writeln!(text, "{}", numbers.join(" "));
    }
    text
}
