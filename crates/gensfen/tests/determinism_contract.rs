//! What the bytes depend on, and what they do not.

mod games;

use games::{Ran, book, fake, play};
use manaka_gensfen::{EngineLife, Options};
use std::fs;

fn journal(ran: &Ran) -> String {
    fs::read_to_string(ran.dir.path().join("games.jsonl")).unwrap()
}

/// Games of many lengths, some of which end in a fault.
fn options(workers: usize) -> Options {
    let mut options = fake(&["mode=crash", "every=150"], 24);
    options.workers = workers.try_into().unwrap();
    options.play.random_move = 0.1;
    options.openings.random_plies = 3;
    options
}

#[test]
fn the_number_of_workers_does_not_reach_the_bytes() {
    let one = play(&options(1));
    assert!(one.report.totals.games > 0 && one.report.totals.dropped > 0);
    for workers in [2, 5, 30] {
        let many = play(&options(workers));
        assert!(many.bytes() == one.bytes(), "{workers} workers");
        assert_eq!(journal(&many), journal(&one));
        assert_eq!(many.report.totals, one.report.totals);
    }
}

#[test]
fn how_long_an_engine_takes_or_lives_does_not_reach_the_bytes() {
    let plain = play(&options(2));
    let mut slow = options(2);
    slow.games = 6;
    slow.engine.command.args.push("delay=3".to_owned());
    let slow = play(&slow);
    assert!(plain.bytes().starts_with(&slow.bytes()) && !slow.bytes().is_empty());
    // The fake forgets everything.
    let mut kept = options(2);
    kept.engine.life = EngineLife::Run;
    assert!(play(&kept).bytes() == plain.bytes());
    let mut seldom = options(2);
    seldom.sync_games = 1000.try_into().unwrap();
    assert!(play(&seldom).bytes() == plain.bytes());
}

#[test]
fn another_seed_plays_other_games_and_the_same_seed_the_same() {
    let mut options = options(1);
    options.games = 6;
    let first = play(&options);
    assert!(play(&options).bytes() == first.bytes());
    options.seed += 1;
    let other = play(&options);
    let shared = other.records().filter(|record| first.records().any(|known| known == *record)).count();
    assert_eq!(shared, 0, "of {}", other.report.totals.positions);
}

#[test]
fn no_two_games_of_a_run_share_their_randomness() {
    let mut options = fake(&[], 40);
    options.workers = 4.try_into().unwrap();
    options.play.max_ply = 20;
    let ran = play(&options);
    let mut ends: Vec<_> = ran.games.iter().map(|(_, records)| records.last().unwrap().packed).collect();
    ends.sort_unstable();
    ends.dedup();
    assert_eq!(ends.len(), 40);
}

#[test]
fn the_book_is_taken_in_an_order_of_the_seed() {
    let dir = tempfile::tempdir().unwrap();
    let lines: String =
        ["7g7f", "2g2f", "5g5f", "9g9f", "1g1f", "3g3f"].map(|mv| format!("startpos moves {mv}\n")).concat();
    let openings = |seed| {
        let mut options = fake(&[], 6);
        options.openings.book = Some(book(dir.path(), &lines));
        options.play.max_ply = 2;
        options.seed = seed;
        play(&options).games.iter().map(|(_, records)| records[0].packed).collect::<Vec<_>>()
    };
    let (first, second) = (openings(1), openings(2));
    assert_ne!(first, second);
    let sorted = |mut list: Vec<_>| {
        list.sort_unstable();
        list.dedup();
        list
    };
    assert_eq!(sorted(first), sorted(second));
}
