//! Why a run does not start, or stops.

use manaka_core::stream;
use manaka_corpus::book::BookError;
use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an evaluator cannot be made, or does not answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EvaluatorError(pub Box<dyn std::error::Error + Send + Sync>);

impl EvaluatorError {
    /// A sentence about it, or the error behind it.
    pub fn new(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }
}

/// Why a run does not start, or stops. Games that were written before it stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused a file.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// Options that make no sense.
    #[error("{0}")]
    Option(String),
    /// Constants that no search can be made with, or a game that breaks its promises to one.
    #[error(transparent)]
    Search(#[from] manaka_search::Error),
    /// The opening book cannot be read, or a line of it is no position.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The evaluator cannot be made.
    #[error("the evaluator: {0}")]
    Evaluator(#[source] EvaluatorError),
    /// The evaluator failed, or gave what is no evaluation, in the middle of a game.
    #[error("game {game}: the evaluator: {reason}")]
    Evaluation {
        /// The game.
        game: u64,
        /// What is wrong.
        reason: String,
    },
    /// The directory holds a run, and nobody said to go on with it.
    #[error("{}: holds a run already; resume it, or choose another directory", .0.display())]
    Exists(PathBuf),
    /// Another run has the directory.
    #[error("{}: another run is writing here", .0.display())]
    Busy(PathBuf),
    /// The run in the directory was played with other settings.
    #[error("{}: {key} was {there} in this run and is {here} now; one run has one setting", path.display())]
    Mismatch {
        /// The file that states them.
        path: PathBuf,
        /// The setting.
        key: String,
        /// What it was.
        there: String,
        /// What it is now.
        here: String,
    },
    /// A file of the run is not what this crate writes.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The stream cannot be written.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// A thread of the run died.
    #[error("a worker thread failed")]
    Worker,
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { path: path.to_owned(), error }
    }

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }
}
