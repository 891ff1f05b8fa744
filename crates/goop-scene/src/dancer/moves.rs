//! Key poses to a motion: curves, then the pose of every joint at any time, then keys of
//! every joint thirty times a second with their exact slopes, so that a bone's velocity has
//! no jumps.
//!
//! Curves are cubic between keys. A slope that is not given is zero at a peak, else the
//! harmonic mean of both sides (Fritsch and Butland 1984): no curve leaves the range of its keys.
//! Feet are given in space and legs follow: with upper and lower leg a, b and
//! the ankle at distance d from the hip, the knee is at
//! ```text
//! x = (d² + a² − b²) / 2d along the way, √(a² − x²) aside, to the front
//! ```
//! Arms, head and ears come a little late, as loose things do.

use super::body::{PARTS, joint, part};
use super::dance::*;
use crate::rig::{Curve, Interpolation, Motion, Rig, Track};
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// Keys a second.
const RATE: usize = 30;
/// How late parts come (s): lower arms, hands, head, ears.
const LATE: [f64; 4] = [0.03, 0.06, 0.03, 0.05];
/// From this part of its length on a leg resists being stretched.
const STRAIGHT: f64 = 0.96;
/// How far ears bend for a speed of the head (rad s/m).
const DRAG: f64 = 0.16;
/// Free fall (m/s²).
const GRAVITY: f64 = 9.81;

/// The value of a curve at a beat. `round`: after the last key comes the first again.
fn value(keys: &[Key], beat: f64, round: bool) -> f64 {
    let count = keys.len();
    // Keys before the first and after the last, too.
    let key = |i: isize| {
        let turns = i.div_euclid(count as isize);
        let (b, v, slope) = keys[i.rem_euclid(count as isize) as usize];
        (b + turns as f64 * BEATS, v, slope.map(|s| s * BEAT))
    };
    let next = keys.partition_point(|&(b, ..)| b <= beat) as isize;
    if !round && (next == 0 || next == count as isize) {
        return keys[(next as usize).min(count - 1)].1;
    }
    let slope = |i: isize| {
        let ((b0, v0, _), (b1, v1, given), (b2, v2, _)) = (key(i - 1), key(i), key(i + 1));
        let end = !round && (i == 0 || i + 1 == count as isize);
        let (before, after) = ((v1 - v0) / (b1 - b0), (v2 - v1) / (b2 - b1));
        match given {
            Some(slope) => slope,
            None if end || before * after <= 0.0 => 0.0,
            None => {
                let (long, short) = (b2 - b1, b1 - b0);
                3.0 * (long + short) / ((2.0 * long + short) / before + (long + 2.0 * short) / after)
            }
        }
    };
    let ((b0, v0, _), (b1, v1, _)) = (key(next - 1), key(next));
    let span = b1 - b0;
    let c = (beat - b0) / span;
    let (c2, c3) = (c * c, c * c * c);
    (2.0 * c3 - 3.0 * c2 + 1.0) * v0
        + (3.0 * c2 - 2.0 * c3) * v1
        + span * ((c3 - 2.0 * c2 + c) * slope(next - 1) + (c3 - c2) * slope(next))
}

/// A length, or an angle in degrees, at a time (s).
pub(super) fn on(keys: &[Key], time: f64) -> f64 {
    value(keys, (time / BEAT).rem_euclid(BEATS), true)
}

fn angle(keys: &[Key], time: f64) -> f64 {
    on(keys, time).to_radians()
}

/// How high everything is thrown (m).
fn thrown(time: f64) -> f64 {
    let beat = (time / BEAT).rem_euclid(BEATS);
    let flight = LEAPS.iter().find(|[from, to]| (*from..*to).contains(&beat));
    flight.map_or(0.0, |[from, to]| GRAVITY / 2.0 * (beat - from) * (to - beat) * BEAT * BEAT)
}

/// Turn, then forward, then to the left.
fn turned(turn: f64, forward: f64, left: f64) -> DQuat {
    DQuat::from_rotation_y(turn) * DQuat::from_rotation_x(forward) * DQuat::from_rotation_z(-left)
}

/// Place of the hips and the turn of every joint in its parent.
pub(super) struct Pose {
    pub(super) hips: DVec3,
    pub(super) turns: [DQuat; PARTS],
}

/// How the ground carries feet.
pub(super) struct Dancing {
    /// Points of each foot, from its ankle (m).
    soles: [Vec<DVec3>; 2],
}

impl Dancing {
    pub(super) fn new(rig: &Rig) -> Dancing {
        let soles = part::FOOT.map(|foot| {
            let own = (0..rig.positions.len()).filter(|&v| rig.influences.of(v).next().is_some_and(|(j, _)| j == foot));
            own.map(|v| rig.positions[v] - joint(foot)).collect()
        });
        Dancing { soles }
    }

    /// Everything but ears, with the places of joints and their turns in space.
    fn body(&self, time: f64) -> (Pose, [(DVec3, DQuat); PARTS]) {
        use part::*;
        let beat = (time / BEAT).rem_euclid(BEATS);
        let stage = DQuat::from_rotation_y(value(TURN, beat, false).to_radians());
        let mut turns = [DQuat::IDENTITY; PARTS];
        let shift = DVec3::new(on(HIPS_SIDE, time), on(HIPS_UP, time), on(HIPS_FRONT, time));
        let hips = stage * (joint(HIPS) + shift);
        turns[HIPS] = stage * turned(angle(HIPS_YAW, time), angle(HIPS_PITCH, time), angle(HIPS_ROLL, time));
        let half = |turn: f64, forward: f64, left: f64| turned(turn / 2.0, forward / 2.0, left / 2.0);
        turns[SPINE] = half(angle(TRUNK_TWIST, time), angle(TRUNK_BEND, time), angle(TRUNK_LEAN, time));
        turns[CHEST] = turns[SPINE];
        let late = time - LATE[2];
        turns[NECK] = half(angle(HEAD_TURN, late), angle(HEAD_NOD, late), angle(HEAD_TILT, late));
        turns[HEAD] = turns[NECK];
        for (side, arm) in ARMS.iter().enumerate() {
            let out = if side == 0 { 1.0 } else { -1.0 };
            let towards = |raise: f64, front: f64| {
                let (down, away) = (raise.cos(), raise.sin());
                DVec3::new(out * away * front.cos(), -down, away * front.sin())
            };
            let (lower, hand) = (time - LATE[0], time - LATE[1]);
            let ways = [
                towards(angle(arm.upper_raise, time), angle(arm.upper_front, time)),
                towards(angle(arm.lower_raise, lower), angle(arm.lower_front, lower)),
                towards(angle(arm.lower_raise, hand) + angle(arm.hand_raise, hand), angle(arm.lower_front, hand)),
            ];
            let joints = [UPPER_ARM[side], LOWER_ARM[side], HAND[side]];
            let rest = [joint(joints[1]) - joint(joints[0]), joint(joints[2]) - joint(joints[1])];
            let mut above = DQuat::IDENTITY;
            for i in 0..3 {
                // The least turn from where the part above carries it: nothing is wrung.
                let from = rest[i.min(1)].normalize();
                let own = DQuat::from_rotation_arc(above * from, ways[i]) * above;
                turns[joints[i]] = above.inverse() * own;
                above = own;
            }
        }
        let mut places = places(hips, &turns);
        for side in 0..2 {
            self.leg(time, side, stage, places[HIPS].1, &mut turns, places[UPPER_LEG[side]].0);
        }
        places = self::places(hips, &turns);
        (Pose { hips, turns }, places)
    }

    /// Turns of a leg whose hip joint is at `hip`.
    fn leg(&self, time: f64, side: usize, stage: DQuat, hips: DQuat, turns: &mut [DQuat; PARTS], hip: DVec3) {
        use part::*;
        let [upper, lower, foot] = [UPPER_LEG[side], LOWER_LEG[side], FOOT[side]];
        let keys = &FEET[side];
        let out = if side == 0 { 1.0 } else { -1.0 };
        let yaw = stage * DQuat::from_rotation_y(out * angle(keys.out, time));
        let tipped = yaw * DQuat::from_rotation_x(angle(keys.heel, time));
        // The ball of the foot stays where it is when the heel goes up.
        let ball = stage * DVec3::new(on(keys.side, time), 0.0, on(keys.front, time));
        let to_ball = tipped * DVec3::new(0.0, -joint(foot).y, 0.1);
        let lowest = self.soles[side].iter().map(|&p| (tipped * p).y).fold(f64::MAX, f64::min);
        let ankle = (ball - to_ball).with_y(on(keys.lift, time) + thrown(time) - lowest);
        // The knee, to the front of hips and foot.
        let rest = [joint(lower) - joint(upper), joint(foot) - joint(lower)];
        let [a, b] = rest.map(DVec3::length);
        let way = ankle - hip;
        let far = way.length();
        let (long, most) = (STRAIGHT * (a + b), (1.0 - STRAIGHT) * (a + b) * 0.98);
        let d = if far > long { long + most * (far - long) / (far - long + most) } else { far };
        let way = way.normalize();
        let x = (d * d + a * a - b * b) / (2.0 * d);
        let front = (yaw * DVec3::Z + hips * DVec3::Z * 0.5).normalize();
        let aside = (front - way * way.dot(front)).normalize();
        let knee = way * x + aside * (a * a - x * x).max(0.0).sqrt();
        // A bone's axes: down along it, to the front in the plane of the leg.
        let across = aside.cross(way);
        let axes = |along: DVec3, across: DVec3| {
            let y = -along.normalize();
            let x = (across - y * y.dot(across)).normalize();
            DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)))
        };
        let at_rest = rest.map(|bone| axes(bone, DVec3::X));
        let own = [axes(knee, across) * at_rest[0].inverse(), axes(way * d - knee, across) * at_rest[1].inverse()];
        turns[upper] = hips.inverse() * own[0];
        turns[lower] = own[0].inverse() * own[1];
        turns[foot] = own[1].inverse() * tipped;
    }

    /// The pose at a time (s).
    pub(super) fn pose(&self, time: f64) -> Pose {
        use part::*;
        const STEP: f64 = 0.03;
        let (mut pose, places) = self.body(time);
        let crown = |time: f64| {
            let (place, turn) = self.body(time).1[HEAD];
            place + turn * (joint(EAR[0]).with_x(0.0) - joint(HEAD))
        };
        let late = time - LATE[3];
        let speed = places[HEAD].1.inverse() * (crown(late + STEP) - crown(late - STEP)) / (2.0 * STEP);
        // Softly bounded, so that a leap does not break them.
        let bend = |way: f64| 0.5 * way * DRAG / (0.25 + (way * DRAG).powi(2)).sqrt();
        for (side, ear) in EAR.into_iter().enumerate() {
            let out = if side == 0 { 1.0 } else { -1.0 };
            // Upwards they fold out and back, sideways they trail.
            pose.turns[ear] = DQuat::from_rotation_x(-bend(speed.z) - 0.6 * bend(speed.y))
                * DQuat::from_rotation_z(bend(speed.x) - out * 0.8 * bend(speed.y));
        }
        pose
    }
}

/// Where joints are (m), and how they are turned in space.
fn places(hips: DVec3, turns: &[DQuat; PARTS]) -> [(DVec3, DQuat); PARTS] {
    let mut places = [(hips, turns[0]); PARTS];
    for i in 1..PARTS {
        // All but the first have one, which stands before them.
        let parent = super::body::JOINTS[i].1.unwrap_or(0);
        let (place, turn) = places[parent];
        places[i] = (place + turn * (joint(i) - joint(parent)), turn * turns[i]);
    }
    places
}

/// A unit quaternion near this one that survives being rounded to single floats and made
/// a unit again: lengths that differ in the last digits round differently, and one will do.
fn stored(q: DQuat) -> DQuat {
    let q = q.normalize();
    let lengths = (0..100).flat_map(|n| [1.0, -1.0].map(|sign| 1.0 + sign * 1e-9 * f64::from(n)));
    let mut found = lengths.map(|length| {
        let single = (q * length).as_quat();
        (single, single.as_dquat().normalize())
    });
    found.find(|(single, unit)| unit.as_quat() == *single).map_or(q, |(_, unit)| unit)
}

/// The dance of a rig that has no motion yet. All numbers are those a file would have.
pub(super) fn motion(rig: &Rig) -> Motion {
    const STEP: f64 = 1.0 / 1024.0;
    let dancing = Dancing::new(rig);
    let seconds = BEATS * BEAT;
    let count = (seconds * RATE as f64).round() as usize;
    let times: Arc<[f64]> = (0..=count).map(|i| f64::from((i as f64 / RATE as f64) as f32)).collect();
    let mut hips = Vec::with_capacity(3 * times.len());
    let mut turns: [Vec<DQuat>; PARTS] = Default::default();
    for i in 0..=count {
        // The end is the beginning.
        let time = (i % count) as f64 / RATE as f64;
        let [before, now, after] = [time - STEP, time, time + STEP].map(|time| dancing.pose(time));
        let slope = (after.hips - before.hips) / (2.0 * STEP);
        hips.extend([slope, now.hips, slope].map(super::rounded));
        for (part, values) in turns.iter_mut().enumerate() {
            let mut own = now.turns[part].normalize();
            // The short way from key to key.
            if values.len() > 1 && values[values.len() - 2].dot(own) < 0.0 {
                own = -own;
            }
            let near = |other: DQuat| if other.dot(own) < 0.0 { -other } else { other };
            let slope = (near(after.turns[part]) - near(before.turns[part])) * (0.5 / STEP);
            let slope = slope.as_quat().as_dquat();
            values.extend([slope, stored(own), slope]);
        }
    }
    let curve = |values| Curve { times: times.clone(), values, interpolation: Interpolation::Cubic };
    let mut tracks = turns.map(|values| Track { rotation: Some(curve(values)), ..Track::default() });
    tracks[0].translation = Some(Curve { times: times.clone(), values: hips, interpolation: Interpolation::Cubic });
    let duration = times[count];
    Motion { name: "dance".into(), skeleton: rig.skeleton.clone(), tracks: tracks.into(), start: 0.0, duration }
}
