//! Games that stop without a result are played to their end, and the others are taken over.

mod games;

use games::{Ear, fake, judge, play};
use manaka_gensfen::{Ending, Error, Options, Outcome, RunError, run};
use std::fs;
use std::path::Path;

const GAMES: u64 = 16;

/// A run in which limits cut most games off.
fn cut() -> Options {
    let mut options = fake(&[], GAMES);
    options.play.max_ply = 140;
    options.play.eval_limit = Some(20_000);
    options
}

/// Its recovery, with moves to spare.
fn recovery(source: &Path) -> Options {
    let mut options = fake(&[], 0);
    options.play.max_ply = 600;
    options.recover_from = Some(source.to_owned());
    options
}

#[test]
fn games_that_a_limit_cut_off_are_played_on_and_the_rest_is_taken_over() {
    let source = play(&cut());
    let cuts = source.games.iter().filter(|(line, _)| line.ending.is_cut()).count();
    assert!(source.count(Ending::MaxPly) > 0 && source.count(Ending::EvalLimit) > 0);
    let recovered = play(&recovery(source.dir.path()));
    assert_eq!(recovered.report.games, Some(GAMES));
    assert_eq!(recovered.games.len() as u64, GAMES);
    let mut played_on = 0;
    for ((before, old), (after, new)) in source.games.iter().zip(&recovered.games) {
        // What was there is there, but for the result.
        let without_result = |records: &[manaka_corpus::psv::Record]| {
            let bare = records.iter().map(|r| manaka_corpus::psv::Record { result: 0, ..r.clone() });
            bare.collect::<Vec<_>>()
        };
        assert_eq!(after.kept, before.records);
        assert_eq!(without_result(&new[..old.len()]), without_result(old));
        assert_eq!(after.depths[..old.len()], before.depths);
        if before.ending.is_cut() {
            played_on += 1;
            assert!(after.records > before.records || after.ending == Ending::Mate);
        } else {
            assert_eq!((new, after.ending, after.outcome), (old, before.ending, before.outcome));
        }
    }
    assert_eq!(played_on, cuts);
    assert_eq!(recovered.count(Ending::EvalLimit), 0);
    // Whoever recovers what was recovered changes nothing but what is still cut off.
    let again = play(&recovery(recovered.dir.path()));
    assert!(again.bytes() == recovered.bytes());
}

#[test]
fn the_plies_left_are_counted_on_the_board() {
    let mut options = fake(&["cp=0", "peace=1"], 2);
    options.play.max_ply = 30;
    let source = play(&options);
    assert_eq!(source.count(Ending::MaxPly), 2);
    let mut more = recovery(source.dir.path());
    more.engine.command.args = vec!["cp=0".to_owned(), "peace=1".to_owned()];
    more.play.max_ply = 40;
    let recovered = play(&more);
    for (line, records) in &recovered.games {
        assert_eq!((line.kept, line.records, records.last().unwrap().ply), (30, 40, 40));
    }
    // Without a move to spare the games stay as they are.
    more.play.max_ply = 30;
    assert!(play(&more).bytes() == source.bytes());
}

#[test]
fn resignation_is_off() {
    let mut options = fake(&["cp=-5000", "peace=1"], 2);
    options.play.max_ply = 5;
    let source = play(&options);
    assert_eq!(source.count(Ending::MaxPly), 2);
    let mut more = recovery(source.dir.path());
    more.engine.command.args = options.engine.command.args.clone();
    more.play.max_ply = 40;
    assert_eq!(play(&more).count(Ending::Resignation), 0);
}

#[test]
fn raw_records_without_a_journal_are_recovered_by_their_results() {
    let source = play(&cut());
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("old.psv"), source.bytes()).unwrap();
    let recovered = play(&recovery(dir.path()));
    assert_eq!(recovered.report.games, None);
    // Games without a record leave no trace in raw data; those that nobody won are played on.
    let drawn = source.games.iter().filter(|(line, records)| {
        line.outcome == Outcome::Draw && !records.is_empty() && line.ending != Ending::Repetition
    });
    let played_on = recovered.games.iter().filter(|(line, _)| line.ending != Ending::Given);
    assert!(played_on.clone().count() > 0);
    assert_eq!(played_on.count(), drawn.count());
    for (line, _) in &recovered.games {
        assert!(line.depths.iter().take(usize::try_from(line.kept).unwrap()).all(|&depth| depth == 0));
    }
}

#[test]
fn a_recovery_does_not_depend_on_workers_and_can_be_resumed() {
    let source = play(&cut());
    let options = recovery(source.dir.path());
    let whole = play(&options);
    let many = play(&Options { workers: 4.try_into().unwrap(), ..options.clone() });
    assert!(many.bytes() == whole.bytes());

    let dir = tempfile::tempdir().unwrap();
    let ear = Ear { enough: Some(2), ..Ear::default() };
    let report = run(&options, dir.path(), &ear).unwrap();
    assert!(!report.complete && report.next_game < GAMES);
    let resumed = Options { resume: true, ..options.clone() };
    assert!(run(&resumed, dir.path(), &()).unwrap().complete);
    assert!(fs::read(dir.path().join("games.psv")).unwrap() == whole.bytes());
    judge(dir.path(), &options);
}

#[test]
fn another_layout_or_no_source_is_an_error() {
    let source = play(&fake(&[], 1));
    let mut options = recovery(source.dir.path());
    options.layout.candidates = 6;
    let dir = tempfile::tempdir().unwrap();
    let error = run(&options, dir.path(), &()).unwrap_err();
    assert!(matches!(&error, Error::Run(RunError::Mismatch { key, .. }) if key == "layout"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = run(&recovery(empty.path()), dir.path(), &()).unwrap_err().to_string();
    assert!(error.contains(".psv"), "{error}");
    // A source that is its own target would be read while it is written.
    let mut options = recovery(source.dir.path());
    options.resume = true;
    let error = run(&options, source.dir.path(), &()).unwrap_err().to_string();
    assert!(error.contains("into another directory"), "{error}");
}
