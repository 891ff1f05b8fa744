//! Cells in packs of four, for each chunk those that touch it.

use super::cell::Cell;
use crate::lanes::WIDE;
use crate::parallel::Chunks;
use crate::solve::BlockMatrix;
use std::sync::OnceLock;

/// Left of the diagonal, in another chunk's rows, or a lane that is not used.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Four cells side by side; unused lanes have no volume.
#[derive(Clone, Debug)]
pub(super) struct Pack<const N: usize> {
    pub nodes: [[u32; WIDE]; N],
    pub gradient: [[[f64; WIDE]; 3]; N],
    pub volume: [f64; WIDE],
    /// μ, λ (Pa)
    pub moduli: [[f64; WIDE]; 2],
    /// Damping time (s).
    pub time: [f64; WIDE],
    /// 1 where the chunk keeps account of the cell.
    pub own: [f64; WIDE],
    pub used: usize,
}

/// Hourglass data of a pack of hexahedra.
#[derive(Clone, Debug)]
pub(super) struct Hourglass<const N: usize> {
    pub gamma: [[[f64; WIDE]; N]; 4],
    pub axes: [[[f64; WIDE]; 3]; 3],
    /// Stiffness (J) of each strain by the law of the three kinds: the sum of a plane-stress pair,
    /// its difference, shear, warping.
    pub stiffness: [[f64; WIDE]; 4],
    /// ½ ℓ_i / ℓ_j of the axes 12, 21, 13, 31, 23, 32.
    pub ratios: [[f64; WIDE]; 6],
}

/// All cells of one kind.
#[derive(Debug)]
pub(super) struct Packs<const N: usize> {
    pub packs: Vec<Vec<Pack<N>>>,
    pub hourglass: Vec<Vec<Hourglass<N>>>,
    /// Where the blocks of node pairs a < b are, pack by pack, pair by pair, four lanes each.
    pub positions: OnceLock<Vec<Vec<u32>>>,
    pub damped: bool,
    chunks: Chunks,
}

impl<const N: usize> Packs<N> {
    pub fn new(
        chunks: Chunks,
        mut cells: Vec<Cell<N>>,
        moduli: impl Fn(&[u32]) -> [f64; 2],
        time: impl Fn(&[u32]) -> f64,
    ) -> Self {
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
        for (chunk, list) in touching.iter().enumerate() {
            let mut of_chunk = Vec::with_capacity(list.len().div_ceil(WIDE));
            let mut glasses = Vec::new();
            for four in list.chunks(WIDE) {
                let pack = pack(four, chunk, chunks, &moduli, &time);
                damped |= pack.time.iter().any(|t| *t > 0.0);
                if N == 8 {
                    glasses.push(glass(four, &pack));
                }
                of_chunk.push(pack);
            }
            packs.push(of_chunk);
            hourglass.push(glasses);
        }
        Self { packs, hourglass, positions: OnceLock::new(), damped, chunks }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.packs.iter().all(Vec::is_empty)
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
                let mut list = Vec::with_capacity(self.packs[chunk].len() * N * (N - 1) / 2 * WIDE);
                for pack in &self.packs[chunk] {
                    for a in 0..N {
                        for b in a + 1..N {
                            for l in 0..WIDE {
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

fn pack<const N: usize>(
    cells: &[Cell<N>],
    chunk: usize,
    chunks: Chunks,
    moduli: &impl Fn(&[u32]) -> [f64; 2],
    time: &impl Fn(&[u32]) -> f64,
) -> Pack<N> {
    let mut out = Pack {
        nodes: std::array::from_fn(|a| [cells[0].nodes[a]; WIDE]),
        gradient: [[[0.0; WIDE]; 3]; N],
        volume: [0.0; WIDE],
        moduli: [[0.0; WIDE]; 2],
        time: [0.0; WIDE],
        own: [0.0; WIDE],
        used: cells.len(),
    };
    for (l, cell) in cells.iter().enumerate() {
        for a in 0..N {
            out.nodes[a][l] = cell.nodes[a];
            for k in 0..3 {
                out.gradient[a][k][l] = cell.gradient[a][k];
            }
        }
        out.volume[l] = cell.volume;
        let [mu, lambda] = moduli(&cell.nodes);
        (out.moduli[0][l], out.moduli[1][l]) = (mu, lambda);
        out.time[l] = time(&cell.nodes);
        out.own[l] = f64::from(u8::from(chunks.of(cell.nodes[0] as usize) == chunk));
    }
    out
}

fn glass<const N: usize>(cells: &[Cell<N>], pack: &Pack<N>) -> Hourglass<N> {
    let mut out = Hourglass {
        gamma: [[[0.0; WIDE]; N]; 4],
        axes: [[[0.0; WIDE]; 3]; 3],
        stiffness: [[0.0; WIDE]; 4],
        ratios: [[0.0; WIDE]; 6],
    };
    for (l, cell) in cells.iter().enumerate() {
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
        let [mu, lambda] = [pack.moduli[0][l], pack.moduli[1][l]];
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
