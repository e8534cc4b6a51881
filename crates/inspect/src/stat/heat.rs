//! Where kings and pawns stand, square by square.

use manaka_core::packed::{EMPTY, PACKED_LEN, board_byte};
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

/// Positions that are looked at together.
const BLOCK: usize = 32;

/// Counts of kings and pawns by square.
///
/// Positions are compared byte by byte with each piece, all squares at once: compilers make vector instructions of that,
/// and a search for kings would branch on every position. A block of them is held back, so that the counts of a vector's
/// squares stay in registers over all of its positions.
#[derive(Clone)]
pub struct Heat {
    block: [[u8; PACKED_LEN]; BLOCK],
    /// Positions in `block`.
    held: usize,
    counts: [Squares; PIECES.len()],
}

impl Default for Heat {
    fn default() -> Self {
        Self { block: [[0; PACKED_LEN]; BLOCK], held: 0, counts: [[0; Square::COUNT]; 4] }
    }
}

impl Heat {
    #[inline(always)]
    pub fn add(&mut self, packed: &[u8; PACKED_LEN]) {
        self.block[self.held] = *packed;
        self.held += 1;
        if self.held == BLOCK {
            self.empty();
        }
    }

    /// Counts the block. What is behind the positions it holds is made empty first.
    #[inline(always)]
    fn empty(&mut self) {
        self.block[self.held..].fill([EMPTY; PACKED_LEN]);
        for (counts, piece) in self.counts.iter_mut().zip(PIECES) {
            // Hands and side are counted along, and never read: a whole number of vectors is cheaper.
            let mut narrow = [0u8; PACKED_LEN];
            for packed in &self.block {
                for (count, &byte) in narrow.iter_mut().zip(packed) {
                    *count += u8::from(byte == piece);
                }
            }
            for (count, more) in counts.iter_mut().zip(narrow) {
                *count += u64::from(more);
            }
        }
        self.held = 0;
    }

    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in self.counts.iter_mut().flatten().zip(other.squares().as_flattened()) {
            *sum += more;
        }
    }

    /// Black's kings, White's kings, Black's pawns, White's pawns.
    pub fn squares(&self) -> [Squares; 4] {
        let mut all = self.clone();
        all.empty();
        all.counts
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
