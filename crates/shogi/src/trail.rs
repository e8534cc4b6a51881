//! Positions one after the other, most of them one move from the one before.

use crate::board::{Board, Unplayable};
use manaka_core::{Move16, Packed};

/// A board for positions that come in the order of their games.
///
/// Setting a position is ten times the work of playing a move. Where the next position is the one that the move played
/// leads to, it is reached by that move; everywhere else it is set. Either way it is the same position behind the same
/// gate: a legal move leads from a playable position to a playable one.
#[derive(Clone, Debug)]
pub struct Trail {
    board: Board,
    /// The position on the board; an empty one after a refusal.
    at: Packed,
    /// What was played in it, and where that leads.
    next: Option<(Move16, Packed)>,
}

impl Default for Trail {
    fn default() -> Self {
        Self { board: Board::start(), at: Packed::empty(), next: None }
    }
}

impl Trail {
    /// Puts a position on the board. Its move number is of no meaning here.
    ///
    /// # Errors
    /// As [`Board::set`]; the board then holds the starting position.
    pub fn step(&mut self, packed: &Packed) -> Result<(), Unplayable> {
        if let Some((mv, next)) = self.next.take()
            && next == *packed
            && self.board.play(mv).is_ok()
        {
            debug_assert_eq!(self.board.to_packed(), next, "a legal move leads where it says");
            self.at = next;
            return Ok(());
        }
        let set = self.board.set(packed, 0);
        self.at = if set.is_ok() { *packed } else { Packed::empty() };
        set
    }

    /// Says what was played in the position of the last [`step`](Self::step), so that the next one is likely where
    /// that leads. Any bits will do.
    pub fn played(&mut self, mv: Move16) {
        self.next = self.at.after(mv).map(|next| (mv, next));
    }

    /// The position that likely follows.
    #[must_use]
    pub const fn next(&self) -> Option<&Packed> {
        match &self.next {
            Some((_, next)) => Some(next),
            None => None,
        }
    }

    /// The position of the last [`step`](Self::step).
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(sfen: &str) -> Packed {
        Packed::from_sfen(sfen).unwrap().0
    }

    /// Steps to a position and says how it was reached: by the move or anew.
    fn step(trail: &mut Trail, packed: &Packed) -> &'static str {
        let before = trail.board.played();
        trail.step(packed).unwrap();
        assert_eq!(trail.board.to_packed(), *packed);
        if trail.board.played() == before + 1 { "played" } else { "set" }
    }

    #[test]
    fn a_position_that_follows_is_played_and_every_other_is_set() {
        let start = position(manaka_core::sfen::STARTPOS);
        let mut board = Board::start();
        let mut line = vec![start];
        let moves = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"].map(|usi| Move16::from_usi(usi).unwrap());
        for mv in moves {
            board.play(mv).unwrap();
            line.push(board.to_packed());
        }
        let mut trail = Trail::default();
        let mut reached = Vec::new();
        for (packed, mv) in line.iter().zip(moves) {
            reached.push(step(&mut trail, packed));
            trail.played(mv);
        }
        reached.push(step(&mut trail, &line[5]));
        assert_eq!(reached, ["set", "played", "played", "played", "played", "played"]);

        // No move said, one that leads elsewhere, one that is illegal, bits that are no move, a step left out.
        assert_eq!(step(&mut trail, &line[0]), "set");
        assert_eq!(step(&mut trail, &line[1]), "set");
        for (at, mv, to) in [(0, "2g2f", 1), (1, "8h2b+", 2)] {
            trail.step(&line[at]).unwrap();
            trail.played(Move16::from_usi(mv).unwrap());
            assert_eq!(step(&mut trail, &line[to]), "set");
        }
        trail.step(&line[0]).unwrap();
        trail.played(Move16::from_bits(u16::MAX));
        assert_eq!(step(&mut trail, &line[1]), "set");
        trail.step(&line[0]).unwrap();
        trail.played(moves[0]);
        assert_eq!(step(&mut trail, &line[2]), "set");
    }

    #[test]
    fn a_position_like_the_one_that_follows_is_not_taken_for_it() {
        // As after 7g7f, but one pawn of White's has moved too.
        let mut trail = Trail::default();
        trail.step(&position(manaka_core::sfen::STARTPOS)).unwrap();
        trail.played(Move16::from_usi("7g7f").unwrap());
        let like = position("lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 4");
        assert_eq!(step(&mut trail, &like), "set");
    }

    #[test]
    fn an_unplayable_position_is_refused_and_leaves_nothing_to_follow() {
        let start = position(manaka_core::sfen::STARTPOS);
        let mut trail = Trail::default();
        trail.step(&start).unwrap();
        trail.played(Move16::from_usi("7g7f").unwrap());
        assert_eq!(trail.step(&position("4k4/4R4/9/9/9/9/9/9/4K4 b - 1")), Err(Unplayable::OpponentInCheck));
        let mut board = Board::start();
        board.play(Move16::from_usi("7g7f").unwrap()).unwrap();
        assert_eq!(step(&mut trail, &board.to_packed()), "set");
    }
}
