//! The motions that reduced coordinates can make: monomials of each part, made orthonormal by mass.
//!
//! ```text
//! p(x̃)    1 x y z xy yz xz x² y² z²     x̃ = (x - centre) / half size, axis by axis
//! φ_k = (p_k - Σ_l<k L_kl φ_l) / L_kk    L Lᵀ = Σ m c² p pᵀ  of one part
//! ```
//! A monomial that the ones before it can already make on the part's nodes is left out (φ = 0). Parts that share nodes are
//! not orthogonal to one another: M = Σ m φ φᵀ has a Cholesky factor in envelope storage, made once; a mode
//! that falls out there is left out too.

use crate::model::Body;
use glam::DVec3;

/// Modes of a part.
pub const MODES: usize = 10;
/// A monomial counts as made by others when less than this of its square is left.
const NOTHING_NEW: f64 = 1e-10;
/// A mode falls out when less than this of its mass is its own.
const DEPENDENT: f64 = 1e-11;
/// An axis with less than this of the body's size has no length.
const FLAT: f64 = 1e-9;

/// Where a part is at rest, and how its monomials combine.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    center: DVec3,
    /// One over half the size (1/m).
    scale: DVec3,
    /// L, and which monomials are kept.
    lower: [[f64; MODES]; MODES],
    kept: [bool; MODES],
}

/// Share of a node in a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub part: u32,
    pub node: u32,
}

/// Modes of a body; ten for each part, those left out being zero everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    parts: Vec<Part>,
    moves: Vec<bool>,
    /// Entries of every node: from start[i] to start[i + 1].
    pub(super) start: Vec<u32>,
    pub(super) entries: Vec<Entry>,
    /// Values of the modes, by entry, share included (1/√kg).
    pub(super) rows: Vec<[f64; MODES]>,
    /// Entries by part.
    pub(super) of_part: Vec<Vec<u32>>,
    /// Which modes are kept.
    kept: Vec<bool>,
    /// Cholesky factor of M by rows, each from its first column on.
    factor: Vec<f64>,
    row_start: Vec<usize>,
}

/// 1 x y z xy yz xz x² y² z²
pub fn monomials(x: DVec3) -> [f64; MODES] {
    [1.0, x.x, x.y, x.z, x.x * x.y, x.y * x.z, x.x * x.z, x.x * x.x, x.y * x.y, x.z * x.z]
}

/// Where the thesis has each of these: [x y z xy yz xz x² y² z² 1].
const PRINTED: [usize; MODES] = [9, 0, 1, 2, 3, 4, 5, 6, 7, 8];

impl Part {
    /// From (rest position, m c², ) of its nodes.
    fn new(nodes: &[(DVec3, f64)], size: f64) -> Self {
        let total: f64 = nodes.iter().map(|n| n.1).sum();
        let center = nodes.iter().map(|n| n.0 * n.1).sum::<DVec3>() / total.max(f64::MIN_POSITIVE);
        let half = nodes.iter().fold(DVec3::ZERO, |half, n| half.max((n.0 - center).abs()));
        let scale = DVec3::from_array(half.to_array().map(|h| if h > FLAT * size { 1.0 / h } else { 0.0 }));
        let mut part = Self { center, scale, lower: [[0.0; MODES]; MODES], kept: [false; MODES] };
        let mut gram = [[0.0; MODES]; MODES];
        for &(x, weight) in nodes {
            let p = monomials((x - center) * scale);
            for k in 0..MODES {
                for l in 0..=k {
                    gram[k][l] += weight * p[k] * p[l];
                }
            }
        }
        for k in 0..MODES {
            for l in 0..k {
                if part.kept[l] {
                    let made: f64 = (0..l).map(|j| part.lower[k][j] * part.lower[l][j]).sum();
                    part.lower[k][l] = (gram[k][l] - made) / part.lower[l][l];
                }
            }
            let left = gram[k][k] - (0..k).map(|j| part.lower[k][j].powi(2)).sum::<f64>();
            part.kept[k] = gram[k][k] > 1e-20 * total && left > NOTHING_NEW * gram[k][k];
            if part.kept[k] {
                part.lower[k][k] = left.sqrt();
            }
        }
        part
    }

    /// Values of the modes where rest position is `x` (1/√kg).
    fn at(&self, x: DVec3) -> [f64; MODES] {
        let mut phi = monomials((x - self.center) * self.scale);
        for k in 0..MODES {
            if self.kept[k] {
                let made: f64 = (0..k).map(|l| self.lower[k][l] * phi[l]).sum();
                phi[k] = (phi[k] - made) / self.lower[k][k];
            } else {
                phi[k] = 0.0;
            }
        }
        phi
    }
}

impl Modes {
    /// Modes of a body, on the nodes that its hard pins leave free.
    pub fn new(body: &Body) -> Self {
        let n = body.len();
        let mut moves = vec![true; n];
        for pin in body.pins.iter().filter(|p| p.stiffness.is_none()) {
            pin.nodes.iter().for_each(|&i| moves[i as usize] = false);
        }
        let count = body.parts.as_ref().map_or(1, |p| p.count.max(1));
        let whole = [(0, 1.0)];
        let shares = |i: usize| body.parts.as_ref().map_or(&whole[..], |p| p.of(i));
        let rest = &body.shape.rest_positions;
        let (mut start, mut entries, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut nodes: Vec<Vec<(DVec3, f64)>> = vec![Vec::new(); count];
        let mut of_part = vec![Vec::new(); count];
        for i in 0..n {
            for &(part, share) in shares(i).iter().filter(|_| moves[i]) {
                nodes[part as usize].push((rest[i], body.masses[i] * share * share));
                of_part[part as usize].push(entries.len() as u32);
                entries.push(Entry { part, node: i as u32 });
                weights.push(share);
            }
            start.push(entries.len() as u32);
        }
        let size = body.extent();
        let parts: Vec<Part> = nodes.iter().map(|list| Part::new(list, size)).collect();
        let value =
            |(e, share): (&Entry, &f64)| parts[e.part as usize].at(rest[e.node as usize]).map(|phi| share * phi);
        let rows = entries.iter().zip(&weights).map(value).collect();
        let kept = parts.iter().flat_map(|p| p.kept).collect();
        let mut modes =
            Self { parts, moves, start, entries, rows, of_part, kept, factor: Vec::new(), row_start: Vec::new() };
        modes.factorise(&body.masses);
        modes
    }

    /// Modes, ten for each part.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Which modes are not left out.
    pub fn kept(&self) -> &[bool] {
        &self.kept
    }

    /// Whether a node is moved by the modes.
    pub fn moves(&self, node: usize) -> bool {
        self.moves[node]
    }

    pub(super) fn entries_of(&self, node: usize) -> std::ops::Range<usize> {
        self.start[node] as usize..self.start[node + 1] as usize
    }

    /// Where the maps put a point of given shares, at rest at `x`: eq 5.2.
    pub fn carry(&self, values: &[DVec3], shares: &[(u32, f64)], x: DVec3) -> DVec3 {
        let of = |&(part, share): &(u32, f64)| {
            let phi = self.parts[part as usize].at(x);
            let own = &values[MODES * part as usize..][..MODES];
            share
                * own
                    .iter()
                    .zip(phi)
                    .zip(&self.kept[MODES * part as usize..])
                    .filter(|(_, kept)| **kept)
                    .map(|((q, phi), _)| *q * phi)
                    .sum::<DVec3>()
        };
        shares.iter().map(of).sum()
    }

    /// The matrix R of a part as columns, in the order of the thesis, with the centre (m) and one over half the size (1/m) of
    /// its x̃.
    pub fn matrix(&self, values: &[DVec3], part: usize) -> ([DVec3; MODES], DVec3, DVec3) {
        let own = &self.parts[part];
        let mut amounts: [DVec3; MODES] = std::array::from_fn(|k| match self.kept[MODES * part + k] {
            true => values[MODES * part + k],
            false => DVec3::ZERO,
        });
        // Lᵀ R = q, backwards.
        let mut out = [DVec3::ZERO; MODES];
        for k in (0..MODES).rev().filter(|&k| own.kept[k]) {
            amounts[k] /= own.lower[k][k];
            for l in 0..k {
                let taken = own.lower[k][l] * amounts[k];
                amounts[l] -= taken;
            }
            out[PRINTED[k]] = amounts[k];
        }
        (out, own.center, own.scale)
    }

    /// M on all modes, its factor, and who falls out.
    fn factorise(&mut self, masses: &[f64]) {
        let parts = self.parts.len();
        // The first part that each shares nodes with.
        let mut first: Vec<usize> = (0..parts).collect();
        for i in 0..masses.len() {
            let own = &self.entries[self.entries_of(i)];
            let least = own.iter().map(|e| e.part as usize).min().unwrap_or(0);
            own.iter().for_each(|e| first[e.part as usize] = first[e.part as usize].min(least));
        }
        // Row r has columns 10 first .. r; row_start is where column 0 would be.
        self.row_start = vec![0; self.len() + 1];
        let mut ends = Vec::with_capacity(self.len());
        for r in 0..self.len() {
            let begin = self.row_start[r];
            ends.push((begin, MODES * first[r / MODES]));
            self.row_start[r + 1] = begin + r + 1 - MODES * first[r / MODES];
        }
        let mut m = vec![0.0; self.row_start[self.len()]];
        let at = |r: usize, c: usize| ends[r].0 + c - ends[r].1;
        for i in 0..masses.len() {
            for e in self.entries_of(i) {
                for f in self.entries_of(i) {
                    let (b, c) = (MODES * self.entries[e].part as usize, MODES * self.entries[f].part as usize);
                    for k in 0..MODES {
                        for l in 0..MODES {
                            if c + l <= b + k {
                                m[at(b + k, c + l)] += masses[i] * self.rows[e][k] * self.rows[f][l];
                            }
                        }
                    }
                }
            }
        }
        for r in 0..self.len() {
            let begin = ends[r].1;
            for c in begin..r {
                let from = begin.max(ends[c].1);
                let made: f64 = (from..c).map(|k| m[at(r, k)] * m[at(c, k)]).sum();
                m[at(r, c)] = if self.kept[c] { (m[at(r, c)] - made) / m[at(c, c)] } else { 0.0 };
            }
            let whole = m[at(r, r)];
            let left = whole - (begin..r).map(|c| m[at(r, c)].powi(2)).sum::<f64>();
            self.kept[r] &= left > DEPENDENT * whole;
            if self.kept[r] {
                m[at(r, r)] = left.sqrt();
            } else {
                (begin..r).for_each(|c| m[at(r, c)] = 0.0);
                m[at(r, r)] = 1.0;
            }
        }
        self.factor = m;
        for (row, entry) in self.rows.iter_mut().zip(&self.entries) {
            for k in 0..MODES {
                row[k] = if self.kept[MODES * entry.part as usize + k] { row[k] } else { 0.0 };
            }
        }
    }

    /// L⁻¹, in place, where M = L Lᵀ.
    pub(super) fn forward(&self, right: &mut [DVec3]) {
        for r in 0..self.len() {
            let row = &self.factor[self.row_start[r]..self.row_start[r + 1]];
            let first = r + 1 - row.len();
            let mut sum = right[r];
            for (c, value) in row[..row.len() - 1].iter().enumerate() {
                sum -= *value * right[first + c];
            }
            right[r] = sum / row[row.len() - 1];
        }
    }

    /// M⁻¹, in place.
    pub fn solve(&self, right: &mut [DVec3]) {
        self.forward(right);
        for r in (0..self.len()).rev() {
            let row = &self.factor[self.row_start[r]..self.row_start[r + 1]];
            let first = r + 1 - row.len();
            right[r] /= row[row.len() - 1];
            let own = right[r];
            for (c, value) in row[..row.len() - 1].iter().enumerate() {
                right[first + c] -= *value * own;
            }
        }
    }
}
