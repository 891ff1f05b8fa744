//! Which part of the body each joint of a skeleton is.
//!
//! First by name; then words with two meanings by what else there is on that side
//! (LeftShoulder is a clavicle beside LeftArm, an upper arm beside LeftCollar), and
//! limbs that are only numbered by their order from the trunk; where names say nothing,
//! by shape.

use super::names::{Part, Side, Word, read_name};
use super::shape::by_shape;
use super::skeleton::Skeleton;
use glam::DAffine3;

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
