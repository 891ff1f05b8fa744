//! Numbers as people write them: three significant digits and a unit.

/// Three significant digits with a unit prefix.
pub fn prefixed(value: f64, unit: &str) -> String {
    let steps = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];
    let (scale, prefix) = steps.into_iter().find(|(s, _)| value.abs() >= *s * 0.9995).unwrap_or((1e-9, "n"));
    let scaled = value / scale;
    let digits = match scaled.abs() {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {prefix}{unit}")
}

/// (Hz)
pub fn hertz(value: f64) -> String {
    prefixed(value, "Hz")
}

/// (s)
pub fn seconds(value: f64) -> String {
    prefixed(value, "s")
}

/// (m)
pub fn length(value: f64) -> String {
    prefixed(value, "m")
}

/// (Pa)
pub fn pascal(value: f64) -> String {
    prefixed(value, "Pa")
}

/// From kilograms.
pub fn mass(value: f64) -> String {
    prefixed(value * 1000.0, "g")
}

/// (B)
pub fn bytes(value: usize) -> String {
    prefixed(value as f64, "B")
}

/// Waiting time.
pub fn time(value: f64) -> String {
    if value >= 120.0 { format!("{:.0} minutes", value / 60.0) } else { prefixed(value, "s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a prefix that is off by a thousand, and digits cut from whole numbers.
    #[test]
    fn numbers_have_three_digits_and_the_right_prefix() {
        assert_eq!(prefixed(0.0041666, "s"), "4.17 ms");
        assert_eq!(prefixed(40000.0, "Pa"), "40 kPa");
        assert_eq!(prefixed(999.6, "Hz"), "1 kHz");
        assert_eq!(prefixed(100.0, "m"), "100 m");
        assert_eq!(prefixed(2.0e11, "Pa"), "200 GPa");
        assert_eq!(mass(0.0707), "70.7 g");
    }
}
