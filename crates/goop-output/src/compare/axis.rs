//! Axes: which values fit on a plot, where they go and how they are written.
//!
//! The plotting library counts in absolute rounding errors, so values are handed to it
//! in units near 1; a logarithmic axis is a linear one over the exponent.

use super::number::power_of_ten;

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten.
    Log,
}

/// Values beyond this cannot be drawn, and below its inverse count as zero.
const LARGEST: f64 = 1e100;
/// Smallest span of an axis relative to its values; less is rounding.
const SMALLEST_SPAN: f64 = 1e-6;
/// Most decades on a logarithmic axis.
const MOST_DECADES: i32 = 12;

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    scale: Scale,
    /// Power of ten of one plotted unit; 0 when logarithmic.
    exponent: i32,
    /// Ends, in plotted units.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Most labels it should carry.
    pub labels: usize,
}

impl Axis {
    /// An axis for these values, with a margin of their span at each end; `None` if none can be drawn.
    pub fn new(scale: Scale, values: impl Iterator<Item = f64>, margin: f64) -> Option<Axis> {
        let drawable = |value: &f64| value.abs() < LARGEST && (scale == Scale::Linear || *value > 1.0 / LARGEST);
        let (low, high) = values
            .filter(drawable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return None;
        }
        Some(match scale {
            Scale::Linear => Axis::linear(low, high, margin),
            Scale::Log => Axis::log(low, high),
        })
    }

    fn linear(low: f64, high: f64, margin: f64) -> Axis {
        let largest = low.abs().max(high.abs());
        if largest < 1.0 / LARGEST {
            return Axis { scale: Scale::Linear, exponent: 0, low: -1.0, high: 1.0, labels: 3 };
        }
        let exponent = largest.log10().floor() as i32;
        let unit = 10f64.powi(exponent);
        let (low, high) = (low / unit, high / unit);
        let widen = if high - low < SMALLEST_SPAN * 10.0 { SMALLEST_SPAN * 10.0 } else { (high - low) * margin };
        Axis { scale: Scale::Linear, exponent, low: low - widen, high: high + widen, labels: 6 }
    }

    fn log(low: f64, high: f64) -> Axis {
        let top = high.log10().ceil() as i32;
        let bottom = (low.log10().floor() as i32).max(top - MOST_DECADES).min(top - 1);
        let labels = ((top - bottom + 1) as usize).min(7);
        Axis { scale: Scale::Log, exponent: 0, low: f64::from(bottom), high: f64::from(top), labels }
    }

    /// Where a value goes; `None` if it is not a number or off the plot.
    pub fn place(&self, value: f64) -> Option<f64> {
        let plotted = match self.scale {
            Scale::Linear => value / 10f64.powi(self.exponent),
            Scale::Log => value.log10(),
        };
        (self.low..=self.high).contains(&plotted).then_some(plotted)
    }

    /// The value runs off the end of the axis: not a number, or beyond what others reach.
    /// On a logarithmic axis, nearly zero is no such thing.
    pub fn leaves(&self, value: f64) -> bool {
        match self.scale {
            Scale::Linear => self.place(value).is_none(),
            Scale::Log => value.is_nan() || value.log10() > self.high,
        }
    }

    /// Power of ten of the finest step between labels: steps are 1, 2 or 5 of them.
    fn step_exponent(&self) -> i32 {
        let at_least = (self.high - self.low) / (self.labels + 1) as f64;
        let exponent = at_least.log10().floor() as i32;
        if at_least > 5.0 * 10f64.powi(exponent) { exponent + 1 } else { exponent }
    }

    /// What to write at a plotted value.
    pub fn label(&self, plotted: f64) -> String {
        if self.scale == Scale::Log {
            let whole = plotted.round();
            return if (plotted - whole).abs() < 1e-6 { power_of_ten(whole as i32) } else { String::new() };
        }
        let step_exponent = self.step_exponent();
        let decimals = |exponent: i32| (-exponent).max(0) as usize;
        let text = if (-3..=4).contains(&self.exponent) {
            let value = plotted * 10f64.powi(self.exponent);
            format!("{value:.*}", decimals(step_exponent + self.exponent))
        } else {
            format!("{plotted:.*}×{}", decimals(step_exponent), power_of_ten(self.exponent))
        };
        match text.strip_prefix('-') {
            Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
            Some(rest) => rest.into(),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(values: &[f64]) -> Axis {
        Axis::new(Scale::Linear, values.iter().copied(), 0.05).unwrap()
    }

    /// Catches an axis of no width, or of rounding noise blown up.
    #[test]
    fn a_constant_gets_an_axis_with_room() {
        for value in [0.0, 5.0, -3e-9, 2e90] {
            let axis = linear(&[value, value * (1.0 + 1e-14)]);
            assert!(axis.high - axis.low > 1e-6, "{value}: {axis:?}");
            assert!(axis.place(value).is_some());
        }
    }

    /// Catches labels that round to the same text or to minus zero.
    #[test]
    fn labels_tell_neighbouring_ticks_apart() {
        let axis = linear(&[0.0, 0.011]);
        assert_eq!(axis.label(0.2), "0.002");
        assert_eq!(axis.label(0.4), "0.004");
        assert_eq!(axis.label(-1e-18), "0.000");
        assert_eq!(linear(&[-12.0, 3.0]).label(-1.0), "−10");
        assert_eq!(linear(&[0.0, 4.5]).label(2.0), "2");
        assert_eq!(linear(&[0.0, 2.5e-7]).label(1.5), "1.5×10⁻⁷");
    }

    /// Catches one blown-up value hiding all others on a logarithmic axis, and zero ending up on it.
    #[test]
    fn a_logarithmic_axis_covers_whole_decades() {
        let axis = Axis::new(Scale::Log, [0.0, 2e-3, 0.5, f64::NAN, -1.0].into_iter(), 0.0).unwrap();
        assert_eq!((axis.low, axis.high), (-3.0, 0.0));
        assert_eq!(axis.place(0.0), None);
        assert!(!axis.leaves(0.0) && axis.leaves(2.0) && axis.leaves(f64::NAN));
        assert_eq!(axis.label(-3.0), "10⁻³");
    }

    /// Catches an axis invented for no data.
    #[test]
    fn nothing_finite_gives_no_axis() {
        assert_eq!(Axis::new(Scale::Linear, [f64::NAN, f64::INFINITY].into_iter(), 0.0), None);
        assert_eq!(Axis::new(Scale::Log, [0.0, -1.0].into_iter(), 0.0), None);
    }
}
