//! Elo, error bars, sign test and sequential test, against numbers worked out by hand and against simulated matches.

use manaka_duel::score::{elo_of, share_of};
use manaka_duel::{Score, Sprt};

fn close(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found}, not {wanted}");
}

fn score(pairs: &[[i8; 2]]) -> Score {
    let mut score = Score::default();
    for &pair in pairs {
        score.add(pair);
    }
    score
}

#[test]
fn elo_by_hand() {
    // log10(3) · 400 and log10(9) · 400.
    close(elo_of(0.75), 190.848, 1e-3);
    close(elo_of(0.1), -381.697, 1e-3);
    close(elo_of(0.5), 0.0, 1e-12);
    assert_eq!((elo_of(1.0), elo_of(0.0)), (f64::INFINITY, f64::NEG_INFINITY));
    for elo in [-500.0, -3.0, 0.0, 17.5, 800.0] {
        close(elo_of(share_of(elo)), elo, 1e-6);
    }
}

#[test]
fn a_score_counts_games_and_pairs() {
    let score = score(&[[1, -1], [1, 1], [0, 1], [0, 0], [-1, -1], [-1, 0]]);
    assert_eq!((score.wins, score.draws, score.losses, score.games()), (4, 4, 4, 12));
    // Half points: 2, 4, 3, 2, 0, 1.
    assert_eq!(score.pairs, [1, 1, 2, 1, 1]);
    close(score.share().unwrap(), 0.5, 1e-12);
}

#[test]
fn error_bars_are_those_of_pairs_not_of_games() {
    assert_eq!(Score::default().elo(), None);
    assert_eq!(Score::default().interval(), None);
    // Every pair 1 : 1. Games vary as much as they can, pairs not at all.
    assert_eq!(score(&[[1, -1]; 50]).interval(), None);
    // Shares 1, 0.5, 0.75, 0.75: mean 0.75, squares of what is off 2/16, over 4 · 3 pairs: (1/96)^½ = 0.102062.
    let found = score(&[[1, 1], [1, -1], [1, 0], [0, 1]]).interval().unwrap();
    close(found[0], elo_of(0.75 - 1.959_964 * 0.102_062), 0.01);
    close(found[1], elo_of(0.75 + 1.959_964 * 0.102_062), 0.01);
}

#[test]
fn the_sign_test_is_that_of_a_fair_coin() {
    let games = |wins, losses| Score { wins, losses, ..Score::default() }.sign_test();
    close(games(0, 0), 1.0, 1e-12);
    close(games(1, 1), 1.0, 1e-12);
    // 2 · (1 + 10) / 2^10.
    close(games(9, 1), 22.0 / 1024.0, 1e-9);
    close(games(1, 9), 22.0 / 1024.0, 1e-9);
    close(games(20, 0), 2.0 / 1_048_576.0, 1e-12);
    // Draws say nothing.
    close(Score { wins: 9, losses: 1, draws: 500, pairs: [0; 5] }.sign_test(), 22.0 / 1024.0, 1e-9);
}

#[test]
fn the_bounds_are_walds() {
    let sprt = Sprt { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };
    close(sprt.bounds()[0], -19f64.ln(), 1e-12);
    close(sprt.bounds()[1], 19f64.ln(), 1e-12);
    let sprt = Sprt { alpha: 0.01, beta: 0.1, ..sprt };
    close(sprt.bounds()[0], (0.1f64 / 0.99).ln(), 1e-12);
    close(sprt.bounds()[1], 90f64.ln(), 1e-12);
}

#[test]
fn the_ratio_of_likelihoods_by_hand() {
    let sprt = Sprt { elo0: 0.0, elo1: 50.0, alpha: 0.05, beta: 0.05 };
    assert_eq!(Score::default().llr(&sprt), 0.0);
    // 100 pairs at 0.5 and 100 at 0.75: mean 0.625; 200 squares of 0.125 and half of 0.703125 over 202.5: 0.0171682.
    // The expected shares are 0.5 and 0.571463.
    let mut pairs = vec![[1, -1]; 100];
    pairs.extend([[1, 0]; 100]);
    let wanted = 200.0 * 0.071_463 * (1.25 - 1.071_463) / (2.0 * 0.017_168_2);
    close(score(&pairs).llr(&sprt), wanted, 0.01);
    // Always the same result: that says much after hundreds of pairs, and next to nothing after two.
    assert!(score(&[[1, -1]; 400]).llr(&sprt) < -19f64.ln());
    assert!(score(&[[1, -1]; 2]).llr(&sprt).abs() < 0.2);
}

/// Games between players that are `elo` apart, of which a third are draws, until the test ends: whether it took `elo1`.
fn simulate(elo: f64, sprt: &Sprt, seed: u64) -> bool {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let win = share_of(elo) - 1.0 / 6.0;
    let mut game = || match draw() {
        x if x < win => 1,
        x if x < win + 1.0 / 3.0 => 0,
        _ => -1,
    };
    let mut score = Score::default();
    for _ in 0..100_000 {
        score.add([game(), game()]);
        let llr = score.llr(sprt);
        if llr <= sprt.bounds()[0] {
            return false;
        }
        if llr >= sprt.bounds()[1] {
            return true;
        }
    }
    unreachable!("a test that does not end")
}

#[test]
fn the_test_errs_as_seldom_as_it_says() {
    let sprt = Sprt { elo0: 0.0, elo1: 60.0, alpha: 0.05, beta: 0.05 };
    let taken = |elo| (1..=600).filter(|&seed| simulate(elo, &sprt, seed)).count();
    // 600 matches, 5 % of them are 30; far more would be a fault.
    let (equal, better) = (taken(0.0), taken(60.0));
    assert!(equal < 48, "{equal} of 600 matches of equals were taken for 60 Elo");
    assert!(better > 552, "{better} of 600 matches at 60 Elo were");
    assert_eq!(taken(300.0), 600);
}
