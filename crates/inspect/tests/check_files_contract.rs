//! What a check promises of files as a whole: footers, row groups, rows that stand in several, where a stream ends.

mod fixtures;
mod judged;

use fixtures::*;
use judged::*;
use manaka_core::Conventions;
use std::fs;
use std::path::{Path, PathBuf};

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
