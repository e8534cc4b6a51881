//! The sums of an evaluation with AVX2 (kpnet.md §4). `scalar.rs` gives the same integers.
//!
//! Two products of an activation, at most 127, and an i8 are at most 32,512 apart from 0, so `maddubs` never saturates.

use crate::evaluate::Lists;
use crate::format::{WEIGHT, WEIGHT_SHIFT};
use crate::net::Net;
use crate::tensors::{HALF, HIDDEN, VALUE};
use std::arch::x86_64::{
    __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_max_epi8, _mm256_movemask_ps,
    _mm256_packs_epi16, _mm256_packs_epi32, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_srai_epi32,
    _mm256_storeu_si256,
};

/// Numbers of a register.
const I8S: usize = 32;
const I16S: usize = 16;
const I32S: usize = 8;
/// Registers that rows are summed in at a time: half of those there are, so that none is spilled.
const AT_ONCE: usize = 8;

#[target_feature(enable = "avx2")]
#[inline]
fn load<T: Plain, const N: usize>(from: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == size_of::<__m256i>()) };
    // SAFETY: the 32 bytes that are read are those of the array, and all of them are initialised: `Plain` types are
    // integers. No alignment is asked for. Every evaluation with AVX2 reaches it.
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(from).cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(to: &mut [u8; I8S], lanes: __m256i) {
    // SAFETY: the 32 bytes that are written are those of the array, for which any are valid. No alignment is asked for.
    // Every evaluation with AVX2 reaches it.
    unsafe { _mm256_storeu_si256(std::ptr::from_mut(to).cast(), lanes) }
}

/// Integers of this file.
trait Plain {}
impl Plain for i8 {}
impl Plain for u8 {}
impl Plain for i16 {}
impl Plain for i32 {}

/// Fills in a logit a label; returns the value's.
#[target_feature(enable = "avx2")]
pub fn sums(net: &Net, lists: &mut Lists, labels: &[u16], logits: &mut [i32]) -> i32 {
    for side in 0..2 {
        for part in 0..HALF / (AT_ONCE * I16S) {
            first(net, lists, side, part);
        }
    }
    let sums = hidden(net, &lists.input.0);
    let (sums, _) = sums.as_chunks::<4>();
    let [value, policy @ ..] = [activations(sums[0]), activations(sums[1]), activations(sums[2])];
    const _: () = assert!(VALUE == I8S && HIDDEN == 3 * I8S);

    let net = net.tensors();
    for (logit, &label) in logits.iter_mut().zip(labels) {
        let label = usize::from(label);
        let (Some(bias), Some(weights)) = (net.policy_biases.get(label), net.policy_weights.get(label))
        else {
            continue;
        };
        let (weights, _) = weights.0.as_chunks();
        let products = _mm256_add_epi32(dot(policy[0], &weights[0]), dot(policy[1], &weights[1]));
        *logit = sum(products).wrapping_add(*bias);
    }
    sum(dot(value, &net.value_weights)).wrapping_add(net.value_bias)
}

/// Activations of a part of a side's half.
#[target_feature(enable = "avx2")]
#[inline]
fn first(net: &Net, lists: &mut Lists, side: usize, part: usize) {
    let tensors = net.tensors();
    let (biases, _) = tensors.feature_biases.0.as_chunks::<I16S>();
    let mut sums = [_mm256_setzero_si256(); AT_ONCE];
    for (sum, bias) in sums.iter_mut().zip(&biases[part * AT_ONCE..]) {
        *sum = load(bias);
    }
    for &row in lists.rows()[side] {
        let Some(weights) = usize::try_from(row).ok().and_then(|row| tensors.feature_weights.get(row)) else {
            continue;
        };
        let (weights, _) = weights.0.as_chunks::<I16S>();
        let (weights, _) = weights[part * AT_ONCE..].as_chunks::<AT_ONCE>();
        for (sum, weights) in sums.iter_mut().zip(&weights[0]) {
            *sum = _mm256_add_epi16(*sum, load(weights));
        }
    }
    let zero = _mm256_setzero_si256();
    let (input, _) = lists.input.0.as_chunks_mut::<I8S>();
    let from = (side * HALF + part * AT_ONCE * I16S) / I8S;
    for (x, pair) in input[from..].iter_mut().zip(sums.as_chunks().0) {
        let [low, high] = *pair;
        // Packing takes the halves of both in turn, and saturates at 127.
        let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
        store(x, _mm256_max_epi8(packed, zero));
    }
}

/// Sums of the hidden layer in the order of its outputs.
#[target_feature(enable = "avx2")]
#[inline]
fn hidden(net: &Net, input: &[u8; 2 * HALF]) -> [__m256i; HIDDEN / I32S] {
    let ones = _mm256_set1_epi16(1);
    let zero = _mm256_setzero_si256();
    let mut sums = [zero; HIDDEN / I32S];
    let (biases, _) = net.tensors().hidden_biases.as_chunks::<I32S>();
    for (sum, bias) in sums.iter_mut().zip(biases) {
        *sum = load(bias);
    }
    let (fours, _) = input.as_chunks::<4>();
    let (registers, _) = input.as_chunks::<I8S>();
    // A bit for each four inputs that are not all 0; the others add nothing.
    let mut live = 0u128;
    for (number, register) in registers.iter().enumerate() {
        let dead = _mm256_castsi256_ps(_mm256_cmpeq_epi32(load(register), zero));
        live |= u128::from(!_mm256_movemask_ps(dead).cast_unsigned() & 0xFF) << (8 * number);
    }
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    let halves = [(0, live as u64), (64, (live >> 64) as u64)];
    for (from, mut live) in halves {
        while live != 0 {
            let four = from + live.trailing_zeros() as usize;
            live &= live - 1;
            let x = _mm256_set1_epi32(i32::from_le_bytes(fours[four]));
            for (sum, weights) in sums.iter_mut().zip(&net.fours()[four].0) {
                let pairs = _mm256_maddubs_epi16(x, load(weights));
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
            }
        }
    }
    sums
}

/// 32 sums as activations.
#[target_feature(enable = "avx2")]
#[inline]
fn activations(sums: [__m256i; 4]) -> __m256i {
    let half = _mm256_set1_epi32(i32::from(WEIGHT / 2));
    #[expect(clippy::cast_possible_wrap, reason = "6")]
    let [a, b, c, d] =
        sums.map(|sum| _mm256_srai_epi32::<{ WEIGHT_SHIFT as i32 }>(_mm256_add_epi32(sum, half)));
    // Packing saturates, at 127 in the end, and takes the halves of all four in turn.
    let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_max_epi8(_mm256_permutevar8x32_epi32(packed, order), _mm256_setzero_si256())
}

/// Products of 32 activations and weights, in eight sums.
#[target_feature(enable = "avx2")]
#[inline]
fn dot(x: __m256i, weights: &[i8; I8S]) -> __m256i {
    _mm256_madd_epi16(_mm256_maddubs_epi16(x, load(weights)), _mm256_set1_epi16(1))
}

/// The sum of eight.
#[target_feature(enable = "avx2")]
#[inline]
fn sum(lanes: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
}
