//! Bones and body parts of characters.
//!
//! ```text
//! rest/bones.json   bones in the axes of the skin; the parts that every node belongs to
//! bones.csv         frame,time,body,bone,x,y,z,qx,qy,qz,qw      s, m; a row a bone a frame
//! ```
//! A point p of a bone at rest is at q p + (x, y, z). Bones that hold no node have no rows, and a
//! run without characters has neither file.

use crate::cache::read_limited;
use crate::error::OutputError;
use crate::sequence::expect_count;
use crate::sink::Sink;
use crate::table::{Table, line, number, rows};
use crate::whole;
use glam::{DQuat, DVec3};
use goop::character::{Bone, BoneShape, Sampled};
use goop::frame::Frame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "bones.csv";
const REST: &str = "rest/bones.json";
const COLUMNS: [&str; 11] = ["frame", "time", "body", "bone", "x", "y", "z", "qx", "qy", "qz", "qw"];
/// A file larger than this (bytes) is not read.
const LARGEST: u64 = 1 << 30;
const REMEDY: &str = "run the scene again";

/// The form of a bone at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestForm {
    /// All points within `radius` of a segment (m).
    Capsule {
        /// One end.
        from: [f32; 3],
        /// Other end.
        to: [f32; 3],
        /// Radius.
        radius: f32,
    },
    /// An ellipsoid (m).
    Ellipsoid {
        /// Centre.
        center: [f32; 3],
        /// Orientation, x y z w.
        rotation: [f32; 4],
        /// Half axes.
        radii: [f32; 3],
    },
}

/// A bone at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestBone {
    /// Its name, which is that of the part too.
    pub name: String,
    /// The bone it hangs on.
    pub parent: Option<u32>,
    /// Its form.
    pub form: RestForm,
}

/// The bones of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestBones {
    /// Name of the body.
    pub body: String,
    /// Its bones.
    pub bones: Vec<RestBone>,
    /// Bones and shares that every node belongs to; shares add up to 1.
    pub parts: Vec<Vec<(u32, f32)>>,
}

impl RestBones {
    /// Of a character.
    pub fn of(body: &str, sampled: &Sampled) -> RestBones {
        let bone = |bone: &Bone| RestBone {
            name: bone.name.clone(),
            parent: bone.parent.map(|p| p as u32),
            form: match bone.shape {
                BoneShape::Capsule { from, to, radius } => {
                    RestForm::Capsule { from: from.as_vec3().into(), to: to.as_vec3().into(), radius: radius as f32 }
                }
                BoneShape::Ellipsoid { center, rotation, radii } => RestForm::Ellipsoid {
                    center: center.as_vec3().into(),
                    rotation: rotation.as_quat().into(),
                    radii: radii.as_vec3().into(),
                },
            },
        };
        // Shares of a millionth are more than a colour can show.
        let share = |&(part, share): &(u32, f64)| (part, (1e6 * share).round() as f32 / 1e6);
        RestBones {
            body: body.to_owned(),
            bones: sampled.bones.iter().map(bone).collect(),
            parts: (0..sampled.parts.len()).map(|node| sampled.parts.of(node).iter().map(share).collect()).collect(),
        }
    }

    /// Every number names something that is there and is finite.
    fn fits(&self) -> bool {
        let count = self.bones.len();
        let finite = |values: &[f32]| values.iter().all(|v| v.is_finite());
        let good = |bone: &RestBone| {
            bone.parent.is_none_or(|p| (p as usize) < count)
                && match &bone.form {
                    RestForm::Capsule { from, to, radius } => finite(from) && finite(to) && finite(&[*radius]),
                    RestForm::Ellipsoid { center, rotation, radii } => {
                        finite(center) && finite(rotation) && finite(radii)
                    }
                }
        };
        let parts = self.parts.iter().flatten();
        self.bones.iter().all(good) && parts.clone().all(|(part, share)| (*part as usize) < count && share.is_finite())
    }
}

/// Writes `bones.csv`.
pub struct Bones {
    table: Table,
    /// In the order of the frames: its name, and those of its bones.
    bodies: Vec<(String, Vec<String>)>,
}

impl Bones {
    /// Writes what does not move and starts the table, or goes on from the mark of an earlier run. A
    /// body without bones is `None`.
    pub fn open(run_folder: &Path, bodies: &[Option<RestBones>], mark: Option<u64>) -> Result<Bones, OutputError> {
        if mark.is_none() {
            whole::make_folder(&run_folder.join("rest"))?;
            let with: Vec<&RestBones> = bodies.iter().flatten().collect();
            whole::write_json(&run_folder.join(REST), &with)?;
        }
        let names = |body: &Option<RestBones>| match body {
            Some(rest) => (rest.body.clone(), rest.bones.iter().map(|bone| bone.name.clone()).collect()),
            None => (String::new(), Vec::new()),
        };
        let table = Table::open(&run_folder.join(FILE), &COLUMNS, mark)?;
        Ok(Bones { table, bodies: bodies.iter().map(names).collect() })
    }
}

impl Sink for Bones {
    fn write(&mut self, frame: &Frame) -> Result<(), OutputError> {
        expect_count(frame, "bodies", self.bodies.len(), frame.bodies.len())?;
        let mut text = String::new();
        for ((name, bones), body) in self.bodies.iter().zip(&frame.bodies) {
            for (bone, pose) in bones.iter().zip(&body.bones) {
                let Some((position, rotation)) = pose else { continue };
                let mut fields = vec![frame.index.to_string(), number(frame.time), name.clone(), bone.clone()];
                fields.extend(position.to_array().map(number));
                fields.extend(rotation.to_array().map(number));
                text += &line(&fields);
            }
        }
        self.table.append(&text)
    }

    fn mark(&self) -> u64 {
        self.table.length()
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        self.table.finish()
    }
}

/// Where a bone is: its place (m) and its turn from rest.
pub type Pose = (DVec3, DQuat);

/// Both files, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredBones {
    rest: Vec<RestBones>,
    poses: BTreeMap<(usize, String), BTreeMap<String, Pose>>,
}

impl StoredBones {
    /// Reads what is there; nothing where there are no characters.
    pub fn read(run_folder: &Path) -> Result<StoredBones, OutputError> {
        let mut stored = StoredBones::default();
        let path = run_folder.join(REST);
        if !path.exists() {
            return Ok(stored);
        }
        let bytes = read_limited(&path, LARGEST, REMEDY)?;
        stored.rest = serde_json::from_slice(&bytes)
            .map_err(|error| OutputError::bad(&path, format!("it is no list of bones ({error})"), REMEDY))?;
        if let Some(strange) = stored.rest.iter().find(|rest| !rest.fits()) {
            let what = format!("the bones of {} do not belong together", strange.body);
            return Err(OutputError::bad(&path, what, REMEDY));
        }
        rows(&run_folder.join(FILE), COLUMNS.len(), |fields| {
            let mut values = fields[4..].iter().map_while(|field| field.parse::<f64>().ok());
            let mut next = || values.next();
            let position = DVec3::new(next()?, next()?, next()?);
            let rotation = DQuat::from_xyzw(next()?, next()?, next()?, next()?);
            let of = stored.poses.entry((fields[0].parse().ok()?, fields[2].clone())).or_default();
            of.insert(fields[3].clone(), (position, rotation));
            Some(())
        })?;
        Ok(stored)
    }

    /// The bones of a body with this many nodes.
    pub fn of(&self, body: &str, nodes: usize) -> Option<&RestBones> {
        self.rest.iter().find(|rest| rest.body == body && rest.parts.len() == nodes)
    }

    /// Where the bones of a body are at a frame, in the order at rest.
    pub fn at(&self, frame: usize, body: &str) -> Vec<Option<Pose>> {
        let Some(rest) = self.rest.iter().find(|rest| rest.body == body) else { return Vec::new() };
        let poses = self.poses.get(&(frame, body.to_owned()));
        rest.bones.iter().map(|bone| poses.and_then(|poses| poses.get(&bone.name)).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goop::frame::BodyFrame;

    fn bones() -> RestBones {
        let capsule = RestForm::Capsule { from: [0.0; 3], to: [0.0, 1.0, 0.0], radius: 0.1 };
        let egg = RestForm::Ellipsoid { center: [0.5; 3], rotation: [0.0, 0.0, 0.0, 1.0], radii: [0.1, 0.2, 0.3] };
        RestBones {
            body: "man".into(),
            bones: vec![
                RestBone { name: "arm, \"left\"".into(), parent: None, form: capsule },
                RestBone { name: "head".into(), parent: Some(0), form: egg },
            ],
            parts: vec![vec![(0, 1.0)], vec![(0, 0.25), (1, 0.75)]],
        }
    }

    /// Catches bones that come back as others, in another place or at another frame.
    #[test]
    fn bones_read_back_as_written_also_after_a_resume() {
        let folder = tempfile::tempdir().unwrap();
        let pose = |k: usize| (DVec3::new(k as f64, 0.5, -1.0), DQuat::from_rotation_y(0.1 * k as f64));
        let frame = |k: usize| {
            let man = BodyFrame { bones: vec![Some(pose(k)), None], ..BodyFrame::default() };
            Frame { index: k, bodies: vec![BodyFrame::default(), man], ..Frame::default() }
        };
        let all = [None, Some(bones())];
        let mut sink = Bones::open(folder.path(), &all, None).unwrap();
        sink.write(&frame(0)).unwrap();
        let mark = sink.mark();
        sink.write(&frame(9)).unwrap();
        let mut sink = Bones::open(folder.path(), &all, Some(mark)).unwrap();
        sink.write(&frame(1)).unwrap();
        let stored = StoredBones::read(folder.path()).unwrap();
        assert_eq!(stored.of("man", 2), Some(&bones()));
        assert_eq!(stored.of("man", 3), None);
        assert_eq!(stored.at(1, "man"), vec![Some(pose(1)), None]);
        assert_eq!(stored.at(9, "man"), vec![None, None]);
        assert!(stored.at(0, "ball").is_empty());
    }

    /// Catches a part beyond the bones that are there, which would be an index out of range later.
    #[test]
    fn parts_without_a_bone_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut wrong = bones();
        wrong.parts[0][0].0 = 2;
        Bones::open(folder.path(), &[Some(wrong)], None).unwrap();
        assert!(StoredBones::read(folder.path()).unwrap_err().to_string().contains("bones.json"));
    }
}
