//! Which bones move each vertex.
//!
//! Every part has a distance of its own. A vertex goes with the nearest part, and with
//! others as far as they are no more than [`REACH`] farther; then weights run along the
//! skin, so that joints bend over a hand's breadth. Weights are whole 4096ths: they stay
//! the same in a file and add up to 1 exactly.

use crate::rig::Influences;
use glam::DVec3;

/// How much farther a part may be than the nearest to count (m).
const REACH: f64 = 0.035;
/// How often weights are averaged with their neighbours'.
const ROUNDS: usize = 9;
/// Most bones of a vertex, as files have them.
const MOST: usize = 4;
/// What weights are multiples of.
const WHOLE: i32 = 4096;

/// Weights of every vertex over all parts; `distance` is that of a point from a part (m).
pub(super) fn weigh(
    positions: &[DVec3],
    neighbours: &[Vec<u32>],
    parents: &[Option<usize>],
    distance: impl Fn(usize, DVec3) -> f64,
) -> Vec<Vec<(u32, f64)>> {
    let parts = parents.len();
    let joined = |a: usize, b: usize| a == b || parents[a] == Some(b) || parents[b] == Some(a);
    let related = |a: usize, b: usize| joined(a, b) || (0..parts).any(|c| joined(a, c) && joined(c, b));
    let mut weights = vec![0.0; positions.len() * parts];
    for (own, &position) in weights.chunks_mut(parts).zip(positions) {
        let distances: Vec<f64> = (0..parts).map(|part| distance(part, position)).collect();
        let nearest = (0..parts).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0);
        for part in (0..parts).filter(|&part| related(part, nearest)) {
            let near = (1.0 - (distances[part] - distances[nearest]) / REACH).max(0.0);
            own[part] = near * near;
        }
        let sum: f64 = own.iter().sum();
        own.iter_mut().for_each(|weight| *weight /= sum);
    }
    // Near neighbours count more, so that fine and coarse regions smooth alike.
    let shares: Vec<Vec<f64>> = (neighbours.iter().zip(positions))
        .map(|(near, &own)| {
            let all: Vec<f64> = near.iter().map(|&n| 1.0 / own.distance(positions[n as usize])).collect();
            let sum: f64 = all.iter().sum();
            all.iter().map(|share| 0.5 * share / sum).collect()
        })
        .collect();
    let mut next = weights.clone();
    for _ in 0..ROUNDS {
        for (vertex, (near, shares)) in neighbours.iter().zip(&shares).enumerate() {
            let own = &mut next[vertex * parts..][..parts];
            own.iter_mut().zip(&weights[vertex * parts..]).for_each(|(new, old)| *new = 0.5 * old);
            for (&n, share) in near.iter().zip(shares) {
                own.iter_mut().zip(&weights[n as usize * parts..]).for_each(|(new, old)| *new += share * old);
            }
        }
        std::mem::swap(&mut weights, &mut next);
    }
    weights.chunks(parts).map(whole).collect()
}

/// The heaviest few, as multiples of 1/4096 that add up to 1, heaviest first.
fn whole(weights: &[f64]) -> Vec<(u32, f64)> {
    let mut kept: Vec<(u32, f64)> = (0..).zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.01).collect();
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    kept.truncate(MOST);
    let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
    let mut counts: Vec<(u32, i32)> =
        kept.iter().map(|&(part, weight)| (part, (weight / sum * f64::from(WHOLE)).round() as i32)).collect();
    let rest = WHOLE - counts.iter().map(|(_, count)| count).sum::<i32>();
    counts[0].1 += rest;
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counts.into_iter().map(|(part, count)| (part, f64::from(count) / f64::from(WHOLE))).collect()
}

/// As one list.
pub(super) fn influences(weights: impl Iterator<Item = impl AsRef<[(u32, f64)]>>) -> Influences {
    let mut all = Influences { starts: vec![0], ..Influences::default() };
    for own in weights {
        all.joints.extend(own.as_ref().iter().map(|(joint, _)| joint));
        all.weights.extend(own.as_ref().iter().map(|(_, weight)| weight));
        all.starts.push(all.joints.len() as u32);
    }
    all
}
