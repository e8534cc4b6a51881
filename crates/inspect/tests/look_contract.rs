//! Corpora and raw PSV are looked at as streams and shards are.

mod fixtures;

use fixtures::file;
use manaka_core::select::Select;
use manaka_core::{Move16, Packed};
use manaka_corpus::PsvOptions;
use manaka_corpus::psv::{Layout, MoveLayout, Record as Raw, Writer};
use manaka_inspect::{CatOptions, Error, Extent, Info, Notation, Selection, View, cat, info};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus.parquet")
}

fn lines(path: &Path, conditions: &str, head: u64) -> Vec<Value> {
    let (select, extent) = (conditions.parse().unwrap(), Extent::Run { skip: 0, head });
    let mut out = Vec::new();
    let options = CatOptions { select, extent, ..CatOptions::default() };
    let summary = cat(&[path.to_owned()], &options, &mut out, &()).unwrap();
    assert!(summary.refused.is_empty());
    let lines: Vec<Value> =
        str::from_utf8(&out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(summary.lines, lines.len() as u64);
    lines
}

/// The first rows of the example corpus as raw records with six slots.
fn raw(dir: &Path, rows: &[Value]) -> PathBuf {
    let mut writer = Writer::new(Vec::new(), Layout::multipv(MoveLayout::YaneuraOu, 6));
    let cp = |value: &Value| i16::try_from(value.as_i64().unwrap()).unwrap();
    let usi = |value: &Value| Move16::from_usi(value.as_str().unwrap()).unwrap();
    for row in rows {
        let candidates = row["candidates"].as_array().unwrap().iter().map(|c| (usi(&c["usi"]), cp(&c["cp"])));
        let record = Raw {
            packed: Packed::from_sfen(row["sfen"].as_str().unwrap()).unwrap().0,
            score: cp(&row["root_cp"]),
            mv: Some(usi(&row["move"])),
            ply: u16::try_from(row["ply"].as_u64().unwrap()).unwrap(),
            result: row["value_z"].as_f64().unwrap() as i8,
            pad: 0,
            candidates: candidates.collect(),
        };
        writer.write_record(&record).unwrap();
    }
    file(dir, "a.psv", &writer.into_inner())
}

fn view(path: &Path, start: u64, conditions: &str) -> Result<View, Error> {
    let select: Select = conditions.parse().unwrap();
    let selection = Selection { start, count: 1 };
    manaka_inspect::view(path, selection, &select, Notation::Kanji, &PsvOptions::default())
}

#[test]
fn raw_records_print_what_the_rows_they_are_made_of_print() {
    let dir = tempfile::tempdir().unwrap();
    let rows = lines(&corpus(), "", 3000);
    let path = raw(dir.path(), &rows);
    assert_eq!(lines(&path, "", u64::MAX), rows);
    let conditions = "ply=20..60 side=w cp=-300..300 value-z=1 min-candidates=3";
    let expected: Vec<Value> = (rows.into_iter())
        .filter(|row| {
            let number = |key: &str| row[key].as_f64().unwrap();
            (20.0..=60.0).contains(&number("ply"))
                && row["sfen"].as_str().unwrap().contains(" w ")
                && number("root_cp").abs() <= 300.0
                && number("value_z") == 1.0
                && row["candidates"].as_array().unwrap().len() >= 3
        })
        .collect();
    assert!(expected.len() > 20);
    assert_eq!(lines(&path, conditions, u64::MAX), expected);
}

#[test]
fn a_raw_file_that_ends_inside_a_record_prints_the_whole_ones_and_says_where_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let rows = lines(&corpus(), "", 300);
    let path = raw(dir.path(), &rows);
    let bytes = std::fs::read(&path).unwrap();
    // 40 bytes, and four for each slot.
    assert_eq!(bytes.len(), 300 * 64);
    let torn = file(dir.path(), "torn.psv", &bytes[..bytes.len() - 10]);
    let mut out = Vec::new();
    let error = cat(std::slice::from_ref(&torn), &CatOptions::default(), &mut out, &()).unwrap_err();
    assert_eq!(out.split_inclusive(|&byte| byte == b'\n').count(), 299);
    let expected = format!(
        "{}: record 299 at byte {}: the file ends after 54 of its 64 bytes",
        torn.display(),
        299 * 64
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn boards_of_corpora_and_raw_records_come_with_the_move_before() {
    let dir = tempfile::tempdir().unwrap();
    let rows = lines(&corpus(), "", 300);
    let raw = raw(dir.path(), &rows);
    for path in [corpus(), raw] {
        let mut known = 0;
        for number in 1..60 {
            let shown = serde_json::to_value(view(&path, number, "").unwrap()).unwrap();
            let entry = &shown["entries"][0];
            let (row, before) = (&rows[number as usize], &rows[number as usize - 1]);
            for key in ["number", "sfen", "ply", "value_z", "root_cp"] {
                assert_eq!(entry[key], row[key], "{key}");
            }
            assert_eq!(entry["played"], row["move"]);
            assert_eq!(shown["pov"], "side_to_move");
            let here = Packed::from_sfen(row["sfen"].as_str().unwrap()).unwrap().0;
            let from = Packed::from_sfen(before["sfen"].as_str().unwrap()).unwrap().0;
            let leads = from.after(Move16::from_usi(before["move"].as_str().unwrap()).unwrap()) == Some(here);
            assert_eq!(
                entry["last_move"],
                if leads { before["move"].clone() } else { Value::Null },
                "{number}"
            );
            known += usize::from(leads);
        }
        assert!(known > 40, "{known}");
        let found = serde_json::to_value(view(&path, 100, "side=w cp=0..").unwrap()).unwrap();
        let number = found["entries"][0]["number"].as_u64().unwrap();
        let first = (100..).find(|&at: &usize| {
            rows[at]["sfen"].as_str().unwrap().contains(" w ") && rows[at]["root_cp"].as_i64().unwrap() >= 0
        });
        assert_eq!(first.map(|at| at as u64), Some(number));
        assert!(matches!(view(&path, 0, "ply=9999"), Err(Error::NoMatch { .. })));
        assert!(matches!(view(&path, 0, "mate"), Err(Error::Select { .. })));
        assert!(matches!(view(&path, 1 << 40, ""), Err(Error::Range { .. })));
    }
}

#[test]
fn a_file_that_is_called_parquet_and_is_not_is_told_so_by_all_that_show_files() {
    let dir = tempfile::tempdir().unwrap();
    let whole = std::fs::read(corpus()).unwrap();
    let said = |name: &str, bytes: &[u8]| {
        let path = file(dir.path(), name, bytes);
        let told = info(&path).unwrap_err().to_string();
        let paths = [path.clone()];
        let printed = cat(&paths, &CatOptions::default(), &mut Vec::new(), &()).unwrap_err().to_string();
        let shown = view(&path, 0, "").err().unwrap().to_string();
        let options = manaka_inspect::StatOptions::new(std::num::NonZeroUsize::MIN);
        let counted = manaka_inspect::stat(&paths, &options, &()).unwrap_err().to_string();
        assert_eq!([&printed, &shown, &counted], [&told; 3]);
        told.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    let ends = |len: usize, first: &str, last: &str| {
        format!(
            "not a Parquet file: its {len} bytes begin with \"{first}\" and end with \"{last}\", \
             where both should be \"PAR1\""
        )
    };
    assert_eq!(said("page.parquet", b"<html>404</html>\n"), ends(17, "<htm", "ml>\\n"));
    assert_eq!(said("empty.parquet", b""), ends(0, "", ""));
    assert_eq!(said("short.parquet", &[0x9A, 0]), ends(2, "\\x9a\\x00", "\\x9a\\x00"));
    // As long as records of raw PSV, and of nothing.
    assert_eq!(said("zeros.parquet", &[0; 400]), ends(400, "\\x00\\x00\\x00\\x00", "\\x00\\x00\\x00\\x00"));
    assert_eq!(
        said("tail.parquet", &[&[0; 8], &whole[8..]].concat()),
        ends(whole.len(), "\\x00\\x00\\x00\\x00", "PAR1")
    );
    assert_eq!(said("cut.parquet", &[&whole[..100], b"tail"].concat()), ends(104, "PAR1", "tail"));
    assert!(said("magic.parquet", b"PAR1").contains("too small"));
    // What it is shows in its content where that is something known.
    let stream = manaka_core::stream::Header::new(manaka_core::Conventions::TEACHER).encode();
    let stream = file(dir.path(), "stream.parquet", &stream);
    assert!(matches!(info(&stream), Ok(Info::Stream(_))));
}

#[test]
fn corpora_and_raw_records_are_told_about() {
    let dir = tempfile::tempdir().unwrap();
    let Info::Corpus(told) = info(&corpus()).unwrap() else { unreachable!("no corpus") };
    assert_eq!((told.rows, told.columns.len() >= 8), (61_160, true));
    assert!(told.to_string().contains("corpus, 61160 rows in "), "{told}");
    let path = raw(dir.path(), &lines(&corpus(), "", 300));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(&[7; 9]);
    let torn = file(dir.path(), "b.psv", &bytes);
    let expected = format!(
        "\
{}
raw PSV, 300 records of 64 bytes, 19209 bytes

move16           yaneuraou (found in a sample)
candidates       6
torn             9 bytes behind the last whole record",
        torn.display()
    );
    assert_eq!(info(&torn).unwrap().to_string(), expected);
}
