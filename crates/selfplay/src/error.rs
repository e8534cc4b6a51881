//! Why a run does not start, or stops.

use manaka_core::stream;
use manaka_corpus::book::BookError;
use manaka_runs::Error as RunError;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an evaluator cannot be made, or does not answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EvaluatorError(pub Box<dyn std::error::Error + Send + Sync>);

impl EvaluatorError {
    /// A sentence about it, or the error behind it.
    pub fn new(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }
}

/// Why a run does not start, or stops. Games that were written before it stay.
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
    /// The evaluator cannot be made.
    #[error("the evaluator: {0}")]
    Evaluator(#[source] EvaluatorError),
    /// The evaluator failed, or gave what is no evaluation, in the middle of a game.
    #[error("game {game}: the evaluator: {reason}")]
    Evaluation {
        /// The game.
        game: u64,
        /// What is wrong.
        reason: String,
    },
    /// The stream cannot be written.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// What can end any run: its directory, a file, a thread.
    #[error(transparent)]
    Run(#[from] RunError),
}
