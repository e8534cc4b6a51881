//! `manaka pack` keeps to its memory, whatever the records are like. Every load is larger than that.

use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::stream::{Candidate, Compression, PartsOptions, PartsWriter, Record};
use manaka_core::{Conventions, Move16, Packed};
use std::num::NonZeroU64;
use std::path::Path;
use std::process::Command;

/// Writes records that `fill` completes; each comes with its number as its position.
fn streams(dir: &Path, conventions: Conventions, records: u64, fill: impl Fn(u64, &mut Record)) {
    let options = PartsOptions {
        conventions,
        records_per_part: NonZeroU64::new(records / 4 + 1).unwrap(),
        compression: Compression::Zstd { level: 1 },
    };
    let mut parts = PartsWriter::create(dir, options).unwrap();
    let mut record = Record::default();
    for number in 0..records {
        record.packed = numbered(number);
        record.candidates.clear();
        fill(number, &mut record);
        parts.write(&record).unwrap();
    }
    parts.finish().unwrap();
}

fn numbered(number: u64) -> Packed {
    let mut packed = Packed::empty();
    packed.as_bytes_mut()[..8].copy_from_slice(&number.to_le_bytes());
    packed
}

/// A different well-formed move for each number.
fn numbered_move(number: u16) -> Move16 {
    let to = number % 81;
    let from = (to + 1 + number / 81) % 81;
    Move16::from_bits(from << 7 | to)
}

fn scores(n: u16) -> impl Iterator<Item = Candidate> {
    (0..n).map(|at| Candidate { mv: numbered_move(at), visits: NO_VISITS, cp: 10 })
}

/// Packs out of core under a limit and returns (rows, largest weight).
fn packed(dir: &Path, threads: u64, mebibytes: u64) -> (u64, u64) {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_manaka"))
        .args(["pack", "--threads", &threads.to_string(), "--memory", &format!("{mebibytes}M")])
        .args(["--format", "json", "--out"])
        .args([out.path(), dir])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["in_memory"], false, "{report}");
    let figure = |name: &str| report[name].as_u64().unwrap();
    let peak = figure("peak_memory") >> 20;
    assert!(peak < mebibytes, "{peak} MiB under --memory {mebibytes}M");
    (figure("rows"), figure("largest_weight"))
}

#[test]
fn records_of_as_many_positions() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), Conventions::TEACHER, 2_000_000, |_, record| record.candidates.extend(scores(3)));
    assert_eq!(packed(dir.path(), 2, 128), (2_000_000, 1));
}

/// As the initial position does, and then some.
#[test]
fn one_position_in_nine_tenths_of_all_records() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), Conventions::TEACHER, 3_000_000, |number, record| {
        if number % 10 != 0 {
            record.packed = numbered(1);
        }
        record.candidates.extend(scores(2));
    });
    assert_eq!(packed(dir.path(), 2, 128), (300_001, 2_700_000));
}

/// No position has more legal moves.
#[test]
fn records_of_593_candidates() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), Conventions::VISITS, 120_000, |number, record| {
        // A third of the positions twice.
        record.packed = numbered(number % 90_000);
        let visited = (0..593).map(|at| Candidate { mv: numbered_move(at), visits: 1, cp: NO_CP });
        record.candidates.extend(visited);
    });
    assert_eq!(packed(dir.path(), 1, 384), (90_000, 2));
}
