//! What the report of a check promises: the same on any number of threads, true counts, errors that are none of the data's.

mod fixtures;
mod judged;

use fixtures::*;
use judged::*;
use manaka_core::stream::Candidate;
use manaka_core::{Conventions, Move16};
use manaka_inspect::{CheckOptions, Error, Report, check};
use std::path::{Path, PathBuf};

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
fn files_that_cannot_be_read_are_errors_and_not_findings() {
    let dir = tempfile::tempdir().unwrap();
    let good = written(dir.path(), "a.mpk", Conventions::TEACHER, &score_records(5, 1));
    for bad in [dir.path().join("missing.mpk"), dir.path().to_owned()] {
        let error = check(&[good.clone(), bad.clone()], &CheckOptions::new(threads(1)), &()).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if *path == bad), "{error}");
    }
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
