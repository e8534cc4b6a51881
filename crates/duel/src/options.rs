//! What a match is.

use crate::error::{Error, Result};
use manaka_selfplay::Shogi;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// What a match is.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Pairs of games, if no test ends the match earlier.
    pub pairs: u64,
    /// A file of positions that games begin from, each as often as every other; the starting position without one.
    pub book: Option<PathBuf>,
    /// Plies behind it that are drawn from all legal moves, the same for both games of a pair.
    pub random_plies: u32,
    /// The last move number that is played from. A game that comes to its end there is a draw.
    pub max_ply: u16,
    /// Where openings come from.
    pub seed: u64,
    /// Games that are played at the same time. Nothing of it reaches the result.
    pub threads: NonZeroUsize,
    /// Ends the match as soon as it is decided.
    pub sprt: Option<Sprt>,
}

impl Options {
    /// Enough that hardly two pairs begin alike.
    pub const DEFAULT_RANDOM_PLIES: u32 = 8;
    /// The seed unless told otherwise.
    pub const DEFAULT_SEED: u64 = 1;

    /// The defaults: one thread, no test.
    #[must_use]
    pub fn new(pairs: u64) -> Self {
        Self {
            pairs,
            book: None,
            random_plies: Self::DEFAULT_RANDOM_PLIES,
            max_ply: Shogi::DEFAULT_MAX_PLY,
            seed: Self::DEFAULT_SEED,
            threads: NonZeroUsize::MIN,
            sprt: None,
        }
    }

    /// # Errors
    /// [`Error::Option`] for the first thing that makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |what: String| Err(Error::Option(what));
        if self.max_ply == 0 || self.max_ply > Shogi::MOST_PLIES {
            return refuse(format!("max_ply {} is not in 1 to {}", self.max_ply, Shogi::MOST_PLIES));
        }
        if let Some(Sprt { elo0, elo1, alpha, beta }) = self.sprt {
            // Comparisons that a NaN fails, too.
            let apart = elo0 < elo1 && elo0.abs() <= Sprt::MOST_ELO && elo1.abs() <= Sprt::MOST_ELO;
            if !apart {
                return refuse(format!(
                    "a test of {elo0} against {elo1} Elo: state the lower one first, within ±{}",
                    Sprt::MOST_ELO
                ));
            }
            for (name, rate) in [("alpha", alpha), ("beta", beta)] {
                if !(rate > 0.0 && rate < 0.5) {
                    return refuse(format!("{name} {rate} is not between 0 and 0.5"));
                }
            }
        }
        Ok(())
    }
}

/// A sequential probability ratio test of two hypotheses about the first player's Elo.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sprt {
    /// The hypothesis that it is no better than this.
    pub elo0: f64,
    /// The hypothesis that it is this much better.
    pub elo1: f64,
    /// How often the test may say `elo1` where `elo0` is true.
    pub alpha: f64,
    /// How often it may say `elo0` where `elo1` is true.
    pub beta: f64,
}

impl Sprt {
    /// The usual rate of errors of both kinds.
    pub const DEFAULT_RATE: f64 = 0.05;
    /// Beyond this a score is one or zero to all digits.
    pub const MOST_ELO: f64 = 2000.0;
}
