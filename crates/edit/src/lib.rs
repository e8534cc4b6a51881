//! Streams in, streams out: the editors, each a recorded step.
//!
//! Nothing is edited in place. Every editor reads a set of parts as one logical stream, writes new parts into a
//! directory of its own, and leaves beside them a [`lineage`] of what was done, with the counts to prove it.
// A panic or a wrapped number here would be wrong training data, or a tool that dies on a bad file.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod error;
pub mod lineage;

pub use error::{Error, Result};
