//! Shogi as a game that can be searched: a board, the history of its game, and every rule that ends a line
//! (selfplay.md §2).

use crate::ending::{End, Ending};
use manaka_core::{Color, Move16, Packed};
use manaka_search::{Game, Status};
use manaka_shogi::{Board, IllegalMove, Repetition, Unplayable, Verdict};

/// A game of shogi, and a search's line of moves behind its position.
///
/// One board takes all of it: a game goes on by [`advance`](Self::advance), a search plays and takes back on the same
/// board, and nothing is cloned. The rules that end the game are those that end a line, but for one: the game goes on
/// until a position stands for the fourth time, a line until the second, counting those of the game.
#[derive(Clone, Debug)]
pub struct Shogi {
    board: Board,
    /// The positions of the game, the first one included.
    positions: Vec<Packed>,
    /// How often each stood, and who gave check in between.
    history: Repetition,
    /// What the rules say of the last of them for having stood before.
    verdict: Verdict,
    /// The moves behind it, and whether each gave check.
    line: Vec<(Move16, bool)>,
    /// Half of [`Board::key`] of every position of the game and the line: where it is new, the position is. All of them are
    /// looked at for each leaf, and halves take half the time.
    keys: Vec<u32>,
    max_ply: u32,
}

impl Shogi {
    /// The last move number unless told otherwise: that of computer shogi's longest game.
    pub const DEFAULT_MAX_PLY: u16 = 320;
    /// No game may be longer: a line of a search could be, and a board plays no longer one than [`manaka_shogi::MAX_LINE`].
    pub const MOST_PLIES: u16 = 10_000;

    /// A game from the standard starting position. A position behind move number `max_ply` is a draw, if nothing
    /// else ends the game there.
    #[must_use]
    pub fn new(max_ply: u16) -> Self {
        let mut game = Self {
            board: Board::start(),
            positions: Vec::new(),
            history: Repetition::new(),
            verdict: Verdict::None,
            line: Vec::new(),
            keys: Vec::new(),
            max_ply: max_ply.into(),
        };
        game.reach();
        game
    }

    /// Begins a game from this position, with its move number.
    ///
    /// # Errors
    /// As [`Board::set`]; the game then begins from the starting position.
    pub fn set(&mut self, packed: &Packed, ply: u32) -> Result<(), Unplayable> {
        let set = self.board.set(packed, ply);
        self.positions.clear();
        self.history.clear();
        self.line.clear();
        self.keys.clear();
        self.reach();
        set
    }

    /// Plays a move of the game. Whoever searches has to have taken all of the search's moves back.
    ///
    /// # Errors
    /// [`IllegalMove`]; the game is as it was.
    pub fn advance(&mut self, mv: Move16) -> Result<(), IllegalMove> {
        debug_assert!(self.line.is_empty(), "a search left moves on the board");
        self.board.play(mv)?;
        self.reach();
        // With nothing to take back the board is faster: the library looks for repetitions through all of it.
        self.rebase();
        Ok(())
    }

    /// Takes the last move of the game back; false, and nothing done, where the game began. As with
    /// [`advance`](Self::advance), no move of a search may be left.
    pub fn retreat(&mut self) -> bool {
        debug_assert!(self.line.is_empty(), "a search left moves on the board");
        if self.positions.len() < 2 {
            return false;
        }
        let ply = self.board.ply().saturating_sub(1);
        self.positions.pop();
        self.history.pop();
        self.keys.pop();
        self.verdict = self.history.verdict();
        let position = *self.root();
        let set = self.board.set(&position, ply);
        debug_assert_eq!(set, Ok(()), "it stood there before");
        true
    }

    /// Takes in the position of the game that was reached.
    fn reach(&mut self) {
        let position = self.board.to_packed();
        self.positions.push(position);
        self.keys.push(half(self.board.key()));
        self.verdict = self.history.push(&position, self.board.in_check()).verdict;
    }

    /// Sets the board to the position of the game, which it has already.
    fn rebase(&mut self) {
        let (position, ply) = (*self.root(), self.board.ply());
        let set = self.board.set(&position, ply);
        debug_assert_eq!(set, Ok(()), "a legal move leads to a position that can be played on");
    }

    /// The position of the game.
    fn root(&self) -> &Packed {
        // There is one from the first on.
        self.positions.last().unwrap_or(&EMPTY)
    }

    /// Whether the game is over. A search's moves have to be taken back.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        debug_assert!(self.line.is_empty(), "a search left moves on the board");
        self.judge(!self.board.has_legal_move(), self.verdict)
    }

    /// The board, at the end of the search's line.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// The position on the board.
    #[must_use]
    pub fn packed(&self) -> Packed {
        if self.line.is_empty() { *self.root() } else { self.board.to_packed() }
    }

    /// The side to move.
    #[must_use]
    pub fn side(&self) -> Color {
        self.board.side()
    }

    /// The rules in their order (selfplay.md §2.1).
    fn judge(&self, no_move: bool, repeated: Verdict) -> Option<End> {
        let mover = self.board.side();
        if no_move {
            return Some(End::won(Ending::Mate, mover.flip()));
        }
        match repeated {
            Verdict::None => {}
            Verdict::Draw => return Some(End::drawn(Ending::Repetition)),
            Verdict::PerpetualCheck { loser } => {
                return Some(End::won(Ending::PerpetualCheck, loser.flip()));
            }
        }
        if self.board.can_declare() {
            return Some(End::won(Ending::Declaration, mover));
        }
        (self.board.ply() > self.max_ply).then_some(End::drawn(Ending::MaxPly))
    }

    /// What the rules say for the position having stood before: in the game at the fourth time, in a line at the second.
    fn repeated(&mut self) -> Verdict {
        if self.line.is_empty() {
            return self.verdict;
        }
        let Some((key, earlier)) = self.keys.split_last() else { return Verdict::None };
        // Without an early exit several are compared at once, and all but a few positions are new.
        if !earlier.iter().fold(false, |found, other| found | (other == key)) {
            return Verdict::None;
        }
        // Keys of different positions may be equal, so the positions themselves decide.
        let (mut at, game) = (*self.root(), self.history.len());
        for &(mv, check) in &self.line {
            if let Some(next) = at.after(mv) {
                at = next;
                self.history.push(&at, check);
            }
        }
        let verdict = self.history.foreseen();
        while self.history.len() > game {
            self.history.pop();
        }
        verdict
    }
}

const EMPTY: Packed = Packed::empty();

#[expect(clippy::cast_possible_truncation, reason = "one half of it")]
const fn half(key: u64) -> u32 {
    key as u32
}

impl Game for Shogi {
    type Move = Move16;

    fn status(&mut self, moves: &mut Vec<Move16>) -> Status {
        self.board.legal_moves(moves);
        let repeated = self.repeated();
        match self.judge(moves.is_empty(), repeated) {
            Some(end) => Status::Over(end.value_for(self.board.side())),
            None => Status::Open,
        }
    }

    fn play(&mut self, mv: Move16) {
        let played = self.board.play(mv);
        debug_assert_eq!(played, Ok(()), "the move was given as legal");
        self.line.push((mv, self.board.in_check()));
        self.keys.push(half(self.board.key()));
    }

    fn undo(&mut self) {
        if self.line.pop().is_some() {
            self.keys.pop();
            self.board.undo();
        }
    }

    fn wins_at_once(&mut self) -> bool {
        self.board.mate_in_one().is_some()
    }
}
