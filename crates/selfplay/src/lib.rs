//! Searches play shogi against themselves, and what they found is written as visit records (selfplay.md).
//!
//! * [`Shogi`]: a game with every rule that ends it, which a [`manaka_search::Search`] can search.
//! * [`Evaluator`]: what judges the positions that a search asks about; [`Uniform`] knows nothing.
// What comes out is training data.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod ending;
mod error;
mod evaluator;
mod game;

pub use ending::{End, Ending};
pub use error::{Error, EvaluatorError, Result};
pub use evaluator::{Evaluator, Evaluators, Identity, Replies, Reply, ReplyMut, Request, Uniform};
pub use game::Shogi;
