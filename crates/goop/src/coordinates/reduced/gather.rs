//! From modes to nodes and back: x = Φ q, Q = Φᵀ f. One order of every sum, whatever the number of threads.

use super::Modes;
use super::modes::MODES;
use crate::parallel::{Chunks, Disjoint};
use glam::DVec3;
use rayon::prelude::*;

/// Nodes from which parts are gathered side by side.
const SIDE_BY_SIDE: usize = 4000;

impl Modes {
    /// Φ q on the nodes that modes move; the others are left alone.
    pub fn place(&self, values: &[DVec3], out: &mut [DVec3]) {
        let chunks = Chunks::new(out.len());
        let out = Disjoint::new(out);
        chunks.each(|_, range| {
            // SAFETY: chunks are disjoint.
            let out = unsafe { out.slice(range.clone()) };
            for (k, i) in range.enumerate() {
                if self.moves(i) {
                    out[k] = self.at_node(values, i);
                }
            }
        });
    }

    /// Φ q at one node.
    #[inline]
    pub(super) fn at_node(&self, values: &[DVec3], node: usize) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for e in self.entries_of(node) {
            let own = &values[MODES * self.entries[e].part as usize..][..MODES];
            for (phi, q) in self.rows[e].iter().zip(own) {
                sum += *phi * *q;
            }
        }
        sum
    }

    /// Φᵀ f; forces on nodes that modes do not move count for nothing.
    pub fn gather(&self, forces: &[DVec3], out: &mut [DVec3]) {
        let one = |(part, out): (usize, &mut [DVec3])| {
            let list = &self.of_part[part];
            let sums: [f64; 3 * MODES] = Chunks::new(list.len()).sum(|_, range| {
                let mut sums = [0.0; 3 * MODES];
                for &e in &list[range] {
                    let (row, force) = (&self.rows[e as usize], forces[self.entries[e as usize].node as usize]);
                    for k in 0..MODES {
                        sums[3 * k] += row[k] * force.x;
                        sums[3 * k + 1] += row[k] * force.y;
                        sums[3 * k + 2] += row[k] * force.z;
                    }
                }
                sums
            });
            out.iter_mut().enumerate().for_each(|(k, out)| *out = DVec3::from_slice(&sums[3 * k..]));
        };
        if forces.len() < SIDE_BY_SIDE {
            out.chunks_mut(MODES).enumerate().for_each(one);
        } else {
            out.par_chunks_mut(MODES).enumerate().for_each(one);
        }
    }

    /// The amounts whose nodes are nearest to `x`, by mass. `weighed` is room for m x.
    pub fn fit(&self, masses: &[f64], x: &[DVec3], weighed: &mut [DVec3], out: &mut [DVec3]) {
        for ((w, x), m) in weighed.iter_mut().zip(x).zip(masses) {
            *w = *m * *x;
        }
        self.gather(weighed, out);
        self.solve(out);
    }
}
