//! A run that is killed at any moment goes on where it was: no game twice, none half, none lost.

mod games;

use games::{Ear, fake, judge, play};
use manaka_core::Packed;
use manaka_gensfen::{Error, Options, RunError, run};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const GAMES: u64 = 40;

/// The run of `gensfen-run`, in a process of its own.
fn spawn(out: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_gensfen-run"))
        .arg(out)
        .args([&GAMES.to_string(), "3", env!("CARGO_BIN_EXE_fake-usi")])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The same options.
fn options(args: &[&str]) -> Options {
    let mut options = fake(args, GAMES);
    options.play.max_ply = 40;
    options.play.random_move = 0.05;
    options
}

/// Kills the run again and again, a little later each time, until it comes to its end. How often it was killed.
fn kill_until_done(out: &Path, args: &[&str]) -> u32 {
    let mut kills = 0;
    for round in 0u64.. {
        let mut child = spawn(out, args);
        // From before the handshake to some games later, in an order that is no order.
        let patience = Duration::from_millis(1 + round * 37 % 101 + round / 4);
        sleep(patience);
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), GAMES.to_string());
            return kills;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        assert!(kills < 3000, "it gets nowhere");
    }
    kills
}

#[test]
fn a_run_killed_at_any_moment_ends_with_the_bytes_of_one_that_was_left_alone() {
    let args = ["delay=1", "mode=crash", "every=300"];
    let whole = play(&options(&args));
    assert!(whole.report.totals.dropped > 0 && whole.report.totals.games > 20);
    let dir = tempfile::tempdir().unwrap();
    let kills = kill_until_done(dir.path(), &args);
    assert!(kills > 10, "{kills}");
    judge(dir.path(), &options(&args));
    assert!(fs::read(dir.path().join("games.psv")).unwrap() == whole.bytes(), "after {kills} kills");
    let journal = |dir: &Path| fs::read_to_string(dir.join("games.jsonl")).unwrap();
    assert_eq!(journal(dir.path()), journal(whole.dir.path()));
    let report: manaka_gensfen::Report =
        serde_json::from_slice(&fs::read(dir.path().join("gensfen.json")).unwrap()).unwrap();
    assert!(report.complete);
    assert_eq!(report.totals, whole.report.totals);
}

#[test]
fn a_kill_between_data_and_journal_loses_no_byte_of_the_games_before() {
    // What a kill leaves in the file, without waiting for one to hit: a part of the next game, records or not.
    let dir = tempfile::tempdir().unwrap();
    let options = options(&[]);
    let ear = Ear { enough: Some(7), ..Ear::default() };
    let report = run(&options, dir.path(), &ear).unwrap();
    assert!(!report.complete && report.next_game >= 7);
    let path = dir.path().join("games.psv");
    let whole = fs::read(&path).unwrap();
    for torn in [1, 59, 60, 61, 600] {
        let mut bytes = whole.clone();
        bytes.extend(vec![0x55; torn]);
        fs::write(&path, &bytes).unwrap();
        let ear = Ear { enough: Some(0), ..Ear::default() };
        let resumed = Options { resume: true, ..options.clone() };
        let report = run(&resumed, dir.path(), &ear).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(&whole));
        assert_eq!(
            ear.notices.borrow()[..1],
            [format!("games.psv: cut {torn} bytes behind the last whole game")]
        );
        // Restore what the next round expects, if a game was finished meanwhile.
        if report.data_bytes > whole.len() as u64 {
            break;
        }
    }
    let resumed = Options { resume: true, ..options.clone() };
    assert!(run(&resumed, dir.path(), &()).unwrap().complete);
    assert!(fs::read(&path).unwrap() == play(&options).bytes());
}

#[test]
fn a_cancelled_run_goes_on_when_it_is_resumed() {
    let options = options(&[]);
    let dir = tempfile::tempdir().unwrap();
    let ear = Ear { enough: Some(3), ..Ear::default() };
    let report = run(&options, dir.path(), &ear).unwrap();
    assert!(!report.complete && report.next_game >= 3 && report.next_game < GAMES);
    assert_eq!(ear.entries.borrow().len() as u64, report.next_game);
    judge(dir.path(), &options);

    let error = run(&options, dir.path(), &()).unwrap_err();
    assert!(matches!(error, Error::Run(RunError::Exists(_))), "{error}");
    let resumed = Options { resume: true, workers: 2.try_into().unwrap(), ..options.clone() };
    let ear = Ear::default();
    let report = run(&resumed, dir.path(), &ear).unwrap();
    assert!(report.complete && ear.notices.borrow().is_empty());
    assert!(fs::read(dir.path().join("games.psv")).unwrap() == play(&options).bytes());
}

#[test]
fn a_finished_run_can_be_made_longer_and_not_changed() {
    let mut options = options(&[]);
    options.games = 4;
    let dir = tempfile::tempdir().unwrap();
    run(&options, dir.path(), &()).unwrap();
    options.resume = true;
    let ear = Ear::default();
    assert!(run(&options, dir.path(), &ear).unwrap().complete);
    assert!(ear.entries.borrow().is_empty());

    options.games = 6;
    let ear = Ear::default();
    assert_eq!(run(&options, dir.path(), &ear).unwrap().totals.games, 6);
    let played: Vec<u64> = ear.entries.borrow().iter().map(manaka_gensfen::Entry::game).collect();
    assert_eq!(played, [4, 5]);

    options.play.max_ply = 50;
    let error = run(&options, dir.path(), &()).unwrap_err().to_string();
    assert!(error.contains("play.max_ply was 40 in this run and is 50 now"), "{error}");
    options.play.max_ply = 40;
    options.engine.command.args = vec!["mode=nameless".to_owned()];
    let error = run(&options, dir.path(), &()).unwrap_err();
    assert!(matches!(error, Error::Run(RunError::Mismatch { .. })), "{error}");
}

#[test]
fn an_engine_of_moods_leaves_no_half_game_either() {
    // Whatever it plays after a kill, what was written is whole games, and no position opens two of them.
    let dir = tempfile::tempdir().unwrap();
    let args = ["delay=1"];
    kill_until_done(dir.path(), &args);
    let games = judge(dir.path(), &options(&args));
    assert_eq!(games.len() as u64, GAMES);
    let mut last: Vec<Packed> = games.iter().map(|(_, records)| records.last().unwrap().packed).collect();
    last.sort_unstable();
    last.dedup();
    assert_eq!(last.len() as u64, GAMES);
}
