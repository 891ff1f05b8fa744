//! Which part of the body each joint of a skeleton is.
//!
//! First by name; then words with two meanings by what else there is on that side
//! (LeftShoulder is a clavicle beside LeftArm, an upper arm beside LeftCollar), and
//! limbs that are only numbered by their order from the trunk. Where names say
//! nothing, by shape: the two branches of the hips that go down are legs, the branches
//! beside the neck are arms, feet point forward.

use super::names::{Part, Side, Word, read_name};
use super::skeleton::Skeleton;
use glam::{DAffine3, DVec3};

/// A joint's part in the body, and how that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// Which side.
    pub side: Side,
    /// Which part.
    pub part: Part,
    /// How it was told, in words.
    pub why: &'static str,
}

const NONE: Role = Role { side: Side::Middle, part: Part::Other, why: "nothing tells its part" };
const BY_NAME: &str = "by its name";
const BY_ORDER: &str = "by its name and place in the limb";
const BY_SHAPE: &str = "by the shape of the skeleton";

/// The part of every joint, from names and a pose (y up) in which the body stands.
pub fn roles(skeleton: &Skeleton, pose: &[DAffine3]) -> Vec<Role> {
    let mut roles = named(skeleton);
    by_shape(skeleton, pose, &mut roles);
    roles
}

/// The part of every joint as far as names and order tell.
pub(super) fn named(skeleton: &Skeleton) -> Vec<Role> {
    let read: Vec<(Side, Word)> = skeleton.joints.iter().map(|joint| read_name(&joint.name)).collect();
    let mut roles = vec![NONE; read.len()];
    for side in [Side::Left, Side::Right] {
        let on_side = |wanted: &[Word]| -> Vec<usize> {
            (0..read.len()).filter(|&i| read[i].0 == side && wanted.contains(&read[i].1)).collect()
        };
        for part in (0..5).map(Part::Finger) {
            on_side(&[Word::Is(part)]).into_iter().for_each(|i| roles[i] = Role { side, part, why: BY_NAME });
        }
        arm(side, &on_side, &mut roles);
        leg(side, &on_side, &mut roles);
    }
    trunk(skeleton, &read, &mut roles);
    roles
}

/// The joints of each word, parents first.
type OnSide<'a> = dyn Fn(&[Word]) -> Vec<usize> + 'a;

struct Limb<'a> {
    side: Side,
    roles: &'a mut [Role],
}

impl Limb<'_> {
    fn has(&self, part: Part) -> bool {
        self.roles.iter().any(|role| role.side == self.side && role.part == part)
    }

    /// Gives a joint a part, unless it has one or another joint has it.
    fn give(&mut self, joint: usize, part: Part, why: &'static str) -> bool {
        let free = self.roles[joint].part == Part::Other && !self.has(part);
        if free {
            self.roles[joint] = Role { side: self.side, part, why };
        }
        free
    }

    fn give_first(&mut self, joints: &[usize], part: Part) {
        if let Some(&joint) = joints.first() {
            self.give(joint, part, BY_NAME);
        }
    }
}

fn arm(side: Side, on_side: &OnSide, roles: &mut [Role]) {
    let mut limb = Limb { side, roles };
    for part in [Part::Clavicle, Part::UpperArm, Part::LowerArm, Part::Hand] {
        limb.give_first(&on_side(&[Word::Is(part)]), part);
    }
    let (shoulders, arms) = (on_side(&[Word::Shoulder]), on_side(&[Word::Arm]));
    if limb.has(Part::UpperArm) || !arms.is_empty() {
        limb.give_first(&shoulders, Part::Clavicle);
    } else {
        limb.give_first(&shoulders, Part::UpperArm);
    }
    let whole = [Part::Clavicle, Part::UpperArm, Part::LowerArm, Part::Hand];
    let parts: &[Part] = match arms.len() {
        _ if limb.has(Part::UpperArm) => &[Part::LowerArm, Part::Hand],
        1 => &[Part::UpperArm],
        2 if limb.has(Part::LowerArm) => &whole[..2],
        3 if limb.has(Part::Hand) => &whole[..3],
        0..=3 => &whole[1..],
        _ => &whole,
    };
    let why = if arms.len() == 1 { BY_NAME } else { BY_ORDER };
    in_order(&mut limb, &arms, parts, why);
}

fn leg(side: Side, on_side: &OnSide, roles: &mut [Role]) {
    let mut limb = Limb { side, roles };
    for part in [Part::UpperLeg, Part::LowerLeg, Part::Foot, Part::Toe] {
        limb.give_first(&on_side(&[Word::Is(part)]), part);
    }
    let (hips, legs) = (on_side(&[Word::Hip, Word::Is(Part::Hips)]), on_side(&[Word::Leg]));
    if legs.len() < 2 {
        // Refused where an upper leg is named otherwise: then this is what lies before it.
        limb.give_first(&hips, Part::UpperLeg);
    }
    let why = if legs.len() == 1 { BY_NAME } else { BY_ORDER };
    in_order(&mut limb, &legs, &[Part::UpperLeg, Part::LowerLeg, Part::Foot, Part::Toe], why);
    // A second foot is what the first one carries.
    if let Some(&second) = on_side(&[Word::Is(Part::Foot)]).get(1) {
        limb.give(second, Part::Toe, BY_ORDER);
    }
}

/// Gives joints the parts that are still free, one after the other.
fn in_order(limb: &mut Limb, joints: &[usize], parts: &[Part], why: &'static str) {
    let free: Vec<Part> = parts.iter().copied().filter(|&part| !limb.has(part)).collect();
    for (&joint, &part) in joints.iter().zip(&free) {
        limb.give(joint, part, why);
    }
}

fn trunk(skeleton: &Skeleton, read: &[(Side, Word)], roles: &mut [Role]) {
    let middle = |wanted: &[Word]| -> Vec<usize> {
        (0..read.len()).filter(|&i| read[i].0 == Side::Middle && wanted.contains(&read[i].1)).collect()
    };
    let part_of = |side, part| roles.iter().position(|role| role.side == side && role.part == part);
    let legs = part_of(Side::Left, Part::UpperLeg).zip(part_of(Side::Right, Part::UpperLeg));
    let mut hips = middle(&[Word::Is(Part::Hips), Word::Hip]).first().map(|&joint| (joint, BY_NAME));
    if hips.is_none() {
        hips = legs.and_then(|(left, right)| common_ancestor(skeleton, left, right)).map(|joint| (joint, BY_ORDER));
    }
    let mut give = |joint: usize, part, why| roles[joint] = Role { side: Side::Middle, part, why };
    if let Some((joint, why)) = hips {
        give(joint, Part::Hips, why);
    }
    let is_hips = |joint: usize| hips.is_some_and(|(hips, _)| hips == joint);
    let mut spines = middle(&[Word::Is(Part::Spine)]);
    spines.retain(|&joint| !is_hips(joint) && hips.is_none_or(|(hips, _)| skeleton.below(joint, hips)));
    spines.iter().for_each(|&joint| give(joint, Part::Spine, BY_NAME));
    let (mut necks, heads) = (middle(&[Word::Is(Part::Neck)]), middle(&[Word::Is(Part::Head)]));
    match (heads.first(), necks.len()) {
        (Some(&head), _) => give(head, Part::Head, BY_NAME),
        (None, 2..) => {
            if let Some(last) = necks.pop() {
                give(last, Part::Head, BY_ORDER);
            }
        }
        _ => {}
    }
    necks.iter().for_each(|&joint| give(joint, Part::Neck, BY_NAME));
}

/// The lowest joint that carries both.
fn common_ancestor(skeleton: &Skeleton, a: usize, b: usize) -> Option<usize> {
    let mut ancestor = skeleton.joints[a].parent;
    while let Some(joint) = ancestor {
        if skeleton.below(b, joint) {
            return Some(joint);
        }
        ancestor = skeleton.joints[joint].parent;
    }
    None
}

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
fn by_shape(skeleton: &Skeleton, pose: &[DAffine3], roles: &mut [Role]) {
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
