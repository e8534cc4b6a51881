//! One look at the 96 bytes: where pieces stand, and whether features can be made of them at all.

use manaka_core::packed::{BLACK_HAND, BOARD, EMPTY, PACKED_LEN, SIDE, WHITE_BIT, WHITE_HAND};
use manaka_core::{Color, HandKind, PieceKind, Square};

/// Pieces besides the kings in a full set.
pub const MEN: usize = MOST as usize - 2;
/// Pieces of a full set.
const MOST: u32 = 40;

/// Why a row's position has no features (features.md §1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PositionFault {
    /// A board byte that is neither empty nor a piece.
    #[error("a board byte names no piece")]
    BoardByte,
    /// A side byte other than 0 and 1.
    #[error("the side byte is neither 0 nor 1")]
    SideByte,
    /// A side without a king, or with more than one.
    #[error("a side does not have one king")]
    Kings,
    /// A hand with more of a kind than a set has.
    #[error("a hand holds more than a full set")]
    Hand,
    /// More than 38 pieces besides the kings.
    #[error("there are more than {MEN} pieces besides the kings")]
    Men,
}

/// A position that features can be made of.
#[derive(Clone, Copy, Debug)]
pub struct Board<'a> {
    bytes: &'a [u8; PACKED_LEN],
    occupied: u128,
    mover: Color,
    /// The packed squares of the kings, Black's first.
    kings: [usize; 2],
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;
const _: () = assert!(EMPTY == 0xFF && BOARD.start == 0 && BOARD.end == 81);

/// One bit a byte, from the top bits of eight bytes.
const fn gather(tops: u64) -> u8 {
    // Each product bit is met once: no carries.
    ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The bytes of eight that are zero, as their top bits. The bytes have their own top bit clear.
const fn zeros(bytes: u64) -> u64 {
    !(bytes + (HIGH - LOW)) & HIGH
}

impl<'a> Board<'a> {
    /// Looks at a position.
    ///
    /// # Errors
    /// [`PositionFault`]: there are no features of such bytes.
    pub fn new(bytes: &'a [u8; PACKED_LEN]) -> Result<Self, PositionFault> {
        let (mut occupied, mut black, mut white) = (0u128, 0u128, 0u128);
        let mut foreign = 0;
        let (words, _) = bytes.as_chunks::<8>();
        let mut add = |word: u64, shift: usize| {
            let empty = word & HIGH;
            let filled = (empty >> 7).wrapping_mul(0xFF);
            // An empty byte is all ones; a piece has none of its three upper bits, and not all of bits 1 to 3.
            foreign |= (word & filled) ^ filled;
            let pieces = word & !filled;
            foreign |= pieces & (LOW * 0xE0);
            foreign |= zeros((pieces & (LOW * 0x0E)) ^ (LOW * 0x0E));
            occupied |= u128::from(gather(!word & HIGH)) << shift;
            let low = word & !HIGH;
            black |= u128::from(gather(zeros(low))) << shift;
            white |= u128::from(gather(zeros(low ^ (LOW * WHITE_BIT as u64)))) << shift;
        };
        for (number, word) in words.iter().take(BOARD.end / 8).enumerate() {
            add(u64::from_le_bytes(*word), number * 8);
        }
        // The 81st square, beside seven empty ones.
        add(u64::from(bytes[BOARD.end - 1]) | !0xFF, BOARD.end - 1);
        let squares = (1u128 << Square::COUNT) - 1;
        let (black, white) = (black & squares & occupied, white & squares & occupied);

        if foreign != 0 {
            return Err(PositionFault::BoardByte);
        }
        let mover = match bytes[SIDE] {
            0 => Color::Black,
            1 => Color::White,
            _ => return Err(PositionFault::SideByte),
        };
        if black.count_ones() != 1 || white.count_ones() != 1 {
            return Err(PositionFault::Kings);
        }
        let mut in_hand = 0;
        for (kind, (&b, &w)) in HandKind::ALL.iter().zip(bytes[BLACK_HAND].iter().zip(&bytes[WHITE_HAND])) {
            if b > kind.full_set() || w > kind.full_set() {
                return Err(PositionFault::Hand);
            }
            in_hand += u32::from(b) + u32::from(w);
        }
        if occupied.count_ones() + in_hand > MOST {
            return Err(PositionFault::Men);
        }
        let kings = [black.trailing_zeros() as usize, white.trailing_zeros() as usize];
        Ok(Self { bytes, occupied, mover, kings })
    }

    /// The side to move.
    #[must_use]
    pub const fn mover(&self) -> Color {
        self.mover
    }

    /// The packed square of a side's king.
    #[must_use]
    pub const fn king(&self, color: Color) -> usize {
        self.kings[color as usize]
    }

    /// Every piece on the board by packed square: the square and its board byte.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, u8)> {
        Bits(self.occupied).map(|square| (square, self.bytes[square]))
    }

    /// Every piece on the board but the kings.
    pub fn men(&self) -> impl Iterator<Item = (usize, u8)> {
        let kings = 1u128 << self.kings[0] | 1u128 << self.kings[1];
        Bits(self.occupied & !kings).map(|square| (square, self.bytes[square]))
    }

    /// A side's hand, counts in hand order, each at most the full set.
    #[must_use]
    pub fn hand(&self, color: Color) -> &'a [u8] {
        match color {
            Color::Black => &self.bytes[BLACK_HAND],
            Color::White => &self.bytes[WHITE_HAND],
        }
    }
}

/// The bits that are set, lowest first.
struct Bits(u128);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let at = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(at)
    }
}

/// The kind of a board byte of a [`Board`].
pub(crate) const fn kind(byte: u8) -> usize {
    const _: () = assert!(PieceKind::COUNT <= 16);
    (byte & 0x0F) as usize
}

/// Whether a board byte is a piece of the mover.
pub(crate) const fn is_movers(byte: u8, mover: Color) -> bool {
    (byte & WHITE_BIT != 0) == matches!(mover, Color::White)
}
