//! Why a row is refused (corpus.md §4): the reason that is counted, and the sentence for a person.

use manaka_core::sfen::SfenError;
use manaka_core::{Color, Move16};
use manaka_corpus::{Column, MAX_SFEN_TEXT};
use manaka_shogi::Unplayable;
use std::fmt;
use std::ops::RangeInclusive;

/// Why a row is refused. In the order of precedence: a row is refused for the first that applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Reason {
    /// A value is null, out of its range or no move; the lists do not match, or name a move twice.
    MalformedRecord,
    /// The SFEN is malformed or no sound position.
    BadSfen,
    /// The side column and the SFEN disagree.
    SideMismatch,
    /// A candidate is a USI word that no move16 can hold.
    UnlabelledMove,
    /// The move played is not among the candidates.
    MoveNotCandidate,
    /// The side to move has no legal move. Strict only.
    NoLegalMoves,
    /// A candidate is not legal. Strict only.
    IllegalCandidate,
}

impl Reason {
    /// Every reason, in the order of precedence.
    pub const ALL: [Self; 7] = [
        Self::MalformedRecord,
        Self::BadSfen,
        Self::SideMismatch,
        Self::UnlabelledMove,
        Self::MoveNotCandidate,
        Self::NoLegalMoves,
        Self::IllegalCandidate,
    ];

    /// The stable name used in reports and rejects files.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::MalformedRecord => "malformed_record",
            Self::BadSfen => "bad_sfen",
            Self::SideMismatch => "side_mismatch",
            Self::UnlabelledMove => "unlabelled_move",
            Self::MoveNotCandidate => "move_not_candidate",
            Self::NoLegalMoves => "no_legal_moves",
            Self::IllegalCandidate => "illegal_candidate",
        }
    }
}

/// Words that USI has where a move is expected, and that are none (corpus.md §4).
pub const USI_WORDS: [&str; 5] = ["resign", "win", "none", "pass", "0000"];

/// A refusal with what there is to say about it. Borrows from the row; printing it allocates nothing.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Refusal<'a> {
    // malformed_record
    Null(Column),
    NullElement { column: Column, index: usize },
    ListLengths { moves: usize, scores: usize },
    NoCandidates,
    ManyCandidates(usize),
    NotOneOf { column: Column, value: i64, allowed: &'static str },
    OutOfRange { column: Column, index: Option<usize>, value: i64, range: RangeInclusive<i64> },
    NotUtf8,
    NoMove { index: Option<usize>, text: &'a [u8] },
    Twice { index: usize, text: &'a [u8] },
    // bad_sfen
    LongSfen,
    Sfen(SfenError),
    Unplayable(Unplayable),
    // the others, one each
    Side { column: Color, sfen: Color },
    Word { index: usize, word: &'static str },
    NotCandidate { text: &'a [u8], of: usize },
    NoLegalMoves,
    Illegal { index: usize, mv: Move16 },
}

impl Refusal<'_> {
    pub(crate) const fn reason(&self) -> Reason {
        match self {
            Self::Null(_)
            | Self::NullElement { .. }
            | Self::ListLengths { .. }
            | Self::NoCandidates
            | Self::ManyCandidates(_)
            | Self::NotOneOf { .. }
            | Self::OutOfRange { .. }
            | Self::NotUtf8
            | Self::NoMove { .. }
            | Self::Twice { .. } => Reason::MalformedRecord,
            Self::LongSfen | Self::Sfen(_) | Self::Unplayable(_) => Reason::BadSfen,
            Self::Side { .. } => Reason::SideMismatch,
            Self::Word { .. } => Reason::UnlabelledMove,
            Self::NotCandidate { .. } => Reason::MoveNotCandidate,
            Self::NoLegalMoves => Reason::NoLegalMoves,
            Self::Illegal { .. } => Reason::IllegalCandidate,
        }
    }
}

/// One sentence without tabs and line ends, whatever the row holds.
impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null(column) => write!(f, "{column} is null"),
            Self::NullElement { column, index } => write!(f, "candidate {index} of {column} is null"),
            Self::ListLengths { moves, scores } => {
                write!(f, "cand_move has {moves} moves and cand_cp {scores} scores")
            }
            Self::NoCandidates => f.write_str("there are no candidates"),
            Self::ManyCandidates(count) => write!(f, "{count} candidates; a record holds at most 65535"),
            Self::NotOneOf { column, value, allowed } => write!(f, "{column} is {value}, not {allowed}"),
            Self::OutOfRange { column, index, value, range } => {
                if let Some(index) = index {
                    write!(f, "candidate {index}: ")?;
                }
                write!(f, "{column} is {value}, not in {}..={}", range.start(), range.end())
            }
            Self::NotUtf8 => f.write_str("sfen is not UTF-8"),
            Self::NoMove { index: Some(index), text } => {
                write!(f, "candidate {index} is no USI move: {}", Quoted(text))
            }
            Self::NoMove { index: None, text } => {
                write!(f, "the move played is no USI move: {}", Quoted(text))
            }
            Self::Twice { index, text } => {
                write!(f, "candidate {index}, {}, is there before it already", Quoted(text))
            }
            Self::LongSfen => write!(f, "the sfen has more than {MAX_SFEN_TEXT} bytes"),
            Self::Sfen(error) => error.fmt(f),
            Self::Unplayable(Unplayable::Faults(faults)) => SfenError::Faults(*faults).fmt(f),
            Self::Unplayable(error) => error.fmt(f),
            Self::Side { column, sfen } => write!(f, "the side column says {column}, the sfen {sfen}"),
            Self::Word { index, word } => write!(f, "candidate {index} is {word}, which is not a move"),
            Self::NotCandidate { text, of } => {
                write!(f, "the move played, {}, is not among the {of} candidates", Quoted(text))
            }
            Self::NoLegalMoves => f.write_str("the side to move has no legal move"),
            Self::Illegal { index, mv } => write!(f, "candidate {index}, {mv}, is not legal"),
        }
    }
}

/// Bytes of a row as they can be shown.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("an empty text") } else { self.0.escape_ascii().fmt(f) }
    }
}
