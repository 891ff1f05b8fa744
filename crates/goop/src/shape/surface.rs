//! Surfaces: two material axes, both from 0 to 1.
//!
//! ```text
//! rectangle  ((u - ½) a, 0, (v - ½) b)
//! disc       v r (cos φ, 0, -sin φ)                    pole at v = 0
//! cylinder   (r cos φ, (v - ½) h, -r sin φ)
//! sphere     r (sin θ cos φ, -cos θ, -sin θ sin φ)     θ = πv, poles at both ends
//! torus      ((R + r cos ψ) cos φ, r sin ψ, -(R + r cos ψ) sin φ)    ψ = 2πv
//! revolve    (ρ(v) (1 + d cos kφ) cos φ, y(v), -ρ(v) (1 + d cos kφ) sin φ)    poles at both ends, then bent
//! bezier     Σ Bᵢ(u) Bⱼ(v) pⱼᵢ, row j of the net along v
//! ```
//! with φ = 2πu right-handed about y. Triangles face outwards; those of the
//! rectangle and the disc face +y, those of a patch face x_u × x_v.

use super::saved::cell_triangles;
use super::{Dimension, Grid, Layout, Shape, ShapeError, check_nodes, check_point, check_size, coordinate};
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

impl Shape {
    /// In the xz plane, centred, u along x and v along z; sides (m).
    pub fn rectangle(sides: [f64; 2], nodes: [usize; 2]) -> Result<Self, ShapeError> {
        check_size("rectangle's first side", sides[0])?;
        check_size("rectangle's second side", sides[1])?;
        check_nodes("rectangle", nodes, [2, 2])?;
        let place = |u, v| DVec3::new((u - 0.5) * sides[0], 0.0, (v - 0.5) * sides[1]);
        Ok(surface(Plan { nodes, down: true, ..Plan::default() }, place))
    }

    /// In the xz plane, u around and v from the centre to the rim; radius (m).
    pub fn disc(radius: f64, nodes: [usize; 2]) -> Result<Self, ShapeError> {
        check_size("disc's radius", radius)?;
        check_nodes("disc", nodes, [3, 2])?;
        let plan = Plan { nodes, periodic: [true, false], collapsed: [[false; 2], [true, false]], down: true };
        Ok(surface(plan, |u, v| around(u) * (v * radius)))
    }

    /// Open tube about y, centred, u around and v upwards; radius and height (m).
    pub fn cylinder(radius: f64, height: f64, nodes: [usize; 2]) -> Result<Self, ShapeError> {
        check_size("cylinder's radius", radius)?;
        check_size("cylinder's height", height)?;
        check_nodes("cylinder", nodes, [3, 2])?;
        let plan = Plan { nodes, periodic: [true, false], ..Plan::default() };
        Ok(surface(plan, |u, v| around(u) * radius + DVec3::Y * ((v - 0.5) * height)))
    }

    /// Sphere, u around y and v from the south pole to the north pole; radius (m).
    pub fn sphere(radius: f64, nodes: [usize; 2]) -> Result<Self, ShapeError> {
        check_size("sphere's radius", radius)?;
        check_nodes("sphere", nodes, [3, 3])?;
        let plan = Plan { nodes, periodic: [true, false], collapsed: [[false; 2], [true; 2]], down: false };
        Ok(surface(plan, |u, v| {
            // From the nearer pole, so that a pole is on the axis to the last bit.
            let polar = |v: f64| (PI * v).sin_cos();
            let (out, up) = if v > 0.5 { polar(1.0 - v) } else { (polar(v).0, -polar(v).1) };
            (around(u) * out + DVec3::Y * up) * radius
        }))
    }

    /// Torus about y, u around the ring and v around the tube from outside upwards;
    /// radius of the ring's centre line and of the tube (m).
    pub fn torus(radius: f64, tube: f64, nodes: [usize; 2]) -> Result<Self, ShapeError> {
        check_size("torus' radius", radius)?;
        check_size("torus' tube radius", tube)?;
        if tube >= radius {
            return Err(ShapeError::Tube { tube, radius });
        }
        check_nodes("torus", nodes, [3, 3])?;
        let plan = Plan { nodes, periodic: [true; 2], ..Plan::default() };
        Ok(surface(plan, |u, v| {
            let (sin, cos) = (TAU * v).sin_cos();
            around(u) * (radius + tube * cos) + DVec3::Y * (tube * sin)
        }))
    }

    /// A smooth profile (distance from y, height; m) turned about y, u around and v from the pole below to the pole
    /// above. The radius goes up and down `lobes` times around, by `depth` of itself. The axis bends towards +x by an angle
    /// (rad) over its height, from the lower end on.
    pub fn revolve(
        profile: &[[f64; 2]],
        lobes: u32,
        depth: f64,
        bend: f64,
        nodes: [usize; 2],
    ) -> Result<Self, ShapeError> {
        check_nodes("revolved profile", nodes, [3, 3])?;
        let last = profile.len().saturating_sub(1);
        if last < 2 {
            return Err(ShapeError::TooFewPoints { count: profile.len(), least: 3 });
        }
        for (index, [r, y]) in profile.iter().enumerate() {
            check_point(index, DVec3::new(*r, *y, 0.0))?;
            let pole = index == 0 || index == last;
            if pole != (*r == 0.0) || *r < 0.0 {
                return Err(ShapeError::Profile { index });
            }
        }
        // With its mirror image it is a closed curve, which crosses the axis at right angles: the poles are round.
        let ahead = profile.iter().map(|[r, y]| DVec3::new(*r, *y, 0.0));
        let back = profile[1..last].iter().rev().map(|[r, y]| DVec3::new(-r, *y, 0.0));
        let outline: Vec<DVec3> = ahead.chain(back).collect();
        let count = nodes[1];
        let mut half = Shape::spline(&outline, true, 2 * (count - 1))?.rest_positions;
        half.truncate(count);
        half[count - 1] = outline[last];
        if let Some(node) = half[1..count - 1].iter().position(|p| p.x <= 0.0) {
            let nearest = |a: &[f64; 2]| (a[1] - half[node + 1].y).abs();
            let near = |a: &usize, b: &usize| nearest(&profile[*a]).total_cmp(&nearest(&profile[*b]));
            return Err(ShapeError::Profile { index: (1..last).min_by(near).unwrap_or(1) });
        }
        let (low, high) = (profile[0][1], profile[last][1]);
        let widest = half.iter().map(|p| p.x).fold(0.0, f64::max) * (1.0 + depth.abs());
        let curvature = if high > low { bend / (high - low) } else { 0.0 };
        if !(depth.is_finite() && depth.abs() < 1.0 && bend.is_finite() && widest * curvature.abs() < 0.99) {
            return Err(ShapeError::Bend { degrees: bend.to_degrees(), radius: widest });
        }
        let plan = Plan { nodes, periodic: [true, false], collapsed: [[false; 2], [true; 2]], down: false };
        Ok(surface(plan, |u, v| {
            let p = half[(v * (count - 1) as f64).round() as usize];
            let lobed = if lobes == 0 { 1.0 } else { 1.0 + depth * (TAU * u * f64::from(lobes)).cos() };
            let mut place = around(u) * (p.x * lobed) + DVec3::Y * p.y;
            if curvature != 0.0 {
                let (arm, (sin, cos)) = (1.0 / curvature - place.x, (curvature * (place.y - low)).sin_cos());
                (place.x, place.y) = (1.0 / curvature - arm * cos, low + arm * sin);
            }
            place
        }))
    }

    /// Tensor Bézier patch: each row of the net (m) runs along u, the rows follow one
    /// another along v. A side whose control points all agree becomes one node.
    pub fn bezier(net: &[Vec<DVec3>], nodes: [usize; 2]) -> Result<Self, ShapeError> {
        let first = net.first().map_or(0, Vec::len);
        for (what, count) in [("rows", net.len()), ("points in a row", first)] {
            if !(2..=MOST_CONTROLS).contains(&count) {
                return Err(ShapeError::Net { what, count });
            }
        }
        if let Some(row) = net.iter().position(|row| row.len() != first) {
            return Err(ShapeError::RaggedNet { row, count: net[row].len(), first });
        }
        for (index, &point) in net.iter().flatten().enumerate() {
            check_point(index, point)?;
        }
        check_nodes("Bézier patch", nodes, [2, 2])?;
        let side = |i: usize| net.iter().all(|row| row[i] == net[0][i]);
        let row = |j: usize| net[j].iter().all(|&p| p == net[j][0]);
        let collapsed = [[side(0), side(first - 1)], [row(0), row(net.len() - 1)]];
        let shape = surface(Plan { nodes, collapsed, ..Plan::default() }, |u, v| {
            let mut column = [DVec3::ZERO; MOST_CONTROLS];
            for (point, row) in column.iter_mut().zip(net) {
                *point = de_casteljau(row, u);
            }
            de_casteljau(&column[..net.len()], v)
        });
        // Every node must get some area, or it would have no mass.
        if shape.size() < super::LEAST_SIZE || shape.node_measures().iter().any(|&area| area <= 0.0) {
            return Err(ShapeError::Collapsed { what: "Bézier patch" });
        }
        Ok(shape)
    }
}

/// Most control points each way.
const MOST_CONTROLS: usize = 16;

fn de_casteljau(controls: &[DVec3], t: f64) -> DVec3 {
    let mut points = [DVec3::ZERO; MOST_CONTROLS];
    points[..controls.len()].copy_from_slice(controls);
    for last in (1..controls.len()).rev() {
        for i in 0..last {
            points[i] = points[i] * (1.0 - t) + points[i + 1] * t;
        }
    }
    points[0]
}

fn around(u: f64) -> DVec3 {
    let (sin, cos) = (TAU * u).sin_cos();
    DVec3::new(cos, 0.0, -sin)
}

#[derive(Default)]
struct Plan {
    nodes: [usize; 2],
    periodic: [bool; 2],
    /// Per axis, whether its low and its high end is a single node.
    collapsed: [[bool; 2]; 2],
    /// Triangles face -x_u × x_v.
    down: bool,
}

fn surface(plan: Plan, place: impl Fn(f64, f64) -> DVec3) -> Shape {
    let Plan { nodes: [nu, nv], periodic, collapsed, down } = plan;
    let ends =
        |axis: usize, i: usize, count: usize| i == 0 && collapsed[axis][0] || i == count - 1 && collapsed[axis][1];
    let mut node: Vec<u32> = Vec::with_capacity(nu * nv);
    let (mut rest_positions, mut material_coordinates) = (Vec::new(), Vec::new());
    for (j, i) in (0..nv).flat_map(|j| (0..nu).map(move |i| (j, i))) {
        // A point on a collapsed side stands for the first point of that side.
        let first = match (ends(0, i, nu), ends(1, j, nv)) {
            (true, _) if j > 0 => i,
            (_, true) if i > 0 => nu * j,
            _ => {
                let [u, v] = [coordinate(i, nu, periodic[0]), coordinate(j, nv, periodic[1])];
                node.push(rest_positions.len() as u32);
                rest_positions.push(place(u, v));
                material_coordinates.push(DVec3::new(u, v, 0.0));
                continue;
            }
        };
        node.push(node[first]);
    }
    let grid = Grid { counts: [nu, nv, 1], periodic: [periodic[0], periodic[1], false], node };
    Shape {
        dimension: Dimension::Surface,
        rest_positions,
        material_coordinates,
        segments: Vec::new(),
        triangles: cell_triangles(&grid, down),
        layout: Layout::Grid(grid),
        closed: (0..2).all(|axis| periodic[axis] || collapsed[axis] == [true; 2]),
        groups: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normals(shape: &Shape) -> impl Iterator<Item = (DVec3, DVec3)> + '_ {
        shape.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|node| shape.rest_positions[node as usize]);
            ((a + b + c) / 3.0, (b - a).cross(c - a))
        })
    }

    /// Catches a profile that is turned inside out, has open or pointed poles, or is not that of a sphere.
    #[test]
    fn a_revolved_half_circle_is_a_sphere_and_lobes_and_bends_keep_it_closed() {
        let circle: Vec<[f64; 2]> =
            (0..=12).map(|k| (PI * f64::from(k) / 12.0).sin_cos()).map(|(s, c)| [s, -c]).collect();
        let profile: Vec<[f64; 2]> = circle.iter().map(|[r, y]| [if r.abs() < 1e-9 { 0.0 } else { *r }, *y]).collect();
        let ball = Shape::revolve(&profile, 0, 0.0, 0.0, [24, 13]).unwrap();
        let sphere = Shape::sphere(1.0, [24, 13]).unwrap();
        assert_eq!(ball.len(), 24 * 11 + 2);
        for (a, b) in ball.rest_positions.iter().zip(&sphere.rest_positions) {
            assert!((*a - *b).length() < 5e-3, "{a} {b}");
        }
        let volume = |shape: &Shape| shape.enclosed_volume(&shape.rest_positions);
        let lobed = Shape::revolve(&profile, 4, 0.2, 0.0, [24, 13]).unwrap();
        // 1 + d²/2 of a smooth lobe; with 24 corners round, ½ Σ r r' sin(π/12) has cos(4 π/12) = 1/2 of that.
        let grown = volume(&lobed) / volume(&ball);
        assert!(lobed.closed && (grown - 1.01).abs() < 1e-3, "{grown}");
        let bent = Shape::revolve(&profile, 0, 0.0, 0.8, [24, 13]).unwrap();
        // Pappus: a bend about the axis of a round body does not change its volume.
        assert!((volume(&bent) / volume(&ball) - 1.0).abs() < 1e-2, "{}", volume(&bent) / volume(&ball));
        assert!(bent.rest_positions[bent.len() - 1].x > 0.5);
        assert!(matches!(Shape::revolve(&profile, 0, 0.0, 3.0, [24, 13]), Err(ShapeError::Bend { .. })));
        let open = [[0.0, 0.0], [1.0, 1.0], [0.5, 2.0]];
        assert!(matches!(Shape::revolve(&open, 0, 0.0, 0.0, [9, 9]), Err(ShapeError::Profile { index: 2 })));
    }

    /// Catches triangles wound the wrong way round.
    #[test]
    fn triangles_face_up_or_outwards() {
        for flat in [Shape::rectangle([2.0, 1.0], [4, 3]).unwrap(), Shape::disc(1.0, [5, 3]).unwrap()] {
            assert!(normals(&flat).all(|(_, n)| n.y > 0.0 && n.x == 0.0 && n.z == 0.0));
            assert!(!flat.closed);
        }
        for round in [Shape::sphere(1.0, [7, 5]).unwrap(), Shape::cylinder(1.0, 1.0, [7, 3]).unwrap()] {
            assert!(normals(&round).all(|(p, n)| n.dot(DVec3::new(p.x, 0.0, p.z)) > 0.0));
        }
        let net = [vec![DVec3::ZERO, DVec3::X], vec![DVec3::Y, DVec3::X + DVec3::Y]];
        assert!(normals(&Shape::bezier(&net, [3, 3]).unwrap()).all(|(_, n)| n.z > 0.0));
        for closed in [Shape::sphere(1.0, [3, 3]).unwrap(), Shape::torus(1.0, 0.4, [3, 3]).unwrap()] {
            assert!(closed.closed && closed.enclosed_volume(&closed.rest_positions) > 0.0);
        }
    }

    /// Catches a pole made of many nodes in one place.
    #[test]
    fn a_pole_is_one_node() {
        let sphere = Shape::sphere(2.0, [8, 6]).unwrap();
        assert_eq!(sphere.len(), 8 * 4 + 2);
        assert_eq!(sphere.rest_positions[0], DVec3::Y * -2.0);
        assert_eq!(sphere.rest_positions[33], DVec3::Y * 2.0);
        assert_eq!(sphere.triangles.len(), 2 * 32);
        let disc = Shape::disc(1.0, [8, 6]).unwrap();
        assert_eq!((disc.len(), disc.triangles.len()), (8 * 5 + 1, 8 * 9));
        let poles = sphere.grid().unwrap();
        assert!(poles.is_pole(1, false) && poles.is_pole(1, true) && !poles.is_pole(0, true));
    }

    /// Catches seams: a closed shape whose triangles do not share their edges in pairs.
    #[test]
    fn closed_surfaces_have_no_border() {
        for shape in [Shape::sphere(1.0, [3, 3]).unwrap(), Shape::torus(1.0, 0.4, [4, 3]).unwrap()] {
            let mesh = Shape::from_triangles(shape.rest_positions, shape.triangles, None, BTreeMap::new()).unwrap();
            assert!(mesh.closed);
        }
    }

    /// Catches a patch that swaps its axes, or blends with the wrong weights.
    #[test]
    fn a_patch_passes_through_its_corners_and_follows_its_polynomial() {
        let net: Vec<Vec<DVec3>> = (0..3)
            .map(|j| (0..4).map(|i| DVec3::new(i as f64 / 3.0, (j * j * i) as f64, j as f64 / 2.0)).collect())
            .collect();
        let shape = Shape::bezier(&net, [7, 5]).unwrap();
        assert_eq!(shape.rest_positions[6], net[0][3]);
        assert_eq!(shape.rest_positions[28], net[2][0]);
        for (p, m) in shape.rest_positions.iter().zip(&shape.material_coordinates) {
            // Linear precision; and Σ i Bᵢ = 3u, Σ j² Bⱼ = 2v + 2v².
            let exact = DVec3::new(m.x, 3.0 * m.x * (2.0 * m.y + 2.0 * m.y * m.y), m.y);
            assert!(p.distance(exact) < 1e-12, "{p} {exact}");
        }
    }

    /// Catches nodes without area where a patch comes to a point.
    #[test]
    fn a_side_of_a_patch_that_is_a_point_becomes_a_pole() {
        let tip = vec![DVec3::Y; 3];
        let base = vec![-DVec3::X, DVec3::ZERO, DVec3::X];
        let shape = Shape::bezier(&[base.clone(), tip.clone()], [4, 4]).unwrap();
        assert_eq!(shape.len(), 13);
        assert_eq!(Shape::bezier(&[tip, base], [4, 4]).unwrap().len(), 13);
        let side = [vec![DVec3::Y, DVec3::X], vec![DVec3::Y, DVec3::Z]];
        let shape = Shape::bezier(&side, [4, 4]).unwrap();
        assert_eq!((shape.len(), shape.side(0, false)), (13, vec![0]));
        assert!(shape.node_measures().iter().all(|&area| area > 0.0));
    }

    /// Catches a minimum that the builder can't build.
    #[test]
    fn the_smallest_surfaces_have_area_at_every_node() {
        let net = [vec![DVec3::ZERO, DVec3::X], vec![DVec3::Y, DVec3::X + DVec3::Y]];
        let shapes = [
            (Shape::rectangle([1.0; 2], [2, 2]), 4, 2),
            (Shape::disc(1.0, [3, 2]), 4, 3),
            (Shape::cylinder(1.0, 1.0, [3, 2]), 6, 6),
            (Shape::sphere(1.0, [3, 3]), 5, 6),
            (Shape::torus(1.0, 0.5, [3, 3]), 9, 18),
            (Shape::bezier(&net, [2, 2]), 4, 2),
        ];
        for (shape, nodes, triangles) in shapes {
            let shape = shape.unwrap();
            assert_eq!((shape.len(), shape.triangles.len()), (nodes, triangles));
            assert!(shape.node_measures().iter().all(|&area| area > 0.0));
        }
    }

    /// Catches a faulty net that gets as far as the polynomial.
    #[test]
    fn faulty_nets_and_tubes_are_refused() {
        let row = |n| vec![DVec3::X; n];
        let bezier = |net: &[Vec<DVec3>]| Shape::bezier(net, [3, 3]).unwrap_err();
        assert_eq!(bezier(&[]), ShapeError::Net { what: "rows", count: 0 });
        assert_eq!(bezier(&[row(2), row(2)][..1]), ShapeError::Net { what: "rows", count: 1 });
        assert_eq!(bezier(&vec![row(2); 17]), ShapeError::Net { what: "rows", count: 17 });
        assert_eq!(bezier(&[row(1), row(1)]), ShapeError::Net { what: "points in a row", count: 1 });
        assert_eq!(bezier(&[row(2), row(3)]), ShapeError::RaggedNet { row: 1, count: 3, first: 2 });
        assert_eq!(bezier(&[row(2), vec![DVec3::X, DVec3::INFINITY]]), ShapeError::Point { index: 3 });
        assert_eq!(bezier(&[row(2), row(2)]), ShapeError::Collapsed { what: "Bézier patch" });
        let line = [vec![DVec3::ZERO, DVec3::X], vec![DVec3::X * 2.0, DVec3::X * 3.0]];
        assert_eq!(bezier(&line), ShapeError::Collapsed { what: "Bézier patch" });
        assert!(matches!(Shape::bezier(&line, [1, 3]), Err(ShapeError::TooFewNodes { .. })));
        assert!(matches!(Shape::bezier(&line, [1 << 20, 1 << 20]), Err(ShapeError::TooManyNodes { .. })));
        assert!(matches!(Shape::torus(1.0, 1.0, [3, 3]), Err(ShapeError::Tube { .. })));
    }
}
