//! What can go wrong with a raw file, and where.

use super::layout::{EncodeError, RecordFault};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The result of reading or writing raw records.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, at which record.
#[derive(Debug)]
pub struct Error {
    /// The file, where one is known.
    pub path: Option<PathBuf>,
    /// The record, from 0.
    pub record: u64,
    /// The byte at which it begins.
    pub offset: u64,
    /// What.
    pub kind: Kind,
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Kind {
    /// The system refused.
    Io(io::Error),
    /// The file ends inside a record. Every whole record in front of it was handed over.
    Truncated {
        /// Bytes there are of it.
        have: usize,
        /// Bytes it needs.
        need: usize,
    },
    /// The bytes are no record. A reader may go on behind it.
    Record(RecordFault),
    /// The record given to a writer cannot be written; nothing of it was.
    Unwritable(EncodeError),
    /// The writer failed before and does not know what it has written.
    Poisoned,
}

impl Kind {
    /// Its stable name.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Truncated { .. } => "truncated",
            Self::Record(fault) => fault.id(),
            Self::Unwritable(_) => "unwritable",
            Self::Poisoned => "poisoned",
        }
    }
}

impl RecordFault {
    /// Its stable name (psv.md §7).
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Position(_) => "bad_position",
            Self::Result(_) => "bad_result",
            Self::Move { .. } => "bad_move",
            Self::Candidate { .. } => "bad_candidate",
            Self::Length { .. } => "bad_length",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        write!(f, "record {} at byte {}: ", self.record, self.offset)?;
        match &self.kind {
            Kind::Io(error) => write!(f, "{error}"),
            Kind::Truncated { have, need } => {
                write!(f, "the file ends after {have} of its {need} bytes")
            }
            Kind::Record(fault) => write!(f, "{fault}"),
            Kind::Unwritable(error) => write!(f, "{error}"),
            Kind::Poisoned => f.write_str("the writer failed before"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Io(error) => Some(error),
            Kind::Record(fault) => Some(fault),
            Kind::Unwritable(error) => Some(error),
            Kind::Truncated { .. } | Kind::Poisoned => None,
        }
    }
}
