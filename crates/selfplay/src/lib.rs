//! Searches play shogi against themselves, and what they found is written as visit records (selfplay.md).
//!
//! [`run()`] plays games on threads and fills a directory:
//!
//! * `games.mpk`: the records, an MPK1 stream of visits; whole games one after the other in the order of their numbers.
//! * `games.jsonl`: the journal, one [`GameLine`] for each game.
//! * `selfplay.json`: what was played how, and what came of it: a [`Report`].
//!
//! The parts are there for others to use: [`Shogi`] is a game with every rule that ends it, which a
//! [`manaka_search::Search`] can search; an [`Evaluator`] judges the positions that a search asks about:
//! [`Kp256`], whose net is in the binary, or [`Uniform`], which knows nothing.
//!
//! # What is promised
//!
//! * A game depends on the seed, its number, the options and the evaluator, and on nothing else. The same seed gives
//!   the same stream for any number of threads and any size of batches.
//! * Games are written whole. After a kill at any moment [`Options::resume`] goes on behind the last whole game that is
//!   on disk, and the stream comes out as if nothing had happened.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use manaka_search::{Gumbel, Options as Search};
//! use manaka_selfplay::{Options, Uniform, run};
//!
//! let out = tempfile::tempdir()?;
//! let mut options = Options::new(Search::new(4, Gumbel::default()), 2);
//! options.max_ply = 12;
//! let report = run(&options, &Uniform::default(), out.path(), &())?;
//! assert_eq!((report.totals.games, report.totals.positions), (2, 24));
//! # Ok(())
//! # }
//! ```
// What comes out is training data.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod ending;
mod error;
mod estimate;
mod evaluator;
mod game;
mod kp;
mod options;
mod playing;
mod report;
mod run;

pub use ending::{End, Ending, Winner};
pub use error::{Error, EvaluatorError, Result};
pub use estimate::{Estimate, estimate};
pub use evaluator::{Evaluator, Evaluators, Identity, Replies, Reply, ReplyMut, Request, Uniform};
pub use game::Shogi;
pub use kp::Kp256;
pub use manaka_runs::Error as RunError;
pub use options::{Openings, Options, Resign};
pub use report::{GameLine, Live, Observer, Report, Totals};
pub use run::{DATA, JOURNAL, REPORT, run};
