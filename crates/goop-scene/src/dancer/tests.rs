//! The character is one sound skin, the dance stands on the floor, and files give back
//! what went into them.

use super::body::{PARTS, joint, part};
use super::dance::{BEAT, BEATS, FEET, LEAPS};
use super::{bvh, dancer, glb, moves, rig, skin};
use crate::mesh::read_mesh;
use crate::rig::{BvhOptions, Part, RigOptions, Side, read_bvh, read_rig, roles};
use glam::{DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// Positions of nodes and triangles between them.
fn welded() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let skin = skin();
    let mut positions = BTreeMap::new();
    skin.nodes.iter().zip(&skin.positions).for_each(|(&node, &p)| {
        assert_eq!(*positions.entry(node).or_insert(p), p, "the two sides of a border are apart");
    });
    let triangles = skin.triangles.iter().map(|t| t.map(|corner| skin.nodes[corner as usize])).collect();
    (positions.into_values().collect(), triangles)
}

/// Catches cells with two sheets of the surface, cuts that miss a neighbour, and a skin
/// turned inside out: a lattice made from those has holes.
#[test]
fn the_skin_is_one_closed_outward_surface_without_handles() {
    let (positions, triangles) = welded();
    assert!((4000..8000).contains(&positions.len()), "{} vertices", positions.len());
    let mut next = BTreeMap::new();
    for &[a, b, c] in &triangles {
        for edge in [(a, b), (b, c), (c, a)] {
            assert!(next.insert(edge, ()).is_none(), "edge {edge:?} twice in one direction");
        }
    }
    assert!(next.keys().all(|&(a, b)| next.contains_key(&(b, a))), "a hole");
    // Sphere-like: one piece, and V − E + F = 2.
    let (vertices, edges, faces) = (positions.len(), next.len() / 2, triangles.len());
    assert_eq!(vertices + faces, edges + 2);
    let mut near: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    next.keys().for_each(|&(a, b)| near.entry(a).or_default().push(b));
    let (mut seen, mut open) = (BTreeSet::from([0]), vec![0]);
    while let Some(vertex) = open.pop() {
        open.extend(near[&vertex].iter().filter(|other| seen.insert(**other)));
    }
    assert_eq!(seen.len(), vertices);
    let at = |[a, b, c]: [u32; 3]| [a, b, c].map(|corner| positions[corner as usize]);
    let volume: f64 = triangles.iter().map(|&t| at(t)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    assert!((0.1..0.2).contains(&volume), "{volume} m³");
    let (low, high) =
        (positions.iter().map(|p| p.y).fold(1.0, f64::min), positions.iter().map(|p| p.y).fold(0.0, f64::max));
    assert!(low.abs() < 1e-3 && (high - 1.6).abs() < 0.01, "{low} to {high} m");
    // No slivers: twice the area over the square of the longest side.
    let shape = |[a, b, c]: [DVec3; 3]| {
        let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
        (b - a).cross(c - a).length() / longest
    };
    let worst = triangles.iter().map(|&t| shape(at(t))).fold(1.0, f64::min);
    assert!(worst > 0.05, "{worst}");
}

/// Catches a paint that covers nothing (a face without a mouth), and one whose border runs
/// across triangles of another.
#[test]
fn every_material_has_some_of_the_skin_and_both_sides_the_same() {
    let (skin, count) = (skin(), super::REGIONS.len());
    let mut areas = vec![[0.0; 2]; count];
    for (corners, &paint) in skin.triangles.iter().zip(&skin.triangle_paints) {
        let [a, b, c] = corners.map(|corner| skin.positions[corner as usize]);
        areas[paint as usize][usize::from((a + b + c).x < 0.0)] += (b - a).cross(c - a).length() / 2.0;
    }
    for ([left, right], region) in areas.into_iter().zip(&super::REGIONS) {
        // Glints are on the same side of both eyes.
        let tolerance = if region.name == "glints" { 0.25 } else { 0.04 };
        assert!(left > 2e-4 && (left / right - 1.0).abs() < tolerance, "{}: {left} and {right} m²", region.name);
    }
}

/// Catches weights that leave a vertex behind when its bone goes, or move it with the
/// other leg.
#[test]
fn every_part_has_skin_and_no_vertex_follows_the_other_side() {
    let rig = rig();
    let mut own = [0; PARTS];
    for vertex in 0..rig.positions.len() {
        let weights: Vec<(usize, f64)> = rig.influences.of(vertex).collect();
        assert!(weights.len() <= 4 && weights.iter().map(|(_, weight)| weight).sum::<f64>() == 1.0);
        own[weights[0].0] += 1;
        let of = |joint: usize| weights.iter().find(|(other, _)| *other == joint).map_or(0.0, |(_, weight)| *weight);
        for pair in [part::UPPER_ARM, part::LOWER_ARM, part::HAND, part::LOWER_LEG, part::FOOT] {
            let both = of(pair[0]).min(of(pair[1]));
            assert!(both < 0.1, "vertex {vertex} at {}: {both}", rig.positions[vertex]);
        }
    }
    assert!(own.iter().all(|count| *count > 20), "{own:?}");
}

/// Catches a writer and a reader that differ: order of joints, bind matrices, rounding,
/// slopes of splines, materials.
#[test]
fn the_glb_reads_back_as_the_rig_and_the_skin_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dancer.glb");
    std::fs::write(&path, glb()).unwrap();
    let read = read_rig(&path, &RigOptions::default()).unwrap();
    let made = rig();
    assert_eq!(read.skeleton, made.skeleton);
    assert_eq!(read.bind, made.bind);
    assert_eq!(read.influences, made.influences);
    for (a, b) in read.motions[0].tracks.iter().zip(&made.motions[0].tracks) {
        assert_eq!(a.translation, b.translation);
        let (a, b) = (a.rotation.as_ref().unwrap(), b.rotation.as_ref().unwrap());
        assert_eq!(a.times, b.times);
        assert_eq!(a.values, b.values);
    }
    assert_eq!(read.motions[0].duration, made.motions[0].duration);
    assert!(read == made);
    let mesh = read_mesh(&path, true).unwrap();
    assert!(mesh.original == skin());
    let found = roles(&read.skeleton, &read.bind);
    for limb in [Part::UpperArm, Part::LowerArm, Part::Hand, Part::UpperLeg, Part::LowerLeg, Part::Foot] {
        for side in [Side::Left, Side::Right] {
            assert_eq!(found.iter().filter(|role| role.part == limb && role.side == side).count(), 1);
        }
    }
}

/// Catches angles in the wrong order or sign, and a unit or an axis that the reader takes
/// for another.
#[test]
fn the_bvh_reads_back_with_the_same_poses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dance.bvh");
    std::fs::write(&path, bvh()).unwrap();
    let read = read_bvh(&path).and_then(|bvh| bvh.motion(&path, &BvhOptions::default())).unwrap();
    let made = &rig().motions[0];
    assert_eq!((read.unit, read.start_frame), (1.0, 0));
    assert!((read.motion.duration - made.duration).abs() < 1e-6);
    for (a, b) in read.motion.skeleton.joints.iter().zip(&made.skeleton.joints) {
        assert!(a.name == b.name && a.parent == b.parent);
    }
    for row in 0..=480 {
        let time = f64::from(row) / 60.0;
        for (a, b) in read.motion.pose(time).iter().zip(made.pose(time)) {
            let far = a.translation.distance(b.translation);
            let turned = (a.matrix3 - b.matrix3).to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(far < 1e-5 && turned < 1e-5, "{time} s: {far} m, {turned}");
        }
    }
}

/// Catches a jump where the dance starts again, and bones thrown about.
#[test]
fn the_dance_is_long_enough_smooth_and_ends_as_it_begins() {
    let rig = rig();
    let dance = &rig.motions[0];
    assert!(dance.duration >= 6.0);
    let near = |a: &[glam::DAffine3], b: &[glam::DAffine3], within: f64| {
        a.iter().zip(b).all(|(a, b)| a.abs_diff_eq(*b, within))
    };
    assert!(near(&dance.pose(0.0), &dance.pose(dance.duration), 1e-5));
    // The last rate is zero by definition, so a moment before.
    let moment = 1e-6;
    assert!(near(&dance.pose_and_rate(moment).1, &dance.pose_and_rate(dance.duration - moment).1, 0.02));
    assert!(dance.fastest().unwrap().speed < 8.0, "{:?}", dance.fastest());
}

/// Catches feet that slide, float or sink while they should stand, legs that are too short for
/// a step, and a floor that is not where the skin is.
#[test]
fn feet_stand_where_they_are_put_and_nothing_is_below_the_floor() {
    let rig = rig();
    let dance = &rig.motions[0];
    let mut moved = Vec::new();
    for frame in 0..480 {
        let time = f64::from(frame) / 60.0;
        let beat = time / BEAT;
        let pose = dance.pose(time);
        rig.skinned(&pose, &mut moved);
        let lowest = moved.iter().map(|p| p.y).fold(1.0, f64::min);
        assert!(lowest > -0.006, "{lowest} m at beat {beat}");
        let flying = LEAPS.iter().any(|[from, to]| (from - 0.1..to + 0.1).contains(&beat));
        let turning = (8.7..10.7).contains(&beat);
        for (side, foot) in part::FOOT.into_iter().enumerate() {
            let lift = moves::on(FEET[side].lift, time);
            if flying || turning || lift > 1e-9 {
                continue;
            }
            let ball = pose[foot].transform_point3(DVec3::new(0.0, -joint(foot).y, 0.1));
            let wanted = DVec3::new(moves::on(FEET[side].side, time), 0.0, moves::on(FEET[side].front, time));
            let off = (ball - wanted).with_y(0.0).length();
            let own = (0..moved.len()).filter(|&v| rig.influences.of(v).next().is_some_and(|(j, _)| j == foot));
            let sole = own.map(|v| moved[v].y).fold(1.0, f64::min);
            assert!(off < 0.006 && sole.abs() < 0.008, "foot {side} at beat {beat}: {off} m aside, sole at {sole} m");
        }
    }
    assert!((BEATS * BEAT - dance.duration).abs() < 1e-6);
}

/// Catches knees and elbows that bend the wrong way or too far, a broken neck, and turns
/// about a bone's own length, which wring the skin.
#[test]
fn joints_stay_within_their_limits() {
    let dance = &rig().motions[0];
    // Largest turn from rest and largest turn about the bone (deg).
    let limits = |i: usize| match i {
        part::HIPS => (f64::MAX, f64::MAX),
        part::SPINE | part::CHEST => (28.0, 20.0),
        part::NECK | part::HEAD => (22.0, 20.0),
        _ if part::EAR.contains(&i) => (45.0, 20.0),
        _ if part::UPPER_ARM.contains(&i) => (115.0, 60.0),
        _ if part::LOWER_ARM.contains(&i) => (100.0, 25.0),
        _ if part::HAND.contains(&i) => (60.0, 15.0),
        _ if part::UPPER_LEG.contains(&i) => (95.0, 50.0),
        _ if part::LOWER_LEG.contains(&i) => (125.0, 15.0),
        _ => (65.0, 45.0),
    };
    let children = dance.skeleton.children();
    let mut most = [(0.0f64, 0.0f64); PARTS];
    for frame in 0..480 {
        let pose = dance.pose(f64::from(frame) / 60.0);
        for (i, place) in pose.iter().enumerate().skip(1) {
            let above = pose[dance.skeleton.joints[i].parent.unwrap()].matrix3;
            let turn = DQuat::from_mat3(&(above.transpose() * place.matrix3));
            let bone = children[i].first().map(|&c| joint(c) - joint(i)).or(dance.skeleton.joints[i].end).unwrap();
            let about = turn.xyz().dot(bone.normalize()).atan2(turn.w.abs()).abs() * 2.0;
            let angle = turn.to_axis_angle().1;
            let angle = angle.min(std::f64::consts::TAU - angle);
            most[i] = (most[i].0.max(angle.to_degrees()), most[i].1.max(about.to_degrees()));
        }
        for side in 0..2 {
            let [hip, knee, foot] = [part::UPPER_LEG, part::LOWER_LEG, part::FOOT].map(|p| pose[p[side]]);
            let front = hip.matrix3 * DVec3::Z;
            let bend = (knee.translation - hip.translation).cross(foot.translation - knee.translation);
            assert!(bend.dot(hip.matrix3 * DVec3::X) > -1e-6, "knee {side} bends to the front {front}");
        }
    }
    for (i, (angle, about)) in most.into_iter().enumerate() {
        let (angles, abouts) = limits(i);
        let name = &dance.skeleton.joints[i].name;
        assert!(angle < angles && about < abouts, "{name}: {angle:.0} deg, {about:.0} about itself; all {most:.0?}");
    }
}

/// Catches anything that depends on where in memory or in which process it is made.
#[test]
fn it_is_the_same_every_time() {
    let again = super::Dancer::new();
    assert!(again.rig == dancer().rig && again.skin == dancer().skin);
    assert!(super::glb::write(&again.rig, &again.skin) == glb());
}
