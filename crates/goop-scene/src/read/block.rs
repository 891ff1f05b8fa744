//! `drive` of pins and of bones: a rigid block that forces move.

use super::limits::*;
use super::{keys, shape};
use crate::reader::Table;
use crate::scene::{Drive, Push};

/// A block and the forces on it, in the order of time.
pub fn drive(owner: &Table<'_>) -> Option<Drive> {
    let table = owner.take_table("drive", keys::DRIVE)?;
    let mass = table.need_f64("mass", MASS);
    let mut push: Vec<Push> = Vec::new();
    for one in table.tables("push", keys::PUSH) {
        let time = one.need_f64("time", TIME);
        let newtons = one.take_numbers("newtons", FORCE).unwrap_or_default();
        let flag = |name: &str| one.take_bool(name).unwrap_or(false);
        let (stop, hold, release) = (flag("stop"), flag("hold"), flag("release"));
        let turn = one.take_vec3("turn", TURN).unwrap_or_default();
        if hold && release {
            let message = format!("`{}` stands beside `hold`", one.at("release"));
            one.fault("release", message, "the weight is either carried or not; keep one of them");
        }
        let Some(time) = time else { continue };
        if let Some(last) = push.last().filter(|last| time <= last.time) {
            let message = format!("`{}` is {time} s, not after the push before it ({} s)", one.at("time"), last.time);
            one.fault("time", message, "pushes stand in the order of time, each at its own time");
            continue;
        }
        push.push(Push { time, newtons, stop, hold, release, turn });
    }
    let file = table.take_text("file").map(|file| shape::beside(&table, &file));
    if file.is_some() && table.get("push").is_some() {
        let message = format!("`{}` stands beside `push`", table.at("file"));
        table.fault("file", message, "give the forces in one place: keep `push` or `file`");
    }
    let reaction = table.take_bool("reaction").unwrap_or(false);
    Some(Drive { mass: mass?, push, file, reaction })
}
