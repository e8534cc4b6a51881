//! The report of a check: one value, printed as text by `Display` and as JSON by serde.

use crate::finding::{Check, Finding, Severity, lossy_option};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// What was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Totals {
    /// Stream files.
    pub streams: u64,
    /// Parquet files.
    pub shards: u64,
    /// Records read, faulty ones included.
    pub records: u64,
    /// Rows read.
    pub rows: u64,
    /// Bytes of all files on disk.
    pub bytes: u64,
}

/// How often one kind of thing was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KindCount {
    /// The id of the check in [`CHECKS`](crate::CHECKS).
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// How many files, records or rows have it.
    pub count: u64,
    /// What it means.
    pub sentence: &'static str,
    /// The first of them, listed in the report or not.
    pub first: Finding,
}

impl KindCount {
    pub(crate) const fn new(check: &Check, count: u64, first: Finding) -> Self {
        Self { id: check.id, severity: check.severity, count, sentence: check.sentence, first }
    }
}

/// Measures of the row order of one shard, or of all shards read in the order given.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShuffleFigures {
    /// The shard; absent for all shards together.
    #[serde(serialize_with = "lossy_option")]
    pub path: Option<PathBuf>,
    /// Rows measured.
    pub rows: u64,
    /// Their mean ply.
    pub mean_ply: f64,
    /// The standard deviation of their ply.
    pub sd_ply: f64,
    /// Correlation of a row's ply with the next row's; absent where it could not be judged, like the figures below.
    pub lag1: Option<f64>,
    /// Correlation of ply with the row index.
    pub trend: Option<f64>,
    /// The standard deviation of the two correlations in a uniform shuffle.
    pub noise: f64,
    /// Block ratios, fewest blocks first.
    pub blocks: Vec<BlockFigure>,
}

/// How the mean ply of blocks of rows varies, against how it would in a uniform shuffle.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BlockFigure {
    /// How many blocks the rows were cut into.
    pub blocks: u64,
    /// Rows of a block, rounded down.
    pub rows_per_block: u64,
    /// The standard deviation of the blocks' mean ply; absent where blocks are too short to judge, like the next two.
    pub measured: Option<f64>,
    /// What independent sampling of blocks of that size would give.
    pub random: Option<f64>,
    /// `measured` over `random`: 1 when nothing of an order survived.
    pub ratio: Option<f64>,
    /// The standard deviation of the ratio in a uniform shuffle.
    pub noise: f64,
}

/// What a check found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Whether there is neither an error nor a warning.
    pub ok: bool,
    /// What was looked at.
    pub totals: Totals,
    /// What was found how often, in the order of [`CHECKS`](crate::CHECKS).
    pub kinds: Vec<KindCount>,
    /// The first errors and warnings, by file and place.
    pub findings: Vec<Finding>,
    /// The first notes, by file and place.
    pub notes: Vec<Finding>,
    /// Figures of every shard with rows, then of all together when there are several.
    pub shuffle: Vec<ShuffleFigures>,
}

impl Report {
    /// Whether there is an error or a warning. Notes do not count.
    #[must_use]
    pub const fn has_findings(&self) -> bool {
        !self.ok
    }

    /// Errors and warnings in all.
    #[must_use]
    pub fn findings_total(&self) -> u64 {
        self.of(|severity| severity != Severity::Note).map(|kind| kind.count).sum()
    }

    /// Notes in all.
    #[must_use]
    pub fn notes_total(&self) -> u64 {
        self.of(|severity| severity == Severity::Note).map(|kind| kind.count).sum()
    }

    fn of(&self, wanted: impl Fn(Severity) -> bool) -> impl Iterator<Item = &KindCount> {
        self.kinds.iter().filter(move |kind| wanted(kind.severity))
    }

    /// The last line of the text.
    #[must_use]
    pub fn verdict(&self) -> String {
        let total = self.findings_total();
        if total > 0 {
            let kinds: Vec<String> = self
                .of(|severity| severity != Severity::Note)
                .map(|kind| format!("{}={}", kind.id, kind.count))
                .collect();
            return format!("{}: {}", counted(total, "finding"), kinds.join(" "));
        }
        let Totals { streams, shards, records, rows, .. } = self.totals;
        let mut parts = Vec::new();
        if streams > 0 {
            parts.extend([counted(streams, "stream"), counted(records, "record")]);
        }
        if shards > 0 {
            parts.extend([counted(shards, "shard"), counted(rows, "row")]);
        }
        parts.push("no findings".to_owned());
        if self.notes_total() > 0 {
            parts.push(counted(self.notes_total(), "note"));
        }
        format!("ok: {}", parts.join(", "))
    }

    /// The findings and notes of a list, what was left off, and the first of every kind that is not listed at all.
    fn list(&self, f: &mut fmt::Formatter<'_>, listed: &[Finding], note: bool) -> fmt::Result {
        for finding in listed {
            writeln!(f, "{finding}")?;
        }
        let wanted = |severity: Severity| (severity == Severity::Note) == note;
        let total: u64 = self.of(wanted).map(|kind| kind.count).sum();
        let shown = listed.len() as u64;
        if total > shown {
            writeln!(f, "… {} more", total - shown)?;
        }
        for kind in self.of(wanted).filter(|kind| listed.iter().all(|finding| finding.id != kind.id)) {
            writeln!(f, "the first {}: {}", kind.id, kind.first)?;
        }
        Ok(())
    }
}

/// `1 row`, `2 rows`.
fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.kinds.iter().map(|kind| kind.id.len()).max().unwrap_or(0);
        for kind in &self.kinds {
            writeln!(
                f,
                "{:<7} {:<width$} {:>8}  {}",
                kind.severity.id(),
                kind.id,
                kind.count,
                kind.sentence
            )?;
        }
        for (list, note) in [(&self.findings, false), (&self.notes, true)] {
            if self.of(|severity| (severity == Severity::Note) == note).next().is_some() {
                writeln!(f)?;
                self.list(f, list, note)?;
            }
        }
        if !self.kinds.is_empty() && !self.shuffle.is_empty() {
            writeln!(f)?;
        }
        shuffle_table(f, &self.shuffle)?;
        write!(f, "{}", self.verdict())
    }
}

/// The shuffle figures of every shard, below what a uniform shuffle gives.
pub(crate) fn shuffle_table(f: &mut fmt::Formatter<'_>, shuffle: &[ShuffleFigures]) -> fmt::Result {
    let Some(first) = shuffle.first() else { return Ok(()) };
    let names: Vec<String> = shuffle
        .iter()
        .map(|figures| match &figures.path {
            Some(path) => path.display().to_string(),
            None => "all shards".to_owned(),
        })
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(7);
    write!(f, "{:<width$} {:>11} {:>9} {:>8}", "shuffle", "rows", "mean ply", "sd")?;
    write!(f, " {:>9} {:>9} {:>9}", "lag-1", "trend", "noise")?;
    for block in &first.blocks {
        write!(f, " {:>11}", format!("{} blocks", block.blocks))?;
    }
    write!(f, "\n{:<width$} {:>11} {:>9} {:>8} {:>9} {:>9} {:>9}", "uniform", "", "", "", 0, 0, "")?;
    for block in &first.blocks {
        write!(f, " {:>11}", format!("1 ±{:.3}", block.noise))?;
    }
    for (name, figures) in names.iter().zip(shuffle) {
        let ShuffleFigures { rows, mean_ply, sd_ply, lag1, trend, noise, blocks, .. } = figures;
        write!(f, "\n{name:<width$} {rows:>11} {mean_ply:>9.3} {sd_ply:>8.3}")?;
        for correlation in [lag1, trend] {
            let text = correlation.map(|r| format!("{r:+.6}"));
            write!(f, " {:>9}", text.as_deref().unwrap_or("-"))?;
        }
        let noise = lag1.map(|_| format!("±{noise:.6}"));
        write!(f, " {:>9}", noise.as_deref().unwrap_or("-"))?;
        for block in blocks {
            let text = block.ratio.map(|ratio| format!("{ratio:.3}"));
            write!(f, " {:>11}", text.as_deref().unwrap_or("-"))?;
        }
    }
    writeln!(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shuffle_is_a_table_below_what_a_uniform_one_gives() {
        let block = |blocks, ratio: Option<f64>, noise| BlockFigure {
            blocks,
            rows_per_block: 9,
            measured: ratio,
            random: ratio,
            ratio,
            noise,
        };
        let figures = |path: Option<&str>, lag1, ratio| ShuffleFigures {
            path: path.map(PathBuf::from),
            rows: 25_000_000,
            mean_ply: 87.0524,
            sd_ply: 37.013,
            lag1,
            trend: lag1,
            noise: 0.0002,
            blocks: vec![block(24, ratio, 0.147_44), block(2500, None, 0.014_14)],
        };
        let report = Report {
            ok: true,
            totals: Totals { shards: 1, rows: 25_000_000, ..Totals::default() },
            kinds: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
            shuffle: vec![
                figures(Some("s/teacher-00000.parquet"), Some(0.000_376), Some(0.836)),
                figures(None, None, None),
            ],
        };
        assert_eq!(
            report.to_string(),
            "\
shuffle                        rows  mean ply       sd     lag-1     trend     noise   24 blocks 2500 blocks
uniform                                                        0         0              1 ±0.147    1 ±0.014
s/teacher-00000.parquet    25000000    87.052   37.013 +0.000376 +0.000376 ±0.000200       0.836           -
all shards                 25000000    87.052   37.013         -         -         -           -           -
ok: 1 shard, 25000000 rows, no findings"
        );
    }
}
