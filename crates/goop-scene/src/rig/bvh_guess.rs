//! What a BVH file leaves to be guessed.
//!
//! Up is the axis along which the head is above the feet in the mean over all frames. The
//! unit makes the body 1.7 m tall, or is one in use (m, cm, mm, inch) where that makes it
//! 1.5 m to 1.9 m; the height is the largest from head to foot in any frame, arms aside.

use super::bvh_motion::Up;
use super::frame::{joint_of, leftward, trunkward};
use super::names::{Part, Side};
use super::roles::Role;
use super::skeleton::Skeleton;
use glam::{DAffine3, DQuat, DVec3};

/// Height a body is taken to have (m).
const HEIGHT: f64 = 1.7;
/// Units in use (m).
const UNITS: [(f64, &str); 4] = [(1.0, "metres"), (0.01, "centimetres"), (0.001, "millimetres"), (0.0254, "inches")];

/// Head and feet in a pose: the highest joint known of the body, the lowest of each leg.
fn ends(roles: &[Role]) -> Option<(usize, Vec<usize>)> {
    let head = [Part::Head, Part::Neck].iter().find_map(|&part| joint_of(roles, Side::Middle, part))?;
    let foot = |side| [Part::Foot, Part::Toe, Part::LowerLeg].iter().find_map(|&part| joint_of(roles, side, part));
    let feet: Vec<usize> = [Side::Left, Side::Right].into_iter().filter_map(foot).collect();
    (!feet.is_empty()).then_some((head, feet))
}

pub(super) fn find_up(skeleton: &Skeleton, roles: &[Role], samples: &[Vec<DAffine3>]) -> (Up, &'static str) {
    let Some((head, feet)) = ends(roles) else {
        let points: Vec<DVec3> = samples.last().into_iter().flatten().map(|place| place.translation).collect();
        let low = points.iter().copied().reduce(DVec3::min).unwrap_or_default();
        let high = points.iter().copied().reduce(DVec3::max).unwrap_or_default();
        let size = high - low;
        let lying = skeleton.joints.len() > 4 && size.z > 1.2 * size.y;
        return (if lying { Up::Z } else { Up::Y }, "no head and feet are known, and the skeleton is longest that way");
    };
    // Without rotations the pose may be anything: it counts only where there is no other.
    let counted = &samples[..(samples.len() - 1).max(1)];
    let mut sum = DVec3::ZERO;
    for pose in counted {
        let foot = feet.iter().map(|&foot| pose[foot].translation).sum::<DVec3>() / feet.len() as f64;
        sum += (pose[head].translation - foot).normalize_or_zero();
    }
    let axis = sum.abs().max_position();
    (Up { axis, negative: sum[axis] < 0.0 }, "the head is above the feet that way")
}

pub(super) fn find_unit(skeleton: &Skeleton, roles: &[Role], samples: &[Vec<DAffine3>], turn: DQuat) -> (f64, String) {
    // Heights from lowest to highest of joints and their ends.
    let span = |pose: &[DAffine3], joints: &[usize]| {
        let points = joints.iter().flat_map(|&i| {
            let end = skeleton.joints[i].end.map(|end| pose[i].transform_point3(end));
            [Some(pose[i].translation), end].into_iter().flatten()
        });
        points.map(|point| (turn * point).y).fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)))
    };
    let carried = |joint: usize| (0..roles.len()).filter(|&i| skeleton.below(i, joint)).collect::<Vec<usize>>();
    let (height, what) = match ends(roles) {
        Some((head, feet)) => {
            let (head, feet) = (carried(head), feet.into_iter().flat_map(carried).collect::<Vec<usize>>());
            let stature = |pose: &Vec<DAffine3>| span(pose, &head).1 - span(pose, &feet).0;
            (samples.iter().map(stature).fold(0.0, f64::max), "from head to foot")
        }
        None => {
            let size = |pose: &Vec<DAffine3>| {
                let ends =
                    skeleton.joints.iter().zip(pose).filter_map(|(joint, at)| Some(at.transform_point3(joint.end?)));
                let points: Vec<DVec3> = pose.iter().map(|place| place.translation).chain(ends).collect();
                let low = points.iter().copied().reduce(DVec3::min).unwrap_or_default();
                let high = points.iter().copied().reduce(DVec3::max).unwrap_or_default();
                (high - low).max_element()
            };
            (samples.iter().map(size).fold(0.0, f64::max), "at most (head and feet are not known)")
        }
    };
    if !(height.is_finite() && height > 0.0) {
        return (1.0, "the skeleton has no size; its unit is taken as 1 m".into());
    }
    if let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| (1.5..1.9).contains(&(unit * height))) {
        let tall = unit * height;
        return (unit, format!("the body measures {height:.4} {what}: these are {name}, and it is {tall:.2} m tall"));
    }
    let unit = HEIGHT / height;
    (unit, format!("the body measures {height:.4} {what}, taken as {HEIGHT} m: one unit is {unit:.5} m"))
}

/// How far a pose is from standing straight with the arms to the sides (rad).
pub(super) fn slant(roles: &[Role], pose: &[DAffine3]) -> f64 {
    let at = |side, part| joint_of(roles, side, part).map(|joint| pose[joint].translation);
    let angle = |a: DVec3, b: DVec3| if a == DVec3::ZERO || b == DVec3::ZERO { 0.0 } else { a.angle_between(b) };
    let trunk = trunkward(roles, pose);
    let forward = leftward(roles, pose).cross(DVec3::Y).normalize_or_zero();
    let mut sum = angle(trunk, DVec3::Y);
    for side in [Side::Left, Side::Right] {
        let leg = [Part::UpperLeg, Part::LowerLeg, Part::Foot].map(|part| at(side, part));
        if let [Some(hip), Some(knee), Some(foot)] = leg {
            sum += angle(foot - hip, -DVec3::Y) + angle(knee - hip, foot - knee);
        }
        let arm = [Part::UpperArm, Part::LowerArm, Part::Hand].map(|part| at(side, part));
        if let [Some(shoulder), Some(elbow), Some(hand)] = arm {
            let before = (hand - shoulder).normalize_or_zero().dot(forward).abs();
            sum += before.min(1.0).asin() + angle(elbow - shoulder, hand - elbow);
        }
    }
    sum
}
