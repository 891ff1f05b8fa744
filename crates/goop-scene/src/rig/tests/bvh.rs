//! Every dialect of BVH, and what its faults say.

use crate::rig::{Bvh, BvhMotion, BvhOptions, Channel, Up};
use glam::{DQuat, DVec3};
use std::path::Path;

pub(super) const BASE: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0 5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 18 0
    }
  }
  JOINT LeftUpLeg
  {
    OFFSET 4 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -17 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
0 40 0 0 0 0 10 0 0 0 30 0
1 41 0 0 0 90 0 20 0 0 -30 0
";

fn read(text: impl AsRef<[u8]>) -> Bvh {
    Bvh::parse(text.as_ref()).unwrap()
}

fn refusal(text: impl AsRef<[u8]>) -> String {
    let fault = Bvh::parse(text.as_ref()).unwrap_err();
    format!("{}: {}: {}", fault.place, fault.message, fault.remedy)
}

fn motion(text: impl AsRef<[u8]>, options: &BvhOptions) -> BvhMotion {
    read(text).motion(Path::new("m.bvh"), options).unwrap()
}

/// Catches a reader that depends on line ends, case, indentation or where braces stand.
#[test]
fn the_same_file_in_other_clothes_reads_the_same() {
    let base = read(BASE);
    assert_eq!((base.joints.len(), base.channels, base.frames, base.frame_time), (3, 12, 2, 0.04));
    assert_eq!(base.joints[1].end, Some(DVec3::new(0.0, 18.0, 0.0)));
    let flat: String = BASE.lines().map(|line| line.trim().to_string() + "\n").collect();
    let wrapped = BASE.replace("0 0 0 10 0 0", "0 0 0\n10 0 0").replace("0 0 90 0 20", "0 0 90\n0 20");
    let dressed = [
        BASE.replace('\n', "\r\n").replace("  ", "\t"),
        BASE.replace('\n', "\r"),
        format!("\u{feff}{BASE}"),
        BASE.replace('\n', " \n\n"),
        BASE.replace("\n  {", " {").replace("\n{", "{"),
        flat.replace("}\n", "} "),
        BASE.trim_end().to_string(),
        BASE.to_lowercase().replace("hips", "Hips").replace("chest", "Chest").replace("leftupleg", "LeftUpLeg"),
        BASE.replace("End Site", "End Site_Head_end"),
        BASE.replace("Frames: 2", "Frames:2").replace("Time: 0.04", "Time:\t4e-2"),
        BASE.replace("0 40 0 0 0 0 10", "0.0e+00 +4.0E1 -0 0 .0 0. 1e1"),
        BASE.replace("MOTION\n", "MOTION "),
        wrapped,
    ];
    for text in dressed {
        assert_eq!(read(&text), base, "{text}");
    }
}

/// Catches names cut at a space, and two joints under one name.
#[test]
fn names_may_have_anything_in_them() {
    let text = BASE
        .replace("JOINT Chest", "JOINT Bip01 Spine.001")
        .replace("LeftUpLeg", "rig:Left UpLeg {")
        .replace("{\n  {", "{");
    let bvh = read(text);
    assert_eq!((bvh.joints[1].name.as_str(), bvh.joints[2].name.as_str()), ("Bip01 Spine.001", "rig:Left UpLeg"));
    let twins = motion(BASE.replace("LeftUpLeg", "Chest"), &BvhOptions::default());
    let names: Vec<&str> = twins.motion.skeleton.joints.iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["Hips", "Chest", "Chest#2"]);
    assert!(twins.notes.iter().any(|note| note.starts_with("1 joints share a name")));
}

/// Catches an offset added to position channels, a fixed order of axes, angles in radians.
#[test]
fn channels_mean_what_they_are_called() {
    let text = "HIERARCHY ROOT r { OFFSET 7 8 9 CHANNELS 6 Zposition Xposition Yposition Yrotation Zrotation Xrotation
        JOINT a { OFFSET 1 0 0 CHANNELS 1 Xrotation JOINT b { OFFSET 0 1 0 CHANNELS 0
        JOINT c { OFFSET 0 0 1 CHANNELS 2 Yrotation Xposition End Site { OFFSET 1 0 0 } } } } }
        MOTION\nFrames: 1\nFrame Time: .1\n3 1 2 30 40 50 -90 15 0.5";
    let bvh = read(text);
    let turn = |axis, degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
    let (position, rotation) = bvh.local(0, 0);
    let expected = turn(DVec3::Y, 30.0) * turn(DVec3::Z, 40.0) * turn(DVec3::X, 50.0);
    assert_eq!(position, DVec3::new(1.0, 2.0, 3.0));
    assert!(rotation.angle_between(expected) < 1e-12);
    assert_eq!(bvh.joints[3].channels, [Channel::Rotation(1), Channel::Position(0)]);
    assert_eq!(bvh.local(2, 0), (DVec3::Y, DQuat::IDENTITY));
    // The channel replaces x; z stays that of the offset.
    assert_eq!(bvh.local(3, 0).0, DVec3::new(0.5, 0.0, 1.0));
    let pose = motion(text, &BvhOptions { unit: Some(1.0), up: Some(Up::Y), ..BvhOptions::default() }).motion.pose(0.0);
    let knee = DVec3::new(1.0, 2.0, 3.0) + expected * DVec3::X;
    assert!(pose[1].translation.distance(knee) < 1e-12);
    assert!(pose[2].translation.distance(knee + expected * (turn(DVec3::X, -90.0) * DVec3::Y)) < 1e-12);
}

/// Catches trust in the header's number of frames.
#[test]
fn the_rows_count_not_the_header() {
    for (declared, note) in [("1", "declares 1 frames, but 2"), ("3", "declares 3"), ("x", "no whole number of frames")]
    {
        let bvh = read(BASE.replace("Frames: 2", &format!("Frames: {declared}")));
        assert!(bvh.frames == 2 && bvh.warnings[0].contains(note), "{:?}", bvh.warnings);
    }
    let cut = read(BASE.strip_suffix("20 0 0 -30 0\n").unwrap());
    assert_eq!((cut.frames, cut.warnings.len(), cut.values.len()), (1, 2, 12));
    let none = BASE.split_once("0 40").unwrap().0.replace("Frames: 2", "Frames: 0");
    assert_eq!(read(&none).warnings, Vec::<String>::new());
    let still = motion(none, &BvhOptions::default());
    assert_eq!((still.motion.duration, still.motion.fastest()), (0.0, None));
    assert_eq!(still.motion.pose(1.0), still.motion.skeleton.rest_pose());
    assert!(still.notes.iter().any(|note| note.contains("no frames")));
    let one = motion(BASE.split_once("1 41").unwrap().0, &BvhOptions::default());
    assert_eq!(one.motion.duration, 0.0);
}

/// Catches faults without a line, and a file that is read half and called good.
#[test]
fn faults_say_line_and_remedy() {
    let with = |from: &str, to: &str| {
        assert!(BASE.contains(from), "{from}");
        refusal(BASE.replacen(from, to, 1))
    };
    assert_eq!(
        with("CHANNELS 3 Zrotation", "CHANNELS 3 Wrotation"),
        ", line 9: 'Wrotation' is no channel: name as many as announced: Xposition … Zposition, Xrotation … Zrotation"
    );
    assert_eq!(
        with("0 40 0 0", "0 40 0"),
        ", line 28: the line has 11 numbers, but a frame has 12: give one number for each channel of the HIERARCHY"
    );
    assert!(with("0 40 0 0", "0 40,5 0 0").starts_with(", line 28: '40,5' is not a number"));
    assert!(with("0 40 0 0", "0 nan 0 0").starts_with(", line 28: 'nan' is no length and no angle"));
    assert!(with("1 41 0", "1 41 0 5").starts_with(", line 29: the line has 13 numbers"));
    assert!(with("OFFSET 0 5 0", "OFFSET 0 5").starts_with(", line 9: 'CHANNELS' is not a number"));
    assert!(with("CHANNELS 3", "CHANNELS 2").starts_with(", line 9: 'Yrotation' is no word of a BVH file here"));
    assert!(
        with("CHANNELS 3", "CHANNELS 4000000000").starts_with(", line 9: the number of channels is missing or too")
    );
    assert!(with("Frame Time: 0.04", "").starts_with(", line 28: numbers begin before the frame time"));
    assert!(with("Time: 0.04", "Time: 0").starts_with(", line 27: the frame time 0 is not positive"));
    assert!(
        with("JOINT Chest", "JOINT A JOINT Chest\nJOINT B").starts_with(", line 7: the joint before has no opening")
    );
    assert!(with("}\nMOTION", "MOTION").starts_with(", line 24: MOTION begins before all joints are closed"));
    assert!(with("}\nMOTION", "}}\nMOTION").starts_with(", line 24: a brace closes what was not opened"));
    assert!(with("MOTION", "").starts_with(", line 26: 'Frames:' is no word"));
    assert!(with("HIERARCHY", "solid").starts_with(", line 1: 'solid' stands where HIERARCHY should"));
    assert!(refusal(BASE.split_once("MOTION").unwrap().0).contains("the file ends before MOTION"));
    assert!(refusal("").contains("the file ends before any joint"));
    assert!(refusal(b"\xff\xfeH\0").contains("UTF-16"));
    let deep = "JOINT a { OFFSET 0 1 0 ".repeat(10_001);
    assert!(refusal(format!("HIERARCHY ROOT r {{ {deep}")).contains("more than 10000 joints"));
    let deepest = format!(
        "HIERARCHY ROOT r {{ {} {} }} MOTION\nFrame Time: 1",
        "JOINT a { OFFSET 0 1 0 ".repeat(9_999),
        "}".repeat(9_999)
    );
    assert_eq!(motion(deepest, &BvhOptions::default()).roles.len(), 10_000);
}

/// Catches a body that lies on its face or stands on its head, and one a hundred times too
/// large.
#[test]
fn up_and_unit_are_guessed_and_can_be_told() {
    let body = super::humanoid::bvh(&[], 0.04);
    let upright = motion(&body, &BvhOptions::default());
    assert_eq!((upright.up, upright.unit), (Up::Y, 0.01));
    // The same body with other axes: x stays, (y, z) become (-z, y).
    let lying = motion(super::humanoid::turned(&body), &BvhOptions::default());
    assert_eq!((lying.up, lying.unit), (Up::Z, 0.01));
    for (a, b) in upright.reference.iter().zip(&lying.reference) {
        assert!(a.translation.distance(b.translation) < 1e-9, "{a} {b}");
    }
    let told = BvhOptions { up: Some(Up::Y), unit: Some(2.0), ..BvhOptions::default() };
    assert_eq!((motion(&body, &told).up, motion(&body, &told).unit), (Up::Y, 2.0));
    let odd = motion(super::humanoid::scaled(&body, 0.13), &BvhOptions::default());
    assert!((odd.unit * 0.13 - 0.01).abs() < 2e-3 && odd.notes[0].contains("taken as 1.7 m"), "{:?}", odd.notes);
    for unit in [0.0, -1.0, f64::NAN] {
        let told = BvhOptions { unit: Some(unit), ..BvhOptions::default() };
        assert!(read(&body).motion(Path::new("m"), &told).unwrap_err().message.contains("no length"));
    }
    let late = BvhOptions { start_frame: Some(99), ..BvhOptions::default() };
    assert!(
        read(BASE)
            .motion(Path::new("m"), &late)
            .unwrap_err()
            .message
            .contains("frame 99 is asked for, but there are 2")
    );
}

/// Catches a T-pose before the capture that throws the limbs about in the first step.
#[test]
fn a_first_frame_that_jumps_is_left_out() {
    let walk = [("LeftArm", 80.0), ("RightArm", -80.0)];
    let mut frames = vec![vec![]];
    frames.extend((0..5).map(|_| walk.to_vec()));
    let found = motion(super::humanoid::bvh(&frames, 1.0 / 120.0), &BvhOptions::default());
    assert_eq!(found.start_frame, 1);
    assert!((found.motion.duration - 4.0 / 120.0).abs() < 1e-12);
    assert!(found.motion.fastest().unwrap().speed < 1e-9);
    assert!(found.notes.iter().any(|note| note.starts_with("the motion starts at frame 1")));
    let told = BvhOptions { start_frame: Some(0), ..BvhOptions::default() };
    let kept = motion(super::humanoid::bvh(&frames, 1.0 / 120.0), &told);
    assert!(kept.notes.iter().any(|note| note.contains("looks like a jump in the data")), "{:?}", kept.notes);
}
