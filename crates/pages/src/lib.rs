//! Pages and column chunks of Parquet, from values straight to bytes. Headers and footers are the parquet crate's.
//!
//! A page can be written in many ways, and those who write corpora and shards promise different ones; so each way has a
//! function of its own here and nothing is chosen.
//!
//! * [`levels`] and [`hybrid`]: levels, and indices into a dictionary; read, too;
//! * [`values`]: the encodings of values;
//! * [`Dictionary16`], [`Dictionary32`]: the distinct values of a column;
//! * [`GroupWriter`]: compressed pages, the books of their column chunks, a whole row group;
//! * [`EncodedGroup`]: that row group, on its way into a file.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod bits;
mod chunk;
mod dictionary;
mod group;
pub mod hybrid;
pub mod levels;
pub mod values;

pub use chunk::ChunkWriter;
pub use dictionary::{Dictionary16, Dictionary32};
pub use group::{EncodedGroup, GroupWriter};
