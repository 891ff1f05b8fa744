//! A skeleton for a mesh that has none.
//!
//! The deepest node is the centre of the largest ball inside; nodes well within it are
//! spoken for, the deepest of the rest is next, and so on: a chain of balls through every limb. They
//! are joined to a tree by the shortest ways through the flesh, and every branch becomes a
//! capsule.

use super::bones::Bone;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most balls.
const MOST: usize = 40;
/// A ball speaks for what is within this many of its radii.
const REACH: f64 = 1.7;
/// A bone is this much thinner than the flesh around it.
const SLENDER: f64 = 0.35;

/// Capsules for a lattice with these depths under the skin (m); the first is the root. Parts
/// shallower than `least` (m) get none.
pub fn propose(positions: &[DVec3], edges: &[[u32; 2]], depth: &[f64], least: f64) -> Vec<Bone> {
    let mut balls: Vec<(usize, f64)> = Vec::new();
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| depth[b].total_cmp(&depth[a]).then(a.cmp(&b)));
    for node in order {
        if balls.len() == MOST || depth[node] < least {
            break;
        }
        let reach = |r: f64| (REACH * r).max(2.0 * least);
        if balls.iter().all(|&(b, r)| positions[b].distance(positions[node]) > reach(r)) {
            balls.push((node, depth[node]));
        }
    }
    if balls.is_empty() {
        return Vec::new();
    }
    let mut beside: Vec<Vec<u32>> = vec![Vec::new(); positions.len()];
    for &[a, b] in edges {
        beside[a as usize].push(b);
        beside[b as usize].push(a);
    }
    // Prim's tree over ways through the lattice, from the largest ball.
    let ways: Vec<Vec<f64>> = balls.iter().map(|&(b, _)| distances(positions, &beside, b)).collect();
    let root = balls[0];
    let mut bones = vec![Bone::capsule("root", positions[root.0], positions[root.0], SLENDER * root.1, None)];
    let mut ends = vec![Some(0)];
    ends.resize(balls.len(), None);
    loop {
        let mut best = (f64::INFINITY, 0, 0);
        for (from, _) in ends.iter().enumerate().filter(|(_, e)| e.is_some()) {
            for (to, _) in ends.iter().enumerate().filter(|(_, e)| e.is_none()) {
                // From ball to ball, so that a limb hangs on the trunk rather than on the next limb.
                let way = ways[from][balls[to].0] - balls[from].1 - balls[to].1;
                if way < best.0 {
                    best = (way, from, to);
                }
            }
        }
        let (way, from, to) = best;
        if !way.is_finite() {
            break;
        }
        let radius = SLENDER * balls[from].1.min(balls[to].1);
        let name = format!("bone-{}", bones.len());
        bones.push(Bone::capsule(&name, positions[balls[from].0], positions[balls[to].0], radius, ends[from]));
        ends[to] = Some(bones.len() - 1);
    }
    bones
}

/// Lengths of the shortest ways along edges (m).
fn distances(positions: &[DVec3], beside: &[Vec<u32>], start: usize) -> Vec<f64> {
    let mut out = vec![f64::INFINITY; positions.len()];
    out[start] = 0.0;
    // Distances are positive, so their bits sort like they do.
    let mut queue = BinaryHeap::from([Reverse((0u64, start as u32))]);
    while let Some(Reverse((bits, node))) = queue.pop() {
        let here = f64::from_bits(bits);
        if here > out[node as usize] {
            continue;
        }
        for &next in &beside[node as usize] {
            let way = here + positions[node as usize].distance(positions[next as usize]);
            if way < out[next as usize] {
                out[next as usize] = way;
                queue.push(Reverse((way.to_bits(), next)));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches bones outside the body, a tree that jumps, and limbs without a bone.
    #[test]
    fn a_bar_gets_a_chain_of_bones_along_its_middle() {
        let shape = crate::shape::Shape::block(DVec3::new(4.0, 0.8, 0.8), [21, 5, 5]).unwrap();
        let x = &shape.rest_positions;
        let grid = shape.grid().unwrap();
        let edges: Vec<[u32; 2]> = (0..3).flat_map(|a| grid.edges(a)).collect();
        let depth: Vec<f64> = x.iter().map(|p| (2.0 - p.x.abs()).min(0.4 - p.y.abs()).min(0.4 - p.z.abs())).collect();
        let bones = propose(x, &edges, &depth, 0.15);
        assert!(bones.len() >= 4, "{}", bones.len());
        for bone in &bones {
            for p in bone.samples(0.05) {
                assert!(p.y.abs() < 1e-9 && p.z.abs() < 1e-9 && p.x.abs() < 1.81, "{p}");
            }
            assert!(bone.radius() <= SLENDER * 0.4 + 1e-12 && bone.parent.is_none_or(|p| p < bones.len()));
        }
        let reach = bones
            .iter()
            .flat_map(|b| b.samples(0.1))
            .map(|p| p.x)
            .fold((0.0f64, 0.0f64), |r, x| (r.0.min(x), r.1.max(x)));
        assert!(reach.0 < -1.0 && reach.1 > 1.0, "{reach:?}");
    }
}
