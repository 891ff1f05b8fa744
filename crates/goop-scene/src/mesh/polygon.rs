//! Polygons into triangles.
//!
//! A fan from the first corner where all its triangles face the same way; otherwise
//! ears are cut off in the plane of the polygon's mean normal. Corners on a straight
//! line get a triangle with an area where there is one.

use glam::DVec3;

/// Cuts polygons; the work spent on ears is bounded over a whole file.
pub(super) struct Cutter {
    tests_left: u64,
}

impl Default for Cutter {
    fn default() -> Self {
        // Some seconds.
        Self { tests_left: 1 << 30 }
    }
}

impl Cutter {
    /// Adds the triangles of a polygon between these vertices, always two less than it has
    /// corners. A triangle names corners by their place in the polygon, so that what else
    /// belongs to a corner can follow. Returns false where the cut may overlap: a polygon
    /// that crosses itself, or too much work.
    pub(super) fn cut(&mut self, vertices: &[u32], positions: &[DVec3], triangles: &mut Vec<[u32; 3]>) -> bool {
        let corners: Vec<u32> = (0..vertices.len() as u32).collect();
        if corners.len() <= 3 {
            triangles.extend(<[u32; 3]>::try_from(&corners[..]));
            return true;
        }
        let at = |corner: u32| positions[vertices[corner as usize] as usize];
        let origin = at(0);
        let next = |i: usize| at(corners[(i + 1) % corners.len()]) - origin;
        let normal: DVec3 = (0..corners.len()).map(|i| (at(corners[i]) - origin).cross(next(i))).sum();
        // Rounding in a triangle's area is far below this part of the polygon's.
        let least = 1e-12 * normal.length_squared();
        let area = |[a, b, c]: [u32; 3]| (at(b) - at(a)).cross(at(c) - at(a)).dot(normal);
        let fan = |first: u32, rest: &[u32]| rest.windows(2).map(|w| [first, w[0], w[1]]).collect::<Vec<_>>();
        let simple = fan(corners[0], &corners[1..]);
        if simple.iter().all(|&triangle| area(triangle) > least) {
            triangles.extend(simple);
            return true;
        }
        let mut ring = corners;
        while ring.len() > 3 {
            let corner = |i: usize| {
                let count = ring.len();
                [ring[(i + count - 1) % count], ring[i], ring[(i + 1) % count]]
            };
            let work = (ring.len() * ring.len()) as u64;
            let is_ear = |&i: &usize| {
                let [a, b, c] = corner(i);
                // A corner in the same place, as at the pole of a sphere, is not inside.
                let own = [a, b, c].map(at);
                area([a, b, c]) > least
                    && !ring.iter().any(|&p| {
                        !own.contains(&at(p)) && [[a, b, p], [b, c, p], [c, a, p]].into_iter().all(|t| area(t) >= 0.0)
                    })
            };
            let ear = if work <= self.tests_left { (0..ring.len()).find(is_ear) } else { None };
            self.tests_left = self.tests_left.saturating_sub(work);
            let Some(ear) = ear else {
                triangles.extend(fan(ring[0], &ring[1..]));
                return false;
            };
            triangles.push(corner(ear));
            ring.remove(ear);
        }
        triangles.extend(<[u32; 3]>::try_from(&ring[..]));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(points: &[[f64; 2]]) -> (bool, Vec<[u32; 3]>, Vec<f64>) {
        let positions: Vec<DVec3> = points.iter().map(|&[x, y]| DVec3::new(x, y, 0.3 * x)).collect();
        let corners: Vec<u32> = (0..points.len() as u32).collect();
        let mut triangles = Vec::new();
        let clean = Cutter::default().cut(&corners, &positions, &mut triangles);
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| DVec3::new(points[i as usize][0], points[i as usize][1], 0.0));
            0.5 * (b - a).cross(c - a).z
        };
        let areas = triangles.iter().map(area).collect();
        (clean, triangles, areas)
    }

    /// Catches a fan laid over a notch, and corners on a straight edge left without area.
    #[test]
    fn polygons_are_cut_without_overlap() {
        let shapes: [(&[[f64; 2]], f64); 5] = [
            (&[[0., 0.], [2., 0.], [2., 1.], [0., 1.]], 2.0),
            (&[[0., 0.], [1., 0.3], [2., 0.], [1., 2.]], 1.7),
            (&[[1., 0.3], [2., 0.], [1., 2.], [0., 0.]], 1.7),
            (&[[0., 0.], [1., 0.], [2., 0.], [2., 1.], [0., 1.]], 2.0),
            (&[[0., 0.], [3., 0.], [3., 1.], [1., 1.], [1., 2.], [3., 2.], [3., 3.], [0., 3.]], 7.0),
        ];
        for (points, whole) in shapes {
            let (clean, triangles, areas) = cut(points);
            assert!(clean && triangles.len() == points.len() - 2);
            assert!(areas.iter().all(|&area| area > 0.0), "{points:?} {areas:?}");
            assert!((areas.iter().sum::<f64>() - whole).abs() < 1e-12);
        }
    }

    /// Catches the quads round a pole, two corners of which share a place, taken for ones that
    /// cross themselves.
    #[test]
    fn corners_in_one_place_do_no_harm() {
        for turn in 0..4 {
            let mut quad = [[0., 1.], [0., 1.], [-1., 0.], [1., 0.]];
            quad.rotate_left(turn);
            let (clean, triangles, areas) = cut(&quad);
            assert!(clean && triangles.len() == 2, "{quad:?}");
            assert!((areas.iter().map(|area| area.abs()).sum::<f64>() - 1.0).abs() < 1e-12, "{triangles:?}");
        }
    }

    /// Catches an endless search for an ear that is not there.
    #[test]
    fn a_polygon_without_ears_still_ends() {
        let (clean, triangles, _) = cut(&[[0., 0.], [1., 1.], [1., 0.], [0., 1.]]);
        assert!(!clean && triangles.len() == 2);
        let (clean, triangles, _) = cut(&[[0., 0.]; 6]);
        assert!(!clean && triangles.len() == 4);
        let comb: Vec<[f64; 2]> = (0..400).map(|i| [i as f64, f64::from(i % 2)]).chain([[200.0, 900.0]]).collect();
        let (clean, triangles, areas) = cut(&comb);
        assert!(clean && triangles.len() == 399 && areas.iter().all(|&area| area > 0.0));
    }
}
