//! From a field to tetrahedra.
//!
//! Body-centred: every tetrahedron of the lattice has two neighbouring cell centres and an
//! edge of the face between them. Nodes close to the skin are moved onto it, then
//! tetrahedra that still cross it are cut (Labelle and Shewchuk 2007; prisms are split by node
//! number instead of by parity, and relaxation makes up for that).
//!
//! Grid: the thesis' cubes, each cut into five, with outer nodes moved onto the skin.

use super::quality::mean_ratio;
use super::sampling::{Field, Level};
use crate::shape::tetra::{boundary, cell_edges, volume};
use glam::DVec3;
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// Nodes and tetrahedra being made.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    /// Node positions (m).
    pub positions: Vec<DVec3>,
    /// Positive tetrahedra.
    pub cells: Vec<[u32; 4]>,
    /// Springs, where they are not the edges of the cells.
    pub links: Vec<[u32; 2]>,
    /// Nodes on the skin.
    pub on_skin: Vec<bool>,
}

/// Lattice nodes nearer to the skin than this share of the side are moved onto it.
const SNAP: f64 = 0.27;
/// Cells below this mean ratio are looked after.
const POOR: f64 = 0.4;
/// Cells flatter than this mean ratio are not kept.
const LEAST_RATIO: f64 = 0.03;

/// Points of a body-centred lattice around a box.
pub(super) struct Centred {
    pub side: f64,
    origin: DVec3,
    /// Cells along each axis.
    counts: [usize; 3],
}

impl Centred {
    pub fn new([low, high]: [DVec3; 2], side: f64) -> Self {
        let size = high - low;
        let counts = (size / side).ceil().to_array().map(|c| c as usize + 3);
        let spare = DVec3::from_array(counts.map(|c| c as f64)) * side - size;
        Self { side, origin: low - 0.5 * spare, counts }
    }

    pub fn len(&self) -> usize {
        let [x, y, z] = self.counts;
        let corners = (x + 1).saturating_mul(y + 1).saturating_mul(z + 1);
        corners.saturating_add(x.saturating_mul(y).saturating_mul(z))
    }

    fn corner(&self, [i, j, k]: [usize; 3]) -> u32 {
        (i + (self.counts[0] + 1) * (j + (self.counts[1] + 1) * k)) as u32
    }

    fn center(&self, [i, j, k]: [usize; 3]) -> u32 {
        let [x, y, z] = self.counts;
        ((x + 1) * (y + 1) * (z + 1) + i + x * (j + y * k)) as u32
    }

    /// Points by rows along the first axis, in order.
    fn rows(&self) -> Vec<Range<usize>> {
        let [x, y, z] = self.counts;
        let corners = (0..(y + 1) * (z + 1)).map(|r| r * (x + 1)..(r + 1) * (x + 1));
        let first = (x + 1) * (y + 1) * (z + 1);
        corners.chain((0..y * z).map(|r| first + r * x..first + (r + 1) * x)).collect()
    }

    pub fn point(&self, index: usize) -> DVec3 {
        let [x, y, z] = self.counts;
        let corners = (x + 1) * (y + 1) * (z + 1);
        let (cell, half, [nx, ny]) =
            if index < corners { (index, 0.0, [x + 1, y + 1]) } else { (index - corners, 0.5, [x, y]) };
        let at = DVec3::new((cell % nx) as f64, (cell / nx % ny) as f64, (cell / nx / ny) as f64);
        self.origin + (at + half) * self.side
    }

    /// Points of the lattice within a distance (m).
    pub fn near(&self, p: DVec3, reach: f64) -> Vec<DVec3> {
        let mut out = near(self.origin, self.side, p, reach);
        out.extend(near(self.origin + 0.5 * self.side, self.side, p, reach));
        out
    }

    /// Every tetrahedron, positive.
    fn each(&self, mut visit: impl FnMut([u32; 4])) {
        for k in 0..self.counts[2] {
            for j in 0..self.counts[1] {
                for i in 0..self.counts[0] {
                    let cell = [i, j, k];
                    for axis in 0..3 {
                        if cell[axis] + 1 >= self.counts[axis] {
                            continue;
                        }
                        let mut next = cell;
                        next[axis] += 1;
                        // The face between the two cells, counter-clockwise seen from the second.
                        let [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
                        let corner = |db: usize, dc: usize| {
                            let mut at = next;
                            at[b] += db;
                            at[c] += dc;
                            self.corner(at)
                        };
                        let ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                        for e in 0..4 {
                            visit([self.center(cell), ring[e], ring[(e + 1) % 4], self.center(next)]);
                        }
                    }
                }
            }
        }
    }
}

/// Points of a cubic grid within a distance (m).
fn near(origin: DVec3, side: f64, p: DVec3, reach: f64) -> Vec<DVec3> {
    let at = (p - origin) / side;
    let (low, high) = ((at - reach / side).ceil(), (at + reach / side).floor());
    let mut out = Vec::new();
    for k in low.z as i64..=high.z as i64 {
        for j in low.y as i64..=high.y as i64 {
            for i in low.x as i64..=high.x as i64 {
                let q = origin + DVec3::new(i as f64, j as f64, k as f64) * side;
                if q.distance(p) <= reach {
                    out.push(q);
                }
            }
        }
    }
    out
}

/// A body-centred lattice cut at the field's surface.
pub(super) fn stuffed(field: &Field, grid: &Centred) -> Lattice {
    let side = grid.side;
    let mut levels: Vec<Level> = (grid.rows().into_par_iter())
        .flat_map_iter(|row| field.row(row.len(), side, |i| grid.point(row.start + i)))
        .collect();
    let mut points: Vec<DVec3> = (0..grid.len()).map(|i| grid.point(i)).collect();
    let mut snapped = vec![false; points.len()];
    for i in 0..points.len() {
        if levels[i].value.abs() < SNAP * side {
            points[i] = levels[i].foot;
            levels[i].value = 0.0;
            snapped[i] = true;
        }
    }
    let mut out = Lattice::default();
    let mut number: HashMap<u32, u32> = HashMap::new();
    let mut cuts: HashMap<(u32, u32), u32> = HashMap::new();
    // Where nodes were before they were moved: that tells which way round a cell is.
    let made = RefCell::new(Vec::new());
    grid.each(|tet| {
        let value = tet.map(|n| levels[n as usize].value);
        if value.iter().all(|&v| v >= 0.0) {
            // On the skin with all corners: it counts where its middle is inside.
            let on = value.iter().all(|&v| v == 0.0);
            let middle = tet.iter().map(|&n| points[n as usize]).sum::<DVec3>() / 4.0;
            if !on || field.at(middle).value >= 0.0 {
                return;
            }
        }
        let mut node = |n: u32, out: &mut Lattice| {
            *number.entry(n).or_insert_with(|| {
                made.borrow_mut().push(grid.point(n as usize));
                out.positions.push(points[n as usize]);
                out.on_skin.push(snapped[n as usize]);
                out.positions.len() as u32 - 1
            })
        };
        let inner: Vec<u32> = tet.iter().copied().filter(|&n| levels[n as usize].value <= 0.0).collect();
        let outer: Vec<u32> = tet.iter().copied().filter(|&n| levels[n as usize].value > 0.0).collect();
        let mut cut = |a: u32, b: u32, out: &mut Lattice, node: &mut dyn FnMut(u32, &mut Lattice) -> u32| {
            let (va, vb) = (levels[a as usize].value, levels[b as usize].value);
            if va == 0.0 {
                return node(a, out);
            }
            *cuts.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let t = (va / (va - vb)).clamp(0.05, 0.95);
                let straight = points[a as usize].lerp(points[b as usize], t);
                let level = field.at(straight);
                let foot = if level.foot.distance(straight) < 0.2 * side { level.foot } else { straight };
                made.borrow_mut().push(grid.point(a as usize).lerp(grid.point(b as usize), t));
                out.positions.push(foot);
                out.on_skin.push(true);
                out.positions.len() as u32 - 1
            })
        };
        match (inner.len(), outer.len()) {
            (4, _) => {
                let cell = [0, 1, 2, 3].map(|k| node(tet[k], &mut out));
                out.cells.push(cell);
            }
            (1, _) => {
                let a = inner[0];
                let tip = node(a, &mut out);
                let [b, c, d] = [0, 1, 2].map(|k| cut(a, outer[k], &mut out, &mut node));
                out.cells.push([tip, b, c, d]);
            }
            (2, _) => {
                let [a, b] = [inner[0], inner[1]];
                let left =
                    [node(a, &mut out), cut(a, outer[0], &mut out, &mut node), cut(a, outer[1], &mut out, &mut node)];
                let right =
                    [node(b, &mut out), cut(b, outer[0], &mut out, &mut node), cut(b, outer[1], &mut out, &mut node)];
                split(left, right, &mut out.cells);
            }
            (3, _) => {
                let left = [0, 1, 2].map(|k| node(inner[k], &mut out));
                let right = [0, 1, 2].map(|k| cut(inner[k], outer[0], &mut out, &mut node));
                split(left, right, &mut out.cells);
            }
            _ => {}
        }
    });
    out.tidy(&made.into_inner());
    out
}

/// A prism, corner k of one end joined to corner k of the other, as three tetrahedra whose
/// diagonals all start at the lower node number of their side: so neighbours agree.
fn split(left: [u32; 3], right: [u32; 3], cells: &mut Vec<[u32; 4]>) {
    let all = [left[0], left[1], left[2], right[0], right[1], right[2]];
    // Turn the prism so that its lowest node is corner 0.
    let low = (0..6).min_by_key(|&k| all[k]).unwrap_or(0);
    let [p, q] = if low < 3 { [left, right] } else { [right, left] };
    let k = low % 3;
    let v = [p[k], p[(k + 1) % 3], p[(k + 2) % 3], q[k], q[(k + 1) % 3], q[(k + 2) % 3]];
    // Sides (0 1 4 3) and (0 2 5 3) are cut from 0; the third from its lowest.
    if v[1].min(v[5]) < v[2].min(v[4]) {
        cells.extend([[v[0], v[1], v[2], v[5]], [v[0], v[1], v[5], v[4]], [v[0], v[4], v[5], v[3]]]);
    } else {
        cells.extend([[v[0], v[1], v[2], v[4]], [v[0], v[4], v[2], v[5]], [v[0], v[4], v[5], v[3]]]);
    }
}

/// First point of the thesis' grid and points along each axis: one more all round than the box needs.
fn cubic([low, high]: [DVec3; 2], h: f64) -> (DVec3, [usize; 3]) {
    let counts = ((high - low) / h + 1e-9).floor().to_array().map(|c| c as usize + 3);
    let spare = DVec3::from_array(counts.map(|c| (c - 1) as f64)) * h - (high - low);
    (low - 0.5 * spare, counts)
}

/// The thesis' grid: points inside, those beside them moved onto the skin, whole cubes between.
pub(super) fn cubes(field: &Field, [low, high]: [DVec3; 2], h: f64, braced: bool) -> Lattice {
    let (origin, counts) = cubic([low, high], h);
    let [nx, ny, nz] = counts;
    let place = |i: usize| origin + h * DVec3::new((i % nx) as f64, (i / nx % ny) as f64, (i / nx / ny) as f64);
    let levels: Vec<Level> = (0..nx * ny * nz).into_par_iter().map(|i| field.at(place(i))).collect();
    // A grid point on the skin is inside: it need not be moved.
    let inside: Vec<bool> = levels.iter().map(|l| l.value <= 1e-9 * h).collect();
    let mut out = Lattice::default();
    let (mut number, mut made) = (HashMap::<usize, u32>::new(), Vec::new());
    for k in 0..nz - 1 {
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                let corner = |c: usize| (i + (c & 1)) + nx * ((j + (c >> 1 & 1)) + ny * (k + (c >> 2)));
                let within = (0..8).filter(|&c| inside[corner(c)]).count();
                // A cube with an inner point; one that only touches the skin from outside is none.
                let middle = place(corner(0)) + DVec3::splat(0.5 * h);
                if within == 0 || (within <= 4 && field.at(middle).value > 0.0) {
                    continue;
                }
                let nodes: [u32; 8] = std::array::from_fn(|c| {
                    let at = corner(c);
                    *number.entry(at).or_insert_with(|| {
                        made.push(place(at));
                        out.positions.push(if inside[at] { place(at) } else { levels[at].foot });
                        out.on_skin.push(!inside[at] || levels[at].value > -1e-6 * h);
                        out.positions.len() as u32 - 1
                    })
                });
                let odd = (i + j + k) % 2;
                let flip = |c: usize| c ^ odd;
                for cell in [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]] {
                    let cell = cell.map(|c| nodes[flip(c)]);
                    // Springs that outgrew the sampling distance join what should be apart.
                    let x = cell.map(|n| out.positions[n as usize]);
                    let long = (0..4).any(|a| (0..a).any(|b| (x[a] - x[b]).abs().max_element() > 1.3 * h));
                    if !long {
                        out.cells.push(cell);
                    }
                }
                if braced {
                    for a in 0..8usize {
                        for b in [a ^ 1, a ^ 2, a ^ 4, a ^ 7] {
                            if a < b {
                                let [p, q] = [nodes[a], nodes[b]];
                                out.links.push([p.min(q), p.max(q)]);
                            }
                        }
                    }
                }
            }
        }
    }
    out.links.sort_unstable();
    out.links.dedup();
    let x = &out.positions;
    out.links.retain(|&[a, b]| (x[a as usize] - x[b as usize]).abs().max_element() <= 1.3 * h);
    out.tidy(&made);
    out
}

impl Lattice {
    /// Turns cells the right way round, as they were before nodes were moved; drops those that
    /// are inside out now or flat, and nodes without cells.
    fn tidy(&mut self, made: &[DVec3]) {
        let positions = &self.positions;
        self.cells.retain_mut(|cell| {
            if (0..4).any(|a| (0..a).any(|b| cell[a] == cell[b])) {
                return false;
            }
            if volume(cell.map(|n| made[n as usize])) < 0.0 {
                cell.swap(2, 3);
            }
            mean_ratio(cell.map(|n| positions[n as usize])) > LEAST_RATIO
        });
        self.renumber();
    }

    /// Leaves out nodes without cells, and links to them.
    pub fn renumber(&mut self) {
        let mut number = vec![u32::MAX; self.positions.len()];
        self.cells.iter().flatten().for_each(|&n| number[n as usize] = 0);
        let mut next = 0;
        for (i, slot) in number.iter_mut().enumerate() {
            if *slot == 0 {
                *slot = next;
                self.positions[next as usize] = self.positions[i];
                self.on_skin[next as usize] = self.on_skin[i];
                next += 1;
            }
        }
        self.positions.truncate(next as usize);
        self.on_skin.truncate(next as usize);
        self.cells.iter_mut().flatten().for_each(|n| *n = number[*n as usize]);
        self.links.retain_mut(|link| {
            *link = link.map(|n| number[n as usize]);
            link[0] != u32::MAX && link[1] != u32::MAX
        });
    }

    /// Removes cells with an edge that leaves the body between its ends; how many.
    pub(super) fn cut_bridges(&mut self, field: &Field, h: f64) -> usize {
        let edges = cell_edges(&self.cells);
        let levels: Vec<f64> = self.positions.par_iter().map(|&p| field.at(p).value).collect();
        let bad: std::collections::HashSet<[u32; 2]> = edges
            .into_par_iter()
            .filter(|&[a, b]| {
                let [p, q] = [a, b].map(|n| self.positions[n as usize]);
                let length = p.distance(q);
                // An edge that cannot reach the skin and come back is not looked at.
                let depth: f64 = [a, b].iter().map(|&n| (-levels[n as usize]).max(0.0)).sum();
                depth < length && [0.25, 0.5, 0.75].iter().any(|&t| field.at(p.lerp(q, t)).value > 0.2 * h)
            })
            .collect();
        let before = self.cells.len();
        if !bad.is_empty() {
            self.cells.retain(|c| {
                let edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
                !edges.iter().any(|&(i, j)| bad.contains(&[c[i].min(c[j]), c[i].max(c[j])]))
            });
            self.links.retain(|link| !bad.contains(link));
            self.renumber();
        }
        before - self.cells.len()
    }

    /// Keeps connected pieces with at least this share of the volume; (kept, dropped).
    pub fn keep_large(&mut self, share: f64) -> (usize, usize) {
        let mut parent: Vec<u32> = (0..self.positions.len() as u32).collect();
        fn root(parent: &mut [u32], mut n: u32) -> u32 {
            while parent[n as usize] != n {
                parent[n as usize] = parent[parent[n as usize] as usize];
                n = parent[n as usize];
            }
            n
        }
        for cell in &self.cells {
            let a = root(&mut parent, cell[0]);
            for &n in &cell[1..] {
                let b = root(&mut parent, n);
                parent[b as usize] = a;
            }
        }
        let mut volumes: HashMap<u32, f64> = HashMap::new();
        let mut total = 0.0;
        for cell in &self.cells {
            let v = volume(cell.map(|n| self.positions[n as usize]));
            *volumes.entry(root(&mut parent, cell[0])).or_default() += v;
            total += v;
        }
        let kept = volumes.values().filter(|&&v| v >= share * total).count();
        let dropped = volumes.len() - kept;
        if dropped > 0 {
            self.cells.retain(|c| volumes.get(&root(&mut parent, c[0])).is_some_and(|&v| v >= share * total));
            self.renumber();
        }
        (kept, dropped)
    }

    /// Moves nodes to the middle of their neighbours wherever that makes the worst of their cells
    /// better; nodes on the skin stay on it, held ones where they are.
    pub(super) fn relax(&mut self, field: &Field, held: &[bool], passes: usize) {
        let around = self.around();
        let skin = boundary(&self.cells);
        let n = self.positions.len();
        let mut outer = vec![false; n];
        skin.iter().flatten().for_each(|&i| outer[i as usize] = true);
        let mut beside: Vec<Vec<u32>> = vec![Vec::new(); n];
        for [a, b] in cell_edges(&self.cells) {
            // Surface nodes follow surface nodes.
            if !outer[a as usize] || outer[b as usize] {
                beside[a as usize].push(b);
            }
            if !outer[b as usize] || outer[a as usize] {
                beside[b as usize].push(a);
            }
        }
        for _ in 0..passes {
            for i in 0..n {
                if held[i] || beside[i].is_empty() {
                    continue;
                }
                let mean =
                    beside[i].iter().map(|&j| self.positions[j as usize]).sum::<DVec3>() / beside[i].len() as f64;
                let here = self.positions[i];
                let old = self.worst(&around[i]);
                for share in [0.6, 0.25] {
                    let mut to = here.lerp(mean, share);
                    if outer[i] {
                        let foot = field.beside(to, false).0.foot;
                        if foot.distance(here) < 2.0 * here.distance(mean) + 1e-12 {
                            to = foot;
                        }
                    }
                    self.positions[i] = to;
                    if self.worst(&around[i]) > old {
                        break;
                    }
                    self.positions[i] = here;
                }
            }
        }
    }

    /// Looks around the nodes of badly shaped cells for better places; those on the skin may
    /// leave it by a little. What stays flat and lies on the skin with all corners is dropped.
    pub(super) fn polish(&mut self, held: &[bool], h: f64) {
        let around = self.around();
        for pass in 0..6 {
            let step = h * [0.2, 0.1, 0.05][pass % 3];
            for i in 0..self.positions.len() {
                let mut worst = self.worst(&around[i]);
                if held[i] || worst > POOR {
                    continue;
                }
                let mut here = self.positions[i];
                for direction in 0..27 {
                    let way = DVec3::new((direction % 3) as f64, (direction / 3 % 3) as f64, (direction / 9) as f64);
                    self.positions[i] = here + step * (way - 1.0);
                    let found = self.worst(&around[i]);
                    if found > worst {
                        (worst, here) = (found, self.positions[i]);
                    }
                }
                self.positions[i] = here;
            }
        }
        let mut outer = vec![false; self.positions.len()];
        boundary(&self.cells).iter().flatten().for_each(|&n| outer[n as usize] = true);
        let positions = &self.positions;
        self.cells.retain(|c| {
            mean_ratio(c.map(|n| positions[n as usize])) > 0.5 * POOR || !c.iter().all(|&n| outer[n as usize])
        });
        self.renumber();
    }

    /// Cells around every node.
    pub fn around(&self) -> Vec<Vec<u32>> {
        let mut around = vec![Vec::new(); self.positions.len()];
        for (c, cell) in self.cells.iter().enumerate() {
            cell.iter().for_each(|&n| around[n as usize].push(c as u32));
        }
        around
    }

    /// The worst mean ratio of some cells.
    pub fn worst(&self, cells: &[u32]) -> f64 {
        (cells.iter())
            .map(|&c| mean_ratio(self.cells[c as usize].map(|n| self.positions[n as usize])))
            .fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches prisms whose neighbours cut a shared side along different diagonals, or
    /// that are not filled.
    #[test]
    fn prisms_are_filled_whatever_their_numbers() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| [p, p + DVec3::Z]);
        // All orders of six numbers.
        let mut order: Vec<usize> = (0..6).collect();
        let mut seen = 0;
        permute(&mut order, 0, &mut |order| {
            let mut x = [DVec3::ZERO; 6];
            for k in 0..3 {
                x[order[k]] = corners[k][0];
                x[order[k + 3]] = corners[k][1];
            }
            let mut cells = Vec::new();
            let side = |k: usize| order[k] as u32;
            split([side(0), side(1), side(2)], [side(3), side(4), side(5)], &mut cells);
            let total: f64 = cells.iter().map(|c: &[u32; 4]| volume(c.map(|n| x[n as usize])).abs()).sum();
            assert!((total - 0.5).abs() < 1e-12, "{order:?}");
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                // The diagonal starts at the lowest of the four.
                let quad = [side(a), side(b), side(a + 3), side(b + 3)];
                let low = *quad.iter().min().unwrap();
                let far = if low == quad[0] {
                    quad[3]
                } else if low == quad[3] {
                    quad[0]
                } else if low == quad[1] {
                    quad[2]
                } else {
                    quad[1]
                };
                assert!(cells.iter().any(|c| c.contains(&low) && c.contains(&far)), "{order:?}");
            }
            seen += 1;
        });
        assert_eq!(seen, 720);
    }

    fn permute(list: &mut Vec<usize>, at: usize, visit: &mut impl FnMut(&[usize])) {
        if at == list.len() {
            return visit(list);
        }
        for k in at..list.len() {
            list.swap(at, k);
            permute(list, at + 1, visit);
            list.swap(at, k);
        }
    }
}
