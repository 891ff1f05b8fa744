//! Forces and stiffness of packs of cells.

use super::law::{self, Constants};
use super::pack::{Hourglass, NOWHERE, Pack, Packs};
use super::wide::{
    M3, V3, W, add_outer, apply, apply_transposed, cofactors, column, dot, singular, transposed_product, turned, zero,
};
use crate::elastic::Weights;
use crate::elastic::pairs::{APART, Out, TOGETHER, WORK, Wanted};
use crate::elastic::rooms::Moving;
use crate::lanes::eight::{Doubles, EIGHT, Padded};
use crate::lanes::{Arithmetic, Kind};
use crate::solve::block::RowsChunk;
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Where the stiffness is taken, and which part of it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub x: &'a [DVec3],
    pub tension_at: &'a [DVec3],
    pub weights: Weights,
    pub exact: bool,
}

impl<const N: usize> Packs<N> {
    /// Adds the forces of a chunk's cells to its nodes; returns the energy (J) of those it keeps account of, and the work of their
    /// damping (J) if that is wanted.
    pub(super) fn forces<const WANTED: Wanted>(&self, chunk: usize, moving: Moving, out: &mut Out) -> [f64; 2] {
        match Kind::found() {
            Kind::Plain => self.forces_by::<[f64; EIGHT], WANTED>(chunk, moving, out),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.forces_avx2::<WANTED>(chunk, moving, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.forces_avx512::<WANTED>(chunk, moving, out) },
        }
    }

    /// The same without vector registers.
    #[cfg(test)]
    pub(super) fn forces_plain(&self, chunk: usize, moving: Moving, out: &mut Out) -> [f64; 2] {
        self.forces_by::<[f64; EIGHT], APART>(chunk, moving, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn forces_avx2<const WANTED: Wanted>(&self, chunk: usize, moving: Moving, out: &mut Out) -> [f64; 2] {
        self.forces_by::<crate::lanes::eight::avx2::Twice, WANTED>(chunk, moving, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    fn forces_avx512<const WANTED: Wanted>(&self, chunk: usize, moving: Moving, out: &mut Out) -> [f64; 2] {
        self.forces_by::<crate::lanes::eight::avx512::Whole, WANTED>(chunk, moving, out)
    }

    #[inline(always)]
    fn forces_by<D: Doubles, const WANTED: Wanted>(&self, chunk: usize, moving: Moving, out: &mut Out) -> [f64; 2] {
        self.check_rooms::<WANTED>(chunk, moving, out);
        let (mut energy, mut work) = (W::<D>::splat(0.0), W::<D>::splat(0.0));
        for (p, pack) in self.packs[chunk].iter().enumerate() {
            let m = constants::<D, N>(pack);
            let glass = self.hourglass[chunk].get(p);
            let rest = Rest::<D, N>::new(pack, glass, &self.rest);
            let (volume, time) = (rest.volume, W::load_single(&pack.time));
            let [offsets, rates] = gather_both::<D, N>(pack, moving);
            let f = rest.gradient(&offsets);
            let (density, mut stress) = law::stress(m, &f);
            let mut whole = volume * density;
            for row in &mut stress {
                for entry in row.iter_mut() {
                    *entry = -volume * *entry;
                }
            }
            // No closure: it would not be compiled for vector registers.
            let glass = match glass {
                Some(glass) => Some(Strains::new(glass, &f, &offsets)),
                None => None,
            };
            let mut forces = [[W::splat(0.0); 3]; N];
            if let Some(strains) = &glass {
                for t in 0..TERMS.len() {
                    let (k, s) = (strains.stiffness(t), strains.value(t));
                    whole = whole + W::splat(0.5) * k * s * s;
                    if WANTED != WORK {
                        strains.pull(t, -k * s, &mut forces);
                    }
                }
            }
            // The chunk of the first node keeps the account.
            if pack.has(0) {
                energy = energy + whole;
            }
            let mut drag = zero();
            if self.damped {
                let rate = rest.gradient(&rates);
                drag = viscous(m, &f, &rate, -volume * time);
            }
            let mut drags = [[W::splat(0.0); 3]; N];
            if let Some(strains) = glass.as_ref().filter(|_| self.damped) {
                for t in 0..TERMS.len() {
                    let rate = strains.rate(t, &rates);
                    strains.pull(t, -strains.stiffness(t) * time * rate, &mut drags);
                }
            }
            if WANTED == WORK {
                if self.damped && pack.has(0) {
                    let moved = gather_moved::<D, N>(pack, moving.moved);
                    let along = rest.gradient(&moved);
                    let mut sum = dot(drag[0], along[0]) + dot(drag[1], along[1]) + dot(drag[2], along[2]);
                    if glass.is_some() {
                        for a in 1..N {
                            sum = sum + dot(drags[a], moved[a]);
                        }
                    }
                    work = work + sum;
                }
                continue;
            }
            if WANTED == TOGETHER {
                for i in 0..3 {
                    for k in 0..3 {
                        stress[i][k] = stress[i][k] + drag[i][k];
                    }
                }
                for a in 0..N {
                    for k in 0..3 {
                        forces[a][k] = forces[a][k] + drags[a][k];
                    }
                }
            }
            rest.add_stress(&stress, &mut forces);
            give::<D, N>(pack, &forces, out.first, out.elastic);
            if WANTED == APART && self.damped {
                rest.add_stress(&drag, &mut drags);
                give::<D, N>(pack, &drags, out.first, out.damping);
            }
        }
        let (energies, works) = (energy.store(), work.store());
        [energies.iter().sum(), works.iter().sum()]
    }

    /// Adds stiffness and damping to the rows of a chunk.
    pub(super) fn assemble(&self, chunk: usize, nodes: &Range<usize>, at: At, rows: &mut RowsChunk) {
        #[cfg(target_arch = "x86_64")]
        if Kind::found() != Kind::Plain {
            // SAFETY: the processor has AVX2 and FMA.
            return unsafe { self.assemble_avx2(chunk, nodes, at, rows) };
        }
        self.assemble_by::<[f64; EIGHT]>(chunk, nodes, at, rows);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn assemble_avx2(&self, chunk: usize, nodes: &Range<usize>, at: At, rows: &mut RowsChunk) {
        self.assemble_by::<crate::lanes::eight::avx2::Twice>(chunk, nodes, at, rows);
    }

    #[inline(always)]
    fn assemble_by<L: Doubles>(&self, chunk: usize, nodes: &Range<usize>, at: At, rows: &mut RowsChunk) {
        let Some(positions) = self.positions.get() else { return };
        let mut places = positions[chunk].as_chunks::<EIGHT>().0.iter();
        for (p, pack) in self.packs[chunk].iter().enumerate() {
            let offsets = gather::<L, N>(pack, at.x);
            let rest = Rest::<L, N>::new(pack, self.hourglass[chunk].get(p), &self.rest);
            let coefficients = Turned::<L, N>::new(pack, &rest, &offsets, at);
            // No closure: it would not be compiled for vector registers.
            let glass = match self.hourglass[chunk].get(p) {
                Some(glass) => Some(Strains::new(glass, &coefficients.f, &offsets)),
                None => None,
            };
            // ∇s of every hourglass strain, node by node.
            let mut slopes = [[[W::splat(0.0); 3]; N]; TERMS.len()];
            let mut strengths = [W::splat(0.0); TERMS.len()];
            if let Some(strains) = &glass {
                let weight = W::splat(at.weights.position) + W::splat(at.weights.velocity) * W::load_single(&pack.time);
                for t in 0..TERMS.len() {
                    strengths[t] = strains.stiffness(t) * weight;
                    strains.pull(t, W::splat(1.0), &mut slopes[t]);
                }
            }
            let mut diagonal = [zero::<L>(); N];
            for a in 0..N {
                for b in a + 1..N {
                    let mut block = coefficients.block(a, b);
                    if let Some(strains) = &glass {
                        for t in 0..TERMS.len() {
                            let scaled = scale(slopes[t][a], strengths[t]);
                            add_outer(&mut block, scaled, slopes[t][b]);
                        }
                        if at.exact {
                            strains.add_curvature(a, b, at.weights.position, &mut block);
                        }
                    }
                    // Rows sum to zero.
                    for i in 0..3 {
                        for k in 0..3 {
                            diagonal[a][i][k] = diagonal[a][i][k] - block[i][k];
                            diagonal[b][k][i] = diagonal[b][k][i] - block[i][k];
                        }
                    }
                    let place = places.next().unwrap_or(&[NOWHERE; EIGHT]);
                    let each = entries(&block);
                    for l in 0..pack.used {
                        let [i, j] = [pack.nodes[a][l], pack.nodes[b][l]];
                        if place[l] != NOWHERE {
                            let block = lane(&each, l);
                            if nodes.contains(&(i as usize)) {
                                rows.add(place[l], &block);
                            } else {
                                rows.add(place[l], &block.transpose());
                            }
                        } else if i == j && nodes.contains(&(i as usize)) {
                            // A corner named twice: both off-diagonal blocks are on the diagonal.
                            let block = lane(&each, l);
                            rows.add_diagonal(i as usize, &(block + block.transpose()));
                        }
                    }
                }
            }
            for a in 0..N {
                let each = entries(&diagonal[a]);
                for l in 0..pack.used {
                    let node = pack.nodes[a][l] as usize;
                    if nodes.contains(&node) {
                        rows.add_diagonal(node, &lane(&each, l));
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn entries<L: Doubles>(m: &M3<L>) -> [[f64; EIGHT]; 9] {
    let mut out = [[0.0; EIGHT]; 9];
    for i in 0..3 {
        for k in 0..3 {
            out[3 * k + i] = m[i][k].store();
        }
    }
    out
}

/// One lane's matrix; entries come by columns.
#[inline(always)]
fn lane(each: &[[f64; EIGHT]; 9], l: usize) -> DMat3 {
    DMat3::from_cols_array(&std::array::from_fn(|k| each[k][l]))
}

#[inline(always)]
fn scale<L: Doubles>(v: V3<L>, by: W<L>) -> V3<L> {
    [v[0] * by, v[1] * by, v[2] * by]
}

#[inline(always)]
fn constants<L: Doubles, const N: usize>(pack: &Pack<N>) -> Constants<L> {
    Constants { mu: W::load_single(&pack.moduli[0]), lambda: W::load_single(&pack.moduli[1]) }
}

#[inline(always)]
fn vector<L: Doubles>(from: &[[f64; EIGHT]; 3]) -> V3<L> {
    [W::load(&from[0]), W::load(&from[1]), W::load(&from[2])]
}

/// Positions from the first node of each cell, in which rounding is that of the cell's size, and velocities.
#[inline(always)]
fn gather_both<D: Doubles, const N: usize>(pack: &Pack<N>, moving: Moving) -> [[V3<D>; N]; 2] {
    let mut out = [[[W::splat(0.0); 3]; N]; 2];
    for a in 1..N {
        // SAFETY: nodes are there, by `check_rooms`.
        let both = unsafe { D::between(moving.both, &pack.nodes[0], &pack.nodes[a]) };
        for part in 0..2 {
            let [x, y, z] = both[part];
            out[part][a] = [W(x), W(y), W(z)];
        }
    }
    out
}

/// The same of how far nodes have come.
#[inline(always)]
fn gather_moved<D: Doubles, const N: usize>(pack: &Pack<N>, moved: &[Padded]) -> [V3<D>; N] {
    let mut out = [[W::splat(0.0); 3]; N];
    for a in 1..N {
        // SAFETY: as above.
        let [x, y, z] = unsafe { D::difference(moved, &pack.nodes[0], &pack.nodes[a]) };
        out[a] = [W(x), W(y), W(z)];
    }
    out
}

/// The same of positions alone, one by one.
#[inline(always)]
fn gather<D: Doubles, const N: usize>(pack: &Pack<N>, x: &[DVec3]) -> [V3<D>; N] {
    let mut out = [[W::splat(0.0); 3]; N];
    for a in 1..N {
        let mut parts = [[0.0; EIGHT]; 3];
        for l in 0..EIGHT {
            let offset = x[pack.nodes[a][l] as usize] - x[pack.nodes[0][l] as usize];
            (parts[0][l], parts[1][l], parts[2][l]) = (offset.x, offset.y, offset.z);
        }
        out[a] = vector(&parts);
    }
    out
}

/// The rest shape of cells.
struct Rest<L, const N: usize> {
    /// B_a
    b: [V3<L>; N],
    volume: W<L>,
}

impl<D: Doubles, const N: usize> Rest<D, N> {
    /// Of hexahedra it is known; of tetrahedra it is found.
    #[inline(always)]
    fn new(pack: &Pack<N>, glass: Option<&Hourglass<N>>, rest: &[Padded]) -> Self {
        let mut b = [[W::splat(0.0); 3]; N];
        if let Some(glass) = glass {
            for a in 0..N {
                b[a] = vector(&glass.gradient[a]);
            }
            return Self { b, volume: W::load(&glass.volume) };
        }
        let mut edges = [[W::splat(0.0); 3]; 3];
        for a in 0..3 {
            // SAFETY: nodes are there, by `Packs::new`.
            let [x, y, z] = unsafe { D::difference(rest, &pack.nodes[0], &pack.nodes[a + 1]) };
            edges[a] = [W(x), W(y), W(z)];
        }
        let (across, det) = cofactors(&edges);
        let inverse = W::splat(1.0).over(det);
        for a in 0..3 {
            for k in 0..3 {
                b[a + 1][k] = across[a][k] * inverse;
                b[0][k] = b[0][k] - b[a + 1][k];
            }
        }
        Self { b, volume: W::splat(1.0 / 6.0) * det.size() }
    }

    /// Σ x_a B_aᵀ
    #[inline(always)]
    fn gradient(&self, offsets: &[V3<D>; N]) -> M3<D> {
        let mut f = zero();
        for a in 1..N {
            add_outer(&mut f, offsets[a], self.b[a]);
        }
        f
    }

    /// P B_a to every node, and the opposite of all to the first.
    #[inline(always)]
    fn add_stress(&self, stress: &M3<D>, forces: &mut [V3<D>; N]) {
        for a in 1..N {
            let force = apply(stress, self.b[a]);
            for k in 0..3 {
                forces[a][k] = forces[a][k] + force[k];
                forces[0][k] = forces[0][k] - force[k];
            }
        }
    }
}

/// To the nodes that the chunk has.
#[inline(always)]
fn give<D: Doubles, const N: usize>(pack: &Pack<N>, forces: &[V3<D>; N], first: usize, to: &mut [Padded]) {
    for a in 0..N {
        if pack.has(a) {
            let [x, y, z] = forces[a];
            // SAFETY: it has this node of all cells, and a row for each of its nodes, by `check_rooms`.
            unsafe { D::add([x.0, y.0, z.0], &pack.nodes[a], first, to) };
        }
    }
}

/// `by` F (2μ Ė + λ tr Ė), less where a cell is stretched.
#[inline(always)]
fn viscous<L: Arithmetic>(m: Constants<L>, f: &M3<L>, rate: &M3<L>, by: W<L>) -> M3<L> {
    let strain = transposed_product(f, rate);
    let trace = strain[0][0] + strain[1][1] + strain[2][2];
    let mut s = zero();
    for i in 0..3 {
        for j in 0..3 {
            s[i][j] = m.mu * (strain[i][j] + strain[j][i]);
        }
        s[i][i] = m.lambda.fused(trace, s[i][i]);
    }
    let (mut stress, by) = (zero(), by * calm(f));
    for i in 0..3 {
        for j in 0..3 {
            stress[i][j] = by * dot(f[i], column(&s, j));
        }
    }
    stress
}

/// What is left of the damping of a cell that is stretched: (3 / |F|²)², 1 for all others. Without it a cell
/// stretched s times resists every change s⁴ times as much, and one that a single bad guess of a step stretches stays so.
#[inline(always)]
pub(super) fn calm<L: Arithmetic>(f: &M3<L>) -> W<L> {
    let three = W::splat(3.0);
    let square = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let share = three.over(square.larger(three));
    share * share
}

/// Stiffness and damping of F in the axes of its singular values.
pub(super) struct Turned<L, const N: usize> {
    f: M3<L>,
    u: M3<L>,
    law: law::Second<L>,
    /// B_a in V's axes.
    b: [V3<L>; N],
}

/// What [`Turned`] is made of.
pub(super) struct Cells<L, const N: usize> {
    pub constants: Constants<L>,
    pub volume: W<L>,
    /// Damping time (s).
    pub time: W<L>,
    pub f: M3<L>,
    /// F where the tension is taken, if that is elsewhere.
    pub taut: Option<M3<L>>,
    /// B_a
    pub gradient: [V3<L>; N],
}

impl<L: Doubles, const N: usize> Turned<L, N> {
    #[inline(always)]
    fn new(pack: &Pack<N>, rest: &Rest<L, N>, offsets: &[V3<L>; N], at: At) -> Self {
        let taut =
            if std::ptr::eq(at.x, at.tension_at) { None } else { Some(rest.gradient(&gather(pack, at.tension_at))) };
        let cells = Cells {
            constants: constants::<L, N>(pack),
            volume: rest.volume,
            time: W::load_single(&pack.time),
            f: rest.gradient(offsets),
            taut,
            gradient: rest.b,
        };
        Self::of(cells, at.weights, at.exact)
    }
}

impl<L: Arithmetic, const N: usize> Turned<L, N> {
    #[inline(always)]
    pub(super) fn of(cells: Cells<L, N>, weights: Weights, exact: bool) -> Self {
        let Cells { constants: m, volume, time, f, taut, gradient } = cells;
        let time = time * calm(&f);
        let (u, s, v) = singular(&f);
        let (_, j) = cofactors(&f);
        let sigma = W::choose(j, W::splat(0.0), W::splat(-1.0), W::splat(1.0));
        let (mut t, mut tj) = (s, j);
        if let Some(there) = taut {
            // The same axes, the stretch along them there.
            for k in 0..3 {
                let image = apply(&there, column(&v, k));
                t[k] = dot(image, image).root();
            }
            tj = cofactors(&there).1;
        }
        let mut law = law::second(m, s, sigma, t, tj, exact);
        let (position, velocity) = (volume * W::splat(weights.position), volume * W::splat(weights.velocity) * time);
        for i in 0..3 {
            for k in 0..3 {
                law.a[i][k] = position * law.a[i][k] + velocity * m.lambda * s[i] * s[k];
                if i == k {
                    law.a[i][i] = law.a[i][i] + velocity * W::splat(2.0) * m.mu * s[i] * s[i];
                } else {
                    law.q[i][k] = position * law.q[i][k] + velocity * m.mu * s[i] * s[i];
                    law.r[i][k] = position * law.r[i][k] + velocity * m.mu * s[i] * s[k];
                }
            }
        }
        let mut b = [[W::splat(0.0); 3]; N];
        for a in 0..N {
            b[a] = apply_transposed(&v, gradient[a]);
        }
        Self { f, u, law, b }
    }

    #[inline(always)]
    pub(super) fn block(&self, a: usize, b: usize) -> M3<L> {
        let (a, b) = (self.b[a], self.b[b]);
        let mut k = zero();
        for i in 0..3 {
            for j in 0..3 {
                k[i][j] = self.law.a[i][j] * a[i] * b[j];
                if i != j {
                    k[i][j] = k[i][j] + self.law.r[i][j] * a[j] * b[i];
                }
            }
            let (j, o) = ((i + 1) % 3, (i + 2) % 3);
            k[i][i] = k[i][i] + self.law.q[i][j] * a[j] * b[j] + self.law.q[i][o] * a[o] * b[o];
        }
        turned(&self.u, &k)
    }
}

/// An hourglass strain: c₁ f_i·β_m + c₂ f_j·β_n.
#[derive(Clone, Copy)]
struct Term {
    parts: [(usize, usize); 2],
    /// Factors: a number, or one of the ratios.
    factors: [Factor; 2],
    kind: usize,
}

#[derive(Clone, Copy)]
enum Factor {
    Number(f64),
    Ratio(usize),
}

const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// β: 0 is ηζ, 1 is ξζ, 2 is ξη, 3 is ξηζ.
const TERMS: [Term; 12] = [
    pair(0, 1, 1, 0, HALF, 0),
    pair(0, 1, 1, 0, -HALF, 1),
    pair(0, 2, 2, 0, HALF, 0),
    pair(0, 2, 2, 0, -HALF, 1),
    pair(1, 2, 2, 1, HALF, 0),
    pair(1, 2, 2, 1, -HALF, 1),
    // E₁₂ along 3, E₁₃ along 2, E₂₃ along 1.
    Term { parts: [(0, 0), (1, 1)], factors: [Factor::Ratio(0), Factor::Ratio(1)], kind: 2 },
    Term { parts: [(0, 0), (2, 2)], factors: [Factor::Ratio(2), Factor::Ratio(3)], kind: 2 },
    Term { parts: [(1, 1), (2, 2)], factors: [Factor::Ratio(4), Factor::Ratio(5)], kind: 2 },
    warp(0),
    warp(1),
    warp(2),
];

const fn pair(i: usize, m: usize, j: usize, n: usize, second: f64, kind: usize) -> Term {
    Term { parts: [(i, m), (j, n)], factors: [Factor::Number(HALF), Factor::Number(second)], kind }
}

const fn warp(i: usize) -> Term {
    Term { parts: [(i, 3), (i, 3)], factors: [Factor::Number(1.0), Factor::Number(0.0)], kind: 3 }
}

/// Hourglass motions of a pack.
struct Strains<'a, L, const N: usize> {
    glass: &'a Hourglass<N>,
    /// F e_i / ℓ_i
    f: [V3<L>; 3],
    beta: [V3<L>; 4],
}

impl<'a, L: Doubles, const N: usize> Strains<'a, L, N> {
    #[inline(always)]
    fn new(glass: &'a Hourglass<N>, f: &M3<L>, offsets: &[V3<L>; N]) -> Self {
        let mut axes = [[W::splat(0.0); 3]; 3];
        for i in 0..3 {
            axes[i] = apply(f, vector(&glass.axes[i]));
        }
        Self { glass, f: axes, beta: patterns(glass, offsets) }
    }

    #[inline(always)]
    fn factor(&self, factor: Factor) -> W<L> {
        match factor {
            Factor::Number(value) => W::splat(value),
            Factor::Ratio(r) => W::load(&self.glass.ratios[r]),
        }
    }

    #[inline(always)]
    fn stiffness(&self, t: usize) -> W<L> {
        W::load(&self.glass.stiffness[TERMS[t].kind])
    }

    #[inline(always)]
    fn value(&self, t: usize) -> W<L> {
        let mut sum = W::splat(0.0);
        for p in 0..2 {
            let (i, m) = TERMS[t].parts[p];
            sum = sum + self.factor(TERMS[t].factors[p]) * dot(self.f[i], self.beta[m]);
        }
        sum
    }

    /// Adds `by` ∇s to every node.
    #[inline(always)]
    fn pull(&self, t: usize, by: W<L>, to: &mut [V3<L>; N]) {
        for p in 0..2 {
            let (i, m) = TERMS[t].parts[p];
            let c = by * self.factor(TERMS[t].factors[p]);
            let (along, beta) = (scale(self.f[i], c), scale(self.beta[m], c));
            let axis = vector(&self.glass.axes[i]);
            for a in 0..N {
                let (slope, gamma) = (dot(vector(&self.glass.gradient[a]), axis), W::load(&self.glass.gamma[m][a]));
                for k in 0..3 {
                    to[a][k] = to[a][k] + slope * beta[k] + gamma * along[k];
                }
            }
        }
    }

    /// ds/dt for velocities from that of the first node.
    #[inline(always)]
    fn rate(&self, t: usize, rates: &[V3<L>; N]) -> W<L> {
        let mut slopes = [[W::splat(0.0); 3]; N];
        self.pull(t, W::splat(1.0), &mut slopes);
        let mut sum = W::splat(0.0);
        for a in 1..N {
            sum = sum + dot(slopes[a], rates[a]);
        }
        sum
    }

    /// Adds k s ∇²s of all strains to the block of two nodes.
    #[inline(always)]
    fn add_curvature(&self, a: usize, b: usize, weight: f64, block: &mut M3<L>) {
        for t in 0..TERMS.len() {
            let tension = W::splat(weight) * self.stiffness(t) * self.value(t);
            for p in 0..2 {
                let (i, m) = TERMS[t].parts[p];
                let axis = vector(&self.glass.axes[i]);
                let (sa, sb) = (dot(vector(&self.glass.gradient[a]), axis), dot(vector(&self.glass.gradient[b]), axis));
                let (ga, gb) = (W::load(&self.glass.gamma[m][a]), W::load(&self.glass.gamma[m][b]));
                let both = tension * self.factor(TERMS[t].factors[p]) * (sa * gb + ga * sb);
                for k in 0..3 {
                    block[k][k] = block[k][k] + both;
                }
            }
        }
    }
}

#[inline(always)]
fn patterns<L: Doubles, const N: usize>(glass: &Hourglass<N>, offsets: &[V3<L>; N]) -> [V3<L>; 4] {
    let mut beta = [[W::splat(0.0); 3]; 4];
    for m in 0..4 {
        for a in 1..N {
            let gamma = W::load(&glass.gamma[m][a]);
            for k in 0..3 {
                beta[m][k] = beta[m][k] + gamma * offsets[a][k];
            }
        }
    }
    beta
}
