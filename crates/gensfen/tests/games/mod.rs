//! Runs with the fake engine, and a judge of what they wrote that shares nothing with the writer but the rules.
#![allow(dead_code, clippy::panic, reason = "a part of each test file, which may panic")]

use manaka_core::{Color, Move16, Packed};
use manaka_corpus::psv::{Layout, Reader, Record};
use manaka_gensfen::{
    DATA, Ending, EngineCommand, Entry, Error, Fault, GameLine, JOURNAL, Observer, Options, Outcome,
    RANDOM_MOVE_PAD, Report, Totals, run,
};
use manaka_shogi::{Board, Repetition, Verdict};
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A run of the fake engine, quick to notice what it does wrong.
pub fn fake(args: &[&str], games: u64) -> Options {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let command = EngineCommand { program: env!("CARGO_BIN_EXE_fake-usi").to_owned(), args };
    let mut options = Options::new(command, games);
    options.play.max_ply = 60;
    options.engine.timeouts.search = Duration::from_secs(20);
    options.engine.timeouts.handshake = Duration::from_secs(20);
    options
}

/// What an observer heard.
#[derive(Default)]
pub struct Ear {
    pub notices: RefCell<Vec<String>>,
    pub faults: RefCell<Vec<(u64, Fault)>>,
    pub entries: RefCell<Vec<Entry>>,
    /// Games after which to cancel.
    pub enough: Option<usize>,
}

impl Observer for Ear {
    fn game(&self, entry: &Entry, _: &Totals) {
        self.entries.borrow_mut().push(entry.clone());
    }

    fn fault(&self, game: u64, fault: &Fault) {
        self.faults.borrow_mut().push((game, fault.clone()));
    }

    fn notice(&self, text: &str) {
        self.notices.borrow_mut().push(text.to_owned());
    }

    fn cancelled(&self) -> bool {
        self.enough.is_some_and(|enough| self.entries.borrow().len() >= enough)
    }
}

/// A finished run that was judged.
pub struct Ran {
    pub report: Report,
    pub games: Vec<(GameLine, Vec<Record>)>,
    pub faults: Vec<(u64, Fault)>,
    pub notices: Vec<String>,
    pub dir: tempfile::TempDir,
}

impl Ran {
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.games.iter().flat_map(|(_, records)| records)
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.dir.path().join(DATA)).unwrap()
    }

    pub fn count(&self, ending: Ending) -> u64 {
        self.report.totals.endings[&ending]
    }
}

/// Runs into a new directory and judges what came of it.
pub fn play(options: &Options) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    let ear = Ear::default();
    let report = run(options, dir.path(), &ear).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.complete);
    let games = judge(dir.path(), options);
    Ran { report, games, faults: ear.faults.into_inner(), notices: ear.notices.into_inner(), dir }
}

/// Runs into a new directory, in vain.
pub fn fails(options: &Options) -> (Error, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let error = run(options, dir.path(), &()).expect_err("it cannot work");
    (error, dir)
}

/// Reads a directory and proves of every game that it is one: records in one piece, each position reached by the move
/// of the one before, every move legal, results those of the end, and the end the one that is stated.
pub fn judge(dir: &Path, options: &Options) -> Vec<(GameLine, Vec<Record>)> {
    let data = fs::read(dir.join(DATA)).unwrap();
    let journal = fs::read_to_string(dir.join(JOURNAL)).unwrap();
    let mut at = 0;
    let mut games = Vec::new();
    for (number, line) in journal.lines().enumerate() {
        let entry: Entry = serde_json::from_str(line).unwrap();
        assert_eq!(entry.game(), number as u64, "no number twice, none left out");
        let Entry::Game(line) = entry else { continue };
        assert_eq!(line.at, at as u64);
        let len = usize::try_from(line.records).unwrap() * options.layout.record_len();
        let records = records(&data[at..at + len], options.layout);
        at += len;
        judge_game(&line, &records, options);
        games.push((line, records));
    }
    assert_eq!(at, data.len(), "nothing behind the last game");
    games
}

pub fn records(bytes: &[u8], layout: Layout) -> Vec<Record> {
    Reader::new(bytes, layout).records().map(Result::unwrap).collect()
}

fn judge_game(line: &GameLine, records: &[Record], options: &Options) {
    let game = line.game;
    assert_eq!(line.depths.len(), records.len());
    let random = records.iter().filter(|record| record.pad == RANDOM_MOVE_PAD).count() as u64;
    assert_eq!(line.random_moves, random);
    let Some(first) = records.first() else { return };
    let mut board = Board::from_packed(&first.packed, first.ply.into()).unwrap();
    let mut repetition = Repetition::new();
    let mut verdict = repetition.push(&first.packed, board.in_check()).verdict;
    for record in records {
        if line.unscored > 0 && board.ply() != u32::from(record.ply) {
            board.set(&record.packed, record.ply.into()).unwrap();
        }
        assert_eq!((board.to_packed(), board.ply()), (record.packed, record.ply.into()), "game {game}");
        assert!(record.ply <= options.play.max_ply);
        let over = board.is_mated() || verdict != Verdict::None || board.can_declare();
        assert!(!over, "game {game} goes on behind its end at ply {}", record.ply);
        judge_record(record, &board, options, game);
        let side = record.packed.side();
        assert_eq!(record.result, line.outcome.result_for(side), "game {game} ply {}", record.ply);
        board.play(record.mv.unwrap()).unwrap();
        verdict = repetition.push(&board.to_packed(), board.in_check()).verdict;
    }
    if line.unscored > 0 {
        return;
    }
    let mover = board.side();
    let lost = Outcome::won_by(mover.flip());
    match line.ending {
        Ending::Mate => assert!(board.is_mated() && line.outcome == lost),
        Ending::Repetition => assert!(verdict == Verdict::Draw && line.outcome == Outcome::Draw),
        Ending::PerpetualCheck => {
            let Verdict::PerpetualCheck { loser } = verdict else { panic!("{verdict:?}") };
            assert_eq!(line.outcome, Outcome::won_by(loser.flip()));
        }
        Ending::Declaration => assert!(board.can_declare() && line.outcome == Outcome::won_by(mover)),
        Ending::MaxPly => {
            assert_eq!(board.ply(), u32::from(options.play.max_ply) + 1);
            assert_eq!(line.outcome, Outcome::Draw);
        }
        _ => assert!(line.outcome != Outcome::Draw || line.ending == Ending::Given),
    }
}

fn judge_record(record: &Record, board: &Board, options: &Options, game: u64) {
    let mv = record.mv.expect("a move that was played");
    assert!(board.is_legal(mv), "game {game}: {mv}");
    assert!(matches!(record.pad, 0 | RANDOM_MOVE_PAD));
    let candidates = &record.candidates;
    if options.layout.candidates == 0 {
        assert!(candidates.is_empty());
        return;
    }
    assert!(!candidates.is_empty() && candidates.len() <= usize::from(options.engine.multipv));
    assert_eq!(record.score, candidates[0].1, "the root score is that of the first line");
    for (at, &(mv, score)) in candidates.iter().enumerate() {
        assert!(board.is_legal(mv));
        assert!(candidates[..at].iter().all(|&(other, _)| other != mv), "no move twice");
        assert!(score.unsigned_abs() <= options.play.mate_scale);
    }
    if record.pad == 0 {
        assert!(candidates.iter().any(|&(candidate, _)| candidate == mv), "game {game}: {mv}");
    }
}

/// A book of one position.
pub fn book(dir: &Path, line: &str) -> std::path::PathBuf {
    let path = dir.join("book.txt");
    fs::write(&path, line).unwrap();
    path
}

pub fn packed(sfen: &str) -> Packed {
    Packed::from_sfen(sfen).unwrap().0
}

pub fn mv(text: &str) -> Move16 {
    Move16::from_usi(text).unwrap()
}

pub fn side(record: &Record) -> Color {
    record.packed.side()
}
