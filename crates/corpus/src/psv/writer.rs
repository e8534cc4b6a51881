//! Writing raw records, whole ones or none.

use super::error::{Error, Kind, Result};
use super::layout::{Layout, Record};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Writes raw records.
///
/// Each call hands all of its records to the sink in one piece, so a game is written whole or, if the process dies, up
/// to wherever the system got to; [`Writer::append`] cuts a torn record off. After an error of the sink the writer is
/// poisoned.
#[derive(Debug)]
pub struct Writer<W> {
    inner: W,
    layout: Layout,
    path: Option<PathBuf>,
    buf: Vec<u8>,
    /// Records written, those found by [`Writer::append`] included.
    records: u64,
    poisoned: bool,
}

/// What [`Writer::append`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Appended {
    /// Whole records that are there already.
    pub records: u64,
    /// Bytes of a torn one that were cut off.
    pub torn: u64,
}

impl Writer<File> {
    /// Opens a file to write behind its last whole record; creates it when it is not there. A torn record at the end
    /// is cut off and its length reported. Only one writer may have the file.
    ///
    /// # Errors
    /// [`Kind::Io`], with the path.
    pub fn append(path: &Path, layout: Layout) -> Result<(Self, Appended)> {
        let open = || -> io::Result<(File, Appended)> {
            // Not the append mode of the system: a torn tail has to be cut off first.
            let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            let len = file.metadata()?.len();
            let record_len = layout.record_len() as u64;
            let torn = len % record_len;
            if torn > 0 {
                file.set_len(len - torn)?;
            }
            file.seek(SeekFrom::Start(len - torn))?;
            Ok((file, Appended { records: len / record_len, torn }))
        };
        let error = |e| Error { path: Some(path.to_owned()), record: 0, offset: 0, kind: Kind::Io(e) };
        let (file, found) = open().map_err(error)?;
        let mut writer = Self::new(file, layout);
        writer.path = Some(path.to_owned());
        writer.records = found.records;
        Ok((writer, found))
    }

    /// Brings everything written to disk.
    ///
    /// # Errors
    /// [`Kind::Io`]; the writer is then poisoned. [`Kind::Poisoned`].
    pub fn sync(&mut self) -> Result<()> {
        self.guarded(|file, _| file.sync_data())
    }
}

impl<W: Write> Writer<W> {
    /// Starts with no records.
    #[must_use]
    pub const fn new(inner: W, layout: Layout) -> Self {
        Self { inner, layout, path: None, buf: Vec::new(), records: 0, poisoned: false }
    }

    /// How records are laid out.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Records written, those found when the file was opened included.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Writes one record.
    ///
    /// # Errors
    /// As [`write_game`](Self::write_game).
    pub fn write_record(&mut self, record: &Record) -> Result<()> {
        self.write_game(std::slice::from_ref(record))
    }

    /// Writes records, of one game, say, in one piece.
    ///
    /// # Errors
    /// [`Kind::Unwritable`] with the record that cannot be written: nothing was, and the writer goes on.
    /// [`Kind::Io`]: the writer is then poisoned. [`Kind::Poisoned`].
    pub fn write_game(&mut self, records: &[Record]) -> Result<()> {
        self.buf.clear();
        for (at, record) in records.iter().enumerate() {
            if let Err(error) = self.layout.encode(record, &mut self.buf) {
                return Err(self.error(at as u64, Kind::Unwritable(error)));
            }
        }
        self.guarded(|sink, buf| sink.write_all(buf))?;
        self.records += records.len() as u64;
        Ok(())
    }

    /// Flushes the sink.
    ///
    /// # Errors
    /// [`Kind::Io`]; the writer is then poisoned. [`Kind::Poisoned`].
    pub fn flush(&mut self) -> Result<()> {
        self.guarded(|sink, _| sink.flush())
    }

    /// The sink.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.inner
    }

    fn guarded(&mut self, act: impl FnOnce(&mut W, &[u8]) -> io::Result<()>) -> Result<()> {
        if self.poisoned {
            return Err(self.error(0, Kind::Poisoned));
        }
        act(&mut self.inner, &self.buf).map_err(|error| {
            self.poisoned = true;
            self.error(0, Kind::Io(error))
        })
    }

    /// An error at the record `ahead` behind those written.
    fn error(&self, ahead: u64, kind: Kind) -> Error {
        let record = self.records + ahead;
        let offset = record * self.layout.record_len() as u64;
        Error { path: self.path.clone(), record, offset, kind }
    }
}
