//! CSV files that grow by whole frames.
//!
//! A table is appended to, not rewritten: rewriting costs the square of the number of
//! frames and holds every row in memory, and between two rewrites a killed run would
//! lose rows. The header is written whole (see [`crate::whole`]); then all rows of a frame go
//! out in one write, straight to the system, so a killed process leaves the header and
//! every earlier frame. If a write fails part way (disk full) the file is cut back to
//! the last whole frame. `finish` forces everything onto the disk.

use crate::error::OutputError;
use crate::whole;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// An open CSV file.
pub struct Table {
    path: PathBuf,
    file: File,
    /// Bytes up to the end of the last whole frame.
    length: u64,
}

impl Table {
    /// Starts a table with its header, in place of an older one.
    pub fn create<S: AsRef<str>>(path: &Path, columns: &[S]) -> Result<Table, OutputError> {
        let header = line(columns);
        whole::write(path, header.as_bytes())?;
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.map_err(|cause| OutputError::file("open", path, cause))?;
        Ok(Table { path: path.to_path_buf(), file, length: header.len() as u64 })
    }

    /// Goes on with a table of a killed run: cut back to the length it had at the
    /// checkpoint, whatever came after. Without the file, or with a shorter one, an error.
    pub fn resume(path: &Path, length: u64) -> Result<Table, OutputError> {
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.map_err(|cause| OutputError::file("open", path, cause))?;
        let found = file.metadata().map_err(|cause| OutputError::file("read", path, cause))?.len();
        if found < length {
            let cause =
                std::io::Error::new(std::io::ErrorKind::UnexpectedEof, format!("{found} bytes, {length} expected"));
            return Err(OutputError::file("go on with", path, cause));
        }
        file.set_len(length).map_err(|cause| OutputError::file("cut back", path, cause))?;
        Ok(Table { path: path.to_path_buf(), file, length })
    }

    /// Starts a table, or with a mark goes on with one.
    pub fn open<S: AsRef<str>>(path: &Path, columns: &[S], mark: Option<u64>) -> Result<Table, OutputError> {
        match mark {
            Some(length) => Table::resume(path, length),
            None => Table::create(path, columns),
        }
    }

    /// Bytes up to the end of the last whole frame.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Adds the rows of one frame; each ends with a newline (see [`line()`]).
    pub fn append(&mut self, rows: &str) -> Result<(), OutputError> {
        match self.file.write_all(rows.as_bytes()) {
            Ok(()) => {
                self.length += rows.len() as u64;
                Ok(())
            }
            Err(cause) => {
                // If this fails too, the table ends in a torn row; the fault to report is the first.
                let _ = self.file.set_len(self.length);
                Err(OutputError::file("append to", &self.path, cause))
            }
        }
    }

    /// Forces everything onto the disk.
    pub fn finish(&mut self) -> Result<(), OutputError> {
        self.file.sync_all().map_err(|cause| OutputError::file("finish", &self.path, cause))
    }
}

/// One row: fields joined by commas, quoted where they must be.
pub fn line<S: AsRef<str>>(fields: &[S]) -> String {
    let quoted: Vec<String> = fields.iter().map(|field| quote(field.as_ref())).collect();
    quoted.join(",") + "\n"
}

fn quote(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}

/// Reads a table row by row, its header passed over; nothing where there is no file. Rows that
/// `take` makes nothing of (it returns `None`) or that have another number of fields are passed
/// over too: the last one of a killed run may be torn.
pub fn rows(path: &Path, columns: usize, mut take: impl FnMut(&[String]) -> Option<()>) -> Result<(), OutputError> {
    let file = match File::open(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|cause| OutputError::file("open", path, cause))?,
    };
    let mut reader = BufReader::new(file);
    let (mut bytes, mut header) = (Vec::new(), true);
    loop {
        bytes.clear();
        reader.read_until(b'\n', &mut bytes).map_err(|cause| OutputError::file("read", path, cause))?;
        let Some(text) = bytes.strip_suffix(b"\n") else { return Ok(()) };
        if !std::mem::take(&mut header)
            && let Ok(text) = std::str::from_utf8(text)
            && let fields = split(text)
            && fields.len() == columns
        {
            take(&fields);
        }
    }
}

/// The fields of one row, without their quotes.
fn split(row: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, fields.last_mut()) {
            ('"', Some(field)) if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => fields.push(String::new()),
            (_, Some(field)) => field.push(letter),
            (_, None) => {}
        }
    }
    fields
}

/// A number with all its digits and, far from 1, an exponent.
pub fn number(value: f64) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a name with a comma shifting every later column.
    #[test]
    fn names_with_commas_and_quotes_are_quoted_and_read_back() {
        let fields = ["a,b", "say \"hi\"", "plain", ""];
        let row = line(&fields);
        assert_eq!(row, "\"a,b\",\"say \"\"hi\"\"\",plain,\n");
        assert_eq!(split(row.trim_end()), fields);
    }

    /// Catches rounding on the way to the file.
    #[test]
    fn numbers_read_back_to_the_same_bits() {
        for value in [0.1, -1.0 / 3.0, 1e-300, 6.02e23, 0.0, f64::MIN_POSITIVE] {
            assert_eq!(number(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    /// Catches rows kept in memory: they must be in the file while the run goes on.
    #[test]
    fn rows_are_in_the_file_before_the_table_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let mut table = Table::create(&path, &["a", "b"]).unwrap();
        table.append("1,2\n3,4\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b\n1,2\n3,4\n");
    }
}
