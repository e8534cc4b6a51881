//! Why a run does not start, or stops.

use crate::fault::Fault;
use manaka_corpus::book::BookError;
use manaka_corpus::psv;
use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run does not start, or stops. Games that were finished before it are written.
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
    /// The opening book cannot be read, or a line of it is no position.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The engine cannot do what it is asked for.
    #[error("{engine}: {reason}")]
    Unsuitable {
        /// The engine, by its name if it said one.
        engine: String,
        /// What it cannot do, and what may help.
        reason: String,
    },
    /// The engine could not be started, in front of the first game.
    #[error("the engine does not start: {}", .0.log())]
    Start(Box<Fault>),
    /// The engine failed again and again, or in every game there was.
    #[error("the engine does not work: {faults} games in a row ended in a fault, the last one so: {}", last.log())]
    NeverWorks {
        /// How often.
        faults: u64,
        /// The last fault.
        last: Box<Fault>,
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
    /// Records to recover from cannot be read.
    #[error(transparent)]
    Source(#[from] psv::Error),
    /// A record cannot be written; no game makes one.
    #[error("game {game}: {error}")]
    Record {
        /// The game.
        game: u64,
        /// Why.
        error: psv::EncodeError,
    },
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
