//! Many parts read in order as one logical stream.

use super::error::{Error, Kind, Result, SetConflict};
use super::header::Header;
use super::reader::StreamReader;
use super::record::RecordRef;
use crate::conventions::Conventions;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A set of stream files with equal conventions, read in the order given (name order when they come from
/// [`crate::inputs::resolve`]).
pub struct StreamSet {
    paths: Vec<PathBuf>,
    conventions: Conventions,
    next: usize,
    reader: Option<StreamReader<File>>,
}

impl StreamSet {
    /// Opens a set: reads every header and refuses conventions that may not be folded together.
    ///
    /// # Errors
    /// A header error of any file; [`Kind::Conflict`] naming the convention, both values and both files;
    /// [`Kind::Empty`] for an empty list.
    pub fn open(paths: Vec<PathBuf>) -> Result<Self> {
        let mut first: Option<Header> = None;
        for path in &paths {
            let header = *StreamReader::open(path)?.header();
            let Some(first) = &first else {
                first = Some(header);
                continue;
            };
            agree(path, &header, &paths[0], &first.conventions)?;
        }
        match first {
            Some(header) => Ok(Self { paths, conventions: header.conventions, next: 0, reader: None }),
            None => Err(Error::new(None, 0, Kind::Empty)),
        }
    }

    /// The conventions all parts share.
    #[must_use]
    pub const fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// The files, in reading order.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The file the last record came from.
    #[must_use]
    pub fn current(&self) -> Option<&Path> {
        self.next.checked_sub(1).map(|at| self.paths[at].as_path())
    }

    /// The next record of the logical stream, borrowed until the next call.
    ///
    /// # Errors
    /// As [`StreamReader::next_ref`]; record numbers and offsets are those within the file named. A call after an error
    /// that ends a file goes on with the next file, so a caller that does not stop there has to report it. A file that
    /// was replaced since [`StreamSet::open`] by one of other conventions is refused.
    pub fn next_ref(&mut self) -> Result<Option<RecordRef<'_>>> {
        loop {
            if self.reader.is_none() {
                let Some(path) = self.paths.get(self.next) else { return Ok(None) };
                // Counted before it is opened: a caller that goes on after an error must not meet it for ever.
                self.next += 1;
                let reader = StreamReader::open(path)?;
                agree(path, reader.header(), &self.paths[0], &self.conventions)?;
                self.reader = Some(reader);
            }
            // The question and the record are two lookups, so that the record's borrow does not reach across the loop.
            let more = match &mut self.reader {
                Some(reader) => reader.has_next()?,
                None => false,
            };
            if !more {
                self.reader = None;
                continue;
            }
            return match &mut self.reader {
                Some(reader) => reader.next_ref(),
                None => Ok(None),
            };
        }
    }
}

/// Refuses a file whose conventions may not be folded with those of another (conventions.md §6).
///
/// # Errors
/// [`Kind::Conflict`], with the convention, both values and both files.
pub fn agree(path: &Path, header: &Header, other: &Path, conventions: &Conventions) -> Result<()> {
    match header.conventions.conflict(conventions) {
        None => Ok(()),
        Some(conflict) => {
            let conflict = SetConflict { conflict, other: other.to_owned() };
            Err(Error::new(None, 0, Kind::Conflict(Box::new(conflict))).in_file(path))
        }
    }
}
