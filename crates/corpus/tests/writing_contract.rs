//! Corpus files as we write them: what was put in comes out, whole or not at all (corpus.md §3).

use manaka_core::{Move16, Packed, sfen::STARTPOS};
use manaka_corpus::write::{CorpusRow, CorpusWriter, GroupEncoder, RowGroup, WriteError};
use manaka_corpus::{CorpusFile, Rows};
use std::fs;

fn mv(usi: &str) -> Move16 {
    Move16::from_usi(usi).unwrap()
}

fn encoder() -> GroupEncoder {
    GroupEncoder::new(GroupEncoder::DEFAULT_ZSTD_LEVEL).unwrap()
}

/// Rows of every length of list, empty ones first.
fn group(rows: usize) -> RowGroup {
    let packed = Packed::from_sfen(STARTPOS).unwrap().0;
    let moves = ["7g7f", "2g2f", "8h2b+", "P*5e", "G*1a"].map(mv);
    let mut group = RowGroup::default();
    for row in 0..rows {
        let score = |k: usize| i16::try_from(row % 60_000).unwrap_or(i16::MAX) - i16::try_from(k).unwrap();
        let candidates: Vec<_> = (0..row % 6).map(|k| (moves[k % 5], score(k))).collect();
        group.push(&CorpusRow {
            packed: &packed,
            ply: u16::try_from(row).unwrap_or(u16::MAX),
            cp: i16::MIN + 1,
            depth: u8::try_from(row % 256).unwrap(),
            candidates: &candidates,
            mv: moves[row % 5],
            result: i8::try_from(row % 3).unwrap() - 1,
        });
    }
    group
}

#[test]
fn rows_come_back_as_they_were_put_in() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part-00000.parquet");
    let mut writer = CorpusWriter::create(&path).unwrap();
    // Long enough for several pages; then a group without rows; then the same rows again, out of reused memory.
    let mut rows = group(30_000);
    writer.append(encoder().encode(&rows).unwrap()).unwrap();
    rows.clear();
    assert!(rows.is_empty());
    writer.append(encoder().encode(&rows).unwrap()).unwrap();
    writer.append(encoder().encode(&group(7)).unwrap()).unwrap();
    assert_eq!(writer.rows(), 30_007);
    assert!(!path.exists());
    let summary = writer.finish().unwrap();
    assert_eq!((summary.rows, summary.bytes), (30_007, fs::metadata(&path).unwrap().len()));

    let file = CorpusFile::open(&path).unwrap();
    assert_eq!((file.rows(), file.row_groups()), (30_007, 2));
    let moves = ["7g7f", "2g2f", "8h2b+", "P*5e", "G*1a"];
    let mut batch = Rows::default();
    for (group, rows) in [(0, 30_000), (1, 7)] {
        let mut batches = file.batches(group).unwrap();
        let mut at = 0usize;
        while batches.read(&mut batch).unwrap() {
            for row in batch.iter() {
                assert_eq!(row.sfen(), Some(STARTPOS.strip_suffix(" 1").unwrap().as_bytes()));
                assert_eq!((row.side(), row.ply()), (Some(0), Some(at as i64)));
                assert_eq!((row.cp(), row.result()), (Some(-32_767), Some(at as i64 % 3 - 1)));
                assert_eq!(row.mv(), Some(moves[at % 5].as_bytes()));
                let texts: Vec<_> = row.cand_move().unwrap().iter().map(Option::unwrap).collect();
                let expected: Vec<_> = (0..at % 6).map(|k| moves[k % 5].as_bytes()).collect();
                assert_eq!(texts, expected);
                let scores: Vec<_> = row.cand_cp().unwrap().iter().map(Option::unwrap).collect();
                assert_eq!(scores, (0..at % 6).map(|k| (at - k) as i64).collect::<Vec<_>>());
                at += 1;
            }
        }
        assert_eq!(at, rows);
    }
}

#[test]
fn a_file_that_is_not_finished_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part-00000.parquet");
    let mut writer = CorpusWriter::create(&path).unwrap();
    writer.append(encoder().encode(&group(100)).unwrap()).unwrap();
    assert!(matches!(CorpusWriter::create(&path).unwrap_err(), WriteError::Io { .. }));
    drop(writer);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let missing = CorpusWriter::create(&dir.path().join("no/part.parquet")).unwrap_err();
    assert!(missing.to_string().contains("no/part.parquet"), "{missing}");
}

#[test]
fn a_file_without_rows_opens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part-00000.parquet");
    CorpusWriter::create(&path).unwrap().finish().unwrap();
    let file = CorpusFile::open(&path).unwrap();
    assert_eq!((file.rows(), file.row_groups()), (0, 0));
}

#[test]
fn there_are_only_the_levels_of_zstd() {
    assert!(GroupEncoder::new(22).is_ok() && GroupEncoder::new(23).is_err());
}
