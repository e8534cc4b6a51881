//! What came of a match.

use crate::game::Played;
use crate::options::Sprt;
use crate::score::Score;
use manaka_selfplay::Ending;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a sequential test says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The hypothesis of the lower Elo is taken.
    Elo0,
    /// The hypothesis of the higher Elo is taken.
    Elo1,
    /// There were not enough games.
    Undecided,
}

/// A sequential test and where it stands.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Standing {
    /// The lower hypothesis.
    pub elo0: f64,
    /// The higher one.
    pub elo1: f64,
    /// The logarithm of the likelihood ratio.
    pub llr: f64,
    /// At or below the first the lower hypothesis is taken, at or above the second the higher one.
    pub bounds: [f64; 2],
    /// What that says.
    pub verdict: Verdict,
}

impl Standing {
    pub(crate) fn of(sprt: &Sprt, score: &Score) -> Self {
        let (llr, bounds) = (score.llr(sprt), sprt.bounds());
        let verdict = if llr <= bounds[0] {
            Verdict::Elo0
        } else if llr >= bounds[1] {
            Verdict::Elo1
        } else {
            Verdict::Undecided
        };
        Self { elo0: sprt.elo0, elo1: sprt.elo1, llr, bounds, verdict }
    }
}

/// What came of a match, as the first player sees it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Both players.
    pub players: [String; 2],
    /// Results.
    pub score: Score,
    /// The share of all points.
    pub share: Option<f64>,
    /// The Elo difference of that share; null where one side has taken every point.
    pub elo: Option<f64>,
    /// Its 95 % interval by the variance between pairs; an end that is beyond every number is null.
    pub interval: Option<[Option<f64>; 2]>,
    /// The two-sided sign test over decisive games.
    pub sign_test: f64,
    /// Games by why they ended.
    pub endings: BTreeMap<Ending, u64>,
    /// The share of decisive games that whoever moved first has won.
    pub first_mover_win_share: Option<f64>,
    /// Mean length of games in plies, from the opening on.
    pub mean_plies: Option<f64>,
    /// The test, if there is one.
    pub sprt: Option<Standing>,
}

/// Pairs counted up to now.
#[derive(Default)]
pub(crate) struct Tally {
    pub score: Score,
    endings: BTreeMap<Ending, u64>,
    first_mover_wins: u64,
    plies: u64,
}

impl Tally {
    pub fn add(&mut self, pair: &[Played; 2]) {
        self.score.add([pair[0].points, pair[1].points]);
        for game in pair {
            *self.endings.entry(game.ending).or_default() += 1;
            self.plies += game.moves.len() as u64;
            let mover_won = if game.first_moves_first { game.points > 0 } else { game.points < 0 };
            self.first_mover_wins += u64::from(mover_won);
        }
    }

    pub fn report(self, players: [String; 2], sprt: Option<&Sprt>) -> Report {
        let score = self.score;
        #[expect(clippy::cast_precision_loss, reason = "counts of games")]
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let number = |elo: f64| elo.is_finite().then_some(elo);
        Report {
            players,
            score,
            share: score.share(),
            elo: score.elo().and_then(number),
            interval: score.interval().map(|ends| ends.map(number)),
            sign_test: score.sign_test(),
            first_mover_win_share: share(self.first_mover_wins, score.wins + score.losses),
            mean_plies: share(self.plies, score.games()),
            endings: self.endings,
            sprt: sprt.map(|sprt| Standing::of(sprt, &score)),
        }
    }
}

/// Hears how a match goes on. Pairs come in the order of their numbers.
pub trait Observer: Sync {
    /// A pair was counted.
    fn pair(&self, _games: &[Played; 2], _score: &Score, _sprt: Option<&Standing>) {}

    /// Asked between games: whether to stop. What was counted until then is reported.
    fn is_stopping(&self) -> bool {
        false
    }
}

impl Observer for () {}
