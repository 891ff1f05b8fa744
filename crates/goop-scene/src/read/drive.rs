//! `[[body.drive]]` and `[[choreography]]`.

use super::event::Cast;
use super::limits::*;
use super::topology::Topology;
use super::{keys, motion, selection};
use crate::reader::{Range, Table};
use crate::scene::{BodyDrive, Choreography, DriveAxes, Gyro, Impulse, Move, Servo, ServoHolds, Thruster};

/// One drive.
pub fn drive(table: &Table<'_>, grid: Option<&Topology>, seconds: f64) -> Option<BodyDrive> {
    let from = table.take_f64("from", TIME).unwrap_or(0.0);
    let until = table.take_f64("until", TIME);
    if let Some(until) = until.filter(|until| *until <= from) {
        let message = format!("`{}` is {until} s, not after its beginning ({from} s)", table.at("until"));
        table.fault("until", message, "give a later time, or leave `until` out: it then acts to the end");
    }
    if from > seconds {
        let message = format!("`{}` ({from} s) is after the end of the clip ({seconds} s)", table.at("from"));
        table.reader.warn(table.span_of("from"), &table.at("from"), message, "raise `clip.seconds` to see it");
    }
    let entry = table.one_of(&["thruster", "gyro", "servo", "impulse"], "drive")?;
    let mut drive = BodyDrive { from, until, ..BodyDrive::default() };
    match entry.name.as_str() {
        "thruster" => drive.thruster = Some(thruster(&table.take_table("thruster", keys::THRUSTER)?, grid)?),
        "gyro" => {
            let t = table.take_table("gyro", keys::GYRO)?;
            let newton_meters = t.need_numbers("newton-meters", FORCE);
            let (axes, course) = (axes(&t), motion::course(&t));
            drive.gyro = Some(Gyro { newton_meters: newton_meters?, axes, course });
        }
        "servo" => drive.servo = Some(servo(&table.take_table("servo", keys::SERVO)?, seconds)?),
        _ => {
            let t = table.take_table("impulse", keys::IMPULSE)?;
            let blow = ["newton-seconds", "newton-meter-seconds"].map(|name| t.take_vec3(name, FORCE));
            if t.get("newton-seconds").or(t.get("newton-meter-seconds")).is_none() {
                let message = format!("`{}` changes nothing", t.path);
                t.reader.fault(t.span, &t.path, message, "give `newton-seconds`, `newton-meter-seconds` or both");
            }
            if until.is_some() {
                let message = format!("`{}` has no end: an impulse comes at once", table.at("until"));
                table.fault("until", message, "remove `until`, or use a thruster");
            }
            let [newton_seconds, newton_meter_seconds] = blow.map(Option::unwrap_or_default);
            drive.impulse = Some(Impulse { newton_seconds, newton_meter_seconds, axes: axes(&t) });
        }
    }
    Some(drive)
}

fn axes(table: &Table<'_>) -> DriveAxes {
    table.take_word("axes").unwrap_or(DriveAxes::Body)
}

fn thruster(table: &Table<'_>, grid: Option<&Topology>) -> Option<Thruster> {
    let newtons = table.need_numbers("newtons", FORCE);
    let (axes, course) = (axes(table), motion::course(table));
    let at = match table.get("at") {
        Some(entry) => Some(selection::selection(table.reader, &entry.node, &table.at("at"), grid)?),
        None => None,
    };
    Some(Thruster { at, newtons: newtons?, axes, course })
}

fn servo(table: &Table<'_>, seconds: f64) -> Option<Servo> {
    table.need("path")?;
    let path = motion::keys_under(table, "path", [0.0; 3], [0.0; 3], seconds);
    if path.is_empty() {
        let message = format!("`{}` has no keys: the servo does not know where to go", table.at("path"));
        table.fault("path", message, table.key("path").hint());
        return None;
    }
    let along = table.take_text("along").unwrap_or_else(|| "xyz".into());
    let letters = |letter: char| along.chars().filter(|c| *c == letter).count() <= 1;
    if along.is_empty() || along.chars().any(|c| !"xyz".contains(c)) || !"xyz".chars().all(letters) {
        let message = format!("`{}` is \"{along}\", which names no directions", table.at("along"));
        table.fault("along", message, "use some of the letters x, y and z, each once, such as \"xz\"");
    }
    Some(Servo {
        path,
        holds: table.take_word("holds").unwrap_or(ServoHolds::Both),
        along,
        response: table.take_f64("response", RESPONSE).unwrap_or(0.3),
        damping: table.take_f64("damping", DAMPING).unwrap_or(1.0),
        carries_weight: table.take_bool("carries-weight").unwrap_or(true),
        most_newtons: table.take_f64("most-newtons", STIFFNESS),
        most_newton_meters: table.take_f64("most-newton-meters", STIFFNESS),
    })
}

/// The moves of one body.
pub fn choreography(table: &Table<'_>, cast: &Cast<'_>) -> Option<Choreography> {
    let body = cast.body(table).map(|(name, _)| name);
    table.need("move")?;
    let response = table.take_f64("response", RESPONSE).unwrap_or(0.25);
    let strength = table.take_f64("strength", Range::above(0.0, 1e6)).unwrap_or(2.0);
    let mut moves: Vec<Move> = Vec::new();
    for one in table.tables("move", keys::MOVE) {
        let Some(next) = one_move(&one) else { continue };
        if let Some(last) = moves.last().filter(|last| next.time < last.time + last.seconds) {
            let end = last.time + last.seconds;
            let message = format!("`{}` is {} s, before the move before it ends ({end} s)", one.at("time"), next.time);
            one.fault("time", message, "moves stand in the order of time; give the one before fewer `seconds`");
            continue;
        }
        if next.time > cast.seconds {
            let message =
                format!("`{}` ({} s) is after the end of the clip ({} s)", one.at("time"), next.time, cast.seconds);
            one.reader.warn(one.span_of("time"), &one.at("time"), message, "raise `clip.seconds` to see it");
        }
        moves.push(next);
    }
    Some(Choreography { body: body?, response, strength, r#move: moves })
}

fn one_move(table: &Table<'_>) -> Option<Move> {
    let time = table.need_f64("time", TIME);
    let usual = if table.get("hop").is_some() { 0.3 } else { 1.0 };
    let next = Move {
        time: time?,
        seconds: table.take_f64("seconds", Range::above(0.0, 86_400.0)).unwrap_or(usual),
        to: table.take_numbers("to", COORDINATE),
        turn: table.take_f64("turn", ANGLE),
        hop: table.take_f64("hop", Range::above(0.0, 1e3)),
        squash: table.take_f64("squash", Range::within(0.0, 1e3)).unwrap_or(0.0),
        bow: table.take_f64("bow", Range::within(-170.0, 170.0)),
        roll: table.take_bool("roll").unwrap_or(false),
    };
    if next.squash > 0.0 && next.hop.is_none() {
        let message = format!("`{}` stands without a hop", table.at("squash"));
        table.fault("squash", message, "add `hop = 0.1`, or remove it");
    }
    if next.bow.is_some() && (next.hop.is_some() || next.roll || next.to.is_some()) {
        let message = format!("`{}` stands beside another move", table.at("bow"));
        table.fault("bow", message, "a bow is a move of its own: give the other one another time");
    }
    Some(next)
}
