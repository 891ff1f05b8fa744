//! Curves: one material axis, u from 0 to 1 along the course.
//!
//! ```text
//! line    x = (u - ½) l
//! arc     r (cos φ, sin φ, 0),  φ = -π/2 + (u - ½) angle
//! hoop    r (cos 2πu, sin 2πu, 0), closed
//! helix   (r cos φ, (u - ½) h, -r sin φ),  φ = 2π turns u: right-handed about y
//! spline  centripetal Catmull-Rom, knots tᵢ₊₁ - tᵢ = √|pᵢ₊₁ - pᵢ|
//! ```
//! A spline's nodes are equally spaced along its length, found by five-point Gauss
//! quadrature on sixteenths of each span and a guarded Newton iteration.

use super::{Dimension, Grid, Layout, Shape, ShapeError, check_nodes, check_point, check_size, coordinate};
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, TAU};

impl Shape {
    /// Straight along x, centred; length (m).
    pub fn line(length: f64, nodes: usize) -> Result<Self, ShapeError> {
        check_size("line's length", length)?;
        check_nodes("line", [nodes], [2])?;
        Ok(curve(nodes, false, |u| DVec3::new((u - 0.5) * length, 0.0, 0.0)))
    }

    /// Part of a circle in the xy plane, symmetric about -y; radius (m), angle (rad).
    pub fn arc(radius: f64, angle: f64, nodes: usize) -> Result<Self, ShapeError> {
        check_size("arc's radius", radius)?;
        // A full turn given in degrees may come out a little above 2π.
        if !(angle > 0.0 && angle <= TAU * (1.0 + 1e-12)) || radius * angle < super::LEAST_SIZE {
            return Err(ShapeError::Angle { value: angle });
        }
        check_nodes("arc", [nodes], [2])?;
        Ok(curve(nodes, false, |u| {
            let (sin, cos) = ((u - 0.5) * angle - FRAC_PI_2).sin_cos();
            DVec3::new(cos, sin, 0.0) * radius
        }))
    }

    /// Closed circle in the xy plane; radius (m).
    pub fn hoop(radius: f64, nodes: usize) -> Result<Self, ShapeError> {
        check_size("hoop's radius", radius)?;
        check_nodes("hoop", [nodes], [3])?;
        Ok(curve(nodes, true, |u| {
            let (sin, cos) = (TAU * u).sin_cos();
            DVec3::new(cos, sin, 0.0) * radius
        }))
    }

    /// Right-handed helix about y, centred; radius and height (m).
    pub fn helix(radius: f64, height: f64, turns: f64, nodes: usize) -> Result<Self, ShapeError> {
        check_size("helix' radius", radius)?;
        check_size("helix' height", height)?;
        if !(turns > 0.0 && turns <= 1e6) {
            return Err(ShapeError::Turns { value: turns });
        }
        check_nodes("helix", [nodes], [2])?;
        Ok(curve(nodes, false, |u| {
            let (sin, cos) = (TAU * turns * u).sin_cos();
            DVec3::new(radius * cos, (u - 0.5) * height, -radius * sin)
        }))
    }

    /// Smooth curve through points (m), nodes equally spaced along it. A closed one
    /// goes back to its first point by itself.
    pub fn spline(points: &[DVec3], closed: bool, nodes: usize) -> Result<Self, ShapeError> {
        let least = if closed { 3 } else { 2 };
        if points.len() < least {
            return Err(ShapeError::TooFewPoints { count: points.len(), least });
        }
        check_nodes("spline", [nodes], [least])?;
        for (index, &point) in points.iter().enumerate() {
            check_point(index, point)?;
        }
        let spline = Spline { points, closed };
        for index in 0..spline.spans() {
            let next = (index + 1) % points.len();
            if points[index].distance(points[next]) < super::LEAST_SIZE {
                return Err(ShapeError::SamePoint { index, next });
            }
        }
        let positions = spline.equally_spaced(nodes);
        let mut shape = curve(nodes, closed, |_| DVec3::ZERO);
        shape.rest_positions = positions;
        // Two nodes of a course that returns on itself may meet.
        if shape.size() < super::LEAST_SIZE || shape.cell_measures().contains(&0.0) {
            return Err(ShapeError::Collapsed { what: "spline" });
        }
        Ok(shape)
    }
}

fn curve(nodes: usize, closed: bool, place: impl Fn(f64) -> DVec3) -> Shape {
    let grid = Grid { counts: [nodes, 1, 1], periodic: [closed, false, false], node: (0..nodes as u32).collect() };
    let along = |i| coordinate(i, nodes, closed);
    Shape {
        dimension: Dimension::Curve,
        rest_positions: (0..nodes).map(|i| place(along(i))).collect(),
        material_coordinates: (0..nodes).map(|i| DVec3::new(along(i), 0.0, 0.0)).collect(),
        segments: grid.cells().map(|cell| [cell[0], cell[1]]).collect(),
        triangles: Vec::new(),
        closed: false,
        groups: BTreeMap::new(),
        layout: Layout::Grid(grid),
    }
}

struct Spline<'a> {
    points: &'a [DVec3],
    closed: bool,
}

/// Pieces into which a span is cut for quadrature.
const PIECES: usize = 16;

impl Spline<'_> {
    fn spans(&self) -> usize {
        self.points.len() - usize::from(!self.closed)
    }

    /// A point by number; beyond an open end, the mirror image of its neighbour.
    fn point(&self, i: isize) -> DVec3 {
        let count = self.points.len() as isize;
        match i {
            _ if self.closed => self.points[i.rem_euclid(count) as usize],
            -1 => 2.0 * self.points[0] - self.points[1],
            i if i == count => 2.0 * self.points[i as usize - 1] - self.points[i as usize - 2],
            i => self.points[i as usize],
        }
    }

    /// Power form a + b t + c t² + d t³ of a span, t from 0 to 1.
    fn span(&self, i: usize) -> [DVec3; 4] {
        let [p0, p1, p2, p3] = [-1, 0, 1, 2].map(|k| self.point(i as isize + k));
        let [d0, d1, d2] = [p0.distance(p1).sqrt(), p1.distance(p2).sqrt(), p2.distance(p3).sqrt()];
        let start = d1 * ((p1 - p0) / d0 - (p2 - p0) / (d0 + d1) + (p2 - p1) / d1);
        let end = d1 * ((p2 - p1) / d1 - (p3 - p1) / (d1 + d2) + (p3 - p2) / d2);
        [p1, start, 3.0 * (p2 - p1) - 2.0 * start - end, 2.0 * (p1 - p2) + start + end]
    }

    fn equally_spaced(&self, nodes: usize) -> Vec<DVec3> {
        let piece = |i: usize| {
            let from = (i % PIECES) as f64 / PIECES as f64;
            (self.span(i / PIECES), from, from + 1.0 / PIECES as f64)
        };
        let pieces = self.spans() * PIECES;
        let total: f64 = (0..pieces).map(piece).map(|(span, from, to)| length(&span, from, to)).sum();
        let spacing = total / (nodes - usize::from(!self.closed)) as f64;
        let mut positions = Vec::with_capacity(nodes);
        let mut behind = 0.0;
        for (span, from, to) in (0..pieces).map(piece) {
            let here = length(&span, from, to);
            while positions.len() < nodes && positions.len() as f64 * spacing <= behind + here {
                positions.push(at(&span, walk(&span, from, to, positions.len() as f64 * spacing - behind)));
            }
            behind += here;
        }
        if !self.closed {
            // Rounding may leave the last node a hair beyond the end.
            positions.truncate(nodes - 1);
            positions.resize(nodes, self.points[self.points.len() - 1]);
        }
        positions
    }
}

fn at([a, b, c, d]: &[DVec3; 4], t: f64) -> DVec3 {
    *a + t * (*b + t * (*c + t * *d))
}

fn speed([_, b, c, d]: &[DVec3; 4], t: f64) -> f64 {
    (*b + t * (2.0 * *c + 3.0 * t * *d)).length()
}

/// Length of a piece (m), five-point Gauss.
fn length(span: &[DVec3; 4], from: f64, to: f64) -> f64 {
    const GAUSS: [(f64, f64); 3] = [
        (0.0, 128.0 / 225.0),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_08),
    ];
    let (mid, half) = (0.5 * (from + to), 0.5 * (to - from));
    let [centre, inner, outer] = GAUSS;
    let pair = |(x, w): (f64, f64)| w * (speed(span, mid - half * x) + speed(span, mid + half * x));
    half * (centre.1 * speed(span, mid) + pair(inner) + pair(outer))
}

/// Parameter at which a given length (m) of the piece lies behind.
fn walk(span: &[DVec3; 4], from: f64, to: f64, goal: f64) -> f64 {
    let (mut low, mut high) = (from, to);
    let mut t = from + (to - from) * (goal / length(span, from, to)).clamp(0.0, 1.0);
    for _ in 0..20 {
        let miss = length(span, from, t) - goal;
        if miss > 0.0 {
            high = t
        } else {
            low = t
        }
        let newton = t - miss / speed(span, t);
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= 1e-15 {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(count: usize) -> Vec<DVec3> {
        (0..count)
            .map(|i| {
                let (sin, cos) = (TAU * i as f64 / count as f64).sin_cos();
                DVec3::new(cos, sin, 0.3 * cos)
            })
            .collect()
    }

    /// Catches nodes that bunch where the spline's points are close, and a lost end.
    #[test]
    fn spline_nodes_are_equally_spaced_and_reach_the_ends() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::new(1.1, 0.2, 0.0), DVec3::new(1.0, 3.0, 2.0)];
        let shape = Shape::spline(&points, false, 4001).unwrap();
        assert_eq!((shape.rest_positions[0], shape.rest_positions[4000]), (points[0], points[3]));
        let steps = shape.cell_measures();
        let mean = shape.size() / 4000.0;
        // A chord is shorter than its arc by κ²l³/24; the sharp bend allows about 1e-4 of it.
        assert!(steps.iter().all(|step| (step / mean - 1.0).abs() < 1e-3), "{mean}");
        for p in points {
            let nearest = shape.rest_positions.iter().map(|x| x.distance(p)).fold(f64::MAX, f64::min);
            assert!(nearest < mean, "the spline misses {p}");
        }
    }

    /// Catches a seam in a closed spline: a repeated node or a longer last step.
    #[test]
    fn a_closed_spline_has_no_seam() {
        let shape = Shape::spline(&ring(6), true, 600).unwrap();
        let steps = shape.cell_measures();
        assert_eq!((shape.len(), steps.len()), (600, 600));
        let mean = shape.size() / 600.0;
        assert!(steps.iter().all(|step| (step / mean - 1.0).abs() < 1e-4));
        assert!(shape.boundary_nodes().is_empty());
    }

    /// Catches spacing that is right for many nodes only.
    #[test]
    fn a_spline_through_two_points_is_a_line() {
        for nodes in [2, 3, 7] {
            let shape = Shape::spline(&[DVec3::ZERO, DVec3::new(3.0, 0.0, 4.0)], false, nodes).unwrap();
            assert!(shape.cell_measures().iter().all(|step| (step * (nodes - 1) as f64 - 5.0).abs() < 1e-12));
        }
        assert_eq!(Shape::spline(&ring(3), true, 3).unwrap().len(), 3);
    }

    /// Catches a curve laid in the wrong plane or direction.
    #[test]
    fn curves_lie_where_the_header_says() {
        let near = |a: DVec3, b: DVec3| assert!(a.distance(b) < 1e-12, "{a} {b}");
        let line = Shape::line(2.0, 2).unwrap();
        near(line.rest_positions[0], -DVec3::X);
        let arc = Shape::arc(2.0, std::f64::consts::PI, 3).unwrap();
        near(arc.rest_positions[0], DVec3::X * -2.0);
        near(arc.rest_positions[1], DVec3::Y * -2.0);
        let hoop = Shape::hoop(1.0, 4).unwrap();
        near(hoop.rest_positions[1], DVec3::Y);
        assert_eq!((hoop.segments.len(), hoop.segments[3]), (4, [3, 0]));
        let helix = Shape::helix(1.0, 4.0, 1.0, 5).unwrap();
        near(helix.rest_positions[1], DVec3::new(0.0, -1.0, -1.0));
    }

    /// Catches a faulty course that gets as far as a division by zero.
    #[test]
    fn faulty_courses_are_refused() {
        let p = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for value in [0.0, -1.0, 7.0, f64::NAN] {
            assert!(matches!(Shape::arc(1.0, value, 3), Err(ShapeError::Angle { .. })));
        }
        assert!(Shape::arc(1.0, 360f64.to_radians(), 3).is_ok());
        for value in [0.0, -1.0, f64::NAN, 1e7] {
            assert!(matches!(Shape::helix(1.0, 1.0, value, 3), Err(ShapeError::Turns { .. })));
        }
        assert_eq!(Shape::spline(&p[..1], false, 5), Err(ShapeError::TooFewPoints { count: 1, least: 2 }));
        assert_eq!(Shape::spline(&p[..2], true, 5), Err(ShapeError::TooFewPoints { count: 2, least: 3 }));
        assert!(matches!(Shape::spline(&p, true, 2), Err(ShapeError::TooFewNodes { least: 3, .. })));
        assert!(matches!(Shape::spline(&p, false, usize::MAX), Err(ShapeError::TooManyNodes { .. })));
        assert_eq!(Shape::spline(&[p[0], p[1], p[1]], false, 5), Err(ShapeError::SamePoint { index: 1, next: 2 }));
        assert_eq!(Shape::spline(&[p[0], p[1], p[0]], true, 5), Err(ShapeError::SamePoint { index: 2, next: 0 }));
        assert_eq!(Shape::spline(&[p[0], DVec3::NAN], false, 5), Err(ShapeError::Point { index: 1 }));
        // There and back: the two ends meet, and two nodes have nothing between them.
        assert!(matches!(Shape::spline(&[p[0], p[1], p[0]], false, 2), Err(ShapeError::Collapsed { .. })));
    }
}
