//! Why a network is not run.

use std::io;
use std::path::PathBuf;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a network is not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No library of ONNX Runtime was named, and none was found.
    #[error("no library of ONNX Runtime: none was named, {asked}")]
    NoLibrary {
        /// Who was asked for one.
        asked: String,
    },
    /// The library cannot be used: it is missing, it is something else, or it is too old.
    #[error("{}: no usable library of ONNX Runtime: {reason}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A process has one library, and it has another one already.
    #[error("{}: this process has loaded the library {} already", path.display(), loaded.display())]
    OtherLibrary {
        /// The one that was asked for.
        path: PathBuf,
        /// The one that is there.
        loaded: PathBuf,
    },
    /// The file of the network cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// ONNX Runtime refuses the network.
    #[error("{}: {reason}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The network has other inputs or outputs than dlshogi's, or other numbers come out of it.
    #[error("{}: not a network like dlshogi's: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is different.
        reason: String,
    },
    /// The library cannot run on this provider here. There is no falling back to another.
    #[error("the provider {provider} is not to be had from {}: {reason}", library.display())]
    Provider {
        /// What was asked for.
        provider: super::Provider,
        /// The library.
        library: PathBuf,
        /// What it said.
        reason: String,
    },
}

impl Error {
    /// Whether another library would help.
    #[must_use]
    pub const fn is_library(&self) -> bool {
        matches!(self, Self::NoLibrary { .. } | Self::Library { .. } | Self::Provider { .. })
    }
}
