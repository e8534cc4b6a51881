//! Why a run does not start, or stops.

use crate::fault::Fault;
use manaka_corpus::book::BookError;
use manaka_corpus::psv;
use manaka_runs::Error as RunError;

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run does not start, or stops. Games that were finished before it are written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Options that make no sense.
    #[error("{0}")]
    Option(String),
    /// The opening book cannot be read, or a line of it is no position.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The engine cannot do what it is asked for.
    #[error("{engine}: {reason}")]
    Unsuitable {
        /// The engine, by its name if it said one.
        engine: String,
        /// What it cannot do, and what may help.
        reason: String,
    },
    /// The engine could not be started, in front of the first game.
    #[error("the engine does not start: {}", .0.log())]
    Start(Box<Fault>),
    /// The engine failed again and again, or in every game there was.
    #[error("the engine does not work: {faults} games in a row ended in a fault, the last one so: {}", last.log())]
    NeverWorks {
        /// How often.
        faults: u64,
        /// The last fault.
        last: Box<Fault>,
    },
    /// Records to recover from cannot be read.
    #[error(transparent)]
    Source(#[from] psv::Error),
    /// A record cannot be written; no game makes one.
    #[error("game {game}: {error}")]
    Record {
        /// The game.
        game: u64,
        /// Why.
        error: psv::EncodeError,
    },
    /// What can end any run: its directory, a file, a thread.
    #[error(transparent)]
    Run(#[from] RunError),
}
