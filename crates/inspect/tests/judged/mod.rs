//! What the contracts of `check` share: a judge, and data that is sound but for one change.
#![allow(dead_code, reason = "every test binary uses its own part")]

use crate::fixtures::{Row, Shard, score_rows, visits_rows};
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Move16, Packed};
use manaka_inspect::{CheckOptions, Report, check};
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

pub fn judge(paths: &[PathBuf]) -> Report {
    check(paths, &CheckOptions::new(threads(2)), &()).unwrap()
}

/// Ids and counts.
pub fn kinds(report: &Report) -> Vec<(&'static str, u64)> {
    report.kinds.iter().map(|kind| (kind.id, kind.count)).collect()
}

pub fn usi(text: &str) -> Move16 {
    Move16::from_usi(text).unwrap()
}

pub fn scored(text: &str, cp: i16) -> Candidate {
    Candidate { mv: usi(text), visits: 0, cp }
}

pub fn packed(sfen: &str) -> Packed {
    manaka_core::sfen::Sfen::parse(sfen).unwrap().packed
}

/// A record of the starting position.
pub fn start(candidates: &[Candidate]) -> Record {
    let packed = packed(manaka_core::sfen::STARTPOS);
    Record { ply: 1, value_z: 0.0, value_q: 0.0, packed, candidates: candidates.to_vec() }
}

/// A score shard of 40 rows, one of which was changed.
pub fn shard_with(change: impl Fn(&mut Row)) -> Shard {
    let mut rows = score_rows(40, 5);
    let at = rows.iter().position(|row| row.candidates.len() >= 3 && distinct_cp(row)).unwrap();
    rows.swap(9, at);
    change(&mut rows[9]);
    Shard::scores(rows)
}

pub fn distinct_cp(row: &Row) -> bool {
    row.candidates.windows(2).all(|pair| pair[0].2 != pair[1].2)
}

pub fn visits_with(change: impl Fn(&mut Row)) -> Shard {
    let mut rows = visits_rows(40, 5);
    let at = rows.iter().position(|row| row.candidates.len() >= 3 && row.weight == 3).unwrap();
    rows.swap(9, at);
    change(&mut rows[9]);
    Shard::visits(rows)
}
