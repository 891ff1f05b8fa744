//! The mesh of a file as the file has it, for drawing and for export.
//!
//! The simulation welds vertices, drops those of no triangle and wants one texture
//! coordinate a node. A skin keeps what was there: vertices in their order and number,
//! texture coordinates of corners, materials; and says which node moves each vertex.

use glam::DVec3;

/// How a part of a mesh looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paint {
    /// Name of the material.
    pub name: String,
    /// Red, green, blue and opacity, 0 to 1, linear; `None` where the file does not say.
    pub colour: Option<[f32; 4]>,
    /// Picture on it, as the file names it.
    pub texture: Option<String>,
}

/// What is drawn of a mesh. Every list is as long as it must be, every index names
/// something that is there, every triangle has three different corners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Position of every vertex in the file, in its order.
    pub positions: Vec<DVec3>,
    /// Triangles between vertices, polygons cut, in the order of the file.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, v upwards; empty where there are none.
    pub uvs: Vec<[f32; 2]>,
    /// Texture coordinate of every corner; empty where coordinate i belongs to vertex i.
    pub triangle_uvs: Vec<[u32; 3]>,
    /// Materials that triangles have; empty where the file has none.
    pub paints: Vec<Paint>,
    /// Material of every triangle; empty where there are none.
    pub triangle_paints: Vec<u32>,
    /// Node that moves each vertex: its own, or the nearest at rest for one of no triangle.
    pub nodes: Vec<u32>,
}

impl Skin {
    /// Swaps two corners of every triangle, so that the other side is out.
    pub fn turn(&mut self) {
        self.triangles.iter_mut().chain(&mut self.triangle_uvs).for_each(|corners| corners.swap(1, 2));
    }

    /// Multiplies positions per axis; a mirrored skin keeps its outside outside.
    pub fn scale(&mut self, factors: DVec3) {
        self.positions.iter_mut().for_each(|position| *position *= factors);
        if factors.x.signum() * factors.y.signum() * factors.z.signum() < 0.0 {
            self.turn();
        }
    }

    /// Leaves out materials that no triangle has.
    pub(super) fn drop_unused_paints(&mut self) {
        let mut place = vec![u32::MAX; self.paints.len()];
        self.triangle_paints.iter().for_each(|&paint| place[paint as usize] = 0);
        for (kept, slot) in (0..).zip(place.iter_mut().filter(|slot| **slot == 0)) {
            *slot = kept;
        }
        self.triangle_paints.iter_mut().for_each(|paint| *paint = place[*paint as usize]);
        let mut number = 0;
        self.paints.retain(|_| {
            number += 1;
            place[number - 1] != u32::MAX
        });
    }
}

/// Finds the nearest of many points: a k-d tree laid out in one list, the middle of each
/// stretch being the point that halves it along its widest axis.
pub(super) struct Nearest<'a> {
    points: &'a [DVec3],
    order: Vec<u32>,
    /// Axis along which the stretch with this middle is halved.
    axes: Vec<u8>,
    low: DVec3,
    high: DVec3,
}

/// Stretches no longer than this are searched one by one.
const LEAF: usize = 8;

impl<'a> Nearest<'a> {
    pub(super) fn new(points: &'a [DVec3]) -> Self {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let mut axes = vec![0; order.len()];
        let bounds = |part: &[u32]| {
            let all = part.iter().map(|&i| points[i as usize]);
            all.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
        };
        let (low, high) = bounds(&order);
        let mut open = vec![(0, order.len())];
        while let Some((start, end)) = open.pop() {
            if end - start > LEAF {
                let (low, high) = bounds(&order[start..end]);
                let axis = (high - low).max_position();
                let along = |&i: &u32| points[i as usize][axis];
                let middle = start + (end - start) / 2;
                order[start..end].select_nth_unstable_by(middle - start, |a, b| {
                    along(a).total_cmp(&along(b)).then_with(|| a.cmp(b))
                });
                axes[middle] = axis as u8;
                open.extend([(start, middle), (middle + 1, end)]);
            }
        }
        Self { points, order, axes, low, high }
    }

    /// Number of the nearest point, the lowest of several; `None` where there is none.
    pub(super) fn of(&self, place: DVec3) -> Option<u32> {
        if self.points.is_empty() {
            return None;
        }
        let mut best = (f64::INFINITY, 0);
        // With each stretch how far off it is, at least, along every axis.
        let mut open = vec![(0, self.order.len(), place - place.clamp(self.low, self.high))];
        while let Some((start, end, off)) = open.pop() {
            if off.length_squared() > best.0 {
                continue;
            }
            let stretch = &self.order[start..end];
            let mut see = |i: u32| {
                let found = (self.points[i as usize].distance_squared(place), i);
                if found < best {
                    best = found;
                }
            };
            if stretch.len() <= LEAF {
                stretch.iter().for_each(|&i| see(i));
                continue;
            }
            let middle = start + stretch.len() / 2;
            let axis = usize::from(self.axes[middle]);
            let beyond = place[axis] - self.points[self.order[middle] as usize][axis];
            see(self.order[middle]);
            let mut further = off;
            further[axis] = if beyond.abs() > off[axis].abs() { beyond } else { off[axis] };
            let halves = [(start, middle), (middle + 1, end)];
            let (near, far) = if beyond < 0.0 { (halves[0], halves[1]) } else { (halves[1], halves[0]) };
            open.push((far.0, far.1, further));
            open.push((near.0, near.1, off));
        }
        Some(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Catches a branch that is cut off though it holds the nearest point, and ties
        /// that depend on the order of search.
        #[test]
        fn the_nearest_point_is_the_one_a_full_search_finds(
            points in proptest::collection::vec([0..6i8, 0..6i8, 0..6i8], 1..200),
            place in [-2.0..8.0f64, -2.0..8.0f64, -2.0..8.0f64],
        ) {
            let points: Vec<DVec3> = points.iter().map(|p| DVec3::from_array(p.map(f64::from))).collect();
            for place in [DVec3::from_array(place), DVec3::from_array(place).round()] {
                let distances = points.iter().map(|p| p.distance_squared(place));
                let wanted = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
                prop_assert_eq!(Nearest::new(&points).of(place), Some(wanted as u32));
            }
        }
    }

    /// Catches a triangle under its neighbour's material once an unused one is left out.
    #[test]
    fn unused_materials_are_left_out() {
        let paint = |name: &str| Paint { name: name.into(), ..Paint::default() };
        let mut skin =
            Skin { paints: ["a", "b", "c"].map(paint).to_vec(), triangle_paints: vec![2, 0, 2], ..Skin::default() };
        skin.drop_unused_paints();
        assert_eq!((skin.paints, skin.triangle_paints), (["a", "c"].map(paint).to_vec(), vec![1, 0, 1]));
    }
}
