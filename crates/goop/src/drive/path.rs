//! A path with given times: poses that are passed smoothly, with the velocities that go with them.
//!
//! Positions are cubic between keys. The slope at a key is the weighted harmonic mean of those beside it, nought
//! where they differ in sign, [Fritsch-Butland 1984]: what goes one way between keys goes one way between them, nothing overshoots,
//! and a pose given twice is a rest. Turns ease in and out between two keys. Before the first key and after the last it rests.

use crate::animate::{Key, Pose};
use glam::{DQuat, DVec3};

/// Keys in the order of time, with slopes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    keys: Vec<Key>,
    slopes: Vec<DVec3>,
}

impl Path {
    /// Keys are sorted by time; of two at the same time the later one counts.
    pub fn new(mut keys: Vec<Key>) -> Self {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut kept: Vec<Key> = Vec::new();
        for key in keys {
            if kept.last().is_some_and(|last| last.time == key.time) {
                kept.pop();
            }
            kept.push(key);
        }
        let mut slopes = vec![DVec3::ZERO; kept.len()];
        for k in 1..kept.len().saturating_sub(1) {
            let (h0, h1) = (kept[k].time - kept[k - 1].time, kept[k + 1].time - kept[k].time);
            let d0 = (kept[k].position - kept[k - 1].position) / h0;
            let d1 = (kept[k + 1].position - kept[k].position) / h1;
            for axis in 0..3 {
                if d0[axis] * d1[axis] > 0.0 {
                    slopes[k][axis] = 3.0 * (h0 + h1) / ((2.0 * h1 + h0) / d0[axis] + (h1 + 2.0 * h0) / d1[axis]);
                }
            }
        }
        Self { keys: kept, slopes }
    }

    /// The keys.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Pose and velocities at a time; the origin where there are no keys.
    pub fn at(&self, time: f64) -> Pose {
        let still =
            |position: DVec3, rotation: DQuat| Pose { position, rotation, velocity: DVec3::ZERO, spin: DVec3::ZERO };
        let after = self.keys.partition_point(|k| k.time <= time);
        let Some(&b) = self.keys.get(after) else {
            return self.keys.last().map_or(still(DVec3::ZERO, DQuat::IDENTITY), |k| still(k.position, k.rotation));
        };
        if after == 0 {
            return still(b.position, b.rotation);
        }
        let a = self.keys[after - 1];
        let span = b.time - a.time;
        let s = (time - a.time) / span;
        let (m0, m1) = (self.slopes[after - 1] * span, self.slopes[after] * span);
        let way = b.position - a.position;
        let ease = s * s * (3.0 - 2.0 * s);
        let position = a.position + way * ease + (m0 * (1.0 - s) - m1 * s) * (s * (1.0 - s));
        let rate = 6.0 * s * (1.0 - s);
        let velocity = (way * rate + m0 * ((1.0 - s) * (1.0 - 3.0 * s)) + m1 * (s * (3.0 * s - 2.0))) / span;
        let mut turn = b.rotation * a.rotation.inverse();
        if turn.w < 0.0 {
            turn = -turn;
        }
        let turn = turn.to_scaled_axis();
        Pose {
            position,
            velocity,
            rotation: DQuat::from_scaled_axis(turn * ease) * a.rotation,
            spin: turn * (rate / span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        let key = |time, x: f64, angle: f64| Key {
            time,
            position: DVec3::new(x, 1.0 - x, 2.0 * x * x),
            rotation: DQuat::from_rotation_z(angle),
        };
        Path::new(vec![
            key(0.0, 0.0, 0.0),
            key(1.0, 1.0, 2.0),
            key(1.5, 3.0, 4.5),
            key(2.5, 3.5, 4.0),
            key(3.0, 3.5, 4.0),
        ])
    }

    /// Catches a velocity that is not the derivative of the pose, and a jump at a key.
    #[test]
    fn velocities_are_the_derivatives_of_the_pose_also_across_keys() {
        let path = path();
        for t in [0.2, 0.9999, 1.0, 1.2, 1.5001, 2.0, 2.7, 3.0, 3.4] {
            let (pose, h) = (path.at(t), 1e-6);
            let (before, after) = (path.at(t - h), path.at(t + h));
            let slope = (after.position - before.position) / (2.0 * h);
            assert!((slope - pose.velocity).length() < 1e-4, "{t}: {slope} {}", pose.velocity);
            let moved = (after.rotation * DVec3::X - before.rotation * DVec3::X) / (2.0 * h);
            assert!((moved - pose.spin.cross(pose.rotation * DVec3::X)).length() < 1e-4, "{t}");
        }
    }

    /// Catches a spline that swings past its keys or does not rest where a key is repeated.
    #[test]
    fn it_passes_its_keys_goes_one_way_between_them_and_rests_at_a_pose_given_twice() {
        let path = path();
        for key in path.keys() {
            assert!((path.at(key.time).position - key.position).length() < 1e-12);
        }
        assert!(path.at(1.0).velocity.x > 1.0, "it does not stop on its way");
        let xs: Vec<f64> = (0..=300).map(|k| path.at(0.01 * k as f64).position.x).collect();
        assert!(xs.windows(2).all(|w| w[1] >= w[0] - 1e-12), "it never turns back");
        assert_eq!(path.at(2.8).velocity, DVec3::ZERO);
    }
}
