//! Which joint of a motion moves which joint of a rig: a table to print and to correct.

use super::names::{Part, Side};
use super::roles::Role;
use super::skeleton::Skeleton;
use std::fmt;

/// One joint of a rig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its name in the rig.
    pub joint: String,
    /// The joint of the motion that moves it; `None`: it goes with its parent.
    pub source: Option<usize>,
    /// That joint's name.
    pub source_name: Option<String>,
    /// How this came about.
    pub why: String,
}

/// A line for each joint of the rig, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The table.
    pub lines: Vec<Line>,
    /// Names of the motion's joints.
    names: Vec<String>,
}

/// Joints with a role, from the trunk out.
fn with(roles: &[Role], side: Side, part: Part) -> Vec<usize> {
    (0..roles.len()).filter(|&i| roles[i].side == side && roles[i].part == part).collect()
}

impl Mapping {
    /// Joints with the same part; parts with several joints by proportion; joints without
    /// a part by equal names.
    pub fn new(rig: &Skeleton, rig_roles: &[Role], source: &Skeleton, source_roles: &[Role]) -> Mapping {
        let names: Vec<String> = source.joints.iter().map(|joint| joint.name.clone()).collect();
        let mut lines = Vec::with_capacity(rig.joints.len());
        for (i, joint) in rig.joints.iter().enumerate() {
            let role = rig_roles[i];
            let (found, why) = match role.part {
                Part::Other => {
                    let own = |name: &str| name.rsplit(':').next().unwrap_or(name).to_lowercase();
                    let same = names.iter().position(|name| own(name) == own(&joint.name));
                    (same, if same.is_some() { "the names are equal" } else { role.why }.to_string())
                }
                part => {
                    let ours = with(rig_roles, role.side, part);
                    let theirs = with(source_roles, role.side, part);
                    // The last of ours goes with the last of theirs.
                    let place = ours.iter().position(|&joint| joint == i).unwrap_or(0) + 1;
                    let pick = match part {
                        Part::Spine | Part::Neck => (place * theirs.len()).div_ceil(ours.len().max(1)),
                        _ => place,
                    };
                    let found = theirs.get(pick.wrapping_sub(1)).copied();
                    let label = label(role);
                    let why = match found {
                        Some(found) => format!("{label}: {}; the motion's {}", role.why, source_roles[found].why),
                        None => format!("{label}: the motion has none"),
                    };
                    (found, why)
                }
            };
            let source_name = found.map(|found| names[found].clone());
            lines.push(Line { joint: joint.name.clone(), source: found, source_name, why });
        }
        Mapping { lines, names }
    }

    /// Corrects a line: a joint of the rig goes with a joint of the motion, or with none.
    pub fn set(&mut self, joint: &str, source: Option<&str>) -> Result<(), String> {
        let found = match source {
            None => None,
            Some(name) => {
                let found = self.names.iter().position(|own| own == name);
                let found = found.ok_or_else(|| unknown("motion", name, self.names.iter().map(String::as_str)))?;
                Some(found)
            }
        };
        match self.lines.iter_mut().find(|line| line.joint == joint) {
            Some(line) => {
                line.source = found;
                line.source_name = source.map(str::to_string);
                line.why = "told so".to_string();
                Ok(())
            }
            None => Err(unknown("rig", joint, self.lines.iter().map(|line| line.joint.as_str()))),
        }
    }

    /// How many joints of the rig are moved.
    pub fn mapped(&self) -> usize {
        self.lines.iter().filter(|line| line.source.is_some()).count()
    }
}

fn unknown<'a>(what: &str, name: &str, all: impl Iterator<Item = &'a str>) -> String {
    let near = all.map(|own| (strsim::jaro_winkler(own, name), own)).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = near.map_or(String::new(), |(_, own)| format!("; did you mean '{own}'?"));
    format!("the {what} has no joint '{name}'{hint}")
}

fn label(role: Role) -> String {
    let side = match role.side {
        Side::Left => "left ",
        Side::Right => "right ",
        Side::Middle => "",
    };
    let part = match role.part {
        Part::Hips => "hips",
        Part::Spine => "spine",
        Part::Neck => "neck",
        Part::Head => "head",
        Part::Clavicle => "clavicle",
        Part::UpperArm => "upper arm",
        Part::LowerArm => "lower arm",
        Part::Hand => "hand",
        Part::Finger(_) => "finger",
        Part::UpperLeg => "upper leg",
        Part::LowerLeg => "lower leg",
        Part::Foot => "foot",
        Part::Toe => "toes",
        Part::Other => "part",
    };
    format!("{side}{part}")
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let width = |names: &mut dyn Iterator<Item = &str>| names.map(|name| name.chars().count()).max().unwrap_or(0);
        let ours = width(&mut self.lines.iter().map(|line| line.joint.as_str()));
        let theirs = width(&mut self.lines.iter().filter_map(|line| line.source_name.as_deref())).max(4);
        for line in &self.lines {
            let source = line.source_name.as_deref().unwrap_or("none");
            writeln!(f, "{:ours$} ← {source:theirs$}  {}", line.joint, line.why)?;
        }
        Ok(())
    }
}
