//! Closest points of corners, edges and triangles, and whether two of them pass through each other.
//!
//! ```text
//! node – triangle   x - Σ w_k t_k,  w ≥ 0, Σ w = 1      of least length
//! edge – edge       a(s) - b(t),  0 ≤ s, t ≤ 1           of least length
//! crossing          det(x₁-x₀, x₂-x₀, x₃-x₀)(s) = 0, cubic in s where the four corners move straight,
//!                   and the node in the triangle, or the edges over each other, at that s
//! ```

use glam::DVec3;

/// Weights of the corners of a triangle at its point nearest to `p`, and whether that point is inside.
pub fn in_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let w = d1 / (d1 - d3);
        return [1.0 - w, w, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// Where along the segment a–b it is nearest to `p`, 0 to 1.
pub fn on_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let length = along.length_squared();
    if length > 0.0 { ((p - a).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// Where along two segments they are nearest to each other. Of parallel ones, a place in the middle of what they share.
pub fn between_segments([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> [f64; 2] {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    if uu == 0.0 || vv == 0.0 {
        let s = if uu == 0.0 { 0.0 } else { on_segment(c, a, b) };
        return [s, on_segment(a + s * u, c, d)];
    }
    let det = uu * vv - uv * uv;
    let s = if det > 1e-10 * uu * vv {
        ((uv * v.dot(w) - vv * u.dot(w)) / det).clamp(0.0, 1.0)
    } else {
        let ends = [(c - a).dot(u) / uu, (d - a).dot(u) / uu];
        let (low, high) = (ends[0].min(ends[1]).max(0.0), ends[0].max(ends[1]).min(1.0));
        if low <= high { 0.5 * (low + high) } else { low.clamp(0.0, 1.0) }
    };
    let t = on_segment(a + s * u, c, d);
    [on_segment(c + t * v, a, b), t]
}

/// Where four corners that go straight from `from` to `to` are in one plane, in order; at most three.
fn coplanar(from: [DVec3; 4], to: [DVec3; 4]) -> ([f64; 3], usize) {
    let volume = |s: f64| {
        let [a, b, c, d] = std::array::from_fn(|k| from[k].lerp(to[k], s));
        (b - a).cross(c - a).dot(d - a)
    };
    // The cubic through its values at four places.
    let (f0, f1, f2, f3) = (volume(0.0), volume(1.0 / 3.0), volume(2.0 / 3.0), volume(1.0));
    let c1 = -5.5 * f0 + 9.0 * f1 - 4.5 * f2 + f3;
    let c2 = 9.0 * f0 - 22.5 * f1 + 18.0 * f2 - 4.5 * f3;
    let c3 = -4.5 * f0 + 13.5 * f1 - 13.5 * f2 + 4.5 * f3;
    let at = |s: f64| f0 + s * (c1 + s * (c2 + s * c3));
    let mut cuts = [0.0, 1.0, 1.0, 1.0];
    let (a, b, c) = (3.0 * c3, 2.0 * c2, c1);
    let root = b * b - 4.0 * a * c;
    let mut count = 1;
    if root > 0.0 {
        let q = -0.5 * (b + root.sqrt().copysign(b));
        let mut turns = [if a != 0.0 { q / a } else { 2.0 }, if q != 0.0 { c / q } else { 2.0 }];
        turns.sort_by(f64::total_cmp);
        for s in turns.into_iter().filter(|s| *s > 0.0 && *s < 1.0) {
            cuts[count] = s;
            count += 1;
        }
    }
    cuts[count] = 1.0;
    let (mut roots, mut found) = ([0.0; 3], 0);
    for k in 0..count {
        let (mut low, mut high) = (cuts[k], cuts[k + 1]);
        let (first, last) = (at(low), at(high));
        if first * last > 0.0 || (first == 0.0 && last == 0.0) {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if (at(middle) > 0.0) == (first > 0.0) && first != 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        roots[found] = 0.5 * (low + high);
        found += 1;
    }
    (roots, found)
}

/// How much nearer than its thickness a pair must be, at the moment at which it is in one plane, to have crossed.
const TOUCH: f64 = 1e-9;

/// First moment, 0 to 1, at which a node passes through a triangle; corners are node, then triangle.
pub fn node_through_triangle(from: [DVec3; 4], to: [DVec3; 4]) -> Option<f64> {
    let size = from[1].distance(from[2]).max(from[1].distance(from[3]));
    let (roots, found) = coplanar(from, to);
    roots[..found].iter().copied().find(|&s| {
        let [p, a, b, c] = std::array::from_fn(|k| from[k].lerp(to[k], s));
        let w = in_triangle(p, [a, b, c]);
        p.distance(w[0] * a + w[1] * b + w[2] * c) <= TOUCH * size
    })
}

/// First moment at which two edges pass through each other; corners are one edge, then the other.
pub fn edge_through_edge(from: [DVec3; 4], to: [DVec3; 4]) -> Option<f64> {
    let size = from[0].distance(from[1]).max(from[2].distance(from[3]));
    let (roots, found) = coplanar(from, to);
    roots[..found].iter().copied().find(|&s| {
        let [a, b, c, d] = std::array::from_fn(|k| from[k].lerp(to[k], s));
        let [u, v] = between_segments([a, b], [c, d]);
        a.lerp(b, u).distance(c.lerp(d, v)) <= TOUCH * size
    })
}

/// First moment at which a node passes through a segment where all stay in one plane across `axis`; corners are node, then
/// segment.
pub fn node_through_segment(from: [DVec3; 3], to: [DVec3; 3], axis: DVec3) -> Option<f64> {
    let size = from[1].distance(from[2]);
    // The segment as a wall along the axis.
    let wall = |[p, a, b]: [DVec3; 3]| [p, a, b, a + size * axis];
    let (roots, found) = coplanar(wall(from), wall(to));
    roots[..found].iter().copied().find(|&s| {
        let [p, a, b] = std::array::from_fn(|k| from[k].lerp(to[k], s));
        p.distance(a.lerp(b, on_segment(p, a, b))) <= TOUCH * size
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn point(seed: &mut u64) -> DVec3 {
        DVec3::new(random(seed), random(seed), random(seed))
    }

    /// Catches a region of the triangle, or an end of a segment, that is forgotten: nothing on a fine grid may be nearer.
    #[test]
    fn no_other_point_is_nearer() {
        let mut seed = 5;
        for _ in 0..300 {
            let [p, a, b, c, d] = std::array::from_fn(|_| point(&mut seed));
            let w = in_triangle(p, [a, b, c]);
            let best = p.distance(w[0] * a + w[1] * b + w[2] * c);
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12 && w.iter().all(|w| *w >= 0.0));
            let [s, t] = between_segments([p, a], [b, c]);
            let least = p.lerp(a, s).distance(b.lerp(c, t));
            for i in 0..=40 {
                for j in 0..=40 {
                    let (u, v) = (i as f64 / 40.0, j as f64 / 40.0);
                    if u + v <= 1.0 {
                        assert!(p.distance(a + u * (b - a) + v * (c - a)) >= best - 1e-12);
                    }
                    assert!(p.lerp(a, u).distance(b.lerp(c, v)) >= least - 1e-12);
                }
            }
            assert!(d.is_finite());
        }
    }

    /// Catches a lost root: a node that ends on the other side of a triangle, through its middle, has crossed it.
    #[test]
    fn what_ends_on_the_other_side_has_crossed() {
        let mut seed = 11;
        let mut crossed = 0;
        for _ in 0..2000 {
            let from: [DVec3; 4] = std::array::from_fn(|_| point(&mut seed));
            let to: [DVec3; 4] = std::array::from_fn(|_| point(&mut seed));
            // Sampled densely, the signed volume says when the node is in the plane.
            let place = |s: f64| -> [DVec3; 4] { std::array::from_fn(|k| from[k].lerp(to[k], s)) };
            let volume = |[p, a, b, c]: [DVec3; 4]| (b - a).cross(c - a).dot(p - a);
            let mut through = false;
            for k in 0..4000 {
                let (s, t) = (k as f64 / 4000.0, (k + 1) as f64 / 4000.0);
                if volume(place(s)) * volume(place(t)) < 0.0 {
                    let [p, a, b, c] = place(0.5 * (s + t));
                    let w = in_triangle(p, [a, b, c]);
                    // Well inside, so that the sampling cannot be wrong about it.
                    through |= w.iter().all(|w| *w > 0.02);
                }
            }
            if through {
                crossed += 1;
                assert!(node_through_triangle(from, to).is_some());
            }
        }
        assert!(crossed > 50, "{crossed}");
    }

    /// Catches edges that pass at a distance taken for a crossing, and the other way round.
    #[test]
    fn edges_that_sweep_over_each_other_cross_once() {
        let still = [DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0)];
        let edge = |y: f64, x: f64| [DVec3::new(x, y, -1.0), DVec3::new(x, y, 1.0)];
        let pass = |x: f64| {
            let (a, b) = (edge(1.0, x), edge(-1.0, x));
            edge_through_edge([a[0], a[1], still[0], still[1]], [b[0], b[1], still[0], still[1]])
        };
        assert!((pass(0.3).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(pass(1.3), None);
    }
    /// Catches curves in a plane, whose four corners always are in one: a node that sweeps over a segment crosses it.
    #[test]
    fn a_node_crosses_a_segment_in_its_plane() {
        let [a, b] = [DVec3::new(-1.0, 0.2, 0.0), DVec3::new(1.0, 0.0, 0.0)];
        let pass = |x: f64, down: DVec3| {
            let from = DVec3::new(x, 1.0, 0.0);
            node_through_segment([from, a, b], [from - 2.0 * DVec3::Y, a + down, b + down], DVec3::Z)
        };
        assert!((pass(0.0, DVec3::ZERO).unwrap() - 0.45).abs() < 1e-12);
        assert!(pass(1.3, DVec3::ZERO).is_none());
        assert!(pass(0.0, -2.0 * DVec3::Y).is_none());
        assert!((pass(0.0, -DVec3::Y).unwrap() - 0.9).abs() < 1e-12);
    }
}
