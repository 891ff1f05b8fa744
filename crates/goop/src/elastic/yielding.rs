//! What springs do not get back from: flow of their rest lengths, and fracture.
//!
//! Strain of an element, against the shape it was built with (r₀):
//! ```text
//! pair     ε = (|d| - r) / r₀
//! stencil  ε = φ (|d| - r)    φ turns |d| into the strain of the outermost fibre:
//!          half the thickness (or the radius) times the curvature that |d| stands for
//! flow     r' = r + sign(ε) (|ε| - yield) (1 - exp(-rate Δt)) / φ    where |ε| > yield
//!          |r' - r₀| φ ≤ limit
//! ```
//! With yield 0 this is a Maxwell body: held at a length its force falls as exp(-rate t),
//! under a constant force it creeps by rate × elastic strain. With an infinite rate it
//! is perfectly plastic: strain beyond the yield strain stays.
//!
//! A grid edge breaks when |d| > (1 + tear) r, and then its spring is dead, with it the
//! diagonals of every cell that has the edge (one that two cells share keeps the half of
//! the other) and every stencil that has both its ends. Values go to zero; the sparsity
//! of the stiffness stays. What is left is a function of the edges alone.
//!
//! Of the edges that are stretched too far only those break that are the most stretched
//! of all that meet them at their two nodes; the others are judged again after the next
//! step. Without that a sheet would fall to dust: a step sees the load of a whole
//! neighbourhood that the first break is about to take away. So a tear runs by its tip,
//! an edge a step, while tears apart from one another do not wait.

use super::Flow;
use super::springs::Springs;
use crate::material::Material;
use crate::parallel::{Chunks, Disjoint};
use crate::shape::Grid;
use glam::DVec3;

const NONE: u32 = u32::MAX;
/// An edge that breaks in this very step: for its neighbours it still counts.
const BREAKING: f64 = 0.5;

/// The inelastic part of a body's springs.
#[derive(Debug)]
pub(super) struct Yielding {
    card: Material,
    /// Strain per metre that |d| is off its rest, of pairs and then stencils; 0 where it means nothing.
    per_length: Vec<f64>,
    breaks: Option<Breaks>,
}

/// Which element hangs on which grid edges.
#[derive(Debug)]
struct Breaks {
    /// Nodes of every edge, axis after axis, and its spring.
    edges: Vec<([u32; 2], u32)>,
    /// Edges at every node: those of node i are `list[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    list: Vec<u32>,
    /// Edges of every cell.
    cells: Vec<[u32; 12]>,
    pairs: Vec<Tie>,
    stencils: Vec<[u32; 4]>,
}

/// What a pair hangs on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tie {
    Edge(u32),
    /// A diagonal of one cell or two.
    Cells([u32; 2]),
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Numbers that belong to a key, in a sorted list.
fn find<'a>(sorted: &'a [(u64, u32)], key: u64) -> impl Iterator<Item = u32> + 'a {
    let first = sorted.partition_point(|entry| entry.0 < key);
    sorted[first..].iter().take_while(move |entry| entry.0 == key).map(|entry| entry.1)
}

impl Breaks {
    fn new(grid: &Grid, springs: &Springs) -> Self {
        let nodes: Vec<[u32; 2]> = (0..grid.axes()).flat_map(|axis| grid.edges(axis)).collect();
        let mut by_nodes: Vec<(u64, u32)> = nodes.iter().zip(0..).map(|(n, e)| (key(n[0], n[1]), e)).collect();
        by_nodes.sort_unstable();
        let edge = |a: u32, b: u32| find(&by_nodes, key(a, b)).next();
        let corners = 1usize << grid.axes();
        let (mut cells, mut diagonals) = (Vec::new(), Vec::new());
        for (c, cell) in (0..).zip(grid.cells()) {
            let (mut own, mut count) = ([NONE; 12], 0);
            for a in 0..corners {
                for b in a + 1..corners {
                    match edge(cell[a], cell[b]) {
                        Some(e) if !own.contains(&e) => {
                            own[count] = e;
                            count += 1;
                        }
                        Some(_) => {}
                        None if cell[a] != cell[b] => diagonals.push((key(cell[a], cell[b]), c)),
                        None => {}
                    }
                }
            }
            cells.push(own);
        }
        diagonals.sort_unstable();
        diagonals.dedup();
        let mut pair_of = vec![NONE; nodes.len()];
        let pairs = (springs.ends.iter().zip(0..))
            .map(|(&[a, b], s)| {
                let mut tied = Tie::Cells([NONE; 2]);
                for e in find(&by_nodes, key(a, b)) {
                    pair_of[e as usize] = s;
                    tied = Tie::Edge(e);
                }
                if let Tie::Cells(cells) = &mut tied {
                    cells.iter_mut().zip(find(&diagonals, key(a, b))).for_each(|(slot, c)| *slot = c);
                }
                tied
            })
            .collect();
        let stencils = (springs.stencils.iter())
            .map(|s| {
                let own = &s.nodes[..s.count as usize];
                let between = (0..own.len()).flat_map(|a| (a + 1..own.len()).map(move |b| (own[a], own[b])));
                let mut ties = [NONE; 4];
                ties.iter_mut().zip(between.filter_map(|(a, b)| edge(a, b))).for_each(|(slot, e)| *slot = e);
                ties
            })
            .collect();
        let mut start = vec![0u32; springs.nodes() + 1];
        nodes.iter().flatten().for_each(|&i| start[i as usize + 1] += 1);
        (1..start.len()).for_each(|i| start[i] += start[i - 1]);
        let (mut next, mut list) = (start.clone(), vec![0; 2 * nodes.len()]);
        for (e, ends) in (0..).zip(&nodes) {
            for &i in ends {
                list[next[i as usize] as usize] = e;
                next[i as usize] += 1;
            }
        }
        Self { edges: nodes.into_iter().zip(pair_of).collect(), start, list, cells, pairs, stencils }
    }

    /// Part of its stiffness that an element has left.
    fn strength(&self, element: usize, edges: &[f64]) -> f64 {
        let whole = |list: &[u32]| list.iter().all(|&e| e == NONE || edges[e as usize] > 0.0);
        match self.pairs.get(element) {
            Some(Tie::Edge(e)) => edges[*e as usize],
            Some(Tie::Cells([first, second])) => {
                let (mut all, mut left) = (0, 0);
                for &c in [first, second].into_iter().filter(|c| **c != NONE) {
                    all += 1;
                    left += u32::from(whole(&self.cells[c as usize]));
                }
                if all == 0 { 1.0 } else { f64::from(left) / f64::from(all) }
            }
            None => f64::from(u8::from(whole(&self.stencils[element - self.pairs.len()]))),
        }
    }

    /// How far an edge that holds is stretched beyond its rest length; `None` for a broken one.
    fn stretch(&self, edge: u32, edges: &[f64], rests: &[f64], x: &[DVec3]) -> Option<f64> {
        let ([a, b], pair) = self.edges[edge as usize];
        let rest = *rests.get(pair as usize)?;
        (edges[edge as usize] > 0.0 && rest > 0.0).then(|| x[a as usize].distance(x[b as usize]) / rest - 1.0)
    }

    /// Whether no other edge at either node is stretched more; of equals the first is taken.
    fn foremost(&self, edge: u32, stretch: f64, edges: &[f64], rests: &[f64], x: &[DVec3]) -> bool {
        self.edges[edge as usize].0.iter().all(|&node| {
            let [from, to] = [0, 1].map(|k| self.start[node as usize + k] as usize);
            self.list[from..to].iter().all(|&other| match self.stretch(other, edges, rests, x) {
                Some(s) => other == edge || s < stretch || s == stretch && other > edge,
                None => true,
            })
        })
    }
}

/// Rest lengths and constants as a step uses them.
#[derive(Clone, Copy)]
pub(super) struct Constants<'a> {
    /// Rest lengths of pairs, then of stencils (m).
    pub rest: &'a [f64],
    /// Of pairs (N/m).
    pub stiffness: &'a [f64],
    /// Of pairs (N s/m).
    pub damping: &'a [f64],
    /// Stiffness and damping of stencils, where they may break; otherwise they have their own.
    pub bends: Option<[&'a [f64]; 2]>,
}

impl Springs {
    /// Lets the springs flow and break as the card says; `fibres` is φ of every stencil (1/m).
    pub(super) fn yielding(mut self, card: Material, grid: Option<&Grid>, fibres: Vec<f64>) -> Self {
        if !card.flows() && !card.tears() {
            return self;
        }
        let breaks = grid.filter(|_| card.tears()).map(|grid| Breaks::new(grid, &self));
        if card.tears() && breaks.is_none() {
            self.limits.push("a mesh without a grid does not tear".to_owned());
        }
        let lengths = self.rests[..self.ends.len()].iter().map(|&r| if r > 0.0 { 1.0 / r } else { 0.0 });
        let per_length = lengths.chain(fibres).collect();
        self.yielding = Some(Yielding { card, per_length, breaks });
        self
    }

    /// Memory: rest lengths; where edges may break, stiffness and damping that are left, and the edges.
    pub(super) fn constants<'a>(&'a self, memory: &'a [f64]) -> Constants<'a> {
        let (n, pairs) = (self.rests.len(), self.ends.len());
        let (stiffness, damping) = (&self.stiffness[..], &self.damping[..]);
        if !self.breakable() {
            return Constants { rest: &memory[..n], stiffness, damping, bends: None };
        }
        let (rest, others) = memory.split_at(n);
        let ((stiffness, bends), others) = (others[..n].split_at(pairs), &others[n..]);
        let (damping, brakes) = others[..n].split_at(pairs);
        Constants { rest, stiffness, damping, bends: Some([bends, brakes]) }
    }

    pub(super) fn breakable(&self) -> bool {
        self.yielding.as_ref().is_some_and(|y| y.breaks.is_some())
    }

    /// Memory with these rest lengths and edges; without edges all hold.
    pub(super) fn memory_of(&self, rests: &[f64], edges: Option<&[f64]>) -> Vec<f64> {
        let mut memory = rests.to_vec();
        if let Some(breaks) = self.yielding.as_ref().and_then(|y| y.breaks.as_ref()) {
            let start = 3 * rests.len();
            memory.resize(start + breaks.edges.len(), 1.0);
            if let Some(edges) = edges {
                memory[start..].copy_from_slice(edges);
            }
            self.weaken(breaks, &mut memory, |_, _, _| {});
        }
        memory
    }

    /// Edges in a memory; empty where nothing can break.
    pub(super) fn edges_of<'a>(&self, memory: &'a [f64]) -> &'a [f64] {
        if self.breakable() { &memory[3 * self.rests.len()..] } else { &[] }
    }

    /// Stiffness and damping that the edges leave; tells of each element that loses some its rest
    /// length and how much (N/m).
    fn weaken(&self, breaks: &Breaks, memory: &mut [f64], mut tell: impl FnMut(usize, f64, f64)) {
        let (n, pairs) = (self.rests.len(), self.ends.len());
        let (constants, edges) = memory.split_at_mut(3 * n);
        for s in 0..n {
            let (stiffness, damping) = match s.checked_sub(pairs).map(|b| &self.stencils[b]) {
                Some(stencil) => (stencil.stiffness, stencil.damping),
                None => (self.stiffness[s], self.damping[s]),
            };
            let strength = breaks.strength(s, edges);
            let left = strength * stiffness;
            if left != constants[n + s] {
                tell(s, constants[s], constants[n + s] - left);
            }
            (constants[n + s], constants[2 * n + s]) = (left, strength * damping);
        }
    }

    /// |d| of an element (m).
    fn length(&self, element: usize, x: &[DVec3]) -> f64 {
        match self.ends.get(element) {
            Some(&[a, b]) => x[a as usize].distance(x[b as usize]),
            None => self.stencils[element - self.ends.len()].vector(x).length(),
        }
    }

    pub(super) fn flow_and_break(&self, memory: &mut [f64], x: &[DVec3], dt: f64) -> Flow {
        let Some(yielding) = &self.yielding else { return Flow::default() };
        let mut flow = Flow::default();
        if yielding.card.flows() {
            flow.flowed = self.flow_rests(yielding, memory, x, dt);
        }
        if let Some(breaks) = &yielding.breaks {
            (flow.broken, flow.torn) = self.break_edges(breaks, yielding.card.tear, memory, x);
        }
        flow
    }

    /// Moves rest lengths; returns the energy that is gone (J).
    fn flow_rests(&self, yielding: &Yielding, memory: &mut [f64], x: &[DVec3], dt: f64) -> f64 {
        let (n, card) = (self.rests.len(), &yielding.card);
        let share = -(-card.flow * dt).exp_m1();
        let (rests, others) = memory.split_at_mut(n);
        let left = if self.breakable() { &others[..n] } else { &others[..0] };
        let all = Disjoint::new(rests);
        Chunks::new(n).sum(|_, range| {
            // SAFETY: chunks are disjoint.
            let rests = unsafe { all.slice(range.clone()) };
            let mut gone = 0.0;
            for (rest, s) in rests.iter_mut().zip(range) {
                let (unit, first) = (yielding.per_length[s], self.rests[s]);
                let stiffness = left.get(s).copied().unwrap_or_else(|| match s.checked_sub(self.ends.len()) {
                    Some(b) => self.stencils[b].stiffness,
                    None => self.stiffness[s],
                });
                let over = self.length(s, x) - *rest;
                let excess = over.abs() * unit - card.yield_strain;
                if excess > 0.0 && stiffness > 0.0 {
                    let far = card.flow_limit / unit;
                    let moved = *rest + over.signum() * share * excess / unit;
                    // Another card may have a lower limit: what is beyond it stays.
                    let moved = moved.clamp((first - far).min(*rest), (first + far).max(*rest));
                    gone += 0.5 * stiffness * (moved - *rest) * (2.0 * over - (moved - *rest));
                    *rest = moved;
                }
            }
            [gone]
        })[0]
    }

    /// Breaks what is stretched too far; returns how many edges, and the energy that is gone (J).
    fn break_edges(&self, breaks: &Breaks, tear: f64, memory: &mut [f64], x: &[DVec3]) -> (usize, f64) {
        let n = self.rests.len();
        let (constants, edges) = memory.split_at_mut(3 * n);
        let rests = &constants[..n];
        let mut broken = 0;
        for e in 0..edges.len() as u32 {
            if let Some(stretch) = breaks.stretch(e, edges, rests, x)
                && stretch > tear
                && breaks.foremost(e, stretch, edges, rests, x)
            {
                edges[e as usize] = BREAKING;
                broken += 1;
            }
        }
        if broken == 0 {
            return (0, 0.0);
        }
        edges.iter_mut().filter(|e| **e == BREAKING).for_each(|e| *e = 0.0);
        let mut gone = 0.0;
        self.weaken(breaks, memory, |s, rest, lost| gone += 0.5 * lost * (self.length(s, x) - rest).powi(2));
        (broken, gone)
    }
}
