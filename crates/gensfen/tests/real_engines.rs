//! Three real engines, as Debian and crates.io have them. Each must be there: a test that cannot find its engine fails.
//!
//! They are looked for in PATH, in /usr/games and in the directory that `MANAKA_ENGINES` names.

#![expect(clippy::panic, reason = "an engine that is not there")]

mod games;

use games::{Ran, fails, play};
use manaka_gensfen::{Ending, EngineCommand, EngineLife, Error, FaultKind, Limit, Options};
use std::path::PathBuf;

/// An engine that is installed.
fn engine(name: &str, args: &[&str], games: u64) -> Options {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    dirs.push("/usr/games".into());
    dirs.extend(std::env::var_os("MANAKA_ENGINES").map(PathBuf::from));
    let found = dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file());
    let program = found.unwrap_or_else(|| {
        panic!(
            "{name} is not installed: apt-get install fairy-stockfish gpsshogi; cargo install sekirei@0.5.2"
        )
    });
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let command = EngineCommand { program: program.display().to_string(), args };
    let mut options = Options::new(command, games);
    options.engine.limit = Limit::Nodes(500.try_into().unwrap());
    options
}

fn set(options: &mut Options, settings: &[&str]) {
    options.engine.settings = settings.iter().map(|setting| setting.parse().unwrap()).collect();
}

/// Plays with one worker and with three: the same bytes.
fn the_same_twice(mut options: Options) -> Ran {
    let first = play(&options);
    options.workers = 3.try_into().unwrap();
    let second = play(&options);
    assert!(first.bytes() == second.bytes());
    assert_eq!(first.report.totals, second.report.totals);
    first
}

/// What every healthy run has.
fn healthy(ran: &Ran, name: &str, author: &str) {
    let totals = &ran.report.totals;
    assert_eq!(totals.dropped, 0, "{:?}", ran.faults);
    assert!(totals.positions > 10, "{totals:?}");
    assert!(ran.notices.is_empty(), "{:?}", ran.notices);
    let engine = &ran.report.settings["engine"];
    assert!(engine["name"].as_str().unwrap().starts_with(name), "{engine}");
    assert_eq!(engine["author"], author);
}

#[test]
fn fairy_stockfish_plays_the_same_games_whoever_asks() {
    let mut options = engine("fairy-stockfish", &[], 6);
    set(&mut options, &["Threads=1", "Hash=4", "UCI_Variant=shogi"]);
    options.play.random_move = 0.02;
    let ran = the_same_twice(options);
    healthy(&ran, "Fairy-Stockfish", "Fabian Fichter");
    assert!(ran.records().any(|record| record.candidates.len() == 5));
    let totals = &ran.report.totals;
    assert_eq!(totals.unscored, 0);
    assert!(ran.count(Ending::Mate) + ran.count(Ending::Resignation) > 0, "{:?}", totals.endings);
}

#[test]
fn fairy_stockfish_searches_to_a_depth_and_for_a_time() {
    let mut options = engine("fairy-stockfish", &[], 1);
    options.play.max_ply = 30;
    options.engine.limit = Limit::Depth(4.try_into().unwrap());
    let ran = the_same_twice(options.clone());
    assert_eq!(ran.report.totals.depths.keys().collect::<Vec<_>>(), [&4]);
    options.engine.limit = Limit::Byoyomi(30.try_into().unwrap());
    options.play.max_ply = 10;
    assert_eq!(play(&options).report.totals.games, 1);
}

#[test]
fn fairy_stockfish_plays_mates_out_to_the_end() {
    let mut options = engine("fairy-stockfish", &[], 3);
    options.play.resign_count = 0;
    let ran = play(&options);
    assert!(ran.count(Ending::Mate) > 0, "{:?}", ran.report.totals.endings);
    assert!(ran.records().any(|record| record.score == 29_999));
    assert!(ran.records().any(|record| record.score < -29_900));
}

#[test]
fn fairy_stockfish_refuses_what_it_does_not_have() {
    let mut options = engine("fairy-stockfish", &[], 1);
    set(&mut options, &["EvalDir=eval"]);
    let text = fails(&options).0.to_string();
    assert!(text.contains("Fairy-Stockfish") && text.contains("it has no option \"EvalDir\""), "{text}");
    set(&mut options, &["UCI_Variant=go"]);
    let text = fails(&options).0.to_string();
    assert!(text.contains("takes one of") && text.contains("shogi"), "{text}");
}

#[test]
fn sekirei_plays_the_same_games_whoever_asks() {
    let mut options = engine("sekirei", &[], 4);
    set(&mut options, &["Threads=1"]);
    options.engine.limit = Limit::Nodes(3000.try_into().unwrap());
    options.play.max_ply = 80;
    let ran = the_same_twice(options);
    healthy(&ran, "Sekirei", "Kentaro Tanabe");
    assert!(ran.records().any(|record| record.candidates.len() == 5));
    // Its ranks are not in the order of its scores, and stay as they are.
    let falls = |record: &manaka_corpus::psv::Record| record.candidates.is_sorted_by(|a, b| a.1 >= b.1);
    assert!(ran.records().any(|record| !falls(record)));
}

#[test]
fn gpsshogi_plays_for_a_time_with_one_line() {
    let mut options = engine("gpsusi", &["-N", "1", "--node-count-hard-limit", "2000"], 2);
    set(&mut options, &["BookDepth=0"]);
    // It takes more than a second to start.
    options.engine.life = EngineLife::Run;
    options.engine.multipv = 1;
    options.engine.limit = Limit::Byoyomi(1000.try_into().unwrap());
    options.play.max_ply = 60;
    let ran = play(&options);
    healthy(&ran, "gpsshogi", "teamgps");
    assert!(ran.records().all(|record| record.candidates.len() == 1));
}

#[test]
fn gpsshogi_says_what_it_cannot_do() {
    let mut options = engine("gpsusi", &["-N", "1"], 20);
    let text = fails(&options).0.to_string();
    assert!(text.contains("it has no option MultiPV and reports one line, not 5; ask for 1"), "{text}");

    options.engine.multipv = 1;
    options.max_faults = 2;
    let (error, _) = fails(&options);
    let text = error.to_string();
    assert!(matches!(&error, Error::NeverWorks { last, .. } if last.kind == FaultKind::Crash), "{text}");
    assert!(
        text.contains("during \"go nodes 500\"") && text.contains("! unknown option in go nodes"),
        "{text}"
    );
    assert!(text.contains("it may need another limit"), "{text}");
}

#[test]
fn gpsshogi_plays_from_its_own_book_without_a_score() {
    let mut options = engine("gpsusi", &["-N", "1", "--node-count-hard-limit", "2000"], 6);
    options.engine.life = EngineLife::Run;
    options.engine.multipv = 1;
    options.engine.limit = Limit::Byoyomi(1000.try_into().unwrap());
    options.play.max_ply = 30;
    // It draws its book moves by a clock, and now and then there is none in a whole game.
    let ran = play(&options);
    assert!(ran.report.totals.unscored > 0 && ran.report.totals.positions > 0, "{:?}", ran.report.totals);
}
