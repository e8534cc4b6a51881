//! PUCT and Gumbel tree search over any game, without I/O, threads or a clock (search.md).
//!
//! * [`Game`]: the position that is searched; one, with moves played and taken back.
//! * [`Search`]: the tree. [`step`](Search::step) goes on until a position needs an evaluation or the budget is spent,
//!   [`apply`](Search::apply) hands the evaluation in. A caller with many searches evaluates their leaves in one batch.
//! * [`Options`]: the budget and the rule, [`Puct`] or [`Gumbel`], with every constant.
//! * [`Outcome`]: what a search came to: root value, visits, improved policy, the move, and what a record is to hold.
//! * [`Random`]: the draws of one search, a function of seed, game and ply.
//!
//! ```
//! use manaka_search::{Game, Options, Puct, Random, Search, Status, Step};
//!
//! /// Two players take one to three matches from a heap; whoever takes the last one wins.
//! struct Heap(u32, Vec<u32>);
//!
//! impl Game for Heap {
//!     type Move = u32;
//!     fn status(&mut self, moves: &mut Vec<u32>) -> Status {
//!         moves.extend(1..=self.0.min(3));
//!         if self.0 == 0 { Status::Over(-1.0) } else { Status::Open }
//!     }
//!     fn play(&mut self, taken: u32) {
//!         self.0 -= taken;
//!         self.1.push(taken);
//!     }
//!     fn undo(&mut self) {
//!         self.0 += self.1.pop().unwrap_or(0);
//!     }
//! }
//!
//! let mut search = Search::new(Options::new(400, Puct::default()))?;
//! let mut heap = Heap(7, Vec::new());
//! search.begin(Random::new(1, 0, 0), 0);
//! let outcome = loop {
//!     match search.step(&mut heap)? {
//!         // A net would look at the heap here.
//!         Step::Evaluate(moves) => {
//!             let logits = vec![0.0; moves.len()];
//!             search.apply(&logits, 0.0)?;
//!         }
//!         Step::Done(outcome) => break outcome,
//!     }
//! };
//! let most = outcome.moves.iter().max_by_key(|mv| mv.visits).map(|mv| mv.mv);
//! assert_eq!(most, Some(3), "four matches are lost for whoever is to move");
//! assert_eq!(outcome.moves.iter().map(|mv| mv.visits).sum::<u32>(), 400);
//! # Ok::<(), manaka_search::Error>(())
//! ```
//!
//! Nothing is allocated once the buffers of a [`Search`] have grown to what its game needs; keep one per game that is
//! being played and begin it anew for every move.
// What a search writes is training data: a panic or a number cut short here would be wrong data.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod completed;
mod error;
mod game;
mod gumbel;
mod halving;
mod options;
mod outcome;
mod puct;
mod quantum;
mod random;
mod search;
#[cfg(test)]
mod selection_tests;
mod tree;

pub use error::{Error, Result};
pub use game::{Game, Status};
pub use halving::considered_visits;
pub use options::{Gumbel, MateTest, Options, Puct, PuctQ, QScale, Rule, Schedule, Unvisited};
pub use outcome::{Outcome, RootMove};
pub use quantum::{QUANTA, quanta};
pub use random::Random;
pub use search::{Search, Step};
