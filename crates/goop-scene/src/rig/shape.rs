//! Parts of a body by the shape of its skeleton, where names say nothing: the two branches
//! of the hips that go down are legs, the branches beside the neck are arms, feet point
//! forward.

use super::names::{Part, Side};
use super::roles::Role;
use super::skeleton::Skeleton;
use glam::{DAffine3, DVec3};

const BY_SHAPE: &str = "by the shape of the skeleton";

/// What the shape of a skeleton tells.
struct Shape {
    children: Vec<Vec<usize>>,
    at: Vec<DVec3>,
    /// The farthest point below each joint along its longest chain, and that chain's length.
    reach: Vec<f64>,
}

impl Shape {
    /// The longest chain down from a joint, without joints that stand on their parent.
    fn chain(&self, first: usize) -> Vec<usize> {
        let mut chain = vec![first];
        let mut joint = first;
        while let Some(&next) =
            self.children[joint].iter().max_by(|&&a, &&b| self.way(joint, a).total_cmp(&self.way(joint, b)))
        {
            if self.at[next].distance(self.at[joint]) < 1e-6 * self.reach[first].max(1e-12) {
                chain.pop();
            }
            chain.push(next);
            joint = next;
        }
        chain
    }

    fn way(&self, joint: usize, child: usize) -> f64 {
        self.at[joint].distance(self.at[child]) + self.reach[child]
    }

    /// Where the longest chain below a joint ends.
    fn tip(&self, first: usize) -> DVec3 {
        let last = self.chain(first).last().copied().unwrap_or(first);
        self.at[last]
    }

    /// Branches of a joint that lead anywhere, longest first.
    fn branches(&self, joint: usize, whole: f64) -> Vec<usize> {
        let mut all: Vec<usize> =
            self.children[joint].iter().copied().filter(|&child| self.way(joint, child) > 0.05 * whole).collect();
        all.sort_by(|&a, &b| self.way(joint, b).total_cmp(&self.way(joint, a)));
        all
    }

    /// Down from a joint, the first that has three branches or more.
    fn fork(&self, mut joint: usize, whole: f64) -> Option<usize> {
        loop {
            let branches = self.branches(joint, whole);
            match branches.len() {
                0 => return None,
                1 | 2 => joint = branches[0],
                _ => return Some(joint),
            }
        }
    }
}

/// Fills in legs, arms, spine, neck and head where names left them out altogether.
pub(super) fn by_shape(skeleton: &Skeleton, pose: &[DAffine3], roles: &mut [Role]) {
    let has = |roles: &[Role], part| roles.iter().any(|role| role.part == part);
    if has(roles, Part::UpperLeg) && has(roles, Part::UpperArm) {
        return;
    }
    let at: Vec<DVec3> = pose.iter().map(|place| place.translation).collect();
    let mut reach: Vec<f64> = skeleton.joints.iter().map(|joint| joint.end.map_or(0.0, DVec3::length)).collect();
    for (i, joint) in skeleton.joints.iter().enumerate().rev() {
        if let Some(parent) = joint.parent {
            reach[parent] = reach[parent].max(reach[i] + at[i].distance(at[parent]));
        }
    }
    let whole = reach.iter().copied().fold(0.0, f64::max);
    let shape = Shape { children: skeleton.children(), at, reach };
    let roots = (0..roles.len()).filter(|&i| skeleton.joints[i].parent.is_none());
    let Some(hips) = roots.filter_map(|root| shape.fork(root, whole)).next() else { return };
    let mut down = shape.branches(hips, whole);
    let drop = |joint: usize| shape.at[hips].y - shape.tip(joint).y;
    down.sort_by(|&a, &b| drop(b).total_cmp(&drop(a)));
    let (legs, up) = (&down[..2], &down[2..]);
    if drop(legs[1]) < 0.2 * whole {
        return;
    }
    // The trunk is the branch that rises highest.
    let Some(&trunk) = up.iter().max_by(|&&a, &&b| drop(b).total_cmp(&drop(a))) else { return };
    let left = leftward(skeleton, pose, &shape, legs);
    let mut give = |joint: usize, side, part| {
        let several = matches!(part, Part::Spine | Part::Neck);
        let taken = !several && roles.iter().any(|role| role.side == side && role.part == part);
        if roles[joint].part == Part::Other && !taken {
            roles[joint] = Role { side, part, why: BY_SHAPE };
        }
    };
    give(hips, Side::Middle, Part::Hips);
    let side_of = |joint: usize, middle: DVec3| {
        if (shape.tip(joint) - middle).dot(left) > 0.0 { Side::Left } else { Side::Right }
    };
    for &leg in legs {
        let side = side_of(leg, shape.at[hips]);
        for (&joint, part) in shape.chain(leg).iter().zip([Part::UpperLeg, Part::LowerLeg, Part::Foot, Part::Toe]) {
            give(joint, side, part);
        }
    }
    let Some(chest) = shape.fork(trunk, whole) else { return };
    let mut joint = chest;
    while joint != hips {
        give(joint, Side::Middle, Part::Spine);
        match skeleton.joints[joint].parent {
            Some(parent) => joint = parent,
            None => break,
        }
    }
    // Beside the neck: of the branches the two that go farthest to the sides.
    let mut across = shape.branches(chest, whole);
    let sideways = |joint: usize| (shape.tip(joint) - shape.at[chest]).dot(left);
    across.sort_by(|&a, &b| sideways(a).total_cmp(&sideways(b)));
    let (first, last) = (across[0], across[across.len() - 1]);
    for (arm, side) in [(first, Side::Right), (last, Side::Left)] {
        let chain = shape.chain(arm);
        let bone = |i: usize| chain.get(i).zip(chain.get(i + 1)).map(|(&a, &b)| shape.at[a].distance(shape.at[b]));
        let has_clavicle = chain.len() > 3 && bone(0).zip(bone(1)).is_some_and(|(first, second)| first < 0.7 * second);
        let parts = [Part::Clavicle, Part::UpperArm, Part::LowerArm, Part::Hand];
        for (&joint, &part) in chain.iter().zip(&parts[usize::from(!has_clavicle)..]) {
            give(joint, side, part);
        }
    }
    if let Some(&neck) = across[1..across.len() - 1].first() {
        let chain = shape.chain(neck);
        for (i, &joint) in chain.iter().enumerate() {
            let head = chain.len() > 1 && i + 1 == chain.len();
            give(joint, Side::Middle, if head { Part::Head } else { Part::Neck });
        }
    }
}

/// The body's left, by the way its feet point; +x, as of a body that faces +z, where
/// they tell nothing.
fn leftward(skeleton: &Skeleton, pose: &[DAffine3], shape: &Shape, legs: &[usize]) -> DVec3 {
    let mut forward = DVec3::ZERO;
    for &leg in legs {
        let chain = shape.chain(leg);
        let Some(&foot) = chain.get(2) else { continue };
        let end = skeleton.joints[foot].end.map(|end| pose[foot].transform_point3(end));
        let toe = chain.get(3).map(|&toe| shape.at[toe]).or(end);
        forward += toe.map_or(DVec3::ZERO, |toe| toe - shape.at[foot]);
    }
    forward.y = 0.0;
    DVec3::Y.cross(forward).try_normalize().unwrap_or(DVec3::X)
}
