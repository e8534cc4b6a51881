use super::*;
use crate::ending::{Ending, Outcome};
use crate::error::Error;
use crate::fault::FaultKind;
use serde_json::json;
use std::fs;

/// Records of four bytes.
fn settings() -> Value {
    json!({ "layout": { "record_bytes": 4 }, "seed": 1 })
}

fn open(dir: &Path) -> Result<(Store, Vec<String>)> {
    Store::open(dir, Found::Resume, settings(), Some(9), 2)
}

fn game(number: u64, records: u64) -> Entry {
    Entry::Game(GameLine {
        game: number,
        at: 0,
        records,
        ending: Ending::Mate,
        outcome: Outcome::Black,
        kept: 0,
        random_moves: 0,
        unscored: 0,
        unlisted: 0,
        duplicates: 0,
        depths: vec![1; usize::try_from(records).unwrap()],
        xxh3: String::new(),
    })
}

fn bytes(number: u64, records: u64) -> Vec<u8> {
    (0..records).flat_map(|record| [number.to_le_bytes()[0], record.to_le_bytes()[0], 7, 7]).collect()
}

/// A run of five games, the fourth of which was dropped; synced behind the second and fourth, and then killed.
fn killed() -> (tempfile::TempDir, Vec<u8>, String) {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, notes) = open(dir.path()).unwrap();
    assert!(notes.is_empty());
    for (number, records) in [(0, 3), (1, 0), (2, 5)] {
        store.append(game(number, records), &bytes(number, records)).unwrap();
    }
    let dropped = Entry::Dropped { game: 3, fault: FaultKind::Crash, detail: "x".to_owned() };
    store.append(dropped, &[]).unwrap();
    store.append(game(4, 2), &bytes(4, 2)).unwrap();
    drop(store);
    let data = fs::read(dir.path().join(DATA)).unwrap();
    let journal = fs::read_to_string(dir.path().join(JOURNAL)).unwrap();
    assert_eq!((data.len(), journal.lines().count()), (40, 5));
    assert_eq!(KIND.read_report::<Report>(dir.path()).unwrap().next_game, 4);
    (dir, data, journal)
}

/// What is there after resuming: next game, games, bytes of the data.
fn resumed(dir: &Path) -> (u64, u64, usize, Vec<String>) {
    let (store, notes) = open(dir).unwrap();
    let report = store.report().clone();
    assert_eq!(KIND.read_report::<Report>(dir).unwrap(), report);
    let data = fs::read(dir.join(DATA)).unwrap();
    assert_eq!(report.data_bytes, data.len() as u64);
    assert_eq!(report.journal_bytes, fs::metadata(dir.join(JOURNAL)).unwrap().len());
    (report.next_game, report.totals.games, data.len(), notes)
}

#[test]
fn games_behind_the_last_sync_are_found_again() {
    let (dir, ..) = killed();
    assert_eq!(resumed(dir.path()), (5, 4, 40, vec![]));
    let report = KIND.read_report::<Report>(dir.path()).unwrap();
    assert_eq!((report.totals.positions, report.totals.dropped, report.totals.empty_games), (10, 1, 1));
    assert_eq!(report.totals.faults[&FaultKind::Crash], 1);
    assert_eq!(report.totals.depths[&1], 10);
    // Found again, it is told once.
    assert_eq!(resumed(dir.path()), (5, 4, 40, vec![]));
}

#[test]
fn what_follows_goes_behind_the_last_whole_game() {
    let (dir, data, _) = killed();
    let mut torn = data.clone();
    torn.extend([9, 9, 9]);
    fs::write(dir.path().join(DATA), &torn).unwrap();
    let (mut store, notes) = open(dir.path()).unwrap();
    assert_eq!(notes, ["games.psv: cut 3 bytes behind the last whole game"]);
    let Entry::Game(line) = store.append(game(5, 1), &bytes(5, 1)).unwrap() else { panic!() };
    assert_eq!(line.at, 40);
    drop(store);
    let mut whole = data;
    whole.extend(bytes(5, 1));
    assert_eq!(fs::read(dir.path().join(DATA)).unwrap(), whole);
    assert_eq!(resumed(dir.path()), (6, 5, 44, vec![]));
}

#[test]
fn a_torn_tail_is_cut_at_every_byte() {
    let (dir, data, journal) = killed();
    let synced = KIND.read_report::<Report>(dir.path()).unwrap();
    let report = fs::read(dir.path().join(REPORT)).unwrap();
    let put = |data: &[u8], journal: &[u8]| {
        fs::write(dir.path().join(DATA), data).unwrap();
        fs::write(dir.path().join(JOURNAL), journal).unwrap();
        fs::write(dir.path().join(REPORT), &report).unwrap();
    };
    // The process died while it wrote the data of the fifth game, and never came to its line.
    let line = usize::try_from(synced.journal_bytes).unwrap();
    for len in 32..=40 {
        put(&data[..len], &journal.as_bytes()[..line]);
        let (next, games, bytes, notes) = resumed(dir.path());
        assert_eq!((next, games, bytes, notes.len()), (4, 3, 32, usize::from(len > 32)), "{len}");
    }
    // It died while it wrote the line.
    for len in line + 1..journal.len() {
        put(&data, &journal.as_bytes()[..len]);
        let (next, games, bytes, notes) = resumed(dir.path());
        assert_eq!((next, games, bytes, notes.len()), (4, 3, 32, 2), "{len}");
    }
    // After a power cut the journal may be on disk and the data not.
    for len in 32..40 {
        put(&data[..len], journal.as_bytes());
        let (next, games, bytes, _) = resumed(dir.path());
        assert_eq!((next, games, bytes), (4, 3, 32), "{len}");
    }
    // Or the data is as long as it should be, and empty.
    let mut zeroed = data.clone();
    zeroed[36..].fill(0);
    put(&zeroed, journal.as_bytes());
    assert_eq!(resumed(dir.path()).2, 32);
}

#[test]
fn a_journal_that_skips_or_repeats_a_game_ends_there() {
    for number in [3, 5] {
        let (dir, data, journal) = killed();
        let wrong = journal.replace("{\"game\":4,", &format!("{{\"game\":{number},"));
        fs::write(dir.path().join(JOURNAL), &wrong).unwrap();
        fs::write(dir.path().join(DATA), &data).unwrap();
        assert_eq!(resumed(dir.path()).0, 4);
    }
}

#[test]
fn less_than_was_synced_is_damage_and_nothing_is_touched() {
    for name in [DATA, JOURNAL] {
        let (dir, ..) = killed();
        let path = dir.path().join(name);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(7).unwrap();
        let error = open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("has 7 bytes") && error.contains(name), "{error}");
        assert_eq!(fs::metadata(&path).unwrap().len(), 7);
    }
    let (dir, ..) = killed();
    fs::remove_file(dir.path().join(REPORT)).unwrap();
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("there is no gensfen.json beside it"), "{error}");
}

#[test]
fn a_run_is_not_overwritten_nor_shared_nor_mixed() {
    let (dir, ..) = killed();
    let refused = Store::open(dir.path(), Found::Refuse, settings(), None, 1).unwrap_err();
    assert!(matches!(refused, Error::Run(RunError::Exists(_))), "{refused}");
    assert!(matches!(KIND.check(dir.path(), Found::Refuse), Err(RunError::Exists(_))));

    let other = json!({ "layout": { "record_bytes": 4 }, "seed": 2 });
    let mixed = Store::open(dir.path(), Found::Resume, other, None, 1).unwrap_err().to_string();
    assert!(mixed.contains("seed was 1 in this run and is 2 now"), "{mixed}");

    let (_store, _) = open(dir.path()).unwrap();
    assert!(matches!(open(dir.path()).unwrap_err(), Error::Run(RunError::Busy(_))));
}

#[test]
fn a_report_of_something_else_is_refused() {
    let (dir, ..) = killed();
    let path = dir.path().join(REPORT);
    let text = fs::read_to_string(&path).unwrap();
    for (wrong, reason) in [
        (text.replace("\"version\": 1", "\"version\": 2"), "version 2: not written by this program"),
        (text.replace("manaka-gensfen\"", "other\""), "format \"other\""),
        ("{}".to_owned(), "format null"),
        ("[1]".to_owned(), "format null"),
        (text.replace("\"next_game\"", "\"next\""), "missing field"),
        (text[..text.len() / 2].to_owned(), "EOF"),
    ] {
        fs::write(&path, wrong).unwrap();
        let error = open(dir.path()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_directory_that_holds_nothing_is_a_new_run() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a/b");
    let (store, notes) = Store::open(&deep, Found::Refuse, settings(), Some(1), 1).unwrap();
    assert!(notes.is_empty());
    drop(store);
    // Killed before its first game, it holds a report, and has to be resumed.
    assert!(matches!(KIND.check(&deep, Found::Refuse), Err(RunError::Exists(_))));
    assert_eq!(resumed(&deep), (0, 0, 0, vec![]));
}
