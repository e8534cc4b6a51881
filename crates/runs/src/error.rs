//! The ends that every run can come to.

use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run does not start, or stops, whatever it is that it plays. Games that were written before it stay.
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
    /// A file of the run is not what its producer writes.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A thread of the run died.
    #[error("a worker thread failed")]
    Worker,
}

impl Error {
    /// What the system said of a file.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { path: path.to_owned(), error }
    }

    /// What is wrong with a file.
    pub fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }
}
