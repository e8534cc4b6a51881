//! What an engine can do wrong in a game.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What went wrong. The whole game is dropped, whatever it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The engine could not be started, or did not get through the handshake.
    Start,
    /// It did not answer in time.
    Timeout,
    /// It ended, or closed its output.
    Crash,
    /// Its best move, or the first move of a line of play, is not legal on the board: it searched another position,
    /// or plays by other rules.
    IllegalMove,
    /// It said that it did not take a position or one of its moves, all of which are legal.
    Rejected,
    /// What it said is no answer: a best move that cannot be read, one that nobody asked for, a line without an end.
    Garbage,
    /// `bestmove none` or a null move where there is a legal one.
    NoMove,
    /// `bestmove win` where the 27-point rule gives no win.
    FalseWin,
    /// It played a whole game without a single score.
    NoScore,
}

impl FaultKind {
    /// Every kind, in the order in which they are reported.
    pub const ALL: [Self; 9] = [
        Self::Start,
        Self::Timeout,
        Self::Crash,
        Self::IllegalMove,
        Self::Rejected,
        Self::Garbage,
        Self::NoMove,
        Self::FalseWin,
        Self::NoScore,
    ];

    /// The stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::IllegalMove => "illegal_move",
            Self::Rejected => "rejected",
            Self::Garbage => "garbage",
            Self::NoMove => "no_move",
            Self::FalseWin => "false_win",
            Self::NoScore => "no_score",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A fault, and what the engine said last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// A sentence about it.
    pub detail: String,
    /// The last lines between us and the engine: `> ` sent, `< ` from its output, `! ` from its error output.
    pub lines: Vec<String>,
}

impl Fault {
    /// The fault and its lines, one line each, as the log has them.
    #[must_use]
    pub fn log(&self) -> String {
        let mut text = self.to_string();
        for line in &self.lines {
            text.push_str("\n    ");
            text.push_str(line);
        }
        text
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// Why a game, or the start of an engine, came to no end.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// The engine's doing.
    #[error("{0}")]
    Fault(Fault),
    /// The run stops.
    #[error("cancelled")]
    Cancelled,
}
