//! Why a fold could not be done, or a shard not read.

use manaka_core::out_dir::OutDirError;
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
    /// The output directory is not empty, or cannot be made.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
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
    /// A temporary file is not what was written to it.
    #[error("{}: damaged at byte {offset}; start again without it", path.display())]
    Damaged {
        /// The temporary file.
        path: PathBuf,
        /// Where.
        offset: u64,
    },
    /// A temporary file cannot take what it should.
    #[error("temporary file: {0}")]
    Spool(&'static str),
    /// What an earlier run left does not belong to this one, or is in the way.
    #[error("{}: {what}", path.display())]
    Leftover {
        /// The temporary directory.
        path: PathBuf,
        /// What is wrong and what to do.
        what: String,
    },
    /// The run does not fit the machine.
    #[error("{0}")]
    DoesNotFit(String),
    /// The run was asked to stop (SIGINT, SIGTERM).
    #[error("interrupted")]
    Interrupted,
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
