//! Which of two players is the stronger one.
//!
//! [`run()`] plays games in pairs: both games of a pair begin from the same opening, and each player has the first move
//! once. What comes out is a [`Report`]: wins, draws and losses, Elo with its error bars, the verdict of a sequential
//! test, how games ended and whether the first mover was better off.
//!
//! A [`Contestant`] is a net with a search, the policy of a net alone, moves drawn at random, or a USI engine.
//!
//! # What is promised
//!
//! * Openings come from the seed and the number of a pair. Players of nets search without noise, so a match of them is
//!   the same on any number of threads; a sequential test looks at pairs in the order of their numbers, and pairs behind
//!   the one that decides it do not count.
//! * A pair is counted whole or not at all.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use manaka_duel::{Contestant, Options, run};
//! use manaka_search::{Options as Search, Puct};
//! use manaka_selfplay::Uniform;
//! use std::sync::Arc;
//!
//! let options = Options { max_ply: 40, ..Options::new(2) };
//! let searches = Contestant::search(Arc::new(Uniform::default()), Search::new(20, Puct::default()));
//! let report = run(&options, [&searches, &Contestant::Random], &())?;
//! assert_eq!(report.score.games(), 4);
//! # Ok(())
//! # }
//! ```
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod contestant;
mod error;
mod game;
mod options;
mod player;
mod report;
mod run;
pub mod score;

pub use contestant::Contestant;
pub use error::{Error, Result};
pub use game::Played;
pub use options::{Options, Sprt};
pub use report::{Observer, Report, Standing, Verdict};
pub use run::run;
pub use score::Score;
