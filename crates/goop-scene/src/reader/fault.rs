//! What is wrong, where, and what to do about it.

use std::fmt;
use std::ops::Range;

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// File name, or the `--set` argument.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// The line itself.
    pub text: String,
}

/// One thing that is wrong with a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// Path of the value, such as `body[1].material.young`; empty for the whole file.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub hint: String,
}

/// Something that is allowed but probably not meant.
pub type Warning = Fault;

impl Fault {
    /// The fault as a block of text, under a word such as "error" or "warning".
    pub fn block(&self, word: &str) -> String {
        let place = &self.place;
        let number = place.line.to_string();
        let gutter = " ".repeat(number.len());
        let at = if place.file.starts_with("--set ") {
            place.file.clone()
        } else {
            format!("{}:{}:{}", place.file, place.line, place.column)
        };
        let (line, before, width) = window(place);
        let carets = "^".repeat(width);
        let blank = " ".repeat(before);
        let mut block = format!("{word}: {}\n{gutter}--> {at}\n{gutter} |\n{number} | {line}\n", self.message);
        block += &format!("{gutter} | {blank}{carets}\n");
        for (index, hint) in self.hint.lines().enumerate() {
            let mark = if index == 0 { "= help:" } else { "       " };
            block += &format!("{gutter} {mark} {hint}\n");
        }
        block
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.block("error"))
    }
}

/// The part of a line to show, with columns before the caret and its width.
/// Control characters and tabs become blanks, so that the caret stands right.
fn window(place: &Place) -> (String, usize, usize) {
    const WIDEST: usize = 120;
    let line: Vec<char> = place.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let column = (place.column - 1).min(line.len());
    let first = column.saturating_sub(WIDEST / 2);
    let last = line.len().min(first + WIDEST);
    // Bytes to the end of the line bound the characters under the caret.
    let start = place.text.char_indices().nth(column).map_or(place.text.len(), |(at, _)| at);
    let end = place.text.floor_char_boundary(start.saturating_add(place.span.len()).min(place.text.len()));
    let width = place.text[start..end].chars().count().min(last - column).max(1);
    (line[first..last].iter().collect(), column - first, width)
}

/// Every fault of a scene, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// The faults.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 50;
        for (index, fault) in self.0.iter().take(MOST).enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{fault}")?;
        }
        if self.0.len() > MOST {
            writeln!(out, "\n… and {} more", self.0.len() - MOST)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a caret that stands under the wrong character.
    #[test]
    fn the_caret_stands_under_the_span() {
        let fault = Fault {
            place: Place { file: "a.toml".into(), line: 12, column: 5, span: 40..43, text: "é = abc # x".into() },
            path: "é".into(),
            message: "no".into(),
            hint: "yes".into(),
        };
        let expected = "error: no\n  --> a.toml:12:5\n   |\n12 | é = abc # x\n   |     ^^^\n   = help: yes\n";
        assert_eq!(fault.to_string(), expected);
    }
}
