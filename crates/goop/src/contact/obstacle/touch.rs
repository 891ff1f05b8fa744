//! Whether a point enters an obstacle on its way through a step.
//!
//! In the obstacle's own axes the way is taken as straight from where the point
//! was at the start to where it is at the end. A touch is the first moment at which
//! the point gets deeper than the surface, or, where it began in the solid, deeper
//! than it began; leaving is no touch, and once out, the surface counts again.
//!
//! With g(s) the gap along a way of length L:
//! ```text
//! any shape      |g'| ≤ L: nothing is touched within g/L       sphere tracing
//! convex solid   g is convex: nothing before g/(-g'), none if g' ≥ 0
//! convex, hollow g is concave: touched only if the end is inside
//! ```
//! Torus and hyperboloid are traced with a shortest step, so that sliding along the
//! surface ends. Within such a step a dip is looked for wherever g falls at its
//! start and rises at its end; two dips in one step may pass for one, and a point
//! that began in the solid may peep out within one step without its being seen.

use super::{Gap, Obstacle, local_from_world};
use crate::animate::Pose;
use glam::DVec3;

/// Closer than this (m) is on the surface.
const ON_SURFACE: f64 = 1e-12;

impl Obstacle {
    /// First touch of a point that moved between two places (m) while the obstacle went from
    /// `pose0` to `pose1`: the fraction of the way, and the gap there, in world axes at `pose1`.
    pub fn first_touch(&self, from_world: DVec3, to_world: DVec3, pose0: &Pose, pose1: &Pose) -> Option<(f64, Gap)> {
        let start = local_from_world(pose0, from_world);
        let way = local_from_world(pose1, to_world) - start;
        let length = way.length();
        let slack = ON_SURFACE + 1e-15 * (start.length() + length + self.shape.bounding_radius().unwrap_or(0.0));
        let fraction = Way { obstacle: self, start, way, length, slack }.first_touch()?;
        let gap = self.local_gap(start + way * fraction);
        Some((fraction, Gap { normal: pose1.rotation * gap.normal, ..gap }))
    }
}

/// A straight way in the obstacle's own axes.
struct Way<'a> {
    obstacle: &'a Obstacle,
    start: DVec3,
    way: DVec3,
    length: f64,
    /// Differences of depth that count as none (m).
    slack: f64,
}

/// The gap (m) at a fraction of the way, and its slope (m per unit of fraction).
#[derive(Clone, Copy)]
struct Sample {
    gap: f64,
    slope: f64,
}

impl Way<'_> {
    fn at(&self, fraction: f64) -> Sample {
        let gap = self.obstacle.local_gap(self.start + self.way * fraction);
        Sample { gap: gap.distance, slope: gap.normal.dot(self.way) }
    }

    fn first_touch(&self) -> Option<f64> {
        let (first, last) = (self.at(0.0), self.at(1.0));
        // Too far from the surface at both ends to have met it; also when nothing moves, or is not finite.
        if !(self.length > 0.0 && first.gap + last.gap < self.length) {
            return None;
        }
        let floor = first.gap.min(0.0);
        match (self.obstacle.shape.is_convex(), self.obstacle.hollow) {
            (true, false) => self.enter_convex(first, last, floor),
            (true, true) if first.gap >= -self.slack => {
                (last.gap < floor - self.slack).then(|| self.crossing(0.0, 1.0, floor))
            }
            _ => self.trace(first, last, floor),
        }
    }

    /// Newton's iteration on a convex gap: it comes from outside and never passes the surface.
    fn enter_convex(&self, first: Sample, last: Sample, floor: f64) -> Option<f64> {
        let (mut s, mut here) = (0.0, first);
        for _ in 0..64 {
            if here.gap - floor <= self.slack {
                break;
            }
            if here.slope >= 0.0 {
                return None;
            }
            s += (here.gap - floor) / -here.slope;
            if s >= 1.0 {
                return (last.gap < floor - self.slack).then_some(1.0);
            }
            here = self.at(s);
        }
        let deeper = last.gap < floor - self.slack || self.dip((s, here), (1.0, last), floor).is_some();
        deeper.then_some(s)
    }

    /// Sphere tracing with a shortest step.
    fn trace(&self, first: Sample, last: Sample, mut floor: f64) -> Option<f64> {
        // Eight steps through the thinnest part, but no fewer than 64 and no more than 4096 in all.
        let shortest = (0.125 * self.obstacle.thickness() / self.length).clamp(1.0 / 4096.0, 1.0 / 64.0);
        let (mut s, mut here) = (0.0, first);
        while s < 1.0 {
            if here.gap > self.slack {
                floor = 0.0;
                if here.gap + last.gap >= self.length * (1.0 - s) {
                    return None;
                }
            }
            let safe = (here.gap - floor) / self.length;
            // While still in the solid, no step is so long that it may leave and come back.
            let step = if floor < 0.0 { safe.min(-here.gap / self.length) } else { safe };
            let next = (s + step.max(shortest)).min(1.0);
            let there = if next == 1.0 { last } else { self.at(next) };
            if there.gap < floor - self.slack {
                return Some(self.crossing(s, next, floor));
            }
            if safe < shortest
                && let Some(low) = self.dip((s, here), (next, there), floor)
            {
                return Some(self.crossing(s, low, floor));
            }
            (s, here) = (next, there);
        }
        None
    }

    /// A place between two others that is deeper than the floor, found by following the slope.
    fn dip(&self, mut low: (f64, Sample), mut high: (f64, Sample), floor: f64) -> Option<f64> {
        if !(low.1.slope < 0.0 && high.1.slope > 0.0) {
            return None;
        }
        for _ in 0..60 {
            if low.1.gap + high.1.gap - self.length * (high.0 - low.0) >= 2.0 * (floor - self.slack) {
                return None;
            }
            let s = 0.5 * (low.0 + high.0);
            let middle = self.at(s);
            if middle.gap < floor - self.slack {
                return Some(s);
            }
            if middle.slope < 0.0 {
                low = (s, middle);
            } else {
                high = (s, middle);
            }
        }
        None
    }

    /// Where the gap falls through the floor between a place outside and one inside; the outer side of it.
    fn crossing(&self, mut outside: f64, mut inside: f64, floor: f64) -> f64 {
        for _ in 0..60 {
            if (inside - outside) * self.length < 0.1 * self.slack {
                break;
            }
            let s = 0.5 * (outside + inside);
            if self.at(s).gap < floor {
                inside = s;
            } else {
                outside = s;
            }
        }
        outside
    }
}
