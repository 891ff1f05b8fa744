//! Body parts: how much of a point belongs to which bone.
//!
//! ```text
//! c_i = (1/l_i) / Σ (1/l_j)       [Chang] eq 3.1
//! ```
//! over the parts found among the point and its neighbours, l the distance to part i's bone;
//! a point whose neighbours all belong to its own part belongs to it alone. Where the rig
//! gives weights, those of the nearest skin vertices count instead.

use super::bones::Bone;
use glam::DVec3;

/// Shares of every node in the parts; they add up to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Number of parts.
    pub count: usize,
    start: Vec<u32>,
    entries: Vec<(u32, f64)>,
}

/// Distances below this share of the spacing count as this: a point on a bone is wholly its own.
const NEAR: f64 = 1e-6;

impl Parts {
    /// From a list of (part, share) for each node; shares are made to add up to 1.
    pub fn from_rows(count: usize, rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut out = Self { count, start: vec![0], entries: Vec::new() };
        for mut row in rows {
            row.retain(|r| r.1 > 0.0 && (r.0 as usize) < count);
            row.sort_by_key(|r| r.0);
            let total: f64 = row.iter().map(|r| r.1).sum();
            if total > 0.0 {
                out.entries.extend(row.iter().map(|r| (r.0, r.1 / total)));
            } else if count > 0 {
                out.entries.push((0, 1.0));
            }
            out.start.push(out.entries.len() as u32);
        }
        out
    }

    /// By nearest bone, blended with eq 3.1 where neighbours belong to other parts.
    pub fn nearest(positions: &[DVec3], edges: &[[u32; 2]], bones: &[Bone], spacing: f64) -> Self {
        if bones.is_empty() {
            return Self::from_rows(1, positions.iter().map(|_| vec![(0, 1.0)]));
        }
        let distance = |b: usize, p: DVec3| bones[b].distance(p).max(NEAR * spacing);
        let own: Vec<u32> = positions
            .iter()
            .map(|&p| (0..bones.len()).min_by(|&a, &b| distance(a, p).total_cmp(&distance(b, p))).unwrap_or(0) as u32)
            .collect();
        let mut beside: Vec<Vec<u32>> = own.iter().map(|&b| vec![b]).collect();
        for &[i, j] in edges {
            for (a, b) in [(i, j), (j, i)] {
                let part = own[b as usize];
                if !beside[a as usize].contains(&part) {
                    beside[a as usize].push(part);
                }
            }
        }
        let rows = beside
            .iter()
            .zip(positions)
            .map(|(parts, &p)| parts.iter().map(|&b| (b, 1.0 / distance(b as usize, p))).collect::<Vec<_>>());
        Self::from_rows(bones.len(), rows)
    }

    /// Cuts a body across its longest side into parts of equal length; shares fall linearly from the
    /// middle of one part to the middle of the next.
    pub fn along(positions: &[DVec3], count: usize) -> Self {
        let low = positions.iter().fold(DVec3::INFINITY, |a, p| a.min(*p));
        let size = positions.iter().fold(DVec3::NEG_INFINITY, |a, p| a.max(*p)) - low;
        let axis = size.max_position();
        let last = count.max(1) - 1;
        let row = |p: &DVec3| {
            let along = count as f64 * (p[axis] - low[axis]) / size[axis].max(f64::MIN_POSITIVE) - 0.5;
            let along = along.clamp(0.0, last as f64);
            let first = (along.floor() as usize).min(last.saturating_sub(1));
            let share = along - first as f64;
            vec![(first as u32, 1.0 - share), (first as u32 + 1, share)]
        };
        Self::from_rows(last + 1, positions.iter().map(row))
    }

    /// Shares of a node, by part.
    pub fn of(&self, node: usize) -> &[(u32, f64)] {
        &self.entries[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part that a node belongs to most.
    pub fn main(&self, node: usize) -> u32 {
        self.of(node).iter().fold((0, f64::NEG_INFINITY), |best, &(p, c)| if c > best.1 { (p, c) } else { best }).0
    }
}

/// Whether two bones hang on one another, or on the same third, so that flesh may join them.
pub fn related(bones: &[Bone], a: usize, b: usize) -> bool {
    a == b
        || bones[a].parent == Some(b)
        || bones[b].parent == Some(a)
        || (bones[a].parent.is_some() && bones[a].parent == bones[b].parent)
        || bones[a].parent.is_some_and(|p| bones[p].parent == Some(b))
        || bones[b].parent.is_some_and(|p| bones[p].parent == Some(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches shares that do not add up, blend inside a part, or are not those of eq 3.1.
    #[test]
    fn shares_blend_where_parts_meet_and_only_there() {
        let bones = [
            Bone::capsule("left", DVec3::ZERO, DVec3::ZERO, 0.1, None),
            Bone::capsule("right", DVec3::X, DVec3::X, 0.1, Some(0)),
        ];
        let x: Vec<DVec3> = (0..11).map(|i| DVec3::X * (0.1 * i as f64)).collect();
        let edges: Vec<[u32; 2]> = (0..10).map(|i| [i, i + 1]).collect();
        let parts = Parts::nearest(&x, &edges, &bones, 0.1);
        for i in 0..11 {
            assert!((parts.of(i).iter().map(|c| c.1).sum::<f64>() - 1.0).abs() < 1e-15);
        }
        assert_eq!(parts.of(2), [(0, 1.0)]);
        assert_eq!(parts.of(9), [(1, 1.0)]);
        // At 0.4 m: 0.3 and 0.5 from the surfaces; its neighbour at 0.5 is equally near to both.
        let near: Vec<usize> = (0..11).filter(|&i| parts.of(i).len() == 2).collect();
        assert!(near.len() == 2 && near[1] == near[0] + 1, "{near:?}");
        for i in near {
            let (l, r) = (0.1 * i as f64 - 0.1, 0.9 - 0.1 * i as f64);
            assert!((parts.of(i)[0].1 - (1.0 / l) / (1.0 / l + 1.0 / r)).abs() < 1e-12);
        }
        assert!(related(&bones, 0, 1));
    }
}
