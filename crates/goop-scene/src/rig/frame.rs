//! Which way a body stands: up, left and forward of a skeleton in a pose.

use super::names::{Part, Side};
use super::roles::Role;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Where a role's joint is; the first that has it.
pub(super) fn joint_of(roles: &[Role], side: Side, part: Part) -> Option<usize> {
    roles.iter().position(|role| role.side == side && role.part == part)
}

/// Left minus right, of hips and shoulders; zero where neither is known.
pub(super) fn leftward(roles: &[Role], pose: &[DAffine3]) -> DVec3 {
    let across = |part| {
        let at = |side| joint_of(roles, side, part).map(|joint| pose[joint].translation);
        at(Side::Left).zip(at(Side::Right)).map_or(DVec3::ZERO, |(left, right)| (left - right).normalize_or_zero())
    };
    let sum = across(Part::UpperLeg) + across(Part::UpperArm);
    if sum.length() > 0.1 { sum.normalize() } else { DVec3::ZERO }
}

/// From the hips to the base of the neck (or the head, or the last of the spine).
pub(super) fn trunkward(roles: &[Role], pose: &[DAffine3]) -> DVec3 {
    let place = |part| joint_of(roles, Side::Middle, part).map(|joint| pose[joint].translation);
    let between = |part| {
        let at = |side| joint_of(roles, side, part).map(|joint| pose[joint].translation);
        at(Side::Left).zip(at(Side::Right)).map(|(left, right)| (left + right) / 2.0)
    };
    let low = between(Part::UpperLeg).or_else(|| place(Part::Hips));
    let high = between(Part::UpperArm).or_else(|| place(Part::Neck)).or_else(|| place(Part::Head));
    low.zip(high).map_or(DVec3::ZERO, |(low, high)| (high - low).normalize_or_zero())
}

/// Axes of the trunk: left, trunk, forward. `None` where it can't be told.
pub(super) fn trunk_frame(roles: &[Role], pose: &[DAffine3]) -> Option<DQuat> {
    let (left, up) = (leftward(roles, pose), trunkward(roles, pose));
    let left = (left - up * left.dot(up)).normalize_or_zero();
    (left != DVec3::ZERO && up != DVec3::ZERO)
        .then(|| DQuat::from_mat3(&DMat3::from_cols(left, up, left.cross(up))).normalize())
}

/// The turn about y that makes +z the way a body in this pose faces; by the trunk, else
/// none.
pub(super) fn heading(roles: &[Role], pose: &[DAffine3]) -> DQuat {
    let left = leftward(roles, pose) * DVec3::new(1.0, 0.0, 1.0);
    if left.length() < 0.1 {
        return DQuat::IDENTITY;
    }
    // Left is +x where the body faces +z.
    DQuat::from_rotation_y(f64::atan2(-left.z, left.x))
}

/// The shortest turn from one direction to another; a half turn about `hinge` where they
/// are opposite.
pub(super) fn arc(from: DVec3, to: DVec3, hinge: DVec3) -> DQuat {
    let (from, to) = (from.normalize_or_zero(), to.normalize_or_zero());
    if from == DVec3::ZERO || to == DVec3::ZERO {
        return DQuat::IDENTITY;
    }
    if from.dot(to) < -1.0 + 1e-9 {
        let hinge = (hinge - from * from.dot(hinge)).normalize_or(from.any_orthonormal_vector());
        return DQuat::from_axis_angle(hinge, std::f64::consts::PI);
    }
    DQuat::from_rotation_arc(from, to)
}
