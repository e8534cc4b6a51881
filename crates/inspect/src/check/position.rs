//! What streams and shards have in common: a position, and moves that should be legal in it.

use super::collector::InFile;
use crate::finding::{Id, Place};
use manaka_core::{Move16, Packed};
use manaka_shogi::{Board, Unplayable};
use std::fmt::Write as _;

/// Judges positions; one a thread.
pub struct Judge {
    board: Board,
    moves: Vec<Move16>,
    sorted: Vec<Move16>,
}

impl Judge {
    pub fn new() -> Self {
        Self { board: Board::start(), moves: Vec::new(), sorted: Vec::new() }
    }

    /// Judges a position and its candidates. Bits that are no move are the matter of the caller.
    pub fn position(
        &mut self,
        packed: &Packed,
        ply: u16,
        candidates: impl Iterator<Item = Move16>,
        out: &InFile<'_>,
        place: Place,
    ) {
        self.moves.clear();
        self.moves.extend(candidates);
        if let Some(mv) = self.twice() {
            out.add(place, Id::DuplicateMove, || {
                let times = self.moves.iter().filter(|&&other| other == mv).count();
                format!("{mv} stands {times} times among {} candidates", self.moves.len())
            });
        }
        match self.board.set(packed, u32::from(ply)) {
            Ok(()) => {}
            Err(Unplayable::Faults(faults)) => {
                return out.add(place, Id::UnsoundPosition, || format!("{faults} in {}", packed.sfen(None)));
            }
            Err(other) => {
                return out
                    .add(place, Id::UnplayablePosition, || format!("{other} in {}", packed.sfen(None)));
            }
        }
        let board = &self.board;
        let illegal = |mv: &&Move16| mv.is_well_formed() && !board.is_legal(**mv);
        if self.moves.iter().any(|mv| illegal(&mv)) {
            out.add(place, Id::IllegalCandidate, || {
                const SHOWN: usize = 5;
                let count = self.moves.iter().filter(illegal).count();
                let mut text = format!("{count} of {} candidates illegal:", self.moves.len());
                for mv in self.moves.iter().filter(illegal).take(SHOWN) {
                    let _ = write!(text, " {mv}");
                }
                let more = if count > SHOWN { " …" } else { "" };
                let _ = write!(text, "{more} in {}", packed.sfen(None));
                text
            });
        }
    }

    /// The first move that stands twice.
    fn twice(&mut self) -> Option<Move16> {
        // A MultiPV list is short: comparing all pairs is cheapest. Long lists are sorted first.
        const SHORT: usize = 12;
        if self.moves.len() <= SHORT {
            let moves = &self.moves;
            return (1..moves.len()).find(|&at| moves[..at].contains(&moves[at])).map(|at| moves[at]);
        }
        self.sorted.clone_from(&self.moves);
        self.sorted.sort_unstable();
        self.sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}
