//! Conjugate gradients on 3×3 blocks, with the inverse diagonal blocks as preconditioner or none.
//!
//! ```text
//! q = A p      α = r·z / p·q      x += α p      r -= α q      z = D⁻¹ r
//! β = r·z / (r·z before)          p = z + β p
//! ```
//! Three passes over the vectors an iteration; z takes the place of q. Stops when |r| ≤ tolerance · |b|.

use super::{BlockMatrix, Preconditioner, Refusal, Report, Settings};
use crate::parallel::Disjoint;
use glam::{DMat3, DVec3};

/// Vectors kept between solves.
#[derive(Debug, Default)]
pub struct Scratch {
    inverse: Vec<DMat3>,
    residual: Vec<DVec3>,
    direction: Vec<DVec3>,
    /// q, and then z.
    image: Vec<DVec3>,
}

impl Scratch {
    /// Improves `x` (zero at the start) until `A x = b` on free nodes.
    pub fn solve(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        b: &[DVec3],
        x: &mut [DVec3],
    ) -> Report {
        let n = matrix.nodes();
        self.inverse.resize(n, DMat3::ZERO);
        self.residual.resize(n, DVec3::ZERO);
        self.direction.resize(n, DVec3::ZERO);
        self.image.resize(n, DVec3::ZERO);
        let chunks = matrix.chunks();
        let plain = settings.preconditioner == Preconditioner::None;
        let (inverse, residual) = (Disjoint::new(&mut self.inverse), Disjoint::new(&mut self.residual));
        let direction = Disjoint::new(&mut self.direction);
        let [mut rz, norm2] = chunks.sum(|_, range| {
            // SAFETY: chunks are disjoint, here and below.
            let (inverse, r, p) = unsafe {
                (inverse.slice(range.clone()), residual.slice(range.clone()), direction.slice(range.clone()))
            };
            let mut sums = [0.0; 2];
            for (k, i) in range.enumerate() {
                inverse[k] = match (free[i], plain) {
                    (true, false) => matrix.diagonal(i).inverse(),
                    (true, true) => DMat3::IDENTITY,
                    (false, _) => DMat3::ZERO,
                };
                r[k] = if free[i] { b[i] } else { DVec3::ZERO };
                p[k] = inverse[k] * r[k];
                sums[0] += r[k].dot(p[k]);
                sums[1] += r[k].length_squared();
            }
            sums
        });
        let target2 = settings.tolerance * settings.tolerance * norm2;
        let mut report = Report { converged: norm2 == 0.0, ..Report::default() };
        while !report.converged && report.iterations < settings.max_iterations {
            let pq = matrix.product(free, &self.direction, &mut self.image);
            if pq <= 0.0 || !pq.is_finite() {
                report.refused = (pq < 0.0).then_some(Refusal::NotPositiveDefinite);
                break;
            }
            report.iterations += 1;
            let alpha = rz / pq;
            let (solution, residual) = (Disjoint::new(x), Disjoint::new(&mut self.residual));
            let (inverse, p, image) = (&self.inverse, &self.direction, Disjoint::new(&mut self.image));
            let [next, rr] = chunks.sum(|_, range| {
                // SAFETY: chunks are disjoint.
                let (x, r, image) = unsafe {
                    (solution.slice(range.clone()), residual.slice(range.clone()), image.slice(range.clone()))
                };
                let (inverse, p) = (&inverse[range.clone()], &p[range]);
                let mut sums = [0.0; 2];
                for k in 0..x.len() {
                    x[k] += alpha * p[k];
                    r[k] -= alpha * image[k];
                    image[k] = inverse[k] * r[k];
                    sums[0] += r[k].dot(image[k]);
                    sums[1] += r[k].length_squared();
                }
                sums
            });
            report.residual = (rr / norm2).sqrt();
            report.converged = rr <= target2;
            let beta = next / rz;
            rz = next;
            let z = &self.image;
            let direction = Disjoint::new(&mut self.direction);
            chunks.each(|_, range| {
                // SAFETY: chunks are disjoint.
                let p = unsafe { direction.slice(range.clone()) };
                for (p, z) in p.iter_mut().zip(&z[range]) {
                    *p = *z + beta * *p;
                }
            });
        }
        report
    }
}
