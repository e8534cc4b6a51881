//! The figures of a set of data, measured in one pass: what a dataset's card states, and what is wrong with it.

mod alarm;
mod bands;
mod collect;
mod counts;
mod figures;
mod games;
mod heat;
mod html;
mod item;
mod measure;
mod parts;
mod plot;
mod rows;
mod sample;
mod streams;
mod sums;
mod text;
mod value;

pub use alarm::{ALARMS, Alarm, AlarmKind};
pub use figures::{
    Bar, BoardFigures, CalibrationBin, CandidateFigures, Classes, DuplicateFigures, GameFigures, MateBand,
    OutcomeFigures, PartFigures, PlyBin, ScaleFigures, ScoreFigures, Spread, Stat, StatTotals, Stated,
    ValueCount, ValueFigures, VisitFigures,
};
pub(crate) use measure::ratio;
pub(crate) use rows::corpus_row;
pub use text::grouped;
pub(crate) use text::{percent, share};

use crate::error::{Error, Result};
use crate::info::{ColumnInfo, Info, info};
use crate::sniff::{Kind, one_kind};
use crate::threads::on_threads;
use collect::{Collector, Joins, State};
use manaka_core::conventions::Conventions;
use manaka_core::progress::Progress;
use manaka_core::stream::StreamSet;
use manaka_corpus::{CorpusFile, PsvOptions, psv_layout};
use manaka_pack::shard::ShardReader;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use sums::Facts;

/// How to measure.
#[derive(Clone, Debug)]
pub struct StatOptions {
    /// Threads. The figures do not depend on it.
    pub threads: NonZeroUsize,
    /// What raw PSV does not say about itself, as far as it is known; the rest is found in a sample.
    pub psv: PsvOptions,
}

impl StatOptions {
    /// Everything found out, on this many threads.
    #[must_use]
    pub fn new(threads: NonZeroUsize) -> Self {
        Self { threads, psv: PsvOptions::default() }
    }
}

/// Measures a set of data: streams, shards, corpus parquet or raw PSV, told apart by content. The files are one set in the
/// order given: all of one kind, and their conventions have to agree. Games go on from one file to the next.
///
/// Memory does not grow with the data. The figures do not depend on the number of threads.
///
/// # Errors
/// [`Error::Mixed`] for files of different kinds or shards of different conventions; whatever the reader of the files
/// fails with, the first fault of a stream included: [`check`](crate::check()) lists faults, this measures sound data.
/// Rows of a corpus and raw records that cannot be read are counted in [`Stat::refused`]. [`Error::Interrupted`] when
/// `progress` asks for it. [`Error::NoFiles`] without an input.
pub fn stat(inputs: &[PathBuf], options: &StatOptions, progress: &dyn Progress) -> Result<Stat> {
    if inputs.is_empty() {
        return Err(Error::NoFiles);
    }
    let (kind, bytes) = one_kind(inputs)?;
    let set = Set { kind, inputs, bytes, threads: options.threads, progress };
    match kind {
        Kind::Stream => set.streams(),
        Kind::Shard => set.shards(),
        Kind::Corpus => set.corpora(),
        Kind::Psv => set.raw(options),
    }
}

/// The files to be measured.
struct Set<'a> {
    kind: Kind,
    inputs: &'a [PathBuf],
    bytes: Vec<u64>,
    threads: NonZeroUsize,
    progress: &'a dyn Progress,
}

/// What a set was measured to be, before figures are made of it.
struct Measured<'a> {
    set: &'a Set<'a>,
    state: State,
    joins: Joins,
    stated: Option<Conventions>,
    /// Candidates for which a record has room: none in plain PSV.
    lists_candidates: bool,
}

impl Set<'_> {
    /// Looks at everything on all threads.
    fn run(
        &self,
        facts: &Facts,
        total: Option<u64>,
        unit: &str,
        work: impl Fn(&Collector<'_>, &mut collect::Worker<'_>) -> Result<()> + Sync,
    ) -> Result<(State, Joins)> {
        self.progress.phase("stat", total, unit);
        let collector = Collector::new(facts, self.inputs.len(), self.progress);
        on_threads(self.threads, || {
            let mut worker = collector.worker();
            let result = work(&collector, &mut worker);
            if result.is_err() {
                collector.stop();
            }
            worker.finish();
            result
        })?;
        if self.progress.cancelled() { Err(Error::Interrupted) } else { Ok(collector.finish()) }
    }

    /// Bytes of all files.
    fn len(&self) -> u64 {
        self.bytes.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    fn figures(&self, measured: (State, Joins), stated: Option<Conventions>, lists_candidates: bool) -> Stat {
        let (state, joins) = measured;
        measure::stat(&Measured { set: self, state, joins, stated, lists_candidates })
    }

    fn streams(&self) -> Result<Stat> {
        // Every header is read, and those that must not be mixed are refused.
        let path = |error| Error::stream(&self.inputs[0], error);
        let conventions = *StreamSet::open(self.inputs.to_vec()).map_err(path)?.conventions();
        let facts = Facts::new(conventions, true, true, self.len());
        let streams = streams::Streams::new(self.inputs);
        let measured = self.run(&facts, None, "records", |c, w| streams.work(c, w))?;
        Ok(self.figures(measured, Some(conventions), true))
    }

    fn shards(&self) -> Result<Stat> {
        let (mut starts, mut first): (Vec<Vec<u64>>, Option<Conventions>) = (Vec::new(), None);
        for path in self.inputs {
            let reader = ShardReader::open(path).map_err(|error| Error::shard(path, error))?;
            let conventions = reader.footer().conventions;
            let stated = *first.get_or_insert(conventions);
            if let Some(conflict) = stated.conflict(&conventions) {
                let what = conflict.to_string();
                return Err(Error::Mixed { first: self.inputs[0].clone(), second: path.clone(), what });
            }
            let mut ends = vec![0u64];
            for group in reader.metadata().row_groups() {
                let rows = u64::try_from(group.num_rows()).unwrap_or(0);
                ends.push(ends.last().copied().unwrap_or(0).saturating_add(rows));
            }
            starts.push(ends);
        }
        let conventions = first.unwrap_or(Conventions::VISITS);
        let facts = Facts::new(conventions, false, false, self.len());
        let rows = starts.iter().filter_map(|starts| starts.last()).fold(0u64, |a, &b| a.saturating_add(b));
        let shards = rows::Shards::new(self.inputs, starts);
        let measured = self.run(&facts, Some(rows), "rows", |c, w| shards.work(c, w))?;
        let mut stat = self.figures(measured, first, true);
        stat.shuffle = shards.shuffle();
        stat.columns = columns(self.inputs)?;
        Ok(stat)
    }

    fn corpora(&self) -> Result<Stat> {
        let open = |path: &PathBuf| CorpusFile::open(path).map_err(Error::corpus);
        let files = self.inputs.iter().map(open).collect::<Result<Vec<_>>>()?;
        let rows = files.iter().map(CorpusFile::rows).fold(0, u64::saturating_add);
        let facts = Facts::new(UNSTATED, true, true, self.len());
        let corpora = rows::Corpora::new(&files);
        let measured = self.run(&facts, Some(rows), "rows", |c, w| corpora.work(c, w))?;
        Ok(self.figures(measured, None, true))
    }

    fn raw(&self, options: &StatOptions) -> Result<Stat> {
        let layout = psv_layout(self.inputs, &options.psv).map_err(Error::psv)?;
        let facts = Facts::new(UNSTATED, true, true, self.len());
        let raw = rows::Raw::new(self.inputs, layout, &self.bytes);
        let records = self.bytes.iter().map(|bytes| bytes / layout.record_len() as u64).sum();
        let measured = self.run(&facts, Some(records), "records", |c, w| raw.work(c, w))?;
        Ok(self.figures(measured, None, layout.candidates > 0))
    }
}

/// What is taken for data that states nothing: scores from the mover, no mates, values by the usual coefficient.
const UNSTATED: Conventions = Conventions { mate_scale: 0, ..Conventions::TEACHER };

/// The columns of all shards together.
fn columns(paths: &[PathBuf]) -> Result<Vec<ColumnInfo>> {
    let (mut all, mut rows): (Vec<ColumnInfo>, u64) = (Vec::new(), 0);
    for path in paths {
        let Info::Shard(shard) = info(path)? else { continue };
        rows += shard.rows;
        for column in shard.columns {
            let Some(sum) = all.iter_mut().find(|sum| sum.name == column.name) else {
                all.push(column);
                continue;
            };
            sum.compressed_bytes = sum.compressed_bytes.saturating_add(column.compressed_bytes);
            sum.encoded_bytes = sum.encoded_bytes.saturating_add(column.encoded_bytes);
            sum.encodings.extend(
                column.encodings.into_iter().filter(|name| !sum.encodings.contains(name)).collect::<Vec<_>>(),
            );
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
    for column in &mut all {
        column.encodings.sort();
        column.bytes_per_row = column.compressed_bytes as f64 / rows.max(1) as f64;
    }
    Ok(all)
}
