//! A run cut into numbered parts, each a complete stream (stream.md §7).

use super::error::{Error, Kind, Result};
use super::record::{Record, RecordRef};
use super::writer::{Compression, FileSink, StreamWriter};
use crate::conventions::Conventions;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// How a run is cut into parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PartsOptions {
    /// What every header states.
    pub conventions: Conventions,
    /// Records in every part but the last.
    pub records_per_part: NonZeroU64,
    /// How parts are compressed.
    pub compression: Compression,
}

impl PartsOptions {
    /// Records per part unless told otherwise: about 1.5 GB raw at five candidates a record.
    pub const DEFAULT_RECORDS_PER_PART: NonZeroU64 = match NonZeroU64::new(10_000_000) {
        Some(n) => n,
        None => NonZeroU64::MIN,
    };
}

/// What a finished run of parts wrote.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartsSummary {
    /// The parts, in order.
    pub paths: Vec<PathBuf>,
    /// Records in all of them.
    pub records: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Writes `part-00000.mpk.zst`, `part-00001.mpk.zst`, … into a directory; each part gets its name when it is whole.
pub struct PartsWriter {
    dir: PathBuf,
    options: PartsOptions,
    current: Option<StreamWriter<FileSink>>,
    summary: PartsSummary,
}

impl PartsWriter {
    /// Starts in `dir`, which must exist; no part may exist there already. The first part is created at once, so that
    /// a directory that cannot be written is known before the work begins.
    ///
    /// # Errors
    /// As [`StreamWriter::create`].
    pub fn create(dir: &Path, options: PartsOptions) -> Result<Self> {
        let mut writer =
            Self { dir: dir.to_owned(), options, current: None, summary: PartsSummary::default() };
        writer.current = Some(writer.open()?);
        Ok(writer)
    }

    fn path(&self, number: usize) -> PathBuf {
        self.dir.join(format!("part-{number:05}{}", self.options.compression.suffix()))
    }

    fn open(&self) -> Result<StreamWriter<FileSink>> {
        let path = self.path(self.summary.paths.len());
        StreamWriter::create(&path, self.options.conventions, self.options.compression)
    }

    /// Appends a record, beginning a new part where the last one is full.
    ///
    /// # Errors
    /// As [`StreamWriter::write`].
    pub fn write(&mut self, record: &Record) -> Result<()> {
        self.writer()?.write(record)
    }

    /// Appends a record from its bytes.
    ///
    /// # Errors
    /// As [`StreamWriter::write`].
    pub fn write_ref(&mut self, record: RecordRef<'_>) -> Result<()> {
        self.writer()?.write_ref(record)
    }

    fn writer(&mut self) -> Result<&mut StreamWriter<FileSink>> {
        let full = |w: &StreamWriter<_>| w.summary().records >= self.options.records_per_part.get();
        if self.current.as_ref().is_some_and(full) {
            self.close()?;
        }
        if self.current.is_none() {
            self.current = Some(self.open()?);
        }
        match &mut self.current {
            Some(writer) => Ok(writer),
            None => Err(Error::new(None, 0, Kind::Poisoned)),
        }
    }

    fn close(&mut self) -> Result<()> {
        if let Some(writer) = self.current.take() {
            let path = self.path(self.summary.paths.len());
            let (summary, bytes) = writer.finish()?;
            self.summary.paths.push(path);
            self.summary.records += summary.records;
            self.summary.bytes += bytes;
        }
        Ok(())
    }

    /// Finishes the last part. A run without records leaves one part that holds only its header.
    ///
    /// # Errors
    /// As [`StreamWriter::finish`].
    pub fn finish(mut self) -> Result<PartsSummary> {
        self.close()?;
        Ok(self.summary)
    }
}
