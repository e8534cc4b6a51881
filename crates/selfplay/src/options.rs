//! What a run of self-play is to do.

use crate::error::{Error, Result};
use crate::game::Shogi;
use manaka_search as search;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// What a run of self-play is to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The search of each move.
    pub search: search::Options,
    /// How games begin.
    pub openings: Openings,
    /// How games are given up.
    pub resign: Resign,
    /// The last move number of which a position is searched. Counted on the board, whatever the game began with.
    pub max_ply: u16,
    /// Games to play.
    pub games: u64,
    /// Where all randomness comes from, together with the number of a game. Two runs with one seed play the same games.
    pub seed: u64,
    /// Threads that play, each with an evaluator of its own. Nothing of it reaches the data.
    pub threads: NonZeroUsize,
    /// Games that each thread plays at the same time, which is the size of its batches; what the evaluator likes unless
    /// given. Nothing of it reaches the data.
    pub batch: Option<NonZeroUsize>,
    /// How long finished games may wait for being brought to disk.
    pub sync: Duration,
    /// Goes on with what is in the directory. Without it the directory must hold no run.
    pub resume: bool,
}

impl Options {
    /// Simulations of a PUCT search: AlphaZero's.
    pub const DEFAULT_PLAYOUTS: u32 = 800;
    /// Simulations of a Gumbel search: enough for four rounds of halving 16 moves.
    pub const DEFAULT_SIMULATIONS: u32 = 64;
    /// The seed unless told otherwise: a constant, for a clock could not be run again. Every machine that adds to one
    /// set of data needs another.
    pub const DEFAULT_SEED: u64 = 1;
    /// Little to play again after a power cut.
    pub const DEFAULT_SYNC: Duration = Duration::from_secs(2);

    /// The defaults: one thread, games from the starting position.
    #[must_use]
    pub fn new(search: search::Options, games: u64) -> Self {
        Self {
            search,
            openings: Openings::default(),
            resign: Resign::default(),
            max_ply: Shogi::DEFAULT_MAX_PLY,
            games,
            seed: Self::DEFAULT_SEED,
            threads: NonZeroUsize::MIN,
            batch: None,
            sync: Self::DEFAULT_SYNC,
            resume: false,
        }
    }

    /// # Errors
    /// [`Error::Option`] or [`Error::Search`] for the first thing that makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |what: String| Err(Error::Option(what));
        let Resign { value, play_on, .. } = self.resign;
        if !(0.0..=1.0).contains(&value) {
            return refuse(format!("resign value {value}: state how lost, as a number between 0 and 1"));
        }
        if !(0.0..=1.0).contains(&play_on) {
            return refuse(format!("a share of {play_on} of the games is none between 0 and 1"));
        }
        if self.max_ply == 0 || self.max_ply > Shogi::MOST_PLIES {
            return refuse(format!("max_ply {} is not in 1 to {}", self.max_ply, Shogi::MOST_PLIES));
        }
        search::Search::<manaka_core::Move16>::new(self.search)?;
        Ok(())
    }
}

/// How games begin. The moves of an opening are not recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Openings {
    /// A file of positions ([`manaka_corpus::book`]), each used as often as every other; the starting position without
    /// one.
    pub book: Option<PathBuf>,
    /// Plies that are drawn from the evaluator's policy behind it, without a search.
    pub policy_plies: u32,
}

/// How games are given up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Resign {
    /// How lost a search has to find its side, as a positive number: 0.95 is a root value of −0.95 and below.
    pub value: f64,
    /// Searches of one side in a row that find it so, after which it resigns; 0 never.
    pub count: u32,
    /// The share of games in which nobody resigns, so that it is known how often resigning would have been wrong.
    pub play_on: f64,
}

impl Resign {
    /// A loss in all but name.
    pub const DEFAULT_VALUE: f64 = 0.95;
    /// One search may be wrong.
    pub const DEFAULT_COUNT: u32 = 4;
    /// AlphaZero's.
    pub const DEFAULT_PLAY_ON: f64 = 0.1;
}

impl Default for Resign {
    fn default() -> Self {
        Self { value: Self::DEFAULT_VALUE, count: Self::DEFAULT_COUNT, play_on: Self::DEFAULT_PLAY_ON }
    }
}
