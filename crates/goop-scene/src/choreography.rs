//! Moves of a body over a floor, as drives.
//!
//! ```text
//! between moves   a servo holds x, z and attitude; up and down is left to weight and floor
//! to, turn, bow   keys of the servo's path
//! hop             a blow m √(2 g h) upwards and along; while it flies, T = 2 √(2 h / g), only its attitude is held
//! squash          a thruster presses the upper part down, ever more, and lets go when the blow comes
//! roll            the attitude is let go
//! ```
//! The servo's force is limited, so that bodies that meet push each other aside and come back.

use crate::scene::{Choreography, Move};
use glam::{DQuat, DVec3};
use goop::animate::{Course, Key};
use goop::drive::{Drive, DriveKind, Path, Posture, Servo};
use goop::model::Body;

/// A blow at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kick {
    /// When (s).
    pub time: f64,
    /// Momentum (N s).
    pub momentum: DVec3,
}

/// Time for which a body is pressed down before a hop (s).
const PRESS: f64 = 0.35;
/// Nodes above this share of the height are pressed.
const UPPER: f64 = 0.7;
/// Of a bow: going down, and staying, over its time.
const BOW: [f64; 2] = [0.35, 0.6];

/// Where a body should be between moves.
#[derive(Clone, Copy)]
struct Stand {
    place: DVec3,
    heading: f64,
}

/// What is held in a stretch of time.
#[derive(Clone, Copy, PartialEq)]
struct Held {
    place: bool,
    attitude: bool,
}

/// The drives and blows of a body's moves, or what is wrong with them and how to mend it.
pub fn drives(one: &Choreography, body: &Body, gravity: DVec3) -> Result<(Vec<Drive>, Vec<Kick>), (String, String)> {
    let weight = -gravity.y;
    let hops = one.r#move.iter().any(|m| m.hop.is_some());
    if hops && weight <= 0.0 {
        let message = "a hop needs gravity to come down by".to_owned();
        return Err((message, "let `world.gravity` point down, or use thrusters".to_owned()));
    }
    let start = &body.start;
    let (mut stand, mut drives, mut kicks) = (Stand { place: start.position, heading: 0.0 }, Vec::new(), Vec::new());
    let pose = |time: f64, stand: Stand, bow: f64| {
        let turn = DQuat::from_rotation_y(stand.heading.to_radians()) * DQuat::from_rotation_x(bow.to_radians());
        Key { time, position: stand.place, rotation: turn * start.rotation }
    };
    let mut keys = vec![pose(0.0, stand, 0.0)];
    // From when on what is held.
    let all = Held { place: true, attitude: true };
    let mut changes = vec![(0.0, all)];
    for step in &one.r#move {
        let flight = step.hop.map(|height| 2.0 * (2.0 * height / weight).sqrt());
        let end = step.time + flight.unwrap_or(step.seconds);
        if let Some(&(landed, _)) = changes.last().filter(|last| step.time < last.0) {
            let message =
                format!("the move at {} s begins in the air: the hop before it lands at {landed:.3} s", step.time);
            return Err((message, "begin it later, or hop less high".to_owned()));
        }
        let from = stand;
        (stand.place.x, stand.place.z) = step.to.map_or((stand.place.x, stand.place.z), |[x, z]| (x, z));
        stand.heading = step.turn.unwrap_or(stand.heading);
        keys.push(pose(step.time, from, 0.0));
        if let Some(bow) = step.bow {
            let [down, up] = BOW.map(|share| step.time + share * step.seconds);
            keys.extend([pose(down, stand, bow), pose(up, stand, bow)]);
        }
        keys.push(pose(end, stand, 0.0));
        if let (Some(flight), Some(height)) = (flight, step.hop) {
            let mut velocity = (stand.place - from.place) / flight;
            velocity.y = (2.0 * weight * height).sqrt();
            kicks.push(Kick { time: step.time, momentum: body.mass() * velocity });
            changes.extend([(step.time, Held { place: false, attitude: true }), (end, all)]);
            drives.extend(press(step, body, weight));
        } else if step.roll {
            changes.push((step.time, Held { place: true, attitude: false }));
        } else {
            changes.push((step.time, all));
        }
    }
    let most = one.strength * body.mass() * weight.abs();
    let path = Path::new(keys);
    for (k, &(from, held)) in changes.iter().enumerate() {
        let until = changes.get(k + 1).map_or(f64::INFINITY, |next| next.0);
        if until > from {
            let servo = Servo {
                path: path.clone(),
                holds: [held.place, false, held.place],
                attitude: held.attitude,
                response: one.response,
                most_force: most,
                most_torque: 0.5 * most * body.extent(),
                ..Servo::default()
            };
            drives.push(Drive { from, until, kind: DriveKind::Servo(servo) });
        }
    }
    Ok((drives, kicks))
}

/// Presses the upper part down before a hop.
fn press(step: &Move, body: &Body, weight: f64) -> Option<Drive> {
    if step.squash <= 0.0 {
        return None;
    }
    let x = body.start_positions();
    let [low, high] =
        [f64::min, f64::max].map(|of: fn(f64, f64) -> f64| x.iter().map(|p| p.y).reduce(of).unwrap_or(0.0));
    let line = low + UPPER * (high - low);
    let nodes = (0..x.len() as u32).filter(|&i| x[i as usize].y >= line).collect();
    let until = step.time;
    let from = (until - PRESS).max(0.0);
    // Slowly, then all of it, then gone.
    let course = Course::new(vec![[from, 0.0], [from + 0.7 * (until - from), 1.0], [until, 1.0]]);
    let still = vec![DVec3::ZERO; x.len()];
    let turn = Posture::of(&body.masses, &body.shape.rest_positions, &x, &still).rotation;
    let newtons = turn.inverse() * DVec3::new(0.0, -step.squash * body.mass() * weight, 0.0);
    let kind = DriveKind::Thruster { nodes, newtons, body_axes: true, course };
    (until > from).then_some(Drive { from, until, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use goop::{Axes, Edit, Material, Model, Shape, World};

    fn body() -> Body {
        let shape = Shape::block(DVec3::splat(0.2), [3; 3]).expect("a block");
        let mut body = Body::new("block", shape, Material { friction: 0.5, ..Material::default() }, Axes::RIGID);
        body.start.position.y = 0.1;
        body
    }

    fn step(time: f64) -> Move {
        Move { time, seconds: 1.0, to: None, turn: None, hop: None, squash: 0.0, bow: None, roll: false }
    }

    fn play(moves: Vec<Move>, floor: bool) -> (World, Vec<(f64, DVec3)>) {
        let one = Choreography { body: "block".into(), response: 0.2, strength: 3.0, r#move: moves };
        let mut body = body();
        let gravity = DVec3::new(0.0, -9.81, 0.0);
        let (drives, kicks) = drives(&one, &body, gravity).expect("good moves");
        body.drives = drives;
        let events = kicks
            .iter()
            .map(|k| (k.time, Edit::Kick { body: 0, linear: k.momentum, angular: DVec3::ZERO, body_axes: false }));
        let text = "format = 1\n[[obstacle]]\nname = \"floor\"\nfriction = 0.3\nshape.plane = {}";
        let (scene, _) = crate::scene::Scene::parse(text, "floor").expect("a floor");
        let plane = |entry| crate::build::obstacle(entry, goop::contact::ObstacleShape::Plane);
        let obstacles = scene.obstacle.iter().filter(|_| floor).map(plane).collect();
        let events = events.collect();
        let mut world = World::new(Model { bodies: vec![body], obstacles, events, gravity, ..Model::default() });
        let mut track = Vec::new();
        while world.time() < 3.0 {
            world.step().expect("a good step");
            let rigid = world.state().bodies[0].rigid.as_ref().expect("a rigid body");
            track.push((world.time(), rigid.center));
        }
        (world, track)
    }

    /// Catches a hop of another height, a landing elsewhere, and a heading that is not taken.
    #[test]
    fn a_hop_is_as_high_as_asked_and_lands_where_asked() {
        let hop = Move { hop: Some(0.25), to: Some([0.4, -0.3]), turn: Some(90.0), ..step(0.5) };
        let (world, track) = play(vec![hop], true);
        let high = track.iter().map(|t| t.1.y).fold(0.0, f64::max);
        assert!((high - 0.35).abs() < 0.01, "{high}");
        let end = track[track.len() - 1].1;
        assert!((end - DVec3::new(0.4, 0.1, -0.3)).length() < 0.01, "{end}");
        let turn = world.state().bodies[0].rigid.as_ref().expect("a rigid body").rotation;
        // Once it stands, friction holds it a little beside where the servo would have it.
        assert!((turn * DVec3::X - DVec3::NEG_Z).length() < 0.06, "{turn}");
    }

    /// Catches a walk that does not arrive in time, and a bow that does not come up again.
    #[test]
    fn a_walk_arrives_in_time_and_a_bow_goes_forward_and_comes_back() {
        let walk = Move { to: Some([0.3, 0.1]), ..step(0.2) };
        let (_, track) = play(vec![walk], true);
        let at = track.iter().find(|t| t.0 > 1.4).map(|t| t.1).unwrap_or_default();
        assert!((at - DVec3::new(0.3, 0.1, 0.1)).length() < 0.02, "{at}");
        let one = Choreography {
            body: "block".into(),
            response: 0.2,
            strength: 3.0,
            r#move: vec![Move { bow: Some(40.0), ..step(1.0) }],
        };
        let (drives, kicks) = drives(&one, &body(), DVec3::new(0.0, -9.81, 0.0)).expect("good moves");
        assert!(kicks.is_empty());
        let DriveKind::Servo(servo) = &drives[0].kind else { panic!("not a servo") };
        let front = |time: f64| servo.path.at(time).rotation * DVec3::Y;
        assert!(front(1.5).z > 0.6 && front(0.9) == DVec3::Y && (front(2.1) - DVec3::Y).length() < 1e-12);
    }

    /// Catches a move that begins before the hop before it has landed.
    #[test]
    fn a_move_in_the_air_is_refused() {
        let hop = |time: f64| Move { hop: Some(0.4), seconds: 0.3, ..step(time) };
        let moves = |times: &[f64]| Choreography {
            body: "block".into(),
            response: 0.2,
            strength: 3.0,
            r#move: times.iter().map(|&time| hop(time)).collect(),
        };
        let gravity = DVec3::new(0.0, -9.81, 0.0);
        assert!(drives(&moves(&[0.5, 1.0]), &body(), gravity).is_err());
        assert!(drives(&moves(&[0.5, 1.1]), &body(), gravity).is_ok());
    }

    /// Catches a hop into a world where it would never come down.
    #[test]
    fn a_hop_without_gravity_is_refused() {
        let hop = Move { hop: Some(0.1), ..step(0.5) };
        let one = Choreography { body: "block".into(), response: 0.2, strength: 3.0, r#move: vec![hop] };
        assert!(drives(&one, &body(), DVec3::ZERO).is_err());
    }
}
