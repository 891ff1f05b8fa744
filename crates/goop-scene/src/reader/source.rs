//! The texts a scene was read from, and places in them.

use std::path::PathBuf;

use super::fault::Place;

/// A range of bytes in one of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which source.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One text: a file, or a `--set` argument.
#[derive(Clone, Debug)]
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Folder for paths named in this text, relative to the main scene's folder.
    pub folder: PathBuf,
}

/// All texts of one scene; the main file first.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Adds a text and returns its number.
    pub fn add(&mut self, source: Source) -> usize {
        self.list.push(source);
        self.list.len() - 1
    }

    /// The text with a number.
    pub fn get(&self, number: usize) -> Option<&Source> {
        self.list.get(number)
    }

    /// Line, column and line text of a span. Columns count characters from 1.
    pub fn place(&self, span: Span) -> Place {
        let Some(source) = self.get(span.source) else {
            return Place { file: String::new(), line: 1, column: 1, span: 0..0, text: String::new() };
        };
        let text = source.text.as_str();
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let end = text.floor_char_boundary(span.end.min(text.len())).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        Place {
            file: source.name.clone(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            span: start..end,
            text: text[line_start..line_end].trim_end_matches('\r').to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches columns counted in bytes, and lines counted from nought.
    #[test]
    fn places_count_lines_and_characters_from_one() {
        let mut sources = Sources::default();
        let source =
            sources.add(Source { name: "a".into(), text: "x = 1\r\né = ü\n".into(), folder: PathBuf::new() });
        let place = sources.place(Span { source, start: 12, end: 14 });
        assert_eq!((place.line, place.column, place.text.as_str()), (2, 5, "é = ü"));
        let end = sources.place(Span { source, start: 999, end: 1000 });
        assert_eq!((end.line, end.column), (3, 1));
    }
}
