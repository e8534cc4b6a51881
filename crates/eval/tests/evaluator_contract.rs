//! What an evaluator promises: the integers of the formula, and the same ones however a position was reached.

mod sample;

use manaka_core::packed::SIDE;
use manaka_core::sfen::STARTPOS;
use manaka_core::{Color, Packed};
use manaka_eval::{Evaluator, Net, centipawns};
use manaka_load::features::{Board, HALFKP_WIDTH, View, halfkp};
use proptest::prelude::*;
use sample::{Draw, NOISE, game};
use std::num::NonZero;

/// The slow twin: nnbin.md §4 number by number, in i64.
fn naive(net: &Net, position: &Packed) -> i64 {
    let board = Board::new(position.as_bytes()).unwrap();
    let (mut own, mut other) = ([0; HALFKP_WIDTH], [0; HALFKP_WIDTH]);
    halfkp(&board, View::of(board.mover()), &mut own, &mut other);
    let mut x = Vec::new();
    for list in [own, other] {
        for at in 0..256 {
            let rows = list.iter().filter(|&&index| index >= 0).map(|&index| usize::try_from(index).unwrap());
            let sum: i64 = rows.map(|row| i64::from(net.feature_weights()[row][at])).sum();
            x.push((sum + i64::from(net.feature_biases[at])).clamp(0, 127));
        }
    }
    let layer = |weights: &[i8], bias: i32, x: &[i64]| -> i64 {
        i64::from(bias) + weights.iter().zip(x).map(|(&w, &x)| i64::from(w) * x).sum::<i64>()
    };
    let shift = |sum: i64| sum.div_euclid(64).clamp(0, 127);
    let x: Vec<i64> =
        (0..32).map(|o| shift(layer(&net.hidden1.weights[o], net.hidden1.biases[o], &x))).collect();
    let x: Vec<i64> =
        (0..32).map(|o| shift(layer(&net.hidden2.weights[o], net.hidden2.biases[o], &x))).collect();
    layer(&net.output.weights[0], net.output.biases[0], &x)
}

#[test]
fn the_output_is_that_of_the_formula() {
    let mut outputs = std::collections::BTreeSet::new();
    for seed in 0..12 {
        for position in game(seed, 120).0 {
            let output = NOISE.evaluate(&position).unwrap();
            assert_eq!(i64::from(output), naive(&NOISE, &position), "{}", position.sfen(None));
            outputs.insert(output);
        }
    }
    // Not a network that says the same of everything.
    assert!(outputs.len() > 500 && outputs.iter().any(|&o| o < 0) && outputs.iter().any(|&o| o > 0));
}

#[test]
fn one_number_is_computed_by_hand() {
    // 4k4/9/9/9/9/9/2P6/9/4K4 b L 1 of features.md §4: the mover sets 68262 and 68151, White 68303 and 68156.
    let mut net = Net::zeros();
    net.feature_weights_mut()[68262][0] = 70;
    net.feature_weights_mut()[68151][0] = 30;
    net.feature_weights_mut()[68303][1] = 500;
    net.feature_weights_mut()[68156][2] = -7;
    net.feature_biases[0] = -10;
    // 90 of the mover at input 0, 127 of White at 256 + 1.
    net.hidden1.weights[3][0] = 64;
    net.hidden1.weights[3][257] = -32;
    net.hidden1.biases[3] = 63;
    // (90 · 64 − 127 · 32 + 63) / 64 = 27.48…, down to 27.
    net.hidden2.weights[5][3] = -64;
    net.hidden2.biases[5] = 64 * 100;
    // 100 − 27 = 73.
    net.output.weights[0][5] = -3;
    net.output.biases[0] = 1;
    let mut position = Packed::from_sfen("4k4/9/9/9/9/9/2P6/9/4K4 b L 1").unwrap().0;
    assert_eq!(net.evaluate(&position), Ok(-218));
    // Towards 0, as engines divide.
    assert_eq!(centipawns(-218, NonZero::new(16).unwrap()), -13);
    // White to move: the halves change places, and nothing is at inputs 0 and 257 but 0 and −7 at 2.
    position.as_bytes_mut()[SIDE] = 1;
    // 63 / 64 is 0, 100 · −3 + 1.
    assert_eq!(net.evaluate(&position), Ok(-299));
}

#[test]
fn a_stack_undoes_to_where_it_began() {
    let (positions, moves) = game(77, 60);
    let mut evaluator = Evaluator::new(&NOISE, &positions[0]).unwrap();
    for mv in &moves {
        assert!(evaluator.play(*mv));
    }
    for position in positions.iter().rev().skip(1) {
        assert!(evaluator.undo());
        assert_eq!(evaluator.position(), position);
        assert_eq!(evaluator.output(), NOISE.evaluate(position).unwrap());
    }
    assert!(!evaluator.undo());
}

#[test]
fn what_has_no_features_is_refused_and_changes_nothing() {
    let start = Packed::from_sfen(STARTPOS).unwrap().0;
    let mut evaluator = Evaluator::new(&NOISE, &start).unwrap();
    let mut draw = Draw(3);
    for _ in 0..2000 {
        let mut bytes = *start.as_bytes();
        for _ in 0..1 + draw.below(4) {
            bytes[draw.below(96)] = draw.next().to_le_bytes()[0];
        }
        let position = Packed::from_bytes(bytes);
        match (evaluator.push(&position), NOISE.evaluate(&position)) {
            (Ok(()), Ok(output)) => {
                assert_eq!(evaluator.output(), output);
                assert!(evaluator.undo());
            }
            (Err(fault), Err(same)) => assert_eq!(fault, same),
            (pushed, evaluated) => panic!("{pushed:?} {evaluated:?}"),
        }
        assert_eq!(evaluator.position(), &start);
    }
    assert!(!evaluator.play(manaka_core::Move16::from_usi("5e5d").unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Moves, moves taken back, and jumps to other positions of the game.
    #[test]
    fn updates_are_what_a_fresh_start_gives(seed: u64, plies in 1usize..200, turns in prop::collection::vec(0u8..8, 0..250)) {
        let (positions, moves) = game(seed, plies);
        let mut evaluator = Evaluator::new(&NOISE, &positions[0]).unwrap();
        let (mut path, mut refreshed) = (vec![0], Evaluator::new(&NOISE, &positions[0]).unwrap());
        for turn in turns {
            let at = path[path.len() - 1];
            match turn {
                0 => {
                    prop_assert_eq!(evaluator.undo(), path.len() > 1);
                    if path.len() > 1 { path.pop(); }
                }
                1 => {
                    let to = (at + 17) % positions.len();
                    evaluator.push(&positions[to]).unwrap();
                    path.push(to);
                }
                _ if at < moves.len() => {
                    prop_assert!(evaluator.play(moves[at]));
                    path.push(at + 1);
                }
                _ => {}
            }
            let here = &positions[path[path.len() - 1]];
            refreshed.set(here).unwrap();
            prop_assert_eq!(evaluator.position(), here);
            prop_assert_eq!(evaluator.accumulator(), refreshed.accumulator());
            prop_assert_eq!(evaluator.output(), refreshed.output());
        }
    }
}

#[test]
fn both_kings_move_in_the_games_that_are_tried() {
    let mut moved = [0; 2];
    for seed in 0..20 {
        for pair in game(seed, 200).0.windows(2) {
            let kings = |p: &Packed| Color::ALL.map(|side| Board::new(p.as_bytes()).unwrap().king(side));
            let (before, after) = (kings(&pair[0]), kings(&pair[1]));
            moved[0] += usize::from(before[0] != after[0]);
            moved[1] += usize::from(before[1] != after[1]);
        }
    }
    assert!(moved.iter().all(|&moves| moves > 50), "{moved:?}");
}
