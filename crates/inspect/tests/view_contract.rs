//! What `info` and `view` show, to the letter: boards are read by people and by other programs.

mod fixtures;

use fixtures::*;
use manaka_core::select::Select;
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Conventions, Move16, Packed};
use manaka_corpus::PsvOptions;
use manaka_inspect::{Error, Notation, Selection, View, info};
use serde_json::{Value, json};
use std::path::Path;

fn packed(sfen: &str) -> Packed {
    manaka_core::sfen::Sfen::parse(sfen).unwrap().packed
}

fn mv(usi: &str) -> Move16 {
    Move16::from_usi(usi).unwrap()
}

fn view(path: &Path, selection: Selection, notation: Notation) -> Result<View, Error> {
    manaka_inspect::view(path, selection, &Select::default(), notation, &PsvOptions::default())
}

fn show(path: &Path, start: u64, count: u64, notation: Notation) -> String {
    view(path, Selection { start, count }, notation).unwrap().to_string()
}

/// Every kind of piece, hands of both sides, White to move.
const FULL: &str = "ln1g2+Bnl/1k4g2/1p+P1p2p1/p2+s1+r2p/9/P+N1+lP3P/1P3PP2/2G1K4/7RL w B2S6Pgsn";

fn full_row() -> Row {
    let scores = [(mv("8b7c"), 120), (mv("8b9b"), -29_990)];
    let mut row = score_row(&packed(FULL), 85, &scores);
    row.candidates.push((mv("9a9b+").bits(), 0.0, Some(-29_999)));
    row.weight = 12;
    row.value_q = -0.25;
    row
}

#[test]
fn a_row_is_drawn_with_kanji_two_cells_wide() {
    let dir = tempfile::tempdir().unwrap();
    let path = Shard::scores(vec![full_row()]).write(dir.path(), "a.parquet");
    let expected = format!(
        "\
row 0 of {}
後手の持駒：金　銀　桂
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
|v香v桂 ・v金 ・ ・ 馬v桂v香|一
| ・v玉 ・ ・ ・ ・v金 ・ ・|二
| ・v歩 と ・v歩 ・ ・v歩 ・|三
|v歩 ・ ・v全 ・v龍 ・ ・v歩|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| 歩 圭 ・v杏 歩 ・ ・ ・ 歩|六
| ・ 歩 ・ ・ ・ 歩 歩 ・ ・|七
| ・ ・ 金 ・ 玉 ・ ・ ・ ・|八
| ・ ・ ・ ・ ・ ・ ・ 飛 香|九
+---------------------------+
先手の持駒：角　銀二　歩六
後手番
sfen ln1g2+Bnl/1k4g2/1p+P1p2p1/p2+s1+r2p/9/P+N1+lP3P/1P3PP2/2G1K4/7RL w B2S6Pgsn 85
ply 85  weight 12  value_q -0.250000  (pov side_to_move)
      move                         cp        prob
   1  8b7c   ７三玉(82)          +120    1.000000
   2  8b9b   ９二玉(82)        -29990    0.000000  mate
   3  9a9b+  ９二香成(91)      -29999    0.000000  mate  ILLEGAL",
        path.display()
    );
    assert_eq!(show(&path, 0, 5, Notation::Kanji), expected);
    let hands = score_row(&packed("4k4/9/9/9/9/9/9/9/4K4 b 2R18P"), 1, &[(mv("5i5h"), 0)]);
    let path = Shard::scores(vec![hands]).write(dir.path(), "b.parquet");
    let text = show(&path, 0, 1, Notation::Kanji);
    for line in ["後手の持駒：なし", "先手の持駒：飛二　歩十八", "先手番"] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}

#[test]
fn a_record_is_drawn_with_letters_where_kanji_are_not_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let visits = |usi, visits| Candidate { mv: mv(usi), visits, cp: i16::MIN };
    let record = Record {
        ply: 1,
        value_z: -1.0,
        value_q: 0.125,
        packed: packed(manaka_core::sfen::STARTPOS),
        candidates: vec![visits("7g7f", 30), visits("2g2f", 9), visits("9g9f", 1)],
    };
    let path = written(dir.path(), "a.mpk.zst", Conventions::VISITS, &[record.clone(), record]);
    let expected = format!(
        "\
record 1 at byte 156 of {}
White in hand: none
   9  8  7  6  5  4  3  2  1
+---------------------------+
|  l  n  s  g  k  g  s  n  l|a
|  .  r  .  .  .  .  .  b  .|b
|  p  p  p  p  p  p  p  p  p|c
|  .  .  .  .  .  .  .  .  .|d
|  .  .  .  .  .  .  .  .  .|e
|  .  .  .  .  .  .  .  .  .|f
|  P  P  P  P  P  P  P  P  P|g
|  .  B  .  .  .  .  .  R  .|h
|  L  N  S  G  K  G  S  N  L|i
+---------------------------+
Black in hand: none
Black to move
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
ply 1  value_z -1  value_q +0.125000  (pov side_to_move)
      move      visits        prob
   1  7g7f          30    0.750000
   2  2g2f           9    0.225000
   3  9g9f           1    0.025000",
        path.display()
    );
    assert_eq!(show(&path, 1, 1, Notation::Ascii), expected);
    let letters = Shard::scores(vec![full_row()]).write(dir.path(), "a.parquet");
    let text = show(&letters, 0, 1, Notation::Ascii);
    for line in [
        "White in hand: G S N",
        "|  l  n  .  g  .  . +B  n  l|a",
        "|  p  .  . +s  . +r  .  .  p|d",
        "Black in hand: B 2S 6P",
        "White to move",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}

#[test]
fn rows_are_found_across_row_groups_and_records_behind_faulty_ones() {
    let dir = tempfile::tempdir().unwrap();
    let rows = score_rows(50, 3);
    let path = Shard { group: 20, ..Shard::scores(rows.clone()) }.write(dir.path(), "a.parquet");
    let shown =
        serde_json::to_value(view(&path, Selection { start: 18, count: 4 }, Notation::Kanji).unwrap())
            .unwrap();
    let entries = shown["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 4);
    for (entry, (at, row)) in entries.iter().zip(rows.iter().enumerate().skip(18)) {
        let sfen = Packed::from_bytes(row.packed).sfen(Some(u32::from(row.ply))).to_string();
        assert_eq!(
            (entry["number"].as_u64(), entry["sfen"].as_str()),
            (Some(at as u64), Some(sfen.as_str()))
        );
    }
    assert_eq!(view(&path, Selection { start: 45, count: 99 }, Notation::Kanji).unwrap().entries.len(), 5);

    let mut records = score_records(10, 3);
    records[1].value_z = 0.5;
    records[5].value_z = 0.5;
    let path = file(dir.path(), "a.mpk", &stream_bytes(Conventions::TEACHER, &records));
    let shown = serde_json::to_value(view(&path, Selection { start: 4, count: 3 }, Notation::Kanji).unwrap())
        .unwrap();
    assert_eq!(shown["entries"][0]["number"], 4);
    assert_eq!(shown["entries"][0]["value_z"], json!(records[4].value_z));
    assert_eq!(shown["entries"][0]["candidates"][0]["cp"], json!(records[4].candidates[0].cp));
    assert_eq!(shown["entries"][0]["candidates"][0]["prob"], Value::Null);
    assert_eq!(shown["entries"][1]["id"], "value_z");
    assert_eq!(shown["entries"][2]["number"], 6);
    assert_eq!(shown["entries"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_behind_the_end_is_said_to_be_and_a_torn_tail_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let shard = Shard::scores(score_rows(5, 3)).write(dir.path(), "a.parquet");
    let bytes = stream_bytes(Conventions::TEACHER, &score_records(5, 3));
    let stream = file(dir.path(), "a.mpk", &bytes);
    for (path, unit) in [(&shard, "row"), (&stream, "record")] {
        let error = view(path, Selection { start: 5, count: 1 }, Notation::Kanji).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: there is no {unit} 5: the file holds 5", path.display()));
    }
    let torn = file(dir.path(), "b.mpk", &bytes[..bytes.len() - 3]);
    assert_eq!(view(&torn, Selection { start: 2, count: 9 }, Notation::Kanji).unwrap().entries.len(), 2);
    let error = view(&torn, Selection { start: 4, count: 1 }, Notation::Kanji).unwrap_err();
    assert!(matches!(error, Error::Stream(_)), "{error}");
}

#[test]
fn an_unsound_position_is_drawn_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut row = full_row();
    row.packed[40] = 0x3C;
    row.packed[81] = 25;
    let path = Shard::scores(vec![row]).write(dir.path(), "a.parquet");
    let text = show(&path, 0, 1, Notation::Kanji);
    assert!(text.contains("| ・ ・ ・ ・ ?? ・ ・ ・ ・|五"), "{text}");
    assert!(text.contains("先手の持駒：角　銀二　歩25"), "{text}");
    assert!(text.contains("not playable: unsound position: board_byte, too_many_pawns"), "{text}");
    assert!(!text.contains("ILLEGAL"), "{text}");
}

#[test]
fn a_stream_tells_its_header() {
    let dir = tempfile::tempdir().unwrap();
    let conventions = Conventions { fv_scale: 28, ..Conventions::TEACHER };
    let path = written(dir.path(), "a.mpk", conventions, &score_records(3, 1));
    let bytes = std::fs::metadata(&path).unwrap().len();
    let expected = format!(
        "\
{}
MPK1 stream, version 2, raw, {bytes} bytes

pov              side_to_move
policy_source    softmax_cp
mate_scale       30000
mate_slack       0 (not stated: 320 in force)
mates            |cp| >= 29680
eval_coef        1512.173
fv_scale         28",
        path.display()
    );
    assert_eq!(info(&path).unwrap().to_string(), expected);
    let zstd = written(dir.path(), "v.mpk.zst", Conventions::VISITS, &visits_records(3, 1));
    let json = serde_json::to_value(info(&zstd).unwrap()).unwrap();
    assert_eq!(
        (&json["kind"], &json["zstd"], &json["policy_source"]),
        (&json!("stream"), &json!(true), &json!("visits"))
    );
    assert_eq!(json["mate_threshold"], Value::Null);
    assert!(matches!(info(&file(dir.path(), "README", b"no data")), Err(Error::Psv(_))));
    assert!(matches!(info(&file(dir.path(), "b.mpk", b"no data")), Err(Error::Stream(_))));
}

#[test]
fn a_shard_tells_its_footer_in_order_and_what_its_columns_take() {
    let dir = tempfile::tempdir().unwrap();
    let shard =
        Shard { group: 20, ..Shard::scores(score_rows(50, 3)) }.with("ARROW:schema", &"x".repeat(500));
    let path = shard.write(dir.path(), "a.parquet");
    let json = serde_json::to_value(info(&path).unwrap()).unwrap();
    assert_eq!((&json["kind"], &json["rows"], &json["row_groups"]), (&json!("shard"), &json!(50), &json!(3)));
    assert_eq!(json["footer"], serde_json::to_value(&shard.footer).unwrap());
    let columns = json["columns"].as_array().unwrap();
    let names: Vec<_> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    let expected: Vec<_> =
        manaka_pack::shard::COLUMNS.into_iter().filter(|name| *name != "value_z").collect();
    assert_eq!(names, expected);
    let stored: u64 = columns.iter().map(|column| column["compressed_bytes"].as_u64().unwrap()).sum();
    assert!(stored < std::fs::metadata(&path).unwrap().len());
    let text = info(&path).unwrap().to_string();
    assert!(text.contains("\npov             side_to_move\n"), "{text}");
    assert!(text.contains(&format!("\nARROW:schema    {}… (500 characters)\n", "x".repeat(100))), "{text}");
    assert!(text.lines().last().unwrap().starts_with("candidates.list.element.cp "), "{text}");
    let cut = std::fs::read(&path).unwrap();
    assert!(matches!(info(&file(dir.path(), "b", &cut[..cut.len() - 9])), Err(Error::Shard(_))));
}
