//! Motion given in advance: keyframed poses and time courses.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// A pose with its velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position (m).
    pub position: DVec3,
    /// Orientation: world from local.
    pub rotation: DQuat,
    /// Velocity (m/s).
    pub velocity: DVec3,
    /// Angular velocity (rad/s), world axes.
    pub spin: DVec3,
}

/// One keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// When (s).
    pub time: f64,
    /// Position (m).
    pub position: DVec3,
    /// Orientation.
    pub rotation: DQuat,
}

/// What happens to a block that forces drive, at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// When (s).
    pub time: f64,
    /// The force from now on (N).
    pub newtons: DVec3,
    /// Velocity is set to zero.
    pub stop: bool,
    /// Its weight is carried from now on.
    pub hold: bool,
    /// Its weight is carried no longer.
    pub release: bool,
    /// It turns at this rate from now on (rad/s), world axes.
    pub turn: DVec3,
}

/// Constant acceleration and turning from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Stretch {
    time: f64,
    position: DVec3,
    velocity: DVec3,
    acceleration: DVec3,
    rotation: DQuat,
    spin: DVec3,
}

/// A rigid block that forces drive and that its body's flesh pushes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    mass: f64,
    /// In the order of time.
    pushes: Vec<Push>,
}

/// What a block gets in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pushed {
    /// Of all forces (N s).
    pub impulse: DVec3,
    /// Its velocity became zero at the start.
    pub stop: bool,
    /// Its weight is carried.
    pub held: bool,
    /// How fast it is told to turn (rad/s), world axes.
    pub turn: DVec3,
}

impl Block {
    /// Its own mass (kg), beside that of its nodes.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Whether it is ever told to turn.
    pub fn turns(&self) -> bool {
        self.pushes.iter().any(|push| push.turn != DVec3::ZERO)
    }

    /// What it gets from a time on for a step. What happens within a step counts from the next step on, but for forces, whose
    /// impulse is exact.
    pub fn during(&self, time: f64, dt: f64) -> Pushed {
        let slack = 1e-9 * dt;
        let mut out = Pushed::default();
        for (k, push) in self.pushes.iter().enumerate() {
            let until = self.pushes.get(k + 1).map_or(f64::INFINITY, |next| next.time);
            let (from, to) = (push.time.max(time), until.min(time + dt));
            out.impulse += (to - from).max(0.0) * push.newtons;
            if push.time <= time + slack {
                out.stop = push.stop && push.time > time - dt + slack;
                out.held = (out.held || push.hold) && !push.release;
                out.turn = push.turn;
            }
        }
        out
    }
}

/// Keyframes, linear in position and slerp in rotation, held outside the range; and the way of a block that forces
/// drive, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    keys: Vec<Key>,
    #[serde(default)]
    driven: Vec<Stretch>,
    /// The point that a driven block turns about, at the start (m).
    #[serde(default)]
    about: DVec3,
    /// The block, where the flesh pushes it back.
    #[serde(default)]
    block: Option<Box<Block>>,
}

impl Motion {
    /// Keys are sorted by time; two at the same time jump.
    pub fn new(mut keys: Vec<Key>) -> Self {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        Self { keys, ..Self::default() }
    }

    /// Adds the way of a rigid block of its own mass (kg) that forces and gravity drive from rest at t = 0, and that
    /// nothing else pushes back: x = x₀ + v t + ½ a t² between pushes, Chang 5.1. It turns about a point that
    /// goes with it; `about` is where that is at the start, in the axes of the motion (m).
    pub fn driven(mut self, mass: f64, gravity: DVec3, pushes: &[Push], about: DVec3) -> Self {
        let mut pushes = pushes.to_vec();
        pushes.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut now = Stretch {
            time: 0.0,
            position: DVec3::ZERO,
            velocity: DVec3::ZERO,
            acceleration: gravity,
            rotation: DQuat::IDENTITY,
            spin: DVec3::ZERO,
        };
        self.about = about;
        let mut weight = gravity;
        self.driven = vec![now];
        for push in pushes {
            let (position, velocity) = now.at(push.time);
            if push.hold || push.release {
                weight = if push.hold { DVec3::ZERO } else { gravity };
            }
            let velocity = if push.stop { DVec3::ZERO } else { velocity };
            let (acceleration, rotation) = (push.newtons / mass + weight, now.turned(push.time));
            now = Stretch { time: push.time, position, velocity, acceleration, rotation, spin: push.turn };
            self.driven.push(now);
        }
        self
    }

    /// The same block, but its body's flesh pushes it back wherever the body's axes allow that: it is then where its
    /// nodes are, and [`Motion::at`] says where it would be without.
    pub fn reacting(mut self, mass: f64, pushes: &[Push]) -> Self {
        let mut pushes = pushes.to_vec();
        pushes.sort_by(|a, b| a.time.total_cmp(&b.time));
        self.block = Some(Box::new(Block { mass, pushes }));
        self
    }

    /// The block that flesh pushes back, if there is one.
    pub fn block(&self) -> Option<&Block> {
        self.block.as_deref()
    }

    /// Stands still at this pose.
    pub fn still(position: DVec3, rotation: DQuat) -> Self {
        Self::new(vec![Key { time: 0.0, position, rotation }])
    }

    /// Whether it ever moves.
    pub fn moves(&self) -> bool {
        self.keys.windows(2).any(|k| k[0].position != k[1].position || k[0].rotation != k[1].rotation)
            || (self.driven.iter())
                .any(|d| [d.velocity, d.acceleration, d.spin].iter().any(|rate| *rate != DVec3::ZERO))
    }

    /// Pose and velocities at a time; at a key the velocity is that of the piece before it.
    pub fn at(&self, time: f64) -> Pose {
        let mut pose = self.keyed(time);
        let after = self.driven.partition_point(|d| d.time < time);
        if let Some(stretch) = self.driven.get(after.saturating_sub(1)) {
            let (position, velocity) = stretch.at(time);
            let (turn, arm) = (stretch.turned(time), pose.position - self.about);
            pose.position = self.about + position + turn * arm;
            pose.velocity = velocity + turn * pose.velocity + stretch.spin.cross(turn * arm);
            pose.rotation = turn * pose.rotation;
            pose.spin = stretch.spin + turn * pose.spin;
        }
        pose
    }

    fn keyed(&self, time: f64) -> Pose {
        let still = |key: Key| Pose {
            position: key.position,
            rotation: key.rotation,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        };
        let Some(&first) = self.keys.first() else {
            return still(Key { time: 0.0, position: DVec3::ZERO, rotation: DQuat::IDENTITY });
        };
        let after = self.keys.partition_point(|k| k.time < time);
        if after == 0 {
            return still(first);
        }
        if after == self.keys.len() {
            return still(self.keys[after - 1]);
        }
        let (a, b) = (self.keys[after - 1], self.keys[after]);
        let span = b.time - a.time;
        let s = (time - a.time) / span;
        let mut turn = b.rotation * a.rotation.inverse();
        if turn.w < 0.0 {
            turn = -turn;
        }
        Pose {
            position: a.position.lerp(b.position, s),
            rotation: DQuat::from_scaled_axis(turn.to_scaled_axis() * s) * a.rotation,
            velocity: (b.position - a.position) / span,
            spin: turn.to_scaled_axis() / span,
        }
    }
}

impl Stretch {
    /// Position and velocity.
    fn at(&self, time: f64) -> (DVec3, DVec3) {
        let t = (time - self.time).max(0.0);
        (self.position + t * (self.velocity + 0.5 * t * self.acceleration), self.velocity + t * self.acceleration)
    }

    /// Orientation.
    fn turned(&self, time: f64) -> DQuat {
        if self.spin == DVec3::ZERO {
            return self.rotation;
        }
        (DQuat::from_scaled_axis((time - self.time).max(0.0) * self.spin) * self.rotation).normalize()
    }
}

/// A factor over time: linear between points, held outside; 1 when empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    points: Vec<[f64; 2]>,
}

impl Course {
    /// Points are (time, factor), sorted by time; equal times make a jump.
    pub fn new(mut points: Vec<[f64; 2]>) -> Self {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        Self { points }
    }

    /// The factor at a time. At a jump, the value after it.
    pub fn at(&self, time: f64) -> f64 {
        let after = self.points.partition_point(|p| p[0] <= time);
        if self.points.is_empty() {
            return 1.0;
        }
        if after == 0 {
            return self.points[0][1];
        }
        if after == self.points.len() {
            return self.points[after - 1][1];
        }
        let ([t0, f0], [t1, f1]) = (self.points[after - 1], self.points[after]);
        f0 + (f1 - f0) * (time - t0) / (t1 - t0)
    }

    /// The mean factor over a time, exactly.
    pub fn mean(&self, from: f64, to: f64) -> f64 {
        let (mut at, mut sum) = (from, 0.0);
        if to <= from {
            return self.at(from);
        }
        for point in &self.points[self.points.partition_point(|p| p[0] <= from)..] {
            let end = point[0].min(to);
            if end > at {
                sum += (end - at) * self.at(0.5 * (at + end));
                at = end;
            }
        }
        (sum + (to - at) * self.at(0.5 * (at + to))) / (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a velocity that is not the derivative of the pose, also past a half turn's sign flip.
    #[test]
    fn velocities_are_the_derivatives_of_the_pose() {
        let key = |time, x: f64, angle: f64| Key {
            time,
            position: DVec3::new(x, 2.0 * x, -x),
            rotation: DQuat::from_rotation_z(angle),
        };
        let motion = Motion::new(vec![key(1.0, 3.0, 2.5), key(0.0, 1.0, -0.3), key(2.0, 0.0, 4.0)]);
        for t in [0.3, 0.9, 1.2, 1.7] {
            let (pose, h) = (motion.at(t), 1e-5);
            let (before, after) = (motion.at(t - h), motion.at(t + h));
            assert!(((after.position - before.position) / (2.0 * h) - pose.velocity).length() < 1e-8);
            let p = DVec3::new(0.4, -0.2, 0.7);
            let moved = (after.rotation * p - before.rotation * p) / (2.0 * h);
            assert!((moved - pose.spin.cross(pose.rotation * p)).length() < 1e-8);
        }
        assert_eq!(motion.at(9.0).velocity, DVec3::ZERO);
    }

    /// Catches a push that lasts too long, a stop that moves the block, or weight that is still felt when held.
    #[test]
    fn a_driven_block_moves_as_newton_says_and_stays_where_it_is_stopped_and_held() {
        let gravity = DVec3::new(0.0, -9.81, 0.0);
        let push = Push { time: 0.0, newtons: DVec3::new(54.0, 0.0, 0.0), ..Push::default() };
        let end = Push { time: 0.5, stop: true, hold: true, ..Push::default() };
        let motion = Motion::default().driven(27.0, gravity, &[push, end], DVec3::ZERO);
        assert!(motion.moves());
        let at = |t: f64| motion.at(t).position;
        assert!((at(0.3) - DVec3::new(0.09, -0.5 * 9.81 * 0.09, 0.0)).length() < 1e-12);
        assert_eq!((at(0.5), motion.at(2.0).velocity), (at(2.0), DVec3::ZERO));
        let free = Push { hold: false, ..end };
        let motion = Motion::default().driven(27.0, gravity, &[push, free], DVec3::ZERO);
        assert!((motion.at(1.5).velocity - gravity).length() < 1e-12);
        let let_go = Push { time: 1.0, release: true, ..Push::default() };
        let motion = Motion::default().driven(27.0, gravity, &[push, end, let_go], DVec3::ZERO);
        assert_eq!(motion.at(1.0).position, motion.at(0.5).position);
        assert!((motion.at(2.0).velocity - gravity).length() < 1e-12);
    }

    /// Catches a block that turns about the wrong point, on after the end, or with velocities of another motion.
    #[test]
    fn a_driven_block_turns_about_its_own_middle() {
        let about = DVec3::new(1.0, 2.0, 0.5);
        let push = Push { newtons: DVec3::X * 3.0, turn: DVec3::new(0.0, 0.7, 2.0), ..Push::default() };
        let end = Push { time: 1.5, stop: true, ..Push::default() };
        let turn = DQuat::from_rotation_x(0.4);
        let motion = Motion::still(DVec3::Y, turn).driven(2.0, DVec3::ZERO, &[push, end], about);
        // The middle only goes along.
        let own = turn.inverse() * (about - DVec3::Y);
        let place = |t: f64| motion.at(t).position + motion.at(t).rotation * own;
        for t in [0.0, 0.6, 1.4] {
            assert!((place(t) - about - DVec3::X * (0.75 * t * t)).length() < 1e-12);
        }
        assert!((motion.at(0.6).rotation.angle_between(turn) - 0.6 * push.turn.length()).abs() < 1e-9);
        let (end, later) = (motion.at(1.5), motion.at(2.5));
        assert_eq!((end.position, end.rotation), (later.position, later.rotation));
        assert_eq!((later.velocity, later.spin), (DVec3::ZERO, DVec3::ZERO));
        let h = 1e-5;
        let (before, now, after) = (motion.at(0.6 - h), motion.at(0.6), motion.at(0.6 + h));
        assert!(((after.position - before.position) / (2.0 * h) - now.velocity).length() < 1e-8);
        let moved = (after.rotation * own - before.rotation * own) / (2.0 * h);
        assert!((moved - now.spin.cross(now.rotation * own)).length() < 1e-8);
    }

    #[test]
    fn a_course_holds_its_ends_and_jumps_where_two_points_share_a_time() {
        let course = Course::new(vec![[0.0, 2.0], [1.0, 4.0], [1.0, 0.0]]);
        assert_eq!([course.at(-1.0), course.at(0.5), course.at(1.0), course.at(5.0)], [2.0, 3.0, 0.0, 0.0]);
        assert_eq!(Course::default().at(3.0), 1.0);
        let (exact, steps) = (course.mean(-0.5, 2.0) * 2.5, 250_000);
        assert_eq!(exact, 0.5 * 2.0 + 3.0);
        let sum: f64 = (0..steps).map(|k| course.at(-0.5 + 2.5 * (k as f64 + 0.5) / steps as f64)).sum();
        assert!((sum * 2.5 / steps as f64 - exact).abs() < 1e-5);
        assert_eq!([course.mean(1.0, 2.0), course.mean(0.5, 0.5), Course::default().mean(0.0, 1.0)], [0.0, 3.0, 1.0]);
    }
}
