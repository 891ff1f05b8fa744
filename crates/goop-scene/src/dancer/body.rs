//! The dancer's body: a round jelly creature 1.6 m tall, feet apart, arms half raised,
//! facing +z, its own left at +x.
//!
//! Nineteen parts, each a few round shapes about a bone; all melt into one skin. The left
//! side is written down, the right is its mirror image. Joints stand on multiples of
//! 1/1024 m, which add up without rounding.

use super::field::{Shape, blend, ellipsoid, mirror};
use glam::DVec3;

/// Number of parts, and of bones.
pub(super) const PARTS: usize = 19;

/// Parts by number; parents before children, each branch as one stretch.
pub(super) mod part {
    pub(crate) const HIPS: usize = 0;
    pub(crate) const SPINE: usize = 1;
    pub(crate) const CHEST: usize = 2;
    pub(crate) const NECK: usize = 3;
    pub(crate) const HEAD: usize = 4;
    pub(crate) const EAR: [usize; 2] = [5, 6];
    pub(crate) const UPPER_ARM: [usize; 2] = [7, 10];
    pub(crate) const LOWER_ARM: [usize; 2] = [8, 11];
    pub(crate) const HAND: [usize; 2] = [9, 12];
    pub(crate) const UPPER_LEG: [usize; 2] = [13, 16];
    pub(crate) const LOWER_LEG: [usize; 2] = [14, 17];
    pub(crate) const FOOT: [usize; 2] = [15, 18];
}
use part::*;

/// Name, parent and place (m) of every joint.
pub(super) const JOINTS: [(&str, Option<usize>, [f64; 3]); PARTS] = [
    ("Hips", None, [0.0, 0.55, 0.0]),
    ("Spine", Some(HIPS), [0.0, 0.64, 0.0]),
    ("Chest", Some(SPINE), [0.0, 0.77, 0.0]),
    ("Neck", Some(CHEST), [0.0, 0.91, 0.0]),
    ("Head", Some(NECK), [0.0, 0.98, 0.0]),
    ("LeftEar", Some(HEAD), [0.1, 1.37, -0.01]),
    ("RightEar", Some(HEAD), [-0.1, 1.37, -0.01]),
    ("LeftUpperArm", Some(CHEST), [0.15, 0.855, 0.0]),
    ("LeftLowerArm", Some(UPPER_ARM[0]), [0.31, 0.76, 0.0]),
    ("LeftHand", Some(LOWER_ARM[0]), [0.452, 0.676, 0.01]),
    ("RightUpperArm", Some(CHEST), [-0.15, 0.855, 0.0]),
    ("RightLowerArm", Some(UPPER_ARM[1]), [-0.31, 0.76, 0.0]),
    ("RightHand", Some(LOWER_ARM[1]), [-0.452, 0.676, 0.01]),
    ("LeftUpperLeg", Some(HIPS), [0.11, 0.51, 0.0]),
    ("LeftLowerLeg", Some(UPPER_LEG[0]), [0.126, 0.305, 0.012]),
    ("LeftFoot", Some(LOWER_LEG[0]), [0.136, 0.1, 0.0]),
    ("RightUpperLeg", Some(HIPS), [-0.11, 0.51, 0.0]),
    ("RightLowerLeg", Some(UPPER_LEG[1]), [-0.126, 0.305, 0.012]),
    ("RightFoot", Some(LOWER_LEG[1]), [-0.136, 0.1, 0.0]),
];

/// Where a joint is (m).
pub(super) fn joint(part: usize) -> DVec3 {
    DVec3::from_array(JOINTS[part].2.map(|x| (x * 1024.0).round() / 1024.0))
}

/// A shape of a part, and over which width it melts into those before it (m).
struct Piece {
    part: usize,
    shape: Shape,
    width: f64,
    /// A ball around it (m).
    middle: DVec3,
    radius: f64,
}

impl Piece {
    fn new(part: usize, width: f64, shape: Shape) -> Piece {
        let (low, high) = shape.bounds();
        Piece { part, shape, width, middle: (low + high) / 2.0, radius: low.distance(high) / 2.0 }
    }
}

/// The whole body.
pub(super) struct Body {
    pieces: Vec<Piece>,
}

impl Body {
    pub(super) fn new() -> Body {
        let middle = Piece::new;
        let mut pieces = vec![
            middle(HIPS, 0.05, ellipsoid([0.0, 0.545, -0.01], [0.215, 0.155, 0.185])),
            middle(SPINE, 0.1, ellipsoid([0.0, 0.635, 0.015], [0.24, 0.17, 0.21])),
            middle(CHEST, 0.1, ellipsoid([0.0, 0.79, 0.0], [0.172, 0.145, 0.15])),
            middle(NECK, 0.1, ellipsoid([0.0, 0.935, 0.0], [0.115, 0.09, 0.11])),
            middle(HEAD, 0.1, ellipsoid([0.0, 1.19, 0.0], [0.25, 0.21, 0.22])),
            middle(HEAD, 0.1, ellipsoid([0.0, 1.105, 0.02], [0.268, 0.155, 0.218])),
        ];
        let cone = |from: DVec3, to: DVec3, radii| Shape::Cone { from, to, radii };
        let at = DVec3::new;
        let [ear, upper_arm, lower_arm, hand] = [EAR, UPPER_ARM, LOWER_ARM, HAND].map(|part| joint(part[0]));
        let [upper_leg, lower_leg, foot] = [UPPER_LEG, LOWER_LEG, FOOT].map(|part| joint(part[0]));
        // The mitten lies along the arm, its flat side to the front and down.
        let along = (hand - lower_arm).normalize();
        let across = along.cross(DVec3::Z).normalize();
        let mitten = Shape::Ellipsoid {
            middle: hand + along * 0.062,
            radii: at(0.088, 0.068, 0.056),
            axes: [along, across, along.cross(across)],
        };
        let thumb = hand + along * 0.035;
        let left = [
            ([HEAD; 2], 0.02, ellipsoid([0.098, 1.175, 0.195], [0.06, 0.078, 0.034])),
            (EAR, 0.035, cone(ear + at(-0.008, -0.03, 0.0), at(0.15, 1.485, -0.018), [0.046, 0.034])),
            (EAR, 0.04, ellipsoid([0.17, 1.535, -0.02], [0.062, 0.065, 0.06])),
            (UPPER_ARM, 0.06, cone(upper_arm, lower_arm, [0.074, 0.062])),
            (LOWER_ARM, 0.03, cone(lower_arm, hand, [0.062, 0.05])),
            (HAND, 0.04, mitten),
            (HAND, 0.03, cone(thumb, thumb + at(-0.005, 0.02, 0.075), [0.034, 0.026])),
            (UPPER_LEG, 0.05, cone(upper_leg, lower_leg, [0.104, 0.084])),
            (LOWER_LEG, 0.03, cone(lower_leg, foot, [0.084, 0.074])),
            (FOOT, 0.05, ellipsoid([foot.x + 0.008, 0.056, 0.045], [0.092, 0.078, 0.142])),
        ];
        for (part, width, shape) in left {
            pieces.push(Piece::new(part[0], width, shape));
            pieces.push(Piece::new(part[1], width, shape.mirrored()));
        }
        Body { pieces }
    }

    /// Distance from the skin (m), negative inside. The floor makes the soles flat.
    pub(super) fn distance(&self, p: DVec3) -> f64 {
        let all = self.pieces.iter().fold(1.0, |sum, piece| {
            // Too far to matter, even if the distance from an ellipsoid is half the true one.
            let least = (p.distance(piece.middle) - piece.radius) / 2.0;
            if least > sum + piece.width { sum } else { blend(sum, piece.shape.distance(p), piece.width) }
        });
        -blend(-all, p.y, 0.025)
    }

    /// Distance from the shapes of one part (m).
    pub(super) fn of_part(&self, part: usize, p: DVec3) -> f64 {
        let own = self.pieces.iter().filter(|piece| piece.part == part);
        own.map(|piece| piece.shape.distance(p)).fold(f64::MAX, f64::min)
    }

    /// A box around everything (m).
    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        let boxes = self.pieces.iter().map(|piece| piece.shape.bounds());
        boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
    }

    /// How long an edge may be (m): short in the face, on borders of paints and on small parts.
    pub(super) fn edge(p: DVec3) -> f64 {
        let face = ellipsoid([0.0, 1.13, 0.2], [0.19, 0.15, 0.12]).distance(p);
        let side = if p.x < 0.0 { mirror(p) } else { p };
        let small = side.distance(joint(HAND[0])).min(side.distance(DVec3::new(0.17, 1.53, -0.02)) + 0.03) - 0.1;
        if face < 0.0 {
            0.0135
        } else if small < 0.03 {
            0.026
        } else {
            0.045
        }
    }
}

/// A name, a colour (sRGB), and where it is: negative inside, a length (m) near the border.
pub(super) struct Region {
    pub(super) name: &'static str,
    pub(super) colour: u32,
    pub(super) inside: fn(DVec3) -> f64,
}

/// An ellipse seen from the front; what is behind is left out.
fn from_front(p: DVec3, middle: [f64; 2], radii: [f64; 2]) -> f64 {
    let flat = ellipsoid([middle[0], middle[1], 0.0], [radii[0], radii[1], 1.0]);
    if p.z < 0.05 { 1.0 } else { flat.distance(p.with_z(0.0)) }
}

fn both(p: DVec3) -> DVec3 {
    DVec3::new(p.x.abs(), p.y, p.z)
}

/// Paints, each over those before it; the first is everywhere.
pub(super) const REGIONS: [Region; 8] = [
    Region { name: "skin", colour: 0x35b8a6, inside: |_| -1.0 },
    Region {
        name: "belly",
        colour: 0xc6f0dc,
        inside: |p| ellipsoid([0.0, 0.64, 0.21], [0.155, 0.16, 0.14]).distance(p),
    },
    Region {
        name: "boots and mittens",
        colour: 0xff8a5c,
        inside: |p| {
            let (wrist, along) = (joint(HAND[0]), (joint(HAND[0]) - joint(LOWER_ARM[0])).normalize());
            let mitten = (both(p) - wrist).dot(-along) + 0.004;
            let mitten = mitten.max((both(p) - wrist).length() - 0.2);
            let tip = both(p).distance(DVec3::new(0.17, 1.537, -0.02)) - 0.073;
            mitten.min(p.y - 0.118).min(tip)
        },
    },
    Region {
        name: "cheeks",
        colour: 0xff8fa0,
        inside: |p| ellipsoid([0.178, 1.095, 0.172], [0.042, 0.03, 0.05]).distance(both(p)),
    },
    Region { name: "eyes", colour: 0x1b2030, inside: |p| from_front(both(p), [0.098, 1.175], [0.047, 0.064]) },
    Region {
        name: "glints",
        colour: 0xffffff,
        inside: |p| {
            let eye = |x: f64| {
                let large = from_front(p, [x + 0.016, 1.203], [0.0175, 0.02]);
                large.min(from_front(p, [x - 0.014, 1.148], [0.0095, 0.011]))
            };
            eye(0.098).min(eye(-0.098))
        },
    },
    Region { name: "mouth", colour: 0x7c1f3f, inside: mouth },
    Region {
        name: "tongue",
        colour: 0xff6f7f,
        inside: |p| (mouth(p) + 0.0035).max(from_front(p, [0.0, 1.027], [0.04, 0.033])),
    },
];

/// An open smile: a disc below a line that rises at its ends.
fn mouth(p: DVec3) -> f64 {
    let disc = from_front(p, [0.0, 1.098], [0.066, 0.068]);
    let lip = p.y - 1.08 - 5.0 * p.x * p.x;
    disc.max(lip / (1.0 + 100.0 * p.x * p.x).sqrt())
}
