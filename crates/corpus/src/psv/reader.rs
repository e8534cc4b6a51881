//! Reading raw records from any `Read`.

use super::error::{Error, Kind, Result};
use super::layout::{Layout, Record};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes asked of the source at a time, about.
const CHUNK: usize = 256 << 10;

/// Reads raw records in file order. A mapped file is read through its slice.
///
/// A file that ends inside a record gives every whole one first and then an error of kind [`Kind::Truncated`]. Behind
/// a [`Kind::Record`] the reader may go on; any other error is the last.
#[derive(Debug)]
pub struct Reader<R> {
    inner: R,
    layout: Layout,
    path: Option<PathBuf>,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// The next record, from 0.
    record: u64,
    ended: bool,
    /// What the source failed with; it waits until the whole records in front of it are used up.
    failed: Option<io::Error>,
}

impl Reader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Kind::Io`], with the path.
    pub fn open(path: &Path, layout: Layout) -> Result<Self> {
        let error = |e| Error { path: Some(path.to_owned()), record: 0, offset: 0, kind: Kind::Io(e) };
        let mut reader = Self::new(File::open(path).map_err(error)?, layout);
        reader.path = Some(path.to_owned());
        Ok(reader)
    }
}

impl<R: Read> Reader<R> {
    /// Starts at the first record.
    #[must_use]
    pub fn new(inner: R, layout: Layout) -> Self {
        let len = layout.record_len();
        let buf = vec![0; (CHUNK / len).max(1) * len];
        Self { inner, layout, path: None, buf, start: 0, end: 0, record: 0, ended: false, failed: None }
    }

    /// How the bytes are read.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of the next record, from 0.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.record
    }

    /// The byte at which it begins.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.record * self.layout.record_len() as u64
    }

    /// The source, wherever it stands.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Reads the next record into `out`, reusing its memory; `false` at the end, and after the last error.
    ///
    /// # Errors
    /// [`Kind::Record`], [`Kind::Truncated`], [`Kind::Io`].
    pub fn read_record(&mut self, out: &mut Record) -> Result<bool> {
        let len = self.layout.record_len();
        if self.end - self.start < len {
            if !self.ended {
                self.fill()?;
            }
            match self.end - self.start {
                0 => return Ok(false),
                have if have < len => {
                    self.start = self.end;
                    return Err(self.error(Kind::Truncated { have, need: len }));
                }
                _ => {}
            }
        }
        let bytes = &self.buf[self.start..self.start + len];
        let decoded = self.layout.decode(bytes, out);
        let result = decoded.map(|()| true).map_err(|fault| self.error(Kind::Record(fault)));
        self.start += len;
        self.record += 1;
        result
    }

    /// The records one by one, each with memory of its own.
    pub fn records(&mut self) -> Records<'_, R> {
        Records { reader: self }
    }

    /// Fills the buffer, as far as there is something; notes the end of the source.
    fn fill(&mut self) -> Result<()> {
        self.buf.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < self.buf.len() && self.failed.is_none() {
            match self.inner.read(&mut self.buf[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(more) => self.end += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failed = Some(error),
            }
        }
        match self.failed.take_if(|_| self.end < self.layout.record_len()) {
            Some(error) => {
                (self.end, self.ended) = (0, true);
                Err(self.error(Kind::Io(error)))
            }
            None => Ok(()),
        }
    }

    fn error(&self, kind: Kind) -> Error {
        Error { path: self.path.clone(), record: self.record, offset: self.offset(), kind }
    }
}

/// Iterates over records; made by [`Reader::records`].
#[derive(Debug)]
pub struct Records<'a, R> {
    reader: &'a mut Reader<R>,
}

impl<R: Read> Iterator for Records<'_, R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Record::default();
        self.reader.read_record(&mut record).map(|more| more.then_some(record)).transpose()
    }
}
