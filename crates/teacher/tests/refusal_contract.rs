//! Every refusal of corpus.md §4, one row each, and which of two comes first.

#[path = "../../corpus/tests/corpus_writer/mod.rs"]
mod corpus_writer;

use corpus_writer::*;
use manaka_teacher::{Options, Reason, Strictness, USI_WORDS, convert};
use std::fs;

const MATED: &str = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1";
const OPPONENT_IN_CHECK: &str = "4k4/4R4/9/9/9/9/9/9/4K4 b - 1";
const ADJACENT_KINGS: &str = "9/9/9/4k4/4K4/9/9/9/9 b - 1";
const WHITE_START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 2";

/// A row and the answer expected of it: without a board, and with one. `None` is written.
struct Case {
    name: String,
    row: RowSpec,
    lenient: Option<Reason>,
    strict: Option<Reason>,
}

fn sound() -> RowSpec {
    RowSpec::sound()
}

/// A position with one candidate, which was played.
fn one(sfen: &str, side: i64, mv: &str) -> RowSpec {
    sound().candidates(&[(mv, 12)]).with(|row| {
        row.sfen = text(sfen);
        row.side = Some(side);
        row.mv = text(mv);
    })
}

fn white() -> RowSpec {
    one(WHITE_START, 1, "3c3d")
}

/// The start position with `mv` as its second candidate.
fn second(mv: &str) -> RowSpec {
    sound().candidates(&[("7g7f", 35), (mv, 20)])
}

fn sfen(sfen: &str) -> RowSpec {
    sound().with(|row| row.sfen = text(sfen))
}

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(
        &mut self,
        name: impl Into<String>,
        row: RowSpec,
        lenient: Option<Reason>,
        strict: Option<Reason>,
    ) {
        self.0.push(Case { name: name.into(), row, lenient, strict });
    }

    fn written(&mut self, name: impl Into<String>, row: RowSpec) {
        self.add(name, row, None, None);
    }

    fn refused(&mut self, reason: Reason, name: impl Into<String>, row: RowSpec) {
        self.add(name, row, Some(reason), Some(reason));
    }

    fn refused_strictly(&mut self, reason: Reason, name: impl Into<String>, row: RowSpec) {
        self.add(name, row, None, Some(reason));
    }
}

fn written(cases: &mut Cases) {
    cases.written("a sound row", sound());
    cases.written("White to move", white());
    cases.written(
        "no move number in the SFEN",
        sfen(WHITE_START.trim_end_matches(" 2")).with(|row| {
            *row = white().with(|white| white.sfen = row.sfen.clone());
        }),
    );
    cases.written(
        "extremes",
        sound().candidates(&[("7g7f", -32767), ("2g2f", 32767)]).with(|row| {
            row.ply = Some(65535);
            row.cp = Some(-32767);
        }),
    );
    cases.written("ply 0", sound().with(|row| row.ply = Some(0)));
    cases.written("a null depth", sound().with(|row| row.depth = None));
    cases.written("a move nobody plays", one("4k4/9/2P6/9/9/9/9/9/4K4 b - 1", 0, "7c7b"));
    cases.written(
        "a handicap game",
        one("lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", 1, "3c3d"),
    );
}

fn malformed(cases: &mut Cases) {
    let mut refuse = |name: String, row: RowSpec| cases.refused(Reason::MalformedRecord, name, row);
    type Change = fn(&mut RowSpec);
    let nulls: [(&str, Change); 10] = [
        ("sfen", |row| row.sfen = None),
        ("side", |row| row.side = None),
        ("ply", |row| row.ply = None),
        ("cp", |row| row.cp = None),
        ("cand_move", |row| row.cand_move = None),
        ("cand_cp", |row| row.cand_cp = None),
        ("move", |row| row.mv = None),
        ("result", |row| row.result = None),
        ("a candidate", |row| row.cand_move.as_mut().unwrap()[1] = None),
        ("a score", |row| row.cand_cp.as_mut().unwrap()[1] = None),
    ];
    for (name, change) in nulls {
        refuse(format!("{name} is null"), sound().with(change));
    }
    refuse("fewer scores".into(), sound().with(|row| row.cand_cp.as_mut().unwrap().truncate(1)));
    refuse("fewer moves".into(), sound().with(|row| row.cand_move.as_mut().unwrap().truncate(1)));
    refuse("no candidates".into(), sound().candidates(&[]));
    refuse("65536 candidates".into(), sound().candidates(&vec![("7g7f", 0); 65536]));
    for value in [-1, 2, 256, i64::MIN, i64::MAX] {
        refuse(format!("side {value}"), sound().with(|row| row.side = Some(value)));
    }
    for value in [-2, 2, 255, 1 << 32, i64::MIN] {
        refuse(format!("result {value}"), sound().with(|row| row.result = Some(value)));
    }
    for value in [-1, 65536, 1 << 40] {
        refuse(format!("ply {value}"), sound().with(|row| row.ply = Some(value)));
    }
    for value in [-32768, 32768, 1 << 33, -(1 << 33)] {
        refuse(format!("cp {value}"), sound().with(|row| row.cp = Some(value)));
        refuse(format!("a score of {value}"), sound().candidates(&[("7g7f", 35), ("2g2f", value)]));
    }
    for mv in [
        "",
        "7g",
        "7g7",
        "7g7fx",
        "7g7f++",
        "0g7f",
        "7j7f",
        "7G7F",
        "7g7g",
        "p*5e",
        "K*5e",
        "P*5e+",
        "P5e",
        " 7g7f",
        "7g7f ",
        "Resign",
        "draw",
        "a text that is longer than any text of a move that anybody would write",
    ] {
        refuse(format!("candidate {mv:?}"), second(mv));
        refuse(format!("played {mv:?}"), sound().with(|row| row.mv = text(mv)));
    }
    refuse(
        "a candidate of other bytes".into(),
        sound().with(|row| {
            row.cand_move.as_mut().unwrap()[1] = Some(b"7g7\xFF".to_vec());
        }),
    );
    refuse("a played move of other bytes".into(), sound().with(|row| row.mv = Some(b"\xFF".to_vec())));
    refuse("an SFEN of other bytes".into(), sound().with(|row| row.sfen.as_mut().unwrap().push(0xFF)));
    refuse("a candidate twice".into(), second("7g7f"));
    refuse("a word twice".into(), sound().candidates(&[("7g7f", 3), ("win", 2), ("win", 1)]));
}

fn positions(cases: &mut Cases) {
    let board = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    for bad in [
        "",
        "garbage",
        "startpos",
        &format!("sfen {board} b - 1"),
        board,
        &format!("{board} b"),
        &format!("{board} x - 1"),
        &format!("{board} b 7 1"),
        &format!("{board} b K 1"),
        &format!(" {board} b - 1"),
        &format!("{board} b -  1"),
        &format!("{board}/9 b - 1"),
        &format!("{board} b - 1 moves 7g7f"),
        // Structural faults.
        "9/9/9/9/9/9/9/9/4K4 b - 1",
        "4k4/9/9/9/9/9/9/9/3KK4 b - 1",
        &format!("{board} b P 1"),
        "4k4/9/9/P8/9/9/P8/9/4K4 b - 1",
        "P3k4/9/9/9/9/9/9/9/4K4 b - 1",
        "4k4/N8/9/9/9/9/9/9/4K4 b - 1",
        "4k4/9/9/9/9/9/9/9/4K4 b 3G2g 1",
    ] {
        cases.refused(Reason::BadSfen, format!("{bad:?}"), sfen(bad));
    }
    // Every tolerated byte of this text is sound, but for their number.
    cases.refused(Reason::BadSfen, "an overlong SFEN", sfen(&format!("{board} b - {}1", "0".repeat(1024))));
    cases.refused(
        Reason::BadSfen,
        "an overlong SFEN of other bytes",
        sound().with(|row| row.sfen = Some(vec![0xFF; 1025])),
    );
    cases.refused_strictly(Reason::BadSfen, "the opponent in check", one(OPPONENT_IN_CHECK, 0, "5i5h"));
    cases.refused_strictly(Reason::BadSfen, "kings side by side", one(ADJACENT_KINGS, 0, "5e5f"));
    cases.refused(Reason::SideMismatch, "Black in the SFEN", sound().with(|row| row.side = Some(1)));
    cases.refused(Reason::SideMismatch, "White in the SFEN", white().with(|row| row.side = Some(0)));
}

fn moves(cases: &mut Cases) {
    for word in USI_WORDS {
        cases.refused(Reason::UnlabelledMove, format!("candidate {word}"), second(word));
        cases.refused(
            Reason::MoveNotCandidate,
            format!("played {word}"),
            sound().with(|row| row.mv = text(word)),
        );
    }
    cases.refused(
        Reason::UnlabelledMove,
        "a word, played",
        second("resign").with(|row| row.mv = text("resign")),
    );
    cases.refused(Reason::MoveNotCandidate, "played elsewhere", sound().with(|row| row.mv = text("3g3f")));
    cases.refused(
        Reason::MoveNotCandidate,
        "played with promotion",
        sound().with(|row| row.mv = text("7g7f+")),
    );
    cases.refused_strictly(Reason::NoLegalMoves, "a mate", one(MATED, 1, "5a4a"));
    for mv in ["7g7e", "P*5e", "5e5d", "7g7f+", "3c3d", "2g2f+"] {
        cases.refused_strictly(Reason::IllegalCandidate, format!("candidate {mv}"), second(mv));
    }
    for (name, sfen, mv) in [
        ("a pawn that cannot move on", "4k4/2P6/9/9/9/9/9/9/4K4 b - 1", "7b7a"),
        ("nifu", "4k4/9/9/9/9/2P6/9/9/4K4 b P 1", "P*7d"),
        ("a pinned piece", "4r4/9/9/9/9/9/9/4G4/k3K4 b - 1", "5h4h"),
        ("a mate by a dropped pawn", "7nk/7p1/8G/9/9/9/9/9/4K4 b P 1", "P*1b"),
    ] {
        cases.refused_strictly(Reason::IllegalCandidate, name, one(sfen, 0, mv));
    }
}

fn precedence(cases: &mut Cases) {
    let broken = |row: RowSpec| row.with(|row| row.result = Some(9));
    let elsewhere = |row: RowSpec| row.with(|row| row.mv = text("1a1b"));
    let other_side = |row: RowSpec| row.with(|row| row.side = Some(1 - row.side.unwrap()));
    cases.refused(Reason::MalformedRecord, "malformed before bad_sfen", broken(sfen("garbage")));
    cases.refused(Reason::MalformedRecord, "malformed before unlabelled", broken(second("win")));
    cases.refused(Reason::MalformedRecord, "malformed before illegal", broken(second("7g7e")));
    cases.refused(Reason::BadSfen, "bad_sfen before side", other_side(sfen("4k4/9/9/P8/9/9/P8/9/4K4 b - 1")));
    cases.refused(
        Reason::BadSfen,
        "bad_sfen before unlabelled",
        second("win").with(|row| row.sfen = text("garbage")),
    );
    cases.add(
        "the opponent in check before side",
        other_side(one(OPPONENT_IN_CHECK, 0, "5i5h")),
        Some(Reason::SideMismatch),
        Some(Reason::BadSfen),
    );
    cases.refused(Reason::SideMismatch, "side before unlabelled", other_side(second("win")));
    cases.refused(Reason::SideMismatch, "side before not candidate", elsewhere(other_side(sound())));
    cases.refused(Reason::SideMismatch, "side before no legal moves", other_side(one(MATED, 1, "5a4a")));
    cases.refused(Reason::UnlabelledMove, "unlabelled before not candidate", elsewhere(second("none")));
    cases.refused(
        Reason::UnlabelledMove,
        "unlabelled before no legal moves",
        one(MATED, 1, "5a4a").candidates(&[("5a4a", 1), ("resign", 0)]),
    );
    cases.refused(
        Reason::MoveNotCandidate,
        "not candidate before no legal moves",
        elsewhere(one(MATED, 1, "5a4a")),
    );
    cases.refused(Reason::MoveNotCandidate, "not candidate before illegal", elsewhere(second("7g7e")));
}

#[test]
fn every_row_is_refused_for_the_first_reason_that_applies() {
    let mut cases = Cases::default();
    written(&mut cases);
    malformed(&mut cases);
    positions(&mut cases);
    moves(&mut cases);
    precedence(&mut cases);
    let cases = cases.0;
    let rows: Vec<_> = cases.iter().map(|case| case.row.clone()).collect();
    let dir = tempfile::tempdir().unwrap();
    let (corpus, rejects) = (dir.path().join("corpus.parquet"), dir.path().join("rejects.tsv"));
    write(&corpus, &Layout { side: PLAIN_64, result: PLAIN_64, ..Layout::default() }, &rows);

    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let out = dir.path().join(format!("{strictness:?}"));
        let options = Options { strictness, rejects: Some(rejects.clone()), ..Options::default() };
        let report = convert(std::slice::from_ref(&corpus), &out, &options, &()).unwrap();
        let table = fs::read_to_string(&rejects).unwrap();
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("file\trow\treason\tdetail"));
        let mut expected = 0;
        for (number, case) in cases.iter().enumerate() {
            let want = if strictness == Strictness::Strict { case.strict } else { case.lenient };
            let Some(want) = want else { continue };
            expected += 1;
            let line = lines.next().unwrap_or_else(|| panic!("{} was not refused", case.name));
            let cells: Vec<_> = line.split('\t').collect();
            assert_eq!(
                cells[..3],
                [corpus.to_str().unwrap(), &number.to_string(), want.id()],
                "{}: {line}",
                case.name
            );
            assert!(cells.len() == 4 && !cells[3].is_empty(), "{line}");
        }
        assert_eq!(lines.next(), None);
        assert_eq!(report.rejected.total(), expected);
        assert_eq!((report.rows, report.written), (cases.len() as u64, cases.len() as u64 - expected));
        for (reason, count) in report.rejected.iter() {
            let needs_board = matches!(reason, Reason::NoLegalMoves | Reason::IllegalCandidate);
            assert_eq!(count > 0, strictness == Strictness::Strict || !needs_board, "{reason:?}");
            assert_eq!(report.rejected.get(reason), count);
        }
    }
}

#[test]
fn the_detail_says_what_is_wrong() {
    let rows = [
        (sound().with(|row| row.side = None), "side is null"),
        (sound().with(|row| row.cand_cp.as_mut().unwrap()[1] = None), "candidate 1 of cand_cp is null"),
        (sound().with(|row| row.cp = Some(40000)), "cp is 40000, not in -32767..=32767"),
        (second("7g7f"), "candidate 1, 7g7f, is there before it already"),
        (second("a\tb"), "candidate 1 is no USI move: a\\tb"),
        (sfen("9/9"), "malformed SFEN at byte 3: unexpected end"),
        (sfen("4k4/9/9/P8/9/9/P8/9/4K4 b - 1"), "unsound position: nifu_black"),
        (sound().with(|row| row.side = Some(1)), "the side column says White, the sfen Black"),
        (second("win"), "candidate 1 is win, which is not a move"),
        (sound().with(|row| row.mv = text("3g3f")), "the move played, 3g3f, is not among the 2 candidates"),
        (second("7g7e"), "candidate 1, 7g7e, is not legal"),
        (one(MATED, 1, "5a4a"), "the side to move has no legal move"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let (corpus, rejects) = (dir.path().join("corpus.parquet"), dir.path().join("rejects.tsv"));
    write(&corpus, &Layout::default(), &rows.clone().map(|(row, _)| row));
    let options = Options { rejects: Some(rejects.clone()), ..Options::default() };
    convert(&[corpus], &dir.path().join("out"), &options, &()).unwrap();
    let table = fs::read_to_string(&rejects).unwrap();
    let details: Vec<_> = table.lines().skip(1).map(|line| line.split('\t').nth(3).unwrap()).collect();
    assert_eq!(details, rows.map(|(_, detail)| detail));
}
