//! The list of refused rows: one line of tab-separated values each.

use crate::refusal::Refusal;
use manaka_core::whole_file::{Existing, WholeFile};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// The first line of a rejects file.
pub const REJECTS_HEADER: &str = "file\trow\treason\tdetail";

/// A rejects file that has its name only when the conversion is done.
pub(crate) struct Rejects(BufWriter<WholeFile>);

impl Rejects {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(WholeFile::create(path, Existing::Replace)?);
        writeln!(file, "{REJECTS_HEADER}")?;
        Ok(Self(file))
    }

    /// Appends lines made by [`line`].
    pub(crate) fn append(&mut self, lines: &str) -> io::Result<()> {
        self.0.write_all(lines.as_bytes())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.into_inner().map_err(io::IntoInnerError::into_error)?.commit().map(drop)
    }
}

/// Appends the line of a refused row. `file` comes from [`file_cell`], `row` counts from 0 within the file.
pub(crate) fn line(out: &mut String, file: &str, row: u64, refusal: &Refusal<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{file}\t{row}\t{}\t{refusal}", refusal.reason().id());
}

/// A path as a cell: what would break the table is escaped.
pub(crate) fn file_cell(path: &Path) -> String {
    let mut cell = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control() { cell.extend(c.escape_default()) } else { cell.push(c) }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_tabs_and_line_ends_stays_one_cell() {
        assert_eq!(file_cell(Path::new("a\tb\nc é.parquet")), "a\\tb\\nc é.parquet");
    }

    #[test]
    fn what_a_row_holds_cannot_break_its_line() {
        let mut out = String::new();
        line(&mut out, "f", 7, &Refusal::NoMove { index: Some(2), text: b"a\tb\n\xFF" });
        assert_eq!(out, "f\t7\tmalformed_record\tcandidate 2 is no USI move: a\\tb\\n\\xff\n");
    }
}
