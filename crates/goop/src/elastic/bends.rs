//! Forces of the bend and twist stencils, four at a time.
//!
//! Measured vectors are gathered one by one; roots and divisions run side by side.

use super::four::{Out, brake, law};
use super::springs::{Springs, Stencil};
use crate::lanes::{Lanes, WIDE};
use glam::DVec3;

impl Springs {
    /// Adds the stencil forces of one chunk; returns the energy of the stencils it keeps account of (J).
    pub(super) fn stencil_forces(&self, chunk: usize, memory: &[f64], x: &[DVec3], v: &[DVec3], out: Out) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.stencil_forces_avx2(chunk, memory, x, v, out) };
        }
        self.stencil_forces_by::<[f64; WIDE]>(chunk, memory, x, v, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn stencil_forces_avx2(&self, chunk: usize, memory: &[f64], x: &[DVec3], v: &[DVec3], out: Out) -> f64 {
        self.stencil_forces_by::<crate::lanes::avx2::Register>(chunk, memory, x, v, out)
    }

    #[inline(always)]
    fn stencil_forces_by<L: Lanes>(&self, chunk: usize, memory: &[f64], x: &[DVec3], v: &[DVec3], out: Out) -> f64 {
        let constants = self.constants(memory);
        let rests = &constants.rest[self.ends.len()..];
        let mut energy = 0.0;
        for list in self.touching[chunk].chunks(WIDE) {
            // The last few are filled up with stencils of no strength.
            let (mut k, mut r, mut c) = ([0.0; WIDE], [0.0; WIDE], [0.0; WIDE]);
            let (mut d, mut dv) = ([[0.0; 3]; WIDE], [[0.0; 3]; WIDE]);
            for (l, &s) in list.iter().enumerate() {
                let stencil = &self.stencils[s as usize];
                (k[l], c[l], r[l]) = (stencil.stiffness, stencil.damping, rests[s as usize]);
                if let Some([stiffness, damping]) = constants.bends {
                    (k[l], c[l]) = (stiffness[s as usize], damping[s as usize]);
                }
                d[l] = stencil.vector(x).to_array();
                if self.damped {
                    dv[l] = stencil.vector(v).to_array();
                }
            }
            let mut each = L::splat(0.0);
            let vectors = L::load_vectors(bytemuck::cast_ref(&d));
            let (pull, inverse2) = law(vectors, L::load(&k), L::load(&r), &mut each);
            let (mut force, mut drag, mut energies) = ([[0.0; 3]; WIDE], [[0.0; 3]; WIDE], [0.0; WIDE]);
            L::store_vectors(L::scale(vectors, pull), bytemuck::cast_mut(&mut force));
            if self.damped {
                let rates = L::load_vectors(bytemuck::cast_ref(&dv));
                let drags = brake(vectors, rates, L::load(&c), inverse2);
                L::store_vectors(drags, bytemuck::cast_mut(&mut drag));
            }
            each.store(&mut energies);
            for (l, &s) in list.iter().enumerate() {
                let stencil = &self.stencils[s as usize];
                scatter(stencil, out.first, out.elastic, force[l].into());
                if self.damped {
                    scatter(stencil, out.first, out.damping, drag[l].into());
                }
                // The chunk of the first node keeps the account.
                if (stencil.nodes[0] as usize).wrapping_sub(out.first) < out.elastic.len() {
                    energy += energies[l];
                }
            }
        }
        energy
    }
}

/// Subtracts the force from every node that the chunk owns, by its weight.
#[inline(always)]
fn scatter(stencil: &Stencil, first: usize, to: &mut [DVec3], force: DVec3) {
    for a in 0..stencil.count as usize {
        if let Some(to) = to.get_mut((stencil.nodes[a] as usize).wrapping_sub(first)) {
            *to -= stencil.weights[a] * force;
        }
    }
}
