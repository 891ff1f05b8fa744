//! Cells in packs of eight, for each chunk those that touch it.

use super::cell::Cell;
use crate::elastic::pairs::{APART, Out, WORK, Wanted};
use crate::elastic::rooms::Moving;
use crate::lanes::eight::{EIGHT, Padded};
use crate::parallel::Chunks;
use crate::solve::BlockMatrix;
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Left of the diagonal, in another chunk's rows, or a lane that is not used.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Eight cells side by side; unused lanes have the first cell without any strength. There is little of it: with the rest shape of
/// tetrahedra it would be three times as long, and evaluations wait for memory longer than that takes to be found.
#[derive(Clone, Debug)]
pub(super) struct Pack<const N: usize> {
    pub nodes: [[u32; EIGHT]; N],
    /// μ, λ (Pa), to seven digits.
    pub moduli: [[f32; EIGHT]; 2],
    /// Damping time (s).
    pub time: [f32; EIGHT],
    pub used: usize,
    /// Which nodes of all its cells the chunk has, by bits.
    pub mask: u8,
}

impl<const N: usize> Pack<N> {
    /// Whether the chunk has one of the nodes.
    #[inline(always)]
    pub fn has(&self, node: usize) -> bool {
        self.mask >> node & 1 == 1
    }
}

/// Neighbours in the list, of which most share nodes, are worked on one after another rather than side by side: cells of a tile that
/// lie so far apart are.
const TILE: usize = 16 * EIGHT;

/// Rest shape and hourglass data of a pack of hexahedra.
#[derive(Clone, Debug)]
pub(super) struct Hourglass<const N: usize> {
    pub gradient: [[[f64; EIGHT]; 3]; N],
    pub volume: [f64; EIGHT],
    pub gamma: [[[f64; EIGHT]; N]; 4],
    pub axes: [[[f64; EIGHT]; 3]; 3],
    /// Stiffness (J) of each strain by the law of the three kinds: the sum of a plane-stress pair,
    /// its difference, shear, warping.
    pub stiffness: [[f64; EIGHT]; 4],
    /// ½ ℓ_i / ℓ_j of the axes 12, 21, 13, 31, 23, 32.
    pub ratios: [[f64; EIGHT]; 6],
}

/// All cells of one kind.
#[derive(Debug)]
pub(super) struct Packs<const N: usize> {
    pub packs: Vec<Vec<Pack<N>>>,
    pub hourglass: Vec<Vec<Hourglass<N>>>,
    /// Of all nodes.
    pub rest: Arc<[Padded]>,
    /// Where the blocks of node pairs a < b are, pack by pack, pair by pair, eight lanes each.
    pub positions: OnceLock<Vec<Vec<u32>>>,
    pub damped: bool,
    chunks: Chunks,
}

impl<const N: usize> Packs<N> {
    pub fn new(
        chunks: Chunks,
        rest: &[DVec3],
        mut cells: Vec<Cell<N>>,
        moduli: impl Fn(&[u32]) -> [f64; 2],
        time: impl Fn(&[u32]) -> f64,
    ) -> Self {
        // Forces rely on this.
        assert!(
            cells.iter().flat_map(|c| &c.nodes).all(|&i| (i as usize) < chunks.nodes()) && rest.len() == chunks.nodes()
        );
        cells.sort_by_key(|c| c.nodes);
        let mut touching: Vec<Vec<Cell<N>>> = vec![Vec::new(); chunks.count()];
        for cell in cells {
            let mut last = usize::MAX;
            for node in cell.nodes {
                // Nodes ascend, so their chunks do.
                let chunk = chunks.of(node as usize);
                if chunk != last {
                    touching[chunk].push(cell);
                    last = chunk;
                }
            }
        }
        let (mut packs, mut hourglass) = (Vec::new(), Vec::new());
        let mut damped = false;
        for (chunk, list) in touching.into_iter().enumerate() {
            let has = |(a, node): (usize, &u32)| u8::from(chunks.of(*node as usize) == chunk) << a;
            let mask = |cell: &Cell<N>| cell.nodes.iter().enumerate().map(has).sum::<u8>();
            let mut by_mask: BTreeMap<u8, Vec<Cell<N>>> = BTreeMap::new();
            list.into_iter().for_each(|cell| by_mask.entry(mask(&cell)).or_default().push(cell));
            let (mut of_chunk, mut glasses) = (Vec::new(), Vec::new());
            for (mask, list) in by_mask {
                for some in dealt(list).chunks(EIGHT) {
                    let pack = Pack { mask, ..pack(some, &moduli, &time) };
                    damped |= pack.time.iter().any(|t| *t > 0.0);
                    if N == 8 {
                        glasses.push(glass(some, &pack));
                    }
                    of_chunk.push(pack);
                }
            }
            packs.push(of_chunk);
            hourglass.push(glasses);
        }
        let rest = rest.iter().map(|r| [r.x, r.y, r.z, 0.0]).collect();
        Self { packs, hourglass, rest, positions: OnceLock::new(), damped, chunks }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.packs.iter().all(Vec::is_empty)
    }

    /// What unchecked places of forces rely on, beside `new`.
    pub fn check_rooms<const WANTED: Wanted>(&self, chunk: usize, moving: Moving, out: &Out) {
        let (n, range) = (self.chunks.nodes(), self.chunks.range(chunk));
        assert!(moving.both.len() == n && (WANTED != WORK || !self.damped || moving.moved.len() == n));
        assert!(out.first == range.start && (WANTED == WORK || out.elastic.len() == range.len() + 1));
        assert!(!(WANTED == APART && self.damped) || out.damping.len() == range.len() + 1);
    }

    /// Node lists, each cell at least once.
    pub fn each_cell(&self, mut visit: impl FnMut(&[u32])) {
        for pack in self.packs.iter().flatten() {
            for l in 0..pack.used {
                let nodes: [u32; N] = std::array::from_fn(|a| pack.nodes[a][l]);
                visit(&nodes);
            }
        }
    }

    /// Finds the blocks in a matrix of this structure.
    pub fn locate(&self, matrix: &BlockMatrix) {
        self.positions.get_or_init(|| {
            let of = |chunk: usize| {
                let mut list = Vec::with_capacity(self.packs[chunk].len() * N * (N - 1) / 2 * EIGHT);
                for pack in &self.packs[chunk] {
                    for a in 0..N {
                        for b in a + 1..N {
                            for l in 0..EIGHT {
                                let [i, j] = [pack.nodes[a][l], pack.nodes[b][l]];
                                let mine = |n: u32| self.chunks.of(n as usize) == chunk;
                                list.push(if l >= pack.used || i == j {
                                    NOWHERE
                                } else if mine(i) {
                                    matrix.position(i, j).unwrap_or(NOWHERE)
                                } else if mine(j) {
                                    matrix.position(j, i).unwrap_or(NOWHERE)
                                } else {
                                    NOWHERE
                                });
                            }
                        }
                    }
                }
                list
            };
            (0..self.packs.len()).map(of).collect()
        });
    }
}

/// Cells in the order of packs, see [`TILE`].
fn dealt<const N: usize>(cells: Vec<Cell<N>>) -> Vec<Cell<N>> {
    let deal = |tile: &[Cell<N>]| -> Vec<Cell<N>> {
        let rows = tile.len() / EIGHT;
        let whole = (0..rows).flat_map(|k| (0..EIGHT).map(move |l| l * rows + k));
        whole.chain(rows * EIGHT..tile.len()).map(|k| tile[k]).collect()
    };
    cells.chunks(TILE).flat_map(deal).collect()
}

fn pack<const N: usize>(
    cells: &[Cell<N>],
    moduli: &impl Fn(&[u32]) -> [f64; 2],
    time: &impl Fn(&[u32]) -> f64,
) -> Pack<N> {
    let mut out = Pack {
        nodes: std::array::from_fn(|a| [cells[0].nodes[a]; EIGHT]),
        moduli: [[0.0; EIGHT]; 2],
        time: [0.0; EIGHT],
        used: cells.len(),
        mask: 0,
    };
    for (l, cell) in cells.iter().enumerate() {
        for a in 0..N {
            out.nodes[a][l] = cell.nodes[a];
        }
        let [mu, lambda] = moduli(&cell.nodes);
        (out.moduli[0][l], out.moduli[1][l]) = (mu as f32, lambda as f32);
        out.time[l] = time(&cell.nodes) as f32;
    }
    out
}

fn glass<const N: usize>(cells: &[Cell<N>], pack: &Pack<N>) -> Hourglass<N> {
    let mut out = Hourglass {
        gradient: [[[0.0; EIGHT]; 3]; N],
        volume: [0.0; EIGHT],
        gamma: [[[0.0; EIGHT]; N]; 4],
        axes: [[[0.0; EIGHT]; 3]; 3],
        stiffness: [[0.0; EIGHT]; 4],
        ratios: [[0.0; EIGHT]; 6],
    };
    for (l, cell) in cells.iter().enumerate() {
        for a in 0..N {
            for k in 0..3 {
                out.gradient[a][k][l] = cell.gradient[a][k];
            }
        }
        out.volume[l] = cell.volume;
        for m in 0..4 {
            for a in 0..N {
                out.gamma[m][a][l] = cell.gamma[m][a];
            }
        }
        for i in 0..3 {
            for k in 0..3 {
                out.axes[i][k][l] = cell.axes[i][k];
            }
        }
        let [mu, lambda] = [0, 1].map(|k: usize| f64::from(pack.moduli[k][l]));
        let poisson = lambda / (2.0 * (lambda + mu));
        let young = 2.0 * mu * (1.0 + poisson);
        let third = cell.volume / 3.0;
        // ½ k ((u ± v)/√2)², so that u and v alone have E/(1 - ν²).
        out.stiffness[0][l] = third * young / (1.0 - poisson);
        out.stiffness[1][l] = third * young / (1.0 + poisson);
        out.stiffness[2][l] = third * 4.0 * mu;
        out.stiffness[3][l] = cell.volume / 9.0 * young;
        let half = cell.axes.map(|a| a.length());
        for (r, (i, j)) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)].into_iter().enumerate() {
            // Axes are over ℓ, so ℓ_i / ℓ_j is the other way round.
            out.ratios[r][l] = if half[i] > 0.0 { 0.5 * half[j] / half[i] } else { 0.0 };
        }
    }
    out
}
