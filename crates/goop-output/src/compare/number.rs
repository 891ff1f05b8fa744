//! Numbers for people: three digits, powers of ten written out.

/// Three significant digits; a dash for what is not finite.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    // The exponent after rounding, so that 9.999 is 10.0 and not 10.00.
    let written = format!("{value:.2e}");
    let Some((mantissa, exponent)) = written.split_once('e') else { return written };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = match exponent {
        -3..=2 => format!("{value:.*}", (2 - exponent) as usize),
        3..=4 => format!("{value:.0}"),
        _ => format!("{mantissa}×{}", power_of_ten(exponent)),
    };
    text.replace('-', "−")
}

/// "10⁻³".
pub fn power_of_ten(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

/// A part of a whole in percent; a dash where there is no whole.
pub fn percent(part: f64, whole: f64) -> String {
    if whole == 0.0 {
        return "–".into();
    }
    match short(100.0 * part / whole) {
        dash if dash == "–" => dash,
        number => format!("{number} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches wrong rounding at powers of ten and raw exponents on the page.
    #[test]
    fn numbers_have_three_digits() {
        let cases = [
            (0.0, "0"),
            (9.999, "10.0"),
            (-0.012345, "−0.0123"),
            (123.4, "123"),
            (12345.6, "12346"),
            (1.5e-7, "1.50×10⁻⁷"),
            (-2e120, "−2.00×10¹²⁰"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(percent(1.0, 0.0), "–");
        assert_eq!(percent(1.0, 200.0), "0.500 %");
    }
}
