//! A run cut into numbered parts, each a complete stream (stream.md §7).

use super::error::{Error, Kind, Result};
use super::record::{Record, RecordRef};
use super::sink::FileSink;
use super::writer::{Compression, StreamWriter};
use crate::conventions::Conventions;
use crate::inputs::STREAM_SUFFIXES;
use crate::whole_file::TEMP_SUFFIX;
use std::io;
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
    absent_outcomes: bool,
    summary: PartsSummary,
    /// A part was lost: going on would leave a gap that no reader could see.
    failed: bool,
}

/// Parts of a run at most: five digits, so that the order of the names is that of the numbers (stream.md §7).
pub const MAX_PARTS: usize = 100_000;

/// The name of a part by its number, which is below [`MAX_PARTS`].
#[must_use]
pub fn part_name(number: usize, compression: Compression) -> String {
    format!("part-{number:05}{}", compression.suffix())
}

impl PartsWriter {
    /// Starts in `dir`, which must exist; no part of whatever number or ending, nor an unfinished one, may be there
    /// already: it would be read as part of this run. The first part is created at once, so that a directory that
    /// cannot be written is known before the work begins.
    ///
    /// # Errors
    /// As [`StreamWriter::create`].
    pub fn create(dir: &Path, options: PartsOptions) -> Result<Self> {
        if let Some((path, error)) = leftover(dir) {
            return Err(Error::new(None, 0, Kind::Io(error)).in_file(&path));
        }
        let mut writer = Self {
            dir: dir.to_owned(),
            options,
            current: None,
            absent_outcomes: false,
            summary: PartsSummary::default(),
            failed: false,
        };
        writer.current = Some(writer.open()?);
        Ok(writer)
    }

    fn path(&self, number: usize) -> PathBuf {
        self.dir.join(part_name(number, self.options.compression))
    }

    fn open(&self) -> Result<StreamWriter<FileSink>> {
        let number = self.summary.paths.len();
        let path = self.path(number);
        if number >= MAX_PARTS {
            let what = "a run has at most 100000 parts; use more records per part";
            return Err(Error::new(None, 0, Kind::Unsupported(what)).in_file(&path));
        }
        let mut writer = StreamWriter::create(&path, self.options.conventions, self.options.compression)?;
        if self.absent_outcomes {
            writer.allow_absent_outcomes();
        }
        Ok(writer)
    }

    /// From now on a record may leave its outcome out. Each part is of version 3 exactly when one of its records does.
    pub fn allow_absent_outcomes(&mut self) {
        self.absent_outcomes = true;
        if let Some(writer) = &mut self.current {
            writer.allow_absent_outcomes();
        }
    }

    /// Appends a record, beginning a new part where the last one is full.
    ///
    /// # Errors
    /// As [`StreamWriter::write`], and those of finishing a full part and creating the next, which poison as well.
    pub fn write(&mut self, record: &Record) -> Result<()> {
        self.writer()?.write(record)
    }

    /// Appends a record from its bytes.
    ///
    /// # Errors
    /// As [`PartsWriter::write`].
    pub fn write_ref(&mut self, record: RecordRef<'_>) -> Result<()> {
        self.writer()?.write_ref(record)
    }

    fn writer(&mut self) -> Result<&mut StreamWriter<FileSink>> {
        let full = |w: &StreamWriter<_>| w.summary().records >= self.options.records_per_part.get();
        if self.current.as_ref().is_some_and(full) {
            self.failed = true;
            self.close()?;
            self.current = Some(self.open()?);
            self.failed = false;
        }
        match &mut self.current {
            Some(writer) => Ok(writer),
            None => Err(Error::new(None, 0, Kind::Poisoned).in_file(&self.dir)),
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
        if self.failed {
            return Err(Error::new(None, 0, Kind::Poisoned).in_file(&self.dir));
        }
        // A part begun for a record that was then refused holds nothing, and is none.
        let empty =
            self.current.as_ref().is_some_and(|part| part.summary().records == 0 && !part.is_poisoned());
        if !empty || self.summary.paths.is_empty() {
            self.close()?;
        }
        Ok(self.summary)
    }
}

/// A part that is in the directory already, finished or not, or why that cannot be known.
fn leftover(dir: &Path) -> Option<(PathBuf, io::Error)> {
    let names = match std::fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(names) => names,
        Err(error) => return Some((dir.to_owned(), error)),
    };
    let is_part = |name: &str| {
        let whole = name.strip_suffix(TEMP_SUFFIX).unwrap_or(name);
        whole.starts_with("part-") && STREAM_SUFFIXES.iter().any(|suffix| whole.ends_with(suffix))
    };
    let path = names
        .into_iter()
        .filter(|entry| is_part(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .min()?;
    let what = "is in the way: a directory holds the parts of one run";
    Some((path, io::Error::new(io::ErrorKind::AlreadyExists, what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_number_that_would_break_the_order_of_the_names_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let options = PartsOptions {
            conventions: Conventions::VISITS,
            records_per_part: NonZeroU64::MIN,
            compression: Compression::None,
        };
        let mut writer = PartsWriter::create(dir.path(), options).unwrap();
        assert_eq!(writer.path(MAX_PARTS - 1).file_name().unwrap(), "part-99999.mpk");
        writer.summary.paths = vec![PathBuf::new(); MAX_PARTS];
        assert_eq!(writer.open().err().unwrap().kind.id(), "unsupported");
    }
}
