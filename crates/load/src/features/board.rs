//! One look at the 96 bytes: where pieces stand, and whether features can be made of them at all.

use manaka_core::packed::{BLACK_HAND, BOARD, EMPTY, PACKED_LEN, SIDE, WHITE_BIT, WHITE_HAND};
use manaka_core::{Color, HandKind, PieceKind};

/// Pieces besides the kings in a full set.
pub const MEN: usize = 38;
/// Pieces of a full set.
const MOST: u32 = 40;
const _: () = assert!(MEN + 2 == MOST as usize);

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
    /// A bit a packed square.
    occupied: u128,
    mover: Color,
    /// The packed squares of the kings, Black's first.
    kings: [usize; 2],
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// The sum of eight bytes, which is below 256.
const fn sum(bytes: u64) -> u64 {
    bytes.wrapping_mul(LOW) >> 56
}

impl<'a> Board<'a> {
    /// Looks at a position.
    ///
    /// # Errors
    /// [`PositionFault`]: there are no features of such bytes.
    #[inline]
    pub fn new(bytes: &'a [u8; PACKED_LEN]) -> Result<Self, PositionFault> {
        Self::of_scan(bytes, &scan(bytes))
    }

    /// Judges what was seen in a position.
    #[inline]
    pub(super) fn of_scan(bytes: &'a [u8; PACKED_LEN], scan: &Scan) -> Result<Self, PositionFault> {
        let Scan { occupied, kings: [black, white], foreign } = *scan;
        if foreign {
            return Err(PositionFault::BoardByte);
        }
        let mover = match bytes[SIDE] {
            0 => Color::Black,
            1 => Color::White,
            _ => return Err(PositionFault::SideByte),
        };
        let once = |bits: u128| bits != 0 && bits & (bits - 1) == 0;
        if !once(black) || !once(white) {
            return Err(PositionFault::Kings);
        }
        let in_hand = Self::hand_sum(bytes).ok_or(PositionFault::Hand)?;
        if occupied.count_ones() + in_hand > MOST {
            return Err(PositionFault::Men);
        }
        let kings = [black.trailing_zeros() as usize, white.trailing_zeros() as usize];
        Ok(Self { bytes, occupied, mover, kings })
    }

    /// Pieces in both hands; `None` where one holds more of a kind than a full set has.
    #[inline]
    fn hand_sum(bytes: &[u8; PACKED_LEN]) -> Option<u32> {
        const FULL: u64 = {
            let (mut full, mut at) = (0, 0);
            while at < HandKind::COUNT {
                full |= (HandKind::ALL[at].full_set() as u64) << (8 * at);
                at += 1;
            }
            full
        };
        let (black, white) = (seven(bytes, BLACK_HAND.start), seven(bytes, WHITE_HAND.start));
        // Full set less count keeps the top bit that is lent to it, unless the count is greater.
        let fits = |hand: u64| hand & HIGH == 0 && ((FULL | HIGH) - hand) & HIGH == HIGH;
        (fits(black) && fits(white)).then(|| u32::try_from(sum(black) + sum(white)).unwrap_or(u32::MAX))
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

    /// The position.
    pub(super) const fn bytes(&self) -> &'a [u8; PACKED_LEN] {
        self.bytes
    }

    /// The packed squares of all pieces but kings, a bit each.
    pub(super) const fn men(&self) -> u128 {
        self.occupied & !(1 << self.kings[0] | 1 << self.kings[1])
    }

    /// Calls `with` for every piece on the board, in the order of packed squares: the square, below 81, and its byte.
    #[inline(always)]
    pub fn pieces(&self, mut with: impl FnMut(usize, u8)) {
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        let halves = [(0, self.occupied as u64), (64, (self.occupied >> 64) as u64)];
        for (first, mut bits) in halves {
            while bits != 0 {
                let square = first + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                with(square, self.bytes[square % BOARD.end]);
            }
        }
    }

    /// Calls `with` for every kind in a side's hand, in hand order: the kind's index and how many, at least one.
    #[inline(always)]
    pub fn hand(&self, color: Color, mut with: impl FnMut(usize, u8)) {
        let from = match color {
            Color::Black => BLACK_HAND.start,
            Color::White => WHITE_HAND.start,
        };
        let hand = seven(self.bytes, from);
        // Counts are below 128: adding 127 lifts the top bit of those that are not zero.
        let mut there = (hand + (HIGH - LOW)) & HIGH;
        while there != 0 {
            let shift = there.trailing_zeros() & !7;
            there &= there - 1;
            with(shift as usize / 8, (hand >> shift & 0xFF) as u8);
        }
    }
}

/// Seven counts from a byte on.
#[inline]
fn seven(bytes: &[u8; PACKED_LEN], from: usize) -> u64 {
    const SEVEN: u64 = u64::MAX >> 8;
    bytes[from..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk)) & SEVEN
}

/// What the board bytes hold, a bit a square.
pub(super) struct Scan {
    pub occupied: u128,
    /// Black's and White's.
    pub kings: [u128; 2],
    /// Whether a byte is neither empty nor a piece.
    pub foreign: bool,
}

const _: () = assert!(EMPTY == 0xFF && BOARD.start == 0 && BOARD.end == 81);
const SQUARES: u128 = (1 << BOARD.end) - 1;

#[cfg(target_arch = "x86_64")]
#[inline]
fn scan(bytes: &[u8; PACKED_LEN]) -> Scan {
    // SAFETY: SSE2 is part of every x86_64, and that is all the function asks for: it takes no pointer. Without it a
    // scan takes three times as long. The fuzz target `packed` and the test below reach it.
    unsafe { scan_sixteen(bytes) }
}

/// Looks at sixteen squares at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn scan_sixteen(bytes: &[u8; PACKED_LEN]) -> Scan {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };
    let every = |byte: u8| _mm_set1_epi8(byte.cast_signed());
    let (empty, white_king) = (every(EMPTY), every(WHITE_BIT));
    let (upper, middle, zero) = (every(0xE0), every(0x0E), every(0));
    let bits = |lanes: __m128i| u128::from(_mm_movemask_epi8(lanes).cast_unsigned());
    let (mut is_empty, mut is_piece, mut kings) = (0, 0, [0; 2]);
    let (chunks, _) = bytes.as_chunks::<16>();
    for (number, chunk) in chunks.iter().enumerate() {
        let (low, high) = chunk.split_at(8);
        let half = |half: &[u8]| half.first_chunk().map_or(0, |chunk| i64::from_le_bytes(*chunk));
        let lanes = _mm_set_epi64x(half(high), half(low));
        let named = _mm_cmpeq_epi8(_mm_and_si128(lanes, upper), zero);
        let unnamed = _mm_cmpeq_epi8(_mm_and_si128(lanes, middle), middle);
        let blank = _mm_cmpeq_epi8(lanes, empty);
        let shift = 16 * number;
        is_empty |= bits(blank) << shift;
        is_piece |= (bits(named) & !bits(_mm_or_si128(unnamed, blank))) << shift;
        kings[0] |= bits(_mm_cmpeq_epi8(lanes, zero)) << shift;
        kings[1] |= bits(_mm_cmpeq_epi8(lanes, white_king)) << shift;
    }
    Scan {
        occupied: is_piece & SQUARES,
        kings: kings.map(|bits| bits & SQUARES),
        foreign: (is_empty | is_piece) & SQUARES != SQUARES,
    }
}

/// The slow twin: square by square.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn scan_bytes(bytes: &[u8; PACKED_LEN]) -> Scan {
    let mut scan = Scan { occupied: 0, kings: [0; 2], foreign: false };
    for (square, &byte) in bytes[BOARD].iter().enumerate() {
        let bit = 1u128 << square;
        match manaka_core::packed::piece_of(byte) {
            Some((color, kind)) => {
                scan.occupied |= bit;
                if kind == PieceKind::King {
                    scan.kings[color as usize] |= bit;
                }
            }
            None => scan.foreign |= byte != EMPTY,
        }
    }
    scan
}

#[cfg(not(target_arch = "x86_64"))]
use scan_bytes as scan;

/// The kind of a board byte of a [`Board`].
pub(crate) const fn kind(byte: u8) -> usize {
    const _: () = assert!(PieceKind::COUNT <= 16);
    (byte & 0x0F) as usize
}

/// Whether a board byte is a piece of the mover.
pub(crate) const fn is_movers(byte: u8, mover: Color) -> bool {
    (byte & WHITE_BIT != 0) == matches!(mover, Color::White)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_squares_at_a_time_see_what_one_at_a_time_sees() {
        let mut bytes = [0; PACKED_LEN];
        let mut state = 1u64;
        for round in 0..20_000u32 {
            for byte in &mut bytes {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let [.., draw, other] = state.to_be_bytes().map(|byte| byte);
                // Pieces and empty squares mostly; now and then anything.
                *byte = if round % 4 == 0 && draw < 20 {
                    other
                } else {
                    [EMPTY, other & 0x1F][usize::from(draw & 1)]
                };
                if round % 4 != 1 && *byte & 0x0E == 0x0E && *byte != EMPTY {
                    *byte = EMPTY;
                }
            }
            let (fast, slow) = (scan(&bytes), scan_bytes(&bytes));
            assert_eq!(fast.foreign, slow.foreign, "{bytes:x?}");
            if !slow.foreign {
                assert_eq!((fast.occupied, fast.kings), (slow.occupied, slow.kings), "{bytes:x?}");
            }
        }
        for byte in 0..=u8::MAX {
            bytes[..81].fill(EMPTY);
            bytes[80] = byte;
            assert_eq!(scan(&bytes).foreign, scan_bytes(&bytes).foreign, "{byte:#x}");
        }
    }
}
