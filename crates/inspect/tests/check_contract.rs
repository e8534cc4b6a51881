//! What a check promises: every id has a fixture that sets it off, sound data has none, the report says where.

mod fixtures;

use fixtures::*;
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Conventions, Move16, Packed, Pov};
use manaka_inspect::{CHECKS, CheckOptions, Error, Report, Severity, check};
use manaka_pack::{PackOptions, pack};
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

fn judge(paths: &[PathBuf]) -> Report {
    check(paths, &CheckOptions::new(threads(2)), &()).unwrap()
}

/// Ids and counts.
fn kinds(report: &Report) -> Vec<(&'static str, u64)> {
    report.kinds.iter().map(|kind| (kind.id, kind.count)).collect()
}

fn usi(text: &str) -> Move16 {
    Move16::from_usi(text).unwrap()
}

fn scored(text: &str, cp: i16) -> Candidate {
    Candidate { mv: usi(text), visits: 0, cp }
}

fn packed(sfen: &str) -> Packed {
    manaka_core::sfen::Sfen::parse(sfen).unwrap().packed
}

/// A record of the starting position.
fn start(candidates: &[Candidate]) -> Record {
    let packed = packed(manaka_core::sfen::STARTPOS);
    Record { ply: 1, value_z: 0.0, value_q: 0.0, packed, candidates: candidates.to_vec() }
}

/// A teacher stream of good records with one more among them.
fn among(record: Record) -> Vec<u8> {
    let mut records = score_records(20, 3);
    records.insert(7, record);
    stream_bytes(Conventions::TEACHER, &records)
}

/// A header with some bytes replaced, and no record.
fn header(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut header = stream_bytes(Conventions::TEACHER, &score_records(2, 3));
    header[at..at + bytes.len()].copy_from_slice(bytes);
    header
}

/// A score shard of 40 rows, one of which was changed.
fn shard_with(change: impl Fn(&mut Row)) -> Shard {
    let mut rows = score_rows(40, 5);
    let at = rows.iter().position(|row| row.candidates.len() >= 3 && distinct_cp(row)).unwrap();
    rows.swap(9, at);
    change(&mut rows[9]);
    Shard::scores(rows)
}

fn distinct_cp(row: &Row) -> bool {
    row.candidates.windows(2).all(|pair| pair[0].2 != pair[1].2)
}

fn visits_with(change: impl Fn(&mut Row)) -> Shard {
    let mut rows = visits_rows(40, 5);
    let at = rows.iter().position(|row| row.candidates.len() >= 3 && row.weight == 3).unwrap();
    rows.swap(9, at);
    change(&mut rows[9]);
    Shard::visits(rows)
}

type Make = Box<dyn Fn(&Path) -> Vec<PathBuf>>;

/// What sets an id off, and the ids that may come with it.
struct Fixture {
    id: &'static str,
    with: &'static [&'static str],
    make: Make,
}

fn stream(id: &'static str, bytes: Vec<u8>) -> Fixture {
    Fixture { id, with: &[], make: Box::new(move |dir| vec![file(dir, "a.mpk", &bytes)]) }
}

fn shard(id: &'static str, shard: Shard) -> Fixture {
    Fixture {
        id,
        with: &["shuffle_not_judged"],
        make: Box::new(move |dir| vec![shard.write(dir, "a.parquet")]),
    }
}

fn two_shards(id: &'static str, first: Shard, second: Shard) -> Fixture {
    let make = move |dir: &Path| vec![first.write(dir, "a.parquet"), second.write(dir, "b.parquet")];
    Fixture { id, with: &["shuffle_not_judged"], make: Box::new(make) }
}

impl Fixture {
    fn with(mut self, ids: &'static [&'static str]) -> Self {
        self.with = ids;
        self
    }
}

/// A shard with a page that cannot be decoded.
fn damaged(dir: &Path) -> Vec<PathBuf> {
    let path = Shard::scores(score_rows(3000, 5)).write(dir, "a.parquet");
    let mut bytes = fs::read(&path).unwrap();
    // The header of the first page.
    bytes[4..20].fill(0xFF);
    fs::write(&path, bytes).unwrap();
    vec![path]
}

fn fixtures() -> Vec<Fixture> {
    let good = || stream_bytes(Conventions::TEACHER, &score_records(20, 3));
    let ok = scored("7g7f", 30);
    let whole = good();
    let visits = || Conventions::VISITS;
    let unused = Conventions { mate_scale: 30000, ..Conventions::VISITS };
    // The same position from the other side: the king that could be captured.
    let in_check = "4k4/9/9/9/4R4/9/9/9/4K4 b - 1";
    let nifu = "4k4/9/4P4/9/4P4/9/9/9/4K4 b - 1";
    let mut twice = score_rows(60, 5);
    twice.push(twice[17].clone());
    let mut sorted = score_rows(9000, 5);
    sorted.sort_by_key(|row| row.ply);
    // Rows drift by nothing, but neighbours are alike: pairs of equal plies.
    let mut paired = score_rows(3000, 5);
    paired.sort_by_key(|row| row.ply);
    let mut pairs: Vec<Vec<Row>> = paired.chunks(2).map(<[Row]>::to_vec).collect();
    Draws::new(1).shuffle(&mut pairs);
    let paired: Vec<Row> = pairs.concat();

    vec![
        stream("empty", Vec::new()),
        stream("magic", b"# README\n\nThis is no data.\n".to_vec()),
        stream("version", header(4, &[4, 0])),
        stream("packed_len", header(6, &[95, 0])),
        stream("pov", header(8, &[2])),
        stream("policy_source", header(9, &[2])),
        stream("reserved", header(4, &[1, 0, 96, 0, 0, 1, 0x30, 0x75, 0, 0, 1, 0])),
        stream("flags", header(20, &[1])),
        stream("inconsistent_header", header(16, &f32::NAN.to_le_bytes())),
        Fixture {
            id: "conflict",
            with: &[],
            make: Box::new(|dir| {
                let other = Conventions { pov: Pov::Black, ..Conventions::TEACHER };
                vec![
                    written(dir, "a.mpk", Conventions::TEACHER, &score_records(5, 1)),
                    written(dir, "b.mpk", other, &score_records(5, 2)),
                ]
            }),
        },
        stream("header_version", header(4, &[1, 0])),
        stream("unused_scale", stream_bytes(unused, &visits_records(5, 1))),
        stream("no_records", stream_bytes(visits(), &[])),
        stream("second_header", [whole.clone(), good()].concat()),
        stream("truncated", whole[..whole.len() - 1].to_vec()),
        Fixture {
            id: "compression",
            with: &[],
            make: Box::new(|dir| {
                let path = written(dir, "a.mpk.zst", Conventions::TEACHER, &score_records(50, 1));
                let mut bytes = fs::read(&path).unwrap();
                // The last byte of the checksum.
                *bytes.last_mut().unwrap() ^= 1;
                fs::write(&path, bytes).unwrap();
                vec![path]
            }),
        },
        stream("no_candidates", among(start(&[]))),
        stream("value_z", among(Record { value_z: 0.5, ..start(&[ok]) })),
        stream("value_q", among(Record { value_q: f32::NAN, ..start(&[ok]) })),
        stream("move16", among(start(&[Candidate { mv: Move16::from_bits(1 << 15), ..ok }]))),
        stream("some_visits", among(start(&[ok, Candidate { visits: 3, ..scored("2g2f", 0) }]))),
        stream("some_cp", among(start(&[ok, scored("2g2f", i16::MIN)]))),
        stream("missing_half", among(start(&[scored("2g2f", i16::MIN)]))),
        stream("foreign_half", among(start(&[Candidate { visits: 3, ..ok }]))),
        stream("unsound_position", among(Record { packed: packed(nifu), ..start(&[ok]) })),
        stream("unplayable_position", among(Record { packed: packed(in_check), ..start(&[ok]) })),
        stream("illegal_candidate", among(start(&[ok, scored("7g7e", 0), scored("P*5e", 0)]))),
        stream("duplicate_move", among(start(&[ok, scored("2g2f", 0), ok]))),
        stream("cp_above_mate_scale", among(start(&[scored("7g7f", -30001)]))),
        Fixture {
            id: "not_a_shard",
            with: &[],
            make: Box::new(|dir| {
                let path = Shard::scores(score_rows(3, 1)).write(dir, "a.parquet");
                let bytes = fs::read(&path).unwrap();
                vec![file(dir, "b.parquet", &bytes[..bytes.len() - 1])]
            }),
        },
        shard("inconsistent_footer", shard_with(|_| ()).with("mate_slack", "0")),
        two_shards(
            "footer_conflict",
            Shard::scores(score_rows(5, 1)),
            Shard::scores(score_rows(5, 9)[4..].to_vec()).with("fv_scale", "28"),
        ),
        two_shards(
            "mixed_writers",
            Shard::scores(score_rows(5, 1)),
            Shard::scores(score_rows(5, 9)[4..].to_vec()).with("writer", "test 2"),
        ),
        shard("footer_keys", shard_with(|_| ()).with("engine", "attic")),
        shard("row_group_size", Shard { group: 25, ..shard_with(|_| ()) }),
        shard("no_rows", Shard::scores(Vec::new())),
        Fixture { id: "unreadable", with: &["shuffle_not_judged"], make: Box::new(damaged) },
        shard("weight", shard_with(|row| row.weight = 0)),
        shard("value_z_mean", visits_with(|row| row.value_z = 0.4)),
        shard("cp_absent", shard_with(|row| row.candidates[2].2 = Some(i16::MIN))).with(&[
            "shuffle_not_judged",
            "one_hot",
            "prob_mismatch",
        ]),
        shard("candidate_order", shard_with(|row| row.candidates.swap(0, 2))),
        shard(
            "prob_range",
            visits_with(|row| {
                let rest = std::mem::take(&mut row.candidates.last_mut().unwrap().1);
                row.candidates[0].1 += rest;
            }),
        ),
        shard("prob_sum", visits_with(|row| row.candidates[0].1 += 3e-6)),
        shard(
            "prob_mismatch",
            shard_with(|row| {
                row.candidates[0].1 -= 3e-6;
                row.candidates[1].1 += 3e-6;
            }),
        ),
        shard("one_hot", shard_with(|row| row.candidates[0].2 = Some(29_700))),
        shard("repeated_position", Shard::scores(twice)),
        shard("shuffle_autocorrelation", Shard::scores(paired)),
        shard("shuffle_trend", Shard::scores(sorted.clone())).with(&[
            "shuffle_not_judged",
            "shuffle_autocorrelation",
            "shuffle_blocks",
            "row_group_size",
        ]),
        shard("shuffle_blocks", Shard::scores(sorted)).with(&[
            "shuffle_not_judged",
            "shuffle_autocorrelation",
            "shuffle_trend",
            "row_group_size",
        ]),
        shard("shuffle_not_judged", shard_with(|_| ())),
    ]
}

#[test]
fn every_check_has_a_fixture_that_sets_it_off_and_nothing_else() {
    let mut set_off = BTreeSet::new();
    for fixture in fixtures() {
        let dir = tempfile::tempdir().unwrap();
        let report = judge(&(fixture.make)(dir.path()));
        let found: Vec<_> = kinds(&report);
        assert!(found.contains(&(fixture.id, 1)), "{}: {found:?}\n{report}", fixture.id);
        for (id, _) in &found {
            assert!(*id == fixture.id || fixture.with.contains(id), "{}: {found:?}\n{report}", fixture.id);
        }
        if fixture.id == "unreadable" {
            assert!(report.shuffle.is_empty() && found.contains(&("shuffle_not_judged", 1)), "{report}");
        }
        let severity = CHECKS.iter().find(|check| check.id == fixture.id).unwrap().severity;
        assert!(severity == Severity::Note || report.has_findings(), "{}", fixture.id);
        let only_notes = report.kinds.iter().all(|kind| kind.severity == Severity::Note);
        assert_eq!(report.has_findings(), !only_notes, "{}", fixture.id);
        set_off.insert(fixture.id);
    }
    let all: BTreeSet<_> = CHECKS.iter().map(|check| check.id).collect();
    assert_eq!(all.difference(&set_off).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// The rules that hold for rows as they do for records.
#[test]
fn rows_are_judged_like_records_where_the_rule_is_the_same() {
    let nifu = *packed("4k4/9/4P4/9/4P4/9/9/9/4K4 b - 1").as_bytes();
    let in_check = *packed("4k4/9/9/9/4R4/9/9/9/4K4 b - 1").as_bytes();
    type Change = Box<dyn Fn(&mut Row)>;
    let scores: Vec<(&str, Change)> = vec![
        ("value_q", Box::new(|row| row.value_q = 1.0 + f32::EPSILON)),
        ("value_q", Box::new(|row| row.value_q = f32::NAN)),
        ("move16", Box::new(|row| row.candidates[0].0 |= 1 << 15)),
        ("unsound_position", Box::new(move |row| row.packed = nifu)),
        ("unplayable_position", Box::new(move |row| row.packed = in_check)),
        (
            "cp_above_mate_scale",
            Box::new(|row| {
                (row.candidates[0].1, row.candidates[0].2) = (1.0, Some(30_001));
                row.candidates[1..].iter_mut().for_each(|c| c.1 = 0.0);
            }),
        ),
        ("prob_range", Box::new(|row| row.candidates[0].1 = f32::NAN)),
        ("prob_mismatch", Box::new(|row| row.candidates[1].1 = f32::NAN)),
        ("prob_sum", Box::new(|row| row.candidates[1].1 = f32::NAN)),
        ("illegal_candidate", Box::new(|row| row.candidates[1].0 = usi("5e5d").bits())),
    ];
    for (id, change) in scores {
        let dir = tempfile::tempdir().unwrap();
        let report = judge(&[shard_with(change).write(dir.path(), "a.parquet")]);
        assert!(kinds(&report).contains(&(id, 1)), "{id}: {report}");
        let finding = report.findings.iter().find(|finding| finding.id == id).unwrap();
        assert_eq!((finding.row, finding.record, finding.offset), (Some(9), None, None), "{id}");
    }
    let visits: Vec<(&str, Change)> = vec![
        ("value_z", Box::new(|row| row.value_z = -1.5)),
        ("value_z", Box::new(|row| row.value_z = f32::NAN)),
        ("candidate_order", Box::new(|row| row.candidates.swap(0, 2))),
        ("duplicate_move", Box::new(|row| row.candidates[1].0 = row.candidates[2].0)),
    ];
    for (id, change) in visits {
        let dir = tempfile::tempdir().unwrap();
        let report = judge(&[visits_with(change).write(dir.path(), "a.parquet")]);
        assert!(kinds(&report).contains(&(id, 1)), "{id}: {report}");
    }
}

#[test]
fn sound_streams_and_shards_have_no_findings() {
    let dir = tempfile::tempdir().unwrap();
    let scores = [
        written(dir.path(), "a.mpk", Conventions::TEACHER, &score_records(700, 1)),
        written(dir.path(), "b.mpk.zst", Conventions::TEACHER, &score_records(500, 2)),
    ];
    let visits = written(dir.path(), "v.mpk.zst", Conventions::VISITS, &visits_records(300, 3));
    assert_eq!(judge(&scores).to_string(), "ok: 2 streams, 1200 records, no findings");
    assert_eq!(judge(std::slice::from_ref(&visits)).to_string(), "ok: 1 stream, 300 records, no findings");

    let mut options = PackOptions::new("teacher", threads(2));
    options.rows_per_shard = std::num::NonZeroU64::new(900).unwrap();
    let summary = pack(scores.to_vec(), dir.path(), &options, &()).unwrap();
    let shards: Vec<PathBuf> = summary.shards.iter().map(|shard| shard.path.clone()).collect();
    let report = judge(&shards);
    assert!(!report.has_findings(), "{report}");
    assert_eq!((report.totals.rows, report.totals.shards), (summary.rows, 2));
    let last = report.to_string().lines().last().unwrap().to_owned();
    assert_eq!(last, format!("ok: 2 shards, {} rows, no findings, 3 notes", summary.rows));

    pack(vec![visits], dir.path(), &PackOptions::new("visits", threads(2)), &()).unwrap();
    let report = judge(&[dir.path().join("visits-00000.parquet")]);
    assert!(!report.has_findings(), "{report}");

    for rows in [Shard::scores(score_rows(400, 8)), Shard::visits(visits_rows(400, 8))] {
        let path = rows.write(dir.path(), "rows.parquet");
        assert!(!judge(std::slice::from_ref(&path)).has_findings());
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn scores_in_black_s_view_are_turned_before_they_are_judged() {
    let dir = tempfile::tempdir().unwrap();
    let rows = |black: bool| {
        let mut draws = Draws::new(4);
        positions(300, 4)
            .into_iter()
            .map(|met| {
                let scores: Vec<_> = met.moves.iter().map(|&mv| (mv, draws.below(61_000) as i16)).collect();
                score_row_in(&met.packed, met.ply, &scores, black)
            })
            .collect::<Vec<_>>()
    };
    let black = |rows| {
        Shard::scores(rows).with("pov", "black").with("mate_scale", "32767").with("mate_slack", "3087")
    };
    let right = judge(&[black(rows(true)).write(dir.path(), "right.parquet")]);
    assert!(!right.has_findings(), "{right}");
    let wrong = judge(&[black(rows(false)).write(dir.path(), "wrong.parquet")]);
    let ids: Vec<_> = wrong.kinds.iter().map(|kind| kind.id).collect();
    assert!(ids.contains(&"candidate_order") && ids.contains(&"one_hot"), "{wrong}");
}

/// Streams and shards with faults of every sort, one of them in four row groups.
fn mixed(dir: &Path) -> Vec<PathBuf> {
    let mut records = score_records(4000, 2);
    for at in (0..4000).step_by(7) {
        // From 1a to 1a.
        records[at].candidates.push(Candidate { mv: Move16::from_bits(72 << 7 | 72), visits: 0, cp: 5 });
    }
    for at in (0..4000).step_by(11) {
        records[at].value_q = 1.5;
    }
    let mut rows = score_rows(9000, 5);
    for at in (3..9000).step_by(5) {
        rows[at].weight = 0;
    }
    for at in (0..9000).step_by(31) {
        rows[at].packed = rows[at / 2].packed;
    }
    vec![
        file(dir, "a.mpk", &stream_bytes(Conventions::TEACHER, &records)),
        Shard { group: 2500, ..Shard::scores(rows.clone()) }.write(dir, "a.parquet"),
        file(dir, "README.md", b"no data"),
        written(
            dir,
            "b.mpk.zst",
            Conventions { fv_scale: 28, ..Conventions::TEACHER },
            &score_records(2000, 9),
        ),
        Shard::scores(rows[..5000].to_vec()).write(dir, "b.parquet"),
    ]
}

#[test]
fn the_report_does_not_depend_on_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let paths = mixed(dir.path());
    for limit in [0, 1, 20, 100_000] {
        let run = |n| {
            let options = CheckOptions { threads: threads(n), limit };
            serde_json::to_string_pretty(&check(&paths, &options, &()).unwrap()).unwrap()
        };
        let one = run(1);
        for n in [2, 3, 8] {
            assert!(run(n) == one, "{n} threads, limit {limit}");
        }
        let json: serde_json::Value = serde_json::from_str(&one).unwrap();
        let total: u64 = json["kinds"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|kind| kind["severity"] != "note")
            .map(|kind| kind["count"].as_u64().unwrap())
            .sum();
        let listed = json["findings"].as_array().unwrap();
        assert_eq!(listed.len() as u64, total.min(limit as u64));
        let places: Vec<_> = listed
            .iter()
            .filter(|f| f["path"].is_string())
            .map(|f| {
                let at = paths.iter().position(|p| f["path"] == p.to_str().unwrap()).unwrap();
                (at, f["record"].as_u64().or(f["row"].as_u64()))
            })
            .collect();
        assert!(places.iter().filter(|p| p.1.is_some()).is_sorted(), "by file and place");
    }
}

#[test]
fn counts_are_those_of_the_faults_put_in() {
    let dir = tempfile::tempdir().unwrap();
    let report = judge(&mixed(dir.path()));
    let count = |id| report.kinds.iter().find(|kind| kind.id == id).map_or(0, |kind| kind.count);
    // 0, 7, 14 … 3997 have a move that is none of theirs; those with a bad value_q were not judged further.
    assert_eq!(count("value_q"), 364);
    assert_eq!(count("illegal_candidate") - illegal_rows(&report), 572 - 52);
    assert_eq!(count("weight"), 1800 + 1000);
    // Every row of the second shard stands in the first one, but for those that were overwritten there too.
    assert_eq!(count("conflict"), 1);
    assert_eq!(count("magic"), 1);
    assert_eq!(count("row_group_size"), 1);
    assert!(count("repeated_position") >= 5000, "{report}");
    assert_eq!(report.totals.rows, 14_000);
    assert_eq!(report.totals.records, 6000);
}

/// Rows whose position was overwritten keep the candidates of another: most are illegal.
fn illegal_rows(report: &Report) -> u64 {
    let options = CheckOptions { threads: threads(1), limit: usize::MAX };
    let shards: Vec<PathBuf> = ["a.parquet", "b.parquet"]
        .into_iter()
        .filter_map(|name| report.shuffle.iter().find_map(|s| s.path.clone().filter(|p| p.ends_with(name))))
        .collect();
    let report = check(&shards, &options, &()).unwrap();
    report.kinds.iter().find(|kind| kind.id == "illegal_candidate").map_or(0, |kind| kind.count)
}

#[test]
fn a_repeated_position_names_both_rows_wherever_they_stand() {
    let dir = tempfile::tempdir().unwrap();
    let rows = score_rows(300, 5);
    let mut second = score_rows(400, 5)[..].to_vec();
    second.retain(|row| rows.iter().all(|other| other.packed != row.packed));
    let kept = second.len();
    assert!(kept > 50);
    second.insert(20, rows[250].clone());
    second.insert(30, rows[7].clone());
    second.insert(40, second[20].clone());
    let first = Shard::scores(rows).write(dir.path(), "a.parquet");
    let second = Shard::scores(second).write(dir.path(), "b.parquet");
    let report = judge(&[first, second]);
    let found: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.id, name(f.path.as_ref().unwrap()), f.row.unwrap(), f.message.clone()))
        .collect();
    let expected = [(20, 250), (30, 7), (40, 250)];
    assert_eq!(found.len(), 3, "{report}");
    for ((id, path, row, message), (here, there)) in found.iter().zip(expected) {
        assert_eq!((*id, path.as_str(), *row), ("repeated_position", "b.parquet", here));
        assert!(message.starts_with(&format!("the position of row {there} in ")), "{message}");
        assert!(message.contains("a.parquet: "), "{message}");
    }
}

#[test]
fn files_that_cannot_be_read_are_errors_and_not_findings() {
    let dir = tempfile::tempdir().unwrap();
    let good = written(dir.path(), "a.mpk", Conventions::TEACHER, &score_records(5, 1));
    for bad in [dir.path().join("missing.mpk"), dir.path().to_owned()] {
        let error = check(&[good.clone(), bad.clone()], &CheckOptions::new(threads(1)), &()).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if *path == bad), "{error}");
    }
}

#[test]
fn every_key_of_a_footer_but_the_writer_has_to_agree() {
    let dir = tempfile::tempdir().unwrap();
    let first = Shard::scores(score_rows(5, 1)).write(dir.path(), "a.parquet");
    for (key, value) in [
        ("pov", "black"),
        ("softmax_temp_cp", "99.5"),
        ("mate_scale", "32000"),
        ("mate_slack", "100"),
        ("eval_coef", "1200"),
        ("fv_scale", "28"),
    ] {
        let second = Shard::scores(Vec::new()).with(key, value).write(dir.path(), "b.parquet");
        let report = judge(&[first.clone(), second]);
        let expected = format!("{key} is {value} here and ");
        assert_eq!(report.findings.len(), 1, "{report}");
        assert_eq!(report.findings[0].id, "footer_conflict");
        assert!(report.findings[0].message.starts_with(&expected), "{report}");
    }
    let visits = Shard::visits(Vec::new()).write(dir.path(), "b.parquet");
    assert!(
        judge(&[first, visits]).findings[0]
            .message
            .starts_with("policy_source is visits here and softmax_cp in ")
    );
}

#[test]
fn row_groups_are_full_but_for_the_last_and_add_up_to_what_the_footer_says() {
    let dir = tempfile::tempdir().unwrap();
    let rows = score_rows(8200, 2);
    let group_size = |shard: PathBuf| {
        let report = judge(&[shard]);
        report.findings.iter().find(|f| f.id == "row_group_size").map(|f| f.message.clone())
    };
    assert_eq!(group_size(Shard::scores(rows.clone()).write(dir.path(), "a.parquet")), None);
    assert_eq!(group_size(Shard::scores(rows[..8192].to_vec()).write(dir.path(), "a.parquet")), None);
    let long = Shard { group: 8193, ..Shard::scores(rows[..8193].to_vec()) }.write(dir.path(), "a.parquet");
    assert_eq!(group_size(long).unwrap(), "1 of 1 row groups; the first is group 0 with 8193 rows");
    let claims = with_row_count(&Shard::scores(rows[..10].to_vec()).write(dir.path(), "a.parquet"), 10, 11);
    assert_eq!(group_size(claims).unwrap(), "the row groups hold 10 rows, the footer says 11");
}

/// Makes the footer of a shard of fewer than 64 rows claim another number of them.
fn with_row_count(path: &Path, from: u8, to: u8) -> PathBuf {
    let mut bytes = fs::read(path).unwrap();
    // Thrift's compact protocol: the field behind the last one, an i64 in zigzag; then the list of row groups.
    let field = [0x16, from * 2, 0x19];
    let found: Vec<usize> = (0..bytes.len() - 3).filter(|&at| bytes[at..at + 3] == field).collect();
    assert_eq!(found.len(), 1);
    bytes[found[0] + 1] = to * 2;
    fs::write(path, bytes).unwrap();
    path.to_owned()
}

#[test]
fn a_move_that_stands_twice_is_found_in_long_lists_too_and_a_cp_at_the_scale_is_none_above_it() {
    let dir = tempfile::tempdir().unwrap();
    let moves = "1g1f 2g2f 3g3f 4g4f 5g5f 6g6f 7g7f 8g8f 9g9f 2h3h 2h4h 6i7h 4i5h 5i5h 3i3h";
    let mut record = start(&moves.split(' ').map(|mv| scored(mv, -30_000)).collect::<Vec<_>>());
    let clean = judge(&[file(dir.path(), "a.mpk", &stream_bytes(Conventions::TEACHER, &[record.clone()]))]);
    assert_eq!(clean.to_string(), "ok: 1 stream, 1 record, no findings");
    record.candidates[14] = record.candidates[2];
    let report = judge(&[file(dir.path(), "b.mpk", &stream_bytes(Conventions::TEACHER, &[record]))]);
    assert_eq!(report.findings[0].message, "3g3f stands 2 times among 15 candidates", "{report}");
}

/// The reader refuses such a row group as a whole; no other is passed over for it.
#[test]
fn rows_without_candidates_or_with_half_their_cp_make_their_row_group_unreadable() {
    let dir = tempfile::tempdir().unwrap();
    for change in [|row: &mut Row| row.candidates.clear(), |row: &mut Row| row.candidates[1].2 = None] {
        let path = Shard { group: 20, ..shard_with(change) }.write(dir.path(), "a.parquet");
        let report = judge(&[path]);
        assert_eq!(
            kinds(&report),
            [("row_group_size", 1), ("unreadable", 1), ("shuffle_not_judged", 1)],
            "{report}"
        );
        assert!(report.findings[1].message.starts_with("row group 0, rows 0 to 19: "), "{report}");
        assert_eq!(report.totals.rows, 20);
    }
}

#[test]
fn footer_keys_stand_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut shard = Shard::scores(score_rows(5, 1));
    shard.footer.swap(1, 2);
    let report = judge(&[shard.write(dir.path(), "a.parquet")]);
    assert!(
        report.findings[0].message.starts_with("their order is pov, softmax_temp_cp, policy_source, "),
        "{report}"
    );
}

#[test]
fn a_run_that_is_asked_to_stop_says_so_and_reports_nothing() {
    struct Stop;
    impl manaka_core::progress::Progress for Stop {
        fn phase(&self, _: &str, _: Option<u64>, _: &str) {}
        fn advance(&self, _: u64) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let dir = tempfile::tempdir().unwrap();
    for path in [
        written(dir.path(), "a.mpk", Conventions::TEACHER, &score_records(5, 1)),
        Shard::scores(score_rows(5, 1)).write(dir.path(), "a.parquet"),
    ] {
        assert!(matches!(check(&[path], &CheckOptions::new(threads(2)), &Stop), Err(Error::Interrupted)));
    }
}

/// A conversion that mixes up two sides in every row is found in every row.
#[test]
fn a_shard_whose_footer_names_the_other_view_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let rows = score_rows(400, 6);
    let white =
        rows.iter().filter(|row| row.packed[95] == 1 && row.candidates.len() > 1 && distinct_cp(row)).count();
    let report = judge(&[Shard::scores(rows).with("pov", "black").write(dir.path(), "a.parquet")]);
    let count = |id| report.kinds.iter().find(|kind| kind.id == id).map_or(0, |kind| kind.count);
    assert!(count("candidate_order") >= white as u64 && white > 100, "{report}");
}

#[test]
fn a_stream_goes_on_behind_a_faulty_record_and_ends_where_the_framing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let mut records = score_records(30, 3);
    records[4].value_z = 0.25;
    records[9].candidates[0].mv = usi("5e5d");
    let mut bytes = stream_bytes(Conventions::TEACHER, &records);
    let whole = bytes.len();
    bytes.extend_from_slice(&[0; 50]);
    let report = judge(&[file(dir.path(), "a.mpk", &bytes)]);
    let found: Vec<_> = report.findings.iter().map(|f| (f.id, f.record, f.offset)).collect();
    let offset = |n: usize| stream_bytes(Conventions::TEACHER, &records[..n]).len() as u64;
    assert_eq!(
        found,
        [
            ("value_z", Some(4), Some(offset(4))),
            ("illegal_candidate", Some(9), Some(offset(9))),
            ("truncated", Some(30), Some(whole as u64)),
        ]
    );
    assert_eq!(report.totals.records, 30);
}

#[test]
fn the_text_counts_kinds_lists_places_and_ends_with_the_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let mut records = vec![start(&[scored("7g7f", 30), scored("7g7e", 0)]); 3];
    records[1] = start(&[scored("2g2f", 30_500)]);
    records[2].value_q = 2.0;
    let mut bytes = stream_bytes(Conventions::TEACHER, &records);
    bytes[4] = 1;
    let path = file(dir.path(), "a.mpk", &bytes);
    let options = CheckOptions { threads: threads(1), limit: 1 };
    let report = check(std::slice::from_ref(&path), &options, &()).unwrap();
    let expected = format!(
        "\
note    header_version             1  the header has version 1, which cannot state a mate slack
error   value_q                    1  value_q is not in [-1, 1]
error   illegal_candidate          1  a candidate is no legal move on the board
warning cp_above_mate_scale        1  a score lies above the mate scale: the scale that is stated is not the one \
that was used

{path}: record 0 at byte 24: illegal_candidate: 1 of 2 candidates illegal: 7g7e in \
lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -
… 2 more
the first value_q: {path}: record 2 at byte 264: value_q: value_q is 2, not in [-1, 1]
the first cp_above_mate_scale: {path}: record 1 at byte 148: cp_above_mate_scale: 2g2f has a cp of 30500, and the \
mate scale is 30000

{path}: header_version: version 1; the mate slack in force is 320
3 findings: value_q=1 illegal_candidate=1 cp_above_mate_scale=1",
        path = path.display()
    );
    assert_eq!(report.to_string(), expected);
}
