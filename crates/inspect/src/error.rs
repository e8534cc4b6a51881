//! Why a file could not be judged or shown. Faults of a file's content are findings of a check, not errors.

use manaka_core::select::SelectError;
use manaka_core::stream;
use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be judged or shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A stream is malformed where it was to be shown.
    #[error(transparent)]
    Stream(stream::Error),
    /// A shard is malformed where it was to be shown.
    #[error(transparent)]
    Shard(manaka_pack::Error),
    /// A corpus file is malformed where its figures were wanted.
    #[error(transparent)]
    Corpus(manaka_corpus::Error),
    /// A file that is called Parquet and is not.
    #[error(
        "{}: not a Parquet file: its {len} bytes begin with \"{}\" and end with \"{}\", where both should be \"PAR1\"",
        path.display(), first.escape_ascii(), last.escape_ascii()
    )]
    NotParquet {
        /// The file.
        path: PathBuf,
        /// How long it is.
        len: u64,
        /// Its first bytes, four unless it has fewer.
        first: Vec<u8>,
        /// Its last bytes, as many.
        last: Vec<u8>,
    },
    /// Raw records whose layout cannot be told.
    #[error(transparent)]
    Psv(manaka_corpus::FromPsvError),
    /// A raw file that ends inside a record.
    #[error(transparent)]
    Raw(manaka_corpus::psv::Error),
    /// Conditions that the data has nothing to be held to.
    #[error("{}: {error}", path.display())]
    Select {
        /// The file.
        path: PathBuf,
        /// Which condition, and why.
        #[source]
        error: SelectError,
    },
    /// Nothing from a place on meets the conditions.
    #[error("{}: no {unit} from {start} on meets the conditions", path.display())]
    NoMatch {
        /// The file.
        path: PathBuf,
        /// `record` or `row`.
        unit: &'static str,
        /// Where the search began.
        start: u64,
    },
    /// What was printed could not be handed over.
    #[error("output: {0}")]
    Output(#[source] io::Error),
    /// Files that are not data of one kind and one meaning.
    #[error("{} and {} are not one set of data: {what}", first.display(), second.display())]
    Mixed {
        /// The first file.
        first: PathBuf,
        /// The file that differs from it.
        second: PathBuf,
        /// In what.
        what: String,
    },
    /// Figures of no file.
    #[error("no file was named")]
    NoFiles,
    /// The card would take the place of a file that is none, or that was changed by hand.
    #[error("{}: no card, or one that was changed by hand; it is replaced only when that is asked for", path.display())]
    Theirs {
        /// The file.
        path: PathBuf,
    },
    /// A producer's report beside the data that cannot be read.
    #[error("{}: no report of a producer: {what}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A lineage beside the data that cannot be read.
    #[error(transparent)]
    Lineage(manaka_edit::Error),
    /// The first record or row asked for is behind the last one.
    #[error("{}: there is no {unit} {start}: the file holds {have}", path.display())]
    Range {
        /// The file.
        path: PathBuf,
        /// `record` or `row`.
        unit: &'static str,
        /// What was asked for, counted from 0.
        start: u64,
        /// How many there are.
        have: u64,
    },
    /// The run was asked to stop.
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

    /// The error of a stream that was to be shown.
    pub(crate) fn stream(path: &Path, error: stream::Error) -> Self {
        match error.kind {
            stream::Kind::Io(error) => Self::Io { path: path.to_owned(), error },
            _ => Self::Stream(error.in_file(path)),
        }
    }

    /// The error of a corpus file.
    pub(crate) fn corpus(error: manaka_corpus::Error) -> Self {
        match error {
            manaka_corpus::Error::Io { path, error } => Self::Io { path, error },
            error => Self::Corpus(error),
        }
    }

    /// The error of raw records whose layout was looked for.
    pub(crate) fn psv(error: manaka_corpus::FromPsvError) -> Self {
        match error {
            manaka_corpus::FromPsvError::Io { path, error } => Self::Io { path, error },
            error => Self::Psv(error),
        }
    }

    /// The error of a lineage that lies beside data.
    pub(crate) fn lineage(error: manaka_edit::Error) -> Self {
        match error {
            manaka_edit::Error::Io { path, error } => Self::Io { path, error },
            error => Self::Lineage(error),
        }
    }

    /// The error of a shard that was to be shown.
    pub(crate) fn shard(path: &Path, error: manaka_pack::Error) -> Self {
        match system_error(&error) {
            Some(error) => Self::Io { path: path.to_owned(), error },
            None => Self::Shard(error),
        }
    }
}

/// What is wrong with a shard's content, as a sentence without its path.
///
/// # Errors
/// [`Error::Io`] when it is not the content but the system that failed.
pub(crate) fn shard_fault(path: &Path, error: &manaka_pack::Error) -> Result<String> {
    if let Some(error) = system_error(error) {
        return Err(Error::Io { path: path.to_owned(), error });
    }
    Ok(match error {
        manaka_pack::Error::NotAShard { what, .. } => what.clone(),
        manaka_pack::Error::Parquet { error, .. } => error.to_string(),
        other => other.to_string(),
    })
}

/// The error of the operating system behind an error, if there is one. Damaged data reaches us as `io::Error` as well,
/// through the codecs; those carry no system error number.
fn system_error(error: &manaka_pack::Error) -> Option<io::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(code) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(io::Error::from_raw_os_error(code));
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::errors::ParquetError;

    #[test]
    fn a_disk_that_fails_is_an_error_and_data_that_is_damaged_a_fault_of_the_file() {
        let path = Path::new("a.parquet");
        let parquet = |error: io::Error| manaka_pack::Error::Parquet {
            path: path.to_owned(),
            error: ParquetError::External(Box::new(error)),
        };
        // EIO.
        let disk = shard_fault(path, &parquet(io::Error::from_raw_os_error(5)));
        assert!(matches!(disk, Err(Error::Io { error, .. }) if error.raw_os_error() == Some(5)));
        let codec = shard_fault(path, &parquet(io::Error::other("corrupt block")));
        assert!(codec.is_ok_and(|what| what.contains("corrupt block")));
    }
}
