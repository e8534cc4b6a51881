//! How games begin, how moves are chosen and how games end.

mod games;

use games::{book, fake, mv, packed, play, side};
use manaka_core::Color;
use manaka_core::sfen::STARTPOS;
use manaka_corpus::book::BookError;
use manaka_gensfen::{Ending, Error, Outcome, RANDOM_MOVE_PAD, run};
use std::collections::HashSet;

/// A run that begins from this line of a book.
fn from(line: &str, args: &[&str], games: u64) -> (manaka_gensfen::Options, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = fake(args, games);
    options.openings.book = Some(book(dir.path(), line));
    (options, dir)
}

#[test]
fn a_mate_ends_the_game_for_the_side_that_gave_it() {
    let (options, _dir) = from("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", &[], 3);
    let ran = play(&options);
    assert_eq!(ran.count(Ending::Mate), 3);
    for (line, records) in &ran.games {
        assert_eq!((line.outcome, records.len()), (Outcome::Black, 1));
        assert_eq!((records[0].score, records[0].result), (29_999, 1));
    }
    // The same for White.
    let (options, _dir) = from("4k4/9/9/9/9/9/4p4/9/4K4 w g 1", &[], 1);
    let ran = play(&options);
    assert_eq!((ran.count(Ending::Mate), ran.games[0].0.outcome), (1, Outcome::White));
    assert_eq!(ran.games[0].1[0].result, 1);
}

#[test]
fn a_position_that_comes_for_the_fourth_time_is_a_draw() {
    let mut options = fake(&["script=5i5h,5a5b,5h5i,5b5a"], 1);
    options.play.random_until_ply = 0;
    let ran = play(&options);
    assert_eq!((ran.count(Ending::Repetition), ran.games[0].0.outcome), (1, Outcome::Draw));
    assert_eq!(ran.games[0].1.len(), 12);
    assert!(ran.records().all(|record| record.result == 0));
}

#[test]
fn whoever_gave_nothing_but_check_loses_by_repetition() {
    let checks = ["script=5a4a,5h4h,4a5a,4h5h"];
    let (mut options, _dir) = from("4k4/9/9/9/9/9/9/4R4/K8 w - 10", &checks, 1);
    options.play.random_until_ply = 0;
    let ran = play(&options);
    assert_eq!((ran.count(Ending::PerpetualCheck), ran.games[0].0.outcome), (1, Outcome::White));
}

#[test]
fn a_win_by_declaration_is_declared() {
    // Ten pieces and 28 points are there; the king has one step to go.
    let (mut options, _dir) = from("RB1GGGGSS/1+R+BPPPP2/9/4K4/9/9/9/9/8k b - 99", &["script=5d5c,1i2i"], 1);
    options.play.max_ply = 320;
    options.play.random_until_ply = 0;
    let ran = play(&options);
    assert_eq!(ran.count(Ending::Declaration), 1, "{:?}", ran.report.totals.endings);
    assert_eq!(ran.games[0].0.outcome, Outcome::Black);
}

#[test]
fn scores_that_stay_bad_resign_the_game() {
    // From Black's side 3000 behind: its fourth score is at ply 7, and the game ends behind the move played there.
    let ran = play(&fake(&["cp=-3000"], 2));
    assert_eq!(ran.count(Ending::Resignation), 2);
    for (line, records) in &ran.games {
        assert_eq!((line.outcome, records.len()), (Outcome::White, 7));
        assert!(records.iter().all(|r| r.result == if side(r) == Color::Black { -1 } else { 1 }));
    }
    let ran = play(&fake(&["cp=3000"], 2));
    assert!(ran.games.iter().all(|(line, records)| (line.outcome, records.len()) == (Outcome::Black, 8)));
    // Just short of it, too few of them, or never.
    assert_eq!(play(&fake(&["cp=-2999"], 1)).count(Ending::Resignation), 0);
    let mut options = fake(&["cp=-3000"], 1);
    options.play.resign_count = 5;
    assert_eq!(play(&options).games[0].1.len(), 9);
    options.play.resign_count = 0;
    assert_eq!(play(&options).count(Ending::Resignation), 0);
}

#[test]
fn the_move_number_of_the_board_ends_the_game_whatever_it_began_with() {
    let mut options = fake(&["cp=0", "peace=1"], 1);
    options.play.max_ply = 320;
    let ran = play(&options);
    assert_eq!(ran.count(Ending::MaxPly), 1);
    assert_eq!(ran.records().map(|record| record.ply).collect::<Vec<_>>(), (1..=320).collect::<Vec<_>>());
    assert!(ran.records().all(|record| record.result == 0));

    // A position in which move 300 is to be played has twenty-one moves left, not 320.
    let (mut options, _dir) = from(&STARTPOS.replace(" 1", " 300"), &["cp=0", "peace=1"], 2);
    options.play.max_ply = 320;
    let ran = play(&options);
    assert_eq!(ran.count(Ending::MaxPly), 2);
    for (_, records) in &ran.games {
        assert_eq!(
            records.iter().map(|record| record.ply).collect::<Vec<_>>(),
            (300..=320).collect::<Vec<_>>()
        );
    }
    let (mut options, _dir) = from("startpos moves 7g7f 3c3d", &["cp=0", "peace=1"], 1);
    options.play.max_ply = 3;
    assert_eq!(play(&options).records().map(|record| record.ply).collect::<Vec<_>>(), [3]);
    options.play.max_ply = 2;
    let dir = tempfile::tempdir().unwrap();
    let error = run(&options, dir.path(), &()).unwrap_err();
    assert!(matches!(error, Error::Book(BookError::Line { line: 1, .. })), "{error}");
}

#[test]
fn a_mate_at_the_last_move_number_is_a_mate() {
    let (mut options, _dir) = from("4k4/9/4P4/9/9/9/9/9/4K4 b G 320", &[], 1);
    options.play.max_ply = 320;
    assert_eq!(play(&options).count(Ending::Mate), 1);
}

#[test]
fn a_score_beyond_the_limit_ends_the_game_without_its_record() {
    let mut options = fake(&["cp=500"], 3);
    options.play.eval_limit = Some(500);
    assert_eq!(play(&options).count(Ending::EvalLimit), 0);
    options.play.eval_limit = Some(499);
    let ran = play(&options);
    assert_eq!((ran.count(Ending::EvalLimit), ran.report.totals.empty_games), (3, 3));
    assert!(ran.games.iter().all(|(line, _)| line.outcome == Outcome::Black));
    assert!(ran.bytes().is_empty());

    // Mates are beyond it too; what came before has the result of the side ahead, and no gap.
    let mut options = fake(&[], 6);
    options.play.max_ply = 320;
    options.play.eval_limit = Some(3000);
    let ran = play(&options);
    assert!(ran.count(Ending::EvalLimit) > 0, "{:?}", ran.report.totals.endings);
    assert_eq!(ran.count(Ending::Mate), 0);
    for (line, records) in &ran.games {
        assert!(records.windows(2).all(|two| two[1].ply == two[0].ply + 1));
        assert!(records.iter().all(|record| record.score.abs() <= 3000));
        assert_ne!(line.outcome == Outcome::Draw, line.ending == Ending::EvalLimit);
    }
}

#[test]
fn random_moves_are_marked_and_the_others_are_candidates() {
    let mut options = fake(&[], 6);
    options.play.random_move = 0.2;
    let ran = play(&options);
    let random = ran.report.totals.random_moves;
    let positions = ran.report.totals.positions;
    assert!((positions / 7..positions / 4).contains(&random), "{random} of {positions}");
    assert_eq!(ran.records().filter(|record| record.pad == RANDOM_MOVE_PAD).count() as u64, random);
    let outside =
        |record: &&manaka_corpus::psv::Record| record.candidates.iter().all(|&(mv, _)| Some(mv) != record.mv);
    assert!(ran.records().filter(outside).all(|record| record.pad == RANDOM_MOVE_PAD));
    assert!(ran.records().filter(outside).count() > 0);
    // None without the option.
    assert_eq!(play(&fake(&[], 3)).report.totals.random_moves, 0);
}

#[test]
fn random_openings_are_different_and_not_recorded() {
    let mut options = fake(&[], 8);
    options.openings.random_plies = 6;
    let ran = play(&options);
    let first: HashSet<_> = ran.games.iter().map(|(_, records)| records[0].packed).collect();
    assert_eq!(first.len(), 8);
    assert!(ran.games.iter().all(|(_, records)| records[0].ply == 7));
    assert_eq!(ran.report.totals.random_moves, 0);
}

#[test]
fn random_openings_stop_short_of_a_mate_and_of_the_last_move() {
    // Black has one legal way out for some plies, then mates happen soon; whatever is drawn, every game has a record.
    let (mut options, _dir) = from("4k4/9/4P4/9/9/9/9/9/4K4 b G 50", &["cp=0"], 20);
    options.openings.random_plies = 1000;
    let ran = play(&options);
    assert_eq!(ran.report.totals.empty_games, 0);
    assert!(ran.records().all(|record| record.ply <= 60));
}

#[test]
fn games_begin_from_every_line_of_the_book() {
    let lines = "startpos\nstartpos moves 7g7f\nsfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 9\n";
    let (options, _dir) = from(lines, &[], 6);
    let ran = play(&options);
    let mut plies: Vec<u16> = ran.games.iter().map(|(_, records)| records[0].ply).collect();
    plies.sort_unstable();
    assert_eq!(plies, [1, 1, 2, 2, 9, 9]);
    assert_eq!(ran.report.settings["openings"]["book_positions"], 3);
    let second = ran.games.iter().find(|(_, records)| records[0].ply == 2).unwrap();
    assert_eq!(
        second.1[0].packed,
        packed("lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2")
    );
}

#[test]
fn handicap_positions_are_played() {
    let (options, _dir) = from("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", &[], 2);
    assert_eq!(play(&options).report.totals.dropped, 0);
}

#[test]
fn a_layout_without_slots_writes_the_plain_form() {
    let mut options = fake(&["script=7g7f,3c3d"], 1);
    options.layout.candidates = 0;
    options.engine.multipv = 1;
    options.play.max_ply = 2;
    let ran = play(&options);
    assert_eq!(ran.bytes().len(), 80);
    let moves: Vec<_> = ran.records().map(|record| record.mv).collect();
    assert_eq!(moves, [Some(mv("7g7f")), Some(mv("3c3d"))]);
}

#[test]
fn the_report_says_what_was_played_how() {
    let mut options = fake(&[], 4);
    options.seed = 77;
    options.engine.settings = vec!["Style=wild".parse().unwrap()];
    let ran = play(&options);
    let text = std::fs::read_to_string(ran.dir.path().join("gensfen.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["format"], "manaka-gensfen");
    assert_eq!(report["version"], 1);
    assert_eq!(report["settings"]["engine"]["name"], "Fake");
    assert_eq!(report["settings"]["engine"]["author"], "Nobody, really");
    assert_eq!(report["settings"]["engine"]["options"][0][0], "Style");
    assert_eq!(report["settings"]["engine"]["limit"]["nodes"], 100_000);
    assert_eq!(report["settings"]["engine"]["multipv"], 5);
    assert_eq!(report["settings"]["seed"], 77);
    assert_eq!(report["settings"]["layout"]["record_bytes"], 60);
    assert_eq!(report["settings"]["scores"]["mate_scale"], 30_000);
    assert_eq!(report["settings"]["scores"]["mate_slack"], 320);
    assert_eq!(report["complete"], true);
    assert_eq!(
        (&report["games"], &report["next_game"], &report["totals"]["games"]),
        (&4.into(), &4.into(), &4.into())
    );
    assert_eq!(report["totals"]["positions"], ran.report.totals.positions);
    assert_eq!(report["data_bytes"], ran.bytes().len());
    assert!(report["positions_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(serde_json::from_str::<manaka_gensfen::Report>(&text).unwrap(), ran.report);
}
