//! What the energies of elasticity theory have in common: a few nodes, a few strains, a law.
//!
//! ```text
//! E    = E(s(x), s⁰)                    mostly ½ (s - s⁰)ᵀ H (s - s⁰)        [J]
//! f_a  = -Σ_k σ_k ∂s_k/∂x_a             σ = ∂E/∂s                            [N]
//! K_ab = Σ_kl ∂s_k/∂x_a H_kl ∂s_l/∂x_bᵀ + Σ_k σ_k ∂²s_k/∂x_a∂x_b             [N/m]
//! damping: f_a = -β Σ_kl ∂s_k/∂x_a H_kl ṡ_l      ṡ = Σ_a ∂s/∂x_a · v_a        [N]
//! ```
//! Strains do not see a rigid motion, so forces and damping push and turn nothing. The first part
//! of K (Gauss-Newton) is positive semi-definite; the second is clamped for implicit steps, or left out where
//! it is small beside the first (bending).
//!
//! A file for each kind has its mathematics; assembly is here, once.

use super::Weights;
use crate::material::Material;
use crate::parallel::Chunks;
use crate::solve::BlockMatrix;
use crate::solve::block::RowsChunk;
use glam::{DMat3, DVec3};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::OnceLock;

/// Derivatives of M strains by N positions.
pub(super) type Gradient<const N: usize, const M: usize> = [[DVec3; N]; M];
/// Blocks K_ab with a ≤ b.
pub(super) type Blocks<const N: usize> = [[DMat3; N]; N];

/// Which change of stress with strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// ∂σ/∂s
    Exact,
    /// The same, positive semi-definite.
    Clamped,
    /// What damping is proportional to.
    Viscous,
}

/// Below this a length or area means nothing.
pub(super) const TINY: f64 = 1e-150;

/// One kind of element. Unused nodes repeat another and have no derivatives.
pub(super) trait Element<const N: usize, const M: usize>: Send + Sync + Debug {
    /// Whether damping is proportional to the clamped stiffness itself: it is where strains do not turn with the body.
    const PROPORTIONAL: bool = true;
    /// Whether `gradient` leaves out derivatives that another element of the kind writes.
    const SPARSE: bool = true;
    /// Its nodes.
    fn nodes(&self) -> &[u32; N];
    /// β (s).
    fn time(&self) -> f64;
    /// 2E at unit strain (J), the strain that yields and flows.
    fn unit(&self) -> f64;
    /// Grid edges that it needs, in the order of the bits of `broken`.
    fn links(&self) -> Vec<[u32; 2]>;
    /// s
    fn strains(&self, x: &[DVec3; N]) -> [f64; M];
    /// s and its derivatives; `out` comes as zeros.
    fn gradient(&self, x: &[DVec3; N], out: &mut Gradient<N, M>) -> [f64; M];
    /// H (s - s⁰), for laws that are linear.
    fn moduli_times(&self, over: &[f64; M], broken: u32) -> [f64; M];
    /// s - s⁰
    #[inline(always)]
    fn over(&self, s: &[f64; M], rest: &[f64; M]) -> [f64; M] {
        std::array::from_fn(|k| s[k] - rest[k])
    }
    /// E and σ.
    #[inline(always)]
    fn law(&self, s: &[f64; M], rest: &[f64; M], broken: u32) -> (f64, [f64; M]) {
        let over = self.over(s, rest);
        let stress = self.moduli_times(&over, broken);
        (0.5 * (0..M).map(|k| over[k] * stress[k]).sum::<f64>(), stress)
    }
    /// Change of stress with a change of strain.
    #[inline(always)]
    fn tangent_times(&self, _s: &[f64; M], _rest: &[f64; M], change: &[f64; M], broken: u32, _part: Part) -> [f64; M] {
        self.moduli_times(change, broken)
    }
    /// Σ_k σ_k ∂s_k/∂x_a
    #[inline(always)]
    fn pull(&self, j: &Gradient<N, M>, stress: &[f64; M], a: usize) -> DVec3 {
        (0..M).map(|k| stress[k] * j[k][a]).sum()
    }
    /// ṡ
    #[inline(always)]
    fn rates(&self, j: &Gradient<N, M>, v: &[DVec3; N]) -> [f64; M] {
        std::array::from_fn(|k| (0..N).map(|a| j[k][a].dot(v[a])).sum::<f64>())
    }
    /// Adds `factor` times the Gauss-Newton part to the blocks.
    #[inline(always)]
    fn gauss_newton(
        &self,
        j: &Gradient<N, M>,
        s: &[f64; M],
        rest: &[f64; M],
        broken: u32,
        part: Part,
        factor: f64,
        out: &mut Blocks<N>,
    ) {
        let h: [[f64; M]; M] = std::array::from_fn(|l| {
            let unit = std::array::from_fn(|k| if k == l { factor } else { 0.0 });
            self.tangent_times(s, rest, &unit, broken, part)
        });
        for b in 0..N {
            let hj: [DVec3; M] = std::array::from_fn(|k| (0..M).map(|l| h[l][k] * j[l][b]).sum());
            for a in 0..=b {
                for k in 0..M {
                    add_outer(&mut out[a][b], j[k][a], hj[k]);
                }
            }
        }
    }
    /// Adds `factor` times Σ σ ∂²s to the blocks, `exact` or clamped.
    fn geometric(&self, x: &[DVec3; N], stress: &[f64; M], exact: bool, factor: f64, out: &mut Blocks<N>);
}

/// to += a bᵀ
#[inline(always)]
pub(super) fn add_outer(to: &mut DMat3, a: DVec3, b: DVec3) {
    to.x_axis += a * b.x;
    to.y_axis += a * b.y;
    to.z_axis += a * b.z;
}

/// Where things are evaluated.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    /// Rest strains of the group; empty: those it was built with.
    pub rests: &'a [f64],
    /// Which grid edges hold; empty: all.
    pub edges: &'a [f64],
    pub x: &'a [DVec3],
}

/// Forces of the nodes of a chunk; `damping` is empty where nothing is damped.
pub(super) struct Out<'a> {
    pub nodes: Range<usize>,
    pub elastic: &'a mut [DVec3],
    pub damping: &'a mut [DVec3],
}

/// Elements of one kind behind one interface; dispatch is per group and chunk.
pub(super) trait Group: Send + Sync + Debug {
    fn len(&self) -> usize;
    /// Rest strains in all.
    fn numbers(&self) -> usize;
    fn memory(&self, out: &mut Vec<f64>);
    fn damped(&self) -> bool;
    fn stencils(&self, visit: &mut dyn FnMut(&[u32]));
    fn arrange(&mut self, chunks: Chunks);
    fn join(&mut self, edge: &dyn Fn([u32; 2]) -> u32);
    fn forces(&self, chunk: usize, at: At, v: &[DVec3], out: &mut Out) -> f64;
    fn prepare(&self, matrix: &BlockMatrix);
    fn assemble(
        &self,
        chunk: usize,
        nodes: Range<usize>,
        at: At,
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        rows: &mut RowsChunk,
    );
    fn flow(&self, memory: &mut [f64], edges: &[f64], x: &[DVec3], card: &Material, dt: f64) -> f64;
    fn energy(&self, at: At) -> f64;
}

/// A list of elements.
#[derive(Debug)]
pub(super) struct Elements<E, const N: usize, const M: usize> {
    pub list: Vec<E>,
    rests: Vec<[f64; M]>,
    /// Per chunk: elements with a node in it.
    touching: Vec<Vec<u32>>,
    /// N² a piece.
    positions: OnceLock<Vec<u32>>,
    /// Edges that an element needs: which part of `links`.
    first_link: Vec<u32>,
    links: Vec<u32>,
}

/// Left of the diagonal, where the matrix keeps the mirror image only.
const MIRRORED: u32 = u32::MAX;
/// Not an edge of the grid: it cannot break.
pub(super) const NO_EDGE: u32 = u32::MAX;

impl<E: Element<N, M> + 'static, const N: usize, const M: usize> Elements<E, N, M> {
    /// Elements whose rest strains are those at the rest positions, or as `rest` gives them.
    pub fn new(list: Vec<E>, rest: impl Fn(&E) -> [f64; M]) -> Box<dyn Group> {
        let rests = list.iter().map(rest).collect();
        let (touching, positions) = (Vec::new(), OnceLock::new());
        Box::new(Self { list, rests, touching, positions, first_link: Vec::new(), links: Vec::new() })
    }

    /// At the rest positions.
    pub fn at_rest(list: Vec<E>, rest: &[DVec3]) -> Box<dyn Group> {
        Self::new(list, |e| e.strains(&gather(e.nodes(), rest)))
    }

    #[inline(always)]
    fn rest(&self, e: usize, memory: &[f64]) -> [f64; M] {
        match memory.as_chunks::<M>().0.get(e) {
            Some(rest) => *rest,
            None => self.rests[e],
        }
    }

    #[inline(always)]
    fn broken(&self, e: usize, edges: &[f64]) -> u32 {
        if edges.is_empty() {
            return 0;
        }
        let mut mask = 0;
        for (bit, &edge) in self.links[self.first_link[e] as usize..self.first_link[e + 1] as usize].iter().enumerate()
        {
            if edge != NO_EDGE && edges[edge as usize] == 0.0 {
                mask |= 1 << bit;
            }
        }
        mask
    }

    #[inline(always)]
    fn forces_of(&self, chunk: usize, at: At, v: &[DVec3], out: &mut Out) -> f64 {
        let mut energy = 0.0;
        let mut j = [[DVec3::ZERO; N]; M];
        for &e in &self.touching[chunk] {
            let (e, element) = (e as usize, &self.list[e as usize]);
            let nodes = element.nodes();
            if E::SPARSE {
                j.iter_mut().for_each(|row| row.fill(DVec3::ZERO));
            }
            let s = element.gradient(&gather(nodes, at.x), &mut j);
            let (rest, broken) = (self.rest(e, at.rests), self.broken(e, at.edges));
            let (stored, stress) = element.law(&s, &rest, broken);
            // The chunk of the first node keeps the account.
            if out.nodes.contains(&(nodes[0] as usize)) {
                energy += stored;
            }
            let first = out.nodes.start;
            for a in 0..N {
                if let Some(f) = out.elastic.get_mut((nodes[a] as usize).wrapping_sub(first)) {
                    *f -= element.pull(&j, &stress, a);
                }
            }
            if !out.damping.is_empty() && element.time() > 0.0 {
                let rate = element.rates(&j, &gather(nodes, v));
                let brake = element.tangent_times(&s, &rest, &rate, broken, Part::Viscous);
                for a in 0..N {
                    if let Some(g) = out.damping.get_mut((nodes[a] as usize).wrapping_sub(first)) {
                        *g -= element.time() * element.pull(&j, &brake, a);
                    }
                }
            }
        }
        energy
    }

    #[inline(always)]
    fn assemble_chunk(
        &self,
        chunk: usize,
        range: Range<usize>,
        at: At,
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        rows: &mut RowsChunk,
    ) {
        let Some(positions) = self.positions.get() else { return };
        let same = std::ptr::eq(at.x, tension_at);
        let mut j = [[DVec3::ZERO; N]; M];
        let mut blocks: Blocks<N> = [[DMat3::ZERO; N]; N];
        for &e in &self.touching[chunk] {
            let (e, element) = (e as usize, &self.list[e as usize]);
            let nodes = element.nodes();
            if E::SPARSE {
                j.iter_mut().for_each(|row| row.fill(DVec3::ZERO));
            }
            blocks.iter_mut().for_each(|row| row.fill(DMat3::ZERO));
            let x = gather(nodes, at.x);
            let s = element.gradient(&x, &mut j);
            let (rest, broken) = (self.rest(e, at.rests), self.broken(e, at.edges));
            let damping = weights.velocity * element.time();
            let part = if exact { Part::Exact } else { Part::Clamped };
            if E::PROPORTIONAL {
                element.gauss_newton(&j, &s, &rest, broken, part, weights.position + damping, &mut blocks);
            } else {
                element.gauss_newton(&j, &s, &rest, broken, part, weights.position, &mut blocks);
                element.gauss_newton(&j, &s, &rest, broken, Part::Viscous, damping, &mut blocks);
            }
            if weights.position != 0.0 {
                let taut = if same { s } else { element.strains(&gather(nodes, tension_at)) };
                let (_, stress) = element.law(&taut, &rest, broken);
                element.geometric(&x, &stress, exact, weights.position, &mut blocks);
            }
            let places = &positions[N * N * e..N * N * (e + 1)];
            for a in 0..N {
                let (row, own) = (nodes[a] as usize, range.contains(&(nodes[a] as usize)));
                if own {
                    rows.add_diagonal(row, &blocks[a][a]);
                }
                for b in a + 1..N {
                    if nodes[b] == nodes[a] {
                        if own {
                            rows.add_diagonal(row, &(blocks[a][b] + blocks[a][b].transpose()));
                        }
                        continue;
                    }
                    let [there, back] = [places[N * a + b], places[N * b + a]];
                    if own && there != MIRRORED {
                        rows.add(there, &blocks[a][b]);
                    }
                    if back != MIRRORED && range.contains(&(nodes[b] as usize)) {
                        rows.add(back, &blocks[a][b].transpose());
                    }
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn forces_avx2(&self, chunk: usize, at: At, v: &[DVec3], out: &mut Out) -> f64 {
        self.forces_of(chunk, at, v, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn assemble_avx2(
        &self,
        chunk: usize,
        range: Range<usize>,
        at: At,
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        rows: &mut RowsChunk,
    ) {
        self.assemble_chunk(chunk, range, at, tension_at, weights, exact, rows);
    }
}

#[inline(always)]
pub(super) fn gather<const N: usize>(nodes: &[u32; N], x: &[DVec3]) -> [DVec3; N] {
    nodes.map(|i| x[i as usize])
}

impl<E: Element<N, M> + 'static, const N: usize, const M: usize> Group for Elements<E, N, M> {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn numbers(&self) -> usize {
        M * self.list.len()
    }

    fn memory(&self, out: &mut Vec<f64>) {
        out.extend(self.rests.as_flattened());
    }

    fn damped(&self) -> bool {
        self.list.iter().any(|e| e.time() > 0.0)
    }

    fn stencils(&self, visit: &mut dyn FnMut(&[u32])) {
        self.list.iter().for_each(|e| visit(e.nodes()));
    }

    fn arrange(&mut self, chunks: Chunks) {
        self.touching = vec![Vec::new(); chunks.count()];
        for (e, element) in self.list.iter().enumerate() {
            for &i in element.nodes() {
                let list = &mut self.touching[chunks.of(i as usize)];
                if list.last() != Some(&(e as u32)) {
                    list.push(e as u32);
                }
            }
        }
    }

    fn join(&mut self, edge: &dyn Fn([u32; 2]) -> u32) {
        self.first_link.push(0);
        for element in &self.list {
            self.links.extend(element.links().into_iter().map(edge));
            self.first_link.push(self.links.len() as u32);
        }
    }

    fn forces(&self, chunk: usize, at: At, v: &[DVec3], out: &mut Out) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.forces_avx2(chunk, at, v, out) };
        }
        self.forces_of(chunk, at, v, out)
    }

    fn prepare(&self, matrix: &BlockMatrix) {
        self.positions.get_or_init(|| {
            let mut out = Vec::with_capacity(N * N * self.list.len());
            for element in &self.list {
                for &a in element.nodes() {
                    out.extend(element.nodes().iter().map(|&b| matrix.position(a, b).unwrap_or(MIRRORED)));
                }
            }
            out
        });
    }

    fn assemble(
        &self,
        chunk: usize,
        nodes: Range<usize>,
        at: At,
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        rows: &mut RowsChunk,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.assemble_avx2(chunk, nodes, at, tension_at, weights, exact, rows) };
        }
        self.assemble_chunk(chunk, nodes, at, tension_at, weights, exact, rows);
    }

    /// Moves rest strains towards the strains by what is beyond the yield strain, no further than
    /// the limit from where they were at first; returns the energy that is gone (J).
    fn flow(&self, memory: &mut [f64], edges: &[f64], x: &[DVec3], card: &Material, dt: f64) -> f64 {
        let share = 1.0 - (-card.flow * dt).exp();
        let mut gone = 0.0;
        let (rests, _) = memory.as_chunks_mut::<M>();
        for (e, element) in self.list.iter().enumerate() {
            if element.unit() <= 0.0 {
                continue;
            }
            let broken = self.broken(e, edges);
            let s = element.strains(&gather(element.nodes(), x));
            let (stored, _) = element.law(&s, &rests[e], broken);
            let strain = (2.0 * stored / element.unit()).sqrt();
            if strain.is_nan() || strain <= card.yield_strain {
                continue;
            }
            let part = share * (1.0 - card.yield_strain / strain);
            let over = element.over(&s, &rests[e]);
            let mut moved: [f64; M] = std::array::from_fn(|k| rests[e][k] + part * over[k]);
            // How far the rest shape has come, in the same measure.
            let (way, _) = element.law(&moved, &self.rests[e], 0);
            let far = (2.0 * way / element.unit()).sqrt();
            if far > card.flow_limit {
                let keep = card.flow_limit / far;
                moved = std::array::from_fn(|k| self.rests[e][k] + keep * (moved[k] - self.rests[e][k]));
            }
            let (left, _) = element.law(&s, &moved, broken);
            // At the limit the way back along the sphere may store more: stay then.
            if left < stored {
                rests[e] = moved;
                gone += stored - left;
            }
        }
        gone
    }

    fn energy(&self, at: At) -> f64 {
        (0..self.list.len())
            .map(|e| {
                let element = &self.list[e];
                let s = element.strains(&gather(element.nodes(), at.x));
                element.law(&s, &self.rest(e, at.rests), self.broken(e, at.edges)).0
            })
            .sum()
    }
}
