//! Why a fold could not be done, or a shard not read.

use manaka_core::{Packed, stream};
use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a fold could not be done, or a shard not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A stream cannot be read, or two streams may not be folded together.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// A file cannot be written or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A shard is no Parquet file that can be read, or writing one failed.
    #[error("{}: {error}", path.display())]
    Parquet {
        /// The shard.
        path: PathBuf,
        /// What the Parquet library said.
        #[source]
        error: parquet::errors::ParquetError,
    },
    /// A Parquet file is no shard of this project (shards.md §2 and §3).
    #[error("{}: not a shard: {what}", path.display())]
    NotAShard {
        /// The file.
        path: PathBuf,
        /// What is missing or different.
        what: String,
    },
    /// More than `u32::MAX` records of one position.
    #[error("more than {} records of one position: {}", u32::MAX, .0.sfen(None))]
    Weight(Box<Packed>),
    /// An option that makes no sense.
    #[error("{0}")]
    Option(&'static str),
    /// A thread of the run died.
    #[error("a worker thread failed")]
    Worker,
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { path: path.to_owned(), error }
    }

    pub(crate) fn parquet(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Self + '_ {
        move |error| Self::Parquet { path: path.to_owned(), error }
    }
}
