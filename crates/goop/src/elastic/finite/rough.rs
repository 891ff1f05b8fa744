//! Stiffness of tetrahedra, sixteen at a time in single precision.
//!
//! With c = Λ (J - 1) - μ, G = ∂J/∂F and B_a the gradients of the nodes, the second derivative of the energy needs no axes,
//! ```text
//! K_ab / V = μ (B_a·B_b) I + Λ g_a g_bᵀ + c [F (B_b × B_a)]ₓ        g_a = G B_a
//! ```
//! nor does damping, τ (μ ((B_a·B_b) F Fᵀ + h_b h_aᵀ) + λ h_a h_bᵀ) with h_a = F B_a. What makes the first positive semi-definite does:
//! rotations about the axes of F = U diag(s) Vᵀ,
//! ```text
//! Σ_k δ_k q_ka q_kbᵀ      q_ka = (u_i (v_j·B_a) - u_j (v_i·B_a)) / √2      δ_k = max(0, μ + c' t_k) - (μ + c σ s_k)
//! ```
//! c' and t taken where the tension is; shears and stretches likewise, where any cell of a pack is so deformed that these are not positive
//! by themselves (see `law`). The blocks of the first node follow from those of the others: a cell moved as a whole meets no force.
//!
//! Blocks off the diagonal are found and added up to seven digits, which is what directions of an implicit step
//! need. The diagonal is then what makes every row add up to
//! nothing, in double precision, so that moving a body as a whole costs nothing but its mass.

use super::kernel::calm;
use super::law::{self, Constants};
use super::pack::{self, Packs};
use super::wide::{
    M3, Two, V3, W, add_outer, apply, apply_transposed, cofactors, column, cross, diagonalise, dot, singular, zero,
};
use crate::elastic::Weights;
use crate::lanes::Kind;
use crate::lanes::eight::{Both, EIGHT, Padded};
use crate::lanes::sixteen::{Sixteen, WIDEST};
use crate::solve::BlockMatrix;
use crate::solve::block::RowsChunk;
use std::ops::Range;
use std::sync::Arc;

/// Sixteen tetrahedra side by side; unused lanes have no strength.
#[derive(Clone, Debug)]
struct Pack {
    nodes: [[u32; WIDEST]; 4],
    /// μ, λ
    moduli: [[f32; WIDEST]; 2],
    time: [f32; WIDEST],
    /// Where the blocks of node pairs begin among the numbers of the chunk; unused lanes have another's.
    places: [[u32; WIDEST]; 6],
    kept: [Kept; 6],
}

/// How the chunk keeps a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    AsItIs,
    Mirrored,
    Not,
}

/// Node pairs in the order of places.
const PAIRS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// By chunk, those that touch it.
#[derive(Debug)]
pub(super) struct Rough {
    packs: Vec<Vec<Pack>>,
    rest: Arc<[Padded]>,
    /// By chunk: how many it keeps.
    blocks: Vec<usize>,
}

impl Rough {
    /// From packs of eight, two by two; blocks are those of a matrix of their structure.
    pub fn new(eights: &Packs<4>, matrix: &BlockMatrix) -> Self {
        let of = |(chunk, list): (usize, &Vec<pack::Pack<4>>)| {
            let rows = matrix.chunks().range(chunk);
            let halves = list.chunk_by(|a, b| a.mask == b.mask).flat_map(|alike| alike.chunks(2));
            halves.map(|two| Pack::new(two, &rows, matrix)).collect()
        };
        let kept = |c: usize| {
            let rows = matrix.chunks().range(c);
            (matrix.first_block(rows.end) - matrix.first_block(rows.start)) as usize
        };
        let blocks = (0..eights.packs.len()).map(kept).collect();
        Self { packs: eights.packs.iter().enumerate().map(of).collect(), rest: eights.rest.clone(), blocks }
    }

    /// Adds blocks off the diagonal to the rows of a chunk. `places` are those at which the stiffness is taken, and those at which
    /// the tension is.
    pub fn assemble(&self, chunk: usize, places: &[Both], weights: Weights, rows: &mut RowsChunk<f32>) {
        match Kind::found() {
            Kind::Plain => self.assemble_by::<[f32; WIDEST]>(chunk, places, weights, rows),
            // SAFETY: the processor has what they are compiled for.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { self.assemble_avx2(chunk, places, weights, rows) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { self.assemble_avx512(chunk, places, weights, rows) },
        }
    }

    /// The same without vector registers.
    #[cfg(test)]
    pub fn assemble_plain(&self, chunk: usize, places: &[Both], weights: Weights, rows: &mut RowsChunk<f32>) {
        self.assemble_by::<[f32; WIDEST]>(chunk, places, weights, rows);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn assemble_avx2(&self, chunk: usize, places: &[Both], weights: Weights, rows: &mut RowsChunk<f32>) {
        self.assemble_by::<crate::lanes::sixteen::avx2::Pair>(chunk, places, weights, rows);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    fn assemble_avx512(&self, chunk: usize, places: &[Both], weights: Weights, rows: &mut RowsChunk<f32>) {
        self.assemble_by::<crate::lanes::sixteen::avx512::Whole>(chunk, places, weights, rows);
    }

    #[inline(always)]
    fn assemble_by<S: Sixteen>(&self, chunk: usize, places: &[Both], weights: Weights, rows: &mut RowsChunk<f32>) {
        assert!(places.len() == self.rest.len());
        let values = rows.numbers();
        assert!(values.len() == 9 * self.blocks[chunk]);
        let rest = &self.rest[..];
        for packs in self.packs[chunk].chunks(2) {
            // Axes of two packs side by side: they are a long chain of roots.
            let moved = [Moved::<S>::new(&packs[0], rest, places), Moved::new(&packs[packs.len() - 1], rest, places)];
            let axes = Two::both(singular(&Two::join(&moved[0].f, &moved[1].f)));
            for ((pack, moved), axes) in packs.iter().zip(&moved).zip(&axes) {
                let cell = Cell::<S>::new(pack, moved, axes, weights);
                let others = cell.others();
                put(pack, 0, cell.first::<0>(&others), values);
                put(pack, 1, cell.first::<1>(&others), values);
                put(pack, 2, cell.first::<2>(&others), values);
                put(pack, 3, others.between[0], values);
                put(pack, 4, others.between[1], values);
                put(pack, 5, others.between[2], values);
            }
        }
    }
}

/// Gradients of the motion of cells, and B.
struct Moved<S> {
    f: M3<S>,
    /// Where the tension is taken.
    there: M3<S>,
    b: [V3<S>; 3],
    volume: W<S>,
}

impl<S: Sixteen> Moved<S> {
    #[inline(always)]
    fn new(pack: &Pack, rest: &[Padded], places: &[Both]) -> Self {
        let mut edges = zero::<S>();
        for a in 0..3 {
            // SAFETY: nodes are there, by the assertion of the caller and `Packs::new`.
            let [x, y, z] = unsafe { S::difference(rest, &pack.nodes[0], &pack.nodes[a + 1]) };
            edges[a] = [W(x), W(y), W(z)];
        }
        let (across, det) = cofactors(&edges);
        let inverse = W::splat(1.0).over(det);
        let (mut f, mut there, mut b) = (zero::<S>(), zero::<S>(), zero::<S>());
        for a in 0..3 {
            b[a] = [across[a][0] * inverse, across[a][1] * inverse, across[a][2] * inverse];
            // SAFETY: as above.
            let [here, taut] = unsafe { S::between(places, &pack.nodes[0], &pack.nodes[a + 1]) };
            add_outer(&mut f, [W(here[0]), W(here[1]), W(here[2])], b[a]);
            add_outer(&mut there, [W(taut[0]), W(taut[1]), W(taut[2])], b[a]);
        }
        let volume = W::splat(1.0 / 6.0) * det.size();
        Self { f, there, b, volume }
    }
}

/// Adds the blocks of a node pair to those of the chunk.
#[inline(always)]
fn put<S: Sixteen>(pack: &Pack, pair: usize, block: M3<S>, values: &mut [f32]) {
    let [[a, b, c], [d, e, f], [g, h, i]] = block;
    let entries = match pack.kept[pair] {
        Kept::AsItIs => [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0, i.0],
        Kept::Mirrored => [a.0, d.0, g.0, b.0, e.0, h.0, c.0, f.0, i.0],
        Kept::Not => return,
    };
    // SAFETY: the chunk has these blocks, by `Pack::new` and the assertion of the caller.
    unsafe { S::add_blocks(entries, &pack.places[pair], values) };
}

impl Pack {
    /// From one pack of eight or two.
    fn new(two: &[pack::Pack<4>], rows: &Range<usize>, matrix: &BlockMatrix) -> Self {
        let mut out = Self {
            nodes: two[0].nodes.map(|nodes| [nodes[0]; WIDEST]),
            moduli: [[0.0; WIDEST]; 2],
            time: [0.0; WIDEST],
            places: [[0; WIDEST]; 6],
            kept: PAIRS.map(|[a, b]| match [two[0].has(a), two[0].has(b)] {
                [true, _] => Kept::AsItIs,
                [false, true] => Kept::Mirrored,
                [false, false] => Kept::Not,
            }),
        };
        let first = matrix.first_block(rows.start);
        for (half, eight) in two.iter().enumerate() {
            for l in 0..EIGHT {
                let (to, from) = (EIGHT * half + l, l.min(eight.used - 1));
                for a in 0..4 {
                    out.nodes[a][to] = eight.nodes[a][from];
                }
                for ((places, kept), [a, b]) in out.places.iter_mut().zip(out.kept).zip(PAIRS) {
                    let [i, j] = [eight.nodes[a][from], eight.nodes[b][from]];
                    let place = match kept {
                        Kept::AsItIs => matrix.position(i, j),
                        Kept::Mirrored => matrix.position(j, i),
                        Kept::Not => Some(first),
                    };
                    places[to] = 9 * (place.expect("nodes of a cell are joined") - first);
                }
                if l < eight.used {
                    (0..2).for_each(|k| out.moduli[k][to] = eight.moduli[k][l]);
                    out.time[to] = eight.time[l];
                }
            }
        }
        if two.len() == 1 {
            for list in out.places.iter_mut().chain(&mut out.nodes) {
                let first = list[0];
                list[EIGHT..].fill(first);
            }
        }
        out
    }
}

/// What the blocks of cells are made of, by nodes two to four.
struct Cell<S> {
    /// B
    b: [V3<S>; 3],
    /// G B, F B
    g: [V3<S>; 3],
    h: [V3<S>; 3],
    /// Of every rotation: its strength, and q.
    turns: [(W<S>, [V3<S>; 3]); 3],
    /// What there is of it where shears and stretches have to be mended.
    mend: Option<Mend<S>>,
    /// What (B_a·B_b) multiplies.
    square: M3<S>,
    /// V Λ, V τ μ, V τ λ with their weights.
    stiff: W<S>,
    brake: W<S>,
    slide: W<S>,
    /// V c F with its weight.
    turn: M3<S>,
}

/// What mending takes.
struct Mend<S> {
    position: W<S>,
    shears: V3<S>,
    stretches: M3<S>,
    u: M3<S>,
    /// B in V's axes.
    axes: [V3<S>; 3],
}

/// Blocks of nodes two to four: above the diagonal and on it of each with itself, and between two and three, two and four, three and
/// four.
struct Others<S> {
    own: [M3<S>; 3],
    between: [M3<S>; 3],
}

impl<S: Sixteen> Cell<S> {
    #[inline(always)]
    fn new(pack: &Pack, moved: &Moved<S>, (u, s, v): &(M3<S>, V3<S>, M3<S>), weights: Weights) -> Self {
        let (Moved { f, there, b, volume }, u, s, v) = (moved, *u, *s, *v);
        let m = Constants { mu: W::<S>::load_sixteen(&pack.moduli[0]), lambda: W::load_sixteen(&pack.moduli[1]) };
        let (position, velocity) = (*volume * W::splat(weights.position), *volume * W::splat(weights.velocity));
        let velocity = velocity * W::load_sixteen(&pack.time) * calm(f);
        let (g, j) = cofactors(f);
        let (none, one) = (W::splat(0.0), W::splat(1.0));
        let modulus = m.lambda + m.mu;
        let c = modulus * (j - one) - m.mu;
        let sigma = W::choose(j, none, -one, one);
        let (_, tj) = cofactors(there);
        let (cs, ct) = (c * sigma, (modulus * (tj - one) - m.mu) * sigma);
        let (mut gb, mut hb, mut axes) = ([[none; 3]; 3], [[none; 3]; 3], [[none; 3]; 3]);
        for a in 0..3 {
            (gb[a], hb[a], axes[a]) = (apply(&g, b[a]), apply(f, b[a]), apply_transposed(&v, b[a]));
        }
        let mut turns = [(none, [[none; 3]; 3]); 3];
        let half = W::splat(0.5) * position;
        for k in 0..3 {
            let (i, o) = ((k + 1) % 3, (k + 2) % 3);
            let image = apply(there, column(&v, k));
            let wanted = ct.fused(dot(image, image).root(), m.mu).positive();
            turns[k].0 = half * (wanted - cs.fused(s[k], m.mu));
            for a in 0..3 {
                for r in 0..3 {
                    turns[k].1[a][r] = u[r][o].taken(axes[a][i], u[r][i] * axes[a][o]);
                }
            }
        }
        let shears = [cs.taken(s[0], m.mu), cs.taken(s[1], m.mu), cs.taken(s[2], m.mu)];
        let stretches = law::stretches(m, s, sigma, cs);
        let sound = (none - shears[0]).all_below(none)
            && (none - shears[1]).all_below(none)
            && (none - shears[2]).all_below(none)
            && law::is_positive(&stretches);
        let mend = if sound { None } else { Some(Mend { position, shears, stretches, u, axes }) };
        let (brake, slide, by) = (velocity * m.mu, velocity * m.lambda, position * c);
        let (mut square, mut turn) = (zero::<S>(), *f);
        for i in 0..3 {
            for k in i..3 {
                square[i][k] = brake * dot(f[i], f[k]);
                square[k][i] = square[i][k];
            }
            square[i][i] = position.fused(m.mu, square[i][i]);
            for k in 0..3 {
                turn[i][k] = by * f[i][k];
            }
        }
        Self { b: *b, g: gb, h: hb, turns, mend, square, stiff: position * modulus, brake, slide, turn }
    }

    #[inline(always)]
    fn others(&self) -> Others<S> {
        let own = [self.own::<0>(), self.own::<1>(), self.own::<2>()];
        let mut out = Others { own, between: [self.block::<0, 1>(), self.block::<0, 2>(), self.block::<1, 2>()] };
        if let Some(mend) = &self.mend {
            mend.mend(&mut out);
        }
        out
    }

    /// Above the diagonal and on it.
    #[inline(always)]
    fn own<const A: usize>(&self) -> M3<S> {
        let (weight, both) = (dot(self.b[A], self.b[A]), self.brake + self.slide);
        let mut out = zero();
        for i in 0..3 {
            let (gs, hs) = (self.stiff * self.g[A][i], both * self.h[A][i]);
            for k in i..3 {
                out[i][k] = hs.fused(self.h[A][k], gs.fused(self.g[A][k], weight * self.square[i][k]));
            }
        }
        for turn in &self.turns {
            for i in 0..3 {
                let by = turn.0 * turn.1[A][i];
                for k in i..3 {
                    out[i][k] = by.fused(turn.1[A][k], out[i][k]);
                }
            }
        }
        out
    }

    #[inline(always)]
    fn block<const A: usize, const B: usize>(&self) -> M3<S> {
        let weight = dot(self.b[A], self.b[B]);
        let [x, y, z] = apply(&self.turn, cross(self.b[B], self.b[A]));
        let mut out = zero();
        for i in 0..3 {
            let (gs, hs, bs) = (self.stiff * self.g[A][i], self.slide * self.h[A][i], self.brake * self.h[B][i]);
            for k in 0..3 {
                let sum = gs.fused(self.g[B][k], weight * self.square[i][k]);
                out[i][k] = bs.fused(self.h[A][k], hs.fused(self.h[B][k], sum));
            }
        }
        for turn in &self.turns {
            for i in 0..3 {
                let by = turn.0 * turn.1[A][i];
                for k in 0..3 {
                    out[i][k] = by.fused(turn.1[B][k], out[i][k]);
                }
            }
        }
        (out[0][1], out[1][0]) = (out[0][1] - z, out[1][0] + z);
        (out[0][2], out[2][0]) = (out[0][2] + y, out[2][0] - y);
        (out[1][2], out[2][1]) = (out[1][2] - x, out[2][1] + x);
        out
    }

    /// The block between the first node and another: rows of a cell add up to nothing.
    #[inline(always)]
    fn first<const A: usize>(&self, others: &Others<S>) -> M3<S> {
        let Others { own, between: [low, mid, high] } = others;
        let mut out = zero();
        for i in 0..3 {
            for k in 0..3 {
                let sum = own[A][i.min(k)][i.max(k)];
                out[i][k] = -match A {
                    0 => sum + low[k][i] + mid[k][i],
                    1 => sum + low[i][k] + high[k][i],
                    _ => sum + mid[i][k] + high[i][k],
                };
            }
        }
        out
    }
}

impl<S: Sixteen> Mend<S> {
    /// Adds what makes shears and stretches positive.
    #[inline(always)]
    fn mend(&self, to: &mut Others<S>) {
        let half = W::splat(0.5) * self.position;
        for k in 0..3 {
            let (i, o) = ((k + 1) % 3, (k + 2) % 3);
            let mut q = [[W::splat(0.0); 3]; 3];
            for a in 0..3 {
                for r in 0..3 {
                    q[a][r] = self.u[r][o].fused(self.axes[a][i], self.u[r][i] * self.axes[a][o]);
                }
            }
            to.add(half * (self.shears[k].positive() - self.shears[k]), &q);
        }
        // Stretches along their own axes are squares too.
        let mut values = self.stretches;
        let w = diagonalise(&mut values);
        for k in 0..3 {
            let mut q = [[W::splat(0.0); 3]; 3];
            for a in 0..3 {
                for r in 0..3 {
                    for i in 0..3 {
                        q[a][r] = (w[i][k] * self.axes[a][i]).fused(self.u[r][i], q[a][r]);
                    }
                }
            }
            to.add(self.position * (values[k][k].positive() - values[k][k]), &q);
        }
    }
}

impl<S: Sixteen> Others<S> {
    /// Adds δ q_a q_bᵀ.
    #[inline(always)]
    fn add(&mut self, delta: W<S>, q: &[V3<S>; 3]) {
        for (to, [a, b]) in self.between.iter_mut().zip([[0, 1], [0, 2], [1, 2]]) {
            add_outer(to, [delta * q[a][0], delta * q[a][1], delta * q[a][2]], q[b]);
        }
        for (to, q) in self.own.iter_mut().zip(q) {
            add_outer(to, [delta * q[0], delta * q[1], delta * q[2]], *q);
        }
    }
}
