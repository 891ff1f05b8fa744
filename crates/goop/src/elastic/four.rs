//! Forces of the pair springs, four at a time.
//!
//! The vectors of four springs lie one after another, as those of four nodes do; so
//! a run is differences, products and sums of plain arrays, and roots and divisions
//! run side by side.

use super::runs::{Run, Side};
use super::springs::{Springs, TINY};
use super::yielding::Constants;
use crate::lanes::{Lanes, WIDE};
use glam::DVec3;

/// Four vectors.
type Vectors = [f64; 3 * WIDE];

/// Where forces go: those of the nodes from `first` on.
pub(super) struct Out<'a> {
    /// The first node of the chunk.
    pub first: usize,
    /// Elastic forces (N).
    pub elastic: &'a mut [DVec3],
    /// Damping forces (N); empty where nothing is damped.
    pub damping: &'a mut [DVec3],
}

/// Positions, velocities, rest lengths and constants, as plain numbers.
#[derive(Clone, Copy)]
struct Given<'a> {
    x: &'a [f64],
    v: &'a [f64],
    rest: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
}

impl Springs {
    /// Adds the pair forces of one chunk; returns the energy of the springs it keeps account of (J).
    pub(super) fn pair_forces(&self, chunk: usize, memory: &[f64], x: &[DVec3], v: &[DVec3], out: Out) -> f64 {
        let Constants { rest, stiffness, damping, .. } = self.constants(memory);
        let given = Given { x: bytemuck::cast_slice(x), v: bytemuck::cast_slice(v), rest, stiffness, damping };
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.pair_forces_avx2(chunk, given, out) };
        }
        self.pair_forces_by::<[f64; WIDE]>(chunk, given, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn pair_forces_avx2(&self, chunk: usize, given: Given, out: Out) -> f64 {
        self.pair_forces_by::<crate::lanes::avx2::Register>(chunk, given, out)
    }

    #[inline(always)]
    fn pair_forces_by<L: Lanes>(&self, chunk: usize, given: Given, out: Out) -> f64 {
        let (f, g) = (bytemuck::cast_slice_mut(out.elastic), bytemuck::cast_slice_mut(out.damping));
        let mut energy = L::splat(0.0);
        for (runs, side) in self.runs.of(chunk) {
            let before = energy;
            for run in runs {
                energy = match (run.first, side) {
                    (Some([i, j]), Side::Both) if j - i == 1 => {
                        self.run::<L, true, true, true>(run, [i, j], given, 3 * out.first, f, g, energy)
                    }
                    (Some(nodes), Side::Both) => {
                        self.run::<L, true, true, false>(run, nodes, given, 3 * out.first, f, g, energy)
                    }
                    (Some(nodes), Side::First) => {
                        self.run::<L, true, false, false>(run, nodes, given, 3 * out.first, f, g, energy)
                    }
                    (Some(nodes), Side::Second) => {
                        self.run::<L, false, true, false>(run, nodes, given, 3 * out.first, f, g, energy)
                    }
                    (None, _) => self.gathered::<L>(run, side, given, 3 * out.first, f, g, energy),
                };
            }
            if side == Side::Second {
                // The other chunk of a spring that crosses keeps the account.
                energy = before;
            }
        }
        let mut each = [0.0; WIDE];
        energy.store(&mut each);
        each.iter().sum()
    }

    /// Springs whose nodes follow one another, for the ends that the chunk owns. In a
    /// `CHAIN` the second end of a spring is the first of the next.
    #[inline(always)]
    fn run<L: Lanes, const FIRST: bool, const SECOND: bool, const CHAIN: bool>(
        &self,
        run: &Run,
        nodes: [u32; 2],
        given: Given,
        first: usize,
        f: &mut [f64],
        g: &mut [f64],
        mut energy: L,
    ) -> L {
        let (start, count) = (run.start as usize, run.count as usize);
        let [i, j] = nodes.map(|i| 3 * i as usize);
        let springs = start..start + count;
        let (k, r, c) = (&given.stiffness[springs.clone()], &given.rest[springs.clone()], &given.damping[springs]);
        let (from, to) = (i..i + 3 * count, j..j + 3 * count);
        let (xi, xj) = (&given.x[from.clone()], &given.x[to.clone()]);
        let mut f = Forces::<L, FIRST, SECOND, CHAIN>::new(f, i, j, first, count);
        if !self.damped {
            for n in 0..count / WIDE {
                let d = difference(xi, xj, n);
                let (pull, _) = law(d, part(k, n), part(r, n), &mut energy);
                f.add(n, L::scale(d, pull));
            }
            f.finish();
            return energy;
        }
        let (vi, vj) = (&given.v[from], &given.v[to]);
        let mut g = Forces::<L, FIRST, SECOND, CHAIN>::new(g, i, j, first, count);
        for n in 0..count / WIDE {
            let d = difference(xi, xj, n);
            let (pull, inverse2) = law(d, part(k, n), part(r, n), &mut energy);
            f.add(n, L::scale(d, pull));
            g.add(n, self.brake(d, difference(vi, vj, n), part(c, n), inverse2));
        }
        f.finish();
        g.finish();
        energy
    }

    /// Springs whose nodes lie anywhere; a last step of fewer than four is filled up
    /// with springs of no strength.
    #[inline(always)]
    fn gathered<L: Lanes>(
        &self,
        run: &Run,
        side: Side,
        given: Given,
        first: usize,
        f: &mut [f64],
        g: &mut [f64],
        mut energy: L,
    ) -> L {
        let end = (run.start + run.count) as usize;
        for s in (run.start as usize..end).step_by(WIDE) {
            let ends = &self.ends[s..end.min(s + WIDE)];
            // Closures stay clear of lanes: they would not be compiled for AVX2.
            let fill = |from: &[f64]| -> [f64; WIDE] {
                std::array::from_fn(|l| if l < ends.len() { from[s + l] } else { 0.0 })
            };
            let gather = |of: &[f64]| {
                let mut d: Vectors = [0.0; 3 * WIDE];
                for (d, [i, j]) in d.as_chunks_mut::<3>().0.iter_mut().zip(ends) {
                    let (a, b) = (at(of, *i as usize), at(of, *j as usize));
                    *d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
                }
                d
            };
            let scatter = |to: &mut [f64], vectors: &Vectors| {
                for (force, [i, j]) in vectors.as_chunks::<3>().0.iter().zip(ends) {
                    if side != Side::Second {
                        let to = at_mut(to, *i as usize, first);
                        (0..3).for_each(|c| to[c] += force[c]);
                    }
                    if side != Side::First {
                        let to = at_mut(to, *j as usize, first);
                        (0..3).for_each(|c| to[c] -= force[c]);
                    }
                }
            };
            let d = L::load_vectors(&gather(given.x));
            let (k, r) = (L::load(&fill(given.stiffness)), L::load(&fill(given.rest)));
            let (pull, inverse2) = law(d, k, r, &mut energy);
            let mut force = [0.0; 3 * WIDE];
            L::store_vectors(L::scale(d, pull), &mut force);
            scatter(f, &force);
            if self.damped {
                let (dv, c) = (L::load_vectors(&gather(given.v)), L::load(&fill(given.damping)));
                L::store_vectors(self.brake(d, dv, c, inverse2), &mut force);
                scatter(g, &force);
            }
        }
        energy
    }

    /// Damping forces on the first ends, along the springs or as printed.
    #[inline(always)]
    fn brake<L: Lanes>(&self, d: [L; 3], dv: [L; 3], c: L, inverse2: L) -> [L; 3] {
        if self.as_printed { L::scale(dv, c) } else { brake(d, dv, c, inverse2) }
    }
}

/// Damping forces along the measured vectors.
#[inline(always)]
pub(super) fn brake<L: Lanes>(d: [L; 3], dv: [L; 3], c: L, inverse2: L) -> [L; 3] {
    L::scale(d, c.times(L::dots(d, dv)).times(inverse2))
}

/// Force over length (N/m) and one over length squared (1/m²); adds the energies. Root
/// and division do not wait for one another.
#[inline(always)]
pub(super) fn law<L: Lanes>(d: [L; 3], k: L, r: L, energy: &mut L) -> (L, L) {
    let length2 = L::dots(d, d);
    let (length, inverse2) = (length2.root(), length2.inverse(TINY * TINY));
    let over = length.minus(r);
    let tension = k.times(over);
    *energy = energy.plus(L::splat(0.5).times(tension).times(over));
    (tension.times(length.times(inverse2)), inverse2)
}

/// Vectors from one end to the other, of step `n` of a run.
#[inline(always)]
fn difference<L: Lanes>(from: &[f64], to: &[f64], n: usize) -> [L; 3] {
    let (from, to) = (from.as_chunks().0, to.as_chunks().0);
    L::minus_vectors(L::load_vectors(&to[n]), L::load_vectors(&from[n]))
}

/// Numbers of step `n` of a run.
#[inline(always)]
fn part<L: Lanes>(of: &[f64], n: usize) -> L {
    L::load(&of.as_chunks().0[n])
}

#[inline(always)]
fn at(of: &[f64], node: usize) -> &[f64; 3] {
    &of.as_chunks().0[node]
}

#[inline(always)]
fn at_mut(of: &mut [f64], node: usize, first: usize) -> &mut [f64; 3] {
    &mut of.as_chunks_mut().0[node - first / 3]
}

/// Where the forces of a run go: action and reaction, on the ends that are owned.
struct Forces<'a, L, const FIRST: bool, const SECOND: bool, const CHAIN: bool> {
    to: &'a mut [f64],
    /// Where the nodes of the run begin, each as far as it is owned.
    i: usize,
    j: usize,
    /// Forces of the step before, whose last has not met its second end yet.
    before: [L; 3],
    count: usize,
}

impl<'a, L: Lanes, const FIRST: bool, const SECOND: bool, const CHAIN: bool> Forces<'a, L, FIRST, SECOND, CHAIN> {
    #[inline(always)]
    fn new(to: &'a mut [f64], i: usize, j: usize, first: usize, count: usize) -> Self {
        // `add` relies on this.
        let fits = |end: usize| end >= first && end - first + 3 * count <= to.len();
        assert!((!FIRST || fits(i)) && (!SECOND || fits(j)));
        Self { to, i: i.wrapping_sub(first), j: j.wrapping_sub(first), before: [L::splat(0.0); 3], count }
    }

    /// Step `n`, below the count over four.
    #[inline(always)]
    fn add(&mut self, n: usize, force: [L; 3]) {
        debug_assert!(WIDE * (n + 1) <= self.count);
        if CHAIN {
            // Both at once: a reaction stored now would be read back at once in the next
            // step, before it has reached the cache.
            let net = L::minus_vectors(force, L::shift(self.before, force));
            let to = self.part(self.i, n);
            L::store_vectors(L::plus_vectors(L::load_vectors(to), net), to);
            self.before = force;
            return;
        }
        if FIRST {
            let to = self.part(self.i, n);
            L::store_vectors(L::plus_vectors(L::load_vectors(to), force), to);
        }
        if SECOND {
            let to = self.part(self.j, n);
            L::store_vectors(L::minus_vectors(L::load_vectors(to), force), to);
        }
    }

    #[inline(always)]
    fn part(&mut self, start: usize, n: usize) -> &mut Vectors {
        // SAFETY: `new` has checked the whole run, and n counts steps within it.
        unsafe { &mut *self.to.as_mut_ptr().add(start + 3 * WIDE * n).cast::<Vectors>() }
    }

    /// The last reaction of a chain.
    #[inline(always)]
    fn finish(self) {
        if CHAIN {
            let mut last = [0.0; 3 * WIDE];
            L::store_vectors(self.before, &mut last);
            let end = self.j + 3 * self.count;
            for c in 0..3 {
                self.to[end - 3 + c] -= last[9 + c];
            }
        }
    }
}
