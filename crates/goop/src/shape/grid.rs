//! A regular grid over material coordinates, and the stencils that live on it.
//!
//! ```text
//! point (i, j, k)  →  index = i + nu (j + nv k)  →  node[index]
//! ```
//! A periodic axis has `counts` distinct points and wraps. A pole is a row of grid
//! points that share one node: a stencil that would use that node twice is left
//! out, one that two rows would both yield comes once. Every iterator runs in
//! index order, first axis fastest, and holds no list of what it has seen.

/// A regular grid; axes that are not used have count 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Grid points along each axis.
    pub counts: [usize; 3],
    /// Axes that wrap.
    pub periodic: [bool; 3],
    /// Node of every grid point; several points may share a node.
    pub node: Vec<u32>,
}

type Point = [usize; 3];

impl Grid {
    /// Number of axes in use: 1, 2 or 3.
    pub fn axes(&self) -> usize {
        (0..3).rev().find(|&axis| self.counts[axis] > 1).map_or(0, |axis| axis + 1)
    }

    /// Place of a grid point in `node`.
    pub fn index(&self, i: usize, j: usize, k: usize) -> usize {
        i + self.counts[0] * (j + self.counts[1] * k)
    }

    /// Grid point at a place in `node`.
    pub fn point(&self, index: usize) -> [usize; 3] {
        let [nu, nv, _] = self.counts;
        [index % nu, index / nu % nv, index / nu / nv]
    }

    /// Corner nodes of every cell: bit `a` of the corner number is the step along
    /// axis `a`. The first `2^axes` entries count; the others repeat them. A cell at
    /// a pole names the pole more than once.
    pub fn cells(&self) -> impl Iterator<Item = [u32; 8]> + '_ {
        let [nu, nv, nw] = [0, 1, 2].map(|axis| match self.counts[axis] {
            1 => 1,
            count => count - usize::from(!self.periodic[axis]),
        });
        (0..nw).flat_map(move |k| (0..nv).flat_map(move |j| (0..nu).map(move |i| self.cell([i, j, k]))))
    }

    /// Nodes (previous, here, next) along an axis, for second differences. Where an
    /// open axis ends at a pole of a periodic axis with an even count, the line runs
    /// through it: (node at u, pole, node half a turn on).
    pub fn lines(&self, axis: usize) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.once(axis, move |point| {
            let here = self.at(point);
            let triple = match (self.step(point, axis, false), self.step(point, axis, true)) {
                (Some(before), Some(after)) => [self.at(before), here, self.at(after)],
                (Some(inner), None) | (None, Some(inner)) => [self.at(inner), here, self.across(point, inner, axis)?],
                (None, None) => return None,
            };
            let [a, b, c] = triple;
            (a != b && b != c && a != c).then_some(triple)
        })
    }

    /// Node pairs along an axis, each once and never a node with itself.
    pub fn edges(&self, axis: usize) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.once(axis, move |point| {
            let pair = [self.at(point), self.at(self.step(point, axis, true)?)];
            (pair[0] != pair[1]).then_some(pair)
        })
    }

    /// Whether all points at one end of an axis share a node.
    pub fn is_pole(&self, axis: usize, high: bool) -> bool {
        let mut side = self.side_points(axis, high).map(|index| self.node[index]);
        let first = side.next();
        first.is_some() && side.all(|node| Some(node) == first) && self.axes() > 1
    }

    /// Indices of the points at one end of an axis; none where it wraps.
    pub(super) fn side_points(&self, axis: usize, high: bool) -> impl Iterator<Item = usize> + '_ {
        let open = axis < self.axes() && !self.periodic[axis];
        let stride: usize = self.counts.iter().take(axis).product();
        let count = if open { self.counts[axis] } else { 1 };
        let offset = if high { (count - 1) * stride } else { 0 };
        let points = if open { self.node.len() / count } else { 0 };
        (0..points).map(move |p| p / stride * (stride * count) + p % stride + offset)
    }

    fn at(&self, [i, j, k]: Point) -> u32 {
        self.node[self.index(i, j, k)]
    }

    fn cell(&self, start: Point) -> [u32; 8] {
        std::array::from_fn(|corner| {
            self.at(std::array::from_fn(|axis| (start[axis] + (corner >> axis & 1)) % self.counts[axis]))
        })
    }

    fn step(&self, mut point: Point, axis: usize, forward: bool) -> Option<Point> {
        let count = *self.counts.get(axis).filter(|&&count| count > 1)?;
        let end = if forward { count - 1 } else { 0 };
        point[axis] = match (point[axis] == end, self.periodic[axis]) {
            (false, _) if forward => point[axis] + 1,
            (false, _) => point[axis] - 1,
            (true, true) => count - 1 - end,
            (true, false) => return None,
        };
        Some(point)
    }

    /// The node opposite `inner`, seen through the pole at `point`; once a line.
    fn across(&self, point: Point, inner: Point, axis: usize) -> Option<u32> {
        let around = (0..3).find(|&b| {
            b != axis && self.periodic[b] && self.step(point, b, true).is_some_and(|p| self.at(p) == self.at(point))
        })?;
        let count = self.counts[around];
        if count % 2 == 1 || point[around] >= count / 2 {
            return None;
        }
        let turned = |mut p: Point| {
            p[around] += count / 2;
            self.at(p)
        };
        (turned(point) == self.at(point)).then(|| turned(inner))
    }

    /// The stencil at every point, less those that the point one step lower on another
    /// axis yields as well: that is where several points share their nodes.
    fn once<S: PartialEq>(&self, axis: usize, stencil: impl Fn(Point) -> Option<S>) -> impl Iterator<Item = S> {
        (0..self.node.len()).filter_map(move |index| {
            let point = self.point(index);
            let found = stencil(point)?;
            let repeated = (0..3).any(|b| {
                let mut lower = point;
                lower[b] = lower[b].wrapping_sub(1);
                b != axis && point[b] > 0 && stencil(lower).as_ref() == Some(&found)
            });
            (!repeated).then_some(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Layout, Shape};
    use std::collections::BTreeSet;

    fn grid(shape: Shape) -> Grid {
        match shape.layout {
            Layout::Grid(grid) => grid,
            _ => panic!("a grid was expected"),
        }
    }

    fn counts(grid: &Grid) -> [usize; 7] {
        let [l, e] = [|g: &Grid, a| g.lines(a).count(), |g: &Grid, a| g.edges(a).count()];
        [grid.cells().count(), l(grid, 0), l(grid, 1), l(grid, 2), e(grid, 0), e(grid, 1), e(grid, 2)]
    }

    /// Catches a stencil that stops at a seam, runs off an end, or sits on a pole.
    #[test]
    fn stencils_are_counted_on_every_kind_of_axis() {
        assert_eq!(counts(&grid(Shape::line(1.0, 5).unwrap())), [4, 3, 0, 0, 4, 0, 0]);
        assert_eq!(counts(&grid(Shape::hoop(1.0, 5).unwrap())), [5, 5, 0, 0, 5, 0, 0]);
        assert_eq!(counts(&grid(Shape::rectangle([1.0, 1.0], [4, 3]).unwrap())), [6, 6, 4, 0, 9, 8, 0]);
        assert_eq!(counts(&grid(Shape::cylinder(1.0, 1.0, [6, 3]).unwrap())), [12, 18, 6, 0, 18, 12, 0]);
        assert_eq!(counts(&grid(Shape::torus(1.0, 0.2, [6, 4]).unwrap())), [24, 24, 24, 0, 24, 24, 0]);
        // Four rings of six, no edge at the centre, three lines through it.
        assert_eq!(counts(&grid(Shape::disc(1.0, [6, 5]).unwrap())), [24, 24, 18 + 3, 0, 24, 24, 0]);
        assert_eq!(counts(&grid(Shape::disc(1.0, [5, 5]).unwrap())), [20, 20, 15, 0, 20, 20, 0]);
        // Three rings of six, five points a meridian, three lines through each pole.
        assert_eq!(counts(&grid(Shape::sphere(1.0, [6, 5]).unwrap())), [24, 18, 18 + 6, 0, 18, 24, 0]);
        let solid = grid(Shape::block(glam::DVec3::ONE, [3, 4, 5]).unwrap());
        assert_eq!(counts(&solid), [24, 20, 30, 36, 40, 45, 48]);
        assert_eq!(solid.axes(), 3);
    }

    /// Catches a corner order other than the one documented.
    #[test]
    fn a_corner_number_has_one_bit_per_axis() {
        let grid = grid(Shape::block(glam::DVec3::ONE, [3, 4, 5]).unwrap());
        let first = grid.cells().next().unwrap();
        for corner in 0..8 {
            assert_eq!(first[corner] as usize, grid.index(corner & 1, corner >> 1 & 1, corner >> 2));
        }
        assert_eq!(grid.point(grid.index(2, 1, 4)), [2, 1, 4]);
    }

    /// Catches a line that turns a corner at the pole instead of running straight through.
    #[test]
    fn a_line_through_a_pole_is_straight() {
        let shape = Shape::disc(1.0, [8, 4]).unwrap();
        let positions = shape.rest_positions.clone();
        let grid = grid(shape);
        let through: Vec<_> = grid.lines(1).filter(|line| line[1] == 0).collect();
        assert_eq!(through.len(), 4);
        for [a, pole, b] in through {
            let [a, pole, b] = [a, pole, b].map(|node| positions[node as usize]);
            assert!((a + b - 2.0 * pole).length() < 1e-14);
        }
    }

    /// Catches a stencil repeated once for every point of a collapsed side.
    #[test]
    fn stencils_along_a_collapsed_side_come_once() {
        // A solid cylinder: u around, v outwards from the axis, w along it.
        let mut node = Vec::new();
        for k in 0..4u32 {
            node.extend([9 * k; 8]);
            node.extend((1..9).map(|i| 9 * k + i));
        }
        let grid = Grid { counts: [8, 2, 4], periodic: [true, false, false], node };
        assert_eq!(grid.edges(2).count(), 27);
        assert_eq!(grid.lines(2).count(), 18);
        assert_eq!(grid.edges(0).count(), 32);
        assert_eq!(grid.lines(1).count(), 16);
        for axis in 0..3 {
            let edges: Vec<_> = grid.edges(axis).collect();
            assert_eq!(edges.iter().collect::<BTreeSet<_>>().len(), edges.len());
        }
        assert!(!grid.is_pole(1, false) && !grid.is_pole(2, true));
    }

    /// Catches an index out of bounds for an axis that the grid does not have.
    #[test]
    fn an_unused_axis_has_no_stencils() {
        let grid = grid(Shape::line(1.0, 3).unwrap());
        assert_eq!(grid.edges(2).count() + grid.lines(1).count() + grid.edges(7).count(), 0);
        assert_eq!(grid.side_points(1, true).count() + grid.side_points(9, false).count(), 0);
        assert_eq!(grid.side_points(0, true).collect::<Vec<_>>(), [2]);
    }
}
