//! What the name of a joint says, in the conventions that are about: CMU and
//! MotionBuilder (LeftUpLeg), Mixamo (mixamorig:LeftUpLeg), Biovision (LeftHip,
//! LeftKnee), DAZ and Poser (lThigh, rShldr), Unreal (thigh_l), Blender (thigh.L),
//! 3ds Max (Bip01 L Thigh), the raw CMU names (lfemur).
//!
//! A name is cut into words, the side is taken out, prefixes and numbers are dropped,
//! and what is left is looked up. Some words mean different joints in different
//! conventions (shoulder, hip, arm, leg): those stay open here, and `roles` settles them
//! by what else the skeleton has.

/// Which side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The body's own left.
    Left,
    /// The body's own right.
    Right,
    /// Neither.
    Middle,
}

/// What part of a body a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The root of legs and spine.
    Hips,
    /// Between hips and neck; there may be several.
    Spine,
    /// Between spine and head; there may be several.
    Neck,
    /// The head.
    Head,
    /// Between spine and upper arm.
    Clavicle,
    /// From the shoulder down.
    UpperArm,
    /// From the elbow down.
    LowerArm,
    /// From the wrist down.
    Hand,
    /// A finger, thumb 0 … little finger 4; there may be several joints.
    Finger(u8),
    /// From the hip down.
    UpperLeg,
    /// From the knee down.
    LowerLeg,
    /// From the ankle down.
    Foot,
    /// From the ball of the foot on.
    Toe,
    /// None of these.
    Other,
}

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// This part for sure.
    Is(Part),
    /// Clavicle or upper arm.
    Shoulder,
    /// Some joint of an arm.
    Arm,
    /// Hips without a side; with one, upper leg or what lies before it.
    Hip,
    /// Some joint of a leg.
    Leg,
    /// Nothing known.
    Nothing,
}

/// Whole names, once side, numbers and prefixes are gone.
const WORDS: &[(&str, Word)] = &[
    ("hips", Word::Is(Part::Hips)),
    ("pelvis", Word::Is(Part::Hips)),
    ("hip", Word::Hip),
    ("spine", Word::Is(Part::Spine)),
    ("abdomen", Word::Is(Part::Spine)),
    ("chest", Word::Is(Part::Spine)),
    ("torso", Word::Is(Part::Spine)),
    ("thorax", Word::Is(Part::Spine)),
    ("waist", Word::Is(Part::Spine)),
    ("trunk", Word::Is(Part::Spine)),
    ("back", Word::Is(Part::Spine)),
    ("neck", Word::Is(Part::Neck)),
    ("head", Word::Is(Part::Head)),
    ("clavicle", Word::Is(Part::Clavicle)),
    ("clav", Word::Is(Part::Clavicle)),
    ("collar", Word::Is(Part::Clavicle)),
    ("collarbone", Word::Is(Part::Clavicle)),
    ("scapula", Word::Is(Part::Clavicle)),
    ("shoulder", Word::Shoulder),
    ("shldr", Word::Shoulder),
    ("arm", Word::Arm),
    ("uparm", Word::Is(Part::UpperArm)),
    ("upperarm", Word::Is(Part::UpperArm)),
    ("armupper", Word::Is(Part::UpperArm)),
    ("humerus", Word::Is(Part::UpperArm)),
    ("shldrbend", Word::Is(Part::UpperArm)),
    ("forearm", Word::Is(Part::LowerArm)),
    ("lowarm", Word::Is(Part::LowerArm)),
    ("lowerarm", Word::Is(Part::LowerArm)),
    ("armlower", Word::Is(Part::LowerArm)),
    ("forearmbend", Word::Is(Part::LowerArm)),
    ("elbow", Word::Is(Part::LowerArm)),
    ("radius", Word::Is(Part::LowerArm)),
    ("hand", Word::Is(Part::Hand)),
    ("wrist", Word::Is(Part::Hand)),
    ("thumb", Word::Is(Part::Finger(0))),
    ("index", Word::Is(Part::Finger(1))),
    ("mid", Word::Is(Part::Finger(2))),
    ("middle", Word::Is(Part::Finger(2))),
    ("ring", Word::Is(Part::Finger(3))),
    ("pinky", Word::Is(Part::Finger(4))),
    ("pinkie", Word::Is(Part::Finger(4))),
    ("little", Word::Is(Part::Finger(4))),
    ("upleg", Word::Is(Part::UpperLeg)),
    ("upperleg", Word::Is(Part::UpperLeg)),
    ("legupper", Word::Is(Part::UpperLeg)),
    ("thigh", Word::Is(Part::UpperLeg)),
    ("thighbend", Word::Is(Part::UpperLeg)),
    ("femur", Word::Is(Part::UpperLeg)),
    ("leg", Word::Leg),
    ("shin", Word::Is(Part::LowerLeg)),
    ("calf", Word::Is(Part::LowerLeg)),
    ("knee", Word::Is(Part::LowerLeg)),
    ("lowleg", Word::Is(Part::LowerLeg)),
    ("lowerleg", Word::Is(Part::LowerLeg)),
    ("leglower", Word::Is(Part::LowerLeg)),
    ("tibia", Word::Is(Part::LowerLeg)),
    ("foot", Word::Is(Part::Foot)),
    ("ankle", Word::Is(Part::Foot)),
    ("toe", Word::Is(Part::Toe)),
    ("toes", Word::Is(Part::Toe)),
    ("ball", Word::Is(Part::Toe)),
];

/// Middle-of-the-body words that also count within a longer one: upperback, lowerneck.
const WITHIN: &[(&str, Word)] = &[
    ("spine", Word::Is(Part::Spine)),
    ("abdomen", Word::Is(Part::Spine)),
    ("chest", Word::Is(Part::Spine)),
    ("torso", Word::Is(Part::Spine)),
    ("back", Word::Is(Part::Spine)),
    ("neck", Word::Is(Part::Neck)),
    ("thumb", Word::Is(Part::Finger(0))),
    ("index", Word::Is(Part::Finger(1))),
    ("middle", Word::Is(Part::Finger(2))),
    ("ring", Word::Is(Part::Finger(3))),
    ("pinky", Word::Is(Part::Finger(4))),
];

/// Words that say nothing about the part.
const NOISE: &[&str] = &[
    "b",
    "bip",
    "biped",
    "bone",
    "joint",
    "jnt",
    "skeleton",
    "skel",
    "mixamorig",
    "rig",
    "def",
    "org",
    "cc",
    "base",
    "armature",
    "sk",
    "character",
    "bind",
];

/// Words that make a joint a helper, whatever else its name says.
const HELPERS: &[&str] = &[
    "end",
    "nub",
    "top",
    "twist",
    "roll",
    "ik",
    "fk",
    "pole",
    "target",
    "eye",
    "ear",
    "jaw",
    "hair",
    "tail",
    "brow",
    "lid",
    "socket",
    "metacarpal",
    "carpal",
    "metatarsals",
    "tongue",
    "teeth",
    "breast",
    "pectoral",
    "buttock",
    "weapon",
    "prop",
    "helper",
    "ctrl",
    "control",
];

/// Side and meaning of a name.
pub(super) fn read_name(name: &str) -> (Side, Word) {
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    let words = words(own);
    if words.iter().any(|word| HELPERS.contains(&word.as_str())) {
        return (side_of(&words), Word::Nothing);
    }
    let side = side_of(&words);
    let key: String = words
        .iter()
        .filter(|word| side_word(word).is_none() && !NOISE.contains(&word.as_str()))
        .map(String::as_str)
        .collect();
    let found = look_up(&key);
    if side != Side::Middle || found != Word::Nothing {
        return (side, found);
    }
    // All in one case: leftupleg, lfemur, thighleft.
    for (mark, side) in [("left", Side::Left), ("right", Side::Right), ("l", Side::Left), ("r", Side::Right)] {
        for rest in [key.strip_prefix(mark), key.strip_suffix(mark)].into_iter().flatten() {
            let found = look_up(rest);
            if found != Word::Nothing {
                return (side, found);
            }
        }
    }
    (Side::Middle, Word::Nothing)
}

fn look_up(key: &str) -> Word {
    let key = key.strip_suffix("joint").filter(|rest| !rest.is_empty()).unwrap_or(key);
    let exact = WORDS.iter().find(|(word, _)| *word == key);
    // Fingers and the like named after their hand: handindex.
    let after = key.strip_prefix("hand").and_then(|rest| WORDS.iter().find(|(word, _)| *word == rest));
    let within = || WITHIN.iter().find(|(word, _)| key.contains(word));
    exact.or(after).or_else(within).map_or(Word::Nothing, |&(_, found)| found)
}

fn side_word(word: &str) -> Option<Side> {
    match word {
        "l" | "left" | "lft" | "lf" => Some(Side::Left),
        "r" | "right" | "rgt" | "rt" => Some(Side::Right),
        _ => None,
    }
}

fn side_of(words: &[String]) -> Side {
    words.iter().find_map(|word| side_word(word)).unwrap_or(Side::Middle)
}

/// Runs of letters, cut where capitals begin a word, in lower case: `LThumb` → l, thumb.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().take(200).collect();
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for (i, &letter) in letters.iter().enumerate() {
        if !letter.is_alphabetic() {
            open = false;
            continue;
        }
        let before = i.checked_sub(1).map(|i| letters[i]);
        let rises = letter.is_uppercase() && before.is_some_and(char::is_lowercase);
        let capital = letter.is_uppercase()
            && before.is_some_and(char::is_uppercase)
            && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        if !open || rises || capital {
            words.push(String::new());
        }
        open = true;
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}
