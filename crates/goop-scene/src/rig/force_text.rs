//! Keyframed forces on a bone, as text (thesis 4.1 and 5.1; the format is not in print).
//!
//! ```text
//! # time (s)   what
//! 0            force 2000 0 0        # N, from now on
//! 0            turn 0 90 0           # degrees per second about x, y, z, from now on
//! 0.05         stop                  # velocity becomes zero; force and turn end
//! 0.05         hold                  # from now on the weight is carried
//! 0.80         release               # no longer
//! ```
//! `rate 30` on a line of its own makes times count in frames of 1/30 s from there, and
//! turns degrees per frame, as in the thesis. A line of numbers alone is time and force, or
//! time, force and turn. Forces and turns last until the next line that names them.
//!
//! Departs from the thesis: turns are a rate about world axes, not Euler angles added up.

use super::RigError;
use crate::mesh::{Fault, Place, fault, read_bytes};
use glam::DVec3;
use goop::animate::Push;
use std::path::Path;

/// Largest file (bytes).
const MOST_BYTES: u64 = 1 << 24;
/// Most lines that say something.
const MOST_KEYS: usize = 1_000_000;

/// What happens to the bone at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Its velocity becomes zero.
    Stop,
    /// Its weight is carried from now on.
    Hold,
    /// No longer.
    Release,
}

/// Forces, turns and events over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForceScript {
    /// Times (s, ascending) and forces from then on (N).
    pub forces: Vec<(f64, DVec3)>,
    /// Times (s, ascending) and angular velocities from then on (rad/s), world axes.
    pub turns: Vec<(f64, DVec3)>,
    /// Times (s, ascending) and what happens then.
    pub events: Vec<(f64, Carry)>,
}

/// Reads a file of keyframed forces.
pub fn read_forces(path: &Path) -> Result<ForceScript, RigError> {
    let script = read_bytes(path, MOST_BYTES).and_then(|bytes| ForceScript::parse(&bytes));
    script.map_err(|fault| RigError::new(path, fault))
}

fn last(keys: &[(f64, DVec3)], time: f64) -> DVec3 {
    let after = keys.partition_point(|key| key.0 <= time);
    if after == 0 { DVec3::ZERO } else { keys[after - 1].1 }
}

impl ForceScript {
    /// Force at a time (N).
    pub fn force(&self, time: f64) -> DVec3 {
        last(&self.forces, time)
    }

    /// Angular velocity at a time (rad/s).
    pub fn turn(&self, time: f64) -> DVec3 {
        last(&self.turns, time)
    }

    /// Whether the weight is carried at a time.
    pub fn held(&self, time: f64) -> bool {
        let change = self.events.iter().rfind(|(at, what)| *at <= time && *what != Carry::Stop);
        change.is_some_and(|(_, what)| *what == Carry::Hold)
    }

    /// The same as what happens at each of its times.
    pub fn pushes(&self) -> Vec<Push> {
        let mut times: Vec<f64> = self.forces.iter().chain(&self.turns).map(|key| key.0).collect();
        times.extend(self.events.iter().map(|event| event.0));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let push = |&time: &f64| {
            let happens = |what: Carry| self.events.contains(&(time, what));
            Push {
                time,
                newtons: self.force(time),
                stop: happens(Carry::Stop),
                hold: happens(Carry::Hold),
                release: happens(Carry::Release),
                turn: self.turn(time),
            }
        };
        times.iter().map(push).collect()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<ForceScript, Fault> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|e| {
            fault(Place::Byte(e.valid_up_to()), "this is no text (UTF-8)", "give a text file of times and forces")
        })?;
        let mut script = ForceScript::default();
        // Seconds per unit of time, and the time before.
        let (mut tick, mut before) = (1.0, f64::NEG_INFINITY);
        for (i, line) in text.lines().enumerate() {
            let place = Place::Line(i + 1);
            let said = line.split(['#', ';']).next().unwrap_or_default();
            let words: Vec<&str> = said.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty()).collect();
            let Some((&first, rest)) = words.split_first() else { continue };
            if first.eq_ignore_ascii_case("rate") {
                let rate = numbers::<1>(i + 1, rest)?[0];
                if rate <= 0.0 {
                    return Err(fault(place, "the rate is not positive", "give frames per second, such as 'rate 30'"));
                }
                tick = 1.0 / rate;
                continue;
            }
            let time = number(i + 1, first)? * tick;
            if time < before {
                let message = format!("the time {time} s comes after {before} s");
                return Err(fault(place, message, "put the lines in the order of time"));
            }
            before = time;
            let keys = script.forces.len() + script.turns.len() + script.events.len();
            if keys >= MOST_KEYS {
                return Err(fault(place, format!("there are more than {MOST_KEYS} lines"), "use fewer keys"));
            }
            let mut turn = |degrees: DVec3| script.turns.push((time, degrees * (std::f64::consts::PI / 180.0) / tick));
            match rest.first().map(|word| word.to_ascii_lowercase()).as_deref() {
                Some("force") => script.forces.push((time, DVec3::from_array(numbers(i + 1, &rest[1..])?))),
                Some("turn") => turn(DVec3::from_array(numbers(i + 1, &rest[1..])?)),
                Some("stop") => {
                    script.forces.push((time, DVec3::ZERO));
                    script.turns.push((time, DVec3::ZERO));
                    script.events.push((time, Carry::Stop));
                }
                Some("hold") => script.events.push((time, Carry::Hold)),
                Some("release") => script.events.push((time, Carry::Release)),
                Some(_) if rest.len() == 6 => {
                    let [fx, fy, fz, x, y, z] = numbers(i + 1, rest)?;
                    turn(DVec3::new(x, y, z));
                    script.forces.push((time, DVec3::new(fx, fy, fz)));
                }
                Some(word) if word.parse::<f64>().is_ok() => {
                    script.forces.push((time, DVec3::from_array(numbers(i + 1, rest)?)));
                }
                Some(word) => {
                    let word: String = word.chars().take(60).collect();
                    let message = format!("'{word}' is not known");
                    return Err(fault(place, message, "write force, turn, stop, hold or release after the time"));
                }
                None => {
                    let remedy = "write force, turn, stop, hold or release after it";
                    return Err(fault(place, "the time stands alone", remedy));
                }
            }
        }
        if script == ForceScript::default() {
            return Err(fault(
                Place::File,
                "the file says nothing",
                "give at least one line, such as '0 force 2000 0 0'",
            ));
        }
        Ok(script)
    }
}

fn number(line: usize, word: &str) -> Result<f64, Fault> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => {
            let word: String = word.chars().take(60).collect();
            Err(fault(Place::Line(line), format!("'{word}' is no number"), "write it with a decimal point"))
        }
    }
}

fn numbers<const N: usize>(line: usize, words: &[&str]) -> Result<[f64; N], Fault> {
    if words.len() != N {
        let message = format!("{} numbers stand where {N} should", words.len());
        return Err(fault(Place::Line(line), message, "give one for each of x, y and z"));
    }
    let mut out = [0.0; N];
    for (value, word) in out.iter_mut().zip(words) {
        *value = number(line, word)?;
    }
    Ok(out)
}
