use super::*;
use manaka_core::sfen::STARTPOS;
use manaka_corpus::psv::{MoveLayout, Writer};
use std::fs;

const LAYOUT: Layout = Layout::plain(MoveLayout::YaneuraOu);

fn mv(text: &str) -> Move16 {
    Move16::from_usi(text).unwrap()
}

/// The records of a line, all with one result for Black.
fn line(sfen: &str, moves: &[&str], black: i8) -> Vec<Record> {
    let (packed, ply) = Packed::from_sfen(sfen).unwrap();
    let mut board = Board::from_packed(&packed, ply.unwrap()).unwrap();
    moves
        .iter()
        .map(|text| {
            let black_moves = board.to_packed().side() as u8 == 0;
            let record = Record {
                packed: board.to_packed(),
                mv: Some(mv(text)),
                ply: u16::try_from(board.ply()).unwrap(),
                result: if black_moves { black } else { -black },
                ..Record::default()
            };
            board.play(mv(text)).unwrap();
            record
        })
        .collect()
}

fn raw(records: &[Vec<Record>]) -> (tempfile::TempDir, Source) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(Vec::new(), LAYOUT);
    for records in records {
        writer.write_game(records).unwrap();
    }
    // In two files, the second of which begins within a game.
    let bytes = writer.into_inner();
    let cut = bytes.len() / 40 / 2 * 40;
    fs::write(dir.path().join("a.psv"), &bytes[..cut]).unwrap();
    fs::write(dir.path().join("b.bin"), &bytes[cut..]).unwrap();
    fs::write(dir.path().join("README.txt"), "no records").unwrap();
    let source = Source::open(dir.path(), LAYOUT).unwrap();
    (dir, source)
}

fn all(mut source: Source) -> Vec<SourceGame> {
    std::iter::from_fn(|| source.next().unwrap()).collect()
}

const QUIET: [&str; 4] = ["5i5h", "5a5b", "5h5i", "5b5a"];

#[test]
fn games_are_told_apart_by_a_ply_that_does_not_increase() {
    let games = [
        line(&STARTPOS.replace(" 1", " 9"), &["5g5f", "8c8d", "9g9f", "1c1d"], 0),
        line(STARTPOS, &["7g7f", "3c3d", "2g2f"], 1),
        line(STARTPOS, &["2g2f"], -1),
        line(STARTPOS, &["9g9f", "1c1d"], 1),
    ];
    let (_dir, source) = raw(&games);
    let found = all(source);
    assert_eq!(found.iter().map(|game| game.records.clone()).collect::<Vec<_>>(), games);
    assert_eq!(found[0].ending(), (Ending::Given, Outcome::Draw));
    assert_eq!(found[1].ending(), (Ending::Given, Outcome::Black));
    assert_eq!(found[2].ending(), (Ending::Given, Outcome::White));
}

#[test]
fn without_a_journal_a_game_that_nobody_won_is_played_on_from_its_last_record() {
    let moves = ["5g5f", "8c8d", "9g9f"];
    let game = SourceGame { records: line(&STARTPOS.replace(" 1", " 7"), &moves, 0), line: None };
    let Plan::Replay(start, depths) = game.plan(320) else { panic!() };
    assert_eq!((start.packed, start.ply), (game.records[0].packed, 7));
    assert_eq!(start.moves, moves.map(mv));
    assert_eq!((start.kept, depths), (game.records.clone(), vec![0; 3]));
    // Up to the last move number that is left.
    assert!(matches!(game.plan(10), Plan::Replay(..)));
    assert_eq!(game.plan(9), Plan::Keep);
    let won = SourceGame { records: line(STARTPOS, &moves[..1], 1), line: None };
    assert_eq!(won.plan(320), Plan::Keep);
}

#[test]
fn without_a_journal_a_draw_by_repetition_is_a_result() {
    let thrice = QUIET.repeat(3);
    let draw = SourceGame { records: line(STARTPOS, &thrice, 0), line: None };
    assert_eq!(draw.plan(320), Plan::Keep);
    let short = SourceGame { records: line(STARTPOS, &thrice[..11], 0), line: None };
    assert!(matches!(short.plan(320), Plan::Replay(start, _) if start.moves.len() == 11));
}

#[test]
fn the_history_reaches_back_to_the_last_gap() {
    let mut records = line(STARTPOS, &["7g7f", "3c3d", "2g2f", "8c8d", "2f2e"], 0);
    records.remove(2);
    let game = SourceGame { records: records.clone(), line: None };
    let Plan::Replay(start, _) = game.plan(320) else { panic!() };
    assert_eq!((start.packed, start.ply), (records[2].packed, 4));
    assert_eq!(start.moves, [mv("8c8d"), mv("2f2e")]);
    assert_eq!(start.kept, records);
}

#[test]
fn a_last_record_whose_move_cannot_be_played_is_searched_again() {
    for last in [None, Some(mv("1a1b"))] {
        let mut records = line(STARTPOS, &["7g7f", "3c3d", "2g2f"], 0);
        records[2].mv = last;
        let game = SourceGame { records: records.clone(), line: None };
        let Plan::Replay(start, _) = game.plan(320) else { panic!() };
        assert_eq!(
            (start.packed, start.ply, start.moves),
            (records[0].packed, 1, vec![mv("7g7f"), mv("3c3d")])
        );
        assert_eq!(start.kept, records[..2]);
    }
}

#[test]
fn a_position_that_cannot_be_played_on_is_left_alone() {
    let (checked, _) = Packed::from_sfen("4k4/4R4/9/9/9/9/9/9/4K4 b - 1").unwrap();
    let record = Record { packed: checked, mv: Some(mv("5i5h")), ply: 1, ..Record::default() };
    assert_eq!(SourceGame { records: vec![record], line: None }.plan(320), Plan::Keep);
    assert_eq!(SourceGame { records: vec![], line: None }.plan(320), Plan::Keep);
}

#[test]
fn the_journal_says_which_games_were_cut_off() {
    let line_of = |ending| GameLine {
        game: 0,
        at: 0,
        records: 2,
        ending,
        outcome: Outcome::Draw,
        kept: 0,
        random_moves: 0,
        unscored: 0,
        unlisted: 0,
        duplicates: 0,
        depths: vec![5, 6],
        xxh3: String::new(),
    };
    for ending in Ending::ALL {
        let records = line(STARTPOS, &["7g7f", "3c3d"], i8::from(ending == Ending::EvalLimit));
        let game = SourceGame { records, line: Some(line_of(ending)) };
        match (game.plan(320), ending) {
            (Plan::Replay(_, depths), Ending::MaxPly | Ending::EvalLimit) => assert_eq!(depths, [5, 6]),
            (Plan::Keep, Ending::MaxPly | Ending::EvalLimit) => panic!("{ending}"),
            (plan, _) => assert_eq!(plan, Plan::Keep),
        }
        assert_eq!(game.ending(), (ending, Outcome::Draw));
    }
}

#[test]
fn a_directory_without_records_or_with_broken_ones_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = Source::open(dir.path(), LAYOUT).unwrap_err().to_string();
    assert!(error.contains(".psv"), "{error}");
    fs::write(dir.path().join("a.psv"), [0xFF; 41]).unwrap();
    let mut source = Source::open(dir.path(), LAYOUT).unwrap();
    let error = source.next().unwrap_err().to_string();
    assert!(error.contains("a.psv") && error.contains("record 0 at byte 0"), "{error}");
}
