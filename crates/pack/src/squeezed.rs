//! A position as buckets and spools hold it: about 40 bytes instead of 96, so that a scatter moves little more than half.
//!
//! ```text
//! squeezed   length 8 | occupied 81 | Black's hand 21 | White's hand 21 | White to move 1 | 0 4 | n × piece 5 | 0 to a whole byte
//! as it is   length 8 | packed 96 × 8
//! ```
//!
//! The numbers are bits, counted from the least of the first byte. The length is that of all bytes with itself, 97 for a
//! position that stands as it is. `occupied` and the pieces stand in the order of squares; a piece is its board byte, a hand
//! takes 5 bits for its pawns, 3 for each of L, N, S, G and 2 for B and R. Positions that do not fit, which no game reaches,
//! stand as they are: the bytes of two positions are equal just when the positions are.

// The fuzz target takes this file into a crate of its own, where only a path finds these.
#[cfg(target_arch = "x86_64")]
#[path = "squeezed/bmi2.rs"]
mod bmi2;
#[cfg(target_arch = "x86_64")]
#[path = "squeezed/wide.rs"]
mod wide;

use manaka_core::Color;
use manaka_core::packed::{BLACK_HAND, BOARD, EMPTY, PACKED_LEN, SIDE, WHITE_HAND};

/// Bytes between the length and the pieces, and of a position that stands as it is.
const HEAD: usize = 16;
const AS_IT_IS: usize = 1 + PACKED_LEN;
/// Bits of a piece, and of a hand.
const PIECE: u32 = 5;
const HAND: u32 = 21;
/// Where the fields of the head begin behind the squares.
const HANDS: [u32; 2] = [81, 81 + HAND];
const WHITE: u32 = HANDS[1] + HAND;
const SQUARES: u128 = (1 << BOARD.end) - 1;

/// Bytes behind the length in which any squeezed position can be written, and from which any can be read, eight at a time.
const WINDOW: usize = 80;
const _: () = assert!(HEAD + (BOARD.end * PIECE as usize).div_ceil(8) + 8 <= WINDOW && AS_IT_IS > WINDOW);

/// Room for any position.
pub const ROOM: usize = AS_IT_IS;

/// Bits of a word that holds a board byte, or the counts of a hand, in each of its bytes.
const ONES: u64 = 0x0101_0101_0101_0101;
const PIECES: u64 = ONES * 0x1F;
const COUNTS: u64 = 0x0003_0307_0707_071F;
const _: () = assert!(COUNTS.count_ones() == HAND);

/// A position where it lies. Equal to another just when their 96 bytes are.
#[derive(Clone, Copy)]
pub struct Position<'a> {
    /// From its start on, with whatever is behind it.
    from: &'a [u8],
    len: usize,
}

impl<'a> Position<'a> {
    /// The position at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let len = usize::from(*bytes.first()?);
        let known = len == AS_IT_IS || (1 + HEAD..=1 + WINDOW).contains(&len);
        (known && len <= bytes.len()).then_some(Self { from: bytes, len })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        &self.from[..self.len]
    }

    /// What lies behind it.
    pub fn rest(&self) -> &'a [u8] {
        &self.from[self.len..]
    }

    /// Who is to move; White for a side byte that is neither's.
    pub fn mover(&self) -> Color {
        let white = match self.len {
            AS_IT_IS => self.from[1 + SIDE],
            _ => self.from[1 + WHITE as usize / 8] & 1 << (WHITE % 8),
        };
        if white == 0 { Color::Black } else { Color::White }
    }

    /// The 96 bytes.
    pub fn packed(&self) -> [u8; PACKED_LEN] {
        if self.len == AS_IT_IS {
            return self.from[1..].first_chunk().copied().unwrap_or([0; PACKED_LEN]);
        }
        if let Some(window) = self.from[1..].first_chunk() {
            return restore(window);
        }
        let mut window = [0; WINDOW];
        window[..self.len - 1].copy_from_slice(&self.bytes()[1..]);
        restore(&window)
    }
}

impl PartialEq for Position<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

/// Writes any 96 bytes to the start of `to`; says how many bytes they take. Behind them anything may have been written.
pub fn squeeze(packed: &[u8; PACKED_LEN], to: &mut [u8; ROOM]) -> usize {
    let [length, rest @ ..] = to;
    let squeezed = rest.first_chunk_mut().and_then(|window| squeeze_bits(packed, window));
    let len = squeezed.unwrap_or_else(|| {
        *rest = *packed;
        PACKED_LEN
    });
    *length = (1 + len).to_le_bytes()[0];
    1 + len
}

/// `None` where the bytes do not fit.
fn squeeze_bits(packed: &[u8; PACKED_LEN], to: &mut [u8; WINDOW]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if wide::is_available() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { wide::squeeze(packed, to) };
    } else if bmi2::is_fast() {
        // SAFETY: as above.
        return unsafe { bmi2::squeeze(packed, to) };
    }
    squeeze_with(packed, to, extract)
}

fn restore(from: &[u8; WINDOW]) -> [u8; PACKED_LEN] {
    #[cfg(target_arch = "x86_64")]
    if wide::is_available() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { wide::restore(from) };
    } else if bmi2::is_fast() {
        // SAFETY: as above.
        return unsafe { bmi2::restore(from) };
    }
    restore_with(from, deposit)
}

/// The seven counts of a hand, in a word.
fn counts(hand: &[u8]) -> u64 {
    hand.iter().rev().fold(0, |word, &count| word << 8 | u64::from(count))
}

/// As [`squeeze_bits`], with a way to bring bits together.
#[inline(always)]
fn squeeze_with(
    packed: &[u8; PACKED_LEN],
    to: &mut [u8; WINDOW],
    extract: impl Fn(u64, u64) -> u64,
) -> Option<usize> {
    let (mut squares, mut foreign) = ([0; HEAD], 0);
    // The pieces whose bits are not a whole byte yet, and how many bits these are.
    let (mut held, mut bits, mut at) = (0u64, 0, HEAD);
    let words = packed[..BOARD.end].as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let last = u64::from(packed[BOARD.end - 1]) | !0xFF;
    for (square, word) in squares.iter_mut().zip(words.chain([last])) {
        // Only an empty square has the high bit.
        let empty = (word >> 7 & ONES) * 0xFF;
        foreign |= (word ^ empty) & (empty | !PIECES);
        let occupied = extract(!word, ONES << 7);
        [*square, ..] = occupied.to_le_bytes();
        held |= extract(word, !empty & PIECES) << bits;
        to[at..at + 8].copy_from_slice(&held.to_le_bytes());
        bits += occupied.count_ones() * PIECE;
        at += bits as usize / 8;
        held >>= bits & !7;
        bits &= 7;
    }
    let mut head = u128::from_le_bytes(squares);
    for (hand, place) in [BLACK_HAND, WHITE_HAND].into_iter().zip(HANDS) {
        let counts = counts(&packed[hand]);
        foreign |= counts & !COUNTS;
        head |= u128::from(extract(counts, COUNTS)) << place;
    }
    foreign |= u64::from(packed[SIDE] & !1);
    head |= u128::from(packed[SIDE]) << WHITE;
    to[..HEAD].copy_from_slice(&head.to_le_bytes());
    (foreign == 0).then_some(at + usize::from(bits > 0))
}

/// What was squeezed. Any bytes give some 96.
#[inline(always)]
fn restore_with(from: &[u8; WINDOW], deposit: impl Fn(u64, u64) -> u64) -> [u8; PACKED_LEN] {
    let mut packed = [EMPTY; PACKED_LEN];
    let (head, pieces) = from.split_first_chunk::<HEAD>().unwrap_or((&[0; HEAD], &[]));
    let head = u128::from_le_bytes(*head);
    let occupied = (head & SQUARES).to_le_bytes();
    // Bits of the pieces that were taken.
    let mut taken = 0;
    let mut word = |number: usize| {
        let occupied = u64::from(occupied[number]);
        let at = taken as usize / 8;
        let eight = pieces.get(at..at + 8).and_then(|eight| eight.first_chunk()).unwrap_or(&[0; 8]);
        let held = u64::from_le_bytes(*eight) >> (taken % 8);
        taken += occupied.count_ones() * PIECE;
        let squares = deposit(occupied, ONES);
        deposit(held, squares * 0x1F) | ((squares ^ ONES) * 0xFF)
    };
    let (words, last) = packed[..BOARD.end].as_chunks_mut();
    for (number, place) in words.iter_mut().enumerate() {
        *place = word(number).to_le_bytes();
    }
    last[0] = word(words.len()).to_le_bytes()[0];
    for (hand, place) in [BLACK_HAND, WHITE_HAND].into_iter().zip(HANDS) {
        #[expect(clippy::cast_possible_truncation, reason = "the mask names the low bits")]
        let counts = deposit((head >> place) as u64, COUNTS).to_le_bytes();
        packed[hand.clone()].copy_from_slice(&counts[..hand.len()]);
    }
    packed[SIDE] = (head >> WHITE).to_le_bytes()[0] & 1;
    packed
}

/// The bits of a word that a mask names, brought together. The mask names bits that are side by side in each byte.
fn extract(word: u64, mask: u64) -> u64 {
    let (mut bits, mut count) = (0, 0);
    for (byte, named) in word.to_le_bytes().into_iter().zip(mask.to_le_bytes()) {
        bits |= u64::from(byte & named) >> first(named) << count;
        count += named.count_ones();
    }
    bits
}

/// Bits brought to where a mask names them: what [`extract`] takes from there.
fn deposit(bits: u64, mask: u64) -> u64 {
    let mut count = 0;
    let bytes = mask.to_le_bytes().map(|named| {
        let byte = (bits >> count).to_le_bytes()[0] << (first(named) & 7) & named;
        count += named.count_ones();
        byte
    });
    u64::from_le_bytes(bytes)
}

/// The first bit that a byte of a mask names; 8 where it names none.
fn first(named: u8) -> u32 {
    (u32::from(named) | 1 << 8).trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use manaka_core::Packed;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn of(packed: &[u8; PACKED_LEN]) -> Vec<u8> {
        let mut room = [0xA5; ROOM];
        let len = squeeze(packed, &mut room);
        room[..len].to_vec()
    }

    fn of_sfen(sfen: &str) -> [u8; PACKED_LEN] {
        *Packed::from_sfen(sfen).unwrap().0.as_bytes()
    }

    /// Any bytes, mostly of few pieces or many, with now and then one that no position has.
    fn packed() -> impl Strategy<Value = [u8; PACKED_LEN]> {
        let square =
            |empty: u32| prop_oneof![empty => Just(EMPTY), 9 => 0u8..32, 1 => select(vec![0, 31, 13, 30])];
        let board = (0u32..30).prop_flat_map(move |empty| prop::collection::vec(square(empty), BOARD.end));
        let hand = || [0u8..=31, 0..=7, 0..=7, 0..=7, 0..=7, 0..=3, 0..=3];
        let odd = prop::option::weighted(0.2, (0..PACKED_LEN, any::<u8>()));
        (board, hand(), hand(), 0u8..2, odd).prop_map(|(board, black, white, side, odd)| {
            let mut packed = [0; PACKED_LEN];
            packed[BOARD].copy_from_slice(&board);
            packed[BLACK_HAND].copy_from_slice(&black);
            packed[WHITE_HAND].copy_from_slice(&white);
            packed[SIDE] = side;
            if let Some((at, byte)) = odd {
                packed[at] = byte;
            }
            packed
        })
    }

    #[test]
    fn the_initial_position_takes_the_bytes_of_the_layout() {
        let packed = of_sfen("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
        let bytes = of(&packed);
        // Forty pieces behind seventeen bytes.
        assert_eq!(bytes.len(), 17 + 25);
        let position = Position::read(&bytes).unwrap();
        assert_eq!(
            (position.packed(), position.mover(), position.bytes()),
            (packed, Color::Black, &bytes[..])
        );
        // By hand, bit by bit, in the most direct words.
        let mut bits = vec![false; 8 * bytes.len()];
        let mut put = |at: usize, value: u8, width: usize| {
            (0..width).for_each(|bit| bits[at + bit] = value >> bit & 1 != 0)
        };
        let occupied = packed[BOARD].iter().enumerate().filter(|(_, byte)| **byte != EMPTY);
        for (piece, (square, &byte)) in occupied.enumerate() {
            put(8 + square, 1, 1);
            put(8 + 128 + 5 * piece, byte, 5);
        }
        put(0, 42, 8);
        let expected: Vec<u8> =
            bits.chunks(8).map(|bits| (0..8).map(|bit| u8::from(bits[bit]) << bit).sum()).collect();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn hands_and_the_mover_stand_behind_the_squares() {
        let packed = of_sfen("4k4/9/9/9/9/9/9/9/4K4 w R2B3G2S4N4L9P9p 1");
        let bytes = of(&packed);
        assert_eq!(bytes.len(), 17 + 2);
        let head = u128::from_le_bytes(*bytes[1..].first_chunk().unwrap());
        let [p, l, n, s, g, b, r] = [9u128, 4, 4, 2, 3, 2, 1];
        let black = p | l << 5 | n << 8 | s << 11 | g << 14 | b << 17 | r << 19;
        assert_eq!(head >> 81 & ((1 << 21) - 1), black);
        assert_eq!(head >> 102, 9 | 1 << 21);
        let position = Position::read(&bytes).unwrap();
        assert_eq!((position.packed(), position.mover()), (packed, Color::White));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_position_comes_back_and_says_who_is_to_move(packed in packed(), behind in 0usize..100) {
            let mut bytes = of(&packed);
            let len = bytes.len();
            bytes.resize(len + behind, 0x5A);
            let position = Position::read(&bytes).unwrap();
            prop_assert_eq!(position.packed(), packed);
            prop_assert_eq!(position.bytes().len(), len);
            prop_assert_eq!(position.mover(), Packed::from_bytes(packed).side());
            for short in 0..len {
                prop_assert!(Position::read(&bytes[..short]).is_none());
            }
        }

        #[test]
        fn all_ways_give_the_same_bytes(packed in packed()) {
            let mut rooms = [[0; WINDOW]; 3];
            let plain = squeeze_with(&packed, &mut rooms[0], extract);
            let pieces = packed[BOARD].iter().filter(|byte| **byte < EMPTY).count();
            prop_assert!(plain.is_none_or(|len| len == HEAD + (5 * pieces).div_ceil(8)));
            let back = restore_with(&rooms[0], deposit);
            if plain.is_some() {
                prop_assert_eq!(back, packed);
            }
            #[cfg(target_arch = "x86_64")]
            {
                if bmi2::is_fast() {
                    // SAFETY: the processor has what the functions are compiled for.
                    let (len, restored) = unsafe { (bmi2::squeeze(&packed, &mut rooms[1]), bmi2::restore(&rooms[0])) };
                    prop_assert_eq!(len, plain);
                    prop_assert_eq!(&rooms[1][..len.unwrap_or(0)], &rooms[0][..len.unwrap_or(0)]);
                    prop_assert_eq!(restored, back);
                }
                if wide::is_available() {
                    // SAFETY: as above.
                    let (len, restored) = unsafe { (wide::squeeze(&packed, &mut rooms[2]), wide::restore(&rooms[0])) };
                    prop_assert_eq!(len, plain);
                    prop_assert_eq!(&rooms[2][..len.unwrap_or(0)], &rooms[0][..len.unwrap_or(0)]);
                    prop_assert_eq!(restored, back);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..150)) {
            if let Some(position) = Position::read(&bytes) {
                let packed = position.packed();
                position.mover();
                if bytes[0] == 97 {
                    prop_assert_eq!(&packed[..], &bytes[1..97]);
                }
            }
        }

        #[test]
        fn bits_are_extracted_and_deposited_as_one_by_one(word in any::<u64>(), hand in any::<bool>(), bytes in any::<u64>()) {
            let bytes = (bytes & ONES) * 0xFF;
            let mask = if hand { COUNTS } else { bytes & PIECES };
            let (mut extracted, mut deposited, mut count) = (0u64, 0u64, 0);
            for bit in (0..64).filter(|bit| mask >> bit & 1 != 0) {
                extracted |= (word >> bit & 1) << count;
                deposited |= (word >> count & 1) << bit;
                count += 1;
            }
            prop_assert_eq!(extract(word, mask), extracted);
            prop_assert_eq!(deposit(word, mask), deposited);
        }
    }
}
