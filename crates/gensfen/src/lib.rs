//! USI engines play themselves, and what they thought is written as raw PSV records (psv.md).
//!
//! [`run`] drives engine processes and fills a directory:
//!
//! * `games.psv`: the records, whole games one after the other in the order of their numbers.
//! * `games.jsonl`: the journal, one [`Entry`] for each game, a dropped one included.
//! * `gensfen.json`: what was played how, and what came of it: a [`Report`].
//! * `faults.log`: each fault with the last lines of the engine.
//!
//! # What a record says
//!
//! A record is a position that was searched, a score, and the move that was played from there. Its candidates are the
//! lines of one depth ([`usi::Lines`]): the deepest at which the search finished all of them. The root score is that of
//! the first. Depths stand in the journal, one for each record. Mates are folded to ±(scale − distance), other scores
//! stop short of them ([`usi::MateScale`]).
//!
//! A move that was drawn at random from all legal ones is marked: the last of the 40 bytes is [`RANDOM_MOVE_PAD`], and
//! 0 in every other record. It may or may not be among the candidates. The result of such a game says little about the
//! positions in front of the move.
//!
//! A game begins with its first searched position: neither the moves of the book nor random opening moves are recorded,
//! or count for repetition, and the engine is told the position they lead to. Where the game is cut off by a limit, the
//! records up to there are whole and the journal says so ([`Ending::is_cut`]): a game that reaches `max_ply` is a draw,
//! one whose score leaves `eval_limit` is won by the side ahead, and the position that left it is not recorded.
//! Resignation ends a game behind the move of the last bad score, so that every record has a move that was played.
//!
//! # What is promised
//!
//! * All randomness comes from the seed and the number of the game. With an engine that searches by nodes or depth and
//!   on one thread, the bytes do not depend on the workers or on time: each game has a fresh engine, unless
//!   [`EngineLife::Run`] says otherwise.
//! * Games are appended whole. After a kill at any moment [`Options::resume`] goes on behind the last whole game.
//! * A fault of the engine drops its game, is counted by kind and logged, and the engine is started again. The number of
//!   a dropped game is not played again: it would fail again.
//! * Engines are killed and reaped when the run ends, however it ends; if the run itself is killed, they find their
//!   input closed.
//!
//! ```no_run
//! # fn main() -> manaka_gensfen::Result<()> {
//! use manaka_gensfen::{Options, run};
//!
//! let command = "fairy-stockfish".parse().map_err(manaka_gensfen::Error::Option)?;
//! let options = Options::new(command, 100);
//! let report = run(&options, "data".as_ref(), &())?;
//! assert_eq!(report.totals.games + report.totals.dropped, 100);
//! # Ok(())
//! # }
//! ```
// What comes out is training data, and what comes in is whatever an engine prints.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod ending;
mod error;
mod fault;
mod game;
mod options;
mod report;
mod run;
pub mod usi;

pub use ending::{Ending, Outcome};
pub use error::{Error, Result};
pub use fault::{Fault, FaultKind, Halt};
pub use manaka_runs::Error as RunError;
pub use options::{
    EngineCommand, EngineLife, EngineOptions, Limit, Openings, Options, PlayOptions, Timeouts, UnknownOption,
};
pub use report::{Entry, GameLine, Observer, Report, Totals};
pub use run::{DATA, FAULTS, JOURNAL, REPORT, run};
pub use usi::Setting;

/// The last byte of the 40 when the move of the record was drawn at random from all legal ones.
pub const RANDOM_MOVE_PAD: u8 = 1;
