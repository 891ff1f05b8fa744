//! Distances to round shapes, and how they melt into one another.
//!
//! Two distances a, b blend over a width k (m) by the quadratic
//! ```text
//! min(a, b) − h² k / 4,    h = max(1 − |a − b| / k, 0)
//! ```
//! which is min where they differ by more than k, and has no crease. Only sums,
//! products, quotients and roots are used, so every machine finds the same bits.

use glam::DVec3;

/// A round shape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The hull of two balls.
    Cone {
        /// Middles of the balls (m).
        from: DVec3,
        to: DVec3,
        /// Their radii (m).
        radii: [f64; 2],
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Its middle (m).
        middle: DVec3,
        /// Half its size along its own axes (m).
        radii: DVec3,
        /// The axes: unit vectors.
        axes: [DVec3; 3],
    },
}

/// An ellipsoid along the axes of space.
pub(super) fn ellipsoid(middle: [f64; 3], radii: [f64; 3]) -> Shape {
    Shape::Ellipsoid { middle: middle.into(), radii: radii.into(), axes: DVec3::AXES }
}

impl Shape {
    /// Distance from the surface (m), negative inside. Near an ellipsoid to first order.
    pub(super) fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Shape::Cone { from, to, radii } => {
                // In the plane through the axis: x along it, y away from it.
                let axis = to - from;
                let length = axis.length();
                let slope = (radii[0] - radii[1]) / length;
                let along = (1.0 - slope * slope).sqrt();
                let x = (p - from).dot(axis) / length;
                let y = ((p - from).length_squared() - x * x).max(0.0).sqrt();
                // Where the foot of the perpendicular on the slanting side lies.
                let foot = x * along - y * slope;
                if foot < 0.0 {
                    (p - from).length() - radii[0]
                } else if foot > length * along {
                    (p - to).length() - radii[1]
                } else {
                    x * slope + y * along - radii[0]
                }
            }
            Shape::Ellipsoid { middle, radii, axes } => {
                let own = DVec3::from_array(axes.map(|axis| axis.dot(p - middle)));
                let (once, twice) = ((own / radii).length(), (own / (radii * radii)).length());
                if twice < 1e-12 { -radii.min_element() } else { once * (once - 1.0) / twice }
            }
        }
    }

    /// The mirror image in x.
    pub(super) fn mirrored(self) -> Shape {
        match self {
            Shape::Cone { from, to, radii } => Shape::Cone { from: mirror(from), to: mirror(to), radii },
            Shape::Ellipsoid { middle, radii, axes } => {
                Shape::Ellipsoid { middle: mirror(middle), radii, axes: axes.map(mirror) }
            }
        }
    }

    /// A box around it (m).
    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        match *self {
            Shape::Cone { from, to, radii: [a, b] } => ((from - a).min(to - b), (from + a).max(to + b)),
            Shape::Ellipsoid { middle, radii, .. } => (middle - radii.max_element(), middle + radii.max_element()),
        }
    }
}

/// The other side of the body.
pub(super) fn mirror(p: DVec3) -> DVec3 {
    DVec3::new(-p.x, p.y, p.z)
}

/// The union of two, blended over a width (m).
pub(super) fn blend(a: f64, b: f64, width: f64) -> f64 {
    let near = (1.0 - (a - b).abs() / width).max(0.0);
    a.min(b) - near * near * width / 4.0
}

/// How a field grows at a point (-), by differences to the corners of a tetrahedron.
pub(super) fn gradient(field: impl Fn(DVec3) -> f64, p: DVec3) -> DVec3 {
    const STEP: f64 = 1.0 / 8192.0;
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]].map(DVec3::from_array);
    corners.into_iter().map(|corner| corner * field(p + corner * STEP)).sum::<DVec3>() / (4.0 * STEP)
}

/// The point of the surface `field` = 0 near `p`.
pub(super) fn onto(field: impl Fn(DVec3) -> f64, mut p: DVec3) -> DVec3 {
    for _ in 0..4 {
        let value = field(p);
        if value.abs() < 1e-8 {
            break;
        }
        let slope = gradient(&field, p);
        p -= slope * (value / slope.length_squared().max(1e-6));
    }
    p
}
