//! A corpus file being written.

use super::columns::{properties, schema};
use super::encode::GroupEncoder;
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_pages::EncodedGroup;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::writer::SerializedFileWriter;
use serde::Serialize;
use std::fmt;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A corpus file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The encoder failed.
    #[error("{}: {error}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        error: ParquetError,
    },
}

impl WriteError {
    pub(crate) fn of(path: &Path, error: ParquetError) -> Self {
        let path = path.to_owned();
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::Io { path, error: *error },
                Err(inner) => Self::Parquet { path, error: ParquetError::External(inner) },
            },
            error => Self::Parquet { path, error },
        }
    }
}

/// Bytes that are written at once; the parquet crate copies columns by 8 KB.
const BUFFER: usize = 1 << 20;

/// What a finished file holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileSummary {
    /// The file.
    #[serde(serialize_with = "crate::from_psv::lossy")]
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Writes one corpus file. It gets its name when it is finished; dropped before that, nothing is left of it.
pub struct CorpusWriter {
    path: PathBuf,
    writer: SerializedFileWriter<BufWriter<WholeFile>>,
    rows: u64,
}

impl CorpusWriter {
    /// Creates a file that must not be there yet.
    ///
    /// # Errors
    /// [`WriteError::Io`].
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let io = |error| WriteError::Io { path: path.to_owned(), error };
        let file = WholeFile::create(path, Existing::Refuse).map_err(io)?;
        let build = || -> ParquetResult<SerializedFileWriter<BufWriter<WholeFile>>> {
            let properties = properties(GroupEncoder::DEFAULT_ZSTD_LEVEL)?;
            let file = BufWriter::with_capacity(BUFFER, file);
            SerializedFileWriter::new(file, schema()?, Arc::new(properties))
        };
        let writer = build().map_err(|error| WriteError::of(path, error))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0 })
    }

    /// Rows appended so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends a row group; one without rows leaves no trace.
    ///
    /// # Errors
    /// [`WriteError`]; the file must then be given up.
    pub fn append(&mut self, group: EncodedGroup) -> Result<(), WriteError> {
        let rows = group.rows();
        if rows == 0 {
            return Ok(());
        }
        group.append_to(&mut self.writer).map_err(|error| WriteError::of(&self.path, error))?;
        self.rows += rows;
        Ok(())
    }

    /// Writes the footer, brings the file to disk and gives it its name.
    ///
    /// # Errors
    /// [`WriteError`]; the file does not appear then.
    pub fn finish(self) -> Result<FileSummary, WriteError> {
        let file = self.writer.into_inner().map_err(|error| WriteError::of(&self.path, error))?;
        let whole = file.into_inner().map_err(io::IntoInnerError::into_error);
        let bytes = whole
            .and_then(WholeFile::commit)
            .map_err(|error| WriteError::Io { path: self.path.clone(), error })?;
        Ok(FileSummary { path: self.path, rows: self.rows, bytes })
    }
}

impl fmt::Debug for CorpusWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CorpusWriter")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
