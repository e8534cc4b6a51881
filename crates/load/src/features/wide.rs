//! The lists of HalfKP and KP with AVX-512: whole boards in registers, and no loop over pieces (features.md §4 and §5).
//!
//! A piece is three bytes: its code, and what is added to the code's base in either list. Pieces on the board are the bytes
//! of the squares that are occupied, pressed together; pieces in hand are pressed out of a list of all that could be there.
//! [`Men`](super::halfkp) says the same piece by piece, and is held against this by the tests below.

use super::board::{Board, PositionFault, Scan};
use super::halfkp::{BOARDS, HANDS, PAD};
use super::view::{TABLES, View};
use super::{HALFKP_WIDTH, MEN};
use manaka_core::packed::{BLACK_HAND, BOARD, EMPTY, PACKED_LEN, WHITE_BIT, WHITE_HAND};
use manaka_core::{Color, HandKind, PieceKind, Square};
use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_add_epi16, _mm512_add_epi32, _mm512_and_si512, _mm512_castsi512_si256,
    _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_cvtepu8_epi16, _mm512_cvtepu16_epi32,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_mask_blend_epi32,
    _mm512_mask_permutexvar_epi8, _mm512_mask_storeu_epi32, _mm512_maskz_compress_epi8,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi16, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_storeu_si512, _mm512_sub_epi8, _mm512_testn_epi8_mask,
};

/// Whether the processor has what this module is compiled for.
pub fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vbmi")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("lzcnt")
}

/// Lanes of a register of bytes.
const LANES: usize = 64;
/// The upper register holds the last 64 of the 96 bytes; its lanes from here on are those that the lower does not hold.
const UPPER: usize = PACKED_LEN - LANES;
const NEW: usize = LANES - UPPER;
const _: () = assert!(UPPER == 32 && NEW == 32 && MEN == 38);

/// A code that no piece on the board has: pieces in hand, whose base is 0.
const IN_HAND: u8 = 15;
const _: () = assert!(PieceKind::COUNT <= IN_HAND as usize);

/// By mover: the base of each code in the own and the other list.
static BASES: [[[u16; 32]; 2]; 2] = {
    let mut bases = [[[0; 32]; 2]; 2];
    let mut at = 0;
    while at < 2 * 2 * 32 {
        let (mover, list, code) = (at / 64, at / 32 % 2, at % 32);
        let (color, kind) = (code >> 4, code & 15);
        if kind < PieceKind::COUNT {
            let foreign = ((color != mover) as usize) ^ list;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 1629")]
            let base = BOARDS[foreign][kind] as u16;
            bases[mover][list][code] = base;
        }
        at += 1;
    }
    bases
};

/// By mover and mirror: the view's square of each byte of a position.
static SEEN: [[[u8; PACKED_LEN]; 2]; 2] = {
    let mut seen = [[[0; PACKED_LEN]; 2]; 2];
    let mut at = 0;
    while at < 2 * 2 * Square::COUNT {
        let (mover, mirror, square) = (at / 162, at / 81 % 2, at % 81);
        seen[mover][mirror][square] = TABLES[mover][mirror][square];
        at += 1;
    }
    seen
};

/// Every piece that a hand can hold, in hand order.
struct Hand {
    /// How many of its kind are in front of it.
    nth: [u8; LANES],
    /// Where its kind is counted: by colour, a lane of the upper register.
    count: [[u8; LANES]; 2],
    /// Its input in the owner's list and in the other.
    input: [[u8; LANES]; 2],
}

static HAND: Hand = {
    // Lanes behind the last piece are never there.
    let mut hand = Hand { nth: [u8::MAX; LANES], count: [[0; LANES]; 2], input: [[0; LANES]; 2] };
    let (mut kind, mut lane) = (0, 0);
    while kind < HandKind::COUNT {
        let mut nth = 0;
        while nth < HandKind::ALL[kind].full_set() {
            hand.nth[lane] = nth;
            let mut side = 0;
            while side < 2 {
                let from = if side == 0 { BLACK_HAND.start } else { WHITE_HAND.start };
                #[expect(clippy::cast_possible_truncation, reason = "below 64, and up to 89")]
                let (count, input) = ((from + kind - UPPER) as u8, HANDS[side][kind] as u8 + nth);
                hand.count[side][lane] = count;
                hand.input[side][lane] = input;
                side += 1;
            }
            nth += 1;
            lane += 1;
        }
        kind += 1;
    }
    assert!(lane == MEN);
    hand
};

static COUNTING: [u8; LANES] = {
    let mut counting = [0; LANES];
    let mut lane = 0u8;
    while (lane as usize) < LANES {
        counting[lane as usize] = lane;
        lane += 1;
    }
    counting
};

/// 64 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
fn bytes(from: &[u8; LANES]) -> __m512i {
    // SAFETY: reads the 64 bytes that the reference is to; no alignment is asked for. The tests below reach it.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// 32 halves of words.
#[target_feature(enable = "avx512f")]
#[inline]
fn words(from: &[u16; LANES / 2]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// The first and the last 64 of 96 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
fn both(from: &[u8; PACKED_LEN]) -> [__m512i; 2] {
    let last = from.last_chunk().unwrap_or(&COUNTING);
    [bytes(from.first_chunk().unwrap_or(&COUNTING)), bytes(last)]
}

/// Looks at a position as [`Board::new`] does.
///
/// # Errors
/// The same.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
pub fn board(packed: &[u8; PACKED_LEN]) -> Result<Board<'_>, PositionFault> {
    let every = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    let [low, high] = both(packed);
    // A bit a square.
    let squares = |of: [__mmask64; 2]| {
        const SQUARES: u128 = (1 << BOARD.end) - 1;
        (u128::from(of[0]) | u128::from(of[1]) << UPPER) & SQUARES
    };
    let equal = |byte: u8| {
        squares([_mm512_cmpeq_epi8_mask(low, every(byte)), _mm512_cmpeq_epi8_mask(high, every(byte))])
    };
    let middle = every(0x0E);
    let named = squares([low, high].map(|lanes| {
        _mm512_testn_epi8_mask(lanes, every(0xE0))
            & !_mm512_cmpeq_epi8_mask(_mm512_and_si512(lanes, middle), middle)
    }));
    let empty = equal(EMPTY);
    Board::of_scan(
        packed,
        &Scan {
            occupied: named,
            kings: [equal(0), equal(WHITE_BIT)],
            foreign: (empty | named).count_ones() != 81,
        },
    )
}

/// Writes the lists of all pieces but kings, a number added to each index, filled up with [`PAD`]; gives how many there
/// are.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
pub fn men(
    board: &Board<'_>,
    view: View,
    add: [i32; 2],
    own: &mut [i32; HALFKP_WIDTH],
    other: &mut [i32; HALFKP_WIDTH],
) -> usize {
    let counting = bytes(&COUNTING);
    // `front` up to the lane `from`, and `more` from there on.
    let behind = |front: __m512i, from: u32, more: __m512i| {
        #[expect(clippy::cast_possible_truncation, reason = "up to 38")]
        let shift = (from as u8).cast_signed();
        let lanes = !0u64 << (from & 63);
        let at = _mm512_sub_epi8(counting, _mm512_set1_epi8(shift));
        _mm512_mask_permutexvar_epi8(front, lanes, at, more)
    };

    let [low, high] = both(board.bytes());
    let seen = both(&SEEN[view.mover() as usize][usize::from(view.is_mirrored())]);
    let men = board.men();
    #[expect(clippy::cast_possible_truncation, reason = "halves, the upper one of 17 bits")]
    let (first, second) = (men as u64, (men >> LANES) as u64);
    let second = second << NEW;
    let pressed = |lanes: [__m512i; 2]| {
        let (one, two) =
            (_mm512_maskz_compress_epi8(first, lanes[0]), _mm512_maskz_compress_epi8(second, lanes[1]));
        behind(one, first.count_ones(), two)
    };
    let code = pressed([low, high]);
    let square = pressed(seen);
    let turned = _mm512_sub_epi8(_mm512_set1_epi8(80), square);
    let on_board = men.count_ones();
    let code = _mm512_mask_blend_epi8(!0u64 << on_board, code, _mm512_set1_epi8(IN_HAND.cast_signed()));

    let (mut count, mut lists) = (on_board, [square, turned]);
    let nth = bytes(&HAND.nth);
    for color in Color::ALL {
        let counts = _mm512_permutexvar_epi8(bytes(&HAND.count[color as usize]), high);
        let there = _mm512_cmplt_epu8_mask(nth, counts);
        let foreign = usize::from(color != view.mover());
        let own = _mm512_maskz_compress_epi8(there, bytes(&HAND.input[foreign]));
        let other = _mm512_maskz_compress_epi8(there, bytes(&HAND.input[1 - foreign]));
        lists = [behind(lists[0], count, own), behind(lists[1], count, other)];
        count += there.count_ones();
    }

    let bases = &BASES[view.mover() as usize];
    write(code, lists[0], words(&bases[0]), add[0], count, own);
    write(code, lists[1], words(&bases[1]), add[1], count, other);
    count as usize
}

/// Writes a list: the base of each code, what is added to it, and a number more.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn write(code: __m512i, more: __m512i, bases: __m512i, add: i32, count: u32, list: &mut [i32; HALFKP_WIDTH]) {
    let (pad, add) = (_mm512_set1_epi32(PAD), _mm512_set1_epi32(add));
    let there = (1u64 << count.min(63)) - 1;
    // Sixteen indices of as many 16-bit inputs.
    let sixteen = |inputs, from: u32| {
        let lanes = (there >> from & 0xFFFF) as u16;
        _mm512_mask_blend_epi32(lanes, pad, _mm512_add_epi32(_mm512_cvtepu16_epi32(inputs), add))
    };
    let inputs = |code, more| {
        let base = _mm512_permutexvar_epi16(_mm512_cvtepu8_epi16(code), bases);
        _mm512_add_epi16(base, _mm512_cvtepu8_epi16(more))
    };
    let upper = |lanes| _mm512_extracti64x4_epi64::<1>(lanes);
    let front = inputs(_mm512_castsi512_si256(code), _mm512_castsi512_si256(more));
    let rest = inputs(upper(code), upper(more));
    let parts = [
        sixteen(_mm512_castsi512_si256(front), 0),
        sixteen(upper(front), 16),
        sixteen(_mm512_castsi512_si256(rest), 32),
    ];
    let to = list.as_mut_ptr();
    // SAFETY: 16, 16 and, masked, the last 6 numbers of a list of 38; no alignment is asked for. The tests below reach it.
    unsafe {
        _mm512_storeu_si512(to.cast(), parts[0]);
        _mm512_storeu_si512(to.add(16).cast(), parts[1]);
        _mm512_mask_storeu_epi32(to.add(32), (1 << (MEN - 32)) - 1, parts[2]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::halfkp;
    use super::*;
    use manaka_core::packed::{SIDE, board_byte};
    use proptest::prelude::*;

    /// Kings, then pieces by square, kind and owner where there is room, the others in hand; a byte set to anything.
    fn positions() -> impl Strategy<Value = [u8; PACKED_LEN]> {
        let kings = (0usize..81, 0usize..81);
        let men = (0usize..4).prop_flat_map(|empty| {
            // What has no square of the board goes to a hand: from what finds its square taken to four men in five.
            proptest::collection::vec((0..81 + 110 * empty, 0usize..13, any::<bool>()), 0..39)
        });
        let wrong = proptest::option::weighted(0.2, (0usize..PACKED_LEN, any::<u8>()));
        (kings, men, any::<bool>(), wrong).prop_map(|((black, white), men, side, wrong)| {
            let mut bytes = [0; PACKED_LEN];
            bytes[BOARD].fill(EMPTY);
            bytes[white] = WHITE_BIT;
            bytes[black] = 0;
            for (square, kind, owner) in men {
                let color = if owner { Color::White } else { Color::Black };
                if square < 81 && bytes[square] == EMPTY {
                    bytes[square] = board_byte(color, PieceKind::ALL[kind + 1]);
                } else {
                    let kind = HandKind::ALL[kind % 7];
                    let hand = if owner { WHITE_HAND } else { BLACK_HAND };
                    let count = &mut bytes[hand.start + kind as usize];
                    *count = (*count + 1).min(kind.full_set());
                }
            }
            bytes[SIDE] = side.into();
            if let Some((at, byte)) = wrong {
                bytes[at] = byte;
            }
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn whole_boards_at_once_give_what_piece_by_piece_gives(bytes in positions(), mirrored: bool, add: [i16; 2]) {
            if !available() {
                return Ok(());
            }
            let slow = Board::new(&bytes);
            // SAFETY: the processor has what it takes.
            let fast = unsafe { board(&bytes) };
            prop_assert_eq!(format!("{slow:?}"), format!("{fast:?}"));
            if let Ok(seen) = slow {
                let view = View::of(seen.mover()).mirrored(mirrored);
                let (add, mut slow, mut fast) = (add.map(i32::from), [[7; MEN]; 2], [[8; MEN]; 2]);
                let [own, other] = &mut slow;
                let count = halfkp::men(&seen, view, add, own, other);
                let [own, other] = &mut fast;
                // SAFETY: as above.
                let also = unsafe { men(&seen, view, add, own, other) };
                prop_assert_eq!((slow, count), (fast, also));
            }
        }
    }
}
