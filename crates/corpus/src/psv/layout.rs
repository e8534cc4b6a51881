//! A record, and how its bytes are laid out (psv.md §2 and §5).

use super::moves::MoveLayout;
use super::position::{DecodeFault, EncodeFault, decode_position, encode_position};
use super::{CANDIDATE_LEN, PSV_LEN, SFEN_LEN};
use manaka_core::{Move16, Packed};
use std::fmt;
use std::str::FromStr;

/// The fields behind the position, by their first byte (psv.md §2).
const SCORE: usize = SFEN_LEN;
const MOVE: usize = SCORE + 2;
const PLY: usize = MOVE + 2;
const RESULT: usize = PLY + 2;
const PAD: usize = RESULT + 1;
const _: () = assert!(PAD + 1 == PSV_LEN);

/// The bits that say that no move is there (psv.md §4).
const NO_MOVE: u16 = 0;

/// One searched position of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The position.
    pub packed: Packed,
    /// The root score, for the side to move.
    pub score: i16,
    /// The move that was played.
    pub mv: Option<Move16>,
    /// The move number, as the writer counts.
    pub ply: u16,
    /// How the game ended for the side to move: 1 won, 0 drawn, −1 lost.
    pub result: i8,
    /// The last byte of the 40, whatever a writer keeps in it; 0 unless there is a reason.
    pub pad: u8,
    /// The moves the search reported with their scores for the side to move, in its order.
    pub candidates: Vec<(Move16, i16)>,
}

/// An empty board, and nothing else either: what [`Reader::read_record`](super::Reader::read_record) fills.
impl Default for Record {
    fn default() -> Self {
        Self {
            packed: Packed::empty(),
            score: 0,
            mv: None,
            ply: 0,
            result: 0,
            pad: 0,
            candidates: Vec::new(),
        }
    }
}

/// In which order candidates keep their halves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CandidateOrder {
    /// Each candidate is its move, then its score.
    #[default]
    MoveScore,
    /// Each candidate is its score, then its move.
    ScoreMove,
    /// All moves, then all scores.
    MovesScores,
    /// All scores, then all moves.
    ScoresMoves,
}

impl CandidateOrder {
    const ALL: [Self; 4] = [Self::MoveScore, Self::ScoreMove, Self::MovesScores, Self::ScoresMoves];

    const fn name(self) -> &'static str {
        match self {
            Self::MoveScore => "move-score",
            Self::ScoreMove => "score-move",
            Self::MovesScores => "moves-scores",
            Self::ScoresMoves => "scores-moves",
        }
    }

    /// The first bytes of the move and of the score of a slot, of `slots`.
    const fn offsets(self, slot: usize, slots: usize) -> (usize, usize) {
        let (each, all) = (PSV_LEN + slot * CANDIDATE_LEN, PSV_LEN + slot * 2);
        match self {
            Self::MoveScore => (each, each + 2),
            Self::ScoreMove => (each + 2, each),
            Self::MovesScores => (all, all + slots * 2),
            Self::ScoresMoves => (all + slots * 2, all),
        }
    }
}

/// Whether the played move is among the candidates of the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PlayedMove {
    /// The slots hold every candidate; the played move of the 40 bytes may be any of them, or none.
    #[default]
    Listed,
    /// The move and the score of the 40 bytes are the first candidate, and the slots hold the others.
    Implied,
}

/// How the bytes of a record are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// How moves lie in their 16 bits.
    pub moves: MoveLayout,
    /// Slots for candidates behind the 40 bytes; 0 is the plain form.
    pub candidates: u16,
    /// The order of their halves.
    pub order: CandidateOrder,
    /// Whether the played move is repeated among them.
    pub played: PlayedMove,
}

/// Why the bytes of a record are none; the first thing that is wrong, in the order of this list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFault {
    /// The position does not decode.
    #[error("bad position: {0}")]
    Position(#[from] DecodeFault),
    /// The result is not −1, 0 or 1.
    #[error("the result is {0}, and not -1, 0 or 1")]
    Result(i8),
    /// The played move's bits are no move in this layout.
    #[error("the move {bits:#06x} is none in the {layout} layout")]
    Move {
        /// The bits.
        bits: u16,
        /// The layout.
        layout: MoveLayout,
    },
    /// A candidate's bits are no move in this layout.
    #[error("candidate {slot}: the move {bits:#06x} is none in the {layout} layout")]
    Candidate {
        /// Its slot, from 0.
        slot: u16,
        /// The bits.
        bits: u16,
        /// The layout.
        layout: MoveLayout,
    },
    /// Other than as many bytes as the layout has.
    #[error("a record has {want} bytes, and {have} are there")]
    Length {
        /// How many there are.
        have: usize,
        /// How many there should be.
        want: usize,
    },
}

/// Why a record cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The position has no 32 bytes.
    #[error(transparent)]
    Position(#[from] EncodeFault),
    /// The result is not −1, 0 or 1.
    #[error("the result is {0}, and not -1, 0 or 1")]
    Result(i8),
    /// The played move is none.
    #[error("the played move {0} is no move")]
    Move(Move16),
    /// A candidate's move is none.
    #[error("candidate {at}: {mv} is no move")]
    Candidate {
        /// Which, from 0.
        at: usize,
        /// The move.
        mv: Move16,
    },
    /// More candidates than slots.
    #[error("{have} candidates, and room for {room}")]
    TooManyCandidates {
        /// How many there are.
        have: usize,
        /// How many slots.
        room: usize,
    },
    /// The layout takes the played move and its score for the first candidate, and they are not.
    #[error("the first candidate is not the played move with the root score")]
    NotPlayed,
}

impl Layout {
    /// The 40-byte form.
    #[must_use]
    pub const fn plain(moves: MoveLayout) -> Self {
        Self::multipv(moves, 0)
    }

    /// The form with `candidates` slots, laid out as we write it (psv.md §5).
    #[must_use]
    pub const fn multipv(moves: MoveLayout, candidates: u16) -> Self {
        Self { moves, candidates, order: CandidateOrder::MoveScore, played: PlayedMove::Listed }
    }

    /// Bytes of every record.
    #[must_use]
    pub const fn record_len(&self) -> usize {
        PSV_LEN + self.candidates as usize * CANDIDATE_LEN
    }

    /// Appends a record.
    ///
    /// # Errors
    /// [`EncodeError`]; `out` is then as it was.
    pub fn encode(&self, record: &Record, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let slots = usize::from(self.candidates);
        let bits = |mv: Move16| self.moves.encode(mv);
        let position = encode_position(&record.packed)?;
        if !matches!(record.result, -1..=1) {
            return Err(EncodeError::Result(record.result));
        }
        let played = record.mv.map_or(Some(NO_MOVE), bits);
        let played = played.ok_or_else(|| EncodeError::Move(record.mv.unwrap_or(Move16::from_bits(0))))?;
        let candidates = match (self.played, record.mv, record.candidates.split_first()) {
            (PlayedMove::Listed, ..) => record.candidates.as_slice(),
            (PlayedMove::Implied, None, None) => &[],
            (PlayedMove::Implied, Some(mv), Some((&first, others))) if first == (mv, record.score) => others,
            (PlayedMove::Implied, ..) => return Err(EncodeError::NotPlayed),
        };
        if candidates.len() > slots {
            return Err(EncodeError::TooManyCandidates { have: candidates.len(), room: slots });
        }
        let listed = record.candidates.len() - candidates.len();

        let start = out.len();
        out.extend_from_slice(&position);
        out.extend_from_slice(&record.score.to_le_bytes());
        out.extend_from_slice(&played.to_le_bytes());
        out.extend_from_slice(&record.ply.to_le_bytes());
        out.extend_from_slice(&record.result.to_le_bytes());
        out.push(record.pad);
        // Empty slots stay 0.
        out.resize(start + self.record_len(), 0);
        for (slot, &(mv, score)) in candidates.iter().enumerate() {
            let Some(bits) = bits(mv) else {
                out.truncate(start);
                return Err(EncodeError::Candidate { at: slot + listed, mv });
            };
            let (move_at, score_at) = self.order.offsets(slot, slots);
            out[start + move_at..][..2].copy_from_slice(&bits.to_le_bytes());
            out[start + score_at..][..2].copy_from_slice(&score.to_le_bytes());
        }
        Ok(())
    }

    /// Reads a record of exactly [`record_len`](Self::record_len) bytes into `out`, reusing its memory. Slots whose
    /// move is 0 are passed over, wherever they are.
    ///
    /// # Errors
    /// [`RecordFault`]; `out` is then of no meaning.
    pub fn decode(&self, bytes: &[u8], out: &mut Record) -> Result<(), RecordFault> {
        out.candidates.clear();
        let (Some(position), true) = (bytes.first_chunk(), bytes.len() == self.record_len()) else {
            return Err(RecordFault::Length { have: bytes.len(), want: self.record_len() });
        };
        out.packed = decode_position(position)?;
        let half = |at| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        out.score = half(SCORE).cast_signed();
        out.ply = half(PLY);
        out.result = bytes[RESULT].cast_signed();
        out.pad = bytes[PAD];
        if !matches!(out.result, -1..=1) {
            return Err(RecordFault::Result(out.result));
        }
        out.mv = match half(MOVE) {
            NO_MOVE => None,
            bits => {
                let fault = RecordFault::Move { bits, layout: self.moves };
                Some(self.moves.decode(bits).ok_or(fault)?)
            }
        };
        if let (PlayedMove::Implied, Some(mv)) = (self.played, out.mv) {
            out.candidates.push((mv, out.score));
        }
        for slot in 0..self.candidates {
            let (move_at, score_at) = self.order.offsets(slot.into(), self.candidates.into());
            let bits = half(move_at);
            if bits == NO_MOVE {
                continue;
            }
            let fault = RecordFault::Candidate { slot, bits, layout: self.moves };
            let mv = self.moves.decode(bits).ok_or(fault)?;
            out.candidates.push((mv, half(score_at).cast_signed()));
        }
        Ok(())
    }

    /// The bits of every move of a record that is there, whatever its layout: the played one, then the candidates'.
    pub(super) fn move_bits<'a>(&self, record: &'a [u8]) -> impl Iterator<Item = u16> + use<'a> {
        let (slots, order) = (usize::from(self.candidates), self.order);
        std::iter::once(MOVE)
            .chain((0..slots).map(move |slot| order.offsets(slot, slots).0))
            .filter_map(|at| record.get(at..at + 2)?.first_chunk().map(|&half| u16::from_le_bytes(half)))
            .filter(|&bits| bits != NO_MOVE)
    }
}

/// What `--layout` names: the order of a candidate's halves, and whether the played move is repeated. Written
/// `move-score`, or with `,implied` behind it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LayoutText {
    /// The order.
    pub order: CandidateOrder,
    /// Whether the played move is among the slots.
    pub played: PlayedMove,
}

impl fmt::Display for LayoutText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.order.name())?;
        match self.played {
            PlayedMove::Listed => Ok(()),
            PlayedMove::Implied => f.write_str(IMPLIED),
        }
    }
}

const IMPLIED: &str = ",implied";

impl FromStr for LayoutText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, played) = match text.strip_suffix(IMPLIED) {
            Some(name) => (name, PlayedMove::Implied),
            None => (text, PlayedMove::Listed),
        };
        let order = CandidateOrder::ALL.into_iter().find(|order| order.name() == name).ok_or_else(|| {
            let names = CandidateOrder::ALL.map(CandidateOrder::name).join(", ");
            format!("{text:?} is no layout; there are {names}, each also with {IMPLIED:?} behind it")
        })?;
        Ok(Self { order, played })
    }
}
