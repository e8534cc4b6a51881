//! Runs of games under numbers: what a producer has to do whatever its games are.
//!
//! * [`Kind`] and [`RunDir`]: a directory that holds data, a journal and a report, is claimed by one run at a time and can
//!   be gone on with after a kill; [`Lines`] reads its journal.
//! * [`difference`]: whether a run is gone on with under the settings that it was begun with.
//! * [`on_threads`], [`Numbers`] and [`InOrder`]: threads play, and one takes what they bring in the order of its numbers.
//! * [`Error`]: the ends that every run can come to.
//!
//! What a game is, what stands in a line of the journal and how a game on disk is proved is the producer's.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod dir;
mod error;
mod figures;
mod lines;
mod numbers;
mod order;
mod settings;

pub use dir::{Found, Kind, RunDir};
pub use error::{Error, Result};
pub use figures::{Stopwatch, hash, rate, rounded};
pub use lines::Lines;
pub use numbers::{Next, Numbers};
pub use order::{Brought, InOrder, Turn, on_threads};
pub use settings::{Difference, difference};
