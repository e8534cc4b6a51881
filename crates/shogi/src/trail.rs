//! Positions one after the other, most of them one move from the one before.

use crate::board::{Board, Unplayable};
use crate::prover::Prover;
use manaka_core::{Move16, Packed};

/// Proves the moves of positions that come in the order of their games.
///
/// Setting a position is several times the work of playing a move. Where the next position is the one that the move
/// played leads to, it is reached by that move; everywhere else it is set. Either way it is the same position behind the
/// same gate: a legal move leads from a playable position to a playable one.
///
/// Moves are proved one by one, without a move generator. The answers are those of a [`Board`], which is several times as
/// slow: the tests hold the two equal.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// None before the first step and after a refusal.
    at: Option<Prover>,
    /// What was played in it, and where that leads.
    next: Option<(Move16, Packed)>,
    /// What the library is asked with, once it is needed.
    board: Option<Box<Board>>,
    #[cfg(test)]
    played: usize,
}

impl Trail {
    /// Goes to a position.
    ///
    /// # Errors
    /// As [`Board::set`]; there is no position then.
    pub fn step(&mut self, packed: &Packed) -> Result<(), Unplayable> {
        if let (Some((mv, next)), Some(prover)) = (self.next.take(), &mut self.at)
            && next == *packed
            && prover.is_legal(mv)
        {
            prover.advance(mv, &next);
            #[cfg(test)]
            {
                self.played += 1;
            }
            return Ok(());
        }
        self.at = None;
        self.at = Some(Prover::new(packed)?);
        Ok(())
    }

    /// Says what was played in the position of the last [`step`](Self::step), so that the next one is likely where
    /// that leads. Any bits will do.
    pub fn played(&mut self, mv: Move16) {
        let next = self.at.as_ref().and_then(|prover| prover.packed().after(mv));
        self.next = next.map(|next| (mv, next));
    }

    /// The position that likely follows.
    #[must_use]
    pub const fn next(&self) -> Option<&Packed> {
        match &self.next {
            Some((_, next)) => Some(next),
            None => None,
        }
    }

    /// Whether the move is legal in the position of the last [`step`](Self::step), as [`Board::is_legal`] has it. Any
    /// bits can be asked about; where there is no position, none is.
    #[must_use]
    pub fn is_legal(&self, mv: Move16) -> bool {
        self.at.as_ref().is_some_and(|prover| prover.is_legal(mv))
    }

    /// Whether there is a legal move in the position of the last [`step`](Self::step). Takes as long as a hundred proofs.
    #[must_use]
    pub fn has_legal_move(&mut self) -> bool {
        let Some(prover) = &self.at else { return false };
        let board = self.board.get_or_insert_default();
        board.set(prover.packed(), 0).is_ok() && board.has_legal_move()
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
        let before = trail.played;
        trail.step(packed).unwrap();
        assert_eq!(trail.at.as_ref().map(Prover::packed), Some(packed));
        if trail.played == before + 1 { "played" } else { "set" }
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
