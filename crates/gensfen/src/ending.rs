//! How a game ends.

use manaka_core::Color;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a game that was written ended. Games that an engine's fault ends are dropped: see
/// [`FaultKind`](crate::FaultKind).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The side to move has no legal move and has lost.
    Mate,
    /// Its scores were too bad for too long, or its engine said so.
    Resignation,
    /// A position stood on the board for the fourth time: a draw.
    Repetition,
    /// So it did, and one side had done nothing but give check: it has lost.
    PerpetualCheck,
    /// The side to move has won by declaration.
    Declaration,
    /// The move number went beyond the limit: a draw, by want of time alone.
    MaxPly,
    /// The score went beyond its limit: won by the side ahead, though nobody played it out.
    EvalLimit,
    /// A recovered game that had a result, of a source that does not say why.
    Given,
}

impl Ending {
    /// Every reason, in the order in which they are reported.
    pub const ALL: [Self; 8] = [
        Self::Mate,
        Self::Resignation,
        Self::Repetition,
        Self::PerpetualCheck,
        Self::Declaration,
        Self::MaxPly,
        Self::EvalLimit,
        Self::Given,
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
            Self::EvalLimit => "eval_limit",
            Self::Given => "given",
        }
    }

    /// Whether the game was cut off by a limit of the run, so that its result is none of the game's own.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::MaxPly | Self::EvalLimit)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Who has won.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Black has.
    Black,
    /// White has.
    White,
    /// Nobody has.
    Draw,
}

impl Outcome {
    /// Won by this side.
    #[must_use]
    pub const fn won_by(side: Color) -> Self {
        match side {
            Color::Black => Self::Black,
            Color::White => Self::White,
        }
    }

    /// The result as this side sees it: 1, 0 or −1.
    #[must_use]
    pub fn result_for(self, side: Color) -> i8 {
        match self {
            Self::Draw => 0,
            won if won == Self::won_by(side) => 1,
            _ => -1,
        }
    }
}
