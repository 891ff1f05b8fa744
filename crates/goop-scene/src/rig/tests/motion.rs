//! Sampling, rates and speeds.

use crate::rig::{Curve, Interpolation, Joint, Motion, Skeleton, Track, Transform};
use glam::{DQuat, DVec3};
use proptest::prelude::*;
use std::sync::Arc;

fn joint(name: &str, parent: Option<usize>, at: DVec3) -> Joint {
    let rest = Transform { translation: at, rotation: DQuat::from_rotation_x(0.4), scale: DVec3::new(1.0, 1.2, 0.9) };
    Joint { name: name.into(), parent, rest, end: None }
}

/// Three joints that move, turn and grow by every interpolation, keys at 0, 1 and 3.
fn wild(seed: &[f64]) -> Motion {
    let mut numbers = seed.iter().copied().cycle();
    let mut next = move || numbers.next().unwrap();
    let times: Arc<[f64]> = Arc::from([0.0, 1.0, 3.0]);
    let joints = vec![joint("a", None, DVec3::X), joint("b", Some(0), DVec3::Y), joint("c", Some(1), DVec3::ONE)];
    let tracks = [Interpolation::Linear, Interpolation::Cubic, Interpolation::Linear]
        .map(|interpolation| {
            let count = if interpolation == Interpolation::Cubic { 9 } else { 3 };
            let mut vectors =
                |one: f64| (0..count).map(|_| DVec3::new(one + next(), one + next(), one + next())).collect();
            let (moves, grows): (Vec<DVec3>, Vec<DVec3>) = (vectors(0.0), vectors(2.0));
            let turns = (0..count).map(|_| DQuat::from_xyzw(next(), next(), next(), 1.5).normalize()).collect();
            Track {
                translation: Some(Curve { times: times.clone(), values: moves, interpolation }),
                rotation: Some(Curve { times: times.clone(), values: turns, interpolation }),
                scale: Some(Curve { times: times.clone(), values: grows, interpolation }),
            }
        })
        .to_vec();
    Motion { name: "wild".into(), skeleton: Arc::new(Skeleton { joints }), tracks, start: 0.0, duration: 3.0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Catches an angular velocity in the wrong axes, a slope per key instead of per second.
    #[test]
    fn the_rate_is_the_derivative_of_the_pose(seed in proptest::collection::vec(-0.9..0.9, 40), time in 0.01..2.99f64) {
        prop_assume!((time - 1.0).abs() > 1e-4);
        let (motion, h) = (wild(&seed), 1e-5);
        let (pose, rate) = motion.pose_and_rate(time);
        let (before, after) = (motion.pose(time - h), motion.pose(time + h));
        let point = DVec3::new(0.3, -0.5, 0.7);
        for j in 0..3 {
            prop_assert!((motion.pose(time)[j].translation - pose[j].translation).length() < 1e-12);
            let exact = rate[j].matrix3 * point + rate[j].translation;
            let measured = (after[j].transform_point3(point) - before[j].transform_point3(point)) / (2.0 * h);
            prop_assert!((exact - measured).length() < 1e-5 * (1.0 + exact.length()), "{} {}", exact, measured);
        }
    }
}

/// Catches a turn that takes the long way, or one that is not even.
#[test]
fn rotations_turn_evenly_the_short_way() {
    let values = vec![DQuat::from_rotation_y(0.2), -DQuat::from_rotation_y(1.4)];
    let curve = Curve { times: Arc::from([0.0, 2.0]), values, interpolation: Interpolation::Linear };
    for i in 0..=20 {
        let time = f64::from(i) / 10.0;
        let (value, rate) = curve.sample(time).unwrap();
        assert!(value.angle_between(DQuat::from_rotation_y(0.2 + 0.6 * time)) < 1e-9);
        assert!(time == 2.0 || rate.distance(DVec3::Y * 0.6) < 1e-12);
    }
}

/// Catches motion before the start or after the end, where the pose is held.
#[test]
fn outside_its_time_a_motion_rests() {
    let motion = wild(&[0.1, -0.4, 0.7]).starting_at(1.0);
    assert_eq!((motion.start, motion.duration), (1.0, 2.0));
    assert_eq!((motion.pose(-1.0), motion.pose(9.0)), (motion.pose(0.0), motion.pose(2.0)));
    assert!(motion.pose_and_rate(2.0).1.iter().all(|rate| rate.translation == DVec3::ZERO));
    assert_eq!(motion.key_times(), [0.0, 2.0]);
}

/// Catches a jump that nobody is told about, and a body that moves as one called fast.
#[test]
fn the_fastest_joint_is_found() {
    let mut motion = wild(&[0.0]);
    motion.tracks = vec![Track::default(); 3];
    let values = vec![DVec3::ZERO, DVec3::X * 5.0, DVec3::X * 105.0];
    let curve = Curve { times: Arc::from([0.0, 1.0, 3.0]), values, interpolation: Interpolation::Linear };
    motion.tracks[0].translation = Some(curve);
    let fastest = motion.fastest().unwrap();
    assert!((fastest.speed - 50.0).abs() < 1e-9 && fastest.time == 1.0 && fastest.joint == 0);
    assert!(motion.speed_warning().unwrap().starts_with("'a' moves at 50 m/s at 1.000 s"));

    motion.duration = 1.0;
    assert_eq!(motion.speed_warning(), None);
}
