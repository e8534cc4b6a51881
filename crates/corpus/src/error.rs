//! What can be wrong with a corpus file, and where.

use crate::schema::Column;
use parquet::errors::ParquetError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The result of reading a corpus.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a corpus file cannot be read. What is wrong with a single row is no error of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// Columns of the schema (corpus.md §3) are not there.
    #[error(
        "{}: no column {} (the file has {})",
        path.display(), list(missing.iter().map(|column| column.name())), list(found)
    )]
    MissingColumns {
        /// The file.
        path: PathBuf,
        /// What is missing.
        missing: Vec<Column>,
        /// The top-level columns that are there.
        found: Vec<String>,
    },
    /// A column has a type it cannot be read from (corpus.md §3).
    #[error("{}: column {column} must be {wanted}, and is {found}", path.display())]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: Column,
        /// What it has to be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// A column is compressed in a way this build cannot undo.
    #[error(
        "{}: row group {row_group}: column {column} is compressed with {codec}; snappy, gzip, lz4, zstd and none can be read",
        path.display()
    )]
    Codec {
        /// The file.
        path: PathBuf,
        /// The row group, from 0.
        row_group: usize,
        /// The column.
        column: Column,
        /// The codec.
        codec: &'static str,
    },
    /// The bytes are no parquet file, or a damaged one.
    #[error("{}: {}damaged parquet file: {reason}", path.display(), Place(*row_group, *column))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The row group, from 0; `None` while the footer is read.
        row_group: Option<usize>,
        /// The column, where it is known.
        column: Option<Column>,
        /// What is wrong.
        reason: String,
    },
}

/// Where in a file something is damaged.
struct Place(Option<usize>, Option<Column>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(row_group) = self.0 {
            write!(f, "row group {row_group}: ")?;
        }
        match self.1 {
            Some(column) => write!(f, "column {column}: "),
            None => Ok(()),
        }
    }
}

fn list<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const SHOWN: usize = 40;
    let mut text = String::new();
    for (i, name) in names.into_iter().enumerate() {
        if i == SHOWN {
            text.push_str(", …");
            break;
        }
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(name.as_ref());
    }
    if text.is_empty() { "no columns".to_owned() } else { text }
}

/// What went wrong below, before the file and the place are known.
#[derive(Debug)]
pub(crate) enum Cause {
    Io(io::Error),
    Damaged(String),
}

impl Cause {
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged(reason.into())
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        // Only the system's own refusals carry a code; a short read is the file's fault.
        if error.raw_os_error().is_some() { Self::Io(error) } else { Self::Damaged(error.to_string()) }
    }
}

impl From<Cause> for ParquetError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Io(error) => Self::External(Box::new(error)),
            Cause::Damaged(reason) => Self::General(reason),
        }
    }
}

impl From<ParquetError> for Cause {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => (*error).into(),
                Err(other) => Self::Damaged(other.to_string()),
            },
            ParquetError::General(reason) | ParquetError::EOF(reason) => Self::Damaged(reason),
            other => Self::Damaged(other.to_string()),
        }
    }
}
