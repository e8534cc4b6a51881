//! Why there is no network to train or none came out.

use manaka_shogi::Unplayable;
use std::path::PathBuf;

/// The result of training.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a row, for one who learns from it.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleFault {
    /// Nobody can move in the position.
    #[error("{0}")]
    Unplayable(#[from] Unplayable),
    /// The position has no legal move, so there is no policy to learn.
    #[error("the position has no legal move")]
    NoMoves,
    /// A candidate that is not legal.
    #[error("a candidate's label, {label}, is that of no legal move")]
    Candidate {
        /// The label.
        label: u16,
    },
    /// A number that is none, or out of its range.
    #[error("{what} is {found}")]
    Number {
        /// Which.
        what: &'static str,
        /// What it is.
        found: f32,
    },
}

/// Why a training came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option that makes no sense.
    #[error("{0}")]
    Option(String),
    /// The shards cannot be read or do not belong together.
    #[error(transparent)]
    Load(#[from] manaka_load::Error),
    /// A row that nothing can be learned from; `manaka check` finds such rows.
    #[error("{}: row {row}: {fault}", path.display())]
    Row {
        /// The shard.
        path: PathBuf,
        /// The row in it, from 0.
        row: u64,
        /// What is wrong.
        fault: SampleFault,
    },
    /// The rows do not fit in the memory that is allowed.
    #[error("{rows} rows are more than fit in {limit} bytes of memory; {fit} fit")]
    Memory {
        /// All rows.
        rows: u64,
        /// Rows that fit.
        fit: u64,
        /// The limit.
        limit: u64,
    },
    /// No samples to learn from, or none to measure by.
    #[error("there are no {0} rows")]
    NoRows(&'static str),
    /// The loss is no number any more.
    #[error("the loss is no number after step {step}: a lower rate may help")]
    Diverged {
        /// The step, from 1.
        step: u64,
    },
    /// The caller asked to stop before there was a network to keep.
    #[error("stopped before the end of the first epoch, so there is no network")]
    Cancelled,
}
