//! What a run says about itself: line by line in the journal, as a whole in the report, and while it goes on.

use crate::ending::{Ending, Outcome};
use crate::fault::{Fault, FaultKind};
use crate::usi::Identity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of the journal: a game, by its number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A game whose records were written.
    Game(GameLine),
    /// A game that was dropped whole.
    Dropped {
        /// Its number.
        game: u64,
        /// What the engine did wrong.
        fault: FaultKind,
        /// A sentence about it.
        detail: String,
    },
}

impl Entry {
    /// The number of the game.
    #[must_use]
    pub const fn game(&self) -> u64 {
        match self {
            Self::Game(line) => line.game,
            Self::Dropped { game, .. } => *game,
        }
    }
}

/// A game whose records were written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GameLine {
    /// Its number, from 0. Numbers of dropped games are missing from the data.
    pub game: u64,
    /// The byte of the data at which its records begin.
    pub at: u64,
    /// How many records it has; none when the first score ended it.
    pub records: u64,
    /// Why it ended.
    pub ending: Ending,
    /// Who has won.
    pub outcome: Outcome,
    /// Records that were taken over from the source of a recovery: the first ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: u64,
    /// Records whose move was drawn at random.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub random_moves: u64,
    /// Positions that were played on and not recorded, for want of a score.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unscored: u64,
    /// Positions in which the engine's best move was none of the levelled lines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// Lines left out because a better one had the same move.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates: u64,
    /// The depth of the lines of each record, 0 where the source of a recovery does not say.
    pub depths: Vec<u32>,
    /// XXH3-64 of the bytes of its records, in hexadecimal.
    pub xxh3: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What came of all games up to now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Totals {
    /// Games written.
    pub games: u64,
    /// Games dropped.
    pub dropped: u64,
    /// Records written.
    pub positions: u64,
    /// Games written, by reason of their end.
    pub endings: BTreeMap<Ending, u64>,
    /// Games written, by winner.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Games dropped, by fault.
    pub faults: BTreeMap<FaultKind, u64>,
    /// Games written that have no record: the first score ended them.
    pub empty_games: u64,
    /// Records taken over from the source of a recovery.
    pub kept: u64,
    /// Records whose move was drawn at random.
    pub random_moves: u64,
    /// Positions that were played on and not recorded, for want of a score.
    pub unscored: u64,
    /// Positions in which the engine's best move was none of the levelled lines.
    pub unlisted: u64,
    /// Lines left out because a better one had the same move.
    pub duplicates: u64,
    /// Records by the depth of their lines.
    pub depths: BTreeMap<u32, u64>,
}

impl Default for Totals {
    /// Nothing yet; every ending, outcome and fault is listed, with a count of 0.
    fn default() -> Self {
        Self {
            games: 0,
            dropped: 0,
            positions: 0,
            endings: Ending::ALL.map(|ending| (ending, 0)).into(),
            outcomes: [Outcome::Black, Outcome::White, Outcome::Draw].map(|outcome| (outcome, 0)).into(),
            faults: FaultKind::ALL.map(|fault| (fault, 0)).into(),
            empty_games: 0,
            kept: 0,
            random_moves: 0,
            unscored: 0,
            unlisted: 0,
            duplicates: 0,
            depths: BTreeMap::new(),
        }
    }
}

impl Totals {
    pub(crate) fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Game(line) => {
                self.games += 1;
                self.positions += line.records;
                *self.endings.entry(line.ending).or_default() += 1;
                *self.outcomes.entry(line.outcome).or_default() += 1;
                self.empty_games += u64::from(line.records == 0);
                self.kept += line.kept;
                self.random_moves += line.random_moves;
                self.unscored += line.unscored;
                self.unlisted += line.unlisted;
                self.duplicates += line.duplicates;
                for &depth in &line.depths {
                    *self.depths.entry(depth).or_default() += 1;
                }
            }
            Entry::Dropped { fault, .. } => {
                self.dropped += 1;
                *self.faults.entry(*fault).or_default() += 1;
            }
        }
    }
}

/// A run, as `gensfen.json` has it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// [`Report::FORMAT`].
    pub format: String,
    /// [`Report::VERSION`].
    pub version: u32,
    /// Who wrote it.
    pub writer: String,
    /// Everything that reaches the data: engine, options, limits, rules, seed, layout.
    pub settings: serde_json::Value,
    /// Games asked for; none when the source of a recovery does not say how many it has.
    pub games: Option<u64>,
    /// The number of the next game.
    pub next_game: u64,
    /// Whether all games are there.
    pub complete: bool,
    /// What came of them.
    pub totals: Totals,
    /// Bytes of the data.
    pub data_bytes: u64,
    /// Bytes of the journal.
    pub journal_bytes: u64,
    /// How long the run has taken, all its parts together.
    pub seconds: f64,
    /// Records in a second, on the whole.
    pub positions_per_second: f64,
}

impl Report {
    /// What `format` says.
    pub const FORMAT: &'static str = "manaka-gensfen";
    /// The version of these files.
    pub const VERSION: u32 = 1;
}

/// Hears how a run goes on; called from the thread that called [`run`](crate::run()), games in the order of their
/// numbers.
pub trait Observer {
    /// The engine is there, and the games begin. `totals` holds what a resumed run has already.
    fn begin(&self, _engine: &Identity, _games: Option<u64>, _totals: &Totals) {}
    /// A game was written or dropped.
    fn game(&self, _entry: &Entry, _totals: &Totals) {}
    /// The fault that a game was dropped for, in front of its [`game`](Self::game).
    fn fault(&self, _game: u64, _fault: &Fault) {}
    /// Something to tell: an option left out, bytes cut off.
    fn notice(&self, _text: &str) {}
    /// Whether to stop. Asked several times a second; games that are being played are then forgotten, and played when
    /// the run is resumed.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
impl Observer for () {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_lines_are_read_back_as_they_were_written() {
        let line = GameLine {
            game: 7,
            at: 600,
            records: 2,
            ending: Ending::PerpetualCheck,
            outcome: Outcome::White,
            kept: 0,
            random_moves: 1,
            unscored: 0,
            unlisted: 0,
            duplicates: 0,
            depths: vec![5, 6],
            xxh3: "00ff".to_owned(),
        };
        let entry = Entry::Game(line);
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(
            text,
            r#"{"game":7,"at":600,"records":2,"ending":"perpetual_check","outcome":"white","random_moves":1,"depths":[5,6],"xxh3":"00ff"}"#
        );
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);

        let entry = Entry::Dropped { game: 8, fault: FaultKind::IllegalMove, detail: "x".to_owned() };
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(text, r#"{"game":8,"fault":"illegal_move","detail":"x"}"#);
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }

    #[test]
    fn totals_name_everything_that_could_have_happened() {
        let text = serde_json::to_string(&Totals::default()).unwrap();
        for id in Ending::ALL.map(Ending::id).iter().chain(&FaultKind::ALL.map(FaultKind::id)) {
            assert!(text.contains(&format!("\"{id}\":0")), "{id}");
        }
        assert_eq!(serde_json::from_str::<Totals>(&text).unwrap(), Totals::default());
    }
}
