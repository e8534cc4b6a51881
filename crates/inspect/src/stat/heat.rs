//! Where kings and pawns stand, square by square.

use manaka_core::packed::{PACKED_LEN, board_byte};
use manaka_core::{Color, PieceKind, Square};

/// The pieces that are looked at.
const PIECES: [u8; 4] = [
    board_byte(Color::Black, PieceKind::King),
    board_byte(Color::White, PieceKind::King),
    board_byte(Color::Black, PieceKind::Pawn),
    board_byte(Color::White, PieceKind::Pawn),
];

/// A count a square.
pub type Squares = [u64; Square::COUNT];

/// Counts of kings and pawns by square.
///
/// Positions are compared byte by byte with each piece, all squares at once, and counted in bytes that are emptied before
/// they can overflow: compilers make vector instructions of that, and a search for kings would branch on every position.
#[derive(Clone)]
pub struct Heat {
    narrow: [[u8; PACKED_LEN]; PIECES.len()],
    /// Positions in `narrow`.
    held: u8,
    wide: [Squares; PIECES.len()],
}

impl Default for Heat {
    fn default() -> Self {
        Self { narrow: [[0; PACKED_LEN]; 4], held: 0, wide: [[0; Square::COUNT]; 4] }
    }
}

impl Heat {
    #[inline]
    pub fn add(&mut self, packed: &[u8; PACKED_LEN]) {
        // Hands and side are counted along, and never read: a whole number of vectors is cheaper.
        for (counts, piece) in self.narrow.iter_mut().zip(PIECES) {
            for (count, &byte) in counts.iter_mut().zip(packed) {
                *count += u8::from(byte == piece);
            }
        }
        self.held += 1;
        if self.held == u8::MAX {
            self.empty();
        }
    }

    fn empty(&mut self) {
        for (wide, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            for (wide, narrow) in wide.iter_mut().zip(narrow.iter_mut()) {
                *wide += u64::from(*narrow);
                *narrow = 0;
            }
        }
        (self.narrow, self.held) = ([[0; PACKED_LEN]; 4], 0);
    }

    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.empty();
        for (wide, more) in self.wide.iter_mut().flatten().zip(other.wide.iter().flatten()) {
            *wide += more;
        }
    }

    /// Black's kings, White's kings, Black's pawns, White's pawns.
    pub fn squares(&self) -> [Squares; 4] {
        let mut all = self.clone();
        all.empty();
        all.wide
    }
}

/// Counts of squares by rank, rank 1 first.
pub fn ranks(squares: &Squares) -> [u64; 9] {
    let mut ranks = [0; 9];
    for (square, count) in squares.iter().enumerate() {
        // stream.md §4.1
        ranks[square % 9] += count;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use manaka_core::Packed;
    use manaka_core::sfen::STARTPOS;

    #[test]
    fn the_start_has_its_kings_and_pawns_where_they_are_however_often_it_comes() {
        let packed = Packed::from_sfen(STARTPOS).unwrap().0;
        let mut heat = Heat::default();
        for _ in 0..1000 {
            heat.add(packed.as_bytes());
        }
        let mut twice = Heat::default();
        twice.add(packed.as_bytes());
        twice.merge(&heat);
        let [black_king, white_king, black_pawns, white_pawns] = twice.squares();
        // 5i is file 5, rank 9: (9 - 5)·9 + 8 = 44; 5a is 36.
        assert_eq!((black_king[44], white_king[36]), (1001, 1001));
        assert_eq!((black_king.iter().sum::<u64>(), white_king.iter().sum::<u64>()), (1001, 1001));
        let nine = 9 * 1001;
        assert_eq!(ranks(&black_pawns), [0, 0, 0, 0, 0, 0, nine, 0, 0]);
        assert_eq!(ranks(&white_pawns), [0, 0, nine, 0, 0, 0, 0, 0, 0]);
    }
}
