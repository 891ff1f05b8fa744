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
    pub elastic: &'a mut [DVec3],
    /// Damping forces (N); empty where nothing is damped, or they are not wanted apart.
    pub damping: &'a mut [DVec3],
}

/// Where springs are, and where they were when their dampers began to work.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub x: &'a [DVec3],
    pub v: &'a [DVec3],
    /// Empty where no work is wanted.
    pub from: &'a [DVec3],
}

/// Positions, velocities, rest lengths and constants, as plain numbers.
#[derive(Clone, Copy)]
struct Given<'a> {
    places: Places<'a>,
    x: &'a [f64],
    v: &'a [f64],
    from: &'a [f64],
    rest: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
}

/// Energy and work of damping.
#[derive(Clone, Copy)]
pub(super) struct Sums<L> {
    pub energy: L,
    pub work: L,
}

impl<L: Lanes> Sums<L> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self { energy: L::splat(0.0), work: L::splat(0.0) }
    }

    #[inline(always)]
    pub(super) fn total(self) -> [f64; 2] {
        let (mut energy, mut work) = ([0.0; WIDE], [0.0; WIDE]);
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
        places: Places,
        out: Out,
    ) -> [f64; 2] {
        let Constants { rest, stiffness, damping, .. } = self.constants(memory);
        let [x, v, from] = [places.x, places.v, places.from].map(bytemuck::cast_slice);
        let given = Given { places, x, v, from, rest, stiffness, damping };
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.pair_forces_avx2::<WANTED>(chunk, given, out) };
        }
        self.pair_forces_by::<[f64; WIDE], WANTED>(chunk, given, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn pair_forces_avx2<const WANTED: Wanted>(&self, chunk: usize, given: Given, out: Out) -> [f64; 2] {
        self.pair_forces_by::<crate::lanes::avx2::Register, WANTED>(chunk, given, out)
    }

    #[inline(always)]
    fn pair_forces_by<L: Lanes, const WANTED: Wanted>(&self, chunk: usize, given: Given, out: Out) -> [f64; 2] {
        let Out { first, elastic, damping } = out;
        let mut sums = Sums::<L>::zero();
        for (runs, side) in self.runs.of(chunk) {
            if side == Side::Second && WANTED == WORK {
                continue;
            }
            let before = sums;
            for run in runs {
                let Some(nodes) = run.first else {
                    let out = Out { first, elastic: &mut *elastic, damping: &mut *damping };
                    sums = self.gathered::<L, WANTED>(run, given, out, sums);
                    continue;
                };
                let (f, g) = (bytemuck::cast_slice_mut(elastic), bytemuck::cast_slice_mut(damping));
                let (at, chain) = (3 * first, nodes[1] - nodes[0] == 1);
                sums = match side {
                    Side::Both if chain => self.run::<L, WANTED, true, true, true>(run, nodes, given, at, f, g, sums),
                    Side::Both => self.run::<L, WANTED, true, true, false>(run, nodes, given, at, f, g, sums),
                    Side::First => self.run::<L, WANTED, true, false, false>(run, nodes, given, at, f, g, sums),
                    Side::Second => self.run::<L, WANTED, false, true, false>(run, nodes, given, at, f, g, sums),
                };
            }
            if side == Side::Second {
                // The other chunk of a spring that crosses keeps the account.
                sums = before;
            }
        }
        sums.total()
    }

    /// Springs whose nodes follow one another, for the ends that the chunk owns. In a
    /// `CHAIN` the second end of a spring is the first of the next.
    #[inline(always)]
    fn run<L: Lanes, const WANTED: Wanted, const FIRST: bool, const SECOND: bool, const CHAIN: bool>(
        &self,
        run: &Run,
        nodes: [u32; 2],
        given: Given,
        first: usize,
        f: &mut [f64],
        g: &mut [f64],
        mut sums: Sums<L>,
    ) -> Sums<L> {
        let (start, count) = (run.start as usize, run.count as usize);
        let [i, j] = nodes.map(|i| 3 * i as usize);
        let springs = start..start + count;
        let (k, r, c) = (&given.stiffness[springs.clone()], &given.rest[springs.clone()], &given.damping[springs]);
        let (from, to) = (i..i + 3 * count, j..j + 3 * count);
        let (xi, xj) = (&given.x[from.clone()], &given.x[to.clone()]);
        if WANTED == WORK {
            let (vi, vj) = (&given.v[from.clone()], &given.v[to.clone()]);
            let (wi, wj) = (&given.from[from], &given.from[to]);
            for n in 0..count / WIDE {
                let d = difference(xi, xj, n);
                let (_, inverse2) = law(d, part(k, n), part(r, n), &mut sums.energy);
                if self.damped {
                    let brake = self.brake(d, difference(vi, vj, n), part(c, n), inverse2);
                    let moved = L::minus_vectors(d, difference(wi, wj, n));
                    sums.work = sums.work.minus(L::dots(brake, moved));
                }
            }
            return sums;
        }
        let mut f = Forces::<L, FIRST, SECOND, CHAIN>::new(f, i, j, first, count);
        if !self.damped {
            for n in 0..count / WIDE {
                let d = difference(xi, xj, n);
                let (pull, _) = law(d, part(k, n), part(r, n), &mut sums.energy);
                f.add(n, L::scale(d, pull));
            }
            f.finish();
            return sums;
        }
        let (vi, vj) = (&given.v[from], &given.v[to]);
        if WANTED == TOGETHER {
            for n in 0..count / WIDE {
                let d = difference(xi, xj, n);
                let (pull, inverse2) = law(d, part(k, n), part(r, n), &mut sums.energy);
                let brake = self.brake(d, difference(vi, vj, n), part(c, n), inverse2);
                f.add(n, L::plus_vectors(L::scale(d, pull), brake));
            }
            f.finish();
            return sums;
        }
        let mut g = Forces::<L, FIRST, SECOND, CHAIN>::new(g, i, j, first, count);
        for n in 0..count / WIDE {
            let d = difference(xi, xj, n);
            let (pull, inverse2) = law(d, part(k, n), part(r, n), &mut sums.energy);
            f.add(n, L::scale(d, pull));
            g.add(n, self.brake(d, difference(vi, vj, n), part(c, n), inverse2));
        }
        f.finish();
        g.finish();
        sums
    }

    /// Springs whose nodes lie anywhere, by components; a last step of fewer than four is filled up with springs of no
    /// strength. Forces reach the ends that the chunk owns.
    #[inline(always)]
    fn gathered<L: Lanes, const WANTED: Wanted>(
        &self,
        run: &Run,
        given: Given,
        out: Out,
        mut sums: Sums<L>,
    ) -> Sums<L> {
        let (end, Places { x, v, from }) = ((run.start + run.count) as usize, given.places);
        for s in (run.start as usize..end).step_by(WIDE) {
            let used = (end - s).min(WIDE);
            let (mut i, mut j) = ([0; WIDE], [0; WIDE]);
            let (mut k, mut r, mut c) = ([0.0; WIDE], [0.0; WIDE], [0.0; WIDE]);
            for l in 0..used {
                [i[l], j[l]] = self.ends[s + l];
                (k[l], r[l], c[l]) = (given.stiffness[s + l], given.rest[s + l], given.damping[s + l]);
            }
            let d = L::minus_vectors(L::gather(x, &j), L::gather(x, &i));
            let length2 = dot(d, d);
            let (length, inverse2) = (length2.root(), length2.inverse(TINY * TINY));
            let over = length.minus(L::load(&r));
            let tension = L::load(&k).times(over);
            sums.energy = sums.energy.plus(L::splat(0.5).times(tension).times(over));
            let pull = tension.times(length.times(inverse2));
            let mut force = times(d, pull);
            if self.damped {
                let dv = L::minus_vectors(L::gather(v, &j), L::gather(v, &i));
                let c = L::load(&c);
                let brake = if self.as_printed { times(dv, c) } else { times(d, c.times(dot(d, dv)).times(inverse2)) };
                if WANTED == WORK {
                    let moved = L::minus_vectors(d, L::minus_vectors(L::gather(from, &j), L::gather(from, &i)));
                    sums.work = sums.work.minus(dot(brake, moved));
                } else if WANTED == TOGETHER {
                    force = L::plus_vectors(force, brake);
                } else {
                    L::scatter(brake, &i, used, out.first, out.damping);
                    L::scatter(L::minus_vectors([L::splat(0.0); 3], brake), &j, used, out.first, out.damping);
                }
            }
            if WANTED != WORK {
                L::scatter(force, &i, used, out.first, out.elastic);
                L::scatter(L::minus_vectors([L::splat(0.0); 3], force), &j, used, out.first, out.elastic);
            }
        }
        sums
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

/// Scalar products of vectors by components.
#[inline(always)]
pub(super) fn dot<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    a[0].times(b[0]).plus(a[1].times(b[1])).plus(a[2].times(b[2]))
}

/// Vectors by components, each times its number.
#[inline(always)]
fn times<L: Lanes>(v: [L; 3], by: L) -> [L; 3] {
    [v[0].times(by), v[1].times(by), v[2].times(by)]
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
