//! Where nodes go.
//!
//! ```text
//! h = shortest side of the bounding box / (rate - 1)          [Chang] 3.3
//! ```
//! The thesis takes the grid points inside a bone or the skin, and moves the grid points next to
//! them that are outside onto the skin. [`Kind::Centred`], the default, takes a
//! body-centred lattice of the same density (a = ∛2 h) and cuts it at the skin.

use super::inside::{Inside, Test};
use super::thin::Balls;
use glam::DVec3;

/// Which lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Body-centred, cut at the skin, nodes relaxed.
    #[default]
    Centred,
    /// Cubes cut into tetrahedra, as in the thesis' full character.
    Grid,
    /// The same with relaxed nodes.
    Relaxed,
    /// Cubes with springs along edges and body diagonals, as in the thesis' cube.
    Braced,
}

/// How finely and in which way a body is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Nodes along the shortest side of the bounding box.
    pub rate: f64,
    /// Which lattice.
    pub kind: Kind,
    /// How inside is told.
    pub test: Test,
    /// Passes of relaxation that move nodes to better places.
    pub relax: usize,
    /// Thicken what is thinner than the lattice instead of losing it.
    pub thicken: bool,
    /// No more lattice points than this are looked at.
    pub most_points: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { rate: 9.0, kind: Kind::Centred, test: Test::Winding, relax: 8, thicken: true, most_points: 40_000_000 }
    }
}

impl Sampling {
    /// The sampling distance h for a bounding box (m).
    pub fn spacing(&self, [low, high]: [DVec3; 2]) -> f64 {
        (high - low).min_element() / (self.rate - 1.0)
    }
}

/// Signed distance to the skin, thickened where it is too thin.
pub(super) struct Field<'a> {
    pub skin: &'a Inside,
    pub test: Test,
    pub balls: Balls,
}

/// The field at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Negative inside (m).
    pub value: f64,
    /// The nearest point of the surface (m).
    pub foot: DVec3,
}

impl Field<'_> {
    /// Distance and nearest surface point.
    pub fn at(&self, p: DVec3) -> Level {
        self.beside(p, self.skin.contains(p, self.test)).0
    }

    /// The same where it is known on which side of the skin the point is; and the distance to the
    /// skin itself (m).
    pub fn beside(&self, p: DVec3, inside: bool) -> (Level, f64) {
        let (mut level, gap) = match self.skin.nearest(p) {
            Some(nearest) => {
                let sign = if inside { -1.0 } else { 1.0 };
                (Level { value: sign * nearest.distance, foot: nearest.point }, nearest.distance)
            }
            None => (Level { value: f64::INFINITY, foot: p }, 0.0),
        };
        self.balls.each_near(p, |center, radius| {
            let distance = p.distance(center);
            if distance - radius < level.value {
                let away = (p - center).normalize_or(DVec3::Y);
                level = Level { value: distance - radius, foot: center + radius * away };
            }
        });
        (level, gap)
    }

    /// Levels at a row of points, each one `step` from the last (m): one that is further from the
    /// skin than that has the next on its own side.
    pub fn row(&self, count: usize, step: f64, point: impl Fn(usize) -> DVec3) -> Vec<Level> {
        let mut known: Option<bool> = None;
        (0..count)
            .map(|i| {
                let p = point(i);
                let side = known.unwrap_or_else(|| self.skin.contains(p, self.test));
                let (level, gap) = self.beside(p, side);
                known = (gap > 1.001 * step).then_some(side);
                level
            })
            .collect()
    }
}
