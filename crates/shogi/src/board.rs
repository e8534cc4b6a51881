//! A position that can be played on, and the gate it came through.

use crate::convert;
use manaka_core::sfen::STARTPOS;
use manaka_core::{Color, Faults, Move16, Packed};
use rsshogi::board::{MoveList, Position};
use rsshogi::movegen::generate_legal_all;
use rsshogi::types::{EnteringKingRule, MOVE_WIN};
use std::fmt;

/// Most moves that can be played on from the position a [`Board`] was set to.
///
/// Far above any game. The library counts plies in 16 bits and would panic at the end of them.
pub const MAX_LINE: usize = 60_000;
const _: () = assert!(MAX_LINE + 2 < u16::MAX as usize);

/// Why a position cannot be played on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unplayable {
    /// The 96 bytes are no sound position (stream.md §4.4); every fault at once.
    #[error("unsound position: {0}")]
    Faults(Faults),
    /// The side not to move stands in check, the kings side by side included: no game reaches this.
    #[error("the side not to move is in check")]
    OpponentInCheck,
    /// The rules library refuses a position that has no fault. No such position is known.
    #[error("the rules library refuses the position: {0}")]
    Rejected(String),
}

/// Why a move was not played. The board is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalMove {
    /// The rules forbid it in this position, or the bits are no move at all.
    #[error("{0} is not legal in this position")]
    NotLegal(Move16),
    /// [`MAX_LINE`] moves have been played since the board was set.
    #[error("{0} would be more than {MAX_LINE} moves from the position that was set")]
    LineTooLong(Move16),
}

/// A position with its rules.
///
/// Setting one is the expensive part (about 2 µs, and 20 KB of memory for each board): keep a board per worker,
/// [`set`](Self::set) it again and again, [`play`](Self::play) and [`undo`](Self::undo) along a line instead of cloning.
///
/// Behind the gate of [`set`](Self::set) no method panics, and every method that takes a [`Move16`] takes any bits.
#[derive(Clone)]
pub struct Board {
    position: Position,
    /// The move number of the position that was set.
    base_ply: u32,
}

impl Board {
    /// The standard starting position, move number 1.
    #[must_use]
    pub fn start() -> Self {
        let mut board = Self { position: Position::empty(), base_ply: 0 };
        board.reset();
        board
    }

    /// The position of these bytes, with its move number (carried along, of no meaning to the rules).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn from_packed(packed: &Packed, ply: u32) -> Result<Self, Unplayable> {
        let mut board = Self { position: Position::empty(), base_ply: 0 };
        board.set(packed, ply)?;
        Ok(board)
    }

    /// Replaces the position; what was played before can no longer be undone. Reuses the memory of the board.
    ///
    /// # Errors
    /// [`Unplayable::Faults`] with every structural fault, [`Unplayable::OpponentInCheck`] for a position in which the
    /// king could be captured, [`Unplayable::Rejected`] if the library knows of something else. After an error the
    /// board holds the starting position, move number 1, and nothing to undo.
    pub fn set(&mut self, packed: &Packed, ply: u32) -> Result<(), Unplayable> {
        let entered = self.enter(packed);
        match entered {
            Ok(()) => self.base_ply = ply,
            Err(_) => self.reset(),
        }
        entered
    }

    /// The gate. Each lock needs the one before it: the library is handed no piece it cannot hold and asked for no
    /// attack on a king that is not there. An error leaves whatever it met in the position.
    fn enter(&mut self, packed: &Packed) -> Result<(), Unplayable> {
        let faults = packed.faults();
        if !faults.is_empty() {
            return Err(Unplayable::Faults(faults));
        }
        let state = convert::position_state(packed)
            .ok_or_else(|| Unplayable::Rejected("a hand holds too many pieces".to_owned()))?;
        self.position
            .try_set_position_state(&state)
            .map_err(|error| Unplayable::Rejected(format!("{error:?}")))?;
        let report = self.position.validate_all();
        if !report.is_valid() {
            return Err(Unplayable::Rejected(format!("{:?}", report.issues())));
        }
        let mover = self.position.turn();
        let king = self.position.king_square(mover.flip());
        if self.position.is_attacked_by_color_with_king(mover, king, king) {
            return Err(Unplayable::OpponentInCheck);
        }
        // Setting a position switches the library's declaration off.
        self.position.set_entering_king_rule(EnteringKingRule::Point27);
        Ok(())
    }

    fn reset(&mut self) {
        let start = Packed::from_sfen(STARTPOS).map(|(packed, _)| self.enter(&packed));
        debug_assert_eq!(start, Ok(Ok(())), "the starting position is playable");
        self.base_ply = 1;
    }

    /// The 96 bytes of the position as it stands (stream.md §4).
    #[must_use]
    pub fn to_packed(&self) -> Packed {
        convert::packed(&self.position)
    }

    /// A number that is the same for equal positions, whatever moves led there, and seldom for others. Kept along the
    /// line, so that asking costs nothing; of no meaning outside the process.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.position.key().low_u64()
    }

    /// The side to move.
    #[must_use]
    pub fn side(&self) -> Color {
        convert::color(self.position.turn())
    }

    /// The move number: the one that was set, plus one for each move played; it stops at `u32::MAX`.
    #[must_use]
    pub fn ply(&self) -> u32 {
        self.base_ply.saturating_add(u32::try_from(self.played()).unwrap_or(u32::MAX))
    }

    /// Moves played since the position was set, which is how many can be undone.
    #[must_use]
    pub fn played(&self) -> usize {
        self.position.state_stack_depth()
    }

    /// Whether the side to move stands in check, which is to say whether the last move gave check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.position.is_in_check()
    }

    /// Replaces `moves` by all legal moves (stream.md §5), ascending by their bits, none twice.
    ///
    /// The set is complete: it holds the moves that nobody would play but the rules allow, such as a bishop that
    /// does not promote. A pawn drop that mates is not legal. Repetition is not looked at.
    pub fn legal_moves(&self, moves: &mut Vec<Move16>) {
        let list = self.generate();
        // A bit a move, and a bit a word of them: as they are at most 15 bits and none stands twice, this sorts them in
        // half the time of a sort.
        let (mut words, mut some) = ([0u64; 512], [0u64; 8]);
        for &mv in list.iter() {
            let bits = usize::from(convert::move16(mv).bits());
            words[bits >> 6 & 511] |= 1 << (bits & 63);
            some[bits >> 12 & 7] |= 1 << (bits >> 6 & 63);
        }
        moves.clear();
        moves.reserve(list.len());
        for (high, mut rest) in (0u16..).zip(some) {
            while rest != 0 {
                let middle = high << 6 | lowest(rest);
                let mut word = words[usize::from(middle) & 511];
                while word != 0 {
                    moves.push(Move16::from_bits(middle << 6 | lowest(word)));
                    word &= word - 1;
                }
                rest &= rest - 1;
            }
        }
    }

    /// The number of legal moves.
    #[must_use]
    pub fn legal_count(&self) -> usize {
        self.generate().len()
    }

    /// In the library's order. The list holds 600 moves; no position has more than 593.
    fn generate(&self) -> MoveList {
        let mut list = MoveList::new();
        generate_legal_all(&self.position, &mut list);
        list
    }

    /// Whether there is a legal move; cheaper than counting them.
    #[must_use]
    pub fn has_legal_move(&self) -> bool {
        !self.position.is_mated()
    }

    /// Whether the side to move has lost for want of a legal move. There is no stalemate in shogi: it need not stand
    /// in check.
    #[must_use]
    pub fn is_mated(&self) -> bool {
        self.position.is_mated()
    }

    /// Whether the move is legal: whether it is in [`legal_moves`](Self::legal_moves). Any bits can be asked about.
    #[must_use]
    pub fn is_legal(&self, mv: Move16) -> bool {
        convert::library_move(mv).is_some_and(|mv| self.position.is_legal_move(mv))
    }

    /// Whether the move is legal and puts the other side in check. Any bits can be asked about.
    #[must_use]
    pub fn gives_check(&self, mv: Move16) -> bool {
        convert::library_move(mv)
            .is_some_and(|mv| self.position.is_legal_move(mv) && self.position.gives_check_move(mv))
    }

    /// Plays a move.
    ///
    /// # Errors
    /// [`IllegalMove`]; the board is as it was.
    pub fn play(&mut self, mv: Move16) -> Result<(), IllegalMove> {
        let library = convert::library_move(mv).ok_or(IllegalMove::NotLegal(mv))?;
        if self.played() >= MAX_LINE {
            return Err(IllegalMove::LineTooLong(mv));
        }
        let library = self.position.move32_from_move(library);
        self.position.try_apply_move32(library).map_err(|_| IllegalMove::NotLegal(mv))
    }

    /// Takes the last move back; false, and nothing done, when none was played since the position was set.
    pub fn undo(&mut self) -> bool {
        self.position.undo_move32(self.position.last_move()).is_ok()
    }

    /// Whether the side to move can win by declaration under the 27-point rule, as computer shogi plays it.
    ///
    /// It stands in no check; its king is on one of the last three ranks; so are at least 10 of its other pieces; and
    /// its points reach 28 for Black, 27 for White. Rooks, bishops and their promoted forms count 5, all others 1;
    /// those on the last three ranks and those in hand count, the king does not. Handicaps change nothing.
    #[must_use]
    pub fn can_declare(&self) -> bool {
        self.position.declaration_win_move() == MOVE_WIN
    }

    /// A move that mates at once, if there is one; of several always the same, but no particular one.
    ///
    /// Tries moves on the board itself, which is as it was afterwards.
    #[must_use]
    pub fn mate_in_one(&mut self) -> Option<Move16> {
        rsshogi::mate::solve_mate_in_one_in_place(&mut self.position).map(|mv| convert::move16(mv.to_move()))
    }
}

/// The place of the lowest bit of a word that has one.
fn lowest(word: u64) -> u16 {
    u16::from(word.trailing_zeros().to_le_bytes()[0])
}

/// The starting position.
impl Default for Board {
    fn default() -> Self {
        Self::start()
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({})", self.to_packed().sfen(Some(self.ply())))
    }
}

const _: () = {
    const fn shareable<T: Send + Sync>() {}
    shareable::<Board>();
};
