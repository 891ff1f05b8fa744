//! From a skin and bones to a body.

use super::bones::{Bone, rigid_nodes};
use super::inside::Inside;
use super::lattice::{Centred, Lattice, cubes, stuffed};
use super::parts::{Parts, related};
use super::quality::{self, Quality};
use super::sampling::{Field, Kind, Sampling};
use super::skin::{FittedSkin, SkinMap};
use super::thin::{Balls, medial};
use crate::shape::{LEAST_SIZE, MOST_SIZE, Shape, ShapeError};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Pieces with less of the volume than this are dropped.
const TINY: f64 = 0.002;

/// Why a character can't be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CharacterError {
    /// Nothing to fill.
    #[error("the skin has no triangle with an area: give it a mesh that encloses something")]
    NoSkin,
    /// A triangle that names a vertex which is not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are {count}: correct the index")]
    NoSuchVertex {
        /// Which, from 0.
        triangle: usize,
        /// The index given.
        vertex: u32,
        /// Vertices there are.
        count: usize,
    },
    /// A vertex that is not finite or too far away.
    #[error("vertex {vertex} is not a finite position within 1e9 m of the origin: correct its coordinates")]
    Vertex {
        /// Which, from 0.
        vertex: usize,
    },
    /// A skin without extent.
    #[error("the skin is flat: its shortest side is {side} m; a body needs all three")]
    Flat {
        /// Shortest side of the bounding box (m).
        side: f64,
    },
    /// A sampling rate that makes no lattice.
    #[error("the sampling rate is {rate}: give from 2 to 1000 nodes along the shortest side")]
    Rate {
        /// As given.
        rate: f64,
    },
    /// A finer lattice than memory is meant for.
    #[error("{points} lattice points are too many (the limit is {most}): lower the sampling rate")]
    TooFine {
        /// That this rate takes.
        points: usize,
        /// The limit.
        most: usize,
    },
    /// A mesh with no inside.
    #[error("no lattice point is inside the skin: close its holes, or raise the sampling rate")]
    Nothing,
    /// Weights for another number of vertices or bones.
    #[error("skin weights are given for {given} vertices, but the skin has {vertices}: give one row for each")]
    Weights {
        /// Rows given.
        given: usize,
        /// Vertices there are.
        vertices: usize,
    },
    /// The lattice is no shape.
    #[error("the lattice can't be used: {0}")]
    Shape(#[from] ShapeError),
}

/// What was found and done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Sampling distance h (m).
    pub spacing: f64,
    /// Whether the skin is closed once corners in the same place are one.
    pub closed: bool,
    /// Triangles that faced the wrong way.
    pub turned: usize,
    /// Volume inside the skin (that of the cells, where the skin is open or runs through itself),
    /// and of the cells (m³).
    pub volumes: [f64; 2],
    /// Balls that thicken thin parts.
    pub thickened: usize,
    /// Cells removed because they bridged a gap.
    pub bridges: usize,
    /// Connected pieces kept, and dropped as tiny.
    pub pieces: [usize; 2],
    /// Nodes moved onto bones.
    pub moved: usize,
    /// Bones that hold no node.
    pub empty_bones: Vec<String>,
    /// Shape of the cells.
    pub quality: Quality,
    /// Skin vertices outside all cells, and the furthest (m).
    pub outside: usize,
    /// How far the furthest is from its cell (m).
    pub furthest: f64,
}

/// A sampled character.
#[derive(Clone, Debug)]
pub struct Character {
    /// The lattice; its nodes share the volume of the skin.
    pub shape: Shape,
    /// The bones as given.
    pub bones: Vec<Bone>,
    /// Nodes that are rigid with each bone.
    pub bone_nodes: Vec<Vec<u32>>,
    /// Shares of every node in the parts, one a bone.
    pub parts: Parts,
    /// The skin on the nodes.
    pub skin: SkinMap,
    /// Depth of every node under the skin (m).
    pub depth: Vec<f64>,
    /// What was found and done.
    pub report: Report,
}

impl Character {
    /// The skin by low-order fits, one a part: vertices share in parts as the nodes around them do.
    pub fn fitted_skin(&self, vertices: &[DVec3]) -> FittedSkin {
        let rows = (0..self.skin.len()).map(|v| {
            let mut row: Vec<(u32, f64)> = Vec::new();
            for (node, weight) in self.skin.row(v) {
                for &(part, share) in self.parts.of(node as usize) {
                    match row.iter_mut().find(|r| r.0 == part) {
                        Some(r) => r.1 += weight.max(0.0) * share,
                        None => row.push((part, weight.max(0.0) * share)),
                    }
                }
            }
            row
        });
        let shares = Parts::from_rows(self.parts.count, rows);
        FittedSkin::new(&self.shape.rest_positions, &self.parts, vertices, shares)
    }
}

/// Samples a skin with bones. `weights` are the rig's own, by vertex and bone.
pub fn build(
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    bones: &[Bone],
    weights: Option<&Parts>,
    sampling: &Sampling,
) -> Result<Character, CharacterError> {
    check(positions, triangles, weights, sampling)?;
    let skin = Inside::new(positions, triangles);
    let bounds = skin.bounds();
    if bounds[0].x > bounds[1].x {
        return Err(CharacterError::NoSkin);
    }
    let side = (bounds[1] - bounds[0]).min_element();
    if side < LEAST_SIZE || side < 1e-6 * (bounds[1] - bounds[0]).max_element() {
        return Err(CharacterError::Flat { side });
    }
    let h = sampling.spacing(bounds);
    let mut report = Report { spacing: h, closed: skin.closed(), turned: skin.turned(), ..Report::default() };
    let centred = Centred::new(bounds, h * 2f64.cbrt());
    if centred.len() > sampling.most_points {
        return Err(CharacterError::TooFine { points: centred.len(), most: sampling.most_points });
    }
    let mut field = Field { skin: &skin, test: sampling.test, balls: Balls::default() };
    if sampling.thicken {
        field.balls = thicken(&field, positions, triangles, h, sampling.kind, &centred);
        report.thickened = field.balls.count;
    }
    let mut lattice = match sampling.kind {
        Kind::Centred => stuffed(&field, &centred),
        Kind::Grid | Kind::Relaxed => cubes(&field, bounds, h, false),
        Kind::Braced => cubes(&field, bounds, h, true),
    };
    if lattice.cells.is_empty() {
        return Err(CharacterError::Nothing);
    }
    if sampling.kind == Kind::Centred {
        report.bridges = lattice.cut_bridges(&field, h);
    }
    report.bridges += cut_limbs(&mut lattice, &field, bones, h);
    let (kept, dropped) = lattice.keep_large(TINY);
    report.pieces = [kept, dropped];
    if lattice.cells.is_empty() {
        return Err(CharacterError::Nothing);
    }
    let relaxed = matches!(sampling.kind, Kind::Centred | Kind::Relaxed);
    if relaxed {
        lattice.relax(&field, &vec![false; lattice.positions.len()], sampling.relax / 2);
    }
    report.moved = onto_bones(&mut lattice, bones, h);
    if relaxed {
        let held: Vec<bool> =
            lattice.positions.iter().map(|&p| bones.iter().any(|b| b.distance(p) <= 1e-9 * h)).collect();
        lattice.relax(&field, &held, sampling.relax - sampling.relax / 2);
        if sampling.relax > 0 {
            lattice.polish(&held, h);
            let (kept, dropped) = lattice.keep_large(TINY);
            report.pieces = [kept, report.pieces[1] + dropped];
        }
    }
    sort(&mut lattice, h);
    report.quality = quality::measure(&lattice.positions, &lattice.cells);
    let depth: Vec<f64> = {
        let bare = Field { balls: Balls::default(), ..field };
        lattice.positions.par_iter().map(|&p| -bare.at(p).value).collect()
    };
    let bone_nodes = hold(&lattice, bones, h, &mut report);
    let map = SkinMap::embed(positions, &lattice.positions, &lattice.cells, h);
    (report.outside, report.furthest) = (map.outside, map.furthest);
    let edges = crate::shape::tetra::cell_edges(&lattice.cells);
    let parts = match weights {
        Some(weights) => by_weights(&lattice.positions, positions, weights, h),
        None => Parts::nearest(&lattice.positions, &edges, bones, h),
    };
    let shape = Shape::from_tetrahedra(lattice.positions, lattice.cells, lattice.links, BTreeMap::new())?;
    let cells = shape.tetrahedra().map_or(0.0, |t| t.volume);
    // The volume of an open skin means little, and where a skin runs through itself it counts twice.
    let overlaps = || shape.rest_positions.par_iter().any(|&p| skin.winding(p) > 1.5);
    let inside = if report.closed && skin.volume() > 0.0 && !overlaps() { skin.volume() } else { cells };
    report.volumes = [inside, cells];
    Ok(Character {
        shape: shape.with_volume(inside),
        bones: bones.to_vec(),
        bone_nodes,
        parts,
        skin: map,
        depth,
        report,
    })
}

fn check(
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    weights: Option<&Parts>,
    sampling: &Sampling,
) -> Result<(), CharacterError> {
    if !(2.0..=1000.0).contains(&sampling.rate) {
        return Err(CharacterError::Rate { rate: sampling.rate });
    }
    let far = |p: &DVec3| !p.is_finite() || p.abs().max_element() > MOST_SIZE;
    if let Some(vertex) = positions.iter().position(far) {
        return Err(CharacterError::Vertex { vertex });
    }
    let count = positions.len();
    for (triangle, t) in triangles.iter().enumerate() {
        if let Some(&vertex) = t.iter().find(|&&v| v as usize >= count) {
            return Err(CharacterError::NoSuchVertex { triangle, vertex, count });
        }
    }
    match weights {
        Some(weights) if weights.len() != count => {
            Err(CharacterError::Weights { given: weights.len(), vertices: count })
        }
        _ if triangles.is_empty() => Err(CharacterError::NoSkin),
        _ => Ok(()),
    }
}

/// Balls where the skin is so thin that no lattice point is in it.
fn thicken(field: &Field, positions: &[DVec3], triangles: &[[u32; 3]], h: f64, kind: Kind, centred: &Centred) -> Balls {
    // Radii of balls that hold a point of the lattice wherever they are.
    let (side, cover) = match kind {
        Kind::Centred => (centred.side, 5f64.sqrt() / 4.0 * centred.side),
        Kind::Grid | Kind::Relaxed | Kind::Braced => (h, 3f64.sqrt() / 2.0 * h),
    };
    let points = medial(field.skin, positions, triangles, 0.5 * side, 2.0 * cover);
    let lonely: Vec<DVec3> = points
        .into_par_iter()
        .filter(|&m| {
            // Is there a lattice point in the skin near it?
            let points = match kind {
                Kind::Centred => centred.near(m, 1.1 * cover),
                // A cube needs most of its corners inside, not one.
                Kind::Grid | Kind::Relaxed | Kind::Braced => Vec::new(),
            };
            !points.iter().any(|&p| field.skin.contains(p, field.test))
        })
        .collect();
    let mut balls = Balls::new(1.05 * cover, 1.2 * cover);
    lonely.into_iter().for_each(|m| balls.add(m));
    balls
}

/// Removes cells that join limbs which do not hang together, where they leave the skin even a
/// little; how many.
fn cut_limbs(lattice: &mut Lattice, field: &Field, bones: &[Bone], h: f64) -> usize {
    if bones.len() < 3 {
        return 0;
    }
    let nearest = |p: &DVec3| {
        (0..bones.len()).min_by(|&a, &b| bones[a].distance(*p).total_cmp(&bones[b].distance(*p))).unwrap_or(0)
    };
    let own: Vec<usize> = lattice.positions.par_iter().map(nearest).collect();
    let before = lattice.cells.len();
    let positions = &lattice.positions;
    let bad = |a: u32, b: u32| {
        let (a, b) = (a as usize, b as usize);
        !related(bones, own[a], own[b])
            && [0.25, 0.5, 0.75].iter().any(|&t| field.at(positions[a].lerp(positions[b], t)).value > 0.02 * h)
    };
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let keep: Vec<bool> = lattice.cells.par_iter().map(|c| !pairs.iter().any(|&(i, j)| bad(c[i], c[j]))).collect();
    let mut each = keep.iter();
    lattice.cells.retain(|_| *each.next().unwrap_or(&true));
    let links = std::mem::take(&mut lattice.links);
    lattice.links = links.into_iter().filter(|&[a, b]| !bad(a, b)).collect();
    lattice.renumber();
    before - lattice.cells.len()
}

/// Moves nodes close to a bone onto it, as far as their cells stay well shaped; how many.
fn onto_bones(lattice: &mut Lattice, bones: &[Bone], h: f64) -> usize {
    let around = lattice.around();
    let mut moved = 0;
    for i in 0..lattice.positions.len() {
        let here = lattice.positions[i];
        let nearest = bones.iter().map(|b| (b.distance(here), b)).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((distance, bone)) = nearest else { continue };
        if lattice.on_skin[i] || distance <= 0.0 || distance > 0.5 * h {
            continue;
        }
        let before = lattice.worst(&around[i]);
        lattice.positions[i] = bone.on_surface(here);
        let after = lattice.worst(&around[i]);
        if after < 0.25 && after < 0.8 * before {
            lattice.positions[i] = here;
        } else {
            moved += 1;
        }
    }
    moved
}

/// Nodes of every bone; one that has none holds the node nearest to its middle, where there is one near.
fn hold(lattice: &Lattice, bones: &[Bone], h: f64, report: &mut Report) -> Vec<Vec<u32>> {
    let mut nodes = rigid_nodes(&lattice.positions, bones, 1e-6 * h);
    for (b, bone) in bones.iter().enumerate() {
        if !nodes[b].is_empty() {
            continue;
        }
        let taken: std::collections::HashSet<u32> = nodes.iter().flatten().copied().collect();
        let nearest = (0..lattice.positions.len() as u32)
            .filter(|n| !taken.contains(n))
            .map(|n| (bone.distance(lattice.positions[n as usize]), n))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        match nearest {
            Some((distance, n)) if distance < 2.0 * h => nodes[b].push(n),
            _ => report.empty_bones.push(bone.name.clone()),
        }
    }
    nodes
}

/// Shares of nodes from those of the skin: the nearest vertices, by the inverse of distance.
fn by_weights(nodes: &[DVec3], vertices: &[DVec3], weights: &Parts, h: f64) -> Parts {
    let mut boxes: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
    let cell = 2.0 * h;
    let key = |p: DVec3| (p / cell).floor().to_array().map(|c| c as i32);
    for (v, &p) in vertices.iter().enumerate() {
        boxes.entry(key(p)).or_default().push(v as u32);
    }
    let rows: Vec<Vec<(u32, f64)>> = nodes
        .par_iter()
        .map(|&p| {
            let [x, y, z] = key(p);
            let mut near: Vec<(f64, u32)> = Vec::new();
            let mut reach = 1i32;
            while near.len() < 8 && reach <= 64 {
                near.clear();
                for dz in -reach..=reach {
                    for dy in -reach..=reach {
                        for dx in -reach..=reach {
                            if let Some(list) = boxes.get(&[x + dx, y + dy, z + dz]) {
                                near.extend(list.iter().map(|&v| (vertices[v as usize].distance(p), v)));
                            }
                        }
                    }
                }
                reach *= 2;
            }
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut row: Vec<(u32, f64)> = Vec::new();
            for &(distance, v) in near.iter().take(8) {
                for &(b, c) in weights.of(v as usize) {
                    let share = c / (distance + 0.05 * h);
                    match row.iter_mut().find(|r| r.0 == b) {
                        Some(r) => r.1 += share,
                        None => row.push((b, share)),
                    }
                }
            }
            row
        })
        .collect();
    Parts::from_rows(weights.count, rows)
}

/// Brings nodes into an order in which neighbours in space are neighbours in memory: along the
/// longest side, in slabs of a spacing, each swept to and fro.
fn sort(lattice: &mut Lattice, h: f64) {
    let x = &lattice.positions;
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = x.iter().fold(start, |(l, g), p| (l.min(*p), g.max(*p)));
    let size = high - low;
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
    let slab = |p: DVec3, axis: usize| ((p[axis] - low[axis]) / h) as i64;
    let mut order: Vec<u32> = (0..x.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (p, q) = (x[a as usize], x[b as usize]);
        let keys = |p: DVec3| (slab(p, axes[0]), slab(p, axes[1]));
        keys(p).cmp(&keys(q)).then(p[axes[2]].total_cmp(&q[axes[2]])).then(a.cmp(&b))
    });
    let mut number = vec![0u32; x.len()];
    for (new, &old) in order.iter().enumerate() {
        number[old as usize] = new as u32;
    }
    lattice.positions = order.iter().map(|&o| lattice.positions[o as usize]).collect();
    lattice.on_skin = order.iter().map(|&o| lattice.on_skin[o as usize]).collect();
    lattice.cells.iter_mut().flatten().for_each(|n| *n = number[*n as usize]);
    lattice.links.iter_mut().flatten().for_each(|n| *n = number[*n as usize]);
}
