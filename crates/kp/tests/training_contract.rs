//! What training promises: it learns what it is shown, it can tell that from the contrary, and threads do not show.

mod sample;

use manaka_core::packed::piece_of;
use manaka_core::progress::Progress;
use manaka_core::{Color, Packed, PieceKind};
use manaka_kp::Net;
use manaka_kp::train::{Error, Options, Report, SampleFault, Samples, Stopped, train};
use manaka_load::features::{View, label};
use manaka_shogi::Board;
use sample::game;
use std::num::NonZeroUsize;
use std::sync::LazyLock;

/// What the mover's pieces are worth more than the other's, as a value.
fn material(position: &Packed) -> f32 {
    const WORTH: [f32; 14] = [0.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 1.0, 12.0, 10.0, 6.0, 6.0, 6.0, 6.0];
    let bytes = position.as_bytes();
    let mut sum = 0.0;
    for (owner, kind) in bytes[..81].iter().filter_map(|&byte| piece_of(byte)) {
        let worth = WORTH[kind as usize];
        sum += if owner == Color::Black { worth } else { -worth };
    }
    for (hand, kind) in [7usize, 6, 5, 4, 3, 2, 1].into_iter().enumerate() {
        sum += WORTH[kind] * (f32::from(bytes[81 + hand]) - f32::from(bytes[88 + hand]));
    }
    (if position.side() == Color::Black { sum } else { -sum } / 8.0).tanh()
}

/// Positions of games whose values are material, times `sign`, and whose best move is one of a pawn if there is one.
fn samples(games: std::ops::Range<u64>, sign: f32) -> Samples {
    let (mut samples, mut board) = (Samples::new(), Board::start());
    for seed in games {
        for (position, moves) in game(seed, 100).into_iter().skip(20) {
            let pawn = |square| position.piece(square).is_some_and(|(_, kind)| kind == PieceKind::Pawn);
            let best = moves.iter().find(|mv| mv.from_square().is_some_and(pawn)).unwrap_or(&moves[0]);
            let best = label(*best, View::of(position.side())).unwrap();
            samples.push(&mut board, &position, [sign * material(&position), 1.0], [(best, 1.0)]).unwrap();
        }
    }
    samples
}

static LEARNED: LazyLock<Samples> = LazyLock::new(|| samples(0..24, 1.0));
static HELD_OUT: LazyLock<Samples> = LazyLock::new(|| samples(100..104, 1.0));

fn options(epochs: u32) -> Options {
    let size = |n| NonZeroUsize::new(n).unwrap();
    Options { epochs, batch_size: size(64), rate: 0.004, patience: 20, seed: 7, threads: size(2) }
}

fn trained(samples: &Samples, options: &Options) -> (Net, Report) {
    train(samples, &HELD_OUT, options, &()).unwrap()
}

static TRAINED: LazyLock<(Net, Report)> = LazyLock::new(|| trained(&LEARNED, &options(10)));

#[test]
fn a_small_set_is_learned() {
    let (_, report) = &*TRAINED;
    let (first, last) = (&report.epochs[0], &report.epochs[9]);
    assert!(last.value_loss < 0.5 * first.value_loss, "{report}");
    assert!(last.policy_loss < 0.7 * first.policy_loss, "{report}");
    // Of games it has not seen. The best epoch is the one of the least loss.
    assert!(last.validation.sign_accuracy > 0.7, "{report}");
    let loss = |at: &manaka_kp::train::Epoch| at.validation.value_loss + at.validation.policy_loss;
    assert!(report.epochs.iter().all(|epoch| loss(epoch) >= loss(&report.epochs[report.best as usize - 1])));
    assert_eq!(report.samples, LEARNED.len() as u64);
    assert_eq!(report.integers.rows, HELD_OUT.len() as u64);
}

#[test]
fn values_turned_round_are_learned_as_they_are_and_found_out() {
    let (_, report) = trained(&samples(0..24, -1.0), &options(10));
    let last = report.epochs.last().unwrap();
    assert!(last.validation.sign_accuracy < 0.3, "{report}");
}

#[test]
fn the_integers_say_what_the_floats_said() {
    let (net, report) = &*TRAINED;
    assert!(report.agreement.same_top > 0.85, "{report}");
    assert!(report.agreement.mean_value_error < 0.03, "{report}");
    let best = &report.epochs[report.best as usize - 1].validation;
    assert!((best.sign_accuracy - report.integers.sign_accuracy).abs() < 0.03, "{report}");
    assert!((best.policy_loss - report.integers.policy_loss).abs() < 0.05, "{report}");
    // ±127/64, and sums that stay within an i16.
    let tensors = net.tensors();
    assert!(tensors.hidden_weights.iter().all(|row| row.0.iter().all(|&weight| weight > -128)));
    assert!(tensors.feature_weights.iter().all(|row| row.0.iter().all(|&weight| weight.abs() <= 762)));
    assert_eq!(report.net, format!("{:016x}", net.hash()));
}

#[test]
fn the_same_seed_makes_the_same_bytes_on_any_number_of_threads() {
    let bytes = |seed, threads| {
        let threads = NonZeroUsize::new(threads).unwrap();
        trained(&HELD_OUT, &Options { seed, threads, ..options(2) }).0.to_bytes()
    };
    let first = bytes(1, 1);
    assert!(first == bytes(1, 1));
    assert!(first == bytes(1, 2) && first == bytes(1, 5));
    assert!(first != bytes(2, 1));
}

#[test]
fn training_ends_when_it_no_longer_helps() {
    // What is learned is the contrary of what is measured: the first epoch is the best there is.
    let wrong = samples(0..4, -1.0);
    let (_, report) = trained(&wrong, &Options { patience: 1, rate: 0.02, ..options(30) });
    assert_eq!(report.stopped, Stopped::Patience, "{report}");
    assert_eq!(report.epochs.len(), report.best as usize + 2, "{report}");
}

#[test]
fn whoever_stops_gets_the_best_so_far_or_nothing() {
    struct Stop(std::sync::atomic::AtomicU64, u64);
    impl Progress for Stop {
        fn phase(&self, _: &str, _: Option<u64>, _: &str) {}
        fn advance(&self, by: u64) {
            self.0.fetch_add(by, std::sync::atomic::Ordering::Relaxed);
        }
        fn cancelled(&self) -> bool {
            self.0.load(std::sync::atomic::Ordering::Relaxed) >= self.1
        }
    }
    let stop = |at| train(&HELD_OUT, &HELD_OUT, &options(5), &Stop(0.into(), at));
    assert!(matches!(stop(64), Err(Error::Cancelled)));
    let (net, report) = stop(HELD_OUT.len() as u64 + 64).unwrap();
    assert_eq!((report.stopped, report.epochs.len()), (Stopped::Cancelled, 1));
    // It is the network of the first epoch of five.
    assert_eq!(report.net, format!("{:016x}", net.hash()));
}

#[test]
fn what_cannot_be_learned_from_is_refused_and_leaves_nothing() {
    let (mut samples, mut board) = (Samples::new(), Board::start());
    let start = board.to_packed();
    let mut push = |position: &Packed, numbers, label, prob| {
        let fault = samples.push(&mut board, position, numbers, [(59, 0.5), (label, prob)]).err();
        assert!(fault.is_none() || samples.is_empty() && samples.moves() == 0);
        fault
    };
    assert_eq!(push(&start, [0.0, 1.0], 60, 0.5), Some(SampleFault::Candidate { label: 60 }));
    assert!(matches!(
        push(&start, [0.0, 1.0], 59, f32::NAN),
        Some(SampleFault::Number { what: "a prob", .. })
    ));
    assert!(matches!(push(&start, [1.5, 1.0], 59, 0.5), Some(SampleFault::Number { what: "the value", .. })));
    assert!(matches!(
        push(&start, [0.0, 0.0], 59, 0.5),
        Some(SampleFault::Number { what: "the weight", .. })
    ));
    let mated = Packed::from_sfen("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1").unwrap().0;
    assert_eq!(push(&mated, [0.0, 1.0], 59, 0.5), Some(SampleFault::NoMoves));
    assert!(matches!(push(&Packed::empty(), [0.0, 1.0], 59, 0.5), Some(SampleFault::Unplayable(_))));
    assert_eq!(push(&start, [0.0, 1.0], 59, 0.5), None);
    assert_eq!((samples.len(), samples.moves()), (1, 30));
    let none =
        |learned: &Samples, measured: &Samples| train(learned, measured, &options(1), &()).unwrap_err();
    assert!(matches!(none(&Samples::new(), &samples), Error::NoRows("training")));
    assert!(matches!(none(&samples, &Samples::new()), Error::NoRows("validation")));
    for wrong in [
        Options { epochs: 0, ..options(1) },
        Options { rate: 0.0, ..options(1) },
        Options { rate: f32::NAN, ..options(1) },
    ] {
        assert!(matches!(train(&samples, &samples, &wrong, &()), Err(Error::Option(_))));
    }
}
