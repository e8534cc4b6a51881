//! The three passes: scatter records by key, fold and scatter rows by draw, order and write (shards.md §4 to §7).

mod fold_pass;
mod read_pass;
mod write_pass;

use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::shard::{Footer, ShardSummary};
use crate::spool::Spools;
use manaka_core::conventions::DEFAULT_SOFTMAX_TEMP_CP;
use manaka_core::progress::Progress;
use manaka_core::stream::StreamSet;
use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// How to fold. Only `softmax_temp_cp` and `rows_per_shard` reach the bytes of the shards.
#[derive(Clone, PartialEq, Debug)]
pub struct PackOptions {
    /// Shards are called `<prefix>-00000.parquet` and so on.
    pub prefix: String,
    /// Rows in every shard but the last.
    pub rows_per_shard: NonZeroU64,
    /// Temperature of the softmax over cp; visits streams have none.
    pub softmax_temp_cp: f64,
    /// Threads that read, fold and encode.
    pub threads: NonZeroUsize,
}

impl PackOptions {
    /// Rows in a shard unless told otherwise.
    pub const DEFAULT_ROWS_PER_SHARD: NonZeroU64 = match NonZeroU64::new(25_000_000) {
        Some(n) => n,
        None => NonZeroU64::MIN,
    };

    /// The defaults, on this many threads.
    #[must_use]
    pub fn new(prefix: impl Into<String>, threads: NonZeroUsize) -> Self {
        Self {
            prefix: prefix.into(),
            rows_per_shard: Self::DEFAULT_ROWS_PER_SHARD,
            softmax_temp_cp: DEFAULT_SOFTMAX_TEMP_CP,
            threads,
        }
    }
}

/// A record that was not folded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RefusedRecord {
    /// Its file.
    pub path: PathBuf,
    /// Its number in the file, from 0.
    pub record: u64,
    /// Its byte offset in the decompressed file.
    pub offset: u64,
    /// Why, by its stable name.
    pub reason: &'static str,
    /// Why, as a sentence.
    pub detail: String,
}

/// What a fold did.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// What the shards state.
    pub footer: Footer,
    /// Records read.
    pub records: u64,
    /// Records not folded, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// The first of them, at most [`Summary::REFUSED_SHOWN`].
    pub refused_first: Vec<RefusedRecord>,
    /// Rows written.
    pub rows: u64,
    /// The most records that met in one row.
    pub largest_weight: u32,
    /// The shards, in order.
    pub shards: Vec<ShardSummary>,
}

impl Summary {
    /// How many refused records are listed one by one.
    pub const REFUSED_SHOWN: usize = 10;

    /// Records refused in all.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.values().sum()
    }

    /// Records that were folded into a row another record had opened.
    #[must_use]
    pub fn folded_away(&self) -> u64 {
        self.records - self.refused_total() - self.rows
    }

    /// Compressed bytes of each leaf column over all shards, by its name.
    #[must_use]
    pub fn column_bytes(&self) -> Vec<(&'static str, u64)> {
        crate::shard::columns(self.footer.conventions.policy_source)
            .enumerate()
            .map(|(at, name)| (name, self.shards.iter().map(|shard| shard.column_bytes[at]).sum()))
            .collect()
    }
}

/// Folds streams into shards in `out`, which must exist and hold no shard of this prefix.
///
/// The shards depend on the multiset of records, the softmax temperature and the rows per shard; not on the order or
/// cut of the inputs, nor on the number of threads.
///
/// # Errors
/// [`Error::Stream`] when a stream is malformed or two may not be folded together, [`Error::Io`], [`Error::Parquet`],
/// [`Error::Weight`], [`Error::Option`]. Shards that were finished before stay; no unfinished one has a final name.
pub fn pack(
    inputs: Vec<PathBuf>,
    out: &Path,
    options: &PackOptions,
    progress: &dyn Progress,
) -> Result<Summary> {
    pack_as(inputs, out, options, |records| Plan { buckets: 256, spools: spool_count(records) }, progress)
}

/// How the work is cut up. Nothing of it reaches the shards.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Buckets of the first scatter, at most one a slot.
    buckets: u32,
    /// Spools of the second scatter.
    spools: usize,
}

/// Spools of some hundred thousand rows each.
fn spool_count(records: u64) -> usize {
    const RECORDS_PER_SPOOL: u64 = 1 << 18;
    usize::try_from(records / RECORDS_PER_SPOOL).unwrap_or(usize::MAX).clamp(1, 1024)
}

fn pack_as(
    inputs: Vec<PathBuf>,
    out: &Path,
    options: &PackOptions,
    plan: impl Fn(u64) -> Plan,
    progress: &dyn Progress,
) -> Result<Summary> {
    if options.prefix.is_empty() || options.prefix.contains(['/', '\\']) {
        return Err(Error::Option("the prefix must be a file name"));
    }
    let set = StreamSet::open(inputs)?;
    let policy = Policy::new(*set.conventions(), options.softmax_temp_cp)?;

    let buckets = Spools::new(plan(0).buckets as usize);
    let read = read_pass::run(set.paths(), &buckets, &policy, options.threads, progress)?;
    let spools = Spools::new(plan(read.records).spools);
    let largest_weight = fold_pass::run(&buckets, &spools, &policy, options.threads, progress)?;
    let footer = Footer::of(&policy);
    let shards = write_pass::run(&spools, out, &policy, &footer, options, progress)?;

    Ok(Summary {
        footer,
        records: read.records,
        refused: read.refused,
        refused_first: read.refused_first,
        rows: shards.iter().map(|shard| shard.rows).sum(),
        largest_weight,
        shards,
    })
}

/// Runs `work` on several threads and returns what each gave, or the error of the first task that failed.
fn on_threads<T: Send>(threads: NonZeroUsize, work: impl Fn() -> Result<T> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.get()).map(|_| scope.spawn(&work)).collect();
        let results: Vec<_> =
            handles.into_iter().map(|handle| handle.join().unwrap_or(Err(Error::Worker))).collect();
        results.into_iter().collect()
    })
}

#[cfg(test)]
mod tests;
