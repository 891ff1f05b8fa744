//! Characters of a scene: a rig or a mesh becomes a solid with bones, which a motion drives.
//!
//! ```text
//! file ─open▶ Source{skin, rig} ─frame▶ Frame{bones, joints, weights} ─sample▶ lattice, parts, skin
//! clip or BVH ─play▶ motion of the joints ─drive▶ a moving pin a bone, and where nodes start
//! ```
//! The nodes of a bone are held exactly where the bone has them. Where the pose at t = 0 is not
//! the bind pose the other nodes start blended by their shares in the bones
//! (x = Σ c_b M_b X) with the velocity that has, and settling takes the folds out.

mod drive;
mod frame;
mod source;

pub use drive::{Played, Timing, drive, play};
pub use frame::{Frame, frame};
pub use source::{BUILT_IN, Source, open};

use crate::mesh::Skin;
use crate::scene::{self, CharacterLattice, InsideTest, Shape, SkinWay};
use goop::character::{self, Character, Kind, Sampled, Sampling, Skinning, Test};
use goop::model::Pin;

/// Why a character can't be made: which key, what, and the way out.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// Key below the body, such as `motion.file`.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub hint: String,
}

impl Wrong {
    fn new(key: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Wrong {
        Wrong { key: key.into(), message: message.into(), hint: hint.into() }
    }
}

/// A character ready to be a body.
#[derive(Clone, Debug)]
pub struct Made {
    /// The lattice.
    pub shape: goop::Shape,
    /// What is drawn (m); the node with the largest weight for every vertex.
    pub skin: Skin,
    /// What the body keeps.
    pub sampled: Sampled,
    /// A pin for every bone with nodes.
    pub pins: Vec<Pin>,
    /// What was found and guessed, in sentences.
    pub notes: Vec<String>,
}

/// Samples the character of a body and drives its bones.
pub fn make(body: &scene::Body, clip: &Timing<'_>) -> Result<Made, Wrong> {
    let folder = clip.folder;
    let Shape::Character { file, nodes, rate, lattice, inside, skin, skeleton, height } = &body.shape else {
        return Err(Wrong::new("shape", "this shape is no character", "use shape.character"));
    };
    let source = open(&folder.join(file), *skeleton, *height, body.scale[0])?;
    let mut notes = source.notes.clone();
    let mut sampling = Sampling {
        kind: match lattice {
            CharacterLattice::BodyCentred => Kind::Centred,
            CharacterLattice::Tetrahedra => Kind::Grid,
            CharacterLattice::Relaxed => Kind::Relaxed,
            CharacterLattice::Braced => Kind::Braced,
        },
        test: match inside {
            InsideTest::Winding => Test::Winding,
            InsideTest::Parity => Test::Parity,
        },
        ..Sampling::default()
    };
    if let Some(rate) = rate {
        sampling.rate = *rate;
    }
    let wanted = rate.is_none().then_some(*nodes as usize);
    let frame = frame(&source, body, *skeleton, &sampling, wanted)?;
    let mut made = sample(&source, &frame, sampling, wanted)?;
    notes.extend(told(&made));
    for (b, bone) in frame.bones.iter().enumerate() {
        let part = (0..made.shape.len() as u32).filter(|&i| made.parts.main(i as usize) == b as u32).collect();
        made.shape.groups.insert(bone.name.clone(), part);
    }
    let played = match (&body.motion, &source.rig) {
        (None, _) => None,
        (Some(motion), Some(rig)) => Some(play(rig, motion, folder)?),
        (Some(_), None) => {
            let message = "there is a motion, but the character has no rig that could play it";
            return Err(Wrong::new("motion", message, "use a rigged glTF file, or keys of bones"));
        }
    };
    if let Some(k) = body.bone.iter().position(|bone| bone.drive.is_some()).filter(|_| played.is_some()) {
        let message = format!("forces drive bone '{}', but the motion moves it already", body.bone[k].name);
        return Err(Wrong::new(format!("bone[{k}].drive"), message, "take out `drive`, or `motion`"));
    }
    if let Some(played) = &played {
        notes.extend(played.notes.iter().cloned());
    }
    let (pins, posed) = drive(body, &source, &frame, &made, played.as_ref(), clip)?;
    let mut drawn = source.skin;
    drawn.nodes = (0..made.skin.len())
        .map(|v| made.skin.row(v).fold((0, f64::NEG_INFINITY), |best, (n, w)| if w > best.1 { (n, w) } else { best }).0)
        .collect();
    let skinning = match skin {
        SkinWay::Embedded => Skinning::Map(made.skin),
        SkinWay::Nodes => Skinning::Map(character::SkinMap::on_nodes(
            &drawn.positions,
            &made.shape.rest_positions,
            made.report.spacing,
        )),
        SkinWay::Fit => Skinning::Fit(made.fitted_skin(&drawn.positions)),
        SkinWay::Matrix => Skinning::Matrix(made.fitted_skin(&drawn.positions)),
    };
    let sampled = Sampled {
        skinning,
        depth: made.depth,
        parts: made.parts,
        bones: made.bones,
        bone_nodes: made.bone_nodes,
        posed,
    };
    Ok(Made { shape: made.shape, skin: drawn, sampled, pins, notes })
}

/// Samples a skin with about as many nodes as wanted, or at the rate given.
pub fn sample(
    source: &Source,
    frame: &Frame,
    mut sampling: Sampling,
    wanted: Option<usize>,
) -> Result<Character, Wrong> {
    let Skin { positions, triangles, .. } = &source.skin;
    let build = |sampling: &Sampling| {
        character::build(positions, triangles, &frame.bones, frame.weights.as_ref(), sampling).map_err(|error| {
            Wrong::new("shape.character.file", error.to_string(), "mend the mesh, or sample it otherwise")
        })
    };
    let Some(wanted) = wanted else { return build(&sampling) };
    let side = source.size().min_element();
    let mut spacing = (source.volume() / wanted as f64).cbrt();
    let mut best: Option<Character> = None;
    let off = |made: &Character| (made.shape.len() as f64 / wanted as f64).ln().abs();
    for _ in 0..3 {
        sampling.rate = (side / spacing + 1.0).clamp(2.0, 1000.0);
        let made = build(&sampling)?;
        // Nodes on the skin count by area, those inside by volume.
        spacing *= (made.shape.len() as f64 / wanted as f64).powf(0.4);
        if best.as_ref().is_none_or(|best| off(&made) < off(best)) {
            best = Some(made);
        }
        if best.as_ref().is_some_and(|best| off(best) < 0.1) {
            break;
        }
    }
    best.ok_or_else(|| Wrong::new("shape.character", "nothing was sampled", "raise `nodes`"))
}

/// What the user should know about a lattice.
fn told(made: &Character) -> Vec<String> {
    let report = &made.report;
    let mut notes = Vec::new();
    if !report.closed {
        notes.push("the skin is not closed: what lies mostly within it is taken as inside".into());
    }
    if report.pieces[0] > 1 {
        notes.push(format!("the character has {} pieces that nothing joins", report.pieces[0]));
    }
    if !report.empty_bones.is_empty() {
        let names: Vec<&str> = report.empty_bones.iter().map(String::as_str).take(8).collect();
        notes.push(format!("no node is near these bones, which hold nothing: {}", names.join(", ")));
    }
    notes
}
