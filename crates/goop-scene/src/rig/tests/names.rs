//! Parts of the body from names of every convention, and from shape.

use super::humanoid::{JOINTS, rig};
use crate::rig::{Part, Side, roles};
use glam::DQuat;

const PARTS: [(Side, Part); 21] = [
    (Side::Middle, Part::Hips),
    (Side::Middle, Part::Spine),
    (Side::Middle, Part::Spine),
    (Side::Middle, Part::Neck),
    (Side::Middle, Part::Head),
    (Side::Left, Part::Clavicle),
    (Side::Left, Part::UpperArm),
    (Side::Left, Part::LowerArm),
    (Side::Left, Part::Hand),
    (Side::Right, Part::Clavicle),
    (Side::Right, Part::UpperArm),
    (Side::Right, Part::LowerArm),
    (Side::Right, Part::Hand),
    (Side::Left, Part::UpperLeg),
    (Side::Left, Part::LowerLeg),
    (Side::Left, Part::Foot),
    (Side::Left, Part::Toe),
    (Side::Right, Part::UpperLeg),
    (Side::Right, Part::LowerLeg),
    (Side::Right, Part::Foot),
    (Side::Right, Part::Toe),
];

/// Middle, then clavicle, upper arm … toe with a mark where the side goes: `@` Left/Right,
/// `~` l/r, `^` L/R.
const CONVENTIONS: [(&str, [&str; 5], [&str; 8]); 9] = [
    (
        "MotionBuilder, CMU",
        ["Hips", "LowerBack", "Spine1", "Neck", "Head"],
        ["@Shoulder", "@Arm", "@ForeArm", "@Hand", "@UpLeg", "@Leg", "@Foot", "@ToeBase"],
    ),
    (
        "Mixamo",
        ["mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine2", "mixamorig:Neck", "mixamorig:Head"],
        [
            "mixamorig:@Shoulder",
            "mixamorig:@Arm",
            "mixamorig:@ForeArm",
            "mixamorig:@Hand",
            "mixamorig:@UpLeg",
            "mixamorig:@Leg",
            "mixamorig:@Foot",
            "mixamorig:@ToeBase",
        ],
    ),
    (
        "Biovision",
        ["Hips", "Chest", "Chest2", "Neck", "Head"],
        ["@Collar", "@Shoulder", "@Elbow", "@Wrist", "@Hip", "@Knee", "@Ankle", "@Toe"],
    ),
    (
        "DAZ, Poser",
        ["hip", "abdomen", "chest", "neck", "head"],
        ["~Collar", "~Shldr", "~ForeArm", "~Hand", "~Thigh", "~Shin", "~Foot", "~Toe"],
    ),
    (
        "Unreal",
        ["pelvis", "spine_01", "spine_02", "neck_01", "head"],
        ["clavicle_~", "upperarm_~", "lowerarm_~", "hand_~", "thigh_~", "calf_~", "foot_~", "ball_~"],
    ),
    (
        "Blender",
        ["hips", "spine", "chest", "neck", "head"],
        ["shoulder.^", "upper_arm.^", "forearm.^", "hand.^", "thigh.^", "shin.^", "foot.^", "toe.^"],
    ),
    (
        "3ds Max",
        ["Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Neck", "Bip01 Head"],
        [
            "Bip01 ^ Clavicle",
            "Bip01 ^ UpperArm",
            "Bip01 ^ Forearm",
            "Bip01 ^ Hand",
            "Bip01 ^ Thigh",
            "Bip01 ^ Calf",
            "Bip01 ^ Foot",
            "Bip01 ^ Toe0",
        ],
    ),
    (
        "raw CMU",
        ["root", "lowerback", "thorax", "lowerneck", "head"],
        ["~clavicle", "~humerus", "~radius", "~wrist", "~femur", "~tibia", "~foot", "~toes"],
    ),
    (
        "numbered",
        ["Skeleton_torso_joint_1", "torso_joint_2", "torso_joint_3", "neck_joint_1", "neck_joint_2"],
        [
            "Skeleton_arm_joint_^__5_",
            "Skeleton_arm_joint_^__4_",
            "Skeleton_arm_joint_^__3_",
            "Skeleton_arm_joint_^",
            "leg_joint_^_1",
            "leg_joint_^_2",
            "leg_joint_^_3",
            "leg_joint_^_5",
        ],
    ),
];

/// The name of a joint in a convention.
pub(super) fn name_in(convention: usize, joint: usize) -> String {
    let (_, middle, limbs) = CONVENTIONS[convention];
    let (left, limb) = match joint {
        0..=4 => return middle[joint].to_string(),
        5..=8 => (true, joint - 5),
        9..=12 => (false, joint - 9),
        13..=16 => (true, joint - 9),
        _ => (false, joint - 13),
    };
    let mark = |l: &'static str, r: &'static str| if left { l } else { r };
    limbs[limb].replace('@', mark("Left", "Right")).replace('~', mark("l", "r")).replace('^', mark("L", "R"))
}

/// Catches a convention that is not understood, a side swapped, a shoulder taken for an
/// upper arm.
#[test]
fn every_convention_names_the_same_parts() {
    for (convention, (title, ..)) in CONVENTIONS.iter().enumerate() {
        let rig = rig(1.0, DQuat::IDENTITY, 0.0, |joint| name_in(convention, joint));
        let found: Vec<(Side, Part)> =
            roles(&rig.skeleton, &rig.bind).iter().map(|role| (role.side, role.part)).collect();
        for (i, (found, wanted)) in found.iter().zip(PARTS).enumerate() {
            assert_eq!(*found, wanted, "{title}: {}", name_in(convention, i));
        }
    }
}

/// Catches left and right swapped for a body that faces away, and arms taken for legs.
#[test]
fn a_nameless_body_is_known_by_its_shape() {
    for heading in [0.0, 1.0, 3.0, -2.0] {
        for lowered in [0.0, 0.8] {
            let rig = rig(0.6, DQuat::from_rotation_y(heading), lowered, |joint| format!("bone.{joint:03}"));
            let found = roles(&rig.skeleton, &rig.bind);
            for (i, (role, wanted)) in found.iter().zip(PARTS).enumerate() {
                assert_eq!((role.side, role.part), wanted, "{} at heading {heading}", JOINTS[i].0);
            }
        }
    }
}

/// Catches helpers that take the place of what they help.
#[test]
fn helpers_and_strangers_have_no_part() {
    use crate::rig::names::{Word, read_name};
    for name in [
        "HeadTop_End",
        "LeftHandEnd",
        "lowerarm_twist_01_l",
        "rEye",
        "ik_foot_l",
        "rButtock",
        "Bip01 HeadNub",
        "tail",
        "b_Tail01_012",
        "",
        "🦊",
        "node 7",
        "Armature",
        "leftover",
    ] {
        assert_eq!(read_name(name).1, Word::Nothing, "{name}");
    }
    assert_eq!(read_name("LeftHandIndex1"), (Side::Left, Word::Is(Part::Finger(1))));
    assert_eq!(read_name("rMid2"), (Side::Right, Word::Is(Part::Finger(2))));
    assert_eq!(read_name("LThumb"), (Side::Left, Word::Is(Part::Finger(0))));
    assert_eq!(read_name("LHipJoint"), (Side::Left, Word::Hip));
    assert_eq!(read_name("pinky_03_r"), (Side::Right, Word::Is(Part::Finger(4))));
}
