//! Lines, tokens and numbers of the text formats. Bytes throughout: names in these
//! files come in any encoding.

use super::{Fault, Place, Warnings, fault};

/// Lines with their numbers from 1, whichever way they end.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|&b| b == b'\n' || b == b'\r') else {
            rest = None;
            return Some(text);
        };
        let skip = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&text[end + skip..]);
        Some(&text[..end])
    })
    .enumerate()
    .map(|(i, line)| (i + 1, line))
}

/// Words of a line, up to a comment.
pub(super) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace()).filter(|token| !token.is_empty()).take_while(|token| token[0] != b'#')
}

/// Text of any encoding, as well as it goes, for names and messages.
pub(super) fn show(token: &[u8]) -> String {
    String::from_utf8_lossy(&token[..token.len().min(100)]).trim().to_string()
}

/// A number. Exponents may be written with a d; a stray sign before the exponent, as
/// in `3.1+e2`, ends the number as it does in other readers, with a warning.
pub(super) fn number(line: usize, token: Option<&[u8]>, warnings: &mut Warnings) -> Result<f64, Fault> {
    let place = Place::Line(line);
    let Some(token) = token else {
        return Err(fault(place, "a number is missing", "give all the coordinates"));
    };
    let text = std::str::from_utf8(token).unwrap_or_default();
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    if let Ok(value) = text.replace(['d', 'D'], "e").parse() {
        return Ok(value);
    }
    let stray = ["+e", "-e", "+E", "-E"].iter().find_map(|sign| text.split_once(sign));
    if let Some((start, exponent)) = stray
        && exponent.bytes().all(|b| b.is_ascii_digit())
        && let Ok(value) = start.parse()
    {
        warnings.add(format!("line {line}: '{}' is read as {value}", show(token)));
        return Ok(value);
    }
    Err(fault(place, format!("'{}' is not a number", show(token)), "write it with a decimal point"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches line numbers that drift with the way lines end.
    #[test]
    fn lines_end_in_any_fashion() {
        let all: Vec<_> = lines(b"a\r\nb\n\nc\rd").collect();
        assert_eq!(all, [(1, &b"a"[..]), (2, b"b"), (3, b""), (4, b"c"), (5, b"d")]);
        assert_eq!(tokens(b" f  1/2\t3 # 4").collect::<Vec<_>>(), [&b"f"[..], b"1/2", b"3"]);
    }

    /// Catches a decimal comma read as the end of a number.
    #[test]
    fn numbers_come_in_odd_forms() {
        let mut warnings = Warnings::default();
        let mut read = |text: &str| number(1, Some(text.as_bytes()), &mut warnings).ok();
        let forms = ["+1", "2.", ".5", "1e+2", "2.E1", "1.5D-01", "3.1+e2", "3.1-e2"].map(&mut read);
        assert_eq!(forms, [1.0, 2.0, 0.5, 100.0, 20.0, 0.15, 3.1, 3.1].map(Some));
        assert_eq!(["1,5", "", "x", "1+e-2", "--1"].map(&mut read), [None; 5]);
        assert_eq!(warnings.sentences.len(), 2);
    }
}
