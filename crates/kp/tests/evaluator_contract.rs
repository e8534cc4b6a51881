//! What an evaluation promises: the integers of the page, by either code, and the same for both colours.

mod sample;

use manaka_core::{Move16, Packed};
use manaka_kp::{Code, Net, Refused, Scratch, Tensors};
use proptest::prelude::*;
use sample::{Draw, NOISE, game, noise, turned, turned_move, wide};

/// features.md §5, piece by piece: the rows that a viewer sees.
fn rows(position: &Packed, viewer: u8) -> Vec<usize> {
    const BASE: [usize; 14] = [0, 1224, 900, 738, 576, 414, 252, 90, 1386, 1062, 738, 738, 738, 738];
    const HAND: [[usize; 7]; 2] = [[1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88]];
    let bytes = position.as_bytes();
    let mut rows = Vec::new();
    for (square, &byte) in bytes[..81].iter().enumerate() {
        if byte == 0xFF {
            continue;
        }
        let black = (8 - square / 9) * 9 + square % 9;
        let seen = if viewer == 0 { black } else { 80 - black };
        let (owner, kind) = (byte >> 4, usize::from(byte & 15));
        rows.push(match (kind, owner == viewer) {
            (0, true) => 1548 + seen,
            (0, false) => 1629 + seen,
            (kind, true) => BASE[kind] + seen,
            (kind, false) => BASE[kind] + 81 + seen,
        });
    }
    for owner in 0..2u8 {
        for kind in 0..7 {
            let count = bytes[81 + 7 * usize::from(owner) + kind];
            rows.extend((0..usize::from(count)).map(|n| HAND[usize::from(owner != viewer)][kind] + n));
        }
    }
    rows
}

/// features.md §8 by geometry.
fn label(mv: Move16, mover: u8) -> usize {
    let seen = |square: usize| {
        let black = (8 - square / 9) * 9 + square % 9;
        if mover == 0 { black } else { 80 - black }
    };
    let to = seen(mv.to_square().unwrap().index());
    let kind = match mv.from_square() {
        None => 20 + [0, 1, 2, 3, 6, 4, 5][mv.dropped_kind().unwrap() as usize],
        Some(from) => {
            let from = seen(from.index());
            let left = i32::try_from(to / 9).unwrap() - i32::try_from(from / 9).unwrap();
            let up = i32::try_from(from % 9).unwrap() - i32::try_from(to % 9).unwrap();
            let direction = match (left, up) {
                (1, 2) => 8,
                (-1, 2) => 9,
                (0, up) => {
                    if up > 0 {
                        0
                    } else {
                        5
                    }
                }
                (left, 0) => {
                    if left > 0 {
                        3
                    } else {
                        4
                    }
                }
                (left, up) => match (left > 0, up > 0) {
                    (true, true) => 1,
                    (false, true) => 2,
                    (true, false) => 6,
                    (false, false) => 7,
                },
            };
            direction + if mv.is_promote() { 10 } else { 0 }
        }
    };
    kind * 81 + to
}

/// The slow twin: kpnet.md §4 number by number, in i64.
fn naive(net: &Tensors, position: &Packed, moves: &[Move16]) -> (i64, Vec<i64>) {
    let mover = position.as_bytes()[95];
    let mut x = Vec::new();
    for viewer in [mover, 1 - mover] {
        let rows = rows(position, viewer);
        for at in 0..256 {
            let sum: i64 = rows.iter().map(|&row| i64::from(net.feature_weights[row].0[at])).sum();
            // i16, wrapping.
            let sum = (sum + i64::from(net.feature_biases.0[at]) + 32768).rem_euclid(65536) - 32768;
            x.push(sum.clamp(0, 127));
        }
    }
    let layer = |weights: &[i8], bias: i32, x: &[i64]| -> i64 {
        i64::from(bias) + weights.iter().zip(x).map(|(&w, &x)| i64::from(w) * x).sum::<i64>()
    };
    let hidden: Vec<i64> = (0..96)
        .map(|o| {
            (layer(&net.hidden_weights[o].0, net.hidden_biases[o], &x) + 32).div_euclid(64).clamp(0, 127)
        })
        .collect();
    let value = layer(&net.value_weights[..], net.value_bias, &hidden[..32]);
    let logits = moves.iter().map(|&mv| {
        let label = label(mv, mover);
        layer(&net.policy_weights[label].0, net.policy_biases[label], &hidden[32..])
    });
    (value, logits.collect())
}

/// Every code that this machine has.
fn codes() -> Vec<Scratch> {
    [Code::Scalar, Code::Avx2].into_iter().filter_map(Scratch::with).collect()
}

fn integers(net: &Net, scratch: &mut Scratch, position: &Packed, moves: &[Move16]) -> (i64, Vec<i64>) {
    let mut logits = vec![0.0; moves.len()];
    let value = net.evaluate(scratch, position, moves, &mut logits).unwrap();
    let (integer, integers) = scratch.integers();
    // What is returned are these integers.
    assert!((f64::from(value) - (f64::from(integer) / 16256.0).tanh()).abs() < 1e-6);
    for (logit, &integer) in logits.iter().zip(integers) {
        assert!(
            (f64::from(*logit) - f64::from(integer) / 8128.0).abs() < 1e-5 * (1.0 + f64::from(logit.abs()))
        );
    }
    (integer.into(), integers.iter().map(|&integer| integer.into()).collect())
}

#[test]
fn the_fast_code_is_tried_where_there_is_one() {
    #[cfg(target_arch = "x86_64")]
    assert_eq!(codes().len() == 2, std::arch::is_x86_feature_detected!("avx2"));
    assert_eq!(codes()[0].code(), Code::Scalar);
    assert_eq!(Scratch::new().code(), codes().last().unwrap().code());
}

#[test]
fn the_integers_are_those_of_the_page() {
    for mut scratch in codes() {
        let mut values = std::collections::BTreeSet::new();
        for seed in 0..8 {
            for (position, moves) in game(seed, 150) {
                let found = integers(&NOISE, &mut scratch, &position, &moves);
                assert_eq!(found, naive(NOISE.tensors(), &position, &moves), "{}", position.sfen(None));
                values.insert(found.0);
            }
        }
        // Not a network that says the same of everything.
        assert!(values.len() > 500 && values.iter().any(|&v| v < 0) && values.iter().any(|&v| v > 0));
    }
}

#[test]
fn the_largest_weights_neither_saturate_nor_differ() {
    for (seed, bounds) in [(1, [32_767, 127]), (2, [3000, 127]), (3, [200, 127])] {
        let mut tensors = wide(seed, bounds);
        let mut draw = Draw(seed);
        for row in tensors.hidden_weights.iter_mut().take(48) {
            row.0.fill_with(|| [-128, 127][draw.below(2)]);
        }
        tensors.hidden_weights[0].0.fill(-128);
        tensors.hidden_weights[1].0.fill(127);
        tensors.value_weights.fill(-128);
        tensors.policy_weights[7].0.fill(-128);
        let net = Net::new(tensors);
        for mut scratch in codes() {
            for (position, moves) in game(40 + seed, 80) {
                let found = integers(&net, &mut scratch, &position, &moves);
                assert_eq!(found, naive(net.tensors(), &position, &moves), "{}", position.sfen(None));
            }
        }
    }
}

#[test]
fn one_number_is_computed_by_hand() {
    // 4k4/9/9/9/9/9/2P6/9/4K4 b L 1 of features.md §5: the mover sets 150, 39, 1592, 1665; White 191, 44, 1592, 1665.
    let mut net = Tensors::zeros();
    net.feature_biases.0[0] = -10;
    net.feature_weights[150].0[0] = 70;
    net.feature_weights[1592].0[0] = 33;
    net.feature_weights[191].0[1] = 500;
    net.feature_weights[44].0[2] = -7;
    // 93 of the mover at input 0, 33 − 10 of White's at 256 and 127 at 257.
    net.hidden_weights[3].0[0] = 64;
    net.hidden_weights[3].0[257] = -32;
    net.hidden_biases[3] = 15;
    // (93 · 64 − 127 · 32 + 15 + 32) / 64 = 30.2…, down to 30.
    net.value_weights[3] = -3;
    net.value_bias = 1;
    net.hidden_weights[32 + 9].0[256] = 127;
    net.hidden_biases[32 + 9] = -17;
    // (23 · 127 − 17 + 32) / 64 = 45.8…, down to 45.
    // 7g7f is label 59; L*5e is kind 21 to 40.
    net.policy_weights[59].0[9] = 100;
    net.policy_biases[59] = 5;
    net.policy_weights[21 * 81 + 40].0[9] = -1;
    let net = Net::new(net);
    let position = Packed::from_sfen("4k4/9/9/9/9/9/2P6/9/4K4 b L 1").unwrap().0;
    let moves = ["7g7f", "L*5e"].map(|usi| Move16::from_usi(usi).unwrap());
    for mut scratch in codes() {
        let mut logits = [9.0; 2];
        let value = net.evaluate(&mut scratch, &position, &moves, &mut logits).unwrap();
        assert_eq!(scratch.integers(), (-89, &[4505, -45][..]));
        assert_eq!(logits, [4505.0 / 8128.0, -45.0 / 8128.0]);
        assert!((value - (-89.0f32 / 8128.0 / 2.0).tanh()).abs() < 1e-7);
    }
}

#[test]
fn both_colours_see_the_same() {
    let mut scratch = Scratch::new();
    for (position, moves) in game(3, 120) {
        let other: Vec<_> = moves.iter().map(|&mv| turned_move(mv)).collect();
        let here = integers(&NOISE, &mut scratch, &position, &moves);
        assert_eq!(integers(&NOISE, &mut scratch, &turned(&position), &other), here);
    }
}

#[test]
fn a_position_that_is_none_and_a_move_that_is_none_are_refused() {
    let (position, moves) = game(1, 1).remove(0);
    let mut logits = vec![0.0; moves.len()];
    for mut scratch in codes() {
        let room = NOISE.evaluate(&mut scratch, &position, &moves, &mut logits[1..]);
        assert_eq!(room, Err(Refused::Room { moves: 30, logits: 29 }));
        let mut bytes = *position.as_bytes();
        bytes[40] = 0x0E;
        let refused = NOISE.evaluate(&mut scratch, &Packed::from_bytes(bytes), &moves, &mut logits);
        assert!(matches!(refused, Err(Refused::Position(_))), "{refused:?}");
        // 9i7h is no move of any piece but a knight's mirror image.
        let odd = Move16::from_usi("9i6h").unwrap();
        let refused = NOISE.evaluate(&mut scratch, &position, &[odd], &mut logits[..1]);
        assert_eq!(refused, Err(Refused::Move(odd)));
        // No moves: a value all the same.
        assert!(NOISE.evaluate(&mut scratch, &position, &[], &mut []).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_codes_give_the_same_integers(net: u64, seed: u64, first in 1i64..2000, hidden in 1i64..=127) {
        let net = Net::new(wide(net, [first, hidden]));
        for (position, moves) in game(seed, 40) {
            let mut found = codes().into_iter().map(|mut scratch| integers(&net, &mut scratch, &position, &moves));
            let first = found.next();
            for other in found {
                prop_assert_eq!(Some(other), first.clone());
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: [[u8; 32]; 3], seed: u64, changes in 0usize..4, bits: Vec<u16>) {
        let mut draw = Draw(seed);
        let mut near = *game(seed, 1)[0].0.as_bytes();
        for _ in 0..changes {
            near[draw.below(96)] = draw.next().to_le_bytes()[0];
        }
        let moves: Vec<_> = bits.into_iter().map(Move16::from_bits).collect();
        let any = <[u8; 96]>::try_from(bytes.as_flattened()).unwrap();
        for bytes in [near, any] {
            for mut scratch in codes() {
                let mut logits = vec![0.0; moves.len()];
                let _ = NOISE.evaluate(&mut scratch, &Packed::from_bytes(bytes), &moves, &mut logits);
                let _ = NOISE.evaluate(&mut scratch, &Packed::from_bytes(bytes), &[], &mut []);
            }
        }
    }
}

#[test]
fn networks_differ_by_their_hash() {
    assert_ne!(Net::new(noise(1)).hash(), Net::new(noise(2)).hash());
    assert_eq!(Net::new(noise(1)).hash(), Net::new(noise(1)).hash());
}
