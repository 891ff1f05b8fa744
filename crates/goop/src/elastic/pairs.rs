//! Forces of the pair springs, eight at a time.

use super::order::{Side, Task};
use super::rooms::Moving;
use super::springs::{Springs, TINY};
use super::yielding::Constants;
use crate::lanes::Kind;
use crate::lanes::eight::{Doubles, EIGHT, Padded};

/// What of the springs is wanted.
pub(super) type Wanted = u8;
/// Elastic and damping forces, each by itself.
pub(super) const APART: Wanted = 0;
/// Their sum, as elastic forces.
pub(super) const TOGETHER: Wanted = 1;
/// No forces: the work of damping.
pub(super) const WORK: Wanted = 2;

/// Where forces go: those of the nodes from `first` on.
pub(super) struct Out<'a> {
    /// The first node of the chunk.
    pub first: usize,
    /// Elastic forces (N).
    pub elastic: &'a mut [Padded],
    /// Damping forces (N); empty where nothing is damped, or they are not wanted apart.
    pub damping: &'a mut [Padded],
}

/// Energy and work of damping.
#[derive(Clone, Copy)]
pub(super) struct Sums<D> {
    pub energy: D,
    pub work: D,
}

impl<D: Doubles> Sums<D> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self { energy: D::splat(0.0), work: D::splat(0.0) }
    }

    #[inline(always)]
    pub(super) fn total(self) -> [f64; 2] {
        let (mut energy, mut work) = ([0.0; EIGHT], [0.0; EIGHT]);
        self.energy.store(&mut energy);
        self.work.store(&mut work);
        [energy.iter().sum(), work.iter().sum()]
    }
}

impl Springs {
    /// Adds the pair forces of one chunk; returns the energy (J) of the springs it keeps account of, and the work of their
    /// dampers (J) if that is wanted.
    pub(super) fn pair_forces<const WANTED: Wanted>(
        &self,
        chunk: usize,
        memory: &[f64],
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        let constants = self.constants(memory);
        match Kind::found() {
            Kind::Plain => self.pair_forces_by::<[f64; EIGHT], WANTED>(chunk, constants, moving, out),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.pair_forces_avx2::<WANTED>(chunk, constants, moving, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.pair_forces_avx512::<WANTED>(chunk, constants, moving, out) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn pair_forces_avx2<const WANTED: Wanted>(
        &self,
        chunk: usize,
        constants: Constants,
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        self.pair_forces_by::<crate::lanes::eight::avx2::Twice, WANTED>(chunk, constants, moving, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    fn pair_forces_avx512<const WANTED: Wanted>(
        &self,
        chunk: usize,
        constants: Constants,
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        self.pair_forces_by::<crate::lanes::eight::avx512::Whole, WANTED>(chunk, constants, moving, out)
    }

    #[inline(always)]
    fn pair_forces_by<D: Doubles, const WANTED: Wanted>(
        &self,
        chunk: usize,
        constants: Constants,
        moving: Moving,
        out: Out,
    ) -> [f64; 2] {
        let Out { first, elastic, damping } = out;
        self.check_rooms::<WANTED>(chunk, moving, first, [elastic, damping]);
        let mut sums = Sums::<D>::zero();
        for Task { springs, pack, side } in &self.tasks[chunk] {
            if *side == Side::Second && WANTED == WORK {
                continue;
            }
            let before = sums;
            let [k, r, c] = [constants.stiffness, constants.rest, constants.damping].map(|list| &list[springs.clone()]);
            let packs = &self.packs[*pack..*pack + springs.len().div_ceil(EIGHT)];
            for (n, [i, j]) in packs.iter().enumerate() {
                // SAFETY: nodes of springs are there, by `Springs::new`, and both lists have as many, by the assertion.
                let [d, dv] = unsafe { D::between(moving.both, i, j) };
                let (pull, inverse2) = law(d, some::<D>(k, n), some::<D>(r, n), &mut sums.energy);
                let mut force = times(d, pull);
                if self.damped {
                    let c = some::<D>(c, n);
                    let brake = if self.as_printed { times(dv, c) } else { brake(d, dv, c, inverse2) };
                    if WANTED == WORK {
                        // SAFETY: as above.
                        let moved = unsafe { D::difference(moving.moved, i, j) };
                        sums.work = sums.work.minus(dot(brake, moved));
                    } else if WANTED == TOGETHER {
                        force = plus(force, brake);
                    } else {
                        give::<D>(brake, i, j, *side, first, damping);
                    }
                }
                if WANTED != WORK {
                    give::<D>(force, i, j, *side, first, elastic);
                }
            }
            if *side == Side::Second {
                // The other chunk of a spring that crosses keeps the account.
                sums = before;
            }
        }
        sums.total()
    }
}

/// Eight numbers of a list, the n-th of them; fewer are filled up with zeros.
#[inline(always)]
pub(super) fn some<D: Doubles>(of: &[f64], n: usize) -> D {
    let (whole, rest) = of.as_chunks();
    match whole.get(n) {
        Some(eight) => D::load(eight),
        None => {
            let mut eight = [0.0; EIGHT];
            eight[..rest.len()].copy_from_slice(rest);
            D::load(&eight)
        }
    }
}

/// Action and reaction, on the ends that the chunk owns.
#[inline(always)]
fn give<D: Doubles>(force: [D; 3], i: &[u32; EIGHT], j: &[u32; EIGHT], side: Side, first: usize, to: &mut [Padded]) {
    match side {
        // SAFETY: the chunk has both ends, by `arrange`, and a row for each of its nodes.
        Side::Both => unsafe { D::exchange(force, i, j, first, to) },
        Side::First => D::scatter(force, i, first, to),
        Side::Second => D::scatter(minus([D::splat(0.0); 3], force), j, first, to),
    }
}

/// Damping forces along the measured vectors.
#[inline(always)]
pub(super) fn brake<D: Doubles>(d: [D; 3], dv: [D; 3], c: D, inverse2: D) -> [D; 3] {
    times(d, c.times(dot(d, dv)).times(inverse2))
}

/// Force over length (N/m) and one over length squared (1/m²); adds the energies. Root
/// and division do not wait for one another.
#[inline(always)]
pub(super) fn law<D: Doubles>(d: [D; 3], k: D, r: D, energy: &mut D) -> (D, D) {
    let length2 = dot(d, d);
    let (length, inverse2) = (length2.root(), D::splat(1.0).over(length2.larger(D::splat(TINY * TINY))));
    let over = length.minus(r);
    let tension = k.times(over);
    *energy = D::splat(0.5).times(tension).fused(over, *energy);
    (tension.times(length.times(inverse2)), inverse2)
}

#[inline(always)]
pub(super) fn dot<D: Doubles>(a: [D; 3], b: [D; 3]) -> D {
    a[2].fused(b[2], a[1].fused(b[1], a[0].times(b[0])))
}

/// Vectors, each times its number.
#[inline(always)]
pub(super) fn times<D: Doubles>(v: [D; 3], by: D) -> [D; 3] {
    [v[0].times(by), v[1].times(by), v[2].times(by)]
}

#[inline(always)]
pub(super) fn plus<D: Doubles>(a: [D; 3], b: [D; 3]) -> [D; 3] {
    [a[0].plus(b[0]), a[1].plus(b[1]), a[2].plus(b[2])]
}

#[inline(always)]
pub(super) fn minus<D: Doubles>(a: [D; 3], b: [D; 3]) -> [D; 3] {
    [a[0].minus(b[0]), a[1].minus(b[1]), a[2].minus(b[2])]
}
