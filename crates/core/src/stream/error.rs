//! What can go wrong with a stream, and where it went wrong.

use super::header::{ABSENT_OUTCOME_VERSION, HEADER_LEN};
use super::record::RecordFault;
use crate::conventions::{Conflict, Inconsistency};
use crate::packed::PACKED_LEN;
use std::fmt;
use std::path::{Path, PathBuf};

/// The result of stream operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its place: file, record number (from 0) and byte offset in the **decompressed** stream.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    /// The file, where the reader knows one.
    pub path: Option<PathBuf>,
    /// The record, from 0; `None` while the header is read.
    pub record: Option<u64>,
    /// Byte offset of the header or record at fault.
    pub offset: u64,
    /// What is wrong.
    pub kind: Kind,
}

impl Error {
    pub(crate) const fn new(record: Option<u64>, offset: u64, kind: Kind) -> Self {
        Self { path: None, record, offset, kind }
    }

    /// What the reader of a batch finds wrong with record number `record`, which begins at byte `offset` of the stream.
    #[must_use]
    pub const fn at_record(record: u64, offset: u64, kind: Kind) -> Self {
        Self::new(Some(record), offset, kind)
    }

    /// Names the file unless one is named already.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        match self.record {
            Some(record) => write!(f, "record {record} at byte {}: ", self.offset)?,
            None => write!(f, "header at byte {}: ", self.offset)?,
        }
        fmt::Display::fmt(&self.kind, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

/// What is wrong with a stream. [`Kind::id`] is the stable name that reports and conformance vectors use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Kind {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[source] std::io::Error),
    /// The zstd data is damaged (the checksum included).
    #[error("damaged zstd data: {0}")]
    Compression(#[source] std::io::Error),
    /// Nothing at all.
    #[error("the stream is empty; even one without records has a header of {HEADER_LEN} bytes")]
    Empty,
    /// The bytes end inside the header or a record. Everything before it is whole.
    #[error("truncated: {have} bytes where at least {need} belong")]
    Truncated {
        /// Bytes that are there.
        have: u64,
        /// Bytes that are needed at least.
        need: u64,
    },
    /// No MPK1 stream.
    #[error("not an MPK1 stream: it begins with {found:02x?}")]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// A version this reader does not know.
    #[error("version {found} is not supported (1 to {ABSENT_OUTCOME_VERSION} are)")]
    Version {
        /// The header's version.
        found: u16,
    },
    /// A position of another width.
    #[error("packed_len {found} is not supported (only {PACKED_LEN} is)")]
    PackedLen {
        /// The header's packed_len.
        found: u16,
    },
    /// A `pov` other than 0 and 1.
    #[error("pov {found} is unknown (0 side to move, 1 Black)")]
    Pov {
        /// The header's pov.
        found: u8,
    },
    /// A `policy_source` other than 0 and 1.
    #[error("policy_source {found} is unknown (0 visits, 1 softmax over cp)")]
    PolicySource {
        /// The header's policy_source.
        found: u8,
    },
    /// Bytes 14..16 of a version 1 header are not zero.
    #[error("reserved field of a version 1 header is {found}, not 0")]
    Reserved {
        /// The field's value.
        found: u16,
    },
    /// Flag bits nobody has defined.
    #[error("unknown flags {found:#010x}")]
    Flags {
        /// The header's flags.
        found: u32,
    },
    /// Header fields that contradict one another.
    #[error("inconsistent header: {0}")]
    Inconsistent(#[source] Inconsistency),
    /// A record that breaks a rule of stream.md §6.
    #[error("{0}")]
    Record(#[source] RecordFault),
    /// A header where a record should begin: decompressed parts were concatenated.
    #[error("a second MPK1 header stands here: parts do not concatenate, read them one by one")]
    SecondHeader,
    /// Two parts of one set state different conventions.
    #[error("{} is {} here and {} in {}", .0.conflict.key, .0.conflict.first, .0.conflict.second, .0.other.display())]
    Conflict(Box<SetConflict>),
    /// Something that was asked for and cannot be done with this file.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The writer failed before and does nothing any more.
    #[error("the writer failed before; nothing more is written")]
    Poisoned,
}

/// What two parts of one set disagree about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetConflict {
    /// The convention, its value in the file at fault, and its value in the other.
    pub conflict: Conflict,
    /// The other file.
    pub other: PathBuf,
}

impl Kind {
    /// The stable name of the kind.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Compression(_) => "compression",
            Self::Empty => "empty",
            Self::Truncated { .. } => "truncated",
            Self::Magic { .. } => "magic",
            Self::Version { .. } => "version",
            Self::PackedLen { .. } => "packed_len",
            Self::Pov { .. } => "pov",
            Self::PolicySource { .. } => "policy_source",
            Self::Reserved { .. } => "reserved",
            Self::Flags { .. } => "flags",
            Self::Inconsistent(_) => "inconsistent_header",
            Self::Record(fault) => fault.id(),
            Self::SecondHeader => "second_header",
            Self::Conflict(_) => "conflict",
            Self::Unsupported(_) => "unsupported",
            Self::Poisoned => "poisoned",
        }
    }
}

impl From<std::io::Error> for Kind {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
