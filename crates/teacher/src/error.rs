//! Why a conversion could not be done. A refused row is no error: it is counted.

use manaka_core::conventions::Inconsistency;
use manaka_core::stream;
use std::io;
use std::path::PathBuf;

/// The result of a conversion.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a conversion could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A corpus file cannot be read; names the file and, where it is known, the row group and the column.
    #[error(transparent)]
    Corpus(#[from] manaka_corpus::Error),
    /// A part cannot be written.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// The output directory cannot be made.
    #[error("{}: {error}", path.display())]
    OutDir {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The rejects file cannot be written; the message has its name.
    #[error("{0}")]
    Rejects(#[source] io::Error),
    /// The options state an `eval_coef` that no score can be squashed against.
    #[error("eval_coef is {0}; it must be a positive number")]
    EvalCoef(f32),
    /// The options state conventions that no stream may.
    #[error(transparent)]
    Conventions(#[from] Inconsistency),
    /// The options state conventions that teacher records do not have.
    #[error("teacher records are scores from the side to move; the conventions say otherwise")]
    NotTeacher,
    /// The run was told to stop. Parts that were whole by then stay.
    #[error("stopped before the end")]
    Cancelled,
    /// A worker thread failed in a way that nobody foresaw.
    #[error("a worker failed, which is a bug: {0}")]
    Worker(String),
}

impl Error {
    /// Whether the options are at fault, so that no file was looked at.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::EvalCoef(_) | Self::Conventions(_) | Self::NotTeacher)
    }
}
