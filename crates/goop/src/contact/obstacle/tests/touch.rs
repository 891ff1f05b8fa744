//! Tests of the first touch against looking all along the way.

use super::*;

/// Catches missed and invented touches, and a fraction that is past the surface.
#[test]
fn first_touch_agrees_with_looking_all_along_the_way() {
    let mut random = Lcg::new(9);
    let (pose0, pose1) = (turned(), Pose { position: DVec3::new(0.5, 0.1, 0.3), ..turned() });
    let world = |pose: &Pose, p: DVec3| pose.position + pose.rotation * p;
    for obstacle in obstacles() {
        let (mut touched, mut free) = (0, 0);
        for i in 0..300 {
            let mut a = random.point(1.5);
            let gap = obstacle.local_gap(a);
            if gap.distance <= 0.0 {
                a += gap.normal * (random.signed().powi(4) - gap.distance);
            }
            let b = a + random.point(if i % 2 == 0 { 2.0 } else { 0.05 });
            let g = |s: f64| obstacle.local_gap(a.lerp(b, s)).distance;
            let samples: Vec<f64> = (0..=3000).map(|i| g(f64::from(i) / 3000.0)).collect();
            if samples[0] <= 0.0 {
                continue;
            }
            let found = obstacle.first_touch(world(&pose0, a), world(&pose1, b), &pose0, &pose1);
            let spacing = a.distance(b) / 3000.0;
            match (samples.iter().position(|d| *d < -1e-10), found) {
                (Some(first), Some((s, gap))) => {
                    touched += 1;
                    // Between samples there may be an earlier, shallow dip.
                    assert!(
                        s <= first as f64 / 3000.0 && gap.distance > -1e-9 && gap.distance < 1e-9,
                        "{obstacle:?} {a} {b}"
                    );
                    let before = samples[..(s * 3000.0) as usize].iter().all(|d| *d > -1e-10);
                    assert!(before && samples[(s * 3000.0) as usize] < spacing, "{obstacle:?} {a} {b} {s} {first}");
                    assert!((pose1.rotation * obstacle.local_gap(a.lerp(b, s)).normal).distance(gap.normal) < 1e-3);
                }
                (None, None) => free += 1,
                (None, Some((s, _))) => assert!(g(s).abs() < 1e-9, "{obstacle:?} {a} {b} {s}"),
                (Some(_), None) => panic!("missed: {obstacle:?} {a} {b}"),
            }
        }
        assert!(touched > 5 && (free > 5 || obstacle.shape.thickness() < 0.01), "{obstacle:?} {touched} {free}");
    }
}

/// Catches a node that begins inside and is held there, or is let through to where it is deeper.
#[test]
fn from_inside_only_getting_deeper_or_coming_back_is_a_touch() {
    let mut random = Lcg::new(12);
    for obstacle in obstacles() {
        for i in 0..300 {
            let a = random.point(1.0);
            let b = a + random.point(if i % 2 == 0 { 2.0 } else { 0.1 });
            let g = |s: f64| obstacle.local_gap(a.lerp(b, s)).distance;
            let mut floor = g(0.0);
            if floor > 0.0 {
                continue;
            }
            let step = 1.0 / 4096.0;
            let highest = (0..=4096).map(|i| g(step * f64::from(i))).fold(floor, f64::max);
            if highest > 0.0 && highest < a.distance(b) / 64.0 {
                continue; // May be out for less than a step of the search.
            }
            let expected = (1..=4096).map(|i| step * f64::from(i)).find(|&s| {
                if g(s) > 0.0 {
                    floor = 0.0;
                }
                g(s) < floor - 1e-10
            });
            let found = obstacle.first_touch(a, b, &still(), &still()).map(|t| t.0);
            match (expected, found) {
                (Some(late), Some(s)) => assert!(s <= late && s > late - 1.1 * step, "{obstacle:?} {a} {b} {s} {late}"),
                (None, None) => {}
                (None, Some(s)) => assert!(g(s) - floor < 1e-9, "{obstacle:?} {a} {b} {s}"),
                (Some(late), None) => panic!("missed at {late}: {obstacle:?} {a} {b}"),
            }
        }
    }
}

/// Catches a node that jumps through a plate in one step, starting outside, on it, or just inside its tolerance.
#[test]
fn thin_solids_are_not_passed_through() {
    let thin = [
        ObstacleShape::Box { size: DVec3::new(2.0, 1e-4, 2.0), round: 0.0 },
        ObstacleShape::Ellipsoid { radii: DVec3::new(1.0, 1e-3, 1.0) },
        ObstacleShape::Torus { radius: 0.25, tube: 1e-3 },
        ObstacleShape::Hyperboloid { waist: 1e-3, slope: 0.5, height: 0.3 },
    ];
    let mut random = Lcg::new(10);
    for shape in thin {
        let obstacle = obstacle(shape.clone(), false);
        let aim = match shape {
            ObstacleShape::Hyperboloid { .. } => DVec3::new(0.0, 0.03, 0.0),
            _ => DVec3::new(0.15, 0.0, -0.2),
        };
        for _ in 0..300 {
            let way = random.point(1.0).normalize() + if shape.is_convex() { DVec3::Y * 1.5 } else { DVec3::ZERO };
            let (from, to) = (aim - way * (5.0 + 4.0 * random.signed()), aim + way * (5.0 + 4.0 * random.signed()));
            let (s, gap) = obstacle.first_touch(from, to, &still(), &still()).expect("goes through the middle");
            assert!(s < 1.0 && gap.distance.abs() < 1e-9);
            if shape.is_convex() {
                // Again from the place it reached, and from a little inside.
                for depth in [0.0, 1e-5] {
                    let from = from.lerp(to, s) - gap.normal * depth;
                    let again = obstacle.first_touch(from, to, &still(), &still());
                    assert!(again.is_some_and(|(s, _)| s < 1e-10), "{shape:?} {from} {to} {again:?}");
                }
            }
        }
    }
}

/// Catches a node that can never get away again, and one that sinks unseen.
#[test]
fn leaving_is_not_a_touch_but_sinking_deeper_is_one_at_once() {
    let mut random = Lcg::new(11);
    for obstacle in obstacles() {
        for i in 0..500 {
            let p = random.point(1.2);
            let gap = obstacle.local_gap(p);
            // On the surface, a little above and a little below.
            let p = p - gap.normal * (gap.distance + [0.0, 1e-13, 1e-4][i % 3]);
            let gap = obstacle.local_gap(p);
            let smooth = gap.distance < 1e-12 && gap.distance > -2e-4 && gap.curvature < 50.0;
            if !smooth {
                continue;
            }
            let away = gap.normal * 2e-5;
            // In a corner of a container the way off one wall leads into the next.
            let leaves = obstacle.local_gap(p + away).distance > gap.distance + 1e-5;
            assert!(!leaves || obstacle.first_touch(p, p + away, &still(), &still()).is_none(), "{obstacle:?} {p}");
            let down = p - gap.normal * 1e-4;
            if obstacle.local_gap(down).distance < gap.distance - 1e-6 {
                let touch = obstacle.first_touch(p, down, &still(), &still());
                assert!(touch.is_some_and(|(s, _)| s < 1e-7), "{obstacle:?} {p} {touch:?}");
            }
        }
    }
}

/// Catches a container that lets a node resting on one wall fly out through the other.
#[test]
fn a_node_that_leaves_one_wall_touches_the_one_across() {
    let bowl = obstacle(ObstacleShape::Sphere { radius: 1.0 }, true);
    let (s, _) = bowl.first_touch(DVec3::X, DVec3::X * -2.0, &still(), &still()).expect("crosses the far wall");
    assert!((s - 2.0 / 3.0).abs() < 1e-9);
    let ring = obstacle(ObstacleShape::Torus { radius: 1.0, tube: 0.2 }, false);
    let (s, _) = ring.first_touch(DVec3::X * 0.9, DVec3::X * -0.85, &still(), &still()).expect("crosses the hole");
    assert!((s - 1.7 / 1.75).abs() < 1e-9);
}

/// Catches an obstacle that sweeps over a node which stands still.
#[test]
fn a_plate_that_turns_past_a_resting_node_touches_it() {
    let plate = obstacle(ObstacleShape::Box { size: DVec3::new(2.0, 0.01, 2.0), round: 0.0 }, false);
    let pose = |angle| Pose { rotation: DQuat::from_rotation_z(angle), ..still() };
    let node = DVec3::new(0.5, 0.0, 0.0);
    let (s, gap) = plate.first_touch(node, node, &pose(-0.1), &pose(0.1)).expect("is swept over");
    assert!((0.3..0.5).contains(&s) && gap.normal.distance(pose(0.1).rotation * DVec3::Y) < 1e-9);
}
