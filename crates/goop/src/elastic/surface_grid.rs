//! Neighbours on the grid of a surface, for its curvature: differences there are, at borders and poles too.

use super::card::Plane;
use super::curvature::Term;
use super::surface_curvature::Split;
use crate::shape::Grid;
use glam::DVec3;

/// The three corners of a cell that ends in a pole; none where all four differ.
pub(super) fn without_repeats(nodes: [u32; 4]) -> Option<[u32; 3]> {
    let [a, b, c, d] = nodes;
    if a == b || a == c {
        // Without the first corner: along axis 1 first where that side is whole.
        return Some(if a == b { [c, d, a] } else { [b, d, a] });
    }
    if c == d || b == d {
        return Some([a, b, c]);
    }
    None
}

/// Grid points of every cell of a surface, in the order of `Grid::cells`.
pub(super) fn cell_points(grid: &Grid) -> impl Iterator<Item = [usize; 4]> + '_ {
    let [nu, nv] = [0, 1].map(|a| grid.counts[a] - usize::from(!grid.periodic[a]));
    (0..nv).flat_map(move |j| {
        (0..nu).map(move |i| {
            std::array::from_fn(|c| grid.index((i + (c & 1)) % grid.counts[0], (j + (c >> 1)) % grid.counts[1], 0))
        })
    })
}

/// d, p and q of the mixed component in a cell.
pub(super) const CELL: Term<4> = [[1.0, -1.0, -1.0, 1.0], [-0.5, 0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, 0.5]];

/// A grid point with its neighbours: centre, after and before along axis 1, after and before along
/// axis 2; a missing one repeats the centre.
pub(super) struct Around {
    pub nodes: [u32; 5],
    /// Along which axes there are neighbours on both sides.
    pub known: [bool; 2],
    /// Weights of the tangents along both axes, and of the second differences.
    pub first: [[f64; 5]; 2],
    pub second: [[f64; 5]; 2],
}

impl Around {
    pub fn new(grid: &Grid, index: usize) -> Self {
        let point = grid.point(index);
        let here = grid.node[index];
        let step = |axis: usize, forward: bool| {
            let (mut to, count) = (point, grid.counts[axis]);
            let end = if forward { count - 1 } else { 0 };
            if point[axis] == end && !grid.periodic[axis] {
                return None;
            }
            to[axis] = (point[axis] + if forward { 1 } else { count - 1 }) % count;
            Some(grid.node[grid.index(to[0], to[1], to[2])]).filter(|&n| n != here)
        };
        let mut out = Self { nodes: [here; 5], known: [false; 2], first: [[0.0; 5]; 2], second: [[0.0; 5]; 2] };
        for axis in 0..2 {
            let (a, b) = (1 + 2 * axis, 2 + 2 * axis);
            let (after, before) = (step(axis, true), step(axis, false));
            match (after, before) {
                (Some(p), Some(q)) if p != q => {
                    (out.nodes[a], out.nodes[b], out.known[axis]) = (p, q, true);
                    (out.first[axis][a], out.first[axis][b]) = (0.5, -0.5);
                    (out.second[axis][0], out.second[axis][a], out.second[axis][b]) = (-2.0, 1.0, 1.0);
                }
                (Some(p), _) => {
                    out.nodes[a] = p;
                    (out.first[axis][0], out.first[axis][a]) = (-1.0, 1.0);
                }
                (None, Some(q)) => {
                    out.nodes[b] = q;
                    (out.first[axis][0], out.first[axis][b]) = (1.0, -1.0);
                }
                (None, None) => {}
            }
        }
        out
    }

    pub fn split(&self, rest: &[DVec3], plate: &Plane) -> Option<Split> {
        let tangents = self.first.map(|w| (0..5).map(|a| w[a] * rest[self.nodes[a] as usize]).sum());
        Split::new(tangents, plate, self.known)
    }

    pub fn links(&self, axis: usize) -> Vec<[u32; 2]> {
        let (a, b) = (1 + 2 * axis, 2 + 2 * axis);
        vec![[self.nodes[0], self.nodes[a]], [self.nodes[b], self.nodes[0]]]
    }

    /// The mixed component of a cell that has this point at `corner`, and this point's own components
    /// by their factors.
    pub fn with_cell(&self, lean: [f64; 2], corner: usize, cell: [u32; 4]) -> ([u32; 6], [Term<6>; 2]) {
        let [c, e, w, n, s] = self.nodes;
        let nodes = [c, e, w, n, s, cell[3 - corner]];
        let mut own = [[0.0; 6]; 3];
        for a in 0..5 {
            own[0][a] = lean[0] * self.second[0][a] + lean[1] * self.second[1][a];
            (own[1][a], own[2][a]) = (self.first[0][a], self.first[1][a]);
        }
        // Where the corners of the cell are among the nodes.
        let mut place = [0; 4];
        place[corner] = 0;
        place[corner ^ 1] = if corner & 1 == 0 { 1 } else { 2 };
        place[corner ^ 2] = if corner & 2 == 0 { 3 } else { 4 };
        place[3 - corner] = 5;
        let mut mixed = [[0.0; 6]; 3];
        for k in 0..4 {
            for i in 0..3 {
                mixed[i][place[k]] += CELL[i][k];
            }
        }
        (nodes, [own, mixed])
    }
}
