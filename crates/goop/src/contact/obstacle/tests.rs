//! Tests over all shapes at once, and what they share.

mod touch;

use super::*;
use crate::animate::Key;
use glam::{DQuat, DVec2};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A small generator of random numbers that gives the same ones everywhere.
pub(super) struct Lcg(u64);

impl Lcg {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// In [-1, 1).
    pub(super) fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// In a cube of this half side.
    pub(super) fn point(&mut self, half: f64) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed()) * half
    }
}

pub(super) fn shapes() -> Vec<ObstacleShape> {
    use ObstacleShape::*;
    vec![
        Plane,
        Sphere { radius: 0.7 },
        Ellipsoid { radii: DVec3::new(0.9, 0.4, 0.6) },
        Ellipsoid { radii: DVec3::new(0.5, 0.5, 0.8) },
        Ellipsoid { radii: DVec3::new(0.001, 1.0, 0.3) },
        Torus { radius: 0.7, tube: 0.2 },
        Torus { radius: 0.6, tube: 0.5 },
        Hyperboloid { waist: 0.4, slope: 0.5, height: 1.4 },
        Hyperboloid { waist: 0.6, slope: 0.1, height: 0.15 },
        Capsule { radius: 0.3, length: 0.9 },
        Box { size: DVec3::new(1.2, 0.8, 0.5), round: 0.0 },
        Box { size: DVec3::new(1.2, 0.8, 0.5), round: 0.1 },
        Box { size: DVec3::new(1.0, 0.02, 1.4), round: 0.01 },
    ]
}

pub(super) fn obstacle(shape: ObstacleShape, hollow: bool) -> Obstacle {
    Obstacle {
        name: "thing".into(),
        shape,
        hollow,
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        range: 0.01,
        stiffness: None,
        damping: 0.0,
        tolerance: 1e-3,
        published: None,
        removed: false,
    }
}

/// Every shape, solid and hollow.
pub(super) fn obstacles() -> Vec<Obstacle> {
    shapes().into_iter().flat_map(|shape| [obstacle(shape.clone(), false), obstacle(shape, true)]).collect()
}

pub(super) fn still() -> Pose {
    Motion::default().at(0.0)
}

pub(super) fn turned() -> Pose {
    Pose {
        position: DVec3::new(0.3, -1.2, 2.0),
        rotation: DQuat::from_scaled_axis(DVec3::new(0.4, 1.3, -0.6)),
        velocity: DVec3::new(0.1, 0.2, -0.4),
        spin: DVec3::new(2.0, -1.0, 0.5),
    }
}

type Patch = std::boxed::Box<dyn Fn(f64, f64) -> DVec3>;

/// The surface as maps from the unit square, written down apart from the distances.
fn patches(shape: &ObstacleShape) -> Vec<Patch> {
    let turn = |r: f64, y: f64, u: f64| DVec3::new(r * (TAU * u).cos(), y, r * (TAU * u).sin());
    match *shape {
        ObstacleShape::Mesh(_) => Vec::new(),
        ObstacleShape::Plane => vec![Box::new(|u, v| DVec3::new(8.0 * u - 4.0, 0.0, 8.0 * v - 4.0))],
        ObstacleShape::Sphere { radius } => patches(&ObstacleShape::Ellipsoid { radii: DVec3::splat(radius) }),
        ObstacleShape::Ellipsoid { radii } => {
            vec![Box::new(move |u, v| radii * turn((PI * v).sin(), (PI * v).cos(), u))]
        }
        ObstacleShape::Torus { radius, tube } => {
            vec![Box::new(move |u, v| turn(radius + tube * (TAU * v).cos(), tube * (TAU * v).sin(), u))]
        }
        ObstacleShape::Hyperboloid { waist, slope, height } => {
            let r = move |y: f64| waist * (1.0 + (y / slope).powi(2)).sqrt();
            vec![
                Box::new(move |u, v| turn(r(height * (v - 0.5)), height * (v - 0.5), u)),
                Box::new(move |u, v| turn(v * r(0.5 * height), 0.5 * height, u)),
                Box::new(move |u, v| turn(v * r(0.5 * height), -0.5 * height, u)),
            ]
        }
        ObstacleShape::Capsule { radius, length } => {
            let cap = move |u: f64, v: f64, end: f64| {
                let (s, c) = (FRAC_PI_2 * v).sin_cos();
                turn(radius * c, end * (0.5 * length + radius * s), u)
            };
            vec![
                Box::new(move |u, v| turn(radius, length * (v - 0.5), u)),
                Box::new(move |u, v| cap(u, v, 1.0)),
                Box::new(move |u, v| cap(u, v, -1.0)),
            ]
        }
        ObstacleShape::Box { size, round } => {
            let face = move |axis: usize, side: f64, u: f64, v: f64| {
                let (half, core) = (0.5 * size, 0.5 * size - round);
                let mut at = DVec3::ZERO;
                let mut normal = DVec3::ZERO;
                (at[axis], normal[axis]) = (side * core[axis], side);
                for (k, s) in [((axis + 1) % 3, 2.0 * u - 1.0), ((axis + 2) % 3, 2.0 * v - 1.0)] {
                    let t = s * half[k];
                    at[k] = t.clamp(-core[k], core[k]);
                    normal[k] = if round > 0.0 { (t - at[k]) / round } else { 0.0 };
                }
                at + normal.normalize() * round
            };
            (0..6)
                .map(|i| Box::new(move |u, v| face(i / 2, if i % 2 == 0 { 1.0 } else { -1.0 }, u, v)) as Patch)
                .collect()
        }
    }
}

/// Least distance to the surface, by a grid over each patch and finer grids about the best places of it.
fn searched_distance(patches: &[Patch], samples: &[Vec<DVec3>], p: DVec3) -> f64 {
    let n = GRID as f64;
    let mut best: Vec<(f64, usize, f64, f64)> = Vec::new();
    for (k, points) in samples.iter().enumerate() {
        for (i, q) in points.iter().enumerate() {
            best.push((p.distance(*q), k, (i / (GRID + 1)) as f64 / n, (i % (GRID + 1)) as f64 / n));
        }
    }
    best.select_nth_unstable_by(12, |a, b| a.0.total_cmp(&b.0));
    let mut least = f64::INFINITY;
    for &(mut d, k, mut u, mut v) in &best[..12] {
        let mut step = 1.0 / n;
        while step > 1e-12 {
            let (u0, v0, before) = (u, v, d);
            for i in -2..=2 {
                for j in -2..=2 {
                    let at = DVec2::new(u0 + 0.5 * step * f64::from(i), v0 + 0.5 * step * f64::from(j));
                    let at = at.clamp(DVec2::ZERO, DVec2::ONE);
                    let trial = p.distance(patches[k](at.x, at.y));
                    if trial < d {
                        (d, u, v) = (trial, at.x, at.y);
                    }
                }
            }
            if d == before {
                step *= 0.5;
            }
        }
        least = least.min(d);
    }
    least
}

const GRID: usize = 60;

fn is_inside(shape: &ObstacleShape, p: DVec3) -> bool {
    let across = p.x.hypot(p.z);
    match *shape {
        ObstacleShape::Mesh(_) => false,
        ObstacleShape::Plane => p.y < 0.0,
        ObstacleShape::Sphere { radius } => p.length() < radius,
        ObstacleShape::Ellipsoid { radii } => (p / radii).length() < 1.0,
        ObstacleShape::Torus { radius, tube } => (across - radius).hypot(p.y) < tube,
        ObstacleShape::Hyperboloid { waist, slope, height } => {
            p.y.abs() < 0.5 * height && (across / waist).powi(2) - (p.y / slope).powi(2) < 1.0
        }
        ObstacleShape::Capsule { radius, length } => across.hypot((p.y.abs() - 0.5 * length).max(0.0)) < radius,
        ObstacleShape::Box { size, round } => {
            let beyond = (p.abs() - 0.5 * size + round).max(DVec3::ZERO);
            p.abs().cmplt(0.5 * size).all() && (round == 0.0 || beyond.length() < round)
        }
    }
}

/// Catches a distance that is not the true one, anywhere in space, and a wrong sign.
#[test]
fn distance_is_the_least_over_the_surface_and_its_sign_tells_the_side() {
    let mut random = Lcg::new(1);
    for shape in shapes() {
        let patches = patches(&shape);
        let grid = (0..=GRID).flat_map(|i| (0..=GRID).map(move |j| (i as f64 / GRID as f64, j as f64 / GRID as f64)));
        let grid: Vec<_> = grid.collect();
        let samples: Vec<Vec<DVec3>> = patches.iter().map(|f| grid.iter().map(|&(u, v)| f(u, v)).collect()).collect();
        for _ in 0..60 {
            let p = random.point(1.3);
            let expected = searched_distance(&patches, &samples, p);
            for hollow in [false, true] {
                let gap = obstacle(shape.clone(), hollow).local_gap(p);
                assert!((gap.distance.abs() - expected).abs() < 1e-9, "{shape:?} {p} {gap:?} {expected}");
                assert_eq!(gap.distance < 0.0, is_inside(&shape, p) != hollow, "{shape:?} {p}");
            }
        }
    }
}

/// Catches a normal that is not the gradient of the distance, or not of length one.
#[test]
fn normal_is_the_gradient_of_the_distance() {
    let mut random = Lcg::new(2);
    for obstacle in obstacles() {
        let mut skipped = 0;
        for _ in 0..2000 {
            let p = random.point(1.3);
            let gap = obstacle.local_gap(p);
            assert!((gap.normal.length() - 1.0).abs() < 1e-12);
            let h = 1e-5;
            // Near a place with two feet the normal jumps; those are few.
            let jumps = DVec3::AXES
                .iter()
                .any(|&e| [e, -e].iter().any(|&e| obstacle.local_gap(p + e * h).normal.distance(gap.normal) > 0.02));
            if jumps {
                skipped += 1;
                continue;
            }
            let d = |p| obstacle.local_gap(p).distance;
            let gradient = DVec3::from_array(DVec3::AXES.map(|e| (d(p + e * h) - d(p - e * h)) / (2.0 * h)));
            assert!(gradient.distance(gap.normal) < 1e-4, "{obstacle:?} {p} {gradient} {gap:?}");
        }
        assert!(skipped < 20, "{obstacle:?} {skipped}");
    }
}

/// Catches a curvature smaller than the bending of the distance next to the surface.
#[test]
fn curvature_bounds_the_turning_of_the_normal_at_the_surface() {
    let mut random = Lcg::new(6);
    for shape in shapes() {
        for _ in 0..500 {
            let p = random.point(1.1);
            let gap = shape.distance(p);
            let foot = p - gap.normal * gap.distance * (1.0 - 1e-9);
            let there = shape.distance(foot);
            let h = 1e-6 / there.curvature.max(1.0);
            let along = random.point(1.0).cross(there.normal).normalize();
            let turn = (shape.distance(foot + along * h).normal - shape.distance(foot - along * h).normal).length();
            // At a sharp edge the rounding of the foot decides on which side it is.
            let bound = gap.curvature.max(there.curvature);
            assert!(turn / (2.0 * h) < bound * 1.01 + 1e-3 || bound > 1e5, "{shape:?} {p} {turn} {bound}");
        }
    }
}

/// Catches a jump in the distance, which would let sphere tracing pass through.
#[test]
fn distance_changes_no_faster_than_the_point_moves() {
    let mut random = Lcg::new(7);
    for obstacle in obstacles() {
        for i in 0..4000 {
            let a = random.point(1.5);
            let b = a + random.point(if i % 2 == 0 { 1.0 } else { 1e-3 });
            let change = obstacle.local_gap(a).distance - obstacle.local_gap(b).distance;
            assert!(change.abs() <= a.distance(b) + 1e-12, "{obstacle:?} {a} {b}");
        }
    }
}

/// Catches 0/0 at centres, on axes, on middle planes, at corners and at numbers that underflow.
#[test]
fn nothing_is_undefined_at_special_points() {
    let values = [0.0, -0.0, 1e-320, -1e-200, 1e-30, 0.1, -0.4, 0.5, 0.7, -1.0, 1e6];
    for obstacle in obstacles() {
        let obstacle = Obstacle { published: Some(Published { c: 1.0, xi: 0.1 }), ..obstacle };
        for x in values {
            for y in values {
                for z in values {
                    let p = DVec3::new(x, y, z);
                    let gap = obstacle.local_gap(p);
                    let fine = gap.distance.is_finite() && gap.curvature.is_finite() && gap.curvature >= 0.0;
                    assert!(fine && (gap.normal.length() - 1.0).abs() < 1e-9, "{obstacle:?} {p} {gap:?}");
                    let (energy, force, stiffness) = obstacle.published_potential(p, &still());
                    assert!(energy.is_finite() && force.is_finite() && stiffness.is_finite(), "{obstacle:?} {p}");
                    assert!(obstacle.first_touch(p, p, &still(), &still()).is_none());
                }
            }
        }
        for p in [DVec3::NAN, DVec3::INFINITY] {
            assert!(obstacle.first_touch(p, DVec3::ZERO, &still(), &still()).is_none());
            assert!(obstacle.first_touch(DVec3::ZERO, p, &still(), &still()).is_none());
        }
    }
}

/// Catches a gap left in local axes, and a surface velocity that forgets the spin.
#[test]
fn a_moving_obstacle_carries_its_gap_and_its_velocity_along() {
    let key = |time, position, turn| Key { time, position, rotation: DQuat::from_scaled_axis(turn) };
    let motion = Motion::new(vec![
        key(0.0, DVec3::ZERO, DVec3::new(0.1, 0.2, 0.0)),
        key(2.0, DVec3::new(1.0, -2.0, 0.5), DVec3::new(-0.4, 1.0, 0.9)),
    ]);
    let mut random = Lcg::new(8);
    for obstacle in obstacles() {
        let pose = motion.at(1.3);
        for _ in 0..100 {
            let local = random.point(1.2);
            let (inner, outer) =
                (obstacle.local_gap(local), obstacle.gap(pose.position + pose.rotation * local, &pose));
            assert!((inner.distance - outer.distance).abs() < 1e-12);
            assert!((pose.rotation * inner.normal).distance(outer.normal) < 1e-6);
            let (h, place) = (1e-5, |t| motion.at(t).position + motion.at(t).rotation * local);
            let velocity = (place(1.3 + h) - place(1.3 - h)) / (2.0 * h);
            assert!(obstacle.surface_velocity(place(1.3), &pose).distance(velocity) < 1e-8);
        }
    }
}

/// Catches a bound that cuts a piece off the shape.
#[test]
fn the_bounding_ball_holds_the_shape_and_touches_it() {
    for shape in shapes() {
        let Some(radius) = shape.bounding_radius() else { continue };
        let corners = shape.outline().0;
        let farthest = corners.iter().map(|p| p.length()).fold(0.0, f64::max);
        assert!(farthest < radius * (1.0 + 1e-12) && farthest > 0.9 * radius, "{shape:?} {farthest} {radius}");
        assert_eq!(obstacle(shape, true).bounding_radius(), None);
    }
}

/// Catches sizes that slip through and faults that are not all told.
#[test]
fn check_names_every_fault_with_a_remedy() {
    for obstacle in obstacles() {
        assert_eq!(obstacle.check(), Ok(()));
    }
    let says = |shape, words: &str| {
        let message = obstacle(shape, false).check().expect_err("is wrong");
        assert!(message.contains(words) && message.contains("\"thing\""), "{message}");
    };
    says(ObstacleShape::Sphere { radius: 0.0 }, "give a positive length");
    says(ObstacleShape::Ellipsoid { radii: DVec3::new(1.0, f64::NAN, 1.0) }, "radii.y is NaN");
    says(ObstacleShape::Torus { radius: 1.0, tube: 1.0 }, "less than the radius 1 m");
    says(ObstacleShape::Box { size: DVec3::ONE, round: 0.6 }, "at most 0.5 m");
    says(ObstacleShape::Box { size: DVec3::ONE, round: -0.1 }, "0 for sharp edges");
    says(ObstacleShape::Capsule { radius: f64::INFINITY, length: -1.0 }, "length is -1 m");
    let wrong = Obstacle {
        friction: -1.0,
        restitution: 0.0,
        range: 0.0,
        stiffness: Some(f64::NAN),
        published: Some(Published { c: 1.0, xi: 0.0 }),
        ..obstacle(ObstacleShape::Plane, false)
    };
    let message = wrong.check().expect_err("is wrong four times");
    assert!(["friction", "range", "stiffness", "xi"].iter().all(|word| message.contains(word)), "{message}");
}
