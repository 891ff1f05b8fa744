//! Values over time, between keys held, blended or splined.
//!
//! With c = (t − t₀)/Δ between the keys at t₀ and t₀ + Δ:
//! ```text
//! step     v = v₀
//! linear   v = (1 − c) v₀ + c v₁              rotations: q₀ exp(c log(q₀⁻¹ q₁)), the short way
//! cubic    v = (2c³ − 3c² + 1) v₀ + Δ (c³ − 2c² + c) b₀ + (3c² − 2c³) v₁ + Δ (c³ − c²) a₁
//! ```
//! b₀ leaves key 0, a₁ arrives at key 1 (glTF 2.0, appendix C); a splined rotation is
//! normalised. Before the first key and after the last the value stays.
//!
//! Departs from the thesis: its ch. 4 has the weights c and 1 − c swapped, and blends
//! Euler angles one by one.

use glam::{DQuat, DVec3, DVec4};
use std::sync::Arc;

/// What happens between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The value of the key before.
    Step,
    /// In proportion; rotations at constant speed.
    Linear,
    /// A cubic through three values a key: arriving slope, value, leaving slope.
    Cubic,
}

/// Values at times.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<V> {
    /// Times of the keys (s), not falling.
    pub times: Arc<[f64]>,
    /// One value for each key, three where cubic.
    pub values: Vec<V>,
    /// What happens between them.
    pub interpolation: Interpolation,
}

/// What a curve can blend. Rates are per second: m/s, 1/s, or an angular velocity in the
/// parent's axes (rad/s).
pub trait Value: Copy {
    /// The value, and its rate per unit of `c`.
    fn linear(a: Self, b: Self, c: f64) -> (Self, DVec3);
    /// The value for weights of value, slope, value, slope, and the rate for `rates`.
    fn cubic(of: [Self; 4], weights: [f64; 4], rates: [f64; 4]) -> (Self, DVec3);
}

fn weigh<T: std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T> + Copy>(of: [T; 4], w: [f64; 4]) -> T {
    of[0] * w[0] + of[1] * w[1] + of[2] * w[2] + of[3] * w[3]
}

impl Value for DVec3 {
    fn linear(a: DVec3, b: DVec3, c: f64) -> (DVec3, DVec3) {
        (a * (1.0 - c) + b * c, b - a)
    }

    fn cubic(of: [DVec3; 4], weights: [f64; 4], rates: [f64; 4]) -> (DVec3, DVec3) {
        (weigh(of, weights), weigh(of, rates))
    }
}

impl Value for DQuat {
    fn linear(a: DQuat, b: DQuat, c: f64) -> (DQuat, DVec3) {
        let b = if a.dot(b) < 0.0 { -b } else { b };
        let turn = (a.inverse() * b).normalize().to_scaled_axis();
        ((a * DQuat::from_scaled_axis(turn * c)).normalize(), a * turn)
    }

    fn cubic(of: [DQuat; 4], weights: [f64; 4], rates: [f64; 4]) -> (DQuat, DVec3) {
        let of = of.map(|q| DVec4::from_array(q.to_array()));
        let (value, rate) = (weigh(of, weights), weigh(of, rates));
        let length = value.length();
        if length < 1e-12 {
            // Opposite keys without slopes: no direction to take.
            return (DQuat::from_vec4(of[0]).normalize(), DVec3::ZERO);
        }
        let turned = DQuat::from_vec4(value / length);
        // ω = 2 q̇ q⁻¹; the change of length has no vector part.
        let spin = DQuat::from_vec4(rate / length) * turned.conjugate();
        (turned, DVec3::new(spin.x, spin.y, spin.z) * 2.0)
    }
}

impl<V> Curve<V> {
    /// The same value at all times.
    pub fn constant(value: V) -> Curve<V> {
        Curve { times: Arc::from([0.0]), values: vec![value], interpolation: Interpolation::Step }
    }
}

impl<V: Value> Curve<V> {
    /// The value at a time, and its rate from then on. `None` without keys.
    pub(super) fn sample(&self, time: f64) -> Option<(V, DVec3)> {
        let key = |i: usize| self.values[if self.interpolation == Interpolation::Cubic { 3 * i + 1 } else { i }];
        let next = self.times.partition_point(|&t| t <= time);
        if next == 0 {
            return (!self.times.is_empty()).then(|| (key(0), DVec3::ZERO));
        }
        let (before, after) = (next - 1, next);
        if after == self.times.len() || self.interpolation == Interpolation::Step {
            return Some((key(before), DVec3::ZERO));
        }
        // Positive: the key after is later than the time, the one before is not.
        let span = self.times[after] - self.times[before];
        let c = (time - self.times[before]) / span;
        let (value, rate) = match self.interpolation {
            Interpolation::Cubic => {
                let (c2, c3) = (c * c, c * c * c);
                let of = [key(before), self.values[3 * before + 2], key(after), self.values[3 * after]];
                let weights =
                    [2.0 * c3 - 3.0 * c2 + 1.0, span * (c3 - 2.0 * c2 + c), 3.0 * c2 - 2.0 * c3, span * (c3 - c2)];
                let rates = [
                    6.0 * c2 - 6.0 * c,
                    span * (3.0 * c2 - 4.0 * c + 1.0),
                    6.0 * c - 6.0 * c2,
                    span * (3.0 * c2 - 2.0 * c),
                ];
                V::cubic(of, weights, rates)
            }
            _ => V::linear(key(before), key(after), c),
        };
        Some((value, rate / span))
    }
}
