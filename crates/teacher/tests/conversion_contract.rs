//! What a conversion writes: the records, their order, the parts, and what is left behind when it fails.

#[path = "../../corpus/tests/corpus_writer/mod.rs"]
mod corpus_writer;

use corpus_writer::*;
use manaka_core::conventions::{Conventions, NO_VISITS};
use manaka_core::progress::Progress;
use manaka_core::stream::{Compression, PartsOptions, Record, StreamReader, StreamSet};
use manaka_core::{Move16, Packed, PolicySource, Pov};
use manaka_teacher::{Error, OffSearch, Options, Reason, Report, Strictness, convert};
use parquet::file::metadata::ParquetMetaDataReader;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const MOVES: [&str; 8] = ["7g7f", "2g2f", "3g3f", "9g9f", "1g1f", "5g5f", "6i7h", "4i5h"];

/// Sound rows that differ, with an unsound one here and there.
fn many(count: usize) -> Vec<RowSpec> {
    (0..count)
        .map(|i| {
            let list: Vec<_> =
                (0..1 + i % 8).map(|k| (MOVES[k], 500 - (i * 31 + k * 77) as i64 % 1000)).collect();
            RowSpec::sound().candidates(&list).with(|row| {
                row.ply = Some(i as i64);
                row.cp = Some(i as i64 % 30_000);
                row.result = Some(i as i64 % 3 - 1);
                match i % 97 {
                    13 => row.mv = text("2h5h"),
                    14 => row.side = Some(1),
                    _ => {}
                }
            })
        })
        .collect()
}

fn options(records_per_part: u64, threads: usize, compression: Compression) -> Options {
    let parts = PartsOptions {
        conventions: Conventions::TEACHER,
        records_per_part: records_per_part.try_into().unwrap(),
        compression,
    };
    Options { parts, threads: threads.try_into().unwrap(), ..Options::default() }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn records(report: &Report) -> Vec<Record> {
    report
        .parts
        .paths
        .iter()
        .flat_map(|path| StreamReader::open(path).unwrap().records().collect::<Result<Vec<_>, _>>().unwrap())
        .collect()
}

#[test]
fn a_row_becomes_its_record_field_by_field() {
    let white = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 99";
    let row = |sfen: &str, side, mv: &str, result, ply, cp| {
        RowSpec::sound().candidates(&[(mv, 20), ("P*5e", -31000)]).with(|row| {
            row.sfen = text(sfen);
            row.side = Some(side);
            row.mv = text(mv);
            row.result = Some(result);
            row.ply = Some(ply);
            row.cp = Some(cp);
        })
    };
    let black = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
    let rows = [
        row(black, 0, "7g7f", 1, 0, 35),
        row(black, 0, "7g7f", -1, 65535, -29680),
        row(black, 0, "7g7f", 0, 4, 29679),
        row(white, 1, "3c3d", 1, 4, 0),
        row(white, 1, "3c3d", -1, 4, 31000),
        row(white, 1, "3c3d", 0, 4, -1),
    ];
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &rows);
    let options = Options { strictness: Strictness::Lenient, ..options(100, 2, Compression::None) };
    let report = convert(&[corpus], &dir.path().join("out"), &options, &()).unwrap();
    // Every row has a candidate at -31000, which is a mate and beyond the scale.
    assert_eq!((report.written, report.mates, report.beyond_mate_scale), (6, 6, 6));
    let records = records(&report);
    let z: Vec<_> = records.iter().map(|r| r.value_z.to_bits()).collect();
    assert_eq!(z, [1f32, -1.0, 0.0, -1.0, 1.0, 0.0].map(f32::to_bits), "a draw is +0.0");
    assert_eq!(records.iter().map(|r| r.ply).collect::<Vec<_>>(), [0, 65535, 4, 4, 4, 4]);
    let q: Vec<_> = records.iter().map(|r| r.value_q).collect();
    let squashed = |cp: f64| (cp / f64::from(1512.173f32)).tanh();
    for (value, want) in q.iter().zip([squashed(35.0), -1.0, squashed(29679.0), 0.0, 1.0, squashed(-1.0)]) {
        assert!((f64::from(*value) - want).abs() < 1e-7, "{value} {want}");
    }
    for (record, row) in records.iter().zip(&rows) {
        let sfen = std::str::from_utf8(row.sfen.as_ref().unwrap()).unwrap();
        assert_eq!(record.packed, Packed::from_sfen(sfen).unwrap().0);
        let mv = std::str::from_utf8(row.mv.as_ref().unwrap()).unwrap();
        let list: Vec<_> = record.candidates.iter().map(|c| (c.mv, c.visits, c.cp)).collect();
        let want =
            [(mv, 20), ("P*5e", -31000)].map(|(mv, cp)| (Move16::from_usi(mv).unwrap(), NO_VISITS, cp));
        assert_eq!(list, want, "in the order of the list");
    }
}

/// The version of each part.
fn versions(report: &Report) -> Vec<u16> {
    report.parts.paths.iter().map(|path| StreamReader::open(path).unwrap().header().version).collect()
}

#[test]
fn a_row_played_off_its_search_is_kept_without_an_outcome_where_that_is_asked_for() {
    let rows = many(200);
    let off = |i: usize| i % 97 == 13;
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &rows);
    for compression in [Compression::None, Compression::DEFAULT] {
        let keep = Options { off_search: OffSearch::Keep, ..options(50, 3, compression) };
        let of = |name: &str, options: &Options| {
            let out = dir.path().join(format!("{name}{}", compression.suffix()));
            convert(std::slice::from_ref(&corpus), &out, options, &()).unwrap()
        };
        let (refused, kept) = (of("refused", &options(50, 3, compression)), of("kept", &keep));
        // Rows 13 and 110 are off the search, 14 and 111 of the wrong side.
        let count = |report: &Report| (report.written, report.off_search, report.rejected.total());
        assert_eq!((count(&refused), count(&kept)), ((196, 0, 4), (198, 2, 2)));
        assert_eq!(kept.rejected.get(Reason::MoveNotCandidate), 0);
        assert_eq!((versions(&refused), versions(&kept)), (vec![2; 4], vec![3, 2, 3, 2]));
        // As without the flag, and between them the rows without an outcome, otherwise what they say.
        let plain = records(&refused);
        let (stated, unknown): (Vec<_>, Vec<_>) =
            records(&kept).into_iter().partition(|record| record.outcome().is_some());
        assert_eq!(stated, plain);
        let plies: Vec<u16> = unknown.iter().map(|record| record.ply).collect();
        let expected: Vec<usize> = (0..200).filter(|&i| off(i)).collect();
        assert_eq!(plies.iter().map(|&ply| usize::from(ply)).collect::<Vec<_>>(), expected);
        for (record, &i) in unknown.iter().zip(&expected) {
            assert_eq!(record.candidates.len(), 1 + i % 8);
            assert_eq!(record.value_q, Conventions::TEACHER.value_q(i16::try_from(i).unwrap()));
        }
    }
}

#[test]
fn keeping_rows_off_their_search_changes_no_byte_where_there_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    let rows: Vec<_> =
        many(300).into_iter().enumerate().filter(|(i, _)| i % 97 != 13).map(|(_, r)| r).collect();
    write(&corpus, &Layout::default(), &rows);
    for compression in [Compression::None, Compression::DEFAULT] {
        let bytes = |off_search| {
            let out = dir.path().join(format!("{off_search:?}{}", compression.suffix()));
            let options = Options { off_search, ..options(70, 2, compression) };
            let report = convert(std::slice::from_ref(&corpus), &out, &options, &()).unwrap();
            assert_eq!(versions(&report), [2; 5]);
            report.parts.paths.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(bytes(OffSearch::Keep), bytes(OffSearch::Refuse));
    }
}

#[test]
fn a_kept_row_is_refused_for_whatever_else_is_wrong_with_it() {
    let off = |change: fn(&mut RowSpec)| RowSpec::sound().with(|row| row.mv = text("2h5h")).with(change);
    let rows = [
        off(|_| ()),
        off(|row| row.mv = text("resign")),
        off(|row| row.mv = text("not a move")),
        off(|row| row.side = Some(1)),
        off(|row| row.result = Some(2)),
        off(|row| row.cand_move.as_mut().unwrap()[0] = text("8h2b")),
        off(|row| row.cand_move.as_mut().unwrap()[0] = text("resign")),
    ];
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &rows);
    let options = Options { off_search: OffSearch::Keep, ..options(100, 1, Compression::None) };
    let report = convert(&[corpus], &dir.path().join("out"), &options, &()).unwrap();
    assert_eq!((report.written, report.off_search), (2, 2));
    let counts = |reason| report.rejected.get(reason);
    assert_eq!((counts(Reason::MalformedRecord), counts(Reason::SideMismatch)), (2, 1));
    assert_eq!((counts(Reason::IllegalCandidate), counts(Reason::UnlabelledMove)), (1, 1));
}

#[test]
fn the_header_states_what_the_run_was_told() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &[RowSpec::sound()]);
    let mut options = options(100, 1, Compression::None);
    options.parts.conventions =
        Conventions { mate_scale: 32000, mate_slack: 100, fv_scale: 28, ..Conventions::TEACHER };
    let report = convert(&[corpus], &dir.path().join("out"), &options, &()).unwrap();
    let bytes = fs::read(&report.parts.paths[0]).unwrap();
    // The header that the V4 corpus card prints.
    assert_eq!(
        bytes[..24],
        [
            0x4d, 0x50, 0x4b, 0x31, 0x02, 0x00, 0x60, 0x00, 0x00, 0x01, 0x00, 0x7d, 0x1c, 0x00, 0x64, 0x00,
            0x89, 0x05, 0xbd, 0x44, 0x00, 0x00, 0x00, 0x00
        ]
    );
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_threads_and_any_row_groups() {
    let dir = tempfile::tempdir().unwrap();
    let rows = many(30_000);
    let split = [rows[..11_000].to_vec(), rows[11_000..11_001].to_vec(), vec![], rows[11_001..].to_vec()];
    let mut outputs = Vec::new();
    for (layout, rows_per_group) in [(0, 1 << 20), (1, 1500)] {
        let inputs: Vec<_> = split
            .iter()
            .enumerate()
            .map(|(i, rows)| {
                let path = dir.path().join(format!("{layout}-{i}.parquet"));
                write(&path, &Layout { rows_per_group, ..Layout::default() }, rows);
                path
            })
            .collect();
        for threads in [1, 2, 7, 32] {
            let out = dir.path().join(format!("out-{layout}-{threads}"));
            let rejects = dir.path().join("rejects.tsv");
            let options =
                Options { rejects: Some(rejects.clone()), ..options(7001, threads, Compression::DEFAULT) };
            let report = convert(&inputs, &out, &options, &()).unwrap();
            let parts: Vec<_> = report.parts.paths.iter().map(|path| fs::read(path).unwrap()).collect();
            let table = fs::read_to_string(&rejects).unwrap();
            outputs.push((parts, table.replace(&format!("{layout}-"), "layout-"), report));
        }
    }
    let (parts, table, report) = &outputs[0];
    assert_eq!((report.rows, parts.len()), (30_000, 5));
    assert_eq!(report.rejected.get(Reason::MoveNotCandidate), 310);
    assert_eq!(report.rejected.get(Reason::SideMismatch), 310);
    assert_eq!(table.lines().count(), 621);
    for (other, other_table, other_report) in &outputs[1..] {
        assert!(parts == other, "parts differ");
        assert!(table == other_table, "rejects differ");
        assert_eq!((report.written, report.rejected), (other_report.written, other_report.rejected));
    }
    // In input order: the plies of the written rows ascend.
    let plies: Vec<_> = records(&outputs[0].2).iter().map(|record| record.ply).collect();
    assert!(plies.is_sorted() && plies.len() == 29_380);
}

#[test]
fn parts_are_cut_by_records_and_read_as_one_stream() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &many(10));
    for (per_part, compression, sizes) in [
        (4, Compression::DEFAULT, vec![4, 4, 2]),
        (5, Compression::None, vec![5, 5]),
        (100, Compression::None, vec![10]),
    ] {
        let out = dir.path().join(format!("out-{per_part}"));
        let report =
            convert(std::slice::from_ref(&corpus), &out, &options(per_part, 2, compression), &()).unwrap();
        let expected: Vec<_> =
            (0..sizes.len()).map(|i| format!("part-{i:05}{}", compression.suffix())).collect();
        assert_eq!(names(&out), expected);
        let found: Vec<_> = report
            .parts
            .paths
            .iter()
            .map(|path| StreamReader::open(path).unwrap().records().count())
            .collect();
        assert_eq!(found, sizes);
        let mut set = StreamSet::open(report.parts.paths.clone()).unwrap();
        let mut count = 0;
        while set.next_ref().unwrap().is_some() {
            count += 1;
        }
        assert_eq!((count, report.parts.records), (10, 10));
    }
}

#[test]
fn a_run_without_rows_writes_one_part_that_holds_its_header() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    let refused = RowSpec::sound().with(|row| row.mv = None);
    for (name, inputs, rows) in [
        ("none", vec![], vec![]),
        ("empty", vec![corpus.clone()], vec![]),
        ("refused", vec![corpus.clone()], vec![refused]),
    ] {
        write(&corpus, &Layout::default(), &rows);
        let out = dir.path().join(name);
        let report = convert(&inputs, &out, &options(4, 2, Compression::None), &()).unwrap();
        assert_eq!((report.rows, report.written), (rows.len() as u64, 0));
        assert_eq!(names(&out), ["part-00000.mpk"]);
        assert_eq!(fs::read(out.join("part-00000.mpk")).unwrap().len(), 24);
    }
}

#[test]
fn the_committed_corpus_converts_whole() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/fairy-corpus.parquet");
    let dir = tempfile::tempdir().unwrap();
    let report =
        convert(&[corpus], &dir.path().join("out"), &options(10_000, 2, Compression::DEFAULT), &()).unwrap();
    assert_eq!(
        report.to_string(),
        "19522 rows read, 19522 written, 0 rejected\n  move_not_candidate=0  malformed_record=0\n  \
         bad_sfen=0  side_mismatch=0  illegal_candidate=0\n  unlabelled_move=0  no_legal_moves=0"
    );
    assert_eq!((report.parts.paths.len(), report.mates, report.beyond_mate_scale), (2, 838, 0));
    // Sums taken from the parquet file by another reader.
    let records = records(&report);
    let candidates = || records.iter().flat_map(|record| &record.candidates);
    assert_eq!(candidates().count(), 92_109);
    assert_eq!(candidates().map(|c| i64::from(c.cp)).sum::<i64>(), -23_104_482);
    assert_eq!(records.iter().map(|r| u64::from(r.ply)).sum::<u64>(), 1_148_958);
    let z = |value: f32| records.iter().filter(|r| r.value_z == value).count();
    assert_eq!((z(-1.0), z(0.0), z(1.0)), (9781, 0, 9741));
    assert_eq!(records.iter().filter(|r| r.value_q.abs() == 1.0).count(), 468);
    assert_eq!(records.windows(2).filter(|pair| pair[1].ply <= pair[0].ply).count() + 1, 200, "games");
    // Row 12345, written out by hand.
    let record = &records[12_345];
    assert_eq!(
        record.packed.sfen(None).to_string(),
        "ln5n1/1rsg2k1l/ppppg1sp1/1+b2ppp1p/2PP3P1/BS2PP2P/PP2SGP2/3G3R1/LNK4NL b -"
    );
    let list: Vec<_> = record.candidates.iter().map(|c| (c.mv.to_string(), c.cp)).collect();
    let want = [("3g3f", -34), ("6h7g", -44), ("9f8e", -61), ("8i7g", -136), ("6h6g", -157)];
    assert_eq!(list, want.map(|(mv, cp)| (mv.to_owned(), cp)));
    assert_eq!((record.ply, record.value_z), (44, -1.0));
}

#[test]
fn conventions_that_no_teacher_stream_has_are_usage_errors() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let teacher = Conventions::TEACHER;
    for conventions in [
        Conventions { eval_coef: 0.0, ..teacher },
        Conventions { eval_coef: -1.0, ..teacher },
        Conventions { eval_coef: f32::NAN, ..teacher },
        Conventions { eval_coef: f32::INFINITY, ..teacher },
        Conventions { mate_scale: 100, mate_slack: 100, ..teacher },
        Conventions { pov: Pov::Black, ..teacher },
        Conventions { policy_source: PolicySource::Visits, ..teacher },
    ] {
        let mut options = options(4, 1, Compression::None);
        options.parts.conventions = conventions;
        let error = convert(&[], &out, &options, &()).unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(!out.exists());
    }
}

#[test]
fn an_input_that_cannot_be_read_is_found_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (good, bad, out) =
        (dir.path().join("a.parquet"), dir.path().join("b.parquet"), dir.path().join("out"));
    write(&good, &Layout::default(), &many(10));
    write(&bad, &Layout { without: &["side"], ..Layout::default() }, &many(10));
    let error = convert(&[good, bad], &out, &Options::default(), &()).unwrap_err();
    assert!(matches!(&error, Error::Corpus(_)) && !error.is_usage(), "{error}");
    assert!(error.to_string().contains("b.parquet: no column side"), "{error}");
    assert!(!out.exists());
}

/// A corpus of four row groups whose third one is damaged.
fn damaged(path: &Path) {
    let layout = Layout {
        rows_per_group: 5000,
        compression: parquet::basic::Compression::UNCOMPRESSED,
        dictionary: false,
        ..Layout::default()
    };
    write(path, &layout, &many(20_000));
    let footer = ParquetMetaDataReader::new().parse_and_finish(&fs::File::open(path).unwrap()).unwrap();
    let (start, len) = footer.row_group(2).column(0).byte_range();
    let middle = usize::try_from(start + len / 2).unwrap();
    let mut bytes = fs::read(path).unwrap();
    // Some SFEN has a length that no page could hold.
    bytes[middle..middle + 100].fill(0xFF);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_row_group_ends_the_run_and_leaves_only_whole_parts() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    damaged(&corpus);
    let mut left = Vec::new();
    for threads in [1, 2, 9] {
        let out = dir.path().join(format!("out-{threads}"));
        let rejects = dir.path().join("rejects.tsv");
        let options = Options { rejects: Some(rejects.clone()), ..options(1000, threads, Compression::None) };
        let error = convert(std::slice::from_ref(&corpus), &out, &options, &()).unwrap_err();
        assert!(
            matches!(error, Error::Corpus(manaka_corpus::Error::Damaged { row_group: Some(2), .. })),
            "{error}"
        );
        assert!(!rejects.exists());
        // What went before the damage was written, whatever the threads; the part begun is gone.
        left.push((error.to_string(), names(&out)));
    }
    assert_eq!(left[0].1.len(), 9, "{:?}", left[0]);
    assert!(left[0].1.iter().all(|name| name.ends_with(".mpk")));
    assert!(left.iter().all(|other| *other == left[0]), "{left:?}");
}

#[test]
fn parts_that_are_there_already_are_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &many(10));
    fs::write(dir.path().join("part-00000.mpk"), b"mine").unwrap();
    let error = convert(&[corpus], dir.path(), &options(4, 1, Compression::None), &()).unwrap_err();
    assert!(matches!(error, Error::Stream(_)), "{error}");
    assert_eq!(names(dir.path()), ["corpus.parquet", "part-00000.mpk"]);
    assert_eq!(fs::read(dir.path().join("part-00000.mpk")).unwrap(), b"mine");
}

/// Counts what it is told, and asks to stop once enough is done.
struct Counter {
    done: AtomicU64,
    stop_at: u64,
}

impl Progress for Counter {
    fn phase(&self, _: &str, total: Option<u64>, unit: &str) {
        assert_eq!((total, unit), (Some(20_000), "rows"));
    }
    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.stop_at
    }
}

#[test]
fn progress_counts_every_row_and_can_stop_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.parquet");
    write(&corpus, &Layout::default(), &many(20_000));
    let counter = Counter { done: AtomicU64::new(0), stop_at: u64::MAX };
    let inputs = [corpus];
    convert(&inputs, &dir.path().join("all"), &options(1000, 2, Compression::None), &counter).unwrap();
    assert_eq!(counter.done.into_inner(), 20_000);
    let counter = Counter { done: AtomicU64::new(0), stop_at: 4096 };
    let out = dir.path().join("some");
    let error = convert(&inputs, &out, &options(1000, 2, Compression::None), &counter).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert!(names(&out).len() < 20 && names(&out).iter().all(|name| name.ends_with(".mpk")));
}
