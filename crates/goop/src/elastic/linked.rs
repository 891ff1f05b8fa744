//! Stiffness and damping of springs as links: a matrix of a I + e eᵀ between two nodes, in single precision.
//!
//! A spring gives every one of its blocks the same form, and bends of a flat rest shape give multiples of I:
//! ```text
//! spring   a = w k t                 e = √(w k (1 - t) + c) û          t = max(0, 1 - r/|d|)
//! bend     a -= c_a c_b (w k + c)                                      r = 0
//! ```
//! with w and c the weights of position and velocity. Dampers of bends act along the vector they measure; here they are taken to
//! act in all directions, which changes where a step is linearised and no force.

use super::Weights;
use super::springs::Springs;
use crate::lanes::sixteen::Sixteen;
use crate::solve::block::BlockMatrix;
use crate::solve::slots::{Constants, Law};

/// What a block of the matrix is made of: k, damping constant and rest length of the spring, and what bends give to a, for
/// the stiffness and for the damping. Of bends alone where a spring has no strength.
pub(super) type Made = [f32; 5];

impl Springs {
    /// Whether every block is a link, and stays as it is.
    pub(super) fn linkable(&self) -> bool {
        let once = || {
            let mut pairs: Vec<[u32; 2]> = self.ends.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
            pairs.sort_unstable();
            pairs.is_sorted_by(|a, b| a < b)
        };
        self.yielding.is_none() && self.stencils.iter().all(|s| s.rest == 0.0) && once()
    }

    /// What the blocks of a matrix are made of.
    pub(super) fn made(&self, matrix: &BlockMatrix) -> Vec<Made> {
        let mut out = vec![Made::default(); matrix.blocks() - matrix.nodes()];
        for (s, &[i, j]) in self.ends.iter().enumerate() {
            for p in [matrix.position(i, j), matrix.position(j, i)].into_iter().flatten() {
                out[p as usize][..3].copy_from_slice(
                    &[self.stiffness[s], self.damping[s], self.rests[s]].map(|constant| constant as f32),
                );
            }
        }
        if self.stencils.is_empty() {
            return out;
        }
        let mut bends = vec![[0.0f64; 2]; out.len()];
        for stencil in &self.stencils {
            let count = stencil.count as usize;
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b) {
                if let Some(p) = matrix.position(stencil.nodes[a], stencil.nodes[b]) {
                    let weight = stencil.weights[a] * stencil.weights[b];
                    bends[p as usize][0] -= weight * stencil.stiffness;
                    bends[p as usize][1] -= weight * stencil.damping;
                }
            }
        }
        for (made, [stiffness, damping]) in out.iter_mut().zip(bends) {
            (made[3], made[4]) = (stiffness as f32, damping as f32);
        }
        out
    }
}

/// How springs make links.
pub(super) struct Linking {
    pub weights: Weights,
    /// Dampers act in all directions.
    pub as_printed: bool,
}

impl Law for Linking {
    #[inline(always)]
    fn link<S: Sixteen>(&self, Constants(rows): &Constants, [dx, dy, dz]: [S; 3], taut2: S) -> [S; 4] {
        let [k, c, r, stretched, braked] =
            [S::load(&rows[0]), S::load(&rows[1]), S::load(&rows[2]), S::load(&rows[3]), S::load(&rows[4])];
        let (position, velocity) = (S::single(self.weights.position as f32), S::single(self.weights.velocity as f32));
        let (k, c) = (k.times(position), c.times(velocity));
        let bends = braked.fused(velocity, stretched.times(position));
        let (zero, one, tiny) = (S::single(0.0), S::single(1.0), S::single(1e-30));
        let length2 = dz.fused(dz, dy.fused(dy, dx.times(dx)));
        // A spring of no length is not taut, unless it wants none.
        let taut = one.minus(r.over(taut2.larger(tiny).root()));
        let slack = S::choose(zero, r, zero, one);
        let taut = S::choose(tiny, taut2, taut, slack).larger(zero);
        let (mut plain, mut along) = (k.times(taut), k.minus(k.times(taut)));
        if self.as_printed {
            plain = plain.plus(c);
        } else {
            along = along.plus(c);
        }
        let size = S::choose(tiny, length2, along.over(length2.larger(tiny)).root(), zero);
        [plain.plus(bends), dx.times(size), dy.times(size), dz.times(size)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::elastic::{Elasticity, lattice};
    use crate::material::Material;
    use crate::shape::Dimension;
    use glam::swizzles::Vec3Swizzles;
    use glam::{DMat3, DVec3};

    /// Catches links of the wrong block, of one side only or with tension from the wrong place, a diagonal that does not balance its
    /// rows, and products that leave a link out: of one piece and of several, with held nodes and without order.
    #[test]
    fn links_are_the_clamped_stiffness_to_six_digits() {
        let card = Material { young: 3e4, poisson: 0.25, thickness: 0.01, ..Material::default() };
        let shapes = [
            Shape::rectangle([1.0, 0.7], [30, 20]),
            Shape::rectangle([1.0, 1.0], [140, 130]),
            Shape::ball(0.5, [9, 9, 9]),
        ];
        for shape in shapes {
            let shape = shape.unwrap();
            // Dampers of bends act in all directions here, and others do not.
            let solid = shape.dimension == Dimension::Solid;
            let card = Material { damping: if solid { 0.05 } else { 0.0 }, ..card };
            let (n, springs) = (shape.len(), lattice::springs(&shape, &card.into()));
            assert_eq!(springs.stencils.is_empty(), solid);
            let size = (shape.size() / (n as f64).cbrt()).min(0.01);
            let wave =
                |r: DVec3, by: f64| r + size * DVec3::new((by * r.y).sin(), (5.0 * r.z + by).cos(), (by * r.x).sin());
            let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| wave(r, 60.0)).collect();
            let before: Vec<DVec3> = shape.rest_positions.iter().map(|&r| wave(r, 50.0)).collect();
            let weights = Weights { position: 1e-4, velocity: 1e-2 };
            let (mut blocks, mut links) = (springs.structure(), springs.structure());
            let free: Vec<bool> = (0..n).map(|i| i % 13 != 5).collect();
            links.arrange(&free);
            links.clear_for(true, true);
            for matrix in [&mut blocks, &mut links] {
                springs.stiffness_under_tension(&springs.memory(), &x, &before, weights, false, matrix);
            }
            // A shift of the whole body meets no force.
            let top = (0..n).map(|i| blocks.diagonal(i).x_axis.x).fold(0.0, f64::max);
            let all = vec![true; n];
            let mut force = vec![DVec3::ZERO; n];
            links.product(&all, &vec![DVec3::ONE; n], &mut force);
            assert!(force.iter().all(|f| f.length() < 1e-13 * top), "the rows do not balance");
            for matrix in [&mut blocks, &mut links] {
                matrix.add_to_diagonal(|i| DMat3::from_diagonal(DVec3::splat(0.1 * i as f64)));
                matrix.add_diagonal(n / 2, DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0)));
            }
            let size = |m: DMat3| m.to_cols_array().iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            let mut off = 0.0f64;
            for row in 0..n {
                for ((i, a), (j, b)) in blocks.row(row).zip(links.row(row)) {
                    assert_eq!(i, j);
                    off = off.max(size(a - b));
                }
            }
            assert!(off < 2e-6 * top && off > 0.0, "{off:e} of {top:e}");
            let v: Vec<DVec3> = x.iter().map(|x| x.zxy() * x.x).collect();
            let mut found = vec![DVec3::ONE; n];
            let dot = links.product(&free, &v, &mut found);
            let mut wanted = vec![DVec3::ZERO; n];
            for row in 0..n {
                for (column, block) in links.row(row).filter(|(column, _)| *column >= row) {
                    wanted[row] += block * v[column];
                    if column > row {
                        wanted[column] += block.transpose() * v[row];
                    }
                }
            }
            let mut sum = 0.0;
            for i in 0..n {
                let wanted = if free[i] { wanted[i] } else { DVec3::ZERO };
                assert!((found[i] - wanted).length() < 1e-12 * (top + wanted.length()), "{i}");
                sum += v[i].dot(wanted);
            }
            assert!((dot - sum).abs() < 1e-12 * n as f64 * top);
        }
    }
}
