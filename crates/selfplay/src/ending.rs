//! How a game ends.

use manaka_core::Color;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a game ended (selfplay.md §2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The side to move has no legal move and has lost.
    Mate,
    /// Its searches gave it up for too long.
    Resignation,
    /// A position stood on the board for the fourth time: a draw.
    Repetition,
    /// So it did, and one side had done nothing but give check: it has lost.
    PerpetualCheck,
    /// The side to move has won by declaration.
    Declaration,
    /// The move number went beyond the limit: a draw, by want of time alone.
    MaxPly,
}

impl Ending {
    /// Every reason, in the order in which they are reported.
    pub const ALL: [Self; 6] = [
        Self::Mate,
        Self::Resignation,
        Self::Repetition,
        Self::PerpetualCheck,
        Self::Declaration,
        Self::MaxPly,
    ];

    /// The stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Mate => "mate",
            Self::Resignation => "resignation",
            Self::Repetition => "repetition",
            Self::PerpetualCheck => "perpetual_check",
            Self::Declaration => "declaration",
            Self::MaxPly => "max_ply",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The end of a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// Why it ended.
    pub ending: Ending,
    /// Who has won; nobody in a draw.
    pub winner: Option<Color>,
}

impl End {
    pub(crate) const fn won(ending: Ending, winner: Color) -> Self {
        Self { ending, winner: Some(winner) }
    }

    pub(crate) const fn drawn(ending: Ending) -> Self {
        Self { ending, winner: None }
    }

    /// The result as this side sees it: 1 won, 0 drawn, −1 lost.
    #[must_use]
    pub fn value_for(&self, side: Color) -> f32 {
        match self.winner {
            None => 0.0,
            Some(winner) if winner == side => 1.0,
            Some(_) => -1.0,
        }
    }
}

/// Who has won a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// Black has.
    Black,
    /// White has.
    White,
    /// Nobody has.
    Draw,
}

impl Winner {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Black, Self::White, Self::Draw];
}

impl From<Option<Color>> for Winner {
    fn from(winner: Option<Color>) -> Self {
        match winner {
            Some(Color::Black) => Self::Black,
            Some(Color::White) => Self::White,
            None => Self::Draw,
        }
    }
}
