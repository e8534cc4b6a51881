//! Why shards cannot be loaded.

use crate::cursor::CursorError;
use crate::features::PositionFault;
use manaka_core::Move16;
use manaka_core::conventions::Conflict;
use manaka_core::inputs::InputError;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why shards cannot be loaded. Cheap to clone: several batches may meet the same damage.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments name no usable set of files.
    #[error(transparent)]
    Inputs(Arc<InputError>),
    /// A file is no shard, cannot be read, or is damaged; the message begins with its path.
    #[error(transparent)]
    Shard(Arc<manaka_pack::Error>),
    /// Two shards that were folded under different conventions (shards.md §3).
    #[error("{} and {} may not be mixed: {conflict}", first.display(), second.display())]
    Conflict {
        /// The shard that came first.
        first: PathBuf,
        /// The one that differs.
        second: PathBuf,
        /// The key and both values.
        conflict: Conflict,
    },
    /// A shard whose row groups do not add up to the rows it states.
    #[error("{}: its row groups hold {found} rows, and it states {stated}", path.display())]
    RowCount {
        /// The shard.
        path: PathBuf,
        /// Rows of all row groups.
        found: u64,
        /// Rows of the file.
        stated: u64,
    },
    /// There is not a single row in a set.
    #[error("no rows: {} shards, the first is {}", shards, first.display())]
    NoRows {
        /// How many shards there are.
        shards: usize,
        /// The first of them.
        first: PathBuf,
    },
    /// A row that says something impossible.
    #[error("{}: row {row}: {fault}", path.display())]
    Row {
        /// The shard.
        path: PathBuf,
        /// The row in the shard, from 0.
        row: u64,
        /// What is wrong with it.
        fault: RowFault,
    },
    /// Options that contradict one another or the shards.
    #[error("{0}")]
    Option(String),
    /// A cursor that does not belong here.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// Fewer or more rows were delivered than the shards state; a fault of this program.
    #[error("{delivered} rows were delivered of {planned}")]
    ShortRead {
        /// Rows that came.
        delivered: u64,
        /// Rows that should have.
        planned: u64,
    },
    /// A worker thread could not be started or died.
    #[error("a worker thread failed: {0}")]
    Worker(String),
    /// The loader failed before; its rows would no longer be the ones in order.
    #[error("the loader failed before")]
    Poisoned,
}

/// What a row says that cannot be.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// No features can be made of the position.
    #[error("{0}")]
    Position(#[from] PositionFault),
    /// A value outside of [-1, 1].
    #[error("{column} is {value}")]
    Value {
        /// The column.
        column: &'static str,
        /// What it says.
        value: f32,
    },
    /// A weight of 0.
    #[error("weight is 0")]
    Weight,
    /// A candidate's move has no label: not well-formed, or no piece moves like that.
    #[error("{0} is no move")]
    Move(Move16),
    /// A candidate's `prob` outside of [0, 1].
    #[error("prob is {0}")]
    Prob(f32),
    /// The `prob`s of a row do not sum to 1.
    #[error("its probs sum to {0}")]
    ProbSum(f32),
}

impl RowFault {
    /// The stable name of what is wrong: that of `manaka check`.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Position(_) => "unsound_position",
            Self::Value { column, .. } => column,
            Self::Weight => "weight",
            Self::Move(_) => "move16",
            Self::Prob(_) => "prob_range",
            Self::ProbSum(_) => "prob_sum",
        }
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Inputs(Arc::new(error))
    }
}

impl From<manaka_pack::Error> for Error {
    fn from(error: manaka_pack::Error) -> Self {
        Self::Shard(Arc::new(error))
    }
}
