//! What a run would take, before it is begun.

use crate::error::{Error, Result};
use crate::evaluator::{Evaluators, Identity};
use crate::options::Options;
use manaka_search::Rule;
use serde::Serialize;
use std::fmt;

/// What a run would take, roughly.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The evaluator.
    pub evaluator: Identity,
    /// Games asked for.
    pub games: u64,
    /// Games in play at the same time.
    pub in_play: u64,
    /// Evaluations of all games, if each has [`Estimate::PLIES`] searches.
    pub evaluations: u64,
    /// Bytes of the stream then.
    pub data_bytes: u64,
    /// Bytes of memory for trees, at most, and finished games that wait for others.
    pub memory_bytes: u64,
}

impl Estimate {
    /// Searches of a game that is neither short nor long.
    pub const PLIES: u64 = 120;
    /// Legal moves of a position that has neither few nor many.
    const MOVES: u64 = 80;
    /// Bytes of a move in a tree: seven columns.
    const EDGE: u64 = 30;
}

/// Says what a run would take. Makes one evaluator, and nothing else.
///
/// # Errors
/// [`Error::Option`], [`Error::Search`] and [`Error::Evaluator`], as [`run`](crate::run()).
pub fn estimate(options: &Options, evaluators: &dyn Evaluators) -> Result<Estimate> {
    options.check()?;
    let likes = evaluators.evaluator().map_err(Error::Evaluator)?.batch_hint().max(1);
    let at_once = options.batch.map_or(likes, std::num::NonZeroUsize::get);
    let in_play = (options.threads.get() * at_once) as u64;
    let budget = u64::from(options.search.budget);
    let searches = options.games.saturating_mul(Estimate::PLIES);
    let candidates = match options.search.rule {
        Rule::Puct(_) => Estimate::MOVES.min(budget) / 2,
        Rule::Gumbel(_) => Estimate::MOVES,
    };
    let record = 108 + 8 * candidates;
    let waiting = crate::run::window(in_play) * Estimate::PLIES * record;
    Ok(Estimate {
        evaluator: evaluators.identity(),
        games: options.games,
        in_play,
        evaluations: searches.saturating_mul(1 + budget),
        data_bytes: searches.saturating_mul(record),
        memory_bytes: in_play * (1 + budget) * Estimate::MOVES * Estimate::EDGE + waiting,
    })
}

impl fmt::Display for Estimate {
    #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let Self { evaluator, games, in_play, .. } = self;
        write!(
            f,
            "evaluator {}: {games} games, {in_play} at the same time\n  about {:.1} million evaluations, {:.0} MiB \
             of stream and {:.0} MiB of memory, at {} searches a game",
            evaluator.name,
            self.evaluations as f64 / 1e6,
            mib(self.data_bytes),
            mib(self.memory_bytes),
            Self::PLIES,
        )
    }
}
