//! Motions played on other bodies.

use super::humanoid::{JOINTS, bvh, rig, turned};
use super::names::name_in;
use crate::rig::{Bvh, BvhMotion, BvhOptions, Mapping, Motion, RetargetOptions, Retargeted, Rig, Up, retarget};
use glam::{DAffine3, DQuat, DVec3};
use std::path::Path;

fn motion(text: &str) -> BvhMotion {
    Bvh::parse(text.as_bytes()).unwrap().motion(Path::new("dance.bvh"), &BvhOptions::default()).unwrap()
}

/// Arms up and down, one leg to the side, the trunk bent.
fn dance() -> String {
    let frame = |t: f64| {
        vec![
            ("LeftArm", 60.0 * (3.0 * t).sin()),
            ("RightArm", -40.0 * t),
            ("LeftForeArm", 30.0 * t),
            ("LeftUpLeg", 35.0 * t),
            ("Spine", 12.0 * t),
            ("Hips", 10.0 * (2.0 * t).sin()),
        ]
    };
    bvh(&(0..20).map(|i| frame(f64::from(i) / 20.0)).collect::<Vec<_>>(), 0.05)
}

fn play(rig: &Rig, source: &BvhMotion) -> Retargeted {
    let mapping = Mapping::suggest(rig, source);
    retarget(rig, source, &mapping, &RetargetOptions::default(), Path::new("dance.bvh")).unwrap()
}

fn direction(pose: &[DAffine3], from: usize, to: usize) -> DVec3 {
    (pose[to].translation - pose[from].translation).normalize()
}

/// Joints from which a bone goes to the next.
const BONES: [usize; 8] = [6, 7, 10, 11, 13, 14, 17, 18];

fn same_limbs(source: &Motion, played: &Motion, turn: DQuat) {
    for i in 0..=40 {
        let time = source.duration * f64::from(i) / 40.0;
        let (a, b) = (source.pose(time), played.pose(time));
        for bone in BONES {
            let apart = (turn * direction(&a, bone, bone + 1)).angle_between(direction(&b, bone, bone + 1));
            assert!(apart < 0.02, "{} {apart} at {time}", JOINTS[bone].0);
        }
    }
}

/// Catches a difference where there should be none: the same body, other axes in its
/// joints, half the size.
#[test]
fn the_same_body_dances_the_same() {
    let source = motion(&dance());
    let rig = rig(0.5, DQuat::IDENTITY, 0.0, |joint| JOINTS[joint].0.to_string());
    let played = play(&rig, &source);
    assert!((played.scale - 0.5).abs() < 1e-9);
    let key = source.motion.key_times()[7];
    let (a, b) = (source.motion.pose(key), played.motion.pose(key));
    let lift = b[0].translation - a[0].translation * 0.5;
    assert!(lift.x.abs() + lift.z.abs() < 1e-9);
    for j in 0..a.len() {
        assert!((b[j].translation - a[j].translation * 0.5).distance(lift) < 1e-9, "{}", JOINTS[j].0);
    }
}

/// Catches arms left hanging by a rig bound with lowered arms, left and right swapped by
/// one that faces elsewhere, names of another convention, z up.
#[test]
fn another_body_takes_the_same_pose() {
    let source = motion(&dance());
    for (convention, heading, lowered) in [(1, 0.0, 0.7), (3, 2.0, 0.5), (4, -3.0, 1.2), (8, 3.1, 0.9)] {
        let rig = rig(0.8, DQuat::from_rotation_y(heading), lowered, |joint| name_in(convention, joint));
        let played = play(&rig, &source);
        same_limbs(&source.motion, &played.motion, DQuat::IDENTITY);
        let nameless = super::humanoid::rig(0.8, DQuat::from_rotation_y(heading), lowered, |joint| format!("b{joint}"));
        same_limbs(&source.motion, &play(&nameless, &source).motion, DQuat::IDENTITY);
    }
    let lying = turned(&dance()).replace("\n0 95 0 ", "\n0 0 95 ");
    let lying = lying.replace("Zrotation Xrotation Yrotation", "Yrotation Xrotation Zrotation");
    // What turned about z turns about -y now.
    let mirrored: String = lying
        .lines()
        .map(|line| if line.starts_with("0 0 95") { negated(line) } else { format!("{line}\n") })
        .collect();
    let lying = motion(&mirrored);
    assert_eq!(lying.up, Up::Z);
    let rig = rig(1.0, DQuat::IDENTITY, 0.6, |joint| name_in(0, joint));
    same_limbs(&source.motion, &play(&rig, &lying).motion, DQuat::IDENTITY);
}

fn negated(line: &str) -> String {
    let flip =
        |(i, word): (usize, &str)| if i < 3 { word.to_string() } else { (-word.parse::<f64>().unwrap()).to_string() };
    line.split(' ').enumerate().map(flip).collect::<Vec<_>>().join(" ") + "\n"
}

/// Catches feet that hang in the air or sink, and a dancer out of sight.
#[test]
fn feet_are_on_the_ground_and_the_start_is_kept() {
    let source = motion(&dance().replace("\n0 95 0 ", "\n300 480 -70 "));
    let rig = rig(0.8, DQuat::IDENTITY, 0.3, |joint| JOINTS[joint].0.to_string());
    let played = play(&rig, &source);
    let lowest = |time| played.motion.pose(time).iter().map(|place| place.translation.y).fold(f64::MAX, f64::min);
    assert!(lowest(0.5).abs() < 0.03, "{}", lowest(0.5));
    let start = played.motion.pose(0.0)[0].translation;
    assert!(start.x.abs() < 1e-9 && start.z.abs() < 1e-9);
    assert!(played.notes.iter().any(|note| note.contains("lowered by")), "{:?}", played.notes);
    let options = RetargetOptions { centre: false, ground: false };
    let kept = retarget(&rig, &source, &Mapping::suggest(&rig, &source), &options, Path::new("m")).unwrap();
    assert!(kept.motion.pose(0.0)[0].translation.distance(DVec3::new(2.4, 3.84, -0.56)) < 1e-9);
}

/// Catches a table that can't be corrected, and a correction that is not heeded.
#[test]
fn the_table_can_be_corrected() {
    let source = motion(&dance());
    let rig = rig(1.0, DQuat::IDENTITY, 0.0, |joint| name_in(4, joint));
    let mut mapping = Mapping::suggest(&rig, &source);
    assert_eq!(mapping.mapped(), JOINTS.len());
    let table = mapping.to_string();
    assert!(
        table.contains("upperarm_l ← LeftArm        left upper arm: by its name; the motion's by its name"),
        "{table}"
    );
    mapping.set("upperarm_l", None).unwrap();
    mapping.set("thigh_l", Some("RightUpLeg")).unwrap();
    assert_eq!(
        mapping.set("uperarm_l", None).unwrap_err(),
        "the rig has no joint 'uperarm_l'; did you mean 'upperarm_l'?"
    );
    assert_eq!(mapping.set("head", Some("Haed")).unwrap_err(), "the motion has no joint 'Haed'; did you mean 'Head'?");
    let played = retarget(&rig, &source, &mapping, &RetargetOptions::default(), Path::new("m")).unwrap();
    let (a, b) = (source.motion.pose(0.8), played.motion.pose(0.8));
    assert!(direction(&a, 17, 18).angle_between(direction(&b, 13, 14)) < 1e-3);
    assert!(direction(&a, 6, 7).angle_between(direction(&b, 6, 7)) > 0.2);
    // The upper arm goes with the clavicle.
    let held = |pose: &[DAffine3]| pose[5].inverse() * pose[6];
    assert!((held(&b).translation - held(&rig.bind).translation).length() < 1e-9);
    let names: Vec<String> = mapping.lines.iter().map(|line| line.joint.clone()).collect();
    names.iter().for_each(|name| mapping.set(name, None).unwrap());
    let refused = retarget(&rig, &source, &mapping, &RetargetOptions::default(), Path::new("m")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "m: no joint of the rig has a partner in the motion: say which joint goes with which"
    );
}
