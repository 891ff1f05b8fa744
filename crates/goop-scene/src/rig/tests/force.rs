//! Keyframed forces.

use crate::rig::{Carry, ForceScript, read_forces};
use glam::DVec3;

fn refusal(text: &str) -> String {
    let fault = ForceScript::parse(text.as_bytes()).unwrap_err();
    format!("{}: {}: {}", fault.place, fault.message, fault.remedy)
}

/// Catches a force that fades instead of lasting, and one that outlives a stop.
#[test]
fn forces_last_until_told_otherwise() {
    let text =
        "# the cube test\r\n0 force 2000 0 0\r\n0, turn, 0, 90, 0 ; comment\n\n0.05 stop\n0.05 hold\n0.8 release\n";
    let script = ForceScript::parse(text.as_bytes()).unwrap();
    assert_eq!((script.force(-1.0), script.force(0.0)), (DVec3::ZERO, DVec3::X * 2000.0));
    assert_eq!((script.force(0.049), script.force(0.05)), (DVec3::X * 2000.0, DVec3::ZERO));
    assert!((script.turn(0.01).y - std::f64::consts::FRAC_PI_2).abs() < 1e-12 && script.turn(0.06) == DVec3::ZERO);
    assert_eq!(script.events, [(0.05, Carry::Stop), (0.05, Carry::Hold), (0.8, Carry::Release)]);
    assert_eq!([0.04, 0.05, 0.79, 0.8].map(|t| script.held(t)), [false, true, true, false]);
}

/// Catches frames taken for seconds, and degrees a frame for degrees a second.
#[test]
fn frames_may_count_instead_of_seconds() {
    let script = ForceScript::parse(b"rate 30\n0 1 2 3 0 0 3\n15 -1 0 0\n").unwrap();
    assert_eq!((script.force(0.49), script.force(0.5)), (DVec3::new(1.0, 2.0, 3.0), -DVec3::X));
    assert!((script.turn(0.2).z - 90f64.to_radians()).abs() < 1e-12);
}

/// Catches a line passed over in silence.
#[test]
fn faults_say_line_and_remedy() {
    assert_eq!(refusal("0 force 1 2"), ", line 1: 2 numbers stand where 3 should: give one for each of x, y and z");
    assert_eq!(
        refusal("0 force 1 2 3\n0 push 1"),
        ", line 2: 'push' is not known: write force, turn, stop, hold or release after the time"
    );
    assert!(refusal("1 stop\n0.5 hold").starts_with(", line 2: the time 0.5 s comes after 1 s"));
    assert!(refusal("x force 1 2 3").starts_with(", line 1: 'x' is no number"));
    assert!(refusal("0 force 1 inf 3").starts_with(", line 1: 'inf' is no number"));
    assert!(refusal("0").starts_with(", line 1: the time stands alone"));
    assert!(refusal("rate 0").starts_with(", line 1: the rate is not positive"));
    assert!(refusal("# nothing").contains("the file says nothing"));
    let absent = read_forces(std::path::Path::new("/nowhere/forces.txt")).unwrap_err().to_string();
    assert!(absent.starts_with("/nowhere/forces.txt: the file can't be read"), "{absent}");
}
