//! Why an edit could not be done.

use manaka_core::out_dir::OutDirError;
use manaka_core::select::SelectError;
use manaka_core::stream;
use std::io;
use std::path::PathBuf;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an edit could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A stream is malformed, cannot be read or written, or does not agree with another.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The output directory cannot be made, or is not empty.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// A part was lost; nothing more is written.
    #[error("{}: a part failed before; nothing more is written", dir.display())]
    Poisoned {
        /// The output directory.
        dir: PathBuf,
    },
    /// A `LINEAGE.json` beside the inputs that cannot be carried over.
    #[error("{}: no lineage that can be carried on: {what}", path.display())]
    Lineage {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A condition that the streams have nothing to be held to.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// Options that contradict each other or state nothing.
    #[error("{0}")]
    Usage(String),
    /// A game of more bytes than a run keeps in memory.
    #[error(
        "{}: record {record}: a game of more than {limit} bytes ends nowhere; is the stream in game order?",
        path.display()
    )]
    LongGame {
        /// The file.
        path: PathBuf,
        /// The first record that did not fit, within the file.
        record: u64,
        /// The limit.
        limit: usize,
    },
    /// A convention that the header states otherwise, or that its kind of stream cannot state.
    #[error("{}: {key}: {why}", path.display())]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// The convention, by its footer key.
        key: &'static str,
        /// What it would contradict.
        why: String,
    },
    /// The run was told to stop. Parts that were whole by then stay.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Whether the options are at fault, so that nothing was written.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_) | Self::Select(_))
    }
}
