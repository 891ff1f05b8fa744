//! A surface from a field by surface nets: in every cell of a grid that the surface
//! crosses a vertex, in the middle of its crossings with the cell's edges; around every
//! grid edge that crosses it the four vertices as two triangles.
//!
//! An own routine rather than a library: the field is f64 and the vertices are moved onto
//! it afterwards, so that little is left of what a library would do.

use glam::DVec3;

/// The surface `field` = 0 inside a box, outward; the field must be positive on the box.
pub(super) fn polygonise(
    field: impl Fn(DVec3) -> f64,
    low: DVec3,
    high: DVec3,
    cell: f64,
) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    // Counts of grid points; a cell is named by its lowest point.
    let n = ((high - low) / cell).ceil().to_array().map(|cells| cells as usize + 2);
    let at = |i: [usize; 3]| low + DVec3::from_array(i.map(|i| i as f64)) * cell;
    let index = |i: [usize; 3]| (i[2] * n[1] + i[1]) * n[0] + i[0];
    let all = || (0..n[2]).flat_map(|z| (0..n[1]).flat_map(move |y| (0..n[0]).map(move |x| [x, y, z])));
    let values: Vec<f64> = all().map(|i| field(at(i))).collect();
    let mut vertex = vec![u32::MAX; values.len()];
    let mut positions = Vec::new();
    for i in all().filter(|i| (0..3).all(|axis| i[axis] + 1 < n[axis])) {
        let corner = |c: usize| [i[0] + (c & 1), i[1] + (c >> 1 & 1), i[2] + (c >> 2)];
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for (a, axis) in (0..8).flat_map(|a| (0..3).map(move |axis| (a, axis))).filter(|(a, axis)| a >> axis & 1 == 0) {
            let (from, to) = (corner(a), corner(a | 1 << axis));
            let (va, vb) = (values[index(from)], values[index(to)]);
            if (va < 0.0) != (vb < 0.0) {
                sum += at(from).lerp(at(to), va / (va - vb));
                count += 1.0;
            }
        }
        if count > 0.0 {
            vertex[index(i)] = positions.len() as u32;
            positions.push(sum / count);
        }
    }
    let mut triangles = Vec::new();
    for i in all().filter(|i| (0..3).all(|axis| i[axis] > 0 && i[axis] + 1 < n[axis])) {
        for axis in 0..3 {
            let mut to = i;
            to[axis] += 1;
            let inside = values[index(i)] < 0.0;
            if inside == (values[index(to)] < 0.0) {
                continue;
            }
            // The cells around the edge, counter-clockwise seen from its far end.
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut quad = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(back_u, back_v)| {
                let mut cell = i;
                cell[u] -= 1 - back_u;
                cell[v] -= 1 - back_v;
                vertex[index(cell)]
            });
            if !inside {
                quad.reverse();
            }
            let [a, b, c, d] = quad;
            let long = |p: u32, q: u32| positions[p as usize].distance_squared(positions[q as usize]);
            // Along the shorter diagonal.
            triangles.extend(if long(a, c) <= long(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
    }
    (positions, triangles)
}
