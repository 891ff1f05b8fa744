//! Things over time: keyframes and courses.

use super::keys;
use super::limits::{ANGLE, COORDINATE, TIME};
use crate::reader::{Range, Table};
use crate::scene::{Key, Vector};

/// Keyframes under `key`, in order; absent positions and rotations are the start's.
pub fn keyframes(table: &Table<'_>, position: Vector, rotation: Vector, seconds: f64) -> Vec<Key> {
    keys_under(table, "key", position, rotation, seconds)
}

/// The same under another name.
pub fn keys_under(table: &Table<'_>, name: &str, position: Vector, rotation: Vector, seconds: f64) -> Vec<Key> {
    let mut frames: Vec<Key> = Vec::new();
    let mut late = None;
    for frame in table.tables(name, keys::KEYFRAME) {
        let time = frame.need_f64("time", TIME);
        let position = frame.take_vec3("position", COORDINATE).unwrap_or(position);
        let rotation = frame.take_vec3("rotation", ANGLE).unwrap_or(rotation);
        let Some(time) = time else { continue };
        if let Some(last) = frames.last().filter(|last| time <= last.time) {
            let message = format!("`{}` is {time} s, not after the key before it ({} s)", frame.at("time"), last.time);
            frame.fault("time", message, "keys stand in the order of time, each at its own time");
            continue;
        }
        if time > seconds && late.is_none() {
            late = Some((frame.span_of("time"), frame.at("time")));
        }
        frames.push(Key { time, position, rotation });
    }
    if let Some((span, path)) = late {
        let message = format!("`{path}` is after the end of the clip ({seconds} s)");
        table.reader.warn(span, &path, message, "raise `clip.seconds` to see it");
    }
    frames
}

/// `course`: [[time, factor], …] with times that do not fall; two equal ones make a jump.
pub fn course(table: &Table<'_>) -> Vec<[f64; 2]> {
    let Some(entry) = table.get("course") else { return Vec::new() };
    let (path, key) = (table.at("course"), table.key("course"));
    let Some(items) = table.reader.list(&entry.node, &path, key, None) else { return Vec::new() };
    let mut course: Vec<[f64; 2]> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Some(pair) = table.reader.numbers::<2>(item, &path, key, Range::size(1e9)) else { continue };
        let back = course.last().is_some_and(|last| pair[0] < last[0]);
        let thrice = course.len() > 1 && course[course.len() - 2][0] == pair[0];
        if pair[0] < 0.0 || back || thrice {
            let message = format!("`{path}` has the time {} s, which is out of order", pair[0]);
            let hint = "times begin at 0 or later and rise; the same time twice is a jump";
            table.reader.fault(item.span, &path, message, hint);
            continue;
        }
        course.push(pair);
    }
    course
}
