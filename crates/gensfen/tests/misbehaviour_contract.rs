//! The fake engine misbehaves, in one way a test, and the run copes with it.

mod games;

use games::{Ran, fails, fake, play};
use manaka_gensfen::{Ending, EngineLife, Error, FaultKind, UnknownOption};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// Plays with a fault in some positions: some games are dropped for it, the others are whole.
fn drops(args: &[&str], kind: FaultKind) -> Ran {
    let ran = play(&fake(args, 12));
    let totals = &ran.report.totals;
    assert!(totals.games > 0 && totals.dropped > 0, "{} and {}", totals.games, totals.dropped);
    assert_eq!(totals.games + totals.dropped, 12);
    assert_eq!(totals.faults[&kind], totals.dropped, "{:?}", totals.faults);
    assert_eq!(ran.faults.len() as u64, totals.dropped);
    let log = fs::read_to_string(ran.dir.path().join("faults.log")).unwrap();
    for (game, fault) in &ran.faults {
        assert_eq!(fault.kind, kind);
        let sent = |what: &str| fault.lines.iter().any(|line| line.starts_with(what));
        assert!(sent("> position ") && sent("> go nodes 100000"), "{:?}", fault.lines);
        assert!(log.contains(&format!("game {game}: {kind}: ")));
        assert!(fault.lines.iter().all(|line| log.contains(line.as_str())));
    }
    ran
}

/// Plays with something odd in every position that is no fault.
fn takes(args: &[&str]) -> Ran {
    let ran = play(&fake(args, 3));
    assert_eq!((ran.report.totals.games, ran.report.totals.dropped), (3, 0), "{:?}", ran.faults);
    ran
}

/// How often each number of candidates occurs.
fn widths(ran: &Ran) -> BTreeMap<usize, usize> {
    let mut widths = BTreeMap::new();
    for record in ran.records() {
        *widths.entry(record.candidates.len()).or_insert(0) += 1;
    }
    widths
}

#[test]
fn mixed_depths_are_levelled_and_the_depth_is_recorded() {
    let levelled = takes(&["mode=mixed"]);
    // The fake searches to depth 3, 4 or 5; the last depth lacks its last line.
    for (depth, count) in &levelled.report.totals.depths {
        assert!((2..=4).contains(depth) && *count > 0, "{:?}", levelled.report.totals.depths);
    }
    let whole = takes(&[]);
    assert!(whole.report.totals.depths.keys().all(|depth| (3..=5).contains(depth)));
    assert_eq!(widths(&levelled).keys().max(), Some(&5));
    let in_journal: u64 = levelled.games.iter().map(|(line, _)| line.depths.len() as u64).sum();
    assert_eq!(in_journal, levelled.report.totals.positions);
}

#[test]
fn unsorted_lines_are_put_in_order() {
    assert_eq!(takes(&["mode=unsorted"]).bytes(), takes(&[]).bytes());
}

#[test]
fn bounds_are_passed_over() {
    assert_eq!(takes(&["mode=bounds"]).bytes(), takes(&[]).bytes());
}

#[test]
fn duplicate_moves_are_left_out_and_counted() {
    let ran = takes(&["mode=duplicates"]);
    assert_eq!(widths(&ran).keys().max(), Some(&4));
    assert!(ran.report.totals.duplicates > 0);
}

#[test]
fn mates_in_every_notation_are_folded() {
    let ran = takes(&["mode=mates"]);
    let wide = ran.records().find(|record| record.candidates.len() == 5).unwrap();
    let scores: Vec<i16> = wide.candidates.iter().map(|&(_, score)| score).collect();
    // A line of play of one ply for the bare signs.
    assert_eq!(scores, [29_999, -29_999, -30_000, 29_995, -29_988]);
}

#[test]
fn scores_beyond_the_record_are_held_under_the_mates() {
    let ran = takes(&["mode=beyond"]);
    let wide = ran.records().find(|record| record.candidates.len() >= 4).unwrap();
    let scores: Vec<i16> = wide.candidates.iter().take(4).map(|&(_, score)| score).collect();
    assert_eq!(scores, [29_679, -29_679, 29_679, 29_679]);
}

#[test]
fn an_engine_without_the_word_multipv_gives_one_line() {
    let ran = takes(&["mode=plain"]);
    assert_eq!(widths(&ran).keys().collect::<Vec<_>>(), [&1]);
}

#[test]
fn lines_of_play_that_resign_or_win_are_no_candidates() {
    let ran = takes(&["mode=words"]);
    assert_eq!(widths(&ran).keys().max(), Some(&3));
}

#[test]
fn a_score_without_a_line_of_play_belongs_to_the_best_move() {
    let mut options = fake(&["mode=nopv"], 3);
    options.engine.multipv = 1;
    let ran = play(&options);
    assert_eq!(ran.report.totals.dropped, 0);
    assert_eq!(widths(&ran).keys().collect::<Vec<_>>(), [&1]);
    assert!(ran.records().all(|record| record.mv == Some(record.candidates[0].0)));
}

#[test]
fn carriage_returns_change_nothing() {
    assert_eq!(takes(&["mode=crlf"]).bytes(), takes(&[]).bytes());
}

#[test]
fn bytes_that_are_no_text_are_passed_over() {
    assert_eq!(takes(&["mode=binary"]).bytes(), takes(&[]).bytes());
}

#[test]
fn a_full_error_output_holds_nobody_up() {
    let ran = play(&fake(&["mode=stderr", "every=20"], 2));
    assert_eq!(ran.report.totals.dropped, 0);
}

#[test]
fn an_engine_that_says_no_name_has_none() {
    let ran = takes(&["mode=nameless"]);
    assert_eq!(ran.report.settings["engine"]["name"], "");
}

#[test]
fn an_engine_that_does_not_leave_is_killed() {
    let mut options = fake(&["mode=hang-quit"], 1);
    options.engine.timeouts.quit = Duration::from_millis(50);
    let started = Instant::now();
    assert_eq!(play(&options).report.totals.games, 1);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn bestmove_resign_ends_the_game_for_the_other_side() {
    let ran = takes(&["mode=resign", "every=9"]);
    assert!(ran.count(Ending::Resignation) > 0, "{:?}", ran.report.totals.endings);
    // The position in which it resigned has no move and no record: the game ends behind the move before.
    for (line, records) in &ran.games {
        if let (Ending::Resignation, Some(last)) = (line.ending, records.last()) {
            assert_eq!(last.result, 1);
        }
    }
}

#[test]
fn bestmove_resign_is_played_on_when_resignation_is_off() {
    let mut options = fake(&["mode=resign", "every=9"], 3);
    options.play.resign_count = 0;
    let ran = play(&options);
    assert_eq!((ran.count(Ending::Resignation), ran.report.totals.dropped), (0, 0));
}

#[test]
fn bestmove_win_that_the_rule_does_not_give_is_a_fault() {
    drops(&["mode=win", "every=40"], FaultKind::FalseWin);
}

#[test]
fn bestmove_none_where_there_is_a_move_is_a_fault() {
    drops(&["mode=none", "every=40"], FaultKind::NoMove);
}

#[test]
fn an_illegal_best_move_is_a_fault() {
    drops(&["mode=illegal", "every=40"], FaultKind::IllegalMove);
}

#[test]
fn an_illegal_line_of_play_is_a_fault() {
    drops(&["mode=illegal-pv", "every=40"], FaultKind::IllegalMove);
}

#[test]
fn an_engine_that_ignores_a_move_of_the_position_is_found_out() {
    drops(&["mode=ignore", "every=40"], FaultKind::IllegalMove);
}

#[test]
fn an_engine_that_complains_about_the_position_is_believed() {
    let ran = drops(&["mode=complain", "every=40"], FaultKind::Rejected);
    assert!(ran.faults[0].1.detail.contains("position error: illegal move"));
}

#[test]
fn a_best_move_that_cannot_be_read_is_a_fault() {
    drops(&["mode=garbage", "every=40"], FaultKind::Garbage);
    drops(&["mode=empty", "every=40"], FaultKind::Garbage);
}

#[test]
fn a_line_without_an_end_is_a_fault() {
    drops(&["mode=endless", "every=40"], FaultKind::Garbage);
}

#[test]
fn a_second_best_move_is_a_fault_and_not_the_answer_to_the_next_search() {
    let ran = play(&fake(&["mode=twice", "every=40"], 12));
    let totals = &ran.report.totals;
    assert!(totals.games > 0 && totals.dropped > 0);
    // Found waiting before the next search; one that comes late would answer for the wrong side, and be illegal.
    assert!(totals.faults[&FaultKind::Garbage] > 0, "{:?}", totals.faults);
    let found = totals.faults[&FaultKind::Garbage] + totals.faults[&FaultKind::IllegalMove];
    assert_eq!(found, totals.dropped, "{:?}", totals.faults);
}

#[test]
fn an_engine_that_dies_is_started_again() {
    let ran = drops(&["mode=crash", "every=40"], FaultKind::Crash);
    let (_, fault) = &ran.faults[0];
    assert!(fault.detail.contains("exit status: 3"), "{}", fault.detail);
    assert!(fault.lines.contains(&"! assertion failed: depth > 0".to_owned()), "{:?}", fault.lines);
    drops(&["mode=closed", "every=40"], FaultKind::Crash);
}

#[test]
fn an_engine_that_hangs_is_killed_and_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let pids = format!("pids={}", dir.path().join("pids").display());
    let mut options = fake(&["mode=hang", "every=40", &pids], 12);
    options.engine.timeouts.search = Duration::from_millis(300);
    options.engine.life = EngineLife::Run;
    let ran = play(&options);
    let totals = &ran.report.totals;
    assert!(totals.games > 0 && totals.dropped > 0);
    assert_eq!(totals.faults[&FaultKind::Timeout], totals.dropped);
    assert!(ran.faults[0].1.detail.contains("no answer to \"go nodes 100000\" within 0.3 s"));
    // One at first, and one more for each game that followed a fault.
    let followed = ran.faults.iter().filter(|(game, _)| *game < 11).count();
    assert_eq!(nobody_is_left(&dir), 1 + followed);
}

#[test]
fn every_game_has_a_fresh_engine_unless_it_is_kept() {
    for (life, engines) in [(EngineLife::Game, 5), (EngineLife::Run, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let mut options = fake(&[&format!("pids={}", dir.path().join("pids").display())], 5);
        options.engine.life = life;
        play(&options);
        assert_eq!(nobody_is_left(&dir), engines);
    }
}

#[test]
fn an_engine_that_never_stops_talking_is_killed() {
    let mut options = fake(&["mode=flood", "every=40"], 12);
    options.engine.timeouts.search = Duration::from_millis(300);
    let ran = play(&options);
    assert!(ran.report.totals.games > 0 && ran.report.totals.faults[&FaultKind::Timeout] > 0);
}

/// How many engines were started, none of which is running any more, nor waits to be reaped.
fn nobody_is_left(dir: &tempfile::TempDir) -> usize {
    let pids = fs::read_to_string(dir.path().join("pids")).unwrap();
    for pid in pids.lines() {
        let there = fs::read_to_string(format!("/proc/{pid}/stat"));
        assert!(!there.is_ok_and(|stat| stat.contains("(fake-usi)")), "{pid}");
    }
    pids.lines().count()
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_engine_starts_is_killed_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = fake(&[], 1);
    let fake = &options.engine.command.program;
    let pids = dir.path().join("pids");
    // A wrapper that stays in front of the engine, as scripts do.
    let script = format!("{fake} mode=hang pids={}; true", pids.display());
    options.engine.command.program = "sh".to_owned();
    options.engine.command.args = vec!["-c".to_owned(), script];
    options.engine.timeouts.search = Duration::from_millis(300);
    let (error, _) = fails(&options);
    assert!(matches!(error, Error::NeverWorks { .. }), "{error}");
    // Killed, and soon reaped by whoever inherits it.
    for _ in 0..100 {
        let pid = fs::read_to_string(&pids).unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        if !stat.is_ok_and(|stat| stat.contains("(fake-usi)") && !stat.contains(") Z ")) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it is still running");
}

#[test]
fn a_position_without_a_score_is_played_on_and_left_out() {
    let ran = play(&fake(&["mode=noscore", "every=8"], 4));
    let totals = &ran.report.totals;
    assert_eq!(totals.dropped, 0);
    assert!(totals.unscored > 0);
    let searched: u64 = ran.games.iter().map(|(line, _)| line.records + line.unscored).sum();
    assert_eq!(searched, totals.positions + totals.unscored);
    // Plies ascend, with a gap for each of them that is not the last.
    assert!(ran.games.iter().any(|(_, records)| records.windows(2).any(|two| two[1].ply > two[0].ply + 1)));
}

#[test]
fn an_engine_that_never_gives_a_score_does_not_work() {
    let (error, dir) = fails(&fake(&["mode=noscore"], 20));
    let text = error.to_string();
    assert!(matches!(error, Error::NeverWorks { faults: 10, .. }), "{text}");
    assert!(text.contains("no_score: not one score in 60 searches") && text.contains("book"), "{text}");
    let report = fs::read_to_string(dir.path().join("gensfen.json")).unwrap();
    assert!(report.contains("\"no_score\": 10"), "{report}");
}

#[test]
fn an_engine_that_resigns_before_it_has_thought_does_not_work() {
    let text = fails(&fake(&["mode=resign-now"], 3)).0.to_string();
    assert!(text.contains("no_score: not one score in 1 searches"), "{text}");
    // Later on it is a resignation like any other.
    let ran = play(&fake(&["mode=resign-now", "every=30"], 6));
    assert!(ran.count(Ending::Resignation) > 0);
}

#[test]
fn an_engine_that_is_another_one_later_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = fake(&[&format!("turn={}", dir.path().join("turns").display())], 8);
    options.max_faults = 3;
    let text = fails(&options).0.to_string();
    assert!(text.contains("start: it is \"Fake 2\" now, and was \"Fake\" when the run began"), "{text}");
}

#[test]
fn an_engine_that_fails_in_every_game_stops_the_run_with_its_last_words() {
    let mut options = fake(&["mode=crash"], 1000);
    options.max_faults = 4;
    let (error, dir) = fails(&options);
    let text = error.to_string();
    assert!(matches!(error, Error::NeverWorks { faults: 4, .. }), "{text}");
    assert!(text.contains("assertion failed: depth > 0") && text.contains("> go nodes 100000"), "{text}");
    assert_eq!(fs::read_to_string(dir.path().join("games.jsonl")).unwrap().lines().count(), 4);
    // Fewer games than it takes to give up: the end of the run says so.
    let (error, _) = fails(&fake(&["mode=crash"], 2));
    assert!(matches!(error, Error::NeverWorks { faults: 2, .. }), "{error}");
}

#[test]
fn an_engine_that_does_not_start_is_reported_before_anything_is_written() {
    let start = |mode: &str| {
        let mut options = fake(&[mode], 3);
        options.engine.timeouts.handshake = Duration::from_millis(300);
        let (error, dir) = fails(&options);
        assert!(matches!(error, Error::Start(_)), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        error.to_string()
    };
    let text = start("mode=crash-usi");
    assert!(text.contains("exit status: 3") && text.contains("! no evaluation function"), "{text}");
    let text = start("mode=hang-usi");
    assert!(text.contains("no answer to \"usiok\""), "{text}");
    let text = start("mode=uci");
    assert!(text.contains("no answer to \"usiok\"") && text.contains("< Unknown command: usi"), "{text}");

    let mut options = fake(&[], 3);
    options.engine.command.program = "no-such-engine".to_owned();
    let text = fails(&options).0.to_string();
    assert!(text.contains("cannot start \"no-such-engine\""), "{text}");
}

#[test]
fn an_engine_that_is_never_ready_does_not_work() {
    let mut options = fake(&["mode=hang-ready"], 2);
    options.engine.timeouts.ready = Duration::from_millis(300);
    let text = fails(&options).0.to_string();
    assert!(text.contains("timeout: no answer to \"readyok\""), "{text}");
    let text = fails(&fake(&["mode=crash-ready"], 2)).0.to_string();
    assert!(text.contains("exit status: 4"), "{text}");
}

#[test]
fn an_option_that_is_not_there_is_refused_or_left_out_as_asked() {
    let mut options = fake(&[], 2);
    options.engine.settings = vec!["EvalFile=nn.bin".parse().unwrap()];
    let (error, dir) = fails(&options);
    assert_eq!(error.to_string(), "Fake: it has no option \"EvalFile\"");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    options.engine.settings = vec!["evaldir=eval".parse().unwrap()];
    assert_eq!(fails(&options).0.to_string(), "Fake: it has no option \"evaldir\"; it has \"EvalDir\"");
    options.engine.unknown = UnknownOption::Warn;
    let ran = play(&options);
    assert_eq!(ran.notices, ["it has no option \"evaldir\"; it has \"EvalDir\"; left out"]);
    // A value that it does not take is refused either way.
    options.engine.settings = vec!["Style=rude".parse().unwrap()];
    let text = fails(&options).0.to_string();
    assert_eq!(text, "Fake: its option \"Style\" takes one of calm, wild, not \"rude\"");
    options.engine.settings =
        ["Style=wild", "Clear Hash", "EvalDir=a b", "USI_Hash=16"].map(|s| s.parse().unwrap()).to_vec();
    assert_eq!(play(&options).report.totals.games, 2);
}

#[test]
fn an_engine_that_has_no_multipv_says_so_or_gives_one_line() {
    let mut options = fake(&["mode=no-multipv"], 2);
    let text = fails(&options).0.to_string();
    assert_eq!(text, "Fake: it has no option MultiPV and reports one line, not 5; ask for 1");
    options.engine.unknown = UnknownOption::Warn;
    let ran = play(&options);
    assert_eq!(ran.notices, ["it has no option MultiPV and reports one line, not 5"]);
    options.engine.unknown = UnknownOption::Refuse;
    options.engine.multipv = 1;
    assert_eq!(widths(&play(&options)).keys().collect::<Vec<_>>(), [&1]);
    options.engine.command.args.clear();
    options.engine.multipv = 9;
    options.layout.candidates = 9;
    let text = fails(&options).0.to_string();
    assert_eq!(text, "Fake: its option MultiPV takes a number from 1 to 8, not 9");
}
