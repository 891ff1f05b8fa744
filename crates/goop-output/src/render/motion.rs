//! What a whole motion takes up: boxes of every body in every frame.

use glam::{Quat, Vec3};
use goop::frame::{ForceKind, Frame};
use std::collections::BTreeSet;

/// A body further from the start than this many start sizes has flown off.
const FLOWN: f32 = 12.0;

/// No arrow is longer than this many full ones.
pub const LONGEST: f32 = 1.5;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least corner (m).
    pub low: Vec3,
    /// Greatest corner (m).
    pub high: Vec3,
}

impl Bounds {
    /// Holds nothing.
    pub const EMPTY: Bounds = Bounds { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// Around these points, less those that are not numbers.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        for p in points.into_iter().filter(|p| p.is_finite()) {
            bounds.low = bounds.low.min(p);
            bounds.high = bounds.high.max(p);
        }
        bounds
    }

    /// Whether nothing is inside.
    pub fn is_empty(&self) -> bool {
        self.low.x > self.high.x
    }

    /// The box around both.
    pub fn with(&self, other: &Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Middle (m).
    pub fn center(&self) -> Vec3 {
        0.5 * (self.low + self.high)
    }

    /// Length of the diagonal (m).
    pub fn size(&self) -> f32 {
        if self.is_empty() { 0.0 } else { (self.high - self.low).length() }
    }

    /// Grown on all sides (m).
    pub fn grown(&self, by: f32) -> Bounds {
        Bounds { low: self.low - by, high: self.high + by }
    }

    /// Whether the other box lies inside.
    pub fn holds(&self, other: &Bounds) -> bool {
        other.is_empty() || (self.low.cmple(other.low).all() && self.high.cmpge(other.high).all())
    }

    /// The eight corners.
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, low: f32, high: f32| if i & bit == 0 { low } else { high };
            Vec3::new(
                pick(1, self.low.x, self.high.x),
                pick(2, self.low.y, self.high.y),
                pick(4, self.low.z, self.high.z),
            )
        })
    }
}

/// What a body takes up in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Taken {
    body: Bounds,
    /// Of its velocities (m/s) and of the forces on it (N), nought among them.
    velocities: Bounds,
    forces: Bounds,
}

/// What is known of a motion before it is drawn: gathered frame by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    boxes: Vec<Taken>,
    start: Option<Bounds>,
    /// Greatest force (N) and speed (m/s) of every frame that has any.
    forces: Vec<f32>,
    speeds: Vec<f32>,
    kinds: BTreeSet<ForceKind>,
    /// Number and pose of obstacles wherever they were.
    poses: Vec<(usize, Vec3, Quat)>,
    /// Greatest stretch of a node (-).
    pub greatest_stretch: f32,
    /// Greatest speed of a node (m/s).
    pub greatest_speed: f32,
}

impl Motion {
    /// Takes a frame into account.
    pub fn add(&mut self, frame: &Frame) {
        let around = |list: &[[f32; 3]]| Bounds::of(list.iter().map(|&p| Vec3::from(p)));
        let nought = Bounds { low: Vec3::ZERO, high: Vec3::ZERO };
        let mut boxes: Vec<Taken> = (frame.bodies.iter())
            .map(|b| Taken {
                body: around(&b.positions),
                velocities: around(&b.velocities).with(&nought),
                forces: nought,
            })
            .collect();
        for force in &frame.forces {
            if let Some(taken) = boxes.get_mut(force.body as usize) {
                taken.forces = taken.forces.with(&around(&[force.newtons]));
            }
            self.kinds.insert(force.kind);
        }
        boxes.retain(|b| !b.body.is_empty());
        let whole = boxes.iter().fold(Bounds::EMPTY, |a, b| a.with(&b.body));
        let forces = frame.forces.iter().map(|f| Vec3::from(f.newtons).length());
        self.forces.extend(forces.filter(|f| f.is_finite() && *f > 0.0).reduce(f32::max));
        if self.start.is_none() && !whole.is_empty() {
            self.start = Some(whole);
        }
        self.boxes.extend(boxes);
        for (i, pose) in frame.obstacles.iter().enumerate() {
            let Some((position, rotation)) = pose else { continue };
            let pose = (i, position.as_vec3(), rotation.as_quat());
            if self.poses.iter().rev().find(|p| p.0 == i) != Some(&pose) {
                self.poses.push(pose);
            }
        }
        let mut fastest = 0.0_f32;
        for body in &frame.bodies {
            let stretch = body.stretch.iter().filter(|s| s.is_finite()).fold(0.0, |m: f32, s| m.max(s.abs()));
            let speed = body.velocities.iter().map(|&v| Vec3::from(v).length()).filter(|s| s.is_finite());
            self.greatest_stretch = self.greatest_stretch.max(stretch);
            fastest = speed.fold(fastest, f32::max);
        }
        self.greatest_speed = self.greatest_speed.max(fastest);
        self.speeds.extend(Some(fastest).filter(|speed| *speed > 0.0));
    }

    /// Of all these frames.
    pub fn of<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> Motion {
        let mut motion = Motion::default();
        for frame in frames {
            motion.add(frame);
        }
        motion
    }

    /// Number and pose of obstacles, wherever they were.
    pub fn poses(&self) -> &[(usize, Vec3, Quat)] {
        &self.poses
    }

    /// Boxes that a picture must show; a body that flew off is left out from there on.
    pub fn kept(&self) -> Vec<Bounds> {
        self.kept_with_arrows(0.0, 0.0)
    }

    /// The same with room for arrows of so many metres for 1 m/s, and for 1 N.
    pub fn kept_with_arrows(&self, for_speed: f32, for_newton: f32) -> Vec<Bounds> {
        let Some(start) = self.start else { return Vec::new() };
        let reach = FLOWN * start.size().max(1e-6);
        let longest = |full: f32, each: f32| move |v: Vec3| (each * v).clamp_length_max(LONGEST * each * full);
        let (speeds, forces) = (longest(self.full_speed(), for_speed), longest(self.full_force(), for_newton));
        let inside = |b: &&Taken| b.body.corners().iter().all(|c| c.distance(start.center()) <= reach);
        let grow = |b: &Taken| Bounds {
            low: b.body.low + speeds(b.velocities.low).min(forces(b.forces.low)),
            high: b.body.high + speeds(b.velocities.high).max(forces(b.forces.high)),
        };
        self.boxes.iter().filter(inside).map(grow).collect()
    }

    /// The force whose arrow has full length (N); those of a hard impact are greater.
    pub fn full_force(&self) -> f32 {
        usual(&self.forces)
    }

    /// The speed whose arrow has full length (m/s); that of a lash is greater.
    pub fn full_speed(&self) -> f32 {
        usual(&self.speeds)
    }

    /// Kinds of forces there were.
    pub fn kinds(&self) -> &BTreeSet<ForceKind> {
        &self.kinds
    }

    /// Box around all that is kept.
    pub fn bounds(&self) -> Bounds {
        self.kept().iter().fold(Bounds::EMPTY, |a, b| a.with(b))
    }
}

/// What three in four do not surpass.
fn usual(values: &[f32]) -> f32 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) * 3 / 4).copied().unwrap_or(0.0)
}

/// Direction from which to look at these points: a three-quarter view from slightly
/// above, flatter things more from the front, carpets more from above.
pub fn direction(points: &[Vec3]) -> Vec3 {
    let bounds = Bounds::of(points.iter().copied());
    let extent = if bounds.is_empty() { Vec3::ONE } else { bounds.high - bounds.low };
    let level = extent.x.max(extent.z);
    let azimuth = if extent.z < 0.3 * extent.x {
        20.0
    } else if extent.x < 0.3 * extent.z {
        70.0
    } else {
        33.0_f32
    };
    let elevation = if extent.y < 0.2 * level { 30.0 } else { 20.0_f32 };
    let (azimuth, elevation) = (azimuth.to_radians(), elevation.to_radians());
    Vec3::new(azimuth.sin() * elevation.cos(), elevation.sin(), azimuth.cos() * elevation.cos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::camera::Camera;
    use goop::frame::BodyFrame;

    fn frame(positions: Vec<[f32; 3]>) -> Frame {
        Frame { bodies: vec![BodyFrame { positions, ..BodyFrame::default() }], ..Frame::default() }
    }

    /// Catches a camera fitted to the first frame, to a sphere, or to one side of the picture only.
    #[test]
    fn the_camera_contains_every_point_of_a_motion_and_is_no_further_than_it_must_be() {
        let swing = |i: usize| {
            let t = i as f32 * 0.1;
            frame((0..20).map(|k| [3.0 * t.sin() + 0.1 * k as f32, -t * t * 0.3, (t * 7.0).cos()]).collect())
        };
        let frames: Vec<Frame> = (0..50).map(swing).collect();
        let corners: Vec<Vec3> = Motion::of(&frames).kept().iter().flat_map(Bounds::corners).collect();
        for (width, height) in [(1280, 720), (300, 900)] {
            let camera = Camera::framing(&corners, direction(&corners), 50.0, width, height);
            let mut reach = 0.0_f32;
            for p in frames.iter().flat_map(|f| &f.bodies[0].positions) {
                let s = camera.project(Vec3::from(*p));
                assert!(s.z > 0.0 && s.x > 0.0 && s.x < width as f32 && s.y > 0.0 && s.y < height as f32, "{s}");
            }
            for p in &corners {
                let s = camera.project(*p);
                reach = reach.max((s.x / width as f32 - 0.5).abs()).max((s.y / height as f32 - 0.5).abs());
            }
            assert!((reach - 0.43).abs() < 1e-3, "{reach}");
        }
    }

    /// Catches a picture shrunk to nothing by one body that exploded.
    #[test]
    fn a_body_that_flies_off_does_not_take_the_camera_along() {
        let still = frame(vec![[0.0; 3], [1.0; 3]]);
        let flown = frame(vec![[0.0, 1e6, 0.0], [f32::NAN, 0.0, 0.0]]);
        assert_eq!(Motion::of([&still, &flown]).bounds(), Motion::of([&still]).bounds());
    }
}
