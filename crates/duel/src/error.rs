//! Why a match does not start, or stops.

use manaka_core::Move16;
use manaka_corpus::book::BookError;
use manaka_gensfen::usi::Refusal;
use manaka_selfplay::EvaluatorError;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a match does not start, or stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Options that make no sense.
    #[error("{0}")]
    Option(String),
    /// Constants that no search can be made with, or a game that breaks its promises to one.
    #[error(transparent)]
    Search(#[from] manaka_search::Error),
    /// The opening book cannot be read, or a line of it is no position.
    #[error(transparent)]
    Book(#[from] BookError),
    /// An evaluator cannot be made, or failed.
    #[error("the evaluator: {0}")]
    Evaluator(#[from] EvaluatorError),
    /// A USI engine does not start, failed, or played a move that is not legal. No game is given to its opponent for
    /// that: a match of faults measures nothing.
    #[error(transparent)]
    Engine(#[from] Refusal),
    /// A player of this crate chose a move that it may not play there: an evaluator or a search breaks its promises.
    #[error("{player}: chose {mv}, which is not legal in {position}")]
    Illegal {
        /// Who, as reports name it, and whether it is the first or the second.
        player: String,
        /// The position, as SFEN with its move number.
        position: String,
        /// The move, in USI.
        mv: Move16,
    },
    /// Somebody asked the match to stop.
    #[error("stopped")]
    Cancelled,
    /// A thread of the match died.
    #[error("a worker thread failed")]
    Worker,
}
