//! The text of a BVH file, line by line; the limits hold before memory is taken.

use super::bvh::{Bvh, BvhJoint, Channel};
use crate::mesh::{Fault, Place, fault};
use glam::DVec3;

/// Most joints.
const MOST_JOINTS: usize = 10_000;
/// Most channels of a joint.
const MOST_CHANNELS: usize = 64;
/// Most channel values of all frames.
const MOST_VALUES: usize = 50_000_000;
/// Largest number: more would not survive being added up.
const LARGEST: f64 = 1e12;

/// Lines with their numbers from 1, whichever way they end.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|&b| b == b'\n' || b == b'\r') else {
            rest = None;
            return Some(text);
        };
        rest = Some(&text[end + if text[end..].starts_with(b"\r\n") { 2 } else { 1 }..]);
        Some(&text[..end])
    })
    .enumerate()
    .map(|(i, line)| (i + 1, line))
}

/// What a brace opens.
#[derive(Clone, Copy)]
enum Block {
    Joint(usize),
    End(usize),
}

/// Lines of numbers, as they compare with a frame.
#[derive(Default)]
struct Rows {
    declared: Option<(usize, usize)>,
    /// Lines that hold one frame; lines that do not; the first of these.
    whole: usize,
    odd: usize,
    first_odd: (usize, usize),
    /// Line and length of the last.
    last: (usize, usize),
}

/// What has been read so far.
#[derive(Default)]
pub(super) struct Reader {
    bvh: Bvh,
    begun: bool,
    open: Vec<Block>,
    announced: Option<Block>,
    /// Numbers of an offset still to come, and channel names still to come.
    numbers: Vec<f64>,
    in_offset: bool,
    names: usize,
    rows: Option<Rows>,
}

fn show(word: &str) -> String {
    word.chars().take(60).collect()
}

fn number(line: usize, word: &str) -> Result<f64, Fault> {
    match word.parse::<f64>() {
        Ok(value) if value.abs() < LARGEST => Ok(value),
        Ok(_) => {
            let message = format!("'{}' is no length and no angle", show(word));
            Err(fault(Place::Line(line), message, "correct the number"))
        }
        Err(_) => {
            let message = format!("'{}' is not a number", show(word));
            Err(fault(Place::Line(line), message, "write it with a decimal point"))
        }
    }
}

impl Reader {
    pub(super) fn line(&mut self, line: usize, text: &str) -> Result<(), Fault> {
        if self.rows.is_none() { self.hierarchy(line, text) } else { self.motion(line, text) }
    }

    /// A line before MOTION.
    fn hierarchy(&mut self, line: usize, text: &str) -> Result<(), Fault> {
        let place = Place::Line(line);
        let spaced = text.replace('{', " { ").replace('}', " } ");
        let mut words = spaced.split_whitespace();
        while let Some(word) = words.next() {
            if self.in_offset {
                let value = number(line, word)?;
                self.numbers.push(value);
                if self.numbers.len() == 3 {
                    self.offset();
                }
                continue;
            }
            if self.names > 0 {
                self.channel(line, word)?;
                continue;
            }
            match word.to_ascii_uppercase().as_str() {
                "HIERARCHY" => self.begun = true,
                _ if !self.begun => {
                    let message = format!("'{}' stands where HIERARCHY should", show(word));
                    return Err(fault(place, message, "give a BVH file, which begins with that word"));
                }
                kind @ ("ROOT" | "JOINT") => {
                    let name = self.name(&mut words);
                    self.joint(line, kind, name)?;
                }
                "END" => {
                    self.name(&mut words);
                    match self.open.last() {
                        Some(&Block::Joint(joint)) if self.announced.is_none() => {
                            self.announced = Some(Block::End(joint));
                        }
                        _ => return Err(fault(place, "an end site stands outside a joint", "put it in a joint")),
                    }
                }
                "{" => match self.announced.take() {
                    Some(block) => self.open.push(block),
                    None => return Err(fault(place, "a brace opens nothing", "name a joint before it")),
                },
                "}" => {
                    if self.open.pop().is_none() {
                        return Err(fault(place, "a brace closes what was not opened", "remove it"));
                    }
                }
                "OFFSET" if !self.open.is_empty() => self.in_offset = true,
                "CHANNELS" if matches!(self.open.last(), Some(Block::Joint(_))) => {
                    let count = words.next().and_then(|word| word.parse::<usize>().ok());
                    let Some(count) = count.filter(|&count| count <= MOST_CHANNELS) else {
                        let remedy = format!("give a whole number up to {MOST_CHANNELS} and as many names");
                        return Err(fault(place, "the number of channels is missing or too great", remedy));
                    };
                    self.names = count;
                }
                "MOTION" => {
                    if !self.open.is_empty() || self.announced.is_some() {
                        let message = "MOTION begins before all joints are closed";
                        return Err(fault(place, message, "add the missing closing braces"));
                    }
                    self.rows = Some(Rows::default());
                    let rest: Vec<&str> = words.collect();
                    return if rest.is_empty() { Ok(()) } else { self.motion(line, &rest.join(" ")) };
                }
                _ => {
                    let message = format!("'{}' is no word of a BVH file here", show(word));
                    return Err(fault(place, message, "use ROOT, JOINT, End Site, OFFSET, CHANNELS, { and }"));
                }
            }
        }
        Ok(())
    }

    /// The rest of a line as a name, up to a brace, which counts too.
    fn name<'a>(&mut self, words: &mut (impl Iterator<Item = &'a str> + Clone)) -> String {
        let mut name = String::new();
        while let Some(word) = words.clone().next().filter(|word| !matches!(*word, "{" | "}")) {
            words.next();
            if !name.is_empty() {
                name.push(' ');
            }
            name += word;
        }
        name
    }

    fn joint(&mut self, line: usize, kind: &str, name: String) -> Result<(), Fault> {
        let place = Place::Line(line);
        let parent = match (self.open.last(), kind) {
            _ if self.announced.is_some() => {
                return Err(fault(place, "the joint before has no opening brace", "add it"));
            }
            (Some(&Block::Joint(parent)), _) => Some(parent),
            (None, "ROOT") => None,
            (None, _) => return Err(fault(place, "a JOINT stands outside the ROOT", "put it in, or call it ROOT")),
            (Some(Block::End(_)), _) => return Err(fault(place, "an end site holds a joint", "make it a JOINT")),
        };
        let bvh = &mut self.bvh;
        if bvh.joints.len() == MOST_JOINTS {
            return Err(fault(place, format!("there are more than {MOST_JOINTS} joints"), "export fewer"));
        }
        if parent.is_none() && !bvh.joints.is_empty() {
            bvh.warnings.push(format!("line {line}: there is more than one ROOT; all are read"));
        }
        let name = if name.is_empty() { format!("joint {}", bvh.joints.len()) } else { name };
        let offset = DVec3::ZERO;
        bvh.joints.push(BvhJoint { name, parent, offset, end: None, channels: Vec::new(), first: bvh.channels });
        self.announced = Some(Block::Joint(bvh.joints.len() - 1));
        Ok(())
    }

    /// Three numbers are there: the offset of what is open.
    fn offset(&mut self) {
        let offset = DVec3::from_slice(&self.numbers);
        match self.open.last() {
            Some(&Block::Joint(joint)) => self.bvh.joints[joint].offset = offset,
            // Of several end sites the first counts.
            Some(&Block::End(joint)) => {
                self.bvh.joints[joint].end.get_or_insert(offset);
            }
            None => {}
        }
        self.numbers.clear();
        self.in_offset = false;
    }

    fn channel(&mut self, line: usize, word: &str) -> Result<(), Fault> {
        let lower = word.to_ascii_lowercase();
        let axis = lower.bytes().next().and_then(|letter| b"xyz".iter().position(|&axis| axis == letter));
        let channel = match (axis, lower.get(1..)) {
            (Some(axis), Some("position")) => Channel::Position(axis),
            (Some(axis), Some("rotation")) => Channel::Rotation(axis),
            _ => {
                let message = format!("'{}' is no channel", show(word));
                let remedy = "name as many as announced: Xposition … Zposition, Xrotation … Zrotation";
                return Err(fault(Place::Line(line), message, remedy));
            }
        };
        if let Some(&Block::Joint(joint)) = self.open.last() {
            let joint = &mut self.bvh.joints[joint];
            if joint.channels.len() >= MOST_CHANNELS || joint.first + joint.channels.len() != self.bvh.channels {
                let remedy = "give them once, before its children";
                return Err(fault(Place::Line(line), "the channels of a joint are given in parts", remedy));
            }
            joint.channels.push(channel);
            self.bvh.channels += 1;
        }
        self.names -= 1;
        Ok(())
    }

    /// A line after MOTION.
    fn motion(&mut self, line: usize, text: &str) -> Result<(), Fault> {
        let place = Place::Line(line);
        let text = text.trim();
        let Some(rows) = &mut self.rows else { return Ok(()) };
        if text.is_empty() {
            return Ok(());
        }
        if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("frame")) {
            let (value, time) = match text.to_ascii_lowercase() {
                lower if lower.starts_with("frames") => (lower[6..].to_string(), false),
                lower => match lower[5..].trim_start().strip_prefix("time") {
                    Some(rest) => (rest.to_string(), true),
                    None => return Err(fault(place, format!("'{}' is not known", show(text)), "write 'Frame Time:'")),
                },
            };
            let value = value.trim_start_matches([':', ' ', '\t', '=']).trim();
            if time {
                let seconds = number(line, value)?;
                if seconds <= 0.0 {
                    let message = format!("the frame time {seconds} is not positive");
                    return Err(fault(place, message, "give the seconds from frame to frame"));
                }
                self.bvh.frame_time = seconds;
            } else {
                // A wrong count does no harm: the rows are counted.
                rows.declared = Some((line, value.parse::<f64>().map_or(usize::MAX, |count| count as usize)));
            }
            return Ok(());
        }
        if self.bvh.frame_time == 0.0 {
            return Err(fault(place, "numbers begin before the frame time", "add a line 'Frame Time: …' before them"));
        }
        let mut count = 0;
        for word in text.split_whitespace() {
            self.bvh.values.push(number(line, word)?);
            count += 1;
            if self.bvh.values.len() > MOST_VALUES {
                let message = format!("there are more than {MOST_VALUES} numbers");
                return Err(fault(place, message, "cut the motion into pieces"));
            }
        }
        if count == self.bvh.channels {
            rows.whole += 1;
        } else {
            if rows.odd == 0 {
                rows.first_odd = (line, count);
            }
            rows.odd += 1;
        }
        rows.last = (line, count);
        Ok(())
    }

    pub(super) fn finish(self, last: usize) -> Result<Bvh, Fault> {
        let end = Place::Line(last);
        let mut bvh = self.bvh;
        if !self.begun || bvh.joints.is_empty() {
            return Err(fault(end, "the file ends before any joint", "give a BVH file with a HIERARCHY and a ROOT"));
        }
        let Some(rows) = self.rows else {
            return Err(fault(end, "the file ends before MOTION", "export it again; it may be cut short"));
        };
        if bvh.frame_time == 0.0 {
            return Err(fault(end, "the frame time is missing", "add a line 'Frame Time: …' after MOTION"));
        }
        let (line, count) = rows.first_odd;
        let channels = bvh.channels;
        let cut = rows.whole > 0 && rows.odd == 1 && rows.last.0 == line && count < channels;
        let wrapped = rows.whole == 0 && (count < channels || count.checked_rem(channels) == Some(0));
        if rows.odd > 0 && !cut && !wrapped {
            let message = format!("the line has {count} numbers, but a frame has {channels}");
            return Err(fault(Place::Line(line), message, "give one number for each channel of the HIERARCHY"));
        }
        bvh.frames = bvh.values.len().checked_div(channels).unwrap_or(0);
        if bvh.values.len() > bvh.frames * channels {
            bvh.values.truncate(bvh.frames * channels);
            bvh.warnings.push(format!("line {}: the last frame is cut short and left out", rows.last.0));
        }
        match rows.declared {
            None => bvh.warnings.push(format!("the header has no number of frames; {} follow", bvh.frames)),
            Some((line, declared)) if declared != bvh.frames => {
                let declared = if declared == usize::MAX { "no whole number of".into() } else { declared.to_string() };
                let frames = bvh.frames;
                bvh.warnings.push(format!(
                    "line {line}: the header declares {declared} frames, but {frames} follow and are used"
                ));
            }
            Some(_) => {}
        }
        Ok(bvh)
    }
}
