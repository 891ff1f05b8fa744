//! A tree of joints at rest.

use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A place relative to the parent: scaled, then turned, then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Where the joint stands (m).
    pub translation: DVec3,
    /// How it is turned.
    pub rotation: DQuat,
    /// Factors along its own axes (-).
    pub scale: DVec3,
}

impl Default for Transform {
    fn default() -> Transform {
        Transform { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE }
    }
}

impl Transform {
    /// As a matrix.
    pub fn affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// The nearest transform to a matrix: shear is lost, a mirror stays in the scale.
    pub fn nearest(affine: &DAffine3) -> Transform {
        let (scale, _, translation) = affine.to_scale_rotation_translation();
        let rotation = rotation_of(affine);
        let scale = if scale.is_finite() { scale } else { DVec3::ONE };
        Transform { translation, rotation, scale }
    }
}

/// The rotation in a matrix: its axes made orthonormal, the mirror taken out.
pub(super) fn rotation_of(affine: &DAffine3) -> DQuat {
    let m = affine.matrix3;
    let x = m.x_axis.normalize_or(DVec3::X);
    let y = (m.y_axis - x * x.dot(m.y_axis)).normalize_or(x.any_orthonormal_vector());
    let x = if m.determinant() < 0.0 { -x } else { x };
    DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize()
}

/// One joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its name; no two joints of a skeleton share one.
    pub name: String,
    /// The joint that carries it; stands before it in the list.
    pub parent: Option<usize>,
    /// Where it stands in its parent when nothing moves.
    pub rest: Transform,
    /// Where its bone ends, in its own axes (m), where the file says so.
    pub end: Option<DVec3>,
}

/// A bone as a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The joint it moves with.
    pub joint: usize,
    /// Where it begins, at the joint (m).
    pub from: DVec3,
    /// Where it ends (m).
    pub to: DVec3,
}

/// Joints, parents before children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    /// The joints.
    pub joints: Vec<Joint>,
}

impl Skeleton {
    /// The world place of every joint, from its place in its parent.
    pub fn world(&self, local: impl Fn(usize) -> DAffine3) -> Vec<DAffine3> {
        let mut world: Vec<DAffine3> = Vec::with_capacity(self.joints.len());
        for (i, joint) in self.joints.iter().enumerate() {
            let place = local(i);
            world.push(joint.parent.map_or(place, |parent| world[parent] * place));
        }
        world
    }

    /// `world_from_joint` of every joint at rest.
    pub fn rest_pose(&self) -> Vec<DAffine3> {
        self.world(|i| self.joints[i].rest.affine())
    }

    /// The joint of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// Children of every joint.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.joints.len()];
        for (i, joint) in self.joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                children[parent].push(i);
            }
        }
        children
    }

    /// Bones in a pose: from every joint to those it carries and to its end. What stands on
    /// its joint has none.
    pub fn segments(&self, pose: &[DAffine3]) -> Vec<Segment> {
        let ends = self.joints.iter().enumerate().filter_map(|(i, j)| Some((i, pose[i].transform_point3(j.end?))));
        let carried = self.joints.iter().enumerate().filter_map(|(i, j)| Some((j.parent?, pose[i].translation)));
        let all = carried.chain(ends).map(|(joint, to)| Segment { joint, from: pose[joint].translation, to });
        let mut all: Vec<Segment> = all.filter(|segment| segment.from.distance(segment.to) > 1e-9).collect();
        all.sort_by_key(|segment| segment.joint);
        all
    }

    /// Whether `joint` is `ancestor` or below it.
    pub fn below(&self, mut joint: usize, ancestor: usize) -> bool {
        while joint > ancestor {
            match self.joints[joint].parent {
                Some(parent) => joint = parent,
                None => return false,
            }
        }
        joint == ancestor
    }
}
