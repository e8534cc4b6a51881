//! Training shards to batches: opened, checked, ordered, mixed, and turned into a network's inputs and targets by
//! worker threads, to the exact row (loading.md, features.md).
//!
//! * [`ShardSet`] opens shards and refuses what may not be mixed; [`Source`] gives one a share of a [`Loader`];
//! * [`Options`] say what is wanted; [`Loader::next_into`] fills one [`Batch`] after the other; a [`Cursor`] is the
//!   place between two batches, to go on from later;
//! * [`features`] makes the inputs of one position, without a loader.
//!
//! Nothing is written, and no rules of shogi are needed.
// A panic, a wrapped count or a shortened number here would be wrong training data.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod batch;
mod cursor;
mod error;
pub mod features;
mod fill;
mod loader;
mod mix;
mod options;
mod order;
mod plan;
mod set;
mod slot;
mod targets;
mod workers;

pub use batch::{Batch, Features, Policy};
pub use cursor::{Cursor, CursorError};
pub use error::{Error, Result, RowFault};
pub use loader::Loader;
pub use options::{
    FeatureSet, LastBatch, Mirror, Options, Order, OutcomeAbsent, PolicyTarget, RawColumns, SetEnd,
    WeightMode,
};
pub use set::{ShardSet, Source};
