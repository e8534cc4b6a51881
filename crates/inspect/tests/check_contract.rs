//! What a check promises: every id has a fixture that sets it off, and sound data has none.

mod fixtures;
mod judged;

use fixtures::*;
use judged::*;
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Conventions, Move16, Pov};
use manaka_inspect::{CHECKS, Severity};
use manaka_pack::{PackOptions, pack};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
