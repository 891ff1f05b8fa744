//! Curves drawn with the mouse, as bodies of the plane.

use crate::protocol::MOST_POINTS;
use goop_scene::reader::number;

/// Nodes of a drawn body.
const NODES: usize = 60;
/// Points that its curve goes through.
const POINTS: usize = 32;

/// A closed curve about its middle.
pub struct Curve {
    /// The middle (m).
    pub place: [f64; 3],
    /// Points about it (m).
    points: Vec<[f64; 3]>,
    /// The longer side (m).
    size: f64,
}

impl Curve {
    /// A curve that was drawn; the third coordinate counts as nought.
    pub fn from_points(points: &[[f64; 3]]) -> Result<Curve, String> {
        if points.len() < 6 || points.len() > MOST_POINTS {
            return Err(format!("draw a curve of 6 to {MOST_POINTS} points; this one has {}", points.len()));
        }
        if points.iter().flatten().any(|c| !c.is_finite() || c.abs() > 1e6) {
            return Err("the curve has a point that is nowhere".into());
        }
        let curve = resample(points, POINTS);
        let middle = |axis: usize| rounded(curve.iter().map(|p| p[axis]).sum::<f64>() / curve.len() as f64);
        let (x, y) = (middle(0), middle(1));
        let extent = |axis: usize| {
            let (low, high) = curve.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[axis]), h.max(p[axis])));
            high - low
        };
        let size = extent(0).max(extent(1));
        if size < 1e-3 || extent(0).min(extent(1)) < 0.02 * size {
            return Err("that curve encloses nothing; draw a rounder one".into());
        }
        let points = curve.iter().map(|p| [rounded(p[0] - x), rounded(p[1] - y), 0.0]).collect();
        Ok(Curve { place: [x, y, 0.0], points, size })
    }

    /// Its `shape` in a scene's text.
    pub fn shape(&self) -> String {
        let list: Vec<String> = self.points.iter().map(|p| format!("{p:?}")).collect();
        format!("{{ spline = {{ points = [{}], closed = true, nodes = {NODES} }} }}", list.join(", "))
    }

    /// A whole `[[body]]` of this shape.
    pub fn body(&self, name: &str) -> String {
        format!(
            "[[body]]\nname = \"{name}\"\nformulation = \"hybrid\"\nposition = {:?}\nshape = {}\n\
             material = {{ density = 1000.0, young = 6e6, radius = {}, damping = 0.05, drag = 0.15, friction = 0.0 }}\n",
            self.place,
            self.shape(),
            number(rounded((self.size / 30.0).max(1e-4))),
        )
    }
}

/// To a hundredth of a millimetre.
fn rounded(v: f64) -> f64 {
    (v * 1e5).round() / 1e5
}

/// Points at equal distances along a closed curve.
fn resample(points: &[[f64; 3]], count: usize) -> Vec<[f64; 3]> {
    let n = points.len();
    let gap = |i: usize| {
        let (a, b) = (points[i], points[(i + 1) % n]);
        (b[0] - a[0]).hypot(b[1] - a[1])
    };
    let total: f64 = (0..n).map(gap).sum();
    let (mut i, mut passed) = (0, 0.0);
    (0..count)
        .map(|k| {
            let goal = total * k as f64 / count as f64;
            while i + 1 < n && passed + gap(i) < goal {
                passed += gap(i);
                i += 1;
            }
            let s = ((goal - passed) / gap(i).max(1e-300)).clamp(0.0, 1.0);
            let (a, b) = (points[i], points[(i + 1) % n]);
            [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), 0.0]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a drawn curve that is pulled to where the mouse was slow.
    #[test]
    fn points_of_a_drawing_are_spread_evenly() {
        let mut square: Vec<[f64; 3]> = (0..40).map(|k| [f64::from(k) / 40.0, 0.0, 0.0]).collect();
        square.extend([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
        let even = resample(&square, 16);
        for k in 0..16 {
            let (a, b) = (even[k], even[(k + 1) % 16]);
            assert!(((b[0] - a[0]).hypot(b[1] - a[1]) - 0.25).abs() < 1e-9, "{even:?}");
        }
    }
}
