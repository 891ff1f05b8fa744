//! The nodes of a glTF file that matter to a rig: joints, what carries them, and nodes
//! that show a mesh without a skin.

use super::distinguish;
use super::skeleton::{Joint, Skeleton, Transform};
use crate::mesh::gltf::{absent, children, parents, shown, transform};
use crate::mesh::{Fault, Place, fault};
use glam::{DAffine3, DQuat, DVec3};
use gltf::json;

/// Most joints of a file.
pub(super) const MOST_JOINTS: usize = 10_000;

/// A mesh shown by a node.
pub(super) struct Instance<'a> {
    pub(super) node: usize,
    pub(super) mesh: &'a json::Mesh,
    pub(super) skin: Option<usize>,
}

/// The skeleton and where the file's nodes are in it.
pub(super) struct Tree<'a> {
    pub(super) skeleton: Skeleton,
    /// Joint of every node.
    pub(super) joint: Vec<Option<usize>>,
    /// In the order of the nodes, as the mesh reader has them.
    pub(super) instances: Vec<Instance<'a>>,
    /// Where every node is at rest.
    pub(super) world: Vec<DAffine3>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(root: &'a json::Root) -> Result<Tree<'a>, Fault> {
        let (parents, shown) = (parents(root)?, shown(root)?);
        let mut instances = Vec::new();
        let mut wanted = vec![false; parents.len()];
        let mut want = |mut node: usize| {
            // Up to the root, or to what is wanted already.
            while !std::mem::replace(&mut wanted[node], true) {
                let Some(parent) = parents[node] else { break };
                node = parent;
            }
        };
        for (i, node) in root.nodes.iter().enumerate().filter(|(i, _)| shown[*i]) {
            let Some(mesh) = node.mesh else { continue };
            let mesh = root.get(mesh).ok_or_else(|| absent(&format!("mesh {}", mesh.value())))?;
            let skin = node.skin.map(|skin| skin.value());
            match skin {
                None => want(i),
                Some(skin) => {
                    let joints = &root.skins.get(skin).ok_or_else(|| absent(&format!("skin {skin}")))?.joints;
                    if joints.is_empty() {
                        let message = format!("skin {skin} has no joints");
                        return Err(fault(Place::File, message, "export the file with its bones"));
                    }
                    for joint in joints {
                        let node = joint.value();
                        if node >= parents.len() {
                            return Err(absent(&format!("joint {node}")));
                        }
                        want(node);
                    }
                }
            }
            instances.push(Instance { node: i, mesh, skin });
        }
        if instances.is_empty() {
            return Err(fault(Place::File, "no scene shows a mesh", "export the mesh with its bones"));
        }
        let count = wanted.iter().filter(|wanted| **wanted).count();
        if count > MOST_JOINTS {
            let message = format!("{count} joints are too many");
            return Err(fault(Place::File, message, format!("export at most {MOST_JOINTS}")));
        }
        let (skeleton, joint) = order(root, &parents, &wanted);
        let mut world = vec![DAffine3::IDENTITY; parents.len()];
        let mut open: Vec<usize> = (0..parents.len()).filter(|&node| parents[node].is_none()).collect();
        while let Some(node) = open.pop() {
            let above = parents[node].map_or(DAffine3::IDENTITY, |parent| world[parent]);
            world[node] = above * transform(&root.nodes[node]);
            open.extend(children(root, node));
        }
        Ok(Tree { skeleton, joint, instances, world })
    }
}

/// The wanted nodes, parents first, children in the file's order.
fn order(root: &json::Root, parents: &[Option<usize>], wanted: &[bool]) -> (Skeleton, Vec<Option<usize>>) {
    let mut joint = vec![None; parents.len()];
    let mut joints = Vec::new();
    let mut open: Vec<usize> = (0..parents.len()).rev().filter(|&n| wanted[n] && parents[n].is_none()).collect();
    while let Some(node) = open.pop() {
        joint[node] = Some(joints.len());
        let name = root.nodes[node].name.clone().filter(|name| !name.trim().is_empty());
        joints.push(Joint {
            name: name.unwrap_or_else(|| format!("node {node}")),
            parent: parents[node].and_then(|parent| joint[parent]),
            rest: rest(&root.nodes[node]),
            end: None,
        });
        let mut below: Vec<usize> = children(root, node).filter(|&child| wanted[child]).collect();
        below.reverse();
        open.extend(below);
    }
    distinguish(&mut joints);
    (Skeleton { joints }, joint)
}

/// A node's own place. A matrix is taken apart; shear is lost.
fn rest(node: &json::Node) -> Transform {
    if node.matrix.is_some() {
        return Transform::nearest(&transform(node));
    }
    let vector = |[x, y, z]: [f32; 3]| DVec3::new(x.into(), y.into(), z.into());
    let rotation = DQuat::from_array(node.rotation.unwrap_or_default().0.map(f64::from));
    Transform {
        translation: vector(node.translation.unwrap_or_default()),
        rotation: if rotation.length() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY },
        scale: vector(node.scale.unwrap_or([1.0; 3])),
    }
}

/// Whether all numbers of a matrix are finite and it can be turned round.
pub(super) fn sound(place: &DAffine3) -> bool {
    place.is_finite() && place.matrix3.determinant().abs() > 1e-30 && place.inverse().is_finite()
}
