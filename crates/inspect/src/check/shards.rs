//! The check of shards: each alone by schema, footer and row groups, then their rows in parallel, then what only shows
//! over all of them: repeated positions and the shuffle.

use super::Input;
use super::collector::{Collector, InFile};
use super::repeats::{Hashes, find_repeats};
use super::rows::RowJudge;
use super::shuffle::judge;
use super::streams::unused_scale;
use crate::error::{Error, Result, shard_fault};
use crate::finding::{Id, Place};
use crate::report::ShuffleFigures;
use crate::shuffle::Plies;
use crate::threads::on_threads;
use manaka_core::PolicySource;
use manaka_core::conventions::DEFAULT_SOFTMAX_TEMP_CP;
use manaka_core::progress::Progress;
use manaka_pack::Policy;
use manaka_pack::shard::{Footer, ROWS_PER_GROUP, Rows, ShardReader};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A shard whose schema and footer can be read.
pub struct Shard<'a> {
    pub number: usize,
    pub path: &'a Path,
    footer: Footer,
    policy: Policy,
    /// The first row of each row group, then the end of the last.
    pub starts: Vec<u64>,
    /// Its first row, counted over all shards.
    pub offset: u64,
}

impl Shard<'_> {
    fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// A footer that claims more rows is damaged: a terabyte of shards holds some 2^34.
const MOST_ROWS: u64 = 1 << 40;

/// A row group: the shard in its list, and the group in the shard.
#[derive(Clone, Copy)]
pub struct Group {
    pub shard: usize,
    pub group: usize,
}

/// Checks shards; returns how many rows were read, and the shuffle's figures.
pub fn run(
    inputs: &[Input<'_>],
    threads: NonZeroUsize,
    hashes_at_once: u64,
    collector: &Collector,
    progress: &dyn Progress,
) -> Result<(u64, Vec<ShuffleFigures>)> {
    let shards = open_all(inputs, collector)?;
    let total: u64 = shards.iter().map(Shard::rows).fold(0, u64::saturating_add);
    progress.phase("rows", Some(total), "rows");
    let plies: Vec<Mutex<Plies>> = shards.iter().map(|shard| Mutex::new(Plies::new(shard.rows()))).collect();
    let all_plies = Mutex::new(Plies::new(total));
    let hashes = Hashes::first(total, hashes_at_once);
    let read = AtomicU64::new(0);

    struct Worker {
        rows: Rows,
        judge: RowJudge,
        hashes: Vec<Vec<u128>>,
    }
    let worker = || Worker { rows: Rows::default(), judge: RowJudge::new(), hashes: hashes.buffers() };
    for_each_group(&shards, threads, progress, worker, |worker, reader, Group { shard: at, group }| {
        let shard = &shards[at];
        let out = collector.file(shard.number, shard.path);
        let start = shard.starts[group];
        if let Err(error) = reader.read_row_group(group, &mut worker.rows) {
            let what = shard_fault(shard.path, &error)?;
            let end = shard.starts[group + 1];
            out.add(Place::Row(start), Id::Unreadable, || {
                format!("row group {group}, rows {start} to {}: {what}", end.saturating_sub(1))
            });
            return Ok(());
        }
        let rows = &worker.rows;
        for row in 0..rows.len() {
            worker.judge.row(rows, row, &shard.policy, &out, Place::Row(start + row as u64));
        }
        hashes.add(rows.packed.iter(), &mut worker.hashes);
        let merge = |plies: &Mutex<Plies>, start, total| {
            let pieces = Plies::pieces(start, &rows.ply, total);
            plies.lock().unwrap_or_else(PoisonError::into_inner).merge(&pieces);
        };
        merge(&plies[at], start, shard.rows());
        merge(&all_plies, shard.offset + start, total);
        let rows = rows.len() as u64;
        read.fetch_add(rows, Ordering::Relaxed);
        progress.advance(rows);
        Ok(())
    })?;

    let read = read.into_inner();
    find_repeats(hashes, &shards, read, hashes_at_once, threads, collector, progress)?;

    let mut shuffle = Vec::new();
    for (shard, plies) in shards.iter().zip(plies) {
        let plies = plies.into_inner().unwrap_or_else(PoisonError::into_inner);
        shuffle.extend(judge(&plies, Some(shard.path), &collector.file(shard.number, shard.path)));
    }
    if shards.len() > 1 {
        let plies = all_plies.into_inner().unwrap_or_else(PoisonError::into_inner);
        shuffle.extend(judge(&plies, None, &collector.whole_set()));
    }
    Ok((read, shuffle))
}

/// Runs `work` on every row group of every shard. Each thread opens the shards it meets for itself: readers of one
/// file handle would move each other's place in it.
pub fn for_each_group<W>(
    shards: &[Shard<'_>],
    threads: NonZeroUsize,
    progress: &dyn Progress,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &ShardReader, Group) -> Result<()> + Sync,
) -> Result<()> {
    let groups: Vec<Group> = shards
        .iter()
        .enumerate()
        .flat_map(|(shard, s)| (0..s.starts.len() - 1).map(move |group| Group { shard, group }))
        .collect();
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    on_threads(threads, || {
        let mut worker = worker();
        let mut open: Option<(usize, ShardReader)> = None;
        while !stop.load(Ordering::Relaxed) {
            let Some(&group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let result = (|| {
                if progress.cancelled() {
                    return Err(Error::Interrupted);
                }
                let reader = match &open {
                    Some((shard, reader)) if *shard == group.shard => reader,
                    _ => &open.insert((group.shard, reopen(shards[group.shard].path)?)).1,
                };
                work(&mut worker, reader, group)
            })();
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
                return result;
            }
        }
        Ok(())
    })
}

/// Opens a shard that was opened before.
pub fn reopen(path: &Path) -> Result<ShardReader> {
    ShardReader::open(path).map_err(|error| Error::shard(path, error))
}

/// Opens the shards one by one and judges what they state; those that are none are left out.
fn open_all<'a>(inputs: &[Input<'a>], collector: &Collector) -> Result<Vec<Shard<'a>>> {
    let mut shards: Vec<Shard<'a>> = Vec::new();
    let mut offset = 0u64;
    for input in inputs {
        let out = collector.file(input.number, input.path);
        let reader = match ShardReader::open(input.path) {
            Ok(reader) => reader,
            Err(manaka_pack::Error::Io { path, error }) => return Err(Error::Io { path, error }),
            Err(error) => {
                let what = shard_fault(input.path, &error)?;
                out.add(Place::Head, Id::NotAShard, || what);
                continue;
            }
        };
        let footer = reader.footer().clone();
        footer_alone(&reader, &footer, &out);
        if let Some(first) = shards.first() {
            footer_beside(&footer, &first.footer, first.path, &out);
        }
        let starts = row_groups(&reader, &out);
        if starts.last().is_none_or(|&rows| rows > MOST_ROWS) {
            out.add(Place::Head, Id::NotAShard, || format!("it claims {} rows", reader.rows()));
            continue;
        }
        let conventions = footer.conventions;
        let temperature = match conventions.policy_source {
            PolicySource::Visits => DEFAULT_SOFTMAX_TEMP_CP,
            PolicySource::SoftmaxCp => footer.softmax_temp_cp,
        };
        let policy = match Policy::new(conventions, temperature) {
            Ok(policy) => policy,
            Err(error) => {
                out.add(Place::Head, Id::NotAShard, || error.to_string());
                continue;
            }
        };
        let shard = Shard { number: input.number, path: input.path, footer, policy, starts, offset };
        offset = offset.saturating_add(shard.rows());
        shards.push(shard);
    }
    Ok(shards)
}

/// The bounds of the row groups, and whether they are where they should be.
fn row_groups(reader: &ShardReader, out: &InFile<'_>) -> Vec<u64> {
    let mut starts = vec![0u64];
    let metadata = reader.metadata();
    let mut end = 0u64;
    for group in metadata.row_groups() {
        end = end.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
        starts.push(end);
    }
    let groups = starts.len() - 1;
    if reader.rows() != end {
        out.add(Place::Head, Id::RowGroupSize, || {
            format!("the row groups hold {end} rows, the footer says {}", reader.rows())
        });
        return starts;
    }
    if end == 0 {
        out.add(Place::Head, Id::NoRows, || "there is no row".to_owned());
    }
    let rows = |group: usize| starts[group + 1] - starts[group];
    let full = ROWS_PER_GROUP as u64;
    let wrong = |group: usize| {
        if group + 1 == groups { !(1..=full).contains(&rows(group)) } else { rows(group) != full }
    };
    if let Some(group) = (0..groups).find(|&group| wrong(group)) {
        out.add(Place::Head, Id::RowGroupSize, || {
            let count = (0..groups).filter(|&group| wrong(group)).count();
            format!("{count} of {groups} row groups; the first is group {group} with {} rows", rows(group))
        });
    }
    starts
}

/// Judges a footer by itself.
fn footer_alone(reader: &ShardReader, footer: &Footer, out: &InFile<'_>) {
    let conventions = &footer.conventions;
    let wrong = match conventions.inconsistency() {
        Some(inconsistency) => Some(inconsistency.to_string()),
        // conventions.md §3: what a footer states is the slack in force.
        None if conventions.mate_slack != conventions.effective_mate_slack() => {
            let (slack, scale) = (conventions.mate_slack, conventions.mate_scale);
            Some(format!("mate_slack {slack} is no slack in force for a mate_scale of {scale}"))
        }
        None => None,
    };
    if let Some(wrong) = wrong {
        out.add(Place::Head, Id::InconsistentFooter, || wrong);
    }
    unused_scale(conventions, out);
    let pairs = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let keys: Vec<&str> = pairs.map(|pair| pair.key.as_str()).collect();
    if keys != Footer::KEYS {
        out.add(Place::Head, Id::FooterKeys, || {
            let foreign: Vec<&str> = keys.iter().copied().filter(|key| !Footer::KEYS.contains(key)).collect();
            match foreign.as_slice() {
                [] => format!("their order is {}", keys.join(", ")),
                foreign => format!("it has {} besides", foreign.join(", ")),
            }
        });
    }
}

/// Judges a footer against that of the first shard.
fn footer_beside(footer: &Footer, first: &Footer, first_path: &Path, out: &InFile<'_>) {
    let mut differs = footer.conventions.conflict(&first.conventions).map(|c| (c.key, c.first, c.second));
    if differs.is_none() && footer.softmax_temp_cp != first.softmax_temp_cp {
        let temperatures = (footer.softmax_temp_cp.to_string(), first.softmax_temp_cp.to_string());
        differs = Some(("softmax_temp_cp", temperatures.0, temperatures.1));
    }
    if let Some((key, here, there)) = differs {
        out.add(Place::Head, Id::FooterConflict, || {
            format!("{key} is {here} here and {there} in {}", first_path.display())
        });
    }
    if footer.writer != first.writer {
        out.add(Place::Head, Id::MixedWriters, || {
            format!("writer is {} here and {} in {}", footer.writer, first.writer, first_path.display())
        });
    }
}
