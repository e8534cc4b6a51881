//! The check: what each file is, then streams and shards by their own rules, one report.

mod collector;
mod position;
mod repeats;
mod rows;
mod shards;
mod shuffle;
mod streams;

use crate::error::Result;
use crate::report::{Report, Totals};
use crate::sniff::{FileKind, sniff};
use collector::{Collected, Collector};
use manaka_core::progress::Progress;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// How to check. Neither option changes what is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// Threads that judge.
    pub threads: NonZeroUsize,
    /// How many findings, and how many notes, the report lists one by one. All are counted.
    pub limit: usize,
}

impl CheckOptions {
    /// Findings listed unless told otherwise.
    pub const DEFAULT_LIMIT: usize = 20;

    /// The defaults, on this many threads.
    #[must_use]
    pub const fn new(threads: NonZeroUsize) -> Self {
        Self { threads, limit: Self::DEFAULT_LIMIT }
    }
}

/// Hashes of positions held at once while repeated ones are looked for: 16 bytes each, 1 GiB in all. Larger sets are
/// read once more for every so many rows.
const HASHES_AT_ONCE: u64 = 1 << 26;

/// An input, with its number in their order.
struct Input<'a> {
    number: usize,
    path: &'a Path,
}

/// Judges streams and shards. Which of the two a file is shows in its content. The shards are judged as one set: their
/// footers have to agree, no position may stand in two rows of it, and read in the order given they are one shuffle.
///
/// The report does not depend on the number of threads.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when a file cannot be opened or read,
/// [`Error::Interrupted`](crate::Error::Interrupted) when `progress` asks for it. Whatever is wrong with a file's content
/// is a finding: one that is neither stream nor shard, an empty one, one that is cut.
pub fn check(inputs: &[PathBuf], options: &CheckOptions, progress: &dyn Progress) -> Result<Report> {
    check_holding(inputs, options, progress, HASHES_AT_ONCE)
}

/// [`check`] with at most `hashes` hashes held at once.
fn check_holding(
    inputs: &[PathBuf],
    options: &CheckOptions,
    progress: &dyn Progress,
    hashes: u64,
) -> Result<Report> {
    let collector = Collector::new(options.limit);
    let mut totals = Totals::default();
    let (mut streams, mut shards) = (Vec::new(), Vec::new());
    for (number, path) in inputs.iter().enumerate() {
        let (kind, bytes) = sniff(path)?;
        totals.bytes += bytes;
        let input = Input { number, path };
        match kind {
            FileKind::Stream => streams.push(input),
            FileKind::Shard => shards.push(input),
        }
    }
    totals.streams = streams.len() as u64;
    totals.shards = shards.len() as u64;
    if !streams.is_empty() {
        totals.records = streams::run(&streams, options.threads, &collector, progress)?;
    }
    let mut shuffle = Vec::new();
    if !shards.is_empty() {
        (totals.rows, shuffle) = shards::run(&shards, options.threads, hashes, &collector, progress)?;
    }
    let report = |Collected { kinds, findings, notes }| {
        let mut report = Report { ok: true, totals, kinds, findings, notes, shuffle };
        report.ok = report.findings_total() == 0;
        report
    };
    Ok(report(collector.finish()))
}

#[cfg(test)]
#[path = "../tests/fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod tests {
    use super::fixtures::{Row, Shard, score_rows};
    use super::*;

    #[test]
    fn repeats_are_the_same_however_few_hashes_are_held_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut rows: Vec<Row> = score_rows(900, 3);
        for (from, to) in [(0, 899), (0, 450), (17, 16), (300, 301), (300, 302)] {
            rows[to] = rows[from].clone();
        }
        let shards = [
            Shard { group: 100, ..Shard::scores(rows[..500].to_vec()) }.write(dir.path(), "a.parquet"),
            Shard { group: 64, ..Shard::scores(rows[500..].to_vec()) }.write(dir.path(), "b.parquet"),
        ];
        let options = CheckOptions { threads: NonZeroUsize::new(3).unwrap(), limit: 100 };
        let run = |hashes| check_holding(&shards, &options, &(), hashes).unwrap();
        let whole = run(HASHES_AT_ONCE);
        let found: Vec<_> =
            whole.findings.iter().filter(|f| f.id == "repeated_position").map(|f| (f.row, &f.path)).collect();
        let (a, b) = (&Some(shards[0].clone()), &Some(shards[1].clone()));
        assert_eq!(found, [(Some(17), a), (Some(301), a), (Some(302), a), (Some(450), a), (Some(399), b)]);
        for hashes in [1, 7, 100, 450, 899, 900] {
            assert_eq!(run(hashes), whole, "{hashes} at once");
        }
        let few = CheckOptions { limit: 2, ..options };
        let report = check_holding(&shards, &few, &(), 100).unwrap();
        assert_eq!(report.findings.len(), 2);
        assert_eq!(report.kinds.iter().find(|kind| kind.id == "repeated_position").unwrap().count, 5);
    }
}
