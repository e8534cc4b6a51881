//! dlshogi's input planes, and the three forms they are delivered in (features.md §6).

use super::attacks::{Attacks, Bitboard, COUNTS, KINDS_ROOM, attacks, bit};
use super::board::{Board, is_movers, kind};
use super::view::View;
use manaka_core::{HandKind, PieceKind, Square};

/// Planes that differ by square: for each side 14 of pieces, 14 of attacks, 3 of attack counts.
pub const PLANES1: usize = 62;
/// Planes that are all zeros or all ones: hands and check.
pub const PLANES2: usize = 57;
/// Bytes of a row of the first planes, a bit a square.
pub const BITS1: usize = (PLANES1 * Square::COUNT).div_ceil(8);
/// Bytes of a row of the second planes, a bit a plane.
pub const BITS2: usize = PLANES2.div_ceil(8);
const _: () = assert!(BITS1 == 628 && BITS2 == 8);

/// Words of the first planes, a bit a square, with room for bits in front of them and for whole registers of eight words.
pub(super) const WORDS: usize = (PLANES1 * Square::COUNT + 63).div_ceil(64 * 8) * 8;

const KINDS: usize = PieceKind::COUNT;
/// Planes of one side.
const SIDE_PLANES: usize = PLANES1 / 2;
const _: () = assert!(SIDE_PLANES == 2 * KINDS + COUNTS);
/// The plane of each board kind: P L N S B R G K +P +L +N +S +B +R.
const PLANE: [usize; KINDS] = [7, 5, 4, 6, 3, 2, 1, 0, 13, 12, 11, 10, 9, 8];
/// The first plane of a hand's kind and how many it has, in hand order.
const HANDS: [(u32, u8); HandKind::COUNT] = [(0, 8), (8, 4), (12, 4), (16, 4), (20, 4), (24, 2), (26, 2)];
/// Planes of one hand.
const HAND_PLANES: u32 = 28;
/// The plane of check.
const CHECK: u32 = 2 * HAND_PLANES;

/// The planes of one position: squares of the view as bits of a board, whole planes as bits of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planes {
    first: [Bitboard; PLANES1],
    second: u64,
}

impl Planes {
    /// No piece anywhere: what [`Planes::set`] is called on.
    pub const EMPTY: Self = Self { first: [0; PLANES1], second: 0 };

    /// Any planes.
    #[cfg(test)]
    pub(super) const fn of(first: [Bitboard; PLANES1], second: u64) -> Self {
        Self { first, second }
    }

    /// Makes the planes of a position.
    #[inline(always)]
    pub fn set(&mut self, board: &Board<'_>, view: View) {
        let (mover, squares) = (view.mover(), view.squares());
        let mut men = [[0; KINDS_ROOM]; 2];
        let mut occupied = 0;
        board.pieces(|square, byte| {
            let here = bit(squares[square]);
            occupied |= here;
            men[usize::from(!is_movers(byte, mover))][kind(byte)] |= here;
        });
        let mut attacked = [0; 2];
        for (side, men) in men.iter().enumerate() {
            let Attacks { of_kind, counts } = attacks(men, side, occupied);
            let planes = &mut self.first[side * SIDE_PLANES..][..SIDE_PLANES];
            for kind in 0..KINDS {
                planes[PLANE[kind]] = men[kind];
                planes[KINDS + PLANE[kind]] = of_kind[kind];
                // A king gives no check.
                attacked[side] |= if kind == PieceKind::King as usize { 0 } else { of_kind[kind] };
            }
            planes[2 * KINDS..].copy_from_slice(&counts);
        }

        self.second = 0;
        let mut at = 0;
        for color in [mover, mover.flip()] {
            board.hand(color, |kind, count| {
                let (base, planes) = HANDS[kind];
                self.second |= ((1 << count.min(planes)) - 1) << (at + base);
            });
            at += HAND_PLANES;
        }
        let check = attacked[1] & bit(squares[board.king(mover)]) != 0;
        self.second |= u64::from(check) << CHECK;
    }

    /// The planes that are all zeros or all ones, a bit each.
    #[cfg(target_arch = "x86_64")]
    pub(super) const fn whole(&self) -> u64 {
        self.second
    }

    /// The first planes a bit a square, behind fewer than 64 bits of 0.
    #[inline(always)]
    pub(super) fn words(&self, zeros: usize) -> [u64; WORDS] {
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        const fn halves(board: Bitboard) -> (u64, u64) {
            (board as u64, (board >> 64) as u64)
        }
        let mut words = [0u64; WORDS];
        // Bits behind the last whole word, which are fewer than 64.
        let (mut word, mut held, mut rest) = (0, zeros, 0);
        for &board in &self.first {
            let (low, high) = halves(board);
            words[word] = rest | low << held;
            // In two steps: a shift by 64 is none.
            let over = low >> 1 >> (63 - held);
            // 17 bits are left of the board.
            rest = over | high << held;
            word += 1;
            held += 17;
            if held >= 64 {
                words[word] = rest;
                word += 1;
                held -= 64;
                rest = high >> (17 - held);
            }
        }
        words[word] = rest;
        words
    }

    /// Writes both bit-packed forms (features.md §6.2).
    #[inline]
    pub fn bits(&self, first: &mut [u8; BITS1], second: &mut [u8; BITS2]) {
        let words = self.words(0);
        let (eights, last) = first.as_chunks_mut::<8>();
        for (bytes, word) in eights.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        let end = words[BITS1 / 8].to_le_bytes();
        last.copy_from_slice(&end[..last.len()]);
        *second = self.second.to_le_bytes();
    }

    /// Writes a number a square: 0 and 1 as `T` (features.md §6.1).
    pub fn unfold<T: Unfolded>(
        &self,
        first: &mut [T; PLANES1 * Square::COUNT],
        second: &mut [T; PLANES2 * Square::COUNT],
    ) {
        let (planes, _) = first.as_chunks_mut::<{ Square::COUNT }>();
        for (plane, &board) in planes.iter_mut().zip(&self.first) {
            T::unfold(board, plane);
        }
        second.fill(T::BIT[0]);
        let (planes, _) = second.as_chunks_mut::<{ Square::COUNT }>();
        let mut ones = self.second;
        while ones != 0 {
            if let Some(plane) = planes.get_mut(ones.trailing_zeros() as usize) {
                plane.fill(T::BIT[1]);
            }
            ones &= ones - 1;
        }
    }
}

/// A number that planes are unfolded to.
pub trait Unfolded: Copy {
    /// Zero and one.
    const BIT: [Self; 2];
    /// Eight numbers by eight bits, lowest first.
    const BYTE: [[Self; 8]; 256];

    /// Writes a board, a number a square.
    fn unfold(board: Bitboard, plane: &mut [Self; Square::COUNT]) {
        let (eights, last) = plane.as_chunks_mut::<8>();
        for (eight, byte) in eights.iter_mut().zip(board.to_le_bytes()) {
            *eight = Self::BYTE[usize::from(byte)];
        }
        last.fill(Self::BIT[usize::from(board >> 80 & 1 != 0)]);
    }
}

macro_rules! unfolded {
    ($number:ty, $zero:literal, $one:literal) => {
        impl Unfolded for $number {
            const BIT: [Self; 2] = [$zero, $one];
            const BYTE: [[Self; 8]; 256] = {
                let mut table = [[$zero; 8]; 256];
                let mut at = 0;
                while at < 2048 {
                    if at / 8 >> (at % 8) & 1 != 0 {
                        table[at / 8][at % 8] = $one;
                    }
                    at += 1;
                }
                table
            };
        }
    };
}
unfolded!(u8, 0, 1);
unfolded!(f32, 0.0, 1.0);
