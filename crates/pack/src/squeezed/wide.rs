//! Squeezed positions with AVX-512: the pieces are pressed together in one register, and eight of them at a time become five
//! bytes. Positions of 64 pieces or more, which are none, go the way of [`bmi2`].

use super::{BLACK_HAND, COUNTS, HANDS, HEAD, PACKED_LEN, PIECE, SIDE, WHITE, WHITE_HAND, WINDOW, bmi2};
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_cmpeq_epi8_mask, _mm256_loadu_si256, _mm256_mask_expand_epi8,
    _mm256_mask_test_epi8_mask, _mm256_maskz_compress_epi8, _mm256_movepi8_mask, _mm256_set1_epi8,
    _mm256_storeu_si256, _mm512_add_epi8, _mm512_and_si512, _mm512_castsi256_si512, _mm512_castsi512_si256,
    _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maddubs_epi16,
    _mm512_mask_expand_epi8, _mm512_mask_permutexvar_epi8, _mm512_mask_test_epi8_mask,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_multishift_epi64_epi8, _mm512_or_si512,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi8, _pdep_u64, _pext_u64,
};
use std::sync::LazyLock;

/// Whether the processor has what this module is compiled for.
pub fn is_available() -> bool {
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && bmi2::is_fast()
    });
    *AVAILABLE
}

/// Lanes of a register, whose squares are the first 64; the 17 others are in the lower lanes of half a register.
const LANES: usize = 64;
const MANY: u32 = 64;
const UPPER: u32 = (1 << 17) - 1;
/// Where fields of the head begin in its upper half.
const BLACK: u32 = HANDS[0] - 64;
const WHITES: u32 = HANDS[1] - 64;
const TO_MOVE: u32 = WHITE - 64;
const _: () = assert!(WINDOW == HEAD + LANES && PACKED_LEN == LANES + 32 && HANDS[0] == 64 + 17);
const _: () = assert!(WHITE_HAND.start + 8 == PACKED_LEN && BLACK_HAND.start + 8 == WHITE_HAND.start + 1);

/// Lane numbers; the five bytes of each eight lanes behind one another; and back, with three more that do not matter.
static COUNTING: [u8; LANES] = lanes(1, 1);
static FIVE_OF_EIGHT: [u8; LANES] = lanes(5, 8);
static EIGHT_OF_FIVE: [u8; LANES] = lanes(8, 5);

/// Lane `n` of each run of `to` names that of the same run of `of`.
const fn lanes(to: usize, of: usize) -> [u8; LANES] {
    let mut lanes = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        lanes[lane] = ((lane / to * of + lane % to) % LANES).to_le_bytes()[0];
        lane += 1;
    }
    lanes
}

/// As [`super::squeeze_with`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub fn squeeze(packed: &[u8; PACKED_LEN], to: &mut [u8; WINDOW]) -> Option<usize> {
    let (low, high) = (load(packed.first_chunk()?), load_half(packed.last_chunk()?));
    // Only an empty square has the high bit.
    let squares = (!_mm512_movepi8_mask(low), !_mm256_movepi8_mask(high) & UPPER);
    let (first, all) = (squares.0.count_ones(), squares.0.count_ones() + squares.1.count_ones());
    if all >= MANY {
        return bmi2::squeeze(packed, to);
    }
    // Lanes of pieces with a bit too many, and of empty squares with one too few.
    let strange = _mm512_mask_test_epi8_mask(squares.0, low, _mm512_set1_epi8(!0x1F))
        | (_mm512_cmpeq_epi8_mask(low, _mm512_set1_epi8(-1)) ^ !squares.0);
    let strange_above = _mm256_mask_test_epi8_mask(squares.1, high, _mm256_set1_epi8(!0x1F))
        | ((_mm256_cmpeq_epi8_mask(high, _mm256_set1_epi8(-1)) ^ !squares.1) & UPPER);

    let behind = _mm512_sub_epi8(load(&COUNTING), every(first));
    let pieces = _mm512_mask_permutexvar_epi8(
        _mm512_maskz_compress_epi8(squares.0, low),
        !0 << first,
        behind,
        _mm512_castsi256_si512(_mm256_maskz_compress_epi8(squares.1, high)),
    );
    // Two pieces in 10 bits, four in 20, eight in 40.
    let two = _mm512_maddubs_epi16(pieces, _mm512_set1_epi16(1 | 32 << 8));
    let four = _mm512_madd_epi16(two, _mm512_set1_epi32(1 | 1024 << 16));
    let front = _mm512_and_si512(four, _mm512_set1_epi64(0xF_FFFF));
    let back = _mm512_and_si512(_mm512_srli_epi64::<12>(four), _mm512_set1_epi64(0xF_FFFF << 20));
    let five = _mm512_permutexvar_epi8(load(&FIVE_OF_EIGHT), _mm512_or_si512(front, back));

    let black = u64::from_le_bytes(*packed[BLACK_HAND.start..].first_chunk()?) & !(0xFF << 56);
    let white = u64::from_le_bytes(*packed.last_chunk()?);
    let side = u64::from(packed[SIDE]);
    let counts = white & !(0xFF << 56);
    let foreign = (black | counts) & !COUNTS | side & !1 | strange | u64::from(strange_above);
    let upper = u64::from(squares.1)
        | _pext_u64(black, COUNTS) << BLACK
        | _pext_u64(counts, COUNTS) << WHITES
        | side << TO_MOVE;
    let head = u128::from(squares.0) | u128::from(upper) << 64;
    let (place, rest) = to.split_first_chunk_mut()?;
    *place = head.to_le_bytes();
    store(rest.first_chunk_mut()?, five);
    (foreign == 0).then_some(HEAD + (all * PIECE).div_ceil(8) as usize)
}

/// As [`super::restore_with`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub fn restore(from: &[u8; WINDOW]) -> [u8; PACKED_LEN] {
    let word = |at: usize| from[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let (lower, upper) = (word(0), word(8));
    #[expect(clippy::cast_possible_truncation, reason = "17 bits")]
    let squares = (lower, (upper & u64::from(UPPER)) as u32);
    let first = squares.0.count_ones();
    if first + squares.1.count_ones() >= MANY {
        return bmi2::restore(from);
    }
    let five = load(from.last_chunk().unwrap_or(&COUNTING));
    // Each of eight lanes from the bit where its piece begins.
    const BITS: i64 = i64::from_le_bytes([0, 5, 10, 15, 20, 25, 30, 35]);
    let eight = _mm512_permutexvar_epi8(load(&EIGHT_OF_FIVE), five);
    let wider = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(BITS), eight);
    let pieces = _mm512_and_si512(wider, _mm512_set1_epi8(0x1F));
    let behind = _mm512_permutexvar_epi8(_mm512_add_epi8(load(&COUNTING), every(first)), pieces);

    let mut packed = [0; PACKED_LEN];
    if let Some((low, high)) = packed.split_first_chunk_mut()
        && let Some(high) = high.first_chunk_mut()
    {
        store(low, _mm512_mask_expand_epi8(_mm512_set1_epi8(-1), squares.0, pieces));
        let behind = _mm512_castsi512_si256(behind);
        store_half(high, _mm256_mask_expand_epi8(_mm256_set1_epi8(-1), squares.1, behind));
    }
    let side = (upper >> TO_MOVE & 1) << 56;
    let hands = [_pdep_u64(upper >> BLACK, COUNTS), _pdep_u64(upper >> WHITES, COUNTS) | side];
    // The eighth byte of the first is where the second begins.
    for (hand, at) in hands.into_iter().zip([BLACK_HAND.start, WHITE_HAND.start]) {
        packed[at..at + 8].copy_from_slice(&hand.to_le_bytes());
    }
    packed
}

/// The number of a lane in every lane.
#[target_feature(enable = "avx512f")]
fn every(lane: u32) -> __m512i {
    _mm512_set1_epi8(lane.to_le_bytes()[0].cast_signed())
}

#[target_feature(enable = "avx512f")]
fn load(from: &[u8; LANES]) -> __m512i {
    // SAFETY: reads the 64 bytes that the reference is to; no alignment is asked for. The tests of `squeezed` reach it.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn load_half(from: &[u8; LANES / 2]) -> __m256i {
    // SAFETY: as in `load`, of 32 bytes.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn store(to: &mut [u8; LANES], lanes: __m512i) {
    // SAFETY: writes the 64 bytes that the reference is to; no alignment is asked for. The tests of `squeezed` reach it.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), lanes) };
}

#[target_feature(enable = "avx2")]
fn store_half(to: &mut [u8; LANES / 2], lanes: __m256i) {
    // SAFETY: as in `store`, of 32 bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), lanes) };
}
