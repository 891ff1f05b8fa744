//! Ranges of numbers, and how they are said.

/// Which numbers are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    /// The bounds themselves are refused.
    low_open: bool,
    high_open: bool,
}

impl Range {
    /// Low to high, both allowed.
    pub const fn within(low: f64, high: f64) -> Range {
        Range { low, high, low_open: false, high_open: false }
    }

    /// Low to high, neither allowed.
    pub const fn between(low: f64, high: f64) -> Range {
        Range { low, high, low_open: true, high_open: true }
    }

    /// Above low, at most high.
    pub const fn above(low: f64, high: f64) -> Range {
        Range { low, high, low_open: true, high_open: false }
    }

    /// At most `size` from nought.
    pub const fn size(size: f64) -> Range {
        Range::within(-size, size)
    }

    /// Whether a number lies inside; NaN never does.
    pub fn contains(&self, value: f64) -> bool {
        let low = if self.low_open { value > self.low } else { value >= self.low };
        let high = if self.high_open { value < self.high } else { value <= self.high };
        low && high
    }

    /// The range in words, to follow "must be".
    pub fn words(&self) -> String {
        let low = if self.low_open { "above" } else { "at least" };
        let high = if self.high_open { "below" } else { "at most" };
        format!("{low} {} and {high} {}", number(self.low), number(self.high))
    }
}

/// A number as a person would write it.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) { format!("{value:e}") } else { format!("{value}") }
}
