//! What a run says about itself: line by line in the journal, as a whole in the report, and while it goes on.

use crate::ending::{Ending, Winner};
use crate::evaluator::Identity;
use crate::playing::Finished;
use manaka_runs::hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of the journal: a game, by its number (selfplay.md §5.2).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GameLine {
    /// Its number, from 0.
    pub game: u64,
    /// How many records it has; none when the game was over where it began.
    pub records: u64,
    /// Moves played, those of the opening included.
    pub plies: u32,
    /// Why it ended.
    pub ending: Ending,
    /// Who has won.
    pub winner: Winner,
    /// The side that moved first.
    pub first: Winner,
    /// Whether nobody was to resign, so that it is known what would have come of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plays_on: bool,
    /// Who would have resigned in such a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Winner>,
    /// Positions that the evaluator was asked about.
    pub evaluations: u64,
    /// Bytes of its records.
    pub bytes: u64,
    /// XXH3-64 of these, in hexadecimal.
    pub xxh3: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl GameLine {
    pub(crate) fn new(game: &Finished, bytes: &[u8]) -> Self {
        Self {
            game: game.number,
            records: game.records.len() as u64,
            plies: game.plies,
            ending: game.end.ending,
            winner: game.end.winner.into(),
            first: Some(game.first).into(),
            plays_on: game.plays_on,
            given_up: game.given_up.map(|side| Some(side).into()),
            evaluations: game.evaluations,
            bytes: bytes.len() as u64,
            xxh3: hash(bytes),
        }
    }
}

/// What came of all games up to now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Totals {
    /// Games written.
    pub games: u64,
    /// Records written: positions that were searched.
    pub positions: u64,
    /// Moves played, those of openings included.
    pub plies: u64,
    /// Positions that the evaluator was asked about.
    pub evaluations: u64,
    /// Games by the reason of their end.
    pub endings: BTreeMap<Ending, u64>,
    /// Games by winner.
    pub winners: BTreeMap<Winner, u64>,
    /// Games that the side that moved first has won.
    pub first_mover_won: u64,
    /// Games that it has lost.
    pub first_mover_lost: u64,
    /// Games that have no record: they were over where they began.
    pub empty_games: u64,
    /// Games in which nobody was to resign.
    pub played_on: u64,
    /// Of these: games in which a side would have resigned.
    pub given_up: u64,
    /// Of these: games that this side won all the same.
    pub given_up_won: u64,
    /// Games that it drew all the same.
    pub given_up_drawn: u64,
}

impl Default for Totals {
    /// Nothing yet; every ending and winner is listed, with a count of 0.
    fn default() -> Self {
        Self {
            games: 0,
            positions: 0,
            plies: 0,
            evaluations: 0,
            endings: Ending::ALL.map(|ending| (ending, 0)).into(),
            winners: Winner::ALL.map(|winner| (winner, 0)).into(),
            first_mover_won: 0,
            first_mover_lost: 0,
            empty_games: 0,
            played_on: 0,
            given_up: 0,
            given_up_won: 0,
            given_up_drawn: 0,
        }
    }
}

impl Totals {
    pub(crate) fn add(&mut self, line: &GameLine) {
        self.games += 1;
        self.positions += line.records;
        self.plies += u64::from(line.plies);
        self.evaluations += line.evaluations;
        *self.endings.entry(line.ending).or_default() += 1;
        *self.winners.entry(line.winner).or_default() += 1;
        let drawn = line.winner == Winner::Draw;
        self.first_mover_won += u64::from(line.winner == line.first);
        self.first_mover_lost += u64::from(!drawn && line.winner != line.first);
        self.empty_games += u64::from(line.records == 0);
        self.played_on += u64::from(line.plays_on);
        if let Some(side) = line.given_up {
            self.given_up += 1;
            self.given_up_won += u64::from(line.winner == side);
            self.given_up_drawn += u64::from(drawn);
        }
    }

    /// Moves of a game in the mean; none without games.
    #[must_use]
    pub fn mean_plies(&self) -> Option<f64> {
        share(self.plies, self.games)
    }

    /// Of the games with a winner, the share that the side that moved first has won; none without such games.
    #[must_use]
    pub fn first_mover_win_share(&self) -> Option<f64> {
        share(self.first_mover_won, self.first_mover_won + self.first_mover_lost)
    }

    /// Of the games in which a side would have resigned and nobody was to, the share that it did not lose; none without
    /// such games.
    #[must_use]
    pub fn false_resign_rate(&self) -> Option<f64> {
        share(self.given_up_won + self.given_up_drawn, self.given_up)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for reading")]
fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// A run, as `selfplay.json` has it (selfplay.md §5.3).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// [`Report::FORMAT`].
    pub format: String,
    /// [`Report::VERSION`].
    pub version: u32,
    /// Who wrote it.
    pub writer: String,
    /// Everything that reaches the data: evaluator, search, openings, rules, seed.
    pub settings: serde_json::Value,
    /// Games asked for.
    pub games: u64,
    /// Whether all of them are there.
    pub complete: bool,
    /// What came of them.
    pub totals: Totals,
    /// [`Totals::mean_plies`].
    pub mean_plies: Option<f64>,
    /// [`Totals::first_mover_win_share`].
    pub first_mover_win_share: Option<f64>,
    /// [`Totals::false_resign_rate`].
    pub false_resign_rate: Option<f64>,
    /// Bytes of the stream, its header included.
    pub data_bytes: u64,
    /// How long the run has taken, all its parts together.
    pub seconds: f64,
    /// Records in a second, on the whole.
    pub positions_per_second: f64,
    /// Evaluations in a second, on the whole.
    pub evaluations_per_second: f64,
}

impl Report {
    /// What `format` says.
    pub const FORMAT: &'static str = "manaka-selfplay";
    /// The version of these files.
    pub const VERSION: u32 = 1;
}

/// What was done since the run began or was resumed, games that are still played included.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Live {
    /// Positions searched.
    pub positions: u64,
    /// Positions evaluated, up to the last move of each game.
    pub evaluations: u64,
}

/// Hears how a run goes on; called from the thread that called [`run`](crate::run()), games in the order of their
/// numbers.
pub trait Observer {
    /// The games begin. `totals` holds what a resumed run has already.
    fn begin(&self, _evaluator: &Identity, _games: u64, _totals: &Totals) {}
    /// A game was written.
    fn game(&self, _line: &GameLine, _totals: &Totals) {}
    /// Some time has passed: a tenth of a second, or less.
    fn tick(&self, _live: Live, _totals: &Totals) {}
    /// Something to tell: bytes cut off, a file system without locks.
    fn notice(&self, _text: &str) {}
    /// Whether to stop: no game is begun any more, those that are played are played to their end and written. Asked
    /// several times a second.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
impl Observer for () {}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(winner: Winner, first: Winner, given_up: Option<Winner>) -> GameLine {
        GameLine {
            game: 0,
            records: 10,
            plies: 12,
            ending: if winner == Winner::Draw { Ending::Repetition } else { Ending::Mate },
            winner,
            first,
            plays_on: given_up.is_some(),
            given_up,
            evaluations: 100,
            bytes: 0,
            xxh3: String::new(),
        }
    }

    #[test]
    fn totals_count_games_from_the_first_movers_and_from_the_side_that_gave_up() {
        let mut totals = Totals::default();
        assert_eq!(
            (totals.mean_plies(), totals.first_mover_win_share(), totals.false_resign_rate()),
            (None, None, None)
        );
        let (black, white, draw) = (Winner::Black, Winner::White, Winner::Draw);
        for line in [
            line(black, black, None),
            line(black, white, Some(white)),
            line(white, white, Some(white)),
            line(draw, black, Some(black)),
            line(white, white, Some(black)),
        ] {
            totals.add(&line);
        }
        assert_eq!((totals.games, totals.positions, totals.plies, totals.evaluations), (5, 50, 60, 500));
        assert_eq!((totals.first_mover_won, totals.first_mover_lost), (3, 1));
        assert_eq!((totals.played_on, totals.given_up), (4, 4));
        assert_eq!((totals.given_up_won, totals.given_up_drawn), (1, 1));
        assert_eq!(totals.mean_plies(), Some(12.0));
        assert_eq!(totals.first_mover_win_share(), Some(0.75));
        assert_eq!(totals.false_resign_rate(), Some(0.5));
        assert_eq!(totals.endings[&Ending::Repetition], 1);
    }
}
