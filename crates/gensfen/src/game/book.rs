//! The order in which games take the positions of the opening book.

use crate::error::Result;
use crate::game::dice::{Dice, Purpose};
use manaka_corpus::book::{self, Opening};
use std::path::Path;

/// The positions that games begin from, in an order of the seed.
#[derive(Debug)]
pub(crate) struct Book {
    book: book::Book,
    order: Vec<u32>,
}

impl Book {
    /// The starting position alone.
    pub(crate) fn startpos() -> Result<Self> {
        Ok(Self { book: book::Book::startpos()?, order: vec![0] })
    }

    /// Reads a file of positions.
    ///
    /// # Errors
    /// [`Error::Book`](crate::Error::Book).
    pub(crate) fn read(path: &Path, max_ply: u16, seed: u64) -> Result<Self> {
        let book = book::Book::read(path, max_ply)?;
        let mut order: Vec<u32> = (0..).take(book.openings().len()).collect();
        Dice::new(seed, Purpose::Book, 0).shuffle(&mut order);
        Ok(Self { book, order })
    }

    /// The position of a game. Games go through the whole book before one comes again.
    pub(crate) fn opening(&self, game: u64) -> Opening {
        let turn = usize::try_from(game % self.order.len() as u64).unwrap_or(0);
        self.book.openings()[self.order[turn] as usize]
    }

    pub(crate) const fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) const fn hash(&self) -> u64 {
        self.book.hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manaka_core::sfen::STARTPOS;
    use std::collections::HashSet;
    use std::fs;

    #[test]
    fn every_position_is_used_before_one_comes_again_in_an_order_of_the_seed() {
        let lines: String = (1..=20).map(|ply| STARTPOS.replace(" 1", &format!(" {ply}\n"))).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("book.txt");
        fs::write(&path, lines).unwrap();
        let book = Book::read(&path, 320, 1).unwrap();
        let plies =
            |games: std::ops::Range<u64>| games.map(|game| book.opening(game).ply).collect::<Vec<_>>();
        assert_eq!(plies(0..20).iter().collect::<HashSet<_>>().len(), 20);
        assert_eq!(plies(0..20), plies(20..40));
        assert_ne!(plies(0..20), (1..=20).collect::<Vec<_>>());
    }
}
